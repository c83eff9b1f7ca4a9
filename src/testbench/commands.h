/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input commands: {"commands": [{"type": "wait" | "action" | "stop", ...}]}. A wait ends at the
 * event that it names; all actions behind it are due then.
 */
#ifndef LS_TESTBENCH_COMMANDS_H
#define LS_TESTBENCH_COMMANDS_H

#include "lockstep/cosim.h"
#include "testbench/plan.h"

typedef struct ls__commands ls__commands;

/* Untrusted text. Errors name the place, ".commands[2].event". */
ls_status ls__commands_read(const char *text, size_t length, const char *name, const ls__plan *plan,
                            uint32_t instances, ls__commands **commands, ls_error *error);
void ls__commands_destroy(ls__commands **commands); /* accepts NULL, writes NULL */

/* The event that the instance waits for; false: for none. */
bool ls__commands_waits(const ls__commands *commands, uint32_t instance, uint32_t *source,
                        uint32_t *kind, uint64_t *a);
/* Every event of peripherals, in order. True: a wait has ended, or a stop is reached. */
bool ls__commands_event(ls__commands *commands, const ls_cosim_event *event);
/* The next action that is due: `value` for the ring of the peripheral `source`. */
bool ls__commands_action(ls__commands *commands, uint32_t instance, uint32_t *source,
                         uint64_t *value);
/* The reason of a stop that is reached, else NULL. */
const char *ls__commands_stopped(const ls__commands *commands, uint32_t instance);
/* How many have not been reached. */
uint32_t ls__commands_left(const ls__commands *commands, uint32_t instance);

#endif
