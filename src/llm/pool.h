/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and sessions inside. A pool has all memory: that of the tokens which are computed together,
 * and pages of the cache. What a submission computes stands in arrays on the host, which are there
 * from the start, so that feeding allocates nothing. A session is its position and its pages; those
 * come from the pool as it grows.
 */
#ifndef LS_LLM_POOL_H
#define LS_LLM_POOL_H

#include "llm/model.h"

/* What comes with a submission. */
typedef struct ls__feed {
    uint32_t count;          /* tokens */
    uint32_t tile_lanes;     /* 32 for each LS__TILE tokens */
    uint32_t lanes;          /* 32 a token */
    uint32_t blocks;         /* of 32 positions, as many as the token that sees most does */
    uint32_t chunk_lanes;    /* 32 for each 64 positions */
    uint32_t rows;           /* tokens that give logits */
    uint32_t row_lanes;      /* 32 for each of them */
    uint32_t row_tile_lanes; /* 32 for each LS__TILE of them */
} ls__feed;

enum {
    LS__SLOT_TOKENS,
    LS__SLOT_PLACES,
    LS__SLOT_PAGES,
    LS__SLOT_WINDOW_PAGES,
    LS__SLOT_ROWS,
    LS__SLOT_LOGITS,
    LS__SLOTS
};

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

/* A result that is shown, at `first` in the values of its batch. */
typedef struct ls__trace_point {
    ls__step of;
    uint32_t floats; /* of a token */
    uint64_t first;
    bool rows; /* of the tokens that give logits alone */
} ls__trace_point;

/* Of the tokens of a submission that give logits. */
typedef struct ls__outputs {
    uint32_t most;                 /* so many at most */
    ls_buffer *rows, *last, *made; /* their columns, normed residuals, logits */
    float *logits;                 /* [most][vocabulary]: on the host */
} ls__outputs;

typedef struct ls__token_batch {
    const ls__outputs *outputs;
    ls_prepared *prepared;
    ls_batch *plain; /* in its place where the pool is unprepared */
    ls__step *steps; /* by command */
    uint32_t step_count, step_capacity;
    /* With a trace: see trace.h. */
    ls__trace_point *points;
    uint32_t point_count, point_capacity;
    uint64_t traced; /* floats */
    float *values;
    ls_slot *slots;
} ls__token_batch;

/* Of some heads of a layer, in all pages. */
typedef struct ls__cache_part {
    ls_buffer *keys, *values;
} ls__cache_part;

/* Layers that see all positions, and those with a window, which keep only the last pages: each kind
 * has pages of its own. */
enum { LS__WHOLE, LS__WINDOWED, LS__CACHES };

typedef struct ls__stock {
    uint32_t span;  /* pages of a session at most; page n of a text is its page n mod span */
    uint32_t *free; /* the last is given next */
    uint32_t page_count, free_count;
    uint32_t part_heads; /* of the cache in one part; in the last one those that are left */
} ls__stock;

/* What a submission computes: columns of several sessions, one session after another. */
typedef struct ls__round {
    uint32_t count;    /* columns */
    uint32_t *tokens;  /* [chunk] */
    uint32_t *places;  /* [chunk][2]: src/llm/attention.h */
    ls_session **from; /* [chunk]: whose the column is */
    uint32_t row_count;
    uint32_t *rows;              /* [chunk]: columns that give logits */
    uint32_t *pages[LS__CACHES]; /* [sessions][pages of a context] */
    uint32_t page_count;
} ls__round;

struct ls_session_pool {
    const ls_model *model;
    const ls__attention_kernel_set *attention; /* for the cache's type */
    ls_stream *stream;
    uint32_t context;  /* of a session at most, whole pages */
    uint32_t asked;    /* the same as it was asked for */
    uint32_t chunk;    /* columns of a submission, whole tiles */
    uint32_t sessions; /* in a submission */
    bool floats;       /* cache of f32 */
    bool failed, unprepared, unfused;
    ls_session_trace trace; /* or NULL */
    void *trace_context;
    uint32_t cache_kinds; /* 1: all layers keep all */
    ls__stock stock[LS__CACHES];
    uint64_t cache_bytes;
    ls__round round;
    ls_buffer *tokens, *residual, *normed, *query, *key, *value, *scores, *gate, *up, *inner;
    ls_buffer *places, *pages[LS__CACHES]; /* src/llm/attention.h */
    ls_buffer *tops, *sums, *parts;
    ls_buffer *angles[LS__ROPES]; /* by the model's ropes */
    ls__quantized quantized[LS__BLOCKINGS];
    ls_buffer *tiled;      /* the same as floats, tile by tile: kernels/tensor.kc */
    ls__cache_part *cache; /* [layers][heads]: the parts of a layer, at most one for each head */
    ls__outputs ends, all; /* of sessions, of tokens one after another: made when it is needed */
    ls__token_batch one, many, every; /* for one token, for many; for many with `all` */
};

struct ls_session {
    ls_session_pool *pool;
    bool owns_pool;
    uint32_t context, position;
    bool failed, has_logits;
    float *logits;    /* [vocabulary]; the pool's where it is the session's own */
    uint32_t *tokens; /* [context]; those so far */
    /* Tokens whose keys and values are there: all so far, unless it went back further than layers
     * with a window keep; then the next feed begins with those that are missing. */
    uint32_t computed;
    uint32_t reached;            /* positions up to which pages with a window were written */
    uint32_t *pages[LS__CACHES]; /* [span] */
    uint32_t page_count[LS__CACHES];
    uint32_t before, next; /* while it is fed: position before, the token that is computed next */
};

/* Records and prepares a batch for up to `columns` tokens: 1, or the pool's chunk. */
ls_status ls__pool_record(ls_session_pool *pool, uint32_t columns, const ls__outputs *outputs,
                          ls__token_batch *batch, ls_error *error);

/* From now on logits of many tokens of a session can be computed together. */
ls_status ls__pool_make_all(ls_session_pool *pool, ls_error *error);

/* --- pages ------------------------------------------------------------------------------------ */

/* How many pages sessions have at most, and of how many a pool consists. */
ls_status ls__pool_plan_pages(ls_session_pool *pool, const ls_session_pool_params *params,
                              uint32_t context, ls_error *error);
ls_status ls__pool_make_stocks(ls_session_pool *pool, uint64_t seed, ls_error *error);
/* Of which kind the cache of a layer is. */
uint32_t ls__pool_cache_kind(const ls_session_pool *pool, uint32_t layer);

/* How many more pages of a kind the session needs for `positions`. */
uint32_t ls__session_lacks(const ls_session *session, uint32_t kind, uint32_t positions);
/* The session gets pages for `positions`; they must be there. */
void ls__session_take_pages(ls_session *session, uint32_t positions);
/* What follows `position` is forgotten; gives back the pages that are not needed for the rest. */
void ls__session_go_back(ls_session *session, uint32_t position);
/* Adds the session's pages to the round, in which it computes tokens from `next` on. */
void ls__session_list_pages(const ls_session *session, ls__round *round);

/* Computes the pool's round by one of the batches above, whose outputs then have the logits of its
 * rows. When a value is not
 * finite the session it belongs to has failed, and none else. */
ls_status ls__pool_compute(ls_session_pool *pool, const ls__token_batch *batch, ls_error *error);

static inline uint32_t ls__pages_of(uint32_t positions)
{
    return positions / LS__CHUNK + (positions % LS__CHUNK != 0);
}

#endif
