/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that every template finds: those of Jinja2, and two of the package transformers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chat/render.h"

#define FUNCTION(name_)                                                                            \
    static chat_value name_(chat_render *render, chat_value self, chat_arguments *arguments)

FUNCTION(make_range)
{
    (void)self;
    int64_t limit = INT32_MAX, start = 0, stop, step;
    chat_value a = arguments->items[0], b = arguments->items[1];
    stop = ls__chat_want_int(render, a, 0, "an argument of range()");
    if (b.kind != CHAT_MISSING) {
        start = stop;
        stop = ls__chat_want_int(render, b, 0, "an argument of range()");
    }
    step = ls__chat_want_int(render, arguments->items[2], 1, "an argument of range()");
    if (step == 0)
        ls__chat_fail(render, LS_E_FORMAT, "range() arg 3 must not be zero");
    if (start < -limit || start > limit || stop < -limit || stop > limit || step < -limit ||
        step > limit)
        ls__chat_fail(render, LS_E_LIMIT, "the arguments of range() are limited to 31 bits");
    int64_t span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    int64_t count = span > 0 ? (span - 1) / stride + 1 : 0;
    if (count > CHAT_RANGE_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "a range has at most %d items", CHAT_RANGE_MAX);
    chat_range *range = LS__NEW(&render->arena, chat_range);
    *range = (chat_range){.start = start, .step = step, .stop = stop, .count = (size_t)count};
    return (chat_value){.kind = CHAT_RANGE, .range = range};
}

static void put_pair(chat_render *render, chat_dict *dict, chat_value pair)
{
    const chat_list *items = ls__chat_to_list(render, pair);
    if (items->count != 2)
        ls__chat_fail(render, LS_E_FORMAT, "dict() needs pairs, not %zu items", items->count);
    ls__chat_put(render, dict, items->items[0], items->items[1]);
}

/* dict(mapping or pairs, name=value, ...) */
FUNCTION(make_dict)
{
    (void)self;
    chat_value dict = ls__chat_dict(render, 0), item;
    if (arguments->count > 1)
        ls__chat_fail(render, LS_E_FORMAT, "dict expected at most 1 argument, got %zu",
                      arguments->count);
    if (arguments->count == 1 && arguments->items[0].kind == CHAT_DICT) {
        const chat_dict *other = arguments->items[0].dict;
        for (size_t i = 0; i < other->count; i++)
            ls__chat_put(render, dict.dict, other->items[i].key, other->items[i].value);
    } else if (arguments->count == 1) {
        chat_iterator iterator = ls__chat_iterate(render, arguments->items[0]);
        while (ls__chat_next(render, &iterator, &item))
            put_pair(render, dict.dict, item);
    }
    for (size_t i = 0; i < arguments->keyword_count; i++)
        ls__chat_put(render, dict.dict,
                     (chat_value){.kind = CHAT_STRING, .string = arguments->keywords[i].name},
                     arguments->keywords[i].value);
    return dict;
}

FUNCTION(make_namespace)
{
    chat_value dict = make_dict(render, self, arguments);
    dict.kind = CHAT_NAMESPACE;
    return dict;
}

/* The message is the template's, and nothing is added to it. */
FUNCTION(raise_exception)
{
    (void)self;
    const chat_string *words = ls__chat_str(render, arguments->items[0]);
    ls__chat_fail(render, LS_E_FAILED, "%.*s", (int)(words->bytes < 512 ? words->bytes : 512),
                  words->text);
}

/* --- dates ------------------------------------------------------------------------------------ */

typedef struct date {
    int64_t year;
    unsigned month, day;           /* from 1 */
    unsigned hour, minute, second; /* UTC */
    unsigned weekday, day_of_year; /* from 0: Sunday, 1 January */
} date;

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static date date_of(int64_t seconds)
{
    static const unsigned LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = seconds / 86400, rest = seconds % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    date d = {.year = 1970,
              .month = 1,
              .hour = (unsigned)(rest / 3600),
              .minute = (unsigned)(rest / 60 % 60),
              .second = (unsigned)(rest % 60),
              .weekday = (unsigned)(((days + 4) % 7 + 7) % 7)};
    while (days < 0)
        days += is_leap(--d.year) ? 366 : 365;
    while (days >= (is_leap(d.year) ? 366 : 365))
        days -= is_leap(d.year++) ? 366 : 365;
    d.day_of_year = (unsigned)days;
    for (unsigned left = (unsigned)days;; d.month++) {
        unsigned length = LENGTHS[d.month - 1] + (d.month == 2 && is_leap(d.year));
        d.day = left + 1;
        if (left < length)
            return d;
        left -= length;
    }
}

static const char *const DAYS[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
static const char *const MONTHS[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

/* A number of at least `width` digits, filled with `fill`; with fill 0, not filled. */
static void number(char out[32], int64_t value, int width, char fill)
{
    if (fill == '0')
        snprintf(out, 32, "%0*" PRId64, width, value);
    else
        snprintf(out, 32, "%*" PRId64, fill ? width : 0, value);
}

/* One letter behind "%", in English whatever the locale. False: not supported. */
static bool format_letter(char out[32], const date *d, char letter, bool unpadded)
{
    char zero = unpadded ? 0 : '0';
    unsigned hour12 = d->hour % 12 ? d->hour % 12 : 12;
    switch (letter) {
    case 'Y':
        number(out, d->year, 0, 0);
        return true;
    case 'y':
        number(out, d->year % 100, 2, zero);
        return true;
    case 'm':
        number(out, d->month, 2, zero);
        return true;
    case 'd':
        number(out, d->day, 2, zero);
        return true;
    case 'e':
        number(out, d->day, 2, unpadded ? 0 : ' ');
        return true;
    case 'H':
        number(out, d->hour, 2, zero);
        return true;
    case 'I':
        number(out, hour12, 2, zero);
        return true;
    case 'M':
        number(out, d->minute, 2, zero);
        return true;
    case 'S':
        number(out, d->second, 2, zero);
        return true;
    case 'j':
        number(out, d->day_of_year + 1, 3, zero);
        return true;
    case 'p':
        snprintf(out, 32, "%s", d->hour < 12 ? "AM" : "PM");
        return true;
    case 'A':
        snprintf(out, 32, "%s", DAYS[d->weekday]);
        return true;
    case 'a':
        snprintf(out, 32, "%.3s", DAYS[d->weekday]);
        return true;
    case 'B':
        snprintf(out, 32, "%s", MONTHS[d->month - 1]);
        return true;
    case 'b':
    case 'h':
        snprintf(out, 32, "%.3s", MONTHS[d->month - 1]);
        return true;
    case 'F':
        snprintf(out, 32, "%" PRId64 "-%02u-%02u", d->year, d->month, d->day);
        return true;
    case 'T':
        snprintf(out, 32, "%02u:%02u:%02u", d->hour, d->minute, d->second);
        return true;
    case '%':
        snprintf(out, 32, "%%");
        return true;
    default:
        return false;
    }
}

FUNCTION(strftime_now)
{
    (void)self;
    const chat_string *format = ls__chat_want_text(render, arguments->items[0], "the format");
    chat_buffer buffer = {0};
    date d = date_of(render->unix_seconds);
    for (size_t i = 0; i < format->bytes; i++) {
        if (format->text[i] != '%') {
            ls__chat_append(render, &buffer, format->text + i, 1);
            continue;
        }
        bool unpadded = i + 1 < format->bytes && format->text[i + 1] == '-';
        i += unpadded ? 2 : 1;
        char out[32], letter = i < format->bytes ? format->text[i] : 0;
        if (!format_letter(out, &d, letter, unpadded))
            ls__chat_fail(render, LS_E_UNSUPPORTED, "strftime_now: %%%s%c is not supported",
                          unpadded ? "-" : "", letter > ' ' && letter < 0x7f ? letter : '?');
        ls__chat_append_text(render, &buffer, out);
    }
    return ls__chat_buffer_value(render, &buffer);
}

const chat_callable ls__chat_functions[] = {
    {"range", make_range, {"start", "stop", "step"}, 1},
    {"dict", make_dict, {"*"}, 0},
    {"namespace", make_namespace, {"*"}, 0},
    {"raise_exception", raise_exception, {"message"}, 1},
    {"strftime_now", strftime_now, {"format"}, 1},
    {"cycler", NULL, {NULL}, 0},
    {"joiner", NULL, {NULL}, 0},
    {"lipsum", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};
