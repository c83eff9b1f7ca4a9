/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that somebody types, with editing and history, or that come through a pipe. */
#ifndef LS_CLI_EDITOR_H
#define LS_CLI_EDITOR_H

#include <stddef.h>

#include "lockstep/base.h"

typedef struct ls__cli_editor ls__cli_editor;

typedef enum ls__cli_line {
    LS__LINE_READ,
    LS__LINE_CANCELLED, /* Ctrl-C at the prompt */
    LS__LINE_END        /* Ctrl-D, the end of the input, or a signal that ends the program */
} ls__cli_line;

/* Lines of standard input: with a prompt and editing when it and one of the outputs are a terminal.
 * The history is kept in a file unless `forgets`; that it cannot be is no error. */
ls_status ls__cli_editor_open(bool forgets, ls__cli_editor **editor, ls_error *error);
bool ls__cli_editor_is_terminal(const ls__cli_editor *editor);
/* Without the line break; *text lives until the next call. `continues`: the line goes on with a
 * text that the lines before began. Blocks. */
ls__cli_line ls__cli_editor_read(ls__cli_editor *editor, bool continues, const char **text,
                                 size_t *length);
void ls__cli_editor_close(ls__cli_editor **editor); /* accepts NULL, writes NULL */

#endif
