/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: streams are ordered, waits on fences order streams, hazards without a fence are not
 * submitted. */
#include "contract.h"

/* A submission that keeps the first stream busy until it is cancelled; `y` is written by it. */
typedef struct busy {
    ls_program *program;
    ls_buffer *y;
    ls_batch *batch;
    ls_fence *fence;
} busy;

static busy start_busy(fixture *f)
{
    busy b = {.program = contract_program(f, contract_endless_text),
              .y = contract_buffer_u32(f, NULL, 4)};
    ls_range range = {b.y, 0, 8};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(b.program, "endless");
    d.global_size[0] = 1;
    d.buffers = &range;
    d.buffer_count = 1;
    OK(ls_batch_create(f->device, &b.batch, error));
    OK(ls_batch_dispatch(b.batch, &d, error));
    OK(ls_submit(f->stream, b.batch, NULL, &b.fence, error));
    return b;
}

static void stop_busy(busy *b)
{
    OK(ls_fence_cancel(b->fence, 10 * SECOND, error));
    ls_fence_destroy(&b->fence);
    ls_batch_destroy(&b->batch);
    ls_buffer_destroy(&b->y);
    ls_program_destroy(&b->program);
}

static void one_stream_runs_in_order(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    const ls_kernel *kernel = contract_kernel(program, "add");
    ls_buffer *x = contract_buffer_u32(f, NULL, 64), *y = contract_buffer_u32(f, NULL, 64);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    ls_fence *fences[50] = {0};
    for (uint32_t i = 0; i < 50; i++) {
        ls_batch_clear(batch);
        OK(contract_record_add(batch, kernel, i % 2 ? y : x, i % 2 ? x : y, 64, i, error));
        OK(ls_submit(f->stream, batch, NULL, &fences[i], error));
    }
    OK(ls_fence_wait(fences[49], 30 * SECOND, NULL, error));
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(ls_fence_query(fences[i], NULL), LS_SUCCEEDED);
        ls_fence_destroy(&fences[i]);
    }
    contract_expect_u32(x, 63, 49 * 50 / 2);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void hazards_between_streams_need_a_fence(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    ls_stream *other = NULL;
    OK(ls_stream_create(f->device, &other, error));
    busy b = start_busy(f);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    uint32_t out[4];
    OK(ls_batch_create(f->device, &batch, error));
    /* read after write */
    OK(ls_batch_download(batch, (ls_range){b.y, 4, 4}, LS_MEM_U32, out, NULL, error));
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(other, batch, NULL, &fence, error));
    ls_batch_clear(batch);
    OK(ls_batch_fill(batch, WHOLE(b.y), &(uint32_t){1}, 4, NULL, error)); /* write after write */
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(other, batch, NULL, &fence, error));
    assert_int_equal(ls_stream_query(other, NULL), LS_STREAM_READY);
    ls_batch_clear(batch);
    /* bytes it does not write */
    OK(ls_batch_fill(batch, (ls_range){b.y, 8, 8}, &(uint32_t){1}, 4, NULL, error));
    OK(ls_submit(other, batch, NULL, &fence, error));
    ls_fence *waiting = NULL;
    ls_batch_clear(batch);
    OK(ls_batch_fill(batch, WHOLE(b.y), &(uint32_t){6}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.wait = &b.fence;
    params.wait_count = 1;
    /* with a fence to wait for it is accepted */
    OK(ls_submit(other, batch, &params, &waiting, error));
    OK(ls_fence_cancel(b.fence, 10 * SECOND, error));
    ls_receipt receipt = {.struct_size = sizeof receipt};
    /* what it waited for failed */
    REFUSED(LS_E_FAILED, ls_fence_wait(waiting, 10 * SECOND, &receipt, error));
    assert_int_equal(ls_stream_query(other, NULL), LS_STREAM_FAILED);
    ls_fence_destroy(&fence);
    ls_fence_destroy(&waiting);
    ls_batch_destroy(&batch);
    stop_busy(&b);
    OK(ls_stream_destroy(&other, error));
}

/* The last of three is cancelled first; when the first one then fails, the one between must not
 * run. */
static void what_follows_a_failure_never_runs(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    busy b = start_busy(f);
    ls_buffer *x = contract_buffer_u32(f, NULL, 4);
    ls_batch *batch = NULL;
    ls_fence *between = NULL, *last = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(x), &(uint32_t){7}, 4, NULL, error));
    OK(ls_submit(f->stream, batch, NULL, &between, error));
    OK(ls_submit(f->stream, batch, NULL, &last, error));
    OK(ls_fence_cancel(last, 10 * SECOND, error));
    assert_int_equal(ls_fence_query(between, NULL), LS_PENDING);
    stop_busy(&b);
    ls_receipt receipt = {.struct_size = sizeof receipt};
    REFUSED(LS_E_FAILED, ls_fence_wait(between, 10 * SECOND, &receipt, error));
    assert_int_equal(receipt.error.cause, LS_E_STATE);
    assert_int_equal(receipt.execution_host_ns, 0);
    contract_expect_u32(x, 0, 0);
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_FAILED);
    ls_fence_destroy(&between);
    ls_fence_destroy(&last);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
}

static void fences_order_streams(void **state)
{
    fixture *f = *state;
    ls_stream *other = NULL;
    OK(ls_stream_create(f->device, &other, error));
    ls_buffer *b = contract_buffer_u32(f, NULL, 50000);
    ls_batch *first = NULL, *second = NULL;
    OK(ls_batch_create(f->device, &first, error));
    OK(ls_batch_create(f->device, &second, error));
    for (int i = 0; i < 20; i++)
        OK(ls_batch_fill(first, WHOLE(b), &(uint32_t){1}, 4, NULL, error));
    OK(ls_batch_fill(second, WHOLE(b), &(uint32_t){2}, 4, NULL, error));
    ls_fence *a = NULL, *c = NULL;
    OK(ls_submit(f->stream, first, NULL, &a, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.wait = &a;
    params.wait_count = 1;
    OK(ls_submit(other, second, &params, &c, error));
    OK(ls_fence_wait(c, 10 * SECOND, NULL, error));
    assert_int_equal(ls_fence_query(a, NULL), LS_SUCCEEDED);
    contract_expect_u32(b, 49999, 2);
    OK(ls_fence_wait(a, 0, NULL, error));
    ls_fence_destroy(&a);
    ls_fence_destroy(&c);
    ls_batch_destroy(&first);
    ls_batch_destroy(&second);
    ls_buffer_destroy(&b);
    OK(ls_stream_destroy(&other, error));
}

static void devices_are_independent(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    fixture other = contract_open(contract_device, NULL, 0);
    busy b = start_busy(f);
    ls_buffer *mine = contract_buffer_u32(&other, NULL, 4);
    ls_batch *batch = NULL;
    OK(ls_batch_create(other.device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(mine), &(uint32_t){4}, 4, NULL, error));
    contract_run(&other, batch); /* while the first device is busy */
    contract_expect_u32(mine, 3, 4);
    assert_int_equal(ls_fence_query(b.fence, NULL), LS_PENDING);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&mine);
    contract_close(&other);
    stop_busy(&b);
}

static void bad_waits_are_not_submitted(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 4);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL, *none = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){4}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.wait = &none;
    params.wait_count = 1;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, batch, &params, &fence, error));
    params.wait = NULL;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, batch, &params, &fence, error));
    params.wait_count = 0;
    params.struct_size = 2;
    NOT_SUBMITTED(LS_E_VERSION, ls_submit(f->stream, batch, &params, &fence, error));
    contract_expect_u32(b, 0, 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

const struct CMUnitTest contract_stream_tests[] = {
    TEST(one_stream_runs_in_order), TEST(hazards_between_streams_need_a_fence),
    TEST(fences_order_streams),     TEST(what_follows_a_failure_never_runs),
    TEST(devices_are_independent),  TEST(bad_waits_are_not_submitted),
};
const size_t contract_stream_count = COUNT(contract_stream_tests);
