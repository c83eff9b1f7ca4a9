/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging the parts of a word, two neighbours at a time, the best pair first and of equal pairs the
 * leftmost. Which pairs there are and which is best is the only difference between the two models:
 * BPE has a list of pairs in order, SentencePiece joins whatever has a token, the higher its score
 * the earlier. A heap holds the pairs, so a word of n bytes takes n log n steps.
 */
#ifndef LS_TOKENIZER_MERGE_H
#define LS_TOKENIZER_MERGE_H

#include "tokenizer/vocabulary.h"

/* A part, at the place of its first byte; the next part is `length` bytes further. */
typedef struct ls__part {
    uint32_t id;     /* LS_NO_TOKEN: a character or byte without a token */
    uint32_t length; /* 0 = no part begins here */
    uint32_t previous;
} ls__part;

/* What a part and the one behind it could become. */
typedef struct ls__candidate {
    uint64_t order; /* the best is the least; the lower half is the place of the left part */
    uint32_t id, length;
} ls__candidate;

/* Memory for words of up to `room` bytes. Zeroed is empty. */
typedef struct ls__merger {
    const ls_tokenizer *t;
    const uint8_t *bytes; /* the word */
    uint32_t length;
    uint32_t heap_count;
    size_t room;
    ls__part *parts;     /* [room] */
    ls__candidate *heap; /* [2 * room] */
} ls__merger;

/* Cuts the word into its first parts, bytes or characters, and merges them. Afterwards the parts
 * are merger->parts[0], the next at 0 + its length, and so on. The word has 1 byte at least. */
ls_status ls__merge(ls__merger *merger, const uint8_t *bytes, size_t length, ls_error *error);
void ls__merge_finish(ls__merger *merger);

#endif
