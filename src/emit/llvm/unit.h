/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the code generator.
 *
 * Lanes run in strands: `width` consecutive lanes of one subgroup that vector code runs together,
 * or one lane when width is 1. A value that is the same for all lanes of a strand is a scalar of
 * LLVM, any other a vector with one element a lane. With width 1 everything is a scalar and no mask
 * is ever needed, so both modes are one generator.
 *
 * Control flow that all lanes of a strand take together is plain control flow. Other control flow
 * runs under a mask (flow.c). A workgroup runs its strands one after another; where they must meet,
 * the kernel is cut into segments, each run by all strands before the next begins (segment.c).
 *
 *     session.c   what any code generator of this library needs around it; emit/ptx uses it, too
 *     emit.c      module to object: passes of LLVM, code generation, what the module may contain
 *     kernel.c    entry points, the loop over workgroups, functions and calls
 *     plan.c      what is decided before anything is emitted: cuts, masks, what must be kept where
 *     segment.c   control flow between segments, the loop over strands, what crosses segments
 *     blend.c     which sets of variables may ignore the mask;  stride.c  which are strided
 *     flow.c      control flow inside a segment, masks;  coherent.c  code for lanes that agree
 *     serial.c    loops that run lane after lane
 *     value.c     one instruction: dispatch, geometry, parameters, variables
 *     arith.c     operations on values, the same for scalars and vectors;  dot.c  dot4;
 *                 lookup.c  tables of 16 bytes
 *     memory.c    loads and stores;  lanes.c  what is done lane by lane: gathers, scatters
 *     atomic.c    atomics
 *     outside.c   reports of accesses out of range
 *     subgroup.c  operations between lanes
 */
#ifndef LS_EMIT_LLVM_UNIT_H
#define LS_EMIT_LLVM_UNIT_H

#include "emit/llvm/api.h"
#include "emit/llvm/target.h"
#include "ir/ir.h"

typedef LLVMValueRef lv;
typedef LLVMTypeRef lt;
typedef LLVMBasicBlockRef lb;

typedef struct val {
    lv scalar; /* the value of all lanes, or NULL */
    lv vector; /* by lane, or NULL when `scalar` says it all */
    /* An integer vector that is base + lane * stride (modulo its width) when `valid` holds (NULL:
     * always); base NULL: not known to be. Only a second way to compute the same. */
    lv base, valid;
    int64_t stride;
    bool no_wrap; /* base + lane * stride does not wrap as an unsigned number */
} val;

/* Helper functions of a module, made when first needed. */
typedef enum helper {
    HELPER_GATHER, /* + log2 of the bytes */
    HELPER_SCATTER = HELPER_GATHER + 4,
    HELPER_LOAD_ROW = HELPER_SCATTER + 4,
    HELPER_STORE_ROW = HELPER_LOAD_ROW + 4,
    HELPER_TRAP = HELPER_STORE_ROW + 4,
    HELPER_DIVIDE, /* sdiv, udiv, srem, urem of 64 bits */
    HELPER_COUNT = HELPER_DIVIDE + 4
} helper;

enum { ZEROS_BYTES = 256 }; /* a vector of the widest strand */

/* Instructions of the IR, those on vectors twice, from which LLVM's better code generator, whose
 * time grows with the square, would take seconds. A long function is generated quickly, though its
 * registers are still assigned well; where one is huge that takes too long, too, and all of the
 * program is generated quickly. Who makes such programs keeps them in noinline pieces. */
enum { LONG_FUNCTION = 6000, HUGE_FUNCTION = 24000 };

typedef struct ls__llvm_diagnosis { /* the last error that LLVM reported and went on from */
    const ls__llvm *l;
    bool failed;
    char text[256];
} ls__llvm_diagnosis;

typedef struct emitter { /* one module */
    const ls__llvm *l;
    const ls__ir_module *module;
    ls__llvm_target target;
    ls__arena *arena;
    ls__llvm_diagnosis *diagnosis;
    LLVMContextRef context;
    LLVMModuleRef out;
    LLVMBuilderRef b;
    lt i1, i8, i16, i32, i64, f16, f32, f64, ptr, void_type;
    lv zeros;                   /* what loads out of range read */
    bool has_short_loops;       /* in scalar code: worth unrolling */
    bool is_generated_quickly;  /* by the faster of LLVM's code generators */
    lv *tables;                 /* by constant table; NULL until used */
    lv outside;                 /* outside.c's helper; NULL until used */
    LS__VEC(struct callee) callees;
    struct {
        uint32_t width;
        lv function[HELPER_COUNT];
    } helpers[6]; /* by log2 of the width */
} emitter;

typedef struct callee { /* a noinline function in the form that kernels of one shape call */
    uint32_t function, width;
    uint32_t workgroup[3];
    bool masked; /* takes the mask of the lanes that call; else all do */
    lv code;
    lt type;
    uint64_t scratch_bytes;
} callee;

/* What is known of a structured instruction or a jump (break, continue, return, while) before
 * emission; plan.c. The frame of a jump is what it leaves or continues. */
typedef struct note {
    const ls__ir_inst *inst;
    struct note *parent; /* enclosing structured instruction */
    struct note *target; /* jumps: the frame; NULL: the function */
    uint32_t order, end; /* position in program order; of its last instruction */
    bool outer;          /* between segments: all strands take it together */
    bool masked;  /* frames: a lane may leave before others. Jumps: not all lanes of the frames
                   * that are left take it together */
    bool escapes; /* frames: some lanes may jump from inside to beyond */
    bool has_break, has_continue; /* frames: slots are needed for lanes that broke out, continued */
    /* While the frame is open in emission: */
    lb exit, next;                  /* where to go when all lanes break, continue */
    lv left, continued;             /* allocas of masks: the lanes that did */
    uint64_t left_at, continued_at; /* outer frames: the same in scratch, u32 by strand */
    bool in_step;
} note;

typedef enum slot_kind { SLOT_NONE, SLOT_STACK, SLOT_SCRATCH } slot_kind;

typedef struct slot { /* keeps a value or variable from segment to segment */
    slot_kind kind;
    lv place;        /* STACK: alloca */
    uint64_t offset; /* SCRATCH: of strand 0; strands follow each other by `step` */
    uint64_t step;
} slot;

typedef struct variable {
    lv place;         /* alloca that the code of a segment uses */
    slot home;        /* NONE: all uses are in one run of one segment */
    lv out;           /* STACK homes: what the segment leaves, for the strand loop */
    uint32_t segment; /* first segment that uses it; 0 = unused */
    bool many;        /* used in several segments, or in one that is run several times */
    uint32_t stamp;
    const ls__ir_inst *first_use; /* in program order */
    uint32_t last_get;
    bool is_even;            /* likely uniform or base + lane * stride */
    bool is_strided;         /* it is, if what it is set to first is; stride.c */
    const ls__ir_inst *loop; /* in which a strided one goes on */
    lv base;                 /* alloca of the base, when it was; the stride: */
    int64_t stride;
    const ls__ir_region *home_region; /* the smallest that holds all uses */
} variable;

typedef struct local {
    lv place;              /* alloca, or NULL: in scratch */
    uint64_t offset, step; /* scratch: of strand 0, from strand to strand */
    /* All accesses are of this size, at multiples of it: elements lie one behind the other, each
     * for all lanes. 0: the objects of the lanes do. */
    uint32_t element;
    bool is_float; /* they are all of f32, or of f64 */
} local;

typedef struct unit { /* one function */
    emitter *e;
    const ls__llvm *l;
    LLVMBuilderRef b;
    const ls__ir_function *function;
    struct {                       /* outside.c */
        const ls__ir_inst **items; /* the function's sites, in order */
        uint32_t count, first;     /* number of items[0] in the module */
        uint32_t last;             /* index of the one looked up last */
        lv record;                 /* alloca of an ls__cpu_outside */
    } sites;
    ls__ir_uniformity uniformity;
    uint32_t width, workgroup[3], lane_count, strand_count;
    bool is_generated_quickly; /* by the faster of LLVM's code generators */
    lv code;
    lb allocas;       /* the entry block: allocas and parameters; ends in a branch to `start` */
    lb stop;          /* where a cancelled kernel goes */
    ls_status status; /* of callees */
    ls_error *error;

    /* Arguments and geometry. */
    lv args, scratch, cancel;
    lv *buffers, *ranges; /* by buffer index */
    lv *scalars;          /* functions: by scalar parameter */
    lv *results;          /* functions: pointers to the results */
    lv workgroup_id[3], workgroup_count[3], workgroup_linear;
    lv strand, first_lane; /* number of the strand; linear local id of its lane 0 */
    lv entry_mask; /* functions: the caller's mask; NULL when all lanes call, and in kernels */
    lv lanes;      /* constant <0, 1, ..., width-1> */

    /* Plan. */
    note *notes; /* in program order */
    uint32_t note_count;
    uint32_t *note_index; /* hash table: by instruction, position + 1 */
    uint32_t note_capacity;
    bool is_cut;              /* there is more than one segment */
    bool *is_used;            /* by value: an operand of something */
    uint32_t *value_segments; /* by value */
    slot *value_slots;
    variable *vars;
    bool return_is_masked; /* some lanes of a strand may return before others */
    bool return_crosses;   /* and the ones that have are to be skipped in later segments */
    bool has_inner_exits;  /* jumps inside of segments leave or continue frames between segments */
    lv returned;           /* alloca of a mask: lanes that have returned, in this segment */
    uint64_t returned_at;  /* the same in scratch */
    local *locals;
    lv spills[4]; /* where vectors lie while helpers use them: one at a time each */
    uint64_t *shared_offsets;
    uint64_t zeroed_bytes;  /* first part of scratch, cleared for each workgroup */
    uint64_t scratch_bytes; /* of this function without what it calls */
    uint64_t callee_scratch_bytes;

    /* While emitting. */
    uint32_t segment; /* stamp of the current run of instructions */
    val *values;
    uint32_t *value_stamps; /* the segment in which values[i] holds */
    lv mask;                /* lanes that are active; NULL: all of the strand */
    lb empty;               /* where to go when none is */
    lb retreat;             /* where all that lanes have begun together is done anew, or NULL */
    lb block;               /* that instructions are being added to; how many: */
    uint32_t block_size;
    bool is_doubled;         /* coherent.c has done its work */
    uint32_t doubled_rounds; /* instructions of loops for which it has */
    lb segment_end;
    lb body_end; /* where a workgroup that returns goes */
    note *frame; /* innermost open structured instruction */
} unit;

/* --- flow.c, segment.c, kernel.c, plan.c ------------------------------------------------------ */
uint64_t ls__llvm_length(const ls__ir_function *function, bool is_scalar);
void ls__llvm_plan(unit *u);
note *ls__llvm_note(const unit *u, const ls__ir_inst *inst); /* NULL: has none */
bool ls__llvm_is_uniform(const unit *u, ls_value value);
bool ls__llvm_is_uniform_var(const unit *u, ls_var var);
bool ls__llvm_is_split(const unit *u, const ls__ir_inst *inst); /* ends a segment */
bool ls__llvm_is_cheap(const unit *u, ls_value value);          /* computed anew rather than kept */
void ls__llvm_survey_vars(unit *u);
bool ls__llvm_is_dead_after(const variable *v, const ls__ir_inst *loop, uint32_t end);
void ls__llvm_find_strided(unit *u);
bool ls__llvm_needs_blend(const unit *u, ls_var var); /* a set must keep what inactive lanes hold */
void ls__llvm_emit_run(unit *u, ls__ir_inst *first, const ls__ir_inst *end);
/* Emits what depends on a condition, up to `end`, for strands whose lanes agree on it; the builder
 * then stands where the others go. Both meet at *after, unless that is NULL. */
void ls__llvm_begin_rounds(unit *u, const ls__ir_inst *loop, note *n); /* the same for a loop */
void ls__llvm_begin_coherent(unit *u, const ls__ir_inst *inst, const ls__ir_inst *end, lb *after);
void ls__llvm_find_even(unit *u);
bool ls__llvm_is_even(const unit *u, ls_value value);     /* likely: for estimates */
bool ls__llvm_is_serial(const unit *u, const note *loop); /* is to run lane after lane */
/* The unit that emits the loop for one lane, until the end. */
typedef struct ls__llvm_serial ls__llvm_serial;
unit *ls__llvm_begin_serial(unit *u, const note *loop, ls__llvm_serial **state);
void ls__llvm_end_serial(ls__llvm_serial *state);
bool ls__llvm_is_terminated(unit *u); /* the block has its end: what follows is never reached */
void ls__llvm_emit_body(unit *u);
void ls__llvm_poll(unit *u,
                   const ls__ir_inst *loop); /* for cancellation, unless it ends soon anyhow */
void ls__llvm_split_block(unit *u);          /* when it has become long */
lv ls__llvm_slot_address(unit *u, const slot *s);
lv ls__llvm_slot_load(unit *u, const slot *s, lt type);
void ls__llvm_slot_store(unit *u, const slot *s, lv value);
void ls__llvm_emit_call(unit *u, ls__ir_inst *inst);
ls_status ls__llvm_emit_kernel(emitter *e, const ls__ir_function *kernel, ls_error *error);

/* --- value.c ---------------------------------------------------------------------------------- */
void ls__llvm_emit_inst(unit *u, ls__ir_inst *inst);
val ls__llvm_value(unit *u, ls_value value);
lv ls__llvm_scalar(unit *u, ls_value value); /* of a uniform value */
lv ls__llvm_vector(unit *u, ls_value value); /* the value by lane; with width 1 the scalar */
lv ls__llvm_same(val v);                     /* the value of all lanes, or NULL: not known to be */
lv ls__llvm_spread(unit *u, lv base, int64_t stride); /* base + lane * stride, by lane */
lv ls__llvm_range_of(unit *u, ls_base base);          /* bytes of an object, i64 */
lv ls__llvm_constant(unit *u, const ls__ir_inst *inst);
lv ls__llvm_function_param(unit *u, const ls__ir_inst *inst); /* of a function, not of a kernel */
/* Of linear local ids in dimension d. */
lv ls__llvm_coordinate(unit *u, lv linear, uint32_t d);
/* A scalar may be given for any value. */
void ls__llvm_define(unit *u, const ls__ir_inst *inst, val value);
void ls__llvm_set_var(unit *u, ls_var var, lv scalar, lv vector);

/* --- arith.c ---------------------------------------------------------------------------------- */
lv ls__llvm_arith(unit *u, const ls__ir_inst *inst, const lv *args);
lv ls__llvm_dot4(unit *u, const ls__ir_inst *inst, const lv *args); /* dot.c */
lv ls__llvm_canonical(unit *u, ls_type type, lv value, bool as_bits); /* the one NaN */
lv ls__llvm_combine(unit *u, ls_op op, lv a, lv b); /* two operands, result of their type */
bool ls__llvm_is_clean(const unit *u, ls_value value, int depth); /* cannot be another NaN */

/* --- memory.c, lanes.c, atomic.c, subgroup.c ------------------------------------------------- */
typedef struct access {
    lv base, limit; /* pointer, i64 */
    uint32_t bytes;
    bool is_rare; /* a slow path beside a fast one: small before fast */
} access;

lv ls__llvm_from_memory(unit *u, ls_mem mem, lv bits); /* integers of its width, extended */
lv ls__llvm_to_memory(unit *u, const ls__ir_inst *inst, lv value); /* what a store writes */
void ls__llvm_survey_local(const unit *u, uint32_t index, local *found);
void ls__llvm_emit_load(unit *u, const ls__ir_inst *inst);
void ls__llvm_emit_store(unit *u, const ls__ir_inst *inst);
void ls__llvm_emit_atomic(unit *u, const ls__ir_inst *inst);
void ls__llvm_emit_trap(unit *u, const ls__ir_inst *inst);
/* By the active lanes. Offsets below `limit` are in range. A row's lanes lie side by side. */
lv ls__llvm_gather(unit *u, const access *a, lv offsets);
void ls__llvm_scatter(unit *u, const access *a, lv offsets, lv values);
lv ls__llvm_load_row(unit *u, const access *a, lv first);
void ls__llvm_store_row(unit *u, const access *a, lv first, lv values);
lv ls__llvm_divide64(unit *u, ls_op op, lv a, lv b);
/* By LLVM's own instruction: the operands are guarded. */
lv ls__llvm_divide_plain(unit *u, ls_op op, lv a, lv b);
lv ls__llvm_spill(unit *u, unsigned which, lv vector); /* to memory, in one of the four places */
lv ls__llvm_spill_place(unit *u, unsigned which);
lv ls__llvm_rebuild(unit *u, ls_value value); /* the vector, for a slow path */
/* Where `inst` is a site: reports active lanes whose offset is not below `limit`. `is_rare`: on a
 * slow path. */
void ls__llvm_watch(unit *u, const ls__ir_inst *inst, lv base, lv limit, val offset, bool is_rare);
void ls__llvm_emit_subgroup(unit *u, const ls__ir_inst *inst);
lv ls__llvm_fold(unit *u, ls_op op, lv vector); /* all elements as one: the xor butterfly's */

/* Code for each lane whose bit is set in `bits`, from the lowest, between begin and end. */
typedef struct lane_walk {
    lb before, head, after;
    lv bits, left;
    lv lane; /* i32: its number */
} lane_walk;

lane_walk ls__llvm_begin_walk(unit *u, lv bits, bool may_be_empty);
void ls__llvm_end_walk(unit *u, const lane_walk *walk);

#endif
