/* SPDX-License-Identifier: Apache-2.0 */
/* The two directions of a UART: bauds, frames, glitches, errors, a queue on a busy line. */
#include "bench.h"

enum { LINE, SIGNALS };

/* Puts a frame on the line; answers the edge after it. `bits` are all, the start bit lowest. */
static uint32_t send_bits(bench *b, uint32_t edge, uint32_t bit_edges, uint32_t bits,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bench_set(b, edge + i * bit_edges, LINE, bits >> i & 1);
    return edge + count * bit_edges;
}

static uint32_t send_byte(bench *b, uint32_t edge, uint32_t bit_edges, uint32_t byte)
{
    return send_bits(b, edge, bit_edges, byte << 1 | 1u << 9, 10);
}

static void expect_event(const bench *b, uint32_t index, uint64_t edge, uint32_t kind, uint64_t a)
{
    assert_true(index < b->event_count);
    assert_int_equal(b->events[index].edge, edge);
    assert_int_equal(b->events[index].kind, kind);
    assert_int_equal(b->events[index].a, a);
}

static const ls_pin tx_pins[] = {PIN("tx", LINE)};
static const ls_pin rx_pins[] = {DRIVEN("rx", LINE)};

static void listen(bench *b, const ls_peripheral_parameter *parameters, uint32_t count)
{
    ls_peripheral uart = {.name = "console",
                          .type = "uart_tx",
                          .pins = tx_pins,
                          .pin_count = 1,
                          .parameters = parameters,
                          .parameter_count = count};
    b->peripherals = &uart;
    b->peripheral_count = 1;
    bench_run(b);
    b->peripherals = NULL;
}

/* A byte is reported at the middle of its stop bit: half a bit and nine bits after the fall. */
static void bytes_at_any_baud(void **state)
{
    static const uint32_t bauds[] = {1, 2, 4, 6, 7, 16, 217};
    (void)state;
    for (uint32_t i = 0; i < COUNT(bauds); i++) {
        if (bench_effort() > 0 && bauds[i] % 2 == 0)
            continue;
        uint32_t bit = bauds[i], edge = 5, starts[4];
        static const uint8_t bytes[] = {0x55, 0x00, 0xff, 0x9c};
        bench b;
        bench_init(&b, 60 + 50 * bit, SIGNALS);
        bench_set(&b, 0, LINE, 1);
        for (uint32_t j = 0; j < 4; j++) {
            starts[j] = edge;
            edge = send_byte(&b, edge, bit, bytes[j]);
            /* At one edge a bit, falling edges need to be found between frames: one thing an edge.
             */
            edge += bit == 1 ? 2 : 0;
        }
        listen(&b, (ls_peripheral_parameter[]){{"bit_edges", bit}}, 1);
        if (bit > 1) {
            assert_int_equal(b.event_count, 4);
            for (uint32_t j = 0; j < 4; j++)
                expect_event(&b, j, starts[j] + 9 * bit + bit / 2, 1, bytes[j]);
        }
        bench_finish(&b);
    }
}

static void glitches_are_no_start(void **state)
{
    bench b;
    (void)state;
    bench_init(&b, 500, SIGNALS);
    bench_set(&b, 0, LINE, 1);
    bench_set(&b, 10, LINE, 0); /* shorter than half a bit of 16 */
    bench_set(&b, 17, LINE, 1);
    send_byte(&b, 40, 16, 'x');
    listen(&b, (ls_peripheral_parameter[]){{"bit_edges", 16}}, 1);
    assert_int_equal(b.event_count, 1);
    expect_event(&b, 0, 40 + 9 * 16 + 8, 1, 'x');
    bench_finish(&b);

    /* Half a bit long, it is one: the line is low again where bits are sampled or not. */
    bench_init(&b, 500, SIGNALS);
    bench_set(&b, 0, LINE, 1);
    bench_set(&b, 10, LINE, 0);
    bench_set(&b, 19, LINE, 1);
    listen(&b, (ls_peripheral_parameter[]){{"bit_edges", 16}}, 1);
    assert_int_equal(b.event_count, 1);
    expect_event(&b, 0, 10 + 9 * 16 + 8, 1, 0xff);
    bench_finish(&b);
}

static void framing_errors_are_reported(void **state)
{
    bench b;
    (void)state;
    bench_init(&b, 800, SIGNALS);
    bench_set(&b, 0, LINE, 1);
    send_bits(&b, 10, 16, 0xa5 << 1, 11); /* no stop bit */
    bench_set(&b, 10 + 11 * 16, LINE, 1);
    send_byte(&b, 300, 16, 0x5a);
    listen(&b, (ls_peripheral_parameter[]){{"bit_edges", 16}}, 1);
    assert_int_equal(b.event_count, 2);
    expect_event(&b, 0, 10 + 9 * 16 + 8, 2, 0xa5);
    expect_event(&b, 1, 300 + 9 * 16 + 8, 1, 0x5a);
    bench_finish(&b);
}

static void frames_with_parity_and_two_stop_bits(void **state)
{
    ls_peripheral_parameter odd[] = {
        {"bit_edges", 8}, {"data_bits", 7}, {"parity", 1}, {"stop_bits", 2}};
    ls_peripheral_parameter even[] = {{"bit_edges", 8}, {"data_bits", 9}, {"parity", 2}};
    bench b;
    (void)state;
    bench_init(&b, 800, SIGNALS);
    bench_set(&b, 0, LINE, 1);
    /* 7 bits with three ones: odd parity bit 0. Then with 1: an error. Then the second stop bit
     * low. */
    send_bits(&b, 8, 8, 0x15 << 1 | 0 << 8 | 3 << 9, 11);
    send_bits(&b, 108, 8, 0x15 << 1 | 1 << 8 | 3 << 9, 11);
    send_bits(&b, 208, 8, 0x15 << 1 | 0 << 8 | 1 << 9, 11);
    bench_set(&b, 208 + 11 * 8, LINE, 1);
    listen(&b, odd, COUNT(odd));
    assert_int_equal(b.event_count, 3);
    expect_event(&b, 0, 8 + 10 * 8 + 4, 1, 0x15);
    expect_event(&b, 1, 108 + 10 * 8 + 4, 3, 0x15);
    expect_event(&b, 2, 208 + 10 * 8 + 4, 2, 0x15);
    bench_finish(&b);

    bench_init(&b, 400, SIGNALS);
    bench_set(&b, 0, LINE, 1);
    send_bits(&b, 8, 8, 0x101 << 1 | 0 << 10 | 1 << 11, 12);
    send_bits(&b, 208, 8, 0x101 << 1 | 1 << 10 | 1 << 11, 12);
    listen(&b, even, COUNT(even));
    assert_int_equal(b.event_count, 2);
    expect_event(&b, 0, 8 + 11 * 8 + 4, 1, 0x101);
    expect_event(&b, 1, 208 + 11 * 8 + 4, 3, 0x101);
    bench_finish(&b);
}

/* --- host to design --------------------------------------------------------------------------- */

/* Writes an entry of the ring at its place. */
static void queue_entry(uint32_t *memory, uint32_t capacity, uint64_t edge, uint64_t value)
{
    uint32_t *entry = memory + 8 + 4 * (memory[0] & (capacity - 1));
    entry[0] = (uint32_t)edge;
    entry[1] = (uint32_t)(edge >> 32);
    entry[2] = (uint32_t)value;
    entry[3] = (uint32_t)(value >> 32);
    memory[0]++;
}

static void patch_two(uint32_t instance, uint32_t *memory)
{
    queue_entry(memory, 4, 0, '3' + instance);
    queue_entry(memory, 4, 0, '4');
}

/* Five bytes through a ring of four entries: two at once, one held until its edge, two queued by
 * the host while the line is busy. What was sent is read back by uart_tx. */
static void bytes_queue_on_a_busy_line(void **state)
{
    enum { BIT = 6, WORDS = 8 + 4 * 4 };
    uint32_t memory[WORDS] = {0};
    (void)state;
    queue_entry(memory, 4, 0, 0x131); /* cut to 8 bits */
    queue_entry(memory, 4, 0, 0x32);
    queue_entry(memory, 4, 500, 'z');
    ls_peripheral_parameter parameters[] = {{"bit_edges", BIT}, {"queue", 4}};
    ls_peripheral list[] = {{.name = "keyboard",
                             .type = "uart_rx",
                             .pins = rx_pins,
                             .pin_count = 1,
                             .parameters = parameters,
                             .parameter_count = 2,
                             .memory_words = WORDS,
                             .memory_init = memory},
                            {.name = "console",
                             .type = "uart_tx",
                             .pins = tx_pins,
                             .pin_count = 1,
                             .parameters = parameters,
                             .parameter_count = 1}};
    bench b;
    bench_init(&b, 800, SIGNALS);
    b.peripherals = list;
    b.peripheral_count = 2;
    b.instances = 3;
    b.patch_edge = 90;
    b.patch = patch_two;
    bench_run(&b);
    /* Each byte: begun at `edge`, on the line from the next edge on, read 9.5 bits later. */
    static const uint64_t begun[] = {0, 60, 500, 560, 620};
    assert_int_equal(b.event_count, 30);
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t bytes[] = {'1', '2', 'z', (uint8_t)('3' + i), '4'};
        assert_int_equal(bench_at(&b, i, 0, LINE), 1);
        assert_int_equal(bench_at(&b, i, 1, LINE), 0);
        uint32_t sent = 0, heard = 0;
        for (uint32_t j = 0; j < 10; j++) {
            const ls_cosim_event *e = &b.events[i * 10 + j];
            uint32_t *count = e->source == 0 ? &sent : &heard;
            assert_int_equal(e->instance, i);
            assert_int_equal(e->kind, 1);
            assert_int_equal(e->a, bytes[*count]);
            assert_int_equal(e->edge, begun[*count] + (e->source ? 1 + 9 * BIT + BIT / 2 : 0));
            ++*count;
        }
        assert_int_equal(sent, 5);
        assert_int_equal(heard, 5);
    }
    bench_finish(&b);
}

/* Every frame format, sent and heard; the gap is kept. */
static void both_directions_agree(void **state)
{
    (void)state;
    for (uint32_t bits = 5; bits <= 9; bits++) {
        for (uint32_t parity = 0; parity < 3; parity++) {
            if (bench_effort() > 0 && bits != 5 + 2 * parity)
                continue;
            uint32_t memory[8 + 4 * 8] = {0}, stops = 1 + (bits + parity) % 2;
            ls_peripheral_parameter parameters[] = {{"bit_edges", 5},   {"data_bits", bits},
                                                    {"parity", parity}, {"stop_bits", stops},
                                                    {"gap_edges", 3},   {"queue", 8}};
            for (uint32_t i = 0; i < 5; i++)
                queue_entry(memory, 8, 0, i * 0x6b + 3);
            ls_peripheral list[] = {{.name = "keyboard",
                                     .type = "uart_rx",
                                     .pins = rx_pins,
                                     .pin_count = 1,
                                     .parameters = parameters,
                                     .parameter_count = 6,
                                     .memory_words = COUNT(memory),
                                     .memory_init = memory},
                                    {.name = "console",
                                     .type = "uart_tx",
                                     .pins = tx_pins,
                                     .pin_count = 1,
                                     .parameters = parameters,
                                     .parameter_count = 4}};
            bench b;
            bench_init(&b, 400, SIGNALS);
            b.peripherals = list;
            b.peripheral_count = 2;
            bench_run(&b);
            uint32_t heard = 0;
            uint64_t frame = 5 * (1 + bits + (parity != 0) + stops) + 3;
            for (uint32_t i = 0; i < b.event_count; i++) {
                const ls_cosim_event *e = &b.events[i];
                assert_int_equal(e->kind, 1);
                if (e->source == 1) {
                    assert_int_equal(e->a, (heard * 0x6b + 3) & ((1u << bits) - 1));
                    heard++;
                } else {
                    assert_int_equal(e->edge % frame, 0);
                }
            }
            assert_int_equal(heard, 5);
            bench_finish(&b);
        }
    }
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_at_any_baud),
        cmocka_unit_test(glitches_are_no_start),
        cmocka_unit_test(framing_errors_are_reported),
        cmocka_unit_test(frames_with_parity_and_two_stop_bits),
        cmocka_unit_test(bytes_queue_on_a_busy_line),
        cmocka_unit_test(both_directions_agree),
    };
    return cmocka_run_group_tests_name("uart", tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, run);
}
