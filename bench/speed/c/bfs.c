/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_bfs(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    uint32_t n = scalars[0].u;
    const uint32_t *restrict offsets = buffers[0];
    const uint32_t *restrict targets = buffers[1];
    uint32_t *distance = buffers[3]; /* what would be marks is not needed here */
    distance[0] = 0;
    for (uint32_t round = 0; round + 1 < rounds; round++) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (uint32_t v = 0; v < n; v++) {
            if (__atomic_load_n(&distance[v], __ATOMIC_RELAXED) != round)
                continue;
            for (uint32_t e = offsets[v]; e < offsets[v + 1]; e++) {
                /* Whoever comes first writes what all others would write. */
                uint32_t *target = &distance[targets[e]];
                if (__atomic_load_n(target, __ATOMIC_RELAXED) > round + 1)
                    __atomic_store_n(target, round + 1, __ATOMIC_RELAXED);
            }
        }
    }
}
