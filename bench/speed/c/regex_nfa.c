/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

void loop_regex_nfa(void *const *buffers, const loop_word *scalars, uint32_t rounds)
{
    (void)rounds;
    uint32_t count = scalars[0].u;
    const uint32_t *restrict table = buffers[0];
    const uint32_t *restrict starts = buffers[1];
    const uint8_t *restrict text = buffers[2];
    uint32_t *restrict ends = buffers[3];
#pragma omp parallel for schedule(dynamic, 64)
    for (uint32_t string = 0; string < count; string++) {
        uint32_t states = 0, end = 0xffffffffu;
        for (uint32_t i = starts[string]; i < starts[string + 1]; i++) {
            uint32_t reached = table[1280] | table[256 + (states & 255)] |
                               table[512 + (states >> 8 & 255)] |
                               table[768 + (states >> 16 & 255)] | table[1024 + (states >> 24)];
            states = reached & table[text[i]];
            if (states & table[1281]) {
                end = i + 1 - starts[string];
                break;
            }
        }
        ends[string] = end;
    }
}
