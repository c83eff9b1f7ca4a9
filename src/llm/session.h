/* SPDX-License-Identifier: Apache-2.0 */
/* A session inside: buffers for the tokens that are computed together, the cache, and two prepared
 * batches: one token, and a chunk of them. */
#ifndef LS_LLM_SESSION_H
#define LS_LLM_SESSION_H

#include "llm/model.h"

/* What comes with a submission. */
typedef struct ls__feed {
    uint32_t count;       /* tokens */
    uint32_t tiles;       /* of LS__TILE tokens */
    uint32_t lanes;       /* 32 a token */
    uint32_t blocks;      /* of 32 positions that the last token sees */
    uint32_t chunk_lanes; /* 32 for each 64 positions */
    uint32_t last;        /* count - 1 */
} ls__feed;

enum { LS__SLOT_TOKENS, LS__SLOT_PLACES, LS__SLOT_LOGITS, LS__SLOTS };

/* A matrix's input as integers: [columns][elements]. Blocks of 256 have no products. */
typedef struct ls__quantized {
    ls_buffer *integers, *scales, *products, *sums;
} ls__quantized;

/* What a command of a batch does, for messages. */
typedef struct ls__step {
    const char *operation;
    uint32_t layer;
    uint32_t elements, block; /* of a token that it reads; of a block, for each a workgroup */
} ls__step;

/* A result that is shown: of the operation `step`, at `first` in the values of its batch. */
typedef struct ls__trace_point {
    uint32_t step, floats; /* of a token */
    uint64_t first;
    bool last; /* of the last token alone */
} ls__trace_point;

typedef struct ls__token_batch {
    ls_prepared *prepared;
    ls_batch *plain; /* in its place where the session is unprepared */
    ls__step *steps; /* by command */
    uint32_t step_count, step_capacity;
    /* With a trace: see trace.h. */
    ls__trace_point *points;
    uint32_t point_count, point_capacity;
    uint64_t traced; /* floats */
    float *values;
    ls_slot *slots;
} ls__token_batch;

typedef struct ls__cache_layer {
    ls_buffer *keys, *values;
} ls__cache_layer;

struct ls_session {
    const ls_model *model;
    ls_stream *stream;
    uint32_t context, chunk; /* positions; tokens, whole tiles */
    uint32_t position;
    bool failed, has_logits, unprepared;
    ls_session_trace trace; /* or NULL */
    void *trace_context;
    float *logits;
    ls_buffer *tokens, *residual, *normed, *query, *key, *value, *scores, *gate, *up, *inner;
    ls_buffer *last, *device_logits;
    ls_buffer *places, *pages; /* src/llm/attention.h */
    ls_buffer *tops, *sums, *parts;
    ls_buffer *angles[LS__ROPES]; /* by the model's ropes */
    ls__quantized quantized[LS__BLOCKINGS];
    ls__cache_layer *cache; /* by layer */
    ls__token_batch one, many;
};

/* Records and prepares a batch for up to `columns` tokens: 1, or the session's chunk. */
ls_status ls__session_record(ls_session *session, uint32_t columns, ls__token_batch *batch,
                             ls_error *error);

#endif
