/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promote_locals: local byte objects that are only loaded and stored at constant offsets become
 * variables, one for each offset in use.
 *
 * needs: fold first, so that constant offsets show. keeps: everything. breaks: nothing.
 *
 * An object is promoted when every access lies inside it, no two offsets in use overlap, and all
 * accesses at one offset move the same kind of cell: bool, 1-byte or 2-byte integers, a word or a
 * float. Narrow cells hold the stored value whole; a load extends it as its own type says. A store
 * of f16 or bf16 keeps the NaN rule, because their bits can be looked at; f32 and f64 need none.
 */
#include "pass/passes.h"
#include "pass/util.h"

typedef enum cell_kind {
    CELL_NONE,
    CELL_BOOL,
    CELL_1,
    CELL_2,
    CELL_I32,
    CELL_I64,
    CELL_F32,
    CELL_F64
} cell_kind;

typedef struct cell {
    uint32_t offset;
    cell_kind kind;
    ls_var var;
} cell;

typedef struct object {
    bool refused, used;
    cell *cells; /* by byte offset; kind NONE = nothing starts there */
} object;

typedef struct promotion {
    ls__ir_function *function;
    ls__arena *scratch;
    object *objects;
    ls__pass_map map;
    bool changed;
} promotion;

static cell_kind kind_of(ls_mem mem)
{
    switch (mem) {
    case LS_MEM_BOOL:
        return CELL_BOOL;
    case LS_MEM_I8:
    case LS_MEM_U8:
        return CELL_1;
    case LS_MEM_I16:
    case LS_MEM_U16:
    case LS_MEM_F16:
    case LS_MEM_BF16:
        return CELL_2;
    case LS_MEM_I32:
    case LS_MEM_U32:
        return CELL_I32;
    case LS_MEM_I64:
    case LS_MEM_U64:
        return CELL_I64;
    case LS_MEM_F32:
        return CELL_F32;
    case LS_MEM_F64:
        return CELL_F64;
    default:
        return CELL_NONE;
    }
}

/* Larger objects stay in memory: hundreds of variables help nobody. */
enum { MAX_PROMOTED_BYTES = 256 };

static bool visit_access(ls__ir_inst *inst, void *context)
{
    promotion *p = context;
    if (inst->base.kind != LS_BASE_LOCAL)
        return true;
    object *object = &p->objects[inst->base.index];
    uint32_t size = p->function->locals.items[inst->base.index].size;
    uint64_t offset;
    if (object->refused)
        return true;
    object->refused = true;
    if (size > MAX_PROMOTED_BYTES || (inst->op != LS_OP_LOAD && inst->op != LS_OP_STORE) ||
        !ls__pass_const(p->function, inst->args[0], &offset))
        return true;
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    if (offset >= size || bytes > size - offset)
        return true;
    if (!object->cells)
        object->cells = LS__NEW_ARRAY(p->scratch, cell, size);
    cell *cell = &object->cells[offset];
    cell_kind kind = kind_of((ls_mem)inst->mem);
    object->refused = cell->kind != CELL_NONE && cell->kind != kind;
    cell->kind = kind;
    object->used = true;
    return true;
}

static uint32_t cell_bytes(cell_kind kind)
{
    static const uint8_t bytes[] = {1, 1, 1, 2, 4, 8, 4, 8};
    return bytes[kind];
}

static ls_type cell_type(cell_kind kind)
{
    static const uint8_t types[] = {LS_TYPE_VOID, LS_TYPE_BOOL, LS_TYPE_I32, LS_TYPE_I32,
                                    LS_TYPE_I32,  LS_TYPE_I64,  LS_TYPE_F32, LS_TYPE_F64};
    return (ls_type)types[kind];
}

static bool overlaps(const object *object, uint32_t size)
{
    uint32_t free_from = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (object->cells[i].kind == CELL_NONE)
            continue;
        if (i < free_from)
            return true;
        free_from = i + cell_bytes(object->cells[i].kind);
    }
    return false;
}

static ls_value select_nan(ls__ir_cursor *at, ls_value bits, uint32_t infinity, uint32_t nan)
{
    ls_value magnitude = ls__ir_emit2(at, LS_OP_AND, bits, ls__ir_const_i32(at, 0x7fff));
    ls_value is_nan =
        ls__ir_emit2(at, LS_OP_ULT, ls__ir_const(at, LS_TYPE_I32, infinity), magnitude);
    return ls__ir_emit3(at, LS_OP_SELECT, is_nan, ls__ir_const(at, LS_TYPE_I32, nan), bits);
}

static void promote_store(promotion *p, ls__ir_inst *inst, ls_var var)
{
    ls__ir_cursor at = ls__pass_before(p->function, inst);
    ls_value value = inst->args[1];
    if (!(inst->flags & LS__IR_RAW) && inst->mem == LS_MEM_F16)
        value = select_nan(&at, value, 0x7c00, 0x7e00);
    if (!(inst->flags & LS__IR_RAW) && inst->mem == LS_MEM_BF16)
        value = select_nan(&at, value, 0x7f80, 0x7fc0);
    ls__ir_set(&at, var, value);
    ls__ir_remove(p->function, inst);
}

static void promote_load(promotion *p, ls__ir_inst *inst, ls_var var)
{
    ls__ir_cursor at = ls__pass_before(p->function, inst);
    ls_value value = ls__ir_get(&at, var);
    switch ((ls_mem)inst->mem) {
    case LS_MEM_I8:
        value = ls__ir_emit1(&at, LS_OP_SEXT8, value);
        break;
    case LS_MEM_U8:
        value = ls__ir_emit1(&at, LS_OP_ZEXT8, value);
        break;
    case LS_MEM_I16:
        value = ls__ir_emit1(&at, LS_OP_SEXT16, value);
        break;
    case LS_MEM_U16:
    case LS_MEM_F16:
    case LS_MEM_BF16:
        value = ls__ir_emit1(&at, LS_OP_ZEXT16, value);
        break;
    default:
        break;
    }
    ls__pass_replace(&p->map, p->function, inst, value);
}

static bool rewrite(ls__ir_inst *inst, void *context)
{
    promotion *p = context;
    uint64_t offset = 0;
    ls__pass_map_args(&p->map, inst);
    if (inst->base.kind != LS_BASE_LOCAL || p->objects[inst->base.index].refused)
        return true;
    if (!ls__pass_const(p->function, inst->args[0], &offset))
        return true;
    ls_var var = p->objects[inst->base.index].cells[offset].var;
    if (inst->op == LS_OP_STORE)
        promote_store(p, inst, var);
    else
        promote_load(p, inst, var);
    return true;
}

bool ls__pass_promote_locals(ls__ir_function *function, ls__arena *scratch)
{
    promotion p = {.function = function, .scratch = scratch};
    p.objects = LS__NEW_ARRAY(scratch, object, function->locals.count);
    ls__ir_walk(function->body, visit_access, &p);
    for (uint32_t i = 0; i < function->locals.count; i++) {
        object *object = &p.objects[i];
        uint32_t size = function->locals.items[i].size;
        if (!object->used || object->refused || overlaps(object, size)) {
            object->refused = true;
            continue;
        }
        for (uint32_t at = 0; at < size; at++) {
            if (object->cells[at].kind != CELL_NONE)
                object->cells[at].var = ls__ir_var_add(function, function->locals.items[i].name,
                                                       cell_type(object->cells[at].kind));
        }
        p.changed = true;
    }
    if (!p.changed)
        return false;
    ls__pass_map_init(&p.map, function, scratch);
    ls__ir_walk(function->body, rewrite, &p);
    return true;
}
