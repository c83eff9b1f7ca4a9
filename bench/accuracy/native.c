/* SPDX-License-Identifier: Apache-2.0 */
/* The math library, compiled from its Kernel C sources by the C compiler. */
#include "native.h"

#include "lockstep/kernel.h"

float native_exp(float x) { return exp(x); }
float native_exp2(float x) { return exp2(x); }
float native_log(float x) { return log(x); }
float native_log2(float x) { return log2(x); }
float native_sin(float x) { return sin(x); }
float native_cos(float x) { return cos(x); }
float native_tanh(float x) { return tanh(x); }
float native_rsqrt(float x) { return rsqrt(x); }
float native_pow(float x, float y) { return pow(x, y); }
