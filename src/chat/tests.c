/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind `is`. Each answers a bool. */
#include "chat/render.h"
#include "chat/text.h"

#define TEST(name_)                                                                                \
    static chat_value name_(chat_render *render, chat_value value, chat_arguments *arguments)
#define UNUSED (void)render, (void)arguments

TEST(is_defined)
{
    UNUSED;
    return ls__chat_bool(value.kind != CHAT_UNDEFINED);
}

TEST(is_undefined)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_UNDEFINED);
}

TEST(is_none)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_NONE);
}

TEST(is_boolean)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_BOOL);
}

TEST(is_true)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_BOOL && value.boolean);
}

TEST(is_false)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_BOOL && !value.boolean);
}

TEST(is_integer)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_INT);
}

TEST(is_float)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_FLOAT);
}

TEST(is_number)
{
    UNUSED;
    return ls__chat_bool(ls__chat_is_number(value));
}

TEST(is_string)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_STRING);
}

TEST(is_mapping)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_DICT);
}

TEST(is_iterable)
{
    UNUSED;
    return ls__chat_bool(ls__chat_is_iterable(value) || value.kind == CHAT_LOOP);
}

TEST(is_sequence)
{
    size_t length;
    UNUSED;
    return ls__chat_bool(value.kind != CHAT_VIEW && ls__chat_has_length(value, &length));
}

TEST(is_callable)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_NATIVE || value.kind == CHAT_MACRO ||
                         value.kind == CHAT_UNDEFINED || value.kind == CHAT_LOOP);
}

/* value % divisor == wanted */
static chat_value remainder_is(chat_render *render, chat_value value, chat_value divisor,
                               int64_t wanted)
{
    chat_value rest = ls__chat_binary(render, CHAT_MODULO, value, divisor);
    return ls__chat_bool(ls__chat_equal(render, rest, ls__chat_int(wanted)));
}

TEST(is_odd)
{
    UNUSED;
    return remainder_is(render, value, ls__chat_int(2), 1);
}

TEST(is_even)
{
    UNUSED;
    return remainder_is(render, value, ls__chat_int(2), 0);
}

TEST(is_divisible)
{
    return remainder_is(render, value, arguments->items[0], 0);
}

TEST(is_equal)
{
    return ls__chat_bool(ls__chat_equal(render, value, arguments->items[0]));
}

TEST(is_not_equal)
{
    return ls__chat_bool(!ls__chat_equal(render, value, arguments->items[0]));
}

TEST(is_less)
{
    return ls__chat_bool(ls__chat_compare(render, value, arguments->items[0], "<") == -1);
}

TEST(is_less_equal)
{
    int order = ls__chat_compare(render, value, arguments->items[0], "<=");
    return ls__chat_bool(order == -1 || order == 0);
}

TEST(is_greater)
{
    return ls__chat_bool(ls__chat_compare(render, value, arguments->items[0], ">") == 1);
}

TEST(is_greater_equal)
{
    int order = ls__chat_compare(render, value, arguments->items[0], ">=");
    return ls__chat_bool(order == 1 || order == 0);
}

TEST(is_in)
{
    return ls__chat_bool(ls__chat_contains(render, arguments->items[0], value));
}

TEST(is_lower)
{
    UNUSED;
    return ls__chat_bool(ls__chat_is_case(ls__chat_str(render, value), CHAT_IS_LOWER));
}

TEST(is_upper)
{
    UNUSED;
    return ls__chat_bool(ls__chat_is_case(ls__chat_str(render, value), CHAT_IS_UPPER));
}

TEST(is_filter)
{
    UNUSED;
    return ls__chat_bool(value.kind == CHAT_STRING &&
                         ls__chat_find_filter(value.string->text, value.string->bytes));
}

TEST(is_test)
{
    UNUSED;
    return ls__chat_bool(
        value.kind == CHAT_STRING &&
        ls__chat_find_callable(ls__chat_tests, value.string->text, value.string->bytes));
}

/* The same object, not an equal one: only for what there is one of. */
TEST(is_same)
{
    chat_value other = arguments->items[0];
    if (value.kind != other.kind)
        return ls__chat_bool(false);
    if (value.kind == CHAT_BOOL || value.kind == CHAT_NONE)
        return ls__chat_bool(ls__chat_equal(render, value, other));
    if (value.kind == CHAT_NAMESPACE || value.kind == CHAT_LIST || value.kind == CHAT_DICT)
        return ls__chat_bool(value.dict == other.dict);
    ls__chat_fail(render, LS_E_UNSUPPORTED, "the test 'sameas' on '%s' is not supported",
                  ls__chat_type(value));
}

const chat_callable ls__chat_tests[] = {
    {"defined", is_defined, {NULL}, 0},
    {"undefined", is_undefined, {NULL}, 0},
    {"none", is_none, {NULL}, 0},
    {"boolean", is_boolean, {NULL}, 0},
    {"true", is_true, {NULL}, 0},
    {"false", is_false, {NULL}, 0},
    {"integer", is_integer, {NULL}, 0},
    {"float", is_float, {NULL}, 0},
    {"number", is_number, {NULL}, 0},
    {"string", is_string, {NULL}, 0},
    {"mapping", is_mapping, {NULL}, 0},
    {"iterable", is_iterable, {NULL}, 0},
    {"sequence", is_sequence, {NULL}, 0},
    {"callable", is_callable, {NULL}, 0},
    {"odd", is_odd, {NULL}, 0},
    {"even", is_even, {NULL}, 0},
    {"divisibleby", is_divisible, {"num"}, 1},
    {"eq", is_equal, {"other"}, 1},
    {"equalto", is_equal, {"other"}, 1},
    {"==", is_equal, {"other"}, 1},
    {"ne", is_not_equal, {"other"}, 1},
    {"!=", is_not_equal, {"other"}, 1},
    {"lt", is_less, {"other"}, 1},
    {"lessthan", is_less, {"other"}, 1},
    {"<", is_less, {"other"}, 1},
    {"le", is_less_equal, {"other"}, 1},
    {"<=", is_less_equal, {"other"}, 1},
    {"gt", is_greater, {"other"}, 1},
    {"greaterthan", is_greater, {"other"}, 1},
    {">", is_greater, {"other"}, 1},
    {"ge", is_greater_equal, {"other"}, 1},
    {">=", is_greater_equal, {"other"}, 1},
    {"in", is_in, {"seq"}, 1},
    {"lower", is_lower, {NULL}, 0},
    {"upper", is_upper, {NULL}, 0},
    {"filter", is_filter, {NULL}, 0},
    {"test", is_test, {NULL}, 0},
    {"sameas", is_same, {"other"}, 1},
    {"escaped", NULL, {NULL}, 0},
    {NULL, NULL, {NULL}, 0},
};
