/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph_bench.h"

#include "cosim/elaborate/elaborate.h"

bench start(make_netlist **make)
{
    bench b = {0};
    ls_error error = {0};
    uint32_t node = 0;
    if (ls__elaborate(&(*make)->netlist, NULL, &b.graph, &error) != LS_OK)
        fail_msg("%s", error.message);
    make_netlist_destroy(make); /* the graph must not need it */
    const char *fault = ls__graph_verify(b.graph, &node);
    if (fault)
        fail_msg("node %u: %s", node, fault);
    b.run = host_eval_create(b.graph, false);
    b.by_level = host_eval_create(b.graph, true);
    assert_non_null(b.run);
    assert_non_null(b.by_level);
    return b;
}

void set(bench *b, const char *name, uint64_t value)
{
    host_eval_set64(b->run, name, value);
    host_eval_set64(b->by_level, name, value);
}

void step(bench *b)
{
    assert_true(host_eval_step(b->run));
    assert_true(host_eval_step(b->by_level));
    for (uint32_t i = 0; i < b->graph->node_count; i++)
        assert_int_equal(b->run->values[i], b->by_level->values[i]);
}

void set_step(bench *b, const char *name, uint64_t value)
{
    set(b, name, value);
    step(b);
}

void pulse(bench *b, const char *clock)
{
    set_step(b, clock, 1);
    set_step(b, clock, 0);
}

void stop(bench *b)
{
    host_eval_destroy(&b->run);
    host_eval_destroy(&b->by_level);
    ls__graph_destroy(&b->graph);
}

/* Says what elaboration answers with. */
ls_status refused(make_netlist **make, ls_error *error)
{
    ls__graph *graph = NULL;
    ls_status status = ls__elaborate(&(*make)->netlist, NULL, &graph, error);
    assert_null(graph);
    make_netlist_destroy(make);
    return status;
}

void output(make_netlist *make, const char *name, ls__nets nets)
{
    make_signal(make, name, nets, LS__DIRECTION_OUTPUT);
}

/* A register whose q is inverted into its d: toggles at each edge. */
ls__register *toggle(make_netlist *make, ls__nets clock)
{
    ls__nets d = make_nets(make, 1);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clock, d);
    make_cell(make, LS__CELL_NOT, r->q, (ls__nets){0})->y = d;
    return r;
}
