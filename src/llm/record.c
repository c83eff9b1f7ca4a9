/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands for tokens, from their ids to the logits of some. Their number is only known at
 * submission, so sizes that depend on it come from the parameter block.
 */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "llm/attention.h"
#include "llm/trace.h"

enum { MOST_BUFFERS = 10, MOST_SHOWN = 2 };

#define PARAMETER(field) ((uint32_t)offsetof(ls__feed, field) + 1)

typedef struct recorder {
    const ls_session_pool *pool;
    const ls_model *model;
    ls_batch *batch;
    ls__token_batch *out;
    bool many;
    uint32_t layer;
    ls_status status;
    ls_error *error;
} recorder;

/* A result of an operation. */
typedef struct result {
    const char *operation;
    uint32_t layer;
    ls_buffer *buffer;
} result;

/* One dispatch. Scalars are words; `linked` ones come from the parameter block. */
typedef struct step {
    const char *operation;
    const ls_kernel *kernel;
    uint32_t x, x_parameter, y, y_parameter, z;
    uint32_t elements, block;
    uint32_t scalars[8], scalar_count;
    uint32_t linked[8]; /* by scalar: a PARAMETER, or 0 */
    ls_buffer *buffers[MOST_BUFFERS];
    const ls_range *weights[MOST_BUFFERS]; /* in place of a buffer */
    uint32_t buffer_count;
    bool part;                /* the result is not whole yet */
    result shown[MOST_SHOWN]; /* none: what is in the last buffer */
} step;

static void note(recorder *r, const char *operation, uint32_t elements, uint32_t block)
{
    ls__token_batch *out = r->out;
    if (out->step_count == out->step_capacity) {
        uint32_t capacity = out->step_capacity ? out->step_capacity * 2 : 256;
        ls__step *steps = ls__mem_realloc(out->steps, capacity, sizeof *steps);
        if (!steps) {
            r->status = ls__fail_oom(r->error, capacity * sizeof *steps);
            return;
        }
        out->steps = steps;
        out->step_capacity = capacity;
    }
    out->steps[out->step_count++] = (ls__step){operation, r->layer, elements, block};
}

static void show(recorder *r, const result *shown)
{
    bool noted = false;
    if (r->status != LS_OK || !r->pool->trace || !shown->buffer)
        return;
    ls__step of = {.operation = shown->operation, .layer = shown->layer};
    r->status =
        ls__trace_record(r->pool, r->batch, r->out, &of, shown->buffer, r->many, &noted, r->error);
    if (r->status == LS_OK && noted)
        note(r, "trace", 0, 0);
}

static void put(recorder *r, const step *s)
{
    ls_range ranges[MOST_BUFFERS];
    ls_scalar_link links[8];
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    if (r->status != LS_OK)
        return;
    for (uint32_t i = 0; i < s->buffer_count; i++)
        ranges[i] = s->weights[i] ? *s->weights[i] : (ls_range){s->buffers[i], 0, LS_WHOLE};
    for (uint32_t i = 0; i < s->scalar_count; i++)
        if (s->linked[i])
            links[dispatch.link_count++] = (ls_scalar_link){i * 4, s->linked[i] - 1, 4};
    dispatch.kernel = s->kernel;
    dispatch.global_size[0] = s->x;
    dispatch.global_size[1] = s->y ? s->y : 1;
    dispatch.global_size[2] = s->z ? s->z : 1;
    dispatch.global_size_parameter[0] = s->x_parameter;
    dispatch.global_size_parameter[1] = s->y_parameter;
    dispatch.buffers = ranges;
    dispatch.buffer_count = s->buffer_count;
    dispatch.scalars = s->scalars;
    dispatch.scalar_bytes = s->scalar_count * 4;
    dispatch.links = links;
    dispatch.tag = (ls_tag){LS_PHASE_COMPUTE, r->layer, s->operation};
    r->status = ls_batch_dispatch(r->batch, &dispatch, r->error);
    if (r->status == LS_OK)
        note(r, s->operation, s->elements, s->block);
    if (s->part)
        return;
    if (!s->shown[0].buffer)
        show(r, &(result){s->operation, r->layer, s->buffers[s->buffer_count - 1]});
    for (uint32_t i = 0; i < MOST_SHOWN; i++)
        show(r, &s->shown[i]);
}

static uint32_t float_word(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* --- operations ------------------------------------------------------------------------------- */

static void put_norm(recorder *r, const char *operation, const ls__weight *weights, ls_buffer *x,
                     ls_buffer *y)
{
    put(r, &(step){.operation = operation,
                   .kernel = r->model->rms_norm,
                   .x = 32,
                   .y_parameter = PARAMETER(count),
                   .elements = weights->columns,
                   .scalars = {weights->columns, float_word(r->model->epsilon)},
                   .scalar_count = 2,
                   .buffers = {x, NULL, y},
                   .weights = {[1] = weights->shards},
                   .buffer_count = 3});
}

/* What matrices take: in which ways as integers. */
typedef struct input {
    const char *operation;
    ls_buffer *x;
    uint32_t elements;
    bool last;                  /* of the tokens that give logits alone */
    bool wanted[LS__BLOCKINGS]; /* none: as floats alone */
    bool floats;
} input;

static const uint32_t block_elements[LS__BLOCKINGS] = {32, 256};

static input input_of(const char *operation, ls_buffer *x, const ls__weight *const *readers,
                      uint32_t count)
{
    input in = {.operation = operation, .x = x, .elements = readers[0]->columns};
    for (uint32_t i = 0; i < count; i++) {
        int blocking = ls__matrix_blocking(readers[i]->form);
        if (blocking >= 0)
            in.wanted[blocking] = true;
        else
            in.floats = true;
    }
    return in;
}

/* The first way in which it is wanted; LS__BLOCKINGS: as floats. */
static uint32_t first_blocking(const input *in)
{
    uint32_t k = 0;
    while (k < LS__BLOCKINGS && !in->wanted[k])
        k++;
    return k;
}

/* Adds the buffers that hold integers of this blocking. */
static void add_quantized(const recorder *r, uint32_t blocking, step *s)
{
    const ls__quantized *q = &r->pool->quantized[blocking];
    ls_buffer *buffers[] = {q->integers, q->scales, q->sums, q->products};
    for (uint32_t i = 0; i < 4 && buffers[i]; i++)
        s->buffers[s->buffer_count++] = buffers[i];
}

/* Whether the columns are one. */
static bool is_single(const recorder *r, bool last)
{
    return !r->many || (last && r->out->outputs->most == 1);
}

/* x as integers in all ways from the blocking `from` on; floats are looked at, whether they are
 * finite, and put into tiles. */
static void put_input(recorder *r, const input *in, uint32_t from)
{
    uint32_t y = in->last ? PARAMETER(rows) : PARAMETER(count);
    for (uint32_t k = from; k < LS__BLOCKINGS; k++) {
        step s = {.operation = in->operation,
                  .kernel = r->model->quantize[k],
                  .x = in->elements / (block_elements[k] / 32),
                  .y_parameter = y,
                  .elements = in->elements,
                  .block = block_elements[k],
                  .buffers = {in->x},
                  .buffer_count = 1};
        add_quantized(r, k, &s);
        if (in->wanted[k])
            put(r, &s);
    }
    if (from == 0 && first_blocking(in) == LS__BLOCKINGS)
        put(r, &(step){.operation = in->operation,
                       .kernel = r->model->check,
                       .x = 32,
                       .y_parameter = y,
                       .elements = in->elements,
                       .block = in->elements,
                       .scalars = {in->elements},
                       .scalar_count = 1,
                       .buffers = {in->x},
                       .buffer_count = 1});
    if (in->floats && !is_single(r, in->last))
        put(r, &(step){.operation = in->operation,
                       .kernel = r->model->tile_floats,
                       .x = (in->elements + LS__SLICE - 1) / LS__SLICE * 32,
                       .y_parameter = y,
                       .scalars = {in->elements, LS__TILE},
                       .scalar_count = 2,
                       .buffers = {in->x, r->pool->tiled},
                       .buffer_count = 2,
                       .part = true});
}

/* y = W x, shard by shard, where the pool has x as integers, or in tiles. */
static void put_matrix(recorder *r, const char *operation, const ls__weight *w, ls_buffer *x,
                       ls_buffer *y, bool last)
{
    int blocking = ls__matrix_blocking(w->form);
    const ls__quantized *q = &r->pool->quantized[blocking < 0 ? 0 : blocking];
    const ls__matrix_kernels *kernels = &r->model->matrices[ls__matrix_form_index(w->form)];
    bool one = is_single(r, last);
    uint32_t count = last ? PARAMETER(rows) : PARAMETER(count),
             columns = last ? PARAMETER(row_lanes) : PARAMETER(lanes),
             tiles = last ? PARAMETER(row_tile_lanes) : PARAMETER(tile_lanes);
    step s = {.operation = operation,
              .kernel = one ? kernels->one : kernels->tile,
              .x_parameter = one ? columns : tiles,
              .elements = w->columns,
              .scalars = {w->rows, w->columns},
              .scalar_count = 4,
              .linked = {0, 0, count},
              .buffers = {NULL, NULL, q->integers, q->scales, q->sums},
              .buffer_count = 5};
    if (blocking < 0) {
        s.buffers[1] = one ? x : r->pool->tiled;
        s.buffer_count = 2;
    } else if (q->products) {
        s.buffers[s.buffer_count++] = q->products;
    }
    s.buffers[s.buffer_count++] = y;
    for (uint32_t i = 0; i < w->shard_count; i++) {
        s.scalars[3] = i * w->shard_rows;
        s.y = (ls__weight_shard_rows(w, i) + LS__LANES - 1) / LS__LANES;
        s.weights[0] = &w->shards[i];
        s.weights[1] = blocking < 0 ? NULL : &w->shards[i];
        s.part = i + 1 < w->shard_count;
        put(r, &s);
    }
}

/* The bias of a matrix, where there is one. */
static void put_bias(recorder *r, const char *operation, const ls__weight *bias, ls_buffer *x)
{
    if (bias->shards)
        put(r, &(step){.operation = operation,
                       .kernel = r->model->add_bias,
                       .x = bias->columns,
                       .y_parameter = PARAMETER(count),
                       .scalars = {bias->columns},
                       .scalar_count = 1,
                       .buffers = {NULL, x},
                       .weights = {bias->shards},
                       .buffer_count = 2});
}

/* Of each head in place, or of a whole token as one, where there are weights for it. */
static void put_norm_heads(recorder *r, const char *operation, const ls__weight *weights,
                           uint32_t heads, ls_buffer *x)
{
    if (weights->shards)
        put(r, &(step){.operation = operation,
                       .kernel = r->model->norm_heads,
                       .x = heads * 32,
                       .y_parameter = PARAMETER(count),
                       .scalars = {weights->columns, float_word(r->model->epsilon)},
                       .scalar_count = 2,
                       .buffers = {NULL, x},
                       .weights = {weights->shards},
                       .buffer_count = 2});
}

static void put_rope(recorder *r, const char *operation, uint32_t heads, ls_buffer *x)
{
    const ls_model *m = r->model;
    uint32_t rope = m->layers[r->layer].rope, pairs = m->ropes[rope].pairs;
    put(r, &(step){.operation = operation,
                   .kernel = m->rope,
                   .x = heads * 32,
                   .y_parameter = PARAMETER(count),
                   .scalars = {m->info.head_width, pairs},
                   .scalar_count = 2,
                   .buffers = {r->pool->places, r->pool->angles[rope], x},
                   .buffer_count = 3});
}

/* Heads of the layer's cache that lie in the same buffers; begins as zeros. */
typedef struct held_heads {
    uint32_t first, count, sets; /* sets of queries that read them */
    ls_buffer *pages, *keys, *values;
    bool last;
} held_heads;

static bool next_heads(const recorder *r, held_heads *held)
{
    const ls_session_pool *s = r->pool;
    const ls_model_info *i = &r->model->info;
    uint32_t kind = ls__pool_cache_kind(s, r->layer), most = s->stock[kind].part_heads;
    held->first += held->count;
    uint32_t left = i->kv_heads - held->first;
    const ls__cache_part *part = &s->cache[(size_t)r->layer * i->kv_heads + held->first / most];
    if (!left)
        return false;
    held->count = left < most ? left : most;
    held->sets = held->count * ls__attention_sets(i->heads / i->kv_heads);
    held->pages = s->pages[kind];
    held->keys = part->keys;
    held->values = part->values;
    held->last = held->count == left;
    return true;
}

/* The values that the weights choose; for one token, the chunks of the cache in parallel. */
static void put_values(recorder *r, uint32_t window)
{
    const ls_session_pool *s = r->pool;
    const ls_model_info *i = &r->model->info;
    for (held_heads held = {0}; next_heads(r, &held);)
        put(r, &(step){.operation = "attention values",
                       .kernel = r->many ? r->pool->attention->values : r->pool->attention->parts,
                       .x_parameter = r->many ? PARAMETER(lanes) : PARAMETER(chunk_lanes),
                       .y = (i->head_width + 31) / 32,
                       .z = held.sets,
                       .scalars = {i->heads, held.first, held.count, window, s->context},
                       .scalar_count = 5,
                       .part = !held.last,
                       .buffers = {s->places, held.pages, s->scores, held.values,
                                   r->many ? s->query : s->sums, s->parts},
                       .buffer_count = r->many ? 5 : 6});
    if (r->many)
        return;
    put(r, &(step){.operation = "attention sums",
                   .kernel = r->pool->attention->join,
                   .x = i->heads * i->head_width,
                   .scalars = {i->heads, window},
                   .scalar_count = 2,
                   .buffers = {s->places, s->sums, s->parts, s->query},
                   .buffer_count = 4});
}

/* Queries and keys are normed where there are weights for it and rotated, keys and values put into
 * the cache. */
static void put_place(recorder *r, const ls__weight *w)
{
    const ls_session_pool *s = r->pool;
    const ls_model_info *i = &r->model->info;
    put_norm_heads(r, "query norm", &w[LS__QUERY_NORM], i->heads, s->query);
    put_norm_heads(r, "key norm", &w[LS__KEY_NORM], i->kv_heads, s->key);
    put_rope(r, "query rotation", i->heads, s->query);
    put_rope(r, "key rotation", i->kv_heads, s->key);
    for (held_heads held = {0}; next_heads(r, &held);)
        put(r, &(step){.operation = "append",
                       .kernel = s->attention->append,
                       .x = held.count * i->head_width,
                       .y_parameter = PARAMETER(count),
                       .scalars = {i->kv_heads, held.first, held.count},
                       .scalar_count = 3,
                       .part = !held.last,
                       .buffers = {s->places, held.pages, s->key, s->value, held.keys, held.values},
                       .buffer_count = 6});
}

/* The same in one go. */
static void put_place_fused(recorder *r, const ls__weight *w)
{
    const ls_session_pool *s = r->pool;
    const ls_model_info *i = &r->model->info;
    uint32_t rope = r->model->layers[r->layer].rope;
    bool norms = w[LS__QUERY_NORM].shards != NULL;
    for (held_heads held = {0}; next_heads(r, &held);) {
        uint32_t turned = held.first ? 0 : i->heads;
        put(r,
            &(step){.operation = "place",
                    .kernel = s->attention->place,
                    .x = (turned + held.count) * 32,
                    .y_parameter = PARAMETER(count),
                    .scalars = {i->heads, turned, i->kv_heads, held.first, held.count,
                                r->model->ropes[rope].pairs, norms, float_word(r->model->epsilon)},
                    .scalar_count = 8,
                    .part = !held.last,
                    .buffers = {s->places, held.pages, s->angles[rope], s->places, s->places,
                                s->query, s->key, s->value, held.keys, held.values},
                    .weights = {[3] = w[LS__QUERY_NORM].shards, w[LS__KEY_NORM].shards},
                    .buffer_count = 10,
                    .shown = {{"query rotation", r->layer, s->query},
                              {"key rotation", r->layer, s->key}}});
    }
}

static void put_attention(recorder *r)
{
    const ls_session_pool *s = r->pool;
    const ls_model_info *i = &r->model->info;
    uint32_t window = r->model->layers[r->layer].window;
    for (held_heads held = {0}; next_heads(r, &held);)
        put(r, &(step){.operation = "attention scores",
                       .kernel = r->pool->attention->scores,
                       .x_parameter = PARAMETER(lanes),
                       .y_parameter = PARAMETER(blocks),
                       .z = held.sets,
                       .scalars = {i->heads, held.first, held.count, window, s->context,
                                   float_word(r->model->attention_scale),
                                   float_word(r->model->score_cap)},
                       .scalar_count = 7,
                       .part = !held.last,
                       .buffers = {s->places, held.pages, s->query, held.keys, s->scores, s->tops},
                       .buffer_count = 6});
    put(r, &(step){.operation = "attention weights",
                   .kernel = r->pool->attention->weights,
                   .x_parameter = PARAMETER(lanes),
                   .y_parameter = PARAMETER(blocks),
                   .z = i->heads,
                   .scalars = {i->heads, window, s->context},
                   .scalar_count = 3,
                   .buffers = {s->places, s->tops, s->scores},
                   .buffer_count = 3});
    put_values(r, window);
}

static void put_elementwise(recorder *r, const char *operation, const ls_kernel *kernel,
                            uint32_t elements, ls_buffer *const *buffers, uint32_t count)
{
    step s = {.operation = operation,
              .kernel = kernel,
              .x = elements,
              .y_parameter = PARAMETER(count),
              .scalars = {elements},
              .scalar_count = 1,
              .buffer_count = count};
    memcpy(s.buffers, buffers, count * sizeof *buffers);
    put(r, &s);
}

static bool is_integer(const ls__weight *w)
{
    return w->form->elements > 1;
}

/* x = x * factor, or its cap. */
static void put_factor(recorder *r, const char *operation, const ls_kernel *kernel,
                       uint32_t elements, float factor, ls_buffer *x, bool last)
{
    put(r, &(step){.operation = operation,
                   .kernel = kernel,
                   .x = elements,
                   .y_parameter = last ? PARAMETER(rows) : PARAMETER(count),
                   .scalars = {elements, float_word(factor)},
                   .scalar_count = 2,
                   .buffers = {x},
                   .buffer_count = 1});
}

static void put_embedding(recorder *r)
{
    const ls__weight *w = &r->model->embedding;
    const ls_session_pool *s = r->pool;
    step e = {.operation = "embedding",
              .kernel = r->model->matrices[ls__matrix_form_index(w->form)].rows,
              .x = is_integer(w) ? w->columns / 4 : w->columns,
              .y_parameter = PARAMETER(count),
              .scalars = {w->columns},
              .scalar_count = 3,
              .buffers = {s->tokens, NULL, NULL, s->residual},
              .buffer_count = 4};
    if (!is_integer(w)) {
        e.buffers[2] = s->residual;
        e.buffer_count = 3;
    }
    for (uint32_t i = 0; i < w->shard_count; i++) {
        e.scalars[1] = i * w->shard_rows;
        e.scalars[2] = ls__weight_shard_rows(w, i);
        e.weights[1] = &w->shards[i];
        e.weights[2] = is_integer(w) ? &w->shards[i] : NULL;
        e.part = i + 1 < w->shard_count;
        put(r, &e);
    }
    if (r->model->embedding_scale != 1)
        put_factor(r, "embedding scale", r->model->scale, w->columns, r->model->embedding_scale,
                   s->residual, false);
}

/* --- a layer ---------------------------------------------------------------------------------- */

/* The end of a part of a layer: x = x + what is in `normed`, after a norm where the layer has one.
 * No operation: there is none. */
typedef struct ending {
    const char *operation, *norm;
    const ls__weight *norm_weights;
    uint32_t layer;
} ending;

static void put_ending(recorder *r, const ending *e)
{
    const ls_session_pool *s = r->pool;
    if (!e->operation)
        return;
    put_norm_heads(r, e->norm, e->norm_weights, 1, s->normed);
    put_elementwise(r, e->operation, r->model->add, r->model->info.width,
                    (ls_buffer *[]){s->normed, s->residual}, 2);
}

/* The end of a part and the norm that the next one begins with, in one go. */
static void put_beginning_fused(recorder *r, const ending *e, const char *norm,
                                const ls__weight *weights, const input *in)
{
    enum { ENDS_NOTHING, ENDS_PLAIN, ENDS_NORMED }; /* as in kernels/fused.kc */
    const ls_session_pool *s = r->pool;
    uint32_t blocking = first_blocking(in);
    bool normed = e->operation && e->norm_weights->shards;
    uint32_t ends = normed ? ENDS_NORMED : e->operation ? ENDS_PLAIN : ENDS_NOTHING;
    step t = {.operation = in->operation,
              .kernel = r->model->begin[blocking],
              .x = 32,
              .y_parameter = PARAMETER(count),
              .elements = in->elements,
              .block = in->elements,
              .scalars = {in->elements, float_word(r->model->epsilon), ends},
              .scalar_count = 3,
              .buffers = {NULL, NULL, s->residual, s->normed},
              .weights = {normed ? e->norm_weights->shards : weights->shards, weights->shards},
              .buffer_count = 4};
    if (e->operation)
        t.shown[0] = (result){e->operation, e->layer, s->residual};
    t.shown[e->operation ? 1 : 0] = (result){norm, r->layer, s->normed};
    if (blocking < LS__BLOCKINGS)
        add_quantized(r, blocking, &t);
    put(r, &t);
    put_input(r, in, blocking + 1);
}

/* What ends before a part is ended, and the part's matrices get the norm of the residual. */
static void put_beginning(recorder *r, const ending *e, const char *norm, const ls__weight *weights,
                          const input *in)
{
    if (!r->pool->unfused) {
        put_beginning_fused(r, e, norm, weights, in);
        return;
    }
    put_ending(r, e);
    put_norm(r, norm, weights, r->pool->residual, r->pool->normed);
    put_input(r, in, 0);
}

static ending put_attention_part(recorder *r, const ls__weight *w, const ending *before)
{
    const ls_session_pool *s = r->pool;
    input in = input_of("attention input", s->normed,
                        (const ls__weight *[]){&w[LS__QUERY], &w[LS__KEY], &w[LS__VALUE]}, 3);
    put_beginning(r, before, "attention norm", &w[LS__ATTENTION_NORM], &in);
    put_matrix(r, "query", &w[LS__QUERY], s->normed, s->query, false);
    put_matrix(r, "key", &w[LS__KEY], s->normed, s->key, false);
    put_matrix(r, "value", &w[LS__VALUE], s->normed, s->value, false);
    put_bias(r, "query bias", &w[LS__QUERY_BIAS], s->query);
    put_bias(r, "key bias", &w[LS__KEY_BIAS], s->key);
    put_bias(r, "value bias", &w[LS__VALUE_BIAS], s->value);
    bool alike = !w[LS__QUERY_NORM].shards == !w[LS__KEY_NORM].shards;
    if (s->unfused || !alike)
        put_place(r, w);
    else
        put_place_fused(r, w);
    put_attention(r); /* leaves its result in place of the queries */
    in =
        input_of("attention result", s->query, (const ls__weight *[]){&w[LS__ATTENTION_OUTPUT]}, 1);
    put_input(r, &in, 0);
    put_matrix(r, "attention output", &w[LS__ATTENTION_OUTPUT], s->query, s->normed, false);
    put_bias(r, "attention output bias", &w[LS__ATTENTION_OUTPUT_BIAS], s->normed);
    return (ending){"attention residual", "attention post norm", &w[LS__ATTENTION_POST_NORM],
                    r->layer};
}

/* The gate's result, as what the last matrix takes. */
static void put_gate(recorder *r, const input *in)
{
    const ls_session_pool *s = r->pool;
    uint32_t blocking = first_blocking(in);
    bool fused = !s->unfused && blocking < LS__BLOCKINGS && r->model->family->gate == LS__SILU;
    if (!fused) {
        put_elementwise(r, "gate function", r->model->gate, in->elements,
                        (ls_buffer *[]){s->gate, s->up, s->inner}, 3);
        put_input(r, in, 0);
        return;
    }
    step t = {.operation = in->operation,
              .kernel = r->model->fused_gate[blocking],
              .x = in->elements / (block_elements[blocking] / 32),
              .y_parameter = PARAMETER(count),
              .elements = in->elements,
              .block = block_elements[blocking],
              .buffers = {s->gate, s->up, s->inner},
              .buffer_count = 3,
              .shown = {{"gate function", r->layer, s->inner}}};
    add_quantized(r, blocking, &t);
    put(r, &t);
}

static ending put_inner_part(recorder *r, const ls__weight *w, const ending *before)
{
    const ls_session_pool *s = r->pool;
    input in =
        input_of("inner input", s->normed, (const ls__weight *[]){&w[LS__GATE], &w[LS__UP]}, 2);
    put_beginning(r, before, "inner norm", &w[LS__INNER_NORM], &in);
    put_matrix(r, "gate", &w[LS__GATE], s->normed, s->gate, false);
    put_matrix(r, "up", &w[LS__UP], s->normed, s->up, false);
    put_bias(r, "gate bias", &w[LS__GATE_BIAS], s->gate);
    put_bias(r, "up bias", &w[LS__UP_BIAS], s->up);
    in = input_of("inner result", s->inner, (const ls__weight *[]){&w[LS__DOWN]}, 1);
    put_gate(r, &in);
    put_matrix(r, "down", &w[LS__DOWN], s->inner, s->normed, false);
    put_bias(r, "down bias", &w[LS__DOWN_BIAS], s->normed);
    return (ending){"inner residual", "inner post norm", &w[LS__INNER_POST_NORM], r->layer};
}

/* `open`: how the part before it ends; then, how its own last one does. */
static void put_layer(recorder *r, const ls__layer *l, ending *open)
{
    *open = put_attention_part(r, l->weights, open);
    *open = put_inner_part(r, l->weights, open);
    if (l->scale == 1)
        return;
    put_ending(r, open);
    *open = (ending){0};
    put_factor(r, "layer scale", r->model->scale, r->model->info.width, l->scale, r->pool->residual,
               false);
}

/* All layers, to the last one's end. */
static void put_layers(recorder *r)
{
    ending open = {0};
    for (r->layer = 0; r->layer < r->model->info.layers; r->layer++)
        put_layer(r, &r->model->layers[r->layer], &open);
    r->layer = open.operation ? open.layer : r->layer;
    put_ending(r, &open);
}

static void put_upload(recorder *r, const char *name, uint32_t slot, ls_buffer *buffer,
                       uint32_t words)
{
    ls_range target = {buffer, 0, (uint64_t)words * 4};
    if (r->status == LS_OK)
        r->status = ls_batch_upload_slot(r->batch, target, LS_MEM_NONE, slot, NULL, r->error);
    if (r->status == LS_OK)
        note(r, name, 0, 0);
}

static void put_logits(recorder *r)
{
    const ls__outputs *o = r->out->outputs;
    const ls_model *m = r->model;
    const ls__weight *output = m->output.shards ? &m->output : &m->embedding;
    r->layer = m->info.layers;
    put(r, &(step){.operation = "output norm",
                   .kernel = m->rms_norm_of,
                   .x = 32,
                   .y_parameter = PARAMETER(rows),
                   .elements = m->info.width,
                   .scalars = {m->info.width, float_word(m->epsilon)},
                   .scalar_count = 2,
                   .buffers = {o->rows, r->pool->residual, NULL, o->last},
                   .weights = {[2] = m->output_norm.shards},
                   .buffer_count = 4});
    input in = input_of("output input", o->last, &output, 1);
    in.last = true;
    put_input(r, &in, 0);
    put_matrix(r, "output", output, o->last, o->made, true);
    if (m->logit_cap > 0)
        put_factor(r, "logit cap", m->soft_cap, m->info.vocabulary, m->logit_cap, o->made, true);
    ls_range source = {o->made, 0, LS_WHOLE};
    if (r->status == LS_OK)
        r->status =
            ls_batch_download_slot(r->batch, source, LS_MEM_NONE, LS__SLOT_LOGITS, NULL, r->error);
    if (r->status == LS_OK)
        note(r, "logits", 0, 0);
}

ls_status ls__pool_record(ls_session_pool *pool, uint32_t columns, const ls__outputs *outputs,
                          ls__token_batch *batch, ls_error *error)
{
    batch->outputs = outputs;
    recorder r = {
        .pool = pool, .model = pool->model, .out = batch, .many = columns > 1, .error = error};
    r.status = ls_batch_create(pool->model->device, &r.batch, error);
    if (r.status != LS_OK)
        return r.status;
    put_upload(&r, "tokens", LS__SLOT_TOKENS, pool->tokens, columns);
    put_upload(&r, "places", LS__SLOT_PLACES, pool->places, columns * 2);
    for (uint32_t k = 0; k < pool->cache_kinds; k++)
        put_upload(&r, "pages", k == LS__WHOLE ? LS__SLOT_PAGES : LS__SLOT_WINDOW_PAGES,
                   pool->pages[k], ls__pages_of(pool->context) * pool->sessions);
    put_upload(&r, "rows", LS__SLOT_ROWS, outputs->rows, outputs->most);
    put_embedding(&r);
    put_layers(&r);
    put_logits(&r);
    if (r.status == LS_OK && pool->trace)
        r.status = ls__trace_prepare(batch, error);
    if (r.status == LS_OK && pool->unprepared) {
        batch->plain = r.batch;
        return LS_OK;
    }
    if (r.status == LS_OK)
        r.status = ls_prepare(r.batch, &batch->prepared, error);
    ls_batch_destroy(&r.batch);
    return r.status;
}
