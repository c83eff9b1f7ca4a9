/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of single values: texts, numbers, JSON. Those of lists are in filters_list.c. Arguments
 * stand in the order of the parameters in the table at the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/render.h"
#include "chat/text.h"

#define FILTER(name_)                                                                              \
    static chat_value name_(chat_render *render, chat_value value, chat_arguments *arguments)

/* --- texts ------------------------------------------------------------------------------------ */

/* What a filter gives that leaves markup markup. */
static chat_value like(chat_render *render, const chat_string *string, chat_value text)
{
    return string->is_markup ? ls__chat_markup(render, text) : text;
}

FILTER(filter_trim)
{
    chat_value set = arguments->items[0];
    const chat_string *string = ls__chat_str(render, value);
    bool is_given = set.kind != CHAT_MISSING && set.kind != CHAT_NONE;
    return like(render, string,
                ls__chat_strip(render, string,
                               is_given ? ls__chat_want_text(render, set, "what is trimmed") : NULL,
                               true, true));
}

FILTER(filter_upper)
{
    (void)arguments;
    const chat_string *string = ls__chat_str(render, value);
    return like(render, string, ls__chat_change_case(render, string, CHAT_TO_UPPER));
}

FILTER(filter_lower)
{
    (void)arguments;
    const chat_string *string = ls__chat_str(render, value);
    return like(render, string, ls__chat_change_case(render, string, CHAT_TO_LOWER));
}

FILTER(filter_capitalize)
{
    (void)arguments;
    const chat_string *string = ls__chat_str(render, value);
    return like(render, string, ls__chat_capitalize(render, string));
}

static bool begins_word(uint32_t code)
{
    return (code < 0x80 && code != 0 && strchr("-({[<", (int)code)) ||
           ls__chat_has(code, CHAT_IS_SPACE);
}

/* Words as the filter sees them: a letter behind anything but - ( { [ < and space is small. */
FILTER(filter_title)
{
    (void)arguments;
    const chat_string *string = ls__chat_str(render, value);
    chat_buffer buffer = {0};
    for (size_t start = 0, length; start < string->bytes;) {
        uint32_t code = ls__chat_utf8_decode(string->text + start, &length);
        chat_value first = ls__chat_text_of(render, string->text + start, length);
        first = ls__chat_change_case(render, first.string, CHAT_TO_UPPER);
        ls__chat_print(render, &buffer, first);
        size_t end = start += length;
        if (begins_word(code))
            continue;
        while (end < string->bytes) {
            code = ls__chat_utf8_decode(string->text + end, &length);
            if (begins_word(code))
                break;
            end += length;
        }
        chat_value rest = ls__chat_text_of(render, string->text + start, end - start);
        ls__chat_print(render, &buffer, ls__chat_change_case(render, rest.string, CHAT_TO_LOWER));
        start = end;
    }
    return ls__chat_buffer_value(render, &buffer);
}

FILTER(filter_replace)
{
    chat_value count = arguments->items[2];
    int64_t limit = count.kind == CHAT_NONE
                        ? -1
                        : ls__chat_want_int(render, count, -1, "the number of replacements");
    return ls__chat_replace(render, ls__chat_str(render, value),
                            ls__chat_str(render, arguments->items[0]),
                            ls__chat_str(render, arguments->items[1]), limit);
}

FILTER(filter_string)
{
    (void)arguments;
    return (chat_value){.kind = CHAT_STRING, .string = ls__chat_str(render, value)};
}

FILTER(filter_safe)
{
    return ls__chat_markup(render, filter_string(render, value, arguments));
}

FILTER(filter_escape)
{
    (void)arguments;
    chat_buffer buffer = {0};
    ls__chat_escape(render, &buffer, ls__chat_str(render, value));
    return ls__chat_markup(render, ls__chat_buffer_value(render, &buffer));
}

FILTER(filter_indent)
{
    chat_value width = arguments->items[0];
    bool with_first = ls__chat_want_bool(arguments->items[1], false);
    bool with_blank = ls__chat_want_bool(arguments->items[2], false);
    const chat_string *string = ls__chat_want_text(render, value, "what is indented");
    chat_buffer with_end = {0}, buffer = {0}, spaces = {0};
    if (width.kind == CHAT_STRING)
        ls__chat_print(render, &spaces, width);
    else
        for (int64_t i = ls__chat_want_int(render, width, 4, "the width"); i > 0; i--)
            ls__chat_append(render, &spaces, " ", 1);
    ls__chat_append(render, &with_end, string->text, string->bytes);
    ls__chat_append(render, &with_end, "\n", 1);
    chat_value whole = ls__chat_buffer_value(render, &with_end);
    const chat_list *lines = ls__chat_split_lines(render, whole.string, false).list;
    for (size_t i = 0; i < lines->count; i++) {
        bool is_blank = lines->items[i].string->bytes == 0;
        if (i > 0)
            ls__chat_append(render, &buffer, "\n", 1);
        if (i == 0 ? with_first : with_blank || !is_blank)
            ls__chat_append(render, &buffer, spaces.text, spaces.length);
        ls__chat_print(render, &buffer, lines->items[i]);
    }
    return ls__chat_buffer_value(render, &buffer);
}

FILTER(filter_format)
{
    if (arguments->keyword_count)
        ls__chat_fail(render, LS_E_UNSUPPORTED,
                      "the filter 'format' with named arguments is not supported");
    chat_value tuple = ls__chat_list(render, CHAT_TUPLE, arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        ls__chat_push(render, tuple.list, arguments->items[i]);
    return ls__chat_format_percent(render, ls__chat_str(render, value), tuple);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* Neither of Jinja2 nor of transformers, but some templates wish for it: json.loads. */
FILTER(filter_from_json)
{
    (void)arguments;
    return ls__chat_parse_json(render, ls__chat_want_text(render, value, "what from_json reads"));
}

/* As the package transformers defines it, not as Jinja2 does: nothing is escaped for HTML. */
FILTER(filter_tojson)
{
    chat_value indent = arguments->items[1], separators = arguments->items[2];
    chat_json_style style = {
        .ascii_only = ls__chat_want_bool(arguments->items[0], false),
        .sort_keys = ls__chat_want_bool(arguments->items[3], false),
    };
    chat_buffer buffer = {0}, spaces = {0};
    if (indent.kind == CHAT_STRING) {
        style.indent = indent.string;
    } else if (indent.kind != CHAT_MISSING && indent.kind != CHAT_NONE) {
        for (int64_t i = ls__chat_want_int(render, indent, 0, "indent"); i > 0; i--)
            ls__chat_append(render, &spaces, " ", 1);
        style.indent = ls__chat_buffer_value(render, &spaces).string;
    }
    if (separators.kind != CHAT_MISSING && separators.kind != CHAT_NONE) {
        const chat_list *pair = ls__chat_to_list(render, separators);
        if (pair->count != 2)
            ls__chat_fail(render, LS_E_FORMAT, "separators must be two texts");
        style.item_separator = ls__chat_want_text(render, pair->items[0], "a separator");
        style.key_separator = ls__chat_want_text(render, pair->items[1], "a separator");
    }
    ls__chat_to_json(render, &buffer, value, &style);
    return ls__chat_buffer_value(render, &buffer);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static chat_value truncate_float(chat_render *render, double real)
{
    if (!(real >= -0x1p63 && real < 0x1p63))
        ls__chat_fail(render, __builtin_isinf(real) ? LS_E_FORMAT : LS_E_LIMIT,
                      "an integer needs more than 64 bits");
    return ls__chat_int((int64_t)real);
}

FILTER(filter_int)
{
    chat_value otherwise = arguments->items[0];
    int64_t integer, base = ls__chat_want_int(render, arguments->items[1], 10, "the base");
    double real;
    if (otherwise.kind == CHAT_MISSING)
        otherwise = ls__chat_int(0);
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (ls__chat_to_int(value, &integer))
        return ls__chat_int(integer);
    if (value.kind == CHAT_FLOAT)
        return value.real != value.real ? otherwise : truncate_float(render, value.real);
    if (value.kind != CHAT_STRING)
        return otherwise;
    if (ls__chat_read_int(render, value.string, base, &integer))
        return ls__chat_int(integer);
    if (!ls__chat_read_float(render, value.string, &real) || real != real || __builtin_isinf(real))
        return otherwise;
    return truncate_float(render, real);
}

FILTER(filter_float)
{
    chat_value otherwise = arguments->items[0];
    double real;
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (ls__chat_is_number(value))
        return ls__chat_float(ls__chat_to_float(value));
    if (value.kind == CHAT_STRING && ls__chat_read_float(render, value.string, &real))
        return ls__chat_float(real);
    return otherwise.kind == CHAT_MISSING ? ls__chat_float(0) : otherwise;
}

FILTER(filter_abs)
{
    (void)arguments;
    int64_t integer;
    if (value.kind == CHAT_FLOAT)
        return ls__chat_float(__builtin_fabs(value.real));
    if (!ls__chat_to_int(value, &integer))
        ls__chat_fail(render, LS_E_FORMAT, "bad operand type for abs(): '%s'",
                      ls__chat_type(value));
    return integer < 0 ? ls__chat_sign(render, value, true) : ls__chat_int(integer);
}

/* To `precision` decimals, ties to even, by the exact decimal value: as Python's round(). */
static double round_decimals(double value, int64_t precision)
{
    char text[400];
    snprintf(text, sizeof text, "%.*f", (int)precision, value);
    return strtod(text, NULL);
}

FILTER(filter_round)
{
    int64_t integer, precision = ls__chat_want_int(render, arguments->items[0], 0, "the precision");
    chat_value method = arguments->items[1];
    bool is_ceil = ls__chat_is_text(method, "ceil"), is_floor = ls__chat_is_text(method, "floor");
    if (method.kind != CHAT_MISSING && !is_ceil && !is_floor && !ls__chat_is_text(method, "common"))
        ls__chat_fail(render, LS_E_FORMAT, "method must be common, ceil or floor");
    if (precision < 0 || precision > 15)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "a precision below 0 or above 15 is not supported");
    if (!ls__chat_is_number(value))
        ls__chat_fail(render, LS_E_FORMAT, "type %s doesn't define __round__ method",
                      ls__chat_type(value));
    if (is_ceil || is_floor) {
        double scale = 1;
        for (int64_t i = 0; i < precision; i++)
            scale *= 10;
        double scaled = ls__chat_to_float(value) * scale;
        return ls__chat_float((is_ceil ? ceil(scaled) : floor(scaled)) / scale);
    }
    if (ls__chat_to_int(value, &integer))
        return ls__chat_int(integer);
    if (value.real != value.real || __builtin_isinf(value.real))
        return value;
    return ls__chat_float(round_decimals(value.real, precision));
}

/* --- any value -------------------------------------------------------------------------------- */

FILTER(filter_default)
{
    (void)render;
    chat_value otherwise = arguments->items[0];
    bool is_bool = ls__chat_want_bool(arguments->items[1], false);
    if (value.kind != CHAT_UNDEFINED && !(is_bool && !ls__chat_truth(value)))
        return value;
    return otherwise.kind == CHAT_MISSING ? ls__chat_text_of(render, "", 0) : otherwise;
}

FILTER(filter_length)
{
    (void)arguments;
    size_t length;
    if (!ls__chat_has_length(value, &length))
        ls__chat_fail(render, LS_E_FORMAT, "object of type '%s' has no len()",
                      ls__chat_type(value));
    return ls__chat_size(render, length);
}

const chat_callable ls__chat_filters[] = {
    {"trim", filter_trim, {"chars"}, 0},
    {"upper", filter_upper, {NULL}, 0},
    {"lower", filter_lower, {NULL}, 0},
    {"capitalize", filter_capitalize, {NULL}, 0},
    {"title", filter_title, {NULL}, 0},
    {"replace", filter_replace, {"old", "new", "count"}, 2},
    {"string", filter_string, {NULL}, 0},
    {"safe", filter_safe, {NULL}, 0},
    {"escape", filter_escape, {NULL}, 0},
    {"e", filter_escape, {NULL}, 0},
    {"indent", filter_indent, {"width", "first", "blank"}, 0},
    {"format", filter_format, {"*"}, 0},
    {"tojson", filter_tojson, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0},
    {"from_json", filter_from_json, {NULL}, 0},
    {"int", filter_int, {"default", "base"}, 0},
    {"float", filter_float, {"default"}, 0},
    {"abs", filter_abs, {NULL}, 0},
    {"round", filter_round, {"precision", "method"}, 0},
    {"default", filter_default, {"default_value", "boolean"}, 0},
    {"d", filter_default, {"default_value", "boolean"}, 0},
    {"length", filter_length, {NULL}, 0},
    {"count", filter_length, {NULL}, 0},
    {"attr", NULL, {NULL}, 0},
    {"center", NULL, {NULL}, 0},
    {"filesizeformat", NULL, {NULL}, 0},
    {"forceescape", NULL, {NULL}, 0},
    {"groupby", NULL, {NULL}, 0},
    {"pprint", NULL, {NULL}, 0},
    {"random", NULL, {NULL}, 0},
    {"slice", NULL, {NULL}, 0},
    {"striptags", NULL, {NULL}, 0},
    {"truncate", NULL, {NULL}, 0},
    {"urlencode", NULL, {NULL}, 0},
    {"urlize", NULL, {NULL}, 0},
    {"wordcount", NULL, {NULL}, 0},
    {"wordwrap", NULL, {NULL}, 0},
    {"xmlattr", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};
