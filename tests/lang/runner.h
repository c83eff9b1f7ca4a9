/* SPDX-License-Identifier: Apache-2.0 */
/* The corpus runner: one case is a file whose leading // comment lines say what is expected. */
#ifndef LS_TESTS_LANG_RUNNER_H
#define LS_TESTS_LANG_RUNNER_H

#include <stdbool.h>

#include "ir/ir.h"

/* Runs what a "run:" line says and compares; prints what differs and gives false. `line` is written
 * to. */
bool run_case(const char *path, const ls__ir_module *module, char *line);

#endif
