/* SPDX-License-Identifier: Apache-2.0 */
/* Text and numbers to the bytes of one element. */
#include "cli/value.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/cli.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes are written as the host has them");

static const ls__cli_type types[LS_MEM_COUNT] = {
    [LS_MEM_NONE] = {"struct", 0, 'V', "void", false},
    [LS_MEM_BOOL] = {"bool", 1, 'b', "bool", false},
    [LS_MEM_I8] = {"i8", 1, 'i', "int8", false},
    [LS_MEM_U8] = {"u8", 1, 'u', "uint8", false},
    [LS_MEM_I16] = {"i16", 2, 'i', "int16", false},
    [LS_MEM_U16] = {"u16", 2, 'u', "uint16", false},
    [LS_MEM_I32] = {"i32", 4, 'i', "int32", false},
    [LS_MEM_U32] = {"u32", 4, 'u', "uint32", false},
    [LS_MEM_I64] = {"i64", 8, 'i', "int64", false},
    [LS_MEM_U64] = {"u64", 8, 'u', "uint64", false},
    [LS_MEM_F16] = {"f16", 2, 'f', "float16", true},
    [LS_MEM_BF16] = {"bf16", 2, 'u', "uint16", true},
    [LS_MEM_F32] = {"f32", 4, 'f', "float32", true},
    [LS_MEM_F64] = {"f64", 8, 'f', "float64", true},
};

const ls__cli_type *ls__cli_type_of(ls_mem mem)
{
    return &types[mem];
}

ls_mem ls__cli_type_find(const char *name, size_t length)
{
    for (int mem = LS_MEM_NONE + 1; mem < LS_MEM_COUNT; mem++)
        if (strlen(types[mem].name) == length && memcmp(types[mem].name, name, length) == 0)
            return (ls_mem)mem;
    return LS_MEM_NONE;
}

/* Rounds to a 16-bit float with `fraction_bits` and the smallest normal exponent `least`. Scaling
 * by powers of two is exact, so the one rounding is that of rint. Overflow gives infinity. */
static uint16_t round_to_half(double value, int fraction_bits, int least)
{
    unsigned infinity = (unsigned)(3 - 2 * least) << fraction_bits;
    unsigned sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value))
        return (uint16_t)(infinity | 1u << (fraction_bits - 1));
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    int exponent = magnitude > 0 ? ilogb(magnitude) : least;
    if (exponent < least)
        exponent = least;
    if (exponent > 1 - least)
        return (uint16_t)(sign | infinity);
    /* A significand that rounds up to the next power of two carries into the exponent by itself;
     * a subnormal has no leading one to take away. */
    unsigned significand = (unsigned)rint(ldexp(magnitude, fraction_bits - exponent));
    unsigned bits = ((unsigned)(exponent - least) << fraction_bits) + significand;
    return (uint16_t)(sign | bits);
}

/* Returns false when a finite value became infinite. */
static bool put_float(ls_mem mem, double value, void *out)
{
    if (mem == LS_MEM_F64) {
        memcpy(out, &value, sizeof value);
        return true;
    }
    if (mem == LS_MEM_F32) {
        float narrow = (float)value;
        memcpy(out, &narrow, sizeof narrow);
        return !isinf(narrow) || isinf(value);
    }
    uint16_t bits =
        mem == LS_MEM_F16 ? round_to_half(value, 10, -14) : round_to_half(value, 7, -126);
    uint16_t infinity = mem == LS_MEM_F16 ? 0x7c00 : 0x7f80;
    memcpy(out, &bits, sizeof bits);
    return (bits & 0x7fff) != infinity || isinf(value);
}

/* A double that rounds to fewer digits as the number in the text does: where that lies between two
 * doubles, the odd one, which is never a tie. */
static double parse_to_odd(const char *text, char **end)
{
    int mode = fegetround();
    fesetround(FE_DOWNWARD);
    double low = strtod(text, end);
    fesetround(FE_UPWARD);
    double high = strtod(text, end);
    fesetround(mode);
    uint64_t bits;
    memcpy(&bits, &low, sizeof bits);
    return bits & 1 ? low : high;
}

static ls_status parse_float(ls_mem mem, const char *text, void *out, ls_error *error)
{
    char *end;
    /* Each rounds once only: by way of a double that is itself rounded it would be twice. */
    double value = mem == LS_MEM_F64   ? strtod(text, &end)
                   : mem == LS_MEM_F32 ? (double)strtof(text, &end)
                                       : parse_to_odd(text, &end);
    if (!*text || isspace((unsigned char)*text) || *end)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is not a number", text);
    bool names_infinity = strchr(text, 'n') || strchr(text, 'N');
    if (!put_float(mem, value, out) || (isinf(value) && !names_infinity))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s is out of range for %s", text,
                        types[mem].name);
    if (isnan(value)) /* there is one NaN, and it has no sign */
        put_float(mem, (double)NAN, out);
    return LS_OK;
}

static ls_status parse_bool(const char *text, void *out, ls_error *error)
{
    bool is_true = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!is_true && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is not a bool: true, false, 1 or 0",
                        text);
    memcpy(out, &is_true, 1);
    return LS_OK;
}

ls_status ls__cli_value_parse(ls_mem mem, const char *text, void *out, ls_error *error)
{
    const ls__cli_type *type = &types[mem];
    if (mem == LS_MEM_BOOL)
        return parse_bool(text, out, error);
    if (type->is_float)
        return parse_float(mem, text, out, error);

    int64_t value;
    bool is_signed = type->npy_kind == 'i';
    uint64_t most = UINT64_MAX >> (64 - 8 * type->bytes);
    uint64_t high = is_signed ? most >> 1 : most;
    uint64_t low = is_signed ? high + 1 : 0;
    ls_status status = ls__cli_parse_integer(text, low, high, &value, error);
    if (status == LS_OK)
        memcpy(out, &value, type->bytes);
    return status;
}

void ls__cli_value_from_integer(ls_mem mem, uint64_t value, void *out)
{
    const ls__cli_type *type = &types[mem];
    float narrow = (float)value;
    if (mem == LS_MEM_F32)
        memcpy(out, &narrow, sizeof narrow);
    else if (type->is_float)
        put_float(mem, (double)value, out);
    else if (mem == LS_MEM_BOOL)
        memcpy(out, (uint8_t[]){value & 1}, 1);
    else
        memcpy(out, &value, type->bytes);
}

void ls__cli_value_from_random(ls_mem mem, uint64_t bits, void *out)
{
    static const int digits[LS_MEM_COUNT] = {
        [LS_MEM_F16] = 11, [LS_MEM_BF16] = 8, [LS_MEM_F32] = 24, [LS_MEM_F64] = 53};
    if (digits[mem])
        put_float(mem, ldexp((double)(bits >> (64 - digits[mem])), -digits[mem]), out);
    else
        ls__cli_value_from_integer(mem, bits >> (64 - 8 * types[mem].bytes), out);
}
