/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"

enum { COMPAT_BATCH = 1024 };
#define MAX_REFERENCE_BYTES (UINT64_C(1) << 30)

typedef struct event {
    uint64_t edge, time, stamp; /* stamp: what files show */
    uint64_t a, b;
    uint32_t instance, source, kind;
} event;

struct ls__events {
    const ls__plan *plan;
    bool compat;
    uint32_t instances;
    uint64_t (*time_of)(void *context, uint64_t edge);
    void *context;
    uint64_t single_until; /* batches of one edge up to here */
    event *items;
    size_t count, capacity;
    uint64_t *counts; /* [instances] */
    bool failed;      /* memory ran out: events are missing */
};

/* --- names and payloads ----------------------------------------------------------------------- */

typedef struct naming {
    ls__model_kind model;
    uint32_t kind;
    const char *name;
    bool in_compat;
} naming;

static const naming namings[] = {
    {LS__MODEL_UART_TX, 1, "tx", true},
    {LS__MODEL_UART_TX, 2, "framing_error", false},
    {LS__MODEL_UART_TX, 3, "parity_error", false},
    {LS__MODEL_UART_RX, 1, "rx", false},
    {LS__MODEL_FLASH, 1, "unknown_command", false},
    {LS__MODEL_FLASH, 2, "full", false},
    {LS__MODEL_FLASH, 3, "transfer", false},
    {LS__MODEL_GPIO, 1, "change", true},
    {LS__MODEL_JTAG, 1, "tdo", false},
    {LS__MODEL_JTAG, 2, "end", false},
    {LS__MODEL_BUS, 1, "read", false},
    {LS__MODEL_BUS, 2, "write", false},
    {LS__MODEL_BUS, 3, "read_error", false},
    {LS__MODEL_BUS, 4, "write_error", false},
};
enum { NAMINGS = sizeof namings / sizeof *namings };

/* Of an AHB transfer, which is eight times as much in the number of its event. */
static const char *const bursts[] = {"SINGLE", "INCR",  "WRAP4",  "INCR4",
                                     "WRAP8",  "INCR8", "WRAP16", "INCR16"};

static bool has_bursts(const ls__model *model)
{
    return model->kind == LS__MODEL_BUS && strncmp(model->protocol, "ahb", 3) == 0;
}

/* How events are called in files; NULL where one is not shown there. */
static const char *event_name(const ls__model *model, uint32_t kind, bool compat, char buffer[32])
{
    uint32_t named = model->kind == LS__MODEL_BUS ? kind % 8 : kind;
    for (uint32_t i = 0; i < model->event_count; i++)
        if (model->events[i].kind == kind)
            return model->events[i].name;
    for (size_t i = 0; i < NAMINGS; i++)
        if (namings[i].model == model->kind && namings[i].kind == named)
            return compat && !namings[i].in_compat ? NULL : namings[i].name;
    snprintf(buffer, 32, "event%u", kind);
    return buffer;
}

static json_t *bits_text(uint64_t value, uint32_t count)
{
    char text[65];
    if (count > 64)
        count = 64;
    for (uint32_t i = 0; i < count; i++)
        text[i] = (char)('0' + (value >> (count - 1 - i) & 1));
    return json_stringn(text, count);
}

json_t *ls__event_payload(const ls__model *model, uint32_t kind, uint64_t a, uint64_t b)
{
    if (model->kind == LS__MODEL_GPIO)
        return bits_text(a, model->watched_count);
    if (has_bursts(model))
        return json_pack("{s:I, s:I, s:s}", "addr", (json_int_t)a, "data", (json_int_t)b, "burst",
                         bursts[kind / 8 % 8]);
    if (model->kind == LS__MODEL_BUS)
        return json_pack("{s:I, s:I}", "addr", (json_int_t)a, "data", (json_int_t)b);
    if (model->kind == LS__MODEL_FLASH && kind == 3)
        return json_pack("{s:I, s:I, s:I}", "command", (json_int_t)(a & 255), "address",
                         (json_int_t)(a >> 8), "bytes", (json_int_t)b);
    if (model->kind == LS__MODEL_OTHER && b)
        return json_pack("[I, I]", (json_int_t)a, (json_int_t)b);
    return json_integer((json_int_t)a);
}

static uint64_t first_value(const ls__model *model, uint32_t kind, const json_t *payload)
{
    if (json_is_string(payload))
        return strtoull(json_string_value(payload), NULL, 2);
    if (json_is_array(payload))
        return (uint64_t)json_integer_value(json_array_get(payload, 0));
    if (model->kind == LS__MODEL_FLASH && kind == 3)
        return (uint64_t)json_integer_value(json_object_get(payload, "command")) |
               (uint64_t)json_integer_value(json_object_get(payload, "address")) << 8;
    if (json_is_object(payload))
        return (uint64_t)json_integer_value(json_object_get(payload, "addr"));
    return (uint64_t)json_integer_value(payload);
}

bool ls__event_find(const ls__model *model, const char *name, const json_t *payload, uint32_t *kind,
                    uint64_t *a)
{
    char *end;
    bool found = false;
    for (uint32_t i = 0; i < model->event_count && !found; i++)
        if (strcmp(model->events[i].name, name) == 0) {
            *kind = model->events[i].kind;
            found = true;
        }
    for (size_t i = 0; i < NAMINGS && !found; i++)
        if (namings[i].model == model->kind && strcmp(namings[i].name, name) == 0) {
            *kind = namings[i].kind;
            found = true;
        }
    if (!found && strncmp(name, "event", 5) == 0 && name[5] >= '0' && name[5] <= '9') {
        *kind = (uint32_t)strtoul(name + 5, &end, 10);
        found = *end == 0;
    }
    const char *burst = json_string_value(json_object_get(payload, "burst"));
    for (uint32_t i = 0; found && burst && has_bursts(model) && i < 8; i++)
        if (strcmp(bursts[i], burst) == 0)
            *kind += 8 * i;
    if (found)
        *a = first_value(model, *kind, payload);
    return found;
}

/* --- keeping ---------------------------------------------------------------------------------- */

ls_status ls__events_create(const ls__plan *plan, uint32_t instances, bool compat,
                            uint64_t (*time_of)(void *context, uint64_t edge), void *context,
                            ls__events **events, ls_error *error)
{
    *events = NULL;
    ls__events *e = ls__mem_alloc(1, sizeof *e);
    if (!e)
        return ls__fail_oom(error, sizeof *e);
    *e = (ls__events){.plan = plan,
                      .compat = compat,
                      .instances = instances,
                      .time_of = time_of,
                      .context = context};
    e->counts = ls__mem_alloc(instances, sizeof *e->counts);
    if (!e->counts) {
        ls__mem_free(e);
        return ls__fail_oom(error, instances * sizeof *e->counts);
    }
    /* While JTAG is replayed, compat has batches of one edge. */
    for (uint32_t i = 0; i < plan->peripheral_count; i++)
        if (plan->models[i].kind == LS__MODEL_JTAG)
            e->single_until = UINT64_MAX;
    *events = e;
    return LS_OK;
}

void ls__events_destroy(ls__events **events)
{
    ls__events *e = *events;
    *events = NULL;
    if (!e)
        return;
    ls__mem_free(e->counts);
    ls__mem_free(e->items);
    ls__mem_free(e);
}

void ls__events_single_until(ls__events *e, uint64_t edge)
{
    e->single_until = edge > e->single_until ? edge : e->single_until;
}

static uint64_t stamp_of(const ls__events *e, uint64_t edge)
{
    uint64_t base = edge >= e->plan->reset_edges ? e->plan->reset_edges : 0;
    if (!e->compat)
        return edge;
    if (edge < e->single_until)
        return edge;
    base = e->single_until > base ? e->single_until : base;
    return base + (edge - base) / COMPAT_BATCH * COMPAT_BATCH;
}

void ls__events_add(ls__events *e, const ls_cosim_event *from)
{
    if (e->count == e->capacity && !e->failed) {
        size_t capacity = e->capacity ? e->capacity * 2 : 256;
        event *grown = ls__mem_realloc(e->items, capacity, sizeof *grown);
        if (grown) {
            e->items = grown;
            e->capacity = capacity;
        } else {
            e->failed = true;
        }
    }
    e->counts[from->instance]++;
    if (e->plan->models[from->source].kind == LS__MODEL_JTAG && from->kind == 2)
        e->single_until = from->edge + 1;
    if (e->failed)
        return;
    e->items[e->count++] = (event){.edge = from->edge,
                                   .time = e->time_of(e->context, from->edge),
                                   .stamp = stamp_of(e, from->edge),
                                   .a = from->a,
                                   .b = from->b,
                                   .instance = from->instance,
                                   .source = from->source,
                                   .kind = from->kind};
}

uint64_t ls__events_count(const ls__events *e, uint32_t instance)
{
    return instance == LS_COSIM_ALL ? e->count : e->counts[instance];
}

/* --- files ------------------------------------------------------------------------------------ */

/* The order of files: by edge (compat: by batch, and in a batch by peripheral), then instance. */
typedef struct ordered {
    const event *event;
    bool compat;
} ordered;

static int compare_ordered(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    const event *p = x->event, *q = y->event;
    if (p->stamp != q->stamp)
        return p->stamp < q->stamp ? -1 : 1;
    if (p->instance != q->instance)
        return p->instance < q->instance ? -1 : 1;
    if (x->compat && p->source != q->source)
        return p->source < q->source ? -1 : 1;
    return p < q ? -1 : p > q; /* as they came */
}

static ls_status sort(const ls__events *e, uint32_t instance, ordered **list, size_t *count,
                      ls_error *error)
{
    *count = 0;
    *list = ls__mem_alloc(e->count, sizeof **list);
    if (!*list || e->failed)
        return ls__fail_oom(error, (e->count + 1) * sizeof **list);
    for (size_t i = 0; i < e->count; i++)
        if (instance == LS_COSIM_ALL || e->items[i].instance == instance)
            (*list)[(*count)++] = (ordered){&e->items[i], e->compat};
    if (*count)
        qsort(*list, *count, sizeof **list, compare_ordered);
    return LS_OK;
}

static void append_json(ls__strbuf *out, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (text)
        ls__strbuf_append(out, text, strlen(text));
    else
        out->failed = true;
    free(text);
    json_decref(value);
}

static void append_event(const ls__events *e, const event *v, bool with_instance, ls__strbuf *out)
{
    char buffer[32];
    const ls__model *model = &e->plan->models[v->source];
    const char *name = event_name(model, v->kind, e->compat, buffer);
    ls__strbuf_printf(out, "\n    {\n      \"timestamp\": %llu,", (unsigned long long)v->stamp);
    if (!e->compat)
        ls__strbuf_printf(out, "\n      \"time_ps\": %llu,", (unsigned long long)v->time);
    if (with_instance)
        ls__strbuf_printf(out, "\n      \"instance\": %u,", v->instance);
    ls__strbuf_printf(out, "\n      \"peripheral\": ");
    append_json(out, json_string(model->name));
    ls__strbuf_printf(out, ",\n      \"event\": ");
    append_json(out, json_string(name));
    ls__strbuf_printf(out, ",\n      \"payload\": ");
    append_json(out, ls__event_payload(model, v->kind, v->a, v->b));
    ls__strbuf_printf(out, "\n    }");
}

static ls_status write_text(const char *path, const ls__strbuf *text, ls_error *error)
{
    if (text->failed)
        return ls__fail_oom(error, text->capacity);
    return ls__os_write_file(path, text->text, text->length, error);
}

ls_status ls__events_write(const ls__events *e, const char *path, uint32_t instance,
                           ls_error *error)
{
    ordered *list;
    size_t count;
    char buffer[32];
    bool first = true;
    ls__strbuf out = {0};
    ls_status status = sort(e, instance, &list, &count, error);
    ls__strbuf_printf(&out, "{\n  \"events\": [");
    for (size_t i = 0; status == LS_OK && i < count; i++) {
        const event *v = list[i].event;
        if (!event_name(&e->plan->models[v->source], v->kind, e->compat, buffer))
            continue;
        if (!first)
            ls__strbuf_append(&out, ",", 1);
        first = false;
        append_event(e, v, instance == LS_COSIM_ALL && e->instances > 1, &out);
    }
    ls__strbuf_printf(&out, first ? "]\n}" : "\n  ]\n}");
    if (status == LS_OK)
        status = write_text(path, &out, error);
    ls__strbuf_finish(&out);
    ls__mem_free(list);
    return status;
}

ls_status ls__events_write_buses(const ls__events *e, const char *path, uint32_t instance,
                                 ls_error *error)
{
    ls__strbuf out = {0};
    ls__strbuf_printf(&out, "tick,bus,protocol,dir,addr,data,resp,burst\n");
    for (size_t i = 0; i < e->count; i++) {
        const event *v = &e->items[i];
        const ls__model *model = &e->plan->models[v->source];
        if (v->instance != instance || model->kind != LS__MODEL_BUS)
            continue;
        ls__strbuf_printf(&out, "%llu,%s,%s,%s,0x%llX,0x%llX,%s,%s\n", (unsigned long long)v->edge,
                          model->name, model->protocol, v->kind % 2 ? "RD" : "WR",
                          (unsigned long long)v->a, (unsigned long long)v->b,
                          v->kind % 8 > 2 ? "ERR" : "OK",
                          has_bursts(model) ? bursts[v->kind / 8 % 8] : "");
    }
    ls_status status = e->failed ? ls__fail_oom(error, e->count) : write_text(path, &out, error);
    ls__strbuf_finish(&out);
    return status;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool is_byte(const json_t *payload)
{
    return json_is_integer(payload) && json_integer_value(payload) >= 0 &&
           json_integer_value(payload) <= 255;
}

/* The next of our events from *at on that carries a byte and is of the reference's kind. */
static const event *next_byte(const ls__events *e, const ordered *list, size_t count, size_t *at,
                              const char *peripheral, const char *name)
{
    char buffer[32];
    for (; *at < count; ++*at) {
        const event *v = list[*at].event;
        const ls__model *model = &e->plan->models[v->source];
        const char *shown = event_name(model, v->kind, e->compat, buffer);
        json_t *payload = shown ? ls__event_payload(model, v->kind, v->a, v->b) : NULL;
        bool is_one = payload && is_byte(payload);
        json_decref(payload);
        if (!is_one)
            continue;
        if (e->compat || (strcmp(model->name, peripheral) == 0 && strcmp(shown, name) == 0)) {
            ++*at;
            return v;
        }
    }
    return NULL;
}

/* Where the sequence of one peripheral and event stands: by its first event in the file. */
typedef struct sequence {
    const char *peripheral, *name;
    size_t at, number;
} sequence;

static sequence *sequence_of(sequence *all, size_t *count, const char *peripheral, const char *name,
                             bool is_one)
{
    for (size_t i = 0; i < *count; i++)
        if (is_one ||
            (strcmp(all[i].peripheral, peripheral) == 0 && strcmp(all[i].name, name) == 0))
            return &all[i];
    if (*count == 256)
        return NULL;
    all[*count] = (sequence){peripheral, name, 0, 0};
    return &all[(*count)++];
}

static void compare_all(const ls__events *e, const ordered *list, size_t count,
                        const json_t *reference, char mismatch[256])
{
    sequence sequences[256];
    size_t sequence_count = 0, index;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)reference, index, item)
    {
        const char *peripheral = json_string_value(json_object_get(item, "peripheral"));
        const char *name = json_string_value(json_object_get(item, "event"));
        const json_t *payload = json_object_get(item, "payload");
        if (!peripheral || !name || !is_byte(payload))
            continue;
        sequence *s = sequence_of(sequences, &sequence_count, peripheral, name, e->compat);
        if (!s)
            continue;
        const event *v = next_byte(e, list, count, &s->at, peripheral, name);
        s->number++;
        long long expected = (long long)json_integer_value(payload);
        if (v && v->a == (uint64_t)expected)
            continue;
        if (v)
            snprintf(mismatch, 256,
                     "event %zu of %s %s is %llu (edge %llu), but %lld in the reference", s->number,
                     peripheral, name, (unsigned long long)v->a, (unsigned long long)v->edge,
                     expected);
        else
            snprintf(mismatch, 256, "event %zu of %s %s is missing: %lld in the reference",
                     s->number, peripheral, name, expected);
        return;
    }
}

ls_status ls__events_read(const char *path, json_t **root, ls_error *error)
{
    void *text;
    size_t size;
    json_error_t fault;
    *root = NULL;
    ls_status status = ls__os_read_file(path, MAX_REFERENCE_BYTES, &text, &size, error);
    if (status != LS_OK)
        return status;
    *root = json_loadb(text, size, 0, &fault);
    ls__mem_free(text);
    if (json_is_array(json_object_get(*root, "events")))
        return LS_OK;
    if (*root)
        ls__fail(error, LS_E_FORMAT, "%s is no file of events: .events must be an array", path);
    else
        ls__fail(error, LS_E_FORMAT, "%s:%d:%d: %s", path, fault.line, fault.column, fault.text);
    json_decref(*root);
    *root = NULL;
    return LS_E_FORMAT;
}

ls_status ls__events_compare(const ls__events *e, const json_t *root, uint32_t instance,
                             char mismatch[256], ls_error *error)
{
    size_t count;
    ordered *list = NULL;
    mismatch[0] = 0;
    ls_status status = sort(e, instance, &list, &count, error);
    if (status == LS_OK)
        compare_all(e, list, count, json_object_get(root, "events"), mismatch);
    ls__mem_free(list);
    return status;
}
