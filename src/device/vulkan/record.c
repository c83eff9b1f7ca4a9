/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: the walk through a job's commands, room in segments, barriers, rows. */
#include <string.h>

#include "device/vulkan/jobs.h"

enum { ARENA_ALIGNMENT = LS__SPIRV_ALIGNMENT };
/* A submission that takes longer than this would keep a display, or a cancel, waiting. */
static const uint64_t segment_ns = 50000000;
static const uint32_t last_sequence = 1u << 31;

uint64_t ls__vulkan_segment_ns(void)
{
    return ls__vulkan_test_hooks.segment_ns ? ls__vulkan_test_hooks.segment_ns : segment_ns;
}

/* --- room ------------------------------------------------------------------------------------- */
static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

static bool fits(const ls__vulkan_arena *arena, uint64_t bytes)
{
    return bytes == 0 || arena->used + rounded(bytes) <= arena->size;
}

static bool is_full(const ls__vulkan_segment *s, uint64_t arguments, uint64_t staging, uint64_t ns)
{
    return s->sealed || !fits(&s->arguments, arguments) || !fits(&s->staging, staging) ||
           s->records >= LS__VULKAN_RECORDS || s->after_count == LS__VULKAN_MOVES ||
           s->trap_count == LS__VULKAN_TRAPS || s->cost_count == LS__VULKAN_COSTS ||
           s->query_count + 2 >= LS__VULKAN_QUERIES ||
           (s->before && s->before_count + 2 > LS__VULKAN_BEFORE) ||
           (s->estimated_ns && s->estimated_ns + ns > ls__vulkan_segment_ns());
}

ls__vulkan_end ls__vulkan_room(ls__vulkan_recorder *r, uint64_t arguments, uint64_t staging,
                               uint64_t ns)
{
    if (r->segment->begun && is_full(r->segment, arguments, staging, ns)) {
        ls__vulkan_end end = r->close(r, r->segment->sealed);
        if (end != LS__VULKAN_GOES_ON)
            return end;
    }
    r->idle = false;
    if (r->segment->begun)
        return LS__VULKAN_GOES_ON;
    r->bound = VK_NULL_HANDLE;
    r->barrier = false;
    r->result = ls__vulkan_segment_begin(r->device, r->segment, !r->prepared, r->timed);
    return r->result == VK_SUCCESS ? LS__VULKAN_GOES_ON : LS__VULKAN_LOST;
}

uint64_t ls__vulkan_take_bytes(ls__vulkan_arena *arena, uint64_t size)
{
    uint64_t place = arena->used;
    arena->used += rounded(size);
    return place;
}

void ls__vulkan_order(ls__vulkan_recorder *r)
{
    if (r->barrier)
        ls__vulkan_barrier(r->device, r->segment->commands);
    r->barrier = true;
}

ls__vulkan_end ls__vulkan_clean(ls__vulkan_recorder *r, ls__vulkan_memory *memory)
{
    if (!atomic_load_explicit(&memory->dirty, memory_order_relaxed))
        return LS__VULKAN_GOES_ON;
    if (r->prepared)
        return LS__VULKAN_UNPREPARED;
    ls__vulkan_end end = ls__vulkan_room(r, 0, 0, 0);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    atomic_store(&memory->dirty, false);
    ls__vulkan_order(r);
    r->segment->records++;
    r->device->vk.CmdFillBuffer(r->segment->commands, memory->block->buffer, memory->offset,
                                memory->size, 0);
    return LS__VULKAN_GOES_ON;
}

/* --- rows ------------------------------------------------------------------------------------- */
static void begin_row(ls__vulkan_recorder *r, const ls__command *command, uint32_t iteration)
{
    if (!r->job->rows)
        return;
    r->job->rows[r->totals->rows] =
        (ls__job_row){.command = command->index, .iteration = iteration, .measured = r->timed};
    r->in_row = true;
}

static void end_row(ls__vulkan_recorder *r, uint64_t lanes)
{
    ls__vulkan_segment *s = r->segment;
    if (!r->in_row)
        return;
    r->in_row = false;
    r->job->rows[r->totals->rows].lanes = lanes;
    /* Commands that record nothing have made no room for it. */
    if (s->begun && s->timed && s->query_count + 2 < LS__VULKAN_QUERIES) {
        r->device->vk.CmdWriteTimestamp(s->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                        s->queries, s->query_count);
        s->marks[s->mark_count++] = (ls__vulkan_mark){s->query_count++, r->totals->rows};
    }
    r->totals->rows++;
}

VkResult ls__vulkan_end_segment(ls__vulkan_recorder *r)
{
    ls__vulkan_segment *s = r->segment;
    if (r->in_row && s->timed)
        s->marks[s->mark_count++] = (ls__vulkan_mark){s->query_count, r->totals->rows};
    return ls__vulkan_segment_end(r->device, s);
}

/* --- the walk --------------------------------------------------------------------------------- */
static ls__vulkan_end record_command(ls__vulkan_recorder *r, uint32_t index, uint32_t iteration)
{
    const ls__command *command = &r->job->commands[index];
    uint64_t lanes = 0;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    if (!r->prepared && atomic_load(&r->job->cancel))
        return LS__VULKAN_CANCELLED;
    /* Kernels see that an earlier one has trapped; transfers do not. */
    bool is_last = r->sequence >= last_sequence;
    if (is_last || (r->may_trap && command->kind != LS__COMMAND_DISPATCH))
        end = r->close(r, true);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    if (is_last)
        r->sequence = 0;
    begin_row(r, command, iteration);
    r->totals->commands++;
    switch (command->kind) {
    case LS__COMMAND_DISPATCH:
        end = ls__vulkan_record_dispatch(r, index, iteration, &lanes);
        break;
    case LS__COMMAND_COPY:
        r->totals->bytes_copied += command->target.size;
        end = ls__vulkan_record_copy(r, command);
        break;
    case LS__COMMAND_UPLOAD:
        r->totals->bytes_uploaded += command->target.size;
        end = ls__vulkan_record_upload(r, index);
        break;
    case LS__COMMAND_FILL:
        r->totals->bytes_copied += command->target.size;
        end = ls__vulkan_record_fill(r, command);
        break;
    case LS__COMMAND_DOWNLOAD:
        r->totals->bytes_downloaded += command->source.size;
        end = ls__vulkan_record_download(r, index);
        break;
    }
    if (end == LS__VULKAN_GOES_ON)
        end_row(r, lanes);
    return end;
}

static ls__vulkan_end record_range(ls__vulkan_recorder *r, uint32_t first, uint32_t end,
                                   uint32_t iteration)
{
    ls__vulkan_end how = LS__VULKAN_GOES_ON;
    for (uint32_t i = first; i < end && how == LS__VULKAN_GOES_ON; i++)
        how = record_command(r, i, iteration);
    return how;
}

static uint32_t find_tail(const ls__job *job)
{
    uint32_t least = job->repeat_count ? job->repeats[job->repeat_count - 1].end : 0;
    uint32_t tail = job->command_count;
    while (tail > least && job->commands[tail - 1].kind == LS__COMMAND_DOWNLOAD)
        tail--;
    return tail;
}

ls__vulkan_end ls__vulkan_record(ls__vulkan_recorder *r)
{
    const ls__job *job = r->job;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    uint32_t next = 0;
    r->tail = find_tail(job);
    for (uint32_t i = 0; i < job->repeat_count && end == LS__VULKAN_GOES_ON; i++) {
        const ls__repeat *repeat = &job->repeats[i];
        end = record_range(r, next, repeat->first, job->iteration);
        for (uint32_t round = 0; round < repeat->rounds && end == LS__VULKAN_GOES_ON; round++)
            end = record_range(r, repeat->first, repeat->end, round);
        next = repeat->end;
    }
    if (end == LS__VULKAN_GOES_ON)
        end = record_range(r, next, job->command_count, job->iteration);
    r->ending = true;
    return end == LS__VULKAN_GOES_ON ? r->close(r, true) : end;
}
