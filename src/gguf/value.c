/* SPDX-License-Identifier: Apache-2.0 */
/* Items of metadata as numbers and texts. They lie in the file without alignment. */
#include <string.h>

#include "gguf/reader.h"

typedef struct number {
    enum { NO_NUMBER, UNSIGNED, SIGNED, REAL } is;
    uint64_t bits; /* extended to 64 bits by its sign */
    double real;
} number;

static number real(double value)
{
    return (number){REAL, 0, value};
}

static number number_at(const ls_gguf_value *value, uint64_t index)
{
    uint32_t bytes = value ? ls__gguf_kind_bytes(value->kind) : 0;
    uint64_t raw = 0;
    float f32;
    double f64;
    if (!bytes || index >= value->count)
        return (number){0};
    memcpy(&raw, (const uint8_t *)value->bytes + index * bytes, bytes);
    switch (value->kind) {
    case LS_GGUF_I8:
        return (number){SIGNED, (uint64_t)(int8_t)raw, 0};
    case LS_GGUF_I16:
        return (number){SIGNED, (uint64_t)(int16_t)raw, 0};
    case LS_GGUF_I32:
        return (number){SIGNED, (uint64_t)(int32_t)raw, 0};
    case LS_GGUF_I64:
        return (number){SIGNED, raw, 0};
    case LS_GGUF_F32:
        memcpy(&f32, &raw, sizeof f32);
        return real((double)f32);
    case LS_GGUF_F64:
        memcpy(&f64, &raw, sizeof f64);
        return real(f64);
    default:
        return (number){UNSIGNED, raw, 0};
    }
}

bool ls_gguf_unsigned(const ls_gguf_value *value, uint64_t index, uint64_t *result)
{
    number n = number_at(value, index);
    *result = 0;
    if (n.is == NO_NUMBER || n.is == REAL || (n.is == SIGNED && n.bits >> 63))
        return false;
    *result = n.bits;
    return true;
}

bool ls_gguf_signed(const ls_gguf_value *value, uint64_t index, int64_t *result)
{
    number n = number_at(value, index);
    *result = 0;
    if (n.is == NO_NUMBER || n.is == REAL || (n.is == UNSIGNED && n.bits >> 63))
        return false;
    *result = (int64_t)n.bits;
    return true;
}

bool ls_gguf_float(const ls_gguf_value *value, uint64_t index, double *result)
{
    number n = number_at(value, index);
    *result = n.is == REAL ? n.real : n.is == SIGNED ? (double)(int64_t)n.bits : (double)n.bits;
    return n.is != NO_NUMBER;
}

bool ls_gguf_text(const ls_gguf_value *value, uint64_t index, const char **text, uint64_t *length)
{
    *text = "";
    *length = 0;
    if (!value || value->kind != LS_GGUF_STRING || index >= value->count)
        return false;
    const uint8_t *at = (const uint8_t *)value->bytes + value->places[index];
    memcpy(length, at, 8);
    *text = (const char *)at + 8;
    return true;
}
