/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs, run in every form on every device there is, however the edges are cut into runs:
 * every node after every edge is what the model says, messages and digests are the same. With the
 * argument "fewer", for builds with sanitizers, without Vulkan, whose driver takes a minute to
 * compile there (other tests are of it), and with the order of `compat` in two forms only. With the
 * argument "cuda", on that device, what is done there in another way: workgroups that wait for each
 * other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../base/ok.h"
#include "base/dir.h"
#include "base/rng.h"
#include "cosim/engine.h"
#include "random_graph.h"

enum { EDGES = 60, MOST_INPUTS = 16 };

/* --- devices ---------------------------------------------------------------------------------- */

static const char *device_names[] = {"reference", "cpu", "vulkan"};
enum { DEVICES = 3 };
static ls_device *devices[DEVICES];
static bool fewer, only_cuda;

/* Compiled once for all runs of one text; emptied at first, so that what is tested is made now. */
static const char cache_path[] = "cosim-forms-cache";

static int open_devices(void **state)
{
    (void)state;
    ls__dir *cache = NULL;
    if (ls__dir_open(cache_path, &cache, NULL) == LS_OK)
        ls__dir_trim(cache, ".lscode", 0);
    ls__dir_close(&cache);
    for (int i = only_cuda ? 2 : 0; i < (fewer ? 2 : DEVICES); i++) {
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        ls_error error = {0};
        params.name = device_names[i];
        params.threads = 1;
        params.cache_path = cache_path;
        if (ls_device_open(&params, &devices[i], &error) != LS_OK)
            printf("without %s: %s\n", device_names[i], error.message);
    }
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++)
        if (ls_device_destroy(&devices[i], NULL) != LS_OK)
            return -1;
    return 0;
}

/* --- one run ---------------------------------------------------------------------------------- */

typedef struct expectation {
    const ls__graph *graph;
    uint32_t words; /* of the signal `all` */
    uint64_t *all;  /* by edge */
    model_effect *effects;
    uint32_t effect_count;
    bool unsettled;
    uint64_t inputs[EDGES][MOST_INPUTS];
} expectation;

typedef struct watcher {
    ls_cosim *cosim;
    const expectation *expected;
    uint64_t *all; /* by edge, as reported; edges without a change stay empty */
    bool seen[EDGES];
    uint32_t effect_count;
} watcher;

static void take_changes(void *context, uint64_t edge, const uint32_t *traced, uint32_t count)
{
    watcher *w = context;
    assert_true(count == 1 && traced[0] == 0 && edge < EDGES);
    w->seen[edge] = true;
    memcpy(w->all + edge * w->expected->words, ls_cosim_traced(w->cosim, 0),
           w->expected->words * 8);
}

static void take_event(void *context, const ls_cosim_event *event)
{
    watcher *w = context;
    assert_true(event->type != LS_EVENT_PERIPHERAL);
    if (event->instance != 0)
        return;
    assert_true(w->effect_count < w->expected->effect_count);
    const model_effect *e = &w->expected->effects[w->effect_count++];
    assert_int_equal(event->source, e->effect);
    assert_int_equal(event->edge, e->edge);
}

static void pack(const ls__graph *g, const uint64_t *values, uint64_t *words)
{
    uint32_t at = 0;
    for (uint32_t n = 0; n < g->node_count; at += g->nodes[n].width, n++) {
        words[at / 64] |= values[n] << (at % 64);
        if (at % 64 + g->nodes[n].width > 64)
            words[at / 64 + 1] |= values[n] >> (64 - at % 64);
    }
}

/* What the model says; clocks change at about every second edge, other inputs now and then. */
static expectation *expect(const ls__graph *g, uint64_t seed, bool compat)
{
    expectation *e = calloc(1, sizeof *e);
    assert_non_null(e);
    e->graph = g;
    e->words = (g->signals[g->signal_count - 1].width + 63) / 64;
    e->all = calloc((size_t)e->words * EDGES, 8);
    uint64_t *observed = calloc(g->node_count, 8);
    model *m = model_create(g);
    ls__rng rng = {seed};
    for (uint32_t edge = 0; edge < EDGES && !m->unsettled; edge++) {
        for (uint32_t i = 0; i < g->input_count; i++) {
            uint64_t mask = ls__node_mask(g->nodes[g->inputs[i].node.index].width);
            uint64_t old = edge ? e->inputs[edge - 1][i] : 0;
            e->inputs[edge][i] = ls__rng_below(&rng, i == 0 ? 10 : 3) < (i == 0 ? 8u : 1u)
                                     ? (i < 2 ? old ^ 1 : ls__rng_u64(&rng) & mask)
                                     : old;
        }
        model_step(m, e->inputs[edge], compat, observed);
        pack(g, observed, e->all + edge * e->words);
    }
    e->unsettled = m->unsettled;
    e->effects = calloc(m->effect_count + 1, sizeof *e->effects);
    memcpy(e->effects, m->effects, m->effect_count * sizeof *e->effects);
    e->effect_count = m->effect_count;
    model_destroy(m);
    free(observed);
    return e;
}

static void expectation_free(expectation *e)
{
    free(e->all);
    free(e->effects);
    free(e);
}

static void queue_inputs(ls_cosim *cosim, const expectation *e)
{
    const ls__graph *g = e->graph;
    for (uint32_t edge = 0; edge < EDGES; edge++)
        for (uint32_t i = 0; i < g->input_count; i++) {
            if (edge && e->inputs[edge][i] == e->inputs[edge - 1][i])
                continue;
            ls_timed_op op = {edge,
                              {g->inputs[i].signal, 0, g->nodes[g->inputs[i].node.index].width},
                              e->inputs[edge][i]};
            OK(ls_cosim_stimulus(cosim, LS_COSIM_ALL, &op, 1, error));
        }
}

static void check_all(const watcher *w, uint64_t seed, const char *what)
{
    const expectation *e = w->expected;
    const uint64_t *last = NULL;
    for (uint32_t edge = 0; edge < EDGES; edge++) {
        if (w->seen[edge])
            last = w->all + edge * e->words;
        if (!last)
            continue;
        uint32_t at = 0;
        for (uint32_t n = 0; n < e->graph->node_count; at += e->graph->nodes[n].width, n++)
            for (uint32_t b = at; b < at + e->graph->nodes[n].width; b++)
                if ((last[b / 64] ^ e->all[edge * e->words + b / 64]) >> (b % 64) & 1)
                    fail_msg("%s, seed %llu, edge %u: bit %u of node %u (%s) differs", what,
                             (unsigned long long)seed, edge, b - at, n,
                             ls__node_op_name(e->graph->nodes[n].op));
    }
}

typedef struct setting {
    ls_cosim_form form;
    bool ungated, compat;
    uint32_t instances, cut; /* edges of a run */
    uint32_t workgroups;     /* 0: chosen; else launches have too few ticks */
} setting;

/* Runs to the end; returns the digest. */
static uint64_t run_one(const ls_design *design, ls_device *device, const char *what,
                        const expectation *e, setting s, uint64_t seed)
{
    watcher w = {.expected = e};
    w.all = calloc((size_t)e->words * EDGES, 8);
    uint32_t trace = e->graph->signal_count - 1;
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = device;
    params.instances = s.instances;
    params.form = s.form;
    params.ungated = s.ungated;
    params.compat = s.compat;
    params.workgroups = s.workgroups;
    params.trace = &trace;
    params.trace_count = 1;
    params.trace_instance = s.instances - 1;
    params.sink = (ls_cosim_sink){take_changes, take_event, &w};
    OK(ls_cosim_create(design, &params, &w.cosim, error));
    queue_inputs(w.cosim, e);
    ls_status status = LS_OK;
    ls_error error = {0};
    for (uint64_t until = s.cut; status == LS_OK; until += s.cut) {
        if (s.workgroups)
            w.cosim->ticks = 1;
        status = ls_cosim_run(w.cosim, until < EDGES ? until : EDGES, NULL, &error);
        if (until >= EDGES)
            break;
    }
    if (e->unsettled)
        assert_int_equal(status, LS_E_FAILED);
    else if (status != LS_OK)
        fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, error.message);
    uint64_t digest = 0, other = 0;
    if (!e->unsettled) {
        check_all(&w, seed, what);
        assert_int_equal(w.effect_count, e->effect_count);
        OK(ls_cosim_digest(w.cosim, 0, &digest, error));
        OK(ls_cosim_digest(w.cosim, s.instances - 1, &other, error));
        assert_true(digest == other);
    }
    ls_cosim_destroy(&w.cosim);
    free(w.all);
    return digest;
}

/* --- tests ------------------------------------------------------------------------------------ */

static const setting settings[] = {
    {LS_COSIM_TABLE, false, false, 1, 7, 0},    {LS_COSIM_TABLE, false, false, 3, EDGES, 0},
    {LS_COSIM_COMPILED, false, false, 1, 7, 0}, {LS_COSIM_COMPILED, false, false, 3, EDGES, 0},
    {LS_COSIM_COMPILED, true, false, 1, 13, 0},
};

static void run_shape(uint64_t seed, graph_shape shape)
{
    ls_design *design = NULL;
    OK(ls__design_from_graph(make_random_graph(seed, shape), &design, error));
    for (int compat = 0; compat < 2; compat++) {
        expectation *e = expect(design->graph, seed, compat);
        uint64_t digest = 0;
        bool first = true;
        for (int d = 0; d < DEVICES; d++)
            for (size_t i = 0; devices[d] && i < sizeof settings / sizeof *settings; i++) {
                /* The reference defines what both forms compute, and needs no other number of
                 * instances; Vulkan takes seconds for a kernel. */
                if (d == 0 && i != 0 && i != 3)
                    continue;
                if (d == 2 && (compat || i != 0 || seed % 100 != 3))
                    continue;
                if (fewer && compat && i != 0 && i != 2)
                    continue;
                setting s = settings[i];
                s.compat = compat;
                uint64_t its = run_one(design, devices[d], device_names[d], e, s, seed);
                assert_true(first || its == digest);
                digest = its;
                first = false;
            }
        expectation_free(e);
    }
    ls_design_destroy(&design);
}

static void words(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        run_shape(seed, (graph_shape){
                            .nodes = seed == 3 ? 60 : 150, .memories = true, .effects = seed % 2});
}

/* Several workgroups share the wide levels of an instance, on devices that have grid barriers and
 * on those where kernels are split at them; a launch that ends within an edge is continued. */
static void shared_by_workgroups(void **state)
{
    (void)state;
    static const struct {
        graph_shape shape;
        bool on_vulkan;
    } cases[] = {
        {{.nodes = 150, .memories = true, .effects = true}, false},
        {{.nodes = 300, .only_bits = true, .memories = true}, true},
        {{.nodes = 100, .derived = true, .effects = true}, false},
        {{.nodes = 100, .loops = true}, false},
    };
    static const uint32_t counts[] = {1, 2, 3, 7}, instances[] = {1, 3};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls_design *design = NULL;
        OK(ls__design_from_graph(make_random_graph(800 + i, cases[i].shape), &design, error));
        expectation *e = expect(design->graph, 800 + i, i % 2);
        assert_false(e->unsettled);
        uint64_t digest = 0;
        for (int d = 0; d < DEVICES; d++)
            for (uint32_t k = 0; devices[d] && k < 8; k++) {
                setting s = {LS_COSIM_TABLE, false, i % 2, instances[k / 4], 20, counts[k % 4]};
                /* All on the cpu device for one graph; the reference is slow, and so are drivers at
                 * making a kernel. */
                if ((d == 0 && k != 5 - i) || (d == 1 && (i != 1 || fewer) && k != 2 && k != 7) ||
                    (d == 2 && ((!cases[i].on_vulkan && !only_cuda) || k != 6)))
                    continue;
                uint64_t its = run_one(design, devices[d], device_names[d], e, s, 800 + i);
                assert_true(!digest || its == digest);
                digest = its;
            }
        expectation_free(e);
        ls_design_destroy(&design);
    }
}

static void take_report(void *context, const ls_sanitizer_report *report)
{
    snprintf(context, 200, "%s, line %u", report->kind, report->line);
}

/* Nothing that one workgroup has for another is missed by a barrier. */
static void workgroups_do_not_race(void **state)
{
    (void)state;
    static const graph_shape shapes[] = {
        {.nodes = 200, .only_bits = true, .memories = true, .effects = true},
        {.nodes = 100, .loops = true, .derived = true},
    };
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    char reported[200] = "";
    params.name = "reference";
    params.sanitize = true;
    params.on_report = take_report;
    params.report_context = reported;
    OK(ls_device_open(&params, &device, error));
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        ls_design *design = NULL;
        OK(ls__design_from_graph(make_random_graph(820 + i, shapes[i]), &design, error));
        expectation *e = expect(design->graph, 820 + i, false);
        run_one(design, device, "reference, sanitized", e,
                (setting){LS_COSIM_TABLE, false, false, 2, EDGES / 2, 3}, 820 + i);
        expectation_free(e);
        ls_design_destroy(&design);
    }
    assert_string_equal(reported, "");
    assert_int_equal(ls_device_destroy(&device, NULL), LS_OK);
}

static void take_log(void *context, const char *message)
{
    snprintf(context, 200, "%s", message);
}

/* That levels are shared and launches continued, and what is refused. */
static void workgroups_are_used_as_asked(void **state)
{
    (void)state;
    ls_design *design = NULL;
    ls_cosim *cosim = NULL;
    char log[200] = "";
    graph_shape shape = {.nodes = 300, .only_bits = true};
    OK(ls__design_from_graph(make_random_graph(801, shape), &design, error));
    expectation *e = expect(design->graph, 801, false);
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = devices[1] ? devices[1] : devices[0];
    params.workgroups = 3;
    params.log = take_log;
    params.log_context = log;
    OK(ls_cosim_create(design, &params, &cosim, error));
    assert_string_equal(log, "an instance is shared by 3 workgroups");
    assert_int_equal(cosim->form->kind, LS_COSIM_TABLE);
    assert_true(cosim->form->edge_ticks > 8);
    queue_inputs(cosim, e);
    ls_cosim_counters counters = {.struct_size = sizeof counters};
    cosim->chunk = EDGES;
    cosim->ticks = 1;
    OK(ls_cosim_run(cosim, EDGES, NULL, error));
    ls_cosim_count(cosim, &counters);
    assert_true(counters.submissions > 3);
    assert_int_equal(counters.edges, EDGES);
    assert_true(cosim->ticks > 64);
    ls_cosim_destroy(&cosim);

    static const struct {
        uint32_t workgroups, instances;
        ls_cosim_form form;
        ls_status status;
        const char *says;
    } wrong[] = {
        {1025, 1, LS_COSIM_AUTO, LS_E_LIMIT, "at most 1024 for an instance"},
        {UINT32_MAX, 2, LS_COSIM_AUTO, LS_E_LIMIT, "4294967295 workgroups for each of 2"},
        {1024, 1025, LS_COSIM_TABLE, LS_E_LIMIT, "1048576 in all"},
        {2, 1, LS_COSIM_COMPILED, LS_E_INVALID_ARGUMENT, "only the table-driven form"},
        {2, 64, LS_COSIM_SLICED, LS_E_INVALID_ARGUMENT, "only the table-driven form"},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ls_error error = {0};
        params.workgroups = wrong[i].workgroups;
        params.instances = wrong[i].instances;
        params.form = wrong[i].form;
        assert_int_equal(ls_cosim_create(design, &params, &cosim, &error), wrong[i].status);
        if (!strstr(error.message, wrong[i].says))
            fail_msg("%s", error.message);
    }
    /* Unasked, none of these devices has more than one. */
    for (int d = 0; d < 2; d++) {
        params = (ls_cosim_params)LS_COSIM_PARAMS_INIT;
        params.device = devices[d];
        params.form = LS_COSIM_TABLE;
        if (!devices[d])
            continue;
        OK(ls_cosim_create(design, &params, &cosim, error));
        assert_int_equal(cosim->form->workgroups, 1);
        ls_cosim_destroy(&cosim);
    }
    expectation_free(e);
    ls_design_destroy(&design);
}

/* Where the device has grid barriers, a wide netlist gets several workgroups unasked: as many as
 * have something to do, and with those of other instances not too many. */
static void workgroups_are_chosen(void **state)
{
    (void)state;
    static const struct {
        uint32_t wide, narrow, instances, workgroups; /* nodes of a level of each kind */
    } cases[] = {
        {256, 255, 1, 2},   {255, 8, 1, 1},    {1280, 100, 1, 10}, {1280, 2000, 1, 12},
        {90000, 1, 1, 128}, {90000, 1, 64, 2}, {90000, 1, 65, 1},
    };
    assert_non_null(devices[2]);
    assert_true(ls_device_caps(devices[2])->grid_barrier_native);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls__level items[] = {{.nodes = cases[i].wide}, {.nodes = cases[i].narrow}};
        ls__levels levels = {.items = items, .count = 2};
        ls_cosim cosim = {.device = devices[2], .instances = cases[i].instances};
        assert_int_equal(ls__spread_workgroups(&cosim, 32, &levels), cases[i].workgroups);
        assert_int_equal(ls__spread_workgroups(&cosim, 1, &levels), 1);
    }
}

/* So many that the compiled form has more than one cluster. */
static void many_words(void **state)
{
    (void)state;
    run_shape(4, (graph_shape){.nodes = 3000, .memories = true});
}

static void gates(void **state)
{
    (void)state;
    for (uint64_t seed = 2; seed <= 3; seed++)
        run_shape(100 + seed, (graph_shape){.nodes = 300, .only_bits = true, .memories = true});
}

static void derived_clocks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++)
        run_shape(200 + seed, (graph_shape){.nodes = 100, .derived = true, .effects = true});
}

static void loops_of_latches(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++)
        run_shape(300 + seed, (graph_shape){.nodes = 100, .loops = true, .derived = seed % 2});
}

/* --- state ------------------------------------------------------------------------------------ */

static ls_cosim *make_plain(const ls_design *design, ls_device *device, ls_cosim_form form,
                            uint32_t instances, const expectation *e)
{
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = device;
    params.form = form;
    params.instances = instances;
    ls_cosim *cosim = NULL;
    OK(ls_cosim_create(design, &params, &cosim, error));
    queue_inputs(cosim, e);
    return cosim;
}

/* Every node, by ls_cosim_get, is what the model says after that edge. */
static void check_get(ls_cosim *cosim, uint32_t instance, const expectation *e, uint32_t edge)
{
    const ls__graph *g = e->graph;
    ls_signal_ref ref = {g->signal_count - 1, 0, g->signals[g->signal_count - 1].width};
    uint64_t *words = calloc(e->words, 8);
    assert_non_null(words);
    OK(ls_cosim_get(cosim, instance, ref, words, error));
    for (uint32_t k = 0; k < e->words; k++)
        if (words[k] != e->all[edge * e->words + k])
            fail_msg("edge %u: word %u differs", edge, k);
    free(words);
}

/* Few nodes, and none is traced: a driver takes seconds for a kernel. */
static void compiled_on_vulkan(void **state)
{
    (void)state;
    static const struct {
        graph_shape shape;
        ls_cosim_form form;
        bool ungated;
        uint32_t instances;
    } cases[] = {
        {{.nodes = 20, .derived = true, .effects = true}, LS_COSIM_COMPILED, false, 3},
        {{.nodes = 15, .loops = true, .memories = true}, LS_COSIM_COMPILED, true, 1},
        {{.nodes = 20, .only_bits = true}, LS_COSIM_SLICED, false, 3},
    };
    if (!devices[2]) {
        print_message("no Vulkan device\n");
        skip();
    }
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls_design *design = NULL;
        uint32_t n = cases[i].instances;
        uint64_t digests[2] = {0};
        OK(ls__design_from_graph(make_random_graph(600 + i, cases[i].shape), &design, error));
        expectation *e = expect(design->graph, 600 + i, false);
        assert_false(e->unsettled);
        ls_cosim_params params = LS_COSIM_PARAMS_INIT;
        params.device = devices[2];
        params.form = cases[i].form;
        params.ungated = cases[i].ungated;
        params.instances = n;
        ls_cosim *runs[2] = {NULL, make_plain(design, devices[0], LS_COSIM_TABLE, 1, e)};
        OK(ls_cosim_create(design, &params, &runs[0], error));
        queue_inputs(runs[0], e);
        for (uint32_t end = 20; end <= EDGES; end += 20) {
            OK(ls_cosim_run(runs[0], end, NULL, error));
            for (uint32_t k = 0; k < n; k++)
                check_get(runs[0], k, e, end - 1);
        }
        OK(ls_cosim_run(runs[1], EDGES, NULL, error));
        OK(ls_cosim_digest(runs[0], n - 1, &digests[0], error));
        OK(ls_cosim_digest(runs[1], 0, &digests[1], error));
        assert_true(digests[0] == digests[1]);
        ls_cosim_destroy(&runs[0]);
        ls_cosim_destroy(&runs[1]);
        expectation_free(e);
        ls_design_destroy(&design);
    }
}

/* On a GPU small graphs are compiled and large ones are not, unless the caller chooses. */
static void the_form_follows_the_size(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes;
        ls_cosim_form asked, form;
        const char *log;
    } cases[] = {
        {20, LS_COSIM_AUTO, LS_COSIM_COMPILED, "are not more than 250"},
        {400, LS_COSIM_AUTO, LS_COSIM_TABLE, "nodes are more than 250"},
        {20, LS_COSIM_TABLE, LS_COSIM_TABLE, ""},
        {400, LS_COSIM_COMPILED, LS_COSIM_COMPILED, ""},
    };
    if (!devices[2]) {
        print_message("no Vulkan device\n");
        skip();
    }
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls_design *design = NULL;
        ls_cosim *cosim = NULL;
        char log[200] = "";
        ls_cosim_counters counters = {.struct_size = sizeof counters};
        graph_shape shape = {.nodes = cases[i].nodes, .only_bits = true};
        OK(ls__design_from_graph(make_random_graph(700, shape), &design, error));
        ls_cosim_params params = LS_COSIM_PARAMS_INIT;
        params.device = devices[2];
        params.form = cases[i].asked;
        params.log = take_log;
        params.log_context = log;
        OK(ls_cosim_create(design, &params, &cosim, error));
        ls_cosim_count(cosim, &counters);
        assert_int_equal(counters.form, cases[i].form);
        if (!strstr(log, cases[i].log) || !log[0] != !cases[i].log[0])
            fail_msg("%s", log);
        ls_cosim_destroy(&cosim);
        ls_design_destroy(&design);
    }
}

/* Saved in one form on one device, restored into another instance in another form on another. */
static void saved_instances_move(void **state)
{
    (void)state;
    for (uint64_t seed = 400; seed < 402; seed++) {
        ls_design *design = NULL;
        graph_shape shape = {.nodes = 120, .memories = true, .derived = seed % 2};
        OK(ls__design_from_graph(make_random_graph(seed, shape), &design, error));
        expectation *e = expect(design->graph, seed, false);
        ls_cosim *a = make_plain(design, devices[0], LS_COSIM_TABLE, 1, e);
        ls_device *second = devices[1] ? devices[1] : devices[0];
        ls_cosim *b = make_plain(design, second, LS_COSIM_COMPILED, 3, e);
        void *bytes = NULL;
        size_t size = 0;
        OK(ls_cosim_run(a, 25, NULL, error));
        check_get(a, 0, e, 24);
        OK(ls_cosim_save(a, 0, &bytes, &size, error));
        OK(ls_cosim_run(b, 25, NULL, error));
        check_get(b, 2, e, 24);
        OK(ls_cosim_run(b, EDGES, NULL, error));
        OK(ls_cosim_restore(b, 1, bytes, size, error));
        assert_int_equal(ls_cosim_edge(b, 1), 25);
        check_get(b, 1, e, 24);
        check_get(b, 2, e, EDGES - 1);
        ls_error error = {0};
        ((uint8_t *)bytes)[9] ^= 1;
        assert_int_equal(ls_cosim_restore(b, 1, bytes, size, &error), LS_E_VERSION);
        ((uint8_t *)bytes)[9] ^= 1;
        assert_int_equal(ls_cosim_restore(b, 1, bytes, size - 1, &error), LS_E_FORMAT);
        /* What inputs do is queued again: a restored instance has none of it. */
        for (uint32_t edge = 25; edge < EDGES; edge++)
            for (uint32_t i = 0; i < design->graph->input_count; i++) {
                const ls__graph_input *in = &design->graph->inputs[i];
                ls_timed_op op = {edge,
                                  {in->signal, 0, design->graph->nodes[in->node.index].width},
                                  e->inputs[edge][i]};
                OK(ls_cosim_stimulus(b, 1, &op, 1, error));
            }
        OK(ls_cosim_run(b, EDGES, NULL, error));
        check_get(b, 1, e, EDGES - 1);
        uint64_t first = 0, other = 0;
        OK(ls_cosim_digest(b, 1, &first, error));
        OK(ls_cosim_digest(b, 2, &other, error));
        assert_true(first == other);
        ls_bytes_destroy(&bytes);
        ls_cosim_destroy(&a);
        ls_cosim_destroy(&b);
        expectation_free(e);
        ls_design_destroy(&design);
    }
}

/* A register that is set is seen by all that follows from it, in both forms. */
static void registers_can_be_set(void **state)
{
    (void)state;
    ls_design *design = NULL;
    graph_shape shape = {.nodes = 200, .only_bits = true};
    OK(ls__design_from_graph(make_random_graph(500, shape), &design, error));
    const ls__graph *g = design->graph;
    expectation *e = expect(g, 500, false);
    ls_device *device = devices[1] ? devices[1] : devices[0];
    ls_cosim *runs[2] = {make_plain(design, device, LS_COSIM_TABLE, 1, e),
                         make_plain(design, device, LS_COSIM_COMPILED, 1, e)};
    ls_signal_ref all = {g->signal_count - 1, 0, g->signals[g->signal_count - 1].width};
    uint64_t *words[2] = {calloc(e->words, 8), calloc(e->words, 8)};
    for (uint32_t until = 5; until < EDGES; until += 5)
        for (uint32_t s = 0; s < g->signal_count; s++) {
            if (!g->signals[s].is_register || (s + until) % 3)
                continue;
            for (int r = 0; r < 2; r++) {
                uint64_t value = 0;
                ls_signal_ref ref = {s, 0, 1};
                OK(ls_cosim_run(runs[r], until, NULL, error));
                OK(ls_cosim_get(runs[r], 0, ref, &value, error));
                value ^= 1;
                OK(ls_cosim_set(runs[r], LS_COSIM_ALL, ref, &value, error));
                OK(ls_cosim_get(runs[r], 0, all, words[r], error));
            }
            assert_memory_equal(words[0], words[1], e->words * 8);
        }
    ls_signal_ref output = {0, 0, 1};
    OK(ls_design_find(design, "out0", &output, error));
    ls_error error = {0};
    if (g->nodes[g->signals[output.signal].pieces[0].node.index].op != LS__NODE_HOLD)
        assert_int_equal(ls_cosim_set(runs[0], 0, output, words[0], &error), LS_E_INVALID_ARGUMENT);
    assert_int_equal(ls_design_find(design, "out9", &output, &error), LS_E_NOT_FOUND);
    assert_non_null(strstr(error.hint, "out"));
    for (int r = 0; r < 2; r++) {
        ls_cosim_destroy(&runs[r]);
        free(words[r]);
    }
    expectation_free(e);
    ls_design_destroy(&design);
}

static int on_cuda(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_by_workgroups),
        cmocka_unit_test(workgroups_are_chosen),
    };
    only_cuda = true;
    device_names[2] = "cuda";
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}

int main(int argc, char **argv)
{
    fewer = argc > 1 && strcmp(argv[1], "fewer") == 0;
    if (argc > 1 && strcmp(argv[1], "cuda") == 0)
        return on_cuda();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(many_words),
        cmocka_unit_test(shared_by_workgroups),
        cmocka_unit_test(workgroups_do_not_race),
        cmocka_unit_test(workgroups_are_used_as_asked),
        cmocka_unit_test(gates),
        cmocka_unit_test(derived_clocks),
        cmocka_unit_test(loops_of_latches),
        cmocka_unit_test(compiled_on_vulkan),
        cmocka_unit_test(the_form_follows_the_size),
        cmocka_unit_test(saved_instances_move),
        cmocka_unit_test(registers_can_be_set),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
