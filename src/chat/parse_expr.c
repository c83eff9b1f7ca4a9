/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions, with the precedence of Jinja2: if-else, or, and, not, comparisons and `in`, + and -,
 * ~, * / // %, **, signs, then what stands behind a value. */
#include <string.h>

#include "chat/parse.h"

/* --- tokens ----------------------------------------------------------------------------------- */

const chat_token *ls__chat_token(const chat_parser *parser)
{
    return &parser->tokens.items[parser->at];
}

static bool token_is(const chat_token *token, chat_token_kind kind, const char *text)
{
    return token->kind == kind && ls__str_is(token->text, text);
}

bool ls__chat_at_operator(const chat_parser *parser, const char *text)
{
    return token_is(ls__chat_token(parser), CHAT_TOKEN_OPERATOR, text);
}

bool ls__chat_at_name(const chat_parser *parser, const char *text)
{
    return token_is(ls__chat_token(parser), CHAT_TOKEN_NAME, text);
}

/* The token behind this one; the END token is the last. */
static const chat_token *look(const chat_parser *parser)
{
    uint32_t next = parser->at + 1;
    return &parser->tokens.items[next < parser->tokens.count ? next : parser->at];
}

bool ls__chat_take_operator(chat_parser *parser, const char *text)
{
    bool found = ls__chat_at_operator(parser, text);
    parser->at += found;
    return found;
}

bool ls__chat_take_name(chat_parser *parser, const char *text)
{
    bool found = ls__chat_at_name(parser, text);
    parser->at += found;
    return found;
}

_Noreturn static void unexpected(chat_parser *parser, const char *wanted)
{
    const chat_token *token = ls__chat_token(parser);
    if (token->kind == CHAT_TOKEN_END)
        CHAT_SYNTAX(parser, token, "the template ends, but %s is expected", wanted);
    CHAT_SYNTAX(parser, token, "%s is expected, not '%.*s'", wanted, LS__STR_ARG(token->text));
}

void ls__chat_expect_operator(chat_parser *parser, const char *text)
{
    char wanted[8] = {'\'', text[0], text[1] ? text[1] : '\'', text[1] ? '\'' : 0};
    if (!ls__chat_take_operator(parser, text))
        unexpected(parser, wanted);
}

static const chat_string *name_of(chat_parser *parser, const chat_token *token)
{
    return ls__chat_arena_text(parser->arena, token->text.text, token->text.length).string;
}

const chat_string *ls__chat_expect_name(chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    if (token->kind != CHAT_TOKEN_NAME)
        unexpected(parser, "a name");
    parser->at++;
    return name_of(parser, token);
}

void ls__chat_parse_enter(chat_parser *parser)
{
    if (++parser->depth > CHAT_PARSE_DEPTH_MAX)
        ls__chat_fail_at(parser->fault, ls__chat_token(parser)->offset, LS_E_LIMIT,
                         "the template is nested deeper than %d levels", CHAT_PARSE_DEPTH_MAX);
}

void ls__chat_parse_named(chat_parser *parser, const chat_node *node)
{
    if (node->keywords.count == CHAT_NAMED_MAX)
        ls__chat_fail_at(parser->fault, ls__chat_token(parser)->offset, LS_E_LIMIT,
                         "there are more than %d names", CHAT_NAMED_MAX);
}

chat_node *ls__chat_node(chat_parser *parser, chat_node_kind kind, const chat_token *token)
{
    chat_node *node = LS__NEW(parser->arena, chat_node);
    node->kind = kind;
    node->offset = token->offset;
    return node;
}

void ls__chat_add_node(chat_parser *parser, chat_block *block, chat_node *node)
{
    ls__vec_push(parser->arena, block, node);
}

/* --- calls, filters, tests -------------------------------------------------------------------- */

/* (a, b, name=c): the opening bracket is next. */
static void parse_arguments(chat_parser *parser, chat_node *node)
{
    ls__chat_expect_operator(parser, "(");
    while (!ls__chat_at_operator(parser, ")")) {
        const chat_token *token = ls__chat_token(parser);
        if (node->items.count + node->keywords.count > 0) {
            ls__chat_expect_operator(parser, ",");
            if (ls__chat_at_operator(parser, ")"))
                break;
            token = ls__chat_token(parser);
        }
        if (ls__chat_at_operator(parser, "*") || ls__chat_at_operator(parser, "**"))
            CHAT_UNSUPPORTED(parser, token,
                             "arguments from a list (*) or dict (**) are not "
                             "supported");
        if (token->kind == CHAT_TOKEN_NAME && token_is(look(parser), CHAT_TOKEN_OPERATOR, "=")) {
            ls__chat_parse_named(parser, node);
            parser->at += 2;
            chat_keyword keyword = {name_of(parser, token), NULL};
            for (uint32_t i = 0; i < node->keywords.count; i++)
                if (node->keywords.items[i].name->bytes == keyword.name->bytes &&
                    memcmp(node->keywords.items[i].name->text, keyword.name->text,
                           keyword.name->bytes) == 0)
                    CHAT_SYNTAX(parser, token, "the argument '%.*s' is given twice",
                                LS__STR_ARG(token->text));
            keyword.value = ls__chat_parse_expression(parser, true);
            ls__vec_push(parser->arena, &node->keywords, keyword);
        } else {
            if (node->keywords.count)
                CHAT_SYNTAX(parser, token, "an argument without a name stands behind named ones");
            ls__chat_add_node(parser, &node->items, ls__chat_parse_expression(parser, true));
        }
    }
    ls__chat_expect_operator(parser, ")");
}

/* The filter or test of that name. In the body of an `if`, what is not there fails only where it is
 * reached, as in Jinja2: templates ask first, and go another way. */
static void set_callable(chat_parser *parser, chat_node *node, const chat_token *token)
{
    bool is_test = node->kind == CHAT_TEST;
    const char *kind = is_test ? "test" : "filter";
    node->name = name_of(parser, token);
    node->callable =
        is_test ? ls__chat_find_callable(ls__chat_tests, token->text.text, token->text.length)
                : ls__chat_find_filter(token->text.text, token->text.length);
    if (parser->ifs)
        return;
    if (!node->callable)
        CHAT_SYNTAX(parser, token, "there is no %s '%.*s'", kind, LS__STR_ARG(token->text));
    if (!node->callable->function)
        CHAT_UNSUPPORTED(parser, token, "the %s '%s' is not supported", kind, node->callable->name);
}

chat_node *ls__chat_parse_filters(chat_parser *parser, chat_node *node, bool is_inside)
{
    while (is_inside || ls__chat_take_operator(parser, "|")) {
        const chat_token *token = ls__chat_token(parser);
        ls__chat_expect_name(parser);
        chat_node *filter = ls__chat_node(parser, CHAT_FILTER, token);
        set_callable(parser, filter, token);
        filter->a = node;
        if (ls__chat_at_operator(parser, "("))
            parse_arguments(parser, filter);
        node = filter;
        is_inside = false;
    }
    return node;
}

static chat_node *parse_primary(chat_parser *parser, bool with_fields);
static chat_node *parse_postfix(chat_parser *parser, chat_node *node);

/* What may follow a test as its one argument without brackets. */
static bool at_bare_argument(const chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    if (token->kind == CHAT_TOKEN_NAME)
        return !ls__chat_at_name(parser, "else") && !ls__chat_at_name(parser, "or") &&
               !ls__chat_at_name(parser, "and");
    return token->kind == CHAT_TOKEN_STRING || token->kind == CHAT_TOKEN_NUMBER ||
           ls__chat_at_operator(parser, "[") || ls__chat_at_operator(parser, "{");
}

static chat_node *parse_test(chat_parser *parser, chat_node *value)
{
    const chat_token *is = ls__chat_token(parser);
    parser->at++;
    bool is_negated = ls__chat_take_name(parser, "not");
    const chat_token *token = ls__chat_token(parser);
    ls__chat_expect_name(parser);
    chat_node *node = ls__chat_node(parser, CHAT_TEST, is);
    node->a = value;
    set_callable(parser, node, token);
    if (ls__chat_at_operator(parser, "(")) {
        parse_arguments(parser, node);
    } else if (at_bare_argument(parser)) {
        if (ls__chat_at_name(parser, "is"))
            CHAT_SYNTAX(parser, ls__chat_token(parser), "tests cannot be chained with 'is'");
        chat_node *argument = parse_postfix(parser, parse_primary(parser, false));
        ls__chat_add_node(parser, &node->items, argument);
    }
    if (!is_negated)
        return node;
    chat_node *negated = ls__chat_node(parser, CHAT_UNARY, is);
    negated->operation = CHAT_NOT;
    negated->a = node;
    return negated;
}

/* --- values and what stands behind them ------------------------------------------------------- */

static chat_node *constant(chat_parser *parser, const chat_token *token, chat_value value)
{
    chat_node *node = ls__chat_node(parser, CHAT_CONSTANT, token);
    node->value = value;
    return node;
}

/* What a macro's body mentions decides what else it takes. */
static void note_use(chat_parser *parser, const chat_token *token)
{
    if (!parser->macro)
        return;
    parser->macro->uses_varargs |= ls__str_is(token->text, "varargs");
    parser->macro->uses_kwargs |= ls__str_is(token->text, "kwargs");
    parser->macro->uses_caller |= ls__str_is(token->text, "caller");
}

static chat_node *parse_name(chat_parser *parser, bool with_fields)
{
    const chat_token *token = ls__chat_token(parser);
    parser->at++;
    bool is_true = ls__str_is(token->text, "true") || ls__str_is(token->text, "True");
    if (is_true || ls__str_is(token->text, "false") || ls__str_is(token->text, "False"))
        return constant(parser, token, ls__chat_bool(is_true));
    if (ls__str_is(token->text, "none") || ls__str_is(token->text, "None"))
        return constant(parser, token, ls__chat_none());
    chat_node *node = ls__chat_node(parser, CHAT_NAME, token);
    node->name = name_of(parser, token);
    note_use(parser, token);
    if (with_fields && ls__chat_take_operator(parser, ".")) {
        node->kind = CHAT_NAME_FIELD;
        node->field = ls__chat_expect_name(parser);
    }
    return node;
}

/* Texts one behind another are one text. */
static chat_node *parse_string(chat_parser *parser)
{
    const chat_token *first = ls__chat_token(parser);
    chat_value value = first->value;
    while ((++parser->at, ls__chat_token(parser)->kind == CHAT_TOKEN_STRING)) {
        const chat_string *a = value.string, *b = ls__chat_token(parser)->value.string;
        char *joined = ls__arena_alloc(parser->arena, a->bytes + b->bytes + 1, 1);
        memcpy(joined, a->text, a->bytes);
        memcpy(joined + a->bytes, b->text, b->bytes);
        value = ls__chat_arena_text(parser->arena, joined, a->bytes + b->bytes);
    }
    return constant(parser, first, value);
}

static chat_node *parse_list(chat_parser *parser)
{
    chat_node *node = ls__chat_node(parser, CHAT_MAKE_LIST, ls__chat_token(parser));
    parser->at++;
    while (!ls__chat_at_operator(parser, "]")) {
        if (node->items.count) {
            ls__chat_expect_operator(parser, ",");
            if (ls__chat_at_operator(parser, "]"))
                break;
        }
        ls__chat_add_node(parser, &node->items, ls__chat_parse_expression(parser, true));
    }
    parser->at++;
    return node;
}

static chat_node *parse_dict(chat_parser *parser)
{
    chat_node *node = ls__chat_node(parser, CHAT_MAKE_DICT, ls__chat_token(parser));
    parser->at++;
    while (!ls__chat_at_operator(parser, "}")) {
        if (node->items.count) {
            ls__chat_expect_operator(parser, ",");
            if (ls__chat_at_operator(parser, "}"))
                break;
        }
        ls__chat_add_node(parser, &node->items, ls__chat_parse_expression(parser, true));
        ls__chat_expect_operator(parser, ":");
        ls__chat_add_node(parser, &node->items, ls__chat_parse_expression(parser, true));
    }
    parser->at++;
    return node;
}

static chat_node *parse_primary(chat_parser *parser, bool with_fields)
{
    const chat_token *token = ls__chat_token(parser);
    switch (token->kind) {
    case CHAT_TOKEN_NAME:
        return parse_name(parser, with_fields);
    case CHAT_TOKEN_STRING:
        return parse_string(parser);
    case CHAT_TOKEN_NUMBER:
        parser->at++;
        return constant(parser, token, token->value);
    default:
        break;
    }
    if (ls__chat_at_operator(parser, "["))
        return parse_list(parser);
    if (ls__chat_at_operator(parser, "{"))
        return parse_dict(parser);
    if (!ls__chat_take_operator(parser, "("))
        unexpected(parser, "an expression");
    if (ls__chat_take_operator(parser, ")"))
        return ls__chat_node(parser, CHAT_MAKE_TUPLE, token);
    chat_node *node = ls__chat_parse_tuple(parser, true, NULL);
    ls__chat_expect_operator(parser, ")");
    return node;
}

/* [a], [a:b], [:b:c], ... The opening bracket was read. */
static chat_node *parse_subscript(chat_parser *parser, chat_node *value, const chat_token *token)
{
    chat_node *parts[3] = {0};
    unsigned colons = 0;
    while (!ls__chat_at_operator(parser, "]")) {
        if (ls__chat_take_operator(parser, ":")) {
            if (++colons > 2)
                unexpected(parser, "']'");
        } else if (!parts[colons]) {
            parts[colons] = ls__chat_parse_expression(parser, true);
        } else {
            if (ls__chat_at_operator(parser, ","))
                CHAT_UNSUPPORTED(parser, ls__chat_token(parser),
                                 "several subscripts with commas are not supported");
            unexpected(parser, "']'");
        }
    }
    if (colons == 0 && !parts[0])
        unexpected(parser, "an expression");
    parser->at++;
    chat_node *node = ls__chat_node(parser, colons ? CHAT_CUT : CHAT_SUBSCRIPT, token);
    node->a = value;
    node->b = parts[0];
    node->c = parts[1];
    node->d = parts[2];
    return node;
}

static chat_node *parse_postfix(chat_parser *parser, chat_node *node)
{
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        if (ls__chat_take_operator(parser, ".")) {
            const chat_token *field = ls__chat_token(parser);
            bool is_index = field->kind == CHAT_TOKEN_NUMBER && field->value.kind == CHAT_INT;
            chat_node *value = node;
            node = ls__chat_node(parser, is_index ? CHAT_SUBSCRIPT : CHAT_ATTRIBUTE, token);
            node->a = value;
            if (is_index) {
                parser->at++;
                node->b = constant(parser, field, field->value);
            } else {
                node->name = ls__chat_expect_name(parser);
            }
        } else if (ls__chat_take_operator(parser, "[")) {
            node = parse_subscript(parser, node, token);
        } else if (ls__chat_at_operator(parser, "(")) {
            chat_node *call = ls__chat_node(parser, CHAT_CALL, token);
            call->a = node;
            parse_arguments(parser, call);
            node = call;
        } else {
            return node;
        }
    }
}

/* Filters, tests and calls, in any order. */
static chat_node *parse_filtered(chat_parser *parser, chat_node *node)
{
    for (;;) {
        if (ls__chat_at_operator(parser, "|")) {
            node = ls__chat_parse_filters(parser, node, false);
        } else if (ls__chat_at_name(parser, "is")) {
            node = parse_test(parser, node);
        } else if (ls__chat_at_operator(parser, "(")) {
            chat_node *call = ls__chat_node(parser, CHAT_CALL, ls__chat_token(parser));
            call->a = node;
            parse_arguments(parser, call);
            node = call;
        } else {
            return node;
        }
    }
}

/* --- operators -------------------------------------------------------------------------------- */

static chat_node *parse_unary(chat_parser *parser, bool with_filters)
{
    const chat_token *token = ls__chat_token(parser);
    bool is_minus = ls__chat_at_operator(parser, "-");
    chat_node *node;
    ls__chat_parse_enter(parser);
    if (is_minus || ls__chat_at_operator(parser, "+")) {
        parser->at++;
        node = ls__chat_node(parser, CHAT_UNARY, token);
        node->operation = is_minus ? CHAT_NEGATE : CHAT_PLUS;
        node->a = parse_unary(parser, false);
    } else {
        node = parse_primary(parser, false);
    }
    node = parse_postfix(parser, node);
    if (with_filters)
        node = parse_filtered(parser, node);
    parser->depth--;
    return node;
}

static chat_node *binary(chat_parser *parser, const chat_token *token, chat_operator operation,
                         chat_node *a, chat_node *b)
{
    chat_node *node = ls__chat_node(parser, CHAT_BINARY, token);
    node->operation = operation;
    node->a = a;
    node->b = b;
    return node;
}

static chat_node *parse_power(chat_parser *parser)
{
    chat_node *node = parse_unary(parser, true);
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        if (!ls__chat_take_operator(parser, "**"))
            return node;
        node = binary(parser, token, CHAT_POWER, node, parse_unary(parser, true));
    }
}

static chat_node *parse_product(chat_parser *parser)
{
    chat_node *node = parse_power(parser);
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        chat_operator operation;
        if (ls__chat_at_operator(parser, "*"))
            operation = CHAT_MULTIPLY;
        else if (ls__chat_at_operator(parser, "/"))
            operation = CHAT_DIVIDE;
        else if (ls__chat_at_operator(parser, "//"))
            operation = CHAT_FLOOR_DIVIDE;
        else if (ls__chat_at_operator(parser, "%"))
            operation = CHAT_MODULO;
        else
            return node;
        parser->at++;
        node = binary(parser, token, operation, node, parse_power(parser));
    }
}

static chat_node *parse_concatenation(chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    chat_node *first = parse_product(parser);
    if (!ls__chat_at_operator(parser, "~"))
        return first;
    chat_node *node = ls__chat_node(parser, CHAT_CONCATENATE, token);
    ls__chat_add_node(parser, &node->items, first);
    while (ls__chat_take_operator(parser, "~"))
        ls__chat_add_node(parser, &node->items, parse_product(parser));
    return node;
}

static chat_node *parse_sum(chat_parser *parser)
{
    chat_node *node = parse_concatenation(parser);
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        bool is_plus = ls__chat_at_operator(parser, "+");
        if (!is_plus && !ls__chat_at_operator(parser, "-"))
            return node;
        parser->at++;
        node = binary(parser, token, is_plus ? CHAT_ADD : CHAT_SUBTRACT, node,
                      parse_concatenation(parser));
    }
}

static bool take_comparison(chat_parser *parser, chat_operator *operation)
{
    static const struct {
        const char *text;
        chat_operator operation;
    } TABLE[] = {{"==", CHAT_EQUAL},      {"!=", CHAT_NOT_EQUAL}, {"<", CHAT_LESS},
                 {"<=", CHAT_LESS_EQUAL}, {">", CHAT_GREATER},    {">=", CHAT_GREATER_EQUAL}};
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (ls__chat_take_operator(parser, TABLE[i].text)) {
            *operation = TABLE[i].operation;
            return true;
        }
    *operation = CHAT_IN;
    if (ls__chat_take_name(parser, "in"))
        return true;
    *operation = CHAT_NOT_IN;
    if (!ls__chat_at_name(parser, "not") || !token_is(look(parser), CHAT_TOKEN_NAME, "in"))
        return false;
    parser->at += 2;
    return true;
}

static chat_node *parse_comparison(chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    chat_node *first = parse_sum(parser), *node = NULL;
    LS__VEC(chat_operator) operations = {0};
    chat_operator operation;
    while (take_comparison(parser, &operation)) {
        if (!node) {
            node = ls__chat_node(parser, CHAT_COMPARE, token);
            node->a = first;
        }
        ls__vec_push(parser->arena, &operations, operation);
        ls__chat_add_node(parser, &node->items, parse_sum(parser));
    }
    if (!node)
        return first;
    node->operations = operations.items;
    return node;
}

static chat_node *parse_not(chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    if (!ls__chat_take_name(parser, "not"))
        return parse_comparison(parser);
    ls__chat_parse_enter(parser);
    chat_node *node = ls__chat_node(parser, CHAT_UNARY, token);
    node->operation = CHAT_NOT;
    node->a = parse_not(parser);
    parser->depth--;
    return node;
}

static chat_node *parse_and(chat_parser *parser)
{
    chat_node *node = parse_not(parser);
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        if (!ls__chat_take_name(parser, "and"))
            return node;
        node = binary(parser, token, CHAT_AND, node, parse_not(parser));
    }
}

static chat_node *parse_or(chat_parser *parser)
{
    chat_node *node = parse_and(parser);
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        if (!ls__chat_take_name(parser, "or"))
            return node;
        node = binary(parser, token, CHAT_OR, node, parse_and(parser));
    }
}

chat_node *ls__chat_parse_expression(chat_parser *parser, bool with_condition)
{
    ls__chat_parse_enter(parser);
    chat_node *node = parse_or(parser);
    while (with_condition && ls__chat_at_name(parser, "if")) {
        chat_node *condition = ls__chat_node(parser, CHAT_CONDITION, ls__chat_token(parser));
        parser->at++;
        condition->a = parse_or(parser);
        condition->b = node;
        if (ls__chat_take_name(parser, "else"))
            condition->c = ls__chat_parse_expression(parser, true);
        node = condition;
    }
    parser->depth--;
    return node;
}

/* --- tuples and targets ----------------------------------------------------------------------- */

static bool at_tuple_end(const chat_parser *parser, const char *end)
{
    chat_token_kind kind = ls__chat_token(parser)->kind;
    return kind == CHAT_TOKEN_BLOCK_END || kind == CHAT_TOKEN_OUTPUT_END ||
           ls__chat_at_operator(parser, ")") || (end && ls__chat_at_name(parser, end));
}

static chat_node *parse_items(chat_parser *parser, bool is_target, bool with_condition,
                              bool with_fields, const char *end)
{
    const chat_token *token = ls__chat_token(parser);
    chat_node *tuple = NULL, *node = NULL;
    do {
        if (at_tuple_end(parser, end))
            break;
        node = is_target ? parse_primary(parser, with_fields)
                         : ls__chat_parse_expression(parser, with_condition);
        if (!tuple && ls__chat_at_operator(parser, ","))
            tuple = ls__chat_node(parser, CHAT_MAKE_TUPLE, token);
        if (tuple)
            ls__chat_add_node(parser, &tuple->items, node);
    } while (ls__chat_take_operator(parser, ","));
    if (!tuple && !node)
        unexpected(parser, "an expression");
    return tuple ? tuple : node;
}

chat_node *ls__chat_parse_tuple(chat_parser *parser, bool with_condition, const char *end)
{
    return parse_items(parser, false, with_condition, false, end);
}

static void check_target(chat_parser *parser, const chat_node *target)
{
    bool is_name = target->kind == CHAT_NAME || target->kind == CHAT_NAME_FIELD;
    if (target->kind != CHAT_MAKE_TUPLE && !is_name)
        ls__chat_fail_at(parser->fault, target->offset, LS_E_FORMAT,
                         "nothing can be assigned to this");
    for (uint32_t i = 0; i < target->items.count; i++)
        check_target(parser, target->items.items[i]);
}

chat_node *ls__chat_parse_target(chat_parser *parser, bool with_fields, const char *end)
{
    chat_node *target = parse_items(parser, true, false, with_fields, end);
    check_target(parser, target);
    return target;
}
