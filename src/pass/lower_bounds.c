/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_bounds: the checks of index, load, store and atomics as compares, selects and branches.
 *
 * needs: bounds first, which proves most checks away. keeps: everything. breaks: nothing;
 * afterwards every access is INBOUNDS and no index is left. Needs of the device: an empty or short
 * range still has memory enough behind it for one access at offset 0 (loads out of range read there
 * and drop it).
 *
 * An index that can fail becomes a checked sum: LS_NOWHERE when it does not fit. A stored value or
 * atomic out of range is skipped by a branch; a load reads offset 0 instead and its value is
 * dropped.
 */
#include "pass/lower_util.h"
#include "pass/passes.h"

/* offset + index * stride, exact in 128 bits, for any operands. */
static val checked_sum(at c, val offset, val index, uint64_t stride)
{
    val zero = k64(c, 0), step = k64(c, stride);
    val low = mul(c, index, step);
    /* High half of (signed index) * (unsigned stride). */
    val high = mulhi_u(c, index, step);
    high = sub(c, high, choose(c, slt(c, index, zero), step, zero));
    val sum = add(c, low, offset);
    val carry = flag(c, sum, ult(c, sum, low));
    val sign = ashr(c, offset, k64(c, 63));
    high = add(c, add(c, high, sign), carry);
    val fits = eq(c, high, ashr(c, sum, k64(c, 63)));
    val nowhere = k64(c, (uint64_t)LS_NOWHERE);
    fits = and_(c, fits, ne(c, offset, nowhere));
    return choose(c, fits, sum, nowhere);
}

/* With a count the product is below count * stride: when that is small, so is the check. */
static val counted_sum(at c, val offset, val index, uint64_t stride, uint64_t count)
{
    val nowhere = k64(c, (uint64_t)LS_NOWHERE);
    val holds = ult(c, index, k64(c, count));
    uint64_t bits;
    val sum;
    if (stride <= UINT32_MAX && count <= UINT32_MAX >> 1) {
        val product = mul(c, index, k64(c, stride));
        sum = add(c, offset, product);
        if (!ls__pass_const(c->function, offset, &bits) || bits > INT32_MAX) {
            /* 0 <= product: the sum overflows upwards only, or starts from nowhere. */
            val fits = and_(c, sle(c, offset, sum), ne(c, offset, nowhere));
            holds = and_(c, holds, fits);
        }
    } else {
        sum = checked_sum(c, offset, index, stride);
    }
    return choose(c, holds, sum, nowhere);
}

static val lower_index(at c, const ls__ir_inst *inst)
{
    if (inst->imm2)
        return counted_sum(c, inst->args[0], inst->args[1], inst->imm, inst->imm2);
    return checked_sum(c, inst->args[0], inst->args[1], inst->imm);
}

static val lower_load(at c, ls__ir_inst *inst)
{
    val in_range =
        ls__lower_in_range(c, inst->base, inst->args[0], ls__ir_mem_bytes((ls_mem)inst->mem));
    val offset = choose(c, in_range, inst->args[0], k64(c, 0));
    ls__ir_inst *load = ls__ir_insert(c, LS_OP_LOAD, (ls_type)inst->type, &offset, 1);
    load->mem = inst->mem;
    load->base = inst->base;
    load->flags = inst->flags | LS__IR_INBOUNDS;
    return choose(c, in_range, load->id, ls__ir_const(c, (ls_type)inst->type, 0));
}

typedef struct lowering {
    bool *used; /* by value: something reads it (an ordered kernel's atomics must stay unread) */
    bool changed;
} lowering;

static bool mark_used(ls__ir_inst *inst, void *context)
{
    lowering *l = context;
    for (uint32_t i = 0; i < inst->arg_count; i++)
        l->used[inst->args[i].id] = true;
    return true;
}

/* The operand of a partial atomic whose offset is in range, with bits that change nothing for the
 * bytes beyond the range. */
static val within_range(at c, const ls__ir_inst *inst)
{
    ls__ir_inst *range = ls__ir_insert(c, LS_OP_RANGE, LS_TYPE_I64, NULL, 0);
    range->base = inst->base;
    val rest = sub(c, range->id, inst->args[0]), operand = inst->args[1];
    val count = trunc_(c, shl_k(c, umin(c, rest, k64(c, 4)), 3));
    val beyond = choose(c, eq(c, count, k32(c, 32)), k32(c, 0), shl(c, k32(c, UINT32_MAX), count));
    return inst->imm == LS_ATOMIC_AND ? or_(c, operand, beyond) : and_(c, operand, not_(c, beyond));
}

/* Puts the store or atomic under an `if`. An atomic's old value, where it is used, comes out
 * through a variable that is 0 otherwise. */
static val lower_effect(at c, ls__ir_inst *inst, bool is_used)
{
    bool is_partial = (inst->flags & LS__IR_PARTIAL) != 0;
    uint32_t bytes = is_partial ? 1 : ls__ir_mem_bytes((ls_mem)inst->mem);
    val in_range = ls__lower_in_range(c, inst->base, inst->args[0], bytes);
    ls_var old = {0};
    if (is_used) {
        old = ls__ir_var_add(c->function, "atomic.old", (ls_type)inst->type);
        ls__ir_set(c, old, ls__ir_const(c, (ls_type)inst->type, 0));
    }
    ls__ir_inst *guard = ls__ir_if(c, in_range);
    ls__ir_cursor inside = {c->function, guard->regions[0], NULL, inst->loc};
    if (is_partial)
        inst->args[1] = within_range(&inside, inst);
    ls__ir_inst *copy =
        ls__ir_insert(&inside, (ls_op)inst->op, (ls_type)inst->type, inst->args, inst->arg_count);
    copy->mem = inst->mem;
    copy->flags = inst->flags | LS__IR_INBOUNDS;
    copy->imm = inst->imm;
    copy->base = inst->base;
    if (!is_used) {
        ls__ir_remove(c->function, inst);
        return (val){0};
    }
    ls__ir_set(&inside, old, copy->id);
    return ls__ir_get(c, old);
}

static val lower(at c, ls__ir_inst *inst, void *context)
{
    lowering *l = context;
    val result = {0};
    if (inst->op == LS_OP_INDEX && !(inst->flags & LS__IR_NOWRAP))
        return lower_index(c, inst);
    if (inst->op == LS_OP_INDEX) { /* proved: plain arithmetic */
        val product = mul(c, inst->args[1], k64(c, inst->imm));
        return add(c, inst->args[0], product);
    }
    if (!ls__pass_accesses_memory(inst) || (inst->flags & LS__IR_INBOUNDS))
        return result;
    l->changed = true;
    if (inst->op == LS_OP_LOAD)
        return lower_load(c, inst);
    return lower_effect(c, inst, inst->id.id && l->used[inst->id.id]);
}

bool ls__pass_lower_bounds(ls__ir_function *function, ls__arena *scratch)
{
    lowering l = {LS__NEW_ARRAY(scratch, bool, function->values.count), false};
    ls__ir_walk(function->body, mark_used, &l);
    bool replaced = ls__lower_each(function, scratch, lower, &l);
    return replaced || l.changed;
}
