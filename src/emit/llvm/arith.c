/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on values: what src/ir/eval.c defines, in LLVM's instructions, alike for scalars and
 * vectors.
 *
 * Rules. No fast-math flag, no nsw, nuw, exact or inbounds: nothing here may be poison, so every
 * count, divisor and conversion is guarded. Nothing may become a call of libm: what a feature level
 * has no instruction for has been lowered before (ls__llvm_lowering). NaNs are made the one NaN on
 * integers, where LLVM must keep bits.
 */
#include "emit/llvm/build.h"

static lt bits_type(unit *u, ls_type type)
{
    return type == LS_TYPE_F64 ? u->e->i64 : u->e->i32;
}

/* --- NaN -------------------------------------------------------------------------------------- */

lv ls__llvm_canonical(unit *u, ls_type type, lv value, bool as_bits)
{
    lv bits = mk_bitcast(u, value, bits_type(u, type));
    lv is_nan = mk_fcmp(u, LLVMRealUNO, value, value);
    uint64_t nan = type == LS_TYPE_F64 ? UINT64_C(0x7ff8000000000000) : 0x7fc00000;
    bits = mk_select(u, is_nan, mk_k(u, bits, nan), bits);
    return as_bits ? bits : mk_bitcast(u, bits, ls__llvm_type(u, type, false));
}

static bool is_clean_const(ls_type type, uint64_t bits)
{
    if (type == LS_TYPE_F64)
        return (bits & INT64_MAX) <= UINT64_C(0x7ff0000000000000) ||
               bits == UINT64_C(0x7ff8000000000000);
    return (bits & INT32_MAX) <= 0x7f800000 || bits == 0x7fc00000;
}

enum { MAX_LOOK = 4 };

bool ls__llvm_is_clean(const unit *u, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    if (depth == MAX_LOOK)
        return false;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
        return is_clean_const((ls_type)inst->type, inst->imm);
    case LS_OP_S2F:
    case LS_OP_U2F:
    case LS_OP_FCANON:
        return true;
    case LS_OP_SELECT:
        return ls__llvm_is_clean(u, inst->args[1], depth + 1) &&
               ls__llvm_is_clean(u, inst->args[2], depth + 1);
    default:
        return false;
    }
}

/* --- integers --------------------------------------------------------------------------------- */

static lv count_of(unit *u, lv count) /* modulo the width */
{
    return mk_and(u, count, mk_k(u, count, mk_int_bits(u, count) - 1));
}

/* 32-bit division of vectors in f64: the quotient of two integers of 32 bits is correctly cut,
 * since it differs from every integer above it by at least 1/b > 2^-32, and the rounding by at most
 * 2^-22. */
static lv divide_by_float(unit *u, bool is_signed, lv a, lv b)
{
    lt wide = mk_type_like(u, a, u->e->f64), type = u->l->TypeOf(a);
    if (is_signed) {
        a = u->l->BuildSIToFP(u->b, a, wide, "");
        b = u->l->BuildSIToFP(u->b, b, wide, "");
        return u->l->BuildFPToSI(u->b, u->l->BuildFDiv(u->b, a, b, ""), type, "");
    }
    a = u->l->BuildUIToFP(u->b, a, wide, "");
    b = u->l->BuildUIToFP(u->b, b, wide, "");
    return u->l->BuildFPToUI(u->b, u->l->BuildFDiv(u->b, a, b, ""), type, "");
}

/* Quotient or remainder with a divisor that is neither 0 nor, in signed division, -1. */
static lv divide_guarded(unit *u, ls_op op, lv a, lv b, bool by_constant)
{
    bool is_signed = op == LS_OP_SDIV || op == LS_OP_SREM;
    bool is_quotient = op == LS_OP_SDIV || op == LS_OP_UDIV;
    if (mk_is_vector(u, a) && !by_constant) {
        if (mk_int_bits(u, a) == 64)
            return ls__llvm_divide64(u, op, a, b);
        lv quotient = divide_by_float(u, is_signed, a, b);
        return is_quotient ? quotient : mk_sub(u, a, mk_mul(u, quotient, b));
    }
    return ls__llvm_divide_plain(u, op, a, b);
}

static lv divide(unit *u, const ls__ir_inst *inst, lv a, lv b)
{
    ls_op op = (ls_op)inst->op;
    bool is_signed = op == LS_OP_SDIV || op == LS_OP_SREM;
    bool is_quotient = op == LS_OP_SDIV || op == LS_OP_UDIV;
    const ls__ir_inst *divisor = ls__ir_def(u->function, inst->args[1]);
    bool by_constant = divisor && divisor->op == LS_OP_CONST;
    lv zero = mk_k(u, b, 0), one = mk_k(u, b, 1);
    lv by_zero = mk_icmp(u, LLVMIntEQ, b, zero);
    lv guard = by_zero, by_minus_one = NULL;
    if (is_signed) {
        by_minus_one = mk_icmp(u, LLVMIntEQ, b, mk_k(u, b, UINT64_MAX));
        guard = mk_or(u, guard, by_minus_one);
    }
    lv result = divide_guarded(u, op, a, mk_select(u, guard, one, b), by_constant);
    if (is_signed)
        result = mk_select(u, by_minus_one, is_quotient ? mk_sub(u, zero, a) : zero, result);
    return mk_select(u, by_zero, is_quotient ? a : zero, result);
}

/* The high half of a product of 64 bits each, from four products of halves: LLVM would scalarise
 * vectors of 128-bit integers. */
static lv mulhi64(unit *u, bool is_signed, lv a, lv b)
{
    lv low = mk_k(u, a, UINT32_MAX), half = mk_k(u, a, 32), top = mk_k(u, a, 63);
    lv a0 = mk_and(u, a, low), a1 = mk_lshr(u, a, half);
    lv b0 = mk_and(u, b, low), b1 = mk_lshr(u, b, half);
    lv middle = mk_add(u, mk_mul(u, a1, b0), mk_lshr(u, mk_mul(u, a0, b0), half));
    lv rest = mk_add(u, mk_mul(u, a0, b1), mk_and(u, middle, low));
    lv high =
        mk_add(u, mk_mul(u, a1, b1), mk_add(u, mk_lshr(u, middle, half), mk_lshr(u, rest, half)));
    if (is_signed) {
        high = mk_sub(u, high, mk_and(u, mk_ashr(u, a, top), b));
        high = mk_sub(u, high, mk_and(u, mk_ashr(u, b, top), a));
    }
    return high;
}

static lv mulhi(unit *u, bool is_signed, lv a, lv b)
{
    uint32_t bits = mk_int_bits(u, a);
    if (bits == 64 && mk_is_vector(u, a))
        return mulhi64(u, is_signed, a, b);
    lt narrow = mk_element(u, a), wide = u->l->IntTypeInContext(u->e->context, 2 * bits);
    a = is_signed ? mk_sext(u, a, wide) : mk_zext(u, a, wide);
    b = is_signed ? mk_sext(u, b, wide) : mk_zext(u, b, wide);
    lv product = mk_mul(u, a, b);
    return mk_trunc(u, mk_lshr(u, product, mk_k(u, product, bits)), narrow);
}

static lv low_bits(unit *u, lv a, bool is_signed, uint32_t bits)
{
    lt narrow = u->l->IntTypeInContext(u->e->context, bits), type = mk_element(u, a);
    lv cut = mk_trunc(u, a, narrow);
    return is_signed ? mk_sext(u, cut, type) : mk_zext(u, cut, type);
}

static lv leading_zeros(unit *u, const char *name, lv a)
{
    return mk_intrinsic(u, name, a, u->l->ConstInt(u->e->i1, 0, 0), NULL);
}

/* --- floats ----------------------------------------------------------------------------------- */

static lv min_max(unit *u, ls_type type, bool is_max, lv a, lv b)
{
    lt word = bits_type(u, type), element = ls__llvm_type(u, type, false);
    lv a_bits = mk_bitcast(u, a, word), b_bits = mk_bitcast(u, b, word);
    lv chosen = mk_select(u, mk_fcmp(u, is_max ? LLVMRealOGT : LLVMRealOLT, a, b), a_bits, b_bits);
    /* Equal: the same bits, or zeros, where one sign bit makes -0 and both make it for max. */
    lv zeros = is_max ? mk_and(u, a_bits, b_bits) : mk_or(u, a_bits, b_bits);
    chosen = mk_select(u, mk_fcmp(u, LLVMRealOEQ, a, b), zeros, chosen);
    chosen = mk_select(u, mk_fcmp(u, LLVMRealUNO, b, b), a_bits, chosen);
    return mk_bitcast(u, chosen, element);
}

static lv float_to_int(unit *u, const ls__ir_inst *inst, lv a)
{
    bool is_signed = inst->op == LS_OP_F2S;
    lt narrow = u->l->IntTypeInContext(u->e->context, (unsigned)inst->imm);
    lt type = ls__llvm_type(u, (ls_type)inst->type, false);
    lt overloads[2] = {mk_type_like(u, a, narrow), u->l->TypeOf(a)};
    lv cut = ls__llvm_intrinsic(u, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", overloads, 2,
                                &a, 1);
    if (narrow == type)
        return cut;
    return is_signed ? mk_sext(u, cut, type) : mk_zext(u, cut, type);
}

static lv f32_to_f16(unit *u, lv a)
{
    lv half = u->l->BuildFPTrunc(u->b, a, mk_type_like(u, a, u->e->f16), "");
    lv bits = mk_zext(u, mk_bitcast(u, half, u->e->i16), u->e->i32);
    return mk_select(u, mk_fcmp(u, LLVMRealUNO, a, a), mk_k(u, bits, 0x7e00), bits);
}

static lv f32_to_bf16(unit *u, lv a)
{
    lv bits = mk_bitcast(u, a, u->e->i32), shift = mk_k(u, bits, 16);
    lv odd = mk_and(u, mk_lshr(u, bits, shift), mk_k(u, bits, 1));
    lv rounded = mk_add(u, bits, mk_add(u, odd, mk_k(u, bits, 0x7fff)));
    rounded = mk_lshr(u, rounded, shift);
    return mk_select(u, mk_fcmp(u, LLVMRealUNO, a, a), mk_k(u, bits, 0x7fc0), rounded);
}

static lv f16_to_f32(unit *u, lv a)
{
    lv half = mk_bitcast(u, mk_trunc(u, a, u->e->i16), u->e->f16);
    return u->l->BuildFPExt(u->b, half, mk_type_like(u, a, u->e->f32), "");
}

static lv float_to_float(unit *u, const ls__ir_inst *inst, lv a)
{
    if (inst->type == LS_TYPE_F64)
        return u->l->BuildFPExt(u->b, a, mk_type_like(u, a, u->e->f64), "");
    return u->l->BuildFPTrunc(u->b, a, mk_type_like(u, a, u->e->f32), "");
}

/* --- addresses -------------------------------------------------------------------------------- */

/* offset + index * stride, exact, or NOWHERE: in 128 bits, where the upper half of what fits in 64
 * is all sign. The stride is unsigned. */
static lv index_checked(unit *u, const ls__ir_inst *inst, lv offset, lv index)
{
    lv nowhere = mk_k(u, offset, (uint64_t)LS_NOWHERE), stride = mk_k(u, index, inst->imm);
    lv top = mk_k(u, index, 63);
    lv low = mk_mul(u, index, stride), high = mulhi(u, false, index, stride);
    high = mk_sub(u, high, mk_and(u, mk_ashr(u, index, top), stride));
    lv sum = mk_add(u, low, offset);
    lv carry = mk_zext(u, mk_icmp(u, LLVMIntULT, sum, low), u->e->i64);
    high = mk_add(u, mk_add(u, high, mk_ashr(u, offset, top)), carry);
    lv bad = mk_icmp(u, LLVMIntNE, high, mk_ashr(u, sum, top));
    bad = mk_or(u, bad, mk_icmp(u, LLVMIntEQ, offset, nowhere));
    if (inst->imm2 != 0)
        bad = mk_or(u, bad, mk_icmp(u, LLVMIntUGE, index, mk_k(u, index, inst->imm2)));
    return mk_select(u, bad, nowhere, sum);
}

static lv index_of(unit *u, const ls__ir_inst *inst, lv offset, lv index)
{
    if (!(inst->flags & LS__IR_NOWRAP))
        return index_checked(u, inst, offset, index);
    return mk_add(u, offset, mk_mul(u, index, mk_k(u, index, inst->imm)));
}

/* --- the table -------------------------------------------------------------------------------- */

static lv compare(unit *u, ls_op op, lv a, lv b)
{
    switch (op) {
    case LS_OP_EQ:
        return mk_icmp(u, LLVMIntEQ, a, b);
    case LS_OP_NE:
        return mk_icmp(u, LLVMIntNE, a, b);
    case LS_OP_SLT:
        return mk_icmp(u, LLVMIntSLT, a, b);
    case LS_OP_SLE:
        return mk_icmp(u, LLVMIntSLE, a, b);
    case LS_OP_ULT:
        return mk_icmp(u, LLVMIntULT, a, b);
    case LS_OP_ULE:
        return mk_icmp(u, LLVMIntULE, a, b);
    case LS_OP_FEQ:
        return mk_fcmp(u, LLVMRealOEQ, a, b);
    case LS_OP_FNE:
        return mk_fcmp(u, LLVMRealUNE, a, b);
    case LS_OP_FLT:
        return mk_fcmp(u, LLVMRealOLT, a, b);
    case LS_OP_FLE:
        return mk_fcmp(u, LLVMRealOLE, a, b);
    default:
        return NULL;
    }
}

static ls_type float_type_of(const unit *u, lv value)
{
    return u->l->GetTypeKind(mk_element(u, value)) == LLVMDoubleTypeKind ? LS_TYPE_F64
                                                                         : LS_TYPE_F32;
}

/* Two operands, a result of their type, no other attribute: also what reductions are made of. */
lv ls__llvm_combine(unit *u, ls_op op, lv a, lv b)
{
    static const char *const names[LS_OP_COUNT] = {
        [LS_OP_SMIN] = "llvm.smin",          [LS_OP_SMAX] = "llvm.smax",
        [LS_OP_UMIN] = "llvm.umin",          [LS_OP_UMAX] = "llvm.umax",
        [LS_OP_ADD_SAT_S] = "llvm.sadd.sat", [LS_OP_ADD_SAT_U] = "llvm.uadd.sat",
        [LS_OP_SUB_SAT_S] = "llvm.ssub.sat", [LS_OP_SUB_SAT_U] = "llvm.usub.sat"};
    if (names[op])
        return mk_intrinsic(u, names[op], a, b, NULL);
    switch (op) {
    case LS_OP_ADD:
        return mk_add(u, a, b);
    case LS_OP_SUB:
        return mk_sub(u, a, b);
    case LS_OP_MUL:
        return mk_mul(u, a, b);
    case LS_OP_AND:
        return mk_and(u, a, b);
    case LS_OP_OR:
        return mk_or(u, a, b);
    case LS_OP_XOR:
        return mk_xor(u, a, b);
    case LS_OP_SHL:
        return mk_shl(u, a, count_of(u, b));
    case LS_OP_LSHR:
        return mk_lshr(u, a, count_of(u, b));
    case LS_OP_ASHR:
        return mk_ashr(u, a, count_of(u, b));
    case LS_OP_ROTL:
        return mk_intrinsic(u, "llvm.fshl", a, a, b);
    case LS_OP_MULHI_S:
    case LS_OP_MULHI_U:
        return mulhi(u, op == LS_OP_MULHI_S, a, b);
    case LS_OP_FADD:
        return u->l->BuildFAdd(u->b, a, b, "");
    case LS_OP_FSUB:
        return u->l->BuildFSub(u->b, a, b, "");
    case LS_OP_FMUL:
        return u->l->BuildFMul(u->b, a, b, "");
    case LS_OP_FDIV:
        return u->l->BuildFDiv(u->b, a, b, "");
    case LS_OP_FMIN:
    case LS_OP_FMAX:
        return min_max(u, float_type_of(u, a), op == LS_OP_FMAX, a, b);
    default:
        return compare(u, op, a, b);
    }
}

static lv convert(unit *u, const ls__ir_inst *inst, ls_type from, lv a)
{
    lt type = ls__llvm_type(u, (ls_type)inst->type, false);
    switch ((ls_op)inst->op) {
    case LS_OP_SEXT:
        return mk_sext(u, a, u->e->i64);
    case LS_OP_ZEXT:
        return mk_zext(u, a, u->e->i64);
    case LS_OP_TRUNC:
        return mk_trunc(u, a, u->e->i32);
    case LS_OP_SEXT8:
    case LS_OP_ZEXT8:
        return low_bits(u, a, inst->op == LS_OP_SEXT8, 8);
    case LS_OP_SEXT16:
    case LS_OP_ZEXT16:
        return low_bits(u, a, inst->op == LS_OP_SEXT16, 16);
    case LS_OP_B2I:
        return mk_zext(u, a, u->e->i32);
    case LS_OP_S2F:
        return u->l->BuildSIToFP(u->b, a, mk_type_like(u, a, type), "");
    case LS_OP_U2F:
        return u->l->BuildUIToFP(u->b, a, mk_type_like(u, a, type), "");
    case LS_OP_F2S:
    case LS_OP_F2U:
        return float_to_int(u, inst, a);
    case LS_OP_F2F:
        return float_to_float(u, inst, a);
    case LS_OP_F16_TO_F32:
        return f16_to_f32(u, a);
    case LS_OP_F32_TO_F16:
        return f32_to_f16(u, a);
    case LS_OP_BF16_TO_F32:
        return mk_bitcast(u, mk_shl(u, a, mk_k(u, a, 16)), u->e->f32);
    case LS_OP_F32_TO_BF16:
        return f32_to_bf16(u, a);
    case LS_OP_FBITS:
        if (!ls__llvm_is_clean(u, inst->args[0], 0))
            return ls__llvm_canonical(u, from, a, true);
        return mk_bitcast(u, a, type);
    case LS_OP_FCANON:
        return ls__llvm_canonical(u, from, a, false);
    default: /* FRAWBITS, FFROM_BITS */
        return mk_bitcast(u, a, type);
    }
}

/* One operand and a result of its type. */
static lv unary(unit *u, ls_op op, lv a)
{
    static const char *const names[LS_OP_COUNT] = {
        [LS_OP_FSQRT] = "llvm.sqrt",    [LS_OP_FABS] = "llvm.fabs",
        [LS_OP_FFLOOR] = "llvm.floor",  [LS_OP_FCEIL] = "llvm.ceil",
        [LS_OP_FTRUNC] = "llvm.trunc",  [LS_OP_FRINT] = "llvm.roundeven",
        [LS_OP_POPCOUNT] = "llvm.ctpop"};
    if (names[op])
        return mk_intrinsic(u, names[op], a, NULL, NULL);
    switch (op) {
    case LS_OP_NOT:
        return mk_not(u, a);
    case LS_OP_FNEG:
        return u->l->BuildFNeg(u->b, a, "");
    case LS_OP_CLZ:
        return leading_zeros(u, "llvm.ctlz", a);
    case LS_OP_CTZ:
        return leading_zeros(u, "llvm.cttz", a);
    default:
        return NULL;
    }
}

lv ls__llvm_arith(unit *u, const ls__ir_inst *inst, const lv *args)
{
    ls_type from = inst->arg_count ? ls__ir_type_of(u->function, inst->args[0]) : LS_TYPE_VOID;
    lv result;
    switch ((ls_op)inst->op) {
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
        return divide(u, inst, args[0], args[1]);
    case LS_OP_DOT4_SS:
    case LS_OP_DOT4_US:
        return ls__llvm_dot4(u, inst, args);
    case LS_OP_FMA:
        return mk_intrinsic(u, "llvm.fma", args[0], args[1], args[2]);
    case LS_OP_SELECT:
        return mk_select(u, args[0], args[1], args[2]);
    case LS_OP_INDEX:
        return index_of(u, inst, args[0], args[1]);
    default:
        break;
    }
    result = inst->arg_count == 2 ? ls__llvm_combine(u, (ls_op)inst->op, args[0], args[1])
                                  : unary(u, (ls_op)inst->op, args[0]);
    return result ? result : convert(u, inst, from, args[0]);
}
