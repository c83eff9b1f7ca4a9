/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is decided before a function is emitted.
 *
 * Cuts. When a workgroup is more than one strand, barriers and workgroup_uniform() end segments.
 * What contains them is emitted between segments ("outer"), and so is every jump that leaves such a
 * frame and that all lanes of the workgroup take together, with what contains it. A jump out of an
 * outer frame that lanes take one by one stays inside its segment (no barrier can follow it there);
 * the lanes that took it are skipped in later segments.
 *
 * Masks. A jump is direct when all active lanes of every frame it leaves take it: no condition that
 * lanes disagree on and no frame that lanes leave early lies between. Otherwise it is masked, and
 * so are the frames it leaves. The two depend on each other, so this is repeated until nothing
 * changes.
 *
 * What must be kept. Values used by another segment than their own get a slot, unless they are
 * cheap to compute again; variables used by several get a home.
 */
#include <string.h>

#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"
#include "ir/uniform.h"

bool ls__llvm_is_uniform(const unit *u, ls_value value)
{
    return u->width == 1 || u->uniformity.values[value.id] <= LS__IR_SUBGROUP;
}

bool ls__llvm_is_uniform_var(const unit *u, ls_var var)
{
    return u->width == 1 || u->uniformity.vars[var.id] <= LS__IR_SUBGROUP;
}

bool ls__llvm_is_split(const unit *u, const ls__ir_inst *inst)
{
    return u->strand_count > 1 && (inst->op == LS_OP_BARRIER || inst->op == LS_OP_WG_UNIFORM);
}

/* --- notes ------------------------------------------------------------------------------------ */

static bool is_jump(const ls__ir_inst *inst)
{
    return inst->op == LS_OP_BREAK || inst->op == LS_OP_CONTINUE || inst->op == LS_OP_RETURN ||
           inst->op == LS_OP_WHILE;
}

static bool count_notes(ls__ir_inst *inst, void *context)
{
    unit *u = context;
    u->note_count += inst->region_count > 0 || is_jump(inst);
    u->is_cut |= ls__llvm_is_split(u, inst);
    for (uint32_t i = 0; i < inst->arg_count; i++)
        u->is_used[inst->args[i].id] = true;
    return true;
}

static note *find_target(note *parent, unsigned op)
{
    if (op == LS_OP_RETURN)
        return NULL;
    for (note *n = parent; n; n = n->parent) {
        if (n->inst->op == LS_OP_LOOP)
            return n;
        if (op == LS_OP_BREAK && n->inst->op != LS_OP_IF)
            return n;
    }
    return NULL;
}

static void add_note(unit *u, note *n)
{
    uint32_t mask = u->note_capacity - 1, at = ls__ir_pointer_hash(n->inst) & mask;
    while (u->note_index[at])
        at = (at + 1) & mask;
    u->note_index[at] = (uint32_t)(n - u->notes) + 1;
}

note *ls__llvm_note(const unit *u, const ls__ir_inst *inst)
{
    uint32_t mask = u->note_capacity - 1, at = ls__ir_pointer_hash(inst) & mask;
    for (; u->note_index[at]; at = (at + 1) & mask) {
        if (u->notes[u->note_index[at] - 1].inst == inst)
            return &u->notes[u->note_index[at] - 1];
    }
    return NULL;
}

static void mark_outer(note *n, const note *end)
{
    for (; n && n != end; n = n->parent)
        n->outer = true;
}

typedef struct collection {
    unit *u;
    uint32_t order, last_split;
} collection;

static void collect(collection *c, const ls__ir_region *region, note *parent)
{
    unit *u = c->u;
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        c->order++;
        if (ls__llvm_is_split(u, inst)) {
            c->last_split = c->order;
            mark_outer(parent, NULL);
        }
        if (!inst->region_count && !is_jump(inst))
            continue;
        note *n = &u->notes[u->note_count++];
        *n = (note){.inst = inst, .parent = parent, .order = c->order};
        if (is_jump(inst))
            n->target = find_target(parent, inst->op);
        add_note(u, n);
        for (uint32_t i = 0; i < inst->region_count; i++)
            collect(c, inst->regions[i], n);
    }
}

/* --- cuts ------------------------------------------------------------------------------------- */

static bool in_outer_loop(const note *n)
{
    for (n = n->parent; n; n = n->parent) {
        if (n->outer && n->inst->op == LS_OP_LOOP)
            return true;
    }
    return false;
}

static bool leaves_outer(const unit *u, const note *jump, uint32_t last_split)
{
    if (jump->inst->op == LS_OP_WHILE)
        return jump->target->outer;
    if (ls__ir_control_scope(u->function, &u->uniformity, jump->inst) > LS__IR_WORKGROUP)
        return false;
    if (jump->inst->op == LS_OP_RETURN)
        return jump->order < last_split || in_outer_loop(jump);
    return jump->target->outer;
}

static void find_outer(unit *u, uint32_t last_split)
{
    bool changed = u->is_cut;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < u->note_count; i++) {
            note *n = &u->notes[i];
            if (!is_jump(n->inst) || n->outer || !leaves_outer(u, n, last_split))
                continue;
            n->outer = changed = true;
            mark_outer(n->parent, n->target);
        }
    }
    for (uint32_t i = 0; i < u->note_count; i++) {
        note *n = &u->notes[i];
        if (!is_jump(n->inst) || n->outer)
            continue;
        if (n->inst->op == LS_OP_RETURN) {
            u->return_crosses |= u->is_cut;
        } else if (n->target->outer) {
            n->target->has_break |= n->inst->op == LS_OP_BREAK;
            n->target->has_continue |= n->inst->op == LS_OP_CONTINUE;
            u->has_inner_exits = true;
        }
    }
    u->has_inner_exits |= u->return_crosses;
}

/* --- masks ------------------------------------------------------------------------------------ */

static bool disagrees(const unit *u, const note *frame)
{
    const ls__ir_inst *inst = frame->inst;
    return inst->arg_count > 0 && !ls__llvm_is_uniform(u, inst->args[0]);
}

/* A frame inside of its segment, that the jump leaves or continues. */
static const note *next_frame(const note *jump, const note *frame)
{
    const note *next = frame ? (frame == jump->target ? NULL : frame->parent) : jump->parent;
    return next && !next->outer ? next : NULL;
}

static bool must_mask(const unit *u, const note *jump)
{
    if (jump->inst->op == LS_OP_WHILE)
        return disagrees(u, jump);
    if (jump->inst->op == LS_OP_RETURN && u->return_is_masked)
        return true;
    for (const note *f = next_frame(jump, NULL); f; f = next_frame(jump, f)) {
        if (f->masked || (f->inst->region_count && disagrees(u, f)))
            return true;
    }
    return false;
}

static void mask_jump(unit *u, note *jump)
{
    jump->masked = true;
    if (jump->inst->op == LS_OP_RETURN)
        u->return_is_masked = true;
    if (jump->target) {
        jump->target->has_break |= jump->inst->op == LS_OP_BREAK;
        jump->target->has_continue |= jump->inst->op == LS_OP_CONTINUE;
    }
    for (const note *f = next_frame(jump, NULL); f; f = next_frame(jump, f)) {
        note *frame = (note *)f;
        frame->masked = true;
        frame->escapes |= frame != jump->target;
    }
}

static void find_masks(unit *u)
{
    for (bool changed = u->width > 1; changed;) {
        changed = false;
        for (uint32_t i = 0; i < u->note_count; i++) {
            note *n = &u->notes[i];
            if (is_jump(n->inst) && !n->outer && !n->masked && must_mask(u, n)) {
                mask_jump(u, n);
                changed = true;
            }
        }
    }
}

/* --- segments --------------------------------------------------------------------------------- */

typedef struct numbering {
    unit *u;
    uint32_t count, current;
    bool in_loop;
} numbering;

static void use_var(numbering *n, uint64_t var)
{
    variable *v = &n->u->vars[var];
    if (v->segment && v->segment != n->current)
        v->many = true;
    v->segment = n->current;
    v->many |= n->in_loop;
}

static void need_slot(unit *u, ls_value value)
{
    if (!ls__llvm_is_cheap(u, value))
        u->value_slots[value.id].kind = SLOT_STACK; /* for now: places are given later */
}

static bool number_inst(ls__ir_inst *inst, void *context)
{
    numbering *n = context;
    if (inst->id.id)
        n->u->value_segments[inst->id.id] = n->current;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (n->u->value_segments[inst->args[i].id] != n->current)
            need_slot(n->u, inst->args[i]);
    }
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        use_var(n, inst->imm);
    for (uint32_t i = 0; i < inst->result_count; i++)
        use_var(n, inst->results[i].id);
    return true;
}

static bool is_outer(const unit *u, const ls__ir_inst *inst)
{
    const note *n = ls__llvm_note(u, inst);
    return ls__llvm_is_split(u, inst) || (n && n->outer);
}

static void number_region(numbering *n, const ls__ir_region *region)
{
    n->current = 0;
    for (ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        if (!is_outer(n->u, inst)) {
            if (n->current == 0)
                n->current = ++n->count;
            number_inst(inst, n);
            for (uint32_t i = 0; i < inst->region_count; i++)
                ls__ir_walk(inst->regions[i], number_inst, n);
            continue;
        }
        n->current = ++n->count; /* of its own */
        number_inst(inst, n);
        if (inst->id.id) /* what it gives is kept even if it could be had again */
            n->u->value_slots[inst->id.id].kind = SLOT_STACK;
        bool in_loop = n->in_loop;
        n->in_loop |= inst->op == LS_OP_LOOP;
        for (uint32_t i = 0; i < inst->region_count; i++)
            number_region(n, inst->regions[i]);
        n->in_loop = in_loop;
        n->current = 0;
    }
}

enum { CHEAP_DEPTH = 6 };

static bool is_cheap(const unit *u, ls_value value, int depth)
{
    const ls__ir_inst *inst = ls__ir_def(u->function, value);
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
        return true;
    case LS_OP_ADD:
    case LS_OP_SUB:
    case LS_OP_MUL:
    case LS_OP_SHL:
    case LS_OP_AND:
    case LS_OP_SEXT:
    case LS_OP_ZEXT:
    case LS_OP_TRUNC:
    case LS_OP_INDEX:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (depth == 0 || !is_cheap(u, inst->args[i], depth - 1))
            return false;
    }
    return true;
}

bool ls__llvm_is_cheap(const unit *u, ls_value value)
{
    return is_cheap(u, value, CHEAP_DEPTH);
}

/* --- places ----------------------------------------------------------------------------------- */

static uint64_t take(unit *u, uint64_t bytes)
{
    uint64_t at = u->scratch_bytes;
    u->scratch_bytes =
        (at + bytes + LS__CPU_SCRATCH_ALIGNMENT - 1) & ~(uint64_t)(LS__CPU_SCRATCH_ALIGNMENT - 1);
    return at;
}

static uint32_t bytes_of(const unit *u, ls_type type, bool uniform)
{
    uint32_t bytes = type == LS_TYPE_I64 || type == LS_TYPE_F64 ? 8 : 4;
    return uniform ? bytes : bytes * u->width;
}

static slot make_slot(unit *u, ls_type type, uint8_t scope, bool on_stack)
{
    bool uniform = u->width == 1 || scope <= LS__IR_SUBGROUP;
    slot s = {SLOT_SCRATCH, NULL, 0, bytes_of(u, type, uniform)};
    if (on_stack) {
        s.kind = SLOT_STACK;
        s.place = ls__llvm_alloca(u, ls__llvm_type(u, type, !uniform));
    } else {
        s.offset = take(u, s.step * u->strand_count);
    }
    return s;
}

enum { STACK_LOCAL_BYTES = 2048, STACK_SCALAR_BYTES = 16384 };

static void place_locals(unit *u)
{
    u->locals = LS__NEW_ARRAY(u->e->arena, local, u->function->locals.count);
    for (uint32_t i = 0; i < u->function->locals.count; i++) {
        const ls__ir_object *object = &u->function->locals.items[i];
        uint64_t bytes = (uint64_t)object->size * u->width;
        ls__llvm_survey_local(u, i, &u->locals[i]);
        if (!u->is_cut && bytes <= (u->width == 1 ? STACK_SCALAR_BYTES : STACK_LOCAL_BYTES)) {
            u->locals[i].place = ls__llvm_alloca(u, u->l->ArrayType2(u->e->i8, bytes));
            u->l->SetAlignment(u->locals[i].place, 64);
        } else {
            u->locals[i].step = u->is_cut ? bytes : 0;
            u->locals[i].offset = take(u, u->is_cut ? bytes * u->strand_count : bytes);
        }
    }
}

static void place_slots(unit *u)
{
    const ls__ir_function *function = u->function;
    for (uint32_t i = 0; i < u->note_count; i++) {
        note *n = &u->notes[i];
        if (n->outer && n->has_break)
            n->left_at = take(u, 4 * (uint64_t)u->strand_count);
        if (n->outer && n->has_continue)
            n->continued_at = take(u, 4 * (uint64_t)u->strand_count);
    }
    if (u->return_crosses)
        u->returned_at = take(u, 4 * (uint64_t)u->strand_count);
    for (uint32_t i = 1; i < function->vars.count; i++) {
        ls_type type = (ls_type)function->vars.items[i].type;
        uint8_t scope = u->uniformity.vars[i];
        variable *v = &u->vars[i];
        if (!v->segment)
            continue;
        v->place =
            ls__llvm_alloca(u, ls__llvm_type(u, type, !ls__llvm_is_uniform_var(u, (ls_var){i})));
        if (!u->is_cut || !v->many)
            continue;
        v->home = make_slot(u, type, scope, scope <= LS__IR_WORKGROUP && !u->has_inner_exits);
        if (v->home.kind == SLOT_STACK)
            v->out = ls__llvm_alloca(u, ls__llvm_type(u, type, false));
    }
    u->zeroed_bytes = u->scratch_bytes;
    for (uint32_t i = 1; i < function->values.count; i++) {
        slot *s = &u->value_slots[i];
        uint8_t scope = u->uniformity.values[i];
        if (s->kind != SLOT_NONE)
            *s = make_slot(u, (ls_type)ls__ir_def(function, (ls_value){i})->type, scope,
                           scope <= LS__IR_WORKGROUP);
    }
}

void ls__llvm_plan(unit *u)
{
    const ls__ir_function *function = u->function;
    ls__arena *arena = u->e->arena;
    u->uniformity = ls__ir_uniformity_of(function, arena);
    u->is_used = LS__NEW_ARRAY(arena, bool, function->values.count);
    u->value_segments = LS__NEW_ARRAY(arena, uint32_t, function->values.count);
    u->value_slots = LS__NEW_ARRAY(arena, slot, function->values.count);
    u->values = LS__NEW_ARRAY(arena, val, function->values.count);
    u->value_stamps = LS__NEW_ARRAY(arena, uint32_t, function->values.count);
    u->vars = LS__NEW_ARRAY(arena, variable, function->vars.count);

    ls__ir_walk(function->body, count_notes, u);
    u->notes = LS__NEW_ARRAY(arena, note, u->note_count);
    u->note_capacity = 16;
    while (u->note_capacity / 2 < u->note_count)
        u->note_capacity *= 2;
    u->note_index = LS__NEW_ARRAY(arena, uint32_t, u->note_capacity);
    u->note_count = 0;
    collection c = {.u = u};
    collect(&c, function->body, NULL);
    find_outer(u, c.last_split);
    find_masks(u);
    ls__llvm_survey_vars(u);
    ls__llvm_find_even(u);

    numbering n = {.u = u};
    number_region(&n, function->body);
    u->shared_offsets = LS__NEW_ARRAY(arena, uint64_t, function->shared.count);
    for (uint32_t i = 0; i < function->shared.count; i++)
        u->shared_offsets[i] = take(u, function->shared.items[i].size);
    if (u->is_cut)
        place_locals(u);
    place_slots(u);
    ls__llvm_find_strided(u);
    if (!u->is_cut) /* cleared for each strand, so after what is cleared for the workgroup */
        place_locals(u);
}
