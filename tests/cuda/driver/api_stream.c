/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. Each stream has a thread, made at its first work, which does its work in
 * order. The legacy stream waits for what the others had been given before, and they for what it
 * had; streams made with NON_BLOCKING keep out of that. A broken context drops work, but tells that
 * it is over. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "driver.h"

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* --- work ---------------------------------------------------------------------------------------
 */
work *work_create(work_kind kind)
{
    work *w = driver_need(calloc(1, sizeof *w));
    w->kind = kind;
    return w;
}

static void release_ticket(ticket *t)
{
    if (t && --t->references == 0)
        free(t);
}

/* With the lock held. */
void work_clear(work *w)
{
    for (size_t i = 0; i < w->node_count; i++)
        work_clear(&w->nodes[i]);
    free(w->nodes);
    for (size_t i = 0; i < w->after_count; i++)
        w->after[i].stream->references--;
    free(w->after);
    free(w->parameters);
    free(w->staged);
    release_ticket(w->ticket);
    memory_release(w->memory);
    if (w->kernel)
        module_release(w->kernel->module);
}

/* A node of a graph, to be run once more; with the lock held. */
work work_copy(const work *w)
{
    work copy = *w;
    copy.next = NULL;
    if (w->kernel) {
        size_t size = w->kernel->function->parameter_bytes;
        w->kernel->module->references++;
        copy.parameters = driver_need(malloc(size + 16));
        if (size)
            memcpy(copy.parameters, w->parameters, size);
    }
    if (copy.ticket)
        copy.ticket->references++;
    return copy;
}

static bool may_start(const stream *s, const work *w)
{
    if (s->context->legacy.completed < w->after_legacy)
        return false;
    for (size_t i = 0; i < w->after_count; i++)
        if (w->after[i].stream->completed < w->after[i].count)
            return false;
    return w->kind != WORK_WAIT || !w->ticket || w->ticket->done;
}

static void record(work *w)
{
    struct timespec late = {(time_t)(setting.late_event_ns / 1000000000u),
                            (long)(setting.late_event_ns % 1000000000u)};
    if (setting.late_event_ns)
        nanosleep(&late, NULL);
    pthread_mutex_lock(&driver_lock);
    w->ticket->time_ns = now_ns();
    w->ticket->done = true;
    pthread_cond_broadcast(&driver_changed);
    pthread_mutex_unlock(&driver_lock);
}

static void run_work(context *c, work *w)
{
    if (context_state(c) == CUDA_SUCCESS && w->fault == CUDA_ERROR_UNKNOWN)
        device_lose(c);
    else if (context_state(c) == CUDA_SUCCESS && w->fault != CUDA_SUCCESS)
        context_break(c, w->fault, "work fails on request");
    if (w->kind == WORK_RECORD)
        record(w);
    if (context_state(c) != CUDA_SUCCESS)
        return;
    switch (w->kind) {
    case WORK_KERNEL:
        launch_run(c, w);
        break;
    case WORK_COPY:
        memory_run_copy(c, w);
        break;
    case WORK_SET:
        memory_run_set(c, w);
        break;
    case WORK_FREE:
        pthread_mutex_lock(&driver_lock);
        memory_forget(c, w->memory);
        pthread_mutex_unlock(&driver_lock);
        break;
    case WORK_HOST:
        w->host(w->host_data);
        break;
    case WORK_GRAPH:
        for (size_t i = 0; i < w->node_count; i++)
            run_work(c, &w->nodes[i]);
        break;
    case WORK_RECORD:
    case WORK_WAIT:
    case WORK_EMPTY:
        break;
    }
}

static void *serve(void *argument)
{
    stream *s = argument;
    pthread_mutex_lock(&driver_lock);
    for (;;) {
        work *w = s->first;
        if (!w && s->ending)
            break;
        if (!w || (!may_start(s, w) && context_state(s->context) == CUDA_SUCCESS)) {
            pthread_cond_wait(&driver_changed, &driver_lock);
            continue;
        }
        pthread_mutex_unlock(&driver_lock);
        run_work(s->context, w);
        pthread_mutex_lock(&driver_lock);
        s->first = w->next;
        if (!s->first)
            s->last = NULL;
        s->completed++;
        work_clear(w);
        free(w);
        pthread_cond_broadcast(&driver_changed);
    }
    pthread_mutex_unlock(&driver_lock);
    return NULL;
}

/* --- streams ------------------------------------------------------------------------------------
 */
stream *stream_of(context *c, CUstream handle)
{
    /* 1 and 2 are names of the default stream. */
    return (uintptr_t)handle <= 2 ? &c->legacy : handle;
}

static void order_with_legacy(stream *s, work *w)
{
    context *c = s->context;
    if (s != &c->legacy) {
        w->after_legacy = s->flags & STREAM_NON_BLOCKING ? 0 : c->legacy.submitted;
        return;
    }
    size_t count = 0;
    for (stream *other = c->streams; other; other = other->next)
        count++;
    w->after = driver_need(calloc(count + 1, sizeof *w->after));
    for (stream *other = c->streams; other; other = other->next)
        if (!(other->flags & STREAM_NON_BLOCKING) && other->submitted != other->completed) {
            w->after[w->after_count].stream = other;
            w->after[w->after_count++].count = other->submitted;
            other->references++;
        }
}

CUresult stream_submit(stream *s, work *w)
{
    bool counts = w->kind == WORK_KERNEL || w->kind == WORK_COPY || w->kind == WORK_SET ||
                  w->kind == WORK_GRAPH;
    CUresult fault = counts ? fault_count(COUNT_submit) : CUDA_SUCCESS;
    if (fault != CUDA_SUCCESS)
        w->fault = fault;
    pthread_mutex_lock(&driver_lock);
    order_with_legacy(s, w);
    if (s->last)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    s->submitted++;
    if (!s->started) {
        if (pthread_create(&s->thread, NULL, serve, s) != 0)
            abort();
        s->started = true;
    }
    pthread_cond_broadcast(&driver_changed);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult stream_wait(stream *s)
{
    pthread_mutex_lock(&driver_lock);
    uint64_t until = s->submitted;
    while (s->completed < until)
        pthread_cond_wait(&driver_changed, &driver_lock);
    pthread_mutex_unlock(&driver_lock);
    return context_state(s->context);
}

void stream_wait_all(context *c)
{
    stream_wait(&c->legacy);
    pthread_mutex_lock(&driver_lock);
    for (stream *s = c->streams; s;) {
        if (s->completed < s->submitted) {
            pthread_cond_wait(&driver_changed, &driver_lock);
            s = c->streams; /* it may be gone */
        } else {
            s = s->next;
        }
    }
    pthread_mutex_unlock(&driver_lock);
}

/* All work is done, and the thread is no more. */
void stream_finish(stream *s)
{
    stream_wait(s);
    pthread_mutex_lock(&driver_lock);
    while (s->references)
        pthread_cond_wait(&driver_changed, &driver_lock);
    s->ending = true;
    pthread_cond_broadcast(&driver_changed);
    pthread_mutex_unlock(&driver_lock);
    if (s->started)
        pthread_join(s->thread, NULL);
}

API cuStreamCreate(CUstream *result, unsigned flags)
{
    ENTER(c);
    if (!result || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    stream *s = driver_need(calloc(1, sizeof *s));
    s->context = c;
    s->flags = flags;
    pthread_mutex_lock(&driver_lock);
    s->next = c->streams;
    c->streams = s;
    c->live_streams++;
    pthread_mutex_unlock(&driver_lock);
    *result = s;
    return CUDA_SUCCESS;
}

API cuStreamCreateWithPriority(CUstream *result, unsigned flags, int priority)
{
    (void)priority;
    return cuStreamCreate(result, flags);
}

API cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return CUDA_SUCCESS;
}

API cuStreamDestroy_v2(CUstream s)
{
    if ((uintptr_t)s <= 2)
        return CUDA_ERROR_INVALID_HANDLE;
    context *c = s->context;
    stream_finish(s);
    pthread_mutex_lock(&driver_lock);
    for (stream **at = &c->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    c->live_streams--;
    pthread_cond_broadcast(&driver_changed);
    pthread_mutex_unlock(&driver_lock);
    free(s);
    return context_state(c);
}

API cuStreamSynchronize(CUstream s)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_sync);
    if (fault != CUDA_SUCCESS)
        return fault;
    return stream_wait(stream_of(c, s));
}

API cuStreamQuery(CUstream handle)
{
    ENTER(c);
    stream *s = stream_of(c, handle);
    pthread_mutex_lock(&driver_lock);
    bool over = s->completed == s->submitted;
    pthread_mutex_unlock(&driver_lock);
    CUresult state = context_state(c);
    return state != CUDA_SUCCESS ? state : over ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    ENTER(c);
    (void)flags;
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    work *w = work_create(WORK_WAIT);
    pthread_mutex_lock(&driver_lock);
    w->ticket = e->last;
    if (w->ticket)
        w->ticket->references++;
    pthread_mutex_unlock(&driver_lock);
    return stream_submit(stream_of(c, s), w);
}

API cuLaunchHostFunc(CUstream s, CUhostFn function, void *data)
{
    ENTER(c);
    work *w = work_create(WORK_HOST);
    w->host = function;
    w->host_data = data;
    return stream_submit(stream_of(c, s), w);
}

/* --- events -------------------------------------------------------------------------------------
 */
API cuEventCreate(CUevent *result, unsigned flags)
{
    ENTER(c);
    if (!result || flags > 7)
        return CUDA_ERROR_INVALID_VALUE;
    event *e = driver_need(calloc(1, sizeof *e));
    e->context = c;
    e->flags = flags;
    pthread_mutex_lock(&driver_lock);
    c->live_events++;
    pthread_mutex_unlock(&driver_lock);
    *result = e;
    return CUDA_SUCCESS;
}

API cuEventDestroy_v2(CUevent e)
{
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    context *c = e->context;
    pthread_mutex_lock(&driver_lock);
    release_ticket(e->last);
    c->live_events--;
    pthread_mutex_unlock(&driver_lock);
    free(e);
    return context_state(c);
}

API cuEventRecord(CUevent e, CUstream s)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_event);
    if (fault != CUDA_SUCCESS && !fault_is_late(fault))
        return fault;
    if (!e || e->context != c)
        return CUDA_ERROR_INVALID_HANDLE;
    work *w = work_create(WORK_RECORD);
    w->fault = fault;
    pthread_mutex_lock(&driver_lock);
    release_ticket(e->last);
    e->last = w->ticket = driver_need(calloc(1, sizeof *w->ticket));
    w->ticket->references = 2;
    pthread_mutex_unlock(&driver_lock);
    return stream_submit(stream_of(c, s), w);
}

API cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags)
{
    return flags ? CUDA_ERROR_NOT_SUPPORTED : cuEventRecord(e, s);
}

API cuEventQuery(CUevent e)
{
    ENTER(c);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    bool done = !e->last || e->last->done;
    pthread_mutex_unlock(&driver_lock);
    CUresult state = context_state(c);
    return state != CUDA_SUCCESS ? state : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API cuEventSynchronize(CUevent e)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_sync);
    if (fault != CUDA_SUCCESS)
        return fault;
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    while (e->last && !e->last->done)
        pthread_cond_wait(&driver_changed, &driver_lock);
    pthread_mutex_unlock(&driver_lock);
    return context_state(c);
}

API cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end)
{
    ENTER(c);
    CUresult result = CUDA_SUCCESS;
    if (!begin || !end || ((begin->flags | end->flags) & EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    if (!begin->last || !end->last)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!begin->last->done || !end->last->done)
        result = CUDA_ERROR_NOT_READY;
    else
        *milliseconds = (float)((double)(int64_t)(end->last->time_ns - begin->last->time_ns) / 1e6);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

API cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end)
{
    return cuEventElapsedTime(milliseconds, begin, end);
}
