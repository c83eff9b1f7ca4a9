/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of numbers, texts and lists, and texts % values, as Python has them. Integers have 64
 * bits; what would need more is refused, as are powers that are no integers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chat/render.h"
#include "chat/text.h"

static const char *const SIGNS[] = {
    [CHAT_ADD] = "+",
    [CHAT_SUBTRACT] = "-",
    [CHAT_MULTIPLY] = "*",
    [CHAT_DIVIDE] = "/",
    [CHAT_FLOOR_DIVIDE] = "//",
    [CHAT_MODULO] = "%",
    [CHAT_POWER] = "** or pow()",
};

_Noreturn static void fail_wide(chat_render *render)
{
    ls__chat_fail(render, LS_E_LIMIT, "an integer needs more than 64 bits");
}

static void check_divisor(chat_render *render, bool is_zero)
{
    if (is_zero)
        ls__chat_fail(render, LS_E_FORMAT, "division by zero");
}

/* Rounds towards minus infinity; the remainder has the sign of the divisor. */
static int64_t floor_divide(chat_render *render, int64_t a, int64_t b, int64_t *remainder)
{
    check_divisor(render, b == 0);
    if (b == -1) {
        int64_t negated;
        if (__builtin_sub_overflow((int64_t)0, a, &negated))
            fail_wide(render);
        *remainder = 0;
        return negated;
    }
    int64_t quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        *remainder += b;
        quotient--;
    }
    return quotient;
}

static int64_t power(chat_render *render, int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "powers with negative exponents are not supported");
    if (base == 0 || base == 1)
        return exponent == 0 ? 1 : base;
    if (base == -1)
        return exponent % 2 ? -1 : 1;
    while (exponent-- > 0) /* at most 63 times */
        if (__builtin_mul_overflow(result, base, &result))
            fail_wide(render);
    return result;
}

static chat_value integers(chat_render *render, chat_operator operation, int64_t a, int64_t b)
{
    const int64_t exact = (int64_t)1 << 53;
    int64_t result = 0, rest;
    bool is_wide = false;
    switch (operation) {
    case CHAT_ADD:
        is_wide = __builtin_add_overflow(a, b, &result);
        break;
    case CHAT_SUBTRACT:
        is_wide = __builtin_sub_overflow(a, b, &result);
        break;
    case CHAT_MULTIPLY:
        is_wide = __builtin_mul_overflow(a, b, &result);
        break;
    case CHAT_DIVIDE:
        check_divisor(render, b == 0);
        if (a < -exact || a > exact || b < -exact || b > exact)
            ls__chat_fail(render, LS_E_LIMIT, "integers beyond 2**53 are not divided with /");
        return ls__chat_float((double)a / (double)b);
    case CHAT_FLOOR_DIVIDE:
        result = floor_divide(render, a, b, &rest);
        break;
    case CHAT_MODULO:
        floor_divide(render, a, b, &result);
        break;
    default:
        result = power(render, a, b);
        break;
    }
    if (is_wide)
        fail_wide(render);
    return ls__chat_int(result);
}

/* Quotient and remainder as Python's float has them: the remainder is exact. */
static double float_divide(double a, double b, double *remainder)
{
    double rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        rest += b;
        quotient -= 1;
    } else if (rest == 0) {
        rest = __builtin_copysign(0.0, b);
    }
    *remainder = rest;
    if (quotient == 0)
        return __builtin_copysign(0.0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static chat_value floats(chat_render *render, chat_operator operation, double a, double b)
{
    double rest, quotient;
    switch (operation) {
    case CHAT_ADD:
        return ls__chat_float(a + b);
    case CHAT_SUBTRACT:
        return ls__chat_float(a - b);
    case CHAT_MULTIPLY:
        return ls__chat_float(a * b);
    case CHAT_DIVIDE:
        check_divisor(render, b == 0);
        return ls__chat_float(a / b);
    case CHAT_FLOOR_DIVIDE:
    case CHAT_MODULO:
        check_divisor(render, b == 0);
        quotient = float_divide(a, b, &rest);
        return ls__chat_float(operation == CHAT_MODULO ? rest : quotient);
    default:
        ls__chat_fail(render, LS_E_UNSUPPORTED, "powers of floats are not supported");
    }
}

/* --- texts and lists -------------------------------------------------------------------------- */

static chat_value join_texts(chat_render *render, const chat_string *a, const chat_string *b)
{
    chat_buffer buffer = {0};
    if (!a->is_markup && !b->is_markup)
        return ls__chat_extend(render, a, b);
    ls__chat_escape(render, &buffer, a);
    ls__chat_escape(render, &buffer, b);
    return ls__chat_markup(render, ls__chat_buffer_value(render, &buffer));
}

static chat_value join_lists(chat_render *render, chat_value a, chat_value b)
{
    chat_value list = ls__chat_list(render, a.kind, a.list->count + b.list->count);
    ls__chat_spend(render, list.list->capacity / 8);
    for (size_t i = 0; i < a.list->count; i++)
        list.list->items[list.list->count++] = a.list->items[i];
    for (size_t i = 0; i < b.list->count; i++)
        list.list->items[list.list->count++] = b.list->items[i];
    return list;
}

static chat_value repeat(chat_render *render, chat_value value, int64_t times)
{
    if (value.kind == CHAT_STRING) {
        chat_buffer buffer = {0};
        for (int64_t i = 0; i < times && value.string->bytes; i++) {
            ls__chat_spend(render, 1);
            ls__chat_append(render, &buffer, value.string->text, value.string->bytes);
        }
        return ls__chat_buffer_value(render, &buffer);
    }
    chat_value list = ls__chat_list(render, value.kind, 0);
    for (int64_t i = 0; i < times && value.list->count; i++)
        for (size_t k = 0; k < value.list->count; k++) {
            ls__chat_spend(render, 1);
            ls__chat_push(render, list.list, value.list->items[k]);
        }
    return list;
}

static bool is_sequence(chat_value value)
{
    return value.kind == CHAT_STRING || value.kind == CHAT_LIST || value.kind == CHAT_TUPLE;
}

chat_value ls__chat_binary(chat_render *render, chat_operator operation, chat_value a, chat_value b)
{
    int64_t x, y;
    bool a_int = ls__chat_to_int(a, &x), b_int = ls__chat_to_int(b, &y);
    if (a_int && b_int)
        return integers(render, operation, x, y);
    if (ls__chat_is_number(a) && ls__chat_is_number(b))
        return floats(render, operation, ls__chat_to_float(a), ls__chat_to_float(b));
    if (operation == CHAT_MODULO && a.kind == CHAT_STRING)
        return ls__chat_format_percent(render, a.string, b);
    if (a.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, a);
    if (b.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, b);
    if (operation == CHAT_ADD && a.kind == b.kind && a.kind == CHAT_STRING)
        return join_texts(render, a.string, b.string);
    if (operation == CHAT_ADD && a.kind == b.kind && is_sequence(a))
        return join_lists(render, a, b);
    if (operation == CHAT_MULTIPLY && is_sequence(a) && b_int)
        return repeat(render, a, y);
    if (operation == CHAT_MULTIPLY && is_sequence(b) && a_int)
        return repeat(render, b, x);
    if (operation == CHAT_ADD && is_sequence(a))
        ls__chat_fail(render, LS_E_FORMAT, "can only concatenate %s (not \"%s\") to %s",
                      ls__chat_type(a), ls__chat_type(b), ls__chat_type(a));
    ls__chat_fail(render, LS_E_FORMAT, "unsupported operand type(s) for %s: '%s' and '%s'",
                  SIGNS[operation], ls__chat_type(a), ls__chat_type(b));
}

chat_value ls__chat_sign(chat_render *render, chat_value value, bool is_minus)
{
    int64_t integer;
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (value.kind == CHAT_FLOAT)
        return ls__chat_float(is_minus ? -value.real : value.real);
    if (!ls__chat_to_int(value, &integer))
        ls__chat_fail(render, LS_E_FORMAT, "bad operand type for unary %c: '%s'",
                      is_minus ? '-' : '+', ls__chat_type(value));
    if (is_minus && __builtin_sub_overflow((int64_t)0, integer, &integer))
        fail_wide(render);
    return ls__chat_int(integer);
}

/* --- text % values ---------------------------------------------------------------------------- */

static void format_integer(chat_render *render, chat_buffer *buffer, char letter, chat_value value)
{
    char text[32];
    int64_t integer;
    if (value.kind == CHAT_FLOAT && (letter == 'd' || letter == 'i') && value.real < 0x1p63 &&
        value.real >= -0x1p63)
        integer = (int64_t)value.real;
    else if (!ls__chat_to_int(value, &integer))
        ls__chat_fail(render, LS_E_FORMAT, "%%%c format: a number is required, not %s", letter,
                      ls__chat_type(value));
    const char *sign = integer < 0 ? "-" : "";
    uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    if (letter == 'x')
        snprintf(text, sizeof text, "%s%" PRIx64, sign, size);
    else
        snprintf(text, sizeof text, "%s%" PRIu64, sign, size);
    ls__chat_append_text(render, buffer, text);
}

static void format_float(chat_render *render, chat_buffer *buffer, int digits, chat_value value)
{
    char text[400];
    if (!ls__chat_is_number(value))
        ls__chat_fail(render, LS_E_FORMAT, "must be real number, not %s", ls__chat_type(value));
    snprintf(text, sizeof text, "%.*f", digits, ls__chat_to_float(value));
    ls__chat_append_text(render, buffer, text);
}

/* What stands behind "%" at `at`: [.digits]letter. Answers where it ends. */
static size_t format_one(chat_render *render, chat_buffer *buffer, const chat_string *format,
                         size_t at, chat_value value)
{
    int digits = 6;
    size_t start = at;
    if (at + 1 < format->bytes && format->text[at] == '.' && format->text[at + 1] >= '0' &&
        format->text[at + 1] <= '9') {
        digits = format->text[at + 1] - '0';
        at += 2;
    }
    char letter = at < format->bytes ? format->text[at] : 0;
    if (letter == 'f')
        format_float(render, buffer, digits, value);
    else if (letter == 's' && at == start)
        ls__chat_print(render, buffer, value);
    else if (letter == 'r' && at == start)
        ls__chat_repr(render, buffer, value);
    else if (letter && strchr("diux", letter) && at == start)
        format_integer(render, buffer, letter, value);
    else
        ls__chat_fail(render, LS_E_UNSUPPORTED,
                      "of %%-formats, only %%s %%r %%d %%i %%u %%x and %%.Nf are supported");
    return at + 1;
}

chat_value ls__chat_format_percent(chat_render *render, const chat_string *format,
                                   chat_value values)
{
    chat_buffer buffer = {0};
    size_t used = 0, count = values.kind == CHAT_TUPLE ? values.list->count : 1;
    if (format->is_markup)
        ls__chat_fail(render, LS_E_UNSUPPORTED,
                      "%% on text made by safe or escape is not supported");
    for (size_t i = 0; i < format->bytes;) {
        const char *found = memchr(format->text + i, '%', format->bytes - i);
        size_t end = found ? (size_t)(found - format->text) : format->bytes;
        ls__chat_append(render, &buffer, format->text + i, end - i);
        i = end + 1;
        if (!found)
            break;
        if (i < format->bytes && format->text[i] == '%') {
            ls__chat_append(render, &buffer, "%", 1);
            i++;
            continue;
        }
        if (used == count)
            ls__chat_fail(render, LS_E_FORMAT, "not enough arguments for format string");
        chat_value value = values.kind == CHAT_TUPLE ? values.list->items[used] : values;
        used++;
        i = format_one(render, &buffer, format, i, value);
    }
    if (used < count && values.kind != CHAT_DICT && values.kind != CHAT_LIST)
        ls__chat_fail(render, LS_E_FORMAT, "not all arguments converted during string formatting");
    return ls__chat_buffer_value(render, &buffer);
}
