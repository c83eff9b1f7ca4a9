/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy: measures the math library over all 2^32 inputs of each one-argument function, and over
 * samples of pow. Exits with 1 if an error is above the stated bound.
 *
 *     accuracy [--threads N] [--step N] [--samples N] [NAME...]
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"

enum { CHUNK = 1 << 20, THREADS_MAX = 256 };

struct options {
    uint64_t threads;
    uint64_t step;    /* between inputs of a one-argument function */
    uint64_t samples; /* of pow */
};

/* One function being measured: threads take chunks of inputs until none is left. */
struct job {
    const struct accuracy_function *function;
    uint64_t count; /* inputs */
    uint64_t step;
    atomic_uint_fast64_t next;
};

struct worker {
    pthread_t thread;
    struct job *job;
    struct accuracy_stats stats;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct job *job = worker->job;
    for (;;) {
        uint64_t begin = atomic_fetch_add(&job->next, CHUNK);
        if (begin >= job->count)
            return NULL;
        uint64_t end = job->count - begin < CHUNK ? job->count : begin + CHUNK;
        for (uint64_t i = begin; i < end; i++) {
            float x = accuracy_float((uint32_t)(i * job->step)), y = 0;
            if (job->function->function2 != NULL)
                accuracy_pow_sample(i, &x, &y);
            accuracy_measure(job->function, x, y, &worker->stats);
        }
        if (isatty(STDERR_FILENO) && begin % (CHUNK * 64) == 0)
            fprintf(stderr, "\r%-6s %3.0f%%\r", job->function->name,
                    100.0 * (double)begin / (double)job->count);
        mpfr_free_cache();
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Measures one function and prints its line; returns whether the stated bound holds. */
static bool measure(const struct accuracy_function *f, const struct options *options)
{
    static struct worker workers[THREADS_MAX];
    bool two = f->function2 != NULL;
    struct job job = {
        .function = f,
        .count = two ? options->samples : ((UINT64_C(1) << 32) - 1) / options->step + 1,
        .step = options->step,
    };
    struct accuracy_stats total = ACCURACY_STATS_INIT;
    double start = seconds();

    uint64_t started = 0;
    for (; started < options->threads; started++) {
        workers[started] = (struct worker){.job = &job, .stats = ACCURACY_STATS_INIT};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
            break;
    }
    for (uint64_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        accuracy_merge(&total, &workers[i].stats);
    }

    char at[64];
    snprintf(at, sizeof(at), two ? "(%a, %a)" : "%a", (double)total.worst_x, (double)total.worst_y);
    printf("%-6s max %.6f ulp (stated %.3f) at %s; %llu of %llu not correctly rounded (%.4f%%); "
           "%.0f s\n",
           f->name, total.worst_ulp, f->stated_ulp, at, (unsigned long long)total.misrounded,
           (unsigned long long)total.count, 100.0 * (double)total.misrounded / (double)total.count,
           seconds() - start);
    fflush(stdout);
    return started > 0 && total.worst_ulp <= f->stated_ulp;
}

/* A whole number from 1 to max, or 0 if the text is none. */
static uint64_t parse_count(const char *text, uint64_t max)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    return errno != 0 || end == text || *end != '\0' || value > max ? 0 : value;
}

static bool parse(int argc, char **argv, struct options *options, int *first_name)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i += 2) {
        uint64_t *target = strcmp(argv[i], "--threads") == 0   ? &options->threads
                           : strcmp(argv[i], "--step") == 0    ? &options->step
                           : strcmp(argv[i], "--samples") == 0 ? &options->samples
                                                               : NULL;
        if (target == NULL || i + 1 == argc)
            return false;
        *target = parse_count(argv[i + 1], target == &options->threads ? THREADS_MAX
                                                                       : UINT64_C(1) << 40);
        if (*target == 0)
            return false;
    }
    *first_name = i;
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.threads = 2, .step = 1, .samples = UINT64_C(1) << 30};
    int first_name;
    if (!parse(argc, argv, &options, &first_name)) {
        fprintf(stderr, "usage: accuracy [--threads N] [--step N] [--samples N] [NAME...]\n");
        return 2;
    }
    bool good = true;
    int measured = 0;
    for (size_t i = 0; i < accuracy_function_count; i++) {
        const struct accuracy_function *f = &accuracy_functions[i];
        bool wanted = first_name == argc;
        for (int n = first_name; n < argc; n++)
            wanted |= strcmp(argv[n], f->name) == 0;
        if (wanted) {
            good &= measure(f, &options);
            measured++;
        }
    }
    if (measured < argc - first_name) {
        fprintf(stderr, "accuracy: a function of this name is not in the math library\n");
        return 2;
    }
    return good ? 0 : 1;
}
