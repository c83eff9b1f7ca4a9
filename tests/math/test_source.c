/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded sources of the math library are complete and keep its rules. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "kernels/math_sources.h"

static const ls__source_text *find(const char *name, size_t length)
{
    for (uint32_t i = 0; i < ls__kernels_math_count; i++)
        if (strlen(ls__kernels_math[i].name) == length &&
            memcmp(ls__kernels_math[i].name, name, length) == 0)
            return &ls__kernels_math[i];
    return NULL;
}

static void each_function_has_its_file(void **state)
{
    static const char *const names[] = {"exp", "exp2", "log",   "log2", "sin",
                                        "cos", "tanh", "rsqrt", "pow"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char file[16], definition[64];
        snprintf(file, sizeof(file), "%s.kc", names[i]);
        snprintf(definition, sizeof(definition), "static inline f32 ls_%s(f32 x", names[i]);
        const ls__source_text *source = find(file, strlen(file));
        assert_non_null(source);
        assert_non_null(strstr(source->text, definition));
    }
}

static void included_files_are_there(void **state)
{
    uint32_t includes = 0;
    for (uint32_t i = 0; i < ls__kernels_math_count; i++) {
        const char *at = ls__kernels_math[i].text;
        while ((at = strstr(at, "#include \"")) != NULL) {
            at += strlen("#include \"");
            assert_non_null(find(at, strcspn(at, "\"")));
            includes++;
        }
    }
    assert_true(includes > 0);
}

/* No fused operation and no binary64: what they give is not the same on every device. */
static void only_portable_operations(void **state)
{
    for (uint32_t i = 0; i < ls__kernels_math_count; i++) {
        const ls__source_text *source = &ls__kernels_math[i];
        assert_int_equal(strlen(source->text), source->length);
        assert_null(strstr(source->text, "fma("));
        assert_null(strstr(source->text, "f64"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_has_its_file),
        cmocka_unit_test(included_files_are_there),
        cmocka_unit_test(only_portable_operations),
    };
    return cmocka_run_group_tests_name("math_source", tests, NULL, NULL);
}
