/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one device is, in three numbers and one to hold them against: a copy within the device,
 * saxpy and the product of a matrix of bytes with a vector (examples/kernels), all in GB/s of what
 * must move, and an empty prepared dispatch from the submission to the end of the wait. Each is the
 * median of its runs. Lines are
 *
 *     NAME VALUE UNIT CLOCK
 *
 * CLOCK says whose: the device's where it measures, else the host's, which counts the submission
 * in.
 *
 * usage: device_bench DEVICE KERNELS MEGABYTES RUNS
 */
#include <lockstep/launch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_BUFFERS = 3, ROUNDS = 8, DISPATCHES = 1000 };

typedef struct bench {
    ls_device *device;
    ls_stream *stream;
    uint64_t bytes; /* of a large buffer */
    unsigned runs;
} bench;

typedef struct timed { /* one measured submission */
    double seconds;
    bool by_device;
} timed;

static void need(ls_status status, const ls_error *error, const char *what)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "%s: %s: %s %s\n", what, ls_status_name(status), error->message, error->hint);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ls_buffer *make_buffer(const bench *b, ls_mem element, uint64_t bytes)
{
    ls_error error = {0};
    ls_buffer *buffer = NULL;
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = bytes;
    params.element = element;
    need(ls_buffer_create(b->device, &params, &buffer, &error), &error, "memory");
    return buffer;
}

/* Something other than zeros, which some memories move faster. */
static void fill(const bench *b, ls_buffer *buffer, ls_mem element, uint64_t bytes)
{
    ls_error error = {0};
    uint32_t *words = malloc(bytes);
    if (!words) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (uint64_t i = 0; i < bytes / 4; i++) /* finite floats between 1 and 2 */
        words[i] = 0x3f800000u | ((uint32_t)i * 2654435761u >> 9);
    need(ls_buffer_write(buffer, 0, element, words, bytes, &error), &error, "writing");
    free(words);
    (void)b;
}

static timed submit(const bench *b, const ls_prepared *prepared, bool timing)
{
    ls_error error = {0};
    ls_fence *fence = NULL;
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    params.timing = timing;
    double start = now();
    need(ls_submit_prepared(b->stream, prepared, &params, &fence, &error), &error, "submitting");
    need(ls_fence_wait(fence, LS_FOREVER, &receipt, &error), &error, "running");
    timed result = {now() - start, false};
    if (receipt.timing.state == LS_TIMING_MEASURED && receipt.timing.device_ns) {
        result.seconds = 1e-9 * (double)receipt.timing.device_ns;
        result.by_device = true;
    }
    ls_fence_destroy(&fence);
    return result;
}

/* The batch is done with. */
static timed measure(const bench *b, ls_batch *batch, unsigned runs, bool timing)
{
    ls_error error = {0};
    ls_prepared *prepared = NULL;
    double *seconds = calloc(runs, sizeof *seconds);
    timed last = {0};
    need(ls_prepare(batch, &prepared, &error), &error, "preparing");
    ls_batch_destroy(&batch);
    submit(b, prepared, timing);
    for (unsigned r = 0; r < runs && seconds; r++) {
        last = submit(b, prepared, timing);
        seconds[r] = last.seconds;
    }
    if (seconds) {
        qsort(seconds, runs, sizeof *seconds, compare);
        last.seconds = seconds[runs / 2];
    }
    free(seconds);
    ls_prepared_destroy(&prepared);
    return last;
}

static void print(const char *name, double value, const char *unit, bool by_device)
{
    printf("%s %.6g %s %s\n", name, value, unit, by_device ? "device" : "host");
    fflush(stdout);
}

static ls_batch *begin(const bench *b, uint32_t rounds)
{
    ls_error error = {0};
    ls_batch *batch = NULL;
    need(ls_batch_create(b->device, &batch, &error), &error, "a batch");
    need(ls_batch_repeat_begin(batch, rounds, 0, &error), &error, "a batch");
    return batch;
}

static ls_program *build(const bench *b, const char *folder, const char *name, const char *text,
                         const ls_kernel **kernel)
{
    static char source[1 << 16];
    char path[1024];
    ls_error error = {0};
    ls_module *module = NULL;
    ls_program *program = NULL;
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    snprintf(path, sizeof path, "%s/%s.kc", folder, name);
    FILE *file = text ? NULL : fopen(path, "rb");
    params.text = text ? text : source;
    params.length = text ? strlen(text) : file ? fread(source, 1, sizeof source, file) : 0;
    if (file)
        fclose(file);
    if (!params.length) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    need(ls_module_compile(&params, &module, NULL, &error), &error, name);
    need(ls_program_create(b->device, module, NULL, &program, &error), &error, name);
    need(ls_program_kernel(program, name, kernel, &error), &error, name);
    ls_module_destroy(&module);
    return program;
}

static timed run_kernel(const bench *b, const ls_kernel *kernel, uint32_t lanes, uint32_t rounds,
                        ls_buffer *const *buffers, uint32_t count, const void *scalars,
                        uint32_t scalar_bytes, unsigned runs, bool timing)
{
    ls_error error = {0};
    ls_range ranges[MAX_BUFFERS];
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    ls_batch *batch = begin(b, rounds);
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = (ls_range){buffers[i], 0, LS_WHOLE};
    dispatch.kernel = kernel;
    dispatch.global_size[0] = lanes;
    dispatch.buffers = ranges;
    dispatch.buffer_count = count;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = scalar_bytes;
    need(ls_batch_dispatch(batch, &dispatch, &error), &error, "a dispatch");
    need(ls_batch_repeat_end(batch, &error), &error, "a batch");
    timed result = measure(b, batch, runs, timing);
    result.seconds /= rounds;
    return result;
}

static void print_copy(const bench *b)
{
    ls_error error = {0};
    ls_buffer *from = make_buffer(b, LS_MEM_NONE, b->bytes);
    ls_buffer *to = make_buffer(b, LS_MEM_NONE, b->bytes);
    fill(b, from, LS_MEM_NONE, b->bytes);
    ls_batch *batch = begin(b, ROUNDS);
    need(ls_batch_copy(batch, (ls_range){to, 0, LS_WHOLE}, (ls_range){from, 0, LS_WHOLE}, NULL,
                       &error),
         &error, "a copy");
    need(ls_batch_repeat_end(batch, &error), &error, "a batch");
    timed result = measure(b, batch, b->runs, true);
    print("copy", 2e-9 * (double)b->bytes * ROUNDS / result.seconds, "GB/s", result.by_device);
    ls_buffer_destroy(&from);
    ls_buffer_destroy(&to);
}

static void print_saxpy(const bench *b, const char *kernels)
{
    const ls_kernel *kernel;
    ls_program *program = build(b, kernels, "saxpy", NULL, &kernel);
    ls_buffer *buffers[2];
    const struct {
        uint32_t n;
        float a;
    } scalars = {(uint32_t)(b->bytes / 4), 0x1p-20f};
    for (int i = 0; i < 2; i++) {
        buffers[i] = make_buffer(b, LS_MEM_F32, b->bytes);
        fill(b, buffers[i], LS_MEM_F32, b->bytes);
    }
    timed result = run_kernel(b, kernel, scalars.n, ROUNDS, buffers, 2, &scalars, sizeof scalars,
                              b->runs, true);
    print("saxpy", 3e-9 * (double)b->bytes / result.seconds, "GB/s", result.by_device);
    ls_buffer_destroy(&buffers[0]);
    ls_buffer_destroy(&buffers[1]);
    ls_program_destroy(&program);
}

static void print_gemv(const bench *b, const char *kernels)
{
    enum { WORDS = 1024 }; /* 4,096 columns */
    const ls_kernel *kernel;
    ls_program *program = build(b, kernels, "gemv_int8", NULL, &kernel);
    const uint32_t scalars[] = {(uint32_t)(b->bytes / (4 * WORDS)), WORDS};
    ls_buffer *buffers[] = {make_buffer(b, LS_MEM_U32, b->bytes),
                            make_buffer(b, LS_MEM_U32, 4 * WORDS),
                            make_buffer(b, LS_MEM_I32, 4 * (uint64_t)scalars[0])};
    fill(b, buffers[0], LS_MEM_U32, b->bytes);
    fill(b, buffers[1], LS_MEM_U32, 4 * WORDS);
    timed result = run_kernel(b, kernel, scalars[0] * 32, ROUNDS, buffers, 3, scalars,
                              sizeof scalars, b->runs, true);
    print("gemv_int8", 1e-9 * (double)b->bytes / result.seconds, "GB/s", result.by_device);
    for (int i = 0; i < 3; i++)
        ls_buffer_destroy(&buffers[i]);
    ls_program_destroy(&program);
}

/* The host's time by intent: it is what a caller waits. */
static void print_dispatch(const bench *b)
{
    const ls_kernel *kernel;
    ls_program *program = build(b, "", "empty", "kernel void empty() { }", &kernel);
    timed result = run_kernel(b, kernel, 1, 1, NULL, 0, NULL, 0, DISPATCHES, false);
    print("dispatch", 1e6 * result.seconds, "us", false);
    ls_program_destroy(&program);
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    bench b = {0};
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    if (argc != 5) {
        fprintf(stderr, "usage: device_bench DEVICE KERNELS MEGABYTES RUNS\n");
        return 2;
    }
    params.name = argv[1];
    b.bytes = strtoull(argv[3], NULL, 10) << 20;
    b.runs = (unsigned)strtoul(argv[4], NULL, 10);
    if (!b.bytes || b.bytes > UINT64_C(8) << 30 || !b.runs) {
        fprintf(stderr, "device_bench: 1 to 8192 megabytes, 1 run or more\n");
        return 2;
    }
    need(ls_device_open(&params, &b.device, &error), &error, argv[1]);
    need(ls_stream_create(b.device, &b.stream, &error), &error, argv[1]);
    print_dispatch(&b);
    print_copy(&b);
    print_saxpy(&b, argv[2]);
    print_gemv(&b, argv[2]);
    need(ls_stream_destroy(&b.stream, &error), &error, argv[1]);
    need(ls_device_destroy(&b.device, &error), &error, argv[1]);
    return 0;
}
