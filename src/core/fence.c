/* SPDX-License-Identifier: Apache-2.0 */
/* Fences and streams: what callers see of a submission's outcome. All state is under the device's
 * lock. */
#include <string.h>

#include "core/queue.h"

static uint64_t deadline_of(uint64_t limit_ns)
{
    uint64_t now = ls__os_now_ns();
    return limit_ns < LS_FOREVER - now ? now + limit_ns : LS_FOREVER;
}

/* --- fences ----------------------------------------------------------------------------------- */
void ls__fence_release(ls_fence *fence)
{
    if (atomic_fetch_sub(&fence->refs, 1) != 1)
        return;
    ls__pool_free(fence->device, fence->rows);
    ls__pool_free(fence->device, fence->names);
    ls__pool_free(fence->device, fence);
}

void ls_fence_destroy(ls_fence **fence)
{
    if (!fence || !*fence)
        return;
    ls_device *device = (*fence)->device;
    ls__fence_release(*fence);
    *fence = NULL;
    atomic_fetch_sub(&device->objects, 1);
}

ls_outcome ls_fence_query(const ls_fence *fence, ls_receipt *receipt)
{
    ls_device *device = fence->device;
    pthread_mutex_lock(&device->lock);
    ls_receipt copy = fence->receipt; /* all zero while pending: LS_PENDING */
    pthread_mutex_unlock(&device->lock);
    if (receipt)
        ls__params_out(receipt, &copy, sizeof copy);
    return copy.outcome;
}

static ls_status status_of(const ls_receipt *receipt, ls_error *error)
{
    if (receipt->outcome == LS_SUCCEEDED)
        return LS_OK;
    if (error)
        *error = receipt->error;
    return receipt->error.code;
}

typedef struct awaited { /* one of both */
    const ls_fence *fence;
    const ls_stream *stream;
} awaited;

static bool is_over(awaited what)
{
    return what.fence ? what.fence->receipt.outcome != LS_PENDING : what.stream->pending == 0;
}

/* Under the lock. */
static void run_first(ls_device *device)
{
    ls__os_fenv callers;
    ls__os_fenv_enter(&callers);
    ls__queue_run_first(device, true);
    ls__os_fenv_leave(&callers);
}

/* Under the lock: waits until it is over; false when the time ran out. Without a limit the thread
 * runs what is to run first, and it itself, unless others do; with one it could not return in time.
 * A thread that has nothing to run looks for the end for a while before it sleeps. */
static bool wait_locked(ls_device *device, awaited what, uint64_t deadline)
{
    enum { SOON_NS = 50000 };
    uint64_t awake = 0;
    bool over;
    if (deadline == LS_FOREVER && ls__os_now_ns() - device->last_enqueued_ns < SOON_NS)
        device->waited_soon = true;
    while (!(over = is_over(what))) {
        if (ls__queue_is_ready(device) && deadline == LS_FOREVER) {
            run_first(device);
            continue;
        }
        uint64_t now = ls__os_now_ns();
        if (now >= deadline)
            break;
        if (ls__queue_is_ready(device))
            ls__conductor_wake(device);
        if (!awake)
            awake = now + device->spin_ns;
        if (now >= awake) {
            ls__os_cond_wait(&device->changed, &device->lock, deadline);
            continue;
        }
        uint32_t seen = atomic_load(&device->ends);
        pthread_mutex_unlock(&device->lock);
        ls__device_spin(device, seen, awake < deadline ? awake : deadline);
        pthread_mutex_lock(&device->lock);
    }
    if (device->stopping || (ls__queue_is_ready(device) && /* the rest is the conductor's */
                             device->first->enqueued_ns + LS__CONDUCTOR_NAP_NS <
                                 device->conductor_until))
        ls__conductor_wake(device);
    return over;
}

static ls_status fail_pending(ls_error *error)
{
    return ls__fail(error, LS_E_TIMEOUT, "the submission is still pending");
}

ls_status ls_fence_wait(const ls_fence *fence, uint64_t limit_ns, ls_receipt *receipt,
                        ls_error *error)
{
    if (!fence)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_fence_wait: no fence was given");
    ls_device *device = fence->device;
    uint64_t begun = ls__os_now_ns();
    pthread_mutex_lock(&device->lock);
    bool terminal = wait_locked(device, (awaited){.fence = fence}, deadline_of(limit_ns));
    ls_receipt copy = fence->receipt;
    pthread_mutex_unlock(&device->lock);
    ls__device_count(device, LS__COUNTER_sync_points, 1);
    ls__device_count(device, LS__COUNTER_wait_ns, ls__os_now_ns() - begun);
    if (receipt)
        ls__params_out(receipt, &copy, sizeof copy);
    return terminal ? status_of(&copy, error) : fail_pending(error);
}

/* Ends a submission that has not begun. Under the lock, which is given up meanwhile; `finishing`
 * keeps the conductor from starting what comes after it. */
static void cancel_queued(ls__submission *s)
{
    ls_device *device = s->device;
    ls_error error;
    s->claimed = true;
    device->finishing++;
    pthread_mutex_unlock(&device->lock);
    ls__fail(&error, LS_E_CANCELLED, "cancelled by the caller before it ran");
    ls__submission_finish(s, LS_FAILED_QUIESCENT, &error);
    pthread_mutex_lock(&device->lock);
    device->finishing--;
    pthread_cond_broadcast(&device->changed);
    ls__conductor_wake(device);
}

ls_status ls_fence_cancel(ls_fence *fence, uint64_t limit_ns, ls_error *error)
{
    if (!fence)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_fence_cancel: no fence was given");
    ls_device *device = fence->device;
    pthread_mutex_lock(&device->lock);
    if (fence->receipt.outcome == LS_PENDING && !fence->submission->claimed) {
        cancel_queued(fence->submission);
    } else if (fence->receipt.outcome == LS_PENDING) {
        fence->submission->cancel_requested = true;
        if (fence->submission->job)
            atomic_store(&fence->submission->job->cancel, 1);
        pthread_cond_broadcast(&device->changed);
    }
    awaited what = {.fence = fence};
    bool terminal = wait_locked(device, what, deadline_of(limit_ns));
    if (!terminal && limit_ns) {
        fence->submission->give_up = true; /* one that does not run yet ends at once anyway */
        pthread_cond_broadcast(&device->changed);
        terminal = wait_locked(device, what, LS_FOREVER);
    }
    pthread_mutex_unlock(&device->lock);
    return terminal ? LS_OK : fail_pending(error);
}

/* --- streams ---------------------------------------------------------------------------------- */
ls_status ls_stream_create(ls_device *device, ls_stream **stream, ls_error *error)
{
    if (!stream)
        return ls__fail_no_result(error, "ls_stream_create");
    *stream = NULL;
    if (!device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_stream_create: no device was given");
    ls_stream *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->device = device;
    atomic_fetch_add(&device->objects, 1);
    *stream = made;
    return LS_OK;
}

ls_status ls_stream_destroy(ls_stream **stream, ls_error *error)
{
    if (!stream || !*stream)
        return LS_OK;
    ls_device *device = (*stream)->device;
    pthread_mutex_lock(&device->lock);
    uint64_t pending = (*stream)->pending;
    pthread_mutex_unlock(&device->lock);
    if (pending)
        return ls__fail(error, LS_E_BUSY, "%llu submissions of the stream are pending",
                        (unsigned long long)pending);
    ls__mem_free(*stream);
    *stream = NULL;
    atomic_fetch_sub(&device->objects, 1);
    return LS_OK;
}

ls_stream_state ls_stream_query(const ls_stream *stream, ls_error *error)
{
    pthread_mutex_lock(&stream->device->lock);
    ls_stream_state state = stream->state;
    if (error && state == LS_STREAM_FAILED)
        *error = stream->failure;
    pthread_mutex_unlock(&stream->device->lock);
    return state;
}

ls_status ls_stream_wait(ls_stream *stream, uint64_t limit_ns, ls_error *error)
{
    if (!stream)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_stream_wait: no stream was given");
    ls_device *device = stream->device;
    uint64_t begun = ls__os_now_ns(), deadline = deadline_of(limit_ns);
    ls_status status = LS_OK;
    pthread_mutex_lock(&device->lock);
    if (!wait_locked(device, (awaited){.stream = stream}, deadline)) {
        status = LS_E_TIMEOUT;
    } else if (stream->state == LS_STREAM_FAILED) {
        status = stream->failure.code;
        if (error)
            *error = stream->failure;
    } else {
        stream->state = LS_STREAM_READY;
    }
    pthread_mutex_unlock(&device->lock);
    ls__device_count(device, LS__COUNTER_sync_points, 1);
    ls__device_count(device, LS__COUNTER_wait_ns, ls__os_now_ns() - begun);
    return status == LS_E_TIMEOUT
               ? ls__fail(error, status, "submissions of the stream are still pending")
               : status;
}
