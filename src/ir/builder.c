/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public builder of lockstep/ir.h on top of construct.c. It checks what construct.c would trip
 * over (no current function, ids that do not exist, else without if) and leaves all other judgement
 * to the verifier, which runs when it finishes. After the first error all calls do nothing.
 *
 * Each public call is `if (!enter(builder, name)) return ...; ... leave(builder)`. Between the two,
 * out of memory jumps back into enter's caller: see GUARD.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "ir/builder.h"
#include "ir/limits.h"

typedef struct level { /* an open structured instruction */
    ls__ir_inst *inst;
    ls__ir_region *outer; /* where the insertion point was */
    bool second;          /* else, step or default has begun */
    /* switch: what there is of it so far; it becomes regions when it is closed */
    LS__VEC(ls__ir_region *) regions;
    LS__VEC(uint32_t) sizes;
    LS__VEC(int64_t) values;
    ls__ir_region *default_region;
} level;

struct ls_builder {
    ls__ir_module *module;
    ls__oom oom;
    bool failed;
    ls_error error;
    const char *call; /* name of the public call that runs */
    ls__ir_function *function;
    ls__ir_cursor cursor;
    level levels[LS__IR_MAX_DEPTH];
    uint32_t depth;
};

/* --- errors ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void mistake(ls_builder *b, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    b->failed = true;
    ls__fail(&b->error, LS_E_INVALID_ARGUMENT, "%s: %s", b->call, text);
    if (b->function)
        ls__fail_where(&b->error, LS_E_INVALID_ARGUMENT, "function %s", b->function->name);
}

static bool begin_call(ls_builder *b, const char *call)
{
    if (!b || b->failed)
        return false;
    b->call = call;
    return true;
}

static bool begin_function_call(ls_builder *b, const char *call)
{
    if (!begin_call(b, call))
        return false;
    if (!b->function)
        mistake(b, "no function has been begun");
    return !b->failed;
}

static bool begin_inst_call(ls_builder *b, const char *call)
{
    if (!begin_function_call(b, call))
        return false;
    if (!b->cursor.region)
        mistake(b, "a switch has begun, but no case of it");
    return !b->failed;
}

/* Opens a public call, and answers `result` when there is nothing to do or memory runs out in it.
 * setjmp must stand in the function that the jump comes back to, hence a macro; nothing local is
 * used after the jump. */
#define GUARD(begin, result)                                                                       \
    if (!begin(builder, __func__))                                                                 \
        return result;                                                                             \
    if (setjmp(builder->oom.jump)) {                                                               \
        builder->failed = true;                                                                    \
        ls__oom_status(&builder->oom, &builder->error);                                            \
        return result;                                                                             \
    }
#define NOTHING

static bool good_value(ls_builder *b, ls_value value)
{
    if (!ls__ir_def(b->function, value))
        mistake(b, "there is no value %" PRIu32, value.id);
    return !b->failed;
}

static bool good_values(ls_builder *b, const ls_value *values, uint32_t count)
{
    if (count && !values)
        mistake(b, "%" PRIu32 " values, but no array", count);
    for (uint32_t i = 0; i < count && !b->failed; i++)
        good_value(b, values[i]);
    return !b->failed;
}

static bool good_var(ls_builder *b, ls_var var)
{
    if (var.id == 0 || var.id >= b->function->vars.count)
        mistake(b, "there is no variable %" PRIu32, var.id);
    return !b->failed;
}

static bool good_mem(ls_builder *b, ls_mem mem)
{
    if ((unsigned)mem <= LS_MEM_NONE || (unsigned)mem >= LS_MEM_COUNT)
        mistake(b, "unknown memory type %d", (int)mem);
    return !b->failed;
}

static bool good_type(ls_builder *b, ls_type type)
{
    if ((unsigned)type <= LS_TYPE_VOID || (unsigned)type >= LS_TYPE_COUNT)
        mistake(b, "unknown type %d", (int)type);
    return !b->failed;
}

/* --- life ------------------------------------------------------------------------------------- */

ls_status ls_builder_create(ls_builder **builder, ls_error *error)
{
    if (!builder)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_builder_create: builder is NULL");
    *builder = NULL;
    ls_builder *b = ls__mem_alloc(1, sizeof *b);
    if (!b)
        return ls__fail_oom(error, sizeof *b);
    if (setjmp(b->oom.jump)) {
        ls_status status = ls__oom_status(&b->oom, error);
        ls__mem_free(b);
        return status;
    }
    b->module = ls__ir_module_create(&b->oom, 0);
    *builder = b;
    return LS_OK;
}

void ls_builder_destroy(ls_builder **builder)
{
    if (!builder || !*builder)
        return;
    ls__ir_module_destroy(&(*builder)->module);
    ls__mem_free(*builder);
    *builder = NULL;
}

ls_status ls__ir_builder_finish(ls_builder **builder, ls__ir_module **module, ls_error *error)
{
    ls_builder *b = *builder;
    ls_status status = LS_OK;
    *module = NULL;
    if (!b->failed) {
        b->call = "ls_builder_finish";
        if (b->function)
            mistake(b, "a function has not been ended");
    }
    if (b->failed) {
        status = b->error.code;
        if (error)
            *error = b->error;
    } else {
        status = ls__ir_verify(b->module, error);
    }
    if (status == LS_OK) {
        b->module->arena.oom = NULL;
        *module = b->module;
        b->module = NULL;
    }
    ls_builder_destroy(builder);
    return status;
}

void ls__ir_builder_link(ls_builder *builder, const ls__ir_module *module)
{
    if (!begin_call(builder, "ls_builder_link"))
        return;
    if (setjmp(builder->oom.jump)) {
        builder->failed = true;
        ls__oom_status(&builder->oom, &builder->error);
        return;
    }
    for (uint32_t i = 1; i < module->functions.count; i++) {
        const char *name = module->functions.items[i]->name;
        if (ls__ir_function_find(builder->module, ls__str_from(name))) {
            mistake(builder, "there is a function %s already", name);
            return;
        }
    }
    ls__ir_module_link(builder->module, module);
}

ls_function ls_builder_find(ls_builder *builder, const char *name)
{
    if (!builder || builder->failed || !name)
        return (ls_function){0};
    const ls__ir_function *f = ls__ir_function_find(builder->module, ls__str_from(name));
    return f ? f->id : (ls_function){0};
}

/* --- functions -------------------------------------------------------------------------------- */

static void add_param(ls_builder *b, const ls_param_desc *desc)
{
    uint32_t bytes = ls__ir_mem_bytes(desc->mem);
    ls__ir_param param = {
        .name = desc->name,
        .mem = (uint8_t)desc->mem,
        .is_pointer = desc->is_pointer,
        .is_const = desc->is_const && desc->is_pointer,
        .size = desc->size ? desc->size : bytes,
        .alignment = desc->alignment ? desc->alignment : bytes,
    };
    if (!desc->name)
        mistake(b, "a parameter has no name");
    else if ((unsigned)desc->mem >= LS_MEM_COUNT || param.size == 0 || param.alignment == 0 ||
             param.size > LS__IR_MAX_ELEMENT_BYTES || param.alignment > 16)
        mistake(b, "parameter %s has no known type or size", desc->name);
    else if (desc->min_elements > INT64_MAX / param.size)
        mistake(b, "parameter %s needs more elements than there can be", desc->name);
    else
        ls__ir_param_add(b->function, param)->min_bytes =
            desc->is_pointer ? desc->min_elements * param.size : 0;
}

static void check_desc(ls_builder *b, const ls_function_desc *desc)
{
    if (b->function)
        mistake(b, "function %s has not been ended", b->function->name);
    else if (!desc->name)
        mistake(b, "the description has no name");
    else if ((desc->param_count && !desc->params) || (desc->result_count && !desc->results))
        mistake(b, "the description counts parameters or results that it does not have");
}

ls_function ls_builder_begin(ls_builder *builder, const ls_function_desc *given)
{
    ls_function none = {0};
    GUARD(begin_call, none)
    ls_builder *b = builder;
    ls_function_desc desc;
    ls_error error;
    if (ls__params_in(&desc, sizeof desc, given, false, "the description", &error) != LS_OK)
        mistake(b, "%s", error.message);
    else
        check_desc(b, &desc);
    if (b->failed)
        return none;
    ls__ir_function *f = ls__ir_function_add(b->module, desc.name, desc.is_kernel);
    b->function = f;
    f->unordered = desc.unordered;
    for (int d = 0; d < 3 && desc.is_kernel; d++)
        f->workgroup[d] = desc.workgroup[d]   ? desc.workgroup[d]
                          : desc.workgroup[0] ? 1
                                              : f->workgroup[d];
    for (uint32_t i = 0; i < desc.param_count && !b->failed; i++)
        add_param(b, &desc.params[i]);
    for (uint32_t i = 0; i < desc.result_count; i++)
        ls__vec_push(&b->module->arena, &f->results, (uint8_t)desc.results[i]);
    b->cursor = (ls__ir_cursor){.function = f, .region = f->body};
    b->depth = 0;
    return f->id;
}

void ls_builder_end(ls_builder *builder)
{
    if (!begin_function_call(builder, __func__))
        return;
    if (builder->depth)
        mistake(builder, "a structured instruction has not been closed");
    builder->function = NULL;
}

static bool good_object(ls_builder *b, const char *name, uint32_t size)
{
    if (!name || size == 0)
        mistake(b, "an object needs a name and a size");
    return !b->failed;
}

ls_base ls_builder_local(ls_builder *builder, const char *name, uint32_t size, uint32_t alignment)
{
    ls_base none = {LS_BASE_NONE, 0};
    GUARD(begin_function_call, none)
    if (!good_object(builder, name, size))
        return none;
    return ls__ir_local_add(builder->function, name, size, alignment);
}

ls_base ls_builder_shared(ls_builder *builder, const char *name, uint32_t size, uint32_t alignment)
{
    ls_base none = {LS_BASE_NONE, 0};
    GUARD(begin_function_call, none)
    if (!good_object(builder, name, size))
        return none;
    return ls__ir_shared_add(builder->function, name, size, alignment);
}

ls_base ls_builder_table(ls_builder *builder, const char *name, const void *bytes, uint32_t size,
                         uint32_t alignment)
{
    ls_base none = {LS_BASE_NONE, 0};
    GUARD(begin_call, none)
    if (!good_object(builder, name, size))
        return none;
    if (!bytes) {
        mistake(builder, "the bytes of table %s are NULL", name);
        return none;
    }
    return ls__ir_table_add(builder->module, name, bytes, size, alignment);
}

ls_var ls_builder_var(ls_builder *builder, const char *name, ls_type type)
{
    ls_var none = {0};
    GUARD(begin_function_call, none)
    if (!good_type(builder, type))
        return none;
    return ls__ir_var_add(builder->function, name ? name : "", type);
}

void ls_builder_line(ls_builder *builder, uint32_t line)
{
    if (begin_function_call(builder, __func__))
        builder->cursor.loc = (ls__ir_loc){.line = line};
}

/* --- values ----------------------------------------------------------------------------------- */

static const ls_value no_value = {0};

ls_value ls_builder_const(ls_builder *builder, ls_type type, uint64_t bits)
{
    GUARD(begin_inst_call, no_value)
    if (!good_type(builder, type))
        return no_value;
    return ls__ir_const(&builder->cursor, type, bits);
}

ls_value ls_builder_param(ls_builder *builder, uint32_t param)
{
    GUARD(begin_inst_call, no_value)
    const ls__ir_function *f = builder->function;
    if (param >= f->params.count || f->params.items[param].is_pointer ||
        f->params.items[param].mem == LS_MEM_NONE) {
        mistake(builder, "parameter %" PRIu32 " is not a scalar of a basic type", param);
        return no_value;
    }
    ls_mem mem = (ls_mem)f->params.items[param].mem;
    ls__ir_inst *inst = ls__ir_insert(&builder->cursor, LS_OP_PARAM, ls__ir_mem_type(mem), NULL, 0);
    inst->mem = (uint8_t)mem;
    inst->imm = f->params.items[param].offset;
    return inst->id;
}

ls_value ls_builder_id(ls_builder *builder, ls_id id, uint32_t dimension)
{
    GUARD(begin_inst_call, no_value)
    ls__ir_inst *inst = ls__ir_insert(&builder->cursor, LS_OP_ID, LS_TYPE_I32, NULL, 0);
    inst->imm = (uint64_t)id;
    inst->imm2 = dimension;
    return inst->id;
}

/* Ops that ls_builder_op cannot make: they need an attribute, or regions. */
static bool needs_own_call(ls_op op)
{
    switch (op) {
    case LS_OP_NONE:
    case LS_OP_CONST:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
    case LS_OP_F2S:
    case LS_OP_F2U:
    case LS_OP_INDEX:
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
    case LS_OP_VAR_GET:
    case LS_OP_VAR_SET:
    case LS_OP_SG_REDUCE:
    case LS_OP_CALL:
        return true;
    default:
        return ls__ir_op_has(op, 'X');
    }
}

ls_value ls_builder_op(ls_builder *builder, ls_op op, ls_type result, const ls_value *operands,
                       uint32_t operand_count)
{
    GUARD(begin_inst_call, no_value)
    if ((unsigned)op >= LS_OP_COUNT || needs_own_call(op)) {
        mistake(builder, "%s is not made by this call", ls__ir_op(op)->name);
        return no_value;
    }
    size_t wanted = strlen(ls__ir_op(op)->operands);
    if (operand_count != wanted) {
        mistake(builder, "%s has %zu operands, not %" PRIu32, ls__ir_op(op)->name, wanted,
                operand_count);
        return no_value;
    }
    if (!good_values(builder, operands, operand_count) ||
        (ls__ir_op(op)->result == 'r' && !good_type(builder, result)))
        return no_value;
    return ls__ir_emit(&builder->cursor, op, result, operands, operand_count);
}

ls_value ls_builder_float_to_int(ls_builder *builder, ls_op op, ls_type result, uint32_t bits,
                                 ls_value value)
{
    GUARD(begin_inst_call, no_value)
    if (op != LS_OP_F2S && op != LS_OP_F2U)
        mistake(builder, "the opcode is neither LS_OP_F2S nor LS_OP_F2U");
    if (builder->failed || !good_type(builder, result) || !good_value(builder, value))
        return no_value;
    ls__ir_inst *inst = ls__ir_insert(&builder->cursor, op, result, &value, 1);
    inst->imm = bits;
    return inst->id;
}

ls_value ls_builder_index(ls_builder *builder, ls_value offset, ls_value index, uint64_t stride,
                          uint64_t count)
{
    GUARD(begin_inst_call, no_value)
    if (!good_value(builder, offset) || !good_value(builder, index))
        return no_value;
    return ls__ir_index(&builder->cursor, offset, index, stride, count);
}

ls_value ls_builder_load(ls_builder *builder, ls_mem mem, ls_base base, ls_value offset)
{
    GUARD(begin_inst_call, no_value)
    if (!good_mem(builder, mem) || !good_value(builder, offset))
        return no_value;
    return ls__ir_load(&builder->cursor, mem, base, offset);
}

void ls_builder_store(ls_builder *builder, ls_mem mem, ls_base base, ls_value offset,
                      ls_value value)
{
    GUARD(begin_inst_call, NOTHING)
    if (good_mem(builder, mem) && good_value(builder, offset) && good_value(builder, value))
        ls__ir_store(&builder->cursor, mem, base, offset, value);
}

ls_value ls_builder_range(ls_builder *builder, ls_base base)
{
    GUARD(begin_inst_call, no_value)
    ls__ir_inst *inst = ls__ir_insert(&builder->cursor, LS_OP_RANGE, LS_TYPE_I64, NULL, 0);
    inst->base = base;
    return inst->id;
}

static ls_value add_atomic(ls_builder *b, ls_op op, ls_mem mem, ls_base base, const ls_value *args,
                           uint32_t arg_count, uint64_t imm)
{
    if (!good_mem(b, mem) || !good_values(b, args, arg_count))
        return no_value;
    ls__ir_inst *inst = ls__ir_insert(&b->cursor, op, ls__ir_mem_type(mem), args, arg_count);
    inst->mem = (uint8_t)mem;
    inst->base = base;
    inst->imm = imm;
    return inst->id;
}

ls_value ls_builder_atomic(ls_builder *builder, ls_atomic kind, ls_mem mem, ls_base base,
                           ls_value offset, ls_value value)
{
    GUARD(begin_inst_call, no_value)
    ls_value args[] = {offset, value};
    return add_atomic(builder, LS_OP_ATOMIC, mem, base, args, 2, (uint64_t)kind);
}

ls_value ls_builder_atomic_cas(ls_builder *builder, ls_mem mem, ls_base base, ls_value offset,
                               ls_value expected, ls_value desired)
{
    GUARD(begin_inst_call, no_value)
    ls_value args[] = {offset, expected, desired};
    return add_atomic(builder, LS_OP_ATOMIC_CAS, mem, base, args, 3, 0);
}

ls_value ls_builder_reduce(ls_builder *builder, ls_reduce kind, ls_value value)
{
    GUARD(begin_inst_call, no_value)
    if (!good_value(builder, value))
        return no_value;
    ls_type type = ls__ir_type_of(builder->function, value);
    ls__ir_inst *inst = ls__ir_insert(&builder->cursor, LS_OP_SG_REDUCE, type, &value, 1);
    inst->imm = (uint64_t)kind;
    return inst->id;
}

ls_value ls_builder_get(ls_builder *builder, ls_var var)
{
    GUARD(begin_inst_call, no_value)
    return good_var(builder, var) ? ls__ir_get(&builder->cursor, var) : no_value;
}

void ls_builder_set(ls_builder *builder, ls_var var, ls_value value)
{
    GUARD(begin_inst_call, NOTHING)
    if (good_var(builder, var) && good_value(builder, value))
        ls__ir_set(&builder->cursor, var, value);
}

static void *copy_array(ls_builder *b, const void *items, uint32_t count, size_t size)
{
    void *copy = ls__arena_alloc(&b->module->arena, count, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

void ls_builder_call(ls_builder *builder, ls_function function, const ls_value *scalars,
                     uint32_t scalar_count, const ls_base *bases, uint32_t base_count,
                     const ls_var *results, uint32_t result_count)
{
    GUARD(begin_inst_call, NOTHING)
    if (function.id == 0 || function.id >= builder->module->functions.count)
        mistake(builder, "there is no function %" PRIu32, function.id);
    else if ((base_count && !bases) || (result_count && !results))
        mistake(builder, "bases or results are counted, but there is no array");
    if (builder->failed || !good_values(builder, scalars, scalar_count))
        return;
    ls__ir_inst *inst =
        ls__ir_insert(&builder->cursor, LS_OP_CALL, LS_TYPE_VOID, scalars, scalar_count);
    inst->imm = function.id;
    inst->bases = copy_array(builder, bases, base_count, sizeof *bases);
    inst->base_count = base_count;
    inst->results = copy_array(builder, results, result_count, sizeof *results);
    inst->result_count = result_count;
}

/* --- structured control ----------------------------------------------------------------------- */

static level *open_level(ls_builder *b, ls__ir_inst *inst, ls__ir_region *first)
{
    level *l = &b->levels[b->depth++];
    *l = (level){.inst = inst, .outer = b->cursor.region};
    b->cursor.region = first;
    return l;
}

static bool room_for_level(ls_builder *b)
{
    if (b->depth == LS__IR_MAX_DEPTH)
        mistake(b, "structured instructions nest more than %d deep", LS__IR_MAX_DEPTH);
    return !b->failed;
}

/* The innermost open instruction when it is `op`; `what` is needed for the message. */
static level *innermost(ls_builder *b, ls_op op, const char *what)
{
    level *l = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (l && l->inst->op == (unsigned)op)
        return l;
    mistake(b, "the innermost open instruction is not %s", what);
    return NULL;
}

void ls_builder_begin_if(ls_builder *builder, ls_value condition)
{
    GUARD(begin_inst_call, NOTHING)
    if (!room_for_level(builder) || !good_value(builder, condition))
        return;
    ls__ir_inst *inst = ls__ir_if(&builder->cursor, condition);
    open_level(builder, inst, inst->regions[0]);
}

static void begin_second(ls_builder *b, level *l, const char *what)
{
    if (!l)
        return;
    if (l->second) {
        mistake(b, "a second %s", what);
        return;
    }
    l->second = true;
    b->cursor.region = l->inst->regions[1];
}

void ls_builder_else(ls_builder *builder)
{
    if (begin_function_call(builder, __func__))
        begin_second(builder, innermost(builder, LS_OP_IF, "an if"), "else");
}

void ls_builder_begin_loop(ls_builder *builder)
{
    GUARD(begin_inst_call, NOTHING)
    if (!room_for_level(builder))
        return;
    ls__ir_inst *inst = ls__ir_loop(&builder->cursor);
    open_level(builder, inst, inst->regions[0]);
}

void ls_builder_step(ls_builder *builder)
{
    if (begin_function_call(builder, __func__))
        begin_second(builder, innermost(builder, LS_OP_LOOP, "a loop"), "step");
}

void ls_builder_while(ls_builder *builder, ls_value condition)
{
    GUARD(begin_inst_call, NOTHING)
    if (good_value(builder, condition))
        ls__ir_insert(&builder->cursor, LS_OP_WHILE, LS_TYPE_VOID, &condition, 1);
}

void ls_builder_begin_switch(ls_builder *builder, ls_value value)
{
    GUARD(begin_inst_call, NOTHING)
    if (!room_for_level(builder) || !good_value(builder, value))
        return;
    ls__ir_inst *inst = ls__ir_switch(&builder->cursor, value, NULL, NULL, 0);
    level *l = open_level(builder, inst, NULL);
    l->default_region = inst->regions[0];
}

void ls_builder_case(ls_builder *builder, const int64_t *values, uint32_t value_count)
{
    GUARD(begin_function_call, NOTHING)
    level *l = innermost(builder, LS_OP_SWITCH, "a switch");
    if (l && (l->second || !values || value_count == 0))
        mistake(builder, "a case has values and comes before the default");
    if (builder->failed)
        return;
    ls__arena *arena = &builder->module->arena;
    ls__ir_region *region = ls__ir_region_new(builder->module, l->inst);
    ls__vec_push(arena, &l->regions, region);
    ls__vec_push(arena, &l->sizes, value_count);
    for (uint32_t i = 0; i < value_count; i++)
        ls__vec_push(arena, &l->values, values[i]);
    builder->cursor.region = region;
}

void ls_builder_default(ls_builder *builder)
{
    if (!begin_function_call(builder, __func__))
        return;
    level *l = innermost(builder, LS_OP_SWITCH, "a switch");
    if (l && l->second)
        mistake(builder, "a second default");
    if (builder->failed)
        return;
    l->second = true;
    builder->cursor.region = l->default_region;
}

void ls_builder_begin_block(ls_builder *builder)
{
    GUARD(begin_inst_call, NOTHING)
    if (!room_for_level(builder))
        return;
    ls__ir_inst *inst = ls__ir_block(&builder->cursor);
    open_level(builder, inst, inst->regions[0]);
}

void ls_builder_close(ls_builder *builder)
{
    GUARD(begin_function_call, NOTHING)
    if (builder->depth == 0) {
        mistake(builder, "no structured instruction is open");
        return;
    }
    level *l = &builder->levels[builder->depth - 1];
    ls__ir_inst *inst = l->inst;
    if (inst->op == LS_OP_SWITCH) {
        ls__vec_push(&builder->module->arena, &l->regions, l->default_region);
        inst->regions = l->regions.items;
        inst->region_count = l->regions.count;
        inst->case_sizes = l->sizes.items;
        inst->case_values = l->values.items;
    }
    builder->cursor.region = l->outer;
    builder->depth--;
}

void ls_builder_break(ls_builder *builder)
{
    GUARD(begin_inst_call, NOTHING)
    ls__ir_insert(&builder->cursor, LS_OP_BREAK, LS_TYPE_VOID, NULL, 0);
}

void ls_builder_continue(ls_builder *builder)
{
    GUARD(begin_inst_call, NOTHING)
    ls__ir_insert(&builder->cursor, LS_OP_CONTINUE, LS_TYPE_VOID, NULL, 0);
}

void ls_builder_return(ls_builder *builder, const ls_value *results, uint32_t result_count)
{
    GUARD(begin_inst_call, NOTHING)
    if (good_values(builder, results, result_count))
        ls__ir_insert(&builder->cursor, LS_OP_RETURN, LS_TYPE_VOID, results, result_count);
}
