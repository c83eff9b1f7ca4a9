/* SPDX-License-Identifier: Apache-2.0 */
/* In the order of the kernel, which 256 sums side by side make easy for vectors: GROUPS workgroups
 * of 256 lanes. */
#include "loop.h"

enum { LANES = 256, GROUPS = 64 };

void loop_reduction(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint64_t n = scalars[0].u;
    const float *restrict x = buffers[0];
    float *restrict sums = buffers[1];
#pragma omp parallel for
    for (uint32_t group = 0; group < GROUPS; group++) {
        float lanes[LANES] = {0};
        uint64_t start = group * LANES;
        for (; start + LANES <= n; start += GROUPS * LANES)
            for (uint32_t lane = 0; lane < LANES; lane++)
                lanes[lane] += x[start + lane];
        for (uint32_t lane = 0; start + lane < n && lane < LANES; lane++)
            lanes[lane] += x[start + lane];
        /* Lane 0 of each subgroup, by the butterfly. */
        for (uint32_t step = 16; step > 0; step /= 2)
            for (uint32_t first = 0; first < LANES; first += 32)
                for (uint32_t lane = first; lane < first + step; lane++)
                    lanes[lane] += lanes[lane + step];
        float total = lanes[0];
        for (uint32_t first = 32; first < LANES; first += 32)
            total += lanes[first];
        sums[group] = total;
    }
}
