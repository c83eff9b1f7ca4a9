/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernels against the interpreter: the same module, buffers and launch, every byte
 * compared.
 *
 * Buffers lie at the end of their allocation plus guard bytes that must stay as they are, at a
 * start that is aligned to the element only. A target that this machine cannot run is left out.
 */
#ifndef LS_TESTS_EMIT_LLVM_HARNESS_H
#define LS_TESTS_EMIT_LLVM_HARNESS_H

#include "ir/ir.h"

enum { LS__MAX_BUFFERS = 16 };

typedef struct ls__trial { /* one launch */
    const ls__ir_module *module;
    const ls__ir_function *kernel;
    uint8_t *bytes[LS__MAX_BUFFERS]; /* contents before; never changed */
    uint64_t size[LS__MAX_BUFFERS];
    const uint8_t *scalars;
    uint32_t global_size[3];
    uint32_t split; /* run this many workgroups a call; 0 = all at once */
} ls__trial;

/* Kernel C to IR. Prints diagnostics and returns NULL when it does not compile. */
ls__ir_module *ls__compile_text(const char *text, const char *path);

/* Random buffers for a kernel: `elements` each, floats mostly ordinary; freed by ls__trial_finish.
 */
void ls__trial_fill(ls__trial *trial, uint64_t seed, uint32_t elements);
void ls__trial_finish(ls__trial *trial);

/* Targets worth testing, each once, NULL at the end. */
extern const char *const ls__all_targets[];

/* What the interpreter makes of a trial. NULL: it failed, and said why. */
typedef struct ls__outcome ls__outcome;
ls__outcome *ls__trial_interpret(const ls__trial *trial);
void ls__outcome_free(ls__outcome *outcome);

/* A module compiled for a target, lowered as that needs, with or without our optimising passes.
 * NULL: it failed, and said why (with the code in LLVM's text). LS_TEST_DUMP=1 in the environment
 * prints the code, 2 after LLVM's passes. */
struct ls__cpu_object *ls__compile_object(const ls__ir_module *module, const char *target,
                                          bool optimize);

/* 0 when the compiled kernel does what `want` says, else 1, with a description on stderr. */
int ls__trial_compare(const ls__trial *trial, const ls__outcome *want,
                      const struct ls__cpu_object *object, const char *target);

/* All trials of one module, on all targets that this machine runs or on `only`; counts comparisons.
 */
int ls__compare_all(const ls__trial *trials, uint32_t count, const char *only, unsigned *runs);

#endif
