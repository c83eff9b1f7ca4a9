/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_gemv_int8(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    uint32_t rows = scalars[0].u;
    uint64_t columns = 4 * (uint64_t)scalars[1].u;
    const int8_t *restrict weights = buffers[0];
    const int8_t *restrict x = buffers[1];
    int32_t *restrict y = buffers[2];
    for (uint32_t round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (uint32_t row = 0; row < rows; row++) {
            const int8_t *w = weights + row * columns;
            int32_t sum = 0;
            for (uint64_t column = 0; column < columns; column++)
                sum += w[column] * x[column];
            y[row] = sum;
        }
    }
}
