/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow inside a segment. `u->mask` are the lanes that run the instruction being emitted; it
 * is an SSA value that dominates it. Code runs only while at least one lane is active: wherever the
 * mask may become empty a test leaves for `u->empty`, so uniform values are always computed for
 * somebody.
 *
 * Lanes that take a masked jump are noted in a slot of the jump's target (an alloca). After an
 * inner frame the mask is what it was before, without the lanes that are noted in any slot of what
 * is still open; those of the frame itself are back.
 */
#include "emit/llvm/build.h"

bool ls__llvm_is_terminated(unit *u)
{
    return u->l->GetBasicBlockTerminator(u->l->GetInsertBlock(u->b)) != NULL;
}

static void emit_region(unit *u, const ls__ir_region *region)
{
    ls__llvm_emit_run(u, region->first, NULL);
}

/* --- slots ------------------------------------------------------------------------------------ */

static lv active(unit *u)
{
    return u->mask ? u->mask : ls__llvm_full_mask(u);
}

static lv new_slot(unit *u)
{
    lv place = ls__llvm_alloca(u, ls__llvm_mask_type(u));
    mk_keep(u, ls__llvm_mask_type_zero(u), place);
    return place;
}

static lv load_mask(unit *u, lv place)
{
    return mk_kept(u, ls__llvm_mask_type(u), place);
}

static void add_lanes(unit *u, lv place, lv lanes)
{
    mk_keep(u, mk_or(u, load_mask(u, place), lanes), place);
}

/* Notes `lanes` in the slot of an outer frame or of the function, where later segments look. */
static void add_crossing(unit *u, uint64_t at, lv lanes)
{
    slot s = {SLOT_SCRATCH, NULL, at, 4};
    lv place = ls__llvm_slot_address(u, &s);
    lv bits = u->width == 1 ? mk_zext(u, lanes, u->e->i32) : ls__llvm_mask_bits(u, lanes);
    u->l->BuildStore(u->b, mk_or(u, u->l->BuildLoad2(u->b, u->e->i32, place, ""), bits), place);
}

static void note_jump(unit *u, const note *jump, lv lanes)
{
    const note *target = jump->target;
    bool is_continue = jump->inst->op == LS_OP_CONTINUE;
    if (jump->inst->op == LS_OP_RETURN) {
        if (jump->masked && u->returned)
            add_lanes(u, u->returned, lanes);
        if (u->return_crosses)
            add_crossing(u, u->returned_at, lanes);
    } else if (target->outer) {
        add_crossing(u, is_continue ? target->continued_at : target->left_at, lanes);
        if (jump->masked && is_continue && target->continued)
            add_lanes(u, target->continued, lanes);
        else if (jump->masked && !is_continue && target->left)
            add_lanes(u, target->left, lanes);
    } else if (jump->masked) {
        add_lanes(u, is_continue ? target->continued : target->left, lanes);
    }
}

/* The lanes of `lanes` that have not jumped out of the frames that are open. */
static lv without_gone(unit *u, lv lanes)
{
    lv gone = u->return_is_masked ? load_mask(u, u->returned) : NULL;
    for (const note *f = u->frame; f; f = f->parent) {
        if (f->left)
            gone = gone ? mk_or(u, gone, load_mask(u, f->left)) : load_mask(u, f->left);
        if (f->continued && !f->in_step)
            gone = gone ? mk_or(u, gone, load_mask(u, f->continued)) : load_mask(u, f->continued);
    }
    return gone ? mk_and(u, lanes, mk_not(u, gone)) : lanes;
}

/* Goes on with `lanes`, or leaves when there are none. */
static void narrow_to(unit *u, lv lanes)
{
    lb on = mk_block(u);
    mk_cond_br(u, ls__llvm_any(u, lanes), on, u->empty);
    mk_begin(u, on);
    u->mask = lanes;
}

/* After a frame: `saved` was the mask before it. */
static void restore(unit *u, const note *frame, lv saved)
{
    u->mask = saved;
    if (frame->escapes)
        narrow_to(u, without_gone(u, active(u)));
}

static void go_to(unit *u, lb block)
{
    if (!ls__llvm_is_terminated(u))
        mk_br(u, block);
}

/* --- jumps ------------------------------------------------------------------------------------ */

static void keep_results(unit *u, const ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        lv value = ls__llvm_vector(u, inst->args[i]);
        if (u->mask)
            value = mk_select(u, u->mask, value, mk_kept(u, u->l->TypeOf(value), u->results[i]));
        mk_keep(u, value, u->results[i]);
    }
}

static void emit_jump(unit *u, const ls__ir_inst *inst)
{
    const note *jump = ls__llvm_note(u, inst), *target = jump->target;
    keep_results(u, inst);
    note_jump(u, jump, active(u));
    if (jump->masked)
        mk_br(u, u->empty);
    else if (!target || target->outer)
        mk_br(u, u->segment_end);
    else
        mk_br(u, inst->op == LS_OP_CONTINUE ? target->next : target->exit);
}

/* --- if --------------------------------------------------------------------------------------- */

/* The condition as all lanes have it, or NULL when they may differ. */
static lv agreed(unit *u, ls_value condition)
{
    val v = ls__llvm_value(u, condition);
    return v.scalar ? v.scalar : v.stride == 0 && !v.valid ? v.base : NULL;
}

static void emit_if_uniform(unit *u, const ls__ir_inst *inst, const note *n)
{
    lv saved = u->mask;
    lb outside = u->empty, side[2] = {mk_block(u), mk_block(u)}, merge = mk_block(u);
    bool reached = n->masked;
    mk_cond_br(u, agreed(u, inst->args[0]), side[0], side[1]);
    u->empty = merge;
    for (int i = 0; i < 2; i++) {
        mk_begin(u, side[i]);
        u->mask = saved;
        emit_region(u, inst->regions[i]);
        reached |= !ls__llvm_is_terminated(u);
        go_to(u, merge);
    }
    mk_begin(u, merge);
    u->empty = outside;
    u->frame = n->parent;
    if (!reached)
        u->l->BuildUnreachable(u->b);
    else
        restore(u, n, saved);
}

/* One side of a divergent condition: skipped when no lane takes it. */
static void emit_side(unit *u, const ls__ir_region *region, lv lanes)
{
    if (!region->first)
        return;
    lb outside = u->empty, inside = mk_block(u), after = mk_block(u);
    mk_cond_br(u, ls__llvm_any(u, lanes), inside, after);
    mk_begin(u, inside);
    u->mask = lanes;
    u->empty = after;
    emit_region(u, region);
    go_to(u, after);
    mk_begin(u, after);
    u->empty = outside;
}

static const note *lone_jump(const unit *u, const ls__ir_region *region)
{
    const ls__ir_inst *inst = region->first;
    if (!inst || inst->next || inst->region_count || inst->arg_count)
        return NULL;
    return ls__llvm_note(u, inst);
}

static void emit_if_divergent(unit *u, const ls__ir_inst *inst, const note *n)
{
    lv saved = u->mask, condition = ls__llvm_vector(u, inst->args[0]), other = mk_not(u, condition);
    if (saved) {
        condition = mk_and(u, saved, condition);
        other = mk_and(u, saved, other);
    }
    for (int i = 0; i < 2; i++) { /* nothing but a jump: no branch is needed */
        const note *jump = lone_jump(u, inst->regions[i]);
        if (jump && !inst->regions[1 - i]->first) {
            note_jump(u, jump, i == 0 ? condition : other);
            u->frame = n->parent;
            narrow_to(u, i == 0 ? other : condition);
            return;
        }
    }
    emit_side(u, inst->regions[0], condition);
    emit_side(u, inst->regions[1], other);
    u->frame = n->parent;
    restore(u, n, saved);
}

/* --- switch, block ---------------------------------------------------------------------------- */

static void emit_switch_uniform(unit *u, const ls__ir_inst *inst, note *n)
{
    lv saved = u->mask, value = ls__llvm_scalar(u, inst->args[0]);
    lb outside = u->empty, otherwise = mk_block(u);
    uint32_t case_count = inst->region_count - 1, at = 0;
    lv chooser = u->l->BuildSwitch(u->b, value, otherwise, 16);
    u->empty = n->exit;
    for (uint32_t i = 0; i <= case_count; i++) {
        lb block = i == case_count ? otherwise : mk_block(u);
        for (uint32_t k = 0; i < case_count && k < inst->case_sizes[i]; k++)
            u->l->AddCase(chooser, mk_k(u, value, (uint64_t)inst->case_values[at++]), block);
        mk_begin(u, block);
        u->mask = saved;
        emit_region(u, inst->regions[i]);
        go_to(u, n->exit);
    }
    u->empty = outside;
}

static void emit_switch_divergent(unit *u, const ls__ir_inst *inst, note *n)
{
    lv value = ls__llvm_vector(u, inst->args[0]), rest = active(u);
    uint32_t case_count = inst->region_count - 1, at = 0;
    for (uint32_t i = 0; i < case_count; i++) {
        lv hit = NULL;
        for (uint32_t k = 0; k < inst->case_sizes[i]; k++) {
            lv is = mk_icmp(u, LLVMIntEQ, value, mk_k(u, value, (uint64_t)inst->case_values[at++]));
            hit = hit ? mk_or(u, hit, is) : is;
        }
        lv lanes = mk_and(u, rest, hit);
        rest = mk_and(u, rest, mk_not(u, hit));
        emit_side(u, inst->regions[i], lanes);
    }
    emit_side(u, inst->regions[case_count], rest);
    mk_br(u, n->exit);
}

static void emit_breakable(unit *u, const ls__ir_inst *inst, note *n)
{
    lv saved = u->mask;
    lb outside = u->empty;
    n->exit = mk_block(u);
    n->left = n->has_break && !n->outer ? new_slot(u) : NULL;
    if (inst->op == LS_OP_BLOCK) {
        u->empty = n->exit;
        emit_region(u, inst->regions[0]);
        go_to(u, n->exit);
        u->empty = outside;
    } else if (ls__llvm_is_uniform(u, inst->args[0])) {
        emit_switch_uniform(u, inst, n);
    } else {
        emit_switch_divergent(u, inst, n);
    }
    mk_begin(u, n->exit);
    n->left = NULL;
    u->frame = n->parent;
    restore(u, n, saved);
}

/* --- loop ------------------------------------------------------------------------------------- */

/* The end of a step: round again, for the lanes that want to. */
static void emit_round(unit *u, const ls__ir_inst *loop, lv lanes, lb head, lb exit)
{
    const ls__ir_inst *last = loop->regions[1]->last;
    lb round = mk_block(u);
    if (last && last->op == LS_OP_WHILE && ls__llvm_is_uniform(u, last->args[0])) {
        mk_cond_br(u, ls__llvm_scalar(u, last->args[0]), round, exit);
    } else if (last && last->op == LS_OP_WHILE) {
        u->mask = mk_and(u, active(u), ls__llvm_vector(u, last->args[0]));
        mk_cond_br(u, ls__llvm_any(u, u->mask), round, exit);
    } else {
        mk_br(u, round);
    }
    mk_begin(u, round);
    if (lanes)
        mk_keep(u, active(u), lanes);
    ls__llvm_poll(u, loop);
    mk_br(u, head);
}

enum { SHORT_TRIPS = 8 };

static void note_short_loop(unit *u, const ls__ir_inst *loop)
{
    uint64_t bound = u->width == 1 ? ls__ir_loop_bound(u->function, loop) : 0;
    u->e->has_short_loops |= bound != 0 && bound <= SHORT_TRIPS;
}

static void emit_loop(unit *u, const ls__ir_inst *inst, note *n)
{
    lv saved = u->mask, lanes = NULL, round_mask = saved;
    lb outside = u->empty, head = mk_block(u);
    note_short_loop(u, inst);
    n->exit = mk_block(u);
    n->next = mk_block(u);
    n->in_step = false;
    n->left = n->has_break ? new_slot(u) : NULL;
    n->continued = n->has_continue ? new_slot(u) : NULL;
    if (n->masked) {
        lanes = ls__llvm_alloca(u, ls__llvm_mask_type(u));
        mk_keep(u, active(u), lanes);
    }
    mk_br(u, head);

    mk_begin(u, head);
    if (n->masked)
        u->mask = round_mask = load_mask(u, lanes);
    if (n->continued)
        mk_keep(u, ls__llvm_mask_type_zero(u), n->continued);
    u->empty = n->continued ? n->next : n->exit;
    emit_region(u, inst->regions[0]);
    go_to(u, n->next);

    mk_begin(u, n->next);
    n->in_step = true; /* who continued is back */
    u->mask = round_mask;
    u->empty = n->exit;
    if (n->left || n->continued || n->escapes)
        narrow_to(u, without_gone(u, round_mask));
    emit_region(u, inst->regions[1]);
    emit_round(u, inst, lanes, head, n->exit);

    mk_begin(u, n->exit);
    n->left = n->continued = NULL;
    u->empty = outside;
    u->frame = n->parent;
    restore(u, n, saved);
}

/* --- a run of instructions -------------------------------------------------------------------- */

static void emit_structured(unit *u, const ls__ir_inst *inst)
{
    note *n = ls__llvm_note(u, inst);
    u->frame = n;
    switch ((ls_op)inst->op) {
    case LS_OP_IF:
        if (agreed(u, inst->args[0]))
            emit_if_uniform(u, inst, n);
        else
            emit_if_divergent(u, inst, n);
        break;
    case LS_OP_LOOP:
        if (ls__llvm_is_serial(u, n)) {
            ls__llvm_serial *state;
            emit_loop(ls__llvm_begin_serial(u, n, &state), inst, n);
            ls__llvm_end_serial(state);
        } else {
            ls__llvm_begin_rounds(u, inst, n);
            emit_loop(u, inst, n);
        }
        break;
    default:
        emit_breakable(u, inst, n);
        break;
    }
}

/* A structured instruction, perhaps emitted a second time for lanes that agree (coherent.c). */
static void emit_frame(unit *u, const ls__ir_inst *inst, const ls__ir_inst *end)
{
    lv saved = u->mask;
    lb after;
    ls__llvm_begin_coherent(u, inst, end, &after);
    emit_structured(u, inst);
    if (!after)
        return;
    go_to(u, after);
    mk_begin(u, after);
    restore(u, ls__llvm_note(u, inst), saved);
}

void ls__llvm_emit_run(unit *u, ls__ir_inst *first, const ls__ir_inst *end)
{
    for (ls__ir_inst *inst = first; inst != end && !ls__llvm_is_terminated(u); inst = inst->next) {
        if (inst->op == LS_OP_BREAK || inst->op == LS_OP_CONTINUE || inst->op == LS_OP_RETURN) {
            emit_jump(u, inst);
        } else if (inst->region_count) {
            emit_frame(u, inst, end);
        } else if (inst->op != LS_OP_WHILE) {
            ls__llvm_split_block(u);
            ls__llvm_emit_inst(u, inst);
        }
    }
}
