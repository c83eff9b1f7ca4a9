/* SPDX-License-Identifier: Apache-2.0 */
/* Small vocabularies as files. */
#include "tokenizer/small_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(file *f, const void *bytes, size_t size)
{
    if (size > sizeof f->bytes - f->size)
        abort();
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void put_u32(file *f, uint32_t number)
{
    put(f, &number, sizeof number);
}

static void put_u64(file *f, uint64_t number)
{
    put(f, &number, sizeof number);
}

static void put_text(file *f, const char *text)
{
    put_u64(f, strlen(text));
    put(f, text, strlen(text));
}

static void put_key(file *f, const char *key, ls_gguf_kind kind)
{
    char whole[64];
    snprintf(whole, sizeof whole, "tokenizer.ggml.%s", key);
    put_text(f, whole);
    put_u32(f, kind);
    f->values++;
}

static void put_list(file *f, const char *key, ls_gguf_kind kind, uint64_t count)
{
    put_key(f, key, LS_GGUF_ARRAY);
    put_u32(f, kind);
    put_u64(f, count);
}

static void put_vocabulary(file *f, const vocabulary *v)
{
    if (v->model) {
        put_key(f, "model", LS_GGUF_STRING);
        put_text(f, v->model);
    }
    if (v->pre) {
        put_key(f, "pre", LS_GGUF_STRING);
        put_text(f, v->pre);
    }
    if (v->token_count)
        put_list(f, "tokens", LS_GGUF_STRING, v->token_count);
    for (uint32_t i = 0; i < v->token_count; i++)
        put_text(f, v->tokens[i]);
    if (v->kind_count) {
        put_list(f, "token_type", LS_GGUF_I32, v->kind_count);
        put(f, v->kinds, v->kind_count * sizeof *v->kinds);
    }
    if (v->score_count) {
        put_list(f, "scores", LS_GGUF_F32, v->score_count);
        put(f, v->scores, v->score_count * sizeof *v->scores);
    }
    if (v->merge_count)
        put_list(f, "merges", LS_GGUF_STRING, v->merge_count);
    for (uint32_t i = 0; i < v->merge_count; i++)
        put_text(f, v->merges[i]);
    for (size_t i = 0; i < 8 && v->numbers[i]; i++) {
        put_key(f, v->numbers[i], LS_GGUF_U32);
        put_u32(f, v->number[i]);
    }
    for (size_t i = 0; i < 4 && v->bools[i]; i++) {
        put_key(f, v->bools[i], LS_GGUF_BOOL);
        put(f, &v->truth[i], 1);
    }
}

void make_file(file *f, const vocabulary *v)
{
    memset(f, 0, sizeof *f);
    put(f, "GGUF", 4);
    put_u32(f, 3);
    put_u64(f, 0);
    put_u64(f, 0);
    put_vocabulary(f, v);
    memcpy(f->bytes + 16, &f->values, sizeof f->values);
}

static uint32_t add(vocabulary *v, const char *token, int32_t kind, float score)
{
    uint32_t id = v->token_count++;
    v->tokens[id] = token;
    v->kinds[id] = kind;
    v->scores[id] = score;
    v->kind_count = v->token_count;
    return id;
}

vocabulary *byte_level(void)
{
    static vocabulary v;
    static char names[256][3];
    memset(&v, 0, sizeof v);
    v.model = "gpt2";
    v.pre = "gpt-2";
    for (uint32_t byte = 0, next = 0x100; byte < 256; byte++) {
        bool visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        uint32_t code = visible ? byte : next++;
        char *name = names[byte];
        if (code < 0x80) {
            name[0] = (char)code;
        } else {
            name[0] = (char)(0xc0 | code >> 6);
            name[1] = (char)(0x80 | (code & 0x3f));
        }
        add(&v, name, LS_TOKEN_NORMAL, 0);
    }
    add(&v, "ab", LS_TOKEN_NORMAL, 0);
    add(&v, "abc", LS_TOKEN_NORMAL, 0);
    add(&v,
        "\xc4\xa0"
        "a",
        LS_TOKEN_NORMAL, 0);
    add(&v, "<end>", LS_TOKEN_CONTROL, 0);
    add(&v, "<s>", LS_TOKEN_CONTROL, 0);
    add(&v, "<u>", LS_TOKEN_USER_DEFINED, 0);
    add(&v, "<u><u>", LS_TOKEN_USER_DEFINED, 0);
    v.merges[0] = "a b";
    v.merges[1] = "\xc4\xa0 a";
    v.merges[2] = "ab c";
    v.merge_count = 3;
    v.numbers[0] = "eos_token_id";
    v.number[0] = END;
    v.numbers[1] = "bos_token_id";
    v.number[1] = BOS;
    return &v;
}

vocabulary *sentencepiece(void)
{
    static vocabulary v;
    static char names[256][8];
    memset(&v, 0, sizeof v);
    v.model = "llama";
    add(&v, "<unk>", LS_TOKEN_UNKNOWN, 0);
    for (uint32_t byte = 0; byte < 256; byte++) {
        snprintf(names[byte], sizeof names[byte], "<0x%02X>", byte);
        add(&v, names[byte], LS_TOKEN_BYTE, 0);
    }
    add(&v, "\xe2\x96\x81", LS_TOKEN_NORMAL, -10);
    add(&v, "a", LS_TOKEN_NORMAL, -11);
    add(&v, "b", LS_TOKEN_NORMAL, -12);
    add(&v, "c", LS_TOKEN_NORMAL, -13);
    add(&v,
        "\xe2\x96\x81"
        "a",
        LS_TOKEN_NORMAL, -3);
    add(&v, "ab", LS_TOKEN_NORMAL, -2);
    add(&v, "bc", LS_TOKEN_NORMAL, -2);
    add(&v,
        "\xe2\x96\x81"
        "abc",
        LS_TOKEN_NORMAL, -4);
    add(&v, "<s>", LS_TOKEN_CONTROL, 0);
    add(&v, "<u>", LS_TOKEN_USER_DEFINED, 0);
    v.score_count = v.token_count;
    v.numbers[0] = "unknown_token_id";
    v.number[0] = UNK;
    v.numbers[1] = "bos_token_id";
    v.number[1] = SP_BOS;
    return &v;
}
