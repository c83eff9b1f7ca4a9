/* SPDX-License-Identifier: Apache-2.0 */
/* Text views and the growable buffer, which keeps one byte beyond `length` for the terminator. */
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

ls__str ls__str_from(const char *zero_terminated)
{
    return (ls__str){zero_terminated, strlen(zero_terminated)};
}

bool ls__str_equal(ls__str a, ls__str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

bool ls__str_is(ls__str a, const char *zero_terminated)
{
    return ls__str_equal(a, ls__str_from(zero_terminated));
}

bool ls__str_ends_in(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && memcmp(text + length - tail, suffix, tail) == 0;
}

/* Makes room for `length` more bytes and the terminator. */
static bool reserve(ls__strbuf *buffer, size_t length)
{
    if (buffer->failed)
        return false;
    if (buffer->text && length < buffer->capacity - buffer->length)
        return true;
    size_t needed;
    if (__builtin_add_overflow(buffer->length, length, &needed) || needed > SIZE_MAX / 2) {
        buffer->failed = true;
        return false;
    }
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity <= needed)
        capacity *= 2;
    char *text = ls__mem_realloc(buffer->text, capacity, 1);
    if (!text) {
        buffer->failed = true;
        return false;
    }
    buffer->text = text;
    buffer->capacity = capacity;
    return true;
}

void ls__strbuf_append(ls__strbuf *buffer, const char *text, size_t length)
{
    if (length == 0 || !reserve(buffer, length))
        return;
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = 0;
}

void ls__strbuf_printf(ls__strbuf *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        buffer->failed = true;
    if (length <= 0 || !reserve(buffer, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->length += (size_t)length;
}

size_t ls__str_visible(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f;
    size_t bytes = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || bytes > length) /* 0xc0 and 0xc1 would spell ASCII */
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* U+0080 to U+009F are the C1 controls; longer spellings than needed hide such characters. */
    bool is_control = s[0] == 0xc2 && s[1] < 0xa0;
    bool is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    return is_control || is_overlong ? 0 : bytes;
}

void ls__strbuf_visible(ls__strbuf *buffer, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes = ls__str_visible(text + i, length - i);
        if (bytes)
            ls__strbuf_append(buffer, text + i, bytes);
        else
            ls__strbuf_printf(buffer, "\\x%02x", (unsigned char)text[i]);
        i += bytes ? bytes : 1;
    }
}

void ls__strbuf_finish(ls__strbuf *buffer)
{
    ls__mem_free(buffer->text);
    *buffer = (ls__strbuf){0};
}
