/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix64: the published stream, and bounded numbers that reach all values about equally
 * often. */
#include "cmocka_all.h"

#include "base/rng.h"

/* The first outputs for seed 1234567, as listed for splitmix64 on rosettacode.org
 * ("Pseudo-random numbers/Splitmix64"). */
static void known_stream(void **state)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    ls__rng rng = {1234567};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(ls__rng_u64(&rng) == expected[i]);
}

static void below_is_in_range_and_even(void **state)
{
    ls__rng rng = {1};
    uint32_t counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint32_t value = ls__rng_below(&rng, 7);
        assert_true(value < 7);
        counts[value]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_true(counts[i] > 9500);
        assert_true(counts[i] < 10500);
    }
}

static void below_edges(void **state)
{
    ls__rng rng = {2};
    uint32_t high = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(ls__rng_below(&rng, 1), 0);
        uint32_t value = ls__rng_below(&rng, UINT32_MAX);
        assert_true(value < UINT32_MAX);
        high += value >> 31;
    }
    assert_true(high > 400 && high < 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_stream),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(below_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
