/* SPDX-License-Identifier: Apache-2.0 */
/* Model files with small vocabularies, put together in memory: for unit tests and a fuzz target. */
#ifndef LS_TESTS_SMALL_MODELS_H
#define LS_TESTS_SMALL_MODELS_H

#include "lockstep/tokenizer.h"

enum { TOKENS_MAX = 320, MERGES_MAX = 16 };

typedef struct file {
    _Alignas(64) uint8_t bytes[32768];
    size_t size;
    uint64_t values;
} file;

/* What the file says; NULL and 0 leave a key out. */
typedef struct vocabulary {
    const char *model, *pre;
    const char *tokens[TOKENS_MAX];
    int32_t kinds[TOKENS_MAX];
    float scores[TOKENS_MAX];
    uint32_t token_count, kind_count, score_count;
    const char *merges[MERGES_MAX];
    uint32_t merge_count;
    const char *numbers[8]; /* keys of u32 */
    uint32_t number[8];
    const char *bools[4];
    bool truth[4];
} vocabulary;

/* Byte-level: the 256 bytes, so that the id of a byte is its value; then seven more tokens. */
enum { AB = 256, ABC, SPACE_A, END, BOS, USER, LONGER };
vocabulary *byte_level(void); /* a fresh one; one at a time */

/* SentencePiece: unknown, the 256 bytes, and some pieces. */
enum {
    UNK,
    FIRST_BYTE,
    MARK = 257,
    A,
    B,
    C,
    MARK_A,
    PIECE_AB,
    PIECE_BC,
    MARK_ABC,
    SP_BOS,
    SP_USER
};
vocabulary *sentencepiece(void); /* likewise */

void make_file(file *f, const vocabulary *v);

#endif
