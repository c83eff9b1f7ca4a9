/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of functions: kernels and noinline functions become IR functions, everything else is
 * inlined where it is called. An inlined function with one return at its end, or none, is spliced
 * in; any other becomes a block that its returns leave.
 *
 * Bounded: nesting of regions, IR values of a function, and steps (tree nodes lowered, counting
 * every inlined copy), since inlining can multiply a program without making instructions.
 */
#include "ir/limits.h"
#include "lang/lower.h"

/* --- positions, regions, jumps -------------------------------------------------------- */
_Noreturn static void too_large(lang_lower *l, lang_pos pos)
{
    ls__lang_report(l->context, pos, D_TOO_LARGE);
    ls__lang_stop(l->context);
}

static uint16_t ir_file(lang_lower *l, uint16_t file)
{
    if (l->files[file] == 0)
        l->files[file] =
            (uint16_t)(ls__ir_file_add(l->context->module, l->context->files.items[file].path) + 1);
    return (uint16_t)(l->files[file] - 1);
}

void ls__lang_at_pos(lang_lower *l, lang_pos pos)
{
    if (++l->steps > LANG_MAX_STEPS ||
        (l->cursor.function && l->cursor.function->values.count > LANG_MAX_VALUES))
        too_large(l, pos);
    l->cursor.loc = (ls__ir_loc){
        .file = pos.line ? ir_file(l, pos.file) : 0, .column = pos.column, .line = pos.line};
}

lang_region ls__lang_region_open(lang_lower *l, ls__ir_region *region)
{
    lang_region saved = {l->cursor.region, l->is_dead};
    if (++l->depth > LANG_MAX_REGION_DEPTH) {
        lang_pos pos = {.line = l->cursor.loc.line, .column = l->cursor.loc.column};
        for (uint32_t i = 0; i < l->file_count; i++) {
            if (l->files[i] == l->cursor.loc.file + 1u)
                pos.file = (uint16_t)i;
        }
        ls__lang_report(l->context, pos, D_NESTING);
        ls__lang_hint(l->context, "control flow nests at most %d deep, inlined functions included",
                      LANG_MAX_REGION_DEPTH);
        ls__lang_stop(l->context);
    }
    l->cursor.region = region;
    l->is_dead = false;
    return saved;
}

void ls__lang_region_close(lang_lower *l, lang_region saved)
{
    l->depth--;
    l->cursor.region = saved.region;
    l->is_dead = saved.is_dead;
}

void ls__lang_jump(lang_lower *l, ls_op op)
{
    ls__ir_insert(&l->cursor, op, LS_TYPE_VOID, NULL, 0);
    l->is_dead = true;
}

/* --- calls ---------------------------------------------------------------------------- */
static bool is_simple(const lang_function *f)
{
    const lang_stmt *body = f->body;
    if (f->return_count == 0)
        return true;
    return f->return_count == 1 && body->stmts.items[body->stmts.count - 1]->kind == STMT_RETURN;
}

static bool ends_in_return(const lang_function *f)
{
    uint32_t count = f->body->stmts.count;
    return count > 0 && f->body->stmts.items[count - 1]->kind == STMT_RETURN;
}

/* Where the returns of an inlined function put its value. */
static void prepare_result(lang_lower *l, lang_frame *frame, lang_binding *pointer, lang_pos pos)
{
    const lang_function *f = frame->function;
    bool is_large = f->result->kind == TYPE_STRUCT && !lang_is_small(f->result);
    if (f->result->kind == TYPE_VOID || (frame->is_simple && !is_large))
        return;
    if (f->result->kind == TYPE_POINTER) {
        ls_var *var = LS__NEW(&l->context->arena, ls_var);
        *var = ls__ir_var_add(l->cursor.function, "result", LS_TYPE_I64);
        *pointer = (lang_binding){.home = HOME_POINTER, .vars = var};
        frame->result = (lang_place){.home = HOME_POINTER, .type = f->result, .pointer = pointer};
        return;
    }
    frame->result = ls__lang_new_place(l, f->result, "result", false, pos);
    if (!ends_in_return(f)) /* reaching the end gives 0 */
        ls__lang_store_zero(l, &frame->result);
}

static lang_value inline_result(lang_lower *l, const lang_frame *frame)
{
    const lang_type *type = frame->function->result;
    if (frame->result.home != HOME_NONE)
        return ls__lang_load(l, &frame->result);
    if (frame->has_result && type->kind != TYPE_VOID)
        return frame->simple_result;
    if (type->kind == TYPE_VOID || type->kind == TYPE_POINTER)
        return (lang_value){.kind = type->kind == TYPE_VOID ? VALUE_NONE : VALUE_POINTER,
                            .type = type};
    return ls__lang_zero_value(l, type);
}

/* Bytes that are known to lie behind a pointer. */
static uint64_t least_bytes(const lang_lower *l, const lang_value *pointer)
{
    const ls__ir_function *f = l->cursor.function;
    uint64_t size = 0;
    ls_base base = pointer->base;
    if (base.kind == LS_BASE_BUFFER)
        size = ls__ir_buffer_param(f, base.index)->min_bytes;
    else if (base.kind == LS_BASE_SHARED)
        size = f->shared.items[base.index].size;
    else if (base.kind == LS_BASE_LOCAL)
        size = f->locals.items[base.index].size;
    else if (base.kind == LS_BASE_CONST)
        size = f->module->tables.items[base.index].size;
    else if ((int)base.kind == LANG_BASE_PART)
        size = (uint64_t)l->parts.items[base.index].count * l->parts.items[base.index].stride;
    int64_t offset = pointer->offset.known;
    bool is_inside = pointer->offset.is_known && offset >= 0 && (uint64_t)offset < size;
    return is_inside ? size - (uint64_t)offset : 0;
}

/* `[static N]`: what is given has the elements. */
static void check_counts(lang_lower *l, const lang_function *f, const lang_value *args,
                         lang_pos pos)
{
    for (uint32_t i = 0; i < f->params.count; i++) {
        const lang_symbol *param = f->params.items[i];
        if (!param->min_count)
            continue;
        uint64_t known = least_bytes(l, &args[i]) / param->type->target->size;
        if (known < param->min_count)
            ls__lang_report(l->context, pos, D_STATIC_ARGUMENT, i + 1,
                            LS__STR_ARG(f->symbol->name->text), param->min_count,
                            (unsigned long long)known);
    }
}

lang_value ls__lang_inline_call(lang_lower *l, lang_function *f, const lang_value *args,
                                lang_pos pos)
{
    check_counts(l, f, args, pos);
    lang_binding pointer = {0};
    lang_frame frame = {
        .function = f, .is_inlined = true, .is_simple = is_simple(f), .outer = l->frame};
    for (uint32_t i = 0; i < f->params.count; i++)
        ls__lang_bind_value(l, f->params.items[i], &args[i]);
    prepare_result(l, &frame, &pointer, pos);
    l->frame = &frame;
    if (frame.is_simple) {
        bool was_dead = l->is_dead;
        ls__lang_lower_stmts(l, f->body->stmts.items, f->body->stmts.count);
        l->is_dead = was_dead;
    } else {
        frame.returned = ls__ir_var_add(l->cursor.function, "returned", LS_TYPE_BOOL);
        ls__ir_set(&l->cursor, frame.returned, ls__ir_const_bool(&l->cursor, false));
        frame.body = ls__ir_block(&l->cursor)->regions[0];
        lang_region outside = ls__lang_region_open(l, frame.body);
        ls__lang_lower_stmts(l, f->body->stmts.items, f->body->stmts.count);
        ls__lang_region_close(l, outside);
    }
    l->frame = frame.outer;
    ls__lang_at_pos(l, pos);
    return inline_result(l, &frame);
}

lang_value ls__lang_noinline_call(lang_lower *l, lang_function *f, const lang_value *args,
                                  lang_pos pos)
{
    ls__arena *arena = &l->context->arena;
    LS__VEC(ls_value) scalars = {0};
    LS__VEC(ls_base) bases = {0};
    check_counts(l, f, args, pos);
    for (uint32_t i = 0; i < f->params.count; i++) {
        const lang_value *arg = &args[i];
        if (f->params.items[i]->type->kind == TYPE_POINTER) {
            if (arg->base.kind != LS_BASE_BUFFER || !arg->offset.is_known || arg->offset.known != 0)
                ls__lang_report(l->context, pos, D_NOINLINE_BUFFER);
            ls__vec_push(arena, &bases, arg->base);
        } else {
            for (uint32_t k = 0; k < arg->type->leaf_count; k++)
                ls__vec_push(arena, &scalars,
                             arg->kind == VALUE_LEAVES ? arg->leaves[k] : arg->scalar);
        }
    }
    if (f->is_unordered && !l->function->is_unordered)
        ls__lang_report(l->context, pos, D_NEEDS_UNORDERED, "calling an unordered function");
    ls__ir_inst *call =
        ls__ir_insert(&l->cursor, LS_OP_CALL, LS_TYPE_VOID, scalars.items, scalars.count);
    ls__ir_module *module = l->context->module;
    call->imm = f->ir->id.id;
    call->base_count = bases.count;
    call->bases = LS__NEW_ARRAY(&module->arena, ls_base, bases.count);
    for (uint32_t i = 0; i < bases.count; i++)
        call->bases[i] = bases.items[i];
    lang_value none = {.kind = VALUE_NONE, .type = f->result};
    if (f->result->kind == TYPE_VOID)
        return none;
    lang_place place = ls__lang_new_place(l, f->result, "result", false, pos);
    call->result_count = f->result->leaf_count;
    call->results = LS__NEW_ARRAY(&module->arena, ls_var, call->result_count);
    for (uint32_t i = 0; i < call->result_count; i++)
        call->results[i] = place.vars[i];
    return ls__lang_load(l, &place);
}

/* --- parameters ----------------------------------------------------------------------- */
typedef struct field_list {
    ls__ir_field *items;
    uint32_t count;
} field_list;

/* The scalars of an element, for tools. */
static void add_fields(lang_lower *l, field_list *list, const lang_type *type, const char *path,
                       uint32_t offset)
{
    ls__arena *arena = &l->context->module->arena;
    if (type->mem != LS_MEM_NONE) {
        list->items[list->count++] =
            (ls__ir_field){.path = path, .offset = offset, .mem = type->mem};
        return;
    }
    uint32_t count = type->kind == TYPE_ARRAY ? type->count : type->member_count;
    for (uint32_t i = 0; i < count; i++) {
        if (type->kind == TYPE_ARRAY) {
            const char *inner = ls__arena_printf(arena, "%s[%u]", path, i);
            add_fields(l, list, type->target, inner, offset + i * type->target->size);
        } else {
            const lang_member *member = &type->members[i];
            const char *inner = ls__arena_printf(arena, "%s%s%.*s", path, path[0] ? "." : "",
                                                 LS__STR_ARG(member->name->text));
            add_fields(l, list, member->type, inner, offset + member->offset);
        }
    }
}

static void add_param(lang_lower *l, lang_function *f, const lang_symbol *symbol)
{
    const lang_type *type = symbol->type;
    bool is_pointer = type->kind == TYPE_POINTER;
    const lang_type *element = is_pointer ? type->target : type;
    uint32_t limit = is_pointer ? LS__IR_MAX_ELEMENT_BYTES : LS__IR_MAX_SCALAR_BYTES;
    const char *name =
        ls__arena_strdup(&l->context->arena, symbol->name->text.text, symbol->name->text.length);
    uint32_t mask = element->alignment - 1;
    uint64_t total = is_pointer ? 0 : (f->ir->scalar_bytes + mask) & ~mask;
    ls__lang_check_bytes(l, &total, element->size, limit,
                         is_pointer ? "bytes in an element" : "bytes of scalar parameters",
                         symbol->pos);
    ls__ir_param param = {
        .name = name,
        .type_name = ls__lang_type_text(l->context, element, false),
        .mem = element->mem,
        .is_pointer = is_pointer,
        .is_const = is_pointer && type->target_const,
        .size = element->size,
        .alignment = element->alignment,
        .min_bytes = (uint64_t)symbol->min_count * element->size,
    };
    if (element->mem == LS_MEM_NONE && element->leaf_count <= LANG_MAX_FIELDS) {
        field_list list = {
            LS__NEW_ARRAY(&l->context->module->arena, ls__ir_field, element->leaf_count), 0};
        add_fields(l, &list, element, "", 0);
        param.fields = list.items;
        param.field_count = list.count;
    }
    if (is_pointer && f->ir->buffer_count >= LS__IR_MAX_BUFFERS) {
        ls__lang_report(l->context, symbol->pos, D_MEMORY_LIMIT,
                        (unsigned long long)f->ir->buffer_count + 1, "pointer parameters",
                        (unsigned)LS__IR_MAX_BUFFERS);
        ls__lang_stop(l->context);
    }
    if (f->is_kernel || is_pointer || element->mem != LS_MEM_NONE) {
        ls__ir_param_add(f->ir, param);
        return;
    }
    /* A noinline function takes a struct leaf by leaf. */
    for (uint32_t i = 0; i < element->leaf_count; i++) {
        uint32_t offset;
        const lang_type *leaf = ls__lang_leaf(element, i, &offset);
        ls__ir_param part = {
            .name = ls__arena_printf(&l->context->arena, "%s.%u", name, i),
            .type_name = ls__lang_type_text(l->context, leaf, false),
            .mem = leaf->mem,
            .size = leaf->size,
            .alignment = leaf->alignment,
        };
        ls__ir_param_add(f->ir, part);
    }
}

static ls_value load_param(lang_lower *l, const lang_type *leaf, uint32_t offset)
{
    ls__ir_inst *inst = ls__ir_insert(&l->cursor, LS_OP_PARAM, ls__lang_value_type(leaf), NULL, 0);
    inst->mem = leaf->mem;
    inst->imm = offset;
    return inst->id;
}

/* Copies a large struct parameter into a local object. */
static void spill_param(lang_lower *l, const lang_place *place, const lang_type *type,
                        uint32_t offset, uint32_t start)
{
    if (type->mem != LS_MEM_NONE) {
        lang_value value = ls__lang_scalar(type, load_param(l, type, start + offset));
        lang_place part = ls__lang_part(l, place, type, offset);
        ls__lang_store(l, &part, &value, (lang_pos){0});
    } else if (type->kind == TYPE_ARRAY) {
        for (uint32_t i = 0; i < type->count; i++)
            spill_param(l, place, type->target, offset + i * type->target->size, start);
    } else {
        for (uint32_t i = 0; i < type->member_count; i++)
            spill_param(l, place, type->members[i].type, offset + type->members[i].offset, start);
    }
}

/* Gives the parameter at params[*index] its value; a noinline struct takes one IR parameter a leaf.
 */
static void bind_param(lang_lower *l, lang_function *f, lang_symbol *symbol, uint32_t *index)
{
    const lang_type *type = symbol->type;
    const ls__ir_param *param = &f->ir->params.items[*index];
    ls__lang_at_pos(l, symbol->pos);
    if (type->kind == TYPE_POINTER) {
        lang_value value = {.kind = VALUE_POINTER,
                            .type = type,
                            .base = {LS_BASE_BUFFER, param->buffer},
                            .offset = {.is_known = true}};
        ls__lang_bind_value(l, symbol, &value);
        (*index)++;
        return;
    }
    if (type->kind == TYPE_STRUCT && !lang_is_small(type)) {
        const char *name = param->name;
        lang_place place = ls__lang_new_place(l, type, name, true, symbol->pos);
        spill_param(l, &place, type, 0, param->offset);
        ls__lang_bind_place(symbol, &place);
        (*index)++;
        return;
    }
    ls_value leaves[LANG_SMALL_LEAVES];
    bool is_split = !f->is_kernel && type->mem == LS_MEM_NONE;
    for (uint32_t i = 0; i < type->leaf_count; i++) {
        uint32_t offset;
        const lang_type *leaf = ls__lang_leaf(type, i, &offset);
        leaves[i] = load_param(l, leaf, is_split ? param[i].offset : param->offset + offset);
    }
    lang_value value = {.kind = type->kind == TYPE_STRUCT ? VALUE_LEAVES : VALUE_SCALAR,
                        .type = type,
                        .scalar = leaves[0],
                        .leaves = leaves};
    ls__lang_bind_value(l, symbol, &value);
    *index += is_split ? type->leaf_count : 1;
}

/* --- functions ------------------------------------------------------------------------ */
static void declare(lang_lower *l, lang_function *f)
{
    ls__str name = f->symbol->name->text;
    ls__ir_module *module = l->context->module;
    const char *prefix = f->unit->is_library ? "math." : ""; /* no user's name has a dot */
    f->ir = ls__ir_function_add(
        module, ls__arena_printf(&l->context->arena, "%s%.*s", prefix, LS__STR_ARG(name)),
        f->is_kernel);
    lang_pos pos = f->symbol->pos;
    f->ir->loc = (ls__ir_loc){.file = ir_file(l, pos.file), .column = pos.column, .line = pos.line};
    f->ir->unordered = f->is_unordered;
    for (uint32_t i = 0; i < 3; i++)
        f->ir->workgroup[i] = f->is_kernel ? f->workgroup[i] : 0;
    for (uint32_t i = 0; i < f->params.count; i++)
        add_param(l, f, f->params.items[i]);
    uint32_t offset;
    for (uint32_t i = 0; f->result->kind != TYPE_VOID && i < f->result->leaf_count; i++)
        ls__vec_push(&module->arena, &f->ir->results,
                     (uint8_t)ls__lang_value_type(ls__lang_leaf(f->result, i, &offset)));
}

static void define(lang_lower *l, lang_function *f)
{
    lang_frame frame = {.function = f};
    l->function = f;
    l->frame = &frame;
    l->cursor = (ls__ir_cursor){.function = f->ir, .region = f->ir->body};
    l->is_dead = false;
    l->local_bytes = l->shared_bytes = 0;
    uint32_t index = 0;
    for (uint32_t i = 0; i < f->params.count; i++)
        bind_param(l, f, f->params.items[i], &index);
    ls__lang_lower_stmts(l, f->body->stmts.items, f->body->stmts.count);
    if (f->result->kind != TYPE_VOID && !l->is_dead) { /* reaching the end gives 0 */
        ls_value zeros[LANG_SMALL_LEAVES];
        uint32_t offset, count = f->result->leaf_count;
        ls__lang_at_pos(l, f->end);
        for (uint32_t i = 0; i < count; i++)
            zeros[i] = ls__lang_zero(l, ls__lang_leaf(f->result, i, &offset));
        ls__ir_insert(&l->cursor, LS_OP_RETURN, LS_TYPE_VOID, zeros, count);
    }
    l->frame = NULL;
}

void ls__lang_lower(lang_context *context)
{
    lang_lower l = {.context = context, .file_count = context->files.count};
    l.files = LS__NEW_ARRAY(&context->arena, uint16_t, context->files.count);
    for (uint32_t i = 0; i < context->functions.count; i++) {
        lang_function *f = context->functions.items[i];
        if (f->is_defined && f->body && (f->is_kernel || f->is_noinline))
            declare(&l, f);
    }
    for (uint32_t i = 0; i < context->functions.count; i++) {
        lang_function *f = context->functions.items[i];
        if (!f->ir)
            continue;
        uint32_t errors = context->error_count;
        define(&l, f);
        if (context->error_count == errors)
            ls__lang_check_uniform(context, f);
    }
}
