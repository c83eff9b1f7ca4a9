/* SPDX-License-Identifier: Apache-2.0 */
/* The bring-up probe, on the fault device with an operation made wrong. */
#include <string.h>

#include "../core/kit.h"

/* y = a / b, y = a + b, y = fma(a, b, a) in f32. */
static const char kernels[] = "kernel void divides(const f32 *a, const f32 *b, f32 *y)\n"
                              "{\n"
                              "    u32 i = global_id(0);\n"
                              "    y[i] = a[i] / b[i];\n"
                              "}\n";
static const char sums[] = "kernel void adds(const f32 *a, const f32 *b, f32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    y[i] = a[i] + b[i];\n"
                           "}\n";

enum { COUNT_OF_LANES = 64 };

static ls_device *open_wrong(ls_op op, bool unprobed)
{
    ls_fault_plan plan = LS_FAULT_PLAN_INIT;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    plan.wrong_op = op;
    params.name = "fault";
    params.fault = &plan;
    params.unprobed = unprobed;
    OK(ls_device_open(&params, &device, error));
    return device;
}

static ls_module *compile(const char *text)
{
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    params.text = text;
    params.length = strlen(text);
    OK(ls_module_compile(&params, &module, NULL, error));
    return module;
}

/* The quotients of 1, 2, 3, ... by 3 on a device. */
static void divide(ls_device *device, float out[COUNT_OF_LANES])
{
    ls_module *module = compile(kernels);
    ls_program *program = NULL;
    OK(ls_program_create(device, module, NULL, &program, error));
    ls_buffer *a = kit_buffer(device, sizeof(float) * COUNT_OF_LANES, LS_MEM_NONE),
              *b = kit_buffer(device, sizeof(float) * COUNT_OF_LANES, LS_MEM_NONE),
              *y = kit_buffer(device, sizeof(float) * COUNT_OF_LANES, LS_MEM_NONE);
    float x[COUNT_OF_LANES], three[COUNT_OF_LANES];
    for (int i = 0; i < COUNT_OF_LANES; i++) {
        x[i] = (float)(i + 1);
        three[i] = 3;
    }
    OK(ls_buffer_write(a, 0, LS_MEM_NONE, x, sizeof x, error));
    OK(ls_buffer_write(b, 0, LS_MEM_NONE, three, sizeof three, error));
    ls_batch *batch = kit_batch(device);
    ls_stream *stream = kit_stream(device);
    ls_range ranges[3] = {WHOLE(a), WHOLE(b), WHOLE(y)};
    ls_dispatch dispatch =
        kit_dispatch(kit_kernel(program, "divides"), COUNT_OF_LANES, ranges, 3, NULL, 0);
    OK(ls_batch_dispatch(batch, &dispatch, error));
    kit_run(stream, batch, NULL);
    OK(ls_buffer_read(y, 0, LS_MEM_NONE, out, sizeof(float) * COUNT_OF_LANES, error));
    ls_batch_destroy(&batch);
    OK(ls_stream_destroy(&stream, error));
    ls_buffer_destroy(&a);
    ls_buffer_destroy(&b);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
}

static ls_probe_state state_of(ls_device *device, const char *operation, uint32_t *count)
{
    static ls_probe_info infos[512];
    OK(ls_device_probe(device, infos, 512, count, error));
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(infos[i].operation, operation) == 0)
            return infos[i].state;
    fail_msg("%s has not been probed", operation);
    return LS_PROBE_NATIVE;
}

static void a_wrong_operation_is_lowered(void **state)
{
    (void)state;
    ls_device *device = open_wrong(LS_OP_FDIV, false);
    float out[COUNT_OF_LANES];
    uint32_t count;
    divide(device, out);
    for (int i = 0; i < COUNT_OF_LANES; i++)
        assert_true(out[i] == (float)(i + 1) / 3);
    assert_int_equal(state_of(device, "fdiv f32", &count), LS_PROBE_LOWERED);
    assert_int_equal(state_of(device, "fadd f32", &count), LS_PROBE_NATIVE);
    assert_in_range(count, 100, 511);
    OK(ls_device_destroy(&device, error));
}

static void without_the_probe_it_is_wrong(void **state)
{
    (void)state;
    ls_device *device = open_wrong(LS_OP_FDIV, true);
    float out[COUNT_OF_LANES];
    uint32_t count = 7, wrong = 0;
    divide(device, out);
    for (int i = 0; i < COUNT_OF_LANES; i++)
        wrong += out[i] != (float)(i + 1) / 3;
    assert_true(wrong);
    OK(ls_device_probe(device, NULL, 0, &count, error));
    assert_int_equal(count, 0);
    OK(ls_device_destroy(&device, error));
}

static void what_has_no_lowering_is_refused(void **state)
{
    (void)state;
    ls_device *device = open_wrong(LS_OP_FADD, false);
    ls_module *module = compile(sums);
    ls_program *program = NULL;
    ls_error why;
    uint32_t count;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(ls_program_create(device, module, NULL, &program, &why),
                         LS_E_UNSUPPORTED);
        assert_null(program);
        assert_non_null(strstr(why.message, "'fadd f32'"));
    }
    float out[COUNT_OF_LANES];
    divide(device, out); /* does not need it */
    assert_int_equal(state_of(device, "fadd f32", &count), LS_PROBE_REFUSED);
    ls_module_destroy(&module);
    OK(ls_device_destroy(&device, error));
}

static void the_fallback_takes_what_is_refused(void **state)
{
    (void)state;
    ls_device *device = open_wrong(LS_OP_FADD, false), *reference = kit_open("reference", NULL);
    ls_module *module = compile(sums);
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_program *program = NULL;
    params.fallback = reference;
    OK(ls_program_create(device, module, &params, &program, error));
    assert_non_null(strstr(ls_program_fallback_reason(program), "'fadd f32'"));
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    OK(ls_device_destroy(&device, error));
    OK(ls_device_destroy(&reference, error));
}

/* The probe is the library's own business: a user's counters and budget do not move. */
static void the_probe_is_not_counted(void **state)
{
    (void)state;
    ls_device *device = open_wrong(LS_OP_FDIV, false);
    ls_counters counters = {.struct_size = sizeof counters};
    float out[COUNT_OF_LANES];
    divide(device, out);
    ls_device_counters(device, &counters);
    assert_int_equal(counters.programs_built, 1);
    assert_int_equal(counters.launches, 1);
    assert_int_equal(counters.submissions, 1);
    assert_int_equal(kit_used(device), 0);
    OK(ls_device_destroy(&device, error));
}

static void the_reference_needs_none(void **state)
{
    (void)state;
    ls_device *device = kit_open("reference", NULL);
    uint32_t count = 7;
    OK(ls_device_probe(device, NULL, 0, &count, error));
    assert_int_equal(count, 0);
    FAILS(LS_E_INVALID_ARGUMENT, ls_device_probe(NULL, NULL, 0, &count, error));
    OK(ls_device_destroy(&device, error));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_operation_is_lowered),
        cmocka_unit_test(without_the_probe_it_is_wrong),
        cmocka_unit_test(what_has_no_lowering_is_refused),
        cmocka_unit_test(the_fallback_takes_what_is_refused),
        cmocka_unit_test(the_probe_is_not_counted),
        cmocka_unit_test(the_reference_needs_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
