/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The math library as seen by the compiler: Kernel C sources that come with the options, loaded
 * when a program first calls one of their functions, into the library's own unit. Each source is
 * parsed once.
 */
#include <string.h>

#include "lang/internal.h"

bool ls__lang_library_source(const lang_context *context, const char *name, size_t length,
                             const char **text, size_t *size)
{
    const ls__lang_library *library = context->options->library;
    for (uint32_t i = 0; library && i < library->count; i++) {
        const ls__source_text *source = &library->sources[i];
        if (strlen(source->name) == length && memcmp(source->name, name, length) == 0) {
            *text = source->text;
            *size = source->length;
            return true;
        }
    }
    return false;
}

/* The loaded function ls_NAME, or NULL. */
static lang_function *find(lang_context *context, const char *name)
{
    const char *symbol_name = ls__arena_printf(&context->arena, "ls_%s", name);
    const lang_symbol *symbol =
        ls__lang_intern(&context->library, ls__str_from(symbol_name))->symbol;
    return symbol && symbol->kind == SYM_FUNCTION && symbol->function->is_defined ? symbol->function
                                                                                  : NULL;
}

lang_function *ls__lang_library_function(lang_context *context, lang_pos pos, const char *name)
{
    lang_unit *unit = &context->library;
    if (!unit->context)
        ls__lang_unit_init(unit, context, true);
    lang_function *function = find(context, name);
    if (function)
        return function;
    const char *file_name = ls__arena_printf(&context->arena, "%s.kc", name), *text = NULL;
    size_t length = 0;
    if (!ls__lang_library_source(context, file_name, strlen(file_name), &text, &length)) {
        ls__lang_report(context, pos, D_NO_LIBRARY, name);
        return NULL;
    }
    const char *path = ls__arena_printf(&context->arena, "<math>/%s", file_name);
    uint16_t file = ls__lang_file_add(context, pos, path, text, length, NULL);
    uint32_t first = unit->tokens.count, errors = context->error_count;
    ls__lang_preprocess(unit, file);
    lang_declarations declarations = ls__lang_parse(unit, first);
    if (context->error_count == errors)
        ls__lang_check(unit, &declarations);
    function = find(context, name);
    if (!function && context->error_count == errors)
        ls__lang_report(context, pos, D_NO_LIBRARY, name);
    return function;
}
