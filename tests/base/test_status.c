/* SPDX-License-Identifier: Apache-2.0 */
/* Status names and texts, versions, and the filling of ls_error. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

static void names_and_texts(void **state)
{
    assert_string_equal(ls_status_name(LS_OK), "LS_OK");
    assert_string_equal(ls_status_name(LS_E_FORMAT), "LS_E_FORMAT");
    assert_string_equal(ls_status_text(LS_E_FORMAT), "malformed input data");
    assert_string_equal(ls_status_name((ls_status)-1000), "LS_E_UNKNOWN");
    assert_true(strlen(ls_status_text((ls_status)1)) > 0);
#define X(name, value, text) assert_int_equal(LS_##name, value);
    LS_STATUS_TABLE(X)
#undef X
}

static void versions(void **state)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", LS_VERSION_MAJOR, LS_VERSION_MINOR,
             LS_VERSION_PATCH);
    assert_string_equal(ls_version(), expected);
    assert_string_equal(ls_version(), LS_BUILD_VERSION); /* as meson.build says */
    assert_int_equal(ls_contract_version(), LS_CONTRACT_VERSION);
}

static void fail_fills_all(void **state)
{
    ls_error error;
    memset(&error, 0xff, sizeof error);
    assert_int_equal(ls__fail(&error, LS_E_LIMIT, "%d lanes", 7), LS_E_LIMIT);
    assert_int_equal(error.code, LS_E_LIMIT);
    assert_int_equal(error.cause, LS_E_LIMIT);
    assert_false(error.retryable);
    assert_string_equal(error.message, "7 lanes");
    assert_string_equal(error.where, "");
    assert_string_equal(error.hint, "");

    assert_int_equal(ls__fail_where(&error, LS_E_IO, "buffer '%s'", "x"), LS_E_LIMIT);
    assert_int_equal(ls__fail_hint(&error, LS_E_IO, "use fewer"), LS_E_LIMIT);
    assert_string_equal(error.message, "7 lanes");
    assert_string_equal(error.where, "buffer 'x'");
    assert_string_equal(error.hint, "use fewer");
}

static void no_error_is_accepted(void **state)
{
    assert_int_equal(ls__fail(NULL, LS_E_IO, "x"), LS_E_IO);
    assert_int_equal(ls__fail_where(NULL, LS_E_IO, "x"), LS_E_IO);
    assert_int_equal(ls__fail_hint(NULL, LS_E_IO, "x"), LS_E_IO);
    assert_int_equal(ls__fail_as(NULL, LS_E_FAILED), LS_E_FAILED);
    assert_int_equal(ls__fail_oom(NULL, 10), LS_E_OUT_OF_MEMORY);
}

static void error_may_quote_itself(void **state)
{
    ls_error error;
    ls__fail(&error, LS_E_FORMAT, "bad byte");
    ls__fail(&error, LS_E_FORMAT, "file x: %s", error.message);
    assert_string_equal(error.message, "file x: bad byte");
}

static void long_text_is_cut(void **state)
{
    ls_error error;
    char text[2000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    ls__fail(&error, LS_E_IO, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 5, "a...");

    /* 511 bytes just fit. */
    text[sizeof error.message - 1] = 0;
    ls__fail(&error, LS_E_IO, "%s", text);
    assert_string_equal(error.message, text);

    /* A two-byte character (e with acute) that the cut would split goes as a whole: try both
     * phases. */
    for (int phase = 0; phase < 2; phase++) {
        size_t length = 0;
        if (phase)
            text[length++] = 'a';
        for (; length < 600; length += 2)
            memcpy(text + length, "\xc3\xa9", 2);
        text[length] = 0;
        ls__fail(&error, LS_E_IO, "%s", text);
        size_t cut = strlen(error.message);
        assert_string_equal(error.message + cut - 3, "...");
        assert_int_equal((unsigned char)error.message[cut - 4], 0xa9);
        assert_true(cut >= sizeof error.message - 2);
    }
}

static void outcomes_wrap(void **state)
{
    ls_error error;
    ls__fail(&error, LS_E_BUSY, "in use");
    assert_true(error.retryable);
    assert_int_equal(ls__fail_as(&error, LS_E_NOT_SUBMITTED), LS_E_NOT_SUBMITTED);
    assert_int_equal(error.code, LS_E_NOT_SUBMITTED);
    assert_int_equal(error.cause, LS_E_BUSY);
    assert_true(error.retryable);
    assert_string_equal(error.message, "in use");

    ls__fail(&error, LS_E_TIMEOUT, "late");
    ls__fail_as(&error, LS_E_INDETERMINATE);
    assert_int_equal(error.cause, LS_E_TIMEOUT);
    assert_false(error.retryable);
}

static void out_of_memory_says_how_much(void **state)
{
    ls_error error;
    ls__fail_oom(&error, 123456);
    assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
    assert_non_null(strstr(error.message, "123456"));
    ls__fail_oom(&error, SIZE_MAX);
    assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts),        cmocka_unit_test(versions),
        cmocka_unit_test(fail_fills_all),         cmocka_unit_test(no_error_is_accepted),
        cmocka_unit_test(error_may_quote_itself), cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(outcomes_wrap),          cmocka_unit_test(out_of_memory_says_how_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
