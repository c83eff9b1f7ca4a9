/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flash and PSRAM: every command on one and four lanes, transfers that break off, addresses that
 * wrap, two memories on one bus. A master writes the patterns beforehand and notes what it reads
 * and when: at a rising clock, from the edge before.
 */
#include "bench.h"

enum { CLK, CSN, OTHER_CSN, D0, Q0 = D0 + 4, SIGNALS = Q0 + 4 };

enum { HALF = 2, MAX_READS = 512 };

typedef struct master {
    bench b;
    uint32_t edge, select;
    bool quad;
    struct {
        uint32_t edges[8], count;
        uint8_t expected;
    } reads[MAX_READS];
    uint32_t read_count;
} master;

static master m; /* large; one test at a time */

static void begin(uint32_t edges)
{
    memset(&m, 0, sizeof m);
    bench_init(&m.b, edges, SIGNALS);
    bench_set(&m.b, 0, CSN, 1);
    bench_set(&m.b, 0, OTHER_CSN, 1);
    m.edge = 4;
}

static void data(uint32_t nibble)
{
    for (uint32_t i = 0; i < 4; i++)
        bench_set(&m.b, m.edge, D0 + i, nibble >> i & 1);
}

static void start(uint32_t select)
{
    m.select = select;
    bench_set(&m.b, m.edge, select, 0);
    m.edge += HALF;
}

static void stop(void)
{
    m.edge += HALF;
    bench_set(&m.b, m.edge, m.select, 1);
    m.edge += HALF;
    assert_true(m.edge < m.b.edges);
}

/* One clock; answers the edge at which the master looks at what the memory sends. */
static uint32_t pulse(void)
{
    m.edge += HALF;
    bench_set(&m.b, m.edge, CLK, 1);
    uint32_t seen = m.edge - 1;
    m.edge += HALF;
    bench_set(&m.b, m.edge, CLK, 0);
    return seen;
}

static void put(uint32_t byte)
{
    for (uint32_t i = 0; i < 8; i += m.quad ? 4 : 1) {
        data(m.quad ? byte >> (4 - i) & 15 : byte >> (7 - i) & 1);
        pulse();
    }
}

static void put_address(uint32_t address)
{
    put(address >> 16 & 255);
    put(address >> 8 & 255);
    put(address & 255);
}

/* Reads a byte that must be `expected`. */
static void get(uint8_t expected)
{
    assert_true(m.read_count < MAX_READS);
    for (uint32_t i = 0; i < (m.quad ? 2 : 8); i++)
        m.reads[m.read_count].edges[i] = pulse();
    m.reads[m.read_count].count = m.quad ? 2 : 8;
    m.reads[m.read_count++].expected = expected;
}

static uint32_t lanes(uint32_t edge)
{
    uint32_t nibble = 0;
    for (uint32_t i = 0; i < 4; i++)
        nibble |= (uint32_t)bench_at(&m.b, 0, edge, Q0 + i) << i;
    return nibble;
}

static void check_reads(void)
{
    for (uint32_t i = 0; i < m.read_count; i++) {
        uint32_t byte = 0;
        for (uint32_t j = 0; j < m.reads[i].count; j++) {
            uint32_t nibble = lanes(m.reads[i].edges[j]);
            if (m.reads[i].count == 8)
                assert_int_equal(nibble & 13, 0); /* on one lane the others are 0 */
            byte = m.reads[i].count == 2 ? byte << 4 | nibble : byte << 1 | (nibble >> 1 & 1);
        }
        if (byte != m.reads[i].expected)
            fail_msg("read %u: %02x instead of %02x", i, byte, m.reads[i].expected);
    }
}

#define FLASH_PINS(csn_)                                                                           \
    {                                                                                              \
        PIN("clk", CLK), PIN("csn", csn_), PIN("d0", D0), PIN("d1", D0 + 1), PIN("d2", D0 + 2),    \
            PIN("d3", D0 + 3), DRIVEN("q0", Q0), DRIVEN("q1", Q0 + 1), DRIVEN("q2", Q0 + 2),       \
            DRIVEN("q3", Q0 + 3)                                                                   \
    }
static const ls_pin flash_pins[] = FLASH_PINS(CSN);
static const ls_pin other_pins[] = FLASH_PINS(OTHER_CSN);

static ls_peripheral memory_of(const char *name, const ls_pin *pins, const uint8_t *image,
                               uint64_t image_bytes, const ls_peripheral_parameter *parameters,
                               uint32_t parameter_count)
{
    return (ls_peripheral){.name = name,
                           .type = "spi_flash",
                           .pins = pins,
                           .pin_count = 10,
                           .parameters = parameters,
                           .parameter_count = parameter_count,
                           .image = image,
                           .image_bytes = image_bytes};
}

static void run_one(const uint8_t *image, uint64_t image_bytes,
                    const ls_peripheral_parameter *parameters, uint32_t parameter_count)
{
    ls_peripheral flash =
        memory_of("flash", flash_pins, image, image_bytes, parameters, parameter_count);
    m.b.peripherals = &flash;
    m.b.peripheral_count = 1;
    bench_run(&m.b);
    m.b.peripherals = NULL;
    check_reads();
}

static void expect_event(uint32_t index, uint32_t kind, uint64_t a, uint64_t b)
{
    assert_true(index < m.b.event_count);
    assert_int_equal(m.b.events[index].kind, kind);
    assert_int_equal(m.b.events[index].a, a);
    assert_int_equal(m.b.events[index].b, b);
}

static const uint8_t image[] = {0x11, 0x22, 0x93, 0x44, 0xf5, 0x66};

static void command(uint32_t select, uint32_t byte)
{
    start(select);
    put(byte);
    stop();
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Flash, native: reads of all kinds, the accepted commands, one that is not known. */
static void flash_reads(void **state)
{
    static const uint8_t accepted[] = {0xab, 0xff, 0x35, 0x31, 0x50, 0x05,
                                       0x01, 0x06, 0x04, 0x66, 0x99, 0xb9};
    (void)state;
    begin(6000);
    for (uint32_t i = 0; i < COUNT(accepted); i++)
        command(CSN, accepted[i]);
    command(CSN, 0xf5); /* nothing to leave: not known */
    start(CSN);
    put(0x03);
    put_address(0x001001);
    get(0x22);
    get(0x93);
    get(0x44);
    stop();
    start(CSN);
    put(0x0b);
    put_address(0x001002);
    put(0xa5); /* dummy */
    get(0x93);
    get(0x44);
    stop();
    start(CSN);
    put(0xeb);
    m.quad = true;
    put_address(0x001000);
    put(0xff);
    put(0);
    put(0);
    get(0x11);
    get(0x22);
    get(0x93);
    stop();
    m.quad = false;
    start(CSN);
    put(0x9f);
    for (uint32_t i = 0; i < 6; i++)
        get((const uint8_t[]){0xca, 0x7c, 0xa7, 0xff}[i % 4]);
    stop();
    start(CSN);
    put(0x9e);
    get(0);
    stop();
    /* Before, after and far behind the image; beyond the memory. */
    start(CSN);
    put(0x03);
    put_address(0x000fff);
    get(0xff);
    get(0x11);
    stop();
    start(CSN);
    put(0x03);
    put_address(0x001005);
    get(0x66);
    get(0xff);
    stop();
    ls_peripheral_parameter parameters[] = {{"firmware_offset", 0x1000}, {"report", 1}};
    run_one(image, sizeof image, parameters, 2);

    assert_int_equal(lanes(0), 15);
    uint32_t n = 0;
    for (uint32_t i = 0; i < COUNT(accepted); i++)
        expect_event(n++, 3, accepted[i], 0);
    expect_event(n++, 1, 0xf5, 0);
    expect_event(n++, 3, 0xf5, 0);
    expect_event(n++, 3, 0x03 | 0x1001 << 8, 6);
    expect_event(n++, 3, 0x0b | 0x1002 << 8, 6);
    expect_event(n++, 3, 0xeb | 0x1000 << 8, 9);
    expect_event(n++, 3, 0x9f, 6);
    expect_event(n++, 1, 0x9e, 0);
    expect_event(n++, 3, 0x9e, 1);
    assert_int_equal(m.b.event_count, n + 2);
    assert_int_equal(m.b.memory[9], 0x9e);
    bench_finish(&m.b);
}

/* Addresses go on at 0 after the last one of 24 bits; a small memory ends. */
static void addresses_wrap(void **state)
{
    (void)state;
    ls_peripheral_parameter at_the_end[] = {{"firmware_offset", 0xfffffe}};
    begin(1000);
    start(CSN);
    put(0x03);
    put_address(0xfffffd);
    get(0xff);
    get(0x11);
    get(0x22);
    get(0xff); /* what lies beyond the end of the memory is nowhere */
    stop();
    run_one(image, sizeof image, at_the_end, 1);
    bench_finish(&m.b);

    ls_peripheral_parameter small[] = {{"size_bytes", 3}};
    begin(2000);
    start(CSN);
    put(0x03);
    put_address(0xfffffe);
    get(0xff);
    get(0xff);
    get(0x11);
    get(0x22);
    get(0x93);
    get(0xff);
    stop();
    run_one(image, sizeof image, small, 1);
    bench_finish(&m.b);
}

/* A transfer that ends in the middle of a byte or an address leaves nothing behind; the lines keep
 * what was sent last. */
static void transfers_break_off(void **state)
{
    (void)state;
    begin(3000);
    start(CSN);
    put(0x03);
    put_address(0);
    get(0x11);
    data(1);
    pulse();
    pulse();
    stop();
    uint32_t between = m.edge;
    m.edge += 20;
    start(CSN);
    put(0xeb);
    m.quad = true;
    put(0x12);
    data(15);
    pulse();
    stop();
    m.quad = false;
    start(CSN);
    data(0);
    pulse();
    pulse();
    pulse();
    stop();
    /* Clocks while nothing is selected. */
    for (uint32_t i = 0; i < 11; i++)
        pulse();
    /* A clock that rises together with the fall of csn does not count. */
    bench_set(&m.b, m.edge, CSN, 0);
    bench_set(&m.b, m.edge, CLK, 1);
    m.edge += HALF;
    bench_set(&m.b, m.edge, CLK, 0);
    m.select = CSN;
    put(0x03);
    put_address(1);
    get(0x22);
    stop();
    run_one(image, sizeof image, NULL, 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(lanes(between + i), lanes(between));
    assert_int_equal(m.b.event_count, 0);
    bench_finish(&m.b);
}

/* Data that changes at the rising clock counts as before it; also with compat. */
static void data_of_before_the_edge(void **state)
{
    (void)state;
    for (uint32_t compat = 0; compat < 2; compat++) {
        begin(400);
        start(CSN);
        for (uint32_t i = 0; i < 8; i++) { /* 0x9f, inverted right at the rising edge */
            data(0x9f >> (7 - i) & 1);
            m.edge += HALF;
            bench_set(&m.b, m.edge, CLK, 1);
            data(~(0x9fu >> (7 - i)) & 1);
            m.edge += HALF;
            bench_set(&m.b, m.edge, CLK, 0);
        }
        get(0xca);
        stop();
        ls_peripheral_parameter parameters[] = {{"compat", compat}};
        run_one(NULL, 0, parameters, 1);
        assert_int_equal(m.b.event_count, 0);
        bench_finish(&m.b);
    }
}

static void psram_commands(uint32_t write_address)
{
    command(CSN, 0x35);
    m.quad = true;
    start(CSN);
    put(0x38);
    put_address(write_address);
    put(0xa5);
    put(0x5a);
    put(0x77);
    stop();
    start(CSN);
    put(0xeb);
    put_address(write_address - 1);
    put(0);
    put(0);
    put(0);
}

/* PSRAM as APS6404L is used: into QPI mode, write across a page, read back; the image lies below.
 */
static void psram_in_qpi_mode(void **state)
{
    (void)state;
    for (uint32_t compat = 0; compat < 2; compat++) {
        uint8_t code[2000];
        for (uint32_t i = 0; i < sizeof code; i++)
            code[i] = (uint8_t)(i * 7);
        begin(2000);
        psram_commands(1022);
        get((uint8_t)(1021 * 7));
        get(0xa5);
        get(0x5a);
        get(0x77);
        get((uint8_t)(1025 * 7));
        stop();
        /* Reads of one lane's kind work in this mode on four. */
        start(CSN);
        put(0x03);
        put_address(1999);
        get((uint8_t)(1999 * 7));
        get(0);
        stop();
        if (!compat) {
            command(CSN, 0xf5);
            m.quad = false;
            start(CSN);
            put(0x02);
            put_address(1024);
            put(0x99);
            stop();
            start(CSN);
            put(0x0b);
            put_address(1023);
            put(0);
            get(0x5a);
            get(0x99);
            stop();
        }
        ls_peripheral_parameter parameters[] = {
            {"writable", 1}, {"size_bytes", 1 << 20}, {"compat", compat}};
        run_one(code, sizeof code, parameters, 3);
        assert_int_equal(m.b.event_count, 0);
        assert_int_equal(m.b.memory[10], 2);
        assert_int_equal(m.b.memory_words, 16 + 1024 + 64 * 256);
        bench_finish(&m.b);
    }
}

/* Without a page left a write is lost and reported; the first page stays. */
static void psram_full(void **state)
{
    (void)state;
    begin(1000);
    psram_commands(1023);
    get(0);
    get(0xa5);
    get(0);
    get(0);
    stop();
    ls_peripheral_parameter parameters[] = {{"writable", 1}, {"size_bytes", 4096}, {"pages", 1}};
    run_one(NULL, 0, parameters, 3);
    assert_int_equal(m.b.event_count, 2);
    expect_event(0, 2, 1024, 0);
    expect_event(1, 2, 1025, 0);
    bench_finish(&m.b);
}

/* A read-only memory enters QPI mode where it is told to, but not with compat; other dummy cycles.
 */
static void read_only_in_qpi_mode(void **state)
{
    (void)state;
    for (uint32_t compat = 0; compat < 2; compat++) {
        begin(800);
        command(CSN, 0x38);
        m.quad = !compat;
        start(CSN);
        if (compat) {
            put(0x03);
            put_address(3);
            get(0x44);
        } else {
            put(0xeb);
            put_address(3);
            put(0);
            put(0);
            get(0x44);
            get(0xf5);
        }
        stop();
        ls_peripheral_parameter parameters[] = {
            {"enter_qpi_cmd", 0x38}, {"read_dummy_cycles", 4}, {"report", 1}, {"compat", compat}};
        run_one(image, sizeof image, parameters, 4);
        if (compat) {
            assert_int_equal(m.b.event_count, 3);
            expect_event(0, 1, 0x38, 0);
            /* The end of a transfer is seen an edge late. */
            assert_int_equal(m.b.events[2].edge, m.edge - HALF + 1);
        } else {
            assert_int_equal(m.b.event_count, 2);
            assert_int_equal(m.b.events[1].edge, m.edge - HALF);
        }
        bench_finish(&m.b);
    }
}

/* Two memories on one clock and the same data lines. */
static void two_on_one_bus(void **state)
{
    (void)state;
    static const uint8_t first[] = {0xa1, 0x5a}, second[] = {0xb2, 0x5a};
    begin(2000);
    for (uint32_t i = 0; i < 3; i++) {
        start(CSN);
        put(0x03);
        put_address(0);
        get(0xa1);
        get(0x5a);
        stop();
        start(OTHER_CSN);
        put(0x03);
        put_address(0);
        get(0xb2);
        get(0x5a);
        stop();
    }
    ls_peripheral list[] = {memory_of("a", flash_pins, first, 2, NULL, 0),
                            memory_of("b", other_pins, second, 2, NULL, 0)};
    m.b.peripherals = list;
    m.b.peripheral_count = 2;
    bench_run(&m.b);
    check_reads();
    bench_finish(&m.b);
}

/* An image with a part for each instance; the lines are held while the design is in reset. */
static void instances_have_their_own_bytes(void **state)
{
    (void)state;
    begin(400);
    start(CSN);
    put(0x03);
    put_address(0);
    for (uint32_t i = 0; i < 3; i++)
        get((const uint8_t[]){0x11, 0x22, 0xff}[i]);
    stop();
    ls_peripheral_parameter parameters[] = {{"instance_bytes", 2}, {"reset_edges", 100}};
    ls_peripheral flash = memory_of("flash", flash_pins, image, sizeof image, parameters, 2);
    m.b.peripherals = &flash;
    m.b.peripheral_count = 1;
    m.b.instances = 4;
    bench_run(&m.b);
    check_reads();
    for (uint32_t i = 0; i < 101; i++)
        assert_int_equal(lanes(i), 15);
    for (uint32_t instance = 0; instance < 4; instance++) {
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t byte = 0, expected = instance < 3 && i < 2 ? image[instance * 2 + i] : 0xff;
            for (uint32_t j = 0; j < 8; j++)
                byte = byte << 1 | (uint32_t)bench_at(&m.b, instance, m.reads[i].edges[j], Q0 + 1);
            assert_int_equal(byte, expected);
        }
    }
    bench_finish(&m.b);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flash_reads),
        cmocka_unit_test(psram_in_qpi_mode),
        cmocka_unit_test(two_on_one_bus),
    };
    const struct CMUnitTest more[] = {
        cmocka_unit_test(addresses_wrap),          cmocka_unit_test(transfers_break_off),
        cmocka_unit_test(data_of_before_the_edge), cmocka_unit_test(psram_full),
        cmocka_unit_test(read_only_in_qpi_mode),   cmocka_unit_test(instances_have_their_own_bytes),
    };
    int failed = cmocka_run_group_tests_name("spi_flash", tests, NULL, NULL);
    if (bench_effort() < 2)
        failed += cmocka_run_group_tests_name("spi_flash, more", more, NULL, NULL);
    return failed;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, run);
}
