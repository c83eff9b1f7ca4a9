/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a graph is cut for the compiled form. Nodes that are needed stand in the order of a walk
 * along cones, depth first from the registers, and are cut into blocks of some dozen. What a block
 * computes for others is kept: single bits together in words, up to 64 of one block (a carrier),
 * others in a slot each. Registers that take values of one block with one clock are a group: their
 * values, and what they take next, are such words too.
 *
 * A carrier that changes marks its readers: blocks that use one of the bits that changed, and its
 * observer when bits of it are reported. Blocks of a cluster have one mark: they are evaluated
 * together, and what only they read is kept without being compared.
 */
#ifndef LS_COSIM_PLAN_H
#define LS_COSIM_PLAN_H

#include "cosim/engine.h"

enum { LS__NO_BLOCK = UINT32_MAX, LS__WORD_BLOCKS = 64 };

typedef enum ls__carrier_kind {
    LS__CARRIER_OUT,     /* of a block */
    LS__CARRIER_HOLD,    /* of a block, and kept */
    LS__CARRIER_REGISTER /* of a group; also INPUT nodes, which no block writes */
} ls__carrier_kind;

typedef struct ls__reader {
    uint32_t block;
    uint64_t need; /* bits of the slot that it uses */
} ls__reader;

typedef struct ls__carrier {
    ls__carrier_kind kind;
    uint32_t block; /* that writes it, or LS__NO_BLOCK */
    uint32_t slot, bits;
    bool loose;              /* one bit, for blocks alone: above it may be anything */
    LS__VEC(uint32_t) nodes; /* bit after bit; or one of any width */
    LS__VEC(ls__reader) readers;
    uint64_t observed; /* bits that are reported */
    uint32_t observer; /* number, when there are any */
} ls__carrier;

/* What a register word takes: bit k of slot `next` is node `nodes[k]` of its carrier's source. */
typedef struct ls__pair {
    uint32_t carrier, next;
    LS__VEC(uint32_t) sources; /* nodes, bit after bit */
} ls__pair;

typedef struct ls__group {
    uint32_t block, domain; /* block LS__NO_BLOCK: constants */
    uint32_t pending;       /* slot, */
    uint32_t pending_bit;
    LS__VEC(ls__pair) pairs;
} ls__group;

typedef struct ls__plan_block {
    uint32_t first, end;        /* nodes order[first, end) */
    LS__VEC(uint32_t) carriers; /* that it writes */
    LS__VEC(uint32_t) groups;
    LS__VEC(uint32_t) memories; /* that it reads; each once */
} ls__plan_block;

typedef struct ls__cosim_cut {
    uint32_t *order; /* early nodes first */
    uint32_t order_count, early_count;
    ls__plan_block *blocks; /* early ones first */
    uint32_t block_count, early_blocks;
    uint32_t *cluster_of; /* by block: those of one are evaluated together; early ones first */
    uint32_t cluster_count, early_clusters;
    uint32_t *block_of;   /* by node; LS__NO_BLOCK: not evaluated */
    uint32_t *carrier_of; /* by node; UINT32_MAX: local to its block, or a constant */
    LS__VEC(ls__carrier) carriers;
    LS__VEC(ls__group) groups; /* by domain */
    uint32_t *domain_groups;   /* groups of domain d: [domain_groups[d], domain_groups[d + 1]) */
    uint32_t observer_count;
    uint32_t dirty, pending, observers; /* slots: first of each kind of words */
    uint32_t dirty_words, pending_words, observer_words;
} ls__cosim_cut;

typedef struct ls__plan_params {
    uint32_t block_nodes;   /* about as many a block */
    uint32_t cluster_nodes; /* about as many a cluster; 0: each block is one */
} ls__plan_params;

/* Everything is in the arena; the form's places and slot_count are filled in. */
ls__cosim_cut *ls__cosim_cut_create(const ls_cosim *cosim, const ls__plan_params *params,
                                    ls__form *form, ls__arena *arena);

#endif
