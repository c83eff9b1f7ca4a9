/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: reading a whole one or pieces, and writing one so that it is seen complete or not at all,
 * or while it grows. For the former a symbolic link is followed before the temporary file is made,
 * so that the link stays and its target is replaced. The temporary file is created with the mode of
 * the file it replaces, or as the umask says.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"

struct ls__os_writer {
    int fd;
    bool in_place; /* a device or pipe: nothing to rename or remove */
    bool failed;
    size_t used;
    char *name;             /* as the caller gave it: for messages */
    char *path, *temporary; /* of the file that is replaced, links followed */
    uint8_t buffer[65536];
};

static ls_status fail_errno(ls_error *error, const char *verb, const char *path, int number)
{
    ls_status code = LS_E_IO;
    if (number == ENOENT || number == ENOTDIR)
        code = LS_E_NOT_FOUND;
    else if (number == ENOMEM)
        code = LS_E_OUT_OF_MEMORY;
    else if (number == ECANCELED)
        code = LS_E_CANCELLED;
    const char *reason = strerrordesc_np(number);
    size_t length = strlen(path), most = 200; /* the reason must fit behind it */
    bool cut = length > most;
    ls__fail(error, code, "cannot %s '%s%s': %s", verb, cut ? "..." : "",
             cut ? path + length - most : path, reason ? reason : "unknown error");
    ls__fail_where(error, code, "%s", path);
    if (number == ENOSPC || number == EDQUOT)
        ls__fail_hint(error, code, "free some space or name another place");
    return code;
}

enum { STOP_MS = 50 };                /* until a flag that was set is seen */
static const volatile int *stop_flag; /* see ls__os_stop_reads; set while there is one thread */

void ls__os_stop_reads(const volatile int *flag)
{
    stop_flag = flag;
}

/* read, again after signals; -1 and ECANCELED when reads stop while there is nothing to read. */
static ssize_t read_some(int fd, void *bytes, size_t capacity)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    ssize_t count;
    do {
        int ready = 1;
        while (stop_flag && (ready = poll(&input, 1, STOP_MS)) <= 0 &&
               !(ready < 0 && errno != EINTR))
            if (*stop_flag) {
                errno = ECANCELED;
                return -1;
            }
        count = read(fd, bytes, capacity);
    } while (count < 0 && errno == EINTR);
    return count;
}

/* Reads all of `fd`; the caller owns *bytes also on failure. */
static ls_status read_all(int fd, const char *path, uint64_t limit_bytes, size_t expected,
                          uint8_t **bytes, size_t *size, ls_error *error)
{
    size_t capacity = 0;
    *size = 0;
    for (;;) {
        if (*size + 1 >= capacity) { /* one byte stays for the terminator */
            size_t grown = capacity ? capacity * 2 : expected + 2;
            uint8_t *more = grown > capacity ? ls__mem_realloc(*bytes, grown, 1) : NULL;
            if (!more)
                return ls__fail_oom(error, grown);
            *bytes = more;
            capacity = grown;
        }
        ssize_t count = read_some(fd, *bytes + *size, capacity - *size - 1);
        if (count < 0)
            return fail_errno(error, "read", path, errno);
        if (count == 0)
            break;
        *size += (size_t)count;
        if (*size > limit_bytes)
            return ls__fail(error, LS_E_LIMIT, "'%s' is larger than %llu bytes", path,
                            (unsigned long long)limit_bytes);
    }
    (*bytes)[*size] = 0;
    return LS_OK;
}

ls_status ls__os_read_file(const char *path, uint64_t limit_bytes, void **bytes, size_t *size,
                           ls_error *error)
{
    uint8_t *data = NULL;
    size_t data_size = 0;
    struct stat info;
    ls_status status;
    *bytes = NULL;
    *size = 0;

    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(error, "open", path, errno);
    if (fstat(fd, &info) != 0) {
        status = fail_errno(error, "read", path, errno);
    } else if (S_ISDIR(info.st_mode)) {
        status = fail_errno(error, "read", path, EISDIR);
    } else if (info.st_size > 0 && (uint64_t)info.st_size > limit_bytes) {
        status = ls__fail(error, LS_E_LIMIT, "'%s' has %llu bytes, more than the limit of %llu",
                          path, (unsigned long long)info.st_size, (unsigned long long)limit_bytes);
    } else {
        /* Files of /proc and pipes tell no size: start with a page. */
        size_t expected = info.st_size > 0 ? (size_t)info.st_size : 4096;
        status = read_all(fd, path, limit_bytes, expected, &data, &data_size, error);
    }
    close(fd);
    if (status != LS_OK) {
        ls__mem_free(data);
        return status;
    }
    *bytes = data;
    *size = data_size;
    return LS_OK;
}

ls_status ls__os_map(const char *path, ls__os_mapping *mapping, ls_error *error)
{
    struct stat info;
    ls_status status = LS_OK;
    void *bytes = NULL;
    *mapping = (ls__os_mapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_errno(error, "open", path, errno);
    if (fstat(fd, &info) != 0) {
        status = fail_errno(error, "read", path, errno);
    } else if (!S_ISREG(info.st_mode)) {
        status = S_ISDIR(info.st_mode)
                     ? fail_errno(error, "read", path, EISDIR)
                     : ls__fail(error, LS_E_IO, "'%s' is no regular file, which is needed", path);
    } else if (info.st_size > 0) {
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            status = fail_errno(error, "map", path, errno);
        else
            *mapping = (ls__os_mapping){bytes, (uint64_t)info.st_size};
    }
    close(fd);
    return status;
}

void ls__os_forget(const ls__os_mapping *mapping, uint64_t first, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = first + bytes;
    first = (first + page - 1) / page * page;
    if (end < mapping->size)
        end = end / page * page;
    if (mapping->bytes && end > first)
        (void)madvise((void *)(uintptr_t)(mapping->bytes + first), (size_t)(end - first),
                      MADV_DONTNEED);
}

void ls__os_unmap(ls__os_mapping *mapping)
{
    if (mapping->bytes)
        munmap((void *)(uintptr_t)mapping->bytes, (size_t)mapping->size);
    *mapping = (ls__os_mapping){0};
}

/* The file that `path` stands for, with links followed; it need not exist, but its folder must. */
static ls_status resolve(const char *path, char target[PATH_MAX], ls_error *error)
{
    struct stat info;
    char folder[PATH_MAX];
    if (realpath(path, target))
        return LS_OK;
    int number = errno;
    if (number != ENOENT)
        return fail_errno(error, "write", path, number);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && strlen(path) < PATH_MAX) {
        strcpy(target, path); /* a pipe behind /dev/stdout has no path of its own */
        return LS_OK;
    }
    if (lstat(path, &info) == 0) {
        fail_errno(error, "write", path, number);
        return ls__fail_hint(error, LS_E_NOT_FOUND, "it is a symbolic link that leads nowhere");
    }
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (!*base || length >= sizeof folder)
        return fail_errno(error, "write", path, *base ? ENAMETOOLONG : ENOENT);
    memcpy(folder, slash ? path : ".", length);
    folder[length] = 0;
    if (!realpath(folder, target))
        return fail_errno(error, "write", path, errno);
    size_t used = strlen(target);
    if (used + 1 + strlen(base) >= PATH_MAX)
        return fail_errno(error, "write", path, ENAMETOOLONG);
    snprintf(target + used, PATH_MAX - used, "%s%s", used > 1 ? "/" : "", base);
    return LS_OK;
}

bool ls__os_same_file(const char *a, const char *b)
{
    char target_a[PATH_MAX], target_b[PATH_MAX];
    return resolve(a, target_a, NULL) == LS_OK && resolve(b, target_b, NULL) == LS_OK &&
           strcmp(target_a, target_b) == 0;
}

/* Creates a new file next to writer->path; the name is free when open says so. */
static ls_status open_temporary(ls__os_writer *writer, const struct stat *old, ls_error *error)
{
    enum {
        MOST = 200
    }; /* bytes of the name kept: names have at most 255, and this one is
          longer */
    const char *base = strrchr(writer->path, '/') + 1; /* a resolved path has one */
    size_t bytes = strlen(writer->path) + 48;
    writer->temporary = ls__mem_alloc(bytes, 1);
    if (!writer->temporary)
        return ls__fail_oom(error, bytes);
    for (unsigned attempt = 0; writer->fd < 0; attempt++) {
        snprintf(writer->temporary, bytes, "%.*s%.*s.%ld-%u.part", (int)(base - writer->path),
                 writer->path, MOST, base, (long)getpid(), attempt);
        writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd < 0 && (errno != EEXIST || attempt == 1000)) {
            int number = errno;
            ls__mem_free(writer->temporary); /* not ours: must not be removed */
            writer->temporary = NULL;
            return fail_errno(error, "write", writer->name, number);
        }
    }
    if (old && fchmod(writer->fd, old->st_mode & 0777) != 0)
        return fail_errno(error, "write", writer->name, errno);
    return LS_OK;
}

/* What a writer for `path` replaces, and that it may. `info` is zeroed when nothing is there
 * yet. */
static ls_status find_target(const char *path, char target[PATH_MAX], struct stat *info,
                             ls_error *error)
{
    memset(info, 0, sizeof *info);
    ls_status status = resolve(path, target, error);
    if (status != LS_OK)
        return status;
    if (stat(target, info) != 0)
        return errno == ENOENT ? LS_OK : fail_errno(error, "write", path, errno);
    if (S_ISDIR(info->st_mode))
        return fail_errno(error, "write", path, EISDIR);
    /* A rename would go around a missing write permission. */
    if (access(target, W_OK) != 0)
        return fail_errno(error, "write", path, errno);
    return LS_OK;
}

ls_status ls__os_check_writable(const char *path, ls_error *error)
{
    struct stat info;
    char target[PATH_MAX];
    ls_status status = find_target(path, target, &info, error);
    if (status != LS_OK || (info.st_mode && !S_ISREG(info.st_mode)))
        return status;
    strrchr(target, '/')[1] = 0;
    return access(target, W_OK | X_OK) == 0 ? LS_OK : fail_errno(error, "write", path, errno);
}

static ls_status open_target(ls__os_writer *writer, const char *path, ls_error *error)
{
    struct stat info;
    char resolved[PATH_MAX];
    ls_status status = find_target(path, resolved, &info, error);
    if (status != LS_OK)
        return status;
    writer->name = ls__mem_strdup(path);
    writer->path = ls__mem_strdup(resolved);
    if (!writer->name || !writer->path)
        return ls__fail_oom(error, strlen(path) + 1);
    if (!info.st_mode || S_ISREG(info.st_mode))
        return open_temporary(writer, info.st_mode ? &info : NULL, error);
    writer->in_place = true;
    writer->fd = open(resolved, O_WRONLY | O_CLOEXEC);
    return writer->fd < 0 ? fail_errno(error, "write", path, errno) : LS_OK;
}

ls_status ls__os_writer_open(const char *path, ls__os_writer **writer, ls_error *error)
{
    *writer = NULL;
    ls__os_writer *opened = ls__mem_alloc(1, sizeof *opened);
    if (!opened)
        return ls__fail_oom(error, sizeof *opened);
    opened->fd = -1;
    ls_status status = open_target(opened, path, error);
    if (status != LS_OK) {
        ls__os_writer_abort(&opened);
        return status;
    }
    *writer = opened;
    return LS_OK;
}

static ls_status write_all(ls__os_writer *writer, const uint8_t *bytes, size_t size,
                           ls_error *error)
{
    while (size > 0) {
        ssize_t count = write(writer->fd, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            writer->failed = true;
            return fail_errno(error, "write", writer->name, errno);
        }
        bytes += count;
        size -= (size_t)count;
    }
    return LS_OK;
}

static ls_status write_buffer(ls__os_writer *writer, ls_error *error)
{
    size_t used = writer->used;
    writer->used = 0;
    return write_all(writer, writer->buffer, used, error);
}

static ls_status check_not_failed(const ls__os_writer *writer, ls_error *error)
{
    if (!writer->failed)
        return LS_OK;
    return ls__fail(error, LS_E_STATE, "cannot write '%s': an earlier write failed", writer->name);
}

ls_status ls__os_writer_write(ls__os_writer *writer, const void *bytes, size_t size,
                              ls_error *error)
{
    ls_status status = check_not_failed(writer, error);
    if (status == LS_OK && size > sizeof writer->buffer - writer->used)
        status = write_buffer(writer, error);
    if (status != LS_OK)
        return status;
    if (size > sizeof writer->buffer)
        return write_all(writer, bytes, size, error);
    if (size)
        memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
    return LS_OK;
}

ls_status ls__os_writer_flush(ls__os_writer *writer, ls_error *error)
{
    ls_status status = check_not_failed(writer, error);
    if (status == LS_OK)
        status = write_buffer(writer, error);
    if (status == LS_OK && !writer->in_place && fsync(writer->fd) != 0) {
        writer->failed = true;
        status = fail_errno(error, "write", writer->name, errno);
    }
    return status;
}

ls_status ls__os_writer_commit(ls__os_writer **writer, ls_error *error)
{
    ls__os_writer *w = *writer;
    ls_status status = ls__os_writer_flush(w, error);
    int fd = w->fd;
    w->fd = -1;
    /* Some file systems report a full disk only here. */
    if (close(fd) != 0 && errno != EINTR && status == LS_OK)
        status = fail_errno(error, "write", w->name, errno);
    if (status == LS_OK && !w->in_place) {
        if (rename(w->temporary, w->path) == 0) {
            ls__mem_free(w->temporary); /* it is the result now: abort must not remove it */
            w->temporary = NULL;
        } else {
            status = fail_errno(error, "write", w->name, errno);
        }
    }
    ls__os_writer_abort(writer);
    return status;
}

void ls__os_writer_abort(ls__os_writer **writer)
{
    ls__os_writer *w = *writer;
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    if (w->temporary)
        unlink(w->temporary);
    ls__mem_free(w->temporary);
    ls__mem_free(w->path);
    ls__mem_free(w->name);
    ls__mem_free(w);
    *writer = NULL;
}

static ls_status write_whole(const char *path, const void *bytes, size_t size, const char *end,
                             ls_error *error)
{
    ls__os_writer *writer = NULL;
    ls_status status = ls__os_writer_open(path, &writer, error);
    if (status == LS_OK)
        status = ls__os_writer_write(writer, bytes, size, error);
    if (status == LS_OK)
        status = ls__os_writer_write(writer, end, strlen(end), error);
    if (status == LS_OK)
        status = ls__os_writer_commit(&writer, error);
    ls__os_writer_abort(&writer);
    return status;
}

ls_status ls__os_write_file(const char *path, const void *bytes, size_t size, ls_error *error)
{
    return write_whole(path, bytes, size, "", error);
}

ls_status ls__os_write_line(const char *path, const char *text, ls_error *error)
{
    return write_whole(path, text, strlen(text), "\n", error);
}

/* --- pieces ---------------------------------------------------------------------------------- */
struct ls__os_reader {
    int fd;
    char *name;
};

ls_status ls__os_reader_open(const char *path, ls__os_reader **reader, ls_error *error)
{
    struct stat info;
    ls_status status = LS_OK;
    *reader = NULL;
    ls__os_reader *opened = ls__mem_alloc(1, sizeof *opened);
    if (!opened)
        return ls__fail_oom(error, sizeof *opened);
    opened->name = ls__mem_strdup(path);
    opened->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (opened->fd < 0)
        status = fail_errno(error, "open", path, errno);
    else if (fstat(opened->fd, &info) != 0)
        status = fail_errno(error, "read", path, errno);
    else if (S_ISDIR(info.st_mode))
        status = fail_errno(error, "read", path, EISDIR);
    else if (!opened->name)
        status = ls__fail_oom(error, strlen(path) + 1);
    if (status != LS_OK)
        ls__os_reader_close(&opened);
    *reader = opened;
    return status;
}

ls_status ls__os_reader_read(ls__os_reader *reader, void *bytes, size_t capacity, size_t *count,
                             ls_error *error)
{
    ssize_t got = read_some(reader->fd, bytes, capacity);
    *count = got > 0 ? (size_t)got : 0;
    return got < 0 ? fail_errno(error, "read", reader->name, errno) : LS_OK;
}

void ls__os_reader_close(ls__os_reader **reader)
{
    ls__os_reader *r = *reader;
    *reader = NULL;
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    ls__mem_free(r->name);
    ls__mem_free(r);
}

struct ls__os_appender {
    int fd;
    bool is_regular;
    uint64_t size; /* whole pieces */
    char mark;     /* what the first line of a record begins with; 0: pieces are records */
    char *name;
};

ls_status ls__os_appender_open(const char *path, char mark, ls__os_appender **appender,
                               ls_error *error)
{
    struct stat info;
    ls_status status = LS_OK;
    *appender = NULL;
    ls__os_appender *opened = ls__mem_alloc(1, sizeof *opened);
    if (!opened)
        return ls__fail_oom(error, sizeof *opened);
    opened->mark = mark;
    opened->name = ls__mem_strdup(path);
    opened->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (opened->fd < 0 || fstat(opened->fd, &info) != 0)
        status = fail_errno(error, "write", path, errno);
    else if (!opened->name)
        status = ls__fail_oom(error, strlen(path) + 1);
    else
        opened->is_regular = S_ISREG(info.st_mode);
    if (status != LS_OK)
        ls__os_appender_close(&opened, NULL);
    *appender = opened;
    return status;
}

/* The bytes of whole records among those of a piece that are in the file. */
static size_t whole_records(const ls__os_appender *appender, const char *bytes, size_t written)
{
    if (!appender->mark)
        return 0;
    for (size_t at = written; at > 1; at--)
        if (bytes[at - 1] == appender->mark && bytes[at - 2] == '\n')
            return at - 1;
    return 0;
}

ls_status ls__os_appender_write(ls__os_appender *appender, const void *bytes, size_t size,
                                ls_error *error)
{
    const char *next = bytes;
    size_t left = size;
    while (left > 0) {
        ssize_t count = write(appender->fd, next, left);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            ls_status status = fail_errno(error, "write", appender->name, errno);
            appender->size += whole_records(appender, bytes, size - left);
            if (appender->is_regular && ftruncate(appender->fd, (off_t)appender->size) != 0)
                ls__fail_hint(error, status, "its last line may be cut");
            return status;
        }
        next += count;
        left -= (size_t)count;
    }
    appender->size += size;
    return LS_OK;
}

ls_status ls__os_appender_close(ls__os_appender **appender, ls_error *error)
{
    ls__os_appender *a = *appender;
    ls_status status = LS_OK;
    *appender = NULL;
    if (!a)
        return LS_OK;
    /* Some file systems report a full disk only here. */
    if (a->fd >= 0 && close(a->fd) != 0 && errno != EINTR)
        status = fail_errno(error, "write", a->name, errno);
    ls__mem_free(a->name);
    ls__mem_free(a);
    return status;
}
