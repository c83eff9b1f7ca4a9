/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for products with matrices of one type, as Kernel C made for a number of inputs. */
#ifndef LS_LLM_MATRIX_H
#define LS_LLM_MATRIX_H

#include "base/source_text.h"
#include "base/str.h"
#include "llm/layout.h"

/* kernels/types.kc, which these kernels call, and all other operations: kernels/tensor.kc. */
extern const ls__source_text ls__llm_kernels[];
extern const uint32_t ls__llm_kernels_count;

/*
 * Appends a kernel
 *
 *   NAME(u32 rows, u32 elements, u32 columns, u32 first_row, const f16 *halves, const u32 *words,
 *        const u32 *integers, const f32 *scales, const i32 *sums, const f32 *products, f32 *y)
 *
 * `halves` and `words` are both the matrix (src/llm/layout.h), or some panels of it, of which
 * `first_row` is the first row; the input is as
 * quantize_32 or, for blocks of 256 and without `products`, quantize_256 left it;
 * for F32, F16 and BF16 it is floats: NAME(rows, elements, columns, first_row, matrix, x, y), for
 * a tile of more than one column as tile_floats left them.
 * `rows` are those of the whole matrix, and of a column of y. Lanes: 32
 * for each `tile` columns, and in y one for each 32 rows that are given; so all columns are done
 * with a panel before the next one is read. Inputs beyond `columns` are read, up to a whole tile,
 * and what they give is dropped.
 */
void ls__matrix_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name,
                       uint32_t tile);

/* Appends a kernel that dequantises rows of such a matrix,
 *
 *   NAME(u32 elements, u32 first_row, u32 count, const u32 *rows, const f16 *halves,
 *        const u32 *words, f32 *y)
 *
 * those of them that are among the `count` rows from `first_row`, which are all that is given;
 * lanes: groups of four elements, and the index in `rows`; y: [rows][elements]. F32, F16, BF16:
 * (elements, first_row, count, rows, matrix, y), lanes: elements. */
void ls__embedding_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name);

#endif
