/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of the C loops that the benchmark compares with: c/<kernel>.c defines loop_<kernel>,
 * which does what all lanes of the kernel of that name do, in the same order of operations.
 * Buffers and scalars come in the order of the kernel's parameters.
 */
#ifndef SPEED_LOOP_H
#define SPEED_LOOP_H

#include <stdint.h>

typedef union loop_word {
    uint32_t u;
    float f;
} loop_word;

typedef void loop_function(void *const *buffers, const loop_word *scalars, uint32_t rounds);

loop_function loop_saxpy, loop_reduction, loop_matmul, loop_mandelbrot, loop_prefix_scan,
    loop_histogram, loop_life, loop_sha256, loop_bitonic_sort, loop_bfs, loop_regex_nfa, loop_nbody,
    loop_gemv_int8;

/* Sums all words: as fast as memory can be read. */
uint64_t loop_read(const uint64_t *x, uint64_t n);
void loop_set_threads(int count);

#endif
