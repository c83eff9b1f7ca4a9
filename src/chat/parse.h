/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the parser share: statements (parse.c) and expressions (parse_expr.c). */
#ifndef LS_CHAT_PARSE_H
#define LS_CHAT_PARSE_H

#include "chat/lex.h"
#include "chat/render.h"

enum {
    CHAT_PARSE_DEPTH_MAX = 150,
    CHAT_NAMED_MAX = 255, /* arguments with a name in a call, parameters of a macro */
};

typedef struct chat_parser {
    chat_fault *fault;
    ls__arena *arena;
    chat_tokens tokens;
    uint32_t at;
    uint32_t depth;
    uint32_t loops;   /* around, for break and continue */
    uint32_t ifs;     /* around: what they hold may never be reached */
    chat_node *macro; /* around, which notes what its body uses */
} chat_parser;

#define CHAT_SYNTAX(parser_, token_, ...)                                                          \
    ls__chat_fail_at((parser_)->fault, (token_)->offset, LS_E_FORMAT, __VA_ARGS__)
#define CHAT_UNSUPPORTED(parser_, token_, ...)                                                     \
    ls__chat_fail_at((parser_)->fault, (token_)->offset, LS_E_UNSUPPORTED, __VA_ARGS__)

const chat_token *ls__chat_token(const chat_parser *parser);
bool ls__chat_at_operator(const chat_parser *parser, const char *text);
bool ls__chat_at_name(const chat_parser *parser, const char *text);
bool ls__chat_take_operator(chat_parser *parser, const char *text);
bool ls__chat_take_name(chat_parser *parser, const char *text);
void ls__chat_expect_operator(chat_parser *parser, const char *text);
const chat_string *ls__chat_expect_name(chat_parser *parser); /* any */
void ls__chat_parse_enter(chat_parser *parser);
/* Refuses one more than CHAT_NAMED_MAX. */
void ls__chat_parse_named(chat_parser *parser, const chat_node *node);
chat_node *ls__chat_node(chat_parser *parser, chat_node_kind kind, const chat_token *token);
void ls__chat_add_node(chat_parser *parser, chat_block *block, chat_node *node);

chat_node *ls__chat_parse_expression(chat_parser *parser, bool with_condition);
/* One, or several with commas between them as a tuple; `end` is a name that ends it, or NULL. */
chat_node *ls__chat_parse_tuple(chat_parser *parser, bool with_condition, const char *end);
/* What is assigned to; fields of namespaces only where `with_fields`. */
chat_node *ls__chat_parse_target(chat_parser *parser, bool with_fields, const char *end);
/* |name(...)|name(...) around `node`, which may be NULL; `is_inside`: the first bar is left out. */
chat_node *ls__chat_parse_filters(chat_parser *parser, chat_node *node, bool is_inside);

#endif
