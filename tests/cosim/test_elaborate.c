/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What elaboration makes of netlists besides (test_instant.c): what it refuses, loops of words,
 * parallel cases, tri-state nets, effects, signals, and what happens without memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cosim/elaborate/elaborate.h"
#include "graph_bench.h"

static void a_write_without_a_clock_is_refused(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 2);
    ls__memory *memory = make_memory(make, 2, 4);
    ls__write_port write = {.enable = a, .address = a, .data = a};
    memory->writes = &write;
    memory->write_count = 1;
    ls_error error;
    assert_int_equal(refused(&make, &error), LS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "memory"));
}

/* ---- loops between cells ---- */

static void a_combinational_loop_is_refused(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 1), back = make_nets(make, 1);
    ls__nets middle = make_gate(make, LS__CELL_AND, a, back);
    ls__cell *last = make_cell(make, LS__CELL_NOT, middle, (ls__nets){0});
    last->y = back;
    last->name = "inverter";
    last->source = "loop.v:7";
    make_signal(make, "middle", middle, LS__DIRECTION_NONE);
    make_signal(make, "back", back, LS__DIRECTION_NONE);
    ls_error error;
    assert_int_equal(refused(&make, &error), LS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "2 cells"));
    assert_non_null(strstr(error.message, "middle"));
    assert_non_null(strstr(error.message, "back"));
    assert_non_null(strstr(error.message, "inverter"));
    assert_non_null(strstr(error.message, "loop.v:7"));
}

/* Bits of a word that depend on lower bits of it: y = {y[6:0], a} ^ b, and a sum likewise. */
static void a_loop_of_words_only_is_none(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 1), c = make_input(make, "b", 8);
    ls__nets y = make_nets(make, 8), sum = make_nets(make, 8);
    make_cell(make, LS__CELL_XOR, make_concat(make, a, make_slice(y, 0, 7)), c)->y = y;
    make_cell(make, LS__CELL_SUB, make_concat(make, a, make_slice(sum, 0, 7)), c)->y = sum;
    output(make, "y", y);
    output(make, "sum", sum);
    bench b = start(&make);
    for (uint32_t i = 0; i < 512; i++) {
        uint32_t want = 0, difference = 0;
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t below = k ? want >> (k - 1) & 1 : i & 1;
            want |= (below ^ (i >> (k + 1) & 1)) << k;
            difference =
                ((i & 1) | difference << 1) - (i >> 1); /* one more bit is right each time */
        }
        set(&b, "a", i & 1);
        set_step(&b, "b", i >> 1);
        EXPECT(&b, "y", want);
        EXPECT(&b, "sum", difference & 255);
    }
    stop(&b);
}

static void two_drivers_are_refused(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 1);
    ls__cell *cell = make_cell(make, LS__CELL_NOT, a, (ls__nets){0});
    make_cell(make, LS__CELL_BUF, a, (ls__nets){0})->y = cell->y;
    make_signal(make, "both", cell->y, LS__DIRECTION_NONE);
    ls_error error;
    assert_int_equal(refused(&make, &error), LS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "both"));
}

static ls__nets equals(make_netlist *make, ls__nets a, uint64_t value)
{
    ls__cell *cell = make_cell(make, LS__CELL_EQ, a, make_constant(make, a.count, value));
    cell->y = make_nets(make, 1);
    return cell->y;
}

static ls__nets either(make_netlist *make, ls__nets a)
{
    ls__cell *cell = make_cell(make, LS__CELL_REDUCE_OR, a, (ls__nets){0});
    cell->y = make_nets(make, 1);
    return cell->y;
}

static ls__nets choose(make_netlist *make, ls__nets s0, ls__nets s1, ls__nets s2)
{
    ls__cell *cell = make_cell(make, LS__CELL_PMUX, make_constant(make, 8, 9),
                               make_constant(make, 24, 0x030201));
    cell->s = make_concat(make, make_concat(make, s0, s1), s2);
    return cell->y;
}

/* Selects of a case statement need no test for several; others do, also where they look alike. */
static void parallel_cases(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets x = make_input(make, "x", 3);
    ls__nets two = make_concat(make, equals(make, x, 1), equals(make, x, 2));
    output(make, "case", choose(make, equals(make, x, 0), either(make, two), equals(make, x, 3)));
    output(make, "again", choose(make, equals(make, x, 1), either(make, two), equals(make, x, 3)));
    output(make, "part",
           choose(make, equals(make, x, 1), either(make, make_slice(x, 0, 2)), equals(make, x, 7)));
    bench b = start(&make);
    static const uint8_t as_case[8] = {1, 2, 2, 3, 9, 9, 9, 9};
    static const uint8_t again[8] = {9, 0, 2, 3, 9, 9, 9, 9};
    static const uint8_t part[8] = {9, 0, 2, 2, 9, 2, 2, 0};
    for (uint32_t i = 0; i < 8; i++) {
        set_step(&b, "x", i);
        EXPECT(&b, "case", as_case[i]);
        EXPECT(&b, "again", again[i]);
        EXPECT(&b, "part", part[i]);
    }
    stop(&b);
}

/* ---- tri-state ---- */

static void buffer(make_netlist *make, ls__nets a, ls__nets enable, ls__nets y)
{
    ls__cell *cell = make_cell(make, LS__CELL_TRIBUF, a, (ls__nets){0});
    cell->s = enable;
    cell->y = y;
}

static void inouts_are_three_ports(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets pad = make_nets(make, 4), d = make_input(make, "d", 4), oe = make_input(make, "en", 2);
    make_signal(make, "pad", pad, LS__DIRECTION_INOUT);
    ls__nets out = make_nets(make, 1), inside = make_nets(make, 1);
    output(make, "out", out);
    output(make, "seen", make_gate(make, LS__CELL_NOT, pad, (ls__nets){0}));
    output(make, "inside", make_gate(make, LS__CELL_BUF, inside, (ls__nets){0}));
    buffer(make, d, make_slice(oe, 0, 1), pad);
    buffer(make, make_constant(make, 4, 15), make_slice(oe, 1, 1), pad);
    buffer(make, make_slice(d, 0, 1), make_slice(oe, 0, 1), out);
    buffer(make, make_slice(d, 1, 1), make_slice(oe, 0, 1), inside);
    bench b = start(&make);
    assert_string_equal(b.graph->signals[0].name, "d");
    set(&b, "pad__in", 6);
    set_step(&b, "d", 9);
    EXPECT(&b, "pad__out", 0);
    EXPECT(&b, "pad__oe", 0);
    EXPECT(&b, "pad", 6);
    EXPECT(&b, "seen", 9);
    EXPECT(&b, "out__oe", 0);
    EXPECT(&b, "inside", 0);
    set(&b, "d", 11);
    set_step(&b, "en", 1);
    EXPECT(&b, "pad__out", 11);
    EXPECT(&b, "pad__oe", 15);
    EXPECT(&b, "seen", 4);
    EXPECT(&b, "out__out", 1);
    EXPECT(&b, "out__oe", 1);
    EXPECT(&b, "out", 1);
    EXPECT(&b, "inside", 1);
    set_step(&b, "en", 2);
    EXPECT(&b, "pad__out", 15);
    stop(&b);
}

static void names_of_tri_state_ports_are_theirs(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets d = make_input(make, "d", 1), oe = make_input(make, "en", 1);
    output(make, "p__out", make_gate(make, LS__CELL_NOT, d, (ls__nets){0}));
    ls__nets pad = make_nets(make, 1);
    make_signal(make, "p", pad, LS__DIRECTION_INOUT);
    make_signal(make, "p__oe", make_gate(make, LS__CELL_NOT, oe, (ls__nets){0}),
                LS__DIRECTION_NONE);
    make_signal(make, "p__oe$2", d, LS__DIRECTION_NONE);
    buffer(make, d, oe, pad);
    bench b = start(&make);
    for (uint32_t i = 0; i < b.graph->signal_count; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(b.graph->signals[i].name, b.graph->signals[k].name);
    set(&b, "d", 1);
    set_step(&b, "en", 1);
    EXPECT(&b, "p__oe", 1);
    EXPECT(&b, "p__oe$2", 1);
    EXPECT(&b, "p__oe$3", 0);
    EXPECT(&b, "p__out", 1);
    EXPECT(&b, "p__out$2", 0);
    stop(&b);
}

static void internal_buses_are_refused(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets d = make_input(make, "d", 2), oe = make_input(make, "oe", 2);
    ls__nets bus = make_nets(make, 1);
    make_signal(make, "shared", bus, LS__DIRECTION_NONE);
    for (uint32_t i = 0; i < 2; i++)
        buffer(make, make_slice(d, i, 1), make_slice(oe, i, 1), bus);
    ls_error error;
    assert_int_equal(refused(&make, &error), LS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "shared"));
}

/* ---- effects, signals ---- */

static void effects_happen_at_their_edge(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), on = make_input(make, "on", 1);
    ls__nets ok = make_input(make, "ok", 1);
    bool rising = true;
    ls__effect print = {.kind = LS__EFFECT_PRINT,
                        .enable = on,
                        .triggers = clk,
                        .trigger_rising = &rising,
                        .arguments = make_concat(make, on, make_constant(make, 70, 3)),
                        .format = "{}",
                        .name = "print",
                        .source = "",
                        .priority = -1};
    ls__effect check = print;
    check.kind = LS__EFFECT_ASSERT;
    check.condition = ok;
    check.name = "check";
    check.priority = 5;
    ls__effect never = print;
    never.triggers = make_constant(make, 1, 0);
    make->effects[0] = print;
    make->effects[1] = never;
    make->effects[2] = check;
    make->netlist.effect_count = 3;
    bench b = start(&make);
    assert_int_equal(b.graph->effect_count, 2);
    assert_string_equal(b.graph->effects[0].name, "check");
    assert_int_equal(b.graph->effects[1].argument_count, 2);
    set(&b, "on", 1);
    set_step(&b, "clk", 1); /* was off before */
    assert_int_equal(b.run->happened[1], 0);
    set_step(&b, "clk", 0);
    set_step(&b, "clk", 1);
    assert_int_equal(b.run->happened[1], 1);
    assert_int_equal(b.run->happened[0], 1);
    set_step(&b, "ok", 1);
    set_step(&b, "clk", 0);
    set_step(&b, "clk", 1);
    assert_int_equal(b.run->happened[1], 2);
    assert_int_equal(b.run->happened[0], 1);
    stop(&b);
}

static void signals_keep_their_form(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 100);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    ls__signal *whole = make_signal(make, "cpu.word", r->q, LS__DIRECTION_OUTPUT);
    whole->offset = 3;
    whole->upto = true;
    whole->is_signed = true;
    ls__nets mixed = make_concat(make, make_constant(make, 70, 0x15), make_slice(r->q, 60, 10));
    make_signal(make, "mixed", mixed, LS__DIRECTION_NONE)->hidden = true;
    bench b = start(&make);
    assert_int_equal(b.graph->port_count, 3);
    const ls__graph_signal *signal = host_eval_signal(b.graph, "cpu.word");
    assert_int_equal(signal->piece_count, 2);
    assert_int_equal(signal->offset, 3);
    assert_true(signal->upto && signal->is_signed && signal->is_register && !signal->hidden);
    signal = host_eval_signal(b.graph, "mixed");
    assert_int_equal(signal->piece_count, 4);
    assert_true(signal->hidden && !signal->is_register);
    const uint64_t value[2] = {UINT64_C(0xf) << 60, 0x15};
    host_eval_set(b.run, "d", value);
    host_eval_set(b.by_level, "d", value);
    step(&b);
    pulse(&b, "clk");
    uint64_t got[2];
    host_eval_get(b.run, "mixed", got);
    assert_int_equal(got[0], 0x15);
    assert_int_equal(got[1], UINT64_C(0x15f) << 6);
    stop(&b);
}

/* Gates become single nodes, and equal ones one. */
static void gates_are_single_nodes(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 1), c = make_input(make, "b", 1);
    output(make, "and", make_gate(make, LS__CELL_AND, a, c));
    output(make, "nand", make_gate(make, LS__CELL_NAND, c, a));
    output(make, "nor", make_gate(make, LS__CELL_NOR, a, c));
    output(make, "andnot", make_gate(make, LS__CELL_ANDNOT, a, c));
    ls__nets inverse = make_gate(make, LS__CELL_NOT, c, (ls__nets){0});
    output(make, "same", make_gate(make, LS__CELL_AND, a, inverse));
    output(make, "zero", make_gate(make, LS__CELL_AND, c, inverse));
    bench b = start(&make);
    uint32_t evaluated = 0;
    for (uint32_t i = 0; i < b.graph->node_count; i++)
        evaluated += b.graph->nodes[i].level > 0;
    /* and, its not, or, its not, andn, not of b (which has no name: gone) */
    assert_int_equal(evaluated, 5);
    stop(&b);
}

/* Each allocation fails once. */
static void memory_runs_out(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 130);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    output(make, "y", make_gate(make, LS__CELL_DIV, r->q, d));
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls__graph *graph = NULL;
        ls__mem_fail_after(n);
        status = ls__elaborate(&make->netlist, NULL, &graph, NULL);
        ls__mem_fail_after(0);
        assert_true(status == LS_OK ? graph && n > 5 : !graph && status == LS_E_OUT_OF_MEMORY);
        ls__graph_destroy(&graph);
    }
    make_netlist_destroy(&make);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_without_a_clock_is_refused),
        cmocka_unit_test(a_combinational_loop_is_refused),
        cmocka_unit_test(a_loop_of_words_only_is_none),
        cmocka_unit_test(two_drivers_are_refused),
        cmocka_unit_test(parallel_cases),
        cmocka_unit_test(inouts_are_three_ports),
        cmocka_unit_test(names_of_tri_state_ports_are_theirs),
        cmocka_unit_test(internal_buses_are_refused),
        cmocka_unit_test(effects_happen_at_their_edge),
        cmocka_unit_test(signals_keep_their_form),
        cmocka_unit_test(gates_are_single_nodes),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
