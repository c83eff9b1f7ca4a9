/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: reading a whole one, and writing one so that it is seen complete or not at all. A symbolic
 * link is followed before the temporary file is made, so that the link stays and its target is
 * replaced. The temporary file is created with the mode of the file it replaces, or as the umask
 * says.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    char *path, *temporary;
    uint8_t buffer[65536];
};

static ls_status fail_errno(ls_error *error, const char *verb, const char *path, int number)
{
    ls_status code = LS_E_IO;
    if (number == ENOENT || number == ENOTDIR)
        code = LS_E_NOT_FOUND;
    else if (number == ENOMEM)
        code = LS_E_OUT_OF_MEMORY;
    const char *reason = strerrordesc_np(number);
    ls__fail(error, code, "cannot %s '%s': %s", verb, path, reason ? reason : "unknown error");
    ls__fail_where(error, code, "%s", path);
    if (number == ENOSPC || number == EDQUOT)
        ls__fail_hint(error, code, "free some space or name another place");
    return code;
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
        ssize_t count = read(fd, *bytes + *size, capacity - *size - 1);
        if (count < 0 && errno == EINTR)
            continue;
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

/* Creates a new file next to writer->path; the name is free when open says so. */
static ls_status open_temporary(ls__os_writer *writer, const struct stat *old, ls_error *error)
{
    size_t bytes = strlen(writer->path) + 48;
    writer->temporary = ls__mem_alloc(bytes, 1);
    if (!writer->temporary)
        return ls__fail_oom(error, bytes);
    for (unsigned attempt = 0; writer->fd < 0; attempt++) {
        snprintf(writer->temporary, bytes, "%s.%ld-%u.part", writer->path, (long)getpid(), attempt);
        writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd < 0 && (errno != EEXIST || attempt == 1000)) {
            int number = errno;
            ls__mem_free(writer->temporary); /* not ours: must not be removed */
            writer->temporary = NULL;
            return fail_errno(error, "write", writer->path, number);
        }
    }
    if (old && fchmod(writer->fd, old->st_mode & 0777) != 0)
        return fail_errno(error, "write", writer->path, errno);
    return LS_OK;
}

static ls_status open_target(ls__os_writer *writer, const char *path, ls_error *error)
{
    struct stat info;
    char resolved[PATH_MAX];
    bool exists = realpath(path, resolved) != NULL && stat(resolved, &info) == 0;
    writer->path = ls__mem_strdup(exists ? resolved : path);
    if (!writer->path)
        return ls__fail_oom(error, strlen(path) + 1);
    if (!exists)
        return open_temporary(writer, NULL, error);
    if (S_ISDIR(info.st_mode))
        return fail_errno(error, "write", path, EISDIR);
    /* A rename would go around a missing write permission. */
    if (access(resolved, W_OK) != 0)
        return fail_errno(error, "write", path, errno);
    if (S_ISREG(info.st_mode))
        return open_temporary(writer, &info, error);
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
            return fail_errno(error, "write", writer->path, errno);
        }
        bytes += count;
        size -= (size_t)count;
    }
    return LS_OK;
}

static ls_status flush(ls__os_writer *writer, ls_error *error)
{
    size_t used = writer->used;
    writer->used = 0;
    return write_all(writer, writer->buffer, used, error);
}

static ls_status check_not_failed(const ls__os_writer *writer, ls_error *error)
{
    if (!writer->failed)
        return LS_OK;
    return ls__fail(error, LS_E_STATE, "cannot write '%s': an earlier write failed", writer->path);
}

ls_status ls__os_writer_write(ls__os_writer *writer, const void *bytes, size_t size,
                              ls_error *error)
{
    ls_status status = check_not_failed(writer, error);
    if (status == LS_OK && size > sizeof writer->buffer - writer->used)
        status = flush(writer, error);
    if (status != LS_OK)
        return status;
    if (size > sizeof writer->buffer)
        return write_all(writer, bytes, size, error);
    if (size)
        memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
    return LS_OK;
}

ls_status ls__os_writer_commit(ls__os_writer **writer, ls_error *error)
{
    ls__os_writer *w = *writer;
    ls_status status = check_not_failed(w, error);
    if (status == LS_OK)
        status = flush(w, error);
    if (status == LS_OK && !w->in_place && fsync(w->fd) != 0)
        status = fail_errno(error, "write", w->path, errno);
    int fd = w->fd;
    w->fd = -1;
    /* Some file systems report a full disk only here. */
    if (close(fd) != 0 && errno != EINTR && status == LS_OK)
        status = fail_errno(error, "write", w->path, errno);
    if (status == LS_OK && !w->in_place) {
        if (rename(w->temporary, w->path) == 0) {
            ls__mem_free(w->temporary); /* it is the result now: abort must not remove it */
            w->temporary = NULL;
        } else {
            status = fail_errno(error, "write", w->path, errno);
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
    ls__mem_free(w);
    *writer = NULL;
}
