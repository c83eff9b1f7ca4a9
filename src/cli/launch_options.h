/* SPDX-License-Identifier: Apache-2.0 */
/* Options that `run` and `tune` share: which kernel, with what, on which device. */
#ifndef LS_CLI_LAUNCH_OPTIONS_H
#define LS_CLI_LAUNCH_OPTIONS_H

#include <argp.h>

#include "cli/session.h"

enum { /* of a command's own options: from 256 */
       LS__KEY_DEVICE = 512,
       LS__KEY_TIME_LIMIT,
       LS__KEY_BUDGET,
       LS__KEY_THREADS,
       LS__KEY_TARGET,
       LS__KEY_CACHE,
       LS__KEY_NO_CACHE,
       LS__KEY_UNCHECKED,
       LS__KEY_WORKGROUPS
};

/* Rows of a table of options. */
/* clang-format off */
#define LS__CLI_LAUNCH_OPTIONS                                                                     \
    {"kernel", 'k', "NAME", 0, "The kernel; may be left out when the file has only one", 1},       \
    {"global", 'g', "X[,Y,Z]", 0, "Number of lanes in each dimension", 1},                         \
    {"workgroups", LS__KEY_WORKGROUPS, "X[,Y,Z]", 0, "Instead: number of workgroups", 1},          \
    {"define", 'D', "NAME=VALUE", 0, "Set the SPEC constant NAME", 1},                             \
    {"device", LS__KEY_DEVICE, "NAME", 0,                                                          \
     "Run on this device (see lockstep devices; default: cpu, where it can be used)", 2},          \
    {"time-limit", LS__KEY_TIME_LIMIT, "SECONDS", 0, "Stop the kernel when it runs longer", 2},    \
    {"budget", LS__KEY_BUDGET, "BYTES", 0,                                                         \
     "Device memory to use at most; K, M, G may follow", 2},                                       \
    {"threads", LS__KEY_THREADS, "N", 0,                                                           \
     "Threads of the cpu device (default: one a core)", 2},                                        \
    {"target", LS__KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 2},                                 \
    {"cache", LS__KEY_CACHE, "DIR", 0,                                                             \
     "Keep compiled code in DIR (default: $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep)", 2},     \
    {"no-cache", LS__KEY_NO_CACHE, NULL, 0, "Compile anew and keep nothing", 2},                   \
    {"unchecked", LS__KEY_UNCHECKED, NULL, 0,                                                      \
     "Leave out bounds checks; only for kernels that --sanitize has shown clean", 2}
/* clang-format on */

/* Takes one of these options, the file and the values of parameters; false when it is none. Ends
 * the program, as argp does, when something is wrong. */
bool ls__cli_launch_option(int key, char *text, ls__cli_job *job, struct argp_state *state);

/* Lanes of the launch, by --global or --workgroups, of workgroups of this size. */
ls_status ls__cli_launch_size(const ls__cli_job *job, const uint32_t workgroup[3],
                              uint32_t global[3], ls_error *error);

/* A number of rounds, threads and the like; `says` is the message up to what was given instead. */
ls_status ls__cli_parse_count(const char *says, const char *text, uint32_t *count, ls_error *error);

/* Makes room for lists as long as the command line; false, after a message, when memory is out. */
bool ls__cli_job_begin(ls__cli_job *job, int argc);
void ls__cli_job_end(ls__cli_job *job);

#endif
