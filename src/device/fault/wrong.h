/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in which one operation is wrong, for tests of those who should find out. */
#ifndef LS_DEVICE_FAULT_WRONG_H
#define LS_DEVICE_FAULT_WRONG_H

#include "ir/ir.h"

/* A copy of the module in which `op` gives wrong results, as ls_fault_plan.wrong_op says. */
ls_status ls__fault_wrong_copy(const ls__ir_module *module, ls_op op, ls__ir_module **copy,
                               ls_error *error);

#endif
