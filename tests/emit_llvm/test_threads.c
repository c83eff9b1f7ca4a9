/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU device through the public calls: equal bytes and the same trap at 1, 2 and 7 threads. And
 * its pool by itself: every item once, whatever their number, early ends, many tasks one after
 * another.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cmocka_all.h"

#include "../base/ok.h"
#include "device/cpu/pool.h"
#include "lockstep/launch.h"

enum { LANES = 64 * 501 };

/* --- the device ---------------------------------------------------------------------------------
 */

static const char source[] = "kernel void mix(u32 rounds, u32 *y, u32 *sums)\n{\n"
                             "    u32 i = global_id(0);\n    u32 x = i;\n"
                             "    for (u32 k = 0; k < rounds + i % 7; k++)\n"
                             "        x = x * 1664525 + 1013904223;\n"
                             "    y[i] = x;\n    atomic_add(&sums[i % 5], x);\n"
                             "    if (i > 9000 && x % 512 == 77)\n        trap(x);\n}\n";

typedef struct outcome {
    uint32_t y[LANES], sums[5];
    bool trapped;
    uint32_t code, lane;
    uint64_t workgroup;
} outcome;

typedef struct session {
    ls_device *device;
    ls_program *program;
    ls_buffer *buffers[2];
    ls_stream *stream;
} session;

static void open_session(session *s, uint32_t threads)
{
    ls_module *module;
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_compile_params compile_params = LS_COMPILE_PARAMS_INIT;
    ls_buffer_params y = LS_BUFFER_PARAMS_INIT, sums = LS_BUFFER_PARAMS_INIT;
    device_params.name = "cpu";
    device_params.threads = threads;
    compile_params.text = source;
    compile_params.length = strlen(source);
    y.size_bytes = LANES * 4;
    sums.size_bytes = 5 * 4;
    OK(ls_device_open(&device_params, &s->device, error));
    OK(ls_module_compile(&compile_params, &module, NULL, error));
    OK(ls_program_create(s->device, module, NULL, &s->program, error));
    OK(ls_buffer_create(s->device, &y, &s->buffers[0], error));
    OK(ls_buffer_create(s->device, &sums, &s->buffers[1], error));
    OK(ls_stream_create(s->device, &s->stream, error));
    ls_module_destroy(&module);
}

static void close_session(session *s)
{
    OK(ls_stream_destroy(&s->stream, error));
    ls_buffer_destroy(&s->buffers[0]);
    ls_buffer_destroy(&s->buffers[1]);
    ls_program_destroy(&s->program);
    OK(ls_device_destroy(&s->device, error));
}

static void launch(uint32_t threads, uint32_t lanes, outcome *o)
{
    session s;
    ls_batch *batch;
    ls_fence *fence;
    ls_receipt receipt = LS_INIT(ls_receipt);
    ls_dispatch dispatch = {.struct_size = sizeof dispatch};
    uint32_t rounds = 40;
    memset(o, 0, sizeof *o);
    open_session(&s, threads);
    ls_range ranges[2] = {{s.buffers[0], 0, LS_WHOLE}, {s.buffers[1], 0, LS_WHOLE}};
    dispatch.global_size[0] = lanes;
    dispatch.buffers = ranges;
    dispatch.buffer_count = 2;
    dispatch.scalars = &rounds;
    dispatch.scalar_bytes = sizeof rounds;
    OK(ls_program_kernel(s.program, "mix", &dispatch.kernel, error));
    OK(ls_batch_create(s.device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_submit(s.stream, batch, NULL, &fence, error));
    ls_fence_wait(fence, LS_FOREVER, &receipt, NULL);
    o->trapped = receipt.trapped;
    o->code = receipt.trap_code;
    o->lane = receipt.trap_lane;
    o->workgroup = receipt.trap_workgroup;
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    OK(ls_buffer_read(s.buffers[0], 0, LS_MEM_NONE, o->y, sizeof o->y, error));
    OK(ls_buffer_read(s.buffers[1], 0, LS_MEM_NONE, o->sums, sizeof o->sums, error));
    close_session(&s);
}

static void test_equal_at_any_number(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 64, 65, 640, 9000, LANES};
    static outcome one, other;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        launch(1, sizes[i], &one);
        assert_int_equal(one.trapped, sizes[i] == LANES);
        for (uint32_t threads = 2; threads <= 7; threads += 5) {
            launch(threads, sizes[i], &other);
            assert_memory_equal(&one, &other, sizeof one);
        }
    }
}

/* --- the pool ------------------------------------------------------------------------------------
 */

typedef struct task {
    atomic_uint *seen; /* by item */
    atomic_uint_fast64_t total;
    bool ends; /* whoever works on it ends the task */
} task;

static bool work(void *context, uint32_t thread, uint64_t first, uint64_t count)
{
    task *t = context;
    (void)thread;
    for (uint64_t i = first; i < first + count; i++)
        atomic_fetch_add(&t->seen[i], 1);
    atomic_fetch_add(&t->total, count);
    return !t->ends;
}

static void run_task(ls__cpu_pool *pool, uint64_t count, uint64_t expected_ns)
{
    task t = {.seen = calloc(count + 1, sizeof(atomic_uint))};
    assert_non_null(t.seen);
    ls__cpu_pool_run(pool, count, expected_ns, work, &t);
    assert_int_equal(atomic_load(&t.total), count);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(atomic_load(&t.seen[i]), 1);
    free(t.seen);
}

static void test_every_item_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        ls__cpu_pool *pool;
        OK(ls__cpu_pool_create(threads, &pool, error));
        assert_int_equal(ls__cpu_pool_threads(pool), threads);
        for (uint64_t count = 0; count < 300; count += 1 + count / 3) {
            run_task(pool, count, UINT64_MAX);
            run_task(pool, count, 0);
        }
        for (int i = 0; i < 2000; i++)
            run_task(pool, 40, UINT64_MAX);
        ls__cpu_pool_destroy(&pool);
        assert_null(pool);
    }
}

static void test_early_end(void **state)
{
    (void)state;
    enum { ITEMS = 100000 };
    ls__cpu_pool *pool;
    task t = {.seen = calloc(ITEMS, sizeof(atomic_uint)), .ends = true};
    OK(ls__cpu_pool_create(3, &pool, error));
    ls__cpu_pool_run(pool, ITEMS, UINT64_MAX, work, &t);
    assert_true(atomic_load(&t.total) < ITEMS); /* a chunk for each thread at most */
    run_task(pool, 1000, UINT64_MAX);           /* and it goes on */
    ls__cpu_pool_destroy(&pool);
    free(t.seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_at_any_number),
        cmocka_unit_test(test_every_item_once),
        cmocka_unit_test(test_early_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
