/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_integer: integer operations a device lacks, or has only where C defines them, by basic
 * ones.
 *
 * needs: nothing. keeps: everything. breaks: nothing. Runs after the lowerings that use clz and
 * mulhi_u.
 *
 * Division and remainder stay what they are, but with a divisor the device can take: x/1 and x%1
 * have just the values the contract gives to division by zero and to the smallest number by -1, so
 * a divisor of 1 is put in for both. A constant divisor that is neither needs nothing.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static bool is_safe_divisor(const ls__ir_function *function, val divisor, bool is_signed)
{
    uint64_t bits;
    ls_type type = ls__ir_type_of(function, divisor);
    return ls__pass_const(function, divisor, &bits) && bits != 0 &&
           !(is_signed && ls__pass_signed(type, bits) == -1);
}

static void guard_division(at c, ls__ir_inst *inst, bool is_signed)
{
    val a = inst->args[0], b = inst->args[1];
    uint64_t smallest = UINT64_C(1) << (ls__pass_bits((ls_type)inst->type) - 1);
    val unsafe = eq(c, b, k(c, b, 0));
    if (is_signed) {
        val overflows = and_(c, eq(c, a, k(c, a, smallest)), eq(c, b, k(c, b, UINT64_MAX)));
        unsafe = or_(c, unsafe, overflows);
    }
    inst->args[1] = choose(c, unsafe, k(c, b, 1), b);
}

/* --- high half of a product ------------------------------------------------------------------ */

static val mulhi_32(at c, val a, val b, bool is_signed)
{
    val wide_a = is_signed ? sext(c, a) : zext(c, a), wide_b = is_signed ? sext(c, b) : zext(c, b);
    return trunc_(c, lshr_k(c, mul(c, wide_a, wide_b), 32));
}

/* Schoolbook multiplication on halves; no partial sum exceeds 64 bits. */
static val mulhi_64(at c, val a, val b)
{
    val al = and_k(c, a, UINT32_MAX), ah = lshr_k(c, a, 32);
    val bl = and_k(c, b, UINT32_MAX), bh = lshr_k(c, b, 32);
    val middle = add(c, mul(c, ah, bl), lshr_k(c, mul(c, al, bl), 32));
    val cross = add(c, mul(c, al, bh), and_k(c, middle, UINT32_MAX));
    val carries = add(c, lshr_k(c, middle, 32), lshr_k(c, cross, 32));
    return add(c, mul(c, ah, bh), carries);
}

static val mulhi(at c, val a, val b, bool is_signed)
{
    if (ls__ir_type_of(c->function, a) == LS_TYPE_I32)
        return mulhi_32(c, a, b, is_signed);
    val high = mulhi_64(c, a, b);
    if (!is_signed)
        return high;
    /* A negative operand counted 2^64 too much, times the other. */
    val zero = k(c, a, 0);
    high = sub(c, high, choose(c, slt(c, a, zero), b, zero));
    return sub(c, high, choose(c, slt(c, b, zero), a, zero));
}

/* --- saturation ------------------------------------------------------------------------------ */

static val saturate_signed(at c, val a, val b, bool is_add)
{
    uint32_t width = ls__pass_bits(ls__ir_type_of(c->function, a));
    val result = is_add ? add(c, a, b) : sub(c, a, b);
    /* Overflow: the operands' signs let it happen, and the result's differs from a's. */
    val differs = xor_(c, a, result);
    val may = is_add ? xor_(c, b, result) : xor_(c, a, b);
    val overflows = slt(c, and_(c, differs, may), k(c, a, 0));
    val largest = k(c, a, (UINT64_C(1) << (width - 1)) - 1);
    val limit = xor_(c, ashr(c, a, k(c, a, width - 1)), largest);
    return choose(c, overflows, limit, result);
}

static val saturate_unsigned(at c, val a, val b, bool is_add)
{
    if (is_add) {
        val sum = add(c, a, b);
        return choose(c, ult(c, sum, a), k(c, a, UINT64_MAX), sum);
    }
    return choose(c, ult(c, a, b), k(c, a, 0), sub(c, a, b));
}

/* --- bits ------------------------------------------------------------------------------------ */

static val popcount(at c, val a)
{
    uint32_t width = ls__pass_bits(ls__ir_type_of(c->function, a));
    val pairs = sub(c, a, and_k(c, lshr_k(c, a, 1), UINT64_C(0x5555555555555555)));
    uint64_t twos = UINT64_C(0x3333333333333333);
    val nibbles = add(c, and_k(c, pairs, twos), and_k(c, lshr_k(c, pairs, 2), twos));
    val bytes = and_k(c, add(c, nibbles, lshr_k(c, nibbles, 4)), UINT64_C(0x0f0f0f0f0f0f0f0f));
    val sums = mul(c, bytes, k(c, a, UINT64_C(0x0101010101010101)));
    return lshr_k(c, sums, width - 8);
}

static val count_leading_zeros(at c, val a)
{
    uint32_t width = ls__pass_bits(ls__ir_type_of(c->function, a));
    for (uint32_t shift = 1; shift < width; shift *= 2)
        a = or_(c, a, lshr_k(c, a, shift)); /* ones from the leading bit down */
    return popcount(c, not_(c, a));
}

static val count_trailing_zeros(at c, val a)
{
    return popcount(c, and_(c, not_(c, a), add_k(c, a, UINT64_MAX)));
}

static val rotate_left(at c, val a, val count)
{
    /* Counts are taken modulo the width, so 0 - count is width - count; both shifts by 0 give a. */
    return or_(c, shl(c, a, count), lshr(c, a, neg(c, count)));
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    bool *changed = context;
    if (inst->arg_count == 0)
        return (val){0};
    val a = inst->args[0], b = inst->arg_count > 1 ? inst->args[1] : a;
    switch ((ls_op)inst->op) {
    case LS_OP_SDIV:
    case LS_OP_SREM:
    case LS_OP_UDIV:
    case LS_OP_UREM: {
        bool is_signed = inst->op == LS_OP_SDIV || inst->op == LS_OP_SREM;
        if (!is_safe_divisor(c->function, b, is_signed)) {
            guard_division(c, inst, is_signed);
            *changed = true;
        }
        return (val){0};
    }
    case LS_OP_MULHI_S:
    case LS_OP_MULHI_U:
        return mulhi(c, a, b, inst->op == LS_OP_MULHI_S);
    case LS_OP_ADD_SAT_S:
    case LS_OP_SUB_SAT_S:
        return saturate_signed(c, a, b, inst->op == LS_OP_ADD_SAT_S);
    case LS_OP_ADD_SAT_U:
    case LS_OP_SUB_SAT_U:
        return saturate_unsigned(c, a, b, inst->op == LS_OP_ADD_SAT_U);
    case LS_OP_POPCOUNT:
        return popcount(c, a);
    case LS_OP_CLZ:
        return count_leading_zeros(c, a);
    case LS_OP_CTZ:
        return count_trailing_zeros(c, a);
    case LS_OP_ROTL:
        return rotate_left(c, a, b);
    default:
        return (val){0};
    }
}

bool ls__pass_lower_integer(ls__ir_function *function, ls__arena *scratch)
{
    bool changed = false;
    changed |= ls__lower_each(function, scratch, lower, &changed);
    return changed;
}
