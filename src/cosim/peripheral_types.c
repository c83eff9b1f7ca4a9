/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in types: pins, parameters with their defaults, memory. What they mean stands in the
 * sources, peripherals/NAME.kc.
 */
#include "cosim/peripheral_types.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define RING(entries) (8 + 4 * (entries)) /* words of a memory with queue.kc */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* --- UART ------------------------------------------------------------------------------------- */

static const ls__type_pin uart_tx_pins[] = {{"tx", false, 1, NULL}};
static const ls__type_parameter uart_tx_parameters[] = {
    {"bit_edges", 0}, {"data_bits", 8}, {"parity", 0}, {"stop_bits", 1}};

static const ls__type_pin uart_rx_pins[] = {{"rx", true, 1, NULL}};
static const ls__type_parameter uart_rx_parameters[] = {{"bit_edges", 0}, {"data_bits", 8},
                                                        {"parity", 0},    {"stop_bits", 1},
                                                        {"gap_edges", 0}, {"queue", 256}};

static const char *check_frame(const uint64_t *p)
{
    if (p[0] < 1 || p[0] > 1 << 30)
        return "bit_edges must be 1 to 2^30: clock frequency / baud rate * edges of a period";
    if (p[1] < 5 || p[1] > 9)
        return "data_bits must be 5 to 9";
    if (p[2] > 2)
        return "parity must be 0 (none), 1 (odd) or 2 (even)";
    if (p[3] < 1 || p[3] > 2)
        return "stop_bits must be 1 or 2";
    return NULL;
}

static const char *check_uart_rx(const uint64_t *p)
{
    if (p[4] > 1 << 30)
        return "gap_edges must be at most 2^30";
    if (!is_power_of_two(p[5]) || p[5] > 1 << 24)
        return "queue must be a power of two, at most 2^24";
    return check_frame(p);
}

static uint64_t uart_tx_words(const uint64_t *p)
{
    (void)p;
    return 6;
}

static uint64_t uart_rx_words(const uint64_t *p)
{
    return RING(p[5]);
}

/* --- SPI flash -------------------------------------------------------------------------------- */

static const ls__type_pin spi_flash_pins[] = {{"clk", false, 0, NULL}, {"csn", false, 1, NULL},
                                              {"d0", false, 0, NULL},  {"d1", false, 0, NULL},
                                              {"d2", false, 0, NULL},  {"d3", false, 0, NULL},
                                              {"q0", true, 1, NULL},   {"q1", true, 1, NULL},
                                              {"q2", true, 1, NULL},   {"q3", true, 1, NULL}};
static const ls__type_parameter spi_flash_parameters[] = {{"size_bytes", 1 << 24},
                                                          {"firmware_offset", 0},
                                                          {"instance_bytes", 0},
                                                          {"writable", 0},
                                                          {"pages", 64},
                                                          {"enter_qpi_cmd", 256},
                                                          {"quad_write_cmd", 0x38},
                                                          {"read_dummy_cycles", 6},
                                                          {"reset_edges", 0},
                                                          {"report", 0},
                                                          {"compat", 0}};

static const char *check_spi_flash(const uint64_t *p)
{
    if (p[0] < 1 || p[0] > 1 << 24)
        return "size_bytes must be 1 to 16777216";
    if (p[4] > 1 << 14)
        return "pages must be at most 16384, which is 16 MiB";
    if (p[5] > 256 || p[6] > 255)
        return "commands must be 0 to 255";
    if (p[7] % 2 || p[7] > 64)
        return "read_dummy_cycles must be even, at most 64";
    return NULL;
}

static uint64_t spi_flash_words(const uint64_t *p)
{
    return 16 + (p[3] ? (p[0] + 1023) / 1024 + p[4] * 256 : 0);
}

/* --- GPIO, JTAG, random ----------------------------------------------------------------------- */

#define IN(n)                                                                                      \
    {                                                                                              \
        "in" #n, false, 0, NULL                                                                    \
    }
#define OUT(n)                                                                                     \
    {                                                                                              \
        "out" #n, true, 0, NULL                                                                    \
    }
#define EIGHT(X, a, b, c, d, e, f, g, h) X(a), X(b), X(c), X(d), X(e), X(f), X(g), X(h)
#define THIRTY_TWO(X)                                                                              \
    EIGHT(X, 0, 1, 2, 3, 4, 5, 6, 7), EIGHT(X, 8, 9, 10, 11, 12, 13, 14, 15),                      \
        EIGHT(X, 16, 17, 18, 19, 20, 21, 22, 23), EIGHT(X, 24, 25, 26, 27, 28, 29, 30, 31)
static const ls__type_pin gpio_pins[] = {
    {"in", false, 0, NULL}, {"out", true, 0, NULL}, THIRTY_TWO(IN), THIRTY_TWO(OUT)};
static const ls__type_parameter gpio_parameters[] = {{"queue", 64}};

static const char *check_gpio(const uint64_t *p)
{
    return is_power_of_two(p[0]) && p[0] <= 1 << 24 ? NULL
                                                    : "queue must be a power of two, at most 2^24";
}

static uint64_t gpio_words(const uint64_t *p)
{
    return RING(p[0]);
}

static const ls__type_pin jtag_pins[] = {{"tck", true, 0, NULL},
                                         {"tms", true, 1, NULL},
                                         {"tdi", true, 0, NULL},
                                         {"trst", true, 0, "trst_active_low"},
                                         {"srst", true, 0, "srst_active_low"},
                                         {"tdo", false, 0, NULL}};
static const ls__type_parameter jtag_parameters[] = {{"hold_edges", 4},
                                                     {"start_edge", 0},
                                                     {"trst_active_low", 1},
                                                     {"srst_active_low", 1},
                                                     {"compat", 0}};

static const char *check_jtag(const uint64_t *p)
{
    if (p[0] < 2 || p[0] > 1 << 30)
        return "hold_edges must be 2 to 2^30";
    return p[2] <= 1 && p[3] <= 1 ? NULL : "trst_active_low and srst_active_low must be 0 or 1";
}

static uint64_t jtag_words(const uint64_t *p)
{
    (void)p;
    return 6;
}

#define P(n)                                                                                       \
    {                                                                                              \
        "p" #n, true, 0, NULL                                                                      \
    }
static const ls__type_pin random_pins[] = {EIGHT(P, 0, 1, 2, 3, 4, 5, 6, 7),
                                           EIGHT(P, 8, 9, 10, 11, 12, 13, 14, 15)};
static const ls__type_parameter random_parameters[] = {{"seed", 0}, {"period", 2}, {"phase", 0}};

static const char *check_random(const uint64_t *p)
{
    return p[1] >= 1 && p[1] <= 1 << 30 ? NULL : "period must be 1 to 2^30 edges";
}

static uint64_t random_words(const uint64_t *p)
{
    (void)p;
    return 3;
}

/* --- buses ------------------------------------------------------------------------------------ */

static const ls__type_pin apb_trace_pins[] = {
    {"psel", false, 0, NULL},   {"penable", false, 0, NULL}, {"pwrite", false, 0, NULL},
    {"paddr", false, 0, NULL},  {"pwdata", false, 0, NULL},  {"prdata", false, 0, NULL},
    {"pready", false, 1, NULL}, {"pslverr", false, 0, NULL}, {"pclk", false, UINT64_MAX, NULL}};
static const ls__type_pin wishbone_trace_pins[] = {
    {"cyc", false, 0, NULL}, {"stb", false, 0, NULL},   {"we", false, 0, NULL},
    {"adr", false, 0, NULL}, {"dat_w", false, 0, NULL}, {"dat_r", false, 0, NULL},
    {"ack", false, 1, NULL}, {"err", false, 0, NULL},   {"clk", false, UINT64_MAX, NULL}};

static const ls__type_pin ahb_trace_pins[] = {
    {"hclk", false, 0, NULL},   {"htrans", false, 0, NULL}, {"hwrite", false, 0, NULL},
    {"haddr", false, 0, NULL},  {"hwdata", false, 0, NULL}, {"hrdata", false, 0, NULL},
    {"hready", false, 1, NULL}, {"hsel", false, 1, NULL},   {"hresp", false, 0, NULL},
    {"hburst", false, 0, NULL}};

static uint64_t ahb_words(const uint64_t *p)
{
    (void)p;
    return 11;
}

static uint64_t trace_words(const uint64_t *p)
{
    (void)p;
    return 7;
}

#define TYPE(name, check)                                                                          \
    {                                                                                              \
#name, name##_pins, COUNT(name##_pins), name##_parameters, COUNT(name##_parameters),       \
            check, name##_words                                                                    \
    }
const ls__peripheral_type ls__peripheral_types[] = {
    TYPE(uart_tx, check_frame),
    TYPE(uart_rx, check_uart_rx),
    TYPE(spi_flash, check_spi_flash),
    TYPE(gpio, check_gpio),
    TYPE(jtag, check_jtag),
    TYPE(random, check_random),
    {"apb_trace", apb_trace_pins, COUNT(apb_trace_pins), NULL, 0, NULL, trace_words},
    {"ahb_trace", ahb_trace_pins, COUNT(ahb_trace_pins), NULL, 0, NULL, ahb_words},
    {"wishbone_trace", wishbone_trace_pins, COUNT(wishbone_trace_pins), NULL, 0, NULL, trace_words},
};
const uint32_t ls__peripheral_type_count = COUNT(ls__peripheral_types);
