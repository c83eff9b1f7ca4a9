/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules on control flow around operations between lanes, on the lowered kernel: all lanes of a
 * workgroup reach them together, and a grid barrier stands where the kernel can be split. The IR's
 * verifier has the same rules; here they are reported with the line of the program.
 */
#include <string.h>

#include "lang/internal.h"

typedef struct visitor {
    lang_context *context;
    const ls__ir_function *function;
    const ls__ir_uniformity *uniformity; /* made at the first operation met */
    ls__ir_uniformity storage;
} visitor;

static lang_pos position(const visitor *v, ls__ir_loc loc)
{
    lang_pos pos = {.line = loc.line, .column = loc.column, .length = 1};
    const char *path = v->function->module->files.items[loc.file];
    for (uint32_t i = 0; i < v->context->files.count; i++) {
        if (strcmp(v->context->files.items[i].path, path) == 0) {
            pos.file = (uint16_t)i;
            break;
        }
    }
    return pos;
}

static bool in_splittable_place(const ls__ir_inst *inst)
{
    for (const ls__ir_inst *owner = inst->parent->owner; owner; owner = owner->parent->owner) {
        if (owner->op != LS_OP_LOOP)
            return false;
    }
    return true;
}

static const char *source_name(const ls__ir_inst *inst)
{
    switch (inst->op) {
    case LS_OP_SG_SHUFFLE:
        return "subgroup_shuffle";
    case LS_OP_SG_BROADCAST:
        return "subgroup_broadcast";
    case LS_OP_SG_REDUCE:
        return "a subgroup reduction";
    case LS_OP_SG_BALLOT:
        return "subgroup_ballot";
    case LS_OP_WG_UNIFORM:
        return "workgroup_uniform";
    case LS_OP_BARRIER:
        return "barrier";
    default:
        return "grid_barrier";
    }
}

static bool visit(ls__ir_inst *inst, void *context)
{
    visitor *v = context;
    if (!ls__ir_op_has((ls_op)inst->op, 'S'))
        return true;
    if (!v->uniformity) {
        v->storage = ls__ir_uniformity_of(v->function, &v->context->arena);
        v->uniformity = &v->storage;
    }
    ls__ir_scope scope = ls__ir_control_scope(v->function, v->uniformity, inst);
    if (inst->op == LS_OP_GRID_BARRIER) {
        if (scope != LS__IR_GRID || !in_splittable_place(inst))
            ls__lang_report(v->context, position(v, inst->loc), D_GRID_BARRIER);
    } else if (scope > LS__IR_WORKGROUP) {
        ls__lang_report(v->context, position(v, inst->loc), D_DIVERGENT, source_name(inst));
    }
    return true;
}

void ls__lang_check_uniform(lang_context *context, const lang_function *function)
{
    visitor v = {.context = context, .function = function->ir};
    ls__ir_walk(function->ir->body, visit, &v);
}
