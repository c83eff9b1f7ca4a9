/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap allocation with checked products. All heap memory of the library passes here, so that tests
 * can make the n-th allocation fail (`ls__mem_fail_after`).
 */
#ifndef LS_BASE_MEM_H
#define LS_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for count*size bytes, NULL when it overflows or memory is out. Never returns NULL
 * for 0 bytes. */
void *ls__mem_alloc(size_t count, size_t size);
/* Grows or shrinks; new bytes are not zeroed. On failure NULL, and `old` stays valid. */
void *ls__mem_realloc(void *old, size_t count, size_t size);
void ls__mem_free(void *memory); /* accepts NULL */
char *ls__mem_strdup(const char *text);

/* Zeroed memory for data that vector code runs over: aligned to 64 bytes, and when large on pages of
 * its own, huge ones where the system has them. Freed with the same number of bytes. */
void *ls__mem_alloc_data(size_t bytes);
void ls__mem_free_data(void *memory, size_t bytes); /* accepts NULL */

/* Test hook: the n-th allocation from now (1 = the next) of this thread and all later ones fail.
 * 0 = off. */
void ls__mem_fail_after(uint64_t n);

#endif
