/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output that cannot be written: said once, and quiet when its reader has left. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/wait.h"

/* What EPIPE says, also when it was met by a write long before. */
static bool reader_has_left(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR);
}

bool ls__cli_check_output(void)
{
    static bool is_said;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    int number = errno;
    if (is_said)
        return false;
    is_said = true;
    if (number == EPIPE || reader_has_left())
        ls__cli_note_signal(SIGPIPE);
    else
        ls__cli_print_line(stderr, "lockstep: cannot write to standard output%s%s",
                           number ? ": " : "", number ? strerror(number) : "");
    return false;
}
