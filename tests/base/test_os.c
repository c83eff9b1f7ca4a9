/* SPDX-License-Identifier: Apache-2.0 */
/* Time, machine size, condition waits, and the floating-point environment under hostile callers. */
#include "cmocka_all.h"

#include <fenv.h>
#include <string.h>

#include "base/os.h"

static void time_goes_on(void **state)
{
    uint64_t before = ls__os_now_ns();
    ls__os_sleep_ns(2000000);
    assert_true(ls__os_now_ns() - before >= 2000000);
    ls__os_sleep_ns(0);
}

static void machine_has_something(void **state)
{
    assert_true(ls__os_memory_bytes() > (UINT64_C(1) << 20));
    assert_true(ls__os_memory_bytes() < (UINT64_C(1) << 60));
    assert_true(ls__os_cpu_count() >= 1);
}

typedef struct shared_flag {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool set;
} shared_flag;

static void *set_flag(void *argument)
{
    shared_flag *flag = argument;
    pthread_mutex_lock(&flag->mutex);
    flag->set = true;
    pthread_cond_signal(&flag->cond);
    pthread_mutex_unlock(&flag->mutex);
    return NULL;
}

static void cond_wait_times_out(void **state)
{
    shared_flag flag = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    assert_int_equal(ls__os_cond_init(&flag.cond), 0);
    pthread_mutex_lock(&flag.mutex);
    uint64_t deadline = ls__os_now_ns() + 3000000;
    while (ls__os_cond_wait(&flag.cond, &flag.mutex, deadline)) {
    }
    assert_true(ls__os_now_ns() >= deadline);
    assert_false(ls__os_cond_wait(&flag.cond, &flag.mutex, 0)); /* long past */
    pthread_mutex_unlock(&flag.mutex);
    pthread_cond_destroy(&flag.cond);
}

static void cond_wait_is_woken(void **state)
{
    const uint64_t limits[] = {LS_FOREVER, ls__os_now_ns() + UINT64_C(60000000000)};
    for (int i = 0; i < 2; i++) {
        shared_flag flag = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        pthread_t thread;
        assert_int_equal(ls__os_cond_init(&flag.cond), 0);
        pthread_mutex_lock(&flag.mutex);
        assert_int_equal(pthread_create(&thread, NULL, set_flag, &flag), 0);
        bool in_time = true;
        while (!flag.set && in_time)
            in_time = ls__os_cond_wait(&flag.cond, &flag.mutex, limits[i]);
        assert_true(flag.set);
        pthread_mutex_unlock(&flag.mutex);
        pthread_join(thread, NULL);
        pthread_cond_destroy(&flag.cond);
    }
}

/* volatile keeps the compiler from computing these. */
static float third(void)
{
    volatile float one = 1.0f, three = 3.0f;
    return one / three;
}

static float half_of_smallest_normal(void)
{
    volatile float normal = 0x1p-126f, half = 0.5f;
    return normal * half;
}

static float subnormal_times_two(void)
{
    volatile uint32_t bits = 0x00400000; /* 2^-127 */
    uint32_t copy = bits;
    float subnormal;
    volatile float two = 2.0f;
    memcpy(&subnormal, &copy, sizeof subnormal);
    return subnormal * two;
}

static void rounding_is_default_inside(void **state)
{
    float expected = third();
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; i++) {
        ls__os_fenv saved;
        fesetround(modes[i]);
        ls__os_fenv_enter(&saved);
        float inside = third();
        int mode_inside = fegetround();
        ls__os_fenv_leave(&saved);
        int mode_after = fegetround();
        fesetround(FE_TONEAREST);
        assert_true(inside == expected);
        assert_int_equal(mode_inside, FE_TONEAREST);
        assert_int_equal(mode_after, modes[i]);
    }
}

static void flags_of_the_caller_stay(void **state)
{
    ls__os_fenv saved;
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_OVERFLOW);
    ls__os_fenv_enter(&saved);
    third(); /* inexact */
    ls__os_fenv_leave(&saved);
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT) & FE_OVERFLOW, FE_OVERFLOW);
    assert_int_equal(fetestexcept(FE_INEXACT), 0);
    feclearexcept(FE_ALL_EXCEPT);
}

static void masked_inside_though_trapping_outside(void **state)
{
    ls__os_fenv saved;
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(FE_DIVBYZERO) == -1)
        return; /* this machine has no traps */
    ls__os_fenv_enter(&saved);
    volatile float one = 1.0f, zero = 0.0f;
    volatile float infinite = one / zero; /* SIGFPE if not masked */
    ls__os_fenv_leave(&saved);
    int enabled = fegetexcept();
    fedisableexcept(FE_ALL_EXCEPT);
    assert_true(infinite > 1e38f);
    assert_int_equal(enabled & FE_DIVBYZERO, FE_DIVBYZERO);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define FTZ_AND_DAZ 0x8040u

static void subnormals_are_kept_inside(void **state)
{
    ls__os_fenv saved;
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | FTZ_AND_DAZ);
    float flushed = half_of_smallest_normal();
    ls__os_fenv_enter(&saved);
    float produced = half_of_smallest_normal();
    float consumed = subnormal_times_two();
    ls__os_fenv_leave(&saved);
    unsigned after = _mm_getcsr();
    _mm_setcsr(old);
    assert_true(flushed == 0.0f); /* the test is able to see the difference */
    assert_true(produced == 0x1p-127f);
    assert_true(consumed == 0x1p-126f);
    assert_int_equal(after & FTZ_AND_DAZ, FTZ_AND_DAZ);
}
#else
static void subnormals_are_kept_inside(void **state)
{
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    float produced = half_of_smallest_normal();
    float consumed = subnormal_times_two();
    ls__os_fenv_leave(&saved);
    assert_true(produced == 0x1p-127f);
    assert_true(consumed == 0x1p-126f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(machine_has_something),
        cmocka_unit_test(cond_wait_times_out),
        cmocka_unit_test(cond_wait_is_woken),
        cmocka_unit_test(rounding_is_default_inside),
        cmocka_unit_test(flags_of_the_caller_stay),
        cmocka_unit_test(masked_inside_though_trapping_outside),
        cmocka_unit_test(subnormals_are_kept_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
