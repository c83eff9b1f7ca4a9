/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waveform as stimulus: every time stamp of it is an edge, at which the inputs change that it
 * says. Read piece by piece.
 */
#ifndef LS_TESTBENCH_STIMULUS_H
#define LS_TESTBENCH_STIMULUS_H

#include "lockstep/cosim.h"

typedef struct ls__stimulus ls__stimulus;

typedef struct ls__stimulus_params {
    const char *path;
    const char *scope; /* "a.b" or "a/b"; NULL: dut, uut, DUT, UUT, top, else the first scope that
                          has all inputs */
    /* Inputs that change one edge later than the others of their time stamp, so that flip-flops see
     * what changes together with the clock. */
    const char *const *late;
    uint32_t late_count;
    const uint8_t
        *clocks; /* ls_design_clocks, for ls__stimulus_is_active; may be NULL; not copied */
    void (*warn)(void *context, const char *message);
    void *context;
} ls__stimulus_params;

/* LS_E_NOT_FOUND names the inputs that the waveform lacks. */
ls_status ls__stimulus_open(const ls_design *design, const ls__stimulus_params *params,
                            ls__stimulus **stimulus, ls_error *error);
void ls__stimulus_close(ls__stimulus **stimulus); /* accepts NULL, writes NULL */

const char *ls__stimulus_timescale(const ls__stimulus *stimulus);

/* Reads on, up to `edge_limit` edges and about as many changes as fit in some megabytes, and only
 * times below `time_limit`. The changes go into the cosim's queue for all instances. *next_edge:
 * all edges below are known; it stays where it was when there is no more. */
ls_status ls__stimulus_read(ls__stimulus *stimulus, ls_cosim *cosim, uint32_t edge_limit,
                            uint64_t time_limit, uint64_t *next_edge, ls_error *error);

/* The time of an edge that the last ls__stimulus_read has read; a late edge has that of the one
 * before. */
uint64_t ls__stimulus_time(const ls__stimulus *stimulus, uint64_t edge);
/* Whether a clock changes at it in a direction that matters. */
bool ls__stimulus_is_active(const ls__stimulus *stimulus, uint64_t edge);

#endif
