/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, numbers and symbols of PTX text. Every error leaves through parser_fail. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "parser.h"

void parser_fail(parser *p, const char *format, ...)
{
    char what[256];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(p->message, p->message_size, "emulated ptxas: line %u: %s",
             p->statement_line ? p->statement_line : p->t.line, what);
    longjmp(p->out, 1);
}

static bool word_character(int c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_space(parser *p)
{
    while (p->cursor < p->end) {
        const char *c = p->cursor;
        if (*c == '\n') {
            p->line++;
            p->cursor++;
        } else if (isspace((unsigned char)*c)) {
            p->cursor++;
        } else if (p->end - c >= 2 && c[0] == '/' && c[1] == '/') {
            while (p->cursor < p->end && *p->cursor != '\n')
                p->cursor++;
        } else if (p->end - c >= 2 && c[0] == '/' && c[1] == '*') {
            p->cursor += 2;
            while (p->end - p->cursor >= 2 && (p->cursor[0] != '*' || p->cursor[1] != '/'))
                p->line += *p->cursor++ == '\n';
            p->cursor = p->end - p->cursor >= 2 ? p->cursor + 2 : p->end;
        } else {
            return;
        }
    }
}

void parser_next(parser *p)
{
    skip_space(p);
    token *t = &p->t;
    *t = (token){TOKEN_END, p->cursor, 0, p->line};
    if (p->cursor >= p->end || *p->cursor == 0)
        return;
    const char *c = p->cursor;
    if (*c == '"') {
        t->kind = TOKEN_STRING;
        for (c++; c < p->end && *c != '"' && *c != '\n'; c++)
            ;
        if (c >= p->end || *c != '"')
            parser_fail(p, "a string does not end");
        c++;
    } else if (word_character((unsigned char)*c)) {
        t->kind = isdigit((unsigned char)*c) ? TOKEN_NUMBER : TOKEN_WORD;
        while (c < p->end && (word_character((unsigned char)*c) ||
                              (p->end - c > 1 && c[0] == ':' && c[1] == ':') ||
                              (c > t->text + 1 && c[-1] == ':' && c[0] == ':')))
            c++;
    } else {
        t->kind = TOKEN_MARK;
        c++;
    }
    t->length = (size_t)(c - t->text);
    p->cursor = c;
}

bool token_is(const token *t, const char *text)
{
    return t->length == strlen(text) && memcmp(t->text, text, t->length) == 0;
}

bool parser_accept(parser *p, const char *text)
{
    if (!token_is(&p->t, text))
        return false;
    parser_next(p);
    return true;
}

void parser_expect(parser *p, const char *text)
{
    if (!parser_accept(p, text))
        parser_fail(p, "expected '%s' before '%.*s'", text, (int)p->t.length, p->t.text);
}

char *parser_name(parser *p)
{
    if (p->t.kind != TOKEN_WORD)
        parser_fail(p, "expected a name before '%.*s'", (int)p->t.length, p->t.text);
    char *name = ptx_own(p->module, p->t.length + 1, 1);
    memcpy(name, p->t.text, p->t.length);
    parser_next(p);
    return name;
}

/* --- numbers ------------------------------------------------------------------------------------
 */
static number literal(parser *p)
{
    char text[64];
    if (p->t.kind != TOKEN_NUMBER || p->t.length >= sizeof text)
        parser_fail(p, "expected a number before '%.*s'", (int)p->t.length, p->t.text);
    memcpy(text, p->t.text, p->t.length);
    text[p->t.length] = 0;
    char *rest = text;
    number n = {NUMBER_INTEGER, 0};
    int kind = text[0] == '0' ? tolower((unsigned char)text[1]) : 0;
    if (kind == 'f' || (kind == 'd' && strlen(text) == 18)) {
        n.kind = kind == 'f' ? NUMBER_F32 : NUMBER_F64;
        n.bits = strtoull(text + 2, &rest, 16);
        if (strlen(text) != (kind == 'f' ? 10 : 18))
            parser_fail(p, "%s has not the digits of its type", text);
    } else if (kind == 'b') {
        n.bits = strtoull(text + 2, &rest, 2);
    } else if (strchr(text, '.')) {
        double value = strtod(text, &rest);
        n.kind = NUMBER_F64;
        memcpy(&n.bits, &value, 8);
    } else {
        n.bits = strtoull(text, &rest, 0);
        if (*rest == 'U')
            rest++;
    }
    if (*rest != 0)
        parser_fail(p, "%s is not a number", text);
    parser_next(p);
    return n;
}

number parser_number(parser *p)
{
    if (parser_accept(p, "(")) {
        number n = parser_number(p);
        parser_expect(p, ")");
        return n;
    }
    if (parser_accept(p, "WARP_SZ"))
        return (number){NUMBER_INTEGER, LANES};
    bool minus = parser_accept(p, "-"), invert = !minus && parser_accept(p, "~");
    number n = minus || invert ? parser_number(p) : literal(p);
    if (minus)
        n.bits = n.kind == NUMBER_INTEGER ? 0 - n.bits
                 : n.kind == NUMBER_F32   ? n.bits ^ UINT64_C(1) << 31
                                          : n.bits ^ UINT64_C(1) << 63;
    if (invert)
        n.bits = ~n.bits;
    return n;
}

uint64_t parser_integer(parser *p)
{
    number n = parser_number(p);
    if (n.kind != NUMBER_INTEGER)
        parser_fail(p, "expected an integer");
    return n.bits;
}

/* The bits that a register of `width` bytes gets. */
uint64_t number_value(number n, unsigned width, bool is_float)
{
    if (n.kind == NUMBER_F64 && width == 4) {
        double wide;
        memcpy(&wide, &n.bits, 8);
        float narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, 4);
        return bits;
    }
    if (n.kind == NUMBER_F32 && width == 8 && is_float) {
        uint32_t bits = (uint32_t)n.bits;
        float narrow;
        memcpy(&narrow, &bits, 4);
        double wide = narrow;
        memcpy(&n.bits, &wide, 8);
        return n.bits;
    }
    return width >= 8 ? n.bits : n.bits & ((UINT64_C(1) << width * 8) - 1);
}

/* --- symbols ------------------------------------------------------------------------------------
 */
static uint32_t bucket_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % BUCKETS;
}

symbol *parser_find(parser *p, const char *name, size_t length)
{
    for (uint32_t i = p->buckets[bucket_of(name, length)]; i; i = p->symbols[i - 1].next) {
        symbol *s = &p->symbols[i - 1];
        if (s->length == length && memcmp(s->name, name, length) == 0)
            return s;
    }
    return NULL;
}

symbol *parser_define(parser *p, const char *name, symbol_kind kind)
{
    size_t length = strlen(name);
    uint32_t bucket = bucket_of(name, length);
    symbol *s = PUSH(p, symbols, symbol_count, symbol_capacity);
    *s = (symbol){.name = name, .length = length, .kind = kind, .next = p->buckets[bucket]};
    p->buckets[bucket] = (uint32_t)p->symbol_count;
    return s;
}

void parser_forget(parser *p, size_t count)
{
    while (p->symbol_count > count) {
        symbol *s = &p->symbols[--p->symbol_count];
        p->buckets[bucket_of(s->name, s->length)] = s->next;
    }
}

void *parser_push(void **items, size_t *count, size_t *capacity, size_t size)
{
    if (*count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        void *more = realloc(*items, *capacity * size);
        if (!more)
            abort();
        *items = more;
    }
    void *item = (char *)*items + (*count)++ * size;
    memset(item, 0, size);
    return item;
}

/* --- types --------------------------------------------------------------------------------------
 */
static const struct {
    const char *name;
    unsigned size;
    bool is_signed, is_float;
} types[] = {
    [TYPE_NONE] = {"?", 0, 0, 0},  [TYPE_B8] = {"b8", 1, 0, 0},   [TYPE_B16] = {"b16", 2, 0, 0},
    [TYPE_B32] = {"b32", 4, 0, 0}, [TYPE_B64] = {"b64", 8, 0, 0}, [TYPE_U8] = {"u8", 1, 0, 0},
    [TYPE_U16] = {"u16", 2, 0, 0}, [TYPE_U32] = {"u32", 4, 0, 0}, [TYPE_U64] = {"u64", 8, 0, 0},
    [TYPE_S8] = {"s8", 1, 1, 0},   [TYPE_S16] = {"s16", 2, 1, 0}, [TYPE_S32] = {"s32", 4, 1, 0},
    [TYPE_S64] = {"s64", 8, 1, 0}, [TYPE_F16] = {"f16", 2, 0, 1}, [TYPE_BF16] = {"bf16", 2, 0, 1},
    [TYPE_F32] = {"f32", 4, 0, 1}, [TYPE_F64] = {"f64", 8, 0, 1}, [TYPE_PRED] = {"pred", 0, 0, 0},
};

type_kind type_named(const char *text, size_t length)
{
    for (type_kind type = TYPE_B8; type <= TYPE_PRED; type++)
        if (strlen(types[type].name) == length && memcmp(types[type].name, text, length) == 0)
            return type;
    return TYPE_NONE;
}

unsigned type_size(type_kind type)
{
    return types[type].size;
}

bool type_signed(type_kind type)
{
    return types[type].is_signed;
}

bool type_float(type_kind type)
{
    return types[type].is_float;
}
