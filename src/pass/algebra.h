/* SPDX-License-Identifier: Apache-2.0 */
/* The identities fold uses (algebra.c). */
#ifndef LS_PASS_ALGEBRA_H
#define LS_PASS_ALGEBRA_H

#include "ir/ir.h"

/* Simplifies one pure instruction whose operands are not all constant. Either sets `*same` to an
 * existing value that equals it, or changes `inst` in place (new constants go in front of it).
 * Returns whether `inst` was changed in place. */
bool ls__pass_simplify(ls__ir_function *function, ls__ir_inst *inst, ls_value *same);

#endif
