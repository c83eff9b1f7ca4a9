/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_saxpy(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t n = scalars[0].u;
    float a = scalars[1].f;
    const float *restrict x = buffers[0];
    float *restrict y = buffers[1];
#pragma omp parallel for
    for (uint32_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
