/* SPDX-License-Identifier: Apache-2.0 */
/* The containers of the reader (reader.h), all of arena memory: packed pieces, lists in blocks,
 * tables of names. */
#include "netlist/reader.h"

#include <string.h>

/* --- pieces ----------------------------------------------------------------------------------- */

enum { PACK_BYTES = 1 << 15 };

void *ls__pack_take(ls__pack *pack, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PACK_BYTES / 4)
        return ls__arena_alloc(pack->arena, count, size);
    bytes = (bytes + 3) & ~(size_t)3;
    if (bytes > pack->left) {
        pack->at = ls__arena_alloc(pack->arena, PACK_BYTES, 1);
        pack->left = PACK_BYTES;
    }
    void *piece = pack->at;
    pack->at += bytes;
    pack->left -= bytes;
    return piece;
}

/* --- lists ------------------------------------------------------------------------------------ */

enum { FIRST_ITEMS = 4, MOST_ITEMS = 1024, BLOCK_HEADER = 32 };

_Static_assert(sizeof(ls__list_block) <= BLOCK_HEADER, "items of a block stay aligned");

void *ls__list_item(ls__list_block *block, uint32_t item_bytes, uint32_t index)
{
    return (char *)block + BLOCK_HEADER + (size_t)item_bytes * index;
}

void *ls__list_add(ls__arena *arena, ls__list *list)
{
    ls__list_block *block = list->last;
    if (!block || block->count == block->capacity) {
        uint32_t capacity = block ? block->capacity * 4 : FIRST_ITEMS;
        if (capacity > MOST_ITEMS)
            capacity = MOST_ITEMS;
        block = ls__arena_alloc(arena, BLOCK_HEADER + (size_t)capacity * list->item_bytes, 1);
        block->capacity = capacity;
        if (list->last)
            list->last->next = block;
        else
            list->first = block;
        list->last = block;
    }
    list->count++;
    return ls__list_item(block, list->item_bytes, block->count++);
}

/* --- names ------------------------------------------------------------------------------------ */

static uint32_t find_slot(const ls__names *names, ls__str text, uint64_t hash)
{
    uint32_t mask = names->capacity - 1, slot = (uint32_t)hash & mask;
    for (; names->slots[slot]; slot = (slot + 1) & mask) {
        const ls__name *name = names->slots[slot];
        if (name->hash == hash && name->length == text.length &&
            memcmp(name->text, text.text, text.length) == 0)
            break;
    }
    return slot;
}

static void grow_names(ls__arena *arena, ls__names *names)
{
    ls__names grown = {.capacity = names->capacity ? names->capacity * 2 : 64,
                       .count = names->count};
    grown.slots = LS__NEW_ARRAY(arena, ls__name *, grown.capacity);
    for (uint32_t i = 0; i < names->capacity; i++) {
        ls__name *name = names->slots[i];
        if (name)
            grown.slots[find_slot(&grown, (ls__str){name->text, name->length}, name->hash)] = name;
    }
    *names = grown;
}

ls__name *ls__names_put(ls__arena *arena, ls__names *names, ls__str text, bool *added)
{
    if (names->count >= names->capacity / 2)
        grow_names(arena, names);
    uint64_t hash = ls__hash64(text.text, text.length, 0);
    uint32_t slot = find_slot(names, text, hash);
    *added = !names->slots[slot];
    if (*added) {
        ls__name *name = ls__arena_alloc(arena, sizeof(ls__name) + text.length + 1, 1);
        name->hash = hash;
        name->length = (uint32_t)text.length;
        memcpy(name->text, text.text, text.length);
        names->slots[slot] = name;
        names->count++;
    }
    return names->slots[slot];
}

ls__name *ls__names_find(const ls__names *names, ls__str text)
{
    if (!names->capacity)
        return NULL;
    return names->slots[find_slot(names, text, ls__hash64(text.text, text.length, 0))];
}

static bool put_text(ls__text_set *set, const char *text, uint32_t hash)
{
    uint32_t mask = set->capacity - 1, slot = hash & mask;
    for (; set->slots[slot].text; slot = (slot + 1) & mask) {
        if (set->slots[slot].hash == hash && strcmp(set->slots[slot].text, text) == 0)
            return false;
    }
    set->slots[slot].text = text;
    set->slots[slot].hash = hash;
    return true;
}

bool ls__text_set_add(ls__arena *arena, ls__text_set *set, const char *text)
{
    if (set->count >= set->capacity / 2) {
        ls__text_set grown = {.capacity = set->capacity ? set->capacity * 2 : 64,
                              .count = set->count};
        grown.slots = ls__arena_alloc(arena, grown.capacity, sizeof *grown.slots);
        for (uint32_t i = 0; i < set->capacity; i++) {
            if (set->slots[i].text)
                put_text(&grown, set->slots[i].text, set->slots[i].hash);
        }
        *set = grown;
    }
    bool added = put_text(set, text, (uint32_t)ls__hash64(text, strlen(text), 0));
    set->count += added;
    return added;
}

void ls__text_set_clear(ls__text_set *set)
{
    *set = (ls__text_set){0}; /* what follows may be small: clearing a large table is no gain */
}
