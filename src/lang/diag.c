/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns diagnostics: the table, adding one with its source line, and printing them. Text goes to the
 * arena of the list, which outlives the compilation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/internal.h"

static const struct {
    uint16_t number;
    bool is_warning;
    const char *text, *hint;
} table[D_COUNT] = {
#define SEVERITY_E false
#define SEVERITY_W true
#define DIAG(number, name, severity, text, hint)                                                   \
    [D_##name] = {number, SEVERITY_##severity, text, hint},
#include "lang/diagnostics.def"
#undef DIAG
};

enum { LINE_BYTES = 200 }; /* of a source line shown; longer ones are cut around the span */

/* The line of `pos`, and the column at which the shown part starts (1 when all is shown). */
static const char *source_line(lang_context *context, lang_pos pos, uint32_t *shown_column)
{
    *shown_column = 1;
    if (pos.line == 0 || pos.file >= context->files.count)
        return "";
    const lang_file *file = &context->files.items[pos.file];
    const char *at = file->text, *end = file->text + file->length;
    for (uint32_t line = 1; line < pos.line; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return "";
        at = newline + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    if (length > 0 && at[length - 1] == '\r')
        length--;
    if (length > LINE_BYTES) {
        size_t column = pos.column - 1u;
        size_t start = column > LINE_BYTES / 2 ? column - LINE_BYTES / 2 : 0;
        if (start > length)
            start = length;
        at += start;
        length = length - start < LINE_BYTES ? length - start : LINE_BYTES;
        *shown_column = (uint32_t)start + 1;
    }
    char *copy = ls__arena_strdup(&context->diagnostics->arena, at, length);
    for (size_t i = 0; i < length;) { /* tabs, control characters, bytes that are not UTF-8 */
        size_t bytes = ls__str_visible(copy + i, length - i);
        if (bytes == 0)
            copy[i] = ' ';
        i += bytes ? bytes : 1;
    }
    return copy;
}

_Noreturn void ls__lang_stop(lang_context *context)
{
    context->stopped = true;
    longjmp(context->oom.jump, 1);
}

static void add(lang_context *context, lang_pos pos, lang_diag_id id, const char *message)
{
    ls__arena *arena = &context->diagnostics->arena;
    uint32_t shown_column = 1;
    const char *line = source_line(context, pos, &shown_column);
    uint32_t column = pos.column ? pos.column : 1;
    ls__lang_diagnostic diagnostic = {
        .id = ls__arena_printf(arena, "LS%04u", (unsigned)table[id].number),
        .path = pos.file < context->files.count
                    ? ls__arena_printf(arena, "%s", context->files.items[pos.file].path)
                    : "<kernel>",
        .line = pos.line,
        .column = column,
        .length = pos.length ? pos.length : 1,
        .is_warning = table[id].is_warning,
        .message = ls__arena_printf(arena, "%s", message),
        .source_line = line,
        .hint = table[id].hint,
        .shown_column = shown_column,
    };
    ls__vec_push(arena, &context->diagnostics->items, diagnostic);
    if (!diagnostic.is_warning && ++context->error_count >= LANG_MAX_ERRORS)
        ls__lang_stop(context);
}

void ls__lang_report_as(lang_context *context, lang_pos pos, lang_diag_id id, const char *format,
                        ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    add(context, pos, id, message);
}

void ls__lang_report_one(lang_context *context, lang_pos pos, lang_diag_id id, const char *argument)
{
    const char *text = table[id].text, *mark = strstr(text, "%s");
    int before = mark ? (int)(mark - text) : (int)strlen(text);
    ls__lang_report_as(context, pos, id, "%.*s%s%s", before, text, mark ? argument : "",
                       mark ? mark + 2 : "");
}

void ls__lang_hint(lang_context *context, const char *format, ...)
{
    char hint[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hint, sizeof hint, format, arguments);
    va_end(arguments);
    ls__lang_diagnostics *list = context->diagnostics;
    if (list->items.count > 0)
        list->items.items[list->items.count - 1].hint = ls__arena_printf(&list->arena, "%s", hint);
}

void ls__lang_diagnostics_finish(ls__lang_diagnostics *diagnostics)
{
    ls__arena_finish(&diagnostics->arena);
    *diagnostics = (ls__lang_diagnostics){0};
}

/* Appends `c` for each character among the bytes [from, to) of the line; beyond its end a byte
 * counts as one. */
static void draw(ls__strbuf *out, const char *line, size_t from, size_t to, char c)
{
    size_t length = strlen(line);
    for (size_t i = from; i < to; i++)
        if (i >= length || ((unsigned char)line[i] & 0xc0) != 0x80)
            ls__strbuf_append(out, &c, 1);
}

static void append_visible(ls__strbuf *out, const char *text)
{
    ls__strbuf_visible(out, text, strlen(text));
}

void ls__lang_diagnostics_print(const ls__lang_diagnostics *diagnostics, ls__strbuf *out)
{
    for (uint32_t i = 0; i < diagnostics->items.count; i++) {
        const ls__lang_diagnostic *d = &diagnostics->items.items[i];
        append_visible(out, d->path);
        if (d->line > 0)
            ls__strbuf_printf(out, ":%u:%u", d->line, d->column);
        ls__strbuf_printf(out, ": %s: %s: ", d->is_warning ? "warning" : "error", d->id);
        append_visible(out, d->message);
        ls__strbuf_append(out, "\n", 1);
        size_t shown = strlen(d->source_line);
        if (shown > 0) {
            size_t before = d->column - d->shown_column, end = before + d->length;
            ls__strbuf_printf(out, "    %s\n    ", d->source_line);
            draw(out, d->source_line, 0, before, ' ');
            ls__strbuf_append(out, "^", 1);
            draw(out, d->source_line, before + 1, end < shown ? end : shown, '~');
            ls__strbuf_append(out, "\n", 1);
        }
        if (d->hint[0]) {
            ls__strbuf_printf(out, "    hint: ");
            append_visible(out, d->hint);
            ls__strbuf_append(out, "\n", 1);
        }
    }
}
