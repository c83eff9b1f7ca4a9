/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a command: none is written that is read, nor two times. */
#ifndef LS_CLI_FILES_H
#define LS_CLI_FILES_H

#include "lockstep/base.h"

typedef struct ls__cli_file ls__cli_file;

/* All that a command is going to open; begins as zeros. */
typedef struct ls__cli_files {
    ls__cli_file *items;
    uint32_t count, capacity;
    bool failed; /* memory ran out */
} ls__cli_files;

/* `path` may be NULL: no file. It is copied. What a source (.kc, .v, .sv) includes is read, too, as
 * are all parts of a split model (.gguf). */
void ls__cli_files_read(ls__cli_files *files, const char *path);
void ls__cli_files_write(ls__cli_files *files, const char *path);

/* LS_E_INVALID_ARGUMENT names a file that is read and written, or written twice. Devices and pipes
 * may be both. */
ls_status ls__cli_files_check(const ls__cli_files *files, ls_error *error);
void ls__cli_files_finish(ls__cli_files *files);

#endif
