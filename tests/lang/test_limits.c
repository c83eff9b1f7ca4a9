/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front end at its edges: failing allocations, the limit on errors, cut lines in messages, the
 * caller's floating-point environment, empty input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lang/lang.h"

static const char program[] =
    "SPEC(i32, N, 4);\n"
    "struct v { f32 x, y; };\n"
    "static const f32 t[4] = {1.0f, 2.0f, [3] = 3.0f};\n"
    "static f32 f(struct v a) { for (i32 i = 0; i < N; i++) if (a.x > 3.0f) return a.y;\n"
    "    return a.x; }\n"
    "noinline f32 g(f32 x, const f32 *p) { return x + p[1]; }\n"
    "kernel workgroup(32) void k(u32 n, struct v v, f32 *y)\n"
    "{\n"
    "    shared f32 s[32];\n"
    "    u32 i = global_id(0);\n"
    "    s[local_id(0)] = t[i & 3u] + (i < n && y[i] > 0.0f ? f(v) : g(v.y, y));\n"
    "    barrier();\n"
    "    switch (i) { case 1: y[i] = subgroup_dummy; break; default: y[i] = s[0]; }\n"
    "}\n";

/* The program with the one unknown name replaced, so that it compiles. */
static char *good_program(void)
{
    char *text = strdup(program);
    assert_non_null(text);
    char *name = strstr(text, "subgroup_dummy");
    memcpy(name, "1.5f          ", 14);
    return text;
}

static ls_status compile(const char *text, size_t length, ls__lang_diagnostics *list,
                         ls_error *error)
{
    ls__ir_module *module;
    ls_status status = ls__lang_compile(text, length, NULL, &module, list, error);
    assert_true((status == LS_OK) == (module != NULL));
    ls__ir_module_destroy(&module);
    return status;
}

static void sweep(const char *text)
{
    for (uint64_t n = 1;; n++) {
        ls__lang_diagnostics list = {0};
        ls_error error = {0};
        ls__mem_fail_after(n);
        ls_status status = compile(text, strlen(text), &list, &error);
        ls__mem_fail_after(0);
        ls__lang_diagnostics_finish(&list);
        if (status != LS_E_OUT_OF_MEMORY) {
            assert_true(n > 5); /* it did fail before */
            return;
        }
        assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
        assert_true(n < 100000);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    char *good = good_program();
    sweep(good);
    sweep(program);
    free(good);
}

static void error_limit(void **state)
{
    (void)state;
    ls__strbuf text = {0};
    ls__lang_diagnostics list = {0};
    ls_error error = {0};
    ls__strbuf_printf(&text, "kernel void k(f32 *y)\n{\n");
    for (int i = 0; i < 100; i++)
        ls__strbuf_printf(&text, "    y[0] = unknown%d;\n", i);
    ls__strbuf_printf(&text, "}\n");
    assert_int_equal(compile(text.text, text.length, &list, &error), LS_E_COMPILE);
    assert_int_equal(list.items.count, 20);
    assert_string_equal(list.items.items[19].id, "LS0200");
    assert_int_equal(list.items.items[19].line, 22);
    assert_non_null(strstr(error.message, "LS0200"));
    assert_string_equal(error.where, "<kernel>:3:12");
    ls__lang_diagnostics_finish(&list);
    ls__strbuf_finish(&text);
}

static void syntax_error_limit(void **state)
{
    (void)state;
    ls__strbuf text = {0};
    ls__lang_diagnostics list = {0};
    for (int i = 0; i < 50; i++)
        ls__strbuf_printf(&text, "kernel void k%d() { 1 +; }\n", i);
    assert_int_equal(compile(text.text, text.length, &list, NULL), LS_E_COMPILE);
    assert_int_equal(list.items.count, 20); /* recovery finds one in each function */
    ls__lang_diagnostics_finish(&list);
    ls__strbuf_finish(&text);
}

static void printed(void **state)
{
    (void)state;
    ls__lang_diagnostics list = {0};
    ls__strbuf out = {0};
    const char text[] = "kernel void k(f32 *y, u32 count)\n{\n\ty[0] = coutn + 1.0f;\n}\n";
    assert_int_equal(compile(text, strlen(text), &list, NULL), LS_E_COMPILE);
    ls__lang_diagnostics_print(&list, &out);
    assert_string_equal(out.text, "<kernel>:3:9: error: LS0200: unknown name 'coutn'\n"
                                  "     y[0] = coutn + 1.0f;\n"
                                  "            ^~~~~\n"
                                  "    hint: did you mean 'count'?\n");
    ls__strbuf_finish(&out);
    ls__lang_diagnostics_finish(&list);
}

static void long_line_is_cut(void **state)
{
    (void)state;
    ls__strbuf text = {0}, out = {0};
    ls__lang_diagnostics list = {0};
    ls__strbuf_printf(&text, "kernel void k(f32 *y) { y[0] = %*s; }", 10000, "nothing");
    assert_int_equal(compile(text.text, text.length, &list, NULL), LS_E_COMPILE);
    assert_int_equal(list.items.count, 1);
    assert_true(strlen(list.items.items[0].source_line) <= 200);
    assert_true(list.items.items[0].shown_column > 1);
    ls__lang_diagnostics_print(&list, &out);
    assert_non_null(strstr(out.text, "nothing; }\n"));
    ls__strbuf_finish(&out);
    ls__strbuf_finish(&text);
    ls__lang_diagnostics_finish(&list);
}

/* Constants are folded and numbers read with rounding to nearest, whatever the caller has set. */
static void rounding_mode(void **state)
{
    (void)state;
    const char text[] = "kernel void k(f32 *y) { y[0] = 0.1f; y[1] = 1.0f / 3.0f; }";
    ls__strbuf printed_as[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        ls__lang_diagnostics list = {0};
        ls__ir_module *module;
        fesetround(i ? FE_UPWARD : FE_TONEAREST);
        assert_int_equal(ls__lang_compile(text, strlen(text), NULL, &module, &list, NULL), LS_OK);
        assert_int_equal(fegetround(), i ? FE_UPWARD : FE_TONEAREST);
        fesetround(FE_TONEAREST);
        ls__ir_print(module, &printed_as[i]);
        ls__ir_module_destroy(&module);
        ls__lang_diagnostics_finish(&list);
    }
    assert_string_equal(printed_as[0].text, printed_as[1].text);
    ls__strbuf_finish(&printed_as[0]);
    ls__strbuf_finish(&printed_as[1]);
}

static void empty_text(void **state)
{
    (void)state;
    ls__lang_diagnostics list = {0};
    assert_int_equal(compile("", 0, &list, NULL), LS_OK);
    assert_int_equal(list.items.count, 0);
    ls__lang_diagnostics_finish(&list);
}

/* The module and its parameters as tools see them. */
static void parameters(void **state)
{
    (void)state;
    const char text[] =
        "SPEC(u32, M, 3);\n"
        "struct p { f32 x; struct { u8 a[2]; f16 h; } in; };\n"
        "kernel void k(bool b, u64 w, const struct p *in, f16 *h, struct p s) { h[0] = s.in.h; }\n";
    ls__lang_define define = {"M", 7};
    ls__lang_options options = {.path = "dir/a.kc", .defines = &define, .define_count = 1};
    ls__lang_diagnostics list = {0};
    ls__ir_module *module;
    assert_int_equal(ls__lang_compile(text, strlen(text), &options, &module, &list, NULL), LS_OK);
    assert_int_equal(module->specs.count, 1);
    assert_int_equal(module->specs.items[0].value, 7);
    assert_int_equal(module->specs.items[0].default_value, 3);
    assert_string_equal(module->files.items[0], "dir/a.kc");
    const ls__ir_function *k = ls__ir_function_find(module, ls__str_from("k"));
    assert_non_null(k);
    const ls__ir_param *p = k->params.items;
    assert_int_equal(k->params.count, 5);
    assert_int_equal(p[1].offset, 8);
    assert_string_equal(p[2].type_name, "struct p");
    assert_true(p[2].is_const && p[2].is_pointer && p[2].mem == LS_MEM_NONE && p[2].size == 8);
    assert_int_equal(p[2].field_count, 4);
    assert_string_equal(p[2].fields[2].path, "in.a[1]");
    assert_int_equal(p[2].fields[2].offset, 5);
    assert_int_equal(p[2].fields[3].mem, LS_MEM_F16);
    assert_int_equal(p[3].mem, LS_MEM_F16);
    assert_int_equal(p[4].offset, 16);
    ls__ir_module_destroy(&module);
    ls__lang_diagnostics_finish(&list);
}

static void byte_order_mark(void **state)
{
    (void)state;
    static const char marked[] = "\xef\xbb\xbfkernel void k(u32 *y) { y[0] = z; }\n";
    ls__lang_diagnostics list = {0};
    ls_error error = {0};
    assert_int_equal(compile(marked, sizeof marked - 1, &list, &error), LS_E_COMPILE);
    assert_int_equal(list.items.count, 1); /* only z; the mark is no part of the line */
    assert_int_equal(list.items.items[0].column, 32);
    ls__lang_diagnostics_finish(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_order_mark),
        cmocka_unit_test(out_of_memory),      cmocka_unit_test(error_limit),
        cmocka_unit_test(syntax_error_limit), cmocka_unit_test(printed),
        cmocka_unit_test(long_line_is_cut),   cmocka_unit_test(rounding_mode),
        cmocka_unit_test(empty_text),         cmocka_unit_test(parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
