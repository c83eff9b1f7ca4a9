/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches that core conducts itself: on a fallback device, or split at grid barriers. */
#include "kit.h"

#include "core/queue.h"

typedef struct pair {
    ls_device *small, *large; /* fault (no f64) and reference */
    ls_stream *stream;
    ls_program *wide, *basic;
    ls_buffer *x, *y;
} pair;

static int pair_open(void **state)
{
    static pair p;
    double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    p = (pair){.small = kit_open("fault", NULL), .large = kit_open("reference", NULL)};
    p.stream = kit_stream(p.small);
    p.wide = kit_program(p.small, wide_ir, p.large, NULL);
    p.basic = kit_program(p.small, basic_ir, NULL, NULL);
    p.x = kit_buffer(p.small, sizeof values, LS_MEM_F64);
    p.y = kit_buffer(p.small, sizeof values, LS_MEM_F64);
    OK(ls_buffer_write(p.x, 0, LS_MEM_F64, values, sizeof values, error));
    *state = &p;
    return 0;
}

static int pair_close(void **state)
{
    pair *p = *state;
    FAILS(LS_E_BUSY, ls_device_destroy(&p->large, error)); /* the program keeps it open */
    ls_buffer_destroy(&p->x);
    ls_buffer_destroy(&p->y);
    ls_program_destroy(&p->wide);
    ls_program_destroy(&p->basic);
    OK(ls_stream_destroy(&p->stream, error));
    assert_int_equal(kit_used(p->small), 0);
    assert_int_equal(kit_used(p->large), 0);
    OK(ls_device_destroy(&p->small, error));
    OK(ls_device_destroy(&p->large, error));
    return 0;
}

static void expect_y(pair *p, uint32_t index, double value)
{
    double found = -1;
    OK(ls_buffer_read(p->y, index * sizeof found, LS_MEM_F64, &found, sizeof found, error));
    assert_true(found == value);
}

static void refused_without_a_fallback(void **state)
{
    pair *p = *state;
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_error e = {0};
    OK(ls_module_read(wide_ir, strlen(wide_ir), &module, error));
    assert_int_equal(ls_program_create(p->small, module, NULL, &program, &e), LS_E_UNSUPPORTED);
    assert_non_null(strstr(e.message, "twice"));
    assert_non_null(strstr(e.message, "f64"));
    assert_null(program);
    ls_module_destroy(&module);
    assert_null(ls_program_fallback_reason(p->basic));
    assert_non_null(strstr(ls_program_fallback_reason(p->wide), "f64"));
}

static void a_batch_is_split_around_the_fallback(void **state)
{
    pair *p = *state;
    ls_batch *batch = kit_batch(p->small);
    ls_range ranges[2] = {WHOLE(p->x), {p->y, 8, 48}};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(p->wide, "twice"), 6, ranges, 2, NULL, 0);
    double half = 0.5, one = 1, found[8] = {0};
    dispatch.tag = (ls_tag){LS_PHASE_COMPUTE, 5, "there and back"};
    OK(ls_batch_fill(batch, WHOLE(p->y), &half, sizeof half, NULL, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_batch_fill(batch, (ls_range){p->y, 8, 8}, &one, sizeof one, NULL, error));
    OK(ls_batch_download(batch, WHOLE(p->y), LS_MEM_F64, found, NULL, error));

    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    params.attribution = true;
    OK(ls_submit(p->stream, batch, &params, &fence, error));
    OK(ls_fence_wait(fence, 60 * SECOND, &r, error));
    const double expected[8] = {0.5, 1, 4, 6, 8, 10, 12, 0.5};
    assert_memory_equal(found, expected, sizeof expected);
    assert_int_equal(r.fallback_splits, 1);
    assert_int_equal(r.fallback_bytes, 64 + 48 + 48); /* both in, the written one out */
    assert_non_null(strstr(r.fallback_reason, "f64"));
    assert_int_equal(r.attribution_count, 4);
    assert_true(r.attribution[1].fallback);
    assert_false(r.attribution[2].fallback);
    assert_int_equal(r.attribution[1].lanes, 6);
    assert_string_equal(r.attribution[1].kernel, "twice");
    assert_string_equal(r.attribution[1].tag.label, "there and back");
    assert_int_equal(r.attribution[3].command, 3);
    ls_batch_destroy(&batch);
    assert_string_equal(r.attribution[1].tag.label, "there and back"); /* the fence's own */
    ls_fence_destroy(&fence);

    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(p->small, &counters);
    assert_int_equal(counters.fallback_programs, 1);
    assert_int_equal(counters.fallback_splits, 1);
    assert_int_equal(counters.fallback_bytes, 160);
    assert_int_equal(counters.commands, 4);
    assert_int_equal(counters.launches, 1);
}

static void repeats_run_around_the_fallback(void **state)
{
    pair *p = *state;
    ls_batch *batch = kit_batch(p->small);
    ls_buffer *rounds = kit_buffer(p->small, 16, LS_MEM_U32);
    uint32_t k = 7;
    ls_range xy[2] = {WHOLE(p->x), WHOLE(p->y)}, yx[2] = {WHOLE(p->y), WHOLE(p->x)},
             only = WHOLE(rounds);
    ls_dispatch there = kit_dispatch(kit_kernel(p->wide, "twice"), 8, xy, 2, NULL, 0);
    ls_dispatch back = kit_dispatch(kit_kernel(p->wide, "twice"), 8, yx, 2, NULL, 0);
    ls_dispatch plain = kit_dispatch(kit_kernel(p->basic, "rounds"), 1, &only, 1, &k, 4);
    OK(ls_batch_repeat_begin(batch, 3, 0, error));
    OK(ls_batch_dispatch(batch, &plain, error));
    OK(ls_batch_dispatch(batch, &there, error));
    OK(ls_batch_dispatch(batch, &back, error));
    OK(ls_batch_repeat_end(batch, error));
    ls_receipt r = {.struct_size = sizeof r};
    kit_run(p->stream, batch, &r);
    assert_int_equal(r.fallback_splits, 6);
    double x = 1, y = 0;
    for (int round = 0; round < 3; round++) {
        y = x + x + round;
        x = y + y + round;
    }
    expect_y(p, 0, y);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(kit_u32(rounds, i), 7);
    assert_int_equal(kit_u32(rounds, 3), 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&rounds);
}

static void indirect_sizes_are_read_before_the_fallback(void **state)
{
    pair *p = *state;
    ls_batch *batch = kit_batch(p->small);
    ls_buffer *sizes = kit_buffer(p->small, 12, LS_MEM_U32);
    uint32_t asked[3] = {4, 1, 1}, maximum[3] = {4, 1, 1};
    ls_range ranges[2] = {WHOLE(p->x), WHOLE(p->y)};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(p->wide, "twice"), 0, ranges, 2, NULL, 0);
    OK(ls_buffer_write(sizes, 0, LS_MEM_U32, asked, 12, error));
    OK(ls_batch_dispatch_indirect(batch, &dispatch, WHOLE(sizes), maximum, error));
    kit_run(p->stream, batch, NULL);
    expect_y(p, 3, 8);
    expect_y(p, 4, 0);
    asked[0] = 5;
    OK(ls_buffer_write(sizes, 0, LS_MEM_U32, asked, 12, error));
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_submit(p->stream, batch, NULL, &fence, error));
    FAILS(LS_E_FAILED, ls_fence_wait(fence, 60 * SECOND, &r, error));
    assert_true(r.trapped);
    assert_int_equal(r.trap_code, LS_TRAP_INDIRECT);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&sizes);
}

/* Waits until a job of the submission is with its device. */
static void await_turn(ls_fence *fence)
{
    bool begun = false;
    while (!begun) {
        ls__os_sleep_ns(MILLISECOND);
        pthread_mutex_lock(&fence->device->lock);
        begun = fence->submission->job != NULL;
        pthread_mutex_unlock(&fence->device->lock);
    }
    ls__os_sleep_ns(100 * MILLISECOND); /* between being handed over and running */
}

/* The fallback device hangs: it is lost, the batch has failed, and the device of the batch is idle
 * and goes on. */
static void the_fallback_may_be_lost(void **state)
{
    (void)state;
    ls_fault_plan plan = {.struct_size = sizeof plan, .hang_at_command = 1};
    ls_device *own = kit_open("reference", NULL), *other = kit_open("fault", &plan);
    own->caps.max_workgroup_lanes = 1; /* so that the fallback is needed */
    ls_stream *stream = kit_stream(own), *second = kit_stream(own);
    ls_program *program = kit_program(own, basic_ir, other, NULL);
    ls_buffer *x = kit_buffer(own, 16, LS_MEM_U32), *y = kit_buffer(own, 16, LS_MEM_U32);
    ls_batch *batch = kit_batch(own), *fill = kit_batch(own);
    ls_range ranges[2] = {WHOLE(x), WHOLE(y)};
    uint32_t scalars[2] = {4, 1};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "add"), 4, ranges, 2, scalars, 8);
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL, *again = NULL, *queued = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    params.time_limit_ns = 500 * MILLISECOND;
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_batch_fill(fill, WHOLE(y), scalars, 4, NULL, error));
    OK(ls_submit(stream, batch, &params, &fence, error));
    await_turn(fence);
    /* What the fallback device runs for itself, behind the hung job, ends with it. */
    ls_stream *there = kit_stream(other);
    ls_buffer *z = kit_buffer(other, 16, LS_MEM_U32);
    ls_batch *behind = kit_batch(other);
    OK(ls_batch_fill(behind, WHOLE(z), scalars, 4, NULL, error));
    OK(ls_submit(there, behind, NULL, &queued, error));
    FAILS(LS_E_FAILED, ls_fence_wait(fence, 60 * SECOND, &r, error));
    FAILS(LS_E_INDETERMINATE, ls_fence_wait(queued, 60 * SECOND, NULL, error));
    ls_batch_destroy(&behind);
    ls_buffer_destroy(&z);
    ls_fence_destroy(&queued);
    OK(ls_stream_destroy(&there, error));
    assert_int_equal(r.error.cause, LS_E_INDETERMINATE);
    assert_false(ls_device_is_lost(own));
    assert_true(ls_device_is_lost(other));
    ls_memory_info info = {.struct_size = sizeof info};
    ls_device_memory(other, &info);
    assert_int_equal(info.quarantined_bytes, 48); /* both copies, and z */
    kit_run(second, fill, NULL);
    assert_int_equal(kit_u32(y, 3), 4);
    NOT_SUBMITTED(LS_E_INDETERMINATE, ls_submit(second, batch, NULL, &again, error));
    OK(ls_device_destroy(&other, error)); /* although the program is still there */
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_batch_destroy(&fill);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_stream_destroy(&second, error));
    assert_int_equal(kit_used(own), 0);
    OK(ls_device_destroy(&own, error));
}

/* The fallback device answers at last, when the device that waited for it is closed already. The
 * thread sanitizer sees what it touches then. */
static void the_fallback_may_answer_too_late(void **state)
{
    (void)state;
    ls_fault_plan plan = {.struct_size = sizeof plan, .delay_ns = 2000 * MILLISECOND};
    ls_device *own = kit_open("reference", NULL), *other = kit_open("fault", &plan);
    own->caps.max_workgroup_lanes = 1;
    ls_stream *stream = kit_stream(own);
    ls_program *program = kit_program(own, basic_ir, other, NULL);
    ls_buffer *x = kit_buffer(own, 16, LS_MEM_U32), *y = kit_buffer(own, 16, LS_MEM_U32);
    ls_batch *batch = kit_batch(own);
    ls_range ranges[2] = {WHOLE(x), WHOLE(y)};
    uint32_t scalars[2] = {4, 1};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "add"), 4, ranges, 2, scalars, 8);
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    params.time_limit_ns = 300 * MILLISECOND; /* enough to begin, on a busy machine too */
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_submit(stream, batch, &params, &fence, error));
    FAILS(LS_E_FAILED, ls_fence_wait(fence, 60 * SECOND, NULL, error));
    assert_true(ls_device_is_lost(other));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&stream, error));
    assert_true(own->watched); /* so that it is not freed */
    OK(ls_device_destroy(&own, error));
    OK(ls_device_destroy(&other, error));
    ls__os_sleep_ns(1800 * MILLISECOND);
}

/* A device may be lost by the job of another one while its own submission runs on a third: that one
 * is stopped, and the lost device can be closed. */
static void a_lost_device_does_not_wait_for_its_fallback(void **state)
{
    (void)state;
    ls_fault_plan plan = {.struct_size = sizeof plan, .hang_at_command = 1};
    ls_device *lost = kit_open("fault", &plan), *runs = kit_open("reference", NULL),
              *breaks = kit_open("reference", NULL);
    uint32_t lanes = lost->caps.max_workgroup_lanes;
    breaks->caps.max_workgroup_lanes = 1; /* so that these programs need their fallbacks */
    lost->caps.max_workgroup_lanes = 0;
    ls_program *endless = kit_program(lost, basic_ir, runs, NULL);
    lost->caps.max_workgroup_lanes = lanes;
    ls_program *add = kit_program(breaks, basic_ir, lost, NULL);
    ls_stream *a = kit_stream(lost), *b = kit_stream(breaks);
    ls_buffer *x = kit_buffer(lost, 64, LS_MEM_U32), *y = kit_buffer(breaks, 64, LS_MEM_U32);
    ls_range range = WHOLE(x), pair[2] = {{y, 0, 32}, {y, 32, 32}};
    uint32_t scalars[2] = {4, 1};
    ls_dispatch first = kit_dispatch(kit_kernel(endless, "endless"), 1, &range, 1, NULL, 0),
                second = kit_dispatch(kit_kernel(add, "add"), 4, pair, 2, scalars, 8);
    ls_batch *on_lost = kit_batch(lost), *on_breaks = kit_batch(breaks);
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *waiting = NULL, *breaking = NULL;
    OK(ls_batch_dispatch(on_lost, &first, error));
    OK(ls_batch_dispatch(on_breaks, &second, error));
    OK(ls_submit(a, on_lost, NULL, &waiting, error));
    params.time_limit_ns = 300 * MILLISECOND; /* enough to begin, on a busy machine too */
    OK(ls_submit(b, on_breaks, &params, &breaking, error));
    FAILS(LS_E_FAILED, ls_fence_wait(breaking, 60 * SECOND, NULL, error));
    assert_true(ls_device_is_lost(lost));
    FAILS(LS_E_INDETERMINATE, ls_fence_wait(waiting, 10 * SECOND, NULL, error));
    assert_false(ls_device_is_lost(runs));
    OK(ls_device_destroy(&lost, error));
    ls_fence_destroy(&waiting);
    ls_fence_destroy(&breaking);
    ls_batch_destroy(&on_lost);
    ls_batch_destroy(&on_breaks);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&endless);
    ls_program_destroy(&add);
    OK(ls_stream_destroy(&a, error));
    OK(ls_stream_destroy(&b, error));
    OK(ls_device_destroy(&breaks, error));
    OK(ls_device_destroy(&runs, error));
}

/* Each waits for the other's thread that runs jobs, never for the other's queue. */
static void two_devices_are_each_others_fallback(void **state)
{
    pair *p = *state;
    uint32_t lanes = p->large->caps.max_workgroup_lanes;
    p->large->caps.max_workgroup_lanes = 1;
    ls_program *basic = kit_program(p->large, basic_ir, p->small, NULL);
    p->large->caps.max_workgroup_lanes = lanes;
    assert_non_null(ls_program_fallback_reason(basic));
    ls_stream *there = kit_stream(p->large);
    ls_buffer *x = kit_buffer(p->large, 64, LS_MEM_U32);
    ls_range wide[2] = {WHOLE(p->x), WHOLE(p->y)}, narrow[2] = {{x, 0, 32}, {x, 32, 32}};
    uint32_t scalars[2] = {8, 7};
    ls_dispatch twice = kit_dispatch(kit_kernel(p->wide, "twice"), 8, wide, 2, NULL, 0),
                add = kit_dispatch(kit_kernel(basic, "add"), 8, narrow, 2, scalars, 8);
    ls_batch *a = kit_batch(p->small), *b = kit_batch(p->large);
    OK(ls_batch_dispatch(a, &twice, error));
    OK(ls_batch_dispatch(b, &add, error));
    for (uint32_t i = 0; i < 40; i++) {
        OK(ls_submit(p->stream, a, NULL, NULL, error));
        OK(ls_submit(there, b, NULL, NULL, error));
    }
    OK(ls_stream_wait(p->stream, 60 * SECOND, error));
    OK(ls_stream_wait(there, 60 * SECOND, error));
    expect_y(p, 7, 16);
    assert_int_equal(kit_u32(x, 15), 7);
    ls_batch_destroy(&a);
    ls_batch_destroy(&b);
    ls_buffer_destroy(&x);
    ls_program_destroy(&basic);
    OK(ls_stream_destroy(&there, error));
}

/* Taking the fallback is a success, which leaves the error as it was. Of a prepared batch, the
 * backend replays what runs on the device itself. */
static void the_fallback_is_told_apart(void **state)
{
    pair *p = *state;
    ls_error untouched = {.code = LS_OK, .message = "as before"};
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    params.fallback = p->large;
    OK(ls_module_read(wide_ir, strlen(wide_ir), &module, error));
    assert_int_equal(ls_program_create(p->small, module, &params, &program, &untouched), LS_OK);
    assert_string_equal(untouched.message, "as before");
    ls_module_destroy(&module);

    ls_batch *batch = kit_batch(p->small);
    ls_prepared *prepared = NULL;
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    ls_submit_params submit = LS_SUBMIT_PARAMS_INIT;
    ls_range ranges[2] = {WHOLE(p->x), WHOLE(p->y)};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "twice"), 4, ranges, 2, NULL, 0);
    double zero = 0;
    OK(ls_batch_fill(batch, WHOLE(p->y), &zero, sizeof zero, NULL, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_prepare(batch, &prepared, error));
    submit.attribution = true;
    OK(ls_submit_prepared(p->stream, prepared, &submit, &fence, error));
    OK(ls_fence_wait(fence, 60 * SECOND, &r, error));
    assert_int_equal(r.attribution_count, 2);
    assert_true(r.attribution[0].prepared && !r.attribution[0].fallback);
    assert_true(!r.attribution[1].prepared && r.attribution[1].fallback);
    expect_y(p, 3, 8);
    ls_fence_destroy(&fence);
    ls_prepared_destroy(&prepared);
    ls_batch_destroy(&batch);
    ls_program_destroy(&program);
}

/* A fallback device that is busy with work of its own is not hung. */
static void a_busy_fallback_is_not_hung(void **state)
{
    (void)state;
    ls_device *own = kit_open("fault", NULL), *other = kit_open("reference", NULL);
    ls_stream *stream = kit_stream(own), *there = kit_stream(other);
    ls_program *wide = kit_program(own, wide_ir, other, NULL);
    ls_program *basic = kit_program(other, basic_ir, NULL, NULL);
    ls_buffer *x = kit_buffer(own, 64, LS_MEM_F64), *y = kit_buffer(other, 4, LS_MEM_U32);
    ls_range pair[2] = {{x, 0, 32}, {x, 32, 32}}, range = WHOLE(y);
    ls_dispatch twice = kit_dispatch(kit_kernel(wide, "twice"), 4, pair, 2, NULL, 0);
    ls_dispatch endless = kit_dispatch(kit_kernel(basic, "endless"), 1, &range, 1, NULL, 0);
    ls_batch *batch = kit_batch(own), *busy = kit_batch(other);
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL, *blocker = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    params.time_limit_ns = 20 * MILLISECOND;
    OK(ls_batch_dispatch(busy, &endless, error));
    OK(ls_batch_dispatch(batch, &twice, error));
    OK(ls_submit(there, busy, NULL, &blocker, error));
    await_turn(blocker);
    OK(ls_submit(stream, batch, &params, &fence, error));
    FAILS(LS_E_FAILED, ls_fence_wait(fence, 60 * SECOND, &r, error));
    assert_int_equal(r.error.cause, LS_E_TIMEOUT);
    assert_false(ls_device_is_lost(other));
    OK(ls_fence_cancel(blocker, 60 * SECOND, error));
    assert_false(ls_device_is_lost(other));
    ls_fence_destroy(&fence);
    ls_fence_destroy(&blocker);
    ls_batch_destroy(&batch);
    ls_batch_destroy(&busy);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&wide);
    ls_program_destroy(&basic);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_stream_destroy(&there, error));
    OK(ls_device_destroy(&own, error));
    OK(ls_device_destroy(&other, error));
}

/* --- grid barriers ---------------------------------------------------------------------------- */
static void check_mirror(const char *name, const char *lower, uint64_t launches)
{
    enum { N = 10 };
    ls_device *device = kit_open(name, NULL);
    ls_stream *stream = kit_stream(device);
    ls_program *program = kit_program(device, mirror_ir, NULL, lower);
    ls_buffer *a = kit_buffer(device, N * 4, LS_MEM_U32),
              *b = kit_buffer(device, N * 4, LS_MEM_U32);
    ls_batch *batch = kit_batch(device);
    ls_range ranges[2] = {WHOLE(a), WHOLE(b)};
    uint32_t scalars[2] = {N, 100};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "mirror"), N, ranges, 2, scalars, 8);
    OK(ls_batch_repeat_begin(batch, 2, 0, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_batch_repeat_end(batch, error));
    uint64_t before = kit_used(device);
    kit_run(stream, batch, NULL);
    assert_int_equal(kit_used(device), before); /* the scratch memory is back */
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(kit_u32(b, i), (100 + N - 1 - i) + (100 + i));
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(device, &counters);
    assert_int_equal(counters.commands, 2);
    assert_int_equal(counters.launches, launches);
    assert_int_equal(counters.lanes_asked, 2 * N);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&a);
    ls_buffer_destroy(&b);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_device_destroy(&device, error));
}

static void grid_barriers_run_natively(void **state)
{
    (void)state;
    check_mirror("reference", NULL, 2);
}

static void grid_barriers_are_split_when_asked(void **state)
{
    (void)state;
    check_mirror("reference", "grid_barrier", 4);
}

static void grid_barriers_are_split_where_missing(void **state)
{
    (void)state;
    check_mirror("fault", NULL, 4);
}

#define PAIR(test) cmocka_unit_test_setup_teardown(test, pair_open, pair_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR(refused_without_a_fallback),
        PAIR(a_batch_is_split_around_the_fallback),
        PAIR(repeats_run_around_the_fallback),
        PAIR(indirect_sizes_are_read_before_the_fallback),
        cmocka_unit_test(the_fallback_may_be_lost),
        cmocka_unit_test(the_fallback_may_answer_too_late),
        PAIR(two_devices_are_each_others_fallback),
        PAIR(the_fallback_is_told_apart),
        cmocka_unit_test(a_lost_device_does_not_wait_for_its_fallback),
        cmocka_unit_test(a_busy_fallback_is_not_hung),
        cmocka_unit_test(grid_barriers_run_natively),
        cmocka_unit_test(grid_barriers_are_split_when_asked),
        cmocka_unit_test(grid_barriers_are_split_where_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
