/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot work, on the emulated driver: kernels beyond a limit of the device, each in a process
 * of its own with a device that is made less; calls that the driver refuses in the midst of a job,
 * one after the other.
 */
#include <dlfcn.h>

#include "../contract/contract.h"
#include "device/cuda/device.h"
#include "modes.h"

static const char device_name[] = "cuda:0";
static const char variable[] = "LOCKSTEP_EMULATED_CUDA";

static void (*configure)(const char *settings);
static uint64_t (*count_of)(const char *what);

/* --- limits ----------------------------------------------------------------------------------- */
static const char uniform_text[] = "kernel workgroup(64, 1, 1) void big(u32 *y)\n"
                                   "{\n"
                                   "    shared u32 s[SIZE];\n"
                                   "    u32 i = global_id(0);\n"
                                   "    s[local_id(0)] = i;\n"
                                   "    barrier();\n"
                                   "    y[i] = workgroup_uniform(s[63 - local_id(0)]);\n"
                                   "}\n";
static const char lanes_text[] = "kernel workgroup(SIZE, 1, 1) void big(u32 *y)\n"
                                 "{\n"
                                 "    y[global_id(0)] = 1;\n"
                                 "}\n";

static const struct limit {
    const char *settings, *text;
    unsigned size;
    ls_status status;
    const char *message, *where;
} limits[] = {
    {"block_threads=512", lanes_text, 1024, LS_E_UNSUPPORTED,
     "kernel 'big' needs 1024 lanes in a workgroup, device 'cuda:0' has 512: 512 too few", ""},
    {"kernel_threads=96", lanes_text, 128, LS_E_LIMIT,
     "a workgroup needs 128 threads, the device has 96: 32 too few", "kernel 'big'"},
    {"block_registers=1K", lanes_text, 128, LS_E_LIMIT,
     "a workgroup needs 2048 registers, the device has 1024: 1024 too few", "kernel 'big'"},
    {"block_shared=4K", uniform_text, 1025, LS_E_UNSUPPORTED,
     "kernel 'big' needs 4100 bytes of shared memory, device 'cuda:0' has 4096: 4 too few", ""},
    /* what is exchanged between lanes takes some, too */
    {"block_shared=4K", uniform_text, 1024, LS_E_LIMIT,
     "a workgroup needs 4112 bytes of shared memory, the device has 4096: 16 too few",
     "kernel 'big'"},
    {"", uniform_text, 12288, LS_E_LIMIT,
     "kernel 'big' needs 49160 bytes of shared memory, PTX allows 49152: 8 too few", ""},
};

static ls_status build(const fixture *f, const struct limit *limit, ls_program **program,
                       ls_error *error)
{
    char text[600];
    const char *size = strstr(limit->text, "SIZE");
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    ls_module *module = NULL;
    snprintf(text, sizeof text, "%.*s%u%s", (int)(size - limit->text), limit->text, limit->size,
             size + strlen("SIZE"));
    params.text = text;
    params.length = strlen(text);
    assert_int_equal(ls_module_compile(&params, &module, NULL, error), LS_OK);
    ls_status status = ls_program_create(f->device, module, NULL, program, error);
    ls_module_destroy(&module);
    return status;
}

static void a_broken_limit_is_named_with_numbers(void **state)
{
    const struct limit *limit = *state;
    fixture f = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_program *program = NULL;
    ls_error error = {0};
    params.name = device_name;
    params.unprobed = true; /* its own kernels are larger */
    if (ls_device_open(&params, &f.device, &error) != LS_OK)
        fail_msg("%s", error.message);
    assert_int_equal(build(&f, limit, &program, &error), limit->status);
    assert_string_equal(error.message, limit->message);
    assert_string_equal(error.where, limit->where);
    assert_null(program);
    OK(ls_device_destroy(&f.device, error));
}

/* Grids of no more than three workgroups in any direction: no launch is too large. */
static void grids_are_cut(void **state)
{
    (void)state;
    static const char text[] =
        "kernel workgroup(2, 1, 1) void count(u32 *y)\n"
        "{\n"
        "    u32 i = (global_id(2) * 7 + global_id(1)) * 10 + global_id(0);\n"
        "    y[i] = i + (u32)workgroup_count(0) * 1000;\n"
        "}\n";
    fixture f = contract_open(device_name, NULL, 0);
    ls_program *program = contract_program(&f, text);
    ls_buffer *y = contract_buffer_u32(&f, NULL, 10 * 7 * 5);
    ls_range range = WHOLE(y);
    ls_batch *batch = NULL;
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(program, "count");
    d.global_size[0] = 10;
    d.global_size[1] = 7;
    d.global_size[2] = 5;
    d.buffers = &range;
    d.buffer_count = 1;
    OK(ls_batch_create(f.device, &batch, error));
    OK(ls_batch_dispatch(batch, &d, error));
    uint64_t before = count_of("launch");
    contract_run(&f, batch);
    assert_int_equal(count_of("launch") - before, 2 * 7 * 5); /* rows are cut */
    for (uint32_t i = 0; i < 10 * 7 * 5; i++)
        contract_expect_u32(y, i, i + 5000);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    contract_close(&f);
}

static void run_self(const char *self, const char *settings, const char *what)
{
    char command[600];
    snprintf(command, sizeof command, "%s='%s' '%s' '%s'", variable, settings, self, what);
    if (system(command) != 0)
        fail_msg("with %s", settings);
}

static void limits_are_told(void **state)
{
    for (size_t i = 0; i < COUNT(limits); i++) {
        char what[16];
        snprintf(what, sizeof what, "%zu", i);
        run_self(*state, limits[i].settings, what);
    }
}

static void no_launch_is_too_large(void **state)
{
    run_self(*state, "grid=3", "grids");
}

/* --- refusals in the midst of a job ----------------------------------------------------------- */
enum { LENGTH = 64 };
typedef struct job {
    fixture f;
    ls_program *program;
    ls_buffer *x, *y, *sizes;
    uint32_t in[LENGTH], out[LENGTH];
    ls_batch *batch;
} job;

/* Every kind of step: up, a launch, one whose size is on the device, a copy, a fill, down. */
static void job_open(job *j, const char *mode)
{
    const uint32_t size[3] = {LENGTH, 1, 1};
    assert_true(cuda_mode(mode));
    j->f = contract_open(device_name, NULL, 0);
    j->program = contract_program(&j->f, contract_add_text);
    j->x = contract_buffer_u32(&j->f, NULL, LENGTH);
    j->y = contract_buffer_u32(&j->f, NULL, LENGTH);
    j->sizes = contract_buffer_u32(&j->f, size, 3);
    for (uint32_t i = 0; i < LENGTH; i++)
        j->in[i] = i;
    ls_range ranges[2] = {WHOLE(j->x), WHOLE(j->y)};
    const uint32_t scalars[2] = {LENGTH, 4};
    ls_dispatch d = LS_DISPATCH_INIT;
    d.kernel = contract_kernel(j->program, "add");
    d.buffers = ranges;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    OK(ls_batch_create(j->f.device, &j->batch, error));
    OK(ls_batch_upload(j->batch, WHOLE(j->x), LS_MEM_U32, j->in, NULL, error));
    OK(contract_record_add(j->batch, d.kernel, j->x, j->y, LENGTH, 3, error));
    OK(ls_batch_copy(j->batch, WHOLE(j->x), WHOLE(j->y), NULL, error));
    OK(ls_batch_dispatch_indirect(j->batch, &d, WHOLE(j->sizes), size, error));
    OK(ls_batch_fill(j->batch, WHOLE(j->x), "\1\2", 2, NULL, error));
    OK(ls_batch_download(j->batch, WHOLE(j->y), LS_MEM_U32, j->out, NULL, error));
}

static void job_close(job *j)
{
    ls_batch_destroy(&j->batch);
    ls_buffer_destroy(&j->x);
    ls_buffer_destroy(&j->y);
    ls_buffer_destroy(&j->sizes);
    ls_program_destroy(&j->program);
    contract_close(&j->f);
}

static ls_receipt job_run(job *j, bool timing)
{
    ls_receipt r = {.struct_size = sizeof r};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    params.timing = timing;
    memset(j->out, 0xff, sizeof j->out);
    OK(ls_submit(j->f.stream, j->batch, &params, &fence, error));
    ls_fence_wait(fence, LS_FOREVER, &r, NULL);
    ls_fence_destroy(&fence);
    return r;
}

static void expect_result(const job *j)
{
    for (uint32_t i = 0; i < LENGTH; i++)
        assert_int_equal(j->out[i], i + 7);
}

/* Whatever is refused, the job has failed, and the next one runs. Returns false where the job makes
 * no n-th call of this kind. */
static bool refuse(job *j, const char *what, unsigned n, const char *fault, ls_status cause)
{
    char settings[64];
    snprintf(settings, sizeof settings, "%s:%u=%s", what, n, fault);
    configure(settings);
    ls_receipt r = job_run(j, strcmp(what, "event") == 0);
    bool reached = count_of(what) >= n;
    configure("");
    if (!reached) {
        assert_int_equal(r.outcome, LS_SUCCEEDED);
        expect_result(j);
        return false;
    }
    if (r.outcome != LS_FAILED_QUIESCENT)
        fail_msg("%s: outcome %d, %s", settings, (int)r.outcome, r.error.message);
    assert_int_equal(r.error.cause, cause);
    if (strcmp(what, "copy") == 0 && !strstr(r.error.message, "start a job") &&
        !strstr(r.error.message, "run commands"))
        assert_non_null(strstr(r.error.message, " bytes: "));
    assert_false(ls_device_is_lost(j->f.device));
    OK(ls_stream_destroy(&j->f.stream, error)); /* it has failed */
    OK(ls_stream_create(j->f.device, &j->f.stream, error));
    r = job_run(j, false);
    assert_int_equal(r.outcome, LS_SUCCEEDED);
    expect_result(j);
    return true;
}

static void refused_steps_fail_the_job_only(void **state)
{
    (void)state;
    static const char *const modes[] = {"plain", "cut", "beside"};
    static const struct {
        const char *what;
        unsigned least; /* so many calls there are at least */
    } kinds[] = {{"copy", 6}, {"set", 1}, {"launch", 2}, {"event", 2}};
    for (size_t m = 0; m < COUNT(modes); m++) {
        job j = {0};
        job_open(&j, modes[m]);
        for (size_t k = 0; k < COUNT(kinds); k++) {
            unsigned n = 1;
            while (refuse(&j, kinds[k].what, n, "invalid_value", LS_E_INTERNAL) &&
                   refuse(&j, kinds[k].what, n, "oom", LS_E_OUT_OF_MEMORY))
                n++;
            if (n <= kinds[k].least)
                fail_msg("%s: only %u calls to %s", modes[m], n - 1, kinds[k].what);
        }
        job_close(&j);
    }
    cuda_mode("plain");
}

/* Behind a graph that has been launched, how it ended cannot be asked for: it has failed. */
static void a_graph_whose_end_is_refused_has_failed(void **state)
{
    (void)state;
    job j = {0};
    ls_prepared *prepared = NULL;
    ls_fence *fence = NULL;
    ls_receipt r = {.struct_size = sizeof r};
    job_open(&j, "graphs");
    ls_batch_destroy(&j.batch);
    OK(ls_batch_create(j.f.device, &j.batch, error));
    OK(contract_record_add(j.batch, contract_kernel(j.program, "add"), j.x, j.y, LENGTH, 3, error));
    OK(ls_prepare(j.batch, &prepared, error));
    for (int start = 0; start < 4; start++) {
        configure(start == 2 ? "copy:2=invalid_value" : "");
        OK(ls_submit_prepared(j.f.stream, prepared, NULL, &fence, error));
        ls_fence_wait(fence, LS_FOREVER, &r, NULL);
        ls_fence_destroy(&fence);
        assert_int_equal(r.outcome, start == 2 ? LS_FAILED_QUIESCENT : LS_SUCCEEDED);
        if (start == 2) {
            OK(ls_stream_destroy(&j.f.stream, error));
            OK(ls_stream_create(j.f.device, &j.f.stream, error));
        }
    }
    contract_expect_u32(j.y, 0, 3);
    ls_prepared_destroy(&prepared);
    job_close(&j);
    cuda_mode("plain");
}

/* --- refusals outside of jobs ----------------------------------------------------------------- */
static void refused_memory_is_told_in_bytes(void **state)
{
    (void)state;
    fixture f = contract_open(device_name, NULL, 0);
    ls_buffer *x = contract_buffer_u32(&f, NULL, LENGTH);
    static const char *const settings[] = {"copy:1=oom", "sync:1=oom"};
    uint32_t bytes[LENGTH] = {0};
    for (size_t i = 0; i < COUNT(settings); i++) {
        ls_error error = {0};
        configure(settings[i]);
        assert_int_equal(ls_buffer_read(x, 0, LS_MEM_U32, bytes, sizeof bytes, &error),
                         LS_E_OUT_OF_MEMORY);
        if (!strstr(error.message, "read memory of 256 bytes: "))
            fail_msg("%s", error.message);
        configure(settings[i]);
        assert_int_equal(ls_buffer_write(x, 0, LS_MEM_U32, bytes, sizeof bytes, &error),
                         LS_E_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "write memory of 256 bytes: "));
    }
    ls_error error = {0};
    ls_program *program = NULL;
    configure("jit:1=oom");
    assert_int_equal(build(&f, &(struct limit){.text = lanes_text, .size = 32}, &program, &error),
                     LS_E_OUT_OF_MEMORY);
    assert_non_null(strstr(error.message, "compile PTX of "));
    assert_non_null(strstr(error.message, " bytes: "));
    configure("");
    ls_buffer_destroy(&x);
    contract_close(&f);
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
    if (argc == 2) {
        bool grids = strcmp(argv[1], "grids") == 0;
        const struct limit *limit = &limits[strtoul(argv[1], NULL, 10) % COUNT(limits)];
        const struct CMUnitTest one[] = {
            grids ? (struct CMUnitTest)cmocka_unit_test(grids_are_cut)
                  : (struct CMUnitTest)cmocka_unit_test_prestate(
                        a_broken_limit_is_named_with_numbers, (void *)(uintptr_t)limit)};
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(limits_are_told, argv[0]),
        cmocka_unit_test_prestate(no_launch_is_too_large, argv[0]),
        cmocka_unit_test(refused_steps_fail_the_job_only),
        cmocka_unit_test(a_graph_whose_end_is_refused_has_failed),
        cmocka_unit_test(refused_memory_is_told_in_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
