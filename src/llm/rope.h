/* SPDX-License-Identifier: Apache-2.0 */
/* Angles of rotary position embedding. */
#ifndef LS_LLM_ROPE_H
#define LS_LLM_ROPE_H

#include <stdint.h>

/* table[(position * pairs + i) * 2]: cosine and sine of position * base^(-2i / width), for the
 * positions [first, first + count). width = 2 * pairs; base >= 1; positions below 2^24. */
void ls__rope_table(double base, uint32_t pairs, uint32_t first, uint32_t count, float *table);

#endif
