/* SPDX-License-Identifier: Apache-2.0 */
/* Angles of rotary position embedding. */
#ifndef LS_LLM_ROPE_H
#define LS_LLM_ROPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ls__rope {
    double base;          /* 1 or more */
    double factor;        /* of all wave lengths: 1, or what stretches a model's positions */
    const float *factors; /* [pairs] of each one's, too; NULL: 1 */
    uint32_t pairs;
    bool halves; /* pairs are i and i + pairs: not neighbours */
} ls__rope;

/* Cosines and sines of position * (base^(-i / pairs) / (factor * factors[i])), for the positions
 * [first, first + count), which are below 2^24. A position's lie as the elements that they turn:
 * [pairs][2], or [2][pairs] for halves. */
void ls__rope_table(const ls__rope *rope, uint32_t first, uint32_t count, float *table);

#endif
