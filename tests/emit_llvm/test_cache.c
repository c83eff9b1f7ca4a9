/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code cache of the CPU device, through the public calls: what is compiled once is found again,
 * by this process and by another, which then never loads libLLVM; a damaged file is dropped;
 * another program, or one built unchecked, is another entry.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/cmocka_all.h"

#include "lockstep/device.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

static char folder[] = "/tmp/ls-test-cache-XXXXXX";
static const char *self;

static const char source[] =
    "kernel void twice(u32 n, u32 *y)\n"
    "{\n    u32 i = global_id(0);\n    if (i < n)\n        y[i] = 2 * i;\n}\n";

typedef struct built {
    uint64_t hits, misses;
} built;

/* Builds the program on a new device and counts what it asked of the caches. */
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

/* The device's probe compiles, and so keeps, a program of its own. */
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

static void test_warm_process_loads_no_llvm(void **state)
{
    (void)state;
    int status;
    assert_true(has_llvm());
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, folder, (char *)NULL);
        _exit(100);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
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

static void cut(const char *path, long size)
{
    assert_int_equal(truncate(path, size), 0);
}

static void test_damaged_is_dropped(void **state)
{
    (void)state;
    static const long places[] = {0, 8, 16, 48, 80, 500, -1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        each_file(damage, places[i]);
        assert_int_equal(build(false).misses, 1);
        assert_int_equal(build(false).hits, 1);
    }
    each_file(cut, 40);
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

int main(int argc, char **argv)
{
    if (argc > 1) { /* the warm process */
        strcpy(folder, argv[1]);
        built b = build(false);
        return b.hits == 1 && !has_llvm() ? 0 : 1;
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_warm_process_loads_no_llvm),
        cmocka_unit_test(test_damaged_is_dropped),
        cmocka_unit_test(test_unchecked_is_another),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
