/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniformity: over which set of lanes values and control flow are the same. docs/ir.md has the
 * rules.
 *
 * Scopes only ever narrow, so the analysis repeats a walk in program order until nothing changes.
 * A value's scope speaks of the lanes that execute its instruction together; control flow's scope
 * speaks of all lanes.
 *
 * Control flow at a point is the join of what surrounds it (a stack of frames, one for each
 * structured instruction): conditions, and lanes that have left: by `break` (gone until the frame
 * ends), `continue` (until the step), `return` (for good). In a loop what left also counts before
 * the point where it left, in the next iteration; so loops keep it from one walk to the next.
 *
 * Subtle: variables. A set under divergent control flow makes the variable divergent, but only
 * relative to the variable's home, the smallest region that holds all its uses: lanes that never
 * enter the home, or have left it for good, read it no more. So a loop counter inside a divergent
 * `if` is uniform for the lanes that are in there, and one whose loop some lanes leave early is
 * not.
 */
#include <string.h>

#include "ir/ir.h"
#include "ir/uniform.h"

enum { MAX_WALKS = 64 }; /* after so many, what still moves is taken as divergent */

typedef struct frame {
    struct frame *outer;
    const ls__ir_inst *inst;
    uint32_t depth; /* number of frames around this one */
    uint8_t condition, left, continued, returned;
    uint32_t loop; /* number of the loop */
} frame;

typedef struct loop_state { /* from one walk to the next */
    uint8_t left, returned;
} loop_state;

typedef struct home {
    const ls__ir_region *region;
    const ls__ir_inst *first; /* the variable's first use in program order */
    uint32_t depth;           /* number of structured instructions around region */
} home;

typedef struct analysis {
    const ls__ir_function *function;
    ls__ir_uniformity *result;
    uint64_t written;  /* bit b: buffer b is written by the function or what it calls */
    uint8_t narrowest; /* LANE, or WORKGROUP when a workgroup is one lane */
    bool one_subgroup;
    home *homes; /* by variable */
    loop_state *loops;
    uint32_t loop_count; /* so far in this walk */
    frame *top;
    uint8_t returned, control;
    bool changed, record;
} analysis;

/* What holds for two scopes together: the narrower. */
static uint8_t join(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static uint8_t wider(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* --- buffers that are written ----------------------------------------------------------------- */

typedef struct writes {
    const ls__ir_module *module;
    uint64_t *masks; /* by function; NULL: no calls seen yet */
    uint8_t *known;
    ls__arena *arena;
    uint64_t mask;
    unsigned depth;
} writes;

static uint64_t written_by(writes *parent, const ls__ir_function *function);

static uint64_t buffer_bit(ls_base base)
{
    return base.kind == LS_BASE_BUFFER && base.index < 64 ? UINT64_C(1) << base.index : 0;
}

static bool collect_writes(ls__ir_inst *inst, void *context)
{
    writes *w = context;
    if (inst->op == LS_OP_STORE || inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS)
        w->mask |= buffer_bit(inst->base);
    if (inst->op == LS_OP_CALL && inst->imm > 0 && inst->imm < w->module->functions.count) {
        uint64_t callee = written_by(w, w->module->functions.items[inst->imm]);
        for (uint32_t i = 0; i < inst->base_count && i < 64; i++) {
            if (callee >> i & 1)
                w->mask |= buffer_bit(inst->bases[i]);
        }
    }
    return true;
}

static uint64_t written_by(writes *parent, const ls__ir_function *function)
{
    uint32_t id = function->id.id;
    if (!parent->masks) {
        uint32_t count = parent->module->functions.count;
        parent->masks = LS__NEW_ARRAY(parent->arena, uint64_t, count);
        parent->known = LS__NEW_ARRAY(parent->arena, uint8_t, count);
    }
    if (parent->known[id] || parent->depth > LS__IR_MAX_CALL_DEPTH)
        return parent->masks[id];
    parent->known[id] = 1;
    writes own = *parent;
    own.mask = 0;
    own.depth++;
    ls__ir_walk(function->body, collect_writes, &own);
    parent->masks[id] = own.mask;
    return own.mask;
}

/* Bit b: the function, or one it calls, stores to or has atomics on buffer b. Needs calls and bases
 * that are in range. */
static uint64_t written_buffers(const ls__ir_function *function, ls__arena *arena)
{
    writes w = {.module = function->module, .arena = arena};
    ls__ir_walk(function->body, collect_writes, &w);
    return w.mask;
}

/* --- homes of variables ----------------------------------------------------------------------- */

static const ls__ir_region *outer_region(const ls__ir_region *region)
{
    return region->owner->parent;
}

static uint32_t region_depth(const ls__ir_region *region)
{
    uint32_t depth = 0;
    for (; region->owner; region = outer_region(region))
        depth++;
    return depth;
}

static void use_variable(analysis *a, const ls__ir_inst *inst, uint64_t var)
{
    home *h = &a->homes[var];
    const ls__ir_region *region = inst->parent;
    uint32_t depth = region_depth(region);
    if (!h->first) {
        *h = (home){region, inst, depth};
        return;
    }
    while (h->region != region) {
        if (depth >= h->depth) {
            region = outer_region(region);
            depth--;
        } else {
            h->region = outer_region(h->region);
            h->depth--;
        }
    }
}

static bool find_uses(ls__ir_inst *inst, void *context)
{
    analysis *a = context;
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        use_variable(a, inst, inst->imm);
    for (uint32_t i = 0; i < inst->result_count; i++)
        use_variable(a, inst, inst->results[i].id);
    a->loop_count += inst->op == LS_OP_LOOP;
    return true;
}

/* What a variable holds when a lane comes to the home again, in another iteration of a loop around
 * it, depends on how often the lane has been there. Unless the home starts by setting it, the home
 * must be one that no loop surrounds. */
static void settle_home(home *h)
{
    if (!h->first || (h->first->op != LS_OP_VAR_GET && h->first->parent == h->region))
        return;
    uint32_t depth = h->depth;
    for (const ls__ir_region *r = h->region; r->owner; r = outer_region(r), depth--) {
        if (r->owner->op == LS_OP_LOOP)
            *h = (home){outer_region(r), h->first, depth - 1};
    }
}

/* --- control flow ----------------------------------------------------------------------------- */

/* Frames from the top down to the one at `depth`, returns not counted. */
static uint8_t control_since(const analysis *a, uint32_t depth)
{
    uint8_t scope = LS__IR_GRID;
    for (const frame *f = a->top; f && f->depth >= depth; f = f->outer)
        scope = join(scope, join(f->condition, join(f->left, f->continued)));
    return scope;
}

static void update_control(analysis *a)
{
    a->control = join(a->returned, control_since(a, 0));
    for (const frame *f = a->top; f; f = f->outer)
        a->control = join(a->control, f->returned);
}

static void narrow_loop(analysis *a, uint8_t *kept, uint8_t scope)
{
    if (scope > *kept) {
        *kept = scope;
        a->changed = true;
    }
}

static void leave(analysis *a, const ls__ir_inst *inst)
{
    frame *f = a->top;
    if (inst->op == LS_OP_RETURN) {
        a->returned = join(a->returned, a->control);
        for (; f; f = f->outer) {
            if (f->inst->op == LS_OP_LOOP)
                narrow_loop(a, &a->loops[f->loop].returned, a->control);
        }
    } else {
        bool is_continue = inst->op == LS_OP_CONTINUE;
        while (f && f->inst->op != LS_OP_LOOP && (is_continue || f->inst->op == LS_OP_IF))
            f = f->outer;
        if (!f)
            return;
        uint8_t scope = control_since(a, f->depth);
        if (is_continue)
            f->continued = join(f->continued, scope);
        else
            f->left = join(f->left, scope);
        if (!is_continue && f->inst->op == LS_OP_LOOP)
            narrow_loop(a, &a->loops[f->loop].left, scope);
    }
    update_control(a);
}

/* --- values ----------------------------------------------------------------------------------- */

static uint8_t value_scope(const analysis *a, ls_value value)
{
    return value.id < a->result->value_count ? a->result->values[value.id] : (uint8_t)LS__IR_LANE;
}

static uint8_t id_scope(const analysis *a, const ls__ir_inst *inst)
{
    const ls__ir_function *function = a->function;
    bool thin = function->is_kernel && inst->imm2 < 3 && function->workgroup[inst->imm2] == 1;
    switch ((ls_id)inst->imm) {
    case LS_ID_GLOBAL_SIZE:
    case LS_ID_WORKGROUP_SIZE:
    case LS_ID_WORKGROUP_COUNT:
    case LS_ID_ITERATION:
        return LS__IR_GRID;
    case LS_ID_WORKGROUP_ID:
        return LS__IR_WORKGROUP;
    case LS_ID_SUBGROUP:
        return LS__IR_SUBGROUP;
    case LS_ID_LOCAL_ID: /* one lane thick in this dimension: always 0 */
        return thin ? LS__IR_GRID : LS__IR_LANE;
    case LS_ID_GLOBAL_ID:
        return thin ? LS__IR_WORKGROUP : LS__IR_LANE;
    case LS_ID_LOCAL_INDEX:
    case LS_ID_LANE:
    case LS_ID_COUNT:
        break;
    }
    return LS__IR_LANE;
}

static uint8_t load_scope(const analysis *a, const ls__ir_inst *inst, uint8_t offset)
{
    bool is_constant = inst->base.kind == LS_BASE_CONST || (inst->base.kind == LS_BASE_BUFFER &&
                                                            !(a->written & buffer_bit(inst->base)));
    uint8_t known = inst->flags & LS__IR_UNIFORM ? LS__IR_WORKGROUP : LS__IR_LANE;
    return is_constant ? wider(offset, known) : known;
}

static uint8_t scope_of(const analysis *a, const ls__ir_inst *inst)
{
    uint8_t first = inst->arg_count ? value_scope(a, inst->args[0]) : (uint8_t)LS__IR_GRID;
    uint8_t all = first;
    for (uint32_t i = 1; i < inst->arg_count; i++)
        all = join(all, value_scope(a, inst->args[i]));

    switch (inst->op) {
    case LS_OP_PARAM:
        return a->function->is_kernel ? LS__IR_GRID : LS__IR_LANE;
    case LS_OP_ID:
        return id_scope(a, inst);
    case LS_OP_LOAD:
        return load_scope(a, inst, first);
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        return LS__IR_LANE;
    case LS_OP_VAR_GET:
        return a->result->vars[inst->imm];
    case LS_OP_SG_SHUFFLE: /* of a uniform value, or from one lane, the same for all */
        return wider(first, join(LS__IR_SUBGROUP, value_scope(a, inst->args[1])));
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
        return wider(first, LS__IR_SUBGROUP);
    case LS_OP_WG_UNIFORM:
        return wider(first, LS__IR_WORKGROUP);
    default:
        return all;
    }
}

static uint8_t normal(const analysis *a, uint8_t scope)
{
    if (scope == LS__IR_SUBGROUP && a->one_subgroup)
        scope = LS__IR_WORKGROUP;
    return wider(scope, a->narrowest);
}

static void narrow(analysis *a, uint8_t *kept, uint8_t scope)
{
    scope = normal(a, scope);
    if (scope > *kept) {
        *kept = scope;
        a->changed = true;
    }
}

static void set_variable(analysis *a, uint64_t var, uint8_t scope)
{
    narrow(a, &a->result->vars[var], join(scope, control_since(a, a->homes[var].depth)));
}

/* --- the walk --------------------------------------------------------------------------------- */

static void record_control(analysis *a, const ls__ir_inst *inst)
{
    ls__ir_control *table = a->result->controls;
    uint32_t mask = a->result->control_capacity - 1;
    uint32_t at = ls__ir_pointer_hash(inst) & mask;
    while (table[at].inst)
        at = (at + 1) & mask;
    table[at] = (ls__ir_control){inst, a->control};
}

/* Where lanes that jump out of a branch go: what break leaves, the loop that continue goes on with,
 * the end of the function. NULL: there is none. */
typedef struct departures {
    frame *block, *loop;
    uint8_t left, continued, returned;
} departures;

static departures departures_from(const analysis *a, frame *f)
{
    departures d = {.returned = a->returned};
    for (; f && !d.loop; f = f->outer) {
        if (f->inst->op != LS_OP_IF && !d.block)
            d.block = f;
        if (f->inst->op == LS_OP_LOOP)
            d.loop = f;
    }
    d.left = d.block ? d.block->left : (uint8_t)LS__IR_GRID;
    d.continued = d.loop ? d.loop->continued : (uint8_t)LS__IR_GRID;
    return d;
}

static void set_departures(analysis *a, const departures *d)
{
    if (d->block)
        d->block->left = d->left;
    if (d->loop)
        d->loop->continued = d->continued;
    a->returned = d->returned;
}

static void walk_region(analysis *a, const ls__ir_region *region);

/* Branches: a lane that has left from one does not lack in another. */
static void walk_branches(analysis *a, const ls__ir_inst *inst, frame *f)
{
    departures before = departures_from(a, f->outer), after = before;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        set_departures(a, &before);
        f->left = LS__IR_GRID;
        update_control(a);
        walk_region(a, inst->regions[i]);
        departures now = departures_from(a, f->outer);
        after.left = join(after.left, now.left);
        after.continued = join(after.continued, now.continued);
        after.returned = join(after.returned, now.returned);
    }
    set_departures(a, &after);
}

static void walk_structured(analysis *a, const ls__ir_inst *inst)
{
    frame f = {.outer = a->top, .inst = inst, .depth = a->top ? a->top->depth + 1 : 0};
    if (f.depth > LS__IR_WALK_DEPTH)
        return;
    if (inst->op == LS_OP_LOOP) {
        f.loop = a->loop_count++;
        f.left = a->loops[f.loop].left;
        f.returned = a->loops[f.loop].returned;
    } else if (inst->arg_count) {
        f.condition = value_scope(a, inst->args[0]);
    }
    a->top = &f;
    if (inst->op == LS_OP_IF || inst->op == LS_OP_SWITCH) {
        walk_branches(a, inst, &f);
    } else {
        for (uint32_t i = 0; i < inst->region_count; i++) {
            f.continued = LS__IR_GRID; /* lanes that continued are back at the step */
            update_control(a);
            walk_region(a, inst->regions[i]);
        }
    }
    a->top = f.outer;
    update_control(a);
}

static void walk_region(analysis *a, const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        if (a->record)
            record_control(a, inst);
        if (inst->id.id)
            narrow(a, &a->result->values[inst->id.id], scope_of(a, inst));
        switch (inst->op) {
        case LS_OP_VAR_SET:
            set_variable(a, inst->imm, value_scope(a, inst->args[0]));
            break;
        case LS_OP_CALL:
            for (uint32_t i = 0; i < inst->result_count; i++)
                set_variable(a, inst->results[i].id, LS__IR_LANE);
            break;
        case LS_OP_WHILE: /* who does not go on has left */
            narrow_loop(a, &a->loops[a->top->loop].left,
                        join(value_scope(a, inst->args[0]), control_since(a, a->top->depth)));
            break;
        case LS_OP_BREAK:
        case LS_OP_CONTINUE:
        case LS_OP_RETURN:
            leave(a, inst);
            break;
        default:
            if (inst->region_count)
                walk_structured(a, inst);
            break;
        }
    }
}

static void walk_function(analysis *a)
{
    a->changed = false;
    a->returned = a->control = LS__IR_GRID;
    a->loop_count = 0;
    walk_region(a, a->function->body);
}

static bool count_inst(ls__ir_inst *inst, void *context)
{
    uint32_t *count = context;
    (void)inst;
    (*count)++;
    return true;
}

ls__ir_uniformity ls__ir_uniformity_of(const ls__ir_function *function, ls__arena *arena)
{
    ls__ir_uniformity result = {.value_count = function->values.count};
    result.values = LS__NEW_ARRAY(arena, uint8_t, function->values.count);
    result.vars = LS__NEW_ARRAY(arena, uint8_t, function->vars.count);

    analysis a = {.function = function, .result = &result, .narrowest = LS__IR_LANE};
    a.written = written_buffers(function, arena);
    uint32_t lanes = function->workgroup[0] * function->workgroup[1] * function->workgroup[2];
    if (function->is_kernel && lanes == 1)
        a.narrowest = LS__IR_WORKGROUP;
    a.one_subgroup = function->is_kernel && lanes <= 32;
    a.homes = LS__NEW_ARRAY(arena, home, function->vars.count);
    ls__ir_walk(function->body, find_uses, &a);
    for (uint32_t i = 1; i < function->vars.count; i++)
        settle_home(&a.homes[i]);
    a.loops = LS__NEW_ARRAY(arena, loop_state, a.loop_count);
    uint32_t loop_count = a.loop_count;

    uint32_t inst_count = 0;
    ls__ir_walk(function->body, count_inst, &inst_count);
    result.control_capacity = 16;
    while (result.control_capacity / 2 < inst_count)
        result.control_capacity *= 2;
    result.controls = LS__NEW_ARRAY(arena, ls__ir_control, result.control_capacity);

    unsigned walks = 0;
    do
        walk_function(&a);
    while (a.changed && ++walks < MAX_WALKS);
    if (a.changed) {
        memset(result.vars, a.narrowest, function->vars.count);
        memset(a.loops, a.narrowest, loop_count * sizeof *a.loops);
        walk_function(&a); /* values follow in one walk: they refer back only through variables */
    }
    a.record = true;
    walk_function(&a);
    return result;
}

ls__ir_scope ls__ir_control_scope(const ls__ir_function *function,
                                  const ls__ir_uniformity *uniformity, const ls__ir_inst *inst)
{
    (void)function;
    uint32_t mask = uniformity->control_capacity - 1;
    uint32_t at = ls__ir_pointer_hash(inst) & mask;
    while (uniformity->controls[at].inst) {
        if (uniformity->controls[at].inst == inst)
            return (ls__ir_scope)uniformity->controls[at].scope;
        at = (at + 1) & mask;
    }
    return LS__IR_LANE; /* made after the analysis */
}
