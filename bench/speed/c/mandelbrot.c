/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

enum { LIMIT = 200 };

void loop_mandelbrot(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t width = scalars[0].u, height = scalars[1].u;
    uint8_t *restrict image = buffers[0];
    float scale = 2.5f / (float)height;
#pragma omp parallel for schedule(dynamic, 8)
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            float cr = ((float)x - 0.65f * (float)width) * scale;
            float ci = ((float)y - 0.5f * (float)height) * scale;
            float zr = 0.0f, zi = 0.0f;
            uint32_t step = 0;
            while (step < LIMIT && zr * zr + zi * zi <= 4.0f) {
                float next = zr * zr - zi * zi + cr;
                zi = 2.0f * zr * zi + ci;
                zr = next;
                step++;
            }
            image[y * width + x] = (uint8_t)(step == LIMIT ? 0 : 255 * step / (step + 12));
        }
    }
}
