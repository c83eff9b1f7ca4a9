/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting loop. Times are chosen for people: an answer to Ctrl-C within a tenth of a second, no
 * progress line for what takes less than half a second. */
#include "cli/wait.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os.h"

#define POLL_NS UINT64_C(50000000)
#define QUIET_NS UINT64_C(500000000)
#define CANCEL_NS UINT64_C(5000000000)

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

void ls__cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* A write that fails for these reasons is an error like any other. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
}

int ls__cli_caught_signal(void)
{
    return caught;
}

void ls__cli_clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Devices that count lanes only at the end of a launch show the time alone. */
static void show_progress(ls_device *device, const char *label, double lanes, uint64_t elapsed_ns)
{
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(device, &counters);
    double done = lanes > 0 ? (double)counters.lanes_run / lanes : 0;
    fprintf(stderr, "\r\033[K%s: running for %.1f s", label, (double)elapsed_ns / 1e9);
    if (done > 0 && done < 1)
        fprintf(stderr, ", %.0f %%", 100 * done);
    fputs(" (Ctrl-C to stop)", stderr);
}

ls_status ls__cli_wait(ls_device *device, ls_fence *fence, const char *label, double lanes,
                       ls_receipt *receipt, ls_error *error)
{
    bool show = isatty(STDERR_FILENO);
    bool shown = false;
    uint64_t start = ls__os_now_ns();
    ls_status status;
    while ((status = ls_fence_wait(fence, POLL_NS, receipt, error)) == LS_E_TIMEOUT) {
        if (caught) {
            ls_fence_cancel(fence, CANCEL_NS, NULL); /* terminal afterwards, stopped or lost */
            status = ls_fence_wait(fence, POLL_NS, receipt, error);
            break;
        }
        uint64_t elapsed = ls__os_now_ns() - start;
        if (show && elapsed > QUIET_NS) {
            show_progress(device, label, lanes, elapsed);
            shown = true;
        }
    }
    if (shown)
        ls__cli_clear_progress();
    return status;
}
