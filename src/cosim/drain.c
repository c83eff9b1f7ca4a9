/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a submission has reported: changes of traced nodes, messages of the design, events of
 * peripherals. Delivered to the sink edge by edge, instance after instance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"

/* Reports of one instance, each list ascending by edge. */
typedef struct reports {
    const uint64_t *change, *change_end, *effect, *effect_end, *event, *event_end;
} reports;

static ls_status read_words(ls_buffer *buffer, uint64_t at, uint64_t count, const uint64_t **words,
                            uint64_t **room, uint64_t *capacity, ls_error *error)
{
    *words = NULL;
    if (count == 0)
        return LS_OK;
    if (count > *capacity) {
        uint64_t *more = ls__mem_realloc(*room, count * 2, sizeof *more);
        if (!more)
            return ls__fail_oom(error, count * 2 * sizeof *more);
        *room = more;
        *capacity = count * 2;
    }
    *words = *room;
    return ls_buffer_read(buffer, at * 8, LS_MEM_NONE, *room, count * 8, error);
}

static void take_part(ls_cosim *cosim, const ls__trace_target *target, uint64_t value)
{
    uint64_t mask = ls__node_mask(target->width), part = value >> target->from & mask;
    uint64_t *words = cosim->traced_words + target->word;
    uint32_t shift = target->shift;
    words[0] = (words[0] & ~(mask << shift)) | part << shift;
    if (shift + target->width > 64)
        words[1] = (words[1] & ~(mask >> (64 - shift))) | part >> (64 - shift);
    cosim->marks[target->traced / 64] |= UINT64_C(1) << target->traced % 64;
}

/* Puts the new value of a traced slot into the signals it is part of, and marks them. */
static void take_change(ls_cosim *cosim, uint32_t number, uint64_t value)
{
    const ls__traces *t = &cosim->form->traces;
    uint64_t differs = (value ^ cosim->trace_previous[number]) & t->masks[number];
    cosim->trace_previous[number] = value;
    if (t->starts_at[number] == LS__NO_STARTS) {
        for (uint32_t k = t->first[number]; k < t->first[number + 1]; k++)
            if (differs >> t->targets[k].from & ls__node_mask(t->targets[k].width))
                take_part(cosim, &t->targets[k], value);
        return;
    }
    const uint32_t *start = t->starts + t->starts_at[number];
    for (; differs; differs &= differs - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(differs);
        uint64_t now = value >> bit & 1;
        for (uint32_t k = start[bit]; k < start[bit + 1]; k++) {
            const ls__trace_target *target = &t->targets[k];
            uint64_t *word = cosim->traced_words + target->word;
            *word = (*word & ~(UINT64_C(1) << target->shift)) | now << target->shift;
            cosim->marks[target->traced / 64] |= UINT64_C(1) << target->traced % 64;
        }
    }
}

/* Lists what is marked, in ascending order, and clears the marks. */
static uint32_t collect_marks(ls_cosim *cosim)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word <= cosim->params.trace_count / 64; word++)
        for (uint64_t marks = cosim->marks[word]; marks; cosim->marks[word] = marks &= marks - 1)
            cosim->marked[count++] = word * 64 + (uint32_t)__builtin_ctzll(marks);
    return count;
}

static void deliver_changes(ls_cosim *cosim, reports *r)
{
    uint64_t edge = r->change[0] & INT64_MAX, pairs = r->change[1];
    for (uint64_t k = 0; k < pairs; k++)
        take_change(cosim, (uint32_t)r->change[2 + 2 * k], r->change[3 + 2 * k]);
    r->change += 2 + 2 * pairs;
    uint32_t count = collect_marks(cosim);
    if (count && cosim->params.sink.changes)
        cosim->params.sink.changes(cosim->params.sink.context, edge, cosim->marked, count);
}

static void deliver_effect(ls_cosim *cosim, uint32_t instance, reports *r)
{
    uint32_t words = (uint32_t)r->effect[0], number = (uint32_t)(r->effect[0] >> 32);
    const ls__graph_effect *effect = &cosim->graph->effects[number];
    ls__strbuf text = {0};
    ls__format_effect(cosim->graph, effect, r->effect[1], r->effect + 2, &text);
    ls_cosim_event event = {.type = (ls_event_kind)(LS_EVENT_PRINT + effect->kind),
                            .instance = instance,
                            .edge = r->effect[1],
                            .source = number,
                            .text = text.text ? text.text : ""};
    r->effect += words;
    if (cosim->params.sink.event)
        cosim->params.sink.event(cosim->params.sink.context, &event);
    ls__strbuf_finish(&text);
}

static void deliver_event(ls_cosim *cosim, uint32_t instance, reports *r)
{
    const uint64_t *record = r->event;
    ls_cosim_event event = {.type = LS_EVENT_PERIPHERAL,
                            .instance = instance,
                            .edge = record[LS__PERIPHERAL_RECORD_EDGE],
                            .source = (uint32_t)(record[LS__PERIPHERAL_RECORD_KIND] >> 32),
                            .kind = (uint32_t)record[LS__PERIPHERAL_RECORD_KIND],
                            .a = record[LS__PERIPHERAL_RECORD_A],
                            .b = record[LS__PERIPHERAL_RECORD_B],
                            .text = ""};
    r->event += LS__PERIPHERAL_RECORD_WORDS;
    if (cosim->params.sink.event)
        cosim->params.sink.event(cosim->params.sink.context, &event);
}

/* Edge by edge; of one edge changes, then messages, then events of peripherals. */
static void deliver(ls_cosim *cosim, uint32_t instance, reports r)
{
    for (;;) {
        uint64_t change = r.change < r.change_end ? r.change[0] & INT64_MAX : UINT64_MAX;
        uint64_t effect = r.effect < r.effect_end ? r.effect[1] : UINT64_MAX;
        uint64_t event = r.event < r.event_end ? r.event[LS__PERIPHERAL_RECORD_EDGE] : UINT64_MAX;
        if (change == UINT64_MAX && effect == UINT64_MAX && event == UINT64_MAX)
            return;
        if (change <= effect && change <= event)
            deliver_changes(cosim, &r);
        else if (effect <= event)
            deliver_effect(cosim, instance, &r);
        else
            deliver_event(cosim, instance, &r);
    }
}

/* Once a run: what is lost should not be lost in silence. */
static void warn_of_dropped(ls_cosim *cosim, uint32_t instance, uint64_t dropped)
{
    char message[160];
    if (!dropped || cosim->dropped_told || !cosim->params.log)
        return;
    cosim->dropped_told = true;
    snprintf(message, sizeof message,
             "instance %" PRIu32 ": a peripheral reports more than %d events at one edge; those "
             "beyond are dropped",
             instance, LS__PERIPHERAL_EVENTS);
    cosim->params.log(cosim->params.log_context, message);
}

static ls_status drain_instance(ls_cosim *cosim, uint32_t i, ls_error *error)
{
    uint64_t changes = cosim->control[ls__control_word(LS__SLOT_CHANGE_COUNT, i)];
    uint64_t effects = cosim->control[ls__control_word(LS__SLOT_EFFECT_COUNT, i)];
    uint64_t events = cosim->control[ls__control_word(LS__SLOT_LOG_COUNT, i)];
    if (i != cosim->params.trace_instance)
        changes = 0;
    if (!changes && !effects && !events)
        return LS_OK;
    events *= LS__PERIPHERAL_RECORD_WORDS;
    reports r = {0};
    ls_status status = read_words(cosim->changes, cosim->form->traces.count, changes, &r.change,
                                  &cosim->rings[0], &cosim->ring_words[0], error);
    if (status == LS_OK)
        status = read_words(cosim->effects, i * cosim->effect_words, effects, &r.effect,
                            &cosim->rings[1], &cosim->ring_words[1], error);
    uint64_t log = i * (cosim->log_records + 1) * LS__PERIPHERAL_RECORD_WORDS;
    if (status == LS_OK && events)
        status = read_words(cosim->log, log, LS__PERIPHERAL_LOG_RECORDS + events, &r.event,
                            &cosim->rings[2], &cosim->ring_words[2], error);
    if (status != LS_OK)
        return status;
    if (r.event) {
        warn_of_dropped(cosim, i, r.event[LS__PERIPHERAL_LOG_DROPPED]);
        r.event += LS__PERIPHERAL_LOG_RECORDS;
    }
    r.change_end = r.change ? r.change + changes : NULL;
    r.effect_end = r.effect ? r.effect + effects : NULL;
    r.event_end = r.event ? r.event + events : NULL;
    deliver(cosim, i, r);
    return LS_OK;
}

ls_status ls__drain(ls_cosim *cosim, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++)
        status = drain_instance(cosim, i, error);
    return status;
}
