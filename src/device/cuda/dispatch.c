/* SPDX-License-Identifier: Apache-2.0 */
/* Recording dispatches: parameters, pieces of large launches, traps. A launch is cut into boxes of
 * workgroups, so that it can be cancelled, and where the device's limits or abi.h demand it. */
#include <string.h>

#include "device/common/boxes.h"
#include "device/cuda/jobs.h"

enum { MOST_PREPARED_GRIDS = 64 };
_Static_assert((int)LS__CUDA_GROUPS <= (int)LS__PTX_MAX_TRAP_GROUPS,
               "a grid's traps can be told apart");

typedef struct launch {
    const ls__command *command;
    const ls__command_dispatch *dispatch;
    const ls__cuda_kernel *kernel;
    uint32_t iteration;
    uint32_t global_size[3], count[3]; /* lanes asked for; workgroups */
    uint32_t first_sequence;           /* 0: nothing is recorded yet */
} launch;

/* The call comes first. */
static void write_parameters(ls__cuda_recorder *r, const launch *l)
{
    const ls__command_dispatch *d = l->dispatch;
    ls__ptx_call call = {.status = r->executor->status->address, .iteration = l->iteration};
    uint8_t *at = r->parameters + sizeof call;
    if (l->kernel->flags & LS__PTX_GRID_BARRIER)
        call.barrier = call.status + LS__CUDA_BARRIER_PLACE;
    memcpy(call.global_size, l->global_size, sizeof call.global_size);
    memcpy(call.workgroup_count, l->count, sizeof call.workgroup_count);
    memcpy(r->parameters, &call, sizeof call);
    for (uint32_t i = 0; i < d->buffer_count; i++) {
        const ls__span *span = &d->buffers[i];
        ls__ptx_buffer buffer = {span->size ? ls__cuda_address(span) : call.status, span->size};
        memcpy(at, &buffer, sizeof buffer);
        at += sizeof buffer;
    }
    if (l->kernel->scalar_bytes)
        memcpy(at, d->scalars, l->kernel->scalar_bytes);
}

/* --- pieces ----------------------------------------------------------------------------------- */
static void add_trap(ls__cuda_recorder *r, const launch *l, const uint32_t base[3],
                     const uint32_t box[3])
{
    ls__cuda_trap *trap = &r->segment->traps[r->segment->trap_count++];
    r->may_trap = true;
    trap->sequence = r->sequence;
    trap->first_sequence = l->first_sequence;
    trap->box = (ls__trap_box){.command = l->command->index,
                               .base = {base[0], base[1], base[2]},
                               .size = {box[0], box[1], box[2]},
                               .whole = {l->count[0], l->count[1], l->count[2]},
                               .totals = *r->totals}; /* the launch is counted */
}

static ls__cuda_end record_box(ls__cuda_recorder *r, launch *l, const uint32_t base[3],
                               const uint32_t box[3])
{
    ls__cuda_end end = ls__cuda_room(r, 0);
    if (end != LS__CUDA_GOES_ON)
        return end;
    if (!r->prepared && atomic_load(&r->job->cancel))
        return LS__CUDA_CANCELLED;
    r->segment->groups += (uint64_t)box[0] * box[1] * box[2];
    r->sequence++;
    if (!l->first_sequence)
        l->first_sequence = r->sequence;
    ls__ptx_call *call = (ls__ptx_call *)(void *)r->parameters;
    memcpy(call->workgroup_base, base, sizeof call->workgroup_base);
    call->sequence = r->sequence;
    call->first_sequence = l->first_sequence;
    if (l->kernel->flags & LS__PTX_MAY_TRAP)
        add_trap(r, l, base, box);
    ls__cuda_step step = {.kind = LS__STEP_LAUNCH,
                          .function = l->kernel->function,
                          .grid = {box[0], box[1], box[2]},
                          .lanes = l->kernel->lanes,
                          .together = (l->kernel->flags & LS__PTX_GRID_BARRIER) != 0,
                          .parameters = r->parameters,
                          .parameter_bytes = l->kernel->parameter_bytes};
    return ls__cuda_put(r, &step);
}

/* Workgroups that wait for each other count in a word that is 0 at first. They are one grid: core
 * launches no more than whole_groups. */
static ls__cuda_end clear_barrier(ls__cuda_recorder *r, const launch *l)
{
    ls__cuda_step step = {.kind = LS__STEP_SET,
                          .target = r->executor->status->address + LS__CUDA_BARRIER_PLACE,
                          .bytes = sizeof(uint32_t),
                          .element_bytes = sizeof(uint32_t)};
    if (!(l->kernel->flags & LS__PTX_GRID_BARRIER))
        return LS__CUDA_GOES_ON;
    atomic_fetch_add(&ls__cuda_test_hooks.cooperative_launches, 1);
    ls__cuda_end end = ls__cuda_room(r, 0);
    return end == LS__CUDA_GOES_ON ? ls__cuda_put(r, &step) : end;
}

static ls__cuda_end record_boxes(ls__cuda_recorder *r, launch *l)
{
    uint32_t base[3] = {0}, box[3];
    uint64_t groups = (uint64_t)l->count[0] * l->count[1] * l->count[2];
    ls__cuda_end end;
    if (r->prepared && groups / LS__CUDA_GROUPS > MOST_PREPARED_GRIDS)
        return LS__CUDA_UNPREPARED;
    do {
        ls__next_box(l->count, base, r->device->max_grid, LS__CUDA_GROUPS, box);
        end = record_box(r, l, base, box);
    } while (end == LS__CUDA_GOES_ON && ls__advance_box(l->count, box, base));
    return end;
}

/* --- the launch ------------------------------------------------------------------------------- */
static ls__cuda_end read_sizes(ls__cuda_recorder *r, launch *l)
{
    const ls__command_dispatch *d = l->dispatch;
    ls__cuda_end end = LS__CUDA_GOES_ON;
    if (r->prepared)
        return LS__CUDA_UNPREPARED;
    if (!r->idle)
        end = ls__cuda_close(r, true);
    if (end != LS__CUDA_GOES_ON)
        return end;
    r->totals->device_waits++;
    end = ls__cuda_check_bytes(r,
                               ls__cuda_fetch(r->device, ls__cuda_address(&d->sizes),
                                              sizeof l->global_size, l->global_size),
                               "read the sizes of a dispatch,", sizeof l->global_size);
    if (end != LS__CUDA_GOES_ON)
        return end;
    ls__global_size(l->global_size);
    if (ls__check_indirect(l->global_size, d->maximum, &r->error) == LS_OK)
        return LS__CUDA_GOES_ON;
    r->failed_command = l->command->index;
    return LS__CUDA_INDIRECT;
}

static void count_launch(ls__cuda_recorder *r, launch *l, uint64_t lanes)
{
    uint64_t run = 1;
    for (int i = 0; i < 3; i++) {
        l->count[i] = (l->global_size[i] - 1) / l->kernel->workgroup[i] + 1;
        run *= (uint64_t)l->count[i] * l->kernel->workgroup[i];
    }
    r->totals->launches++;
    r->totals->lanes_asked += lanes;
    r->totals->lanes_run += run;
}

ls__cuda_end ls__cuda_record_dispatch(ls__cuda_recorder *r, const ls__command *command,
                                      uint32_t iteration, uint64_t *lanes)
{
    const ls__command_dispatch *d = &command->dispatch;
    launch l = {.command = command,
                .dispatch = d,
                .kernel = &((const ls__cuda_program *)d->program)->kernels[d->kernel],
                .iteration = iteration};
    ls__cuda_end end = LS__CUDA_GOES_ON;
    memcpy(l.global_size, d->global_size, sizeof l.global_size);
    if (d->indirect)
        end = read_sizes(r, &l);
    if (end != LS__CUDA_GOES_ON)
        return end;
    *lanes = (uint64_t)l.global_size[0] * l.global_size[1] * l.global_size[2];
    if (*lanes == 0)
        return LS__CUDA_GOES_ON;
    for (uint32_t i = 0; i < d->buffer_count && end == LS__CUDA_GOES_ON; i++)
        if (d->buffers[i].size)
            end = ls__cuda_touch(r, ls__cuda_memory_of(&d->buffers[i]));
    if (end != LS__CUDA_GOES_ON)
        return end;
    count_launch(r, &l, *lanes);
    write_parameters(r, &l);
    end = clear_barrier(r, &l);
    return end == LS__CUDA_GOES_ON ? record_boxes(r, &l) : end;
}
