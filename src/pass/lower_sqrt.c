/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_sqrt: fsqrt on integers, correctly rounded.
 *
 * needs: nothing. keeps: values (any NaN may come out as another). breaks: nothing; leaves clz to
 * lower_integer.
 *
 * The root is found digit by digit, as on paper but in binary: two bits of the operand come down,
 * one bit of the root goes up. 26 trips for f32, 55 for f64; a sticky bit stands for the remainder.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

/* The first `bits` bits of the root of `operand`, read as a number in [1, 4) whose integer part is
 * the top two bits of the word; with the sticky bit appended below. */
static val root_of(at c, val operand, uint32_t word_bits, uint32_t bits)
{
    ls_type type = ls__ir_type_of(c->function, operand);
    ls_var rest = ls__ir_var_add(c->function, "sqrt.rest", type);
    ls_var digits = ls__ir_var_add(c->function, "sqrt.digits", type);
    ls_var root = ls__ir_var_add(c->function, "sqrt.root", type);
    ls_var trip = ls__ir_var_add(c->function, "sqrt.trip", LS_TYPE_I32);
    ls__ir_set(c, rest, k(c, operand, 0));
    ls__ir_set(c, digits, operand);
    ls__ir_set(c, root, k(c, operand, 0));
    ls__ir_set(c, trip, k32(c, 0));

    ls__ir_inst *loop = ls__ir_loop(c);
    ls__ir_cursor body = {c->function, loop->regions[0], NULL, c->loc};
    ls__ir_cursor step = {c->function, loop->regions[1], NULL, c->loc};
    at b = &body;
    val coming = ls__ir_get(b, digits);
    val left = or_(b, shl_k(b, ls__ir_get(b, rest), 2), lshr_k(b, coming, word_bits - 2));
    val so_far = ls__ir_get(b, root);
    val trial = or_(b, shl_k(b, so_far, 2), k(b, so_far, 1)); /* (2r + 1)^2 - (2r)^2 */
    val goes = ule(b, trial, left);
    ls__ir_set(b, rest, sub(b, left, choose(b, goes, trial, k(b, trial, 0))));
    ls__ir_set(b, root, or_(b, shl_k(b, so_far, 1), flag(b, so_far, goes)));
    ls__ir_set(b, digits, shl_k(b, coming, 2));
    val next = add_k(&step, ls__ir_get(&step, trip), 1);
    ls__ir_set(&step, trip, next);
    ls__ir_insert(&step, LS_OP_WHILE, LS_TYPE_VOID, (val[]){ult(&step, next, k32(&step, bits))}, 1);

    val exact = eq(c, ls__ir_get(c, rest), k(c, operand, 0));
    return or_(c, shl_k(c, ls__ir_get(c, root), 1), flag(c, operand, not_(c, exact)));
}

static val square_root(at c, const ls__format *format, val a_bits)
{
    ls__parts a = ls__lower_unpack(c, format, a_bits);
    /* An odd exponent gives one factor of 2 to the significand. */
    val is_odd = ne(c, and_k(c, a.exponent, 1), k(c, a_bits, 0));
    val even = choose(c, is_odd, shl_k(c, a.significand, 1), a.significand);
    val operand = shl_k(c, even, format->word_bits - 2 - format->mantissa);
    val exponent = ashr(c, a.exponent, k(c, a_bits, 1)); /* down, so odd ones lose that factor */

    uint32_t bits = format->mantissa + 3;
    val root = root_of(c, operand, format->word_bits, bits);
    val top = shl_k(c, root, format->word_bits - bits - 1);
    val result = ls__lower_pack(c, format, k(c, a_bits, 0), exponent, top);

    val is_negative = ne(c, a.sign, k(c, a_bits, 0));
    result = choose(c, or_(c, a.is_infinite, a.is_zero), a_bits, result);
    val is_nan = or_(c, a.is_nan, and_(c, is_negative, not_(c, a.is_zero)));
    return choose(c, is_nan, k(c, a_bits, ls__format_nan(format)), result);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    if (inst->op != LS_OP_FSQRT)
        return (val){0};
    const ls__format *format = ls__format_of((ls_type)inst->type);
    val a = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[0]);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, (ls_type)inst->type, square_root(c, format, a));
}

bool ls__pass_lower_sqrt(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
