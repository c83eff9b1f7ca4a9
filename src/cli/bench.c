/* SPDX-License-Identifier: Apache-2.0 */
/* What `lockstep sim` and `lockstep cosim` share: options, netlist, device. */
#include "cli/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cli.h"

enum {
    KEY_TOP = 0x1000,
    KEY_DEVICE,
    KEY_THREADS,
    KEY_TARGET,
    KEY_FORM,
    KEY_WORKGROUPS,
    KEY_TIER,
    KEY_X_INIT,
    KEY_SEED,
    KEY_BATCH,
    KEY_COMPAT,
    KEY_CACHE,
    KEY_NO_CACHE,
    KEY_TRACE,
    KEY_TRACE_SIGNALS,
    KEY_FROM,
    KEY_TO,
    KEY_MAX_EDGES,
    KEY_QUIET
};

static const struct argp_option option_table[] = {
    {"top", KEY_TOP, "NAME", 0, "The top module (default: the one that is marked or unused)", 10},
    {"top-module", KEY_TOP, "NAME", OPTION_ALIAS, NULL, 10},
    {"x-init", KEY_X_INIT, "HOW", 0,
     "Registers and memories without initial value: zero (default) or random:SEED", 10},
    {"seed", KEY_SEED, "N", 0, "The same as --x-init random:N", 10},
    {"max-clock-edges", KEY_MAX_EDGES, "N", 0, "Stop after N edges", 10},
    {"compat", KEY_COMPAT, "NAME", 0, "Time and layout as another simulator has them: jacquard",
     10},
    {"trace", KEY_TRACE, "WHAT", 0, "Signals of the waveform: named (default), all, ports, outputs",
     11},
    {"trace-signals", KEY_TRACE_SIGNALS, "FILE", 0,
     "Ports and the signals that FILE names, one a line; *, ? and ** (also dots) may stand for "
     "characters",
     11},
    {"from", KEY_FROM, "TIME", 0, "Begin the waveform at this time, in its time unit", 11},
    {"to", KEY_TO, "TIME", 0, "End the waveform before this time", 11},
    {"device", KEY_DEVICE, "NAME", 0,
     "Run on this device (see lockstep devices; default: cpu, where it can be used)", 12},
    {"threads", KEY_THREADS, "N", 0, "Threads of the cpu device (default: one a core)", 12},
    {"target", KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 12},
    {"form", KEY_FORM, "FORM", 0,
     "auto (default; docs/cosim.md), compiled: the netlist becomes code, table: it is data, "
     "sliced: "
     "code for 64 instances at a time",
     12},
    {"workgroups", KEY_WORKGROUPS, "N", 0,
     "Workgroups of the device that share an instance of the table form (default: chosen); results "
     "do not depend on it",
     12},
    {"tier", KEY_TIER, "TIER", 0,
     "Code that is made fast (quick) or for speed (optimized, waited for) only; default: first "
     "the one, then the other",
     12},
    {"batch", KEY_BATCH, "N", 0, "Edges of one submission; results do not depend on it", 12},
    {"cache", KEY_CACHE, "DIR", 0,
     "Keep compiled code in DIR (default: $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep)", 12},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "Compile anew and keep nothing", 12},
    {"verbose", 'v', NULL, 0, "Say in which form the netlist runs, and why", 13},
    {"quiet", KEY_QUIET, NULL, 0, "No notes and no progress", 13},
    {0},
};

static ls_status parse_number(const char *option, const char *text, uint64_t maximum,
                              uint64_t *value, ls_error *error)
{
    int64_t number = 0;
    ls_status status = ls__cli_parse_integer(text, 0, maximum, &number, error);
    if (status != LS_OK)
        return ls__fail(error, status, "%s takes a number, not '%s'", option, text);
    *value = (uint64_t)number;
    return LS_OK;
}

static ls_status parse_word(const char *option, const char *text, const char *const *words,
                            int *value, ls_error *error)
{
    ls__strbuf list = {0};
    for (*value = 0; words[*value]; ++*value)
        if (strcmp(text, words[*value]) == 0)
            return LS_OK;
    for (int i = 0; words[i]; i++)
        ls__strbuf_printf(&list, "%s%s", i ? ", " : "", words[i]);
    ls__fail(error, LS_E_INVALID_ARGUMENT, "%s takes one of %s, not '%s'", option,
             list.text ? list.text : "", text);
    ls__strbuf_finish(&list);
    return LS_E_INVALID_ARGUMENT;
}

static ls_status parse_valued(int key, const char *text, ls__cli_bench *b, ls_error *error)
{
    static const char *const forms[] = {"auto", "compiled", "table", "sliced", NULL};
    static const char *const traces[] = {"named", "all", "ports", "outputs", NULL};
    static const char *const compats[] = {"jacquard", NULL};
    uint64_t number = 0;
    int choice = 0;
    ls_tier tier;
    ls_status status;
    switch (key) {
    case KEY_TIER:
        status = ls__cli_parse_tier(text, &tier, error);
        b->tier = tier == LS_TIER_QUICK ? LS_COSIM_TIER_QUICK : LS_COSIM_TIER_OPTIMIZED;
        return status;
    case KEY_X_INIT:
        b->randomize = strncmp(text, "random:", 7) == 0;
        if (b->randomize)
            return parse_number("--x-init random:", text + 7, UINT64_MAX, &b->seed, error);
        if (strcmp(text, "zero") != 0)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "--x-init takes zero or random:SEED, not '%s'", text);
        return LS_OK;
    case KEY_SEED:
        b->randomize = true;
        return parse_number("--seed", text, UINT64_MAX, &b->seed, error);
    case KEY_MAX_EDGES:
        return parse_number("--max-clock-edges", text, UINT64_MAX, &b->max_edges, error);
    case KEY_FROM:
        return parse_number("--from", text, UINT64_MAX, &b->from, error);
    case KEY_TO:
        return parse_number("--to", text, UINT64_MAX, &b->to, error);
    case KEY_THREADS:
        return ls__cli_parse_threads(text, &b->threads, error);
    case KEY_BATCH:
        status = parse_number("--batch", text, UINT32_MAX, &number, error);
        if (status == LS_OK && number == 0)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "--batch takes a number from 1 on");
        b->batch = (uint32_t)number;
        return status;
    case KEY_FORM:
        status = parse_word("--form", text, forms, &choice, error);
        b->form = (ls_cosim_form)choice;
        return status;
    case KEY_WORKGROUPS:
        status = parse_number("--workgroups", text, UINT32_MAX, &number, error);
        if (status == LS_OK && number == 0)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "--workgroups takes a number from 1 on");
        b->workgroups = (uint32_t)number;
        return status;
    case KEY_TRACE:
        status = parse_word("--trace", text, traces, &choice, error);
        b->trace = (ls__trace_choice)choice;
        b->has_trace = true;
        return status;
    default:
        status = parse_word("--compat", text, compats, &choice, error);
        b->compat = true;
        return status;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_bench *b = state->input;
    ls_error error;
    switch (key) {
    case KEY_TOP:
        b->top = text;
        return 0;
    case KEY_DEVICE:
        b->device = text;
        return 0;
    case KEY_TARGET:
        b->target = text;
        return 0;
    case KEY_TRACE_SIGNALS:
        b->trace_names = text;
        return 0;
    case KEY_CACHE: /* of this and --no-cache the last counts */
        b->cache = text;
        b->no_cache = false;
        return 0;
    case KEY_NO_CACHE:
        b->no_cache = true;
        return 0;
    case 'v':
        b->verbose = true;
        return 0;
    case KEY_QUIET:
        b->quiet = true;
        return 0;
    case KEY_X_INIT:
    case KEY_SEED:
    case KEY_MAX_EDGES:
    case KEY_FROM:
    case KEY_TO:
    case KEY_THREADS:
    case KEY_BATCH:
    case KEY_FORM:
    case KEY_WORKGROUPS:
    case KEY_TIER:
    case KEY_TRACE:
    case KEY_COMPAT:
        if (parse_valued(key, text, b, &error) != LS_OK)
            ls__cli_usage_error(state, "%s", error.message);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp ls__cli_bench_argp = {.options = option_table, .parser = parse_option};

void ls__cli_bench_init(ls__cli_bench *bench)
{
    *bench = (ls__cli_bench){.batch = 1 << 16, .to = UINT64_MAX, .max_edges = UINT64_MAX};
}

void ls__cli_bench_note(void *context, const char *message)
{
    const ls__cli_bench *b = context;
    if (!b->quiet)
        ls__cli_print_line(stderr, "lockstep: note: %s", message);
}

/* --- netlist and device ----------------------------------------------------------------------- */

static bool is_verilog(const char *path)
{
    return ls__str_ends_in(path, ".v") || ls__str_ends_in(path, ".sv");
}

ls_status ls__cli_bench_load(ls__cli_bench *b, char *const *paths, uint32_t path_count,
                             ls_error *error)
{
    ls_design_params params = LS_DESIGN_PARAMS_INIT;
    char *text = NULL;
    ls_status status = LS_OK;
    params.path = paths[0];
    params.top = b->top;
    params.warn = ls__cli_bench_note;
    params.context = b;
    if (is_verilog(paths[0])) {
        ls__cli_bench_note(b, "Yosys makes the netlist");
        status = ls__cli_yosys(paths, path_count, b->top, &text, &params.length, error);
        params.text = text;
    } else if (path_count > 1) {
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          "only Verilog may be several files, and '%s' is not", paths[0]);
    }
    if (status == LS_OK)
        status = ls_design_load(&params, &b->design, error);
    ls__mem_free(text);
    return status;
}

ls_status ls__cli_bench_device(const ls__cli_bench *b, const char *name, ls_device **device,
                               ls_error *error)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls__strbuf cache = {0};
    params.name = name ? name : b->device;
    params.threads = b->threads;
    params.target = name ? NULL : b->target;
    ls_status status = ls__cli_choose_cache(b->cache, b->no_cache, &cache, error);
    params.cache_path = cache.text;
    if (status == LS_OK)
        status = ls__cli_open_device(&params, b->quiet, device, error);
    ls__strbuf_finish(&cache);
    return status;
}

void ls__cli_bench_params(const ls__cli_bench *b, ls_cosim_params *params)
{
    params->device = b->opened;
    params->form = b->form;
    params->workgroups = b->workgroups;
    params->tier = b->tier;
    params->randomize = b->randomize;
    params->seed = b->seed;
    params->compat = b->compat;
    if (b->verbose) {
        params->log = ls__cli_bench_note;
        params->log_context = (void *)(uintptr_t)b;
    }
}

ls_status ls__cli_bench_names(ls__cli_bench *b, ls__wave_params *wave, ls_error *error)
{
    size_t size;
    wave->choice = b->trace;
    if (!b->trace_names)
        return LS_OK;
    if (!b->has_trace)
        wave->choice = LS__TRACE_PORTS;
    wave->names_path = b->trace_names;
    ls_status status =
        ls__os_read_file(b->trace_names, UINT64_C(1) << 30, &b->trace_text, &size, error);
    wave->names = b->trace_text;
    return status;
}

void ls__cli_bench_finish(ls__cli_bench *b)
{
    ls__mem_free(b->trace_text);
    ls_device_destroy(&b->opened, NULL);
    ls_design_destroy(&b->design);
}
