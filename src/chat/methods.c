/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of lists, dicts and `loop`, and the tables of what other values have. Those of texts are
 * in methods_text.c. */
#include "chat/methods.h"

#define METHOD(name_)                                                                              \
    static chat_value name_(chat_render *render, chat_value self, chat_arguments *arguments)

chat_value ls__chat_unsafe(chat_render *render, chat_value self, chat_arguments *arguments)
{
    (void)arguments;
    ls__chat_fail(render, LS_E_FORMAT, "templates may not change a '%s'", ls__chat_type(self));
}

/* --- dicts ------------------------------------------------------------------------------------ */

static chat_value view(chat_render *render, chat_value self, chat_view_kind kind)
{
    chat_view *made = LS__NEW(&render->arena, chat_view);
    *made = (chat_view){self.dict, kind};
    return (chat_value){.kind = CHAT_VIEW, .view = made};
}

METHOD(dict_keys)
{
    (void)arguments;
    return view(render, self, CHAT_KEYS);
}

METHOD(dict_values)
{
    (void)arguments;
    return view(render, self, CHAT_VALUES);
}

METHOD(dict_items)
{
    (void)arguments;
    return view(render, self, CHAT_ITEMS);
}

METHOD(dict_get)
{
    const chat_value *found = ls__chat_get(render, self.dict, arguments->items[0]);
    chat_value otherwise = arguments->items[1];
    return found ? *found : otherwise.kind == CHAT_MISSING ? ls__chat_none() : otherwise;
}

METHOD(dict_copy)
{
    (void)arguments;
    chat_value copy = ls__chat_dict(render, self.dict->count);
    ls__chat_spend(render, self.dict->count / 8);
    for (size_t i = 0; i < self.dict->count; i++)
        copy.dict->items[copy.dict->count++] = self.dict->items[i];
    return copy;
}

/* --- lists and tuples ------------------------------------------------------------------------- */

METHOD(list_count)
{
    int64_t count = 0;
    for (size_t i = 0; i < self.list->count; i++)
        count += ls__chat_equal(render, self.list->items[i], arguments->items[0]);
    return ls__chat_int(count);
}

METHOD(list_index)
{
    for (size_t i = 0; i < self.list->count; i++)
        if (ls__chat_equal(render, self.list->items[i], arguments->items[0]))
            return ls__chat_size(render, i);
    ls__chat_fail(render, LS_E_FORMAT, "the value is not in the %s", ls__chat_type(self));
}

METHOD(list_copy)
{
    (void)arguments;
    return (chat_value){.kind = CHAT_LIST, .list = ls__chat_to_list(render, self)};
}

/* --- loop ------------------------------------------------------------------------------------- */

METHOD(loop_cycle)
{
    if (arguments->count == 0)
        ls__chat_fail(render, LS_E_FORMAT, "no items for cycling given");
    return arguments->items[(self.loop->index - 1) % arguments->count];
}

METHOD(loop_changed)
{
    chat_value now = ls__chat_list(render, CHAT_TUPLE, arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        ls__chat_push(render, now.list, arguments->items[i]);
    chat_value before = {.kind = CHAT_TUPLE, .list = self.loop->changed};
    if (before.list && ls__chat_equal(render, before, now))
        return ls__chat_bool(false);
    self.loop->changed = now.list;
    return ls__chat_bool(true);
}

/* --- tables ----------------------------------------------------------------------------------- */

const chat_callable ls__chat_dict_methods[] = {
    {"get", dict_get, {"key", "default"}, 1},
    {"keys", dict_keys, {NULL}, 0},
    {"values", dict_values, {NULL}, 0},
    {"items", dict_items, {NULL}, 0},
    {"copy", dict_copy, {NULL}, 0},
    {"clear", ls__chat_unsafe, {NULL}, 0},
    {"pop", ls__chat_unsafe, {NULL}, 0},
    {"popitem", ls__chat_unsafe, {NULL}, 0},
    {"setdefault", ls__chat_unsafe, {NULL}, 0},
    {"update", ls__chat_unsafe, {NULL}, 0},
    {"fromkeys", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_list_methods[] = {
    {"count", list_count, {"value"}, 1},    {"index", list_index, {"value"}, 1},
    {"copy", list_copy, {NULL}, 0},         {"append", ls__chat_unsafe, {NULL}, 0},
    {"clear", ls__chat_unsafe, {NULL}, 0},  {"extend", ls__chat_unsafe, {NULL}, 0},
    {"insert", ls__chat_unsafe, {NULL}, 0}, {"pop", ls__chat_unsafe, {NULL}, 0},
    {"remove", ls__chat_unsafe, {NULL}, 0}, {"reverse", ls__chat_unsafe, {NULL}, 0},
    {"sort", ls__chat_unsafe, {NULL}, 0},   {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_tuple_methods[] = {
    {"count", list_count, {"value"}, 1},
    {"index", list_index, {"value"}, 1},
    {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_loop_methods[] = {
    {"cycle", loop_cycle, {"*"}, 0},
    {"changed", loop_changed, {"*"}, 0},
    {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_number_methods[] = {
    {"as_integer_ratio", NULL, {NULL}, 0},
    {"bit_count", NULL, {NULL}, 0},
    {"bit_length", NULL, {NULL}, 0},
    {"conjugate", NULL, {NULL}, 0},
    {"denominator", NULL, {NULL}, 0},
    {"from_bytes", NULL, {NULL}, 0},
    {"fromhex", NULL, {NULL}, 0},
    {"hex", NULL, {NULL}, 0},
    {"imag", NULL, {NULL}, 0},
    {"is_integer", NULL, {NULL}, 0},
    {"numerator", NULL, {NULL}, 0},
    {"real", NULL, {NULL}, 0},
    {"to_bytes", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_range_methods[] = {
    {"count", NULL, {NULL}, 0}, {"index", NULL, {NULL}, 0}, {"start", NULL, {NULL}, 0},
    {"step", NULL, {NULL}, 0},  {"stop", NULL, {NULL}, 0},  {NULL, NULL, {NULL}, 0},
};

const chat_callable ls__chat_macro_methods[] = {
    {"arguments", NULL, {NULL}, 0},
    {"caller", NULL, {NULL}, 0},
    {"catch_kwargs", NULL, {NULL}, 0},
    {"catch_varargs", NULL, {NULL}, 0},
    {"explicit_caller", NULL, {NULL}, 0},
    {"name", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};
