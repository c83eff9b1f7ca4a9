/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the text form. White space and comments (# to the end of the line) separate, no
 * more. */
#ifndef LS_IR_LEX_H
#define LS_IR_LEX_H

#include "ir/ir.h"

typedef enum ls__ir_token_kind {
    LS__IR_TOKEN_END,
    LS__IR_TOKEN_WORD,     /* letter or _, then letters, digits, _ and . */
    LS__IR_TOKEN_STRING,   /* text is without quotes, escapes still in */
    LS__IR_TOKEN_NUMBER,   /* digits, 0x..., with sign and fraction; not judged yet */
    LS__IR_TOKEN_VALUE,    /* %12; text is 12 */
    LS__IR_TOKEN_ARROW,    /* -> */
    LS__IR_TOKEN_CHARACTER /* one of { } ( ) [ ] , = : ! @ */
} ls__ir_token_kind;

typedef struct ls__ir_token {
    ls__ir_token_kind kind;
    ls__str text;
    uint32_t line, column;
} ls__ir_token;

typedef struct ls__ir_lexer {
    const char *text;
    size_t length, position, line_start;
    uint32_t line;
    ls__ir_token token; /* the current one */
    bool failed;        /* the first fault was reported; from then on every token is END */
    ls_error *error;
} ls__ir_lexer;

void ls__ir_lex_init(ls__ir_lexer *lexer, const char *text, size_t length, ls_error *error);
void ls__ir_lex_next(ls__ir_lexer *lexer);
/* Reports a fault at the current token, once. */
void ls__ir_lex_fail(ls__ir_lexer *lexer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "expected <what>, found <token>" */
void ls__ir_lex_expected(ls__ir_lexer *lexer, const char *what);

bool ls__ir_lex_is(const ls__ir_lexer *lexer, char character);
/* Consume the token when it is there. `want`: else report. */
bool ls__ir_lex_accept(ls__ir_lexer *lexer, char character);
bool ls__ir_lex_accept_word(ls__ir_lexer *lexer, const char *word);
bool ls__ir_lex_want(ls__ir_lexer *lexer, char character);
bool ls__ir_lex_want_word(ls__ir_lexer *lexer, const char *word);

/* Numbers; out of range is reported, and answers 0. */
bool ls__ir_number_u64(ls__str text, uint64_t *value); /* decimal or 0x */
bool ls__ir_number_i64(ls__str text, int64_t *value);
uint64_t ls__ir_lex_u64(ls__ir_lexer *lexer, uint64_t max);
int64_t ls__ir_lex_i64(ls__ir_lexer *lexer);
ls_value ls__ir_lex_value(ls__ir_lexer *lexer);
/* Bytes as pairs of hexadecimal digits up to the closing brace, which becomes the current token.
 * Call right when { is the current token. First pass: bytes == NULL counts. */
size_t ls__ir_lex_hex(ls__ir_lexer *lexer, uint8_t *bytes);
/* A word or string as zero-terminated text; NULL after a fault. */
const char *ls__ir_lex_name(ls__ir_lexer *lexer, ls__arena *arena);

#endif
