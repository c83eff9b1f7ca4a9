/* SPDX-License-Identifier: Apache-2.0 */
/* Words in limbs: construction, bitwise operations, addition, comparison. words_wide.c has what is
 * long: multiplication, division, shifts. */
#include "cosim/elaborate/words.h"

ls__word ls__word_new(ls__builder *builder, uint32_t width)
{
    return (ls__word){width, LS__NEW_ARRAY(builder->arena, ls__node_id, ls__word_limbs(width))};
}

ls__word ls__word_of(ls__builder *builder, ls__node_id node)
{
    ls__word word = ls__word_new(builder, ls__builder_width(builder, node));
    word.limbs[0] = node;
    return word;
}

ls__word ls__word_const(ls__builder *builder, uint32_t width, uint64_t value)
{
    ls__word word = ls__word_new(builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++)
        word.limbs[i] = ls__build_const(builder, ls__word_limb_width(width, i), i ? 0 : value);
    return word;
}

ls__word ls__word_spread(ls__builder *builder, ls__node_id bit, uint32_t width)
{
    return ls__word_extend(builder, ls__word_of(builder, bit), width, true);
}

ls__node_id ls__word_bit(ls__builder *builder, ls__word a, uint32_t bit)
{
    return ls__build_slice(builder, a.limbs[bit / 64], bit % 64, 1);
}

/* At most 64 bits from `lsb` on. */
static ls__node_id slice_limb(ls__builder *builder, ls__word a, uint32_t lsb, uint32_t width)
{
    uint32_t limb = lsb / 64, offset = lsb % 64;
    uint32_t here = ls__word_limb_width(a.width, limb) - offset;
    if (width <= here)
        return ls__build_slice(builder, a.limbs[limb], offset, width);
    ls__node_id low = ls__build_slice(builder, a.limbs[limb], offset, here);
    return ls__build_concat(builder, low,
                            ls__build_slice(builder, a.limbs[limb + 1], 0, width - here));
}

ls__word ls__word_slice(ls__builder *builder, ls__word a, uint32_t lsb, uint32_t width)
{
    if (width == a.width)
        return a;
    ls__word word = ls__word_new(builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++)
        word.limbs[i] = slice_limb(builder, a, lsb + 64 * i, ls__word_limb_width(width, i));
    return word;
}

ls__word ls__word_concat(ls__builder *builder, ls__word low, ls__word high)
{
    ls__word word = ls__word_new(builder, low.width + high.width);
    for (uint32_t i = 0; i < ls__word_limbs(word.width); i++) {
        uint32_t begin = 64 * i, width = ls__word_limb_width(word.width, i);
        if (begin + width <= low.width)
            word.limbs[i] = slice_limb(builder, low, begin, width);
        else if (begin >= low.width)
            word.limbs[i] = slice_limb(builder, high, begin - low.width, width);
        else
            word.limbs[i] =
                ls__build_concat(builder, slice_limb(builder, low, begin, low.width - begin),
                                 slice_limb(builder, high, 0, begin + width - low.width));
    }
    return word;
}

ls__word ls__word_extend(ls__builder *builder, ls__word a, uint32_t width, bool is_signed)
{
    if (width <= a.width)
        return ls__word_slice(builder, a, 0, width);
    ls__word word = ls__word_new(builder, width);
    uint32_t top = ls__word_limbs(a.width) - 1;
    ls__node_id sign =
        is_signed ? ls__word_bit(builder, a, a.width - 1) : ls__build_const(builder, 1, 0);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++) {
        uint32_t limb_width = ls__word_limb_width(width, i);
        if (i < top)
            word.limbs[i] = a.limbs[i];
        else
            word.limbs[i] =
                ls__build_extend(builder, i == top ? a.limbs[i] : sign, limb_width, is_signed);
    }
    return word;
}

ls__word ls__word_not(ls__builder *builder, ls__word a)
{
    ls__word word = ls__word_new(builder, a.width);
    for (uint32_t i = 0; i < ls__word_limbs(a.width); i++)
        word.limbs[i] = ls__build_not(builder, a.limbs[i]);
    return word;
}

ls__word ls__word_bitwise(ls__builder *builder, ls__node_op op, ls__word a, ls__word b)
{
    ls__word word = ls__word_new(builder, a.width);
    for (uint32_t i = 0; i < ls__word_limbs(a.width); i++)
        word.limbs[i] = ls__build_binary(builder, op, a.limbs[i], b.limbs[i]);
    return word;
}

ls__word ls__word_mux(ls__builder *builder, ls__node_id select, ls__word when_0, ls__word when_1)
{
    ls__word word = ls__word_new(builder, when_0.width);
    for (uint32_t i = 0; i < ls__word_limbs(word.width); i++)
        word.limbs[i] = ls__build_mux(builder, select, when_0.limbs[i], when_1.limbs[i]);
    return word;
}

ls__node_id ls__word_reduce(ls__builder *builder, ls__node_op op, ls__word a)
{
    ls__node_op join = op == LS__NODE_REDAND  ? LS__NODE_AND
                       : op == LS__NODE_REDOR ? LS__NODE_OR
                                              : LS__NODE_XOR;
    ls__node_id result = ls__build_reduce(builder, op, a.limbs[0]);
    for (uint32_t i = 1; i < ls__word_limbs(a.width); i++)
        result = ls__build_binary(builder, join, result, ls__build_reduce(builder, op, a.limbs[i]));
    return result;
}

ls__word ls__word_add(ls__builder *builder, ls__word a, ls__word b, ls__node_id carry)
{
    ls__word word = ls__word_new(builder, a.width);
    uint32_t limbs = ls__word_limbs(a.width);
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_id sum = ls__build_binary(builder, LS__NODE_ADD, a.limbs[i], b.limbs[i]);
        uint32_t width = ls__builder_width(builder, sum);
        word.limbs[i] = ls__build_binary(builder, LS__NODE_ADD, sum,
                                         ls__build_extend(builder, carry, width, false));
        if (i + 1 == limbs)
            break;
        ls__node_id over = ls__build_binary(builder, LS__NODE_ULT, sum, a.limbs[i]);
        carry = ls__build_binary(builder, LS__NODE_OR, over,
                                 ls__build_binary(builder, LS__NODE_ULT, word.limbs[i], sum));
    }
    return word;
}

ls__word ls__word_sub(ls__builder *builder, ls__word a, ls__word b, ls__node_id *borrow)
{
    ls__word word = ls__word_new(builder, a.width);
    uint32_t limbs = ls__word_limbs(a.width);
    ls__node_id taken = ls__build_const(builder, 1, 0);
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_id difference = ls__build_binary(builder, LS__NODE_SUB, a.limbs[i], b.limbs[i]);
        uint32_t width = ls__builder_width(builder, difference);
        ls__node_id less = ls__build_extend(builder, taken, width, false);
        word.limbs[i] = ls__build_binary(builder, LS__NODE_SUB, difference, less);
        if (i + 1 == limbs && !borrow)
            break;
        taken = ls__build_binary(builder, LS__NODE_OR,
                                 ls__build_binary(builder, LS__NODE_ULT, a.limbs[i], b.limbs[i]),
                                 ls__build_binary(builder, LS__NODE_ULT, difference, less));
    }
    if (borrow)
        *borrow = taken;
    return word;
}

ls__word ls__word_negate(ls__builder *builder, ls__word a)
{
    return ls__word_sub(builder, ls__word_const(builder, a.width, 0), a, NULL);
}

ls__node_id ls__word_equal(ls__builder *builder, ls__word a, ls__word b)
{
    ls__node_id result = ls__build_binary(builder, LS__NODE_EQ, a.limbs[0], b.limbs[0]);
    for (uint32_t i = 1; i < ls__word_limbs(a.width); i++)
        result = ls__build_binary(builder, LS__NODE_AND, result,
                                  ls__build_binary(builder, LS__NODE_EQ, a.limbs[i], b.limbs[i]));
    return result;
}

ls__node_id ls__word_less(ls__builder *builder, ls__word a, ls__word b, bool is_signed)
{
    uint32_t limbs = ls__word_limbs(a.width);
    ls__node_id result = ls__build_const(builder, 1, 0);
    for (uint32_t i = 0; i < limbs; i++) {
        ls__node_op op = is_signed && i + 1 == limbs ? LS__NODE_SLT : LS__NODE_ULT;
        ls__node_id less = ls__build_binary(builder, op, a.limbs[i], b.limbs[i]);
        ls__node_id equal = ls__build_binary(builder, LS__NODE_EQ, a.limbs[i], b.limbs[i]);
        result = ls__build_binary(builder, LS__NODE_OR, less,
                                  ls__build_binary(builder, LS__NODE_AND, equal, result));
    }
    return result;
}
