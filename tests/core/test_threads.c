/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one device: building, recording, submitting, waiting, cancelling, mapping,
 * looking at counters. Run under the thread sanitizer it shows that there are no data races. */
#include "kit.h"

#include <pthread.h>

#include "base/os.h"
#include "core/core.h"

enum { THREADS = 4, ROUNDS = 40 };

typedef struct shared {
    ls_device *device, *fallback;
    ls_buffer *common; /* read by all */
    ls_fence *gate;    /* waited for by all */
} shared;

typedef struct worker {
    shared *all;
    uint32_t index;
    pthread_t thread;
} worker;

static void watch(const ls_device *device)
{
    ls_counters counters = {.struct_size = sizeof counters};
    ls_memory_info info = {.struct_size = sizeof info};
    ls_device_counters(device, &counters);
    ls_device_memory(device, &info);
    assert_true(info.used_bytes <= info.peak_bytes);
}

static void round_of(worker *w, ls_stream *stream, ls_program *program, ls_program *remote,
                     ls_buffer *y, ls_buffer *wide, uint32_t round)
{
    ls_device *device = w->all->device;
    uint32_t scalars[2] = {16, round + w->index};
    ls_range ranges[2] = {WHOLE(w->all->common), WHOLE(y)},
             pair[2] = {{wide, 0, 32}, {wide, 32, 32}};
    ls_dispatch add = kit_dispatch(kit_kernel(program, "add"), 16, ranges, 2, scalars, 8);
    ls_dispatch twice = kit_dispatch(kit_kernel(remote, "twice"), 4, pair, 2, NULL, 0);
    ls_batch *batch = kit_batch(device);
    uint32_t found[16] = {0};
    OK(ls_batch_dispatch(batch, &add, error));
    OK(ls_batch_dispatch(batch, &twice, error));
    OK(ls_batch_download(batch, WHOLE(y), LS_MEM_U32, found, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    params.attribution = round % 2;
    params.wait = &w->all->gate;
    params.wait_count = 1;
    OK(ls_submit(stream, batch, &params, &fence, error));
    watch(device);
    OK(ls_fence_wait(fence, 60 * SECOND, NULL, error));
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(found[i], 100 + round + w->index);
    void *memory = NULL;
    OK(ls_buffer_map(y, 0, LS_WHOLE, LS_MAP_READ | LS_MAP_WRITE, &memory, error));
    ((uint32_t *)memory)[3]++;
    OK(ls_buffer_unmap(y, error));
    assert_int_equal(kit_u32(y, 3), 101 + round + w->index);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
}

static void *work(void *argument)
{
    worker *w = argument;
    ls_device *device = w->all->device;
    ls_stream *stream = kit_stream(device);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        ls_program *program = kit_program(device, basic_ir, NULL, round % 2 ? "bounds" : NULL);
        ls_program *remote = kit_program(device, wide_ir, w->all->fallback, NULL);
        ls_buffer *y = kit_buffer(device, 64, LS_MEM_U32),
                  *wide = kit_buffer(device, 64, LS_MEM_F64);
        round_of(w, stream, program, remote, y, wide, round);
        ls_buffer_destroy(&y);
        ls_buffer_destroy(&wide);
        ls_program_destroy(&program);
        ls_program_destroy(&remote);
    }
    OK(ls_stream_destroy(&stream, error));
    return NULL;
}

static void many_threads_share_a_device(void **state)
{
    (void)state;
    shared all = {.device = kit_open("fault", NULL), .fallback = kit_open("reference", NULL)};
    ls_stream *stream = kit_stream(all.device);
    ls_batch *batch = kit_batch(all.device);
    worker workers[THREADS];
    uint32_t hundred = 100;
    all.common = kit_buffer(all.device, 64, LS_MEM_U32);
    OK(ls_trace_begin(all.device, error));
    OK(ls_batch_fill(batch, WHOLE(all.common), &hundred, 4, NULL, error));
    OK(ls_submit(stream, batch, NULL, &all.gate, error));
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.all = &all, .index = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(all.device, &counters);
    assert_int_equal(counters.submissions, 1 + THREADS * ROUNDS);
    assert_int_equal(counters.commands, 1 + THREADS * ROUNDS * 3);
    assert_int_equal(counters.fallback_splits, THREADS * ROUNDS);
    assert_true(counters.programs_built <= 2 * THREADS);
    OK(ls_trace_end(all.device, "/dev/null", error));
    ls_fence_destroy(&all.gate);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&all.common);
    OK(ls_stream_destroy(&stream, error));
    assert_int_equal(kit_used(all.device), 0);
    assert_int_equal(kit_used(all.fallback), 0);
    OK(ls_device_destroy(&all.device, error));
    OK(ls_device_destroy(&all.fallback, error));
}

/* --- cancelling from several threads ---------------------------------------------------------- */
static void *cancel(void *argument)
{
    ls_fence *fence = argument;
    OK(ls_fence_cancel(fence, 60 * SECOND, error));
    return NULL;
}

static void several_threads_cancel_and_wait(void **state)
{
    (void)state;
    ls_device *device = kit_open("reference", NULL);
    ls_program *program = kit_program(device, basic_ir, NULL, NULL);
    ls_buffer *y = kit_buffer(device, 64, LS_MEM_U32);
    ls_range range = WHOLE(y);
    ls_dispatch endless = kit_dispatch(kit_kernel(program, "endless"), 1, &range, 1, NULL, 0);
    ls_batch *batch = kit_batch(device);
    OK(ls_batch_dispatch(batch, &endless, error));
    for (int round = 0; round < 20; round++) {
        ls_stream *stream = kit_stream(device);
        ls_fence *fences[2] = {NULL, NULL};
        pthread_t threads[4];
        for (int i = 0; i < 2; i++)
            OK(ls_submit(stream, batch, NULL, &fences[i], error));
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, cancel, fences[i % 2]), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++) {
            ls_receipt r = {.struct_size = sizeof r};
            assert_int_equal(ls_fence_query(fences[i], &r), LS_FAILED_QUIESCENT);
            assert_true(r.error.cause == LS_E_CANCELLED || r.error.cause == LS_E_STATE);
            ls_fence_destroy(&fences[i]);
        }
        OK(ls_stream_destroy(&stream, error));
    }
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    OK(ls_device_destroy(&device, error));
}

/* --- nobody waits ----------------------------------------------------------------------------- */
/* Looks for an end without waiting for it, so that only the device's own thread can bring it. */
static bool ends_by_itself(const ls_fence *fence)
{
    uint64_t until = ls__os_now_ns() + 10 * SECOND;
    while (ls_fence_query(fence, NULL) == LS_PENDING) {
        if (ls__os_now_ns() > until)
            return false;
    }
    return true;
}

/* Waits awake until the device's thread runs the first submission. */
static void look_for_begin(ls_device *device)
{
    for (bool begun = false; !begun;) {
        pthread_mutex_lock(&device->lock);
        begun = device->occupied || !device->first;
        pthread_mutex_unlock(&device->lock);
        ls__os_relax();
    }
}

typedef struct looker {
    const ls_stream *stream;
    atomic_bool stop;
} looker;

/* Takes the device's lock again and again, so that others come to it late. */
static void *look(void *argument)
{
    looker *l = argument;
    while (!atomic_load(&l->stop))
        ls_stream_query(l->stream, NULL);
    return NULL;
}

/* The device's thread leaves what is new to those who may wait for it. One is cancelled meanwhile
 * and another comes in its place, which the thread must not sleep over. */
static void what_takes_the_place_of_a_cancelled_one_runs(void **state)
{
    (void)state;
    enum { TRIES = 1500 };
    ls_device *device = kit_open("reference", NULL);
    ls_buffer *long_one = kit_buffer(device, 16384, LS_MEM_U32),
              *short_one = kit_buffer(device, 64, LS_MEM_U32);
    ls_stream *stream = kit_stream(device);
    ls_batch *first = kit_batch(device), *second = kit_batch(device);
    looker l = {.stream = stream};
    pthread_t thread;
    uint32_t value = 1;
    assert_int_equal(pthread_create(&thread, NULL, look, &l), 0);
    OK(ls_batch_fill(first, WHOLE(long_one), &value, 4, NULL, error));
    OK(ls_batch_fill(second, WHOLE(short_one), &value, 4, NULL, error));
    for (int round = 0; round < TRIES; round++) {
        ls_stream *other = kit_stream(device);
        ls_fence *fences[3] = {NULL, NULL, NULL};
        OK(ls_submit(stream, first, NULL, &fences[0], error));
        look_for_begin(device);
        OK(ls_submit(other, second, NULL, &fences[1], error));
        assert_true(ends_by_itself(fences[0]));
        (void)ls_fence_cancel(fences[1], 0, NULL); /* it may have begun */
        OK(ls_submit(stream, first, NULL, &fences[2], error));
        for (int i = 0; i < 3; i++) {
            assert_true(ends_by_itself(fences[i]));
            ls_fence_destroy(&fences[i]);
        }
        OK(ls_stream_destroy(&other, error));
    }
    atomic_store(&l.stop, true);
    pthread_join(thread, NULL);
    ls_batch_destroy(&first);
    ls_batch_destroy(&second);
    OK(ls_stream_destroy(&stream, error));
    ls_buffer_destroy(&long_one);
    ls_buffer_destroy(&short_one);
    OK(ls_device_destroy(&device, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_share_a_device),
        cmocka_unit_test(several_threads_cancel_and_wait),
        cmocka_unit_test(what_takes_the_place_of_a_cancelled_one_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
