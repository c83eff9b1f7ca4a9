/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of files that no other user may change: for caches. It is opened once and held, so
 * replacing its path later changes nothing. Several processes may use one folder at a time: a file
 * appears whole under its name or not at all, and may vanish at any moment.
 */
#ifndef LS_BASE_DIR_H
#define LS_BASE_DIR_H

#include "lockstep/base.h"

typedef struct ls__dir ls__dir;

/* Opens the folder, and makes it (and what of its path is missing) with mode 0700. LS_E_UNSUPPORTED
 * when it belongs to another user or others may write to it. */
ls_status ls__dir_open(const char *path, ls__dir **dir, ls_error *error);
/* The same, but makes nothing. */
ls_status ls__dir_open_made(const char *path, ls__dir **dir, ls_error *error);
void ls__dir_close(ls__dir **dir); /* accepts NULL, writes NULL */

/* Names have no slash. A whole regular file of at most `limit_bytes` into heap memory
 * (ls__mem_free). */
ls_status ls__dir_read(const ls__dir *dir, const char *name, uint64_t limit_bytes, void **bytes,
                       size_t *size, ls_error *error);
ls_status ls__dir_write(const ls__dir *dir, const char *name, const void *bytes, size_t size,
                        ls_error *error);
void ls__dir_touch(const ls__dir *dir, const char *name); /* it has been used: see trim */
void ls__dir_remove(const ls__dir *dir, const char *name);

/* Removes the files that end in `suffix` and were used longest ago until the rest has at most
 * `limit_bytes`, and temporary files that a process left behind an hour ago or more. */
void ls__dir_trim(const ls__dir *dir, const char *suffix, uint64_t limit_bytes);

#endif
