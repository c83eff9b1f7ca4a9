/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is around a module of LLVM while it is made: the library, a context, a handler for what LLVM
 * reports, a guard for what it gives up on; and the steps from such a module to bytes.
 */
#ifndef LS_EMIT_LLVM_SESSION_H
#define LS_EMIT_LLVM_SESSION_H

#include "emit/llvm/unit.h"

/* Makes `e->out` into whatever is wanted. Memory that runs out in the arena is LS_E_NO_MEMORY of
 * the session. */
typedef ls_status ls__llvm_work(emitter *e, void *context, ls_error *error);

/* Fills in *e (of which `module` and `target` are the caller's), runs `work` once, and takes all
 * down. LS_E_UNSUPPORTED when libLLVM is not there. */
ls_status ls__llvm_session(emitter *e, ls__llvm_work *work, void *context, ls_error *error);

typedef struct ls__llvm_machine {
    const char *triple, *cpu, *features;
    LLVMCodeGenOptLevel level;
} ls__llvm_machine;

/* NULL: LS_E_UNSUPPORTED. Sets the module's triple and layout, too. Disposed of by the caller. */
LLVMTargetMachineRef ls__llvm_create_machine(emitter *e, const ls__llvm_machine *how,
                                             ls_error *error);

ls_status ls__llvm_run_passes(emitter *e, LLVMTargetMachineRef machine, const char *pipeline,
                              ls_error *error);

/* LLVM's own verifier. */
ls_status ls__llvm_verify(const emitter *e, ls_error *error);

/* `bytes` with ls__mem_free. */
ls_status ls__llvm_generate(emitter *e, LLVMTargetMachineRef machine, LLVMCodeGenFileType type,
                            void **bytes, size_t *size, ls_error *error);

/* Whether `name` is `entry`, or an overload of that intrinsic, which continues with a dot. */
bool ls__llvm_names(const char *entry, const char *name, size_t length);

#endif
