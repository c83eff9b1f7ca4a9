/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics. One thread runs a workgroup, so those on shared objects are plain accesses, lane by
 * lane. On buffers each is one locked instruction, and those cost: where nothing looks at the old
 * value, lanes that address one place are combined into one atomic, and a minimum or maximum, which
 * takes a load and an exchange anyhow, is left out when memory holds the result already. Both are
 * the atomics of some order of the lanes (docs/numerics.md). (For and, or, which are one
 * instruction, looking first is slower: the branch is hard to predict and waits for memory.)
 *
 * Lane by lane means a loop over the lanes that are active and in range, or, when all are, no loop.
 */
#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"

typedef struct site { /* an atomic of a kernel */
    const ls__ir_inst *inst;
    lv base, limit; /* offsets below the limit are in range */
    bool shared;
    bool used;  /* something looks at the old value */
    bool known; /* in range */
    lv partial; /* the size of the range where a part of the word may lie beyond it, else NULL */
} site;

static const ls_op plain_ops[LS_ATOMIC_COUNT] = {
    [LS_ATOMIC_ADD] = LS_OP_ADD,   [LS_ATOMIC_SMIN] = LS_OP_SMIN, [LS_ATOMIC_SMAX] = LS_OP_SMAX,
    [LS_ATOMIC_UMIN] = LS_OP_UMIN, [LS_ATOMIC_UMAX] = LS_OP_UMAX, [LS_ATOMIC_AND] = LS_OP_AND,
    [LS_ATOMIC_OR] = LS_OP_OR,     [LS_ATOMIC_XOR] = LS_OP_XOR};

static site site_of(unit *u, const ls__ir_inst *inst)
{
    site s = {.inst = inst,
              .shared = inst->base.kind == LS_BASE_SHARED,
              .used = u->is_used[inst->id.id],
              .known = (inst->flags & LS__IR_INBOUNDS) != 0};
    s.base = s.shared ? mk_at(u, u->scratch, mk_i64(u, u->shared_offsets[inst->base.index]))
                      : u->buffers[inst->base.index];
    lv size = ls__llvm_range_of(u, inst->base);
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    if (inst->flags & LS__IR_PARTIAL) {
        s.partial = size;
        bytes = 1;
    }
    s.limit = mk_intrinsic(u, "llvm.usub.sat", size, mk_i64(u, bytes - 1), NULL);
    return s;
}

/* --- one ------------------------------------------------------------------------------------- */

static LLVMAtomicRMWBinOp atomic_op(ls_atomic kind)
{
    static const LLVMAtomicRMWBinOp ops[LS_ATOMIC_COUNT] = {
        [LS_ATOMIC_ADD] = LLVMAtomicRMWBinOpAdd,   [LS_ATOMIC_SMIN] = LLVMAtomicRMWBinOpMin,
        [LS_ATOMIC_SMAX] = LLVMAtomicRMWBinOpMax,  [LS_ATOMIC_UMIN] = LLVMAtomicRMWBinOpUMin,
        [LS_ATOMIC_UMAX] = LLVMAtomicRMWBinOpUMax, [LS_ATOMIC_AND] = LLVMAtomicRMWBinOpAnd,
        [LS_ATOMIC_OR] = LLVMAtomicRMWBinOpOr,     [LS_ATOMIC_XOR] = LLVMAtomicRMWBinOpXor,
        [LS_ATOMIC_XCHG] = LLVMAtomicRMWBinOpXchg};
    return ops[kind];
}

static lv plain_atomic(unit *u, const ls__ir_inst *inst, lv pointer, lv a, lv b)
{
    lv old = mk_load(u, u->l->TypeOf(a), pointer, 1), new_value = a;
    if (inst->op == LS_OP_ATOMIC_CAS)
        new_value = mk_select(u, mk_icmp(u, LLVMIntEQ, old, a), b, old);
    else if (inst->imm != LS_ATOMIC_XCHG)
        new_value = ls__llvm_combine(u, plain_ops[inst->imm], old, a);
    mk_store(u, new_value, pointer, 1);
    return old;
}

static bool settles(const ls__ir_inst *inst)
{
    return inst->op == LS_OP_ATOMIC &&
           (inst->imm == LS_ATOMIC_SMIN || inst->imm == LS_ATOMIC_SMAX ||
            inst->imm == LS_ATOMIC_UMIN || inst->imm == LS_ATOMIC_UMAX);
}

/* An atomic whose old value nobody wants and that may change nothing. */
static void settling_atomic(unit *u, const ls__ir_inst *inst, lv pointer, lv a)
{
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    lb change = mk_block(u), after = mk_block(u);
    lv old = u->l->BuildLoad2(u->b, u->l->TypeOf(a), pointer, "");
    u->l->SetOrdering(old, relaxed);
    lv wanted = ls__llvm_combine(u, plain_ops[inst->imm], old, a);
    mk_cond_br(u, mk_icmp(u, LLVMIntNE, wanted, old), change, after);
    mk_begin(u, change);
    u->l->BuildAtomicRMW(u->b, atomic_op((ls_atomic)inst->imm), pointer, a, relaxed, 0);
    mk_br(u, after);
    mk_begin(u, after);
}

/* Byte by byte, so that it neither reaches beyond the range nor asks for a multiple of 4. */
static void partial_atomic(unit *u, const site *s, lv offset, lv a)
{
    for (uint32_t i = 0; i < 4; i++) {
        lv at = mk_add(u, offset, mk_i64(u, i));
        lb inside = mk_block(u), after = mk_block(u);
        mk_cond_br(u, mk_icmp(u, LLVMIntULT, at, s->partial), inside, after);
        mk_begin(u, inside);
        lv byte = mk_trunc(u, mk_lshr(u, a, mk_i32(u, 8 * i)), u->e->i8);
        u->l->BuildAtomicRMW(u->b, atomic_op((ls_atomic)s->inst->imm), mk_at(u, s->base, at), byte,
                             LLVMAtomicOrderingMonotonic, 0);
        mk_br(u, after);
        mk_begin(u, after);
    }
}

/* The old value; of no meaning when it is not used. */
static lv one_atomic(unit *u, const site *s, lv offset, lv a, lv b)
{
    const ls__ir_inst *inst = s->inst;
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    lv pointer = mk_at(u, s->base, offset);
    if (s->shared)
        return plain_atomic(u, inst, pointer, a, b);
    if (s->partial) {
        partial_atomic(u, s, offset, a);
        return mk_k(u, a, 0);
    }
    if (!s->used && settles(inst)) {
        settling_atomic(u, inst, pointer, a);
        return mk_k(u, a, 0);
    }
    if (inst->op == LS_OP_ATOMIC)
        return u->l->BuildAtomicRMW(u->b, atomic_op((ls_atomic)inst->imm), pointer, a, relaxed, 0);
    lv pair = u->l->BuildAtomicCmpXchg(u->b, pointer, a, b, relaxed, relaxed, 0);
    return u->l->BuildExtractValue(u->b, pair, 0, "");
}

/* The old value, or 0 when out of range. */
static lv guarded_atomic(unit *u, const site *s, lv offset, lv a, lv b)
{
    if (s->known)
        return one_atomic(u, s, offset, a, b);
    lb before = u->l->GetInsertBlock(u->b), inside = mk_block(u), after = mk_block(u);
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, offset, s->limit), inside, after);
    mk_begin(u, inside);
    lv old = one_atomic(u, s, offset, a, b);
    lb inside_end = u->l->GetInsertBlock(u->b);
    mk_br(u, after);
    mk_begin(u, after);
    lv phi = u->l->BuildPhi(u->b, u->l->TypeOf(a), "");
    lv values[2] = {mk_k(u, a, 0), old};
    lb blocks[2] = {before, inside_end};
    u->l->AddIncoming(phi, values, blocks, 2);
    return phi;
}

/* --- lane by lane ---------------------------------------------------------------------------- */

typedef struct operands {
    lv offsets; /* a vector; of shared objects with 32 bits a lane */
    lv a, b;    /* where they lie, by lane; b: NULL without */
    lv all_a;   /* `a` as a scalar, when it is one */
    lt value;   /* the type of a and b */
} operands;

enum { PLACE_A, PLACE_OFFSET, PLACE_B, PLACE_OLD };

static operands spill_operands(unit *u, const site *s, lv offsets)
{
    const ls__ir_inst *inst = s->inst;
    val a = ls__llvm_value(u, inst->args[1]);
    operands o = {.all_a = ls__llvm_same(a)};
    o.offsets = s->shared ? mk_trunc(u, offsets, u->e->i32) : offsets; /* in range if used */
    o.value = ls__llvm_type(u, (ls_type)inst->type, false);
    if (!o.all_a)
        o.a = ls__llvm_spill(u, PLACE_A, a.vector);
    if (inst->arg_count > 2)
        o.b = ls__llvm_spill(u, PLACE_B, ls__llvm_vector(u, inst->args[2]));
    return o;
}

static lv lane_atomic(unit *u, const site *s, const operands *o, lv offset, lv lane)
{
    lv a = o->all_a ? o->all_a : mk_load_element(u, o->a, o->value, lane);
    lv b = o->b ? mk_load_element(u, o->b, o->value, lane) : NULL;
    return one_atomic(u, s, offset, a, b);
}

/* For each lane whose bit is set in `bits`, from the lowest. */
static void loop_over(unit *u, const site *s, const operands *o, lv bits)
{
    lv offsets = ls__llvm_spill(u, PLACE_OFFSET, o->offsets);
    lane_walk walk = ls__llvm_begin_walk(u, bits, true);
    lv offset = mk_load_element(u, offsets, mk_element(u, o->offsets), walk.lane);
    if (mk_int_bits(u, offset) < 64)
        offset = mk_zext(u, offset, u->e->i64);
    lv old = lane_atomic(u, s, o, offset, walk.lane);
    if (s->used)
        u->l->BuildStore(u->b, old,
                         mk_element_of(u, ls__llvm_spill_place(u, PLACE_OLD), o->value, walk.lane));
    ls__llvm_end_walk(u, &walk);
}

/* For all lanes, whose offsets have 32 bits. They leave the vector in pairs: half the instructions,
 * and no way through memory. */
static void all_lanes(unit *u, const site *s, const operands *o)
{
    lv pairs = u->l->BuildBitCast(u->b, o->offsets, u->l->VectorType(u->e->i64, u->width / 2), "");
    for (uint32_t i = 0; i < u->width; i++) {
        lv pair = mk_extract(u, pairs, mk_i32(u, i / 2));
        lv offset =
            i % 2 == 0 ? mk_and(u, pair, mk_i64(u, UINT32_MAX)) : mk_lshr(u, pair, mk_i64(u, 32));
        lane_atomic(u, s, o, offset, mk_i32(u, i));
    }
}

static lv atomic_lanes(unit *u, const site *s)
{
    lv offsets = ls__llvm_vector(u, s->inst->args[0]), lanes = u->mask;
    if (!s->known) {
        lv inside = mk_icmp(u, LLVMIntULT, offsets, ls__llvm_splat(u, s->limit));
        lanes = lanes ? mk_and(u, lanes, inside) : inside;
    }
    operands o = spill_operands(u, s, offsets);
    lt type = mk_by_lane(u, o.value);
    lv bits = ls__llvm_mask_bits(u, lanes ? lanes : ls__llvm_full_mask(u));
    if (s->used)
        ls__llvm_spill(u, PLACE_OLD, u->l->ConstNull(type));
    if (!s->shared || s->used || u->e->target.quick) {
        loop_over(u, s, &o, bits);
        return s->used ? mk_load(u, type, ls__llvm_spill_place(u, PLACE_OLD), 64)
                       : u->l->ConstNull(type);
    }
    lb all = mk_block(u), some = mk_block(u), after = mk_block(u);
    lv full = mk_k(u, bits, UINT32_MAX >> (32 - u->width));
    mk_cond_br(u, mk_icmp(u, LLVMIntEQ, bits, full), all, some);
    mk_begin(u, all);
    all_lanes(u, s, &o);
    mk_br(u, after);
    mk_begin(u, some);
    loop_over(u, s, &o, bits);
    mk_br(u, after);
    mk_begin(u, after);
    return u->l->ConstNull(type);
}

/* --- all lanes in one place ------------------------------------------------------------------ */

/* What leaves any value as it is. */
static uint64_t neutral(const ls__ir_inst *inst)
{
    bool wide = inst->type == LS_TYPE_I64;
    switch ((ls_atomic)inst->imm) {
    case LS_ATOMIC_AND:
    case LS_ATOMIC_UMIN:
        return UINT64_MAX;
    case LS_ATOMIC_SMIN:
        return wide ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX;
    case LS_ATOMIC_SMAX:
        return wide ? (uint64_t)INT64_MIN : (uint64_t)(uint32_t)INT32_MIN;
    default:
        return 0;
    }
}

/* The operands of the active lanes as one. */
static lv combined(unit *u, const ls__ir_inst *inst)
{
    val a = ls__llvm_value(u, inst->args[1]);
    ls_op op = plain_ops[inst->imm];
    if (a.scalar && op != LS_OP_ADD && op != LS_OP_XOR)
        return a.scalar;
    if (a.scalar) {
        lv count = u->mask
                       ? mk_intrinsic(u, "llvm.ctpop", ls__llvm_mask_bits(u, u->mask), NULL, NULL)
                       : mk_i32(u, u->width);
        if (op == LS_OP_XOR)
            count = mk_and(u, count, mk_i32(u, 1));
        return mk_mul(u, a.scalar,
                      inst->type == LS_TYPE_I64 ? mk_zext(u, count, u->e->i64) : count);
    }
    lv vector = a.vector;
    if (u->mask)
        vector = mk_select(u, u->mask, vector, mk_k(u, vector, neutral(inst)));
    return ls__llvm_fold(u, op, vector);
}

/* --- the instruction ------------------------------------------------------------------------- */

void ls__llvm_emit_atomic(unit *u, const ls__ir_inst *inst)
{
    site s = site_of(u, inst);
    val offset = ls__llvm_value(u, inst->args[0]);
    if (u->width == 1) {
        lv b = inst->arg_count > 2 ? ls__llvm_scalar(u, inst->args[2]) : NULL;
        ls__llvm_watch(u, inst, s.base, s.limit, offset, false);
        lv old = guarded_atomic(u, &s, offset.scalar, ls__llvm_scalar(u, inst->args[1]), b);
        ls__llvm_define(u, inst, (val){.scalar = old});
        return;
    }
    lv one = ls__llvm_same(offset);
    if (one && !s.used && inst->op == LS_OP_ATOMIC && inst->imm != LS_ATOMIC_XCHG) {
        ls__llvm_watch(u, inst, s.base, s.limit, (val){.scalar = one}, false);
        guarded_atomic(u, &s, one, combined(u, inst), NULL);
        lt type = ls__llvm_type(u, (ls_type)inst->type, true);
        ls__llvm_define(u, inst, (val){.vector = u->l->ConstNull(type)});
        return;
    }
    ls__llvm_watch(u, inst, s.base, s.limit, offset, false);
    ls__llvm_define(u, inst, (val){.vector = atomic_lanes(u, &s)});
}
