/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a block, in order, and those that only one arm of a multiplexer needs behind its
 * test. An arm that costs less than a branch stays in line. Multiplexers that follow one another
 * and have one select share the test.
 *
 * Nodes are known by their place in the plan's order. An arm has a number: 1 + 2 * the place of its
 * multiplexer + which; 0 is no arm.
 */
#include <inttypes.h>
#include <string.h>

#include "cosim/emit_node.h"

enum {
    NO_ARM = 0,
    UNKNOWN_ARM = UINT32_MAX,
    MOST_NESTED = 24,
    WORD_COST = 6, /* of a node; a single bit costs 1 */
    LEAST_COST = 6 /* of an arm that gets a branch */
};

struct ls__arms {
    uint32_t *arm;    /* by place: where the node is needed */
    uint8_t *depth;   /* by place: of that arm */
    uint32_t *cost;   /* by arm */
    uint32_t *inside; /* by arm: 1 + its first node */
    uint32_t *next;   /* by place: 1 + the next node of its arm */
};

ls__arms *ls__arms_create(const ls__cosim_cut *plan, ls__arena *arena)
{
    size_t n = plan->order_count + 1;
    ls__arms *arms = LS__NEW(arena, ls__arms);
    arms->arm = LS__NEW_ARRAY(arena, uint32_t, n);
    arms->depth = LS__NEW_ARRAY(arena, uint8_t, n);
    arms->cost = LS__NEW_ARRAY(arena, uint32_t, 2 * n + 1);
    arms->inside = LS__NEW_ARRAY(arena, uint32_t, 2 * n + 1);
    arms->next = LS__NEW_ARRAY(arena, uint32_t, n);
    return arms;
}

static uint32_t arm_number(uint32_t place, uint32_t which)
{
    return 1 + 2 * place + which;
}

static uint32_t place_of_mux(uint32_t arm)
{
    return (arm - 1) / 2;
}

static const ls__node *node_at(const ls__emitter *e, uint32_t place)
{
    return &e->g->nodes[e->plan->order[place]];
}

/* The arm around an arm. */
static uint32_t around(const ls__arms *arms, uint32_t arm)
{
    return arms->arm[place_of_mux(arm)];
}

static uint32_t depth_of(const ls__arms *arms, uint32_t arm)
{
    return arm == NO_ARM ? 0 : arms->depth[place_of_mux(arm)] + 1u;
}

/* The innermost arm that is around both. */
static uint32_t common(const ls__arms *arms, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (depth_of(arms, a) >= depth_of(arms, b))
            a = around(arms, a);
        else
            b = around(arms, b);
    }
    return a;
}

/* Where operand k of a node is needed. */
static uint32_t arm_of_use(const ls__emitter *e, uint32_t place, uint32_t k)
{
    const ls__arms *arms = e->arms;
    const ls__node *node = node_at(e, place);
    if (node->op != LS__NODE_MUX || k == 0 || arms->depth[place] >= MOST_NESTED)
        return arms->arm[place];
    return arm_number(place, k - 1);
}

static void find_arms(ls__emitter *e, uint32_t first, uint32_t end)
{
    ls__arms *arms = e->arms;
    for (uint32_t i = first; i < end; i++)
        arms->arm[i] = e->is_result[e->plan->order[i]] ? NO_ARM : UNKNOWN_ARM;
    for (uint32_t i = end; i-- > first;) {
        const ls__node *node = node_at(e, i);
        if (arms->arm[i] == UNKNOWN_ARM)
            arms->arm[i] = NO_ARM;
        arms->depth[i] = (uint8_t)depth_of(arms, arms->arm[i]);
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++) {
            uint32_t operand = node->operands[k].index;
            if (e->plan->block_of[operand] != e->block || e->place_of[operand] >= i)
                continue;
            uint32_t *arm = &arms->arm[e->place_of[operand]], use = arm_of_use(e, i, k);
            *arm = *arm == UNKNOWN_ARM ? use : common(arms, *arm, use);
        }
    }
}

static bool has_branch(const ls__arms *arms, uint32_t arm)
{
    return arms->cost[arm] >= LEAST_COST;
}

static bool is_branch(const ls__emitter *e, uint32_t place)
{
    return node_at(e, place)->op == LS__NODE_MUX &&
           (has_branch(e->arms, arm_number(place, 0)) || has_branch(e->arms, arm_number(place, 1)));
}

/* Costs of arms, and the nodes of each that has a branch, in order. */
static void fill_arms(ls__emitter *e, uint32_t first, uint32_t end)
{
    ls__arms *arms = e->arms;
    for (uint32_t i = first; i < end; i++) {
        const ls__node *node = node_at(e, i);
        uint32_t cost = node->width == 1 ? 1 : WORD_COST;
        cost += arms->cost[arm_number(i, 0)] + arms->cost[arm_number(i, 1)];
        if (arms->arm[i] != NO_ARM)
            arms->cost[arms->arm[i]] += cost;
    }
    arms->inside[NO_ARM] = 0;
    for (uint32_t i = end; i-- > first;) {
        uint32_t arm = arms->arm[i];
        while (arm != NO_ARM && !has_branch(arms, arm))
            arm = around(arms, arm);
        arms->next[i] = arms->inside[arm];
        arms->inside[arm] = i + 1;
    }
}

static void emit_inside(ls__emitter *e, uint32_t arm);

static void emit_arm(ls__emitter *e, const uint32_t *muxes, uint32_t count, uint32_t which)
{
    uint32_t outer = e->loads.count;
    e->depth++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = e->plan->order[muxes[i]],
                 operand = e->g->nodes[node].operands[1 + which].index;
        uint32_t arm = arm_number(muxes[i], which);
        if (has_branch(e->arms, arm))
            emit_inside(e, arm);
        ls__emit_load(e, operand);
        ls__strbuf_printf(e->text, "n%" PRIu32 " = ", node);
        ls__emit_value(e, operand, false);
        ls__strbuf_printf(e->text, ";\n");
    }
    e->depth--;
    while (e->loads.count > outer)
        e->loaded[e->loads.items[--e->loads.count]] = 0;
}

/* Multiplexers with one select. */
static void emit_branch(ls__emitter *e, const uint32_t *muxes, uint32_t count)
{
    uint32_t select = node_at(e, muxes[0])->operands[0].index;
    ls__emit_load(e, select);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = e->plan->order[muxes[i]];
        ls__strbuf_printf(e->text, "u64 n%" PRIu32 " = 0ul;\n", node);
        e->defined[node] = e->block + 1;
        e->loose[node] = e->g->nodes[node].width == 1;
    }
    ls__strbuf_printf(e->text, "if (");
    ls__emit_value(e, select, true);
    ls__strbuf_printf(e->text, " != 0ul) {\n");
    emit_arm(e, muxes, count, 1);
    ls__strbuf_printf(e->text, "} else {\n");
    emit_arm(e, muxes, count, 0);
    ls__strbuf_printf(e->text, "}\n");
}

static void emit_inside(ls__emitter *e, uint32_t arm)
{
    enum { MOST_SHARED = 16 };
    for (uint32_t at = e->arms->inside[arm]; at;) {
        uint32_t muxes[MOST_SHARED], count = 0, place = at - 1;
        if (!is_branch(e, place)) {
            if (e->role[e->plan->order[place]] != LS__ROLE_INNER)
                ls__emit_node(e, e->plan->order[place]);
            at = e->arms->next[place];
            continue;
        }
        uint32_t select = node_at(e, place)->operands[0].index;
        for (; at && count < MOST_SHARED; at = e->arms->next[at - 1]) {
            const ls__node *node = node_at(e, at - 1);
            if (node->op != LS__NODE_MUX || node->operands[0].index != select)
                break;
            muxes[count++] = at - 1;
        }
        emit_branch(e, muxes, count);
    }
}

void ls__emit_nodes(ls__emitter *e, uint32_t first, uint32_t end)
{
    find_arms(e, first, end);
    fill_arms(e, first, end);
    ls__find_trees(e, first, end);
    emit_inside(e, NO_ARM);
}
