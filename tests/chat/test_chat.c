/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of lockstep/chat.h: what messages and variables become, wrong arguments, limits, places
 * in messages, and memory that runs out. What templates mean is in cases/, by test_cases.py. */
#include "base/cmocka_all.h"

#include <string.h>

#include "base/mem.h"
#include "lockstep/chat.h"

static ls_chat_template *create(const char *text)
{
    ls_chat_template *made;
    ls_error error = {0};
    ls_status status = ls_chat_template_create(text, strlen(text), &made, &error);
    if (status != LS_OK)
        fail_msg("%s: %s", error.message, error.where);
    return made;
}

static void expect_text(const char *text, const ls_chat_params *params, const char *wanted)
{
    ls_chat_template *made = create(text);
    ls_error error = {0};
    char *rendered;
    size_t length;
    if (ls_chat_template_render(made, params, &rendered, &length, &error) != LS_OK)
        fail_msg("%s: %s", error.message, error.where);
    assert_string_equal(rendered, wanted);
    assert_int_equal(length, strlen(wanted));
    ls_text_destroy(&rendered);
    assert_null(rendered);
    ls_chat_template_destroy(&made);
    assert_null(made);
}

static void expect_error(const char *text, const ls_chat_params *params, ls_status status,
                         const char *message, const char *where)
{
    ls_chat_template *made = create(text);
    ls_error error = {0};
    char *rendered = (char *)"";
    size_t length = 1;
    assert_int_equal(ls_chat_template_render(made, params, &rendered, &length, &error), status);
    assert_int_equal(error.code, status);
    if (!strstr(error.message, message) || strcmp(error.where, where) != 0)
        fail_msg("\"%s\" at \"%s\"", error.message, error.where);
    assert_null(rendered);
    assert_int_equal(length, 0);
    assert_int_equal(ls_chat_template_render(made, params, &rendered, NULL, NULL), status);
    ls_chat_template_destroy(&made);
}

static const ls_chat_message MESSAGES[] = {
    {.role = "system", .content = "Be brief."},
    {.role = "user", .content = "Gr\xc3\xbc\xc3\x9f \"dich\"\n"},
    {.role = "assistant",
     .fields_json = "{\"tool_calls\": [{\"name\": \"f\"}], \"content\": null}"},
    {.fields_json = "{\"role\": \"tool\", \"content\": [1.5, \"a\\u0000b\"]}"},
};

static void messages_become_objects(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    params.messages = MESSAGES;
    params.message_count = 4;
    expect_text(
        "{% for m in messages %}{{ m|tojson }}\n{% endfor %}", &params,
        "{\"role\": \"system\", \"content\": \"Be brief.\"}\n"
        "{\"role\": \"user\", \"content\": \"Gr\xc3\xbc\xc3\x9f \\\"dich\\\"\\n\"}\n"
        "{\"role\": \"assistant\", \"tool_calls\": [{\"name\": \"f\"}], \"content\": null}\n"
        "{\"role\": \"tool\", \"content\": [1.5, \"a\\u0000b\"]}\n");
}

static void text_with_a_zero_byte(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_chat_template *made = create("{{ messages[3].content[1] }}");
    char *rendered;
    size_t length;
    params.messages = MESSAGES;
    params.message_count = 4;
    assert_int_equal(ls_chat_template_render(made, &params, &rendered, &length, NULL), LS_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(rendered, "a\0b", 4);
    ls_text_destroy(&rendered);
    ls_chat_template_destroy(&made);
}

static void variables_are_seen(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    const char *const all =
        "{{ bos_token }}|{{ eos_token }}|{{ add_generation_prompt }}|{{ tools }}|"
        "{{ documents }}|{{ messages }}|{{ enable_thinking }}|"
        "{{ bos_token is defined }}|{{ strftime_now('%Y-%m-%d %H:%M:%S') }}";
    expect_text(all, &params, "||False|None|None|[]||False|1970-01-01 00:00:00");
    params.bos_token = "<s>";
    params.eos_token = "</s>";
    params.add_generation_prompt = true;
    params.tools_json = "[{\"name\": \"f\"}]";
    params.variables_json = "{\"enable_thinking\": false, \"documents\": [1]}";
    params.unix_seconds = 1790000000;
    expect_text(all, &params,
                "<s>|</s>|True|[{'name': 'f'}]|[1]|[]|False|True|2026-09-21 14:13:20");
    params.variables_json = "{\"tools\": 1, \"bos_token\": 2, \"messages\": 3}";
    expect_text("{{ tools }}{{ bos_token }}{{ messages }}", &params, "123");
}

static void dates(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } DATES[] = {
        {0, "Thu 01 Jan 1970 001 00:00:00"},
        {-1, "Wed 31 Dec 1969 365 23:59:59"},
        {951782400, "Tue 29 Feb 2000 060 00:00:00"},
        {-2203891201, "Wed 28 Feb 1900 059 23:59:59"},
        {4107542400, "Mon 01 Mar 2100 060 00:00:00"},
        {253402300799, "Fri 31 Dec 9999 365 23:59:59"},
        {-62135596800, "Mon 01 Jan 1 001 00:00:00"},
    };
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    for (size_t i = 0; i < sizeof DATES / sizeof *DATES; i++) {
        params.unix_seconds = DATES[i].seconds;
        expect_text("{{ strftime_now('%a %d %b %Y %j %T') }}", &params, DATES[i].text);
    }
    params.unix_seconds = 253402300800;
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "unix_seconds", "");
}

static void places_are_shown(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_chat_template *made;
    ls_error error;
    expect_error("one\n  {{ 'a' + 1 }} two\nthree", &params, LS_E_FORMAT, "can only concatenate",
                 "line 2, column 10:   {{ 'a' + 1 }} two");
    expect_error("\xc3\xa4\xc3\xb6 {{ x.y }}", &params, LS_E_FORMAT, "'x' is undefined",
                 "line 1, column 8: \xc3\xa4\xc3\xb6 {{ x.y }}");
    expect_error("{{ raise_exception('no \xc3\xa4') }}", &params, LS_E_FAILED, "no \xc3\xa4",
                 "line 1, column 19: {{ raise_exception('no \xc3\xa4') }}");
    const char *const unknown = "a\nb {{ x | nothing }}";
    assert_int_equal(ls_chat_template_create(unknown, strlen(unknown), &made, &error), LS_E_FORMAT);
    assert_null(made);
    assert_string_equal(error.message, "there is no filter 'nothing'");
    assert_string_equal(error.where, "line 2, column 10: b {{ x | nothing }}");
    /* Of a long line only what is near. */
    char text[600];
    memset(text, 'x', sizeof text);
    memcpy(text + 300, "{{ y|wordwrap }}", 16);
    assert_int_equal(ls_chat_template_create(text, sizeof text, &made, &error), LS_E_UNSUPPORTED);
    assert_string_equal(error.where,
                        "line 1, column 306: ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ y|wordwrap }}"
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...");
}

static void wrong_arguments(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_chat_template *made;
    ls_error error;
    char *text;
    assert_int_equal(ls_chat_template_create(NULL, 0, &made, &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_chat_template_create("x", 1, NULL, NULL), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_chat_template_render(NULL, &params, &text, NULL, &error),
                     LS_E_INVALID_ARGUMENT);
    made = create("x");
    assert_int_equal(ls_chat_template_render(made, NULL, &text, NULL, NULL), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_chat_template_render(made, &params, NULL, NULL, NULL),
                     LS_E_INVALID_ARGUMENT);
    ls_chat_template_destroy(&made);
    ls_chat_template_destroy(&made);
    ls_chat_template_destroy(NULL);
    params.message_count = 1;
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "messages is NULL", "");
    params.messages = &(ls_chat_message){.role = "a\xff"};
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "message 0: role is not UTF-8", "");
    params.messages = &(ls_chat_message){.content = "\xed\xa0\x80"};
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "message 0: content is not UTF-8", "");
    params.messages = &(ls_chat_message){.fields_json = "[]"};
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "message 0: fields_json is no JSON object",
                 "");
    params.messages = &(ls_chat_message){.fields_json = "{"};
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "message 0: fields_json is no JSON: line 1",
                 "");
    params.message_count = 0;
    params.tools_json = "{}";
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "tools_json is no JSON list", "");
    params.tools_json = NULL;
    params.variables_json = "{\"a\": 99999999999999999999}";
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "variables_json is no JSON", "");
    params.variables_json = NULL;
    params.bos_token = "\x80";
    expect_error("x", &params, LS_E_INVALID_ARGUMENT, "bos_token is not UTF-8", "");
    params.bos_token = NULL;
    params.struct_size = 0;
    expect_error("x", &params, LS_E_VERSION, "struct_size", "");
}

/* Programs that were compiled against headers with fewer fields, and with more. */
static void other_versions_of_the_params(void **state)
{
    (void)state;
    struct newer {
        ls_chat_params params;
        uint64_t field;
    } newer = {LS_CHAT_PARAMS_INIT, 0};
    newer.params.struct_size = sizeof newer;
    expect_text("x", &newer.params, "x");
    newer.field = 1;
    expect_error("x", &newer.params, LS_E_VERSION, "does not know", "");
    ls_chat_params older = LS_CHAT_PARAMS_INIT;
    older.output_bytes_max = older.steps_max = 1; /* what lies there is none of the struct's */
    older.struct_size = offsetof(ls_chat_params, output_bytes_max);
    expect_text("{{ 'abc' }}", &older, "abc");
}

static void bad_bytes(void **state)
{
    static const char *const TEXTS[] = {"\x80",         "\xc3",
                                        "\xc0\x80",     "\xe2\x82",
                                        "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                        "\xe0\x80\x80", "\xf4\x90\x80\x80"};
    ls_chat_template *made;
    ls_error error;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        char text[16] = "ab";
        strcat(text, TEXTS[i]);
        assert_int_equal(ls_chat_template_create(text, strlen(text), &made, &error), LS_E_FORMAT);
        assert_string_equal(error.message, "byte 2 of the template is not UTF-8");
    }
}

static void limits(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    static char large[(1 << 20) + 1];
    ls_chat_template *made;
    ls_error error;
    memset(large, 'x', sizeof large);
    assert_int_equal(ls_chat_template_create(large, sizeof large, &made, &error), LS_E_LIMIT);
    params.output_bytes_max = 10;
    expect_text("{{ 'abcde' * 2 }}", &params, "abcdeabcde");
    expect_error("{{ 'abcde' * 2 }}!", &params, LS_E_LIMIT, "longer than 10 bytes",
                 "line 1, column 18: {{ 'abcde' * 2 }}!");
    /* Text that is not printed is not limited by it. */
    expect_text("{% set x = 'abcde' * 9 %}{{ x|length }}", &params, "45");
    params.output_bytes_max = 0;
    params.steps_max = 100;
    expect_error("{% for x in range(1000) %}{% endfor %}", &params, LS_E_LIMIT, "too many steps",
                 "line 1, column 8: {% for x in range(1000) %}{% endfor %}");
}

/* A text that grows by pieces is not copied each time: that would be 15 GB, and over the limit. The
 * pieces of two texts that begin alike do not mix. */
static void growing_text(void **state)
{
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    expect_text(
        "{% set ns = namespace(t='') %}{% for i in range(100000) %}"
        "{% set ns.t = ns.t + 'abc' %}{% endfor %}{{ ns.t|length }} {{ ns.t.count('abc') }}",
        &params, "300000 100000");
    expect_text("{% set ns = namespace(t='', keep='') %}{% for i in range(200) %}"
                "{% set ns.t = ns.t + 'abc' %}{% set ns.keep = ns.t + 'x' %}"
                "{% set other = ns.t + 'yz' %}{{ other[-3:] if i == 199 }}{% endfor %}"
                " {{ ns.keep[-3:] }} {{ ns.t.count('abc') }} {{ ns.t.count('x') }}",
                &params, "cyz bcx 200 0");
}

/* Every allocation fails once: no crash, no leak (in builds that look), and a clear status. */
static void failing_allocations(void **state)
{
    static const char TEXT[] =
        "{% macro f(a) %}{{ a|upper }}{% endmacro %}{% for m in messages %}{{ f(m.role) }}: "
        "{{ m.content|tojson }}{{ m['content'] ~ 'x' * 5000 }}\n{% endfor %}";
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    params.messages = MESSAGES;
    params.message_count = 4;
    params.variables_json = "{\"a\": [1, 2, {\"b\": \"c\"}]}";
    for (uint64_t n = 1;; n++) {
        ls_chat_template *made = NULL;
        ls_error error = {0};
        char *text = NULL;
        ls__mem_fail_after(n);
        ls_status status = ls_chat_template_create(TEXT, sizeof TEXT - 1, &made, &error);
        if (status == LS_OK)
            status = ls_chat_template_render(made, &params, &text, NULL, &error);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || (status == LS_E_OUT_OF_MEMORY && error.code == status));
        assert_true((text != NULL) == (status == LS_OK));
        ls_text_destroy(&text);
        ls_chat_template_destroy(&made);
        if (status == LS_OK) {
            assert_true(n > 10);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_become_objects),
        cmocka_unit_test(text_with_a_zero_byte),
        cmocka_unit_test(variables_are_seen),
        cmocka_unit_test(dates),
        cmocka_unit_test(places_are_shown),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(other_versions_of_the_params),
        cmocka_unit_test(bad_bytes),
        cmocka_unit_test(limits),
        cmocka_unit_test(growing_text),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
