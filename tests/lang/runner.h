/* SPDX-License-Identifier: Apache-2.0 */
/* The corpus runner: one case is a file whose leading // comment lines say what is expected. */
#ifndef LS_TESTS_LANG_RUNNER_H
#define LS_TESTS_LANG_RUNNER_H

#include <stdbool.h>

#include "interp/interp.h"
#include "ir/ir.h"

/* Runs what a "run:" line says and compares; prints what differs and gives false. `line` is written
 * to. */
bool run_case(const char *path, const ls__ir_module *module, char *line);

/* Runs the launch on the interpreter. What else is done with it is up to the program that the
 * runner is part of: execute.c does no more, that of tests/emit_llvm also compiles the kernel and
 * compares. */
ls_status run_launch(ls__interp_launch *launch, ls__interp_result *result, ls_error *error);

#endif
