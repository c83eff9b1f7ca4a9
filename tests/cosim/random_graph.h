/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of every operation, with clocks, loops, memories and messages, from a seed; and a model of
 * a step in plain C, written from src/cosim/graph.h alone. */
#ifndef LS_TESTS_COSIM_RANDOM_GRAPH_H
#define LS_TESTS_COSIM_RANDOM_GRAPH_H

#include "cosim/graph.h"

typedef struct graph_shape {
    uint32_t nodes; /* combinational, besides those that a step reads */
    bool only_bits; /* all widths 1: gates */
    bool derived;   /* clocks that depend on registers */
    bool loops;     /* latches that are used before their place */
    bool memories, effects;
} graph_shape;

/* Never NULL; fails the test when the graph breaks a rule. */
ls__graph *make_random_graph(uint64_t seed, graph_shape shape);

typedef struct model_effect {
    uint32_t effect;
    uint64_t edge, arguments[4];
} model_effect;

typedef struct model {
    const ls__graph *graph;
    uint64_t *values;   /* by node */
    uint64_t **memory;  /* by memory */
    uint64_t *seen;     /* by domain */
    uint64_t *previous; /* of effects without clock: by effect, 8 words */
    bool unsettled;
    uint64_t edge;
    model_effect effects[4096]; /* that happened */
    uint32_t effect_count;
} model;

model *model_create(const ls__graph *graph);
void model_destroy(model *m);
/* One edge with these values of the inputs. With `compat` flip-flops see them. `observed` receives
 * what is seen then; may be NULL. */
void model_step(model *m, const uint64_t *inputs, bool compat, uint64_t *observed);
/* Evaluates everything, as before the first edge. */
void model_settle(model *m);

#endif
