/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_life(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    uint32_t width = scalars[0].u, height = scalars[1].u;
    uint64_t plane = (uint64_t)width * height;
    uint8_t *cells = buffers[0];
    for (uint32_t round = 0; round < rounds; round++) {
        const uint8_t *restrict from = cells + (round & 1) * plane;
        uint8_t *restrict to = cells + (~round & 1) * plane;
#pragma omp parallel for
        for (uint32_t y = 0; y < height; y++) {
            const uint8_t *above = from + (uint64_t)(y > 0 ? y - 1 : height - 1) * width;
            const uint8_t *row = from + (uint64_t)y * width;
            const uint8_t *below = from + (uint64_t)(y + 1 < height ? y + 1 : 0) * width;
            for (uint32_t x = 0; x < width; x++) {
                uint32_t left = x > 0 ? x - 1 : width - 1;
                uint32_t right = x + 1 < width ? x + 1 : 0;
                int around = (above[left] >> 7) + (above[x] >> 7) + (above[right] >> 7) +
                             (row[left] >> 7) + (row[right] >> 7) + (below[left] >> 7) +
                             (below[x] >> 7) + (below[right] >> 7);
                int alive = around == 3 || (around == 2 && row[x] >= 128);
                to[(uint64_t)y * width + x] = alive ? 255 : 0;
            }
        }
    }
}
