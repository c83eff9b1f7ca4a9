/* SPDX-License-Identifier: Apache-2.0 */
/* What a target text says (emit.h), in LLVM's terms and in the generator's. */
#ifndef LS_EMIT_LLVM_TARGET_H
#define LS_EMIT_LLVM_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "emit/llvm/emit.h"

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

/* False: malformed, or of another architecture than this build's. */
bool ls__llvm_target_parse(const char *text, ls__llvm_target *target);

#endif
