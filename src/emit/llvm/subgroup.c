/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations between lanes. A kernel that has some runs strands of 32 lanes, so a strand is a
 * subgroup. They stand in workgroup-uniform control flow and in workgroups that are a multiple of
 * 32, so every lane is active.
 */
#include "emit/llvm/build.h"

/* As the xor butterfly does. After a step its lanes hold the same values in two, four, ... copies:
 * half of the vector at a time says it all. */
lv ls__llvm_fold(unit *u, ls_op op, lv vector)
{
    for (uint32_t half = u->width / 2; half > 0; half /= 2) {
        lv low = ls__llvm_take_lanes(u, vector, 0, half);
        lv high = ls__llvm_take_lanes(u, vector, half, half);
        vector = ls__llvm_combine(u, op, low, high);
    }
    return mk_extract(u, vector, mk_i32(u, 0));
}

static lv reduce(unit *u, const ls__ir_inst *inst, lv vector)
{
    static const ls_op ops[LS_REDUCE_COUNT] = {
        [LS_REDUCE_ADD] = LS_OP_ADD,   [LS_REDUCE_SMIN] = LS_OP_SMIN, [LS_REDUCE_SMAX] = LS_OP_SMAX,
        [LS_REDUCE_UMIN] = LS_OP_UMIN, [LS_REDUCE_UMAX] = LS_OP_UMAX, [LS_REDUCE_FMIN] = LS_OP_FMIN,
        [LS_REDUCE_FMAX] = LS_OP_FMAX, [LS_REDUCE_AND] = LS_OP_AND,   [LS_REDUCE_OR] = LS_OP_OR,
        [LS_REDUCE_XOR] = LS_OP_XOR};
    bool of_floats = inst->type == LS_TYPE_F32 || inst->type == LS_TYPE_F64;
    ls_op op = inst->imm == LS_REDUCE_ADD && of_floats ? LS_OP_FADD : ops[inst->imm];
    return ls__llvm_fold(u, op, vector);
}

/* By one store, and a load for each lane. */
static lv shuffle(unit *u, lv vector, lv sources)
{
    if (ls__llvm_is_mask(u, vector))
        return ls__llvm_narrow(u, shuffle(u, ls__llvm_wide(u, vector), sources));
    lt type = u->l->TypeOf(vector), element = mk_element(u, vector);
    lv result = u->l->ConstNull(type), place = ls__llvm_alloca(u, type);
    lv wrapped = mk_and(u, sources, mk_k(u, sources, u->width - 1));
    u->l->BuildStore(u->b, vector, place);
    for (uint32_t i = 0; i < u->width; i++) {
        lv lane = mk_extract(u, wrapped, mk_i32(u, i));
        lv from = u->l->BuildGEP2(u->b, element, place, &lane, 1, "");
        lv one = u->l->BuildLoad2(u->b, element, from, "");
        result = u->l->BuildInsertElement(u->b, result, one, mk_i32(u, i), "");
    }
    return result;
}

static lv first_of(unit *u, val value)
{
    return value.scalar ? value.scalar : mk_extract(u, value.vector, mk_i32(u, 0));
}

enum { SOURCE_DEPTH = 8 };

/* What a value is in a lane, when it is made of constants and the lane's number alone. */
static bool value_in_lane(const unit *u, ls_value value, uint32_t lane, int depth, uint64_t *out)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    uint64_t args[3];
    if (inst->op == LS_OP_CONST) {
        *out = inst->imm;
        return true;
    }
    if (inst->op == LS_OP_ID) {
        *out = lane;
        return inst->imm == LS_ID_LANE;
    }
    if (depth == 0 || !ls__ir_op_has((ls_op)inst->op, 'P') || inst->arg_count == 0 ||
        inst->arg_count > 3)
        return false;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (!value_in_lane(u, inst->args[i], lane, depth - 1, &args[i]))
            return false;
    }
    *out = ls__ir_eval(inst, ls__ir_operand_type(u->function, inst), args);
    return true;
}

/* The shuffle, where each lane's source is known: LLVM finds instructions for it. NULL: it is not.
 */
static lv shuffle_known(unit *u, lv vector, ls_value source)
{
    lv indices[32];
    uint64_t lane;
    for (uint32_t i = 0; i < u->width; i++) {
        if (!value_in_lane(u, source, i, SOURCE_DEPTH, &lane))
            return NULL;
        indices[i] = mk_i32(u, lane & (u->width - 1));
    }
    if (ls__llvm_is_mask(u, vector))
        return ls__llvm_narrow(u, shuffle_known(u, ls__llvm_wide(u, vector), source));
    return u->l->BuildShuffleVector(u->b, vector, vector, u->l->ConstVector(indices, u->width), "");
}

static void emit_shuffle(unit *u, const ls__ir_inst *inst)
{
    val value = ls__llvm_value(u, inst->args[0]), source = ls__llvm_value(u, inst->args[1]);
    val result = {0};
    if (value.scalar) {
        result.scalar = value.scalar;
    } else if (source.scalar) {
        lv lane = mk_and(u, source.scalar, mk_i32(u, u->width - 1));
        result.scalar = mk_extract(u, value.vector, lane);
    } else {
        result.vector = shuffle_known(u, value.vector, inst->args[1]);
        if (!result.vector)
            result.vector = shuffle(u, value.vector, source.vector);
    }
    ls__llvm_define(u, inst, result);
}

void ls__llvm_emit_subgroup(unit *u, const ls__ir_inst *inst)
{
    val value = ls__llvm_value(u, inst->args[0]);
    lv result;
    switch ((ls_op)inst->op) {
    case LS_OP_SG_SHUFFLE:
        emit_shuffle(u, inst);
        return;
    case LS_OP_SG_BROADCAST: {
        lv lane = mk_and(u, first_of(u, ls__llvm_value(u, inst->args[1])), mk_i32(u, u->width - 1));
        result = value.scalar ? value.scalar : mk_extract(u, value.vector, lane);
        break;
    }
    case LS_OP_SG_REDUCE:
        result = reduce(u, inst, ls__llvm_vector(u, inst->args[0]));
        break;
    case LS_OP_SG_BALLOT:
        result = ls__llvm_mask_bits(u, ls__llvm_vector(u, inst->args[0]));
        break;
    default: /* WG_UNIFORM */
        result = first_of(u, value);
        break;
    }
    ls__llvm_define(u, inst, (val){.scalar = result});
}
