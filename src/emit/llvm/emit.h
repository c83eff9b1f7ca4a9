/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code generator for CPUs: IR to the bytes of a relocatable ELF object, through LLVM 19.
 *
 * libLLVM is loaded on the first call that must compile, and stays loaded. What it has generated is
 * run by device/cpu, without LLVM; abi.h is the contract between the two.
 */
#ifndef LS_EMIT_LLVM_EMIT_H
#define LS_EMIT_LLVM_EMIT_H

#include "emit/llvm/target.h"
#include "ir/ir.h"

/* Part of cache keys: raised with every change of abi.h and of the code that a module becomes. */
enum { LS__LLVM_CODE_VERSION = 25 };

/* The LLVM whose headers this was built with, "LLVM 19.1.7". */
extern const char ls__llvm_version[];

/* An ls__backend_emit. The module is verified and lowered as ls__llvm_lowering says. Equal modules
 * and targets give equal bytes. LS_E_UNSUPPORTED when libLLVM is not there. `unchecked` is taken
 * from the module's INBOUNDS flags; the argument is not needed. */
ls_status ls__llvm_emit(const ls__ir_module *module, const char *target, bool unchecked,
                        void **bytes, size_t *size, ls_error *error);

/* When this thread calls exit(), or returns from main, compilations that run in other threads are
 * waited for and none begins, before libLLVM's destructors run. For threads that open devices;
 * those that compile are watched anyhow. */
void ls__llvm_watch_thread(void);

/* The LLVM text of what `ls__llvm_emit` compiles, after the passes when `optimized`; for tests and
 * for looking at. Heap text (ls__mem_free). */
ls_status ls__llvm_print(const ls__ir_module *module, const char *target, bool optimized,
                         char **text, ls_error *error);

#endif
