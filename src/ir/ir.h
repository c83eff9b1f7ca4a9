/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IR in memory. Everything hangs on the module's arena and is freed with it. docs/ir.md is the
 * specification; include/lockstep/ops.def is the opcode table; verify.c holds the rules a module
 * must obey.
 *
 * Values are ids into a function's table `values` (id 0 = none), which maps an id to the
 * instruction that makes it. Removing an instruction leaves a hole in the table; `ls__ir_compact`
 * renumbers.
 */
#ifndef LS_IR_IR_H
#define LS_IR_IR_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "lockstep/ir.h"

typedef struct ls__ir_inst ls__ir_inst;
typedef struct ls__ir_region ls__ir_region;
typedef struct ls__ir_function ls__ir_function;
typedef struct ls__ir_module ls__ir_module;

typedef struct ls__ir_loc {
    uint16_t file; /* index into module->files; only meaningful when line != 0 */
    uint16_t column;
    uint32_t line; /* 1-based; 0 = none */
} ls__ir_loc;

/* Instruction flags. RAW: a float store without the NaN rule (made by lower_nan). INBOUNDS: the
 * access cannot be out of range (proved, lowered, or the caller built unchecked): backends emit no
 * check; the interpreter still checks and reports. NOWRAP on index: offset + index * stride neither
 * overflows nor is LS_NOWHERE, and count holds. UNIFORM on a load: the value is the same for all
 * lanes of the workgroup (made by lower_subgroup and the grid split only, which know it because of
 * what they stored; without it what they lower could not be shown uniform). UNSET on a set, or a
 * store to a local, of constant 0: the program has not written here, it is 0 as anything new is
 * (made by the front end, seen by the sanitizer, dropped by the pipeline). WATCHED on an access:
 * being out of range is reported (made by the pass `watch`, for devices that report; the
 * interpreter does not need it). PARTIAL on an `and` or `or` of a u32 in a buffer (made by
 * lower_memory): its offset is that of any byte in range, it leaves bytes of the word beyond the
 * range alone, may be done byte by byte, and gives 0. With INBOUNDS the operand has bits that
 * change nothing for the bytes beyond. */
enum {
    LS__IR_RAW = 1,
    LS__IR_INBOUNDS = 2,
    LS__IR_NOWRAP = 4,
    LS__IR_UNIFORM = 8,
    LS__IR_UNSET = 16,
    LS__IR_WATCHED = 32,
    LS__IR_PARTIAL = 64
};

struct ls__ir_inst {
    uint16_t op;   /* ls_op */
    uint8_t type;  /* ls_type of the result, LS_TYPE_VOID without one */
    uint8_t mem;   /* ls_mem of param, load, store, atomic; else NONE */
    uint8_t flags; /* LS__IR_* */
    ls_value id;   /* result, 0 without one */
    ls__ir_loc loc;
    uint64_t imm, imm2; /* see ops.def */
    ls_base base;
    ls_value *args;
    uint32_t arg_count;
    /* if: then, else; loop: body, step; switch: the cases, default last; block: body */
    ls__ir_region **regions;
    uint32_t region_count;
    /* switch: all cases' values, case by case (of an i32 switch, sign-extended); values of each */
    int64_t *case_values;
    uint32_t *case_sizes;
    ls_base *bases; /* call */
    uint32_t base_count;
    ls_var *results; /* call */
    uint32_t result_count;
    ls__ir_inst *prev, *next;
    ls__ir_region *parent;
};

struct ls__ir_region {
    ls__ir_inst *first, *last;
    ls__ir_inst *owner; /* the structured instruction; NULL for a function's body */
};

/* A leaf of a struct parameter's element, for tools (.npy checks); in order of offset. */
typedef struct ls__ir_field {
    const char *path; /* "pos.x", "m[3]" */
    uint32_t offset;
    uint8_t mem;
} ls__ir_field;

typedef struct ls__ir_param {
    const char *name;
    const char *type_name; /* as written: "f32", "struct body"; for tools */
    uint8_t mem;           /* element type of a pointer, type of a scalar; NONE = struct */
    bool is_pointer, is_const;
    uint32_t size, alignment; /* bytes of one element / of the scalar */
    uint32_t offset;          /* scalars: byte in the scalar block */
    uint32_t buffer;          /* pointers: buffer index */
    uint64_t min_bytes;       /* pointers: the range bound has at least so many; whole elements */
    const ls__ir_field *fields;
    uint32_t field_count;
} ls__ir_param;

typedef struct ls__ir_object { /* local or shared memory object, or (with bytes) a constant table */
    const char *name;
    uint32_t size, alignment;
    const uint8_t *bytes; /* constant tables only */
    ls__ir_loc loc;
} ls__ir_object;

typedef struct ls__ir_variable {
    const char *name;
    uint8_t type;
} ls__ir_variable;

struct ls__ir_function {
    ls__ir_module *module;
    ls_function id; /* position in module->functions */
    const char *name;
    bool is_kernel, unordered;
    uint32_t workgroup[3]; /* kernels */
    ls__ir_loc loc;
    LS__VEC(ls__ir_param) params;
    uint32_t buffer_count;         /* pointer parameters */
    uint32_t scalar_bytes;         /* size of the scalar block */
    LS__VEC(uint8_t) results;      /* ls_type */
    LS__VEC(ls__ir_variable) vars; /* index = ls_var.id; item 0 is unused */
    LS__VEC(ls__ir_object) locals;
    LS__VEC(ls__ir_object) shared; /* kernels only */
    LS__VEC(ls__ir_inst *) values; /* index = ls_value.id; item 0 is NULL; holes are NULL */
    ls__ir_region *body;
};

/* A SPEC constant and the value this module was built with; for tools. */
typedef struct ls__ir_spec {
    const char *name;
    uint8_t mem;
    int64_t value, default_value;
    const int64_t *choices; /* further values that a tuner may try */
    uint32_t choice_count;
} ls__ir_spec;

struct ls__ir_module {
    ls__arena arena;                      /* owns everything below */
    LS__VEC(ls__ir_function *) functions; /* index = ls_function.id; item 0 is NULL */
    LS__VEC(ls__ir_object) tables;
    LS__VEC(const char *) files;
    LS__VEC(ls__ir_spec) specs;
};

/* --- facts from the opcode table (ops.c) ------------------------------------------------------ */
typedef struct ls__ir_op_info {
    const char *name, *types, *operands, *flags, *doc;
    char result;
} ls__ir_op_info;
const ls__ir_op_info *ls__ir_op(ls_op op);
bool ls__ir_op_has(ls_op op, char flag);
ls_op ls__ir_op_by_name(ls__str name); /* LS_OP_NONE when unknown */
/* What a letter of the operand and result columns stands for; `variable` is what T is. VOID for
 * other letters. */
ls_type ls__ir_letter_type(char letter, ls_type variable);
const char *ls__ir_type_name(ls_type type);
const char *ls__ir_mem_name(ls_mem mem);
uint32_t ls__ir_mem_bytes(ls_mem mem);
ls_type ls__ir_mem_type(ls_mem mem);  /* the value type it loads as */
bool ls__ir_mem_is_float(ls_mem mem); /* f16, bf16, f32, f64: the NaN rule applies to stores */

/* --- construction (construct.c); all allocate from the module's arena ------------------------- */
/* A module on the heap whose arena reports exhaustion to `oom` while one is set (see
 * base/arena.h). */
ls__ir_module *ls__ir_module_create(ls__oom *oom,
                                    size_t limit_bytes); /* jumps when memory is out */
void ls__ir_module_destroy(ls__ir_module **module);
/* A copy of `spec`, what it points to included. */
void ls__ir_spec_add(ls__ir_module *module, const ls__ir_spec *spec);
ls__ir_function *ls__ir_function_add(ls__ir_module *module, const char *name, bool is_kernel);
ls__ir_function *ls__ir_function_find(const ls__ir_module *module, ls__str name);
ls__ir_param *ls__ir_param_add(ls__ir_function *function,
                               ls__ir_param param); /* sets offset / buffer */
/* The pointer parameter that is this buffer, NULL when there is none. */
const ls__ir_param *ls__ir_buffer_param(const ls__ir_function *function, uint32_t buffer);
ls_var ls__ir_var_add(ls__ir_function *function, const char *name, ls_type type);
ls_base ls__ir_local_add(ls__ir_function *function, const char *name, uint32_t size,
                         uint32_t alignment);
ls_base ls__ir_shared_add(ls__ir_function *function, const char *name, uint32_t size,
                          uint32_t alignment);
ls_base ls__ir_table_add(ls__ir_module *module, const char *name, const void *bytes, uint32_t size,
                         uint32_t alignment); /* equal tables are shared */
ls_base ls__ir_table_append(ls__ir_module *module,
                            ls__ir_object table); /* takes name and bytes as they are */
uint16_t ls__ir_file_add(ls__ir_module *module, const char *path);
ls__ir_region *ls__ir_region_new(ls__ir_module *module, ls__ir_inst *owner);

/* Position: instructions are inserted before `before`, or at the end of `region` when it is
 * NULL. */
typedef struct ls__ir_cursor {
    ls__ir_function *function;
    ls__ir_region *region;
    ls__ir_inst *before;
    ls__ir_loc loc; /* given to new instructions */
} ls__ir_cursor;

/* Makes and inserts an instruction; sets id when the type is not VOID. Operands are copied. */
ls__ir_inst *ls__ir_insert(ls__ir_cursor *cursor, ls_op op, ls_type type, const ls_value *args,
                           uint32_t arg_count);
/* Result type from the table and the operands' types; `explicit_type` serves ops whose result is
 * 'r'. */
ls_value ls__ir_emit(ls__ir_cursor *cursor, ls_op op, ls_type explicit_type, const ls_value *args,
                     uint32_t arg_count);
ls_value ls__ir_emit1(ls__ir_cursor *cursor, ls_op op, ls_value a);
ls_value ls__ir_emit2(ls__ir_cursor *cursor, ls_op op, ls_value a, ls_value b);
ls_value ls__ir_emit3(ls__ir_cursor *cursor, ls_op op, ls_value a, ls_value b, ls_value c);
ls_value ls__ir_convert(ls__ir_cursor *cursor, ls_op op, ls_type result,
                        ls_value a); /* ops with result 'r' */
ls_value ls__ir_const(ls__ir_cursor *cursor, ls_type type, uint64_t bits);
ls_value ls__ir_const_i32(ls__ir_cursor *cursor, int32_t value);
ls_value ls__ir_const_i64(ls__ir_cursor *cursor, int64_t value);
ls_value ls__ir_const_f32(ls__ir_cursor *cursor, float value);
ls_value ls__ir_const_bool(ls__ir_cursor *cursor, bool value);
ls_value ls__ir_index(ls__ir_cursor *cursor, ls_value offset, ls_value index, uint64_t stride,
                      uint64_t count);
ls_value ls__ir_load(ls__ir_cursor *cursor, ls_mem mem, ls_base base, ls_value offset);
ls__ir_inst *ls__ir_store(ls__ir_cursor *cursor, ls_mem mem, ls_base base, ls_value offset,
                          ls_value value);
ls_value ls__ir_get(ls__ir_cursor *cursor, ls_var var);
ls__ir_inst *ls__ir_set(ls__ir_cursor *cursor, ls_var var, ls_value value);
/* Structured instructions: made with empty regions (if: 2, loop: 2, block: 1, switch: by its
 * arguments). */
ls__ir_inst *ls__ir_if(ls__ir_cursor *cursor, ls_value condition);
ls__ir_inst *ls__ir_loop(ls__ir_cursor *cursor);
ls__ir_inst *ls__ir_block(ls__ir_cursor *cursor);
ls__ir_inst *ls__ir_switch(ls__ir_cursor *cursor, ls_value value, const int64_t *case_values,
                           const uint32_t *case_sizes, uint32_t case_count);

/* --- change ----------------------------------------------------------------------------------- */
/* The defining instruction. */
ls__ir_inst *ls__ir_def(const ls__ir_function *function, ls_value value);
ls_type ls__ir_type_of(const ls__ir_function *function, ls_value value);
/* The type an operation goes by: of the first operand that is T in the opcode table, else of the
 * first operand; VOID when there is none. */
ls_type ls__ir_operand_type(const ls__ir_function *function, const ls__ir_inst *inst);
/* With its regions; must be unused. */
void ls__ir_remove(ls__ir_function *function, ls__ir_inst *inst);
void ls__ir_move_before(ls__ir_inst *inst, ls__ir_inst *before);
/* Renumbers values in order of appearance and drops unused variables, so equal functions print
 * equally. */
void ls__ir_compact(ls__ir_function *function);
/* Deep copy of a function into a module (its own or another; tables, files and callees are brought
 * along by name). */
ls__ir_function *ls__ir_function_clone(ls__ir_module *module, const ls__ir_function *function,
                                       const char *name);
/* Copies every function of `source` into `module`; names must not clash. */
void ls__ir_module_link(ls__ir_module *module, const ls__ir_module *source);
ls__ir_module *ls__ir_module_clone(const ls__ir_module *module, ls__oom *oom, size_t limit_bytes);

/* Structured instructions nest at most LS__IR_MAX_DEPTH deep (verified), so recursion over regions
 * is bounded. What also runs on unverified modules stops at LS__IR_WALK_DEPTH. */
enum { LS__IR_MAX_DEPTH = 128, LS__IR_WALK_DEPTH = 1024, LS__IR_MAX_CALL_DEPTH = 64 };

/* Walk in program order; `inst` regions are visited after `inst`. Return false to stop. */
typedef bool ls__ir_visit(ls__ir_inst *inst, void *context);
bool ls__ir_walk(ls__ir_region *region, ls__ir_visit *visit, void *context);

/* --- text (print.c, read.c), binary (binary.c), rules (verify.c), uniformity (uniform.c) ------ */
void ls__ir_print(const ls__ir_module *module, ls__strbuf *out);
/* Reads the text form; errors name line and column. The module is verified. */
ls_status ls__ir_read(const char *text, size_t length, ls__ir_module **module, ls_error *error);
/* Binary form: magic, version, contract version, SHA-256 of the body, body. Reading is hardened and
 * verifies; writing needs a verified module. */
ls_status ls__ir_encode(const ls__ir_module *module, void **bytes, size_t *size,
                        ls_error *error); /* ls__mem_free */
ls_status ls__ir_decode(const void *bytes, size_t size, ls__ir_module **module, ls_error *error);
ls_status ls__ir_digest(const ls__ir_module *module, ls__digest *digest,
                        ls_error *error); /* of the body */

/* Every rule has a stable id IR0001..; the error's message starts with it. `where` names function
 * and instruction. */
ls_status ls__ir_verify(const ls__ir_module *module, ls_error *error);

/* Uniformity: over which set of lanes a value, and control flow at an instruction, is the same. */
typedef enum ls__ir_scope {
    LS__IR_GRID,      /* the same for all lanes of the dispatch */
    LS__IR_WORKGROUP, /* the same within each workgroup */
    LS__IR_SUBGROUP,  /* the same within each subgroup */
    LS__IR_LANE       /* may differ between any two lanes */
} ls__ir_scope;
typedef struct ls__ir_control { /* entry of a hash table by instruction; see ls__ir_control_scope */
    const ls__ir_inst *inst;
    uint8_t scope;
} ls__ir_control;
typedef struct ls__ir_uniformity {
    uint8_t *values; /* ls__ir_scope by value id: among the lanes that execute the instruction
                        together */
    uint8_t *vars;   /* by variable id: of what a get gives */
    uint32_t value_count;
    ls__ir_control *controls;
    uint32_t control_capacity; /* a power of two */
} ls__ir_uniformity;
/* Fixed point over the function; arrays come from `arena`. */
ls__ir_uniformity ls__ir_uniformity_of(const ls__ir_function *function, ls__arena *arena);
/* Scope of the control flow that decides whether `inst` runs, and how often (returns and breaks
 * before it count). */
ls__ir_scope ls__ir_control_scope(const ls__ir_function *function,
                                  const ls__ir_uniformity *uniformity, const ls__ir_inst *inst);
/* Upper bound of a loop's trips when it is constant (counted by a variable with constant bounds),
 * else 0. */
uint64_t ls__ir_loop_bound(const ls__ir_function *function, const ls__ir_inst *loop);

/* Sites (site.c): the accesses that are WATCHED and not INBOUNDS, numbered through the module in
 * program order from 0. Code generator and reports count alike. */
bool ls__ir_is_site(const ls__ir_inst *inst);
uint32_t ls__ir_site_count(const ls__ir_module *module);
/* The first number in the function with this id; with functions.count, the number in all. */
uint32_t ls__ir_first_site(const ls__ir_module *module, uint32_t function);
/* NULL when there are fewer; else *function is where it stands. */
const ls__ir_inst *ls__ir_site(const ls__ir_module *module, uint32_t number,
                               const ls__ir_function **function);

/* The one definition of every pure operation, used by the interpreter, the folder and tests. `args`
 * and the result are value bits as in LS_OP_CONST, `arg_type` is ls__ir_operand_type. Runs under
 * the default floating-point environment (the caller sees to it). */
uint64_t ls__ir_eval(const ls__ir_inst *inst, ls_type arg_type, const uint64_t *args);
/* The one NaN of the type for any NaN, else the bits as they are. */
uint64_t ls__ir_canonical(ls_type type, uint64_t bits);
/* Memory bits to value bits (load) and back (store, with the NaN rule unless raw). Little-endian
 * bytes. */
uint64_t ls__ir_load_bits(ls_mem mem, const uint8_t *bytes);
void ls__ir_store_bits(ls_mem mem, uint8_t *bytes, uint64_t value, bool raw);

#endif
