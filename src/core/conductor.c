/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue: submissions are run in order, one at a time, each to its end, and its outcome is
 * published. The order of the queue is the order of submission, so a submission's stream
 * predecessors and the fences it waits for have always ended before its turn.
 *
 * Waking a thread takes longer than a small kernel runs, for the one that wakes as for the one that
 * is woken. So a thread that waits without a limit runs what is first in the queue itself, and the
 * conductor, a thread of the device, runs what nobody waits for, and ends what outlasts its time
 * limit. While submissions come that are run by those who wait for them, the conductor is not woken
 * for each: it takes naps, longer and longer, and looks whether something was left. As soon as it
 * finds something it sleeps for good and is woken for each submission, and so it does after a nap
 * in which nothing was submitted.
 */
#include <stdio.h>
#include <string.h>

#include "core/queue.h"

/* --- the end of a submission ------------------------------------------------------------------ */
static void unlink_submission(ls__submission *s)
{
    ls_device *device = s->device;
    if (s->previous)
        s->previous->next = s->next;
    else
        device->first = s->next;
    if (s->next)
        s->next->previous = s->previous;
    else
        device->last = s->previous;
    s->previous = s->next = NULL;
}

static void fill_timing(const ls__submission *s, ls_timing *timing, bool measured,
                        uint64_t device_ns)
{
    const ls_caps *caps = &s->device->caps;
    *timing = (ls_timing){.state = LS_TIMING_NOT_REQUESTED};
    if (!s->timing)
        return;
    if (measured) {
        timing->state = LS_TIMING_MEASURED;
        timing->device_ns = device_ns;
    } else {
        timing->state = LS_TIMING_UNAVAILABLE;
        timing->unavailable =
            caps->timing_unavailable ? caps->timing_unavailable : "the device measured nothing";
    }
}

static void fill_attribution(const ls__submission *s, ls_receipt *receipt)
{
    ls_fence *fence = s->fence;
    for (uint64_t i = 0; i < s->row_count; i++) {
        const ls__job_row *row = &s->rows[i];
        const ls__record *record = s->plan->records[row->command];
        ls_attribution *out = &fence->rows[i];
        *out = (ls_attribution){
            .command = row->command,
            .iteration = row->iteration,
            .operation = record->indirect ? "dispatch_indirect" : ls__command_name(record->kind),
            .kernel = fence->names[row->command].text[1],
            .prepared =
                s->is_prepared && s->plan->prepared != NULL && !ls__record_is_conducted(record),
            .tag = record->tag,
            .lanes = row->lanes,
        };
        out->tag.label = fence->names[row->command].text[0];
        if (record->kind == LS__COMMAND_DISPATCH)
            out->fallback = record->kernel->program->built->device != s->device;
        else
            out->bytes = record->uses[0].size;
        fill_timing(s, &out->timing, row->measured, row->device_ns);
    }
    receipt->attribution = fence->rows;
    receipt->attribution_count = (uint32_t)s->row_count;
}

static void fill_receipt(ls__submission *s, ls_outcome outcome, const ls_error *error,
                         ls_receipt *receipt)
{
    uint64_t now = ls__os_now_ns();
    *receipt = (ls_receipt){
        .struct_size = sizeof *receipt,
        .outcome = outcome,
        .unordered = s->plan->unordered && s->running,
        .unchecked = s->plan->unchecked && s->running,
        .fallback_splits = s->splits,
        .fallback_bytes = s->fallback_bytes,
        .enqueue_ns = s->enqueue_ns,
        .queued_ns = (s->running ? s->begun_ns : now) - s->enqueued_ns,
        .execution_host_ns = s->running ? now - s->begun_ns : 0,
    };
    if (outcome != LS_SUCCEEDED) {
        receipt->error = *error;
        ls__fail_as(&receipt->error,
                    outcome == LS_INDETERMINATE ? LS_E_INDETERMINATE : LS_E_FAILED);
    }
    if (outcome == LS_FAILED_QUIESCENT && error->code == LS_E_TRAP) {
        receipt->trapped = true;
        receipt->trap_code = s->total.trap_code;
        receipt->trap_lane = s->total.trap_lane;
        receipt->trap_workgroup = s->total.trap_workgroup;
        receipt->trap_command = s->total.failed_command;
    }
    fill_timing(s, &receipt->timing, s->total.measured, s->total.device_ns);
    if (s->plan->fallback_reason) {
        snprintf(s->fence->fallback_reason, sizeof s->fence->fallback_reason, "%s",
                 s->plan->fallback_reason);
        receipt->fallback_reason = s->fence->fallback_reason;
    }
    if (outcome == LS_SUCCEEDED && s->attribution)
        fill_attribution(s, receipt);
}

static void count(const ls__submission *s, ls_outcome outcome)
{
    ls_device *device = s->device;
    const ls__job_result *total = &s->total;
    if (outcome == LS_FAILED_QUIESCENT)
        ls__device_count(device, LS__COUNTER_submissions_failed, 1);
    if (outcome == LS_INDETERMINATE)
        ls__device_count(device, LS__COUNTER_submissions_indeterminate, 1);
    ls__device_count(device, LS__COUNTER_commands, total->commands);
    ls__device_count(device, LS__COUNTER_launches, total->launches);
    ls__device_count(device, LS__COUNTER_lanes_asked, total->lanes_asked);
    ls__device_count(device, LS__COUNTER_lanes_run, total->lanes_run);
    ls__device_count(device, LS__COUNTER_bytes_uploaded, total->bytes_uploaded);
    ls__device_count(device, LS__COUNTER_bytes_downloaded, total->bytes_downloaded);
    ls__device_count(device, LS__COUNTER_bytes_copied, total->bytes_copied);
    ls__device_count(device, LS__COUNTER_sanitizer_reports, total->sanitizer_reports);
    ls__device_count(device, LS__COUNTER_graph_launches, total->graph_launches);
    ls__device_count(device, LS__COUNTER_device_waits, total->device_waits);
    ls__device_count(device, LS__COUNTER_fallback_splits, s->splits);
    ls__device_count(device, LS__COUNTER_fallback_bytes, s->fallback_bytes);
    ls__device_count(device, LS__COUNTER_device_ns, total->measured ? total->device_ns : 0);
    ls__device_count(device, LS__COUNTER_device_time_missing, s->timing && !total->measured);
}

static void quarantine(ls__submission *s)
{
    for (uint32_t i = 0; i < s->plan->allocation_count; i++)
        ls__allocation_quarantine(s->plan->allocations[i]);
}

/* The copies and scratch of an abandoned fallback job stay with the device that may still use
 * them. */
static void quarantine_remote(ls__submission *s)
{
    for (uint32_t i = 0; i < s->plan->part_count; i++) {
        const ls__part_run *run = &s->parts[i];
        if (!run->record || !atomic_load(&run->device->lost))
            continue;
        pthread_mutex_lock(&run->device->lock);
        for (uint32_t k = 0; k < run->record->kernel->info.buffer_count; k++) {
            if (run->copies[k])
                ls__allocation_quarantine(run->copies[k]);
        }
        if (run->scratch)
            ls__allocation_quarantine(run->scratch);
        pthread_mutex_unlock(&run->device->lock);
    }
}

/* Keeps what the hung thread may look at: all of the submission where its own device hangs; else
 * its block of memory and the program that runs, and the device that it reports the end to. */
static void abandon(ls__submission *s)
{
    ls_device *on = s->abandoned;
    pthread_mutex_lock(&on->lock);
    s->next_abandoned = on->abandoned;
    on->abandoned = s;
    pthread_mutex_unlock(&on->lock);
    if (on == s->device)
        return;
    s->device->watched = true;
    for (uint32_t i = 0; i < s->plan->part_count; i++) {
        ls__part_run *run = &s->parts[i];
        if (run->device != on)
            continue;
        run->accepted = 0; /* not discarded */
        atomic_fetch_add(&run->record->kernel->program->built->refs, 1);
    }
}

/* The failure of a stream is the earliest in its order. One cancelled in the queue may end before
 * an earlier one fails, and those in between must not run then. */
static void fail_stream(const ls__submission *s, const ls_error *error)
{
    ls_stream *stream = s->stream;
    if (stream->state == LS_STREAM_FAILED && stream->failed_sequence < s->sequence)
        return;
    stream->state = LS_STREAM_FAILED;
    stream->failure = *error;
    stream->failed_sequence = s->sequence;
}

void ls__submission_finish(ls__submission *s, ls_outcome outcome, const ls_error *error)
{
    ls_device *device = s->device;
    ls_fence *fence = s->fence;
    ls_receipt receipt;
    fill_receipt(s, outcome, error, &receipt);
    count(s, outcome);
    ls__trace_submission(s, &receipt);

    /* What the submission used is free before anybody can see that it ended. */
    quarantine_remote(s);
    pthread_mutex_lock(&device->lock);
    unlink_submission(s);
    if (device->limited == s)
        device->limited = NULL;
    for (uint32_t i = 0; i < s->plan->allocation_count; i++)
        s->plan->allocations[i]->pending--;
    if (outcome == LS_INDETERMINATE)
        quarantine(s);
    pthread_mutex_unlock(&device->lock);
    if (s->abandoned)
        abandon(s);
    if (s->abandoned != device)
        ls__submission_release_uses(s);

    pthread_mutex_lock(&device->lock);
    fence->receipt = receipt;
    fence->submission = NULL;
    s->stream->pending--;
    if (outcome != LS_SUCCEEDED)
        fail_stream(s, &receipt.error);
    s->stream = NULL;
    atomic_fetch_add_explicit(&device->ends, 1, memory_order_relaxed);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (!s->abandoned)
        ls__submission_free(s);
}

/* --- running ---------------------------------------------------------------------------------- */
/* Under the lock: whether the submission may run; if not, why and how it ends. */
static bool may_run(const ls__submission *s, ls_outcome *outcome, ls_error *error)
{
    const ls_device *device = s->device;
    *outcome = LS_FAILED_QUIESCENT;
    if (atomic_load(&device->lost)) {
        *outcome = LS_INDETERMINATE;
        ls__fail(error, LS_E_INDETERMINATE, "not run: the device was lost before: %s",
                 device->lost_error.message);
        return false;
    }
    if (s->cancel_requested) {
        ls__fail(error, LS_E_CANCELLED, "cancelled by the caller before it ran");
        return false;
    }
    if (s->stream->state == LS_STREAM_FAILED && s->stream->failed_sequence < s->sequence) {
        ls__fail(error, LS_E_STATE, "not run: an earlier submission of the stream failed: %s",
                 s->stream->failure.message);
        return false;
    }
    for (uint32_t i = 0; i < s->wait_count; i++) {
        const ls_receipt *receipt = &s->waits[i]->receipt;
        if (receipt->outcome == LS_SUCCEEDED)
            continue;
        ls__fail(error, LS_E_STATE, "not run: a submission it waits for failed: %s",
                 receipt->error.message);
        return false;
    }
    return true;
}

static ls_outcome outcome_of(ls_status status)
{
    return status == LS_OK                ? LS_SUCCEEDED
           : status == LS_E_INDETERMINATE ? LS_INDETERMINATE
                                          : LS_FAILED_QUIESCENT;
}

bool ls__queue_is_ready(const ls_device *device)
{
    return device->first && !device->occupied && !device->finishing;
}

void ls__queue_run_first(ls_device *device, bool helping)
{
    ls__submission *s = device->first;
    ls_error error = {0};
    ls_outcome outcome;
    s->claimed = device->occupied = true;
    s->helped = helping;
    s->running = may_run(s, &outcome, &error);
    s->begun_ns = ls__os_now_ns();
    s->deadline_ns = LS_FOREVER;
    if (s->time_limit_ns && s->time_limit_ns < LS_FOREVER - s->begun_ns)
        s->deadline_ns = s->begun_ns + s->time_limit_ns;
    if (s->running && helping && s->deadline_ns != LS_FOREVER) {
        device->limited = s;
        if (ls__conductor_must_wake(device, s->deadline_ns))
            pthread_cond_signal(&device->work);
    }
    bool run = s->running;
    pthread_mutex_unlock(&device->lock);
    if (run)
        outcome = outcome_of(ls__submission_run(s, &error));
    ls__submission_finish(s, outcome, &error);
    pthread_mutex_lock(&device->lock);
    device->occupied = false;
}

/* --- the conductor ---------------------------------------------------------------------------- */
bool ls__conductor_must_wake(ls_device *device, uint64_t until_ns)
{
    if (device->conductor_until <= until_ns)
        return false;
    device->conductor_until = 0;
    return true;
}

void ls__conductor_wake(ls_device *device)
{
    if (ls__conductor_must_wake(device, 0))
        pthread_cond_signal(&device->work);
}

/* The time limit of what a waiting thread runs. */
static void stop_late(ls_device *device)
{
    ls__submission *s = device->limited;
    if (!s || ls__os_now_ns() < s->deadline_ns)
        return;
    if (s->job)
        atomic_store(&s->job->cancel, 1);
    device->limited = NULL;
}

/* 0 = until it is woken. */
static void nap(ls_device *device, uint64_t ns)
{
    uint64_t until = ns ? ls__os_now_ns() + ns : LS_FOREVER;
    if (device->limited && device->limited->deadline_ns < until)
        until = device->limited->deadline_ns;
    device->conductor_until = until;
    ls__os_cond_wait(&device->work, &device->lock, until);
    device->conductor_until = 0;
}

/* Whether the first submission is there for the conductor: what has just been submitted is left to
 * the thread that submitted it, which may be about to wait for it. */
static bool is_left(ls_device *device)
{
    enum { ALONE_NS = 20000 };
    if (!ls__queue_is_ready(device))
        return false;
    uint64_t sequence = device->first->sequence;
    uint64_t until = device->first->enqueued_ns + ALONE_NS;
    if (device->spin_ns == 0 || ls__os_now_ns() >= until)
        return true;
    uint32_t seen = atomic_load(&device->ends);
    pthread_mutex_unlock(&device->lock);
    ls__device_spin(device, seen, until);
    pthread_mutex_lock(&device->lock);
    return ls__queue_is_ready(device) && device->first->sequence == sequence;
}

/* How long to sleep when there is nothing to run, or only what is new and left to others: not for
 * good then, nor while those who wait run what is submitted, or would have done it had the
 * conductor not been first. `ran`: it has just run something; `sequence`: what had been submitted
 * when it last went to sleep. */
static uint64_t next_nap(ls_device *device, uint64_t last_ns, bool ran, uint64_t *sequence)
{
    enum { FIRST_NAP_NS = 100000 };
    bool others = ran ? device->waited_soon : device->next_sequence != *sequence;
    *sequence = device->next_sequence;
    device->waited_soon = false;
    if (!others && !ls__queue_is_ready(device))
        return 0;
    if (ran || last_ns == 0)
        return FIRST_NAP_NS;
    return last_ns * 2 < LS__CONDUCTOR_NAP_NS ? last_ns * 2 : LS__CONDUCTOR_NAP_NS;
}

static void *conductor_main(void *argument)
{
    ls_device *device = argument;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved); /* a new thread inherits its maker's */
    uint64_t nap_ns = 0, sequence = 0;
    bool ran = false;
    pthread_mutex_lock(&device->lock);
    while (device->first || !device->stopping) {
        if (is_left(device)) {
            ls__queue_run_first(device, false);
            ran = true;
            continue;
        }
        stop_late(device);
        nap_ns = next_nap(device, nap_ns, ran, &sequence);
        ran = false;
        nap(device, nap_ns);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

ls_status ls__conductor_start(ls_device *device, ls_error *error)
{
    if (ls__os_thread_create(&device->conductor, conductor_main, device) != 0)
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start a thread for device '%s'",
                        device->name);
    return LS_OK;
}

void ls__conductor_stop(ls_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->stopping = true;
    ls__conductor_wake(device);
    pthread_mutex_unlock(&device->lock);
    pthread_join(device->conductor, NULL);
}
