/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device may lack, as a mask: emitters and devices say which bits they need, and src/pass/
 * has a lower_* pass for each.
 */
#ifndef LS_IR_LOWERING_H
#define LS_IR_LOWERING_H

/* What a device lacks: bits of a mask. X(name, bit, text) */
#define LS__LOWER_TABLE(X)                                                                         \
    X(BOUNDS, 0, "index and range checks become compares and selects; accesses INBOUNDS")          \
    X(NAN, 1, "float stores, fbits: fcanon made explicit, then compares and selects")              \
    X(FMA, 2, "fma by integer arithmetic (f32 and f64)")                                           \
    X(DIV, 3, "fdiv by integer arithmetic")                                                        \
    X(SQRT, 4, "fsqrt by integer arithmetic")                                                      \
    X(CONVERT, 5, "f16/bf16 conversions, f2s/f2u saturation, s2f/u2f by integer arithmetic")       \
    X(MINMAX, 6, "fmin/fmax by compares and bits")                                                 \
    X(ROUND, 7, "ffloor, fceil, ftrunc, frint by integer arithmetic")                              \
    X(INTEGER, 8,                                                                                  \
      "total division/remainder by guards; mulhi, saturation, rotate, popcount, clz, ctz by "      \
      "basic ops")                                                                                 \
    X(DOT4, 9, "dot4 by byte extraction and multiplication")                                       \
    X(SUBGROUP, 10,                                                                                \
      "subgroup operations, ballot and wg_uniform through shared memory and barriers")             \
    X(GRID_BARRIER, 11, "kernel split at grid barriers, live values in a scratch buffer")          \
    X(MEMORY, 12, "1- and 2-byte stores as atomics on words")                                      \
    X(INT64, 13, "i64 arithmetic on i32 pairs")
enum {
#define X(name, bit, text) LS__LOWER_##name = 1u << (bit),
    LS__LOWER_TABLE(X)
#undef X
};

#endif
