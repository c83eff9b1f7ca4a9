/* SPDX-License-Identifier: Apache-2.0 */
/* What the printer and the reader of the text form share: words, names of attributes, decimals. */
#ifndef LS_IR_TEXT_H
#define LS_IR_TEXT_H

#include "ir/ir.h"

bool ls__ir_text_starts_word(char c); /* letter or _ */
bool ls__ir_text_in_word(char c);     /* letter, digit, _ or . */

/* The names behind attributes, "?" when out of range. */
const char *ls__ir_id_name(uint64_t id);
const char *ls__ir_atomic_name(uint64_t atomic);
const char *ls__ir_reduce_name(uint64_t reduce);
const char *ls__ir_base_name(ls_base_kind kind);

/* A float that is exactly a whole number of millionths, below a million in size and not -0. Only
 * such floats have a decimal form. False when it is none. */
bool ls__ir_text_millionths(ls_type type, uint64_t bits, int64_t *millionths);
/* The reverse: the bits of millionths / 10^6 when that is exact in f32. */
bool ls__ir_text_from_millionths(ls_type type, int64_t millionths, uint64_t *bits);

#endif
