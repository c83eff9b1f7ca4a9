/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sine, cosine and powers in double precision, of + - * / alone, so that every machine gets the
 * same bits; a C library is free to differ. Errors are a few units in the last place of a double,
 * far below that of the floats that are made of them.
 */
#include "llm/rope.h"

#include <string.h>

#include "base/os.h"

/* Natural logarithm of x >= 1: x = 2^k m, m from sqrt(1/2) to sqrt(2); log m = 2 artanh s. */
static double logarithm(double x)
{
    int k = 0;
    for (; x > 1.4142135623730951; x = x * 0.5)
        k++;
    double s = (x - 1) / (x + 1), square = s * s, sum = 0;
    for (int i = 29; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return (double)k * 0.6931471805599453 + 2 * s * sum;
}

/* e^x for x <= 0: x = k log 2 + r, |r| <= log 2 / 2, and the Taylor series of r. */
static double exponential(double x)
{
    int k = (int)(x / 0.6931471805599453 - 0.5);
    /* log 2 in two parts; k times the first is exact. */
    double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33, sum = 0;
    for (int i = 18; i >= 1; i--)
        sum = (sum + 1) * r / i;
    sum = sum + 1;
    for (; k < 0; k++)
        sum = sum * 0.5;
    return sum;
}

static double series(double square, double first, int from)
{
    double sum = 0;
    for (int i = from + 18; i > from; i -= 2)
        sum = (sum + 1) * -square / (i * (i - 1));
    return first * (sum + 1);
}

/* x >= 0 and below 2^26: x = k pi/2 + r, with pi/2 in three parts of which k times the first two is
 * exact. */
static void sine_and_cosine(double x, double *sine, double *cosine)
{
    int64_t k = (int64_t)(x * 0.6366197723675814 + 0.5);
    double n = (double)k;
    double r = ((x - n * 0x1.921fb4p0) - n * 0x1.4442d0p-24) - n * 0x1.8469898cc5170p-48;
    double s = series(r * r, r, 1), c = series(r * r, 1, 0);
    double sines[4] = {s, c, -s, -c}, cosines[4] = {c, -s, -c, s};
    *sine = sines[k & 3];
    *cosine = cosines[k & 3];
}

void ls__rope_table(const ls__rope *rope, uint32_t first, uint32_t count, float *table)
{
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    double log_base = logarithm(rope->base);
    uint32_t pairs = rope->pairs;
    for (uint32_t i = 0; i < pairs; i++) {
        double stretch = rope->factor * (rope->factors ? (double)rope->factors[i] : 1);
        double frequency = exponential(-(double)i / (double)pairs * log_base) / stretch;
        for (uint32_t p = 0; p < count; p++) {
            double sine, cosine;
            sine_and_cosine((double)(first + p) * frequency, &sine, &cosine);
            float *at = table + (uint64_t)p * pairs * 2 + (rope->halves ? i : i * 2);
            at[0] = (float)cosine;
            at[rope->halves ? pairs : 1] = (float)sine;
        }
    }
    ls__os_fenv_leave(&saved);
}
