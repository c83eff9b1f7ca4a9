/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_bitonic_sort(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t n = scalars[0].u;
    uint32_t *x = buffers[0];
    for (uint32_t size = 2; size <= n; size *= 2) {
        for (uint32_t distance = size / 2; distance > 0; distance /= 2) {
#pragma omp parallel for
            for (uint32_t pair = 0; pair < n / 2; pair++) {
                uint32_t i = 2 * pair - (pair & (distance - 1));
                uint32_t a = x[i], b = x[i + distance];
                uint32_t low = a < b ? a : b, high = a < b ? b : a;
                x[i] = (i & size) == 0 ? low : high;
                x[i + distance] = (i & size) == 0 ? high : low;
            }
        }
    }
}
