/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A co-simulation from its first edge to its last: stimulus, commands, live input and its record,
 * waveforms, events, and a second device that does the same for comparison.
 */
#ifndef LS_TESTBENCH_RUN_H
#define LS_TESTBENCH_RUN_H

#include "lockstep/cosim.h"
#include "testbench/commands.h"
#include "testbench/dump.h"
#include "testbench/events.h"
#include "testbench/plan.h"
#include "testbench/waves.h"

typedef struct ls__run ls__run;

typedef struct ls__run_params {
    const ls_design *design;
    const ls__plan *plan;
    const ls_cosim_params *cosim; /* device, form, instances, how state begins; the rest is ours */
    ls_device *check;             /* a second device, or NULL */
    ls__waves *waves;             /* complete; may have no waveforms */
    ls__events *events;
    ls__commands *commands; /* may be NULL */
    uint64_t batch;         /* edges of a run at most */
    uint64_t max_edges;
    bool compat;
    uint32_t live_source; /* a uart_rx that gets what `live` gives, or UINT32_MAX */
    /* Bytes that have come from outside, without waiting; *count = 0: none now. False: none will.
     */
    bool (*live)(void *context, uint8_t *bytes, uint32_t capacity, uint32_t *count);
    /* What live input came when; written as it comes. NULL = not recorded. */
    ls_status (*record)(void *context, uint64_t edge, const uint8_t *bytes, uint32_t count,
                        ls_error *error);
    void (*byte)(void *context, uint32_t source, uint8_t byte); /* of a uart_tx, instance 0 */
    /* Other events; `time` of its edge. */
    void (*message)(void *context, const ls_cosim_event *event, uint64_t time);
    void (*progress)(void *context, uint64_t edge); /* now and then */
    /* Of a flash that is to be told of (ls__plan_params): a transfer's event, not among the others.
     */
    void (*transfer)(void *context, const ls_cosim_event *event, uint64_t time);
    ls__dump *dump;      /* may be NULL: registers of the first edges */
    uint64_t dump_edges; /* so many */
    void *context;
    const volatile int *cancel; /* not 0: stop */
} ls__run_params;

ls_status ls__run_create(const ls__run_params *params, ls__run **run, ls_error *error);
void ls__run_destroy(ls__run **run); /* accepts NULL, writes NULL */

/* Bytes that are to come at an edge: a record that is replayed. Before ls__run_all, ascending. */
ls_status ls__run_replay(ls__run *run, uint32_t source, uint64_t edge, uint8_t byte,
                         ls_error *error);

/* Up to max_edges, or until every instance has stopped; one that has stands still at its edge.
 * A waveform that cannot be written does not end the run: ls__waves_close says so. LS_E_CANCELLED
 * after `cancel`; LS_E_FAILED also where the second device differs: the error says at which edge
 * and net. Blocks. */
ls_status ls__run_all(ls__run *run, ls_error *error);

typedef struct ls__run_result {
    uint64_t edges, digest;
    uint64_t failed_asserts;
    const char
        *stop; /* "edge", "finish", "assert", "stop" or, when it was cancelled, "interrupted" */
} ls__run_result;
ls_status ls__run_of(ls__run *run, uint32_t instance, ls__run_result *result, ls_error *error);
ls_cosim *ls__run_cosim(ls__run *run);

#endif
