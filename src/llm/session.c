/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: their life, and feeding several of them together. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "llm/pool.h"

/* --- life ------------------------------------------------------------------------------------- */

static ls_status find_pool(ls_session *s, ls_model *model, const ls_session_params *params,
                           ls_error *error)
{
    s->pool = params->pool;
    s->context = params->context;
    if (s->pool && s->pool->model != model)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the pool is that of another model");
    if (s->pool) {
        if (s->context > s->pool->asked)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "a context of %" PRIu32 " positions, where the pool has %" PRIu32,
                            s->context, s->pool->asked);
        return LS_OK;
    }
    ls_session_pool_params own = LS_SESSION_POOL_PARAMS_INIT;
    own.context = params->context;
    own.sessions = 1;
    own.chunk = params->chunk;
    own.cache_type = params->cache_type;
    own.page_seed = params->page_seed;
    own.rewind = params->rewind;
    own.unprepared = params->unprepared;
    own.unfused = params->unfused;
    own.trace = params->trace;
    own.trace_context = params->trace_context;
    s->owns_pool = true;
    return ls_session_pool_create(model, &own, &s->pool, error);
}

ls_status ls_session_create(ls_model *model, const ls_session_params *params, ls_session **session,
                            ls_error *error)
{
    ls_session_params given;
    if (!model || !session)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "model or session is NULL");
    *session = NULL;
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_session_create", error);
    if (status != LS_OK)
        return status;
    params = &given;
    ls_session *s = ls__mem_alloc(1, sizeof *s);
    if (!s)
        return ls__fail_oom(error, sizeof *s);
    status = find_pool(s, model, params, error);
    if (status == LS_OK) {
        s->context = s->context ? s->context : s->pool->asked;
        s->tokens = ls__mem_alloc(s->context, sizeof *s->tokens);
        for (uint32_t k = 0; k < LS__CACHES; k++)
            s->pages[k] = ls__mem_alloc(ls__pages_of(s->context), sizeof **s->pages);
        s->logits = s->owns_pool ? s->pool->ends.logits
                                 : ls__mem_alloc(model->info.vocabulary, sizeof *s->logits);
        if (!s->tokens || !s->pages[0] || !s->pages[1] || !s->logits)
            status = ls__fail_oom(error, model->info.vocabulary * sizeof *s->logits);
    } else {
        s->pool = NULL;
    }
    if (status != LS_OK) {
        ls_session_destroy(&s);
        return status;
    }
    *session = s;
    return LS_OK;
}

void ls_session_destroy(ls_session **session)
{
    ls_session *s = session ? *session : NULL;
    if (!s)
        return;
    if (s->pool)
        ls__session_go_back(s, 0);
    if (s->owns_pool)
        ls_session_pool_destroy(&s->pool);
    else
        ls__mem_free(s->logits);
    for (uint32_t k = 0; k < LS__CACHES; k++)
        ls__mem_free(s->pages[k]);
    ls__mem_free(s->tokens);
    ls__mem_free(s);
    *session = NULL;
}

/* --- feeding ---------------------------------------------------------------------------------- */

static ls_status check_input(const ls_session_input *input, ls_error *error)
{
    const ls_session *s = input->session;
    uint32_t vocabulary = s->pool->model->info.vocabulary;
    if (s->failed || s->pool->failed)
        return ls__fail(error, LS_E_STATE, "the session has failed");
    if (input->count > s->context - s->position) {
        ls__fail(error, LS_E_LIMIT,
                 "%" PRIu32 " token%s behind the %" PRIu32
                 " so far would be more than the context of %" PRIu32,
                 input->count, input->count == 1 ? "" : "s", s->position, s->context);
        return ls__fail_hint(error, LS_E_LIMIT,
                             "a context of %" PRIu64 " holds all; or shorten the text",
                             (uint64_t)s->position + input->count);
    }
    for (uint32_t i = 0; i < input->count; i++)
        if (input->tokens[i] >= vocabulary)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "token %" PRIu32 ", where the vocabulary has %" PRIu32,
                            input->tokens[i], vocabulary);
    return LS_OK;
}

static ls_status check_pages(const ls_session_pool *p, const uint64_t needed[LS__CACHES],
                             ls_error *error)
{
    for (uint32_t k = 0; k < p->cache_kinds; k++) {
        if (needed[k] <= p->stock[k].free_count)
            continue;
        ls__fail(error, LS_E_LIMIT,
                 "the pool has %" PRIu32 " positions left%s, where %" PRIu64 " more are needed",
                 p->stock[k].free_count * LS__CHUNK,
                 k == LS__WINDOWED ? " in layers with a window" : "", needed[k] * LS__CHUNK);
        return ls__fail_hint(error, LS_E_LIMIT,
                             k == LS__WINDOWED ? "make a pool for more sessions, or destroy one"
                                               : "make a larger pool, or destroy a session");
    }
    return LS_OK;
}

static ls_status check_inputs(const ls_session_input *inputs, uint32_t count, ls_error *error)
{
    uint64_t pages[LS__CACHES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const ls_session *s = inputs[i].session;
        if (!s || !inputs[i].tokens || !inputs[i].count)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "no session or no tokens");
        for (uint32_t j = 0; j < i; j++)
            if (inputs[j].session == s || inputs[j].session->pool != s->pool)
                return ls__fail(error, LS_E_INVALID_ARGUMENT,
                                "sessions %" PRIu32 " and %" PRIu32 " are one, or of two pools", j,
                                i);
        ls_status status = check_input(&inputs[i], error);
        if (status != LS_OK)
            return status;
        for (uint32_t k = 0; k < LS__CACHES; k++)
            pages[k] += ls__session_lacks(s, k, s->position + inputs[i].count);
    }
    const ls_session_pool *p = inputs[0].session->pool;
    if (count > p->sessions)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%" PRIu32 " sessions, where the pool feeds %" PRIu32 " together", count,
                        p->sessions);
    return check_pages(p, pages, error);
}

/* Where the logits of the tokens of one session go, from one of them on. */
typedef struct wanted {
    uint32_t first;
    float *logits; /* [from the first on][vocabulary] */
} wanted;

/* Columns [r->count, ...) of a session, of which those that are wanted give logits; returns how
 * many there were room for. */
static uint32_t add_wanted(ls_session_pool *p, const ls_session *s, const wanted *all, uint32_t now)
{
    ls__round *r = &p->round;
    for (uint32_t k = 0; k < now; k++) {
        if (s->next + k < s->before + all->first)
            continue;
        if (r->row_count == p->all.most)
            return k;
        r->rows[r->row_count++] = r->count + k;
    }
    return now;
}

/* The columns that are computed next: as many as fit, sessions in their order. */
static void fill_round(ls_session_pool *p, const ls_session_input *inputs, uint32_t count,
                       const wanted *all)
{
    ls__round *r = &p->round;
    r->count = r->row_count = r->page_count = 0;
    for (uint32_t i = 0; i < count && r->count < p->chunk; i++) {
        ls_session *s = inputs[i].session;
        uint32_t left = s->before + inputs[i].count - s->next, now = p->chunk - r->count;
        now = left < now ? left : now;
        now = all ? add_wanted(p, s, all, now) : now;
        if (!now)
            continue;
        for (uint32_t k = 0; k < now; k++, r->count++) {
            r->tokens[r->count] = s->tokens[s->next + k];
            r->places[2 * r->count] = s->next + k;
            r->places[2 * r->count + 1] = r->page_count;
            r->from[r->count] = s;
        }
        ls__session_list_pages(s, r);
        s->next += now;
        s->reached = s->next > s->reached ? s->next : s->reached;
        if (now == left && !all)
            r->rows[r->row_count++] = r->count - 1;
    }
}

/* The kernels look at what they make integers of; the logits are made last. */
static bool all_finite(const float *logits, uint32_t count)
{
    uint32_t odd = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, logits + i, sizeof bits);
        odd |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !odd;
}

/* Gives sessions their logits, or those that are wanted to whom wants them. */
static ls_status take_logits(ls_session_pool *p, const ls__outputs *outputs, const wanted *all,
                             ls_error *error)
{
    const ls_model_info *info = &p->model->info;
    ls_status status = LS_OK;
    for (uint32_t row = 0; row < p->round.row_count; row++) {
        uint32_t column = p->round.rows[row];
        const float *logits = outputs->logits + (uint64_t)row * info->vocabulary;
        ls_session *s = p->round.from[column];
        float *to = s->logits;
        if (all)
            to = all->logits + (uint64_t)(p->round.places[2 * column] - s->before - all->first) *
                                   info->vocabulary;
        if (to != logits)
            memcpy(to, logits, info->vocabulary * sizeof *logits);
        s->has_logits = all_finite(logits, info->vocabulary);
        s->failed = s->failed || !s->has_logits;
        if (s->has_logits || status != LS_OK)
            continue;
        status = ls__fail(error, LS_E_FAILED, "a value is not finite");
        ls__fail_where(error, LS_E_FAILED, "logits, layer %" PRIu32 ", position %" PRIu32,
                       info->layers, p->round.places[2 * column]);
    }
    return status;
}

/* Inputs that were checked; `all`: of the only one, or NULL. */
static ls_status feed(const ls_session_input *inputs, uint32_t count, const wanted *all,
                      ls_error *error)
{
    ls_session_pool *p = inputs[0].session->pool;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < count; i++) {
        ls_session *s = inputs[i].session;
        s->before = s->position;
        s->next = s->computed;
        s->has_logits = false;
        memcpy(s->tokens + s->position, inputs[i].tokens, inputs[i].count * sizeof *s->tokens);
        ls__session_take_pages(s, s->position + inputs[i].count);
    }
    for (fill_round(p, inputs, count, all); status == LS_OK && p->round.count;
         fill_round(p, inputs, count, all)) {
        const ls__token_batch *batch = all ? &p->every : p->round.count == 1 ? &p->one : &p->many;
        status = ls__pool_compute(p, batch, error);
        if (status == LS_OK)
            status = take_logits(p, batch->outputs, all, error);
        for (uint32_t i = 0; status == LS_OK && i < count; i++)
            inputs[i].session->computed = inputs[i].session->next;
    }
    for (uint32_t i = 0; i < count; i++) {
        ls_session *s = inputs[i].session;
        s->has_logits = s->has_logits && status == LS_OK;
        if (status == LS_OK)
            s->position = s->computed;
        else
            ls__session_go_back(s, s->before);
    }
    return status;
}

ls_status ls_sessions_feed(const ls_session_input *inputs, uint32_t count, ls_error *error)
{
    if (!inputs || !count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no sessions");
    ls_status status = check_inputs(inputs, count, error);
    return status == LS_OK ? feed(inputs, count, NULL, error) : status;
}

ls_status ls_session_feed(ls_session *s, const uint32_t *tokens, uint32_t count, ls_error *error)
{
    return ls_sessions_feed(&(ls_session_input){s, tokens, count}, 1, error);
}

ls_status ls_session_feed_all(ls_session *s, const uint32_t *tokens, uint32_t count, uint32_t first,
                              float *logits, ls_error *error)
{
    ls_session_input input = {s, tokens, count};
    wanted all = {first, logits};
    ls_status status = check_inputs(&input, 1, error);
    if (status == LS_OK && (first >= count || !logits))
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          "the logits from token %" PRIu32 " of %" PRIu32 " on", first, count);
    if (status == LS_OK)
        status = ls__pool_make_all(s->pool, error);
    if (status == LS_OK)
        status = feed(&input, 1, &all, error);
    if (status != LS_OK)
        return status;
    uint32_t vocabulary = s->pool->model->info.vocabulary;
    memcpy(s->logits, logits + (uint64_t)(count - 1 - first) * vocabulary,
           vocabulary * sizeof *logits);
    return LS_OK;
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

uint64_t ls_session_cache_bytes(const ls_session *s)
{
    return s->pool->cache_bytes;
}

ls_status ls_session_truncate(ls_session *s, uint32_t position, ls_error *error)
{
    if (!s || position > s->position)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "position %" PRIu32 " is not reached yet",
                        position);
    if (position < s->position)
        s->has_logits = false;
    ls__session_go_back(s, position);
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
