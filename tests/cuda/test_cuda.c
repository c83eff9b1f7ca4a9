/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device contract cannot show, on the emulated driver: random batches in all modes of
 * modes.h, launches that are cut, graphs that are updated, transfers beside kernels, grid barriers
 * whole and split, faults of the driver, the cache of machine code. Arguments: how many random
 * batches, and the seed of the first.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include "../contract/random.h"
#include "base/mem.h"
#include "base/os.h"
#include "device/cuda/device.h"
#include "modes.h"

static const char *const modes[] = {"plain", "memory", "cut", "graphs", "launches", "beside"};
static uint64_t first_seed = 1, batches = 4;
static const char device_name[] = "cuda:0";

static void (*configure)(const char *settings);
static uint64_t (*count_of)(const char *what);

static fixture open_in_mode(const char *mode)
{
    assert_true(cuda_mode(mode));
    return contract_open(device_name, NULL, 0);
}

/* --- random batches, launches ----------------------------------------------------------------- */
static void random_batches_match_the_model(void **state)
{
    (void)state;
    ls__cuda_hooks *hooks = &ls__cuda_test_hooks;
    for (size_t i = 0; i < COUNT(modes); i++) {
        uint64_t graphs = atomic_load(&hooks->graph_launches),
                 updates = atomic_load(&hooks->graph_updates),
                 beside = atomic_load(&hooks->overlaps);
        fixture f = open_in_mode(modes[i]);
        contract_random_batches(f, modes[i], first_seed, batches);
        graphs = atomic_load(&hooks->graph_launches) - graphs;
        updates = atomic_load(&hooks->graph_updates) - updates;
        beside = atomic_load(&hooks->overlaps) - beside;
        if (hooks->always_graphs)
            assert_true(graphs > batches && updates > batches);
        if (hooks->never_graphs)
            assert_int_equal(graphs, 0);
        if (hooks->overlap_bytes)
            assert_true(beside > batches);
    }
}

static void cut_launches_are_whole(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{5, 4, 3}, {2, 5, 3}, {1, 1, 8}, {1, 7, 1}};
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

/* --- traps ------------------------------------------------------------------------------------ */
/* A download behind a launch that traps does not happen, one before it does; also in a graph. */
static void downloads_behind_a_trap_do_not_happen(void **state)
{
    (void)state;
    static const char text[] = "kernel void stop(u32 *y, u32 last)\n"
                               "{\n"
                               "    y[global_id(0)] = 7;\n"
                               "    if (global_id(0) > last)\n"
                               "        trap(5);\n"
                               "}\n";
    for (int graphs = 0; graphs < 2; graphs++) {
        fixture f = open_in_mode(graphs ? "graphs" : "launches");
        ls_program *program = contract_program(&f, text);
        ls_buffer *y = contract_buffer_u32(&f, NULL, 64);
        ls_range range = WHOLE(y);
        ls_batch *batch = NULL;
        ls_prepared *prepared = NULL;
        uint32_t before[64], after[64], last = 0;
        ls_slot slots[2] = {{.download = before}, {.download = after}};
        ls_scalar_link link = {0, 0, 4};
        ls_dispatch d = LS_DISPATCH_INIT;
        d.kernel = contract_kernel(program, "stop");
        d.global_size[0] = 64;
        d.buffers = &range;
        d.buffer_count = 1;
        d.scalars = &last;
        d.scalar_bytes = sizeof last;
        d.links = &link;
        d.link_count = 1;
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_download_slot(batch, range, LS_MEM_U32, 0, NULL, error));
        OK(ls_batch_dispatch(batch, &d, error));
        OK(ls_batch_download_slot(batch, range, LS_MEM_U32, 1, NULL, error));
        OK(ls_prepare(batch, &prepared, error));
        for (int start = 0; start < 4; start++) {
            ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
            ls_fence *fence = NULL;
            ls_receipt r = {.struct_size = sizeof r};
            last = start == 3 ? 40 : 64;
            params.parameters = &last;
            params.parameter_bytes = sizeof last;
            params.slots = slots;
            params.slot_count = 2;
            memset(before, 0xff, sizeof before);
            memset(after, 0xff, sizeof after);
            OK(ls_submit_prepared(f.stream, prepared, &params, &fence, error));
            ls_fence_wait(fence, 60 * SECOND, &r, NULL);
            assert_int_equal(r.trapped, start == 3);
            assert_int_equal(before[63], start ? 7 : 0);
            assert_int_equal(after[63], start == 3 ? UINT32_MAX : 7);
            if (r.trapped) {
                assert_int_equal(r.trap_code, 5);
                assert_int_equal(r.trap_command, 1);
            }
            ls_fence_destroy(&fence);
        }
        ls_prepared_destroy(&prepared);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&y);
        ls_program_destroy(&program);
        contract_close(&f);
    }
}

/* A fill, a copy or an upload behind a launch that traps does not happen. */
static void transfers_behind_a_trap_do_not_happen(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        fixture f = open_in_mode("plain");
        ls_program *program =
            contract_program(&f, "kernel void stop(u32 *y) { y[global_id(0)] = 7; trap(3); }\n");
        ls_buffer *y = contract_buffer_u32(&f, NULL, 64), *z = contract_buffer_u32(&f, NULL, 64);
        ls_range from = WHOLE(y), to = WHOLE(z);
        ls_batch *batch = NULL;
        ls_fence *fence = NULL;
        ls_receipt r = {.struct_size = sizeof r};
        uint32_t values[64] = {9};
        ls_dispatch d = LS_DISPATCH_INIT;
        d.kernel = contract_kernel(program, "stop");
        d.global_size[0] = 64;
        d.buffers = &from;
        d.buffer_count = 1;
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_dispatch(batch, &d, error));
        if (kind == 0)
            OK(ls_batch_fill(batch, to, &(uint32_t){5}, 4, NULL, error));
        else if (kind == 1)
            OK(ls_batch_copy(batch, to, from, NULL, error));
        else
            OK(ls_batch_upload(batch, to, LS_MEM_U32, values, NULL, error));
        OK(ls_submit(f.stream, batch, NULL, &fence, error));
        ls_fence_wait(fence, 60 * SECOND, &r, NULL);
        assert_true(r.trapped);
        contract_expect_u32(z, 0, 0);
        ls_fence_destroy(&fence);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&y);
        ls_buffer_destroy(&z);
        ls_program_destroy(&program);
        contract_close(&f);
    }
}

/* Large downloads are whole when the batch has ended, and what follows them does not change them.
 */
static void transfers_beside_kernels_are_in_order(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    static uint8_t first[BYTES], second[BYTES];
    fixture f = open_in_mode("beside");
    ls_buffer *y = contract_buffer(&f, BYTES, LS_MEM_NONE);
    for (uint8_t round = 1; round < 12; round++) {
        ls_batch *batch = NULL;
        uint8_t other = (uint8_t)(round + 100);
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_fill(batch, WHOLE(y), &round, 1, NULL, error));
        OK(ls_batch_download(batch, WHOLE(y), LS_MEM_NONE, first, NULL, error));
        OK(ls_batch_fill(batch, WHOLE(y), &other, 1, NULL, error));
        OK(ls_batch_download(batch, WHOLE(y), LS_MEM_NONE, second, NULL, error));
        contract_run(&f, batch);
        for (uint32_t i = 0; i < BYTES; i++)
            if (first[i] != round || second[i] != other)
                fail_msg("round %u, byte %u: %u, %u", round, i, first[i], second[i]);
        ls_batch_destroy(&batch);
    }
    ls_buffer_destroy(&y);
    contract_close(&f);
}

/* --- grid barriers ---------------------------------------------------------------------------- */
static const char barriers[] =
    "kernel workgroup(32) void turn(u32 n, const u32 *x, u32 *sums, u32 *y)\n"
    "{\n"
    "    u32 i = global_id(0);\n"
    "    u32 s = subgroup_add(i < n ? x[i] + iteration() : 0);\n"
    "    for (u32 round = 0; round < 3; round++) {\n"
    "        if (lane_id() == 0)\n"
    "            sums[workgroup_id(0)] = s + round;\n"
    "        grid_barrier();\n"
    "        u32 all = 0;\n"
    "        for (u32 k = 0; k < workgroup_count(0); k++)\n"
    "            all += sums[k];\n"
    "        s = s * 3 + all;\n"
    "        grid_barrier();\n"
    "    }\n"
    "    if (i < n)\n"
    "        y[i] = s;\n"
    "}\n";

enum { MOST_LANES = 512 };
typedef struct turn {
    fixture f;
    ls_program *program;
    ls_buffer *x, *sums, *y, *sizes;
    uint32_t result[4][MOST_LANES]; /* dispatch, prepared, repeat, indirect */
} turn;

static void turn_open(turn *t, const char *device, const char *lower)
{
    uint32_t values[MOST_LANES];
    for (uint32_t i = 0; i < MOST_LANES; i++)
        values[i] = i * i + 3;
    t->f = contract_open(device, NULL, 0);
    t->program = contract_program_lowered(&t->f, barriers, lower);
    t->x = contract_buffer_u32(&t->f, values, MOST_LANES);
    t->sums = contract_buffer_u32(&t->f, NULL, MOST_LANES);
    t->y = contract_buffer_u32(&t->f, NULL, MOST_LANES);
    t->sizes = contract_buffer_u32(&t->f, NULL, 3);
}

static void turn_close(turn *t)
{
    ls_buffer_destroy(&t->x);
    ls_buffer_destroy(&t->sums);
    ls_buffer_destroy(&t->y);
    ls_buffer_destroy(&t->sizes);
    ls_program_destroy(&t->program);
    contract_close(&t->f);
}

static void turn_run(turn *t, int way, uint32_t lanes)
{
    ls_range ranges[3] = {WHOLE(t->x), WHOLE(t->sums), WHOLE(t->y)};
    ls_batch *batch = NULL;
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(t->program, "turn");
    d.global_size[0] = lanes;
    d.buffers = ranges;
    d.buffer_count = 3;
    d.scalars = &lanes;
    d.scalar_bytes = sizeof lanes;
    OK(ls_buffer_write(t->sizes, 0, LS_MEM_U32, (uint32_t[3]){lanes, 1, 1}, 12, error));
    OK(ls_batch_create(t->f.device, &batch, error));
    if (way == 2)
        OK(ls_batch_repeat_begin(batch, 3, 0, error));
    if (way == 3)
        OK(ls_batch_dispatch_indirect(batch, &d, WHOLE(t->sizes), (uint32_t[3]){MOST_LANES, 1, 1},
                                      error));
    else
        OK(ls_batch_dispatch(batch, &d, error));
    if (way == 2)
        OK(ls_batch_repeat_end(batch, error));
    if (way == 1) {
        ls_prepared *prepared = NULL;
        OK(ls_prepare(batch, &prepared, error));
        for (int start = 0; start < 3; start++) {
            ls_fence *fence = NULL;
            OK(ls_submit_prepared(t->f.stream, prepared, NULL, &fence, error));
            OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
            ls_fence_destroy(&fence);
        }
        ls_prepared_destroy(&prepared);
    } else {
        contract_run(&t->f, batch);
    }
    ls_batch_destroy(&batch);
    OK(ls_buffer_read(t->y, 0, LS_MEM_U32, t->result[way], 4 * (uint64_t)MOST_LANES, error));
}

/* From every entry point the same, whether the launch fits or not, as on the reference. */
static void grid_barriers_whole_and_split_agree(void **state)
{
    (void)state;
    static turn reference, own, split;
    _Atomic uint64_t *launches = &ls__cuda_test_hooks.cooperative_launches;
    for (int small = 0; small < 2; small++) {
        assert_true(cuda_mode("plain"));
        ls__cuda_test_hooks.max_grid = small ? 5 : 0; /* 5 workgroups at once */
        turn_open(&reference, "reference", NULL);
        turn_open(&own, device_name, NULL);
        turn_open(&split, device_name, "grid_barrier");
        assert_true(ls_device_caps(own.f.device)->grid_barrier_native);
        for (uint32_t lanes = 96; lanes <= 192; lanes += 96) {
            for (int way = 0; way < 4; way++) {
                uint64_t before = atomic_load(launches);
                turn_run(&reference, way, lanes);
                turn_run(&own, way, lanes);
                uint64_t whole = atomic_load(launches) - before;
                assert_int_equal(whole, small && lanes > 160 ? 0 : way == 1 || way == 2 ? 3 : 1);
                turn_run(&split, way, lanes);
                assert_int_equal(atomic_load(launches) - before, whole);
                assert_memory_equal(own.result[way], reference.result[way], sizeof own.result[0]);
                assert_memory_equal(split.result[way], reference.result[way], sizeof own.result[0]);
            }
        }
        turn_close(&reference);
        turn_close(&own);
        turn_close(&split);
    }
    cuda_mode("plain");
}

/* A graph holds cooperative launches, too. */
static void grid_barriers_run_in_graphs(void **state)
{
    (void)state;
    static turn reference, own;
    ls__cuda_hooks *hooks = &ls__cuda_test_hooks;
    assert_true(cuda_mode("graphs"));
    turn_open(&reference, "reference", NULL);
    turn_open(&own, device_name, NULL);
    uint64_t graphs = atomic_load(&hooks->graph_launches),
             together = atomic_load(&hooks->cooperative_launches);
    turn_run(&reference, 1, 96);
    turn_run(&own, 1, 96);
    assert_int_equal(atomic_load(&hooks->graph_launches) - graphs, 2); /* of three starts */
    assert_true(atomic_load(&hooks->cooperative_launches) > together);
    assert_memory_equal(own.result[1], reference.result[1], sizeof own.result[1]);
    turn_close(&reference);
    turn_close(&own);
    cuda_mode("plain");
}

/* A form that the driver cannot compile is no reason to take the other. */
static void both_forms_must_compile(void **state)
{
    (void)state;
    uint64_t failed = 0;
    assert_true(cuda_mode("plain"));
    for (unsigned n = 1; n <= 6; n++) {
        fixture f = contract_open(device_name, NULL, 0);
        ls_module *module = NULL;
        ls_program *program = NULL;
        ls_error error = {0};
        ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
        char setting[32];
        compile.text = barriers;
        compile.length = strlen(barriers);
        assert_int_equal(ls_module_compile(&compile, &module, NULL, &error), LS_OK);
        snprintf(setting, sizeof setting, "jit:%u=fail", n);
        configure(setting);
        uint64_t before = count_of("jit");
        ls_status status = ls_program_create(f.device, module, NULL, &program, &error);
        if (count_of("jit") - before >= n) {
            assert_int_not_equal(status, LS_OK);
            failed++;
        } else {
            assert_int_equal(status, LS_OK);
        }
        configure("");
        ls_program_destroy(&program);
        ls_module_destroy(&module);
        contract_close(&f);
    }
    assert_true(failed >= 2);
}

/* --- counters --------------------------------------------------------------------------------- */
/* One submission is one wait, unless something must be known before; profilers see ranges. */
static void what_is_done_is_counted(void **state)
{
    (void)state;
    void *profiler = dlopen("libnvToolsExt.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(profiler);
    int (*ranges_pushed)(void), (*ranges_open)(void);
    *(void **)&ranges_pushed = dlsym(profiler, "ranges_pushed");
    *(void **)&ranges_open = dlsym(profiler, "ranges_open");
    for (int graphs = 0; graphs < 2; graphs++) {
        fixture f = open_in_mode(graphs ? "graphs" : "launches");
        ls_program *program = contract_program(&f, contract_add_text);
        ls_buffer *x = contract_buffer_u32(&f, NULL, 64), *y = contract_buffer_u32(&f, NULL, 64);
        const ls_kernel *kernel = contract_kernel(program, "add");
        uint32_t in[64] = {5}, out[64];
        ls_batch *batch = NULL;
        ls_prepared *prepared = NULL;
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_upload(batch, WHOLE(x), LS_MEM_U32, in, NULL, error));
        OK(contract_record_add(batch, kernel, x, y, 64, 3, error));
        OK(ls_batch_copy(batch, WHOLE(x), WHOLE(y), NULL, error));
        OK(contract_record_add(batch, kernel, x, y, 64, 4, error));
        OK(ls_batch_download(batch, WHOLE(x), LS_MEM_U32, out, NULL, error));
        OK(ls_batch_download(batch, WHOLE(y), LS_MEM_U32, out, NULL, error));
        OK(ls_prepare(batch, &prepared, error));
        for (int start = 0; start < 3; start++) {
            ls_counters counters = {.struct_size = sizeof counters};
            ls_fence *fence = NULL;
            int pushed = ranges_pushed();
            ls_device_counters_reset(f.device);
            OK(ls_submit_prepared(f.stream, prepared, NULL, &fence, error));
            OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
            ls_fence_destroy(&fence);
            ls_device_counters(f.device, &counters);
            assert_int_equal(out[0], 12);
            assert_int_equal(counters.device_waits, 1);
            assert_int_equal(counters.graph_launches, graphs && start > 0);
            assert_int_equal(counters.launches, 2);
            assert_int_equal(counters.bytes_uploaded, 256);
            assert_int_equal(counters.bytes_downloaded, 512);
            assert_true(ranges_pushed() > pushed);
            assert_int_equal(ranges_open(), 0);
        }
        ls_prepared_destroy(&prepared);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&x);
        ls_buffer_destroy(&y);
        ls_program_destroy(&program);
        contract_close(&f);
    }
}

/* --- faults ----------------------------------------------------------------------------------- */
static ls_receipt add_once(fixture *f, const ls_kernel *kernel, ls_buffer *x, ls_buffer *y)
{
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    OK(ls_batch_create(f->device, &batch, error));
    OK(contract_record_add(batch, kernel, x, y, 64, 3, error));
    OK(contract_record_add(batch, kernel, y, x, 64, 4, error));
    OK(ls_submit(f->stream, batch, NULL, &fence, error));
    ls_fence_wait(fence, 60 * SECOND, &r, NULL);
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    return r;
}

/* What the driver refuses has failed, and the device goes on. */
static void refusals_fail_and_the_device_goes_on(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        ls_status cause;
    } cases[] = {
        {"launch:1=out_of_resources", LS_E_LIMIT},
        {"launch:2=out_of_resources", LS_E_LIMIT},
        {"launch:2=oom", LS_E_OUT_OF_MEMORY},
        {"launch:1=invalid_value", LS_E_INTERNAL},
    };
    fixture f = open_in_mode("plain");
    ls_program *program = contract_program(&f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(&f, NULL, 64), *y = contract_buffer_u32(&f, NULL, 64);
    const ls_kernel *kernel = contract_kernel(program, "add");
    for (size_t i = 0; i < COUNT(cases); i++) {
        configure(cases[i].settings);
        ls_receipt r = add_once(&f, kernel, x, y);
        assert_int_equal(r.outcome, LS_FAILED_QUIESCENT);
        assert_int_equal(r.error.cause, cases[i].cause);
        OK(ls_stream_destroy(&f.stream, error)); /* it has failed */
        OK(ls_stream_create(f.device, &f.stream, error));
        r = add_once(&f, kernel, x, y);
        assert_int_equal(r.outcome, LS_SUCCEEDED);
    }
    configure("alloc:1=oom");
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer *none = NULL;
    params.size_bytes = 4096;
    REFUSED(LS_E_OUT_OF_MEMORY, ls_buffer_create(f.device, &params, &none, error));
    OK(ls_buffer_create(f.device, &params, &none, error));
    ls_buffer_destroy(&none);
    configure("jit:1=fail");
    ls_module *module = NULL;
    ls_program *broken = NULL;
    ls_error error = {0};
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    static const char other[] = "kernel void other(u32 *y) { y[global_id(0)] = 99; }\n";
    compile.text = other;
    compile.length = sizeof other - 1;
    assert_int_equal(ls_module_compile(&compile, &module, NULL, &error), LS_OK);
    assert_int_not_equal(ls_program_create(f.device, module, NULL, &broken, &error), LS_OK);
    assert_non_null(strstr(error.message, "compile PTX of "));
    assert_non_null(strstr(error.hint, "the driver's compiler says: "));
    ls_module_destroy(&module);
    configure("late_event:30ms");
    ls_receipt r = add_once(&f, kernel, x, y);
    assert_int_equal(r.outcome, LS_SUCCEEDED);
    configure("");
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
}

/* Where a graph cannot be made or updated, the batch runs without. */
static void refused_graphs_change_nothing(void **state)
{
    (void)state;
    static const char *const settings[] = {"", "graph:1=oom", "graph_update:2=update_failure",
                                           "graph_update:1=not_supported"};
    for (size_t i = 0; i < COUNT(settings); i++) {
        fixture f = open_in_mode("graphs");
        ls_program *program =
            contract_program(&f, "kernel void plus(u32 k, u32 *y) { y[global_id(0)] += k; }\n");
        ls_buffer *y = contract_buffer_u32(&f, NULL, 64);
        ls_range range = WHOLE(y);
        uint32_t k = 0, expected = 0;
        ls_scalar_link link = {0, 0, 4};
        ls_batch *batch = NULL;
        ls_prepared *prepared = NULL;
        ls_dispatch d = LS_DISPATCH_INIT;
        d.kernel = contract_kernel(program, "plus");
        d.global_size[0] = 64;
        d.buffers = &range;
        d.buffer_count = 1;
        d.scalars = &k;
        d.scalar_bytes = sizeof k;
        d.links = &link;
        d.link_count = 1;
        OK(ls_batch_create(f.device, &batch, error));
        OK(ls_batch_dispatch(batch, &d, error));
        OK(ls_batch_dispatch(batch, &d, error));
        OK(ls_prepare(batch, &prepared, error));
        configure(settings[i]);
        for (k = 1; k < 8; k++) {
            ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
            ls_fence *fence = NULL;
            params.parameters = &k;
            params.parameter_bytes = sizeof k;
            OK(ls_submit_prepared(f.stream, prepared, &params, &fence, error));
            OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
            ls_fence_destroy(&fence);
            expected += 2 * k;
            contract_expect_u32(y, 63, expected);
        }
        configure("");
        ls_prepared_destroy(&prepared);
        ls_batch_destroy(&batch);
        ls_buffer_destroy(&y);
        ls_program_destroy(&program);
        contract_close(&f);
    }
}

/* A device whose pinned memory cannot be had is not opened, and the error says how much that is. */
static void no_staging_memory_is_an_error_with_bytes(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        char settings[32];
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        ls_device *device = NULL;
        ls_error error = {0};
        params.name = device_name;
        snprintf(settings, sizeof settings, "host_alloc:%d=oom", i);
        configure(settings);
        assert_int_equal(ls_device_open(&params, &device, &error), LS_E_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "2 x 4194304 bytes"));
        configure("");
        OK(ls_device_open(&params, &device, error));
        OK(ls_device_destroy(&device, error));
    }
}

/* A fault of the context, or a lost device: indeterminate, and the memory is never used again. Runs
 * in a process of its own, as the context is broken for good. */
static int lose_device(const char *settings)
{
    fixture f = open_in_mode("plain");
    ls_program *program = contract_program(&f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(&f, NULL, 64), *y = contract_buffer_u32(&f, NULL, 64);
    ls_receipt r = add_once(&f, contract_kernel(program, "add"), x, y);
    assert_int_equal(r.outcome, LS_SUCCEEDED);
    configure(settings);
    r = add_once(&f, contract_kernel(program, "add"), x, y);
    assert_int_equal(r.outcome, LS_INDETERMINATE);
    assert_true(ls_device_is_lost(f.device));
    ls_memory_info m = {.struct_size = sizeof m};
    ls_device_memory(f.device, &m);
    assert_true(m.quarantined_bytes >= 512);
    ls_batch *batch = NULL;
    ls_fence *none = NULL;
    OK(ls_batch_create(f.device, &batch, error));
    OK(ls_batch_fill(batch, WHOLE(x), "x", 1, NULL, error));
    NOT_SUBMITTED(LS_E_INDETERMINATE, ls_submit(f.stream, batch, NULL, &none, error));
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    OK(ls_stream_destroy(&f.stream, error));
    OK(ls_device_destroy(&f.device, error));
    return 0;
}

/* A kernel that never looks at the flag cannot be written, so the flag is not set. */
static int never_ends(void)
{
    fixture f = open_in_mode("plain");
    ls_program *program = contract_program(&f, contract_endless_text);
    ls_buffer *y = contract_buffer_u32(&f, NULL, 64);
    ls_range range = WHOLE(y);
    ls_batch *batch = NULL;
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_dispatch d = LS_DISPATCH_INIT;
    ls__cuda_test_hooks.stuck_ns = SECOND / 100;
    d.kernel = contract_kernel(program, "endless");
    d.global_size[0] = 1;
    d.buffers = &range;
    d.buffer_count = 1;
    OK(ls_batch_create(f.device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    params.time_limit_ns = SECOND / 20;
    OK(ls_submit(f.stream, batch, &params, &fence, error));
    ls_fence_wait(fence, LS_FOREVER, &r, NULL);
    assert_int_equal(r.outcome, LS_INDETERMINATE);
    assert_true(ls_device_is_lost(f.device));
    return 0;
}

static void faults_of_the_context_are_indeterminate(void **state)
{
    static const char *const settings[] = {"launch:1=illegal_address",
                                           "launch:2=launch_failed",
                                           "launch:1=ecc",
                                           "lost@2",
                                           "copy:2=lost",
                                           "stuck"};
    const char *self = *state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        char command[600];
        snprintf(command, sizeof command, "'%s' lose '%s'", self, settings[i]);
        if (system(command) != 0)
            fail_msg("with %s", settings[i]);
    }
}

/* --- the cache -------------------------------------------------------------------------------- */
static uint32_t cache_files(const char *folder, char path[512])
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".lscubin") != 0)
            continue;
        snprintf(path, 512, "%.200s/%.255s", folder, entry->d_name);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* How often the driver compiled; the counters say of each module whether it did. */
static uint64_t run_with_cache(const char *folder, bool found)
{
    fixture f = {0};
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = device_name;
    params.cache_path = folder;
    params.unprobed = true; /* one program, and one file */
    configure("");
    OK(ls_device_open(&params, &f.device, error));
    OK(ls_stream_create(f.device, &f.stream, error));
    ls_program *program = contract_program(&f, contract_add_text);
    ls_buffer *x = contract_buffer_u32(&f, NULL, 64), *y = contract_buffer_u32(&f, NULL, 64);
    ls_receipt r = add_once(&f, contract_kernel(program, "add"), x, y);
    assert_int_equal(r.outcome, LS_SUCCEEDED);
    contract_expect_u32(y, 3, 3);
    ls_device_counters(f.device, &counters);
    assert_int_equal(counters.driver_cache_hits, folder && found);
    assert_int_equal(counters.driver_cache_misses, folder && !found);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
    return count_of("jit");
}

static void a_damaged_cache_is_built_again(void **state)
{
    (void)state;
    char folder[] = "cuda-cache-XXXXXX", path[512] = "", command[600];
    assert_non_null(mkdtemp(folder));
    cuda_mode("plain");
    uint64_t compiled = run_with_cache(folder, false);
    assert_true(compiled > 0);
    assert_int_equal(run_with_cache(NULL, false), compiled);
    assert_int_equal(cache_files(folder, path), 1);
    uint64_t loaded = run_with_cache(folder, true);
    assert_true(loaded < compiled);
    for (int damage = 0; damage < 4; damage++) { /* its name, its key, the image, its end */
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, damage == 0 ? 0 : damage == 1 ? 50 : -1, damage == 2 ? SEEK_END : SEEK_SET);
        if (damage < 3) {
            int byte = fgetc(file);
            fseek(file, -1, SEEK_CUR);
            fputc(byte ^ 1, file);
        }
        fclose(file);
        if (damage == 3)
            assert_int_equal(truncate(path, 10), 0);
        assert_int_equal(run_with_cache(folder, false), compiled);
        assert_int_equal(cache_files(folder, path), 1);
        assert_int_equal(run_with_cache(folder, true), loaded);
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* --- names ------------------------------------------------------------------------------------ */
static void an_emulated_device_is_never_chosen_unasked(void **state)
{
    (void)state;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    OK(ls_device_open(&params, &device, error));
    assert_null(strstr(ls_device_name(device), "cuda"));
    OK(ls_device_destroy(&device, error));
    params.name = "cuda:emulated";
    OK(ls_device_open(&params, &device, error));
    assert_string_equal(ls_device_name(device), device_name);
    OK(ls_device_destroy(&device, error));
    params.name = "cuda:9";
    REFUSED(LS_E_NOT_FOUND, ls_device_open(&params, &device, error));
    params.name = device_name;
    params.target = "sm_75";
    OK(ls_device_open(&params, &device, error));
    OK(ls_device_destroy(&device, error));
    params.target = "sm_12";
    REFUSED(LS_E_INVALID_ARGUMENT, ls_device_open(&params, &device, error));
}

int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&configure = dlsym(library, "emulated_cuda_configure");
        *(void **)&count_of = dlsym(library, "emulated_cuda_count");
    }
    if (!configure || !count_of) {
        printf("SKIP: the emulated CUDA driver is not the one that is loaded\n");
        return 77;
    }
    if (argc == 3 && strcmp(argv[1], "lose") == 0)
        return strcmp(argv[2], "stuck") == 0 ? never_ends() : lose_device(argv[2]);
    if (argc > 1)
        batches = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_emulated_device_is_never_chosen_unasked),
        cmocka_unit_test(random_batches_match_the_model),
        cmocka_unit_test(cut_launches_are_whole),
        cmocka_unit_test(downloads_behind_a_trap_do_not_happen),
        cmocka_unit_test(transfers_behind_a_trap_do_not_happen),
        cmocka_unit_test(transfers_beside_kernels_are_in_order),
        cmocka_unit_test(grid_barriers_whole_and_split_agree),
        cmocka_unit_test(grid_barriers_run_in_graphs),
        cmocka_unit_test(both_forms_must_compile),
        cmocka_unit_test(what_is_done_is_counted),
        cmocka_unit_test(refusals_fail_and_the_device_goes_on),
        cmocka_unit_test(refused_graphs_change_nothing),
        cmocka_unit_test(a_damaged_cache_is_built_again),
        cmocka_unit_test(no_staging_memory_is_an_error_with_bytes),
        cmocka_unit_test_prestate(faults_of_the_context_are_indeterminate, argv[0]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
