/* SPDX-License-Identifier: Apache-2.0 */
/* See text.h. Decimals are handled in integers: neither locale nor rounding mode comes in. */
#include "ir/text.h"

bool ls__ir_text_starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool ls__ir_text_in_word(char c)
{
    return ls__ir_text_starts_word(c) || (c >= '0' && c <= '9') || c == '.';
}

static const char *name_at(const char *const *names, size_t count, uint64_t index)
{
    return index < count ? names[index] : "?";
}

#define X(name, text) text,
const char *ls__ir_id_name(uint64_t id)
{
    static const char *const names[] = {LS_ID_TABLE(X)};
    return name_at(names, LS_ID_COUNT, id);
}

const char *ls__ir_atomic_name(uint64_t atomic)
{
    static const char *const names[] = {LS_ATOMIC_TABLE(X)};
    return name_at(names, LS_ATOMIC_COUNT, atomic);
}

const char *ls__ir_reduce_name(uint64_t reduce)
{
    static const char *const names[] = {LS_REDUCE_TABLE(X)};
    return name_at(names, LS_REDUCE_COUNT, reduce);
}
#undef X

const char *ls__ir_base_name(ls_base_kind kind)
{
    static const char *const names[] = {"none", "buffer", "shared", "local", "const"};
    return name_at(names, sizeof names / sizeof *names, kind);
}

enum { MILLION = 1000000 };

/* The value is significand * 2^exponent with an odd significand. It is a whole number of millionths
 * when 2^-exponent divides significand * 10^6, so when exponent is at least -6. */
bool ls__ir_text_millionths(ls_type type, uint64_t bits, int64_t *millionths)
{
    int mantissa_bits = type == LS_TYPE_F64 ? 52 : 23;
    int bias = type == LS_TYPE_F64 ? 1023 : 127;
    uint64_t sign = UINT64_C(1) << (type == LS_TYPE_F64 ? 63 : 31);
    uint64_t magnitude = bits & (sign - 1);
    *millionths = 0;
    if (bits == 0)
        return true;
    int exponent = (int)(magnitude >> mantissa_bits) - bias - mantissa_bits;
    if (magnitude >> mantissa_bits == 0)
        return false; /* -0 or subnormal */
    uint64_t significand =
        (magnitude & ((UINT64_C(1) << mantissa_bits) - 1)) | UINT64_C(1) << mantissa_bits;
    int zeros = __builtin_ctzll(significand);
    significand >>= zeros;
    exponent += zeros;
    if (exponent < -6 || exponent > 19 || significand >> 24)
        return false;
    uint64_t scaled = significand * MILLION; /* below 2^44 */
    scaled = exponent < 0 ? scaled >> -exponent : scaled << exponent;
    if (scaled >= (uint64_t)MILLION * MILLION)
        return false;
    *millionths = bits & sign ? -(int64_t)scaled : (int64_t)scaled;
    return true;
}

bool ls__ir_text_from_millionths(ls_type type, int64_t millionths, uint64_t *bits)
{
    uint64_t magnitude = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;
    *bits = 0;
    if (magnitude == 0)
        return true;
    if (magnitude >= (uint64_t)MILLION * MILLION)
        return false;
    /* value = magnitude / 10^6 = (magnitude * 2^6 / 10^6) * 2^-6 when the division is exact. */
    if ((magnitude << 6) % MILLION != 0)
        return false;
    uint64_t significand = (magnitude << 6) / MILLION;
    int top = 63 - __builtin_clzll(significand);
    if (top - __builtin_ctzll(significand) > 23)
        return false; /* not exact in f32 */
    int mantissa_bits = type == LS_TYPE_F64 ? 52 : 23;
    int bias = type == LS_TYPE_F64 ? 1023 : 127;
    int shift = mantissa_bits - top;
    uint64_t mantissa = shift < 0 ? significand >> -shift : significand << shift;
    uint64_t field = (uint64_t)(top - 6 + bias);
    uint64_t sign = UINT64_C(1) << (type == LS_TYPE_F64 ? 63 : 31);
    mantissa &= (UINT64_C(1) << mantissa_bits) - 1;
    *bits = (millionths < 0 ? sign : 0) | field << mantissa_bits | mantissa;
    return true;
}
