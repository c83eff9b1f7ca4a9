/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the math library, built natively through lockstep/kernel.h, next to what they
 * are measured against: the C library in binary64, and MPFR where 53 bits cannot tell. Used by the
 * exhaustive benchmark in this folder and by tests/math.
 *
 * An error is counted in ulp: |result - exact| over the distance of neighbouring binary32 numbers
 * at the correctly rounded result, which is 2^-149 below 2^-126. Infinity as a result counts as
 * 2^128.
 */
#ifndef BENCH_ACCURACY_FUNCTIONS_H
#define BENCH_ACCURACY_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpfr.h>

/* Either the three members for one argument are set, or those for two. */
struct accuracy_function {
    const char *name;
    double stated_ulp; /* the bound that docs/numerics-math.md gives */
    float (*function)(float x);
    double (*reference)(double x);
    int (*exact)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
    float (*function2)(float x, float y);
    double (*reference2)(double x, double y);
    int (*exact2)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding);
};

extern const struct accuracy_function accuracy_functions[];
extern const size_t accuracy_function_count;

/* What one thread or one test has seen of one function; zero it with ACCURACY_STATS_INIT. */
struct accuracy_stats {
    uint64_t count;
    uint64_t misrounded; /* not the correctly rounded result */
    double worst_ulp;    /* starts at one half, which every function comes close to */
    float worst_x;
    float worst_y;
};
#define ACCURACY_STATS_INIT {.worst_ulp = 0.5}

/* Evaluates f at x (and y, if it takes two) and counts the result in. A NaN where a number is due,
 * a number where NaN is due, or a zero of the wrong sign is an infinite error. */
void accuracy_measure(const struct accuracy_function *f, float x, float y,
                      struct accuracy_stats *stats);

/* Adds b to a. */
void accuracy_merge(struct accuracy_stats *a, const struct accuracy_stats *b);

/* The index-th sample for pow: random bit patterns; x anywhere with the result in range; x next to
 * 1 with the result in range; small multiples of one half as y. */
void accuracy_pow_sample(uint64_t index, float *x, float *y);

float accuracy_float(uint32_t bits);

#endif
