/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.name, value[key] and slices. Jinja2 looks for a method first behind a dot, and for an item
 * first in brackets; `d.items` is a method although the dict may have that key. What is not there
 * is undefined, and so are the methods that would change a list or a dict.
 */
#include <string.h>

#include "chat/methods.h"
#include "chat/render.h"
#include "chat/unicode.h"

/* "dict object", as messages name it. */
static const char *owner_name(chat_value value)
{
    switch (value.kind) {
    case CHAT_NONE:
        return "None";
    case CHAT_BOOL:
        return "bool object";
    case CHAT_INT:
        return "int object";
    case CHAT_FLOAT:
        return "float object";
    case CHAT_STRING:
        return value.string->is_markup ? "markupsafe.Markup object" : "str object";
    case CHAT_LIST:
        return "list object";
    case CHAT_TUPLE:
        return "tuple object";
    case CHAT_DICT:
        return "dict object";
    case CHAT_RANGE:
        return "range object";
    case CHAT_VIEW:
        return value.view->kind == CHAT_KEYS     ? "dict_keys object"
               : value.view->kind == CHAT_VALUES ? "dict_values object"
                                                 : "dict_items object";
    case CHAT_ITERATOR:
        return "generator object";
    case CHAT_NAMESPACE:
        return "jinja2.utils.Namespace object";
    case CHAT_LOOP:
        return "jinja2.runtime.LoopContext object";
    case CHAT_MACRO:
        return "jinja2.runtime.Macro object";
    default:
        return "builtin_function_or_method object";
    }
}

static const chat_callable *method_table(chat_value value)
{
    switch (value.kind) {
    case CHAT_STRING:
        return ls__chat_string_methods;
    case CHAT_LIST:
        return ls__chat_list_methods;
    case CHAT_TUPLE:
        return ls__chat_tuple_methods;
    case CHAT_DICT:
        return ls__chat_dict_methods;
    case CHAT_LOOP:
        return ls__chat_loop_methods;
    case CHAT_BOOL:
    case CHAT_INT:
    case CHAT_FLOAT:
        return ls__chat_number_methods;
    case CHAT_RANGE:
        return ls__chat_range_methods;
    case CHAT_MACRO:
        return ls__chat_macro_methods;
    default:
        return NULL;
    }
}

/* What Python's getattr finds; MISSING when there is nothing. */
static chat_value get_attribute(chat_render *render, chat_value value, const chat_string *name)
{
    if (name->bytes > 4 && memcmp(name->text, "__", 2) == 0 &&
        memcmp(name->text + name->bytes - 2, "__", 2) == 0)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "the attribute '%.*s' is not supported",
                      (int)name->bytes, name->text);
    const chat_callable *table = method_table(value);
    const chat_callable *method =
        table ? ls__chat_find_callable(table, name->text, name->bytes) : NULL;
    if (method && method->function == ls__chat_unsafe)
        return ls__chat_undefined(
            render,
            ls__arena_printf(&render->arena, "access to attribute '%s' of '%s' object is unsafe.",
                             method->name, ls__chat_type(value)));
    if (method) {
        chat_native *native = LS__NEW(&render->arena, chat_native);
        *native = (chat_native){method, value};
        return (chat_value){.kind = CHAT_NATIVE, .native = native};
    }
    if (value.kind == CHAT_LOOP)
        return ls__chat_loop_attribute(render, value.loop, name);
    const chat_value *found =
        value.kind == CHAT_NAMESPACE ? ls__chat_get_name(value.dict, name) : NULL;
    return found ? *found : (chat_value){.kind = CHAT_MISSING};
}

chat_value ls__chat_attribute(chat_render *render, chat_value value, const chat_string *name)
{
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    chat_value found = get_attribute(render, value, name);
    if (found.kind != CHAT_MISSING)
        return found;
    const chat_value *item = NULL;
    if (value.kind == CHAT_DICT) {
        ls__chat_spend(render, value.dict->count / 8);
        item = ls__chat_get_name(value.dict, name);
    }
    if (item)
        return *item;
    return ls__chat_undefined_key(render, owner_name(value),
                                  (chat_value){.kind = CHAT_STRING, .string = name});
}

/* --- items ------------------------------------------------------------------------------------ */

static chat_value character(chat_render *render, const chat_string *string, size_t index)
{
    size_t offset = string->bytes == string->characters
                        ? index
                        : ls__chat_utf8_offset(string->text, string->bytes, index);
    ls__chat_spend_bytes(render, offset);
    return ls__chat_text_of(render, string->text + offset,
                            ls__chat_utf8_length(string->text[offset]));
}

/* Element `index` of what has a length and an order. */
static chat_value element(chat_render *render, chat_value value, size_t index)
{
    if (value.kind == CHAT_STRING)
        return character(render, value.string, index);
    if (value.kind == CHAT_RANGE)
        return ls__chat_int(value.range->start + (int64_t)index * value.range->step);
    return value.list->items[index];
}

static bool is_ordered(chat_value value)
{
    return value.kind == CHAT_STRING || value.kind == CHAT_LIST || value.kind == CHAT_TUPLE ||
           value.kind == CHAT_RANGE;
}

chat_value ls__chat_item(chat_render *render, chat_value value, chat_value key)
{
    int64_t index;
    size_t length;
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (value.kind == CHAT_DICT && ls__chat_is_hashable(render, key)) {
        const chat_value *found = ls__chat_get(render, value.dict, key);
        if (found)
            return *found;
    }
    if (is_ordered(value) && ls__chat_to_int(key, &index) && ls__chat_has_length(value, &length)) {
        if (index < 0)
            index += (int64_t)length;
        if (index >= 0 && (uint64_t)index < length)
            return element(render, value, (size_t)index);
    }
    if (key.kind == CHAT_STRING) {
        chat_value found = get_attribute(render, value, key.string);
        if (found.kind != CHAT_MISSING)
            return found;
    }
    return ls__chat_undefined_key(render, owner_name(value), key);
}

/* --- slices ----------------------------------------------------------------------------------- */

/* An end of a slice: where counting stops being inside is `low` or `high`. */
static int64_t slice_end(chat_render *render, chat_value part, int64_t otherwise, int64_t length,
                         bool is_backward)
{
    int64_t at, low = is_backward ? -1 : 0, high = is_backward ? length - 1 : length;
    if (part.kind == CHAT_NONE)
        return otherwise;
    if (!ls__chat_to_int(part, &at))
        ls__chat_fail(render, LS_E_FORMAT, "slice indices must be integers or None");
    if (at < 0)
        at += length;
    return at < low ? low : at > high ? high : at;
}

static chat_value slice_text(chat_render *render, const chat_string *string, int64_t start,
                             size_t count, int64_t step)
{
    if (step == 1 || count <= 1) {
        bool is_ascii = string->bytes == string->characters;
        size_t from = is_ascii ? (size_t)start
                               : ls__chat_utf8_offset(string->text, string->bytes, (size_t)start);
        size_t bytes = is_ascii
                           ? count
                           : ls__chat_utf8_offset(string->text + from, string->bytes - from, count);
        ls__chat_spend_bytes(render, from);
        return ls__chat_text_of(render, string->text + from, bytes);
    }
    chat_buffer buffer = {0};
    size_t *offsets = LS__NEW_ARRAY(&render->arena, size_t, string->characters);
    for (size_t i = 0, offset = 0; offset < string->bytes; i++) {
        offsets[i] = offset;
        offset += ls__chat_utf8_length(string->text[offset]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *at = string->text + offsets[start + (int64_t)i * step];
        ls__chat_append(render, &buffer, at, ls__chat_utf8_length(*at));
        ls__chat_spend(render, 1);
    }
    return ls__chat_buffer_value(render, &buffer);
}

chat_value ls__chat_slice(chat_render *render, chat_value value, chat_value start_part,
                          chat_value stop_part, chat_value step_part)
{
    size_t length_bytes;
    int64_t step = 1;
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (!is_ordered(value) || !ls__chat_has_length(value, &length_bytes))
        ls__chat_fail(render, LS_E_FORMAT, "'%s' object is not subscriptable by a slice",
                      ls__chat_type(value));
    if (step_part.kind != CHAT_NONE && !ls__chat_to_int(step_part, &step))
        ls__chat_fail(render, LS_E_FORMAT, "slice indices must be integers or None");
    if (step == 0)
        ls__chat_fail(render, LS_E_FORMAT, "slice step cannot be zero");
    int64_t length = (int64_t)length_bytes;
    bool is_backward = step < 0;
    int64_t start =
        slice_end(render, start_part, is_backward ? length - 1 : 0, length, is_backward);
    int64_t stop = slice_end(render, stop_part, is_backward ? -1 : length, length, is_backward);
    uint64_t span = is_backward ? (uint64_t)(start > stop ? start - stop : 0)
                                : (uint64_t)(stop > start ? stop - start : 0);
    uint64_t stride = is_backward ? 0 - (uint64_t)step : (uint64_t)step;
    size_t count = span ? (size_t)((span - 1) / stride + 1) : 0;

    if (value.kind == CHAT_STRING)
        return slice_text(render, value.string, count ? start : 0, count, step);
    if (value.kind == CHAT_RANGE) {
        const chat_range *whole = value.range;
        chat_range *range = LS__NEW(&render->arena, chat_range);
        *range = (chat_range){.start = whole->start + start * whole->step,
                              .stop = whole->start + stop * whole->step,
                              .count = count};
        if (__builtin_mul_overflow(whole->step, step, &range->step))
            ls__chat_fail(render, LS_E_LIMIT, "an integer needs more than 64 bits");
        return (chat_value){.kind = CHAT_RANGE, .range = range};
    }
    ls__chat_spend(render, count / 8);
    chat_value list = ls__chat_list(render, value.kind, count);
    for (size_t i = 0; i < count; i++)
        list.list->items[list.list->count++] = value.list->items[start + (int64_t)i * step];
    return list;
}
