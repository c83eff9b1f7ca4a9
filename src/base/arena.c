/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the arena: a list of heap blocks, the newest first, each filled from its start. Blocks
 * double in size up to a cap, and an allocation that does not fit gets a block at least as large as
 * itself. Memory is zero because blocks come zeroed, and are zeroed before they are spare. Under
 * AddressSanitizer what is not handed out is poisoned, so that running over the end of an arena
 * object is reported as it would be for heap objects.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LS__ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LS__ASAN 1
#endif

#ifdef LS__ASAN
#include <sanitizer/asan_interface.h>
#define POISON(memory, bytes) ASAN_POISON_MEMORY_REGION((memory), (bytes))
#define UNPOISON(memory, bytes) ASAN_UNPOISON_MEMORY_REGION((memory), (bytes))
#define GAP_BYTES 16u /* stays poisoned behind each object */
#else
#define POISON(memory, bytes) ((void)(memory), (void)(bytes))
#define UNPOISON(memory, bytes) ((void)(memory), (void)(bytes))
#define GAP_BYTES 0u
#endif

#define ALIGNMENT 16u
#define BLOCK_MIN_BYTES ((size_t)4096)
#define BLOCK_MAX_BYTES ((size_t)1 << 20)
#define SPARE_MAX_BYTES ((size_t)4 << 20) /* of a block that is worth keeping */

typedef struct ls__arena_block {
    struct ls__arena_block *next;
    size_t size, used; /* of the bytes behind this header */
} ls__arena_block;

#define HEADER_BYTES ((sizeof(ls__arena_block) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1))

static char *block_bytes(ls__arena_block *block)
{
    return (char *)block + HEADER_BYTES;
}

__attribute__((noreturn)) static void fail(ls__arena *arena, size_t requested, bool over_limit)
{
    arena->oom->requested_bytes = requested;
    arena->oom->over_limit = over_limit;
    longjmp(arena->oom->jump, 1);
}

void ls__arena_init(ls__arena *arena, ls__oom *oom, size_t limit_bytes)
{
    *arena = (ls__arena){.oom = oom, .limit_bytes = limit_bytes};
}

static void free_blocks(ls__arena_block **blocks)
{
    ls__arena_block *block = *blocks;
    while (block) {
        ls__arena_block *next = block->next;
        UNPOISON(block_bytes(block), block->size);
        ls__mem_free(block);
        block = next;
    }
    *blocks = NULL;
}

static void keep_blocks(ls__arena *arena)
{
    ls__arena_block **place = &arena->blocks, *block;
    while ((block = *place)) {
        if (block->size > SPARE_MAX_BYTES) {
            place = &block->next; /* this one is freed */
            continue;
        }
        *place = block->next;
        UNPOISON(block_bytes(block), block->used);
        memset(block_bytes(block), 0, block->used);
        POISON(block_bytes(block), block->used);
        block->used = 0;
        block->next = *arena->spare;
        *arena->spare = block;
    }
}

void ls__arena_finish(ls__arena *arena)
{
    if (arena->spare)
        keep_blocks(arena);
    free_blocks(&arena->blocks);
    arena->used_bytes = 0;
}

void ls__arena_free_spare(ls__arena_block **spare)
{
    free_blocks(spare);
}

static ls__arena_block *take_spare(ls__arena *arena, size_t needed)
{
    ls__arena_block **place = arena->spare, *block;
    while (place && (block = *place)) {
        if (block->size >= needed) {
            *place = block->next;
            return block;
        }
        place = &block->next;
    }
    return NULL;
}

static ls__arena_block *new_block(ls__arena *arena, size_t needed)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : BLOCK_MIN_BYTES - HEADER_BYTES;
    if (size > BLOCK_MAX_BYTES)
        size = BLOCK_MAX_BYTES;
    if (size < needed)
        size = needed;
    if (size > SIZE_MAX - HEADER_BYTES)
        return NULL;
    ls__arena_block *block = take_spare(arena, needed);
    if (!block) {
        block = ls__mem_alloc(1, HEADER_BYTES + size);
        if (!block)
            return NULL;
        block->size = size;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    POISON(block_bytes(block), block->size);
    return block;
}

void *ls__arena_alloc(ls__arena *arena, size_t count, size_t size)
{
    size_t bytes;
    assert(arena->oom);
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT - GAP_BYTES)
        fail(arena, SIZE_MAX, false);

    size_t needed = (bytes + GAP_BYTES + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (needed == 0)
        needed = ALIGNMENT;
    if (arena->limit_bytes &&
        (arena->used_bytes > arena->limit_bytes || needed > arena->limit_bytes - arena->used_bytes))
        fail(arena, bytes, true);

    ls__arena_block *block = arena->blocks;
    if (!block || needed > block->size - block->used) {
        block = new_block(arena, needed);
        if (!block)
            fail(arena, bytes, false);
    }
    char *memory = block_bytes(block) + block->used;
    block->used += needed;
    arena->used_bytes += needed;
    UNPOISON(memory, bytes);
    return memory;
}

char *ls__arena_strdup(ls__arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        fail(arena, length, false);
    char *copy = ls__arena_alloc(arena, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *ls__arena_printf(ls__arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        fail(arena, SIZE_MAX, false);

    size_t bytes = (size_t)length + 1;
    char *text = ls__arena_alloc(arena, bytes, 1);
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    return text;
}

ls_status ls__oom_status(const ls__oom *oom, ls_error *error)
{
    if (!oom->over_limit)
        return ls__fail_oom(error, oom->requested_bytes);
    return ls__fail(error, LS_E_LIMIT,
                    "the memory limit for this input is exceeded by a request of %zu bytes",
                    oom->requested_bytes);
}

void *ls__vec_grow(ls__arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (*capacity > UINT32_MAX / 2)
        fail(arena, SIZE_MAX, true);
    uint32_t grown = *capacity ? *capacity * 2 : 8;
    char *moved = ls__arena_alloc(arena, grown, size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = grown;
    return moved;
}
