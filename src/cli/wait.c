/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting loop. Times are chosen for people: an answer to Ctrl-C within a tenth of a second, no
 * progress line for what takes less than half a second. */
#include "cli/wait.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/str.h"
#include "cli/cli.h"

#define POLL_NS UINT64_C(50000000)
#define QUIET_NS UINT64_C(500000000)
#define CANCEL_NS UINT64_C(5000000000)

static volatile sig_atomic_t caught;
_Static_assert(_Generic((sig_atomic_t)0, int : 1, default : 0), "the flag is handed out as an int");

static void note(int number)
{
    caught = number;
}

/* A mapped file has lost bytes that were there when it was opened. */
static void note_lost_bytes(int number, siginfo_t *info, void *context)
{
    static const char text[] = "lockstep: a file has become shorter, or cannot be read any more, "
                               "while it was in use; give it time to arrive, then try again\n";
    (void)context;
    if (info->si_code == BUS_ADRERR) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(LS__EXIT_FAILED);
    }
    signal(number, SIG_DFL); /* a fault of the program: it comes again */
}

void ls__cli_catch_lost_bytes(void)
{
    struct sigaction action = {.sa_sigaction = note_lost_bytes, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void ls__cli_catch_signals(void)
{
    static const int noted[] = {SIGINT, SIGTERM, SIGHUP};
    /* Not SA_RESTART: opening a pipe that nobody reads must end. A second signal is not caught, for
     * what the flag does not reach, such as writing to that pipe. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND}, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        if (sigaction(noted[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(noted[i], &action, NULL);
    /* A write that fails for these reasons is an error like any other. */
    ls__os_stop_reads(&caught);
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
}

void ls__cli_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    ls__cli_catch_signals();
    sigaction(SIGINT, &action, NULL);
}

bool ls__cli_take_interrupt(void)
{
    bool is_interrupt = caught == SIGINT;
    if (is_interrupt)
        caught = 0;
    return is_interrupt;
}

int ls__cli_caught_signal(void)
{
    return caught;
}

void ls__cli_note_signal(int number)
{
    if (!caught)
        caught = number;
}

const volatile int *ls__cli_signal_flag(void)
{
    return &caught;
}

void ls__cli_clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Devices that count lanes only at the end of a launch show the time alone. */
static void show_progress(const ls__cli_wait_params *p, uint64_t elapsed_ns)
{
    ls_counters counters = {.struct_size = sizeof counters};
    ls__strbuf label = {0};
    ls_device_counters(p->device, &counters);
    double done = p->lanes > 0 ? (double)counters.lanes_run / p->lanes : 0;
    ls__strbuf_visible(&label, p->label, strlen(p->label));
    fprintf(stderr, "\r\033[K%s: running for %.1f s", label.text ? label.text : "",
            (double)elapsed_ns / 1e9);
    ls__strbuf_finish(&label);
    if (done > 0 && done < 1)
        fprintf(stderr, ", %.0f %%", 100 * done);
    fputs(" (Ctrl-C to stop)", stderr);
}

ls_status ls__cli_wait(const ls__cli_wait_params *p, ls_receipt *receipt, ls_error *error)
{
    bool show = isatty(STDERR_FILENO);
    bool shown = false;
    uint64_t start = ls__os_now_ns();
    ls_status status;
    while ((status = ls_fence_wait(p->fence, POLL_NS, receipt, error)) == LS_E_TIMEOUT) {
        if (caught || atomic_load(p->stop)) {
            ls_fence_cancel(p->fence, CANCEL_NS, NULL); /* terminal afterwards, stopped or lost */
            status = ls_fence_wait(p->fence, POLL_NS, receipt, error);
            break;
        }
        uint64_t elapsed = ls__os_now_ns() - start;
        if (show && elapsed > QUIET_NS) {
            show_progress(p, elapsed);
            shown = true;
        }
    }
    if (shown)
        ls__cli_clear_progress();
    return status;
}
