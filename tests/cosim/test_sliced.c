/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bit-sliced form gives what the table-driven one gives: random graphs, many instances with
 * different inputs that go on and stop at different edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../base/ok.h"
#include "base/rng.h"
#include "cosim/engine.h"
#include "random_graph.h"

enum { EDGES = 40, MOST = 513 };
static ls_device *device;

static int open_device(void **state)
{
    (void)state;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_error error = {0};
    params.name = "cpu";
    params.threads = 2;
    if (ls_device_open(&params, &device, &error) == LS_OK)
        return 0;
    printf("without cpu: %s\n", error.message);
    exit(77);
}

static int close_device(void **state)
{
    (void)state;
    return ls_device_destroy(&device, NULL) == LS_OK ? 0 : -1;
}

typedef struct run {
    ls_cosim *cosim;
    uint64_t events[MOST]; /* a sum over those of an instance */
    uint64_t changes;
} run;

static void take_changes(void *context, uint64_t edge, const uint32_t *traced, uint32_t count)
{
    run *r = context;
    assert_int_equal(traced[0], 0);
    r->changes = r->changes * 31 + edge + count + ls_cosim_traced(r->cosim, 0)[0];
}

static void take_event(void *context, const ls_cosim_event *event)
{
    run *r = context;
    r->events[event->instance] = r->events[event->instance] * 31 + event->edge * 7 + event->source;
}

/* Inputs that are the same for all instances: the third has a period, the fourth changes now and
 * then. */
static void queue_shared(ls_cosim *cosim, const ls__graph *g, uint64_t seed)
{
    if (g->input_count < 4)
        return;
    ls__rng rng = {seed};
    ls_signal_ref periodic = {g->inputs[2].signal, 0, g->nodes[g->inputs[2].node.index].width};
    const ls_edge_op ops[] = {{0, periodic, 1}, {1, periodic, 0}, {4, periodic, ~UINT64_C(0)}};
    OK(ls_cosim_schedule(cosim, 5, ops, 3, error));
    ls_signal_ref ref = {g->inputs[3].signal, 0, g->nodes[g->inputs[3].node.index].width};
    for (uint32_t edge = 0; edge < EDGES; edge += 1 + (uint32_t)ls__rng_below(&rng, 6)) {
        ls_timed_op op = {edge, ref, ls__rng_u64(&rng)};
        OK(ls_cosim_stimulus(cosim, LS_COSIM_ALL, &op, 1, error));
    }
}

/* Inputs of an instance: the first, a clock, changes at about every second edge. */
static void queue_inputs(ls_cosim *cosim, const ls__graph *g, uint64_t seed, uint32_t instance)
{
    ls__rng rng = {seed * 1000 + instance};
    uint64_t old[64] = {0};
    for (uint32_t edge = 0; edge < EDGES; edge++)
        for (uint32_t i = 0; i < g->input_count && i < 64; i++) {
            uint8_t width = g->nodes[g->inputs[i].node.index].width;
            uint64_t value = i < 2 ? old[i] ^ 1 : ls__rng_u64(&rng) & ls__node_mask(width);
            bool is_shared = g->input_count >= 4 && (i == 2 || i == 3);
            if (ls__rng_below(&rng, 10) >= (i == 0 ? 8u : 3u) || value == old[i] || is_shared)
                continue;
            old[i] = value;
            ls_timed_op op = {edge, {g->inputs[i].signal, 0, width}, value};
            OK(ls_cosim_stimulus(cosim, instance, &op, 1, error));
        }
}

static run *start(const ls_design *design, ls_cosim_form form, uint32_t instances, bool compat,
                  bool traced, uint64_t seed)
{
    run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    uint32_t trace = design->graph->signal_count - 1;
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = device;
    params.instances = instances;
    params.form = form;
    params.compat = compat;
    params.stop_on_assert = true;
    params.trace = &trace;
    params.trace_count = traced;
    params.trace_instance = instances - 1;
    params.randomize = true;
    params.seed = seed;
    params.sink = (ls_cosim_sink){take_changes, take_event, r};
    OK(ls_cosim_create(design, &params, &r->cosim, error));
    queue_shared(r->cosim, design->graph, seed);
    for (uint32_t i = 0; i < instances; i++)
        queue_inputs(r->cosim, design->graph, seed, i);
    return r;
}

static void finish(run *r)
{
    ls_cosim_destroy(&r->cosim);
    free(r);
}

/* All nodes are bits of the last signal. */
static void compare(const ls_design *design, run *a, run *b, uint32_t instances, uint64_t seed)
{
    const ls__graph *g = design->graph;
    ls_signal_ref all = {g->signal_count - 1, 0, g->signals[g->signal_count - 1].width};
    uint64_t *words[2] = {calloc(all.width / 64 + 1, 8), calloc(all.width / 64 + 1, 8)};
    assert_true(a->changes == b->changes);
    for (uint32_t i = 0; i < instances; i++) {
        uint64_t digests[2] = {0};
        OK(ls_cosim_digest(a->cosim, i, &digests[0], error));
        OK(ls_cosim_digest(b->cosim, i, &digests[1], error));
        bool same = digests[0] == digests[1] && a->events[i] == b->events[i] &&
                    ls_cosim_edge(a->cosim, i) == ls_cosim_edge(b->cosim, i) &&
                    ls_cosim_stop(a->cosim, i) == ls_cosim_stop(b->cosim, i);
        if (i % 31 == 0 || i + 1 == instances) {
            OK(ls_cosim_get(a->cosim, i, all, words[0], error));
            OK(ls_cosim_get(b->cosim, i, all, words[1], error));
            same = same && memcmp(words[0], words[1], (all.width + 63) / 64 * 8) == 0;
        }
        if (!same)
            fail_msg("seed %llu, instance %u differs", (unsigned long long)seed, i);
    }
    free(words[0]);
    free(words[1]);
}

/* Sets every third register of some instances to the same in both. */
static void disturb(const ls_design *design, run *a, run *b, uint32_t instances)
{
    const ls__graph *g = design->graph;
    for (uint32_t s = 0; s < g->signal_count; s += 3) {
        if (!g->signals[s].is_register)
            continue;
        ls_signal_ref ref = {s, 0, 1};
        uint64_t value = 1;
        OK(ls_cosim_set(a->cosim, instances / 2, ref, &value, error));
        OK(ls_cosim_set(b->cosim, instances / 2, ref, &value, error));
    }
}

static void move(run *r, uint32_t from, uint32_t to)
{
    void *bytes = NULL;
    size_t size = 0;
    OK(ls_cosim_save(r->cosim, from, &bytes, &size, error));
    OK(ls_cosim_restore(r->cosim, to, bytes, size, error));
    ls_bytes_destroy(&bytes);
}

static void check(uint64_t seed, graph_shape shape, uint32_t instances, bool compat)
{
    ls_design *design = NULL;
    OK(ls__design_from_graph(make_random_graph(seed, shape), &design, error));
    bool traced = seed % 2;
    run *a = start(design, LS_COSIM_TABLE, instances, compat, traced, seed);
    run *b = start(design, LS_COSIM_SLICED, instances, compat, traced, seed);
    const uint32_t ends[] = {13, 14, EDGES};
    ls_status last = LS_OK;
    for (int k = 0; k < 3 && last == LS_OK; k++) {
        last = ls_cosim_run(a->cosim, ends[k], NULL, NULL);
        assert_int_equal(ls_cosim_run(b->cosim, ends[k], NULL, NULL), last);
        if (last != LS_OK)
            break;
        compare(design, a, b, instances, seed);
        disturb(design, a, b, instances);
        move(a, 0, instances - 1);
        move(b, 0, instances - 1);
    }
    ls_cosim_counters counters = {.struct_size = sizeof counters};
    ls_cosim_count(b->cosim, &counters);
    assert_int_equal(counters.form, LS_COSIM_SLICED);
    assert_in_range(counters.blocks_evaluated, 1, counters.blocks_total * 100);
    finish(a);
    finish(b);
    ls_design_destroy(&design);
}

static void gates(void **state)
{
    (void)state;
    const uint32_t instances[] = {1, 63, 64, 65, 129, MOST - 1, MOST};
    for (uint32_t k = 0; k < sizeof instances / sizeof *instances; k++)
        check(100 + k, (graph_shape){.nodes = 200, .only_bits = true, .memories = true},
              instances[k], false);
}

static void words(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        check(seed, (graph_shape){.nodes = 100, .memories = true, .effects = seed % 2},
              seed % 2 ? 70 : 193, seed == 3);
}

static void derived_clocks_and_latches(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 204; seed++)
        check(seed,
              (graph_shape){
                  .nodes = 80, .derived = seed % 2, .loops = seed >= 202, .effects = seed == 203},
              66, seed == 202);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates),
        cmocka_unit_test(words),
        cmocka_unit_test(derived_clocks_and_latches),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
