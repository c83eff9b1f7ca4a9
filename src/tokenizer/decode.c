/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens to text: their bytes, one behind the other, less the space that encoding put in front. */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "tokenizer/vocabulary.h"

typedef struct output {
    char *text;
    uint64_t capacity, length;
} output;

static void append(output *out, const uint8_t *bytes, uint32_t length)
{
    if (out->length < out->capacity) {
        uint64_t room = out->capacity - out->length;
        memcpy(out->text + out->length, bytes, length < room ? length : (size_t)room);
    }
    out->length += length;
}

ls_status ls_tokenizer_decode(const ls_tokenizer *t, const ls_decode_params *given, char *text,
                              uint64_t capacity, uint64_t *length, ls_error *error)
{
    if (length)
        *length = 0;
    if (!t || !given || !length || (capacity && !text))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "tokenizer, params, text or length is NULL");
    ls_decode_params params;
    ls_status status =
        ls__params_in(&params, sizeof params, given, false, "ls_tokenizer_decode", error);
    if (status != LS_OK)
        return status;
    if (params.count && !params.ids)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ids is NULL");
    output out = {text, capacity, 0};
    bool at_front = t->info.adds_space && !params.continues;
    for (uint64_t i = 0; i < params.count; i++) {
        uint32_t id = params.ids[i];
        if (id >= t->info.token_count)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "id %u, item %llu, is not in the vocabulary of %u tokens", id,
                            (unsigned long long)i, t->info.token_count);
        ls_token_kind kind = (ls_token_kind)t->kinds[id];
        const uint8_t *bytes = t->bytes + t->places[id];
        uint32_t count = ls__token_length(t, id);
        bool literal = ls__token_is_literal(kind);
        if (literal && kind != LS_TOKEN_USER_DEFINED && !params.special)
            count = 0;
        if (at_front && !literal && count && *bytes == ' ')
            bytes++, count--;
        append(&out, bytes, count);
        at_front = t->info.adds_space && literal;
    }
    *length = out.length;
    return LS_OK;
}
