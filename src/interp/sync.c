/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchange of values between lanes that have all arrived at one step: subgroup operations and
 * workgroup_uniform(). Operands are read from the lanes' frames and results written there; all are
 * read before any is written. Barriers exchange nothing and are interp.c's.
 */
#include <assert.h>
#include <string.h>

#include "interp/machine.h"

enum { WIDTH = LS__INTERP_SUBGROUP };

/* Equal as far as a kernel can tell: all NaNs are one. */
static bool is_same(ls_type type, uint64_t a, uint64_t b)
{
    return ls__ir_canonical(type, a) == ls__ir_canonical(type, b);
}

/* The butterfly: in each step every lane combines its value with its partner's of the step before.
 * Partners combine the same two values in either order, and every operation here is commutative
 * (IEEE addition and our fmin and fmax as well), so at the end all lanes hold the same value,
 * although float addition is not associative: the tree is the same seen from every lane. */
static void reduce(const ls__ir_inst *inst, ls_type type, uint64_t values[WIDTH])
{
    static const ls_op ops[LS_REDUCE_COUNT] = {
        [LS_REDUCE_ADD] = LS_OP_ADD,   [LS_REDUCE_SMIN] = LS_OP_SMIN, [LS_REDUCE_SMAX] = LS_OP_SMAX,
        [LS_REDUCE_UMIN] = LS_OP_UMIN, [LS_REDUCE_UMAX] = LS_OP_UMAX, [LS_REDUCE_FMIN] = LS_OP_FMIN,
        [LS_REDUCE_FMAX] = LS_OP_FMAX, [LS_REDUCE_AND] = LS_OP_AND,   [LS_REDUCE_OR] = LS_OP_OR,
        [LS_REDUCE_XOR] = LS_OP_XOR,
    };
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    ls_op op = inst->imm == LS_REDUCE_ADD && is_float ? LS_OP_FADD : ops[inst->imm];
    ls__ir_inst combine = {.op = (uint16_t)op, .type = (uint8_t)type, .arg_count = 2};

    for (uint32_t step = WIDTH / 2; step > 0; step /= 2) {
        uint64_t before[WIDTH];
        memcpy(before, values, sizeof before);
        for (uint32_t i = 0; i < WIDTH; i++)
            values[i] = ls__ir_eval(&combine, type, (uint64_t[]){before[i], before[i ^ step]});
    }
    for (uint32_t i = 1; i < WIDTH; i++)
        assert(is_same(type, values[0], values[i]));
}

/* One subgroup: `lanes` are its 32 lanes. */
static void exchange_subgroup(const ls__interp_step *step, ls__interp_lane *lanes)
{
    const ls__ir_inst *inst = step->inst;
    uint64_t values[WIDTH], results[WIDTH];
    uint32_t sources[WIDTH] = {0}, ballot = 0;

    for (uint32_t i = 0; i < WIDTH; i++) {
        const uint64_t *frame_values = lanes[i].frame->values;
        values[i] = frame_values[inst->args[0].id];
        ballot |= (uint32_t)(values[i] & 1) << i;
        if (inst->arg_count > 1)
            sources[i] = (uint32_t)frame_values[inst->args[1].id] % WIDTH;
    }
    if (inst->op == LS_OP_SG_REDUCE)
        reduce(inst, (ls_type)step->arg_type, values);
    for (uint32_t i = 0; i < WIDTH; i++) {
        switch (inst->op) {
        case LS_OP_SG_SHUFFLE:
            results[i] = values[sources[i]];
            break;
        case LS_OP_SG_BROADCAST:
            results[i] = values[sources[0]];
            break;
        case LS_OP_SG_BALLOT:
            results[i] = ballot;
            break;
        default:
            results[i] = values[i];
            break;
        }
        lanes[i].frame->values[inst->id.id] = results[i];
    }
}

static void make_uniform(ls__interp_machine *machine, ls__interp_group *group, uint32_t pc)
{
    const ls__interp_step *step = &machine->steps.items[pc];
    const ls__ir_inst *inst = step->inst;
    uint64_t first = group->lanes[0].frame->values[inst->args[0].id];

    for (uint32_t i = 0; i < machine->group_lanes; i++) {
        ls__interp_lane *lane = &group->lanes[i];
        uint64_t own = lane->frame->values[inst->args[0].id];
        if (machine->seen && !is_same((ls_type)step->arg_type, own, first)) {
            ls__interp_report report =
                ls__interp_report_at(machine, group, lane, pc, LS__INTERP_NOT_UNIFORM);
            report.detail = "the value differs from that of lane 0";
            memcpy(report.other_workgroup, group->id, sizeof report.other_workgroup);
            report.other_loc = inst->loc;
            ls__interp_report_send(machine, pc, 0, &report);
        }
        lane->frame->values[inst->id.id] = first;
    }
}

void ls__interp_exchange(ls__interp_machine *machine, ls__interp_group *group, uint32_t pc)
{
    const ls__interp_step *step = &machine->steps.items[pc];
    if (step->op == LS_OP_WG_UNIFORM) {
        make_uniform(machine, group, pc);
        return;
    }
    for (uint32_t i = 0; i < machine->group_lanes; i += WIDTH)
        exchange_subgroup(step, &group->lanes[i]);
}
