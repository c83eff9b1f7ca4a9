/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold: constants, identities, and control flow whose way is known.
 *
 * needs: nothing. keeps: everything. breaks: nothing; leaves unused constants to dce.
 *
 * One walk in program order: an instruction with constant operands becomes a constant by
 * ls__ir_eval (the definition, so no second opinion can differ); algebra.c knows the identities.
 * Decided `if` and `switch` give way to the region that runs; a block that nothing leaves early
 * dissolves.
 */
#include "pass/algebra.h"
#include "pass/passes.h"
#include "pass/util.h"

typedef struct folding {
    ls__ir_function *function;
    ls__pass_map map;
    bool changed;
} folding;

static bool is_evaluable(const ls__ir_inst *inst)
{
    switch ((ls_op)inst->op) {
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
        return false;
    default:
        return inst->id.id && inst->arg_count <= 3 && ls__ir_op_has((ls_op)inst->op, 'P');
    }
}

static bool fold_constant(folding *f, ls__ir_inst *inst)
{
    uint64_t bits[3] = {0};
    if (!is_evaluable(inst))
        return false;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        if (!ls__pass_const(f->function, inst->args[i], &bits[i]))
            return false;
    }
    /* Which NaN an operation makes is the host's choice; a folded program must not show it. */
    ls_type type = ls__ir_operand_type(f->function, inst);
    ls__pass_become_const(inst,
                          ls__ir_canonical((ls_type)inst->type, ls__ir_eval(inst, type, bits)));
    return true;
}

/* --- facts of the kernel --------------------------------------------------------------------- */

static bool fold_launch(folding *f, ls__ir_inst *inst)
{
    const ls__ir_function *function = f->function;
    if (inst->op == LS_OP_RANGE && inst->base.kind != LS_BASE_BUFFER) {
        ls__pass_become_const(inst, ls__pass_object_size(function, inst->base));
        return true;
    }
    if (inst->op != LS_OP_ID || !function->is_kernel || inst->imm2 > 2)
        return false;
    const uint32_t *workgroup = function->workgroup;
    uint32_t lanes = workgroup[0] * workgroup[1] * workgroup[2];
    switch ((ls_id)inst->imm) {
    case LS_ID_WORKGROUP_SIZE:
        ls__pass_become_const(inst, workgroup[inst->imm2]);
        return true;
    case LS_ID_LOCAL_ID:
        if (workgroup[inst->imm2] == 1)
            ls__pass_become_const(inst, 0);
        return inst->op == LS_OP_CONST;
    case LS_ID_LOCAL_INDEX:
    case LS_ID_LANE:
        if (lanes == 1)
            ls__pass_become_const(inst, 0);
        return inst->op == LS_OP_CONST;
    case LS_ID_SUBGROUP:
        if (lanes <= 32)
            ls__pass_become_const(inst, 0);
        return inst->op == LS_OP_CONST;
    default:
        return false;
    }
}

/* Accesses at constant offsets: nowhere, outside a fixed object, or inside a constant table. True
 * when the instruction was changed or removed. */
static bool fold_access(folding *f, ls__ir_inst *inst)
{
    uint64_t offset;
    if ((inst->op != LS_OP_LOAD && inst->op != LS_OP_STORE) ||
        !ls__pass_const(f->function, inst->args[0], &offset))
        return false;
    uint64_t size = ls__pass_object_size(f->function, inst->base);
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    bool is_outside = inst->base.kind == LS_BASE_BUFFER ? (int64_t)offset < 0
                                                        : bytes > size || offset > size - bytes;
    if (is_outside && ls__ir_is_site(inst))
        return false;
    if (inst->op == LS_OP_STORE) {
        if (is_outside)
            ls__ir_remove(f->function, inst);
        return is_outside;
    }
    if (is_outside) {
        ls__pass_become_const(inst, 0);
        return true;
    }
    if (inst->base.kind != LS_BASE_CONST)
        return false;
    const uint8_t *table = f->function->module->tables.items[inst->base.index].bytes;
    ls__pass_become_const(inst, ls__ir_load_bits((ls_mem)inst->mem, table + offset));
    return true;
}

/* --- control flow ---------------------------------------------------------------------------- */

/* Whether a `break` in `region` leaves the structured instruction that owns it. */
static bool has_break(const ls__ir_region *region)
{
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == LS_OP_BREAK)
            return true;
        if (inst->op != LS_OP_IF)
            continue; /* loops, switches and blocks take the breaks inside them */
        if (has_break(inst->regions[0]) || has_break(inst->regions[1]))
            return true;
    }
    return false;
}

/* Puts the instructions of `region` in the place of its owner `inst`. Answers where to go on. */
static ls__ir_inst *dissolve(folding *f, ls__ir_inst *inst, ls__ir_region *region)
{
    ls__ir_inst *first = region->first;
    f->changed = true;
    if (first)
        ls__pass_splice(region, inst);
    if (first && ls__pass_is_jump(inst->prev)) {
        ls__pass_cut_after(f->function, inst->prev);
        return first;
    }
    ls__ir_inst *next = inst->next;
    ls__ir_remove(f->function, inst);
    return first ? first : next;
}

static ls__ir_region *chosen_case(const ls__ir_inst *inst, ls_type type, uint64_t bits)
{
    const int64_t *value = inst->case_values;
    for (uint32_t i = 0; i + 1 < inst->region_count; i++) {
        for (uint32_t k = 0; k < inst->case_sizes[i]; k++, value++) {
            if (ls__pass_signed(type, (uint64_t)*value) == ls__pass_signed(type, bits))
                return inst->regions[i];
        }
    }
    return inst->regions[inst->region_count - 1];
}

/* Answers the instruction to go on with, or `inst` itself when nothing was decided. */
static ls__ir_inst *fold_control(folding *f, ls__ir_inst *inst)
{
    uint64_t bits;
    if (inst->op == LS_OP_IF && ls__pass_const(f->function, inst->args[0], &bits))
        return dissolve(f, inst, inst->regions[bits ? 0 : 1]);
    if (inst->op == LS_OP_SWITCH && ls__pass_const(f->function, inst->args[0], &bits)) {
        ls_type type = ls__ir_type_of(f->function, inst->args[0]);
        ls__ir_region *chosen = chosen_case(inst, type, bits);
        for (uint32_t i = 0; i < inst->region_count; i++) {
            if (inst->regions[i] != chosen)
                ls__pass_clear(f->function, inst->regions[i]);
        }
        inst->regions[0] = chosen;
        inst->region_count = 1;
        inst->arg_count = 0;
        inst->op = LS_OP_BLOCK;
        f->changed = true;
    }
    if (inst->op == LS_OP_BLOCK) {
        ls__ir_region *body = inst->regions[0];
        if (body->last && body->last->op == LS_OP_BREAK) {
            ls__ir_remove(f->function, body->last); /* falls out at the end all the same */
            f->changed = true;
        }
        if (!has_break(body))
            return dissolve(f, inst, body);
    }
    if (inst->op == LS_OP_LOOP && inst->regions[0]->last &&
        inst->regions[0]->last->op == LS_OP_CONTINUE) {
        ls__ir_remove(f->function, inst->regions[0]->last);
        f->changed = true;
    }
    return inst;
}

enum { MAX_ROUNDS = 4 };

static void fold_value(folding *f, ls__ir_inst *inst)
{
    if (fold_constant(f, inst) || fold_launch(f, inst) || fold_access(f, inst)) {
        f->changed = true;
        return;
    }
    ls_value same = {0};
    for (int round = 0; round < MAX_ROUNDS && !same.id; round++) { /* one identity opens another */
        if (!ls__pass_simplify(f->function, inst, &same))
            break;
        f->changed = true;
        if (fold_constant(f, inst))
            return;
    }
    if (same.id) {
        f->changed = true;
        ls__pass_replace(&f->map, f->function, inst, same);
    }
}

static void walk(folding *f, ls__ir_region *region)
{
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        ls__pass_map_args(&f->map, inst);
        next = fold_control(f, inst);
        if (next != inst)
            continue;
        next = inst->next;
        for (uint32_t i = 0; i < inst->region_count; i++)
            walk(f, inst->regions[i]);
        fold_value(f, inst);
    }
}

bool ls__pass_fold(ls__ir_function *function, ls__arena *scratch)
{
    folding f = {.function = function};
    ls__pass_map_init(&f.map, function, scratch);
    walk(&f, function->body);
    return f.changed;
}
