/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both tiers of the CPU device from within: which code a submission takes, what becomes of a build
 * that fails, that nobody wants any more, or whose code is in the cache. What callers may rely on
 * is in tests/contract/tier.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cmocka_all.h"

#include "../base/ok.h"
#include "core/queue.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

static char folder[] = "ls-test-tiers-XXXXXX";

static ls_device *open_device(const char *cache)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    params.name = "cpu";
    params.threads = 2;
    params.cache_path = cache;
    OK(ls_device_open(&params, &device, error));
    return device;
}

/* A program of its own for each number. */
static ls_program *create(ls_device *device, unsigned number, ls_tier tier)
{
    char text[256];
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_module *module = NULL;
    ls_program *program = NULL;
    snprintf(text, sizeof text,
             "kernel void k(u32 *y)\n{\n    u32 i = global_id(0);\n    y[i] = i * %uu;\n}\n",
             number);
    compile.text = text;
    compile.length = strlen(text);
    params.tier = tier;
    OK(ls_module_compile(&compile, &module, NULL, error));
    OK(ls_program_create(device, module, &params, &program, error));
    ls_module_destroy(&module);
    return program;
}

static ls_tier_info info_of(const ls_program *program)
{
    ls_tier_info info = {.struct_size = sizeof info};
    ls_program_tier(program, &info);
    return info;
}

static ls_tier_info wait_for(const ls_program *program)
{
    while (info_of(program).state == LS_TIER_STATE_BUILDING)
        usleep(1000);
    return info_of(program);
}

/* The code that a submission of the plan takes. */
static const ls__backend_program *code_of(ls__plan *plan)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls__submission *submission = NULL;
    OK(ls__submission_create(plan, &params, &submission, error));
    const ls__backend_program *code = submission->commands[0].dispatch.program;
    ls__submission_free(submission);
    return code;
}

static void a_submission_takes_the_best_there_is(void **state)
{
    (void)state;
    ls_device *device = open_device(NULL);
    ls_program *program = create(device, 3, LS_TIER_QUICK);
    ls_buffer_params size = LS_BUFFER_PARAMS_INIT;
    ls_buffer *y = NULL;
    ls_batch *batch = NULL;
    ls_prepared *prepared = NULL;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    size.size_bytes = 64 * 4;
    OK(ls_buffer_create(device, &size, &y, error));
    ls_range range = {y, 0, LS_WHOLE};
    OK(ls_program_kernel(program, "k", &dispatch.kernel, error));
    dispatch.global_size[0] = 64;
    dispatch.buffers = &range;
    dispatch.buffer_count = 1;
    OK(ls_batch_create(device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_prepare(batch, &prepared, error));
    assert_int_equal(info_of(program).state, LS_TIER_STATE_QUICK);
    assert_non_null(program->built->quick);
    assert_ptr_equal(code_of(prepared->plan), program->built->quick);
    OK(ls_program_optimize(program, error));
    assert_int_equal(wait_for(program).state, LS_TIER_STATE_OPTIMIZED);
    const ls__backend_program *optimized = atomic_load(&program->built->optimized);
    assert_non_null(optimized);
    assert_ptr_not_equal(optimized, program->built->quick);
    assert_ptr_equal(code_of(prepared->plan), optimized);
    ls_prepared_destroy(&prepared);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
}

static ls_status no_code(const ls__ir_module *module, const char *target, bool unchecked,
                         void **bytes, size_t *size, ls_error *error)
{
    (void)module, (void)target, (void)unchecked, (void)bytes, (void)size;
    return ls__fail(error, LS_E_INTERNAL, "the generator is tired");
}

static void a_failure_leaves_quick_code_and_says_why(void **state)
{
    (void)state;
    ls_device *device = open_device(NULL);
    ls_program *program = create(device, 5, LS_TIER_QUICK);
    ls__backend_emit *emit = device->emit;
    device->emit = no_code;
    OK(ls_program_optimize(program, error));
    ls_tier_info info = wait_for(program);
    assert_int_equal(info.state, LS_TIER_STATE_FAILED);
    assert_non_null(strstr(info.reason, "tired"));
    assert_ptr_equal(ls__built_code(program->built), program->built->quick);
    device->emit = emit;
    OK(ls_program_optimize(program, error)); /* again */
    info = wait_for(program);
    assert_int_equal(info.state, LS_TIER_STATE_OPTIMIZED);
    assert_string_equal(info.reason, "");
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
}

/* Counts. The device's own thread, which asks for all but the code that a caller waits for, goes on
 * when it is let or is to stop. */
static atomic_uint emitted;
static atomic_bool held;
static pthread_t caller;
static ls_device *held_device;
static ls__backend_emit *real_emit;

static bool is_held(void)
{
    pthread_mutex_lock(&held_device->build_lock);
    bool stops = held_device->tiers.stops;
    pthread_mutex_unlock(&held_device->build_lock);
    return !stops && atomic_load(&held) && !pthread_equal(pthread_self(), caller);
}

static ls_status held_code(const ls__ir_module *module, const char *target, bool unchecked,
                           void **bytes, size_t *size, ls_error *error)
{
    atomic_fetch_add(&emitted, 1);
    while (is_held())
        usleep(1000);
    return real_emit(module, target, unchecked, bytes, size, error);
}

static void hold(ls_device *device)
{
    held_device = device;
    caller = pthread_self();
    real_emit = device->emit;
    device->emit = held_code;
    atomic_store(&held, true);
    atomic_store(&emitted, 0);
}

static void what_nobody_wants_is_not_built(void **state)
{
    (void)state;
    enum { PROGRAMS = 20 };
    ls_device *device = open_device(NULL);
    ls_program *programs[PROGRAMS];
    ls_program *first = create(device, 99, LS_TIER_OPTIMIZED); /* the probe is done */
    for (unsigned i = 0; i < PROGRAMS; i++)
        programs[i] = create(device, 100 + i, LS_TIER_QUICK);
    hold(device);
    for (unsigned i = 0; i < PROGRAMS; i++)
        OK(ls_program_optimize(programs[i], error));
    for (unsigned i = 0; i + 1 < PROGRAMS; i++)
        ls_program_destroy(&programs[i]);
    atomic_store(&held, false);
    assert_int_equal(wait_for(programs[PROGRAMS - 1]).state, LS_TIER_STATE_OPTIMIZED);
    assert_in_range(atomic_load(&emitted), 1, 2); /* the last one, and what had begun */
    ls_program_destroy(&programs[PROGRAMS - 1]);

    atomic_store(&held, true);
    for (unsigned i = 0; i < PROGRAMS; i++)
        programs[i] = create(device, 200 + i, LS_TIER_QUICK);
    atomic_store(&emitted, 0);
    for (unsigned i = 0; i < PROGRAMS; i++)
        OK(ls_program_optimize(programs[i], error));
    for (unsigned i = 0; i < PROGRAMS; i++)
        ls_program_destroy(&programs[i]);
    ls_program_destroy(&first);
    OK(ls_device_destroy(&device, error)); /* with most of them waiting */
    assert_in_range(atomic_load(&emitted), 0, 1);
}

/* Somebody who needs optimised code at once does not stand in line. */
static void optimized_now_overtakes_the_queue(void **state)
{
    (void)state;
    enum { PROGRAMS = 10 };
    ls_device *device = open_device(NULL);
    ls_program *programs[PROGRAMS];
    for (unsigned i = 0; i < PROGRAMS; i++)
        programs[i] = create(device, 300 + i, LS_TIER_QUICK);
    ls_program *other = create(device, 299, LS_TIER_OPTIMIZED);
    hold(device);
    for (unsigned i = 0; i < PROGRAMS; i++)
        OK(ls_program_optimize(programs[i], error));
    ls_program *now = create(device, 300 + PROGRAMS - 1, LS_TIER_OPTIMIZED);
    assert_int_equal(info_of(programs[PROGRAMS - 1]).state, LS_TIER_STATE_OPTIMIZED);
    assert_int_equal(info_of(programs[PROGRAMS - 2]).state, LS_TIER_STATE_BUILDING);
    ls_program_destroy(&now);
    ls_program_destroy(&other);
    for (unsigned i = 0; i < PROGRAMS; i++)
        ls_program_destroy(&programs[i]);
    OK(ls_device_destroy(&device, error));
}

static void code_in_the_cache_needs_no_thread(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int warm = 0; warm < 2; warm++) {
        ls_device *device = open_device(folder);
        ls_program *other = create(device, 8, LS_TIER_OPTIMIZED); /* its operations are known */
        ls_program *program = create(device, 7, LS_TIER_QUICK);
        ls_counters counters = {.struct_size = sizeof counters};
        assert_int_equal(info_of(program).state, LS_TIER_STATE_QUICK); /* as asked, also if warm */
        if (warm)
            device->emit = no_code;
        ls_device_counters_reset(device);
        OK(ls_program_optimize(program, error));
        if (warm)
            assert_int_equal(info_of(program).state, LS_TIER_STATE_OPTIMIZED);
        assert_int_equal(device->tiers.runs, !warm);
        assert_int_equal(wait_for(program).state, LS_TIER_STATE_OPTIMIZED);
        ls_device_counters(device, &counters);
        assert_int_equal(counters.cache_hits, warm);
        assert_int_equal(counters.cache_misses, !warm);
        ls_program_destroy(&program);
        ls_program_destroy(&other);
        OK(ls_device_destroy(&device, error));
    }
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submission_takes_the_best_there_is),
        cmocka_unit_test(a_failure_leaves_quick_code_and_says_why),
        cmocka_unit_test(what_nobody_wants_is_not_built),
        cmocka_unit_test(optimized_now_overtakes_the_queue),
        cmocka_unit_test(code_in_the_cache_needs_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
