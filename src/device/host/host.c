/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor interprets the commands of jobs, one job at a time (device/common).
 */
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/host/host.h"
#include "device/common/queue.h"

struct ls__host {
    ls__host_device device;
    ls__job_queue queue;
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

static void run_queued(void *context, ls__job *job, bool on_caller)
{
    ls__os_fenv saved;
    if (!on_caller)
        ls__os_fenv_enter(&saved); /* a thread inherits its maker's */
    run_job(context, job);
    if (!on_caller)
        ls__os_fenv_leave(&saved);
}

static const ls__job_calls calls = {.run = run_queued};

void ls__host_start(ls__host *host, ls__job *job)
{
    ls__job_queue_start(&host->queue, job);
}

bool ls__host_run(ls__host *host, ls__job *job)
{
    return ls__job_queue_run(&host->queue, job);
}

void ls__host_cancel(ls__host *host, ls__job *job)
{
    ls__job_queue_cancel(&host->queue, job); /* one that runs polls job->cancel */
}

ls_status ls__host_create(const ls__host_device *device, ls__host **host, ls_error *error)
{
    *host = NULL;
    ls__host *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->device = *device;
    ls_status status = ls__job_queue_open(&made->queue, &calls, made, error);
    if (status != LS_OK) {
        ls__mem_free(made);
        return status;
    }
    *host = made;
    return LS_OK;
}

void ls__host_destroy(ls__host **host)
{
    ls__host *h = *host;
    if (!h)
        return;
    ls__job_queue_close(&h->queue);
    ls__mem_free(h);
    *host = NULL;
}
