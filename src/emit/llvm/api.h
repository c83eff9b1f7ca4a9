/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libLLVM's C functions as a table filled by dlopen and dlsym: the build needs LLVM's headers, not
 * its library, and a program that compiles nothing never loads it. Types and enums are the
 * headers'.
 */
#ifndef LS_EMIT_LLVM_API_H
#define LS_EMIT_LLVM_API_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "lockstep/base.h"

typedef struct ls__llvm {
#define LS_LLVM(name) __typeof__(LLVM##name) *name;
#include "emit/llvm/functions.def"
#undef LS_LLVM
} ls__llvm;

/* The loaded library; loads it on the first call. LS_E_UNSUPPORTED when it is not there or lacks a
 * function, remembered. Thread-safety: any. */
ls_status ls__llvm_load(const ls__llvm **llvm, ls_error *error);

/* Frames the use of the library: as ls__llvm_load, and until ls__llvm_end, which must follow on
 * success, the end of the process waits. LS_E_UNSUPPORTED once the process is ending. Not to be
 * nested, and exit() not to be called in between. Thread-safety: any. */
ls_status ls__llvm_begin(const ls__llvm **llvm, ls_error *error);
void ls__llvm_end(void);

/* Calls run(context). LLVM ends the process where it cannot go on; while `run` runs, that becomes
 * LS_E_INTERNAL instead, and what LLVM had in its hands at that moment must be left as it is: it is
 * lost. Not to be nested. Thread-safety: any, each thread has its own. */
ls_status ls__llvm_guard(void (*run)(void *), void *context, ls_error *error);

#endif
