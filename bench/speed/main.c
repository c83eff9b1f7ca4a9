/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed benchmark: one table of ratios, ours against the same loops in C and the same kernels
 * on PoCL. docs/benchmarks.md explains the table.
 *
 * Contenders take turns within a row, so that a machine that slows down slows all of them, and the
 * median of several turns is shown. Results are compared before they are timed.
 */
#include "speed.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOOP, POCL, CHECKED, UNCHECKED, CONTENDERS, MAX_RUNS = 101 };
enum { HUGE_PAGE = 1 << 21 };
enum { READ = CONTENDERS }; /* not a contender: reading the first buffer */

typedef struct settings {
    const char *device, *kernels, *sources, *library;
    uint32_t threads;
    unsigned runs;
    bool pocl, have_opencl, table, costs;
} settings;

/* Sums of logarithms of ratios, for the geometric means. */
typedef struct means {
    double log_sum[CONTENDERS][CONTENDERS]; /* [base][ours] */
    unsigned count[CONTENDERS][CONTENDERS];
} means;

typedef struct row {
    native *loop;
    opencl *pocl; /* NULL = left out */
    ours *checked, *unchecked;
} row;

void *allocate(size_t bytes)
{
    size_t page = bytes < HUGE_PAGE ? 64 : HUGE_PAGE;
    size_t rounded = (bytes + 64 + page - 1) / page * page;
    void *memory = aligned_alloc(page, rounded);
    if (!memory) {
        fprintf(stderr, "speed: out of memory\n");
        exit(1);
    }
    if (page == HUGE_PAGE) /* what the library does with buffers */
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    return memset(memory, 0, rounded);
}

static bool use_cpu_time;

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(use_cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    if (use_cpu_time)
        return values[0];
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        text = size < 0 ? NULL : calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

char *path_of(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = allocate(size);
    snprintf(path, size, "%s/%s%s", folder, name, ending);
    return path;
}

static double run(row *r, int contender)
{
    switch (contender) {
    case LOOP:
        return native_run(r->loop);
    case POCL:
        return opencl_run(r->pocl);
    case CHECKED:
        return ours_run(r->checked);
    default:
        return ours_run(r->unchecked);
    }
}

/* Takes its turns like the contenders, as far as the row wants to know. */
static double run_read(const problem *p)
{
    double start = seconds_now();
    (void)native_read(p->buffers[0].initial, p->buffers[0].bytes / sizeof(uint64_t));
    return seconds_now() - start;
}

/* Whether `contender`, having run, left the bytes that the loop left. */
static bool same(row *r, const problem *p, int contender)
{
    bool equal = true;
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const data *buffer = &p->buffers[i];
        if (!buffer->compare)
            continue;
        void *bytes = allocate(buffer->bytes);
        if (contender == POCL)
            opencl_read(r->pocl, i, bytes);
        else
            ours_read(contender == CHECKED ? r->checked : r->unchecked, i, bytes);
        equal = equal && memcmp(bytes, native_result(r->loop, i), buffer->bytes) == 0;
        free(bytes);
    }
    return equal;
}

static void print_ratio(means *all, const double *seconds, int base, int own)
{
    if (seconds[base] == 0) {
        printf("  %8s", "-");
        return;
    }
    double ratio = seconds[base] / seconds[own];
    all->log_sum[base][own] += log(ratio);
    all->count[base][own]++;
    printf("  %7.2fx", ratio);
}

static void print_row(const problem *p, const double *seconds, const bool *equal, means *all)
{
    printf("%-13s %9u", p->name, p->size);
    for (int c = 0; c < CONTENDERS; c++) {
        if (seconds[c] > 0)
            printf(" %9.3f", 1e3 * seconds[c]);
        else
            printf(" %9s", "-");
    }
    print_ratio(all, seconds, LOOP, CHECKED);
    print_ratio(all, seconds, LOOP, UNCHECKED);
    print_ratio(all, seconds, POCL, CHECKED);
    print_ratio(all, seconds, POCL, UNCHECKED);
    if (equal[CHECKED] && equal[UNCHECKED] && equal[POCL])
        printf("  yes");
    else
        printf("  DIFFER:%s%s%s", equal[CHECKED] ? "" : " checked",
               equal[UNCHECKED] ? "" : " unchecked", equal[POCL] ? "" : " pocl");
    if (p->unit)
        printf("  %.3g %s", 1e-9 * p->work / seconds[CHECKED], p->unit);
    if (p->bandwidth)
        printf(", %.0f %% of the read bandwidth", 100 * seconds[READ] / seconds[CHECKED]);
    printf("\n");
    fflush(stdout);
}

/* Threads that have worked, OpenMP's above all, look for more work for some milliseconds before they
 * sleep, and would hold a core that the next contender needs; so they are let go to sleep. Then the
 * first run wakes the contender's own, and the second is measured. */
static double run_warm(row *r, int contender)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    run(r, contender);
    return run(r, contender);
}

/* Returns whether our results are right. */
static bool measure(const problem *p, const settings *s, ls_device *device, means *all)
{
    row r = {.loop = native_create(p),
             .pocl = s->have_opencl ? opencl_create(p, s->kernels, s->sources) : NULL,
             .checked = ours_create(device, p, s->kernels, false),
             .unchecked = ours_create(device, p, s->kernels, true)};
    static double times[CONTENDERS + 1][MAX_RUNS];
    double seconds[CONTENDERS + 1] = {0};
    bool equal[CONTENDERS] = {true, true, true, true};
    run(&r, LOOP);
    for (int c = LOOP + 1; c < CONTENDERS; c++) {
        if (c == POCL && !r.pocl)
            continue;
        run(&r, c);
        equal[c] = same(&r, p, c);
    }
    for (unsigned i = 0; i < s->runs; i++) {
        for (int c = 0; c < CONTENDERS; c++) {
            if (c != POCL || r.pocl)
                times[c][i] = run_warm(&r, c);
        }
        if (p->bandwidth)
            times[READ][i] = run_read(p);
    }
    if (p->bandwidth)
        seconds[READ] = median(times[READ], s->runs);
    for (int c = 0; c < CONTENDERS; c++)
        seconds[c] = c != POCL || r.pocl ? median(times[c], s->runs) : 0;
    print_row(p, seconds, equal, all);
    native_destroy(r.loop);
    opencl_destroy(r.pocl);
    ours_destroy(r.checked);
    ours_destroy(r.unchecked);
    return equal[CHECKED] && equal[UNCHECKED];
}

static void print_means(const means *all)
{
    static const int columns[4][2] = {
        {LOOP, CHECKED}, {LOOP, UNCHECKED}, {POCL, CHECKED}, {POCL, UNCHECKED}};
    printf("%-63s", "geometric mean");
    for (int i = 0; i < 4; i++) {
        unsigned count = all->count[columns[i][0]][columns[i][1]];
        if (count == 0)
            printf("  %8s", "-");
        else
            printf("  %7.2fx", exp(all->log_sum[columns[i][0]][columns[i][1]] / count));
    }
    printf("\n");
}

static void print_machine(const settings *s, const char *opencl_about)
{
    char line[256], model[256] = "unknown processor\n";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value) {
            snprintf(model, sizeof model, "%s", value + 2);
            break;
        }
    }
    if (file)
        fclose(file);
    double load[3] = {0};
    if (getloadavg(load, 3) < 1)
        load[0] = -1;
    printf("machine: %.*s, %ld cores, load %.1f; %u threads; %s of %u runs\n",
           (int)strcspn(model, "\n"), model, sysconf(_SC_NPROCESSORS_ONLN), load[0], s->threads,
           use_cpu_time ? "least processor time" : "median", s->runs);
    printf("OpenCL: %s\n\n", opencl_about);
}

static void usage(void)
{
    printf("Usage: speed [OPTION...] [KERNEL[=SIZE]...]\n"
           "Compares kernels with the same loops in C and on PoCL. Without KERNEL: all.\n\n"
           "  --device=NAME    the device to measure (cpu)\n"
           "  --threads=N      threads of everyone (all cores)\n"
           "  --runs=N         turns of each contender, at most %d (7)\n"
           "  --cpu-time       processor time, the least instead of the median: for a machine\n"
           "                   that is busy with other things, together with --threads=1\n"
           "  --no-pocl        leave PoCL out\n"
           "  --table          only the table\n"
           "  --costs          only compile times, NaN, dispatches\n"
           "  --loops=FILE     library of the loops in C\n"
           "  --kernels=DIR    folder of the .kc files\n"
           "  --sources=DIR    folder of the .cl files\n\n"
           "KERNEL, SIZE:\n", MAX_RUNS);
    for (unsigned i = 0; i < problem_kind_count; i++)
        printf("  %-13s %8u  %s\n", problem_kinds[i].name, problem_kinds[i].size,
               problem_kinds[i].size_means);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value < least || value > most) {
        fprintf(stderr, "speed: '%s' is not a number from %u to %u\n", text, least, most);
        exit(2);
    }
    return (uint32_t)value;
}

static void parse_options(int argc, char **argv, settings *s)
{
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'},  {"threads", required_argument, NULL, 't'},
        {"runs", required_argument, NULL, 'r'},    {"no-pocl", no_argument, NULL, 'p'},
        {"cpu-time", no_argument, NULL, 'c'},
        {"table", no_argument, NULL, 'T'},         {"costs", no_argument, NULL, 'C'},
        {"loops", required_argument, NULL, 'l'},   {"kernels", required_argument, NULL, 'k'},
        {"sources", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            s->device = optarg;
            break;
        case 't':
            s->threads = number(optarg, 1, 256);
            break;
        case 'r':
            s->runs = number(optarg, 1, MAX_RUNS);
            break;
        case 'c':
            use_cpu_time = true;
            break;
        case 'p':
            s->pocl = false;
            break;
        case 'T':
            s->costs = false;
            break;
        case 'C':
            s->table = false;
            break;
        case 'l':
            s->library = optarg;
            break;
        case 'k':
            s->kernels = optarg;
            break;
        case 's':
            s->sources = optarg;
            break;
        case 'h':
            usage();
            exit(0);
        default:
            exit(2);
        }
    }
}

/* The size asked for, 0 when the kind is not among the arguments. */
static uint32_t chosen_size(const problem_kind *kind, char **names, int count)
{
    size_t length = strlen(kind->name);
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], kind->name) == 0)
            return kind->size;
        if (strncmp(names[i], kind->name, length) == 0 && names[i][length] == '=')
            return number(names[i] + length + 1, kind->least, kind->most);
    }
    return count ? 0 : kind->size;
}

static void check_names(char **names, int count)
{
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (unsigned k = 0; k < problem_kind_count; k++)
            known = known || chosen_size(&problem_kinds[k], &names[i], 1) > 0;
        if (!known) {
            fprintf(stderr, "speed: no kernel '%s' (--help lists them)\n", names[i]);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    settings s = {.device = "cpu", .kernels = "examples/kernels", .sources = "bench/speed/cl",
                  .library = "build-bench/bench/speed/libspeed_loops.so",
                  .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .runs = 7, .pocl = true,
                  .table = true, .costs = true};
    parse_options(argc, argv, &s);
    check_names(argv + optind, argc - optind);
    if (!native_load(s.library, s.threads))
        return 1;
    char about[256];
    snprintf(about, sizeof about, "left out, as asked for");
    s.have_opencl = s.pocl && opencl_load(s.threads, about, sizeof about);
    print_machine(&s, about);

    bool right = true;
    if (s.costs) /* first: nothing has been compiled yet */
        print_compile_times(s.device, s.threads, s.kernels);
    if (s.table) {
        means all = {0};
        ls_error error = {0};
        ls_device *device = open_device(s.device, s.threads);
        printf("%-13s %9s %9s %9s %9s %9s  %8s  %8s  %8s  %8s  same\n", "kernel", "size", "C ms",
               "PoCL ms", "ours ms", "unch. ms", "C/ours", "C/unch.", "PoCL/our", "PoCL/unc");
        for (unsigned k = 0; k < problem_kind_count; k++) {
            uint32_t size = chosen_size(&problem_kinds[k], argv + optind, argc - optind);
            if (size == 0)
                continue;
            problem p;
            problem_make(&p, &problem_kinds[k], size);
            right = measure(&p, &s, device, &all) && right;
            problem_free(&p);
        }
        print_means(&all);
        need(ls_device_destroy(&device, &error), &error, "closing the device");
    }
    if (s.costs) {
        print_nan_cost(s.device, s.threads, s.runs);
        print_dispatch_costs(s.device, s.runs);
    }
    return right ? 0 : 1;
}
