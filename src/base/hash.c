/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table hash mixes one 8-byte word at a time with the finalizer of splitmix64 and is the same
 * on every machine. It is not for hostile keys in unbounded tables, nor for names that last: those
 * use the digest.
 */
#include "base/hash.h"

#include <nettle/sha2.h>

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t ls__hash64(const void *bytes, size_t length, uint64_t seed)
{
    const uint8_t *at = bytes;
    uint64_t hash = mix(mix(seed + UINT64_C(0x9e3779b97f4a7c15)) + length);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word = 0;
        for (int i = 0; i < 8; i++)
            word |= (uint64_t)at[i] << (8 * i);
        hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    if (length > 0) {
        uint64_t word = 0;
        for (size_t i = 0; i < length; i++)
            word |= (uint64_t)at[i] << (8 * i);
        hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    return mix(hash);
}

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(ls__digester), "room for the state of nettle");

void ls__digester_init(ls__digester *digester)
{
    sha256_init((struct sha256_ctx *)digester->opaque);
}

void ls__digester_add(ls__digester *digester, const void *bytes, size_t length)
{
    if (length)
        sha256_update((struct sha256_ctx *)digester->opaque, length, bytes);
}

ls__digest ls__digester_finish(ls__digester *digester)
{
    ls__digest digest;
    sha256_digest((struct sha256_ctx *)digester->opaque, sizeof digest.bytes, digest.bytes);
    return digest;
}

ls__digest ls__digest_of(const void *bytes, size_t length)
{
    ls__digester digester;
    ls__digester_init(&digester);
    ls__digester_add(&digester, bytes, length);
    return ls__digester_finish(&digester);
}

void ls__digest_hex(ls__digest digest, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof digest.bytes; i++) {
        out[2 * i] = digits[digest.bytes[i] >> 4];
        out[2 * i + 1] = digits[digest.bytes[i] & 15];
    }
    out[64] = 0;
}
