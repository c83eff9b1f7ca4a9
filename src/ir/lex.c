/* SPDX-License-Identifier: Apache-2.0 */
/* See lex.h. The text is untrusted and not terminated: only `peek` looks at it. */
#include "ir/lex.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "ir/text.h"

/* --- faults ----------------------------------------------------------------------------------- */

void ls__ir_lex_fail(ls__ir_lexer *lexer, const char *format, ...)
{
    if (!lexer->failed) {
        char text[200];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        ls__fail(lexer->error, LS_E_COMPILE, "IR0100: %s", text);
        ls__fail_where(lexer->error, LS_E_COMPILE, "line %" PRIu32 ", column %" PRIu32,
                       lexer->token.line, lexer->token.column);
    }
    lexer->failed = true;
    lexer->token.kind = LS__IR_TOKEN_END;
    lexer->token.text = (ls__str){"", 0};
}

void ls__ir_lex_expected(ls__ir_lexer *lexer, const char *what)
{
    ls__str text = lexer->token.text;
    if (lexer->token.kind == LS__IR_TOKEN_END)
        ls__ir_lex_fail(lexer, "expected %s, found the end", what);
    else
        ls__ir_lex_fail(lexer, "expected %s, found '%.*s'", what,
                        text.length < 40 ? (int)text.length : 40, text.text);
}

/* --- characters ------------------------------------------------------------------------------- */

static char peek(const ls__ir_lexer *lexer, size_t ahead)
{
    size_t left = lexer->length - lexer->position;
    return ahead < left ? lexer->text[lexer->position + ahead] : 0;
}

static bool at_end(const ls__ir_lexer *lexer)
{
    return lexer->position == lexer->length;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_space(ls__ir_lexer *lexer)
{
    while (!at_end(lexer)) {
        char c = peek(lexer, 0);
        if (c == '\n') {
            lexer->position++;
            lexer->line++;
            lexer->line_start = lexer->position;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->position++;
        } else if (c == '#') {
            while (!at_end(lexer) && peek(lexer, 0) != '\n')
                lexer->position++;
        } else {
            return;
        }
    }
}

static void mark(ls__ir_lexer *lexer)
{
    size_t column = lexer->position - lexer->line_start + 1;
    lexer->token.line = lexer->line;
    lexer->token.column = column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void finish(ls__ir_lexer *lexer, ls__ir_token_kind kind, size_t start)
{
    lexer->token.kind = kind;
    lexer->token.text = (ls__str){lexer->text + start, lexer->position - start};
}

static void lex_string(ls__ir_lexer *lexer)
{
    size_t start = ++lexer->position;
    while (peek(lexer, 0) != '"') {
        if (at_end(lexer) || peek(lexer, 0) == '\n') {
            ls__ir_lex_fail(lexer, "the string is not closed");
            return;
        }
        lexer->position +=
            peek(lexer, 0) == '\\' && peek(lexer, 1) != '\n' && peek(lexer, 1) ? 2 : 1;
    }
    finish(lexer, LS__IR_TOKEN_STRING, start);
    lexer->position++;
}

void ls__ir_lex_next(ls__ir_lexer *lexer)
{
    if (lexer->failed)
        return;
    skip_space(lexer);
    mark(lexer);
    size_t start = lexer->position;
    char c = peek(lexer, 0);
    if (at_end(lexer)) {
        finish(lexer, LS__IR_TOKEN_END, start);
    } else if (c == '"') {
        lex_string(lexer);
    } else if (c == '-' && peek(lexer, 1) == '>') {
        lexer->position += 2;
        finish(lexer, LS__IR_TOKEN_ARROW, start);
    } else if (is_digit(c) || (c == '-' && is_digit(peek(lexer, 1)))) {
        lexer->position++;
        while (ls__ir_text_in_word(peek(lexer, 0)))
            lexer->position++;
        finish(lexer, LS__IR_TOKEN_NUMBER, start);
    } else if (ls__ir_text_starts_word(c)) {
        while (ls__ir_text_in_word(peek(lexer, 0)))
            lexer->position++;
        finish(lexer, LS__IR_TOKEN_WORD, start);
    } else if (c == '%' && is_digit(peek(lexer, 1))) {
        lexer->position++;
        while (is_digit(peek(lexer, 0)))
            lexer->position++;
        finish(lexer, LS__IR_TOKEN_VALUE, start + 1);
    } else if (c != 0 && strchr("{}()[],=:!@", c)) {
        lexer->position++;
        finish(lexer, LS__IR_TOKEN_CHARACTER, start);
    } else {
        ls__ir_lex_fail(lexer, "unknown character 0x%02x", (unsigned char)c);
    }
}

void ls__ir_lex_init(ls__ir_lexer *lexer, const char *text, size_t length, ls_error *error)
{
    *lexer = (ls__ir_lexer){.text = text, .length = length, .line = 1, .error = error};
    ls__ir_lex_next(lexer);
}

bool ls__ir_lex_is(const ls__ir_lexer *lexer, char character)
{
    return lexer->token.kind == LS__IR_TOKEN_CHARACTER && lexer->token.text.text[0] == character;
}

static bool is_word(const ls__ir_lexer *lexer, const char *word)
{
    return lexer->token.kind == LS__IR_TOKEN_WORD && ls__str_is(lexer->token.text, word);
}

bool ls__ir_lex_accept(ls__ir_lexer *lexer, char character)
{
    if (!ls__ir_lex_is(lexer, character))
        return false;
    ls__ir_lex_next(lexer);
    return true;
}

bool ls__ir_lex_accept_word(ls__ir_lexer *lexer, const char *word)
{
    if (!is_word(lexer, word))
        return false;
    ls__ir_lex_next(lexer);
    return true;
}

bool ls__ir_lex_want(ls__ir_lexer *lexer, char character)
{
    if (ls__ir_lex_accept(lexer, character))
        return true;
    ls__ir_lex_expected(lexer, (char[]){'\'', character, '\'', 0});
    return false;
}

bool ls__ir_lex_want_word(ls__ir_lexer *lexer, const char *word)
{
    if (ls__ir_lex_accept_word(lexer, word))
        return true;
    ls__ir_lex_expected(lexer, word);
    return false;
}

/* --- numbers and names ------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool ls__ir_number_u64(ls__str text, uint64_t *value)
{
    unsigned base = 10;
    size_t i = 0;
    *value = 0;
    if (text.length > 2 && text.text[0] == '0' && text.text[1] == 'x') {
        base = 16;
        i = 2;
    }
    for (; i < text.length; i++) {
        int digit = hex_digit(text.text[i]);
        if (digit < 0 || (unsigned)digit >= base ||
            __builtin_mul_overflow(*value, (uint64_t)base, value) ||
            __builtin_add_overflow(*value, (uint64_t)digit, value))
            return false;
    }
    return text.length > 0;
}

bool ls__ir_number_i64(ls__str text, int64_t *value)
{
    bool negative = text.length > 1 && text.text[0] == '-';
    if (negative)
        text = (ls__str){text.text + 1, text.length - 1};
    uint64_t magnitude;
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    if (!ls__ir_number_u64(text, &magnitude) || magnitude > limit)
        return false;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

uint64_t ls__ir_lex_u64(ls__ir_lexer *lexer, uint64_t max)
{
    uint64_t value;
    if (lexer->token.kind != LS__IR_TOKEN_NUMBER || !ls__ir_number_u64(lexer->token.text, &value) ||
        value > max) {
        ls__ir_lex_expected(lexer, max == UINT64_MAX ? "a whole number" : "a smaller whole number");
        return 0;
    }
    ls__ir_lex_next(lexer);
    return value;
}

int64_t ls__ir_lex_i64(ls__ir_lexer *lexer)
{
    int64_t value;
    if (lexer->token.kind != LS__IR_TOKEN_NUMBER || !ls__ir_number_i64(lexer->token.text, &value)) {
        ls__ir_lex_expected(lexer, "a whole number");
        return 0;
    }
    ls__ir_lex_next(lexer);
    return value;
}

ls_value ls__ir_lex_value(ls__ir_lexer *lexer)
{
    uint64_t id;
    if (lexer->token.kind != LS__IR_TOKEN_VALUE || !ls__ir_number_u64(lexer->token.text, &id) ||
        id == 0 || id > UINT32_MAX) {
        ls__ir_lex_expected(lexer, "a value");
        return (ls_value){0};
    }
    ls__ir_lex_next(lexer);
    return (ls_value){(uint32_t)id};
}

size_t ls__ir_lex_hex(ls__ir_lexer *lexer, uint8_t *bytes)
{
    ls__ir_lexer start = *lexer;
    size_t count = 0;
    for (;;) {
        skip_space(lexer);
        int high = hex_digit(peek(lexer, 0)), low = hex_digit(peek(lexer, 1));
        if (high < 0 || low < 0)
            break;
        if (bytes)
            bytes[count] = (uint8_t)(high << 4 | low);
        count++;
        lexer->position += 2;
    }
    if (!bytes) {
        *lexer = start;
        return count;
    }
    ls__ir_lex_next(lexer);
    if (!ls__ir_lex_is(lexer, '}'))
        ls__ir_lex_expected(lexer, "two hexadecimal digits or '}'");
    return count;
}

/* A string's escapes are \" \\ and \x with two digits, not \x00. Answers false for any other. */
static bool unescape(ls__str text, char *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == 0)
            return false;
        if (c != '\\') {
            *out++ = c;
            continue;
        }
        size_t left = text.length - ++i;
        if (left >= 1 && (text.text[i] == '"' || text.text[i] == '\\')) {
            *out++ = text.text[i];
        } else if (left >= 3 && text.text[i] == 'x') {
            int high = hex_digit(text.text[i + 1]), low = hex_digit(text.text[i + 2]);
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return false;
            *out++ = (char)(high << 4 | low);
            i += 2;
        } else {
            return false;
        }
    }
    *out = 0;
    return true;
}

const char *ls__ir_lex_name(ls__ir_lexer *lexer, ls__arena *arena)
{
    ls__str text = lexer->token.text;
    char *name = NULL;
    if (lexer->token.kind == LS__IR_TOKEN_WORD) {
        name = ls__arena_strdup(arena, text.text, text.length);
    } else if (lexer->token.kind == LS__IR_TOKEN_STRING) {
        name = ls__arena_alloc(arena, text.length + 1, 1);
        if (!unescape(text, name)) {
            ls__ir_lex_fail(lexer, "the string has a zero byte or an unknown escape");
            return NULL;
        }
    } else {
        ls__ir_lex_expected(lexer, "a name");
        return NULL;
    }
    ls__ir_lex_next(lexer);
    return name;
}
