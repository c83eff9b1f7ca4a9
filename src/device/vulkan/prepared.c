/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared batches: a job's segments, kept. Scalars and uploads lie in their arenas and are written
 * anew for each start; sizes and counts are in the recorded commands, so the segments are recorded
 * again when these have changed.
 *
 * The first start runs as any job does, which shows how long its kernels take; the second records.
 * What cannot be recorded beforehand (sizes that a kernel computes, very many commands, rows of a
 * report) runs as any job does.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/jobs.h"

enum {
    MOST_COMMANDS = 1 << 15,
    MOST_FAILURES = 4,
    ARENA_SLACK = 4096,
    FILL_BYTES = 8192, /* of the arena, for a fill at most */
    SLOW = 8
};
static const uint64_t most_arena = 4 << 20;

struct ls__vulkan_prepared {
    VkCommandPool pool;
    /* The executor's: */
    ls__vulkan_segment **segments;
    uint32_t segment_count, segment_capacity;
    uint64_t arena_size; /* of each */
    bool recorded, started;
    uint32_t failures;
    ls__job_result totals;
    uint32_t *shape; /* what the commands were recorded for */
    uint32_t shape_count;
};

/* --- creation --------------------------------------------------------------------------------- */
static uint32_t shape_count(const ls__job *job)
{
    return 2 + 3 * job->command_count + job->repeat_count;
}

ls_status ls__vulkan_prepare(ls__vulkan_device *device, const ls__job *job,
                             ls__vulkan_prepared **prepared, ls_error *error)
{
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->physical->queue_family,
    };
    ls__vulkan_prepared *made = ls__mem_alloc(1, sizeof *made);
    *prepared = NULL;
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->shape_count = shape_count(job);
    made->shape = ls__mem_alloc(made->shape_count, sizeof *made->shape);
    if (!made->shape) {
        ls__mem_free(made);
        return ls__fail_oom(error, shape_count(job) * sizeof *made->shape);
    }
    VkResult result = device->vk.CreateCommandPool(device->handle, &info, NULL, &made->pool);
    if (result != VK_SUCCESS) {
        ls__mem_free(made->shape);
        ls__mem_free(made);
        return ls__vulkan_fail(error, result, "make a command pool");
    }
    *prepared = made;
    return LS_OK;
}

static void drop_segments(ls__vulkan_device *device, ls__vulkan_prepared *p)
{
    for (uint32_t i = 0; i < p->segment_capacity; i++)
        ls__vulkan_segment_destroy(device, p->pool, &p->segments[i]);
    ls__mem_free(p->segments);
    p->segments = NULL;
    p->segment_count = p->segment_capacity = 0;
}

void ls__vulkan_unprepare(ls__vulkan_device *device, ls__vulkan_prepared *p)
{
    drop_segments(device, p);
    device->vk.DestroyCommandPool(device->handle, p->pool, NULL);
    ls__mem_free(p->shape);
    ls__mem_free(p);
}

/* --- recording -------------------------------------------------------------------------------- */
/* Sizes and counts of a start, in order. True when they are those recorded. */
static bool same_shape(ls__vulkan_prepared *p, const ls__vulkan_recorder *r, bool keep)
{
    const ls__job *job = r->job;
    uint32_t at = 0;
    bool same = true;
#define VALUE(value)                                                                               \
    do {                                                                                           \
        same &= p->shape[at] == (value);                                                           \
        p->shape[at] = keep ? (value) : p->shape[at];                                              \
        at++;                                                                                      \
    } while (0)
    VALUE(job->iteration);
    VALUE(r->timed);
    for (uint32_t i = 0; i < job->command_count; i++)
        for (int k = 0; k < 3; k++)
            VALUE(job->commands[i].kind == LS__COMMAND_DISPATCH
                      ? job->commands[i].dispatch.global_size[k]
                      : 0);
    for (uint32_t i = 0; i < job->repeat_count; i++)
        VALUE(job->repeats[i].rounds);
#undef VALUE
    return same;
}

static uint64_t command_bytes(const ls__command *command)
{
    enum { ROUNDING = 2 * LS__SPIRV_ALIGNMENT };
    const ls__command_dispatch *d = &command->dispatch;
    switch (command->kind) {
    case LS__COMMAND_DISPATCH:
        return d->buffer_count * sizeof(ls__spirv_buffer) + ROUNDING +
               ((const ls__vulkan_program *)d->program)->kernels[d->kernel].scalar_bytes;
    case LS__COMMAND_DOWNLOAD:
        return command->source.size + ROUNDING;
    case LS__COMMAND_FILL:
        return FILL_BYTES;
    default:
        return command->target.size + ROUNDING;
    }
}

/* How many commands run, and how much they need of an arena; false: too many. */
static bool measure(const ls__job *job, uint64_t *arena)
{
    uint64_t count = 0, bytes = ARENA_SLACK;
    uint32_t repeat = 0;
    for (uint32_t i = 0; i < job->command_count; i++) {
        while (repeat < job->repeat_count && job->repeats[repeat].end <= i)
            repeat++;
        bool inside = repeat < job->repeat_count && job->repeats[repeat].first <= i;
        uint64_t rounds = inside ? job->repeats[repeat].rounds : 1;
        uint64_t size = command_bytes(&job->commands[i]);
        count += rounds;
        if (count > MOST_COMMANDS)
            return false;
        bytes += (size < most_arena ? size : most_arena) * rounds;
    }
    *arena = bytes < most_arena ? bytes : most_arena;
    return true;
}

static ls__vulkan_segment *next_segment(ls__vulkan_recorder *r, ls__vulkan_prepared *p)
{
    if (p->segment_count == p->segment_capacity) {
        uint32_t capacity = p->segment_capacity ? 2 * p->segment_capacity : 4;
        ls__vulkan_segment **more = ls__mem_realloc(p->segments, capacity, sizeof *p->segments);
        if (!more)
            return NULL;
        memset(more + p->segment_capacity, 0,
               (capacity - p->segment_capacity) * sizeof *p->segments);
        p->segments = more;
        p->segment_capacity = capacity;
    }
    ls__vulkan_segment **segment = &p->segments[p->segment_count];
    if (!*segment &&
        ls__vulkan_segment_create(r->device, p->pool, p->arena_size, true, segment, NULL) != LS_OK)
        return NULL;
    p->segment_count++;
    ls__vulkan_segment_reset(*segment);
    return *segment;
}

static ls__vulkan_end keep_segment(ls__vulkan_recorder *r, bool drain)
{
    ls__vulkan_prepared *p = r->context;
    if (r->segment->begun && ls__vulkan_end_segment(r) != VK_SUCCESS)
        return LS__VULKAN_UNPREPARED;
    r->segment->drain = drain;
    if (drain) {
        r->idle = true;
        r->may_trap = false;
    }
    if (r->ending)
        return LS__VULKAN_GOES_ON;
    r->segment = next_segment(r, p);
    return r->segment ? LS__VULKAN_GOES_ON : LS__VULKAN_UNPREPARED;
}

static bool record(const ls__vulkan_recorder *eager, ls__vulkan_prepared *p)
{
    ls__vulkan_recorder r = *eager;
    uint64_t arena;
    p->recorded = false;
    if (!measure(r.job, &arena))
        return false;
    if (arena > p->arena_size) {
        drop_segments(r.device, p);
        p->arena_size = arena;
    }
    p->segment_count = 0;
    p->totals = (ls__job_result){.failed_command = UINT32_MAX};
    r.prepared = true;
    r.context = p;
    r.close = keep_segment;
    r.totals = &p->totals;
    r.segment = next_segment(&r, p);
    if (!r.segment || ls__vulkan_record(&r) != LS__VULKAN_GOES_ON) {
        if (r.segment && r.segment->begun)
            r.device->vk.EndCommandBuffer(r.segment->commands);
        return false;
    }
    same_shape(p, &r, true);
    p->recorded = true;
    return true;
}

/* --- running ---------------------------------------------------------------------------------- */
static ls__vulkan_end complete_up_to(ls__vulkan_recorder *r, ls__vulkan_prepared *p, uint32_t first,
                                     uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        ls__vulkan_segment *s = p->segments[i];
        if (!s->begun)
            continue;
        uint64_t begun = ls__os_now_ns();
        r->result = ls__vulkan_segment_complete(r->executor, s, r->job);
        if (r->result != VK_SUCCESS)
            return LS__VULKAN_LOST;
        if (ls__os_now_ns() - begun > SLOW * ls__vulkan_segment_ns())
            p->recorded = false; /* cut in other places the next time */
    }
    if (r->executor->trapped)
        return LS__VULKAN_TRAPPED;
    return ls__vulkan_status(r->executor)->stopped ? LS__VULKAN_CANCELLED : LS__VULKAN_GOES_ON;
}

static ls__vulkan_end run(ls__vulkan_recorder *r, ls__vulkan_prepared *p)
{
    uint32_t completed = 0;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    for (uint32_t i = 0; i < p->segment_count && end == LS__VULKAN_GOES_ON; i++) {
        ls__vulkan_segment *s = p->segments[i];
        if (atomic_load(&r->job->cancel)) {
            end = complete_up_to(r, p, completed, i);
            return end == LS__VULKAN_LOST ? end : LS__VULKAN_CANCELLED;
        }
        for (uint32_t k = 0; k < s->before_count; k++)
            ls__vulkan_move_bytes(r->device, &s->before[k], r->job);
        r->result = s->begun ? ls__vulkan_segment_submit(r->executor, s) : VK_SUCCESS;
        if (r->result != VK_SUCCESS)
            return LS__VULKAN_LOST;
        if (!s->drain && i + 1 < p->segment_count)
            continue;
        end = complete_up_to(r, p, completed, i + 1);
        completed = i + 1;
    }
    return end;
}

bool ls__vulkan_replay(ls__vulkan_recorder *r, ls__vulkan_prepared *p, ls__vulkan_end *end)
{
    bool first = !p->started;
    p->started = true;
    if (first || r->job->rows || p->failures >= MOST_FAILURES)
        return false;
    if ((!p->recorded || !same_shape(p, r, false)) && !record(r, p)) {
        p->failures++;
        return false;
    }
    atomic_fetch_add(&ls__vulkan_test_hooks.replays, 1);
    *end = run(r, p);
    p->totals.device_ns = r->job->result.device_ns;
    if (*end != LS__VULKAN_LOST)
        r->job->result = p->totals;
    return true;
}
