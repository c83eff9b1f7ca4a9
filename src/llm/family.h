/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of models: what the models of one `general.architecture` have in common, beyond the
 * numbers in their files. All are made of the same layer; parts in brackets are there in some:
 *
 *   x = embedding [* sqrt(width)]
 *   each layer:  a = norm(x);  q, k, v = matrices of a [+ biases]
 *                [norms of the heads of q, k];  q, k rotated
 *                attention [in a window] [scores capped];  output matrix [+ bias] [norm]
 *                x = x + the result
 *                b = norm(x);  down(function(gate(b)) * up(b)) [norm];  x = x + the result
 *                [x = x * a number of the layer]
 *   logits = output(norm(x)) [capped]
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

/* The function of the gate. */
typedef enum ls__gate_function {
    LS__SILU,
    LS__GELU, /* by tanh */
} ls__gate_function;

/* The tensors of a layer: X(name here, name in the file, columns, rows), by extents of the model;
 * rows ONE: a vector. The first nine are there in all families. */
#define LS__LAYER_TENSORS(X)                                                                       \
    X(ATTENTION_NORM, "attn_norm.weight", WIDTH, ONE)                                              \
    X(QUERY, "attn_q.weight", WIDTH, QUERIES)                                                      \
    X(KEY, "attn_k.weight", WIDTH, KEYS)                                                           \
    X(VALUE, "attn_v.weight", WIDTH, KEYS)                                                         \
    X(ATTENTION_OUTPUT, "attn_output.weight", QUERIES, WIDTH)                                      \
    X(INNER_NORM, "ffn_norm.weight", WIDTH, ONE)                                                   \
    X(GATE, "ffn_gate.weight", WIDTH, INNER)                                                       \
    X(UP, "ffn_up.weight", WIDTH, INNER)                                                           \
    X(DOWN, "ffn_down.weight", INNER, WIDTH)                                                       \
    X(QUERY_BIAS, "attn_q.bias", QUERIES, ONE)                                                     \
    X(KEY_BIAS, "attn_k.bias", KEYS, ONE)                                                          \
    X(VALUE_BIAS, "attn_v.bias", KEYS, ONE)                                                        \
    X(ATTENTION_OUTPUT_BIAS, "attn_output.bias", WIDTH, ONE)                                       \
    X(GATE_BIAS, "ffn_gate.bias", INNER, ONE)                                                      \
    X(UP_BIAS, "ffn_up.bias", INNER, ONE)                                                          \
    X(DOWN_BIAS, "ffn_down.bias", WIDTH, ONE)                                                      \
    X(QUERY_NORM, "attn_q_norm.weight", HEAD, ONE)                                                 \
    X(KEY_NORM, "attn_k_norm.weight", HEAD, ONE)                                                   \
    X(ATTENTION_POST_NORM, "post_attention_norm.weight", WIDTH, ONE)                               \
    X(INNER_POST_NORM, "post_ffw_norm.weight", WIDTH, ONE)                                         \
    X(LAYER_SCALE, "layer_output_scale.weight", ONE, ONE)

typedef enum ls__layer_tensor {
#define X(name, file_name, columns, rows) LS__##name,
    LS__LAYER_TENSORS(X)
#undef X
        LS__LAYER_TENSOR_COUNT,
} ls__layer_tensor;

/* Sets of these tensors. */
#define LS__PART(name) (1u << LS__##name)
enum {
    LS__COMMON_PARTS = LS__PART(QUERY_BIAS) - 1,
    LS__INPUT_BIASES = LS__PART(QUERY_BIAS) | LS__PART(KEY_BIAS) | LS__PART(VALUE_BIAS),
    LS__OTHER_BIASES = LS__PART(ATTENTION_OUTPUT_BIAS) | LS__PART(GATE_BIAS) | LS__PART(UP_BIAS) |
                       LS__PART(DOWN_BIAS),
    LS__HEAD_NORMS = LS__PART(QUERY_NORM) | LS__PART(KEY_NORM),
    LS__POST_NORMS = LS__PART(ATTENTION_POST_NORM) | LS__PART(INNER_POST_NORM),
};

/* Windows are in layers of which the file says so; otherwise in all but each n-th. */
enum { LS__NO_WINDOWS = 0, LS__ALL_LAYERS = 0xffff };

/* Numbers hold where the file says nothing else. */
typedef struct ls__family {
    const char *architecture; /* in files */
    ls__pairing pairing;
    ls__gate_function gate;
    uint32_t must, may; /* sets of tensors beside the common ones */
    bool scaled_embedding;
    double score_cap, logit_cap;
    uint32_t window;
    uint32_t window_period;  /* n above, LS__NO_WINDOWS, LS__ALL_LAYERS */
    double window_rope_base; /* 0: layers with a window rotate as the others do */
    /* A model of so many layers divides scores by sqrt(width / heads), where sqrt(elements of a
     * head) is usual: its file does not say it. */
    uint32_t other_scale_layers;
} ls__family;

extern const ls__family ls__family_llama, ls__family_qwen2, ls__family_qwen3, ls__family_gemma,
    ls__family_gemma2, ls__family_gemma3;

/* NULL: there is none of this name. */
const ls__family *ls__family_find(const char *architecture, size_t length);
const ls__family *ls__family_at(uint32_t index); /* NULL beyond the last */

#endif
