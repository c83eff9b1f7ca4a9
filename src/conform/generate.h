/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random Kernel C programs, well defined by construction: no step that C leaves undefined, every
 * local initialised, every index in range, every loop bounded. The same seed always gives the same
 * text.
 */
#ifndef LS_CONFORM_GENERATE_H
#define LS_CONFORM_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    LS__GENERATE_LANES = 96,    /* lanes to launch: one and a half workgroups of 64 */
    LS__GENERATE_ELEMENTS = 64, /* elements of every input buffer; outputs have one element a
                                   lane */
    LS__GENERATE_INPUTS = 4,
    LS__GENERATE_OUTPUTS = 4
};

/* Appends a whole file with one kernel named `name`. Statements stand one to a line, so that a
 * reducer can work on lines. `floats64` allows f64. */
void ls__generate(uint64_t seed, const char *name, bool floats64, ls__strbuf *out);

#endif
