/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short spellings for code that writes much IR: the lowerings. Each call emits one instruction at
 * the cursor. `k` makes a constant of the type of another value, so the same text serves 32 and 64
 * bits.
 *
 * Floats are taken apart and put together here as well, for any format whose fields fit a word:
 * bits come from `frawbits`, all work is on integers, and only `ffrom_bits` makes a float again.
 */
#ifndef LS_PASS_LOWER_UTIL_H
#define LS_PASS_LOWER_UTIL_H

#include "ir/ir.h"
#include "pass/util.h"

typedef ls__ir_cursor *at; /* where to emit */
typedef ls_value val;

/* C leaves the order of a call's arguments open, but the order in which instructions are emitted
 * must not depend on the compiler: so these evaluate their operands from left to right. They are
 * macros for that reason alone, and other functions take at most one operand that emits. */
#define LS__LOWER_2(op, c, a, b)                                                                   \
    __extension__({                                                                                \
        val left_ = (a);                                                                           \
        val right_ = (b);                                                                          \
        ls__ir_emit2((c), LS_OP_##op, left_, right_);                                              \
    })
#define add(c, a, b) LS__LOWER_2(ADD, c, a, b)
#define sub(c, a, b) LS__LOWER_2(SUB, c, a, b)
#define mul(c, a, b) LS__LOWER_2(MUL, c, a, b)
#define mulhi_u(c, a, b) LS__LOWER_2(MULHI_U, c, a, b)
#define and_(c, a, b) LS__LOWER_2(AND, c, a, b)
#define or_(c, a, b) LS__LOWER_2(OR, c, a, b)
#define xor_(c, a, b) LS__LOWER_2(XOR, c, a, b)
#define shl(c, a, b) LS__LOWER_2(SHL, c, a, b)
#define lshr(c, a, b) LS__LOWER_2(LSHR, c, a, b)
#define ashr(c, a, b) LS__LOWER_2(ASHR, c, a, b)
#define smin(c, a, b) LS__LOWER_2(SMIN, c, a, b)
#define smax(c, a, b) LS__LOWER_2(SMAX, c, a, b)
#define umin(c, a, b) LS__LOWER_2(UMIN, c, a, b)
#define eq(c, a, b) LS__LOWER_2(EQ, c, a, b)
#define ne(c, a, b) LS__LOWER_2(NE, c, a, b)
#define slt(c, a, b) LS__LOWER_2(SLT, c, a, b)
#define sle(c, a, b) LS__LOWER_2(SLE, c, a, b)
#define ult(c, a, b) LS__LOWER_2(ULT, c, a, b)
#define ule(c, a, b) LS__LOWER_2(ULE, c, a, b)
#define choose(c, condition, yes, no) /* condition ? yes : no */                                   \
    __extension__({                                                                                \
        val condition_ = (condition);                                                              \
        val yes_ = (yes);                                                                          \
        val no_ = (no);                                                                            \
        ls__ir_emit3((c), LS_OP_SELECT, condition_, yes_, no_);                                    \
    })

#define LS__LOWER_1(name, op)                                                                      \
    static inline val name(at c, val a)                                                            \
    {                                                                                              \
        return ls__ir_emit1(c, LS_OP_##op, a);                                                     \
    }
LS__LOWER_1(not_, NOT)
LS__LOWER_1(clz, CLZ)
LS__LOWER_1(sext, SEXT)
LS__LOWER_1(zext, ZEXT)
LS__LOWER_1(trunc_, TRUNC)
LS__LOWER_1(b2i, B2I)
#undef LS__LOWER_1

static inline val k32(at c, uint32_t bits)
{
    return ls__ir_const(c, LS_TYPE_I32, bits);
}

static inline val k64(at c, uint64_t bits)
{
    return ls__ir_const(c, LS_TYPE_I64, bits);
}

/* A constant of the integer type of `like`, cut to its width. */
static inline val k(at c, val like, uint64_t bits)
{
    ls_type type = ls__ir_type_of(c->function, like);
    return ls__ir_const(c, type, type == LS_TYPE_I32 ? (uint32_t)bits : bits);
}

static inline val add_k(at c, val a, uint64_t bits)
{
    return add(c, a, k(c, a, bits));
}
static inline val and_k(at c, val a, uint64_t bits)
{
    return and_(c, a, k(c, a, bits));
}
static inline val shl_k(at c, val a, uint32_t count)
{
    return count ? shl(c, a, k(c, a, count)) : a;
}
static inline val lshr_k(at c, val a, uint32_t count)
{
    return count ? lshr(c, a, k(c, a, count)) : a;
}
static inline val neg(at c, val a)
{
    return sub(c, k(c, a, 0), a);
}

/* 0 or 1 in the integer type of `like`. */
static inline val flag(at c, val like, val condition)
{
    return choose(c, condition, k(c, like, 1), k(c, like, 0));
}

/* --- float formats --------------------------------------------------------------------------- */

/* A binary format whose bits lie in the low end of a word of integer type `word`. */
typedef struct ls__format {
    ls_type word;       /* I32, or I64 for binary64 */
    uint32_t word_bits; /* 32 or 64 */
    uint32_t mantissa;  /* stored bits: 10, 7, 23, 52 */
    uint32_t exponent;  /* bits of the exponent field: 5, 8, 8, 11 */
} ls__format;

extern const ls__format ls__format_f16, ls__format_bf16, ls__format_f32, ls__format_f64;
const ls__format *ls__format_of(ls_type type);      /* F32 or F64 */
uint64_t ls__format_sign(const ls__format *format); /* the sign bit */
uint64_t ls__format_infinity(const ls__format *format);
uint64_t ls__format_nan(const ls__format *format);
int32_t ls__format_bias(const ls__format *format);

/* A float in pieces, all of the word type: value = significand * 2^(exponent - mantissa bits) with
 * the leading bit of the significand always at the same place (subnormals are shifted up), except
 * that the significand of 0 is 0 with a meaningless exponent. Infinity and NaN are told by the
 * flags only. */
typedef struct ls__parts {
    val bits, magnitude; /* as stored; without the sign */
    val sign;            /* the sign bit in its place, else 0 */
    val exponent, significand;
    val is_zero, is_infinite, is_nan; /* bool */
} ls__parts;

ls__parts ls__lower_unpack(at c, const ls__format *format, val bits);

/* Rounds to nearest even and packs: value = significand * 2^(exponent - (word_bits - 1)), the
 * leading bit of `significand` is the top bit of the word, and its lowest bit is also set when
 * anything was lost below it. `exponent` is signed. Result: the bits, sign included. */
val ls__lower_pack(at c, const ls__format *format, val sign, val exponent, val significand);

/* Replaces every instruction of the function for which `lower` answers a value. `lower` emits in
 * front of the instruction; id 0 = leave it (or it has been dealt with: then it is already
 * gone). */
typedef val ls__lower_one(at c, ls__ir_inst *inst, void *context);
bool ls__lower_each(ls__ir_function *function, ls__arena *scratch, ls__lower_one *lower,
                    void *context);

/* Bool: [offset, offset + bytes) lies in the range of `base`. */
val ls__lower_in_range(at c, ls_base base, val offset, uint32_t bytes);

#endif
