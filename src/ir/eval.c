/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of every pure operation: the interpreter runs it, the folder folds with it, tests
 * hold other code against it. docs/numerics.md says the same in words.
 *
 * Integers are computed unsigned at 64 bits and cut to their width. Conversions between formats are
 * done on integers (unpack, pack), so no compiler's or library's idea of a cast or of rounding
 * comes in. What remains of floating point is + - * / fma sqrt and rounding to integral, which IEEE
 * 754 fixes; the caller has set the default floating-point environment. NaNs are canonical only
 * where the contract says so; elsewhere any NaN is right and its bits must not be looked at.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/ir.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float expressions must be computed in their own format");

/* --- float formats ---------------------------------------------------------------------------- */

typedef struct format {
    int exponent_bits, mantissa_bits;
} format;

static const format binary16 = {5, 10}, bfloat16 = {8, 7}, binary32 = {8, 23}, binary64 = {11, 52};

typedef enum kind { FINITE, INFINITE, NAN_KIND } kind;

typedef struct unpacked { /* (negative ? -1 : 1) * significand * 2^exponent when FINITE */
    kind kind;
    bool negative;
    int exponent;
    uint64_t significand;
} unpacked;

static uint64_t infinity_bits(format f)
{
    return ((UINT64_C(1) << f.exponent_bits) - 1) << f.mantissa_bits;
}

static uint64_t nan_bits(format f)
{
    return infinity_bits(f) | UINT64_C(1) << (f.mantissa_bits - 1);
}

static bool is_nan(format f, uint64_t bits)
{
    uint64_t magnitude = bits & ((UINT64_C(1) << (f.exponent_bits + f.mantissa_bits)) - 1);
    return magnitude > infinity_bits(f);
}

static uint64_t canonical(format f, uint64_t bits)
{
    return is_nan(f, bits) ? nan_bits(f) : bits;
}

static unpacked unpack(format f, uint64_t bits)
{
    unpacked u = {FINITE, (bits >> (f.exponent_bits + f.mantissa_bits) & 1) != 0, 0, 0};
    int field = (int)(bits >> f.mantissa_bits & ((UINT64_C(1) << f.exponent_bits) - 1));
    u.significand = bits & ((UINT64_C(1) << f.mantissa_bits) - 1);
    if (field == (1 << f.exponent_bits) - 1) {
        u.kind = u.significand ? NAN_KIND : INFINITE;
        return u;
    }
    if (field != 0)
        u.significand |= UINT64_C(1) << f.mantissa_bits;
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    u.exponent = (field ? field : 1) - bias - f.mantissa_bits;
    return u;
}

/* value / 2^shift, to nearest, ties to even. */
static uint64_t shift_nearest_even(uint64_t value, int shift)
{
    if (shift > 64)
        return 0;
    if (shift == 64)
        return value > UINT64_C(1) << 63;
    uint64_t kept = value >> shift;
    uint64_t rest = value & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

static uint64_t pack(format f, unpacked u)
{
    uint64_t sign = (uint64_t)u.negative << (f.exponent_bits + f.mantissa_bits);
    if (u.kind == NAN_KIND)
        return nan_bits(f);
    if (u.kind == INFINITE)
        return sign | infinity_bits(f);
    if (u.significand == 0)
        return sign;
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int highest = 63 - __builtin_clzll(u.significand) + u.exponent; /* weight of the top bit */
    if (highest > bias)
        return sign | infinity_bits(f);
    int exponent = highest > 1 - bias ? highest : 1 - bias; /* the smallest serves subnormals too */
    int shift = exponent - f.mantissa_bits - u.exponent;
    uint64_t mantissa =
        shift > 0 ? shift_nearest_even(u.significand, shift) : u.significand << -shift;
    /* The leading bit, when there, adds one to the exponent field; so does a carry of rounding. */
    uint64_t magnitude = ((uint64_t)(exponent + bias - 1) << f.mantissa_bits) + mantissa;
    return sign | magnitude; /* a carry out of the largest number is exactly infinity */
}

static format format_of(ls_type type)
{
    return type == LS_TYPE_F64 ? binary64 : binary32;
}

/* --- integers --------------------------------------------------------------------------------- */

static uint64_t cut(uint64_t value, unsigned width)
{
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static int64_t sign_extend(uint64_t value, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((cut(value, width) ^ sign) - sign);
}

static uint64_t mulhi(uint64_t a, uint64_t b, unsigned width, bool is_signed)
{
    if (!is_signed)
        return (uint64_t)((unsigned __int128)a * b >> width);
    return (uint64_t)((__int128)sign_extend(a, width) * sign_extend(b, width) >> width);
}

static uint64_t clamp_signed(__int128 value, unsigned width)
{
    __int128 limit = (__int128)1 << (width - 1);
    if (value < -limit)
        value = -limit;
    if (value > limit - 1)
        value = limit - 1;
    return cut((uint64_t)value, width);
}

static uint64_t clamp_unsigned(__int128 value, unsigned width)
{
    __int128 limit = (__int128)1 << width;
    if (value < 0)
        value = 0;
    if (value > limit - 1)
        value = limit - 1;
    return (uint64_t)value;
}

static uint64_t divide(uint64_t a, uint64_t b, unsigned width, bool is_signed)
{
    if (b == 0)
        return a;
    if (!is_signed)
        return a / b;
    int64_t divisor = sign_extend(b, width);
    return divisor == -1 ? 0 - a : (uint64_t)(sign_extend(a, width) / divisor);
}

static uint64_t remainder_of(uint64_t a, uint64_t b, unsigned width, bool is_signed)
{
    if (b == 0)
        return 0;
    if (!is_signed)
        return a % b;
    int64_t divisor = sign_extend(b, width);
    return divisor == -1 ? 0 : (uint64_t)(sign_extend(a, width) % divisor);
}

static uint64_t shift_right_signed(uint64_t a, unsigned count, unsigned width)
{
    uint64_t value = (uint64_t)sign_extend(a, width);
    uint64_t ones = (value >> 63) && count ? ~(UINT64_MAX >> count) : 0;
    return value >> count | ones;
}

static uint64_t rotate_left(uint64_t a, unsigned count, unsigned width)
{
    return count == 0 ? a : a << count | a >> (width - count);
}

static uint64_t count_leading_zeros(uint64_t a, unsigned width)
{
    return a == 0 ? width : (uint64_t)__builtin_clzll(a) - (64 - width);
}

static uint64_t count_trailing_zeros(uint64_t a, unsigned width)
{
    return a == 0 ? width : (uint64_t)__builtin_ctzll(a);
}

static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c, bool a_signed)
{
    uint64_t sum = c;
    for (unsigned i = 0; i < 32; i += 8) {
        int64_t left = a_signed ? sign_extend(a >> i, 8) : (int64_t)(a >> i & 0xff);
        sum += (uint64_t)(left * sign_extend(b >> i, 8));
    }
    return sum;
}

/* --- floats ----------------------------------------------------------------------------------- */

static float to_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double to_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t from_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t from_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t arithmetic_f32(ls_op op, float a, float b, float c)
{
    switch (op) {
    case LS_OP_FADD:
        return from_f32(a + b);
    case LS_OP_FSUB:
        return from_f32(a - b);
    case LS_OP_FMUL:
        return from_f32(a * b);
    case LS_OP_FDIV:
        return from_f32(a / b);
    case LS_OP_FMA:
        return from_f32(fmaf(a, b, c));
    case LS_OP_FSQRT:
        return from_f32(sqrtf(a));
    case LS_OP_FFLOOR:
        return from_f32(floorf(a));
    case LS_OP_FCEIL:
        return from_f32(ceilf(a));
    case LS_OP_FTRUNC:
        return from_f32(truncf(a));
    case LS_OP_FRINT:
        return from_f32(rintf(a));
    default:
        return 0;
    }
}

static uint64_t arithmetic_f64(ls_op op, double a, double b, double c)
{
    switch (op) {
    case LS_OP_FADD:
        return from_f64(a + b);
    case LS_OP_FSUB:
        return from_f64(a - b);
    case LS_OP_FMUL:
        return from_f64(a * b);
    case LS_OP_FDIV:
        return from_f64(a / b);
    case LS_OP_FMA:
        return from_f64(fma(a, b, c));
    case LS_OP_FSQRT:
        return from_f64(sqrt(a));
    case LS_OP_FFLOOR:
        return from_f64(floor(a));
    case LS_OP_FCEIL:
        return from_f64(ceil(a));
    case LS_OP_FTRUNC:
        return from_f64(trunc(a));
    case LS_OP_FRINT:
        return from_f64(rint(a));
    default:
        return 0;
    }
}

static uint64_t arithmetic(ls_op op, ls_type type, uint64_t a, uint64_t b, uint64_t c)
{
    if (type == LS_TYPE_F64)
        return arithmetic_f64(op, to_f64(a), to_f64(b), to_f64(c));
    return arithmetic_f32(op, to_f32(a), to_f32(b), to_f32(c));
}

/* A number as an integer that sorts like it, -0 below +0. */
static int64_t order_key(format f, uint64_t bits)
{
    uint64_t sign = UINT64_C(1) << (f.exponent_bits + f.mantissa_bits);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? ~magnitude : magnitude;
}

static uint64_t float_min_max(format f, uint64_t a, uint64_t b, bool is_max)
{
    if (is_nan(f, a))
        return b;
    if (is_nan(f, b))
        return a;
    bool a_less = order_key(f, a) < order_key(f, b);
    return a_less != is_max ? a : b;
}

typedef enum relation { LESS, EQUAL, GREATER, UNORDERED } relation;

static relation compare(format f, uint64_t a, uint64_t b)
{
    if (is_nan(f, a) || is_nan(f, b))
        return UNORDERED;
    uint64_t sign = UINT64_C(1) << (f.exponent_bits + f.mantissa_bits);
    if (a == b || ((a | b) & (sign - 1)) == 0)
        return EQUAL;
    return order_key(f, a) < order_key(f, b) ? LESS : GREATER;
}

/* --- conversions ------------------------------------------------------------------------------ */

static uint64_t int_to_float(format f, uint64_t a, unsigned width, bool is_signed)
{
    bool negative = is_signed && sign_extend(a, width) < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)sign_extend(a, width) : a;
    return pack(f, (unpacked){FINITE, negative, 0, magnitude});
}

/* |value| cut to an integer; UINT64_MAX also stands for everything larger. */
static uint64_t integral_magnitude(unpacked u)
{
    if (u.kind == INFINITE)
        return UINT64_MAX;
    if (u.significand == 0 || u.exponent <= -64)
        return 0;
    if (u.exponent <= 0)
        return u.significand >> -u.exponent;
    return u.exponent > __builtin_clzll(u.significand) ? UINT64_MAX : u.significand << u.exponent;
}

static uint64_t float_to_int(unpacked u, unsigned bits, unsigned width, bool is_signed)
{
    if (u.kind == NAN_KIND || bits == 0 || bits > 64)
        return 0;
    uint64_t magnitude = integral_magnitude(u);
    uint64_t max = UINT64_MAX >> (64 - bits);
    if (!is_signed)
        return u.negative ? 0 : (magnitude < max ? magnitude : max);
    max >>= 1;
    if (u.negative)
        return cut(0 - (magnitude < max + 1 ? magnitude : max + 1), width);
    return magnitude < max ? magnitude : max;
}

static uint64_t convert(format from, format to, uint64_t bits)
{
    return pack(to, unpack(from, bits));
}

/* --- addresses -------------------------------------------------------------------------------- */

static uint64_t index_offset(int64_t offset, int64_t index, uint64_t stride, uint64_t count)
{
    if (offset == LS_NOWHERE)
        return (uint64_t)LS_NOWHERE;
    if (count != 0 && (index < 0 || (uint64_t)index >= count))
        return (uint64_t)LS_NOWHERE;
    __int128 product, sum;
    if (__builtin_mul_overflow((__int128)index, (__int128)stride, &product) ||
        __builtin_add_overflow(product, (__int128)offset, &sum) || sum < INT64_MIN ||
        sum > INT64_MAX)
        return (uint64_t)LS_NOWHERE;
    return (uint64_t)(int64_t)sum;
}

/* --- the table of operations ------------------------------------------------------------------ */

/* `a`, `b` are cut to `width` already; the caller cuts the result. */
static uint64_t eval_integer(ls_op op, unsigned width, uint64_t a, uint64_t b)
{
    int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
    unsigned count = (unsigned)b & (width - 1);
    switch (op) {
    case LS_OP_ADD:
        return a + b;
    case LS_OP_SUB:
        return a - b;
    case LS_OP_MUL:
        return a * b;
    case LS_OP_SDIV:
        return divide(a, b, width, true);
    case LS_OP_UDIV:
        return divide(a, b, width, false);
    case LS_OP_SREM:
        return remainder_of(a, b, width, true);
    case LS_OP_UREM:
        return remainder_of(a, b, width, false);
    case LS_OP_SHL:
        return a << count;
    case LS_OP_LSHR:
        return a >> count;
    case LS_OP_ASHR:
        return shift_right_signed(a, count, width);
    case LS_OP_ROTL:
        return rotate_left(a, count, width);
    case LS_OP_SMIN:
        return sa < sb ? a : b;
    case LS_OP_SMAX:
        return sa > sb ? a : b;
    case LS_OP_UMIN:
        return a < b ? a : b;
    case LS_OP_UMAX:
        return a > b ? a : b;
    case LS_OP_MULHI_S:
        return mulhi(a, b, width, true);
    case LS_OP_MULHI_U:
        return mulhi(a, b, width, false);
    case LS_OP_ADD_SAT_S:
        return clamp_signed((__int128)sa + sb, width);
    case LS_OP_ADD_SAT_U:
        return clamp_unsigned((__int128)a + b, width);
    case LS_OP_SUB_SAT_S:
        return clamp_signed((__int128)sa - sb, width);
    case LS_OP_SUB_SAT_U:
        return clamp_unsigned((__int128)a - b, width);
    case LS_OP_POPCOUNT:
        return (uint64_t)__builtin_popcountll(a);
    case LS_OP_CLZ:
        return count_leading_zeros(a, width);
    case LS_OP_CTZ:
        return count_trailing_zeros(a, width);
    case LS_OP_SEXT8:
        return (uint64_t)sign_extend(a, 8);
    case LS_OP_ZEXT8:
        return cut(a, 8);
    case LS_OP_SEXT16:
        return (uint64_t)sign_extend(a, 16);
    case LS_OP_ZEXT16:
        return cut(a, 16);
    default:
        return 0;
    }
}

static uint64_t eval_float(ls_op op, ls_type type, uint64_t a, uint64_t b, uint64_t c)
{
    format f = format_of(type);
    uint64_t sign = UINT64_C(1) << (f.exponent_bits + f.mantissa_bits);
    switch (op) {
    case LS_OP_FMIN:
        return float_min_max(f, a, b, false);
    case LS_OP_FMAX:
        return float_min_max(f, a, b, true);
    case LS_OP_FNEG:
        return a ^ sign;
    case LS_OP_FABS:
        return a & (sign - 1);
    case LS_OP_FCANON:
    case LS_OP_FBITS:
        return canonical(f, a);
    case LS_OP_FEQ:
        return compare(f, a, b) == EQUAL;
    case LS_OP_FNE:
        return compare(f, a, b) != EQUAL;
    case LS_OP_FLT:
        return compare(f, a, b) == LESS;
    case LS_OP_FLE:
        return compare(f, a, b) == LESS || compare(f, a, b) == EQUAL;
    default:
        return arithmetic(op, type, a, b, c);
    }
}

static unsigned width_of(ls_type type)
{
    return type == LS_TYPE_BOOL ? 1 : type == LS_TYPE_I64 || type == LS_TYPE_F64 ? 64 : 32;
}

uint64_t ls__ir_eval(const ls__ir_inst *inst, ls_type arg_type, const uint64_t *args)
{
    ls_op op = (ls_op)inst->op;
    unsigned width = width_of(arg_type);
    uint64_t a = inst->arg_count > 0 ? args[0] : 0;
    uint64_t b = inst->arg_count > 1 ? args[1] : 0;
    uint64_t c = inst->arg_count > 2 ? args[2] : 0;

    switch (op) {
    case LS_OP_CONST:
        return inst->imm;
    case LS_OP_AND:
        return a & b;
    case LS_OP_OR:
        return a | b;
    case LS_OP_XOR:
        return a ^ b;
    case LS_OP_NOT:
        return cut(~a, width);
    case LS_OP_DOT4_SS:
        return cut(dot4(a, b, c, true), 32);
    case LS_OP_DOT4_US:
        return cut(dot4(a, b, c, false), 32);

    case LS_OP_EQ:
        return a == b;
    case LS_OP_NE:
        return a != b;
    case LS_OP_SLT:
        return sign_extend(a, width) < sign_extend(b, width);
    case LS_OP_SLE:
        return sign_extend(a, width) <= sign_extend(b, width);
    case LS_OP_ULT:
        return a < b;
    case LS_OP_ULE:
        return a <= b;
    case LS_OP_SELECT:
        return a ? b : c;

    case LS_OP_SEXT:
        return (uint64_t)sign_extend(a, 32);
    case LS_OP_ZEXT:
    case LS_OP_TRUNC:
        return cut(a, 32);
    case LS_OP_B2I:
        return a;
    case LS_OP_S2F:
    case LS_OP_U2F:
        return int_to_float(format_of((ls_type)inst->type), a, width, op == LS_OP_S2F);
    case LS_OP_F2S:
    case LS_OP_F2U:
        return float_to_int(unpack(format_of(arg_type), a), (unsigned)inst->imm,
                            width_of((ls_type)inst->type), op == LS_OP_F2S);
    case LS_OP_F2F:
        return convert(format_of(arg_type), format_of((ls_type)inst->type), a);
    case LS_OP_F16_TO_F32:
        return convert(binary16, binary32, cut(a, 16));
    case LS_OP_F32_TO_F16:
        return convert(binary32, binary16, a);
    case LS_OP_BF16_TO_F32:
        return cut(a, 16) << 16;
    case LS_OP_F32_TO_BF16:
        return convert(binary32, bfloat16, a);
    case LS_OP_FRAWBITS:
    case LS_OP_FFROM_BITS:
        return a;
    case LS_OP_INDEX:
        return index_offset((int64_t)a, (int64_t)b, inst->imm, inst->imm2);

    case LS_OP_ADD:
    case LS_OP_SUB:
    case LS_OP_MUL:
    case LS_OP_SDIV:
    case LS_OP_UDIV:
    case LS_OP_SREM:
    case LS_OP_UREM:
    case LS_OP_SHL:
    case LS_OP_LSHR:
    case LS_OP_ASHR:
    case LS_OP_ROTL:
    case LS_OP_SMIN:
    case LS_OP_SMAX:
    case LS_OP_UMIN:
    case LS_OP_UMAX:
    case LS_OP_MULHI_S:
    case LS_OP_MULHI_U:
    case LS_OP_ADD_SAT_S:
    case LS_OP_ADD_SAT_U:
    case LS_OP_SUB_SAT_S:
    case LS_OP_SUB_SAT_U:
    case LS_OP_POPCOUNT:
    case LS_OP_CLZ:
    case LS_OP_CTZ:
    case LS_OP_SEXT8:
    case LS_OP_ZEXT8:
    case LS_OP_SEXT16:
    case LS_OP_ZEXT16:
        return cut(eval_integer(op, width, a, b), width);

    case LS_OP_FADD:
    case LS_OP_FSUB:
    case LS_OP_FMUL:
    case LS_OP_FDIV:
    case LS_OP_FMA:
    case LS_OP_FSQRT:
    case LS_OP_FMIN:
    case LS_OP_FMAX:
    case LS_OP_FNEG:
    case LS_OP_FABS:
    case LS_OP_FFLOOR:
    case LS_OP_FCEIL:
    case LS_OP_FTRUNC:
    case LS_OP_FRINT:
    case LS_OP_FCANON:
    case LS_OP_FBITS:
    case LS_OP_FEQ:
    case LS_OP_FNE:
    case LS_OP_FLT:
    case LS_OP_FLE:
        return eval_float(op, arg_type, a, b, c);

    /* Not functions of their operands alone. */
    case LS_OP_NONE:
    case LS_OP_PARAM:
    case LS_OP_ID:
    case LS_OP_RANGE:
    case LS_OP_LOAD:
    case LS_OP_STORE:
    case LS_OP_ATOMIC:
    case LS_OP_ATOMIC_CAS:
    case LS_OP_VAR_GET:
    case LS_OP_VAR_SET:
    case LS_OP_SG_SHUFFLE:
    case LS_OP_SG_BROADCAST:
    case LS_OP_SG_REDUCE:
    case LS_OP_SG_BALLOT:
    case LS_OP_WG_UNIFORM:
    case LS_OP_BARRIER:
    case LS_OP_GRID_BARRIER:
    case LS_OP_TRAP:
    case LS_OP_CALL:
    case LS_OP_IF:
    case LS_OP_LOOP:
    case LS_OP_SWITCH:
    case LS_OP_BLOCK:
    case LS_OP_BREAK:
    case LS_OP_CONTINUE:
    case LS_OP_WHILE:
    case LS_OP_RETURN:
    case LS_OP_COUNT:
        break;
    }
    assert(false && "not an operation on values");
    return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

uint64_t ls__ir_load_bits(ls_mem mem, const uint8_t *bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < ls__ir_mem_bytes(mem); i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    if (mem == LS_MEM_BOOL)
        return value != 0;
    if (mem == LS_MEM_I8 || mem == LS_MEM_I16)
        return cut((uint64_t)sign_extend(value, mem == LS_MEM_I8 ? 8 : 16), 32);
    return value;
}

uint64_t ls__ir_canonical(ls_type type, uint64_t bits)
{
    return type == LS_TYPE_F32   ? canonical(binary32, bits)
           : type == LS_TYPE_F64 ? canonical(binary64, bits)
                                 : bits;
}

static uint64_t canonical_in_memory(ls_mem mem, uint64_t value)
{
    switch (mem) {
    case LS_MEM_F16:
        return canonical(binary16, cut(value, 16));
    case LS_MEM_BF16:
        return canonical(bfloat16, cut(value, 16));
    case LS_MEM_F32:
        return canonical(binary32, cut(value, 32));
    case LS_MEM_F64:
        return canonical(binary64, value);
    default:
        return value;
    }
}

void ls__ir_store_bits(ls_mem mem, uint8_t *bytes, uint64_t value, bool raw)
{
    if (!raw)
        value = canonical_in_memory(mem, value);
    for (uint32_t i = 0; i < ls__ir_mem_bytes(mem); i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}
