/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to tokens: the names of special tokens are cut out first, then each stretch between them is
 * cut into words, and each word into tokens.
 *
 * What is not UTF-8: for BPE a run of such bytes is a word of its own, and the text is cut there as
 * if it ended; for SentencePiece each such byte is its own token.
 */
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "tokenizer/merge.h"
#include "tokenizer/utf8.h"

typedef struct encoder {
    const ls_tokenizer *t;
    bool special, lossy;
    uint32_t *ids;
    uint64_t capacity, count;
    ls__merger merger;
    struct pcre2_real_match_data_8 *match;
    ls_error *error;
} encoder;

static void give(encoder *e, uint32_t id)
{
    if (e->count < e->capacity)
        e->ids[e->count] = id;
    e->count++;
}

/* --- words ------------------------------------------------------------------------------------ */

static ls_status fail_byte(const encoder *e, uint8_t byte)
{
    return ls__fail(e->error, LS_E_UNSUPPORTED,
                    "the vocabulary has no token for the byte 0x%02x of the text", byte);
}

/* Characters without a token of their own: their bytes, or, where the vocabulary has none for one
 * of them, the unknown token, once for all in a row. */
static ls_status give_bytes(encoder *e, const uint8_t *bytes, size_t length, bool *unknown)
{
    bool have = true;
    for (size_t i = 0; i < length; i++)
        have = have && e->t->byte_ids[bytes[i]] != LS_NO_TOKEN;
    if (!have && e->t->info.unknown != LS_NO_TOKEN && e->t->model == LS__TOKEN_SENTENCEPIECE) {
        if (!*unknown)
            give(e, e->t->info.unknown);
        *unknown = true;
        return LS_OK;
    }
    for (size_t i = 0; i < length; i++) {
        uint32_t id = e->t->byte_ids[bytes[i]];
        if (id == LS_NO_TOKEN && !e->lossy)
            return fail_byte(e, bytes[i]);
        if (id != LS_NO_TOKEN)
            give(e, id);
    }
    return LS_OK;
}

static ls_status encode_word(void *context, const uint8_t *bytes, size_t length)
{
    encoder *e = context;
    if (length == 1 && e->t->model == LS__TOKEN_BPE && e->t->byte_ids[*bytes] != LS_NO_TOKEN) {
        give(e, e->t->byte_ids[*bytes]);
        return LS_OK;
    }
    if (e->t->whole_words) {
        uint32_t id = ls__token_part(e->t, bytes, length);
        if (id != LS_NO_TOKEN) {
            give(e, id);
            return LS_OK;
        }
    }
    ls_status status = ls__merge(&e->merger, bytes, length, e->error);
    bool unknown = false;
    for (size_t at = 0; status == LS_OK && at < length; at += e->merger.parts[at].length) {
        const ls__part *part = &e->merger.parts[at];
        if (part->id == LS_NO_TOKEN) {
            status = give_bytes(e, bytes + at, part->length, &unknown);
        } else {
            give(e, part->id);
            unknown = false;
        }
    }
    return status;
}

/* --- stretches without special tokens --------------------------------------------------------- */

static ls_status encode_bpe(encoder *e, const uint8_t *text, size_t length)
{
    ls_status status = LS_OK;
    for (size_t at = 0; status == LS_OK && at < length;) {
        size_t good = ls__utf8_run(text + at, length - at), bad = at + good;
        status = ls__pre_split(&e->t->pre, e->match, text + at, good, encode_word, e, e->error);
        while (bad < length && !ls__utf8_length(text + bad, length - bad))
            bad++;
        if (status == LS_OK && bad > at + good)
            status = encode_word(e, text + at + good, bad - at - good);
        at = bad;
    }
    return status;
}

/* Bytes up to where a word may be cut off: in front of spaces that follow something else, if no
 * token reaches over such a place. */
static size_t word_length(const encoder *e, const uint8_t *text, size_t length)
{
    size_t at = 0;
    if (!e->t->cut_at_spaces)
        return length;
    while (at < length && text[at] == ' ')
        at++;
    const uint8_t *next = at < length ? memchr(text + at, ' ', length - at) : NULL;
    return next ? (size_t)(next - text) : length;
}

/* SentencePiece writes a space as U+2581 and cannot tell the two apart. */
static ls_status encode_sentencepiece(encoder *e, const uint8_t *text, size_t length)
{
    uint8_t *copy = ls__mem_alloc(length + 1, 1);
    size_t count = 0;
    ls_status status = LS_OK;
    if (!copy)
        return ls__fail_oom(e->error, length + 1);
    if (e->t->info.adds_space)
        copy[count++] = ' ';
    for (size_t at = 0; at < length;) {
        bool space = length - at >= 3 && memcmp(text + at, "\xe2\x96\x81", 3) == 0;
        copy[count++] = space ? ' ' : text[at];
        at += space ? 3 : 1;
    }
    for (size_t at = 0; status == LS_OK && at < count;) {
        size_t word = word_length(e, copy + at, count - at);
        status = encode_word(e, copy + at, word);
        at += word;
    }
    ls__mem_free(copy);
    return status;
}

static ls_status encode_stretch(encoder *e, const uint8_t *text, size_t length)
{
    if (!length)
        return LS_OK;
    return e->t->model == LS__TOKEN_BPE ? encode_bpe(e, text, length)
                                        : encode_sentencepiece(e, text, length);
}

/* --- special tokens --------------------------------------------------------------------------- */

/* The token whose name begins here, the longest of them. */
static uint32_t literal_at(const encoder *e, const uint8_t *text, size_t length)
{
    const ls_tokenizer *t = e->t;
    if (!e->special && !t->literal_user[*text])
        return LS_NO_TOKEN;
    for (uint32_t i = t->literal_places[*text]; i < t->literal_places[*text + 1]; i++) {
        uint32_t id = t->literals[i], its = ls__token_length(t, id);
        if (its <= length && (e->special || t->kinds[id] == LS_TOKEN_USER_DEFINED) &&
            memcmp(t->bytes + t->places[id], text, its) == 0)
            return id;
    }
    return LS_NO_TOKEN;
}

static ls_status encode_text(encoder *e, const uint8_t *text, size_t length)
{
    size_t begin = 0;
    for (size_t at = 0; at < length;) {
        uint32_t id = literal_at(e, text + at, length - at);
        if (id == LS_NO_TOKEN) {
            at++;
            continue;
        }
        ls_status status = encode_stretch(e, text + begin, at - begin);
        if (status != LS_OK)
            return status;
        give(e, id);
        begin = at += ls__token_length(e->t, id);
    }
    return encode_stretch(e, text + begin, length - begin);
}

ls_status ls_tokenizer_encode(const ls_tokenizer *t, const ls_encode_params *given, uint32_t *ids,
                              uint64_t capacity, uint64_t *count, ls_error *error)
{
    if (count)
        *count = 0;
    if (!t || !given || !count || (capacity && !ids))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "tokenizer, params, ids or count is NULL");
    ls_encode_params params;
    ls_status status =
        ls__params_in(&params, sizeof params, given, false, "ls_tokenizer_encode", error);
    if (status != LS_OK)
        return status;
    if (params.length && !params.text)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "text is NULL");
    if (params.length > LS_TEXT_BYTES_MAX)
        return ls__fail(error, LS_E_LIMIT, "the text has %llu bytes, more than %llu",
                        (unsigned long long)params.length, (unsigned long long)LS_TEXT_BYTES_MAX);
    if (!params.text)
        params.text = ""; /* to count from: NULL + 0 is undefined */
    encoder e = {.t = t, .special = params.special, .ids = ids, .capacity = capacity};
    e.lossy = params.lossy;
    e.error = error;
    e.merger.t = t;
    if (t->model == LS__TOKEN_BPE && !(e.match = ls__pre_begin(&t->pre)))
        return ls__fail_oom(error, 0);
    if (t->info.adds_bos && !params.bare)
        give(&e, t->info.bos);
    status = encode_text(&e, (const uint8_t *)params.text, (size_t)params.length);
    if (t->info.adds_eos && !params.bare)
        give(&e, t->info.eos);
    ls__merge_finish(&e.merger);
    ls__pre_end(e.match);
    *count = status == LS_OK ? e.count : 0;
    return status;
}
