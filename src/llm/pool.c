/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: memory for tokens in work, pages of the cache, and submissions. */
#include "llm/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"

enum { DEFAULT_CONTEXT = 4096, DEFAULT_CHUNK = 64, MOST_CHUNK = 4096, DEFAULT_SESSIONS = 8 };

/* --- memory ----------------------------------------------------------------------------------- */

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t whole_tiles(uint32_t columns)
{
    return (columns + LS__TILE - 1) / LS__TILE * LS__TILE;
}

static ls_status make_buffer(const ls_session_pool *p, const char *label, uint64_t bytes,
                             ls_buffer **buffer, ls_error *error)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    uint64_t most = ls_device_caps(p->model->device)->max_range_bytes;
    if (bytes > most) {
        ls__fail(error, LS_E_LIMIT,
                 "the %s have %" PRIu64 " bytes, where the device can give a kernel %" PRIu64,
                 label, bytes, most);
        return ls__fail_hint(error, LS_E_LIMIT,
                             "a smaller context, or fewer positions or sessions, need less");
    }
    params.size_bytes = bytes;
    params.label = label;
    return ls_buffer_create(p->model->device, &params, buffer, error);
}

/* As many parts as it takes that each fits into a buffer. */
static ls_status make_cache_layer(ls_session_pool *p, uint32_t layer, uint64_t most,
                                  ls_error *error)
{
    const ls_model_info *i = &p->model->info;
    ls__stock *stock = &p->stock[ls__pool_cache_kind(p, layer)];
    ls__cache_part *part = &p->cache[(size_t)layer * i->kv_heads];
    uint64_t head_bytes =
        (uint64_t)stock->page_count * LS__CHUNK * i->head_width * (p->floats ? 4 : 2);
    uint64_t fit = most / head_bytes;
    ls_status status = LS_OK;
    if (!fit) {
        ls__fail(error, LS_E_LIMIT,
                 "the keys of a layer have %" PRIu64 " bytes for each head, where the device can "
                 "give a kernel %" PRIu64,
                 head_bytes, most);
        return ls__fail_hint(error, LS_E_LIMIT,
                             "a smaller context, or fewer positions or sessions, need less");
    }
    stock->part_heads = fit < i->kv_heads ? (uint32_t)fit : i->kv_heads;
    for (uint32_t head = 0; status == LS_OK && head < i->kv_heads; head += stock->part_heads) {
        uint32_t left = i->kv_heads - head;
        uint64_t bytes = head_bytes * (left < stock->part_heads ? left : stock->part_heads);
        p->cache_bytes += 2 * bytes;
        status = make_buffer(p, "keys of a layer", bytes, &part->keys, error);
        if (status == LS_OK)
            status = make_buffer(p, "values of a layer", bytes, &part->values, error);
        part++;
    }
    return status;
}

/* `most`: bytes of a buffer of keys; 0: what a kernel can be given. */
static ls_status make_cache(ls_session_pool *p, uint64_t most, ls_error *error)
{
    const ls_model_info *i = &p->model->info;
    uint64_t range = ls_device_caps(p->model->device)->max_range_bytes;
    uint64_t parts = (uint64_t)i->layers * i->kv_heads;
    ls_status status = LS_OK;
    p->cache = ls__mem_alloc(parts, sizeof *p->cache);
    if (!p->cache)
        return ls__fail_oom(error, parts * sizeof *p->cache);
    most = most && most < range ? most : range;
    for (uint32_t l = 0; status == LS_OK && l < i->layers; l++)
        status = make_cache_layer(p, l, most, error);
    return status;
}

static bool has_floats(const ls_model *m)
{
    const ls__matrix_form *form;
    bool has = false;
    for (uint32_t i = 0; (form = ls__matrix_form_at(i)); i++)
        has = has || (form->elements == 1 && m->matrices[i].tile);
    return has;
}

static ls_status make_buffers(ls_session_pool *p, ls_error *error)
{
    const ls_model_info *i = &p->model->info;
    uint64_t columns = p->chunk;
    uint64_t query = (uint64_t)i->heads * i->head_width,
             key = (uint64_t)i->kv_heads * i->head_width;
    uint64_t most = largest(largest(i->width, i->inner_width), (uint32_t)query);
    uint64_t pages = (uint64_t)p->sessions * ls__pages_of(p->context);
    const struct {
        const char *label;
        uint64_t bytes;
        ls_buffer **buffer;
    } buffers[] = {
        {"tokens", columns * 4, &p->tokens},
        {"residual", columns * i->width * 4, &p->residual},
        {"normed", columns * i->width * 4, &p->normed},
        {"query", columns * query * 4, &p->query},
        {"key", columns * key * 4, &p->key},
        {"value", columns * key * 4, &p->value},
        {"scores", columns * i->heads * p->context * 4, &p->scores},
        {"tops", columns * i->heads * p->context / 32 * 4, &p->tops},
        {"sums", query * p->context / LS__CHUNK * 4, &p->sums},
        {"parts", (uint64_t)i->heads * p->context / LS__CHUNK * 4, &p->parts},
        {"places", columns * 8, &p->places},
        {"gate", columns * i->inner_width * 4, &p->gate},
        {"up", columns * i->inner_width * 4, &p->up},
        {"inner", columns * i->inner_width * 4, &p->inner},
        {"pages", pages * 4, &p->pages[LS__WHOLE]},
        {"pages", pages * 4, &p->pages[LS__WINDOWED]},
        {"integers", columns * most, &p->quantized[0].integers},
        {"scales", columns * most / 32 * 4, &p->quantized[0].scales},
        {"products", columns * most / 32 * 4, &p->quantized[0].products},
        {"sums", columns * most / 32 * 4, &p->quantized[0].sums},
        {"integers", columns * most, &p->quantized[1].integers},
        {"scales", (columns * most + 255) / 256 * 4, &p->quantized[1].scales},
        {"sums", columns * most / 16 * 4, &p->quantized[1].sums},
        {"tiles", has_floats(p->model) ? columns * most * 4 : 4, &p->tiled},
    };
    ls_status status = LS_OK;
    for (size_t b = 0; status == LS_OK && b < sizeof buffers / sizeof *buffers; b++)
        status = make_buffer(p, buffers[b].label, buffers[b].bytes, buffers[b].buffer, error);
    return status;
}

static ls_status make_outputs(const ls_session_pool *p, uint32_t most, ls__outputs *o,
                              ls_error *error)
{
    const ls_model_info *i = &p->model->info;
    uint64_t logits = (uint64_t)most * i->vocabulary;
    o->most = most;
    o->logits = ls__mem_alloc(logits, sizeof *o->logits);
    if (!o->logits)
        return ls__fail_oom(error, logits * sizeof *o->logits);
    ls_status status = make_buffer(p, "rows", most * 4ull, &o->rows, error);
    if (status == LS_OK)
        status =
            make_buffer(p, "last", (uint64_t)whole_tiles(most) * i->width * 4, &o->last, error);
    if (status == LS_OK)
        status = make_buffer(p, "logits", logits * 4, &o->made, error);
    return status;
}

static ls_status make_angles(ls_session_pool *p, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < p->model->rope_count; i++) {
        void *memory;
        const ls__rope *rope = &p->model->ropes[i];
        uint64_t bytes = (uint64_t)p->context * rope->pairs * 8;
        status = make_buffer(p, "angles", bytes, &p->angles[i], error);
        if (status == LS_OK)
            status = ls_buffer_map(p->angles[i], 0, bytes, LS_MAP_WRITE, &memory, error);
        if (status != LS_OK)
            return status;
        ls__rope_table(rope, 0, p->context, memory);
        status = ls_buffer_unmap(p->angles[i], error);
    }
    return status;
}

static ls_status make_arrays(ls_session_pool *p, ls_error *error)
{
    ls__round *r = &p->round;
    uint64_t pages = (uint64_t)ls__pages_of(p->context) * p->sessions;
    r->tokens = ls__mem_alloc(p->chunk, sizeof *r->tokens);
    r->places = ls__mem_alloc(p->chunk, 2 * sizeof *r->places);
    r->from = ls__mem_alloc(p->chunk, sizeof(ls_session *));
    r->rows = ls__mem_alloc(p->chunk, sizeof *r->rows);
    for (uint32_t k = 0; k < LS__CACHES; k++)
        r->pages[k] = ls__mem_alloc(pages, sizeof **r->pages);
    if (r->tokens && r->places && r->from && r->rows && r->pages[0] && r->pages[1])
        return LS_OK;
    return ls__fail_oom(error, pages * sizeof **r->pages);
}

/* --- life ------------------------------------------------------------------------------------- */

static ls_status read_params(ls_session_pool *p, const ls_session_pool_params *params,
                             ls_error *error)
{
    uint32_t most = p->model->info.context, context = params->context;
    if (!context)
        context = most < DEFAULT_CONTEXT ? most : DEFAULT_CONTEXT;
    if (context > most)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "a context of %" PRIu32 " positions, where the model has %" PRIu32, context,
                        most);
    uint32_t chunk = params->chunk ? params->chunk : DEFAULT_CHUNK;
    uint32_t sessions = params->sessions ? params->sessions : DEFAULT_SESSIONS;
    if (chunk > MOST_CHUNK || sessions > MOST_CHUNK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "a chunk of %" PRIu32 " tokens of %" PRIu32 " sessions, more than %d",
                        chunk, sessions, MOST_CHUNK);
    if (params->cache_type != LS_CACHE_F16 && params->cache_type != LS_CACHE_F32)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a cache of an unknown type (%d)",
                        (int)params->cache_type);
    p->asked = context;
    p->context = ls__pages_of(context) * LS__CHUNK;
    p->chunk = whole_tiles(largest(chunk, sessions));
    p->sessions = sessions;
    p->floats = params->cache_type == LS_CACHE_F32;
    p->attention = &p->model->attention[p->floats];
    return ls__pool_plan_pages(p, params, context, error);
}

ls_status ls_session_pool_create(ls_model *model, const ls_session_pool_params *params,
                                 ls_session_pool **pool, ls_error *error)
{
    ls_session_pool_params given;
    if (!model || !pool)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "model or pool is NULL");
    *pool = NULL;
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_session_pool_create", error);
    if (status != LS_OK)
        return status;
    params = &given;
    ls_session_pool *p = ls__mem_alloc(1, sizeof *p);
    if (!p)
        return ls__fail_oom(error, sizeof *p);
    p->model = model;
    p->unprepared = params->unprepared;
    p->unfused = params->unfused;
    p->trace = params->trace;
    p->trace_context = params->trace_context;
    status = read_params(p, params, error);
    if (status == LS_OK)
        status = ls_stream_create(model->device, &p->stream, error);
    if (status == LS_OK)
        status = make_buffers(p, error);
    if (status == LS_OK)
        status = make_outputs(p, p->sessions, &p->ends, error);
    if (status == LS_OK)
        status = make_cache(p, params->max_shard_bytes, error);
    if (status == LS_OK)
        status = make_angles(p, error);
    if (status == LS_OK)
        status = make_arrays(p, error);
    if (status == LS_OK)
        status = ls__pool_make_stocks(p, params->page_seed, error);
    if (status == LS_OK)
        status = ls__pool_record(p, 1, &p->ends, &p->one, error);
    if (status == LS_OK)
        status = ls__pool_record(p, p->chunk, &p->ends, &p->many, error);
    if (status != LS_OK) {
        ls_session_pool_destroy(&p);
        return status;
    }
    *pool = p;
    return LS_OK;
}

static void destroy_buffers(ls_session_pool *p)
{
    ls_buffer **buffers[] = {
        &p->tokens, &p->residual, &p->normed, &p->query, &p->key,  &p->value, &p->scores, &p->gate,
        &p->up,     &p->inner,    &p->places, &p->tops,  &p->sums, &p->parts, &p->tiled,
    };
    for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
        ls_buffer_destroy(buffers[b]);
    for (uint32_t k = 0; k < LS__CACHES; k++)
        ls_buffer_destroy(&p->pages[k]);
    for (uint32_t i = 0; i < LS__ROPES; i++)
        ls_buffer_destroy(&p->angles[i]);
    for (uint32_t i = 0; i < LS__BLOCKINGS; i++) {
        ls_buffer_destroy(&p->quantized[i].integers);
        ls_buffer_destroy(&p->quantized[i].scales);
        ls_buffer_destroy(&p->quantized[i].products);
        ls_buffer_destroy(&p->quantized[i].sums);
    }
    uint64_t parts = (uint64_t)p->model->info.layers * p->model->info.kv_heads;
    for (uint64_t i = 0; p->cache && i < parts; i++) {
        ls_buffer_destroy(&p->cache[i].keys);
        ls_buffer_destroy(&p->cache[i].values);
    }
}

static void finish_outputs(ls__outputs *o)
{
    ls_buffer_destroy(&o->rows);
    ls_buffer_destroy(&o->last);
    ls_buffer_destroy(&o->made);
    ls__mem_free(o->logits);
}

static void finish_batch(ls__token_batch *batch)
{
    ls_prepared_destroy(&batch->prepared);
    ls_batch_destroy(&batch->plain);
    ls__trace_finish(batch);
    ls__mem_free(batch->steps);
}

ls_status ls__pool_make_all(ls_session_pool *p, ls_error *error)
{
    enum { MOST_BYTES = 1 << 24 }; /* of logits, where a tile has fewer */
    uint32_t fit = MOST_BYTES / 4 / p->model->info.vocabulary / LS__TILE * LS__TILE;
    if (p->all.most)
        return LS_OK;
    ls_status status =
        make_outputs(p, fit > p->chunk ? p->chunk : largest(fit, LS__TILE), &p->all, error);
    if (status == LS_OK)
        status = ls__pool_record(p, p->chunk, &p->all, &p->every, error);
    if (status == LS_OK)
        return LS_OK;
    finish_batch(&p->every);
    finish_outputs(&p->all);
    p->every = (ls__token_batch){0};
    p->all = (ls__outputs){0};
    return status;
}

void ls_session_pool_destroy(ls_session_pool **pool)
{
    ls_session_pool *p = pool ? *pool : NULL;
    if (!p)
        return;
    void *arrays[] = {p->cache,          p->round.tokens,  p->round.places,
                      p->round.from,     p->round.rows,    p->round.pages[0],
                      p->round.pages[1], p->stock[0].free, p->stock[1].free};
    finish_batch(&p->one);
    finish_batch(&p->many);
    finish_batch(&p->every);
    ls_stream_destroy(&p->stream, NULL);
    destroy_buffers(p);
    finish_outputs(&p->ends);
    finish_outputs(&p->all);
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        ls__mem_free(arrays[a]);
    ls__mem_free(p);
    *pool = NULL;
}

uint32_t ls_session_pool_free(const ls_session_pool *pool)
{
    return pool->stock[LS__WHOLE].free_count * LS__CHUNK;
}

/* --- submissions ------------------------------------------------------------------------------ */

/* A command found a value that is not finite: it tells the column. */
static ls_status fail_not_finite(ls_session_pool *p, const ls__token_batch *batch,
                                 const ls_receipt *receipt, ls_error *error)
{
    const ls__step *step = &batch->steps[receipt->trap_command];
    uint64_t column = receipt->trap_workgroup / (step->block ? step->elements / step->block : 1);
    bool of_rows = step->layer == p->model->info.layers; /* columns are rows there */
    if (of_rows && column < p->round.row_count)
        column = p->round.rows[column];
    if (column >= p->round.count)
        column = 0;
    p->round.from[column]->failed = true;
    ls__fail(error, LS_E_FAILED, "a value is not finite");
    ls__fail_where(error, LS_E_FAILED, "%s, layer %" PRIu32 ", position %" PRIu32, step->operation,
                   step->layer, p->round.places[2 * column]);
    ls__fail_hint(error, LS_E_FAILED, "the model file may be damaged");
    /* The stream has failed with it. */
    ls_stream_destroy(&p->stream, NULL);
    p->failed = ls_stream_create(p->model->device, &p->stream, NULL) != LS_OK;
    return LS_E_FAILED;
}

ls_status ls__pool_compute(ls_session_pool *p, const ls__token_batch *batch, ls_error *error)
{
    const ls__round *r = &p->round;
    uint32_t seen = 0;
    for (uint32_t c = 0; c < r->count; c++)
        seen = largest(seen, r->places[2 * c] + 1);
    ls__feed feed = {.count = r->count,
                     .tile_lanes = whole_tiles(r->count) / LS__TILE * 32,
                     .lanes = r->count * 32,
                     .blocks = (seen + 31) / 32,
                     .chunk_lanes = ls__pages_of(seen) * 32,
                     .rows = r->row_count,
                     .row_lanes = r->row_count * 32,
                     .row_tile_lanes = whole_tiles(r->row_count) / LS__TILE * 32};
    ls_slot plain[LS__SLOTS], *slots = batch->slots ? batch->slots : plain;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    ls_fence *fence = NULL;
    params.parameters = &feed;
    params.parameter_bytes = sizeof feed;
    slots[LS__SLOT_TOKENS] = (ls_slot){.upload = r->tokens};
    slots[LS__SLOT_PLACES] = (ls_slot){.upload = r->places};
    slots[LS__SLOT_PAGES] = (ls_slot){.upload = r->pages[LS__WHOLE]};
    slots[LS__SLOT_WINDOW_PAGES] = (ls_slot){.upload = r->pages[LS__WINDOWED]};
    slots[LS__SLOT_ROWS] = (ls_slot){.upload = r->rows};
    slots[LS__SLOT_LOGITS] = (ls_slot){.download = batch->outputs->logits};
    params.slots = slots;
    params.slot_count = LS__SLOTS + batch->point_count;
    ls_status status = batch->plain
                           ? ls_submit(p->stream, batch->plain, &params, &fence, error)
                           : ls_submit_prepared(p->stream, batch->prepared, &params, &fence, error);
    if (status == LS_OK)
        status = ls_fence_wait(fence, LS_FOREVER, &receipt, error);
    bool trapped = fence && receipt.trapped && receipt.trap_command < batch->step_count;
    p->failed = status != LS_OK && !trapped;
    ls_fence_destroy(&fence);
    if (status == LS_OK && p->trace)
        ls__trace_report(p, batch);
    return status != LS_OK && trapped ? fail_not_finite(p, batch, &receipt, error) : status;
}
