/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code cache of the CPU device: what is compiled once is found again, by this process and by
 * another, which then never loads libLLVM; a damaged file is dropped; another program, or one built
 * unchecked, is another entry; several processes may write at once; the folder does not outgrow its
 * limit. What the probe has found is kept there too.
 *
 * The test starts itself for other processes: FOLDER WHAT, where WHAT is `warm` or `write`.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/cmocka_all.h"

#include "core/probe.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

static char folder[] = "ls-test-cache-XXXXXX";
static const char *self;

enum { KERNELS = 50 };

/* A program of so many kernels, another one for each number. */
static char source[KERNELS * 200];
static void make_source(unsigned kernels, unsigned number)
{
    size_t used = 0;
    for (unsigned i = 0; i < kernels; i++)
        used += (size_t)snprintf(source + used, sizeof source - used,
                                 "kernel void times%u(u32 n, u32 *y)\n"
                                 "{\n    u32 i = global_id(0);\n    if (i < n)\n"
                                 "        y[i] = %uu * i + %uu;\n}\n",
                                 i, i, number);
}

typedef struct built {
    uint64_t hits, misses;
} built;

/* Builds the program on a new device and counts what it asked of the caches. */
static uint64_t cache_bytes;
static built build(bool unchecked)
{
    ls_error error = {0};
    ls_device *device;
    ls_module *module;
    ls_program *program;
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    ls_compile_params compile_params = LS_COMPILE_PARAMS_INIT;
    ls_program_params program_params = LS_PROGRAM_PARAMS_INIT;
    device_params.name = "cpu";
    device_params.cache_path = folder;
    device_params.cache_bytes = cache_bytes;
    compile_params.text = source;
    compile_params.length = strlen(source);
    program_params.unchecked = unchecked;
    if (ls_device_open(&device_params, &device, &error) != LS_OK ||
        ls_module_compile(&compile_params, &module, NULL, &error) != LS_OK ||
        ls_program_create(device, module, &program_params, &program, &error) != LS_OK)
        fail_msg("%s", error.message);
    ls_device_counters(device, &counters);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    assert_int_equal(ls_device_destroy(&device, &error), LS_OK);
    /* One miss is that of the cache in memory, which is new with the device. */
    return (built){counters.cache_hits, counters.cache_misses - 1};
}

typedef void visit(const char *path, long argument);

static unsigned each_file(visit *visit, long argument)
{
    unsigned count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && visit)
            visit(path, argument);
        count += entry->d_name[0] != '.';
    }
    closedir(stream);
    return count;
}

static unsigned count_files(void)
{
    return each_file(NULL, 0);
}

static bool has_llvm(void)
{
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "libLLVM") != NULL;
    fclose(maps);
    return found;
}

static void test_found_again(void **state)
{
    (void)state;
    built first = build(false);
    assert_int_equal(first.hits, 0);
    assert_int_equal(first.misses, 1);
    unsigned files = count_files();
    assert_true(files > 0);
    built second = build(false);
    assert_int_equal(second.hits, 1);
    assert_int_equal(second.misses, 0);
    assert_int_equal(count_files(), files);
}

/* The exit status of this test as another process. */
static pid_t start(const char *what)
{
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, folder, what, (char *)NULL);
        _exit(100);
    }
    assert_true(child > 0);
    return child;
}

static int status_of(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_warm_process_loads_no_llvm(void **state)
{
    (void)state;
    assert_true(has_llvm());
    assert_int_equal(status_of(start("warm")), 0);
}

/* All operations, in a process that compiles nothing; what is known is known when the device opens.
 */
static void test_probe_is_kept(void **state)
{
    (void)state;
    uint32_t known = 0;
    for (int warm = 0; warm < 2; warm++) {
        ls_error error = {0};
        ls_device *device = NULL;
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        uint32_t count = 0;
        params.name = "cpu";
        params.cache_path = folder;
        assert_int_equal(ls_device_open(&params, &device, &error), LS_OK);
        if (warm)
            assert_int_equal(device->probe->count, known);
        assert_int_equal(ls_device_probe(device, NULL, 0, &count, &error), LS_OK);
        known = device->probe->count;
        assert_in_range(count, 100, known);
        assert_int_equal(ls_device_destroy(&device, &error), LS_OK);

        params.target = "native+scalar"; /* is not asked about what others do */
        assert_int_equal(ls_device_open(&params, &device, &error), LS_OK);
        assert_int_equal(device->probe->count, 0);
        assert_int_equal(ls_device_destroy(&device, &error), LS_OK);
    }
}

static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

/* No temporary file is left. */
static void is_code(const char *path, long argument)
{
    (void)argument;
    assert_non_null(strstr(path, ".lscode"));
}

static void cut(const char *path, long size)
{
    assert_int_equal(truncate(path, size), 0);
}

static void test_damaged_is_dropped(void **state)
{
    (void)state;
    static const long places[] = {0, 8, 16, 48, 80, 500, -1};
    make_source(2, 0);
    build(false);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        each_file(damage, places[i]);
        assert_int_equal(build(false).misses, 1);
        assert_int_equal(build(false).hits, 1);
    }
    each_file(cut, 40);
    assert_int_equal(build(false).misses, 1);
    assert_int_equal(build(false).hits, 1);
    each_file(cut, 0);
    assert_int_equal(build(false).misses, 1);
    assert_int_equal(build(false).hits, 1);
}

static void test_unchecked_is_another(void **state)
{
    (void)state;
    unsigned files = count_files();
    assert_int_equal(build(true).misses, 1);
    assert_true(count_files() > files);
}

static void test_processes_write_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 5 };
    pid_t children[PROCESSES];
    each_file(cut, 40); /* all of them have to write everything */
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start("write");
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(status_of(children[i]), 0);
    make_source(3, 0);
    assert_int_equal(build(false).hits, 1);
    each_file(is_code, 0);
}

static uint64_t folder_bytes;
static void add_size(const char *path, long argument)
{
    struct stat info;
    (void)argument;
    assert_int_equal(stat(path, &info), 0);
    folder_bytes += (uint64_t)info.st_size;
}

static void test_size_is_bounded(void **state)
{
    (void)state;
    make_source(10, 1);
    build(false);
    folder_bytes = 0;
    each_file(add_size, 0);
    cache_bytes = folder_bytes + 1000; /* less than one more program */
    for (unsigned i = 2; i < 5; i++) {
        make_source(10, i);
        assert_int_equal(build(false).misses, 1);
        folder_bytes = 0;
        each_file(add_size, 0);
        assert_in_range(folder_bytes, 1, cache_bytes);
        assert_int_equal(build(false).hits, 1); /* what was used last stays */
    }
    cache_bytes = 0;
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

/* The other process. */
static int run_as(const char *what)
{
    built b = build(false);
    if (strcmp(what, "warm") == 0)
        return b.hits == 1 && !has_llvm() ? 0 : 1;
    return b.hits + b.misses == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    make_source(argc > 2 && strcmp(argv[2], "write") == 0 ? 3 : KERNELS, 0);
    if (argc > 2) {
        strcpy(folder, argv[1]);
        return run_as(argv[2]);
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_warm_process_loads_no_llvm),
        cmocka_unit_test(test_damaged_is_dropped),
        cmocka_unit_test(test_unchecked_is_another),
        cmocka_unit_test(test_probe_is_kept),
        cmocka_unit_test(test_processes_write_at_once),
        cmocka_unit_test(test_size_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
