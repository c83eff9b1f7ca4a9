/* SPDX-License-Identifier: Apache-2.0 */
/* What `lockstep sim` and `lockstep cosim` share: the netlist, the device and how to run on it. */
#ifndef LS_CLI_BENCH_H
#define LS_CLI_BENCH_H

#include <argp.h>

#include "lockstep/cosim.h"
#include "testbench/waves.h"

typedef struct ls__cli_bench {
    /* options */
    const char *top, *device, *target, *cache;
    bool no_cache, quiet, verbose, compat, randomize;
    uint32_t threads;
    uint64_t seed;
    ls_cosim_form form;
    uint32_t workgroups; /* of an instance; 0: chosen */
    ls_cosim_tier tier;
    uint32_t batch; /* edges of one run */
    ls__trace_choice trace;
    bool has_trace;
    const char *trace_names; /* a file */
    uint64_t from, to;       /* times; to = UINT64_MAX */
    uint64_t max_edges;      /* UINT64_MAX: no limit */
    /* what is open */
    ls_device *opened;
    ls_design *design;
    void *trace_text;
} ls__cli_bench;

/* Options of both commands, for argp; the input is the ls__cli_bench. */
extern const struct argp ls__cli_bench_argp;

void ls__cli_bench_init(ls__cli_bench *bench);
/* The netlist; files that end in .v or .sv go through Yosys. Prints what is odd. */
ls_status ls__cli_bench_load(ls__cli_bench *bench, char *const *paths, uint32_t path_count,
                             ls_error *error);
/* Another device than --device when `name` is given. */
ls_status ls__cli_bench_device(const ls__cli_bench *bench, const char *name, ls_device **device,
                               ls_error *error);
/* Device, form and how state begins. */
void ls__cli_bench_params(const ls__cli_bench *bench, ls_cosim_params *params);
/* Reads the file of --trace-signals, if there is one, into `wave`. */
ls_status ls__cli_bench_names(ls__cli_bench *bench, ls__wave_params *wave, ls_error *error);
void ls__cli_bench_finish(ls__cli_bench *bench);

/* "lockstep: note: ..." unless --quiet; the context is the ls__cli_bench. */
void ls__cli_bench_note(void *context, const char *message);

/* A JSON netlist of Verilog files, made by Yosys; ls__mem_free. */
ls_status ls__cli_yosys(char *const *paths, uint32_t path_count, const char *top, char **text,
                        size_t *length, ls_error *error);

#endif
