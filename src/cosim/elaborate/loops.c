/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breaks cycles of nodes. Each goes through a HOLD (operands of all others are made before them),
 * so it is enough to mark HOLD nodes: latches of one phase in a design with two, one of two
 * cross-coupled, a register whose reset depends on it. Few marks are better, as each may cost a
 * sweep more: in each strongly connected part (Tarjan 1972) the nodes with the most common mask are
 * marked, which is the gate of one phase, and what is still connected is looked at again.
 */
#include <string.h>

#include "cosim/elaborate/order.h"

enum { ROUNDS = 8 }; /* then all that are left are marked */

typedef struct frame {
    uint32_t node, operand;
} frame;

typedef struct search {
    ls__builder *builder;
    ls__arena *scratch;
    uint32_t *number, *low; /* by node; number 0 = not seen */
    uint8_t *on_path;       /* in a part that is not complete */
    uint32_t *votes;        /* by node as a mask */
    uint32_t counter;
    bool mark_all, marked;
    LS__VEC(frame) stack;
    LS__VEC(uint32_t) path;
} search;

static ls__node *node_at(const search *s, uint32_t index)
{
    return &s->builder->nodes.items[index];
}

static uint32_t edge_count(const ls__node *node)
{
    if (node->op == LS__NODE_HOLD && (node->flags & LS__NODE_LOOP))
        return 0;
    return ls__node_operand_count((ls__node_op)node->op);
}

static bool is_open_hold(const ls__node *node)
{
    return node->op == LS__NODE_HOLD && !(node->flags & LS__NODE_LOOP);
}

/* The part is what lies on the path from `begin` on. */
static void mark_part(search *s, uint32_t begin)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = begin; i < s->path.count; i++) {
        const ls__node *node = node_at(s, s->path.items[i]);
        if (!is_open_hold(node))
            continue;
        uint32_t mask = node->operands[0].index;
        s->votes[mask]++;
        if (best == UINT32_MAX || s->votes[mask] > s->votes[best])
            best = mask;
    }
    for (uint32_t i = begin; i < s->path.count; i++) {
        ls__node *node = node_at(s, s->path.items[i]);
        if (!is_open_hold(node))
            continue;
        s->votes[node->operands[0].index] = 0;
        if (s->mark_all || node->operands[0].index == best)
            node->flags |= LS__NODE_LOOP;
    }
    s->marked = true;
}

static void enter(search *s, uint32_t index)
{
    s->number[index] = s->low[index] = ++s->counter;
    s->on_path[index] = 1;
    ls__vec_push(s->scratch, &s->path, index);
    ls__vec_push(s->scratch, &s->stack, ((frame){index, 0}));
}

static void leave(search *s, uint32_t index)
{
    s->stack.count--;
    if (s->stack.count) {
        uint32_t user = s->stack.items[s->stack.count - 1].node;
        if (s->low[index] < s->low[user])
            s->low[user] = s->low[index];
    }
    if (s->low[index] != s->number[index])
        return;
    uint32_t begin = s->path.count;
    do
        s->on_path[s->path.items[--begin]] = 0;
    while (s->path.items[begin] != index);
    if (s->path.count - begin > 1)
        mark_part(s, begin);
    s->path.count = begin;
}

static void visit(search *s, uint32_t root)
{
    enter(s, root);
    while (s->stack.count) {
        frame *top = &s->stack.items[s->stack.count - 1];
        const ls__node *node = node_at(s, top->node);
        if (top->operand == edge_count(node)) {
            leave(s, top->node);
            continue;
        }
        uint32_t operand = node->operands[top->operand++].index;
        if (s->number[operand] == 0)
            enter(s, operand);
        else if (s->on_path[operand] && s->number[operand] < s->low[top->node])
            s->low[top->node] = s->number[operand];
    }
}

bool ls__graph_break_loops(ls__builder *builder, ls__arena *scratch)
{
    uint32_t count = builder->nodes.count;
    search s = {.builder = builder, .scratch = scratch};
    bool any = false;
    for (uint32_t round = 0;; round++) {
        s.marked = false;
        s.mark_all = round >= ROUNDS;
        s.counter = 0;
        for (uint32_t i = 0; i < count; i++) {
            const ls__node *node = node_at(&s, i);
            if (!is_open_hold(node) || (s.number && s.number[i]))
                continue;
            if (!s.number) {
                s.number = LS__NEW_ARRAY(scratch, uint32_t, count);
                s.low = LS__NEW_ARRAY(scratch, uint32_t, count);
                s.votes = LS__NEW_ARRAY(scratch, uint32_t, count);
                s.on_path = LS__NEW_ARRAY(scratch, uint8_t, count);
            }
            visit(&s, i);
        }
        if (!s.marked)
            return any;
        any = true;
        memset(s.number, 0, count * sizeof *s.number);
    }
}
