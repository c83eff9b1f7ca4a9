/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets of the code generator, as texts: a feature level, then options, joined by '+'.
 *
 *     levels    sse2, avx2, avx512 (x86-64); neon (AArch64); native = the best this machine has
 *     features  avx512vnni, avxvnni: what the level itself does not include
 *     tier      quick = little optimisation, compiled fast; else optimised
 *     mode      scalar, vector: force one lane at a time, or vector code; else scalar code only for
 *               workgroups of one lane
 *
 * For example "avx512+avx512vnni+quick". Needs no LLVM; device/cpu uses it too.
 */
#ifndef LS_EMIT_LLVM_TARGET_H
#define LS_EMIT_LLVM_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LS__LLVM_TARGET_BYTES = 96 };

/* Writes the full name of what this machine has, for "native" (room for more options is left). */
void ls__llvm_native_target(char target[LS__LLVM_TARGET_BYTES]);

/* Whether this machine can run code for the target; false also for a malformed one. */
bool ls__llvm_target_runs(const char *target);

/* The same text with `native` spelled out, for keys that several machines share. False: malformed,
 * or too long. */
bool ls__llvm_target_resolve(const char *text, char target[LS__LLVM_TARGET_BYTES]);

/* Whether code made for `code` runs on a CPU of which all that is known is `device`; both spelled
 * out: neither `native` nor a tier. */
bool ls__llvm_target_suits(const char *code, const char *device);

/* Those that code is made for ahead, best first: of this library's own architecture. */
#if defined(__x86_64__)
#define LS__LLVM_TARGETS_AHEAD "avx512 avx2 sse2"
#else
#define LS__LLVM_TARGETS_AHEAD "neon"
#endif

/* Levels and options that this machine can run, for messages: "native, avx2, sse2; ...". The tier
 * is left out. */
void ls__llvm_target_list(char *text, size_t size);

/* LS__LOWER_* bits (ir/lowering.h): what a module must have been lowered by before it is emitted.
 */
uint32_t ls__llvm_lowering(const char *target);

/* --- what a text says, in LLVM's terms and in the generator's --------------------------------- */

typedef enum ls__llvm_level {
    LS__LLVM_SSE2,
    LS__LLVM_AVX2,
    LS__LLVM_AVX512,
    LS__LLVM_NEON
} ls__llvm_level;

typedef enum ls__llvm_mode { LS__LLVM_AUTO, LS__LLVM_SCALAR, LS__LLVM_VECTOR } ls__llvm_mode;

typedef struct ls__llvm_target {
    ls__llvm_level level;
    bool avx512vnni, avxvnni;
    bool quick;
    ls__llvm_mode mode;
    uint32_t width;           /* lanes of a strand that suit the registers best */
    const char *triple, *cpu; /* static */
    char features[64];
} ls__llvm_target;

/* False: malformed. */
bool ls__llvm_target_parse(const char *text, ls__llvm_target *target);

#endif
