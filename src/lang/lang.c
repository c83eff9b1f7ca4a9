/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of the front end: runs the stages over one text, and owns what they use. All memory of
 * a compilation is in one arena, except texts of included files and the locale that numbers are
 * read with.
 */
#include <locale.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "lang/internal.h"

static void check_defines(lang_context *context)
{
    for (uint32_t i = 0; i < context->options->define_count; i++) {
        if (!(context->define_used[i / 64] >> (i % 64) & 1)) {
            lang_pos pos = {0};
            ls__lang_report(context, pos, D_SPEC_UNKNOWN, context->options->defines[i].name);
        }
    }
}

/* What the checks here do not know of; a fault of ours if it happens. */
static void verify(lang_context *context)
{
    ls_error error = {0};
    ls_status status = ls__ir_verify(context->module, &error);
    if (status == LS_OK)
        return;
    if (status == LS_E_OUT_OF_MEMORY) {
        context->oom.requested_bytes = 0;
        longjmp(context->oom.jump, 1);
    }
    ls__lang_report(context, (lang_pos){0}, D_IR_RULE, error.message);
    ls__lang_hint(context, "%s", error.where);
}

static void add_specs(lang_context *context)
{
    for (uint32_t i = 0; i < context->specs.count; i++)
        ls__ir_spec_add(context->module, &context->specs.items[i]);
}

static void run_stages(lang_context *context, const char *text, size_t length)
{
    const ls__lang_options *options = context->options;
    lang_unit *unit = &context->user;
    context->define_used = LS__NEW_ARRAY(&context->arena, uint64_t, options->define_count / 64 + 1);
    ls__lang_unit_init(unit, context, false);
    uint16_t file = ls__lang_file_add(
        context, (lang_pos){0}, options->path ? options->path : "<kernel>", text, length, NULL);
    ls__lang_preprocess(unit, file);
    lang_declarations declarations = ls__lang_parse(unit, 0);
    if (context->error_count > 0)
        return;
    ls__lang_check(unit, &declarations);
    check_defines(context);
    if (context->error_count > 0)
        return;
    context->module = ls__ir_module_create(&context->oom, LANG_MAX_ARENA_BYTES);
    add_specs(context);
    ls__lang_lower(context);
    if (context->error_count == 0)
        verify(context);
}

static ls_status run(lang_context *context, const char *text, size_t length, ls_error *error)
{
    if (setjmp(context->oom.jump)) {
        if (!context->stopped)
            return ls__oom_status(&context->oom, error);
    } else {
        run_stages(context, text, length);
    }
    return context->error_count > 0 ? LS_E_COMPILE : LS_OK;
}

/* The first error becomes the ls_error; the list has all. */
static ls_status fail(const ls__lang_diagnostics *diagnostics, uint32_t error_count,
                      ls_error *error)
{
    const ls__lang_diagnostic *first = diagnostics->items.items;
    while (first->is_warning)
        first++;
    ls__fail(error, LS_E_COMPILE, "%s: %s", first->id, first->message);
    if (first->line > 0)
        ls__fail_where(error, LS_E_COMPILE, "%s:%u:%u", first->path, first->line, first->column);
    else
        ls__fail_where(error, LS_E_COMPILE, "%s", first->path);
    if (error_count > 1 && !first->hint[0])
        return ls__fail_hint(error, LS_E_COMPILE, "%u errors in all", error_count);
    return ls__fail_hint(error, LS_E_COMPILE, "%s", first->hint);
}

ls_status ls__lang_compile(const char *text, size_t length, const ls__lang_options *options,
                           ls__ir_module **module, ls__lang_diagnostics *diagnostics,
                           ls_error *error)
{
    static const ls__lang_options no_options = {0};
    lang_context context = {.options = options ? options : &no_options, .diagnostics = diagnostics};
    ls__os_fenv saved;
    *module = NULL;
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale == (locale_t)0)
        return ls__fail_oom(error, 0);
    context.locale = locale;
    ls__os_fenv_enter(&saved);
    ls__arena_init(&context.arena, &context.oom, LANG_MAX_ARENA_BYTES);
    ls__arena_init(&diagnostics->arena, &context.oom, 0);

    ls_status status = run(&context, text, length, error);

    diagnostics->arena.oom = NULL;
    if (status == LS_E_COMPILE)
        fail(diagnostics, context.error_count, error);
    if (status == LS_OK) {
        context.module->arena.oom = NULL;
        *module = context.module;
    } else {
        ls__ir_module_destroy(&context.module);
    }
    for (uint32_t i = 0; i < context.files.count; i++)
        ls__mem_free(context.files.items[i].owned);
    ls__arena_finish(&context.arena);
    ls__os_fenv_leave(&saved);
    freelocale(locale);
    return status;
}
