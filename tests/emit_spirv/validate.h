/* SPDX-License-Identifier: Apache-2.0 */
/* Modules lowered for a target, emitted, and judged by SPIR-V's own validator. */
#ifndef LS_TESTS_EMIT_SPIRV_VALIDATE_H
#define LS_TESTS_EMIT_SPIRV_VALIDATE_H

#include "ir/ir.h"

/* Targets worth testing: the least, lavapipe's, everything; NULL at the end. */
extern const char *const ls__spirv_targets[];

typedef struct ls__spirv_try {
    const char *target;
    bool optimize, unchecked;
} ls__spirv_try;

/* Kernel C, or IR when the path ends in .ir. Prints what is wrong with it and returns NULL. */
ls__ir_module *ls__spirv_compile(const char *text, size_t size, const char *path);

/* The container of a copy of the module that is lowered as the target needs (ls__mem_free). NULL:
 * it failed, and said why. */
void *ls__spirv_build(const ls__ir_module *module, const ls__spirv_try *how, size_t *size);

/* Every kernel of the module; counts those that the validator accepts. 0 when it accepts all. */
int ls__spirv_validate(const ls__ir_module *module, const ls__spirv_try *how, unsigned *accepted);

#endif
