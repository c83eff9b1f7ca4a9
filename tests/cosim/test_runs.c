/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of random graphs with peripherals: a run is the same in every form, on every device, with
 * any number of instances and however its edges are cut, and also when its form changes on the way.
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
#include "core/core.h"
#include "cosim/engine.h"
#include "random_graph.h"

enum { EDGES = 200, MOST_INSTANCES = 70 };

static ls_device *reference, *cpu; /* cpu: the reference again, when there is no compiler */

static int open_devices(void **state)
{
    (void)state;
    static const char cache_path[] = "cosim-runs-cache";
    ls__dir *cache = NULL;
    if (ls__dir_open(cache_path, &cache, NULL) == LS_OK)
        ls__dir_trim(cache, ".lscode", 0);
    ls__dir_close(&cache);
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = "reference";
    params.threads = 1;
    params.cache_path = cache_path;
    OK(ls_device_open(&params, &reference, error));
    params.name = "cpu";
    ls_error error = {0};
    if (ls_device_open(&params, &cpu, &error) != LS_OK)
        printf("without cpu: %s\n", error.message);
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    if (cpu && ls_device_destroy(&cpu, NULL) != LS_OK)
        return -1;
    return ls_device_destroy(&reference, NULL) == LS_OK ? 0 : -1;
}

/* --- a run ------------------------------------------------------------------------------------ */

/* What a run reports, as numbers: of instance 0 its changes, of all their events. */
typedef struct record {
    ls_cosim *cosim;
    uint64_t changes; /* all of them, mixed in their order */
    uint64_t events[MOST_INSTANCES];
    uint32_t change_count, event_count, heard_count, heard_instance, words;
    ls_cosim_event heard[64]; /* what uart_tx of one instance heard */
} record;

static uint64_t mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15;
    return sum ^ sum >> 29;
}

static void take_changes(void *context, uint64_t edge, const uint32_t *traced, uint32_t count)
{
    record *r = context;
    assert_true(count == 1 && traced[0] == 0);
    r->changes = mix(r->changes, edge);
    for (uint32_t k = 0; k < r->words; k++)
        r->changes = mix(r->changes, ls_cosim_traced(r->cosim, 0)[k]);
    r->change_count++;
}

static void take_event(void *context, const ls_cosim_event *e)
{
    record *r = context;
    const uint64_t parts[] = {e->type, e->edge, e->source, e->kind, e->a, e->b};
    for (int k = 0; k < 6; k++)
        r->events[e->instance] = mix(r->events[e->instance], parts[k]);
    for (const char *c = e->text; *c; c++)
        r->events[e->instance] = mix(r->events[e->instance], (uint64_t)*c);
    r->event_count++;
    if (e->type == LS_EVENT_PERIPHERAL && e->source == 1 && e->instance == r->heard_instance &&
        r->heard_count < 64)
        r->heard[r->heard_count++] = *e;
}

typedef struct setting {
    ls_device *device;
    ls_cosim_form form;
    uint32_t instances;
    bool peripherals, randomize;
} setting;

#define PIN(name_, input_, drives_)                                                                \
    {                                                                                              \
        (name_), {g->inputs[input_].signal, 0, 1}, 0, (drives_)                                    \
    }

/* Clocks change in a period of 6 edges. Inputs 2 to 6 are driven by peripherals: a UART that sends
 * and one that hears it, noise, and a flash that noise talks to. */
static ls_cosim *make_run(const ls_design *design, setting s, record *r)
{
    const ls__graph *g = design->graph;
    static const uint8_t image[4096] = {1, 2, 3, 4, 5};
    uint32_t memory[8 + 4 * 4] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'l', 0, 0, 0, 's', 0, 0, 0, '!'};
    const ls_pin send[] = {PIN("rx", 2, true)}, hear[] = {PIN("tx", 2, false)};
    const ls_pin noise[] = {PIN("p0", 3, true), PIN("p1", 4, true), PIN("p2", 5, true)};
    const ls_pin flash[] = {PIN("clk", 3, false), PIN("csn", 4, false), PIN("d0", 5, false),
                            PIN("q1", 6, true)};
    const ls_peripheral_parameter bits[] = {{"bit_edges", 4}, {"queue", 4}};
    const ls_peripheral_parameter seed[] = {{"seed", 5}, {"period", 1}};
    const ls_peripheral_parameter size[] = {{"size_bytes", sizeof image}};
    const ls_peripheral list[] = {
        {"send", "uart_rx", NULL, send, 1, bits, 2, 24, memory, NULL, 0},
        {"hear", "uart_tx", NULL, hear, 1, bits, 1, 0, NULL, NULL, 0},
        {"noise", "random", NULL, noise, 3, seed, 2, 0, NULL, NULL, 0},
        {"flash", "spi_flash", NULL, flash, 4, size, 1, 0, NULL, image, sizeof image}};
    uint32_t trace = g->signal_count - 1;
    *r = (record){.heard_instance = s.instances - 1, .words = (g->signals[trace].width + 63) / 64};
    ls_cosim_params params = LS_COSIM_PARAMS_INIT;
    params.device = s.device;
    params.instances = s.instances;
    params.form = s.form;
    params.randomize = s.randomize;
    params.seed = 77;
    params.peripherals = list;
    params.peripheral_count = s.peripherals ? 4 : 0;
    params.trace = &trace;
    params.trace_count = 1;
    params.sink = (ls_cosim_sink){take_changes, take_event, r};
    OK(ls_cosim_create(design, &params, &r->cosim, error));
    ls_edge_op ops[] = {{0, {g->inputs[0].signal, 0, 1}, 1}, {2, {g->inputs[1].signal, 0, 1}, 1},
                        {3, {g->inputs[0].signal, 0, 1}, 0}, {3, {g->inputs[2].signal, 0, 1}, 1},
                        {4, {g->inputs[1].signal, 0, 1}, 0}, {5, {g->inputs[2].signal, 0, 1}, 0}};
    if (s.peripherals) { /* input 2 is the line */
        ops[3] = ops[4];
        OK(ls_cosim_schedule(r->cosim, 6, ops, 4, error));
    } else {
        OK(ls_cosim_schedule(r->cosim, 6, ops, 6, error));
    }
    return r->cosim;
}

static ls_design *make_design(uint64_t seed, graph_shape shape)
{
    ls_design *design = NULL;
    OK(ls__design_from_graph(make_random_graph(seed, shape), &design, error));
    return design;
}

/* Everything that two runs have told is the same, as far as both have the instances. */
static void check_same(const record *a, uint32_t a_instances, const record *b, uint32_t b_instances)
{
    assert_true(a->change_count > 5);
    assert_int_equal(a->change_count, b->change_count);
    assert_true(a->changes == b->changes);
    for (uint32_t i = 0; i < a_instances && i < b_instances; i++) {
        uint64_t first = 0, second = 0;
        assert_true(a->events[i] == b->events[i]);
        OK(ls_cosim_digest(a->cosim, i, &first, error));
        OK(ls_cosim_digest(b->cosim, i, &second, error));
        assert_true(first == second);
    }
}

/* --- tests ------------------------------------------------------------------------------------ */

static void peripherals_in_both_forms(void **state)
{
    (void)state;
    ls_device *device = cpu ? cpu : reference;
    ls_design *design = make_design(
        600, (graph_shape){.nodes = 120, .only_bits = true, .memories = true, .effects = true});
    const setting settings[] = {{reference, LS_COSIM_TABLE, 5, true, false},
                                {device, LS_COSIM_TABLE, 5, true, false},
                                {device, LS_COSIM_COMPILED, 5, true, false},
                                {device, LS_COSIM_COMPILED, 1, true, false},
                                {device, LS_COSIM_SLICED, 5, true, false}};
    record *records = calloc(5, sizeof *records);
    for (uint32_t k = 0; k < 5; k++) {
        make_run(design, settings[k], &records[k]);
        for (uint64_t until = 0; until < EDGES; until += k == 2 ? 37 : 100)
            OK(ls_cosim_run(records[k].cosim, until < EDGES ? until : EDGES, NULL, error));
        OK(ls_cosim_run(records[k].cosim, EDGES, NULL, error));
        assert_int_equal(records[k].heard_count, 3);
        assert_int_equal(records[k].heard[2].a, '!');
        check_same(&records[0], 5, &records[k], settings[k].instances);
    }
    /* Noise differs by instance, and so does what follows. */
    uint64_t first = 0, second = 0;
    OK(ls_cosim_digest(records[2].cosim, 0, &first, error));
    OK(ls_cosim_digest(records[2].cosim, 4, &second, error));
    assert_true(first != second);
    for (uint32_t k = 0; k < 5; k++)
        ls_cosim_destroy(&records[k].cosim);
    free(records);
    ls_design_destroy(&design);
}

/* The instance stops right after the edge of the event, wherever runs are cut, and goes on. */
static void watch_stops_at_the_exact_edge(void **state)
{
    (void)state;
    ls_device *device = cpu ? cpu : reference;
    ls_design *design = make_design(601, (graph_shape){.nodes = 60, .only_bits = true});
    for (int form = LS_COSIM_COMPILED; form <= LS_COSIM_TABLE; form++) {
        const setting s = {device, (ls_cosim_form)form, 2, true, false};
        record *r = calloc(1, sizeof *r), *other = calloc(1, sizeof *other);
        ls_cosim *cosim = make_run(design, s, r);
        OK(ls_cosim_run(cosim, EDGES, NULL, error));
        assert_int_equal(r->heard_count, 3);
        uint64_t at = r->heard[1].edge;
        static const uint64_t cuts[] = {1, 3, EDGES};
        for (int c = 0; c < 3; c++) {
            ls_cosim *watched = make_run(design, s, other);
            OK(ls_cosim_watch(watched, 1, 1, r->heard[1].kind, r->heard[1].a, error));
            uint64_t until = 0;
            while (until < EDGES && ls_cosim_stop(watched, 1) != LS_STOP_WATCH) {
                until = until + cuts[c] < EDGES ? until + cuts[c] : EDGES;
                OK(ls_cosim_run(watched, until, NULL, error));
            }
            assert_int_equal(ls_cosim_stop(watched, 1), LS_STOP_WATCH);
            assert_int_equal(ls_cosim_edge(watched, 1), at + 1);
            assert_int_equal(ls_cosim_edge(watched, 0), until);
            assert_int_equal(other->heard_count, 2);
            OK(ls_cosim_run(watched, EDGES, NULL, error));
            assert_int_equal(ls_cosim_edge(watched, 1), EDGES);
            check_same(r, 2, other, 2);
            ls_cosim_destroy(&watched);
        }
        ls_cosim_destroy(&cosim);
        free(r);
        free(other);
    }
    ls_design_destroy(&design);
}

/* Stands still at its edge, whatever is run; the other one is as in a run without it. */
static void a_halted_instance_stands_still(void **state)
{
    (void)state;
    ls_device *device = cpu ? cpu : reference;
    ls_design *design = make_design(601, (graph_shape){.nodes = 60, .only_bits = true});
    for (int form = LS_COSIM_COMPILED; form <= LS_COSIM_SLICED; form++) {
        const setting s = {device, (ls_cosim_form)form, 2, true, false};
        record *whole = calloc(1, sizeof *whole), *halted = calloc(1, sizeof *halted);
        uint64_t digests[3];
        ls_cosim *all = make_run(design, s, whole), *cosim = make_run(design, s, halted);
        OK(ls_cosim_run(all, 5, NULL, error));
        OK(ls_cosim_digest(all, 1, &digests[0], error));
        OK(ls_cosim_run(all, EDGES, NULL, error));
        OK(ls_cosim_run(cosim, 5, NULL, error));
        OK(ls_cosim_halt(cosim, 1, error));
        assert_int_equal(ls_cosim_halt(cosim, 2, NULL), LS_E_INVALID_ARGUMENT);
        OK(ls_cosim_run(cosim, 6, NULL, error));
        OK(ls_cosim_run(cosim, EDGES, NULL, error));
        assert_int_equal(ls_cosim_edge(cosim, 1), 5);
        assert_int_equal(ls_cosim_edge(cosim, 0), EDGES);
        OK(ls_cosim_digest(cosim, 1, &digests[1], error));
        assert_int_equal(digests[0], digests[1]);
        OK(ls_cosim_digest(all, 0, &digests[1], error));
        OK(ls_cosim_digest(cosim, 0, &digests[2], error));
        assert_int_equal(digests[1], digests[2]);
        ls_cosim_destroy(&all);
        ls_cosim_destroy(&cosim);
        free(whole);
        free(halted);
    }
    ls_design_destroy(&design);
}

/* Some value of instance 0 is not that of the other one. */
static void check_differ(ls_cosim *cosim, uint32_t other, uint32_t words)
{
    const ls__graph *g = cosim->graph;
    ls_signal_ref all = {g->signal_count - 1, 0, g->signals[g->signal_count - 1].width};
    uint64_t *first = calloc(words, 8), *second = calloc(words, 8);
    OK(ls_cosim_get(cosim, 0, all, first, error));
    OK(ls_cosim_get(cosim, other, all, second, error));
    assert_memory_not_equal(first, second, words * 8);
    free(first);
    free(second);
}

/* 64, and more than a power of two; registers and memories begin at random in each. */
static void many_instances_begin_at_random(void **state)
{
    (void)state;
    ls_device *device = cpu ? cpu : reference;
    static const uint32_t counts[] = {64, 70};
    for (int bits = 0; bits < 2; bits++) {
        ls_design *design = make_design(602, (graph_shape){.nodes = 80, .only_bits = bits});
        for (int k = 0; k < 2; k++) {
            uint32_t n = counts[k];
            const setting settings[] = {{reference, LS_COSIM_TABLE, n, false, true},
                                        {device, LS_COSIM_TABLE, n, false, true},
                                        {device, LS_COSIM_COMPILED, n, false, true},
                                        {device, LS_COSIM_SLICED, n, false, true}};
            record *records = calloc(4, sizeof *records);
            for (uint32_t i = 0; i < 4; i++) {
                make_run(design, settings[i], &records[i]);
                OK(ls_cosim_run(records[i].cosim, 7, NULL, error));
                OK(ls_cosim_run(records[i].cosim, 20, NULL, error));
                check_same(&records[0], n, &records[i], n);
            }
            check_differ(records[2].cosim, n - 1, records[2].words);
            for (uint32_t i = 0; i < 4; i++)
                ls_cosim_destroy(&records[i].cosim);
            free(records);
        }
        ls_design_destroy(&design);
    }
}

static ls_cosim_form form_of(const ls_cosim *cosim)
{
    ls_cosim_counters counters = {.struct_size = sizeof counters};
    ls_cosim_count(cosim, &counters);
    return counters.form;
}

/* A run that takes another form on the way tells what one that is table-driven does. */
static void check_change(graph_shape shape, uint32_t instances, ls_cosim_form form)
{
    ls_design *design = make_design(603, shape);
    record *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    ls_cosim *changing = make_run(design, (setting){cpu, LS_COSIM_AUTO, instances, false, true}, a);
    ls_cosim *table = make_run(design, (setting){cpu, LS_COSIM_TABLE, instances, false, true}, b);
    uint64_t until = 0, end = UINT64_MAX;
    uint64_t limit = ls__os_now_ns() + UINT64_C(60000000000);
    while (until < end) {
        until += 1001;
        OK(ls_cosim_run(changing, until, NULL, error));
        if (end == UINT64_MAX && form_of(changing) != LS_COSIM_TABLE)
            end = until + 3000;
        assert_true(ls__os_now_ns() < limit);
    }
    assert_int_equal(form_of(changing), form);
    OK(ls_cosim_run(table, until, NULL, error));
    assert_int_equal(form_of(table), LS_COSIM_TABLE);
    check_same(a, instances, b, instances);
    ls_cosim_destroy(&changing);
    ls_cosim_destroy(&table);
    free(a);
    free(b);
    ls_design_destroy(&design);
}

/* Many instances of gates become bit-sliced, of words they do not. */
static void form_changes_on_the_way(void **state)
{
    (void)state;
    if (!cpu) {
        print_message("no compiler\n");
        skip();
    }
    check_change((graph_shape){.nodes = 60, .memories = true}, 2, LS_COSIM_COMPILED);
    check_change((graph_shape){.nodes = 300, .only_bits = true}, 2, LS_COSIM_COMPILED);
    check_change((graph_shape){.nodes = 300, .only_bits = true}, 40, LS_COSIM_SLICED);
    check_change((graph_shape){.nodes = 60, .memories = true}, 40, LS_COSIM_COMPILED);
}

/* A run that ends while its code is being made. */
static void a_run_may_end_while_code_is_made(void **state)
{
    (void)state;
    if (!cpu) {
        print_message("no compiler\n");
        skip();
    }
    ls_design *design = make_design(605, (graph_shape){.nodes = 400, .memories = true});
    record *r = calloc(1, sizeof *r);
    ls_cosim *cosim = make_run(design, (setting){cpu, LS_COSIM_AUTO, 1, false, false}, r);
    for (uint64_t until = 1000; !cosim->job; until += 1000) {
        assert_int_equal(form_of(cosim), LS_COSIM_TABLE);
        OK(ls_cosim_run(cosim, until, NULL, error));
    }
    ls_cosim_destroy(&cosim);
    assert_null(cosim);
    free(r);
    ls_design_destroy(&design);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static bool count_one(ls__ir_inst *inst, void *context)
{
    (void)inst;
    ++*(uint32_t *)context;
    return true;
}

/* A function with more than 3,000 instructions is not optimised by the cpu device, and with it the
 * whole program. */
static void functions_stay_short(void **state)
{
    (void)state;
    for (int bits = 0; bits < 2; bits++) {
        ls_design *design =
            make_design(604, (graph_shape){.nodes = 1500, .only_bits = bits, .memories = true});
        record *r = calloc(1, sizeof *r);
        ls_cosim *cosim =
            make_run(design, (setting){reference, LS_COSIM_COMPILED, 1, false, false}, r);
        const ls__ir_module *ir = cosim->form->program->module->signature;
        for (uint32_t i = 1; i < ir->functions.count; i++) {
            uint32_t count = 0;
            ls__ir_walk(ir->functions.items[i]->body, count_one, &count);
            if (count >= 3000)
                fail_msg("'%s' has %u instructions", ir->functions.items[i]->name, count);
        }
        ls_cosim_destroy(&cosim);
        free(r);
        ls_design_destroy(&design);
    }
}

/* Programs that were compiled against headers with fewer fields, and with more. */
static void other_versions_of_the_params(void **state)
{
    (void)state;
    struct newer {
        ls_cosim_params params;
        uint64_t field;
    } newer = {LS_COSIM_PARAMS_INIT, 0};
    ls_design *design = make_design(605, (graph_shape){.nodes = 50});
    ls_cosim *cosim = NULL;
    ls_cosim_params older = LS_COSIM_PARAMS_INIT;
    older.device = newer.params.device = reference;
    older.workgroups = UINT32_MAX; /* what lies there is none of the struct's */
    assert_int_equal(ls_cosim_create(design, &older, &cosim, NULL), LS_E_LIMIT);
    older.struct_size = offsetof(ls_cosim_params, workgroups);
    OK(ls_cosim_create(design, &older, &cosim, error));
    ls_cosim_destroy(&cosim);
    newer.params.struct_size = sizeof newer;
    OK(ls_cosim_create(design, &newer.params, &cosim, error));
    ls_cosim_destroy(&cosim);
    newer.field = 1;
    assert_int_equal(ls_cosim_create(design, &newer.params, &cosim, NULL), LS_E_VERSION);
    older.struct_size = 0;
    assert_int_equal(ls_cosim_create(design, &older, &cosim, NULL), LS_E_VERSION);
    ls_design_destroy(&design);

    ls_design_params load = LS_DESIGN_PARAMS_INIT;
    load.path = "no-such-netlist.json";
    load.text = "{";
    load.length = 1;
    assert_int_equal(ls_design_load(&load, &design, NULL), LS_E_FORMAT);
    load.struct_size = offsetof(ls_design_params, text);
    assert_int_equal(ls_design_load(&load, &design, NULL), LS_E_NOT_FOUND);
    load.struct_size = 0;
    assert_int_equal(ls_design_load(&load, &design, NULL), LS_E_VERSION);
    assert_int_equal(ls_design_load(NULL, &design, NULL), LS_E_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peripherals_in_both_forms),
        cmocka_unit_test(watch_stops_at_the_exact_edge),
        cmocka_unit_test(a_halted_instance_stands_still),
        cmocka_unit_test(many_instances_begin_at_random),
        cmocka_unit_test(form_changes_on_the_way),
        cmocka_unit_test(a_run_may_end_while_code_is_made),
        cmocka_unit_test(functions_stay_short),
        cmocka_unit_test(other_versions_of_the_params),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
