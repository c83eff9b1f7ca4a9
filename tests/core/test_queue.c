/* SPDX-License-Identifier: Apache-2.0 */
/* The queue: order, cancelling, time limits, hazards between streams, and what a hung thread may
 * still touch. */
#include "kit.h"

#include "core/queue.h"

typedef struct bench {
    ls_device *device;
    ls_stream *a, *b, *c;
    ls_program *program;
    ls_buffer *x, *y, *z;
    ls_batch *endless, *fill_x, *fill_y, *fill_z;
} bench;

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % limit);
}

static ls_batch *fill_batch(ls_device *device, ls_buffer *buffer, uint32_t value)
{
    ls_batch *batch = kit_batch(device);
    OK(ls_batch_fill(batch, WHOLE(buffer), &value, 4, NULL, error));
    return batch;
}

static int bench_open(void **state)
{
    static bench t;
    t = (bench){.device = kit_open("reference", NULL)};
    t.a = kit_stream(t.device);
    t.b = kit_stream(t.device);
    t.c = kit_stream(t.device);
    t.program = kit_program(t.device, basic_ir, NULL, NULL);
    t.x = kit_buffer(t.device, 64, LS_MEM_U32);
    t.y = kit_buffer(t.device, 64, LS_MEM_U32);
    t.z = kit_buffer(t.device, 64, LS_MEM_U32);
    t.endless = kit_batch(t.device);
    ls_range range = WHOLE(t.z);
    ls_dispatch dispatch = kit_dispatch(kit_kernel(t.program, "endless"), 1, &range, 1, NULL, 0);
    OK(ls_batch_dispatch(t.endless, &dispatch, error));
    t.fill_x = fill_batch(t.device, t.x, 1);
    t.fill_y = fill_batch(t.device, t.y, 2);
    t.fill_z = fill_batch(t.device, t.z, 3);
    *state = &t;
    return 0;
}

static int bench_close(void **state)
{
    bench *t = *state;
    ls_batch_destroy(&t->endless);
    ls_batch_destroy(&t->fill_x);
    ls_batch_destroy(&t->fill_y);
    ls_batch_destroy(&t->fill_z);
    ls_buffer_destroy(&t->x);
    ls_buffer_destroy(&t->y);
    ls_buffer_destroy(&t->z);
    ls_program_destroy(&t->program);
    OK(ls_stream_destroy(&t->a, error));
    OK(ls_stream_destroy(&t->b, error));
    OK(ls_stream_destroy(&t->c, error));
    assert_int_equal(kit_used(t->device), 0);
    OK(ls_device_destroy(&t->device, error));
    return 0;
}

static ls_fence *submit(ls_stream *stream, const ls_batch *batch, ls_fence *wait)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    params.wait = &wait;
    params.wait_count = wait ? 1 : 0;
    OK(ls_submit(stream, batch, &params, &fence, error));
    return fence;
}

static ls_status wait_cause(ls_fence **fence)
{
    ls_receipt r = {.struct_size = sizeof r};
    ls_fence_wait(*fence, 60 * SECOND, &r, NULL);
    ls_fence_destroy(fence);
    return r.outcome == LS_SUCCEEDED ? LS_OK : r.error.cause;
}

/* Cancelled before its turn: it never runs, at once, although the queue is blocked; earlier
 * submissions of its stream still run, later ones do not. */
static void a_queued_submission_is_cancelled_at_once(void **state)
{
    bench *t = *state;
    ls_fence *blocker = submit(t->a, t->endless, NULL);
    ls_fence *earlier = submit(t->b, t->fill_x, NULL);
    ls_fence *doomed = submit(t->b, t->fill_y, NULL);
    ls_fence *later = submit(t->b, t->fill_x, NULL);
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_fence_cancel(doomed, 0, error));
    assert_int_equal(ls_fence_query(doomed, &r), LS_FAILED_QUIESCENT);
    assert_int_equal(r.error.cause, LS_E_CANCELLED);
    assert_int_equal(r.execution_host_ns, 0);
    assert_int_equal(ls_fence_query(earlier, NULL), LS_PENDING);
    FAILS(LS_E_BUSY, ls_stream_destroy(&t->b, error));
    OK(ls_fence_cancel(blocker, 60 * SECOND, error));
    assert_int_equal(wait_cause(&blocker), LS_E_CANCELLED);
    assert_int_equal(wait_cause(&earlier), LS_OK);
    assert_int_equal(wait_cause(&later), LS_E_STATE);
    ls_fence_destroy(&doomed);
    assert_int_equal(kit_u32(t->x, 0), 1);
    assert_int_equal(kit_u32(t->y, 0), 0);
    FAILS(LS_E_FAILED, ls_stream_wait(t->b, 0, error));
}

/* Limit 0 only asks. */
static void cancel_without_a_limit_does_not_wait(void **state)
{
    bench *t = *state;
    ls_fence *fence = submit(t->a, t->endless, NULL);
    ls_status status = ls_fence_cancel(fence, 0, NULL);
    assert_true(status == LS_OK || status == LS_E_TIMEOUT);
    assert_int_equal(wait_cause(&fence), LS_E_CANCELLED);
    assert_false(ls_device_is_lost(t->device));
}

static void a_time_limit_ends_what_does_not_end(void **state)
{
    bench *t = *state;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL, *other;
    params.time_limit_ns = 20 * MILLISECOND;
    OK(ls_submit(t->a, t->endless, &params, &fence, error));
    other = submit(t->b, t->fill_z, fence); /* fails unrun with what it waits for */
    assert_int_equal(wait_cause(&fence), LS_E_TIMEOUT);
    assert_int_equal(wait_cause(&other), LS_E_STATE);
    assert_int_equal(kit_u32(t->z, 0), 0);
}

/* --- hazards ---------------------------------------------------------------------------------- */
static void order_through_fences_is_transitive(void **state)
{
    bench *t = *state;
    ls_fence *first = submit(t->a, t->endless, NULL); /* writes z */
    ls_fence *extra = NULL;
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(t->b, t->fill_z, NULL, &extra, error));
    ls_fence *second = submit(t->b, t->fill_x, first);
    ls_fence *third = submit(t->b, t->fill_y, NULL); /* after `second` by its stream */
    ls_fence *fourth = submit(t->c, t->fill_z, third);
    assert_null(extra);
    OK(ls_fence_cancel(first, 60 * SECOND, error));
    assert_int_equal(wait_cause(&first), LS_E_CANCELLED);
    assert_int_equal(wait_cause(&second), LS_E_STATE);
    assert_int_equal(wait_cause(&third), LS_E_STATE);
    assert_int_equal(wait_cause(&fourth), LS_E_STATE);
}

static void disjoint_ranges_are_no_hazard(void **state)
{
    bench *t = *state;
    ls_batch *lower = kit_batch(t->device), *upper = kit_batch(t->device),
             *reader = kit_batch(t->device);
    uint32_t one = 1, words[16];
    ls_range low = {t->z, 0, 32}, high = {t->z, 32, 32};
    ls_dispatch hold = kit_dispatch(kit_kernel(t->program, "endless"), 1, &low, 1, NULL, 0);
    OK(ls_batch_dispatch(lower, &hold, error));
    OK(ls_batch_fill(upper, high, &one, 4, NULL, error));
    OK(ls_batch_download(reader, WHOLE(t->z), LS_MEM_U32, words, NULL, error));
    ls_fence *pending = submit(t->a, lower, NULL), *extra = NULL;
    ls_fence *free = submit(t->b, upper, NULL);
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(t->c, reader, NULL, &extra, error));
    OK(ls_fence_cancel(pending, 60 * SECOND, error));
    assert_int_equal(wait_cause(&pending), LS_E_CANCELLED);
    assert_int_equal(wait_cause(&free), LS_OK);
    ls_fence *after = submit(t->c, reader, NULL);
    assert_int_equal(wait_cause(&after), LS_OK);
    assert_int_equal(words[8], 1);
    ls_batch_destroy(&lower);
    ls_batch_destroy(&upper);
    ls_batch_destroy(&reader);
}

/* Two imports of one piece of memory are one piece of memory. */
static void imports_alias_by_address(void **state)
{
    bench *t = *state;
    static _Alignas(16) uint32_t memory[64];
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer *whole = NULL, *half = NULL;
    params.size_bytes = sizeof memory;
    OK(ls_buffer_import(t->device, memory, false, &params, &whole, error));
    params.size_bytes = sizeof memory / 2;
    OK(ls_buffer_import(t->device, memory + 32, true, &params, &half, error));
    ls_batch *batch = kit_batch(t->device), *other = kit_batch(t->device);
    uint32_t scalars[2] = {1, 1};
    ls_range ranges[2] = {WHOLE(half), WHOLE(whole)}, beside[2] = {WHOLE(half), {whole, 0, 128}};
    ls_dispatch dispatch = kit_dispatch(kit_kernel(t->program, "add"), 1, ranges, 2, scalars, 8);
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &dispatch, error));
    dispatch.buffers = beside;
    OK(ls_batch_dispatch(batch, &dispatch, error));
    ls_range written = {whole, 128, 4};
    ls_dispatch hold = kit_dispatch(kit_kernel(t->program, "endless"), 1, &written, 1, NULL, 0);
    OK(ls_batch_dispatch(other, &hold, error));
    ls_fence *pending = submit(t->a, other, NULL), *extra = NULL;
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(t->b, batch, NULL, &extra, error));
    OK(ls_fence_cancel(pending, 60 * SECOND, error));
    ls_fence_destroy(&pending);
    ls_fence *after = submit(t->b, batch, NULL);
    assert_int_equal(wait_cause(&after), LS_OK);
    assert_int_equal(memory[0], 1);
    ls_batch_destroy(&batch);
    ls_batch_destroy(&other);
    ls_buffer_destroy(&whole);
    ls_buffer_destroy(&half);
}

/* --- traps and failures ----------------------------------------------------------------------- */
static void a_trap_names_its_place(void **state)
{
    bench *t = *state;
    ls_batch *batch = kit_batch(t->device);
    uint32_t lane = 5, one = 1;
    ls_dispatch dispatch = kit_dispatch(kit_kernel(t->program, "fails"), 20, NULL, 0, &lane, 4);
    OK(ls_batch_fill(batch, WHOLE(t->x), &one, 4, NULL, error));
    OK(ls_batch_repeat_begin(batch, 2, 0, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_batch_repeat_end(batch, error));
    OK(ls_batch_fill(batch, WHOLE(t->y), &one, 4, NULL, error));
    ls_fence *fence = submit(t->a, batch, NULL);
    ls_receipt r = {.struct_size = sizeof r};
    FAILS(LS_E_FAILED, ls_fence_wait(fence, 60 * SECOND, &r, error));
    assert_int_equal(r.error.cause, LS_E_TRAP);
    assert_true(r.trapped);
    assert_int_equal(r.trap_code, 9);
    assert_int_equal(r.trap_command, 1);
    assert_int_equal(r.trap_workgroup, 0);
    assert_int_equal(r.trap_lane, 5);
    assert_int_equal(kit_u32(t->x, 0), 1);
    assert_int_equal(kit_u32(t->y, 0), 0);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
}

/* A random batch of transfers on two buffers, and its plan. */
static ls__plan *random_plan(bench *t, uint64_t *seed)
{
    static uint32_t bytes[16];
    ls_batch *batch = kit_batch(t->device);
    ls__plan *plan = NULL;
    uint32_t count = 1 + random_below(seed, 6);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = random_below(seed, 15), words = 1 + random_below(seed, 2);
        ls_range range = {random_below(seed, 2) ? t->x : t->y, first * 4ull, words * 4ull};
        if (random_below(seed, 3))
            OK(ls_batch_download(batch, range, LS_MEM_U32, bytes, NULL, error));
        else
            OK(ls_batch_fill(batch, range, bytes, 4, NULL, error));
    }
    OK(ls__plan_create(batch, &plan, error));
    ls_batch_destroy(&batch);
    return plan;
}

static bool conflict_by_pairs(const ls__plan *a, const ls__plan *b)
{
    for (uint32_t i = 0; i < a->record_count; i++) {
        for (uint32_t k = 0; k < b->record_count; k++) {
            const ls__use *x = a->records[i]->uses, *y = b->records[k]->uses;
            if (x->allocation == y->allocation && (x->write || y->write) &&
                x->offset < y->offset + y->size && y->offset < x->offset + x->size)
                return true;
        }
    }
    return false;
}

static void hazards_are_found_as_by_pairs(void **state)
{
    enum { ROUNDS = 3000 };
    bench *t = *state;
    uint64_t seed = 1;
    uint32_t conflicts = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        ls__plan *a = random_plan(t, &seed), *b = random_plan(t, &seed);
        const ls__touch *of_a = NULL, *of_b = NULL;
        bool expected = conflict_by_pairs(a, b);
        assert_int_equal(ls__plan_conflicts(a, b, &of_a, &of_b), expected);
        if (expected) {
            assert_ptr_equal(of_a->space, of_b->space);
            assert_true(of_a->write || of_b->write);
            assert_true(of_a->begin < of_b->end && of_b->begin < of_a->end);
        }
        conflicts += expected;
        ls__plan_release(a);
        ls__plan_release(b);
    }
    assert_in_range(conflicts, ROUNDS / 8, ROUNDS - ROUNDS / 8);
}

/* The largest count there is: cancelled at any time, and never listed round by round. */
static void endless_repeats_are_cancelled(void **state)
{
    bench *t = *state;
    ls_batch *batch = kit_batch(t->device);
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    uint32_t value = 1;
    OK(ls_batch_repeat_begin(batch, UINT32_MAX, 0, error));
    OK(ls_batch_fill(batch, WHOLE(t->x), &value, 4, NULL, error));
    OK(ls_batch_repeat_end(batch, error));
    params.attribution = true;
    NOT_SUBMITTED(LS_E_LIMIT, ls_submit(t->a, batch, &params, &fence, error));
    OK(ls_trace_begin(t->device, error));
    fence = submit(t->a, batch, NULL);
    FAILS(LS_E_TIMEOUT, ls_fence_wait(fence, 20 * MILLISECOND, NULL, error));
    OK(ls_fence_cancel(fence, 60 * SECOND, error));
    assert_int_equal(wait_cause(&fence), LS_E_CANCELLED);
    OK(ls_trace_end(t->device, "/dev/null", error));
    ls_batch_destroy(&batch);
}

typedef struct canceller {
    ls_fence *fence;
    ls_status status;
} canceller;

static void *cancel_shortly(void *argument)
{
    canceller *c = argument;
    c->status = ls_fence_cancel(c->fence, 1, NULL);
    return NULL;
}

/* Between being taken from the queue and running, which the test holds on to: a limit is for what
 * runs, so the call waits, and the device is not given up. */
static void cancelled_when_its_turn_comes(void **state)
{
    bench *t = *state;
    pthread_t thread;
    ls_fence *blocker = submit(t->a, t->endless, NULL);
    ls_fence *fence = submit(t->b, t->fill_x, NULL);
    canceller c = {.fence = fence, .status = LS_OK};
    pthread_mutex_lock(&t->device->lock);
    fence->submission->claimed = true;
    pthread_mutex_unlock(&t->device->lock);
    assert_int_equal(pthread_create(&thread, NULL, cancel_shortly, &c), 0);
    ls__os_sleep_ns(20 * MILLISECOND);
    OK(ls_fence_cancel(blocker, 60 * SECOND, error));
    pthread_join(thread, NULL);
    assert_int_equal(c.status, LS_OK);
    assert_int_equal(wait_cause(&fence), LS_E_CANCELLED);
    assert_false(ls_device_is_lost(t->device));
    ls_fence_destroy(&blocker);
}

static void a_fence_may_be_named_twice(void **state)
{
    bench *t = *state;
    ls_fence *blocker = submit(t->a, t->endless, NULL), *first = submit(t->b, t->fill_x, NULL);
    ls_fence *const wait[4] = {first, first, first, first};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *second = NULL;
    params.wait = wait;
    params.wait_count = 4;
    OK(ls_submit(t->c, t->fill_x, &params, &second, error));
    ls_fence_destroy(&first); /* the submission still knows it */
    OK(ls_fence_cancel(blocker, 60 * SECOND, error));
    assert_int_equal(wait_cause(&second), LS_OK);
    assert_int_equal(kit_u32(t->x, 0), 1);
    ls_fence_destroy(&blocker);
}

static void handles_that_are_not_there(void **state)
{
    bench *t = *state;
    ls_fence *fence = NULL;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    uint32_t word = 0;
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_fill(NULL, WHOLE(t->x), &word, 4, NULL, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_fill(t->fill_x, WHOLE(NULL), &word, 4, NULL, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_copy(NULL, WHOLE(t->x), WHOLE(t->y), NULL, error));
    FAILS(LS_E_INVALID_ARGUMENT,
          ls_batch_upload(NULL, WHOLE(t->x), LS_MEM_U32, &word, NULL, error));
    FAILS(LS_E_INVALID_ARGUMENT,
          ls_batch_download(t->fill_x, WHOLE(t->x), LS_MEM_U32, NULL, NULL, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(NULL, &dispatch, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(t->fill_x, &dispatch, error));
    FAILS(LS_E_VERSION, ls_batch_dispatch(t->fill_x, &(ls_dispatch){0}, error));
    FAILS(LS_E_INVALID_ARGUMENT, ls_batch_repeat_begin(NULL, 1, 0, error));
    FAILS(LS_E_STATE, ls_batch_repeat_end(t->fill_x, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(NULL, t->fill_x, NULL, &fence, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(t->a, NULL, NULL, &fence, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit_prepared(t->a, NULL, NULL, &fence, error));
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(t->device, &counters);
    assert_int_equal(counters.submissions_refused, 2);
    assert_int_equal(ls_batch_count(t->fill_x), 1);
    ls_buffer_destroy(NULL);
    ls_fence_destroy(&fence);
    OK(ls_stream_destroy(NULL, error));
    OK(ls_device_destroy(NULL, error));
}

/* Everything is destroyed around a thread that hangs in a command; the process goes on. */
static void handles_may_go_while_a_thread_hangs(void **state)
{
    (void)state;
    ls_fault_plan plan = {.struct_size = sizeof plan, .hang_at_command = 1};
    ls_device *device = kit_open("fault", &plan);
    ls_stream *stream = kit_stream(device), *other = kit_stream(device);
    ls_buffer *x = kit_buffer(device, 64, LS_MEM_NONE), *y = kit_buffer(device, 64, LS_MEM_NONE);
    ls_batch *batch = kit_batch(device), *second = kit_batch(device);
    uint32_t value = 3, found = 0;
    OK(ls_batch_upload(batch, (ls_range){x, 0, 4}, LS_MEM_NONE, &value, NULL, error));
    OK(ls_batch_copy(batch, (ls_range){x, 8, 8}, (ls_range){x, 0, 8}, NULL, error));
    OK(ls_batch_download(batch, (ls_range){x, 0, 4}, LS_MEM_NONE, &found, NULL, error));
    OK(ls_batch_fill(second, WHOLE(y), &value, 4, NULL, error));
    ls_submit_params limited = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL, *queued = NULL;
    limited.time_limit_ns = 20 * MILLISECOND;
    OK(ls_submit(stream, batch, &limited, &fence, error));
    queued = submit(other, second, NULL);
    ls_batch_destroy(&batch);
    ls_batch_destroy(&second);
    FAILS(LS_E_BUSY, ls_device_destroy(&device, error));
    FAILS(LS_E_INDETERMINATE, ls_fence_wait(fence, 60 * SECOND, NULL, error));
    assert_int_equal(ls_fence_query(fence, NULL), LS_INDETERMINATE);
    FAILS(LS_E_INDETERMINATE, ls_fence_wait(queued, 60 * SECOND, NULL, error)); /* waits return */
    ls_buffer *none = NULL;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = 4;
    FAILS(LS_E_INDETERMINATE, ls_buffer_create(device, &params, &none, error));
    void *memory = NULL;
    FAILS(LS_E_INDETERMINATE, ls_buffer_map(x, 0, 4, LS_MAP_READ, &memory, error));
    ls_memory_info info = {.struct_size = sizeof info};
    ls_device_memory(device, &info);
    assert_int_equal(info.quarantined_bytes, 128); /* of the hung one and of the one behind it */
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_device_memory(device, &info);
    assert_true(info.used_bytes >= 128);
    OK(ls_device_destroy(&device, error)); /* before its fences and streams */
    ls_fence_destroy(&fence);
    ls_fence_destroy(&queued);
    OK(ls_stream_destroy(&stream, error));
    OK(ls_stream_destroy(&other, error));
    assert_int_equal(found, 0);
}

#define BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH(a_queued_submission_is_cancelled_at_once),
        BENCH(cancel_without_a_limit_does_not_wait),
        BENCH(a_time_limit_ends_what_does_not_end),
        BENCH(order_through_fences_is_transitive),
        BENCH(disjoint_ranges_are_no_hazard),
        BENCH(imports_alias_by_address),
        BENCH(a_trap_names_its_place),
        BENCH(hazards_are_found_as_by_pairs),
        BENCH(endless_repeats_are_cancelled),
        BENCH(cancelled_when_its_turn_comes),
        BENCH(a_fence_may_be_named_twice),
        BENCH(handles_that_are_not_there),
        cmocka_unit_test(handles_may_go_while_a_thread_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
