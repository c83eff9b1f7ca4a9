/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by the passes; see util.h. */
#include "pass/util.h"

#include <assert.h>

bool ls__pass_const(const ls__ir_function *function, ls_value value, uint64_t *bits)
{
    const ls__ir_inst *inst = ls__ir_def(function, value);
    if (!inst || inst->op != LS_OP_CONST)
        return false;
    *bits = inst->imm;
    return true;
}

uint32_t ls__pass_bits(ls_type type)
{
    switch (type) {
    case LS_TYPE_BOOL:
        return 1;
    case LS_TYPE_I32:
    case LS_TYPE_F32:
        return 32;
    case LS_TYPE_I64:
    case LS_TYPE_F64:
        return 64;
    default:
        return 0;
    }
}

int64_t ls__pass_signed(ls_type type, uint64_t bits)
{
    return type == LS_TYPE_I32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

void ls__pass_become_const(ls__ir_inst *inst, uint64_t bits)
{
    inst->op = LS_OP_CONST;
    inst->mem = LS_MEM_NONE;
    inst->flags = 0;
    inst->base = (ls_base){LS_BASE_NONE, 0};
    inst->arg_count = 0;
    inst->imm = bits;
    inst->imm2 = 0;
}

ls__ir_cursor ls__pass_before(ls__ir_function *function, ls__ir_inst *inst)
{
    return (ls__ir_cursor){function, inst->parent, inst, inst->loc};
}

void ls__pass_map_init(ls__pass_map *map, const ls__ir_function *function, ls__arena *scratch)
{
    map->count = function->values.count;
    map->to = LS__NEW_ARRAY(scratch, ls_value, map->count);
}

void ls__pass_map_args(const ls__pass_map *map, ls__ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        uint32_t id = inst->args[i].id;
        if (id < map->count && map->to[id].id)
            inst->args[i] = map->to[id];
    }
}

void ls__pass_replace(ls__pass_map *map, ls__ir_function *function, ls__ir_inst *inst,
                      ls_value value)
{
    assert(inst->id.id < map->count && value.id);
    map->to[inst->id.id] = value;
    ls__ir_remove(function, inst);
}

static bool drop_unset(ls__ir_inst *inst, void *context)
{
    (void)context;
    inst->flags &= (uint8_t)~LS__IR_UNSET;
    return true;
}

void ls__pass_drop_unset(ls__ir_function *function)
{
    ls__ir_walk(function->body, drop_unset, NULL);
}

bool ls__pass_is_jump(const ls__ir_inst *inst)
{
    return inst->op == LS_OP_BREAK || inst->op == LS_OP_CONTINUE || inst->op == LS_OP_RETURN;
}

bool ls__pass_ends_in_jump(const ls__ir_region *region)
{
    return region->last && ls__pass_is_jump(region->last);
}

void ls__pass_cut_after(ls__ir_function *function, ls__ir_inst *inst)
{
    while (inst->next)
        ls__ir_remove(function, inst->parent->last);
}

void ls__pass_clear(ls__ir_function *function, ls__ir_region *region)
{
    while (region->last)
        ls__ir_remove(function, region->last);
}

void ls__pass_splice(ls__ir_region *from, ls__ir_inst *before)
{
    while (from->first)
        ls__ir_move_before(from->first, before);
}

void ls__pass_move_tail(ls__ir_inst *first, ls__ir_region *to)
{
    ls__ir_region *from = first->parent;
    ls__ir_inst *last = from->last;
    from->last = first->prev;
    if (first->prev)
        first->prev->next = NULL;
    else
        from->first = NULL;
    first->prev = to->last;
    if (to->last)
        to->last->next = first;
    else
        to->first = first;
    to->last = last;
    for (ls__ir_inst *inst = first; inst; inst = inst->next)
        inst->parent = to;
}

/* --- memory ---------------------------------------------------------------------------------- */

bool ls__pass_accesses_memory(const ls__ir_inst *inst)
{
    return inst->op == LS_OP_LOAD || inst->op == LS_OP_STORE || inst->op == LS_OP_ATOMIC ||
           inst->op == LS_OP_ATOMIC_CAS;
}

struct writes_walk {
    const ls__ir_function *function;
    ls__pass_writes *writes;
};

static void note_write(ls__pass_writes *writes, ls_base base)
{
    if (base.kind != LS_BASE_BUFFER)
        return;
    writes->buffers[base.index] = true;
    writes->any = true;
}

/* Whether the callee may write the buffer it gets as its pointer parameter number `buffer`. */
static bool callee_writes(const ls__ir_function *callee, uint32_t buffer)
{
    const ls__ir_param *param = ls__ir_buffer_param(callee, buffer);
    return !param || !param->is_const;
}

static bool visit_writes(ls__ir_inst *inst, void *context)
{
    struct writes_walk *walk = context;
    if (inst->op == LS_OP_CALL) {
        const ls__ir_function *callee = walk->function->module->functions.items[inst->imm];
        for (uint32_t i = 0; i < inst->base_count; i++) {
            if (callee_writes(callee, i))
                note_write(walk->writes, inst->bases[i]);
        }
    } else if (ls__pass_accesses_memory(inst) && inst->op != LS_OP_LOAD) {
        note_write(walk->writes, inst->base);
    }
    return true;
}

ls__pass_writes ls__pass_writes_of(const ls__ir_function *function, ls__arena *scratch)
{
    ls__pass_writes writes = {.may_alias = !function->is_kernel};
    writes.buffers = LS__NEW_ARRAY(scratch, bool, function->buffer_count);
    ls__ir_walk(function->body, visit_writes, &(struct writes_walk){function, &writes});
    return writes;
}

bool ls__pass_is_invariant_load(const ls__pass_writes *writes, const ls__ir_inst *inst)
{
    if (inst->op != LS_OP_LOAD)
        return false;
    if (inst->base.kind == LS_BASE_CONST)
        return true;
    if (inst->base.kind != LS_BASE_BUFFER)
        return false;
    return writes->may_alias ? !writes->any : !writes->buffers[inst->base.index];
}

uint64_t ls__pass_object_size(const ls__ir_function *function, ls_base base)
{
    switch (base.kind) {
    case LS_BASE_SHARED:
        return function->shared.items[base.index].size;
    case LS_BASE_LOCAL:
        return function->locals.items[base.index].size;
    case LS_BASE_CONST:
        return function->module->tables.items[base.index].size;
    default:
        return 0;
    }
}

uint64_t ls__pass_least_size(const ls__ir_function *function, ls_base base)
{
    if (base.kind == LS_BASE_BUFFER)
        return ls__ir_buffer_param(function, base.index)->min_bytes;
    return ls__pass_object_size(function, base);
}
