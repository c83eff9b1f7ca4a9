/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of the files given, and random programs, on all targets: what is emitted is valid
 * SPIR-V for Vulkan 1.2, with and without our optimising passes, and unchecked; and it is the same
 * bytes each time.
 *
 *     test_programs [--random FIRST COUNT] [--folder FOLDER] [file.kc|file.ir ...]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "conform/cooperate.h"
#include "conform/generate.h"
#include "validate.h"

static unsigned accepted;

static int repeats(const ls__ir_module *module, const ls__spirv_try *how)
{
    size_t sizes[2] = {0};
    void *bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = ls__spirv_build(module, how, &sizes[i]);
    bool equal =
        bytes[0] && bytes[1] && sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0;
    for (int i = 0; i < 2; i++)
        ls__mem_free(bytes[i]);
    if (!equal)
        fprintf(stderr, "%s: not the same bytes twice\n", how->target);
    return !equal;
}

static int check(const ls__ir_module *module)
{
    int bad = 0;
    for (int t = 0; ls__spirv_targets[t] && !bad; t++) {
        ls__spirv_try how = {.target = ls__spirv_targets[t], .optimize = true};
        bad = ls__spirv_validate(module, &how, &accepted) || repeats(module, &how);
        how.unchecked = true;
        bad = bad || ls__spirv_validate(module, &how, &accepted);
        how.unchecked = how.optimize = false;
        bad = bad || ls__spirv_validate(module, &how, &accepted);
    }
    return bad;
}

static int check_text(const char *text, size_t size, const char *path)
{
    ls__ir_module *module = ls__spirv_compile(text, size, path);
    int bad = !module || check(module);
    ls__ir_module_destroy(&module);
    if (bad)
        fprintf(stderr, "in %s\n", path);
    return bad;
}

static int check_file(const char *path)
{
    void *text = NULL;
    size_t size = 0;
    ls_error error = {0};
    if (ls__os_read_file(path, UINT64_MAX, &text, &size, &error) != LS_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return 1;
    }
    int bad = check_text(text, size, path);
    ls__mem_free(text);
    return bad;
}

/* All its .kc files. */
static int check_folder(const char *path)
{
    DIR *folder = opendir(path);
    int bad = 0, count = 0;
    char file[4096];
    for (struct dirent *entry; folder && !bad && (entry = readdir(folder));) {
        if (!ls__str_ends_in(entry->d_name, ".kc"))
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        bad = check_file(file);
        count++;
    }
    if (folder)
        closedir(folder);
    if (count == 0)
        fprintf(stderr, "%s: no kernels\n", path);
    return bad || count == 0;
}

static int check_random(uint64_t seed)
{
    ls__strbuf text = {0};
    if (seed % 2)
        ls__cooperate(seed, &text);
    else
        ls__generate(seed, "k", true, &text);
    int bad = check_text(text.text, text.length, "generated");
    if (bad)
        fprintf(stderr, "seed %llu:\n%s\n", (unsigned long long)seed, text.text);
    ls__strbuf_finish(&text);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc && !bad; i++) {
        if (strcmp(argv[i], "--random") == 0 && i + 2 < argc) {
            uint64_t first = strtoull(argv[i + 1], NULL, 0), count = strtoull(argv[i + 2], NULL, 0);
            for (uint64_t k = 0; k < count && !bad; k++)
                bad = check_random(first + k);
            i += 2;
        } else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
            bad = check_folder(argv[++i]);
        } else {
            bad = check_file(argv[i]);
        }
    }
    printf("%u modules are valid\n", accepted);
    return bad || accepted == 0;
}
