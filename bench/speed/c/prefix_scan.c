/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of each block first, then all blocks at once, as the kernel does. */
#include "loop.h"

enum { BLOCK = 4096 };

void loop_prefix_scan(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t n = scalars[0].u;
    const uint32_t *restrict x = buffers[0];
    uint32_t *restrict totals = buffers[1];
    uint32_t *restrict y = buffers[2];
    uint32_t blocks = (n + BLOCK - 1) / BLOCK;
#pragma omp parallel for
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t end = (block + 1) * BLOCK < n ? (block + 1) * BLOCK : n;
        uint32_t sum = 0;
        for (uint32_t i = block * BLOCK; i < end; i++)
            sum += x[i];
        totals[block] = sum;
    }
#pragma omp parallel for
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t end = (block + 1) * BLOCK < n ? (block + 1) * BLOCK : n;
        uint32_t sum = 0;
        for (uint32_t before = 0; before < block; before++)
            sum += totals[before];
        for (uint32_t i = block * BLOCK; i < end; i++) {
            sum += x[i];
            y[i] = sum;
        }
    }
}
