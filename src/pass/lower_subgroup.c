/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_subgroup: subgroup operations and workgroup_uniform through shared memory and barriers.
 *
 * needs: nothing (the verifier has seen to it that these operations stand in workgroup-uniform
 * control flow, so barriers may stand there too). keeps: everything, the butterfly's order
 * included. breaks: nothing; float stores are RAW, since shuffled values need no one NaN.
 *
 * Two shared arrays of one 8-byte slot a lane. Each operation stores, waits and reads, and ends
 * with a barrier, so the next may store at once. The butterfly alternates between the arrays: what
 * a step stores, nobody reads any more. What was uniform by its nature is read back from one slot
 * by a load marked UNIFORM.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

typedef struct lowering {
    ls_base slots[2];
    uint32_t lanes;
    bool has_slots;
    bool is_uniform; /* the result of the operation at hand is the same for the workgroup */
    ls__ir_uniformity uniformity;
} lowering;

static void barrier(at c)
{
    ls__ir_insert(c, LS_OP_BARRIER, LS_TYPE_VOID, NULL, 0);
}

static val local_index(at c)
{
    ls__ir_inst *id = ls__ir_insert(c, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    id->imm = LS_ID_LOCAL_INDEX;
    return id->id;
}

static ls_mem slot_mem(ls_type type)
{
    switch (type) {
    case LS_TYPE_BOOL:
        return LS_MEM_BOOL;
    case LS_TYPE_I64:
        return LS_MEM_I64;
    case LS_TYPE_F32:
        return LS_MEM_F32;
    case LS_TYPE_F64:
        return LS_MEM_F64;
    default:
        return LS_MEM_I32;
    }
}

/* Byte offset of a lane's slot; `lane` is below the number of lanes. */
static val slot_offset(at c, val lane)
{
    return zext(c, shl_k(c, lane, 3));
}

static void store(at c, const lowering *l, int array, val offset, val value)
{
    ls_mem mem = slot_mem(ls__ir_type_of(c->function, value));
    ls__ir_inst *inst = ls__ir_store(c, mem, l->slots[array], offset, value);
    inst->flags = LS__IR_INBOUNDS;
    if (ls__ir_mem_is_float(mem))
        inst->flags |= LS__IR_RAW;
}

static val load(at c, const lowering *l, int array, val offset, ls_type type, uint8_t flags)
{
    val value = ls__ir_load(c, slot_mem(type), l->slots[array], offset);
    ls__ir_def(c->function, value)->flags = LS__IR_INBOUNDS | flags;
    return value;
}

/* The value that lane `lane` (below the number of lanes) of the workgroup has of `value`. */
static val exchange(at c, const lowering *l, val value, val lane)
{
    store(c, l, 0, slot_offset(c, local_index(c)), value);
    barrier(c);
    ls_type type = ls__ir_type_of(c->function, value);
    uint8_t flags = l->is_uniform ? LS__IR_UNIFORM : 0;
    val result = load(c, l, 0, slot_offset(c, lane), type, flags);
    barrier(c);
    return result;
}

/* First lane of the subgroup. */
static val first_lane(at c)
{
    return and_k(c, local_index(c), ~UINT64_C(31));
}

/* `lane` modulo 32, as a lane of the workgroup. */
static val lane_of_subgroup(at c, val lane)
{
    return add(c, first_lane(c), and_k(c, lane, 31));
}

static val combine(at c, ls_reduce kind, val a, val b)
{
    ls_type type = ls__ir_type_of(c->function, a);
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    static const ls_op ops[LS_REDUCE_COUNT] = {
        [LS_REDUCE_ADD] = LS_OP_ADD,   [LS_REDUCE_SMIN] = LS_OP_SMIN, [LS_REDUCE_SMAX] = LS_OP_SMAX,
        [LS_REDUCE_UMIN] = LS_OP_UMIN, [LS_REDUCE_UMAX] = LS_OP_UMAX, [LS_REDUCE_FMIN] = LS_OP_FMIN,
        [LS_REDUCE_FMAX] = LS_OP_FMAX, [LS_REDUCE_AND] = LS_OP_AND,   [LS_REDUCE_OR] = LS_OP_OR,
        [LS_REDUCE_XOR] = LS_OP_XOR};
    ls_op op = kind == LS_REDUCE_ADD && is_float ? LS_OP_FADD : ops[kind];
    return ls__ir_emit2(c, op, a, b);
}

static val reduce(at c, const lowering *l, ls_reduce kind, val value)
{
    ls_type type = ls__ir_type_of(c->function, value);
    val self = local_index(c);
    val own = slot_offset(c, self);
    int array = 0;
    for (uint32_t step = 16; step; step /= 2, array ^= 1) {
        store(c, l, array, own, value);
        barrier(c);
        val partner = slot_offset(c, xor_(c, self, k(c, self, step)));
        value = combine(c, kind, value, load(c, l, array, partner, type, 0));
    }
    barrier(c);
    /* All lanes have the same bits now, up to which NaN; where that matters it has to be seen. */
    return l->is_uniform ? exchange(c, l, value, k(c, self, 0)) : value;
}

static val broadcast(at c, const lowering *l, val value, val lane)
{
    uint64_t bits;
    if (!ls__pass_const(c->function, lane, &bits))
        lane = exchange(c, l, lane, first_lane(c));
    return exchange(c, l, value, lane_of_subgroup(c, lane));
}

/* Each lane's bit in its place, joined by the butterfly. */
static val ballot(at c, const lowering *l, val condition)
{
    val bit = shl(c, k32(c, 1), and_k(c, local_index(c), 31));
    return reduce(c, l, LS_REDUCE_OR, choose(c, condition, bit, k32(c, 0)));
}

static void add_slots(lowering *l, ls__ir_function *function)
{
    if (l->has_slots)
        return;
    l->has_slots = true;
    l->slots[0] = ls__ir_shared_add(function, "subgroup.a", l->lanes * 8, 8);
    l->slots[1] = ls__ir_shared_add(function, "subgroup.b", l->lanes * 8, 8);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    lowering *l = context;
    l->is_uniform = inst->id.id && inst->id.id < l->uniformity.value_count &&
                    l->uniformity.values[inst->id.id] <= LS__IR_WORKGROUP;
    switch ((ls_op)inst->op) {
    case LS_OP_SG_SHUFFLE:
        add_slots(l, c->function);
        return exchange(c, l, inst->args[0], lane_of_subgroup(c, inst->args[1]));
    case LS_OP_SG_BROADCAST:
        add_slots(l, c->function);
        return broadcast(c, l, inst->args[0], inst->args[1]);
    case LS_OP_SG_REDUCE:
        add_slots(l, c->function);
        return reduce(c, l, (ls_reduce)inst->imm, inst->args[0]);
    case LS_OP_SG_BALLOT:
        add_slots(l, c->function);
        return ballot(c, l, inst->args[0]);
    case LS_OP_WG_UNIFORM:
        add_slots(l, c->function);
        return exchange(c, l, inst->args[0], k32(c, 0));
    default:
        return (val){0};
    }
}

bool ls__pass_lower_subgroup(ls__ir_function *function, ls__arena *scratch)
{
    const uint32_t *workgroup = function->workgroup;
    if (!function->is_kernel)
        return false;
    lowering l = {.lanes = workgroup[0] * workgroup[1] * workgroup[2]};
    l.uniformity = ls__ir_uniformity_of(function, scratch);
    return ls__lower_each(function, scratch, lower, &l);
}
