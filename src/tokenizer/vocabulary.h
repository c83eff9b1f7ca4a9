/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tokenizer inside. load.c makes it of a file's metadata; from then on nothing of it changes.
 *
 * "The bytes" of a token are what it stands for in a text: of "Ġthe" in a byte-level vocabulary
 * they are " the", of "▁the" in a SentencePiece vocabulary too. Tokens that are literal (control,
 * unknown, user-defined) have their name as bytes. Two tokens may have the same bytes.
 */
#ifndef LS_TOKENIZER_VOCABULARY_H
#define LS_TOKENIZER_VOCABULARY_H

#include "base/arena.h"
#include "lockstep/tokenizer.h"
#include "tokenizer/pre.h"

typedef enum ls__token_model { LS__TOKEN_BPE, LS__TOKEN_SENTENCEPIECE } ls__token_model;

/* Where tokens are found by their bytes: open addressing, a power of two of slots. */
typedef struct ls__token_slot {
    uint32_t id; /* LS_NO_TOKEN = free */
    uint32_t hash;
} ls__token_slot;

/* What two neighbours become, by the pair of their ids: open addressing, too. */
typedef struct ls__merge_slot {
    uint32_t left, right; /* LS_NO_TOKEN = free */
    uint32_t rank, id;
} ls__merge_slot;

typedef struct ls__token_merge {
    uint32_t rank, id; /* LS_NO_TOKEN = they do not merge */
} ls__token_merge;

struct ls_tokenizer {
    ls__arena arena;
    ls__token_model model;
    ls_tokenizer_info info;
    uint8_t *bytes;   /* of all tokens, one behind the other */
    uint32_t *places; /* [token_count + 1]: token i is bytes[places[i]] to bytes[places[i + 1]] */
    uint8_t *kinds;   /* [token_count], ls_token_kind */
    bool *ends;       /* [token_count] */
    float *scores;    /* [token_count]; NULL for BPE */
    ls__token_slot *slots;
    uint32_t slot_mask;
    ls__merge_slot *merges; /* BPE */
    uint32_t merge_mask;
    uint32_t byte_ids[256]; /* the token of one byte, or LS_NO_TOKEN */
    bool whole_words;       /* BPE: a word that is a token is that token, whatever the merges say */
    bool cut_at_spaces;     /* SentencePiece: no token has a space behind something else */
    uint32_t longest_part;  /* bytes of the longest token that merging may give */
    /* Tokens that are found in text by their names: of each first byte the longest first.
     * literals[literal_places[b]] to literals[literal_places[b + 1]] begin with b. */
    uint32_t *literals;
    uint32_t literal_places[257];
    bool literal_user[256]; /* a user-defined one begins with this byte */
    ls__pre pre;            /* BPE */
};

static inline uint32_t ls__token_length(const ls_tokenizer *t, uint32_t id)
{
    return t->places[id + 1] - t->places[id];
}

static inline bool ls__token_is_literal(ls_token_kind kind)
{
    return kind == LS_TOKEN_CONTROL || kind == LS_TOKEN_UNKNOWN || kind == LS_TOKEN_USER_DEFINED;
}

/* Tokens that words are made of. */
static inline bool ls__token_is_part(ls_token_kind kind)
{
    return kind == LS_TOKEN_NORMAL || kind == LS_TOKEN_UNUSED;
}

uint32_t ls__token_hash(const uint8_t *bytes, size_t length);

/* The token words are made of that has these bytes, or LS_NO_TOKEN. */
uint32_t ls__token_part(const ls_tokenizer *t, const uint8_t *bytes, size_t length);

ls__token_merge ls__token_merged(const ls_tokenizer *t, uint32_t left, uint32_t right);

/* Adds; false when the pair was there, and then nothing changes. */
bool ls__token_add_merge(ls_tokenizer *t, uint32_t left, uint32_t right, uint32_t rank,
                         uint32_t id);

#endif
