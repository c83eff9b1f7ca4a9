/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording transfers. What comes from and goes to the host passes through the segment's staging
 * memory.
 *
 * A large upload to memory that nothing on the way uses runs on a stream of its own, beside the
 * kernels before it; a large download likewise, beside those behind it. What uses such memory next
 * waits for it.
 */
#include <string.h>

#include "device/cuda/jobs.h"

static const uint64_t piece_bytes = 1 << 20, large_bytes = 64 << 10;
enum { PATTERN_BYTES = 4096 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What one step moves through staging memory. A graph has room for all of it. */
static uint64_t next_piece(const ls__cuda_recorder *r, uint64_t left)
{
    const ls__cuda_segment *s = r->segment;
    uint64_t whole = s->size - (sizeof(ls__ptx_status) + 64);
    return r->prepared ? left : smaller(left, smaller(piece_bytes, whole));
}

static bool runs_beside(const ls__cuda_recorder *r, const ls__cuda_memory *memory, uint64_t bytes)
{
    uint64_t least =
        ls__cuda_test_hooks.overlap_bytes ? ls__cuda_test_hooks.overlap_bytes : large_bytes;
    return bytes >= least && !r->prepared && !r->job->rows && !memory->imported;
}

/* --- copies ----------------------------------------------------------------------------------- */
/* Through staging memory, in the order in which nothing is overwritten before it is read. */
static ls__cuda_end copy_overlapping(ls__cuda_recorder *r, ls__cu_address to, ls__cu_address from,
                                     uint64_t size)
{
    ls__cuda_end end = LS__CUDA_GOES_ON;
    for (uint64_t done = 0, bytes; done < size && end == LS__CUDA_GOES_ON; done += bytes) {
        bytes = next_piece(r, size - done);
        uint64_t at = to > from ? size - done - bytes : done;
        end = ls__cuda_room(r, bytes);
        if (end != LS__CUDA_GOES_ON)
            return end;
        uint8_t *staged = ls__cuda_stage(r->segment, bytes);
        end = ls__cuda_put(
            r, &(ls__cuda_step){
                   .kind = LS__STEP_OUT, .source = from + at, .host = staged, .bytes = bytes});
        if (end == LS__CUDA_GOES_ON)
            end = ls__cuda_put(
                r, &(ls__cuda_step){
                       .kind = LS__STEP_IN, .target = to + at, .host = staged, .bytes = bytes});
    }
    return end;
}

static ls__cuda_end put_copy(ls__cuda_recorder *r, ls__cu_address to, ls__cu_address from,
                             uint64_t size)
{
    ls__cuda_step step = {.kind = LS__STEP_COPY, .target = to, .source = from, .bytes = size};
    ls__cuda_end end = ls__cuda_room(r, 0);
    return end == LS__CUDA_GOES_ON ? ls__cuda_put(r, &step) : end;
}

ls__cuda_end ls__cuda_record_copy(ls__cuda_recorder *r, const ls__command *command)
{
    ls__cu_address to = ls__cuda_address(&command->target),
                   from = ls__cuda_address(&command->source);
    uint64_t size = command->target.size;
    ls__cuda_end end = ls__cuda_touch(r, ls__cuda_memory_of(&command->target));
    if (end == LS__CUDA_GOES_ON)
        end = ls__cuda_touch(r, ls__cuda_memory_of(&command->source));
    if (end != LS__CUDA_GOES_ON || to == from)
        return end;
    if (to < from + size && from < to + size)
        return copy_overlapping(r, to, from, size);
    return put_copy(r, to, from, size);
}

/* --- fills ------------------------------------------------------------------------------------ */
typedef struct fill {
    ls__cu_address target;
    uint64_t size;
    const uint8_t *pattern;
    uint32_t period;
} fill;

/* The shortest period that the pattern has. */
static uint32_t find_period(const uint8_t *pattern, uint32_t bytes)
{
    while (bytes > 1 && memcmp(pattern, pattern + bytes / 2, bytes / 2) == 0)
        bytes /= 2;
    return bytes;
}

/* Some from staging memory, which is then doubled again and again. */
static ls__cuda_end fill_doubling(ls__cuda_recorder *r, const fill *f)
{
    uint64_t done = smaller(f->size, PATTERN_BYTES);
    ls__cuda_end end = ls__cuda_room(r, done);
    if (end != LS__CUDA_GOES_ON)
        return end;
    uint8_t *staged = ls__cuda_stage(r->segment, done);
    for (uint64_t i = 0; i < done; i++)
        staged[i] = f->pattern[i % f->period];
    end = ls__cuda_put(
        r,
        &(ls__cuda_step){.kind = LS__STEP_IN, .target = f->target, .host = staged, .bytes = done});
    while (done < f->size && end == LS__CUDA_GOES_ON) {
        uint64_t bytes = smaller(done, f->size - done);
        end = put_copy(r, f->target + done, f->target, bytes);
        done += bytes;
    }
    return end;
}

ls__cuda_end ls__cuda_record_fill(ls__cuda_recorder *r, const ls__command *command)
{
    fill f = {.target = ls__cuda_address(&command->target),
              .size = command->target.size,
              .pattern = command->fill.pattern,
              .period = find_period(command->fill.pattern, command->fill.bytes)};
    ls__cuda_end end = ls__cuda_touch(r, ls__cuda_memory_of(&command->target));
    if (end != LS__CUDA_GOES_ON)
        return end;
    if (f.period > 4 || f.target % f.period || f.size % f.period)
        return fill_doubling(r, &f);
    ls__cuda_step step = {
        .kind = LS__STEP_SET, .target = f.target, .bytes = f.size, .element_bytes = f.period};
    memcpy(&step.value, f.pattern, f.period);
    end = ls__cuda_room(r, 0);
    return end == LS__CUDA_GOES_ON ? ls__cuda_put(r, &step) : end;
}

/* --- host bytes ------------------------------------------------------------------------------- */
static ls__cuda_end upload_beside(ls__cuda_recorder *r, const ls__cuda_step *step)
{
    ls__cuda_executor *executor = r->executor;
    r->segment->step_count++;
    ls__cu_result result = ls__cuda_issue(r->cu, step, executor->in);
    if (result == LS__CU_SUCCESS)
        result = r->cu->EventRecord(executor->in_event, executor->in);
    if (result == LS__CU_SUCCESS)
        result = r->cu->StreamWaitEvent(executor->stream, executor->in_event, 0);
    atomic_fetch_add(&ls__cuda_test_hooks.overlaps, 1);
    return ls__cuda_check_bytes(r, result, "copy", step->bytes);
}

ls__cuda_end ls__cuda_record_upload(ls__cuda_recorder *r, const ls__command *command)
{
    const ls__span *target = &command->target;
    ls__cuda_memory *memory = ls__cuda_memory_of(target);
    ls__cuda_end end = LS__CUDA_GOES_ON;
    bool beside = runs_beside(r, memory, target->size) && memory->used != r->executor->drains &&
                  memory->fetched <= r->executor->joined;
    if (!beside)
        end = ls__cuda_touch(r, memory);
    for (uint64_t done = 0, bytes; done < target->size && end == LS__CUDA_GOES_ON; done += bytes) {
        bytes = next_piece(r, target->size - done);
        end = ls__cuda_room(r, bytes);
        if (end != LS__CUDA_GOES_ON)
            break;
        ls__cuda_step step = {.kind = LS__STEP_IN,
                              .target = ls__cuda_address(target) + done,
                              .host = ls__cuda_stage(r->segment, bytes),
                              .bytes = bytes};
        memcpy(step.host, (const uint8_t *)command->upload + done, bytes);
        end = beside ? upload_beside(r, &step) : ls__cuda_put(r, &step);
    }
    if (beside && end == LS__CUDA_GOES_ON)
        end = ls__cuda_touch(r, memory);
    return end;
}

static ls__cuda_end download_beside(ls__cuda_recorder *r, const ls__cuda_step *step,
                                    ls__cuda_memory *memory)
{
    ls__cuda_executor *executor = r->executor;
    r->segment->step_count++;
    ls__cu_result result = r->cu->EventRecord(executor->main_event, executor->stream);
    if (result == LS__CU_SUCCESS)
        result = r->cu->StreamWaitEvent(executor->out, executor->main_event, 0);
    if (result == LS__CU_SUCCESS)
        result = ls__cuda_issue(r->cu, step, executor->out);
    if (result == LS__CU_SUCCESS)
        result = r->cu->EventRecord(executor->out_event, executor->out);
    memory->fetched = ++executor->downloads;
    memory->used = executor->drains; /* no upload runs beside it */
    atomic_fetch_add(&ls__cuda_test_hooks.overlaps, 1);
    return ls__cuda_check_bytes(r, result, "copy", step->bytes);
}

ls__cuda_end ls__cuda_record_download(ls__cuda_recorder *r, uint32_t index)
{
    const ls__span *source = &r->job->commands[index].source;
    ls__cuda_memory *memory = ls__cuda_memory_of(source);
    bool beside = runs_beside(r, memory, source->size);
    ls__cuda_end end = beside ? LS__CUDA_GOES_ON : ls__cuda_touch(r, memory);
    for (uint64_t done = 0, bytes; done < source->size && end == LS__CUDA_GOES_ON; done += bytes) {
        bytes = next_piece(r, source->size - done);
        end = ls__cuda_room(r, bytes);
        if (end != LS__CUDA_GOES_ON)
            break;
        ls__cuda_step step = {.kind = LS__STEP_OUT,
                              .source = ls__cuda_address(source) + done,
                              .host = ls__cuda_stage(r->segment, bytes),
                              .bytes = bytes};
        ls__cuda_segment *s = r->segment;
        s->moves[s->move_count] = (ls__cuda_move){.command = index,
                                                  .sequence = r->sequence,
                                                  .host_place = done,
                                                  .size = bytes,
                                                  .staged = step.host};
        end = beside ? download_beside(r, &step, memory) : ls__cuda_put(r, &step);
        s->move_count += end == LS__CUDA_GOES_ON;
    }
    return end;
}
