/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens at an instant: small netlists by hand with clock structures, registers and latches
 * with every control, loops through latches, memories with every option of their ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph_bench.h"

/* ---- clocks ---- */

static void data_with_the_clock_is_not_seen(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 70);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    ls__register *s = make_register(make, LS__REGISTER_CLOCKED, clk, r->q);
    output(make, "q", make_slice(r->q, 0, 64));
    output(make, "q2", make_slice(s->q, 3, 64));
    bench b = start(&make);
    assert_false(b.graph->has_derived);
    const uint64_t first[2] = {0xf0, 0x3f};
    host_eval_set(b.run, "d", first);
    host_eval_set(b.by_level, "d", first);
    set_step(&b, "clk", 1); /* together */
    EXPECT(&b, "q", 0);
    set_step(&b, "clk", 0);
    EXPECT(&b, "q", 0);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 0xf0);
    EXPECT(&b, "q2", 0);
    set(&b, "d", 5);
    set_step(&b, "clk", 0);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 5);
    EXPECT(&b, "q2", (0xf0 >> 3) | UINT64_C(7) << 61);
    stop(&b);
}

static void negative_edges_take_what_rising_ones_left(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 4);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    ls__register *f = make_register(make, LS__REGISTER_CLOCKED, clk, r->q);
    f->clock_rising = false;
    ls__register *g = make_register(make, LS__REGISTER_CLOCKED,
                                    make_gate(make, LS__CELL_NOT, clk, (ls__nets){0}), r->q);
    output(make, "r", r->q);
    output(make, "f", f->q);
    output(make, "g", g->q);
    bench b = start(&make);
    assert_int_equal(b.graph->domain_count, 2); /* an inverted clock is the other edge */
    set_step(&b, "d", 9);
    set_step(&b, "clk", 1);
    EXPECT(&b, "r", 9);
    EXPECT(&b, "f", 0);
    set_step(&b, "clk", 0);
    EXPECT(&b, "f", 9);
    EXPECT(&b, "g", 9);
    stop(&b);
}

/* Three dividers, each the clock of the next: a counter by ripples, all within one instant; and a
 * register of the last clock sees what the first has become. */
static void derived_clocks_see_new_values(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), clock = clk, all = {0};
    for (uint32_t i = 0; i < 3; i++) {
        ls__register *r = toggle(make, clock);
        r->clock_rising = i == 0;
        clock = r->q;
        all = i ? make_concat(make, all, r->q) : r->q;
    }
    ls__register *late = make_register(make, LS__REGISTER_CLOCKED, clock, all);
    output(make, "count", all);
    output(make, "late", late->q);
    bench b = start(&make);
    assert_true(b.graph->has_derived);
    for (uint32_t i = 1; i <= 20; i++) {
        pulse(&b, "clk");
        EXPECT(&b, "count", i % 8);
        EXPECT(&b, "late", i < 4 ? 0 : 4); /* count had just become 4 */
    }
    stop(&b);
}

static void clock_multiplexer(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets a = make_input(make, "a", 1), c = make_input(make, "b", 1);
    ls__nets select = make_input(make, "select", 1), d = make_input(make, "d", 1);
    ls__cell *mux = make_cell(make, LS__CELL_MUX, a, c);
    mux->s = select;
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, mux->y, d);
    output(make, "q", r->q);
    bench b = start(&make);
    assert_false(b.graph->has_derived);
    set(&b, "b", 1);
    set_step(&b, "d", 1);
    EXPECT(&b, "q", 0);
    set_step(&b, "select", 1); /* the multiplexer's output rises */
    EXPECT(&b, "q", 1);
    set_step(&b, "d", 0);
    set_step(&b, "a", 1);
    EXPECT(&b, "q", 1);
    set_step(&b, "b", 0);
    EXPECT(&b, "q", 1);
    set_step(&b, "b", 1);
    EXPECT(&b, "q", 0);
    stop(&b);
}

/* Latch while the clock is low, AND behind it; the enable comes from a register of that clock. */
static void latch_and_gate(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), on = make_input(make, "on", 1);
    ls__register *enable = make_register(make, LS__REGISTER_CLOCKED, clk, on);
    ls__register *latch = make_register(make, LS__REGISTER_LATCH, (ls__nets){0}, enable->q);
    latch->enable = clk;
    latch->enable_high = false;
    ls__nets gated = make_gate(make, LS__CELL_AND, clk, latch->q);
    ls__register *r = toggle(make, gated);
    output(make, "q", r->q);
    output(make, "gated", gated);
    bench b = start(&make);
    set_step(&b, "on", 1);
    set_step(&b, "clk", 1); /* enable rises behind the closed latch: no glitch */
    EXPECT(&b, "gated", 0);
    EXPECT(&b, "q", 0);
    set_step(&b, "clk", 0);
    set(&b, "on", 0);
    set_step(&b, "clk", 1);
    EXPECT(&b, "gated", 1);
    EXPECT(&b, "q", 1);
    set_step(&b, "clk", 0);
    EXPECT(&b, "gated", 0);
    set_step(&b, "clk", 1); /* takes the 0 of `on` here; the latch still has 1 */
    EXPECT(&b, "q", 0);
    set_step(&b, "clk", 0);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 0);
    EXPECT(&b, "gated", 0);
    stop(&b);
}

/* Without the latch the gate opens within the instant, and the register sees a second edge. */
static void and_gate_alone_glitches(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), on = make_input(make, "on", 1);
    ls__register *enable = make_register(make, LS__REGISTER_CLOCKED, clk, on);
    ls__register *r = toggle(make, make_gate(make, LS__CELL_AND, clk, enable->q));
    output(make, "q", r->q);
    bench b = start(&make);
    set_step(&b, "on", 1);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 1);
    stop(&b);
}

static void two_clocks_at_one_instant_swap(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets c0 = make_input(make, "c0", 1), c1 = make_input(make, "c1", 1);
    ls__nets d = make_nets(make, 1);
    ls__register *r0 = make_register(make, LS__REGISTER_CLOCKED, c0, d);
    ls__register *r1 = make_register(make, LS__REGISTER_CLOCKED, c1, r0->q);
    make_cell(make, LS__CELL_BUF, r1->q, (ls__nets){0})->y = d;
    make_signal(make, "r0", r0->q, LS__DIRECTION_OUTPUT)->init = make_bits(make, 1, 1);
    output(make, "r1", r1->q);
    bench b = start(&make);
    EXPECT(&b, "r0", 1);
    set(&b, "c0", 1);
    set_step(&b, "c1", 1);
    EXPECT(&b, "r0", 0);
    EXPECT(&b, "r1", 1);
    set(&b, "c0", 0);
    set_step(&b, "c1", 0);
    set_step(&b, "c1", 1); /* one after the other: both become r0's */
    set_step(&b, "c0", 1);
    EXPECT(&b, "r0", 0);
    EXPECT(&b, "r1", 0);
    stop(&b);
}

/* Each edge of the clock makes the next. */
static void oscillation_is_an_error(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), mixed = make_nets(make, 1);
    ls__register *up = toggle(make, mixed), *down = toggle(make, mixed);
    down->clock_rising = false;
    make_cell(make, LS__CELL_XOR, make_gate(make, LS__CELL_XOR, up->q, down->q), clk)->y = mixed;
    bench b = start(&make);
    set(&b, "clk", 1);
    assert_false(host_eval_step(b.run));
    assert_false(host_eval_step(b.by_level));
    stop(&b);
}

static void a_clock_that_is_constant(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets d = make_input(make, "d", 4);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, make_constant(make, 1, 1), d);
    make_signal(make, "q", r->q, LS__DIRECTION_OUTPUT)->init = make_bits(make, 4, 10);
    bench b = start(&make);
    assert_int_equal(b.graph->domain_count, 0);
    set_step(&b, "d", 5);
    EXPECT(&b, "q", 10);
    stop(&b);
}

/* ---- registers ---- */

static void asynchronous_reset(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 8);
    ls__nets rst_n = make_input(make, "rst_n", 1);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    r->arst = rst_n;
    r->arst_high = false;
    r->arst_value = make_bits(make, 8, 0x5a);
    ls__register *after = make_register(make, LS__REGISTER_CLOCKED, clk, r->q);
    output(make, "q", r->q);
    output(make, "after", after->q);
    bench b = start(&make);
    EXPECT(&b, "q", 0x5a); /* inputs are 0: in reset from the start */
    set(&b, "d", 1);
    set_step(&b, "rst_n", 1);
    EXPECT(&b, "q", 0x5a);
    pulse(&b, "clk");
    EXPECT(&b, "q", 1);
    set_step(&b, "rst_n", 0); /* at once */
    EXPECT(&b, "q", 0x5a);
    set(&b, "rst_n", 1);
    set_step(&b, "clk", 1); /* released with an edge: holds for it */
    EXPECT(&b, "q", 0x5a);
    set_step(&b, "clk", 0);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 1);
    set_step(&b, "clk", 0);
    set(&b, "rst_n", 0);
    set_step(&b, "clk", 1); /* asserted with an edge: it wins, others saw the value before */
    EXPECT(&b, "q", 0x5a);
    EXPECT(&b, "after", 1);
    stop(&b);
}

static void synchronous_controls(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 4);
    ls__nets en = make_input(make, "en", 1), rst = make_input(make, "rst", 1);
    static const char *const names[] = {"dffe", "sdffe", "sdffce"};
    for (uint32_t i = 0; i < 3; i++) {
        ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
        r->enable = en;
        if (i) {
            r->srst = rst;
            r->srst_value = make_bits(make, 4, 6);
            r->srst_needs_enable = i == 2;
        }
        output(make, names[i], r->q);
    }
    bench b = start(&make);
    set(&b, "d", 9);
    for (uint32_t i = 0; i < 4; i++) {
        set(&b, "en", 1); /* all 9 first */
        set(&b, "rst", 0);
        set_step(&b, "d", 9);
        pulse(&b, "clk");
        EXPECT(&b, "sdffce", 9);
        set(&b, "d", 3);
        set(&b, "en", i & 1);
        set_step(&b, "rst", i >> 1);
        pulse(&b, "clk");
        EXPECT(&b, "dffe", i & 1 ? 3 : 9);
        EXPECT(&b, "sdffe", i >> 1 ? 6 : i & 1 ? 3 : 9);
        EXPECT(&b, "sdffce", !(i & 1) ? 9 : i >> 1 ? 6 : 3);
    }
    stop(&b);
}

static void asynchronous_load(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 4);
    ls__nets load = make_input(make, "load", 1), ad = make_input(make, "ad", 4);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    r->aload = load;
    r->ad = ad;
    output(make, "q", r->q);
    bench b = start(&make);
    set(&b, "d", 1);
    set(&b, "ad", 7);
    set_step(&b, "load", 1);
    EXPECT(&b, "q", 7);
    set_step(&b, "ad", 8); /* transparent */
    EXPECT(&b, "q", 8);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 8);
    set_step(&b, "load", 0);
    set_step(&b, "clk", 0);
    EXPECT(&b, "q", 8);
    set_step(&b, "clk", 1);
    EXPECT(&b, "q", 1);
    stop(&b);
}

static void set_and_clear_by_bits(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), d = make_input(make, "d", 4);
    ls__nets on = make_input(make, "set", 4), off = make_input(make, "clear", 4);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, d);
    r->set = on;
    r->clear = off;
    ls__register *s = make_register(make, LS__REGISTER_SR, (ls__nets){0}, d);
    s->d = (ls__nets){0};
    s->set = on;
    s->clear = off;
    s->clear_high = false;
    output(make, "dffsr", r->q);
    output(make, "sr", s->q);
    bench b = start(&make);
    set(&b, "d", 5);
    set(&b, "clear", 0);
    set_step(&b, "set", 3);
    EXPECT(&b, "dffsr", 3);
    EXPECT(&b, "sr", 0); /* clear is active low there: all bits are cleared */
    set_step(&b, "clear", 14);
    EXPECT(&b, "dffsr", 1); /* clear wins in bit 1 */
    EXPECT(&b, "sr", 2);
    set_step(&b, "set", 0);
    set_step(&b, "clear", 15);
    EXPECT(&b, "sr", 2);
    set_step(&b, "clear", 8);
    set_step(&b, "set", 2);
    set_step(&b, "clk", 1);
    EXPECT(&b, "dffsr", 7); /* d = 5, bit 1 set, bit 3 cleared */
    EXPECT(&b, "sr", 0);
    stop(&b);
}

/* Two latches of opposite phase make a register; and one in a loop with itself counts. */
static void latches_of_two_phases(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1);
    ls__nets next = make_nets(make, 4);
    ls__register *first = make_register(make, LS__REGISTER_LATCH, (ls__nets){0}, next);
    first->enable = clk;
    first->enable_high = false;
    ls__register *second = make_register(make, LS__REGISTER_LATCH, (ls__nets){0}, first->q);
    second->enable = clk;
    make_cell(make, LS__CELL_ADD, second->q, make_constant(make, 4, 1))->y = next;
    output(make, "count", second->q);
    output(make, "first", first->q);
    bench b = start(&make);
    assert_true(b.graph->has_loops);
    for (uint32_t i = 1; i < 20; i++) {
        pulse(&b, "clk");
        EXPECT(&b, "count", i % 16);
        EXPECT(&b, "first", (i + 1) % 16);
    }
    stop(&b);
}

static void transparent_latches_in_a_row(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets d = make_input(make, "d", 8), gate = make_input(make, "gate", 1), at = d;
    for (uint32_t i = 0; i < 5; i++) {
        ls__register *r = make_register(make, LS__REGISTER_LATCH, (ls__nets){0}, at);
        r->enable = gate;
        at = make_gate(make, LS__CELL_NOT, r->q, (ls__nets){0});
    }
    output(make, "q", at);
    bench b = start(&make);
    assert_false(b.graph->has_loops);
    set(&b, "d", 0x3c);
    set_step(&b, "gate", 1);
    EXPECT(&b, "q", 0xc3);
    set(&b, "d", 1);
    set_step(&b, "gate", 0); /* closes together with new data: the old stays */
    EXPECT(&b, "q", 0xc3);
    stop(&b);
}

/* A counter that resets itself when it reaches 5. */
static void a_reset_that_depends_on_its_register(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), next = make_nets(make, 4);
    ls__register *r = make_register(make, LS__REGISTER_CLOCKED, clk, next);
    make_cell(make, LS__CELL_ADD, r->q, make_constant(make, 4, 1))->y = next;
    ls__cell *equal = make_cell(make, LS__CELL_EQ, r->q, make_constant(make, 4, 5));
    equal->y = make_nets(make, 1);
    r->arst = equal->y;
    r->arst_value = make_bits(make, 4, 0);
    output(make, "q", r->q);
    bench b = start(&make);
    assert_true(b.graph->has_loops);
    for (uint32_t i = 1; i < 20; i++) {
        pulse(&b, "clk");
        EXPECT(&b, "q", i % 5);
    }
    stop(&b);
}

/* Cross-coupled through $sr: a request of one holds the other off. */
static void cross_coupled_latches(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets request = make_input(make, "request", 2), gate = make_input(make, "gate", 1);
    ls__nets q0 = make_nets(make, 1), q1 = make_nets(make, 1);
    for (uint32_t i = 0; i < 2; i++) {
        ls__nets free = make_gate(make, LS__CELL_NOT, i ? q0 : q1, (ls__nets){0});
        ls__nets wanted = make_gate(make, LS__CELL_AND, make_slice(request, i, 1), free);
        ls__register *r = make_register(make, LS__REGISTER_SR, (ls__nets){0}, q0);
        r->d = (ls__nets){0};
        r->q = i ? q1 : q0;
        r->set = make_gate(make, LS__CELL_AND, wanted, gate);
        r->clear = make_gate(make, LS__CELL_NOT, make_slice(request, i, 1), (ls__nets){0});
    }
    output(make, "grant", make_concat(make, q0, q1));
    bench b = start(&make);
    assert_true(b.graph->has_loops);
    set(&b, "gate", 1);
    set_step(&b, "request", 2);
    EXPECT(&b, "grant", 2);
    set_step(&b, "request", 3);
    EXPECT(&b, "grant", 2);
    set_step(&b, "request", 1);
    EXPECT(&b, "grant", 1);
    set_step(&b, "request", 3);
    EXPECT(&b, "grant", 1);
    stop(&b);
}

/* A latch that inverts itself while it is open. */
static void a_latch_that_oscillates(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets gate = make_input(make, "gate", 1), d = make_nets(make, 1);
    ls__register *r = make_register(make, LS__REGISTER_LATCH, (ls__nets){0}, d);
    r->enable = gate;
    make_cell(make, LS__CELL_NOT, r->q, (ls__nets){0})->y = d;
    bench b = start(&make);
    set(&b, "gate", 1);
    assert_false(host_eval_step(b.run));
    stop(&b);
}

/* ---- memories ---- */

/* One write port and read ports of every kind, of words of 70 bits at addresses 3 to 7. */
static void memory_ports(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), address = make_input(make, "address", 3);
    ls__nets read = make_input(make, "read", 3), en = make_input(make, "en", 1);
    ls__nets we = make_input(make, "we", 2), data = make_input(make, "data", 64);
    ls__nets rst = make_input(make, "rst", 1);
    ls__memory *memory = make_memory(make, 70, 5);
    memory->start = 3;
    memory->init = make_bits(make, 350, 0x77);
    ls__nets low = make_concat(make, make_slice(we, 0, 1), make_slice(we, 0, 1)), enable = low;
    for (uint32_t i = 2; i < 70; i++)
        enable = make_concat(make, enable, make_slice(we, 1, 1));
    ls__write_port write = {.enable = enable,
                            .address = address,
                            .data = make_concat(make, data, make_constant(make, 6, 0x2a)),
                            .clock = clk,
                            .clock_rising = true};
    static const char *const names[] = {"async", "old", "new", "ce_over", "srst_over", "arst"};
    ls__read_port ports[6];
    for (uint32_t i = 0; i < 6; i++) {
        ports[i] = (ls__read_port){.address = read,
                                   .data = make_nets(make, 70),
                                   .clock = i ? clk : (ls__nets){0},
                                   .enable = i ? en : make_constant(make, 1, 1),
                                   .clock_rising = true,
                                   .transparent = make_bits(make, 1, i == 2),
                                   .arst_value = make_bits(make, 70, 11),
                                   .srst_value = make_bits(make, 70, 12),
                                   .init_value = make_bits(make, 70, 13),
                                   .srst = i == 3 || i == 4 ? rst : (ls__nets){0},
                                   .arst = i == 5 ? rst : (ls__nets){0},
                                   .srst_needs_enable = i == 3};
        output(make, names[i], make_slice(ports[i].data, 0, 64));
    }
    output(make, "top", make_slice(ports[0].data, 64, 6));
    memory->reads = ports;
    memory->read_count = 6;
    memory->writes = &write;
    memory->write_count = 1;
    bench b = start(&make);
    EXPECT(&b, "async", 0); /* address 0 is none */
    EXPECT(&b, "old", 13);
    EXPECT(&b, "arst", 13);
    set_step(&b, "read", 3);
    EXPECT(&b, "async", 0x77);
    set(&b, "we", 3);
    set(&b, "en", 1);
    set(&b, "data", 0xabcdef);
    set_step(&b, "address", 3);
    pulse(&b, "clk");
    EXPECT(&b, "async", 0xabcdef);
    EXPECT(&b, "top", 0x2a);
    EXPECT(&b, "old", 0x77);
    EXPECT(&b, "new", 0xabcdef);
    EXPECT(&b, "ce_over", 0x77);
    set(&b, "we", 2); /* all but the lowest two bits */
    set_step(&b, "data", 0);
    set(&b, "en", 0);
    set_step(&b, "rst", 1);
    EXPECT(&b, "arst", 11);
    pulse(&b, "clk");
    EXPECT(&b, "async", 3);
    EXPECT(&b, "old", 0x77);
    EXPECT(&b, "ce_over", 0x77);
    EXPECT(&b, "srst_over", 12);
    set_step(&b, "en", 1);
    pulse(&b, "clk");
    EXPECT(&b, "ce_over", 12);
    EXPECT(&b, "arst", 11);
    EXPECT(&b, "old", 3);
    /* Beyond the words: nothing is written, 0 is read, by the transparent port, too. */
    set(&b, "we", 3);
    set(&b, "data", 99);
    set(&b, "read", 2);
    set_step(&b, "address", 2);
    pulse(&b, "clk");
    EXPECT(&b, "async", 0);
    EXPECT(&b, "new", 0);
    for (uint32_t i = 3; i < 8; i++) {
        set_step(&b, "read", i);
        EXPECT(&b, "async", i == 3 ? 3 : 0);
    }
    stop(&b);
}

static void the_highest_write_port_wins(void **state)
{
    make_netlist *make = make_netlist_create();
    ls__nets clk = make_input(make, "clk", 1), a = make_input(make, "a", 4);
    ls__memory *memory = make_memory(make, 8, 16);
    ls__write_port writes[2];
    for (uint32_t i = 0; i < 2; i++)
        writes[i] = (ls__write_port){.enable = make_constant(make, 8, i ? 0xf0 : 0xff),
                                     .address = make_slice(a, 0, 4),
                                     .data = make_constant(make, 8, i ? 0x22 : 0x11),
                                     .clock = clk,
                                     .clock_rising = true};
    ls__read_port read = {.address = a, .data = make_nets(make, 8)};
    memory->writes = writes;
    memory->write_count = 2;
    memory->reads = &read;
    memory->read_count = 1;
    output(make, "q", read.data);
    bench b = start(&make);
    set_step(&b, "a", 6);
    pulse(&b, "clk");
    EXPECT(&b, "q", 0x21);
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_with_the_clock_is_not_seen),
        cmocka_unit_test(negative_edges_take_what_rising_ones_left),
        cmocka_unit_test(derived_clocks_see_new_values),
        cmocka_unit_test(clock_multiplexer),
        cmocka_unit_test(latch_and_gate),
        cmocka_unit_test(and_gate_alone_glitches),
        cmocka_unit_test(two_clocks_at_one_instant_swap),
        cmocka_unit_test(oscillation_is_an_error),
        cmocka_unit_test(a_clock_that_is_constant),
        cmocka_unit_test(asynchronous_reset),
        cmocka_unit_test(synchronous_controls),
        cmocka_unit_test(asynchronous_load),
        cmocka_unit_test(set_and_clear_by_bits),
        cmocka_unit_test(latches_of_two_phases),
        cmocka_unit_test(transparent_latches_in_a_row),
        cmocka_unit_test(a_reset_that_depends_on_its_register),
        cmocka_unit_test(cross_coupled_latches),
        cmocka_unit_test(a_latch_that_oscillates),
        cmocka_unit_test(memory_ports),
        cmocka_unit_test(the_highest_write_port_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
