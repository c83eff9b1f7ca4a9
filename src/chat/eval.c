/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions. Operands are evaluated from left to right, as Python does, then `render->at` is set
 * back to the operation, so that a failure shows it. */
#include "chat/render.h"

void ls__chat_eval_arguments(chat_render *render, const chat_node *node, chat_arguments *arguments)
{
    ls__arena *arena = &render->arena;
    *arguments = (chat_arguments){
        .items = LS__NEW_ARRAY(arena, chat_value, node->items.count),
        .keywords = LS__NEW_ARRAY(arena, chat_variable, node->keywords.count + 1),
    };
    for (uint32_t i = 0; i < node->items.count; i++)
        arguments->items[arguments->count++] = ls__chat_eval(render, node->items.items[i]);
    for (uint32_t i = 0; i < node->keywords.count; i++) {
        const chat_keyword *keyword = &node->keywords.items[i];
        arguments->keywords[arguments->keyword_count++] =
            (chat_variable){keyword->name, ls__chat_eval(render, keyword->value)};
    }
}

chat_value ls__chat_call(chat_render *render, chat_value function, chat_arguments *arguments)
{
    switch (function.kind) {
    case CHAT_NATIVE:
        return ls__chat_invoke(render, function.native->callable, "function", function.native->self,
                               arguments);
    case CHAT_MACRO:
        return ls__chat_call_macro(render, function.macro, arguments);
    case CHAT_UNDEFINED:
        ls__chat_fail_undefined(render, function);
    case CHAT_LOOP:
        ls__chat_fail(render, LS_E_UNSUPPORTED, "recursive loops are not supported");
    default:
        ls__chat_fail(render, LS_E_FORMAT, "'%s' object is not callable", ls__chat_type(function));
    }
}

static chat_value eval_name(chat_render *render, const chat_node *node)
{
    const chat_value *found = ls__chat_find_variable(render, node->name);
    if (found)
        return *found;
    return ls__chat_undefined_key(render, NULL,
                                  (chat_value){.kind = CHAT_STRING, .string = node->name});
}

static chat_value eval_items(chat_render *render, const chat_node *node, chat_kind kind)
{
    chat_value list = ls__chat_list(render, kind, node->items.count);
    for (uint32_t i = 0; i < node->items.count; i++)
        ls__chat_push(render, list.list, ls__chat_eval(render, node->items.items[i]));
    return list;
}

static chat_value eval_dict(chat_render *render, const chat_node *node)
{
    chat_value dict = ls__chat_dict(render, node->items.count / 2);
    for (uint32_t i = 0; i < node->items.count; i += 2) {
        chat_value key = ls__chat_eval(render, node->items.items[i]);
        chat_value value = ls__chat_eval(render, node->items.items[i + 1]);
        render->at = node->items.items[i];
        ls__chat_put(render, dict.dict, key, value);
    }
    return dict;
}

static chat_value eval_slice(chat_render *render, const chat_node *node)
{
    chat_value value = ls__chat_eval(render, node->a), parts[3];
    const chat_node *const nodes[3] = {node->b, node->c, node->d};
    for (int i = 0; i < 3; i++)
        parts[i] = nodes[i] ? ls__chat_eval(render, nodes[i]) : ls__chat_none();
    render->at = node;
    return ls__chat_slice(render, value, parts[0], parts[1], parts[2]);
}

static chat_value eval_call(chat_render *render, const chat_node *node)
{
    chat_arguments arguments;
    chat_value function = ls__chat_eval(render, node->a);
    ls__chat_eval_arguments(render, node, &arguments);
    render->at = node;
    return ls__chat_call(render, function, &arguments);
}

static chat_value eval_filter(chat_render *render, const chat_node *node)
{
    chat_arguments arguments;
    chat_value value = node->a ? ls__chat_eval(render, node->a) : render->filter_input;
    ls__chat_eval_arguments(render, node, &arguments);
    render->at = node;
    if (!node->callable)
        ls__chat_fail(render, LS_E_FORMAT, "there is no %s '%s'",
                      node->kind == CHAT_TEST ? "test" : "filter", node->name->text);
    if (node->kind == CHAT_TEST)
        return ls__chat_bool(ls__chat_test(render, node->callable, value, &arguments));
    return ls__chat_invoke(render, node->callable, "filter", value, &arguments);
}

static chat_value eval_unary(chat_render *render, const chat_node *node)
{
    chat_value value = ls__chat_eval(render, node->a);
    render->at = node;
    if (node->operation == CHAT_NOT)
        return ls__chat_bool(!ls__chat_truth(value));
    return ls__chat_sign(render, value, node->operation == CHAT_NEGATE);
}

static chat_value eval_binary(chat_render *render, const chat_node *node)
{
    chat_value a = ls__chat_eval(render, node->a);
    if (node->operation == CHAT_AND)
        return ls__chat_truth(a) ? ls__chat_eval(render, node->b) : a;
    if (node->operation == CHAT_OR)
        return ls__chat_truth(a) ? a : ls__chat_eval(render, node->b);
    chat_value b = ls__chat_eval(render, node->b);
    render->at = node;
    return ls__chat_binary(render, node->operation, a, b);
}

static chat_value eval_concatenation(chat_render *render, const chat_node *node)
{
    chat_value *items = LS__NEW_ARRAY(&render->arena, chat_value, node->items.count);
    chat_buffer buffer = {0};
    for (uint32_t i = 0; i < node->items.count; i++)
        items[i] = ls__chat_eval(render, node->items.items[i]);
    render->at = node;
    for (uint32_t i = 0; i < node->items.count; i++)
        ls__chat_print(render, &buffer, items[i]);
    return ls__chat_buffer_value(render, &buffer);
}

static bool holds(chat_render *render, chat_operator operation, chat_value a, chat_value b)
{
    int order;
    switch (operation) {
    case CHAT_EQUAL:
        return ls__chat_equal(render, a, b);
    case CHAT_NOT_EQUAL:
        return !ls__chat_equal(render, a, b);
    case CHAT_IN:
        return ls__chat_contains(render, b, a);
    case CHAT_NOT_IN:
        return !ls__chat_contains(render, b, a);
    case CHAT_LESS:
        return ls__chat_compare(render, a, b, "<") == -1;
    case CHAT_LESS_EQUAL:
        order = ls__chat_compare(render, a, b, "<=");
        return order == -1 || order == 0;
    case CHAT_GREATER:
        return ls__chat_compare(render, a, b, ">") == 1;
    default:
        order = ls__chat_compare(render, a, b, ">=");
        return order == 1 || order == 0;
    }
}

/* a < b < c is a < b and b < c. */
static chat_value eval_comparison(chat_render *render, const chat_node *node)
{
    chat_value a = ls__chat_eval(render, node->a);
    for (uint32_t i = 0; i < node->items.count; i++) {
        chat_value b = ls__chat_eval(render, node->items.items[i]);
        render->at = node;
        if (!holds(render, node->operations[i], a, b))
            return ls__chat_bool(false);
        a = b;
    }
    return ls__chat_bool(true);
}

static chat_value eval_condition(chat_render *render, const chat_node *node)
{
    if (ls__chat_truth(ls__chat_eval(render, node->a)))
        return ls__chat_eval(render, node->b);
    if (node->c)
        return ls__chat_eval(render, node->c);
    return ls__chat_undefined(render, "the inline if-expression evaluated to false and no else "
                                      "section was defined");
}

static chat_value eval_subscript(chat_render *render, const chat_node *node)
{
    chat_value value = ls__chat_eval(render, node->a);
    if (node->kind == CHAT_ATTRIBUTE) {
        render->at = node;
        return ls__chat_attribute(render, value, node->name);
    }
    chat_value key = ls__chat_eval(render, node->b);
    render->at = node;
    return ls__chat_item(render, value, key);
}

static chat_value eval_kind(chat_render *render, const chat_node *node)
{
    switch (node->kind) {
    case CHAT_CONSTANT:
        return node->value;
    case CHAT_NAME:
        return eval_name(render, node);
    case CHAT_MAKE_LIST:
        return eval_items(render, node, CHAT_LIST);
    case CHAT_MAKE_TUPLE:
        return eval_items(render, node, CHAT_TUPLE);
    case CHAT_MAKE_DICT:
        return eval_dict(render, node);
    case CHAT_ATTRIBUTE:
    case CHAT_SUBSCRIPT:
        return eval_subscript(render, node);
    case CHAT_CUT:
        return eval_slice(render, node);
    case CHAT_CALL:
        return eval_call(render, node);
    case CHAT_FILTER:
    case CHAT_TEST:
        return eval_filter(render, node);
    case CHAT_UNARY:
        return eval_unary(render, node);
    case CHAT_BINARY:
        return eval_binary(render, node);
    case CHAT_CONCATENATE:
        return eval_concatenation(render, node);
    case CHAT_COMPARE:
        return eval_comparison(render, node);
    case CHAT_CONDITION:
        return eval_condition(render, node);
    default:
        ls__chat_fail(render, LS_E_INTERNAL, "a statement stands in the place of an expression");
    }
}

chat_value ls__chat_eval(chat_render *render, const chat_node *node)
{
    render->at = node;
    ls__chat_spend(render, 1);
    ls__chat_enter(render);
    chat_value value = eval_kind(render, node);
    ls__chat_leave(render);
    return value;
}
