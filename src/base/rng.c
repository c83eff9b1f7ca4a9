/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix64: any state is a good seed, and the stream is the same on every machine. */
#include "base/rng.h"

#include <assert.h>

uint64_t ls__rng_u64(ls__rng *rng)
{
    uint64_t x = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint32_t ls__rng_below(ls__rng *rng, uint32_t bound)
{
    assert(bound > 0);
    /* The top 32 bits of draw * bound are in range; the first 2^32 mod bound values of the low half
     * are drawn again, which makes all results equally likely. */
    uint32_t excess = (0u - bound) % bound;
    for (;;) {
        uint64_t product = (ls__rng_u64(rng) >> 32) * bound;
        if ((uint32_t)product >= excess)
            return (uint32_t)(product >> 32);
    }
}
