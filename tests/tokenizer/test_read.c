/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers of files that are put together here: what they answer, and one fault at a time, each
 * with what must be said of it. */
#include "base/cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tokenizer/small_models.h"

static ls_status create(const vocabulary *v, ls_tokenizer **t, ls_error *error)
{
    static file f;
    ls_gguf *gguf = NULL;
    make_file(&f, v);
    if (ls_gguf_open_memory(f.bytes, f.size, "test.gguf", &gguf, error) != LS_OK)
        fail_msg("%s: %s", error->where, error->message);
    ls_status status = ls_tokenizer_create(gguf, t, error);
    ls_gguf_destroy(&gguf);
    memset(&f, 0xee, sizeof f); /* nothing of the file is kept */
    return status;
}

static ls_tokenizer *open_good(const vocabulary *v)
{
    ls_tokenizer *t = NULL;
    ls_error error = {0};
    if (create(v, &t, &error) != LS_OK)
        fail_msg("%s: %s", error.where, error.message);
    return t;
}

/* --- encoding --------------------------------------------------------------------------------- */
enum { SPECIAL = 1, WITH_BOS = 2, LOSSY = 4 };

#define expect(t, flags, text, ...)                                                                \
    expect_ids((t), (flags), (text), sizeof(text) - 1, (uint32_t[]){__VA_ARGS__},                  \
               sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void expect_ids(const ls_tokenizer *t, int flags, const char *text, size_t length,
                       const uint32_t *expected, size_t expected_count)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    uint32_t ids[64];
    uint64_t count = 0;
    ls_error error = {0};
    char *exact = malloc(length ? length : 1); /* a read beyond it is seen */
    assert_non_null(exact);
    memcpy(exact, text, length);
    params.text = exact;
    params.length = length;
    params.special = flags & SPECIAL;
    params.bare = !(flags & WITH_BOS);
    params.lossy = flags & LOSSY;
    if (ls_tokenizer_encode(t, &params, ids, 64, &count, &error) != LS_OK)
        fail_msg("%s: %s", text, error.message);
    for (size_t i = 0; i < count && i < expected_count; i++)
        if (ids[i] != expected[i])
            fail_msg("'%s': id %zu is %u, not %u", text, i, ids[i], expected[i]);
    assert_int_equal(count, expected_count);
    /* The same into arrays that are too small. */
    for (uint64_t room = 0; room < count; room++) {
        uint32_t some[64] = {0};
        uint64_t all = 0;
        assert_int_equal(ls_tokenizer_encode(t, &params, room ? some : NULL, room, &all, NULL),
                         LS_OK);
        assert_int_equal(all, count);
        assert_memory_equal(some, ids, room * sizeof *ids);
        assert_int_equal(some[room], 0);
    }
    free(exact);
}

#define expect_text(t, params, text) expect_bytes((t), &(params), (text), sizeof(text) - 1)

static void expect_bytes(const ls_tokenizer *t, const ls_decode_params *params, const char *text,
                         size_t length)
{
    char out[256];
    uint64_t got;
    assert_int_equal(ls_tokenizer_decode(t, params, out, sizeof out, &got, NULL), LS_OK);
    assert_int_equal(got, length);
    assert_memory_equal(out, text, length);
    for (uint64_t room = 0; room < got; room++) {
        char some[256] = {0};
        uint64_t all = 0;
        assert_int_equal(ls_tokenizer_decode(t, params, room ? some : NULL, room, &all, NULL),
                         LS_OK);
        assert_int_equal(all, length);
        assert_memory_equal(some, text, room);
        assert_int_equal(some[room], 0);
    }
}

static void words_are_merged(void **state)
{
    ls_tokenizer *t = open_good(byte_level());
    expect(t, 0, "abc", ABC);
    expect(t, 0, "abcab", ABC, AB);
    expect(t, 0, "aab", 'a', AB);
    expect(t, 0, " ab", ' ', AB); /* "a b" stands before "_ a" */
    expect(t, 0, " ac a", SPACE_A, 'c', SPACE_A);
    expect(t, 0,
           "ab\xff\xfe"
           "abc",
           AB, 0xff, 0xfe, ABC);
    expect(t, 0,
           "ab\xe2\x82"
           "ab",
           AB, 0xe2, 0x82, AB); /* a character that is cut short */
    expect(t, 0,
           "\0"
           "a",
           0, 'a');
    expect_ids(t, 0, "", 0, NULL, 0);
    ls_tokenizer_destroy(&t);
}

static void special_tokens_are_found(void **state)
{
    vocabulary *v = byte_level();
    ls_tokenizer *t = open_good(v);
    expect(t, SPECIAL, "ab<end>ab", AB, END, AB);
    expect(t, 0, "<end>", '<', 'e', 'n', 'd', '>');
    expect(t, 0, "ab<u>ab", AB, USER, AB);
    expect(t, 0, "<u><u><u>", LONGER, USER); /* the longest goes first */
    expect(t, SPECIAL, "<end", '<', 'e', 'n', 'd');
    expect(t, WITH_BOS, "a", 'a'); /* gpt-2 asks for none */
    ls_tokenizer_destroy(&t);
    v->bools[0] = "add_bos_token";
    v->truth[0] = true;
    v->bools[1] = "add_eos_token";
    v->truth[1] = true;
    t = open_good(v);
    expect(t, WITH_BOS, "ab", BOS, AB, END);
    expect(t, WITH_BOS, "", BOS, END);
    expect(t, 0, "ab", AB);
    ls_tokenizer_destroy(&t);
}

static void whole_words_go_first(void **state)
{
    vocabulary *v = byte_level();
    v->merges[2] = "a b"; /* twice: no way to abc, unless it is taken whole */
    ls_tokenizer *t = open_good(v);
    expect(t, 0, "abc", AB, 'c');
    ls_tokenizer_destroy(&t);
    v->pre = "llama-bpe";
    t = open_good(v);
    expect(t, 0, "abc", ABC);
    expect(t, 0, "abca", AB, 'c', 'a');
    expect(t, WITH_BOS, "a", BOS, 'a');
    ls_tokenizer_destroy(&t);
}

static void sentencepiece_merges_by_score(void **state)
{
    vocabulary *v = sentencepiece();
    ls_tokenizer *t = open_good(v);
    expect(t, 0, "abc", MARK, PIECE_AB, C); /* of two pairs of one score the left one */
    expect(t, 0, "a a", MARK_A, MARK_A);
    expect(t, 0, "  a", MARK, MARK, MARK_A);
    expect(t, WITH_BOS, "a", SP_BOS, MARK_A);
    expect(t, SPECIAL, "a<s>a", MARK_A, SP_BOS, MARK_A); /* a space behind a special token */
    expect(t, 0, "x\xff\xc3\xa9", MARK, FIRST_BYTE + 'x', FIRST_BYTE + 0xff, FIRST_BYTE + 0xc3,
           FIRST_BYTE + 0xa9);
    ls_tokenizer_destroy(&t);
    v->bools[0] = "add_space_prefix";
    v->scores[PIECE_BC] = -1;
    t = open_good(v);
    expect(t, 0, "abc", A, PIECE_BC);
    expect(t, 0, "a bc", A, MARK, PIECE_BC);
    expect(t, 0, "a<u>a", A, SP_USER, A);
    ls_tokenizer_destroy(&t);
}

/* Without a token for a byte: an error, or nothing, or the unknown token. */
static void bytes_without_tokens(void **state)
{
    ls_error error = {0};
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    uint64_t count;
    vocabulary *v = byte_level();
    v->kinds[0xfe] = LS_TOKEN_CONTROL;
    ls_tokenizer *t = open_good(v);
    params.text = "ab\xfe";
    params.length = 3;
    assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 0, &count, &error), LS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "byte 0xfe"));
    assert_int_equal(count, 0);
    expect(t, LOSSY,
           "ab\xfe"
           "a",
           AB, 'a');
    ls_tokenizer_destroy(&t);

    v = sentencepiece();
    v->kinds[FIRST_BYTE + 0xa9] = LS_TOKEN_CONTROL;
    t = open_good(v);
    expect(t, 0,
           "a\xc3\xa9\xc3\xa9"
           "a",
           MARK_A, UNK, A); /* one for all in a row */
    ls_tokenizer_destroy(&t);
}

/* --- decoding --------------------------------------------------------------------------------- */

static void ids_become_text(void **state)
{
    ls_tokenizer *t = open_good(byte_level());
    uint32_t ids[] = {SPACE_A, END, USER, 0xff, ABC};
    ls_decode_params params = LS_DECODE_PARAMS_INIT;
    params.ids = ids;
    params.count = 5;
    expect_text(t, params,
                " a<u>\xff"
                "abc");
    params.special = true;
    expect_text(t, params,
                " a<end><u>\xff"
                "abc");
    ids[3] = 1000;
    ls_error error;
    uint64_t length;
    assert_int_equal(ls_tokenizer_decode(t, &params, NULL, 0, &length, &error),
                     LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "id 1000, item 3"));
    ls_tokenizer_destroy(&t);

    t = open_good(sentencepiece());
    uint32_t pieces[] = {SP_BOS, MARK_A, MARK_A, FIRST_BYTE + 0xff, SP_BOS, MARK_A};
    params = (ls_decode_params)LS_DECODE_PARAMS_INIT;
    params.ids = pieces;
    params.count = 6;
    expect_text(t, params,
                "a a\xff"
                "a");
    params.special = true;
    expect_text(t, params, "<s>a a\xff<s>a");
    params.ids = pieces + 1;
    params.count = 1;
    expect_text(t, params, "a");
    params.continues = true;
    expect_text(t, params, " a");
    ls_tokenizer_destroy(&t);
}

static void tokens_are_described(void **state)
{
    vocabulary *v = byte_level();
    v->numbers[2] = "eot_token_id";
    v->number[2] = USER;
    ls_tokenizer *t = open_good(v);
    ls_tokenizer_info info = {.struct_size = sizeof info};
    ls_token token;
    ls_tokenizer_describe(t, &info);
    assert_string_equal(info.model, "gpt2");
    assert_string_equal(info.pre, "gpt-2");
    assert_int_equal(info.token_count, 263);
    assert_int_equal(info.merge_count, 3);
    assert_int_equal(info.longest_bytes, 6);
    assert_false(info.adds_bos);
    assert_int_equal(info.bos, BOS);
    assert_int_equal(info.eos, END);
    assert_int_equal(info.eot, USER);
    assert_int_equal(info.unknown, LS_NO_TOKEN);
    assert_int_equal(ls_tokenizer_token(t, SPACE_A, &token, NULL), LS_OK);
    assert_int_equal(token.length, 2);
    assert_memory_equal(token.bytes, " a", 2);
    assert_false(token.ends_text);
    assert_int_equal(ls_tokenizer_token(t, END, &token, NULL), LS_OK);
    assert_int_equal(token.kind, LS_TOKEN_CONTROL);
    assert_string_equal(ls_token_kind_name(token.kind), "control");
    assert_true(token.ends_text);
    assert_int_equal(ls_tokenizer_token(t, 263, &token, NULL), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_tokenizer_find(t, "<end>", 5), END);
    assert_int_equal(ls_tokenizer_find(t, " a", 2), SPACE_A);
    assert_int_equal(ls_tokenizer_find(t, " b", 2), LS_NO_TOKEN);
    assert_int_equal(ls_tokenizer_find(t, "", 0), LS_NO_TOKEN);
    ls_tokenizer_destroy(&t);
    assert_null(t);
    ls_tokenizer_destroy(&t);

    v = byte_level(); /* a file that does not say what ends a turn */
    v->tokens[BOS] = "<|im_end|>";
    t = open_good(v);
    ls_tokenizer_describe(t, &info);
    assert_int_equal(info.eot, BOS);
    ls_tokenizer_destroy(&t);
}

static void characters_are_not_split(void **state)
{
    static const struct {
        const char *bytes;
        uint64_t whole;
    } cases[] = {
        {"", 0},
        {"a", 1},
        {"\xc3", 0},
        {"a\xc3", 1},
        {"\xc3\xa9", 2},
        {"\xe2\x82", 0},
        {"a\xe2\x82\xac", 4},
        {"\xf0\x9f\x98", 0},
        {"\xf0\x9f", 0},
        {"a\xf0", 1},
        {"\xf0\x9f\x98\x80", 4},
        {"\xff", 1},
        {"\x80\x80", 2},
        {"\xe0\x80", 2},
        {"\xed\xa0", 2},
        {"\xf4\x90", 2},
        {"\xc0", 1},
        {"\x80\x80\x80\x80", 4},
        {"\xf5\x80", 2},
        {"\xe2\x82\x41", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (ls_utf8_whole(cases[i].bytes, strlen(cases[i].bytes)) != cases[i].whole)
            fail_msg("case %zu", i);
}

/* --- faults ----------------------------------------------------------------------------------- */

static void refused(const vocabulary *v, ls_status expected, const char *message, const char *where)
{
    ls_tokenizer *t = (ls_tokenizer *)v;
    ls_error error = {0};
    ls_status status = create(v, &t, &error);
    if (status != expected || error.code != expected || !strstr(error.message, message) ||
        !strstr(error.where, where))
        fail_msg("%s: %s, %s: %s", message, ls_status_name(status), error.message, error.where);
    assert_null(t);
}

static void faults_of_any_model(void **state)
{
    vocabulary *v = byte_level();
    v->model = NULL;
    refused(v, LS_E_NOT_FOUND, "does not say tokenizer.ggml.model", "");
    v->model = "bert";
    refused(v, LS_E_UNSUPPORTED, "'bert' are not known", "tokenizer.ggml.model");
    v = byte_level();
    v->token_count = 0;
    refused(v, LS_E_FORMAT, "must be a list of texts", "tokenizer.ggml.tokens");
    v = byte_level();
    v->kind_count--;
    refused(v, LS_E_FORMAT, "263 values, one for each token", "tokenizer.ggml.token_type");
    v = byte_level();
    v->kinds[7] = 0;
    refused(v, LS_E_FORMAT, "a number from 1 to 6", "tokenizer.ggml.token_type[7]");
    v->kinds[7] = 7;
    refused(v, LS_E_FORMAT, "a number from 1 to 6", "tokenizer.ggml.token_type[7]");
    v->kinds[7] = LS_TOKEN_BYTE;
    refused(v, LS_E_FORMAT, "not <0xNN>", "tokenizer.ggml.tokens[7]");
    v = byte_level();
    v->tokens[ABC] = "ab";
    refused(v, LS_E_FORMAT, "tokens 256 and 257 are the same: 'ab'", "tokenizer.ggml.tokens[257]");
    v = byte_level();
    v->tokens[BOS] = "ab"; /* of another kind */
    refused(v, LS_E_FORMAT, "tokens 256 and 260 are the same", "tokenizer.ggml.tokens[260]");
    v = byte_level();
    v->number[0] = 263;
    refused(v, LS_E_FORMAT, "there is no token 263", "tokenizer.ggml.eos_token_id");
    v = byte_level();
    v->numbers[1] = NULL;
    v->bools[0] = "add_bos_token";
    v->truth[0] = true;
    refused(v, LS_E_FORMAT, "no bos_token_id", "tokenizer.ggml.add_bos_token");
    v = byte_level();
    v->numbers[2] = "add_eos_token";
    refused(v, LS_E_FORMAT, "true or false", "tokenizer.ggml.add_eos_token");
}

static void faults_of_byte_level(void **state)
{
    ls_error error = {0};
    ls_tokenizer *t;
    vocabulary *v = byte_level();
    v->pre = NULL;
    refused(v, LS_E_NOT_FOUND, "does not say tokenizer.ggml.pre", "");
    v->pre = "falcon\x1b";
    refused(v, LS_E_UNSUPPORTED, "'falcon\\x1b' is not known", "tokenizer.ggml.pre");
    create(v, &t, &error);
    assert_non_null(strstr(error.hint, "smollm, tekken and deepseek-llm"));
    v = byte_level();
    v->merge_count = 0;
    refused(v, LS_E_FORMAT, "needs a list of merges", "tokenizer.ggml.merges");
    static const struct {
        const char *merge, *message;
    } merges[] = {
        {"a x", "merge 1 names 'ax', which is no token"},
        {"ax b", "merge 1 names 'ax', which is no token"},
        {"a <end>", "merge 1 names '<end>', which is no token"}, /* control tokens are none */
        {"ab", "merge 1 is 'ab', not two tokens"},
        {"", "merge 1 is '', not two tokens"},
        {" a", "merge 1 is ' a', not two tokens"},
        {"a ", "merge 1 is 'a ', not two tokens"},
        {"a b c", "merge 1 is 'a b c', not two tokens"},
    };
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
        v = byte_level();
        v->merges[1] = merges[i].merge;
        refused(v, LS_E_FORMAT, merges[i].message, "tokenizer.ggml.merges[1]");
    }
}

static void faults_of_sentencepiece(void **state)
{
    vocabulary *v = sentencepiece();
    v->score_count = 0;
    refused(v, LS_E_FORMAT, "needs scores", "tokenizer.ggml.scores");
    v = sentencepiece();
    v->score_count--;
    refused(v, LS_E_FORMAT, "one for each token", "tokenizer.ggml.scores");
    v = sentencepiece();
    v->scores[A] = (float)strtod("nan", NULL);
    refused(v, LS_E_FORMAT, "must be a number", "tokenizer.ggml.scores[258]");
    v = sentencepiece();
    v->bools[0] = "remove_extra_whitespaces";
    v->truth[0] = true;
    refused(v, LS_E_UNSUPPORTED, "rules that are not known", "remove_extra_whitespaces");
}

static void calls_are_checked(void **state)
{
    ls_tokenizer *t = open_good(byte_level());
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    ls_decode_params back = LS_DECODE_PARAMS_INIT;
    uint64_t count = 1;
    assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 1, &count, NULL), LS_E_INVALID_ARGUMENT);
    assert_int_equal(count, 0);
    assert_int_equal(ls_tokenizer_encode(NULL, &params, NULL, 0, &count, NULL),
                     LS_E_INVALID_ARGUMENT);
    params.length = 1;
    assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL), LS_E_INVALID_ARGUMENT);
    params.text = "";
    params.length = LS_TEXT_BYTES_MAX + 1;
    assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL), LS_E_LIMIT);
    params.struct_size = 0;
    assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL), LS_E_VERSION);
    back.count = 1;
    assert_int_equal(ls_tokenizer_decode(t, &back, NULL, 0, &count, NULL), LS_E_INVALID_ARGUMENT);
    back.struct_size = 0;
    assert_int_equal(ls_tokenizer_decode(t, &back, NULL, 0, &count, NULL), LS_E_VERSION);
    ls_tokenizer_destroy(&t);
    assert_int_equal(ls_tokenizer_create(NULL, &t, NULL), LS_E_INVALID_ARGUMENT);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void out_of_memory_anywhere(void **state)
{
    const vocabulary *models[] = {byte_level(), sentencepiece()};
    static file f;
    for (size_t i = 0; i < 2; i++) {
        ls_gguf *gguf = NULL;
        ls_tokenizer *t = NULL;
        ls_status status = LS_E_OUT_OF_MEMORY;
        make_file(&f, models[i]);
        assert_int_equal(ls_gguf_open_memory(f.bytes, f.size, "test.gguf", &gguf, NULL), LS_OK);
        for (uint64_t n = 1; status != LS_OK; n++) {
            ls_error error;
            assert_true(n < 1000);
            ls__mem_fail_after(n);
            status = ls_tokenizer_create(gguf, &t, &error);
            ls__mem_fail_after(0);
            if (status != LS_OK && (status != LS_E_OUT_OF_MEMORY || t))
                fail_msg("allocation %u: %s", (unsigned)n, error.message);
        }
        ls_gguf_destroy(&gguf);
        status = LS_E_OUT_OF_MEMORY;
        for (uint64_t n = 1; status != LS_OK; n++) {
            ls_encode_params params = LS_ENCODE_PARAMS_INIT;
            uint64_t count = 1;
            assert_true(n < 100);
            params.text = "abc abc 12\xff";
            params.length = strlen(params.text);
            ls__mem_fail_after(n);
            status = ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL);
            ls__mem_fail_after(0);
            assert_true(status == LS_OK ? count > 0 : status == LS_E_OUT_OF_MEMORY && !count);
        }
        ls_tokenizer_destroy(&t);
    }
}

/* Texts on which something quadratic would take minutes. */
static void long_words_take_no_square(void **state)
{
    enum { BYTES = 1 << 17 };
    static const char *const patterns[] = {"a", "ab", "abc", " ", "A", "\n ", "\xe4\xb8\x80", "1"};
    static const char *const pres[] = {"gpt-2", "llama-bpe", "smollm", "tekken", "deepseek-llm"};
    char *text = malloc(BYTES);
    assert_non_null(text);
    for (size_t p = 0; p < 6; p++) {
        vocabulary *v = p < 5 ? byte_level() : sentencepiece();
        v->pre = p < 5 ? pres[p] : NULL;
        ls_tokenizer *t = open_good(v);
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            ls_encode_params params = LS_ENCODE_PARAMS_INIT;
            uint64_t count;
            size_t length = strlen(patterns[i]);
            for (size_t at = 0; at < BYTES; at++)
                text[at] = patterns[i][at % length];
            memcpy(text + BYTES - 3, "\xe0\xb8\x81", 3); /* a letter that few patterns name */
            params.text = text;
            params.length = BYTES;
            assert_int_equal(ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL), LS_OK);
            assert_true(count >= BYTES / 6);
        }
        ls_tokenizer_destroy(&t);
    }
    free(text);
}

/* --- threads ---------------------------------------------------------------------------------- */

typedef struct job {
    const ls_tokenizer *t;
    uint64_t count;
    uint32_t ids[256];
} job;

static void *encode_often(void *context)
{
    job *j = context;
    for (int i = 0; i < 200; i++) {
        ls_encode_params params = LS_ENCODE_PARAMS_INIT;
        params.text = "abc ab a<u>  12 abcab\xff\xfe c\n\n <end> x";
        params.length = strlen(params.text);
        params.special = true;
        if (ls_tokenizer_encode(j->t, &params, j->ids, 256, &j->count, NULL) != LS_OK)
            j->count = 0;
    }
    return NULL;
}

static void threads_share_a_tokenizer(void **state)
{
    enum { THREADS = 4 };
    static job jobs[THREADS];
    pthread_t threads[THREADS];
    ls_tokenizer *t = open_good(byte_level());
    for (int i = 0; i < THREADS; i++) {
        jobs[i].t = t;
        assert_int_equal(pthread_create(&threads[i], NULL, encode_often, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(jobs[0].count > 0);
    for (int i = 1; i < THREADS; i++) {
        assert_int_equal(jobs[i].count, jobs[0].count);
        assert_memory_equal(jobs[i].ids, jobs[0].ids, jobs[0].count * sizeof *jobs[0].ids);
    }
    ls_tokenizer_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_merged),
        cmocka_unit_test(special_tokens_are_found),
        cmocka_unit_test(whole_words_go_first),
        cmocka_unit_test(sentencepiece_merges_by_score),
        cmocka_unit_test(bytes_without_tokens),
        cmocka_unit_test(ids_become_text),
        cmocka_unit_test(tokens_are_described),
        cmocka_unit_test(characters_are_not_split),
        cmocka_unit_test(faults_of_any_model),
        cmocka_unit_test(faults_of_byte_level),
        cmocka_unit_test(faults_of_sentencepiece),
        cmocka_unit_test(calls_are_checked),
        cmocka_unit_test(out_of_memory_anywhere),
        cmocka_unit_test(long_words_take_no_square),
        cmocka_unit_test(threads_share_a_tokenizer),
    };
    return cmocka_run_group_tests_name("tokenizer_read", tests, NULL, NULL);
}
