/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels for attention over a cache of pages, as Kernel C made for heads of one shape.
 *
 * A page is 64 positions of all heads of the cache, so laid that it is read forwards: keys
 * [head][2][element][32], 32 positions after the other, the elements in the order k mod 8, k / 8;
 * values [head][part][64][element], 32 elements after the other, of which the last may be fewer.
 * Where a column's pages lie is in `pages`, from an index of its own, so that
 * columns of several texts are computed side by side: places[2 * column] is the position of a
 * column, places[2 * column + 1] that index.
 */
#ifndef LS_LLM_ATTENTION_H
#define LS_LLM_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct ls__attention {
    uint32_t width;     /* elements of a head, a multiple of 8 */
    uint32_t group;     /* heads of queries that share one of the cache */
    bool floats;        /* the cache is f32, not f16 */
    const char *suffix; /* of the kernels' names */
    bool halves;        /* which elements are pairs: ls__rope */
} ls__attention;

/* The heads of a group are computed in sets, whose heads share each read of the cache. */
uint32_t ls__attention_sets(uint32_t group);

/*
 * Appends the kernels, which need those of kernels/tensor.kc; T is the cache's type. Scores are
 * [columns][query heads][capacity], tops [columns][query heads][capacity / 32]; `capacity` is a
 * multiple of 64; `window` is the number of positions that a column sees, with its own. Buffers of
 * the cache may have some of its heads only, `held` from `first_head` on; then all that read or
 * write them are launched once for each. z is a held head and a set: kv * sets.
 *
 *   append(u32 heads, u32 first_head, u32 held, const u32 *places, const u32 *pages,
 *          const f32 *new_keys, const f32 *new_values, T *keys, T *values)
 *       lanes: elements of all held heads, columns
 *   place(u32 heads, u32 turned, u32 cache_heads, u32 first_head, u32 held, u32 pairs, u32 norms,
 *         f32 epsilon, places, pages, const f32 *table, const f32 *query_weights,
 *         const f32 *key_weights, f32 *queries, f32 *new_keys, const f32 *new_values, T *keys,
 *         T *values)
 *       what norm_heads (if `norms`) and rope of tensor.kc do to queries and new keys, then append;
 *       workgroups: `turned` heads of the queries (all, or 0) and the held ones, columns
 *   attention_scores(u32 heads, u32 first_head, u32 held, u32 window, u32 capacity, f32 scale,
 *                    f32 cap, const u32 *places, const u32 *pages, const f32 *queries,
 *                    const T *keys, f32 *scores, f32 *tops)
 *       workgroups: columns, each 32 positions, z. A `cap` of 0 is none.
 *   attention_weights(u32 heads, u32 window, u32 capacity, const u32 *places, const f32 *tops,
 *                     f32 *scores)
 *       workgroups: columns, each 32 positions, query heads. Scores become exponentials.
 *   attention_values(u32 heads, u32 first_head, u32 held, u32 window, u32 capacity,
 *                    const u32 *places, const u32 *pages, const f32 *scores, const T *values,
 *                    f32 *y)
 *       workgroups: columns, each 32 elements, z
 *
 * or the last in two steps for one column, the chunks of 64 positions in parallel:
 *
 *   attention_parts(u32 heads, u32 first_head, u32 held, u32 window, u32 capacity, places, pages,
 *                   scores, values, f32 *sums, f32 *parts)
 *       workgroups: chunks, each 32 elements, z. sums: [chunks][query heads][width]
 *   attention_join(u32 heads, u32 window, const u32 *places, const f32 *sums, const f32 *parts,
 *                  f32 *y)
 *       lanes: elements of all heads
 */
void ls__attention_kernels(ls__strbuf *text, const ls__attention *attention);

#endif
