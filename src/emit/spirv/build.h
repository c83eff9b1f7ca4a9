/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emitter's own header: one SPIR-V module being written, and the short spellings its files use.
 *
 * A `unit` is one module: one kernel and the functions it calls. A `ref` is a SPIR-V id, 0 = none.
 * Instructions go to `u->out`; code that is wanted once for a function, whoever asks first, goes to
 * the function's entry (once.c).
 *
 * Order of evaluation of a call's arguments is open in C, but the order of instructions must not
 * depend on the compiler: of the arguments of one call at most one may emit.
 */
#ifndef LS_EMIT_SPIRV_BUILD_H
#define LS_EMIT_SPIRV_BUILD_H

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "emit/spirv/abi.h"
#include "emit/spirv/target.h"
#include "ir/ir.h"

typedef uint32_t ref;
typedef LS__VEC(uint32_t) words;

/* What is asked for once and kept: at the entry of a function, or in the module. */
typedef enum once {
    ONCE_PUSH, /* and one for each member of ls__spirv_push, by its position */
    ONCE_PUSH_END = ONCE_PUSH + 18,
    ONCE_LOCAL_INDEX,
    ONCE_LOCAL_ID,
    ONCE_WORKGROUP_ID = ONCE_LOCAL_ID + 3,
    ONCE_SIZES = ONCE_WORKGROUP_ID + 3, /* global_size, then workgroup_count */
    ONCE_ZERO = ONCE_SIZES + 6,
    ONCE_ZERO64,
    ONCE_COUNT
} once;

/* Members of ls__spirv_push as the module declares them. */
typedef enum push {
    PUSH_ARGUMENTS,
    PUSH_STATUS,
    PUSH_TABLES,
    PUSH_SIZES,
    PUSH_GLOBAL_SIZE,
    PUSH_WORKGROUP_COUNT = PUSH_GLOBAL_SIZE + 3,
    PUSH_WORKGROUP_BASE = PUSH_WORKGROUP_COUNT + 3,
    PUSH_ITERATION = PUSH_WORKGROUP_BASE + 3,
    PUSH_SEQUENCE,
    PUSH_FIRST_SEQUENCE,
    PUSH_ZERO,
    PUSH_RESERVED,
    PUSH_COUNT
} push;
_Static_assert((int)PUSH_COUNT == ONCE_PUSH_END - ONCE_PUSH, "one value for each");

/* How a shared or local object lies in SPIR-V: an array of one scalar type. */
typedef struct object {
    ref variable;
    uint32_t unit;  /* bytes of the array's elements: 1, 2, 4, 8 */
    uint32_t count; /* elements */
    bool is_float;  /* elements are floats, else integers */
    bool is_shared;
    bool is_shared_word; /* narrower stores than a unit occur: they, and narrow loads, are atomic */
} object;

/* An open loop, switch or block. */
typedef struct frame {
    struct frame *outer;
    ref merge, next; /* next: where `continue` goes; 0 but in loops */
    bool merge_reached;
} frame;

typedef struct body { /* the function being written */
    const ls__ir_function *function;
    words variables, entry, code;
    ref *values;          /* by value id */
    ref *variable;        /* by ls_var.id */
    ref *address, *range; /* by buffer index */
    ref *scalars;         /* by byte in the scalar block; 0 = not read yet */
    object *locals;
    ref once[ONCE_COUNT];
    ref result_type;
    frame *top;
    bool terminated;                     /* the current block has ended */
    const ls__ir_uniformity *uniformity; /* of kernels with barriers */
    words *saved_out;                    /* of one that is set aside: what u->out was */
} body;

struct unique;

typedef struct unit {
    ls__arena *arena;
    const ls__ir_module *module;
    const ls__ir_function *kernel;
    ls__spirv_target target;
    bool unchecked;
    ls_error *error;
    ls_status status; /* the first thing that could not be done */

    words capabilities, extensions, modes, names, annotations, globals, functions;
    words interface; /* variables the entry point names */
    uint32_t next;   /* first unused id */
    struct unique *unique;
    uint32_t unique_count, unique_capacity;
    ref glsl; /* the instruction set */

    ref *function;                /* by ls_function.id */
    uint8_t *function_polls;      /* by ls_function.id: it, or what it calls, has loops that poll */
    const uint64_t *table_offset; /* by table */
    object *shared;
    uint32_t shared_bytes;
    uint32_t flags;    /* LS__SPIRV_* */
    bool has_barriers; /* lanes wait for each other in the kernel itself */

    /* variables of the module, 0 while nobody has asked */
    ref push, local_id, local_index, workgroup_id, num_workgroups;
    ref trapped, trap_code;                                 /* Private: bool, u32 */
    ref trap_lane;                                          /* Workgroup */
    ref stop, uniform_stop, poll_count, uniform_poll_count; /* Private */
    ref stop_flag;          /* Workgroup: what lane 0 has read of `cancel` */
    ref poll, uniform_poll; /* functions */

    words *out; /* where instructions go */
    body f;
} unit;

/* --- module.c: words, types, constants -------------------------------------------------------- */
#define LS__SPIRV_COUNT(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
/* An instruction as it stands. */
#define put(u, to, op, ...)                                                                        \
    ls__spirv_put((u), (to), (op), (const uint32_t[]){__VA_ARGS__},                                \
                  (uint32_t)LS__SPIRV_COUNT(__VA_ARGS__))
/* One with a result, to u->out. */
#define mk(u, op, type, ...)                                                                       \
    ls__spirv_make((u), (op), (type), (const uint32_t[]){__VA_ARGS__},                             \
                   (uint32_t)LS__SPIRV_COUNT(__VA_ARGS__))
/* One of the GLSL instructions. */
#define mk_glsl(u, op, type, ...)                                                                  \
    ls__spirv_glsl((u), (op), (type), (const uint32_t[]){__VA_ARGS__},                             \
                   (uint32_t)LS__SPIRV_COUNT(__VA_ARGS__))
/* A type or a constant: the same for the same operands. */
#define mk_unique(u, op, type, ...)                                                                \
    ls__spirv_unique((u), (op), (type), (const uint32_t[]){__VA_ARGS__},                           \
                     (uint32_t)LS__SPIRV_COUNT(__VA_ARGS__))

ref ls__spirv_new(unit *u);
void ls__spirv_put(unit *u, words *to, SpvOp op, const uint32_t *operands, uint32_t count);
ref ls__spirv_make(unit *u, SpvOp op, ref type, const uint32_t *operands, uint32_t count);
ref ls__spirv_glsl(unit *u, enum GLSLstd450 op, ref type, const uint32_t *operands, uint32_t count);
ref ls__spirv_unique(unit *u, SpvOp op, ref type, const uint32_t *operands, uint32_t count);
/* Operands that start with fixed words and end in a text. */
void ls__spirv_put_text(unit *u, words *to, SpvOp op, const uint32_t *operands, uint32_t count,
                        const char *text, const uint32_t *more, uint32_t more_count);
void ls__spirv_need(unit *u, SpvCapability capability);
void ls__spirv_need_extension(unit *u, const char *name);
void ls__spirv_decorate(unit *u, ref target, SpvDecoration decoration);
void ls__spirv_name(unit *u, ref target, const char *name);
/* Keeps the first failure; emission goes on, to be thrown away. */
void ls__spirv_fail(unit *u, ls_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails: the instruction is one that this target has lowered. */
void ls__spirv_not_lowered(unit *u, const ls__ir_inst *inst);

ref ls__spirv_void(unit *u);
ref ls__spirv_bool(unit *u);
ref ls__spirv_int(unit *u, uint32_t bits);
ref ls__spirv_float(unit *u, uint32_t bits);
ref ls__spirv_type(unit *u, ls_type type);
ref ls__spirv_pointer(unit *u, SpvStorageClass storage, ref type);
ref ls__spirv_u32(unit *u, uint32_t value);
ref ls__spirv_u64(unit *u, uint64_t value);
ref ls__spirv_int_const(unit *u, uint32_t bits, uint64_t value);   /* 32 or 64 bits */
ref ls__spirv_float_const(unit *u, uint32_t bits, uint64_t value); /* as it stands: not zero */
ref ls__spirv_null(unit *u, ref type);
/* A variable of the module, named in its interface. */
ref ls__spirv_global(unit *u, SpvStorageClass storage, ref type, ref initializer);
/* A variable of the function. */
ref ls__spirv_local(unit *u, ref type, ref initializer);

/* --- once.c: values every lane has ------------------------------------------------------------ */
ref ls__spirv_pushed(unit *u, push member);
ref ls__spirv_zero(unit *u, uint32_t bits); /* an integer that is 0, which no driver knows */
ref ls__spirv_local_index(unit *u);
ref ls__spirv_id(unit *u, ls_id which, uint32_t dimension);
ref ls__spirv_buffer_address(unit *u, uint32_t buffer);
ref ls__spirv_buffer_range(unit *u, uint32_t buffer);
ref ls__spirv_param(unit *u, const ls__ir_inst *inst);
ref ls__spirv_status_word(unit *u, uint32_t offset); /* pointer to a u32 of the status block */
ref ls__spirv_group_in_dispatch(unit *u);            /* linear, in the dispatch's own size */

/* --- arith.c, convert.c: what has no effect --------------------------------------------------- */
ref ls__spirv_pure(unit *u, const ls__ir_inst *inst);
ref ls__spirv_convert(unit *u, const ls__ir_inst *inst);
ref ls__spirv_value(unit *u, ls_value value);
uint32_t ls__spirv_bits(ls_type type);                             /* 32 or 64 */
ref ls__spirv_float_value(unit *u, uint32_t bits, uint64_t value); /* constant, zeros hidden */
/* feq, fne, flt, fle, false (fne: true) when a side is NaN, whatever the driver does of NaNs. */
ref ls__spirv_compare(unit *u, ls_op op, uint32_t bits, ref a, ref b);
ref ls__spirv_is_nan(unit *u, uint32_t bits, ref value);
ref ls__spirv_exact(unit *u, ref value); /* decorated NoContraction */
/* An integer of 32 or 64 bits of which the `low` lowest count. */
ref ls__spirv_extend(unit *u, uint32_t bits, uint32_t low, bool is_signed, ref value);
/* The same value, of which the driver cannot know anything. */
ref ls__spirv_hidden(unit *u, ls_type type, ref value);
/* Whether it was loaded from a buffer or table, so that the driver knows nothing of it. */
bool ls__spirv_is_loaded(const unit *u, ls_value value);

/* --- memory.c --------------------------------------------------------------------------------- */
void ls__spirv_plan_objects(unit *u, const ls__ir_function *function, object *locals,
                            object *shared);
void ls__spirv_declare_object(unit *u, object *o, const char *name);
void ls__spirv_clear_locals(unit *u);
void ls__spirv_clear_shared(unit *u, object *o); /* the lanes share the work */
ref ls__spirv_load_at(unit *u, ls_mem mem, ref address);
void ls__spirv_store_at(unit *u, ls_mem mem, ref address, ref value);
ref ls__spirv_memory(unit *u, const ls__ir_inst *inst);
enum { LS__SPIRV_TABLE_PADDING = 8 }; /* may be read behind the last table */

/* --- subgroup.c ------------------------------------------------------------------------------- */
ref ls__spirv_subgroup(unit *u, const ls__ir_inst *inst);

/* --- flow.c ----------------------------------------------------------------------------------- */
void ls__spirv_region(unit *u, const ls__ir_region *region);
void ls__spirv_begin(unit *u, ref label);
void ls__spirv_branch(unit *u, ref label); /* unless the block has ended */
/* `then` runs where the condition holds; close with ls__spirv_end_if(label). */
ref ls__spirv_begin_if(unit *u, ref condition);
void ls__spirv_end_if(unit *u, ref merge);
void ls__spirv_barrier(unit *u);
ref ls__spirv_result_type(unit *u, const ls__ir_function *function);

/* --- stop.c: traps and cancelling ------------------------------------------------------------- */
void ls__spirv_trap(unit *u, ref code);
ref ls__spirv_cancelled(unit *u); /* bool: what the host says now; notes that it was seen */
void ls__spirv_set_stopped(unit *u, uint32_t why); /* LS__SPIRV_STOPPED_* */
/* For the back edge of `loop`: 0 when it needs no look, else a bool: leave. */
ref ls__spirv_poll(unit *u, const ls__ir_inst *loop, bool *is_uniform);
/* After such a loop, or a call of what has some: returns when it was left for that. */
void ls__spirv_leave_when_stopped(unit *u, bool is_uniform);
bool ls__spirv_loop_polls(const ls__ir_function *function, const ls__ir_inst *loop);
void ls__spirv_set_stop_flag(unit *u); /* what `cancel` says, for the workgroup */
ref ls__spirv_stop_flag(unit *u);      /* bool: what was set */

/* --- llvmpipe.c: limits of that driver -------------------------------------------------------- */
void ls__spirv_check_depth(unit *u); /* fails when the kernel may be too deep */
void ls__spirv_check_loops(unit *u); /* at the end of main: notes loops that were ended */
/* What control flow goes by: the value, for lanes that are not there too. */
ref ls__spirv_decided(unit *u, ls_value value);

/* --- kernel.c --------------------------------------------------------------------------------- */
/* Between the two a function is written, within another if need be. `function` NULL: one of the
 * emitter's own. */
body ls__spirv_open(unit *u, const ls__ir_function *function);
ref ls__spirv_close(unit *u, const body *saved, ref result_type, const words *parameters,
                    const char *name);
/* The words of the kernel's module. */
words ls__spirv_module(unit *u);

#endif
