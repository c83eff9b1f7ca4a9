/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_convert: conversions between integers and floats and between float formats, on integers.
 *
 * needs: nothing. keeps: values (any NaN may come out as another where the contract allows it).
 * breaks: nothing; leaves clz to lower_integer.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

/* --- integer to float ------------------------------------------------------------------------ */

/* The upper word of a 64-bit significand, the lower one folded into its sticky bit. */
static val narrow_sticky(at c, val wide)
{
    val high = trunc_(c, lshr_k(c, wide, 32));
    val lost = ne(c, trunc_(c, wide), k32(c, 0));
    return or_(c, high, flag(c, high, lost));
}

static val from_integer(at c, const ls__format *format, val a, bool is_signed)
{
    val zero = k(c, a, 0);
    val is_negative = is_signed ? slt(c, a, zero) : ls__ir_const_bool(c, false);
    val magnitude = is_signed ? choose(c, is_negative, neg(c, a), a) : a;
    bool narrows = ls__ir_type_of(c->function, a) == LS_TYPE_I64 && format->word == LS_TYPE_I32;
    if (ls__ir_type_of(c->function, a) == LS_TYPE_I32 && format->word == LS_TYPE_I64)
        magnitude = zext(c, magnitude);

    val shift = clz(c, magnitude);
    val exponent = sub(c, k(c, shift, narrows ? 63 : format->word_bits - 1), shift);
    val significand = shl(c, magnitude, shift);
    if (narrows) {
        significand = narrow_sticky(c, significand);
        exponent = trunc_(c, exponent);
    }
    val none = k(c, significand, 0);
    val sign = choose(c, is_negative, k(c, significand, ls__format_sign(format)), none);
    val packed = ls__lower_pack(c, format, sign, exponent, significand);
    return choose(c, eq(c, a, zero), none, packed);
}

/* --- float to integer ------------------------------------------------------------------------ */

static val to_integer(at c, const ls__format *format, ls_type result, uint32_t bits, val a,
                      bool is_signed)
{
    ls__parts p = ls__lower_unpack(c, format, a);
    val significand = p.significand, exponent = p.exponent;
    if (result == LS_TYPE_I64 && format->word == LS_TYPE_I32) {
        significand = zext(c, significand);
        exponent = sext(c, exponent);
    }
    /* |value| when it is at least 1 and below 2^bits; both shifts stay below the width. */
    val mantissa = k(c, exponent, format->mantissa);
    val up = shl(c, significand, sub(c, exponent, mantissa));
    val down = lshr(c, significand, sub(c, mantissa, exponent));
    val magnitude = choose(c, sle(c, mantissa, exponent), up, down);
    val zero = k(c, magnitude, 0);
    val is_fraction = or_(c, slt(c, exponent, zero), p.is_zero);
    magnitude = choose(c, is_fraction, zero, magnitude);

    val is_negative = ne(c, p.sign, k(c, p.sign, 0));
    uint64_t ones = UINT64_MAX >> (64 - bits), limit = is_signed ? ones >> 1 : ones;
    val too_large = sle(c, k(c, exponent, is_signed ? bits - 1 : bits), exponent);
    too_large = or_(c, p.is_infinite, and_(c, too_large, not_(c, p.is_zero)));
    val saturated = k(c, magnitude, limit);
    if (is_signed) {
        saturated = choose(c, is_negative, k(c, magnitude, ~limit), saturated);
        magnitude = choose(c, is_negative, neg(c, magnitude), magnitude);
    }
    val value = choose(c, too_large, saturated, magnitude);
    if (!is_signed)
        value = choose(c, is_negative, zero, value);
    value = choose(c, p.is_nan, zero, value);
    if (result == LS_TYPE_I32 && format->word == LS_TYPE_I64)
        value = trunc_(c, value);
    return value;
}

/* --- between float formats ------------------------------------------------------------------- */

/* Rounds to a narrower format. The parts are those of `from`. */
static val narrow(at c, const ls__format *from, const ls__format *to, val bits)
{
    ls__parts p = ls__lower_unpack(c, from, bits);
    val significand = shl_k(c, p.significand, from->word_bits - 1 - from->mantissa);
    val exponent = p.exponent;
    bool halves = from->word_bits != to->word_bits;
    if (halves) {
        significand = narrow_sticky(c, significand);
        exponent = trunc_(c, exponent);
    }
    uint32_t down = from->mantissa + from->exponent - to->mantissa - to->exponent;
    val sign = lshr_k(c, p.sign, down); /* a sign in place moves to its new place */
    if (halves)
        sign = trunc_(c, sign);
    val result = ls__lower_pack(c, to, sign, exponent, significand);
    result = choose(c, p.is_zero, sign, result);
    val infinity = or_(c, sign, k(c, sign, ls__format_infinity(to)));
    result = choose(c, p.is_infinite, infinity, result);
    return choose(c, p.is_nan, k(c, sign, ls__format_nan(to)), result);
}

/* Exact: subnormals of the narrow format are normal in the wide one. `bits` has nothing above the
 * format's sign. */
static val widen(at c, const ls__format *from, const ls__format *to, val bits)
{
    ls__parts p = ls__lower_unpack(c, from, bits);
    bool doubles = from->word_bits != to->word_bits;
    val significand = doubles ? zext(c, p.significand) : p.significand;
    val exponent = doubles ? sext(c, p.exponent) : p.exponent;
    val sign = doubles ? zext(c, p.sign) : p.sign;
    uint32_t up = to->mantissa + to->exponent - from->mantissa - from->exponent;
    sign = shl_k(c, sign, up);
    /* The leading bit adds one to the exponent field. */
    val field = add_k(c, exponent, (uint64_t)(int64_t)(ls__format_bias(to) - 1));
    val fraction = shl_k(c, significand, to->mantissa - from->mantissa);
    val result = or_(c, sign, add(c, shl_k(c, field, to->mantissa), fraction));
    result = choose(c, p.is_zero, sign, result);
    val infinity = or_(c, sign, k(c, sign, ls__format_infinity(to)));
    result = choose(c, p.is_infinite, infinity, result);
    return choose(c, p.is_nan, k(c, sign, ls__format_nan(to)), result);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    ls_type type = (ls_type)inst->type;
    if (inst->arg_count == 0)
        return (val){0};
    val a = inst->args[0];
    ls_type from = ls__ir_type_of(c->function, a);
    const ls__format *in = ls__format_of(from), *out = ls__format_of(type);
    val result;
    switch ((ls_op)inst->op) {
    case LS_OP_S2F:
    case LS_OP_U2F:
        result = from_integer(c, out, a, inst->op == LS_OP_S2F);
        break;
    case LS_OP_F2S:
    case LS_OP_F2U:
        a = ls__ir_convert(c, LS_OP_FRAWBITS, in->word, a);
        return to_integer(c, in, type, (uint32_t)inst->imm, a, inst->op == LS_OP_F2S);
    case LS_OP_F2F:
        if (from == type)
            return a;
        a = ls__ir_convert(c, LS_OP_FRAWBITS, in->word, a);
        result = from == LS_TYPE_F32 ? widen(c, in, out, a) : narrow(c, in, out, a);
        break;
    case LS_OP_F16_TO_F32:
        result = widen(c, &ls__format_f16, out, and_k(c, a, 0xffff));
        break;
    case LS_OP_BF16_TO_F32:
        result = shl_k(c, a, 16);
        break;
    case LS_OP_F32_TO_F16:
    case LS_OP_F32_TO_BF16:
        a = ls__ir_convert(c, LS_OP_FRAWBITS, in->word, a);
        return narrow(c, in, inst->op == LS_OP_F32_TO_F16 ? &ls__format_f16 : &ls__format_bf16, a);
    default:
        return (val){0};
    }
    return ls__ir_convert(c, LS_OP_FFROM_BITS, type, result);
}

bool ls__pass_lower_convert(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
