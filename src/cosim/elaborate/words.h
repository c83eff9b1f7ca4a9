/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of any width as limbs of 64 bits, bit 0 first; the last limb has what is left over. What
 * fits in one limb becomes the one node that does it, wider arithmetic is spelled out in limbs.
 * Operands of one operation have one width unless said otherwise, and no width is 0.
 */
#ifndef LS_COSIM_ELABORATE_WORDS_H
#define LS_COSIM_ELABORATE_WORDS_H

#include "cosim/elaborate/build.h"

typedef struct ls__word {
    uint32_t width;
    ls__node_id *limbs;
} ls__word;

static inline uint32_t ls__word_limbs(uint32_t width)
{
    return (width + 63) / 64;
}
static inline uint32_t ls__word_limb_width(uint32_t width, uint32_t limb)
{
    return width - 64 * limb < 64 ? width - 64 * limb : 64;
}

ls__word ls__word_new(ls__builder *builder, uint32_t width); /* limbs to be filled in */
ls__word ls__word_of(ls__builder *builder, ls__node_id node);
ls__word ls__word_const(ls__builder *builder, uint32_t width, uint64_t value);
ls__word ls__word_spread(ls__builder *builder, ls__node_id bit, uint32_t width);
ls__node_id ls__word_bit(ls__builder *builder, ls__word a, uint32_t bit);
ls__word ls__word_slice(ls__builder *builder, ls__word a, uint32_t lsb, uint32_t width);
ls__word ls__word_concat(ls__builder *builder, ls__word low, ls__word high);
ls__word ls__word_extend(ls__builder *builder, ls__word a, uint32_t width, bool is_signed);

ls__word ls__word_not(ls__builder *builder, ls__word a);
/* AND, OR, XOR, ANDN */
ls__word ls__word_bitwise(ls__builder *builder, ls__node_op op, ls__word a, ls__word b);
ls__word ls__word_mux(ls__builder *builder, ls__node_id select, ls__word when_0, ls__word when_1);
/* REDAND, REDOR, REDXOR: one bit */
ls__node_id ls__word_reduce(ls__builder *builder, ls__node_op op, ls__word a);

ls__word ls__word_add(ls__builder *builder, ls__word a, ls__word b, ls__node_id carry);
/* `borrow` may be NULL; else whether a < b. */
ls__word ls__word_sub(ls__builder *builder, ls__word a, ls__word b, ls__node_id *borrow);
ls__word ls__word_negate(ls__builder *builder, ls__word a);
ls__word ls__word_mul(ls__builder *builder, ls__word a, ls__word b);
/* Unsigned; both results are 0 when d is 0. Either may be NULL. */
void ls__word_divide(ls__builder *builder, ls__word n, ls__word d, ls__word *quotient,
                     ls__word *remainder);
ls__node_id ls__word_equal(ls__builder *builder, ls__word a, ls__word b);
ls__node_id ls__word_less(ls__builder *builder, ls__word a, ls__word b, bool is_signed);
/* SHL, SHR, SAR by an unsigned count of any width */
ls__word ls__word_shift(ls__builder *builder, ls__node_op op, ls__word a, ls__word count);

#endif
