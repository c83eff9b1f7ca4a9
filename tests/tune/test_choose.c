/* SPDX-License-Identifier: Apache-2.0 */
/* From times to a choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tune/tune.h"

#define CHOOSE(...)                                                                                \
    ls__tune_choose((const uint64_t[]){__VA_ARGS__},                                               \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void the_least_time_is_chosen(void **state)
{
    (void)state;
    assert_int_equal(CHOOSE(100), 0);
    assert_int_equal(CHOOSE(100, 50), 1);
    assert_int_equal(CHOOSE(100, 200, 90, 95), 2);
    assert_int_equal(CHOOSE(1000, 2000, 3000), 0);
    assert_int_equal(CHOOSE(0, 0), 0);
    assert_int_equal(CHOOSE(1, 0), 1);
}

static void defaults_that_are_as_fast_stay(void **state)
{
    (void)state;
    assert_int_equal(CHOOSE(103, 100), 0);
    assert_int_equal(CHOOSE(104, 100), 1);
    assert_int_equal(CHOOSE(1029999, 1000000), 0);
    assert_int_equal(CHOOSE(1030001, 1000000), 1);
    assert_int_equal(CHOOSE(51, 50), 0); /* 3 % of 50 is 1, rounded down */
    assert_int_equal(CHOOSE(52, 50), 1);
}

static void of_equal_ones_the_first_is_taken(void **state)
{
    (void)state;
    assert_int_equal(CHOOSE(200, 100, 100, 100), 1);
    assert_int_equal(CHOOSE(200, 101, 100, 100), 2);
}

static void what_was_left_out_is_never_taken(void **state)
{
    (void)state;
    assert_int_equal(CHOOSE(100, UINT64_MAX), 0);
    assert_int_equal(CHOOSE(100, UINT64_MAX, 10, UINT64_MAX), 2);
}

static void long_times_do_not_wrap(void **state)
{
    (void)state;
    const uint64_t half = UINT64_MAX / 2;
    assert_int_equal(CHOOSE(half + half / 100 * 2, half, UINT64_MAX), 0);
    assert_int_equal(CHOOSE(half + half / 100 * 4, half, UINT64_MAX), 1);
    assert_int_equal(CHOOSE(UINT64_MAX - 1, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_time_is_chosen),
        cmocka_unit_test(defaults_that_are_as_fast_stay),
        cmocka_unit_test(of_equal_ones_the_first_is_taken),
        cmocka_unit_test(what_was_left_out_is_never_taken),
        cmocka_unit_test(long_times_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
