/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: recording is pure and checked, commands behave as if run in order, repeat, indirect. */
#include "contract.h"

static ls_batch *new_batch(fixture *f)
{
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    return batch;
}

static void recording_has_no_effect(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, (uint32_t[]){1, 2}, 2);
    ls_batch *batch = new_batch(f);
    uint32_t word = 5;
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){9}, 4, NULL, error));
    OK(ls_batch_upload(batch, (ls_range){b, 0, 4}, LS_MEM_U32, &word, NULL, error));
    assert_int_equal(ls_batch_count(batch), 2);
    contract_expect_u32(b, 0, 1);
    ls_batch_clear(batch);
    assert_int_equal(ls_batch_count(batch), 0);
    ls_batch_destroy(&batch);
    contract_expect_u32(b, 1, 2);
    ls_buffer_destroy(&b);
}

static void upload_copies_at_record_time(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 2);
    ls_batch *batch = new_batch(f);
    uint32_t words[2] = {11, 12};
    OK(ls_batch_upload(batch, WHOLE(b), LS_MEM_U32, words, NULL, error));
    words[0] = words[1] = 99;
    contract_run(f, batch);
    contract_expect_u32(b, 0, 11);
    contract_expect_u32(b, 1, 12);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void ranges_are_checked_without_overflow(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer(f, 64, LS_MEM_NONE);
    ls_batch *batch = new_batch(f);
    uint8_t bytes[64] = {0};
    static const struct {
        uint64_t offset, size;
    } bad[] = {{0, 0},
               {64, LS_WHOLE},
               {0, 65},
               {60, 5},
               {UINT64_MAX, 1},
               {UINT64_MAX - 3, 8},
               {1, UINT64_MAX - 1}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        ls_range range = {b, bad[i].offset, bad[i].size};
        REFUSED(LS_E_INVALID_ARGUMENT,
                ls_batch_upload(batch, range, LS_MEM_NONE, bytes, NULL, error));
        REFUSED(LS_E_INVALID_ARGUMENT,
                ls_batch_download(batch, range, LS_MEM_NONE, bytes, NULL, error));
        REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_fill(batch, range, bytes, 1, NULL, error));
        REFUSED(LS_E_INVALID_ARGUMENT,
                ls_batch_copy(batch, range, (ls_range){b, 0, 8}, NULL, error));
        REFUSED(LS_E_INVALID_ARGUMENT,
                ls_batch_copy(batch, (ls_range){b, 0, 8}, range, NULL, error));
    }
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_fill(batch, (ls_range){NULL, 0, 4}, bytes, 1, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_upload(batch, (ls_range){b, 0, 4}, LS_MEM_NONE, NULL, NULL, error));
    assert_int_equal(ls_batch_count(batch), 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void element_types_must_match(void **state)
{
    fixture *f = *state;
    ls_buffer *u = contract_buffer(f, 16, LS_MEM_U32), *s = contract_buffer(f, 16, LS_MEM_F32);
    ls_buffer *raw = contract_buffer(f, 16, LS_MEM_NONE);
    ls_batch *batch = new_batch(f);
    uint32_t words[4] = {0};
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_copy(batch, WHOLE(u), WHOLE(s), NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_upload(batch, WHOLE(u), LS_MEM_F32, words, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_download(batch, WHOLE(s), LS_MEM_U32, words, NULL, error));
    OK(ls_batch_copy(batch, WHOLE(u), WHOLE(raw), NULL, error));
    ls_program *program = contract_program(f, contract_add_text);
    REFUSED(LS_E_INVALID_ARGUMENT,
            contract_record_add(batch, contract_kernel(program, "add"), s, u, 4, 1, error));
    OK(contract_record_add(batch, contract_kernel(program, "add"), raw, u, 4, 1, error));
    ls_program_destroy(&program);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&u);
    ls_buffer_destroy(&s);
    ls_buffer_destroy(&raw);
}

static void usage_is_enforced(void **state)
{
    fixture *f = *state;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = 16;
    params.usage = LS_USAGE_READ;
    ls_buffer *source = NULL, *target = NULL;
    OK(ls_buffer_create(f->device, &params, &source, error));
    params.usage = LS_USAGE_WRITE;
    OK(ls_buffer_create(f->device, &params, &target, error));
    ls_batch *batch = new_batch(f);
    uint32_t words[4] = {0};
    void *memory = NULL;
    OK(ls_batch_copy(batch, WHOLE(target), WHOLE(source), NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_copy(batch, WHOLE(source), WHOLE(target), NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_fill(batch, WHOLE(source), words, 4, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_download(batch, WHOLE(target), LS_MEM_NONE, words, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_map(source, 0, 4, LS_MAP_READ, &memory, error));
    ls_program *program = contract_program(f, contract_add_text);
    REFUSED(LS_E_INVALID_ARGUMENT, contract_record_add(batch, contract_kernel(program, "add"),
                                                       source, target, 4, 1, error));
    ls_program_destroy(&program);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&source);
    ls_buffer_destroy(&target);
}

static void dispatch_arguments_are_checked(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    const ls_kernel *kernel = contract_kernel(program, "add"), *none = NULL;
    REFUSED(LS_E_NOT_FOUND, ls_program_kernel(program, "sub", &none, error));
    ls_buffer *x = contract_buffer_u32(f, NULL, 8), *y = contract_buffer_u32(f, NULL, 8);
    ls_batch *batch = new_batch(f);
    uint32_t scalars[2] = {8, 1};
    ls_range buffers[3] = {WHOLE(x), WHOLE(y), WHOLE(y)};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = kernel;
    d.global_size[0] = 8;
    d.buffers = buffers;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = 8;
    OK(ls_batch_dispatch(batch, &d, error));
    d.buffer_count = 1;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    d.buffer_count = 3;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    d.buffer_count = 2;
    d.scalar_bytes = 4;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    d.scalar_bytes = 8;
    d.scalars = NULL;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    d.scalars = scalars;
    d.kernel = NULL;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    d.kernel = kernel;
    buffers[0] = (ls_range){x, 2, 8}; /* alignment */
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    buffers[0] = (ls_range){y, 4, 8}; /* overlaps the written range */
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    buffers[0] = (ls_range){y, 0, 16};
    buffers[1] = (ls_range){y, 16, 16}; /* side by side is fine */
    OK(ls_batch_dispatch(batch, &d, error));
    assert_int_equal(ls_batch_count(batch), 2);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static const char least_text[] = "noinline u32 part(const u32 s[static 8], u32 i)\n"
                                 "{\n"
                                 "    return s[7] + s[i & 7u];\n"
                                 "}\n"
                                 "kernel workgroup(8) void least(u32 s[static 8], u32 *y)\n"
                                 "{\n"
                                 "    u32 i = global_id(0);\n"
                                 "    if (i < 8u)\n"
                                 "        s[i] += 1u;\n"
                                 "    grid_barrier();\n"
                                 "    y[i] = part(s, i);\n"
                                 "}\n";

/* A parameter `u32 s[static 8]`: the check is of the range, not of the buffer. */
static void least_sizes_are_checked_when_recorded(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, least_text);
    ls_buffer *s = contract_buffer_u32(f, NULL, 16), *y = contract_buffer_u32(f, NULL, 16);
    ls_buffer *sizes = contract_buffer_u32(f, (uint32_t[]){16, 1, 1}, 3);
    ls_batch *batch = new_batch(f);
    static const uint32_t maximum[3] = {16, 1, 1};
    ls_range buffers[2] = {{s, 16, 31}, WHOLE(y)};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "least");
    d.global_size[0] = 16;
    d.buffers = buffers;
    d.buffer_count = 2;
    ls_param_info info;
    ls_kernel_param(d.kernel, 0, &info);
    assert_int_equal(info.min_elements, 8);
    ls_kernel_param(d.kernel, 1, &info);
    assert_int_equal(info.min_elements, 0);
    ls_error e = {0};
    assert_int_equal(ls_batch_dispatch(batch, &d, &e), LS_E_INVALID_ARGUMENT);
    assert_non_null(strstr(e.message, "parameter 's'"));
    assert_non_null(strstr(e.message, "needs 8 elements, the range has 7"));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_dispatch_indirect(batch, &d, WHOLE(sizes), maximum, error));
    buffers[0] = (ls_range){s, 36, LS_WHOLE};
    REFUSED(LS_E_INVALID_ARGUMENT, ls_batch_dispatch(batch, &d, error));
    buffers[0] = (ls_range){s, 16, 32};
    OK(ls_batch_fill(batch, WHOLE(s), &(uint32_t){5}, 4, NULL, error));
    OK(ls_batch_dispatch(batch, &d, error));
    contract_run(f, batch);
    contract_expect_u32(s, 3, 5);
    contract_expect_u32(s, 4, 6);
    contract_expect_u32(s, 11, 6);
    contract_expect_u32(s, 12, 5);
    contract_expect_u32(y, 0, 12);
    contract_expect_u32(y, 15, 12);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&s);
    ls_buffer_destroy(&y);
    ls_buffer_destroy(&sizes);
    ls_program_destroy(&program);
}

static void commands_run_in_order(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    const ls_kernel *kernel = contract_kernel(program, "add");
    ls_buffer *x = contract_buffer_u32(f, NULL, 100), *y = contract_buffer_u32(f, NULL, 100);
    ls_batch *batch = new_batch(f);
    uint32_t first[3] = {1, 2, 3}, out[100], guard[2] = {0xdeadbeef, 0xdeadbeef};
    OK(ls_batch_fill(batch, WHOLE(x), &(uint32_t){10}, 4, NULL, error));
    OK(ls_batch_upload(batch, (ls_range){x, 0, 12}, LS_MEM_U32, first, NULL, error));
    OK(contract_record_add(batch, kernel, x, y, 100, 5, error));
    OK(contract_record_add(batch, kernel, y, x, 100, 100, error));
    /* overlapping: memmove */
    OK(ls_batch_copy(batch, (ls_range){x, 8, 16}, (ls_range){x, 4, 16}, NULL, error));
    OK(ls_batch_download(batch, WHOLE(x), LS_MEM_U32, out, NULL, error));
    OK(ls_batch_download(batch, (ls_range){y, 396, 4}, LS_MEM_U32, &guard[0], NULL, error));
    contract_run(f, batch);
    assert_int_equal(out[0], 106);
    assert_int_equal(out[1], 107);
    assert_int_equal(out[2], 107);
    assert_int_equal(out[3], 108);
    assert_int_equal(out[4], 115);
    assert_int_equal(out[99], 115);
    assert_int_equal(guard[0], 15);
    assert_int_equal(guard[1], 0xdeadbeef); /* nothing outside the range is written */
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void fills_take_patterns(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer(f, 32, LS_MEM_NONE);
    ls_batch *batch = new_batch(f);
    uint8_t out[32];
    OK(ls_batch_fill(batch, (ls_range){b, 0, 3}, "\x11", 1, NULL, error));
    OK(ls_batch_fill(batch, (ls_range){b, 4, 4}, "\x21\x22", 2, NULL, error));
    OK(ls_batch_fill(batch, (ls_range){b, 16, 16}, "\x41\x42\x43\x44\x45\x46\x47\x48", 8, NULL,
                     error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_fill(batch, (ls_range){b, 0, 3}, "\x21\x22", 2, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_fill(batch, (ls_range){b, 0, 3}, "\x21\x22", 3, NULL, error));
    OK(ls_batch_download(batch, WHOLE(b), LS_MEM_NONE, out, NULL, error));
    contract_run(f, batch);
    assert_memory_equal(out, "\x11\x11\x11\0\x21\x22\x21\x22\0\0\0\0\0\0\0\0", 16);
    assert_memory_equal(out + 16,
                        "\x41\x42\x43\x44\x45\x46\x47\x48\x41\x42\x43\x44\x45\x46\x47\x48", 16);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static const char count_text[] = "kernel workgroup(1) void count(u32 *log, u32 *at)\n"
                                 "{\n"
                                 "    log[at[0]] = iteration();\n"
                                 "    at[0] += 1;\n"
                                 "}\n";

static void record_count(fixture *f, ls_batch *batch, const ls_kernel *kernel, ls_buffer *log,
                         ls_buffer *at)
{
    (void)f;
    ls_range buffers[2] = {WHOLE(log), WHOLE(at)};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = kernel;
    d.global_size[0] = 1;
    d.buffers = buffers;
    d.buffer_count = 2;
    OK(ls_batch_dispatch(batch, &d, error));
}

static void repeat_takes_its_count_at_submission(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, count_text);
    const ls_kernel *kernel = contract_kernel(program, "count");
    for (uint32_t count = 0; count < 4; count++) {
        ls_buffer *log = contract_buffer_u32(f, NULL, 16), *at = contract_buffer_u32(f, NULL, 1);
        ls_batch *batch = new_batch(f);
        ls_fence *fence = NULL;
        record_count(f, batch, kernel, log, at);
        OK(ls_batch_repeat_begin(batch, 0, 1 + 4, error));
        record_count(f, batch, kernel, log, at);
        record_count(f, batch, kernel, log, at);
        REFUSED(LS_E_STATE, ls_batch_repeat_begin(batch, 1, 0, error)); /* not nested */
        /* still open */
        NOT_SUBMITTED(LS_E_STATE, ls_submit(f->stream, batch, NULL, &fence, error));
        OK(ls_batch_repeat_end(batch, error));
        REFUSED(LS_E_STATE, ls_batch_repeat_end(batch, error));
        record_count(f, batch, kernel, log, at);
        uint32_t parameters[2] = {77, count};
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        /* no block */
        NOT_SUBMITTED(LS_E_INVALID_ARGUMENT, ls_submit(f->stream, batch, &params, &fence, error));
        params.parameters = parameters;
        params.parameter_bytes = sizeof parameters;
        OK(ls_submit(f->stream, batch, &params, &fence, error));
        parameters[1] = 99; /* copied at submission */
        OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
        contract_expect_u32(at, 0, 2 + 2 * count);
        for (uint32_t i = 0; i < count; i++) {
            contract_expect_u32(log, 1 + 2 * i, i);
            contract_expect_u32(log, 2 + 2 * i, i);
        }
        contract_expect_u32(log, 1 + 2 * count, 0); /* after the block: iteration 0 again */
        ls_fence_destroy(&fence);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&log);
        ls_buffer_destroy(&at);
    }
    ls_program_destroy(&program);
}

static void zero_lanes_are_a_valid_no_op(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(f, NULL, 4), *y = contract_buffer_u32(f, NULL, 4);
    ls_batch *batch = new_batch(f);
    OK(contract_record_add(batch, contract_kernel(program, "add"), x, y, 0, 5, error));
    contract_run(f, batch);
    contract_expect_u32(y, 0, 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static const char size_text[] =
    "kernel void size(u32 *y)\n"
    "{\n"
    "    u32 i = global_id(0);\n"
    "    if (i < global_size(0))\n"
    "        y[i] = global_size(0) * 100 + global_size(1) * 10 + global_size(2);\n"
    "}\n";

static void indirect_sizes_come_from_memory(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, size_text);
    ls_buffer *y = contract_buffer_u32(f, NULL, 8),
              *sizes = contract_buffer_u32(f, (uint32_t[]){9, 3, 1, 1, 0, 1, 1}, 7);
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "size");
    d.buffers = &range;
    d.buffer_count = 1;
    static const uint32_t maximum[3] = {8, 1, 1}, low[3] = {2, 1, 1};
    ls_batch *batch = new_batch(f);
    ls_fence *fence = NULL;
    /* zero lanes: nothing */
    OK(ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 16, 12}, maximum, error));
    OK(ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 4, 12}, maximum, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 4, 8}, maximum, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 2, 12}, maximum, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 20, 12}, maximum, error));
    contract_run(f, batch);
    contract_expect_u32(y, 2, 311);
    contract_expect_u32(y, 3, 0);
    ls_batch_clear(batch);
    OK(ls_batch_fill(batch, WHOLE(y), &(uint32_t){0}, 4, NULL, error));
    /* more than the maximum */
    OK(ls_batch_dispatch_indirect(batch, &d, (ls_range){sizes, 4, 12}, low, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_receipt receipt = {.struct_size = sizeof receipt};
    REFUSED(LS_E_FAILED, ls_fence_wait(fence, 10 * SECOND, &receipt, error));
    assert_true(receipt.trapped);
    assert_int_equal(receipt.trap_code, LS_TRAP_INDIRECT);
    assert_int_equal(receipt.trap_command, 1);
    contract_expect_u32(y, 0, 0); /* it did not run at all */
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_buffer_destroy(&sizes);
    ls_program_destroy(&program);
}

static void ranges_are_cut_to_whole_elements(void **state)
{
    fixture *f = *state;
    ls_program *program = contract_program(f, "struct pair { u32 a; u32 b; };\n"
                                              "kernel void pairs(struct pair *p)\n"
                                              "{\n"
                                              "    p[global_id(0)].a = 1;\n"
                                              "}\n");
    ls_buffer *b = contract_buffer(f, 32, LS_MEM_NONE);
    ls_range range = {b, 0, 20}; /* two and a half elements */
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "pairs");
    d.global_size[0] = 4;
    d.buffers = &range;
    d.buffer_count = 1;
    ls_batch *batch = new_batch(f);
    uint32_t out[8];
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_batch_download(batch, WHOLE(b), LS_MEM_NONE, out, NULL, error));
    contract_run(f, batch);
    static const uint32_t expected[8] = {1, 0, 1, 0, 0, 0, 0, 0};
    assert_memory_equal(out, expected, sizeof out);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    ls_program_destroy(&program);
}

static void grid_barriers_order_the_whole_dispatch(void **state)
{
    fixture *f = *state;
    ls_program *program =
        contract_program(f, "kernel workgroup(4) void turn(u32 n, u32 rounds, u32 *a, u32 *b)\n"
                            "{\n"
                            "    u32 i = global_id(0);\n"
                            "    for (u32 r = 0; r < rounds; r++) {\n"
                            "        if (i < n)\n"
                            "            b[(i + 1) % n] = a[i] + 1;\n"
                            "        grid_barrier();\n"
                            "        if (i < n)\n"
                            "            a[i] = b[i];\n"
                            "        grid_barrier();\n"
                            "    }\n"
                            "}\n");
    enum { N = 13 };
    ls_buffer *a = contract_buffer_u32(f, NULL, N), *b = contract_buffer_u32(f, NULL, N);
    OK(ls_buffer_write(a, 0, LS_MEM_U32, (uint32_t[]){100}, 4, error));
    ls_range buffers[2] = {WHOLE(a), WHOLE(b)};
    uint32_t scalars[2] = {N, 5};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "turn");
    d.global_size[0] = N;
    d.buffers = buffers;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    ls_batch *batch = new_batch(f);
    OK(ls_batch_dispatch(batch, &d, error));
    contract_run(f, batch);
    for (uint32_t i = 0; i < N; i++)
        contract_expect_u32(a, i, i == 5 ? 105 : 5);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&a);
    ls_buffer_destroy(&b);
    ls_program_destroy(&program);
}

const struct CMUnitTest contract_batch_tests[] = {
    TEST(recording_has_no_effect),
    TEST(upload_copies_at_record_time),
    TEST(ranges_are_checked_without_overflow),
    TEST(element_types_must_match),
    TEST(usage_is_enforced),
    TEST(dispatch_arguments_are_checked),
    TEST(least_sizes_are_checked_when_recorded),
    TEST(commands_run_in_order),
    TEST(fills_take_patterns),
    TEST(repeat_takes_its_count_at_submission),
    TEST(zero_lanes_are_a_valid_no_op),
    TEST(indirect_sizes_come_from_memory),
    TEST(ranges_are_cut_to_whole_elements),
    TEST(grid_barriers_order_the_whole_dispatch),
};
const size_t contract_batch_count = COUNT(contract_batch_tests);
