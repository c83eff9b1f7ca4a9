/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of files that appears whole or not at all: it is filled under a temporary name beside
 * its own, and renamed when it is done. */
#ifndef LS_BASE_FOLDER_H
#define LS_BASE_FOLDER_H

#include "lockstep/base.h"

typedef struct ls__folder ls__folder;

/* `path` may name a folder that is empty or has nothing but files of the names `known`: commit
 * replaces it. Anything else that is there is refused. */
ls_status ls__folder_open(const char *path, const char *const *known, uint32_t known_count,
                          ls__folder **folder, ls_error *error);
/* `name` has no slash, and is new. */
ls_status ls__folder_write(ls__folder *folder, const char *name, const void *bytes, size_t size,
                           ls_error *error);
ls_status ls__folder_commit(ls__folder **folder, ls_error *error); /* writes NULL */
void ls__folder_abort(ls__folder **folder);                        /* accepts NULL, writes NULL */

#endif
