/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "gguf/blocks.h"

#include "lockstep/kernel.h" /* last: its macros have plain names */

void model_quantize(uint32_t elements, const float *x, int8_t *integers, float *scales,
                    float *products, int32_t *sums)
{
    for (uint32_t b = 0; b < elements / MODEL_BLOCK; b++, x += MODEL_BLOCK) {
        float most = 0;
        int32_t sum = 0;
        for (int i = 0; i < MODEL_BLOCK; i++)
            if (fabs(x[i]) > most)
                most = fabs(x[i]);
        for (int i = 0; i < MODEL_BLOCK; i++) {
            int32_t q = most < 0x1p-100f ? 0 : (int32_t)rint(x[i] * (127.0f / most));
            integers[b * MODEL_BLOCK + (uint32_t)i] = (int8_t)q;
            sum += q;
        }
        scales[b] = most < 0x1p-100f ? 0 : most / 127.0f;
        products[b] = scales[b] * (float)sum;
        sums[b] = sum;
    }
}

static float half(uint16_t bits)
{
    f16 h = {bits};
    return f16_to_f32(h);
}

/* The term of block b. */
static float term(ls_gguf_type type, const void *row, uint32_t b, const int8_t *q, float scale,
                  float product)
{
    int32_t sum = 0;
    const ls__block_q4_0 *q4_0 = row;
    const ls__block_q4_1 *q4_1 = row;
    const ls__block_q8_0 *q8_0 = row;
    for (int i = 0; i < MODEL_BLOCK; i++) {
        int shift = i < 16 ? 0 : 4;
        if (type == LS_GGUF_TYPE_Q4_0)
            sum += ((q4_0[b].quants[i % 16] >> shift & 15) - 8) * q[i];
        if (type == LS_GGUF_TYPE_Q4_1)
            sum += (q4_1[b].quants[i % 16] >> shift & 15) * q[i];
        if (type == LS_GGUF_TYPE_Q8_0)
            sum += q8_0[b].quants[i] * q[i];
    }
    if (type == LS_GGUF_TYPE_Q4_0)
        return (half(q4_0[b].scale) * scale) * (float)sum;
    if (type == LS_GGUF_TYPE_Q4_1)
        return (half(q4_1[b].scale) * scale) * (float)sum + half(q4_1[b].minimum) * product;
    return (half(q8_0[b].scale) * scale) * (float)sum;
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

float model_row(ls_gguf_type type, uint32_t elements, const void *row, const float *x)
{
    uint32_t blocks = elements / MODEL_BLOCK;
    float *floats = malloc((elements + 1) * sizeof *floats), total = 0;
    if (!floats)
        abort();
    if (type == LS_GGUF_TYPE_F32 || type == LS_GGUF_TYPE_F16) {
        for (uint32_t k = 0; k < elements; k++)
            floats[k] = type == LS_GGUF_TYPE_F32 ? ((const float *)row)[k]
                                                 : half(((const uint16_t *)row)[k]);
        total = float_row(elements, floats, x);
        free(floats);
        return total;
    }
    int8_t *integers = malloc(elements + 1);
    float *scales = malloc((blocks + 1) * sizeof *scales);
    float *products = malloc((blocks + 1) * sizeof *products);
    int32_t *sums = malloc((blocks + 1) * sizeof *sums);
    if (!integers || !scales || !products || !sums)
        abort();
    model_quantize(elements, x, integers, scales, products, sums);
    for (uint32_t first = 0; first < blocks; first += 8) {
        float slice = 0;
        for (uint32_t b = first; b < blocks && b < first + 8; b++)
            slice = slice + term(type, row, b, integers + b * MODEL_BLOCK, scales[b], products[b]);
        total = total + slice;
    }
    free(floats);
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

void model_attention(uint32_t width, uint32_t oldest, uint32_t count, float scale, float cap,
                     const float *query, const float *keys, const float *values, float *y)
{
    float *scores = malloc((count + width) * sizeof *scores), *key = scores + count;
    if (!scores)
        abort();
    float top = 0;
    for (uint32_t j = oldest; j < count; j++) {
        for (uint32_t k = 0; k < width; k++)
            key[k] = f16_to_f32(f32_to_f16(keys[j * width + k]));
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
                sum = fma(e, f16_to_f32(f32_to_f16(values[j * width + k])), sum);
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
