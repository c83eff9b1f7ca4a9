/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR-to-IR passes. Each pass is one file; pipeline.c lists them all and is the only place that
 * orders them.
 *
 * A pass works on one function, allocates IR from the module's arena and the rest from `scratch`,
 * which lasts for the call, keeps the module valid under ls__ir_verify, and returns whether it
 * changed anything. Every pass keeps results bit-identical for kernels inside the contract;
 * `unchecked` is the one exception (kernels the sanitizer has shown clean).
 */
#ifndef LS_PASS_PASS_H
#define LS_PASS_PASS_H

#include "ir/ir.h"
#include "ir/lowering.h"

typedef struct ls__pass_options {
    uint32_t lower;         /* LS__LOWER_* */
    bool unchecked;         /* mark every access INBOUNDS and every index NOWRAP */
    bool watch;             /* mark the accesses that are reported when out of range */
    bool optimize;          /* promotion, folding, CSE, ... */
    const char *stop_after; /* pass name: stop after its first place in the table; NULL = run all */
    const char *skip;       /* pass name to leave out (debugging); NULL = none */
    bool verify_each; /* verify after every pass; a failure is LS_E_INTERNAL naming the pass */
} ls__pass_options;

typedef enum ls__pass_kind {
    LS__PASS_OPTIMIZE,  /* runs when options.optimize */
    LS__PASS_UNCHECKED, /* runs when options.unchecked */
    LS__PASS_WATCH,     /* runs when options.watch */
    LS__PASS_LOWER      /* runs when options.lower has its bit */
} ls__pass_kind;

typedef struct ls__pass {
    const char *name;
    bool (*run)(ls__ir_function *function, ls__arena *scratch);
    ls__pass_kind kind;
    uint32_t lower; /* LS__LOWER_*: what a lowering pass supplies, else 0 */
} ls__pass;

/* All passes in pipeline order; some stand more than once. */
const ls__pass *ls__pass_table(uint32_t *count);

/* Runs the pipeline over every function of the module, in place. GRID_BARRIER is not in the
 * pipeline: it makes new kernels and is run by its own call first. On failure the module is
 * unusable but destroyable. */
ls_status ls__pass_run(ls__ir_module *module, const ls__pass_options *options, ls_error *error);

/* lower_grid_barrier: splits `kernel` into segments run one dispatch each. The kernel itself
 * becomes segment 0; the others are added to the module. On failure the module is unusable but
 * destroyable. */
typedef struct ls__pass_segment {
    uint32_t function; /* ls_function.id of the segment's kernel in the module */
} ls__pass_segment;
typedef struct ls__pass_split {
    ls__pass_segment *segments; /* arena of the module */
    uint32_t segment_count;
    uint64_t scratch_bytes_per_lane; /* extra last buffer parameter "__scratch": this times
                                        whole-workgroup lanes */
    uint64_t scratch_bytes_fixed;
    /* Control program: which segment runs next. Segment s ends by storing the next segment's number
     * (u32, segment_count = done) at byte 0 of the scratch buffer, written by workgroup 0 lane 0;
     * grid-uniform by the verifier. */
} ls__pass_split;
ls_status ls__pass_split_grid(ls__ir_module *module, uint32_t kernel, ls__pass_split *split,
                              ls_error *error);

#endif
