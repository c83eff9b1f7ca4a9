/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rows of a certificate are made of, inside src/conform. A case is one launch of one
 * kernel over given bytes and becomes one row. Cases that share a module come as a group, so that a
 * device builds few programs. Whoever makes a group frees it; a sink only looks at it.
 *
 * A case is a function of its name, the seed and `quick` alone. That makes rows of two devices, or
 * of two runs with different filters, comparable.
 */
#ifndef LS_CONFORM_CASE_H
#define LS_CONFORM_CASE_H

#include "base/rng.h"
#include "lockstep/launch.h"

enum { LS__CASE_BUFFERS = 12, LS__CASE_SCALARS = 64 };

typedef struct ls__case_buffer {
    uint8_t *bytes; /* what it holds at first */
    uint64_t size;
    uint32_t element; /* bytes of one */
    ls_mem mem;
    bool output; /* downloaded after the run */
} ls__case_buffer;

typedef struct ls__case {
    char name[80];                /* of the row */
    char operation[32], type[24]; /* what it is about; empty for whole programs */
    char kernel[64];
    uint32_t global[3], rounds; /* rounds 0: once, without a repeat block */
    ls__case_buffer buffers[LS__CASE_BUFFERS];
    uint32_t buffer_count;
    uint8_t scalars[LS__CASE_SCALARS];
    uint32_t scalar_bytes;
    uint64_t vectors; /* sets of inputs tried */
    uint32_t unit;    /* this many lanes with their elements of every buffer can be run by
                         themselves, so a failure can be cut down to them; 0 = they cannot */
    bool sorted;      /* an `unordered` kernel: its outputs are compared as multisets */
} ls__case;

typedef struct ls__group {
    ls_module *module;
    const char *text; /* Kernel C of a generated program, else NULL */
    const ls__case *cases;
    uint32_t count;
} ls__group;

/* What to make, and where it goes. `wanted` is asked with a row's name before anything is built. */
typedef struct ls__conform_plan {
    uint64_t seed;
    bool quick;
    bool (*wanted)(void *context, const char *name);
    ls_status (*take)(void *context, const ls__group *group, ls_error *error);
    void *context;
} ls__conform_plan;

ls_status ls__conform_ops(const ls__conform_plan *plan, ls_error *error);      /* ops.c */
ls_status ls__conform_kernels(const ls__conform_plan *plan, ls_error *error);  /* kernels.c */
ls_status ls__conform_programs(const ls__conform_plan *plan, ls_error *error); /* programs.c */

/* --- inputs (vectors.c) ----------------------------------------------------------------------- */
/* The stream of random numbers of a row. */
ls__rng ls__vectors_rng(uint64_t seed, const char *name);
/* Bits of a value of this type: special values, their neighbours, random ones. The first vectors
 * go through the special values in order. */
uint64_t ls__vectors_draw(ls__rng *rng, ls_type type, uint64_t vector);
/* As many specials as the type has. */
uint64_t ls__vectors_specials(ls_type type);
/* Elements for a kernel that computes with them: floats of moderate size, any integer. */
void ls__vectors_moderate(ls__rng *rng, ls__case_buffer *buffer);

/* Zeroed memory for a buffer of `count` elements; LS_E_OUT_OF_MEMORY. */
ls_status ls__case_add_buffer(ls__case *c, ls_mem mem, uint32_t element, uint64_t count,
                              bool output, ls_error *error);
/* Buffers and scalar block for the case's kernel as the module describes it; `counts` has the
 * elements of each pointer parameter in order. Buffers that are not const are outputs. */
ls_status ls__case_from_kernel(ls__case *c, const ls_module *module, const uint32_t *counts,
                               uint32_t count, ls_error *error);
void ls__case_finish(ls__case *c);

#endif
