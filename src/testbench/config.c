/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the configuration. The tables of keys say what is known; tests/testbench compares them
 * with the JSON schema.
 */
#include "testbench/config.h"

#include <setjmp.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/status.h"
#include "testbench/json_read.h"

#define MAX_GPIO 65535
#define MAX_TIME (UINT64_C(1) << 40)
#define MAX_COUNT (UINT64_C(1) << 50)

struct ls__config_file {
    ls__arena arena;
    ls__json_reader reader;
    json_t *root;
    ls__config config;
};

typedef ls__json_reader reader;

static const char *const top_keys[] = {"netlist_path",
                                       "liberty_path",
                                       "top",
                                       "clock",
                                       "clock_gpio",
                                       "reset",
                                       "reset_gpio",
                                       "reset_active_high",
                                       "reset_cycles",
                                       "num_cycles",
                                       "clock_period_ps",
                                       "port_mapping",
                                       "constant_inputs",
                                       "constant_ports",
                                       "clocks",
                                       "flash",
                                       "qspi_memory",
                                       "uart",
                                       "uarts",
                                       "gpios",
                                       "jtag",
                                       "bus_traces",
                                       "signal_streams",
                                       "sram_init",
                                       "reg_init",
                                       "output_events",
                                       "events_reference",
                                       "input_commands",
                                       "timing",
                                       "peripherals",
                                       "memories",
                                       "stop_on_assert",
                                       NULL};
static const char *const port_mapping_keys[] = {"inputs", "outputs", NULL};
static const char *const clock_keys[] = {
    "signal",          "gpio",    "net",       "derived_from", "divide_by", "period_ps",
    "phase_offset_ps", "high_ps", "jitter_ps", "name",         NULL};
static const char *const flash_keys[] = {"name",
                                         "clk",
                                         "csn",
                                         "clk_gpio",
                                         "csn_gpio",
                                         "d0_gpio",
                                         "d",
                                         "q",
                                         "firmware",
                                         "firmware_offset",
                                         "size_bytes",
                                         "writable",
                                         "enter_qpi_cmd",
                                         "quad_write_cmd",
                                         "read_dummy_cycles",
                                         "pages",
                                         "report",
                                         NULL};
static const char *const uart_keys[] = {
    "name",           "tx",        "rx",        "tx_gpio", "rx_gpio", "baud_rate",
    "cycles_per_bit", "data_bits", "stop_bits", "parity",  NULL};
static const char *const gpio_keys[] = {"name", "pins", "signals", "watch", NULL};
static const char *const jtag_keys[] = {"tck",
                                        "tms",
                                        "tdi",
                                        "trst",
                                        "tdo",
                                        "tck_gpio",
                                        "tms_gpio",
                                        "tdi_gpio",
                                        "trst_gpio",
                                        "tdo_gpio",
                                        "trst_active_low",
                                        "replay",
                                        "hold_edges",
                                        NULL};
static const char *const bus_keys[] = {"name",      "protocol", "prefix", "addr_bits",
                                       "data_bits", "signals",  NULL};
static const char *const peripheral_keys[] = {
    "name", "type", "source", "pins", "parameters", "image", "memory_words", "events", NULL};
static const char *const memory_keys[] = {"name",    "file",         "format",
                                          "address", "stride_bytes", NULL};
static const char *const register_keys[] = {"name", "value", "width", NULL};
static const char *const sram_keys[] = {"elf_path", NULL};

/* --- pieces ----------------------------------------------------------------------------------- */

/* Calls `read` for every element of the array, which may be missing. Elements are objects. */
#define FOR_ELEMENTS(r, array, index, element, place)                                              \
    for (size_t index = 0, place = 0, more_ = json_array_size(array);                              \
         (r)->status == LS_OK && index < more_; index++)                                           \
        if (place = ls__json_enter_at((r), index), (element) = json_array_get((array), index), 1)

static ls__config_pin no_pin(void)
{
    return (ls__config_pin){NULL, -1};
}

/* `name` by name, or `number` by its gpio. */
static ls__config_pin read_pin(reader *r, const json_t *object, const char *name,
                               const char *number)
{
    ls__config_pin pin = no_pin();
    pin.signal = ls__json_text(r, object, name);
    if (!pin.signal && ls__json_get(r, object, number, false))
        pin.gpio = (int64_t)ls__json_number(r, object, number, MAX_GPIO, 0);
    return pin;
}

static ls__config_pin need_pin(reader *r, const json_t *object, const char *name,
                               const char *number)
{
    ls__config_pin pin = read_pin(r, object, name, number);
    if (!pin.signal && pin.gpio < 0)
        ls__json_fail(r, "needs %s or %s", name, number);
    return pin;
}

static bool expect_object(reader *r, const json_t *value)
{
    if (!json_is_object(value))
        ls__json_fail(r, "must be an object");
    return r->status == LS_OK;
}

static uint64_t parse_key(reader *r, const char *key, uint64_t maximum)
{
    uint64_t number = 0;
    for (const char *c = key; *c && number <= maximum; c++)
        number = *c >= '0' && *c <= '9' ? number * 10 + (uint64_t)(*c - '0') : maximum + 1;
    if (!*key || number > maximum)
        ls__json_fail(r, "the key must be a number up to %llu", (unsigned long long)maximum);
    return number;
}

/* "name" with a default "PREFIX_index". */
static const char *read_name(reader *r, const json_t *object, const char *prefix, uint32_t index)
{
    const char *name = ls__json_text(r, object, "name");
    return name ? name : ls__arena_printf(r->arena, "%s_%u", prefix, index);
}

/* --- ports ------------------------------------------------------------------------------------ */

static ls__config_map *read_map(reader *r, const json_t *object, const char *key, uint32_t *count)
{
    const json_t *map = ls__json_object(r, object, key);
    size_t place = ls__json_enter(r, key);
    ls__config_map *items = LS__NEW_ARRAY(r->arena, ls__config_map, json_object_size(map) + 1);
    const char *gpio;
    json_t *port;
    json_object_foreach((json_t *)(uintptr_t)map, gpio, port)
    {
        size_t inner = ls__json_enter(r, gpio);
        ls__config_map *item = &items[(*count)++];
        item->gpio = (uint32_t)parse_key(r, gpio, MAX_GPIO);
        item->port = ls__json_string(r, port);
        ls__json_leave(r, inner);
    }
    ls__json_leave(r, place);
    return items;
}

static void read_ports(reader *r, const json_t *root, ls__config *c)
{
    const json_t *mapping = ls__json_object(r, root, "port_mapping");
    size_t place = ls__json_enter(r, "port_mapping");
    ls__json_check_keys(r, mapping, port_mapping_keys);
    c->inputs = read_map(r, mapping, "inputs", &c->input_count);
    c->outputs = read_map(r, mapping, "outputs", &c->output_count);
    ls__json_leave(r, place);
}

static void read_constants_of(reader *r, const json_t *root, const char *key, bool by_gpio,
                              ls__config *c)
{
    const json_t *map = ls__json_object(r, root, key);
    size_t place = ls__json_enter(r, key);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        size_t inner = ls__json_enter(r, name);
        ls__config_constant *constant = &c->constants[c->constant_count++];
        constant->place = ls__json_place(r);
        constant->pin = no_pin();
        if (by_gpio)
            constant->pin.gpio = (int64_t)parse_key(r, name, MAX_GPIO);
        else
            constant->pin.signal = ls__arena_strdup(r->arena, name, strlen(name));
        constant->value = ls__json_value(r, value, UINT64_MAX);
        ls__json_leave(r, inner);
    }
    ls__json_leave(r, place);
}

static void read_constants(reader *r, const json_t *root, ls__config *c)
{
    size_t count = json_object_size(ls__json_object(r, root, "constant_inputs")) +
                   json_object_size(ls__json_object(r, root, "constant_ports"));
    c->constants = LS__NEW_ARRAY(r->arena, ls__config_constant, count + 1);
    read_constants_of(r, root, "constant_inputs", true, c);
    read_constants_of(r, root, "constant_ports", false, c);
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Of a derived clock nothing is needed: the design makes it. */
static void read_clock(reader *r, const json_t *object, ls__config *c)
{
    ls__json_check_keys(r, object, clock_keys);
    ls__json_number_from(r, object, "divide_by", 1, MAX_COUNT, 1);
    if (ls__json_get(r, object, "derived_from", false))
        return;
    ls__config_clock *clock = &c->clocks[c->clock_count++];
    clock->name = ls__json_text(r, object, "name");
    clock->pin = need_pin(r, object, "signal", "gpio");
    clock->place = ls__json_place(r);
    ls__json_get(r, object, "period_ps", true);
    clock->period_ps = ls__json_number_from(r, object, "period_ps", 2, MAX_TIME, 0);
    clock->phase_ps = ls__json_number(r, object, "phase_offset_ps", MAX_TIME, 0);
    clock->high_ps = ls__json_number_from(r, object, "high_ps", 1, MAX_TIME, 0);
    clock->jitter_ps = ls__json_number(r, object, "jitter_ps", MAX_TIME, 0);
    if (clock->high_ps >= clock->period_ps)
        ls__json_fail(r, "high_ps must be less than period_ps");
}

static void read_clocks(reader *r, const json_t *root, ls__config *c)
{
    const json_t *array = ls__json_array(r, root, "clocks"), *element;
    size_t outer = ls__json_enter(r, "clocks");
    c->clocks = LS__NEW_ARRAY(r->arena, ls__config_clock, json_array_size(array) + 1);
    FOR_ELEMENTS(r, array, i, element, place)
    {
        if (expect_object(r, element))
            read_clock(r, element, c);
        ls__json_leave(r, place);
    }
    ls__json_leave(r, outer);
    c->clock = read_pin(r, root, "clock", "clock_gpio");
    c->reset = read_pin(r, root, "reset", "reset_gpio");
    c->reset_active_high = ls__json_bool(r, root, "reset_active_high", false);
    bool has_reset = c->reset.signal || c->reset.gpio >= 0;
    if (has_reset) {
        ls__json_get(r, root, "reset_active_high", true);
        ls__json_get(r, root, "reset_cycles", true);
    }
    c->reset_cycles = ls__json_number(r, root, "reset_cycles", MAX_COUNT, 0);
    c->num_cycles = ls__json_number(r, root, "num_cycles", MAX_COUNT, 0);
    c->clock_period_ps = ls__json_number_from(r, root, "clock_period_ps", 2, MAX_TIME, 0);
    if (c->clock_count == 0 && !c->clock.signal && c->clock.gpio < 0)
        ls__json_fail(r, "needs clock, clock_gpio or clocks");
}

/* --- built-in peripherals --------------------------------------------------------------------- */

static void read_lanes(reader *r, const json_t *object, const char *key, const char *lanes[4])
{
    const json_t *array = ls__json_array(r, object, key), *element;
    size_t outer = ls__json_enter(r, key);
    if (json_array_size(array) > 4)
        ls__json_fail(r, "must have at most 4 signals");
    FOR_ELEMENTS(r, array, i, element, place)
    {
        lanes[i] = json_is_null(element) ? NULL : ls__json_string(r, element);
        ls__json_leave(r, place);
    }
    ls__json_leave(r, outer);
}

static void read_flash(reader *r, const json_t *object, ls__config *c)
{
    ls__config_flash *f = &c->flashes[c->flash_count];
    ls__json_check_keys(r, object, flash_keys);
    f->name = read_name(r, object, "flash", c->flash_count++);
    f->place = ls__json_place(r);
    f->clk = need_pin(r, object, "clk", "clk_gpio");
    f->csn = need_pin(r, object, "csn", "csn_gpio");
    f->d0 = no_pin();
    if (ls__json_get(r, object, "d0_gpio", false))
        f->d0.gpio = (int64_t)ls__json_number(r, object, "d0_gpio", MAX_GPIO, 0);
    read_lanes(r, object, "d", f->d);
    read_lanes(r, object, "q", f->q);
    if (f->d0.gpio < 0 && !f->d[0])
        ls__json_fail(r, "needs d0_gpio, or d and q");
    f->firmware = ls__json_text(r, object, "firmware");
    f->firmware_offset = ls__json_number(r, object, "firmware_offset", 1 << 24, 0);
    f->size_bytes = ls__json_number_from(r, object, "size_bytes", 1, 1 << 24, 1 << 24);
    f->writable = ls__json_bool(r, object, "writable", false);
    f->report = ls__json_bool(r, object, "report", false);
    f->has_enter_qpi_cmd = ls__json_get(r, object, "enter_qpi_cmd", false) != NULL;
    f->enter_qpi_cmd = ls__json_number(r, object, "enter_qpi_cmd", 255, 0);
    f->quad_write_cmd = ls__json_number(r, object, "quad_write_cmd", 255, 0x38);
    f->read_dummy_cycles = ls__json_number(r, object, "read_dummy_cycles", 64, 6);
    f->pages = ls__json_number_from(r, object, "pages", 1, 16384, 64);
}

static void read_uart(reader *r, const json_t *object, ls__config *c)
{
    static const char *const parities[] = {"none", "odd", "even"};
    ls__config_uart *u = &c->uarts[c->uart_count];
    ls__json_check_keys(r, object, uart_keys);
    u->name = read_name(r, object, "uart", c->uart_count++);
    u->place = ls__json_place(r);
    u->tx = read_pin(r, object, "tx", "tx_gpio");
    u->rx = read_pin(r, object, "rx", "rx_gpio");
    u->baud_rate = ls__json_number_from(r, object, "baud_rate", 1, UINT64_C(1) << 40, 0);
    u->cycles_per_bit = ls__json_number_from(r, object, "cycles_per_bit", 1, 1 << 29, 0);
    u->data_bits = ls__json_number_from(r, object, "data_bits", 5, 9, 8);
    u->stop_bits = ls__json_number_from(r, object, "stop_bits", 1, 2, 1);
    const char *parity = ls__json_text(r, object, "parity");
    for (u->parity = 0; parity && u->parity < 3; u->parity++)
        if (strcmp(parity, parities[u->parity]) == 0)
            break;
    if (u->parity == 3)
        ls__json_fail(r, "parity must be none, odd or even");
    if (!u->baud_rate && !u->cycles_per_bit)
        ls__json_fail(r, "needs baud_rate or cycles_per_bit");
}

static ls__config_pin *read_pins(reader *r, const json_t *object, const char *key, uint32_t *count)
{
    const json_t *array = ls__json_array(r, object, key), *element;
    size_t outer = ls__json_enter(r, key);
    ls__config_pin *pins = LS__NEW_ARRAY(r->arena, ls__config_pin, json_array_size(array) + 1);
    if (json_array_size(array) > 32)
        ls__json_fail(r, "must have at most 32 elements");
    FOR_ELEMENTS(r, array, i, element, place)
    {
        pins[i] = no_pin();
        if (json_is_string(element))
            pins[i].signal = ls__json_string(r, element);
        else
            pins[i].gpio = (int64_t)ls__json_value(r, element, MAX_GPIO);
        *count += 1;
        ls__json_leave(r, place);
    }
    ls__json_leave(r, outer);
    return pins;
}

static void read_gpio(reader *r, const json_t *object, ls__config *c)
{
    ls__config_gpio *g = &c->gpios[c->gpio_count];
    ls__json_check_keys(r, object, gpio_keys);
    g->name = read_name(r, object, "gpio", c->gpio_count++);
    bool by_name = ls__json_get(r, object, "signals", false) != NULL;
    g->pins = read_pins(r, object, by_name ? "signals" : "pins", &g->pin_count);
    g->watched = read_pins(r, object, "watch", &g->watched_count);
}

static void read_jtag(reader *r, const json_t *root, ls__config *c)
{
    const json_t *object = ls__json_object(r, root, "jtag");
    size_t place = ls__json_enter(r, "jtag");
    if (object) {
        ls__config_jtag *j = &c->jtag;
        ls__json_check_keys(r, object, jtag_keys);
        j->is_given = true;
        j->tck = need_pin(r, object, "tck", "tck_gpio");
        j->tms = need_pin(r, object, "tms", "tms_gpio");
        j->tdi = need_pin(r, object, "tdi", "tdi_gpio");
        j->trst = read_pin(r, object, "trst", "trst_gpio");
        j->tdo = read_pin(r, object, "tdo", "tdo_gpio");
        j->trst_active_low = ls__json_bool(r, object, "trst_active_low", true);
        j->replay = ls__json_text(r, object, "replay");
        j->hold_edges = ls__json_number_from(r, object, "hold_edges", 2, 1 << 30, 0);
    }
    ls__json_leave(r, place);
}

/* "pin": "signal" or a number. */
static ls__config_wire *read_wires(reader *r, const json_t *object, const char *key,
                                   uint32_t *count)
{
    const json_t *map = ls__json_object(r, object, key);
    size_t place = ls__json_enter(r, key);
    ls__config_wire *wires = LS__NEW_ARRAY(r->arena, ls__config_wire, json_object_size(map) + 1);
    const char *pin;
    json_t *signal;
    json_object_foreach((json_t *)(uintptr_t)map, pin, signal)
    {
        size_t inner = ls__json_enter(r, pin);
        ls__config_wire *wire = &wires[(*count)++];
        wire->pin = ls__arena_strdup(r->arena, pin, strlen(pin));
        if (json_is_string(signal))
            wire->signal = ls__json_string(r, signal);
        else
            wire->constant = ls__json_value(r, signal, UINT64_MAX);
        ls__json_leave(r, inner);
    }
    ls__json_leave(r, place);
    return wires;
}

static void read_bus(reader *r, const json_t *object, ls__config *c)
{
    static const char *const protocols[] = {"apb3", "wishbone", "ahb-lite", "ahb5"};
    ls__config_bus *b = &c->buses[c->bus_count];
    bool known = false;
    ls__json_check_keys(r, object, bus_keys);
    b->name = read_name(r, object, "bus", c->bus_count++);
    b->protocol = ls__json_text(r, object, "protocol");
    for (size_t i = 0; b->protocol && i < sizeof protocols / sizeof *protocols; i++)
        known |= strcmp(b->protocol, protocols[i]) == 0;
    if (!known)
        ls__json_fail(r, "protocol must be apb3, wishbone, ahb-lite or ahb5");
    b->prefix = ls__json_text(r, object, "prefix");
    b->addr_bits = ls__json_number_from(r, object, "addr_bits", 1, 64, 32);
    b->data_bits = ls__json_number_from(r, object, "data_bits", 1, 64, 32);
    b->wires = read_wires(r, object, "signals", &b->wire_count);
}

/* --- peripherals and contents ----------------------------------------------------------------- */

static void read_parameters(reader *r, const json_t *object, ls__config_peripheral *p)
{
    const json_t *map = ls__json_object(r, object, "parameters");
    size_t place = ls__json_enter(r, "parameters");
    const char *name;
    json_t *value;
    p->parameters = LS__NEW_ARRAY(r->arena, ls__config_parameter, json_object_size(map) + 1);
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        size_t inner = ls__json_enter(r, name);
        ls__config_parameter *parameter = &p->parameters[p->parameter_count++];
        parameter->name = ls__arena_strdup(r->arena, name, strlen(name));
        parameter->value = ls__json_value(r, value, UINT64_MAX);
        ls__json_leave(r, inner);
    }
    ls__json_leave(r, place);
}

static void read_event_names(reader *r, const json_t *object, ls__config_peripheral *p)
{
    const json_t *map = ls__json_object(r, object, "events");
    size_t place = ls__json_enter(r, "events");
    const char *kind;
    json_t *name;
    p->events = LS__NEW_ARRAY(r->arena, ls__config_event, json_object_size(map) + 1);
    json_object_foreach((json_t *)(uintptr_t)map, kind, name)
    {
        size_t inner = ls__json_enter(r, kind);
        ls__config_event *event = &p->events[p->event_count++];
        event->kind = (uint32_t)parse_key(r, kind, UINT32_MAX - 1);
        event->name = ls__json_string(r, name);
        ls__json_leave(r, inner);
    }
    ls__json_leave(r, place);
}

static void read_peripheral(reader *r, const json_t *object, ls__config *c)
{
    ls__config_peripheral *p = &c->peripherals[c->peripheral_count];
    ls__json_check_keys(r, object, peripheral_keys);
    p->type = ls__json_text(r, object, "type");
    p->source = ls__json_text(r, object, "source");
    p->image = ls__json_text(r, object, "image");
    if (!p->type)
        ls__json_get(r, object, "type", true);
    p->name = read_name(r, object, p->type ? p->type : "", c->peripheral_count++);
    p->pins = read_wires(r, object, "pins", &p->pin_count);
    read_parameters(r, object, p);
    read_event_names(r, object, p);
    p->memory_words = ls__json_number(r, object, "memory_words", 1 << 28, 0);
}

static void read_memory(reader *r, const json_t *object, ls__config *c)
{
    static const char *const formats[] = {"hex", "bits", "raw", "elf"};
    ls__config_memory *m = &c->memories[c->memory_count++];
    ls__json_check_keys(r, object, memory_keys);
    ls__json_get(r, object, "name", true);
    ls__json_get(r, object, "file", true);
    m->name = ls__json_text(r, object, "name");
    m->file = ls__json_text(r, object, "file");
    m->format = ls__json_text(r, object, "format");
    bool known = !m->format;
    for (size_t i = 0; m->format && i < sizeof formats / sizeof *formats; i++)
        known |= strcmp(m->format, formats[i]) == 0;
    if (!known)
        ls__json_fail(r, "format must be hex, bits, raw or elf");
    m->address = ls__json_number(r, object, "address", UINT64_MAX, 0);
    m->stride_bytes = ls__json_number_from(r, object, "stride_bytes", 1, 1 << 20, 0);
}

static void read_register(reader *r, const json_t *object, ls__config *c)
{
    ls__config_register *g = &c->registers[c->register_count++];
    ls__json_check_keys(r, object, register_keys);
    ls__json_get(r, object, "name", true);
    g->name = ls__json_text(r, object, "name");
    g->value = ls__json_number(r, object, "value", UINT64_MAX, 0);
}

static void read_list(reader *r, const json_t *root, const char *key, ls__config *c,
                      void (*read)(reader *r, const json_t *object, ls__config *c))
{
    const json_t *array = ls__json_array(r, root, key), *element;
    size_t outer = ls__json_enter(r, key);
    FOR_ELEMENTS(r, array, i, element, place)
    {
        if (expect_object(r, element))
            read(r, element, c);
        ls__json_leave(r, place);
    }
    ls__json_leave(r, outer);
}

/* The older form has one object where the newer has an array. */
static void read_one(reader *r, const json_t *root, const char *key, ls__config *c,
                     void (*read)(reader *r, const json_t *object, ls__config *c))
{
    const json_t *object = ls__json_object(r, root, key);
    size_t place = ls__json_enter(r, key);
    if (object)
        read(r, object, c);
    ls__json_leave(r, place);
}

static size_t count_of(const json_t *root, const char *key, const char *single)
{
    size_t count = json_array_size(json_object_get(root, key)) + 1;
    return single && json_object_get(root, single) ? count + 1 : count;
}

static void read_root(reader *r, const json_t *root, ls__config *c)
{
    ls__arena *arena = r->arena;
    if (!expect_object(r, root))
        return;
    ls__json_check_keys(r, root, top_keys);
    c->netlist_path = ls__json_text(r, root, "netlist_path");
    c->top = ls__json_text(r, root, "top");
    ls__json_ignore(r, root, "signal_streams");
    ls__json_ignore(r, root, "timing");
    read_ports(r, root, c);
    read_constants(r, root, c);
    read_clocks(r, root, c);
    c->flashes = LS__NEW_ARRAY(arena, ls__config_flash, count_of(root, "qspi_memory", "flash"));
    read_one(r, root, "flash", c, read_flash);
    read_list(r, root, "qspi_memory", c, read_flash);
    c->uarts = LS__NEW_ARRAY(arena, ls__config_uart, count_of(root, "uarts", "uart"));
    read_one(r, root, "uart", c, read_uart);
    read_list(r, root, "uarts", c, read_uart);
    c->gpios = LS__NEW_ARRAY(arena, ls__config_gpio, count_of(root, "gpios", NULL));
    read_list(r, root, "gpios", c, read_gpio);
    read_jtag(r, root, c);
    c->buses = LS__NEW_ARRAY(arena, ls__config_bus, count_of(root, "bus_traces", NULL));
    read_list(r, root, "bus_traces", c, read_bus);
    c->peripherals =
        LS__NEW_ARRAY(arena, ls__config_peripheral, count_of(root, "peripherals", NULL));
    read_list(r, root, "peripherals", c, read_peripheral);
    c->memories = LS__NEW_ARRAY(arena, ls__config_memory, count_of(root, "memories", NULL));
    read_list(r, root, "memories", c, read_memory);
    c->registers = LS__NEW_ARRAY(arena, ls__config_register, count_of(root, "reg_init", NULL));
    read_list(r, root, "reg_init", c, read_register);
    const json_t *sram = ls__json_object(r, root, "sram_init");
    size_t place = ls__json_enter(r, "sram_init");
    ls__json_check_keys(r, sram, sram_keys);
    c->sram_elf = sram ? ls__json_text(r, sram, "elf_path") : NULL;
    ls__json_leave(r, place);
    c->output_events = ls__json_text(r, root, "output_events");
    c->events_reference = ls__json_text(r, root, "events_reference");
    c->input_commands = ls__json_text(r, root, "input_commands");
    c->stop_on_assert = ls__json_bool(r, root, "stop_on_assert", false);
}

/* --- the file --------------------------------------------------------------------------------- */

ls_status ls__config_read(const char *text, size_t length, const char *name,
                          void (*warn)(void *context, const char *message), void *context,
                          ls__config_file **file, ls_error *error)
{
    ls__oom oom;
    ls_status status = LS_E_OUT_OF_MEMORY;
    *file = NULL;
    ls__config_file *f = ls__mem_alloc(1, sizeof *f);
    if (!f)
        return ls__fail_oom(error, sizeof *f);
    f->reader = (ls__json_reader){
        .name = name, .warn = warn, .context = context, .arena = &f->arena, .error = error};
    ls__arena_init(&f->arena, &oom, 0);
    if (setjmp(oom.jump)) {
        status = ls__oom_status(&oom, error);
    } else {
        f->root = ls__json_parse(&f->reader, text, length);
        if (f->root)
            read_root(&f->reader, f->root, &f->config);
        status = f->reader.status;
    }
    if (status == LS_OK && f->reader.path.failed)
        status = ls__fail_oom(error, 64);
    json_decref(f->root);
    f->root = NULL;
    ls__strbuf_finish(&f->reader.path);
    if (status != LS_OK)
        ls__config_destroy(&f);
    *file = f;
    return status;
}

const ls__config *ls__config_of(const ls__config_file *file)
{
    return &file->config;
}

void ls__config_destroy(ls__config_file **file)
{
    ls__config_file *f = *file;
    *file = NULL;
    if (!f)
        return;
    ls__arena_finish(&f->arena);
    ls__mem_free(f);
}
