/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a launch, for the commands that make one. */
#include "cli/launch_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"

/* --- values ----------------------------------------------------------------------------------- */
/* X[,Y,Z]; `option` takes them, which are numbers of `things`. */
static ls_status parse_size(const char *option, const char *things, const char *text,
                            uint32_t global[3], ls_error *error)
{
    char part[16];
    for (unsigned d = 0; d < 3; d++) {
        size_t length = strcspn(text, ",");
        int64_t value = 0;
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        if (length == 0 || length >= sizeof part ||
            ls__cli_parse_integer(part, 0, UINT32_MAX, &value, NULL) != LS_OK)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "--%s takes up to three numbers of %s: X, X,Y or X,Y,Z", option,
                            things);
        global[d] = (uint32_t)value;
        text += length;
        if (!*text)
            return LS_OK;
        text++;
    }
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "--%s takes at most three numbers", option);
}

static ls_status parse_time_limit(const char *text, uint64_t *limit_ns, ls_error *error)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0) || seconds > 1e9)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--time-limit takes a positive number of seconds, not '%s'", text);
    *limit_ns = (uint64_t)ceil(seconds * 1e9);
    return LS_OK;
}

static ls_status parse_budget(const char *text, uint64_t *bytes, ls_error *error)
{
    char number[32];
    int64_t value = 0;
    size_t length = strlen(text);
    unsigned shift = 0;
    if (length && strchr("KMG", text[length - 1])) {
        shift = text[length - 1] == 'K' ? 10 : text[length - 1] == 'M' ? 20 : 30;
        length--;
    }
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    if (length >= sizeof number ||
        ls__cli_parse_integer(number, 0, (uint64_t)INT64_MAX >> shift, &value, NULL) != LS_OK ||
        value == 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "--budget takes a number of bytes such as 65536, 64K or 2G, not '%s'",
                        text);
    *bytes = (uint64_t)value << shift;
    return LS_OK;
}

ls_status ls__cli_parse_count(const char *says, const char *text, uint32_t *count, ls_error *error)
{
    int64_t value = 0;
    if (ls__cli_parse_integer(text, 0, UINT32_MAX, &value, NULL) != LS_OK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s, not '%s'", says, text);
    *count = (uint32_t)value;
    return LS_OK;
}

/* --- the command line ------------------------------------------------------------------------- */
static ls_status parse_valued(int key, char *text, ls__cli_job *job, ls_error *error)
{
    switch (key) {
    case 'g':
        job->has_global = true;
        return parse_size("global", "lanes", text, job->global, error);
    case LS__KEY_WORKGROUPS:
        job->has_workgroups = true;
        return parse_size("workgroups", "workgroups", text, job->workgroups, error);
    case 'D':
        return ls__cli_parse_define(text, &job->defines[job->define_count++], error);
    case LS__KEY_TIME_LIMIT:
        return parse_time_limit(text, &job->time_limit_ns, error);
    case LS__KEY_BUDGET:
        return parse_budget(text, &job->budget_bytes, error);
    default:
        return ls__cli_parse_threads(text, &job->threads, error);
    }
}

/* Options whose values are not looked at here. */
static bool take_text(int key, char *text, ls__cli_job *job)
{
    switch (key) {
    case 'k':
        job->kernel = text;
        return true;
    case LS__KEY_DEVICE:
        job->device = text;
        return true;
    case LS__KEY_TARGET:
        job->target = text;
        return true;
    case LS__KEY_CACHE: /* of this and --no-cache the last counts */
        job->cache = text;
        job->no_cache = false;
        return true;
    case LS__KEY_NO_CACHE:
        job->no_cache = true;
        return true;
    case LS__KEY_UNCHECKED:
        job->unchecked = true;
        return true;
    default:
        return false;
    }
}

bool ls__cli_launch_option(int key, char *text, ls__cli_job *job, struct argp_state *state)
{
    ls_error error;
    switch (key) {
    case 'g':
    case 'D':
    case LS__KEY_WORKGROUPS:
    case LS__KEY_TIME_LIMIT:
    case LS__KEY_BUDGET:
    case LS__KEY_THREADS:
        if (parse_valued(key, text, job, &error) != LS_OK)
            ls__cli_usage_error(state, "%s%s%s", error.message, error.where[0] ? ": " : "",
                                error.where);
        return true;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            job->file = text;
        else
            job->arguments[job->argument_count++] = text;
        return true;
    case ARGP_KEY_END:
        if (!job->file)
            argp_error(state, "which file?");
        else if (!job->has_global && !job->has_workgroups)
            argp_error(state, "how many lanes? give --global X[,Y,Z]");
        else if (job->has_global && job->has_workgroups)
            argp_error(state, "--global and --workgroups do not go together");
        return true;
    default:
        return take_text(key, text, job);
    }
}

ls_status ls__cli_launch_size(const ls__cli_job *job, const uint32_t workgroup[3],
                              uint32_t global[3], ls_error *error)
{
    for (unsigned d = 0; d < 3; d++) {
        uint64_t groups = d && !job->workgroups[d] ? 1 : job->workgroups[d];
        uint64_t lanes = job->has_workgroups ? groups * workgroup[d] : job->global[d];
        if (lanes > UINT32_MAX)
            return ls__fail(error, LS_E_LIMIT, "%u workgroups of %u lanes are too many lanes",
                            job->workgroups[d], workgroup[d]);
        global[d] = (uint32_t)lanes;
    }
    return LS_OK;
}

bool ls__cli_job_begin(ls__cli_job *job, int argc)
{
    size_t limit = (size_t)argc; /* no list can be longer */
    job->arguments = ls__mem_alloc(limit, sizeof *job->arguments);
    job->saves = ls__mem_alloc(limit, sizeof *job->saves);
    job->defines = ls__mem_alloc(limit, sizeof *job->defines);
    if (job->arguments && job->saves && job->defines)
        return true;
    fputs("lockstep: out of memory\n", stderr);
    return false;
}

void ls__cli_job_end(ls__cli_job *job)
{
    ls__mem_free(job->defines);
    ls__mem_free(job->saves);
    ls__mem_free(job->arguments);
}
