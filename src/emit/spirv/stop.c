/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps and cancelling (abi.h).
 *
 * A lane keeps its own first trap; what becomes of it is decided when the workgroup is done
 * (kernel.c).
 *
 * Loops without a short constant bound look at the host's flag at their back edge, each 256th time,
 * since the flag may lie far away. In a kernel whose lanes never wait for each other a lane that
 * sees it returns. Where they do, no lane may be missing at a later barrier: loops that all lanes
 * run together leave together, by what lane 0 has read. Other loops there are left by the lane
 * alone, which goes on with what it has until the workgroup comes to one of the first kind or to
 * its end: every access is checked, and nothing counts any more. Where accesses are not checked
 * they do not look.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

enum { SHORT_LOOP = 4096, POLL_INTERVAL = 256 };

/* A variable of the lane, 0 or false at first. */
static ref private_variable(unit *u, ref *variable, ref type)
{
    if (!*variable)
        *variable = ls__spirv_global(u, SpvStorageClassPrivate, type, ls__spirv_null(u, type));
    return *variable;
}

/* --- traps ------------------------------------------------------------------------------------ */

void ls__spirv_trap(unit *u, ref code)
{
    ref word = ls__spirv_int(u, 32), boolean = ls__spirv_bool(u);
    ref trapped = private_variable(u, &u->trapped, boolean);
    ref kept = private_variable(u, &u->trap_code, word);
    u->flags |= LS__SPIRV_MAY_TRAP;
    ref again = mk(u, SpvOpLoad, boolean, trapped), old = mk(u, SpvOpLoad, word, kept);
    ref first = mk(u, SpvOpSelect, word, again, old, code);
    put(u, u->out, SpvOpStore, kept, first);
    ref yes = ls__spirv_unique(u, SpvOpConstantTrue, boolean, NULL, 0);
    put(u, u->out, SpvOpStore, trapped, yes);
}

/* --- looking at the host's flag -----------------------------------------------------------------
 */

void ls__spirv_set_stopped(unit *u, uint32_t why)
{
    ref word = ls__spirv_int(u, 32), bits = ls__spirv_u32(u, why);
    ref scope = ls__spirv_u32(u, SpvScopeQueueFamily), relaxed = ls__spirv_u32(u, 0);
    ref stopped = ls__spirv_status_word(u, offsetof(ls__spirv_status, stopped));
    mk(u, SpvOpAtomicOr, word, stopped, scope, relaxed, bits);
}

ref ls__spirv_cancelled(unit *u)
{
    ref word = ls__spirv_int(u, 32), zero = ls__spirv_u32(u, 0);
    ref scope = ls__spirv_u32(u, SpvScopeQueueFamily);
    ref is_volatile = ls__spirv_u32(u, SpvMemorySemanticsVolatileMask);
    ref flag = ls__spirv_status_word(u, offsetof(ls__spirv_status, cancel));
    ref read = mk(u, SpvOpAtomicLoad, word, flag, scope, is_volatile);
    ref seen = mk(u, SpvOpINotEqual, ls__spirv_bool(u), read, zero);
    ref merge = ls__spirv_begin_if(u, seen);
    ls__spirv_set_stopped(u, LS__SPIRV_STOPPED_CANCEL);
    ls__spirv_end_if(u, merge);
    return seen;
}

/* Counts, and says whether it is time. */
static ref is_due(unit *u, ref counter)
{
    ref word = ls__spirv_int(u, 32), zero = ls__spirv_u32(u, 0), one = ls__spirv_u32(u, 1);
    ref mask = ls__spirv_u32(u, POLL_INTERVAL - 1);
    ref count = mk(u, SpvOpLoad, word, counter);
    count = mk(u, SpvOpIAdd, word, count, one);
    put(u, u->out, SpvOpStore, counter, count);
    ref rest = mk(u, SpvOpBitwiseAnd, word, count, mask);
    return mk(u, SpvOpIEqual, ls__spirv_bool(u), rest, zero);
}

static ref stop_variable(unit *u)
{
    return private_variable(u, &u->stop, ls__spirv_bool(u));
}

static ref uniform_stop_variable(unit *u)
{
    return private_variable(u, &u->uniform_stop, ls__spirv_bool(u));
}

static void return_flag(unit *u, ref variable)
{
    ref value = mk(u, SpvOpLoad, ls__spirv_bool(u), variable);
    put(u, u->out, SpvOpReturnValue, value);
    u->f.terminated = true;
}

static ref emit_poll(unit *u)
{
    ref boolean = ls__spirv_bool(u), stop = stop_variable(u);
    ref counter = private_variable(u, &u->poll_count, ls__spirv_int(u, 32));
    body saved = ls__spirv_open(u, NULL);
    ref due = is_due(u, counter), stopped = mk(u, SpvOpLoad, boolean, stop);
    ref running = mk(u, SpvOpLogicalNot, boolean, stopped);
    ref look = mk(u, SpvOpLogicalAnd, boolean, due, running);
    ref merge = ls__spirv_begin_if(u, look);
    ref seen = ls__spirv_cancelled(u);
    put(u, u->out, SpvOpStore, stop, seen);
    ls__spirv_end_if(u, merge);
    return_flag(u, stop);
    return ls__spirv_close(u, &saved, boolean, NULL, "poll");
}

/* Lane 0 looks, all do as it says. */
static ref emit_uniform_poll(unit *u)
{
    ref boolean = ls__spirv_bool(u), zero = ls__spirv_u32(u, 0), stop = uniform_stop_variable(u);
    ref counter = private_variable(u, &u->uniform_poll_count, ls__spirv_int(u, 32));
    body saved = ls__spirv_open(u, NULL);
    ref due = is_due(u, counter);
    ref merge = ls__spirv_begin_if(u, due);
    ls__spirv_barrier(u); /* all have read what the flag was */
    ref index = ls__spirv_local_index(u);
    ref is_first = mk(u, SpvOpIEqual, boolean, index, zero);
    ref inner = ls__spirv_begin_if(u, is_first);
    ls__spirv_set_stop_flag(u);
    ls__spirv_end_if(u, inner);
    ls__spirv_barrier(u);
    ref seen = ls__spirv_stop_flag(u);
    put(u, u->out, SpvOpStore, stop, seen);
    ls__spirv_end_if(u, merge);
    return_flag(u, stop);
    return ls__spirv_close(u, &saved, boolean, NULL, "uniform_poll");
}

/* A word of the workgroup: what lane 0 has read. */
static ref shared_flag(unit *u)
{
    if (!u->stop_flag) {
        u->stop_flag = ls__spirv_global(u, SpvStorageClassWorkgroup, ls__spirv_int(u, 32), 0);
        u->shared_bytes += 4;
    }
    return u->stop_flag;
}

void ls__spirv_set_stop_flag(unit *u)
{
    ref zero = ls__spirv_u32(u, 0), one = ls__spirv_u32(u, 1), flag = shared_flag(u);
    ref seen = ls__spirv_cancelled(u);
    ref value = mk(u, SpvOpSelect, ls__spirv_int(u, 32), seen, one, zero);
    put(u, u->out, SpvOpStore, flag, value, SpvMemoryAccessNonPrivatePointerMask);
}

ref ls__spirv_stop_flag(unit *u)
{
    ref zero = ls__spirv_u32(u, 0), flag = shared_flag(u);
    ref value = mk(u, SpvOpLoad, ls__spirv_int(u, 32), flag, SpvMemoryAccessNonPrivatePointerMask);
    return mk(u, SpvOpINotEqual, ls__spirv_bool(u), value, zero);
}

/* --- loops ------------------------------------------------------------------------------------ */

bool ls__spirv_loop_polls(const ls__ir_function *function, const ls__ir_inst *loop)
{
    uint64_t bound = ls__ir_loop_bound(function, loop);
    return bound == 0 || bound > SHORT_LOOP;
}

/* Whether all lanes of the workgroup come to the loop's back edge together. */
static bool is_uniform_loop(const unit *u, const ls__ir_inst *loop)
{
    const ls__ir_inst *last = loop->regions[1]->last;
    if (!last)
        last = loop->regions[0]->last;
    return last && u->f.uniformity &&
           ls__ir_control_scope(u->f.function, u->f.uniformity, last) <= LS__IR_WORKGROUP;
}

ref ls__spirv_poll(unit *u, const ls__ir_inst *loop, bool *is_uniform)
{
    bool is_kernel = u->f.function->is_kernel;
    *is_uniform = u->has_barriers && is_kernel && is_uniform_loop(u, loop);
    if (!ls__spirv_loop_polls(u->f.function, loop) ||
        (u->has_barriers && u->unchecked && !*is_uniform))
        return 0;
    u->flags |= LS__SPIRV_POLLS;
    ref *function = *is_uniform ? &u->uniform_poll : &u->poll;
    if (!*function)
        *function = *is_uniform ? emit_uniform_poll(u) : emit_poll(u);
    return mk(u, SpvOpFunctionCall, ls__spirv_bool(u), *function);
}

static void return_anything(unit *u)
{
    if (u->f.result_type == ls__spirv_void(u))
        ls__spirv_put(u, u->out, SpvOpReturn, NULL, 0);
    else
        put(u, u->out, SpvOpReturnValue, ls__spirv_null(u, u->f.result_type));
    u->f.terminated = true;
}

void ls__spirv_leave_when_stopped(unit *u, bool is_uniform)
{
    if (u->has_barriers && u->f.function->is_kernel && !is_uniform)
        return;
    ref flag = is_uniform ? uniform_stop_variable(u) : stop_variable(u);
    ref stopped = mk(u, SpvOpLoad, ls__spirv_bool(u), flag);
    ref merge = ls__spirv_begin_if(u, stopped);
    return_anything(u);
    ls__spirv_end_if(u, merge);
}
