/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes as Kernel C. In generated code a value of one bit may have anything above bit 0 ("loose"):
 * gates do not care, and what does masks it.
 */
#ifndef LS_COSIM_EMIT_NODE_H
#define LS_COSIM_EMIT_NODE_H

#include "cosim/plan.h"

typedef struct ls__arms ls__arms;

/* Of a node in what is written (emit_trees.c). */
enum {
    LS__ROLE_NONE,
    LS__ROLE_TREE, /* the last gate of a tree, */
    LS__ROLE_INNER /* another one: nothing is written for it */
};

typedef struct ls__emitter {
    const ls_cosim *cosim;
    const ls__graph *g;
    const ls__form *form;
    const ls__cosim_cut *plan;
    ls__strbuf *text;
    uint32_t block;    /* that is being written */
    uint32_t *loaded;  /* by node: 1 + the block that has loaded it */
    uint32_t *defined; /* by node: 1 + the block that has computed it */
    uint8_t *loose;    /* by node */
    uint8_t *role;     /* by node */
    uint32_t *uses;    /* by node: how many operands it is */
    /* arms of multiplexers (emit_arms.c) */
    ls__arms *arms;
    uint32_t *place_of;      /* by node: in the plan's order */
    uint8_t *is_result;      /* by node: something beside nodes of its block needs it */
    uint32_t depth;          /* arms around what is being written */
    LS__VEC(uint32_t) loads; /* what they have loaded */
    ls__arena *arena;
} ls__emitter;

ls__arms *ls__arms_create(const ls__cosim_cut *plan, ls__arena *arena);
/* Finds the trees of gates among the nodes of a block. */
void ls__find_trees(ls__emitter *e, uint32_t first, uint32_t end);
void ls__emit_tree(ls__emitter *e, uint32_t root);

/* The nodes of the plan's order from `first` on, before `end`; all of one block. */
void ls__emit_nodes(ls__emitter *e, uint32_t first, uint32_t end);

/* The definition of a local variable with the node's value, and of what it loads. */
void ls__emit_node(ls__emitter *e, uint32_t node);
/* A value that ls__emit_node has made or that is loaded; `strict`: bits above the width are 0. */
void ls__emit_value(ls__emitter *e, uint32_t node, bool strict);
/* Makes sure that a value can be named in the block. */
void ls__emit_load(ls__emitter *e, uint32_t node);

#endif
