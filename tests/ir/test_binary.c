/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals of the binary form: every fault of the header by name, every damaged or cut body without
 * a bad access. What is decoded correctly is tested with the corpus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ir/ir.h"

enum { VERSION_AT = 8, CONTRACT_AT = 12, SIZE_AT = 16, DIGEST_AT = 24, BODY_AT = 56 };

static const char text[] = "lockstep ir 3\n"
                           "file \"a.kc\"\n"
                           "spec N : i32 = -3 default 4 try -1, 300\n"
                           "table t align 4 {\n  01020304\n}\n"
                           "kernel @k workgroup(32, 1, 1) {\n"
                           "  scalar n : i32 size 4 align 4 at 0\n"
                           "  buffer b : struct size 8 align 4 type \"struct p\" {\n"
                           "    field x : f32 at 0\n"
                           "    field y : i32 at 4\n"
                           "  }\n"
                           "  shared s size 16 align 4\n"
                           "  local l size 16 align 4\n"
                           "  var v1 a : i32\n"
                           "  %1 = const -5 : i32 !3:4\n"
                           "  %2 = const 0 : i64\n"
                           "  store i32 buffer 0 [%2], %1\n"
                           "  switch %1 {\n"
                           "  case 1, -2 {\n    break\n  }\n"
                           "  default {\n    barrier\n  }\n"
                           "  }\n"
                           "  call @f (%1) [buffer 0] -> v1\n"
                           "}\n"
                           "function @f -> i32 {\n"
                           "  scalar a : i32 size 4 align 4 at 0\n"
                           "  buffer b : i32 size 4 align 4\n"
                           "  %1 = param i32 0 : i32\n"
                           "  return %1\n"
                           "}\n";

static uint8_t *bytes;
static size_t size;

static int make_bytes(void **state)
{
    (void)state;
    ls__ir_module *module;
    void *encoded;
    if (ls__ir_read(text, strlen(text), &module, NULL) != LS_OK)
        return -1;
    ls_status status = ls__ir_encode(module, &encoded, &size, NULL);
    bytes = encoded;
    ls__ir_module_destroy(&module);
    return status;
}

static int free_bytes(void **state)
{
    (void)state;
    ls__mem_free(bytes);
    return 0;
}

/* Decodes an exact-size copy; with `mend`, size and digest are made to fit first. */
static ls_status decode(const uint8_t *data, size_t length, bool mend)
{
    uint8_t *copy = malloc(length ? length : 1);
    memcpy(copy, data, length);
    if (mend && length >= BODY_AT) {
        for (unsigned i = 0; i < 8; i++)
            copy[SIZE_AT + i] = (uint8_t)((uint64_t)(length - BODY_AT) >> (8 * i));
        ls__digest digest = ls__digest_of(copy + BODY_AT, length - BODY_AT);
        memcpy(copy + DIGEST_AT, digest.bytes, sizeof digest.bytes);
    }
    ls__ir_module *module;
    ls_status status = ls__ir_decode(copy, length, &module, NULL);
    assert_true((module != NULL) == (status == LS_OK));
    ls__ir_module_destroy(&module);
    free(copy);
    return status;
}

static void test_header(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        ls_status status;
    } cases[] = {
        {0, LS_E_FORMAT},
        {7, LS_E_FORMAT},
        {VERSION_AT, LS_E_VERSION},
        {SIZE_AT, LS_E_FORMAT},
        {CONTRACT_AT, LS_E_VERSION},
        {DIGEST_AT, LS_E_FORMAT},
        {BODY_AT, LS_E_FORMAT},
    };
    assert_int_equal(decode(bytes, size, false), LS_OK);
    assert_int_equal(decode(bytes, size, true), LS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes[cases[i].at] ^= 0x10;
        assert_int_equal(decode(bytes, size, false), cases[i].status);
        bytes[cases[i].at] ^= 0x10;
    }
    for (size_t length = 0; length < size; length++)
        assert_int_equal(decode(bytes, length, false), LS_E_FORMAT);
}

static void test_cut_body(void **state)
{
    (void)state;
    for (size_t length = BODY_AT; length < size; length++)
        assert_int_equal(decode(bytes, length, true), LS_E_FORMAT);
}

static void test_data_behind(void **state)
{
    (void)state;
    uint8_t *longer = malloc(size + 1);
    memcpy(longer, bytes, size);
    longer[size] = 0;
    assert_int_equal(decode(longer, size + 1, true), LS_E_FORMAT);
    free(longer);
}

/* Each byte takes values that are likely to hurt: the reader answers, whatever it says. */
static void test_damaged_body(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 2, 3, 0x0f, 0x20, 0x7f, 0x80, 0xfe, 0xff};
    unsigned refused = 0;
    for (size_t at = BODY_AT; at < size; at++) {
        uint8_t kept = bytes[at];
        for (size_t i = 0; i < sizeof values; i++) {
            bytes[at] = values[i];
            refused += decode(bytes, size, true) != LS_OK;
        }
        bytes[at] = kept;
    }
    assert_true(refused > size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_cut_body),
        cmocka_unit_test(test_data_behind),
        cmocka_unit_test(test_damaged_body),
    };
    return cmocka_run_group_tests(tests, make_bytes, free_bytes);
}
