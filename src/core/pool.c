/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that each submission needs for a while: the submission itself, its fence, rows. Blocks
 * that come back are kept for the next submission, so that a loop which submits the same prepared
 * batch again and again allocates nothing.
 *
 * Sizes are rounded up to powers of two, and each size keeps a few blocks: two from the start,
 * since who waits for a submission may make the next one before the thread that ended it has given
 * its memory back. Under the address sanitizer a kept block is poisoned, so that a use after its
 * release is still found.
 */
#include <stdalign.h>
#include <string.h>

#include "core/core.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONS 1
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

enum { LEAST_BYTES = 256, KEPT_A_CLASS = 4 };

struct ls__spare { /* the head of a block */
    alignas(max_align_t) ls__spare *next;
    size_t bytes; /* behind the head */
};

/* LS__POOL_CLASSES when the size is too large to be kept. */
static uint32_t class_of(size_t bytes)
{
    uint32_t class = 0;
    while (class < LS__POOL_CLASSES && (size_t)LEAST_BYTES << class < bytes)
        class ++;
    return class;
}

static ls__spare *new_block(size_t bytes)
{
    size_t total;
    if (__builtin_add_overflow(bytes, sizeof(ls__spare), &total))
        return NULL;
    ls__spare *block = ls__mem_alloc(total, 1);
    if (block)
        block->bytes = bytes;
    return block;
}

void *ls__pool_alloc(ls_device *device, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    uint32_t class = class_of(bytes);
    ls__spare *block = NULL;
    if (class < LS__POOL_CLASSES) {
        pthread_mutex_lock(&device->lock);
        block = device->pool.first[class];
        if (block) {
            device->pool.first[class] = block->next;
            device->pool.count[class]--;
        }
        pthread_mutex_unlock(&device->lock);
    }
    if (block) {
        ASAN_UNPOISON_MEMORY_REGION(block + 1, block->bytes);
        memset(block + 1, 0, bytes);
        return block + 1;
    }
    if (class < LS__POOL_CLASSES) {
        bytes = (size_t)LEAST_BYTES << class;
        ls__spare *second = new_block(bytes);
        if (second)
            ls__pool_free(device, second + 1);
    }
    block = new_block(bytes);
    return block ? block + 1 : NULL;
}

void ls__pool_free(ls_device *device, void *memory)
{
    if (!memory)
        return;
    ls__spare *block = (ls__spare *)memory - 1;
    uint32_t class = class_of(block->bytes);
    if (class < LS__POOL_CLASSES) {
        pthread_mutex_lock(&device->lock);
        bool keep = device->pool.count[class] < KEPT_A_CLASS;
        if (keep) {
            ASAN_POISON_MEMORY_REGION(block + 1, block->bytes);
            block->next = device->pool.first[class];
            device->pool.first[class] = block;
            device->pool.count[class]++;
        }
        pthread_mutex_unlock(&device->lock);
        if (keep)
            return;
    }
    ls__mem_free(block);
}

void ls__pool_clear(ls_device *device)
{
    for (uint32_t i = 0; i < LS__POOL_CLASSES; i++) {
        while (device->pool.first[i]) {
            ls__spare *block = device->pool.first[i];
            device->pool.first[i] = block->next;
            ASAN_UNPOISON_MEMORY_REGION(block + 1, block->bytes);
            ls__mem_free(block);
        }
        device->pool.count[i] = 0;
    }
}
