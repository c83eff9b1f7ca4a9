/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submission: everything that can refuse a batch, then its place in the queue. Nothing runs before
 * all checks passed, and whatever fails here is LS_E_NOT_SUBMITTED.
 */
#include <string.h>

#include "core/queue.h"

/* --- hazards ---------------------------------------------------------------------------------- */
/* What must have ended before `s` runs: what precedes it on its stream, and what it waits for. */
static void mark_predecessors(ls__submission *s, uint64_t mark)
{
    s->stream->mark = mark;
    for (uint32_t i = 0; i < s->wait_count; i++) {
        if (s->waits[i]->submission)
            s->waits[i]->submission->mark = mark;
    }
}

static ls_status fail_hazard(const ls__submission *s, const ls__touch *mine,
                             const ls__touch *theirs, ls_error *error)
{
    const ls__allocation *space = mine->space;
    uint64_t begin = mine->begin > theirs->begin ? mine->begin : theirs->begin;
    if (!space) {
        for (uint32_t i = 0; i < s->plan->allocation_count; i++) {
            const ls__allocation *one = s->plan->allocations[i];
            uint64_t base = (uintptr_t)one->host;
            if (one->host && base <= begin && begin - base < one->size)
                space = one;
        }
    }
    if (space && space->host)
        begin -= (uintptr_t)space->host;
    ls__fail(error, LS_E_BUSY,
             "byte %llu of buffer '%s' is %s by a pending submission of another stream",
             (unsigned long long)begin, space ? space->label : "",
             theirs->write ? "written" : "read");
    return ls__fail_hint(error, LS_E_BUSY, "wait for its fence: name it in ls_submit_params.wait");
}

/* Under the lock. */
static ls_status check_hazards(ls__submission *s, ls_error *error)
{
    const ls__touch *mine, *theirs;
    for (uint32_t i = 0; i < s->plan->allocation_count; i++) {
        if (s->plan->allocations[i]->mapped)
            return ls__fail(error, LS_E_BUSY, "buffer '%s' is mapped or in use by the host",
                            s->plan->allocations[i]->label);
    }
    /* From the newest to the oldest: predecessors of what is ordered before `s` are so as well. */
    uint64_t mark = ++s->device->last_mark;
    mark_predecessors(s, mark);
    for (ls__submission *other = s->device->last; other; other = other->previous) {
        if (other->stream->mark == mark || other->mark == mark)
            mark_predecessors(other, mark);
        else if (ls__plan_conflicts(s->plan, other->plan, &mine, &theirs))
            return fail_hazard(s, mine, theirs, error);
    }
    return LS_OK;
}

/* --- the queue -------------------------------------------------------------------------------- */
/* Under the lock. */
static ls_status check_stream(const ls_stream *stream, ls_error *error)
{
    const ls_device *device = stream->device;
    if (atomic_load(&device->lost))
        return ls__fail(error, LS_E_INDETERMINATE, "device '%s' is lost: %s", device->name,
                        device->lost_error.message);
    if (stream->state == LS_STREAM_FAILED)
        return ls__fail(error, LS_E_STATE, "the stream has failed: %s", stream->failure.message);
    return LS_OK;
}

static ls_status check_stream_locked(ls_stream *stream, ls_error *error)
{
    pthread_mutex_lock(&stream->device->lock);
    ls_status status = check_stream(stream, error);
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

static ls_status enqueue(ls__submission *s, ls_stream *stream, ls_fence **fence, uint64_t begun,
                         ls_error *error)
{
    ls_device *device = s->device;
    s->stream = stream;
    pthread_mutex_lock(&device->lock);
    ls_status status = check_stream(stream, error);
    if (status == LS_OK)
        status = check_hazards(s, error);
    if (status != LS_OK) {
        pthread_mutex_unlock(&device->lock);
        return status;
    }
    s->previous = device->last;
    if (device->last)
        device->last->next = s;
    else
        device->first = s;
    device->last = s;
    for (uint32_t i = 0; i < s->plan->allocation_count; i++)
        s->plan->allocations[i]->pending++;
    s->sequence = device->next_sequence++;
    stream->pending++;
    stream->state = LS_STREAM_SUBMITTED;
    s->enqueued_ns = device->last_enqueued_ns = ls__os_now_ns();
    s->enqueue_ns = s->enqueued_ns - begun;
    ls__device_count(device, LS__COUNTER_submissions, 1);
    ls__device_count(device, LS__COUNTER_prepared_submissions, s->is_prepared);
    ls__device_count(device, LS__COUNTER_enqueue_ns, s->enqueue_ns);
    if (fence) {
        *fence = s->fence;
        atomic_fetch_add(&s->fence->refs, 1);
        atomic_fetch_add(&device->objects, 1);
    }
    /* Where it is not its turn, who runs what comes before it goes on with it. */
    bool wake = ls__queue_is_ready(device) &&
                ls__conductor_must_wake(device, s->enqueued_ns + LS__CONDUCTOR_NAP_NS);
    pthread_mutex_unlock(&device->lock);
    if (wake)
        pthread_cond_signal(&device->work);
    return LS_OK;
}

/* --- the calls -------------------------------------------------------------------------------- */
static ls_status submit_plan(ls_stream *stream, ls__plan *plan, const ls_submit_params *params,
                             bool prepared, uint64_t begun, ls_fence **fence, ls_error *error)
{
    ls__submission *s;
    ls_status status = ls__submission_create(plan, params, &s, error);
    if (status != LS_OK)
        return status;
    s->is_prepared = prepared;
    status = ls__submission_accept(s, error);
    if (status == LS_OK)
        status = enqueue(s, stream, fence, begun, error);
    if (status != LS_OK)
        ls__submission_free(s);
    return status;
}

static ls_status check_path(const ls_submit_params *params, const ls_device *device, bool prepared,
                            ls_error *error)
{
    switch (params->path) {
    case LS_PATH_ADAPTIVE:
        return LS_OK;
    case LS_PATH_PREPARED_ONLY:
        if (prepared && device->caps.prepared_native)
            return LS_OK;
        return ls__fail(error, LS_E_UNSUPPORTED, "prepared-only was demanded, but %s%s",
                        prepared ? "nothing is replayed by device " : "the batch is not prepared",
                        prepared ? device->name : "");
    case LS_PATH_EAGER_ONLY:
        if (!prepared || !device->caps.prepared_native)
            return LS_OK;
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "eager-only was demanded, but device '%s' replays prepared batches",
                        device->name);
    }
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "unknown path %d", (int)params->path);
}

/* `stream` may be NULL. */
static ls_status refuse(ls_stream *stream, ls_error *error)
{
    if (stream)
        ls__device_count(stream->device, LS__COUNTER_submissions_refused, 1);
    return ls__fail_as(error, LS_E_NOT_SUBMITTED);
}

/* One of batch and prepared is given. */
static ls_status submit(ls_stream *stream, const ls_batch *batch, const ls_prepared *prepared,
                        const ls_submit_params *params, ls_fence **fence, ls_error *error)
{
    uint64_t begun = ls__os_now_ns();
    ls_submit_params given;
    ls__plan *plan = NULL;
    const ls_device *device = batch ? batch->device : prepared->plan->device;
    ls_status status = ls__params_in(&given, sizeof given, params, true, "ls_submit", error);
    if (status == LS_OK)
        status = ls__device_match(stream->device, device,
                                  batch ? "the batch" : "the prepared batch", error);
    if (status == LS_OK)
        status = check_path(&given, device, prepared != NULL, error);
    if (status == LS_OK)
        status = check_stream_locked(stream, error);
    if (status == LS_OK && batch)
        status = ls__plan_create(batch, &plan, error);
    if (status == LS_OK)
        status = submit_plan(stream, batch ? plan : prepared->plan, &given, prepared != NULL, begun,
                             fence, error);
    ls__plan_release(plan); /* the submission has its own reference */
    return status == LS_OK ? LS_OK : refuse(stream, error);
}

ls_status ls_submit(ls_stream *stream, const ls_batch *batch, const ls_submit_params *params,
                    ls_fence **fence, ls_error *error)
{
    if (fence)
        *fence = NULL;
    if (!stream || !batch) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_submit: no %s was given",
                 stream ? "batch" : "stream");
        return refuse(stream, error);
    }
    return submit(stream, batch, NULL, params, fence, error);
}

ls_status ls_submit_prepared(ls_stream *stream, const ls_prepared *prepared,
                             const ls_submit_params *params, ls_fence **fence, ls_error *error)
{
    if (fence)
        *fence = NULL;
    if (!stream || !prepared) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_submit_prepared: no %s was given",
                 stream ? "prepared batch" : "stream");
        return refuse(stream, error);
    }
    return submit(stream, NULL, prepared, params, fence, error);
}

/* --- prepared batches ------------------------------------------------------------------------- */
/* Lets the backend record every plain part of the plan, from a submission in which nothing is
 * patched. */
static ls_status prepare_natively(ls__plan *plan, ls_error *error)
{
    const ls_device *device = plan->device;
    ls__submission *template;
    ls_status status = ls__submission_create(plan, NULL, &template, error);
    if (status != LS_OK)
        return status;
    plan->prepared = ls__mem_alloc(plan->part_count, sizeof *plan->prepared);
    if (!plan->prepared)
        status = ls__fail_oom(error, plan->part_count * sizeof *plan->prepared);
    for (uint32_t i = 0; i < plan->part_count && status == LS_OK; i++) {
        if (!plan->parts[i].conducted)
            status = device->backend->prepare(device->handle, template->parts[i].jobs,
                                              &plan->prepared[i], error);
    }
    ls__submission_free(template);
    return status;
}

ls_status ls_prepare(const ls_batch *batch, ls_prepared **prepared, ls_error *error)
{
    ls__plan *plan;
    if (!prepared)
        return ls__fail_no_result(error, "ls_prepare");
    *prepared = NULL;
    if (!batch)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_prepare: no batch was given");
    ls_status status = ls__device_check(batch->device, error);
    if (status == LS_OK)
        status = ls__plan_create(batch, &plan, error);
    if (status != LS_OK)
        return status;
    if (plan->device->backend->prepare)
        status = prepare_natively(plan, error);
    ls_prepared *made = status == LS_OK ? ls__mem_alloc(1, sizeof *made) : NULL;
    if (!made) {
        if (status == LS_OK)
            status = ls__fail_oom(error, sizeof *made);
        ls__plan_release(plan);
        return status;
    }
    made->plan = plan;
    atomic_fetch_add(&plan->device->objects, 1);
    *prepared = made;
    return LS_OK;
}

void ls_prepared_destroy(ls_prepared **prepared)
{
    if (!prepared || !*prepared)
        return;
    ls_device *device = (*prepared)->plan->device;
    ls__plan_release((*prepared)->plan);
    ls__mem_free(*prepared);
    *prepared = NULL;
    atomic_fetch_sub(&device->objects, 1);
}
