/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: bump allocation, freed at once. The compiler (lang, ir, pass) allocates from arenas only.
 *
 * Out of memory does not return NULL: the arena jumps to the entry point's `ls__oom` handler, which
 * frees the arenas and answers LS_E_OUT_OF_MEMORY or, when `limit_bytes` was exceeded, LS_E_LIMIT.
 * So code between an entry point and an allocation must own nothing but arena memory. Entry points
 * look like
 *
 *     ls__oom oom;
 *     ls__arena arena;
 *     ls__arena_init(&arena, &oom, limit_bytes);
 *     if (setjmp(oom.jump)) {
 *         ls__arena_finish(&arena);
 *         return ls__oom_status(&oom, error);
 *     }
 *
 * Invariant: memory is zeroed; alignment is 16.
 */
#ifndef LS_BASE_ARENA_H
#define LS_BASE_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep/base.h"

typedef struct ls__oom {
    jmp_buf jump;
    bool over_limit; /* the arena's limit, not the machine's memory, ran out */
    size_t requested_bytes;
} ls__oom;

struct ls__arena_block;

typedef struct ls__arena {
    struct ls__arena_block *blocks;
    ls__oom *oom;
    size_t used_bytes;
    size_t limit_bytes; /* 0 = none */
    /* Where blocks come from and go to, but for very large ones, so that arenas one after another
     * need no heap; NULL = the heap. */
    struct ls__arena_block **spare;
} ls__arena;

void ls__arena_init(ls__arena *arena, ls__oom *oom, size_t limit_bytes);
void ls__arena_finish(ls__arena *arena); /* frees all; safe on a zeroed arena, and twice */
void ls__arena_free_spare(struct ls__arena_block **spare);
void *ls__arena_alloc(ls__arena *arena, size_t count, size_t size);
char *ls__arena_strdup(ls__arena *arena, const char *text, size_t length);
char *ls__arena_printf(ls__arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
ls_status ls__oom_status(const ls__oom *oom, ls_error *error);

#define LS__NEW(arena, type) ((type *)ls__arena_alloc((arena), 1, sizeof(type)))
#define LS__NEW_ARRAY(arena, type, count) ((type *)ls__arena_alloc((arena), (count), sizeof(type)))

/* Growable array in an arena: struct { T *items; uint32_t count, capacity; }. Zeroed = empty. */
#define LS__VEC(type)                                                                              \
    struct {                                                                                       \
        type *items;                                                                               \
        uint32_t count, capacity;                                                                  \
    }
void *ls__vec_grow(ls__arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size);
#define ls__vec_push(arena, vec, value)                                                            \
    do {                                                                                           \
        if ((vec)->count == (vec)->capacity)                                                       \
            (vec)->items = ls__vec_grow((arena), (vec)->items, (vec)->count, &(vec)->capacity,     \
                                        sizeof *(vec)->items);                                     \
        (vec)->items[(vec)->count++] = (value);                                                    \
    } while (0)

#endif
