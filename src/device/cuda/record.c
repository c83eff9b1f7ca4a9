/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: the walk through a job's commands, room in segments, rows.
 *
 * All steps are in the order of one stream, but for large transfers that can run beside kernels
 * (copy.c). The host waits where it must know how something ended: at the job's end, before a
 * command that must not happen after a trap, where sizes are read.
 */
#include "device/cuda/jobs.h"

static const uint32_t last_sequence = 1u << 31;

ls__cuda_end ls__cuda_check(ls__cuda_recorder *r, ls__cu_result result, const char *what)
{
    return ls__cuda_check_bytes(r, result, what, 0);
}

ls__cuda_end ls__cuda_check_bytes(ls__cuda_recorder *r, ls__cu_result result, const char *what,
                                  uint64_t bytes)
{
    if (result == LS__CU_SUCCESS)
        return LS__CUDA_GOES_ON;
    r->failure = (ls__cuda_failure){result, what, bytes};
    return ls__cuda_is_refusal(result) ? LS__CUDA_REFUSED : LS__CUDA_LOST;
}

/* --- segments --------------------------------------------------------------------------------- */
static ls__cuda_end complete_oldest(ls__cuda_recorder *r)
{
    uint32_t oldest = (r->current + LS__CUDA_RING - r->in_flight) % LS__CUDA_RING;
    r->in_flight--;
    ls__cu_result result =
        ls__cuda_segment_complete(r->executor, &r->executor->ring[oldest], r->job);
    ls__cuda_segment_reset(&r->executor->ring[oldest]);
    /* Even where the driver only refuses to say how it went, nobody knows. */
    return ls__cuda_check(r, result, "run commands") == LS__CUDA_GOES_ON ? LS__CUDA_GOES_ON
                                                                         : LS__CUDA_LOST;
}

/* All that is in flight; whether the job goes on after it. */
static ls__cuda_end complete_all(ls__cuda_recorder *r)
{
    ls__cuda_end end = LS__CUDA_GOES_ON;
    while (r->in_flight && end == LS__CUDA_GOES_ON)
        end = complete_oldest(r);
    if (end != LS__CUDA_GOES_ON)
        return end;
    r->executor->drains++;
    r->idle = true;
    r->may_trap = false;
    if (r->executor->trapped)
        return LS__CUDA_TRAPPED;
    return r->executor->stopped ? LS__CUDA_CANCELLED : LS__CUDA_GOES_ON;
}

/* After the driver has refused something: what is on the way, also on the streams beside. */
static ls__cuda_end complete_refused(ls__cuda_recorder *r)
{
    ls__cuda_executor *executor = r->executor;
    ls__cuda_failure failure = r->failure;
    ls__cuda_end end = complete_all(r);
    if (end == LS__CUDA_LOST)
        return end;
    ls__cu_result result = r->cu->StreamSynchronize(executor->in);
    if (result == LS__CU_SUCCESS)
        result = r->cu->StreamSynchronize(executor->out);
    if (ls__cuda_check(r, result, "wait for copies") != LS__CUDA_GOES_ON)
        return LS__CUDA_LOST;
    executor->joined = executor->downloads;
    r->failure = failure;
    return end == LS__CUDA_GOES_ON ? LS__CUDA_REFUSED : end;
}

ls__cuda_end ls__cuda_close(ls__cuda_recorder *r, bool drain)
{
    ls__cuda_end end = LS__CUDA_GOES_ON;
    if (r->prepared)
        return LS__CUDA_UNPREPARED;
    if (r->segment->begun) {
        end = ls__cuda_check(r, ls__cuda_segment_send(r->executor, r->segment), "run commands");
        if (end == LS__CUDA_LOST)
            return end;
        r->in_flight++;
        r->current = (r->current + 1) % LS__CUDA_RING;
    }
    if (end == LS__CUDA_REFUSED)
        end = complete_refused(r);
    else if (drain)
        end = complete_all(r);
    else if (r->in_flight == LS__CUDA_RING)
        end = complete_oldest(r);
    r->segment = &r->executor->ring[r->current];
    return end;
}

static bool is_full(const ls__cuda_recorder *r, uint64_t staging)
{
    const ls__cuda_segment *s = r->segment;
    return s->used + staging > s->size || s->step_count >= LS__CUDA_STEPS ||
           (s->groups >= LS__CUDA_GROUPS && !r->prepared) || s->move_count == LS__CUDA_MOVES ||
           s->trap_count == LS__CUDA_TRAPS || s->mark_count == LS__CUDA_MARKS;
}

ls__cuda_end ls__cuda_room(ls__cuda_recorder *r, uint64_t staging)
{
    if (is_full(r, staging)) {
        ls__cuda_end end = ls__cuda_close(r, false);
        if (end != LS__CUDA_GOES_ON)
            return end;
    }
    r->idle = false;
    if (r->segment->begun)
        return LS__CUDA_GOES_ON;
    if (r->prepared) {
        r->segment->begun = true;
        return LS__CUDA_GOES_ON;
    }
    return ls__cuda_check(r, ls__cuda_segment_begin(r->executor, r->segment, r->timed),
                          "record an event");
}

ls__cuda_end ls__cuda_put(ls__cuda_recorder *r, const ls__cuda_step *step)
{
    if (r->prepared)
        return ls__cuda_put_node(r, step);
    r->segment->step_count++;
    ls__cu_result result = ls__cuda_issue(r->cu, step, r->executor->stream);
    if (step->kind == LS__STEP_LAUNCH)
        return ls__cuda_check(r, result, "launch a kernel");
    return ls__cuda_check_bytes(r, result, step->kind == LS__STEP_SET ? "fill" : "copy",
                                step->bytes);
}

ls__cuda_end ls__cuda_touch(ls__cuda_recorder *r, ls__cuda_memory *memory)
{
    ls__cuda_executor *executor = r->executor;
    memory->used = executor->drains;
    if (memory->fetched <= executor->joined)
        return LS__CUDA_GOES_ON;
    executor->joined = executor->downloads;
    return ls__cuda_check(r, r->cu->StreamWaitEvent(executor->stream, executor->out_event, 0),
                          "wait for a copy");
}

/* --- rows ------------------------------------------------------------------------------------- */
static void begin_row(ls__cuda_recorder *r, const ls__command *command, uint32_t iteration)
{
    if (!r->job->rows)
        return;
    r->job->rows[r->totals->rows] =
        (ls__job_row){.command = command->index, .iteration = iteration, .measured = r->timed};
    r->in_row = true;
}

static ls__cuda_end end_row(ls__cuda_recorder *r, uint64_t lanes)
{
    ls__cuda_segment *s = r->segment;
    ls__cuda_end end = LS__CUDA_GOES_ON;
    if (!r->in_row)
        return end;
    r->in_row = false;
    r->job->rows[r->totals->rows].lanes = lanes;
    /* Commands without steps have begun no segment. */
    if (s->begun && s->timed && s->mark_count < LS__CUDA_MARKS) {
        ls__cu_event *mark = &s->marks[s->mark_count];
        ls__cu_result result =
            *mark ? LS__CU_SUCCESS : r->cu->EventCreate(mark, LS__CU_EVENT_DEFAULT);
        if (result == LS__CU_SUCCESS)
            result = r->cu->EventRecord(*mark, r->executor->stream);
        s->rows[s->mark_count] = r->totals->rows;
        end = ls__cuda_check(r, result, "record an event");
        if (end == LS__CUDA_GOES_ON)
            s->mark_count++;
    }
    r->totals->rows++;
    return end;
}

/* --- the walk --------------------------------------------------------------------------------- */
/* Kernels see that an earlier one has trapped, and what downloads have staged is thrown away then;
 * other transfers wait. */
static bool waits_for_traps(const ls__command *command)
{
    return command->kind != LS__COMMAND_DISPATCH && command->kind != LS__COMMAND_DOWNLOAD;
}

static ls__cuda_end make_way(ls__cuda_recorder *r, const ls__command *command)
{
    ls__cuda_end end = LS__CUDA_GOES_ON;
    bool is_last = r->sequence >= last_sequence;
    if (!r->prepared && atomic_load(&r->job->cancel))
        return LS__CUDA_CANCELLED;
    if (r->executor->trapped)
        return LS__CUDA_TRAPPED;
    if (is_last || (r->may_trap && waits_for_traps(command)))
        end = ls__cuda_close(r, true);
    if (is_last)
        r->sequence = 0;
    return end;
}

static ls__cuda_end record_command(ls__cuda_recorder *r, uint32_t index, uint32_t iteration)
{
    const ls__command *command = &r->job->commands[index];
    uint64_t lanes = 0;
    ls__cuda_end end = make_way(r, command);
    if (end != LS__CUDA_GOES_ON)
        return end;
    begin_row(r, command, iteration);
    r->totals->commands++;
    switch (command->kind) {
    case LS__COMMAND_DISPATCH:
        end = ls__cuda_record_dispatch(r, command, iteration, &lanes);
        break;
    case LS__COMMAND_COPY:
        r->totals->bytes_copied += command->target.size;
        end = ls__cuda_record_copy(r, command);
        break;
    case LS__COMMAND_UPLOAD:
        r->totals->bytes_uploaded += command->target.size;
        end = ls__cuda_record_upload(r, command);
        break;
    case LS__COMMAND_FILL:
        r->totals->bytes_copied += command->target.size;
        end = ls__cuda_record_fill(r, command);
        break;
    case LS__COMMAND_DOWNLOAD:
        r->totals->bytes_downloaded += command->source.size;
        end = ls__cuda_record_download(r, index);
        break;
    }
    return end == LS__CUDA_GOES_ON ? end_row(r, lanes) : end;
}

static ls__cuda_end record_range(ls__cuda_recorder *r, uint32_t first, uint32_t end,
                                 uint32_t iteration)
{
    ls__cuda_end how = LS__CUDA_GOES_ON;
    for (uint32_t i = first; i < end && how == LS__CUDA_GOES_ON; i++)
        how = record_command(r, i, iteration);
    return how;
}

static ls__cuda_end record_all(ls__cuda_recorder *r)
{
    const ls__job *job = r->job;
    ls__cuda_end end = LS__CUDA_GOES_ON;
    uint32_t next = 0;
    for (uint32_t i = 0; i < job->repeat_count && end == LS__CUDA_GOES_ON; i++) {
        const ls__repeat *repeat = &job->repeats[i];
        end = record_range(r, next, repeat->first, job->iteration);
        for (uint32_t round = 0; round < repeat->rounds && end == LS__CUDA_GOES_ON; round++)
            end = record_range(r, repeat->first, repeat->end, round);
        next = repeat->end;
    }
    if (end == LS__CUDA_GOES_ON)
        end = record_range(r, next, job->command_count, job->iteration);
    return end;
}

/* After anything but a lost device, what is on the way ends. */
ls__cuda_end ls__cuda_record(ls__cuda_recorder *r)
{
    ls__cuda_end end = record_all(r);
    if (r->prepared || end == LS__CUDA_LOST)
        return end;
    ls__cuda_failure failure = r->failure;
    ls__cuda_end last = ls__cuda_close(r, true);
    if (last == LS__CUDA_LOST || end == LS__CUDA_GOES_ON)
        return last;
    r->failure = failure;
    return end == LS__CUDA_REFUSED && complete_refused(r) == LS__CUDA_LOST ? LS__CUDA_LOST : end;
}
