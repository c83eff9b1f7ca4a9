/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deep copies: of a function within its module or into another, of a whole module. Numbers of
 * values and variables stay; numbers of tables, files and functions are translated. The source may
 * be an unverified module as far as its indices are in range.
 */
#include <string.h>

#include "ir/ir.h"

typedef struct copier {
    ls__ir_module *target;
    const ls__ir_module *source;
    /* New number + 1 by old number, 0 = not brought along yet. NULL: within one module. */
    uint32_t *tables, *files, *functions;
    unsigned depth;
} copier;

static void *copy_array(copier *c, const void *items, size_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *copy = ls__arena_alloc(&c->target->arena, count, size);
    memcpy(copy, items, count * size);
    return copy;
}

#define COPY(c, items, count) copy_array((c), (items), (count), sizeof *(items))

static const char *copy_text(copier *c, const char *text)
{
    return text ? ls__arena_strdup(&c->target->arena, text, strlen(text)) : NULL;
}

static copier between(ls__ir_module *target, const ls__ir_module *source)
{
    copier c = {.target = target, .source = source};
    if (target != source) {
        c.tables = LS__NEW_ARRAY(&target->arena, uint32_t, source->tables.count);
        c.files = LS__NEW_ARRAY(&target->arena, uint32_t, source->files.count);
        c.functions = LS__NEW_ARRAY(&target->arena, uint32_t, source->functions.count);
    }
    return c;
}

static ls__ir_loc copy_loc(copier *c, ls__ir_loc loc)
{
    if (!c->files || loc.line == 0 || loc.file >= c->source->files.count)
        return loc;
    uint32_t *known = &c->files[loc.file];
    if (*known == 0)
        *known = 1u + ls__ir_file_add(c->target, c->source->files.items[loc.file]);
    loc.file = (uint16_t)(*known - 1);
    return loc;
}

static ls_base copy_base(copier *c, ls_base base)
{
    if (!c->tables || base.kind != LS_BASE_CONST || base.index >= c->source->tables.count)
        return base;
    uint32_t *known = &c->tables[base.index];
    if (*known == 0) {
        const ls__ir_object *table = &c->source->tables.items[base.index];
        *known = 1 + ls__ir_table_add(c->target, table->name, table->bytes, table->size,
                                      table->alignment)
                         .index;
    }
    return (ls_base){LS_BASE_CONST, *known - 1};
}

static ls__ir_function *copy_function(copier *c, const ls__ir_function *function, const char *name);

static uint64_t copy_callee(copier *c, uint64_t callee)
{
    if (!c->functions || callee == 0 || callee >= c->source->functions.count)
        return callee;
    uint32_t *known = &c->functions[callee];
    if (*known == 0) {
        const ls__ir_function *function = c->source->functions.items[callee];
        ls__ir_function *there = ls__ir_function_find(c->target, ls__str_from(function->name));
        if (!there && c->depth <= LS__IR_MAX_CALL_DEPTH)
            there = copy_function(c, function, function->name);
        *known = there ? 1 + there->id.id : 0;
    }
    return *known ? *known - 1 : 0;
}

/* --- bodies ----------------------------------------------------------------------------------- */

static void copy_region(copier *c, ls__ir_function *function, ls__ir_region *to,
                        const ls__ir_region *from, unsigned depth);

static ls__ir_inst *copy_inst(copier *c, ls__ir_function *function, const ls__ir_inst *inst,
                              unsigned depth)
{
    ls__ir_inst *copy = COPY(c, inst, 1);
    copy->loc = copy_loc(c, inst->loc);
    copy->base = copy_base(c, inst->base);
    copy->args = COPY(c, inst->args, inst->arg_count);
    copy->bases = COPY(c, inst->bases, inst->base_count);
    copy->results = COPY(c, inst->results, inst->result_count);
    if (inst->op == LS_OP_CALL)
        copy->imm = copy_callee(c, inst->imm);
    if (inst->op == LS_OP_SWITCH) {
        size_t values = 0;
        for (uint32_t i = 0; i + 1 < inst->region_count; i++)
            values += inst->case_sizes[i];
        copy->case_values = COPY(c, inst->case_values, values);
        copy->case_sizes = COPY(c, inst->case_sizes, inst->region_count - 1);
    }
    copy->regions = LS__NEW_ARRAY(&c->target->arena, ls__ir_region *, inst->region_count);
    for (uint32_t i = 0; i < inst->region_count; i++) {
        copy->regions[i] = ls__ir_region_new(c->target, copy);
        copy_region(c, function, copy->regions[i], inst->regions[i], depth + 1);
    }
    if (copy->id.id)
        function->values.items[copy->id.id] = copy;
    return copy;
}

static void copy_region(copier *c, ls__ir_function *function, ls__ir_region *to,
                        const ls__ir_region *from, unsigned depth)
{
    if (depth > LS__IR_WALK_DEPTH)
        return;
    for (const ls__ir_inst *inst = from->first; inst; inst = inst->next) {
        ls__ir_inst *copy = copy_inst(c, function, inst, depth);
        copy->parent = to;
        copy->prev = to->last;
        copy->next = NULL;
        if (to->last)
            to->last->next = copy;
        else
            to->first = copy;
        to->last = copy;
    }
}

/* --- functions -------------------------------------------------------------------------------- */

static void copy_params(copier *c, ls__ir_function *copy, const ls__ir_function *function)
{
    for (uint32_t i = 0; i < function->params.count; i++) {
        ls__ir_param *param = ls__ir_param_add(copy, function->params.items[i]);
        ls__ir_field *fields = COPY(c, param->fields, param->field_count);
        for (uint32_t k = 0; k < param->field_count; k++)
            fields[k].path = copy_text(c, fields[k].path);
        param->fields = fields;
    }
}

static void copy_head(copier *c, ls__ir_function *copy, const ls__ir_function *function)
{
    ls__arena *arena = &c->target->arena;
    copy->unordered = function->unordered;
    memcpy(copy->workgroup, function->workgroup, sizeof copy->workgroup);
    copy->loc = copy_loc(c, function->loc);
    copy_params(c, copy, function);
    for (uint32_t i = 0; i < function->results.count; i++)
        ls__vec_push(arena, &copy->results, function->results.items[i]);
    for (uint32_t i = 1; i < function->vars.count; i++)
        ls__ir_var_add(copy, function->vars.items[i].name, (ls_type)function->vars.items[i].type);
    for (uint32_t i = 0; i < function->locals.count; i++) {
        const ls__ir_object *object = &function->locals.items[i];
        ls__ir_local_add(copy, object->name, object->size, object->alignment);
        copy->locals.items[i].loc = copy_loc(c, object->loc);
    }
    for (uint32_t i = 0; i < function->shared.count; i++) {
        const ls__ir_object *object = &function->shared.items[i];
        ls__ir_shared_add(copy, object->name, object->size, object->alignment);
        copy->shared.items[i].loc = copy_loc(c, object->loc);
    }
}

static ls__ir_function *copy_function(copier *c, const ls__ir_function *function, const char *name)
{
    ls__ir_function *copy = ls__ir_function_add(c->target, name, function->is_kernel);
    if (c->functions)
        c->functions[function->id.id] = 1 + copy->id.id;
    copy_head(c, copy, function);
    copy->values.items = LS__NEW_ARRAY(&c->target->arena, ls__ir_inst *, function->values.count);
    copy->values.count = copy->values.capacity = function->values.count;
    c->depth++;
    copy_region(c, copy, copy->body, function->body, 0);
    c->depth--;
    return copy;
}

ls__ir_function *ls__ir_function_clone(ls__ir_module *module, const ls__ir_function *function,
                                       const char *name)
{
    copier c = between(module, function->module);
    return copy_function(&c, function, name);
}

void ls__ir_module_link(ls__ir_module *module, const ls__ir_module *source)
{
    copier c = between(module, source);
    for (uint32_t i = 1; i < source->functions.count; i++) {
        const ls__ir_function *function = source->functions.items[i];
        if (c.functions[i] == 0) /* else it came along with a caller */
            copy_function(&c, function, function->name);
    }
}

/* --- modules ---------------------------------------------------------------------------------- */

static void copy_module(ls__ir_module *copy, const ls__ir_module *module)
{
    copier c = {.target = copy, .source = module};
    for (uint32_t i = 0; i < module->files.count; i++)
        ls__vec_push(&copy->arena, &copy->files, copy_text(&c, module->files.items[i]));
    for (uint32_t i = 0; i < module->specs.count; i++)
        ls__ir_spec_add(copy, &module->specs.items[i]);
    for (uint32_t i = 0; i < module->tables.count; i++) {
        ls__ir_object table = module->tables.items[i];
        table.name = copy_text(&c, table.name);
        table.bytes = COPY(&c, table.bytes, table.size);
        ls__ir_table_append(copy, table);
    }
    /* Without translation: every number stays what it was. */
    for (uint32_t i = 1; i < module->functions.count; i++)
        copy_function(&c, module->functions.items[i], module->functions.items[i]->name);
}

ls__ir_module *ls__ir_module_clone(const ls__ir_module *module, ls__oom *oom, size_t limit_bytes)
{
    ls__oom own; /* so that the half-made copy is freed before the caller's handler runs */
    ls__ir_module *volatile copy = NULL;
    if (setjmp(own.jump)) {
        ls__ir_module *half = copy;
        ls__ir_module_destroy(&half);
        oom->requested_bytes = own.requested_bytes;
        oom->over_limit = own.over_limit;
        longjmp(oom->jump, 1);
    }
    copy = ls__ir_module_create(&own, limit_bytes);
    copy_module(copy, module);
    copy->arena.oom = oom;
    return copy;
}
