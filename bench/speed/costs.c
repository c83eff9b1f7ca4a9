/* SPDX-License-Identifier: Apache-2.0 */
/* What is not a ratio to somebody else: compile times, the cost of the one NaN, dispatches. */
#include "speed.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- compile times ---------------------------------------------------------------------------- */

static unsigned lines_of(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Text to program on a device that has just been opened; `front_end` (optional) gets the part of it
 * from text to IR. With a cache the bring-up probe is left out: it would be measured instead. */
static double build_seconds(const char *name, uint32_t threads, const char *cache, const char *text,
                            const char *path, double *front_end)
{
    ls_error error = {0};
    ls_program *program = NULL;
    ls_device *device = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = name;
    params.threads = threads;
    params.cache_path = cache;
    params.unprobed = cache != NULL;
    need(ls_device_open(&params, &device, &error), &error, name);
    double start = seconds_now();
    ls_module *module = compile_text(text, path);
    if (front_end)
        *front_end = seconds_now() - start;
    need(ls_program_create(device, module, NULL, &program, &error), &error, path);
    double seconds = seconds_now() - start;
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    need(ls_device_destroy(&device, &error), &error, "closing the device");
    return seconds;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0); /* fails for "." and "..", as it should */
    if (dir)
        closedir(dir);
    rmdir(folder);
}

void print_compile_times(const char *device, uint32_t threads, const char *kernels)
{
    const char *small = "kernel void one(u32 *x) { x[global_id(0)] = 1; }";
    printf("the first program of a process, one line: %.1f ms (loads and probes the compiler)\n\n",
           1e3 * build_seconds(device, threads, NULL, small, "one.kc", NULL));
    const char *temporary = getenv("TMPDIR");
    char cache[4096];
    snprintf(cache, sizeof cache, "%s/lockstep-speed-XXXXXX", temporary ? temporary : P_tmpdir);
    if (!mkdtemp(cache)) {
        fprintf(stderr, "speed: cannot make a folder for the code cache\n");
        exit(1);
    }
    printf("%-13s %6s  %12s  %8s  %8s\n", "compile, ms", "lines", "front end", "cold", "warm");
    const char *before = "";
    for (unsigned k = 0; k < problem_kind_count; k++) {
        const char *kernel = problem_kinds[k].kernel;
        if (strcmp(kernel, before) == 0)
            continue;
        before = kernel;
        char *path = path_of(kernels, kernel, ".kc");
        char *text = read_text(path);
        if (!text) {
            fprintf(stderr, "speed: cannot read %s\n", path);
            exit(1);
        }
        double front_end;
        double cold = build_seconds(device, threads, cache, text, path, &front_end);
        double warm = build_seconds(device, threads, cache, text, path, NULL);
        printf("%-13s %6u  %12.2f  %8.1f  %8.2f\n", kernel, lines_of(text), 1e3 * front_end,
               1e3 * cold, 1e3 * warm);
        free(text);
        free(path);
    }
    remove_folder(cache);
    printf("\n");
}

/* --- small kernels ---------------------------------------------------------------------------- */

/* A kernel with the parameters (u32 n, const T *x, T *y), or none. */
typedef struct probe {
    ls_module *module;
    ls_program *program;
    ls_stream *stream;
    ls_buffer *buffers[2];
    ls_prepared *prepared;
} probe;

static probe probe_create(ls_device *device, const char *text, const char *name, uint32_t lanes,
                          uint64_t bytes, uint32_t rounds)
{
    probe result = {0};
    ls_error error = {0};
    const ls_kernel *kernel = NULL;
    ls_batch *batch = NULL;
    result.module = compile_text(text, name);
    need(ls_program_create(device, result.module, NULL, &result.program, &error), &error, name);
    need(ls_program_kernel(result.program, name, &kernel, &error), &error, name);
    need(ls_stream_create(device, &result.stream, &error), &error, name);
    ls_range ranges[2];
    uint32_t buffer_count = bytes ? 2 : 0, n = lanes;
    for (uint32_t i = 0; i < buffer_count; i++) {
        ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
        params.size_bytes = bytes;
        need(ls_buffer_create(device, &params, &result.buffers[i], &error), &error, name);
        ranges[i] = (ls_range){result.buffers[i], 0, LS_WHOLE};
    }
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    dispatch.global_size[0] = lanes;
    dispatch.buffers = ranges;
    dispatch.buffer_count = buffer_count;
    dispatch.scalars = &n;
    dispatch.scalar_bytes = bytes ? sizeof n : 0;
    need(ls_batch_create(device, &batch, &error), &error, name);
    need(ls_batch_repeat_begin(batch, rounds, 0, &error), &error, name);
    need(ls_batch_dispatch(batch, &dispatch, &error), &error, name);
    need(ls_batch_repeat_end(batch, &error), &error, name);
    need(ls_prepare(batch, &result.prepared, &error), &error, name);
    ls_batch_destroy(&batch);
    return result;
}

static double probe_run(probe *p)
{
    ls_error error = {0};
    ls_fence *fence = NULL;
    double start = seconds_now();
    need(ls_submit_prepared(p->stream, p->prepared, NULL, &fence, &error), &error, "submit");
    need(ls_fence_wait(fence, LS_FOREVER, NULL, &error), &error, "wait");
    double seconds = seconds_now() - start;
    ls_fence_destroy(&fence);
    return seconds;
}

static void probe_destroy(probe *p)
{
    ls_error error = {0};
    ls_prepared_destroy(&p->prepared);
    ls_buffer_destroy(&p->buffers[0]);
    ls_buffer_destroy(&p->buffers[1]);
    ls_program_destroy(&p->program);
    ls_module_destroy(&p->module);
    need(ls_stream_destroy(&p->stream, &error), &error, "closing the stream");
}

/* Copying floats, each of which may be a NaN, against copying the same bytes as integers. */
void print_nan_cost(const char *name, uint32_t threads, unsigned runs)
{
    static const struct {
        uint32_t elements, rounds;
        const char *where;
    } sizes[] = {{64 << 10, 100, "in the cache (512 KiB)"}, {8 << 20, 1, "in memory (64 MiB)"}};
    ls_device *device = open_device(name, threads);
    printf("\nthe one NaN: y[i] = x[i] for f32, against the same for u32\n");
    for (unsigned s = 0; s < 2; s++) {
        double *times[2], seconds[2];
        probe probes[2];
        for (int i = 0; i < 2; i++) {
            char text[160];
            const char *type = i ? "f32" : "u32";
            snprintf(text, sizeof text, "kernel void copy(u32 n, const %s *x, %s *y)\n"
                     "{ u32 i = global_id(0); if (i < n) y[i] = x[i]; }\n", type, type);
            probes[i] = probe_create(device, text, "copy", sizes[s].elements,
                                     4 * (uint64_t)sizes[s].elements, sizes[s].rounds);
            times[i] = allocate(runs * sizeof(double));
            probe_run(&probes[i]);
        }
        for (unsigned r = 0; r < runs; r++) {
            for (int i = 0; i < 2; i++)
                times[i][r] = probe_run(&probes[i]);
        }
        for (int i = 0; i < 2; i++) {
            seconds[i] = median(times[i], runs);
            free(times[i]);
            probe_destroy(&probes[i]);
        }
        printf("  %-24s u32 %7.2f GB/s, f32 %7.2f GB/s: %+.0f %% time\n", sizes[s].where,
               8e-9 * sizes[s].elements * sizes[s].rounds / seconds[0],
               8e-9 * sizes[s].elements * sizes[s].rounds / seconds[1],
               100 * (seconds[1] / seconds[0] - 1));
    }
    ls_error error = {0};
    need(ls_device_destroy(&device, &error), &error, "closing the device");
}

/* --- dispatches ------------------------------------------------------------------------------- */

/* Seconds of a round, by the median of the runs. */
static double round_seconds(const char *name, uint32_t threads, const char *text,
                            const char *kernel, uint32_t lanes, uint32_t rounds, unsigned runs)
{
    ls_error error = {0};
    ls_device *device = open_device(name, threads);
    uint64_t bytes = strcmp(kernel, "empty") == 0 ? 0 : 4 * (uint64_t)lanes;
    probe p = probe_create(device, text, kernel, lanes, bytes, rounds);
    double *times = allocate(runs * sizeof *times);
    probe_run(&p);
    for (unsigned r = 0; r < runs; r++)
        times[r] = probe_run(&p);
    double seconds = median(times, runs) / rounds;
    free(times);
    probe_destroy(&p);
    need(ls_device_destroy(&device, &error), &error, "closing the device");
    return seconds;
}

/* A process that keeps the last core busy, until it is killed. */
static pid_t hold_core(void)
{
    cpu_set_t set;
    size_t last = 0;
    fflush(stdout);
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    sched_getaffinity(0, sizeof set, &set);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        last = CPU_ISSET(i, &set) ? i : last;
    CPU_ZERO(&set);
    CPU_SET(last, &set);
    sched_setaffinity(0, sizeof set, &set);
    while (getppid() == parent)
        ;
    _exit(0);
}

static void print_batches(const char *name, unsigned runs, const char *when)
{
    enum { LANES = 64 * 64, EMPTY = 2000, SMALL = 200 };
    static const uint32_t threads[] = {1, 2, 7};
    static const char empty[] = "kernel void empty() { }";
    static const char small[] = "kernel void small(u32 n, const u32 *x, u32 *y)\n"
                                "{ u32 i = global_id(0), a = x[i];\n"
                                "for (u32 k = 0; k < 100; k++) a = a * 1664525 + 1013904223;\n"
                                "y[i] = a; }\n";
    for (unsigned t = 0; t < sizeof threads / sizeof *threads; t++) {
        double e = round_seconds(name, threads[t], empty, "empty", LANES, EMPTY, 5 * runs);
        double s = round_seconds(name, threads[t], small, "small", LANES, SMALL, 5 * runs);
        printf("  64 workgroups, threads: %u, %-22s %9.2f  %9.2f\n", threads[t], when, 1e6 * e,
               1e6 * s);
    }
}

/* What a device does when it has nothing to do: a second of it, from a millisecond after its last
 * work. */
static void print_idle(const char *name)
{
    ls_error error = {0};
    struct rusage before, after;
    ls_device *device = open_device(name, 2);
    probe p = probe_create(device, "kernel void empty() { }", "empty", 64 * 64, 0, 1);
    for (int i = 0; i < 1000; i++)
        probe_run(&p);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    getrusage(RUSAGE_SELF, &before);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    getrusage(RUSAGE_SELF, &after);
    double used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                  (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                  1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                  1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    printf("  an idle second, from 1 ms after the last work: %.2f ms of processor time, %ld "
           "voluntary switches (one is the benchmark's)\n",
           1e3 * used, after.ru_nvcsw - before.ru_nvcsw);
    probe_destroy(&p);
    need(ls_device_destroy(&device, &error), &error, "closing the device");
}

void print_dispatch_costs(const char *name, unsigned runs)
{
    static const char empty[] = "kernel void empty() { }";
    printf("\ndispatches, microseconds\n");
    printf("  one workgroup, empty, prepared, submitted and waited for: %6.2f\n",
           1e6 * round_seconds(name, 1, empty, "empty", 1, 1, 100 * runs));
    printf("  one workgroup, empty, inside a batch, each:               %6.2f\n",
           1e6 * round_seconds(name, 1, empty, "empty", 1, 2000, 20 * runs));
    printf("  inside a batch, each:                                %9s  %9s\n", "empty", "small");
    print_batches(name, runs, "");
    pid_t child = hold_core();
    if (child > 0) {
        print_batches(name, runs, "one core held:");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    print_idle(name);
}
