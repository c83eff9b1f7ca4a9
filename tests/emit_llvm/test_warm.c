/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was compiled before from the same sources is neither compiled nor lowered again, and is the
 * same in all that can be seen: kernels, warnings, results, reports, the IR when it is asked for. A
 * change of a source or an option is another program, and what is damaged is made anew.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cmocka_all.h"

#include "../base/ok.h"
#include "core/core.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

static char folder[] = "ls-test-warm-XXXXXX";

static const char text[] =
    "#include \"part.kc\"\n"
    "SPEC(u32, FACTOR, 3);\n"
    "struct pair { u32 a; f32 b; };\n"
    "kernel workgroup(32) void other(struct pair p, f32 *z) { z[0] = p.b; }\n"
    "kernel void times(u32 n, u32 *y)\n"
    "{\n"
    "    u32 i = global_id(0);\n"
    "    i;\n"
    "    y[i] = (i + PART) * FACTOR;\n"
    "}\n";

/* What is compiled, and what came of it. */
typedef struct run {
    const char *text, *part; /* part NULL: there is no such file */
    int64_t factor;
    bool unchecked;
    const char *lower;
    ls_tier tier;
    bool look; /* at the IR */
    /* results */
    bool was_compiled, was_lowered;
    char *diagnostics, *printed;
    char report[200];
    uint32_t reports;
    uint32_t y[64];
} run;

static bool include(void *context, const char *path, char **out, size_t *length)
{
    const run *r = context;
    if (strcmp(path, "part.kc") != 0 || !r->part)
        return false;
    *out = strdup(r->part);
    *length = strlen(r->part);
    return true;
}

static void on_report(void *context, const ls_sanitizer_report *report)
{
    run *r = context;
    if (r->reports++ == 0)
        snprintf(r->report, sizeof r->report, "%s %s %s:%u:%u %s[%lld] of %llu", report->kernel,
                 report->kind, report->file, report->line, report->column, report->object,
                 (long long)report->index, (unsigned long long)report->object_count);
}

static ls_status compile(run *r, ls_module **module, ls_error *error)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_define define = {"FACTOR", r->factor};
    ls_diagnostics *diagnostics = NULL;
    params.text = r->text ? r->text : text;
    params.length = strlen(params.text);
    params.path = "times.kc";
    params.defines = &define;
    params.define_count = r->factor != 0;
    params.include = include;
    params.include_context = r;
    params.cache_path = folder;
    ls_status status = ls_module_compile(&params, module, &diagnostics, error);
    r->diagnostics = strdup(ls_diagnostics_text(diagnostics));
    ls_diagnostics_destroy(&diagnostics);
    return status;
}

/* 40 lanes where the buffer has 20 elements, 64 lanes run. */
static void dispatch(run *r, ls_device *device, ls_program *program)
{
    const ls_kernel *kernel = NULL;
    ls_batch *batch = NULL;
    ls_stream *stream = NULL;
    ls_buffer *buffer = NULL;
    ls_fence *fence = NULL;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = sizeof r->y;
    params.element = LS_MEM_U32;
    OK(ls_program_kernel(program, "times", &kernel, error));
    OK(ls_buffer_create(device, &params, &buffer, error));
    ls_range range = {buffer, 0, 80};
    uint32_t n = 40;
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = kernel;
    d.global_size[0] = n;
    d.buffers = &range;
    d.buffer_count = 1;
    d.scalars = &n;
    d.scalar_bytes = sizeof n;
    OK(ls_batch_create(device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_stream_create(device, &stream, error));
    OK(ls_submit(stream, batch, NULL, &fence, error));
    OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    OK(ls_buffer_read(buffer, 0, LS_MEM_U32, r->y, sizeof r->y, error));
    ls_fence_destroy(&fence);
    ls_stream_destroy(&stream, NULL);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&buffer);
}

static void look(run *r, const ls_module *module)
{
    char *printed = NULL;
    OK(ls_module_print(module, &printed, NULL, error));
    r->printed = strdup(printed);
    ls_text_destroy(&printed);
}

static void check_kernels(const ls_module *module)
{
    ls_kernel_info info;
    ls_param_info param;
    ls_error error;
    assert_int_equal(ls_module_kernel_count(module), 2);
    OK(ls_module_kernel(module, 0, &info, error));
    assert_string_equal(info.name, "other");
    assert_int_equal(info.workgroup[0], 32);
    assert_int_equal(info.param_count, 2);
    assert_int_equal(info.buffer_count, 1);
    assert_int_equal(info.scalar_bytes, 8);
    OK(ls_module_param(module, "other", 0, &param, error));
    assert_string_equal(param.type_name, "struct pair");
    assert_int_equal(param.mem, LS_MEM_NONE);
    OK(ls_module_param(module, "times", 1, &param, error));
    assert_string_equal(param.name, "y");
    assert_true(param.is_pointer && !param.is_const && param.mem == LS_MEM_U32);
    assert_int_equal(ls_module_find_kernel(module, "none", &info, &error), LS_E_NOT_FOUND);
}

/* A device of its own each time, as another process would have. */
static void go(run *r)
{
    ls_device *device = NULL;
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = "cpu";
    params.threads = 1;
    params.cache_path = folder;
    params.check_bounds = true;
    params.on_report = on_report;
    params.report_context = r;
    OK(ls_device_open(&params, &device, error));
    assert_string_equal(ls_device_cache_path(device), folder);
    OK(compile(r, &module, error));
    check_kernels(module);
    OK(ls_device_supports(device, module, "times", error));
    ls_program_params build = LS_PROGRAM_PARAMS_INIT;
    build.unchecked = r->unchecked;
    build.lower = r->lower;
    build.tier = r->tier;
    OK(ls_program_create(device, module, &build, &program, error));
    r->was_compiled = atomic_load(&module->ir) != NULL;
    r->was_lowered = atomic_load(&program->built->ir) != NULL;
    ls_module_destroy(&module);
    if (!r->unchecked)
        dispatch(r, device, program);
    if (r->look)
        look(r, program->module);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
}

static void finish(run *r)
{
    free(r->diagnostics);
    free(r->printed);
}

static void check(run *r, uint32_t part, uint32_t factor, bool warm)
{
    for (uint32_t i = 0; i < 20 && !r->unchecked; i++)
        assert_int_equal(r->y[i], (i + part) * factor);
    assert_int_equal(r->was_compiled, !warm);
    assert_int_equal(r->was_lowered, !warm);
}

/* --- tests ------------------------------------------------------------------------------------ */
static void a_warm_start_is_the_same(void **state)
{
    (void)state;
    run cold = {.part = "#define PART 5u\n", .look = true}, warm = cold;
    go(&cold);
    check(&cold, 5, 3, false);
    go(&warm);
    check(&warm, 5, 3, true);
    assert_non_null(strstr(cold.diagnostics, "times.kc:8:5: warning"));
    assert_string_equal(cold.diagnostics, warm.diagnostics);
    assert_string_equal(cold.printed, warm.printed);
    assert_int_equal(cold.reports, 1);
    assert_int_equal(warm.reports, 1);
    assert_non_null(strstr(cold.report, "times.kc:9:"));
    assert_string_equal(cold.report, warm.report);
    finish(&cold);
    finish(&warm);
}

/* Each of these is a program of its own, and is found again; so is the first one. */
static void a_change_is_another_program(void **state)
{
    (void)state;
    static const char other_text[] = "#include \"part.kc\"\n"
                                     "SPEC(u32, FACTOR, 3);\n"
                                     "struct pair { u32 a; f32 b; };\n"
                                     "kernel workgroup(32) void other(struct pair p, f32 *z) {}\n"
                                     "kernel void times(u32 n, u32 *y)\n"
                                     "{\n"
                                     "    y[global_id(0)] = (global_id(0) + PART + 1u) * FACTOR;\n"
                                     "}\n";
    const run runs[] = {
        {.part = "#define PART 7u\n"},
        {.part = "#define PART 7u\n", .factor = 4},
        {.part = "#define PART 7u\n", .text = other_text},
        {.part = "#define PART 7u\n", .unchecked = true},
        {.part = "#define PART 7u\n", .lower = "all"},
        {.part = "#define PART 7u\n", .tier = LS_TIER_QUICK},
    };
    for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        run cold = runs[i], warm = runs[i];
        uint32_t part = runs[i].text ? 8 : 7, factor = runs[i].factor ? 4 : 3;
        go(&cold);
        /* of one text the module is known, and another tier only lacks its code */
        check(&cold, part, factor, false);
        go(&warm);
        check(&warm, part, factor, true);
        assert_string_equal(cold.diagnostics, warm.diagnostics);
        assert_string_equal(cold.report, warm.report);
        finish(&cold);
        finish(&warm);
    }
}

/* The text that includes it stays the same. */
static void a_changed_file_is_seen(void **state)
{
    (void)state;
    static const char *const parts[] = {"#define PART 10u\n", "#define PART 11u\n",
                                        "#define PART 10u\n"};
    for (uint32_t i = 0; i < 3; i++) {
        run r = {.part = parts[i]};
        go(&r);
        assert_true(r.was_compiled);
        assert_int_equal(r.was_lowered, i < 2); /* the first program is still there */
        for (uint32_t k = 0; k < 20; k++)
            assert_int_equal(r.y[k], (k + (i == 1 ? 11 : 10)) * 3);
        finish(&r);
    }
    run gone = {0};
    ls_module *module = NULL;
    ls_error error;
    assert_int_equal(compile(&gone, &module, &error), LS_E_COMPILE);
    assert_null(module);
    assert_non_null(strstr(gone.diagnostics, "part.kc"));
    finish(&gone);
}

static void damage_all(long at)
{
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r+b");
        if (!file)
            continue;
        fseek(file, at, SEEK_SET);
        fputc(0x5a, file);
        fclose(file);
        if (at == 0)
            assert_int_equal(truncate(path, 60), 0);
    }
    closedir(stream);
}

static void damage_is_repaired(void **state)
{
    (void)state;
    static const long places[] = {0, 30, 90, 120};
    for (uint32_t i = 0; i < sizeof places / sizeof *places; i++) {
        run cold = {.part = "#define PART 20u\n"}, warm = cold;
        damage_all(places[i]);
        go(&cold);
        check(&cold, 20, 3, false);
        go(&warm);
        check(&warm, 20, 3, true);
        finish(&cold);
        finish(&warm);
    }
}

/* Optimised code that is not there is made of texts that only the cache knew. */
static void quick_code_is_optimised_later(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        run r = {.part = "#define PART 30u\n", .tier = LS_TIER_QUICK};
        ls_device *device = NULL;
        ls_module *module = NULL;
        ls_program *program = NULL, *again = NULL;
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        ls_program_params build = LS_PROGRAM_PARAMS_INIT;
        params.name = "cpu";
        params.threads = 1;
        params.cache_path = folder;
        OK(ls_device_open(&params, &device, error));
        OK(compile(&r, &module, error));
        build.tier = LS_TIER_QUICK;
        OK(ls_program_create(device, module, &build, &program, error));
        assert_int_equal(atomic_load(&module->ir) != NULL, round == 0);
        if (round == 1) { /* waits for it */
            OK(ls_program_optimize(program, error));
            build.tier = LS_TIER_OPTIMIZED;
            OK(ls_program_create(device, module, &build, &again, error));
            assert_ptr_equal(again->built, program->built);
            assert_non_null(atomic_load(&program->built->optimized));
        }
        dispatch(&r, device, program);
        for (uint32_t i = 0; i < 20; i++)
            assert_int_equal(r.y[i], (i + 30) * 3);
        ls_program_destroy(&program);
        ls_program_destroy(&again);
        ls_module_destroy(&module);
        OK(ls_device_destroy(&device, error));
        finish(&r);
    }
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_start_is_the_same),
        cmocka_unit_test(a_change_is_another_program),
        cmocka_unit_test(a_changed_file_is_seen),
        cmocka_unit_test(damage_is_repaired),
        cmocka_unit_test(quick_code_is_optimised_later),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
