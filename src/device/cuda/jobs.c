/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor: jobs one at a time (device/common), recorded, sent and waited for. Who waits for
 * the running job looks at its cancel flag (segment.c), so there is nothing to do to cancel it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/jobs.h"

static const uint64_t staging_bytes = 4 << 20;

/* --- how a job ends --------------------------------------------------------------------------- */
static ls_status report_failure(const ls__cuda_recorder *r, ls__job_result *result)
{
    const ls__cuda_failure *f = &r->failure;
    if (f->bytes)
        return ls__cuda_fail_bytes(r->cu, &result->error, f->result, f->what, f->bytes);
    return ls__cuda_fail(r->cu, &result->error, f->result, f->what);
}

static ls_status report_lost(const ls__cuda_recorder *r, ls__job_result *result)
{
    if (r->failure.result == LS__CUDA_STUCK)
        return ls__end_stuck(result);
    report_failure(r, result);
    return ls__end_lost(result);
}

static ls_status report(ls__cuda_recorder *r, ls__cuda_end end)
{
    ls__job_result *result = &r->job->result;
    const ls__cuda_trap *trap = &r->executor->trap;
    uint64_t key = r->executor->trap_status.trap;
    switch (end) {
    case LS__CUDA_GOES_ON:
        result->measured = r->timed;
        return LS_OK;
    case LS__CUDA_TRAPPED:
        return ls__end_trapped(result, &trap->box, (uint32_t)(key >> 42), (uint32_t)key,
                               (uint32_t)(key >> 32) & 1023);
    case LS__CUDA_CANCELLED:
        return ls__fail(&result->error, LS_E_CANCELLED, "cancelled");
    case LS__CUDA_INDIRECT:
        return ls__end_indirect(result, r->failed_command, &r->error);
    case LS__CUDA_REFUSED:
        return report_failure(r, result);
    default:
        return report_lost(r, result);
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
