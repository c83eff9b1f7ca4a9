/* SPDX-License-Identifier: Apache-2.0 */
/* Failing allocations, at every place in turn: a clean error, nothing lost, nothing left charged.
 * And params structs of other versions, names of lowerings, the budget under several threads. */
#include "kit.h"

#include <pthread.h>

#include "base/mem.h"
#include "core/core.h"
#include "pass/pass.h"

/* --- every allocation fails once -------------------------------------------------------------- */
typedef struct job {
    ls_device *device, *fallback;
    ls_module *basic, *wide;
    ls_program *program, *remote;
    ls_buffer *x, *y, *wide_x;
    ls_batch *batch;
    ls_prepared *prepared;
    ls_stream *stream;
    ls_fence *first, *second;
} job;

static ls_status record(job *j, ls_error *error)
{
    static const uint32_t scalars[2] = {8, 1};
    const ls_kernel *add, *twice;
    uint32_t one = 1;
    ls_tag tag = {LS_PHASE_COMPUTE, 1, "label"};
    ls_scalar_link link = {4, 0, 4};
    ls_range ranges[2] = {WHOLE(j->x), WHOLE(j->y)},
             wide[2] = {{j->wide_x, 0, 32}, {j->wide_x, 32, 32}};
    ls_status status = ls_program_kernel(j->program, "add", &add, error);
    if (status == LS_OK)
        status = ls_program_kernel(j->remote, "twice", &twice, error);
    if (status != LS_OK)
        return status;
    ls_dispatch here = kit_dispatch(add, 8, ranges, 2, scalars, 8);
    ls_dispatch there = kit_dispatch(twice, 4, wide, 2, NULL, 0);
    here.links = &link;
    here.link_count = 1;
    here.tag = tag;
    status = ls_batch_upload(j->batch, (ls_range){j->x, 0, 4}, LS_MEM_U32, &one, &tag, error);
    if (status == LS_OK)
        status = ls_batch_repeat_begin(j->batch, 2, 0, error);
    if (status == LS_OK)
        status = ls_batch_dispatch(j->batch, &here, error);
    if (status == LS_OK)
        status = ls_batch_dispatch(j->batch, &there, error);
    if (status == LS_OK)
        status = ls_batch_repeat_end(j->batch, error);
    if (status == LS_OK)
        status = ls_batch_upload_slot(j->batch, (ls_range){j->x, 4, 4}, LS_MEM_U32, 0, NULL, error);
    return status;
}

static ls_status make(job *j, ls_error *error)
{
    ls_device_params device = LS_DEVICE_PARAMS_INIT;
    ls_program_params program = LS_PROGRAM_PARAMS_INIT;
    ls_buffer_params buffer = LS_BUFFER_PARAMS_INIT;
    device.name = "fault";
    ls_status status = ls_device_open(&device, &j->device, error);
    device.name = "reference";
    if (status == LS_OK)
        status = ls_device_open(&device, &j->fallback, error);
    if (status == LS_OK)
        status = ls_module_read(basic_ir, strlen(basic_ir), &j->basic, error);
    if (status == LS_OK)
        status = ls_module_read(wide_ir, strlen(wide_ir), &j->wide, error);
    program.lower = "bounds";
    if (status == LS_OK)
        status = ls_program_create(j->device, j->basic, &program, &j->program, error);
    program.fallback = j->fallback;
    if (status == LS_OK)
        status = ls_program_create(j->device, j->wide, &program, &j->remote, error);
    buffer.size_bytes = 64;
    if (status == LS_OK)
        status = ls_buffer_create(j->device, &buffer, &j->x, error);
    if (status == LS_OK)
        status = ls_buffer_create(j->device, &buffer, &j->y, error);
    if (status == LS_OK)
        status = ls_buffer_create(j->device, &buffer, &j->wide_x, error);
    if (status == LS_OK)
        status = ls_batch_create(j->device, &j->batch, error);
    if (status == LS_OK)
        status = record(j, error);
    if (status == LS_OK)
        status = ls_prepare(j->batch, &j->prepared, error);
    return status == LS_OK ? ls_stream_create(j->device, &j->stream, error) : status;
}

static ls_status run(job *j, ls_error *error)
{
    uint32_t parameter = 5, word = 6;
    ls_slot slot = {&word, NULL};
    ls_submit_params submit = LS_SUBMIT_PARAMS_INIT;
    submit.attribution = true;
    submit.parameters = &parameter;
    submit.parameter_bytes = 4;
    submit.slots = &slot;
    submit.slot_count = 1;
    ls_status status = ls_trace_begin(j->device, error);
    if (status == LS_OK)
        status = ls_submit(j->stream, j->batch, &submit, &j->first, error);
    if (status == LS_OK)
        status = ls_submit_prepared(j->stream, j->prepared, &submit, &j->second, error);
    if (status == LS_OK)
        status = ls_fence_wait(j->second, LS_FOREVER, NULL, error);
    void *memory = NULL;
    if (status == LS_OK)
        status = ls_buffer_map(j->y, 0, 64, LS_MAP_READ, &memory, error);
    if (status == LS_OK)
        status = ls_buffer_unmap(j->y, error);
    if (status == LS_OK)
        status = ls_trace_end(j->device, "/dev/null", error);
    return status;
}

static void drop(job *j)
{
    if (j->stream)
        ls_stream_wait(j->stream, LS_FOREVER, NULL);
    ls_fence_destroy(&j->first);
    ls_fence_destroy(&j->second);
    ls_prepared_destroy(&j->prepared);
    ls_batch_destroy(&j->batch);
    ls_buffer_destroy(&j->x);
    ls_buffer_destroy(&j->y);
    ls_buffer_destroy(&j->wide_x);
    ls_program_destroy(&j->program);
    ls_program_destroy(&j->remote);
    ls_module_destroy(&j->basic);
    ls_module_destroy(&j->wide);
    OK(ls_stream_destroy(&j->stream, error));
    ls_device *const devices[2] = {j->device, j->fallback};
    for (int i = 0; i < 2; i++)
        assert_int_equal(devices[i] ? kit_used(devices[i]) : 0, 0);
    OK(ls_device_destroy(&j->device, error));
    OK(ls_device_destroy(&j->fallback, error));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        job j = {0};
        ls_error e = {0};
        ls__mem_fail_after(n);
        ls_status status = make(&j, &e);
        if (status == LS_OK)
            status = run(&j, &e);
        ls__mem_fail_after(0);
        ls_error clean = e;
        drop(&j);
        if (status == LS_OK)
            break;
        ls_status cause = status == LS_E_NOT_SUBMITTED ? clean.cause : status;
        if (cause != LS_E_OUT_OF_MEMORY)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)n, ls_status_name(cause),
                     clean.message);
        failures++;
    }
    assert_true(failures > 100);
}

/* --- params structs --------------------------------------------------------------------------- */
typedef struct grown {
    ls_buffer_params known;
    uint64_t later;
} grown;

static void params_of_other_versions(void **state)
{
    (void)state;
    ls_buffer_params out;
    grown newer = {.known = {.struct_size = sizeof newer, .size_bytes = 7}};
    OK(ls__params_in(&out, sizeof out, &newer, false, "test", error));
    assert_int_equal(out.size_bytes, 7);
    newer.later = 1; /* something that this library cannot do */
    FAILS(LS_E_VERSION, ls__params_in(&out, sizeof out, &newer, false, "test", error));
    ls_buffer_params older = {
        .struct_size = offsetof(ls_buffer_params, label), .size_bytes = 8, .label = "x"};
    OK(ls__params_in(&out, sizeof out, &older, false, "test", error));
    assert_int_equal(out.size_bytes, 8);
    assert_null(out.label); /* beyond what the caller said it knows */
    older.struct_size = 0;
    FAILS(LS_E_VERSION, ls__params_in(&out, sizeof out, &older, false, "test", error));
    FAILS(LS_E_INVALID_ARGUMENT, ls__params_in(&out, sizeof out, NULL, false, "test", error));
    OK(ls__params_in(&out, sizeof out, NULL, true, "test", error));
    assert_int_equal(out.size_bytes, 0);

    ls_memory_info in = {.limit_bytes = 1, .quarantined_bytes = 5};
    struct {
        ls_memory_info info;
        uint64_t guard;
    } result = {.info = {.struct_size = offsetof(ls_memory_info, used_bytes)}, .guard = 3};
    result.info.used_bytes = 77;
    ls__params_out(&result.info, &in, sizeof in);
    assert_int_equal(result.info.limit_bytes, 1);
    assert_int_equal(result.info.used_bytes, 77);
    result.info.struct_size = sizeof result;
    ls__params_out(&result.info, &in, sizeof in);
    assert_int_equal(result.info.quarantined_bytes, 5);
    assert_int_equal(result.guard, 3);
}

static void lowerings_have_names(void **state)
{
    (void)state;
    uint32_t mask;
    OK(ls__lower_parse(NULL, &mask, error));
    assert_int_equal(mask, 0);
    OK(ls__lower_parse("fma,lower_div", &mask, error));
    assert_int_equal(mask, LS__LOWER_FMA | LS__LOWER_DIV);
    OK(ls__lower_parse("all", &mask, error));
    assert_true(mask & LS__LOWER_GRID_BARRIER && mask & LS__LOWER_INT64);
    ls_error e = {0};
    assert_int_equal(ls__lower_parse("fma,fast", &mask, &e), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(e.message, "fast"));
    assert_non_null(strstr(e.hint, "sqrt"));
}

/* --- the budget ------------------------------------------------------------------------------- */
static void *reserve_often(void *argument)
{
    ls_device *device = argument;
    for (int i = 0; i < 2000; i++) {
        if (ls__budget_reserve(device, 40, i % 2, "a test", NULL) == LS_OK)
            ls__budget_release(device, 40, i % 2);
    }
    return NULL;
}

static void the_budget_holds_under_threads(void **state)
{
    (void)state;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    pthread_t threads[4];
    params.name = "reference";
    params.budget_bytes = 100; /* two at a time */
    OK(ls_device_open(&params, &device, error));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_often, device), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ls_memory_info info = {.struct_size = sizeof info};
    ls_device_memory(device, &info);
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.staging_bytes, 0);
    assert_true(info.peak_bytes == 40 || info.peak_bytes == 80);
    OK(ls_device_destroy(&device, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(params_of_other_versions),
        cmocka_unit_test(lowerings_have_names),
        cmocka_unit_test(the_budget_holds_under_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
