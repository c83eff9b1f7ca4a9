/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "gguf/blocks.h"

#include "lockstep/kernel.h" /* last: its macros have plain names */

void model_quantize(uint32_t block, uint32_t elements, const float *x, int8_t *integers,
                    float *scales, float *products, int32_t *sums)
{
    uint32_t per_sum = block == 32 ? 32 : 16;
    for (uint32_t b = 0; b < elements / block; b++, x += block) {
        float most = 0;
        int32_t sum = 0;
        for (uint32_t i = 0; i < block; i++)
            if (fabs(x[i]) > most)
                most = fabs(x[i]);
        for (uint32_t i = 0; i < block; i++) {
            int32_t q = most < 0x1p-100f ? 0 : (int32_t)rint(x[i] * (127.0f / most));
            uint32_t k = b * block + i;
            integers[k] = (int8_t)q;
            sums[k / per_sum] = k % per_sum ? sums[k / per_sum] + q : q;
            sum += q;
        }
        scales[b] = most < 0x1p-100f ? 0 : most / 127.0f;
        products[b] = scales[b] * (float)sum;
    }
}

static float half(uint16_t bits)
{
    f16 h = {bits};
    return f16_to_f32(h);
}

static const int curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};

/* What one block is made of: the integer of each element, times that of its group, and the group's
 * minimum. */
typedef struct parts {
    float d, m;
    int w[256], scale[256], least[256];
} parts;

static void parts_of_32(ls_gguf_type type, const void *block, parts *p)
{
    const ls__block_q4_0 *q4_0 = block;
    const ls__block_q4_1 *q4_1 = block;
    const ls__block_q5_0 *q5_0 = block;
    const ls__block_q5_1 *q5_1 = block;
    const ls__block_q8_0 *q8_0 = block;
    const ls__block_iq4_nl *iq4_nl = block;
    p->d = half(q4_0->scale); /* the first of all of them */
    if (type == LS_GGUF_TYPE_Q4_1 || type == LS_GGUF_TYPE_Q5_1)
        p->m = half(q4_1->minimum);
    for (int i = 0; i < 32; i++) {
        int shift = i < 16 ? 0 : 4;
        p->scale[i] = 1;
        switch (type) {
        case LS_GGUF_TYPE_Q4_0:
            p->w[i] = (q4_0->quants[i % 16] >> shift & 15) - 8;
            break;
        case LS_GGUF_TYPE_Q4_1:
            p->w[i] = q4_1->quants[i % 16] >> shift & 15;
            break;
        case LS_GGUF_TYPE_Q5_0:
            p->w[i] =
                (q5_0->quants[i % 16] >> shift & 15) + (q5_0->high[i / 8] >> i % 8 & 1) * 16 - 16;
            break;
        case LS_GGUF_TYPE_Q5_1:
            p->w[i] = (q5_1->quants[i % 16] >> shift & 15) + (q5_1->high[i / 8] >> i % 8 & 1) * 16;
            break;
        case LS_GGUF_TYPE_IQ4_NL:
            p->w[i] = curve[iq4_nl->quants[i % 16] >> shift & 15];
            break;
        default:
            p->w[i] = q8_0->quants[i];
            break;
        }
    }
}

/* Of group g of 8, as q4_k and q5_k have them. */
static void six_bits(const uint8_t *s, int g, int *scale, int *least)
{
    *scale = g < 4 ? s[g] % 64 : s[g + 4] % 16 + s[g - 4] / 64 * 16;
    *least = g < 4 ? s[g + 4] % 64 : s[g + 4] / 16 + s[g] / 64 * 16;
}

static void parts_with_minima(ls_gguf_type type, const void *block, parts *p)
{
    const ls__block_q2_k *q2_k = block;
    const ls__block_q4_k *q4_k = block;
    const ls__block_q5_k *q5_k = block;
    bool two = type == LS_GGUF_TYPE_Q2_K, five = type == LS_GGUF_TYPE_Q5_K;
    p->d = half(two ? q2_k->scale : q4_k->scale);
    p->m = half(two ? q2_k->minimum : q4_k->minimum);
    for (int i = 0; i < 256; i++) {
        if (two) {
            p->w[i] = q2_k->quants[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
            p->scale[i] = q2_k->scales[i / 16] % 16;
            p->least[i] = q2_k->scales[i / 16] / 16;
            continue;
        }
        const uint8_t *quants = five ? q5_k->quants : q4_k->quants;
        p->w[i] = quants[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
        if (five)
            p->w[i] += (q5_k->high[i % 32] >> i / 32 & 1) * 16;
        six_bits(q4_k->scales, i / 32, &p->scale[i], &p->least[i]); /* at the same place in both */
    }
}

static void parts_of_256(ls_gguf_type type, const void *block, parts *p)
{
    const ls__block_q3_k *q3_k = block;
    const ls__block_q6_k *q6_k = block;
    const ls__block_iq4_xs *iq4_xs = block;
    bool three = type == LS_GGUF_TYPE_Q3_K, six = type == LS_GGUF_TYPE_Q6_K;
    p->d = half(three ? q3_k->scale : six ? q6_k->scale : iq4_xs->scale);
    for (int i = 0; i < 256; i++) {
        int g = i / 16, unit = i / 32;
        if (three) {
            p->w[i] = (q3_k->quants[i / 128 * 32 + i % 32] >> unit % 4 * 2 & 3) +
                      (q3_k->high[i % 32] >> unit & 1) * 4 - 4;
            p->scale[i] = (g < 8 ? q3_k->scales[g] % 16 : q3_k->scales[g - 8] / 16) +
                          (q3_k->scales[8 + g % 4] >> g / 4 * 2 & 3) * 16 - 32;
        } else if (six) {
            p->w[i] = (q6_k->low[i / 128 * 64 + i % 64] >> i / 64 % 2 * 4 & 15) +
                      (q6_k->high[i / 128 * 32 + i % 32] >> unit % 4 * 2 & 3) * 16 - 32;
            p->scale[i] = q6_k->scales[g];
        } else {
            p->w[i] = curve[iq4_xs->quants[unit * 16 + i % 16] >> (i % 32 < 16 ? 0 : 4) & 15];
            p->scale[i] = (iq4_xs->scales_low[unit / 2] >> unit % 2 * 4 & 15) +
                          (iq4_xs->scales_high >> unit * 2 & 3) * 16 - 32;
        }
    }
}

/* The term of a block. */
static float term(ls_gguf_type type, const void *block, uint32_t elements, const int8_t *q,
                  float scale, float product)
{
    parts p = {0};
    int32_t sum = 0, least = 0;
    bool minima =
        type == LS_GGUF_TYPE_Q2_K || type == LS_GGUF_TYPE_Q4_K || type == LS_GGUF_TYPE_Q5_K;
    if (elements == 32)
        parts_of_32(type, block, &p);
    else if (minima)
        parts_with_minima(type, block, &p);
    else
        parts_of_256(type, block, &p);
    for (uint32_t i = 0; i < elements; i++) {
        sum += p.scale[i] * p.w[i] * q[i];
        least += p.least[i] * q[i];
    }
    if (minima)
        return (p.d * scale) * (float)sum - (p.m * scale) * (float)least;
    if (type == LS_GGUF_TYPE_Q4_1 || type == LS_GGUF_TYPE_Q5_1)
        return (p.d * scale) * (float)sum + p.m * product;
    return (p.d * scale) * (float)sum;
}

/* Both as floats. */
static float float_row(uint32_t elements, const float *w, const float *x)
{
    float total = 0;
    for (uint32_t first = 0; first < elements; first += 256) {
        float a[8] = {0};
        for (uint32_t k = first; k < elements && k < first + 256; k++)
            a[k % 8] = fma(w[k], x[k], a[k % 8]);
        total = total + (((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7])));
    }
    return total;
}

static float row_of_floats(ls_gguf_type type, uint32_t elements, const void *row, const float *x)
{
    float *floats = malloc((elements + 1) * sizeof *floats);
    if (!floats)
        abort();
    for (uint32_t k = 0; k < elements; k++) {
        uint16_t bits = type == LS_GGUF_TYPE_F32 ? 0 : ((const uint16_t *)row)[k];
        floats[k] = type == LS_GGUF_TYPE_F32   ? ((const float *)row)[k]
                    : type == LS_GGUF_TYPE_F16 ? half(bits)
                                               : bf16_to_f32((bf16){bits});
    }
    float total = float_row(elements, floats, x);
    free(floats);
    return total;
}

float model_row(ls_gguf_type type, uint32_t elements, const void *row, const float *x)
{
    uint32_t block, bytes;
    float total = 0;
    ls_gguf_type_block(type, &block, &bytes);
    if (block == 1)
        return row_of_floats(type, elements, row, x);
    uint32_t blocks = elements / block, per_slice = 256 / block;
    int8_t *integers = malloc(elements + 1);
    float *scales = malloc((blocks + 1) * sizeof *scales);
    float *products = malloc((blocks + 1) * sizeof *products);
    int32_t *sums = malloc((elements / 16 + 1) * sizeof *sums);
    if (!integers || !scales || !products || !sums)
        abort();
    model_quantize(block, elements, x, integers, scales, products, sums);
    for (uint32_t first = 0; first < blocks; first += per_slice) {
        float slice = 0;
        for (uint32_t b = first; b < blocks && b < first + per_slice; b++)
            slice = slice + term(type, (const uint8_t *)row + b * bytes, block,
                                 integers + b * block, scales[b], products[b]);
        total = total + slice;
    }
    free(integers);
    free(scales);
    free(products);
    free(sums);
    return total;
}

void model_rms_norm(uint32_t elements, float epsilon, const float *x, const float *weights,
                    float *y)
{
    float sums[32] = {0};
    for (uint32_t k = 0; k < elements; k++)
        sums[k % 32] = sums[k % 32] + x[k] * x[k];
    for (int step = 16; step > 0; step /= 2) { /* lane l adds lane l xor step */
        float next[32];
        for (int l = 0; l < 32; l++)
            next[l] = sums[l] + sums[l ^ step];
        memcpy(sums, next, sizeof sums);
    }
    float scale = 1.0f / sqrt(sums[0] / (float)elements + epsilon);
    for (uint32_t k = 0; k < elements; k++)
        y[k] = (x[k] * scale) * weights[k];
}

void model_rope(uint32_t pairs, uint32_t apart, const float *table, float *head)
{
    for (uint32_t i = 0; i < pairs; i++) {
        float *a = head + (apart == 1 ? 2 * i : i), *b = a + apart;
        float c = table[2 * i], s = table[2 * i + 1], x = *a, y = *b;
        *a = x * c - y * s;
        *b = x * s + y * c;
    }
}

static float in_cache(bool floats, float x)
{
    return floats ? x : f16_to_f32(f32_to_f16(x));
}

void model_attention(bool floats, uint32_t width, uint32_t oldest, uint32_t count, float scale,
                     float cap, const float *query, const float *keys, const float *values,
                     float *y)
{
    float *scores = malloc((count + width) * sizeof *scores), *key = scores + count;
    if (!scores)
        abort();
    float top = 0;
    for (uint32_t j = oldest; j < count; j++) {
        for (uint32_t k = 0; k < width; k++)
            key[k] = in_cache(floats, keys[j * width + k]);
        scores[j] = float_row(width, key, query) * scale;
        if (cap != 0)
            scores[j] = model_soft_cap(scores[j], cap);
        if (j == oldest || scores[j] > top)
            top = scores[j];
    }
    for (uint32_t k = 0; k < width; k++) {
        float total = 0, weight = 0;
        for (uint32_t first = 0; first < count; first += 64) {
            float sum = 0, part = 0;
            for (uint32_t j = first; j < count && j < first + 64; j++) {
                if (j < oldest)
                    continue;
                float e = exp(scores[j] - top);
                part = part + e;
                sum = fma(e, in_cache(floats, values[j * width + k]), sum);
            }
            total = total + sum;
            weight = weight + part;
        }
        y[k] = total / weight;
    }
    free(scores);
}

float model_silu_gate(float gate, float up)
{
    return (gate / (1.0f + exp(-gate))) * up;
}

float model_gelu_gate(float gate, float up)
{
    float cube = (gate * gate) * gate;
    float argument = 0.7978845608028654f * (gate + 0.044715f * cube);
    return ((0.5f * gate) * (1.0f + tanh(argument))) * up;
}

float model_soft_cap(float x, float cap)
{
    return cap * tanh(x / cap);
}
