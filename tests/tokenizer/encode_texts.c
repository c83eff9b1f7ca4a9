/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of many texts, for scripts: encode_texts MODEL.gguf [special] <TEXTS >IDS
 *
 * A text is its length, 4 bytes little-endian, and its bytes; the answer is how many ids there are
 * and the ids, 4 bytes each. Without `special`, each text must also come back from its ids.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/tokenizer.h"

static int failed(const ls_error *error)
{
    fprintf(stderr, "%s (%s) %s\n", error->message, error->where, error->hint);
    return 1;
}

static int comes_back(const ls_tokenizer *t, const uint32_t *ids, uint64_t count, const char *text,
                      uint32_t length)
{
    ls_decode_params params = LS_DECODE_PARAMS_INIT;
    ls_error error;
    uint64_t decoded;
    char *again = malloc((size_t)length + 1);
    params.ids = ids;
    params.count = count;
    if (!again || ls_tokenizer_decode(t, &params, again, length, &decoded, &error) != LS_OK)
        exit(2);
    int same = decoded == length && memcmp(again, text, length) == 0;
    free(again);
    return same;
}

int main(int argc, char **argv)
{
    ls_gguf *gguf;
    ls_tokenizer *t;
    ls_error error;
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    uint32_t length;
    params.special = argc > 2 && strcmp(argv[2], "special") == 0;
    params.bare = true;
    if (argc < 2 || ls_gguf_open(argv[1], &gguf, &error) != LS_OK)
        return argc < 2 ? 2 : failed(&error);
    if (ls_tokenizer_create(gguf, &t, &error) != LS_OK)
        return failed(&error);
    ls_gguf_destroy(&gguf);
    for (uint32_t number = 0; fread(&length, sizeof length, 1, stdin) == 1; number++) {
        char *text = malloc((size_t)length + 1);
        uint64_t count, capacity = (uint64_t)length + 16;
        uint32_t *ids = malloc((size_t)capacity * sizeof *ids);
        if (!text || !ids || fread(text, 1, length, stdin) != length)
            return 2;
        params.text = text;
        params.length = length;
        if (ls_tokenizer_encode(t, &params, ids, capacity, &count, &error) != LS_OK)
            return failed(&error);
        if (!params.special && !comes_back(t, ids, count, text, length)) {
            fprintf(stderr, "text %" PRIu32 " does not come back from its ids\n", number);
            return 1;
        }
        uint32_t words = (uint32_t)count;
        fwrite(&words, sizeof words, 1, stdout);
        fwrite(ids, sizeof *ids, words, stdout);
        free(text);
        free(ids);
    }
    ls_tokenizer_destroy(&t);
    return 0;
}
