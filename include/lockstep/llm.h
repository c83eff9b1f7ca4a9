/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/llm.h - run language models on any device.
 *
 *   ls_gguf --ls_model_load--> ls_model (weights on a device) --ls_session_create--> ls_session
 *
 * A session is a text that grows token by token: tokens are fed, and for the last one there are
 * logits, one for every token of the vocabulary, which say how well it would follow. What a text
 * gives depends on the model file and the tokens alone, to the bit (docs/numerics-llm.md): not on
 * the device, its threads, or how the tokens are cut into calls.
 */
#ifndef LOCKSTEP_LLM_H
#define LOCKSTEP_LLM_H

#include "lockstep/base.h"
#include "lockstep/device.h"
#include "lockstep/gguf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- models ----------------------------------------------------------------------------------- */
/* Weights on a device. Thread-safety: immutable; sessions of one model may run in several threads.
 */
typedef struct ls_model ls_model;

typedef struct ls_model_params {
    size_t struct_size;
    ls_device *device;   /* must outlive the model */
    const ls_gguf *gguf; /* not needed after the call */
    bool checked;        /* kernels with bounds checks; the same bits, slower */
    /* A matrix that has more bytes is given to kernels in pieces, some rows each; the same bits.
     * 0 = what the device can give a kernel at once (ls_caps.max_range_bytes). */
    uint64_t max_shard_bytes;
} ls_model_params;
#define LS_MODEL_PARAMS_INIT LS_INIT(ls_model_params)

/* Lays the weights out and compiles the kernels. LS_E_UNSUPPORTED (architecture, type of a tensor,
 * by name), LS_E_NOT_FOUND (a value or a tensor that must be there), LS_E_FORMAT (a shape: what is
 * expected, what is there), LS_E_LIMIT (32 rows of a matrix have more bytes than a kernel can be
 * given), LS_E_OUT_OF_MEMORY (bytes). Blocks: reads the whole file. */
LS_API ls_status ls_model_load(const ls_model_params *params, ls_model **model, ls_error *error);
LS_API void ls_model_destroy(ls_model **model); /* after its sessions */

typedef struct ls_model_info {
    size_t struct_size;
    char architecture[32]; /* "llama" */
    uint32_t layers;
    uint32_t width;       /* elements of the residual */
    uint32_t inner_width; /* of the feed-forward part */
    uint32_t heads, kv_heads, head_width;
    uint32_t vocabulary; /* tokens */
    uint32_t context;    /* positions the model was trained for */
    uint64_t weight_bytes;
} ls_model_info;
LS_API void ls_model_describe(const ls_model *model, ls_model_info *info);

/* --- pools of sessions ------------------------------------------------------------------------ */
/* What sessions of one model share: memory for the tokens in work, and the cache of keys and
 * values, in pages of 64 positions that sessions take as they grow; in layers with a window only
 * the pages that are still seen (docs/models.md has the bytes). Sessions of a pool can be
 * computed together, which reads the weights once for all of them. Thread-safety: a pool and its
 * sessions, one thread at a time. */
typedef struct ls_session_pool ls_session_pool;

/* What an operation gave for one token. */
typedef struct ls_operation_result {
    const char *operation; /* "query", "attention output", ... */
    uint32_t layer;        /* the number of layers for what follows the last one */
    uint32_t position;
    const float *values; /* [count] */
    uint32_t count;
} ls_operation_result;
/* For finding where two devices part: called, within a feed, for the results of all operations that
 * are floats, as they are computed: operations in their order, each for its tokens. Slow. */
typedef void (*ls_session_trace)(void *context, const ls_operation_result *result);

/* The type that keys and values are rounded to. Results depend on it. */
typedef enum ls_cache_type { LS_CACHE_F16, LS_CACHE_F32 } ls_cache_type;

typedef struct ls_session_pool_params {
    size_t struct_size;
    /* Fed together at most; 0 = 8. Layers with a window keep the last positions of so many. */
    uint32_t sessions;
    uint32_t context;   /* positions of a session at most; 0 = the model's, at most 4,096 */
    uint32_t positions; /* of all sessions, in pages; 0 = for `sessions` that are full */
    uint32_t chunk;     /* tokens that are computed together at most; 0 = 64 */
    ls_cache_type cache_type;
    /* For tests: pages lie in this order; 0 = ascending. */
    uint64_t page_seed;
    bool unprepared; /* commands are handed over anew with each submission; the same bits, slower */
    ls_session_trace trace; /* NULL: none */
    void *trace_context;
    bool unfused; /* each operation is a command of its own; the same bits, slower */
    /* Positions that a session can go back (ls_session_truncate) without computing tokens again, in
     * models with windows; for more than `chunk` of them, the cache is larger. */
    uint32_t rewind;
    /* Keys, or values, of a layer that have more bytes lie in several buffers, some heads each; the
     * same bits. 0 = what the device can give a kernel at once (ls_caps.max_range_bytes). */
    uint64_t max_shard_bytes;
} ls_session_pool_params;
#define LS_SESSION_POOL_PARAMS_INIT LS_INIT(ls_session_pool_params)

/* LS_E_OUT_OF_MEMORY (bytes of the cache), LS_E_LIMIT (keys of one head of a layer have more than
 * the device can give a kernel at once). */
LS_API ls_status ls_session_pool_create(ls_model *model, const ls_session_pool_params *params,
                                        ls_session_pool **pool, ls_error *error);
LS_API void ls_session_pool_destroy(ls_session_pool **pool);       /* after its sessions */
LS_API uint32_t ls_session_pool_free(const ls_session_pool *pool); /* positions, in pages */

/* --- sessions --------------------------------------------------------------------------------- */
/* Thread-safety: one thread at a time; with a pool, see there. */
typedef struct ls_session ls_session;

typedef struct ls_session_params {
    size_t struct_size;
    uint32_t context; /* positions; 0 = the pool's, or the model's, at most 4,096 */
    /* Without a pool the session has its own, with these: */
    uint32_t chunk;
    uint64_t page_seed;
    bool unprepared; /* commands are handed over anew with each submission; the same bits, slower */
    ls_session_trace trace; /* NULL: none */
    void *trace_context;
    ls_cache_type cache_type;
    ls_session_pool *pool;
    bool unfused; /* each operation is a command of its own; the same bits, slower */
    uint32_t rewind;
} ls_session_params;
#define LS_SESSION_PARAMS_INIT LS_INIT(ls_session_params)

/* Fails as a pool does. */
LS_API ls_status ls_session_create(ls_model *model, const ls_session_params *params,
                                   ls_session **session, ls_error *error);
LS_API void ls_session_destroy(ls_session **session);

/* Appends tokens. LS_E_LIMIT when they do not fit into the context or the pool,
 * LS_E_INVALID_ARGUMENT for an id beyond the vocabulary or no tokens, LS_E_FAILED for a value that
 * is not finite: operation, layer, position; the session cannot go on then. On failure nothing is
 * appended, and there are no logits. Blocks. */
LS_API ls_status ls_session_feed(ls_session *session, const uint32_t *tokens, uint32_t count,
                                 ls_error *error);

/* The same, and gives the logits behind each of the tokens [first, count), of which there is at
 * least one: [count - first][vocabulary]. They are the bits that feeding token by token gives,
 * computed many at a time, which is faster; the first such call of a pool takes memory for up to
 * 16 MiB of logits, twice. On failure there is anything in `logits`. */
LS_API ls_status ls_session_feed_all(ls_session *session, const uint32_t *tokens, uint32_t count,
                                     uint32_t first, float *logits, ls_error *error);

typedef struct ls_session_input {
    ls_session *session;
    const uint32_t *tokens;
    uint32_t count; /* at least 1 */
} ls_session_input;

/* The same for several sessions of one pool, each with tokens of its own, computed together: what a
 * session gets does not depend on the others, to the bit. On failure nothing is appended to any;
 * those without the fault can go on. */
LS_API ls_status ls_sessions_feed(const ls_session_input *inputs, uint32_t count, ls_error *error);

/* Those of the last token fed, [vocabulary]; NULL before the first. Until the next call. */
LS_API const float *ls_session_logits(const ls_session *session);
LS_API uint32_t ls_session_position(const ls_session *session);    /* tokens so far */
LS_API uint32_t ls_session_context(const ls_session *session);     /* tokens at most */
LS_API uint64_t ls_session_cache_bytes(const ls_session *session); /* of all sessions of its pool */
/* Forgets what follows the first `position` tokens; there are no logits until the next feed. When
 * it goes back further than layers with a window keep (`rewind` of the pool), the next feed begins
 * with computing those `position` tokens again: it takes longer, and gives the same bits. */
LS_API ls_status ls_session_truncate(ls_session *session, uint32_t position, ls_error *error);

/* The token with the largest logit; of equal ones the lowest. */
LS_API uint32_t ls_logits_best(const float *logits, uint32_t count);
/* The logarithm of the sum of exp(logit): the natural logarithm of a token's probability is its
 * logit less this. The same bits on every machine (docs/sampling.md). `count` is not 0. */
LS_API double ls_logits_log_sum(const float *logits, uint32_t count);
/* The Kullback-Leibler divergence of what `logits` predict from what `base` predict, in the same
 * arithmetic; at least 0. */
LS_API double ls_logits_divergence(const float *base, const float *logits, uint32_t count);

/* --- sampling --------------------------------------------------------------------------------- */
/* Chooses tokens by chance, the same on every machine: chance is Philox4x32-10 (Salmon et al. 2011)
 * with the seed as key and the position as counter, arithmetic is that of the contract
 * (docs/sampling.md has it all). Thread-safety: one thread at a time. */
typedef struct ls_sampler ls_sampler;

/* Added to the logit of a token: below 0 it comes less often, with minus infinity never. */
typedef struct ls_logit_bias {
    uint32_t id;
    float value; /* not NaN or plus infinity */
} ls_logit_bias;

typedef struct ls_sampler_params {
    size_t struct_size;
    uint32_t vocabulary;
    float temperature; /* 0: always the best token; of the others only penalties and biases apply */
    uint32_t top_k;    /* only the k best; 0 = all */
    float top_p;       /* only the best that have this probability together; 0 = all */
    float min_p;       /* only those with this part of the best one's probability; 0 = all */
    uint64_t seed;
    float repetition_penalty;    /* logits of tokens of the window: divided by it above 0, else
                                    multiplied; 0 = 1 */
    float frequency_penalty;     /* subtracted for each time a token is there */
    float presence_penalty;      /* subtracted when it is there */
    uint32_t window;             /* last tokens that the penalties look at; 0 = 64 */
    float typical_p;             /* of the k best only the most typical that have this part of their
                                    probability together (Meister et al. 2022); 0 = all */
    const ls_logit_bias *biases; /* [bias_count]; copied */
    uint32_t bias_count;
} ls_sampler_params;
#define LS_SAMPLER_PARAMS_INIT LS_INIT(ls_sampler_params)

/* LS_E_INVALID_ARGUMENT: which number is out of its range, or which bias of no token. */
LS_API ls_status ls_sampler_create(const ls_sampler_params *params, ls_sampler **sampler,
                                   ls_error *error);
LS_API void ls_sampler_destroy(ls_sampler **sampler);
/* The token that follows `history` [count], whose logits [vocabulary] these are. Depends on nothing
 * that was sampled before. Ids of the history beyond the vocabulary do not count. */
LS_API uint32_t ls_sampler_choose(ls_sampler *sampler, const float *logits, const uint32_t *history,
                                  uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
