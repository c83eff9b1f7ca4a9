/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic rounded to zero, down and up, by the host's rounding mode. Operands and results pass
 * through volatile objects, so that nothing moves across the changes of the mode. */
#include <fenv.h>
#include <math.h>
#include "warp.h"

#define OPERATIONS(X)                                                                              \
    X(add, "444", "888", a + b, a + b)                                                             \
    X(sub, "444", "888", a - b, a - b)                                                             \
    X(mul, "444", "888", a *b, a *b)                                                               \
    X(div, "444", "888", a / b, a / b)                                                             \
    X(fma, "4444", "8888", fmaf(a, b, c), fma(a, b, c))                                            \
    X(rcp, "44", "88", 1 / a, 1 / a)                                                               \
    X(sqrt, "44", "88", sqrtf(a), sqrt(a))

#define MODES(X, name, widths32, widths64, value32, value64)                                       \
    X(name, rz, FE_TOWARDZERO, float, uint32_t, 32, value32)                                       \
    X(name, rm, FE_DOWNWARD, float, uint32_t, 32, value32)                                         \
    X(name, rp, FE_UPWARD, float, uint32_t, 32, value32)                                           \
    X(name, rz, FE_TOWARDZERO, double, uint64_t, 64, value64)                                      \
    X(name, rm, FE_DOWNWARD, double, uint64_t, 64, value64)                                        \
    X(name, rp, FE_UPWARD, double, uint64_t, 64, value64)

#define DEFINE(name, mode, round, F, U, bits, value)                                               \
    static void run_##name##_##mode##_##bits(warp *w, const instruction *in, uint32_t mask)        \
    {                                                                                              \
        const F *x = source(w, in->a), *y = source(w, in->b), *z = source(w, in->c);               \
        U d[LANES] = {0};                                                                          \
        fesetround(round);                                                                         \
        for (int i = 0; i < LANES; i++) {                                                          \
            volatile F va = x[i], vb = y[i], vc = z[i], result;                                    \
            F a = va, b = vb, c = vc;                                                              \
            (void)b, (void)c;                                                                      \
            result = value;                                                                        \
            F plain = result;                                                                      \
            memcpy(&d[i], &plain, sizeof plain);                                                   \
            if (bits == 32 && isnan(plain))                                                        \
                d[i] = 0x7fffffff;                                                                 \
        }                                                                                          \
        fesetround(FE_TONEAREST);                                                                  \
        put##bits(w, in->d, mask, d);                                                              \
    }
#define X(name, widths32, widths64, value32, value64)                                              \
    MODES(DEFINE, name, widths32, widths64, value32, value64)
OPERATIONS(X)
#undef X

const form rounded_forms[] = {
#define X(name, widths32, widths64, value32, value64)                                              \
    {#name ".rz.f32", run_##name##_rz_32, widths32},                                               \
        {#name ".rm.f32", run_##name##_rm_32, widths32},                                           \
        {#name ".rp.f32", run_##name##_rp_32, widths32},                                           \
        {#name ".rz.f64", run_##name##_rz_64, widths64},                                           \
        {#name ".rm.f64", run_##name##_rm_64, widths64},                                           \
        {#name ".rp.f64", run_##name##_rp_64, widths64},
    OPERATIONS(X)
#undef X
        {NULL, NULL, NULL},
};
