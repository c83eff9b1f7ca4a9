/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"
#include "testbench/source.h"

struct ls__cli_file {
    char *path;
    bool is_output;
    bool exists;
    struct stat info; /* where it exists */
};

static void add(ls__cli_files *files, const char *path, bool is_output)
{
    if (!path || files->failed)
        return;
    if (files->count == files->capacity) {
        uint32_t capacity = files->capacity ? files->capacity * 2 : 32;
        ls__cli_file *grown = ls__mem_realloc(files->items, capacity, sizeof *grown);
        files->failed = !grown;
        if (!grown)
            return;
        files->items = grown;
        files->capacity = capacity;
    }
    ls__cli_file *file = &files->items[files->count];
    *file = (ls__cli_file){.path = ls__mem_strdup(path), .is_output = is_output};
    files->failed = !file->path;
    if (files->failed)
        return;
    file->exists = stat(path, &file->info) == 0;
    files->count++;
}

static void add_read(void *context, const char *path)
{
    add(context, path, false);
}

/* The parts of a split model behind the first, up to one that is missing. */
static void add_other_parts(ls__cli_files *files, const char *path)
{
    enum { SUFFIX = sizeof "-00001-of-00002.gguf" - 1 };
    uint32_t count = 0;
    int read = 0;
    size_t length = strlen(path);
    char *part = length >= SUFFIX ? ls__mem_strdup(path) : NULL;
    if (part &&
        (sscanf(part + length - SUFFIX, "-00001-of-%5" SCNu32 ".gguf%n", &count, &read) != 1 ||
         read != SUFFIX))
        count = 0;
    for (uint32_t i = 2; i <= count; i++) {
        char number[16];
        snprintf(number, sizeof number, "-%05" PRIu32, i);
        memcpy(part + length - SUFFIX, number, 6);
        struct stat info;
        if (stat(part, &info) != 0)
            break;
        add(files, part, false);
    }
    ls__mem_free(part);
}

void ls__cli_files_read(ls__cli_files *files, const char *path)
{
    bool is_source = path && (ls__str_ends_in(path, ".kc") || ls__str_ends_in(path, ".v") ||
                              ls__str_ends_in(path, ".sv"));
    if (is_source)
        ls__source_visit_files(path, add_read, files);
    else
        add(files, path, false);
    if (path && ls__str_ends_in(path, ".gguf"))
        add_other_parts(files, path);
}

void ls__cli_files_write(ls__cli_files *files, const char *path)
{
    add(files, path, true);
}

static bool is_same(const ls__cli_file *a, const ls__cli_file *b)
{
    if (!a->exists && !b->exists)
        return ls__os_same_file(a->path, b->path);
    return a->exists && b->exists && S_ISREG(a->info.st_mode) && a->info.st_dev == b->info.st_dev &&
           a->info.st_ino == b->info.st_ino;
}

ls_status ls__cli_files_check(const ls__cli_files *files, ls_error *error)
{
    if (files->failed)
        return ls__fail_oom(error, (files->count + (size_t)1) * sizeof *files->items);
    for (uint32_t i = 0; i < files->count; i++) {
        const ls__cli_file *output = &files->items[i];
        for (uint32_t k = 0; output->is_output && k < files->count; k++) {
            const ls__cli_file *other = &files->items[k];
            if ((other->is_output && k >= i) || !is_same(output, other))
                continue;
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "'%s' is %s", output->path,
                            other->is_output ? "written twice" : "both read and written");
        }
    }
    return LS_OK;
}

void ls__cli_files_finish(ls__cli_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        ls__mem_free(files->items[i].path);
    ls__mem_free(files->items);
    *files = (ls__cli_files){0};
}
