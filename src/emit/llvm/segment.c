/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments and what happens between them. A segment is a run of instructions that every strand of
 * the workgroup can finish before the next strand begins; between segments stand barriers,
 * workgroup_uniform(), and the control flow that contains them, which all lanes take together and
 * which is therefore scalar and outside of the loop over strands.
 *
 * A segment brings in what it uses of others, for each strand: values from their slots or computed
 * anew, variables from their homes. Homes of variables that are the same in the workgroup are
 * scalars that every strand starts from and the last one leaves; all others lie in scratch, by
 * strand.
 */
#include "emit/llvm/abi.h"
#include "emit/llvm/build.h"

/* --- what crosses ----------------------------------------------------------------------------- */

static void bring(unit *u, ls_value value);

static void bring_args(unit *u, const ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->arg_count; i++)
        bring(u, inst->args[i]);
}

/* Makes a value of another segment known in this one. */
static void bring(unit *u, ls_value value)
{
    ls__ir_inst *inst = ls__ir_def(u->function, value);
    const slot *s = &u->value_slots[value.id];
    if (u->value_stamps[value.id] == u->segment)
        return;
    if (s->kind == SLOT_NONE) {
        bring_args(u, inst);
        ls__llvm_emit_inst(u, inst);
        return;
    }
    bool uniform = ls__llvm_is_uniform(u, value);
    lt type = ls__llvm_type(u, (ls_type)inst->type, !uniform);
    lv loaded = ls__llvm_slot_load(u, s, type);
    u->values[value.id] = uniform ? (val){.scalar = loaded} : (val){.vector = loaded};
    u->value_stamps[value.id] = u->segment;
}

typedef struct scan {
    unit *u;
    uint32_t number; /* of the plan: values of the run itself have it */
} scan;

static bool bring_operands(ls__ir_inst *inst, void *context)
{
    scan *s = context;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (s->u->value_segments[inst->args[i].id] != s->number)
            bring(s->u, inst->args[i]);
    }
    return true;
}

static void begin_var(unit *u, uint32_t var)
{
    variable *v = &u->vars[var];
    lt type = ls__llvm_type(u, (ls_type)u->function->vars.items[var].type,
                            !ls__llvm_is_uniform_var(u, (ls_var){var}));
    if (v->stamp == u->segment)
        return;
    v->stamp = u->segment;
    lv value = u->l->ConstNull(type);
    if (v->home.kind != SLOT_NONE)
        value = ls__llvm_slot_load(u, &v->home, type);
    mk_keep(u, value, v->place);
}

static bool begin_vars(ls__ir_inst *inst, void *context)
{
    unit *u = context;
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        begin_var(u, (uint32_t)inst->imm);
    for (uint32_t i = 0; i < inst->result_count; i++)
        begin_var(u, inst->results[i].id);
    return true;
}

/* Variables that this segment has begun go back to their homes; `out` of those on the stack. */
static void end_vars(unit *u)
{
    for (uint32_t i = 1; i < u->function->vars.count; i++) {
        variable *v = &u->vars[i];
        if (v->stamp != u->segment || v->home.kind == SLOT_NONE)
            continue;
        lt type = ls__llvm_type(u, (ls_type)u->function->vars.items[i].type,
                                !ls__llvm_is_uniform_var(u, (ls_var){i}));
        lv value = mk_kept(u, type, v->place);
        if (v->home.kind == SLOT_STACK)
            u->l->BuildStore(u->b, value, v->out);
        else
            ls__llvm_slot_store(u, &v->home, value);
    }
}

static void settle_stack_homes(unit *u)
{
    for (uint32_t i = 1; i < u->function->vars.count; i++) {
        variable *v = &u->vars[i];
        if (v->stamp != u->segment || v->home.kind != SLOT_STACK)
            continue;
        lt type = ls__llvm_type(u, (ls_type)u->function->vars.items[i].type, false);
        u->l->BuildStore(u->b, u->l->BuildLoad2(u->b, type, v->out, ""), v->home.place);
    }
}

/* --- lanes ------------------------------------------------------------------------------------ */

static lv load_crossing(unit *u, uint64_t at)
{
    slot s = {SLOT_SCRATCH, NULL, at, 4};
    return u->l->BuildLoad2(u->b, u->e->i32, ls__llvm_slot_address(u, &s), "");
}

/* Lanes that jumps inside of earlier segments have taken out of the frames that are open: bits, or
 * NULL. */
static lv gone_before(unit *u)
{
    lv gone = u->return_crosses ? load_crossing(u, u->returned_at) : NULL;
    for (const note *f = u->frame; f; f = f->parent) {
        if (f->has_break) {
            lv bits = load_crossing(u, f->left_at);
            gone = gone ? mk_or(u, gone, bits) : bits;
        }
        if (f->has_continue && !f->in_step) {
            lv bits = load_crossing(u, f->continued_at);
            gone = gone ? mk_or(u, gone, bits) : bits;
        }
    }
    return gone;
}

static void begin_slots(unit *u)
{
    lv none = ls__llvm_mask_type_zero(u);
    if (u->return_is_masked) {
        if (!u->returned)
            u->returned = ls__llvm_alloca(u, ls__llvm_mask_type(u));
        mk_keep(u, none, u->returned);
    }
    for (note *f = u->frame; f && u->width > 1; f = f->parent) {
        if (f->has_break) {
            f->left = ls__llvm_alloca(u, ls__llvm_mask_type(u));
            mk_keep(u, none, f->left);
        }
        if (f->has_continue) {
            f->continued = ls__llvm_alloca(u, ls__llvm_mask_type(u));
            mk_keep(u, none, f->continued);
        }
    }
}

/* The mask with which the strand begins the segment; skips the strand when nobody is left. */
static void begin_mask(unit *u)
{
    lv mask = u->entry_mask, gone = gone_before(u);
    if (!mask && u->width > 1 && u->lane_count % u->width != 0) {
        lv linear = mk_add(u, ls__llvm_splat(u, u->first_lane), u->lanes);
        mask = mk_icmp(u, LLVMIntULT, linear, mk_k(u, linear, u->lane_count));
    }
    if (gone && u->width == 1) {
        lb on = mk_block(u);
        mk_cond_br(u, mk_icmp(u, LLVMIntEQ, gone, mk_i32(u, 0)), on, u->segment_end);
        mk_begin(u, on);
    } else if (gone) {
        lv left = ls__llvm_mask_from_bits(u, mk_not(u, gone));
        mask = mask ? mk_and(u, mask, left) : left;
        lb on = mk_block(u);
        mk_cond_br(u, ls__llvm_any(u, mask), on, u->segment_end);
        mk_begin(u, on);
    }
    u->mask = mask;
}

static void clear_locals(unit *u)
{
    for (uint32_t i = 0; i < u->function->locals.count; i++) {
        const local *l = &u->locals[i];
        uint64_t bytes = (uint64_t)u->function->locals.items[i].size * u->width;
        lv place = l->place ? l->place : mk_at(u, u->scratch, mk_i64(u, l->offset));
        u->l->BuildMemSet(u->b, place, u->l->ConstInt(u->e->i8, 0, 0), mk_i64(u, bytes), 16);
    }
}

/* --- a segment for all strands ---------------------------------------------------------------- */

/* `number` is the plan's number of the run. */
static void emit_strand(unit *u, ls__ir_inst *first, const ls__ir_inst *end, uint32_t number)
{
    scan s = {u, number};
    u->segment_end = mk_block(u);
    u->empty = u->segment_end;
    u->mask = NULL;
    if (!u->is_cut)
        clear_locals(u);
    for (ls__ir_inst *inst = first; inst != end; inst = inst->next) {
        begin_vars(inst, u);
        for (uint32_t i = 0; i < inst->region_count; i++)
            ls__ir_walk(inst->regions[i], begin_vars, u);
    }
    begin_slots(u);
    begin_mask(u);
    for (ls__ir_inst *inst = first; inst != end && u->is_cut; inst = inst->next) {
        bring_operands(inst, &s);
        for (uint32_t i = 0; i < inst->region_count; i++)
            ls__ir_walk(inst->regions[i], bring_operands, &s);
    }
    ls__llvm_emit_run(u, first, end);
    if (!ls__llvm_is_terminated(u))
        mk_br(u, u->segment_end);
    mk_begin(u, u->segment_end);
    end_vars(u);
}

static void begin_stack_homes(unit *u)
{
    for (uint32_t i = 1; i < u->function->vars.count; i++) {
        variable *v = &u->vars[i];
        if (v->home.kind != SLOT_STACK)
            continue;
        lt type = ls__llvm_type(u, (ls_type)u->function->vars.items[i].type, false);
        u->l->BuildStore(u->b, u->l->BuildLoad2(u->b, type, v->home.place, ""), v->out);
    }
}

static void emit_segment(unit *u, ls__ir_inst *first, const ls__ir_inst *end, uint32_t number)
{
    u->segment++;
    if (u->strand_count == 1) {
        if (u->function->is_kernel)
            u->strand = u->first_lane = mk_i32(u, 0);
        emit_strand(u, first, end, number);
        return;
    }
    begin_stack_homes(u);
    lb before = u->l->GetInsertBlock(u->b), head = mk_block(u), after = mk_block(u);
    mk_br(u, head);
    mk_begin(u, head);
    lv strand = u->l->BuildPhi(u->b, u->e->i32, "");
    u->strand = strand;
    u->first_lane = mk_mul(u, strand, mk_i32(u, u->width));
    emit_strand(u, first, end, number);
    lv next = mk_add(u, strand, mk_i32(u, 1));
    lv values[2] = {mk_i32(u, 0), next};
    lb blocks[2] = {before, u->l->GetInsertBlock(u->b)};
    u->l->AddIncoming(strand, values, blocks, 2);
    mk_cond_br(u, mk_icmp(u, LLVMIntULT, next, mk_i32(u, u->strand_count)), head, after);
    mk_begin(u, after);
    settle_stack_homes(u);
    u->strand = u->first_lane = mk_i32(u, 0);
}

/* --- between segments ------------------------------------------------------------------------- */

/* A value as strand 0 has it; of lane 0 where it differs. */
static lv first_value(unit *u, ls_value value)
{
    u->segment++;
    u->mask = NULL;
    u->strand = u->first_lane = mk_i32(u, 0);
    bring(u, value);
    val v = ls__llvm_value(u, value);
    return v.scalar ? v.scalar : mk_extract(u, v.vector, mk_i32(u, 0));
}

static void clear_crossing(unit *u, uint64_t at)
{
    u->l->BuildMemSet(u->b, mk_at(u, u->scratch, mk_i64(u, at)), u->l->ConstInt(u->e->i8, 0, 0),
                      mk_i64(u, 4 * (uint64_t)u->strand_count), 4);
}

static void emit_outer_region(unit *u, const ls__ir_region *region);

static void go_to(unit *u, lb block)
{
    if (!ls__llvm_is_terminated(u))
        mk_br(u, block);
}

static void emit_outer_choice(unit *u, const ls__ir_inst *inst, note *n)
{
    lv value = inst->arg_count ? first_value(u, inst->args[0]) : NULL;
    n->exit = mk_block(u);
    if (inst->op == LS_OP_BLOCK) {
        emit_outer_region(u, inst->regions[0]);
        go_to(u, n->exit);
    } else if (inst->op == LS_OP_IF) {
        lb side[2] = {mk_block(u), mk_block(u)};
        mk_cond_br(u, value, side[0], side[1]);
        for (int i = 0; i < 2; i++) {
            mk_begin(u, side[i]);
            emit_outer_region(u, inst->regions[i]);
            go_to(u, n->exit);
        }
    } else {
        uint32_t case_count = inst->region_count - 1, at = 0;
        lb otherwise = mk_block(u);
        lv chooser = u->l->BuildSwitch(u->b, value, otherwise, 16);
        for (uint32_t i = 0; i <= case_count; i++) {
            lb block = i == case_count ? otherwise : mk_block(u);
            for (uint32_t k = 0; i < case_count && k < inst->case_sizes[i]; k++)
                u->l->AddCase(chooser, mk_k(u, value, (uint64_t)inst->case_values[at++]), block);
            mk_begin(u, block);
            emit_outer_region(u, inst->regions[i]);
            go_to(u, n->exit);
        }
    }
    mk_begin(u, n->exit);
}

static void emit_outer_loop(unit *u, const ls__ir_inst *inst, note *n)
{
    const ls__ir_inst *last = inst->regions[1]->last;
    lb head = mk_block(u), round = mk_block(u);
    n->exit = mk_block(u);
    n->next = mk_block(u);
    n->in_step = false;
    mk_br(u, head);
    mk_begin(u, head);
    if (n->has_continue)
        clear_crossing(u, n->continued_at);
    emit_outer_region(u, inst->regions[0]);
    go_to(u, n->next);
    mk_begin(u, n->next);
    n->in_step = true;
    emit_outer_region(u, inst->regions[1]);
    if (last && last->op == LS_OP_WHILE)
        mk_cond_br(u, first_value(u, last->args[0]), round, n->exit);
    else
        mk_br(u, round);
    mk_begin(u, round);
    ls__llvm_poll(u, inst);
    mk_br(u, head);
    mk_begin(u, n->exit);
}

static void emit_outer_jump(unit *u, const ls__ir_inst *inst, const note *n)
{
    if (inst->op == LS_OP_RETURN)
        mk_br(u, u->body_end);
    else if (inst->op != LS_OP_WHILE)
        mk_br(u, inst->op == LS_OP_CONTINUE ? n->target->next : n->target->exit);
}

static void emit_outer(unit *u, const ls__ir_inst *inst)
{
    note *n = ls__llvm_note(u, inst);
    if (inst->op == LS_OP_BARRIER) /* one thread runs the workgroup, in order */
        return;
    if (inst->op == LS_OP_WG_UNIFORM) {
        lv value = first_value(u, inst->args[0]);
        u->l->BuildStore(u->b, value, u->value_slots[inst->id.id].place);
        return;
    }
    if (!inst->region_count) {
        emit_outer_jump(u, inst, n);
        return;
    }
    if (n->has_break)
        clear_crossing(u, n->left_at);
    u->frame = n;
    if (inst->op == LS_OP_LOOP)
        emit_outer_loop(u, inst, n);
    else
        emit_outer_choice(u, inst, n);
    n->left = n->continued = NULL;
    u->frame = n->parent;
}

static bool is_outer(const unit *u, const ls__ir_inst *inst)
{
    const note *n = ls__llvm_note(u, inst);
    return ls__llvm_is_split(u, inst) || (n && n->outer);
}

static bool find_number(ls__ir_inst *inst, void *context)
{
    scan *s = context;
    s->number = inst->id.id ? s->u->value_segments[inst->id.id] : 0;
    return s->number == 0;
}

/* The plan's number of a run: its values have it. Without values it does not matter. */
static uint32_t number_of(unit *u, ls__ir_inst *first, const ls__ir_inst *end)
{
    scan s = {u, 0};
    for (ls__ir_inst *inst = first; inst != end && s.number == 0; inst = inst->next) {
        find_number(inst, &s);
        for (uint32_t i = 0; i < inst->region_count && s.number == 0; i++)
            ls__ir_walk(inst->regions[i], find_number, &s);
    }
    return s.number;
}

static void emit_outer_region(unit *u, const ls__ir_region *region)
{
    ls__ir_inst *first = NULL;
    for (ls__ir_inst *inst = region->first; inst && !ls__llvm_is_terminated(u); inst = inst->next) {
        if (!is_outer(u, inst)) {
            if (!first)
                first = inst;
            if (inst->next)
                continue;
        }
        const ls__ir_inst *end = is_outer(u, inst) ? inst : NULL;
        if (first)
            emit_segment(u, first, end, number_of(u, first, end));
        first = NULL;
        if (end && !ls__llvm_is_terminated(u))
            emit_outer(u, inst);
    }
}

void ls__llvm_emit_body(unit *u)
{
    if (u->zeroed_bytes)
        u->l->BuildMemSet(u->b, u->scratch, u->l->ConstInt(u->e->i8, 0, 0),
                          mk_i64(u, u->zeroed_bytes), LS__CPU_SCRATCH_ALIGNMENT);
    for (uint32_t i = 1; i < u->function->vars.count; i++) {
        const variable *v = &u->vars[i];
        lt type = ls__llvm_type(u, (ls_type)u->function->vars.items[i].type, false);
        if (v->home.kind == SLOT_STACK)
            u->l->BuildStore(u->b, u->l->ConstNull(type), v->home.place);
    }
    u->body_end = mk_block(u);
    if (!u->is_cut)
        emit_segment(u, u->function->body->first, NULL, 1);
    else
        emit_outer_region(u, u->function->body);
    go_to(u, u->body_end);
    mk_begin(u, u->body_end);
}
