/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See lex.h. White space around tags, in the order Jinja2 decides it: a tag that begins with "-"
 * takes all of it before itself, one with "+" nothing, and a {% or {# that is the first thing in
 * its line takes the line's indentation; "-" at the end takes all behind, and %} and #} otherwise
 * one line end. {{ and }} take nothing without "-".
 */
#include "chat/lex.h"

#include <stdlib.h>
#include <string.h>

#include "chat/unicode.h"

typedef struct lexer {
    chat_fault *fault;
    ls__arena *arena;
    chat_tokens *tokens;
    const char *text;
    size_t end, at;
    bool line_begins;   /* what was read last ended a line, or nothing was read */
    LS__VEC(char) open; /* brackets, as what closes them */
} lexer;

#define FAIL(lexer_, offset_, ...)                                                                 \
    ls__chat_fail_at((lexer_)->fault, (offset_), LS_E_FORMAT, __VA_ARGS__)

static chat_token *add(lexer *lex, chat_token_kind kind, size_t start, size_t end)
{
    chat_token token = {kind, (uint32_t)start, {lex->text + start, end - start}, {0}};
    ls__vec_push(lex->arena, lex->tokens, token);
    return &lex->tokens->items[lex->tokens->count - 1];
}

static char peek(const lexer *lex, size_t ahead)
{
    return ahead < lex->end - lex->at ? lex->text[lex->at + ahead] : 0;
}

static bool at_text(const lexer *lex, size_t offset, const char *wanted)
{
    size_t length = strlen(wanted);
    return offset <= lex->end && length <= lex->end - offset &&
           memcmp(lex->text + offset, wanted, length) == 0;
}

static size_t skip_space(const lexer *lex, size_t offset)
{
    return offset + ls__chat_space_before(lex->text + offset, lex->end - offset);
}

/* Moves on, and notes whether that ended a line. */
static void go_to(lexer *lex, size_t offset)
{
    if (offset > lex->at)
        lex->line_begins = lex->text[offset - 1] == '\n';
    lex->at = offset;
}

/* --- text between tags ------------------------------------------------------------------------ */

/* Text up to a tag, without what the tag takes of it. `sign` is the character behind the tag's
 * opening. */
static void add_text(lexer *lex, size_t start, size_t end, char sign, bool is_output)
{
    if (sign == '-') {
        end -= ls__chat_space_behind(lex->text + start, end - start);
    } else if (sign != '+' && !is_output) {
        size_t line = end;
        while (line > start && lex->text[line - 1] != '\n')
            line--;
        if ((line > start || lex->line_begins) && skip_space(lex, line) >= end)
            end = line;
    }
    if (end > start) {
        chat_token *token = add(lex, CHAT_TOKEN_TEXT, start, end);
        token->value = ls__chat_arena_text(lex->arena, lex->text + start, end - start);
    }
}

/* Behind "%}" or "#}" at `offset`, which may have a sign before it. */
static size_t behind_end(const lexer *lex, size_t offset)
{
    if (lex->text[offset] == '-')
        return skip_space(lex, offset + 3);
    if (lex->text[offset] == '+')
        return offset + 3;
    return offset + 2 + (at_text(lex, offset + 2, "\n") ? 1 : 0);
}

static bool is_tag_end(const lexer *lex, size_t offset, const char *end)
{
    bool has_sign = at_text(lex, offset, "-") || (at_text(lex, offset, "+") && *end != '}');
    return at_text(lex, offset + (has_sign ? 1 : 0), end);
}

/* The next "{%", "{{" or "{#", or the end. */
static size_t find_tag(const lexer *lex, size_t offset)
{
    for (; offset + 1 < lex->end; offset++)
        if (lex->text[offset] == '{' && lex->text[offset + 1] != 0 &&
            strchr("%{#", lex->text[offset + 1]))
            return offset;
    return lex->end;
}

/* `{% raw %}` at `offset`: where its text begins; 0 when it is something else. */
static size_t raw_begin(const lexer *lex, size_t offset, const char *word)
{
    if (!at_text(lex, offset, "{%"))
        return 0;
    offset += 2;
    if (at_text(lex, offset, "-") || at_text(lex, offset, "+"))
        offset++;
    offset = skip_space(lex, offset);
    if (!at_text(lex, offset, word))
        return 0;
    return skip_space(lex, offset + strlen(word));
}

static char sign_of(const lexer *lex, size_t tag)
{
    char sign = tag + 2 < lex->end ? lex->text[tag + 2] : 0;
    return sign == '-' || sign == '+' ? sign : 0;
}

static void lex_raw(lexer *lex, size_t tag, size_t start)
{
    for (size_t offset = start; offset < lex->end; offset++) {
        size_t end = raw_begin(lex, offset, "endraw");
        if (end == 0 || !is_tag_end(lex, end, "%}"))
            continue;
        lex->line_begins = start > 0 && lex->text[start - 1] == '\n';
        add_text(lex, start, offset, sign_of(lex, offset), false);
        go_to(lex, behind_end(lex, end));
        return;
    }
    FAIL(lex, tag, "{%% raw %%} is not closed by {%% endraw %%}");
}

static void lex_comment(lexer *lex, size_t tag, size_t start)
{
    for (size_t offset = start; offset < lex->end; offset++) {
        if (!is_tag_end(lex, offset, "#}"))
            continue;
        go_to(lex, behind_end(lex, offset));
        return;
    }
    FAIL(lex, tag, "the comment is not closed by #}");
}

/* --- inside tags ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Digits with single "_" between them; answers how many bytes. */
static size_t digits(const lexer *lex, size_t offset)
{
    size_t start = offset;
    while (offset < lex->end &&
           (is_digit(lex->text[offset]) ||
            (lex->text[offset] == '_' && offset > start && lex->text[offset - 1] != '_' &&
             offset + 1 < lex->end && is_digit(lex->text[offset + 1]))))
        offset++;
    return offset - start;
}

/* Bytes of a float at `offset`, 0 when there is none. */
static size_t float_length(const lexer *lex, size_t offset)
{
    size_t start = offset;
    bool has_fraction = false, has_exponent = false;
    if (offset > 0 && lex->text[offset - 1] == '.')
        return 0;
    offset += digits(lex, offset);
    if (at_text(lex, offset, ".") && digits(lex, offset + 1) > 0) {
        offset += 1 + digits(lex, offset + 1);
        has_fraction = true;
    }
    if (at_text(lex, offset, "e") || at_text(lex, offset, "E")) {
        size_t power = offset + 1;
        if (at_text(lex, power, "+") || at_text(lex, power, "-"))
            power++;
        if (digits(lex, power) > 0) {
            offset = power + digits(lex, power);
            has_exponent = true;
        }
    }
    return has_fraction || has_exponent ? offset - start : 0;
}

static void lex_float(lexer *lex, size_t length)
{
    char *text = ls__arena_alloc(lex->arena, length + 1, 1);
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        if (lex->text[lex->at + i] != '_')
            text[count++] = lex->text[lex->at + i];
    chat_token *token = add(lex, CHAT_TOKEN_NUMBER, lex->at, lex->at + length);
    token->value = ls__chat_float(strtod(text, NULL));
    go_to(lex, lex->at + length);
}

static unsigned digit_value(char c)
{
    return is_digit(c)              ? (unsigned)(c - '0')
           : (c >= 'a' && c <= 'f') ? (unsigned)(c - 'a' + 10)
           : (c >= 'A' && c <= 'F') ? (unsigned)(c - 'A' + 10)
                                    : 99;
}

static void lex_integer(lexer *lex)
{
    size_t start = lex->at, at = start;
    unsigned base = 10;
    if (peek(lex, 0) == '0' && peek(lex, 1) != 0 && strchr("bBoOxX", peek(lex, 1))) {
        char mark = (char)(peek(lex, 1) | 0x20);
        unsigned wanted = mark == 'b' ? 2 : mark == 'o' ? 8 : 16;
        size_t first = 2 + (peek(lex, 2) == '_' ? 1 : 0);
        if (digit_value(peek(lex, first)) < wanted) {
            base = wanted;
            at += 2;
        }
    }
    bool is_zero = base == 10 && peek(lex, 0) == '0';
    int64_t value = 0;
    while (at < lex->end) {
        bool is_gap = lex->text[at] == '_' && at > start && lex->text[at - 1] != '_';
        char c = is_gap && at + 1 < lex->end ? lex->text[at + 1] : lex->text[at];
        unsigned digit = digit_value(c);
        if (digit >= base || (is_zero && digit != 0))
            break;
        if (!is_gap && (__builtin_mul_overflow(value, (int64_t)base, &value) ||
                        __builtin_add_overflow(value, (int64_t)digit, &value)))
            ls__chat_fail_at(lex->fault, start, LS_E_LIMIT, "an integer needs more than 64 bits");
        at++;
    }
    chat_token *token = add(lex, CHAT_TOKEN_NUMBER, start, at);
    token->value = ls__chat_int(value);
    go_to(lex, at);
}

/* \xHH, \uHHHH, \UHHHHHHHH: the digits are at `at`. */
static uint32_t hex_escape(lexer *lex, size_t at, size_t count, size_t end)
{
    uint32_t code = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = at + i < end ? digit_value(lex->text[at + i]) : 99;
        if (digit > 15)
            FAIL(lex, at - 2, "\\%c needs %zu hexadecimal digits", lex->text[at - 1], count);
        code = code << 4 | digit;
    }
    if (code > 0x10ffff)
        FAIL(lex, at - 2, "there is no character of that number");
    if (code >= 0xd800 && code < 0xe000)
        ls__chat_fail_at(lex->fault, at - 2, LS_E_UNSUPPORTED,
                         "surrogates in texts are not supported");
    return code;
}

/* The escape whose backslash is at `at`; appends what it means and answers where it ends. */
static size_t lex_escape(lexer *lex, size_t at, size_t end, char *out, size_t *count)
{
    static const char LETTERS[] = "\\'\"abfnrtv", MEANT[] = "\\'\"\a\b\f\n\r\t\v";
    char c = lex->text[at + 1];
    const char *found = c ? strchr(LETTERS, c) : NULL;
    uint32_t code = 0;
    at += 2;
    if (c == '\n')
        return at;
    if (found) {
        out[(*count)++] = MEANT[found - LETTERS];
        return at;
    }
    if (c == 'x' || c == 'u' || c == 'U') {
        size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        code = hex_escape(lex, at, length, end);
        at += length;
    } else if (c >= '0' && c <= '7') {
        size_t stop = at + 2 < end ? at + 2 : end;
        for (at--; at < stop && lex->text[at] >= '0' && lex->text[at] <= '7'; at++)
            code = code * 8 + (uint32_t)(lex->text[at] - '0');
    } else if (c == 'N') {
        ls__chat_fail_at(lex->fault, at - 2, LS_E_UNSUPPORTED,
                         "characters by name (\\N) are not supported");
    } else if ((unsigned char)c >= 0x80) {
        ls__chat_fail_at(lex->fault, at - 2, LS_E_UNSUPPORTED,
                         "a backslash before a character that is not ASCII is not supported");
    } else { /* means itself, with its backslash */
        out[(*count)++] = '\\';
        out[(*count)++] = c;
        return at;
    }
    *count += ls__chat_utf8_encode(code, out + *count);
    return at;
}

static void lex_string(lexer *lex)
{
    size_t start = lex->at, end = start + 1;
    char quote = lex->text[start];
    while (end < lex->end && lex->text[end] != quote)
        end += lex->text[end] == '\\' && end + 1 < lex->end ? 2 : 1;
    if (end >= lex->end)
        FAIL(lex, start, "the text is not closed by %c", quote);
    char *out = ls__arena_alloc(lex->arena, end - start, 1);
    size_t count = 0;
    for (size_t at = start + 1; at < end;) {
        if (lex->text[at] == '\\')
            at = lex_escape(lex, at, end, out, &count);
        else
            out[count++] = lex->text[at++];
    }
    chat_token *token = add(lex, CHAT_TOKEN_STRING, start, end + 1);
    token->value = ls__chat_arena_text(lex->arena, out, count);
    go_to(lex, end + 1);
}

static void lex_operator(lexer *lex)
{
    static const char *const LONG[] = {"**", "//", "==", "!=", ">=", "<="};
    size_t length = 0;
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++)
        if (at_text(lex, lex->at, LONG[i]))
            length = 2;
    char c = peek(lex, 0);
    if (length == 0 && c != 0 && strchr("+-/*%~[](){}<>=.:|,;", c))
        length = 1;
    if (length == 0) {
        size_t bytes = ls__chat_utf8_length(c);
        if ((unsigned char)c >= 0x80)
            ls__chat_fail_at(lex->fault, lex->at, LS_E_UNSUPPORTED,
                             "'%.*s' outside of texts is not supported", (int)bytes,
                             lex->text + lex->at);
        FAIL(lex, lex->at, "unexpected character '%c'", c);
    }
    if (length == 1 && strchr("([{", c)) {
        ls__vec_push(lex->arena, &lex->open, c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (length == 1 && strchr(")]}", c)) {
        if (lex->open.count == 0)
            FAIL(lex, lex->at, "unexpected '%c'", c);
        char wanted = lex->open.items[--lex->open.count];
        if (wanted != c)
            FAIL(lex, lex->at, "unexpected '%c', expected '%c'", c, wanted);
    }
    add(lex, CHAT_TOKEN_OPERATOR, lex->at, lex->at + length);
    go_to(lex, lex->at + length);
}

/* The inside of {% %} or {{ }}, up to its end. */
static void lex_tag(lexer *lex, size_t tag, bool is_output)
{
    const char *end = is_output ? "}}" : "%}";
    for (;;) {
        size_t start = skip_space(lex, lex->at);
        go_to(lex, start);
        if (start >= lex->end)
            FAIL(lex, tag, "%s is not closed by %s", is_output ? "{{" : "{%", end);
        if (lex->open.count == 0 && is_tag_end(lex, start, end))
            break;
        char c = peek(lex, 0);
        size_t length = is_digit(c) ? float_length(lex, start) : 0;
        if (length > 0) {
            lex_float(lex, length);
        } else if (is_digit(c)) {
            lex_integer(lex);
        } else if (is_name_start(c)) {
            size_t stop = start + 1;
            while (stop < lex->end && (is_name_start(lex->text[stop]) || is_digit(lex->text[stop])))
                stop++;
            add(lex, CHAT_TOKEN_NAME, start, stop);
            go_to(lex, stop);
        } else if (c == '"' || c == '\'') {
            lex_string(lex);
        } else {
            lex_operator(lex);
        }
    }
    size_t at = lex->at;
    add(lex, is_output ? CHAT_TOKEN_OUTPUT_END : CHAT_TOKEN_BLOCK_END, at,
        at + (lex->text[at] == *end ? 2 : 3));
    if (!is_output)
        go_to(lex, behind_end(lex, at));
    else
        go_to(lex, lex->text[at] == '-' ? skip_space(lex, at + 3) : at + 2);
}

void ls__chat_lex(chat_fault *fault, ls__arena *arena, chat_tokens *tokens)
{
    lexer lex = {.fault = fault,
                 .arena = arena,
                 .tokens = tokens,
                 .text = fault->source,
                 .end = fault->source_bytes,
                 .line_begins = true};
    while (lex.at < lex.end) {
        size_t tag = find_tag(&lex, lex.at);
        if (tag == lex.end) {
            chat_token *token = add(&lex, CHAT_TOKEN_TEXT, lex.at, lex.end);
            token->value = ls__chat_arena_text(arena, lex.text + lex.at, lex.end - lex.at);
            break;
        }
        char kind = lex.text[tag + 1], sign = sign_of(&lex, tag);
        add_text(&lex, lex.at, tag, sign, kind == '{');
        size_t raw = raw_begin(&lex, tag, "raw");
        size_t start = tag + 2 + (sign ? 1 : 0);
        if (raw && (at_text(&lex, raw, "%}") || at_text(&lex, raw, "-%}"))) {
            lex_raw(&lex, tag, at_text(&lex, raw, "-") ? skip_space(&lex, raw + 3) : raw + 2);
        } else if (kind == '#') {
            lex_comment(&lex, tag, start);
        } else {
            go_to(&lex, start);
            add(&lex, kind == '{' ? CHAT_TOKEN_OUTPUT : CHAT_TOKEN_BLOCK, tag, start);
            lex_tag(&lex, tag, kind == '{');
        }
    }
    add(&lex, CHAT_TOKEN_END, lex.end, lex.end);
}
