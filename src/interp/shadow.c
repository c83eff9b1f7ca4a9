/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds races: two accesses to one byte, at least one of them not a read and not both atomic, by
 * lanes that no barrier orders.
 *
 * Time is counted in phases: a new one begins with each turn of a workgroup, with each barrier it
 * passes, and at each grid barrier; workgroups take turns one after another, so a phase belongs to
 * one workgroup. Subgroup operations and workgroup_uniform() start none: they order no memory. Two
 * accesses of different lanes are unordered when they are of one phase, or of different workgroups
 * since the last grid barrier. Shared memory knows only the first case.
 *
 * For each byte a cell keeps, of the reads, of the writes and of the atomics since the last grid
 * barrier, so few that whatever comes next, if it races with any of them, races with a kept one:
 * one by another workgroup than the present, with which all that follows is unordered; or else two
 * by different lanes of the latest phase, one of which differs from any lane that comes (and from
 * all later workgroups).
 * An access is packed as phase, lane, step number; 0 is none, since phases start at 1.
 */
#include <stdlib.h>

#include "interp/machine.h"

enum { LANE_BITS = 10, STEP_BITS = 22 };
_Static_assert(LS__INTERP_MAX_LANES == 1 << LANE_BITS, "lanes fit");

static uint64_t pack(uint32_t phase, uint32_t lane, uint32_t pc)
{
    return (uint64_t)phase << 32 | (uint64_t)lane << STEP_BITS | pc;
}

static uint32_t phase_of(uint64_t record)
{
    return (uint32_t)(record >> 32);
}

static uint32_t lane_of(uint64_t record)
{
    return (uint32_t)(record >> STEP_BITS) & ((1u << LANE_BITS) - 1);
}

static uint32_t pc_of(uint64_t record)
{
    return (uint32_t)record & ((1u << STEP_BITS) - 1);
}

/* --- memory ----------------------------------------------------------------------------------- */

typedef struct extent { /* of a binding in its buffer */
    uint64_t identity, start, end;
    uint32_t index;
    bool is_written;
} extent;

static int compare_extents(const void *left, const void *right)
{
    const extent *a = left, *b = right;
    if (a->identity != b->identity)
        return a->identity < b->identity ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Bindings that overlap share cells, so that races are found across parameters. What the kernel
 * only reads needs none. */
static void create_buffer_cells(ls__interp_machine *machine)
{
    extent extents[LS__INTERP_MAX_BUFFERS];
    uint32_t count = machine->launch->kernel->buffer_count;

    for (uint32_t i = 0; i < count; i++) {
        const ls__interp_binding *binding = &machine->launch->bindings[i];
        extents[i] = (extent){binding->identity, binding->offset, binding->offset + binding->size,
                              i, (machine->kernel->written_mask >> i & 1) != 0};
    }
    qsort(extents, count, sizeof *extents, compare_extents);
    for (uint32_t i = 0, next; i < count; i = next) {
        uint64_t end = extents[i].end;
        bool is_written = extents[i].is_written;
        for (next = i + 1; next < count && extents[next].identity == extents[i].identity &&
                           extents[next].start < end;
             next++) {
            end = extents[next].end > end ? extents[next].end : end;
            is_written |= extents[next].is_written;
        }
        if (!is_written)
            continue;
        ls__interp_cell *cells =
            LS__NEW_ARRAY(&machine->arena, ls__interp_cell, end - extents[i].start);
        for (uint32_t j = i; j < next; j++)
            machine->buffer_cells[extents[j].index] = cells + (extents[j].start - extents[i].start);
    }
}

void ls__interp_shadow_create(ls__interp_machine *machine)
{
    if (machine->steps.count >= 1u << STEP_BITS || machine->group_total >= UINT32_MAX) {
        ls__interp_fail(machine, LS_E_LIMIT,
                        "the sanitizer runs kernels of fewer than 4194304 steps and 2^32 - 1 "
                        "workgroups");
        return;
    }
    create_buffer_cells(machine);
    machine->turn_start = LS__NEW_ARRAY(&machine->arena, uint32_t, machine->group_total);
    /* One for all workgroups, also where several are under way: a turn's phases are its own. */
    machine->shared_cells = LS__NEW_ARRAY(&machine->arena, ls__interp_cell, machine->shared_bytes);
    machine->grid_phase = 1;
}

/* --- time ------------------------------------------------------------------------------------- */

static void next_phase(ls__interp_machine *machine)
{
    if (machine->phase == UINT32_MAX)
        ls__interp_fail(machine, LS_E_LIMIT, "the sanitizer counts fewer than 2^32 barriers");
    else
        machine->phase++;
}

void ls__interp_shadow_turn(ls__interp_machine *machine, uint64_t k)
{
    next_phase(machine);
    machine->turn = k;
    machine->turn_phase = machine->phase;
    machine->turn_start[k] = machine->phase;
}

void ls__interp_shadow_barrier(ls__interp_machine *machine)
{
    next_phase(machine);
}

void ls__interp_shadow_grid_barrier(ls__interp_machine *machine)
{
    machine->grid_phase = machine->phase + 1; /* the first turn begins it */
}

/* The workgroup whose turn a phase since the last grid barrier belongs to. */
static uint64_t group_of(const ls__interp_machine *machine, uint32_t phase)
{
    uint64_t low = 0, high = machine->turn; /* turn_start[low] <= phase always */
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (machine->turn_start[middle] <= phase)
            low = middle;
        else
            high = middle - 1;
    }
    return ls__interp_group_at(machine, low);
}

/* --- accesses --------------------------------------------------------------------------------- */

typedef struct present { /* the access being made */
    uint64_t record;
    uint32_t phase, lane, turn_phase;
    uint32_t since; /* earlier phases are ordered before */
} present;

/* Of another workgroup, with no grid barrier in between. */
static bool is_foreign(const present *p, uint64_t earlier)
{
    return phase_of(earlier) >= p->since && phase_of(earlier) < p->turn_phase;
}

static bool is_unordered(const present *p, uint64_t earlier)
{
    return earlier && (is_foreign(p, earlier) ||
                       (phase_of(earlier) == p->phase && lane_of(earlier) != p->lane));
}

/* Adds the present access to the kept ones of its kind. */
static void keep(const present *p, uint64_t kept[2])
{
    if (is_foreign(p, kept[0]))
        return;
    if (phase_of(kept[0]) != p->phase) {
        kept[0] = p->record;
        kept[1] = 0;
    } else if (!kept[1] && lane_of(kept[0]) != p->lane) {
        kept[1] = p->record;
    }
}

/* The earlier access that the present one races with, 0 if none; records the present one. */
static uint64_t access_byte(const present *p, ls__interp_cell *cell, ls__interp_access access,
                            ls__interp_access *earlier_access)
{
    uint64_t earlier = 0;
    for (uint32_t kind = 0; kind < 3 && !earlier; kind++) {
        if (kind == access && kind != LS__INTERP_WRITE)
            continue; /* two reads, two atomics */
        for (uint32_t i = 0; i < 2 && !earlier; i++) {
            if (is_unordered(p, cell->kept[kind][i]))
                earlier = cell->kept[kind][i];
        }
        *earlier_access = (ls__interp_access)kind;
    }
    keep(p, cell->kept[access]);
    return earlier;
}

bool ls__interp_shadow_access(ls__interp_machine *machine, ls__interp_cell *cells, uint32_t size,
                              bool is_shared, ls__interp_access access, uint32_t lane, uint32_t pc,
                              ls__interp_race *race)
{
    static const char *const details[3][3] = {
        /* [earlier][present] */
        [LS__INTERP_READ] = {"", "write after read", "atomic after read"},
        [LS__INTERP_WRITE] = {"read after write", "write after write", "atomic after write"},
        [LS__INTERP_ATOMIC] = {"read after atomic", "write after atomic", ""},
    };
    const present p = {pack(machine->phase, lane, pc), machine->phase, lane, machine->turn_phase,
                       is_shared ? machine->turn_phase : machine->grid_phase};
    bool found = false;

    for (uint32_t i = 0; i < size; i++) {
        ls__interp_access earlier_access = LS__INTERP_READ;
        uint64_t earlier = access_byte(&p, &cells[i], access, &earlier_access);
        if (!earlier || found)
            continue;
        found = true;
        *race = (ls__interp_race){
            .detail = details[earlier_access][access],
            .pc = pc_of(earlier),
            .lane = lane_of(earlier),
            .same_group = phase_of(earlier) == machine->phase,
            .group = group_of(machine, phase_of(earlier)),
        };
    }
    return found;
}
