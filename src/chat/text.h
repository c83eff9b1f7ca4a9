/* SPDX-License-Identifier: Apache-2.0 */
/* What both filters and methods do with texts. */
#ifndef LS_CHAT_TEXT_H
#define LS_CHAT_TEXT_H

#include "chat/render.h"
#include "chat/unicode.h"

/* str.upper() and str.lower(), the final sigma too. */
chat_value ls__chat_change_case(chat_render *render, const chat_string *string, chat_case to);
/* The first character by str.title(), the rest by str.lower(). */
chat_value ls__chat_capitalize(chat_render *render, const chat_string *string);
/* Each word that way. */
chat_value ls__chat_title(chat_render *render, const chat_string *string);
/* str.islower() and str.isupper(): `wanted` is CHAT_IS_LOWER or CHAT_IS_UPPER. */
bool ls__chat_is_case(const chat_string *string, chat_property wanted);
/* Cuts white space, or the characters of `set` if it is not NULL, off the ends. */
chat_value ls__chat_strip(chat_render *render, const chat_string *string, const chat_string *set,
                          bool at_start, bool at_end);
/* At most `limit` times; less than 0: always. */
chat_value ls__chat_replace(chat_render *render, const chat_string *string, const chat_string *old,
                            const chat_string *by, int64_t limit);
/* Lines, at every end that str.splitlines() knows. */
chat_value ls__chat_split_lines(chat_render *render, const chat_string *string, bool keep_ends);
chat_value ls__chat_join(chat_render *render, const chat_string *separator, chat_value items,
                         bool texts_only);
/* a + b: `b` is written behind `a` itself where there is room. */
chat_value ls__chat_extend(chat_render *render, const chat_string *a, const chat_string *b);

/* & < > " ' as HTML entities, but for what is markup already. */
void ls__chat_escape(chat_render *render, chat_buffer *buffer, const chat_string *string);
chat_value ls__chat_markup(chat_render *render, chat_value text);

/* The number that Python's int() and float() read; false when it is none. */
bool ls__chat_read_int(chat_render *render, const chat_string *string, int64_t base,
                       int64_t *integer);
bool ls__chat_read_float(chat_render *render, const chat_string *string, double *real);

#endif
