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
 * larger than what a kernel can be given lies in several buffers, the shards: each has shard_rows
 * rows, whole panels, the last one those that are left. */
typedef struct ls__weight {
    ls_buffer *buffer; /* the first shard; NULL: there is no such tensor */
    ls_buffer **more;  /* [shard_count - 1] */
    uint32_t shard_count, shard_rows;
    const ls__matrix_form *form;
    uint32_t columns, rows;
} ls__weight;

/* Shard i: its buffer and its rows. */
static inline ls_buffer *ls__weight_shard(const ls__weight *w, uint32_t i, uint32_t *rows)
{
    uint32_t left = w->rows - i * w->shard_rows;
    *rows = left < w->shard_rows ? left : w->shard_rows;
    return i ? w->more[i - 1] : w->buffer;
}

typedef struct ls__layer {
    /* By ls__layer_tensor; no buffer: there is no such tensor. */
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
    const ls_kernel *append, *scores, *weights, *values, *parts, *join;
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
    float *rope_factors;                       /* NULL, or [pairs] for the first of ropes */
    ls__weight embedding, output_norm, output; /* output.buffer NULL: the embedding serves */
    ls__layer *layers;
    ls__matrix_kernels matrices[LS__FORMS]; /* by ls__matrix_form_index */
    ls__attention_kernel_set attention[2];  /* for caches of f16, of f32 */
    const ls_kernel *rms_norm, *rms_norm_of, *quantize[LS__BLOCKINGS], *rope, *gate, *add;
    const ls_kernel *norm_heads, *add_bias, *scale, *soft_cap;
};

/* What a model's values say; also makes the layers, without their weights. */
ls_status ls__model_read_info(const ls_gguf *gguf, ls_model *model, ls_error *error);

/* Looks at all tensors, then lays them out on the device. `max_shard_bytes`: of a matrix in one
 * buffer; 0: what a kernel of the device can be given. On failure some may be there. */
ls_status ls__weights_load(ls_model *model, const ls_gguf *gguf, uint64_t max_shard_bytes,
                           ls_error *error);
void ls__weights_destroy(ls_model *model);

#endif
