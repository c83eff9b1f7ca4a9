/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that NVIDIA's compiler makes PTX of and the host's compiler makes a reference of: for
 * each thread a number of all that it computes. FUNCTION says what they are; no function uses what
 * C leaves open. Floats are compared bit by bit, so nothing here makes a NaN.
 */
#ifndef TESTS_CUDA_DRIVER_COMPILED_H
#define TESTS_CUDA_DRIVER_COMPILED_H

#include <stdint.h>

#ifndef FUNCTION
#define FUNCTION static
#define NOINLINE __attribute__((noinline)) static
#define CONSTANT static const
#endif

CONSTANT uint32_t primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

FUNCTION uint32_t mix(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

FUNCTION uint32_t float_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } both = {value};
    return both.bits;
}

FUNCTION uint64_t double_bits(double value)
{
    union {
        double value;
        uint64_t bits;
    } both = {value};
    return both.bits;
}

/* Integers of all sizes, signed and not. */
FUNCTION uint32_t integers(uint32_t i, const uint32_t *in)
{
    uint32_t a = in[i], b = in[i + 1], hash = i;
    int32_t s = (int32_t)a, t = (int32_t)(b | 1);
    uint64_t wide = (uint64_t)a << 32 | b;
    int64_t signed_wide = (int64_t)wide;
    hash = mix(hash, a / (b | 1) + a % (b | 3));
    if (t != -1)
        hash = mix(hash, (uint32_t)(s / t + s % t));
    hash = mix(hash, (uint32_t)(wide / (a | 1)) ^ (uint32_t)(wide % (b | 1)));
    hash = mix(hash, (uint32_t)(signed_wide / (int64_t)(b | 2)));
    hash = mix(hash, a << (b & 31) | a >> (31 - (b & 31)));
    hash = mix(hash, (uint32_t)(s >> (b & 31)));
    hash = mix(hash, (uint32_t)(wide << (a & 63)) + (uint32_t)(signed_wide >> (b & 63)));
    hash = mix(hash, (uint32_t)((wide * 0x123456789abcdefull) >> 32));
    hash = mix(hash, (uint32_t)(int32_t)(int8_t)a + (uint32_t)(int32_t)(int16_t)b + (uint8_t)b);
    hash = mix(hash, (uint32_t)((uint16_t)a * (uint32_t)(uint16_t)b));
    hash =
        mix(hash, (s < t) + 2u * (a < b) + 4u * (signed_wide < 0) + 8u * (wide > UINT64_MAX / 3));
    return hash;
}

FUNCTION uint32_t floats(uint32_t i, const uint32_t *in)
{
    float x = (float)in[i] * 0x1p-20f - 700.0f, y = (float)(int32_t)in[i + 1] * 0x1p-25f + 70.0f;
    double d = (double)in[i] * 1e-3 + 1.0, e = (double)(int32_t)in[i + 1] / 7.0;
    uint32_t hash = mix(i, float_bits(x * y + x)), steps = 0;
    hash = mix(hash, float_bits(x / y) ^ float_bits(x - y));
    hash = mix(hash, (uint32_t)(int32_t)(x * 3.0f) + (uint32_t)(int32_t)y);
    hash = mix(hash, float_bits(x < y ? x : y) + (uint32_t)(x >= 0) + 2u * (x != y));
    hash = mix(hash, float_bits((float)(d * e)) ^ (uint32_t)double_bits(d + e));
    hash = mix(hash, (uint32_t)(double_bits(d / 3.0 - e) >> 20));
    hash = mix(hash, (uint32_t)(int64_t)(e * 1000.0) ^ (uint32_t)(uint64_t)(d * d));
    for (float z = y; z > 1.0f && steps < 100; z = z * 0.75f + 0.125f)
        steps++;
    hash = mix(hash, steps);
    hash = mix(hash, float_bits(x * 1e-38f) ^ float_bits(y * 1e-40f)); /* subnormals */
    return hash;
}

NOINLINE uint32_t walk(uint32_t x, uint32_t limit, const uint32_t *in)
{
    uint32_t hash = 0;
    for (uint32_t k = 0; k < limit; k++) {
        if (x % primes[k & 7] == 0)
            continue;
        hash = mix(hash, in[x & 255]);
        if ((hash & 31) == 5)
            return hash + k;
        x = x * 5 + k;
    }
    return hash;
}

/* Branches, loops, switches, calls, arrays of a thread. */
FUNCTION uint32_t flow(uint32_t i, const uint32_t *in)
{
    uint32_t stack[16], count = 0, hash = i, x = in[i];
    for (uint32_t k = 0; k < 20; k++) {
        switch ((x >> k) & 7) {
        case 0:
            stack[count++ & 15] = x + k;
            break;
        case 1:
            hash = mix(hash, walk(x + k, k + 3, in));
            break;
        case 2:
            if (count)
                hash = mix(hash, stack[--count & 15]);
            break;
        case 3:
            hash ^= x << k;
            break;
        case 4:
            x += 0x10203;
            break;
        case 5:
            stack[count++ & 15] = hash;
            stack[count++ & 15] = k;
            break;
        case 6:
            hash = mix(hash, walk(hash, x & 15, in));
            break;
        default:
            x ^= x >> 3;
        }
    }
    return mix(hash, count);
}

#endif
