/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the code generator for PTX.
 *
 * A lane is a thread, so everything is a scalar and control flow is the hardware's: values, types
 * and operations are those of emit/llvm for strands of one lane, of which `code.u` is a unit. What
 * a GPU has of its own is here: how kernels are called, geometry, address spaces, barriers, warps,
 * atomics, traps.
 *
 *     emit.c      module to container: passes, code generation;  check.c  what there may be in it
 *     kernel.c    entry points: parameters, geometry, what happens before the kernel's own code
 *     function.c  functions and calls
 *     flow.c      control flow
 *     value.c     one instruction
 *     memory.c    loads, stores, atomics
 *     lanes.c     barriers, and operations between lanes
 *     stop.c      traps and cancelling
 *     container.c reads what emit.c has written
 */
#ifndef LS_EMIT_PTX_CODE_H
#define LS_EMIT_PTX_CODE_H

#include "emit/llvm/build.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/target.h"

enum { /* address spaces of NVPTX */
       SPACE_GLOBAL = 1,
       SPACE_SHARED = 3
};

typedef struct generator { /* one module */
    emitter *e;
    ls__ptx_target target;
    bool unchecked; /* accesses are in bounds because the caller says so */
    lv *tables;     /* by constant table; NULL until used */
    lv trap;        /* stop.c's helper; NULL until used */
    LS__VEC(struct ptx_function) functions;
} generator;

typedef struct ptx_function { /* a noinline function as kernels of one workgroup call it */
    uint32_t function;
    uint32_t workgroup[3];
    lv code;
    lt type, result;
    uint32_t flags; /* LS__PTX_* of what it does */
} ptx_function;

typedef struct frame { /* an open loop, switch or block */
    struct frame *parent;
    lb exit, next; /* next: loops */
} frame;

/* What a kernel knows of its launch, and hands on to functions; what one does not use, LLVM
 * removes. All but `status` are u32. */
typedef enum given {
    GIVEN_STATUS, /* pointer to ls__ptx_status */
    GIVEN_SEQUENCE,
    GIVEN_ITERATION,
    GIVEN_WORKGROUP_ID,                            /* 3 */
    GIVEN_GLOBAL_SIZE = GIVEN_WORKGROUP_ID + 3,    /* 3 */
    GIVEN_WORKGROUP_COUNT = GIVEN_GLOBAL_SIZE + 3, /* 3 */
    GIVEN_COUNT = GIVEN_WORKGROUP_COUNT + 3
} given;

enum { LIMITS = 8 };
typedef struct code { /* one function */
    unit u;
    generator *g;
    ls__ir_uniformity uniformity;
    lv given[GIVEN_COUNT];
    lv local_index; /* %tid.x */
    lv parameters;  /* kernels: the struct of abi.h */
    lv barrier;     /* kernels: pointer to the grid barrier's counter */
    lv *values, *vars, *locals;
    lv *limits; /* LIMITS for each buffer: by log2 of the bytes of an access, of offsets and of
                   elements; NULL until used */
    lv shared;  /* all of shared memory, one object behind the other */
    uint32_t *shared_offsets, shared_bytes;
    uint32_t exchange_at; /* where in it wg_uniform's value lies */
    /* Allocas; NULL until used. One counts what all lanes do together. */
    lv poll_count, uniform_poll_count;
    lb done; /* where a lane goes that returns */
    frame *frame;
    bool cooperates; /* lanes of the workgroup wait for each other */
    uint32_t flags;  /* LS__PTX_* */
    lb block;        /* that instructions are being added to; how many: */
    uint32_t block_size;
} code;

/* --- kernel.c, function.c --------------------------------------------------------------------- */
ls_status ls__ptx_emit_kernel(generator *g, const ls__ir_function *kernel, ls__ptx_kernel *out,
                              ls_error *error);
/* Sets up *c for `function`, whose LLVM function has been added as `llvm_function`: tables, the
 * entry block. */
void ls__ptx_begin(code *c, generator *g, const ls__ir_function *function,
                   const uint32_t workgroup[3], lv llvm_function);
/* Variables, local objects, then the body; ends at `done`, where the builder is left. */
void ls__ptx_body(code *c);
void ls__ptx_emit_call(code *c, const ls__ir_inst *inst);
bool ls__ptx_is_terminated(code *c);

/* --- flow.c, value.c -------------------------------------------------------------------------- */
void ls__ptx_region(code *c, const ls__ir_region *region);
void ls__ptx_inst(code *c, ls__ir_inst *inst);
lv ls__ptx_value(code *c, ls_value value);
lv ls__ptx_min_max(code *c, bool is_max, lv a, lv b);
/* An instruction of PTX itself; with `has_effects` it is convergent and not moved. */
lv ls__ptx_asm(code *c, const char *text, const char *constraints, lt result, const lv *args,
               unsigned count, bool has_effects);
lv ls__ptx_register(code *c, const char *name); /* a special register: "tid.x" */
/* In the entry block, where the builder goes back from with ls__ptx_leave_entry. */
lb ls__ptx_enter_entry(code *c);
void ls__ptx_leave_entry(code *c, lb from);

/* --- memory.c --------------------------------------------------------------------------------- */
lv ls__ptx_global(code *c, lv address); /* pointer from an i64 */
lv ls__ptx_shared_at(code *c, uint32_t offset);
void ls__ptx_load(code *c, const ls__ir_inst *inst);
void ls__ptx_store(code *c, const ls__ir_inst *inst);
void ls__ptx_atomic(code *c, const ls__ir_inst *inst);
lv ls__ptx_volatile_load(code *c, lt type, lv pointer);

/* --- lanes.c ---------------------------------------------------------------------------------- */
void ls__ptx_barrier(code *c);
void ls__ptx_grid_barrier(code *c);
void ls__ptx_between_lanes(code *c, const ls__ir_inst *inst);
bool ls__ptx_cooperates(const ls__ir_function *function);
lv ls__ptx_workgroup_any(code *c, lv condition); /* i1: of any lane; a barrier */

/* --- stop.c ----------------------------------------------------------------------------------- */
void ls__ptx_trap(code *c, const ls__ir_inst *inst);
void ls__ptx_poll(code *c, const ls__ir_inst *loop);
/* The lane ends here. */
void ls__ptx_leave_stopped(code *c);
lv ls__ptx_cancelled(code *c); /* i1 */

#endif
