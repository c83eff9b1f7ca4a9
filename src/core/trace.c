/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: events are kept in memory and written as JSON trace events when the trace ends.
 *
 * A device is a process of the trace. Its threads: 1 submissions (queued and running, host time), 2
 * commands in host time where the host ran them, 3 commands in device time where it was measured.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/queue.h"

typedef enum track { TRACK_SUBMISSIONS = 1, TRACK_COMMANDS, TRACK_DEVICE } track;

typedef struct event {
    track track;
    char name[64];
    uint64_t begin_ns, duration_ns;
    uint32_t command, iteration, node;
    uint64_t lanes, bytes;
    ls_outcome outcome; /* submissions */
    uint64_t queued_ns;
} event;

struct ls__trace {
    uint64_t begun_ns;
    event *events;
    size_t count, capacity;
    bool failed; /* memory ran out: the trace would have holes */
};

/* --- recording -------------------------------------------------------------------------------- */
bool ls__trace_active(ls_device *device)
{
    pthread_mutex_lock(&device->lock);
    bool active = device->trace != NULL;
    pthread_mutex_unlock(&device->lock);
    return active;
}

static void add(ls__trace *trace, const event *e)
{
    if (trace->count == trace->capacity && !trace->failed) {
        size_t capacity = trace->capacity ? trace->capacity * 2 : 256;
        event *grown = ls__mem_realloc(trace->events, capacity, sizeof *grown);
        if (grown) {
            trace->events = grown;
            trace->capacity = capacity;
        } else {
            trace->failed = true;
        }
    }
    if (!trace->failed)
        trace->events[trace->count++] = *e;
}

/* Cuts between two UTF-8 characters. */
static void set_name(event *e, const char *name)
{
    size_t length = strlen(name);
    if (length >= sizeof e->name) {
        length = sizeof e->name - 1;
        while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(e->name, name, length);
    e->name[length] = 0;
}

static void add_row(ls__trace *trace, const ls__submission *s, const ls__job_row *row,
                    uint64_t *device_now)
{
    const ls__record *record = s->plan->records[row->command];
    event e = {
        .track = TRACK_COMMANDS,
        .begin_ns = row->host_begin_ns,
        .duration_ns = row->host_end_ns - row->host_begin_ns,
        .command = row->command,
        .iteration = row->iteration,
        .node = record->tag.node,
        .lanes = row->lanes,
        .bytes = record->kind == LS__COMMAND_DISPATCH ? 0 : record->uses[0].size,
    };
    set_name(&e, record->tag.label ? record->tag.label
                 : record->kernel  ? record->kernel->info.name
                                   : ls__command_name(record->kind));
    if (row->host_end_ns)
        add(trace, &e);
    if (row->measured) {
        e.track = TRACK_DEVICE;
        e.begin_ns = *device_now;
        e.duration_ns = row->device_ns;
        *device_now += row->device_ns;
        add(trace, &e);
    }
}

void ls__trace_submission(const ls__submission *s, const ls_receipt *receipt)
{
    ls_device *device = s->device;
    pthread_mutex_lock(&device->lock);
    ls__trace *trace = device->trace;
    if (trace) {
        uint64_t end = s->enqueued_ns + receipt->queued_ns + receipt->execution_host_ns;
        uint64_t device_now = s->begun_ns;
        event e = {
            .track = TRACK_SUBMISSIONS,
            .begin_ns = end - receipt->execution_host_ns,
            .duration_ns = receipt->execution_host_ns,
            .outcome = receipt->outcome,
            .queued_ns = receipt->queued_ns,
        };
        set_name(&e, s->is_prepared ? "prepared batch" : "batch");
        add(trace, &e);
        for (uint64_t i = 0; s->rows && i < s->row_count; i++)
            add_row(trace, s, &s->rows[i], &device_now);
    }
    pthread_mutex_unlock(&device->lock);
}

static void trace_free(ls__trace *trace)
{
    if (!trace)
        return;
    ls__mem_free(trace->events);
    ls__mem_free(trace);
}

static ls__trace *detach(ls_device *device)
{
    pthread_mutex_lock(&device->lock);
    ls__trace *trace = device->trace;
    device->trace = NULL;
    pthread_mutex_unlock(&device->lock);
    return trace;
}

void ls__trace_abandon(ls_device *device)
{
    trace_free(detach(device));
}

ls_status ls_trace_begin(ls_device *device, ls_error *error)
{
    if (!device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_trace_begin: no device was given");
    ls__trace *trace = ls__mem_alloc(1, sizeof *trace);
    if (!trace)
        return ls__fail_oom(error, sizeof *trace);
    trace->begun_ns = ls__os_now_ns();
    pthread_mutex_lock(&device->lock);
    bool busy = device->trace != NULL;
    if (!busy)
        device->trace = trace;
    pthread_mutex_unlock(&device->lock);
    if (!busy)
        return LS_OK;
    trace_free(trace);
    return ls__fail(error, LS_E_STATE, "device '%s' is being traced already", device->name);
}

/* --- writing ---------------------------------------------------------------------------------- */
static const char *outcome_name(ls_outcome outcome)
{
    switch (outcome) {
    case LS_PENDING:
        return "pending";
    case LS_SUCCEEDED:
        return "succeeded";
    case LS_FAILED_QUIESCENT:
        return "failed but quiescent";
    case LS_INDETERMINATE:
        return "indeterminate";
    }
    return "?";
}

static json_t *event_json(const ls__trace *trace, const ls_device *device, const event *e)
{
    double begin =
        e->begin_ns > trace->begun_ns ? (double)(e->begin_ns - trace->begun_ns) / 1e3 : 0;
    json_t *arguments;
    if (e->track == TRACK_SUBMISSIONS)
        arguments = json_pack("{s:s, s:f}", "outcome", outcome_name(e->outcome), "queued_us",
                              (double)e->queued_ns / 1e3);
    else
        arguments = json_pack("{s:I, s:I, s:I, s:I, s:I}", "command", (json_int_t)e->command,
                              "iteration", (json_int_t)e->iteration, "node", (json_int_t)e->node,
                              "lanes", (json_int_t)e->lanes, "bytes", (json_int_t)e->bytes);
    json_t *name = json_string(e->name);
    if (!name)
        name = json_string("?"); /* a label that is no UTF-8 */
    return json_pack("{s:o, s:s, s:s, s:f, s:f, s:I, s:i, s:o}", "name", name, "cat",
                     e->track == TRACK_SUBMISSIONS ? "submission" : "command", "ph", "X", "ts",
                     begin, "dur", (double)e->duration_ns / 1e3, "pid", (json_int_t)device->number,
                     "tid", (int)e->track, "args", arguments);
}

/* Names of the device and of its tracks. */
static json_t *metadata_json(const ls_device *device, const char *kind, int thread,
                             const char *name)
{
    return json_pack("{s:s, s:s, s:I, s:i, s:{s:s}}", "name", kind, "ph", "M", "pid",
                     (json_int_t)device->number, "tid", thread, "args", "name", name);
}

/* Takes the value over. */
static ls_status write_json(ls__os_writer *writer, json_t *value, const char *before,
                            ls_error *error)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(value);
    if (!text)
        return ls__fail_oom(error, 256);
    ls_status status = ls__os_writer_write(writer, before, strlen(before), error);
    if (status == LS_OK)
        status = ls__os_writer_write(writer, text, strlen(text), error);
    free(text);
    return status;
}

static ls_status write_events(const ls__trace *trace, const ls_device *device,
                              ls__os_writer *writer, ls_error *error)
{
    static const char *const tracks[] = {NULL, "submissions", "commands (host time)",
                                         "commands (device time)"};
    static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", tail[] = "\n]}\n";
    char name[96];
    snprintf(name, sizeof name, "lockstep %s %llu", device->name,
             (unsigned long long)device->number);
    ls_status status = ls__os_writer_write(writer, head, sizeof head - 1, error);
    if (status == LS_OK)
        status = write_json(writer, metadata_json(device, "process_name", 0, name), "", error);
    for (int i = TRACK_SUBMISSIONS; i <= TRACK_DEVICE && status == LS_OK; i++)
        status =
            write_json(writer, metadata_json(device, "thread_name", i, tracks[i]), ",\n", error);
    for (size_t i = 0; i < trace->count && status == LS_OK; i++)
        status = write_json(writer, event_json(trace, device, &trace->events[i]), ",\n", error);
    return status == LS_OK ? ls__os_writer_write(writer, tail, sizeof tail - 1, error) : status;
}

ls_status ls_trace_end(ls_device *device, const char *path, ls_error *error)
{
    if (!device || !path)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_trace_end: no %s was given",
                        device ? "path" : "device");
    ls__trace *trace = detach(device);
    if (!trace)
        return ls__fail(error, LS_E_STATE, "device '%s' is not being traced", device->name);
    ls__os_writer *writer = NULL;
    ls_status status =
        trace->failed ? ls__fail_oom(error, trace->capacity * 2 * sizeof *trace->events) : LS_OK;
    if (status == LS_OK)
        status = ls__os_writer_open(path, &writer, error);
    if (status == LS_OK)
        status = write_events(trace, device, writer, error);
    if (status == LS_OK)
        status = ls__os_writer_commit(&writer, error);
    ls__os_writer_abort(&writer);
    trace_free(trace);
    return status;
}
