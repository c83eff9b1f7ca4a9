/* SPDX-License-Identifier: Apache-2.0 */
/* Private folders: what is refused, files that appear whole, trimming by use. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"

#include "base/dir.h"
#include "base/mem.h"

static char root[] = "ls-test-dir-XXXXXX";

static void path_of(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", root, name);
}

static ls__dir *open_good(const char *name)
{
    char path[256];
    ls__dir *dir;
    ls_error error = {0};
    path_of(path, name);
    if (ls__dir_open(path, &dir, &error) != LS_OK)
        fail_msg("%s", error.message);
    return dir;
}

static void test_made_private(void **state)
{
    (void)state;
    struct stat info;
    char path[256];
    ls__dir *dir = open_good("a/b/c");
    path_of(path, "a/b/c");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    ls__dir_close(&dir);
    assert_null(dir);
    ls__dir_close(&dir);
}

static void test_shared_is_refused(void **state)
{
    (void)state;
    char path[256];
    ls__dir *dir;
    ls_error error = {0};
    path_of(path, "shared");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0720), 0);
    assert_int_equal(ls__dir_open(path, &dir, &error), LS_E_UNSUPPORTED);
    assert_null(dir);
    assert_int_equal(chmod(path, 0755), 0); /* others may look */
    assert_int_equal(ls__dir_open(path, &dir, &error), LS_OK);
    ls__dir_close(&dir);
}

static void test_no_folder(void **state)
{
    (void)state;
    char path[256];
    ls__dir *dir;
    ls_error error = {0};
    path_of(path, "file");
    fclose(fopen(path, "w"));
    assert_int_not_equal(ls__dir_open(path, &dir, &error), LS_OK);
    assert_null(dir);
    assert_int_not_equal(ls__dir_open("", &dir, &error), LS_OK);
}

static void test_files(void **state)
{
    (void)state;
    void *bytes;
    size_t size;
    ls__dir *dir = open_good("files");
    assert_int_equal(ls__dir_read(dir, "x", 100, &bytes, &size, NULL), LS_E_NOT_FOUND);
    assert_int_equal(ls__dir_write(dir, "x", "hello", 5, NULL), LS_OK);
    assert_int_equal(ls__dir_read(dir, "x", 5, &bytes, &size, NULL), LS_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "hello", 5);
    ls__mem_free(bytes);
    assert_int_equal(ls__dir_read(dir, "x", 4, &bytes, &size, NULL), LS_E_LIMIT);
    ls__dir_remove(dir, "x");
    assert_int_equal(ls__dir_read(dir, "x", 5, &bytes, &size, NULL), LS_E_NOT_FOUND);
    ls__dir_close(&dir);
}

static void test_links_are_not_followed(void **state)
{
    (void)state;
    char path[256];
    void *bytes;
    size_t size;
    ls__dir *dir = open_good("links");
    path_of(path, "links/x");
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_not_equal(ls__dir_read(dir, "x", 1 << 20, &bytes, &size, NULL), LS_OK);
    assert_int_equal(ls__dir_write(dir, "x", "hello", 5, NULL), LS_OK); /* replaces the link */
    assert_int_equal(ls__dir_read(dir, "x", 1 << 20, &bytes, &size, NULL), LS_OK);
    assert_int_equal(size, 5);
    ls__mem_free(bytes);
    ls__dir_close(&dir);
}

static bool is_there(ls__dir *dir, const char *name)
{
    void *bytes;
    size_t size;
    bool found = ls__dir_read(dir, name, 1 << 20, &bytes, &size, NULL) == LS_OK;
    ls__mem_free(bytes);
    return found;
}

static void set_time(const char *name, time_t seconds)
{
    char path[256];
    path_of(path, name);
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_trim(void **state)
{
    (void)state;
    static const char bytes[100];
    ls__dir *dir = open_good("trim");
    for (int i = 0; i < 4; i++) {
        char name[16], path[32];
        snprintf(name, sizeof name, "%d.c", i);
        snprintf(path, sizeof path, "trim/%d.c", i);
        ls__dir_write(dir, name, bytes, sizeof bytes, NULL);
        set_time(path, 1000 + i);
    }
    ls__dir_write(dir, "other", bytes, sizeof bytes, NULL);
    ls__dir_write(dir, "left.part", bytes, sizeof bytes, NULL);
    set_time("trim/left.part", 1000);
    ls__dir_touch(dir, "0.c"); /* the oldest, used just now */
    ls__dir_trim(dir, ".c", 400);
    assert_true(is_there(dir, "1.c"));
    assert_false(is_there(dir, "left.part"));
    ls__dir_trim(dir, ".c", 200);
    assert_true(is_there(dir, "0.c"));
    assert_false(is_there(dir, "1.c"));
    assert_false(is_there(dir, "2.c"));
    assert_true(is_there(dir, "3.c"));
    assert_true(is_there(dir, "other"));
    ls__dir_close(&dir);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_private),
        cmocka_unit_test(test_shared_is_refused),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_trim),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
