/* SPDX-License-Identifier: Apache-2.0 */
/* A model inside: its shape, its weights on the device, its kernels. */
#ifndef LS_LLM_MODEL_H
#define LS_LLM_MODEL_H

#include "llm/family.h"
#include "llm/layout.h"
#include "lockstep/launch.h"
#include "lockstep/llm.h"

enum { LS__TILE = 4, LS__CHUNK = 64, LS__NOT_FINITE = 1 }; /* as kernels/tensor.kc */

/* A tensor on the device: a matrix in panels, or a vector of floats (form NULL). */
typedef struct ls__weight {
    ls_buffer *buffer;
    const ls__matrix_form *form;
    uint32_t columns, rows;
} ls__weight;

typedef struct ls__layer {
    ls__weight weights[LS__LAYER_TENSOR_COUNT]; /* by ls__layer_tensor */
} ls__layer;

/* The kernels for matrices of one form; NULL where there is no such matrix. */
typedef struct ls__matrix_kernels {
    const ls_kernel *one, *tile; /* for one column, for LS__TILE */
    const ls_kernel *rows;
} ls__matrix_kernels;

struct ls_model {
    ls_device *device;
    ls_program *program;
    const ls__family *family;
    ls_model_info info;
    float epsilon, attention_scale;
    double rope_base;
    uint32_t rope_pairs, rope_apart;
    ls__weight embedding, output_norm, output; /* output.buffer NULL: the embedding serves */
    ls__layer *layers;
    ls__matrix_kernels matrices[LS__FORMS]; /* by ls__matrix_form_index */
    const ls_kernel *rms_norm, *quantize[LS__BLOCKINGS], *rope, *append, *scores, *values,
        *silu_gate, *add;
};

/* What a model's file says, checked against its tensors; no weights yet. */
ls_status ls__model_read_info(const ls_gguf *gguf, ls_model *model, ls_error *error);

#endif
