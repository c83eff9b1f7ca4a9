/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "loop.h"

void loop_matmul(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint64_t rows = scalars[0].u, columns = scalars[1].u, depth = scalars[2].u;
    const float *restrict a = buffers[0];
    const float *restrict b = buffers[1];
    float *restrict c = buffers[2];
#pragma omp parallel for
    for (uint64_t row = 0; row < rows; row++) {
        float *restrict sums = c + row * columns;
        memset(sums, 0, columns * sizeof *sums);
        for (uint64_t k = 0; k < depth; k++)
            for (uint64_t column = 0; column < columns; column++)
                sums[column] += a[row * depth + k] * b[k * columns + column];
    }
}
