/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a node that is not kept: its cone down to kept values, depth first without
 * recursion. A value is found once. */
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "cosim/value.h"

typedef struct found {
    uint32_t node; /* + 1; 0 = empty */
    uint64_t value;
} found;

typedef struct finder {
    const ls__graph *graph;
    const ls__value_source *source;
    ls__arena arena;
    found *table;
    uint32_t count, capacity; /* a power of two */
    LS__VEC(uint32_t) stack;
} finder;

static found *slot_of(finder *f, uint32_t node)
{
    uint32_t at = (node * 2654435761u) & (f->capacity - 1);
    while (f->table[at].node && f->table[at].node != node + 1)
        at = (at + 1) & (f->capacity - 1);
    return &f->table[at];
}

static void remember(finder *f, uint32_t node, uint64_t value)
{
    if (f->count * 2 >= f->capacity) {
        found *old = f->table;
        uint32_t old_capacity = f->capacity;
        f->capacity = old_capacity ? old_capacity * 2 : 64;
        f->table = LS__NEW_ARRAY(&f->arena, found, f->capacity);
        for (uint32_t i = 0; i < old_capacity; i++)
            if (old[i].node)
                *slot_of(f, old[i].node - 1) = old[i];
    }
    *slot_of(f, node) = (found){node + 1, value};
    f->count++;
}

static ls_status compute(finder *f, uint32_t index, uint64_t *value, ls_error *error)
{
    const ls__node *node = &f->graph->nodes[index];
    uint64_t operands[3] = {0};
    for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
        operands[k] = slot_of(f, node->operands[k].index)->value;
    if (node->op == LS__NODE_MEM)
        return f->source->read_memory(f->source->context, (uint32_t)node->imm,
                                      (uint32_t)(node->imm >> 32), operands[0], value, error);
    uint8_t width =
        ls__node_operand_count(node->op) ? f->graph->nodes[node->operands[0].index].width : 0;
    *value = ls__node_eval(node->op, node->width, node->imm, operands[0], operands[1], operands[2],
                           width);
    return LS_OK;
}

/* Looks at the top of the stack: finds it, or puts what it needs above it. */
static ls_status visit(finder *f, ls_error *error)
{
    uint32_t index = f->stack.items[f->stack.count - 1];
    const ls__node *node = &f->graph->nodes[index];
    uint64_t value = 0;
    ls_status status = LS_OK;
    if (slot_of(f, index)->node) {
        f->stack.count--;
        return LS_OK;
    }
    if (f->source->is_kept(f->source->context, (ls__node_id){index})) {
        status = f->source->read(f->source->context, (ls__node_id){index}, &value, error);
    } else {
        uint32_t before = f->stack.count;
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
            if (!slot_of(f, node->operands[k].index)->node)
                ls__vec_push(&f->arena, &f->stack, node->operands[k].index);
        if (f->stack.count != before)
            return LS_OK;
        status = compute(f, index, &value, error);
    }
    f->stack.count--;
    remember(f, index, value);
    return status;
}

ls_status ls__value_find(const ls__graph *graph, const ls__value_source *source, ls__node_id node,
                         uint64_t *value, ls_error *error)
{
    if (source->is_kept(source->context, node))
        return source->read(source->context, node, value, error);
    ls__oom oom;
    finder f = {.graph = graph, .source = source};
    ls__arena_init(&f.arena, &oom, 0);
    if (setjmp(oom.jump)) {
        ls__arena_finish(&f.arena);
        return ls__oom_status(&oom, error);
    }
    f.capacity = 64;
    f.table = LS__NEW_ARRAY(&f.arena, found, f.capacity);
    ls__vec_push(&f.arena, &f.stack, node.index);
    ls_status status = LS_OK;
    while (status == LS_OK && f.stack.count)
        status = visit(&f, error);
    *value = slot_of(&f, node.index)->value;
    ls__arena_finish(&f.arena);
    return status;
}
