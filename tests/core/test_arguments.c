/* SPDX-License-Identifier: Apache-2.0 */
/* What callers do wrong: NULL in every place that takes a handle or a result, params structs of
 * other versions, and functions of theirs that change the floating-point environment. */
#include "kit.h"

#include <fenv.h>

#define REFUSED(call) FAILS(LS_E_INVALID_ARGUMENT, call)

static void nowhere_to_write_a_result(void **state)
{
    (void)state;
    ls_device *device = kit_open("reference", NULL);
    ls_program *program = kit_program(device, basic_ir, NULL, NULL);
    ls_buffer *buffer = kit_buffer(device, 16, LS_MEM_NONE);
    ls_batch *batch = kit_batch(device);
    ls_module *module = NULL;
    ls_buffer_params buffer_params = {.struct_size = sizeof buffer_params, .size_bytes = 16};
    ls_compile_params compile = {.struct_size = sizeof compile, .text = "", .length = 0};
    uint64_t aligned[4] = {0};
    size_t size = 0;
    OK(ls_module_read(basic_ir, strlen(basic_ir), &module, error));
    REFUSED(ls_device_list(NULL, 0, NULL, error));
    REFUSED(ls_device_open(NULL, NULL, error));
    REFUSED(ls_buffer_create(device, &buffer_params, NULL, error));
    REFUSED(ls_buffer_import(device, aligned, false, &buffer_params, NULL, error));
    REFUSED(ls_buffer_map(buffer, 0, LS_WHOLE, LS_MAP_READ, NULL, error));
    REFUSED(ls_buffer_read(buffer, 0, LS_MEM_NONE, NULL, 4, error));
    REFUSED(ls_batch_create(device, NULL, error));
    REFUSED(ls_stream_create(device, NULL, error));
    REFUSED(ls_prepare(batch, NULL, error));
    REFUSED(ls_program_create(device, module, NULL, NULL, error));
    REFUSED(ls_program_kernel(program, "add", NULL, error));
    REFUSED(ls_module_compile(&compile, NULL, NULL, error));
    REFUSED(ls_module_read("", 0, NULL, error));
    REFUSED(ls_module_decode("", 0, NULL, error));
    REFUSED(ls_module_print(module, NULL, &size, error));
    REFUSED(ls_module_encode(module, NULL, &size, error));
    REFUSED(ls_module_digest(module, NULL, error));
    REFUSED(ls_module_transform(module, NULL, NULL, NULL, error));
    REFUSED(ls_module_emit(module, "spirv", NULL, NULL, NULL, &size, error));
    REFUSED(ls_module_kernel(module, 0, NULL, error));
    REFUSED(ls_module_find_kernel(module, "add", NULL, error));
    REFUSED(ls_module_param(module, "add", 0, NULL, error));
    ls_module_destroy(&module);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&buffer);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
}

static void handles_that_are_null(void **state)
{
    (void)state;
    ls_buffer_params buffer_params = {.struct_size = sizeof buffer_params, .size_bytes = 16};
    ls_module *module = (ls_module *)&module;
    ls_program *program = NULL;
    ls_buffer *buffer = NULL;
    ls_batch *batch = NULL;
    ls_stream *stream = NULL;
    ls_prepared *prepared = NULL;
    const ls_kernel *kernel = NULL;
    ls_kernel_info kernel_info;
    ls_param_info param_info;
    uint64_t aligned[4] = {0};
    uint8_t digest[32];
    char *text = NULL;
    void *bytes = NULL;
    size_t size = 0;
    REFUSED(ls_buffer_create(NULL, &buffer_params, &buffer, error));
    REFUSED(ls_buffer_import(NULL, aligned, false, &buffer_params, &buffer, error));
    REFUSED(ls_buffer_map(NULL, 0, 4, LS_MAP_READ, &bytes, error));
    FAILS(LS_E_STATE, ls_buffer_unmap(NULL, error));
    REFUSED(ls_buffer_write(NULL, 0, LS_MEM_NONE, aligned, 4, error));
    REFUSED(ls_batch_create(NULL, &batch, error));
    REFUSED(ls_stream_create(NULL, &stream, error));
    REFUSED(ls_stream_wait(NULL, 0, error));
    REFUSED(ls_fence_wait(NULL, 0, NULL, error));
    REFUSED(ls_fence_cancel(NULL, 0, error));
    REFUSED(ls_prepare(NULL, &prepared, error));
    REFUSED(ls_program_create(NULL, NULL, NULL, &program, error));
    REFUSED(ls_program_kernel(NULL, "add", &kernel, error));
    REFUSED(ls_device_supports(NULL, NULL, NULL, error));
    REFUSED(ls_trace_begin(NULL, error));
    REFUSED(ls_trace_end(NULL, "trace.json", error));
    REFUSED(ls_module_compile(NULL, &module, NULL, error));
    assert_null(module);
    REFUSED(ls_module_print(NULL, &text, &size, error));
    REFUSED(ls_module_encode(NULL, &bytes, &size, error));
    REFUSED(ls_module_digest(NULL, digest, error));
    REFUSED(ls_module_transform(NULL, NULL, NULL, &module, error));
    REFUSED(ls_module_emit(NULL, "spirv", NULL, NULL, &bytes, &size, error));
    REFUSED(ls_module_kernel(NULL, 0, &kernel_info, error));
    REFUSED(ls_module_find_kernel(NULL, "add", &kernel_info, error));
    REFUSED(ls_module_param(NULL, "add", 0, &param_info, error));
    ls_module_destroy(NULL);
    ls_program_destroy(NULL);
    ls_prepared_destroy(NULL);
    ls_batch_destroy(NULL);
}

/* --- versions --------------------------------------------------------------------------------- */
static void fault_plans_of_other_versions(void **state)
{
    (void)state;
    struct {
        ls_fault_plan known;
        uint64_t later;
    } newer = {.known = {.struct_size = sizeof newer}, .later = 1};
    ls_device_params params = {.struct_size = sizeof params, .name = "fault"};
    ls_device *device = NULL;
    params.fault = &newer.known;
    FAILS(LS_E_VERSION, ls_device_open(&params, &device, error));
    assert_null(device);
    newer.later = 0;
    OK(ls_device_open(&params, &device, error));
    OK(ls_device_destroy(&device, error));
    newer.known.struct_size = 3;
    FAILS(LS_E_VERSION, ls_device_open(&params, &device, error));
}

/* --- functions of the caller ------------------------------------------------------------------ */
static void spoil_on_report(void *context, const ls_sanitizer_report *report)
{
    uint32_t *reports = context;
    (void)report;
    (*reports)++;
    fesetround(FE_UPWARD);
}

/* Reads behind its input, which is reported; the sum after it is rounded as ever. */
static const char probe_text[] = "kernel void probe(const f32 *x, f32 *y)\n"
                                 "{\n"
                                 "    f32 behind = x[global_id(0) + 4u];\n"
                                 "    y[global_id(0)] = behind + (x[0] + x[1]);\n"
                                 "}\n";

static void a_report_function_may_spoil_the_environment(void **state)
{
    (void)state;
    uint32_t reports = 0;
    ls_device_params params = {.struct_size = sizeof params, .name = "reference"};
    ls_compile_params compile = {.struct_size = sizeof compile};
    ls_device *device = NULL;
    ls_module *module = NULL;
    ls_program *program = NULL;
    float x[4] = {1.0f, 0x1p-30f}, y[4] = {0};
    params.sanitize = true;
    params.on_report = spoil_on_report;
    params.report_context = &reports;
    compile.text = probe_text;
    compile.length = sizeof probe_text - 1;
    OK(ls_device_open(&params, &device, error));
    OK(ls_module_compile(&compile, &module, NULL, error));
    OK(ls_program_create(device, module, NULL, &program, error));
    ls_stream *stream = kit_stream(device);
    ls_batch *batch = kit_batch(device);
    ls_buffer *in = kit_buffer(device, sizeof x, LS_MEM_F32),
              *out = kit_buffer(device, sizeof y, LS_MEM_F32);
    ls_range ranges[2] = {WHOLE(in), WHOLE(out)};
    ls_dispatch probe = kit_dispatch(kit_kernel(program, "probe"), 1, ranges, 2, NULL, 0);
    OK(ls_buffer_write(in, 0, LS_MEM_F32, x, sizeof x, error));
    OK(ls_batch_dispatch(batch, &probe, error));
    OK(ls_batch_dispatch(batch, &probe, error));
    kit_run(stream, batch, NULL);
    OK(ls_buffer_read(out, 0, LS_MEM_F32, y, sizeof y, error));
    assert_true(reports > 0);
    assert_true(y[0] == 1.0f); /* upwards it would be more */
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&in);
    ls_buffer_destroy(&out);
    ls_module_destroy(&module);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_device_destroy(&device, error));
}

static bool spoil_on_include(void *context, const char *path, char **text, size_t *length)
{
    (void)context;
    (void)path;
    *text = strdup("\n");
    *length = 1;
    fesetround(FE_UPWARD);
    return true;
}

static void an_include_function_may_spoil_the_environment(void **state)
{
    (void)state;
    static const char text[] = "#include \"x.kc\"\n"
                               "kernel void probe(f32 *y)\n"
                               "{\n"
                               "    y[0] = 1.0f + 0x1p-30f;\n"
                               "}\n";
    ls_compile_params compile = {.struct_size = sizeof compile};
    ls_module *plain = NULL, *spoiled = NULL;
    uint8_t expected[32], found[32];
    compile.text = strchr(text, '\n'); /* without the include, on the same lines */
    compile.length = strlen(compile.text);
    OK(ls_module_compile(&compile, &plain, NULL, error));
    compile.text = text;
    compile.length = sizeof text - 1;
    compile.include = spoil_on_include;
    OK(ls_module_compile(&compile, &spoiled, NULL, error));
    assert_int_equal(fegetround(), FE_TONEAREST);
    ls_module *folded[2] = {NULL, NULL};
    OK(ls_module_transform(plain, NULL, NULL, &folded[0], error));
    OK(ls_module_transform(spoiled, NULL, NULL, &folded[1], error));
    OK(ls_module_digest(folded[0], expected, error));
    OK(ls_module_digest(folded[1], found, error));
    assert_memory_equal(found, expected, sizeof found);
    ls_module_destroy(&plain);
    ls_module_destroy(&spoiled);
    ls_module_destroy(&folded[0]);
    ls_module_destroy(&folded[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nowhere_to_write_a_result),
        cmocka_unit_test(handles_that_are_null),
        cmocka_unit_test(fault_plans_of_other_versions),
        cmocka_unit_test(a_report_function_may_spoil_the_environment),
        cmocka_unit_test(an_include_function_may_spoil_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
