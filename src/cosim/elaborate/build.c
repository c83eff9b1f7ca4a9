/* SPDX-License-Identifier: Apache-2.0 */
/* Makes nodes and finds equal ones in a table with open addressing. */
#include "cosim/elaborate/build.h"

#include <string.h>

static uint32_t hash_node(const ls__node *node)
{
    uint64_t hash = node->op | (uint64_t)node->width << 8;
    for (uint32_t i = 0; i < 3; i++)
        hash = (hash ^ node->operands[i].index) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 29) ^ node->imm) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(hash >> 32);
}

static bool same_node(const ls__node *a, const ls__node *b)
{
    return a->op == b->op && a->width == b->width && a->imm == b->imm &&
           memcmp(a->operands, b->operands, sizeof a->operands) == 0;
}

void ls__builder_init(ls__builder *builder, ls__arena *arena, uint32_t expected)
{
    uint32_t size = 1024;
    while (size / 2 < expected && size < UINT32_C(1) << 30)
        size *= 2;
    *builder = (ls__builder){.arena = arena, .table_size = size};
    builder->table = LS__NEW_ARRAY(arena, uint32_t, size);
    builder->nodes.capacity = expected > 64 ? expected : 64;
    builder->nodes.items = LS__NEW_ARRAY(arena, ls__node, builder->nodes.capacity);
}

static void insert(uint32_t *table, uint32_t size, uint32_t hash, uint32_t index)
{
    uint32_t at = hash & (size - 1);
    while (table[at])
        at = (at + 1) & (size - 1);
    table[at] = index + 1;
}

static void grow_table(ls__builder *builder)
{
    uint32_t size = builder->table_size * 2;
    uint32_t *table = LS__NEW_ARRAY(builder->arena, uint32_t, size);
    for (uint32_t i = 0; i < builder->table_size; i++) {
        if (builder->table[i]) {
            uint32_t index = builder->table[i] - 1;
            insert(table, size, hash_node(&builder->nodes.items[index]), index);
        }
    }
    builder->table = table;
    builder->table_size = size;
}

static ls__node_id find_or_add(ls__builder *builder, const ls__node *node)
{
    uint32_t hash = hash_node(node), mask = builder->table_size - 1;
    for (uint32_t at = hash & mask; builder->table[at]; at = (at + 1) & mask) {
        uint32_t index = builder->table[at] - 1;
        if (same_node(&builder->nodes.items[index], node))
            return (ls__node_id){index};
    }
    if (builder->table_used >= builder->table_size / 2)
        grow_table(builder);
    builder->table_used++;
    insert(builder->table, builder->table_size, hash, builder->nodes.count);
    ls__vec_push(builder->arena, &builder->nodes, *node);
    return (ls__node_id){builder->nodes.count - 1};
}

bool ls__builder_constant(const ls__builder *builder, ls__node_id id, uint64_t *value)
{
    const ls__node *node = ls__builder_node(builder, id);
    if (node->op != LS__NODE_CONST)
        return false;
    *value = node->imm;
    return true;
}

ls__node_id ls__build_own(ls__builder *builder, ls__node_op op, uint32_t width, uint64_t imm)
{
    ls__node node = {.op = (uint8_t)op, .width = (uint8_t)width, .imm = imm};
    ls__vec_push(builder->arena, &builder->nodes, node);
    return (ls__node_id){builder->nodes.count - 1};
}

ls__node_id ls__build_const(ls__builder *builder, uint32_t width, uint64_t value)
{
    ls__node node = {.op = LS__NODE_CONST,
                     .width = (uint8_t)width,
                     .imm = value & ls__node_mask((uint8_t)width)};
    return find_or_add(builder, &node);
}

/* The value of a node whose operands are all constants. */
static bool fold(const ls__builder *builder, const ls__node *node, uint64_t *value)
{
    uint64_t operands[3] = {0};
    uint32_t count = ls__node_operand_count((ls__node_op)node->op);
    if (node->op == LS__NODE_MEM || count == 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!ls__builder_constant(builder, node->operands[i], &operands[i]))
            return false;
    }
    *value = ls__node_eval((ls__node_op)node->op, node->width, node->imm, operands[0], operands[1],
                           operands[2], (uint8_t)ls__builder_width(builder, node->operands[0]));
    return true;
}

ls__node_id ls__build_node(ls__builder *builder, ls__node_op op, uint32_t width, uint64_t imm,
                           ls__node_id a, ls__node_id b, ls__node_id c)
{
    ls__node node = {.op = (uint8_t)op, .width = (uint8_t)width, .imm = imm};
    uint32_t count = ls__node_operand_count(op);
    if (count > 0)
        node.operands[0] = a;
    if (count > 1)
        node.operands[1] = b;
    if (count > 2)
        node.operands[2] = c;
    uint64_t value;
    if (fold(builder, &node, &value))
        return ls__build_const(builder, width, value);
    ls__node_id simple = ls__simplify(builder, &node);
    return ls__node_same(simple, LS__NO_NODE) ? find_or_add(builder, &node) : simple;
}

ls__node_id ls__build_not(ls__builder *builder, ls__node_id a)
{
    return ls__build_node(builder, LS__NODE_NOT, ls__builder_width(builder, a), 0, a, a, a);
}

ls__node_id ls__build_binary(ls__builder *builder, ls__node_op op, ls__node_id a, ls__node_id b)
{
    bool compares = op >= LS__NODE_EQ && op <= LS__NODE_SLE;
    return ls__build_node(builder, op, compares ? 1 : ls__builder_width(builder, a), 0, a, b, b);
}

ls__node_id ls__build_mux(ls__builder *builder, ls__node_id select, ls__node_id when_0,
                          ls__node_id when_1)
{
    return ls__build_node(builder, LS__NODE_MUX, ls__builder_width(builder, when_0), 0, select,
                          when_0, when_1);
}

ls__node_id ls__build_reduce(ls__builder *builder, ls__node_op op, ls__node_id a)
{
    return ls__build_node(builder, op, 1, 0, a, a, a);
}

ls__node_id ls__build_slice(ls__builder *builder, ls__node_id a, uint32_t lsb, uint32_t width)
{
    return ls__build_node(builder, LS__NODE_SLICE, width, lsb, a, a, a);
}

ls__node_id ls__build_concat(ls__builder *builder, ls__node_id low, ls__node_id high)
{
    uint32_t width = ls__builder_width(builder, low) + ls__builder_width(builder, high);
    return ls__build_node(builder, LS__NODE_CONCAT, width, 0, low, high, high);
}

ls__node_id ls__build_extend(ls__builder *builder, ls__node_id a, uint32_t width, bool is_signed)
{
    uint32_t now = ls__builder_width(builder, a);
    if (width <= now)
        return ls__build_slice(builder, a, 0, width);
    return ls__build_node(builder, is_signed ? LS__NODE_SEXT : LS__NODE_ZEXT, width, 0, a, a, a);
}
