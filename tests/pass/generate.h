/* SPDX-License-Identifier: Apache-2.0 */
/* Random IR programs (generate.c): valid, free of races, ending. Equal seeds give equal
 * programs. */
#ifndef LS_TESTS_PASS_GENERATE_H
#define LS_TESTS_PASS_GENERATE_H

#include "ir/ir.h"

enum {
    GENERATED_WORDS = 8,   /* of the output, for each lane */
    GENERATED_BYTES = 16,  /* of the byte output, for each lane */
    GENERATED_INPUTS = 64, /* elements of each input */
};

typedef enum generate_mode {
    GENERATE_ALONE,     /* lanes do not meet */
    GENERATE_WORKGROUP, /* barriers, shared memory, subgroup operations */
    GENERATE_GRID       /* grid barriers as well */
} generate_mode;

/* Kernel "k" with a workgroup of 64. Buffers: 0 const u32, 1 const f32, 2 const u64
 * (GENERATED_INPUTS each), 3 u32 and 4 u8 outputs; scalars: u32 at 0, f32 at 4. */
void generate_program(ls__ir_module *module, uint64_t seed, generate_mode mode);

#endif
