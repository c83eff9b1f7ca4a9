/* SPDX-License-Identifier: Apache-2.0 */
/* One function a kind of cell; numbers are two's complement in as many bits as are needed. */
#include "cell_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bits number(uint32_t width, uint64_t value)
{
    bits r = {.width = width};
    for (uint32_t i = 0; i < width && i < 64; i++)
        r.bit[i] = value >> i & 1;
    return r;
}

static bits extend(const bits *a, uint32_t width, bool is_signed)
{
    bits r = {.width = width};
    for (uint32_t i = 0; i < width; i++)
        r.bit[i] = i < a->width ? a->bit[i] : is_signed && a->width ? a->bit[a->width - 1] : 0;
    return r;
}

static bool any(const bits *a)
{
    for (uint32_t i = 0; i < a->width; i++) {
        if (a->bit[i])
            return true;
    }
    return false;
}

static bits invert(const bits *a)
{
    bits r = *a;
    for (uint32_t i = 0; i < a->width; i++)
        r.bit[i] = !a->bit[i];
    return r;
}

static bits add(const bits *a, const bits *b, unsigned carry)
{
    bits r = {.width = a->width};
    for (uint32_t i = 0; i < a->width; i++) {
        unsigned sum = a->bit[i] + b->bit[i] + carry;
        r.bit[i] = sum & 1;
        carry = sum >> 1;
    }
    return r;
}

static bits negate(const bits *a)
{
    bits inverse = invert(a), zero = number(a->width, 0);
    return add(&inverse, &zero, 1);
}

static bits subtract(const bits *a, const bits *b)
{
    bits inverse = invert(b);
    return add(a, &inverse, 1);
}

static bits shift_up(const bits *a, uint64_t count)
{
    bits r = {.width = a->width};
    for (uint64_t i = count; i < a->width; i++)
        r.bit[i] = a->bit[i - count];
    return r;
}

static bits shift_down(const bits *a, uint64_t count, unsigned fill)
{
    bits r = {.width = a->width};
    for (uint32_t i = 0; i < a->width; i++)
        r.bit[i] = count < a->width - i ? a->bit[i + count] : (uint8_t)fill;
    return r;
}

static bits multiply(const bits *a, const bits *b)
{
    bits r = number(a->width, 0);
    for (uint32_t i = 0; i < b->width; i++) {
        bits shifted = shift_up(a, i);
        if (b->bit[i])
            r = add(&r, &shifted, 0);
    }
    return r;
}

static int compare_unsigned(const bits *a, const bits *b)
{
    for (uint32_t i = a->width; i-- > 0;) {
        if (a->bit[i] != b->bit[i])
            return a->bit[i] ? 1 : -1;
    }
    return 0;
}

static bool is_negative(const bits *a)
{
    return a->width && a->bit[a->width - 1];
}

static int compare_signed(const bits *a, const bits *b)
{
    if (is_negative(a) != is_negative(b))
        return is_negative(a) ? -1 : 1;
    return compare_unsigned(a, b);
}

static void divide_unsigned(const bits *n, const bits *d, bits *q, bits *r)
{
    *q = *r = number(n->width, 0);
    for (uint32_t i = n->width; i-- > 0;) {
        *r = shift_up(r, 1);
        r->bit[0] = n->bit[i];
        if (compare_unsigned(r, d) >= 0) {
            *r = subtract(r, d);
            q->bit[i] = 1;
        }
    }
}

static bits magnitude(const bits *a)
{
    return is_negative(a) ? negate(a) : *a;
}

/* A count of any width, cut to what is more than any word. */
static uint64_t count_of(const bits *a)
{
    uint64_t value = 0;
    for (uint32_t i = a->width; i-- > 0;) {
        value = value * 2 + a->bit[i];
        if (value > 100000)
            value = 100000;
    }
    return value;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bits divide(const ls__cell *cell, const model_ports *in)
{
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = larger(larger(in->a.width, in->b.width), cell->y.count) + 2;
    bits n = extend(&in->a, width, is_signed), d = extend(&in->b, width, is_signed), q, r;
    if (!any(&d))
        return number(cell->y.count, 0);
    bits n_size = magnitude(&n), d_size = magnitude(&d), one = number(width, 1);
    divide_unsigned(&n_size, &d_size, &q, &r);
    if (is_negative(&n) != is_negative(&d))
        q = negate(&q);
    if (is_negative(&n))
        r = negate(&r);
    bool floors = cell->type == LS__CELL_DIVFLOOR || cell->type == LS__CELL_MODFLOOR;
    if (floors && any(&r) && is_negative(&r) != is_negative(&d)) {
        q = subtract(&q, &one);
        r = add(&r, &d, 0);
    }
    bool divides = cell->type == LS__CELL_DIV || cell->type == LS__CELL_DIVFLOOR;
    return extend(divides ? &q : &r, cell->y.count, true);
}

static bits power(const ls__cell *cell, const model_ports *in)
{
    uint32_t width = cell->y.count;
    bits one = number(in->a.width, 1), result = number(width, 1);
    bool is_odd = in->b.bit[0];
    bool negative = cell->b_signed && is_negative(&in->b);
    if (negative) {
        bits minus = invert(&(bits){.width = in->a.width});
        if (cell->a_signed && compare_unsigned(&in->a, &minus) == 0)
            return is_odd ? invert(&(bits){.width = width}) : result;
        return compare_unsigned(&in->a, &one) == 0 ? result : number(width, 0);
    }
    bits base = extend(&in->a, width, cell->a_signed);
    for (uint64_t i = count_of(&in->b); i > 0; i--)
        result = multiply(&result, &base);
    return result;
}

static bits shift(const ls__cell *cell, const model_ports *in)
{
    bool is_x = cell->type == LS__CELL_SHIFTX;
    uint32_t width = larger(in->a.width, cell->y.count);
    bits a = extend(&in->a, width, cell->a_signed && !is_x);
    bool both_ways = is_x || cell->type == LS__CELL_SHIFT;
    bits count = in->b;
    bool backwards = both_ways && cell->b_signed && is_negative(&count);
    if (backwards)
        count = negate(&count);
    bool up = backwards || cell->type == LS__CELL_SHL || cell->type == LS__CELL_SSHL;
    unsigned fill = cell->type == LS__CELL_SSHR && cell->a_signed && is_negative(&a);
    bits r = up ? shift_up(&a, count_of(&count)) : shift_down(&a, count_of(&count), fill);
    return extend(&r, cell->y.count, false);
}

static bool relation(const ls__cell *cell, const model_ports *in)
{
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = larger(in->a.width, in->b.width);
    bits a = extend(&in->a, width, is_signed), b = extend(&in->b, width, is_signed);
    int order = is_signed ? compare_signed(&a, &b) : compare_unsigned(&a, &b);
    switch (cell->type) {
    case LS__CELL_LT:
        return order < 0;
    case LS__CELL_LE:
        return order <= 0;
    case LS__CELL_EQ:
    case LS__CELL_EQX:
        return order == 0;
    case LS__CELL_NE:
    case LS__CELL_NEX:
        return order != 0;
    case LS__CELL_GE:
        return order >= 0;
    default:
        return order > 0;
    }
}

static bool reduce(const ls__cell *cell, const model_ports *in)
{
    uint32_t ones = 0;
    for (uint32_t i = 0; i < in->a.width; i++)
        ones += in->a.bit[i];
    switch (cell->type) {
    case LS__CELL_REDUCE_AND:
        return ones == in->a.width;
    case LS__CELL_REDUCE_XOR:
        return ones % 2;
    case LS__CELL_REDUCE_XNOR:
        return ones % 2 == 0;
    case LS__CELL_LOGIC_NOT:
        return ones == 0;
    case LS__CELL_LOGIC_AND:
        return ones && any(&in->b);
    case LS__CELL_LOGIC_OR:
        return ones || any(&in->b);
    default:
        return ones != 0;
    }
}

static unsigned bit_function(ls__cell_type type, unsigned a, unsigned b)
{
    switch (type) {
    case LS__CELL_AND:
        return a & b;
    case LS__CELL_OR:
        return a | b;
    case LS__CELL_XOR:
        return a ^ b;
    case LS__CELL_NAND:
        return !(a & b);
    case LS__CELL_NOR:
        return !(a | b);
    case LS__CELL_ANDNOT:
        return a & !b;
    case LS__CELL_ORNOT:
        return a | !b;
    default: /* XNOR, BWEQX */
        return a == b;
    }
}

static bits bitwise(const ls__cell *cell, const model_ports *in)
{
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = cell->y.count;
    bits a = extend(&in->a, width, is_signed), b = extend(&in->b, width, is_signed);
    bits r = {.width = width};
    for (uint32_t i = 0; i < width; i++)
        r.bit[i] = (uint8_t)bit_function(cell->type, a.bit[i], b.bit[i]);
    return r;
}

static bits part(const bits *a, uint32_t number_of, uint32_t width)
{
    bits r = {.width = width};
    memcpy(r.bit, a->bit + (size_t)number_of * width, width);
    return r;
}

static bits choose(const ls__cell *cell, const model_ports *in)
{
    uint32_t width = cell->y.count, selects = 0, which = 0;
    bits r = in->a;
    switch (cell->type) {
    case LS__CELL_BMUX:
        return part(&in->a, (uint32_t)count_of(&in->s), width);
    case LS__CELL_DEMUX:
        r = number(width, 0);
        memcpy(r.bit + count_of(&in->s) * in->a.width, in->a.bit, in->a.width);
        return r;
    case LS__CELL_BWMUX:
        for (uint32_t i = 0; i < width; i++)
            r.bit[i] = in->s.bit[i] ? in->b.bit[i] : in->a.bit[i];
        return r;
    default:
        for (uint32_t i = 0; i < in->s.width; i++) {
            which = in->s.bit[i] ? i : which;
            selects += in->s.bit[i];
        }
        if (selects)
            r = part(&in->b, which, width);
        if (selects > 1)
            r = number(width, 0);
        return cell->type == LS__CELL_NMUX ? invert(&r) : r;
    }
}

static bool look_up(const ls__cell *cell, const model_ports *in)
{
    if (cell->type == LS__CELL_LUT)
        return cell->table.items[count_of(&in->a)] == LS__BIT_1;
    for (uint32_t i = 0; i < cell->depth; i++) {
        bool product = true;
        const uint8_t *row = cell->table.items + (size_t)2 * in->a.width * i;
        for (uint32_t k = 0; k < in->a.width; k++) {
            product = product && !(row[2 * k] == LS__BIT_1 && in->a.bit[k]);
            product = product && !(row[2 * k + 1] == LS__BIT_1 && !in->a.bit[k]);
        }
        if (product)
            return true;
    }
    return false;
}

static bool complex_gate(const ls__cell *cell, const model_ports *in)
{
    bool a = in->a.bit[0], b = in->b.bit[0], c = in->s.bit[0], d = in->bi.bit[0];
    switch (cell->type) {
    case LS__CELL_AOI3:
        return !((a && b) || c);
    case LS__CELL_OAI3:
        return !((a || b) && c);
    case LS__CELL_AOI4:
        return !((a && b) || (c && d));
    default:
        return !((a || b) && (c || d));
    }
}

static void carry_cells(const ls__cell *cell, const model_ports *in, bits *y, bits *x, bits *co)
{
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = cell->y.count;
    unsigned carry = in->s.bit[0];
    bits a = extend(&in->a, width, is_signed), b = extend(&in->b, width, is_signed);
    if (cell->type == LS__CELL_ALU && in->bi.bit[0])
        b = invert(&b);
    *y = *x = *co = number(width, 0);
    for (uint32_t i = 0; i < width; i++) {
        if (cell->type == LS__CELL_LCU) {
            carry = in->b.bit[i] | (in->a.bit[i] & carry);
            y->bit[i] = (uint8_t)carry;
            continue;
        }
        if (cell->type == LS__CELL_FA)
            carry = in->s.bit[i];
        unsigned sum = a.bit[i] + b.bit[i] + carry;
        y->bit[i] = sum & 1;
        carry = sum >> 1;
        x->bit[i] = cell->type == LS__CELL_FA ? (uint8_t)carry : a.bit[i] ^ b.bit[i];
        co->bit[i] = (uint8_t)carry;
    }
}

static uint32_t take(const ls__cell *cell, uint32_t *at, uint32_t count)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value |= (uint32_t)cell->table.items[(*at)++] << i;
    return value;
}

static bits accumulate(const ls__cell *cell, const model_ports *in)
{
    uint32_t width = cell->y.count, at = 0, from = 0, size = take(cell, &at, 4);
    bits sum = number(width, 0);
    while (from < in->a.width) {
        bool is_signed = take(cell, &at, 1), subtracts = take(cell, &at, 1);
        uint32_t counts[2] = {take(cell, &at, size), 0};
        counts[1] = take(cell, &at, size);
        bits factors[2];
        for (uint32_t i = 0; i < 2; i++) {
            bits piece = {.width = counts[i]};
            memcpy(piece.bit, in->a.bit + from, counts[i]);
            factors[i] = extend(&piece, width, is_signed);
            from += counts[i];
        }
        bits term = counts[1] ? multiply(&factors[0], &factors[1]) : factors[0];
        sum = subtracts ? subtract(&sum, &term) : add(&sum, &term, 0);
    }
    for (uint32_t i = 0; i < in->b.width; i++) {
        bits one = number(width, in->b.bit[i]);
        sum = add(&sum, &one, 0);
    }
    return sum;
}

static bits wires(const ls__cell *cell, const model_ports *in)
{
    bits r = extend(&in->a, MODEL_LIMIT, false);
    if (cell->type == LS__CELL_SLICE)
        r = shift_down(&r, cell->offset, 0);
    if (cell->type == LS__CELL_CONCAT)
        memcpy(r.bit + in->a.width, in->b.bit, in->b.width);
    return extend(&r, cell->y.count, false);
}

static bits arithmetic(const ls__cell *cell, const model_ports *in)
{
    bool is_signed = cell->a_signed && cell->b_signed;
    uint32_t width = cell->y.count;
    bits a = extend(&in->a, width, is_signed), b = extend(&in->b, width, is_signed);
    return cell->type == LS__CELL_ADD   ? add(&a, &b, 0)
           : cell->type == LS__CELL_SUB ? subtract(&a, &b)
                                        : multiply(&a, &b);
}

void model_cell(const ls__cell *cell, const model_ports *in, bits *y, bits *x, bits *co)
{
    ls__cell_type type = cell->type;
    uint32_t width = cell->y.count;
    bits extended = extend(&in->a, width, cell->a_signed);
    if (type == LS__CELL_POS)
        *y = extended;
    else if (type == LS__CELL_BUF || type == LS__CELL_SLICE || type == LS__CELL_CONCAT)
        *y = wires(cell, in);
    else if (type == LS__CELL_NOT)
        *y = invert(&extended);
    else if (type == LS__CELL_NEG)
        *y = negate(&extended);
    else if (type >= LS__CELL_REDUCE_AND && type <= LS__CELL_LOGIC_NOT)
        *y = number(width, reduce(cell, in));
    else if (type == LS__CELL_LOGIC_AND || type == LS__CELL_LOGIC_OR)
        *y = number(width, reduce(cell, in));
    else if ((type >= LS__CELL_AND && type <= LS__CELL_ORNOT) || type == LS__CELL_BWEQX)
        *y = bitwise(cell, in);
    else if (type >= LS__CELL_SHL && type <= LS__CELL_SHIFTX)
        *y = shift(cell, in);
    else if (type >= LS__CELL_LT && type <= LS__CELL_GT)
        *y = number(width, relation(cell, in));
    else if (type >= LS__CELL_ADD && type <= LS__CELL_MUL)
        *y = arithmetic(cell, in);
    else if (type >= LS__CELL_DIV && type <= LS__CELL_MODFLOOR)
        *y = divide(cell, in);
    else if (type == LS__CELL_POW)
        *y = power(cell, in);
    else if (type == LS__CELL_LUT || type == LS__CELL_SOP)
        *y = number(width, look_up(cell, in));
    else if (type >= LS__CELL_AOI3 && type <= LS__CELL_OAI4)
        *y = number(width, complex_gate(cell, in));
    else if (type == LS__CELL_FA || type == LS__CELL_LCU || type == LS__CELL_ALU)
        carry_cells(cell, in, y, x, co);
    else if (type == LS__CELL_MACC)
        *y = accumulate(cell, in);
    else
        *y = choose(cell, in);
}
