/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be in a module of PTX, whatever assembles it. */
#ifndef LS_TESTS_EMIT_PTX_LINT_H
#define LS_TESTS_EMIT_PTX_LINT_H

#include <stdbool.h>
#include <stddef.h>

/* The first line at which something is wrong, copied to `line`, and what; NULL: nothing is.
 * `has_fma`: the IR asks for fused operations. */
const char *ls__ptx_lint(const char *text, bool has_fma, char *line, size_t size);

#endif
