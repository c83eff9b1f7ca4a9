/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code generator for NVIDIA's GPUs: IR to one PTX module as text, in a container, through LLVM
 * 19. abi.h is the contract with device/cuda, target.h says what a device may be.
 */
#ifndef LS_EMIT_PTX_EMIT_H
#define LS_EMIT_PTX_EMIT_H

#include "emit/ptx/target.h"
#include "ir/ir.h"

/* Part of cache keys: raised with every change of abi.h and of the code that a module becomes. */
enum { LS__PTX_CODE_VERSION = 4 };

/* An ls__backend_emit. The module is verified and lowered as ls__ptx_lowering says. Equal modules
 * and targets give equal bytes. LS_E_UNSUPPORTED when libLLVM is not there. `unchecked` is taken
 * from the module's INBOUNDS flags; the argument is not needed. */
ls_status ls__ptx_emit(const ls__ir_module *module, const char *target, bool unchecked,
                       void **bytes, size_t *size, ls_error *error);

#endif
