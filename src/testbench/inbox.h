/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on their way into the rings of peripherals (src/cosim/peripherals/queue.kc): bytes for a
 * UART, levels for GPIO. What does not fit into a ring waits here.
 */
#ifndef LS_TESTBENCH_INBOX_H
#define LS_TESTBENCH_INBOX_H

#include "lockstep/cosim.h"
#include "testbench/plan.h"

typedef struct ls__inbox ls__inbox;

ls_status ls__inbox_create(const ls__plan *plan, uint32_t instances, ls__inbox **inbox,
                           ls_error *error);
void ls__inbox_destroy(ls__inbox **inbox); /* accepts NULL, writes NULL */

/* Behind all others for this peripheral; taken at `edge` or as soon as its turn comes. */
ls_status ls__inbox_put(ls__inbox *inbox, uint32_t instance, uint32_t source, uint64_t value,
                        uint64_t edge, ls_error *error);
/* Before a run of an instance: fills the rings of `cosim` and, when it is not NULL, of `other`,
 * which is in the same state. *until is made smaller so that no ring runs empty, nor a value comes
 * late, while some wait here. */
ls_status ls__inbox_pump(ls__inbox *inbox, ls_cosim *cosim, ls_cosim *other, uint32_t instance,
                         uint64_t *until, ls_error *error);

#endif
