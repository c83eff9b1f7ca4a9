/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the lanes of a warp run. Lanes at the same place run together, those at the
 * lowest place first, until they reach the next ones: loops and branches come together again where
 * compilers lay them out in order, and functions lie below their callers. Every now and then the
 * others have a turn, so that lanes may wait for each other through memory. */
#include <stdarg.h>
#include <stdio.h>
#include "warp.h"

enum { TURN_AFTER = 20000, TURN = 1000 };

void warp_fault(warp *w, ptx_outcome outcome, const char *format, ...)
{
    int none = PTX_DONE;
    w->failed = true;
    if (!__atomic_compare_exchange_n(&w->run->failed, &none, (int)outcome, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return;
    char what[256];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    const uint32_t *block =
        (const uint32_t *)(void *)(w->specials + special_offset(SPECIAL_CTAID_X));
    const uint32_t *warp_id =
        (const uint32_t *)(void *)(w->specials + special_offset(SPECIAL_WARPID));
    ptx_result *result = w->run->result;
    result->outcome = outcome;
    snprintf(result->message, sizeof result->message,
             "kernel %s, line %u, block (%u, %u, %u), warp %u: %s", w->run->program->entry->name,
             w->run->program->code[w->at].line, block[0], block[LANES], block[2 * LANES],
             warp_id[0], what);
}

#define FOR_LANES(mask)                                                                            \
    for (int lane = 0; lane < LANES; lane++)                                                       \
        if ((mask) >> lane & 1)

static void set_places(warp *w, uint32_t mask, uint32_t pc)
{
    FOR_LANES(mask)
    w->pc[lane] = pc;
}

static void end_lanes(warp *w, uint32_t mask)
{
    w->live &= ~mask;
    w->block->live -= (uint32_t)__builtin_popcount(mask);
    block_check_barriers(w->block);
}

/* --- collectives --------------------------------------------------------------------------------
 */
/* Lanes that wait at the collective `pc`. */
static uint32_t waiting_at(const warp *w, uint32_t pc)
{
    uint32_t result = 0, waiting = w->waiting & ~w->barrier;
    FOR_LANES(waiting)
    if (w->pc[lane] == pc)
        result |= 1u << lane;
    return result;
}

/* Runs the collective for each set of lanes that is complete; the lanes in `arrived` wait at it. */
static bool try_collective(warp *w, uint32_t pc, uint32_t arrived)
{
    const instruction *in = &w->run->program->code[pc];
    const uint32_t *members = source(w, in->e);
    bool any = false;
    w->at = pc;
    FOR_LANES(arrived)
    {
        uint32_t needed = members[lane] & w->live;
        if (!(needed >> lane & 1)) {
            warp_fault(w, PTX_FAILED, "lane %d is not in its own member mask %#x", lane,
                       members[lane]);
            return false;
        }
        if (needed & ~arrived)
            continue;
        for (int i = 0; i < LANES; i++)
            if (needed >> i & 1 && members[i] != members[lane]) {
                warp_fault(w, PTX_FAILED, "lanes %d and %d have different member masks", lane, i);
                return false;
            }
        in->run(w, in, needed);
        w->waiting &= ~needed;
        set_places(w, needed, pc + 1);
        arrived &= ~needed;
        any = true;
    }
    return any;
}

/* Lanes may have ended for which others wait. */
static bool retry_collectives(warp *w)
{
    uint32_t left = w->waiting & ~w->barrier;
    while (left) {
        uint32_t pc = w->pc[__builtin_ctz(left)], arrived = waiting_at(w, pc);
        if (try_collective(w, pc, arrived))
            return true;
        left &= ~arrived;
    }
    return false;
}

/* True when all of the group goes on at once. */
static bool collective(warp *w, const instruction *in, uint32_t pc, uint32_t group, uint32_t active)
{
    const uint32_t *members = source(w, in->e);
    bool whole = active == group;
    FOR_LANES(active)
    whole &= members[lane] == members[__builtin_ctz(active)] && (members[lane] & w->live) == active;
    if (whole) {
        in->run(w, in, active);
        return true;
    }
    set_places(w, group & ~active, pc + 1);
    set_places(w, active, pc);
    w->waiting |= active;
    if (active)
        try_collective(w, pc, waiting_at(w, pc));
    return false;
}

/* --- barriers -----------------------------------------------------------------------------------
 */
static void barrier(warp *w, const instruction *in, uint32_t pc, uint32_t active)
{
    const uint32_t *ids = source(w, in->a), *counts = source(w, in->b);
    uint32_t votes = in->operation ? predicate(w, in->c) : 0;
    if (in->aligned && w->barrier && w->barrier_pc != pc) {
        warp_fault(w, PTX_FAILED, "lanes of a warp wait at different barriers");
        return;
    }
    FOR_LANES(active)
    {
        uint32_t id = ids[lane], count = in->b.width ? counts[lane] : 0;
        if (id > 15 || count % LANES != 0 || (in->b.width && count == 0)) {
            warp_fault(w, PTX_FAILED, "lane %d has no valid barrier: %u, for %u threads", lane, id,
                       count);
            return;
        }
        block *b = w->block;
        if (b->arrived[id] && (b->expected[id] != count || b->reduction[id] != in->operation)) {
            warp_fault(w, PTX_FAILED, "barrier %u is for %u threads and for %u, or for another use",
                       id, b->expected[id], count);
            return;
        }
        b->expected[id] = count;
        b->reduction[id] = in->operation;
        b->votes[id] += votes >> lane & 1;
        w->block->arrived[id]++;
        w->barrier_id[lane] = (uint8_t)id;
        w->pc[lane] = pc + 1;
    }
    w->barrier_pc = pc;
    w->waiting |= active;
    w->barrier |= active;
    block_check_barriers(w->block);
}

/* --- calls --------------------------------------------------------------------------------------
 */
static void copy_frames(warp *w, uint32_t mask, const uint64_t *to, const uint64_t *from,
                        variable *const *sizes, size_t count)
{
    FOR_LANES(mask)
    {
        unsigned char *frame = w->frames + (uint64_t)lane * w->frame_bytes;
        for (size_t i = 0; i < count; i++)
            memcpy(frame + to[i], frame + from[i], sizes[i]->size);
    }
}

static void call(warp *w, const call_site *site, uint32_t pc, uint32_t active)
{
    uint32_t *sites = w->return_site + (size_t)site->callee_index * LANES;
    copy_frames(w, active, site->argument_to, site->argument_from, site->arguments,
                site->argument_count);
    FOR_LANES(active)
    sites[lane] = pc;
}

/* Where the lanes go on; true if it is one place. */
static bool return_lanes(warp *w, const instruction *in, uint32_t active)
{
    const uint32_t *sites = w->return_site + (size_t)in->target * LANES;
    uint32_t first = sites[__builtin_ctz(active)];
    bool same = true;
    FOR_LANES(active)
    {
        const call_site *site = w->run->program->code[sites[lane]].call;
        copy_frames(w, 1u << lane, site->result_to, site->result_from, site->results,
                    site->result_count);
        w->pc[lane] = sites[lane] + 1;
        same &= sites[lane] == first;
    }
    return same;
}

static void branch_table_lanes(warp *w, const instruction *in, uint32_t pc, uint32_t group,
                               uint32_t active)
{
    const uint32_t *index = source(w, in->a);
    FOR_LANES(group)
    {
        if (!(active >> lane & 1)) {
            w->pc[lane] = pc + 1;
        } else if (index[lane] >= in->more_count) {
            warp_fault(w, PTX_FAILED, "lane %d branches to entry %u of %u", lane, index[lane],
                       in->more_count);
            return;
        } else {
            w->pc[lane] = in->targets[index[lane]] + (uint32_t)in->immediate;
        }
    }
}

/* --- the loop -----------------------------------------------------------------------------------
 */
/* Runs the lanes of `group`, all at `pc`, until they part, wait, or reach `limit`. */
static uint32_t run_group(warp *w, uint32_t pc, uint32_t group, uint32_t limit, uint32_t budget)
{
    const instruction *code = w->run->program->code;
    uint32_t left = budget;
    for (; left; left--) {
        const instruction *in = &code[pc];
        uint32_t active = group;
        if (in->guard.width)
            active &= predicate(w, in->guard);
        w->at = pc;
        w->lane_instructions += (uint32_t)__builtin_popcount(active);
        switch ((flow)in->flow) {
        case FLOW_NEXT:
            if (active)
                in->run(w, in, active);
            pc++;
            break;
        case FLOW_BRANCH:
            if (active && active != group) {
                set_places(w, active, in->target);
                set_places(w, group & ~active, pc + 1);
                return left - 1;
            }
            pc = active ? in->target : pc + 1;
            break;
        case FLOW_TABLE:
            branch_table_lanes(w, in, pc, group, active);
            return left - 1;
        case FLOW_CALL:
            call(w, in->call, pc, active);
            if (active && active != group) {
                set_places(w, active, in->call->first);
                set_places(w, group & ~active, pc + 1);
                return left - 1;
            }
            pc = active ? in->call->first : pc + 1;
            break;
        case FLOW_RETURN:
            if (active && (!return_lanes(w, in, active) || active != group)) {
                set_places(w, group & ~active, pc + 1);
                return left - 1;
            }
            pc = active ? w->pc[__builtin_ctz(active)] : pc + 1;
            break;
        case FLOW_EXIT:
            set_places(w, group & ~active, pc + 1);
            end_lanes(w, active);
            return left - 1;
        case FLOW_BARRIER:
            set_places(w, group & ~active, pc + 1);
            barrier(w, in, pc, active);
            return left - 1;
        case FLOW_YIELD:
            set_places(w, group, pc + 1);
            w->yields = active != 0;
            return left - 1;
        case FLOW_COLLECTIVE:
            if (!collective(w, in, pc, group, active))
                return left - 1;
            pc++;
            break;
        }
        if (pc >= limit || w->failed) {
            left--;
            break;
        }
    }
    set_places(w, group, pc);
    return left;
}

/* The lanes that run next: those at the lowest place, or, in a `turn`, those with the next lane. */
static uint32_t choose_group(warp *w, uint32_t runnable, bool turn, uint32_t *place,
                             uint32_t *limit)
{
    uint32_t pc = UINT32_MAX, group = 0;
    for (uint32_t i = 1; turn && i <= LANES && pc == UINT32_MAX; i++) {
        uint32_t lane = (w->last_lane + i) % LANES;
        if (runnable >> lane & 1) {
            pc = w->pc[lane];
            w->last_lane = lane;
        }
    }
    FOR_LANES(runnable)
    if (!turn && w->pc[lane] < pc)
        pc = w->pc[lane];
    *place = pc;
    *limit = UINT32_MAX;
    FOR_LANES(runnable)
    {
        if (w->pc[lane] == pc)
            group |= 1u << lane;
        else if (!turn && w->pc[lane] < *limit)
            *limit = w->pc[lane];
    }
    return group;
}

bool warp_run(warp *w, uint32_t budget)
{
    bool any = false;
    w->yields = false;
    while (budget && !w->failed && !w->yields) {
        uint32_t runnable = w->live & ~w->waiting, pc, limit;
        if (!runnable) {
            if (!retry_collectives(w))
                return any;
            any = true;
            continue;
        }
        any = true;
        bool turn = w->apart >= TURN_AFTER;
        uint32_t group = choose_group(w, runnable, turn, &pc, &limit);
        uint32_t most = turn && budget > TURN ? TURN : budget;
        uint32_t used = most - run_group(w, pc, group, limit, most);
        budget -= used;
        w->apart = group == runnable ? 0 : turn ? TURN_AFTER - 4 * TURN : w->apart + used;
        if (w->yields && group != runnable)
            w->apart = TURN_AFTER;
    }
    return any;
}
