/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep cosim`: a netlist with clocks, reset and peripherals from a configuration. */
#include "cli/cosim.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/wait.h"

enum {
    KEY_CONFIG = 256,
    KEY_OUTPUT_VCD,
    KEY_STIMULUS_VCD,
    KEY_OUTPUT_SCOPE,
    KEY_EVENTS,
    KEY_EVENTS_REFERENCE,
    KEY_COMMANDS,
    KEY_BUS_CSV,
    KEY_PERF,
    KEY_REPORT,
    KEY_JTAG_REPLAY,
    KEY_JTAG_HOLD,
    KEY_CLOCK_PERIOD,
    KEY_INSTANCES,
    KEY_CHECK_WITH,
    KEY_CONSOLE,
    KEY_INPUT,
    KEY_RECORD,
    KEY_REPLAY,
    KEY_DUMP_DFF,
    KEY_DUMP_CYCLES,
    KEY_FLASH_VERBOSE,
    KEY_RUN_PARAMS
};

enum { DUMP_CYCLES = 20 };

static const struct argp_option option_table[] = {
    {"config", KEY_CONFIG, "FILE", 0,
     "Clocks, reset, peripherals, memories (docs/cosim.md, docs/cosim-config.schema.json)", 1},
    {"clock-period", KEY_CLOCK_PERIOD, "PS", 0, "Period of the system clock, instead of FILE's", 1},
    {"input-commands", KEY_COMMANDS, "FILE", 0, "Waits and actions, instead of FILE's", 1},
    {"jtag-replay", KEY_JTAG_REPLAY, "FILE", 0, "A remote_bitbang session for the jtag of FILE", 1},
    {"jtag-hold-cycles", KEY_JTAG_HOLD, "N", 0, "Edges between two of its bytes (default: 4)", 1},
    {"instances", KEY_INSTANCES, "N", 0,
     "Instances of the design side by side; {instance} in file names of FILE is their number", 1},
    {"run-params", KEY_RUN_PARAMS, "FILE", 0,
     "Seed of the jitter of clocks; where there is no such file, one is drawn and written", 1},
    {"output-vcd", KEY_OUTPUT_VCD, "FILE", 0, "Write a waveform (of instance 0)", 2},
    {"output-vcd-scope", KEY_OUTPUT_SCOPE, "NAME", 0,
     "Its outermost scope (default: the top module's name)", 2},
    {"stimulus-vcd", KEY_STIMULUS_VCD, "FILE", 0, "Write a waveform of all inputs", 2},
    {"events", KEY_EVENTS, "FILE", 0, "Write the events of peripherals as JSON", 2},
    {"events-reference", KEY_EVENTS_REFERENCE, "FILE", 0,
     "Fail when the bytes of events are not as in FILE", 2},
    {"bus-trace-csv", KEY_BUS_CSV, "FILE", 0, "Write the transfers on traced buses", 2},
    {"cosim-perf-json", KEY_PERF, "FILE", 0, "Write how fast it was", 2},
    {"report", KEY_REPORT, "FILE", 0, "Write digest and verdict of every instance as JSON", 2},
    {"dump-dff", KEY_DUMP_DFF, "FILE", 0, "Write all registers after each of the first edges", 2},
    {"dump-dff-cycles", KEY_DUMP_CYCLES, "N", 0,
     "Of so many periods of the system clock (default: 20)", 2},
    {"flash-verbose", KEY_FLASH_VERBOSE, NULL, 0,
     "Tell of every transfer of flash and PSRAM on standard error", 3},
    {"console", KEY_CONSOLE, "NAME", 0,
     "Print the text of this UART only, or of none (default: all)", 3},
    {"input", KEY_INPUT, "NAME", 0, "Standard input goes to this UART", 3},
    {"record", KEY_RECORD, "FILE", 0, "Note when that input came", 3},
    {"replay", KEY_REPLAY, "FILE", 0, "Input as it was recorded", 3},
    {"check-with", KEY_CHECK_WITH, "DEVICE", 0,
     "Run on DEVICE too, and stop at the first edge and net that differ", 3},
    {0},
};

static const char help[] =
    "Runs NETLIST (Yosys JSON; .v and .sv go through Yosys, also several) with clocks, reset and "
    "peripherals as FILE says, prints what its UARTs send, and writes what is asked for."
    "\n\nOptions:"
    "\v"
    "Exit status: 0 passed, 1 failed: an error, a failed assertion, or other events than in the "
    "reference; 130 stopped by Ctrl-C, 141 the reader of standard output has left.\n\n"
    "Examples:\n"
    "  lockstep cosim counter.json --config config.json --output-vcd out.vcd\n"
    "  lockstep cosim counter.json --config config.json --instances 100 \\\n"
    "      --x-init random:1 --report counts.json\n";

static error_t parse_number(struct argp_state *state, const char *option, const char *text,
                            uint64_t minimum, uint64_t maximum, uint64_t *value)
{
    int64_t number = 0;
    if (ls__cli_parse_integer(text, 0, maximum, &number, NULL) != LS_OK ||
        (uint64_t)number < minimum)
        ls__cli_usage_error(state, "%s takes a number from %llu on, not '%s'", option,
                            (unsigned long long)minimum, text);
    *value = (uint64_t)number;
    return 0;
}

/* Where the text of an option is kept; NULL: it is no such option. */
static const char **place_of(ls__cli_cosim_job *c, int key)
{
    const struct {
        int key;
        const char **place;
    } places[] = {
        {KEY_CONFIG, &c->config_path},
        {KEY_OUTPUT_VCD, &c->output_vcd},
        {KEY_STIMULUS_VCD, &c->stimulus_vcd},
        {KEY_OUTPUT_SCOPE, &c->output_scope},
        {KEY_EVENTS, &c->events},
        {KEY_EVENTS_REFERENCE, &c->events_reference},
        {KEY_COMMANDS, &c->commands},
        {KEY_BUS_CSV, &c->bus_csv},
        {KEY_PERF, &c->perf},
        {KEY_REPORT, &c->report},
        {KEY_JTAG_REPLAY, &c->jtag_replay},
        {KEY_CHECK_WITH, &c->check_with},
        {KEY_CONSOLE, &c->console},
        {KEY_INPUT, &c->input},
        {KEY_RECORD, &c->record},
        {KEY_REPLAY, &c->replay},
        {KEY_DUMP_DFF, &c->dump_dff},
        {KEY_RUN_PARAMS, &c->run_params},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].key == key)
            return places[i].place;
    return NULL;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_cosim_job *c = state->input;
    uint64_t number = 0;
    const char **place = place_of(c, key);
    if (place) {
        *place = text;
        return 0;
    }
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &c->bench;
        return 0;
    case KEY_JTAG_HOLD:
        return parse_number(state, "--jtag-hold-cycles", text, 2, 1 << 30, &c->jtag_hold);
    case KEY_CLOCK_PERIOD:
        return parse_number(state, "--clock-period", text, 2, UINT64_C(1) << 40,
                            &c->clock_period_ps);
    case KEY_DUMP_CYCLES:
        return parse_number(state, "--dump-dff-cycles", text, 1, 1 << 30, &c->dump_cycles);
    case KEY_FLASH_VERBOSE:
        c->flash_verbose = true;
        return 0;
    case KEY_INSTANCES:
        parse_number(state, "--instances", text, 1, 1 << 20, &number);
        c->instances = (uint32_t)number;
        return 0;
    case ARGP_KEY_ARG:
        c->files[c->file_count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (!c->config_path)
            argp_error(state, "a configuration is needed: --config FILE");
        else if (c->record && !c->input)
            argp_error(state, "--record needs --input NAME");
        else if (c->dump_cycles && !c->dump_dff)
            argp_error(state, "--dump-dff-cycles needs --dump-dff FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&ls__cli_bench_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "NETLIST...",
    .doc = help,
    .children = children,
};

/* --- setting up ------------------------------------------------------------------------------- */

static ls_status read_config(ls__cli_cosim_job *c, ls_error *error)
{
    size_t size;
    ls_status status =
        ls__os_read_file(c->config_path, UINT64_C(1) << 30, &c->config_text, &size, error);
    if (status == LS_OK)
        status = ls__config_read(c->config_text, size, c->config_path, ls__cli_bench_note,
                                 &c->bench, &c->config_file, error);
    if (status != LS_OK)
        return status;
    c->config = *ls__config_of(c->config_file);
    if (c->clock_period_ps)
        c->config.clock_period_ps = c->clock_period_ps;
    if (!c->bench.top)
        c->bench.top = c->config.top;
    if (!c->events)
        c->events = c->config.output_events;
    return LS_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A file that options, or else the configuration, name; one for each instance where it says so. */
static void add_files(const ls__cli_cosim_job *c, ls__cli_files *files, const char *config_path,
                      const char *name, bool is_output)
{
    uint32_t count = name && strstr(name, "{instance}") ? c->instances : 1;
    for (uint32_t i = 0; name && i < count; i++) {
        char *path = ls__plan_path(config_path, name, i);
        files->failed |= !path;
        if (is_output)
            ls__cli_files_write(files, path);
        else
            ls__cli_files_read(files, path);
        ls__mem_free(path);
    }
}

typedef struct file_visit {
    const ls__cli_cosim_job *job;
    ls__cli_files files;
} file_visit;

static void visit_file(void *context, const char *name)
{
    file_visit *v = context;
    add_files(v->job, &v->files, v->job->config_path, name, false);
}

/* No output is an input, nor another output. */
static ls_status check_files(const ls__cli_cosim_job *c, ls_error *error)
{
    file_visit v = {.job = c};
    const char *outputs[] = {c->output_vcd, c->stimulus_vcd, c->events, c->bus_csv,
                             c->perf,       c->report,       c->record, c->dump_dff};
    const char *inputs[] = {c->config_path, c->events_reference,  c->commands,  c->jtag_replay,
                            c->replay,      c->bench.trace_names, c->run_params};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        add_files(c, &v.files, NULL, inputs[i], false);
    for (uint32_t i = 0; i < c->file_count; i++)
        ls__cli_files_read(&v.files, c->files[i]);
    ls__config_visit_files(&c->config, visit_file, &v);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        add_files(c, &v.files, NULL, outputs[i], true);
    ls_status status = ls__cli_files_check(&v.files, error);
    ls__cli_files_finish(&v.files);
    return status;
}

static ls_status load_netlist(ls__cli_cosim_job *c, ls_error *error)
{
    if (c->file_count)
        return ls__cli_bench_load(&c->bench, c->files, c->file_count, error);
    if (!c->config.netlist_path)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "which netlist? none is named, nor by netlist_path of '%s'",
                        c->config_path);
    char *path = ls__plan_path(c->config_path, c->config.netlist_path, 0);
    if (!path)
        return ls__fail_oom(error, 64);
    ls_status status = ls__cli_bench_load(&c->bench, &path, 1, error);
    ls__mem_free(path);
    return status;
}

static uint64_t time_of(void *context, uint64_t edge)
{
    const ls__cli_cosim_job *c = context;
    return ls__schedule_time(c->plan->schedule, edge);
}

static uint64_t wave_time_of(void *context, uint64_t edge)
{
    const ls__cli_cosim_job *c = context;
    return ls__schedule_jittered(c->plan->schedule, edge);
}

static ls_status make_plan(ls__cli_cosim_job *c, ls_error *error)
{
    ls__plan_params params = {.design = c->bench.design,
                              .config = &c->config,
                              .config_path = c->config_path,
                              .instances = c->instances,
                              .compat = c->bench.compat,
                              .jtag_replay = c->jtag_replay,
                              .jtag_hold = c->jtag_hold,
                              .flash_verbose = c->flash_verbose,
                              .master_seed = c->master_seed,
                              .warn = ls__cli_bench_note,
                              .context = &c->bench};
    ls_status status = ls__plan_create(&params, &c->plan, error);
    if (status == LS_OK)
        status = ls__events_create(c->plan, c->instances, c->bench.compat, time_of, c,
                                   &c->event_list, error);
    if (status == LS_OK && c->bench.max_edges > c->plan->max_edges)
        c->bench.max_edges = c->plan->max_edges;
    return status;
}

static ls_status choose_waves(ls__cli_cosim_job *c, ls_error *error)
{
    ls_design_info info = {.struct_size = sizeof info};
    ls_design_describe(c->bench.design, &info);
    ls__wave_params wave = {.path = c->output_vcd,
                            .timescale = "1 ps",
                            .scope = c->output_scope   ? c->output_scope
                                     : c->bench.compat ? "top"
                                                       : info.top,
                            .is_flat = c->bench.compat,
                            .to_edge = UINT64_MAX};
    if (c->bench.from)
        wave.from_edge = ls__schedule_edge(c->plan->schedule, c->bench.from);
    if (c->bench.to != UINT64_MAX)
        wave.to_edge = ls__schedule_edge(c->plan->schedule, c->bench.to);
    ls_status status = ls__waves_create(c->bench.design, wave_time_of, c, &c->waves, error);
    if (status == LS_OK && c->output_vcd) {
        status = ls__cli_bench_names(&c->bench, &wave, error);
        if (c->bench.compat && !c->bench.has_trace)
            wave.choice = LS__TRACE_OUTPUTS;
        if (status == LS_OK)
            status = ls__waves_add(c->waves, &wave, error);
    }
    if (status == LS_OK && c->stimulus_vcd) {
        wave.path = c->stimulus_vcd;
        wave.choice = LS__TRACE_INPUTS;
        wave.names = NULL;
        status = ls__waves_add(c->waves, &wave, error);
    }
    if (status == LS_OK && c->check_with)
        ls__waves_trace_all(c->waves);
    return status;
}

static ls_status read_commands(ls__cli_cosim_job *c, ls_error *error)
{
    void *text = NULL;
    size_t size;
    char *path;
    if (c->commands)
        path = ls__mem_strdup(c->commands);
    else if (c->config.input_commands)
        path = ls__plan_path(c->config_path, c->config.input_commands, 0);
    else
        return LS_OK;
    ls_status status = path ? ls__os_read_file(path, UINT64_C(1) << 30, &text, &size, error)
                            : ls__fail_oom(error, 64);
    if (status == LS_OK)
        status =
            ls__commands_read(text, size, path, c->plan, c->instances, &c->command_list, error);
    ls__mem_free(text);
    ls__mem_free(path);
    return status;
}

/* The files that grow during a run, last: opening them empties them. */
static ls_status open_outputs(ls__cli_cosim_job *c, ls_error *error)
{
    ls_status status = ls__waves_open(c->waves, error);
    if (status == LS_OK && c->dump)
        status = ls__dump_open(c->dump, c->dump_dff, error);
    if (status == LS_OK && c->record)
        status = ls__os_appender_open(c->record, 0, &c->record_file, error);
    return status;
}

static ls_status make_run(ls__cli_cosim_job *c, ls_error *error)
{
    ls_cosim_params cosim = LS_COSIM_PARAMS_INIT;
    ls__cli_bench_params(&c->bench, &cosim);
    cosim.instances = c->instances;
    cosim.stop_on_assert = c->config.stop_on_assert;
    ls__run_params params = {
        .design = c->bench.design,
        .plan = c->plan,
        .cosim = &cosim,
        .check = c->check_device,
        .waves = c->waves,
        .events = c->event_list,
        .commands = c->command_list,
        .batch = c->bench.batch,
        .max_edges = c->bench.max_edges,
        .compat = c->bench.compat,
        .live_source = UINT32_MAX,
        .live = ls__cli_cosim_live,
        .record = c->record ? ls__cli_cosim_record : NULL,
        .byte = ls__cli_cosim_byte,
        .message = ls__cli_cosim_message,
        .progress = ls__cli_cosim_progress,
        .transfer = c->flash_verbose ? ls__cli_cosim_transfer : NULL,
        .dump = c->dump,
        .dump_edges = ls__plan_edges(c->plan, c->dump_cycles ? c->dump_cycles : DUMP_CYCLES),
        .context = c,
        .cancel = ls__cli_signal_flag()};
    if (c->input) {
        params.live_source = ls__cli_cosim_find(c, c->input, LS__MODEL_UART_RX);
        if (params.live_source == UINT32_MAX)
            return ls__fail(error, LS_E_NOT_FOUND, "--input: there is no UART '%s' with an rx",
                            c->input);
    }
    ls_status status = ls__run_create(&params, &c->run, error);
    if (status == LS_OK && c->replay)
        status = ls__cli_cosim_replay(c, error);
    return status;
}

static ls_status open_all(ls__cli_cosim_job *c, ls_error *error)
{
    ls_status status = read_config(c, error);
    if (status == LS_OK)
        status = check_files(c, error);
    if (status == LS_OK)
        status = ls__cli_cosim_open_reference(c, error);
    if (status == LS_OK && c->run_params)
        status = ls__cli_run_params(c->run_params, &c->master_seed, error);
    if (status == LS_OK)
        status = load_netlist(c, error);
    if (status == LS_OK)
        status = make_plan(c, error);
    if (status == LS_OK)
        status = read_commands(c, error);
    if (status == LS_OK)
        status = ls__cli_bench_device(&c->bench, NULL, &c->bench.opened, error);
    if (status == LS_OK && c->check_with)
        status = ls__cli_bench_device(&c->bench, c->check_with, &c->check_device, error);
    if (status == LS_OK)
        status = ls__cli_cosim_open_io(c, error);
    if (status == LS_OK)
        status = choose_waves(c, error);
    if (status == LS_OK && c->dump_dff)
        status = ls__dump_create(c->bench.design, &c->dump, error);
    if (status == LS_OK)
        status = make_run(c, error);
    return status == LS_OK ? open_outputs(c, error) : status;
}

/* --- running ---------------------------------------------------------------------------------- */

static void close_all(ls__cli_cosim_job *c)
{
    ls__run_destroy(&c->run);
    ls__commands_destroy(&c->command_list);
    ls__events_destroy(&c->event_list);
    json_decref(c->reference);
    ls__plan_destroy(&c->plan);
    ls__config_destroy(&c->config_file);
    ls__mem_free(c->config_text);
    ls_device_destroy(&c->check_device, NULL);
    ls__cli_bench_finish(&c->bench);
}

static int run_job(ls__cli_cosim_job *c)
{
    ls_error error = {0};
    bool passed = false;
    ls__cli_catch_signals();
    ls_status status = open_all(c, &error);
    bool is_open = status == LS_OK;
    c->begun_ns = ls__os_now_ns();
    if (is_open)
        status = ls__run_all(c->run, &error);
    c->run_ns = ls__os_now_ns() - c->begun_ns;
    bool has_run = is_open && (status == LS_OK || status == LS_E_CANCELLED);
    bool good = status == LS_OK;
    ls__cli_cosim_close_io(c);
    if (status != LS_OK && !(has_run && ls__cli_caught_signal()))
        ls__cli_print_error(&error);
    if (ls__waves_close(&c->waves, &error) != LS_OK) {
        good = false;
        if (!c->waves_failed)
            ls__cli_print_error(&error);
    }
    if (ls__dump_close(&c->dump, &error) != LS_OK) {
        good = false;
        ls__cli_print_error(&error);
    }
    if (has_run)
        good &= ls__cli_cosim_report(c, &passed);
    close_all(c);
    if (ls__cli_caught_signal())
        return LS__EXIT_SIGNAL + ls__cli_caught_signal();
    return good && passed ? LS__EXIT_OK : LS__EXIT_FAILED;
}

int ls__cli_cosim(int argc, char **argv)
{
    ls__cli_cosim_job c = {.instances = 1};
    int result = LS__EXIT_USAGE;
    ls__cli_bench_init(&c.bench);
    c.files = ls__mem_alloc((size_t)argc, sizeof *c.files);
    if (!c.files) {
        fputs("lockstep: out of memory\n", stderr);
        return LS__EXIT_FAILED;
    }
    if (argp_parse(&arguments, argc, argv, 0, NULL, &c) == 0)
        result = run_job(&c);
    ls__mem_free(c.files);
    return result;
}
