/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of the tensor types of GGUF, as they lie in files (ggml's block formats). Elements and
 * formulas: docs/gguf.md. All members are bytes or 16-bit words; blocks in a file are aligned to 2
 * bytes at least, since tensors are aligned to 8.
 */
#ifndef LS_GGUF_BLOCKS_H
#define LS_GGUF_BLOCKS_H

#include <stdint.h>

typedef float ls__block_f32;
typedef uint16_t ls__block_f16;
typedef uint16_t ls__block_bf16;

/* Elements i and i + 16 are the low and high half of quants[i]. */
typedef struct ls__block_q4_0 {
    uint16_t scale; /* f16, as are all scales and minima */
    uint8_t quants[16];
} ls__block_q4_0;

typedef struct ls__block_q4_1 {
    uint16_t scale, minimum;
    uint8_t quants[16];
} ls__block_q4_1;

/* Bit i of `high` is bit 4 of element i. */
typedef struct ls__block_q5_0 {
    uint16_t scale;
    uint8_t high[4];
    uint8_t quants[16];
} ls__block_q5_0;

typedef struct ls__block_q5_1 {
    uint16_t scale, minimum;
    uint8_t high[4];
    uint8_t quants[16];
} ls__block_q5_1;

typedef struct ls__block_q8_0 {
    uint16_t scale;
    int8_t quants[32];
} ls__block_q8_0;

/* A byte of `scales` for 16 elements: scale in the low half, minimum in the high. Byte i of a half
 * of `quants` holds elements i, i + 32, i + 64, i + 96 of that half, 2 bits each. */
typedef struct ls__block_q2_k {
    uint8_t scales[16];
    uint8_t quants[64];
    uint16_t scale, minimum;
} ls__block_q2_k;

/* `quants` as in q2_k; bit 2 of element i is bit i / 32 of high[i % 32], inverted. `scales`: 16 of
 * 6 bits, one for 16 elements; 4 low bits in the first 8 bytes, 2 high bits in the rest. */
typedef struct ls__block_q3_k {
    uint8_t high[32];
    uint8_t quants[64];
    uint8_t scales[12];
    uint16_t scale;
} ls__block_q3_k;

/* `scales`: 8 scales and 8 minima of 6 bits, one for 32 elements. A quarter of `quants` is 32
 * bytes: 32 elements in the low halves, 32 in the high. */
typedef struct ls__block_q4_k {
    uint16_t scale, minimum;
    uint8_t scales[12];
    uint8_t quants[128];
} ls__block_q4_k;

/* As q4_k; bit 4 of element i is bit i / 32 of high[i % 32]. */
typedef struct ls__block_q5_k {
    uint16_t scale, minimum;
    uint8_t scales[12];
    uint8_t high[32];
    uint8_t quants[128];
} ls__block_q5_k;

/* Halves of 128 elements, with 64 bytes of `low` and 32 of `high` each: element i has 4 bits in
 * low[i % 64], its high half from i = 64 on, and 2 bits in high[i % 32] from bit i / 32 * 2. */
typedef struct ls__block_q6_k {
    uint8_t low[128];
    uint8_t high[64];
    int8_t scales[16];
    uint16_t scale;
} ls__block_q6_k;

/* `quants` as in q4_0, each an index into a table of 16 values. */
typedef struct ls__block_iq4_nl {
    uint16_t scale;
    uint8_t quants[16];
} ls__block_iq4_nl;

/* 8 groups of 32 elements, each as in iq4_nl; a scale of a group is 6 bits: 4 in scales_low, 2 in
 * scales_high. */
typedef struct ls__block_iq4_xs {
    uint16_t scale;
    uint16_t scales_high;
    uint8_t scales_low[4];
    uint8_t quants[128];
} ls__block_iq4_xs;

_Static_assert(sizeof(ls__block_q4_0) == 18, "q4_0");
_Static_assert(sizeof(ls__block_q4_1) == 20, "q4_1");
_Static_assert(sizeof(ls__block_q5_0) == 22, "q5_0");
_Static_assert(sizeof(ls__block_q5_1) == 24, "q5_1");
_Static_assert(sizeof(ls__block_q8_0) == 34, "q8_0");
_Static_assert(sizeof(ls__block_q2_k) == 84, "q2_k");
_Static_assert(sizeof(ls__block_q3_k) == 110, "q3_k");
_Static_assert(sizeof(ls__block_q4_k) == 144, "q4_k");
_Static_assert(sizeof(ls__block_q5_k) == 176, "q5_k");
_Static_assert(sizeof(ls__block_q6_k) == 210, "q6_k");
_Static_assert(sizeof(ls__block_iq4_nl) == 18, "iq4_nl");
_Static_assert(sizeof(ls__block_iq4_xs) == 136, "iq4_xs");

#endif
