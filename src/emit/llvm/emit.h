/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code generator for CPUs: IR to the bytes of a relocatable ELF object, through LLVM 19.
 *
 * libLLVM is loaded on the first call that must compile, and stays loaded. What it has generated is
 * run by device/cpu, without LLVM; abi.h is the contract between the two.
 */
#ifndef LS_EMIT_LLVM_EMIT_H
#define LS_EMIT_LLVM_EMIT_H

#include "ir/ir.h"

/* A target is a text: a feature level, then options, joined by '+'.
 *
 *     levels    sse2, avx2, avx512 (x86-64); neon (AArch64); native = the best this machine has
 *     features  avx512vnni, avxvnni: what the level itself does not include
 *     tier      quick = little optimisation, compiled fast; else optimised
 *     mode      scalar, vector: force one lane at a time, or vector code; else scalar code only for
 *               workgroups of one lane
 *
 * For example "avx512+avx512vnni+quick". Equal targets give equal bytes. */
enum { LS__LLVM_TARGET_BYTES = 96 };

/* Writes the full name of what this machine has, for "native" (at least 64 bytes of room). */
void ls__llvm_native_target(char target[LS__LLVM_TARGET_BYTES]);

/* Whether this machine can run code for the target; false also for a malformed one. */
bool ls__llvm_target_runs(const char *target);

/* LS__LOWER_* bits (ir/lowering.h) that a module must have been lowered by before it comes here. */
uint32_t ls__llvm_lowering(const char *target);

/* An ls__backend_emit. The module is verified and lowered as said above. LS_E_UNSUPPORTED when libLLVM
 * is not there. `unchecked` is taken from the module's INBOUNDS flags; the argument is not needed. */
ls_status ls__llvm_emit(const ls__ir_module *module, const char *target, bool unchecked, void **bytes,
                        size_t *size, ls_error *error);

/* The LLVM text of what `ls__llvm_emit` compiles, after the passes when `optimized`; for tests and for
 * looking at. Heap text (ls__mem_free). */
ls_status ls__llvm_print(const ls__ir_module *module, const char *target, bool optimized, char **text,
                         ls_error *error);

#endif
