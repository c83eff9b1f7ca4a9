/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out to the caller: fills reports, lets each (kind, step, object) through once unless all
 * are asked for, and knows which operations C leaves undefined for which operands.
 */
#include <math.h>
#include <string.h>

#include "interp/machine.h"

ls__interp_report ls__interp_report_at(const ls__interp_machine *machine,
                                       const ls__interp_group *group, const ls__interp_lane *lane,
                                       uint32_t pc, ls__interp_report_kind kind)
{
    ls__interp_report report = {
        .kind = kind,
        .kernel = machine->launch->kernel,
        .inst = machine->steps.items[pc].inst,
        .lane = lane->index,
        .object = "",
        .detail = "",
    };
    memcpy(report.workgroup, group->id, sizeof report.workgroup);
    return report;
}

void ls__interp_report_send(ls__interp_machine *machine, uint32_t pc, uint32_t object,
                            const ls__interp_report *report)
{
    const ls__interp_launch *launch = machine->launch;
    uint64_t bit = UINT64_C(1) << (object % 64);
    uint64_t *seen = &machine->seen[(size_t)pc * LS__INTERP_REPORT_COUNT + report->kind];
    if ((*seen & bit) && !launch->report_all)
        return;
    *seen |= bit;
    machine->result->report_count++;
    if (launch->on_report)
        launch->on_report(launch->context, report);
}

static const char *undefined_integer(ls_op op, ls_type type, uint64_t a, uint64_t b)
{
    uint64_t width = type == LS_TYPE_I64 ? 64 : 32;
    uint64_t least = UINT64_C(1) << (width - 1);
    uint64_t minus_one = UINT64_MAX >> (64 - width);

    switch (op) {
    case LS_OP_SDIV:
    case LS_OP_SREM:
        if (a == least && b == minus_one)
            return "division overflow";
        return b == 0 ? "division by zero" : NULL;
    case LS_OP_UDIV:
    case LS_OP_UREM:
        return b == 0 ? "division by zero" : NULL;
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
        return b >= width ? "shift count out of range" : NULL;
    default:
        return NULL;
    }
}

/* A conversion is defined when the number, cut to an integer, is in the target's range. */
static const char *undefined_conversion(const ls__ir_inst *inst, ls_type type, uint64_t bits)
{
    double number;
    float number32;
    uint32_t low = (uint32_t)bits;
    int width = (int)inst->imm;

    memcpy(&number, &bits, sizeof number);
    memcpy(&number32, &low, sizeof number32);
    if (type == LS_TYPE_F32)
        number = (double)number32;
    number = trunc(number);
    double end = inst->op == LS_OP_F2S ? ldexp(1.0, width - 1) : ldexp(1.0, width);
    double start = inst->op == LS_OP_F2S ? -end : 0.0;
    return number >= start && number < end ? NULL : "float to integer conversion out of range";
}

void ls__interp_check_c(ls__interp_machine *machine, const ls__interp_group *group,
                        const ls__interp_lane *lane, uint32_t pc, const uint64_t *args)
{
    const ls__interp_step *step = &machine->steps.items[pc];
    ls_type type = (ls_type)step->arg_type;
    const char *detail = step->op == LS_OP_F2S || step->op == LS_OP_F2U
                             ? undefined_conversion(step->inst, type, args[0])
                             : undefined_integer((ls_op)step->op, type, args[0], args[1]);
    if (!detail)
        return;
    ls__interp_report report =
        ls__interp_report_at(machine, group, lane, pc, LS__INTERP_UNDEFINED_IN_C);
    report.detail = detail;
    ls__interp_report_send(machine, pc, 0, &report);
}
