/* SPDX-License-Identifier: Apache-2.0 */
/* What a source of the user's says, as far as its text shows it: no compiler reads it here. */
#ifndef LS_TESTBENCH_SOURCE_H
#define LS_TESTBENCH_SOURCE_H

#include <stdbool.h>

/* The text, for ls__mem_free; NULL where it is no file that can be read. */
char *ls__source_read(const char *path);

/* Whether Kernel C assigns a member of this name: "pins->led = 1", "p.led ^= 1". */
bool ls__source_assigns(const char *text, const char *member);

/* Calls back with `path` and every file that it includes, and they: #include of Kernel C, `include,
 * $readmemh and $readmemb of Verilog, with a name in quotes. A name may stand for two files, in the
 * folder of the source and in the working folder; what is no file that can be read ends there. */
void ls__source_visit_files(const char *path, void (*visit)(void *context, const char *path),
                            void *context);

#endif
