/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the uniformity analysis that the verifier and loop bounds use as well. */
#ifndef LS_IR_UNIFORM_H
#define LS_IR_UNIFORM_H

#include "ir/ir.h"

static inline uint32_t ls__ir_pointer_hash(const void *pointer)
{
    return (uint32_t)(((uint64_t)(uintptr_t)pointer * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

#endif
