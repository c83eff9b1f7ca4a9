/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks to f32. The order of the operations is part of the format (docs/gguf.md): scale times
 * sub-block scale first, rounded to f32, then times the integer, then the minimum subtracted.
 */
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "gguf/blocks.h"
#include "gguf/reader.h"

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* NaN has one bit pattern (docs/numerics.md). */
static float canonical(float value)
{
    return value != value ? from_bits(UINT32_C(0x7fc00000)) : value;
}

static float from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31,
             fraction = half & 1023;
    if (exponent == 31)
        return canonical(from_bits(sign | UINT32_C(0x7f800000) | fraction << 13));
    if (exponent)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction * 0x1p-24f;
    return sign ? -small : small;
}

static const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};

static void of_f32(const ls__block_f32 *block, float *y)
{
    *y = canonical(*block);
}

static void of_f16(const ls__block_f16 *block, float *y)
{
    *y = from_f16(*block);
}

static void of_bf16(const ls__block_bf16 *block, float *y)
{
    *y = canonical(from_bits((uint32_t)*block << 16));
}

static void of_q4_0(const ls__block_q4_0 *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((block->quants[i] & 15) - 8) * scale;
        y[i + 16] = (float)((block->quants[i] >> 4) - 8) * scale;
    }
}

static void of_q4_1(const ls__block_q4_1 *block, float *y)
{
    float scale = from_f16(block->scale), minimum = from_f16(block->minimum);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)(block->quants[i] & 15) * scale + minimum;
        y[i + 16] = (float)(block->quants[i] >> 4) * scale + minimum;
    }
}

/* 5-bit element i. */
static int of_5_bits(const uint8_t *quants, const uint8_t *high, int i)
{
    int low = i < 16 ? quants[i] & 15 : quants[i - 16] >> 4;
    return low | (high[i / 8] >> i % 8 & 1) << 4;
}

static void of_q5_0(const ls__block_q5_0 *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 32; i++)
        y[i] = (float)(of_5_bits(block->quants, block->high, i) - 16) * scale;
}

static void of_q5_1(const ls__block_q5_1 *block, float *y)
{
    float scale = from_f16(block->scale), minimum = from_f16(block->minimum);
    for (int i = 0; i < 32; i++)
        y[i] = (float)of_5_bits(block->quants, block->high, i) * scale + minimum;
}

static void of_q8_0(const ls__block_q8_0 *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 32; i++)
        y[i] = (float)block->quants[i] * scale;
}

static int of_2_bits(const uint8_t *quants, int i)
{
    return quants[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

static void of_q2_k(const ls__block_q2_k *block, float *y)
{
    float scale = from_f16(block->scale), minimum = from_f16(block->minimum);
    for (int i = 0; i < 256; i++) {
        uint8_t both = block->scales[i / 16];
        float sub = scale * (float)(both & 15), least = minimum * (float)(both >> 4);
        y[i] = sub * (float)of_2_bits(block->quants, i) - least;
    }
}

static void of_q3_k(const ls__block_q3_k *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 256; i++) {
        int group = i / 16;
        int low = group < 8 ? block->scales[group] & 15 : block->scales[group - 8] >> 4;
        int high = block->scales[8 + group % 4] >> group / 4 * 2 & 3;
        float sub = scale * (float)((low | high << 4) - 32);
        int above = block->high[i % 32] >> i / 32 & 1;
        y[i] = sub * (float)(of_2_bits(block->quants, i) - (above ? 0 : 4));
    }
}

/* Scale and minimum of group j of 8, 6 bits each, of q4_k and q5_k. */
static void of_6_bit_scales(const uint8_t *scales, int j, int *scale, int *minimum)
{
    if (j < 4) {
        *scale = scales[j] & 63;
        *minimum = scales[j + 4] & 63;
    } else {
        *scale = (scales[j + 4] & 15) | scales[j - 4] >> 6 << 4;
        *minimum = scales[j + 4] >> 4 | scales[j] >> 6 << 4;
    }
}

static void of_q4_k(const ls__block_q4_k *block, float *y)
{
    for (int i = 0; i < 256; i++) {
        int sub, least, byte = block->quants[i / 64 * 32 + i % 32];
        of_6_bit_scales(block->scales, i / 32, &sub, &least);
        float scale = from_f16(block->scale) * (float)sub;
        float minimum = from_f16(block->minimum) * (float)least;
        y[i] = scale * (float)(i % 64 < 32 ? byte & 15 : byte >> 4) - minimum;
    }
}

static void of_q5_k(const ls__block_q5_k *block, float *y)
{
    for (int i = 0; i < 256; i++) {
        int sub, least, byte = block->quants[i / 64 * 32 + i % 32];
        of_6_bit_scales(block->scales, i / 32, &sub, &least);
        float scale = from_f16(block->scale) * (float)sub;
        float minimum = from_f16(block->minimum) * (float)least;
        int quant = (i % 64 < 32 ? byte & 15 : byte >> 4) | (block->high[i % 32] >> i / 32 & 1)
                                                                << 4;
        y[i] = scale * (float)quant - minimum;
    }
}

static void of_q6_k(const ls__block_q6_k *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 256; i++) {
        int half = i / 128, in_half = i % 128;
        int byte = block->low[half * 64 + in_half % 64];
        int low = in_half < 64 ? byte & 15 : byte >> 4;
        int high = block->high[half * 32 + in_half % 32] >> in_half / 32 * 2 & 3;
        float sub = scale * (float)block->scales[i / 16];
        y[i] = sub * (float)((low | high << 4) - 32);
    }
}

static void of_iq4_nl(const ls__block_iq4_nl *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 16; i++) {
        y[i] = scale * (float)iq4_values[block->quants[i] & 15];
        y[i + 16] = scale * (float)iq4_values[block->quants[i] >> 4];
    }
}

static void of_iq4_xs(const ls__block_iq4_xs *block, float *y)
{
    float scale = from_f16(block->scale);
    for (int i = 0; i < 256; i++) {
        int group = i / 32, byte = block->quants[group * 16 + i % 16];
        int low = block->scales_low[group / 2] >> group % 2 * 4 & 15;
        int high = block->scales_high >> group * 2 & 3;
        float sub = scale * (float)((low | high << 4) - 32);
        y[i] = sub * (float)iq4_values[i % 32 < 16 ? byte & 15 : byte >> 4];
    }
}

static ls_status check_range(const ls_gguf_tensor *tensor, uint64_t first, uint64_t count,
                             const float *values, ls_error *error)
{
    uint32_t elements, bytes;
    if (!tensor || (!values && count))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "tensor or values is NULL");
    ls_gguf_type_block(tensor->type, &elements, &bytes);
    if (first > tensor->elements || count > tensor->elements - first)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "elements from %llu, %llu of them, where tensor %s has %llu",
                        (unsigned long long)first, (unsigned long long)count, tensor->name,
                        (unsigned long long)tensor->elements);
    if (first % elements || count % elements)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "first and count must be multiples of %u, the block of %s", elements,
                        ls_gguf_type_name(tensor->type));
    return LS_OK;
}

ls_status ls_gguf_dequantize(const ls_gguf_tensor *tensor, uint64_t first, uint64_t count,
                             float *values, ls_error *error)
{
    ls_status status = check_range(tensor, first, count, values, error);
    if (status != LS_OK)
        return status;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    switch (tensor->type) {
#define X(name, number, per_block, block)                                                          \
    case LS_GGUF_TYPE_##name: {                                                                    \
        const ls__block_##block *blocks = tensor->data;                                            \
        for (uint64_t i = 0; i < count / (per_block); i++)                                         \
            of_##block(&blocks[first / (per_block) + i], values + i * (per_block));                \
        break;                                                                                     \
    }
        LS_GGUF_TYPE_TABLE(X)
#undef X
    }
    ls__os_fenv_leave(&saved);
    return LS_OK;
}
