/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON to values, read by jansson, and values to JSON, written as Python's json.dumps does. The
 * document jansson makes is not of the arena: it is kept in the rendering, which frees it when a
 * failure jumps over its end.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "chat/render.h"
#include "chat/unicode.h"

/* --- reading ---------------------------------------------------------------------------------- */

static chat_value from_json(chat_render *render, const json_t *json, unsigned depth)
{
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "the JSON is nested deeper than %d levels",
                      CHAT_VALUE_DEPTH_MAX);
    ls__chat_spend(render, 1);
    switch (json_typeof(json)) {
    case JSON_OBJECT: {
        chat_value dict = ls__chat_dict(render, json_object_size(json));
        for (void *at = json_object_iter((json_t *)(uintptr_t)json); at;
             at = json_object_iter_next((json_t *)(uintptr_t)json, at)) {
            const char *key = json_object_iter_key(at);
            chat_pair *pair = &dict.dict->items[dict.dict->count++];
            pair->key = ls__chat_text(render, key, strlen(key));
            pair->value = from_json(render, json_object_iter_value(at), depth + 1);
        }
        return dict;
    }
    case JSON_ARRAY: {
        size_t count = json_array_size(json);
        chat_value list = ls__chat_list(render, CHAT_LIST, count);
        for (size_t i = 0; i < count; i++)
            ls__chat_push(render, list.list, from_json(render, json_array_get(json, i), depth + 1));
        return list;
    }
    case JSON_STRING:
        return ls__chat_text(render, json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
        return ls__chat_int(json_integer_value(json));
    case JSON_REAL:
        return ls__chat_float(json_real_value(json));
    case JSON_TRUE:
    case JSON_FALSE:
        return ls__chat_bool(json_is_true(json));
    case JSON_NULL:
        break;
    }
    return ls__chat_none();
}

chat_value ls__chat_from_json(chat_render *render, const char *text, const char *name,
                              chat_kind kind)
{
    json_error_t why;
    json_t *json = render->json = json_loads(text, JSON_ALLOW_NUL, &why);
    if (!json)
        ls__chat_fail(render,
                      json_error_code(&why) == json_error_out_of_memory ? LS_E_OUT_OF_MEMORY
                                                                        : LS_E_INVALID_ARGUMENT,
                      "%s is no JSON: line %d, column %d: %s", name, why.line, why.column,
                      why.text);
    if (kind == CHAT_DICT ? !json_is_object(json) : !json_is_array(json))
        ls__chat_fail(render, LS_E_INVALID_ARGUMENT, "%s is no JSON %s", name,
                      kind == CHAT_DICT ? "object" : "list");
    chat_value value = from_json(render, json, 0);
    render->json = NULL;
    json_decref(json);
    return value;
}

chat_value ls__chat_parse_json(chat_render *render, const chat_string *text)
{
    json_error_t why;
    ls__chat_spend_bytes(render, text->bytes);
    json_t *json = render->json =
        json_loadb(text->text, text->bytes, JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    if (!json)
        ls__chat_fail(render,
                      json_error_code(&why) == json_error_out_of_memory ? LS_E_OUT_OF_MEMORY
                                                                        : LS_E_FORMAT,
                      "from_json: the text is no JSON: line %d, column %d: %s", why.line,
                      why.column, why.text);
    chat_value value = from_json(render, json, 0);
    render->json = NULL;
    json_decref(json);
    return value;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_code(chat_render *render, chat_buffer *buffer, uint32_t code)
{
    char escape[16];
    if (code >= 0x10000)
        snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                 0xdc00 + ((code - 0x10000) & 0x3ff));
    else
        snprintf(escape, sizeof escape, "\\u%04x", code);
    ls__chat_append_text(render, buffer, escape);
}

static void write_text(chat_render *render, chat_buffer *buffer, const chat_string *string,
                       bool ascii_only)
{
    static const char SHORT[] = "\"\\\b\f\n\r\t", LETTERS[] = "\"\\bfnrt";
    ls__chat_append(render, buffer, "\"", 1);
    for (size_t i = 0, length; i < string->bytes; i += length) {
        const char *at = string->text + i;
        uint32_t code = ls__chat_utf8_decode(at, &length);
        const char *found = code && code < 0x80 ? strchr(SHORT, (int)code) : NULL;
        if (found) {
            char escape[2] = {'\\', LETTERS[found - SHORT]};
            ls__chat_append(render, buffer, escape, 2);
        } else if (code < 0x20 || (ascii_only && code > 0x7e)) {
            write_code(render, buffer, code);
        } else {
            ls__chat_append(render, buffer, at, length);
        }
    }
    ls__chat_append(render, buffer, "\"", 1);
}

static void write_number(chat_render *render, chat_buffer *buffer, chat_value value)
{
    if (value.kind == CHAT_FLOAT && (value.real != value.real || __builtin_isinf(value.real)))
        ls__chat_append_text(render, buffer,
                             value.real != value.real ? "NaN"
                             : value.real < 0         ? "-Infinity"
                                                      : "Infinity");
    else if (value.kind == CHAT_BOOL)
        ls__chat_append_text(render, buffer, value.boolean ? "true" : "false");
    else
        ls__chat_repr(render, buffer, value);
}

static void write_key(chat_render *render, chat_buffer *buffer, chat_value key,
                      const chat_json_style *style)
{
    if (key.kind == CHAT_STRING) {
        write_text(render, buffer, key.string, style->ascii_only);
        return;
    }
    if (key.kind != CHAT_NONE && !ls__chat_is_number(key))
        ls__chat_fail(render, LS_E_FORMAT, "keys must be str, int, float, bool or None, not %s",
                      ls__chat_type(key));
    ls__chat_append(render, buffer, "\"", 1);
    if (key.kind == CHAT_NONE)
        ls__chat_append_text(render, buffer, "null");
    else
        write_number(render, buffer, key);
    ls__chat_append(render, buffer, "\"", 1);
}

static void new_line(chat_render *render, chat_buffer *buffer, const chat_json_style *style,
                     unsigned depth)
{
    if (!style->indent)
        return;
    ls__chat_append(render, buffer, "\n", 1);
    for (unsigned i = 0; i < depth; i++)
        ls__chat_append(render, buffer, style->indent->text, style->indent->bytes);
}

static void separate(chat_render *render, chat_buffer *buffer, const chat_string *given,
                     const char *otherwise)
{
    if (given)
        ls__chat_append(render, buffer, given->text, given->bytes);
    else
        ls__chat_append_text(render, buffer, otherwise);
}

static void write_deep(chat_render *render, chat_buffer *buffer, chat_value value,
                       const chat_json_style *style, unsigned depth);

/* Keys in order; those of several types have none. */
static const chat_dict *sorted(chat_render *render, const chat_dict *dict)
{
    chat_dict *copy = ls__chat_dict(render, dict->count).dict;
    for (size_t i = 0; i < dict->count; i++) {
        size_t place = copy->count++;
        for (; place > 0 &&
               ls__chat_compare(render, dict->items[i].key, copy->items[place - 1].key, "<") < 0;
             place--)
            copy->items[place] = copy->items[place - 1];
        copy->items[place] = dict->items[i];
    }
    return copy;
}

static void write_object(chat_render *render, chat_buffer *buffer, const chat_dict *dict,
                         const chat_json_style *style, unsigned depth)
{
    if (style->sort_keys)
        dict = sorted(render, dict);
    ls__chat_append(render, buffer, "{", 1);
    for (size_t i = 0; i < dict->count; i++) {
        if (i > 0)
            separate(render, buffer, style->item_separator, style->indent ? "," : ", ");
        new_line(render, buffer, style, depth + 1);
        write_key(render, buffer, dict->items[i].key, style);
        separate(render, buffer, style->key_separator, ": ");
        write_deep(render, buffer, dict->items[i].value, style, depth + 1);
    }
    if (dict->count)
        new_line(render, buffer, style, depth);
    ls__chat_append(render, buffer, "}", 1);
}

static void write_array(chat_render *render, chat_buffer *buffer, const chat_list *list,
                        const chat_json_style *style, unsigned depth)
{
    ls__chat_append(render, buffer, "[", 1);
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            separate(render, buffer, style->item_separator, style->indent ? "," : ", ");
        new_line(render, buffer, style, depth + 1);
        write_deep(render, buffer, list->items[i], style, depth + 1);
    }
    if (list->count)
        new_line(render, buffer, style, depth);
    ls__chat_append(render, buffer, "]", 1);
}

static void write_deep(chat_render *render, chat_buffer *buffer, chat_value value,
                       const chat_json_style *style, unsigned depth)
{
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "a value is nested too deep for tojson");
    ls__chat_spend(render, 1);
    switch (value.kind) {
    case CHAT_NONE:
        ls__chat_append_text(render, buffer, "null");
        break;
    case CHAT_BOOL:
    case CHAT_INT:
    case CHAT_FLOAT:
        write_number(render, buffer, value);
        break;
    case CHAT_STRING:
        write_text(render, buffer, value.string, style->ascii_only);
        break;
    case CHAT_LIST:
    case CHAT_TUPLE:
        write_array(render, buffer, value.list, style, depth);
        break;
    case CHAT_DICT:
        write_object(render, buffer, value.dict, style, depth);
        break;
    default:
        ls__chat_fail(render, LS_E_FORMAT, "Object of type %s is not JSON serializable",
                      ls__chat_type(value));
    }
}

void ls__chat_to_json(chat_render *render, chat_buffer *buffer, chat_value value,
                      const chat_json_style *style)
{
    write_deep(render, buffer, value, style, 0);
}
