/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of $print and its kin. Yosys' format string: {{ and }} are braces; {SIZE:JPWBSs} is an
 * argument of SIZE bits: justification (< > =), padding, least width, base (b o d h H c t r), sign
 * (+, space), '#' for a prefix, '_' for groups, u or s for unsigned and signed.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cosim/engine.h"
#include "netlist/netlist.h"

enum { MOST_BITS = 4096, MOST_DIGITS = MOST_BITS + 16 };

typedef struct spec {
    uint32_t size, width;
    char justify, padding, base, sign;
    bool is_signed, show_base, group;
} spec;

/* Parses behind '{'; returns the place behind '}', or NULL when it is no argument. */
static const char *parse_spec(const char *at, spec *out)
{
    *out = (spec){.justify = '>', .padding = ' ', .base = 'd'};
    for (; isdigit((unsigned char)*at) && out->size <= MOST_BITS; at++)
        out->size = out->size * 10 + (uint32_t)(*at - '0');
    if (*at++ != ':' || out->size > MOST_BITS)
        return NULL;
    if (*at && strchr("<>=", *at)) {
        out->justify = *at++;
        if (*at)
            out->padding = *at++;
    }
    for (; isdigit((unsigned char)*at) && out->width <= MOST_BITS; at++)
        out->width = out->width * 10 + (uint32_t)(*at - '0');
    if (!*at || !strchr("bodhHctrU", *at) || out->width > MOST_BITS)
        return NULL;
    out->base = *at++;
    for (; *at && *at != '}'; at++) {
        if (*at == 's')
            out->is_signed = true;
        else if (*at == '#')
            out->show_base = true;
        else if (*at == '_')
            out->group = true;
        else if (*at == '+' || *at == ' ' || *at == '-')
            out->sign = *at;
    }
    return *at == '}' ? at + 1 : NULL;
}

static uint32_t bit_at(const uint64_t *words, uint32_t at)
{
    return words[at / 64] >> (at % 64) & 1;
}

/* value /= 10; returns the remainder. */
static uint32_t divide_by_ten(uint32_t *value, uint32_t count)
{
    uint64_t rest = 0;
    for (uint32_t i = count; i-- > 0;) {
        rest = rest << 32 | value[i];
        value[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    return (uint32_t)rest;
}

/* Digits of an argument, lowest first, without sign; returns how many. `negative` is set when it is
 * below zero; digits are then those of its absolute value. */
static uint32_t make_digits(const spec *s, const uint64_t *words, uint32_t at, char *digits,
                            bool *negative)
{
    uint32_t value[MOST_BITS / 32 + 1] = {0};
    uint32_t limbs = (s->size + 31) / 32, count = 0;
    *negative = s->is_signed && s->base == 'd' && s->size && bit_at(words, at + s->size - 1);
    uint32_t carry = *negative;
    for (uint32_t i = 0; i < s->size; i++) {
        uint32_t bit = bit_at(words, at + i) ^ (uint32_t)*negative;
        uint32_t sum = bit + carry;
        carry = sum >> 1;
        value[i / 32] |= (sum & 1) << (i % 32);
    }
    if (s->base == 'd') {
        bool more = true;
        while (more) {
            digits[count++] = (char)('0' + divide_by_ten(value, limbs));
            more = false;
            for (uint32_t i = 0; i < limbs; i++)
                more = more || value[i];
        }
        return count;
    }
    uint32_t bits = s->base == 'b' ? 1 : s->base == 'o' ? 3 : 4;
    const char *names = s->base == 'H' ? "0123456789ABCDEF" : "0123456789abcdef";
    for (uint32_t i = 0; i < s->size; i += bits) {
        uint32_t digit = 0;
        for (uint32_t k = 0; k < bits && i + k < s->size; k++)
            digit |= (value[(i + k) / 32] >> ((i + k) % 32) & 1) << k;
        digits[count++] = names[digit];
    }
    while (count > 1 && digits[count - 1] == '0' && s->width == 0)
        count--;
    return count;
}

static void pad(ls__strbuf *out, char c, uint32_t length, uint32_t width)
{
    for (; length < width; length++)
        ls__strbuf_append(out, &c, 1);
}

static void append_number(const spec *s, const uint64_t *words, uint32_t at, ls__strbuf *out)
{
    char digits[MOST_DIGITS];
    bool negative;
    uint32_t count = make_digits(s, words, at, digits, &negative);
    char head[4] = "";
    if (negative)
        strcpy(head, "-");
    else if (s->sign == '+' || s->sign == ' ')
        head[0] = s->sign;
    if (s->show_base && s->base != 'd') {
        const char prefix[] = {'0', s->base == 'h' || s->base == 'H' ? 'x' : s->base, 0};
        strcat(head, prefix);
    }
    uint32_t separators = s->group ? (count - 1) / (s->base == 'd' ? 3 : 4) : 0;
    uint32_t length = count + separators + (uint32_t)strlen(head);
    bool numeric = s->justify == '=' || (s->justify == '>' && s->padding == '0');
    if (s->justify == '>' && !numeric)
        pad(out, s->padding, length, s->width);
    ls__strbuf_append(out, head, strlen(head));
    if (numeric)
        pad(out, s->padding, length, s->width);
    for (uint32_t i = count; i-- > 0;) {
        ls__strbuf_append(out, &digits[i], 1);
        if (s->group && i && i % (s->base == 'd' ? 3 : 4) == 0)
            ls__strbuf_append(out, "_", 1);
    }
    if (s->justify == '<')
        pad(out, ' ', length, s->width);
}

static void append_text(const spec *s, const uint64_t *words, uint32_t at, ls__strbuf *out)
{
    char text[MOST_BITS / 8 + 1];
    uint32_t count = 0;
    for (uint32_t i = (s->size + 7) / 8; i-- > 0;) {
        uint32_t c = 0;
        for (uint32_t k = 0; k < 8 && i * 8 + k < s->size; k++)
            c |= bit_at(words, at + i * 8 + k) << k;
        if (c || count)
            text[count++] = (char)c;
    }
    if (s->justify == '>')
        pad(out, s->padding, count, s->width);
    ls__strbuf_append(out, text, count);
    if (s->justify == '<')
        pad(out, s->padding, count, s->width);
}

static void append_formatted(const ls__graph_effect *effect, uint64_t edge, const uint64_t *words,
                             ls__strbuf *out)
{
    uint32_t at = 0;
    for (const char *f = effect->format; *f;) {
        if ((f[0] == '{' && f[1] == '{') || (f[0] == '}' && f[1] == '}')) {
            ls__strbuf_append(out, f, 1);
            f += 2;
            continue;
        }
        spec s;
        const char *end = *f == '{' ? parse_spec(f + 1, &s) : NULL;
        if (!end || (s.base != 't' && s.base != 'r' && s.size > effect->argument_bits - at)) {
            ls__strbuf_append(out, f++, 1);
            continue;
        }
        f = end;
        if (s.base == 't' || s.base == 'r') {
            s.base = 'd';
            s.size = 64;
            s.is_signed = false;
            append_number(&s, &edge, 0, out);
            continue;
        }
        if (s.base == 'c' || s.base == 'U')
            append_text(&s, words, at, out);
        else
            append_number(&s, words, at, out);
        at += s.size;
    }
}

/* Words of the arguments as the graph has them (nodes of at most 64 bits) to consecutive bits. */
static void pack(const ls__graph *g, const ls__graph_effect *effect, const uint64_t *words,
                 uint64_t *bits)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < effect->argument_count; i++) {
        uint32_t width = g->nodes[effect->arguments[i].index].width;
        bits[at / 64] |= words[i] << (at % 64);
        if (at % 64 && at % 64 + width > 64)
            bits[at / 64 + 1] |= words[i] >> (64 - at % 64);
        at += width;
    }
}

void ls__format_effect(const ls__graph *graph, const ls__graph_effect *effect, uint64_t edge,
                       const uint64_t *words, ls__strbuf *out)
{
    if (effect->kind == LS__EFFECT_ASSERT || effect->kind == LS__EFFECT_ASSUME) {
        ls__strbuf_printf(out, "%s '%s'%s%s",
                          effect->kind == LS__EFFECT_ASSERT ? "assertion" : "assumption",
                          effect->name, *effect->source ? " at " : "", effect->source);
        if (*effect->format)
            ls__strbuf_printf(out, ": ");
    }
    if (effect->argument_bits > MOST_BITS * 16u) {
        ls__strbuf_printf(out, "%s", effect->format);
        return;
    }
    uint64_t bits[MOST_BITS * 16 / 64 + 2] = {0};
    pack(graph, effect, words, bits);
    append_formatted(effect, edge, bits, out);
}
