/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics, each in its address space. An offset is in range when it is below
 * `size - bytes + 1`, computed so that it is 0 for objects that are too small; LS_NOWHERE and all
 * negative offsets are above as unsigned numbers. Of an array of scalars, it is the number of the
 * element that is compared, with how many there are: an offset that does not fit in 64 bits is then
 * never computed. What is out of range is not accessed: a branch, which ptxas turns into a
 * predicate.
 *
 * Buffers that a kernel only reads are written by nobody while it runs, so their loads may go
 * through the cache that no store reaches (ld.global.nc).
 */
#include "emit/ptx/code.h"

typedef struct place {
    lv base; /* pointer */
    lv size; /* bytes, i64 */
    uint32_t bytes;
    lv element;    /* its number, where the offset is that times `bytes`; else NULL */
    bool known;    /* in range */
    bool constant; /* while the kernel runs */
} place;

lv ls__ptx_global(code *c, lv address)
{
    lt pointer = c->u.l->PointerTypeInContext(c->u.e->context, SPACE_GLOBAL);
    return c->u.l->BuildIntToPtr(c->u.b, address, pointer, "");
}

lv ls__ptx_shared_at(code *c, uint32_t offset)
{
    return mk_at(&c->u, c->shared, mk_i64(&c->u, offset));
}

lv ls__ptx_volatile_load(code *c, lt type, lv pointer)
{
    lv value = c->u.l->BuildLoad2(c->u.b, type, pointer, "");
    c->u.l->SetVolatile(value, 1);
    return value;
}

/* Tables lie in global memory: constant memory is small, and slow when lanes read different places
 * of it. */
static lv table_of(code *c, uint32_t index)
{
    const emitter *e = c->u.e;
    lv *table = &c->g->tables[index];
    if (*table)
        return *table;
    const ls__ir_object *object = &e->module->tables.items[index];
    lv bytes =
        e->l->ConstStringInContext2(e->context, (const char *)object->bytes, object->size, 1);
    *table = e->l->AddGlobalInAddressSpace(e->out, e->l->TypeOf(bytes), "", SPACE_GLOBAL);
    e->l->SetInitializer(*table, bytes);
    e->l->SetGlobalConstant(*table, 1);
    e->l->SetLinkage(*table, LLVMInternalLinkage);
    e->l->SetAlignment(*table, object->alignment);
    return *table;
}

/* The number of the element of an array of scalars, where the offset is known to be that times its
 * bytes only as long as it exists. NULL: it is no such access. */
static lv element_of(code *c, const ls__ir_inst *inst, uint32_t bytes)
{
    const ls__ir_function *function = c->u.function;
    const ls__ir_inst *index = ls__ir_def(function, inst->args[0]);
    if (index->op != LS_OP_INDEX || (index->flags & LS__IR_NOWRAP) || index->imm != bytes ||
        index->imm2 != 0)
        return NULL;
    const ls__ir_inst *offset = ls__ir_def(function, index->args[0]);
    bool first = offset->op == LS_OP_CONST && offset->imm == 0;
    return first ? ls__ptx_value(c, index->args[1]) : NULL;
}

static place place_of(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    ls_base base = inst->base;
    place p = {.size = ls__llvm_range_of(u, base),
               .bytes = ls__ir_mem_bytes((ls_mem)inst->mem),
               .known = (inst->flags & LS__IR_INBOUNDS) != 0};
    p.element = element_of(c, inst, p.bytes);
    switch (base.kind) {
    case LS_BASE_BUFFER:
        p.base = u->buffers[base.index];
        p.constant =
            u->function->is_kernel && ls__ir_buffer_param(u->function, base.index)->is_const;
        break;
    case LS_BASE_SHARED:
        p.base = ls__ptx_shared_at(c, c->shared_offsets[base.index]);
        break;
    case LS_BASE_LOCAL:
        p.base = c->locals[base.index];
        break;
    default:
        p.base = table_of(c, base.index);
        p.constant = true;
        break;
    }
    return p;
}

/* Elements there are; or, where offsets are compared, how many have `bytes` bytes behind them in
 * the object. */
static lv make_limit(code *c, const place *p)
{
    unit *u = &c->u;
    if (p->element)
        return u->l->BuildUDiv(u->b, p->size, mk_i64(u, p->bytes), "");
    return mk_intrinsic(u, "llvm.usub.sat", p->size, mk_i64(u, p->bytes - 1), NULL);
}

/* Of a buffer it is computed once, where the kernel begins. */
static lv limit_of(code *c, const place *p, ls_base base)
{
    if (base.kind != LS_BASE_BUFFER)
        return make_limit(c, p);
    uint32_t size = p->bytes == 1 ? 0 : p->bytes == 2 ? 1 : p->bytes == 4 ? 2 : 3;
    lv *limit = &c->limits[base.index * LIMITS + 2 * size + (p->element != NULL)];
    if (!*limit) {
        lb here = ls__ptx_enter_entry(c);
        *limit = make_limit(c, p);
        ls__ptx_leave_entry(c, here);
    }
    return *limit;
}

/* Where the access is, once it is known to be in range. */
static lv pointer_to(code *c, const place *p, const ls__ir_inst *inst)
{
    lv offset = p->element ? mk_mul(&c->u, p->element, mk_i64(&c->u, p->bytes))
                           : ls__ptx_value(c, inst->args[0]);
    return mk_at(&c->u, p->base, offset);
}

/* --- code that runs only when in range -------------------------------------------------------- */

typedef struct guarded {
    lb before, after;
} guarded;

static guarded begin_guarded(code *c, const place *p, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    guarded g = {0};
    if (p->known)
        return g;
    lb inside = mk_block(u);
    g.after = mk_block(u);
    lv number = p->element ? p->element : ls__ptx_value(c, inst->args[0]);
    lv condition = mk_icmp(u, LLVMIntULT, number, limit_of(c, p, inst->base));
    g.before = u->l->GetInsertBlock(u->b);
    mk_cond_br(u, condition, inside, g.after);
    mk_begin(u, inside);
    return g;
}

/* `value` (NULL: none) of the code in between, or 0. */
static lv end_guarded(code *c, const guarded *g, lv value)
{
    unit *u = &c->u;
    if (!g->after)
        return value;
    lb from = u->l->GetInsertBlock(u->b);
    mk_br(u, g->after);
    mk_begin(u, g->after);
    if (!value)
        return NULL;
    lt type = u->l->TypeOf(value);
    lv phi = u->l->BuildPhi(u->b, type, ""), values[2] = {u->l->ConstNull(type), value};
    lb blocks[2] = {g->before, from};
    u->l->AddIncoming(phi, values, blocks, 2);
    return phi;
}

/* --- loads, stores ---------------------------------------------------------------------------- */

static void mark_constant(code *c, lv load)
{
    static const char kind[] = "invariant.load";
    const ls__llvm *l = c->u.l;
    LLVMContextRef context = c->u.e->context;
    l->SetMetadata(load, l->GetMDKindIDInContext(context, kind, sizeof kind - 1),
                   l->MetadataAsValue(context, l->MDNodeInContext2(context, NULL, 0)));
}

void ls__ptx_load(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    place p = place_of(c, inst);
    guarded g = begin_guarded(c, &p, inst);
    lt type = u->l->IntTypeInContext(u->e->context, 8 * p.bytes);
    lv bits = mk_load(u, type, pointer_to(c, &p, inst), p.bytes);
    if (p.constant)
        mark_constant(c, bits);
    bits = end_guarded(c, &g, bits);
    c->values[inst->id.id] = ls__llvm_from_memory(u, (ls_mem)inst->mem, bits);
}

void ls__ptx_store(code *c, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    place p = place_of(c, inst);
    lv bits = ls__llvm_to_memory(u, inst, ls__ptx_value(c, inst->args[1]));
    guarded g = begin_guarded(c, &p, inst);
    mk_store(u, bits, pointer_to(c, &p, inst), p.bytes);
    end_guarded(c, &g, NULL);
}

/* --- atomics ---------------------------------------------------------------------------------- */

/* One that touches only what is in range of a word that may begin anywhere: byte by byte, each in
 * the aligned word around it, whose other bytes stay as they are. */
static void partial_atomic(code *c, const place *p, const ls__ir_inst *inst)
{
    unit *u = &c->u;
    LLVMAtomicRMWBinOp op =
        inst->imm == LS_ATOMIC_AND ? LLVMAtomicRMWBinOpAnd : LLVMAtomicRMWBinOpOr;
    lv operand = ls__ptx_value(c, inst->args[1]), byte = mk_i32(u, 0xff);
    for (uint32_t i = 0; i < 4; i++) {
        lv at = mk_add(u, ls__ptx_value(c, inst->args[0]), mk_i64(u, i));
        lb inside = mk_block(u), after = mk_block(u);
        mk_cond_br(u, mk_icmp(u, LLVMIntULT, at, p->size), inside, after);
        mk_begin(u, inside);
        lv address = u->l->BuildPtrToInt(u->b, mk_at(u, p->base, at), u->e->i64, "");
        lv in_word = mk_and(u, mk_trunc(u, address, u->e->i32), mk_i32(u, 3));
        lv shift = mk_shl(u, in_word, mk_i32(u, 3));
        lv bits = mk_and(u, mk_lshr(u, operand, mk_i32(u, 8 * i)), byte);
        bits = mk_shl(u, bits, shift);
        if (inst->imm == LS_ATOMIC_AND)
            bits = mk_or(u, bits, mk_not(u, mk_shl(u, byte, shift)));
        lv word = ls__ptx_global(c, mk_and(u, address, mk_i64(u, ~(uint64_t)3)));
        u->l->BuildAtomicRMW(u->b, op, word, bits, LLVMAtomicOrderingMonotonic, 0);
        mk_br(u, after);
        mk_begin(u, after);
    }
}

static lv one_atomic(code *c, const place *p, const ls__ir_inst *inst)
{
    static const LLVMAtomicRMWBinOp ops[LS_ATOMIC_COUNT] = {
        [LS_ATOMIC_ADD] = LLVMAtomicRMWBinOpAdd,   [LS_ATOMIC_SMIN] = LLVMAtomicRMWBinOpMin,
        [LS_ATOMIC_SMAX] = LLVMAtomicRMWBinOpMax,  [LS_ATOMIC_UMIN] = LLVMAtomicRMWBinOpUMin,
        [LS_ATOMIC_UMAX] = LLVMAtomicRMWBinOpUMax, [LS_ATOMIC_AND] = LLVMAtomicRMWBinOpAnd,
        [LS_ATOMIC_OR] = LLVMAtomicRMWBinOpOr,     [LS_ATOMIC_XOR] = LLVMAtomicRMWBinOpXor,
        [LS_ATOMIC_XCHG] = LLVMAtomicRMWBinOpXchg};
    unit *u = &c->u;
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    lv pointer = pointer_to(c, p, inst);
    lv a = ls__ptx_value(c, inst->args[1]);
    if (inst->op == LS_OP_ATOMIC)
        return u->l->BuildAtomicRMW(u->b, ops[inst->imm], pointer, a, relaxed, 0);
    lv b = ls__ptx_value(c, inst->args[2]);
    lv pair = u->l->BuildAtomicCmpXchg(u->b, pointer, a, b, relaxed, relaxed, 0);
    return u->l->BuildExtractValue(u->b, pair, 0, "");
}

void ls__ptx_atomic(code *c, const ls__ir_inst *inst)
{
    place p = place_of(c, inst);
    lt type = ls__llvm_type(&c->u, (ls_type)inst->type, false);
    if (inst->flags & LS__IR_PARTIAL) {
        partial_atomic(c, &p, inst);
        c->values[inst->id.id] = c->u.l->ConstNull(type);
        return;
    }
    guarded g = begin_guarded(c, &p, inst);
    c->values[inst->id.id] = end_guarded(c, &g, one_atomic(c, &p, inst));
}
