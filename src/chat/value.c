/* SPDX-License-Identifier: Apache-2.0 */
/* Making values, and what Python answers when it is asked about them: truth, length, equality,
 * order, membership, and going through. */
#include "chat/value.h"

#include <string.h>

#include "chat/lex.h"
#include "chat/render.h"
#include "chat/unicode.h"

/* --- making ----------------------------------------------------------------------------------- */

chat_value ls__chat_none(void)
{
    return (chat_value){.kind = CHAT_NONE};
}

chat_value ls__chat_bool(bool value)
{
    return (chat_value){.kind = CHAT_BOOL, .boolean = value};
}

chat_value ls__chat_int(int64_t value)
{
    return (chat_value){.kind = CHAT_INT, .integer = value};
}

chat_value ls__chat_size(chat_render *render, size_t value)
{
    if (value > INT64_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "an integer needs more than 64 bits");
    return ls__chat_int((int64_t)value);
}

chat_value ls__chat_float(double value)
{
    return (chat_value){.kind = CHAT_FLOAT, .real = value};
}

static chat_value string_value(ls__arena *arena, const char *text, size_t bytes)
{
    chat_string *string = LS__NEW(arena, chat_string);
    *string = (chat_string){text, bytes, ls__chat_utf8_count(text, bytes), false};
    return (chat_value){.kind = CHAT_STRING, .string = string};
}

chat_value ls__chat_arena_text(ls__arena *arena, const char *text, size_t bytes)
{
    return string_value(arena, ls__arena_strdup(arena, text, bytes), bytes);
}

chat_value ls__chat_text(chat_render *render, const char *text, size_t bytes)
{
    ls__chat_spend_bytes(render, bytes);
    return ls__chat_arena_text(&render->arena, text, bytes);
}

chat_value ls__chat_text_of(chat_render *render, const char *text, size_t bytes)
{
    ls__chat_spend_bytes(render, bytes);
    return string_value(&render->arena, text, bytes);
}

chat_value ls__chat_list(chat_render *render, chat_kind kind, size_t capacity)
{
    chat_list *list = LS__NEW(&render->arena, chat_list);
    list->items = capacity ? LS__NEW_ARRAY(&render->arena, chat_value, capacity) : NULL;
    list->capacity = capacity;
    return (chat_value){.kind = kind, .list = list};
}

/* Makes room for one more; the old items stay where they were, unused. */
static void *grow(chat_render *render, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t grown = *capacity ? *capacity * 2 : 8;
    ls__chat_spend(render, count / 8);
    void *moved = ls__arena_alloc(&render->arena, grown, size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = grown;
    return moved;
}

void ls__chat_push(chat_render *render, chat_list *list, chat_value item)
{
    list->items = grow(render, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = item;
}

chat_value ls__chat_tuple2(chat_render *render, chat_value first, chat_value second)
{
    chat_value tuple = ls__chat_list(render, CHAT_TUPLE, 2);
    tuple.list->items[0] = first;
    tuple.list->items[1] = second;
    tuple.list->count = 2;
    return tuple;
}

chat_value ls__chat_dict(chat_render *render, size_t capacity)
{
    chat_dict *dict = LS__NEW(&render->arena, chat_dict);
    dict->items = capacity ? LS__NEW_ARRAY(&render->arena, chat_pair, capacity) : NULL;
    dict->capacity = capacity;
    return (chat_value){.kind = CHAT_DICT, .dict = dict};
}

void ls__chat_put(chat_render *render, chat_dict *dict, chat_value key, chat_value value)
{
    const chat_value *old = ls__chat_get(render, dict, key);
    if (old) {
        *(chat_value *)(uintptr_t)old = value;
        return;
    }
    dict->items = grow(render, dict->items, dict->count, &dict->capacity, sizeof *dict->items);
    dict->items[dict->count++] = (chat_pair){key, value};
}

static chat_value undefined_value(chat_render *render, chat_undefined why)
{
    chat_undefined *undefined = LS__NEW(&render->arena, chat_undefined);
    *undefined = why;
    return (chat_value){.kind = CHAT_UNDEFINED, .undefined = undefined};
}

chat_value ls__chat_undefined(chat_render *render, const char *hint)
{
    return undefined_value(render, (chat_undefined){.hint = hint});
}

chat_value ls__chat_undefined_key(chat_render *render, const char *owner, chat_value key)
{
    return undefined_value(render, (chat_undefined){.owner = owner, .key = key});
}

void ls__chat_fail_undefined(chat_render *render, chat_value value)
{
    const chat_undefined *why = value.undefined;
    if (why->hint)
        ls__chat_fail(render, LS_E_FORMAT, "%s", why->hint);
    chat_buffer key = {0};
    ls__chat_repr(render, &key, why->key);
    if (!why->owner)
        ls__chat_fail(render, LS_E_FORMAT, "%.*s is undefined", (int)key.length, key.text);
    if (why->key.kind == CHAT_STRING)
        ls__chat_fail(render, LS_E_FORMAT, "'%s' has no attribute %.*s", why->owner,
                      (int)key.length, key.text);
    ls__chat_fail(render, LS_E_FORMAT, "%s has no element %.*s", why->owner, (int)key.length,
                  key.text);
}

/* --- asking ----------------------------------------------------------------------------------- */

const char *ls__chat_type(chat_value value)
{
    switch (value.kind) {
    case CHAT_MISSING:
    case CHAT_UNDEFINED:
        return "Undefined";
    case CHAT_NONE:
        return "NoneType";
    case CHAT_BOOL:
        return "bool";
    case CHAT_INT:
        return "int";
    case CHAT_FLOAT:
        return "float";
    case CHAT_STRING:
        return value.string->is_markup ? "markupsafe.Markup" : "str";
    case CHAT_LIST:
        return "list";
    case CHAT_TUPLE:
        return "tuple";
    case CHAT_DICT:
        return "dict";
    case CHAT_RANGE:
        return "range";
    case CHAT_VIEW:
        return value.view->kind == CHAT_KEYS     ? "dict_keys"
               : value.view->kind == CHAT_VALUES ? "dict_values"
                                                 : "dict_items";
    case CHAT_ITERATOR:
        return "generator";
    case CHAT_NAMESPACE:
        return "jinja2.utils.Namespace";
    case CHAT_LOOP:
        return "jinja2.runtime.LoopContext";
    case CHAT_MACRO:
        return "jinja2.runtime.Macro";
    case CHAT_NATIVE:
        return "builtin_function_or_method";
    }
    return "?";
}

bool ls__chat_is_number(chat_value value)
{
    return value.kind == CHAT_BOOL || value.kind == CHAT_INT || value.kind == CHAT_FLOAT;
}

bool ls__chat_is_text(chat_value value, const char *text)
{
    return value.kind == CHAT_STRING &&
           ls__str_is((ls__str){value.string->text, value.string->bytes}, text);
}

bool ls__chat_to_int(chat_value value, int64_t *integer)
{
    if (value.kind != CHAT_INT && value.kind != CHAT_BOOL)
        return false;
    *integer = value.kind == CHAT_BOOL ? value.boolean : value.integer;
    return true;
}

double ls__chat_to_float(chat_value number)
{
    return number.kind == CHAT_FLOAT  ? number.real
           : number.kind == CHAT_BOOL ? (double)number.boolean
                                      : (double)number.integer;
}

bool ls__chat_truth(chat_value value)
{
    size_t length;
    switch (value.kind) {
    case CHAT_MISSING:
    case CHAT_UNDEFINED:
    case CHAT_NONE:
        return false;
    case CHAT_BOOL:
        return value.boolean;
    case CHAT_INT:
        return value.integer != 0;
    case CHAT_FLOAT:
        return value.real != 0;
    case CHAT_STRING:
        return value.string->bytes > 0;
    case CHAT_LOOP: /* as long as the list, which is not empty while the loop runs */
        return true;
    default:
        return !ls__chat_has_length(value, &length) || length > 0;
    }
}

bool ls__chat_has_length(chat_value value, size_t *length)
{
    switch (value.kind) {
    case CHAT_UNDEFINED:
        *length = 0;
        return true;
    case CHAT_STRING:
        *length = value.string->characters;
        return true;
    case CHAT_LIST:
    case CHAT_TUPLE:
        *length = value.list->count;
        return true;
    case CHAT_DICT:
        *length = value.dict->count;
        return true;
    case CHAT_RANGE:
        *length = value.range->count;
        return true;
    case CHAT_VIEW:
        *length = value.view->dict->count;
        return true;
    default:
        return false;
    }
}

/* --- equality and order ----------------------------------------------------------------------- */

/* An integer against a float, exactly. The float is no NaN. */
static int compare_int_float(int64_t a, double b)
{
    if (b >= 0x1p63)
        return -1;
    if (b < -0x1p63)
        return 1;
    int64_t whole = (int64_t)b;
    double rest = b - (double)whole;
    if (a != whole)
        return a < whole ? -1 : 1;
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

/* 2: unordered. */
static int compare_numbers(chat_value a, chat_value b)
{
    int64_t x, y;
    bool a_int = ls__chat_to_int(a, &x), b_int = ls__chat_to_int(b, &y);
    if (a_int && b_int)
        return (x > y) - (x < y);
    if ((!a_int && a.real != a.real) || (!b_int && b.real != b.real))
        return 2;
    if (a_int)
        return compare_int_float(x, b.real);
    if (b_int)
        return -compare_int_float(y, a.real);
    return (a.real > b.real) - (a.real < b.real);
}

static int compare_texts(chat_render *render, const chat_string *a, const chat_string *b)
{
    size_t common = a->bytes < b->bytes ? a->bytes : b->bytes;
    ls__chat_spend_bytes(render, common);
    int order = common ? memcmp(a->text, b->text, common) : 0;
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return (order > 0) - (order < 0);
}

static bool is_sequence(chat_value value)
{
    return value.kind == CHAT_LIST || value.kind == CHAT_TUPLE;
}

static bool equal_deep(chat_render *render, chat_value a, chat_value b, unsigned depth);

static bool equal_dicts(chat_render *render, const chat_dict *a, const chat_dict *b, unsigned depth)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const chat_value *other = ls__chat_get(render, b, a->items[i].key);
        if (!other || !equal_deep(render, a->items[i].value, *other, depth + 1))
            return false;
    }
    return true;
}

static bool equal_deep(chat_render *render, chat_value a, chat_value b, unsigned depth)
{
    ls__chat_spend(render, 1);
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "values are nested too deep to be compared");
    if (ls__chat_is_number(a) && ls__chat_is_number(b))
        return compare_numbers(a, b) == 0;
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CHAT_MISSING:
    case CHAT_UNDEFINED:
    case CHAT_NONE:
        return true;
    case CHAT_STRING:
        return a.string == b.string || (a.string->bytes == b.string->bytes &&
                                        compare_texts(render, a.string, b.string) == 0);
    case CHAT_LIST:
    case CHAT_TUPLE:
        if (a.list->count != b.list->count)
            return false;
        for (size_t i = 0; i < a.list->count; i++)
            if (!equal_deep(render, a.list->items[i], b.list->items[i], depth + 1))
                return false;
        return true;
    case CHAT_DICT:
        return a.dict == b.dict || equal_dicts(render, a.dict, b.dict, depth);
    case CHAT_RANGE:
        return a.range->count == b.range->count &&
               (a.range->count == 0 || (a.range->start == b.range->start &&
                                        (a.range->count == 1 || a.range->step == b.range->step)));
    case CHAT_VIEW:
        if (a.view->kind == CHAT_VALUES || b.view->kind != a.view->kind)
            return a.view == b.view;
        if (a.view->dict->count != b.view->dict->count)
            return false;
        for (size_t i = 0; i < a.view->dict->count; i++) {
            const chat_pair *pair = &a.view->dict->items[i];
            const chat_value *other = ls__chat_get(render, b.view->dict, pair->key);
            if (!other ||
                (a.view->kind == CHAT_ITEMS && !equal_deep(render, pair->value, *other, depth + 1)))
                return false;
        }
        return true;
    case CHAT_NATIVE:
        return a.native == b.native || (a.native->callable == b.native->callable &&
                                        a.native->self.kind == b.native->self.kind &&
                                        a.native->self.dict == b.native->self.dict);
    default:
        return a.dict == b.dict; /* the same object */
    }
}

bool ls__chat_equal(chat_render *render, chat_value a, chat_value b)
{
    return equal_deep(render, a, b, 0);
}

static int compare_deep(chat_render *render, chat_value a, chat_value b, const char *operation,
                        unsigned depth)
{
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "values are nested too deep to be compared");
    ls__chat_spend(render, 1);
    if (ls__chat_is_number(a) && ls__chat_is_number(b))
        return compare_numbers(a, b);
    if (a.kind == CHAT_STRING && b.kind == CHAT_STRING)
        return compare_texts(render, a.string, b.string);
    if (is_sequence(a) && a.kind == b.kind) {
        for (size_t i = 0; i < a.list->count && i < b.list->count; i++)
            if (!equal_deep(render, a.list->items[i], b.list->items[i], depth + 1))
                return compare_deep(render, a.list->items[i], b.list->items[i], operation,
                                    depth + 1);
        return (a.list->count > b.list->count) - (a.list->count < b.list->count);
    }
    if (a.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, a);
    if (b.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, b);
    ls__chat_fail(render, LS_E_FORMAT, "'%s' not supported between instances of '%s' and '%s'",
                  operation, ls__chat_type(a), ls__chat_type(b));
}

int ls__chat_compare(chat_render *render, chat_value a, chat_value b, const char *operation)
{
    return compare_deep(render, a, b, operation, 0);
}

/* --- dicts ------------------------------------------------------------------------------------ */

static bool is_hashable(chat_render *render, chat_value key, unsigned depth)
{
    if (depth > CHAT_VALUE_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "a key is nested too deep");
    if (key.kind == CHAT_TUPLE)
        for (size_t i = 0; i < key.list->count; i++)
            if (!is_hashable(render, key.list->items[i], depth + 1))
                return false;
    return key.kind != CHAT_LIST && key.kind != CHAT_DICT;
}

bool ls__chat_is_hashable(chat_render *render, chat_value key)
{
    return is_hashable(render, key, 0);
}

const chat_value *ls__chat_get(chat_render *render, const chat_dict *dict, chat_value key)
{
    if (!is_hashable(render, key, 0))
        ls__chat_fail(render, LS_E_FORMAT, "unhashable type: '%s'", ls__chat_type(key));
    if (key.kind == CHAT_STRING) {
        ls__chat_spend(render, 1 + dict->count / 8);
        return ls__chat_get_name(dict, key.string);
    }
    for (size_t i = 0; i < dict->count; i++)
        if (ls__chat_equal(render, dict->items[i].key, key))
            return &dict->items[i].value;
    return NULL;
}

const chat_value *ls__chat_get_name(const chat_dict *dict, const chat_string *name)
{
    for (size_t i = 0; i < dict->count; i++) {
        chat_value key = dict->items[i].key;
        if (key.kind == CHAT_STRING && key.string->bytes == name->bytes &&
            memcmp(key.string->text, name->text, name->bytes) == 0)
            return &dict->items[i].value;
    }
    return NULL;
}

/* --- membership and going through ------------------------------------------------------------- */

bool ls__chat_contains(chat_render *render, chat_value container, chat_value item)
{
    if (container.kind == CHAT_STRING) {
        if (item.kind != CHAT_STRING)
            ls__chat_fail(render, LS_E_FORMAT,
                          "'in <string>' requires string as left operand, not %s",
                          ls__chat_type(item));
        ls__chat_spend_bytes(render, container.string->bytes);
        return memmem(container.string->text, container.string->bytes, item.string->text,
                      item.string->bytes) != NULL;
    }
    if (container.kind == CHAT_DICT)
        return ls__chat_get(render, container.dict, item) != NULL;
    if (!ls__chat_is_iterable(container))
        ls__chat_fail(render, LS_E_FORMAT, "argument of type '%s' is not iterable",
                      ls__chat_type(container));
    chat_iterator iterator = ls__chat_iterate(render, container);
    chat_value other;
    while (ls__chat_next(render, &iterator, &other))
        if (ls__chat_equal(render, other, item))
            return true;
    return false;
}

bool ls__chat_is_iterable(chat_value value)
{
    switch (value.kind) {
    case CHAT_UNDEFINED:
    case CHAT_STRING:
    case CHAT_LIST:
    case CHAT_TUPLE:
    case CHAT_DICT:
    case CHAT_RANGE:
    case CHAT_VIEW:
    case CHAT_ITERATOR:
        return true;
    default:
        return false;
    }
}

chat_iterator ls__chat_iterate(chat_render *render, chat_value over)
{
    if (over.kind == CHAT_LOOP)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "going through 'loop' itself is not supported");
    if (!ls__chat_is_iterable(over))
        ls__chat_fail(render, LS_E_FORMAT, "'%s' object is not iterable", ls__chat_type(over));
    return (chat_iterator){.over = over};
}

static chat_value view_item(chat_render *render, const chat_view *view, size_t index)
{
    const chat_pair *pair = &view->dict->items[index];
    return view->kind == CHAT_KEYS     ? pair->key
           : view->kind == CHAT_VALUES ? pair->value
                                       : ls__chat_tuple2(render, pair->key, pair->value);
}

bool ls__chat_next(chat_render *render, chat_iterator *iterator, chat_value *item)
{
    chat_value over = iterator->over;
    ls__chat_spend(render, 1);
    switch (over.kind) {
    case CHAT_STRING: {
        if (iterator->position == over.string->bytes)
            return false;
        const char *at = over.string->text + iterator->position;
        size_t length = ls__chat_utf8_length(*at);
        *item = ls__chat_text_of(render, at, length);
        iterator->position += length;
        return true;
    }
    case CHAT_ITERATOR:
        if (over.list->position == over.list->count)
            return false;
        *item = over.list->items[over.list->position++];
        return true;
    case CHAT_UNDEFINED:
        return false;
    default:
        break;
    }
    size_t length, index = iterator->position;
    if (!ls__chat_has_length(over, &length) || index >= length)
        return false;
    iterator->position++;
    *item = over.kind == CHAT_DICT   ? over.dict->items[index].key
            : over.kind == CHAT_VIEW ? view_item(render, over.view, index)
            : over.kind == CHAT_RANGE
                ? ls__chat_int(over.range->start + (int64_t)index * over.range->step)
                : over.list->items[index];
    return true;
}

chat_list *ls__chat_to_list(chat_render *render, chat_value over)
{
    chat_iterator iterator = ls__chat_iterate(render, over);
    size_t length = 0;
    ls__chat_has_length(over, &length);
    chat_list *list = ls__chat_list(render, CHAT_LIST, length).list;
    chat_value item;
    while (ls__chat_next(render, &iterator, &item))
        ls__chat_push(render, list, item);
    return list;
}
