/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns names and tokens: interning, the lexer of one file, and the values of literals. A backslash
 * at a line's end is white space in directives (preprocess.c tells) and an error elsewhere, where C
 * would join the lines.
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "lang/internal.h"

static const char *const token_texts[TOK_COUNT] = {
    [TOK_END] = "the end of the file", [TOK_NAME] = "a name",     [TOK_NUMBER] = "a number",
    [TOK_CHARACTER] = "a character",   [TOK_STRING] = "a string",
#define TOKEN(name, text) [TOK_##name] = text,
#define KEYWORD(name, text) [TOK_##name] = text,
#define REFUSED(name, text) [TOK_##name] = text,
#include "lang/tokens.def"
#undef TOKEN
#undef KEYWORD
#undef REFUSED
};

const lang_builtin_info ls__lang_builtins[FN_COUNT] = {
#define BUILTIN(text, name, args, kind) [FN_##name] = {text, args, BUILTIN_##kind},
#include "lang/builtins.def"
#undef BUILTIN
};

const char *ls__lang_token_text(lang_token_kind kind)
{
    return token_texts[kind];
}

/* --- names ---------------------------------------------------------------------------- */
static void grow_buckets(lang_unit *unit)
{
    uint32_t count = unit->bucket_count ? unit->bucket_count * 2 : 512;
    lang_name **buckets = LS__NEW_ARRAY(&unit->context->arena, lang_name *, count);
    for (uint32_t i = 0; i < unit->bucket_count; i++) {
        for (lang_name *name = unit->buckets[i], *next; name; name = next) {
            next = name->next;
            name->next = buckets[name->hash & (count - 1)];
            buckets[name->hash & (count - 1)] = name;
        }
    }
    unit->buckets = buckets;
    unit->bucket_count = count;
}

lang_name *ls__lang_intern(lang_unit *unit, ls__str text)
{
    uint64_t hash = ls__hash64(text.text, text.length, 0);
    for (lang_name *name = unit->buckets[hash & (unit->bucket_count - 1)]; name;
         name = name->next) {
        if (name->hash == hash && ls__str_equal(name->text, text))
            return name;
    }
    if (unit->name_count >= unit->bucket_count)
        grow_buckets(unit);
    ls__arena *arena = &unit->context->arena;
    lang_name *name = LS__NEW(arena, lang_name);
    *name = (lang_name){
        .text = {ls__arena_strdup(arena, text.text, text.length), text.length},
        .hash = hash,
        .next = unit->buckets[hash & (unit->bucket_count - 1)],
        .token = TOK_NAME,
        .builtin = -1,
    };
    unit->buckets[hash & (unit->bucket_count - 1)] = name;
    unit->name_count++;
    return name;
}

void ls__lang_unit_init(lang_unit *unit, lang_context *context, bool is_library)
{
    *unit = (lang_unit){.context = context, .is_library = is_library};
    grow_buckets(unit);
    for (uint32_t kind = TOK_BREAK; kind < TOK_COUNT; kind++)
        ls__lang_intern(unit, ls__str_from(token_texts[kind]))->token = (uint8_t)kind;
    for (uint32_t i = 0; i < FN_COUNT; i++)
        ls__lang_intern(unit, ls__str_from(ls__lang_builtins[i].name))->builtin = (int16_t)i;
}

/* --- the lexer ------------------------------------------------------------------------ */
void ls__lang_lexer_init(lang_lexer *lexer, lang_unit *unit, uint16_t file)
{
    lang_file *f = &unit->context->files.items[file];
    if (f->length >= 3 && memcmp(f->text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        f->text += 3;
        f->length -= 3;
    }
    *lexer = (lang_lexer){
        .unit = unit,
        .file = file,
        .at = f->text,
        .end = f->text + f->length,
        .line_start = f->text,
        .line = 1,
        .starts_line = true,
    };
}

static lang_pos position(const lang_lexer *lexer, const char *start)
{
    size_t column = (size_t)(start - lexer->line_start) + 1;
    return (lang_pos){.line = lexer->line,
                      .file = lexer->file,
                      .column = column > UINT16_MAX ? UINT16_MAX : (uint16_t)column,
                      .length = 1};
}

static char peek(const lang_lexer *lexer, size_t ahead)
{
    return ahead < (size_t)(lexer->end - lexer->at) ? lexer->at[ahead] : 0;
}

static void new_line(lang_lexer *lexer) /* at '\n' */
{
    lexer->at++;
    lexer->line++;
    lexer->line_start = lexer->at;
    lexer->starts_line = true;
}

static void skip_comment(lang_lexer *lexer) /* at slash star */
{
    lang_pos start = position(lexer, lexer->at);
    bool starts_line = lexer->starts_line;
    start.length = 2;
    lexer->at += 2;
    while (lexer->at < lexer->end) {
        if (*lexer->at == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return;
        }
        if (*lexer->at == '\n') {
            new_line(lexer); /* a comment is one space: it does not begin a line for what follows */
            lexer->starts_line = starts_line;
        } else {
            lexer->at++;
        }
    }
    ls__lang_report(lexer->unit->context, start, D_OPEN_COMMENT);
}

/* True when a backslash, and perhaps spaces, end the line at `at`. */
static bool is_continuation(const lang_lexer *lexer)
{
    return peek(lexer, 0) == '\\' &&
           (peek(lexer, 1) == '\n' || (peek(lexer, 1) == '\r' && peek(lexer, 2) == '\n'));
}

static void skip_line_comment(lang_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n') {
        if (is_continuation(lexer))
            ls__lang_report(lexer->unit->context, position(lexer, lexer->at), D_LINE_CONTINUATION);
        lexer->at++;
    }
}

bool ls__lang_skip_space(lang_lexer *lexer)
{
    const char *start = lexer->at;
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '\n')
            new_line(lexer);
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v')
            lexer->at++;
        else if (c == '/' && peek(lexer, 1) == '*')
            skip_comment(lexer);
        else if (c == '/' && peek(lexer, 1) == '/')
            skip_line_comment(lexer);
        else if (is_continuation(lexer)) {
            bool starts_line = lexer->starts_line;
            lexer->at += peek(lexer, 1) == '\r' ? 2 : 1;
            new_line(lexer);
            lexer->starts_line = starts_line;
        } else
            break;
    }
    return lexer->at != start;
}

void ls__lang_skip_line(lang_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n') {
        if (*lexer->at == '/' && peek(lexer, 1) == '*') {
            skip_comment(lexer);
        } else if (*lexer->at == '/' && peek(lexer, 1) == '/') {
            skip_line_comment(lexer);
        } else if (is_continuation(lexer)) {
            lexer->at += peek(lexer, 1) == '\r' ? 2 : 1;
            new_line(lexer);
        } else {
            lexer->at++;
        }
    }
    lexer->starts_line = true;
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t number_length(const lang_lexer *lexer)
{
    size_t n = 0;
    for (;;) {
        char c = peek(lexer, n);
        if ((c == '+' || c == '-') && n > 0) {
            char before = lexer->at[n - 1];
            if (!strchr("eEpP", before)) /* 0xe+1 is one malformed number, as in C */
                return n;
        } else if (!is_name_start(c) && !is_digit(c) && c != '.') {
            return n;
        }
        n++;
    }
}

/* Length of a quoted token, 0 when it does not end on this line. */
static size_t quoted_length(const lang_lexer *lexer, char quote)
{
    for (size_t n = 1;; n++) {
        char c = peek(lexer, n);
        if (c == quote)
            return n + 1;
        if (c == 0 || c == '\n')
            return 0;
        if (c == '\\' && peek(lexer, n + 1) != '\n')
            n++;
    }
}

static void bad_character(lang_lexer *lexer)
{
    lang_context *context = lexer->unit->context;
    unsigned char c = (unsigned char)*lexer->at;
    lang_pos pos = position(lexer, lexer->at);
    if (c > ' ' && c < 127)
        ls__lang_report(context, pos, D_BAD_CHARACTER,
                        ls__arena_printf(&context->arena, "'%c'", c));
    else
        ls__lang_report(context, pos, D_BAD_CHARACTER,
                        ls__arena_printf(&context->arena, "with code 0x%02x", (unsigned)c));
    lexer->at++;
    while (lexer->at < lexer->end && (unsigned char)*lexer->at >= 128)
        lexer->at++; /* one report for a run of non-ASCII bytes */
}

static size_t punctuator(const lang_lexer *lexer, uint8_t *kind)
{
    for (uint32_t k = TOK_ELLIPSIS; k <= TOK_HASH; k++) {
        const char *text = token_texts[k];
        size_t n = 0;
        while (text[n] && text[n] == peek(lexer, n))
            n++;
        if (!text[n]) {
            *kind = (uint8_t)k;
            return n;
        }
    }
    return 0;
}

lang_token ls__lang_lex(lang_lexer *lexer)
{
    for (;;) {
        bool after_space = ls__lang_skip_space(lexer);
        lang_token token = {
            .kind = TOK_END, .starts_line = lexer->starts_line, .after_space = after_space};
        const char *start = lexer->at;
        token.pos = position(lexer, start);
        if (start == lexer->end)
            return token;
        lexer->starts_line = false;
        char c = *start;
        size_t length;
        if (is_name_start(c)) {
            length = 1;
            while (is_name_start(peek(lexer, length)) || is_digit(peek(lexer, length)))
                length++;
            token.u.name = ls__lang_intern(lexer->unit, (ls__str){start, length});
            token.kind = token.u.name->token;
        } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
            length = number_length(lexer);
            token.kind = TOK_NUMBER;
            token.u.text = (ls__str){start, length};
        } else if (c == '\'' && (length = quoted_length(lexer, '\'')) > 0) {
            token.kind = TOK_CHARACTER;
            token.u.text = (ls__str){start, length};
        } else if (c == '"' && (length = quoted_length(lexer, '"')) > 0) {
            token.kind = TOK_STRING;
            token.u.text = (ls__str){start, length};
        } else if ((length = punctuator(lexer, &token.kind)) == 0) {
            bad_character(lexer);
            continue;
        }
        lexer->token = start;
        lexer->at += length;
        token.pos.length = (uint32_t)length;
        return token;
    }
}

/* --- values of literals --------------------------------------------------------------- */
/* Suffix of an integer: u, l, ll in any order and case as C has it. False when there is anything
 * else. */
static bool integer_suffix(const char *at, const char *end, bool *is_unsigned, bool *is_long)
{
    for (int part = 0; part < 2 && at < end; part++) {
        if (!*is_unsigned && (*at == 'u' || *at == 'U')) {
            *is_unsigned = true;
            at++;
        } else if (!*is_long && (*at == 'l' || *at == 'L')) {
            *is_long = true;
            at += at + 1 < end && at[1] == at[0] ? 2 : 1;
        }
    }
    return at == end;
}

static int digit_value(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static uint64_t integer_literal(lang_context *context, const lang_token *token, lang_type **type)
{
    ls__str text = token->u.text;
    const char *at = text.text, *end = at + text.length;
    unsigned base = 10;
    if (text.length > 1 && at[0] == '0') {
        base = at[1] == 'x' || at[1] == 'X' ? 16 : 8;
        at += base == 16 ? 2 : 1;
    }
    uint64_t value = 0;
    bool overflow = false;
    const char *digits = at;
    for (; at < end && digit_value(*at) < (int)base; at++) {
        overflow |= __builtin_mul_overflow(value, base, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)digit_value(*at), &value);
    }
    bool is_unsigned = false, is_long = false;
    *type = TY(I32);
    if ((at == digits && base == 16) || !integer_suffix(at, end, &is_unsigned, &is_long)) {
        ls__lang_report(context, token->pos, D_BAD_NUMBER, LS__STR_ARG(text));
        return 0;
    }
    if (overflow || (base == 10 && !is_unsigned && value > INT64_MAX)) {
        ls__lang_report(context, token->pos, D_NUMBER_TOO_LARGE, LS__STR_ARG(text));
        if (!overflow)
            ls__lang_hint(context, "add the suffix u for u64");
        return 0;
    }
    bool may_be_unsigned = is_unsigned || base != 10;
    if (!is_long && !is_unsigned && value <= INT32_MAX)
        *type = TY(I32);
    else if (!is_long && may_be_unsigned && value <= UINT32_MAX)
        *type = TY(U32);
    else if (!is_unsigned && value <= INT64_MAX)
        *type = TY(I64);
    else
        *type = TY(U64);
    return value;
}

/* Decimal and hexadecimal floats. The lexer gave only characters that can stand in a number; strtod
 * decides how much of them is one. */
static uint64_t float_literal(lang_context *context, const lang_token *token, lang_type **type)
{
    ls__str text = token->u.text;
    char *copy = ls__arena_strdup(&context->arena, text.text, text.length), *end = NULL;
    char last = copy[text.length - 1];
    bool is_f32 = last == 'f' || last == 'F';
    bool is_hex = text.length > 1 && (copy[1] == 'x' || copy[1] == 'X');
    if (is_f32)
        copy[text.length - 1] = 0;
    *type = is_f32 ? TY(F32) : TY(F64);
    double d = 0;
    float f = 0;
    if (is_f32)
        f = strtof_l(copy, &end, (locale_t)context->locale);
    else
        d = strtod_l(copy, &end, (locale_t)context->locale);
    bool has_exponent = is_hex ? strpbrk(copy, "pP") != NULL : true;
    if (*end || !has_exponent) {
        ls__lang_report(context, token->pos, D_BAD_NUMBER, LS__STR_ARG(text));
        return 0;
    }
    bool is_infinite = is_f32 ? __builtin_isinf(f) : __builtin_isinf(d);
    if (is_infinite) {
        ls__lang_report(context, token->pos, D_NUMBER_TOO_LARGE, LS__STR_ARG(text));
        ls__lang_hint(context, "the largest %s is about %s", is_f32 ? "f32" : "f64",
                      is_f32 ? "3.4e38" : "1.8e308");
        return 0;
    }
    uint64_t bits = 0;
    if (is_f32)
        memcpy(&bits, &f, sizeof f);
    else
        memcpy(&bits, &d, sizeof d);
    return bits;
}

uint64_t ls__lang_number(lang_context *context, const lang_token *token, lang_type **type)
{
    ls__str text = token->u.text;
    bool is_hex =
        text.length > 1 && text.text[0] == '0' && (text.text[1] == 'x' || text.text[1] == 'X');
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == '.' || (is_hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E'))
            return float_literal(context, token, type);
    }
    return integer_literal(context, token, type);
}

/* -1000 when there is no digit. */
static int hex_or_octal(const char **at, const char *end, unsigned base, int max_digits)
{
    int value = 0, digits = 0;
    while (*at < end && digits < max_digits && digit_value(**at) < (int)base) {
        value = value * (int)base + digit_value(**at);
        (*at)++;
        digits++;
    }
    return digits == 0 ? -1000 : value;
}

int32_t ls__lang_character(lang_context *context, const lang_token *token)
{
    static const char letters[] = "abfnrtv\\'\"?";
    static const char values[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *at = token->u.text.text + 1, *end = token->u.text.text + token->u.text.length - 1;
    const int bad = -1000;
    int value = bad;
    if (at < end && *at != '\\') {
        value = (unsigned char)*at < 128 ? *at : bad;
        at++;
    } else if (end - at >= 2) {
        const char *letter = strchr(letters, at[1]);
        at++;
        if (*at == 'x') {
            at++;
            value = hex_or_octal(&at, end, 16, 2);
        } else if (letter && *letter) {
            value = values[letter - letters];
            at++;
        } else {
            value = hex_or_octal(&at, end, 8, 3);
        }
        if (value > 127) /* a C compiler's char is signed */
            value = value <= 255 ? value - 256 : bad;
    }
    if (at != end || value == bad) {
        ls__lang_report(context, token->pos, D_BAD_CHARACTER_CONSTANT);
        return 0;
    }
    return value;
}
