/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes an operation wrong by rewriting the IR: behind each such instruction stands code that
 * spoils its result. Wrong for some inputs only (where bit 4 of the right result is set), as real
 * faults are, so that finders have something to search.
 */
#include "device/fault/wrong.h"

#include "base/status.h"

static bool is_wide(ls_type type)
{
    return type == LS_TYPE_I64 || type == LS_TYPE_F64;
}

/* The instruction becomes another one with the same result id, so that its uses see that. */
static void become(ls__ir_inst *inst, ls__arena *arena, ls_op op, ls_value a, ls_value b)
{
    inst->op = (uint8_t)op;
    inst->imm = inst->imm2 = 0;
    inst->flags = 0;
    inst->arg_count = b.id ? 2 : 1;
    inst->args = LS__NEW_ARRAY(arena, ls_value, 2);
    inst->args[0] = a;
    inst->args[1] = b;
}

/* In front of the instruction comes a copy of it, and itself becomes value ^ (value >> 4 & 1) of
 * the copy's value, or of its bits. */
static void make_wrong(ls__ir_function *function, ls__ir_inst *inst)
{
    ls__arena *arena = &function->module->arena;
    ls__ir_cursor at = {function, inst->parent, inst, inst->loc};
    ls_type type = (ls_type)inst->type;
    bool is_float = type == LS_TYPE_F32 || type == LS_TYPE_F64;
    ls_type bits_type = is_wide(type) ? LS_TYPE_I64 : LS_TYPE_I32;
    ls__ir_inst *right = ls__ir_insert(&at, (ls_op)inst->op, type, inst->args, inst->arg_count);
    right->imm = inst->imm;
    right->imm2 = inst->imm2;
    right->flags = inst->flags;
    if (type == LS_TYPE_BOOL) {
        become(inst, arena, LS_OP_NOT, right->id, (ls_value){0});
        return;
    }
    ls_value value = right->id;
    if (is_float)
        value = ls__ir_convert(&at, LS_OP_FRAWBITS, bits_type, value);
    ls_value four = ls__ir_const(&at, bits_type, 4), one = ls__ir_const(&at, bits_type, 1);
    ls_value bit = ls__ir_emit2(&at, LS_OP_AND, ls__ir_emit2(&at, LS_OP_LSHR, value, four), one);
    if (is_float)
        become(inst, arena, LS_OP_FFROM_BITS, ls__ir_emit2(&at, LS_OP_XOR, value, bit),
               (ls_value){0});
    else
        become(inst, arena, LS_OP_XOR, value, bit);
}

static void make_all_wrong(ls__ir_function *function, ls_op op)
{
    uint32_t count = function->values.count; /* those made here are right */
    for (uint32_t v = 1; v < count; v++) {
        ls__ir_inst *inst = function->values.items[v];
        if (inst && inst->op == op)
            make_wrong(function, inst);
    }
}

ls_status ls__fault_wrong_copy(const ls__ir_module *module, ls_op op, ls__ir_module **copy,
                               ls_error *error)
{
    ls__oom oom = {0};
    *copy = NULL;
    if (setjmp(oom.jump)) {
        ls__ir_module_destroy(copy);
        return ls__oom_status(&oom, error);
    }
    *copy = ls__ir_module_clone(module, &oom, 0);
    for (uint32_t f = 1; f < (*copy)->functions.count && ls__ir_op_has(op, 'P'); f++)
        make_all_wrong((*copy)->functions.items[f], op);
    (*copy)->arena.oom = NULL;
    return LS_OK;
}
