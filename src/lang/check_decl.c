/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of declarations: variables, tables, typedefs, SPEC constants, functions and kernels.
 */
#include <string.h>

#include "ir/limits.h"
#include "lang/check.h"

enum { MAX_WORKGROUP = 1024, MAX_TABLE_BYTES = 64 << 20 };

/* --- SPEC and assertions -------------------------------------------------------------- */
static bool fits(const lang_type *type, int64_t value)
{
    if (value < INT32_MIN || value > INT32_MAX)
        return false;
    if (type->kind == TYPE_BOOL)
        return value == 0 || value == 1;
    int64_t half = INT64_C(1) << (type->size * 8 - 1);
    return lang_is_signed(type) ? value >= -half && value < half : value >= 0 && value < 2 * half;
}

/* The further values of a SPEC constant; false after a report. */
static bool spec_choices(lang_checker *c, lang_declaration *d, const lang_type *type, ls__str name,
                         ls__ir_spec *spec)
{
    lang_context *context = c->context;
    uint32_t count = d->choices.count;
    if (count > LS__IR_MAX_CHOICES) {
        ls__lang_report(context, d->choices.items[LS__IR_MAX_CHOICES]->pos, D_SPEC_CHOICES,
                        LS__STR_ARG(name), count + 1, (unsigned)LS__IR_MAX_CHOICES + 1);
        return false;
    }
    int64_t *choices = LS__NEW_ARRAY(&context->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        lang_pos pos = d->choices.items[i]->pos;
        if (!ls__lang_check_constant(c, &d->choices.items[i], &choices[i]))
            return false;
        bool is_new = choices[i] != spec->default_value;
        for (uint32_t k = 0; k < i; k++)
            is_new &= choices[i] != choices[k];
        if (!fits(type, choices[i]))
            ls__lang_report(context, pos, D_SPEC_RANGE, (long long)choices[i], LS__STR_ARG(name));
        else if (!is_new)
            ls__lang_report(context, pos, D_SPEC_TWICE, LS__STR_ARG(name), (long long)choices[i]);
        if (!is_new || !fits(type, choices[i]))
            return false;
    }
    spec->choices = choices;
    spec->choice_count = count;
    return true;
}

static void spec_constant(lang_checker *c, lang_declaration *d)
{
    lang_context *context = c->context;
    const lang_declarator *declarator = d->declarators.items[0];
    lang_type *type = ls__lang_type_name(c, d->spec, declarator);
    if (type->kind == TYPE_ERROR)
        return;
    if (!lang_is_integer(type) || type->size > 4) {
        ls__lang_report(context, d->spec->pos, D_SPEC_TYPE);
        return;
    }
    int64_t value = 0;
    if (!ls__lang_check_constant(c, &d->value, &value))
        return;
    ls__ir_spec spec = {.mem = type->mem, .default_value = value};
    ls__str name = declarator->name->text;
    lang_pos pos = d->value->pos;
    for (uint32_t i = 0; i < context->options->define_count; i++) {
        if (ls__str_is(name, context->options->defines[i].name)) {
            value = context->options->defines[i].value;
            pos = declarator->pos;
            context->define_used[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    if (!fits(type, value) || !fits(type, spec.default_value)) {
        if (fits(type, value))
            value = spec.default_value;
        ls__lang_report(context, pos, D_SPEC_RANGE, (long long)value, LS__STR_ARG(name));
        return;
    }
    if (!spec_choices(c, d, type, name, &spec))
        return;
    lang_symbol *symbol =
        ls__lang_declare(c, declarator->name, declarator->pos, SYM_CONST, TY(I32));
    if (!symbol)
        return;
    symbol->bits = (uint32_t)value;
    spec.value = value;
    spec.name = ls__arena_strdup(&context->arena, name.text, name.length);
    ls__vec_push(&context->arena, &context->specs, spec);
}

static void assertion(lang_checker *c, lang_declaration *d)
{
    int64_t value;
    lang_pos pos = d->value->pos;
    if (ls__lang_check_constant(c, &d->value, &value) && value == 0)
        ls__lang_report(c->context, pos, D_ASSERTION);
}

/* --- functions ------------------------------------------------------------------------ */
static bool same_signature(const lang_function *a, const lang_function *b)
{
    if (!ls__lang_type_equal(a->result, b->result) || a->params.count != b->params.count ||
        a->is_kernel != b->is_kernel)
        return false;
    for (uint32_t i = 0; i < a->params.count; i++) {
        if (!ls__lang_type_equal(a->params.items[i]->type, b->params.items[i]->type))
            return false;
    }
    return true;
}

static void check_workgroup(lang_checker *c, lang_spec *spec, lang_function *f)
{
    uint64_t product = 1;
    bool is_bad = false;
    for (uint32_t i = 0; i < 3; i++) {
        int64_t value = spec->has_workgroup ? 1 : i == 0 ? 64 : 1;
        if (spec->has_workgroup && spec->workgroup[i] &&
            !ls__lang_check_constant(c, &spec->workgroup[i], &value))
            return;
        is_bad |= value < 1 || value > MAX_WORKGROUP;
        f->workgroup[i] = is_bad ? 1 : (uint32_t)value;
        product *= f->workgroup[i];
    }
    if (is_bad || product > MAX_WORKGROUP)
        ls__lang_report(c->context, spec->workgroup_pos, D_WORKGROUP);
}

static void report_type(lang_checker *c, lang_pos pos, lang_diag_id id, const lang_type *type)
{
    ls__lang_report_one(c->context, pos, id, ls__lang_type_text(c->context, type, false));
}

static void check_signature(lang_checker *c, const lang_spec *spec, lang_function *f, lang_pos pos)
{
    const lang_type *result = f->result;
    if (f->is_kernel && result->kind != TYPE_VOID && result->kind != TYPE_ERROR)
        ls__lang_report(c->context, pos, D_KERNEL_RESULT);
    if (result->kind == TYPE_ARRAY ||
        (result->kind != TYPE_VOID && result->kind != TYPE_ERROR && !result->is_complete))
        report_type(c, pos, D_FUNCTION_RESULT, result);
    if (f->is_noinline &&
        (result->kind == TYPE_POINTER || (result->kind == TYPE_STRUCT && !lang_is_small(result))))
        report_type(c, pos, D_NOINLINE_PARAM, result);
    if (f->is_noinline && f->is_kernel)
        ls__lang_report(c->context, spec->pos, D_MISPLACED_SPECIFIER, "noinline");
    if (!f->is_kernel && spec->is_unordered && !f->is_noinline)
        ls__lang_report(c->context, spec->pos, D_MISPLACED_SPECIFIER, "unordered");
    if (!f->is_kernel && spec->has_workgroup)
        ls__lang_report(c->context, spec->workgroup_pos, D_MISPLACED_SPECIFIER, "workgroup");
    if (spec->is_shared)
        ls__lang_report(c->context, spec->pos, D_MISPLACED_SPECIFIER, "shared");
}

static lang_type *param_type(lang_checker *c, const lang_function *f, lang_declaration *d,
                             bool *is_const, uint32_t *min_count)
{
    const lang_declarator *declarator = d->declarators.items[0];
    lang_pos pos = declarator->pos;
    ls__lang_no_specifiers(c, d->spec);
    lang_type *type = ls__lang_resolve_spec(c, d->spec, is_const);
    type = ls__lang_declarator_type(c, declarator, 0, type, is_const, min_count);
    if (type->kind == TYPE_ERROR)
        return type;
    if (type->kind == TYPE_VOID) {
        ls__str text = declarator->name ? declarator->name->text : (ls__str){"a parameter", 11};
        ls__lang_report(c->context, pos, D_VOID_OBJECT, LS__STR_ARG(text));
        return TY(ERROR);
    }
    const lang_type *needed = type->kind == TYPE_POINTER ? type->target : type;
    if (!needed->is_complete) {
        report_type(c, pos, D_INCOMPLETE_TYPE, needed);
        return TY(ERROR);
    }
    if (f->is_noinline && type->kind == TYPE_STRUCT && !lang_is_small(type))
        report_type(c, pos, D_NOINLINE_PARAM, type);
    return type;
}

static lang_function *make_function(lang_checker *c, lang_declaration *d,
                                    lang_declarator *declarator, lang_type *base, bool spec_const)
{
    ls__arena *arena = &c->context->arena;
    lang_function *f = LS__NEW(arena, lang_function);
    f->unit = c->unit;
    f->is_kernel = d->spec->is_kernel;
    f->is_noinline = d->spec->is_noinline;
    f->is_unordered = d->spec->is_unordered;
    f->end = d->end;
    f->result = ls__lang_declarator_type(c, declarator, 1, base, &spec_const, NULL);
    f->declares_f64 = f->result->has_f64;
    check_signature(c, d->spec, f, declarator->pos);
    if (f->is_kernel)
        check_workgroup(c, d->spec, f);
    const lang_part *part = &declarator->parts.items[0];
    for (uint32_t i = 0; i < part->params.count; i++) {
        lang_declaration *param = part->params.items[i];
        const lang_declarator *pd = param->declarators.items[0];
        bool is_const;
        uint32_t min_count;
        lang_symbol *symbol = LS__NEW(arena, lang_symbol);
        symbol->kind = SYM_VAR;
        symbol->storage = STORAGE_PARAM;
        symbol->name = pd->name;
        symbol->pos = pd->pos;
        symbol->type = param_type(c, f, param, &is_const, &min_count);
        symbol->min_count = min_count;
        symbol->is_const = is_const;
        f->declares_f64 |= symbol->type->has_f64;
        if (d->kind == DECL_FUNCTION && !pd->name)
            ls__lang_report(c->context, pd->pos, D_PARAM_NAME);
        ls__vec_push(arena, &f->params, symbol);
    }
    return f;
}

/* The function this declares: an earlier declaration of the same, or a new one; NULL after a
 * report. */
static lang_function *declare_function(lang_checker *c, lang_declaration *d,
                                       lang_declarator *declarator, lang_function *f)
{
    lang_name *name = declarator->name;
    lang_symbol *before = name->symbol;
    if (!before || before->kind != SYM_FUNCTION || before->level != c->level) {
        lang_symbol *symbol = ls__lang_declare(c, name, declarator->pos, SYM_FUNCTION, f->result);
        if (!symbol)
            return NULL;
        symbol->function = f;
        f->symbol = symbol;
        ls__vec_push(&c->context->arena, &c->context->functions, f);
        return f;
    }
    lang_function *old = before->function;
    if (!same_signature(old, f)) {
        ls__lang_report(c->context, declarator->pos, D_FUNCTION_TYPE, LS__STR_ARG(name->text),
                        before->pos.line);
        return NULL;
    }
    if (d->kind == DECL_FUNCTION && old->is_defined) {
        ls__lang_report(c->context, declarator->pos, D_FUNCTION_TWICE, LS__STR_ARG(name->text),
                        before->pos.line);
        return NULL;
    }
    old->is_noinline |= f->is_noinline;
    old->is_unordered |= f->is_unordered;
    if (d->kind == DECL_FUNCTION) {
        old->params = f->params;
        old->end = f->end;
        old->declares_f64 |= f->declares_f64;
        for (uint32_t i = 0; i < 3 && d->spec->has_workgroup; i++)
            old->workgroup[i] = f->workgroup[i];
        before->pos = declarator->pos;
    }
    return old;
}

static void function_body(lang_checker *c, lang_declaration *d, lang_function *f)
{
    uint32_t mark = ls__lang_scope_enter(c);
    f->is_defined = true;
    for (uint32_t i = 0; i < f->params.count; i++) {
        lang_symbol *param = f->params.items[i];
        if (!param->name)
            continue;
        lang_symbol *symbol = ls__lang_declare(c, param->name, param->pos, SYM_VAR, param->type);
        if (!symbol)
            continue;
        symbol->storage = STORAGE_PARAM;
        symbol->is_const = param->is_const;
        symbol->min_count = param->min_count;
        f->params.items[i] = symbol;
    }
    f->body = d->body;
    ls__lang_check_body(c, f, d->body);
    ls__lang_scope_leave(c, mark);
}

static void function(lang_checker *c, lang_declaration *d, lang_declarator *declarator,
                     lang_type *base, bool spec_const)
{
    if (c->level > 0) {
        ls__lang_report(c->context, declarator->pos, D_NESTED_FUNCTION);
        return;
    }
    if (d->spec->is_typedef || declarator->init) {
        ls__lang_report(c->context, declarator->pos, D_FUNCTION_POINTER);
        return;
    }
    lang_function *f = make_function(c, d, declarator, base, spec_const);
    f = declare_function(c, d, declarator, f);
    if (f && d->kind == DECL_FUNCTION)
        function_body(c, d, f);
}

/* --- variables ------------------------------------------------------------------------ */
/* The contents of a constant table. */
static void fill_table(lang_checker *c, lang_symbol *symbol, const lang_init *init)
{
    if (symbol->type->size > MAX_TABLE_BYTES) {
        ls__lang_report(c->context, symbol->pos, D_MEMORY_LIMIT,
                        (unsigned long long)symbol->type->size, "bytes in a table",
                        (unsigned)MAX_TABLE_BYTES);
        return;
    }
    uint8_t *bytes = LS__NEW_ARRAY(&c->context->arena, uint8_t, symbol->type->size);
    symbol->bytes = bytes;
    for (uint32_t i = 0; i < init->store_count; i++) {
        const lang_store *store = &init->stores[i];
        if (store->type->kind == TYPE_ERROR || store->value->type->kind == TYPE_ERROR)
            continue;
        if (!store->value->is_constant) {
            ls__lang_report(c->context, store->value->pos, D_INIT_NOT_CONSTANT);
            return;
        }
        ls__ir_store_bits((ls_mem)store->type->mem, bytes + store->offset, store->value->bits,
                          false);
    }
}

static bool check_object_type(lang_checker *c, const lang_declarator *d, const lang_type *type)
{
    if (type->kind == TYPE_ERROR)
        return false;
    if (type->kind == TYPE_VOID) {
        ls__lang_report(c->context, d->pos, D_VOID_OBJECT, LS__STR_ARG(d->name->text));
        return false;
    }
    if (!type->is_complete && !(type->kind == TYPE_ARRAY && d->init)) {
        if (type->kind == TYPE_ARRAY)
            ls__lang_report(c->context, d->pos, D_ARRAY_COUNT);
        else
            report_type(c, d->pos, D_INCOMPLETE_TYPE, type);
        return false;
    }
    return true;
}

static void check_shared(lang_checker *c, const lang_spec *spec, const lang_declarator *d,
                         const lang_type *type)
{
    if (!c->function || !c->function->is_kernel)
        ls__lang_report(c->context, spec->pos, D_SHARED_PLACE);
    else if (d->init)
        ls__lang_report(c->context, d->init->pos, D_SHARED_INIT);
    else if (type->kind == TYPE_POINTER)
        report_type(c, d->pos, D_SHARED_TYPE, type);
}

static void variable(lang_checker *c, lang_declaration *d, lang_declarator *declarator,
                     lang_type *type, bool is_const)
{
    const lang_spec *spec = d->spec;
    bool is_global = c->level == 0;
    bool is_table = (is_global || spec->is_static) && !spec->is_shared;
    lang_type *open_type = type;
    bool is_good = check_object_type(c, declarator, type);
    lang_symbol *symbol =
        ls__lang_declare(c, declarator->name, declarator->pos, SYM_VAR, is_good ? type : TY(ERROR));
    if (!symbol || !is_good)
        return;
    symbol->is_const = is_const;
    symbol->storage = spec->is_shared ? STORAGE_SHARED : is_table ? STORAGE_TABLE : STORAGE_LOCAL;
    declarator->symbol = symbol;
    if (spec->is_shared)
        check_shared(c, spec, declarator, type);
    if (is_table && type->kind == TYPE_POINTER) {
        ls__lang_report(c->context, declarator->pos, D_POINTER_IN_MEMORY);
        return;
    }
    if (is_table && !is_const)
        ls__lang_report_one(c->context, declarator->pos,
                            is_global ? D_MUTABLE_GLOBAL : D_STATIC_LOCAL, "");
    else if (is_table && !declarator->init)
        ls__lang_report(c->context, declarator->pos, D_CONST_NEEDS_VALUE);
    if (!declarator->init)
        return;
    c->initialised = symbol;
    lang_init *init = ls__lang_check_init(c, &open_type, declarator->init);
    c->initialised = NULL;
    symbol->type = open_type;
    declarator->checked = init;
    if (is_table && open_type->kind != TYPE_ERROR)
        fill_table(c, symbol, init);
}

static void type_name(lang_checker *c, const lang_declarator *d, lang_type *type, bool is_const)
{
    lang_symbol *before = d->name->symbol;
    if (d->init)
        ls__lang_report(c->context, d->init->pos, D_MISPLACED_SPECIFIER, "typedef");
    if (before && before->kind == SYM_TYPE && before->level == c->level &&
        ls__lang_type_equal(before->type, type))
        return; /* C11 allows to say it again */
    lang_symbol *symbol = ls__lang_declare(c, d->name, d->pos, SYM_TYPE, type);
    if (symbol)
        symbol->is_const = is_const;
    if (symbol && type->kind == TYPE_STRUCT && strcmp(type->name, "struct") == 0)
        type->name = ls__arena_printf(&c->context->arena, "%.*s",
                                      LS__STR_ARG(d->name->text)); /* was nameless */
}

void ls__lang_check_declaration(lang_checker *c, lang_declaration *d)
{
    if (d->kind == DECL_SPEC) {
        spec_constant(c, d);
        return;
    }
    if (d->kind == DECL_ASSERT) {
        assertion(c, d);
        return;
    }
    bool spec_const;
    lang_type *base = ls__lang_resolve_spec(c, d->spec, &spec_const);
    if (d->declarators.count == 0 && !(d->spec->kind == SPEC_STRUCT && d->spec->name) &&
        d->spec->kind != SPEC_ENUM)
        ls__lang_report(c->context, d->pos, D_NO_DECLARATION);
    for (uint32_t i = 0; i < d->declarators.count; i++) {
        lang_declarator *declarator = d->declarators.items[i];
        if (declarator->parts.count && declarator->parts.items[0].kind == PART_FUNCTION) {
            function(c, d, declarator, base, spec_const);
            continue;
        }
        bool is_const = spec_const;
        const lang_spec *spec = d->spec;
        lang_type *type = ls__lang_declarator_type(c, declarator, 0, base, &is_const, NULL);
        if (spec->is_kernel || spec->is_noinline || spec->is_unordered || spec->has_workgroup ||
            spec->is_inline) {
            lang_spec without = *spec;
            without.is_shared = without.is_static = without.is_typedef = false;
            ls__lang_no_specifiers(c, &without);
        }
        if (spec->is_typedef)
            type_name(c, declarator, type, is_const);
        else
            variable(c, d, declarator, type, is_const);
    }
}
