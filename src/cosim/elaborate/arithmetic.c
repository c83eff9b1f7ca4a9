/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that work on numbers. Operands are signed where both are, and are extended to the width at
 * which the cell library of Yosys computes; division by 0 gives 0 (docs/cosim.md).
 */
#include "cosim/elaborate/elaboration.h"

typedef ls__node_id id;

static uint32_t max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static ls__word zero(ls__elaboration *e, uint32_t width)
{
    return ls__word_const(&e->builder, width ? width : 1, 0);
}

static id low(ls__elaboration *e)
{
    return ls__build_const(&e->builder, 1, 0);
}

static ls__word negate_if(ls__elaboration *e, id condition, ls__word word)
{
    return ls__word_mux(&e->builder, condition, word, ls__word_negate(&e->builder, word));
}

static id sign_of(ls__elaboration *e, ls__word word)
{
    return ls__word_bit(&e->builder, word, word.width - 1);
}

static id both_of(ls__elaboration *e, ls__node_op op, id a, id b)
{
    return ls__build_binary(&e->builder, op, a, b);
}

/* Shifts whose count is unsigned. */
static ls__word shift(ls__elaboration *e, const ls__cell *cell)
{
    bool left = cell->type == LS__CELL_SHL || cell->type == LS__CELL_SSHL;
    ls__node_op op = LS__NODE_SHR;
    if (left)
        op = LS__NODE_SHL;
    else if (cell->type == LS__CELL_SSHR && cell->a_signed)
        op = LS__NODE_SAR;
    uint32_t width = max(cell->y.count, left ? 0 : cell->a.count);
    ls__word a = ls__net_extended(e, cell->a, width, cell->a_signed);
    ls__word shifted = ls__word_shift(&e->builder, op, a, ls__net_word(e, cell->b));
    return ls__word_slice(&e->builder, shifted, 0, cell->y.count);
}

/* Right, or left by a negative count; zeros come in from both sides. */
static ls__word shift_both_ways(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    bool is_signed = cell->type == LS__CELL_SHIFT && cell->a_signed;
    uint32_t width = max(cell->y.count, cell->a.count);
    ls__word a = ls__net_extended(e, cell->a, width, is_signed);
    ls__word count = ls__net_word(e, cell->b);
    ls__word right = ls__word_shift(builder, LS__NODE_SHR, a, count);
    right = ls__word_slice(builder, right, 0, cell->y.count);
    if (!cell->b_signed)
        return right;
    ls__word target = ls__word_slice(builder, a, 0, cell->y.count);
    ls__word left = ls__word_shift(builder, LS__NODE_SHL, target, ls__word_negate(builder, count));
    return ls__word_mux(builder, sign_of(e, count), right, left);
}

static id compare(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = max(max(cell->a.count, cell->b.count), 1);
    ls__word a = ls__net_extended(e, cell->a, width, is_signed);
    ls__word b = ls__net_extended(e, cell->b, width, is_signed);
    switch (cell->type) {
    case LS__CELL_LT:
        return ls__word_less(builder, a, b, is_signed);
    case LS__CELL_LE:
        return ls__build_not(builder, ls__word_less(builder, b, a, is_signed));
    case LS__CELL_GE:
        return ls__build_not(builder, ls__word_less(builder, a, b, is_signed));
    case LS__CELL_GT:
        return ls__word_less(builder, b, a, is_signed);
    case LS__CELL_NE:
    case LS__CELL_NEX:
        return ls__build_not(builder, ls__word_equal(builder, a, b));
    default: /* EQ, EQX */
        return ls__word_equal(builder, a, b);
    }
}

/* On magnitudes; what signed operands and rounding to the floor ask for is done to the results. */
static ls__word divide(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    bool is_signed = cell->a_signed && cell->b_signed;
    bool floors = cell->type == LS__CELL_DIVFLOOR || cell->type == LS__CELL_MODFLOOR;
    bool divides = cell->type == LS__CELL_DIV || cell->type == LS__CELL_DIVFLOOR;
    uint32_t width = max(max(cell->a.count, cell->b.count), 1), y_width = cell->y.count;
    ls__word n = ls__net_extended(e, cell->a, width, is_signed);
    ls__word d = ls__net_extended(e, cell->b, width, is_signed);
    id n_sign = is_signed ? sign_of(e, n) : low(e), d_sign = is_signed ? sign_of(e, d) : low(e);
    ls__word divisor = negate_if(e, d_sign, d), quotient, remainder;
    bool both = is_signed && floors;
    ls__word_divide(builder, negate_if(e, n_sign, n), divisor, divides || both ? &quotient : NULL,
                    !divides || both ? &remainder : NULL);
    id opposite = both_of(e, LS__NODE_XOR, n_sign, d_sign);
    /* Rounding away from 0: where signs differ and something is left over. */
    id inexact = low(e);
    if (both)
        inexact =
            both_of(e, LS__NODE_AND, opposite, ls__word_reduce(builder, LS__NODE_REDOR, remainder));
    if (divides) {
        ls__word q = ls__word_extend(builder, quotient, max(y_width, width + 1), false);
        q = ls__word_add(builder, q, zero(e, q.width), inexact);
        return ls__word_slice(builder, negate_if(e, opposite, q), 0, y_width);
    }
    /* The remainder has the sign of n, or of d when it is that of the floor; by then it has been
     * taken from the divisor. A remainder has a sign bit to spare. */
    ls__word r = remainder;
    if (both)
        r = ls__word_mux(builder, inexact, r, ls__word_sub(builder, divisor, r, NULL));
    r = ls__word_extend(builder, r, max(y_width, width + 1), false);
    return ls__word_slice(builder, negate_if(e, floors ? d_sign : n_sign, r), 0, y_width);
}

/* Of an exponent below 0: 1 for a = 1, 1 or -1 for a = -1, else 0. */
static ls__word power_of_negative(ls__elaboration *e, const ls__cell *cell, id is_odd)
{
    ls__builder *builder = &e->builder;
    ls__word a = ls__net_word(e, cell->a);
    id is_one = ls__word_equal(builder, a, ls__word_const(builder, a.width, 1));
    id is_minus_one = low(e);
    if (cell->a_signed) {
        is_minus_one = ls__word_reduce(builder, LS__NODE_REDAND, a);
        if (a.width == 1)
            is_one = low(e);
    }
    ls__word minus =
        ls__word_spread(builder, both_of(e, LS__NODE_AND, is_minus_one, is_odd), cell->y.count);
    ls__word one = ls__word_extend(
        builder, ls__word_of(builder, both_of(e, LS__NODE_OR, is_one, is_minus_one)), cell->y.count,
        false);
    return ls__word_bitwise(builder, LS__NODE_OR, one, minus);
}

/* By squares: one multiplication and one square for each bit of the exponent. Signs of the operands
 * count each for itself. */
static ls__word power(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t width = cell->y.count;
    ls__word base = ls__net_extended(e, cell->a, width, cell->a_signed);
    ls__word exponent = ls__net_word(e, cell->b);
    ls__word y = ls__word_const(builder, width, 1);
    uint32_t bits = exponent.width - (cell->b_signed ? 1 : 0);
    for (uint32_t i = 0; i < bits; i++) {
        id bit = ls__word_bit(builder, exponent, i);
        y = ls__word_mux(builder, bit, y, ls__word_mul(builder, y, base));
        if (i + 1 < bits)
            base = ls__word_mul(builder, base, base);
    }
    if (!cell->b_signed)
        return y;
    ls__word inverse = power_of_negative(e, cell, ls__word_bit(builder, exponent, 0));
    return ls__word_mux(builder, sign_of(e, exponent), y, inverse);
}

static void arithmetic_unit(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = cell->y.count ? cell->y.count : max(cell->x.count, cell->co.count);
    ls__word a = ls__net_extended(e, cell->a, width, is_signed);
    ls__word b = ls__net_extended(e, cell->b, width, is_signed);
    id carry = cell->s.count ? ls__net_bit(e, cell->s.items[0]) : low(e);
    id invert = cell->bi.count ? ls__net_bit(e, cell->bi.items[0]) : low(e);
    b = ls__word_bitwise(builder, LS__NODE_XOR, b, ls__word_spread(builder, invert, width));
    ls__word y = ls__word_add(builder, a, b, carry);
    ls__net_assign(e, cell->y, y);
    if (cell->x.count)
        ls__net_assign(e, cell->x, ls__word_bitwise(builder, LS__NODE_XOR, a, b));
    if (cell->co.count == 0)
        return;
    /* A bit carries where both operands have it, or one has and the sum has not. */
    ls__word some = ls__word_bitwise(builder, LS__NODE_OR, a, b);
    some = ls__word_bitwise(builder, LS__NODE_ANDN, some, y);
    ls__net_assign(e, cell->co,
                   ls__word_bitwise(builder, LS__NODE_OR, some,
                                    ls__word_bitwise(builder, LS__NODE_AND, a, b)));
}

static uint32_t take_number(ls__bits bits, uint32_t *at, uint32_t count)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++, (*at)++)
        value |= (uint32_t)(*at < bits.count && bits.items[*at] == LS__BIT_1) << i;
    return value;
}

/* CONFIG: 4 bits of n, then for each term signed, subtract, n bits each of the widths of its two
 * factors, which lie in a one behind the other; without a second factor the first is the term. Each
 * bit of b is added. */
static ls__word multiply_accumulate(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    uint32_t width = cell->y.count, at = 0, from = 0;
    uint32_t size = take_number(cell->table, &at, 4);
    ls__word sum = zero(e, width);
    while (from < cell->a.count && at < cell->table.count) {
        bool is_signed = take_number(cell->table, &at, 1);
        bool subtracts = take_number(cell->table, &at, 1);
        uint32_t counts[2];
        counts[0] = take_number(cell->table, &at, size);
        counts[1] = take_number(cell->table, &at, size);
        ls__word factors[2];
        for (uint32_t i = 0; i < 2; i++) {
            if (counts[i] > cell->a.count - from)
                counts[i] = cell->a.count - from;
            factors[i] =
                ls__net_extended(e, (ls__nets){cell->a.items + from, counts[i]}, width, is_signed);
            from += counts[i];
        }
        ls__word term = counts[1] ? ls__word_mul(builder, factors[0], factors[1]) : factors[0];
        sum = subtracts ? ls__word_sub(builder, sum, term, NULL)
                        : ls__word_add(builder, sum, term, low(e));
    }
    for (uint32_t i = 0; i < cell->b.count; i++)
        sum = ls__word_add(builder, sum, zero(e, width), ls__net_bit(e, cell->b.items[i]));
    return sum;
}

static ls__word sum(ls__elaboration *e, const ls__cell *cell)
{
    ls__builder *builder = &e->builder;
    bool is_signed = cell->a_signed && cell->b_signed;
    ls__word a = ls__net_extended(e, cell->a, cell->y.count, is_signed);
    ls__word b = ls__net_extended(e, cell->b, cell->y.count, is_signed);
    if (cell->type == LS__CELL_ADD)
        return ls__word_add(builder, a, b, low(e));
    return cell->type == LS__CELL_SUB ? ls__word_sub(builder, a, b, NULL)
                                      : ls__word_mul(builder, a, b);
}

void ls__elaborate_arithmetic(ls__elaboration *e, const ls__cell *cell)
{
    switch (cell->type) {
    case LS__CELL_NEG:
        ls__net_assign(e, cell->y,
                       ls__word_negate(&e->builder, ls__net_extended(e, cell->a, cell->y.count,
                                                                     cell->a_signed)));
        break;
    case LS__CELL_ADD:
    case LS__CELL_SUB:
    case LS__CELL_MUL:
        ls__net_assign(e, cell->y, sum(e, cell));
        break;
    case LS__CELL_SHL:
    case LS__CELL_SHR:
    case LS__CELL_SSHL:
    case LS__CELL_SSHR:
        ls__net_assign(e, cell->y, shift(e, cell));
        break;
    case LS__CELL_SHIFT:
    case LS__CELL_SHIFTX:
        ls__net_assign(e, cell->y, shift_both_ways(e, cell));
        break;
    case LS__CELL_LT:
    case LS__CELL_LE:
    case LS__CELL_EQ:
    case LS__CELL_NE:
    case LS__CELL_EQX:
    case LS__CELL_NEX:
    case LS__CELL_GE:
    case LS__CELL_GT:
        ls__net_assign(e, cell->y, ls__word_of(&e->builder, compare(e, cell)));
        break;
    case LS__CELL_DIV:
    case LS__CELL_MOD:
    case LS__CELL_DIVFLOOR:
    case LS__CELL_MODFLOOR:
        ls__net_assign(e, cell->y, divide(e, cell));
        break;
    case LS__CELL_POW:
        ls__net_assign(e, cell->y, power(e, cell));
        break;
    case LS__CELL_ALU:
        arithmetic_unit(e, cell);
        break;
    case LS__CELL_MACC:
        ls__net_assign(e, cell->y, multiply_accumulate(e, cell));
        break;
    default:
        break;
    }
}
