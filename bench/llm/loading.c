/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a model is laid out: opens a file and loads it, over and over, and prints the time of
 * each round. The first also compiles, unless a folder is given that has the compiled code: without
 * one there is a temporary folder that is removed at the end.
 *
 *   llm_loading MODEL.gguf [ROUNDS [DEVICE [CACHE]]]
 *
 * It takes a thread for each core that it may use: `taskset -c 0` leaves it one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lockstep/llm.h"

static ls_error error;
static char folder[4096];

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0); /* fails for "." and "..", as it should */
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void need(ls_status status)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "loading: %s\n", error.message);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void load(ls_device *device, const char *path)
{
    struct rusage before, after;
    ls_gguf *gguf = NULL;
    ls_model *model = NULL;
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    ls_model_info info = {.struct_size = sizeof info};
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    need(ls_gguf_open(path, &gguf, &error));
    params.device = device;
    params.gguf = gguf;
    need(ls_model_load(&params, &model, &error));
    ls_gguf_destroy(&gguf);
    double wall = now() - start;
    getrusage(RUSAGE_SELF, &after);
    ls_model_describe(model, &info);
    printf("%.3f s, %.2f GB/s; user %.3f s, system %.3f s, %ld page faults\n", wall,
           (double)info.weight_bytes / wall * 1e-9,
           seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime), after.ru_minflt - before.ru_minflt);
    ls_model_destroy(&model);
}

/* A folder for the cache of this run alone. */
static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/llm-loading-XXXXXX", parent ? parent : P_tmpdir);
    if (!mkdtemp(folder)) {
        perror("loading: no folder for the cache");
        exit(1);
    }
    atexit(remove_folder);
}

int main(int argc, char **argv)
{
    ls_device *device = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    if (argc < 2)
        return 2;
    if (argc <= 4)
        make_folder();
    params.name = argc > 3 ? argv[3] : "cpu";
    params.cache_path = argc > 4 ? argv[4] : folder;
    need(ls_device_open(&params, &device, &error));
    for (int round = argc > 2 ? atoi(argv[2]) : 5; round > 0; round--)
        load(device, argv[1]);
    need(ls_device_destroy(&device, &error));
    return 0;
}
