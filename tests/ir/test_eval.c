/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls__ir_eval against tables of known answers (the special cases of docs/numerics.md) and, over
 * random and special operands, against the C compiler where C defines the same thing.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ir/ir.h"

#define NAN32 UINT64_C(0x7fc00000)
#define NAN64 UINT64_C(0x7ff8000000000000)

static uint64_t eval(ls_op op, ls_type arg, ls_type result, uint64_t imm, uint64_t a, uint64_t b,
                     uint64_t c)
{
    ls__ir_inst inst = {.op = (uint16_t)op, .type = (uint8_t)result, .imm = imm};
    inst.arg_count = (uint32_t)strlen(ls__ir_op(op)->operands);
    return ls__ir_eval(&inst, arg, (uint64_t[]){a, b, c});
}

static uint64_t f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float to_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double to_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- integers --------------------------------------------------------------------------------- */

typedef struct known {
    ls_op op;
    ls_type type;
    uint64_t a, b, expected;
} known;

#define MIN32 0x80000000u
#define MIN64 (UINT64_C(1) << 63)
#define ALL64 UINT64_MAX

static const known known_integers[] = {
    {LS_OP_ADD, LS_TYPE_I32, 0xffffffff, 1, 0},
    {LS_OP_ADD, LS_TYPE_I64, ALL64, 1, 0},
    {LS_OP_SUB, LS_TYPE_I32, 0, 1, 0xffffffff},
    {LS_OP_MUL, LS_TYPE_I32, 0x10001, 0x10001, 0x20001},
    {LS_OP_SDIV, LS_TYPE_I32, 7, 0, 7},
    {LS_OP_SDIV, LS_TYPE_I32, MIN32, 0xffffffff, MIN32},
    {LS_OP_SDIV, LS_TYPE_I32, 0xfffffff9, 2, 0xfffffffd}, /* -7 / 2 = -3 */
    {LS_OP_SDIV, LS_TYPE_I64, MIN64, ALL64, MIN64},
    {LS_OP_UDIV, LS_TYPE_I32, 9, 0, 9},
    {LS_OP_UDIV, LS_TYPE_I64, ALL64, 2, ALL64 >> 1},
    {LS_OP_SREM, LS_TYPE_I32, 7, 0, 0},
    {LS_OP_SREM, LS_TYPE_I32, MIN32, 0xffffffff, 0},
    {LS_OP_SREM, LS_TYPE_I32, 0xfffffff9, 2, 0xffffffff}, /* -7 % 2 = -1 */
    {LS_OP_UREM, LS_TYPE_I64, 9, 0, 0},
    {LS_OP_AND, LS_TYPE_I32, 12, 10, 8},
    {LS_OP_OR, LS_TYPE_I32, 12, 10, 14},
    {LS_OP_XOR, LS_TYPE_BOOL, 1, 1, 0},
    {LS_OP_NOT, LS_TYPE_BOOL, 1, 0, 0},
    {LS_OP_NOT, LS_TYPE_BOOL, 0, 0, 1},
    {LS_OP_NOT, LS_TYPE_I32, 0, 0, 0xffffffff},
    {LS_OP_SHL, LS_TYPE_I32, 1, 33, 2},
    {LS_OP_SHL, LS_TYPE_I64, 1, 64, 1},
    {LS_OP_LSHR, LS_TYPE_I32, MIN32, 31, 1},
    {LS_OP_LSHR, LS_TYPE_I32, MIN32, 0xffffffff, 1},
    {LS_OP_ASHR, LS_TYPE_I32, MIN32, 31, 0xffffffff},
    {LS_OP_ASHR, LS_TYPE_I32, MIN32, 32, MIN32},
    {LS_OP_ASHR, LS_TYPE_I64, MIN64, 63, ALL64},
    {LS_OP_ROTL, LS_TYPE_I32, MIN32 | 2, 1, 5},
    {LS_OP_ROTL, LS_TYPE_I32, 5, 32, 5},
    {LS_OP_ROTL, LS_TYPE_I64, MIN64, 65, 1},
    {LS_OP_SMIN, LS_TYPE_I32, 0xffffffff, 1, 0xffffffff},
    {LS_OP_SMAX, LS_TYPE_I32, 0xffffffff, 1, 1},
    {LS_OP_UMIN, LS_TYPE_I32, 0xffffffff, 1, 1},
    {LS_OP_UMAX, LS_TYPE_I64, ALL64, 1, ALL64},
    {LS_OP_MULHI_S, LS_TYPE_I32, 0xffffffff, 0xffffffff, 0},
    {LS_OP_MULHI_U, LS_TYPE_I32, 0xffffffff, 0xffffffff, 0xfffffffe},
    {LS_OP_MULHI_S, LS_TYPE_I64, MIN64, MIN64, UINT64_C(1) << 62},
    {LS_OP_MULHI_U, LS_TYPE_I64, ALL64, ALL64, ALL64 - 1},
    {LS_OP_ADD_SAT_S, LS_TYPE_I32, 0x7fffffff, 1, 0x7fffffff},
    {LS_OP_ADD_SAT_S, LS_TYPE_I32, MIN32, 0xffffffff, MIN32},
    {LS_OP_ADD_SAT_S, LS_TYPE_I64, MIN64, ALL64, MIN64},
    {LS_OP_ADD_SAT_U, LS_TYPE_I32, 0xffffffff, 2, 0xffffffff},
    {LS_OP_ADD_SAT_U, LS_TYPE_I64, ALL64, ALL64, ALL64},
    {LS_OP_SUB_SAT_S, LS_TYPE_I32, MIN32, 1, MIN32},
    {LS_OP_SUB_SAT_U, LS_TYPE_I32, 1, 2, 0},
    {LS_OP_POPCOUNT, LS_TYPE_I64, ALL64, 0, 64},
    {LS_OP_CLZ, LS_TYPE_I32, 0, 0, 32},
    {LS_OP_CLZ, LS_TYPE_I32, 1, 0, 31},
    {LS_OP_CLZ, LS_TYPE_I64, 0, 0, 64},
    {LS_OP_CTZ, LS_TYPE_I32, 0, 0, 32},
    {LS_OP_CTZ, LS_TYPE_I64, MIN64, 0, 63},
    {LS_OP_SEXT8, LS_TYPE_I32, 0x180, 0, 0xffffff80},
    {LS_OP_ZEXT8, LS_TYPE_I32, 0x180, 0, 0x80},
    {LS_OP_SEXT16, LS_TYPE_I64, 0x8000, 0, ALL64 << 15},
    {LS_OP_ZEXT16, LS_TYPE_I32, 0x18000, 0, 0x8000},
    {LS_OP_EQ, LS_TYPE_BOOL, 1, 1, 1},
    {LS_OP_NE, LS_TYPE_I64, 1, 1, 0},
    {LS_OP_SLT, LS_TYPE_I32, 0xffffffff, 0, 1},
    {LS_OP_SLE, LS_TYPE_I32, 0, 0, 1},
    {LS_OP_ULT, LS_TYPE_I32, 0xffffffff, 0, 0},
    {LS_OP_ULE, LS_TYPE_I64, 0, ALL64, 1},
    {LS_OP_SEXT, LS_TYPE_I32, MIN32, 0, UINT64_C(0xffffffff80000000)},
    {LS_OP_ZEXT, LS_TYPE_I32, MIN32, 0, MIN32},
    {LS_OP_TRUNC, LS_TYPE_I64, ALL64, 0, 0xffffffff},
    {LS_OP_B2I, LS_TYPE_BOOL, 1, 0, 1},
};

static void test_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known_integers / sizeof *known_integers; i++) {
        const known *k = &known_integers[i];
        uint64_t actual = eval(k->op, k->type, k->type, 0, k->a, k->b, 0);
        if (actual != k->expected)
            fail_msg("%s, case %zu: %" PRIx64, ls__ir_op(k->op)->name, i, actual);
    }
    assert_int_equal(eval(LS_OP_SELECT, LS_TYPE_I32, LS_TYPE_I32, 0, 1, 5, 6), 5);
    assert_int_equal(eval(LS_OP_SELECT, LS_TYPE_I32, LS_TYPE_I32, 0, 0, 5, 6), 6);
    /* 127*127 + -128*-128 + -1*1 + 0 + 1 and with a's bytes unsigned */
    assert_int_equal(eval(LS_OP_DOT4_SS, LS_TYPE_I32, LS_TYPE_I32, 0, 0x00ff807f, 0x0001807f, 1),
                     16129 + 16384 - 1 + 1);
    assert_int_equal(eval(LS_OP_DOT4_US, LS_TYPE_I32, LS_TYPE_I32, 0, 0x00ff807f, 0x0001807f, 1),
                     16129 - 16384 + 255 + 1);
    assert_int_equal(eval(LS_OP_DOT4_SS, LS_TYPE_I32, LS_TYPE_I32, 0, 1, 1, 0xffffffff), 0);
}

/* --- floats ----------------------------------------------------------------------------------- */

static const known known_floats[] = {
    {LS_OP_FMIN, LS_TYPE_F32, 0x80000000, 0, 0x80000000},
    {LS_OP_FMIN, LS_TYPE_F32, 0, 0x80000000, 0x80000000},
    {LS_OP_FMAX, LS_TYPE_F32, 0x80000000, 0, 0},
    {LS_OP_FMAX, LS_TYPE_F32, 0, 0x80000000, 0},
    {LS_OP_FMIN, LS_TYPE_F32, NAN32, 0x3f800000, 0x3f800000},
    {LS_OP_FMAX, LS_TYPE_F32, 0x3f800000, 0xffc00001, 0x3f800000},
    {LS_OP_FMIN, LS_TYPE_F32, 0xbf800000, 0xc0000000, 0xc0000000},
    {LS_OP_FMAX, LS_TYPE_F64, NAN64, MIN64, MIN64},
    {LS_OP_FMAX, LS_TYPE_F64, MIN64, 0, 0},
    {LS_OP_FNEG, LS_TYPE_F32, NAN32, 0, 0xffc00000},
    {LS_OP_FABS, LS_TYPE_F64, MIN64 | 1, 0, 1},
    {LS_OP_FCANON, LS_TYPE_F32, 0xff800001, 0, NAN32},
    {LS_OP_FCANON, LS_TYPE_F32, 0xff800000, 0, 0xff800000},
    {LS_OP_FBITS, LS_TYPE_F64, 0xfff0000000000001, 0, NAN64},
    {LS_OP_FRAWBITS, LS_TYPE_F32, 0xff800001, 0, 0xff800001},
    {LS_OP_FFROM_BITS, LS_TYPE_I32, 0xff800001, 0, 0xff800001},
    {LS_OP_FEQ, LS_TYPE_F32, NAN32, NAN32, 0},
    {LS_OP_FNE, LS_TYPE_F32, NAN32, NAN32, 1},
    {LS_OP_FEQ, LS_TYPE_F32, 0, 0x80000000, 1},
    {LS_OP_FLT, LS_TYPE_F32, 0x80000000, 0, 0},
    {LS_OP_FLE, LS_TYPE_F32, 0, 0x80000000, 1},
    {LS_OP_FLT, LS_TYPE_F32, 0x3f800000, NAN32, 0},
    {LS_OP_FLT, LS_TYPE_F32, 0xff800000, 0x7f800000, 1},
    {LS_OP_FFLOOR, LS_TYPE_F32, 0x80000000, 0, 0x80000000},
    {LS_OP_FCEIL, LS_TYPE_F32, 0xbf000000, 0, 0x80000000},  /* -0.5 to -0 */
    {LS_OP_FTRUNC, LS_TYPE_F32, 0xbf400000, 0, 0x80000000}, /* -0.75 to -0 */
    {LS_OP_FRINT, LS_TYPE_F32, 0x3f000000, 0, 0},           /* 0.5 to 0 */
    {LS_OP_FRINT, LS_TYPE_F32, 0x3fc00000, 0, 0x40000000},  /* 1.5 to 2 */
    {LS_OP_FRINT, LS_TYPE_F32, 0x40200000, 0, 0x40000000},  /* 2.5 to 2 */
    {LS_OP_FADD, LS_TYPE_F32, 1, 1, 2},                     /* subnormals are kept */
    {LS_OP_FMUL, LS_TYPE_F32, 0x00800000, 0x3f000000, 0x00400000},
    {LS_OP_FSQRT, LS_TYPE_F32, 0x80000000, 0, 0x80000000},
    {LS_OP_FDIV, LS_TYPE_F32, 0x3f800000, 0x80000000, 0xff800000},
};

static void test_floats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known_floats / sizeof *known_floats; i++) {
        const known *k = &known_floats[i];
        uint64_t actual = eval(k->op, k->type, k->type, 0, k->a, k->b, 0);
        if (actual != k->expected)
            fail_msg("%s, case %zu: %" PRIx64, ls__ir_op(k->op)->name, i, actual);
    }
    /* (1 + 2^-23)^2 - 1 - 2^-22 = 2^-46 only when there is one rounding. */
    assert_int_equal(
        eval(LS_OP_FMA, LS_TYPE_F32, LS_TYPE_F32, 0, 0x3f800001, 0x3f800001, f32(-1.0f - 0x1p-22f)),
        f32(0x1p-46f));
}

/* --- conversions ------------------------------------------------------------------------------ */

typedef struct to_int {
    double value;
    unsigned bits;
    bool is_signed;
    uint64_t expected; /* in 64 bits */
} to_int;

static const to_int known_to_int[] = {
    {NAN, 32, true, 0},
    {NAN, 8, false, 0},
    {-0.9, 32, true, 0},
    {2.9, 32, true, 2},
    {-2.9, 64, true, (uint64_t)-2},
    {127.9, 8, true, 127},
    {128.0, 8, true, 127},
    {-129.0, 8, true, (uint64_t)-128},
    {256.0, 8, false, 255},
    {-1.0, 8, false, 0},
    {32768.0, 16, true, 32767},
    {65536.0, 16, false, 65535},
    {2147483648.0, 32, true, 0x7fffffff},
    {-2147483649.0, 32, true, (uint64_t)INT32_MIN},
    {4294967295.0, 32, false, 0xffffffff},
    {1e30, 32, false, 0xffffffff},
    {9223372036854775808.0, 64, true, INT64_MAX},
    {-9223372036854775808.0, 64, true, MIN64},
    {-1e300, 64, true, MIN64},
    {18446744073709549568.0, 64, false, UINT64_C(0xfffffffffffff800)},
    {18446744073709551616.0, 64, false, UINT64_MAX},
    {INFINITY, 64, false, UINT64_MAX},
    {-INFINITY, 64, true, MIN64},
    {0x1p-1060, 64, true, 0},
    {1.0, 64, false, 1},
};

static void test_float_to_int(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known_to_int / sizeof *known_to_int; i++) {
        const to_int *k = &known_to_int[i];
        ls_op op = k->is_signed ? LS_OP_F2S : LS_OP_F2U;
        uint64_t actual = eval(op, LS_TYPE_F64, LS_TYPE_I64, k->bits, f64(k->value), 0, 0);
        if (actual != k->expected)
            fail_msg("%s %u of %g: %" PRIx64, ls__ir_op(op)->name, k->bits, k->value, actual);
        if (k->bits > 32)
            continue;
        actual = eval(op, LS_TYPE_F64, LS_TYPE_I32, k->bits, f64(k->value), 0, 0);
        assert_int_equal(actual, (uint32_t)k->expected);
    }
}

static void test_small_floats(void **state)
{
    (void)state;
    static const uint32_t half[][2] = {
        {0x3f800000, 0x3c00}, {0x80000000, 0x8000}, {0x477fe000, 0x7bff}, /* 65504 */
        {0x477fefff, 0x7bff}, {0x477ff000, 0x7c00},                       /* 65520 is a tie: up */
        {0x33800000, 0x0001}, {0x33000000, 0x0000}, {0x33000001, 0x0001}, /* 2^-24, its half */
        {0x38800000, 0x0400}, {0x387fc000, 0x03ff}, {0x387fe000, 0x0400}, /* around 2^-14 */
        {0x3f801000, 0x3c00}, {0x3f803000, 0x3c02}, {0x3f801001, 0x3c01}, /* ties to even */
        {0x7f800000, 0x7c00}, {0xff800000, 0xfc00}, {0xffc12345, 0x7e00},
        {0x7f800001, 0x7e00}, {0x00000001, 0x0000}, {0x7f7fffff, 0x7c00},
    };
    static const uint32_t brain[][2] = {
        {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81},
        {0x7f7fffff, 0x7f80}, {0xff800001, 0x7fc0}, {0x00008000, 0x0000}, {0x00008001, 0x0001},
        {0x00018000, 0x0002}, {0x80000000, 0x8000}, {0xff800000, 0xff80},
    };
    for (size_t i = 0; i < sizeof half / sizeof *half; i++)
        assert_int_equal(eval(LS_OP_F32_TO_F16, LS_TYPE_F32, LS_TYPE_I32, 0, half[i][0], 0, 0),
                         half[i][1]);
    for (size_t i = 0; i < sizeof brain / sizeof *brain; i++)
        assert_int_equal(eval(LS_OP_F32_TO_BF16, LS_TYPE_F32, LS_TYPE_I32, 0, brain[i][0], 0, 0),
                         brain[i][1]);
    /* Out and back is the identity for every number; a NaN becomes the one NaN. */
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        uint64_t wide = eval(LS_OP_F16_TO_F32, LS_TYPE_I32, LS_TYPE_F32, 0, bits, 0, 0);
        uint64_t back = eval(LS_OP_F32_TO_F16, LS_TYPE_F32, LS_TYPE_I32, 0, wide, 0, 0);
        assert_int_equal(back, (bits & 0x7fff) > 0x7c00 ? 0x7e00 : bits);
        wide = eval(LS_OP_BF16_TO_F32, LS_TYPE_I32, LS_TYPE_F32, 0, bits, 0, 0);
        assert_int_equal(wide, bits << 16);
        back = eval(LS_OP_F32_TO_BF16, LS_TYPE_F32, LS_TYPE_I32, 0, wide, 0, 0);
        assert_int_equal(back, (bits & 0x7fff) > 0x7f80 ? 0x7fc0 : bits);
    }
    assert_int_equal(eval(LS_OP_F16_TO_F32, LS_TYPE_I32, LS_TYPE_F32, 0, 1, 0, 0), f32(0x1p-24f));
}

/* Operands that are special, or close to special ones, or anything. */
static uint64_t operand(ls__rng *rng)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       31,
                                       32,
                                       63,
                                       64,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0x7fffffff,
                                       MIN32,
                                       0xffffffff,
                                       MIN64,
                                       MIN64 - 1,
                                       ALL64,
                                       0x3f800000,
                                       0xbf800000,
                                       0x7f800000,
                                       0xff800000,
                                       0x00800000,
                                       0x007fffff,
                                       0x4b000000,
                                       0x4f000000,
                                       0x5f000000,
                                       0x3ff0000000000000,
                                       0x7ff0000000000000,
                                       0x0010000000000000,
                                       0x43e0000000000000,
                                       0x36a0000000000000,
                                       0x47efffffe0000000};
    uint64_t bits = ls__rng_u64(rng);
    switch (ls__rng_below(rng, 4)) {
    case 0:
        return special[bits % (sizeof special / sizeof *special)];
    case 1:
        return special[bits % (sizeof special / sizeof *special)] + (bits >> 32) % 5 - 2;
    case 2:
        return bits >> (bits % 64);
    default:
        return bits;
    }
}

#define SAME(actual, expected)                                                                     \
    do {                                                                                           \
        uint64_t got = (actual), want = (expected);                                                \
        if (got != want)                                                                           \
            fail_msg("%s: %" PRIx64 " instead of %" PRIx64 " for %" PRIx64 ", %" PRIx64,           \
                     #expected, got, want, a, b);                                                  \
    } while (0)
/* Any NaN is as good as any other. */
#define SAME32(actual, expected)                                                                   \
    do {                                                                                           \
        float got32 = to_f32(actual), want32 = (expected);                                         \
        if (!isnan(got32) || !isnan(want32))                                                       \
            SAME(f32(got32), f32(want32));                                                         \
    } while (0)
#define SAME64(actual, expected)                                                                   \
    do {                                                                                           \
        double got64 = to_f64(actual), want64 = (expected);                                        \
        if (!isnan(got64) || !isnan(want64))                                                       \
            SAME(f64(got64), f64(want64));                                                         \
    } while (0)

static void test_against_compiler(void **state)
{
    (void)state;
    ls__rng rng = {20240229};
    for (int i = 0; i < 200000; i++) {
        uint64_t a = operand(&rng), b = operand(&rng);
        uint32_t la = (uint32_t)a, lb = (uint32_t)b;
        SAME32(eval(LS_OP_S2F, LS_TYPE_I32, LS_TYPE_F32, 0, la, 0, 0), (float)(int32_t)la);
        SAME32(eval(LS_OP_U2F, LS_TYPE_I32, LS_TYPE_F32, 0, la, 0, 0), (float)la);
        SAME32(eval(LS_OP_S2F, LS_TYPE_I64, LS_TYPE_F32, 0, a, 0, 0), (float)(int64_t)a);
        SAME32(eval(LS_OP_U2F, LS_TYPE_I64, LS_TYPE_F32, 0, a, 0, 0), (float)a);
        SAME64(eval(LS_OP_S2F, LS_TYPE_I64, LS_TYPE_F64, 0, a, 0, 0), (double)(int64_t)a);
        SAME64(eval(LS_OP_U2F, LS_TYPE_I64, LS_TYPE_F64, 0, a, 0, 0), (double)a);
        SAME32(eval(LS_OP_F2F, LS_TYPE_F64, LS_TYPE_F32, 0, a, 0, 0), (float)to_f64(a));
        SAME64(eval(LS_OP_F2F, LS_TYPE_F32, LS_TYPE_F64, 0, la, 0, 0), (double)to_f32(a));
        SAME32(eval(LS_OP_FDIV, LS_TYPE_F32, LS_TYPE_F32, 0, la, lb, 0), to_f32(a) / to_f32(b));
        SAME64(eval(LS_OP_FMUL, LS_TYPE_F64, LS_TYPE_F64, 0, a, b, 0), to_f64(a) * to_f64(b));
        SAME(eval(LS_OP_FLE, LS_TYPE_F32, LS_TYPE_BOOL, 0, la, lb, 0), to_f32(a) <= to_f32(b));
        SAME(eval(LS_OP_FLT, LS_TYPE_F64, LS_TYPE_BOOL, 0, a, b, 0), to_f64(a) < to_f64(b));
        SAME(eval(LS_OP_FEQ, LS_TYPE_F64, LS_TYPE_BOOL, 0, a, b, 0), to_f64(a) == to_f64(b));
        SAME(eval(LS_OP_MULHI_U, LS_TYPE_I32, LS_TYPE_I32, 0, la, lb, 0),
             ((uint64_t)la * lb) >> 32);
        SAME(eval(LS_OP_ASHR, LS_TYPE_I32, LS_TYPE_I32, 0, la, lb, 0),
             (uint32_t)((int32_t)la >> (lb & 31)));
        SAME(eval(LS_OP_SLT, LS_TYPE_I64, LS_TYPE_BOOL, 0, a, b, 0), (int64_t)a < (int64_t)b);
        float x = to_f32(a);
        if (fabsf(x) < 0x1p31f)
            SAME(eval(LS_OP_F2S, LS_TYPE_F32, LS_TYPE_I32, 32, la, 0, 0), (uint32_t)(int32_t)x);
        if (x >= 0 && x < 0x1p64f)
            SAME(eval(LS_OP_F2U, LS_TYPE_F32, LS_TYPE_I64, 64, la, 0, 0), (uint64_t)x);
    }
}

/* --- addresses and memory --------------------------------------------------------------------- */

static int64_t index_of(int64_t offset, int64_t index, uint64_t stride, uint64_t count)
{
    ls__ir_inst inst = {.op = LS_OP_INDEX, .imm = stride, .imm2 = count, .arg_count = 2};
    return (int64_t)ls__ir_eval(&inst, LS_TYPE_I64,
                                (uint64_t[]){(uint64_t)offset, (uint64_t)index});
}

static void test_index(void **state)
{
    (void)state;
    assert_int_equal(index_of(8, 3, 4, 0), 20);
    assert_int_equal(index_of(8, -3, 4, 0), -4);
    assert_int_equal(index_of(8, 3, 4, 4), 20);
    assert_int_equal(index_of(8, 4, 4, 4), LS_NOWHERE);
    assert_int_equal(index_of(8, -1, 4, 4), LS_NOWHERE);
    assert_int_equal(index_of(LS_NOWHERE, 0, 4, 0), LS_NOWHERE);
    assert_int_equal(index_of(0, INT64_MAX, 1, 0), INT64_MAX);
    assert_int_equal(index_of(1, INT64_MAX, 1, 0), LS_NOWHERE);
    assert_int_equal(index_of(0, INT64_MIN, UINT64_MAX, 0), LS_NOWHERE);
    assert_int_equal(index_of(INT64_MAX, -1, INT64_MAX, 0), 0); /* exact before it is judged */
    assert_int_equal(index_of(0, 1, UINT64_MAX, 0), LS_NOWHERE);
}

static void test_memory(void **state)
{
    (void)state;
    const uint8_t bytes[8] = {0x80, 0xff, 0xff, 0xff, 1, 2, 3, 4};
    assert_int_equal(ls__ir_load_bits(LS_MEM_BOOL, bytes), 1);
    assert_int_equal(ls__ir_load_bits(LS_MEM_I8, bytes), 0xffffff80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_U8, bytes), 0x80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_I16, bytes), 0xffffff80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_U16, bytes), 0xff80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_F16, bytes), 0xff80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_U32, bytes), 0xffffff80);
    assert_int_equal(ls__ir_load_bits(LS_MEM_F64, bytes), 0x04030201ffffff80);

    static const struct {
        ls_mem mem;
        bool raw;
        uint64_t value, expected;
    } stores[] = {
        {LS_MEM_F16, false, 0xffff, 0x7e00},
        {LS_MEM_F16, false, 0xfc00, 0xfc00},
        {LS_MEM_F16, true, 0xffff, 0xffff},
        {LS_MEM_BF16, false, 0xff81, 0x7fc0},
        {LS_MEM_F32, false, 0xffc12345, NAN32},
        {LS_MEM_F32, true, 0xffc12345, 0xffc12345},
        {LS_MEM_F32, false, 0x80000001, 0x80000001},
        {LS_MEM_F64, false, 0x7ff0000000000001, NAN64},
        {LS_MEM_U32, false, 0xffc12345, 0xffc12345},
        {LS_MEM_I8, false, 0xffffff80, 0x80},
        {LS_MEM_BOOL, false, 1, 1},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        uint8_t out[10];
        memset(out, 0xaa, sizeof out);
        ls__ir_store_bits(stores[i].mem, out + 1, stores[i].value, stores[i].raw);
        uint32_t width = ls__ir_mem_bytes(stores[i].mem);
        uint64_t actual = 0;
        for (uint32_t k = 0; k < width; k++)
            actual |= (uint64_t)out[1 + k] << (8 * k);
        assert_int_equal(actual, stores[i].expected);
        assert_int_equal(out[0], 0xaa);
        assert_int_equal(out[1 + width], 0xaa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),         cmocka_unit_test(test_floats),
        cmocka_unit_test(test_float_to_int),     cmocka_unit_test(test_small_floats),
        cmocka_unit_test(test_against_compiler), cmocka_unit_test(test_index),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
