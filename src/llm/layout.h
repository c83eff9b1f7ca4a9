/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices as devices see them. 32 rows are a panel: lane l of a subgroup walks row 32 * panel + l,
 * so all that lanes read at once lies side by side. A panel is its slices of 256 elements one after
 * another; a slice is, for each of its blocks, the scales (halves: scale, then minimum), then for
 * each block the integers (words of 4 bytes). Each half or word is there 32 times, once a lane.
 * Rows that a panel lacks are zeros. The bytes are those of the file in another order, but
 *
 * - in the word that holds the fifth bits of Q5_0 and Q5_1 the bits are in another order, too: bit
 *   4k + j, of element 4k + j, is bit 8j + k;
 * - words of Q3_K, Q5_K and Q6_K are in the order they are used in, so that memory is read
 * forwards, and their low and high bits lie side by side, as many of them as there is space in a
 * byte;
 * - scales of Q3_K are signed bytes, so that a block has a word more.
 *
 * F32, F16 and BF16 have no blocks: a panel is [elements][32], the elements of a slice in the order
 * k mod 8, k / 8.
 */
#ifndef LS_LLM_LAYOUT_H
#define LS_LLM_LAYOUT_H

#include <stdbool.h>

#include "lockstep/gguf.h"

enum { LS__LANES = 32, LS__SLICE = 256, LS__FORMS = 15, LS__BLOCKINGS = 2 };

/* What a block has beside its scale. */
typedef enum ls__minimum {
    LS__NO_MINIMUM,
    LS__MINIMUM, /* of the block: added */
    LS__MINIMA,  /* an integer for each group, times the block's: taken away */
} ls__minimum;

typedef struct ls__matrix_form {
    ls_gguf_type type;
    uint32_t elements;                 /* of a block */
    uint32_t halves;                   /* of a block: scale, or scale and minimum */
    uint32_t words;                    /* of a block's integers, laid out */
    uint32_t file_bytes;               /* a block of the file */
    uint32_t scale_byte, integer_byte; /* where they are in a block of the file */
    uint32_t group;                    /* elements that share a scale within the block; 0: none */
    uint32_t offset;                   /* bytes of words are the integers plus this */
    bool is_signed;                    /* those bytes are */
    bool has_fifth_bits;               /* the first word */
    ls__minimum minimum;
} ls__matrix_form;

const ls__matrix_form *ls__matrix_form_of(ls_gguf_type type);
const ls__matrix_form *ls__matrix_form_at(uint32_t index); /* NULL beyond the last */
uint32_t ls__matrix_form_index(const ls__matrix_form *form);

/* How its input is made integers: 0 by quantize_32, 1 by quantize_256; -1 not at all. */
int ls__matrix_blocking(const ls__matrix_form *form);

/* Bytes of the matrix laid out; `columns` inputs, whole blocks. */
uint64_t ls__matrix_bytes(const ls__matrix_form *form, uint64_t columns, uint64_t rows);

/* Lays panels [first, first + count) of a matrix [columns, rows]: `data` are its blocks as in the
 * file, `out` the bytes of these panels. */
void ls__matrix_lay(const ls__matrix_form *form, const void *data, uint64_t columns, uint64_t rows,
                    uint64_t first, uint64_t count, void *out);

#endif
