/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are looked up in a table of 16 bytes. */
#ifndef LS_EMIT_LLVM_LOOKUP_H
#define LS_EMIT_LLVM_LOOKUP_H

#include "emit/llvm/unit.h"

/* Each byte of a value is table[h], h a half of the root's byte. */
typedef struct look_up {
    ls_value root;
    bool is_high;
    uint8_t table[16];
} look_up;

/* Whether an i32 is one that is better looked up than computed. */
bool ls__llvm_find_look_up(const ls__ir_function *function, ls_value value, look_up *found);

/* The bytes of 8 lanes, of which `root` has the roots; for targets that have AVX2. */
lv ls__llvm_look_up(unit *u, const look_up *found, lv root);

#endif
