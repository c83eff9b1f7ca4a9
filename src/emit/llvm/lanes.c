/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done lane by lane: gathers, scatters, 64-bit division, traps. Vectors go through
 * memory and a loop runs over the lanes, in helper functions of the module so that a kernel with
 * many such accesses stays small; where the level has gather instructions, those are used.
 *
 * Helpers of loads and stores keep the scalar registers: they stand on slow paths, which must not
 * cost the code beside them. (A convention that keeps vectors as well is no use: LLVM 19 puts a
 * vzeroupper before the call and loses the upper halves.)
 */
#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"

static unsigned log2_of(uint32_t n)
{
    return (unsigned)__builtin_ctz(n);
}

/* --- loops over lanes ------------------------------------------------------------------------- */

typedef struct lane_loop {
    lb head, exit;
    lv lane; /* i32 */
    lb before;
} lane_loop;

static lane_loop begin_lanes(unit *u)
{
    lane_loop loop = {
        .head = mk_block(u), .exit = mk_block(u), .before = u->l->GetInsertBlock(u->b)};
    mk_br(u, loop.head);
    mk_begin(u, loop.head);
    loop.lane = u->l->BuildPhi(u->b, u->e->i32, "");
    return loop;
}

static void end_lanes(unit *u, const lane_loop *loop)
{
    lv next = mk_add(u, loop->lane, mk_i32(u, 1));
    lv values[2] = {mk_i32(u, 0), next};
    lb blocks[2] = {loop->before, u->l->GetInsertBlock(u->b)};
    u->l->AddIncoming(loop->lane, values, blocks, 2);
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, next, mk_i32(u, u->width)), loop->head, loop->exit);
    mk_begin(u, loop->exit);
}

lane_walk ls__llvm_begin_walk(unit *u, lv bits, bool may_be_empty)
{
    lane_walk walk = {.before = u->l->GetInsertBlock(u->b), .bits = bits};
    walk.head = mk_block(u);
    walk.after = mk_block(u);
    if (may_be_empty)
        mk_cond_br(u, mk_icmp(u, LLVMIntNE, bits, mk_k(u, bits, 0)), walk.head, walk.after);
    else
        mk_br(u, walk.head);
    mk_begin(u, walk.head);
    walk.left = u->l->BuildPhi(u->b, u->e->i32, "");
    walk.lane = mk_intrinsic(u, "llvm.cttz", walk.left, u->l->ConstInt(u->e->i1, 1, 0), NULL);
    return walk;
}

void ls__llvm_end_walk(unit *u, const lane_walk *walk)
{
    lv rest = mk_and(u, walk->left, mk_sub(u, walk->left, mk_i32(u, 1)));
    lv values[2] = {walk->bits, rest};
    lb blocks[2] = {walk->before, u->l->GetInsertBlock(u->b)};
    u->l->AddIncoming(walk->left, values, blocks, 2);
    mk_cond_br(u, mk_icmp(u, LLVMIntNE, rest, mk_i32(u, 0)), walk->head, walk->after);
    mk_begin(u, walk->after);
}

/* A vector in memory, in one of the places that all such vectors of a function share. */
lv ls__llvm_spill_place(unit *u, unsigned which)
{
    if (!u->spills[which]) {
        u->spills[which] = ls__llvm_alloca(u, u->l->ArrayType2(u->e->i64, u->width));
        u->l->SetAlignment(u->spills[which], 64);
    }
    return u->spills[which];
}

lv ls__llvm_spill(unit *u, unsigned which, lv vector)
{
    lv place = ls__llvm_spill_place(u, which);
    mk_store(u, vector, place, 64);
    return place;
}

static lv fetch(unit *u, unsigned which, lt type)
{
    return mk_load(u, type, ls__llvm_spill_place(u, which), 64);
}

/* --- helper functions ------------------------------------------------------------------------- */

typedef struct helper_unit {
    unit u;
    lb after;
} helper_unit;

/* Begins helper `which`: a function of `count` pointers and integers as `types` say. */
static void begin_helper(unit *caller, helper_unit *h, unsigned which, lt *types, unsigned count)
{
    emitter *e = caller->e;
    h->u = (unit){.e = e, .l = e->l, .b = e->b, .width = caller->width};
    h->after = e->l->GetInsertBlock(e->b);
    lt type = e->l->FunctionType(e->void_type, types, count, 0);
    h->u.code = e->l->AddFunction(e->out, "", type);
    e->l->SetLinkage(h->u.code, LLVMPrivateLinkage);
    ls__llvm_add_attribute(e, h->u.code, "noinline");
    e->helpers[log2_of(caller->width)].function[which] = h->u.code;
    mk_begin(&h->u, mk_block(&h->u));
}

static void end_helper(helper_unit *h)
{
    h->u.l->BuildRetVoid(h->u.b);
    mk_begin(&h->u, h->after);
}

static lv helper_of(unit *u, unsigned which)
{
    return u->e->helpers[log2_of(u->width)].function[which];
}

static lv call_helper(unit *u, unsigned which, lv *args, unsigned count)
{
    lv function = helper_of(u, which);
    return u->l->BuildCall2(u->b, u->l->GlobalGetValueType(function), function, args, count, "");
}

static lt int_of_bytes(unit *u, uint32_t bytes)
{
    return u->l->IntTypeInContext(u->e->context, 8 * bytes);
}

/* --- loads and stores ------------------------------------------------------------------------- */

static bool keeps_registers(const unit *u)
{
    return u->e->target.level != LS__LLVM_NEON; /* not tried there */
}

/* (base, limit, offsets or the first offset, mask, values): loads into, or stores from, `values`
 * what the lanes of the mask have in range, and loads 0 for the others. */
static void make_access(unit *caller, unsigned kind, uint32_t bytes)
{
    helper_unit h;
    emitter *e = caller->e;
    bool is_row = kind == HELPER_LOAD_ROW || kind == HELPER_STORE_ROW;
    bool is_load = kind == HELPER_GATHER || kind == HELPER_LOAD_ROW;
    lt types[5] = {e->ptr, e->i64, is_row ? e->i64 : e->ptr, e->i32, e->ptr};
    lt type = int_of_bytes(caller, bytes);
    begin_helper(caller, &h, kind + log2_of(bytes), types, 5);
    unit *u = &h.u;
    if (keeps_registers(u))
        u->l->SetFunctionCallConv(u->code, LLVMPreserveMostCallConv);
    if (is_row) /* always rare: not worth to be unrolled */
        ls__llvm_add_attribute(e, u->code, "optsize");
    lv base = u->l->GetParam(u->code, 0), limit = u->l->GetParam(u->code, 1);
    lv offsets = u->l->GetParam(u->code, 2), mask = u->l->GetParam(u->code, 3);
    lv values = u->l->GetParam(u->code, 4);
    lane_loop loop = begin_lanes(u);
    lv wide = mk_zext(u, loop.lane, e->i64);
    lv offset = is_row ? mk_add(u, offsets, mk_mul(u, wide, mk_i64(u, bytes)))
                       : mk_load_element(u, offsets, e->i64, loop.lane);
    lv active = mk_trunc(u, mk_lshr(u, mask, loop.lane), e->i1);
    lv inside = mk_and(u, active, mk_icmp(u, LLVMIntULT, offset, limit));
    lv pointer = mk_at(u, base, offset);
    if (is_load) {
        lv value = mk_load(u, type, mk_select(u, inside, pointer, e->zeros), 1);
        u->l->BuildStore(u->b, value, mk_element_of(u, values, type, loop.lane));
    } else {
        lb store = mk_block(u), after = mk_block(u);
        mk_cond_br(u, inside, store, after);
        mk_begin(u, store);
        mk_store(u, mk_load_element(u, values, type, loop.lane), pointer, 1);
        mk_br(u, after);
        mk_begin(u, after);
    }
    end_lanes(u, &loop);
    end_helper(&h);
}

static void call_access(unit *u, unsigned kind, const access *a, lv offsets, lv values)
{
    unsigned which = kind + log2_of(a->bytes);
    lv mask = mk_i32(u, UINT32_MAX);
    if (!helper_of(u, which))
        make_access(u, kind, a->bytes);
    if (u->mask)
        mask = ls__llvm_mask_bits(u, u->mask);
    lv args[5] = {a->base, a->limit, offsets, mask, values};
    lv call = call_helper(u, which, args, 5);
    if (keeps_registers(u))
        u->l->SetInstructionCallConv(call, LLVMPreserveMostCallConv);
    if (a->is_rare)
        u->l->AddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                   ls__llvm_attribute(u->e, "cold", 0));
}

lv ls__llvm_load_row(unit *u, const access *a, lv first)
{
    call_access(u, HELPER_LOAD_ROW, a, first, ls__llvm_spill_place(u, 1));
    return fetch(u, 1, mk_by_lane(u, int_of_bytes(u, a->bytes)));
}

void ls__llvm_store_row(unit *u, const access *a, lv first, lv values)
{
    call_access(u, HELPER_STORE_ROW, a, first, ls__llvm_spill(u, 1, values));
}

/* --- gather, scatter -------------------------------------------------------------------------- */

static lv inside_of(unit *u, const access *a, lv offsets)
{
    lv inside = mk_icmp(u, LLVMIntULT, offsets, ls__llvm_splat(u, a->limit));
    return u->mask ? mk_and(u, u->mask, inside) : inside;
}

/* A load for each lane, without branches: lanes that have nothing to load read zeros. */
static lv gather_in_line(unit *u, const access *a, lv offsets, lt type)
{
    lv pointers = mk_at(u, a->base, offsets), nothing = ls__llvm_splat(u, u->e->zeros);
    lt element = u->l->GetElementType(type);
    lv result = u->l->ConstNull(type);
    pointers = mk_select(u, inside_of(u, a, offsets), pointers, nothing);
    for (uint32_t i = 0; i < u->width; i++) {
        lv one = mk_load(u, element, mk_extract(u, pointers, mk_i32(u, i)), 1);
        result = u->l->BuildInsertElement(u->b, result, one, mk_i32(u, i), "");
    }
    return result;
}

static lv gather_instruction(unit *u, const access *a, lv offsets, lt type)
{
    lv pointers = mk_at(u, a->base, offsets);
    lt overloads[2] = {type, u->l->TypeOf(pointers)};
    lv args[4] = {pointers, mk_i32(u, 1), inside_of(u, a, offsets), u->l->ConstNull(type)};
    return ls__llvm_intrinsic(u, "llvm.masked.gather", overloads, 2, args, 4);
}

static void scatter_instruction(unit *u, const access *a, lv offsets, lv values)
{
    lv pointers = mk_at(u, a->base, offsets);
    lt overloads[2] = {u->l->TypeOf(values), u->l->TypeOf(pointers)};
    lv args[4] = {values, pointers, mk_i32(u, 1), inside_of(u, a, offsets)};
    ls__llvm_intrinsic(u, "llvm.masked.scatter", overloads, 2, args, 4);
}

lv ls__llvm_gather(unit *u, const access *a, lv offsets)
{
    const ls__llvm_target *target = &u->e->target;
    lt type = mk_by_lane(u, int_of_bytes(u, a->bytes));
    if (a->is_rare || target->quick || u->width < 4) {
        call_access(u, HELPER_GATHER, a, ls__llvm_spill(u, 0, offsets), ls__llvm_spill_place(u, 1));
        return fetch(u, 1, type);
    }
    /* AVX2's gathers are slow on some machines, and where LLVM knows that, it makes branches. */
    if (target->level == LS__LLVM_AVX512 && a->bytes >= 4)
        return gather_instruction(u, a, offsets, type);
    return gather_in_line(u, a, offsets, type);
}

void ls__llvm_scatter(unit *u, const access *a, lv offsets, lv values)
{
    const ls__llvm_target *target = &u->e->target;
    if (target->level == LS__LLVM_AVX512 && a->bytes >= 4 && !a->is_rare && !target->quick &&
        u->width >= 4)
        scatter_instruction(u, a, offsets, values);
    else
        call_access(u, HELPER_SCATTER, a, ls__llvm_spill(u, 0, offsets),
                    ls__llvm_spill(u, 1, values));
}

/* --- 64-bit division -------------------------------------------------------------------------- */

lv ls__llvm_divide_plain(unit *u, ls_op op, lv a, lv b)
{
    switch (op) {
    case LS_OP_SDIV:
        return u->l->BuildSDiv(u->b, a, b, "");
    case LS_OP_UDIV:
        return u->l->BuildUDiv(u->b, a, b, "");
    case LS_OP_SREM:
        return u->l->BuildSRem(u->b, a, b, "");
    default:
        return u->l->BuildURem(u->b, a, b, "");
    }
}

static void make_divide(unit *caller, ls_op op, unsigned which)
{
    helper_unit h;
    lt types[3] = {caller->e->ptr, caller->e->ptr, caller->e->ptr}, word = caller->e->i64;
    begin_helper(caller, &h, which, types, 3);
    unit *u = &h.u;
    lane_loop loop = begin_lanes(u);
    lv a = mk_load_element(u, u->l->GetParam(u->code, 0), word, loop.lane);
    lv b = mk_load_element(u, u->l->GetParam(u->code, 1), word, loop.lane);
    lv out = mk_element_of(u, u->l->GetParam(u->code, 2), word, loop.lane);
    u->l->BuildStore(u->b, ls__llvm_divide_plain(u, op, a, b), out);
    end_lanes(u, &loop);
    end_helper(&h);
}

/* By divisors that are neither 0 nor, signed, -1. */
lv ls__llvm_divide64(unit *u, ls_op op, lv a, lv b)
{
    unsigned which = HELPER_DIVIDE + (unsigned)(op - LS_OP_SDIV);
    if (!helper_of(u, which))
        make_divide(u, op, which);
    lv args[3] = {ls__llvm_spill(u, 0, a), ls__llvm_spill(u, 1, b), ls__llvm_spill_place(u, 2)};
    call_helper(u, which, args, 3);
    return fetch(u, 2, u->l->TypeOf(a));
}

_Static_assert(LS_OP_UDIV == LS_OP_SDIV + 1 && LS_OP_SREM == LS_OP_SDIV + 2 &&
                   LS_OP_UREM == LS_OP_SDIV + 3,
               "helpers are numbered by operation");

/* --- traps ------------------------------------------------------------------------------------ */

/* (record, workgroup, lane, code): keeps the first trap of the lowest (workgroup, lane). */
static void make_trap(unit *caller)
{
    helper_unit h;
    emitter *e = caller->e;
    lt types[4] = {e->ptr, e->i64, e->i32, e->i32};
    begin_helper(caller, &h, HELPER_TRAP, types, 4);
    unit *u = &h.u;
    lv record = u->l->GetParam(u->code, 0), workgroup = u->l->GetParam(u->code, 1);
    lv lane = u->l->GetParam(u->code, 2), code = u->l->GetParam(u->code, 3);
    lv old_workgroup = mk_field(u, e->i64, record, offsetof(ls__cpu_trap, workgroup));
    lv old_lane = mk_field(u, e->i32, record, offsetof(ls__cpu_trap, lane));
    lv trapped = mk_field(u, e->i32, record, offsetof(ls__cpu_trap, trapped));
    lv first = mk_icmp(u, LLVMIntEQ, trapped, mk_i32(u, 0));
    lv same = mk_and(u, mk_icmp(u, LLVMIntEQ, workgroup, old_workgroup),
                     mk_icmp(u, LLVMIntULT, lane, old_lane));
    lv lower = mk_or(u, same, mk_icmp(u, LLVMIntULT, workgroup, old_workgroup));
    lb write = mk_block(u), after = mk_block(u);
    mk_cond_br(u, mk_or(u, first, lower), write, after);
    mk_begin(u, write);
    u->l->BuildStore(u->b, workgroup, record);
    u->l->BuildStore(u->b, lane, mk_at(u, record, mk_i64(u, offsetof(ls__cpu_trap, lane))));
    u->l->BuildStore(u->b, code, mk_at(u, record, mk_i64(u, offsetof(ls__cpu_trap, code))));
    u->l->BuildStore(u->b, mk_i32(u, 1),
                     mk_at(u, record, mk_i64(u, offsetof(ls__cpu_trap, trapped))));
    mk_br(u, after);
    mk_begin(u, after);
    end_helper(&h);
}

/* Of the active lanes the lowest counts: the others come after it. */
void ls__llvm_emit_trap(unit *u, const ls__ir_inst *inst)
{
    if (!helper_of(u, HELPER_TRAP))
        make_trap(u);
    val code = ls__llvm_value(u, inst->args[0]);
    lv lane = mk_i32(u, 0);
    if (u->mask)
        lane = mk_intrinsic(u, "llvm.cttz", ls__llvm_mask_bits(u, u->mask),
                            u->l->ConstInt(u->e->i1, 0, 0), NULL);
    lane = mk_and(u, lane, mk_i32(u, u->width - 1));
    lv one = code.scalar ? code.scalar : mk_extract(u, code.vector, lane);
    lv record = mk_field(u, u->e->ptr, u->args, offsetof(ls__cpu_args, trap));
    lv args[4] = {record, u->workgroup_linear, mk_add(u, u->first_lane, lane), one};
    call_helper(u, HELPER_TRAP, args, 4);
}
