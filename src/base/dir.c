/* SPDX-License-Identifier: Apache-2.0 */
/* Private folders. Everything goes through the folder's descriptor and follows no symbolic link in
 * it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/status.h"

#define TEMPORARY_SUFFIX ".part"
enum { LEFT_BEHIND_SECONDS = 3600 };

struct ls__dir {
    int fd;
    atomic_uint next_temporary;
};

static ls_status fail_errno(ls_error *error, const char *verb, const char *name)
{
    ls_status code = errno == ENOENT ? LS_E_NOT_FOUND : LS_E_IO;
    const char *reason = strerrordesc_np(errno);
    return ls__fail(error, code, "cannot %s '%s': %s", verb, name,
                    reason ? reason : "unknown error");
}

/* --- the folder ---------------------------------------------------------------------------------
 */

static ls_status make_path(const char *path, ls_error *error)
{
    char *part = ls__mem_strdup(path);
    if (!part)
        return ls__fail_oom(error, strlen(path));
    for (char *c = part + 1; *part && *c; c++) {
        if (*c != '/')
            continue;
        *c = 0;
        mkdir(part, 0700); /* whether it is there now shows at the end */
        *c = '/';
    }
    ls_status status = LS_OK;
    if (mkdir(part, 0700) != 0 && errno != EEXIST)
        status = fail_errno(error, "make the folder", path);
    ls__mem_free(part);
    return status;
}

ls_status ls__dir_open(const char *path, ls__dir **dir, ls_error *error)
{
    *dir = NULL;
    ls_status status = make_path(path, error);
    return status == LS_OK ? ls__dir_open_made(path, dir, error) : status;
}

ls_status ls__dir_open_made(const char *path, ls__dir **dir, ls_error *error)
{
    struct stat info;
    ls_status status = LS_OK;
    *dir = NULL;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = fail_errno(error, "open the folder", path);
    } else if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        status =
            ls__fail(error, LS_E_UNSUPPORTED, "the folder '%s' is not this user's alone", path);
        ls__fail_hint(error, status, "it must belong to you, and nobody else may write to it");
    } else if (!(*dir = ls__mem_alloc(1, sizeof **dir))) {
        status = ls__fail_oom(error, sizeof **dir);
    }
    if (status == LS_OK)
        (*dir)->fd = fd;
    else if (fd >= 0)
        close(fd);
    return status;
}

void ls__dir_close(ls__dir **dir)
{
    if (!*dir)
        return;
    close((*dir)->fd);
    ls__mem_free(*dir);
    *dir = NULL;
}

/* --- files
 * ---------------------------------------------------------------------------------------- */

static bool read_exactly(int fd, uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t count = read(fd, bytes + at, size - at);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

ls_status ls__dir_read(const ls__dir *dir, const char *name, uint64_t limit_bytes, void **bytes,
                       size_t *size, ls_error *error)
{
    struct stat info;
    ls_status status = LS_OK;
    *bytes = NULL;
    int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = fail_errno(error, "open", name);
    } else if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > limit_bytes) {
        status = ls__fail(error, LS_E_LIMIT, "'%s' is no file of at most %llu bytes", name,
                          (unsigned long long)limit_bytes);
    } else {
        *size = (size_t)info.st_size;
        *bytes = ls__mem_alloc(*size, 1);
        if (!*bytes)
            status = ls__fail_oom(error, *size);
        else if (!read_exactly(fd, *bytes, *size))
            status = fail_errno(error, "read", name);
    }
    if (fd >= 0)
        close(fd);
    if (status != LS_OK) {
        ls__mem_free(*bytes);
        *bytes = NULL;
    }
    return status;
}

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t count = write(fd, bytes + at, size - at);
        if (count < 0 && errno != EINTR)
            return false;
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

ls_status ls__dir_write(const ls__dir *dir, const char *name, const void *bytes, size_t size,
                        ls_error *error)
{
    char temporary[64];
    unsigned number = atomic_fetch_add(&((ls__dir *)(uintptr_t)dir)->next_temporary, 1);
    snprintf(temporary, sizeof temporary, "%ld-%u" TEMPORARY_SUFFIX, (long)getpid(), number);
    int fd =
        openat(dir->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_errno(error, "write", name);
    ls_status status = LS_OK;
    if (!write_all(fd, bytes, size))
        status = fail_errno(error, "write", name);
    if (close(fd) != 0 && status == LS_OK)
        status = fail_errno(error, "write", name);
    if (status == LS_OK && renameat(dir->fd, temporary, dir->fd, name) != 0)
        status = fail_errno(error, "write", name);
    if (status != LS_OK)
        unlinkat(dir->fd, temporary, 0);
    return status;
}

void ls__dir_touch(const ls__dir *dir, const char *name)
{
    utimensat(dir->fd, name, NULL, AT_SYMLINK_NOFOLLOW);
}

void ls__dir_remove(const ls__dir *dir, const char *name)
{
    unlinkat(dir->fd, name, 0);
}

/* --- trimming
 * --------------------------------------------------------------------------------------- */

typedef struct file {
    char name[128];
    uint64_t bytes;
    struct timespec used;
} file;

typedef struct files {
    file *items;
    size_t count, capacity;
    uint64_t bytes;
} files;

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

static void add_file(files *all, const char *name, const struct stat *info)
{
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 64;
        file *more = ls__mem_realloc(all->items, capacity, sizeof *more);
        if (!more)
            return;
        all->items = more;
        all->capacity = capacity;
    }
    file *f = &all->items[all->count++];
    *f = (file){.bytes = (uint64_t)info->st_size, .used = info->st_mtim};
    strcpy(f->name, name);
    all->bytes += f->bytes;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const file *)a)->used, *y = &((const file *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void ls__dir_trim(const ls__dir *dir, const char *suffix, uint64_t limit_bytes)
{
    files all = {0};
    int fd =
        openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a position of its own */
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct stat info;
        if (fstatat(dir->fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode) || strlen(entry->d_name) >= sizeof all.items->name)
            continue;
        if (ends_in(entry->d_name, suffix))
            add_file(&all, entry->d_name, &info);
        else if (ends_in(entry->d_name, TEMPORARY_SUFFIX) &&
                 time(NULL) - info.st_mtime > LEFT_BEHIND_SECONDS)
            unlinkat(dir->fd, entry->d_name, 0);
    }
    closedir(stream);
    if (all.bytes > limit_bytes) {
        qsort(all.items, all.count, sizeof *all.items, by_use);
        for (size_t i = 0; i < all.count && all.bytes > limit_bytes; i++) {
            unlinkat(dir->fd, all.items[i].name, 0);
            all.bytes -= all.items[i].bytes;
        }
    }
    ls__mem_free(all.items);
}
