/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lane: runs steps until the lane ends or stands at a step where it must wait for the others.
 * All of a lane's state is in its frames, so stopping and going on cost nothing. Pure operations
 * are ls__ir_eval; what depends on the lane, on memory or on control flow is here.
 */
#include <assert.h>
#include <string.h>

#include "interp/machine.h"

/* Lays a frame at `at` of the lane's stack; variables and locals read as zero. */
static ls__interp_frame *new_frame(const ls__interp_machine *machine, const ls__interp_code *code,
                                   uint8_t *at, ls__interp_frame *caller)
{
    ls__interp_frame *frame = (ls__interp_frame *)(void *)at;
    *frame = (ls__interp_frame){
        .code = code,
        .caller = caller,
        .scalars = at + code->scalars_at,
        .values = (uint64_t *)(void *)(at + code->values_at),
        .vars = (uint64_t *)(void *)(at + code->vars_at),
        .buffers = at + code->buffers_at,
        .locals = at + code->locals_at,
    };
    if (machine->observing) {
        frame->var_set = at + code->var_set_at;
        frame->local_set = at + code->local_set_at;
    }
    memset(at + code->zero_at, 0, code->frame_bytes - code->zero_at);
    return frame;
}

void ls__interp_lane_start(ls__interp_machine *machine, const ls__interp_group *group,
                           ls__interp_lane *lane, uint32_t index)
{
    const ls__ir_function *kernel = machine->launch->kernel;
    uint32_t rest = index;

    lane->index = index;
    lane->done = false;
    lane->pc = machine->kernel->first;
    for (uint32_t d = 0; d < 3; d++) {
        lane->local_id[d] = rest % kernel->workgroup[d];
        rest /= kernel->workgroup[d];
        lane->global_id[d] = group->id[d] * kernel->workgroup[d] + lane->local_id[d];
    }
    lane->frame = new_frame(machine, machine->kernel, lane->stack, NULL);
    lane->frame->scalars = machine->launch->scalars;
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        lane->frame->buffers[i] = (uint8_t)i;
}

bool ls__interp_cancelled(const ls__interp_machine *machine)
{
    const atomic_int *cancel = machine->launch->cancel;
    return cancel && atomic_load_explicit(cancel, memory_order_relaxed) != 0;
}

static uint32_t geometry(const ls__interp_machine *machine, const ls__interp_group *group,
                         const ls__interp_lane *lane, const ls__ir_inst *inst)
{
    uint64_t d = inst->imm2;
    switch ((ls_id)inst->imm) {
    case LS_ID_GLOBAL_ID:
        return lane->global_id[d];
    case LS_ID_LOCAL_ID:
        return lane->local_id[d];
    case LS_ID_WORKGROUP_ID:
        return group->id[d];
    case LS_ID_GLOBAL_SIZE:
        return machine->launch->global_size[d];
    case LS_ID_WORKGROUP_SIZE:
        return machine->launch->kernel->workgroup[d];
    case LS_ID_WORKGROUP_COUNT:
        return machine->group_count[d];
    case LS_ID_LOCAL_INDEX:
        return lane->index;
    case LS_ID_LANE:
        return lane->index % LS__INTERP_SUBGROUP;
    case LS_ID_SUBGROUP:
        return lane->index / LS__INTERP_SUBGROUP;
    case LS_ID_ITERATION:
        return machine->launch->iteration;
    case LS_ID_COUNT:
        break;
    }
    assert(false && "a known id (verifier)");
    return 0;
}

static uint32_t switch_target(const ls__interp_machine *machine, const ls__interp_step *step,
                              uint64_t bits)
{
    const ls__ir_inst *inst = step->inst;
    int64_t value = step->arg_type == LS_TYPE_I32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    const int64_t *candidate = inst->case_values;
    uint32_t region = 0;

    for (; region + 1 < inst->region_count; region++) {
        for (uint32_t i = 0; i < inst->case_sizes[region]; i++) {
            if (*candidate++ == value)
                return machine->switch_targets.items[step->target + region];
        }
    }
    return machine->switch_targets.items[step->target + region];
}

/* The lowest (workgroup, lane) counts, whatever the schedule; of one lane the first trap. */
static void trap(ls__interp_machine *machine, const ls__interp_group *group,
                 const ls__interp_lane *lane, uint32_t code)
{
    ls__interp_result *result = machine->result;
    if (result->trapped &&
        (group->linear > result->trap_workgroup ||
         (group->linear == result->trap_workgroup && lane->index >= result->trap_lane)))
        return;
    result->trapped = true;
    result->trap_code = code;
    result->trap_workgroup = group->linear;
    result->trap_lane = lane->index;
}

static void unset_variable(ls__interp_machine *machine, const ls__interp_group *group,
                           const ls__interp_lane *lane, uint32_t pc, const char *name)
{
    ls__interp_report report =
        ls__interp_report_at(machine, group, lane, pc, LS__INTERP_UNWRITTEN_READ);
    report.object = name ? name : "";
    report.detail = "a local is read before it is set";
    if (machine->launch->sanitize)
        ls__interp_report_send(machine, pc, 0, &report);
    report.kind = LS__INTERP_UNDEFINED_IN_C;
    if (machine->launch->flag_undefined_c)
        ls__interp_report_send(machine, pc, 0, &report);
}

static uint64_t get(ls__interp_machine *machine, const ls__interp_group *group,
                    const ls__interp_lane *lane, uint32_t pc)
{
    const ls__interp_frame *frame = lane->frame;
    uint64_t var = machine->steps.items[pc].inst->imm;
    if (frame->var_set && !frame->var_set[var])
        unset_variable(machine, group, lane, pc, frame->code->function->vars.items[var].name);
    return frame->vars[var];
}

static void set(ls__interp_frame *frame, uint64_t var, uint64_t value, bool counts)
{
    frame->vars[var] = value;
    if (frame->var_set)
        frame->var_set[var] = counts;
}

/* Opens the callee's frame. Scalar arguments go through a scalar block, so a narrow parameter is
 * cut to its type on the way; float bits pass as they are, since this is no memory. */
static void call(ls__interp_machine *machine, ls__interp_lane *lane, uint32_t pc)
{
    const ls__ir_inst *inst = machine->steps.items[pc].inst;
    const ls__interp_code *code = machine->codes[inst->imm];
    const ls__ir_function *function = code->function;
    ls__interp_frame *caller = lane->frame;
    uint8_t *at = (uint8_t *)caller + caller->code->frame_bytes;
    ls__interp_frame *frame = new_frame(machine, code, at, caller);
    uint32_t scalars = 0;

    for (uint32_t i = 0; i < function->params.count; i++) {
        const ls__ir_param *param = &function->params.items[i];
        if (param->is_pointer)
            frame->buffers[param->buffer] = caller->buffers[inst->bases[param->buffer].index];
        else
            ls__ir_store_bits((ls_mem)param->mem, at + code->scalars_at + param->offset,
                              caller->values[inst->args[scalars++].id], true);
    }
    frame->return_pc = pc;
    lane->frame = frame;
    lane->pc = code->first;
}

/* Closes the innermost frame. Returns false when it was the kernel's: the lane is done. */
static bool leave(ls__interp_machine *machine, ls__interp_lane *lane, const ls__ir_inst *inst)
{
    ls__interp_frame *frame = lane->frame;
    if (!frame->caller)
        return false;
    const ls__ir_inst *from = machine->steps.items[frame->return_pc].inst;
    for (uint32_t i = 0; inst && i < from->result_count && i < inst->arg_count; i++)
        set(frame->caller, from->results[i].id, frame->values[inst->args[i].id], true);
    lane->pc = frame->return_pc + 1;
    lane->frame = frame->caller;
    return true;
}

static uint64_t pure(ls__interp_machine *machine, const ls__interp_group *group,
                     const ls__interp_lane *lane, uint32_t pc)
{
    const ls__interp_step *step = &machine->steps.items[pc];
    const ls__ir_inst *inst = step->inst;
    const uint64_t *values = lane->frame->values;
    uint64_t args[3] = {0};

    assert(inst->arg_count <= 3);
    for (uint32_t i = 0; i < inst->arg_count; i++)
        args[i] = values[inst->args[i].id];
    if (machine->launch->flag_undefined_c)
        ls__interp_check_c(machine, group, lane, pc, args);
    return ls__ir_eval(inst, (ls_type)step->arg_type, args);
}

ls__interp_stop ls__interp_lane_run(ls__interp_machine *machine, ls__interp_group *group,
                                    ls__interp_lane *lane)
{
    const ls__interp_step *steps = machine->steps.items;
    const ls__interp_frame *frame = lane->frame;
    uint64_t *values = frame->values;
    uint64_t count = 0;
    uint32_t pc = lane->pc;
    ls__interp_stop stop = LS__INTERP_DONE;

    for (;; count++) {
        const ls__interp_step *step = &steps[pc];
        const ls__ir_inst *inst = step->inst;
        switch ((ls_op)step->op) {
        case LS_OP_CONST:
            values[inst->id.id] = inst->imm;
            break;
        case LS_OP_PARAM:
            values[inst->id.id] = ls__ir_load_bits((ls_mem)inst->mem, frame->scalars + inst->imm);
            break;
        case LS_OP_ID:
            values[inst->id.id] = geometry(machine, group, lane, inst);
            break;
        case LS_OP_RANGE:
            values[inst->id.id] = ls__interp_range(machine, frame, inst->base);
            break;
        case LS_OP_LOAD:
            values[inst->id.id] = ls__interp_load(machine, group, lane, pc);
            break;
        case LS_OP_STORE:
            ls__interp_store(machine, group, lane, pc);
            break;
        case LS_OP_ATOMIC:
        case LS_OP_ATOMIC_CAS: {
            uint64_t old = ls__interp_atomic(machine, group, lane, pc);
            if (inst->id.id)
                values[inst->id.id] = old;
            break;
        }
        case LS_OP_VAR_GET:
            values[inst->id.id] = get(machine, group, lane, pc);
            break;
        case LS_OP_VAR_SET:
            set(lane->frame, inst->imm, values[inst->args[0].id],
                !(inst->flags & LS__IR_UNSET));
            break;
        case LS_OP_TRAP:
            trap(machine, group, lane, (uint32_t)values[inst->args[0].id]);
            break;
        case LS_OP_SG_SHUFFLE:
        case LS_OP_SG_BROADCAST:
        case LS_OP_SG_REDUCE:
        case LS_OP_SG_BALLOT:
        case LS_OP_WG_UNIFORM:
        case LS_OP_BARRIER:
        case LS_OP_GRID_BARRIER:
            stop = LS__INTERP_SYNC;
            goto stopped;
        case LS_OP_CALL:
            call(machine, lane, pc);
            frame = lane->frame;
            values = frame->values;
            pc = lane->pc;
            continue;
        case LS_OP_RETURN:
            if (!leave(machine, lane, inst))
                goto stopped;
            frame = lane->frame;
            values = frame->values;
            pc = lane->pc;
            continue;
        case LS_OP_IF:
            pc = values[inst->args[0].id] & 1 ? pc + 1 : step->target;
            continue;
        case LS_OP_SWITCH:
            pc = switch_target(machine, step, values[inst->args[0].id]);
            continue;
        case LS_OP_BREAK:
        case LS_OP_CONTINUE:
        case LS_OP_NONE:
            pc = step->target;
            continue;
        case LS_OP_WHILE:
            if (!(values[inst->args[0].id] & 1))
                break;
            /* fall through */
        case LS_OP_LOOP:
            if (ls__interp_cancelled(machine)) {
                stop = LS__INTERP_CANCEL;
                goto stopped;
            }
            pc = step->target;
            continue;
        default:
            values[inst->id.id] = pure(machine, group, lane, pc);
            break;
        }
        pc++;
    }
stopped:
    lane->pc = pc;
    machine->result->instructions += count;
    return stop;
}
