/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_propagate: reads of variables become the values they hold, where one value is known to
 * reach.
 *
 * needs: nothing. keeps: everything. breaks: nothing; dce removes the sets that are read no more.
 *
 * One walk in program order carries, for each variable, the value it holds (none = unknown). The
 * value stands in a region around the current position, so it may be used there. What a structured
 * instruction may set is forgotten after it, and before a loop's body; a side of an `if` that ends
 * in a jump does not reach what follows, so it takes nothing away. An undo log restores the state
 * when the walk leaves a side.
 */
#include "pass/passes.h"
#include "pass/util.h"

typedef struct undo_entry {
    uint32_t var;
    ls_value value;
} undo_entry;

typedef struct copies {
    ls__ir_function *function;
    ls__arena *scratch;
    ls__pass_map map;
    ls_value *known; /* by variable; id 0 = unknown */
    LS__VEC(undo_entry) undo;
    LS__VEC(uint32_t) set_vars; /* variables set so far, for those of a region: from its start on */
    /* By variable: its last set, and in which straight line (epoch) that was; NULL once it is read.
     * A second set in the same line makes it useless. */
    ls__ir_inst **pending;
    uint32_t *pending_epoch, epoch;
    bool changed;
} copies;

static void learn(copies *c, uint32_t var, ls_value value)
{
    if (c->known[var].id == value.id)
        return;
    undo_entry entry = {var, c->known[var]};
    ls__vec_push(c->scratch, &c->undo, entry);
    c->known[var] = value;
}

static void roll_back(copies *c, uint32_t mark)
{
    while (c->undo.count > mark) {
        undo_entry entry = c->undo.items[--c->undo.count];
        c->known[entry.var] = entry.value;
    }
}

static void note_set(copies *c, uint32_t var)
{
    ls__vec_push(c->scratch, &c->set_vars, var);
}

static bool visit_forget(ls__ir_inst *inst, void *context)
{
    copies *c = context;
    if (inst->op == LS_OP_VAR_SET)
        learn(c, (uint32_t)inst->imm, (ls_value){0});
    for (uint32_t i = 0; i < inst->result_count; i++)
        learn(c, inst->results[i].id, (ls_value){0});
    return true;
}

/* Forgets what the walk noted as set since `mark`. */
static void forget_since(copies *c, uint32_t mark)
{
    for (uint32_t i = mark; i < c->set_vars.count; i++)
        learn(c, c->set_vars.items[i], (ls_value){0});
}

static void visit_get(copies *c, ls__ir_inst *inst)
{
    uint32_t var = (uint32_t)inst->imm;
    ls_value value = c->known[var];
    if (value.id) {
        ls__pass_replace(&c->map, c->function, inst, value);
        c->changed = true;
    } else {
        c->pending[var] = NULL;
        learn(c, var, inst->id);
    }
}

static void visit_set(copies *c, ls__ir_inst *inst)
{
    uint32_t var = (uint32_t)inst->imm;
    if (c->known[var].id == inst->args[0].id) {
        ls__ir_remove(c->function, inst); /* it holds this value already */
        c->changed = true;
        return;
    }
    if (c->pending[var] && c->pending_epoch[var] == c->epoch) {
        ls__ir_remove(c->function, c->pending[var]); /* overwritten unread */
        c->changed = true;
    }
    c->pending[var] = inst;
    c->pending_epoch[var] = c->epoch;
    learn(c, var, inst->args[0]);
    note_set(c, var);
}

static void walk(copies *c, ls__ir_region *region);

static void walk_arm(copies *c, ls__ir_region *region)
{
    uint32_t mark = c->undo.count;
    c->epoch++; /* what is pending outside may be read here, and sides know nothing of each other */
    walk(c, region);
    c->epoch++;
    roll_back(c, mark);
}

static void visit_if(copies *c, ls__ir_inst *inst)
{
    uint32_t set_mark = c->set_vars.count;
    walk_arm(c, inst->regions[0]);
    uint32_t else_mark = c->set_vars.count;
    walk_arm(c, inst->regions[1]);
    uint32_t end = c->set_vars.count;
    bool then_falls = !ls__pass_ends_in_jump(inst->regions[0]);
    bool else_falls = !ls__pass_ends_in_jump(inst->regions[1]);
    for (uint32_t i = set_mark; i < end; i++) {
        if (i < else_mark ? then_falls : else_falls)
            learn(c, c->set_vars.items[i], (ls_value){0});
    }
}

static void visit_structured(copies *c, ls__ir_inst *inst)
{
    uint32_t set_mark = c->set_vars.count;
    if (inst->op == LS_OP_IF) {
        visit_if(c, inst);
    } else if (inst->op == LS_OP_LOOP) {
        for (uint32_t i = 0; i < 2; i++)
            ls__ir_walk(inst->regions[i], visit_forget, c); /* earlier trips have set them */
        walk_arm(c, inst->regions[0]);
        forget_since(c, set_mark);
        walk_arm(c, inst->regions[1]);
        forget_since(c, set_mark);
    } else {
        for (uint32_t i = 0; i < inst->region_count; i++)
            walk_arm(c, inst->regions[i]);
        forget_since(c, set_mark);
    }
}

static void walk(copies *c, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        ls__pass_map_args(&c->map, inst);
        if (inst->op == LS_OP_VAR_GET) {
            visit_get(c, inst);
        } else if (inst->op == LS_OP_VAR_SET) {
            visit_set(c, inst);
        } else if (inst->region_count) {
            visit_structured(c, inst);
        } else if (inst->op == LS_OP_CALL) {
            c->epoch++;
            for (uint32_t i = 0; i < inst->result_count; i++) {
                learn(c, inst->results[i].id, (ls_value){0});
                note_set(c, inst->results[i].id);
            }
        } else if (ls__ir_op_has((ls_op)inst->op, 'X')) {
            c->epoch++;
        }
    }
}

/* Variables start as 0: a constant in front of the body, for each that is read at all. */
static bool visit_used(ls__ir_inst *inst, void *context)
{
    bool *used = context;
    if (inst->op == LS_OP_VAR_GET)
        used[inst->imm] = true;
    return true;
}

static void know_zeros(copies *c)
{
    ls__ir_function *function = c->function;
    if (!function->body->first)
        return;
    bool *used = LS__NEW_ARRAY(c->scratch, bool, function->vars.count);
    ls__ir_walk(function->body, visit_used, used);
    ls_value zero[LS_TYPE_COUNT] = {{0}};
    ls__ir_cursor at = ls__pass_before(function, function->body->first);
    for (uint32_t i = 1; i < function->vars.count; i++) {
        uint8_t type = function->vars.items[i].type;
        if (used[i] && !zero[type].id)
            zero[type] = ls__ir_const(&at, (ls_type)type, 0);
        if (used[i])
            c->known[i] = zero[type];
    }
}

bool ls__pass_copy_propagate(ls__ir_function *function, ls__arena *scratch)
{
    copies c = {.function = function, .scratch = scratch};
    uint32_t vars = function->vars.count;
    if (vars <= 1)
        return false;
    c.known = LS__NEW_ARRAY(scratch, ls_value, vars);
    c.pending = LS__NEW_ARRAY(scratch, ls__ir_inst *, vars);
    c.pending_epoch = LS__NEW_ARRAY(scratch, uint32_t, vars);
    ls__pass_map_init(&c.map, function, scratch);
    know_zeros(&c);
    walk(&c, function->body);
    return c.changed;
}
