/* SPDX-License-Identifier: Apache-2.0 */
/* docs/numerics-llm.md in plain C, over the blocks of files, one element after another: what
 * kernels are compared with. Shares no code with them but exp, tanh and the conversions of
 * halves (lockstep/kernel.h). */
#ifndef LS_TESTS_LLM_MODEL_H
#define LS_TESTS_LLM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep/gguf.h"

/* sums: of each 32 elements, or of each 16 where a block has 256; products: of blocks. */
void model_quantize(uint32_t block, uint32_t elements, const float *x, int8_t *integers,
                    float *scales, float *products, int32_t *sums);
/* One row of a matrix, as it lies in the file, times x. */
float model_row(ls_gguf_type type, uint32_t elements, const void *row, const float *x);
void model_rms_norm(uint32_t elements, float epsilon, const float *x, const float *weights,
                    float *y);
/* table: [pairs] of cosine and sine */
void model_rope(uint32_t pairs, uint32_t apart, const float *table, float *head);
/* One head: keys and values are [count][width], before they are rounded to f16, unless the cache is
 * of floats; those from `oldest` on are seen. cap 0: none. */
void model_attention(bool floats, uint32_t width, uint32_t oldest, uint32_t count, float scale,
                     float cap, const float *query, const float *keys, const float *values,
                     float *y);
float model_silu_gate(float gate, float up);
float model_gelu_gate(float gate, float up);
float model_soft_cap(float x, float cap);

#endif
