/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a co-simulation (docs/cosim.md, docs/cosim-config.schema.json): untrusted
 * JSON into structs. Names of signals, files and types are texts here; what they stand for is found
 * out later. A `place` is where something stands in the file, for messages: ".uarts[1]".
 */
#ifndef LS_TESTBENCH_CONFIG_H
#define LS_TESTBENCH_CONFIG_H

#include "lockstep/base.h"

/* A signal: by name, or by the number that `port_mapping` gives to an input or output. */
typedef struct ls__config_pin {
    const char *signal; /* NULL: not by name */
    int64_t gpio;       /* -1: not by number; both: not connected */
} ls__config_pin;

typedef struct ls__config_map {
    uint32_t gpio;
    const char *port;
} ls__config_map;

typedef struct ls__config_constant {
    const char *place;
    ls__config_pin pin;
    uint64_t value;
} ls__config_constant;

typedef struct ls__config_clock {
    const char *name, *place;
    ls__config_pin pin;
    uint64_t period_ps, phase_ps, high_ps; /* high 0: half */
    uint64_t jitter_ps;
} ls__config_clock;

typedef struct ls__config_flash {
    const char *name, *place;
    ls__config_pin clk, csn, d0; /* d0: with a number, d1 to d3 follow, out and in */
    const char *d[4], *q[4];     /* by name: from and to the design; NULL = not connected */
    const char *firmware;        /* file; NULL = none */
    uint64_t firmware_offset, size_bytes, quad_write_cmd, read_dummy_cycles;
    bool writable, report;
    bool has_enter_qpi_cmd;
    uint64_t enter_qpi_cmd, pages;
} ls__config_flash;

typedef struct ls__config_uart {
    const char *name, *place;
    ls__config_pin tx, rx;   /* tx: from the design */
    uint64_t baud_rate;      /* 0: not given */
    uint64_t cycles_per_bit; /* 0: from the baud rate */
    uint64_t data_bits, stop_bits, parity;
} ls__config_uart;

typedef struct ls__config_gpio {
    const char *name;
    ls__config_pin *pins, *watched; /* to the design; from it; the first is the lowest bit */
    uint32_t pin_count, watched_count;
} ls__config_gpio;

typedef struct ls__config_jtag {
    bool is_given;
    ls__config_pin tck, tms, tdi, trst, tdo;
    bool trst_active_low;
    const char *replay;  /* file; NULL = none */
    uint64_t hold_edges; /* 0: the default */
} ls__config_jtag;

/* A pin of a bus or a peripheral: a signal or, with `signal` NULL, a constant. */
typedef struct ls__config_wire {
    const char *pin;
    const char *signal;
    uint64_t constant;
} ls__config_wire;

typedef struct ls__config_bus {
    const char *name, *protocol, *prefix;
    uint64_t addr_bits, data_bits;
    ls__config_wire *wires; /* that are not named PREFIX + pin */
    uint32_t wire_count;
} ls__config_bus;

typedef struct ls__config_parameter {
    const char *name;
    uint64_t value;
} ls__config_parameter;

typedef struct ls__config_event {
    uint32_t kind;
    const char *name;
} ls__config_event;

typedef struct ls__config_peripheral {
    const char *name, *type, *source, *image; /* source NULL: built in */
    ls__config_wire *pins;
    ls__config_parameter *parameters;
    ls__config_event *events;
    uint32_t pin_count, parameter_count, event_count;
    uint64_t memory_words;
} ls__config_peripheral;

typedef struct ls__config_memory {
    const char *name, *file, *format; /* hex, bits, raw, elf; NULL: by the file's name */
    uint64_t address, stride_bytes;   /* ls_image_params */
} ls__config_memory;

typedef struct ls__config_register {
    const char *name;
    uint64_t value;
} ls__config_register;

typedef struct ls__config {
    const char *netlist_path, *top;
    ls__config_pin clock, reset;
    bool reset_active_high, stop_on_assert;
    uint64_t reset_cycles, num_cycles, clock_period_ps; /* 0: not given */
    ls__config_map *inputs, *outputs;
    uint32_t input_count, output_count;
    ls__config_constant *constants;
    uint32_t constant_count;
    ls__config_clock *clocks;
    uint32_t clock_count;
    ls__config_flash *flashes;
    uint32_t flash_count;
    ls__config_uart *uarts;
    uint32_t uart_count;
    ls__config_gpio *gpios;
    uint32_t gpio_count;
    ls__config_jtag jtag;
    ls__config_bus *buses;
    uint32_t bus_count;
    ls__config_peripheral *peripherals;
    uint32_t peripheral_count;
    ls__config_memory *memories;
    uint32_t memory_count;
    ls__config_register *registers;
    uint32_t register_count;
    const char *sram_elf; /* of the only memory; NULL = none */
    const char *output_events, *events_reference, *input_commands;
} ls__config;

typedef struct ls__config_file ls__config_file; /* a config and what it points to */

/* `name` is the file's, for messages. `warn` (may be NULL) hears of unknown keys. Errors are
 * LS_E_FORMAT and name the place, ".uarts[1].baud_rate". */
ls_status ls__config_read(const char *text, size_t length, const char *name,
                          void (*warn)(void *context, const char *message), void *context,
                          ls__config_file **file, ls_error *error);
const ls__config *ls__config_of(const ls__config_file *file);
/* Calls `visit` for every file that the configuration has read, by the name it has there. */
void ls__config_visit_files(const ls__config *config,
                            void (*visit)(void *context, const char *name), void *context);
void ls__config_destroy(ls__config_file **file); /* accepts NULL, writes NULL */

#endif
