/* SPDX-License-Identifier: Apache-2.0 */
/* rsqrt is the library's function, from the same source as the kernel's. */
#include <string.h>

#include "lockstep/kernel.h"
#include "loop.h"

enum { TILE = 64 };

void loop_nbody(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    uint32_t n = scalars[0].u;
    float dt = scalars[1].f, softening = scalars[2].f;
    float *bodies = buffers[0];
    float *velocities = buffers[1];
    for (uint32_t round = 0; round < rounds; round++) {
        const float *restrict from = bodies + (round & 1u) * 4 * n;
        float *restrict to = bodies + (~round & 1u) * 4 * n;
#pragma omp parallel for
        for (uint32_t first = 0; first < n; first += TILE) {
            /* TILE bodies side by side, so that the order of forces keeps nothing from vectors. */
            float x[TILE], y[TILE], z[TILE];
            float ax[TILE] = {0}, ay[TILE] = {0}, az[TILE] = {0};
            uint32_t count = n - first < TILE ? n - first : TILE;
            memset(x, 0, sizeof x), memset(y, 0, sizeof y), memset(z, 0, sizeof z);
            for (uint32_t i = 0; i < count; i++) {
                x[i] = from[4 * (first + i)];
                y[i] = from[4 * (first + i) + 1];
                z[i] = from[4 * (first + i) + 2];
            }
            for (uint32_t k = 0; k < n; k++) {
                const float *other = from + 4 * k;
                for (uint32_t i = 0; i < TILE; i++) {
                    float dx = other[0] - x[i], dy = other[1] - y[i], dz = other[2] - z[i];
                    float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
                    float force = other[3] * (inverse * inverse * inverse);
                    ax[i] += dx * force;
                    ay[i] += dy * force;
                    az[i] += dz * force;
                }
            }
            for (uint32_t i = 0; i < count; i++) {
                float *velocity = velocities + 3 * (first + i);
                velocity[0] += dt * ax[i];
                velocity[1] += dt * ay[i];
                velocity[2] += dt * az[i];
                float *next = to + 4 * (first + i);
                next[0] = x[i] + dt * velocity[0];
                next[1] = y[i] + dt * velocity[1];
                next[2] = z[i] + dt * velocity[2];
                next[3] = from[4 * (first + i) + 3];
            }
        }
    }
}
