/* SPDX-License-Identifier: Apache-2.0 */
/* From times to a choice: nothing but its arguments counts, so that it can be tested. */
#include "tune/tune.h"

uint32_t ls__tune_choose(const uint64_t *times_ns, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (times_ns[i] < times_ns[best])
            best = i;
    uint64_t least = times_ns[best];
    uint64_t noise =
        least / 100 * LS_TUNE_NOISE_PERCENT + least % 100 * LS_TUNE_NOISE_PERCENT / 100;
    return times_ns[0] - least <= noise ? 0 : best;
}
