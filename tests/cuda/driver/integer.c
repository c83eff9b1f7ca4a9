/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic and logic of PTX. Each executor computes all lanes and keeps the active ones.
 */
#include "warp.h"

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

static u64 high_unsigned(u64 x, u64 y)
{
    return (u64)((u128)x * y >> 64);
}

static u64 high_signed(s64 x, s64 y)
{
    return (u64)((s128)x * y >> 64);
}

/* Shifts by the width or more give no bits, or only the sign. */
static u32 shl32(u32 x, u32 n)
{
    return n > 31 ? 0 : x << n;
}

static u64 shl64(u64 x, u32 n)
{
    return n > 63 ? 0 : x << n;
}

static u32 shr32(u32 x, u32 n)
{
    return n > 31 ? 0 : x >> n;
}

static u64 shr64(u64 x, u32 n)
{
    return n > 63 ? 0 : x >> n;
}

static s64 sar(s64 x, u32 n, u32 last)
{
    return x >> (n > last ? last : n);
}

static u32 saturated(s64 x)
{
    return (u32)(s32)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static u32 dot_unsigned(u32 a, u32 b, u32 c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}

/* dp4a and dp2a with each kind of signs; the products wrap around in the sum. */
static s32 byte_of(u32 x, int i, int is_signed)
{
    u32 byte = x >> i * 8 & 255;
    return is_signed ? (s32)(byte ^ 128) - 128 : (s32)byte;
}

static s32 half_of(u32 x, int i, int is_signed)
{
    u32 half = x >> i * 16 & 65535;
    return is_signed ? (s32)(half ^ 32768) - 32768 : (s32)half;
}

static u32 dot(u32 a, u32 b, u32 c, int a_signed, int b_signed)
{
    for (int i = 0; i < 4; i++)
        c += (u32)(byte_of(a, i, a_signed) * byte_of(b, i, b_signed));
    return c;
}

static u32 dot2(u32 a, u32 b, u32 c, int first, int a_signed, int b_signed)
{
    for (int i = 0; i < 2; i++)
        c += (u32)(s32)((s64)half_of(a, i, a_signed) * byte_of(b, first + i, b_signed));
    return c;
}

/* id, mnemonic, widths, types of the result and of x, y, z, and the result's value */
#define SAME(X, id, op, s, w, T, value) X(id##_##s, op "." #s, w w w, T, T, T, T, value)
#define UNARY(X, id, op, s, w, T, value) X(id##_##s, op "." #s, w w, T, T, T, T, value)

/* What does not care for signs; C is wide enough not to be promoted to int. */
#define WRAPPING(X, s, w, T, C)                                                                    \
    SAME(X, add, "add", s, w, T, (T)((C)x + (C)y))                                                 \
    SAME(X, sub, "sub", s, w, T, (T)((C)x - (C)y))                                                 \
    SAME(X, mul_lo, "mul.lo", s, w, T, (T)((C)x * (C)y))                                           \
    X(mad_lo_##s, "mad.lo." #s, w w w w, T, T, T, T, (T)((C)x * (C)y + (C)z))

#define ORDERED(X, s, w, T)                                                                        \
    SAME(X, min, "min", s, w, T, x < y ? x : y)                                                    \
    SAME(X, max, "max", s, w, T, x > y ? x : y)

#define SIGNED(X, s, w, T, C)                                                                      \
    ORDERED(X, s, w, T)                                                                            \
    UNARY(X, neg, "neg", s, w, T, (T)((C)0 - (C)x))                                                \
    UNARY(X, abs, "abs", s, w, T, (T)(x < 0 ? (C)0 - (C)x : (C)x))

#define INTEGER(X)                                                                                 \
    WRAPPING(X, u16, "2", u16, u32)                                                                \
    WRAPPING(X, s16, "2", u16, u32)                                                                \
    WRAPPING(X, u32, "4", u32, u32)                                                                \
    WRAPPING(X, s32, "4", u32, u32)                                                                \
    WRAPPING(X, u64, "8", u64, u64)                                                                \
    WRAPPING(X, s64, "8", u64, u64)                                                                \
    ORDERED(X, u16, "2", u16)                                                                      \
    ORDERED(X, u32, "4", u32)                                                                      \
    ORDERED(X, u64, "8", u64)                                                                      \
    SIGNED(X, s16, "2", s16, u32)                                                                  \
    SIGNED(X, s32, "4", s32, u32)                                                                  \
    SIGNED(X, s64, "8", s64, u64)                                                                  \
    X(add_sat, "add.sat.s32", "444", u32, s32, s32, s32, saturated((s64)x + y))                    \
    X(sub_sat, "sub.sat.s32", "444", u32, s32, s32, s32, saturated((s64)x - y))                    \
    X(mul_wide_u16, "mul.wide.u16", "422", u32, u16, u16, u16, (u32)x *y)                          \
    X(mul_wide_s16, "mul.wide.s16", "422", u32, s16, s16, s16, (u32)((s32)x * y))                  \
    X(mul_wide_u32, "mul.wide.u32", "844", u64, u32, u32, u32, (u64)x *y)                          \
    X(mul_wide_s32, "mul.wide.s32", "844", u64, s32, s32, s32, (u64)((s64)x * y))                  \
    X(mad_wide_u16, "mad.wide.u16", "4224", u32, u16, u16, u32, (u32)x *y + z)                     \
    X(mad_wide_s16, "mad.wide.s16", "4224", u32, s16, s16, u32, (u32)((s32)x * y) + z)             \
    X(mad_wide_u32, "mad.wide.u32", "8448", u64, u32, u32, u64, (u64)x *y + z)                     \
    X(mad_wide_s32, "mad.wide.s32", "8448", u64, s32, s32, u64, (u64)((s64)x * y) + z)             \
    X(mul_hi_u16, "mul.hi.u16", "222", u16, u16, u16, u16, (u16)((u32)x * y >> 16))                \
    X(mul_hi_s16, "mul.hi.s16", "222", u16, s16, s16, s16, (u16)((s32)x * y >> 16))                \
    X(mul_hi_u32, "mul.hi.u32", "444", u32, u32, u32, u32, (u32)((u64)x * y >> 32))                \
    X(mul_hi_s32, "mul.hi.s32", "444", u32, s32, s32, s32, (u32)((s64)x * y >> 32))                \
    X(mul_hi_u64, "mul.hi.u64", "888", u64, u64, u64, u64, high_unsigned(x, y))                    \
    X(mul_hi_s64, "mul.hi.s64", "888", u64, s64, s64, s64, high_signed(x, y))                      \
    X(mad_hi_u32, "mad.hi.u32", "4444", u32, u32, u32, u32, (u32)((u64)x * y >> 32) + z)           \
    X(mad_hi_s32, "mad.hi.s32", "4444", u32, s32, s32, u32, (u32)((s64)x * y >> 32) + z)           \
    X(mad_hi_u64, "mad.hi.u64", "8888", u64, u64, u64, u64, high_unsigned(x, y) + z)               \
    X(mad_hi_s64, "mad.hi.s64", "8888", u64, s64, s64, u64, high_signed(x, y) + z)                 \
    X(mul24_u, "mul24.lo.u32", "444", u32, u32, u32, u32, (x & 0xffffff) * (y & 0xffffff))         \
    X(mad24_u, "mad24.lo.u32", "4444", u32, u32, u32, u32, (x & 0xffffff) * (y & 0xffffff) + z)    \
    X(mul24_s, "mul24.lo.s32", "444", u32, u32, u32, u32,                                          \
      (u32)((s64)((s32)(x << 8) >> 8) * ((s32)(y << 8) >> 8)))                                     \
    X(mad24_s, "mad24.lo.s32", "4444", u32, u32, u32, u32,                                         \
      (u32)((s64)((s32)(x << 8) >> 8) * ((s32)(y << 8) >> 8)) + z)                                 \
    X(sad_u32, "sad.u32", "4444", u32, u32, u32, u32, (x > y ? x - y : y - x) + z)                 \
    X(sad_s32, "sad.s32", "4444", u32, s32, s32, u32,                                              \
      (x > y ? (u32)x - (u32)y : (u32)y - (u32)x) + z)                                             \
    X(sad_u64, "sad.u64", "8888", u64, u64, u64, u64, (x > y ? x - y : y - x) + z)                 \
    X(sad_s64, "sad.s64", "8888", u64, s64, s64, u64,                                              \
      (x > y ? (u64)x - (u64)y : (u64)y - (u64)x) + z)                                             \
    X(dp4a_uu, "dp4a.u32.u32", "4444", u32, u32, u32, u32, dot_unsigned(x, y, z))                  \
    X(dp4a_us, "dp4a.u32.s32", "4444", u32, u32, u32, u32, dot(x, y, z, 0, 1))                     \
    X(dp4a_su, "dp4a.s32.u32", "4444", u32, u32, u32, u32, dot(x, y, z, 1, 0))                     \
    X(dp4a_ss, "dp4a.s32.s32", "4444", u32, u32, u32, u32, dot(x, y, z, 1, 1))                     \
    X(dp2a_lo_uu, "dp2a.lo.u32.u32", "4444", u32, u32, u32, u32, dot2(x, y, z, 0, 0, 0))           \
    X(dp2a_hi_uu, "dp2a.hi.u32.u32", "4444", u32, u32, u32, u32, dot2(x, y, z, 2, 0, 0))           \
    X(dp2a_lo_ss, "dp2a.lo.s32.s32", "4444", u32, u32, u32, u32, dot2(x, y, z, 0, 1, 1))           \
    X(dp2a_hi_ss, "dp2a.hi.s32.s32", "4444", u32, u32, u32, u32, dot2(x, y, z, 2, 1, 1))           \
    X(and_16, "and.b16", "222", u16, u16, u16, u16, (u16)(x & y))                                  \
    X(and_32, "and.b32", "444", u32, u32, u32, u32, x &y)                                          \
    X(and_64, "and.b64", "888", u64, u64, u64, u64, x &y)                                          \
    X(or_16, "or.b16", "222", u16, u16, u16, u16, (u16)(x | y))                                    \
    X(or_32, "or.b32", "444", u32, u32, u32, u32, x | y)                                           \
    X(or_64, "or.b64", "888", u64, u64, u64, u64, x | y)                                           \
    X(xor_16, "xor.b16", "222", u16, u16, u16, u16, (u16)(x ^ y))                                  \
    X(xor_32, "xor.b32", "444", u32, u32, u32, u32, x ^ y)                                         \
    X(xor_64, "xor.b64", "888", u64, u64, u64, u64, x ^ y)                                         \
    X(not_16, "not.b16", "22", u16, u16, u16, u16, (u16)~x)                                        \
    X(not_32, "not.b32", "44", u32, u32, u32, u32, ~x)                                             \
    X(not_64, "not.b64", "88", u64, u64, u64, u64, ~x)                                             \
    X(cnot_16, "cnot.b16", "22", u16, u16, u16, u16, (u16)(x == 0))                                \
    X(cnot_32, "cnot.b32", "44", u32, u32, u32, u32, (u32)(x == 0))                                \
    X(cnot_64, "cnot.b64", "88", u64, u64, u64, u64, (u64)(x == 0))                                \
    X(shl_16, "shl.b16", "224", u16, u16, u32, u32, (u16)shl32(x, y))                              \
    X(shl_32, "shl.b32", "444", u32, u32, u32, u32, shl32(x, y))                                   \
    X(shl_64, "shl.b64", "884", u64, u64, u32, u32, shl64(x, y))                                   \
    X(shr_b16, "shr.b16", "224", u16, u16, u32, u32, (u16)shr32(x, y))                             \
    X(shr_u16, "shr.u16", "224", u16, u16, u32, u32, (u16)shr32(x, y))                             \
    X(shr_s16, "shr.s16", "224", u16, s16, u32, u32, (u16)sar(x, y, 15))                           \
    X(shr_b32, "shr.b32", "444", u32, u32, u32, u32, shr32(x, y))                                  \
    X(shr_u32, "shr.u32", "444", u32, u32, u32, u32, shr32(x, y))                                  \
    X(shr_s32, "shr.s32", "444", u32, s32, u32, u32, (u32)(x >> (y > 31 ? 31 : y)))                \
    X(shr_b64, "shr.b64", "884", u64, u64, u32, u32, shr64(x, y))                                  \
    X(shr_u64, "shr.u64", "884", u64, u64, u32, u32, shr64(x, y))                                  \
    X(shr_s64, "shr.s64", "884", u64, s64, u32, u32, (u64)sar(x, y, 63))

#define X(id, mnemonic, widths, D, A, B, C, value)                                                 \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const A *a = source(w, in->a);                                                             \
        const B *b = source(w, in->b);                                                             \
        const C *c = source(w, in->c);                                                             \
        D d[LANES];                                                                                \
        (void)b, (void)c;                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            A x = a[i];                                                                            \
            B y = b[i];                                                                            \
            C z = c[i];                                                                            \
            (void)y, (void)z;                                                                      \
            d[i] = (D)(value);                                                                     \
        }                                                                                          \
        _Generic(d[0], u16                                                                         \
                 : put16, s16                                                                      \
                 : put16, u32                                                                      \
                 : put32, s32                                                                      \
                 : put32, u64                                                                      \
                 : put64, s64                                                                      \
                 : put64)(w, in->d, mask, (const void *)d);                                        \
    }
INTEGER(X)
#undef X

/* --- division -----------------------------------------------------------------------------------
 */
/* PTX leaves x / 0 open; it is no fault, and LLVM moves divisions before the test that guards them.
 * What comes out is no number that anybody wants. The smallest by -1 wraps around. */
#define DIVISION(X)                                                                                \
    X(div_u16, "div.u16", "222", u16, x / y)                                                       \
    X(div_u32, "div.u32", "444", u32, x / y)                                                       \
    X(div_u64, "div.u64", "888", u64, x / y)                                                       \
    X(div_s16, "div.s16", "222", s16, x / y)                                                       \
    X(div_s32, "div.s32", "444", s32, y == -1 ? (s32)(0 - (u32)x) : x / y)                         \
    X(div_s64, "div.s64", "888", s64, y == -1 ? (s64)(0 - (u64)x) : x / y)                         \
    X(rem_u16, "rem.u16", "222", u16, x % y)                                                       \
    X(rem_u32, "rem.u32", "444", u32, x % y)                                                       \
    X(rem_u64, "rem.u64", "888", u64, x % y)                                                       \
    X(rem_s16, "rem.s16", "222", s16, x % y)                                                       \
    X(rem_s32, "rem.s32", "444", s32, y == -1 ? 0 : x % y)                                         \
    X(rem_s64, "rem.s64", "888", s64, y == -1 ? 0 : x % y)

#define X(id, mnemonic, widths, T, value)                                                          \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const T *a = source(w, in->a), *b = source(w, in->b);                                      \
        T *d = source(w, in->d);                                                                   \
        for (int i = 0; i < LANES; i++) {                                                          \
            if (!(mask >> i & 1))                                                                  \
                continue;                                                                          \
            T x = a[i], y = b[i];                                                                  \
            d[i] = y == 0 ? (T)UINT64_C(0x5bad5bad5bad5bad) : (T)(value);                          \
        }                                                                                          \
    }
DIVISION(X)
#undef X

/* --- selection ----------------------------------------------------------------------------------
 */
#define SELECTION(X)                                                                               \
    X(16, u16, "2")                                                                                \
    X(32, u32, "4")                                                                                \
    X(64, u64, "8")
#define X(bits, T, w4)                                                                             \
    static void run_selp_##bits(warp *w, const instruction *in, uint32_t mask)                     \
    {                                                                                              \
        const T *a = source(w, in->a), *b = source(w, in->b);                                      \
        uint32_t p = predicate(w, in->c);                                                          \
        T d[LANES];                                                                                \
        for (int i = 0; i < LANES; i++)                                                            \
            d[i] = p >> i & 1 ? a[i] : b[i];                                                       \
        put##bits(w, in->d, mask, d);                                                              \
    }
SELECTION(X)
#undef X

/* slct: a where c >= 0. A NaN is not; a negative zero is. */
#define CHOICE(X)                                                                                  \
    X(slct_32_s, u32, 32, s32)                                                                     \
    X(slct_64_s, u64, 64, s32)                                                                     \
    X(slct_32_f, u32, 32, float)                                                                   \
    X(slct_64_f, u64, 64, float)
#define X(id, T, bits, C)                                                                          \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const T *a = source(w, in->a), *b = source(w, in->b);                                      \
        const C *c = source(w, in->c);                                                             \
        T d[LANES];                                                                                \
        for (int i = 0; i < LANES; i++)                                                            \
            d[i] = c[i] >= 0 ? a[i] : b[i];                                                        \
        put##bits(w, in->d, mask, d);                                                              \
    }
CHOICE(X)
#undef X

/* --- predicates ---------------------------------------------------------------------------------
 */
#define PREDICATES(X)                                                                              \
    X(mov_pred, "mov.pred", "11", x)                                                               \
    X(not_pred, "not.pred", "11", ~x)                                                              \
    X(and_pred, "and.pred", "111", x &y)                                                           \
    X(or_pred, "or.pred", "111", x | y)                                                            \
    X(xor_pred, "xor.pred", "111", x ^ y)
#define X(id, mnemonic, widths, value)                                                             \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        uint32_t x = predicate(w, in->a), y = in->b.width ? predicate(w, in->b) : 0;               \
        (void)y;                                                                                   \
        put_predicate(w, in->d, mask, value);                                                      \
    }
PREDICATES(X)
#undef X

const form integer_forms[] = {
#define X(id, mnemonic, widths, D, A, B, C, value) {mnemonic, run_##id, widths},
    INTEGER(X)
#undef X
#define X(id, mnemonic, widths, T, value) {mnemonic, run_##id, widths},
        DIVISION(X)
#undef X
#define X(id, mnemonic, widths, value) {mnemonic, run_##id, widths},
            PREDICATES(X)
#undef X
                {"selp.b16", run_selp_16, "2221"},
    {"selp.u16", run_selp_16, "2221"},
    {"selp.s16", run_selp_16, "2221"},
    {"selp.b32", run_selp_32, "4441"},
    {"selp.u32", run_selp_32, "4441"},
    {"selp.s32", run_selp_32, "4441"},
    {"selp.f32", run_selp_32, "4441"},
    {"selp.b64", run_selp_64, "8881"},
    {"selp.u64", run_selp_64, "8881"},
    {"selp.s64", run_selp_64, "8881"},
    {"selp.f64", run_selp_64, "8881"},
    {"slct.b32.s32", run_slct_32_s, "4444"},
    {"slct.u32.s32", run_slct_32_s, "4444"},
    {"slct.s32.s32", run_slct_32_s, "4444"},
    {"slct.f32.s32", run_slct_32_s, "4444"},
    {"slct.b64.s32", run_slct_64_s, "8884"},
    {"slct.f64.s32", run_slct_64_s, "8884"},
    {"slct.b32.f32", run_slct_32_f, "4444"},
    {"slct.u32.f32", run_slct_32_f, "4444"},
    {"slct.s32.f32", run_slct_32_f, "4444"},
    {"slct.f32.f32", run_slct_32_f, "4444"},
    {"slct.b64.f32", run_slct_64_f, "8884"},
    {NULL, NULL, NULL},
};
