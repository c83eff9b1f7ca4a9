/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that are base + lane * stride all their life: the counter of a loop that starts at the
 * lane's number and goes on by a step that all lanes share. Only the base is kept, a scalar, so
 * what is loaded there is contiguous.
 *
 * Such a variable is set once before its loop and then only in the loop's own regions, where each
 * lane that is left does it; lanes that have left the loop read it no more (blend.c).
 */
#include "emit/llvm/build.h"

static bool adds_to_itself(const unit *u, const ls__ir_inst *set)
{
    const ls__ir_inst *sum = ls__ir_def(u->function, set->args[0]);
    if (sum->op != LS_OP_ADD && sum->op != LS_OP_SUB)
        return false;
    for (int i = 0; i < (sum->op == LS_OP_ADD ? 2 : 1); i++) {
        const ls__ir_inst *get = ls__ir_def(u->function, sum->args[i]);
        if (get->op == LS_OP_VAR_GET && get->imm == set->imm &&
            ls__llvm_is_uniform(u, sum->args[1 - i]))
            return true;
    }
    return false;
}

static bool look_at_set(ls__ir_inst *inst, void *context)
{
    unit *u = context;
    for (uint32_t i = 0; i < inst->result_count; i++)
        u->vars[inst->results[i].id].is_strided = false;
    variable *v = inst->op == LS_OP_VAR_SET ? &u->vars[inst->imm] : NULL;
    if (!v || !v->is_strided || inst == v->first_use)
        return true;
    const ls__ir_inst *loop = inst->parent->owner;
    const note *n = loop && loop->op == LS_OP_LOOP ? ls__llvm_note(u, loop) : NULL;
    v->is_strided = n && !n->outer && (!v->loop || v->loop == loop) && adds_to_itself(u, inst) &&
                    (inst->parent == loop->regions[1] || !n->has_continue) &&
                    ls__llvm_is_dead_after(v, loop, n->end);
    v->loop = loop;
    return true;
}

void ls__llvm_find_strided(unit *u)
{
    if (u->width == 1)
        return;
    for (uint32_t i = 1; i < u->function->vars.count; i++) {
        variable *v = &u->vars[i];
        ls_type type = (ls_type)u->function->vars.items[i].type;
        v->is_strided = v->first_use && v->first_use->op == LS_OP_VAR_SET &&
                        !ls__llvm_is_uniform_var(u, (ls_var){i}) && v->home.kind == SLOT_NONE &&
                        (type == LS_TYPE_I32 || type == LS_TYPE_I64);
    }
    ls__ir_walk(u->function->body, look_at_set, u);
    for (uint32_t i = 1; i < u->function->vars.count; i++)
        u->vars[i].is_strided &= u->vars[i].loop != NULL;
}
