/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of many words: additions, subtractions and products that read and write each lane's
 * carry. A borrow is a carry of 1. */
#include "warp.h"

typedef uint32_t u32;
typedef uint64_t u64;

static u64 high_product(u64 x, u64 y, unsigned bits)
{
    return bits == 32 ? x * y >> 32 : (u64)((unsigned __int128)x * y >> 64);
}

/* x + y + in, and x - y - in; both give whether they left the range of T */
#define DEFINE_STEPS(T)                                                                            \
    static T add_##T(T x, T y, u32 in, u32 *out)                                                   \
    {                                                                                              \
        T sum = (T)(x + y), all = (T)(sum + in);                                                   \
        *out = sum < x || all < sum;                                                               \
        return all;                                                                                \
    }                                                                                              \
    static T sub_##T(T x, T y, u32 in, u32 *out)                                                   \
    {                                                                                              \
        *out = x < y || (x == y && in);                                                            \
        return (T)(x - y - in);                                                                    \
    }
DEFINE_STEPS(u32)
DEFINE_STEPS(u64)

/* id, mnemonic's parts, whether the carry is read and written, the step and its operands */
#define CARRIES(X, T, bits, type, w)                                                               \
    X(add_cc, "add.cc." #type, w w w, T, bits, type, 0, 1, add_##T(x, y, in, &out))                \
    X(addc, "addc." #type, w w w, T, bits, type, 1, 0, add_##T(x, y, in, &out))                    \
    X(addc_cc, "addc.cc." #type, w w w, T, bits, type, 1, 1, add_##T(x, y, in, &out))              \
    X(sub_cc, "sub.cc." #type, w w w, T, bits, type, 0, 1, sub_##T(x, y, in, &out))                \
    X(subc, "subc." #type, w w w, T, bits, type, 1, 0, sub_##T(x, y, in, &out))                    \
    X(subc_cc, "subc.cc." #type, w w w, T, bits, type, 1, 1, sub_##T(x, y, in, &out))              \
    X(mad_cc, "mad.lo.cc." #type, w w w w, T, bits, type, 0, 1, add_##T((T)(x * y), z, in, &out))  \
    X(madc, "madc.lo." #type, w w w w, T, bits, type, 1, 0, add_##T((T)(x * y), z, in, &out))      \
    X(madc_cc, "madc.lo.cc." #type, w w w w, T, bits, type, 1, 1, add_##T((T)(x * y), z, in, &out))

/* Of unsigned numbers alone */
#define HIGH(X, T, bits, type, w)                                                                  \
    X(mad_hi_cc, "mad.hi.cc." #type, w w w w, T, bits, type, 0, 1,                                 \
      add_##T((T)high_product(x, y, bits), z, in, &out))                                           \
    X(madc_hi, "madc.hi." #type, w w w w, T, bits, type, 1, 0,                                     \
      add_##T((T)high_product(x, y, bits), z, in, &out))                                           \
    X(madc_hi_cc, "madc.hi.cc." #type, w w w w, T, bits, type, 1, 1,                               \
      add_##T((T)high_product(x, y, bits), z, in, &out))

#define ALL(X)                                                                                     \
    CARRIES(X, u32, 32, u32, "4")                                                                  \
    CARRIES(X, u32, 32, s32, "4")                                                                  \
    CARRIES(X, u64, 64, u64, "8")                                                                  \
    CARRIES(X, u64, 64, s64, "8")                                                                  \
    HIGH(X, u32, 32, u32, "4")                                                                     \
    HIGH(X, u64, 64, u64, "8")

#define X(id, mnemonic, widths, T, bits, type, reads, writes, value)                               \
    static void run_##id##_##type(warp *w, const instruction *in_, uint32_t mask)                  \
    {                                                                                              \
        const T *a = source(w, in_->a), *b = source(w, in_->b), *c = source(w, in_->c);            \
        T d[LANES];                                                                                \
        u32 carry = 0;                                                                             \
        (void)c;                                                                                   \
        for (int i = 0; i < LANES; i++) {                                                          \
            T x = a[i], y = b[i], z = c[i];                                                        \
            u32 in = reads ? w->carry >> i & 1 : 0, out = 0;                                       \
            (void)z;                                                                               \
            d[i] = value;                                                                          \
            carry |= out << i;                                                                     \
        }                                                                                          \
        if (writes)                                                                                \
            w->carry = (w->carry & ~mask) | (carry & mask);                                        \
        put##bits(w, in_->d, mask, d);                                                             \
    }
ALL(X)
#undef X

const form carry_forms[] = {
#define X(id, mnemonic, widths, T, bits, type, reads, writes, value)                               \
    {mnemonic, run_##id##_##type, widths},
    ALL(X)
#undef X
        {NULL, NULL, NULL},
};
