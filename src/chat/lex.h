/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates to tokens, as Jinja2's lexer cuts them with trim_blocks and lstrip_blocks set: white
 * space around tags is already dealt with, comments and {% raw %} are gone.
 */
#ifndef LS_CHAT_LEX_H
#define LS_CHAT_LEX_H

#include "base/str.h"
#include "chat/tree.h"

typedef enum chat_token_kind {
    CHAT_TOKEN_END,
    CHAT_TOKEN_TEXT,       /* value: text between tags */
    CHAT_TOKEN_BLOCK,      /* {% */
    CHAT_TOKEN_BLOCK_END,  /* %} */
    CHAT_TOKEN_OUTPUT,     /* {{ */
    CHAT_TOKEN_OUTPUT_END, /* }} */
    CHAT_TOKEN_NAME,       /* text */
    CHAT_TOKEN_STRING,     /* value */
    CHAT_TOKEN_NUMBER,     /* value */
    CHAT_TOKEN_OPERATOR,   /* text: the longest that fits, "**", "//", "==", ... */
} chat_token_kind;

typedef struct chat_token {
    chat_token_kind kind;
    uint32_t offset;
    ls__str text; /* in the source */
    chat_value value;
} chat_token;

typedef struct chat_tokens {
    chat_token *items;
    uint32_t count, capacity;
} chat_tokens;

/* The whole source; it ends with an END token. Fails by the jump of `fault`. */
void ls__chat_lex(chat_fault *fault, ls__arena *arena, chat_tokens *tokens);

/* A text value in the arena, for the lexer and the parser, which have no chat_render. */
chat_value ls__chat_arena_text(ls__arena *arena, const char *text, size_t bytes);

/* Parses the source of `fault`. */
void ls__chat_parse(chat_fault *fault, ls__arena *arena, chat_block *body);

#endif
