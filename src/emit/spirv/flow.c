/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow. The IR's regions are SPIR-V's constructs: an `if` is a selection, a `loop` a loop
 * whose step is its continue construct, a `block` a switch with nothing but a default, since of all
 * constructs that are no loop only a switch can be left from deep inside.
 *
 * What follows a construct that nothing leaves is dead and not emitted.
 */
#include "base/status.h"
#include "emit/spirv/build.h"

void ls__spirv_begin(unit *u, ref label)
{
    put(u, u->out, SpvOpLabel, label);
    u->f.terminated = false;
}

void ls__spirv_branch(unit *u, ref label)
{
    if (!u->f.terminated)
        put(u, u->out, SpvOpBranch, label);
    u->f.terminated = true;
}

ref ls__spirv_begin_if(unit *u, ref condition)
{
    ref then = ls__spirv_new(u), merge = ls__spirv_new(u);
    put(u, u->out, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    put(u, u->out, SpvOpBranchConditional, condition, then, merge);
    ls__spirv_begin(u, then);
    return merge;
}

void ls__spirv_end_if(unit *u, ref merge)
{
    ls__spirv_branch(u, merge);
    ls__spirv_begin(u, merge);
}

void ls__spirv_barrier(unit *u)
{
    ref workgroup = ls__spirv_u32(u, SpvScopeWorkgroup);
    ref semantics = ls__spirv_u32(
        u, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsUniformMemoryMask |
               SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsMakeAvailableMask |
               SpvMemorySemanticsMakeVisibleMask);
    put(u, u->out, SpvOpControlBarrier, workgroup, workgroup, semantics);
}

/* The block behind a construct; `reached` by anything? */
static void merge_at(unit *u, ref merge, bool reached)
{
    ls__spirv_begin(u, merge);
    if (!reached) {
        ls__spirv_put(u, u->out, SpvOpUnreachable, NULL, 0);
        u->f.terminated = true;
    }
}

/* A region that goes on at `next`; whether it ever does. */
static bool region_to(unit *u, const ls__ir_region *region, ref next)
{
    ls__spirv_region(u, region);
    bool falls = !u->f.terminated;
    ls__spirv_branch(u, next);
    return falls;
}

static void emit_if(unit *u, const ls__ir_inst *inst)
{
    bool has_else = inst->regions[1]->first != NULL, reached;
    ref merge = ls__spirv_new(u), then = ls__spirv_new(u);
    ref other = has_else ? ls__spirv_new(u) : merge;
    ref condition = ls__spirv_decided(u, inst->args[0]);
    put(u, u->out, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    put(u, u->out, SpvOpBranchConditional, condition, then, other);
    ls__spirv_begin(u, then);
    reached = region_to(u, inst->regions[0], merge) || !has_else;
    if (has_else) {
        ls__spirv_begin(u, other);
        reached |= region_to(u, inst->regions[1], merge);
    }
    merge_at(u, merge, reached);
}

static void emit_block(unit *u, const ls__ir_inst *inst)
{
    frame f = {.outer = u->f.top, .merge = ls__spirv_new(u)};
    ref body = ls__spirv_new(u), selector = ls__spirv_u32(u, 0);
    put(u, u->out, SpvOpSelectionMerge, f.merge, SpvSelectionControlMaskNone);
    put(u, u->out, SpvOpSwitch, selector, body);
    u->f.top = &f;
    ls__spirv_begin(u, body);
    bool reached = region_to(u, inst->regions[0], f.merge);
    u->f.top = f.outer;
    merge_at(u, f.merge, reached || f.merge_reached);
}

/* The switch itself: each value and where it goes. Label i is that of region i. */
static void put_switch(unit *u, const ls__ir_inst *inst, ref selector, const ref *labels)
{
    words operands = {0};
    uint32_t value = 0, last = inst->region_count - 1;
    bool is_wide = ls__ir_type_of(u->f.function, inst->args[0]) == LS_TYPE_I64;
    ls__vec_push(u->arena, &operands, selector);
    ls__vec_push(u->arena, &operands, labels[last]);
    for (uint32_t i = 0; i < last; i++) {
        for (uint32_t k = 0; k < inst->case_sizes[i]; k++, value++) {
            uint64_t bits = (uint64_t)inst->case_values[value];
            ls__vec_push(u->arena, &operands, (uint32_t)bits);
            if (is_wide)
                ls__vec_push(u->arena, &operands, (uint32_t)(bits >> 32));
            ls__vec_push(u->arena, &operands, labels[i]);
        }
    }
    ls__spirv_put(u, u->out, SpvOpSwitch, operands.items, operands.count);
}

static void emit_switch(unit *u, const ls__ir_inst *inst)
{
    frame f = {.outer = u->f.top, .merge = ls__spirv_new(u)};
    ref *labels = LS__NEW_ARRAY(u->arena, ref, inst->region_count);
    ref selector = ls__spirv_decided(u, inst->args[0]);
    bool reached = false;
    for (uint32_t i = 0; i < inst->region_count; i++)
        labels[i] = ls__spirv_new(u);
    put(u, u->out, SpvOpSelectionMerge, f.merge, SpvSelectionControlMaskNone);
    put_switch(u, inst, selector, labels);
    u->f.top = &f;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        ls__spirv_begin(u, labels[i]);
        reached |= region_to(u, inst->regions[i], f.merge);
    }
    u->f.top = f.outer;
    merge_at(u, f.merge, reached || f.merge_reached);
}

static void emit_loop(unit *u, const ls__ir_inst *inst)
{
    frame f = {.outer = u->f.top, .merge = ls__spirv_new(u), .next = ls__spirv_new(u)};
    ref head = ls__spirv_new(u), body = ls__spirv_new(u), condition = 0;
    const ls__ir_inst *last = inst->regions[1]->last;
    bool is_uniform;
    ls__spirv_branch(u, head);
    ls__spirv_begin(u, head);
    put(u, u->out, SpvOpLoopMerge, f.merge, f.next, SpvLoopControlMaskNone);
    ls__spirv_branch(u, body);
    ls__spirv_begin(u, body);
    u->f.top = &f;
    region_to(u, inst->regions[0], f.next);
    ls__spirv_begin(u, f.next);
    ls__spirv_region(u, inst->regions[1]);
    u->f.top = f.outer;
    if (last && last->op == LS_OP_WHILE)
        condition = ls__spirv_decided(u, last->args[0]);
    ref stop = ls__spirv_poll(u, inst, &is_uniform);
    if (stop) {
        ref boolean = ls__spirv_bool(u);
        ref goes_on = mk(u, SpvOpLogicalNot, boolean, stop);
        condition = condition ? mk(u, SpvOpLogicalAnd, boolean, condition, goes_on) : goes_on;
    }
    if (condition)
        put(u, u->out, SpvOpBranchConditional, condition, head, f.merge);
    else
        put(u, u->out, SpvOpBranch, head);
    u->f.terminated = true;
    merge_at(u, f.merge, condition || f.merge_reached);
    if (stop)
        ls__spirv_leave_when_stopped(u, is_uniform);
}

/* --- calls and returns -------------------------------------------------------------------------
 */

static void emit_return(unit *u, const ls__ir_inst *inst)
{
    if (inst->arg_count == 0) {
        ls__spirv_put(u, u->out, SpvOpReturn, NULL, 0);
    } else if (inst->arg_count == 1) {
        put(u, u->out, SpvOpReturnValue, ls__spirv_value(u, inst->args[0]));
    } else {
        uint32_t *parts = LS__NEW_ARRAY(u->arena, uint32_t, inst->arg_count);
        for (uint32_t i = 0; i < inst->arg_count; i++)
            parts[i] = ls__spirv_value(u, inst->args[i]);
        ref all =
            ls__spirv_make(u, SpvOpCompositeConstruct, u->f.result_type, parts, inst->arg_count);
        put(u, u->out, SpvOpReturnValue, all);
    }
    u->f.terminated = true;
}

/* Scalars and buffers in the order of the callee's parameters; a buffer is its address and its
 * range. */
static words arguments_of(unit *u, const ls__ir_inst *inst, const ls__ir_function *callee)
{
    words result = {0};
    uint32_t scalar = 0, base = 0;
    ls__vec_push(u->arena, &result, u->function[callee->id.id]);
    for (uint32_t i = 0; i < callee->params.count; i++) {
        if (!callee->params.items[i].is_pointer) {
            ls__vec_push(u->arena, &result, ls__spirv_value(u, inst->args[scalar++]));
            continue;
        }
        uint32_t buffer = inst->bases[base++].index;
        ref address = ls__spirv_buffer_address(u, buffer);
        ref range = ls__spirv_buffer_range(u, buffer);
        ls__vec_push(u->arena, &result, address);
        ls__vec_push(u->arena, &result, range);
    }
    return result;
}

ref ls__spirv_result_type(unit *u, const ls__ir_function *function)
{
    if (function->results.count == 0)
        return ls__spirv_void(u);
    if (function->results.count == 1)
        return ls__spirv_type(u, (ls_type)function->results.items[0]);
    uint32_t *parts = LS__NEW_ARRAY(u->arena, uint32_t, function->results.count);
    for (uint32_t i = 0; i < function->results.count; i++)
        parts[i] = ls__spirv_type(u, (ls_type)function->results.items[i]);
    return ls__spirv_unique(u, SpvOpTypeStruct, 0, parts, function->results.count);
}

static void emit_call(unit *u, const ls__ir_inst *inst)
{
    const ls__ir_function *callee = u->module->functions.items[inst->imm];
    words arguments = arguments_of(u, inst, callee);
    ref type = ls__spirv_result_type(u, callee);
    ref result = ls__spirv_make(u, SpvOpFunctionCall, type, arguments.items, arguments.count);
    if (u->function_polls[callee->id.id] && !(u->f.function->is_kernel && u->has_barriers))
        ls__spirv_leave_when_stopped(u, false);
    for (uint32_t i = 0; i < inst->result_count; i++) {
        ref value = result;
        if (inst->result_count > 1) {
            ref part = ls__spirv_type(u, (ls_type)callee->results.items[i]);
            value = mk(u, SpvOpCompositeExtract, part, result, i);
        }
        put(u, u->out, SpvOpStore, u->f.variable[inst->results[i].id], value);
    }
}

static void emit_jump(unit *u, const ls__ir_inst *inst)
{
    frame *f = u->f.top;
    if (inst->op == LS_OP_BREAK) {
        f->merge_reached = true;
        ls__spirv_branch(u, f->merge);
        return;
    }
    while (!f->next)
        f = f->outer;
    ls__spirv_branch(u, f->next);
}

/* --- instructions ------------------------------------------------------------------------------
 */

static ref range_of(unit *u, ls_base base)
{
    switch (base.kind) {
    case LS_BASE_BUFFER:
        return ls__spirv_buffer_range(u, base.index);
    case LS_BASE_SHARED:
        return ls__spirv_u64(u, u->f.function->shared.items[base.index].size);
    case LS_BASE_LOCAL:
        return ls__spirv_u64(u, u->f.function->locals.items[base.index].size);
    default:
        return ls__spirv_u64(u, u->module->tables.items[base.index].size);
    }
}

static ref emit_value(unit *u, const ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_RANGE:
        return range_of(u, inst->base);
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
        return ls__spirv_memory(u, inst);
    case LS_OP_VAR_GET:
        return mk(u, SpvOpLoad, ls__spirv_type(u, (ls_type)inst->type), u->f.variable[inst->imm]);
    case LS_OP_SEXT:
    case LS_OP_ZEXT:
    case LS_OP_TRUNC:
    case LS_OP_B2I:
    case LS_OP_S2F:
    case LS_OP_U2F:
    case LS_OP_F2S:
    case LS_OP_F2U:
    case LS_OP_F2F:
    case LS_OP_F16_TO_F32:
    case LS_OP_F32_TO_F16:
    case LS_OP_BF16_TO_F32:
    case LS_OP_F32_TO_BF16:
    case LS_OP_FRAWBITS:
    case LS_OP_FFROM_BITS:
        return ls__spirv_convert(u, inst);
    case LS_OP_SG_SHUFFLE:
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
    case LS_OP_WG_UNIFORM:
        return ls__spirv_subgroup(u, inst);
    default:
        return ls__spirv_pure(u, inst);
    }
}

static void emit(unit *u, const ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_VAR_SET:
        put(u, u->out, SpvOpStore, u->f.variable[inst->imm], ls__spirv_value(u, inst->args[0]));
        return;
    case LS_OP_BARRIER:
        ls__spirv_barrier(u);
        return;
    case LS_OP_GRID_BARRIER:
        ls__spirv_fail(u, LS_E_INTERNAL, "'grid_barrier' should have been split at");
        return;
    case LS_OP_TRAP:
        ls__spirv_trap(u, ls__spirv_value(u, inst->args[0]));
        return;
    case LS_OP_CALL:
        emit_call(u, inst);
        return;
    case LS_OP_IF:
        emit_if(u, inst);
        return;
    case LS_OP_LOOP:
        emit_loop(u, inst);
        return;
    case LS_OP_SWITCH:
        emit_switch(u, inst);
        return;
    case LS_OP_BLOCK:
        emit_block(u, inst);
        return;
    case LS_OP_BREAK:
    case LS_OP_CONTINUE:
        emit_jump(u, inst);
        return;
    case LS_OP_RETURN:
        emit_return(u, inst);
        return;
    case LS_OP_WHILE: /* the loop has seen to it */
        return;
    default:
        u->f.values[inst->id.id] = emit_value(u, inst);
    }
}

void ls__spirv_region(unit *u, const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst && !u->f.terminated; inst = inst->next)
        emit(u, inst);
}
