/* SPDX-License-Identifier: Apache-2.0 */
/* The math library as ordinary functions; native.c alone includes lockstep/kernel.h, whose macros
 * would get in the way of <math.h>. */
#ifndef BENCH_ACCURACY_NATIVE_H
#define BENCH_ACCURACY_NATIVE_H

float native_exp(float x);
float native_exp2(float x);
float native_log(float x);
float native_log2(float x);
float native_sin(float x);
float native_cos(float x);
float native_tanh(float x);
float native_rsqrt(float x);
float native_pow(float x, float y);

#endif
