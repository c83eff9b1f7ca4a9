/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner: its options, its table and the page about it, and memory running out at any point.
 *
 *     test_pass_pipeline docs/passes.md
 */
#include "generate.h"
#include "harness.h"

#include "base/os.h"

static const char *page_path;

static ls__ir_module *generate(generate_mode mode)
{
    ls__oom oom;
    ls__ir_module *volatile module = NULL;
    if (setjmp(oom.jump) == 0) {
        module = new_module(&oom);
        generate_program(module, 11, mode);
    }
    assert_non_null(module);
    return module;
}

static void test_every_lowering_has_a_pass(void **state)
{
    (void)state;
    uint32_t count, bits = LS__LOWER_GRID_BARRIER; /* by its own call */
    const ls__pass *table = ls__pass_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true((table[i].kind == LS__PASS_LOWER) == (table[i].lower != 0));
        assert_int_equal(bits & table[i].lower, 0);
        bits |= table[i].lower;
    }
#define X(name, bit, text) assert_true(bits &LS__LOWER_##name);
    LS__LOWER_TABLE(X)
#undef X
}

static void test_page_names_every_pass(void **state)
{
    (void)state;
    void *page = NULL;
    size_t size = 0;
    ls_error error = {0};
    if (!page_path || ls__os_read_file(page_path, UINT64_MAX, &page, &size, &error) != LS_OK)
        fail_msg("needs the path of docs/passes.md: %s", error.message);
    uint32_t count;
    const ls__pass *table = ls__pass_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", table[i].name);
        if (!strstr(page, quoted))
            fail_msg("%s does not name %s", page_path, quoted);
    }
    ls__mem_free(page);
}

static void test_unknown_names_are_refused(void **state)
{
    (void)state;
    ls__ir_module *module = generate(GENERATE_ALONE);
    ls_error error = {0};
    ls__pass_options stop = {.optimize = true, .stop_after = "foldd"};
    assert_int_equal(ls__pass_run(module, &stop, &error), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "foldd"));
    ls__pass_options skip = {.optimize = true, .skip = ""};
    assert_int_equal(ls__pass_run(module, &skip, &error), LS_E_INVALID_ARGUMENT);
    ls__ir_module_destroy(&module);
}

static bool is_index(ls__ir_inst *inst, void *context)
{
    *(bool *)context |= inst->op == LS_OP_INDEX;
    return true;
}

static bool has_index_after(ls__pass_options options)
{
    ls__ir_module *module = generate(GENERATE_ALONE);
    ls_error error = {0};
    bool found = false;
    assert_int_equal(ls__pass_run(module, &options, &error), LS_OK);
    for (uint32_t i = 1; i < module->functions.count; i++)
        ls__ir_walk(module->functions.items[i]->body, is_index, &found);
    ls__ir_module_destroy(&module);
    return found;
}

static void test_stop_and_skip(void **state)
{
    (void)state;
    ls__pass_options options = {.optimize = true, .lower = LS__LOWER_BOUNDS};
    assert_false(has_index_after(options));
    options.skip = "lower_bounds";
    assert_true(has_index_after(options));
    options.skip = NULL;
    options.stop_after = "bounds";
    assert_true(has_index_after(options));
    options.stop_after = "lower_bounds";
    assert_false(has_index_after(options));
}

/* Fails the first allocation, then the second, ... until all goes well. */
static void test_memory_runs_out(void **state)
{
    (void)state;
    ls__ir_module *module = generate(GENERATE_GRID);
    uint32_t kernel = ls__ir_function_find(module, ls__str_from("k"))->id.id;
    ls__pass_options options = {.optimize = true, .lower = UINT32_MAX, .verify_each = true};
    ls_status status = LS_E_OUT_OF_MEMORY;
    unsigned failed = 0;
    for (uint64_t n = 1; status != LS_OK; n++, failed++) {
        ls__ir_module *copy = copy_of(module);
        ls__pass_split split;
        ls_error error = {0};
        ls__mem_fail_after(n);
        status = ls__pass_split_grid(copy, kernel, &split, &error);
        if (status == LS_OK)
            status = ls__pass_run(copy, &options, &error);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        ls__ir_module_destroy(&copy);
    }
    assert_true(failed > 10);
    ls__ir_module_destroy(&module);
}

/* A store in the innermost of as many conditions as the IR allows: checking its bounds takes one
 * more. */
static void test_lowering_that_nests_too_deeply(void **state)
{
    (void)state;
    ls__strbuf text = {0};
    ls__strbuf_printf(&text, "lockstep ir 3\nkernel @deep workgroup(1, 1, 1) {\n"
                             "buffer y : i32 size 4 align 4\n%%1 = const 0 : i64\n"
                             "%%2 = load i32 buffer 0 [%%1] : i32\n%%3 = eq %%2, %%2 : bool\n");
    for (int i = 0; i < LS__IR_MAX_DEPTH; i++)
        ls__strbuf_printf(&text, "if %%3 {\n");
    ls__strbuf_printf(&text, "store i32 buffer 0 [%%1], %%2\n");
    for (int i = 0; i <= LS__IR_MAX_DEPTH; i++)
        ls__strbuf_printf(&text, "}\n");
    ls__ir_module *module = NULL;
    ls_error error = {0};
    assert_int_equal(ls__ir_read(text.text, strlen(text.text), &module, &error), LS_OK);
    ls__strbuf_finish(&text);
    ls__pass_options options = {.lower = LS__LOWER_BOUNDS, .verify_each = true};
    assert_int_equal(ls__pass_run(module, &options, &error), LS_E_LIMIT);
    assert_non_null(strstr(error.message, "'deep'"));
    ls__ir_module_destroy(&module);
}

int main(int argc, char **argv)
{
    page_path = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_lowering_has_a_pass),
        cmocka_unit_test(test_page_names_every_pass),
        cmocka_unit_test(test_unknown_names_are_refused),
        cmocka_unit_test(test_stop_and_skip),
        cmocka_unit_test(test_lowering_that_nests_too_deeply),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
