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
 *   NAME(u32 rows, u32 elements, u32 columns, const f16 *halves, const u32 *words,
 *        const u32 *integers, const f32 *scales, const i32 *sums, const f32 *products, f32 *y)
 *
 * `halves` and `words` are both the matrix (src/llm/layout.h); the input is as
 * quantize_32 or, for blocks of 256 and without `products`, quantize_256 left it;
 * for F32, F16 and BF16 it is floats: NAME(rows, elements, columns, matrix, x, y). Lanes: rows
 * rounded up to 32, and one of `tile` columns in y. Inputs beyond `columns` are read, up to a whole
 * tile, and what they give is dropped.
 */
void ls__matrix_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name,
                       uint32_t tile);

/* Appends a kernel that dequantises rows of such a matrix,
 *
 *   NAME(u32 elements, const u32 *rows, const f16 *halves, const u32 *words, f32 *y)
 *
 * lanes: groups of four elements, and the index in `rows`; y: [rows][elements]. F32, F16, BF16:
 * (elements, rows, matrix, y), lanes: elements. */
void ls__embedding_kernel(ls__strbuf *text, const ls__matrix_form *form, const char *name);

#endif
