/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a submission: its parts one after another, each as a job. The backend runs it on this
 * thread where it can, and others set its cancel flag; or on a thread of its own, while this one
 * waits, watches the time limit, and passes on a request to cancel.
 *
 * A job that does not stop when asked is abandoned: the device that runs it is lost, and the
 * submission is never freed, because the backend may still look at it.
 */
#include <stdio.h>
#include <string.h>

#include "core/queue.h"

/* --- one job ---------------------------------------------------------------------------------- */
void ls__backend_done(ls__job *job)
{
    ls_device *device = job->owner->device;
    pthread_mutex_lock(&device->lock);
    job->done = true;
    atomic_fetch_add_explicit(&device->ends, 1, memory_order_relaxed);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

static ls_status fail_timeout(const ls__submission *s, ls_error *error)
{
    return ls__fail(error, LS_E_TIMEOUT, "the time limit of %.3f s ran out",
                    (double)s->time_limit_ns / 1e9);
}

static ls_status fail_cancelled(ls_error *error)
{
    return ls__fail(error, LS_E_CANCELLED, "cancelled by the caller");
}

/* LS_OK, or why no further job may start. `next` is the one that is to, if any: what stops the
 * submission from now on stops it. */
static ls_status check_stop(ls__submission *s, ls__job *next, ls_error *error)
{
    pthread_mutex_lock(&s->device->lock);
    bool cancelled = s->cancel_requested, late = ls__os_now_ns() >= s->deadline_ns;
    if (next) {
        atomic_store(&next->cancel, 0);
        s->job = next;
    }
    pthread_mutex_unlock(&s->device->lock);
    if (cancelled)
        return fail_cancelled(error);
    if (atomic_load(&s->device->lost)) /* to another device's job, while this ran on a fallback */
        return ls__device_check(s->device, error);
    return late ? fail_timeout(s, error) : LS_OK;
}

enum { LOST_POLL_NS = 20000000 };

typedef enum stop_reason { STOP_NOT, STOP_CANCELLED, STOP_TIMEOUT, STOP_LOST } stop_reason;

/* Under the lock: whether the job that runs should stop. The submission's own device may be lost
 * while a fallback device runs the job; nobody can use the result then, and closing must not wait.
 */
static stop_reason reason_to_stop(const ls__submission *s, const ls_device *on, uint64_t now)
{
    if (s->cancel_requested)
        return STOP_CANCELLED;
    if (on != s->device && atomic_load(&s->device->lost))
        return STOP_LOST;
    return now >= s->deadline_ns ? STOP_TIMEOUT : STOP_NOT;
}

/* Runs the job on this thread, if the backend can and somebody else watches the time limit. */
static bool run_here(const ls__submission *s, ls_device *on, ls__job *job)
{
    bool watched = s->helped || s->deadline_ns == LS_FOREVER;
    return watched && on == s->device && on->backend->run && on->backend->run(on->handle, job);
}

/* Waits for a started job. Returns false when it did not stop although it was asked to, or when its
 * device was lost to another job that came before it. */
static bool wait_for_job(ls__submission *s, ls_device *on, ls__job *job, stop_reason *stop)
{
    ls_device *device = s->device;
    uint64_t give_up_ns = LS_FOREVER, awake = ls__os_now_ns() + device->spin_ns;
    pthread_mutex_lock(&device->lock);
    while (!job->done) {
        uint64_t now = ls__os_now_ns();
        if (*stop == STOP_NOT && (*stop = reason_to_stop(s, on, now)) != STOP_NOT) {
            if (*stop != STOP_CANCELLED)
                give_up_ns = now + on->backend->cancel_grace_ns;
            atomic_store(&job->cancel, 1);
            pthread_mutex_unlock(&device->lock);
            if (on->backend->cancel)
                on->backend->cancel(on->handle, job);
            pthread_mutex_lock(&device->lock);
            continue;
        }
        if (s->give_up || now >= give_up_ns || atomic_load(&on->lost))
            break;
        uint64_t until = *stop == STOP_NOT ? s->deadline_ns : give_up_ns;
        if (on != device && until > now + LOST_POLL_NS)
            until = now + LOST_POLL_NS; /* nobody wakes this queue when another device is lost */
        if (now >= awake) {
            ls__os_cond_wait(&device->changed, &device->lock, until);
            continue;
        }
        uint32_t seen = atomic_load(&device->ends);
        pthread_mutex_unlock(&device->lock);
        ls__device_spin(device, seen, awake < until ? awake : until);
        pthread_mutex_lock(&device->lock);
    }
    bool done = job->done;
    pthread_mutex_unlock(&device->lock);
    return done;
}

/* Why a job was cancelled, also when others did it. */
static stop_reason stop_of(const ls__submission *s, stop_reason seen)
{
    if (seen != STOP_NOT)
        return seen;
    pthread_mutex_lock(&s->device->lock);
    bool cancelled = s->cancel_requested;
    pthread_mutex_unlock(&s->device->lock);
    return cancelled ? STOP_CANCELLED : STOP_TIMEOUT;
}

static void add_totals(ls__submission *s, const ls__job_result *result)
{
    ls__job_result *total = &s->total;
    total->commands += result->commands;
    total->launches += result->launches;
    total->lanes_asked += result->lanes_asked;
    total->lanes_run += result->lanes_run;
    total->bytes_uploaded += result->bytes_uploaded;
    total->bytes_downloaded += result->bytes_downloaded;
    total->bytes_copied += result->bytes_copied;
    total->sanitizer_reports += result->sanitizer_reports;
    total->graph_launches += result->graph_launches;
    total->device_waits += result->device_waits;
    total->device_ns += result->device_ns;
    /* Device time of a part is none of the whole. */
    s->jobs_run++;
    s->jobs_measured += result->measured;
    total->measured = s->jobs_run == s->jobs_measured;
    s->row_count += result->rows;
}

/* The device lost the job. Of the submission's own device that is indeterminate; a lost fallback
 * device leaves the own one idle, so the submission has failed. */
static ls_status lost(ls__submission *s, ls_device *on, const ls_error *why, ls_error *error)
{
    ls__device_lose(on, why);
    *error = *why;
    if (on == s->device)
        return LS_E_INDETERMINATE;
    ls__fail(error, LS_E_INDETERMINATE, "fallback device '%s' was lost: %s", on->name,
             why->message);
    return LS_E_FAILED;
}

static ls_status run_job(ls__submission *s, ls_device *on, ls__job *job, ls_error *error)
{
    ls_error why;
    stop_reason stop = STOP_NOT;
    job->result = (ls__job_result){.failed_command = UINT32_MAX};
    job->done = false;
    ls_status status = check_stop(s, job, error);
    if (status != LS_OK)
        return status;
    bool started = !run_here(s, on, job);
    if (started)
        on->backend->start(on->handle, job);
    if (started && !wait_for_job(s, on, job, &stop)) {
        s->abandoned = on;
        if (stop == STOP_NOT)
            ls__device_check(on, &why);
        else
            ls__fail(&why, LS_E_INDETERMINATE,
                     "a command did not stop within its limit after it was %s",
                     stop == STOP_TIMEOUT     ? "out of time"
                     : stop == STOP_CANCELLED ? "cancelled"
                                              : "no longer wanted");
        return lost(s, on, &why, error);
    }
    const ls__job_result *result = &job->result;
    add_totals(s, result);
    if (result->failed_command != UINT32_MAX)
        s->total.failed_command = result->failed_command;
    if (result->status == LS_OK)
        return LS_OK;
    if (result->status == LS_E_INDETERMINATE)
        return lost(s, on, &result->error, error);
    if (stop == STOP_LOST)
        return ls__device_check(s->device, error);
    if (result->status == LS_E_CANCELLED)
        return stop_of(s, stop) == STOP_CANCELLED ? fail_cancelled(error) : fail_timeout(s, error);
    s->total.trap_code = result->trap_code;
    s->total.trap_lane = result->trap_lane;
    s->total.trap_workgroup = result->trap_workgroup;
    *error = result->error;
    return result->status;
}

/* --- conducted dispatches --------------------------------------------------------------------- */
static ls_status read_sizes(ls__submission *s, const ls__command *command, uint32_t size[3],
                            ls_error *error)
{
    const ls__command_dispatch *d = &command->dispatch;
    if (!d->indirect) {
        memcpy(size, d->global_size, sizeof d->global_size);
        return LS_OK;
    }
    ls_status status = s->device->backend->read(s->device->handle, &d->sizes, size, error);
    if (status != LS_OK)
        return status;
    ls__global_size(size);
    status = ls__check_indirect(size, d->maximum, error);
    if (status != LS_OK) {
        s->total.failed_command = command->index;
        s->total.trap_code = LS_TRAP_INDIRECT;
    }
    return status;
}

/* Through host memory, piece by piece. */
static ls_status move(ls__submission *s, ls_device *from, ls__span source, ls_device *to,
                      ls__span target, ls_error *error)
{
    while (source.size) {
        uint64_t bytes = source.size < s->bounce_bytes ? source.size : s->bounce_bytes;
        ls__span in = {source.memory, source.offset, bytes},
                 out = {target.memory, target.offset, bytes};
        ls_status status = check_stop(s, NULL, error);
        if (status == LS_OK)
            status = from->backend->read(from->handle, &in, s->bounce, error);
        if (status == LS_OK)
            status = to->backend->write(to->handle, &out, s->bounce, error);
        if (status != LS_OK)
            return status;
        source.offset += bytes;
        target.offset += bytes;
        source.size -= bytes;
        s->fallback_bytes += bytes;
    }
    return LS_OK;
}

static ls_status move_ranges(ls__submission *s, ls__part_run *run, bool back, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < run->record->kernel->info.buffer_count && status == LS_OK; i++) {
        if (!back)
            status = move(s, s->device, run->own[i], run->device, run->spans[i], error);
        else if (run->record->uses[i].write)
            status = move(s, run->device, run->spans[i], s->device, run->own[i], error);
    }
    return status;
}

/* Segments between grid barriers: each says at the start of the scratch buffer which one comes
 * next. */
static ls_status run_segments(ls__submission *s, ls__part_run *run, ls_error *error)
{
    uint32_t count = run->record->kernel->entry->segment_count;
    ls__span head = {run->scratch->memory, 0, sizeof(uint32_t)};
    uint32_t next = 0;
    ls_status status = run_job(s, run->device, &run->jobs[count], error);
    while (status == LS_OK && next < count) {
        status = run_job(s, run->device, &run->jobs[next], error);
        if (status == LS_OK)
            status = run->device->backend->read(run->device->handle, &head, &next, error);
    }
    if (status == LS_OK && next != count)
        status = ls__fail(error, LS_E_INTERNAL, "kernel '%s' continues at segment %u of %u",
                          run->record->kernel->info.name, next, count);
    return status;
}

static ls_status run_kernel(ls__submission *s, ls__part_run *run, const uint32_t size[3],
                            ls_error *error)
{
    const ls_kernel *kernel = run->record->kernel;
    uint32_t segments = kernel->entry->segment_count;
    if (!segments)
        return run_job(s, run->device, run->jobs, error);
    if (!run->scratch || ls__fits_whole(kernel, size))
        return run_job(s, run->device, &run->jobs[segments + 1], error);
    return run_segments(s, run, error);
}

static void add_row(ls__submission *s, const ls__command *command, const uint32_t size[3],
                    uint32_t iteration, uint64_t begun)
{
    if (s->row_count >= s->row_capacity)
        return;
    s->rows[s->row_count++] = (ls__job_row){
        .command = command->index,
        .iteration = iteration,
        .lanes = (uint64_t)size[0] * size[1] * size[2],
        .host_begin_ns = begun,
        .host_end_ns = ls__os_now_ns(),
    };
}

static ls_status conduct(ls__submission *s, uint32_t index, uint32_t iteration, ls_error *error)
{
    ls__part_run *run = &s->parts[index];
    const ls__command *command = &s->commands[s->plan->parts[index].first];
    uint64_t begun = ls__os_now_ns();
    uint32_t size[3];
    ls__job_result before = s->total;
    ls_status status = check_stop(s, NULL, error);
    if (status == LS_OK)
        status = read_sizes(s, command, size, error);
    if (status != LS_OK)
        return status;
    bool remote = run->device != s->device;
    if (size[0]) {
        for (uint32_t i = 0; i < run->job_count; i++) {
            run->jobs[i].iteration = iteration;
            if (run->commands[i].kind == LS__COMMAND_DISPATCH)
                memcpy(run->commands[i].dispatch.global_size, size, sizeof size);
        }
        s->splits += remote;
        if (remote)
            status = move_ranges(s, run, false, error);
        if (status == LS_OK)
            status = run_kernel(s, run, size, error);
        if (status == LS_OK && remote)
            status = move_ranges(s, run, true, error);
    }
    /* One command for the outside, however many jobs it took. */
    s->total.commands = before.commands + 1;
    s->total.bytes_copied = before.bytes_copied;
    if (s->total.lanes_asked != before.lanes_asked)
        s->total.lanes_asked = before.lanes_asked + (uint64_t)size[0] * size[1] * size[2];
    if (status == LS_OK)
        add_row(s, command, size, iteration, begun);
    return status;
}

/* --- all parts -------------------------------------------------------------------------------- */
static ls_status run_part(ls__submission *s, uint32_t index, uint32_t iteration, ls_error *error)
{
    if (s->plan->parts[index].conducted)
        return conduct(s, index, iteration, error);
    ls__job *job = s->parts[index].jobs;
    job->iteration = iteration;
    job->rows = s->rows ? s->rows + s->row_count : NULL;
    return run_job(s, s->device, job, error);
}

ls_status ls__submission_run(ls__submission *s, ls_error *error)
{
    ls_status status = LS_OK;
    const ls__part *parts = s->plan->parts;
    s->total.failed_command = UINT32_MAX;
    for (uint32_t i = 0; i < s->plan->part_count && status == LS_OK;) {
        uint32_t block = parts[i].unrolled, end = i + 1;
        if (block == LS__NO_BLOCK) {
            status = run_part(s, i++, 0, error);
            continue;
        }
        while (end < s->plan->part_count && parts[end].unrolled == block)
            end++;
        for (uint32_t round = 0; round < s->repeats[block].rounds && status == LS_OK; round++) {
            for (uint32_t k = i; k < end && status == LS_OK; k++)
                status = run_part(s, k, round, error);
        }
        i = end;
    }
    return status;
}
