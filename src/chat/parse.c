/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: {% if %}, {% for %}, {% set %}, ... A table names them; each reads from behind its
 * word up to the end of the whole statement, but for the last "%}". */
#include <string.h>

#include "chat/parse.h"

static void parse_block(chat_parser *parser, chat_block *block, const chat_token *opened,
                        const char *const *ends);

static void expect_block_end(chat_parser *parser)
{
    const chat_token *token = ls__chat_token(parser);
    if (token->kind != CHAT_TOKEN_BLOCK_END)
        CHAT_SYNTAX(parser, token, "'%%}' is expected, not '%.*s'", LS__STR_ARG(token->text));
    parser->at++;
}

/* The rest of an opening tag, and what follows up to a tag that begins with one of `ends`. That
 * word is then next. */
static void parse_body(chat_parser *parser, chat_block *block, const chat_token *opened,
                       const char *const *ends)
{
    ls__chat_take_operator(parser, ":");
    expect_block_end(parser);
    parse_block(parser, block, opened, ends);
}

#define ENDS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* As parse_body, to one word, which is read. */
static void parse_whole_body(chat_parser *parser, chat_block *block, const chat_token *opened,
                             const char *end)
{
    parse_body(parser, block, opened, ENDS(end));
    parser->at++;
}

static chat_node *parse_if(chat_parser *parser, const chat_token *token)
{
    chat_node *first = ls__chat_node(parser, CHAT_IF, token), *node = first;
    for (;;) {
        node->a = ls__chat_parse_tuple(parser, false, NULL);
        parser->ifs++;
        parse_body(parser, &node->body, token, ENDS("elif", "else", "endif"));
        parser->ifs--;
        const chat_token *next = ls__chat_token(parser);
        parser->at++;
        if (ls__str_is(next->text, "elif")) {
            node = node->c = ls__chat_node(parser, CHAT_IF, next);
            continue;
        }
        parser->ifs++;
        if (ls__str_is(next->text, "else"))
            parse_whole_body(parser, &node->otherwise, token, "endif");
        parser->ifs--;
        return first;
    }
}

static chat_node *parse_for(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_FOR, token);
    node->a = ls__chat_parse_target(parser, false, "in");
    if (!ls__chat_take_name(parser, "in"))
        CHAT_SYNTAX(parser, ls__chat_token(parser), "'in' is expected in 'for'");
    node->b = ls__chat_parse_tuple(parser, false, "recursive");
    if (ls__chat_take_name(parser, "if"))
        node->c = ls__chat_parse_expression(parser, true);
    if (ls__chat_at_name(parser, "recursive"))
        CHAT_UNSUPPORTED(parser, ls__chat_token(parser), "recursive loops are not supported");
    parser->loops++;
    parse_body(parser, &node->body, token, ENDS("endfor", "else"));
    parser->loops--;
    if (ls__chat_at_name(parser, "else")) {
        parser->at++;
        parse_body(parser, &node->otherwise, token, ENDS("endfor"));
    }
    parser->at++;
    return node;
}

static chat_node *parse_set(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_SET, token);
    node->a = ls__chat_parse_target(parser, true, NULL);
    if (ls__chat_take_operator(parser, "=")) {
        node->b = ls__chat_parse_tuple(parser, true, NULL);
        return node;
    }
    node->kind = CHAT_SET_BLOCK;
    if (ls__chat_at_operator(parser, "|"))
        node->b = ls__chat_parse_filters(parser, NULL, false);
    parse_whole_body(parser, &node->body, token, "endset");
    return node;
}

/* (a, b=default): into the keywords of the node. */
static void parse_signature(chat_parser *parser, chat_node *node)
{
    ls__chat_expect_operator(parser, "(");
    while (!ls__chat_at_operator(parser, ")")) {
        if (node->keywords.count)
            ls__chat_expect_operator(parser, ",");
        const chat_token *token = ls__chat_token(parser);
        ls__chat_parse_named(parser, node);
        chat_keyword parameter = {ls__chat_expect_name(parser), NULL};
        bool had_default =
            node->keywords.count && node->keywords.items[node->keywords.count - 1].value;
        if (ls__chat_take_operator(parser, "="))
            parameter.value = ls__chat_parse_expression(parser, true);
        else if (had_default)
            CHAT_SYNTAX(parser, token, "the parameter '%.*s' needs a default, as the one before it",
                        LS__STR_ARG(token->text));
        ls__vec_push(parser->arena, &node->keywords, parameter);
    }
    ls__chat_expect_operator(parser, ")");
}

/* The body of something that is called: break and continue do not reach out of it. */
static void parse_function_body(chat_parser *parser, chat_node *node, const chat_token *token,
                                const char *end)
{
    uint32_t loops = parser->loops;
    chat_node *outer = parser->macro;
    parser->loops = 0;
    parser->macro = node;
    parse_whole_body(parser, &node->body, token, end);
    parser->loops = loops;
    parser->macro = outer;
}

static chat_node *parse_macro(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_MACRO_NODE, token);
    node->name = ls__chat_expect_name(parser);
    parse_signature(parser, node);
    parse_function_body(parser, node, token, "endmacro");
    return node;
}

static chat_node *parse_call(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_CALL_BLOCK, token);
    if (ls__chat_at_operator(parser, "("))
        parse_signature(parser, node);
    node->a = ls__chat_parse_expression(parser, true);
    if (node->a->kind != CHAT_CALL)
        CHAT_SYNTAX(parser, token, "{%% call %%} needs the call of a macro");
    parse_function_body(parser, node, token, "endcall");
    return node;
}

static chat_node *parse_with(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_WITH, token);
    while (ls__chat_token(parser)->kind == CHAT_TOKEN_NAME) {
        if (node->items.count)
            CHAT_SYNTAX(parser, ls__chat_token(parser), "',' is expected");
        do {
            ls__chat_add_node(parser, &node->items, ls__chat_parse_target(parser, false, NULL));
            ls__chat_expect_operator(parser, "=");
            ls__chat_add_node(parser, &node->items, ls__chat_parse_expression(parser, true));
        } while (ls__chat_take_operator(parser, ","));
    }
    parse_whole_body(parser, &node->body, token, "endwith");
    return node;
}

static chat_node *parse_filter_block(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_FILTER_BLOCK, token);
    node->b = ls__chat_parse_filters(parser, NULL, true);
    parse_whole_body(parser, &node->body, token, "endfilter");
    return node;
}

/* transformers marks the assistant's words with it; the text is the same without. */
static chat_node *parse_generation(chat_parser *parser, const chat_token *token)
{
    chat_node *node = ls__chat_node(parser, CHAT_GENERATION, token);
    uint32_t loops = parser->loops;
    parser->loops = 0;
    parse_whole_body(parser, &node->body, token, "endgeneration");
    parser->loops = loops;
    return node;
}

static chat_node *parse_jump(chat_parser *parser, const chat_token *token)
{
    bool is_break = ls__str_is(token->text, "break");
    if (parser->loops == 0)
        CHAT_SYNTAX(parser, token, "'%.*s' stands outside of a loop", LS__STR_ARG(token->text));
    return ls__chat_node(parser, is_break ? CHAT_BREAK : CHAT_CONTINUE, token);
}

static const struct {
    const char *word;
    chat_node *(*parse)(chat_parser *parser, const chat_token *token); /* NULL: not supported */
} STATEMENTS[] = {
    {"if", parse_if},
    {"for", parse_for},
    {"set", parse_set},
    {"macro", parse_macro},
    {"call", parse_call},
    {"with", parse_with},
    {"filter", parse_filter_block},
    {"generation", parse_generation},
    {"break", parse_jump},
    {"continue", parse_jump},
    {"block", NULL},
    {"extends", NULL},
    {"include", NULL},
    {"import", NULL},
    {"from", NULL},
    {"autoescape", NULL},
    {"print", NULL},
    {"do", NULL},
    {"debug", NULL},
    {"trans", NULL},
};

static chat_node *parse_statement(chat_parser *parser, const chat_token *opened)
{
    const chat_token *token = ls__chat_token(parser);
    ls__chat_expect_name(parser);
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++) {
        if (!ls__str_is(token->text, STATEMENTS[i].word))
            continue;
        if (!STATEMENTS[i].parse)
            CHAT_UNSUPPORTED(parser, token, "the statement '%s' is not supported",
                             STATEMENTS[i].word);
        ls__chat_parse_enter(parser);
        chat_node *node = STATEMENTS[i].parse(parser, token);
        parser->depth--;
        return node;
    }
    if (opened)
        CHAT_SYNTAX(parser, token, "unknown statement '%.*s'; open is '%.*s'",
                    LS__STR_ARG(token->text), LS__STR_ARG(opened->text));
    CHAT_SYNTAX(parser, token, "unknown statement '%.*s'", LS__STR_ARG(token->text));
}

static bool at_one_of(const chat_parser *parser, const char *const *ends)
{
    for (; *ends; ends++)
        if (ls__chat_at_name(parser, *ends))
            return true;
    return false;
}

static void parse_block(chat_parser *parser, chat_block *block, const chat_token *opened,
                        const char *const *ends)
{
    for (;;) {
        const chat_token *token = ls__chat_token(parser);
        chat_node *node;
        parser->at++;
        switch (token->kind) {
        case CHAT_TOKEN_TEXT:
            node = ls__chat_node(parser, CHAT_DATA, token);
            node->value = token->value;
            break;
        case CHAT_TOKEN_OUTPUT:
            node = ls__chat_node(parser, CHAT_OUTPUT, token);
            node->a = ls__chat_parse_tuple(parser, true, NULL);
            if (ls__chat_token(parser)->kind != CHAT_TOKEN_OUTPUT_END)
                CHAT_SYNTAX(parser, ls__chat_token(parser), "'}}' is expected, not '%.*s'",
                            LS__STR_ARG(ls__chat_token(parser)->text));
            parser->at++;
            break;
        case CHAT_TOKEN_BLOCK:
            if (ends && at_one_of(parser, ends))
                return;
            node = parse_statement(parser, opened);
            expect_block_end(parser);
            break;
        default: /* the end: nothing else stands between tags */
            parser->at--;
            if (opened)
                CHAT_SYNTAX(parser, opened, "'%.*s' is not closed", LS__STR_ARG(opened->text));
            return;
        }
        ls__chat_add_node(parser, block, node);
    }
}

void ls__chat_parse(chat_fault *fault, ls__arena *arena, chat_block *body)
{
    chat_parser parser = {.fault = fault, .arena = arena};
    ls__chat_lex(fault, arena, &parser.tokens);
    parse_block(&parser, body, NULL, NULL);
}
