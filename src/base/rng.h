/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded pseudo-random numbers for schedules, tests and generated programs: splitmix64 (Steele,
 * Lea, Flood 2014). */
#ifndef LS_BASE_RNG_H
#define LS_BASE_RNG_H

#include <stdint.h>

typedef struct ls__rng {
    uint64_t state;
} ls__rng;

uint64_t ls__rng_u64(ls__rng *rng);
uint32_t ls__rng_below(ls__rng *rng, uint32_t bound); /* [0, bound), bound > 0 */

#endif
