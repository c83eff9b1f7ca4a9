/* SPDX-License-Identifier: Apache-2.0 */
/* Names of signals with wildcards. */
#ifndef LS_TESTBENCH_NAMES_H
#define LS_TESTBENCH_NAMES_H

#include "base/str.h"
#include "lockstep/cosim.h"

/* Marks ([signal_count]) what the pattern names; blanks around it do not count, an empty one names
 * nothing. LS_E_NOT_FOUND where it names no signal. */
ls_status ls__names_mark(const ls_design *design, ls__str pattern, uint8_t *marked,
                         ls_error *error);

#endif
