/* SPDX-License-Identifier: Apache-2.0 */
/* In the order of the kernel, which 32 sums side by side make easy for vectors: GROUPS workgroups
 * of eight subgroups. */
#include "loop.h"

enum { LANES = 32, SUBGROUPS = 8, GROUPS = 64, STRETCHES = GROUPS * SUBGROUPS };

static float sum_stretch(const float *restrict x, uint64_t n, uint64_t stretch)
{
    float lanes[LANES] = {0};
    uint64_t rows = n / LANES, each = (rows + STRETCHES - 1) / STRETCHES;
    uint64_t end = (stretch + 1) * each < rows ? (stretch + 1) * each : rows;
    for (uint64_t row = stretch * each; row < end; row++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            lanes[lane] += x[row * LANES + lane];
    for (uint32_t lane = 0; stretch == STRETCHES - 1 && rows * LANES + lane < n; lane++)
        lanes[lane] += x[rows * LANES + lane];
    /* Lane 0, by the butterfly. */
    for (uint32_t step = LANES / 2; step > 0; step /= 2)
        for (uint32_t lane = 0; lane < step; lane++)
            lanes[lane] += lanes[lane + step];
    return lanes[0];
}

void loop_reduction(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint64_t n = scalars[0].u;
    const float *restrict x = buffers[0];
    float *restrict sums = buffers[1];
#pragma omp parallel for
    for (uint32_t group = 0; group < GROUPS; group++) {
        float total = sum_stretch(x, n, (uint64_t)group * SUBGROUPS);
        for (uint32_t subgroup = 1; subgroup < SUBGROUPS; subgroup++)
            total += sum_stretch(x, n, (uint64_t)group * SUBGROUPS + subgroup);
        sums[group] = total;
    }
}
