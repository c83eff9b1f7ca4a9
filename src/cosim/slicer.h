/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bit-sliced form is made of (slicer.c) before its text is written (emit_sliced.c): nodes
 * cut into functions, places of words, and the lists that kernels/sliced.kc goes by.
 */
#ifndef LS_COSIM_SLICER_H
#define LS_COSIM_SLICER_H

#include "cosim/plan.h"

/* What a change of an input touches, in kernels/sliced.kc. */
enum { LS__READ_BY_LOGIC = 1, LS__LOOKED_AT = 2 };

typedef struct ls__slicer {
    const ls_cosim *cosim;
    const ls__graph *g;
    ls__form *form;
    const ls__cosim_cut *plan;
    ls__arena *arena;
    ls__strbuf *text;
    uint32_t *at;        /* by node: its first word, or LS__NO_SLOT */
    uint32_t *function;  /* by node: 1 + the function that evaluates it */
    uint32_t *defined;   /* by node: as `function`, once it is written */
    uint32_t *loaded;    /* by node of one bit: 1 + the function that has loaded it */
    uint32_t *previous;  /* by node: words of what it was, for pins */
    uint8_t *looked_at;  /* by node: it is an output or traced, or at a pin */
    uint32_t *island_of; /* by function: the node, when it is a conditional island; LS__NO_SLOT */
    uint32_t *island;    /* by node: 1 + number of a conditional island */
    uint32_t *operands;  /* by node, of such: words of what its operands were */
    uint32_t lanes;      /* of a workgroup: groups side by side */
    uint32_t words, functions, early_functions, islands;
    uint32_t current; /* the function that is being written */
    /* first words of what a group has besides nodes */
    uint32_t changed, rows, sums, seen, triggered, free_previous, stale, need, present, halted,
        evaluated;
    ls__words constants, packed, kept, mirrors, watched, inputs, clocks, enables, free_words,
        effect_nodes, traced;
} ls__slicer;

/* A slicer with functions and places, in the arena; the form's slots are counted. */
ls__slicer *ls__slicer_create(const ls_cosim *cosim, ls__form *form, ls__arena *arena);
/* Appends what is traced, once the form's traces are known. */
void ls__slicer_list_traced(ls__slicer *s);

/* Whether each instance computes the node by itself. */
bool ls__slicer_is_island(const ls__graph *g, uint32_t node);
/* Operations on words that a node takes, about. */
uint32_t ls__slicer_cost(const ls__graph *g, uint32_t node);

/* Where a word is in the text: those of the lanes lie side by side. */
static inline uint32_t ls__slicer_place(const ls__slicer *s, uint32_t word)
{
    return word * s->lanes;
}

static inline uint8_t ls__slicer_width(const ls__slicer *s, uint32_t node)
{
    return s->g->nodes[node].width;
}

#endif
