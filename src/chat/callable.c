/* SPDX-License-Identifier: Apache-2.0 */
/* Calling what the tables of filters, tests, methods and functions name: arguments are put in the
 * order of the parameters, checked for number and name, then the function is called. */
#include "chat/render.h"

#include <string.h>

const chat_callable *ls__chat_find_callable(const chat_callable *table, const char *name,
                                            size_t bytes)
{
    for (; table->name; table++)
        if (ls__str_is((ls__str){name, bytes}, table->name))
            return table;
    return NULL;
}

const chat_callable *ls__chat_find_filter(const char *name, size_t bytes)
{
    const chat_callable *found = ls__chat_find_callable(ls__chat_filters, name, bytes);
    return found ? found : ls__chat_find_callable(ls__chat_list_filters, name, bytes);
}

static size_t parameter_count(const chat_callable *callable)
{
    size_t count = 0;
    while (count < CHAT_PARAMETERS_MAX && callable->parameters[count])
        count++;
    return count;
}

static void bind(chat_render *render, const chat_callable *callable, const char *what,
                 chat_arguments *arguments)
{
    size_t count = parameter_count(callable);
    chat_value *items = LS__NEW_ARRAY(&render->arena, chat_value, count);
    if (arguments->count > count)
        ls__chat_fail(render, LS_E_FORMAT, "the %s '%s' takes at most %zu argument(s), not %zu",
                      what, callable->name, count, arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        items[i] = arguments->items[i];
    for (size_t i = 0; i < arguments->keyword_count; i++) {
        const chat_string *name = arguments->keywords[i].name;
        size_t place = 0;
        while (place < count &&
               !ls__str_is((ls__str){name->text, name->bytes}, callable->parameters[place]))
            place++;
        if (place == count)
            ls__chat_fail(render, LS_E_FORMAT, "the %s '%s' has no parameter '%.*s'", what,
                          callable->name, (int)name->bytes, name->text);
        if (items[place].kind != CHAT_MISSING)
            ls__chat_fail(render, LS_E_FORMAT, "the %s '%s' is given '%.*s' twice", what,
                          callable->name, (int)name->bytes, name->text);
        items[place] = arguments->keywords[i].value;
    }
    for (size_t i = 0; i < callable->required; i++)
        if (items[i].kind == CHAT_MISSING)
            ls__chat_fail(render, LS_E_FORMAT, "the %s '%s' needs the argument '%s'", what,
                          callable->name, callable->parameters[i]);
    *arguments = (chat_arguments){.items = items, .count = count};
}

static void prepare(chat_render *render, const chat_callable *callable, const char *what,
                    chat_arguments *arguments)
{
    if (!callable->function)
        ls__chat_fail(render, LS_E_UNSUPPORTED, "the %s '%s' is not supported", what,
                      callable->name);
    if (!callable->parameters[0] || strcmp(callable->parameters[0], "*") != 0)
        bind(render, callable, what, arguments);
}

chat_value ls__chat_invoke(chat_render *render, const chat_callable *callable, const char *what,
                           chat_value self, chat_arguments *arguments)
{
    prepare(render, callable, what, arguments);
    ls__chat_enter(render);
    chat_value value = callable->function(render, self, arguments);
    ls__chat_leave(render);
    return value;
}

bool ls__chat_test(chat_render *render, const chat_callable *test, chat_value value,
                   chat_arguments *arguments)
{
    prepare(render, test, "test", arguments);
    return ls__chat_truth(test->function(render, value, arguments));
}

/* --- arguments -------------------------------------------------------------------------------- */

const chat_string *ls__chat_want_text(chat_render *render, chat_value value, const char *what)
{
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (value.kind != CHAT_STRING)
        ls__chat_fail(render, LS_E_FORMAT, "%s must be a text, not '%s'", what,
                      ls__chat_type(value));
    return value.string;
}

int64_t ls__chat_want_int(chat_render *render, chat_value value, int64_t missing, const char *what)
{
    int64_t integer;
    if (value.kind == CHAT_MISSING)
        return missing;
    if (value.kind == CHAT_UNDEFINED)
        ls__chat_fail_undefined(render, value);
    if (!ls__chat_to_int(value, &integer))
        ls__chat_fail(render, LS_E_FORMAT, "%s must be an integer, not '%s'", what,
                      ls__chat_type(value));
    return integer;
}

bool ls__chat_want_bool(chat_value value, bool missing)
{
    return value.kind == CHAT_MISSING ? missing : ls__chat_truth(value);
}
