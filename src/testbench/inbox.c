/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/inbox.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"

enum { WORD_WRITTEN = 0, WORD_TAKEN = 1, WORD_ENTRIES = 8, ENTRY_WORDS = 4 };

typedef struct value {
    uint64_t value, edge;
} value;

typedef struct ring { /* of one instance and peripheral */
    value *items;     /* those from `first` on wait */
    size_t first, count, capacity;
    uint32_t written; /* entries in all */
} ring;

struct ls__inbox {
    const ls__plan *plan;
    uint32_t instances;
    ring *rings; /* [instances * peripheral_count] */
    uint64_t waiting;
};

ls_status ls__inbox_create(const ls__plan *plan, uint32_t instances, ls__inbox **inbox,
                           ls_error *error)
{
    size_t count = (size_t)instances * plan->peripheral_count;
    *inbox = NULL;
    ls__inbox *in = ls__mem_alloc(1, sizeof *in);
    if (!in)
        return ls__fail_oom(error, sizeof *in);
    *in = (ls__inbox){.plan = plan, .instances = instances};
    in->rings = ls__mem_alloc(count, sizeof *in->rings);
    if (!in->rings) {
        ls__mem_free(in);
        return ls__fail_oom(error, count * sizeof *in->rings);
    }
    *inbox = in;
    return LS_OK;
}

void ls__inbox_destroy(ls__inbox **inbox)
{
    ls__inbox *in = *inbox;
    *inbox = NULL;
    if (!in)
        return;
    for (size_t i = 0; i < (size_t)in->instances * in->plan->peripheral_count; i++)
        ls__mem_free(in->rings[i].items);
    ls__mem_free(in->rings);
    ls__mem_free(in);
}

static ring *ring_of(const ls__inbox *in, uint32_t instance, uint32_t source)
{
    return &in->rings[(size_t)instance * in->plan->peripheral_count + source];
}

ls_status ls__inbox_put(ls__inbox *in, uint32_t instance, uint32_t source, uint64_t number,
                        uint64_t edge, ls_error *error)
{
    ring *r = ring_of(in, instance, source);
    if (r->first && r->first == r->count)
        r->first = r->count = 0;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 16;
        value *grown = ls__mem_realloc(r->items, capacity, sizeof *grown);
        if (!grown)
            return ls__fail_oom(error, capacity * sizeof *grown);
        r->items = grown;
        r->capacity = capacity;
    }
    r->items[r->count++] = (value){number, edge};
    in->waiting++;
    return LS_OK;
}

static ls_status write_words(ls_cosim *cosim, ls_cosim *other, uint32_t instance, uint32_t source,
                             uint32_t first, uint32_t count, const uint32_t *words, ls_error *error)
{
    ls_status status =
        ls_cosim_peripheral_write(cosim, instance, source, first, count, words, error);
    if (status == LS_OK && other)
        status = ls_cosim_peripheral_write(other, instance, source, first, count, words, error);
    return status;
}

static ls_status pump(ls__inbox *in, ring *r, ls_cosim *cosim, ls_cosim *other, uint32_t instance,
                      uint32_t source, uint64_t *until, ls_error *error)
{
    const ls__model *model = &in->plan->models[source];
    uint32_t taken, written = r->written;
    ls_status status =
        ls_cosim_peripheral_read(cosim, instance, source, WORD_TAKEN, 1, &taken, error);
    while (status == LS_OK && r->first < r->count && written - taken < model->queue) {
        const value *v = &r->items[r->first++];
        uint32_t words[ENTRY_WORDS] = {(uint32_t)v->edge, (uint32_t)(v->edge >> 32),
                                       (uint32_t)v->value, (uint32_t)(v->value >> 32)};
        uint32_t place = WORD_ENTRIES + (written & (model->queue - 1)) * ENTRY_WORDS;
        status = write_words(cosim, other, instance, source, place, ENTRY_WORDS, words, error);
        written++;
        in->waiting--;
    }
    if (status == LS_OK && written != r->written)
        status = write_words(cosim, other, instance, source, WORD_WRITTEN, 1, &written, error);
    r->written = written;
    if (status != LS_OK || r->first == r->count)
        return status;
    /* The ring is full: it is filled again before it can be empty, or when the next is due. */
    uint64_t edge = ls_cosim_edge(cosim, instance);
    uint64_t due = r->items[r->first].edge;
    uint64_t each = model->frame_edges ? model->frame_edges : 1;
    uint64_t limit = due > edge ? due : edge + 1 + (written - taken - 1) / 2 * each;
    *until = limit < *until ? limit : *until;
    return LS_OK;
}

ls_status ls__inbox_pump(ls__inbox *in, ls_cosim *cosim, ls_cosim *other, uint32_t instance,
                         uint64_t *until, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; in->waiting && status == LS_OK && i < in->plan->peripheral_count; i++) {
        ring *r = ring_of(in, instance, i);
        if (r->first < r->count)
            status = pump(in, r, cosim, other, instance, i, until, error);
    }
    return status;
}
