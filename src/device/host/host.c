/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor interprets the commands of jobs, one job at a time: of those that were started on
 * its own thread, which takes them from a queue; of others on the thread that has them run.
 *
 * The queue is linked through job->backend_data, so that starting a job allocates nothing and
 * cannot fail.
 */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/host/host.h"

struct ls__host {
    ls__host_device device;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    ls__job *first, *last;
    bool stopping;
    bool busy; /* a job is running */
};

/* --- commands --------------------------------------------------------------------------------- */
static void run_copy(ls__job *job, const ls__command *command)
{
    ls__host_memory *to = ls__host_memory_of(&command->target),
                    *from = ls__host_memory_of(&command->source);
    uint64_t target = command->target.offset, source = command->source.offset,
             size = command->target.size;
    memmove(to->bytes + target, from->bytes + source, size);
    if (to->written && from->written)
        memmove(to->written + target, from->written + source, size);
    else if (to->written)
        memset(to->written + target, 1, size);
    job->result.bytes_copied += size;
}

static void run_fill(ls__job *job, const ls__command *command)
{
    ls__host_memory *to = ls__host_memory_of(&command->target);
    uint8_t *bytes = to->bytes + command->target.offset;
    uint64_t size = command->target.size;
    if (command->fill.bytes == 1) {
        memset(bytes, command->fill.pattern[0], size);
    } else {
        for (uint64_t i = 0; i < size; i += command->fill.bytes)
            memcpy(bytes + i, command->fill.pattern, command->fill.bytes);
    }
    if (to->written)
        memset(to->written + command->target.offset, 1, size);
    job->result.bytes_copied += size;
}

static ls_status run_dispatch(ls__host *host, ls__job *job, const ls__command *command,
                              uint32_t iteration, uint64_t *lanes, ls_error *error)
{
    const ls__command_dispatch *d = &command->dispatch;
    ls__job_result *result = &job->result;
    ls__host_dispatch dispatch = {.job = job, .command = d, .iteration = iteration};
    memcpy(dispatch.global_size, d->global_size, sizeof dispatch.global_size);
    if (d->indirect) {
        ls__host_read(NULL, &d->sizes, dispatch.global_size, NULL);
        ls__global_size(dispatch.global_size);
        ls_status status = ls__check_indirect(dispatch.global_size, d->maximum, error);
        if (status != LS_OK) {
            result->trap_code = LS_TRAP_INDIRECT;
            return status;
        }
    }
    *lanes = (uint64_t)dispatch.global_size[0] * dispatch.global_size[1] * dispatch.global_size[2];
    if (*lanes == 0)
        return LS_OK;
    ls__host_dispatch_result out = {0};
    result->launches++;
    result->lanes_asked += *lanes;
    ls_status status = host->device.dispatch(host->device.context, &dispatch, &out, error);
    result->lanes_run += out.lanes_run;
    result->sanitizer_reports += out.sanitizer_reports;
    if (status == LS_OK && out.trapped) {
        result->trap_code = out.trap_code;
        result->trap_lane = out.trap_lane;
        result->trap_workgroup = out.trap_workgroup;
        return LS_E_TRAP;
    }
    return status;
}

static ls_status check_cancel(const ls__job *job, ls_error *error)
{
    return atomic_load(&job->cancel) ? ls__fail(error, LS_E_CANCELLED, "cancelled") : LS_OK;
}

static ls_status run_command(ls__host *host, ls__job *job, const ls__command *command,
                             uint32_t iteration, ls_error *error)
{
    ls__job_result *result = &job->result;
    uint64_t begun = job->rows ? ls__os_now_ns() : 0, lanes = 0;
    ls_status status = LS_OK;
    if (host->device.before_command)
        status = host->device.before_command(host->device.hook_context, job, error);
    if (status == LS_OK)
        status = check_cancel(job, error);
    if (status != LS_OK)
        return status;
    result->commands++;
    switch (command->kind) {
    case LS__COMMAND_DISPATCH:
        status = run_dispatch(host, job, command, iteration, &lanes, error);
        break;
    case LS__COMMAND_COPY:
        run_copy(job, command);
        break;
    case LS__COMMAND_UPLOAD:
        ls__host_write(NULL, &command->target, command->upload, NULL);
        result->bytes_uploaded += command->target.size;
        break;
    case LS__COMMAND_FILL:
        run_fill(job, command);
        break;
    case LS__COMMAND_DOWNLOAD:
        ls__host_read(NULL, &command->source, command->download, NULL);
        result->bytes_downloaded += command->source.size;
        break;
    }
    if (status == LS_OK && job->rows)
        job->rows[result->rows++] = (ls__job_row){
            .command = command->index,
            .iteration = iteration,
            .lanes = lanes,
            .host_begin_ns = begun,
            .host_end_ns = ls__os_now_ns(),
        };
    return status;
}

/* --- jobs ------------------------------------------------------------------------------------- */
static ls_status run_range(ls__host *host, ls__job *job, uint32_t first, uint32_t end,
                           uint32_t iteration)
{
    for (uint32_t i = first; i < end; i++) {
        ls_status status = run_command(host, job, &job->commands[i], iteration, &job->result.error);
        if (status == LS_E_TRAP && job->result.trap_code != LS_TRAP_INDIRECT)
            ls__fail(&job->result.error, LS_E_TRAP,
                     "command %u called trap(%u) in workgroup %llu, lane %u",
                     job->commands[i].index, job->result.trap_code,
                     (unsigned long long)job->result.trap_workgroup, job->result.trap_lane);
        if (status != LS_OK) {
            job->result.failed_command = job->commands[i].index;
            return status;
        }
    }
    return LS_OK;
}

static void run_job(ls__host *host, ls__job *job)
{
    ls_status status = LS_OK;
    uint32_t next = 0;
    for (uint32_t r = 0; r < job->repeat_count && status == LS_OK; r++) {
        const ls__repeat *repeat = &job->repeats[r];
        status = run_range(host, job, next, repeat->first, job->iteration);
        for (uint32_t round = 0; round < repeat->rounds && status == LS_OK; round++)
            status = run_range(host, job, repeat->first, repeat->end, round);
        next = repeat->end;
    }
    if (status == LS_OK)
        status = run_range(host, job, next, job->command_count, job->iteration);
    job->result.status = status;
    if (host->device.after_job)
        host->device.after_job(host->device.hook_context);
}

static void *host_main(void *argument)
{
    ls__host *host = argument;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved); /* a new thread inherits its maker's */
    pthread_mutex_lock(&host->lock);
    for (;;) {
        ls__job *job = host->first;
        if (job && !host->busy) {
            host->first = job->backend_data;
            if (!host->first)
                host->last = NULL;
            host->busy = true;
            pthread_mutex_unlock(&host->lock);
            run_job(host, job);
            pthread_mutex_lock(&host->lock);
            host->busy = false;
            pthread_mutex_unlock(&host->lock);
            ls__backend_done(job);
            pthread_mutex_lock(&host->lock);
        } else if (!job && host->stopping) {
            break;
        } else {
            ls__os_cond_wait(&host->changed, &host->lock, LS_FOREVER);
        }
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

void ls__host_start(ls__host *host, ls__job *job)
{
    job->backend_data = NULL;
    pthread_mutex_lock(&host->lock);
    if (host->last)
        host->last->backend_data = job;
    else
        host->first = job;
    host->last = job;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

bool ls__host_run(ls__host *host, ls__job *job)
{
    pthread_mutex_lock(&host->lock);
    bool free = !host->busy && !host->first;
    if (free)
        host->busy = true;
    pthread_mutex_unlock(&host->lock);
    if (!free)
        return false;
    run_job(host, job);
    pthread_mutex_lock(&host->lock);
    host->busy = false;
    if (host->first)
        pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
    return true;
}

/* Under the lock: whether the job was still in the queue. */
static bool unlink_job(ls__host *host, ls__job *job)
{
    ls__job *previous = NULL;
    for (ls__job *j = host->first; j; previous = j, j = j->backend_data) {
        if (j != job)
            continue;
        if (previous)
            previous->backend_data = j->backend_data;
        else
            host->first = j->backend_data;
        if (host->last == j)
            host->last = previous;
        return true;
    }
    return false;
}

void ls__host_cancel(ls__host *host, ls__job *job)
{
    pthread_mutex_lock(&host->lock);
    bool queued = unlink_job(host, job);
    pthread_mutex_unlock(&host->lock);
    if (!queued)
        return; /* it polls job->cancel */
    job->result.status = check_cancel(job, &job->result.error);
    ls__backend_done(job);
}

ls_status ls__host_create(const ls__host_device *device, ls__host **host, ls_error *error)
{
    *host = NULL;
    ls__host *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->device = *device;
    if (pthread_mutex_init(&made->lock, NULL) != 0)
        goto no_lock;
    if (ls__os_cond_init(&made->changed) != 0)
        goto no_cond;
    if (ls__os_thread_create(&made->thread, host_main, made) != 0)
        goto no_thread;
    *host = made;
    return LS_OK;

no_thread:
    pthread_cond_destroy(&made->changed);
no_cond:
    pthread_mutex_destroy(&made->lock);
no_lock:
    ls__mem_free(made);
    return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start the thread that runs jobs");
}

void ls__host_destroy(ls__host **host)
{
    ls__host *h = *host;
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    ls__mem_free(h);
    *host = NULL;
}
