/* SPDX-License-Identifier: Apache-2.0 */
/* A netlist made by hand on the host evaluator, by index and by level, which must agree in every
 * node. */
#ifndef LS_TEST_COSIM_GRAPH_BENCH_H
#define LS_TEST_COSIM_GRAPH_BENCH_H

#include "host_eval.h"
#include "make_netlist.h"

typedef struct bench {
    ls__graph *graph;
    host_eval *run, *by_level;
} bench;

/* Elaborates and destroys the netlist, and runs the graph; the test fails when that fails. */
bench start(make_netlist **make);
void set(bench *b, const char *name, uint64_t value);
void step(bench *b);
void set_step(bench *b, const char *name, uint64_t value);
void pulse(bench *b, const char *clock);
void stop(bench *b);

/* Says what elaboration answers with. */
ls_status refused(make_netlist **make, ls_error *error);

void output(make_netlist *make, const char *name, ls__nets nets);
/* A register whose q is inverted into its d: toggles at each edge. */
ls__register *toggle(make_netlist *make, ls__nets clock);

#define EXPECT(b, name, value) assert_int_equal(host_eval_get64((b)->run, name), (value))

#endif
