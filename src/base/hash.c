/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table hash mixes one 8-byte word at a time with the finalizer of splitmix64 and is the same
 * on every machine. It is not for hostile keys in unbounded tables, nor for names that last: those
 * use the digest.
 */
#include "base/hash.h"

#include <sha2.h>

#include "base/sha256.h"

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

/* Asking the processor what it has may take microseconds, so short texts never ask. */
enum { FAST_BYTES = 4096, UNKNOWN = 0, FAST, SLOW };

_Static_assert(sizeof(SHA2_CTX) <= sizeof(ls__digester), "room for the state of libmd");

void ls__digester_init(ls__digester *digester)
{
    SHA256Init((SHA2_CTX *)digester->opaque);
    digester->speed = UNKNOWN;
}

/* Whole blocks go past libmd where the processor has instructions for them. */
void ls__digester_add(ls__digester *digester, const void *bytes, size_t length)
{
    SHA2_CTX *context = (SHA2_CTX *)digester->opaque;
    const uint8_t *at = bytes;
    if (length >= FAST_BYTES && digester->speed == UNKNOWN)
        digester->speed = ls__sha256_is_fast() ? FAST : SLOW;
    if (length >= FAST_BYTES && digester->speed == FAST) {
        size_t used = (size_t)(context->bitcount[0] / 8 % SHA256_BLOCK_LENGTH);
        size_t missing = (SHA256_BLOCK_LENGTH - used) % SHA256_BLOCK_LENGTH;
        if (missing)
            SHA256Update(context, at, missing);
        size_t blocks = (length - missing) / SHA256_BLOCK_LENGTH;
        ls__sha256_blocks(context->state.st32, at + missing, blocks);
        context->bitcount[0] += (uint64_t)blocks * SHA256_BLOCK_LENGTH * 8;
        at += missing + blocks * SHA256_BLOCK_LENGTH;
        length -= missing + blocks * SHA256_BLOCK_LENGTH;
    }
    if (length)
        SHA256Update(context, at, length);
}

ls__digest ls__digester_finish(ls__digester *digester)
{
    ls__digest digest;
    SHA256Final(digest.bytes, (SHA2_CTX *)digester->opaque);
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
