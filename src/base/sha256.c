/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four rounds at a time. The instructions hold the state as two registers, the words a b e f and
 * c d g h (highest first); message words go through a ring of four registers of four words.
 */
#include "base/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* Cube roots of the first 64 primes: the first 32 bits of their fractions. */
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool ls__sha256_is_fast(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

__attribute__((target("sha,sse4.1,ssse3"))) void
ls__sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0x1b);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_unpackhi_epi64(efgh, abcd), cdgh = _mm_unpacklo_epi64(efgh, abcd);
    for (; count > 0; count--, bytes += 64) {
        __m128i message[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 16; i++) {
            __m128i *now = &message[i % 4];
            if (i < 4) {
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + i), big_endian);
            } else {
                __m128i last = message[(i + 3) % 4];
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*now, message[(i + 1) % 4]),
                                            _mm_alignr_epi8(last, message[(i + 2) % 4], 4));
                *now = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i words = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(rounds + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    abcd = _mm_unpackhi_epi64(cdgh, abef);
    efgh = _mm_unpacklo_epi64(cdgh, abef);
    _mm_storeu_si128((__m128i *)state, _mm_shuffle_epi32(abcd, 0x1b));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_shuffle_epi32(efgh, 0x1b));
}

#else

bool ls__sha256_is_fast(void)
{
    return false;
}

void ls__sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count)
{
    (void)state;
    (void)bytes;
    (void)count;
}

#endif
