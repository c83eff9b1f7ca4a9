/* SPDX-License-Identifier: Apache-2.0 */
/* Contract, on a device that fails on request: every row of the outcome table, with the cause known
 * in advance. */
#include "contract.h"

static fixture faulty(ls_fault_plan plan)
{
    plan.struct_size = sizeof plan;
    return contract_open("fault", &plan, 0);
}

/* Three fills of one word: 1, 2, 3. */
static ls_batch *three_fills(fixture *f, ls_buffer *b)
{
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    for (uint32_t i = 1; i <= 3; i++)
        OK(ls_batch_fill(batch, (ls_range){b, 4 * (i - 1), 4}, &i, 4, NULL, error));
    return batch;
}

static void the_nth_allocation_fails(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.fail_allocation = 2});
    ls_buffer *a = contract_buffer_u32(&f, NULL, 4), *b = NULL;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = 64;
    ls_memory_info before = {.struct_size = sizeof before}, after = before;
    ls_device_memory(f.device, &before);
    REFUSED(LS_E_OUT_OF_MEMORY, ls_buffer_create(f.device, &params, &b, error));
    assert_null(b);
    ls_device_memory(f.device, &after);
    assert_int_equal(after.used_bytes, before.used_bytes); /* the reservation was rolled back */
    OK(ls_buffer_create(f.device, &params, &b, error));
    ls_buffer_destroy(&a);
    ls_buffer_destroy(&b);
    contract_close(&f);
}

static void a_refused_submission_changes_nothing(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.reject_submit = 1});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL;
    ls_error e = {0};
    assert_int_equal(ls_submit(f.stream, batch, NULL, &fence, &e), LS_E_NOT_SUBMITTED);
    assert_null(fence);
    assert_true(e.retryable);
    assert_int_equal(ls_stream_query(f.stream, NULL), LS_STREAM_READY);
    contract_expect_u32(b, 0, 0);
    contract_run(&f, batch); /* the retry works */
    contract_expect_u32(b, 2, 3);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    contract_close(&f);
}

static void a_failing_command_leaves_the_device_quiescent(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.fail_command = 2});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL, *next = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.attribution = true;
    /* once something runs, the answer is a fence */
    OK(ls_submit(f.stream, batch, &params, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, 10 * SECOND, &r, error));
    assert_int_equal(r.outcome, LS_FAILED_QUIESCENT);
    assert_int_equal(r.attribution_count, 0);
    assert_false(r.trapped);
    assert_true(r.error.message[0]);
    contract_expect_u32(b, 0, 1); /* partly written */
    contract_expect_u32(b, 2, 0); /* nothing after the failure ran */
    ls_error kept = {0}, again = {0};
    assert_int_equal(ls_stream_query(f.stream, &kept), LS_STREAM_FAILED);
    assert_string_equal(kept.message, r.error.message);
    assert_int_equal(ls_submit(f.stream, batch, NULL, &next, &again), LS_E_NOT_SUBMITTED);
    assert_non_null(strstr(again.message, kept.message)); /* refused with the same error */
    assert_false(ls_device_is_lost(f.device));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    contract_close(&f); /* and all memory is back */
}

static void a_lost_device_is_indeterminate_and_quarantined(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.lose_at_command = 2});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3), *other = contract_buffer_u32(&f, NULL, 1000);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL, *next = NULL;
    OK(ls_submit(f.stream, batch, NULL, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    REFUSED(LS_E_INDETERMINATE, ls_fence_wait(fence, 10 * SECOND, &r, error));
    assert_int_equal(r.outcome, LS_INDETERMINATE);
    assert_true(ls_device_is_lost(f.device));
    assert_int_equal(ls_stream_query(f.stream, NULL), LS_STREAM_FAILED);
    NOT_SUBMITTED(LS_E_INDETERMINATE, ls_submit(f.stream, batch, NULL, &next, error));
    uint32_t word = 0;
    REFUSED(LS_E_INDETERMINATE, ls_buffer_read(b, 0, LS_MEM_U32, &word, 4, error));
    ls_memory_info m = {.struct_size = sizeof m};
    ls_device_memory(f.device, &m);
    assert_true(m.quarantined_bytes >= 12);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    ls_device_memory(f.device, &m);
    /* never given back, never reused */
    assert_true(m.used_bytes >= 12 && m.quarantined_bytes >= 12);
    REFUSED(LS_E_INDETERMINATE, ls_stream_wait(f.stream, SECOND, error));
    assert_int_equal(ls_fence_query(fence, &r), LS_INDETERMINATE);
    ls_fence_destroy(&fence);
    ls_buffer_destroy(&other);
    OK(ls_stream_destroy(&f.stream, error));
    OK(ls_device_destroy(&f.device, error)); /* a lost device may always be closed */
}

static void a_hanging_command_ends_indeterminate_when_cancelled(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.hang_at_command = 1});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL;
    OK(ls_submit(f.stream, batch, NULL, &fence, error));
    REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, SECOND / 50, NULL, error));
    OK(ls_fence_cancel(fence, SECOND / 20, error)); /* it does not stop in time */
    ls_receipt r = {.struct_size = sizeof r};
    REFUSED(LS_E_INDETERMINATE, ls_fence_wait(fence, SECOND, &r, error));
    assert_int_equal(r.outcome, LS_INDETERMINATE);
    assert_true(ls_device_is_lost(f.device));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    OK(ls_stream_destroy(&f.stream, error));
    OK(ls_device_destroy(&f.device, error));
}

static void a_hanging_command_ends_indeterminate_at_its_time_limit(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.hang_at_command = 2});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.time_limit_ns = SECOND / 20;
    OK(ls_submit(f.stream, batch, &params, &fence, error));
    REFUSED(LS_E_INDETERMINATE, ls_fence_wait(fence, 20 * SECOND, NULL, error));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    OK(ls_stream_destroy(&f.stream, error));
    OK(ls_device_destroy(&f.device, error));
}

static void a_spinning_command_can_be_cancelled(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.spin_at_command = 2});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL;
    OK(ls_submit(f.stream, batch, NULL, &fence, error));
    /* Until it spins, also on a busy machine: the first command must have run. */
    REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, SECOND / 4, NULL, error));
    OK(ls_fence_cancel(fence, 10 * SECOND, error));
    ls_receipt r = {.struct_size = sizeof r};
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, 0, &r, error));
    assert_int_equal(r.error.cause, LS_E_CANCELLED);
    assert_false(ls_device_is_lost(f.device));
    contract_expect_u32(b, 0, 1);
    contract_expect_u32(b, 2, 0);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    contract_close(&f);
}

static void late_completion_changes_nothing_but_time(void **state)
{
    (void)state;
    fixture f = faulty((ls_fault_plan){.delay_ns = SECOND / 20});
    ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
    ls_batch *batch = three_fills(&f, b);
    ls_fence *fence = NULL;
    OK(ls_submit(f.stream, batch, NULL, &fence, error));
    REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, SECOND / 100, NULL, error));
    REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, 0, NULL, error));
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    contract_expect_u32(b, 2, 3);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    contract_close(&f);
}

/* The first failure at every position of a batch: what ran before stands, nothing after runs, the
 * outcome is the same. */
static void failure_at_every_command(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 3; n++) {
        fixture f = faulty((ls_fault_plan){.fail_command = n});
        ls_buffer *b = contract_buffer_u32(&f, NULL, 3);
        ls_batch *batch = three_fills(&f, b);
        ls_fence *fence = NULL;
        OK(ls_submit(f.stream, batch, NULL, &fence, error));
        REFUSED(LS_E_FAILED, ls_fence_wait(fence, 10 * SECOND, NULL, error));
        for (uint32_t i = 1; i <= 3; i++)
            contract_expect_u32(b, i - 1, i < n ? i : 0);
        ls_fence_destroy(&fence);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&b);
        contract_close(&f);
    }
}

const struct CMUnitTest contract_fault_tests[] = {
    cmocka_unit_test(the_nth_allocation_fails),
    cmocka_unit_test(a_refused_submission_changes_nothing),
    cmocka_unit_test(a_failing_command_leaves_the_device_quiescent),
    cmocka_unit_test(a_lost_device_is_indeterminate_and_quarantined),
    cmocka_unit_test(a_hanging_command_ends_indeterminate_when_cancelled),
    cmocka_unit_test(a_hanging_command_ends_indeterminate_at_its_time_limit),
    cmocka_unit_test(a_spinning_command_can_be_cancelled),
    cmocka_unit_test(late_completion_changes_nothing_but_time),
    cmocka_unit_test(failure_at_every_command),
};
const size_t contract_fault_count = COUNT(contract_fault_tests);
