/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine behind ls__interp_run, shared by the files of this folder only.
 *
 * Made in this order: plan.c flattens the kernel and the functions it calls into one array of steps
 * and lays out their frames; interp.c reserves all memory, so that nothing is allocated while lanes
 * run, and drives workgroups; lane.c runs one lane to its next synchronising step; memory.c does
 * loads, stores and atomics; sync.c exchanges values once all lanes of a workgroup have arrived;
 * shadow.c finds races; report.c is the way out to the caller's on_report.
 *
 * A step's index in `steps` is its number: program counter, key of de-duplicated reports, and the
 * name of an access in shadow memory.
 */
#ifndef LS_INTERP_MACHINE_H
#define LS_INTERP_MACHINE_H

#include "base/arena.h"
#include "base/rng.h"
#include "interp/interp.h"

enum {
    LS__INTERP_MAX_LANES = 1024, /* of a workgroup; shadow memory keeps a lane in 10 bits */
    LS__INTERP_MAX_BUFFERS = 64, /* pointer parameters; de-duplication keeps a bit for each */
    LS__INTERP_MAX_CALLS = 64,   /* depth of the call chain */
    LS__INTERP_SUBGROUP = 32
};

/* One instruction of the flat code. Structured control has become jumps:
 *   IF        when false to `target`                WHILE     when true to `target`
 *   LOOP      the back edge: to `target`            SWITCH    to switch_targets[target + case]
 *   BREAK, CONTINUE, NONE  to `target`              RETURN    `inst` is NULL at the end of a body
 */
typedef struct ls__interp_step {
    const ls__ir_inst *inst; /* NULL for NONE */
    uint32_t target;
    uint16_t op;
    uint8_t arg_type; /* the ls_type that ls__ir_eval asks for */
} ls__interp_step;

/* A function made ready. Frame layout: the offsets below are bytes from the frame's start. */
typedef struct ls__interp_code {
    const ls__ir_function *function;
    uint32_t first, end; /* its steps */
    uint32_t values_at, buffers_at, scalars_at;
    uint32_t zero_at; /* from here to frame_bytes a new frame is zeroed: variables, locals, flags */
    uint32_t vars_at, var_set_at, locals_at, local_set_at;
    uint32_t *local_offsets; /* of each local object, from locals_at */
    uint64_t frame_bytes;
    uint64_t stack_bytes;  /* with the deepest chain of callees; 0 = not known yet */
    uint64_t written_mask; /* bit i: buffer i is stored to, here or in a callee */
} ls__interp_code;

typedef struct ls__interp_frame {
    const ls__interp_code *code;
    struct ls__interp_frame *caller;
    uint32_t return_pc;
    const uint8_t *scalars;
    uint64_t *values, *vars;
    uint8_t *buffers; /* the kernel's buffer index, by this function's */
    uint8_t *locals;
    uint8_t *var_set, *local_set; /* a byte per variable and per local byte; NULL = not tracked */
} ls__interp_frame;

typedef struct ls__interp_lane {
    uint32_t index; /* linear local id */
    uint32_t local_id[3], global_id[3];
    uint32_t pc;
    bool done;
    uint8_t *stack;
    ls__interp_frame *frame; /* the innermost */
} ls__interp_lane;

typedef struct ls__interp_group {
    uint64_t linear; /* workgroup index, x fastest */
    uint32_t id[3];
    ls__interp_lane *lanes; /* all lanes of the workgroup, or one that plays them in turn */
    uint8_t *shared;
    uint8_t *shared_set; /* sanitizer: a byte per byte; NULL = not tracked */
    bool started, done;
} ls__interp_group;

typedef enum ls__interp_access {
    LS__INTERP_READ,
    LS__INTERP_WRITE,
    LS__INTERP_ATOMIC
} ls__interp_access;

/* What shadow memory remembers of one byte: two accesses of each kind; see shadow.c. */
typedef struct ls__interp_cell {
    uint64_t kept[3][2];
} ls__interp_cell;

typedef struct ls__interp_machine {
    const ls__interp_launch *launch;
    ls__interp_result *result;
    ls__arena arena;
    ls__oom oom;
    ls_status status; /* of the run, once it has ended early */
    ls_error *error;

    /* The program (plan.c). */
    LS__VEC(ls__interp_step) steps;
    LS__VEC(uint32_t) switch_targets;
    ls__interp_code **codes; /* by function id; NULL = not reached */
    ls__interp_code *kernel;
    bool has_sync, has_subgroup, has_grid_barrier;
    uint32_t *shared_offsets, shared_bytes;

    /* The launch. */
    uint32_t group_lanes, group_count[3];
    uint64_t group_total;
    ls__interp_group *groups; /* one, or all when there are grid barriers */
    uint32_t *lane_order;
    ls__rng rng;
    uint64_t order_factor, order_shift; /* LS__INTERP_SEED: the k-th workgroup, see interp.c */

    /* Observation (memory.c, shadow.c, report.c). */
    bool observing; /* sanitize or flag_undefined_c; check_bounds alone is no reason */
    uint64_t *seen; /* by step number and kind: a bit for each object reported; NULL = no reports */
    ls__interp_cell *buffer_cells[LS__INTERP_MAX_BUFFERS]; /* NULL: no race is possible */
    ls__interp_cell *shared_cells;
    uint32_t phase;       /* counts stretches between barriers; see shadow.c */
    uint32_t turn_phase;  /* the first one of the workgroup's present turn */
    uint32_t grid_phase;  /* the first one since the last grid barrier */
    uint64_t turn;        /* workgroups begun since the last grid barrier, less one */
    uint32_t *turn_start; /* first phase of each of those turns */
} ls__interp_machine;

/* plan.c */
void ls__interp_plan(ls__interp_machine *machine);

/* lane.c */
typedef enum ls__interp_stop {
    LS__INTERP_DONE,
    LS__INTERP_SYNC, /* lane->pc is at the synchronising step */
    LS__INTERP_CANCEL
} ls__interp_stop;
void ls__interp_lane_start(ls__interp_machine *machine, const ls__interp_group *group,
                           ls__interp_lane *lane, uint32_t index);
ls__interp_stop ls__interp_lane_run(ls__interp_machine *machine, ls__interp_group *group,
                                    ls__interp_lane *lane);
bool ls__interp_cancelled(const ls__interp_machine *machine);

/* memory.c: `pc` is a load, store or atomic step of the lane's innermost frame. */
uint64_t ls__interp_load(ls__interp_machine *machine, ls__interp_group *group,
                         ls__interp_lane *lane, uint32_t pc);
void ls__interp_store(ls__interp_machine *machine, ls__interp_group *group, ls__interp_lane *lane,
                      uint32_t pc);
uint64_t ls__interp_atomic(ls__interp_machine *machine, ls__interp_group *group,
                           ls__interp_lane *lane, uint32_t pc);
uint64_t ls__interp_range(const ls__interp_machine *machine, const ls__interp_frame *frame,
                          ls_base base);

/* sync.c: all lanes stand at step `pc`, which is not a barrier; gives each its result. */
void ls__interp_exchange(ls__interp_machine *machine, ls__interp_group *group, uint32_t pc);

/* interp.c: linear index of the workgroup whose turn is the k-th. */
uint64_t ls__interp_group_at(const ls__interp_machine *machine, uint64_t k);
void ls__interp_group_id(const ls__interp_machine *machine, uint64_t linear, uint32_t id[3]);
/* Ends the run; keeps the first failure. */
void ls__interp_fail(ls__interp_machine *machine, ls_status status, const char *text);

/* shadow.c */
typedef struct ls__interp_race {
    const char *detail;
    uint32_t pc, lane;
    bool same_group;
    uint64_t group; /* linear */
} ls__interp_race;
void ls__interp_shadow_create(ls__interp_machine *machine);
void ls__interp_shadow_turn(ls__interp_machine *machine, uint64_t k); /* the k-th group begins */
void ls__interp_shadow_barrier(ls__interp_machine *machine);          /* a workgroup barrier */
void ls__interp_shadow_grid_barrier(ls__interp_machine *machine);
/* Records the access to `size` bytes and says whether it races with an earlier one. */
bool ls__interp_shadow_access(ls__interp_machine *machine, ls__interp_cell *cells, uint32_t size,
                              bool is_shared, ls__interp_access access, uint32_t lane, uint32_t pc,
                              ls__interp_race *race);

/* report.c */
/* A report with kernel, instruction, workgroup and lane filled in. */
ls__interp_report ls__interp_report_at(const ls__interp_machine *machine,
                                       const ls__interp_group *group, const ls__interp_lane *lane,
                                       uint32_t pc, ls__interp_report_kind kind);
/* `object`: 0, or 1 + buffer index (mod 64): with step and kind what de-duplication goes by. */
void ls__interp_report_send(ls__interp_machine *machine, uint32_t pc, uint32_t object,
                            const ls__interp_report *report);
/* Flags an operation that C leaves undefined for these operands. */
void ls__interp_check_c(ls__interp_machine *machine, const ls__interp_group *group,
                        const ls__interp_lane *lane, uint32_t pc, const uint64_t *args);

#endif
