/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as text: Python's str() and repr(), and the growing of texts. The C library prints the
 * digits of floats; chat.c sees to the locale and the rounding mode.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/render.h"
#include "chat/unicode.h"

/* --- buffers ---------------------------------------------------------------------------------- */

void ls__chat_append(chat_render *render, chat_buffer *buffer, const char *text, size_t bytes)
{
    ls__chat_spend_bytes(render, bytes);
    if (bytes > buffer->capacity - buffer->length) {
        size_t capacity = buffer->capacity ? buffer->capacity : 64;
        while (capacity - buffer->length < bytes) {
            if (capacity > CHAT_MEMORY_MAX)
                ls__chat_fail(render, LS_E_LIMIT, "a text became longer than %d MiB",
                              CHAT_MEMORY_MAX >> 20);
            capacity *= 2;
        }
        char *moved = ls__arena_alloc(&render->arena, capacity, 1);
        if (buffer->length)
            memcpy(moved, buffer->text, buffer->length);
        ls__chat_spend_bytes(render, buffer->length);
        buffer->text = moved;
        buffer->capacity = capacity;
    }
    if (bytes)
        memcpy(buffer->text + buffer->length, text, bytes);
    buffer->length += bytes;
    if (buffer == &render->output && buffer->length > render->output_bytes_max)
        ls__chat_fail(render, LS_E_LIMIT, "the text is longer than %" PRIu64 " bytes",
                      render->output_bytes_max);
}

void ls__chat_append_text(chat_render *render, chat_buffer *buffer, const char *zero_terminated)
{
    ls__chat_append(render, buffer, zero_terminated, strlen(zero_terminated));
}

chat_value ls__chat_buffer_value(chat_render *render, const chat_buffer *buffer)
{
    return ls__chat_text_of(render, buffer->text ? buffer->text : "", buffer->length);
}

/* --- floats ----------------------------------------------------------------------------------- */

/* Adds one to the last digit of "d.ddde+XX"; false when all were 9. */
static bool next_decimal(char *text)
{
    char *at = strchr(text, 'e');
    while (at-- > text) {
        if (*at == '.')
            continue;
        if (*at != '9') {
            ++*at;
            return true;
        }
        *at = '0';
    }
    return false;
}

/* Fewest digits that read back, as "d.ddde+XX" cut into digits and exponent. For a power of two the
 * nearest decimal of that length may be too low, and the next one good: what reads back reaches
 * twice as far up as down. */
static int shortest(double value, char digits[24])
{
    char text[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value || (next_decimal(text) && strtod(text, NULL) == value))
            break;
    }
    size_t count = 0;
    const char *at = text;
    for (; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    digits[count] = 0;
    return *at ? atoi(at + 1) : 0;
}

enum { FLOAT_BYTES = 32 };

/* Python's repr of a float: the fewest digits that read back. Zero-terminated. */
static void float_text(double value, char out[FLOAT_BYTES])
{
    char digits[24];
    if (value != value) {
        snprintf(out, FLOAT_BYTES, "nan");
        return;
    }
    const char *sign = __builtin_signbit(value) ? "-" : "";
    if (__builtin_isinf(value)) {
        snprintf(out, FLOAT_BYTES, "%sinf", sign);
        return;
    }
    int exponent = shortest(value < 0 ? -value : value, digits);
    int count = (int)strlen(digits);
    if (exponent < -4 || exponent >= 16)
        snprintf(out, FLOAT_BYTES, "%s%c%s%se%+03d", sign, digits[0], count > 1 ? "." : "",
                 digits + 1, exponent);
    else if (exponent < 0)
        snprintf(out, FLOAT_BYTES, "%s0.%.*s%s", sign, -exponent - 1, "000", digits);
    else if (count <= exponent + 1)
        snprintf(out, FLOAT_BYTES, "%s%s%.*s.0", sign, digits, exponent + 1 - count,
                 "0000000000000000");
    else
        snprintf(out, FLOAT_BYTES, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
}

/* --- str and repr ----------------------------------------------------------------------------- */

/* In single quotes, unless there are such in the text and no double ones. */
static void repr_text(chat_render *render, chat_buffer *buffer, const chat_string *string)
{
    bool has_single = string->bytes && memchr(string->text, '\'', string->bytes);
    bool has_double = string->bytes && memchr(string->text, '"', string->bytes);
    char quote = has_single && !has_double ? '"' : '\'';
    ls__chat_append(render, buffer, &quote, 1);
    for (size_t i = 0, length; i < string->bytes; i += length) {
        const char *at = string->text + i;
        uint32_t code = ls__chat_utf8_decode(at, &length);
        char escape[16];
        if (code == (unsigned char)quote || code == '\\')
            snprintf(escape, sizeof escape, "\\%c", (char)code);
        else if (code == '\n' || code == '\r' || code == '\t')
            snprintf(escape, sizeof escape, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
        else if (ls__chat_has(code, CHAT_IS_PRINTABLE)) {
            ls__chat_append(render, buffer, at, length);
            continue;
        } else
            snprintf(escape, sizeof escape,
                     code < 0x100     ? "\\x%02x"
                     : code < 0x10000 ? "\\u%04x"
                                      : "\\U%08x",
                     code);
        ls__chat_append_text(render, buffer, escape);
    }
    ls__chat_append(render, buffer, &quote, 1);
}

static void repr_deep(chat_render *render, chat_buffer *buffer, chat_value value, unsigned depth);

static void repr_items(chat_render *render, chat_buffer *buffer, const chat_list *list,
                       unsigned depth)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            ls__chat_append(render, buffer, ", ", 2);
        repr_deep(render, buffer, list->items[i], depth + 1);
    }
}

static void repr_pairs(chat_render *render, chat_buffer *buffer, const chat_dict *dict,
                       unsigned depth)
{
    ls__chat_append(render, buffer, "{", 1);
    for (size_t i = 0; i < dict->count; i++) {
        if (i > 0)
            ls__chat_append(render, buffer, ", ", 2);
        repr_deep(render, buffer, dict->items[i].key, depth + 1);
        ls__chat_append(render, buffer, ": ", 2);
        repr_deep(render, buffer, dict->items[i].value, depth + 1);
    }
    ls__chat_append(render, buffer, "}", 1);
}

static void repr_view(chat_render *render, chat_buffer *buffer, const chat_view *view,
                      unsigned depth)
{
    static const char *const OPENING[] = {"dict_keys([", "dict_values([", "dict_items(["};
    ls__chat_append_text(render, buffer, OPENING[view->kind]);
    for (size_t i = 0; i < view->dict->count; i++) {
        const chat_pair *pair = &view->dict->items[i];
        if (i > 0)
            ls__chat_append(render, buffer, ", ", 2);
        if (view->kind == CHAT_ITEMS)
            ls__chat_append(render, buffer, "(", 1);
        if (view->kind != CHAT_VALUES)
            repr_deep(render, buffer, pair->key, depth + 1);
        if (view->kind == CHAT_ITEMS)
            ls__chat_append(render, buffer, ", ", 2);
        if (view->kind != CHAT_KEYS)
            repr_deep(render, buffer, pair->value, depth + 1);
        if (view->kind == CHAT_ITEMS)
            ls__chat_append(render, buffer, ")", 1);
    }
    ls__chat_append(render, buffer, "])", 2);
}

static void repr_number(chat_render *render, chat_buffer *buffer, chat_value value)
{
    char text[FLOAT_BYTES];
    if (value.kind == CHAT_FLOAT)
        float_text(value.real, text);
    else
        snprintf(text, sizeof text, "%" PRId64, value.integer);
    ls__chat_append_text(render, buffer, text);
}

static void repr_range(chat_render *render, chat_buffer *buffer, const chat_range *range)
{
    char text[80];
    snprintf(text, sizeof text, "range(%" PRId64 ", %" PRId64, range->start, range->stop);
    ls__chat_append_text(render, buffer, text);
    if (range->step != 1) {
        snprintf(text, sizeof text, ", %" PRId64, range->step);
        ls__chat_append_text(render, buffer, text);
    }
    ls__chat_append(render, buffer, ")", 1);
}

static void repr_deep(chat_render *render, chat_buffer *buffer, chat_value value, unsigned depth)
{
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "a value is nested too deep to be printed");
    switch (value.kind) {
    case CHAT_MISSING:
    case CHAT_UNDEFINED:
        ls__chat_append_text(render, buffer, "Undefined");
        break;
    case CHAT_NONE:
        ls__chat_append_text(render, buffer, "None");
        break;
    case CHAT_BOOL:
        ls__chat_append_text(render, buffer, value.boolean ? "True" : "False");
        break;
    case CHAT_INT:
    case CHAT_FLOAT:
        repr_number(render, buffer, value);
        break;
    case CHAT_STRING:
        if (value.string->is_markup)
            ls__chat_append_text(render, buffer, "Markup(");
        repr_text(render, buffer, value.string);
        if (value.string->is_markup)
            ls__chat_append(render, buffer, ")", 1);
        break;
    case CHAT_LIST:
        ls__chat_append(render, buffer, "[", 1);
        repr_items(render, buffer, value.list, depth);
        ls__chat_append(render, buffer, "]", 1);
        break;
    case CHAT_TUPLE:
        ls__chat_append(render, buffer, "(", 1);
        repr_items(render, buffer, value.list, depth);
        ls__chat_append_text(render, buffer, value.list->count == 1 ? ",)" : ")");
        break;
    case CHAT_DICT:
        repr_pairs(render, buffer, value.dict, depth);
        break;
    case CHAT_NAMESPACE:
        ls__chat_append_text(render, buffer, "<Namespace ");
        repr_pairs(render, buffer, value.dict, depth);
        ls__chat_append(render, buffer, ">", 1);
        break;
    case CHAT_RANGE:
        repr_range(render, buffer, value.range);
        break;
    case CHAT_VIEW:
        repr_view(render, buffer, value.view, depth);
        break;
    default:
        ls__chat_fail(render, LS_E_UNSUPPORTED, "printing a '%s' object is not supported",
                      ls__chat_type(value));
    }
}

void ls__chat_repr(chat_render *render, chat_buffer *buffer, chat_value value)
{
    repr_deep(render, buffer, value, 0);
}

void ls__chat_print(chat_render *render, chat_buffer *buffer, chat_value value)
{
    if (value.kind == CHAT_STRING)
        ls__chat_append(render, buffer, value.string->text, value.string->bytes);
    else if (value.kind != CHAT_UNDEFINED)
        repr_deep(render, buffer, value, 0);
}

const chat_string *ls__chat_str(chat_render *render, chat_value value)
{
    if (value.kind == CHAT_STRING)
        return value.string;
    chat_buffer buffer = {0};
    ls__chat_print(render, &buffer, value);
    return ls__chat_buffer_value(render, &buffer).string;
}
