/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device contract cannot show: a lost device, random batches of all transfers at any place
 * and size, prepared batches that are replayed, the driver's cache, memory that is reused. Each in
 * all modes of modes.h where it matters. Arguments: how many random batches, and the seed of the
 * first.
 */
#include <dirent.h>
#include <unistd.h>

#include "../contract/contract.h"
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
enum { BUFFERS = 3, COMMANDS = 14, BYTES = 40000, STARTS = 7 };

static const char kernels[] = "kernel void add(u32 n, u32 k, const u32 *x, u32 *y)\n"
                              "{\n"
                              "    u32 i = global_id(0);\n"
                              "    if (i < n && i < global_size(0))\n"
                              "        y[i] = x[i] + k + iteration();\n"
                              "}\n";

typedef struct world {
    fixture f;
    ls_program *program;
    ls_buffer *buffers[BUFFERS];
    ls_batch *batch;
    uint8_t model[BUFFERS][BYTES];
    uint8_t found[COMMANDS][BYTES], expected[COMMANDS][BYTES], upload[COMMANDS][BYTES];
    ls_slot slots[COMMANDS];
    uint64_t without_time;                 /* batches that took no time: some have nothing to do */
    uint32_t parameters[2 * COMMANDS + 1]; /* k and n of each command, then rounds */
} world;

static uint32_t pick_size(ls__rng *rng, uint32_t most)
{
    uint32_t limit = ls__rng_below(rng, 3) ? 40 : most;
    return 1 + ls__rng_below(rng, limit < most ? limit : most);
}

/* Recorded once; else applied to the model. All choices come from the seed. */
static void command(world *w, uint64_t seed, uint32_t slot, bool record, uint32_t iteration)
{
    ls__rng rng = {seed};
    uint32_t a = ls__rng_below(&rng, BUFFERS), b = (a + 1) % BUFFERS;
    uint32_t kind = ls__rng_below(&rng, 6), unit = 1u << ls__rng_below(&rng, 4);
    uint32_t at = ls__rng_below(&rng, BYTES - 8), size = pick_size(&rng, BYTES - at);
    uint8_t *to = w->model[a];
    if (kind == 0)
        size = size < unit ? unit : size / unit * unit;
    ls_range target = {w->buffers[a], at, size};
    switch (kind) {
    case 0: { /* fill */
        uint64_t pattern = ls__rng_u64(&rng);
        if (record)
            OK(ls_batch_fill(w->batch, target, &pattern, unit, NULL, error));
        for (uint32_t i = 0; i < size && !record; i++)
            to[at + i] = ((uint8_t *)&pattern)[i % unit];
        break;
    }
    case 1: { /* copy, within the buffer or between two */
        bool same = ls__rng_below(&rng, 2);
        uint32_t from = ls__rng_below(&rng, BYTES - size + 1);
        ls_range source = {w->buffers[same ? a : b], from, size};
        if (record)
            OK(ls_batch_copy(w->batch, target, source, NULL, error));
        else
            memmove(to + at, w->model[same ? a : b] + from, size);
        break;
    }
    case 2:
        if (record)
            OK(ls_batch_upload_slot(w->batch, target, LS_MEM_NONE, slot, NULL, error));
        else
            memcpy(to + at, w->upload[slot], size);
        break;
    case 3:
        if (record)
            OK(ls_batch_download_slot(w->batch, target, LS_MEM_NONE, slot, NULL, error));
        else
            memcpy(w->expected[slot], to + at, size);
        break;
    default: { /* y = x + k */
        uint32_t scalars[2] = {0, 0};
        ls_scalar_link links[2] = {{4, slot * 8, 4}, {0, slot * 8 + 4, 4}};
        ls_range whole[2] = {WHOLE(w->buffers[a]), WHOLE(w->buffers[b])};
        ls_dispatch d = LS_DISPATCH_INIT;
        d.kernel = contract_kernel(w->program, "add");
        d.global_size_parameter[0] = 1 + slot * 8 + 4;
        d.buffers = whole;
        d.buffer_count = 2;
        d.scalars = scalars;
        d.scalar_bytes = sizeof scalars;
        d.links = links;
        d.link_count = 2;
        if (record)
            OK(ls_batch_dispatch(w->batch, &d, error));
        for (uint32_t i = 0; i < w->parameters[2 * slot + 1] && !record; i++) {
            uint32_t word;
            memcpy(&word, to + 4 * i, 4);
            word += w->parameters[2 * slot] + iteration;
            memcpy(w->model[b] + 4 * i, &word, 4);
        }
    }
    }
}

static void apply(world *w, uint64_t base, uint32_t count, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t rounds = i == first && end > first ? w->parameters[2 * COMMANDS] : 1;
        uint32_t last = i == first && end > first ? end : i + 1;
        for (uint32_t round = 0; round < rounds; round++)
            for (uint32_t k = i; k < last; k++)
                command(w, base + k, k, false, i == first && end > first ? round : 0);
        i = last;
    }
}

static void check(const world *w, uint64_t seed, const char *mode)
{
    if (memcmp(w->found, w->expected, sizeof w->found) != 0)
        fail_msg("%s, seed %llu: the downloads differ", mode, (unsigned long long)seed);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        static uint8_t bytes[BYTES];
        OK(ls_buffer_read(w->buffers[b], 0, LS_MEM_NONE, bytes, sizeof bytes, error));
        if (memcmp(bytes, w->model[b], sizeof bytes) != 0)
            fail_msg("%s, seed %llu: buffer %u differs", mode, (unsigned long long)seed, b);
    }
}

static void one_batch(world *w, uint64_t seed, const char *mode)
{
    ls__rng rng = {seed};
    uint32_t count = 1 + ls__rng_below(&rng, COMMANDS), first = ls__rng_below(&rng, count);
    uint32_t end = first + ls__rng_below(&rng, count - first + 1);
    uint64_t base = ls__rng_u64(&rng);
    bool same_sizes = ls__rng_below(&rng, 2), attribution = !ls__rng_below(&rng, 4);
    for (uint32_t i = 0; i <= count; i++) {
        if (i == first)
            OK(ls_batch_repeat_begin(w->batch, 0, 1 + 8 * COMMANDS, error));
        if (i == end)
            OK(ls_batch_repeat_end(w->batch, error));
        if (i < count)
            command(w, base + i, i, true, 0);
    }
    ls_prepared *prepared = NULL;
    OK(ls_prepare(w->batch, &prepared, error));
    ls_batch_clear(w->batch);
    for (uint32_t start = 0; start < STARTS; start++) {
        memset(w->found, 0, sizeof w->found);
        memset(w->expected, 0, sizeof w->expected);
        for (uint32_t i = 0; i < COMMANDS; i++) {
            w->slots[i] = (ls_slot){w->upload[i], w->found[i]};
            w->parameters[2 * i] = (uint32_t)ls__rng_u64(&rng);
            if (!start || !same_sizes)
                w->parameters[2 * i + 1] = ls__rng_below(&rng, BYTES / 4);
            for (uint32_t k = 0; k < BYTES; k += 8)
                memcpy(w->upload[i] + k, &(uint64_t){ls__rng_u64(&rng)}, 8);
        }
        if (!start || !same_sizes)
            w->parameters[2 * COMMANDS] = ls__rng_below(&rng, 4);
        apply(w, base, count, first, end);
        ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
        params.parameters = w->parameters;
        params.parameter_bytes = sizeof w->parameters;
        params.slots = w->slots;
        params.slot_count = COMMANDS;
        params.attribution = attribution;
        params.timing = start == 5;
        ls_fence *fence = NULL;
        OK(ls_submit_prepared(w->f.stream, prepared, &params, &fence, error));
        ls_receipt r = {.struct_size = sizeof r};
        OK(ls_fence_wait(fence, 60 * SECOND, &r, error));
        ls_fence_destroy(&fence);
        check(w, seed, mode);
        bool measured = ls_device_caps(w->f.device)->timing && params.timing;
        assert_int_equal(r.timing.state == LS_TIMING_MEASURED, measured);
        w->without_time += measured && r.timing.device_ns == 0;
    }
    ls_prepared_destroy(&prepared);
}

static void random_batches(const char *mode)
{
    static world w;
    memset(&w, 0, sizeof w);
    w.f = open_in_mode(mode);
    w.program = contract_program(&w.f, kernels);
    OK(ls_batch_create(w.f.device, &w.batch, error));
    for (uint32_t b = 0; b < BUFFERS; b++)
        w.buffers[b] = contract_buffer(&w.f, BYTES, LS_MEM_NONE);
    uint64_t replays = atomic_load(&ls__vulkan_test_hooks.replays);
    for (uint64_t i = 0; i < batches; i++)
        one_batch(&w, first_seed + i, mode);
    assert_true(atomic_load(&ls__vulkan_test_hooks.replays) > replays + batches);
    assert_true(w.without_time <= batches / 4);
    for (uint32_t b = 0; b < BUFFERS; b++)
        ls_buffer_destroy(&w.buffers[b]);
    ls_batch_destroy(&w.batch);
    ls_program_destroy(&w.program);
    contract_close(&w.f);
}

static void random_batches_match_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++)
        random_batches(modes[i]);
}

/* --- launches --------------------------------------------------------------------------------- */
static const char geometry[] =
    "kernel workgroup(4, 2, 2) void mark(u32 first, u32 w, u32 h, u32 *y)\n"
    "{\n"
    "    u32 group = workgroup_id(0) + workgroup_count(0) * (workgroup_id(1) + workgroup_count(1) "
    "* workgroup_id(2));\n"
    "    u32 at = global_id(0) + w * (global_id(1) + h * global_id(2));\n"
    "    y[at] = y[at] + group + 1;\n"
    "    if (group >= first)\n"
    "        trap(group);\n"
    "}\n"
    "kernel void later(u32 *y)\n"
    "{\n"
    "    y[global_id(0)] = 0;\n"
    "}\n";

/* A launch that is cut everywhere covers each lane once, and of its traps the lowest is reported;
 * what follows does not run. */
static void cut_launch(fixture *f, const uint32_t groups[3], uint32_t first)
{
    uint32_t size[3] = {4 * groups[0], 2 * groups[1], 2 * groups[2]};
    uint32_t lanes = size[0] * size[1] * size[2], count = groups[0] * groups[1] * groups[2];
    uint32_t scalars[3] = {first, size[0], size[1]};
    ls_program *program = contract_program(f, geometry);
    ls_buffer *y = contract_buffer_u32(f, NULL, lanes);
    ls_range range = WHOLE(y);
    ls_dispatch d = LS_DISPATCH_INIT;
    ls_batch *batch = NULL;
    OK(ls_batch_create(f->device, &batch, error));
    d.kernel = contract_kernel(program, "mark");
    memcpy(d.global_size, size, sizeof size);
    d.buffers = &range;
    d.buffer_count = 1;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    OK(ls_batch_dispatch(batch, &d, error));
    d = (ls_dispatch)LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "later");
    d.global_size[0] = lanes;
    d.buffers = &range;
    d.buffer_count = 1;
    if (first < count)
        OK(ls_batch_dispatch(batch, &d, error));
    ls_fence *fence = NULL;
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_receipt r = {.struct_size = sizeof r};
    ls_fence_wait(fence, 30 * SECOND, &r, NULL);
    assert_int_equal(r.trapped, first < count);
    if (r.trapped) {
        assert_int_equal(r.trap_code, first);
        assert_int_equal(r.trap_workgroup, first);
        assert_int_equal(r.trap_lane, 0);
        assert_int_equal(r.trap_command, 0);
    }
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t column = i % size[0] / 4, row = i / size[0] % size[1] / 2,
                 layer = i / size[0] / size[1] / 2;
        contract_expect_u32(y, i, column + groups[0] * (row + groups[1] * layer) + 1);
    }
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
}

static void cut_launches_are_whole(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{5, 4, 3}, {2, 5, 3}, {3, 2, 7}, {1, 1, 8}, {1, 7, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        uint32_t count = shapes[i][0] * shapes[i][1] * shapes[i][2];
        const uint32_t firsts[] = {0, count / 3, count - 1, count}; /* at last: no trap */
        for (size_t k = 0; k < COUNT(firsts); k++) {
            fixture f = open_in_mode("cut");
            cut_launch(&f, shapes[i], firsts[k]);
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
