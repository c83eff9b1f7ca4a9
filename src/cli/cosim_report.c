/* SPDX-License-Identifier: Apache-2.0 */
/* What a co-simulation leaves behind: events, transfers, verdicts, speed. */
#include <jansson.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/cosim.h"

static ls_status write_json(const char *path, json_t *value, ls_error *error)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2)) : NULL;
    ls_status status = text ? ls__os_write_line(path, text, error) : ls__fail_oom(error, 1024);
    free(text);
    json_decref(value);
    return status;
}

/* One file, or with "{instance}" in the name one for each. */
static ls_status write_events(ls__cli_cosim_job *c, ls_error *error)
{
    ls_status status = LS_OK;
    if (!strstr(c->events, "{instance}"))
        return ls__events_write(c->event_list, c->events, c->instances > 1 ? LS_COSIM_ALL : 0,
                                error);
    for (uint32_t i = 0; status == LS_OK && i < c->instances; i++) {
        char *path = ls__plan_path(NULL, c->events, i);
        status = path ? ls__events_write(c->event_list, path, i, error) : ls__fail_oom(error, 64);
        ls__mem_free(path);
    }
    return status;
}

/* The reference of an instance. */
static ls_status read_reference(const ls__cli_cosim_job *c, uint32_t instance, json_t **root,
                                ls_error *error)
{
    char *path = c->events_reference
                     ? ls__plan_path(NULL, c->events_reference, instance)
                     : ls__plan_path(c->config_path, c->config.events_reference, instance);
    *root = NULL;
    ls_status status = path ? ls__events_read(path, root, error) : ls__fail_oom(error, 64);
    ls__mem_free(path);
    return status;
}

/* One for all is kept; those of instances are only looked at, as they may be many. */
ls_status ls__cli_cosim_open_reference(ls__cli_cosim_job *c, ls_error *error)
{
    const char *name = c->events_reference ? c->events_reference : c->config.events_reference;
    uint32_t count = name && strstr(name, "{instance}") ? c->instances : 1;
    ls_status status = LS_OK;
    for (uint32_t i = 0; name && i < count && status == LS_OK; i++) {
        json_decref(c->reference);
        status = read_reference(c, i, &c->reference, error);
    }
    if (count > 1) {
        json_decref(c->reference);
        c->reference = NULL;
    }
    return status;
}

/* Compares the events of an instance with the reference there is, if any. */
static void compare(ls__cli_cosim_job *c, uint32_t instance, char mismatch[256])
{
    ls_error error = {0};
    json_t *root = json_incref(c->reference);
    ls_status status = LS_OK;
    mismatch[0] = 0;
    if (!c->events_reference && !c->config.events_reference)
        return;
    if (!root)
        status = read_reference(c, instance, &root, &error);
    if (status == LS_OK)
        status = ls__events_compare(c->event_list, root, instance, mismatch, &error);
    if (status != LS_OK)
        snprintf(mismatch, 256, "%.255s", error.message);
    json_decref(root);
}

/* One instance: its verdict, and its part of the report. One that was interrupted is not held to
 * the reference, whose last events it cannot have. */
static ls_status judge(ls__cli_cosim_job *c, uint32_t instance, json_t *list, ls_error *error)
{
    ls__run_result result;
    char mismatch[256] = "", digest[20];
    ls_status status = ls__run_of(c->run, instance, &result, error);
    if (status != LS_OK)
        return status;
    bool is_cut = strcmp(result.stop, "interrupted") == 0;
    if (!is_cut)
        compare(c, instance, mismatch);
    bool good = !mismatch[0] && !result.failed_asserts;
    c->is_failed |= !good;
    c->is_cut |= is_cut;
    if (mismatch[0]) {
        if (c->instances > 1)
            ls__cli_print_line(stderr, "lockstep: instance %u: %s", instance, mismatch);
        else
            ls__cli_print_line(stderr, "lockstep: %s", mismatch);
    }
    uint32_t left = c->command_list ? ls__commands_left(c->command_list, instance) : 0;
    if (left && strcmp(result.stop, "stop") != 0 && !c->bench.quiet)
        ls__cli_print_line(stderr, "lockstep: note: %u commands were not reached", left);
    snprintf(digest, sizeof digest, "%016" PRIx64, result.digest);
    json_array_append_new(list, json_pack("{s:I, s:I, s:s, s:s, s:I, s:I, s:s, s:s}", "instance",
                                          (json_int_t)instance, "edges", (json_int_t)result.edges,
                                          "digest", digest, "stop", result.stop, "events",
                                          (json_int_t)ls__events_count(c->event_list, instance),
                                          "failed_asserts", (json_int_t)result.failed_asserts,
                                          "mismatch", mismatch, "verdict",
                                          !good    ? "failed"
                                          : is_cut ? "interrupted"
                                                   : "passed"));
    return LS_OK;
}

static json_t *performance(const ls__cli_cosim_job *c, const ls_cosim_counters *n)
{
    const char *forms[] = {"auto", "compiled", "table", "sliced"};
    double edges = n->edges ? (double)n->edges : 1;
    return json_pack(
        "{s:s, s:s, s:b, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:f, s:f}", "backend",
        c->bench.device ? c->bench.device : "default", "form", forms[n->form % 4], "optimized",
        n->optimized, "instances", (json_int_t)c->instances, "edges", (json_int_t)n->edges,
        "wall_seconds", (double)c->run_ns / 1e9, "total_us_per_edge",
        (double)c->run_ns / 1e3 / edges, "device_us_per_edge", (double)n->device_ns / 1e3 / edges,
        "drain_us_per_edge", (double)n->drain_ns / 1e3 / edges, "batches",
        (json_int_t)n->submissions, "mean_batch",
        n->submissions ? edges / (double)n->submissions / c->instances : 0.0, "evaluated",
        n->blocks_total ? (double)n->blocks_evaluated / (double)n->blocks_total : 1.0);
}

/* Says what failed; true: nothing has. */
static bool is_good(ls_status status, const ls_error *error)
{
    if (status != LS_OK)
        ls__cli_print_error(error);
    return status == LS_OK;
}

static void print_verdict(const ls__cli_cosim_job *c, const ls_cosim_counters *counters)
{
    if (c->bench.compat)
        ls__cli_print_line(stderr, "SIMULATION: %s",
                           c->is_failed || c->is_cut ? "FAILED" : "PASSED");
    else if (!c->bench.quiet && isatty(STDERR_FILENO))
        ls__cli_print_line(stderr, "lockstep: %llu edges in %.2f s, %.0f edges/s: %s",
                           (unsigned long long)counters->edges, (double)c->run_ns / 1e9,
                           (double)counters->edges * 1e9 / (double)(c->run_ns + 1),
                           c->is_failed ? "failed"
                           : c->is_cut  ? "interrupted"
                                        : "passed");
}

bool ls__cli_cosim_report(ls__cli_cosim_job *c, bool *passed)
{
    ls_error error = {0};
    ls_cosim_counters counters = {.struct_size = sizeof counters};
    json_t *list = json_array();
    ls_status status = list ? LS_OK : ls__fail_oom(&error, 64);
    ls_cosim_count(ls__run_cosim(c->run), &counters);
    for (uint32_t i = 0; status == LS_OK && i < c->instances; i++)
        status = judge(c, i, list, &error);
    bool good = is_good(status, &error);
    if (c->events)
        good &= is_good(write_events(c, &error), &error);
    if (c->bus_csv)
        good &= is_good(ls__events_write_buses(c->event_list, c->bus_csv, 0, &error), &error);
    if (c->perf)
        good &= is_good(write_json(c->perf, performance(c, &counters), &error), &error);
    if (c->report && status == LS_OK)
        good &=
            is_good(write_json(c->report, json_pack("{s:O}", "instances", list), &error), &error);
    json_decref(list);
    *passed = status == LS_OK && !c->is_failed && !c->is_cut;
    print_verdict(c, &counters);
    return good;
}
