/* SPDX-License-Identifier: Apache-2.0 */
/* Fields, counts and permutations of bits. */
#include "warp.h"

typedef uint32_t u32;
typedef uint64_t u64;

static u64 reversed(u64 x, int bits)
{
    u64 result = 0;
    for (int i = 0; i < bits; i++)
        result |= (x >> i & 1) << (bits - 1 - i);
    return result;
}

static u32 leading_zeros(u64 x, u32 bits)
{
    u32 count = 0;
    while (count < bits && !(x >> (bits - 1 - count) & 1))
        count++;
    return count;
}

/* The place of the highest bit that is not the sign's, or its distance from the top. */
static u32 find_bit(u64 x, u32 bits, bool is_signed, bool amount)
{
    if (is_signed && x >> (bits - 1) & 1)
        x = ~x & (bits == 64 ? UINT64_MAX : UINT32_MAX);
    u32 zeros = leading_zeros(x, bits);
    if (zeros == bits)
        return UINT32_MAX;
    return amount ? zeros : bits - 1 - zeros;
}

/* Positions and lengths count in their low 8 bits. What lies above the top is the sign. */
static u64 extract(u64 x, u32 position, u32 length, u32 bits, bool is_signed)
{
    position &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    u32 last = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
    u64 sign = is_signed ? x >> last & 1 : 0, result = 0;
    for (u32 i = 0; i < bits; i++) {
        u64 bit = i < length && position + i < bits ? x >> (position + i) & 1 : sign;
        result |= bit << i;
    }
    return result;
}

static u64 insert(u64 from, u64 into, u32 position, u32 length, u32 bits)
{
    position &= 255;
    length &= 255;
    for (u32 i = 0; i < length && position + i < bits; i++) {
        u64 bit = UINT64_C(1) << (position + i);
        into = (into & ~bit) | ((from >> i & 1) << (position + i));
    }
    return into;
}

static u32 permuted(u32 a, u32 b, u32 control)
{
    u64 bytes = (u64)b << 32 | a;
    u32 result = 0;
    for (int i = 0; i < 4; i++) {
        u32 which = control >> i * 4 & 15;
        u32 byte = (u32)(bytes >> (which & 7) * 8 & 255);
        if (which & 8) /* the sign of the byte, eight times */
            byte = byte & 128 ? 255 : 0;
        result |= byte << i * 8;
    }
    return result;
}

static u32 permuted_mode(u32 a, u32 b, u32 c, int mode)
{
    static const unsigned short controls[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    return permuted(a, b, controls[mode][c & 3]);
}

static u32 funnel(u32 low, u32 high, u32 n, bool left, bool wrap)
{
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    u64 both = (u64)high << 32 | low;
    return left ? (u32)(both << n >> 32) : (u32)(both >> n);
}

static u32 mixed(u32 a, u32 b, u32 c, u32 table)
{
    u32 result = 0;
    for (u32 i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

static u32 mask_of(u32 position, u32 length, bool wrap)
{
    if (wrap) {
        position &= 31;
        length &= 31;
    }
    u64 ones = length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return position > 31 ? 0 : (u32)(ones << position);
}

#define BITS(X)                                                                                    \
    X(brev_32, "brev.b32", "44", u32, u32, u32, u32, u32, (u32)reversed(x, 32))                    \
    X(brev_64, "brev.b64", "88", u64, u64, u32, u32, u32, reversed(x, 64))                         \
    X(popc_32, "popc.b32", "44", u32, u32, u32, u32, u32, (u32)__builtin_popcount(x))              \
    X(popc_64, "popc.b64", "48", u32, u64, u32, u32, u32, (u32)__builtin_popcountll(x))            \
    X(clz_32, "clz.b32", "44", u32, u32, u32, u32, u32, leading_zeros(x, 32))                      \
    X(clz_64, "clz.b64", "48", u32, u64, u32, u32, u32, leading_zeros(x, 64))                      \
    X(bfind_u32, "bfind.u32", "44", u32, u32, u32, u32, u32, find_bit(x, 32, 0, 0))                \
    X(bfind_s32, "bfind.s32", "44", u32, u32, u32, u32, u32, find_bit(x, 32, 1, 0))                \
    X(bfind_u64, "bfind.u64", "48", u32, u64, u32, u32, u32, find_bit(x, 64, 0, 0))                \
    X(bfind_s64, "bfind.s64", "48", u32, u64, u32, u32, u32, find_bit(x, 64, 1, 0))                \
    X(bfind_a_u32, "bfind.shiftamt.u32", "44", u32, u32, u32, u32, u32, find_bit(x, 32, 0, 1))     \
    X(bfind_a_s32, "bfind.shiftamt.s32", "44", u32, u32, u32, u32, u32, find_bit(x, 32, 1, 1))     \
    X(bfind_a_u64, "bfind.shiftamt.u64", "48", u32, u64, u32, u32, u32, find_bit(x, 64, 0, 1))     \
    X(bfind_a_s64, "bfind.shiftamt.s64", "48", u32, u64, u32, u32, u32, find_bit(x, 64, 1, 1))     \
    X(bfe_u32, "bfe.u32", "4444", u32, u32, u32, u32, u32, (u32)extract(x, y, z, 32, 0))           \
    X(bfe_s32, "bfe.s32", "4444", u32, u32, u32, u32, u32, (u32)extract(x, y, z, 32, 1))           \
    X(bfe_u64, "bfe.u64", "8844", u64, u64, u32, u32, u32, extract(x, y, z, 64, 0))                \
    X(bfe_s64, "bfe.s64", "8844", u64, u64, u32, u32, u32, extract(x, y, z, 64, 1))                \
    X(bfi_32, "bfi.b32", "44444", u32, u32, u32, u32, u32, (u32)insert(x, y, z, t, 32))            \
    X(bfi_64, "bfi.b64", "88844", u64, u64, u64, u32, u32, insert(x, y, z, t, 64))                 \
    X(prmt, "prmt.b32", "4444", u32, u32, u32, u32, u32, permuted(x, y, z))                        \
    X(prmt_f4e, "prmt.b32.f4e", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 0))        \
    X(prmt_b4e, "prmt.b32.b4e", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 1))        \
    X(prmt_rc8, "prmt.b32.rc8", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 2))        \
    X(prmt_ecl, "prmt.b32.ecl", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 3))        \
    X(prmt_ecr, "prmt.b32.ecr", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 4))        \
    X(prmt_rc16, "prmt.b32.rc16", "4444", u32, u32, u32, u32, u32, permuted_mode(x, y, z, 5))      \
    X(shf_l_wrap, "shf.l.wrap.b32", "4444", u32, u32, u32, u32, u32, funnel(x, y, z, 1, 1))        \
    X(shf_l_clamp, "shf.l.clamp.b32", "4444", u32, u32, u32, u32, u32, funnel(x, y, z, 1, 0))      \
    X(shf_r_wrap, "shf.r.wrap.b32", "4444", u32, u32, u32, u32, u32, funnel(x, y, z, 0, 1))        \
    X(shf_r_clamp, "shf.r.clamp.b32", "4444", u32, u32, u32, u32, u32, funnel(x, y, z, 0, 0))      \
    X(lop3, "lop3.b32", "44444", u32, u32, u32, u32, u32, mixed(x, y, z, t))                       \
    X(szext_wrap_u, "szext.wrap.u32", "444", u32, u32, u32, u32, u32,                              \
      (u32)extract(x, 0, y & 31, 32, 0))                                                           \
    X(szext_wrap_s, "szext.wrap.s32", "444", u32, u32, u32, u32, u32,                              \
      (u32)extract(x, 0, y & 31, 32, 1))                                                           \
    X(bmsk_clamp, "bmsk.clamp.b32", "444", u32, u32, u32, u32, u32, mask_of(x, y, 0))              \
    X(bmsk_wrap, "bmsk.wrap.b32", "444", u32, u32, u32, u32, u32, mask_of(x, y, 1))

#define X(id, mnemonic, widths, D, A, B, C, E, value)                                              \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const A *a = source(w, in->a);                                                             \
        const B *b = source(w, in->b);                                                             \
        const C *c = source(w, in->c);                                                             \
        const E *e = source(w, in->e);                                                             \
        D d[LANES];                                                                                \
        (void)b, (void)c, (void)e;                                                                 \
        for (int i = 0; i < LANES; i++) {                                                          \
            A x = a[i];                                                                            \
            B y = b[i];                                                                            \
            C z = c[i];                                                                            \
            E t = e[i];                                                                            \
            (void)y, (void)z, (void)t;                                                             \
            d[i] = value;                                                                          \
        }                                                                                          \
        _Generic(d[0], u32 : put32, u64 : put64)(w, in->d, mask, (const void *)d);                 \
    }
BITS(X)
#undef X

const form bit_forms[] = {
#define X(id, mnemonic, widths, D, A, B, C, E, value) {mnemonic, run_##id, widths},
    BITS(X)
#undef X
        {NULL, NULL, NULL},
};
