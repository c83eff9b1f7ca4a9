/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sets of a variable may write all lanes although only some are active. A set keeps what
 * inactive lanes hold (a blend), unless none of them will read it again: in a loop that lanes leave
 * one by one, a variable that nothing reads after the loop needs no blend, and the loop is shorter
 * for it.
 *
 * Nothing reads it after the loop when every get stands before the loop's end, and no loop around
 * it inside of the variable's home leads back to one: the home is the smallest region with all
 * uses, and begins by setting the variable.
 */
#include "emit/llvm/build.h"

typedef struct survey {
    unit *u;
    uint32_t order;
} survey;

static const ls__ir_region *outer(const ls__ir_region *region)
{
    return region->owner ? region->owner->parent : NULL;
}

static const ls__ir_region *common(const ls__ir_region *a, const ls__ir_region *b)
{
    for (; a; a = outer(a)) {
        for (const ls__ir_region *r = b; r; r = outer(r)) {
            if (r == a)
                return a;
        }
    }
    return NULL;
}

static void use(survey *s, const ls__ir_inst *inst, uint64_t var, bool is_get)
{
    variable *v = &s->u->vars[var];
    if (!v->first_use)
        v->first_use = inst;
    v->home_region = v->home_region ? common(v->home_region, inst->parent) : inst->parent;
    if (is_get)
        v->last_get = s->order;
}

static void walk(survey *s, const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        s->order++;
        if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
            use(s, inst, inst->imm, inst->op == LS_OP_VAR_GET);
        for (uint32_t i = 0; i < inst->result_count; i++)
            use(s, inst, inst->results[i].id, false);
        for (uint32_t i = 0; i < inst->region_count; i++)
            walk(s, inst->regions[i]);
        if (inst->region_count)
            ls__llvm_note(s->u, inst)->end = s->order;
    }
}

void ls__llvm_survey_vars(unit *u)
{
    survey s = {.u = u};
    walk(&s, u->function->body);
}

bool ls__llvm_is_dead_after(const variable *v, const ls__ir_inst *loop, uint32_t end)
{
    const ls__ir_inst *first = v->first_use;
    if (v->last_get > end || first->op != LS_OP_VAR_SET || first->parent != v->home_region)
        return false;
    for (const ls__ir_region *r = loop->parent; r != v->home_region; r = outer(r)) {
        if (!r || !r->owner || r->owner->op == LS_OP_LOOP)
            return false;
    }
    return true;
}

bool ls__llvm_needs_blend(const unit *u, ls_var var)
{
    const note *f = u->frame;
    if (!u->mask)
        return false;
    /* Between the set and the loop all lanes of the loop that are left go the same way. */
    while (f && !f->outer && f->inst->op == LS_OP_IF && !f->masked &&
           ls__llvm_is_uniform(u, f->inst->args[0]))
        f = f->parent;
    return !f || f->outer || f->inst->op != LS_OP_LOOP || f->has_continue ||
           !ls__llvm_is_dead_after(&u->vars[var.id], f->inst, f->end);
}
