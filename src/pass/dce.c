/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dce: removes what no effect depends on, and what cannot be reached.
 *
 * needs: nothing. keeps: everything observable, endless loops included. breaks: nothing.
 *
 * Liveness runs backwards from the roots (stores to buffers and shared memory, atomics, calls,
 * synchronisation, traps, loops, jumps, accesses that are reported when out of range) over
 * operands, over the structured instruction around a live one, and over variables and local
 * objects: a `set` lives when a `get` of its variable does.
 */
#include "pass/passes.h"
#include "pass/util.h"

typedef LS__VEC(ls__ir_inst *) inst_list;

typedef struct liveness {
    ls__ir_function *function;
    ls__arena *scratch;
    inst_list work;
    inst_list *sets;   /* by variable */
    inst_list *stores; /* by local object */
    bool *var_live, *local_live;
    bool changed;
} liveness;

/* Instructions without a value need a mark too; it is a flag that exists only inside this pass. */
enum { LIVE = 0x80 };

static void mark(liveness *l, ls__ir_inst *inst)
{
    if (!inst || (inst->flags & LIVE))
        return;
    inst->flags |= LIVE;
    ls__vec_push(l->scratch, &l->work, inst);
}

static bool is_root(const ls__ir_inst *inst)
{
    if (ls__ir_is_site(inst))
        return true;
    switch ((ls_op)inst->op) {
    case LS_OP_STORE:
        return inst->base.kind != LS_BASE_LOCAL;
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        return true;
    case LS_OP_VAR_SET:
    case LS_OP_IF:
    case LS_OP_SWITCH:
    case LS_OP_BLOCK:
        return false;
    default:
        return ls__ir_op_has((ls_op)inst->op, 'S') || ls__ir_op_has((ls_op)inst->op, 'W') ||
               ls__ir_op_has((ls_op)inst->op, 'X');
    }
}

static bool collect(ls__ir_inst *inst, void *context)
{
    liveness *l = context;
    if (ls__pass_is_jump(inst) && inst->next) {
        ls__pass_cut_after(l->function, inst);
        l->changed = true;
    }
    if (inst->op == LS_OP_VAR_SET)
        ls__vec_push(l->scratch, &l->sets[inst->imm], inst);
    if (inst->op == LS_OP_STORE && inst->base.kind == LS_BASE_LOCAL)
        ls__vec_push(l->scratch, &l->stores[inst->base.index], inst);
    if (is_root(inst))
        mark(l, inst);
    return true;
}

static void mark_all(liveness *l, inst_list *list, bool *done)
{
    if (*done)
        return;
    *done = true;
    for (uint32_t i = 0; i < list->count; i++)
        mark(l, list->items[i]);
}

static void propagate(liveness *l)
{
    while (l->work.count) {
        ls__ir_inst *inst = l->work.items[--l->work.count];
        for (uint32_t i = 0; i < inst->arg_count; i++)
            mark(l, ls__ir_def(l->function, inst->args[i]));
        mark(l, inst->parent->owner);
        if (inst->op == LS_OP_VAR_GET)
            mark_all(l, &l->sets[inst->imm], &l->var_live[inst->imm]);
        if (ls__pass_accesses_memory(inst) && inst->base.kind == LS_BASE_LOCAL)
            mark_all(l, &l->stores[inst->base.index], &l->local_live[inst->base.index]);
    }
}

/* Backwards, so that uses go before definitions. */
static void sweep(liveness *l, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        if (!(inst->flags & LIVE)) {
            ls__ir_remove(l->function, inst);
            l->changed = true;
            continue;
        }
        inst->flags &= (uint8_t)~LIVE;
        for (uint32_t i = 0; i < inst->region_count; i++)
            sweep(l, inst->regions[i]);
    }
}

/* An instruction after an `if` whose two sides both jump cannot be reached. */
static void cut_unreachable(liveness *l, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->region_count; i++)
            cut_unreachable(l, inst->regions[i]);
        if (inst->op == LS_OP_IF && inst->next && inst->next->op != LS_OP_WHILE &&
            ls__pass_ends_in_jump(inst->regions[0]) && ls__pass_ends_in_jump(inst->regions[1])) {
            ls__pass_cut_after(l->function, inst);
            l->changed = true;
        }
    }
}

bool ls__pass_dce(ls__ir_function *function, ls__arena *scratch)
{
    liveness l = {.function = function, .scratch = scratch};
    l.sets = LS__NEW_ARRAY(scratch, inst_list, function->vars.count);
    l.var_live = LS__NEW_ARRAY(scratch, bool, function->vars.count);
    l.stores = LS__NEW_ARRAY(scratch, inst_list, function->locals.count);
    l.local_live = LS__NEW_ARRAY(scratch, bool, function->locals.count);
    cut_unreachable(&l, function->body);
    ls__ir_walk(function->body, collect, &l);
    propagate(&l);
    sweep(&l, function->body);
    return l.changed;
}
