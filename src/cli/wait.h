/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a fence with progress on the terminal, and Ctrl-C. The signal handler only sets a
 * flag, the one piece of global state of the command; everything else happens in the waiting loop.
 */
#ifndef LS_CLI_WAIT_H
#define LS_CLI_WAIT_H

#include "lockstep/launch.h"

/* From here on SIGINT, SIGTERM and SIGHUP are noted instead of ending the process, and a file that
 * grows too large or a pipe without a reader is an error of the write. */
void ls__cli_catch_signals(void);
/* The signal noted so far, 0 for none. */
int ls__cli_caught_signal(void);

/* Waits until the submission ends. A caught signal cancels it; what ls_fence_wait says of the end
 * is returned. `lanes` is the number that will run, for the progress line. Blocks. */
ls_status ls__cli_wait(ls_device *device, ls_fence *fence, const char *label, double lanes,
                       ls_receipt *receipt, ls_error *error);

/* Removes the progress line, so that other text can be printed. Any thread. */
void ls__cli_clear_progress(void);

#endif
