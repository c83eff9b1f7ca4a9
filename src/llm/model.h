/* SPDX-License-Identifier: Apache-2.0 */
/* A model inside: its shape, its weights on the device, its kernels. */
#ifndef LS_LLM_MODEL_H
#define LS_LLM_MODEL_H

#include "llm/family.h"
#include "llm/layout.h"
#include "llm/rope.h"
#include "lockstep/launch.h"
#include "lockstep/llm.h"

enum { LS__TILE = 4, LS__CHUNK = 64, LS__NOT_FINITE = 1 }; /* as kernels/tensor.kc */

/* A tensor on the device: a matrix in panels, or a vector of floats (form NULL). A matrix that is
 * larger than what a kernel can be given lies in several ranges, the shards: each has shard_rows
 * rows, whole panels, the last one those that are left. */
typedef struct ls__weight {
    const ls_range *shards; /* [shard_count]; NULL: there is no such tensor */
    uint32_t shard_count, shard_rows;
    const ls__matrix_form *form;
    uint32_t columns, rows;
} ls__weight;

static inline uint32_t ls__weight_shard_rows(const ls__weight *w, uint32_t shard)
{
    uint32_t left = w->rows - shard * w->shard_rows;
    return left < w->shard_rows ? left : w->shard_rows;
}

typedef struct ls__layer {
    /* By ls__layer_tensor. */
    ls__weight weights[LS__LAYER_TENSOR_COUNT];
    uint32_t window; /* positions back that it sees, its own among them; UINT32_MAX: all */
    uint32_t rope;   /* which of the model's */
    float scale;     /* of its output; 1: none */
} ls__layer;

/* The kernels for matrices of one form; NULL where there is no such matrix. */
typedef struct ls__matrix_kernels {
    const ls_kernel *one, *tile; /* for one column, for LS__TILE */
    const ls_kernel *rows;
} ls__matrix_kernels;

/* src/llm/attention.h */
typedef struct ls__attention_kernel_set {
    const ls_kernel *append, *place, *scores, *weights, *values, *parts, *join;
} ls__attention_kernel_set;

enum { LS__ROPES = 2 };

struct ls_model {
    ls_device *device;
    ls_program *program;
    const ls__family *family;
    ls_model_info info;
    float epsilon, attention_scale;
    float score_cap, logit_cap; /* 0: none */
    float embedding_scale;      /* 1: none */
    ls__rope ropes[LS__ROPES];  /* of layers that see all; of those with a window */
    uint32_t rope_count;
    uint32_t window;     /* of the layers that have one; 0: none has */
    float *rope_factors; /* NULL, or [pairs] for the first of ropes */
    ls_buffer **stores;  /* where weights lie */
    uint32_t store_count;
    ls_range *ranges;                          /* of their shards */
    ls__weight embedding, output_norm, output; /* output without shards: the embedding serves */
    ls__layer *layers;
    ls__matrix_kernels matrices[LS__FORMS]; /* by ls__matrix_form_index */
    ls__attention_kernel_set attention[2];  /* for caches of f16, of f32 */
    const ls_kernel *rms_norm, *rms_norm_of, *quantize[LS__BLOCKINGS], *rope, *gate, *add;
    const ls_kernel *norm_heads, *add_bias, *scale, *soft_cap, *check, *tile_floats;
    /* kernels/fused.kc; by blocking, the last for floats. NULL: none. */
    const ls_kernel *begin[LS__BLOCKINGS + 1], *fused_gate[LS__BLOCKINGS];
};

/* What a model's values say; also makes the layers, without their weights. */
ls_status ls__model_read_info(const ls_gguf *gguf, ls_model *model, ls_error *error);

/* Looks at all tensors, then lays them out on the device. `max_shard_bytes`: of a matrix in one
 * range; 0: what a kernel of the device can be given. On failure some may be there. */
ls_status ls__weights_load(ls_model *model, const ls_gguf *gguf, uint64_t max_shard_bytes,
                           ls_error *error);
void ls__weights_destroy(ls_model *model);

#endif
