/* SPDX-License-Identifier: Apache-2.0 */
/* One `lockstep run`, after its command line has been read: what to do, and the call for it. */
#ifndef LS_CLI_SESSION_H
#define LS_CLI_SESSION_H

#include "lockstep/device.h"
#include "lockstep/program.h"

typedef struct ls__cli_job {
    const char *file;
    const char *kernel; /* NULL: the only one there is */
    const char *device; /* NULL: the most preferred; reference when that is all there is */
    const char *lower, *trace;
    const char *target; /* NULL: the device's default */
    ls_tier tier;
    const char *cache; /* NULL: the user's */
    uint32_t global[3];
    uint32_t workgroups[3]; /* in place of `global` */
    bool has_global, has_workgroups;
    uint32_t repeat;  /* rounds */
    char **arguments; /* NAME=VALUE */
    uint32_t argument_count;
    char **saves; /* NAME=FILE */
    uint32_t save_count;
    ls_define *defines;
    uint32_t define_count;
    ls_schedule schedule;
    uint64_t seed;
    bool sanitize, out_of_bounds, unchecked, untuned, quiet, no_cache;
    uint32_t threads;       /* 0: the device's default */
    uint64_t time_limit_ns; /* 0: none */
    uint64_t budget_bytes;  /* 0: the device's default */
} ls__cli_job;

/* Does it all and prints what there is to say, errors included. Returns the exit status. */
int ls__cli_run_job(const ls__cli_job *job);

#endif
