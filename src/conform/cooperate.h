/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random Kernel C programs about what lanes do to each other: divergent and uniform control flow
 * around and between barriers, shared memory, subgroup operations, workgroup_uniform, atomics,
 * local arrays, calls of noinline functions, accesses out of range, traps. Free of races by
 * construction.
 */
#ifndef LS_CONFORM_COOPERATE_H
#define LS_CONFORM_COOPERATE_H

#include <stdint.h>

#include "base/str.h"

/* Appends a file with one kernel "k" (u32 n, const u32 *a, const f32 *f, const u8 *b, u32 *out, f32
 * *fout, u8 *bytes, u32 *hist); lane i writes element i of the outputs, and atomics go to hist. */
void ls__cooperate(uint64_t seed, ls__strbuf *out);

#endif
