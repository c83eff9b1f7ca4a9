/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a graph on the host, word for word as src/cosim/graph.h describes a step: slow, simple,
 * and what both forms of execution are compared with.
 */
#ifndef TESTS_COSIM_HOST_EVAL_H
#define TESTS_COSIM_HOST_EVAL_H

#include "cosim/graph.h"

typedef struct host_eval {
    const ls__graph *graph;
    uint64_t *values;    /* by node; written directly for INPUT nodes before a step */
    uint64_t **memories; /* by memory: depth * limbs words */
    uint8_t *seen;       /* clock values seen, by domain */
    uint64_t *taken;     /* scratch: what registers take, by register */
    uint32_t *happened;  /* how often each effect happened */
    uint32_t rounds;     /* of step 5, in the last step */
    bool by_level;       /* evaluate by levels instead of by index */
} host_eval;

/* Settled before the first step: initial values, inputs 0. NULL when it does not settle. */
host_eval *host_eval_create(const ls__graph *graph, bool by_level);
void host_eval_destroy(host_eval **run);
/* One step with the inputs as they are. False when nothing settles within 100 rounds. */
bool host_eval_step(host_eval *run);
/* The inputs as they are become those from before the first step: all settles, no clock is seen to
 * change. */
bool host_eval_settle(host_eval *run);

/* By name; bits above the signal's width are not there. `value` has a word for every 64 bits. */
const ls__graph_signal *host_eval_signal(const ls__graph *graph, const char *name);
void host_eval_set(host_eval *run, const char *name, const uint64_t *value);
void host_eval_get(const host_eval *run, const char *name, uint64_t *value);
void host_eval_get_signal(const host_eval *run, const ls__graph_signal *signal, uint64_t *value);
/* The low 64 bits; what an input has above them becomes 0. */
void host_eval_set64(host_eval *run, const char *name, uint64_t value);
uint64_t host_eval_get64(const host_eval *run, const char *name);

#endif
