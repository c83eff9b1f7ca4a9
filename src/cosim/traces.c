/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traced signals: the device compares slots and reports those that changed; here is what the bits
 * of a slot belong to, and the host's copy of the values.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"

static ls_status allocate(const ls_cosim *cosim, ls__traces *t, ls_error *error)
{
    size_t pieces = 0;
    for (uint32_t i = 0; i < cosim->params.trace_count; i++)
        pieces += cosim->graph->signals[cosim->params.trace[i]].piece_count;
    t->slots = ls__mem_alloc(pieces + 1, sizeof *t->slots);
    t->masks = ls__mem_alloc(pieces + 1, sizeof *t->masks);
    t->targets = ls__mem_alloc(pieces + 1, sizeof *t->targets);
    t->first = ls__mem_alloc(pieces + 2, sizeof *t->first);
    t->starts_at = ls__mem_alloc(pieces + 1, sizeof *t->starts_at);
    if (!t->slots || !t->masks || !t->targets || !t->first || !t->starts_at)
        return ls__fail_oom(error, pieces * sizeof *t->targets);
    return LS_OK;
}

static int by_from(const void *a, const void *b)
{
    const ls__trace_target *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->traced < y->traced ? -1 : x->traced > y->traced;
}

/* Few targets are looked through as quickly. */
enum { MANY_TARGETS = 4 };

static bool has_starts(const ls__traces *t, uint32_t slot)
{
    for (uint32_t k = t->first[slot]; k < t->first[slot + 1]; k++)
        if (t->targets[k].width != 1)
            return false;
    return t->first[slot + 1] - t->first[slot] > MANY_TARGETS;
}

/* Sorts the targets of each slot; where those of each bit start. */
static ls_status find_starts(ls__traces *t, ls_error *error)
{
    uint32_t size = 0;
    for (uint32_t k = 0; k < t->count; k++) {
        qsort(t->targets + t->first[k], t->first[k + 1] - t->first[k], sizeof *t->targets, by_from);
        t->starts_at[k] = has_starts(t, k) ? size : LS__NO_STARTS;
        if (t->starts_at[k] != LS__NO_STARTS)
            size += 64 - (uint32_t)__builtin_clzll(t->masks[k]) + 1;
    }
    t->starts = ls__mem_alloc(size + 1, sizeof *t->starts);
    if (!t->starts)
        return ls__fail_oom(error, size * sizeof *t->starts);
    for (uint32_t k = 0; k < t->count; k++) {
        if (t->starts_at[k] == LS__NO_STARTS)
            continue;
        uint32_t *start = t->starts + t->starts_at[k], bit = 0;
        for (uint32_t i = t->first[k]; i < t->first[k + 1]; i++)
            while (bit <= t->targets[i].from)
                start[bit++] = i;
        start[bit] = t->first[k + 1];
    }
    return LS_OK;
}

ls_status ls__traces_create(const ls_cosim *cosim, ls__form *form, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    ls__traces *t = &form->traces;
    ls_status status = allocate(cosim, t, error);
    uint32_t *number = ls__mem_alloc(form->slot_count + 1, sizeof *number); /* + 1, by slot */
    if (status == LS_OK && !number)
        status = ls__fail_oom(error, form->slot_count * sizeof *number);
    /* Counts go to first[number + 1]; then each start moves to its end, which is the next start. */
    for (uint32_t pass = 0; status == LS_OK && pass < 2; pass++) {
        for (uint32_t i = 0; i < cosim->params.trace_count; i++) {
            const ls__graph_signal *s = &g->signals[cosim->params.trace[i]];
            uint32_t to = 0, first_word = (uint32_t)(cosim->traced[i] - cosim->traced_words);
            for (uint32_t p = 0; p < s->piece_count; to += s->pieces[p].width, p++) {
                const ls__piece *piece = &s->pieces[p];
                if (g->nodes[piece->node.index].op == LS__NODE_CONST)
                    continue;
                ls__place place = form->places[piece->node.index];
                uint8_t from = (uint8_t)(piece->lsb + place.bit);
                if (pass == 1) {
                    t->targets[t->first[number[place.slot]]++] =
                        (ls__trace_target){i, first_word + to / 64, from, piece->width, to % 64};
                    continue;
                }
                if (!number[place.slot]) {
                    t->slots[t->count] = place.slot;
                    number[place.slot] = ++t->count;
                }
                t->masks[number[place.slot] - 1] |= ls__node_mask(piece->width) << from;
                t->first[number[place.slot] + 1]++;
            }
        }
        for (uint32_t k = 0; pass == 0 && k < t->count; k++)
            t->first[k + 2] += t->first[k + 1];
    }
    ls__mem_free(number);
    return status == LS_OK ? find_starts(t, error) : status;
}

static uint64_t take_bits(const uint64_t *words, uint32_t at, uint32_t width)
{
    uint32_t shift = at % 64;
    uint64_t value = words[at / 64] >> shift;
    if (shift + width > 64)
        value |= words[at / 64 + 1] << (64 - shift);
    return value & ls__node_mask((uint8_t)width);
}

ls_status ls__traced_upload(ls_cosim *cosim, ls_error *error)
{
    const ls__traces *t = &cosim->form->traces;
    if (t->count == 0)
        return LS_OK;
    uint64_t *previous = ls__mem_realloc(cosim->trace_previous, t->count, 8);
    if (!previous)
        return ls__fail_oom(error, t->count * 8);
    cosim->trace_previous = previous;
    for (uint32_t k = 0; k < t->count; k++) {
        previous[k] = 0;
        for (uint32_t i = t->first[k]; i < t->first[k + 1]; i++) {
            const ls__trace_target *target = &t->targets[i];
            previous[k] |=
                take_bits(cosim->traced_words + target->word, target->shift, target->width)
                << target->from;
        }
    }
    return ls_buffer_write(cosim->changes, 0, LS_MEM_NONE, previous, (uint64_t)t->count * 8, error);
}
