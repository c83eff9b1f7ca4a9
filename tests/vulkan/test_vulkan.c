/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device contract cannot show: a lost device, random batches of all transfers at any place
 * and size, prepared batches that are replayed, the driver's cache, memory that is reused. Each in
 * all modes of modes.h where it matters. Arguments: how many random batches, and the seed of the
 * first.
 */
#include <dirent.h>
#include <unistd.h>

#include "../contract/random.h"
#include "base/rng.h"
#include "core/core.h"
#include "device/vulkan/device.h"
#include "modes.h"

static const char *const modes[] = {"plain", "staged",     "incoherent",
                                    "cut",   "staged-cut", "untimed"};
static uint64_t first_seed = 1, batches = 20;
static const char device_name[] = "vulkan:0";

static fixture open_in_mode(const char *mode)
{
    assert_true(vulkan_mode(mode));
    return contract_open(device_name, NULL, 0);
}

/* --- lost devices ----------------------------------------------------------------------------- */
static ls_outcome outcome_of(fixture *f, ls_batch *batch)
{
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_fence_wait(fence, 30 * SECOND, &r, NULL);
    ls_fence_destroy(&fence);
    return r.outcome;
}

/* Loses the device at each submission of a batch in turn, until the batch runs through. */
static void a_lost_device_is_indeterminate(void **state)
{
    (void)state;
    uint64_t submit = 0;
    ls_outcome outcome;
    do {
        fixture f = open_in_mode("cut");
        ls_buffer *b = contract_buffer(&f, 100000, LS_MEM_NONE);
        ls_batch *batch = NULL;
        OK(ls_batch_create(f.device, &batch, error));
        for (uint64_t i = 0; i < 6; i++)
            OK(ls_batch_fill(batch, WHOLE(b), &(uint64_t){0x0102030405060708 + i}, 8, NULL, error));
        atomic_store(&ls__vulkan_test_hooks.lose_at_submit, ++submit);
        outcome = outcome_of(&f, batch);
        bool left = atomic_exchange(&ls__vulkan_test_hooks.lose_at_submit, 0) != 0;
        ls_memory_info m = {.struct_size = sizeof m};
        ls_device_memory(f.device, &m);
        assert_int_equal(outcome, left ? LS_SUCCEEDED : LS_INDETERMINATE);
        assert_int_equal(ls_device_is_lost(f.device), !left);
        assert_true(left || m.quarantined_bytes >= 100000);
        ls_fence *none = NULL;
        if (!left)
            NOT_SUBMITTED(LS_E_INDETERMINATE, ls_submit(f.stream, batch, NULL, &none, error));
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&b);
        OK(ls_stream_destroy(&f.stream, error));
        OK(ls_device_destroy(&f.device, error));
    } while (outcome != LS_SUCCEEDED);
    assert_true(submit > 3); /* it was several submissions */
}

/* A submission that never ends: run by the thread that waits for it until its time limit; run by
 * the device's thread until the caller cancels it. */
static void what_never_ends_is_indeterminate(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        fixture f = open_in_mode("plain");
        ls_buffer *b = contract_buffer(&f, 1000, LS_MEM_NONE);
        ls_batch *batch = NULL;
        ls_fence *fence = NULL;
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        ls_receipt r = {.struct_size = sizeof r};
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_fill(batch, WHOLE(b), "x", 1, NULL, error));
        contract_run(&f, batch);
        ls__vulkan_test_hooks.stuck_ns = SECOND / 100;
        params.time_limit_ns = way == 0 ? SECOND / 50 : 0;
        OK(ls_submit(f.stream, batch, &params, &fence, error));
        if (way == 1) {
            REFUSED(LS_E_TIMEOUT, ls_fence_wait(fence, SECOND / 4, NULL, error)); /* till it runs */
            OK(ls_fence_cancel(fence, SECOND / 20, error));
        }
        REFUSED(LS_E_INDETERMINATE,
                ls_fence_wait(fence, way == 0 ? LS_FOREVER : 30 * SECOND, &r, error));
        assert_int_equal(r.outcome, LS_INDETERMINATE);
        assert_true(ls_device_is_lost(f.device));
        ls_fence_destroy(&fence);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&b);
        OK(ls_stream_destroy(&f.stream, error));
        OK(ls_device_destroy(&f.device, error));
    }
    ls__vulkan_test_hooks.stuck_ns = 0;
}

/* --- large ranges ----------------------------------------------------------------------------- */
/* Beyond what a descriptor of the software device may reach, 128 MiB; also beyond its end. */
static void ranges_may_be_large(void **state)
{
    (void)state;
    enum { WORDS = 40 << 20, LANES = 64 };
    fixture f = open_in_mode("plain");
    ls_program *program = contract_program(&f, "kernel void ends(u32 words, u32 *y)\n"
                                               "{\n"
                                               "    u32 i = global_id(0);\n"
                                               "    y[i] = i + 1;\n"
                                               "    y[words - 32 + i] = y[i] + 1000;\n"
                                               "}\n");
    ls_buffer *y = contract_buffer(&f, 4 * (uint64_t)WORDS, LS_MEM_U32);
    ls_batch *batch = NULL;
    ls_range range = WHOLE(y);
    uint32_t words = WORDS;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = contract_kernel(program, "ends");
    dispatch.global_size[0] = LANES;
    dispatch.buffers = &range;
    dispatch.buffer_count = 1;
    dispatch.scalars = &words;
    dispatch.scalar_bytes = sizeof words;
    OK(ls_batch_create(f.device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    contract_run(&f, batch);
    contract_expect_u32(y, 0, 1);
    contract_expect_u32(y, LANES - 1, LANES);
    contract_expect_u32(y, WORDS / 2, 0);
    contract_expect_u32(y, WORDS - 33, 0);
    contract_expect_u32(y, WORDS - 32, 1001);
    contract_expect_u32(y, WORDS - 1, 1032);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
}

/* --- random batches --------------------------------------------------------------------------- */
static void random_batches_match_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++) {
        uint64_t replays = atomic_load(&ls__vulkan_test_hooks.replays);
        fixture f = open_in_mode(modes[i]);
        assert_true(contract_random_batches(f, modes[i], first_seed, batches) <= batches / 4);
        assert_true(atomic_load(&ls__vulkan_test_hooks.replays) > replays + batches);
    }
}

/* --- launches --------------------------------------------------------------------------------- */
static void cut_launches_are_whole(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{5, 4, 3}, {2, 5, 3}, {3, 2, 7}, {1, 1, 8}, {1, 7, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        uint32_t count = shapes[i][0] * shapes[i][1] * shapes[i][2];
        const uint32_t firsts[] = {0, count / 3, count - 1, count}; /* at last: no trap */
        for (size_t k = 0; k < COUNT(firsts); k++) {
            fixture f = open_in_mode("cut");
            contract_cut_launch(&f, shapes[i], firsts[k]);
            contract_close(&f);
        }
    }
}

/* --- reports ---------------------------------------------------------------------------------- */
static void commands_that_do_nothing_have_rows(void **state)
{
    (void)state;
    enum { NOTHING = 3000 };
    fixture f = open_in_mode("plain");
    ls_program *program = contract_program(&f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(&f, NULL, 4), *y = contract_buffer_u32(&f, NULL, 4);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f.device, &batch, error));
    OK(contract_record_add(batch, contract_kernel(program, "add"), x, y, 4, 3, error));
    for (uint32_t i = 0; i < NOTHING; i++)
        OK(contract_record_add(batch, contract_kernel(program, "add"), x, y, 0, 3, error));
    OK(contract_record_add(batch, contract_kernel(program, "add"), y, x, 4, 3, error));
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_receipt r = {.struct_size = sizeof r};
    ls_fence *fence = NULL;
    params.timing = params.attribution = true;
    OK(ls_submit(f.stream, batch, &params, &fence, error));
    OK(ls_fence_wait(fence, 30 * SECOND, &r, error));
    assert_int_equal(r.attribution_count, NOTHING + 2);
    for (uint32_t i = 0; i < NOTHING + 2 && ls_device_caps(f.device)->timing; i++) {
        assert_int_equal(r.attribution[i].timing.state, LS_TIMING_MEASURED);
        assert_int_equal(r.attribution[i].command, i);
    }
    ls_fence_destroy(&fence);
    contract_expect_u32(x, 3, 6);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
}

/* --- memory ----------------------------------------------------------------------------------- */
/* Buffers of all sizes that come and go: each is zero when it comes, and none touches another. */
static void memory_is_cut_and_joined(void **state)
{
    (void)state;
    enum { SLOTS = 24, ROUNDS = 400 };
    const char *const some[] = {"plain", "staged", "incoherent"};
    for (size_t m = 0; m < COUNT(some); m++) {
        fixture f = open_in_mode(some[m]);
        ls_buffer *buffers[SLOTS] = {NULL};
        ls__rng rng = {first_seed};
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t i = ls__rng_below(&rng, SLOTS), word = 0;
            if (buffers[i]) {
                uint64_t size = ls_buffer_size(buffers[i]);
                OK(ls_buffer_read(buffers[i], size - 4, LS_MEM_NONE, &word, 4, error));
                assert_int_equal(word, i + 1);
                OK(ls_buffer_read(buffers[i], 0, LS_MEM_NONE, &word, 4, error));
                assert_int_equal(word, i + 1);
                ls_buffer_destroy(&buffers[i]);
                continue;
            }
            uint32_t size = 8 + ls__rng_below(&rng, 1u << (4 + ls__rng_below(&rng, 21)));
            buffers[i] = contract_buffer(&f, size, LS_MEM_NONE);
            word = 1;
            OK(ls_buffer_read(buffers[i], size - 4, LS_MEM_NONE, &word, 4, error));
            assert_int_equal(word, 0);
            word = i + 1;
            OK(ls_buffer_write(buffers[i], 0, LS_MEM_NONE, &word, 4, error));
            OK(ls_buffer_write(buffers[i], size - 4, LS_MEM_NONE, &word, 4, error));
        }
        for (uint32_t i = 0; i < SLOTS; i++)
            ls_buffer_destroy(&buffers[i]);
        /* at most one block is kept, in one piece */
        const ls__vulkan_block *block = ((ls__vulkan_device *)f.device->handle)->memory.first;
        assert_true(!block || (!block->next && !block->first->next));
        contract_close(&f);
    }
}

/* --- the driver's cache ----------------------------------------------------------------------- */
static uint32_t cache_files(const char *folder, char path[512])
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".lsvulkan"))
            continue;
        snprintf(path, 512, "%.200s/%.255s", folder, entry->d_name);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

static void run_with_cache(const char *folder)
{
    fixture f = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = device_name;
    params.cache_path = folder;
    OK(ls_device_open(&params, &f.device, error));
    OK(ls_stream_create(f.device, &f.stream, error));
    ls_program *program = contract_program(&f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(&f, NULL, 4), *y = contract_buffer_u32(&f, NULL, 4);
    ls_batch *batch = NULL;
    OK(ls_batch_create(f.device, &batch, error));
    OK(contract_record_add(batch, contract_kernel(program, "add"), x, y, 4, 3, error));
    contract_run(&f, batch);
    contract_expect_u32(y, 3, 3);
    /* What the driver says of a pipeline counts: Mesa's software one keeps none, and says so. */
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(f.device, &counters);
    assert_true(counters.driver_cache_hits + counters.driver_cache_misses > 0);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
}

/* A run makes the file what it was. */
static void check_cache(const char *folder, const void *whole, size_t size)
{
    char path[512];
    void *now;
    size_t size_now;
    run_with_cache(folder);
    assert_int_equal(cache_files(folder, path), 1);
    assert_int_equal(ls__os_read_file(path, UINT64_MAX, &now, &size_now, NULL), LS_OK);
    assert_int_equal(size_now, size);
    assert_memory_equal(now, whole, size);
    ls__mem_free(now);
}

static void a_damaged_cache_counts_as_missing(void **state)
{
    (void)state;
    void *whole;
    size_t size;
    char folder[] = "vulkan-cache-XXXXXX", path[512] = "", command[600];
    assert_non_null(mkdtemp(folder));
    vulkan_mode("plain");
    run_with_cache(folder);
    assert_int_equal(cache_files(folder, path), 1);
    run_with_cache(folder);
    assert_int_equal(ls__os_read_file(path, UINT64_MAX, &whole, &size, NULL), LS_OK);
    for (int damage = 0; damage < 3; damage++) { /* its name, what it is for, the driver's bytes */
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, damage == 0 ? 0 : damage == 1 ? 50 : -1, damage == 2 ? SEEK_END : SEEK_SET);
        int byte = fgetc(file);
        fseek(file, -1, SEEK_CUR);
        fputc(byte ^ 1, file);
        fclose(file);
        check_cache(folder, whole, size);
    }
    assert_int_equal(truncate(path, 10), 0);
    check_cache(folder, whole, size);
    ls__mem_free(whole);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* --- names ------------------------------------------------------------------------------------ */
static void names_may_be_partial(void **state)
{
    (void)state;
    static const char *const good[] = {"vulkan", "vulkan:0"};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    vulkan_mode("plain");
    for (size_t i = 0; i < COUNT(good); i++) {
        params.name = good[i];
        OK(ls_device_open(&params, &device, error));
        assert_string_equal(ls_device_name(device), "vulkan:0");
        OK(ls_device_destroy(&device, error));
    }
    ls_device_info infos[32];
    uint32_t count = 0;
    char part[80] = "vulkan:";
    OK(ls_device_list(infos, COUNT(infos), &count, error));
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(infos[i].name, "vulkan:0") != 0)
            continue;
        for (size_t k = 0; k < 6; k++) /* the start of its description, in capitals */
            part[7 + k] = (char)(infos[i].description[k] & ~0x20);
    }
    params.name = part;
    OK(ls_device_open(&params, &device, error));
    OK(ls_device_destroy(&device, error));
    params.name = "vulkan:no such";
    REFUSED(LS_E_NOT_FOUND, ls_device_open(&params, &device, error));
    params.name = "vulkan:99";
    REFUSED(LS_E_NOT_FOUND, ls_device_open(&params, &device, error));
    params.name = "vulkanic";
    REFUSED(LS_E_NOT_FOUND, ls_device_open(&params, &device, error));
}

int main(int argc, char **argv)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    ls_error reason = {0};
    if (argc > 1)
        batches = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    params.name = device_name;
    if (ls_device_open(&params, &device, &reason) != LS_OK) {
        printf("SKIP: %s: %s\n", device_name, reason.message);
        return 77;
    }
    ls_device_destroy(&device, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_may_be_partial),
        cmocka_unit_test(ranges_may_be_large),
        cmocka_unit_test(random_batches_match_the_model),
        cmocka_unit_test(cut_launches_are_whole),
        cmocka_unit_test(commands_that_do_nothing_have_rows),
        cmocka_unit_test(memory_is_cut_and_joined),
        cmocka_unit_test(a_damaged_cache_counts_as_missing),
        cmocka_unit_test(a_lost_device_is_indeterminate),
        cmocka_unit_test(what_never_ends_is_indeterminate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
