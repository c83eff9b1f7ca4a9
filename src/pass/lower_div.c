/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_div: fdiv on integers, correctly rounded.
 *
 * needs: nothing. keeps: values (any NaN may come out as another). breaks: nothing; leaves clz to
 * lower_integer.
 *
 * The quotient of the significands is found bit by bit in a short counted loop (26 trips for f32,
 * 55 for f64): two bits more than the format keeps, and a sticky bit for the remainder.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

/* floor(2^(bits - 1) * a / b) for b <= a < 2b, with the sticky bit appended below it. */
static val quotient(at c, val a, val b, uint32_t bits)
{
    ls_type type = ls__ir_type_of(c->function, a);
    ls_var rest = ls__ir_var_add(c->function, "div.rest", type);
    ls_var result = ls__ir_var_add(c->function, "div.quotient", type);
    ls_var trip = ls__ir_var_add(c->function, "div.trip", LS_TYPE_I32);
    ls__ir_set(c, rest, a);
    ls__ir_set(c, result, k(c, a, 0));
    ls__ir_set(c, trip, k32(c, 0));

    ls__ir_inst *loop = ls__ir_loop(c);
    ls__ir_cursor body = {c->function, loop->regions[0], NULL, c->loc};
    ls__ir_cursor step = {c->function, loop->regions[1], NULL, c->loc};
    val left = ls__ir_get(&body, rest);
    val goes = ule(&body, b, left);
    val less = sub(&body, left, choose(&body, goes, b, k(&body, b, 0)));
    ls__ir_set(&body, rest, shl_k(&body, less, 1));
    val so_far = shl_k(&body, ls__ir_get(&body, result), 1);
    ls__ir_set(&body, result, or_(&body, so_far, flag(&body, so_far, goes)));
    val next = add_k(&step, ls__ir_get(&step, trip), 1);
    ls__ir_set(&step, trip, next);
    ls__ir_insert(&step, LS_OP_WHILE, LS_TYPE_VOID, (val[]){ult(&step, next, k32(&step, bits))}, 1);

    val exact = eq(c, ls__ir_get(c, rest), k(c, a, 0));
    return or_(c, shl_k(c, ls__ir_get(c, result), 1), flag(c, a, not_(c, exact)));
}

static val divide(at c, const ls__format *format, val a_bits, val b_bits)
{
    ls__parts a = ls__lower_unpack(c, format, a_bits), b = ls__lower_unpack(c, format, b_bits);
    val sign = xor_(c, a.sign, b.sign);
    /* With a's significand at least b's the quotient starts with its leading bit. A zero divisor is
     * replaced by any number: that case is decided below. */
    val is_less = ult(c, a.significand, b.significand);
    val dividend = choose(c, is_less, shl_k(c, a.significand, 1), a.significand);
    val exponent = sub(c, a.exponent, b.exponent);
    exponent = choose(c, is_less, add_k(c, exponent, UINT64_MAX), exponent);

    uint32_t bits = format->mantissa + 3;
    val q = quotient(c, dividend, b.significand, bits);
    val top = shl_k(c, q, format->word_bits - bits - 1);
    val result = ls__lower_pack(c, format, sign, exponent, top);

    val signed_infinity = or_(c, sign, k(c, sign, ls__format_infinity(format)));
    result = choose(c, or_(c, a.is_zero, b.is_infinite), sign, result);
    result = choose(c, or_(c, b.is_zero, a.is_infinite), signed_infinity, result);
    val both_zero = and_(c, a.is_zero, b.is_zero);
    val both_infinite = and_(c, a.is_infinite, b.is_infinite);
    val is_nan = or_(c, or_(c, a.is_nan, b.is_nan), or_(c, both_zero, both_infinite));
    return choose(c, is_nan, k(c, sign, ls__format_nan(format)), result);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    if (inst->op != LS_OP_FDIV)
        return (val){0};
    const ls__format *format = ls__format_of((ls_type)inst->type);
    val a = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[0]);
    val b = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[1]);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, (ls_type)inst->type, divide(c, format, a, b));
}

bool ls__pass_lower_div(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
