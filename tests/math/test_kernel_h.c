/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep/kernel.h: built-ins where plain C leaves the result open, and the launch geometry. The
 * tables are written by hand from the language's definition. */
#include "base/cmocka_all.h"

#include "lockstep/kernel.h"

SPEC(i32, TABLE_SIZE, 3);

/* Compares through the bits, so that -0 and NaN count. */
#define assert_f32(a, b) assert_int_equal(f32_bits(a), f32_bits(b))
#define assert_f64(a, b) assert_int_equal(f64_bits(a), f64_bits(b))

static f32 inf32(void) { return f32_from_bits(0x7f800000u); }
static f32 negative_nan32(void) { return f32_from_bits(0xffc01234u); }

static void integers(void **state)
{
    assert_int_equal(min(-1, 1), -1);
    assert_int_equal(min(0xffffffffu, 1u), 1);
    assert_int_equal(max((i64)-5, (i64)3), 3);
    assert_true(max(UINT64_MAX, (u64)3) == UINT64_MAX);
    assert_int_equal(abs((i8)-5), 5);
    assert_int_equal(abs(INT32_MIN), INT32_MIN);
    assert_true(abs(INT64_MIN) == INT64_MIN);
    assert_int_equal(popcount(-1), 32);
    assert_int_equal(popcount((u64)0x8000000000000001u), 2);
    assert_int_equal(clz(0u), 32);
    assert_int_equal(clz((i64)0), 64);
    assert_int_equal(clz(1), 31);
    assert_int_equal(ctz(0), 32);
    assert_int_equal(ctz((u64)0), 64);
    assert_int_equal(ctz((u64)1 << 40), 40);
    assert_int_equal(rotl(0x80000001u, 0u), 0x80000001u);
    assert_int_equal(rotl(0x80000001u, 33u), 3);
    assert_int_equal(rotr(1u, 1u), 0x80000000u);
    assert_true(rotr((u64)1, 65u) == UINT64_C(1) << 63);
    assert_int_equal(mulhi(-1, 1), -1);
    assert_int_equal(mulhi(INT32_MIN, INT32_MIN), 0x40000000);
    assert_int_equal(mulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
    assert_true(mulhi(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    assert_true(mulhi(INT64_MIN, INT64_MIN) == INT64_C(1) << 62);
    assert_true(mulhi(INT64_MIN, INT64_C(1)) == -1);
    assert_int_equal(add_sat(INT32_MAX, 1), INT32_MAX);
    assert_int_equal(add_sat(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(add_sat(0xffffffffu, 1u), 0xffffffffu);
    assert_int_equal(sub_sat(INT32_MIN, 1), INT32_MIN);
    assert_int_equal(sub_sat(0, INT32_MIN), INT32_MAX);
    assert_int_equal(sub_sat(1u, 2u), 0);
    assert_true(sub_sat(INT64_MAX, (i64)-1) == INT64_MAX);
}

static void dots(void **state)
{
    assert_int_equal(dot4(0x80808080u, 0x80808080u, 1), 4 * 128 * 128 + 1);
    assert_int_equal(dot4(0x01ff7f80u, 0x02030405u, 0), 2 - 3 + 127 * 4 - 128 * 5);
    assert_int_equal(dot4_us(0x01ff7f80u, 0x02fd0405u, 0), 2 - 255 * 3 + 127 * 4 + 128 * 5);
    assert_int_equal(dot4(0x01u, 0x01u, INT32_MAX), INT32_MIN);
}

static void floats(void **state)
{
    f32 nan = negative_nan32();
    assert_f32(fmin(-0.0f, 0.0f), -0.0f);
    assert_f32(fmin(0.0f, -0.0f), -0.0f);
    assert_f32(fmax(-0.0f, 0.0f), 0.0f);
    assert_f32(fmax(0.0f, -0.0f), 0.0f);
    assert_f32(fmin(nan, 2.0f), 2.0f);
    assert_f32(fmax(-2.0f, nan), -2.0f);
    assert_f32(fmax(nan, nan), nan);
    assert_f64(fmin(-0.0, 0.0), -0.0);
    assert_int_equal(f32_bits(nan), 0x7fc00000u);
    assert_true(f64_bits((f64)nan) == 0x7ff8000000000000u);
    assert_false(signbit(nan));
    assert_true(signbit(-0.0f));
    assert_f32(copysign(3.0f, nan), 3.0f);
    assert_f32(copysign(3.0f, -0.0f), -3.0f);
    assert_f32(copysign(nan, -1.0f), nan);
    assert_f32(rint(2.5f), 2.0f);
    assert_f32(rint(-0.5f), -0.0f);
    assert_f32(rint(3.5f), 4.0f);
    assert_f32(floor(-0.5f), -1.0f);
    assert_f32(ceil(-0.5f), -0.0f);
    assert_f32(trunc(-1.5f), -1.0f);
    assert_f32(fabs(-0.0f), 0.0f);
    assert_f32(sqrt(0x1p-149f), 0x1.6a09e6p-75f);
    assert_true(isnan(sqrt(-1.0f)));
    assert_f32(fma(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f), 0x1p-46f);
    assert_f64(fma(0.1, 10.0, -1.0), 0x1p-54);
    assert_true(isnan(nan) && !isnan(inf32()) && !isnan(1.0));
    assert_true(isinf(-inf32()) && !isinf(nan) && !isinf(1.0));
    assert_true(isfinite(0x1.fffffep127f) && !isfinite(inf32()) && !isfinite(nan));
}

/* binary16: every value survives the way there and back, and halves between neighbours go to the
   even one. */
static void half_floats(void **state)
{
    for (u32 bits = 0; bits < 0x10000; bits++) {
        f16 h = {(u16)bits};
        u16 expected = (bits & 0x7fffu) > 0x7c00 ? 0x7e00 : (u16)bits;
        assert_int_equal(f32_to_f16(f16_to_f32(h)).bits, expected);
    }
    for (u32 bits = 0; bits < 0x7c00; bits++) {
        f16 h = {(u16)bits}, next = {(u16)(bits + 1)};
        f32 above = bits == 0x7bff ? 65536.0f : f16_to_f32(next);
        f32 middle = 0.5f * (f16_to_f32(h) + above);
        u32 even = bits + (bits & 1);
        assert_int_equal(f32_to_f16(middle).bits, even);
        assert_int_equal(f32_to_f16(-middle).bits, even | 0x8000u);
        assert_int_equal(f32_to_f16(f32_from_bits(f32_bits(middle) - 1)).bits, bits);
        assert_int_equal(f32_to_f16(f32_from_bits(f32_bits(middle) + 1)).bits, bits + 1);
    }
    assert_int_equal(f32_to_f16(0x1.fffffep127f).bits, 0x7c00);
    assert_int_equal(f32_to_f16(-0x1p-149f).bits, 0x8000);
    assert_f32(f16_to_f32((f16){0x3c00}), 1.0f);
    assert_f32(f16_to_f32((f16){0x8001}), -0x1p-24f);
    assert_f32(f16_to_f32((f16){0xfc00}), -inf32());
}

static void brain_floats(void **state)
{
    assert_int_equal(f32_to_bf16(1.0f).bits, 0x3f80);
    assert_int_equal(f32_to_bf16(f32_from_bits(0x3f808000u)).bits, 0x3f80);
    assert_int_equal(f32_to_bf16(f32_from_bits(0x3f818000u)).bits, 0x3f82);
    assert_int_equal(f32_to_bf16(f32_from_bits(0x3f808001u)).bits, 0x3f81);
    assert_int_equal(f32_to_bf16(0x1.fffffep127f).bits, 0x7f80);
    assert_int_equal(f32_to_bf16(negative_nan32()).bits, 0x7fc0);
    assert_int_equal(f32_to_bf16(f32_from_bits(0x7f800001u)).bits, 0x7fc0);
    assert_f32(bf16_to_f32((bf16){0x0001}), 0x1p-133f);
}

static void atomics(void **state)
{
    u32 u = 5;
    i32 i = -5;
    u64 w = 1;
    assert_int_equal(atomic_add(&u, 0xffffffffu), 5);
    assert_int_equal(u, 4);
    assert_int_equal(atomic_min(&i, 3), -5);
    assert_int_equal(i, -5);
    assert_int_equal(atomic_max(&i, 3), -5);
    assert_int_equal(i, 3);
    assert_int_equal(atomic_compare_exchange(&u, 7u, 9u), 4);
    assert_int_equal(u, 4);
    assert_int_equal(atomic_compare_exchange(&u, 4u, 9u), 4);
    assert_int_equal(u, 9);
    assert_int_equal(atomic_xor(&u, 1u), 9);
    assert_int_equal(atomic_and(&u, 12u), 8);
    assert_int_equal(atomic_or(&u, 3u), 8);
    assert_int_equal(atomic_exchange(&u, 1u), 11);
    assert_int_equal(u, 1);
    assert_int_equal(atomic_add(&w, (u64)1 << 40), 1);
    assert_true(w == ((u64)1 << 40) + 1);
}

static const u32 table[TABLE_SIZE] = {10, 20, 30};

/* Writes what each lane sees to its place; a trap in the lanes outside the size asked for. */
kernel workgroup(4, 3) static void geometry(u32 *out, u32 *counter)
{
    atomic_add(counter, 1u);
    if (global_id(0) >= global_size(0) || global_id(1) >= global_size(1)) {
        trap(local_index());
        return;
    }
    u32 at = global_id(1) * global_size(0) + global_id(0);
    out[at] = workgroup_id(1) * 1000u + workgroup_id(0) * 100u + local_index() +
              table[local_id(1)];
}

static void launch(void **state)
{
    const u32 lanes[3] = {6, 4, 1}, group[3] = {4, 3, 1};
    u32 out[24] = {0}, counter = 0;
    ls_native.trap_count = 0;
    ls_native_set_launch(lanes, group);
    assert_int_equal(workgroup_count(0) * workgroup_count(1) * workgroup_count(2), 4);
    for (u64 i = 0; i < ls_native_lane_count(); i++) {
        ls_native_set_lane(i);
        geometry(out, &counter);
    }
    assert_int_equal(counter, 48);
    assert_int_equal(out[0], 10);
    assert_int_equal(out[6 + 1], 5 + 20);                /* (1, 1) */
    assert_int_equal(out[2 * 6 + 3], 11 + 30);           /* (3, 2) */
    assert_int_equal(out[3 * 6 + 5], 1000 + 100 + 1 + 10); /* (5, 3): lane (1, 0) of (1, 1) */
    assert_int_equal(ls_native.trap_count, 24);
    assert_int_equal(ls_native.trap_code, 2); /* lane (2, 0) of workgroup (1, 0) is the first */
    assert_int_equal(lane_id(), 11);
    assert_int_equal(subgroup_id(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),    cmocka_unit_test(dots),         cmocka_unit_test(floats),
        cmocka_unit_test(half_floats), cmocka_unit_test(brain_floats), cmocka_unit_test(atomics),
        cmocka_unit_test(launch),
    };
    return cmocka_run_group_tests_name("kernel_h", tests, NULL, NULL);
}
