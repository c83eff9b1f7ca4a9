/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval arithmetic on wrapping integers. Each rule gives bounds only where the operation cannot
 * wrap over the whole of its operands' intervals; otherwise the result is the full interval. Rules
 * for the signed and the unsigned view are separate, and `settle` carries what one view knows to
 * the other.
 */
#include "pass/interval.h"

#include "pass/util.h"

static int64_t lowest(ls_type type)
{
    return type == LS_TYPE_I32 ? INT32_MIN : INT64_MIN;
}

static int64_t highest(ls_type type)
{
    return type == LS_TYPE_I32 ? INT32_MAX : INT64_MAX;
}

static uint64_t most_of(ls_type type)
{
    return type == LS_TYPE_I32 ? UINT32_MAX : UINT64_MAX;
}

static int64_t min_signed(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_signed(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint64_t min_unsigned(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_unsigned(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* On one side of the signed range both views are the same number, or 2^width apart. */
static ls__interval settle(ls_type type, ls__interval v)
{
    uint64_t middle = (uint64_t)highest(type);
    if (v.low >= 0) {
        v.least = max_unsigned(v.least, (uint64_t)v.low);
        v.most = min_unsigned(v.most, (uint64_t)v.high);
    }
    if (v.most <= middle) {
        v.low = max_signed(v.low, (int64_t)v.least);
        v.high = min_signed(v.high, (int64_t)v.most);
    }
    /* Facts that contradict each other: the place is never reached, any answer will do. */
    if (v.low > v.high || v.least > v.most)
        return ls__interval_full(type);
    return v;
}

ls__interval ls__interval_full(ls_type type)
{
    return (ls__interval){lowest(type), highest(type), 0, most_of(type)};
}

ls__interval ls__interval_signed(ls_type type, int64_t low, int64_t high)
{
    ls__interval v = ls__interval_full(type);
    v.low = low;
    v.high = high;
    return settle(type, v);
}

ls__interval ls__interval_unsigned(ls_type type, uint64_t least, uint64_t most)
{
    ls__interval v = ls__interval_full(type);
    v.least = least;
    v.most = most;
    return settle(type, v);
}

ls__interval ls__interval_meet(ls_type type, ls__interval a, ls__interval b)
{
    return settle(type,
                  (ls__interval){max_signed(a.low, b.low), min_signed(a.high, b.high),
                                 max_unsigned(a.least, b.least), min_unsigned(a.most, b.most)});
}

ls__interval ls__interval_join(ls__interval a, ls__interval b)
{
    return (ls__interval){min_signed(a.low, b.low), max_signed(a.high, b.high),
                          min_unsigned(a.least, b.least), max_unsigned(a.most, b.most)};
}

/* --- arithmetic ------------------------------------------------------------------------------ */

static bool fits_signed(ls_type type, __int128 low, __int128 high)
{
    return low >= lowest(type) && high <= highest(type);
}

static bool fits_unsigned(ls_type type, __int128 least, __int128 most)
{
    return least >= 0 && most <= (__int128)most_of(type);
}

static ls__interval from_bounds(ls_type type, __int128 low, __int128 high, __int128 least,
                                __int128 most)
{
    ls__interval v = ls__interval_full(type);
    if (fits_signed(type, low, high)) {
        v.low = (int64_t)low;
        v.high = (int64_t)high;
    }
    if (fits_unsigned(type, least, most)) {
        v.least = (uint64_t)least;
        v.most = (uint64_t)most;
    }
    return settle(type, v);
}

static ls__interval multiply(ls_type type, ls__interval a, ls__interval b)
{
    __int128 corner[4] = {(__int128)a.low * b.low, (__int128)a.low * b.high,
                          (__int128)a.high * b.low, (__int128)a.high * b.high};
    __int128 low = corner[0], high = corner[0];
    for (int i = 1; i < 4; i++) {
        low = corner[i] < low ? corner[i] : low;
        high = corner[i] > high ? corner[i] : high;
    }
    if (a.most > INT64_MAX || b.most > INT64_MAX) /* the product may not fit 127 bits */
        return from_bounds(type, low, high, -1, 0);
    return from_bounds(type, low, high, (__int128)a.least * b.least, (__int128)a.most * b.most);
}

/* The smallest 2^n - 1 that is at least `value`. */
static uint64_t all_ones(uint64_t value)
{
    return value ? UINT64_MAX >> __builtin_clzll(value) : 0;
}

static bool is_single(ls__interval v)
{
    return v.least == v.most;
}

static ls__interval shift(ls_op op, ls_type type, ls__interval a, ls__interval count)
{
    if (!is_single(count))
        return ls__interval_full(type);
    uint32_t n = (uint32_t)count.least & (ls__pass_bits(type) - 1);
    if (op == LS_OP_SHL)
        return multiply(type, a, ls__interval_unsigned(type, UINT64_C(1) << n, UINT64_C(1) << n));
    if (op == LS_OP_LSHR)
        return ls__interval_unsigned(type, a.least >> n, a.most >> n);
    return ls__interval_signed(type, a.low >> n, a.high >> n);
}

static ls__interval divide(ls_op op, ls_type type, ls__interval a, ls__interval b)
{
    if (op == LS_OP_UDIV)
        return b.least > 0 ? ls__interval_unsigned(type, a.least / b.most, a.most / b.least)
                           : ls__interval_unsigned(type, 0, a.most);
    if (op == LS_OP_UREM)
        return ls__interval_unsigned(type, 0, b.most ? min_unsigned(a.most, b.most - 1) : 0);
    if (a.low < 0 || b.low <= 0)
        return ls__interval_full(type);
    if (op == LS_OP_SDIV)
        return ls__interval_signed(type, a.low / b.high, a.high / b.low);
    return ls__interval_signed(type, 0, min_signed(a.high, b.high - 1));
}

static ls__interval eval_binary(ls_op op, ls_type type, ls__interval a, ls__interval b)
{
    switch (op) {
    case LS_OP_ADD:
        return from_bounds(type, (__int128)a.low + b.low, (__int128)a.high + b.high,
                           (__int128)a.least + b.least, (__int128)a.most + b.most);
    case LS_OP_SUB:
        return from_bounds(type, (__int128)a.low - b.high, (__int128)a.high - b.low,
                           (__int128)a.least - b.most, (__int128)a.most - b.least);
    case LS_OP_MUL:
        return multiply(type, a, b);
    case LS_OP_AND:
        return ls__interval_unsigned(type, 0, min_unsigned(a.most, b.most));
    case LS_OP_OR:
        return ls__interval_unsigned(type, max_unsigned(a.least, b.least),
                                     all_ones(a.most | b.most));
    case LS_OP_XOR:
        return ls__interval_unsigned(type, 0, all_ones(a.most | b.most));
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
        return shift(op, type, a, b);
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
        return divide(op, type, a, b);
    case LS_OP_SMIN:
        return ls__interval_signed(type, min_signed(a.low, b.low), min_signed(a.high, b.high));
    case LS_OP_SMAX:
        return ls__interval_signed(type, max_signed(a.low, b.low), max_signed(a.high, b.high));
    case LS_OP_UMIN:
        return ls__interval_unsigned(type, min_unsigned(a.least, b.least),
                                     min_unsigned(a.most, b.most));
    case LS_OP_UMAX:
        return ls__interval_unsigned(type, max_unsigned(a.least, b.least),
                                     max_unsigned(a.most, b.most));
    default:
        return ls__interval_full(type);
    }
}

/* --- other instructions ---------------------------------------------------------------------- */

static ls__interval eval_id(const ls__ir_function *function, const ls__ir_inst *inst)
{
    const uint32_t *workgroup = function->workgroup;
    uint64_t lanes = (uint64_t)workgroup[0] * workgroup[1] * workgroup[2];
    switch (inst->imm) {
    case LS_ID_LANE:
        return ls__interval_unsigned(LS_TYPE_I32, 0, 31);
    case LS_ID_LOCAL_ID:
        if (function->is_kernel)
            return ls__interval_unsigned(LS_TYPE_I32, 0, workgroup[inst->imm2] - UINT64_C(1));
        break;
    case LS_ID_LOCAL_INDEX:
        if (function->is_kernel)
            return ls__interval_unsigned(LS_TYPE_I32, 0, lanes - 1);
        break;
    case LS_ID_SUBGROUP:
        if (function->is_kernel)
            return ls__interval_unsigned(LS_TYPE_I32, 0, (lanes - 1) / 32);
        break;
    default:
        break;
    }
    return ls__interval_full(LS_TYPE_I32);
}

static ls__interval of_bits(ls_type type, uint32_t bits, bool is_signed)
{
    if (bits == 0 || bits >= ls__pass_bits(type))
        return ls__interval_full(type);
    if (is_signed)
        return ls__interval_signed(type, -(INT64_C(1) << (bits - 1)),
                                   (INT64_C(1) << (bits - 1)) - 1);
    return ls__interval_unsigned(type, 0, (UINT64_C(1) << bits) - 1);
}

static ls__interval eval_load(const ls__ir_inst *inst)
{
    ls_mem mem = (ls_mem)inst->mem;
    bool is_signed = mem == LS_MEM_I8 || mem == LS_MEM_I16;
    return of_bits((ls_type)inst->type, 8 * ls__ir_mem_bytes(mem), is_signed);
}

bool ls__interval_index_holds(const ls__ir_inst *inst, ls__interval offset, ls__interval index)
{
    if (inst->imm > INT64_MAX || offset.low == LS_NOWHERE)
        return false;
    if (inst->imm2 && (index.low < 0 || (uint64_t)index.high >= inst->imm2))
        return false;
    __int128 low = offset.low + (__int128)index.low * (__int128)inst->imm;
    __int128 high = offset.high + (__int128)index.high * (__int128)inst->imm;
    return low > LS_NOWHERE && high <= INT64_MAX;
}

static ls__interval eval_index(const ls__ir_inst *inst, ls__interval offset, ls__interval index)
{
    if (!ls__interval_index_holds(inst, offset, index))
        return ls__interval_full(LS_TYPE_I64);
    int64_t stride = (int64_t)inst->imm;
    return ls__interval_signed(LS_TYPE_I64, offset.low + index.low * stride,
                               offset.high + index.high * stride);
}

ls__interval ls__interval_eval(const ls__ir_function *function, const ls__ir_inst *inst,
                               const ls__interval *args)
{
    ls_type type = (ls_type)inst->type;
    switch ((ls_op)inst->op) {
    case LS_OP_CONST: {
        int64_t value = ls__pass_signed(type, inst->imm);
        return (ls__interval){value, value, inst->imm, inst->imm};
    }
    case LS_OP_ID:
        return eval_id(function, inst);
    case LS_OP_RANGE:
        return ls__interval_signed(type, 0, INT64_MAX);
    case LS_OP_LOAD:
        return eval_load(inst);
    case LS_OP_PARAM:
        return eval_load(inst);
    case LS_OP_SELECT:
        return ls__interval_join(args[1], args[2]);
    case LS_OP_SEXT:
        return ls__interval_signed(type, args[0].low, args[0].high);
    case LS_OP_ZEXT:
        return ls__interval_unsigned(type, args[0].least, args[0].most);
    case LS_OP_TRUNC:
        return from_bounds(type, args[0].low, args[0].high, (__int128)args[0].least,
                           (__int128)args[0].most);
    case LS_OP_SEXT8:
    case LS_OP_SEXT16:
        return of_bits(type, inst->op == LS_OP_SEXT8 ? 8 : 16, true);
    case LS_OP_ZEXT8:
    case LS_OP_ZEXT16: {
        uint64_t most = inst->op == LS_OP_ZEXT8 ? UINT8_MAX : UINT16_MAX;
        return args[0].most <= most ? args[0] : ls__interval_unsigned(type, 0, most);
    }
    case LS_OP_B2I:
        return ls__interval_unsigned(type, 0, 1);
    case LS_OP_POPCOUNT:
    case LS_OP_CLZ:
    case LS_OP_CTZ:
        return ls__interval_unsigned(type, 0, ls__pass_bits(type));
    case LS_OP_F2S:
    case LS_OP_F2U:
        return of_bits(type, (uint32_t)inst->imm, inst->op == LS_OP_F2S);
    case LS_OP_F32_TO_F16:
    case LS_OP_F32_TO_BF16:
        return of_bits(type, 16, false);
    case LS_OP_INDEX:
        return eval_index(inst, args[0], args[1]);
    default:
        return inst->arg_count == 2 ? eval_binary((ls_op)inst->op, type, args[0], args[1])
                                    : ls__interval_full(type);
    }
}
