/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/ir.h - the typed IR as data: types, opcodes, and the builder for programs that are not
 * written as text (a netlist compiler). docs/ir.md is the specification. Included by
 * lockstep/program.h.
 *
 * Shape of the IR. A module holds functions, constant tables and names. A function is a tree of
 * regions; a region is a list of instructions; structured instructions (if, loop, switch, block)
 * own regions. An instruction has operands that are values (results of earlier instructions that
 * dominate it), attributes, and at most one result. What crosses control flow lives in variables
 * (`get`/`set`) or in memory objects. There are five value types; memory has more.
 */
#ifndef LOCKSTEP_IR_H
#define LOCKSTEP_IR_H

#include "lockstep/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Value types. X(name, text, bytes) */
#define LS_TYPE_TABLE(X)                                                                           \
    X(VOID, "void", 0)                                                                             \
    X(BOOL, "bool", 1)                                                                             \
    X(I32, "i32", 4)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(F32, "f32", 4)                                                                               \
    X(F64, "f64", 8)

typedef enum ls_type {
#define X(name, text, bytes) LS_TYPE_##name,
    LS_TYPE_TABLE(X)
#undef X
        LS_TYPE_COUNT
} ls_type;

/* Memory types: what a load or store moves. Narrow integers extend to i32 as their sign says; f16
 * and bf16 are values of type i32 (the low 16 bits). BOOL is one byte: loads give (byte != 0).
 * U32/U64 differ from I32/I64 in name only. X(name, text, bytes, value type) */
#define LS_MEM_TABLE(X)                                                                            \
    X(NONE, "none", 0, VOID)                                                                       \
    X(BOOL, "bool", 1, BOOL)                                                                       \
    X(I8, "i8", 1, I32)                                                                            \
    X(U8, "u8", 1, I32)                                                                            \
    X(I16, "i16", 2, I32)                                                                          \
    X(U16, "u16", 2, I32)                                                                          \
    X(I32, "i32", 4, I32)                                                                          \
    X(U32, "u32", 4, I32)                                                                          \
    X(I64, "i64", 8, I64)                                                                          \
    X(U64, "u64", 8, I64)                                                                          \
    X(F16, "f16", 2, I32)                                                                          \
    X(BF16, "bf16", 2, I32)                                                                        \
    X(F32, "f32", 4, F32)                                                                          \
    X(F64, "f64", 8, F64)

typedef enum ls_mem {
#define X(name, text, bytes, type) LS_MEM_##name,
    LS_MEM_TABLE(X)
#undef X
        LS_MEM_COUNT
} ls_mem;

typedef enum ls_op {
    LS_OP_NONE,
#define LS_OP(name, text, types, operands, result, flags, doc) LS_OP_##name,
#include "lockstep/ops.def"
#undef LS_OP
    LS_OP_COUNT
} ls_op;

/* Attribute values of LS_OP_ID, LS_OP_ATOMIC, LS_OP_SG_REDUCE. X(name, text) */
#define LS_ID_TABLE(X)                                                                             \
    X(GLOBAL_ID, "global_id")                                                                      \
    X(LOCAL_ID, "local_id")                                                                        \
    X(WORKGROUP_ID, "workgroup_id")                                                                \
    X(GLOBAL_SIZE, "global_size")                                                                  \
    X(WORKGROUP_SIZE, "workgroup_size")                                                            \
    X(WORKGROUP_COUNT, "workgroup_count")                                                          \
    X(LOCAL_INDEX, "local_index")                                                                  \
    X(LANE, "lane")                                                                                \
    X(SUBGROUP, "subgroup")                                                                        \
    X(ITERATION, "iteration")
typedef enum ls_id {
#define X(name, text) LS_ID_##name,
    LS_ID_TABLE(X)
#undef X
        LS_ID_COUNT
} ls_id;

#define LS_ATOMIC_TABLE(X)                                                                         \
    X(ADD, "add")                                                                                  \
    X(SMIN, "smin")                                                                                \
    X(SMAX, "smax")                                                                                \
    X(UMIN, "umin")                                                                                \
    X(UMAX, "umax")                                                                                \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(XCHG, "xchg")
typedef enum ls_atomic {
#define X(name, text) LS_ATOMIC_##name,
    LS_ATOMIC_TABLE(X)
#undef X
        LS_ATOMIC_COUNT
} ls_atomic;

/* Float reductions take ADD, FMIN, FMAX (as fadd, fmin, fmax); integer ones all but those two. */
#define LS_REDUCE_TABLE(X)                                                                         \
    X(ADD, "add")                                                                                  \
    X(SMIN, "smin")                                                                                \
    X(SMAX, "smax")                                                                                \
    X(UMIN, "umin")                                                                                \
    X(UMAX, "umax")                                                                                \
    X(FMIN, "fmin")                                                                                \
    X(FMAX, "fmax")                                                                                \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")
typedef enum ls_reduce {
#define X(name, text) LS_REDUCE_##name,
    LS_REDUCE_TABLE(X)
#undef X
        LS_REDUCE_COUNT
} ls_reduce;

/* The byte offset that is in no range: the result of LS_OP_INDEX that does not exist. */
#define LS_NOWHERE INT64_MIN

/* --- ids: one-field structs; 0 means none ----------------------------------------------------- */
typedef struct ls_value {
    uint32_t id;
} ls_value;
typedef struct ls_var {
    uint32_t id;
} ls_var;
typedef struct ls_function {
    uint32_t id;
} ls_function;

/* What a load, store, atomic or range refers to. */
typedef enum ls_base_kind {
    LS_BASE_NONE,
    LS_BASE_BUFFER, /* index: position among the function's pointer parameters */
    LS_BASE_SHARED, /* index: shared object of the kernel */
    LS_BASE_LOCAL,  /* index: local (per lane) object of the function */
    LS_BASE_CONST   /* index: constant table of the module */
} ls_base_kind;
typedef struct ls_base {
    ls_base_kind kind;
    uint32_t index;
} ls_base;

/* --- the builder ------------------------------------------------------------------------------ */
/*
 * Builds one module. Instructions are appended at the insertion point of the current function;
 * structured instructions are begun and ended. The first mistake is kept (its text names the call)
 * and later calls do nothing; `ls_builder_finish` reports it, so calls need no check each.
 * Finishing verifies the module. Thread-safety: one thread at a time.
 */
typedef struct ls_builder ls_builder;
typedef struct ls_module ls_module; /* lockstep/program.h */

/* One parameter of a kernel or function. Pointer parameters take buffer indices in order; scalar
 * parameters are laid out in the scalar block in order, each at the next multiple of its size. */
typedef struct ls_param_desc {
    const char *name;
    ls_mem mem;         /* element type of a pointer, type of a scalar; LS_MEM_NONE for a struct */
    uint32_t size;      /* bytes of one element; 0 = that of mem */
    uint32_t alignment; /* bytes, a power of two; 0 = that of mem */
    bool is_pointer;
    bool is_const;         /* pointers: the kernel only reads */
    uint64_t min_elements; /* pointers: the range bound has so many or more; accesses below that
                              need no check. Recording a dispatch checks it. */
} ls_param_desc;

typedef struct ls_function_desc {
    size_t struct_size;
    const char *name;
    bool is_kernel;        /* else: a noinline function */
    uint32_t workgroup[3]; /* kernels; 0 = default (64, 1, 1) */
    bool unordered;
    const ls_param_desc *params;
    uint32_t param_count;
    const ls_type *results; /* noinline functions: value types returned, in order */
    uint32_t result_count;
} ls_function_desc;

LS_API ls_status ls_builder_create(ls_builder **builder, ls_error *error);
LS_API void ls_builder_destroy(ls_builder **builder);

/* Verifies and hands out the module; the builder is destroyed on success and on failure. */
LS_API ls_status ls_builder_finish(ls_builder **builder, ls_module **module, ls_error *error);

/* Adds every function of `module` (compiled Kernel C, say) to the one being built, so that
 * `ls_builder_find` and calls see them by name. The source stays the caller's. Equal names are an
 * error. */
LS_API void ls_builder_link(ls_builder *builder, const ls_module *module);
LS_API ls_function ls_builder_find(ls_builder *builder, const char *name); /* id 0: not there */

/* Begins a function; it becomes the current one until ls_builder_end. */
LS_API ls_function ls_builder_begin(ls_builder *builder, const ls_function_desc *desc);
LS_API void ls_builder_end(ls_builder *builder);

/* Objects. Sizes in bytes; alignment a power of two up to 16. Locals and shared objects read as 0
 * at first. */
LS_API ls_base ls_builder_local(ls_builder *builder, const char *name, uint32_t size,
                                uint32_t alignment);
LS_API ls_base ls_builder_shared(ls_builder *builder, const char *name, uint32_t size,
                                 uint32_t alignment);
/* constant table of the module; bytes are copied */
LS_API ls_base ls_builder_table(ls_builder *builder, const char *name, const void *bytes,
                                uint32_t size, uint32_t alignment);
LS_API ls_var ls_builder_var(ls_builder *builder, const char *name, ls_type type);

/* Source line recorded on the following instructions (0 = none). */
LS_API void ls_builder_line(ls_builder *builder, uint32_t line);

/* Values. `ls_builder_op` serves every opcode whose operands are values and which needs no
 * attribute; `result` is used by ops whose result column is 'r', else LS_TYPE_VOID. */
LS_API ls_value ls_builder_const(ls_builder *builder, ls_type type, uint64_t bits);
/* scalar parameter, by position */
LS_API ls_value ls_builder_param(ls_builder *builder, uint32_t param);
LS_API ls_value ls_builder_id(ls_builder *builder, ls_id id, uint32_t dimension);
LS_API ls_value ls_builder_op(ls_builder *builder, ls_op op, ls_type result,
                              const ls_value *operands, uint32_t operand_count);
LS_API ls_value ls_builder_float_to_int(ls_builder *builder, ls_op op, ls_type result,
                                        uint32_t bits, ls_value value); /* F2S, F2U */
LS_API ls_value ls_builder_index(ls_builder *builder, ls_value offset, ls_value index,
                                 uint64_t stride, uint64_t count);
LS_API ls_value ls_builder_load(ls_builder *builder, ls_mem mem, ls_base base, ls_value offset);
LS_API void ls_builder_store(ls_builder *builder, ls_mem mem, ls_base base, ls_value offset,
                             ls_value value);
LS_API ls_value ls_builder_range(ls_builder *builder, ls_base base);
LS_API ls_value ls_builder_atomic(ls_builder *builder, ls_atomic kind, ls_mem mem, ls_base base,
                                  ls_value offset, ls_value value);
LS_API ls_value ls_builder_atomic_cas(ls_builder *builder, ls_mem mem, ls_base base,
                                      ls_value offset, ls_value expected, ls_value desired);
LS_API ls_value ls_builder_reduce(ls_builder *builder, ls_reduce kind, ls_value value);
LS_API ls_value ls_builder_get(ls_builder *builder, ls_var var);
LS_API void ls_builder_set(ls_builder *builder, ls_var var, ls_value value);

/* Calls a noinline function of this module: scalars in order of its scalar parameters, bases in
 * order of its pointer parameters (whole buffers of the caller), results into variables. */
LS_API void ls_builder_call(ls_builder *builder, ls_function function, const ls_value *scalars,
                            uint32_t scalar_count, const ls_base *bases, uint32_t base_count,
                            const ls_var *results, uint32_t result_count);

/* Structured control. begin_if ... [else] ... close; begin_loop ... [step] ... close; begin_switch,
 * then case/default before each region (default last), ... close; begin_block ... close. The case
 * values of an i32 switch are signed, so 0xffffffff is written -1. Nothing may follow a break,
 * continue, while or return in its region. */
LS_API void ls_builder_begin_if(ls_builder *builder, ls_value condition);
LS_API void ls_builder_else(ls_builder *builder);
LS_API void ls_builder_begin_loop(ls_builder *builder);
LS_API void ls_builder_step(ls_builder *builder);
LS_API void ls_builder_while(ls_builder *builder, ls_value condition);
LS_API void ls_builder_begin_switch(ls_builder *builder, ls_value value);
LS_API void ls_builder_case(ls_builder *builder, const int64_t *values, uint32_t value_count);
LS_API void ls_builder_default(ls_builder *builder);
LS_API void ls_builder_begin_block(ls_builder *builder);
/* ends the innermost if, loop, switch or block */
LS_API void ls_builder_close(ls_builder *builder);
LS_API void ls_builder_break(ls_builder *builder);
LS_API void ls_builder_continue(ls_builder *builder);
LS_API void ls_builder_return(ls_builder *builder, const ls_value *results, uint32_t result_count);

#ifdef __cplusplus
}
#endif

#endif
