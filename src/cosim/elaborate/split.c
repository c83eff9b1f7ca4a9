/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes cells apart whose bits do not all depend on all operands, so that words with a bit that
 * depends on another bit of the same word are no loop. Adders become full adders with nets of their
 * own for the carries.
 */
#include "cosim/elaborate/elaboration.h"

/* Bit i of an operand, extended. */
static const ls__net *operand_bit(ls__elaboration *e, ls__nets nets, uint32_t i, bool is_signed)
{
    if (i < nets.count)
        return &nets.items[i];
    if (is_signed && nets.count)
        return &nets.items[nets.count - 1];
    ls__net *zero = LS__NEW(&e->arena, ls__net);
    zero->index = LS__NET_0;
    return zero;
}

static void add_part(ls__elaboration *e, const ls__cell *part)
{
    ls__vertex vertex = {LS__VERTEX_CELL, e->netlist->cell_count + e->parts.count};
    ls__vec_push(&e->arena, &e->parts, *part);
    for (uint32_t i = 0; i < part->y.count; i++)
        e->drivers.items[part->y.items[i].index] = vertex;
    for (uint32_t i = 0; i < part->x.count; i++)
        e->drivers.items[part->x.items[i].index] = vertex;
}

/* a + b, or a + ~b + 1, bit by bit. */
static void split_sum(ls__elaboration *e, const ls__cell *cell, ls__nets a, ls__nets b,
                      bool subtracts)
{
    bool is_signed = cell->a_signed && (cell->type == LS__CELL_NEG || cell->b_signed);
    ls__net *carry = LS__NEW(&e->arena, ls__net);
    carry->index = subtracts ? LS__NET_1 : LS__NET_0;
    for (uint32_t i = 0; i < cell->y.count; i++) {
        ls__cell part = *cell;
        part.y = part.co = part.bi = part.s = part.x = (ls__nets){0};
        ls__nets b_bit = {operand_bit(e, b, i, is_signed), 1};
        if (subtracts) {
            ls__net *inverse = LS__NEW(&e->arena, ls__net);
            *inverse = ls__net_new(e);
            part.type = LS__CELL_NOT;
            part.a = b_bit;
            part.b = (ls__nets){0};
            part.y = b_bit = (ls__nets){inverse, 1};
            add_part(e, &part);
        }
        ls__net *next = LS__NEW(&e->arena, ls__net);
        *next = ls__net_new(e);
        part.type = LS__CELL_FA;
        part.a = (ls__nets){operand_bit(e, a, i, is_signed), 1};
        part.b = b_bit;
        part.s = (ls__nets){carry, 1};
        part.y = (ls__nets){&cell->y.items[i], 1};
        part.x = (ls__nets){next, 1};
        add_part(e, &part);
        carry = next;
    }
}

/* Bit i of a cell that works bit by bit. */
static void split_bit(ls__elaboration *e, const ls__cell *cell, uint32_t i)
{
    bool both = cell->a_signed && cell->b_signed;
    bool has_b =
        cell->type == LS__CELL_BUF || cell->type == LS__CELL_POS || cell->type == LS__CELL_NOT
            ? false
            : true;
    ls__cell part = *cell;
    part.y = (ls__nets){&cell->y.items[i], 1};
    part.a = (ls__nets){operand_bit(e, cell->a, i, has_b ? both : cell->a_signed), 1};
    part.b = has_b ? (ls__nets){operand_bit(e, cell->b, i, both), 1} : (ls__nets){0};
    if (cell->type == LS__CELL_BWMUX || cell->type == LS__CELL_FA)
        part.s = (ls__nets){&cell->s.items[i], 1};
    if (cell->type == LS__CELL_FA && cell->x.count)
        part.x = (ls__nets){&cell->x.items[i], 1};
    if (cell->type == LS__CELL_PMUX) {
        ls__net *choices = LS__NEW_ARRAY(&e->arena, ls__net, cell->s.count);
        for (uint32_t k = 0; k < cell->s.count; k++)
            choices[k] = cell->b.items[k * cell->y.count + i];
        part.b = (ls__nets){choices, cell->s.count};
    }
    if (cell->type == LS__CELL_SLICE || cell->type == LS__CELL_CONCAT) {
        uint32_t at = i + (cell->type == LS__CELL_SLICE ? cell->offset : 0);
        part.type = LS__CELL_BUF;
        part.a = (ls__nets){at < cell->a.count ? &cell->a.items[at]
                                               : operand_bit(e, cell->b, at - cell->a.count, false),
                            1};
        part.b = (ls__nets){0};
    }
    add_part(e, &part);
}

bool ls__elaborate_split(ls__elaboration *e, const ls__cell *cell)
{
    if (cell->y.count < 2)
        return false;
    switch (cell->type) {
    case LS__CELL_BUF:
    case LS__CELL_POS:
    case LS__CELL_NOT:
    case LS__CELL_AND:
    case LS__CELL_OR:
    case LS__CELL_XOR:
    case LS__CELL_XNOR:
    case LS__CELL_BWMUX:
    case LS__CELL_BWEQX:
    case LS__CELL_MUX:
    case LS__CELL_PMUX:
    case LS__CELL_FA:
    case LS__CELL_SLICE:
    case LS__CELL_CONCAT:
        for (uint32_t i = 0; i < cell->y.count; i++)
            split_bit(e, cell, i);
        return true;
    case LS__CELL_ADD:
        split_sum(e, cell, cell->a, cell->b, false);
        return true;
    case LS__CELL_SUB:
        split_sum(e, cell, cell->a, cell->b, true);
        return true;
    case LS__CELL_NEG:
        split_sum(e, cell, (ls__nets){0}, cell->a, true);
        return true;
    default:
        return false;
    }
}
