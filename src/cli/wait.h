/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a fence with progress on the terminal, and Ctrl-C. The signal handler only sets a
 * flag, the one piece of global state of the command; everything else happens in the waiting loop.
 */
#ifndef LS_CLI_WAIT_H
#define LS_CLI_WAIT_H

#include <stdatomic.h>

#include "lockstep/launch.h"

/* From here on SIGINT, SIGTERM and SIGHUP are noted instead of ending the process, and a file that
 * grows too large or a pipe without a reader is an error of the write. Signals that the caller has
 * set to be ignored (nohup) stay so; the second of a kind ends the process. */
void ls__cli_catch_signals(void);
/* A mapped file that becomes shorter is said, and ends the process as a failure. */
void ls__cli_catch_lost_bytes(void);
/* The same, but SIGINT may come any number of times. */
void ls__cli_catch_interrupts(void);
/* Whether SIGINT was noted; forgets it then. */
bool ls__cli_take_interrupt(void);
/* The signal noted so far, 0 for none. */
int ls__cli_caught_signal(void);
/* As if that signal had been caught, unless one has been. */
void ls__cli_note_signal(int number);
/* The same as a flag to look at, not 0 after a signal. */
const volatile int *ls__cli_signal_flag(void);

typedef struct ls__cli_wait_params {
    ls_device *device;
    ls_fence *fence;
    const char *label; /* for the progress line, like `lanes`, the number that will run */
    double lanes;
    const atomic_bool *stop; /* cancel when it has become true */
} ls__cli_wait_params;

/* Waits until the submission ends. A caught signal cancels it, as `stop` does; what ls_fence_wait
 * says of the end is returned. Blocks. */
ls_status ls__cli_wait(const ls__cli_wait_params *params, ls_receipt *receipt, ls_error *error);

/* Removes the progress line, so that other text can be printed. Any thread. */
void ls__cli_clear_progress(void);

#endif
