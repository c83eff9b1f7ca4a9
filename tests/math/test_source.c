/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded text of the math library is complete, and self-contained as the front end needs it. */
#include "base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"

static void defines_every_function(void **state)
{
    static const char *const names[] = {"exp", "exp2", "log",   "log2", "sin",
                                        "cos", "tanh", "rsqrt", "pow"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char definition[64];
        snprintf(definition, sizeof(definition), "static inline f32 ls_%s(f32 x", names[i]);
        if (strstr(ls__kernels_math_source, definition) == NULL)
            fail_msg("no definition of %s", names[i]);
    }
}

static void is_one_text(void **state)
{
    assert_int_equal(strlen(ls__kernels_math_source), ls__kernels_math_source_size);
    assert_null(strstr(ls__kernels_math_source, "#include"));
    /* What the library is made of: no fused operation, no binary64. */
    assert_null(strstr(ls__kernels_math_source, "fma("));
    assert_null(strstr(ls__kernels_math_source, "f64"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defines_every_function),
        cmocka_unit_test(is_one_text),
    };
    return cmocka_run_group_tests_name("math_source", tests, NULL, NULL);
}
