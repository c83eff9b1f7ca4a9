/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code generator for Vulkan: IR to SPIR-V 1.5, one module a kernel, in a container. abi.h is
 * the contract with device/vulkan, target.h says what a device may have. docs/spirv.md describes
 * both.
 */
#ifndef LS_EMIT_SPIRV_EMIT_H
#define LS_EMIT_SPIRV_EMIT_H

#include "emit/spirv/target.h"
#include "ir/ir.h"

/* Part of cache keys: raised with every change of abi.h and of the code that a module becomes. */
enum { LS__SPIRV_CODE_VERSION = 5 };

/* An ls__backend_emit. The module is verified and lowered as ls__spirv_lowering says. Equal modules
 * and targets give equal bytes. */
ls_status ls__spirv_emit(const ls__ir_module *module, const char *target, bool unchecked,
                         void **bytes, size_t *size, ls_error *error);

#endif
