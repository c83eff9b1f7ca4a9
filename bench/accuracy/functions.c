/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of functions and the judge. The C library's binary64 functions err by less than 2^-50
 * of the result, so they decide nearly always; MPFR does where the exact value lies within 2^-46 of
 * a rounding boundary, or where the error may be a new maximum.
 */
#include "functions.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "native.h"

static double reference_rsqrt(double x) { return 1 / sqrt(x); }

const struct accuracy_function accuracy_functions[] = {
    {"exp", 0.72, native_exp, exp, mpfr_exp, NULL, NULL, NULL},
    {"exp2", 0.71, native_exp2, exp2, mpfr_exp2, NULL, NULL, NULL},
    {"log", 0.61, native_log, log, mpfr_log, NULL, NULL, NULL},
    {"log2", 0.68, native_log2, log2, mpfr_log2, NULL, NULL, NULL},
    {"sin", 0.78, native_sin, sin, mpfr_sin, NULL, NULL, NULL},
    {"cos", 0.78, native_cos, cos, mpfr_cos, NULL, NULL, NULL},
    {"tanh", 0.64, native_tanh, tanh, mpfr_tanh, NULL, NULL, NULL},
    {"rsqrt", 0.501, native_rsqrt, reference_rsqrt, mpfr_rec_sqrt, NULL, NULL, NULL},
    {"pow", 0.8, NULL, NULL, NULL, native_pow, pow, mpfr_pow},
};
const size_t accuracy_function_count = sizeof(accuracy_functions) / sizeof(accuracy_functions[0]);

float accuracy_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The distance of neighbouring binary32 numbers at x. */
static double spacing(float x)
{
    int exponent;
    (void)frexpf(isinf(x) ? 0x1.fffffep127f : x, &exponent);
    return ldexp(1, exponent < -125 || x == 0 ? -149 : exponent - 24);
}

/* Infinity counts as 2^128. */
static double number(float x) { return isinf(x) ? copysign(0x1p128, x) : x; }

/* The error of `got` in ulp by MPFR, and the correctly rounded result. */
static double exact_error(const struct accuracy_function *f, float x, float y, float got,
                          float *rounded)
{
    mpfr_t exact, a, b;
    mpfr_init2(exact, 200);
    mpfr_init2(a, 24);
    mpfr_init2(b, 24);
    mpfr_set_flt(a, x, MPFR_RNDN);
    mpfr_set_flt(b, y, MPFR_RNDN);
    if (f->exact2 != NULL)
        f->exact2(exact, a, b, MPFR_RNDN);
    else
        f->exact(exact, a, MPFR_RNDN);
    *rounded = mpfr_get_flt(exact, MPFR_RNDN);
    mpfr_sub_d(exact, exact, number(got), MPFR_RNDN);
    double error = fabs(mpfr_get_d(exact, MPFR_RNDN)) / spacing(*rounded);
    mpfr_clears(exact, a, b, (mpfr_ptr)0);
    return error;
}

void accuracy_measure(const struct accuracy_function *f, float x, float y,
                      struct accuracy_stats *stats)
{
    float got = f->function2 != NULL ? f->function2(x, y) : f->function(x);
    double reference = f->reference2 != NULL ? f->reference2(x, y) : f->reference(x);
    float rounded = (float)reference;
    double error;

    stats->count++;
    if (isnan(got) || isnan(rounded)) {
        error = isnan(got) && isnan(rounded) ? 0 : INFINITY;
    } else if (isinf(reference) || reference == 0) {
        /* Exact, or beyond binary64 on the same side. */
        error = fabs(number(got) - number(rounded)) / spacing(rounded);
    } else {
        bool close = (float)(reference * (1 - 0x1p-46)) != (float)(reference * (1 + 0x1p-46));
        error = isinf(got) && isinf(rounded)
                    ? 0 : fabs(number(got) - reference) / spacing(rounded);
        if (close || error > stats->worst_ulp - 1e-6) {
            error = exact_error(f, x, y, got, &rounded);
            error = isinf(got) && isinf(rounded) ? 0 : error;
        }
    }
    if (got == 0 && rounded == 0 && signbit(got) != signbit(rounded))
        error = INFINITY;
    stats->misrounded += got != rounded && !(isnan(got) && isnan(rounded));
    if (error > stats->worst_ulp) {
        stats->worst_ulp = error;
        stats->worst_x = x;
        stats->worst_y = y;
    }
}

void accuracy_merge(struct accuracy_stats *a, const struct accuracy_stats *b)
{
    a->count += b->count;
    a->misrounded += b->misrounded;
    if (b->worst_ulp > a->worst_ulp) {
        a->worst_ulp = b->worst_ulp;
        a->worst_x = b->worst_x;
        a->worst_y = b->worst_y;
    }
}

void accuracy_pow_sample(uint64_t index, float *x, float *y)
{
    ls__rng rng = {index};
    uint64_t bits = ls__rng_u64(&rng);
    *x = accuracy_float((uint32_t)bits);
    *y = accuracy_float((uint32_t)(bits >> 32));
    double binary_log = (double)(bits >> 32) * (280.0 / 4294967296.0) - 151;
    switch (index % 4) {
    case 0:
        break;
    case 1:
        *x = fabsf(*x);
        *y = (float)(binary_log / log2(*x));
        break;
    case 2:
        *x = 1 + ldexpf((float)(int32_t)(uint32_t)bits, -32 - (int)ls__rng_below(&rng, 24));
        *y = (float)(binary_log / log2(*x));
        break;
    default:
        *y = 0.5f * ((float)ls__rng_below(&rng, 65) - 32);
        break;
    }
}
