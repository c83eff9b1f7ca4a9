/* SPDX-License-Identifier: Apache-2.0 */
/* Characters and UTF-8, as Python's str sees them: tables of Unicode 14.0, no locale. */
#ifndef LS_CHAT_UNICODE_H
#define LS_CHAT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first byte that is not UTF-8 (surrogates are not); `bytes` when all is well. */
size_t ls__chat_utf8_check(const char *text, size_t bytes);
size_t ls__chat_utf8_count(const char *text, size_t bytes);
/* Bytes of the character that starts with `first`, and of one that is encoded; the character. The
 * text is UTF-8. */
size_t ls__chat_utf8_length(char first);
uint32_t ls__chat_utf8_decode(const char *text, size_t *length);
size_t ls__chat_utf8_encode(uint32_t code, char out[4]);
/* Where character number `index` begins. */
size_t ls__chat_utf8_offset(const char *text, size_t bytes, size_t index);

typedef enum chat_property {
    CHAT_IS_SPACE,
    CHAT_IS_PRINTABLE,
    CHAT_IS_UPPER,
    CHAT_IS_LOWER,
    CHAT_IS_TITLE,
    CHAT_IS_IGNORABLE,
    CHAT_IS_ALPHA,
    CHAT_IS_DIGIT,
    CHAT_IS_NUMERIC,
} chat_property;
bool ls__chat_has(uint32_t code, chat_property property);
bool ls__chat_is_cased(uint32_t code);

typedef enum chat_case { CHAT_TO_UPPER, CHAT_TO_LOWER, CHAT_TO_TITLE } chat_case;
/* Up to 3 characters; answers how many. The final sigma is the caller's. */
unsigned ls__chat_convert(uint32_t code, chat_case to, uint32_t out[3]);

/* Bytes of white space at the start and at the end. */
size_t ls__chat_space_before(const char *text, size_t bytes);
size_t ls__chat_space_behind(const char *text, size_t bytes);

#endif
