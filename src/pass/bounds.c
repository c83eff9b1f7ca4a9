/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds: proves accesses INBOUNDS and indices NOWRAP, so that no check is emitted for them.
 *
 * needs: fold and cse first (bare comparisons and constants). keeps: everything. breaks: the flags
 * hold where the instruction stands: nothing may move out from under its conditions afterwards.
 *
 * Intervals of values (interval.c), narrowed by the conditions around a place: the sides of an
 * `if`, and what follows an `if` with a side that jumps away. Accesses are proved against objects
 * of fixed size and against what a buffer parameter promises (min_bytes); index arithmetic against
 * i64 and its count.
 *
 * Variables have one interval for the whole function, found in a walk before the one that marks:
 * the join of 0 and all sets. An increment of a variable by a constant that cannot wrap (because a
 * condition bounds it, as in a counted loop) never lowers it, so it does not count for the lower
 * bound, and likewise downwards. A loop's step sees what the body's own conditions said of a
 * variable that the body does not set.
 */
#include "pass/interval.h"
#include "pass/passes.h"
#include "pass/util.h"

typedef struct narrowing { /* undo log */
    uint32_t value;
    ls__interval before;
} narrowing;

typedef struct carried { /* holds in the step of the innermost loop, if its body does not set var */
    uint32_t var;
    ls__interval interval;
} carried;

typedef struct loop_scope {
    const ls__ir_inst *inst;
    uint32_t begin; /* position of the walk at its start */
    bool in_step, has_continued;
    uint32_t carried_from; /* its entries in `carried` */
} loop_scope;

typedef struct proof {
    ls__ir_function *function;
    ls__arena *scratch;
    ls__interval *values, *vars;
    ls__interval *next_vars; /* survey: what the sets join to; NULL while marking */
    uint32_t *last_set;      /* by variable: position of its last set, 0 = none */
    LS__VEC(narrowing) undo;
    LS__VEC(carried) carried;
    LS__VEC(loop_scope) loops;
    uint32_t position;
    bool carries; /* what is assumed now holds on every way from here to the loop's step */
    bool changed;
} proof;

static bool is_integer(ls_type type)
{
    return type == LS_TYPE_I32 || type == LS_TYPE_I64;
}

enum { LOOK_BACK = 3 };

/* What is known of `value` here. Operands may have been narrowed since it was computed, so its few
 * nearest ancestors are asked again. */
static ls__interval interval_of(const proof *p, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(p->function, value);
    ls_type type = (ls_type)inst->type;
    if (!is_integer(type))
        return ls__interval_full(LS_TYPE_I64);
    ls__interval known = p->values[value.id];
    if (depth == 0 || inst->arg_count == 0 || inst->arg_count > 3 || inst->op == LS_OP_LOAD)
        return known;
    ls__interval args[3];
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = interval_of(p, inst->args[i], depth - 1);
    return ls__interval_meet(type, known, ls__interval_eval(p->function, inst, args));
}

/* --- conditions ------------------------------------------------------------------------------ */

static void narrow(proof *p, ls_value value, ls__interval to)
{
    const ls__ir_inst *inst = ls__ir_def(p->function, value);
    if (inst->op == LS_OP_CONST)
        return;
    narrowing entry = {value.id, p->values[value.id]};
    ls__vec_push(p->scratch, &p->undo, entry);
    p->values[value.id] = ls__interval_meet((ls_type)inst->type, entry.before, to);
    if (p->carries && inst->op == LS_OP_VAR_GET &&
        inst->parent == p->loops.items[p->loops.count - 1].inst->regions[0]) {
        carried carry = {(uint32_t)inst->imm, p->values[value.id]};
        ls__vec_push(p->scratch, &p->carried, carry);
    }
}

static void roll_back(proof *p, uint32_t mark)
{
    while (p->undo.count > mark) {
        narrowing entry = p->undo.items[--p->undo.count];
        p->values[entry.value] = entry.before;
    }
}

/* a < b, or a <= b, signed or unsigned. */
static void assume_less(proof *p, ls_value a, ls_value b, bool is_signed, bool or_equal)
{
    ls_type type = ls__ir_type_of(p->function, a);
    ls__interval left = interval_of(p, a, LOOK_BACK), right = interval_of(p, b, LOOK_BACK);
    ls__interval new_left = ls__interval_full(type), new_right = new_left;
    if (is_signed) {
        if (!or_equal && (right.high == INT64_MIN || left.low == INT64_MAX))
            return;
        new_left.high = or_equal ? right.high : right.high - 1;
        new_right.low = or_equal ? left.low : left.low + 1;
    } else {
        if (!or_equal && (right.most == 0 || left.least == UINT64_MAX))
            return;
        new_left.most = or_equal ? right.most : right.most - 1;
        new_right.least = or_equal ? left.least : left.least + 1;
    }
    narrow(p, a, new_left);
    narrow(p, b, new_right);
}

static void assume(proof *p, ls_value condition, bool holds, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(p->function, condition);
    if (depth == 0 || inst->arg_count == 0)
        return;
    ls_value a = inst->args[0], b = inst->args[inst->arg_count > 1 ? 1 : 0];
    bool on_integers = is_integer(ls__ir_type_of(p->function, a));
    switch ((ls_op)inst->op) {
    case LS_OP_NOT:
        assume(p, a, !holds, depth - 1);
        break;
    case LS_OP_AND:
    case LS_OP_OR:
        if (holds == (inst->op == LS_OP_AND)) {
            assume(p, a, holds, depth - 1);
            assume(p, b, holds, depth - 1);
        }
        break;
    case LS_OP_EQ:
    case LS_OP_NE:
        if (on_integers && holds == (inst->op == LS_OP_EQ)) {
            narrow(p, a, interval_of(p, b, LOOK_BACK));
            narrow(p, b, interval_of(p, a, LOOK_BACK));
        }
        break;
    case LS_OP_SLT:
    case LS_OP_SLE:
    case LS_OP_ULT:
    case LS_OP_ULE: {
        bool is_signed = inst->op == LS_OP_SLT || inst->op == LS_OP_SLE;
        bool or_equal = inst->op == LS_OP_SLE || inst->op == LS_OP_ULE;
        if (holds)
            assume_less(p, a, b, is_signed, or_equal);
        else
            assume_less(p, b, a, is_signed, !or_equal);
        break;
    }
    default:
        break;
    }
}

/* --- variables ------------------------------------------------------------------------------- */

static ls__interval interval_of_get(const proof *p, const ls__ir_inst *inst)
{
    uint32_t var = (uint32_t)inst->imm;
    ls__interval known = p->vars[var];
    if (!p->loops.count)
        return known;
    const loop_scope *loop = &p->loops.items[p->loops.count - 1];
    if (!loop->in_step || p->last_set[var] >= loop->begin)
        return known;
    for (uint32_t i = loop->carried_from; i < p->carried.count; i++) {
        if (p->carried.items[i].var == var)
            known = ls__interval_meet((ls_type)inst->type, known, p->carried.items[i].interval);
    }
    return known;
}

/* What a set adds to the interval of its variable. */
static void join_set(proof *p, const ls__ir_inst *set)
{
    uint32_t var = (uint32_t)set->imm;
    ls_type type = (ls_type)p->function->vars.items[var].type;
    if (!p->next_vars || !is_integer(type))
        return;
    ls__interval value = interval_of(p, set->args[0], LOOK_BACK), *joined = &p->next_vars[var];
    const ls__ir_inst *inst = ls__ir_def(p->function, set->args[0]);
    uint64_t bits;
    if (inst->op == LS_OP_ADD && ls__pass_const(p->function, inst->args[1], &bits)) {
        const ls__ir_inst *get = ls__ir_def(p->function, inst->args[0]);
        ls__interval old = interval_of(p, inst->args[0], LOOK_BACK);
        int64_t delta = ls__pass_signed(type, bits);
        /* value.low > old.low means that the signed sum did not wrap. */
        if (get->op == LS_OP_VAR_GET && get->imm == var) {
            if (delta > 0 && old.high < ls__interval_full(type).high - delta)
                value.low = joined->low;
            if (delta < 0 && old.low > ls__interval_full(type).low - delta)
                value.high = joined->high;
            if (delta > 0 && old.most < ls__interval_full(type).most - (uint64_t)delta)
                value.least = joined->least;
        }
    }
    *joined = ls__interval_join(*joined, value);
}

static void visit_set(proof *p, const ls__ir_inst *inst)
{
    join_set(p, inst);
    p->last_set[inst->imm] = p->position;
}

static void visit_call(proof *p, const ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->result_count; i++) {
        uint32_t var = inst->results[i].id;
        p->last_set[var] = p->position;
        if (p->next_vars)
            p->next_vars[var] = ls__interval_full((ls_type)p->function->vars.items[var].type);
    }
}

/* --- walking --------------------------------------------------------------------------------- */

static void mark(proof *p, ls__ir_inst *inst)
{
    uint8_t flag = 0;
    if (inst->op == LS_OP_INDEX) {
        if (ls__interval_index_holds(inst, interval_of(p, inst->args[0], LOOK_BACK),
                                     interval_of(p, inst->args[1], LOOK_BACK)))
            flag = LS__IR_NOWRAP;
    } else if (ls__pass_accesses_memory(inst)) {
        uint64_t size = ls__pass_least_size(p->function, inst->base);
        uint64_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
        ls__interval offset = interval_of(p, inst->args[0], LOOK_BACK);
        if (size >= bytes && offset.low >= 0 && (uint64_t)offset.high <= size - bytes)
            flag = LS__IR_INBOUNDS;
    }
    if (flag & ~inst->flags) {
        inst->flags |= flag;
        p->changed = true;
    }
}

static void walk(proof *p, ls__ir_region *region);

static void walk_scoped(proof *p, ls__ir_region *region)
{
    uint32_t undo = p->undo.count;
    walk(p, region);
    roll_back(p, undo);
}

enum { CONDITION_DEPTH = 8 };

static void walk_if(proof *p, ls__ir_inst *inst)
{
    for (int side = 0; side < 2; side++) {
        uint32_t undo = p->undo.count;
        assume(p, inst->args[0], side == 0, CONDITION_DEPTH);
        walk(p, inst->regions[side]);
        roll_back(p, undo);
    }
    if (p->loops.count) {
        const loop_scope *loop = &p->loops.items[p->loops.count - 1];
        p->carries = !loop->has_continued && inst->parent == loop->inst->regions[0];
    }
    for (int side = 0; side < 2; side++) {
        if (ls__pass_ends_in_jump(inst->regions[side]))
            assume(p, inst->args[0], side == 1, CONDITION_DEPTH);
    }
    p->carries = false;
}

static void walk_loop(proof *p, ls__ir_inst *inst)
{
    loop_scope scope = {inst, p->position, false, false, p->carried.count};
    ls__vec_push(p->scratch, &p->loops, scope);
    walk_scoped(p, inst->regions[0]);
    p->loops.items[p->loops.count - 1].in_step = true;
    walk_scoped(p, inst->regions[1]);
    p->loops.count--;
    p->carried.count = scope.carried_from;
}

static void visit_value(proof *p, const ls__ir_inst *inst)
{
    if (!inst->id.id || !is_integer((ls_type)inst->type))
        return;
    if (inst->op == LS_OP_VAR_GET) {
        p->values[inst->id.id] = interval_of_get(p, inst);
        return;
    }
    ls__interval args[3] = {{0}};
    p->values[inst->id.id] = ls__interval_full((ls_type)inst->type);
    if (inst->arg_count > 3)
        return;
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = interval_of(p, inst->args[i], LOOK_BACK);
    p->values[inst->id.id] = ls__interval_eval(p->function, inst, args);
}

static void walk(proof *p, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        p->position++;
        visit_value(p, inst);
        switch ((ls_op)inst->op) {
        case LS_OP_IF:
            walk_if(p, inst);
            break;
        case LS_OP_LOOP:
            walk_loop(p, inst);
            break;
        case LS_OP_CONTINUE:
            p->loops.items[p->loops.count - 1].has_continued = true;
            break;
        case LS_OP_VAR_SET:
            visit_set(p, inst);
            break;
        case LS_OP_CALL:
            visit_call(p, inst);
            break;
        default:
            for (uint32_t i = 0; i < inst->region_count; i++)
                walk_scoped(p, inst->regions[i]);
            if (!p->next_vars)
                mark(p, inst);
            break;
        }
    }
}

bool ls__pass_bounds(ls__ir_function *function, ls__arena *scratch)
{
    proof p = {.function = function, .scratch = scratch};
    uint32_t vars = function->vars.count;
    p.values = LS__NEW_ARRAY(scratch, ls__interval, function->values.count);
    p.vars = LS__NEW_ARRAY(scratch, ls__interval, vars);
    p.next_vars = LS__NEW_ARRAY(scratch, ls__interval, vars); /* all zero: as variables start */
    p.last_set = LS__NEW_ARRAY(scratch, uint32_t, vars);
    for (uint32_t i = 1; i < vars; i++)
        p.vars[i] = ls__interval_full((ls_type)function->vars.items[i].type);
    walk(&p, function->body);
    p.vars = p.next_vars;
    p.next_vars = NULL;
    p.position = 0;
    for (uint32_t i = 0; i < vars; i++)
        p.last_set[i] = 0;
    walk(&p, function->body);
    return p.changed;
}
