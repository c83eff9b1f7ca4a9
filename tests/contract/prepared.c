/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: prepared batches: parameters, sizes and host bytes come with each submission. */
#include "contract.h"

typedef struct parameters { /* the parameter block of the batch below */
    uint32_t n, add, rounds;
} parameters;

static ls_prepared *prepare(fixture *f, const ls_kernel *kernel, ls_buffer *x, ls_buffer *y)
{
    ls_batch *batch = NULL;
    ls_prepared *prepared = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    ls_range buffers[2] = {WHOLE(x), WHOLE(y)}, back[2] = {WHOLE(y), WHOLE(x)};
    uint32_t scalars[2] = {0, 0};
    static const ls_scalar_link links[] = {{0, offsetof(parameters, n), 4},
                                           {4, offsetof(parameters, add), 4}};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = kernel;
    d.global_size_parameter[0] = 1 + offsetof(parameters, n);
    d.buffers = buffers;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    d.links = links;
    d.link_count = 2;
    OK(ls_batch_upload_slot(batch, WHOLE(x), LS_MEM_U32, 0, NULL, error));
    OK(ls_batch_fill(batch, WHOLE(y), &(uint32_t){0}, 4, NULL, error));
    OK(ls_batch_repeat_begin(batch, 0, 1 + offsetof(parameters, rounds), error));
    OK(ls_batch_dispatch(batch, &d, error));
    d.buffers = back;
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_batch_repeat_end(batch, error));
    OK(ls_batch_download_slot(batch, WHOLE(x), LS_MEM_U32, 1, NULL, error));
    static const ls_scalar_link bad[] = {{4, 0, 8}};
    d.links = bad;
    d.link_count = 1;
    /* outside the scalar block */
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    OK(ls_prepare(batch, &prepared, error));
    ls_batch_destroy(&batch);
    return prepared;
}

static void parameters_and_slots_come_with_the_submission(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 8), *y = contract_buffer_u32(f, NULL, 8);
    ls_prepared *prepared = prepare(f, contract_kernel(program, "add"), x, y);
    for (uint32_t round = 0; round < 10; round++) {
        uint32_t in[8], out[8] = {0};
        for (uint32_t i = 0; i < 8; i++)
            in[i] = i * round;
        parameters p = {.n = round % 8, .add = round + 1, .rounds = round % 3};
        ls_slot slots[2] = {{.upload = in}, {.download = out}};
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        params.parameters = &p;
        params.parameter_bytes = sizeof p;
        params.slots = slots;
        params.slot_count = 2;
        ls_fence *fence = NULL;
        OK(ls_submit_prepared(f->stream, prepared, &params, &fence, error));
        uint32_t expected_n = p.n, expected_add = p.add, rounds = p.rounds;
        p = (parameters){0}; /* the block was copied */
        OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(out[i], i * round + (i < expected_n ? 2 * expected_add * rounds : 0));
        ls_fence_destroy(&fence);
    }
    ls_prepared_destroy(&prepared);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void missing_parameters_are_not_submitted(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 8),
              *y = contract_buffer_u32(f, (uint32_t[]){9, 9, 9, 9, 9, 9, 9, 9}, 8);
    ls_prepared *prepared = prepare(f, contract_kernel(program, "add"), x, y);
    uint32_t words[8] = {0};
    parameters p = {8, 1, 1};
    ls_slot slots[2] = {{.upload = words}, {.download = words}};
    ls_fence *fence = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.parameters = &p;
    params.parameter_bytes = sizeof p;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT,
                  ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    params.slots = slots;
    params.slot_count = 1;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT,
                  ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    params.slot_count = 2;
    slots[1].download = NULL;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT,
                  ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    slots[1].download = words;
    params.parameter_bytes = 8;
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT,
                  ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    NOT_SUBMITTED(LS_E_INVALID_ARGUMENT,
                  ls_submit_prepared(f->stream, NULL, &params, &fence, error));
    contract_expect_u32(y, 0, 9); /* nothing ran */
    ls_prepared_destroy(&prepared);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void prepared_keeps_what_it_uses_alive(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 8), *y = contract_buffer_u32(f, NULL, 8);
    ls_prepared *prepared = prepare(f, contract_kernel(program, "add"), x, y);
    ls_program_destroy(&program);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    uint32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
    parameters p = {8, 3, 1};
    ls_slot slots[2] = {{.upload = in}, {.download = out}};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.parameters = &p;
    params.parameter_bytes = sizeof p;
    params.slots = slots;
    params.slot_count = 2;
    ls_fence *fence = NULL;
    OK(ls_submit_prepared(f->stream, prepared, &params, &fence, error));
    ls_prepared_destroy(&prepared); /* the submission goes on */
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    assert_int_equal(out[7], 14);
    ls_fence_destroy(&fence);
}

static void an_empty_or_open_batch_is_not_prepared(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 8);
    ls_batch *batch = NULL;
    ls_prepared *prepared = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_prepare(batch, &prepared, error));
    OK(ls_batch_repeat_begin(batch, 2, 0, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){0}, 4, NULL, error));
    REFUSED(LS_E_STATE, ls_prepare(batch, &prepared, error));
    OK(ls_batch_repeat_end(batch, error));
    OK(ls_prepare(batch, &prepared, error));
    ls_prepared_destroy(&prepared);
    assert_null(prepared);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

const struct CMUnitTest contract_prepared_tests[] = {
    TEST(parameters_and_slots_come_with_the_submission),
    TEST(missing_parameters_are_not_submitted),
    TEST(prepared_keeps_what_it_uses_alive),
    TEST(an_empty_or_open_batch_is_not_prepared),
};
const size_t contract_prepared_count = COUNT(contract_prepared_tests);
