/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of the cache sessions have. In layers with a window a session writes `span` pages in
 * turn, over what it had there: as many as hold the positions that the tokens which are computed
 * together see between them. Going back further than that leaves tokens whose keys are needed and
 * gone; those of a layer come from all layers before, so the next feed computes the text from its
 * beginning.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "llm/pool.h"

/* --- pools ------------------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

ls_status ls__pool_plan_pages(ls_session_pool *p, const ls_session_pool_params *params,
                              uint32_t context, ls_error *error)
{
    ls__stock *whole = &p->stock[LS__WHOLE], *windowed = &p->stock[LS__WINDOWED];
    uint64_t behind = params->rewind > p->chunk ? params->rewind : p->chunk;
    uint64_t seen = (behind + p->model->window - 1 + LS__CHUNK - 1) / LS__CHUNK;
    uint64_t pages = params->positions ? ls__pages_of(params->positions)
                                       : (uint64_t)ls__pages_of(context) * p->sessions;
    if (pages > UINT32_MAX / LS__CHUNK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a pool of more than %" PRIu32 " positions",
                        UINT32_MAX / LS__CHUNK * LS__CHUNK);
    whole->span = ls__pages_of(p->context);
    whole->page_count = (uint32_t)pages;
    p->cache_kinds = 1;
    if (!p->model->window || seen >= whole->span)
        return LS_OK;
    p->cache_kinds = 2;
    windowed->span = (uint32_t)seen;
    windowed->page_count = (uint32_t)least(pages, seen * p->sessions);
    return LS_OK;
}

/* Where pages lie does not show in the bits. */
ls_status ls__pool_make_stocks(ls_session_pool *p, uint64_t seed, ls_error *error)
{
    ls__rng rng = {seed};
    for (uint32_t k = 0; k < p->cache_kinds; k++) {
        ls__stock *stock = &p->stock[k];
        stock->free = ls__mem_alloc(stock->page_count, sizeof *stock->free);
        if (!stock->free)
            return ls__fail_oom(error, stock->page_count * sizeof *stock->free);
        stock->free_count = stock->page_count;
        for (uint32_t i = 0; i < stock->page_count; i++) {
            uint32_t other = seed ? ls__rng_below(&rng, i + 1) : i;
            stock->free[i] = stock->free[other];
            stock->free[other] = stock->page_count - 1 - i;
        }
    }
    return LS_OK;
}

uint32_t ls__pool_cache_kind(const ls_session_pool *p, uint32_t layer)
{
    bool windowed = p->model->layers[layer].window != UINT32_MAX;
    return windowed && p->cache_kinds > 1 ? LS__WINDOWED : LS__WHOLE;
}

/* --- sessions --------------------------------------------------------------------------------- */

static uint32_t pages_for(const ls_session *s, uint32_t kind, uint32_t positions)
{
    return (uint32_t)least(ls__pages_of(positions), s->pool->stock[kind].span);
}

uint32_t ls__session_lacks(const ls_session *s, uint32_t kind, uint32_t positions)
{
    uint32_t pages = pages_for(s, kind, positions);
    return pages > s->page_count[kind] ? pages - s->page_count[kind] : 0;
}

void ls__session_take_pages(ls_session *s, uint32_t positions)
{
    for (uint32_t k = 0; k < s->pool->cache_kinds; k++) {
        ls__stock *stock = &s->pool->stock[k];
        for (uint32_t lacks = ls__session_lacks(s, k, positions); lacks; lacks--)
            s->pages[k][s->page_count[k]++] = stock->free[--stock->free_count];
    }
}

static void give_pages(ls_session *s, uint32_t kind, uint32_t positions)
{
    ls__stock *stock = &s->pool->stock[kind];
    while (s->page_count[kind] > pages_for(s, kind, positions))
        stock->free[stock->free_count++] = s->pages[kind][--s->page_count[kind]];
}

/* The first position that the token at `position` sees in layers with a window. */
static uint32_t first_seen(const ls_session *s, uint32_t position)
{
    uint32_t window = s->pool->model->window;
    return position >= window ? position - window + 1 : 0;
}

void ls__session_go_back(ls_session *s, uint32_t position)
{
    uint64_t kept = (uint64_t)s->pool->stock[LS__WINDOWED].span * LS__CHUNK;
    bool whole = s->pool->cache_kinds == 1 || s->reached <= kept; /* nothing was written over */
    s->position = position;
    s->computed = (uint32_t)least(s->computed, position);
    if (!whole && first_seen(s, s->computed) < s->reached - kept)
        s->computed = 0;
    if (whole || !s->computed)
        s->reached = s->computed;
    give_pages(s, LS__WHOLE, position);
    give_pages(s, LS__WINDOWED, s->reached);
}

void ls__session_list_pages(const ls_session *s, ls__round *round)
{
    uint32_t count = s->page_count[LS__WHOLE];
    for (uint32_t k = 0; k < s->pool->cache_kinds; k++) {
        uint32_t *list = round->pages[k] + round->page_count, span = s->pool->stock[k].span;
        uint32_t page = k == LS__WINDOWED ? first_seen(s, s->next) / LS__CHUNK : 0;
        for (; page < count; page++)
            list[page] = s->pages[k][page % span];
    }
    round->page_count += count;
}
