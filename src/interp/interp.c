/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One dispatch from beginning to end: checks the launch, reserves all memory (an arena under the
 * caller's limit), and gives workgroups their turns in the order of the schedule.
 *
 * A workgroup runs in rounds: every lane goes on until it ends or stands at a synchronising step;
 * then all must stand at the same one, which is carried out, and the next round begins. At a grid
 * barrier the turn ends, and the workgroup is kept until all others are there too; so a kernel with
 * grid barriers keeps every workgroup's state, other kernels one workgroup's, and kernels without
 * any synchronising step one lane's.
 */
#include "interp/interp.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "interp/machine.h"

_Static_assert(sizeof(ls__interp_cell) == 48, "as interp.h and the hint below say");

static const uint64_t default_limit_bytes = UINT64_C(4) << 30;

void ls__interp_fail(ls__interp_machine *machine, ls_status status, const char *text)
{
    if (machine->status == LS_OK)
        machine->status = ls__fail(machine->error, status, "kernel '%s': %s",
                                   machine->launch->kernel->name, text);
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void measure_grid(ls__interp_machine *machine)
{
    const ls__interp_launch *launch = machine->launch;
    uint64_t lanes = 1;

    machine->group_total = 1;
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t size = launch->kernel->workgroup[d];
        assert(size > 0 && launch->global_size[d] > 0);
        lanes *= size;
        machine->group_count[d] =
            launch->global_size[d] / size + (launch->global_size[d] % size > 0);
        if (lanes > LS__INTERP_MAX_LANES)
            ls__interp_fail(machine, LS_E_LIMIT, "a workgroup has more than 1024 lanes");
        if (__builtin_mul_overflow(machine->group_total, machine->group_count[d],
                                   &machine->group_total))
            ls__interp_fail(machine, LS_E_LIMIT, "the launch has more than 2^64 workgroups");
        if (machine->status != LS_OK)
            return;
    }
    machine->group_lanes = (uint32_t)lanes;
}

/* Kernels with grid barriers are where memory runs out; says so in numbers before trying. */
static void check_grid_memory(ls__interp_machine *machine, uint64_t lanes_kept)
{
    const ls__interp_launch *launch = machine->launch;
    unsigned __int128 each = sizeof(ls__interp_group) + machine->shared_bytes +
                             lanes_kept * (sizeof(ls__interp_lane) + machine->kernel->stack_bytes);
    unsigned __int128 all = each * machine->group_total;
    uint64_t limit = machine->arena.limit_bytes;

    if (all <= limit)
        return;
    uint64_t shown = all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
    ls__interp_fail(machine, LS_E_LIMIT, "its grid barrier keeps every workgroup in memory");
    ls__fail_hint(machine->error, LS_E_LIMIT,
                  "%" PRIu64 " workgroups need %" PRIu64 " bytes, the limit is %" PRIu64
                  "; launch fewer lanes than %u x %u x %u or raise the limit",
                  machine->group_total, shown, limit, launch->global_size[0],
                  launch->global_size[1], launch->global_size[2]);
}

static void create_groups(ls__interp_machine *machine)
{
    ls__arena *arena = &machine->arena;
    uint64_t groups = machine->has_grid_barrier ? machine->group_total : 1;
    uint32_t lanes = machine->has_sync ? machine->group_lanes : 1;
    size_t stack_bytes = machine->kernel->stack_bytes;

    if (machine->has_grid_barrier) {
        check_grid_memory(machine, lanes);
        if (machine->status != LS_OK)
            return;
    }
    machine->groups = LS__NEW_ARRAY(arena, ls__interp_group, groups);
    for (uint64_t g = 0; g < groups; g++) {
        ls__interp_group *group = &machine->groups[g];
        uint8_t *stacks = ls__arena_alloc(arena, lanes, stack_bytes);
        group->lanes = LS__NEW_ARRAY(arena, ls__interp_lane, lanes);
        for (uint32_t i = 0; i < lanes; i++)
            group->lanes[i].stack = stacks + i * stack_bytes;
        group->shared = ls__arena_alloc(arena, machine->shared_bytes, 1);
        if (machine->launch->sanitize)
            group->shared_set = ls__arena_alloc(arena, machine->shared_bytes, 1);
    }
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The seeded order of workgroups is k -> (k * factor + shift) mod count with a factor prime to
 * count: a permutation that takes no memory, however many workgroups there are. */
static void draw_group_order(ls__interp_machine *machine)
{
    if (machine->launch->schedule != LS__INTERP_SEED)
        return;
    do
        machine->order_factor = ls__rng_u64(&machine->rng) % machine->group_total;
    while (greatest_common_divisor(machine->order_factor, machine->group_total) != 1);
    machine->order_shift = ls__rng_u64(&machine->rng) % machine->group_total;
}

/* Everything that can run out of memory. The machine is the caller's, so that its contents are
 * defined when the arena jumps back. */
static void set_up(ls__interp_machine *machine)
{
    const ls__interp_launch *launch = machine->launch;

    if (setjmp(machine->oom.jump)) {
        machine->status = ls__oom_status(&machine->oom, machine->error);
        if (machine->oom.over_limit)
            ls__fail_hint(machine->error, LS_E_LIMIT,
                          "the limit is %zu bytes%s; launch less at once or raise the limit",
                          machine->arena.limit_bytes,
                          launch->sanitize ? ", and the sanitizer takes 48 for each byte written to"
                                           : "");
        return;
    }
    machine->observing = launch->sanitize || launch->flag_undefined_c;
    measure_grid(machine);
    if (machine->status == LS_OK)
        ls__interp_plan(machine);
    if (machine->status == LS_OK && machine->has_subgroup &&
        machine->group_lanes % LS__INTERP_SUBGROUP != 0)
        ls__interp_fail(machine, LS_E_INVALID_ARGUMENT,
                        "subgroup operations need a workgroup of a multiple of 32 lanes");
    if (machine->status == LS_OK)
        create_groups(machine);
    if (machine->status == LS_OK && launch->sanitize)
        ls__interp_shadow_create(machine);
    if (machine->status != LS_OK)
        return;
    machine->lane_order = LS__NEW_ARRAY(&machine->arena, uint32_t, machine->group_lanes);
    if (machine->observing || launch->check_bounds || launch->on_report)
        machine->seen = LS__NEW_ARRAY(&machine->arena, uint64_t,
                                      (size_t)machine->steps.count * LS__INTERP_REPORT_COUNT);
    machine->rng.state = launch->seed;
    draw_group_order(machine);
}

/* --- order ------------------------------------------------------------------------------------ */

uint64_t ls__interp_group_at(const ls__interp_machine *machine, uint64_t k)
{
    switch (machine->launch->schedule) {
    case LS__INTERP_REVERSE:
        return machine->group_total - 1 - k;
    case LS__INTERP_SEED:
        return (uint64_t)(((unsigned __int128)k * machine->order_factor + machine->order_shift) %
                          machine->group_total);
    case LS__INTERP_ASCENDING:
        break;
    }
    return k;
}

void ls__interp_group_id(const ls__interp_machine *machine, uint64_t linear, uint32_t id[3])
{
    for (uint32_t d = 0; d < 3; d++) {
        id[d] = (uint32_t)(linear % machine->group_count[d]);
        linear /= machine->group_count[d];
    }
}

static void order_lanes(ls__interp_machine *machine)
{
    uint32_t count = machine->group_lanes, *order = machine->lane_order;
    bool is_reverse = machine->launch->schedule == LS__INTERP_REVERSE;

    for (uint32_t i = 0; i < count; i++)
        order[i] = is_reverse ? count - 1 - i : i;
    if (machine->launch->schedule != LS__INTERP_SEED)
        return;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = ls__rng_below(&machine->rng, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* --- workgroups ------------------------------------------------------------------------------- */

static void start_group(ls__interp_machine *machine, ls__interp_group *group, uint64_t linear)
{
    group->linear = linear;
    group->started = true;
    group->done = false;
    ls__interp_group_id(machine, linear, group->id);
    memset(group->shared, 0, machine->shared_bytes);
    if (group->shared_set)
        memset(group->shared_set, 0, machine->shared_bytes);
    machine->result->workgroups_run++;
    machine->result->lanes_run += machine->group_lanes;
}

/* Runs all lanes to their next stop, starting them first in the first round. Returns how many are
 * not done. */
static uint32_t run_lanes(ls__interp_machine *machine, ls__interp_group *group, bool first_round)
{
    uint32_t waiting = 0;
    order_lanes(machine);
    for (uint32_t i = 0; i < machine->group_lanes && machine->status == LS_OK; i++) {
        uint32_t index = machine->lane_order[i];
        ls__interp_lane *lane = &group->lanes[machine->has_sync ? index : 0];
        if (first_round)
            ls__interp_lane_start(machine, group, lane, index);
        else if (lane->done)
            continue;
        ls__interp_stop stop = ls__interp_lane_run(machine, group, lane);
        lane->done = stop == LS__INTERP_DONE;
        waiting += stop == LS__INTERP_SYNC;
        if (stop == LS__INTERP_CANCEL)
            ls__interp_fail(machine, LS_E_CANCELLED, "cancelled");
    }
    return waiting;
}

/* All lanes at one step, the same. */
static bool is_together(const ls__interp_machine *machine, const ls__interp_group *group,
                        uint32_t waiting)
{
    if (waiting != machine->group_lanes)
        return false;
    for (uint32_t i = 1; i < machine->group_lanes; i++) {
        if (group->lanes[i].pc != group->lanes[0].pc)
            return false;
    }
    return true;
}

static void pass_step(const ls__interp_machine *machine, ls__interp_group *group)
{
    for (uint32_t i = 0; i < machine->group_lanes; i++)
        group->lanes[i].pc++;
    machine->result->instructions += machine->group_lanes;
}

/* A turn: until the workgroup is done, stands at a grid barrier, or the run has failed. */
static void run_group(ls__interp_machine *machine, ls__interp_group *group, bool first_round)
{
    if (!first_round)
        pass_step(machine, group); /* the grid barrier */
    for (;; first_round = false) {
        uint32_t waiting = run_lanes(machine, group, first_round);
        if (machine->status != LS_OK)
            return;
        if (waiting == 0) {
            group->done = true;
            return;
        }
        if (!is_together(machine, group, waiting)) {
            ls__interp_fail(machine, LS_E_INVALID_ARGUMENT,
                            "a barrier or subgroup operation is not reached by all lanes");
            return;
        }
        uint32_t pc = group->lanes[0].pc;
        ls_op op = (ls_op)machine->steps.items[pc].op;
        if (op == LS_OP_GRID_BARRIER)
            return;
        if (op != LS_OP_BARRIER)
            ls__interp_exchange(machine, group, pc);
        else if (machine->launch->sanitize)
            ls__interp_shadow_barrier(machine);
        pass_step(machine, group);
    }
}

/* One turn for every workgroup. Returns how many are not done. */
static uint64_t run_groups(ls__interp_machine *machine)
{
    uint64_t waiting = 0;
    for (uint64_t k = 0; k < machine->group_total && machine->status == LS_OK; k++) {
        uint64_t linear = ls__interp_group_at(machine, k);
        ls__interp_group *group = &machine->groups[machine->has_grid_barrier ? linear : 0];
        bool first_round = !machine->has_grid_barrier || !group->started;
        if (ls__interp_cancelled(machine)) {
            ls__interp_fail(machine, LS_E_CANCELLED, "cancelled");
            break;
        }
        if (machine->launch->sanitize)
            ls__interp_shadow_turn(machine, k);
        if (first_round)
            start_group(machine, group, linear);
        if (first_round || !group->done)
            run_group(machine, group, first_round);
        waiting += !group->done;
    }
    return waiting;
}

static void run(ls__interp_machine *machine)
{
    for (;;) {
        uint64_t waiting = run_groups(machine);
        if (machine->status != LS_OK || waiting == 0)
            return;
        for (uint64_t g = 1; g < machine->group_total; g++) {
            if (machine->groups[g].done != machine->groups[0].done ||
                machine->groups[g].lanes[0].pc != machine->groups[0].lanes[0].pc) {
                ls__interp_fail(machine, LS_E_INVALID_ARGUMENT,
                                "a grid barrier is not reached by all workgroups");
                return;
            }
        }
        if (machine->launch->sanitize)
            ls__interp_shadow_grid_barrier(machine);
    }
}

ls_status ls__interp_run(const ls__interp_launch *launch, ls__interp_result *result,
                         ls_error *error)
{
    ls__interp_machine machine = {.launch = launch, .result = result, .error = error};
    uint64_t limit = launch->memory_limit_bytes ? launch->memory_limit_bytes : default_limit_bytes;
    ls__os_fenv saved;

    *result = (ls__interp_result){0};
    ls__arena_init(&machine.arena, &machine.oom, limit);
    machine.arena.spare = launch->spare;
    ls__os_fenv_enter(&saved);
    set_up(&machine);
    if (machine.status == LS_OK)
        run(&machine);
    ls__os_fenv_leave(&saved);
    ls__arena_finish(&machine.arena);
    return machine.status;
}
