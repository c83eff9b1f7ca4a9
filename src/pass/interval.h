/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of integer values, and how operations move them (interval.c). For the bounds pass. */
#ifndef LS_PASS_INTERVAL_H
#define LS_PASS_INTERVAL_H

#include "ir/ir.h"

/* What an i32 or i64 value may be, read as signed and read as unsigned; both hold. */
typedef struct ls__interval {
    int64_t low, high;    /* signed */
    uint64_t least, most; /* unsigned */
} ls__interval;

ls__interval ls__interval_full(ls_type type);
ls__interval ls__interval_signed(ls_type type, int64_t low, int64_t high);
ls__interval ls__interval_unsigned(ls_type type, uint64_t least, uint64_t most);
ls__interval ls__interval_meet(ls_type type, ls__interval a, ls__interval b); /* both hold */
ls__interval ls__interval_join(ls__interval a, ls__interval b);               /* either holds */

/* The result of a pure instruction, from its operands' intervals (full for what is not an
 * integer). */
ls__interval ls__interval_eval(const ls__ir_function *function, const ls__ir_inst *inst,
                               const ls__interval *args);
/* Index: the sum cannot leave i64, its operand is not LS_NOWHERE, and the count holds. */
bool ls__interval_index_holds(const ls__ir_inst *inst, ls__interval offset, ls__interval index);

#endif
