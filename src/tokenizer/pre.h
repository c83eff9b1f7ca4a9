/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pre-tokenisers: how a text is cut into words before the words are cut into tokens. Each is a
 * list of patterns, applied one after the other: what a pattern matches is cut out of the pieces
 * that the one before it left. Patterns are matched by PCRE2, compiled when it can be.
 */
#ifndef LS_TOKENIZER_PRE_H
#define LS_TOKENIZER_PRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/base.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_general_context_8;

enum { LS__PRE_PATTERNS_MAX = 6 };

typedef struct ls__pre {
    struct pcre2_real_general_context_8 *general;
    struct pcre2_real_match_context_8 *context;
    struct pcre2_real_code_8 *patterns[LS__PRE_PATTERNS_MAX];
    uint32_t pattern_count;
} ls__pre;

/* A pre-tokeniser by the name that files have for it. */
typedef struct ls__pre_family ls__pre_family;
const ls__pre_family *ls__pre_find(const char *name, size_t length); /* NULL: not known */
const char *ls__pre_name(const ls__pre_family *family);
/* A word that is a token is not merged together. */
bool ls__pre_whole_words(const ls__pre_family *family);
/* Whether a BOS is added when the file does not say. */
bool ls__pre_adds_bos(const ls__pre_family *family);
/* All names that are known: "gpt-2, llama-bpe, ...". */
const char *ls__pre_names(void);

/* Compiles the patterns. On failure, too, finish is to be called. */
ls_status ls__pre_init(ls__pre *pre, const ls__pre_family *family, ls_error *error);
void ls__pre_finish(ls__pre *pre); /* accepts a zeroed one */

/* What a thread needs to match; NULL when memory is out. */
struct pcre2_real_match_data_8 *ls__pre_begin(const ls__pre *pre);
void ls__pre_end(struct pcre2_real_match_data_8 *match); /* accepts NULL */

/* Gives the words of a text, which must be well-formed UTF-8, to `word` in their order; together
 * they are the text. Ends early with what `word` answers when that is not LS_OK. */
ls_status ls__pre_split(const ls__pre *pre, struct pcre2_real_match_data_8 *match,
                        const uint8_t *text, size_t length,
                        ls_status (*word)(void *context, const uint8_t *bytes, size_t length),
                        void *context, ls_error *error);

#endif
