/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to tokens and back on any bytes: what was encoded comes back. The first byte chooses the
 * vocabulary and the options. Bytes that begin with "GGUF" are a model file instead, whose
 * tokenizer is made and tried if it can be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/small_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static void round_trip(const ls_tokenizer *t, const uint8_t *bytes, size_t size, bool special,
                       bool exact)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    ls_decode_params back = LS_DECODE_PARAMS_INIT;
    uint64_t count, again, length;
    params.text = (const char *)bytes;
    params.length = size;
    params.special = special;
    params.bare = true;
    params.lossy = !exact;
    require(ls_tokenizer_encode(t, &params, NULL, 0, &count, NULL) == LS_OK);
    uint32_t *ids = malloc(count ? count * sizeof *ids : 1);
    require(ids != NULL);
    require(ls_tokenizer_encode(t, &params, ids, count, &again, NULL) == LS_OK && again == count);
    back.ids = ids;
    back.count = count;
    back.special = special;
    require(ls_tokenizer_decode(t, &back, NULL, 0, &length, NULL) == LS_OK);
    char *text = malloc(length ? length : 1);
    require(text != NULL);
    require(ls_tokenizer_decode(t, &back, text, length, &length, NULL) == LS_OK);
    require(ls_utf8_whole(text, length) <= length && ls_utf8_whole(text, length) + 3 >= length);
    if (exact)
        require(length == size && (size == 0 || memcmp(text, bytes, size) == 0));
    free(text);
    free(ids);
}

static const ls_tokenizer *tokenizer(uint32_t which)
{
    static const char *const pres[] = {"gpt-2",  "llama-bpe", "qwen2",
                                       "smollm", "tekken",    "deepseek-llm"};
    static ls_tokenizer *made[8];
    static file f;
    if (!made[which]) {
        ls_gguf *gguf = NULL;
        vocabulary *v = which < 6 ? byte_level() : sentencepiece();
        v->pre = which < 6 ? pres[which] : NULL;
        if (which == 7)
            v->bools[0] = "add_space_prefix"; /* false */
        make_file(&f, v);
        require(ls_gguf_open_memory(f.bytes, f.size, "small", &gguf, NULL) == LS_OK);
        require(ls_tokenizer_create(gguf, &made[which], NULL) == LS_OK);
        ls_gguf_destroy(&gguf);
    }
    return made[which];
}

static void try_file(const uint8_t *data, size_t size)
{
    static const char text[] = "Hello  world, it's 12345\xff \xe4\xb8\x96 <s></s>\n\n";
    ls_gguf *gguf = NULL;
    ls_tokenizer *t = NULL;
    ls_error error;
    if (ls_gguf_open_memory(data, size, "fuzz", &gguf, NULL) != LS_OK)
        return;
    ls_status status = ls_tokenizer_create(gguf, &t, &error);
    require((status == LS_OK) == (t != NULL) && (status == LS_OK || error.message[0]));
    ls_gguf_destroy(&gguf);
    if (t) {
        round_trip(t, (const uint8_t *)text, sizeof text - 1, true, false);
        round_trip(t, (const uint8_t *)text, sizeof text - 1, false, false);
    }
    ls_tokenizer_destroy(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (size >= 4 && memcmp(data, "GGUF", 4) == 0) {
        try_file(copy, size);
    } else if (size) {
        uint32_t which = copy[0] & 7;
        bool exact = true; /* SentencePiece cannot tell U+2581 from a space */
        for (size_t i = 1; which >= 6 && i + 2 < size; i++)
            exact = exact && memcmp(copy + i, "\xe2\x96\x81", 3) != 0;
        uint8_t *text = malloc(size > 1 ? size - 1 : 1);
        require(text != NULL);
        memcpy(text, copy + 1, size - 1);
        round_trip(tokenizer(which), text, size - 1, copy[0] & 8, exact);
        free(text);
    }
    free(copy);
    return 0;
}
