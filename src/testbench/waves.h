/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waveforms of a run: which signals are traced, and what is written of their changes into one or
 * several VCD files, each with signals and a window of its own.
 */
#ifndef LS_TESTBENCH_WAVES_H
#define LS_TESTBENCH_WAVES_H

#include "lockstep/cosim.h"

typedef struct ls__waves ls__waves;

/* What of a design goes into a waveform. */
typedef enum ls__trace_choice {
    LS__TRACE_NAMED, /* all but names that the synthesis made */
    LS__TRACE_ALL,
    LS__TRACE_PORTS,
    LS__TRACE_OUTPUTS, /* of the top */
    LS__TRACE_INPUTS
} ls__trace_choice;

typedef struct ls__wave_params {
    const char *path;
    const char *timescale; /* "1 ps" */
    const char *scope;     /* of the whole */
    ls__trace_choice choice;
    /* Names of more signals, one a line, '#' begins a comment; "*" and "?" stand for any characters
     * but '.', "**" for any at all. NULL = none. */
    const char *names, *names_path; /* the text, and its file for messages */
    bool is_flat;                   /* the layout of --compat jacquard */
    uint64_t from_edge, to_edge;    /* only edges from_edge to to_edge - 1 */
} ls__wave_params;

/* `time_of` says when an edge is; edges are asked for in ascending order. */
ls_status ls__waves_create(const ls_design *design,
                           uint64_t (*time_of)(void *context, uint64_t edge), void *context,
                           ls__waves **waves, ls_error *error);
/* Before ls__waves_trace. The texts must stay until ls__waves_open. */
ls_status ls__waves_add(ls__waves *waves, const ls__wave_params *params, ls_error *error);
/* Traces all signals, whatever the waveforms show. */
void ls__waves_trace_all(ls__waves *waves);
/* The signals to trace (ls_cosim_params): of all waveforms. */
ls_status ls__waves_trace(ls__waves *waves, const uint32_t **trace, uint32_t *count,
                          ls_error *error);

/* Opens the files, which empties them: when all is there that a run needs, before it begins. */
ls_status ls__waves_open(ls__waves *waves, ls_error *error);

/* Another window for all, when what was said is only known now; not after it has begun, or ended.
 */
void ls__waves_window(ls__waves *waves, uint64_t from_edge, uint64_t to_edge);
/* Before a run from `edge` on. The run must end where this says so: up to *until_edge, which is
 * made smaller where a window begins. */
void ls__waves_prepare(ls__waves *waves, const ls_cosim *cosim, uint64_t edge,
                       uint64_t *until_edge);
/* The sink's `changes`. */
void ls__waves_changes(ls__waves *waves, const ls_cosim *cosim, uint64_t edge,
                       const uint32_t *traced, uint32_t count);
/* Instead, where what is written is not what changed at an edge: takes changes without writing...
 */
void ls__waves_collect(ls__waves *waves, const ls_cosim *cosim, const uint32_t *traced,
                       uint32_t count);
/* ... and writes all that was taken since the last time, as one step. */
void ls__waves_row(ls__waves *waves, uint64_t time);
/* Between runs: what has been written is seen in the files soon. Reports the first that has failed;
 * nothing more goes into that one, and the others go on. */
ls_status ls__waves_flush(ls__waves *waves, ls_error *error);
/* What failed so far. */
ls_status ls__waves_failed(const ls__waves *waves, ls_error *error);
/* Completes the files. Blocks. Writes NULL; accepts NULL. */
ls_status ls__waves_close(ls__waves **waves, ls_error *error);

#endif
