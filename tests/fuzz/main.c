/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target without libFuzzer: runs it once on every file of the folders named as arguments,
 * and on each file cut at several places, so that the corpus is a test in every build.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exact-size copies, as libFuzzer makes them. */
static void run_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_file(const char *path)
{
    void *bytes;
    size_t size;
    ls_error error;
    if (ls__os_read_file(path, UINT64_MAX, &bytes, &size, &error) != LS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s\n", path); /* names the culprit when the target aborts */
    fflush(stdout);
    run_copy(bytes, size);
    for (size_t part = 1; part < 16; part++)
        run_copy(bytes, size * part / 16);
    ls__mem_free(bytes);
    return 0;
}

static int run_folder(const char *folder, unsigned *count)
{
    char path[4096];
    struct dirent *entry;
    int failed = 0;
    DIR *listing = opendir(folder);
    if (!listing) {
        perror(folder);
        return 1;
    }
    while ((entry = readdir(listing))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed |= run_file(path);
        ++*count;
    }
    closedir(listing);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= run_folder(argv[i], &count);
    printf("%u files\n", count);
    return failed || count == 0;
}
