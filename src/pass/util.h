/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several passes need: constants, replacement while walking, surgery on regions, and what a
 * function does to memory. Relies on definitions coming before uses in program order, so one walk
 * forward can replace values as it goes.
 */
#ifndef LS_PASS_UTIL_H
#define LS_PASS_UTIL_H

#include "ir/ir.h"

/* The bits of a constant; false when `value` is none. */
bool ls__pass_const(const ls__ir_function *function, ls_value value, uint64_t *bits);
uint32_t ls__pass_bits(ls_type type); /* width of an integer or float type */
int64_t ls__pass_signed(ls_type type, uint64_t bits);

/* Turns `inst` into a constant of its own type, in place. */
void ls__pass_become_const(ls__ir_inst *inst, uint64_t bits);

/* A cursor that inserts before `inst`, with its location. */
ls__ir_cursor ls__pass_before(ls__ir_function *function, ls__ir_inst *inst);

/* Values to use instead of others, filled during a walk in program order. A replacement must itself
 * be final. Values made after init are never replaced. */
typedef struct ls__pass_map {
    ls_value *to;
    uint32_t count;
} ls__pass_map;
void ls__pass_map_init(ls__pass_map *map, const ls__ir_function *function, ls__arena *scratch);
void ls__pass_map_args(const ls__pass_map *map, ls__ir_inst *inst); /* rewrites the operands */
/* Uses of `inst` that the walk has yet to meet see `value`; `inst` is removed. */
void ls__pass_replace(ls__pass_map *map, ls__ir_function *function, ls__ir_inst *inst,
                      ls_value value);

bool ls__pass_is_jump(const ls__ir_inst *inst); /* break, continue, return */
bool ls__pass_ends_in_jump(const ls__ir_region *region);
/* Removes all that stands after `inst` in its region. */
void ls__pass_cut_after(ls__ir_function *function, ls__ir_inst *inst);
void ls__pass_clear(ls__ir_function *function, ls__ir_region *region); /* removes all in it */
/* Moves all instructions of `from` in front of `before`. */
void ls__pass_splice(ls__ir_region *from, ls__ir_inst *before);
/* Moves `first` and all that follows it in its region to the end of `to`. */
void ls__pass_move_tail(ls__ir_inst *first, ls__ir_region *to);

/* Drops the flag UNSET, so that passes may make anything of the zeros that have it. */
void ls__pass_drop_unset(ls__ir_function *function);

/* Which buffers a function may write, itself or through a call. In a noinline function two
 * parameters may be the same buffer, so there one write spoils all. */
typedef struct ls__pass_writes {
    bool *buffers; /* by buffer index */
    bool any;
    bool may_alias;
} ls__pass_writes;
ls__pass_writes ls__pass_writes_of(const ls__ir_function *function, ls__arena *scratch);
/* A load whose value depends on its operands alone for the whole run of the function. */
bool ls__pass_is_invariant_load(const ls__pass_writes *writes, const ls__ir_inst *inst);

/* Size of a shared, local or constant object; 0 for buffers, whose range is known at run time. */
uint64_t ls__pass_object_size(const ls__ir_function *function, ls_base base);
/* The same, and of a buffer what its parameter promises. */
uint64_t ls__pass_least_size(const ls__ir_function *function, ls_base base);
bool ls__pass_accesses_memory(const ls__ir_inst *inst); /* load, store, atomic, atomic_cas */

#endif
