/* SPDX-License-Identifier: Apache-2.0 */
/* Text views and the growable buffer, with each of its allocations failing in turn. */
#include "cmocka_all.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void views(void **state)
{
    ls__str name = {"saxpy(", 5};
    ls__str empty = {NULL, 0};
    assert_true(ls__str_is(name, "saxpy"));
    assert_false(ls__str_is(name, "saxpy("));
    assert_false(ls__str_is(name, "saxp"));
    assert_true(ls__str_is(empty, ""));
    assert_true(ls__str_ends_in("a.npy", ".npy"));
    assert_false(ls__str_ends_in(".npy", ".npy"));
    assert_false(ls__str_ends_in("a.npy2", ".npy"));
    assert_true(ls__str_equal(empty, ls__str_from("")));
    assert_false(ls__str_equal(name, ls__str_from("saxpz")));
    assert_int_equal(ls__str_from("abc").length, 3);
}

static void appends(void **state)
{
    ls__strbuf buffer = {0};
    ls__strbuf_append(&buffer, "", 0);
    ls__strbuf_append(&buffer, NULL, 0);
    assert_null(buffer.text);
    ls__strbuf_append(&buffer, "value", 3);
    ls__strbuf_printf(&buffer, " = %d", 42);
    assert_string_equal(buffer.text, "val = 42");
    assert_int_equal(buffer.length, 8);
    ls__strbuf_append(&buffer, "\0x", 2);
    assert_int_equal(buffer.length, 10);
    ls__strbuf_finish(&buffer);
    assert_null(buffer.text);
    ls__strbuf_finish(&buffer);
}

static void grows(void **state)
{
    ls__strbuf buffer = {0};
    size_t expected = 0;
    for (int i = 0; i < 3000; i++) {
        ls__strbuf_printf(&buffer, "%*d", i % 200 + 4, i);
        expected += (size_t)(i % 200 + 4);
        assert_int_equal(buffer.length, expected);
        assert_int_equal(buffer.text[expected], 0);
    }
    assert_false(buffer.failed);
    assert_int_equal(strlen(buffer.text), expected);
    ls__strbuf_finish(&buffer);
}

static void append_hundred(ls__strbuf *buffer)
{
    for (int i = 0; i < 100; i++) {
        ls__strbuf_append(buffer, "0123456789", 10);
        ls__strbuf_printf(buffer, "%s", "abcdefghij");
    }
}

static void failure_keeps_text(void **state)
{
    uint64_t n = 1;
    for (;; n++) {
        ls__strbuf buffer = {0};
        ls__mem_fail_after(n);
        append_hundred(&buffer);
        ls__mem_fail_after(0);
        size_t length = buffer.length;
        bool failed = buffer.failed;
        if (failed) {
            assert_true(length < 2000);
            assert_int_equal(buffer.text ? strlen(buffer.text) : 0, length);
            ls__strbuf_append(&buffer, "more", 4); /* memory is back, but the text has a hole */
            assert_int_equal(buffer.length, length);
        } else {
            assert_int_equal(length, 2000);
        }
        ls__strbuf_finish(&buffer);
        if (!failed)
            break;
    }
    assert_true(n > 3);
}

static void huge_length_fails(void **state)
{
    ls__strbuf buffer = {0};
    ls__strbuf_append(&buffer, "a", 1);
    ls__strbuf_append(&buffer, "b", SIZE_MAX - 1);
    assert_true(buffer.failed);
    assert_string_equal(buffer.text, "a");
    ls__strbuf_finish(&buffer);
}

static void visible(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"plain, text\\x", "plain, text\\x"},
        {"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80",
         "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"a\nb\x1b[31m\x7f", "a\\x0ab\\x1b[31m\\x7f"},
        {"\xc2\x9b" "31m \xc2\xa0", "\\xc2\\x9b31m \xc2\xa0"}, /* CSI in one character */
        {"\x9b \xc0\x9b \xe0\x82\x9b", "\\x9b \\xc0\\x9b \\xe0\\x82\\x9b"},
        {"cut \xe2\x82", "cut \\xe2\\x82"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls__strbuf buffer = {0};
        ls__strbuf_visible(&buffer, cases[i].text, strlen(cases[i].text));
        assert_string_equal(buffer.text, cases[i].shown);
        ls__strbuf_finish(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(appends),
        cmocka_unit_test(grows),
        cmocka_unit_test(failure_keeps_text),
        cmocka_unit_test(huge_length_fails),
        cmocka_unit_test(visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
