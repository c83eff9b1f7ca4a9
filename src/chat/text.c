/* SPDX-License-Identifier: Apache-2.0 */
/* Texts: case, stripping, replacing, splitting, escaping, and reading numbers. */
#include "chat/text.h"

#include <stdlib.h>
#include <string.h>

/* --- case ------------------------------------------------------------------------------------- */

/* Whether the capital sigma at `offset` ends a word: a cased letter before it, none behind. */
static bool is_final_sigma(const chat_string *string, size_t offset)
{
    size_t at = offset, length;
    uint32_t code = 0;
    bool found = false;
    while (at > 0 && !found) {
        do
            at--;
        while (((unsigned char)string->text[at] & 0xc0) == 0x80);
        code = ls__chat_utf8_decode(string->text + at, &length);
        found = !ls__chat_has(code, CHAT_IS_IGNORABLE);
    }
    if (!found || !ls__chat_is_cased(code))
        return false;
    for (at = offset + ls__chat_utf8_length(string->text[offset]); at < string->bytes;
         at += length) {
        code = ls__chat_utf8_decode(string->text + at, &length);
        if (!ls__chat_has(code, CHAT_IS_IGNORABLE))
            return !ls__chat_is_cased(code);
    }
    return true;
}

static void append_case(chat_render *render, chat_buffer *buffer, const chat_string *string,
                        size_t offset, chat_case to)
{
    enum { SIGMA = 0x3a3, SMALL_SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2 };
    size_t length;
    uint32_t code = ls__chat_utf8_decode(string->text + offset, &length), out[3];
    unsigned count = ls__chat_convert(code, to, out);
    if (code == SIGMA && to == CHAT_TO_LOWER)
        out[0] = is_final_sigma(string, offset) ? FINAL_SIGMA : SMALL_SIGMA;
    for (unsigned i = 0; i < count; i++) {
        char bytes[4];
        ls__chat_append(render, buffer, bytes, ls__chat_utf8_encode(out[i], bytes));
    }
}

chat_value ls__chat_change_case(chat_render *render, const chat_string *string, chat_case to)
{
    chat_buffer buffer = {0};
    ls__chat_spend(render, string->bytes / 16);
    for (size_t i = 0; i < string->bytes; i += ls__chat_utf8_length(string->text[i]))
        append_case(render, &buffer, string, i, to);
    return ls__chat_buffer_value(render, &buffer);
}

chat_value ls__chat_capitalize(chat_render *render, const chat_string *string)
{
    chat_buffer buffer = {0};
    ls__chat_spend(render, string->bytes / 16);
    for (size_t i = 0; i < string->bytes; i += ls__chat_utf8_length(string->text[i]))
        append_case(render, &buffer, string, i, i == 0 ? CHAT_TO_TITLE : CHAT_TO_LOWER);
    return ls__chat_buffer_value(render, &buffer);
}

chat_value ls__chat_title(chat_render *render, const chat_string *string)
{
    chat_buffer buffer = {0};
    bool is_inside = false;
    ls__chat_spend(render, string->bytes / 16);
    for (size_t i = 0, length; i < string->bytes; i += length) {
        append_case(render, &buffer, string, i, is_inside ? CHAT_TO_LOWER : CHAT_TO_TITLE);
        is_inside = ls__chat_is_cased(ls__chat_utf8_decode(string->text + i, &length));
    }
    return ls__chat_buffer_value(render, &buffer);
}

bool ls__chat_is_case(const chat_string *string, chat_property wanted)
{
    bool found = false;
    for (size_t i = 0, length; i < string->bytes; i += length) {
        uint32_t code = ls__chat_utf8_decode(string->text + i, &length);
        if (ls__chat_has(code, wanted))
            found = true;
        else if (ls__chat_is_cased(code))
            return false;
    }
    return found;
}

/* --- stripping and replacing ------------------------------------------------------------------ */

static bool is_in_set(const char *at, size_t length, const chat_string *set)
{
    return memmem(set->text, set->bytes, at, length) != NULL; /* characters overlap nowhere */
}

chat_value ls__chat_strip(chat_render *render, const chat_string *string, const chat_string *set,
                          bool at_start, bool at_end)
{
    size_t start = 0, end = string->bytes;
    if (!set) {
        if (at_start)
            start = ls__chat_space_before(string->text, end);
        if (at_end)
            end -= ls__chat_space_behind(string->text + start, end - start);
        return ls__chat_text_of(render, string->text + start, end - start);
    }
    while (at_start && start < end) {
        size_t length = ls__chat_utf8_length(string->text[start]);
        ls__chat_spend_bytes(render, set->bytes);
        if (!is_in_set(string->text + start, length, set))
            break;
        start += length;
    }
    while (at_end && end > start) {
        size_t last = end - 1;
        while (((unsigned char)string->text[last] & 0xc0) == 0x80)
            last--;
        ls__chat_spend_bytes(render, set->bytes);
        if (!is_in_set(string->text + last, end - last, set))
            break;
        end = last;
    }
    return ls__chat_text_of(render, string->text + start, end - start);
}

/* `by` before every character, and at the end. */
static chat_value interleave(chat_render *render, const chat_string *string, const chat_string *by,
                             int64_t limit)
{
    chat_buffer buffer = {0};
    for (size_t i = 0;;) {
        if (limit != 0) {
            ls__chat_spend(render, 1);
            ls__chat_append(render, &buffer, by->text, by->bytes);
            limit--;
        }
        if (i >= string->bytes)
            break;
        size_t length = limit != 0 ? ls__chat_utf8_length(string->text[i]) : string->bytes - i;
        ls__chat_append(render, &buffer, string->text + i, length);
        i += length;
        if (limit == 0)
            break;
    }
    return ls__chat_buffer_value(render, &buffer);
}

chat_value ls__chat_replace(chat_render *render, const chat_string *string, const chat_string *old,
                            const chat_string *by, int64_t limit)
{
    if (limit == 0)
        return ls__chat_text_of(render, string->text, string->bytes);
    if (old->bytes == 0)
        return interleave(render, string, by, limit);
    chat_buffer buffer = {0};
    size_t i = 0;
    ls__chat_spend_bytes(render, string->bytes);
    for (; limit != 0; limit--) {
        const char *found = memmem(string->text + i, string->bytes - i, old->text, old->bytes);
        if (!found)
            break;
        size_t at = (size_t)(found - string->text);
        ls__chat_spend(render, 1);
        ls__chat_append(render, &buffer, string->text + i, at - i);
        ls__chat_append(render, &buffer, by->text, by->bytes);
        i = at + old->bytes;
    }
    ls__chat_append(render, &buffer, string->text + i, string->bytes - i);
    return ls__chat_buffer_value(render, &buffer);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Bytes of the line end at `at`, 0 when there is none. */
static size_t line_end(const chat_string *string, size_t at)
{
    size_t length;
    uint32_t code = ls__chat_utf8_decode(string->text + at, &length);
    if (code == '\r')
        return at + 1 < string->bytes && string->text[at + 1] == '\n' ? 2 : 1;
    bool ends = (code >= 0x0a && code <= 0x0c) || (code >= 0x1c && code <= 0x1e) || code == 0x85 ||
                code == 0x2028 || code == 0x2029;
    return ends ? length : 0;
}

chat_value ls__chat_split_lines(chat_render *render, const chat_string *string, bool keep_ends)
{
    chat_value lines = ls__chat_list(render, CHAT_LIST, 0);
    size_t start = 0;
    ls__chat_spend(render, string->bytes / 16);
    for (size_t i = 0; i < string->bytes;) {
        size_t end = line_end(string, i);
        if (end == 0) {
            i += ls__chat_utf8_length(string->text[i]);
            continue;
        }
        ls__chat_push(
            render, lines.list,
            ls__chat_text_of(render, string->text + start, i - start + (keep_ends ? end : 0)));
        ls__chat_spend(render, 1);
        start = i += end;
    }
    if (start < string->bytes)
        ls__chat_push(render, lines.list,
                      ls__chat_text_of(render, string->text + start, string->bytes - start));
    return lines;
}

/* --- joining ---------------------------------------------------------------------------------- */

chat_value ls__chat_join(chat_render *render, const chat_string *separator, chat_value items,
                         bool texts_only)
{
    chat_buffer buffer = {0};
    chat_iterator iterator = ls__chat_iterate(render, items);
    chat_value item;
    for (size_t i = 0; ls__chat_next(render, &iterator, &item); i++) {
        if (i > 0)
            ls__chat_append(render, &buffer, separator->text, separator->bytes);
        if (texts_only && item.kind != CHAT_STRING)
            ls__chat_fail(render, LS_E_FORMAT, "sequence item %zu: expected str instance, %s found",
                          i, ls__chat_type(item));
        ls__chat_print(render, &buffer, item);
    }
    return ls__chat_buffer_value(render, &buffer);
}

/* Templates that build a text piece by piece (`x = x + y`) would otherwise copy all of it each
 * time. The room behind a text belongs to whoever is the first to write there, which the room
 * itself remembers. */
chat_value ls__chat_extend(chat_render *render, const chat_string *a, const chat_string *b)
{
    chat_buffer *room = &render->room;
    chat_string *joined = LS__NEW(&render->arena, chat_string);
    const char *start = a->text;
    bool is_last =
        room->text && start >= room->text && start + a->bytes == room->text + room->length;
    if (!is_last || b->bytes > room->capacity - room->length) {
        size_t bytes = a->bytes + b->bytes, capacity = bytes < 256 ? bytes : bytes * 2;
        char *text = ls__arena_alloc(&render->arena, capacity, 1);
        if (a->bytes)
            memcpy(text, a->text, a->bytes);
        ls__chat_spend_bytes(render, a->bytes);
        *room = (chat_buffer){text, a->bytes, capacity};
        start = text;
    }
    ls__chat_spend_bytes(render, b->bytes);
    if (b->bytes)
        memcpy(room->text + room->length, b->text, b->bytes);
    room->length += b->bytes;
    *joined = (chat_string){start, a->bytes + b->bytes, a->characters + b->characters, false};
    return (chat_value){.kind = CHAT_STRING, .string = joined};
}

/* --- markup ----------------------------------------------------------------------------------- */

void ls__chat_escape(chat_render *render, chat_buffer *buffer, const chat_string *string)
{
    static const char *const ENTITIES[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&#34;", ['\''] = "&#39;"};
    size_t start = 0;
    for (size_t i = 0; i < string->bytes && !string->is_markup; i++) {
        unsigned char c = (unsigned char)string->text[i];
        const char *entity = c < sizeof ENTITIES / sizeof *ENTITIES ? ENTITIES[c] : NULL;
        if (!entity)
            continue;
        ls__chat_append(render, buffer, string->text + start, i - start);
        ls__chat_append_text(render, buffer, entity);
        start = i + 1;
    }
    ls__chat_append(render, buffer, string->text + start, string->bytes - start);
}

chat_value ls__chat_markup(chat_render *render, chat_value text)
{
    chat_string *copy = LS__NEW(&render->arena, chat_string);
    *copy = *text.string;
    copy->is_markup = true;
    return (chat_value){.kind = CHAT_STRING, .string = copy};
}

/* --- numbers ---------------------------------------------------------------------------------- */

static unsigned digit_value(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a' + 10)
           : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A' + 10)
                                  : 99;
}

/* The text without white space around it. */
static ls__str trimmed(const chat_string *string)
{
    size_t start = ls__chat_space_before(string->text, string->bytes);
    size_t rest = string->bytes - start;
    return (ls__str){string->text + start,
                     rest - ls__chat_space_behind(string->text + start, rest)};
}

bool ls__chat_read_int(chat_render *render, const chat_string *string, int64_t base,
                       int64_t *integer)
{
    ls__str text = trimmed(string);
    bool is_negative = text.length && text.text[0] == '-', is_wide = false;
    size_t i = text.length && (is_negative || text.text[0] == '+');
    if ((base != 0 && base < 2) || base > 36)
        ls__chat_fail(render, LS_E_FORMAT, "int() base must be >= 2 and <= 36, or 0");
    if (i + 1 < text.length && text.text[i] == '0') {
        char mark = (char)(text.text[i + 1] | 0x20);
        int64_t wanted = mark == 'b' ? 2 : mark == 'o' ? 8 : mark == 'x' ? 16 : -1;
        if (wanted > 0 && (base == 0 || base == wanted)) {
            base = wanted;
            i += 2;
            i += i < text.length && text.text[i] == '_';
        }
    }
    bool any_base = base == 0;
    size_t first = i;
    base = any_base ? 10 : base;
    int64_t value = 0;
    for (; i < text.length; i++) {
        if (text.text[i] == '_' && i > first && text.text[i - 1] != '_' && i + 1 < text.length)
            continue;
        int64_t digit = digit_value(text.text[i]);
        if (digit >= base)
            return false;
        is_wide |= __builtin_mul_overflow(value, base, &value) ||
                   __builtin_add_overflow(value, is_negative ? -digit : digit, &value);
    }
    if (first == text.length || (any_base && value != 0 && text.text[first] == '0'))
        return false;
    if (is_wide)
        ls__chat_fail(render, LS_E_LIMIT, "an integer needs more than 64 bits");
    *integer = value;
    return true;
}

bool ls__chat_read_float(chat_render *render, const chat_string *string, double *real)
{
    static const char *const WORDS[] = {"inf", "infinity", "nan"};
    ls__str text = trimmed(string);
    char *copy = ls__arena_alloc(&render->arena, text.length + 1, 1), *end;
    size_t count = 0, sign;
    for (size_t i = 0; i < text.length; i++) {
        bool is_gap = text.text[i] == '_' && i > 0 && digit_value(text.text[i - 1]) < 10 &&
                      i + 1 < text.length && digit_value(text.text[i + 1]) < 10;
        if (!is_gap)
            copy[count++] = (char)(text.text[i] >= 'A' && text.text[i] <= 'Z' ? text.text[i] | 0x20
                                                                              : text.text[i]);
    }
    sign = copy[0] == '-' || copy[0] == '+';
    bool is_word = false;
    for (size_t i = 0; i < 3; i++)
        is_word |= strcmp(copy + sign, WORDS[i]) == 0;
    if (!is_word && strspn(copy + sign, "0123456789.e+-") != count - sign)
        return false;
    *real = strtod(copy, &end);
    return count > sign && end == copy + count && copy[sign] != '-' && copy[sign] != '+';
}
