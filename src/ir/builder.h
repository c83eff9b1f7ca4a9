/* SPDX-License-Identifier: Apache-2.0 */
/* The two ends of the public builder that core wraps, since only core knows ls_module. */
#ifndef LS_IR_BUILDER_H
#define LS_IR_BUILDER_H

#include "ir/ir.h"

/* As ls_builder_finish: verifies, hands out the module, destroys the builder in any case. */
ls_status ls__ir_builder_finish(ls_builder **builder, ls__ir_module **module, ls_error *error);
/* As ls_builder_link. */
void ls__ir_builder_link(ls_builder *builder, const ls__ir_module *module);

#endif
