/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor: jobs one at a time (device/common), recorded, submitted and waited for. `cancel`
 * writes into the status block that the kernels of the running job look at.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/jobs.h"

static const uint64_t argument_bytes = 512 << 10, staging_bytes = 4 << 20;

volatile ls__spirv_status *ls__vulkan_status(const ls__vulkan_executor *executor)
{
    return (volatile ls__spirv_status *)(void *)ls__vulkan_host(executor->status, 0);
}

/* --- jobs that run once ----------------------------------------------------------------------- */
typedef struct stream { /* the recorder's context: segments in flight are those before `current` */
    uint32_t current, in_flight;
} stream;

static ls__vulkan_end complete_oldest(ls__vulkan_recorder *r)
{
    stream *st = r->context;
    uint32_t oldest = (st->current + LS__VULKAN_RING - st->in_flight) % LS__VULKAN_RING;
    st->in_flight--;
    r->result = ls__vulkan_segment_complete(r->executor, r->executor->ring[oldest], r->job);
    return r->result == VK_SUCCESS ? LS__VULKAN_GOES_ON : LS__VULKAN_LOST;
}

/* All that is in flight; whether the job goes on after it. */
static ls__vulkan_end complete_all(ls__vulkan_recorder *r)
{
    stream *st = r->context;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    while (st->in_flight && end == LS__VULKAN_GOES_ON)
        end = complete_oldest(r);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    r->idle = true;
    r->may_trap = false;
    if (r->executor->trapped)
        return LS__VULKAN_TRAPPED;
    return ls__vulkan_status(r->executor)->stopped ? LS__VULKAN_CANCELLED : LS__VULKAN_GOES_ON;
}

static ls__vulkan_end close_segment(ls__vulkan_recorder *r, bool drain)
{
    stream *st = r->context;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    if (r->segment->begun) {
        r->result = ls__vulkan_end_segment(r);
        if (r->result == VK_SUCCESS)
            r->result = ls__vulkan_segment_submit(r->executor, r->segment);
        if (r->result != VK_SUCCESS)
            return LS__VULKAN_LOST;
        st->in_flight++;
        st->current = (st->current + 1) % LS__VULKAN_RING;
    }
    if (drain)
        end = complete_all(r);
    else if (st->in_flight == LS__VULKAN_RING)
        end = complete_oldest(r);
    r->segment = r->executor->ring[st->current];
    ls__vulkan_segment_reset(r->segment);
    return end;
}

/* After anything but a lost device: what is in flight ends, and what was not submitted is dropped.
 */
static ls__vulkan_end settle(ls__vulkan_recorder *r, ls__vulkan_end end)
{
    if (end == LS__VULKAN_LOST)
        return end;
    if (r->segment->begun)
        r->device->vk.EndCommandBuffer(r->segment->commands);
    ls__vulkan_segment_reset(r->segment);
    ls__vulkan_end last = complete_all(r);
    return last == LS__VULKAN_LOST || end == LS__VULKAN_GOES_ON ? last : end;
}

static ls__vulkan_end run_once(ls__vulkan_recorder *r)
{
    stream st = {0};
    r->context = &st;
    r->close = close_segment;
    r->totals = &r->job->result;
    r->segment = r->executor->ring[0];
    ls__vulkan_segment_reset(r->segment);
    return settle(r, ls__vulkan_record(r));
}

/* --- how a job ends --------------------------------------------------------------------------- */
static ls_status report_trap(ls__vulkan_executor *executor, ls__job_result *result)
{
    uint32_t group = ls__vulkan_status(executor)->trap_group;
    const ls__spirv_trap_slot *slot =
        (const ls__spirv_trap_slot *)(const void *)ls__vulkan_host(executor->slots, 0) + group;
    return ls__end_trapped(result, &executor->trap.box, group, slot->code, slot->lane);
}

/* A limit of one driver (emit/spirv/llvmpipe.c) that its kernels find out about. */
static ls_status report_ended_loops(ls__job_result *result)
{
    ls__fail(&result->error, LS_E_LIMIT,
             "the driver ended loops of a kernel early: it runs at most 65535 rounds of all loops "
             "of a lane");
    return ls__fail_hint(&result->error, LS_E_LIMIT, "run it on another device, such as cpu");
}

static ls_status report(ls__vulkan_recorder *r, ls__vulkan_end end)
{
    ls__job_result *result = &r->job->result;
    if ((end == LS__VULKAN_TRAPPED || end == LS__VULKAN_CANCELLED) &&
        (ls__vulkan_status(r->executor)->stopped & LS__SPIRV_STOPPED_LOOPS) != 0)
        return report_ended_loops(result);
    switch (end) {
    case LS__VULKAN_GOES_ON:
        result->measured = r->timed;
        return LS_OK;
    case LS__VULKAN_TRAPPED:
        return report_trap(r->executor, result);
    case LS__VULKAN_CANCELLED:
        return ls__fail(&result->error, LS_E_CANCELLED, "cancelled");
    case LS__VULKAN_INDIRECT:
        return ls__end_indirect(result, r->failed_command, &r->error);
    default:
        if (r->result == VK_TIMEOUT)
            return ls__end_stuck(result);
        ls__vulkan_fail(&result->error, r->result, "run commands");
        return ls__end_lost(result);
    }
}

/* Under the lock. */
static void begin_job(void *context)
{
    ls__vulkan_executor *executor = context;
    volatile ls__spirv_status *status = ls__vulkan_status(executor);
    status->cancel = 0;
    status->stopped = 0;
    status->trap_sequence = UINT32_MAX;
    status->trap_group = UINT32_MAX;
    executor->trapped = false;
}

/* Under the lock. */
static void cancel_job(void *context)
{
    ls__vulkan_status(context)->cancel = 1;
}

static void run_job(void *context, ls__job *job, bool on_caller)
{
    ls__vulkan_executor *executor = context;
    ls__vulkan_guard guard;
    ls__vulkan_recorder r = {
        .executor = executor,
        .device = executor->device,
        .job = job,
        .idle = true,
        .timed = job->timing && executor->device->caps.timing,
    };
    ls__vulkan_end end;
    ls__vulkan_enter(&guard);
    executor->waiter = on_caller ? &guard : NULL;
    if (!job->prepared || !ls__vulkan_replay(&r, (ls__vulkan_prepared *)job->prepared, &end))
        end = run_once(&r);
    job->result.status = report(&r, end);
    ls__vulkan_leave(&guard);
}

static const ls__job_calls calls = {run_job, begin_job, cancel_job};

/* --- creation --------------------------------------------------------------------------------- */
static ls_status make_status(ls__vulkan_executor *executor, ls_error *error)
{
    ls__vulkan_device *device = executor->device;
    ls_status status = ls__vulkan_take(device, &device->arguments, LS__VULKAN_STATUS_BYTES,
                                       &executor->status, error);
    if (status == LS_OK)
        status = ls__vulkan_take(device, &device->staging,
                                 LS__VULKAN_TRAP_SLOTS * sizeof(ls__spirv_trap_slot),
                                 &executor->slots, error);
    if (status != LS_OK)
        return status;
    memset(ls__vulkan_host(executor->status, 0), 0, LS__VULKAN_STATUS_BYTES);
    ls__vulkan_status(executor)->trap_slots = ls__vulkan_address(executor->slots, 0);
    ls__vulkan_status(executor)->trap_slot_count = LS__VULKAN_TRAP_SLOTS;
    return LS_OK;
}

static ls_status make_ring(ls__vulkan_executor *executor, ls_error *error)
{
    ls__vulkan_device *device = executor->device;
    uint64_t bytes = ls__vulkan_test_hooks.segment_bytes;
    VkResult result = ls__vulkan_pool(device, &executor->pool);
    if (result == VK_SUCCESS)
        result = ls__vulkan_timeline(device, &executor->timeline);
    if (result != VK_SUCCESS)
        return ls__vulkan_fail(error, result, "make a command pool");
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < LS__VULKAN_RING && status == LS_OK; i++)
        status = ls__vulkan_segment_create(device, executor->pool, bytes ? bytes : argument_bytes,
                                           bytes ? bytes : staging_bytes, false, &executor->ring[i],
                                           error);
    return status;
}

ls_status ls__vulkan_executor_create(ls__vulkan_device *device, ls_error *error)
{
    ls__vulkan_executor *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    device->executor = made;
    made->device = device;
    ls_status status = make_status(made, error);
    if (status == LS_OK)
        status = make_ring(made, error);
    if (status == LS_OK)
        status = ls__job_queue_open(&made->queue, &calls, made, error);
    return status;
}

void ls__vulkan_executor_destroy(ls__vulkan_device *device)
{
    ls__vulkan_executor *e = device->executor;
    if (!e)
        return;
    ls__job_queue_close(&e->queue);
    for (uint32_t i = 0; i < LS__VULKAN_RING; i++)
        ls__vulkan_segment_destroy(device, e->pool, &e->ring[i]);
    if (e->timeline)
        device->vk.DestroySemaphore(device->handle, e->timeline, NULL);
    if (e->pool)
        device->vk.DestroyCommandPool(device->handle, e->pool, NULL);
    ls__vulkan_give(device, e->status);
    ls__vulkan_give(device, e->slots);
    ls__mem_free(e);
    device->executor = NULL;
}
