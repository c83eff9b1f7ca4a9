/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiplication, division and shifts of words. Of what does not fit in one limb, multiplication is
 * the school method with limbs as digits, division takes a step for each bit of the quotient, a
 * shift moves bits within limbs first and whole limbs then.
 */
#include "cosim/elaborate/words.h"

static ls__node_id binary(ls__builder *builder, ls__node_op op, ls__node_id a, ls__node_id b)
{
    return ls__build_binary(builder, op, a, b);
}

/* a + b of 64 bits; *carry becomes the sum (of at most one) of the carries so far, 64 bits. */
static ls__node_id add_carry(ls__builder *builder, ls__node_id a, ls__node_id b, ls__node_id *carry)
{
    ls__node_id sum = binary(builder, LS__NODE_ADD, a, b);
    ls__node_id over = ls__build_extend(builder, binary(builder, LS__NODE_ULT, sum, b), 64, false);
    *carry = binary(builder, LS__NODE_ADD, *carry, over);
    return sum;
}

ls__word ls__word_mul(ls__builder *builder, ls__word a, ls__word b)
{
    if (a.width <= 64)
        return ls__word_of(builder, binary(builder, LS__NODE_MUL, a.limbs[0], b.limbs[0]));
    uint32_t limbs = ls__word_limbs(a.width);
    ls__word x = ls__word_extend(builder, a, 64 * limbs, false);
    ls__word y = ls__word_extend(builder, b, 64 * limbs, false);
    ls__word sum = ls__word_const(builder, 64 * limbs, 0);
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_id carry = ls__build_const(builder, 64, 0);
        for (uint32_t j = 0; i + j < limbs; j++) {
            ls__node_id low = binary(builder, LS__NODE_MUL, x.limbs[i], y.limbs[j]);
            ls__node_id high = binary(builder, LS__NODE_MULHI, x.limbs[i], y.limbs[j]);
            low = add_carry(builder, carry, low, &high);
            sum.limbs[i + j] = add_carry(builder, sum.limbs[i + j], low, &high);
            carry = high;
        }
    }
    return ls__word_slice(builder, sum, 0, a.width);
}

/* Restoring division: bits of n enter the remainder from above, one a step. The remainder has one
 * bit more than d before it is reduced. */
static void divide_wide(ls__builder *builder, ls__word n, ls__word d, ls__word *quotient,
                        ls__word *remainder)
{
    ls__word divisor = ls__word_extend(builder, d, d.width + 1, false);
    ls__word rest = ls__word_const(builder, d.width, 0);
    ls__node_id *bits = LS__NEW_ARRAY(builder->arena, ls__node_id, n.width);
    for (uint32_t i = n.width; i-- > 0;) {
        ls__word next =
            ls__word_concat(builder, ls__word_of(builder, ls__word_bit(builder, n, i)), rest);
        ls__node_id less;
        ls__word reduced = ls__word_sub(builder, next, divisor, &less);
        bits[i] = ls__build_not(builder, less);
        rest = ls__word_slice(builder, ls__word_mux(builder, less, reduced, next), 0, d.width);
    }
    *remainder = rest;
    *quotient = ls__word_new(builder, n.width);
    for (uint32_t i = 0; i < ls__word_limbs(n.width); i++) {
        ls__node_id limb = bits[64 * i];
        for (uint32_t k = 1; k < ls__word_limb_width(n.width, i); k++)
            limb = ls__build_concat(builder, limb, bits[64 * i + k]);
        quotient->limbs[i] = limb;
    }
}

void ls__word_divide(ls__builder *builder, ls__word n, ls__word d, ls__word *quotient,
                     ls__word *remainder)
{
    if (n.width <= 64) {
        if (quotient)
            *quotient =
                ls__word_of(builder, binary(builder, LS__NODE_UDIV, n.limbs[0], d.limbs[0]));
        if (remainder)
            *remainder =
                ls__word_of(builder, binary(builder, LS__NODE_UMOD, n.limbs[0], d.limbs[0]));
        return;
    }
    ls__word q, r;
    divide_wide(builder, n, d, &q, &r);
    ls__word mask = ls__word_spread(builder, ls__word_reduce(builder, LS__NODE_REDOR, d), d.width);
    if (quotient)
        *quotient = ls__word_bitwise(builder, LS__NODE_AND, q, mask);
    if (remainder)
        *remainder = ls__word_bitwise(builder, LS__NODE_AND, r, mask);
}

/* A count in one node; what is beyond 64 bits makes it very large. */
static ls__node_id narrow_count(ls__builder *builder, ls__word count)
{
    if (count.width <= 64)
        return count.limbs[0];
    ls__word above = ls__word_slice(builder, count, 64, count.width - 64);
    return ls__build_mux(builder, ls__word_reduce(builder, LS__NODE_REDOR, above), count.limbs[0],
                         ls__build_const(builder, 64, UINT64_MAX));
}

static ls__word shift_constant(ls__builder *builder, ls__node_op op, ls__word a, uint64_t count)
{
    ls__node_id fill =
        op == LS__NODE_SAR ? ls__word_bit(builder, a, a.width - 1) : ls__build_const(builder, 1, 0);
    if (count >= a.width)
        return ls__word_spread(builder, fill, a.width);
    if (count == 0)
        return a;
    uint32_t left = a.width - (uint32_t)count;
    if (op == LS__NODE_SHL)
        return ls__word_concat(builder, ls__word_const(builder, (uint32_t)count, 0),
                               ls__word_slice(builder, a, 0, left));
    return ls__word_extend(builder, ls__word_slice(builder, a, (uint32_t)count, left), a.width,
                           op == LS__NODE_SAR);
}

/* Bits within limbs: `within` is 0 to 63. What comes in from outside the word is `fill`. */
static ls__word shift_bits(ls__builder *builder, bool left, ls__word a, ls__node_id within,
                           ls__node_id fill)
{
    ls__word result = ls__word_new(builder, a.width);
    uint32_t limbs = ls__word_limbs(a.width);
    ls__node_id other = binary(builder, LS__NODE_SUB, ls__build_const(builder, 7, 64),
                               ls__build_extend(builder, within, 7, false));
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_id outside =
            left ? (i ? a.limbs[i - 1] : fill) : (i + 1 < limbs ? a.limbs[i + 1] : fill);
        ls__node_op out = left ? LS__NODE_SHL : LS__NODE_SHR;
        ls__node_op in = left ? LS__NODE_SHR : LS__NODE_SHL;
        ls__node_id kept = ls__build_node(builder, out, 64, 0, a.limbs[i], within, within);
        ls__node_id come = ls__build_node(builder, in, 64, 0, outside, other, other);
        result.limbs[i] = binary(builder, LS__NODE_OR, kept, come);
    }
    return result;
}

static ls__word shift_limbs(ls__builder *builder, bool left, ls__word a, ls__node_id by,
                            uint32_t distance, ls__node_id fill)
{
    ls__word result = ls__word_new(builder, a.width);
    uint32_t limbs = ls__word_limbs(a.width);
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_id from = fill;
        if (left && i >= distance)
            from = a.limbs[i - distance];
        else if (!left && distance < limbs - i)
            from = a.limbs[i + distance];
        result.limbs[i] = ls__build_mux(builder, by, a.limbs[i], from);
    }
    return result;
}

static ls__word shift_wide(ls__builder *builder, ls__node_op op, ls__word a, ls__node_id count)
{
    bool left = op == LS__NODE_SHL;
    uint32_t limbs = ls__word_limbs(a.width), count_width = ls__builder_width(builder, count);
    ls__word word = ls__word_extend(builder, a, 64 * limbs, op == LS__NODE_SAR);
    ls__node_id fill =
        op == LS__NODE_SAR
            ? ls__build_extend(builder, ls__word_bit(builder, a, a.width - 1), 64, true)
            : ls__build_const(builder, 64, 0);
    uint32_t within = count_width < 6 ? count_width : 6, bit = 6;
    word = shift_bits(builder, left, word, ls__build_slice(builder, count, 0, within), fill);
    for (uint32_t distance = 1; distance < limbs && bit < count_width; distance *= 2, bit++)
        word = shift_limbs(builder, left, word, ls__build_slice(builder, count, bit, 1), distance,
                           fill);
    if (bit < count_width) {
        ls__node_id beyond = ls__build_reduce(
            builder, LS__NODE_REDOR, ls__build_slice(builder, count, bit, count_width - bit));
        word = shift_limbs(builder, left, word, beyond, limbs, fill);
    }
    return ls__word_slice(builder, word, 0, a.width);
}

ls__word ls__word_shift(ls__builder *builder, ls__node_op op, ls__word a, ls__word count)
{
    ls__node_id by = narrow_count(builder, count);
    uint64_t constant;
    if (ls__builder_constant(builder, by, &constant))
        return shift_constant(builder, op, a, constant);
    if (a.width > 64)
        return shift_wide(builder, op, a, by);
    return ls__word_of(builder, ls__build_node(builder, op, a.width, 0, a.limbs[0], by, by));
}
