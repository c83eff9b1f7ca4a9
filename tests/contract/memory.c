/* SPDX-License-Identifier: Apache-2.0 */
/* Contract: identity, buffers, budget, map, import, host copies. */
#include "contract.h"

static void new_memory_is_zero_also_when_reused(void **state)
{
    fixture *f = *state;
    for (int round = 0; round < 3; round++) {
        ls_buffer *b = contract_buffer(f, 4099, LS_MEM_NONE);
        uint8_t bytes[4099];
        memset(bytes, 0xa5, sizeof bytes);
        OK(ls_buffer_read(b, 0, LS_MEM_NONE, bytes, sizeof bytes, error));
        for (size_t i = 0; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0x5a, sizeof bytes);
        OK(ls_buffer_write(b, 0, LS_MEM_NONE, bytes, sizeof bytes, error));
        ls_buffer_destroy(&b);
        assert_null(b);
    }
    ls_buffer_destroy(&(ls_buffer *){NULL});
}

static void description_is_a_copy_of_the_request(void **state)
{
    fixture *f = *state;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = 64;
    params.element = LS_MEM_F32;
    ls_buffer *b = NULL;
    OK(ls_buffer_create(f->device, &params, &b, error));
    params.size_bytes = 1;
    params.element = LS_MEM_U8;
    assert_int_equal(ls_buffer_size(b), 64);
    assert_int_equal(ls_buffer_element(b), LS_MEM_F32);
    ls_buffer_destroy(&b);
}

static void bad_buffer_requests_are_refused(void **state)
{
    fixture *f = *state;
    ls_buffer *b = (ls_buffer *)1;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(f->device, &params, &b, error)); /* zero size */
    assert_null(b);
    params.size_bytes = 10;
    params.element = LS_MEM_U32; /* not a multiple */
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(f->device, &params, &b, error));
    params.size_bytes = 8;
    params.element = LS_MEM_COUNT;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(f->device, &params, &b, error));
    params.element = LS_MEM_NONE;
    params.usage = 1u << 20;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(f->device, &params, &b, error));
    params.usage = 0;
    params.struct_size = 3;
    REFUSED(LS_E_VERSION, ls_buffer_create(f->device, &params, &b, error));
    params.struct_size = sizeof params;
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(NULL, &params, &b, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_create(f->device, NULL, &b, error));
}

static void budget_is_kept_and_said(void **state)
{
    (void)state;
    fixture f = contract_open(contract_device, NULL, 1 << 20);
    ls_memory_info m = {.struct_size = sizeof m};
    ls_device_memory(f.device, &m);
    assert_int_equal(m.limit_bytes, 1 << 20);
    ls_buffer *a = contract_buffer(&f, 700000, LS_MEM_NONE), *b = NULL;
    ls_device_memory(f.device, &m);
    assert_true(m.used_bytes >= 700000 && m.used_bytes <= m.limit_bytes);
    uint64_t used = m.used_bytes;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = 400000;
    ls_error e = {0};
    assert_int_equal(ls_buffer_create(f.device, &params, &b, &e), LS_E_OUT_OF_MEMORY);
    assert_non_null(strstr(e.message, "400000")); /* what was asked ... */
    char left[32];
    snprintf(left, sizeof left, "%llu", (unsigned long long)(m.limit_bytes - used));
    assert_non_null(strstr(e.message, left)); /* ... and what is left */
    assert_true(e.retryable);
    params.size_bytes = UINT64_MAX - 8;
    REFUSED(LS_E_OUT_OF_MEMORY, ls_buffer_create(f.device, &params, &b, error));
    ls_device_memory(f.device, &m);
    assert_int_equal(m.used_bytes, used);
    ls_buffer_destroy(&a);
    ls_device_memory(f.device, &m);
    assert_int_equal(m.used_bytes, 0);
    assert_true(m.peak_bytes >= used); /* peak never falls */
    params.size_bytes = 400000;
    OK(ls_buffer_create(f.device, &params, &b, error));
    ls_buffer_destroy(&b);
    contract_close(&f);
}

static void memory_is_held_until_the_last_holder_lets_go(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 1000);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){1}, 4, NULL, error));
    ls_buffer_destroy(&b);
    ls_memory_info m = {.struct_size = sizeof m};
    ls_device_memory(f->device, &m);
    assert_true(m.used_bytes >= 4000); /* the batch still holds it */
    contract_run(f, batch);
    ls_batch_destroy(&batch);
    OK(ls_stream_wait(f->stream, 10 * SECOND, error));
    ls_device_memory(f->device, &m);
    assert_int_equal(m.used_bytes, 0);
    assert_true(m.peak_bytes >= 4000);
}

static void uploads_are_charged_until_the_batch_lets_go(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer(f, 100000, LS_MEM_NONE);
    uint8_t *bytes = calloc(100000, 1);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    ls_memory_info before = {.struct_size = sizeof before}, after = before;
    ls_device_memory(f->device, &before);
    OK(ls_batch_upload(batch, WHOLE(b), LS_MEM_NONE, bytes, NULL, error));
    ls_device_memory(f->device, &after);
    assert_true(after.used_bytes >= before.used_bytes + 100000);
    assert_true(after.staging_bytes >= 100000);
    ls_batch_clear(batch);
    ls_device_memory(f->device, &after);
    assert_int_equal(after.used_bytes, before.used_bytes);
    ls_batch_destroy(&batch);
    free(bytes);
    ls_buffer_destroy(&b);
}

static void map_gives_the_bytes_and_blocks_use(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, (uint32_t[]){1, 2, 3, 4}, 4);
    void *memory = NULL, *again = NULL;
    OK(ls_buffer_map(b, 4, 8, LS_MAP_READ | LS_MAP_WRITE, &memory, error));
    assert_int_equal(((uint32_t *)memory)[0], 2);
    ((uint32_t *)memory)[1] = 30;
    REFUSED(LS_E_BUSY, ls_buffer_map(b, 0, 4, LS_MAP_READ, &again, error));
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(b), &(uint32_t){9}, 4, NULL, error));
    NOT_SUBMITTED(LS_E_BUSY, ls_submit(f->stream, batch, NULL, &fence, error));
    assert_null(fence);
    OK(ls_buffer_unmap(b, error));
    REFUSED(LS_E_STATE, ls_buffer_unmap(b, error));
    contract_expect_u32(b, 0, 1);
    contract_expect_u32(b, 2, 30);
    contract_run(f, batch);
    contract_expect_u32(b, 3, 9);
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_map(b, 0, 0, LS_MAP_READ, &memory, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_map(b, 16, 1, LS_MAP_READ, &memory, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_map(b, UINT64_MAX, 2, LS_MAP_READ, &memory, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_map(b, 0, 4, 0, &memory, error));
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
}

static void pending_use_makes_host_access_busy(void **state)
{
    fixture *f = *state;
    if (!ls_device_caps(f->device)->cancel)
        skip();
    ls_program *program = contract_program(f, contract_endless_text);
    ls_buffer *y = contract_buffer_u32(f, NULL, 4);
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "endless");
    d.global_size[0] = 1;
    d.buffers = &range;
    d.buffer_count = 1;
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    uint32_t word = 0;
    void *memory = NULL;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    assert_int_equal(ls_fence_query(fence, &receipt), LS_PENDING);
    REFUSED(LS_E_BUSY, ls_buffer_read(y, 0, LS_MEM_U32, &word, 4, error));
    REFUSED(LS_E_BUSY, ls_buffer_write(y, 0, LS_MEM_U32, &word, 4, error));
    REFUSED(LS_E_BUSY, ls_buffer_map(y, 0, 4, LS_MAP_READ, &memory, error));
    REFUSED(LS_E_BUSY, ls_stream_destroy(&f->stream, error));
    REFUSED(LS_E_BUSY, ls_device_destroy(&f->device, error));
    OK(ls_fence_cancel(fence, 10 * SECOND, error));
    /* quiescent: memory may be looked at, as garbage */
    OK(ls_buffer_read(y, 0, LS_MEM_U32, &word, 4, error));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void import_wraps_without_copy(void **state)
{
    fixture *f = *state;
    static uint32_t memory[4] = {5, 6, 7, 8};
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = sizeof memory;
    params.element = LS_MEM_U32;
    ls_buffer *b = NULL, *read_only = NULL;
    if (!ls_device_caps(f->device)->import_host) {
        REFUSED(LS_E_UNSUPPORTED, ls_buffer_import(f->device, memory, false, &params, &b, error));
        return;
    }
    ls_memory_info m = {.struct_size = sizeof m};
    OK(ls_buffer_import(f->device, memory, false, &params, &b, error));
    OK(ls_buffer_import(f->device, memory, true, &params, &read_only, error));
    ls_device_memory(f->device, &m);
    assert_int_equal(m.used_bytes, 0); /* not charged */
    contract_expect_u32(b, 2, 7);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_fill(batch, (ls_range){b, 4, 4}, &(uint32_t){77}, 4, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT,
            ls_batch_fill(batch, WHOLE(read_only), &(uint32_t){1}, 4, NULL, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_write(read_only, 0, LS_MEM_U32, memory, 4, error));
    contract_run(f, batch);
    assert_int_equal(memory[1], 77);
    assert_int_equal(memory[0], 5);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&b);
    ls_buffer_destroy(&read_only);
}

/* y[i] = 7 i + 1 for all i below the global size that there are. */
static void store_narrow(fixture *f, const ls_kernel *kernel, ls_range y)
{
    ls_batch *batch = NULL;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    dispatch.global_size[0] = 40;
    dispatch.buffers = &y;
    dispatch.buffer_count = 1;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    contract_run(f, batch);
    ls_batch_destroy(&batch);
}

static void expect_narrow(const uint8_t *bytes, uint32_t size, uint32_t first, uint32_t count,
                          uint32_t element_bytes)
{
    for (uint32_t i = 0; i < size; i++) {
        uint32_t place = i - first, want = 0xa5; /* large below first */
        if (place < count / element_bytes * element_bytes)
            want = (place / element_bytes * 7 + 1) * 0x101 >> 8 * (place % element_bytes) & 0xff;
        if (bytes[i] != want)
            fail_msg("range of %u bytes at %u, elements of %u: byte %u is %u, not %u", count, first,
                     element_bytes, i, bytes[i], want);
    }
}

/* Whatever stores them: devices may write words, but not beyond the range. */
static void narrow_stores_keep_to_their_range(void **state)
{
    fixture *f = *state;
    static const char *const lowerings[] = {NULL, "memory", "bounds,memory"};
    static const char text[] = "kernel void bytes(u8 *y)\n"
                               "{\n"
                               "    y[global_id(0)] = (u8)(global_id(0) * 7 + 1);\n"
                               "}\n"
                               "kernel void halves(u16 *y)\n"
                               "{\n"
                               "    y[global_id(0)] = (u16)((global_id(0) * 7 + 1) * 0x101);\n"
                               "}\n";
    enum { SIZE = 31 };
    uint8_t before[SIZE], after[SIZE];
    memset(before, 0xa5, sizeof before);
    ls_buffer *buffer = contract_buffer(f, SIZE, LS_MEM_NONE);
    for (size_t l = 0; l < COUNT(lowerings); l++) {
        ls_program *program = contract_program_lowered(f, text, lowerings[l]);
        for (uint32_t bytes = 1; bytes <= 2; bytes++) {
            const ls_kernel *kernel = contract_kernel(program, bytes == 1 ? "bytes" : "halves");
            for (uint32_t i = 0; i < 40; i++) {
                uint32_t first = i % 5 * bytes, count = i < 35 ? bytes + i / 5 : SIZE - first;
                OK(ls_buffer_write(buffer, 0, LS_MEM_NONE, before, SIZE, error));
                store_narrow(f, kernel, (ls_range){buffer, first, count});
                OK(ls_buffer_read(buffer, 0, LS_MEM_NONE, after, SIZE, error));
                expect_narrow(after, SIZE, first, count, bytes);
            }
        }
        ls_program_destroy(&program);
    }
    ls_buffer_destroy(&buffer);
}

/* Elements so far away that their bytes are counted beyond 64 bits do not come round again. */
static void elements_too_far_to_count_are_out_of_range(void **state)
{
    fixture *f = *state;
    static const char text[] = "kernel void far(const u32 *x, u32 *y, u64 *z)\n"
                               "{\n"
                               "    u64 i = global_id(0);\n"
                               "    y[i] = x[i << 58];\n"
                               "    z[(i << 58) + 3] = i + 5;\n"
                               "}\n";
    enum { LANES = 64 };
    uint32_t values[LANES];
    uint64_t z[4] = {0};
    for (uint32_t i = 0; i < LANES; i++)
        values[i] = i + 7;
    ls_program *program = contract_program(f, text);
    ls_buffer *buffers[3] = {contract_buffer_u32(f, values, LANES),
                             contract_buffer_u32(f, NULL, LANES),
                             contract_buffer(f, sizeof z, LS_MEM_NONE)};
    ls_range ranges[3] = {WHOLE(buffers[0]), WHOLE(buffers[1]), WHOLE(buffers[2])};
    ls_batch *batch = NULL;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = contract_kernel(program, "far");
    dispatch.global_size[0] = LANES;
    dispatch.buffers = ranges;
    dispatch.buffer_count = 3;
    OK(ls_batch_create(f->device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    contract_run(f, batch);
    for (uint32_t i = 0; i < LANES; i++)
        contract_expect_u32(buffers[1], i, i == 0 ? 7 : 0);
    OK(ls_buffer_read(buffers[2], 0, LS_MEM_NONE, z, sizeof z, error));
    assert_true(z[0] == 0 && z[1] == 0 && z[2] == 0 && z[3] == 5);
    ls_batch_destroy(&batch);
    for (int i = 0; i < 3; i++)
        ls_buffer_destroy(&buffers[i]);
    ls_program_destroy(&program);
}

/* Imported memory ends where the caller's ends. */
static void narrow_stores_keep_to_imported_memory(void **state)
{
    fixture *f = *state;
    enum { SIZE = 67 };
    if (!ls_device_caps(f->device)->import_host)
        skip();
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, 64, SIZE), 0);
    memset(memory, 0xa5, SIZE);
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = SIZE;
    ls_buffer *buffer = NULL;
    OK(ls_buffer_import(f->device, memory, false, &params, &buffer, error));
    ls_program *program = contract_program_lowered(
        f, "kernel void bytes(u8 *y) { y[global_id(0)] = (u8)(global_id(0) * 7 + 1); }\n",
        "memory");
    store_narrow(f, contract_kernel(program, "bytes"), (ls_range){buffer, 41, SIZE - 41});
    expect_narrow(memory, SIZE, 41, SIZE - 41, 1);
    ls_program_destroy(&program);
    ls_buffer_destroy(&buffer);
    free(memory);
}

static void host_copies_check_range_and_type(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer(f, 16, LS_MEM_U32), *raw = contract_buffer(f, 16, LS_MEM_NONE);
    uint32_t words[4] = {0};
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_write(b, 0, LS_MEM_F32, words, 16, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_read(b, 0, LS_MEM_I32, words, 16, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_write(b, 4, LS_MEM_U32, words, 16, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_write(b, 0, LS_MEM_U32, words, 0, error));
    /* alignment */
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_write(b, 2, LS_MEM_U32, words, 4, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_read(b, UINT64_MAX - 3, LS_MEM_U32, words, 8, error));
    REFUSED(LS_E_INVALID_ARGUMENT, ls_buffer_read(b, 0, LS_MEM_U32, NULL, 8, error));
    OK(ls_buffer_write(raw, 3, LS_MEM_F32, words, 12, error)); /* untyped goes with every type */
    ls_buffer_destroy(&b);
    ls_buffer_destroy(&raw);
}

static void foreign_handles_are_refused(void **state)
{
    fixture *f = *state;
    fixture other = contract_open(contract_device, NULL, 0);
    assert_true(ls_device_number(other.device) != ls_device_number(f->device));
    ls_buffer *mine = contract_buffer_u32(f, NULL, 4),
              *theirs = contract_buffer_u32(&other, NULL, 4);
    ls_program *program = contract_program(&other, contract_add_text);
    ls_batch *batch = NULL, *their_batch = NULL;
    ls_fence *fence = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    REFUSED(LS_E_FOREIGN, ls_batch_copy(batch, WHOLE(mine), WHOLE(theirs), NULL, error));
    REFUSED(LS_E_FOREIGN, ls_batch_copy(batch, WHOLE(theirs), WHOLE(mine), NULL, error));
    REFUSED(LS_E_FOREIGN, ls_batch_fill(batch, WHOLE(theirs), &(uint32_t){1}, 4, NULL, error));
    REFUSED(LS_E_FOREIGN,
            contract_record_add(batch, contract_kernel(program, "add"), mine, mine, 4, 1, error));
    assert_int_equal(ls_batch_count(batch), 0);
    OK(ls_batch_create(other.device, &their_batch, error));
    OK(ls_batch_fill(their_batch, WHOLE(theirs), &(uint32_t){1}, 4, NULL, error));
    NOT_SUBMITTED(LS_E_FOREIGN, ls_submit(f->stream, their_batch, NULL, &fence, error));
    contract_expect_u32(theirs, 0, 0);
    assert_int_equal(ls_stream_query(f->stream, NULL), LS_STREAM_READY);
    OK(ls_submit(other.stream, their_batch, NULL, &fence, error)); /* waiting for a foreign fence */
    OK(ls_batch_fill(batch, WHOLE(mine), &(uint32_t){1}, 4, NULL, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.wait = &fence;
    params.wait_count = 1;
    ls_fence *none = NULL;
    NOT_SUBMITTED(LS_E_FOREIGN, ls_submit(f->stream, batch, &params, &none, error));
    OK(ls_fence_wait(fence, 10 * SECOND, NULL, error));
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_batch_destroy(&their_batch);
    ls_buffer_destroy(&mine);
    ls_buffer_destroy(&theirs);
    ls_program_destroy(&program);
    contract_close(&other);
}

static void a_device_in_use_is_not_destroyed(void **state)
{
    fixture *f = *state;
    ls_buffer *b = contract_buffer_u32(f, NULL, 4);
    REFUSED(LS_E_BUSY, ls_device_destroy(&f->device, error));
    assert_non_null(f->device);
    contract_expect_u32(b, 0, 0); /* and nothing happened */
    ls_buffer_destroy(&b);
}

static void capabilities_reach_the_portable_minimum(void **state)
{
    fixture *f = *state;
    const ls_caps *caps = ls_device_caps(f->device);
    assert_true(caps->max_workgroup_lanes >= 256);
    assert_true(caps->max_shared_bytes >= 16384);
    assert_true(caps->max_buffers >= 16);
    assert_true(caps->max_scalar_bytes >= 1024);
    assert_true(caps->max_local_bytes >= 4096);
    assert_true(caps->max_range_bytes >= 4ull << 30);
    assert_true(caps->timing == (caps->timing_unavailable == NULL));
    assert_string_equal(ls_device_name(f->device), contract_device);
    assert_false(ls_device_is_lost(f->device));
}

const struct CMUnitTest contract_memory_tests[] = {
    TEST(new_memory_is_zero_also_when_reused),
    TEST(description_is_a_copy_of_the_request),
    TEST(bad_buffer_requests_are_refused),
    TEST(budget_is_kept_and_said),
    TEST(memory_is_held_until_the_last_holder_lets_go),
    TEST(uploads_are_charged_until_the_batch_lets_go),
    TEST(map_gives_the_bytes_and_blocks_use),
    TEST(pending_use_makes_host_access_busy),
    TEST(import_wraps_without_copy),
    TEST(narrow_stores_keep_to_their_range),
    TEST(narrow_stores_keep_to_imported_memory),
    TEST(elements_too_far_to_count_are_out_of_range),
    TEST(host_copies_check_range_and_type),
    TEST(foreign_handles_are_refused),
    TEST(a_device_in_use_is_not_destroyed),
    TEST(capabilities_reach_the_portable_minimum),
};
const size_t contract_memory_count = COUNT(contract_memory_tests);
