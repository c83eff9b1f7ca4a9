/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builder of nodes: what is constant is folded, what has a simpler form takes it, and equal nodes
 * are one. Nodes are numbered as they are made; order.c puts them in the order of graph.h. Memory
 * comes from an arena, so running out of it jumps (base/arena.h).
 *
 * Each function has the meaning of the operation of its name in graph.h, and gives a node of the
 * width that its operands or `width` say.
 */
#ifndef LS_COSIM_ELABORATE_BUILD_H
#define LS_COSIM_ELABORATE_BUILD_H

#include "cosim/graph.h"

#define LS__NO_NODE ((ls__node_id){UINT32_MAX})

typedef struct ls__builder {
    ls__arena *arena;
    LS__VEC(ls__node) nodes;
    uint32_t *table; /* index + 1 of nodes by content, 0 = free */
    uint32_t table_size, table_used;
} ls__builder;

void ls__builder_init(ls__builder *builder, ls__arena *arena, uint32_t expected);

static inline const ls__node *ls__builder_node(const ls__builder *builder, ls__node_id id)
{
    return &builder->nodes.items[id.index];
}
static inline uint32_t ls__builder_width(const ls__builder *builder, ls__node_id id)
{
    return builder->nodes.items[id.index].width;
}
static inline bool ls__node_same(ls__node_id a, ls__node_id b)
{
    return a.index == b.index;
}
/* Whether the node is a constant, and then its value. */
bool ls__builder_constant(const ls__builder *builder, ls__node_id id, uint64_t *value);

/* A node of its own, never shared: INPUT, REG, HOLD, COPY. */
ls__node_id ls__build_own(ls__builder *builder, ls__node_op op, uint32_t width, uint64_t imm);

/* Any other operation. Operands that it does not have are ignored. */
ls__node_id ls__build_node(ls__builder *builder, ls__node_op op, uint32_t width, uint64_t imm,
                           ls__node_id a, ls__node_id b, ls__node_id c);

ls__node_id ls__build_const(ls__builder *builder, uint32_t width, uint64_t value);
ls__node_id ls__build_not(ls__builder *builder, ls__node_id a);
/* Operations on two operands of one width: AND to SAR have that width, EQ to SLE 1 bit. */
ls__node_id ls__build_binary(ls__builder *builder, ls__node_op op, ls__node_id a, ls__node_id b);
ls__node_id ls__build_mux(ls__builder *builder, ls__node_id select, ls__node_id when_0,
                          ls__node_id when_1);
ls__node_id ls__build_reduce(ls__builder *builder, ls__node_op op, ls__node_id a);
ls__node_id ls__build_slice(ls__builder *builder, ls__node_id a, uint32_t lsb, uint32_t width);
ls__node_id ls__build_concat(ls__builder *builder, ls__node_id low, ls__node_id high);
/* `width` may be that of a (or less: cut), too. */
ls__node_id ls__build_extend(ls__builder *builder, ls__node_id a, uint32_t width, bool is_signed);

/* simplify.c: a node that is equal to the one described, or LS__NO_NODE. Operands of operations
 * that allow it may be exchanged. */
ls__node_id ls__simplify(ls__builder *builder, ls__node *node);

#endif
