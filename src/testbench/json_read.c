/* SPDX-License-Identifier: Apache-2.0 */
#include "testbench/json_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

json_t *ls__json_parse(ls__json_reader *r, const char *text, size_t length)
{
    json_error_t fault;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (root)
        return root;
    r->status = ls__fail(r->error, LS_E_FORMAT, "%s:%d:%d: %s", r->name, fault.line, fault.column,
                         fault.text);
    return NULL;
}

void ls__json_fail(ls__json_reader *r, const char *format, ...)
{
    char message[300];
    va_list arguments;
    if (r->status != LS_OK)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ls__strbuf place = {0};
    ls__strbuf_visible(&place, r->path.length ? r->path.text : ".",
                       r->path.length ? r->path.length : 1);
    r->status = ls__fail(r->error, LS_E_FORMAT, "%s: %s: %s", r->name,
                         place.text ? place.text : ".", message);
    ls__strbuf_finish(&place);
}

size_t ls__json_enter(ls__json_reader *r, const char *key)
{
    size_t place = r->path.length;
    ls__strbuf_printf(&r->path, ".%s", key);
    return place;
}

size_t ls__json_enter_at(ls__json_reader *r, size_t index)
{
    size_t place = r->path.length;
    ls__strbuf_printf(&r->path, "[%zu]", index);
    return place;
}

void ls__json_leave(ls__json_reader *r, size_t place)
{
    r->path.length = place;
    if (r->path.text)
        r->path.text[place] = 0;
}

static void warn(ls__json_reader *r, const char *key, const char *says)
{
    ls__strbuf text = {0};
    ls__strbuf_printf(&text, "%s: %s.%s %s", r->name, r->path.length ? r->path.text : "", key,
                      says);
    if (text.text && r->warn)
        r->warn(r->context, text.text);
    ls__strbuf_finish(&text);
}

void ls__json_check_keys(ls__json_reader *r, const json_t *object, const char *const *keys)
{
    const char *key;
    json_t *value;
    if (!r->warn || !object)
        return;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool known = key[0] == '_';
        for (size_t i = 0; keys[i] && !known; i++)
            known = strcmp(keys[i], key) == 0;
        if (known)
            continue;
        warn(r, key, "is not known and ignored");
    }
}

void ls__json_ignore(ls__json_reader *r, const json_t *object, const char *key)
{
    if (ls__json_get(r, object, key, false))
        warn(r, key, "has no effect");
}

const char *ls__json_place(ls__json_reader *r)
{
    return ls__arena_printf(r->arena, "%s", r->path.length ? r->path.text : "");
}

const json_t *ls__json_get(ls__json_reader *r, const json_t *object, const char *key,
                           bool is_needed)
{
    const json_t *value = r->status == LS_OK ? json_object_get(object, key) : NULL;
    if (json_is_null(value))
        value = NULL;
    if (!value && is_needed) {
        size_t place = ls__json_enter(r, key);
        ls__json_fail(r, "is missing");
        ls__json_leave(r, place);
    }
    return value;
}

uint64_t ls__json_value(ls__json_reader *r, const json_t *value, uint64_t maximum)
{
    uint64_t number = 0;
    if (json_is_boolean(value)) {
        number = json_is_true(value);
    } else if (json_is_integer(value) && json_integer_value(value) >= 0) {
        number = (uint64_t)json_integer_value(value);
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        char *end;
        errno = 0;
        number = strtoull(text, &end, 0);
        if (text[0] < '0' || text[0] > '9' || *end || errno)
            ls__json_fail(r, "must be a number");
    } else {
        ls__json_fail(r, "must be a number, not negative");
    }
    if (number > maximum)
        ls__json_fail(r, "must be at most %llu", (unsigned long long)maximum);
    return number;
}

uint64_t ls__json_number_from(ls__json_reader *r, const json_t *object, const char *key,
                              uint64_t minimum, uint64_t maximum, uint64_t value)
{
    const json_t *member = ls__json_get(r, object, key, false);
    if (!member)
        return value;
    size_t place = ls__json_enter(r, key);
    value = ls__json_value(r, member, maximum);
    if (value < minimum)
        ls__json_fail(r, "must be at least %llu", (unsigned long long)minimum);
    ls__json_leave(r, place);
    return value;
}

uint64_t ls__json_number(ls__json_reader *r, const json_t *object, const char *key,
                         uint64_t maximum, uint64_t value)
{
    return ls__json_number_from(r, object, key, 0, maximum, value);
}

bool ls__json_bool(ls__json_reader *r, const json_t *object, const char *key, bool value)
{
    const json_t *member = ls__json_get(r, object, key, false);
    if (!member)
        return value;
    size_t place = ls__json_enter(r, key);
    if (!json_is_boolean(member))
        ls__json_fail(r, "must be true or false");
    ls__json_leave(r, place);
    return json_is_true(member);
}

const char *ls__json_string(ls__json_reader *r, const json_t *value)
{
    if (!json_is_string(value)) {
        ls__json_fail(r, "must be text");
        return NULL;
    }
    return ls__arena_strdup(r->arena, json_string_value(value), json_string_length(value));
}

const char *ls__json_text(ls__json_reader *r, const json_t *object, const char *key)
{
    const json_t *member = ls__json_get(r, object, key, false);
    if (!member)
        return NULL;
    size_t place = ls__json_enter(r, key);
    const char *text = ls__json_string(r, member);
    ls__json_leave(r, place);
    return text;
}

static const json_t *typed(ls__json_reader *r, const json_t *object, const char *key,
                           json_type type, const char *says)
{
    const json_t *member = ls__json_get(r, object, key, false);
    if (!member || json_typeof(member) == type)
        return member;
    size_t place = ls__json_enter(r, key);
    ls__json_fail(r, "must be %s", says);
    ls__json_leave(r, place);
    return NULL;
}

const json_t *ls__json_array(ls__json_reader *r, const json_t *object, const char *key)
{
    return typed(r, object, key, JSON_ARRAY, "an array");
}

const json_t *ls__json_object(ls__json_reader *r, const json_t *object, const char *key)
{
    return typed(r, object, key, JSON_OBJECT, "an object");
}
