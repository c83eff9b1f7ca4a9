/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions. Those between integers and floats are the driver's, within the range where SPIR-V
 * defines them; what is outside is chosen by comparison. The 16-bit formats are integers all the
 * way, since packing instructions round as the driver likes.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

typedef struct conversion {
    const ls__ir_inst *inst;
    ref a;
    ls_type from;
    uint32_t from_bits, to_bits;
    ref type; /* of the result */
} conversion;

static ref word(unit *u, SpvOp op, ref a, ref b)
{
    return mk(u, op, ls__spirv_int(u, 32), a, b);
}

/* With a constant. */
static ref word_k(unit *u, SpvOp op, ref a, uint32_t k)
{
    ref b = ls__spirv_u32(u, k);
    return word(u, op, a, b);
}

static ref test_k(unit *u, SpvOp op, ref a, uint32_t k)
{
    ref b = ls__spirv_u32(u, k);
    return mk(u, op, ls__spirv_bool(u), a, b);
}

static ref choose(unit *u, ref type, ref condition, ref yes, ref no)
{
    return mk(u, SpvOpSelect, type, condition, yes, no);
}

/* --- float to integer --------------------------------------------------------------------------
 */

/* 2^exponent as a float of `bits`. */
static ref power(unit *u, uint32_t bits, uint32_t exponent, bool is_negative)
{
    uint64_t sign = is_negative ? UINT64_C(1) << (bits - 1) : 0;
    uint64_t value =
        bits == 64 ? (uint64_t)(1023 + exponent) << 52 : (uint64_t)(127 + exponent) << 23;
    return ls__spirv_float_const(u, bits, sign | value);
}

/* The operand is hidden: lavapipe gives back the integer that a float was made of, though that was
 * rounded, unless the operations are decorated as well. */
static ref to_signed(unit *u, const conversion *c)
{
    uint32_t bits = (uint32_t)c->inst->imm;
    uint64_t limit = UINT64_C(1) << (bits - 1);
    ref low = power(u, c->from_bits, bits - 1, true),
        high = power(u, c->from_bits, bits - 1, false);
    ref seen = ls__spirv_hidden(u, c->from, c->a);
    ref result = ls__spirv_exact(u, mk(u, SpvOpConvertFToS, c->type, seen));
    ref below = ls__spirv_compare(u, LS_OP_FLT, c->from_bits, c->a, low);
    ref above = ls__spirv_compare(u, LS_OP_FLE, c->from_bits, high, c->a);
    ref is_nan = ls__spirv_is_nan(u, c->from_bits, c->a);
    result = choose(u, c->type, above, ls__spirv_int_const(u, c->to_bits, limit - 1), result);
    result = choose(u, c->type, below, ls__spirv_int_const(u, c->to_bits, ~limit + 1), result);
    return choose(u, c->type, is_nan, ls__spirv_int_const(u, c->to_bits, 0), result);
}

static ref to_unsigned(unit *u, const conversion *c)
{
    uint32_t bits = (uint32_t)c->inst->imm;
    uint64_t largest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    ref one = power(u, c->from_bits, 0, false), high = power(u, c->from_bits, bits, false);
    ref seen = ls__spirv_hidden(u, c->from, c->a);
    ref result = ls__spirv_exact(u, mk(u, SpvOpConvertFToU, c->type, seen));
    /* False for fractions, what is negative, and NaN: all are 0. */
    ref counts = ls__spirv_compare(u, LS_OP_FLE, c->from_bits, one, c->a);
    ref above = ls__spirv_compare(u, LS_OP_FLE, c->from_bits, high, c->a);
    result = choose(u, c->type, above, ls__spirv_int_const(u, c->to_bits, largest), result);
    return choose(u, c->type, counts, result, ls__spirv_int_const(u, c->to_bits, 0));
}

/* --- 16-bit formats ----------------------------------------------------------------------------
 */

static ref f32_of(unit *u, ref bits)
{
    return mk(u, SpvOpBitcast, ls__spirv_float(u, 32), bits);
}

static ref bits_of(unit *u, ref f32)
{
    return mk(u, SpvOpBitcast, ls__spirv_int(u, 32), f32);
}

/* Subnormals are their fraction times 2^-24, which is exact and normal. */
static ref from_f16(unit *u, ref half)
{
    ref t = ls__spirv_int(u, 32), f = ls__spirv_float(u, 32);
    ref sign = word_k(u, SpvOpShiftLeftLogical, word_k(u, SpvOpBitwiseAnd, half, 0x8000), 16);
    ref magnitude = word_k(u, SpvOpBitwiseAnd, half, 0x7fff);
    ref moved = word_k(u, SpvOpShiftLeftLogical, magnitude, 13);
    ref normal = word_k(u, SpvOpIAdd, moved, (127 - 15) << 23);
    ref special = word_k(u, SpvOpIAdd, moved, (255 - 31) << 23);
    ref fraction = mk(u, SpvOpConvertUToF, f, magnitude);
    ref scale = ls__spirv_float_const(u, 32, (127 - 24) << 23);
    ref scaled = ls__spirv_exact(u, mk(u, SpvOpFMul, f, fraction, scale));
    ref subnormal = bits_of(u, scaled);
    ref is_small = test_k(u, SpvOpULessThan, magnitude, 0x0400);
    ref is_special = test_k(u, SpvOpUGreaterThanEqual, magnitude, 0x7c00);
    ref result = choose(u, t, is_special, special, normal);
    result = choose(u, t, is_small, subnormal, result);
    result = word(u, SpvOpBitwiseOr, result, sign);
    return f32_of(u, word(u, SpvOpBitwiseOr, result, ls__spirv_zero(u, 32)));
}

/* value >> count, to nearest even; value < 2^24, 1 <= count <= 31. */
static ref shift_rounding(unit *u, ref value, ref count)
{
    ref one = ls__spirv_u32(u, 1);
    ref half = word(u, SpvOpShiftLeftLogical, one, word_k(u, SpvOpISub, count, 1));
    ref odd = word_k(u, SpvOpBitwiseAnd, word(u, SpvOpShiftRightLogical, value, count), 1);
    ref sum = word(u, SpvOpIAdd, value, word_k(u, SpvOpISub, half, 1));
    sum = word(u, SpvOpIAdd, sum, odd);
    return word(u, SpvOpShiftRightLogical, sum, count);
}

static ref to_f16(unit *u, ref f32)
{
    ref t = ls__spirv_int(u, 32), bits = bits_of(u, f32);
    ref sign = word_k(u, SpvOpBitwiseAnd, word_k(u, SpvOpShiftRightLogical, bits, 16), 0x8000);
    ref magnitude = word_k(u, SpvOpBitwiseAnd, bits, 0x7fffffff);
    /* Normal: the exponent moves, 13 bits of the fraction go; a carry runs into the exponent. */
    ref moved = word_k(u, SpvOpISub, magnitude, (127 - 15) << 23);
    ref normal = shift_rounding(u, moved, ls__spirv_u32(u, 13));
    normal = mk_glsl(u, GLSLstd450UMin, t, normal, ls__spirv_u32(u, 0x7c00));
    /* Subnormal: the significand in units of 2^-24. */
    ref exponent = word_k(u, SpvOpShiftRightLogical, magnitude, 23);
    ref fraction = word_k(u, SpvOpBitwiseAnd, magnitude, 0x7fffff);
    ref significand = word_k(u, SpvOpBitwiseOr, fraction, 0x800000);
    ref count = word(u, SpvOpISub, ls__spirv_u32(u, 126), exponent);
    count = mk_glsl(u, GLSLstd450UMin, t, count, ls__spirv_u32(u, 31));
    ref subnormal = shift_rounding(u, significand, count);
    ref is_small = test_k(u, SpvOpULessThan, magnitude, (127 - 14) << 23);
    ref is_nan = test_k(u, SpvOpUGreaterThan, magnitude, 0x7f800000);
    ref result = choose(u, t, is_small, subnormal, normal);
    result = word(u, SpvOpBitwiseOr, result, sign);
    return choose(u, t, is_nan, ls__spirv_u32(u, 0x7e00), result);
}

static ref to_bf16(unit *u, ref f32)
{
    ref t = ls__spirv_int(u, 32), bits = bits_of(u, f32);
    ref odd = word_k(u, SpvOpBitwiseAnd, word_k(u, SpvOpShiftRightLogical, bits, 16), 1);
    ref sum = word(u, SpvOpIAdd, word_k(u, SpvOpIAdd, bits, 0x7fff), odd);
    ref rounded = word_k(u, SpvOpShiftRightLogical, sum, 16);
    ref is_nan = ls__spirv_is_nan(u, 32, f32);
    return choose(u, t, is_nan, ls__spirv_u32(u, 0x7fc0), rounded);
}

/* --- bits --------------------------------------------------------------------------------------
 */

/* A zero that is known as an integer must not become a float that is known. */
static ref from_bits(unit *u, const conversion *c)
{
    const ls__ir_inst *known = ls__ir_def(u->f.function, c->inst->args[0]);
    ref bits = c->a;
    if (known->op == LS_OP_CONST)
        return ls__spirv_float_value(u, c->from_bits, known->imm);
    if (!ls__spirv_is_loaded(u, c->inst->args[0]))
        bits = ls__spirv_hidden(u, c->from, bits);
    return mk(u, SpvOpBitcast, c->type, bits);
}

ref ls__spirv_convert(unit *u, const ls__ir_inst *inst)
{
    conversion c = {
        .inst = inst,
        .a = ls__spirv_value(u, inst->args[0]),
        .from = ls__ir_operand_type(u->f.function, inst),
        .to_bits = ls__spirv_bits((ls_type)inst->type),
        .type = ls__spirv_type(u, (ls_type)inst->type),
    };
    c.from_bits = ls__spirv_bits(c.from);
    switch ((ls_op)inst->op) {
    case LS_OP_SEXT:
        return mk(u, SpvOpSConvert, c.type, c.a);
    case LS_OP_ZEXT:
    case LS_OP_TRUNC:
        return mk(u, SpvOpUConvert, c.type, c.a);
    case LS_OP_B2I: {
        ref one = ls__spirv_u32(u, 1), zero = ls__spirv_u32(u, 0);
        return choose(u, c.type, c.a, one, zero);
    }
    case LS_OP_S2F:
        return ls__spirv_exact(u, mk(u, SpvOpConvertSToF, c.type, c.a));
    case LS_OP_U2F:
        return ls__spirv_exact(u, mk(u, SpvOpConvertUToF, c.type, c.a));
    case LS_OP_F2S:
        return to_signed(u, &c);
    case LS_OP_F2U:
        return to_unsigned(u, &c);
    case LS_OP_F2F:
        return ls__spirv_exact(u, mk(u, SpvOpFConvert, c.type, c.a));
    case LS_OP_F16_TO_F32:
        return from_f16(u, c.a);
    case LS_OP_BF16_TO_F32: {
        ref high = word_k(u, SpvOpShiftLeftLogical, c.a, 16);
        return f32_of(u, word(u, SpvOpBitwiseOr, high, ls__spirv_zero(u, 32)));
    }
    case LS_OP_F32_TO_F16:
        return to_f16(u, c.a);
    case LS_OP_F32_TO_BF16:
        return to_bf16(u, c.a);
    case LS_OP_FRAWBITS:
        return mk(u, SpvOpBitcast, c.type, c.a);
    default: /* ffrom_bits */
        return from_bits(u, &c);
    }
}
