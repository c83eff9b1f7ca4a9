/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing files: limits, the atomic replacement, devices, failures, no file left
 * behind. Each test runs in a fresh directory below the current one. */
#include "cmocka_all.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"

static int enter_directory(void **state)
{
    char name[] = "test_file.XXXXXX";
    if (!mkdtemp(name) || chdir(name) != 0)
        return -1;
    *state = strdup(name);
    return 0;
}

static int leave_directory(void **state)
{
    DIR *directory = opendir(".");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' && unlink(entry->d_name) != 0)
            rmdir(entry->d_name);
    }
    closedir(directory);
    int result = chdir("..") == 0 ? rmdir(*state) : -1;
    free(*state);
    return result;
}

static int file_count(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static ls_status save(const char *path, const char *text, ls_error *error)
{
    ls__os_writer *writer;
    ls_status status = ls__os_writer_open(path, &writer, error);
    if (status != LS_OK)
        return status;
    status = ls__os_writer_write(writer, text, strlen(text), error);
    if (status != LS_OK) {
        ls__os_writer_abort(&writer);
        return status;
    }
    status = ls__os_writer_commit(&writer, error);
    assert_null(writer);
    return status;
}

static void assert_content(const char *path, const char *expected)
{
    void *bytes;
    size_t size;
    assert_int_equal(ls__os_read_file(path, UINT64_MAX, &bytes, &size, NULL), LS_OK);
    assert_string_equal((char *)bytes, expected);
    assert_int_equal(size, strlen(expected));
    ls__mem_free(bytes);
}

static void assert_read_fails(const char *path, uint64_t limit_bytes, ls_status expected)
{
    ls_error error;
    void *bytes = &error;
    size_t size = 1;
    assert_int_equal(ls__os_read_file(path, limit_bytes, &bytes, &size, &error), expected);
    assert_int_equal(error.code, expected);
    assert_non_null(strstr(error.message, path));
    assert_null(bytes);
    assert_int_equal(size, 0);
}

static void write_then_read(void **state)
{
    assert_int_equal(save("a", "first", NULL), LS_OK);
    assert_content("a", "first");
    assert_int_equal(save("a", "", NULL), LS_OK);
    assert_content("a", "");
    assert_int_equal(file_count(), 1);
}

static void many_sizes_of_writes(void **state)
{
    ls__os_writer *writer;
    uint8_t *sent = ls__mem_alloc(1000000, 1);
    size_t total = 0;
    assert_int_equal(ls__os_writer_open("big", &writer, NULL), LS_OK);
    for (size_t step = 0; total + step < 1000000; step = step * 3 / 2 + 1) {
        memset(sent + total, (int)(step & 0x7f) + 1, step);
        assert_int_equal(ls__os_writer_write(writer, sent + total, step, NULL), LS_OK);
        total += step;
    }
    assert_true(total > 300000); /* some writes are larger than any buffer */
    assert_int_equal(ls__os_writer_commit(&writer, NULL), LS_OK);

    void *bytes;
    size_t size;
    assert_int_equal(ls__os_read_file("big", total, &bytes, &size, NULL), LS_OK);
    assert_int_equal(size, total);
    assert_memory_equal(bytes, sent, total);
    ls__mem_free(bytes);
    ls__mem_free(sent);
}

static void read_errors(void **state)
{
    assert_int_equal(save("five", "12345", NULL), LS_OK);
    mkdir("directory", 0777);
    assert_read_fails("missing", UINT64_MAX, LS_E_NOT_FOUND);
    assert_read_fails("five/below", UINT64_MAX, LS_E_NOT_FOUND);
    assert_read_fails("directory", UINT64_MAX, LS_E_IO);
    assert_read_fails("five", 4, LS_E_LIMIT);
    assert_read_fails("/dev/zero", 100000, LS_E_LIMIT);
    assert_content("five", "12345");
    assert_content("/dev/null", "");
}

static void replaced_only_at_commit(void **state)
{
    ls__os_writer *writer;
    assert_int_equal(save("a", "old", NULL), LS_OK);
    assert_int_equal(chmod("a", 0640), 0);
    assert_int_equal(ls__os_writer_open("a", &writer, NULL), LS_OK);
    assert_int_equal(ls__os_writer_write(writer, "new", 3, NULL), LS_OK);
    assert_content("a", "old");
    assert_int_equal(file_count(), 2);
    ls__os_writer_abort(&writer);
    assert_null(writer);
    ls__os_writer_abort(&writer);
    assert_content("a", "old");
    assert_int_equal(file_count(), 1);

    assert_int_equal(save("a", "new", NULL), LS_OK);
    struct stat info;
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void link_is_followed(void **state)
{
    assert_int_equal(save("target", "old", NULL), LS_OK);
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(save("link", "new", NULL), LS_OK);
    struct stat info;
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content("target", "new");
}

static void link_to_nowhere_is_refused(void **state)
{
    ls_error error;
    assert_int_equal(symlink("nowhere/a", "link"), 0);
    assert_int_equal(save("link", "x", &error), LS_E_NOT_FOUND);
    assert_non_null(strstr(error.hint, "symbolic link"));
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(save("loop", "x", &error), LS_E_IO);
    struct stat info;
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(file_count(), 2);
}

static void long_names(void **state)
{
    ls_error error;
    char name[257];
    memset(name, 'n', 256);
    name[256] = 0;
    assert_int_equal(save(name, "x", &error), LS_E_IO);
    assert_non_null(strstr(error.message, "name too long"));
    assert_int_equal(file_count(), 0);
    name[255] = 0;
    assert_int_equal(save(name, "longest", &error), LS_OK);
    assert_content(name, "longest");

    char deep[5001];
    memset(deep, '/', 5000);
    memset(deep, 'd', 1000);
    deep[5000] = 0;
    assert_int_equal(save(deep, "x", &error), LS_E_IO);
    assert_non_null(strstr(error.message, "name too long")); /* not lost behind the name */
}

static void same_file(void **state)
{
    mkdir("directory", 0777);
    assert_true(ls__os_same_file("a", "directory/../a")); /* it does not exist yet */
    assert_false(ls__os_same_file("a", "b"));
    assert_false(ls__os_same_file("missing/a", "missing/a")); /* cannot be written */
    assert_int_equal(save("a", "x", NULL), LS_OK);
    assert_int_equal(symlink("a", "link"), 0);
    assert_true(ls__os_same_file("link", "./a"));
    assert_int_equal(link("a", "second"), 0);
    assert_false(ls__os_same_file("a", "second")); /* a writer replaces one name only */
    assert_true(ls__os_same_file("/x", "//x"));
}

/* A full disk shows at the flush, before anything has been renamed. */
static void flush_then_commit(void **state)
{
    ls_error error;
    ls__os_writer *writer, *full;
    assert_int_equal(save("a", "old", NULL), LS_OK);
    assert_int_equal(ls__os_writer_open("a", &writer, NULL), LS_OK);
    assert_int_equal(ls__os_writer_write(writer, "new", 3, NULL), LS_OK);
    assert_int_equal(ls__os_writer_flush(writer, &error), LS_OK);
    assert_content("a", "old");
    assert_int_equal(ls__os_writer_open("/dev/full", &full, NULL), LS_OK);
    assert_int_equal(ls__os_writer_write(full, "x", 1, NULL), LS_OK);
    assert_int_equal(ls__os_writer_flush(full, &error), LS_E_IO);
    ls__os_writer_abort(&full);
    assert_int_equal(ls__os_writer_commit(&writer, &error), LS_OK);
    assert_content("a", "new");
}

static void write_errors(void **state)
{
    ls_error error;
    mkdir("directory", 0777);
    assert_int_equal(save("directory", "x", &error), LS_E_IO);
    assert_int_equal(save("missing/a", "x", &error), LS_E_NOT_FOUND);
    assert_int_equal(ls__os_check_writable("directory", NULL), LS_E_IO);
    assert_int_equal(ls__os_check_writable("missing/a", NULL), LS_E_NOT_FOUND);
    assert_int_equal(ls__os_check_writable("directory/a", NULL), LS_OK);
    assert_int_equal(ls__os_check_writable("/dev/full", NULL), LS_OK);
    assert_non_null(strstr(error.message, "missing/a"));
    assert_int_equal(file_count(), 1);
    if (geteuid() != 0) { /* root may write anything */
        assert_int_equal(save("kept", "old", NULL), LS_OK);
        assert_int_equal(chmod("kept", 0444), 0);
        assert_int_equal(save("kept", "new", &error), LS_E_IO);
        assert_content("kept", "old");
    }
}

static void full_disk(void **state)
{
    ls_error error;
    assert_int_equal(save("/dev/full", "x", &error), LS_E_IO);
    assert_int_equal(error.code, LS_E_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_true(strlen(error.hint) > 0);
    struct stat info;
    assert_int_equal(stat("/dev/full", &info), 0); /* written in place, not replaced */
    assert_true(S_ISCHR(info.st_mode));
}

static void failed_write_cannot_be_committed(void **state)
{
    ls__os_writer *writer;
    static char many[100000];
    assert_int_equal(ls__os_writer_open("/dev/full", &writer, NULL), LS_OK);
    assert_int_equal(ls__os_writer_write(writer, many, sizeof many, NULL), LS_E_IO);
    assert_int_equal(ls__os_writer_write(writer, many, 1, NULL), LS_E_STATE);
    assert_int_equal(ls__os_writer_commit(&writer, NULL), LS_E_STATE);
    assert_null(writer);
}

static void directory_removed_before_commit(void **state)
{
    ls_error error;
    ls__os_writer *writer;
    mkdir("gone", 0777);
    assert_int_equal(ls__os_writer_open("gone/a", &writer, NULL), LS_OK);
    assert_int_equal(rename("gone", "moved"), 0);
    assert_int_equal(ls__os_writer_commit(&writer, &error), LS_E_NOT_FOUND);
    assert_null(writer);
    DIR *directory = opendir("moved");
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[300];
        snprintf(path, sizeof path, "moved/%s", entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    closedir(directory);
}

static void *read_pipe(void *result)
{
    size_t size;
    ls__os_read_file("pipe", UINT64_MAX, result, &size, NULL);
    return NULL;
}

static void pipe_both_ways(void **state)
{
    pthread_t reader;
    void *bytes = NULL;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, &bytes), 0);
    assert_int_equal(save("pipe", "through", NULL), LS_OK);
    pthread_join(reader, NULL);
    assert_string_equal((char *)bytes, "through");
    ls__mem_free(bytes);

    int ends[2]; /* a pipe without a name, as behind /dev/stdout */
    char path[64], text[8] = "";
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_int_equal(ls__os_check_writable(path, NULL), LS_OK);
    assert_int_equal(save(path, "through", NULL), LS_OK);
    assert_int_equal(read(ends[0], text, 7), 7);
    assert_string_equal(text, "through");
    close(ends[0]);
    close(ends[1]);
}

static void pieces_in_and_out(void **state)
{
    ls__os_appender *appender;
    ls__os_reader *reader;
    ls_error error = {0};
    char piece[4];
    size_t count;
    assert_int_equal(save("a", "something longer", &error), LS_OK);
    assert_int_equal(ls__os_appender_open("a", 0, &appender, &error), LS_OK);
    assert_content("a", "");
    assert_int_equal(ls__os_appender_write(appender, "one ", 4, &error), LS_OK);
    assert_content("a", "one "); /* seen while it grows */
    assert_int_equal(ls__os_appender_write(appender, "two", 3, &error), LS_OK);
    assert_int_equal(ls__os_appender_close(&appender, &error), LS_OK);
    assert_null(appender);
    assert_int_equal(ls__os_appender_close(&appender, &error), LS_OK);

    assert_int_equal(ls__os_reader_open("a", &reader, &error), LS_OK);
    assert_int_equal(ls__os_reader_read(reader, piece, 4, &count, &error), LS_OK);
    assert_int_equal(count, 4);
    assert_memory_equal(piece, "one ", 4);
    assert_int_equal(ls__os_reader_read(reader, piece, 4, &count, &error), LS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ls__os_reader_read(reader, piece, 4, &count, &error), LS_OK);
    assert_int_equal(count, 0);
    ls__os_reader_close(&reader);
    assert_null(reader);
    ls__os_reader_close(&reader);

    assert_int_equal(ls__os_reader_open("none", &reader, &error), LS_E_NOT_FOUND);
    assert_null(reader);
    assert_int_equal(ls__os_reader_open(".", &reader, &error), LS_E_IO);
    assert_int_equal(ls__os_appender_open(".", 0, &appender, &error), LS_E_IO);
    assert_null(appender);
    assert_int_equal(ls__os_appender_open("/dev/full", 0, &appender, &error), LS_OK);
    assert_int_equal(ls__os_appender_write(appender, "x", 1, &error), LS_E_IO);
    assert_int_equal(ls__os_appender_close(&appender, &error), LS_OK);
}

static void every_failing_allocation_is_clean(void **state)
{
    uint64_t n = 1;
    for (;; n++) {
        ls_error error = {0};
        ls__mem_fail_after(n);
        ls_status status = save("a", "text", &error);
        ls__mem_fail_after(0);
        if (status == LS_OK)
            break;
        assert_int_equal(status, LS_E_OUT_OF_MEMORY);
        assert_int_equal(error.code, LS_E_OUT_OF_MEMORY);
        assert_int_equal(file_count(), 0);
    }
    assert_true(n > 2);

    ls__mem_fail_after(1);
    void *bytes;
    size_t size;
    assert_int_equal(ls__os_read_file("a", 100, &bytes, &size, NULL), LS_E_OUT_OF_MEMORY);
    ls__mem_fail_after(2); /* the size of /dev/zero is not known: its buffer must grow */
    assert_int_equal(ls__os_read_file("/dev/zero", 100000, &bytes, &size, NULL),
                     LS_E_OUT_OF_MEMORY);
    ls__mem_fail_after(0);
    assert_null(bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(write_then_read),
        TEST(many_sizes_of_writes),
        TEST(read_errors),
        TEST(replaced_only_at_commit),
        TEST(link_is_followed),
        TEST(link_to_nowhere_is_refused),
        TEST(long_names),
        TEST(same_file),
        TEST(flush_then_commit),
        TEST(write_errors),
        TEST(full_disk),
        TEST(failed_write_cannot_be_committed),
        TEST(directory_removed_before_commit),
        TEST(pipe_both_ways),
        TEST(pieces_in_and_out),
        TEST(every_failing_allocation_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
