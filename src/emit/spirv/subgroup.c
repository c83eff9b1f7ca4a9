/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations between lanes, where the device's subgroups are those of the contract: 32 lanes in
 * linear order. Wide values go as two words, since not every device shuffles them.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

/* --- moving values -----------------------------------------------------------------------------
 */

typedef ref move(unit *u, ref word, ref by);

static ref shuffle(unit *u, ref word, ref lane)
{
    ref scope = ls__spirv_u32(u, SpvScopeSubgroup);
    ls__spirv_need(u, SpvCapabilityGroupNonUniformShuffle);
    return mk(u, SpvOpGroupNonUniformShuffle, ls__spirv_int(u, 32), scope, word, lane);
}

static ref shuffle_xor(unit *u, ref word, ref mask)
{
    ref scope = ls__spirv_u32(u, SpvScopeSubgroup);
    ls__spirv_need(u, SpvCapabilityGroupNonUniformShuffle);
    return mk(u, SpvOpGroupNonUniformShuffleXor, ls__spirv_int(u, 32), scope, word, mask);
}

static ref move_wide(unit *u, move *how, ref value, ref by)
{
    ref word = ls__spirv_int(u, 32), wide = ls__spirv_int(u, 64), half = ls__spirv_u64(u, 32);
    ref low = mk(u, SpvOpUConvert, word, value);
    ref shifted = mk(u, SpvOpShiftRightLogical, wide, value, half);
    ref high = mk(u, SpvOpUConvert, word, shifted);
    low = how(u, low, by);
    high = how(u, high, by);
    low = mk(u, SpvOpUConvert, wide, low);
    high = mk(u, SpvOpUConvert, wide, high);
    high = mk(u, SpvOpShiftLeftLogical, wide, high, half);
    return mk(u, SpvOpBitwiseOr, wide, high, low);
}

static ref move_value(unit *u, move *how, ls_type type, ref value, ref by)
{
    ref one = ls__spirv_u32(u, 1), zero = ls__spirv_u32(u, 0);
    switch (type) {
    case LS_TYPE_BOOL:
        value = mk(u, SpvOpSelect, ls__spirv_int(u, 32), value, one, zero);
        value = how(u, value, by);
        return mk(u, SpvOpINotEqual, ls__spirv_bool(u), value, zero);
    case LS_TYPE_I64:
        return move_wide(u, how, value, by);
    case LS_TYPE_F32:
        value = mk(u, SpvOpBitcast, ls__spirv_int(u, 32), value);
        return mk(u, SpvOpBitcast, ls__spirv_float(u, 32), how(u, value, by));
    case LS_TYPE_F64:
        value = mk(u, SpvOpBitcast, ls__spirv_int(u, 64), value);
        return mk(u, SpvOpBitcast, ls__spirv_float(u, 64), move_wide(u, how, value, by));
    default:
        return how(u, value, by);
    }
}

/* --- the operations ----------------------------------------------------------------------------
 */

static ref below_32(unit *u, ref lane)
{
    ref mask = ls__spirv_u32(u, 31);
    return mk(u, SpvOpBitwiseAnd, ls__spirv_int(u, 32), lane, mask);
}

/* The lane that lane 0 names. */
static ref broadcast(unit *u, const ls__ir_inst *inst, ls_type type)
{
    ref scope = ls__spirv_u32(u, SpvScopeSubgroup), first = ls__spirv_u32(u, 0);
    ls__spirv_need(u, SpvCapabilityGroupNonUniformBallot);
    ref lane = mk(u, SpvOpGroupNonUniformBroadcast, ls__spirv_int(u, 32), scope,
                  ls__spirv_value(u, inst->args[1]), first);
    return move_value(u, shuffle, type, ls__spirv_value(u, inst->args[0]), below_32(u, lane));
}

static ref ballot(unit *u, const ls__ir_inst *inst)
{
    ref word = ls__spirv_int(u, 32), scope = ls__spirv_u32(u, SpvScopeSubgroup);
    ref four = mk_unique(u, SpvOpTypeVector, 0, word, 4);
    ls__spirv_need(u, SpvCapabilityGroupNonUniformBallot);
    ref all = mk(u, SpvOpGroupNonUniformBallot, four, scope, ls__spirv_value(u, inst->args[0]));
    return mk(u, SpvOpCompositeExtract, word, all, 0);
}

/* An integer that sorts like the float, -0 below +0. */
static ref order_of(unit *u, uint32_t bits, ref raw)
{
    ref type = ls__spirv_int(u, bits), count = ls__spirv_int_const(u, bits, bits - 1);
    ref negative = mk(u, SpvOpShiftRightArithmetic, type, raw, count);
    ref mask = ls__spirv_int_const(u, bits, (UINT64_C(1) << (bits - 1)) - 1);
    negative = mk(u, SpvOpBitwiseAnd, type, negative, mask);
    return mk(u, SpvOpBitwiseXor, type, raw, negative);
}

/* fmin or fmax, by comparing integers. */
static ref float_extreme(unit *u, bool is_minimum, ls_type type, ref a, ref b)
{
    uint32_t bits = ls__spirv_bits(type);
    ref integer = ls__spirv_int(u, bits), result = ls__spirv_type(u, type);
    ref raw_a = mk(u, SpvOpBitcast, integer, a), raw_b = mk(u, SpvOpBitcast, integer, b);
    ref key_a = order_of(u, bits, raw_a), key_b = order_of(u, bits, raw_b);
    ref less = mk(u, SpvOpSLessThan, ls__spirv_bool(u), key_a, key_b);
    ref chosen = mk(u, SpvOpSelect, result, less, is_minimum ? a : b, is_minimum ? b : a);
    ref b_nan = ls__spirv_is_nan(u, bits, b), a_nan = ls__spirv_is_nan(u, bits, a);
    chosen = mk(u, SpvOpSelect, result, b_nan, a, chosen);
    return mk(u, SpvOpSelect, result, a_nan, b, chosen);
}

static ref combine(unit *u, ls_reduce kind, ls_type type, ref a, ref b)
{
    ref t = ls__spirv_type(u, type), boolean = ls__spirv_bool(u), first;
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    switch (kind) {
    case LS_REDUCE_ADD:
        return is_float ? ls__spirv_exact(u, mk(u, SpvOpFAdd, t, a, b)) : mk(u, SpvOpIAdd, t, a, b);
    case LS_REDUCE_AND:
        return mk(u, SpvOpBitwiseAnd, t, a, b);
    case LS_REDUCE_OR:
        return mk(u, SpvOpBitwiseOr, t, a, b);
    case LS_REDUCE_XOR:
        return mk(u, SpvOpBitwiseXor, t, a, b);
    case LS_REDUCE_FMIN:
    case LS_REDUCE_FMAX:
        return float_extreme(u, kind == LS_REDUCE_FMIN, type, a, b);
    case LS_REDUCE_SMIN:
        first = mk(u, SpvOpSLessThan, boolean, a, b);
        break;
    case LS_REDUCE_SMAX:
        first = mk(u, SpvOpSGreaterThan, boolean, a, b);
        break;
    case LS_REDUCE_UMIN:
        first = mk(u, SpvOpULessThan, boolean, a, b);
        break;
    default:
        first = mk(u, SpvOpUGreaterThan, boolean, a, b);
        break;
    }
    return mk(u, SpvOpSelect, t, first, a, b);
}

static ref reduce(unit *u, const ls__ir_inst *inst, ls_type type)
{
    ref value = ls__spirv_value(u, inst->args[0]);
    for (uint32_t step = 16; step > 0; step /= 2) {
        ref other = move_value(u, shuffle_xor, type, value, ls__spirv_u32(u, step));
        value = combine(u, (ls_reduce)inst->imm, type, value, other);
    }
    return value;
}

/* Lane 0 of the workgroup writes, all read. */
static ref workgroup_uniform(unit *u, const ls__ir_inst *inst, ls_type type)
{
    ref t = ls__spirv_type(u, type), value = ls__spirv_value(u, inst->args[0]);
    bool is_bool = type == LS_TYPE_BOOL;
    ref stored = is_bool ? ls__spirv_int(u, 32) : t, zero = ls__spirv_u32(u, 0);
    ref slot = ls__spirv_global(u, SpvStorageClassWorkgroup, stored, 0);
    u->shared_bytes += 8;
    if (is_bool) {
        ref one = ls__spirv_u32(u, 1);
        value = mk(u, SpvOpSelect, stored, value, one, zero);
    }
    ref index = ls__spirv_local_index(u);
    ref is_first = mk(u, SpvOpIEqual, ls__spirv_bool(u), index, zero);
    ls__spirv_barrier(u); /* in a loop: all have read the last one */
    ref merge = ls__spirv_begin_if(u, is_first);
    put(u, u->out, SpvOpStore, slot, value, SpvMemoryAccessNonPrivatePointerMask);
    ls__spirv_end_if(u, merge);
    ls__spirv_barrier(u);
    ref read = mk(u, SpvOpLoad, stored, slot, SpvMemoryAccessNonPrivatePointerMask);
    return is_bool ? mk(u, SpvOpINotEqual, t, read, zero) : read;
}

ref ls__spirv_subgroup(unit *u, const ls__ir_inst *inst)
{
    ls_type type = ls__ir_operand_type(u->f.function, inst);
    if (!u->target.subgroup32)
        ls__spirv_not_lowered(u, inst);
    ls__spirv_need(u, SpvCapabilityGroupNonUniform);
    u->flags |= LS__SPIRV_SUBGROUPS;
    switch ((ls_op)inst->op) {
    case LS_OP_SG_SHUFFLE:
        return move_value(u, shuffle, type, ls__spirv_value(u, inst->args[0]),
                          below_32(u, ls__spirv_value(u, inst->args[1])));
    case LS_OP_SG_BROADCAST:
        return broadcast(u, inst, type);
    case LS_OP_SG_BALLOT:
        return ballot(u, inst);
    case LS_OP_SG_REDUCE:
        return reduce(u, inst, type);
    default:
        return workgroup_uniform(u, inst, type);
    }
}
