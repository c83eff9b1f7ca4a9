/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of models: what the models of one `general.architecture` have in common, beyond the
 * numbers in their files. All are made of the same layer, with parts that some lack:
 *
 *   x = embedding
 *   each layer:  a = norm(x);  q, k, v = matrices of a
 *                q, k rotated; attention; output matrix
 *                x = x + the result
 *                b = norm(x);  x = x + down(function(gate(b)) * up(b))
 *   logits = output(norm(x))
 *
 * A new family is one file in families/ and a line in its registry.c.
 */
#ifndef LS_LLM_FAMILY_H
#define LS_LLM_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of a head that are rotated together. */
typedef enum ls__pairing {
    LS__PAIRS_NEIGHBOURS, /* 2i, 2i + 1 */
    LS__PAIRS_HALVES,     /* i, i + half of what is rotated */
} ls__pairing;

/* The tensors of a layer: X(name here, name in the file, columns, rows), by extents of the model;
 * rows ONE: a vector. */
#define LS__LAYER_TENSORS(X)                                                                       \
    X(ATTENTION_NORM, "attn_norm.weight", WIDTH, ONE)                                              \
    X(QUERY, "attn_q.weight", WIDTH, QUERIES)                                                      \
    X(KEY, "attn_k.weight", WIDTH, KEYS)                                                           \
    X(VALUE, "attn_v.weight", WIDTH, KEYS)                                                         \
    X(ATTENTION_OUTPUT, "attn_output.weight", QUERIES, WIDTH)                                      \
    X(INNER_NORM, "ffn_norm.weight", WIDTH, ONE)                                                   \
    X(GATE, "ffn_gate.weight", WIDTH, INNER)                                                       \
    X(UP, "ffn_up.weight", WIDTH, INNER)                                                           \
    X(DOWN, "ffn_down.weight", INNER, WIDTH)

typedef enum ls__layer_tensor {
#define X(name, file_name, columns, rows) LS__##name,
    LS__LAYER_TENSORS(X)
#undef X
        LS__LAYER_TENSOR_COUNT,
} ls__layer_tensor;

typedef struct ls__family {
    const char *architecture; /* in files */
    ls__pairing pairing;
} ls__family;

extern const ls__family ls__family_llama;

/* NULL: there is none of this name. */
const ls__family *ls__family_find(const char *architecture, size_t length);
const ls__family *ls__family_at(uint32_t index); /* NULL beyond the last */

#endif
