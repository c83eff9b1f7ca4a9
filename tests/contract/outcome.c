/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: the outcome table. Not submitted, succeeded, failed but quiescent (indeterminate needs
 * the fault device). */
#include "contract.h"

static void an_empty_batch_is_not_submitted(void **state)
{
    fixture *f = *state;
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, batch, NULL, &fence, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, NULL, NULL, &fence, error));
    assert_null(fence);
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_READY);
    ls_batch_destroy(&batch);
}

static void path_demands_are_kept(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 1);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){1}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.path = LS_PATH_PREPARED_ONLY;
    NOT_SUBMITTED(LS_E_UNSUPPORTED, ls_submit(f->stream, batch, &params, &fence, error));
    contract_expect_u32(b, 0, 0);
    params.path = LS_PATH_EAGER_ONLY;
    OK(ls_submit(f->stream, batch, &params, &fence, error));
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    contract_expect_u32(b, 0, 1);
    ls_fence_destroy(&fence);
    ls_prepared *prepared = NULL;
    OK(ls_prepare(batch, &prepared, error));
    if (ls_device_caps(f->device)->prepared_native) {
        NOT_SUBMITTED(LS_E_UNSUPPORTED,
                      ls_submit_prepared(f->stream, prepared, &params, &fence, error));
        params.path = LS_PATH_PREPARED_ONLY;
    } else {
        params.path = LS_PATH_PREPARED_ONLY;
        NOT_SUBMITTED(LS_E_UNSUPPORTED,
                      ls_submit_prepared(f->stream, prepared, &params, &fence, error));
        params.path = LS_PATH_EAGER_ONLY;
    }
    OK(ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    ls_fence_destroy(&fence);
    ls_prepared_destroy(&prepared);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void success_has_a_stable_receipt(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 1);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){3}, 4, NULL, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_receipt one = {.struct_size = sizeof one}, two = one;
    OK(ls_fence_wait(fence, LS_FOREVER, &one, error));
    assert_int_equal(one.outcome, LS_SUCCEEDED);
    assert_int_equal(one.error.code, LS_OK);
    assert_int_equal(one.timing.state, LS_TIMING_NOT_REQUESTED);
    assert_int_equal(one.attribution_count, 0); /* not asked for */
    assert_false(one.trapped || one.unordered || one.unchecked);
    /* until it is waited for */
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_SUBMITTED);
    OK(ls_stream_wait(f->stream, SECOND, error));
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_READY);
    assert_int_equal(ls_fence_query(fence, &two), LS_SUCCEEDED);
    OK(ls_fence_wait(fence, 0, &two, error));
    assert_memory_equal(&one.timing, &two.timing, sizeof one.timing);
    assert_int_equal(one.execution_host_ns, two.execution_host_ns);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static ls_status record_trap(ls_batch *batch, const ls_kernel *kernel, ls_buffer *y, uint32_t lanes,
                             uint32_t first, uint32_t code, ls_error *error)
{
    uint32_t scalars[2] = {first, code};
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = kernel;
    d.global_size[0] = lanes;
    d.buffers = &range;
    d.buffer_count = 1;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    return ls_batch_dispatch(batch, &d, error);
}

static void a_trap_fails_the_batch_quiescent(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_trap_text);
    ls_buffer *y = contract_buffer_u32(f, NULL, 256), *z = contract_buffer_u32(f, NULL, 1);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL, *next = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(z), &(uint32_t){1}, 4, NULL, error));
    OK(record_trap(batch, contract_kernel(program, "fails"), y, 256, 70, 1000, error));
    OK(ls_batch_fill(batch, WHOLE(z), &(uint32_t){2}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.attribution = true;
    OK(ls_submit(f->stream, batch, &params, &fence, error));
    ls_receipt receipt = {.struct_size = sizeof receipt};
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, 10 * SECOND, &receipt, error));
    assert_int_equal(receipt.outcome, LS_FAILED_QUIESCENT);
    assert_int_equal(receipt.error.cause, LS_E_TRAP);
    assert_true(receipt.trapped);
    assert_int_equal(receipt.trap_code, 1070); /* the lowest (workgroup, lane) */
    assert_int_equal(receipt.trap_workgroup, 1);
    assert_int_equal(receipt.trap_lane, 6);
    assert_int_equal(receipt.trap_command, 1);
    assert_int_equal(receipt.attribution_count, 0); /* partial work is not counted as work */
    assert_false(receipt.error.retryable);
    contract_expect_u32(y, 255, 7); /* the dispatch completed */
    contract_expect_u32(z, 0, 1);   /* no later command ran */
    ls_error kept = {0};
    assert_int_equal(ls_stream_query(f->stream, &kept), LS_STREAM_FAILED);
    assert_int_equal(kept.cause, LS_E_TRAP);
    /* failed for good */
    NOT_SUBMITTED(LS_E_STATE, ls_submit(f->stream, batch, NULL, &next, error));
    REFUSED(LS_E_FAILED, ls_stream_wait(f->stream, SECOND, error));
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_FAILED);
    ls_stream *fresh = NULL; /* another stream of the device works */
    OK(ls_stream_create(f->device, &fresh, error));
    ls_batch_clear(batch);
    OK(ls_batch_fill(batch, WHOLE(z), &(uint32_t){5}, 4, NULL, error));
    OK(ls_submit(fresh, batch, NULL, &next, error));
    OK(ls_fence_wait(next, 10 * SECOND, NULL, error));
    contract_expect_u32(z, 0, 5);
    assert_int_equal(ls_fence_query(fence, &receipt), LS_FAILED_QUIESCENT); /* stable */
    OK(ls_stream_destroy(&fresh, error));
    ls_fence_destroy(&fence);
    ls_fence_destroy(&next);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_buffer_destroy(&z);
    ls_program_destroy(&program);
}

static ls_batch *endless_batch(fixture *f, ls_program **program, ls_buffer **y)
{
    *program = contract_program(f, contract_endless_text);
    *y = contract_buffer_u32(f, NULL, 1);
    ls_range range = WHOLE(*y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(*program, "endless");
    d.global_size[0] = 1;
    d.buffers = &range;
    d.buffer_count = 1;
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    return batch;
}

static void an_endless_kernel_ends_at_its_time_limit(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    ls_program *program = NULL;
    ls_buffer *y = NULL;
    ls_batch *batch = endless_batch(f, &program, &y);
    ls_fence *fence = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.time_limit_ns = SECOND / 2; /* far from the waits below, on a busy machine too */
    OK(ls_submit(f->stream, batch, &params, &fence, error));
    ls_receipt receipt = {.struct_size = sizeof receipt};
    /* changes nothing */
    REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, SECOND / 100, &receipt, error));
    assert_int_equal(ls_fence_query(fence, NULL), LS_PENDING);
    REFUSED(LS_E_TIMEOUT, ls_stream_wait(f->stream, SECOND / 100, error));
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, 10 * SECOND, &receipt, error));
    ENDED_BY(LS_E_TIMEOUT, receipt);
    assert_int_equal(receipt.outcome, LS_FAILED_QUIESCENT);
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_FAILED);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void an_endless_kernel_can_be_cancelled(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    ls_program *program = NULL;
    ls_buffer *y = NULL;
    ls_batch *batch = endless_batch(f, &program, &y);
    ls_fence *fence = NULL, *queued = NULL;
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_batch_clear(batch);
    OK(ls_batch_fill(batch, WHOLE(y), &(uint32_t){1}, 4, NULL, error));
    OK(ls_submit(f->stream, batch, NULL, &queued, error)); /* waits behind it */
    OK(ls_fence_cancel(fence, 10 * SECOND, error));
    ls_receipt receipt = {.struct_size = sizeof receipt};
    assert_int_equal(ls_fence_query(fence, &receipt), LS_FAILED_QUIESCENT);
    ENDED_BY(LS_E_CANCELLED, receipt);
    /* its stream has failed */
    REFUSED(LS_E_FAILED, ls_fence_wait(queued, 10 * SECOND, &receipt, error));
    OK(ls_fence_cancel(fence, 0, error)); /* terminal already: nothing to do */
    ls_fence_destroy(&fence);
    ls_fence_destroy(&queued);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void cancelling_after_the_end_keeps_the_outcome(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 1);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){3}, 4, NULL, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    OK(ls_fence_cancel(fence, SECOND, error));
    assert_int_equal(ls_fence_query(fence, NULL), LS_SUCCEEDED);
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_SUBMITTED);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void a_fence_may_be_dropped_while_pending(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 100000);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    for (int i = 0; i < 20; i++) {
        ls_fence *fence = NULL;
        ls_batch_clear(batch);
        OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){(uint32_t)i}, 4, NULL, error));
        OK(ls_submit(f->stream, batch, NULL, &fence, error));
        ls_fence_destroy(&fence);
    }
    ls_batch_destroy(&batch);
    OK(ls_stream_wait(f->stream, 10 * SECOND, error));
    contract_expect_u32(b, 99999, 19);
    ls_buffer_destroy(&b);
}

const struct CMUnitTest contract_outcome_tests[] = {
    TEST(an_empty_batch_is_not_submitted),
    TEST(path_demands_are_kept),
    TEST(success_has_a_stable_receipt),
    TEST(a_trap_fails_the_batch_quiescent),
    TEST(an_endless_kernel_ends_at_its_time_limit),
    TEST(an_endless_kernel_can_be_cancelled),
    TEST(cancelling_after_the_end_keeps_the_outcome),
    TEST(a_fence_may_be_dropped_while_pending),
};
const size_t contract_outcome_count = COUNT(contract_outcome_tests);
