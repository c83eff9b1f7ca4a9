/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_fma: fma(a, b, c) on integers, with its one rounding.
 *
 * needs: nothing. keeps: values (any NaN may come out as another). breaks: nothing; leaves clz and
 * mulhi_u to lower_integer.
 *
 * Product and addend are pairs of words with spare bits at the top, so that both have the same
 * scale when their exponents are equal; the one with the smaller exponent is shifted down, with
 * what falls out kept in the lowest ("sticky") bit. The pair has at least 14 bits below the product
 * and far more below the addend; only when the exponents differ by less than that can leading bits
 * cancel, and then nothing was lost. Straight-line code: its size is about 200 instructions each.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

typedef struct pair {
    val high, low;
} pair;

static pair pair_choose(at c, val condition, pair yes, pair no)
{
    return (pair){choose(c, condition, yes.high, no.high), choose(c, condition, yes.low, no.low)};
}

static pair pair_add(at c, pair a, pair b)
{
    val low = add(c, a.low, b.low);
    val carry = flag(c, low, ult(c, low, a.low));
    return (pair){add(c, add(c, a.high, b.high), carry), low};
}

static pair pair_sub(at c, pair a, pair b)
{
    val borrow = flag(c, a.low, ult(c, a.low, b.low));
    return (pair){sub(c, sub(c, a.high, b.high), borrow), sub(c, a.low, b.low)};
}

static val pair_less(at c, pair a, pair b)
{
    val low_less = and_(c, eq(c, a.high, b.high), ult(c, a.low, b.low));
    return or_(c, ult(c, a.high, b.high), low_less);
}

/* Shift left by 0 <= count < 2 words. */
static pair pair_shl(at c, uint32_t word_bits, pair a, val count)
{
    val zero = k(c, count, 0);
    val is_whole_word = ule(c, k(c, count, word_bits), count);
    val within = and_k(c, count, word_bits - 1);
    /* lshr by (width - within) would be lshr by 0 for within = 0: shift in two steps. */
    val carried = lshr(c, lshr_k(c, a.low, 1), sub(c, k(c, count, word_bits - 1), within));
    val low = shl(c, a.low, within);
    val high = or_(c, shl(c, a.high, within), carried);
    return (pair){choose(c, is_whole_word, low, high), choose(c, is_whole_word, zero, low)};
}

/* Shift right by any count >= 0, sticky. */
static pair pair_shr_sticky(at c, uint32_t word_bits, pair a, val count)
{
    val zero = k(c, count, 0);
    val bounded = umin(c, count, k(c, count, 2 * word_bits - 1));
    val is_whole_word = ule(c, k(c, count, word_bits), bounded);
    val within = and_k(c, bounded, word_bits - 1);
    /* First by a word, if it is one: then by what is left. */
    val high = choose(c, is_whole_word, zero, a.high);
    val low = choose(c, is_whole_word, a.high, a.low);
    val dropped = choose(c, is_whole_word, a.low, zero);
    val carried = shl(c, shl_k(c, high, 1), sub(c, k(c, count, word_bits - 1), within));
    val new_low = or_(c, lshr(c, low, within), carried);
    val kept = shl(c, lshr(c, low, within), within);
    val lost = or_(c, ne(c, dropped, zero), ne(c, kept, low));
    return (pair){lshr(c, high, within), or_(c, new_low, flag(c, count, lost))};
}

/* The exact product of two significands, shifted so that two or three bits above it are free. */
static pair product(at c, const ls__format *format, val a, val b)
{
    pair p = {mulhi_u(c, a, b), mul(c, a, b)};
    uint32_t shift = 2 * format->word_bits - 4 - 2 * format->mantissa;
    val carried = lshr_k(c, p.low, format->word_bits - shift);
    return (pair){or_(c, shl_k(c, p.high, shift), carried), shl_k(c, p.low, shift)};
}

/* Infinities and NaNs; `result` serves when there are none. */
static val special_cases(at c, const ls__format *format, const ls__parts x[3], val sign, val result)
{
    val infinity = k(c, sign, ls__format_infinity(format));
    val product_infinite = or_(c, x[0].is_infinite, x[1].is_infinite);
    val zero_times_infinity =
        or_(c, and_(c, x[0].is_zero, x[1].is_infinite), and_(c, x[1].is_zero, x[0].is_infinite));
    val opposed = and_(c, and_(c, product_infinite, x[2].is_infinite), ne(c, sign, x[2].sign));
    val is_nan = or_(c, or_(c, x[0].is_nan, x[1].is_nan), x[2].is_nan);
    is_nan = or_(c, is_nan, or_(c, zero_times_infinity, opposed));
    result = choose(c, x[2].is_infinite, x[2].bits, result);
    result = choose(c, product_infinite, or_(c, sign, infinity), result);
    return choose(c, is_nan, k(c, sign, ls__format_nan(format)), result);
}

static val fused(at c, const ls__format *format, const val bits[3])
{
    uint32_t word_bits = format->word_bits;
    ls__parts x[3];
    for (int i = 0; i < 3; i++)
        x[i] = ls__lower_unpack(c, format, bits[i]);
    val sign = xor_(c, x[0].sign, x[1].sign);
    val zero = k(c, sign, 0);

    /* Both terms as pairs; the exponent of a zero is far below every other. */
    val far_below = k(c, sign, 0 - (UINT64_C(4) << format->exponent));
    pair p = product(c, format, x[0].significand, x[1].significand);
    val p_zero = or_(c, x[0].is_zero, x[1].is_zero);
    val p_exponent = choose(c, p_zero, far_below, add(c, x[0].exponent, x[1].exponent));
    pair s = {shl_k(c, x[2].significand, word_bits - 4 - format->mantissa), zero};
    val s_exponent = choose(c, x[2].is_zero, far_below, x[2].exponent);

    val distance = sub(c, p_exponent, s_exponent);
    val p_higher = sle(c, zero, distance);
    val exponent = choose(c, p_higher, p_exponent, s_exponent);
    val p_down = choose(c, p_higher, zero, neg(c, distance));
    val s_down = choose(c, p_higher, distance, zero);
    p = pair_shr_sticky(c, word_bits, p, p_down);
    s = pair_shr_sticky(c, word_bits, s, s_down);

    /* Sum, or the difference of the larger and the smaller. */
    val same_sign = eq(c, sign, x[2].sign);
    val p_less = pair_less(c, p, s);
    pair larger = pair_choose(c, p_less, s, p), smaller = pair_choose(c, p_less, p, s);
    pair difference = pair_sub(c, larger, smaller);
    pair sum = pair_choose(c, same_sign, pair_add(c, p, s), difference);
    val sum_sign = choose(c, p_less, x[2].sign, sign);
    val is_zero = eq(c, or_(c, sum.high, sum.low), zero);

    /* The leading bit goes to the top; what is in the low word only matters as sticky. */
    val high_zero = eq(c, sum.high, zero);
    val leading = choose(c, high_zero, add_k(c, clz(c, sum.low), word_bits), clz(c, sum.high));
    sum = pair_shl(c, word_bits, sum, and_k(c, leading, 2 * word_bits - 1));
    val significand = or_(c, sum.high, flag(c, zero, ne(c, sum.low, zero)));
    val result_exponent = sub(c, add_k(c, exponent, 3), leading);
    val rounded = ls__lower_pack(c, format, sum_sign, result_exponent, significand);
    /* An exact zero is +0 unless both terms are -0. */
    val result = choose(c, is_zero, choose(c, same_sign, sign, zero), rounded);
    return special_cases(c, format, x, sign, result);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    if (inst->op != LS_OP_FMA)
        return (val){0};
    const ls__format *format = ls__format_of((ls_type)inst->type);
    val bits[3];
    for (int i = 0; i < 3; i++)
        bits[i] = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[i]);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, (ls_type)inst->type, fused(c, format, bits));
}

bool ls__pass_lower_fma(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
