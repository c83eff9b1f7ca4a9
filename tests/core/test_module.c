/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: compiling with includes and the math library, looking at kernels, text and binary forms,
 * transforming; and what the reference's sanitizer reports through the device. */
#include "kit.h"

static ls_module *compile(const char *text, ls_diagnostics **diagnostics, ls_status expected)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    ls_error e = {0};
    params.text = text;
    params.length = strlen(text);
    params.path = "dir/test.kc";
    ls_status status = ls_module_compile(&params, &module, diagnostics, &e);
    if (status != expected)
        fail_msg("%s: %s %s", ls_status_name(status), e.message, e.where);
    return module;
}

static const char tile_text[] =
    "kernel workgroup(32, 2) void tile(u32 n, const f32 x[static 8], f32 *y)\n"
    "{\n"
    "    shared f32 part[64];\n"
    "    f32 mine[4];\n"
    "    u32 i = global_id(0) + global_id(1) * 32;\n"
    "    u32 l = local_id(0) + local_id(1) * 32;\n"
    "    mine[l % 4] = i < n ? x[i] : 0.0f;\n"
    "    part[l] = exp(mine[l % 4]);\n"
    "    barrier();\n"
    "    if (i < n)\n"
    "        y[i] = part[63 - l];\n"
    "}\n";

static void kernels_describe_themselves(void **state)
{
    (void)state;
    ls_module *module = compile(tile_text, NULL, LS_OK);
    ls_kernel_info info;
    ls_param_info param;
    assert_int_equal(ls_module_kernel_count(module), 1);
    OK(ls_module_kernel(module, 0, &info, error));
    FAILS(LS_E_NOT_FOUND, ls_module_kernel(module, 1, &info, error));
    OK(ls_module_find_kernel(module, "tile", &info, error));
    assert_string_equal(info.name, "tile");
    assert_int_equal(info.workgroup[0] * 100 + info.workgroup[1] * 10 + info.workgroup[2], 3221);
    assert_int_equal(info.param_count, 3);
    assert_int_equal(info.buffer_count, 2);
    assert_int_equal(info.scalar_bytes, 4);
    assert_int_equal(info.shared_bytes, 256);
    assert_true(info.local_bytes >= 16);
    assert_false(info.unordered);
    OK(ls_module_param(module, "tile", 1, &param, error));
    assert_string_equal(param.name, "x");
    assert_string_equal(param.type_name, "f32");
    assert_true(param.is_pointer && param.is_const);
    assert_int_equal(param.mem, LS_MEM_F32);
    assert_int_equal(param.buffer, 0);
    assert_int_equal(param.min_elements, 8);
    FAILS(LS_E_NOT_FOUND, ls_module_param(module, "tile", 3, &param, error));
    ls_error e = {0};
    assert_int_equal(ls_module_find_kernel(module, "tiles", &info, &e), LS_E_NOT_FOUND);
    assert_non_null(strstr(e.hint, "tile"));
    ls_module_destroy(&module);
}

static void errors_come_as_diagnostics(void **state)
{
    (void)state;
    ls_diagnostics *diagnostics = NULL;
    ls_module *module =
        compile("kernel void f(u32 *y)\n{\n    y[0] = unknown;\n}\n", &diagnostics, LS_E_COMPILE);
    assert_null(module);
    assert_true(ls_diagnostics_count(diagnostics) >= 1);
    ls_diagnostic d;
    ls_diagnostics_get(diagnostics, 0, &d);
    assert_memory_equal(d.id, "LS", 2);
    assert_int_equal(d.line, 3);
    assert_int_equal(d.column, 12);
    assert_false(d.is_warning);
    assert_non_null(strstr(d.source_line, "unknown"));
    assert_non_null(strstr(ls_diagnostics_text(diagnostics), "dir/test.kc:3:12"));
    ls_diagnostics_destroy(&diagnostics);
    assert_null(diagnostics);
    assert_int_equal(ls_diagnostics_count(NULL), 0);
    compile("kernel void f(u32 *y) { y[0] = 1 }", NULL,
            LS_E_COMPILE); /* nobody wants to see them */
}

static bool include(void *context, const char *path, char **text, size_t *length)
{
    static const char header[] = "#define SEVEN 7\n";
    uint32_t *asked = context;
    (*asked)++;
    if (strcmp(path, "dir/sub/seven.kc") != 0)
        return false;
    *text = malloc(sizeof header);
    memcpy(*text, header, sizeof header);
    *length = sizeof header - 1;
    return true;
}

static void includes_come_from_the_caller(void **state)
{
    (void)state;
    static const char text[] = "#include \"sub/seven.kc\"\nSPEC(i32, N, 1);\n"
                               "kernel void f(i32 *y)\n{\n    y[0] = SEVEN + N;\n}\n";
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_define define = {"N", 3};
    ls_module *module = NULL;
    uint32_t asked = 0;
    params.text = text;
    params.length = strlen(text);
    params.path = "dir/test.kc";
    params.include = include;
    params.include_context = &asked;
    params.defines = &define;
    params.define_count = 1;
    OK(ls_module_compile(&params, &module, NULL, error));
    assert_int_equal(asked, 1);
    ls_module_destroy(&module);
    params.path = "elsewhere/test.kc";
    FAILS(LS_E_COMPILE, ls_module_compile(&params, &module, NULL, error));
    assert_null(module);
    params.path = "dir/test.kc";
    define.name = "M"; /* no such constant */
    FAILS(LS_E_COMPILE, ls_module_compile(&params, &module, NULL, error));
}

static void forms_read_back(void **state)
{
    (void)state;
    ls_module *module = compile(tile_text, NULL, LS_OK), *again = NULL;
    uint8_t digests[3][32];
    char *text = NULL, *second = NULL;
    void *bytes = NULL;
    size_t length = 0, size = 0;
    OK(ls_module_digest(module, digests[0], error));
    OK(ls_module_print(module, &text, &length, error));
    assert_int_equal(strlen(text), length);
    OK(ls_module_read(text, length, &again, error));
    OK(ls_module_print(again, &second, NULL, error));
    assert_string_equal(text, second);
    OK(ls_module_digest(again, digests[1], error));
    ls_module_destroy(&again);
    OK(ls_module_encode(module, &bytes, &size, error));
    OK(ls_module_decode(bytes, size, &again, error));
    OK(ls_module_digest(again, digests[2], error));
    assert_memory_equal(digests[0], digests[1], 32);
    assert_memory_equal(digests[0], digests[2], 32);
    ls_module_destroy(&again);
    FAILS(LS_E_FORMAT, ls_module_decode(bytes, size - 1, &again, error));
    assert_null(again);
    ls_text_destroy(&text);
    ls_text_destroy(&second);
    ls_bytes_destroy(&bytes);
    ls_module_destroy(&module);
}

static char *transformed(const ls_module *module, const char *stop_after, const char *lower)
{
    ls_module *result = NULL;
    char *text = NULL;
    OK(ls_module_transform(module, stop_after, lower, &result, error));
    OK(ls_module_print(result, &text, NULL, error));
    ls_module_destroy(&result);
    return text;
}

static void transforming_makes_a_new_module(void **state)
{
    (void)state;
    static const char source[] =
        "kernel void f(f32 *y)\n{\n    y[0] = y[1] / y[2];\n    grid_barrier();\n"
        "    y[3] = y[0];\n}\n";
    ls_module *module = compile(source, NULL, LS_OK), *none = NULL;
    char *plain = transformed(module, NULL, NULL),
         *lowered = transformed(module, NULL, "div,grid_barrier");
    char *early = transformed(module, "fold", "div");
    assert_non_null(strstr(plain, "fdiv"));
    assert_null(strstr(lowered, "fdiv"));
    assert_null(strstr(lowered, "grid_barrier\n"));
    assert_non_null(strstr(lowered, "__scratch"));
    assert_non_null(strstr(early, "fdiv")); /* the lowering comes later */
    FAILS(LS_E_INVALID_ARGUMENT, ls_module_transform(module, "no_such_pass", NULL, &none, error));
    FAILS(LS_E_INVALID_ARGUMENT,
          ls_module_transform(module, NULL, "no_such_lowering", &none, error));
    ls_text_destroy(&plain);
    ls_text_destroy(&lowered);
    ls_text_destroy(&early);
    ls_module_destroy(&module);
}

static void claims_of_bounds_are_not_believed(void **state)
{
    (void)state;
    static const char text[] = "lockstep ir 3\n\n"
                               "kernel @f workgroup(1, 1, 1) {\n"
                               "  buffer y : u32 size 4 align 4\n"
                               "  %1 = const 4000000 : i64\n"
                               "  %2 = load u32 buffer 0 [%1] : i32 inbounds\n"
                               "  store u32 buffer 0 [%1], %2 inbounds\n"
                               "}\n";
    ls_module *module = NULL;
    OK(ls_module_read(text, strlen(text), &module, error));
    char *plain = transformed(module, NULL, NULL), *checked = transformed(module, NULL, "bounds");
    assert_null(strstr(plain, "inbounds"));
    assert_non_null(strstr(checked, "range buffer 0")); /* the check that was claimed away */
    ls_text_destroy(&plain);
    ls_text_destroy(&checked);
    ls_module_destroy(&module);
}

static void constants_describe_themselves(void **state)
{
    (void)state;
    static const char text[] = "SPEC(u32, GROUP, 64, 32, 128);\nSPEC(i8, SIGN, -1);\n"
                               "kernel workgroup(GROUP) void k(i32 *y)\n{\n    y[0] = SIGN;\n}\n";
    const ls_define define = {"GROUP", 96};
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL, *alone = NULL;
    ls_spec_info info;
    params.text = text;
    params.length = strlen(text);
    params.defines = &define;
    params.define_count = 1;
    OK(ls_module_compile(&params, &module, NULL, error));
    OK(ls_module_select(module, "k", &alone, error)); /* has them, too */
    ls_module_destroy(&module);
    assert_int_equal(ls_module_spec_count(alone), 2);
    OK(ls_module_spec(alone, 0, &info, error));
    assert_string_equal(info.name, "GROUP");
    assert_int_equal(info.mem, LS_MEM_U32);
    assert_int_equal(info.value, 96);
    assert_int_equal(info.default_value, 64);
    assert_int_equal(info.choice_count, 2);
    assert_int_equal(info.choices[0], 32);
    assert_int_equal(info.choices[1], 128);
    OK(ls_module_spec(alone, 1, &info, error));
    assert_int_equal(info.value, -1);
    assert_int_equal(info.choice_count, 0);
    FAILS(LS_E_NOT_FOUND, ls_module_spec(alone, 2, &info, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_module_spec(NULL, 0, &info, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_module_spec(alone, 0, NULL, error));
    assert_int_equal(ls_module_spec_count(NULL), 0);
    ls_module_destroy(&alone);
}

/* --- building by hand
 * ------------------------------------------------------------------------------------ */
static void built_modules_link_compiled_functions(void **state)
{
    (void)state;
    ls_module *library =
        compile("noinline u32 triple(u32 x)\n{\n    return x * 3;\n}\n", NULL, LS_OK);
    ls_builder *b = NULL;
    ls_module *module = NULL;
    ls_param_desc param = {.name = "y", .mem = LS_MEM_U32, .is_pointer = true};
    ls_function_desc desc = {.struct_size = sizeof desc,
                             .name = "k",
                             .is_kernel = true,
                             .workgroup = {1, 1, 1},
                             .params = &param,
                             .param_count = 1};
    OK(ls_builder_create(&b, error));
    ls_builder_link(b, library);
    ls_module_destroy(&library);
    ls_function triple = ls_builder_find(b, "triple");
    assert_true(triple.id != 0);
    ls_builder_begin(b, &desc);
    ls_var result = ls_builder_var(b, "result", LS_TYPE_I32);
    ls_value fourteen = ls_builder_const(b, LS_TYPE_I32, 14);
    ls_builder_call(b, triple, &fourteen, 1, NULL, 0, &result, 1);
    ls_builder_store(b, LS_MEM_U32, (ls_base){LS_BASE_BUFFER, 0},
                     ls_builder_const(b, LS_TYPE_I64, 0), ls_builder_get(b, result));
    ls_builder_end(b);
    OK(ls_builder_finish(&b, &module, error));
    assert_null(b);

    ls_device *device = kit_open("reference", NULL);
    ls_stream *stream = kit_stream(device);
    ls_program *program = NULL;
    ls_buffer *y = kit_buffer(device, 4, LS_MEM_U32);
    ls_batch *batch = kit_batch(device);
    OK(ls_program_create(device, module, NULL, &program, error));
    ls_range range = WHOLE(y);
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "k"), 1, &range, 1, NULL, 0);
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    assert_int_equal(kit_u32(y, 0), 42);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_device_destroy(&device, error));
}

/* --- the sanitizer
 * ------------------------------------------------------------------------------------------ */
typedef struct findings {
    uint32_t count;
    char kind[80], kernel[32], file[32], object[32];
    uint32_t line, lane, workgroup;
    int64_t index;
} findings;

static void on_report(void *context, const ls_sanitizer_report *report)
{
    findings *f = context;
    f->count++;
    snprintf(f->kind, sizeof f->kind, "%s", report->kind);
    snprintf(f->kernel, sizeof f->kernel, "%s", report->kernel);
    snprintf(f->file, sizeof f->file, "%s", report->file);
    snprintf(f->object, sizeof f->object, "%s", report->object);
    f->line = report->line;
    f->lane = report->lane;
    f->workgroup = report->workgroup[0];
    f->index = report->index;
}

static void the_sanitizer_reports_through_the_device(void **state)
{
    (void)state;
    static const char source[] = "kernel workgroup(4) void shift(u32 n, const u32 *x, u32 *y)\n{\n"
                                 "    u32 i = global_id(0);\n"
                                 "    if (i < n)\n"
                                 "        y[i] = x[i + 1];\n}\n";
    findings f = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    ls_program *program = NULL;
    ls_module *module = compile(source, NULL, LS_OK);
    params.name = "reference";
    params.sanitize = true;
    params.on_report = on_report;
    params.report_context = &f;
    OK(ls_device_open(&params, &device, error));
    OK(ls_program_create(device, module, NULL, &program, error));
    ls_stream *stream = kit_stream(device);
    ls_buffer *x = kit_buffer(device, 32, LS_MEM_U32), *y = kit_buffer(device, 32, LS_MEM_U32);
    ls_batch *batch = kit_batch(device);
    uint32_t n = 7, words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ls_range ranges[2] = {WHOLE(x), WHOLE(y)};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "shift"), 8, ranges, 2, &n, 4);
    OK(ls_buffer_write(x, 0, LS_MEM_U32, words, 32, error)); /* counts as written */
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    assert_int_equal(f.count, 0);
    ls_batch_clear(batch);
    n = 8;
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.kind, "out-of-bounds load");
    assert_string_equal(f.kernel, "shift");
    assert_string_equal(f.file, "dir/test.kc");
    assert_string_equal(f.object, "x");
    assert_int_equal(f.line, 5);
    assert_int_equal(f.workgroup, 1);
    assert_int_equal(f.lane, 3);
    assert_int_equal(f.index, 8);
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(device, &counters);
    assert_int_equal(counters.sanitizer_reports, 1);

    /* A copy carries along what has been written: y[7] has not. */
    ls_buffer *z = kit_buffer(device, 32, LS_MEM_U32);
    ls_range copied[2] = {WHOLE(z), WHOLE(y)};
    ls_dispatch again = kit_dispatch(kit_kernel(program, "shift"), 7, copied, 2, &n, 4);
    n = 7;
    again.scalars = &n;
    ls_batch_clear(batch);
    OK(ls_batch_copy(batch, (ls_range){z, 0, 28}, (ls_range){x, 0, 28}, NULL, error));
    OK(ls_batch_dispatch(batch, &again, error));
    f.count = 0;
    kit_run(stream, batch, NULL);
    assert_int_equal(f.count, 1);
    assert_string_equal(f.kind, "read of memory never written");
    assert_int_equal(f.index, 7);
    ls_buffer_destroy(&z);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_device_destroy(&device, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_describe_themselves),
        cmocka_unit_test(constants_describe_themselves),
        cmocka_unit_test(errors_come_as_diagnostics),
        cmocka_unit_test(includes_come_from_the_caller),
        cmocka_unit_test(forms_read_back),
        cmocka_unit_test(transforming_makes_a_new_module),
        cmocka_unit_test(claims_of_bounds_are_not_believed),
        cmocka_unit_test(built_modules_link_compiled_functions),
        cmocka_unit_test(the_sanitizer_reports_through_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
