/* SPDX-License-Identifier: Apache-2.0 */
/* Floats of 32 and 64 bits as IEEE 754 has them: the host's own arithmetic, which must neither fuse
 * nor flush. Single-precision NaNs come out as NVIDIA's machines make them, 0x7fffffff. Roundings
 * other than to nearest are in rounded.c. */
#include <math.h>
#include "warp.h"

typedef uint32_t u32;
typedef uint64_t u64;

#define NAN_32 UINT32_C(0x7fffffff)
#define NAN_64 UINT64_C(0x7fffffffffffffff)

static u32 bits_of(float x)
{
    u32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static u64 bits_of_64(double x)
{
    u64 bits;
    memcpy(&bits, &x, 8);
    return bits;
}

static u32 canonical(float x)
{
    return x != x ? NAN_32 : bits_of(x);
}

/* The other operand where one is a NaN; -0 is less than +0. */
static float least(float x, float y)
{
    return x != x ? y : y != y ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static float most(float x, float y)
{
    return x != x ? y : y != y ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static float least_nan(float x, float y)
{
    return x != x || y != y ? NAN : least(x, y);
}

static float most_nan(float x, float y)
{
    return x != x || y != y ? NAN : most(x, y);
}

static double least_64(double x, double y)
{
    return x != x ? y : y != y ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static double most_64(double x, double y)
{
    return x != x ? y : y != y ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

/* id, mnemonic, widths, the value in floats */
#define FLOAT(X)                                                                                   \
    X(add_32, "add.f32", "444", x + y)                                                             \
    X(add_rn_32, "add.rn.f32", "444", x + y)                                                       \
    X(sub_32, "sub.f32", "444", x - y)                                                             \
    X(sub_rn_32, "sub.rn.f32", "444", x - y)                                                       \
    X(mul_32, "mul.f32", "444", x *y)                                                              \
    X(mul_rn_32, "mul.rn.f32", "444", x *y)                                                        \
    X(fma_rn_32, "fma.rn.f32", "4444", fmaf(x, y, z))                                              \
    X(mad_rn_32, "mad.rn.f32", "4444", fmaf(x, y, z))                                              \
    X(div_rn_32, "div.rn.f32", "444", x / y)                                                       \
    X(rcp_rn_32, "rcp.rn.f32", "44", 1 / x)                                                        \
    X(sqrt_rn_32, "sqrt.rn.f32", "44", sqrtf(x))                                                   \
    X(min_32, "min.f32", "444", least(x, y))                                                       \
    X(max_32, "max.f32", "444", most(x, y))                                                        \
    X(min_nan_32, "min.NaN.f32", "444", least_nan(x, y))                                           \
    X(max_nan_32, "max.NaN.f32", "444", most_nan(x, y))                                            \
    X(abs_32, "abs.f32", "44", fabsf(x))                                                           \
    X(neg_32, "neg.f32", "44", -x)

#define DOUBLE(X)                                                                                  \
    X(add_64, "add.f64", "888", x + y)                                                             \
    X(add_rn_64, "add.rn.f64", "888", x + y)                                                       \
    X(sub_64, "sub.f64", "888", x - y)                                                             \
    X(sub_rn_64, "sub.rn.f64", "888", x - y)                                                       \
    X(mul_64, "mul.f64", "888", x *y)                                                              \
    X(mul_rn_64, "mul.rn.f64", "888", x *y)                                                        \
    X(fma_rn_64, "fma.rn.f64", "8888", fma(x, y, z))                                               \
    X(mad_rn_64, "mad.rn.f64", "8888", fma(x, y, z))                                               \
    X(div_rn_64, "div.rn.f64", "888", x / y)                                                       \
    X(rcp_rn_64, "rcp.rn.f64", "88", 1 / x)                                                        \
    X(sqrt_rn_64, "sqrt.rn.f64", "88", sqrt(x))                                                    \
    X(min_64, "min.f64", "888", least_64(x, y))                                                    \
    X(max_64, "max.f64", "888", most_64(x, y))                                                     \
    X(abs_64, "abs.f64", "88", fabs(x))                                                            \
    X(neg_64, "neg.f64", "88", -x)

#define DEFINE(id, F, U, bits, finish, value)                                                      \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const F *a = source(w, in->a), *b = source(w, in->b), *c = source(w, in->c);               \
        U d[LANES];                                                                                \
        (void)b, (void)c;                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            F x = a[i], y = b[i], z = c[i];                                                        \
            (void)y, (void)z;                                                                      \
            d[i] = finish(value);                                                                  \
        }                                                                                          \
        put##bits(w, in->d, mask, d);                                                              \
    }
#define X(id, mnemonic, widths, value) DEFINE(id, float, u32, 32, canonical, value)
FLOAT(X)
#undef X
#define X(id, mnemonic, widths, value) DEFINE(id, double, u64, 64, bits_of_64, value)
DOUBLE(X)
#undef X

/* --- signs and kinds: the sign of a, the rest of b -----------------------------------------------
 */
static void run_copysign_32(warp *w, const instruction *in, uint32_t mask)
{
    const u32 *a = source(w, in->a), *b = source(w, in->b);
    u32 d[LANES];
    for (int i = 0; i < LANES; i++)
        d[i] = (a[i] & 0x80000000u) | (b[i] & 0x7fffffffu);
    put32(w, in->d, mask, d);
}

static void run_copysign_64(warp *w, const instruction *in, uint32_t mask)
{
    const u64 *a = source(w, in->a), *b = source(w, in->b);
    u64 d[LANES];
    for (int i = 0; i < LANES; i++)
        d[i] = (a[i] & ~NAN_64) | (b[i] & NAN_64);
    put64(w, in->d, mask, d);
}

/* Signs of halves and bfloats; a NaN becomes the canonical one here, too. */
#define SMALL(X)                                                                                   \
    X(neg_f16, "neg.f16", 0x7c00, a[i] ^ 0x8000)                                                   \
    X(abs_f16, "abs.f16", 0x7c00, a[i] & 0x7fff)                                                   \
    X(neg_bf16, "neg.bf16", 0x7f80, a[i] ^ 0x8000)                                                 \
    X(abs_bf16, "abs.bf16", 0x7f80, a[i] & 0x7fff)
#define X(id, mnemonic, infinite, value)                                                           \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const uint16_t *a = source(w, in->a);                                                      \
        uint16_t d[LANES];                                                                         \
        for (int i = 0; i < LANES; i++)                                                            \
            d[i] = (uint16_t)((a[i] & 0x7fff) > infinite ? 0x7fff : value);                        \
        put16(w, in->d, mask, d);                                                                  \
    }
SMALL(X)
#undef X

#define TESTS(X)                                                                                   \
    X(finite, isfinite(x))                                                                         \
    X(infinite, isinf(x))                                                                          \
    X(number, x == x)                                                                              \
    X(notanumber, x != x)                                                                          \
    X(normal, isnormal(x) || x == 0)                                                               \
    X(subnormal, fpclassify(x) == FP_SUBNORMAL)
#define DEFINE_TEST(id, F, value)                                                                  \
    static void run_testp_##id(warp *w, const instruction *in, uint32_t mask)                      \
    {                                                                                              \
        const F *a = source(w, in->a);                                                             \
        uint32_t result = 0;                                                                       \
        for (int i = 0; i < LANES; i++) {                                                          \
            F x = a[i];                                                                            \
            result |= (uint32_t)((value) != 0) << i;                                               \
        }                                                                                          \
        put_predicate(w, in->d, mask, result);                                                     \
    }
#define X(name, value)                                                                             \
    DEFINE_TEST(name##_32, float, value)                                                           \
    DEFINE_TEST(name##_64, double, value)
TESTS(X)
#undef X

const form float_forms[] = {
#define X(id, mnemonic, widths, value) {mnemonic, run_##id, widths},
    FLOAT(X) DOUBLE(X)
#undef X
#define X(name, value)                                                                             \
    {"testp." #name ".f32", run_testp_##name##_32, "14"},                                          \
        {"testp." #name ".f64", run_testp_##name##_64, "18"},
        TESTS(X)
#undef X
#define X(id, mnemonic, infinite, value) {mnemonic, run_##id, "22"},
            SMALL(X)
#undef X
                {"copysign.f32", run_copysign_32, "444"},
    {"copysign.f64", run_copysign_64, "888"},
    {NULL, NULL, NULL},
};
