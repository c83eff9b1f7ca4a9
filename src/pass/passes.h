/* SPDX-License-Identifier: Apache-2.0 */
/* The passes, one per file of the same name; pipeline.c orders them. `scratch` lives for the
 * call. */
#ifndef LS_PASS_PASSES_H
#define LS_PASS_PASSES_H

#include "ir/ir.h"
#include "pass/pass.h"

bool ls__pass_fold(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_copy_propagate(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_promote_locals(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_cse(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_licm(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_strength(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_bounds(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_dce(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_unchecked(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_watch(ls__ir_function *function, ls__arena *scratch);

bool ls__pass_lower_subgroup(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_fma(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_div(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_sqrt(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_convert(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_minmax(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_round(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_nan(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_dot4(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_bounds(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_memory(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_integer(ls__ir_function *function, ls__arena *scratch);
bool ls__pass_lower_int64(ls__ir_function *function, ls__arena *scratch);

#endif
