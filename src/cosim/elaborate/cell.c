/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that work on bits: gates, reductions, multiplexers, tables. What they mean is the cell
 * library of Yosys with the two-valued rules of docs/cosim.md. Arithmetic, shifts and comparisons
 * are in arithmetic.c.
 */
#include "cosim/elaborate/elaboration.h"

typedef ls__node_id id;

static id binary(ls__elaboration *e, ls__node_op op, id a, id b)
{
    return ls__build_binary(&e->builder, op, a, b);
}

static id not_of(ls__elaboration *e, id a)
{
    return ls__build_not(&e->builder, a);
}

/* ~(x | y) or ~(x & y) with x and y made by the other operation where there are four operands. */
static id and_or_invert(ls__elaboration *e, const ls__cell *cell, id a, id b)
{
    bool is_aoi = cell->type == LS__CELL_AOI3 || cell->type == LS__CELL_AOI4;
    ls__node_op first = is_aoi ? LS__NODE_AND : LS__NODE_OR;
    ls__node_op second = is_aoi ? LS__NODE_OR : LS__NODE_AND;
    id other = ls__net_bit(e, cell->s.items[0]);
    if (cell->type == LS__CELL_AOI4 || cell->type == LS__CELL_OAI4)
        other = binary(e, first, other, ls__net_bit(e, cell->bi.items[0]));
    return not_of(e, binary(e, second, binary(e, first, a, b), other));
}

/* Gates of one bit, which most netlists of gates are made of; LS__NO_NODE for what is none. */
static id gate(ls__elaboration *e, const ls__cell *cell)
{
    if (cell->y.count != 1 || cell->a.count != 1 || cell->b.count > 1 || cell->s.count > 1)
        return LS__NO_NODE;
    id a = ls__net_bit(e, cell->a.items[0]);
    id b = cell->b.count ? ls__net_bit(e, cell->b.items[0]) : a;
    switch (cell->type) {
    case LS__CELL_BUF:
    case LS__CELL_POS:
        return a;
    case LS__CELL_NOT:
        return not_of(e, a);
    case LS__CELL_AND:
        return binary(e, LS__NODE_AND, a, b);
    case LS__CELL_OR:
        return binary(e, LS__NODE_OR, a, b);
    case LS__CELL_XOR:
        return binary(e, LS__NODE_XOR, a, b);
    case LS__CELL_XNOR:
        return not_of(e, binary(e, LS__NODE_XOR, a, b));
    case LS__CELL_NAND:
        return not_of(e, binary(e, LS__NODE_AND, a, b));
    case LS__CELL_NOR:
        return not_of(e, binary(e, LS__NODE_OR, a, b));
    case LS__CELL_ANDNOT:
        return binary(e, LS__NODE_ANDN, a, b);
    case LS__CELL_ORNOT:
        return binary(e, LS__NODE_OR, a, not_of(e, b));
    case LS__CELL_MUX:
        return ls__build_mux(&e->builder, ls__net_bit(e, cell->s.items[0]), a, b);
    case LS__CELL_NMUX:
        return not_of(e, ls__build_mux(&e->builder, ls__net_bit(e, cell->s.items[0]), a, b));
    case LS__CELL_AOI3:
    case LS__CELL_OAI3:
    case LS__CELL_AOI4:
    case LS__CELL_OAI4:
        return and_or_invert(e, cell, a, b);
    default:
        return LS__NO_NODE;
    }
}

static ls__word bitwise(ls__elaboration *e, const ls__cell *cell)
{
    static const ls__node_op ops[LS__CELL_TYPE_COUNT] = {
        [LS__CELL_AND] = LS__NODE_AND,   [LS__CELL_OR] = LS__NODE_OR,
        [LS__CELL_XOR] = LS__NODE_XOR,   [LS__CELL_XNOR] = LS__NODE_XOR,
        [LS__CELL_BWEQX] = LS__NODE_XOR, [LS__CELL_NAND] = LS__NODE_AND,
        [LS__CELL_NOR] = LS__NODE_OR,    [LS__CELL_ANDNOT] = LS__NODE_ANDN,
        [LS__CELL_ORNOT] = LS__NODE_OR,
    };
    ls__builder *builder = &e->builder;
    bool is_signed = cell->a_signed && cell->b_signed;
    ls__word a = ls__net_extended(e, cell->a, cell->y.count, is_signed);
    ls__word b = ls__net_extended(e, cell->b, cell->y.count, is_signed);
    if (cell->type == LS__CELL_ORNOT)
        b = ls__word_not(builder, b);
    ls__word y = ls__word_bitwise(builder, ops[cell->type], a, b);
    bool inverts = cell->type == LS__CELL_XNOR || cell->type == LS__CELL_BWEQX ||
                   cell->type == LS__CELL_NAND || cell->type == LS__CELL_NOR;
    return inverts ? ls__word_not(builder, y) : y;
}

static id truth(ls__elaboration *e, ls__nets nets)
{
    return ls__word_reduce(&e->builder, LS__NODE_REDOR, ls__net_word(e, nets));
}

/* One bit, extended by zeros. */
static id reduction(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    switch (cell->type) {
    case LS__CELL_REDUCE_AND:
        return ls__word_reduce(builder, LS__NODE_REDAND, ls__net_word(e, cell->a));
    case LS__CELL_REDUCE_XOR:
        return ls__word_reduce(builder, LS__NODE_REDXOR, ls__net_word(e, cell->a));
    case LS__CELL_REDUCE_XNOR:
        return not_of(e, ls__word_reduce(builder, LS__NODE_REDXOR, ls__net_word(e, cell->a)));
    case LS__CELL_LOGIC_NOT:
        return not_of(e, truth(e, cell->a));
    case LS__CELL_LOGIC_AND:
        return binary(e, LS__NODE_AND, truth(e, cell->a), truth(e, cell->b));
    case LS__CELL_LOGIC_OR:
        return binary(e, LS__NODE_OR, truth(e, cell->a), truth(e, cell->b));
    default: /* REDUCE_OR, REDUCE_BOOL */
        return truth(e, cell->a);
    }
}

/* What the selects of a $pmux compare: values of one node, each for one select. */
typedef struct choices {
    id subject;
    LS__VEC(uint64_t) values;
} choices;

static bool add_choice(ls__elaboration *e, choices *list, id subject, uint64_t value)
{
    if (list->values.count == 0)
        list->subject = subject;
    if (!ls__node_same(list->subject, subject) || list->values.count >= 256)
        return false;
    for (uint32_t i = 0; i < list->values.count; i++) {
        if (list->values.items[i] == value)
            return false;
    }
    ls__vec_push(&e->arena, &list->values, value);
    return true;
}

/* Whether the bit (any bit, of a word) is 1 for certain values of a node only, and for none that is
 * in the list. */
static bool add_choices(ls__elaboration *e, choices *list, id bit, uint32_t depth)
{
    ls__node node = *ls__builder_node(&e->builder, bit);
    uint64_t value;
    if (node.width > 1 && node.op != LS__NODE_CONCAT && node.op != LS__NODE_OR)
        return false;
    switch ((ls__node_op)node.op) {
    case LS__NODE_EQ:
        return ls__builder_constant(&e->builder, node.operands[1], &value) &&
               add_choice(e, list, node.operands[0], value);
    case LS__NODE_NOT:
        if (ls__builder_node(&e->builder, node.operands[0])->op != LS__NODE_REDOR)
            return add_choice(e, list, node.operands[0], 0);
        return add_choice(e, list, ls__builder_node(&e->builder, node.operands[0])->operands[0], 0);
    case LS__NODE_REDAND:
        return add_choice(e, list, node.operands[0],
                          ls__node_mask((uint8_t)ls__builder_width(&e->builder, node.operands[0])));
    case LS__NODE_REDOR:
        node = *ls__builder_node(&e->builder, node.operands[0]);
        if (node.op != LS__NODE_CONCAT)
            return false;
        break;
    case LS__NODE_OR:
    case LS__NODE_CONCAT:
        break;
    default:
        return add_choice(e, list, bit, 1);
    }
    return depth < 8 && add_choices(e, list, node.operands[0], depth + 1) &&
           add_choices(e, list, node.operands[1], depth + 1);
}

/* Whether no two selects can be 1 at once, as in a case statement over constants. */
static bool are_exclusive(ls__elaboration *e, const ls__cell *cell)
{
    choices list = {0};
    for (uint32_t i = 0; i < cell->s.count; i++) {
        if (!add_choices(e, &list, ls__net_bit(e, cell->s.items[i]), 0))
            return false;
    }
    return true;
}

/* The arm whose select is 1; a without one, 0 with several. Arms are joined in pairs: a pair's word
 * is that of the half with a select. */
static ls__word parallel_mux(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t width = cell->y.count, count = cell->s.count;
    ls__word a = ls__net_word(e, cell->a);
    if (count == 0)
        return a;
    if (count == 1)
        return ls__word_mux(builder, ls__net_bit(e, cell->s.items[0]), a, ls__net_word(e, cell->b));
    bool exclusive = are_exclusive(e, cell);
    ls__word *words = LS__NEW_ARRAY(&e->arena, ls__word, count);
    id *any = LS__NEW_ARRAY(&e->arena, id, count), several = ls__build_const(builder, 1, 0);
    for (uint32_t i = 0; i < count; i++) {
        any[i] = ls__net_bit(e, cell->s.items[i]);
        words[i] = ls__net_word(e, (ls__nets){cell->b.items + (size_t)i * width, width});
    }
    for (; count > 1; count = (count + 1) / 2) {
        for (uint32_t i = 0; i < count / 2; i++) {
            id low = any[2 * i], high = any[2 * i + 1];
            if (!exclusive)
                several = binary(e, LS__NODE_OR, several, binary(e, LS__NODE_AND, low, high));
            words[i] = ls__word_mux(builder, high, words[2 * i], words[2 * i + 1]);
            any[i] = binary(e, LS__NODE_OR, low, high);
        }
        if (count % 2) {
            any[count / 2] = any[count - 1];
            words[count / 2] = words[count - 1];
        }
    }
    ls__word y = ls__word_mux(builder, any[0], a, words[0]);
    return ls__word_bitwise(builder, LS__NODE_ANDN, y, ls__word_spread(builder, several, width));
}

/* Part s of a, by halves. */
static ls__word binary_mux(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t width = cell->y.count, parts = cell->a.count / width;
    ls__word *words = LS__NEW_ARRAY(&e->arena, ls__word, parts);
    for (uint32_t i = 0; i < parts; i++)
        words[i] = ls__net_word(e, (ls__nets){cell->a.items + i * width, width});
    for (uint32_t bit = 0; bit < cell->s.count; bit++) {
        id select = ls__net_bit(e, cell->s.items[bit]);
        parts /= 2;
        for (uint32_t i = 0; i < parts; i++)
            words[i] = ls__word_mux(builder, select, words[2 * i], words[2 * i + 1]);
    }
    return words[0];
}

/* a in part s of y, 0 elsewhere. */
static void demultiplex(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t width = cell->a.count;
    ls__word a = ls__net_word(e, cell->a), s = ls__net_word(e, cell->s);
    for (uint32_t i = 0; i * width < cell->y.count; i++) {
        id here = ls__word_equal(builder, s, ls__word_const(builder, s.width, i));
        ls__word part =
            ls__word_bitwise(builder, LS__NODE_AND, a, ls__word_spread(builder, here, width));
        ls__net_assign(e, (ls__nets){cell->y.items + i * width, width}, part);
    }
}

static ls__word bitwise_mux(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    ls__word s = ls__net_word(e, cell->s);
    ls__word a = ls__word_bitwise(builder, LS__NODE_ANDN, ls__net_word(e, cell->a), s);
    ls__word b = ls__word_bitwise(builder, LS__NODE_AND, ls__net_word(e, cell->b), s);
    return ls__word_bitwise(builder, LS__NODE_OR, a, b);
}

/* A table by halves, the first input last, so that the equal parts of it are one node. */
static id look_up(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t count = UINT32_C(1) << cell->a.count;
    id *entries = LS__NEW_ARRAY(&e->arena, id, count);
    for (uint32_t i = 0; i < count; i++)
        entries[i] =
            ls__build_const(builder, 1, i < cell->table.count && cell->table.items[i] == LS__BIT_1);
    for (uint32_t bit = 0; bit < cell->a.count; bit++) {
        id select = ls__net_bit(e, cell->a.items[bit]);
        count /= 2;
        for (uint32_t i = 0; i < count; i++)
            entries[i] = ls__build_mux(builder, select, entries[2 * i], entries[2 * i + 1]);
    }
    return entries[0];
}

/* An OR of products; two bits of the table for each input: must be 0, must be 1. */
static id sum_of_products(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    id sum = ls__build_const(builder, 1, 0);
    for (uint32_t i = 0; i < cell->depth; i++) {
        id product = ls__build_const(builder, 1, 1);
        for (uint32_t k = 0; k < 2 * cell->a.count; k++) {
            uint32_t at = 2 * cell->a.count * i + k;
            if (at >= cell->table.count || cell->table.items[at] != LS__BIT_1)
                continue;
            id input = ls__net_bit(e, cell->a.items[k / 2]);
            product = binary(e, LS__NODE_AND, product, k % 2 ? input : not_of(e, input));
        }
        sum = binary(e, LS__NODE_OR, sum, product);
    }
    return sum;
}

static void full_add(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    ls__word a = ls__net_word(e, cell->a), b = ls__net_word(e, cell->b);
    ls__word c = ls__net_word(e, cell->s);
    ls__word half = ls__word_bitwise(builder, LS__NODE_XOR, a, b);
    ls__net_assign(e, cell->y, ls__word_bitwise(builder, LS__NODE_XOR, half, c));
    ls__word both = ls__word_bitwise(builder, LS__NODE_AND, a, b);
    ls__word carried = ls__word_bitwise(builder, LS__NODE_AND, half, c);
    ls__net_assign(e, cell->x, ls__word_bitwise(builder, LS__NODE_OR, both, carried));
}

/* Carries from propagate a and generate b. */
static void look_ahead(ls__elaboration *e, const ls__cell *cell)
{
    id carry = ls__net_bit(e, cell->s.items[0]);
    for (uint32_t i = 0; i < cell->y.count; i++) {
        carry = binary(e, LS__NODE_AND, carry, ls__net_bit(e, cell->a.items[i]));
        carry = binary(e, LS__NODE_OR, carry, ls__net_bit(e, cell->b.items[i]));
        ls__net_assign(e, (ls__nets){&cell->y.items[i], 1}, ls__word_of(&e->builder, carry));
    }
}

static void assign_bit(ls__elaboration *e, const ls__cell *cell, id bit)
{
    ls__net_assign(e, cell->y, ls__word_of(&e->builder, bit));
}

/* Cells without a word of their own: wires. */
static void connect(ls__elaboration *e, const ls__cell *cell)
{
    uint32_t offset = cell->type == LS__CELL_SLICE ? cell->offset : 0;
    for (uint32_t i = 0; i < cell->y.count; i++) {
        uint32_t at = i + offset;
        ls__net from = {LS__NET_0};
        if (at < cell->a.count)
            from = cell->a.items[at];
        else if (cell->type == LS__CELL_CONCAT && at - cell->a.count < cell->b.count)
            from = cell->b.items[at - cell->a.count];
        else if (cell->type == LS__CELL_POS && cell->a_signed && cell->a.count)
            from = cell->a.items[cell->a.count - 1];
        e->places.items[cell->y.items[i].index] = e->places.items[from.index];
    }
}

static ls__word inverted(ls__elaboration *e, ls__word word)
{
    return ls__word_not(&e->builder, word);
}

void ls__elaborate_cell(ls__elaboration *e, const ls__cell *cell)
{
    id bit = gate(e, cell);
    if (!ls__node_same(bit, LS__NO_NODE)) {
        e->places.items[cell->y.items[0].index] = (ls__net_place){bit, 0};
        return;
    }
    switch (cell->type) {
    case LS__CELL_BUF:
    case LS__CELL_POS:
    case LS__CELL_SLICE:
    case LS__CELL_CONCAT:
        connect(e, cell);
        break;
    case LS__CELL_NOT:
        ls__net_assign(e, cell->y,
                       inverted(e, ls__net_extended(e, cell->a, cell->y.count, cell->a_signed)));
        break;
    case LS__CELL_AND:
    case LS__CELL_OR:
    case LS__CELL_XOR:
    case LS__CELL_XNOR:
    case LS__CELL_BWEQX:
    case LS__CELL_NAND:
    case LS__CELL_NOR:
    case LS__CELL_ANDNOT:
    case LS__CELL_ORNOT:
        ls__net_assign(e, cell->y, bitwise(e, cell));
        break;
    case LS__CELL_REDUCE_AND:
    case LS__CELL_REDUCE_OR:
    case LS__CELL_REDUCE_XOR:
    case LS__CELL_REDUCE_XNOR:
    case LS__CELL_REDUCE_BOOL:
    case LS__CELL_LOGIC_NOT:
    case LS__CELL_LOGIC_AND:
    case LS__CELL_LOGIC_OR:
        assign_bit(e, cell, reduction(e, cell));
        break;
    case LS__CELL_MUX:
    case LS__CELL_PMUX:
        ls__net_assign(e, cell->y, parallel_mux(e, cell));
        break;
    case LS__CELL_NMUX:
        ls__net_assign(e, cell->y, inverted(e, parallel_mux(e, cell)));
        break;
    case LS__CELL_BMUX:
        ls__net_assign(e, cell->y, binary_mux(e, cell));
        break;
    case LS__CELL_DEMUX:
        demultiplex(e, cell);
        break;
    case LS__CELL_BWMUX:
        ls__net_assign(e, cell->y, bitwise_mux(e, cell));
        break;
    case LS__CELL_LUT:
        assign_bit(e, cell, look_up(e, cell));
        break;
    case LS__CELL_SOP:
        assign_bit(e, cell, sum_of_products(e, cell));
        break;
    case LS__CELL_FA:
        full_add(e, cell);
        break;
    case LS__CELL_LCU:
        look_ahead(e, cell);
        break;
    case LS__CELL_TRIBUF: /* ports.c */
        break;
    default:
        ls__elaborate_arithmetic(e, cell);
        break;
    }
}
