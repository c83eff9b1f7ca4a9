/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_dot4: dot4 by extracting and multiplying bytes.
 *
 * needs: nothing. keeps: everything (sums of integers wrap, so their order is free). breaks:
 * nothing.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    if (inst->op != LS_OP_DOT4_SS && inst->op != LS_OP_DOT4_US)
        return (val){0};
    ls_op extend = inst->op == LS_OP_DOT4_SS ? LS_OP_SEXT8 : LS_OP_ZEXT8;
    val sum = inst->args[2];
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        val a = ls__ir_emit1(c, extend, lshr_k(c, inst->args[0], shift));
        val b = ls__ir_emit1(c, LS_OP_SEXT8, lshr_k(c, inst->args[1], shift));
        sum = add(c, sum, mul(c, a, b));
    }
    return sum;
}

bool ls__pass_lower_dot4(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
