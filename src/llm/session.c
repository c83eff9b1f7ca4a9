/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: memory for the tokens in work and for the cache, and feeding. */
#include "llm/session.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "llm/trace.h"

enum { DEFAULT_CONTEXT = 4096, DEFAULT_CHUNK = 64, MOST_CHUNK = 4096 };

/* --- memory ----------------------------------------------------------------------------------- */

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static ls_status make_buffer(const ls_session *s, const char *label, uint64_t bytes,
                             ls_buffer **buffer, ls_error *error)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = bytes;
    params.label = label;
    return ls_buffer_create(s->model->device, &params, buffer, error);
}

static ls_status make_buffers(ls_session *s, ls_error *error)
{
    const ls_model_info *i = &s->model->info;
    uint64_t columns = s->chunk;
    uint64_t query = (uint64_t)i->heads * i->head_width,
             key = (uint64_t)i->kv_heads * i->head_width;
    uint64_t most = largest(largest(i->width, i->inner_width), (uint32_t)query);
    const struct {
        const char *label;
        uint64_t bytes;
        ls_buffer **buffer;
    } buffers[] = {
        {"tokens", columns * 4, &s->tokens},
        {"residual", columns * i->width * 4, &s->residual},
        {"normed", columns * i->width * 4, &s->normed},
        {"query", columns * query * 4, &s->query},
        {"key", columns * key * 4, &s->key},
        {"value", columns * key * 4, &s->value},
        {"scores", columns * i->heads * s->context * 4, &s->scores},
        {"tops", columns * i->heads * s->context / 32 * 4, &s->tops},
        {"sums", query * s->context / LS__CHUNK * 4, &s->sums},
        {"parts", (uint64_t)i->heads * s->context / LS__CHUNK * 4, &s->parts},
        {"places", columns * 8, &s->places},
        {"gate", columns * i->inner_width * 4, &s->gate},
        {"up", columns * i->inner_width * 4, &s->up},
        {"inner", columns * i->inner_width * 4, &s->inner},
        {"last", (uint64_t)i->width * 4, &s->last},
        {"logits", (uint64_t)i->vocabulary * 4, &s->device_logits},
        {"pages", (uint64_t)s->context / LS__CHUNK * 4, &s->pages},
        {"integers", columns * most, &s->quantized[0].integers},
        {"scales", columns * most / 32 * 4, &s->quantized[0].scales},
        {"products", columns * most / 32 * 4, &s->quantized[0].products},
        {"sums", columns * most / 32 * 4, &s->quantized[0].sums},
        {"integers", columns * most, &s->quantized[1].integers},
        {"scales", (columns * most + 255) / 256 * 4, &s->quantized[1].scales},
        {"sums", columns * most / 16 * 4, &s->quantized[1].sums},
    };
    ls_status status = LS_OK;
    for (size_t b = 0; status == LS_OK && b < sizeof buffers / sizeof *buffers; b++)
        status = make_buffer(s, buffers[b].label, buffers[b].bytes, buffers[b].buffer, error);
    s->logits = ls__mem_alloc(i->vocabulary, sizeof *s->logits);
    s->cache = ls__mem_alloc(i->layers, sizeof *s->cache);
    if (status == LS_OK && (!s->logits || !s->cache))
        status = ls__fail_oom(error, i->vocabulary * sizeof *s->logits);
    for (uint32_t l = 0; status == LS_OK && l < i->layers; l++) {
        status = make_buffer(s, "keys", s->context * key * 2, &s->cache[l].keys, error);
        if (status == LS_OK)
            status = make_buffer(s, "values", s->context * key * 2, &s->cache[l].values, error);
    }
    return status;
}

static ls_status make_angles(ls_session *s, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < s->model->rope_count; i++) {
        void *memory;
        const ls__rope *rope = &s->model->ropes[i];
        uint64_t bytes = (uint64_t)s->context * rope->pairs * 8;
        status = make_buffer(s, "angles", bytes, &s->angles[i], error);
        if (status == LS_OK)
            status = ls_buffer_map(s->angles[i], 0, bytes, LS_MAP_WRITE, &memory, error);
        if (status != LS_OK)
            return status;
        ls__rope_table(rope, 0, s->context, memory);
        status = ls_buffer_unmap(s->angles[i], error);
    }
    return status;
}

/* Where each 64 positions lie in the cache; the bits do not depend on it. */
static ls_status write_pages(ls_session *s, uint64_t seed, ls_error *error)
{
    uint32_t count = s->context / LS__CHUNK;
    ls__rng rng = {seed};
    uint32_t *pages = ls__mem_alloc(count, sizeof *pages);
    if (!pages)
        return ls__fail_oom(error, count * sizeof *pages);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = seed ? ls__rng_below(&rng, i + 1) : i;
        pages[i] = pages[other];
        pages[other] = i;
    }
    ls_status status = ls_buffer_write(s->pages, 0, LS_MEM_NONE, pages, (uint64_t)count * 4, error);
    ls__mem_free(pages);
    return status;
}

/* --- life ------------------------------------------------------------------------------------- */

ls_status ls_session_create(ls_model *model, const ls_session_params *params, ls_session **session,
                            ls_error *error)
{
    if (!model || !params || !session)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "model, params or session is NULL");
    *session = NULL;
    uint32_t context = params->context ? params->context : model->info.context;
    if (!params->context && context > DEFAULT_CONTEXT)
        context = DEFAULT_CONTEXT;
    if (context > model->info.context)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "a context of %" PRIu32 " positions, where the model has %" PRIu32, context,
                        model->info.context);
    uint32_t chunk = params->chunk ? params->chunk : DEFAULT_CHUNK;
    if (chunk > MOST_CHUNK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a chunk of %" PRIu32 " tokens, more than %d",
                        chunk, MOST_CHUNK);
    ls_session *s = ls__mem_alloc(1, sizeof *s);
    if (!s)
        return ls__fail_oom(error, sizeof *s);
    s->model = model;
    s->context = (context + LS__CHUNK - 1) / LS__CHUNK * LS__CHUNK;
    s->chunk = (chunk + LS__TILE - 1) / LS__TILE * LS__TILE;
    s->unprepared = params->unprepared;
    s->trace = params->trace;
    s->trace_context = params->trace_context;
    ls_status status = ls_stream_create(model->device, &s->stream, error);
    if (status == LS_OK)
        status = make_buffers(s, error);
    if (status == LS_OK)
        status = make_angles(s, error);
    if (status == LS_OK)
        status = write_pages(s, params->page_seed, error);
    if (status == LS_OK)
        status = ls__session_record(s, 1, &s->one, error);
    if (status == LS_OK)
        status = ls__session_record(s, s->chunk, &s->many, error);
    if (status != LS_OK) {
        ls_session_destroy(&s);
        return status;
    }
    s->context = context;
    *session = s;
    return LS_OK;
}

static void finish_batch(ls__token_batch *batch)
{
    ls_prepared_destroy(&batch->prepared);
    ls_batch_destroy(&batch->plain);
    ls__trace_finish(batch);
    ls__mem_free(batch->steps);
}

void ls_session_destroy(ls_session **session)
{
    ls_session *s = session ? *session : NULL;
    if (!s)
        return;
    ls_buffer **buffers[] = {&s->tokens,
                             &s->residual,
                             &s->normed,
                             &s->query,
                             &s->key,
                             &s->value,
                             &s->scores,
                             &s->gate,
                             &s->up,
                             &s->inner,
                             &s->last,
                             &s->device_logits,
                             &s->angles[0],
                             &s->angles[1],
                             &s->pages,
                             &s->places,
                             &s->tops,
                             &s->sums,
                             &s->parts,
                             &s->quantized[0].integers,
                             &s->quantized[0].scales,
                             &s->quantized[0].products,
                             &s->quantized[0].sums,
                             &s->quantized[1].integers,
                             &s->quantized[1].scales,
                             &s->quantized[1].sums};
    finish_batch(&s->one);
    finish_batch(&s->many);
    ls_stream_destroy(&s->stream, NULL);
    for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
        ls_buffer_destroy(buffers[b]);
    for (uint32_t l = 0; s->cache && l < s->model->info.layers; l++) {
        ls_buffer_destroy(&s->cache[l].keys);
        ls_buffer_destroy(&s->cache[l].values);
    }
    ls__mem_free(s->cache);
    ls__mem_free(s->logits);
    ls__mem_free(s);
    *session = NULL;
}

/* --- feeding ---------------------------------------------------------------------------------- */

static ls_status fail_not_finite(const ls__step *step, uint64_t position, ls_error *error)
{
    ls__fail(error, LS_E_FAILED, "a value is not finite");
    ls__fail_where(error, LS_E_FAILED, "%s, layer %" PRIu32 ", position %" PRIu64, step->operation,
                   step->layer, position);
    return ls__fail_hint(error, LS_E_FAILED, "the model file may be damaged");
}

/* `count` tokens that fit a batch. */
static ls_status submit(ls_session *s, const uint32_t *tokens, uint32_t count, ls_error *error)
{
    const ls__token_batch *batch = count == 1 ? &s->one : &s->many;
    uint32_t padded[MOST_CHUNK] = {0}, places[2 * MOST_CHUNK] = {0}, end = s->position + count;
    ls__feed feed = {count,           (count + LS__TILE - 1) / LS__TILE,      count * 32,
                     (end + 31) / 32, (end + LS__CHUNK - 1) / LS__CHUNK * 32, count - 1};
    ls_slot plain[LS__SLOTS], *slots = batch->slots ? batch->slots : plain;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    ls_fence *fence = NULL;
    memcpy(padded, tokens, count * sizeof *tokens);
    for (uint32_t i = 0; i < count; i++)
        places[2 * i] = s->position + i;
    params.parameters = &feed;
    params.parameter_bytes = sizeof feed;
    slots[LS__SLOT_TOKENS] = (ls_slot){.upload = padded};
    slots[LS__SLOT_PLACES] = (ls_slot){.upload = places};
    slots[LS__SLOT_LOGITS] = (ls_slot){.download = s->logits};
    params.slots = slots;
    params.slot_count = LS__SLOTS + batch->point_count;
    ls_status status = batch->plain
                           ? ls_submit(s->stream, batch->plain, &params, &fence, error)
                           : ls_submit_prepared(s->stream, batch->prepared, &params, &fence, error);
    if (status == LS_OK)
        status = ls_fence_wait(fence, LS_FOREVER, &receipt, error);
    if (status != LS_OK) {
        s->failed = true;
        if (fence && receipt.trapped && receipt.trap_command < batch->step_count) {
            const ls__step *step = &batch->steps[receipt.trap_command];
            uint64_t per_token = step->block ? step->elements / step->block : 1;
            status = fail_not_finite(step, s->position + receipt.trap_workgroup / per_token, error);
        }
    }
    ls_fence_destroy(&fence);
    if (status == LS_OK && s->trace)
        ls__trace_report(s, batch, s->position, count);
    return status;
}

/* The kernels look at what they make integers of; the logits are made last. */
static ls_status check_logits(ls_session *s, ls_error *error)
{
    for (uint32_t i = 0; i < s->model->info.vocabulary; i++)
        if (s->logits[i] - s->logits[i] != 0) {
            s->failed = true;
            return fail_not_finite(&(ls__step){"logits", s->model->info.layers, 0, 0},
                                   s->position - 1, error);
        }
    return LS_OK;
}

ls_status ls_session_feed(ls_session *s, const uint32_t *tokens, uint32_t count, ls_error *error)
{
    if (!s || !tokens || !count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no session or no tokens");
    if (s->failed)
        return ls__fail(error, LS_E_STATE, "the session has failed");
    for (uint32_t i = 0; i < count; i++)
        if (tokens[i] >= s->model->info.vocabulary)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "token %" PRIu32 ", where the vocabulary has %" PRIu32, tokens[i],
                            s->model->info.vocabulary);
    if (count > s->context - s->position) {
        ls__fail(error, LS_E_LIMIT,
                 "%" PRIu32 " tokens behind the %" PRIu32 " so far are more than the context of "
                 "%" PRIu32,
                 count, s->position, s->context);
        return ls__fail_hint(error, LS_E_LIMIT, "ask for a larger context, or shorten the text");
    }
    s->has_logits = false;
    for (uint32_t done = 0, now; done < count; done += now) {
        now = count - done < s->chunk ? count - done : s->chunk;
        ls_status status = submit(s, tokens + done, now, error);
        if (status != LS_OK)
            return status;
        s->position += now;
    }
    ls_status status = check_logits(s, error);
    s->has_logits = status == LS_OK;
    return status;
}

const float *ls_session_logits(const ls_session *s)
{
    return s->has_logits ? s->logits : NULL;
}

uint32_t ls_session_position(const ls_session *s)
{
    return s->position;
}

uint32_t ls_session_context(const ls_session *s)
{
    return s->context;
}

ls_status ls_session_truncate(ls_session *s, uint32_t position, ls_error *error)
{
    if (!s || position > s->position)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "position %" PRIu32 " is not reached yet",
                        position);
    if (position < s->position)
        s->has_logits = false;
    s->position = position;
    return LS_OK;
}

uint32_t ls_logits_best(const float *logits, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}
