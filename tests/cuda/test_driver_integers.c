/* SPDX-License-Identifier: Apache-2.0 */
/* Integer instructions of the emulated driver, one by one. */
#include "driver_rows.h"

#define M1 UINT64_C(0xffffffffffffffff)
#define N1 0xffffffffu
#define H1 0xffffu
#define MIN32 0x80000000u
#define MIN64 UINT64_C(0x8000000000000000)

static const row arithmetic[] = {
    {"add.s32", "444", {0x7fffffff, 1}, MIN32},
    {"add.u16", "222", {0xfff0, 0x20}, 0x10},
    {"add.s64", "888", {M1, 2}, 1},
    {"add.sat.s32", "444", {0x7fffffff, 1}, 0x7fffffff},
    {"add.sat.s32", "444", {MIN32, N1}, MIN32},
    {"sub.sat.s32", "444", {MIN32, 1}, MIN32},
    {"sub.s32", "444", {0, 1}, N1},
    {"sub.u64", "888", {0, 1}, M1},
    {"mul.lo.s32", "444", {0x10001, 0x10001}, 0x20001},
    {"mul.lo.u16", "222", {0x1234, 0x100}, 0x3400},
    {"mul.lo.u64", "888", {UINT64_C(0x100000001), UINT64_C(0x100000001)}, UINT64_C(0x200000001)},
    {"mul.hi.u32", "444", {N1, N1}, 0xfffffffe},
    {"mul.hi.s32", "444", {N1, N1}, 0},
    {"mul.hi.s32", "444", {MIN32, MIN32}, 0x40000000},
    {"mul.hi.u64", "888", {M1, M1}, M1 - 1},
    {"mul.hi.s64", "888", {MIN64, 2}, M1},
    {"mul.hi.s16", "222", {0x8000, 0x8000}, 0x4000},
    {"mul.wide.u32", "844", {N1, N1}, UINT64_C(0xfffffffe00000001)},
    {"mul.wide.s32", "844", {N1, 5}, M1 - 4},
    {"mul.wide.u16", "422", {H1, H1}, 0xfffe0001},
    {"mul.wide.s16", "422", {0x8000, 2}, 0xffff0000},
    {"mad.lo.s32", "4444", {3, 5, N1}, 14},
    {"mad.lo.s64", "8888", {3, 5, M1}, 14},
    {"mad.hi.u32", "4444", {N1, N1, 2}, 0},
    {"mad.hi.s32", "4444", {N1, 1, 5}, 4},
    {"mad.wide.u32", "8448", {N1, N1, 1}, UINT64_C(0xfffffffe00000002)},
    {"mad.wide.s32", "8448", {N1, 1, 1}, 0},
    {"mad.wide.u16", "4224", {H1, 2, 2}, 0x20000},
    {"mul24.lo.u32", "444", {0xff000003, 5}, 15},
    {"mul24.lo.s32", "444", {0xffffff, 5}, 0xfffffffb},
    {"mad24.lo.u32", "4444", {0xff000003, 5, 7}, 22},
    {"sad.u32", "4444", {1, 5, 10}, 14},
    {"sad.s32", "4444", {N1, 5, 10}, 16},
    {"sad.s32", "4444", {MIN32, 0x7fffffff, 0}, N1},
    {"div.s32", "444", {0xfffffff9, 2}, 0xfffffffd},
    {"rem.s32", "444", {0xfffffff9, 2}, N1},
    {"div.s32", "444", {MIN32, N1}, MIN32},
    {"rem.s32", "444", {MIN32, N1}, 0},
    {"div.u32", "444", {N1, 10}, 429496729},
    {"rem.u32", "444", {N1, 10}, 5},
    {"div.s64", "888", {M1 - 6, 2}, M1 - 2},
    {"div.u64", "888", {M1, 3}, UINT64_C(0x5555555555555555)},
    {"rem.u64", "888", {M1, 10}, 5},
    {"rem.s64", "888", {M1 - 6, 4}, M1 - 2},
    {"div.s32", "444", {7, 0}, 0x5bad5bad}, /* open in PTX; no fault */
    {"div.u16", "222", {0xffff, 3}, 0x5555},
    {"rem.s16", "222", {0xfff9, 4}, 0xfffd},
    {"abs.s32", "44", {0xfffffffb}, 5},
    {"abs.s32", "44", {MIN32}, MIN32},
    {"abs.s64", "88", {M1}, 1},
    {"abs.s16", "22", {0xffff}, 1},
    {"neg.s32", "44", {5}, 0xfffffffb},
    {"neg.s64", "88", {MIN64}, MIN64},
    {"min.s32", "444", {N1, 1}, N1},
    {"min.u32", "444", {N1, 1}, 1},
    {"max.s32", "444", {N1, 1}, 1},
    {"max.u32", "444", {N1, 1}, N1},
    {"min.s64", "888", {M1, 1}, M1},
    {"max.u64", "888", {M1, 1}, M1},
    {"min.s16", "222", {0x8000, 1}, 0x8000},
    {"max.u16", "222", {0x8000, 1}, 0x8000},
    {"dp4a.u32.u32", "4444", {0x01020304, 0x10ff0203, 1}, 16 + 510 + 6 + 12 + 1},
    {"dp4a.s32.s32", "4444", {0xff80017f, 0x02ff80ff, 0}, 0xfffffffeu + 128 - 128 - 127},
    {"dp4a.u32.s32", "4444", {0x000000ff, 0x000000ff, 0}, 0xffffff01},
    {"dp4a.s32.u32", "4444", {0x000000ff, 0x000000ff, 0}, 0xffffff01},
    {"dp2a.lo.s32.s32", "4444", {0x0002ffff, 0x00000305, 10}, 11},
    {"dp2a.hi.u32.u32", "4444", {0x00020001, 0x03050000, 10}, 21},
};

static const row logic[] = {
    {"and.b32", "444", {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
    {"or.b64", "888", {UINT64_C(0xf0) << 56, 0xf}, UINT64_C(0xf00000000000000f)},
    {"xor.b16", "222", {0xff00, 0x0ff0}, 0xf0f0},
    {"not.b32", "44", {0xff}, 0xffffff00},
    {"not.b16", "22", {0xff}, 0xff00},
    {"cnot.b32", "44", {0}, 1},
    {"cnot.b64", "88", {MIN64}, 0},
    {"and.pred", "111", {1, 0}, 0},
    {"or.pred", "111", {1, 0}, 1},
    {"xor.pred", "111", {1, 1}, 0},
    {"not.pred", "11", {0}, 1},
    {"mov.pred", "11", {0}, 0},
    {"mov.b32", "44", {0xdeadbeef}, 0xdeadbeef},
    {"mov.u64", "88", {M1}, M1},
    {"mov.b16", "22", {0xabcd}, 0xabcd},
    /* shifts clamp; they do not wrap around */
    {"shl.b32", "444", {1, 31}, MIN32},
    {"shl.b32", "444", {1, 32}, 0},
    {"shl.b32", "444", {1, 33}, 0},
    {"shl.b64", "884", {1, 63}, MIN64},
    {"shl.b64", "884", {1, 64}, 0},
    {"shl.b16", "224", {1, 15}, 0x8000},
    {"shl.b16", "224", {1, 16}, 0},
    {"shr.u32", "444", {MIN32, 31}, 1},
    {"shr.u32", "444", {N1, 32}, 0},
    {"shr.s32", "444", {MIN32, 32}, N1},
    {"shr.s32", "444", {MIN32, N1}, N1},
    {"shr.s32", "444", {0x40000000, 4}, 0x04000000},
    {"shr.u64", "884", {MIN64, 64}, 0},
    {"shr.s64", "884", {MIN64, 99}, M1},
    {"shr.s16", "224", {0x8000, 3}, 0xf000},
    {"shr.u16", "224", {0x8000, 3}, 0x1000},
    {"shf.l.wrap.b32", "4444", {0x80000001, 0x12345678, 4}, 0x23456788},
    {"shf.r.wrap.b32", "4444", {0x80000001, 0x12345678, 4}, 0x88000000},
    {"shf.l.wrap.b32", "4444", {1, 2, 36}, 0x20},
    {"shf.l.clamp.b32", "4444", {0xabcdef01, 2, 40}, 0xabcdef01},
    {"shf.r.clamp.b32", "4444", {1, 0xabcdef01, 40}, 0xabcdef01},
    /* these inputs give the table itself */
    {"lop3.b32", "4444, 0xe8", {0xf0, 0xcc, 0xaa}, 0xe8},
    {"lop3.b32", "4444, 0xca", {0xf0, 0xcc, 0xaa}, 0xca},
    {"lop3.b32", "4444, 0x69", {0xf0, 0xcc, 0xaa}, 0xffffff69},
    {"selp.b32", "4441", {1, 2, 1}, 1},
    {"selp.f64", "8881", {1, 2, 0}, 2},
    {"selp.b16", "2221", {1, 2, 0}, 2},
    {"slct.u32.s32", "4444", {1, 2, N1}, 2},
    {"slct.b32.s32", "4444", {1, 2, 0}, 1},
    {"slct.f32.f32", "4444", {1, 2, MIN32}, 1},      /* -0 counts as not negative */
    {"slct.f32.f32", "4444", {1, 2, 0x7fc00000}, 2}, /* a NaN gives the second */
};

static const row bits[] = {
    {"popc.b32", "44", {0xf00f0001}, 9},
    {"popc.b64", "48", {M1}, 64},
    {"clz.b32", "44", {0}, 32},
    {"clz.b32", "44", {0x00010000}, 15},
    {"clz.b64", "48", {0}, 64},
    {"clz.b64", "48", {1}, 63},
    {"brev.b32", "44", {0x00000003}, 0xc0000000},
    {"brev.b64", "88", {1}, MIN64},
    {"bfind.u32", "44", {0}, N1},
    {"bfind.u32", "44", {0x00010000}, 16},
    {"bfind.s32", "44", {N1}, N1},
    {"bfind.s32", "44", {0xfffffffd}, 1},
    {"bfind.shiftamt.u32", "44", {0x00010000}, 15},
    {"bfind.u64", "48", {MIN64}, 63},
    {"bfind.s64", "48", {MIN64}, 62},
    {"bfe.u32", "4444", {0xabcd1234, 8, 8}, 0x12},
    {"bfe.s32", "4444", {0xabcdf234, 8, 8}, 0xfffffff2},
    {"bfe.s32", "4444", {0x80000000, 28, 8}, 0xfffffff8},
    {"bfe.u32", "4444", {N1, 28, 8}, 0xf},
    {"bfe.u32", "4444", {N1, 0, 0}, 0},
    {"bfe.s32", "4444", {MIN32, 40, 8}, N1},
    {"bfe.u64", "8844", {UINT64_C(0x0123456789abcdef), 16, 16}, 0x89ab},
    {"bfe.s64", "8844", {UINT64_C(0x0123456789abcdef), 16, 16}, UINT64_C(0xffffffffffff89ab)},
    {"bfi.b32", "44444", {0xab, 0x11111111, 8, 8}, 0x1111ab11},
    {"bfi.b32", "44444", {N1, 0, 28, 8}, 0xf0000000},
    {"bfi.b32", "44444", {N1, 7, 8, 0}, 7},
    {"bfi.b64", "88844", {0xab, 0, 56, 8}, UINT64_C(0xab00000000000000)},
    {"prmt.b32", "4444", {0x33221100, 0x77665544, 0x7520}, 0x77552200},
    {"prmt.b32", "4444", {0x00008000, 0, 0x0009}, 0x000000ff},
    {"prmt.b32", "4444", {0x00008000, 0, 0x9991}, 0xffffff80},
    {"prmt.b32.f4e", "4444", {0x33221100, 0x77665544, 1}, 0x44332211},
    {"prmt.b32.b4e", "4444", {0x33221100, 0x77665544, 1}, 0x66770011},
    {"prmt.b32.rc8", "4444", {0x33221100, 0, 2}, 0x22222222},
    {"prmt.b32.rc16", "4444", {0x33221100, 0, 1}, 0x33223322},
    {"bmsk.clamp.b32", "444", {4, 8}, 0xff0},
    {"bmsk.clamp.b32", "444", {32, 8}, 0},
    {"szext.wrap.s32", "444", {0x80, 8}, 0xffffff80},
};

static const row comparisons[] = {
    {"setp.eq.s32", "144", {5, 5}, 1},
    {"setp.ne.s32", "144", {5, 5}, 0},
    {"setp.lt.s32", "144", {N1, 0}, 1},
    {"setp.lt.u32", "144", {N1, 0}, 0},
    {"setp.lo.u32", "144", {0, N1}, 1},
    {"setp.hs.u32", "144", {N1, N1}, 1},
    {"setp.hi.u32", "144", {N1, N1}, 0},
    {"setp.ls.u32", "144", {N1, N1}, 1},
    {"setp.le.s32", "144", {MIN32, MIN32}, 1},
    {"setp.gt.s64", "188", {1, MIN64}, 1},
    {"setp.gt.u64", "188", {1, MIN64}, 0},
    {"setp.ge.s16", "122", {0x8000, 0}, 0},
    {"setp.ge.u16", "122", {0x8000, 0}, 1},
    {"setp.eq.b64", "188", {MIN64, 0}, 0},
    {"setp.lt.and.s32", "1441", {0, 1, 0}, 0},
    {"setp.lt.or.s32", "1441", {1, 0, 1}, 1},
    {"setp.lt.xor.s32", "1441", {0, 1, 1}, 0},
    {"set.lt.u32.s32", "444", {N1, 0}, N1},
    {"set.lt.f32.s32", "444", {N1, 0}, 0x3f800000},
    {"set.lt.u32.u32", "444", {N1, 0}, 0},
};

static const row conversions[] = {
    {"cvt.u32.u64", "48", {UINT64_C(0x123456789)}, 0x23456789},
    {"cvt.s64.s32", "84", {MIN32}, UINT64_C(0xffffffff80000000)},
    {"cvt.u64.u32", "84", {MIN32}, MIN32},
    {"cvt.s32.s8", "44", {0x1280}, 0xffffff80},
    {"cvt.u32.u8", "44", {0x1280}, 0x80},
    {"cvt.s16.s8", "22", {0x80}, 0xff80},
    {"cvt.u16.u32", "24", {0x12345}, 0x2345},
    {"cvt.s8.s32", "44", {0x1ff}, N1},
    {"cvt.u8.u32", "44", {0x1ff}, 0xff},
    {"cvt.s64.s16", "82", {0x8000}, UINT64_C(0xffffffffffff8000)},
    {"cvt.sat.u8.s32", "44", {N1}, 0},
    {"cvt.sat.u8.s32", "44", {300}, 255},
    {"cvt.sat.s8.s32", "44", {300}, 127},
    {"cvt.sat.s8.s32", "44", {0xffffff00}, 0xffffff80},
    {"cvt.sat.s32.u32", "44", {N1}, 0x7fffffff},
    {"cvt.sat.u32.s64", "48", {M1}, 0},
    {"cvt.sat.u32.u64", "48", {UINT64_C(0x100000000)}, N1},
};

static void test_arithmetic(void **state)
{
    CHECK_ROWS(arithmetic);
}

static void test_logic(void **state)
{
    CHECK_ROWS(logic);
}

static void test_bits(void **state)
{
    CHECK_ROWS(bits);
}

static void test_comparisons(void **state)
{
    CHECK_ROWS(comparisons);
}

static void test_conversions(void **state)
{
    CHECK_ROWS(conversions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),  cmocka_unit_test(test_logic),
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests(tests, driver_setup, driver_teardown);
}
