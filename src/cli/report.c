/* SPDX-License-Identifier: Apache-2.0 */
/* How errors look, and the parsers of small texts that several subcommands share. */
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/wait.h"

__attribute__((format(printf, 2, 0))) static void make_visible(ls__strbuf *out, const char *format,
                                                               va_list arguments)
{
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    if (length >= 0)
        ls__strbuf_visible(out, text, (size_t)length);
    else
        ls__strbuf_append(out, "(out of memory)", 15);
    free(text);
}

void ls__cli_print_line(FILE *stream, const char *format, ...)
{
    ls__strbuf line = {0};
    va_list arguments;
    va_start(arguments, format);
    make_visible(&line, format, arguments);
    va_end(arguments);
    fprintf(stream, "%s\n", line.text ? line.text : "");
    ls__strbuf_finish(&line);
}

void ls__cli_print_message(const char *who, const char *text)
{
    do {
        size_t length = strcspn(text, "\n");
        ls__cli_print_line(stdout, "%s%.*s", who, (int)length, text);
        text += length + (text[length] == '\n');
    } while (*text);
}

void ls__cli_usage_error(const struct argp_state *state, const char *format, ...)
{
    ls__strbuf line = {0};
    va_list arguments;
    va_start(arguments, format);
    make_visible(&line, format, arguments);
    va_end(arguments);
    argp_error(state, "%s", line.text ? line.text : ""); /* exits, except in a parser's test */
    ls__strbuf_finish(&line);
}

void ls__cli_print_error(const ls_error *error)
{
    bool shows_where = error->where[0] && !strstr(error->message, error->where);
    ls__cli_print_line(stderr, "lockstep: %s%s%s%s%s", error->message, shows_where ? ": " : "",
                       shows_where ? error->where : "", error->hint[0] ? "; " : "", error->hint);
}

int ls__cli_end(ls_status status, const ls_error *error)
{
    int signal = ls__cli_caught_signal();
    if (status != LS_OK && !(signal && status == LS_E_CANCELLED))
        ls__cli_print_error(error);
    return signal ? LS__EXIT_SIGNAL + signal : status == LS_OK ? LS__EXIT_OK : LS__EXIT_FAILED;
}

ls_status ls__cli_parse_integer(const char *text, uint64_t minimum, uint64_t maximum,
                                int64_t *value, ls_error *error)
{
    bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    const char *first = digits + (is_hex ? 2 : 0);
    char *end;
    *value = 0;
    errno = 0;
    unsigned long long magnitude = strtoull(first, &end, is_hex ? 16 : 10);
    /* strtoull takes blanks, signs and another "0x" in front, which are not ours. */
    bool starts_well = strchr("0123456789", *first) || (is_hex && strchr("abcdefABCDEF", *first));
    if (!*first || !starts_well || *end || (is_hex && (first[1] == 'x' || first[1] == 'X')))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is not an integer", text);
    if (errno == ERANGE || magnitude > (negative ? minimum : maximum))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s is out of range: %s%llu to %llu", text,
                        minimum ? "-" : "", (unsigned long long)minimum,
                        (unsigned long long)maximum);
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return LS_OK;
}

ls_status ls__cli_parse_threads(const char *text, uint32_t *threads, ls_error *error)
{
    int64_t value = 0;
    if (ls__cli_parse_integer(text, 0, LS__THREADS_MOST, &value, NULL) != LS_OK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--threads takes a number of at most %d, not '%s'", LS__THREADS_MOST, text);
    *threads = (uint32_t)value;
    return LS_OK;
}

ls_status ls__cli_parse_define(char *text, ls_define *define, ls_error *error)
{
    char *equals = strchr(text, '=');
    define->name = text;
    define->value = 1;
    if (equals == text || !*text)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "-D needs NAME=VALUE, not '%s'", text);
    if (!equals)
        return LS_OK;
    *equals = 0;
    const char *value = equals + 1;
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        define->value = value[0] == 't';
        return LS_OK;
    }
    ls_status status =
        ls__cli_parse_integer(value, (uint64_t)INT32_MAX + 1, UINT32_MAX, &define->value, error);
    if (status != LS_OK)
        ls__fail_where(error, status, "-D%s=%s", text, value);
    return status;
}

ls_op ls__cli_op_option(const struct argp_state *state, const char *text)
{
    static const char *const names[] = {
        [LS_OP_NONE] = "",
#define LS_OP(name, text, types, operands, result, flags, doc) [LS_OP_##name] = text,
#include "lockstep/ops.def"
#undef LS_OP
    };
    for (int op = 1; op < LS_OP_COUNT; op++)
        if (strcmp(names[op], text) == 0)
            return (ls_op)op;
    ls__cli_usage_error(state, "there is no operation '%s'", text);
    return LS_OP_NONE;
}

ls_status ls__cli_parse_tier(const char *text, ls_tier *tier, ls_error *error)
{
    if (strcmp(text, "quick") != 0 && strcmp(text, "optimized") != 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--tier takes quick or optimized, not '%s'",
                        text);
    *tier = strcmp(text, "quick") == 0 ? LS_TIER_QUICK : LS_TIER_OPTIMIZED;
    return LS_OK;
}
