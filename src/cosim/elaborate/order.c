/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a graph of the builder's nodes: what clocks depend on is EARLY, what step 3 reads gets a
 * COPY where its value would not be of before the step, loops through HOLD nodes are broken
 * (loops.c), and nodes are put in order: sources first, then EARLY nodes, then the others, both
 * depth-first along the cones of clocks and of registers, so that neighbours share operands. Nodes
 * that nothing needs are left out.
 */
#include "cosim/elaborate/order.h"

typedef struct frame {
    uint32_t node, operand;
} frame;

typedef struct ordering {
    ls__graph *graph;
    ls__builder *builder;
    ls__arena *scratch;
    uint8_t *seen;      /* by node of the builder */
    uint32_t *sequence; /* evaluated nodes in order */
    uint32_t count;
    LS__VEC(uint32_t) deferred; /* LOOP nodes of the part in work, which come last */
    LS__VEC(frame) stack;
    uint32_t *renamed; /* by node of the builder: index in the graph */
} ordering;

static ls__node *node_at(const ordering *o, uint32_t index)
{
    return &o->builder->nodes.items[index];
}

static bool is_source(const ls__node *node)
{
    return node->op == LS__NODE_CONST || node->op == LS__NODE_INPUT || node->op == LS__NODE_REG;
}

/* ---- clocks ---- */

static void mark_early(ordering *o)
{
    LS__VEC(uint32_t) stack = {0};
    for (uint32_t i = 0; i < o->graph->domain_count; i++)
        ls__vec_push(o->scratch, &stack, o->graph->domains[i].clock.index);
    while (stack.count) {
        ls__node *node = node_at(o, stack.items[--stack.count]);
        if (is_source(node) || (node->flags & LS__NODE_EARLY))
            continue;
        node->flags |= LS__NODE_EARLY;
        for (uint32_t i = 0; i < ls__node_operand_count((ls__node_op)node->op); i++)
            ls__vec_push(o->scratch, &stack, node->operands[i].index);
    }
}

/* Whether step 3 can change what a clock is made of. */
static bool has_derived(const ordering *o)
{
    const ls__graph *graph = o->graph;
    uint8_t *of_clock = LS__NEW_ARRAY(o->scratch, uint8_t, o->builder->nodes.count);
    for (uint32_t i = 0; i < graph->domain_count; i++)
        of_clock[graph->domains[i].clock.index] = 1;
    for (uint32_t i = 0; i < o->builder->nodes.count; i++) {
        const ls__node *node = node_at(o, i);
        if (!(node->flags & LS__NODE_EARLY))
            continue;
        of_clock[i] = 1;
        for (uint32_t k = 0; k < ls__node_operand_count((ls__node_op)node->op); k++)
            of_clock[node->operands[k].index] = 1;
        for (uint32_t k = 0; node->op == LS__NODE_MEM && k < graph->write_count; k++) {
            if (graph->writes[k].memory == (uint32_t)node->imm)
                return true;
        }
    }
    for (uint32_t i = 0; i < graph->reg_count; i++) {
        if (of_clock[graph->regs[i].node.index])
            return true;
    }
    return false;
}

/* ---- what step 3 reads ---- */

static void protect(ordering *o, uint32_t *copies, ls__node_id *id)
{
    const ls__node *node = node_at(o, id->index);
    if (node->op == LS__NODE_CONST ||
        (!is_source(node) && node->op != LS__NODE_HOLD && !(node->flags & LS__NODE_EARLY)))
        return;
    if (copies[id->index] == 0) {
        ls__node_id copy = ls__build_own(o->builder, LS__NODE_COPY, node->width, 0);
        node_at(o, copy.index)->operands[0] = *id;
        copies[id->index] = copy.index;
    }
    id->index = copies[id->index];
}

/* Calls `change` for each node that step 3 reads. */
typedef void (*change_id)(ordering *o, uint32_t *table, ls__node_id *id);

static void each_sampled(ordering *o, uint32_t *table, change_id change, bool all_effects)
{
    ls__graph *graph = o->graph;
    for (uint32_t i = 0; i < graph->reg_count; i++)
        change(o, table, &graph->regs[i].next);
    for (uint32_t i = 0; i < graph->write_count; i++) {
        ls__graph_write *write = &graph->writes[i];
        change(o, table, &write->address);
        for (uint32_t k = 0; k < graph->memories[write->memory].limbs; k++) {
            change(o, table, (ls__node_id *)(uintptr_t)&write->enables[k]);
            change(o, table, (ls__node_id *)(uintptr_t)&write->data[k]);
        }
    }
    for (uint32_t i = 0; i < graph->effect_count; i++) {
        ls__graph_effect *effect = &graph->effects[i];
        if (effect->domain_count == 0 && !all_effects)
            continue;
        change(o, table, &effect->enable);
        change(o, table, &effect->condition);
        for (uint32_t k = 0; k < effect->argument_count; k++)
            change(o, table, (ls__node_id *)(uintptr_t)&effect->arguments[k]);
    }
}

/* ---- order ---- */

static void enter(ordering *o, uint32_t index)
{
    if (o->seen[index])
        return;
    o->seen[index] = 1;
    if (is_source(node_at(o, index)))
        return;
    if (node_at(o, index)->flags & LS__NODE_LOOP)
        ls__vec_push(o->scratch, &o->deferred, index);
    else
        ls__vec_push(o->scratch, &o->stack, ((frame){index, 0}));
}

/* Appends the cone of a node, operands first. */
static void append_cone(ordering *o, uint32_t root)
{
    enter(o, root);
    while (o->stack.count) {
        frame *top = &o->stack.items[o->stack.count - 1];
        const ls__node *node = node_at(o, top->node);
        if (top->operand < ls__node_operand_count((ls__node_op)node->op)) {
            enter(o, node->operands[top->operand++].index);
            continue;
        }
        o->sequence[o->count++] = top->node;
        o->stack.count--;
    }
}

/* LOOP nodes come behind the cones of all of them, which may find more. */
static void append_deferred(ordering *o)
{
    for (uint32_t i = 0; i < o->deferred.count; i++) {
        uint32_t index = o->deferred.items[i];
        append_cone(o, node_at(o, index)->operands[0].index);
        append_cone(o, node_at(o, index)->operands[1].index);
    }
    for (uint32_t i = 0; i < o->deferred.count; i++)
        o->sequence[o->count++] = o->deferred.items[i];
    o->deferred.count = 0;
}

static void append_sampled(ordering *o, uint32_t *table, ls__node_id *id)
{
    (void)table;
    append_cone(o, id->index);
}

/* The number of EARLY nodes. */
static uint32_t sort_nodes(ordering *o)
{
    ls__graph *graph = o->graph;
    for (uint32_t i = 0; i < graph->domain_count; i++)
        append_cone(o, graph->domains[i].clock.index);
    append_deferred(o);
    uint32_t early = o->count;
    each_sampled(o, NULL, append_sampled, true);
    for (uint32_t i = 0; i < graph->initial_count; i++)
        append_cone(o, graph->initials[i].node.index);
    for (uint32_t i = 0; i < graph->input_count; i++)
        append_cone(o, graph->inputs[i].node.index);
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        for (uint32_t k = 0; k < graph->signals[i].piece_count; k++)
            append_cone(o, graph->signals[i].pieces[k].node.index);
    }
    append_deferred(o);
    return early;
}

/* ---- the graph ---- */

static void place_nodes(ordering *o, uint32_t early)
{
    ls__graph *graph = o->graph;
    uint32_t sources = 0;
    for (uint32_t i = 0; i < o->builder->nodes.count; i++) {
        if (o->seen[i] && is_source(node_at(o, i)))
            o->renamed[i] = sources++;
    }
    for (uint32_t i = 0; i < o->count; i++)
        o->renamed[o->sequence[i]] = sources + i;
    graph->node_count = sources + o->count;
    graph->early_end = sources + early;
    graph->nodes = LS__NEW_ARRAY(&graph->arena, ls__node, graph->node_count);
    for (uint32_t i = 0; i < o->builder->nodes.count; i++) {
        if (!o->seen[i])
            continue;
        ls__node *node = &graph->nodes[o->renamed[i]];
        *node = *node_at(o, i);
        for (uint32_t k = 0; k < ls__node_operand_count((ls__node_op)node->op); k++)
            node->operands[k].index = o->renamed[node->operands[k].index];
    }
}

static void number_levels(ls__graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        ls__node *node = &graph->nodes[i];
        if (is_source(node))
            continue;
        uint32_t count = ls__node_operand_count((ls__node_op)node->op);
        if (node->level == 0) /* else a user with a lower index asks for more */
            node->level = 1;
        for (uint32_t k = 0; k < count; k++) {
            const ls__node *operand = &graph->nodes[node->operands[k].index];
            if (node->operands[k].index < i && operand->level >= node->level)
                node->level = operand->level + 1;
        }
        for (uint32_t k = 0; k < count; k++) {
            ls__node *operand = &graph->nodes[node->operands[k].index];
            if (node->operands[k].index > i && operand->level <= node->level)
                operand->level = node->level + 1;
        }
        if (node->level >= graph->level_count)
            graph->level_count = node->level + 1;
    }
    if (graph->level_count == 0)
        graph->level_count = 1;
}

static void rename_sampled(ordering *o, uint32_t *table, ls__node_id *id)
{
    (void)o;
    id->index = table[id->index];
}

static void rename_rest(ordering *o)
{
    ls__graph *graph = o->graph;
    each_sampled(o, o->renamed, rename_sampled, true);
    for (uint32_t i = 0; i < graph->reg_count; i++)
        graph->regs[i].node.index = o->renamed[graph->regs[i].node.index];
    for (uint32_t i = 0; i < graph->initial_count; i++)
        graph->initials[i].node.index = o->renamed[graph->initials[i].node.index];
    for (uint32_t i = 0; i < graph->domain_count; i++)
        graph->domains[i].clock.index = o->renamed[graph->domains[i].clock.index];
    for (uint32_t i = 0; i < graph->input_count; i++)
        graph->inputs[i].node.index = o->renamed[graph->inputs[i].node.index];
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        for (uint32_t k = 0; k < graph->signals[i].piece_count; k++) {
            ls__piece *piece = (ls__piece *)(uintptr_t)&graph->signals[i].pieces[k];
            piece->node.index = o->renamed[piece->node.index];
        }
    }
}

void ls__graph_order(ls__graph *graph, ls__builder *builder, ls__arena *scratch)
{
    ordering o = {.graph = graph, .builder = builder, .scratch = scratch};
    mark_early(&o);
    graph->has_derived = has_derived(&o);
    each_sampled(&o, LS__NEW_ARRAY(scratch, uint32_t, builder->nodes.count), protect, false);
    graph->has_loops = ls__graph_break_loops(builder, scratch);
    uint32_t count = builder->nodes.count;
    o.seen = LS__NEW_ARRAY(scratch, uint8_t, count);
    o.sequence = LS__NEW_ARRAY(scratch, uint32_t, count);
    o.renamed = LS__NEW_ARRAY(scratch, uint32_t, count);
    uint32_t early = sort_nodes(&o);
    place_nodes(&o, early);
    number_levels(graph);
    rename_rest(&o);
}
