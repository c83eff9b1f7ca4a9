/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that appear whole. They are flat, so that removing one is removing files. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"

enum { TRIES = 1000 };

struct ls__folder {
    char *path;      /* without slashes at its end */
    char *temporary; /* the folder that is being filled */
};

static ls_status fail_errno(ls_error *error, const char *path, int number)
{
    const char *reason = strerrordesc_np(number);
    return ls__fail(error, number == ENOENT ? LS_E_NOT_FOUND : LS_E_IO,
                    "cannot write the folder '%s': %s", path, reason ? reason : "unknown error");
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_among(const char *name, const char *const *known, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

/* What is at `path` now may be replaced. */
static ls_status check_target(const char *path, const char *const *known, uint32_t count,
                              ls_error *error)
{
    ls_status status = LS_OK;
    DIR *dir = opendir(path);
    if (!dir && errno == ENOENT)
        return LS_OK;
    if (!dir)
        return fail_errno(error, path, errno);
    for (struct dirent *entry; status == LS_OK && (entry = readdir(dir));) {
        if (is_dots(entry->d_name) || is_among(entry->d_name, known, count))
            continue;
        ls__fail(error, LS_E_INVALID_ARGUMENT, "the folder '%s' has other files: '%s'", path,
                 entry->d_name);
        status = ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                               "name a new folder, an empty one, or one that this replaces");
    }
    closedir(dir);
    return status;
}

/* A folder of files. */
static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (!is_dots(entry->d_name))
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(path);
}

static ls_status make_temporary(ls__folder *folder, ls_error *error)
{
    size_t size = strlen(folder->path) + 40;
    char *name = ls__mem_alloc(size, 1);
    if (!name)
        return ls__fail_oom(error, size);
    int made = -1;
    for (unsigned i = 0; made != 0 && i < TRIES; i++) { /* not mkdtemp: the mode is the user's */
        snprintf(name, size, "%s.part-%ld-%u", folder->path, (long)getpid(), i);
        made = mkdir(name, 0777);
        if (made != 0 && errno != EEXIST)
            break;
    }
    if (made == 0) {
        folder->temporary = name;
        return LS_OK;
    }
    int number = errno;
    ls__mem_free(name);
    return fail_errno(error, folder->path, number);
}

ls_status ls__folder_open(const char *path, const char *const *known, uint32_t known_count,
                          ls__folder **folder, ls_error *error)
{
    *folder = NULL;
    ls__folder *opened = ls__mem_alloc(1, sizeof *opened);
    if (opened)
        opened->path = ls__mem_strdup(path);
    if (!opened || !opened->path) {
        ls__mem_free(opened);
        return ls__fail_oom(error, sizeof *opened);
    }
    for (size_t length = strlen(path); length > 1 && opened->path[length - 1] == '/'; length--)
        opened->path[length - 1] = 0;
    ls_status status = check_target(opened->path, known, known_count, error);
    if (status == LS_OK)
        status = make_temporary(opened, error);
    if (status != LS_OK)
        ls__folder_abort(&opened);
    *folder = opened;
    return status;
}

ls_status ls__folder_write(ls__folder *folder, const char *name, const void *bytes, size_t size,
                           ls_error *error)
{
    size_t length = strlen(folder->temporary) + strlen(name) + 2;
    char *path = ls__mem_alloc(length, 1);
    if (!path)
        return ls__fail_oom(error, length);
    snprintf(path, length, "%s/%s", folder->temporary, name);
    ls_status status = ls__os_write_file(path, bytes, size, error);
    ls__mem_free(path);
    return status;
}

/* Puts the new folder in the place of what is there, which is under the temporary name then. */
static bool swap(const ls__folder *folder)
{
    return renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0;
}

ls_status ls__folder_commit(ls__folder **folder, ls_error *error)
{
    ls__folder *f = *folder;
    ls_status status = LS_OK;
    /* An empty folder is replaced by a renaming as well. */
    if (rename(f->temporary, f->path) == 0) {
        ls__mem_free(f->temporary);
        f->temporary = NULL;
    } else if ((errno != ENOTEMPTY && errno != EEXIST) || !swap(f)) {
        status = fail_errno(error, f->path, errno);
    }
    ls__folder_abort(folder);
    return status;
}

void ls__folder_abort(ls__folder **folder)
{
    ls__folder *f = *folder;
    *folder = NULL;
    if (!f)
        return;
    if (f->temporary)
        remove_folder(f->temporary);
    ls__mem_free(f->temporary);
    ls__mem_free(f->path);
    ls__mem_free(f);
}
