/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of built-in functions to IR operations; the rules on where atomics and subgroup
 * operations may stand.
 */
#include "lang/lower.h"

static ls_value op1(lang_lower *l, ls_op op, ls_value a)
{
    return ls__ir_emit1(&l->cursor, op, a);
}

static ls_value op2(lang_lower *l, ls_op op, ls_value a, ls_value b)
{
    return ls__ir_emit2(&l->cursor, op, a, b);
}

/* --- numbers -------------------------------------------------------------------------- */
static ls_value integer(lang_lower *l, const lang_expr *expr, const ls_value *v)
{
    const lang_type *type = expr->args[0]->type;
    bool is_signed = lang_is_signed(type);
    switch (expr->builtin) {
    case FN_MIN:
        return op2(l, is_signed ? LS_OP_SMIN : LS_OP_UMIN, v[0], v[1]);
    case FN_MAX:
        return op2(l, is_signed ? LS_OP_SMAX : LS_OP_UMAX, v[0], v[1]);
    case FN_MULHI:
        return op2(l, is_signed ? LS_OP_MULHI_S : LS_OP_MULHI_U, v[0], v[1]);
    case FN_ADD_SAT:
        return op2(l, is_signed ? LS_OP_ADD_SAT_S : LS_OP_ADD_SAT_U, v[0], v[1]);
    case FN_SUB_SAT:
        return op2(l, is_signed ? LS_OP_SUB_SAT_S : LS_OP_SUB_SAT_U, v[0], v[1]);
    case FN_ABS:
        return is_signed ? op2(l, LS_OP_SMAX, v[0], op2(l, LS_OP_SUB, ls__lang_zero(l, type), v[0]))
                         : v[0];
    case FN_ROTL:
    case FN_ROTR: {
        ls_value count =
            ls__lang_lower_conversion(l, v[1], TY(U32), type->size == 8 ? TY(I64) : TY(I32));
        if (expr->builtin == FN_ROTR)
            count = op2(l, LS_OP_SUB, ls__lang_zero(l, type), count);
        return op2(l, LS_OP_ROTL, v[0], count);
    }
    default: {
        ls_op op = expr->builtin == FN_POPCOUNT ? LS_OP_POPCOUNT
                   : expr->builtin == FN_CLZ    ? LS_OP_CLZ
                                                : LS_OP_CTZ;
        return ls__lang_lower_conversion(l, op1(l, op, v[0]), type, TY(U32));
    }
    }
}

static ls_value infinity(lang_lower *l, const lang_type *type)
{
    bool is_f32 = type->kind == TYPE_F32;
    return ls__ir_const(&l->cursor, is_f32 ? LS_TYPE_F32 : LS_TYPE_F64,
                        is_f32 ? 0x7f800000u : UINT64_C(0x7ff0000000000000));
}

/* The bits with the one NaN, and a mask of the sign bit. */
static ls_value bits_of(lang_lower *l, const lang_type *type, ls_value v)
{
    return ls__ir_convert(&l->cursor, LS_OP_FBITS,
                          type->kind == TYPE_F32 ? LS_TYPE_I32 : LS_TYPE_I64, v);
}

static ls_value sign_from(lang_lower *l, const lang_type *type, ls_value x, ls_value y)
{
    bool is_f32 = type->kind == TYPE_F32;
    ls_type bits = is_f32 ? LS_TYPE_I32 : LS_TYPE_I64;
    uint64_t sign = is_f32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    ls_value rest = ls__ir_const(&l->cursor, bits, sign - 1);
    ls_value magnitude = op2(l, LS_OP_AND, bits_of(l, type, x), rest);
    ls_value mask = ls__ir_const(&l->cursor, bits, sign);
    ls_value from_y = op2(l, LS_OP_AND, bits_of(l, type, y), mask);
    return ls__ir_convert(&l->cursor, LS_OP_FFROM_BITS, ls__lang_value_type(type),
                          op2(l, LS_OP_OR, magnitude, from_y));
}

static ls_value floating(lang_lower *l, const lang_expr *expr, const ls_value *v)
{
    const lang_type *type = expr->args[0]->type;
    switch (expr->builtin) {
    case FN_FMIN:
        return op2(l, LS_OP_FMIN, v[0], v[1]);
    case FN_FMAX:
        return op2(l, LS_OP_FMAX, v[0], v[1]);
    case FN_FMA:
        return ls__ir_emit3(&l->cursor, LS_OP_FMA, v[0], v[1], v[2]);
    case FN_SQRT:
        return op1(l, LS_OP_FSQRT, v[0]);
    case FN_FABS:
        return op1(l, LS_OP_FABS, v[0]);
    case FN_FLOOR:
        return op1(l, LS_OP_FFLOOR, v[0]);
    case FN_CEIL:
        return op1(l, LS_OP_FCEIL, v[0]);
    case FN_TRUNC:
        return op1(l, LS_OP_FTRUNC, v[0]);
    case FN_RINT:
        return op1(l, LS_OP_FRINT, v[0]);
    case FN_COPYSIGN:
        return sign_from(l, type, v[0], v[1]);
    case FN_SIGNBIT: {
        ls_value bits = bits_of(l, type, v[0]);
        return op2(l, LS_OP_SLT, bits,
                   ls__lang_zero(l, type->kind == TYPE_F32 ? TY(I32) : TY(I64)));
    }
    case FN_ISNAN:
        return op2(l, LS_OP_FNE, v[0], v[0]);
    case FN_ISINF:
        return op2(l, LS_OP_FEQ, op1(l, LS_OP_FABS, v[0]), infinity(l, type));
    default: /* isfinite */
        return op2(l, LS_OP_FLT, op1(l, LS_OP_FABS, v[0]), infinity(l, type));
    }
}

/* --- between lanes -------------------------------------------------------------------- */
/* Operations between lanes do not stand in noinline functions, and subgroups are whole. */
static void check_cooperation(lang_lower *l, const lang_expr *expr, bool is_subgroup)
{
    const lang_function *f = l->function;
    if (!f->is_kernel) {
        ls__lang_report(l->context, expr->pos, D_NOINLINE_COOPERATION,
                        ls__lang_builtins[expr->builtin].name);
        return;
    }
    uint32_t lanes = f->workgroup[0] * f->workgroup[1] * f->workgroup[2];
    if (is_subgroup && lanes % 32 != 0) {
        ls__lang_report(l->context, expr->pos, D_SUBGROUP_WORKGROUP);
        ls__lang_hint(l->context, "the workgroup of '%.*s' has %u lanes",
                      LS__STR_ARG(f->symbol->name->text), lanes);
    }
}

static ls_value reduce(lang_lower *l, const lang_expr *expr, ls_value v)
{
    const lang_type *type = expr->type;
    bool is_min = expr->builtin == FN_SUBGROUP_MIN, is_max = expr->builtin == FN_SUBGROUP_MAX;
    ls_reduce kind = LS_REDUCE_ADD;
    if (is_min || is_max) {
        bool is_signed = lang_is_signed(type);
        kind = lang_is_float(type) ? (is_min ? LS_REDUCE_FMIN : LS_REDUCE_FMAX)
               : is_signed         ? (is_min ? LS_REDUCE_SMIN : LS_REDUCE_SMAX)
                                   : (is_min ? LS_REDUCE_UMIN : LS_REDUCE_UMAX);
    } else if (expr->builtin == FN_SUBGROUP_AND) {
        kind = LS_REDUCE_AND;
    } else if (expr->builtin == FN_SUBGROUP_OR) {
        kind = LS_REDUCE_OR;
    } else if (expr->builtin == FN_SUBGROUP_XOR) {
        kind = LS_REDUCE_XOR;
    }
    ls__ir_inst *inst =
        ls__ir_insert(&l->cursor, LS_OP_SG_REDUCE, ls__lang_value_type(type), &v, 1);
    inst->imm = kind;
    return inst->id;
}

static ls_value between_lanes(lang_lower *l, const lang_expr *expr, const ls_value *v)
{
    check_cooperation(l, expr, expr->builtin != FN_WORKGROUP_UNIFORM);
    switch (expr->builtin) {
    case FN_WORKGROUP_UNIFORM:
        return op1(l, LS_OP_WG_UNIFORM, v[0]);
    case FN_SUBGROUP_SHUFFLE:
        return op2(l, LS_OP_SG_SHUFFLE, v[0], v[1]);
    case FN_SUBGROUP_BROADCAST:
        return op2(l, LS_OP_SG_BROADCAST, v[0], v[1]);
    default:
        return reduce(l, expr, v[0]);
    }
}

/* --- atomics -------------------------------------------------------------------------- */
static ls_atomic atomic_kind(int16_t builtin, bool is_signed)
{
    switch (builtin) {
    case FN_ATOMIC_ADD:
        return LS_ATOMIC_ADD;
    case FN_ATOMIC_MIN:
        return is_signed ? LS_ATOMIC_SMIN : LS_ATOMIC_UMIN;
    case FN_ATOMIC_MAX:
        return is_signed ? LS_ATOMIC_SMAX : LS_ATOMIC_UMAX;
    case FN_ATOMIC_AND:
        return LS_ATOMIC_AND;
    case FN_ATOMIC_OR:
        return LS_ATOMIC_OR;
    case FN_ATOMIC_XOR:
        return LS_ATOMIC_XOR;
    default:
        return LS_ATOMIC_XCHG;
    }
}

static lang_value atomic(lang_lower *l, lang_expr *expr, bool is_used)
{
    lang_value pointer = ls__lang_lower_value(l, expr->args[0]);
    ls_value args[3] = {{0}, {0}, {0}};
    for (uint32_t i = 1; i < expr->arg_count; i++)
        args[i] = ls__lang_lower_scalar(l, expr->args[i]);
    ls__lang_at_pos(l, expr->pos);
    pointer.base = ls__lang_reach(l, pointer.base, pointer.offset, &args[0]);
    bool is_cas = expr->builtin == FN_ATOMIC_COMPARE_EXCHANGE;
    bool is_exchange = is_cas || expr->builtin == FN_ATOMIC_EXCHANGE;
    if (pointer.base.kind == LS_BASE_LOCAL || pointer.base.kind == LS_BASE_CONST)
        ls__lang_report(l->context, expr->args[0]->pos, D_ATOMIC_BASE);
    if ((is_exchange || is_used) && !l->function->is_unordered)
        ls__lang_report(l->context, expr->pos, D_NEEDS_UNORDERED,
                        is_exchange ? "an atomic exchange" : "using the old value of an atomic");
    ls__ir_inst *inst = ls__ir_insert(&l->cursor, is_cas ? LS_OP_ATOMIC_CAS : LS_OP_ATOMIC,
                                      ls__lang_value_type(expr->type), args, expr->arg_count);
    inst->mem = expr->type->mem;
    inst->base = pointer.base;
    inst->imm = is_cas ? 0 : atomic_kind(expr->builtin, lang_is_signed(expr->type));
    return ls__lang_scalar(expr->type, inst->id);
}

/* --- the rest ------------------------------------------------------------------------- */
static lang_value geometry(lang_lower *l, const lang_expr *expr)
{
    static const ls_id ids[] = {
        [FN_GLOBAL_ID] = LS_ID_GLOBAL_ID,           [FN_LOCAL_ID] = LS_ID_LOCAL_ID,
        [FN_WORKGROUP_ID] = LS_ID_WORKGROUP_ID,     [FN_GLOBAL_SIZE] = LS_ID_GLOBAL_SIZE,
        [FN_WORKGROUP_SIZE] = LS_ID_WORKGROUP_SIZE, [FN_WORKGROUP_COUNT] = LS_ID_WORKGROUP_COUNT,
        [FN_LOCAL_INDEX] = LS_ID_LOCAL_INDEX,       [FN_LANE_ID] = LS_ID_LANE,
        [FN_SUBGROUP_ID] = LS_ID_SUBGROUP,          [FN_ITERATION] = LS_ID_ITERATION,
    };
    ls__ir_inst *inst = ls__ir_insert(&l->cursor, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    inst->imm = (uint64_t)ids[expr->builtin];
    inst->imm2 = expr->arg_count ? expr->bits : 0;
    return ls__lang_scalar(expr->type, inst->id);
}

static lang_value half(const lang_type *type, lang_lower *l, ls_value bits)
{
    ls_value *leaf = LS__NEW(&l->context->arena, ls_value);
    *leaf = bits;
    return (lang_value){.kind = VALUE_LEAVES, .type = type, .leaves = leaf};
}

static lang_value fixed(lang_lower *l, const lang_expr *expr, const ls_value *v)
{
    ls__ir_cursor *at = &l->cursor;
    ls_type type = ls__lang_value_type(expr->type);
    lang_value none = {.kind = VALUE_NONE, .type = expr->type};
    switch (expr->builtin) {
    case FN_F32_BITS:
    case FN_F64_BITS:
        return ls__lang_scalar(expr->type, ls__ir_convert(at, LS_OP_FBITS, type, v[0]));
    case FN_F32_FROM_BITS:
    case FN_F64_FROM_BITS:
        return ls__lang_scalar(expr->type, ls__ir_convert(at, LS_OP_FFROM_BITS, type, v[0]));
    case FN_F16_TO_F32:
        return ls__lang_scalar(expr->type, ls__ir_convert(at, LS_OP_F16_TO_F32, type, v[0]));
    case FN_BF16_TO_F32:
        return ls__lang_scalar(expr->type, ls__ir_convert(at, LS_OP_BF16_TO_F32, type, v[0]));
    case FN_F32_TO_F16:
        return half(expr->type, l, op1(l, LS_OP_F32_TO_F16, v[0]));
    case FN_F32_TO_BF16:
        return half(expr->type, l, op1(l, LS_OP_F32_TO_BF16, v[0]));
    case FN_DOT4:
        return ls__lang_scalar(expr->type, ls__ir_emit3(at, LS_OP_DOT4_SS, v[0], v[1], v[2]));
    case FN_DOT4_US:
        return ls__lang_scalar(expr->type, ls__ir_emit3(at, LS_OP_DOT4_US, v[0], v[1], v[2]));
    case FN_SUBGROUP_BALLOT:
        check_cooperation(l, expr, true);
        return ls__lang_scalar(expr->type, op1(l, LS_OP_SG_BALLOT, v[0]));
    case FN_TRAP:
        ls__ir_insert(at, LS_OP_TRAP, LS_TYPE_VOID, v, 1);
        return none;
    default: /* barriers */
        check_cooperation(l, expr, false);
        ls__ir_insert(at, expr->builtin == FN_BARRIER ? LS_OP_BARRIER : LS_OP_GRID_BARRIER,
                      LS_TYPE_VOID, NULL, 0);
        return none;
    }
}

static lang_value bounded(lang_lower *l, const lang_expr *expr)
{
    lang_value pointer = ls__lang_lower_value(l, expr->args[0]);
    lang_bounded part = {pointer.base, pointer.offset, (uint32_t)expr->bits,
                         pointer.type->target->size};
    pointer.base = (ls_base){(ls_base_kind)LANG_BASE_PART, l->parts.count};
    pointer.offset = (lang_offset){.is_known = true};
    ls__vec_push(&l->context->arena, &l->parts, part);
    return pointer;
}

lang_value ls__lang_lower_builtin(lang_lower *l, lang_expr *expr, bool is_used)
{
    uint8_t kind = ls__lang_builtins[expr->builtin].kind;
    if (kind == BUILTIN_ATOMIC || kind == BUILTIN_CAS)
        return atomic(l, expr, is_used);
    if (kind == BUILTIN_BOUNDED)
        return bounded(l, expr);
    if (kind == BUILTIN_ID || kind == BUILTIN_ID_DIM)
        return geometry(l, expr);
    ls_value v[3] = {{0}, {0}, {0}};
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        lang_value value = ls__lang_lower_value(l, expr->args[i]);
        v[i] = value.kind == VALUE_LEAVES ? value.leaves[0] : value.scalar;
    }
    ls__lang_at_pos(l, expr->pos);
    switch ((lang_builtin_kind)kind) {
    case BUILTIN_INT1:
    case BUILTIN_INT_U32:
    case BUILTIN_INT2:
    case BUILTIN_ROTATE:
        return ls__lang_scalar(expr->type, integer(l, expr, v));
    case BUILTIN_FLOAT1:
    case BUILTIN_FLOAT2:
    case BUILTIN_FLOAT3:
    case BUILTIN_FTEST:
        return ls__lang_scalar(expr->type, floating(l, expr, v));
    case BUILTIN_FIXED:
        return fixed(l, expr, v);
    default:
        return ls__lang_scalar(expr->type, between_lanes(l, expr, v));
    }
}
