/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements, scopes, loops and macros. A name is looked up from the innermost scope outwards;
 * each round of a loop, and each block that Jinja2 gives names of its own, opens one, so that what
 * is set there is gone behind it. {% if %} opens none.
 */
#include <string.h>

#include "chat/render.h"

/* --- limits ----------------------------------------------------------------------------------- */

void ls__chat_spend(chat_render *render, uint64_t steps)
{
    if (steps > render->steps_left)
        ls__chat_fail(render, LS_E_LIMIT, "the template takes too many steps");
    render->steps_left -= steps;
}

void ls__chat_spend_bytes(chat_render *render, uint64_t bytes)
{
    ls__chat_spend(render, bytes / 64);
}

void ls__chat_enter(chat_render *render)
{
    if (++render->depth > CHAT_DEPTH_MAX)
        ls__chat_fail(render, LS_E_LIMIT, "expressions or macros are nested too deep");
}

void ls__chat_leave(chat_render *render)
{
    render->depth--;
}

/* --- variables -------------------------------------------------------------------------------- */

static chat_variable *find_here(const chat_scope *scope, const chat_string *name)
{
    for (uint32_t i = 0; i < scope->variables.count; i++) {
        chat_variable *variable = &scope->variables.items[i];
        if (variable->name->bytes == name->bytes &&
            memcmp(variable->name->text, name->text, name->bytes) == 0)
            return variable;
    }
    return NULL;
}

const chat_value *ls__chat_find_variable(chat_render *render, const chat_string *name)
{
    for (const chat_scope *scope = render->scope; scope; scope = scope->parent) {
        ls__chat_spend(render, scope->variables.count / 16);
        const chat_variable *found = find_here(scope, name);
        if (found)
            return &found->value;
    }
    return NULL;
}

void ls__chat_set_variable(chat_render *render, chat_scope *scope, const chat_string *name,
                           chat_value value)
{
    chat_variable *found = find_here(scope, name);
    ls__chat_spend(render, scope->variables.count / 16);
    if (found) {
        found->value = value;
        return;
    }
    chat_variable variable = {name, value};
    ls__vec_push(&render->arena, &scope->variables, variable);
}

static chat_scope *open_scope(chat_render *render, chat_scope *parent)
{
    chat_scope *scope = LS__NEW(&render->arena, chat_scope);
    scope->parent = parent;
    return scope;
}

static void assign_to(chat_render *render, const chat_node *target, chat_value value);

static void unpack(chat_render *render, const chat_node *target, chat_value value)
{
    uint32_t wanted = target->items.count;
    chat_iterator iterator = ls__chat_iterate(render, value);
    chat_value *items = LS__NEW_ARRAY(&render->arena, chat_value, wanted);
    chat_value extra;
    for (uint32_t i = 0; i < wanted; i++)
        if (!ls__chat_next(render, &iterator, &items[i]))
            ls__chat_fail(render, LS_E_FORMAT, "not enough values to unpack (expected %u, got %u)",
                          wanted, i);
    if (ls__chat_next(render, &iterator, &extra))
        ls__chat_fail(render, LS_E_FORMAT, "too many values to unpack (expected %u)", wanted);
    for (uint32_t i = 0; i < wanted; i++)
        assign_to(render, target->items.items[i], items[i]);
}

static void assign_to(chat_render *render, const chat_node *target, chat_value value)
{
    render->at = target;
    if (target->kind == CHAT_NAME) {
        ls__chat_set_variable(render, render->scope, target->name, value);
        return;
    }
    if (target->kind == CHAT_MAKE_TUPLE) {
        unpack(render, target, value);
        return;
    }
    const chat_value *owner = ls__chat_find_variable(render, target->name);
    if (!owner || owner->kind != CHAT_NAMESPACE)
        ls__chat_fail(render, LS_E_FORMAT, "cannot assign attribute on non-namespace object");
    chat_value key = {.kind = CHAT_STRING, .string = target->field};
    ls__chat_put(render, owner->dict, key, value);
}

/* --- loops ------------------------------------------------------------------------------------ */

/* The next item that passes the filter, which is evaluated only now. */
static bool fetch(chat_render *render, chat_loop *loop, chat_value *item)
{
    chat_scope *scope = render->scope;
    while (ls__chat_next(render, &loop->source, item)) {
        if (!loop->filter)
            return true;
        render->scope = open_scope(render, loop->scope);
        assign_to(render, loop->target, *item);
        bool passes = ls__chat_truth(ls__chat_eval(render, loop->filter));
        render->scope = scope;
        if (passes)
            return true;
    }
    return false;
}

static bool next_item(chat_render *render, chat_loop *loop)
{
    chat_value item = loop->after;
    loop->after.kind = CHAT_MISSING;
    if (item.kind == CHAT_MISSING && !fetch(render, loop, &item))
        return false;
    loop->index++;
    loop->before = loop->current;
    loop->current = item;
    return true;
}

static bool peek(chat_render *render, chat_loop *loop)
{
    return loop->after.kind != CHAT_MISSING || fetch(render, loop, &loop->after) ||
           (loop->after.kind = CHAT_MISSING, false);
}

static size_t loop_length(chat_render *render, chat_loop *loop)
{
    if (loop->length != SIZE_MAX)
        return loop->length;
    if (loop->filter || !ls__chat_has_length(loop->source.over, &loop->length)) {
        chat_value rest = ls__chat_list(render, CHAT_LIST, 0), item;
        while (fetch(render, loop, &item))
            ls__chat_push(render, rest.list, item);
        loop->source = ls__chat_iterate(render, rest);
        loop->filter = NULL;
        loop->length = rest.list->count + loop->index + (loop->after.kind != CHAT_MISSING);
    }
    return loop->length;
}

chat_value ls__chat_loop_attribute(chat_render *render, chat_loop *loop, const chat_string *name)
{
    ls__str text = {name->text, name->bytes};
    if (ls__str_is(text, "index"))
        return ls__chat_size(render, loop->index);
    if (ls__str_is(text, "index0"))
        return ls__chat_size(render, loop->index - 1);
    if (ls__str_is(text, "first"))
        return ls__chat_bool(loop->index == 1);
    if (ls__str_is(text, "last"))
        return ls__chat_bool(!peek(render, loop));
    if (ls__str_is(text, "length"))
        return ls__chat_size(render, loop_length(render, loop));
    if (ls__str_is(text, "revindex"))
        return ls__chat_size(render, loop_length(render, loop) - loop->index + 1);
    if (ls__str_is(text, "revindex0"))
        return ls__chat_size(render, loop_length(render, loop) - loop->index);
    if (ls__str_is(text, "previtem"))
        return loop->index > 1 ? loop->before
                               : ls__chat_undefined(render, "there is no previous item");
    if (ls__str_is(text, "nextitem"))
        return peek(render, loop) ? loop->after
                                  : ls__chat_undefined(render, "there is no next item");
    if (ls__str_is(text, "depth"))
        return ls__chat_int(1);
    if (ls__str_is(text, "depth0"))
        return ls__chat_int(0);
    return (chat_value){.kind = CHAT_MISSING};
}

/* --- statements ------------------------------------------------------------------------------- */

typedef enum chat_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } chat_flow;
static chat_flow run_block(chat_render *render, const chat_block *block);

/* A block that is not printed but becomes a value, in a scope of its own below `parent`. */
static chat_value capture(chat_render *render, const chat_block *block, chat_scope *inner)
{
    chat_buffer buffer = {0}, *out = render->out;
    chat_scope *scope = render->scope;
    render->out = &buffer;
    render->scope = inner;
    run_block(render, block);
    render->out = out;
    render->scope = scope;
    return ls__chat_buffer_value(render, &buffer);
}

static chat_flow run_in(chat_render *render, const chat_block *block, chat_scope *inner)
{
    chat_scope *scope = render->scope;
    render->scope = inner;
    chat_flow flow = run_block(render, block);
    render->scope = scope;
    return flow;
}

/* A macro may be called later, when the scopes around it must still be as they are. */
static void keep_scopes(chat_scope *scope)
{
    for (; scope && !scope->is_kept; scope = scope->parent)
        scope->is_kept = true;
}

static chat_value make_macro(chat_render *render, const chat_node *node)
{
    chat_macro *macro = LS__NEW(&render->arena, chat_macro);
    *macro = (chat_macro){node, render->scope};
    keep_scopes(render->scope);
    return (chat_value){.kind = CHAT_MACRO, .macro = macro};
}

static chat_flow run_for(chat_render *render, const chat_node *node)
{
    static const chat_string LOOP = {"loop", 4, 4, false};
    chat_scope *outer = render->scope, *inner = NULL;
    chat_loop *loop = LS__NEW(&render->arena, chat_loop);
    bool is_empty = true;
    chat_value over = ls__chat_eval(render, node->b);
    render->at = node->b;
    *loop = (chat_loop){.source = ls__chat_iterate(render, over),
                        .target = node->a,
                        .filter = node->c,
                        .scope = outer,
                        .length = SIZE_MAX};
    while (next_item(render, loop)) {
        if (!inner || inner->is_kept)
            inner = open_scope(render, outer);
        inner->variables.count = 0;
        render->scope = inner;
        assign_to(render, node->a, loop->current);
        ls__chat_set_variable(render, inner, &LOOP, (chat_value){.kind = CHAT_LOOP, .loop = loop});
        chat_flow flow = run_block(render, &node->body);
        render->scope = outer;
        is_empty &= flow != FLOW_ON; /* as Jinja2 has it: not even once to the end */
        if (flow == FLOW_BREAK)
            break;
    }
    if (is_empty && node->otherwise.count)
        return run_in(render, &node->otherwise, open_scope(render, outer));
    return FLOW_ON;
}

static chat_flow run_if(chat_render *render, const chat_node *node)
{
    for (; node; node = node->c) {
        if (ls__chat_truth(ls__chat_eval(render, node->a)))
            return run_block(render, &node->body);
        if (!node->c)
            return run_block(render, &node->otherwise);
    }
    return FLOW_ON;
}

static chat_flow run_with(chat_render *render, const chat_node *node)
{
    chat_scope *outer = render->scope, *inner = open_scope(render, outer);
    for (uint32_t i = 0; i < node->items.count; i += 2) {
        chat_value value = ls__chat_eval(render, node->items.items[i + 1]);
        render->scope = inner;
        assign_to(render, node->items.items[i], value);
        render->scope = outer;
    }
    return run_in(render, &node->body, inner);
}

static void run_call(chat_render *render, const chat_node *node)
{
    static const chat_string CALLER = {"caller", 6, 6, false};
    chat_value function = ls__chat_eval(render, node->a->a);
    chat_arguments arguments;
    ls__chat_eval_arguments(render, node->a, &arguments);
    arguments.keywords[arguments.keyword_count++] =
        (chat_variable){&CALLER, make_macro(render, node)};
    render->at = node;
    ls__chat_print(render, render->out, ls__chat_call(render, function, &arguments));
}

/* The text of a block through its filters, if any. */
static chat_value filtered(chat_render *render, const chat_node *node)
{
    chat_value text = capture(render, &node->body, open_scope(render, render->scope));
    if (!node->b)
        return text;
    render->filter_input = text;
    return ls__chat_eval(render, node->b);
}

static chat_flow run_statement(chat_render *render, const chat_node *node)
{
    render->at = node;
    ls__chat_spend(render, 1);
    switch (node->kind) {
    case CHAT_DATA:
    case CHAT_OUTPUT: {
        chat_value value = node->kind == CHAT_DATA ? node->value : ls__chat_eval(render, node->a);
        render->at = node;
        ls__chat_print(render, render->out, value);
        return FLOW_ON;
    }
    case CHAT_IF:
        return run_if(render, node);
    case CHAT_FOR:
        return run_for(render, node);
    case CHAT_SET:
        assign_to(render, node->a, ls__chat_eval(render, node->b));
        return FLOW_ON;
    case CHAT_SET_BLOCK:
        assign_to(render, node->a, filtered(render, node));
        return FLOW_ON;
    case CHAT_MACRO_NODE:
        ls__chat_set_variable(render, render->scope, node->name, make_macro(render, node));
        return FLOW_ON;
    case CHAT_CALL_BLOCK:
        run_call(render, node);
        return FLOW_ON;
    case CHAT_WITH:
        return run_with(render, node);
    case CHAT_FILTER_BLOCK:
        ls__chat_print(render, render->out, filtered(render, node));
        return FLOW_ON;
    case CHAT_GENERATION:
        return run_in(render, &node->body, open_scope(render, render->scope));
    case CHAT_BREAK:
        return FLOW_BREAK;
    case CHAT_CONTINUE:
        return FLOW_CONTINUE;
    default:
        ls__chat_fail(render, LS_E_INTERNAL, "an expression stands in the place of a statement");
    }
}

static chat_flow run_block(chat_render *render, const chat_block *block)
{
    chat_flow flow = FLOW_ON;
    ls__chat_enter(render);
    for (uint32_t i = 0; i < block->count && flow == FLOW_ON; i++)
        flow = run_statement(render, block->items[i]);
    ls__chat_leave(render);
    return flow;
}

void ls__chat_run(chat_render *render, const chat_block *block)
{
    run_block(render, block);
}

/* --- macros ----------------------------------------------------------------------------------- */

/* Takes a keyword out; MISSING when it was not given. */
static chat_value take_keyword(chat_arguments *arguments, const chat_string *name)
{
    for (size_t i = 0; i < arguments->keyword_count; i++) {
        chat_variable found = arguments->keywords[i];
        if (found.name->bytes != name->bytes ||
            memcmp(found.name->text, name->text, name->bytes) != 0)
            continue;
        arguments->keyword_count--;
        memmove(&arguments->keywords[i], &arguments->keywords[i + 1],
                (arguments->keyword_count - i) * sizeof *arguments->keywords);
        return found.value;
    }
    return (chat_value){.kind = CHAT_MISSING};
}

/* What is left over: varargs, kwargs, caller. */
static void bind_rest(chat_render *render, const chat_node *node, chat_scope *scope,
                      chat_arguments *arguments, bool has_caller)
{
    static const chat_string VARARGS = {"varargs", 7, 7, false}, KWARGS = {"kwargs", 6, 6, false},
                             CALLER = {"caller", 6, 6, false};
    const char *name = node->name ? node->name->text : "caller";
    size_t named = node->keywords.count;
    if (node->uses_caller && !has_caller) {
        chat_value caller = take_keyword(arguments, &CALLER);
        if (caller.kind == CHAT_MISSING)
            caller = ls__chat_undefined(render, "No caller defined");
        ls__chat_set_variable(render, scope, &CALLER, caller);
    }
    if (node->uses_kwargs) {
        chat_value dict = ls__chat_dict(render, arguments->keyword_count);
        for (size_t i = 0; i < arguments->keyword_count; i++)
            dict.dict->items[dict.dict->count++] =
                (chat_pair){{.kind = CHAT_STRING, .string = arguments->keywords[i].name},
                            arguments->keywords[i].value};
        ls__chat_set_variable(render, scope, &KWARGS, dict);
    } else if (arguments->keyword_count) {
        ls__chat_fail(render, LS_E_FORMAT, "macro '%s' takes no keyword argument '%s'", name,
                      arguments->keywords[0].name->text);
    }
    if (node->uses_varargs) {
        chat_value tuple = ls__chat_list(render, CHAT_TUPLE, 0);
        for (size_t i = named; i < arguments->count; i++)
            ls__chat_push(render, tuple.list, arguments->items[i]);
        ls__chat_set_variable(render, scope, &VARARGS, tuple);
    } else if (arguments->count > named) {
        ls__chat_fail(render, LS_E_FORMAT, "macro '%s' takes not more than %zu argument(s)", name,
                      named);
    }
}

chat_value ls__chat_call_macro(chat_render *render, const chat_macro *macro,
                               chat_arguments *arguments)
{
    const chat_node *node = macro->node;
    chat_scope *scope = open_scope(render, macro->scope), *outer = render->scope;
    chat_value *values = LS__NEW_ARRAY(&render->arena, chat_value, node->keywords.count);
    bool has_caller = false;
    for (uint32_t i = 0; i < node->keywords.count; i++) {
        const chat_string *name = node->keywords.items[i].name;
        has_caller |= ls__str_is((ls__str){name->text, name->bytes}, "caller");
        values[i] = i < arguments->count ? arguments->items[i] : take_keyword(arguments, name);
    }
    bind_rest(render, node, scope, arguments, has_caller);
    render->scope = scope;
    for (uint32_t i = 0; i < node->keywords.count; i++) {
        const chat_keyword *parameter = &node->keywords.items[i];
        if (values[i].kind == CHAT_MISSING)
            values[i] =
                parameter->value
                    ? ls__chat_eval(render, parameter->value)
                    : ls__chat_undefined(render, ls__arena_printf(&render->arena,
                                                                  "parameter '%s' was not provided",
                                                                  parameter->name->text));
        ls__chat_set_variable(render, scope, parameter->name, values[i]);
    }
    render->scope = outer;
    return capture(render, &node->body, scope);
}
