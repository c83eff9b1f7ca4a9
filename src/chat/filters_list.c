/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of lists and dicts. Those that Jinja2 makes lazily (map, select, ...) give an iterator,
 * which has no length and is used up by looking at it, though its items are computed at once.
 */
#include <string.h>

#include "chat/render.h"
#include "chat/text.h"

#define FILTER(name_)                                                                              \
    static chat_value name_(chat_render *render, chat_value value, chat_arguments *arguments)

static chat_value empty_iterator(chat_render *render)
{
    return ls__chat_list(render, CHAT_ITERATOR, 0);
}

static bool is_given(chat_value value)
{
    return value.kind != CHAT_MISSING && value.kind != CHAT_NONE;
}

/* --- attributes by path ----------------------------------------------------------------------- */

static bool is_number(const char *text, size_t bytes, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, text[i] - '0', number))
            return false;
    return bytes > 0;
}

/* The value at "a.b.0" of `item`; `otherwise` (MISSING: none) for each step that is undefined. */
static chat_value get_path(chat_render *render, chat_value item, chat_value path,
                           chat_value otherwise)
{
    if (!is_given(path))
        return item;
    if (path.kind != CHAT_STRING) {
        item = ls__chat_item(render, item, path);
        return item.kind == CHAT_UNDEFINED && is_given(otherwise) ? otherwise : item;
    }
    const char *text = path.string->text, *end = text + path.string->bytes;
    for (;;) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        size_t bytes = (size_t)((dot ? dot : end) - text);
        int64_t number;
        chat_value key = is_number(text, bytes, &number) ? ls__chat_int(number)
                                                         : ls__chat_text_of(render, text, bytes);
        item = ls__chat_item(render, item, key);
        if (item.kind == CHAT_UNDEFINED && is_given(otherwise))
            item = otherwise;
        if (!dot)
            return item;
        text = dot + 1;
    }
}

static chat_value ignore_case(chat_render *render, chat_value value, bool case_sensitive)
{
    if (case_sensitive || value.kind != CHAT_STRING)
        return value;
    return ls__chat_change_case(render, value.string, CHAT_TO_LOWER);
}

/* --- choosing --------------------------------------------------------------------------------- */

static const chat_callable *find_test(chat_render *render, chat_value name)
{
    const chat_string *text = ls__chat_want_text(render, name, "the name of a test");
    const chat_callable *test = ls__chat_find_callable(ls__chat_tests, text->text, text->bytes);
    if (!test)
        ls__chat_fail(render, LS_E_FORMAT, "there is no test '%.*s'", (int)text->bytes, text->text);
    return test;
}

/* A copy without the first ones, for a callee that binds it anew. */
static chat_arguments without(chat_render *render, const chat_arguments *arguments, size_t first)
{
    chat_arguments rest = *arguments;
    rest.items += first;
    rest.count -= first;
    rest.keywords = LS__NEW_ARRAY(&render->arena, chat_variable, arguments->keyword_count);
    for (size_t i = 0; i < arguments->keyword_count; i++)
        rest.keywords[i] = arguments->keywords[i];
    return rest;
}

static chat_value choose(chat_render *render, chat_value value, const chat_arguments *arguments,
                         bool by_attribute, bool wanted)
{
    size_t first = by_attribute;
    chat_value chosen = empty_iterator(render), item, path = {.kind = CHAT_MISSING};
    if (!ls__chat_truth(value))
        return chosen;
    if (by_attribute) {
        if (arguments->count == 0)
            ls__chat_fail(render, LS_E_FORMAT, "Missing parameter for attribute name");
        path = arguments->items[0];
    }
    const chat_callable *test =
        arguments->count > first ? find_test(render, arguments->items[first]) : NULL;
    chat_iterator iterator = ls__chat_iterate(render, value);
    while (ls__chat_next(render, &iterator, &item)) {
        chat_value tested = get_path(render, item, path, (chat_value){.kind = CHAT_MISSING});
        bool holds;
        if (test) {
            chat_arguments rest = without(render, arguments, first + 1);
            holds = ls__chat_test(render, test, tested, &rest);
        } else {
            holds = ls__chat_truth(tested);
        }
        if (holds == wanted)
            ls__chat_push(render, chosen.list, item);
    }
    return chosen;
}

FILTER(filter_select)
{
    return choose(render, value, arguments, false, true);
}

FILTER(filter_reject)
{
    return choose(render, value, arguments, false, false);
}

FILTER(filter_selectattr)
{
    return choose(render, value, arguments, true, true);
}

FILTER(filter_rejectattr)
{
    return choose(render, value, arguments, true, false);
}

static chat_value keyword(const chat_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->keyword_count; i++) {
        const chat_string *text = arguments->keywords[i].name;
        if (ls__str_is((ls__str){text->text, text->bytes}, name))
            return arguments->keywords[i].value;
    }
    return (chat_value){.kind = CHAT_MISSING};
}

/* map(attribute=..., default=...), or map("name of a filter", its arguments). */
FILTER(filter_map)
{
    chat_value mapped = empty_iterator(render), item;
    chat_value path = keyword(arguments, "attribute"), otherwise = keyword(arguments, "default");
    const chat_callable *filter = NULL;
    if (!ls__chat_truth(value))
        return mapped;
    if (arguments->count > 0) {
        const chat_string *name =
            ls__chat_want_text(render, arguments->items[0], "the name of a filter");
        filter = ls__chat_find_filter(name->text, name->bytes);
        if (!filter)
            ls__chat_fail(render, LS_E_FORMAT, "there is no filter '%.*s'", (int)name->bytes,
                          name->text);
    } else if (path.kind == CHAT_MISSING) {
        ls__chat_fail(render, LS_E_FORMAT, "map requires a filter argument");
    } else if (arguments->keyword_count > (otherwise.kind == CHAT_MISSING ? 1u : 2u)) {
        ls__chat_fail(render, LS_E_FORMAT, "map knows only 'attribute' and 'default'");
    }
    chat_iterator iterator = ls__chat_iterate(render, value);
    while (ls__chat_next(render, &iterator, &item)) {
        if (filter) {
            chat_arguments rest = without(render, arguments, 1);
            item = ls__chat_invoke(render, filter, "filter", item, &rest);
        } else {
            item = get_path(render, item, path, otherwise);
        }
        ls__chat_push(render, mapped.list, item);
    }
    return mapped;
}

/* --- order ------------------------------------------------------------------------------------ */

typedef struct sort_item {
    chat_value key, value;
} sort_item;

/* Merges two sorted halves; equal ones keep their order, backwards too. */
static void merge_sort(chat_render *render, sort_item *items, sort_item *room, size_t count,
                       bool is_backward)
{
    if (count < 2)
        return;
    size_t half = count / 2, left = 0, right = half;
    merge_sort(render, items, room, half, is_backward);
    merge_sort(render, items + half, room, count - half, is_backward);
    for (size_t i = 0; i < count; i++) {
        bool takes_right = right < count;
        if (left < half && right < count) {
            const chat_value a = items[left].key, b = items[right].key;
            takes_right = is_backward ? ls__chat_compare(render, a, b, "<") == -1
                                      : ls__chat_compare(render, b, a, "<") == -1;
        }
        room[i] = items[takes_right ? right++ : left++];
    }
    memcpy(items, room, count * sizeof *items);
}

static chat_value sorted(chat_render *render, sort_item *items, size_t count, bool is_backward)
{
    chat_value list = ls__chat_list(render, CHAT_LIST, count);
    merge_sort(render, items, LS__NEW_ARRAY(&render->arena, sort_item, count), count, is_backward);
    for (size_t i = 0; i < count; i++)
        list.list->items[list.list->count++] = items[i].value;
    return list;
}

/* The keys of an item: a list, one for each path of "a,b". */
static chat_value sort_keys(chat_render *render, chat_value item, chat_value paths,
                            bool case_sensitive)
{
    const chat_value none = {.kind = CHAT_MISSING};
    chat_value keys = ls__chat_list(render, CHAT_LIST, 1), key;
    if (paths.kind != CHAT_STRING) {
        key = get_path(render, item, paths, none);
        ls__chat_push(render, keys.list, ignore_case(render, key, case_sensitive));
        return keys;
    }
    const char *text = paths.string->text, *end = text + paths.string->bytes;
    for (;;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        chat_value path = ls__chat_text_of(render, text, (size_t)((comma ? comma : end) - text));
        key = get_path(render, item, path, none);
        ls__chat_push(render, keys.list, ignore_case(render, key, case_sensitive));
        if (!comma)
            return keys;
        text = comma + 1;
    }
}

FILTER(filter_sort)
{
    bool is_backward = ls__chat_want_bool(arguments->items[0], false);
    bool case_sensitive = ls__chat_want_bool(arguments->items[1], false);
    const chat_list *list = ls__chat_to_list(render, value);
    sort_item *items = LS__NEW_ARRAY(&render->arena, sort_item, list->count);
    for (size_t i = 0; i < list->count; i++)
        items[i] = (sort_item){
            sort_keys(render, list->items[i], arguments->items[2], case_sensitive), list->items[i]};
    return sorted(render, items, list->count, is_backward);
}

FILTER(filter_dictsort)
{
    bool case_sensitive = ls__chat_want_bool(arguments->items[0], false);
    chat_value by = arguments->items[1];
    bool by_value = ls__chat_is_text(by, "value");
    if (by.kind != CHAT_MISSING && !by_value && !ls__chat_is_text(by, "key"))
        ls__chat_fail(render, LS_E_FORMAT, "You can only sort by either \"key\" or \"value\"");
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (value.kind != CHAT_DICT)
        ls__chat_fail(render, LS_E_FORMAT, "dictsort needs a dict, not '%s'", ls__chat_type(value));
    sort_item *items = LS__NEW_ARRAY(&render->arena, sort_item, value.dict->count);
    for (size_t i = 0; i < value.dict->count; i++) {
        const chat_pair *pair = &value.dict->items[i];
        items[i] =
            (sort_item){ignore_case(render, by_value ? pair->value : pair->key, case_sensitive),
                        ls__chat_tuple2(render, pair->key, pair->value)};
    }
    return sorted(render, items, value.dict->count, ls__chat_want_bool(arguments->items[2], false));
}

FILTER(filter_unique)
{
    bool case_sensitive = ls__chat_want_bool(arguments->items[0], false);
    chat_value found = empty_iterator(render), item, seen = ls__chat_dict(render, 0);
    chat_iterator iterator = ls__chat_iterate(render, value);
    while (ls__chat_next(render, &iterator, &item)) {
        chat_value key =
            get_path(render, item, arguments->items[1], (chat_value){.kind = CHAT_MISSING});
        key = ignore_case(render, key, case_sensitive);
        if (ls__chat_get(render, seen.dict, key))
            continue;
        ls__chat_put(render, seen.dict, key, ls__chat_none());
        ls__chat_push(render, found.list, item);
    }
    return found;
}

static chat_value extreme(chat_render *render, chat_value value, const chat_arguments *arguments,
                          int wanted)
{
    bool case_sensitive = ls__chat_want_bool(arguments->items[0], false);
    chat_value best = {.kind = CHAT_MISSING}, best_key = best, item;
    chat_iterator iterator = ls__chat_iterate(render, value);
    while (ls__chat_next(render, &iterator, &item)) {
        chat_value key =
            get_path(render, item, arguments->items[1], (chat_value){.kind = CHAT_MISSING});
        key = ignore_case(render, key, case_sensitive);
        if (best.kind != CHAT_MISSING &&
            ls__chat_compare(render, key, best_key, wanted < 0 ? "<" : ">") != wanted)
            continue;
        best = item;
        best_key = key;
    }
    return best.kind == CHAT_MISSING
               ? ls__chat_undefined(render, "No aggregated item, sequence was empty.")
               : best;
}

FILTER(filter_min)
{
    return extreme(render, value, arguments, -1);
}

FILTER(filter_max)
{
    return extreme(render, value, arguments, 1);
}

static bool is_reversible(chat_value value)
{
    return value.kind != CHAT_ITERATOR && ls__chat_is_iterable(value);
}

static chat_value backwards(chat_render *render, chat_value value, chat_kind kind)
{
    const chat_list *list = ls__chat_to_list(render, value);
    chat_value reversed = ls__chat_list(render, kind, list->count);
    for (size_t i = list->count; i > 0; i--)
        reversed.list->items[reversed.list->count++] = list->items[i - 1];
    return reversed;
}

FILTER(filter_reverse)
{
    (void)arguments;
    const chat_value none = ls__chat_none();
    if (value.kind == CHAT_STRING)
        return ls__chat_slice(render, value, none, none, ls__chat_int(-1));
    return backwards(render, value, is_reversible(value) ? CHAT_ITERATOR : CHAT_LIST);
}

/* --- parts and wholes ------------------------------------------------------------------------- */

FILTER(filter_first)
{
    (void)arguments;
    chat_iterator iterator = ls__chat_iterate(render, value);
    chat_value item;
    return ls__chat_next(render, &iterator, &item)
               ? item
               : ls__chat_undefined(render, "No first item, sequence was empty.");
}

FILTER(filter_last)
{
    (void)arguments;
    if (!is_reversible(value))
        ls__chat_fail(render, LS_E_FORMAT, "'%s' object is not reversible", ls__chat_type(value));
    const chat_list *list = ls__chat_to_list(render, value);
    return list->count ? list->items[list->count - 1]
                       : ls__chat_undefined(render, "No last item, sequence was empty.");
}

FILTER(filter_list)
{
    (void)arguments;
    return (chat_value){.kind = CHAT_LIST, .list = ls__chat_to_list(render, value)};
}

FILTER(filter_items)
{
    (void)arguments;
    chat_value items = empty_iterator(render);
    if (value.kind == CHAT_UNDEFINED)
        return items;
    if (value.kind != CHAT_DICT)
        ls__chat_fail(render, LS_E_FORMAT, "Can only get item pairs from a mapping.");
    for (size_t i = 0; i < value.dict->count; i++)
        ls__chat_push(
            render, items.list,
            ls__chat_tuple2(render, value.dict->items[i].key, value.dict->items[i].value));
    return items;
}

FILTER(filter_join)
{
    chat_value separator = arguments->items[0], path = arguments->items[1], item;
    chat_value items = value;
    if (is_given(path)) {
        items = empty_iterator(render);
        chat_iterator iterator = ls__chat_iterate(render, value);
        while (ls__chat_next(render, &iterator, &item))
            ls__chat_push(render, items.list,
                          get_path(render, item, path, (chat_value){.kind = CHAT_MISSING}));
    }
    if (separator.kind == CHAT_MISSING)
        separator = ls__chat_text_of(render, "", 0);
    return ls__chat_join(render, ls__chat_str(render, separator), items, false);
}

FILTER(filter_batch)
{
    chat_value batches = empty_iterator(render), batch = {.kind = CHAT_MISSING}, item;
    int64_t size = ls__chat_want_int(render, arguments->items[0], 0, "the size of a batch");
    if (size < 1)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "a batch of less than 1 is not supported");
    chat_iterator iterator = ls__chat_iterate(render, value);
    while (ls__chat_next(render, &iterator, &item)) {
        if (batch.kind == CHAT_MISSING || (int64_t)batch.list->count == size) {
            batch = ls__chat_list(render, CHAT_LIST, 0);
            ls__chat_push(render, batches.list, batch);
        }
        ls__chat_push(render, batch.list, item);
    }
    if (batch.kind != CHAT_MISSING && is_given(arguments->items[1]))
        while ((int64_t)batch.list->count < size) {
            ls__chat_spend(render, 1);
            ls__chat_push(render, batch.list, arguments->items[1]);
        }
    return batches;
}

FILTER(filter_sum)
{
    chat_value total = arguments->items[1], item;
    chat_iterator iterator = ls__chat_iterate(render, value);
    if (total.kind == CHAT_MISSING)
        total = ls__chat_int(0);
    if (total.kind == CHAT_STRING)
        ls__chat_fail(render, LS_E_FORMAT, "sum() can't sum strings [use ''.join(seq) instead]");
    while (ls__chat_next(render, &iterator, &item))
        total = ls__chat_binary(
            render, CHAT_ADD, total,
            get_path(render, item, arguments->items[0], (chat_value){.kind = CHAT_MISSING}));
    return total;
}

const chat_callable ls__chat_list_filters[] = {
    {"first", filter_first, {NULL}, 0},
    {"last", filter_last, {NULL}, 0},
    {"list", filter_list, {NULL}, 0},
    {"items", filter_items, {NULL}, 0},
    {"join", filter_join, {"d", "attribute"}, 0},
    {"map", filter_map, {"*"}, 0},
    {"select", filter_select, {"*"}, 0},
    {"reject", filter_reject, {"*"}, 0},
    {"selectattr", filter_selectattr, {"*"}, 0},
    {"rejectattr", filter_rejectattr, {"*"}, 0},
    {"sort", filter_sort, {"reverse", "case_sensitive", "attribute"}, 0},
    {"dictsort", filter_dictsort, {"case_sensitive", "by", "reverse"}, 0},
    {"unique", filter_unique, {"case_sensitive", "attribute"}, 0},
    {"min", filter_min, {"case_sensitive", "attribute"}, 0},
    {"max", filter_max, {"case_sensitive", "attribute"}, 0},
    {"reverse", filter_reverse, {NULL}, 0},
    {"batch", filter_batch, {"linecount", "fill_with"}, 1},
    {"sum", filter_sum, {"attribute", "start"}, 0},
    {NULL, NULL, {NULL}, 0},
};
