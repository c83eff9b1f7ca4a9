/* SPDX-License-Identifier: Apache-2.0 */
/* cvt: between integers of all sizes, f16, bf16, f32 and f64, with each rounding, and saturation.
 * All lanes pass through 64 bits: read, converted by what the instruction says, written. */
#include <fenv.h>
#include <math.h>
#include "parser.h"
#include "warp.h"

typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t u64;

enum rounding {
    ROUND_NONE,
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_INTEGER = 8 /* added: to an integral value */
};

static void read_all(const warp *w, operand o, u64 *values)
{
    const void *at = source(w, o);
    if (o.width == 2)
        for (int i = 0; i < LANES; i++)
            values[i] = ((const uint16_t *)at)[i];
    else if (o.width == 4)
        for (int i = 0; i < LANES; i++)
            values[i] = ((const uint32_t *)at)[i];
    else
        memcpy(values, at, LANES * sizeof *values);
}

static void write_all(warp *w, operand o, uint32_t mask, const u64 *values)
{
    uint16_t halves[LANES];
    uint32_t words[LANES];
    if (o.width == 2) {
        for (int i = 0; i < LANES; i++)
            halves[i] = (uint16_t)values[i];
        put16(w, o, mask, halves);
    } else if (o.width == 4) {
        for (int i = 0; i < LANES; i++)
            words[i] = (uint32_t)values[i];
        put32(w, o, mask, words);
    } else {
        put64(w, o, mask, values);
    }
}

/* Values of the type's low bits, extended as its signs say. */
static void extend_all(u64 *values, unsigned size, bool is_signed)
{
    unsigned shift = 64 - 8 * size;
    if (is_signed)
        for (int i = 0; i < LANES; i++)
            values[i] = (u64)((s64)(values[i] << shift) >> shift);
    else
        for (int i = 0; i < LANES; i++)
            values[i] = values[i] << shift >> shift;
}

static u64 greatest(unsigned size, bool is_signed)
{
    return (UINT64_MAX >> (64 - 8 * size)) >> is_signed;
}

static void run_integers(warp *w, const instruction *in, uint32_t mask)
{
    u64 values[LANES];
    bool from_signed = type_signed(in->type_a), to_signed = type_signed(in->type_d);
    unsigned size = type_size(in->type_d);
    read_all(w, in->a, values);
    extend_all(values, type_size(in->type_a), from_signed);
    if (in->saturate) {
        u64 most = greatest(size, to_signed);
        for (int i = 0; i < LANES; i++) {
            bool negative = from_signed && (s64)values[i] < 0;
            if (negative && !to_signed)
                values[i] = 0;
            else if (negative && (s64)values[i] < -(s64)most - 1)
                values[i] = (u64)(-(s64)most - 1);
            else if (!negative && values[i] > most)
                values[i] = most;
        }
    }
    extend_all(values, size, to_signed);
    write_all(w, in->d, mask, values);
}

/* --- floats -------------------------------------------------------------------------------------
 */
static double from_small(uint32_t bits, int exponent_bits, int fraction_bits)
{
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double fraction = bits & ((1u << fraction_bits) - 1), value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - fraction_bits);
    else
        value = ldexp(fraction + (double)(1u << fraction_bits), exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

/* To 16 bits in one rounding, to nearest even or to zero. */
static u64 to_small(double value, int exponent_bits, int fraction_bits, unsigned rounding)
{
    if (isnan(value))
        return 0x7fff;
    u64 sign = signbit(value) ? 0x8000 : 0;
    u64 infinite = ((UINT64_C(1) << exponent_bits) - 1) << fraction_bits;
    value = fabs(value);
    if (isinf(value))
        return sign | infinite;
    if (value == 0)
        return sign;
    int exponent, bias = (1 << (exponent_bits - 1)) - 1;
    u64 whole = (u64)ldexp(frexp(value, &exponent), 53); /* value = whole * 2^(exponent - 53) */
    exponent--;
    int shift = 52 - fraction_bits;
    if (exponent < 1 - bias)
        shift += 1 - bias - exponent;
    if (shift > 62)
        shift = 62;
    u64 kept = whole >> shift, rest = whole & ((UINT64_C(1) << shift) - 1);
    u64 half = UINT64_C(1) << (shift - 1);
    if (rounding == ROUND_NEAREST && (rest > half || (rest == half && (kept & 1))))
        kept++;
    u64 bits = kept;
    if (exponent >= 1 - bias)
        bits += (u64)(exponent + bias - 1) << fraction_bits;
    if (bits >= infinite)
        bits = rounding == ROUND_NEAREST ? infinite : infinite - 1;
    return sign | bits;
}

static double from_float(u64 bits, unsigned type)
{
    uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    switch (type) {
    case TYPE_F16:
        return from_small(low & 0xffff, 5, 10);
    case TYPE_BF16:
        return from_small(low & 0xffff, 8, 7);
    case TYPE_F32:
        memcpy(&narrow, &low, 4);
        return narrow;
    default:
        memcpy(&wide, &bits, 8);
        return wide;
    }
}

float small_to_float(uint64_t bits, unsigned type)
{
    return (float)from_float(bits, type);
}

/* Under the host's rounding mode. */
static u64 to_float(double value, unsigned type, unsigned rounding)
{
    u64 bits = 0;
    switch (type) {
    case TYPE_F16:
        return to_small(value, 5, 10, rounding);
    case TYPE_BF16:
        return to_small(value, 8, 7, rounding);
    case TYPE_F32: {
        volatile double from = value;
        volatile float to = (float)from;
        float narrow = to;
        memcpy(&bits, &narrow, 4);
        return isnan(narrow) ? 0x7fffffff : bits;
    }
    default:
        memcpy(&bits, &value, 8);
        return bits;
    }
}

static double integral(double value, unsigned rounding)
{
    switch (rounding & 7) {
    case ROUND_NEAREST:
        return nearbyint(value);
    case ROUND_ZERO:
        return trunc(value);
    case ROUND_DOWN:
        return floor(value);
    default:
        return ceil(value);
    }
}

static void set_mode(unsigned rounding)
{
    static const int modes[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(modes[rounding & 7]);
}

static void run_floats(warp *w, const instruction *in, uint32_t mask)
{
    u64 values[LANES];
    bool whole = in->rounding & ROUND_INTEGER;
    read_all(w, in->a, values);
    for (int i = 0; i < LANES; i++) {
        double value = from_float(values[i], in->type_a);
        if (whole)
            value = integral(value, in->rounding);
        if (in->saturate)
            value = value > 0 ? (value < 1 ? value : 1) : 0; /* a NaN and -0 become +0 */
        if (!whole)
            set_mode(in->rounding);
        values[i] = to_float(value, in->type_d, in->rounding & 7);
        if (!whole)
            set_mode(ROUND_NONE);
    }
    write_all(w, in->d, mask, values);
}

/* The common ones. */
static void run_f32_f64(warp *w, const instruction *in, uint32_t mask)
{
    const double *a = source(w, in->a);
    uint32_t d[LANES];
    for (int i = 0; i < LANES; i++) {
        float value = (float)a[i];
        memcpy(&d[i], &value, 4);
        if (value != value)
            d[i] = 0x7fffffff;
    }
    put32(w, in->d, mask, d);
}

static void run_f64_f32(warp *w, const instruction *in, uint32_t mask)
{
    const float *a = source(w, in->a);
    u64 d[LANES];
    for (int i = 0; i < LANES; i++) {
        double value = a[i];
        memcpy(&d[i], &value, 8);
    }
    put64(w, in->d, mask, d);
}

/* Out of range is the nearest that there is. A NaN is 0, but between types of which one has 64 bits
 * (the float's, or the integer's) only the highest bit. */
static u64 to_integer(double value, unsigned type, unsigned from, unsigned rounding)
{
    unsigned size = type_size(type);
    bool is_signed = type_signed(type);
    u64 most = greatest(size, is_signed);
    if (isnan(value))
        return from != TYPE_F64 && size != 8 ? 0 : UINT64_C(1) << (8 * size - 1);
    value = integral(value, rounding);
    double limit = ldexp(1, (int)(8 * size) - is_signed);
    if (value >= limit)
        return most;
    if (is_signed)
        return value < -limit ? ~most : (u64)(s64)value;
    return value <= 0 ? 0 : (u64)value;
}

static void run_to_integer(warp *w, const instruction *in, uint32_t mask)
{
    u64 values[LANES];
    read_all(w, in->a, values);
    for (int i = 0; i < LANES; i++)
        values[i] =
            to_integer(from_float(values[i], in->type_a), in->type_d, in->type_a, in->rounding);
    extend_all(values, type_size(in->type_d), type_signed(in->type_d));
    write_all(w, in->d, mask, values);
}

static u64 integer_to_float(u64 value, bool is_signed, const instruction *in)
{
    u64 bits = 0;
    volatile s64 s = (s64)value;
    volatile u64 u = value;
    if (in->type_d == TYPE_F32) {
        volatile float to = is_signed ? (float)s : (float)u;
        float plain = to;
        memcpy(&bits, &plain, 4);
        return bits;
    }
    volatile double to = is_signed ? (double)s : (double)u;
    double plain = to;
    if (in->type_d == TYPE_F64) {
        memcpy(&bits, &plain, 8);
        return bits;
    }
    return to_float(plain, in->type_d, in->rounding);
}

static void run_from_integer(warp *w, const instruction *in, uint32_t mask)
{
    u64 values[LANES];
    bool is_signed = type_signed(in->type_a);
    read_all(w, in->a, values);
    extend_all(values, type_size(in->type_a), is_signed);
    set_mode(in->rounding);
    for (int i = 0; i < LANES; i++)
        values[i] = integer_to_float(values[i], is_signed, in);
    set_mode(ROUND_NONE);
    write_all(w, in->d, mask, values);
}

#define QUICK(X)                                                                                   \
    X(u64_u32, uint32_t, u64, 64, a[i])                                                            \
    X(s64_s32, s32, u64, 64, (u64)(s64)a[i])                                                       \
    X(u32_u64, u64, uint32_t, 32, (uint32_t)a[i])
#define X(id, A, D, bits, value)                                                                   \
    static void run_##id(warp *w, const instruction *in, uint32_t mask)                            \
    {                                                                                              \
        const A *a = source(w, in->a);                                                             \
        D d[LANES];                                                                                \
        for (int i = 0; i < LANES; i++)                                                            \
            d[i] = value;                                                                          \
        put##bits(w, in->d, mask, d);                                                              \
    }
QUICK(X)
#undef X

static void run_f32_s32(warp *w, const instruction *in, uint32_t mask)
{
    const s32 *a = source(w, in->a);
    uint32_t d[LANES];
    for (int i = 0; i < LANES; i++) {
        float value = (float)a[i];
        memcpy(&d[i], &value, 4);
    }
    put32(w, in->d, mask, d);
}

/* NULL when PTX has no such conversion. */
executor convert_executor(const instruction *in)
{
    unsigned to = in->type_d, from = in->type_a, rounding = in->rounding;
    bool whole = rounding & ROUND_INTEGER, to_float_type = type_float(to);
    if (!type_float(from) && !to_float_type) {
        if (rounding)
            return NULL;
        bool plain = !in->saturate;
        unsigned from_size = in->a.width == type_size(from) ? type_size(from) : 0;
        if (plain && from_size == 4 && to != TYPE_NONE && in->d.width == 8 && type_size(to) == 8)
            return type_signed(from) ? run_s64_s32 : run_u64_u32;
        if (plain && from_size == 8 && in->d.width == 4 && type_size(to) == 4)
            return run_u32_u64;
        return run_integers;
    }
    if (!type_float(from)) {
        if (!rounding || whole || in->saturate || (to == TYPE_BF16 && type_size(from) == 8) ||
            (type_size(to) == 2 && rounding > ROUND_ZERO))
            return NULL;
        return to == TYPE_F32 && from == TYPE_S32 && rounding == ROUND_NEAREST ? run_f32_s32
                                                                               : run_from_integer;
    }
    if (!to_float_type)
        return whole ? run_to_integer : NULL;
    if (type_size(to) > type_size(from))
        return !rounding || whole
                   ? (to == TYPE_F64 && from == TYPE_F32 && !whole && !in->saturate ? run_f64_f32
                                                                                    : run_floats)
                   : NULL;
    if (to == from)
        return !rounding || whole ? run_floats : NULL;
    if (!rounding || whole || (type_size(to) == 2 && rounding > ROUND_ZERO))
        return NULL;
    return to == TYPE_F32 && rounding == ROUND_NEAREST && !in->saturate ? run_f32_f64 : run_floats;
}

bool decode_convert(parser *p, statement *s)
{
    static const char *const modes[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
    if (strcmp(s->parts[0], "cvt") != 0)
        return false;
    instruction *in = s->in;
    for (unsigned i = 0; i < 8; i++)
        if (statement_part(s, modes[i]))
            in->rounding = (uint8_t)(i < 4 ? i + 1 : (i - 3) | ROUND_INTEGER);
    in->saturate = statement_part(s, "sat");
    type_kind to = statement_type(p, s), from = statement_type(p, s);
    statement_end(p, s);
    statement_count(p, s, 2, 2);
    in->type_d = (uint8_t)to;
    in->type_a = (uint8_t)from;
    if (to == TYPE_PRED || from == TYPE_PRED || s->arguments[0].kind != ARGUMENT_REGISTER)
        parser_fail(p, "'%s' is not emulated", s->mnemonic);
    in->d = s->arguments[0].place;
    unsigned size = type_size(from), width = size < 2 ? 2 : size;
    if (s->arguments[1].kind == ARGUMENT_REGISTER)
        in->a = s->arguments[1].place;
    else
        in->a = argument_operand(p, &s->arguments[1], width, type_float(from));
    if (in->d.width < type_size(to) || in->a.width < size || in->d.width == 1 || in->a.width == 1)
        parser_fail(p, "'%s' has a register that is too small", s->mnemonic);
    in->run = convert_executor(in);
    if (!in->run)
        parser_fail(p, "there is no '%s', or it is not emulated", s->mnemonic);
    return true;
}
