/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strength: multiplications by powers of two become shifts, divisions and remainders by constants
 * become shifts, masks and (32 bits) multiplications.
 *
 * needs: fold first, which puts constants on the right. keeps: everything: x/0, x%0 and the
 * smallest number divided by -1 do not arise with the divisors handled here. breaks: nothing.
 *
 * Division of unsigned 32-bit numbers by d: with s = ceil(log2 d) and m = ceil(2^(32 + s) / d), a
 * number of 33 bits, floor(x / d) = floor(x * m / 2^(32 + s)) for all x, since m * d exceeds 2^(32
 * + s) by less than 2^s. The top bit of m is added apart. Signed division works on the magnitude.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

static bool is_power_of_two(uint64_t bits)
{
    return bits && !(bits & (bits - 1));
}

static uint32_t log2_of(uint64_t power)
{
    return (uint32_t)__builtin_ctzll(power);
}

static val divide_unsigned(at c, val x, uint32_t divisor)
{
    uint32_t shift = 32 - (uint32_t)__builtin_clz(divisor - 1); /* ceil(log2) for divisor >= 2 */
    unsigned __int128 scaled = (unsigned __int128)1 << (32 + shift);
    uint32_t low = (uint32_t)((scaled + divisor - 1) / divisor); /* m without its top bit */
    val high = mulhi_u(c, x, k32(c, low));
    /* (high + x) >> shift, whose sum may have 33 bits. */
    val half = lshr_k(c, sub(c, x, high), 1);
    return lshr_k(c, add(c, half, high), shift - 1);
}

/* All ones for a negative x, else 0. */
static val sign_mask(at c, val x)
{
    return ashr(c, x, k(c, x, ls__pass_bits(ls__ir_type_of(c->function, x)) - 1));
}

static val divide_signed_power(at c, val x, uint32_t shift)
{
    uint64_t mask = (UINT64_C(1) << shift) - 1;
    val biased = add(c, x, and_k(c, sign_mask(c, x), mask)); /* rounds towards zero */
    return ashr(c, biased, k(c, x, shift));
}

static val divide_signed(at c, val x, int64_t divisor)
{
    uint64_t magnitude = divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor;
    val quotient;
    if (is_power_of_two(magnitude)) {
        quotient = divide_signed_power(c, x, log2_of(magnitude));
    } else {
        val sign = sign_mask(c, x);
        val absolute = sub(c, xor_(c, x, sign), sign);
        val q = divide_unsigned(c, absolute, (uint32_t)magnitude);
        quotient = sub(c, xor_(c, q, sign), sign);
    }
    return divisor < 0 ? neg(c, quotient) : quotient;
}

static val quotient_of(at c, const ls__ir_inst *inst, uint64_t bits)
{
    val none = {0};
    ls_type type = (ls_type)inst->type;
    int64_t divisor = ls__pass_signed(type, bits);
    bool is_signed = inst->op == LS_OP_SDIV || inst->op == LS_OP_SREM;
    if (!is_signed) {
        if (bits < 2)
            return none;
        if (is_power_of_two(bits))
            return lshr_k(c, inst->args[0], log2_of(bits));
        return type == LS_TYPE_I32 ? divide_unsigned(c, inst->args[0], (uint32_t)bits) : none;
    }
    uint64_t magnitude = divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor;
    bool is_smallest = divisor == (type == LS_TYPE_I32 ? INT32_MIN : INT64_MIN);
    if (magnitude < 2 || is_smallest || (type == LS_TYPE_I64 && !is_power_of_two(magnitude)))
        return none;
    return divide_signed(c, inst->args[0], divisor);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    (void)context;
    val none = {0};
    uint64_t bits;
    if (inst->arg_count != 2 || !ls__pass_const(c->function, inst->args[1], &bits))
        return none;
    switch ((ls_op)inst->op) {
    case LS_OP_MUL:
        return is_power_of_two(bits) ? shl_k(c, inst->args[0], log2_of(bits)) : none;
    case LS_OP_UDIV:
    case LS_OP_SDIV:
        return quotient_of(c, inst, bits);
    case LS_OP_UREM:
        if (is_power_of_two(bits))
            return and_k(c, inst->args[0], bits - 1);
        /* fall through */
    case LS_OP_SREM: {
        val quotient = quotient_of(c, inst, bits);
        return quotient.id ? sub(c, inst->args[0], mul(c, quotient, inst->args[1])) : none;
    }
    default:
        return none;
    }
}

bool ls__pass_strength(ls__ir_function *function, ls__arena *scratch)
{
    return ls__lower_each(function, scratch, lower, NULL);
}
