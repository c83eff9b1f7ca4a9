/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_histogram(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t n = scalars[0].u;
    const uint8_t *restrict x = buffers[0];
    uint32_t *counts = buffers[1];
#pragma omp parallel
    {
        uint32_t own[256] = {0};
#pragma omp for
        for (uint32_t i = 0; i < n; i++)
            own[x[i]]++;
#pragma omp critical
        for (uint32_t byte = 0; byte < 256; byte++)
            counts[byte] += own[byte];
    }
}
