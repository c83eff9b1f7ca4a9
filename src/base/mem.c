/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns heap allocation for the whole library. The countdown of ls__mem_fail_after is the one piece
 * of mutable global state: a test hook, per thread, off unless a test sets it.
 */
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lockstep/base.h"

static _Thread_local uint64_t fail_countdown; /* 0 = off, 1 = the next allocation fails */

static bool must_fail(void)
{
    if (fail_countdown > 1)
        fail_countdown--;
    else if (fail_countdown == 1)
        return true;
    return false;
}

void *ls__mem_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail())
        return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *ls__mem_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail())
        return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void ls__mem_free(void *memory)
{
    free(memory);
}

/* --- data ------------------------------------------------------------------------------------ */

enum { LINE_BYTES = 64, HUGE_PAGE_BYTES = 1 << 21 };

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* Whole huge pages: more is mapped, and what lies before and behind them is given back. */
static void *map_data(size_t bytes)
{
    size_t wanted = round_up(bytes, HUGE_PAGE_BYTES), mapped = wanted + HUGE_PAGE_BYTES;
    uint8_t *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = round_up((uintptr_t)start, HUGE_PAGE_BYTES) - (uintptr_t)start;
    if (before)
        munmap(start, before);
    if (mapped - before > wanted)
        munmap(start + before + wanted, mapped - before - wanted);
#ifdef MADV_HUGEPAGE
    (void)madvise(start + before, wanted, MADV_HUGEPAGE);
#endif
    return start + before;
}

void *ls__mem_alloc_data(size_t bytes)
{
    if (bytes > SIZE_MAX / 2 || must_fail())
        return NULL;
    if (bytes >= HUGE_PAGE_BYTES)
        return map_data(bytes);
    size_t rounded = round_up(bytes ? bytes : 1, LINE_BYTES);
    void *memory = aligned_alloc(LINE_BYTES, rounded);
    return memory ? memset(memory, 0, rounded) : NULL;
}

void ls__mem_free_data(void *memory, size_t bytes)
{
    if (memory && bytes >= HUGE_PAGE_BYTES)
        munmap(memory, round_up(bytes, HUGE_PAGE_BYTES));
    else
        free(memory);
}

/* --- text, tests ------------------------------------------------------------------------------ */

char *ls__mem_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ls__mem_alloc(1, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void ls_text_destroy(char **text)
{
    if (!text)
        return;
    ls__mem_free(*text);
    *text = NULL;
}

void ls__mem_fail_after(uint64_t n)
{
    fail_countdown = n;
}
