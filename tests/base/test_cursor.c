/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor: values, the first fault and its offset, and every short input. */
#include "cmocka_all.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

#define CURSOR(...)                                                                                \
    cursor_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static ls__cursor cursor_of(const uint8_t *bytes, size_t size)
{
    ls__cursor cursor;
    ls__cursor_init(&cursor, bytes, size);
    return cursor;
}

static void reads_little_endian(void **state)
{
    ls__cursor cursor =
        CURSOR(0x81, 0x01, 0x82, 1, 2, 3, 0x84, 1, 2, 3, 4, 5, 6, 7, 0x88, 'x', 'y');
    assert_int_equal(ls__cursor_u8(&cursor), 0x81);
    assert_int_equal(ls__cursor_u16(&cursor), 0x8201);
    assert_int_equal(ls__cursor_u32(&cursor), 0x84030201u);
    assert_true(ls__cursor_u64(&cursor) == UINT64_C(0x8807060504030201));
    assert_int_equal(ls__cursor_left(&cursor), 2);
    assert_memory_equal(ls__cursor_bytes(&cursor, 2), "xy", 2);
    assert_int_equal(ls__cursor_left(&cursor), 0);
    assert_null(cursor.fault);
}

static void first_fault_stays(void **state)
{
    ls__cursor cursor = CURSOR(1, 2, 3);
    ls__cursor_u8(&cursor);
    assert_int_equal(ls__cursor_u32(&cursor), 0);
    assert_non_null(cursor.fault);
    assert_int_equal(cursor.fault_offset, 1);
    const char *fault = cursor.fault;
    assert_int_equal(ls__cursor_u8(&cursor), 0);
    assert_null(ls__cursor_bytes(&cursor, 0));
    assert_int_equal(ls__cursor_left(&cursor), 0);
    ls__cursor_fail(&cursor, "another");
    assert_ptr_equal(cursor.fault, fault);
    assert_int_equal(cursor.fault_offset, 1);
}

static void huge_counts_do_not_wrap(void **state)
{
    ls__cursor cursor = CURSOR(1, 2, 3);
    ls__cursor_u8(&cursor);
    assert_null(ls__cursor_bytes(&cursor, SIZE_MAX));
    assert_non_null(cursor.fault);
}

static void empty_input(void **state)
{
    ls__cursor cursor = cursor_of(NULL, 0);
    assert_non_null(ls__cursor_bytes(&cursor, 0));
    assert_null(cursor.fault);
    assert_int_equal(ls__cursor_u8(&cursor), 0);
    assert_non_null(cursor.fault);
}

static void varint_values(void **state)
{
    ls__cursor cursor =
        CURSOR(0, 0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    assert_true(ls__cursor_varint(&cursor) == 0);
    assert_true(ls__cursor_varint(&cursor) == 127);
    assert_true(ls__cursor_varint(&cursor) == 128);
    assert_true(ls__cursor_varint(&cursor) == UINT64_MAX);
    assert_null(cursor.fault);
}

static void varint_faults(void **state)
{
    ls__cursor cases[] = {
        CURSOR(5, 0x80, 0x00),                                                 /* 0 in two bytes */
        CURSOR(5, 0xff, 0x80, 0x00),                                           /* 127 in three */
        CURSOR(5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02), /* 65 bits */
        CURSOR(5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00), /* 11 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls__cursor_u8(&cases[i]);
        assert_true(ls__cursor_varint(&cases[i]) == 0);
        assert_non_null(cases[i].fault);
        assert_int_equal(cases[i].fault_offset, 1);
    }
    ls__cursor cut = CURSOR(0x80);
    assert_true(ls__cursor_varint(&cut) == 0);
    assert_non_null(cut.fault);
}

static void counts(void **state)
{
    ls__cursor good = CURSOR(3, 1, 2, 3, 4, 5, 6);
    assert_int_equal(ls__cursor_count(&good, 3, 2), 3);
    assert_null(good.fault);

    ls__cursor over_limit = CURSOR(3, 1, 2, 3, 4, 5, 6);
    assert_int_equal(ls__cursor_count(&over_limit, 2, 2), 0);
    assert_non_null(over_limit.fault);
    assert_int_equal(over_limit.fault_offset, 0);

    ls__cursor too_few_bytes = CURSOR(3, 1, 2, 3, 4, 5);
    assert_int_equal(ls__cursor_count(&too_few_bytes, 100, 2), 0);
    assert_non_null(too_few_bytes.fault);

    ls__cursor beyond_32_bits = CURSOR(0x80, 0x80, 0x80, 0x80, 0x10);
    assert_int_equal(ls__cursor_count(&beyond_32_bits, UINT64_MAX, 0), 0);
    assert_non_null(beyond_32_bits.fault);
}

/* One read of each kind on each prefix, in a heap block of that size so that a sanitizer sees
 * overruns. */
static void every_prefix(void **state)
{
    static const uint8_t whole[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2, 17, 18};
    for (size_t size = 0; size <= sizeof whole; size++) {
        uint8_t *bytes = ls__mem_alloc(size, 1);
        memcpy(bytes, whole, size);
        ls__cursor cursor = cursor_of(bytes, size);
        ls__cursor_u8(&cursor);
        ls__cursor_u16(&cursor);
        ls__cursor_u32(&cursor);
        ls__cursor_u64(&cursor);
        ls__cursor_bytes(&cursor, ls__cursor_count(&cursor, 10, 1));
        assert_int_equal(cursor.fault == NULL, size == sizeof whole);
        assert_true(cursor.position <= size);
        ls__mem_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_little_endian),
        cmocka_unit_test(first_fault_stays),
        cmocka_unit_test(huge_counts_do_not_wrap),
        cmocka_unit_test(empty_input),
        cmocka_unit_test(varint_values),
        cmocka_unit_test(varint_faults),
        cmocka_unit_test(counts),
        cmocka_unit_test(every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
