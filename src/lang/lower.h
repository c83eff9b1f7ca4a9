/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of lowering share. A kernel is lowered with everything it calls inlined; only
 * noinline functions are IR functions of their own.
 *
 * A *value* is a scalar, a pointer (base known now, offset computed), the leaves of a small struct,
 * or the place in memory of a large one. A *place* is what can be read and written: leaves in
 * variables, immutable leaves, memory, or a pointer variable. Which of these a variable of the
 * program gets is decided at its declaration: never assigned, an immutable value; small and address
 * not taken, IR variables; else memory.
 */
#ifndef LS_LANG_LOWER_H
#define LS_LANG_LOWER_H

#include "lang/internal.h"

typedef enum lang_value_kind {
    VALUE_NONE,
    VALUE_SCALAR,
    VALUE_POINTER,
    VALUE_LEAVES,
    VALUE_MEMORY
} lang_value_kind;
typedef struct lang_value {
    uint8_t kind;
    const lang_type *type;
    ls_value scalar;
    ls_base base;           /* pointer, memory */
    lang_offset offset;     /* pointer, memory */
    const ls_value *leaves; /* of a small struct */
} lang_value;

typedef struct lang_place {
    uint8_t home; /* lang_home */
    const lang_type *type;
    ls_base base;
    lang_offset offset;
    const ls_var *vars;
    const ls_value *values;
    lang_binding *pointer; /* HOME_POINTER */
} lang_place;

/* A function being lowered: the outermost, or one inlined into it. */
typedef struct lang_frame {
    lang_function *function;
    bool is_inlined;
    bool is_simple;      /* inlined, with at most one return, at its end: no block needed */
    bool has_result;     /* simple: the return was reached */
    ls__ir_region *body; /* inlined: the region of its block */
    lang_value simple_result;
    lang_place result; /* where returns store */
    ls_var returned;   /* set before leaving a loop or switch by a return */
    uint32_t nest;     /* loops and switches open inside this function */
    struct lang_frame *outer;
} lang_frame;

/* What `ls_bounded` makes of some elements of an object: an object of its own, with offsets from
 * its own begin, until memory is accessed. Its base has this kind and the number of the part. */
enum { LANG_BASE_PART = 100 };
typedef struct lang_bounded {
    ls_base base;      /* of the whole, which may be a part, too */
    lang_offset start; /* in the whole */
    uint32_t count, stride;
} lang_bounded;

typedef struct lang_lower {
    lang_context *context;
    ls__ir_cursor cursor;
    lang_function *function; /* outermost */
    lang_frame *frame;       /* innermost */
    uint32_t depth;          /* of regions */
    uint32_t loops;          /* open in all frames: a declaration in one is reached again */
    uint32_t steps;          /* over all functions */
    uint8_t zero_flags;      /* of the instructions that set something to 0: UNSET or none */
    uint64_t local_bytes, shared_bytes; /* of the function */
    uint64_t table_bytes;               /* of the module */
    LS__VEC(lang_bounded) parts;
    bool is_dead;    /* the region has ended in a jump */
    uint16_t *files; /* IR file + 1 by file of the context */
    uint32_t file_count;
} lang_lower;

typedef struct lang_region { /* what open_region saves */
    ls__ir_region *region;
    bool is_dead;
} lang_region;

/* lower.c */
void ls__lang_at_pos(lang_lower *l,
                     lang_pos pos); /* position of the instructions that follow; counts a step */
lang_region ls__lang_region_open(lang_lower *l, ls__ir_region *region);
void ls__lang_region_close(lang_lower *l, lang_region saved);
void ls__lang_jump(lang_lower *l, ls_op op); /* break or continue; the region is dead after it */
lang_value ls__lang_inline_call(lang_lower *l, lang_function *function, const lang_value *args,
                                lang_pos pos);
lang_value ls__lang_noinline_call(lang_lower *l, lang_function *function, const lang_value *args,
                                  lang_pos pos);

/* lower_place.c */
ls_value ls__lang_offset_value(lang_lower *l, lang_offset offset);
/* What an access is to: the object itself where the base is a part of one, with LS_NOWHERE instead
 * of what lies outside the part. */
ls_base ls__lang_reach(lang_lower *l, ls_base base, lang_offset offset, ls_value *value);
/* offset + index * stride, with the index checked against count when that is not 0. */
lang_offset ls__lang_offset_index(lang_lower *l, lang_offset offset, ls_value index,
                                  uint32_t stride, uint32_t count);
lang_value ls__lang_scalar(const lang_type *type, ls_value value);
ls_value ls__lang_zero(lang_lower *l, const lang_type *type);
lang_value ls__lang_zero_value(lang_lower *l, const lang_type *type); /* scalars, small structs */
lang_value ls__lang_load(lang_lower *l, const lang_place *place);
void ls__lang_store(lang_lower *l, const lang_place *place, const lang_value *value, lang_pos pos);
void ls__lang_store_zero(lang_lower *l, const lang_place *place);
/* The same where the program itself writes nothing: the sanitizer reports what reads it. */
void ls__lang_store_unset(lang_lower *l, const lang_place *place);
lang_place ls__lang_part(lang_lower *l, const lang_place *place, const lang_type *type,
                         uint32_t offset);
uint32_t ls__lang_leaf_at(const lang_type *type,
                          uint32_t offset); /* index; structs without arrays */
lang_place ls__lang_place_of_value(const lang_value *value);
/* New homes. A variable place for scalars and small structs, a local object for the rest. */
lang_place ls__lang_new_place(lang_lower *l, const lang_type *type, const char *name,
                              bool in_memory, lang_pos pos);
void ls__lang_bind_place(lang_symbol *symbol, const lang_place *place);
/* Gives a parameter or an initialised variable its home and value. */
void ls__lang_bind_value(lang_lower *l, lang_symbol *symbol, const lang_value *value);
lang_place ls__lang_symbol_place(lang_lower *l, lang_symbol *symbol);
void ls__lang_check_bytes(lang_lower *l, uint64_t *total, uint64_t bytes, uint32_t limit,
                          const char *what, lang_pos pos);

/* lower_expr.c */
lang_value ls__lang_lower_value(lang_lower *l, lang_expr *expr);
ls_value ls__lang_lower_scalar(lang_lower *l, lang_expr *expr);
ls_value ls__lang_lower_condition(lang_lower *l, lang_expr *expr); /* bool */
void ls__lang_lower_discard(lang_lower *l, lang_expr *expr);
lang_value ls__lang_init_value(lang_lower *l, const lang_type *type,
                               const lang_init *init); /* small structs */
void ls__lang_lower_init(lang_lower *l, const lang_place *place, const lang_init *init);
ls_value ls__lang_lower_conversion(lang_lower *l, ls_value value, const lang_type *from,
                                   const lang_type *to);

/* lower_builtin.c */
lang_value ls__lang_lower_builtin(lang_lower *l, lang_expr *expr, bool is_used);

/* lower_stmt.c */
void ls__lang_lower_stmts(lang_lower *l, lang_stmt **stmts, uint32_t count);

#endif
