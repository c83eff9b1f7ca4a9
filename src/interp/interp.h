/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference interpreter: the definition of what an IR kernel does. Bounds-checked, simple,
 * never tuned.
 *
 * One call runs one dispatch on the calling thread. Lanes run one at a time up to their next
 * barrier or subgroup operation, in the order of the schedule; the arithmetic is ls__ir_eval. Runs
 * under the default floating-point environment and restores the caller's.
 */
#ifndef LS_INTERP_INTERP_H
#define LS_INTERP_INTERP_H

#include <stdatomic.h>

#include "ir/ir.h"

/* One pointer parameter. `identity` is equal for bindings of the same buffer, so that races are
 * found across parameters. `written` has a byte for each byte of the range, nonzero when something
 * has been written there: stores set it, the sanitizer reads it; NULL = all has been. */
typedef struct ls__interp_binding {
    uint8_t *bytes;    /* start of the bound range */
    uint64_t size;     /* bytes, already cut down to whole elements */
    uint64_t identity; /* of the buffer */
    uint64_t offset;   /* of the range in the buffer, bytes */
    uint8_t *written;
} ls__interp_binding;

typedef enum ls__interp_schedule {
    LS__INTERP_ASCENDING, /* workgroups ascending, lanes ascending between barriers */
    LS__INTERP_REVERSE,
    LS__INTERP_SEED /* both permuted by `seed`, anew at every barrier */
} ls__interp_schedule;

/* What the sanitizer and the C-undefined flags report. X(name, text) */
#define LS__INTERP_REPORT_TABLE(X)                                                                 \
    X(OUT_OF_BOUNDS_LOAD, "out-of-bounds load")                                                    \
    X(OUT_OF_BOUNDS_STORE, "out-of-bounds store")                                                  \
    X(RACE_LANES, "race between lanes of a workgroup")                                             \
    X(RACE_WORKGROUPS, "race between workgroups")                                                  \
    X(UNWRITTEN_READ, "read of memory never written")                                              \
    X(NOT_UNIFORM, "workgroup_uniform() of lanes that differ")                                     \
    X(UNDEFINED_IN_C, "a step that C leaves undefined")
typedef enum ls__interp_report_kind {
#define X(name, text) LS__INTERP_##name,
    LS__INTERP_REPORT_TABLE(X)
#undef X
        LS__INTERP_REPORT_COUNT
} ls__interp_report_kind;

typedef struct ls__interp_report {
    ls__interp_report_kind kind;
    const ls__ir_function *kernel;
    const ls__ir_inst *inst;
    uint32_t workgroup[3], lane; /* lane: linear local id */
    const char *object; /* name of the buffer, shared or local object; "" when not memory */
    int64_t offset;     /* byte offset in it */
    uint64_t object_count; /* elements the object has; 0 = not memory */
    int64_t index;      /* element index: offset / element size, rounded down; when the
                         * offset is LS_NOWHERE, the subscript that made it so */
    uint32_t other_workgroup[3], other_lane; /* races: the earlier access */
    ls__ir_loc other_loc;
    const char *detail; /* e.g. "division by zero", "write after read"; static text */
} ls__interp_report;

/* Called as reports arise; one report per (kind, instruction, object) unless `report_all`. */
typedef void ls__interp_on_report(void *context, const ls__interp_report *report);

typedef struct ls__interp_launch {
    const ls__ir_module *module;
    const ls__ir_function *kernel;
    const ls__interp_binding *bindings; /* by buffer index */
    const uint8_t *scalars;             /* the scalar block; kernel->scalar_bytes bytes */
    uint32_t global_size[3];            /* lanes asked for; each >= 1 */
    uint32_t iteration;
    ls__interp_schedule schedule;
    uint64_t seed;
    bool sanitize;         /* out-of-bounds, races, unwritten reads (of locals and variables too) */
    bool check_bounds;     /* out-of-bounds only, without the memory that `sanitize` takes */
    bool flag_undefined_c; /* x/0, shift counts, casts, bounds, unset locals: the native check */
    bool report_all;
    ls__interp_on_report *on_report;
    void *context;
    /* Nonzero: stop; polled at workgroup starts and back edges of loops. NULL = never. */
    const atomic_int *cancel;
    /* NULL, or where launches one after another keep memory: ls__arena.spare, for
     * ls__arena_free_spare. */
    struct ls__arena_block **spare;
    /* For lane state and shadow memory, which takes 48 bytes for each byte of the ranges that the
     * kernel writes to; 0 = 4 GiB. */
    uint64_t memory_limit_bytes;
} ls__interp_launch;

typedef struct ls__interp_result {
    uint64_t workgroups_run, lanes_run, instructions; /* so far, when the run ended early */
    bool trapped;
    uint32_t trap_code;      /* of the lowest (workgroup, lane) that trapped, its first */
    uint64_t trap_workgroup; /* linear index, x fastest */
    uint32_t trap_lane;
    uint64_t report_count;
} ls__interp_result;

/* NOT_UNIFORM is reported whenever there is an on_report; the other kinds need their flag. The
 * module has passed ls__ir_verify. Blocks until done. LS_OK also when a lane trapped (see result).
 * LS_E_CANCELLED; LS_E_LIMIT and LS_E_OUT_OF_MEMORY with nothing run; LS_E_INVALID_ARGUMENT for a
 * barrier that not all lanes reach (only possible in a module the verifier has not seen). */
ls_status ls__interp_run(const ls__interp_launch *launch, ls__interp_result *result,
                         ls_error *error);

#endif
