/* SPDX-License-Identifier: Apache-2.0 */
/* The values of all registers, each under its first name, after each of the first edges, as text.
 */
#ifndef LS_TESTBENCH_DUMP_H
#define LS_TESTBENCH_DUMP_H

#include "lockstep/cosim.h"

typedef struct ls__dump ls__dump;

/* The design must stay. */
ls_status ls__dump_create(const ls_design *design, ls__dump **dump, ls_error *error);
/* Before the first edge. */
ls_status ls__dump_open(ls__dump *dump, const char *path, ls_error *error);
/* The registers of instance 0 as they are after `edge`, at a time in ps. A write that fails is
 * reported by close. */
ls_status ls__dump_edge(ls__dump *dump, ls_cosim *cosim, uint64_t edge, uint64_t time_ps,
                        ls_error *error);
ls_status ls__dump_close(ls__dump **dump, ls_error *error); /* accepts NULL, writes NULL */

#endif
