/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on floats of the emulated driver, one by one, and conversions from and to them. */
#include "driver_rows.h"

#define M1 UINT64_C(0xffffffffffffffff)
#define N1 0xffffffffu

/* f32 */
#define ONE 0x3f800000u
#define TWO 0x40000000u
#define THREE 0x40400000u
#define NEG 0x80000000u /* -0, or the sign */
#define INF 0x7f800000u
#define QNAN 0x7fc01234u
#define SNAN 0x7f801234u
#define CANON 0x7fffffffu /* what NVIDIA's machines make of every NaN */
#define TINY 0x00000001u  /* the least subnormal */
#define LEAST 0x00800000u /* the least normal number */
#define MOST 0x7f7fffffu

/* f64 */
#define D(bits) UINT64_C(bits)
#define DONE D(0x3ff0000000000000)
#define DTWO D(0x4000000000000000)
#define DINF D(0x7ff0000000000000)
#define DNEG D(0x8000000000000000)

static const row singles[] = {
    {"add.rn.f32", "444", {ONE, TWO}, THREE},
    {"add.f32", "444", {ONE, TWO}, THREE},
    {"add.rn.f32", "444", {ONE, 0x33800000}, ONE}, /* a tie goes to even */
    {"add.rn.f32", "444", {0x3f800001, 0x33800000}, 0x3f800002},
    {"add.rn.f32", "444", {ONE, NEG | ONE}, 0},
    {"add.rn.f32", "444", {NEG, NEG}, NEG},
    {"add.rn.f32", "444", {TINY, TINY}, 2}, /* subnormals are kept */
    {"add.rn.f32", "444", {INF, NEG | INF}, CANON},
    {"add.rn.f32", "444", {QNAN, ONE}, CANON},
    {"add.rn.f32", "444", {ONE, SNAN}, CANON},
    {"add.rn.f32", "444", {MOST, MOST}, INF},
    {"add.rz.f32", "444", {MOST, MOST}, MOST},
    {"add.rz.f32", "444", {0x3f800001, 0x33800000}, 0x3f800001},
    {"add.rp.f32", "444", {ONE, TINY}, 0x3f800001},
    {"add.rm.f32", "444", {ONE, NEG | TINY}, 0x3f7fffff},
    {"add.rm.f32", "444", {ONE, NEG | ONE}, NEG},
    {"sub.rn.f32", "444", {ONE, TWO}, NEG | ONE},
    {"mul.rn.f32", "444", {THREE, THREE}, 0x41100000},
    {"mul.rn.f32", "444", {TINY, 0x3f000000}, 0},
    {"mul.rn.f32", "444", {LEAST, 0x3f000000}, 0x00400000},
    {"mul.rn.f32", "444", {0, INF}, CANON},
    {"mul.rp.f32", "444", {TINY, 0x3f000000}, TINY},
    /* once rounded: (1 + 2^-12)^2 - 1 keeps what a product alone loses */
    {"fma.rn.f32", "4444", {0x3f800800, 0x3f800800, NEG | ONE}, 0x3a000400},
    {"fma.rn.f32", "4444", {0x3f800001, 0x3f800001, NEG | 0x3f800002}, 0x28800000},
    {"fma.rn.f32", "4444", {ONE, SNAN, ONE}, CANON},
    {"fma.rz.f32", "4444", {MOST, TWO, 0}, MOST},
    {"div.rn.f32", "444", {ONE, THREE}, 0x3eaaaaab},
    {"div.rz.f32", "444", {ONE, THREE}, 0x3eaaaaaa},
    {"div.rn.f32", "444", {ONE, NEG}, NEG | INF},
    {"div.rn.f32", "444", {0, 0}, CANON},
    {"div.rn.f32", "444", {LEAST, TWO}, 0x00400000},
    {"rcp.rn.f32", "44", {THREE}, 0x3eaaaaab},
    {"rcp.rn.f32", "44", {0x7f000000}, 0x00400000},
    {"sqrt.rn.f32", "44", {TWO}, 0x3fb504f3},
    {"sqrt.rz.f32", "44", {TWO}, 0x3fb504f3},
    {"sqrt.rp.f32", "44", {TWO}, 0x3fb504f4},
    {"sqrt.rn.f32", "44", {NEG}, NEG},
    {"sqrt.rn.f32", "44", {NEG | ONE}, CANON},
    {"min.f32", "444", {NEG, 0}, NEG},
    {"min.f32", "444", {0, NEG}, NEG},
    {"max.f32", "444", {NEG, 0}, 0},
    {"max.f32", "444", {0, NEG}, 0},
    {"min.f32", "444", {QNAN, ONE}, ONE},
    {"max.f32", "444", {ONE, SNAN}, ONE},
    {"min.f32", "444", {QNAN, QNAN}, CANON},
    {"min.NaN.f32", "444", {QNAN, ONE}, CANON},
    {"max.NaN.f32", "444", {TWO, ONE}, TWO},
    {"abs.f32", "44", {NEG | ONE}, ONE},
    {"abs.f32", "44", {NEG}, 0},
    {"neg.f32", "44", {0}, NEG},
    {"neg.f16", "22", {0x3c00}, 0xbc00},
    {"neg.f16", "22", {0xfe01}, 0x7fff},
    {"abs.f16", "22", {0xfc00}, 0x7c00},
    {"neg.bf16", "22", {0x8000}, 0},
    {"copysign.f32", "444", {NEG, ONE}, NEG | ONE},
    {"copysign.f32", "444", {ONE, NEG | TWO}, TWO},
    {"mov.f32", "44", {SNAN}, SNAN}, /* moves keep bits */
    {"selp.f32", "4441", {SNAN, ONE, 1}, SNAN},
    {"testp.finite.f32", "14", {INF}, 0},
    {"testp.infinite.f32", "14", {NEG | INF}, 1},
    {"testp.number.f32", "14", {QNAN}, 0},
    {"testp.notanumber.f32", "14", {QNAN}, 1},
    {"testp.normal.f32", "14", {TINY}, 0},
    {"testp.subnormal.f32", "14", {TINY}, 1},
};

static const row doubles[] = {
    {"add.rn.f64", "888", {DONE, DONE}, DTWO},
    {"add.rn.f64", "888", {DONE, D(0x3ca0000000000000)}, DONE},
    {"add.rz.f64", "888", {D(0x7fefffffffffffff), D(0x7fefffffffffffff)}, D(0x7fefffffffffffff)},
    {"sub.rn.f64", "888", {DONE, DTWO}, DNEG | DONE},
    {"mul.rn.f64", "888", {D(0x4008000000000000), D(0x4008000000000000)}, D(0x4022000000000000)},
    {"mul.rn.f64", "888", {D(0x0010000000000000), D(0x3fe0000000000000)}, D(0x0008000000000000)},
    {"fma.rn.f64",
     "8888",
     {D(0x3ff0000000000001), D(0x3ff0000000000001), DNEG | D(0x3ff0000000000002)},
     D(0x3970000000000000)},
    {"div.rn.f64", "888", {DONE, D(0x4008000000000000)}, D(0x3fd5555555555555)},
    {"div.rp.f64", "888", {DONE, D(0x4008000000000000)}, D(0x3fd5555555555556)},
    {"rcp.rn.f64", "88", {DTWO}, D(0x3fe0000000000000)},
    {"sqrt.rn.f64", "88", {DTWO}, D(0x3ff6a09e667f3bcd)},
    {"min.f64", "888", {DNEG, 0}, DNEG},
    {"max.f64", "888", {D(0x7ff8000000000001), DONE}, DONE},
    {"abs.f64", "88", {DNEG | DONE}, DONE},
    {"neg.f64", "88", {DONE}, DNEG | DONE},
    {"copysign.f64", "888", {DNEG, DONE}, DNEG | DONE},
    {"testp.notanumber.f64", "18", {D(0x7ff0000000000001)}, 1},
};

static const row comparisons[] = {
    {"setp.eq.f32", "144", {0, NEG}, 1},
    {"setp.lt.f32", "144", {NEG | ONE, 0}, 1},
    {"setp.eq.f32", "144", {QNAN, QNAN}, 0},
    {"setp.ne.f32", "144", {QNAN, ONE}, 0},
    {"setp.ne.f32", "144", {TWO, ONE}, 1},
    {"setp.lt.f32", "144", {QNAN, ONE}, 0},
    {"setp.ge.f32", "144", {QNAN, ONE}, 0},
    {"setp.equ.f32", "144", {QNAN, ONE}, 1},
    {"setp.equ.f32", "144", {TWO, ONE}, 0},
    {"setp.neu.f32", "144", {QNAN, QNAN}, 1},
    {"setp.neu.f32", "144", {ONE, ONE}, 0},
    {"setp.ltu.f32", "144", {QNAN, ONE}, 1},
    {"setp.leu.f32", "144", {TWO, ONE}, 0},
    {"setp.gtu.f32", "144", {TWO, ONE}, 1},
    {"setp.geu.f32", "144", {ONE, TWO}, 0},
    {"setp.num.f32", "144", {ONE, ONE}, 1},
    {"setp.num.f32", "144", {ONE, SNAN}, 0},
    {"setp.nan.f32", "144", {ONE, SNAN}, 1},
    {"setp.nan.f32", "144", {ONE, INF}, 0},
    {"setp.gt.f64", "188", {DTWO, DONE}, 1},
    {"setp.nan.f64", "188", {DTWO, D(0x7ff8000000000000)}, 1},
    {"setp.nan.f16", "122", {0x7e00, 0x3c00}, 1},
    {"setp.lt.f16", "122", {0xbc00, 0x3c00}, 1},
    {"set.eq.u32.f32", "444", {ONE, ONE}, N1},
    {"set.eq.f32.f32", "444", {ONE, ONE}, ONE},
};

static const row to_integers[] = {
    {"cvt.rzi.s32.f32", "44", {0xc0200000}, 0xfffffffe}, /* -2.5 */
    {"cvt.rni.s32.f32", "44", {0xc0200000}, 0xfffffffe},
    {"cvt.rni.s32.f32", "44", {0x40600000}, 4}, /* 3.5 */
    {"cvt.rmi.s32.f32", "44", {0xc0200000}, 0xfffffffd},
    {"cvt.rpi.s32.f32", "44", {0xc0200000}, 0xfffffffe},
    {"cvt.rzi.s32.f32", "44", {0x4f000000}, 0x7fffffff}, /* 2^31 */
    {"cvt.rzi.s32.f32", "44", {0xcf000000}, 0x80000000},
    {"cvt.rzi.s32.f32", "44", {NEG | INF}, 0x80000000},
    {"cvt.rzi.u32.f32", "44", {NEG | ONE}, 0},
    {"cvt.rzi.u32.f32", "44", {INF}, N1},
    {"cvt.rzi.u32.f32", "44", {0x4f7fffff}, 0xffffff00},
    {"cvt.rzi.s32.f32", "44", {QNAN}, 0},
    {"cvt.rzi.u32.f32", "44", {QNAN}, 0},
    {"cvt.rzi.s64.f32", "84", {QNAN}, D(0x8000000000000000)},
    {"cvt.rzi.u64.f32", "84", {QNAN}, D(0x8000000000000000)},
    {"cvt.rzi.s32.f64", "48", {D(0x7ff8000000000000)}, 0x80000000},
    {"cvt.rzi.s64.f64", "88", {D(0x43e0000000000000)}, D(0x7fffffffffffffff)},
    {"cvt.rzi.u64.f64", "88", {D(0x43efffffffffffff)}, D(0xfffffffffffff800)},
    {"cvt.rzi.u64.f64", "88", {D(0x43f0000000000000)}, M1},
    {"cvt.rzi.s64.f64", "88", {DNEG | DTWO}, M1 - 1},
    {"cvt.rzi.u16.f32", "24", {0x47c35000}, 0xffff}, /* 100000 */
    {"cvt.rzi.s8.f32", "44", {0x43960000}, 127},     /* 300 */
    {"cvt.rzi.s8.f32", "44", {NEG | 0x43960000}, 0xffffff80},
};

static const row from_integers[] = {
    {"cvt.rn.f32.s32", "44", {N1}, NEG | ONE},
    {"cvt.rn.f32.u32", "44", {N1}, 0x4f800000},
    {"cvt.rz.f32.u32", "44", {N1}, 0x4f7fffff},
    {"cvt.rn.f32.s32", "44", {16777217}, 0x4b800000},
    {"cvt.rp.f32.s32", "44", {16777217}, 0x4b800001},
    {"cvt.rn.f32.u64", "48", {M1}, 0x5f800000},
    {"cvt.rn.f32.u64", "48", {D(0x8000008000000001)}, 0x5f000001},
    {"cvt.rn.f32.s64", "48", {D(0x8000000000000000)}, 0xdf000000},
    {"cvt.rn.f64.s32", "84", {0x80000000}, D(0xc1e0000000000000)},
    {"cvt.rn.f64.u64", "88", {M1}, D(0x43f0000000000000)},
    {"cvt.rn.f32.u8", "44", {0x1ff}, 0x437f0000},
    {"cvt.rn.f32.s8", "44", {0x1ff}, NEG | ONE},
    {"cvt.rn.f32.s16", "42", {0xffff}, NEG | ONE},
    {"cvt.rn.f16.s32", "24", {65520}, 0x7c00},
    {"cvt.rn.f16.s32", "24", {2049}, 0x6800},
};

static const row between_floats[] = {
    {"cvt.rn.f32.f64", "48", {D(0x3fd5555555555555)}, 0x3eaaaaab},
    {"cvt.rz.f32.f64", "48", {D(0x3fd5555555555555)}, 0x3eaaaaaa},
    {"cvt.rn.f32.f64", "48", {D(0x47f0000000000000)}, INF},
    {"cvt.rz.f32.f64", "48", {D(0x47f0000000000000)}, MOST},
    {"cvt.rn.f32.f64", "48", {D(0x36a0000000000000)}, TINY},
    {"cvt.rn.f32.f64", "48", {D(0x7ff8000000000001)}, CANON},
    {"cvt.f64.f32", "84", {TINY}, D(0x36a0000000000000)},
    {"cvt.f64.f32", "84", {NEG | INF}, DNEG | DINF},
    {"cvt.rn.f16.f32", "24", {ONE}, 0x3c00},
    {"cvt.rn.f16.f32", "24", {0x477fefff}, 0x7bff}, /* below 65520 */
    {"cvt.rn.f16.f32", "24", {0x477ff000}, 0x7c00}, /* 65520: half way to 2^16 */
    {"cvt.rz.f16.f32", "24", {0x477ff000}, 0x7bff},
    {"cvt.rn.f16.f32", "24", {0x33000000}, 0}, /* 2^-25: a tie */
    {"cvt.rn.f16.f32", "24", {0x33000001}, 1},
    {"cvt.rn.f16.f32", "24", {0x33c00000}, 2},      /* 1.5 * 2^-24: a tie to even */
    {"cvt.rn.f16.f32", "24", {0x387fffff}, 0x0400}, /* rounds up to a normal number */
    {"cvt.rn.f16.f32", "24", {NEG}, 0x8000},
    {"cvt.rn.f16.f32", "24", {NEG | INF}, 0xfc00},
    {"cvt.rn.f16.f32", "24", {QNAN}, 0x7fff},
    {"cvt.rn.f16.f32", "24", {0x3f801000}, 0x3c00},
    {"cvt.rn.f16.f32", "24", {0x3f803000}, 0x3c02},
    {"cvt.f32.f16", "42", {0x3555}, 0x3eaaa000},
    {"cvt.f32.f16", "42", {0x0001}, 0x33800000},
    {"cvt.f32.f16", "42", {0xfc00}, NEG | INF},
    {"cvt.f64.f16", "82", {0x3c00}, DONE},
    {"cvt.rn.f16.f64", "28", {D(0x3ff0020000000001)}, 0x3c01},
    {"cvt.rn.bf16.f32", "24", {0x3f808000}, 0x3f80},
    {"cvt.rn.bf16.f32", "24", {0x3f818000}, 0x3f82},
    {"cvt.rn.bf16.f32", "24", {MOST}, 0x7f80},
    {"cvt.rn.bf16.f32", "24", {SNAN}, 0x7fff},
    {"cvt.rn.bf16.f32", "24", {0x00010000}, 0x0001},
    {"cvt.rni.f32.f32", "44", {0x40200000}, TWO},
    {"cvt.rmi.f32.f32", "44", {0xbf000000}, NEG | ONE},
    {"cvt.rpi.f32.f32", "44", {0xbf000000}, NEG},
    {"cvt.rzi.f64.f64", "88", {D(0x4004000000000000)}, DTWO},
    {"cvt.sat.f32.f32", "44", {TWO}, ONE},
    {"cvt.sat.f32.f32", "44", {NEG | ONE}, 0},
    {"cvt.sat.f32.f32", "44", {QNAN}, 0},
};

static void test_singles(void **state)
{
    CHECK_ROWS(singles);
}

static void test_doubles(void **state)
{
    CHECK_ROWS(doubles);
}

static void test_comparisons(void **state)
{
    CHECK_ROWS(comparisons);
}

static void test_conversions(void **state)
{
    CHECK_ROWS(to_integers);
    CHECK_ROWS(from_integers);
    CHECK_ROWS(between_floats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_singles),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests(tests, driver_setup, driver_teardown);
}
