/* SPDX-License-Identifier: Apache-2.0 */
/* Well-formed UTF-8, by table 3-7 of the Unicode standard: no surrogates, nothing overlong. */
#ifndef LS_TOKENIZER_UTF8_H
#define LS_TOKENIZER_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `at`, of which `left` can be read; 0 when there is none. */
size_t ls__utf8_length(const uint8_t *at, size_t left);

/* Bytes of whole characters from `at` on. */
size_t ls__utf8_run(const uint8_t *at, size_t left);

#endif
