/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a tokenizer, and what is asked of them. */
#include "tokenizer/vocabulary.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"

uint32_t ls__token_hash(const uint8_t *bytes, size_t length)
{
    return (uint32_t)ls__hash64(bytes, length, 0);
}

static bool has_bytes(const ls_tokenizer *t, uint32_t id, const uint8_t *bytes, size_t length)
{
    return ls__token_length(t, id) == length &&
           memcmp(t->bytes + t->places[id], bytes, length) == 0;
}

uint32_t ls__token_part(const ls_tokenizer *t, const uint8_t *bytes, size_t length)
{
    if (length > t->longest_part)
        return LS_NO_TOKEN;
    uint32_t hash = ls__token_hash(bytes, length);
    for (uint32_t at = hash & t->slot_mask;; at = (at + 1) & t->slot_mask) {
        const ls__token_slot *slot = &t->slots[at];
        if (slot->id == LS_NO_TOKEN)
            return LS_NO_TOKEN;
        if (slot->hash == hash && ls__token_is_part((ls_token_kind)t->kinds[slot->id]) &&
            has_bytes(t, slot->id, bytes, length))
            return slot->id;
    }
}

/* --- pairs ------------------------------------------------------------------------------------ */

static ls__merge_slot *merge_slot(const ls_tokenizer *t, uint32_t left, uint32_t right)
{
    uint64_t key = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t at = (uint32_t)(key >> 32) & t->merge_mask;; at = (at + 1) & t->merge_mask) {
        ls__merge_slot *slot = &t->merges[at];
        if ((slot->left == left && slot->right == right) || slot->left == LS_NO_TOKEN)
            return slot;
    }
}

ls__token_merge ls__token_merged(const ls_tokenizer *t, uint32_t left, uint32_t right)
{
    const ls__merge_slot *slot = merge_slot(t, left, right);
    return (ls__token_merge){slot->rank, slot->id};
}

bool ls__token_add_merge(ls_tokenizer *t, uint32_t left, uint32_t right, uint32_t rank, uint32_t id)
{
    ls__merge_slot *slot = merge_slot(t, left, right);
    if (slot->left != LS_NO_TOKEN)
        return false;
    *slot = (ls__merge_slot){left, right, rank, id};
    return true;
}

/* --- the public calls ------------------------------------------------------------------------- */

void ls_tokenizer_describe(const ls_tokenizer *t, ls_tokenizer_info *info)
{
    size_t size = info->struct_size < sizeof t->info ? info->struct_size : sizeof t->info;
    ls_tokenizer_info all = t->info;
    all.struct_size = info->struct_size;
    memcpy(info, &all, size);
}

const char *ls_token_kind_name(ls_token_kind kind)
{
    switch (kind) {
#define X(name, number, text)                                                                      \
    case LS_TOKEN_##name:                                                                          \
        return text;
        LS_TOKEN_KIND_TABLE(X)
#undef X
    }
    return "unknown kind";
}

ls_status ls_tokenizer_token(const ls_tokenizer *t, uint32_t id, ls_token *token, ls_error *error)
{
    if (!t || !token)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "tokenizer or token is NULL");
    *token = (ls_token){0};
    if (id >= t->info.token_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "there is no token %u: the vocabulary has %u, from 0", id,
                        t->info.token_count);
    *token = (ls_token){
        .bytes = (const char *)t->bytes + t->places[id],
        .length = ls__token_length(t, id),
        .kind = (ls_token_kind)t->kinds[id],
        .score = t->scores ? t->scores[id] : 0,
        .ends_text = t->ends[id],
    };
    return LS_OK;
}

uint32_t ls_tokenizer_find(const ls_tokenizer *t, const char *text, uint64_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    uint32_t found = LS_NO_TOKEN;
    if (length == 0 || length > t->info.longest_bytes)
        return LS_NO_TOKEN;
    uint32_t hash = ls__token_hash(bytes, (size_t)length);
    for (uint32_t at = hash & t->slot_mask;; at = (at + 1) & t->slot_mask) {
        uint32_t id = t->slots[at].id;
        if (id == LS_NO_TOKEN)
            return found;
        if (t->slots[at].hash != hash || !has_bytes(t, id, bytes, (size_t)length))
            continue;
        if (ls__token_is_literal((ls_token_kind)t->kinds[id]))
            return id;
        if (found == LS_NO_TOKEN)
            found = id;
    }
}
