/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and changing IR in memory. Everything comes from the module's arena, so nothing here is
 * freed by itself and nothing fails: out of memory jumps (base/arena.h). Nothing here judges what
 * it is given either; that is verify.c.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "ir/ir.h"

/* --- modules, functions, objects -------------------------------------------------------------- */

/* The module and its first function table are one allocation: were there two, the second could jump
 * before the caller has a pointer to free the first by. */
struct first_allocation {
    ls__ir_module module;
    ls__ir_function *functions[8];
};

ls__ir_module *ls__ir_module_create(ls__oom *oom, size_t limit_bytes)
{
    ls__arena arena;
    ls__arena_init(&arena, oom, limit_bytes);
    struct first_allocation *first = LS__NEW(&arena, struct first_allocation);
    ls__ir_module *module = &first->module;
    module->arena = arena;
    module->functions.items = first->functions;
    module->functions.capacity = sizeof first->functions / sizeof *first->functions;
    module->functions.count = 1; /* item 0 stays NULL */
    return module;
}

void ls__ir_module_destroy(ls__ir_module **module)
{
    if (!module || !*module)
        return;
    ls__arena arena = (*module)->arena; /* the module lies in its own arena */
    *module = NULL;
    ls__arena_finish(&arena);
}

static const char *copy_text(ls__ir_module *module, const char *text)
{
    return text ? ls__arena_strdup(&module->arena, text, strlen(text)) : NULL;
}

void ls__ir_spec_add(ls__ir_module *module, const ls__ir_spec *spec)
{
    ls__arena *arena = &module->arena;
    ls__ir_spec copy = *spec;
    int64_t *choices = LS__NEW_ARRAY(arena, int64_t, spec->choice_count);
    if (spec->choice_count)
        memcpy(choices, spec->choices, spec->choice_count * sizeof *choices);
    copy.name = spec->name ? ls__arena_strdup(arena, spec->name, strlen(spec->name)) : NULL;
    copy.choices = choices;
    ls__vec_push(arena, &module->specs, copy);
}

ls__ir_function *ls__ir_function_add(ls__ir_module *module, const char *name, bool is_kernel)
{
    ls__ir_function *function = LS__NEW(&module->arena, ls__ir_function);
    function->module = module;
    function->name = copy_text(module, name);
    function->is_kernel = is_kernel;
    for (int d = 0; is_kernel && d < 3; d++)
        function->workgroup[d] = d == 0 ? 64 : 1;
    ls__vec_push(&module->arena, &function->values, NULL);
    ls__vec_push(&module->arena, &function->vars, (ls__ir_variable){0});
    function->body = ls__ir_region_new(module, NULL);
    function->id = (ls_function){module->functions.count};
    ls__vec_push(&module->arena, &module->functions, function);
    return function;
}

ls__ir_function *ls__ir_function_find(const ls__ir_module *module, ls__str name)
{
    for (uint32_t i = 1; i < module->functions.count; i++) {
        if (ls__str_is(name, module->functions.items[i]->name))
            return module->functions.items[i];
    }
    return NULL;
}

ls__ir_param *ls__ir_param_add(ls__ir_function *function, ls__ir_param param)
{
    ls__ir_module *module = function->module;
    param.name = copy_text(module, param.name);
    param.type_name = copy_text(module, param.type_name);
    if (param.is_pointer) {
        param.buffer = function->buffer_count++;
        param.offset = 0;
    } else {
        uint32_t mask = param.alignment ? param.alignment - 1 : 0;
        param.buffer = 0;
        param.offset = (function->scalar_bytes + mask) & ~mask;
        function->scalar_bytes = param.offset + param.size;
    }
    ls__vec_push(&module->arena, &function->params, param);
    return &function->params.items[function->params.count - 1];
}

const ls__ir_param *ls__ir_buffer_param(const ls__ir_function *function, uint32_t buffer)
{
    for (uint32_t i = 0; i < function->params.count; i++) {
        const ls__ir_param *param = &function->params.items[i];
        if (param->is_pointer && param->buffer == buffer)
            return param;
    }
    return NULL;
}

ls_var ls__ir_var_add(ls__ir_function *function, const char *name, ls_type type)
{
    ls__ir_variable variable = {copy_text(function->module, name), (uint8_t)type};
    ls__vec_push(&function->module->arena, &function->vars, variable);
    return (ls_var){function->vars.count - 1};
}

ls_base ls__ir_local_add(ls__ir_function *function, const char *name, uint32_t size,
                         uint32_t alignment)
{
    ls__ir_object object = {
        .name = copy_text(function->module, name), .size = size, .alignment = alignment};
    ls__vec_push(&function->module->arena, &function->locals, object);
    return (ls_base){LS_BASE_LOCAL, function->locals.count - 1};
}

ls_base ls__ir_shared_add(ls__ir_function *function, const char *name, uint32_t size,
                          uint32_t alignment)
{
    ls__ir_object object = {
        .name = copy_text(function->module, name), .size = size, .alignment = alignment};
    ls__vec_push(&function->module->arena, &function->shared, object);
    return (ls_base){LS_BASE_SHARED, function->shared.count - 1};
}

ls_base ls__ir_table_add(ls__ir_module *module, const char *name, const void *bytes, uint32_t size,
                         uint32_t alignment)
{
    for (uint32_t i = 0; i < module->tables.count; i++) {
        const ls__ir_object *old = &module->tables.items[i];
        if (old->size == size && old->alignment == alignment &&
            memcmp(old->bytes, bytes, size) == 0)
            return (ls_base){LS_BASE_CONST, i};
    }
    ls__ir_object table = {.name = copy_text(module, name), .size = size, .alignment = alignment};
    table.bytes = (const uint8_t *)ls__arena_strdup(&module->arena, bytes, size);
    return ls__ir_table_append(module, table);
}

ls_base ls__ir_table_append(ls__ir_module *module, ls__ir_object table)
{
    ls__vec_push(&module->arena, &module->tables, table);
    return (ls_base){LS_BASE_CONST, module->tables.count - 1};
}

uint16_t ls__ir_file_add(ls__ir_module *module, const char *path)
{
    for (uint32_t i = 0; i < module->files.count; i++) {
        if (strcmp(module->files.items[i], path) == 0)
            return (uint16_t)i;
    }
    if (module->files.count > UINT16_MAX) /* the last number stands for all that are too many */
        return UINT16_MAX;
    ls__vec_push(&module->arena, &module->files, copy_text(module, path));
    return (uint16_t)(module->files.count - 1);
}

ls__ir_region *ls__ir_region_new(ls__ir_module *module, ls__ir_inst *owner)
{
    ls__ir_region *region = LS__NEW(&module->arena, ls__ir_region);
    region->owner = owner;
    return region;
}

/* --- instructions ----------------------------------------------------------------------------- */

static void link_inst(ls__ir_region *region, ls__ir_inst *inst, ls__ir_inst *before)
{
    inst->parent = region;
    inst->next = before;
    inst->prev = before ? before->prev : region->last;
    if (inst->prev)
        inst->prev->next = inst;
    else
        region->first = inst;
    if (before)
        before->prev = inst;
    else
        region->last = inst;
}

static void unlink_inst(ls__ir_inst *inst)
{
    ls__ir_region *region = inst->parent;
    if (inst->prev)
        inst->prev->next = inst->next;
    else
        region->first = inst->next;
    if (inst->next)
        inst->next->prev = inst->prev;
    else
        region->last = inst->prev;
    inst->prev = inst->next = NULL;
    inst->parent = NULL;
}

ls__ir_inst *ls__ir_insert(ls__ir_cursor *cursor, ls_op op, ls_type type, const ls_value *args,
                           uint32_t arg_count)
{
    ls__ir_function *function = cursor->function;
    ls__arena *arena = &function->module->arena;
    ls__ir_inst *inst = LS__NEW(arena, ls__ir_inst);
    inst->op = (uint16_t)op;
    inst->type = (uint8_t)type;
    inst->loc = cursor->loc;
    if (arg_count) {
        inst->args = LS__NEW_ARRAY(arena, ls_value, arg_count);
        memcpy(inst->args, args, arg_count * sizeof *args);
        inst->arg_count = arg_count;
    }
    if (type != LS_TYPE_VOID) {
        inst->id = (ls_value){function->values.count};
        ls__vec_push(arena, &function->values, inst);
    }
    link_inst(cursor->region, inst, cursor->before);
    return inst;
}

/* What the result column of ops.def says, given the operands. */
static ls_type result_type(const ls__ir_function *function, ls_op op, ls_type explicit_type,
                           const ls_value *args, uint32_t arg_count)
{
    const ls__ir_op_info *info = ls__ir_op(op);
    if (info->result == 'r')
        return explicit_type;
    const char *first = strchr(info->operands, 'T');
    bool has_variable = first && first - info->operands < arg_count;
    return ls__ir_letter_type(info->result, has_variable ? ls__ir_type_of(
                                                 function, args[first - info->operands])
                                                         : LS_TYPE_VOID);
}

ls_value ls__ir_emit(ls__ir_cursor *cursor, ls_op op, ls_type explicit_type, const ls_value *args,
                     uint32_t arg_count)
{
    ls_type type = result_type(cursor->function, op, explicit_type, args, arg_count);
    return ls__ir_insert(cursor, op, type, args, arg_count)->id;
}

ls_value ls__ir_emit1(ls__ir_cursor *cursor, ls_op op, ls_value a)
{
    return ls__ir_emit(cursor, op, LS_TYPE_VOID, &a, 1);
}

ls_value ls__ir_emit2(ls__ir_cursor *cursor, ls_op op, ls_value a, ls_value b)
{
    return ls__ir_emit(cursor, op, LS_TYPE_VOID, (ls_value[]){a, b}, 2);
}

ls_value ls__ir_emit3(ls__ir_cursor *cursor, ls_op op, ls_value a, ls_value b, ls_value c)
{
    return ls__ir_emit(cursor, op, LS_TYPE_VOID, (ls_value[]){a, b, c}, 3);
}

ls_value ls__ir_convert(ls__ir_cursor *cursor, ls_op op, ls_type result, ls_value a)
{
    return ls__ir_emit(cursor, op, result, &a, 1);
}

ls_value ls__ir_const(ls__ir_cursor *cursor, ls_type type, uint64_t bits)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_CONST, type, NULL, 0);
    inst->imm = bits;
    return inst->id;
}

ls_value ls__ir_const_i32(ls__ir_cursor *cursor, int32_t value)
{
    return ls__ir_const(cursor, LS_TYPE_I32, (uint32_t)value);
}

ls_value ls__ir_const_i64(ls__ir_cursor *cursor, int64_t value)
{
    return ls__ir_const(cursor, LS_TYPE_I64, (uint64_t)value);
}

ls_value ls__ir_const_f32(ls__ir_cursor *cursor, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ls__ir_const(cursor, LS_TYPE_F32, bits);
}

ls_value ls__ir_const_bool(ls__ir_cursor *cursor, bool value)
{
    return ls__ir_const(cursor, LS_TYPE_BOOL, value);
}

ls_value ls__ir_index(ls__ir_cursor *cursor, ls_value offset, ls_value index, uint64_t stride,
                      uint64_t count)
{
    ls__ir_inst *inst =
        ls__ir_insert(cursor, LS_OP_INDEX, LS_TYPE_I64, (ls_value[]){offset, index}, 2);
    inst->imm = stride;
    inst->imm2 = count;
    return inst->id;
}

ls_value ls__ir_load(ls__ir_cursor *cursor, ls_mem mem, ls_base base, ls_value offset)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_LOAD, ls__ir_mem_type(mem), &offset, 1);
    inst->mem = (uint8_t)mem;
    inst->base = base;
    return inst->id;
}

ls__ir_inst *ls__ir_store(ls__ir_cursor *cursor, ls_mem mem, ls_base base, ls_value offset,
                          ls_value value)
{
    ls__ir_inst *inst =
        ls__ir_insert(cursor, LS_OP_STORE, LS_TYPE_VOID, (ls_value[]){offset, value}, 2);
    inst->mem = (uint8_t)mem;
    inst->base = base;
    return inst;
}

ls_value ls__ir_get(ls__ir_cursor *cursor, ls_var var)
{
    assert(var.id < cursor->function->vars.count);
    ls_type type = (ls_type)cursor->function->vars.items[var.id].type;
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_VAR_GET, type, NULL, 0);
    inst->imm = var.id;
    return inst->id;
}

ls__ir_inst *ls__ir_set(ls__ir_cursor *cursor, ls_var var, ls_value value)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_VAR_SET, LS_TYPE_VOID, &value, 1);
    inst->imm = var.id;
    return inst;
}

static void add_regions(ls__ir_module *module, ls__ir_inst *inst, uint32_t count)
{
    inst->regions = LS__NEW_ARRAY(&module->arena, ls__ir_region *, count);
    inst->region_count = count;
    for (uint32_t i = 0; i < count; i++)
        inst->regions[i] = ls__ir_region_new(module, inst);
}

ls__ir_inst *ls__ir_if(ls__ir_cursor *cursor, ls_value condition)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_IF, LS_TYPE_VOID, &condition, 1);
    add_regions(cursor->function->module, inst, 2);
    return inst;
}

ls__ir_inst *ls__ir_loop(ls__ir_cursor *cursor)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_LOOP, LS_TYPE_VOID, NULL, 0);
    add_regions(cursor->function->module, inst, 2);
    return inst;
}

ls__ir_inst *ls__ir_block(ls__ir_cursor *cursor)
{
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_BLOCK, LS_TYPE_VOID, NULL, 0);
    add_regions(cursor->function->module, inst, 1);
    return inst;
}

ls__ir_inst *ls__ir_switch(ls__ir_cursor *cursor, ls_value value, const int64_t *case_values,
                           const uint32_t *case_sizes, uint32_t case_count)
{
    ls__ir_module *module = cursor->function->module;
    ls__ir_inst *inst = ls__ir_insert(cursor, LS_OP_SWITCH, LS_TYPE_VOID, &value, 1);
    add_regions(module, inst, case_count + 1);
    size_t value_count = 0;
    for (uint32_t i = 0; i < case_count; i++)
        value_count += case_sizes[i];
    inst->case_values = LS__NEW_ARRAY(&module->arena, int64_t, value_count);
    inst->case_sizes = LS__NEW_ARRAY(&module->arena, uint32_t, case_count);
    if (value_count)
        memcpy(inst->case_values, case_values, value_count * sizeof *case_values);
    if (case_count)
        memcpy(inst->case_sizes, case_sizes, case_count * sizeof *case_sizes);
    return inst;
}

/* --- change ----------------------------------------------------------------------------------- */

ls__ir_inst *ls__ir_def(const ls__ir_function *function, ls_value value)
{
    return value.id < function->values.count ? function->values.items[value.id] : NULL;
}

ls_type ls__ir_operand_type(const ls__ir_function *function, const ls__ir_inst *inst)
{
    if (inst->arg_count == 0)
        return LS_TYPE_VOID;
    const char *operands = ls__ir_op((ls_op)inst->op)->operands;
    const char *first = strchr(operands, 'T');
    bool has_variable = first && first - operands < inst->arg_count;
    return ls__ir_type_of(function, inst->args[has_variable ? first - operands : 0]);
}

ls_type ls__ir_type_of(const ls__ir_function *function, ls_value value)
{
    const ls__ir_inst *inst = ls__ir_def(function, value);
    return inst ? (ls_type)inst->type : LS_TYPE_VOID;
}

static bool walk(ls__ir_region *region, ls__ir_visit *visit, void *context, unsigned depth)
{
    if (depth > LS__IR_WALK_DEPTH)
        return false;
    for (ls__ir_inst *inst = region->first, *next; inst; inst = next) {
        next = inst->next; /* the visitor may remove what it is shown */
        if (!visit(inst, context))
            return false;
        for (uint32_t i = 0; i < inst->region_count; i++) {
            if (!walk(inst->regions[i], visit, context, depth + 1))
                return false;
        }
    }
    return true;
}

bool ls__ir_walk(ls__ir_region *region, ls__ir_visit *visit, void *context)
{
    return walk(region, visit, context, 0);
}

static bool forget_value(ls__ir_inst *inst, void *context)
{
    ls__ir_function *function = context;
    if (inst->id.id)
        function->values.items[inst->id.id] = NULL;
    return true;
}

void ls__ir_remove(ls__ir_function *function, ls__ir_inst *inst)
{
    unlink_inst(inst);
    forget_value(inst, function);
    for (uint32_t i = 0; i < inst->region_count; i++)
        ls__ir_walk(inst->regions[i], forget_value, function);
    inst->region_count = 0; /* so that a walk that shows it does not enter what is gone */
}

void ls__ir_move_before(ls__ir_inst *inst, ls__ir_inst *before)
{
    if (inst == before)
        return;
    unlink_inst(inst);
    link_inst(before->parent, inst, before);
}

/* --- compaction ------------------------------------------------------------------------------- */

/* Definitions come before uses in a walk, so an operand's instruction already carries its new
 * number while the table still leads from old numbers to instructions: no map is needed. */
struct compaction {
    ls__ir_function *function;
    uint32_t value_count;
    uint32_t *vars; /* new number by old number; first pass: 1 = in use */
};

static bool mark_vars(ls__ir_inst *inst, void *context)
{
    struct compaction *compaction = context;
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        compaction->vars[inst->imm] = 1;
    for (uint32_t i = 0; i < inst->result_count; i++)
        compaction->vars[inst->results[i].id] = 1;
    return true;
}

static bool renumber(ls__ir_inst *inst, void *context)
{
    struct compaction *compaction = context;
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        const ls__ir_inst *def = ls__ir_def(compaction->function, inst->args[i]);
        inst->args[i] = def ? def->id : (ls_value){0};
    }
    if (inst->id.id)
        inst->id.id = compaction->value_count++;
    if (inst->op == LS_OP_VAR_GET || inst->op == LS_OP_VAR_SET)
        inst->imm = compaction->vars[inst->imm];
    for (uint32_t i = 0; i < inst->result_count; i++)
        inst->results[i].id = compaction->vars[inst->results[i].id];
    return true;
}

static bool enter_value(ls__ir_inst *inst, void *context)
{
    ls__ir_function *function = context;
    if (inst->id.id)
        function->values.items[inst->id.id] = inst;
    return true;
}

void ls__ir_compact(ls__ir_function *function)
{
    struct compaction compaction = {.function = function, .value_count = 1};
    uint32_t var_count = function->vars.count;
    compaction.vars = LS__NEW_ARRAY(&function->module->arena, uint32_t, var_count);
    ls__ir_walk(function->body, mark_vars, &compaction);
    function->vars.count = 1;
    for (uint32_t old = 1; old < var_count; old++) {
        if (!compaction.vars[old])
            continue;
        compaction.vars[old] = function->vars.count;
        function->vars.items[function->vars.count++] = function->vars.items[old];
    }
    ls__ir_walk(function->body, renumber, &compaction);
    function->values.count = compaction.value_count;
    ls__ir_walk(function->body, enter_value, function);
}
