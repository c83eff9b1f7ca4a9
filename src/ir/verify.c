/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of rules.def for modules, functions and the structure of bodies; verify_op.c has those
 * for single instructions. What consumers rely on is checked here and nowhere else, so a verified
 * module cannot make them read out of range or recurse without bound.
 *
 * The order makes each step safe for the next: the module's tables, then every function's head,
 * then bodies, then the call graph, then (it follows calls) uniformity. The first violation is
 * reported.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "ir/limits.h"
#include "ir/verify.h"

#define CHECK(condition, rule, ...)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return ls__ir_violates(v, LS__IR_RULE_##rule, __VA_ARGS__);                            \
    } while (0)

/* --- reports ---------------------------------------------------------------------------------- */

static const char *rule_text(ls__ir_rule rule)
{
    static const char *const texts[LS__IR_RULE_COUNT] = {
#define LS_IR_RULE(number, name, text) "IR" #number ": " text,
#include "ir/rules.def"
#undef LS_IR_RULE
    };
    return texts[rule];
}

/* Appends to where; what no longer fits is cut. */
__attribute__((format(printf, 3, 4))) static void add(char *where, size_t size, const char *format,
                                                      ...)
{
    size_t length = strlen(where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where + length, size - length, format, arguments);
    va_end(arguments);
}

bool ls__ir_violates(ls__ir_verifier *v, ls__ir_rule rule, const char *format, ...)
{
    char detail[160], where[256] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    ls__fail(v->error, LS_E_COMPILE, "%s: %s", rule_text(rule), detail);

    const ls__ir_function *function = v->function;
    if (!function)
        return false;
    add(where, sizeof where, "%s @%.60s", function->is_kernel ? "kernel" : "function",
        function->name ? function->name : "");
    const ls__ir_inst *inst = v->inst;
    if (inst) {
        add(where, sizeof where, ", ");
        if (inst->id.id)
            add(where, sizeof where, "%%%" PRIu32 " = ", inst->id.id);
        add(where, sizeof where, "%s", ls__ir_op((ls_op)inst->op)->name);
        if (inst->loc.line && inst->loc.file < v->module->files.count)
            add(where, sizeof where, ", %.120s:%" PRIu32 ":%u",
                v->module->files.items[inst->loc.file], inst->loc.line, inst->loc.column);
    }
    ls__fail_where(v->error, LS_E_COMPILE, "%s", where);
    return false;
}

/* --- the module's tables ---------------------------------------------------------------------- */

static bool is_alignment(uint32_t alignment)
{
    return alignment >= 1 && alignment <= 16 && (alignment & (alignment - 1)) == 0;
}

static bool check_objects(ls__ir_verifier *v, const ls__ir_object *objects, uint32_t count,
                          const char *what, uint64_t limit)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(objects[i].size > 0 && is_alignment(objects[i].alignment), OBJECT,
              "%s %" PRIu32 " has %" PRIu32 " bytes, alignment %" PRIu32, what, i, objects[i].size,
              objects[i].alignment);
        total += objects[i].size;
        CHECK(total <= limit, LIMIT, "more than %" PRIu64 " bytes of %s", limit, what);
    }
    return true;
}

static int compare_functions(const void *a, const void *b)
{
    const ls__ir_function *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static bool check_names(ls__ir_verifier *v)
{
    uint32_t count = v->module->functions.count - 1;
    ls__ir_function **sorted = LS__NEW_ARRAY(&v->scratch, ls__ir_function *, count);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = v->module->functions.items[i + 1];
        v->function = sorted[i];
        CHECK(v->function->name && v->function->name[0], NAMES, "function %" PRIu32, i + 1);
        CHECK(v->function->id.id == i + 1 && v->function->module == v->module, LINKS,
              "function %" PRIu32, i + 1);
    }
    qsort(sorted, count, sizeof(ls__ir_function *), compare_functions);
    for (uint32_t i = 1; i < count; i++) {
        v->function = sorted[i];
        CHECK(strcmp(sorted[i - 1]->name, sorted[i]->name) != 0, NAMES, "@%s", sorted[i]->name);
    }
    v->function = NULL;
    return true;
}

/* No value of a constant stands there twice. */
static bool check_choices(ls__ir_verifier *v, const ls__ir_spec *spec)
{
    CHECK(spec->choice_count <= LS__IR_MAX_CHOICES, LIMIT, "constant %s has %" PRIu32 " choices",
          spec->name, spec->choice_count);
    for (uint32_t i = 0; i < spec->choice_count; i++) {
        bool is_new = spec->choices[i] != spec->default_value;
        for (uint32_t k = 0; k < i; k++)
            is_new &= spec->choices[i] != spec->choices[k];
        CHECK(is_new, ANNOTATION, "constant %s has the choice %" PRId64 " twice", spec->name,
              spec->choices[i]);
    }
    return true;
}

static bool check_module(ls__ir_verifier *v)
{
    const ls__ir_module *module = v->module;
    CHECK(module->functions.count <= LS__IR_MAX_FUNCTIONS, LIMIT, "%" PRIu32 " functions",
          module->functions.count);
    CHECK(module->files.count <= UINT16_MAX + 1, LIMIT, "%" PRIu32 " files", module->files.count);
    for (uint32_t i = 0; i < module->files.count; i++)
        CHECK(module->files.items[i], ANNOTATION, "file %" PRIu32 " has no path", i);
    for (uint32_t i = 0; i < module->specs.count; i++) {
        const ls__ir_spec *spec = &module->specs.items[i];
        bool is_word = spec->mem >= LS_MEM_BOOL && spec->mem <= LS_MEM_U32;
        CHECK(spec->name && is_word, ANNOTATION, "constant %" PRIu32, i);
        if (!check_choices(v, spec))
            return false;
    }
    return check_objects(v, module->tables.items, module->tables.count, "table",
                         LS__IR_MAX_TABLE_BYTES) &&
           check_names(v);
}

/* --- heads of functions ----------------------------------------------------------------------- */

static bool check_param(ls__ir_verifier *v, const ls__ir_param *param, uint32_t *offset,
                        uint32_t *buffers)
{
    CHECK(param->mem < LS_MEM_COUNT, PARAM_LAYOUT, "unknown type");
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)param->mem), size = param->size;
    CHECK(size > 0 && size <= LS__IR_MAX_ELEMENT_BYTES && is_alignment(param->alignment) &&
              size % param->alignment == 0 && (bytes == 0 || size == bytes),
          PARAM_LAYOUT, "%" PRIu32 " bytes, alignment %" PRIu32, size, param->alignment);
    for (uint32_t i = 0; i < param->field_count; i++) {
        const ls__ir_field *field = &param->fields[i];
        uint32_t width = ls__ir_mem_bytes((ls_mem)field->mem);
        CHECK(field->path && width > 0 && width <= size && field->offset <= size - width &&
                  (i == 0 || param->fields[i - 1].offset <= field->offset),
              PARAM_LAYOUT, "field %" PRIu32, i);
    }
    CHECK(param->min_bytes % size == 0 && param->min_bytes <= INT64_MAX &&
              (param->is_pointer || param->min_bytes == 0),
          PARAM_LAYOUT, "at least %" PRIu64 " bytes", param->min_bytes);
    if (param->is_pointer) {
        CHECK(param->buffer == (*buffers)++, PARAM_LAYOUT, "buffer %" PRIu32, param->buffer);
        return true;
    }
    uint32_t start = (*offset + param->alignment - 1) & ~(param->alignment - 1);
    CHECK(param->offset == start, PARAM_LAYOUT, "at byte %" PRIu32 " instead of %" PRIu32,
          param->offset, start);
    CHECK(size <= LS__IR_MAX_SCALAR_BYTES && start <= LS__IR_MAX_SCALAR_BYTES - size, LIMIT,
          "more than %d bytes of scalars", LS__IR_MAX_SCALAR_BYTES);
    CHECK(v->function->is_kernel || bytes != 0, PARAM_LAYOUT, "a function takes no structs");
    *offset = start + size;
    return true;
}

static bool check_kind(ls__ir_verifier *v)
{
    const ls__ir_function *f = v->function;
    uint64_t lanes = 1;
    for (int d = 0; d < 3; d++) {
        CHECK((f->workgroup[d] != 0) == f->is_kernel, FUNCTION_KIND, "workgroup %" PRIu32,
              f->workgroup[d]);
        CHECK(f->workgroup[d] <= LS__IR_MAX_LANES, LIMIT, "workgroup %" PRIu32, f->workgroup[d]);
        lanes *= f->workgroup[d];
    }
    CHECK(lanes <= LS__IR_MAX_LANES, LIMIT, "a workgroup of %" PRIu64 " lanes", lanes);
    CHECK(!f->is_kernel || f->results.count == 0, FUNCTION_KIND, "results");
    CHECK(f->is_kernel || f->shared.count == 0, FUNCTION_KIND, "shared objects");
    for (uint32_t i = 0; i < f->results.count; i++)
        CHECK(f->results.items[i] > LS_TYPE_VOID && f->results.items[i] < LS_TYPE_COUNT,
              VARIABLE_TYPE, "result %" PRIu32, i);
    return true;
}

static bool check_head(ls__ir_verifier *v)
{
    const ls__ir_function *f = v->function;
    uint32_t offset = 0, buffers = 0;
    if (!check_kind(v))
        return false;
    for (uint32_t i = 0; i < f->params.count; i++) {
        CHECK(f->params.items[i].name, PARAM_LAYOUT, "parameter %" PRIu32 " has no name", i);
        if (!check_param(v, &f->params.items[i], &offset, &buffers))
            return false;
    }
    CHECK(offset == f->scalar_bytes && buffers == f->buffer_count, PARAM_LAYOUT,
          "%" PRIu32 " bytes, %" PRIu32 " buffers", f->scalar_bytes, f->buffer_count);
    CHECK(buffers <= LS__IR_MAX_BUFFERS, LIMIT, "%" PRIu32 " pointer parameters", buffers);
    CHECK(f->values.count >= 1 && f->values.count <= LS__IR_MAX_VALUES, LIMIT, "%" PRIu32 " values",
          f->values.count);
    CHECK(f->vars.count >= 1 && f->body && !f->body->owner, LINKS, "no body");
    for (uint32_t i = 1; i < f->vars.count; i++)
        CHECK(f->vars.items[i].type > LS_TYPE_VOID && f->vars.items[i].type < LS_TYPE_COUNT,
              VARIABLE_TYPE, "v%" PRIu32, i);
    return check_objects(v, f->locals.items, f->locals.count, "local", LS__IR_MAX_LOCAL_BYTES) &&
           check_objects(v, f->shared.items, f->shared.count, "shared", LS__IR_MAX_SHARED_BYTES);
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* What jumps may reach from a region. `step` is the step region that may not be left. */
typedef struct place {
    unsigned depth;
    bool can_break, can_continue, in_step;
} place;

static bool is_jump(unsigned op)
{
    return op == LS_OP_BREAK || op == LS_OP_CONTINUE || op == LS_OP_WHILE || op == LS_OP_RETURN;
}

static bool check_jump(ls__ir_verifier *v, const ls__ir_inst *inst, place at)
{
    const ls__ir_region *region = inst->parent;
    if (!is_jump(inst->op))
        return true;
    CHECK(!inst->next, JUMP_LAST, "%s follows", ls__ir_op((ls_op)inst->next->op)->name);
    CHECK(inst->op != LS_OP_BREAK || at.can_break, BREAK, "misplaced");
    CHECK(inst->op != LS_OP_CONTINUE || at.can_continue, CONTINUE, "misplaced");
    CHECK(inst->op != LS_OP_RETURN || !at.in_step, RETURN, "in a step region");
    CHECK(inst->op != LS_OP_WHILE || (region->owner && region->owner->op == LS_OP_LOOP &&
                                      region->owner->regions[1] == region),
          WHILE, "misplaced");
    return true;
}

static uint32_t regions_wanted(const ls__ir_inst *inst)
{
    switch (inst->op) {
    case LS_OP_IF:
    case LS_OP_LOOP:
        return 2;
    case LS_OP_BLOCK:
        return 1;
    default:
        return 0;
    }
}

static int compare_int64(const void *a, const void *b)
{
    int64_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static bool check_switch(ls__ir_verifier *v, const ls__ir_inst *inst)
{
    CHECK(inst->region_count >= 1, REGIONS, "no default");
    bool is_wide = ls__ir_type_of(v->function, inst->args[0]) == LS_TYPE_I64;
    size_t count = 0;
    for (uint32_t i = 0; i + 1 < inst->region_count; i++) {
        CHECK(inst->case_sizes[i] > 0, SWITCH, "case %" PRIu32 " has no value", i);
        count += inst->case_sizes[i];
    }
    for (size_t i = 0; i < count; i++)
        CHECK(is_wide || (inst->case_values[i] >= INT32_MIN && inst->case_values[i] <= INT32_MAX),
              SWITCH, "%" PRId64, inst->case_values[i]);
    int64_t *sorted = LS__NEW_ARRAY(&v->scratch, int64_t, count);
    if (count)
        memcpy(sorted, inst->case_values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_int64);
    for (size_t i = 1; i < count; i++)
        CHECK(sorted[i - 1] != sorted[i], SWITCH, "%" PRId64 " twice", sorted[i]);
    return true;
}

static bool check_region(ls__ir_verifier *v, const ls__ir_region *region, place at,
                         uint32_t *value_count);

static bool check_regions(ls__ir_verifier *v, const ls__ir_inst *inst, place at,
                          uint32_t *value_count)
{
    if (inst->op == LS_OP_SWITCH && !check_switch(v, inst))
        return false;
    CHECK(inst->op == LS_OP_SWITCH || inst->region_count == regions_wanted(inst), REGIONS,
          "%" PRIu32, inst->region_count);
    CHECK(inst->region_count == 0 || at.depth < LS__IR_MAX_DEPTH, DEPTH, "deeper");
    for (uint32_t i = 0; i < inst->region_count; i++) {
        place inside = at;
        inside.depth++;
        if (inst->op != LS_OP_IF)
            inside.can_break = true;
        if (inst->op == LS_OP_LOOP) {
            inside.can_break = inside.can_continue = i == 0;
            inside.in_step = at.in_step || i == 1;
        }
        v->inst = inst;
        CHECK(inst->regions[i] && inst->regions[i]->owner == inst, LINKS, "region %" PRIu32, i);
        if (!check_region(v, inst->regions[i], inside, value_count))
            return false;
    }
    return true;
}

static bool check_region(ls__ir_verifier *v, const ls__ir_region *region, place at,
                         uint32_t *value_count)
{
    const ls__ir_function *function = v->function;
    const ls__ir_inst *previous = NULL;
    for (const ls__ir_inst *inst = region->first; inst; previous = inst, inst = inst->next) {
        v->inst = inst;
        CHECK(inst->parent == region && inst->prev == previous, LINKS, "instruction list");
        CHECK((inst->id.id != 0) == (inst->type != LS_TYPE_VOID), LINKS, "result without type");
        CHECK(ls__ir_def(function, inst->id) == (inst->id.id ? inst : NULL), LINKS, "value table");
        if (!ls__ir_verify_op(v, inst) || !check_jump(v, inst, at) ||
            !check_regions(v, inst, at, value_count))
            return false;
        v->visible[inst->id.id] = inst->id.id != 0;
        *value_count += inst->id.id != 0;
    }
    CHECK(region->last == previous, LINKS, "end of an instruction list");
    for (const ls__ir_inst *inst = region->first; inst; inst = inst->next)
        v->visible[inst->id.id] = false; /* what a region makes is seen in it only */
    return true;
}

static bool check_body(ls__ir_verifier *v)
{
    const ls__ir_function *function = v->function;
    uint32_t made = 0, listed = 0;
    v->has_cooperation = false;
    if (!check_region(v, function->body, (place){0}, &made))
        return false;
    v->inst = NULL;
    for (uint32_t i = 0; i < function->values.count; i++)
        listed += function->values.items[i] != NULL;
    CHECK(made == listed, LINKS, "%" PRIu32 " values made, %" PRIu32 " in the table", made, listed);
    const ls__ir_inst *last = function->body->last;
    CHECK(function->results.count == 0 || (last && last->op == LS_OP_RETURN), RETURN,
          "the body does not end with return");
    return true;
}

/* --- the call graph --------------------------------------------------------------------------- */

typedef struct graph {
    ls__ir_verifier *v;
    uint8_t *heights; /* by function: 1 + calls below it; 0 = unknown, UNDER_WAY = on the path */
    uint8_t height;   /* of the function being visited */
    unsigned depth;
} graph;

enum { UNDER_WAY = 255 };

static bool visit_function(graph *g, const ls__ir_function *function);

static bool visit_call(ls__ir_inst *inst, void *context)
{
    graph *g = context;
    if (inst->op != LS_OP_CALL)
        return true;
    ls__ir_verifier *v = g->v;
    const ls__ir_function *caller = v->function;
    const ls__ir_function *callee = v->module->functions.items[inst->imm];
    v->inst = inst;
    CHECK(g->heights[callee->id.id] != UNDER_WAY, RECURSION, "@%s", callee->name);
    if (!visit_function(g, callee))
        return false;
    v->function = caller;
    v->inst = inst;
    uint8_t height = (uint8_t)(g->heights[callee->id.id] + 1);
    if (height > g->height)
        g->height = height;
    CHECK(g->height <= LS__IR_MAX_CALL_DEPTH + 1, RECURSION, "calls nest too deeply");
    return true;
}

static bool visit_function(graph *g, const ls__ir_function *function)
{
    if (g->heights[function->id.id])
        return true;
    ls__ir_verifier *v = g->v;
    CHECK(g->depth <= LS__IR_MAX_CALL_DEPTH, RECURSION, "calls nest too deeply");
    graph inner = {v, g->heights, 1, g->depth + 1};
    g->heights[function->id.id] = UNDER_WAY;
    v->function = function;
    if (!ls__ir_walk(function->body, visit_call, &inner))
        return false;
    g->heights[function->id.id] = inner.height;
    return true;
}

/* --- cooperation ------------------------------------------------------------------------------ */

typedef struct cooperation {
    ls__ir_verifier *v;
    ls__ir_uniformity uniformity;
} cooperation;

static bool only_in_loop_bodies(const ls__ir_inst *inst)
{
    for (const ls__ir_region *region = inst->parent; region->owner;
         region = region->owner->parent) {
        if (region->owner->op != LS_OP_LOOP || region->owner->regions[0] != region)
            return false;
    }
    return true;
}

static bool check_uniform(ls__ir_inst *inst, void *context)
{
    cooperation *c = context;
    ls__ir_verifier *v = c->v;
    if (!ls__ir_op_has((ls_op)inst->op, 'S'))
        return true;
    v->inst = inst;
    ls__ir_scope scope = ls__ir_control_scope(v->function, &c->uniformity, inst);
    CHECK(scope <= LS__IR_WORKGROUP, UNIFORM, "it depends on the lane whether this runs");
    if (inst->op == LS_OP_GRID_BARRIER) {
        CHECK(only_in_loop_bodies(inst), GRID_BARRIER, "misplaced");
        CHECK(scope == LS__IR_GRID, GRID_BARRIER, "it depends on the workgroup whether this runs");
    }
    return true;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool verify(ls__ir_verifier *v)
{
    const ls__ir_module *module = v->module;
    uint32_t most_values = 1;
    if (!check_module(v))
        return false;
    for (uint32_t i = 1; i < module->functions.count; i++) {
        v->function = module->functions.items[i];
        if (!check_head(v))
            return false;
        if (v->function->values.count > most_values)
            most_values = v->function->values.count;
    }
    v->visible = LS__NEW_ARRAY(&v->scratch, uint8_t, most_values);
    uint8_t *cooperates = LS__NEW_ARRAY(&v->scratch, uint8_t, module->functions.count);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        v->function = module->functions.items[i];
        if (!check_body(v))
            return false;
        cooperates[i] = v->has_cooperation;
    }
    graph g = {.v = v, .heights = LS__NEW_ARRAY(&v->scratch, uint8_t, module->functions.count)};
    for (uint32_t i = 1; i < module->functions.count; i++) {
        if (!visit_function(&g, module->functions.items[i]))
            return false;
    }
    for (uint32_t i = 1; i < module->functions.count; i++) {
        if (!cooperates[i])
            continue;
        v->function = module->functions.items[i];
        cooperation c = {v, ls__ir_uniformity_of(v->function, &v->scratch)};
        if (!ls__ir_walk(v->function->body, check_uniform, &c))
            return false;
    }
    return true;
}

ls_status ls__ir_verify(const ls__ir_module *module, ls_error *error)
{
    ls__oom oom;
    ls__ir_verifier v = {.module = module, .error = error};
    ls__arena_init(&v.scratch, &oom, 0);
    if (setjmp(oom.jump)) {
        ls__arena_finish(&v.scratch);
        return ls__oom_status(&oom, error);
    }
    bool good = verify(&v);
    ls__arena_finish(&v.scratch);
    return good ? LS_OK : LS_E_COMPILE;
}
