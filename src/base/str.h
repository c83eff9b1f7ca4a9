/* SPDX-License-Identifier: Apache-2.0 */
/* Text: a view (pointer and length, not terminated) and a growable heap buffer. */
#ifndef LS_BASE_STR_H
#define LS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ls__str {
    const char *text;
    size_t length;
} ls__str;

ls__str ls__str_from(const char *zero_terminated);
bool ls__str_equal(ls__str a, ls__str b);
bool ls__str_is(ls__str a, const char *zero_terminated);
bool ls__str_ends_in(const char *text, const char *suffix); /* with something in front of it */
#define LS__STR_ARG(s) (int)(s).length, (s).text /* for "%.*s" */

/* Heap text. After a failed append `failed` is set, the text so far stays, later appends do
 * nothing. */
typedef struct ls__strbuf {
    char *text; /* zero-terminated, NULL while empty */
    size_t length, capacity;
    bool failed;
} ls__strbuf;

void ls__strbuf_append(ls__strbuf *buffer, const char *text, size_t length);
void ls__strbuf_printf(ls__strbuf *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends with what could steer a terminal (C0 and C1 control characters, DEL, bytes that are not
 * UTF-8) as \xNN. For text from files and command lines that is shown to people. */
void ls__strbuf_visible(ls__strbuf *buffer, const char *text, size_t length);
/* Bytes of the character at `text`, at least 1; 0 when ls__strbuf_visible shows a byte as \xNN. */
size_t ls__str_visible(const char *text, size_t length);
void ls__strbuf_finish(ls__strbuf *buffer);

#endif
