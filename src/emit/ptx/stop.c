/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps and cancelling (abi.h).
 *
 * Loops without a short constant bound look at the host's flag at their back edge, each 256th time,
 * since the flag is far away. A lane that sees it says so in `stopped` and ends: lanes that have
 * ended are not waited for at barriers (PTX ISA, `exit`). Where lanes wait for each other, loops
 * that all run together are left together, so that nobody goes on with what another has not
 * computed; other loops there are left by the lane alone. Every access of the rest is checked, so
 * it does no harm; where accesses are not checked such loops do not look.
 */
#include <stddef.h>

#include "emit/ptx/code.h"

enum { SHORT_LOOP = 4096, POLL_INTERVAL = 256 };

static lv status_at(code *c, size_t offset)
{
    return mk_at(&c->u, c->given[GIVEN_STATUS], mk_i64(&c->u, offset));
}

/* --- cancelling ------------------------------------------------------------------------------- */

lv ls__ptx_cancelled(code *c)
{
    lv flag = ls__ptx_volatile_load(c, c->u.e->i32, status_at(c, offsetof(ls__ptx_status, cancel)));
    return mk_icmp(&c->u, LLVMIntNE, flag, mk_i32(&c->u, 0));
}

void ls__ptx_leave_stopped(code *c)
{
    unit *u = &c->u;
    lv store = mk_store(u, mk_i32(u, 1), status_at(c, offsetof(ls__ptx_status, stopped)), 4);
    u->l->SetVolatile(store, 1);
    if (!u->function->is_kernel) {
        ls__ptx_asm(c, "exit;", "", u->e->void_type, NULL, 0, true);
        u->l->BuildUnreachable(u->b);
        return;
    }
    mk_br(u, c->done);
}

/* Whether all lanes of the workgroup come to the loop's back edge together. */
static bool is_uniform_loop(const code *c, const ls__ir_inst *loop)
{
    const ls__ir_inst *last = loop->regions[1]->last;
    if (!last)
        last = loop->regions[0]->last;
    return last && ls__ir_control_scope(c->u.function, &c->uniformity, last) <= LS__IR_WORKGROUP;
}

/* i1: each 256th time. */
static lv is_due(code *c, lv *counter)
{
    unit *u = &c->u;
    if (!*counter) {
        lb here = ls__ptx_enter_entry(c);
        *counter = u->l->BuildAlloca(u->b, u->e->i32, "");
        mk_store(u, mk_i32(u, 0), *counter, 4);
        ls__ptx_leave_entry(c, here);
    }
    lv count = mk_add(u, mk_load(u, u->e->i32, *counter, 4), mk_i32(u, 1));
    mk_store(u, count, *counter, 4);
    lv rest = mk_and(u, count, mk_i32(u, POLL_INTERVAL - 1));
    return mk_icmp(u, LLVMIntEQ, rest, mk_i32(u, 0));
}

void ls__ptx_poll(code *c, const ls__ir_inst *loop)
{
    unit *u = &c->u;
    uint64_t bound = ls__ir_loop_bound(u->function, loop);
    bool is_uniform = c->cooperates && is_uniform_loop(c, loop);
    bool may_cooperate = c->cooperates || !u->function->is_kernel;
    if ((bound != 0 && bound <= SHORT_LOOP) || (may_cooperate && !is_uniform && c->g->unchecked))
        return;
    lb look = mk_block(u), stop = mk_block(u), on = mk_block(u);
    c->flags |= LS__PTX_POLLS;
    mk_cond_br(u, is_due(c, is_uniform ? &c->uniform_poll_count : &c->poll_count), look, on);
    mk_begin(u, look);
    lv cancelled = ls__ptx_cancelled(c);
    if (is_uniform)
        cancelled = ls__ptx_workgroup_any(c, cancelled);
    mk_cond_br(u, cancelled, stop, on);
    mk_begin(u, stop);
    ls__ptx_leave_stopped(c);
    mk_begin(u, on);
}

/* --- traps ------------------------------------------------------------------------------------ */

/* The lane's place in the grid, as the upper half of a trap's key. */
static lv place_in_grid(code *c)
{
    unit *u = &c->u;
    lv row = mk_mul(u, ls__ptx_register(c, "nctaid.y"), ls__ptx_register(c, "ctaid.z"));
    row = mk_add(u, row, ls__ptx_register(c, "ctaid.y"));
    lv workgroup = mk_mul(u, ls__ptx_register(c, "nctaid.x"), row);
    workgroup = mk_add(u, workgroup, ls__ptx_register(c, "ctaid.x"));
    return mk_or(u, mk_shl(u, workgroup, mk_i32(u, 10)), ls__ptx_register(c, "tid.x"));
}

/* void trap(status, sequence, code). Whether the lane has trapped before the key tells, unless a
 * lower lane's stands there, which this one's would not change. */
static void make_helper(code *caller)
{
    generator *g = caller->g;
    emitter *e = g->e;
    code copy = *caller, *c = &copy;
    unit *u = &c->u;
    lt global = e->l->PointerTypeInContext(e->context, SPACE_GLOBAL);
    lt types[3] = {global, e->i32, e->i32};
    lb here = e->l->GetInsertBlock(e->b);
    u->code = g->trap =
        e->l->AddFunction(e->out, "ls_trap", e->l->FunctionType(e->void_type, types, 3, 0));
    e->l->SetLinkage(g->trap, LLVMInternalLinkage);
    ls__llvm_add_attribute(e, g->trap, "noinline");
    ls__llvm_add_attribute(e, g->trap, "nounwind");
    c->given[GIVEN_STATUS] = e->l->GetParam(g->trap, 0);
    lv sequence = e->l->GetParam(g->trap, 1), zero = mk_i32(u, 0);
    mk_begin(u, mk_block(u));
    lb mine = mk_block(u), first = mk_block(u), done = mk_block(u);
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    lv old = e->l->BuildAtomicCmpXchg(e->b, status_at(c, offsetof(ls__ptx_status, trap_sequence)),
                                      zero, sequence, relaxed, relaxed, 0);
    old = e->l->BuildExtractValue(e->b, old, 0, "");
    lv is_mine = mk_or(u, mk_icmp(u, LLVMIntEQ, old, zero), mk_icmp(u, LLVMIntEQ, old, sequence));
    mk_cond_br(u, is_mine, mine, done);
    mk_begin(u, mine);
    lv place = place_in_grid(c), key = status_at(c, offsetof(ls__ptx_status, trap));
    lv lowest = ls__ptx_volatile_load(c, e->i64, key);
    lv lowest_place = mk_trunc(u, mk_lshr(u, lowest, mk_i64(u, 32)), e->i32);
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, place, lowest_place), first, done);
    mk_begin(u, first);
    lv own = mk_or(u, mk_shl(u, mk_zext(u, place, e->i64), mk_i64(u, 32)),
                   mk_zext(u, e->l->GetParam(g->trap, 2), e->i64));
    e->l->BuildAtomicRMW(e->b, LLVMAtomicRMWBinOpUMin, key, own, relaxed, 0);
    mk_br(u, done);
    mk_begin(u, done);
    e->l->BuildRetVoid(e->b);
    mk_begin(u, here);
}

void ls__ptx_trap(code *c, const ls__ir_inst *inst)
{
    const ls__llvm *l = c->u.l;
    if (!c->g->trap)
        make_helper(c);
    c->flags |= LS__PTX_MAY_TRAP;
    lv args[3] = {c->given[GIVEN_STATUS], c->given[GIVEN_SEQUENCE],
                  ls__ptx_value(c, inst->args[0])};
    l->BuildCall2(c->u.b, l->GlobalGetValueType(c->g->trap), c->g->trap, args, 3, "");
}
