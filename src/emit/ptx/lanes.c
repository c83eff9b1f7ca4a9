/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers, and operations between lanes. A subgroup is a warp: 32 lanes of consecutive %tid.x.
 * Subgroup operations stand in workgroup-uniform control flow, in workgroups that are a multiple of
 * 32, so every lane of the warp is there.
 */
#include "emit/ptx/code.h"

enum { WARP = 32 };

static bool find_cooperation(ls__ir_inst *inst, void *context)
{
    bool *found = context;
    *found |= ls__ir_op_has((ls_op)inst->op, 'S');
    return true;
}

bool ls__ptx_cooperates(const ls__ir_function *function)
{
    bool found = false;
    ls__ir_walk(function->body, find_cooperation, &found);
    return found;
}

/* --- barriers --------------------------------------------------------------------------------- */

void ls__ptx_barrier(code *c)
{
    if (c->u.lane_count > 1)
        ls__llvm_intrinsic(&c->u, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
}

lv ls__ptx_workgroup_any(code *c, lv condition)
{
    unit *u = &c->u;
    if (u->lane_count == 1)
        return condition;
    lv word = mk_zext(u, condition, u->e->i32);
    lv any = ls__llvm_intrinsic(u, "llvm.nvvm.barrier0.or", NULL, 0, &word, 1);
    return mk_icmp(u, LLVMIntNE, any, mk_i32(u, 0));
}

static lv is_first_lane(code *c)
{
    return mk_icmp(&c->u, LLVMIntEQ, c->local_index, mk_i32(&c->u, 0));
}

static lv product(code *c, const char *x, const char *y, const char *z)
{
    unit *u = &c->u;
    lv all = mk_mul(u, ls__ptx_register(c, x), ls__ptx_register(c, y));
    return mk_mul(u, all, ls__ptx_register(c, z));
}

/* The highest bit of the counter changes when the last workgroup has come: one of them adds what
 * the others leave missing. So it may turn any number of times. */
static lv arrive(code *c)
{
    enum { TOP = 1u << 31 };
    unit *u = &c->u;
    lv count = product(c, "nctaid.x", "nctaid.y", "nctaid.z");
    lv ids = mk_or(u, ls__ptx_register(c, "ctaid.x"), ls__ptx_register(c, "ctaid.y"));
    ids = mk_or(u, ids, ls__ptx_register(c, "ctaid.z"));
    lv others = mk_sub(u, count, mk_i32(u, 1));
    lv step = mk_select(u, mk_icmp(u, LLVMIntEQ, ids, mk_i32(u, 0)),
                        mk_sub(u, mk_i32(u, TOP), others), mk_i32(u, 1));
    return u->l->BuildAtomicRMW(u->b, LLVMAtomicRMWBinOpAdd, c->barrier, step,
                                LLVMAtomicOrderingMonotonic, 0);
}

/* Lane 0 of the workgroup: i1, whether it was cancelled while it waited. */
static lv wait_for_grid(code *c)
{
    unit *u = &c->u;
    lb spin = mk_block(u), look = mk_block(u), after = mk_block(u);
    ls__llvm_intrinsic(u, "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
    lv old = arrive(c);
    mk_br(u, spin);
    mk_begin(u, spin);
    lv changed = mk_xor(u, ls__ptx_volatile_load(c, u->e->i32, c->barrier), old);
    mk_cond_br(u, mk_icmp(u, LLVMIntSLT, changed, mk_i32(u, 0)), after, look);
    mk_begin(u, look);
    mk_cond_br(u, ls__ptx_cancelled(c), after, spin);
    mk_begin(u, after);
    lv cancelled = u->l->BuildPhi(u->b, u->e->i1, "");
    lv values[2] = {u->l->ConstInt(u->e->i1, 0, 0), u->l->ConstInt(u->e->i1, 1, 0)};
    lb blocks[2] = {spin, look};
    u->l->AddIncoming(cancelled, values, blocks, 2);
    ls__llvm_intrinsic(u, "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
    return cancelled;
}

/* Workgroups that are cancelled leave, which those that go on to the next barrier see as well, for
 * the host takes nothing back before all have ended. */
void ls__ptx_grid_barrier(code *c)
{
    unit *u = &c->u;
    lb first = mk_block(u), all = mk_block(u), stop = mk_block(u), on = mk_block(u);
    ls__ptx_barrier(c);
    lb before = u->l->GetInsertBlock(u->b);
    mk_cond_br(u, is_first_lane(c), first, all);
    mk_begin(u, first);
    lv cancelled = wait_for_grid(c);
    lb waited = u->l->GetInsertBlock(u->b);
    mk_br(u, all);
    mk_begin(u, all);
    lv is_cancelled = u->l->BuildPhi(u->b, u->e->i1, "");
    lv values[2] = {u->l->ConstInt(u->e->i1, 0, 0), cancelled};
    lb blocks[2] = {before, waited};
    u->l->AddIncoming(is_cancelled, values, blocks, 2);
    mk_cond_br(u, ls__ptx_workgroup_any(c, is_cancelled), stop, on);
    mk_begin(u, stop);
    ls__ptx_leave_stopped(c);
    mk_begin(u, on);
}

/* --- shuffles --------------------------------------------------------------------------------- */

static lv shuffle_word(code *c, const char *name, lv word, lv lane)
{
    unit *u = &c->u;
    lv args[4] = {mk_i32(u, UINT32_MAX), word, lane, mk_i32(u, WARP - 1)};
    return ls__llvm_intrinsic(u, name, NULL, 0, args, 4);
}

/* Of any type: in words of 32 bits. */
static lv shuffle(code *c, const char *name, lv value, lv lane)
{
    unit *u = &c->u;
    const emitter *e = u->e;
    lt type = u->l->TypeOf(value);
    if (type == e->i32)
        return shuffle_word(c, name, value, lane);
    if (type == e->i1)
        return mk_icmp(u, LLVMIntNE, shuffle_word(c, name, mk_zext(u, value, e->i32), lane),
                       mk_i32(u, 0));
    if (type == e->f32)
        return mk_bitcast(u, shuffle_word(c, name, mk_bitcast(u, value, e->i32), lane), type);
    lv bits = type == e->f64 ? mk_bitcast(u, value, e->i64) : value, half = mk_i64(u, 32);
    lv low = shuffle_word(c, name, mk_trunc(u, bits, e->i32), lane);
    lv high = shuffle_word(c, name, mk_trunc(u, mk_lshr(u, bits, half), e->i32), lane);
    bits = mk_or(u, mk_zext(u, low, e->i64), mk_shl(u, mk_zext(u, high, e->i64), half));
    return type == e->f64 ? mk_bitcast(u, bits, type) : bits;
}

static lv from_lane(code *c, lv value, lv lane)
{
    lv modulo = mk_and(&c->u, lane, mk_i32(&c->u, WARP - 1));
    return shuffle(c, "llvm.nvvm.shfl.sync.idx.i32", value, modulo);
}

static lv reduce(code *c, const ls__ir_inst *inst, lv value)
{
    static const ls_op ops[LS_REDUCE_COUNT] = {
        [LS_REDUCE_ADD] = LS_OP_ADD,   [LS_REDUCE_SMIN] = LS_OP_SMIN, [LS_REDUCE_SMAX] = LS_OP_SMAX,
        [LS_REDUCE_UMIN] = LS_OP_UMIN, [LS_REDUCE_UMAX] = LS_OP_UMAX, [LS_REDUCE_AND] = LS_OP_AND,
        [LS_REDUCE_OR] = LS_OP_OR,     [LS_REDUCE_XOR] = LS_OP_XOR};
    unit *u = &c->u;
    bool of_floats = inst->type == LS_TYPE_F32 || inst->type == LS_TYPE_F64;
    for (uint32_t step = WARP / 2; step > 0; step /= 2) {
        lv other = shuffle(c, "llvm.nvvm.shfl.sync.bfly.i32", value, mk_i32(u, step));
        if (of_floats && inst->imm != LS_REDUCE_ADD)
            value = ls__ptx_min_max(c, inst->imm == LS_REDUCE_FMAX, value, other);
        else
            value = ls__llvm_combine(u, of_floats ? LS_OP_FADD : ops[inst->imm], value, other);
    }
    return value;
}

static lv ballot(code *c, lv condition)
{
    lv args[2] = {mk_i32(&c->u, UINT32_MAX), condition};
    return ls__llvm_intrinsic(&c->u, "llvm.nvvm.vote.ballot.sync", NULL, 0, args, 2);
}

/* Through shared memory, which all must have read before it is used again. */
static lv of_first_lane(code *c, lv value)
{
    unit *u = &c->u;
    if (u->lane_count == 1)
        return value;
    lt type = u->l->TypeOf(value), kept = type == u->e->i1 ? u->e->i32 : type;
    lb first = mk_block(u), all = mk_block(u);
    lv place = ls__ptx_shared_at(c, c->exchange_at);
    mk_cond_br(u, is_first_lane(c), first, all);
    mk_begin(u, first);
    mk_store(u, kept == type ? value : mk_zext(u, value, kept), place, 4);
    mk_br(u, all);
    mk_begin(u, all);
    ls__ptx_barrier(c);
    lv result = mk_load(u, kept, place, 4);
    ls__ptx_barrier(c);
    return kept == type ? result : mk_icmp(u, LLVMIntNE, result, mk_i32(u, 0));
}

void ls__ptx_between_lanes(code *c, const ls__ir_inst *inst)
{
    lv value = ls__ptx_value(c, inst->args[0]), result;
    switch ((ls_op)inst->op) {
    case LS_OP_SG_SHUFFLE:
        result = from_lane(c, value, ls__ptx_value(c, inst->args[1]));
        break;
    case LS_OP_SG_BROADCAST: {
        lv lane = ls__ptx_value(c, inst->args[1]);
        if (ls__ir_def(c->u.function, inst->args[1])->op != LS_OP_CONST)
            lane = from_lane(c, lane, mk_i32(&c->u, 0));
        result = from_lane(c, value, lane);
        break;
    }
    case LS_OP_SG_REDUCE:
        result = reduce(c, inst, value);
        break;
    case LS_OP_SG_BALLOT:
        result = ballot(c, value);
        break;
    default: /* WG_UNIFORM */
        result = of_first_lane(c, value);
        break;
    }
    c->values[inst->id.id] = result;
}
