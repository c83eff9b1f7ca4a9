/* SPDX-License-Identifier: Apache-2.0 */
/* GPIO, JTAG replay, bus traces, random stimulus. */
#include "bench.h"

static void expect_event(const bench *b, uint32_t index, uint32_t source, uint64_t edge,
                         uint32_t kind, uint64_t a, uint64_t c)
{
    assert_true(index < b->event_count);
    assert_int_equal(b->events[index].source, source);
    assert_int_equal(b->events[index].edge, edge);
    assert_int_equal(b->events[index].kind, kind);
    assert_int_equal(b->events[index].a, a);
    assert_int_equal(b->events[index].b, c);
}

/* --- GPIO ------------------------------------------------------------------------------------- */

static void gpio_entry(uint32_t *memory, uint32_t edge, uint64_t value)
{
    uint32_t *entry = memory + 8 + 4 * (memory[0]++ & 3);
    entry[0] = edge;
    entry[2] = (uint32_t)value;
    entry[3] = (uint32_t)(value >> 32);
}

static void gpio_patch(uint32_t instance, uint32_t *memory)
{
    (void)instance;
    gpio_entry(memory, 0, 3);
    gpio_entry(memory, 0, 0);
}

static void gpio_sets_and_watches(void **state)
{
    enum { IN, IN5, BUS, OUT0, OUT31, SIGNALS };
    (void)state;
    uint32_t memory[8 + 4 * 4] = {0};
    gpio_entry(memory, 4, 0x8000000180000001);
    gpio_entry(memory, 9, 0x80000000);
    ls_pin pins[] = {WIDE("in", IN, 4, false), PIN("in5", IN5), WIDE("out", BUS, 64, true),
                     DRIVEN("out0", OUT0), DRIVEN("out31", OUT31)};
    ls_peripheral_parameter queue = {"queue", 4};
    ls_peripheral gpio = {.name = "pins",
                          .type = "gpio",
                          .pins = pins,
                          .pin_count = COUNT(pins),
                          .parameters = &queue,
                          .parameter_count = 1,
                          .memory_words = COUNT(memory),
                          .memory_init = memory};
    bench b;
    bench_init(&b, 30, SIGNALS);
    bench_set(&b, 0, IN, 9);
    bench_set(&b, 6, IN5, 1);
    bench_set(&b, 7, IN, 0);
    b.peripherals = &gpio;
    b.peripheral_count = 1;
    b.patch_edge = 20;
    b.patch = gpio_patch;
    bench_run(&b);
    assert_int_equal(b.event_count, 3);
    expect_event(&b, 0, 0, 0, 1, 9, 0);
    expect_event(&b, 1, 0, 6, 1, 0x29, 9);
    expect_event(&b, 2, 0, 7, 1, 0x20, 0x29);
    for (uint32_t e = 0; e < 30; e++) {
        uint64_t value = e <= 4    ? 0
                         : e <= 9  ? 0x8000000180000001
                         : e <= 20 ? 0x80000000
                         : e <= 21 ? 3
                                   : 0;
        assert_int_equal(bench_at(&b, 0, e, BUS), value);
        assert_int_equal(bench_at(&b, 0, e, OUT0), value & 1);
        assert_int_equal(bench_at(&b, 0, e, OUT31), value >> 31 & 1);
    }
    bench_finish(&b);
}

/* --- JTAG ------------------------------------------------------------------------------------- */

static void jtag_replays(void **state)
{
    enum { TCK, TMS, TDI, TRST, SRST, TDO, SIGNALS };
    static const char session[] = "B027R\n\r46utsrb35Q7";
    /* TCK, TMS, TDI, TRST (low when asserted), SRST (high when asserted) after each byte that takes
     * time; in front what they are before. */
    static const char *const levels[] = {"01010", "01010", "00010", "01010", "11110",
                                         "11110", "10010", "11010", "11001", "11000",
                                         "11011", "11010", "11010", "01110", "10110"};
    (void)state;
    for (uint32_t compat = 0; compat < 2; compat++) {
        ls_pin pins[] = {DRIVEN("tck", TCK),   DRIVEN("tms", TMS),   DRIVEN("tdi", TDI),
                         DRIVEN("trst", TRST), DRIVEN("srst", SRST), PIN("tdo", TDO)};
        ls_peripheral_parameter parameters[] = {
            {"hold_edges", 3}, {"start_edge", 10}, {"srst_active_low", 0}, {"compat", compat}};
        ls_peripheral jtag = {.name = "probe",
                              .type = "jtag",
                              .pins = pins,
                              .pin_count = 6,
                              .parameters = parameters,
                              .parameter_count = 4,
                              .image = session,
                              .image_bytes = sizeof session - 1};
        bench b;
        bench_init(&b, 80, SIGNALS);
        bench_set(&b, 20, TDO, 1);
        b.peripherals = &jtag;
        b.peripheral_count = 1;
        bench_run(&b);
        /* The byte taken at edge 10 + 3 * i is seen from the next edge on, compat: TCK one later.
         */
        for (uint32_t e = 0; e < 80; e++) {
            for (uint32_t pin = 0; pin < 5; pin++) {
                uint32_t from = pin == TCK && compat ? 12 : 11;
                uint32_t taken = e < from ? 0 : 1 + (e - from) / 3;
                taken = taken < COUNT(levels) ? taken : COUNT(levels) - 1;
                assert_int_equal(bench_at(&b, 0, e, pin), levels[taken][pin] - '0');
            }
        }
        assert_int_equal(b.event_count, 2);
        expect_event(&b, 0, 0, 10 + 4 * 3, 1, 1, 0);
        expect_event(&b, 1, 0, 10 + 14 * 3, 2, sizeof session - 3, 0);
        bench_finish(&b);
    }
}

/* --- buses ------------------------------------------------------------------------------------ */

enum { SEL, ENABLE, WRITE, READY, ERROR, ADDRESS, WDATA, RDATA, CLOCK, BUS_SIGNALS };

/* A transfer as an APB master makes it, a clock of four edges, rising at the first: setup, access,
 * and `waits` more. Answers the edge after it, enable still 1. */
static uint32_t transfer(bench *b, uint32_t edge, bool write, uint64_t address, uint64_t data,
                         uint32_t waits, bool error)
{
    bench_set(b, edge, SEL, 1);
    bench_set(b, edge, ENABLE, 0);
    bench_set(b, edge, WRITE, write);
    bench_set(b, edge, ADDRESS, address);
    bench_set(b, edge, WDATA, write ? data : 0x77);
    bench_set(b, edge, RDATA, write ? 0x88 : 0);
    bench_set(b, edge, READY, waits == 0);
    edge += 4;
    bench_set(b, edge, ENABLE, 1);
    edge += 4 * waits;
    bench_set(b, edge, READY, 1);
    bench_set(b, edge, ERROR, error);
    if (!write)
        bench_set(b, edge, RDATA, data);
    return edge + 4;
}

static void clock_all(bench *b)
{
    for (uint32_t e = 0; e < b->edges; e += 2)
        bench_set(b, e, CLOCK, e % 4 == 0);
}

static void apb_transfers(void **state)
{
    (void)state;
    ls_pin pins[] = {PIN("psel", SEL),
                     PIN("penable", ENABLE),
                     PIN("pwrite", WRITE),
                     WIDE("paddr", ADDRESS, 64, false),
                     WIDE("pwdata", WDATA, 64, false),
                     WIDE("prdata", RDATA, 64, false),
                     PIN("pready", READY),
                     PIN("pslverr", ERROR),
                     PIN("pclk", CLOCK)};
    ls_peripheral list[] = {
        {.name = "a", .type = "apb_trace", .pins = pins, .pin_count = 8},
        {.name = "b", .type = "apb_trace", .pins = pins, .pin_count = 9},
        {.name = "c",
         .type = "apb_trace",
         .pins = pins,
         .pin_count = 6}, /* ready at once, no error */
    };
    bench b;
    bench_init(&b, 100, BUS_SIGNALS);
    clock_all(&b);
    uint32_t at = transfer(&b, 8, true, 0x100000004, 0xcafebabe12345678, 0, false);
    at = transfer(&b, at, false, 8, 0x55, 2, false);
    at = transfer(&b, at, true, 12, 1, 0, true);
    bench_set(&b, at, SEL, 0);
    at = transfer(&b, at + 8, false, 16, 2, 1, true);
    bench_set(&b, at, ENABLE, 0);
    b.peripherals = list;
    b.peripheral_count = 3;
    bench_run(&b);
    /* Ordered by edge, then by peripheral. The clocked trace sees a transfer at the next rising
     * edge. */
    assert_int_equal(b.event_count, 12);
    expect_event(&b, 0, 0, 12, 2, 0x100000004, 0xcafebabe12345678);
    expect_event(&b, 1, 2, 12, 2, 0x100000004, 0xcafebabe12345678);
    expect_event(&b, 2, 1, 16, 2, 0x100000004, 0xcafebabe12345678);
    expect_event(&b, 3, 2, 20, 1, 8, 0);
    expect_event(&b, 4, 0, 28, 1, 8, 0x55);
    expect_event(&b, 5, 1, 32, 1, 8, 0x55);
    expect_event(&b, 6, 0, 36, 4, 12, 1);
    expect_event(&b, 7, 2, 36, 2, 12, 1);
    expect_event(&b, 8, 1, 40, 4, 12, 1);
    expect_event(&b, 9, 2, 52, 1, 16, 0);
    expect_event(&b, 10, 0, 56, 3, 16, 2);
    expect_event(&b, 11, 1, 60, 3, 16, 2);
    bench_finish(&b);
}

static void wishbone_transfers(void **state)
{
    (void)state;
    ls_pin pins[] = {PIN("cyc", SEL),
                     PIN("stb", ENABLE),
                     PIN("we", WRITE),
                     WIDE("adr", ADDRESS, 40, false),
                     WIDE("dat_w", WDATA, 64, false),
                     WIDE("dat_r", RDATA, 64, false),
                     PIN("ack", READY),
                     PIN("err", ERROR),
                     PIN("clk", CLOCK)};
    ls_peripheral list[] = {
        {.name = "a", .type = "wishbone_trace", .pins = pins, .pin_count = 8},
        {.name = "b", .type = "wishbone_trace", .pins = pins, .pin_count = 9},
    };
    bench b;
    bench_init(&b, 60, BUS_SIGNALS);
    clock_all(&b);
    bench_set(&b, 4, SEL, 1);
    bench_set(&b, 4, ENABLE, 1);
    bench_set(&b, 4, ADDRESS, 0x1000);
    bench_set(&b, 4, WDATA, 1);
    bench_set(&b, 4, WRITE, 1);
    bench_set(&b, 8, READY, 1); /* three clocks: two writes and a read, one after the other */
    bench_set(&b, 12, WDATA, 2);
    bench_set(&b, 16, WRITE, 0);
    bench_set(&b, 16, RDATA, 0x123456789abcdef0);
    bench_set(&b, 20, READY, 0);
    bench_set(&b, 24, ERROR, 1);
    bench_set(&b, 28, SEL, 0);
    b.peripherals = list;
    b.peripheral_count = 2;
    bench_run(&b);
    assert_int_equal(b.event_count, 6);
    expect_event(&b, 0, 0, 8, 2, 0x1000, 1);
    expect_event(&b, 1, 1, 12, 2, 0x1000, 1);
    expect_event(&b, 2, 1, 16, 2, 0x1000, 2);
    expect_event(&b, 3, 1, 20, 1, 0x1000, 0x123456789abcdef0);
    expect_event(&b, 4, 0, 24, 3, 0x1000, 0x123456789abcdef0);
    expect_event(&b, 5, 1, 28, 3, 0x1000, 0x123456789abcdef0);
    bench_finish(&b);
}

/* A clock of AHB: what stands on the bus in it. */
typedef struct ahb_clock {
    uint64_t trans, write, address, wdata, rdata, ready, resp, sel, burst;
} ahb_clock;

enum { IDLE, BUSY, NONSEQ, SEQ };

static void ahb_transfers(void **state)
{
    enum { HCLK, TRANS, HWRITE, ADDR, HWDATA, HRDATA, HREADY, RESP, HSEL, BURST, SIGNALS };
    static const ahb_clock clocks[] = {
        {IDLE, 0, 0, 0, 0, 1, 0, 1, 0},
        {NONSEQ, 1, 0x100000100, 0, 0, 1, 0, 1, 0}, /* its data phase has a wait state */
        {NONSEQ, 0, 0x204, 0xaa, 0, 0, 0, 1, 0},
        {NONSEQ, 0, 0x204, 0xaa, 0, 1, 0, 1, 0},
        {IDLE, 1, 0x999, 0, 0xbb000000bb, 1, 0, 1, 0},
        {NONSEQ, 0, 0x300, 0, 0, 1, 0, 1, 3}, /* INCR4, BUSY before the third, which fails */
        {SEQ, 0, 0x304, 0, 1, 1, 0, 1, 3},
        {BUSY, 0, 0x308, 0, 2, 1, 0, 1, 3},
        {SEQ, 0, 0x308, 0, 0, 1, 0, 1, 3},
        {NONSEQ, 1, 0x400, 0, 3, 0, 1, 1, 0}, /* taken back */
        {IDLE, 0, 0, 0, 3, 1, 1, 1, 0},
        {NONSEQ, 1, 0x500, 0, 0, 1, 0, 0, 0}, /* of another subordinate */
        {IDLE, 0, 0, 0x55, 0, 1, 0, 1, 0},
        {NONSEQ, 1, 0x600, 0, 0, 1, 0, 1, 0},
        {IDLE, 0, 0, 0x66, 0, 0, 1, 1, 0},
        {IDLE, 0, 0, 0x66, 0, 1, 1, 1, 0},
        {IDLE, 0, 0, 0, 0, 1, 0, 1, 0},
    };
    (void)state;
    ls_pin pins[] = {PIN("hclk", HCLK),
                     WIDE("htrans", TRANS, 2, false),
                     PIN("hwrite", HWRITE),
                     WIDE("haddr", ADDR, 40, false),
                     WIDE("hwdata", HWDATA, 64, false),
                     WIDE("hrdata", HRDATA, 64, false),
                     PIN("hready", HREADY),
                     PIN("hresp", RESP),
                     PIN("hsel", HSEL),
                     WIDE("hburst", BURST, 3, false)};
    ls_peripheral list[] = {
        {.name = "a", .type = "ahb_trace", .pins = pins, .pin_count = COUNT(pins)},
        /* every transfer on the bus, without errors and bursts */
        {.name = "b", .type = "ahb_trace", .pins = pins, .pin_count = 7},
    };
    bench b;
    bench_init(&b, 4 * COUNT(clocks) + 4, SIGNALS);
    for (uint32_t e = 0; e < b.edges; e += 2)
        bench_set(&b, e, HCLK, e % 4 == 0);
    for (uint32_t i = 0; i < COUNT(clocks); i++) {
        const ahb_clock *c = &clocks[i];
        const uint64_t values[] = {c->trans, c->write, c->address, c->wdata, c->rdata,
                                   c->ready, c->resp,  c->sel,     c->burst};
        for (uint32_t k = 0; k < COUNT(values); k++)
            bench_set(&b, 4 * i, TRANS + k, values[k]);
    }
    b.peripherals = list;
    b.peripheral_count = 2;
    bench_run(&b);
    assert_int_equal(b.event_count, 13);
    expect_event(&b, 0, 0, 16, 2, 0x100000100, 0xaa);
    expect_event(&b, 1, 1, 16, 2, 0x100000100, 0xaa);
    expect_event(&b, 2, 0, 20, 1, 0x204, 0xbb000000bb);
    expect_event(&b, 3, 1, 20, 1, 0x204, 0xbb000000bb);
    expect_event(&b, 4, 0, 28, 1 + 8 * 3, 0x300, 1);
    expect_event(&b, 5, 1, 28, 1, 0x300, 1);
    expect_event(&b, 6, 0, 32, 1 + 8 * 3, 0x304, 2);
    expect_event(&b, 7, 1, 32, 1, 0x304, 2);
    expect_event(&b, 8, 0, 44, 3 + 8 * 3, 0x308, 3);
    expect_event(&b, 9, 1, 44, 1, 0x308, 3);
    expect_event(&b, 10, 1, 52, 2, 0x500, 0x55);
    expect_event(&b, 11, 0, 64, 4, 0x600, 0x66);
    expect_event(&b, 12, 1, 64, 2, 0x600, 0x66);
    bench_finish(&b);
}

/* --- random ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void random_is_as_described(void **state)
{
    enum { A, B, C, SIGNALS };
    const uint64_t g = 0x9e3779b97f4a7c15, seed = 42;
    (void)state;
    ls_pin pins[] = {DRIVEN("p0", A), WIDE("p3", B, 64, true), WIDE("p15", C, 20, true)};
    ls_peripheral_parameter parameters[] = {{"seed", seed}, {"period", 3}, {"phase", 7}};
    ls_peripheral source = {.name = "noise",
                            .type = "random",
                            .pins = pins,
                            .pin_count = 3,
                            .parameters = parameters,
                            .parameter_count = 3};
    bench b;
    bench_init(&b, 60, SIGNALS);
    b.peripherals = &source;
    b.peripheral_count = 1;
    b.instances = 5;
    bench_run(&b);
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t e = 0; e < 60; e++) {
            uint64_t draw = e < 8 ? 0 : (e - 8) / 3;
            uint64_t base = mix(mix(seed + (i + 1) * g) + (draw + 1) * g);
            uint64_t on = e < 8 ? 0 : UINT64_MAX;
            assert_int_equal(bench_at(&b, i, e, A), mix(base + 1 * g) & 1 & on);
            assert_int_equal(bench_at(&b, i, e, B), mix(base + 4 * g) & on);
            assert_int_equal(bench_at(&b, i, e, C), mix(base + 16 * g) & 0xfffff & on);
        }
    }
    /* 64 bits of 5 instances and 17 draws: about half are ones. */
    uint32_t ones = 0;
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t e = 8; e < 59; e += 3)
            ones += (uint32_t)__builtin_popcountll(bench_at(&b, i, e, B));
    assert_in_range(ones, 5 * 17 * 32 - 200, 5 * 17 * 32 + 200);
    bench_finish(&b);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpio_sets_and_watches), cmocka_unit_test(jtag_replays),
        cmocka_unit_test(apb_transfers),         cmocka_unit_test(wishbone_transfers),
        cmocka_unit_test(ahb_transfers),         cmocka_unit_test(random_is_as_described),
    };
    return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, run);
}
