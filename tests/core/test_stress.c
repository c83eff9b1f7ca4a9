/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that do everything at once to one device: submit, wait, cancel, map, drop handles, trace,
 * read counters. What each of them is told must be one of the documented answers, bytes that
 * succeeded must be right, and nothing may be left at the end. Made for the thread sanitizer.
 */
#include "kit.h"

#include "base/os.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100, STREAMS = 3 };

typedef struct shared {
    ls_device *device;
    ls_program *program;
    ls_buffer *common; /* everybody writes it: hazards */
} shared;

typedef struct worker {
    shared *all;
    uint64_t seed;
    pthread_t thread;
    ls_stream *streams[STREAMS];
    ls_buffer *mine;
    ls_batch *fill, *endless, *hazard;
    ls_prepared *prepared; /* copies slot 0 to slot 1 */
    ls_fence *last;        /* of an earlier round, perhaps pending */
    uint32_t succeeded, failed, refused;
} worker;

static uint32_t random_below(worker *w, uint32_t limit)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->seed >> 33) % limit);
}

static void expect_one_of(ls_status status, const ls_status *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (status == known[i])
            return;
    }
    fail_msg("unexpected %s", ls_status_name(status));
}
#define ONE_OF(call, ...)                                                                          \
    expect_one_of((call), (const ls_status[]){__VA_ARGS__}, COUNT(((ls_status[]){__VA_ARGS__})))

static void open_worker(worker *w)
{
    ls_device *device = w->all->device;
    uint32_t word = 5;
    for (int i = 0; i < STREAMS; i++)
        w->streams[i] = kit_stream(device);
    w->mine = kit_buffer(device, 64, LS_MEM_U32);
    w->fill = kit_batch(device);
    w->endless = kit_batch(device);
    w->hazard = kit_batch(device);
    ls_range range = WHOLE(w->mine);
    ls_dispatch dispatch =
        kit_dispatch(kit_kernel(w->all->program, "endless"), 1, &range, 1, NULL, 0);
    OK(ls_batch_upload_slot(w->fill, range, LS_MEM_U32, 0, NULL, error));
    OK(ls_batch_download_slot(w->fill, range, LS_MEM_U32, 1, NULL, error));
    OK(ls_prepare(w->fill, &w->prepared, error));
    OK(ls_batch_dispatch(w->endless, &dispatch, error));
    OK(ls_batch_fill(w->hazard, WHOLE(w->all->common), &word, 4, NULL, error));
}

static void close_worker(worker *w)
{
    ls_fence_destroy(&w->last);
    for (int i = 0; i < STREAMS; i++) {
        ls_stream_wait(w->streams[i], 60 * SECOND, NULL);
        OK(ls_stream_destroy(&w->streams[i], error));
    }
    ls_prepared_destroy(&w->prepared);
    ls_batch_destroy(&w->fill);
    ls_batch_destroy(&w->endless);
    ls_batch_destroy(&w->hazard);
    ls_buffer_destroy(&w->mine);
}

/* A failed stream is given up for a new one. */
static ls_stream *some_stream(worker *w)
{
    ls_stream **stream = &w->streams[random_below(w, STREAMS)];
    if (ls_stream_query(*stream, NULL) == LS_STREAM_FAILED) {
        ONE_OF(ls_stream_wait(*stream, 60 * SECOND, NULL), LS_E_FAILED);
        OK(ls_stream_destroy(stream, error));
        *stream = kit_stream(w->all->device);
    }
    return *stream;
}

static void count_end(worker *w, ls_status status)
{
    w->succeeded += status == LS_OK;
    w->failed += status == LS_E_FAILED;
}

static void copy_round(worker *w)
{
    uint32_t in[16], out[16] = {0};
    ls_slot slots[2] = {{.upload = in}, {.download = out}};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    for (uint32_t i = 0; i < 16; i++)
        in[i] = random_below(w, 1000);
    params.slots = slots;
    params.slot_count = 2;
    params.attribution = random_below(w, 2);
    params.timing = random_below(w, 2);
    params.wait = &w->last;
    params.wait_count = w->last ? 1 : 0;
    ls_stream *stream = some_stream(w);
    ls_status status = random_below(w, 2)
                           ? ls_submit_prepared(stream, w->prepared, &params, &fence, NULL)
                           : ls_submit(stream, w->fill, &params, &fence, NULL);
    ONE_OF(status, LS_OK, LS_E_NOT_SUBMITTED); /* what is pending may use the buffer */
    if (status != LS_OK) {
        w->refused++;
        return;
    }
    if (random_below(w, 4) == 0)
        ls_fence_cancel(fence, 0, NULL);
    status = ls_fence_wait(fence, 60 * SECOND, NULL, NULL);
    ONE_OF(status, LS_OK, LS_E_FAILED);
    if (status == LS_OK)
        assert_memory_equal(in, out, sizeof in);
    count_end(w, status);
    ls_fence_destroy(&fence);
}

static void endless_round(worker *w)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    params.time_limit_ns = (1 + random_below(w, 3)) * MILLISECOND;
    if (ls_submit(some_stream(w), w->endless, &params, &fence, NULL) != LS_OK) {
        w->refused++;
        return;
    }
    if (random_below(w, 2))
        OK(ls_fence_cancel(fence, 60 * SECOND, error));
    ls_status status = ls_fence_wait(fence, 60 * SECOND, NULL, NULL);
    ONE_OF(status, LS_E_FAILED);
    count_end(w, status);
    ls_fence_destroy(&fence);
}

/* Left pending; a later round waits for it or drops it. */
static void hazard_round(worker *w)
{
    ls_fence *fence = NULL;
    ls_status status = ls_submit(some_stream(w), w->hazard, NULL, &fence, NULL);
    ONE_OF(status, LS_OK, LS_E_NOT_SUBMITTED);
    w->refused += status != LS_OK;
    if (status != LS_OK)
        return;
    ls_fence_destroy(&w->last);
    w->last = fence;
}

static void look_round(worker *w)
{
    ls_device *device = w->all->device;
    ls_counters counters = {.struct_size = sizeof counters};
    ls_memory_info info = {.struct_size = sizeof info};
    void *memory = NULL;
    ls_device_counters(device, &counters);
    ls_device_memory(device, &info);
    assert_true(info.used_bytes <= info.peak_bytes);
    ls_status status = ls_buffer_map(w->all->common, 0, LS_WHOLE, LS_MAP_WRITE, &memory, NULL);
    ONE_OF(status, LS_OK, LS_E_BUSY);
    if (status == LS_OK) {
        ((uint32_t *)memory)[0]++;
        OK(ls_buffer_unmap(w->all->common, error));
    }
    ONE_OF(ls_trace_begin(device, NULL), LS_OK, LS_E_STATE);
    ONE_OF(ls_trace_end(device, "/dev/null", NULL), LS_OK, LS_E_STATE);
}

static void *work(void *argument)
{
    worker *w = argument;
    open_worker(w);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        switch (random_below(w, 8)) {
        case 0:
            endless_round(w);
            break;
        case 1:
            look_round(w);
            break;
        case 2:
        case 3:
            hazard_round(w);
            break;
        default:
            copy_round(w);
        }
    }
    close_worker(w);
    return NULL;
}

static void run_threads(const char *name)
{
    shared all = {.device = kit_open(name, NULL)};
    worker workers[THREADS];
    uint32_t succeeded = 0, failed = 0;
    all.program = kit_program(all.device, basic_ir, NULL, NULL);
    all.common = kit_buffer(all.device, 64, LS_MEM_U32);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.all = &all, .seed = i + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        succeeded += workers[i].succeeded;
        failed += workers[i].failed;
    }
    assert_true(succeeded > 20 && failed > 5);
    assert_false(ls_device_is_lost(all.device));
    ls_program_destroy(&all.program);
    ls_buffer_destroy(&all.common);
    assert_int_equal(kit_used(all.device), 0);
    OK(ls_device_destroy(&all.device, error));
}

static void threads_do_everything_on_reference(void **state)
{
    (void)state;
    run_threads("reference");
}

static void threads_do_everything_on_fault(void **state)
{
    (void)state;
    run_threads("fault");
}

/* A thousand pending submissions on hundreds of streams, behind one that is cancelled. Each is
 * checked against all that are pending, so more would take long under a sanitizer. */
static void a_thousand_are_pending(void **state)
{
    enum { MANY_STREAMS = 200, EACH = 5 };
    (void)state;
    ls_device *device = kit_open("reference", NULL);
    ls_program *program = kit_program(device, basic_ir, NULL, NULL);
    ls_buffer *y = kit_buffer(device, 4 * MANY_STREAMS, LS_MEM_U32),
              *z = kit_buffer(device, 4, LS_MEM_U32);
    ls_range range = WHOLE(z);
    ls_dispatch dispatch = kit_dispatch(kit_kernel(program, "endless"), 1, &range, 1, NULL, 0);
    ls_batch *batch = kit_batch(device);
    ls_stream *first = kit_stream(device), *streams[MANY_STREAMS];
    ls_fence *blocker = NULL;
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_submit(first, batch, NULL, &blocker, error));
    for (uint32_t i = 0; i < MANY_STREAMS; i++)
        streams[i] = kit_stream(device);
    for (uint32_t i = 0; i < MANY_STREAMS * EACH; i++) {
        uint32_t at = i % MANY_STREAMS;
        ls_batch_clear(batch);
        OK(ls_batch_fill(batch, (ls_range){y, at * 4, 4}, &i, 4, NULL, error));
        OK(ls_submit(streams[at], batch, NULL, NULL, error));
    }
    OK(ls_fence_cancel(blocker, 60 * SECOND, error));
    for (uint32_t i = 0; i < MANY_STREAMS; i++)
        OK(ls_stream_wait(streams[i], 60 * SECOND, error));
    for (uint32_t i = 0; i < MANY_STREAMS; i++) {
        assert_int_equal(kit_u32(y, i), MANY_STREAMS * (EACH - 1) + i);
        OK(ls_stream_destroy(&streams[i], error));
    }
    ls_fence_destroy(&blocker);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_buffer_destroy(&z);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&first, error));
    assert_int_equal(kit_used(device), 0);
    OK(ls_device_destroy(&device, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_everything_on_reference),
        cmocka_unit_test(threads_do_everything_on_fault),
        cmocka_unit_test(a_thousand_are_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
