/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: what is on the way to the device, from its first step until it has completed.
 *
 * The thread that waits looks at an event, so that it also sees when the job is cancelled: then it
 * writes into the status block, through a stream of its own, until kernels see it.
 */
#include <string.h>

#include "base/mem.h"
#include "device/cuda/jobs.h"

enum { ALIGNMENT = 16, HEAD_BYTES = 64 };
_Static_assert(sizeof(ls__ptx_status) <= HEAD_BYTES, "the status stands before staging memory");

ls__cu_result ls__cuda_segment_init(ls__cuda_device *device, ls__cuda_segment *segment,
                                    uint64_t staging_bytes)
{
    const ls__cuda_functions *cu = device->cu;
    void *memory = NULL;
    ls__cu_result result = ls__cuda_pinned_take(device, HEAD_BYTES + staging_bytes, &memory);
    if (result != LS__CU_SUCCESS)
        return result;
    segment->host = memory;
    segment->size = HEAD_BYTES + staging_bytes;
    ls__cuda_segment_reset(segment);
    result = cu->EventCreate(&segment->begin, LS__CU_EVENT_DEFAULT);
    if (result == LS__CU_SUCCESS)
        result = cu->EventCreate(&segment->end, LS__CU_EVENT_DEFAULT);
    return result;
}

void ls__cuda_segment_finish(ls__cuda_device *device, ls__cuda_segment *segment)
{
    const ls__cuda_functions *cu = device->cu;
    for (uint32_t i = 0; i < LS__CUDA_MARKS; i++)
        if (segment->marks[i])
            cu->EventDestroy(segment->marks[i]);
    if (segment->begin)
        cu->EventDestroy(segment->begin);
    if (segment->end)
        cu->EventDestroy(segment->end);
    ls__cuda_pinned_give(device, segment->host, segment->size);
    segment->host = NULL;
}

void ls__cuda_segment_reset(ls__cuda_segment *segment)
{
    segment->begun = segment->timed = segment->blind = false;
    segment->used = HEAD_BYTES;
    segment->groups = 0;
    segment->step_count = segment->move_count = segment->trap_count = segment->mark_count = 0;
}

uint8_t *ls__cuda_stage(ls__cuda_segment *segment, uint64_t bytes)
{
    uint8_t *place = segment->host + segment->used;
    segment->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return place;
}

ls__cu_result ls__cuda_segment_begin(ls__cuda_executor *executor, ls__cuda_segment *segment,
                                     bool timed)
{
    ls__cu_result result = LS__CU_SUCCESS;
    if (timed)
        result = executor->device->cu->EventRecord(segment->begin, executor->stream);
    segment->begun = true;
    segment->timed = timed && result == LS__CU_SUCCESS;
    return result;
}

ls__cu_result ls__cuda_segment_send(ls__cuda_executor *executor, ls__cuda_segment *segment)
{
    const ls__cuda_functions *cu = executor->device->cu;
    ls__cu_result result = LS__CU_SUCCESS;
    if (executor->joined != executor->downloads)
        result = cu->StreamWaitEvent(executor->stream, executor->out_event, 0);
    executor->joined = executor->downloads;
    if (result == LS__CU_SUCCESS)
        result = cu->MemcpyDtoHAsync(segment->host, executor->status->address,
                                     sizeof(ls__ptx_status), executor->stream);
    if (result == LS__CU_SUCCESS)
        result = cu->EventRecord(segment->end, executor->stream);
    segment->blind = result != LS__CU_SUCCESS;
    return result;
}

/* --- waiting ---------------------------------------------------------------------------------- */
static ls__cu_result ask_to_stop(ls__cuda_executor *executor)
{
    const uint32_t *one = &executor->constants[1].cancel;
    executor->asked_to_stop = true;
    if (ls__cuda_test_hooks.stuck_ns)
        return LS__CU_SUCCESS;
    return executor->device->cu->MemcpyHtoDAsync(executor->status->address +
                                                     offsetof(ls__ptx_status, cancel),
                                                 one, sizeof *one, executor->control);
}

static uint64_t grace_ns(void)
{
    return ls__cuda_test_hooks.stuck_ns ? ls__cuda_test_hooks.stuck_ns
                                        : LS__CUDA_GRACE_S * UINT64_C(1000000000);
}

static ls__cu_result has_ended(const ls__cuda_executor *executor, const ls__cuda_segment *segment)
{
    const ls__cuda_functions *cu = executor->device->cu;
    return segment->blind ? cu->StreamQuery(executor->stream) : cu->EventQuery(segment->end);
}

static ls__cu_result wait_for(ls__cuda_executor *executor, const ls__cuda_segment *segment,
                              const ls__job *job)
{
    const uint64_t awake_ns = 100000, longest_ns = 1000000, again_ns = 5000000;
    uint64_t begun = ls__os_now_ns(), asked = 0, ask_next = 0;
    for (;;) {
        ls__cu_result result = has_ended(executor, segment);
        if (result != LS__CU_NOT_READY)
            return result;
        uint64_t now = ls__os_now_ns(), waited = now - begun;
        if (atomic_load(&job->cancel) && now >= ask_next) {
            result = ask_to_stop(executor); /* refused: again, a little later */
            if (result != LS__CU_SUCCESS && !ls__cuda_is_refusal(result))
                return result;
            asked = asked ? asked : now;
            ask_next = now + again_ns;
        }
        if (asked && now - asked > grace_ns())
            return LS__CUDA_STUCK;
        if (waited < awake_ns)
            ls__os_relax();
        else /* a part of what it has taken so far */
            ls__os_sleep_ns(waited / 16 < longest_ns ? waited / 16 : longest_ns);
        if (waited >= awake_ns && executor->waiter)
            ls__cuda_take_signals(executor->waiter);
    }
}

/* --- completing ------------------------------------------------------------------------------- */
static ls__cu_result add_time(const ls__cuda_functions *cu, ls__cu_event begin, ls__cu_event end,
                              uint64_t *ns)
{
    float milliseconds = 0;
    ls__cu_result result = cu->EventElapsedTime(&milliseconds, begin, end);
    if (result == LS__CU_SUCCESS && milliseconds > 0)
        *ns += (uint64_t)((double)milliseconds * 1e6);
    return result;
}

static ls__cu_result add_times(const ls__cuda_functions *cu, const ls__cuda_segment *segment,
                               ls__job *job)
{
    ls__cu_event before = segment->begin;
    ls__cu_result result = LS__CU_SUCCESS;
    if (!segment->timed || !job->timing)
        return LS__CU_SUCCESS;
    for (uint32_t i = 0; i < segment->mark_count && result == LS__CU_SUCCESS; i++) {
        result = add_time(cu, before, segment->marks[i], &job->rows[segment->rows[i]].device_ns);
        before = segment->marks[i];
    }
    if (result == LS__CU_SUCCESS)
        result = add_time(cu, segment->begin, segment->end, &job->result.device_ns);
    return result;
}

/* The first grid that trapped says so in the status block. */
static void find_trap(ls__cuda_executor *executor, const ls__cuda_segment *segment)
{
    ls__ptx_status status;
    memcpy(&status, segment->host, sizeof status);
    executor->stopped |= status.stopped != 0;
    for (uint32_t i = 0; i < segment->trap_count && status.trap_sequence && !executor->trapped;
         i++) {
        if (segment->traps[i].sequence != status.trap_sequence)
            continue;
        executor->trapped = true;
        executor->trap = segment->traps[i];
        executor->trap_status = status;
    }
}

/* Downloads behind a launch that has trapped have not happened. */
static void make_moves(const ls__cuda_executor *executor, const ls__cuda_segment *segment,
                       const ls__job *job)
{
    for (uint32_t i = 0; i < segment->move_count; i++) {
        const ls__cuda_move *move = &segment->moves[i];
        if (executor->trapped && move->sequence >= executor->trap.first_sequence)
            return;
        memcpy((uint8_t *)job->commands[move->command].download + move->host_place, move->staged,
               move->size);
    }
}

ls__cu_result ls__cuda_segment_complete(ls__cuda_executor *executor, ls__cuda_segment *segment,
                                        ls__job *job)
{
    ls__cu_result result = wait_for(executor, segment, job);
    job->result.device_waits++;
    if (result == LS__CU_SUCCESS && segment->blind)
        return result;
    if (result == LS__CU_SUCCESS)
        result = add_times(executor->device->cu, segment, job);
    if (result != LS__CU_SUCCESS)
        return result;
    find_trap(executor, segment);
    if (!executor->stopped)
        make_moves(executor, segment, job);
    return LS__CU_SUCCESS;
}
