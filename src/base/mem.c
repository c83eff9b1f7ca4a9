/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns heap allocation for the whole library. The countdown of ls__mem_fail_after is the one piece
 * of mutable global state: a test hook, per thread, off unless a test sets it.
 */
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

char *ls__mem_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ls__mem_alloc(1, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

void ls__mem_fail_after(uint64_t n)
{
    fail_countdown = n;
}
