/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer: tokens and faults are the same however the bytes come. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "netlist/json.h"

typedef struct pieces {
    const char *text;
    size_t length, piece;
    size_t fail_at; /* fails when so many bytes are left; 0 = never */
} pieces;

static ls_status read_piece(void *context, void *bytes, size_t capacity, size_t *size,
                            ls_error *error)
{
    pieces *from = context;
    if (from->fail_at && from->length <= from->fail_at)
        return ls__fail(error, LS_E_IO, "the disk is gone");
    size_t count = from->length < from->piece ? from->length : from->piece;
    count = count < capacity ? count : capacity;
    memcpy(bytes, from->text, count);
    from->text += count;
    from->length -= count;
    *size = count;
    return LS_OK;
}

/* All tokens as text, e.g. {"k":[1 "t"]}. Faults end it with !message@offset:line. */
static void print_tokens(const char *text, size_t length, size_t piece, char *out, size_t size)
{
    static const char *const marks[] = {"!", ".", "{", "}", "[", "]"};
    pieces from = {text, length, piece, 0};
    ls__json json;
    size_t used = 0;
    ls__json_init(&json, read_piece, &from);
    for (;;) {
        ls__json_token token = ls__json_next(&json);
        int count = 0;
        if (token <= LS__JSON_ARRAY_END)
            count = snprintf(out + used, size - used, "%s", marks[token]);
        else if (token == LS__JSON_KEY || token == LS__JSON_TEXT)
            count = snprintf(out + used, size - used, "\"%.*s\"%s", LS__STR_ARG(json.text),
                             token == LS__JSON_KEY ? ":" : " ");
        else if (token == LS__JSON_INTEGER)
            count = snprintf(out + used, size - used, "%lld ", (long long)json.number);
        else if (token == LS__JSON_REAL)
            count = snprintf(out + used, size - used, "r%.*s ", LS__STR_ARG(json.text));
        else
            count = snprintf(out + used, size - used, "%c ",
                             token == LS__JSON_TRUE    ? 't'
                             : token == LS__JSON_FALSE ? 'f'
                                                       : 'n');
        used += (size_t)count;
        assert_true(used < size);
        if (token == LS__JSON_ERROR)
            snprintf(out + used, size - used, "%s@%llu:%llu", json.fault ? json.fault : "",
                     (unsigned long long)ls__json_offset(&json), (unsigned long long)json.line);
        if (token <= LS__JSON_END)
            break;
    }
    assert_int_equal(ls__json_next(&json), json.token);
    ls__json_finish(&json);
    ls__json_finish(&json);
}

static void check(const char *text, const char *expected)
{
    size_t length = strlen(text);
    for (size_t piece = 1; piece <= length + 1; piece++) {
        char got[1024];
        print_tokens(text, length, piece, got, sizeof got);
        if (strcmp(got, expected) != 0)
            fail_msg("%s in pieces of %zu: %s", text, piece, got);
    }
}

static void tokens(void **state)
{
    check("{}", "{}.");
    check(" [ ] \n", "[].");
    check("\"a\"", "\"a\" .");
    check("-0", "0 .");
    check("[1,-23 , 9223372036854775807,9223372036854775808,1.5,-2E+7]",
          "[1 -23 9223372036854775807 r9223372036854775808 r1.5 r-2E+7 ].");
    check("{\"k\" : [true,false,null] ,\r\n\t\"\":{\"x\":\"y\"}}",
          "{\"k\":[t f n ]\"\":{\"x\":\"y\" }}.");
    check("\"\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "\"\"\\/\b\f\n\r\tz\" .");
    check("\"\\u0041\\u00e9\\u20ac\\uD834\\uDd1e!\"", "\"A\u00e9\u20ac\U0001d11e!\" .");
    check("\"\\ud800\\n\\udc00x\\ud800\\u0041\"", "\"\ufffd\n\ufffdx\ufffdA\" .");
    check("[\"caf\u00e9\"]", "[\"caf\u00e9\" ].");
}

static void faults(void **state)
{
    check("", "!the file is empty@0:1");
    check(" \n ", "!the file ends early@3:2");
    check("[1", "[1 !the file ends early@2:1");
    check("{\"a\"", "{\"a\":!the file ends early@4:1");
    check("[1 2]", "[1 !',' or the end of the object or array must stand here@3:1");
    check("[1,]", "[1 !a value must stand here@3:1");
    check("[,", "[!a value must stand here@1:1");
    check("{\"a\" 1", "{\"a\":!':' must stand here@5:1");
    check("{1", "{!a name in quotes must stand here@1:1");
    check("{\"a\":1,}", "{\"a\":1 !a name in quotes must stand here@7:1");
    check("\n{\"a\":1]", "{\"a\":1 !an object must end in '}'@7:2");
    check("[1}", "[1 !an array must end in ']'@2:1");
    check("[] []", "[]!something follows the end of the document@3:1");
    check("[nul]", "[!a value must stand here@4:1");
    check("[-]", "[!a value must stand here@2:1");
    check("[01]", "[!a number must not begin with 0@2:1");
    check("\"abc", "!the file ends within a text@4:1");
    check("\"a\\", "!an escape that JSON does not have@3:1");
    check("\"a\\x\"", "!an escape that JSON does not have@3:1");
    check("\"\\u12\"", "!\\u must be followed by four hexadecimal digits@5:1");
    check("\"a\001\"", "!a control character within a text@2:1");
}

static void zeros(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *expected;
    } cases[] = {
        {"[1\0]", 4, "[1 !',' or the end of the object or array must stand here@2:1"},
        {"\0", 1, "!a value must stand here@0:1"},
        {"\"a\0\"", 4, "!a control character within a text@2:1"},
        {"[]\0", 3, "[]!something follows the end of the document@2:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256];
        print_tokens(cases[i].text, cases[i].length, 100, got, sizeof got);
        assert_string_equal(got, cases[i].expected);
    }
}

/* A text longer than the buffer, and one in the way of its end. */
static void long_texts(void **state)
{
    size_t length = 3 << 18;
    char *text = malloc(length);
    ls__json json;
    memset(text, 'a', length);
    text[0] = '[';
    text[1] = text[length - 2] = '"';
    text[length - 1] = ']';
    pieces from = {text, length, 70000, 0};
    ls__json_init(&json, read_piece, &from);
    assert_int_equal(ls__json_next(&json), LS__JSON_ARRAY);
    assert_int_equal(ls__json_next(&json), LS__JSON_TEXT);
    assert_int_equal(json.text.length, length - 4);
    assert_int_equal(json.text.text[length - 5], 'a');
    assert_int_equal(ls__json_next(&json), LS__JSON_ARRAY_END);
    assert_int_equal(ls__json_next(&json), LS__JSON_END);
    ls__json_finish(&json);
    free(text);
}

static void failing_source(void **state)
{
    const char *text = "[1,2,3]";
    pieces from = {text, 7, 2, 3};
    ls__json json;
    ls__json_init(&json, read_piece, &from);
    while (ls__json_next(&json) > LS__JSON_END)
        ;
    assert_int_equal(json.token, LS__JSON_ERROR);
    assert_int_equal(json.status, LS_E_IO);
    assert_string_equal(json.error.message, "the disk is gone");
    ls__json_finish(&json);
    from = (pieces){text, 7, 2, 0};
    ls__json_init(&json, read_piece, &from);
    ls__mem_fail_after(1);
    assert_int_equal(ls__json_next(&json), LS__JSON_ERROR);
    ls__mem_fail_after(0);
    assert_int_equal(json.status, LS_E_OUT_OF_MEMORY);
    ls__json_finish(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),     cmocka_unit_test(faults),         cmocka_unit_test(zeros),
        cmocka_unit_test(long_texts), cmocka_unit_test(failing_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
