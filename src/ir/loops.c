/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trip counts of counted loops. A loop is counted when one variable with a constant start takes a
 * constant step in the step region, is set nowhere else, and a comparison of it with a constant,
 * which no iteration can pass by, leaves the loop. Everything else answers 0.
 */
#include "ir/ir.h"

typedef struct counter {
    const ls__ir_function *function;
    const ls__ir_inst *loop;
    uint64_t var;
    const ls__ir_inst *before, *step; /* the two places that set it */
    unsigned sets;
} counter;

/* `left < right`, `left <= right` or `left != right` holds for the loop to go on. One side is the
 * counter, the other a constant. */
typedef struct test {
    ls_op op;
    ls_value left, right;
} test;

static const ls__ir_inst *def(const counter *c, ls_value value)
{
    return ls__ir_def(c->function, value);
}

static bool find_sets(ls__ir_inst *inst, void *context)
{
    counter *c = context;
    for (uint32_t i = 0; i < inst->result_count; i++)
        c->sets += inst->results[i].id == c->var ? 3 : 0; /* never what we look for */
    if (inst->op != LS_OP_VAR_SET || inst->imm != c->var)
        return true;
    c->sets++;
    if (inst->parent == c->loop->regions[1])
        c->step = inst;
    else if (inst->parent == c->loop->parent && !c->step)
        c->before = inst; /* in program order, so before the loop */
    return true;
}

static bool constant_of(const counter *c, ls_value value, int64_t *constant)
{
    const ls__ir_inst *inst = def(c, value);
    if (!inst || inst->op != LS_OP_CONST)
        return false;
    *constant = inst->type == LS_TYPE_I32 ? (int32_t)inst->imm : (int64_t)inst->imm;
    return inst->type == LS_TYPE_I32 || inst->type == LS_TYPE_I64;
}

static bool is_get(const counter *c, ls_value value)
{
    const ls__ir_inst *inst = def(c, value);
    return inst && inst->op == LS_OP_VAR_GET && inst->imm == c->var;
}

/* The step's amount: the variable becomes itself plus (or minus) a constant. */
static bool step_of(const counter *c, int64_t *step)
{
    const ls__ir_inst *sum = def(c, c->step->args[0]);
    if (!sum || (sum->op != LS_OP_ADD && sum->op != LS_OP_SUB))
        return false;
    bool swapped = sum->op == LS_OP_ADD && is_get(c, sum->args[1]);
    ls_value get = sum->args[swapped], amount = sum->args[!swapped];
    if (!is_get(c, get) || def(c, get)->parent != c->step->parent ||
        !constant_of(c, amount, step) || *step == INT64_MIN)
        return false;
    if (sum->op == LS_OP_SUB)
        *step = -*step;
    return *step != 0;
}

static bool make_test(const counter *c, ls_value condition, bool negated, test *out)
{
    const ls__ir_inst *inst = def(c, condition);
    for (; inst && inst->op == LS_OP_NOT; inst = def(c, inst->args[0]))
        negated = !negated;
    if (!inst || inst->arg_count != 2)
        return false;
    *out = (test){(ls_op)inst->op, inst->args[0], inst->args[1]};
    if (!negated)
        return true;
    static const ls_op opposite[LS_OP_COUNT] = {[LS_OP_SLT] = LS_OP_SLE,
                                                [LS_OP_SLE] = LS_OP_SLT,
                                                [LS_OP_ULT] = LS_OP_ULE,
                                                [LS_OP_ULE] = LS_OP_ULT,
                                                [LS_OP_EQ] = LS_OP_NE};
    out->op = opposite[inst->op];
    out->left = inst->args[1];
    out->right = inst->args[0];
    return out->op != LS_OP_NONE;
}

static bool is_just_break(const ls__ir_region *region)
{
    return region->first && region->first == region->last && region->first->op == LS_OP_BREAK;
}

/* The test that leaves: the first structured instruction of the body, so that no `continue` can
 * come before it; else the step's `while`. `*get` is the variable's value that is compared. */
static bool find_test(const counter *c, test *out)
{
    const ls__ir_inst *inst = c->loop->regions[0]->first;
    while (inst && !ls__ir_op_has((ls_op)inst->op, 'X'))
        inst = inst->next;
    if (inst && inst->op == LS_OP_IF) {
        if (is_just_break(inst->regions[1]))
            return make_test(c, inst->args[0], false, out);
        if (is_just_break(inst->regions[0]))
            return make_test(c, inst->args[0], true, out);
    }
    inst = c->loop->regions[1]->last;
    return inst && inst->op == LS_OP_WHILE && make_test(c, inst->args[0], false, out);
}

static uint64_t trips(test t, bool counter_left, __int128 start, __int128 limit, __int128 step,
                      bool is_32)
{
    bool is_unsigned = t.op == LS_OP_ULT || t.op == LS_OP_ULE;
    if (t.op == LS_OP_SLE || t.op == LS_OP_ULE)
        limit += counter_left ? 1 : -1;
    __int128 distance = counter_left ? limit - start : start - limit;
    __int128 stride = counter_left ? step : -step;
    if (t.op == LS_OP_NE) {
        distance = step > 0 ? limit - start : start - limit;
        stride = step > 0 ? step : -step;
        if (distance <= 0 || distance % stride != 0)
            return 0;
    }
    if (stride <= 0)
        return 0;
    if (distance < 0)
        return 1;
    /* The counter must get past the limit without wrapping. */
    unsigned width = is_32 ? 32 : 64;
    __int128 top = is_unsigned ? ((__int128)1 << width) - 1 : ((__int128)1 << (width - 1)) - 1;
    __int128 bottom = is_unsigned ? 0 : -((__int128)1 << (width - 1));
    __int128 count = (distance + stride - 1) / stride, last = start + count * step;
    if (last > top || last < bottom || count >= INT64_MAX)
        return 0;
    return (uint64_t)count + 1; /* one more when the test stands at the end */
}

uint64_t ls__ir_loop_bound(const ls__ir_function *function, const ls__ir_inst *loop)
{
    counter c = {.function = function, .loop = loop};
    test t;
    int64_t start, limit, step;
    if (!find_test(&c, &t) || (t.op != LS_OP_SLT && t.op != LS_OP_SLE && t.op != LS_OP_ULT &&
                               t.op != LS_OP_ULE && t.op != LS_OP_NE))
        return 0;
    const ls__ir_inst *left = def(&c, t.left), *right = def(&c, t.right);
    bool counter_left = left && left->op == LS_OP_VAR_GET;
    const ls__ir_inst *get = counter_left ? left : right;
    if (!get || get->op != LS_OP_VAR_GET ||
        (get->parent != loop->regions[0] && get->parent != loop->regions[1]))
        return 0;
    c.var = get->imm;
    ls__ir_walk(function->body, find_sets, &c);
    if (c.sets != 2 || !c.before || !c.step || !constant_of(&c, c.before->args[0], &start) ||
        !constant_of(&c, counter_left ? t.right : t.left, &limit) || !step_of(&c, &step))
        return 0;
    bool is_32 = get->type == LS_TYPE_I32;
    bool is_unsigned = t.op == LS_OP_ULT || t.op == LS_OP_ULE;
    __int128 from = start, to = limit;
    if (is_unsigned) {
        from = is_32 ? (uint32_t)start : (uint64_t)start;
        to = is_32 ? (uint32_t)limit : (uint64_t)limit;
    }
    return trips(t, counter_left, from, to, step, is_32);
}
