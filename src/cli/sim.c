/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep sim`: a netlist driven by a waveform, its own waveform out; both streamed. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/wait.h"
#include "testbench/stimulus.h"

enum { KEY_INPUT_SCOPE = 256, KEY_OUTPUT_SCOPE, KEY_SAMPLE, KEY_CLOCK };

static const struct argp_option option_table[] = {
    {"input-vcd-scope", KEY_INPUT_SCOPE, "SCOPE", 0,
     "Scope of the design in STIMULUS, a.b or a/b (default: dut, uut, DUT, UUT, top, else the "
     "first that has all inputs)",
     1},
    {"output-vcd-scope", KEY_OUTPUT_SCOPE, "NAME", 0,
     "Outermost scope of OUTPUT (default: the top module's name)", 1},
    {"sample", KEY_SAMPLE, "WHEN", 0,
     "Flip-flops see what changes at the time of their clock edge not at this edge (before, the "
     "default) or at once (after)",
     1},
    {"clock", KEY_CLOCK, "NAME", 0, "With --sample after: an input that is a clock; repeat", 1},
    {0},
};

static const char help[] =
    "Runs NETLIST (Yosys JSON; .v and .sv go through Yosys, also several) with the inputs of the "
    "waveform STIMULUS and writes the waveform OUTPUT. Every time stamp of STIMULUS is one "
    "edge.\n\nOptions:"
    "\v"
    "Exit status: 0 good, 1 failed: an error, or a failed assertion.\n\n"
    "Examples:\n"
    "  lockstep sim counter.json stimulus.vcd out.vcd\n"
    "  lockstep sim counter.json stimulus.vcd out.vcd --trace all --from 10\n";

typedef struct job {
    ls__cli_bench bench;
    const char *input_scope, *output_scope;
    bool sample_after;
    const char **clocks;
    uint32_t clock_count;
    char **files;
    uint32_t file_count;
    /* while it runs */
    ls__stimulus *stimulus;
    ls__waves *waves;
    ls_cosim *cosim;
    uint64_t edge; /* next */
    bool has_finished;
    bool has_failed;      /* an assertion */
    uint8_t *clock_edges; /* of the ports */
    const char **found_clocks;
    /* compat: the next edge to look at, and the last active one */
    uint64_t row, active_time;
    bool has_active;
    uint64_t begun_ns, shown_ns;
} job;

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    job *j = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &j->bench;
        return 0;
    case KEY_INPUT_SCOPE:
        j->input_scope = text;
        return 0;
    case KEY_OUTPUT_SCOPE:
        j->output_scope = text;
        return 0;
    case KEY_SAMPLE:
        j->sample_after = strcmp(text, "after") == 0;
        if (!j->sample_after && strcmp(text, "before") != 0)
            ls__cli_usage_error(state, "--sample takes before or after, not '%s'", text);
        return 0;
    case KEY_CLOCK:
        j->clocks[j->clock_count++] = text;
        return 0;
    case ARGP_KEY_ARG:
        j->files[j->file_count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (j->file_count < 3)
            argp_error(state, "three files are needed: NETLIST STIMULUS OUTPUT");
        else if (j->bench.compat && (j->bench.from || j->bench.to != UINT64_MAX))
            argp_error(state, "--from and --to are not for --compat");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&ls__cli_bench_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "NETLIST STIMULUS OUTPUT",
    .doc = help,
    .children = children,
};

/* --- the run ---------------------------------------------------------------------------------- */

static uint64_t time_of(void *context, uint64_t edge)
{
    const job *j = context;
    return ls__stimulus_time(j->stimulus, edge);
}

/* compat: what is seen at an active edge is written with the time of the one before. */
static void write_rows(job *j, uint64_t until)
{
    for (; j->row < until; j->row++) {
        if (!ls__stimulus_is_active(j->stimulus, j->row))
            continue;
        if (j->has_active)
            ls__waves_row(j->waves, j->active_time);
        j->has_active = true;
        j->active_time = ls__stimulus_time(j->stimulus, j->row);
    }
}

static void on_changes(void *context, uint64_t edge, const uint32_t *traced, uint32_t count)
{
    job *j = context;
    if (j->bench.compat) {
        write_rows(j, edge);
        ls__waves_collect(j->waves, j->cosim, traced, count);
        return;
    }
    ls__waves_changes(j->waves, j->cosim, edge, traced, count);
}

static void on_event(void *context, const ls_cosim_event *event)
{
    job *j = context;
    if (event->type == LS_EVENT_PERIPHERAL)
        return;
    j->has_failed |= event->type == LS_EVENT_ASSERT;
    ls__cli_clear_progress();
    if (event->type == LS_EVENT_PRINT)
        ls__cli_print_message("", event->text);
    else
        ls__cli_print_line(stderr, "lockstep: time %llu: %s%s",
                           (unsigned long long)time_of(context, event->edge),
                           event->type == LS_EVENT_ASSERT   ? "failed: "
                           : event->type == LS_EVENT_FINISH ? "$finish"
                                                            : "broken: ",
                           event->text);
}

/* Which inputs are clocks; those are late with --sample after when none is named. */
static ls_status find_clocks(job *j, ls__stimulus_params *stimulus, ls_error *error)
{
    ls_design_info info = {.struct_size = sizeof info};
    ls_design_describe(j->bench.design, &info);
    j->clock_edges = ls__mem_alloc(info.port_count, 1);
    if (!j->clock_edges)
        return ls__fail_oom(error, info.port_count);
    ls_status status = ls_design_clocks(j->bench.design, j->clock_edges, error);
    stimulus->clocks = j->clock_edges;
    if (status != LS_OK || !j->sample_after || j->clock_count)
        return status;
    j->found_clocks = ls__mem_alloc(info.port_count, sizeof *j->found_clocks);
    if (!j->found_clocks)
        return ls__fail_oom(error, info.port_count * sizeof *j->found_clocks);
    stimulus->late = j->found_clocks;
    for (uint32_t i = 0; status == LS_OK && i < info.port_count; i++) {
        ls_signal_info signal;
        status = ls_design_signal(j->bench.design, i, &signal, error);
        if (status == LS_OK && j->clock_edges[i])
            j->found_clocks[stimulus->late_count++] = signal.name;
    }
    return status;
}

static ls_status check_files(const job *j, ls_error *error)
{
    ls__cli_files files = {0};
    for (uint32_t i = 0; i + 1 < j->file_count; i++)
        ls__cli_files_read(&files, j->files[i]);
    ls__cli_files_read(&files, j->bench.trace_names);
    ls__cli_files_write(&files, j->files[j->file_count - 1]);
    ls_status status = ls__cli_files_check(&files, error);
    ls__cli_files_finish(&files);
    return status;
}

static ls_status open_all(job *j, ls_error *error)
{
    char **files = j->files;
    const char *stimulus_path = files[j->file_count - 2], *output = files[j->file_count - 1];
    ls__wave_params wave = {.path = output, .to_edge = UINT64_MAX};
    ls__stimulus_params stimulus = {.path = stimulus_path,
                                    .scope = j->input_scope,
                                    .late = j->clocks,
                                    .late_count = j->sample_after ? j->clock_count : 0,
                                    .warn = ls__cli_bench_note,
                                    .context = &j->bench};
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    ls_design_info info = {.struct_size = sizeof info};
    ls_status status = check_files(j, error);
    if (status == LS_OK)
        status = ls__cli_bench_load(&j->bench, files, j->file_count - 2, error);
    if (status == LS_OK)
        status = find_clocks(j, &stimulus, error);
    if (status == LS_OK)
        status = ls__stimulus_open(j->bench.design, &stimulus, &j->stimulus, error);
    if (status == LS_OK)
        status = ls__cli_bench_device(&j->bench, NULL, &j->bench.opened, error);
    if (status == LS_OK)
        status = ls__waves_create(j->bench.design, time_of, j, &j->waves, error);
    if (status == LS_OK)
        status = ls__cli_bench_names(&j->bench, &wave, error);
    if (status != LS_OK)
        return status;
    ls_design_describe(j->bench.design, &info);
    wave.timescale = ls__stimulus_timescale(j->stimulus);
    wave.scope = j->output_scope ? j->output_scope : j->bench.compat ? "gem_top_module" : info.top;
    wave.is_flat = j->bench.compat;
    if (j->bench.compat && !j->bench.has_trace)
        wave.choice = LS__TRACE_OUTPUTS;
    status = ls__waves_add(j->waves, &wave, error);
    if (status != LS_OK)
        return status;
    ls__cli_bench_params(&j->bench, &params);
    status = ls__waves_trace(j->waves, &params.trace, &params.trace_count, error);
    if (status != LS_OK)
        return status;
    params.sink = (ls_cosim_sink){on_changes, on_event, j};
    status = ls_cosim_create(j->bench.design, &params, &j->cosim, error);
    return status == LS_OK ? ls__waves_open(j->waves, error) : status;
}

static void show_progress(job *j)
{
    uint64_t now = ls__os_now_ns();
    if (j->bench.quiet || !isatty(STDERR_FILENO) || now - j->begun_ns < 500000000 ||
        now - j->shown_ns < 200000000)
        return;
    j->shown_ns = now;
    fprintf(stderr, "\r\033[K%llu edges, %.0f edges/s", (unsigned long long)j->edge,
            (double)j->edge * 1e9 / (double)(now - j->begun_ns));
}

/* One piece, of times below the limit; *moved: there was one. */
static ls_status run_piece(job *j, uint64_t time_limit, bool *moved, ls_error *error)
{
    uint64_t until = 0;
    ls_status status =
        ls__stimulus_read(j->stimulus, j->cosim, j->bench.batch, time_limit, &until, error);
    *moved = until > j->edge;
    if (status != LS_OK || !*moved)
        return status;
    if (until > j->bench.max_edges)
        until = j->bench.max_edges;
    ls__waves_prepare(j->waves, j->cosim, j->edge, &until);
    status = ls_cosim_run(j->cosim, until, ls__cli_signal_flag(), error);
    j->edge = ls_cosim_edge(j->cosim, 0);
    if (j->bench.compat)
        write_rows(j, j->edge);
    if (status == LS_OK || status == LS_E_CANCELLED) {
        ls_status flushed = ls__waves_flush(j->waves, status == LS_OK ? error : NULL);
        status = status == LS_OK ? flushed : status;
    }
    ls__cli_check_output();
    show_progress(j);
    return status;
}

/* Until a time, the end of the stimulus, --max-clock-edges, $finish or a signal. */
static ls_status run_until(job *j, uint64_t time_limit, ls_error *error)
{
    bool moved = true;
    ls_status status = LS_OK;
    while (status == LS_OK && moved && j->edge < j->bench.max_edges && !j->has_finished) {
        status = run_piece(j, time_limit, &moved, error);
        j->has_finished = ls_cosim_stop(j->cosim, 0) == LS_STOP_FINISH;
    }
    return status;
}

/* Before, in and behind the window of the waveform, whose edges are known when they are reached. */
static ls_status run_all(job *j, ls_error *error)
{
    ls_status status = LS_OK;
    j->begun_ns = ls__os_now_ns();
    if (j->bench.from) {
        ls__waves_window(j->waves, UINT64_MAX, UINT64_MAX);
        status = run_until(j, j->bench.from, error);
        ls__waves_window(j->waves, j->edge, UINT64_MAX);
    }
    uint64_t from_edge = j->edge;
    if (status == LS_OK && j->bench.to != UINT64_MAX) {
        status = run_until(j, j->bench.to, error);
        ls__waves_window(j->waves, from_edge, j->edge);
    }
    return status == LS_OK ? run_until(j, UINT64_MAX, error) : status;
}

static int run_job(job *j)
{
    ls_error error = {0}, closing = {0};
    ls__cli_catch_signals();
    ls_status status = open_all(j, &error);
    if (status == LS_OK)
        status = run_all(j, &error);
    if (j->shown_ns)
        ls__cli_clear_progress();
    ls_status closed = ls__waves_close(&j->waves, &closing);
    if (closed != LS_OK && (status == LS_OK || status == LS_E_CANCELLED)) {
        status = closed;
        error = closing;
    }
    ls_cosim_destroy(&j->cosim);
    ls__stimulus_close(&j->stimulus);
    ls__mem_free(j->found_clocks);
    ls__mem_free(j->clock_edges);
    ls__cli_bench_finish(&j->bench);
    int result = ls__cli_end(status, &error);
    return result == LS__EXIT_OK && j->has_failed ? LS__EXIT_FAILED : result;
}

int ls__cli_sim(int argc, char **argv)
{
    job j = {0};
    int result = LS__EXIT_USAGE;
    ls__cli_bench_init(&j.bench);
    j.clocks = ls__mem_alloc((size_t)argc, sizeof *j.clocks);
    j.files = ls__mem_alloc((size_t)argc, sizeof *j.files);
    if (!j.clocks || !j.files) {
        fputs("lockstep: out of memory\n", stderr);
        result = LS__EXIT_FAILED;
    } else if (argp_parse(&arguments, argc, argv, 0, NULL, &j) == 0) {
        result = run_job(&j);
    }
    ls__mem_free(j.files);
    ls__mem_free(j.clocks);
    return result;
}
