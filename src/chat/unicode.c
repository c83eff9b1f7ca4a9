/* SPDX-License-Identifier: Apache-2.0 */
/* Looks things up in the tables of unicode_tables.h, which are ranges in order. */
#include "chat/unicode.h"

typedef struct chat_run {
    uint32_t first, last;
    uint8_t step; /* every character, or every second */
} chat_run;
typedef struct chat_case_run {
    uint32_t first, last;
    uint8_t step;
    int32_t delta;
} chat_case_run;
typedef struct chat_case_special {
    uint32_t code;
    uint32_t to[3]; /* 0 = none */
} chat_case_special;

#include "chat/unicode_tables.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* --- UTF-8 ------------------------------------------------------------------------------------ */

size_t ls__chat_utf8_length(char first)
{
    unsigned char byte = (unsigned char)first;
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

size_t ls__chat_utf8_check(const char *text, size_t bytes)
{
    static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    for (size_t i = 0; i < bytes;) {
        unsigned char first = (unsigned char)text[i];
        if (first < 0x80) {
            i++;
            continue;
        }
        size_t length = ls__chat_utf8_length(text[i]);
        if (first < 0xc2 || first > 0xf4 || length > bytes - i)
            return i;
        for (size_t k = 1; k < length; k++)
            if (((unsigned char)text[i + k] & 0xc0) != 0x80)
                return i;
        uint32_t code = ls__chat_utf8_decode(text + i, &length);
        if (code < SMALLEST[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return i;
        i += length;
    }
    return bytes;
}

size_t ls__chat_utf8_count(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

uint32_t ls__chat_utf8_decode(const char *text, size_t *length)
{
    const unsigned char *s = (const unsigned char *)text;
    *length = ls__chat_utf8_length(text[0]);
    switch (*length) {
    case 1:
        return s[0];
    case 2:
        return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3fu);
    case 3:
        return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3fu);
    default:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 |
               (uint32_t)(s[2] & 0x3f) << 6 | (s[3] & 0x3fu);
    }
}

size_t ls__chat_utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(FIRST[length] | code);
    return length;
}

size_t ls__chat_utf8_offset(const char *text, size_t bytes, size_t index)
{
    size_t offset = 0;
    while (index-- > 0 && offset < bytes)
        offset += ls__chat_utf8_length(text[offset]);
    return offset;
}

/* --- properties ------------------------------------------------------------------------------- */

static bool in_runs(const chat_run *runs, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > runs[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= runs[low].first && (code - runs[low].first) % runs[low].step == 0;
}

bool ls__chat_has(uint32_t code, chat_property property)
{
#define TABLE(name)                                                                                \
    {                                                                                              \
        name, COUNT(name)                                                                          \
    }
    static const struct {
        const chat_run *runs;
        size_t count;
    } TABLES[] = {
        [CHAT_IS_SPACE] = TABLE(SPACE),      [CHAT_IS_PRINTABLE] = TABLE(PRINTABLE),
        [CHAT_IS_UPPER] = TABLE(UPPERCASE),  [CHAT_IS_LOWER] = TABLE(LOWERCASE),
        [CHAT_IS_TITLE] = TABLE(TITLECASE),  [CHAT_IS_IGNORABLE] = TABLE(IGNORABLE),
        [CHAT_IS_ALPHA] = TABLE(ALPHABETIC), [CHAT_IS_DIGIT] = TABLE(DIGIT),
        [CHAT_IS_NUMERIC] = TABLE(NUMERIC),
    };
#undef TABLE
    if (property == CHAT_IS_SPACE && code > 0x20 && code < 0x7f) /* most of all text */
        return false;
    return in_runs(TABLES[property].runs, TABLES[property].count, code);
}

bool ls__chat_is_cased(uint32_t code)
{
    return ls__chat_has(code, CHAT_IS_LOWER) || ls__chat_has(code, CHAT_IS_UPPER) ||
           ls__chat_has(code, CHAT_IS_TITLE);
}

size_t ls__chat_space_before(const char *text, size_t bytes)
{
    size_t i = 0, length;
    while (i < bytes && ls__chat_has(ls__chat_utf8_decode(text + i, &length), CHAT_IS_SPACE))
        i += length;
    return i;
}

size_t ls__chat_space_behind(const char *text, size_t bytes)
{
    size_t end = bytes, length;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && ((unsigned char)text[start] & 0xc0) == 0x80)
            start--;
        if (!ls__chat_has(ls__chat_utf8_decode(text + start, &length), CHAT_IS_SPACE))
            break;
        end = start;
    }
    return bytes - end;
}

/* --- case ------------------------------------------------------------------------------------- */

static bool convert_run(const chat_case_run *runs, size_t count, uint32_t code, uint32_t *out)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code > runs[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || code < runs[low].first || (code - runs[low].first) % runs[low].step != 0)
        return false;
    *out = (uint32_t)((int32_t)code + runs[low].delta);
    return true;
}

static unsigned convert_special(const chat_case_special *rows, size_t count, uint32_t code,
                                uint32_t out[3])
{
    unsigned length = 0;
    for (size_t i = 0; i < count && length == 0; i++)
        for (; rows[i].code == code && length < 3 && rows[i].to[length]; length++)
            out[length] = rows[i].to[length];
    return length;
}

unsigned ls__chat_convert(uint32_t code, chat_case to, uint32_t out[3])
{
    unsigned length = 0;
    out[0] = code;
    if (code < 0x80) {
        bool is_lower = code >= 'a' && code <= 'z', is_upper = code >= 'A' && code <= 'Z';
        if (to == CHAT_TO_LOWER ? is_upper : is_lower)
            out[0] = code ^ 0x20;
        return 1;
    }
    switch (to) {
    case CHAT_TO_LOWER:
        length = convert_special(LOWER_SPECIAL, COUNT(LOWER_SPECIAL), code, out);
        if (length == 0)
            convert_run(LOWER, COUNT(LOWER), code, out);
        break;
    case CHAT_TO_UPPER:
        length = convert_special(UPPER_SPECIAL, COUNT(UPPER_SPECIAL), code, out);
        if (length == 0)
            convert_run(UPPER, COUNT(UPPER), code, out);
        break;
    case CHAT_TO_TITLE:
        length = convert_special(TITLE_SPECIAL, COUNT(TITLE_SPECIAL), code, out);
        if (length == 0 && !convert_run(TITLE, COUNT(TITLE), code, out))
            convert_run(UPPER, COUNT(UPPER), code, out);
        break;
    }
    return length ? length : 1;
}
