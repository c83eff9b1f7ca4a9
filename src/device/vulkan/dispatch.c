/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording dispatches: arguments, pieces of large launches, traps.
 *
 * A launch is cut into boxes of workgroups: where the device's limits or abi.h demand it, and where
 * it would take longer than a submission should. How long it takes is known from before; a kernel
 * that has not run yet runs a small piece first, alone, and pieces grow slowly.
 */
#include <string.h>

#include "device/common/boxes.h"
#include "device/vulkan/jobs.h"

enum { FIRST_GROUPS = 256, GROWTH = 16 };

typedef struct launch {
    uint32_t command, iteration; /* in the job */
    const ls__command_dispatch *dispatch;
    const ls__vulkan_program *program;
    ls__vulkan_kernel *kernel;
    uint32_t global_size[3], count[3]; /* lanes asked for; workgroups */
    uint32_t first_sequence;           /* 0: nothing is recorded yet */
    const ls__vulkan_segment *segment; /* that holds the arguments, at this address */
    uint64_t arguments;
    ls__job_result totals;
} launch;

/* --- arguments -------------------------------------------------------------------------------- */
static uint64_t argument_bytes(const launch *l)
{
    return l->dispatch->buffer_count * sizeof(ls__spirv_buffer) + l->kernel->scalar_bytes;
}

static void write_arguments(ls__vulkan_recorder *r, launch *l)
{
    ls__vulkan_segment *s = r->segment;
    ls__vulkan_memory *memory = s->arguments.memory;
    uint64_t place = ls__vulkan_take_bytes(&s->arguments, argument_bytes(l));
    ls__spirv_buffer *buffers = (ls__spirv_buffer *)(void *)ls__vulkan_host(memory, place);
    for (uint32_t i = 0; i < l->dispatch->buffer_count; i++) {
        const ls__span *span = &l->dispatch->buffers[i];
        uint64_t address = span->size
                               ? ls__vulkan_address(ls__vulkan_memory_of(span), span->offset)
                               : ls__vulkan_address(r->executor->status, LS__VULKAN_ZERO_PLACE);
        buffers[i] = (ls__spirv_buffer){address, span->size};
    }
    ls__vulkan_move scalars = {
        .kind = LS__MOVE_SCALARS,
        .command = l->command,
        .size = l->kernel->scalar_bytes,
        .memory = memory,
        .place = place + l->dispatch->buffer_count * sizeof *buffers,
    };
    if (r->prepared && scalars.size)
        s->before[s->before_count++] = scalars;
    else if (scalars.size)
        ls__vulkan_move_bytes(r->device, &scalars, r->job);
    l->segment = s;
    l->arguments = ls__vulkan_address(memory, place);
}

/* --- pieces ----------------------------------------------------------------------------------- */
/* Workgroups that one dispatch of the kernel may have. */
static uint64_t most_groups(const ls__vulkan_kernel *kernel)
{
    uint64_t most = FIRST_GROUPS, in_time;
    if (kernel->group_ps) {
        in_time = ls__vulkan_segment_ns() * 1000 / kernel->group_ps;
        most = kernel->largest_groups * GROWTH;
        if (most < FIRST_GROUPS)
            most = FIRST_GROUPS;
        if (in_time < most)
            most = in_time;
    }
    if ((kernel->flags & LS__SPIRV_MAY_TRAP) && most > LS__VULKAN_TRAP_SLOTS)
        most = LS__VULKAN_TRAP_SLOTS;
    return most ? most : 1;
}

static void add_cost(ls__vulkan_segment *s, ls__vulkan_kernel *kernel, uint64_t groups, uint64_t ns)
{
    uint32_t i = 0;
    while (i < s->cost_count && s->costs[i].kernel != kernel)
        i++;
    if (i == s->cost_count)
        s->costs[s->cost_count++] = (ls__vulkan_cost){.kernel = kernel};
    s->costs[i].groups += groups;
    if (groups > s->costs[i].largest)
        s->costs[i].largest = groups;
    s->estimated_ns += ns;
}

/* What stands before each dispatch: a barrier where it is needed, the pipeline, its number. */
static ls__spirv_push begin_dispatch(ls__vulkan_recorder *r, launch *l)
{
    ls__vulkan_segment *s = r->segment;
    bool is_first = l->first_sequence == 0;
    if (is_first || (l->kernel->flags & LS__SPIRV_MAY_TRAP) != 0)
        ls__vulkan_order(r);
    r->sequence++;
    if (is_first)
        l->first_sequence = r->sequence;
    if (r->bound != l->kernel->pipeline)
        r->device->vk.CmdBindPipeline(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                      l->kernel->pipeline);
    r->bound = l->kernel->pipeline;
    s->records++;
    return (ls__spirv_push){
        .arguments = l->arguments,
        .status = ls__vulkan_address(r->executor->status, 0),
        .tables = l->program->tables ? ls__vulkan_address(l->program->tables, 0) : 0,
        .iteration = l->iteration,
        .sequence = r->sequence,
        .first_sequence = l->first_sequence,
    };
}

static void push_constants(const ls__vulkan_recorder *r, const ls__spirv_push *push)
{
    r->device->vk.CmdPushConstants(r->segment->commands, r->device->layout,
                                   VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *push, push);
}

static void record_box(ls__vulkan_recorder *r, launch *l, const uint32_t base[3],
                       const uint32_t box[3])
{
    ls__vulkan_segment *s = r->segment;
    ls__spirv_push push = begin_dispatch(r, l);
    memcpy(push.global_size, l->global_size, sizeof push.global_size);
    memcpy(push.workgroup_count, l->count, sizeof push.workgroup_count);
    memcpy(push.workgroup_base, base, sizeof push.workgroup_base);
    push_constants(r, &push);
    r->device->vk.CmdDispatch(s->commands, box[0], box[1], box[2]);
    if (!(l->kernel->flags & LS__SPIRV_MAY_TRAP))
        return;
    r->may_trap = true;
    ls__vulkan_trap *trap = &s->traps[s->trap_count++];
    trap->sequence = r->sequence;
    trap->box = (ls__trap_box){.command = r->job->commands[l->command].index,
                               .base = {base[0], base[1], base[2]},
                               .size = {box[0], box[1], box[2]},
                               .whole = {l->count[0], l->count[1], l->count[2]},
                               .totals = l->totals};
}

/* Room for one more box, of which at most *most workgroups fit. */
static ls__vulkan_end box_room(ls__vulkan_recorder *r, const launch *l, uint64_t left,
                               uint64_t *most)
{
    ls__vulkan_kernel *kernel = l->kernel;
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    if (!kernel->group_ps && r->prepared)
        return LS__VULKAN_UNPREPARED;
    if (!kernel->group_ps && r->segment->begun)
        end = r->close(r, true); /* which may be when it becomes known */
    if (end != LS__VULKAN_GOES_ON)
        return end;
    *most = most_groups(kernel);
    uint64_t groups = left < *most ? left : *most;
    return ls__vulkan_room(r, argument_bytes(l), 0, groups * kernel->group_ps / 1000);
}

/* A launch of which a piece has trapped is run to its end. */
static bool is_own_trap(const ls__vulkan_recorder *r, const launch *l)
{
    return l->first_sequence && r->executor->trap.sequence >= l->first_sequence;
}

static ls__vulkan_end record_boxes(ls__vulkan_recorder *r, launch *l)
{
    uint32_t base[3] = {0}, box[3];
    uint64_t left = (uint64_t)l->count[0] * l->count[1] * l->count[2], most;
    bool more, trapped = false;
    do {
        ls__vulkan_end end;
        while ((end = box_room(r, l, left, &most)) == LS__VULKAN_TRAPPED && is_own_trap(r, l))
            trapped = true;
        if (end != LS__VULKAN_GOES_ON)
            return end;
        if (!r->prepared && atomic_load(&r->job->cancel))
            return LS__VULKAN_CANCELLED;
        ls__next_box(l->count, base, r->device->max_groups, most, box);
        uint64_t groups = (uint64_t)box[0] * box[1] * box[2];
        if (l->segment != r->segment || !l->first_sequence)
            write_arguments(r, l);
        record_box(r, l, base, box);
        add_cost(r->segment, l->kernel, groups, groups * l->kernel->group_ps / 1000);
        left -= groups;
        more = ls__advance_box(l->count, box, base);
        if (!l->kernel->group_ps || (more && !r->prepared && groups > l->kernel->largest_groups))
            r->segment->sealed = true;
    } while (more);
    return trapped ? r->close(r, true) : LS__VULKAN_GOES_ON;
}

/* --- the launch ------------------------------------------------------------------------------- */
static ls__vulkan_end read_sizes(ls__vulkan_recorder *r, launch *l)
{
    const ls__command_dispatch *d = l->dispatch;
    if (r->prepared)
        return LS__VULKAN_UNPREPARED;
    ls__vulkan_end end = r->idle ? LS__VULKAN_GOES_ON : r->close(r, true);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    if (ls__vulkan_read(r->device, ls__vulkan_memory_of(&d->sizes), d->sizes.offset,
                        sizeof l->global_size, l->global_size, &r->error) != LS_OK) {
        r->result = VK_ERROR_DEVICE_LOST;
        return LS__VULKAN_LOST;
    }
    ls__global_size(l->global_size);
    if (ls__check_indirect(l->global_size, d->maximum, &r->error) == LS_OK)
        return LS__VULKAN_GOES_ON;
    r->failed_command = r->job->commands[l->command].index;
    return LS__VULKAN_INDIRECT;
}

static void count_launch(ls__vulkan_recorder *r, launch *l, uint64_t lanes)
{
    uint64_t run = 1;
    for (int i = 0; i < 3; i++)
        run *= (uint64_t)l->count[i] * l->kernel->workgroup[i];
    r->totals->launches++;
    r->totals->lanes_asked += lanes;
    r->totals->lanes_run += run;
    l->totals = *r->totals;
}

void ls__vulkan_count_groups(const ls__vulkan_kernel *kernel, const uint32_t global_size[3],
                             uint32_t count[3])
{
    for (int i = 0; i < 3; i++)
        count[i] = global_size[i] ? (global_size[i] - 1) / kernel->workgroup[i] + 1 : 0;
}

/* --- sizes that come with each start ---------------------------------------------------------- */
bool ls__vulkan_may_vary(const ls__command_dispatch *dispatch)
{
    return !dispatch->indirect && !(ls__vulkan_kernel_of(dispatch)->flags & LS__SPIRV_MAY_TRAP);
}

bool ls__vulkan_is_one_piece(const ls__vulkan_device *device, const ls__vulkan_kernel *kernel,
                             const uint32_t count[3])
{
    uint64_t groups = (uint64_t)count[0] * count[1] * count[2];
    for (int i = 0; i < 3; i++)
        if (count[i] > device->max_groups[i])
            return false;
    return groups <= most_groups(kernel);
}

/* The device reads the sizes from the arguments, where each start puts them. */
static ls__vulkan_end record_variable(ls__vulkan_recorder *r, launch *l)
{
    ls__vulkan_kernel *kernel = l->kernel;
    uint64_t groups = (uint64_t)l->count[0] * l->count[1] * l->count[2];
    uint64_t ns = groups * kernel->group_ps / 1000;
    if (!kernel->group_ps || !ls__vulkan_is_one_piece(r->device, kernel, l->count))
        return LS__VULKAN_UNPREPARED;
    ls__vulkan_end end = ls__vulkan_room(
        r, argument_bytes(l) + LS__SPIRV_ALIGNMENT + sizeof(ls__vulkan_sizes), 0, ns);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    ls__vulkan_segment *s = r->segment;
    write_arguments(r, l);
    ls__vulkan_move sizes = {
        .kind = LS__MOVE_SIZES,
        .command = l->command,
        .size = sizeof(ls__vulkan_sizes),
        .memory = s->arguments.memory,
        .place = ls__vulkan_take_bytes(&s->arguments, sizeof(ls__vulkan_sizes)),
    };
    s->before[s->before_count++] = sizes;
    ls__spirv_push push = begin_dispatch(r, l);
    push.sizes = ls__vulkan_address(sizes.memory, sizes.place);
    push_constants(r, &push);
    r->device->vk.CmdDispatchIndirect(
        s->commands, sizes.memory->block->buffer,
        ls__vulkan_place(sizes.memory, sizes.place + offsetof(ls__vulkan_sizes, groups)));
    s->variable = true;
    s->estimated_ns += ns;
    r->times[l->command]++;
    return LS__VULKAN_GOES_ON;
}

/* --- a dispatch ------------------------------------------------------------------------------- */
ls__vulkan_end ls__vulkan_record_dispatch(ls__vulkan_recorder *r, uint32_t command,
                                          uint32_t iteration, uint64_t *lanes)
{
    const ls__command_dispatch *d = &r->job->commands[command].dispatch;
    launch l = {.command = command,
                .iteration = iteration,
                .dispatch = d,
                .program = (const ls__vulkan_program *)d->program,
                .kernel = ls__vulkan_kernel_of(d)};
    bool variable = r->variable && r->variable[command];
    ls__vulkan_end end = LS__VULKAN_GOES_ON;
    memcpy(l.global_size, d->global_size, sizeof l.global_size);
    if (d->indirect)
        end = read_sizes(r, &l);
    if (end != LS__VULKAN_GOES_ON)
        return end;
    *lanes = (uint64_t)l.global_size[0] * l.global_size[1] * l.global_size[2];
    if (*lanes == 0 && !variable)
        return LS__VULKAN_GOES_ON;
    ls__vulkan_count_groups(l.kernel, l.global_size, l.count);
    for (uint32_t i = 0; i < d->buffer_count && end == LS__VULKAN_GOES_ON; i++)
        end = ls__vulkan_clean(r, ls__vulkan_memory_of(&d->buffers[i]));
    if (end != LS__VULKAN_GOES_ON)
        return end;
    if (variable)
        return record_variable(r, &l);
    count_launch(r, &l, *lanes);
    return record_boxes(r, &l);
}
