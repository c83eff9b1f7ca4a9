/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep cosim`: what its files share. */
#ifndef LS_CLI_COSIM_H
#define LS_CLI_COSIM_H

#include <jansson.h>

#include "base/os.h"
#include "base/str.h"
#include "cli/bench.h"
#include "testbench/run.h"

typedef struct ls__cli_cosim_job {
    ls__cli_bench bench;
    /* options */
    const char *config_path;
    const char *output_vcd, *stimulus_vcd, *output_scope;
    const char *events, *events_reference, *commands, *bus_csv, *perf, *report;
    const char *jtag_replay, *check_with, *console, *input, *record, *replay;
    const char *dump_dff, *run_params;
    uint64_t jtag_hold, clock_period_ps, dump_cycles, master_seed;
    bool flash_verbose;
    uint32_t instances;
    char **files;
    uint32_t file_count;
    /* what is open */
    void *config_text;
    ls__config_file *config_file;
    ls__config config; /* with what options replace */
    ls__plan *plan;
    ls__waves *waves;
    ls__events *event_list;
    ls__commands *command_list;
    ls_device *check_device;
    ls__run *run;
    ls__os_appender *record_file;
    ls__dump *dump;
    json_t *reference; /* of events, when all instances have one */
    /* while it runs */
    uint64_t begun_ns, shown_ns, run_ns;
    bool progress_shown;
    uint32_t console_count;  /* UARTs that are shown */
    uint32_t console_source; /* the one of --console */
    ls__strbuf *lines;       /* [peripheral_count], when several are shown */
    bool mid_line;           /* the terminal's cursor is inside a line */
    bool waves_failed;       /* and that was said */
    bool is_failed, is_cut;  /* the verdict of some instance */
} ls__cli_cosim_job;

/* --- cosim_io.c: console, live input and its record ------------------------------------------- */
ls_status ls__cli_cosim_open_io(ls__cli_cosim_job *c, ls_error *error);
ls_status ls__cli_cosim_replay(ls__cli_cosim_job *c, ls_error *error); /* when the run is made */
void ls__cli_cosim_close_io(ls__cli_cosim_job *c);
/* Callbacks of ls__run_params; the context is the ls__cli_cosim_job. */
bool ls__cli_cosim_live(void *context, uint8_t *bytes, uint32_t capacity, uint32_t *count);
ls_status ls__cli_cosim_record(void *context, uint64_t edge, const uint8_t *bytes, uint32_t count,
                               ls_error *error);
void ls__cli_cosim_byte(void *context, uint32_t source, uint8_t byte);
void ls__cli_cosim_message(void *context, const ls_cosim_event *event, uint64_t time_ps);
void ls__cli_cosim_transfer(void *context, const ls_cosim_event *event, uint64_t time_ps);
void ls__cli_cosim_progress(void *context, uint64_t edge);
/* The peripheral of that name and kind; UINT32_MAX: none. */
uint32_t ls__cli_cosim_find(const ls__cli_cosim_job *c, const char *name, ls__model_kind kind);

/* --- run_params.c --------------------------------------------------------------------------- */
/* Reads the seed, or draws one and writes it where there is no such file. */
ls_status ls__cli_run_params(const char *path, uint64_t *seed, ls_error *error);

/* --- cosim_report.c: files at the end --------------------------------------------------------- */
/* Looks at the reference before the run: it must be a file of events, for each instance. */
ls_status ls__cli_cosim_open_reference(ls__cli_cosim_job *c, ls_error *error);
/* Writes all that was asked for, and says what cannot be written; false: something could not.
 * *passed: all instances have run to their end, no assertion has failed, and events are as in the
 * reference. */
bool ls__cli_cosim_report(ls__cli_cosim_job *c, bool *passed);

#endif
