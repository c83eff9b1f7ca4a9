/* SPDX-License-Identifier: Apache-2.0 */
/* The table hash and the digest. The digests are the published examples for SHA-256 (FIPS 180-2,
 * appendix B) and the one of the empty message. */
#include "cmocka_all.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static void assert_digest(const char *text, const char *expected)
{
    char hex[65];
    ls__digest_hex(ls__digest_of(text, strlen(text)), hex);
    assert_string_equal(hex, expected);
}

static void digests(void **state)
{
    assert_digest("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    ls__digest none = ls__digest_of(NULL, 0);
    assert_int_equal(none.bytes[0], 0xe3);
}

/* The published digest of a million times "a", in pieces of all kinds: short and long, on and off
 * the borders of blocks. */
static void digest_of_pieces(void **state)
{
    static char text[1000000];
    static const size_t pieces[] = {1000000, 65536, 5000, 4096, 4159, 64, 63, 1};
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char hex[65];
        ls__digester digester;
        ls__digester_init(&digester);
        for (size_t at = 0; at < sizeof text; at += pieces[i]) {
            size_t left = sizeof text - at;
            ls__digester_add(&digester, text + at, left < pieces[i] ? left : pieces[i]);
        }
        ls__digest_hex(ls__digester_finish(&digester), hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

/* Different bytes: small pieces never take the way of long ones. */
static void long_pieces_are_short_ones(void **state)
{
    static uint8_t bytes[70001];
    ls__digester digester;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    ls__digester_init(&digester);
    for (size_t at = 0; at < sizeof bytes; at += 101)
        ls__digester_add(&digester, bytes + at, sizeof bytes - at < 101 ? sizeof bytes - at : 101);
    ls__digest expected = ls__digester_finish(&digester);
    ls__digest got = ls__digest_of(bytes, sizeof bytes);
    assert_memory_equal(got.bytes, expected.bytes, sizeof got.bytes);
}

/* The hash is the same on every machine: this value must never change. */
static void hash_is_stable(void **state)
{
    assert_true(ls__hash64("lockstep", 8, 0) == ls__hash64("lockstep", 8, 0));
    assert_true(ls__hash64("lockstep kernel", 15, 7) == UINT64_C(0x1faecf4da0149a48));
}

static void hash_depends_on_everything(void **state)
{
    uint8_t bytes[40] = {0};
    uint64_t seen[40 * 8 + 42];
    size_t count = 0;
    for (size_t length = 0; length <= sizeof bytes; length++)
        seen[count++] = ls__hash64(bytes, length, 0);
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        seen[count++] = ls__hash64(bytes, sizeof bytes, 0);
        bytes[bit / 8] = 0;
    }
    seen[count++] = ls__hash64(bytes, sizeof bytes, 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
}

/* Small integers as keys spread over the low bits, which tables use. */
static void hash_spreads(void **state)
{
    uint32_t buckets[256] = {0};
    for (uint32_t key = 0; key < 65536; key++)
        buckets[ls__hash64(&key, sizeof key, 0) & 255]++;
    for (size_t i = 0; i < 256; i++) {
        assert_true(buckets[i] > 128);
        assert_true(buckets[i] < 512);
    }
}

static void hash_stays_in_bounds(void **state)
{
    for (size_t length = 0; length < 20; length++) {
        uint8_t *bytes = ls__mem_alloc(length, 1);
        ls__hash64(bytes, length, 0);
        ls__mem_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests),
        cmocka_unit_test(digest_of_pieces),
        cmocka_unit_test(long_pieces_are_short_ones),
        cmocka_unit_test(hash_is_stable),
        cmocka_unit_test(hash_spreads),
        cmocka_unit_test(hash_depends_on_everything),
        cmocka_unit_test(hash_stays_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
