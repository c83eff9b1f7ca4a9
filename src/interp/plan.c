/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a kernel ready to run: flattens the region trees of the kernel and of all functions it
 * reaches into one array of steps with jumps, lays out frames, and notes which kinds of
 * synchronisation occur. Flattening walks with an explicit stack, so nesting costs no C stack;
 * only the call graph recurses, and its depth is limited.
 *
 * Jumps to a place not yet reached are chained through their own `target` fields and patched when
 * the place is known.
 */
#include <assert.h>

#include "interp/machine.h"

#define NO_STEP UINT32_MAX /* end of a chain */

typedef struct construct { /* a structured instruction whose regions are being flattened */
    const ls__ir_inst *inst;
    uint32_t region;    /* the one under way */
    uint32_t head;      /* if: its step; loop: first step of the body; switch: first target */
    uint32_t breaks;    /* chain: to the end */
    uint32_t continues; /* chain: to the step region */
} construct;

typedef struct flattener {
    ls__interp_machine *machine;
    const ls__ir_function *function;
    LS__VEC(construct) open;
} flattener;

static uint32_t append(flattener *f, ls_op op, const ls__ir_inst *inst, uint32_t target)
{
    ls__interp_machine *machine = f->machine;
    ls__interp_step step = {.inst = inst, .target = target, .op = (uint16_t)op};
    if (inst)
        step.arg_type = (uint8_t)ls__ir_operand_type(f->function, inst);
    ls__vec_push(&machine->arena, &machine->steps, step);
    return machine->steps.count - 1;
}

static void patch_chain(ls__interp_machine *machine, uint32_t chain)
{
    while (chain != NO_STEP) {
        uint32_t next = machine->steps.items[chain].target;
        machine->steps.items[chain].target = machine->steps.count;
        chain = next;
    }
}

/* The innermost construct that `break` leaves or, with `loops_only`, that `continue` repeats. */
static construct *innermost(flattener *f, bool loops_only)
{
    for (uint32_t i = f->open.count; i-- > 0;) {
        construct *c = &f->open.items[i];
        if (c->inst->op == LS_OP_LOOP || (!loops_only && c->inst->op != LS_OP_IF))
            return c;
    }
    assert(false && "a break or continue inside a construct it can leave (verifier)");
    return NULL;
}

/* Begins a structured instruction; its first region comes next. */
static void open_construct(flattener *f, const ls__ir_inst *inst)
{
    ls__interp_machine *machine = f->machine;
    construct c = {.inst = inst, .breaks = NO_STEP, .continues = NO_STEP};
    if (inst->op == LS_OP_IF) {
        c.head = append(f, LS_OP_IF, inst, NO_STEP);
    } else if (inst->op == LS_OP_SWITCH) {
        c.head = machine->switch_targets.count;
        append(f, LS_OP_SWITCH, inst, c.head);
        for (uint32_t i = 0; i < inst->region_count; i++)
            ls__vec_push(&machine->arena, &machine->switch_targets, machine->steps.count);
    } else {
        c.head = machine->steps.count;
    }
    ls__vec_push(&machine->arena, &f->open, c);
}

/* Ends the region under way of the innermost construct. Returns the next region, or NULL after the
 * last one, when the construct is closed. */
static const ls__ir_region *next_region(flattener *f)
{
    ls__interp_machine *machine = f->machine;
    construct *c = &f->open.items[f->open.count - 1];
    const ls__ir_inst *inst = c->inst;
    bool is_last = c->region + 1 == inst->region_count;

    switch (inst->op) {
    case LS_OP_IF:
        if (!is_last && inst->regions[1]->first)
            c->breaks = append(f, LS_OP_NONE, NULL, c->breaks);
        if (c->region == 0)
            machine->steps.items[c->head].target = machine->steps.count;
        break;
    case LS_OP_SWITCH:
        if (!is_last) {
            c->breaks = append(f, LS_OP_NONE, NULL, c->breaks);
            machine->switch_targets.items[c->head + c->region + 1] = machine->steps.count;
        }
        break;
    case LS_OP_LOOP:
        if (!is_last)
            patch_chain(machine, c->continues);
        else if (!inst->regions[1]->last || inst->regions[1]->last->op != LS_OP_WHILE)
            append(f, LS_OP_LOOP, inst, c->head);
        break;
    default:
        break;
    }
    if (!is_last)
        return inst->regions[++c->region];
    patch_chain(machine, c->breaks);
    f->open.count--;
    return NULL;
}

static void append_jump(flattener *f, const ls__ir_inst *inst)
{
    if (inst->op == LS_OP_BREAK) {
        construct *c = innermost(f, false);
        c->breaks = append(f, LS_OP_BREAK, inst, c->breaks);
    } else if (inst->op == LS_OP_CONTINUE) {
        construct *c = innermost(f, true);
        c->continues = append(f, LS_OP_CONTINUE, inst, c->continues);
    } else {
        append(f, LS_OP_WHILE, inst, innermost(f, true)->head);
    }
}

static void note_features(ls__interp_machine *machine, ls__interp_code *code,
                          const ls__ir_inst *inst)
{
    if (ls__ir_op_has((ls_op)inst->op, 'S'))
        machine->has_sync = true;
    if (inst->op == LS_OP_GRID_BARRIER)
        machine->has_grid_barrier = true;
    if (inst->op == LS_OP_SG_SHUFFLE || inst->op == LS_OP_SG_BROADCAST ||
        inst->op == LS_OP_SG_REDUCE || inst->op == LS_OP_SG_BALLOT)
        machine->has_subgroup = true;
    bool writes =
        inst->op == LS_OP_STORE || inst->op == LS_OP_ATOMIC || inst->op == LS_OP_ATOMIC_CAS;
    if (writes && inst->base.kind == LS_BASE_BUFFER)
        code->written_mask |= UINT64_C(1) << inst->base.index;
}

static void flatten(ls__interp_machine *machine, ls__interp_code *code)
{
    flattener f = {.machine = machine, .function = code->function};
    const ls__ir_inst *inst = code->function->body->first;

    code->first = machine->steps.count;
    for (;;) {
        if (!inst) {
            if (f.open.count == 0)
                break;
            const ls__ir_inst *owner = f.open.items[f.open.count - 1].inst;
            const ls__ir_region *region = next_region(&f);
            inst = region ? region->first : owner->next;
            continue;
        }
        note_features(machine, code, inst);
        switch (inst->op) {
        case LS_OP_IF:
        case LS_OP_LOOP:
        case LS_OP_SWITCH:
        case LS_OP_BLOCK:
            open_construct(&f, inst);
            inst = inst->regions[0]->first;
            break;
        case LS_OP_BREAK:
        case LS_OP_CONTINUE:
        case LS_OP_WHILE:
            append_jump(&f, inst);
            inst = inst->next;
            break;
        default:
            append(&f, (ls_op)inst->op, inst, 0);
            inst = inst->next;
            break;
        }
    }
    append(&f, LS_OP_RETURN, NULL, 0);
    code->end = machine->steps.count;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 15) & ~UINT64_C(15);
}

/* Offsets of objects laid one behind the other; returns the bytes of all. */
static uint32_t lay_out(ls__arena *arena, const ls__ir_object *objects, uint32_t count,
                        uint32_t **offsets)
{
    uint64_t at = 0;
    *offsets = LS__NEW_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        (*offsets)[i] = (uint32_t)at;
        at = round_up(at + objects[i].size);
    }
    assert(at <= UINT32_MAX && "object sizes are limited (verifier)");
    return (uint32_t)at;
}

static void lay_out_frame(ls__interp_machine *machine, ls__interp_code *code)
{
    const ls__ir_function *function = code->function;
    uint64_t flags = machine->observing ? 1 : 0;
    uint64_t var_count = function->vars.count;
    uint32_t local_bytes = lay_out(&machine->arena, function->locals.items, function->locals.count,
                                   &code->local_offsets);
    uint64_t at = round_up(sizeof(ls__interp_frame));

    code->values_at = (uint32_t)at;
    at = round_up(at + sizeof(uint64_t) * function->values.count);
    code->buffers_at = (uint32_t)at;
    at = round_up(at + function->buffer_count);
    code->scalars_at = (uint32_t)at;
    at = round_up(at + (function->is_kernel ? 0 : function->scalar_bytes));
    code->zero_at = code->vars_at = (uint32_t)at;
    at = round_up(at + sizeof(uint64_t) * var_count);
    code->var_set_at = (uint32_t)at;
    at = round_up(at + flags * var_count);
    code->locals_at = (uint32_t)at;
    at = round_up(at + local_bytes);
    code->local_set_at = (uint32_t)at;
    at = round_up(at + flags * local_bytes);
    code->frame_bytes = at;
    if (at > UINT32_MAX)
        ls__interp_fail(machine, LS_E_LIMIT, "a function needs a frame of more than 4 GiB a lane");
}

static ls__interp_code *make_code(ls__interp_machine *machine, const ls__ir_function *function)
{
    ls__interp_code *code = LS__NEW(&machine->arena, ls__interp_code);
    code->function = function;
    if (function->buffer_count > LS__INTERP_MAX_BUFFERS) {
        ls__interp_fail(machine, LS_E_LIMIT, "more than 64 pointer parameters");
        return code;
    }
    flatten(machine, code);
    lay_out_frame(machine, code);
    return code;
}

/* Readies the callees, and from them fills in stack_bytes and the rest of written_mask. */
static void finish_code(ls__interp_machine *machine, ls__interp_code *code, uint32_t depth)
{
    uint64_t deepest = 0;
    if (depth > LS__INTERP_MAX_CALLS) {
        ls__interp_fail(machine, LS_E_INVALID_ARGUMENT, "the call chain is recursive or too deep");
        return;
    }
    for (uint32_t pc = code->first; pc < code->end; pc++) {
        const ls__ir_inst *inst = machine->steps.items[pc].inst;
        if (!inst || inst->op != LS_OP_CALL)
            continue;
        ls__interp_code *callee = machine->codes[inst->imm];
        if (!callee)
            callee = machine->codes[inst->imm] =
                make_code(machine, machine->launch->module->functions.items[inst->imm]);
        if (callee->stack_bytes == 0)
            finish_code(machine, callee, depth + 1);
        if (machine->status != LS_OK)
            return;
        if (callee->stack_bytes > deepest)
            deepest = callee->stack_bytes;
        for (uint32_t i = 0; i < inst->base_count; i++) {
            if (callee->written_mask >> i & 1)
                code->written_mask |= UINT64_C(1) << inst->bases[i].index;
        }
    }
    code->stack_bytes = code->frame_bytes + deepest;
}

void ls__interp_plan(ls__interp_machine *machine)
{
    const ls__ir_module *module = machine->launch->module;
    const ls__ir_function *kernel = machine->launch->kernel;

    machine->codes = LS__NEW_ARRAY(&machine->arena, ls__interp_code *, module->functions.count);
    machine->kernel = make_code(machine, kernel);
    finish_code(machine, machine->kernel, 0);
    machine->shared_bytes = lay_out(&machine->arena, kernel->shared.items, kernel->shared.count,
                                    &machine->shared_offsets);
}
