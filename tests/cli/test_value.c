/* SPDX-License-Identifier: Apache-2.0 */
/* Text and numbers to elements: ranges of every type, rounding, and what is not a number. */
#include "base/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/value.h"

static uint64_t bits_of(ls_mem mem, const char *text)
{
    uint64_t bits = 0;
    ls_error error = {0};
    if (ls__cli_value_parse(mem, text, &bits, &error) != LS_OK)
        fail_msg("%s: %s", text, error.message);
    return bits;
}

static void refuse(ls_mem mem, const char *text)
{
    uint64_t bits;
    if (ls__cli_value_parse(mem, text, &bits, NULL) == LS_OK)
        fail_msg("%s is taken for %s", text, ls__cli_type_of(mem)->name);
}

static void types_match_the_ir(void **state)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } expected[] = {
#define X(name, text, bytes, type) {text, bytes},
        LS_MEM_TABLE(X)
#undef X
    };
    for (int mem = LS_MEM_NONE + 1; mem < LS_MEM_COUNT; mem++) {
        assert_string_equal(ls__cli_type_of((ls_mem)mem)->name, expected[mem].name);
        assert_int_equal(ls__cli_type_of((ls_mem)mem)->bytes, expected[mem].bytes);
        assert_int_equal(ls__cli_type_find(expected[mem].name, strlen(expected[mem].name)), mem);
    }
    assert_int_equal(ls__cli_type_find("f3", 2), LS_MEM_NONE);
    assert_int_equal(ls__cli_type_find("f32x", 4), LS_MEM_NONE);
}

static void integers_fit_their_type(void **state)
{
    assert_int_equal(bits_of(LS_MEM_I8, "-128"), 0x80);
    assert_int_equal(bits_of(LS_MEM_I8, "127"), 0x7f);
    assert_int_equal(bits_of(LS_MEM_U8, "0xff"), 0xff);
    assert_int_equal(bits_of(LS_MEM_I32, "-0x80000000"), 0x80000000u);
    assert_int_equal(bits_of(LS_MEM_U32, "4294967295"), UINT32_MAX);
    assert_int_equal(bits_of(LS_MEM_U64, "18446744073709551615"), UINT64_MAX);
    assert_int_equal(bits_of(LS_MEM_I64, "-9223372036854775808"), (uint64_t)INT64_MIN);
    assert_int_equal(bits_of(LS_MEM_U32, "+7"), 7);
    assert_int_equal(bits_of(LS_MEM_U16, "007"), 7);
    refuse(LS_MEM_I8, "128");
    refuse(LS_MEM_I8, "-129");
    refuse(LS_MEM_U8, "256");
    refuse(LS_MEM_U8, "-1");
    refuse(LS_MEM_I32, "2147483648");
    refuse(LS_MEM_U32, "4294967296");
    refuse(LS_MEM_U64, "18446744073709551616");
    refuse(LS_MEM_I64, "9223372036854775808");
    refuse(LS_MEM_U64, "99999999999999999999999");
    static const char *const texts[] = {"",    " 1",  "1 ",  "1.0", "1e3",  "0x",   "0xg",
                                        "--1", "+-1", "- 1", "abc", "0x-1", "0x0x1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refuse(LS_MEM_I32, texts[i]);
}

static void bools(void **state)
{
    assert_int_equal(bits_of(LS_MEM_BOOL, "true"), 1);
    assert_int_equal(bits_of(LS_MEM_BOOL, "0"), 0);
    refuse(LS_MEM_BOOL, "2");
    refuse(LS_MEM_BOOL, "yes");
}

static void floats_round_once(void **state)
{
    assert_int_equal(bits_of(LS_MEM_F32, "0.1"), 0x3dcccccd);
    assert_int_equal(bits_of(LS_MEM_F64, "0.1"), 0x3fb999999999999aull);
    /* Half a unit above 1, and a little more: by way of double it would be a tie, and give 1. */
    assert_int_equal(bits_of(LS_MEM_F32, "1.00000005960464477539062500000000001"), 0x3f800001);
    assert_int_equal(bits_of(LS_MEM_F32, "-0"), 0x80000000u);
    assert_int_equal(bits_of(LS_MEM_F32, "1e-45"), 1);
    assert_int_equal(bits_of(LS_MEM_F32, "1e-60"), 0);
    assert_int_equal(bits_of(LS_MEM_F32, "0x1p-3"), 0x3e000000);
    assert_int_equal(bits_of(LS_MEM_F32, "-inf"), 0xff800000u);
    assert_int_equal(bits_of(LS_MEM_F32, "-nan"), 0x7fc00000);
    assert_int_equal(bits_of(LS_MEM_F64, "nan"), 0x7ff8000000000000ull);
    assert_int_equal(bits_of(LS_MEM_F16, "nan"), 0x7e00);
    assert_int_equal(bits_of(LS_MEM_BF16, "nan"), 0x7fc0);
    refuse(LS_MEM_F32, "1e39");
    refuse(LS_MEM_F64, "1e309");
    refuse(LS_MEM_F16, "65520");
    refuse(LS_MEM_BF16, "3.4e38");
    refuse(LS_MEM_F32, "1f");
    refuse(LS_MEM_F32, "");
    refuse(LS_MEM_F32, " 1");
    refuse(LS_MEM_F32, "one");
}

/* The value of a 16-bit float. */
static double half_value(unsigned bits, int fraction_bits, int least)
{
    unsigned exponent = (bits & 0x7fff) >> fraction_bits;
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    unsigned significand = exponent ? fraction | 1u << fraction_bits : fraction;
    int scale = (exponent ? (int)exponent - 1 : 0) + least - fraction_bits;
    return ldexp(significand, scale);
}

/* Every finite positive value reads as itself, and halfway to the next goes to the even one. */
static void check_half(ls_mem mem, int fraction_bits, int least, unsigned infinity)
{
    char text[128];
    for (unsigned bits = 0; bits < infinity; bits++) {
        double value = half_value(bits, fraction_bits, least);
        double next = half_value(bits + 1, fraction_bits, least);
        snprintf(text, sizeof text, "%a", value);
        assert_int_equal(bits_of(mem, text), bits);
        if (bits + 1 == infinity)
            break;
        snprintf(text, sizeof text, "-%a", value + (next - value) / 2);
        assert_int_equal(bits_of(mem, text), 0x8000 | (bits + (bits & 1)));
        snprintf(text, sizeof text, "%a", value + (next - value) * 0.5625);
        assert_int_equal(bits_of(mem, text), bits + 1);
    }
}

static void halves_round_to_even(void **state)
{
    check_half(LS_MEM_F16, 10, -14, 0x7c00);
    check_half(LS_MEM_BF16, 7, -126, 0x7f80);
    assert_int_equal(bits_of(LS_MEM_F16, "65519"), 0x7bff);
    assert_int_equal(bits_of(LS_MEM_F16, "1e-9"), 0);
    /* So near to halfway that a double in between would be halfway: 1 + 2^-11 and 1 + 2^-8. */
    assert_int_equal(bits_of(LS_MEM_F16, "1.00048828125000000000000000001"), 0x3c01);
    assert_int_equal(bits_of(LS_MEM_F16, "-1.00048828124999999999999999999"), 0xbc00);
    assert_int_equal(bits_of(LS_MEM_BF16, "1.00390625000000000000000000001"), 0x3f81);
    assert_int_equal(bits_of(LS_MEM_BF16, "-1.01171874999999999999999999999"), 0xbf81);
    assert_int_equal(bits_of(LS_MEM_F16, "-1e-400"), 0x8000);
    refuse(LS_MEM_F16, "-1e400");
    assert_int_equal(bits_of(LS_MEM_F16, "inf"), 0x7c00);
}

static void numbers_convert(void **state)
{
    uint64_t bits = 0;
    ls__cli_value_from_integer(LS_MEM_U8, 257, &bits);
    assert_int_equal(bits, 1);
    ls__cli_value_from_integer(LS_MEM_BOOL, 2, &bits);
    assert_int_equal(bits, 0);
    ls__cli_value_from_integer(LS_MEM_F32, 16777217, &bits);
    assert_int_equal(bits, 0x4b800000);
    bits = 0;
    ls__cli_value_from_integer(LS_MEM_F16, 2049, &bits);
    assert_int_equal(bits, 0x6800);
}

static void random_floats_are_below_one(void **state)
{
    uint64_t bits = 0;
    ls__cli_value_from_random(LS_MEM_F32, UINT64_MAX, &bits);
    assert_int_equal(bits, 0x3f7fffff);
    bits = 0;
    ls__cli_value_from_random(LS_MEM_F16, UINT64_MAX, &bits);
    assert_int_equal(bits, 0x3bff);
    ls__cli_value_from_random(LS_MEM_BF16, UINT64_MAX, &bits);
    assert_int_equal(bits, 0x3f7f);
    ls__cli_value_from_random(LS_MEM_F64, UINT64_MAX, &bits);
    assert_int_equal(bits, 0x3fefffffffffffffull);
    bits = 0;
    ls__cli_value_from_random(LS_MEM_U8, UINT64_C(0xab) << 56, &bits);
    assert_int_equal(bits, 0xab);
}

static void defines(void **state)
{
    ls_define define;
    char good[] = "N=-5", flag[] = "FAST", truth[] = "X=true", hex[] = "M=0xffffffff";
    char empty[] = "", nameless[] = "=3", text[] = "N=abc", large[] = "N=4294967296";
    assert_int_equal(ls__cli_parse_define(good, &define, NULL), LS_OK);
    assert_string_equal(define.name, "N");
    assert_int_equal(define.value, -5);
    assert_int_equal(ls__cli_parse_define(flag, &define, NULL), LS_OK);
    assert_int_equal(define.value, 1);
    assert_int_equal(ls__cli_parse_define(truth, &define, NULL), LS_OK);
    assert_int_equal(define.value, 1);
    assert_int_equal(ls__cli_parse_define(hex, &define, NULL), LS_OK);
    assert_int_equal(define.value, UINT32_MAX);
    assert_int_not_equal(ls__cli_parse_define(empty, &define, NULL), LS_OK);
    assert_int_not_equal(ls__cli_parse_define(nameless, &define, NULL), LS_OK);
    assert_int_not_equal(ls__cli_parse_define(text, &define, NULL), LS_OK);
    assert_int_not_equal(ls__cli_parse_define(large, &define, NULL), LS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_match_the_ir),
        cmocka_unit_test(integers_fit_their_type),
        cmocka_unit_test(bools),
        cmocka_unit_test(floats_round_once),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(numbers_convert),
        cmocka_unit_test(random_floats_are_below_one),
        cmocka_unit_test(defines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
