/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_round: ffloor, fceil, ftrunc and frint by masking bits.
 *
 * needs: nothing. keeps: values (any NaN may come out as another). breaks: nothing.
 *
 * The magnitude of a float is an integer in which adding to the fraction carries into the exponent
 * as it should, so rounding away from zero is: add something to the fraction, then cut the fraction
 * off. Magnitudes below 1 have no integral part to carry into and are chosen apart.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static val round_bits(at c, const ls__format *format, ls_op op, val bits)
{
    uint32_t m = format->mantissa;
    val zero = k(c, bits, 0), one = k(c, bits, 1);
    uint64_t one_bits = (uint64_t)ls__format_bias(format) << m; /* 1.0 */
    val sign = and_k(c, bits, ls__format_sign(format));
    val magnitude = and_k(c, bits, ls__format_sign(format) - 1);
    val is_negative = ne(c, sign, zero);

    /* `count` bits of the mantissa are fraction; the clamp serves magnitudes decided below. */
    val field = lshr_k(c, magnitude, m);
    val count = sub(c, k(c, bits, (uint64_t)(uint32_t)ls__format_bias(format) + m), field);
    count = smin(c, smax(c, count, one), k(c, bits, m));
    val fraction_mask = sub(c, shl(c, one, count), one);
    val is_small = ult(c, magnitude, k(c, bits, one_bits));
    val is_nonzero = ne(c, magnitude, zero);

    val addend, small; /* what is added to the fraction; the result for magnitudes below 1 */
    val away_small = choose(c, is_nonzero, k(c, bits, one_bits), zero);
    switch (op) {
    case LS_OP_FFLOOR:
        addend = choose(c, is_negative, fraction_mask, zero);
        small = choose(c, is_negative, away_small, zero);
        break;
    case LS_OP_FCEIL:
        addend = choose(c, is_negative, zero, fraction_mask);
        small = choose(c, is_negative, zero, away_small);
        break;
    case LS_OP_FTRUNC:
        addend = zero;
        small = zero;
        break;
    default: { /* FRINT: just below half, or exactly half when the integral part is odd */
        val odd = and_(c, lshr(c, magnitude, count), one);
        addend = add(c, lshr_k(c, fraction_mask, 1), odd);
        /* Above one half: 1. One half itself goes to the even 0. */
        val half = k(c, bits, one_bits - (UINT64_C(1) << m));
        small = choose(c, ult(c, half, magnitude), k(c, bits, one_bits), zero);
        break;
    }
    }
    val rounded = and_(c, add(c, magnitude, addend), not_(c, fraction_mask));
    val result = or_(c, choose(c, is_small, small, rounded), sign);
    /* From 2^mantissa on all numbers are integral; infinities and NaNs stay as well. */
    uint64_t integral = one_bits + ((uint64_t)m << m);
    return choose(c, ule(c, k(c, bits, integral), magnitude), bits, result);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    ls_op op = (ls_op)inst->op;
    if (op != LS_OP_FFLOOR && op != LS_OP_FCEIL && op != LS_OP_FTRUNC && op != LS_OP_FRINT)
        return (val){0};
    const ls__format *format = ls__format_of((ls_type)inst->type);
    val bits = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[0]);
    bits = round_bits(c, format, op, bits);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, (ls_type)inst->type, bits);
}

bool ls__pass_lower_round(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
