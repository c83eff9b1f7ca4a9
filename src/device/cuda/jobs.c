/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor: jobs one at a time (device/common), recorded, sent and waited for. Who waits for the
 * running job looks at its cancel flag (segment.c), so there is nothing to do to cancel it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/jobs.h"

static const uint64_t staging_bytes = 4 << 20;

/* --- how a job ends --------------------------------------------------------------------------- */
static uint64_t linear(const uint32_t at[3], const uint32_t size[3])
{
    return at[0] + (uint64_t)size[0] * (at[1] + (uint64_t)size[1] * at[2]);
}

static ls_status report_trap(const ls__cuda_executor *executor, ls__job *job)
{
    const ls__cuda_trap *trap = &executor->trap;
    ls__job_result *result = &job->result;
    uint64_t key = executor->trap_status.trap;
    const ls__job_result now = *result;
    uint32_t group = (uint32_t)(key >> 42);
    uint32_t at[3] = {group % trap->size[0], group / trap->size[0] % trap->size[1],
                      group / trap->size[0] / trap->size[1]};
    for (int i = 0; i < 3; i++)
        at[i] += trap->base[i];
    *result = trap->totals;
    result->device_ns = now.device_ns;
    result->device_waits = now.device_waits;
    result->graph_launches = now.graph_launches;
    result->trap_code = (uint32_t)key;
    result->trap_lane = (uint32_t)(key >> 32) & 1023;
    result->trap_workgroup = linear(at, trap->whole);
    result->failed_command = trap->command;
    return ls__fail(&result->error, LS_E_TRAP,
                    "command %u called trap(%u) in workgroup %llu, lane %u", trap->command,
                    result->trap_code, (unsigned long long)result->trap_workgroup,
                    result->trap_lane);
}

static ls_status report_lost(const ls__cuda_recorder *r, ls_error *error)
{
    if (r->result == LS__CUDA_STUCK)
        ls__fail(error, LS_E_INDETERMINATE,
                 "a command did not stop within its limit after it was cancelled");
    else /* whatever the driver said, it may still run what it was given */
        ls__cuda_fail(r->cu, error, r->result, r->what);
    error->code = error->cause = LS_E_INDETERMINATE;
    return LS_E_INDETERMINATE;
}

static ls_status report(ls__cuda_recorder *r, ls__cuda_end end)
{
    ls__job_result *result = &r->job->result;
    switch (end) {
    case LS__CUDA_GOES_ON:
        result->measured = r->timed;
        return LS_OK;
    case LS__CUDA_TRAPPED:
        return report_trap(r->executor, r->job);
    case LS__CUDA_CANCELLED:
        return ls__fail(&result->error, LS_E_CANCELLED, "cancelled");
    case LS__CUDA_INDIRECT:
        result->error = r->error;
        result->failed_command = r->failed_command;
        result->trap_code = LS_TRAP_INDIRECT;
        return LS_E_TRAP;
    case LS__CUDA_REFUSED:
        return ls__cuda_fail(r->cu, &result->error, r->result, r->what);
    default:
        return report_lost(r, &result->error);
    }
}

/* --- one job ---------------------------------------------------------------------------------- */
static ls__cuda_end prepare_status(ls__cuda_recorder *r)
{
    ls__cuda_executor *executor = r->executor;
    executor->trapped = executor->stopped = executor->asked_to_stop = false;
    return ls__cuda_check(r,
                          r->cu->MemcpyHtoDAsync(executor->status->address, executor->constants,
                                                 sizeof *executor->constants, executor->stream),
                          "start a job");
}

static ls__cuda_end run_once(ls__cuda_recorder *r)
{
    r->totals = &r->job->result;
    r->segment = &r->executor->ring[0];
    for (uint32_t i = 0; i < LS__CUDA_RING; i++)
        ls__cuda_segment_reset(&r->executor->ring[i]);
    return ls__cuda_record(r);
}

/* No request to stop may come to the next job. */
static ls__cuda_end settle(ls__cuda_recorder *r, ls__cuda_end end)
{
    if (end == LS__CUDA_LOST || !r->executor->asked_to_stop)
        return end;
    ls__cu_result result = r->cu->StreamSynchronize(r->executor->control);
    if (result == LS__CU_SUCCESS)
        return end;
    ls__cuda_check(r, result, "end a job");
    return LS__CUDA_LOST;
}

static void run_job(void *context, ls__job *job, bool on_caller)
{
    ls__cuda_executor *executor = context;
    ls__cuda_guard guard;
    ls__cuda_recorder r = {
        .executor = executor,
        .device = executor->device,
        .cu = executor->device->cu,
        .job = job,
        .idle = true,
        .timed = job->timing,
    };
    ls__cuda_prepared *prepared = (ls__cuda_prepared *)job->prepared;
    ls__cuda_begin_calls(executor->device, &guard);
    executor->waiter = on_caller ? &guard : NULL;
    ls__cuda_range_begin("lockstep job");
    ls__cuda_end end = prepare_status(&r);
    if (end == LS__CUDA_GOES_ON && (!prepared || !ls__cuda_replay(&r, prepared, &end))) {
        uint64_t begun = ls__os_now_ns();
        end = run_once(&r);
        if (prepared && end == LS__CUDA_GOES_ON)
            ls__cuda_replayed_plain(prepared, ls__os_now_ns() - begun);
    }
    job->result.status = report(&r, settle(&r, end));
    if (job->result.status != LS_E_INDETERMINATE)
        ls__cuda_unload_retired(executor->device);
    ls__cuda_range_end();
    ls__cuda_end_calls(executor->device, &guard);
}

static const ls__job_calls calls = {.run = run_job};

/* --- creation --------------------------------------------------------------------------------- */
static ls__cu_result make_streams(ls__cuda_executor *executor)
{
    const ls__cuda_functions *cu = executor->device->cu;
    ls__cu_stream *streams[] = {&executor->stream, &executor->in, &executor->out,
                                &executor->control};
    ls__cu_event *events[] = {&executor->in_event, &executor->out_event, &executor->main_event};
    ls__cu_result result = LS__CU_SUCCESS;
    for (size_t i = 0; i < sizeof streams / sizeof *streams && result == LS__CU_SUCCESS; i++)
        result = cu->StreamCreate(streams[i], LS__CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < sizeof events / sizeof *events && result == LS__CU_SUCCESS; i++)
        result = cu->EventCreate(events[i], LS__CU_EVENT_NO_TIMING);
    return result;
}

static ls__cu_result make_constants(ls__cuda_executor *executor)
{
    void *memory = NULL;
    ls__cu_result result =
        ls__cuda_pinned_take(executor->device, 2 * sizeof *executor->constants, &memory);
    if (result != LS__CU_SUCCESS)
        return result;
    executor->constants = memory;
    executor->constants[0] = (ls__ptx_status){.trap = UINT64_MAX};
    executor->constants[1] = (ls__ptx_status){.cancel = 1};
    return LS__CU_SUCCESS;
}

static ls_status make_parts(ls__cuda_executor *executor, ls_error *error)
{
    ls__cuda_device *device = executor->device;
    uint64_t bytes =
        ls__cuda_test_hooks.staging_bytes ? ls__cuda_test_hooks.staging_bytes : staging_bytes;
    ls__cu_result result = make_streams(executor);
    if (result != LS__CU_SUCCESS)
        return ls__cuda_fail(device->cu, error, result, "make streams");
    result = make_constants(executor);
    for (uint32_t i = 0; i < LS__CUDA_RING && result == LS__CU_SUCCESS; i++)
        result = ls__cuda_segment_init(device, &executor->ring[i], bytes);
    if (result != LS__CU_SUCCESS) {
        char what[80];
        snprintf(what, sizeof what, "make staging memory of %d x %" PRIu64 " bytes", LS__CUDA_RING,
                 bytes);
        return ls__cuda_fail(device->cu, error, result, what);
    }
    return ls__cuda_take(device, LS__CUDA_BARRIER_PLACE + sizeof(uint32_t), &executor->status,
                         error);
}

ls_status ls__cuda_executor_create(ls__cuda_device *device, ls_error *error)
{
    ls__cuda_executor *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    device->executor = made;
    made->device = device;
    made->drains = 1;
    ls_status status = make_parts(made, error);
    return status == LS_OK ? ls__job_queue_open(&made->queue, &calls, made, error) : status;
}

void ls__cuda_executor_destroy(ls__cuda_device *device)
{
    const ls__cuda_functions *cu = device->cu;
    ls__cuda_executor *e = device->executor;
    if (!e)
        return;
    ls__job_queue_close(&e->queue);
    for (uint32_t i = 0; i < LS__CUDA_RING; i++)
        ls__cuda_segment_finish(device, &e->ring[i]);
    ls__cu_event events[] = {e->in_event, e->out_event, e->main_event};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            cu->EventDestroy(events[i]);
    ls__cu_stream streams[] = {e->stream, e->in, e->out, e->control};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (streams[i])
            cu->StreamDestroy(streams[i]);
    ls__cuda_pinned_give(device, e->constants, 2 * sizeof *e->constants);
    ls__cuda_give(device, e->status);
    ls__mem_free(e);
    device->executor = NULL;
}
