/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling (docs/sampling.md). The candidates are a heap by logit, the lowest id first among equal
 * ones, so that only as many are put in order as are looked at.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/params.h"
#include "base/status.h"
#include "lockstep/llm.h"

#include "lockstep/kernel.h" /* last: its macros have plain names */

enum { DEFAULT_WINDOW = 64 };

typedef struct candidate {
    float logit;
    uint32_t id;
} candidate;

struct ls_sampler {
    ls_sampler_params params;
    candidate *candidates; /* [vocabulary]: the heap at first, then the chosen behind it */
    float *logits;         /* [vocabulary]: with penalties */
    uint32_t *counts;      /* [vocabulary]: of the window; zero between calls */
    candidate *typical;    /* [vocabulary] with typical_p: a heap of those nearest the entropy */
    ls_logit_bias *biases; /* [params.bias_count] */
};

/* --- chance ----------------------------------------------------------------------------------- */

/* Philox4x32-10: the first word for counter (position, 0, 0, 0). */
static uint32_t philox(uint64_t seed, uint32_t position)
{
    uint32_t x[4] = {position, 0, 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)x[0] * 0xd2511f53u, b = (uint64_t)x[2] * 0xcd9e8d57u;
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b,
                            (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
        memcpy(x, next, sizeof x);
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return x[0];
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool is_better(candidate a, candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static void sink(candidate *heap, uint32_t count, uint32_t at)
{
    candidate moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_better(heap[child + 1], heap[child]))
            child++;
        if (!is_better(heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Takes the best of `count` candidates out, to place count - 1. */
static candidate take(candidate *heap, uint32_t count)
{
    candidate best = heap[0];
    heap[0] = heap[count - 1];
    sink(heap, count - 1, 0);
    heap[count - 1] = best;
    return best;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void add_biases(ls_sampler *s)
{
    for (uint32_t i = 0; i < s->params.bias_count; i++)
        s->logits[s->biases[i].id] = s->logits[s->biases[i].id] + s->biases[i].value;
}

static void penalize(ls_sampler *s, const uint32_t *history, uint32_t count)
{
    const ls_sampler_params *p = &s->params;
    uint32_t window = p->window ? p->window : DEFAULT_WINDOW;
    uint32_t first = count > window ? count - window : 0;
    float repetition = p->repetition_penalty != 0 ? p->repetition_penalty : 1;
    for (uint32_t i = first; i < count; i++)
        if (history[i] < p->vocabulary)
            s->counts[history[i]]++;
    for (uint32_t i = first; i < count; i++) {
        uint32_t id = history[i], times = id < p->vocabulary ? s->counts[id] : 0;
        float *logit = &s->logits[id];
        if (!times)
            continue; /* done, or of rows that have no name */
        *logit = *logit > 0 ? *logit / repetition : *logit * repetition;
        *logit = *logit - ((float)times * p->frequency_penalty + p->presence_penalty);
        s->counts[id] = 0;
    }
}

static void heap_candidates(ls_sampler *s)
{
    uint32_t count = s->params.vocabulary;
    for (uint32_t i = 0; i < count; i++)
        s->candidates[i] = (candidate){s->logits[i], i};
    for (uint32_t i = count / 2; i-- > 0;)
        sink(s->candidates, count, i);
}

/* Of the `taken` best, which lie at the end of the array, the best last, keeps the most typical:
 * those whose surprise, -log(p), is nearest to its mean. They stay in their order; returns how
 * many. */
static uint32_t keep_typical(ls_sampler *s, uint32_t taken, float top)
{
    candidate *best = s->candidates + s->params.vocabulary - 1;
    float all = 0, products = 0, sum = 0;
    for (uint32_t i = 0; i < taken; i++) {
        float away = best[-(int64_t)i].logit - top, weight = exp(away);
        all = all + weight;
        if (weight > 0) /* `away` may be infinite */
            products = products + weight * away;
    }
    float mean = products / all; /* of -surprise, but for log(all) */
    for (uint32_t i = 0; i < taken; i++) {
        float away = best[-(int64_t)i].logit - top;
        s->typical[i] = (candidate){away > mean ? mean - away : away - mean, best[-(int64_t)i].id};
    }
    for (uint32_t i = taken / 2; i-- > 0;)
        sink(s->typical, taken, i);
    for (uint32_t left = taken; left > 0 && (left == taken || sum < s->params.typical_p * all);
         left--) {
        uint32_t id = take(s->typical, left).id;
        s->counts[id] = 1;
        sum = sum + exp(s->logits[id] - top);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < taken; i++) {
        candidate c = best[-(int64_t)i];
        if (s->counts[c.id])
            best[-(int64_t)kept++] = c;
        s->counts[c.id] = 0;
    }
    return kept;
}

/* The `top_k` best, or all, at the end of the array, the best last; returns how many. */
static uint32_t take_best(ls_sampler *s)
{
    uint32_t count = s->params.vocabulary, most = s->params.top_k, taken = 0;
    for (; taken < count && (!most || taken < most); taken++)
        take(s->candidates, count - taken);
    return taken;
}

/* Takes candidates, best first, as long as the limits allow. They end up at the end of the array,
 * the best last; returns how many. */
static uint32_t take_candidates(ls_sampler *s)
{
    const ls_sampler_params *p = &s->params;
    uint32_t count = p->vocabulary, taken = 0;
    float top = s->logits[ls_logits_best(s->logits, count)], all = 0, sum = 0;
    bool ranked = p->typical_p > 0; /* the candidates are in order before the other limits */
    for (uint32_t i = 0; p->top_p > 0 && i < count; i++)
        all = all + exp(s->logits[i] - top);
    heap_candidates(s);
    uint32_t most = ranked                         ? keep_typical(s, take_best(s), top)
                    : p->top_k && p->top_k < count ? p->top_k
                                                   : count;
    while (taken < most) {
        const candidate *next = ranked ? &s->candidates[count - 1 - taken] : &s->candidates[0];
        float weight = exp(next->logit - top);
        if (taken && weight < p->min_p)
            break;
        if (!ranked)
            take(s->candidates, count - taken);
        taken++;
        sum = sum + weight;
        if (p->top_p > 0 && sum >= p->top_p * all)
            break;
    }
    return taken;
}

static uint32_t draw(const ls_sampler *s, uint32_t taken, uint32_t position)
{
    const candidate *best = s->candidates + s->params.vocabulary - 1; /* the others below it */
    float sum = 0, so_far = 0;
    for (uint32_t i = 0; i < taken; i++)
        sum = sum + exp((best[-(int64_t)i].logit - best->logit) / s->params.temperature);
    float wanted = ((float)(philox(s->params.seed, position) >> 8) * 0x1p-24f) * sum;
    for (uint32_t i = 0; i + 1 < taken; i++) {
        so_far = so_far + exp((best[-(int64_t)i].logit - best->logit) / s->params.temperature);
        if (so_far > wanted)
            return best[-(int64_t)i].id;
    }
    return best[-(int64_t)(taken - 1)].id;
}

uint32_t ls_sampler_choose(ls_sampler *s, const float *logits, const uint32_t *history,
                           uint32_t count)
{
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    memcpy(s->logits, logits, s->params.vocabulary * sizeof *logits);
    add_biases(s);
    penalize(s, history, count);
    uint32_t id = s->params.temperature == 0 ? ls_logits_best(s->logits, s->params.vocabulary)
                                             : draw(s, take_candidates(s), count);
    ls__os_fenv_leave(&saved);
    return id;
}

/* --- life ------------------------------------------------------------------------------------- */

static ls_status check(const ls_sampler_params *p, ls_error *error)
{
    const struct {
        const char *name;
        float number, least, most;
    } numbers[] = {
        {"temperature", p->temperature, 0, 100},
        {"top_p", p->top_p, 0, 1},
        {"min_p", p->min_p, 0, 1},
        {"typical_p", p->typical_p, 0, 1},
        {"repetition_penalty", p->repetition_penalty, 0, 100},
        {"frequency_penalty", p->frequency_penalty, -100, 100},
        {"presence_penalty", p->presence_penalty, -100, 100},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i].number >= numbers[i].least && numbers[i].number <= numbers[i].most))
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s is %g, not from %g to %g",
                            numbers[i].name, (double)numbers[i].number, (double)numbers[i].least,
                            (double)numbers[i].most);
    if (p->bias_count && !p->biases)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%" PRIu32 " biases at NULL", p->bias_count);
    for (uint32_t i = 0; i < p->bias_count; i++) {
        const ls_logit_bias *bias = &p->biases[i];
        if (bias->id >= p->vocabulary || !(bias->value < HUGE_VALF))
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "a bias of %g for token %" PRIu32 ", where there are %" PRIu32
                            " tokens",
                            (double)bias->value, bias->id, p->vocabulary);
    }
    return p->vocabulary ? LS_OK : ls__fail(error, LS_E_INVALID_ARGUMENT, "no vocabulary");
}

ls_status ls_sampler_create(const ls_sampler_params *params, ls_sampler **sampler, ls_error *error)
{
    ls_sampler_params given;
    if (!sampler)
        return ls__fail_no_result(error, "ls_sampler_create");
    *sampler = NULL;
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_sampler_create", error);
    params = &given;
    if (status == LS_OK)
        status = check(params, error);
    if (status != LS_OK)
        return status;
    ls_sampler *s = ls__mem_alloc(1, sizeof *s);
    if (!s)
        return ls__fail_oom(error, sizeof *s);
    s->params = *params;
    s->candidates = ls__mem_alloc(params->vocabulary, sizeof *s->candidates);
    s->logits = ls__mem_alloc(params->vocabulary, sizeof *s->logits);
    s->counts = ls__mem_alloc(params->vocabulary, sizeof *s->counts);
    s->typical = ls__mem_alloc(params->typical_p > 0 ? params->vocabulary : 1, sizeof *s->typical);
    s->biases = ls__mem_alloc(params->bias_count + (size_t)1, sizeof *s->biases);
    if (!s->candidates || !s->logits || !s->counts || !s->typical || !s->biases) {
        ls_sampler_destroy(&s);
        return ls__fail_oom(error, params->vocabulary * sizeof *s->candidates);
    }
    if (params->bias_count)
        memcpy(s->biases, params->biases, params->bias_count * sizeof *s->biases);
    s->params.biases = s->biases;
    *sampler = s;
    return LS_OK;
}

void ls_sampler_destroy(ls_sampler **sampler)
{
    ls_sampler *s = sampler ? *sampler : NULL;
    if (!s)
        return;
    ls__mem_free(s->candidates);
    ls__mem_free(s->logits);
    ls__mem_free(s->counts);
    ls__mem_free(s->typical);
    ls__mem_free(s->biases);
    ls__mem_free(s);
    *sampler = NULL;
}
