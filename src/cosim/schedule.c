/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What inputs do at which edge: the periodic schedule and queues of timed operations.
 *
 * The schedule on the device: a head for each edge of the period (place | operations << 32), then
 * operations of three words: input, mask, value. A patched edge whose operations do not fit in
 * their old place gets a new one at the end.
 *
 * Of a queue the device has the first operations (a window); a run goes no further than they reach.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"

enum { OPERATION = 3, TIMED = 4, MOST_EDGES = 1 << 24 };

static ls_status reserve_words(uint64_t **words, uint64_t *capacity, uint64_t needed,
                               ls_error *error)
{
    if (needed <= *capacity)
        return LS_OK;
    uint64_t grown = needed + needed / 2 + 64;
    uint64_t *more = ls__mem_realloc(*words, grown, sizeof **words);
    if (!more)
        return ls__fail_oom(error, grown * sizeof **words);
    *words = more;
    *capacity = grown;
    return LS_OK;
}

/* Appends the operations of one edge at the end of the schedule; *words of them. */
static ls_status append_edge(ls_cosim *cosim, const ls_edge_op *ops, uint32_t count,
                             uint64_t *words, ls_error *error)
{
    uint64_t start = cosim->schedule_count;
    for (uint32_t i = 0; i < count; i++) {
        ls__input_part parts[LS__INPUT_PARTS];
        uint32_t part_count;
        ls_status status = ls__input_parts(cosim->graph, ops[i].signal, parts, &part_count, error);
        if (status == LS_OK)
            status = reserve_words(&cosim->schedule_words, &cosim->schedule_capacity,
                                   cosim->schedule_count + part_count * OPERATION, error);
        if (status != LS_OK) {
            cosim->schedule_count = start;
            return status;
        }
        for (uint32_t k = 0; k < part_count; k++) {
            uint64_t *to = cosim->schedule_words + cosim->schedule_count;
            to[0] = parts[k].input;
            to[1] = parts[k].mask;
            to[2] = ls__input_value(&parts[k], ops[i].value);
            cosim->schedule_count += OPERATION;
        }
    }
    *words = cosim->schedule_count - start;
    return LS_OK;
}

static uint64_t head_of(uint64_t start, uint64_t words)
{
    return start | words / OPERATION << 32;
}

/* All heads and operations into the words of the cosim, which are empty. */
static ls_status build_schedule(ls_cosim *cosim, uint32_t period, const ls_edge_op *ops,
                                uint32_t op_count, ls_error *error)
{
    ls_status status =
        reserve_words(&cosim->schedule_words, &cosim->schedule_capacity, period, error);
    cosim->schedule_count = period;
    for (uint32_t edge = 0, next = 0; status == LS_OK && edge < period; edge++) {
        uint32_t end = next;
        while (end < op_count && ops[end].edge == edge)
            end++;
        uint64_t start = cosim->schedule_count, words = 0;
        status = append_edge(cosim, end > next ? ops + next : NULL, end - next, &words, error);
        if (status == LS_OK)
            cosim->schedule_words[edge] = head_of(start, words);
        next = end;
    }
    if (status == LS_OK && cosim->schedule_count > UINT32_MAX)
        status = ls__fail(error, LS_E_LIMIT, "the schedule has more than 2^32 words");
    return status;
}

ls_status ls_cosim_schedule(ls_cosim *cosim, uint32_t period, const ls_edge_op *ops,
                            uint32_t op_count, ls_error *error)
{
    if (!cosim || period == 0 || period > MOST_EDGES || (op_count && !ops))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "a schedule has a period of 1 to %d edges and its operations", MOST_EDGES);
    for (uint32_t i = 0; i < op_count; i++)
        if (ops[i].edge >= period || (i && ops[i].edge < ops[i - 1].edge))
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "operation %" PRIu32 " of the schedule is for edge %" PRIu32
                            ": edges must ascend and lie below the period, %" PRIu32,
                            i, ops[i].edge, period);
    uint64_t *old = cosim->schedule_words;
    uint64_t old_count = cosim->schedule_count, old_capacity = cosim->schedule_capacity;
    uint32_t *dirty = ls__mem_alloc(period, sizeof *dirty);
    cosim->schedule_words = NULL;
    cosim->schedule_count = cosim->schedule_capacity = 0;
    ls_status status = dirty ? build_schedule(cosim, period, ops, op_count, error)
                             : ls__fail_oom(error, period * sizeof *dirty);
    if (status != LS_OK) {
        ls__mem_free(cosim->schedule_words);
        ls__mem_free(dirty);
        cosim->schedule_words = old;
        cosim->schedule_count = old_count;
        cosim->schedule_capacity = old_capacity;
        return status;
    }
    ls__mem_free(old);
    ls__mem_free(cosim->dirty_edges);
    cosim->dirty_edges = dirty;
    cosim->dirty_count = 0;
    cosim->period = period;
    cosim->schedule_changed = true;
    return LS_OK;
}

ls_status ls_cosim_patch(ls_cosim *cosim, uint32_t edge, const ls_edge_op *ops, uint32_t op_count,
                         ls_error *error)
{
    if (!cosim || edge >= cosim->period || (op_count && !ops))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "edge %" PRIu32 " is not below the period",
                        edge);
    uint64_t start = cosim->schedule_count, words = 0;
    ls_status status = append_edge(cosim, ops, op_count, &words, error);
    if (status != LS_OK)
        return status;
    uint64_t head = cosim->schedule_words[edge];
    uint64_t place = head & UINT32_MAX;
    if (words <= (head >> 32) * OPERATION) {
        memmove(cosim->schedule_words + place, cosim->schedule_words + start,
                words * sizeof(uint64_t));
        cosim->schedule_count = start;
        start = place;
    }
    cosim->schedule_words[edge] = head_of(start, words);
    if (cosim->dirty_count == cosim->period)
        cosim->schedule_changed = true;
    else
        cosim->dirty_edges[cosim->dirty_count++] = edge;
    return LS_OK;
}

static ls_status upload_words(ls_cosim *cosim, uint64_t at, uint64_t count, ls_error *error)
{
    if (count == 0)
        return LS_OK;
    return ls_buffer_write(cosim->schedule, at * 8, LS_MEM_NONE, cosim->schedule_words + at,
                           count * 8, error);
}

ls_status ls__schedule_upload(ls_cosim *cosim, ls_error *error)
{
    if (cosim->schedule_count * 8 > ls_buffer_size(cosim->schedule)) {
        ls_buffer *bigger = NULL;
        ls_status status =
            ls__make_buffer(cosim, cosim->schedule_count * 16, "cosim schedule", &bigger, error);
        if (status != LS_OK)
            return status;
        ls_prepared_destroy(&cosim->prepared);
        ls_buffer_destroy(&cosim->schedule);
        cosim->schedule = bigger;
        cosim->schedule_changed = true;
    }
    ls_status status = LS_OK;
    if (cosim->schedule_changed)
        status = upload_words(cosim, 0, cosim->schedule_count, error);
    for (uint32_t i = 0; !cosim->schedule_changed && status == LS_OK && i < cosim->dirty_count;
         i++) {
        uint32_t edge = cosim->dirty_edges[i];
        uint64_t head = cosim->schedule_words[edge];
        status = upload_words(cosim, edge, 1, error);
        if (status == LS_OK)
            status = upload_words(cosim, head & UINT32_MAX, (head >> 32) * OPERATION, error);
    }
    if (status == LS_OK) {
        cosim->schedule_changed = false;
        cosim->dirty_count = 0;
    }
    return status;
}

/* --- timed operations ------------------------------------------------------------------------- */

static ls_status append_timed(const ls_cosim *cosim, ls__queue *queue, const ls_timed_op *ops,
                              uint64_t count, ls_error *error)
{
    uint64_t start = queue->count;
    for (uint64_t i = 0; i < count; i++) {
        ls__input_part parts[LS__INPUT_PARTS];
        uint32_t part_count = 0;
        uint64_t last = queue->count ? queue->words[(queue->count - 1) * TIMED] : 0;
        ls_status status = LS_OK;
        if (ops[i].edge < last)
            status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                              "operation %" PRIu64 " is for edge %" PRIu64
                              ", behind one for edge %" PRIu64,
                              i, ops[i].edge, last);
        if (status == LS_OK)
            status = ls__input_parts(cosim->graph, ops[i].signal, parts, &part_count, error);
        if (status == LS_OK)
            status = reserve_words(&queue->words, &queue->capacity,
                                   (queue->count + part_count) * TIMED, error);
        if (status != LS_OK) {
            queue->count = start;
            return status;
        }
        for (uint32_t k = 0; k < part_count; k++) {
            uint64_t *to = queue->words + queue->count++ * TIMED;
            to[0] = ops[i].edge;
            to[1] = parts[k].input;
            to[2] = parts[k].mask;
            to[3] = ls__input_value(&parts[k], ops[i].value);
        }
    }
    queue->changed = queue->changed || queue->count != start;
    return LS_OK;
}

ls_status ls_cosim_stimulus(ls_cosim *cosim, uint32_t instance, const ls_timed_op *ops,
                            uint64_t op_count, ls_error *error)
{
    if (!cosim || (op_count && !ops))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "cosim or ops is NULL");
    if (instance != LS_COSIM_ALL && instance >= cosim->instances)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no instance %" PRIu32, instance);
    for (uint32_t i = 0; op_count && i < cosim->instances; i++)
        if ((i == instance || instance == LS_COSIM_ALL) &&
            ops[0].edge < cosim->control[ls__control_word(LS__SLOT_EDGE, i)] &&
            cosim->control[ls__control_word(LS__SLOT_STOP, i)] != LS__STOP_FINISH)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "an operation for edge %" PRIu64 ", which instance %" PRIu32
                            " has done already",
                            ops[0].edge, i);
    return append_timed(cosim, instance == LS_COSIM_ALL ? &cosim->shared : &cosim->own[instance],
                        ops, op_count, error);
}

static void drop_front(ls__queue *queue, uint64_t count)
{
    memmove(queue->words, queue->words + count * TIMED,
            (queue->count - count) * TIMED * sizeof(uint64_t));
    queue->count -= count;
    queue->uploaded -= count < queue->uploaded ? count : queue->uploaded;
}

/* Whether the window must move on: there is more behind it, and half of it is done, or it is in the
 * way. */
static bool is_stale(const ls__queue *queue, uint64_t done, uint64_t capacity, uint64_t edge)
{
    if (queue->changed && queue->uploaded - done < capacity)
        return true;
    return queue->uploaded < queue->count &&
           (done >= (capacity + 1) / 2 || queue->words[queue->uploaded * TIMED] <= edge);
}

static ls_status write_queue(ls_cosim *cosim, ls__queue *queue, uint64_t at, uint64_t capacity,
                             ls_error *error)
{
    queue->uploaded = queue->count < capacity ? queue->count : capacity;
    queue->changed = false;
    if (queue->uploaded == 0)
        return LS_OK;
    return ls_buffer_write(cosim->stimulus, at * TIMED * 8, LS_MEM_NONE, queue->words,
                           queue->uploaded * TIMED * 8, error);
}

/* A slot of all instances, as it is in `control`. */
static ls_status write_slots(ls_cosim *cosim, uint32_t slot, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++)
        status = ls_buffer_write(cosim->state, ls__state_word(cosim, slot, i) * 8, LS_MEM_NONE,
                                 &cosim->control[ls__control_word(slot, i)], 8, error);
    return status;
}

static bool is_finished(const ls_cosim *cosim, uint32_t instance)
{
    return cosim->control[ls__control_word(LS__SLOT_STOP, instance)] == LS__STOP_FINISH;
}

static ls_status upload_shared(ls_cosim *cosim, uint64_t *limit, ls_error *error)
{
    ls__queue *queue = &cosim->shared;
    if (queue->count == 0)
        return LS_OK;
    uint64_t done = queue->uploaded, edge = UINT64_MAX;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        if (is_finished(cosim, i))
            continue;
        uint64_t its = cosim->control[ls__control_word(LS__SLOT_EDGE, i)];
        uint64_t next = cosim->control[ls__control_word(LS__SLOT_SHARED_NEXT, i)];
        done = next < done ? next : done;
        edge = its < edge ? its : edge;
    }
    if (is_stale(queue, done, cosim->shared_capacity, edge)) {
        drop_front(queue, done);
        for (uint32_t i = 0; i < cosim->instances; i++) {
            uint64_t *next = &cosim->control[ls__control_word(LS__SLOT_SHARED_NEXT, i)];
            *next -= *next < done ? *next : done;
        }
        ls_status status = write_queue(cosim, queue, 0, cosim->shared_capacity, error);
        if (status == LS_OK)
            status = write_slots(cosim, LS__SLOT_SHARED_NEXT, error);
        if (status != LS_OK)
            return status;
    }
    if (queue->uploaded < queue->count && queue->words[queue->uploaded * TIMED] < *limit)
        *limit = queue->words[queue->uploaded * TIMED];
    return LS_OK;
}

static ls_status upload_own(ls_cosim *cosim, uint64_t *limit, ls_error *error)
{
    bool changed = false;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        ls__queue *queue = &cosim->own[i];
        if (queue->count == 0 || is_finished(cosim, i))
            continue;
        uint64_t at = cosim->shared_capacity + i * cosim->own_capacity;
        uint64_t *next = &cosim->control[ls__control_word(LS__SLOT_OWN_NEXT, i)];
        uint64_t done = *next - at;
        if (is_stale(queue, done, cosim->own_capacity,
                     cosim->control[ls__control_word(LS__SLOT_EDGE, i)])) {
            drop_front(queue, done);
            ls_status status = write_queue(cosim, queue, at, cosim->own_capacity, error);
            if (status != LS_OK)
                return status;
            *next = at;
            cosim->control[ls__control_word(LS__SLOT_OWN_END, i)] = at + queue->uploaded;
            changed = true;
        }
        if (queue->uploaded < queue->count && queue->words[queue->uploaded * TIMED] < *limit)
            *limit = queue->words[queue->uploaded * TIMED];
    }
    if (!changed)
        return LS_OK;
    ls_status status = write_slots(cosim, LS__SLOT_OWN_NEXT, error);
    return status == LS_OK ? write_slots(cosim, LS__SLOT_OWN_END, error) : status;
}

ls_status ls__queue_drop(ls_cosim *cosim, uint32_t instance, ls_error *error)
{
    uint64_t at = cosim->shared_capacity + instance * cosim->own_capacity;
    ls__queue *queue = &cosim->own[instance];
    queue->count = queue->uploaded = 0;
    queue->changed = false;
    cosim->control[ls__control_word(LS__SLOT_OWN_NEXT, instance)] = at;
    cosim->control[ls__control_word(LS__SLOT_OWN_END, instance)] = at;
    ls_status status = write_slots(cosim, LS__SLOT_OWN_NEXT, error);
    return status == LS_OK ? write_slots(cosim, LS__SLOT_OWN_END, error) : status;
}

/* Operations at the front of a queue that are for one edge: they must be in the window together. */
static uint64_t front_of(const ls__queue *queue)
{
    uint64_t count = 0;
    while (count < queue->count && queue->words[count * TIMED] == queue->words[0])
        count++;
    return count;
}

static ls_status make_stimulus(ls_cosim *cosim, ls_error *error)
{
    uint64_t operations = cosim->shared_capacity + cosim->instances * cosim->own_capacity;
    if (operations > UINT32_MAX)
        return ls__fail(error, LS_E_LIMIT, "too many instances, or operations for one edge");
    ls_prepared_destroy(&cosim->prepared);
    ls_buffer_destroy(&cosim->stimulus);
    return ls__make_buffer(cosim, operations * TIMED * 8, "cosim stimulus", &cosim->stimulus,
                           error);
}

/* Makes room when operations for one edge do not fit in a window. All queues start anew. */
static ls_status grow_windows(ls_cosim *cosim, ls_error *error)
{
    uint64_t shared = front_of(&cosim->shared), own = 0;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        uint64_t front = front_of(&cosim->own[i]);
        own = front > own ? front : own;
    }
    if (shared <= cosim->shared_capacity && own <= cosim->own_capacity)
        return LS_OK;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        uint64_t *next = &cosim->control[ls__control_word(LS__SLOT_OWN_NEXT, i)];
        uint64_t done = *next - cosim->shared_capacity - i * cosim->own_capacity;
        uint64_t shared_next = cosim->control[ls__control_word(LS__SLOT_SHARED_NEXT, i)];
        drop_front(&cosim->own[i], cosim->own[i].count ? done : 0);
        if (!is_finished(cosim, i) && shared_next < first)
            first = shared_next;
    }
    first = first == UINT64_MAX ? 0 : first;
    drop_front(&cosim->shared, first);
    cosim->shared_capacity =
        2 * (shared > cosim->shared_capacity ? shared : cosim->shared_capacity);
    cosim->own_capacity = 2 * (own > cosim->own_capacity ? own : cosim->own_capacity);
    ls_status status = make_stimulus(cosim, error);
    if (status == LS_OK)
        status = write_queue(cosim, &cosim->shared, 0, cosim->shared_capacity, error);
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++) {
        uint64_t at = cosim->shared_capacity + i * cosim->own_capacity;
        status = write_queue(cosim, &cosim->own[i], at, cosim->own_capacity, error);
        cosim->control[ls__control_word(LS__SLOT_OWN_NEXT, i)] = at;
        cosim->control[ls__control_word(LS__SLOT_OWN_END, i)] = at + cosim->own[i].uploaded;
        cosim->control[ls__control_word(LS__SLOT_SHARED_NEXT, i)] -= first;
    }
    for (uint32_t slot = LS__SLOT_OWN_NEXT; status == LS_OK && slot <= LS__SLOT_SHARED_NEXT; slot++)
        status = write_slots(cosim, slot, error);
    return status;
}

ls_status ls__stimulus_upload(ls_cosim *cosim, uint64_t *limit, ls_error *error)
{
    ls_status status = grow_windows(cosim, error);
    if (status == LS_OK)
        status = upload_shared(cosim, limit, error);
    return status == LS_OK ? upload_own(cosim, limit, error) : status;
}

ls_status ls__stimulus_create(ls_cosim *cosim, ls_error *error)
{
    cosim->shared_capacity = 4096;
    cosim->own_capacity = cosim->instances > 16 ? 256 : 4096;
    cosim->own = ls__mem_alloc(cosim->instances, sizeof *cosim->own);
    if (!cosim->own)
        return ls__fail_oom(error, cosim->instances * sizeof *cosim->own);
    return make_stimulus(cosim, error);
}

/* --- watched events --------------------------------------------------------------------------- */

ls_status ls_cosim_watch(ls_cosim *cosim, uint32_t instance, uint32_t source, uint32_t kind,
                         uint64_t a, ls_error *error)
{
    if (!cosim || (instance != LS_COSIM_ALL && instance >= cosim->instances))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no such instance");
    if (source != UINT32_MAX && source >= cosim->peripherals->count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no peripheral %" PRIu32, source);
    const uint64_t values[] = {source == UINT32_MAX ? UINT64_MAX : source, kind, a};
    for (uint32_t i = 0; i < cosim->instances; i++)
        for (uint32_t k = 0; k < 3 && (i == instance || instance == LS_COSIM_ALL); k++)
            cosim->control[ls__control_word(LS__SLOT_WATCH_SOURCE + k, i)] = values[k];
    ls_status status = LS_OK;
    for (uint32_t k = 0; k < 3 && status == LS_OK; k++)
        status = write_slots(cosim, LS__SLOT_WATCH_SOURCE + k, error);
    return status;
}
