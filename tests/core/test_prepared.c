/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared batches: submitted by several threads at once, and again and again without allocating.
 */
#include "kit.h"

#include <pthread.h>

typedef struct bench {
    ls_device *device;
    ls_stream *stream;
    ls_program *program;
    ls_buffer *x, *y;
    ls_prepared *prepared; /* y[i] = x[i] + parameter, x from slot 0, y to slot 1 */
} bench;

static int bench_open(void **state)
{
    static bench t;
    static const ls_scalar_link link = {4, 0, 4};
    uint32_t scalars[2] = {16, 0};
    t = (bench){.device = kit_open("reference", NULL)};
    t.stream = kit_stream(t.device);
    t.program = kit_program(t.device, basic_ir, NULL, NULL);
    t.x = kit_buffer(t.device, 64, LS_MEM_U32);
    t.y = kit_buffer(t.device, 64, LS_MEM_U32);
    ls_range ranges[2] = {WHOLE(t.x), WHOLE(t.y)};
    ls_dispatch add = kit_dispatch(kit_kernel(t.program, "add"), 16, ranges, 2, scalars, 8);
    ls_batch *batch = kit_batch(t.device);
    add.links = &link;
    add.link_count = 1;
    add.tag.label = "add the parameter";
    OK(ls_batch_upload_slot(batch, WHOLE(t.x), LS_MEM_U32, 0, NULL, error));
    OK(ls_batch_dispatch(batch, &add, error));
    OK(ls_batch_download_slot(batch, WHOLE(t.y), LS_MEM_U32, 1, NULL, error));
    OK(ls_prepare(batch, &t.prepared, error));
    ls_batch_destroy(&batch);
    *state = &t;
    return 0;
}

static int bench_close(void **state)
{
    bench *t = *state;
    ls_prepared_destroy(&t->prepared);
    ls_program_destroy(&t->program);
    ls_buffer_destroy(&t->x);
    ls_buffer_destroy(&t->y);
    OK(ls_stream_destroy(&t->stream, error));
    assert_int_equal(kit_used(t->device), 0);
    OK(ls_device_destroy(&t->device, error));
    return 0;
}

typedef struct round { /* one submission; its host memory lives until it has ended */
    uint32_t parameter, in[16], out[16];
    bool attribution;
    ls_fence *fence;
} round;

static void begin(const bench *t, round *r, uint32_t parameter, bool attribution)
{
    ls_slot slots[2] = {{.upload = r->in}, {.download = r->out}};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    *r = (round){.parameter = parameter, .attribution = attribution};
    for (uint32_t i = 0; i < 16; i++)
        r->in[i] = parameter ^ i;
    params.parameters = &parameter;
    params.parameter_bytes = sizeof parameter;
    params.slots = slots;
    params.slot_count = 2;
    params.attribution = attribution;
    OK(ls_submit_prepared(t->stream, t->prepared, &params, &r->fence, error));
}

static void end(round *r)
{
    ls_receipt receipt = {.struct_size = sizeof receipt};
    OK(ls_fence_wait(r->fence, 60 * SECOND, &receipt, error));
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(r->out[i], (r->parameter ^ i) + r->parameter);
    assert_int_equal(receipt.attribution_count, r->attribution ? 3 : 0);
    if (r->attribution)
        assert_string_equal(receipt.attribution[1].tag.label, "add the parameter");
    ls_fence_destroy(&r->fence);
}

/* Two at once, however fast the device is: they wait behind a kernel that is cancelled then. */
static void run_two(const bench *t, bool attribution)
{
    round a, b;
    ls_stream *stream = kit_stream(t->device);
    ls_batch *batch = kit_batch(t->device);
    ls_buffer *z = kit_buffer(t->device, 64, LS_MEM_U32);
    ls_range range = WHOLE(z);
    ls_dispatch endless = kit_dispatch(kit_kernel(t->program, "endless"), 1, &range, 1, NULL, 0);
    ls_fence *fence = NULL;
    OK(ls_batch_dispatch(batch, &endless, error));
    OK(ls_submit(stream, batch, NULL, &fence, error));
    begin(t, &a, 1, attribution);
    begin(t, &b, 2, attribution);
    OK(ls_fence_cancel(fence, 60 * SECOND, error));
    end(&a);
    end(&b);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&z);
    OK(ls_stream_destroy(&stream, error));
}

/* What the conductor and the device allocate is not counted. The conductor may still hold the last
 * submission when the next one is made, so the pool needs two of each. */
static void a_loop_allocates_nothing(void **state)
{
    const bench *t = *state;
    round a;
    for (int attribution = 0; attribution < 2; attribution++) {
        run_two(t, attribution);
        ls__mem_fail_after(1);
        for (uint32_t i = 0; i < 100; i++) {
            begin(t, &a, i, attribution);
            end(&a);
        }
        ls__mem_fail_after(0);
    }
}

static void *run_many(void *argument)
{
    round r;
    for (uint32_t i = 0; i < 60; i++) {
        begin(argument, &r, i * 77, i % 2);
        end(&r);
    }
    return NULL;
}

static void threads_submit_the_same_one(void **state)
{
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, *state), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

#define BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH(a_loop_allocates_nothing),
        BENCH(threads_submit_the_same_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
