/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared batches: a job's segments, kept. Scalars and uploads lie in memory of theirs and are
 * written anew for each start. So are the sizes of launches that have been seen to change; those of
 * others and the counts of repeats are in the recorded commands, which are recorded again when
 * these change.
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
    SLACK = 4096,
    FILL_BYTES = 8192, /* of staging memory, for a fill at most */
    SLOW = 8
};
static const uint64_t most_bytes = 4 << 20; /* of a segment's arena */

/* What the commands were recorded for. */
typedef struct shape {
    uint32_t iteration, timed;
    uint32_t (*sizes)[3]; /* by command */
    uint32_t *rounds;     /* by repeat */
} shape;

struct ls__vulkan_prepared {
    VkCommandPool pool;
    uint32_t command_count, repeat_count;
    /* The executor's: */
    ls__vulkan_segment **segments;
    uint32_t segment_count, segment_capacity;
    uint64_t argument_bytes, staging_bytes; /* of each */
    bool recorded, started;
    uint32_t failures;
    ls__job_result totals; /* but for the launches whose sizes vary */
    shape shape;
    bool *variable;  /* by command: its sizes come with each start */
    uint32_t *times; /* by command: how often it was recorded so */
};

/* --- creation --------------------------------------------------------------------------------- */
static void free_prepared(ls__vulkan_prepared *p)
{
    ls__mem_free(p->shape.sizes);
    ls__mem_free(p->shape.rounds);
    ls__mem_free(p->variable);
    ls__mem_free(p->times);
    ls__mem_free(p);
}

ls_status ls__vulkan_prepare(ls__vulkan_device *device, const ls__job *job,
                             ls__vulkan_prepared **prepared, ls_error *error)
{
    ls__vulkan_prepared *made = ls__mem_alloc(1, sizeof *made);
    *prepared = NULL;
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->command_count = job->command_count;
    made->repeat_count = job->repeat_count;
    made->shape.sizes = ls__mem_alloc(job->command_count, sizeof *made->shape.sizes);
    made->shape.rounds = ls__mem_alloc(job->repeat_count, sizeof *made->shape.rounds);
    made->variable = ls__mem_alloc(job->command_count, sizeof *made->variable);
    made->times = ls__mem_alloc(job->command_count, sizeof *made->times);
    if (!made->shape.sizes || !made->shape.rounds || !made->variable || !made->times) {
        free_prepared(made);
        return ls__fail_oom(error, job->command_count * sizeof *made->shape.sizes);
    }
    VkResult result = ls__vulkan_pool(device, &made->pool);
    if (result != VK_SUCCESS) {
        free_prepared(made);
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
    free_prepared(p);
}

/* --- what changes from start to start --------------------------------------------------------- */
static bool is_dispatch(const ls__command *command)
{
    return command->kind == LS__COMMAND_DISPATCH;
}

/* Whether the recorded commands serve this start. A launch that has changed is from now on one
 * whose sizes vary. */
static bool fits_shape(ls__vulkan_prepared *p, const ls__vulkan_recorder *r)
{
    const ls__job *job = r->job;
    bool fits = p->shape.iteration == job->iteration && p->shape.timed == r->timed;
    for (uint32_t i = 0; i < p->repeat_count; i++)
        fits &= p->shape.rounds[i] == job->repeats[i].rounds;
    for (uint32_t i = 0; i < p->command_count; i++) {
        const ls__command_dispatch *d = &job->commands[i].dispatch;
        if (!is_dispatch(&job->commands[i]) || p->variable[i] ||
            memcmp(p->shape.sizes[i], d->global_size, sizeof d->global_size) == 0)
            continue;
        fits = false;
        p->variable[i] = ls__vulkan_may_vary(d);
    }
    return fits;
}

static void keep_shape(ls__vulkan_prepared *p, const ls__vulkan_recorder *r)
{
    const ls__job *job = r->job;
    p->shape.iteration = job->iteration;
    p->shape.timed = r->timed;
    for (uint32_t i = 0; i < p->repeat_count; i++)
        p->shape.rounds[i] = job->repeats[i].rounds;
    for (uint32_t i = 0; i < p->command_count; i++)
        if (is_dispatch(&job->commands[i]))
            memcpy(p->shape.sizes[i], job->commands[i].dispatch.global_size,
                   sizeof p->shape.sizes[i]);
}

/* Adds the launches whose sizes vary to what has been counted; false: one is too large. */
static bool count_variable(const ls__vulkan_prepared *p, const ls__vulkan_recorder *r,
                           ls__job_result *totals)
{
    for (uint32_t i = 0; i < p->command_count; i++) {
        const ls__command_dispatch *d = &r->job->commands[i].dispatch;
        uint64_t asked = 1, run = 1;
        uint32_t count[3];
        if (!p->variable[i])
            continue;
        const ls__vulkan_kernel *kernel = ls__vulkan_kernel_of(d);
        ls__vulkan_count_groups(kernel, d->global_size, count);
        if (!ls__vulkan_is_one_piece(r->device, kernel, count))
            return false;
        for (int k = 0; k < 3; k++) {
            asked *= d->global_size[k];
            run *= (uint64_t)count[k] * kernel->workgroup[k];
        }
        totals->launches += asked ? p->times[i] : 0;
        totals->lanes_asked += asked * p->times[i];
        totals->lanes_run += run * p->times[i];
    }
    return true;
}

/* --- recording -------------------------------------------------------------------------------- */
static void add_bytes(uint64_t *total, uint64_t bytes, uint64_t rounds)
{
    enum { ROUNDING = LS__SPIRV_ALIGNMENT };
    *total += ((bytes < most_bytes ? bytes : most_bytes) + ROUNDING) * rounds;
    if (*total > most_bytes)
        *total = most_bytes;
}

/* How many commands run, and how much memory a segment with all of them needs; false: too many. */
static bool measure(const ls__job *job, uint64_t *arguments, uint64_t *staging)
{
    uint64_t count = 0;
    uint32_t repeat = 0;
    *arguments = *staging = SLACK;
    for (uint32_t i = 0; i < job->command_count; i++) {
        const ls__command *command = &job->commands[i];
        const ls__command_dispatch *d = &command->dispatch;
        while (repeat < job->repeat_count && job->repeats[repeat].end <= i)
            repeat++;
        bool inside = repeat < job->repeat_count && job->repeats[repeat].first <= i;
        uint64_t rounds = inside ? job->repeats[repeat].rounds : 1;
        count += rounds;
        if (count > MOST_COMMANDS)
            return false;
        if (is_dispatch(command))
            add_bytes(arguments,
                      d->buffer_count * sizeof(ls__spirv_buffer) + sizeof(ls__vulkan_sizes) +
                          LS__SPIRV_ALIGNMENT + ls__vulkan_kernel_of(d)->scalar_bytes,
                      rounds);
        else if (command->kind == LS__COMMAND_FILL)
            add_bytes(staging, FILL_BYTES, rounds);
        else
            add_bytes(staging, command->target.size + command->source.size, rounds);
    }
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
    if (!*segment && ls__vulkan_segment_create(r->device, p->pool, p->argument_bytes,
                                               p->staging_bytes, true, segment, NULL) != LS_OK)
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

static bool record(const ls__vulkan_recorder *once, ls__vulkan_prepared *p)
{
    ls__vulkan_recorder r = *once;
    uint64_t arguments, staging;
    p->recorded = false;
    if (!measure(r.job, &arguments, &staging))
        return false;
    if (arguments > p->argument_bytes || staging > p->staging_bytes) {
        drop_segments(r.device, p);
        p->argument_bytes = arguments;
        p->staging_bytes = staging;
    }
    p->segment_count = 0;
    p->totals = (ls__job_result){.failed_command = UINT32_MAX};
    memset(p->times, 0, p->command_count * sizeof *p->times);
    r.prepared = true;
    r.context = p;
    r.close = keep_segment;
    r.totals = &p->totals;
    r.variable = p->variable;
    r.times = p->times;
    r.segment = next_segment(&r, p);
    if (!r.segment || ls__vulkan_record(&r) != LS__VULKAN_GOES_ON) {
        if (r.segment && r.segment->begun)
            r.device->vk.EndCommandBuffer(r.segment->commands);
        return false;
    }
    keep_shape(p, &r);
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
    bool first = !p->started, fits = p->started && p->recorded && fits_shape(p, r);
    p->started = true;
    if (first || r->job->rows || p->failures >= MOST_FAILURES)
        return false;
    if (!fits && !record(r, p)) {
        p->failures++;
        return false;
    }
    ls__job_result totals = p->totals;
    if (!count_variable(p, r, &totals))
        return false;
    atomic_fetch_add(&ls__vulkan_test_hooks.replays, 1);
    *end = run(r, p);
    totals.device_ns = r->job->result.device_ns;
    if (*end != LS__VULKAN_LOST)
        r->job->result = totals;
    return true;
}
