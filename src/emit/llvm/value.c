/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction of a segment: dispatch, launch geometry, parameters, variables, and what is known
 * of integers as base + lane * stride, which makes loads and stores contiguous.
 */
#include <assert.h>

#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"

/* --- values ----------------------------------------------------------------------------------- */

val ls__llvm_value(unit *u, ls_value value)
{
    assert(u->value_stamps[value.id] == u->segment && "what crosses segments has been brought in");
    return u->values[value.id];
}

lv ls__llvm_scalar(unit *u, ls_value value)
{
    return ls__llvm_value(u, value).scalar;
}

lv ls__llvm_vector(unit *u, ls_value value)
{
    val v = ls__llvm_value(u, value);
    return v.vector ? v.vector : ls__llvm_splat(u, v.scalar);
}

lv ls__llvm_same(val v)
{
    return v.scalar ? v.scalar : v.stride == 0 && !v.valid ? v.base : NULL;
}

lv ls__llvm_spread(unit *u, lv base, int64_t stride)
{
    lv lanes = mk_zext(u, u->lanes, u->l->TypeOf(base));
    lv distances = mk_mul(u, lanes, mk_k(u, lanes, (uint64_t)stride));
    return mk_add(u, ls__llvm_splat(u, base), distances);
}

lv ls__llvm_slot_address(unit *u, const slot *s)
{
    if (s->kind == SLOT_STACK)
        return s->place;
    lv strand = mk_zext(u, u->strand, u->e->i64);
    lv offset = mk_add(u, mk_i64(u, s->offset), mk_mul(u, strand, mk_i64(u, s->step)));
    return mk_at(u, u->scratch, offset);
}

/* Strands follow each other in scratch as they fit, so a vector there has the alignment of its
 * elements. */
enum { SLOT_ALIGNMENT = 4 };

lv ls__llvm_slot_load(unit *u, const slot *s, lt type)
{
    lv place = ls__llvm_slot_address(u, s);
    if (s->kind == SLOT_STACK)
        return mk_kept(u, type, place);
    lt kept = ls__llvm_kept_type(u, type);
    lv value = mk_load(u, kept, place, SLOT_ALIGNMENT);
    return kept == type ? value : ls__llvm_narrow(u, value);
}

void ls__llvm_slot_store(unit *u, const slot *s, lv value)
{
    lv place = ls__llvm_slot_address(u, s);
    lv store = mk_keep(u, value, place);
    if (s->kind == SLOT_SCRATCH)
        u->l->SetAlignment(store, SLOT_ALIGNMENT);
}

void ls__llvm_define(unit *u, const ls__ir_inst *inst, val value)
{
    if (value.scalar && inst->id.id &&
        !ls__llvm_is_uniform(u, inst->id)) /* more than the analysis knows */
        value = (val){.vector = ls__llvm_splat(u, value.scalar), .base = value.scalar};
    u->values[inst->id.id] = value;
    u->value_stamps[inst->id.id] = u->segment;
    const slot *s = &u->value_slots[inst->id.id];
    if (s->kind != SLOT_NONE)
        ls__llvm_slot_store(u, s, value.scalar ? value.scalar : value.vector);
}

static val scalar_val(lv scalar)
{
    return (val){.scalar = scalar};
}

/* --- geometry --------------------------------------------------------------------------------- */

/* first + lane, where first is a multiple of the width. */
static val consecutive(unit *u, lv first)
{
    if (u->width == 1)
        return scalar_val(first);
    return (val){.vector = mk_add(u, ls__llvm_splat(u, first), u->lanes),
                 .base = first,
                 .stride = 1,
                 .no_wrap = true};
}

static lv divide_const(unit *u, lv a, uint32_t divisor)
{
    return divisor == 1 ? a : u->l->BuildUDiv(u->b, a, mk_k(u, a, divisor), "");
}

static lv modulo_const(unit *u, lv a, uint32_t divisor)
{
    return u->l->BuildURem(u->b, a, mk_k(u, a, divisor), "");
}

/* Linear ids divided by what lies before dimension d, modulo its size. */
lv ls__llvm_coordinate(unit *u, lv linear, uint32_t d)
{
    uint32_t before = d == 0 ? 1 : d == 1 ? u->workgroup[0] : u->workgroup[0] * u->workgroup[1];
    lv place = divide_const(u, linear, before);
    return before * u->workgroup[d] >= u->lane_count ? place
                                                     : modulo_const(u, place, u->workgroup[d]);
}

static val local_id(unit *u, uint32_t d)
{
    uint32_t before = d == 0 ? 1 : d == 1 ? u->workgroup[0] : u->workgroup[0] * u->workgroup[1];
    if (u->workgroup[d] == 1)
        return scalar_val(mk_i32(u, 0));
    if (u->width == 1)
        return scalar_val(ls__llvm_coordinate(u, u->first_lane, d));
    if (d == 0 && u->workgroup[0] % u->width == 0)
        return consecutive(u, ls__llvm_coordinate(u, u->first_lane, 0));
    if (before % u->width == 0) { /* the same in a strand, although the analysis cannot say so */
        lv scalar = ls__llvm_coordinate(u, u->first_lane, d);
        return (val){.vector = ls__llvm_splat(u, scalar), .base = scalar, .no_wrap = true};
    }
    lv linear = mk_add(u, ls__llvm_splat(u, u->first_lane), u->lanes);
    return (val){.vector = ls__llvm_coordinate(u, linear, d)};
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static val global_id(unit *u, uint32_t d)
{
    val local = local_id(u, d);
    lv start = mk_mul(u, u->workgroup_id[d], mk_i32(u, u->workgroup[d]));
    if (local.scalar)
        return scalar_val(mk_add(u, start, local.scalar));
    local.vector = mk_add(u, ls__llvm_splat(u, start), local.vector);
    if (local.base) {
        local.base = mk_add(u, start, local.base);
        local.no_wrap = local.stride == 0 || is_power_of_two(u->workgroup[d]);
    }
    return local;
}

static val lane_id(unit *u)
{
    return consecutive(u, mk_and(u, u->first_lane, mk_i32(u, 31)));
}

static val geometry(unit *u, const ls__ir_inst *inst)
{
    uint32_t d = (uint32_t)inst->imm2;
    switch ((ls_id)inst->imm) {
    case LS_ID_GLOBAL_ID:
        return global_id(u, d);
    case LS_ID_LOCAL_ID:
        return local_id(u, d);
    case LS_ID_WORKGROUP_ID:
        return scalar_val(u->workgroup_id[d]);
    case LS_ID_GLOBAL_SIZE:
        return scalar_val(
            mk_field(u, u->e->i32, u->args, offsetof(ls__cpu_args, global_size) + 4 * d));
    case LS_ID_WORKGROUP_SIZE:
        return scalar_val(mk_i32(u, u->workgroup[d]));
    case LS_ID_WORKGROUP_COUNT:
        return scalar_val(u->workgroup_count[d]);
    case LS_ID_LOCAL_INDEX:
        return consecutive(u, u->first_lane);
    case LS_ID_LANE:
        return lane_id(u);
    case LS_ID_SUBGROUP:
        return scalar_val(mk_lshr(u, u->first_lane, mk_i32(u, 5)));
    case LS_ID_ITERATION:
        return scalar_val(mk_field(u, u->e->i32, u->args, offsetof(ls__cpu_args, iteration)));
    case LS_ID_COUNT:
        break;
    }
    assert(false && "a known id (verifier)");
    return scalar_val(mk_i32(u, 0));
}

/* --- parameters ------------------------------------------------------------------------------- */

/* The bits of scalar parameter `index` as memory holds them, in an i64. */
static lv param_bits(unit *u, const ls__ir_param *param, uint32_t index)
{
    lv value = u->scalars[index];
    uint32_t bits = 8 * ls__ir_mem_bytes((ls_mem)param->mem);
    if (param->mem == LS_MEM_F32)
        value = mk_bitcast(u, value, u->e->i32);
    else if (param->mem == LS_MEM_F64)
        value = mk_bitcast(u, value, u->e->i64);
    if (mk_int_bits(u, value) > bits)
        value = mk_trunc(u, value, u->l->IntTypeInContext(u->e->context, bits));
    return mk_int_bits(u, value) == 64 ? value : mk_zext(u, value, u->e->i64);
}

/* A function's parameters are values; reading them goes by the bytes of the scalar block they stand
 * for. */
lv ls__llvm_function_param(unit *u, const ls__ir_inst *inst)
{
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem), scalar = 0;
    lv all = NULL;
    for (uint32_t i = 0; i < u->function->params.count; i++) {
        const ls__ir_param *param = &u->function->params.items[i];
        if (param->is_pointer)
            continue;
        uint32_t index = scalar++;
        uint32_t size = ls__ir_mem_bytes((ls_mem)param->mem);
        if (param->offset + size <= inst->imm || inst->imm + bytes <= param->offset)
            continue;
        lv bits = param_bits(u, param, index);
        if (param->offset < inst->imm)
            bits = mk_lshr(u, bits, mk_k(u, bits, 8 * (inst->imm - param->offset)));
        else if (param->offset > inst->imm)
            bits = mk_shl(u, bits, mk_k(u, bits, 8 * (param->offset - inst->imm)));
        all = all ? mk_or(u, all, bits) : bits;
    }
    lt narrow = u->l->IntTypeInContext(u->e->context, 8 * bytes);
    if (!all)
        all = u->l->ConstNull(mk_by_lane(u, u->e->i64));
    return ls__llvm_from_memory(u, (ls_mem)inst->mem, bytes == 8 ? all : mk_trunc(u, all, narrow));
}

static val param(unit *u, const ls__ir_inst *inst)
{
    if (!u->function->is_kernel) {
        lv value = ls__llvm_function_param(u, inst);
        return u->width == 1 ? scalar_val(value) : (val){.vector = value};
    }
    /* The entry block reads it once: later stores of the kernel could alias it for all LLVM knows.
     */
    lb here = u->l->GetInsertBlock(u->b);
    mk_begin(u, u->allocas);
    lt type = u->l->IntTypeInContext(u->e->context, 8 * ls__ir_mem_bytes((ls_mem)inst->mem));
    lv block = mk_field(u, u->e->ptr, u->args, offsetof(ls__cpu_args, scalars));
    lv value = ls__llvm_from_memory(u, (ls_mem)inst->mem,
                                    mk_load(u, type, mk_at(u, block, mk_i64(u, inst->imm)), 1));
    mk_begin(u, here);
    return scalar_val(value);
}

lv ls__llvm_constant(unit *u, const ls__ir_inst *inst)
{
    if (inst->type == LS_TYPE_F32)
        return mk_bitcast(u, mk_i32(u, inst->imm), u->e->f32);
    if (inst->type == LS_TYPE_F64)
        return mk_bitcast(u, mk_i64(u, inst->imm), u->e->f64);
    return u->l->ConstInt(ls__llvm_type(u, (ls_type)inst->type, false), inst->imm, 0);
}

lv ls__llvm_range_of(unit *u, ls_base base)
{
    switch (base.kind) {
    case LS_BASE_BUFFER:
        return u->ranges[base.index];
    case LS_BASE_SHARED:
        return mk_i64(u, u->function->shared.items[base.index].size);
    case LS_BASE_LOCAL:
        return mk_i64(u, u->function->locals.items[base.index].size);
    default:
        return mk_i64(u, u->e->module->tables.items[base.index].size);
    }
}

/* --- variables -------------------------------------------------------------------------------- */

void ls__llvm_set_var(unit *u, ls_var var, lv scalar, lv vector)
{
    variable *v = &u->vars[var.id];
    if (ls__llvm_is_uniform_var(u, var)) {
        u->l->BuildStore(u->b, scalar, v->place);
        return;
    }
    if (!vector)
        vector = ls__llvm_splat(u, scalar);
    if (ls__llvm_needs_blend(u, var)) {
        lv old = mk_kept(u, u->l->TypeOf(vector), v->place);
        vector = mk_select(u, u->mask, vector, old);
    }
    mk_keep(u, vector, v->place);
}

/* Of a variable that is base + lane * stride; false: it is not. */
static bool set_strided(unit *u, const ls__ir_inst *inst, const val *value)
{
    variable *v = &u->vars[inst->imm];
    if (inst == v->first_use) {
        bool fits = v->is_strided && value->base && !value->valid;
        v->base = fits ? ls__llvm_alloca(u, u->l->TypeOf(value->base)) : NULL;
        v->stride = value->stride;
    }
    if (!v->base)
        return false;
    assert(value->base && !value->valid && value->stride == v->stride);
    u->l->BuildStore(u->b, value->base, v->base);
    return true;
}

static val get_strided(unit *u, const ls__ir_inst *inst)
{
    const variable *v = &u->vars[inst->imm];
    lt type = ls__llvm_type(u, (ls_type)inst->type, false);
    lv base = u->l->BuildLoad2(u->b, type, v->base, "");
    return (val){.vector = ls__llvm_spread(u, base, v->stride), .base = base, .stride = v->stride};
}

static val get_var(unit *u, const ls__ir_inst *inst)
{
    if (u->width > 1 && u->vars[inst->imm].base)
        return get_strided(u, inst);
    bool uniform = ls__llvm_is_uniform_var(u, (ls_var){(uint32_t)inst->imm});
    lt type = ls__llvm_type(u, (ls_type)inst->type, !uniform);
    lv value = mk_kept(u, type, u->vars[inst->imm].place);
    return uniform ? scalar_val(value) : (val){.vector = value};
}

/* --- base + lane * stride --------------------------------------------------------------------- */

typedef struct linear { /* an operand in this form */
    lv base, valid;
    int64_t stride;
    bool no_wrap;
} linear;

static bool as_linear(const val *v, linear *out)
{
    *out = (linear){v->scalar ? v->scalar : v->base, v->scalar ? NULL : v->valid,
                    v->scalar ? 0 : v->stride, v->scalar || v->no_wrap};
    return out->base != NULL;
}

enum { MAX_STRIDE = 1 << 20 }; /* strides beyond are of no use, and products of two still fit */

static bool small(int64_t stride)
{
    return stride <= MAX_STRIDE && stride >= -MAX_STRIDE;
}

/* An extension to 64 bits keeps the form when no lane wraps, which is tested at run time. */
static void extend_linear(unit *u, bool is_signed, const linear *a, val *out)
{
    lt wide = u->e->i64;
    lv base = is_signed ? mk_sext(u, a->base, wide) : mk_zext(u, a->base, wide);
    lv valid = a->valid;
    if (a->stride != 0 && (is_signed || !a->no_wrap)) {
        lv last = mk_add(u, base, mk_i64(u, (uint64_t)(a->stride * (int64_t)(u->width - 1))));
        lv cut = mk_trunc(u, last, u->e->i32);
        lv back = is_signed ? mk_sext(u, cut, wide) : mk_zext(u, cut, wide);
        valid = mk_both(u, valid, mk_icmp(u, LLVMIntEQ, back, last));
    }
    out->base = base;
    out->stride = a->stride;
    out->valid = valid;
}

enum { SMALL_INDEX_BITS = 40 };

/* i1: no lane's offset wraps or is nowhere. Sufficient, and one comparison as a rule: indices are
 * small numbers, and then so are the products. */
static lv index_exists(unit *u, const ls__ir_inst *inst, const linear *a, const linear *b)
{
    const ls__ir_inst *offset = ls__ir_def(u->function, inst->args[0]);
    uint64_t limit = (uint64_t)1 << SMALL_INDEX_BITS;
    if (inst->imm2 != 0 && inst->imm2 < limit)
        limit = inst->imm2;
    lv exists = mk_icmp(u, LLVMIntULT, b->base, mk_i64(u, limit));
    if (inst->imm2 != 0 && b->stride != 0) {
        uint64_t distance = (uint64_t)(b->stride * (int64_t)(u->width - 1));
        lv last = mk_add(u, b->base, mk_i64(u, distance));
        exists = mk_and(u, exists, mk_icmp(u, LLVMIntULT, last, mk_i64(u, limit)));
    }
    if (offset->op != LS_OP_CONST || !small((int64_t)offset->imm)) {
        uint64_t half = (uint64_t)1 << 61;
        lv moved = mk_add(u, a->base, mk_i64(u, half));
        exists = mk_and(u, exists, mk_icmp(u, LLVMIntULT, moved, mk_i64(u, 2 * half)));
    }
    return exists;
}

static void index_linear(unit *u, const ls__ir_inst *inst, const linear *a, const linear *b,
                         val *out)
{
    if (inst->imm > MAX_STRIDE || !small(b->stride * (int64_t)inst->imm + a->stride))
        return;
    out->stride = a->stride + b->stride * (int64_t)inst->imm;
    out->valid = mk_both(u, a->valid, b->valid);
    if ((inst->flags & LS__IR_NOWRAP) || (a->stride == 0 && b->stride == 0)) {
        lv args[2] = {a->base, b->base};
        out->base = ls__llvm_arith(u, inst, args);
        return;
    }
    out->base = mk_add(u, a->base, mk_mul(u, b->base, mk_i64(u, inst->imm)));
    out->valid = mk_both(u, out->valid, index_exists(u, inst, a, b));
}

/* Whether all numbers of lanes lie below a mask: the id in the first dimension is not changed. */
static bool keeps_local_id(const unit *u, const ls__ir_inst *inst, int64_t mask)
{
    return inst->op == LS_OP_ID && inst->imm == LS_ID_LOCAL_ID && inst->imm2 == 0 && mask >= 0 &&
           (mask & (mask + 1)) == 0 && mask + 1 >= (int64_t)u->workgroup[0];
}

static void find_linear(unit *u, const ls__ir_inst *inst, val *out)
{
    val args[2] = {{0}};
    linear a, b = {0};
    if (inst->arg_count == 0 || inst->arg_count > 2)
        return;
    args[0] = ls__llvm_value(u, inst->args[0]);
    if (inst->arg_count == 2)
        args[1] = ls__llvm_value(u, inst->args[1]);
    if (!as_linear(&args[0], &a) || (inst->arg_count == 2 && !as_linear(&args[1], &b)))
        return;
    const ls__ir_inst *second =
        inst->arg_count == 2 ? ls__ir_def(u->function, inst->args[1]) : NULL;
    bool constant_second = second && second->op == LS_OP_CONST;
    int64_t k = constant_second ? (int64_t)second->imm : 0;
    if (constant_second && second->type == LS_TYPE_I32)
        k = (int32_t)second->imm;

    switch ((ls_op)inst->op) {
    case LS_OP_SEXT:
    case LS_OP_ZEXT:
        extend_linear(u, inst->op == LS_OP_SEXT, &a, out);
        return;
    case LS_OP_INDEX:
        index_linear(u, inst, &a, &b, out);
        return;
    case LS_OP_ADD:
    case LS_OP_SUB:
        out->stride = inst->op == LS_OP_ADD ? a.stride + b.stride : a.stride - b.stride;
        break;
    case LS_OP_MUL:
        if (a.stride != 0 && (!constant_second || !small(k)))
            return;
        if (b.stride != 0)
            return;
        out->stride = a.stride * k;
        break;
    case LS_OP_SHL:
        if (!constant_second || k < 0 || k > 20)
            return;
        out->stride = a.stride * ((int64_t)1 << k);
        break;
    case LS_OP_TRUNC:
        out->stride = a.stride;
        break;
    case LS_OP_AND: /* proves to other passes that a lane's number is one */
        if (constant_second && keeps_local_id(u, ls__ir_def(u->function, inst->args[0]), k)) {
            *out = args[0];
            return;
        }
        if (a.stride != 0 || b.stride != 0)
            return;
        out->stride = 0;
        break;
    default:
        if (a.stride != 0 || b.stride != 0)
            return;
        out->stride = 0;
        break;
    }
    if (!small(out->stride)) {
        out->stride = 0;
        return;
    }
    lv bases[2] = {a.base, b.base};
    out->base = ls__llvm_arith(u, inst, bases);
    out->valid = mk_both(u, a.valid, b.valid);
}

/* --- dispatch --------------------------------------------------------------------------------- */

static val pure(unit *u, const ls__ir_inst *inst)
{
    lv args[3];
    val result = {0};
    bool uniform = ls__llvm_is_uniform(u, inst->id);
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = uniform ? ls__llvm_scalar(u, inst->args[i]) : ls__llvm_vector(u, inst->args[i]);
    lv value = ls__llvm_arith(u, inst, args);
    if (uniform)
        return scalar_val(value);
    result.vector = value;
    find_linear(u, inst, &result);
    return result;
}

void ls__llvm_emit_inst(unit *u, ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        ls__llvm_define(u, inst, scalar_val(ls__llvm_constant(u, inst)));
        break;
    case LS_OP_PARAM:
        ls__llvm_define(u, inst, param(u, inst));
        break;
    case LS_OP_ID:
        ls__llvm_define(u, inst, geometry(u, inst));
        break;
    case LS_OP_RANGE:
        ls__llvm_define(u, inst, scalar_val(ls__llvm_range_of(u, inst->base)));
        break;
    case LS_OP_VAR_GET:
        ls__llvm_define(u, inst, get_var(u, inst));
        break;
    case LS_OP_VAR_SET: {
        val value = ls__llvm_value(u, inst->args[0]);
        if (u->width == 1 || !set_strided(u, inst, &value))
            ls__llvm_set_var(u, (ls_var){(uint32_t)inst->imm}, value.scalar, value.vector);
        break;
    }
    case LS_OP_LOAD:
        ls__llvm_emit_load(u, inst);
        break;
    case LS_OP_STORE:
        ls__llvm_emit_store(u, inst);
        break;
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        ls__llvm_emit_atomic(u, inst);
        break;
    case LS_OP_SG_SHUFFLE:
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
    case LS_OP_WG_UNIFORM: /* of one strand; else segment.c has it */
        ls__llvm_emit_subgroup(u, inst);
        break;
    case LS_OP_TRAP:
        ls__llvm_emit_trap(u, inst);
        break;
    case LS_OP_CALL:
        ls__llvm_emit_call(u, inst);
        break;
    case LS_OP_BARRIER: /* one strand is always in step */
        break;
    default:
        ls__llvm_define(u, inst, pure(u, inst));
        break;
    }
    if (!inst->id.id || inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS)
        u->retreat = NULL; /* what has been changed cannot be done anew */
}
