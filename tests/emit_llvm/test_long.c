/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that LLVM's better code generator would take too long for: a long one is generated
 * quickly and leaves the rest of its program alone, a huge one takes it along. The bits are those
 * of the interpreter.
 */
#include "../base/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "../base/ok.h"
#include "base/mem.h"
#include "base/str.h"
#include "emit/llvm/emit.h"
#include "harness.h"
#include "lockstep/program.h"

enum {
    SHORT = 100,
    LONG = 2000,
    HUGE_ONE = 8000,
    LARGEST = 13000
}; /* lines of 2 to 7 instructions */

/* A kernel of one lane that mixes eight numbers again and again. */
static void add_kernel(ls__strbuf *text, const char *name, uint32_t lines)
{
    ls__strbuf_printf(text, "kernel workgroup(1) void %s(const u32 *x, u32 *y)\n{\n", name);
    for (uint32_t i = 0; i < 8; i++)
        ls__strbuf_printf(text, "    u32 v%u = x[%u];\n", i, i);
    for (uint32_t i = 0; i < lines; i++)
        ls__strbuf_printf(text, "    v%u = (v%u %c v%u) + %uu;\n", i % 8, (i * 5 + 3) % 8,
                          "+*^"[i % 3], (i / 8 + i) % 8, i);
    ls__strbuf_printf(text, "    y[0] = v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7;\n}\n");
}

static ls__ir_module *make(uint32_t lines)
{
    ls__strbuf text = {0};
    add_kernel(&text, "first", lines);
    add_kernel(&text, "second", SHORT);
    ls__strbuf_append(&text, "", 1);
    ls__ir_module *module = ls__compile_text(text.text, "long.kc");
    assert_non_null(module);
    ls__strbuf_finish(&text);
    return module;
}

/* Functions of the printed code whose attributes are those that have `word`. */
static unsigned count_marked(const char *text, const char *word)
{
    unsigned count = 0;
    const char *groups = strstr(text, "\nattributes #");
    for (const char *group = groups; group; group = strstr(group + 1, "\nattributes #")) {
        char reference[16];
        const char *end = strchr(group + 1, '\n'), *at = strstr(group, word);
        if (!at || (end && at > end))
            continue;
        size_t length = strcspn(group + 12, " ");
        assert_true(length < sizeof reference - 2);
        snprintf(reference, sizeof reference, " %.*s ", (int)length, group + 12);
        for (const char *line = strstr(text, "\ndefine "); line;
             line = strstr(line + 1, "\ndefine ")) {
            const char *stop = strchr(line + 1, '\n'), *found = strstr(line, reference);
            count += found && found < stop;
        }
    }
    return count;
}

static unsigned marked(uint32_t lines, const char *target)
{
    ls_error error = {0};
    char *text = NULL;
    ls__ir_module *module = make(lines);
    if (ls__llvm_print(module, target, true, &text, &error) != LS_OK)
        fail_msg("%s", error.message);
    unsigned count = count_marked(text, " optnone ");
    ls__mem_free(text);
    ls__ir_module_destroy(&module);
    return count;
}

static void long_functions_alone_are_quick(void **state)
{
    (void)state;
    assert_int_equal(marked(SHORT, "avx2"), 0);
    assert_int_equal(marked(LONG, "avx2"), 2); /* the kernel's code, and what calls it */
    assert_int_equal(marked(LONG, "avx2+quick"), 0);
    assert_int_equal(marked(HUGE_ONE, "avx2"), 0);
}

static void bits_stay(void **state)
{
    (void)state;
    unsigned runs = 0;
    ls__ir_module *module = make(LONG);
    for (uint32_t i = 1; i < module->functions.count; i++) {
        ls__trial trial = {
            .module = module, .kernel = module->functions.items[i], .global_size = {1, 1, 1}};
        ls__trial_fill(&trial, 7 + i, 8);
        assert_int_equal(ls__compare_all(&trial, 1, "native", &runs), 0);
        ls__trial_finish(&trial);
    }
    assert_true(runs >= 2);
    ls__ir_module_destroy(&module);
}

/* Optimised code is then not what was asked for, which callers can find out. */
static void check_said(uint32_t lines, ls_tier tier, bool is_said)
{
    ls__strbuf text = {0};
    ls_device *device = NULL;
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_program_params build = LS_PROGRAM_PARAMS_INIT;
    ls_counters counters = {.struct_size = sizeof counters};
    ls_tier_info info = {.struct_size = sizeof info};
    add_kernel(&text, "k", lines);
    compile.text = text.text;
    compile.length = text.length;
    build.tier = tier;
    params.name = "cpu";
    params.threads = 1;
    params.unprobed = true;
    OK(ls_device_open(&params, &device, error));
    OK(ls_module_compile(&compile, &module, NULL, error));
    OK(ls_program_create(device, module, &build, &program, error));
    ls_device_counters(device, &counters);
    ls_program_tier(program, &info);
    assert_int_equal(counters.programs_hurried, is_said);
    assert_int_equal(info.state,
                     tier == LS_TIER_QUICK ? LS_TIER_STATE_QUICK : LS_TIER_STATE_OPTIMIZED);
    assert_int_equal(info.reason[0] != 0, is_said);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    OK(ls_device_destroy(&device, error));
    ls__strbuf_finish(&text);
}

static void it_is_said(void **state)
{
    (void)state;
    check_said(SHORT, LS_TIER_OPTIMIZED, false);
    check_said(LARGEST, LS_TIER_OPTIMIZED, true);
    check_said(LARGEST, LS_TIER_QUICK, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_functions_alone_are_quick),
                                       cmocka_unit_test(bits_stay), cmocka_unit_test(it_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
