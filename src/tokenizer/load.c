/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tokenizer from the metadata of a model file. What the file says is checked before it is used:
 * kinds and ids against their ranges, tokens for duplicates, merges for tokens that are not there.
 * Keys: the GGUF specification, "Tokenizer".
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/str.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocabulary.h"

#define KEY "tokenizer.ggml."

typedef struct loader {
    ls_tokenizer *t;
    const ls_gguf *gguf;
    const ls_gguf_value *tokens;
    ls_error *error;
    uint16_t byte_of[0x180]; /* character of a byte-level text to byte + 1 */
} loader;

/* `item` < 0: the whole value. */
static ls_status fail(const loader *l, ls_status code, const char *key, int64_t item,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
static ls_status fail(const loader *l, ls_status code, const char *key, int64_t item,
                      const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    ls__fail(l->error, code, "%s", message);
    if (item < 0)
        return ls__fail_where(l->error, code, "%s", key);
    return ls__fail_where(l->error, code, "%s[%lld]", key, (long long)item);
}

/* A text from the file for a message, control characters shown, cut where it is long. */
typedef struct shown {
    char text[200];
} shown;

static shown show(const char *text, uint64_t length)
{
    shown result = {""};
    ls__strbuf buffer = {0};
    ls__strbuf_visible(&buffer, text, length < 48 ? (size_t)length : 48);
    snprintf(result.text, sizeof result.text, "%s%s", buffer.text ? buffer.text : "",
             length > 48 ? "..." : "");
    ls__strbuf_finish(&buffer);
    return result;
}

/* --- values ----------------------------------------------------------------------------------- */

/* NULL where it is not there. */
static ls_status find_list(const loader *l, const char *key, const ls_gguf_value **value,
                           uint64_t count)
{
    *value = ls_gguf_find_value(l->gguf, key);
    if (!*value || ((*value)->is_list && (*value)->count == count))
        return LS_OK;
    return fail(l, LS_E_FORMAT, key, -1, "it must be a list of %llu values, one for each token",
                (unsigned long long)count);
}

static ls_status read_bool(const loader *l, const char *key, bool otherwise, bool *result)
{
    const ls_gguf_value *value = ls_gguf_find_value(l->gguf, key);
    uint64_t number = otherwise;
    if (value &&
        (value->is_list || value->kind != LS_GGUF_BOOL || !ls_gguf_unsigned(value, 0, &number)))
        return fail(l, LS_E_FORMAT, key, -1, "it must be true or false");
    *result = number != 0;
    return LS_OK;
}

static ls_status read_id(const loader *l, const char *key, uint32_t *id)
{
    const ls_gguf_value *value = ls_gguf_find_value(l->gguf, key);
    uint64_t number;
    *id = LS_NO_TOKEN;
    if (!value)
        return LS_OK;
    if (value->is_list || !ls_gguf_unsigned(value, 0, &number))
        return fail(l, LS_E_FORMAT, key, -1, "it must be the id of a token");
    if (number >= l->t->info.token_count)
        return fail(l, LS_E_FORMAT, key, -1,
                    "there is no token %llu: the vocabulary has %u, from 0",
                    (unsigned long long)number, l->t->info.token_count);
    *id = (uint32_t)number;
    return LS_OK;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* A byte-level vocabulary writes each byte as one visible character: itself where it is one, else
 * U+0100 and up. (GPT-2, encoder.py, bytes_to_unicode.) */
static void map_bytes(loader *l)
{
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool visible =
            (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        l->byte_of[visible ? byte : next++] = (uint16_t)(byte + 1);
    }
}

/* What a text of a byte-level vocabulary stands for; characters that stand for no byte are kept.
 * Writes at most `length` bytes. */
static uint32_t unmap(const loader *l, const uint8_t *text, size_t length, uint8_t *bytes)
{
    uint32_t count = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code = text[at];
        /* Of two bytes, below U+0180. */
        bool two = code >= 0xc2 && code <= 0xc5 && at + 1 < length && (text[at + 1] & 0xc0) == 0x80;
        if (two)
            code = (code & 0x1f) << 6 | (text[at + 1] & 0x3f);
        bool mapped = (two || code < 0x80) && l->byte_of[code];
        bytes[count++] = mapped ? (uint8_t)(l->byte_of[code] - 1) : text[at];
        at += mapped && two ? 2 : 1;
    }
    return count;
}

/* The same of SentencePiece: U+2581 is a space. */
static uint32_t unescape(const uint8_t *text, size_t length, uint8_t *bytes)
{
    uint32_t count = 0;
    for (size_t at = 0; at < length;) {
        bool space = length - at >= 3 && memcmp(text + at, "\xe2\x96\x81", 3) == 0;
        bytes[count++] = space ? ' ' : text[at];
        at += space ? 3 : 1;
    }
    return count;
}

static int hex(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* "<0x0A>"; -1 for another text. */
static int byte_of_name(const uint8_t *text, size_t length)
{
    if (length != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>')
        return -1;
    int high = hex(text[3]), low = hex(text[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Writes what token `id` stands for behind the tokens before it. */
static ls_status read_token(loader *l, uint32_t id)
{
    ls_tokenizer *t = l->t;
    const char *text;
    uint64_t length;
    uint8_t *bytes = t->bytes + t->places[id];
    uint32_t count;
    ls_gguf_text(l->tokens, id, &text, &length);
    const uint8_t *from = (const uint8_t *)text;
    ls_token_kind kind = (ls_token_kind)t->kinds[id];
    if (kind == LS_TOKEN_BYTE) {
        int byte = byte_of_name(from, (size_t)length);
        if (byte < 0)
            return fail(l, LS_E_FORMAT, KEY "tokens", id,
                        "token %u, of the kind byte, is '%s', not <0xNN>", id,
                        show(text, length).text);
        *bytes = (uint8_t)byte;
        count = 1;
        if (t->byte_ids[byte] == LS_NO_TOKEN && t->model == LS__TOKEN_SENTENCEPIECE)
            t->byte_ids[byte] = id;
    } else if (t->model == LS__TOKEN_SENTENCEPIECE &&
               (kind == LS_TOKEN_USER_DEFINED || kind == LS_TOKEN_NORMAL ||
                kind == LS_TOKEN_UNUSED)) {
        count = unescape(from, (size_t)length, bytes);
    } else if (ls__token_is_part(kind)) {
        count = unmap(l, from, (size_t)length, bytes);
        if (count == 1 && t->byte_ids[*bytes] == LS_NO_TOKEN)
            t->byte_ids[*bytes] = id;
    } else {
        memcpy(bytes, from, (size_t)length);
        count = (uint32_t)length;
    }
    t->places[id + 1] = t->places[id] + count;
    if (count > t->info.longest_bytes)
        t->info.longest_bytes = count;
    if (ls__token_is_part(kind) && count > t->longest_part)
        t->longest_part = count;
    return LS_OK;
}

static ls_status read_kinds(loader *l)
{
    ls_tokenizer *t = l->t;
    const ls_gguf_value *value;
    ls_status status = find_list(l, KEY "token_type", &value, t->info.token_count);
    if (status != LS_OK)
        return status;
    for (uint32_t id = 0; id < t->info.token_count; id++) {
        int64_t kind = LS_TOKEN_NORMAL;
        if (value &&
            (!ls_gguf_signed(value, id, &kind) || kind < LS_TOKEN_NORMAL || kind > LS_TOKEN_BYTE))
            return fail(l, LS_E_FORMAT, KEY "token_type", id,
                        "a kind of token is a number from 1 to 6");
        t->kinds[id] = (uint8_t)kind;
    }
    return LS_OK;
}

static ls_status read_scores(loader *l)
{
    ls_tokenizer *t = l->t;
    const ls_gguf_value *value;
    ls_status status = find_list(l, KEY "scores", &value, t->info.token_count);
    if (status != LS_OK)
        return status;
    if (!value)
        return fail(l, LS_E_FORMAT, KEY "scores", -1, "a tokenizer of this model needs scores");
    t->scores = LS__NEW_ARRAY(&t->arena, float, t->info.token_count);
    for (uint32_t id = 0; id < t->info.token_count; id++) {
        double score;
        if (value->kind != LS_GGUF_F32 || !ls_gguf_float(value, id, &score) || score != score)
            return fail(l, LS_E_FORMAT, KEY "scores", id, "a score must be a number, of kind f32");
        t->scores[id] = (float)score;
    }
    return LS_OK;
}

/* Puts the token where it is found by its bytes. */
static ls_status index_token(loader *l, uint32_t id)
{
    ls_tokenizer *t = l->t;
    uint32_t length = ls__token_length(t, id);
    const uint8_t *bytes = t->bytes + t->places[id];
    uint32_t hash = ls__token_hash(bytes, length), at = hash & t->slot_mask;
    for (; t->slots[at].id != LS_NO_TOKEN; at = (at + 1) & t->slot_mask) {
        uint32_t other = t->slots[at].id;
        const char *a, *b;
        uint64_t a_length, b_length;
        if (t->slots[at].hash != hash || ls__token_length(t, other) != length ||
            memcmp(t->bytes + t->places[other], bytes, length) != 0)
            continue;
        ls_gguf_text(l->tokens, id, &a, &a_length);
        ls_gguf_text(l->tokens, other, &b, &b_length);
        if (a_length == b_length && memcmp(a, b, (size_t)a_length) == 0)
            return fail(l, LS_E_FORMAT, KEY "tokens", id, "tokens %u and %u are the same: '%s'",
                        other, id, show(a, a_length).text);
    }
    t->slots[at] = (ls__token_slot){id, hash};
    return LS_OK;
}

static ls_status read_tokens(loader *l)
{
    ls_tokenizer *t = l->t;
    uint32_t count = t->info.token_count;
    uint64_t bytes = 0, length;
    const char *text;
    for (uint32_t id = 0; id < count; id++) {
        ls_gguf_text(l->tokens, id, &text, &length);
        bytes += length;
    }
    if (bytes > UINT32_MAX)
        return fail(l, LS_E_LIMIT, KEY "tokens", -1, "the tokens have more than 4 GiB");
    t->bytes = LS__NEW_ARRAY(&t->arena, uint8_t, bytes + 1);
    t->places = LS__NEW_ARRAY(&t->arena, uint32_t, (size_t)count + 1);
    uint32_t slots = 16;
    while (slots / 2 < count)
        slots *= 2;
    t->slots = LS__NEW_ARRAY(&t->arena, ls__token_slot, slots);
    t->slot_mask = slots - 1;
    memset(t->slots, 0xff, sizeof *t->slots * slots);
    memset(t->byte_ids, 0xff, sizeof t->byte_ids);
    for (uint32_t id = 0; id < count; id++) {
        ls_status status = read_token(l, id);
        if (status == LS_OK && ls__token_length(t, id)) /* some files fill gaps with empty ones */
            status = index_token(l, id);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* Whether every space in a token has nothing but spaces in front of it. */
static bool spaces_lead(const ls_tokenizer *t)
{
    for (uint32_t id = 0; id < t->info.token_count; id++) {
        const uint8_t *bytes = t->bytes + t->places[id];
        uint32_t length = ls__token_length(t, id), at = 0;
        while (at < length && bytes[at] == ' ')
            at++;
        if (ls__token_is_part((ls_token_kind)t->kinds[id]) && at < length &&
            memchr(bytes + at, ' ', length - at))
            return false;
    }
    return true;
}

/* --- merges ----------------------------------------------------------------------------------- */

/* The token of one side of a merge, or of both sides together. */
static ls_status merge_token(const loader *l, uint32_t rank, const uint8_t *bytes, uint32_t length,
                             uint32_t *id)
{
    *id = ls__token_part(l->t, bytes, length);
    if (*id != LS_NO_TOKEN)
        return LS_OK;
    return fail(l, LS_E_FORMAT, KEY "merges", rank, "merge %u names '%s', which is no token", rank,
                show((const char *)bytes, length).text);
}

static ls_status read_merge(loader *l, const ls_gguf_value *merges, uint32_t rank)
{
    enum { LONGEST = 4096 };
    uint8_t bytes[LONGEST]; /* of the left side, the right one behind it */
    const char *text;
    uint64_t length;
    ls_gguf_text(merges, rank, &text, &length);
    const char *space = length > 2 ? memchr(text + 1, ' ', (size_t)length - 1) : NULL;
    if (!space || space == text + length - 1 || length > LONGEST ||
        memchr(space + 1, ' ', (size_t)(text + length - space - 1)))
        return fail(l, LS_E_FORMAT, KEY "merges", rank,
                    "merge %u is '%s', not two tokens with a space between them", rank,
                    show(text, length).text);
    size_t side = (size_t)(space - text);
    uint32_t left_length = unmap(l, (const uint8_t *)text, side, bytes), left, right, both;
    uint32_t right_length =
        unmap(l, (const uint8_t *)space + 1, (size_t)length - side - 1, bytes + left_length);
    ls_status status = merge_token(l, rank, bytes, left_length, &left);
    if (status == LS_OK)
        status = merge_token(l, rank, bytes + left_length, right_length, &right);
    if (status == LS_OK)
        status = merge_token(l, rank, bytes, left_length + right_length, &both);
    if (status == LS_OK)
        ls__token_add_merge(l->t, left, right, rank, both); /* of two the same, the first counts */
    return status;
}

static ls_status read_merges(loader *l)
{
    ls_tokenizer *t = l->t;
    const ls_gguf_value *merges = ls_gguf_find_value(l->gguf, KEY "merges");
    if (!merges || !merges->is_list || merges->kind != LS_GGUF_STRING)
        return fail(l, LS_E_FORMAT, KEY "merges", -1,
                    "a tokenizer of this model needs a list of merges");
    uint32_t slots = 16;
    while (slots / 2 < merges->count)
        slots *= 2;
    t->info.merge_count = (uint32_t)merges->count;
    t->merges = LS__NEW_ARRAY(&t->arena, ls__merge_slot, slots);
    t->merge_mask = slots - 1;
    memset(t->merges, 0xff, sizeof *t->merges * slots);
    ls_status status = LS_OK;
    for (uint32_t rank = 0; status == LS_OK && rank < t->info.merge_count; rank++)
        status = read_merge(l, merges, rank);
    return status;
}

/* --- special tokens --------------------------------------------------------------------------- */

/* Names of tokens that end a turn, for files that do not say which it is, and of others after which
 * a model has nothing more to say. */
static const char *const end_names[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eom_id|>",
    "</s>",
    "<eos>",
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81"
    "of\xe2\x96\x81sentence\xef\xbd\x9c>",
};
enum { END_NAMES = sizeof end_names / sizeof *end_names, TURN_NAMES = 4 };

static void mark_ends(ls_tokenizer *t)
{
    uint32_t known[] = {t->info.eos, t->info.eot, t->info.eom};
    for (size_t i = 0; i < END_NAMES; i++) {
        uint32_t id = ls_tokenizer_find(t, end_names[i], strlen(end_names[i]));
        if (id == LS_NO_TOKEN || t->kinds[id] != LS_TOKEN_CONTROL)
            continue;
        t->ends[id] = true;
        if (t->info.eot == LS_NO_TOKEN && i < TURN_NAMES)
            t->info.eot = id;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] != LS_NO_TOKEN)
            t->ends[known[i]] = true;
}

/* Sorts the literal tokens by their first byte, the longest first. */
static void collect_literals(ls_tokenizer *t)
{
    uint32_t counts[256] = {0}, lengths = t->info.longest_bytes + 1, all = 0;
    for (uint32_t id = 0; id < t->info.token_count; id++)
        if (ls__token_is_literal((ls_token_kind)t->kinds[id]) && ls__token_length(t, id)) {
            counts[t->bytes[t->places[id]]]++;
            all++;
        }
    /* Two passes of counting: by length, then by first byte, each keeping the order before it. */
    uint32_t *sorted = LS__NEW_ARRAY(&t->arena, uint32_t, (size_t)all + 1);
    uint32_t *begins = LS__NEW_ARRAY(&t->arena, uint32_t, (size_t)lengths + 1);
    t->literals = LS__NEW_ARRAY(&t->arena, uint32_t, (size_t)all + 1);
    for (uint32_t id = 0; id < t->info.token_count; id++)
        if (ls__token_is_literal((ls_token_kind)t->kinds[id]) && ls__token_length(t, id))
            begins[lengths - ls__token_length(t, id)]++;
    for (uint32_t i = 0, sum = 0; i <= lengths; i++) {
        uint32_t here = begins[i];
        begins[i] = sum;
        sum += here;
    }
    for (uint32_t id = 0; id < t->info.token_count; id++)
        if (ls__token_is_literal((ls_token_kind)t->kinds[id]) && ls__token_length(t, id))
            sorted[begins[lengths - ls__token_length(t, id)]++] = id;
    for (uint32_t byte = 0; byte < 256; byte++)
        t->literal_places[byte + 1] = t->literal_places[byte] + counts[byte];
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < all; i++) {
        uint8_t first = t->bytes[t->places[sorted[i]]];
        t->literals[t->literal_places[first] + counts[first]++] = sorted[i];
        if (t->kinds[sorted[i]] == LS_TOKEN_USER_DEFINED)
            t->literal_user[first] = true;
    }
}

static ls_status read_special(loader *l, bool adds_bos)
{
    ls_tokenizer_info *info = &l->t->info;
    const struct {
        const char *key;
        uint32_t *id;
    } ids[] = {
        {KEY "bos_token_id", &info->bos},         {KEY "eos_token_id", &info->eos},
        {KEY "eot_token_id", &info->eot},         {KEY "eom_token_id", &info->eom},
        {KEY "unknown_token_id", &info->unknown}, {KEY "padding_token_id", &info->padding},
    };
    ls_status status = LS_OK;
    for (size_t i = 0; status == LS_OK && i < sizeof ids / sizeof *ids; i++)
        status = read_id(l, ids[i].key, ids[i].id);
    bool given = ls_gguf_find_value(l->gguf, KEY "add_bos_token") != NULL;
    if (status == LS_OK)
        status = read_bool(l, KEY "add_bos_token", adds_bos && info->bos != LS_NO_TOKEN,
                           &info->adds_bos);
    if (status == LS_OK)
        status = read_bool(l, KEY "add_eos_token", false, &info->adds_eos);
    if (status == LS_OK && given && info->adds_bos && info->bos == LS_NO_TOKEN)
        status = fail(l, LS_E_FORMAT, KEY "add_bos_token", -1, "there is no bos_token_id to add");
    if (status == LS_OK && info->adds_eos && info->eos == LS_NO_TOKEN)
        status = fail(l, LS_E_FORMAT, KEY "add_eos_token", -1, "there is no eos_token_id to add");
    return status;
}

/* --- the two models --------------------------------------------------------------------------- */

static ls_status read_text(const loader *l, const char *key, const char **text, uint64_t *length)
{
    const ls_gguf_value *value = ls_gguf_find_value(l->gguf, key);
    if (value && !value->is_list && ls_gguf_text(value, 0, text, length))
        return LS_OK;
    return value ? fail(l, LS_E_FORMAT, key, -1, "it must be a text")
                 : fail(l, LS_E_NOT_FOUND, key, -1, "the file does not say %s", key);
}

static ls_status read_bpe(loader *l, bool *adds_bos)
{
    const char *name;
    uint64_t length;
    ls_status status = read_text(l, KEY "pre", &name, &length);
    if (status != LS_OK)
        return ls__fail_hint(l->error, status, "old files lack it; convert the model again");
    const ls__pre_family *family = ls__pre_find(name, (size_t)length);
    if (!family) {
        status = fail(l, LS_E_UNSUPPORTED, KEY "pre", -1, "the pre-tokeniser '%s' is not known",
                      show(name, length).text);
        return ls__fail_hint(l->error, status, "known are %s", ls__pre_names());
    }
    map_bytes(l);
    l->t->info.pre = ls__pre_name(family);
    l->t->whole_words = ls__pre_whole_words(family);
    *adds_bos = ls__pre_adds_bos(family);
    status = read_tokens(l);
    if (status == LS_OK)
        status = read_merges(l);
    if (status == LS_OK)
        status = ls__pre_init(&l->t->pre, family, l->error);
    return status;
}

static ls_status read_sentencepiece(loader *l, bool *adds_bos)
{
    bool removes_spaces;
    ls_status status = read_bool(l, KEY "remove_extra_whitespaces", false, &removes_spaces);
    if (status != LS_OK)
        return status;
    if (removes_spaces || ls_gguf_find_value(l->gguf, KEY "precompiled_charsmap"))
        return fail(l, LS_E_UNSUPPORTED,
                    removes_spaces ? KEY "remove_extra_whitespaces" : KEY "precompiled_charsmap",
                    -1, "texts would have to be changed by rules that are not known");
    *adds_bos = true;
    status = read_bool(l, KEY "add_space_prefix", true, &l->t->info.adds_space);
    if (status == LS_OK)
        status = read_scores(l);
    if (status == LS_OK)
        status = read_tokens(l);
    if (status == LS_OK)
        l->t->cut_at_spaces = spaces_lead(l->t);
    return status;
}

static ls_status read_model(loader *l)
{
    ls_tokenizer *t = l->t;
    const char *model;
    uint64_t length;
    bool adds_bos = false;
    ls_status status = read_text(l, KEY "model", &model, &length);
    if (status != LS_OK)
        return status;
    bool bpe = length == 4 && memcmp(model, "gpt2", 4) == 0;
    if (!bpe && !(length == 5 && memcmp(model, "llama", 5) == 0)) {
        status = fail(l, LS_E_UNSUPPORTED, KEY "model", -1,
                      "tokenizers of the model '%s' are not known", show(model, length).text);
        return ls__fail_hint(l->error, status, "known are gpt2 and llama");
    }
    t->model = bpe ? LS__TOKEN_BPE : LS__TOKEN_SENTENCEPIECE;
    t->info.model = bpe ? "gpt2" : "llama";
    t->info.pre = "";
    l->tokens = ls_gguf_find_value(l->gguf, KEY "tokens");
    if (!l->tokens || !l->tokens->is_list || l->tokens->kind != LS_GGUF_STRING ||
        l->tokens->count == 0)
        return fail(l, LS_E_FORMAT, KEY "tokens", -1, "it must be a list of texts");
    t->info.token_count = (uint32_t)l->tokens->count;
    t->kinds = LS__NEW_ARRAY(&t->arena, uint8_t, t->info.token_count);
    t->ends = LS__NEW_ARRAY(&t->arena, bool, t->info.token_count);
    status = read_kinds(l);
    if (status == LS_OK)
        status = bpe ? read_bpe(l, &adds_bos) : read_sentencepiece(l, &adds_bos);
    if (status == LS_OK)
        status = read_special(l, adds_bos);
    if (status == LS_OK) {
        mark_ends(t);
        collect_literals(t);
    }
    return status;
}

/* --- the public calls ------------------------------------------------------------------------- */

static void release(ls_tokenizer *t)
{
    ls__pre_finish(&t->pre);
    ls__arena_finish(&t->arena);
    ls__mem_free(t);
}

ls_status ls_tokenizer_create(const ls_gguf *gguf, ls_tokenizer **tokenizer, ls_error *error)
{
    ls__oom oom;
    if (tokenizer)
        *tokenizer = NULL;
    if (!gguf || !tokenizer)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "gguf or tokenizer is NULL");
    ls_tokenizer *t = ls__mem_alloc(1, sizeof *t);
    if (!t)
        return ls__fail_oom(error, sizeof *t);
    ls__arena_init(&t->arena, &oom, 0);
    if (setjmp(oom.jump)) {
        release(t);
        return ls__oom_status(&oom, error);
    }
    loader l = {.t = t, .gguf = gguf, .error = error};
    ls_status status = read_model(&l);
    t->arena.oom = NULL;
    if (status != LS_OK) {
        release(t);
        return status;
    }
    *tokenizer = t;
    return LS_OK;
}

void ls_tokenizer_destroy(ls_tokenizer **tokenizer)
{
    if (!tokenizer || !*tokenizer)
        return;
    release(*tokenizer);
    *tokenizer = NULL;
}
