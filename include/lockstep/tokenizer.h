/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/tokenizer.h - text to tokens and back, by the vocabulary of a model file.
 *
 * Two models of tokenizers are read: byte-level BPE ("gpt2" in files) with the pre-tokenisers of
 * the table in docs/tokenizers.md, and SentencePiece's BPE ("llama"). What a file says of others is
 * refused by name. The same text gives the same tokens on every machine: no locale, and Unicode's
 * tables are those of the PCRE2 library (docs/tokenizers.md says what differs between versions).
 *
 * Text is any bytes. What is not UTF-8 is kept, through the tokens of single bytes, and decoding
 * what was encoded gives the same bytes again; docs/tokenizers.md names the exceptions.
 */
#ifndef LOCKSTEP_TOKENIZER_H
#define LOCKSTEP_TOKENIZER_H

#include "lockstep/base.h"
#include "lockstep/gguf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vocabulary and its rules. Thread-safety: immutable. */
typedef struct ls_tokenizer ls_tokenizer;

/* Reads the tokenizer out of the metadata of a model file; the file may be closed afterwards.
 * LS_E_NOT_FOUND (the file has no tokenizer), LS_E_UNSUPPORTED (a model or a pre-tokeniser that is
 * not known, by name), LS_E_FORMAT (which token or merge is wrong, and how). */
LS_API ls_status ls_tokenizer_create(const ls_gguf *gguf, ls_tokenizer **tokenizer,
                                     ls_error *error);
LS_API void ls_tokenizer_destroy(ls_tokenizer **tokenizer);

/* --- the vocabulary --------------------------------------------------------------------------- */
#define LS_NO_TOKEN UINT32_MAX

typedef struct ls_tokenizer_info {
    size_t struct_size;
    const char *model;       /* "gpt2" or "llama" */
    const char *pre;         /* the pre-tokeniser as the file names it; "" for "llama" */
    uint32_t token_count;    /* ids are 0 to token_count - 1 */
    uint32_t merge_count;    /* of "gpt2" */
    uint32_t longest_bytes;  /* of a token */
    bool adds_bos, adds_eos; /* at the beginning and at the end of a text */
    bool adds_space;         /* "llama": in front of a text, and of text behind a special token */
    /* Ids, or LS_NO_TOKEN. `eot` ends a turn of a chat, `eom` a message that is not its last. */
    uint32_t bos, eos, eot, eom, unknown, padding;
} ls_tokenizer_info;
LS_API void ls_tokenizer_describe(const ls_tokenizer *tokenizer, ls_tokenizer_info *info);

/* X(name, number in files, name in texts) */
#define LS_TOKEN_KIND_TABLE(X)                                                                     \
    X(NORMAL, 1, "normal")                                                                         \
    X(UNKNOWN, 2, "unknown")                                                                       \
    X(CONTROL, 3, "control")                                                                       \
    X(USER_DEFINED, 4, "user-defined")                                                             \
    X(UNUSED, 5, "unused")                                                                         \
    X(BYTE, 6, "byte")
typedef enum ls_token_kind {
#define X(name, number, text) LS_TOKEN_##name = (number),
    LS_TOKEN_KIND_TABLE(X)
#undef X
} ls_token_kind;
/* "normal", "control", ... Static. */
LS_API const char *ls_token_kind_name(ls_token_kind kind);

typedef struct ls_token {
    /* What the token stands for in a text; of control tokens and the unknown one, their name. Not
     * zero-terminated, and not always whole characters. It lives as long as the tokenizer. */
    const char *bytes;
    uint32_t length;
    ls_token_kind kind;
    float score;    /* of "llama", else 0 */
    bool ends_text; /* a model that gives this token has finished: eos, eot, eom and their like */
} ls_token;
/* LS_E_INVALID_ARGUMENT when there is no such id. */
LS_API ls_status ls_tokenizer_token(const ls_tokenizer *tokenizer, uint32_t id, ls_token *token,
                                    ls_error *error);

/* The token that stands for these bytes, or has this name: "<|im_end|>"; LS_NO_TOKEN when there is
 * none. Where there are several, a control or user-defined one goes first. */
LS_API uint32_t ls_tokenizer_find(const ls_tokenizer *tokenizer, const char *bytes,
                                  uint64_t length);

/* --- text to tokens --------------------------------------------------------------------------- */
/* The longest text of one call. */
#define LS_TEXT_BYTES_MAX (UINT64_C(1) << 30)

typedef struct ls_encode_params {
    size_t struct_size;
    const char *text; /* [length]; any bytes */
    uint64_t length;
    /* Names of control tokens in the text stand for these tokens. Leave it false for text from
     * outside: whoever writes "<|im_end|>" there means ten characters. User-defined tokens are
     * always found. */
    bool special;
    bool bare;  /* without the BOS and the EOS that the file asks for */
    bool lossy; /* bytes that the vocabulary has no token for are left out instead of an error */
} ls_encode_params;
#define LS_ENCODE_PARAMS_INIT LS_INIT(ls_encode_params)

/* Writes the first `capacity` ids to `ids` (NULL when that is 0) and to *count how many there are
 * in all: more than `capacity` means that the array is too small and the call is to be made again.
 * LS_E_LIMIT (the text is too long), LS_E_UNSUPPORTED (the vocabulary has no token for a byte of
 * the text). Takes time that grows with the length of the text as n log n at most. */
LS_API ls_status ls_tokenizer_encode(const ls_tokenizer *tokenizer, const ls_encode_params *params,
                                     uint32_t *ids, uint64_t capacity, uint64_t *count,
                                     ls_error *error);

/* --- tokens to text --------------------------------------------------------------------------- */
typedef struct ls_decode_params {
    size_t struct_size;
    const uint32_t *ids; /* [count] */
    uint64_t count;
    bool special;   /* control and unknown tokens give their names instead of nothing */
    bool continues; /* text stands before it: if the file adds a space to texts, the first token
                     * keeps its space */
} ls_decode_params;
#define LS_DECODE_PARAMS_INIT LS_INIT(ls_decode_params)

/* The inverse of encode. Writes the first `capacity` bytes to `text` (NULL when that is 0), without
 * a zero behind them, and to *length how many there are in all. LS_E_INVALID_ARGUMENT (an id that
 * is not in the vocabulary). */
LS_API ls_status ls_tokenizer_decode(const ls_tokenizer *tokenizer, const ls_decode_params *params,
                                     char *text, uint64_t capacity, uint64_t *length,
                                     ls_error *error);

/* For text that arrives token by token: how many of the bytes can be shown, because they do not end
 * within a character of UTF-8. At most the last 3 bytes are held back, and only when bytes that
 * follow can complete them; what is not UTF-8 anyhow is never held back. */
LS_API uint64_t ls_utf8_whole(const char *bytes, uint64_t length);

#ifdef __cplusplus
}
#endif

#endif
