/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_minmax: fmin and fmax by comparing the bits as integers.
 *
 * needs: nothing. keeps: values (any NaN may come out as another). breaks: nothing.
 *
 * Drivers' own minimum treats -0 and signalling NaNs each in its way; integers do not.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

/* An integer that sorts like the number, -0 below +0. */
static val order_key(at c, const ls__format *format, val bits)
{
    val negative = ashr(c, bits, k(c, bits, format->word_bits - 1)); /* all ones or none */
    return xor_(c, bits, and_k(c, negative, ls__format_sign(format) - 1));
}

static val is_nan(at c, const ls__format *format, val bits)
{
    val magnitude = and_k(c, bits, ls__format_sign(format) - 1);
    return ult(c, k(c, bits, ls__format_infinity(format)), magnitude);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    if (inst->op != LS_OP_FMIN && inst->op != LS_OP_FMAX)
        return (val){0};
    const ls__format *format = ls__format_of((ls_type)inst->type);
    val a = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[0]);
    val b = ls__ir_convert(c, LS_OP_FRAWBITS, format->word, inst->args[1]);
    val a_less = slt(c, order_key(c, format, a), order_key(c, format, b));
    val lesser = choose(c, a_less, a, b), greater = choose(c, a_less, b, a);
    val result = inst->op == LS_OP_FMIN ? lesser : greater;
    result = choose(c, is_nan(c, format, b), a, result);
    result = choose(c, is_nan(c, format, a), b, result);
    return ls__ir_convert(c, LS_OP_FFROM_BITS, (ls_type)inst->type, result);
}

bool ls__pass_lower_minmax(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
