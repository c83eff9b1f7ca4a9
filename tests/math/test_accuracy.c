/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of the accuracy benchmark (bench/accuracy): a stride through all inputs, the
 * neighbourhoods of every power of two, of reduction boundaries and of the worst inputs known, and
 * a table of special values. Fails above the stated bounds.
 */
#include "base/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "accuracy/functions.h"
#include "accuracy/native.h"

enum { STRIDE = 8209, NEAR = 40, POW_SAMPLES = 1000000 };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void measure_near(const struct accuracy_function *f, uint32_t bits,
                         struct accuracy_stats *stats)
{
    for (uint32_t i = 0; i <= 2 * NEAR; i++) {
        accuracy_measure(f, accuracy_float(bits + i - NEAR), 0, stats);
        accuracy_measure(f, accuracy_float((bits + i - NEAR) ^ 0x80000000u), 0, stats);
    }
}

/* The worst inputs of the exhaustive runs, and numbers at which some function changes its path. */
static const float hard[] = {
    /* worst */
    0x1.dff9aap+5f, 0x1.22516ep-1f, 0x1.58602ep-1f, 0x1.5d838cp+0f, 0x1.c407cp+89f,
    0x1.970b34p-1f, 0x1.0a9448p-1f, 0x1.01fd4ap-126f,
    /* exp: overflow, smallest normal, smallest subnormal and half of it; the same for exp2 */
    0x1.62e42ep+6f, -0x1.5d589ep+6f, -0x1.9d1da0p+6f, -0x1.9fe368p+6f, 128.0f, -126.0f, -149.0f,
    -150.0f,
    /* log: ends of the range of m; tanh: the polynomial, 1 after rounding; sin: pi/4, pi/2, pi, and
       the number nearest to a multiple of pi/2 (16367173 * 2^72) */
    0x1.555556p-1f, 0x1.555556p+0f, 0.35f, 9.01f, 0x1.921fb6p-1f, 0x1.921fb6p+0f, 0x1.921fb6p+1f,
    0x1.f37c8ap+95f,
};

static void check(const struct accuracy_function *f, const struct accuracy_stats *stats)
{
    print_message("%-6s max %.6f ulp at (%a, %a)\n", f->name, stats->worst_ulp,
                  (double)stats->worst_x, (double)stats->worst_y);
    if (stats->worst_ulp > f->stated_ulp)
        fail_msg("%s: %.6f ulp at (%a, %a), stated are %.3f", f->name, stats->worst_ulp,
                 (double)stats->worst_x, (double)stats->worst_y, f->stated_ulp);
    mpfr_free_cache();
}

static void one_argument_functions_keep_their_bounds(void **state)
{
    for (size_t n = 0; n < accuracy_function_count; n++) {
        const struct accuracy_function *f = &accuracy_functions[n];
        if (f->function == NULL)
            continue;
        struct accuracy_stats stats = ACCURACY_STATS_INIT;
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE)
            accuracy_measure(f, accuracy_float((uint32_t)bits), 0, &stats);
        for (uint32_t exponent = 0; exponent < 256; exponent++)
            measure_near(f, exponent << 23, &stats);
        for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
            measure_near(f, bits_of(hard[i]), &stats);
        check(f, &stats);
    }
}

static void pow_keeps_its_bound(void **state)
{
    const struct accuracy_function *f = &accuracy_functions[accuracy_function_count - 1];
    struct accuracy_stats stats = ACCURACY_STATS_INIT;
    float x, y;
    assert_string_equal(f->name, "pow");
    for (uint64_t i = 0; i < POW_SAMPLES; i++) {
        accuracy_pow_sample(i, &x, &y);
        accuracy_measure(f, x, y, &stats);
    }
    /* Results around overflow, the smallest normal and the smallest subnormal number. */
    static const float edges[] = {128, -126, -149, -150};
    for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++)
        for (uint32_t i = 0; i < 20000; i++) {
            x = accuracy_float(0x00800000u + i * 104729u % 0x7f000000u);
            y = edges[e] / log2f(x);
            accuracy_measure(f, x, y, &stats);
            accuracy_measure(f, x, nextafterf(y, INFINITY), &stats);
            accuracy_measure(f, x, nextafterf(y, -INFINITY), &stats);
        }
    check(f, &stats);
}

/* Every pair of special values, against the C library, which follows C11 Annex F. */
static void pow_special_values(void **state)
{
    static const float values[] = {
        0, 1, 2, 3, 0.5f, 1.5f, 0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f, 0x1.fffffep-1f,
        0x1.000002p0f, 0x1.fffffep22f, 0x1p23f, 0x1.fffffep23f, 0x1p24f, 0x1p40f, 0x1p41f, 0x1p126f,
        0x1p127f, 0x1.fffffep127f, INFINITY, NAN,
    };
    const struct accuracy_function *f = &accuracy_functions[accuracy_function_count - 1];
    struct accuracy_stats stats = ACCURACY_STATS_INIT;
    size_t count = sizeof(values) / sizeof(values[0]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            for (int sign = 0; sign < 4; sign++)
                accuracy_measure(f, sign & 1 ? -values[i] : values[i],
                                 sign & 2 ? -values[j] : values[j], &stats);
    check(f, &stats);
}

struct special {
    float (*function)(float);
    float x, expected;
};

/* Results fixed by IEEE 754 and C11 Annex F, or exact. NaN stands for any NaN. */
static const struct special specials[] = {
    {native_exp, 0.0f, 1}, {native_exp, -0.0f, 1}, {native_exp, INFINITY, INFINITY},
    {native_exp, -INFINITY, 0}, {native_exp, NAN, NAN}, {native_exp, 0x1.fffffep127f, INFINITY},
    {native_exp, -0x1.fffffep127f, 0}, {native_exp, 0x1p-149f, 1},
    {native_exp2, 0.0f, 1}, {native_exp2, -0.0f, 1}, {native_exp2, INFINITY, INFINITY},
    {native_exp2, -INFINITY, 0}, {native_exp2, NAN, NAN}, {native_exp2, 127, 0x1p127f},
    {native_exp2, 128, INFINITY}, {native_exp2, -149, 0x1p-149f}, {native_exp2, -150, 0},
    {native_exp2, -0x1.2bffep7f, 0x1p-149f}, {native_exp2, 10, 1024},
    {native_log, 1, 0.0f}, {native_log, 0.0f, -INFINITY}, {native_log, -0.0f, -INFINITY},
    {native_log, -1, NAN}, {native_log, -INFINITY, NAN}, {native_log, INFINITY, INFINITY},
    {native_log, NAN, NAN}, {native_log, -0x1p-149f, NAN},
    {native_log2, 1, 0.0f}, {native_log2, 0.0f, -INFINITY}, {native_log2, -0.0f, -INFINITY},
    {native_log2, -1, NAN}, {native_log2, -INFINITY, NAN}, {native_log2, INFINITY, INFINITY},
    {native_log2, NAN, NAN}, {native_log2, 0x1p-149f, -149}, {native_log2, 0x1p127f, 127},
    {native_sin, 0.0f, 0.0f}, {native_sin, -0.0f, -0.0f}, {native_sin, INFINITY, NAN},
    {native_sin, -INFINITY, NAN}, {native_sin, NAN, NAN}, {native_sin, 0x1p-149f, 0x1p-149f},
    {native_sin, -0x1p-126f, -0x1p-126f},
    {native_cos, 0.0f, 1}, {native_cos, -0.0f, 1}, {native_cos, INFINITY, NAN},
    {native_cos, -INFINITY, NAN}, {native_cos, NAN, NAN}, {native_cos, 0x1p-149f, 1},
    {native_tanh, 0.0f, 0.0f}, {native_tanh, -0.0f, -0.0f}, {native_tanh, INFINITY, 1},
    {native_tanh, -INFINITY, -1}, {native_tanh, NAN, NAN}, {native_tanh, 0x1p-149f, 0x1p-149f},
    {native_tanh, 20, 1}, {native_tanh, -0x1.fffffep127f, -1},
    {native_rsqrt, 1, 1}, {native_rsqrt, 4, 0.5f}, {native_rsqrt, 0.0f, INFINITY},
    {native_rsqrt, -0.0f, -INFINITY}, {native_rsqrt, INFINITY, 0.0f}, {native_rsqrt, -1, NAN},
    {native_rsqrt, -INFINITY, NAN}, {native_rsqrt, NAN, NAN}, {native_rsqrt, 0x1p-148f, 0x1p74f},
};

static void special_values(void **state)
{
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        const struct special *s = &specials[i];
        float got = s->function(s->x);
        bool good = isnan(s->expected) ? isnan(got) : bits_of(got) == bits_of(s->expected);
        if (!good)
            fail_msg("row %zu: f(%a) = %a instead of %a", i, (double)s->x, (double)got,
                     (double)s->expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values),
        cmocka_unit_test(pow_special_values),
        cmocka_unit_test(one_argument_functions_keep_their_bounds),
        cmocka_unit_test(pow_keeps_its_bound),
    };
    return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
