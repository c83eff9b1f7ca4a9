/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for peripherals in a configuration, as peripherals of the cosim. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "testbench/plan_private.h"
#include "testbench/source.h"

enum { UART_QUEUE = 256, GPIO_QUEUE = 64 };
#define MAX_IMAGES_BYTES (UINT64_C(1) << 32) /* of all instances of one peripheral */

/* One that is being put together. */
typedef struct builder {
    ls__planner *p;
    const char *place;  /* in the configuration, for messages */
    const char *source; /* text of the user's; NULL: built in, or not readable */
    ls_peripheral made;
    ls__model model;
    LS__VEC(ls_pin) pins;
    LS__VEC(ls_peripheral_parameter) parameters;
} builder;

static builder begin(ls__planner *p, const char *type, ls__model_kind kind, const char *name,
                     const char *place)
{
    return (builder){
        .p = p, .place = place, .made = {.type = type}, .model = {.kind = kind, .name = name}};
}

static bool is_input(const ls__planner *p, ls_signal_ref ref)
{
    ls_signal_info info;
    return ls_design_signal(p->params.design, ref.signal, &info, NULL) == LS_OK &&
           info.kind == LS_SIGNAL_INPUT;
}

static void add_pin(builder *b, const char *name, ls_signal_ref ref, bool drives)
{
    if (ref.width > 64)
        ls__planner_fail(b->p, LS_E_FORMAT, "%s: pin %s: a signal of more than 64 bits", b->place,
                         name);
    ls__vec_push(&b->p->arena, &b->pins, ((ls_pin){.name = name, .signal = ref, .drives = drives}));
}

static void add_parameter(builder *b, const char *name, uint64_t value)
{
    ls__vec_push(&b->p->arena, &b->parameters, ((ls_peripheral_parameter){name, value}));
}

/* An identifier that no other peripheral has, made of the name that people see. */
static const char *identifier(ls__planner *p, const char *name, const char *suffix)
{
    char *id = ls__arena_printf(&p->arena, "%s%s", name, suffix);
    for (char *c = id; *c; c++)
        if (!isalnum((unsigned char)*c) || (unsigned char)*c > 127)
            *c = '_';
    if (!*id || isdigit((unsigned char)*id))
        id = ls__arena_printf(&p->arena, "p%s", id);
    for (uint32_t i = 0; i < p->peripherals.count; i++)
        if (strcmp(p->peripherals.items[i].name, id) == 0)
            return ls__arena_printf(&p->arena, "%s_%u", id, p->peripherals.count);
    return id;
}

/* Where the pin is in the configuration. */
static const char *place_of_pin(const builder *b, const char *pin)
{
    ls__arena *arena = &b->p->arena;
    if (strncmp(b->place, ".peripherals", 12) == 0)
        return ls__arena_printf(arena, "%s.pins.%s", b->place, pin);
    if (b->model.kind == LS__MODEL_GPIO) /* outN */
        return ls__arena_printf(arena, "%s.pins[%s]", b->place, pin + 3);
    if (b->model.kind == LS__MODEL_FLASH) /* qN */
        return ls__arena_printf(arena, "%s.q[%s]", b->place, pin + 1);
    return ls__arena_printf(arena, "%s.%s", b->place, pin);
}

static void claim_pins(const builder *b)
{
    ls_signal_ref select = {0};
    for (uint32_t i = 0; i < b->pins.count; i++)
        if (b->model.kind == LS__MODEL_FLASH && strcmp(b->pins.items[i].name, "csn") == 0)
            select = b->pins.items[i].signal;
    for (uint32_t i = 0; i < b->pins.count; i++) {
        const ls_pin *pin = &b->pins.items[i];
        /* A user's source may drive an input, or only look at it. */
        bool drives = pin->drives &&
                      (!b->made.path || (b->source && ls__source_assigns(b->source, pin->name)));
        if (drives && pin->signal.width)
            ls__planner_claim(b->p, (ls__claim){.kind = LS__CLAIM_PIN,
                                                .signal = pin->signal,
                                                .place = place_of_pin(b, pin->name),
                                                .model = b->model.kind,
                                                .owner = b->p->models.count,
                                                .is_users = b->made.path != NULL,
                                                .select = select});
    }
}

static void finish(builder *b, const char *suffix)
{
    ls__planner *p = b->p;
    if (p->status != LS_OK)
        return;
    claim_pins(b);
    ls__planner_name(p, &b->model, b->place);
    b->made.name = identifier(p, b->model.name, suffix);
    b->made.pins = b->pins.items;
    b->made.pin_count = b->pins.count;
    b->made.parameters = b->parameters.items;
    b->made.parameter_count = b->parameters.count;
    ls__vec_push(&p->arena, &p->peripherals, b->made);
    ls__vec_push(&p->arena, &p->models, b->model);
}

/* --- images ----------------------------------------------------------------------------------- */

/* One image for all, or with "{instance}" in the name those of all instances behind each other:
 * bytes of each, or 0. `place` is where the name stands. */
static uint64_t plan_image(builder *b, const char *name, const char *place,
                           const void *(*read)(ls__planner *p, const char *name, uint32_t instance,
                                               size_t *size))
{
    ls__planner *p = b->p;
    uint32_t count = strstr(name, "{instance}") ? p->params.instances : 1;
    const void **files = LS__NEW_ARRAY(&p->arena, const void *, count);
    size_t *sizes = LS__NEW_ARRAY(&p->arena, size_t, count), largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool was_good = p->status == LS_OK;
        files[i] = read(p, name, i, &sizes[i]);
        largest = sizes[i] > largest ? sizes[i] : largest;
        if (was_good && p->status != LS_OK)
            ls__planner_place(p->error, place);
        else if (largest * (i + 1) > MAX_IMAGES_BYTES)
            ls__planner_fail(p, LS_E_LIMIT,
                             "%s: the images of %u instances have more than %llu bytes", place,
                             i + 1, (unsigned long long)MAX_IMAGES_BYTES);
    }
    if (p->status != LS_OK)
        return 0;
    b->made.image = files[0];
    b->made.image_bytes = sizes[0];
    if (count == 1 || largest == 0)
        return 0;
    uint8_t *all = ls__mem_alloc(count, largest);
    if (!all) {
        p->status = ls__fail_oom(p->error, count * largest);
        return 0;
    }
    ls__vec_push(&p->arena, &p->files, (void *)all);
    memset(all, 0xff, count * largest);
    for (uint32_t i = 0; i < count; i++)
        memcpy(all + i * largest, files[i], sizes[i]);
    b->made.image = all;
    b->made.image_bytes = count * largest;
    return largest;
}

/* --- UART ------------------------------------------------------------------------------------- */

static uint64_t bit_edges(const ls__planner *p, const ls__config_uart *u)
{
    uint64_t cycles = u->cycles_per_bit;
    if (!cycles) /* clock frequency / baud rate, rounded down */
        cycles = UINT64_C(1000000000000) / p->plan.clock_period_ps / u->baud_rate;
    return ls__planner_edges(p, cycles);
}

static void add_frame(builder *b, const ls__config_uart *u)
{
    uint64_t edges = bit_edges(b->p, u);
    if (edges == 0)
        ls__planner_fail(b->p, LS_E_FORMAT, "%s: the baud rate is higher than the clock's rate",
                         b->place);
    add_parameter(b, "bit_edges", edges);
    add_parameter(b, "data_bits", u->data_bits);
    add_parameter(b, "parity", u->parity);
    add_parameter(b, "stop_bits", u->stop_bits);
    b->model.frame_edges = edges * (1 + u->data_bits + (u->parity != 0) + u->stop_bits);
}

static void plan_uart(ls__planner *p, const ls__config_uart *u)
{
    ls_signal_ref ref;
    const char *place = u->place;
    bool has_tx = ls__planner_pin(p, &u->tx, false, u->tx.signal != NULL, &ref, "%s.tx", place);
    if (has_tx) {
        builder b = begin(p, "uart_tx", LS__MODEL_UART_TX, u->name, place);
        add_pin(&b, "tx", ref, false);
        add_frame(&b, u);
        finish(&b, "_tx");
    }
    /* A missing rx is no error: configurations give a number that stands for none. */
    if (ls__planner_pin(p, &u->rx, true, u->rx.signal != NULL, &ref, "%s.rx", place)) {
        builder b = begin(p, "uart_rx", LS__MODEL_UART_RX, u->name, place);
        add_pin(&b, "rx", ref, true);
        add_frame(&b, u);
        add_parameter(&b, "queue", UART_QUEUE);
        b.model.queue = UART_QUEUE;
        finish(&b, "_rx");
    } else if (!has_tx && p->status == LS_OK) {
        ls__planner_fail(p, LS_E_NOT_FOUND, "%s: neither tx nor rx is a port", place);
    }
}

/* --- flash ------------------------------------------------------------------------------------ */

static void add_lanes(builder *b, const ls__config_flash *f)
{
    static const char *const d_names[] = {"d0", "d1", "d2", "d3"};
    static const char *const q_names[] = {"q0", "q1", "q2", "q3"};
    ls_signal_ref ref;
    uint32_t found = 0;
    for (int i = 0; i < 4; i++) {
        ls__config_pin d = {f->d[i], f->d0.gpio < 0 ? -1 : f->d0.gpio + i};
        ls__config_pin q = {f->q[i], d.gpio};
        if (ls__planner_pin(b->p, &d, false, false, &ref, "%s.d[%d]", b->place, i))
            add_pin(b, d_names[i], ref, false);
        if (ls__planner_pin(b->p, &q, true, false, &ref, "%s.q[%d]", b->place, i)) {
            add_pin(b, q_names[i], ref, true);
            found++;
        }
    }
    if (found == 0)
        ls__planner_fail(b->p, LS_E_NOT_FOUND, "%s: none of its data lines is an input", b->place);
}

static void plan_flash(ls__planner *p, const ls__config_flash *f)
{
    ls_signal_ref ref;
    const char *place = f->place;
    builder b = begin(p, "spi_flash", LS__MODEL_FLASH, f->name, place);
    if (ls__planner_pin(p, &f->clk, false, true, &ref, "%s.clk", place))
        add_pin(&b, "clk", ref, false);
    if (ls__planner_pin(p, &f->csn, false, true, &ref, "%s.csn", place))
        add_pin(&b, "csn", ref, false);
    add_lanes(&b, f);
    if (f->firmware)
        add_parameter(&b, "instance_bytes",
                      plan_image(&b, f->firmware, ls__arena_printf(&p->arena, "%s.firmware", place),
                                 ls__planner_image));
    add_parameter(&b, "size_bytes", f->size_bytes);
    add_parameter(&b, "firmware_offset", f->firmware_offset);
    add_parameter(&b, "writable", f->writable);
    add_parameter(&b, "pages", f->pages);
    if (f->has_enter_qpi_cmd)
        add_parameter(&b, "enter_qpi_cmd", f->enter_qpi_cmd);
    add_parameter(&b, "quad_write_cmd", f->quad_write_cmd);
    add_parameter(&b, "read_dummy_cycles", f->read_dummy_cycles);
    add_parameter(&b, "report", f->report || p->params.flash_verbose);
    b.model.is_told_only = !f->report;
    if (p->params.compat) {
        add_parameter(&b, "reset_edges", p->plan.reset_edges);
        add_parameter(&b, "compat", 1);
    }
    finish(&b, "");
}

/* --- GPIO, JTAG, buses ------------------------------------------------------------------------ */

static bool find_bit(ls__planner *p, const ls__config_pin *pin, bool is_input, ls_signal_ref *ref,
                     const char *place, const char *list, uint32_t index)
{
    if (!ls__planner_pin(p, pin, is_input, true, ref, "%s.%s[%u]", place, list, index))
        return false;
    if (ref->width != 1)
        ls__planner_fail(p, LS_E_FORMAT, "%s.%s[%u]: must be one bit", place, list, index);
    return ref->width == 1;
}

static void plan_gpio(ls__planner *p, const ls__config_gpio *g, uint32_t index)
{
    ls_signal_ref ref;
    const char *place = ls__arena_printf(&p->arena, ".gpios[%u]", index);
    builder b = begin(p, "gpio", LS__MODEL_GPIO, g->name, place);
    for (uint32_t i = 0; i < g->pin_count; i++)
        if (find_bit(p, &g->pins[i], true, &ref, place, "pins", i))
            add_pin(&b, ls__arena_printf(&p->arena, "out%u", i), ref, true);
    for (uint32_t i = 0; i < g->watched_count; i++)
        if (find_bit(p, &g->watched[i], false, &ref, place, "watch", i))
            add_pin(&b, ls__arena_printf(&p->arena, "in%u", i), ref, false);
    add_parameter(&b, "queue", GPIO_QUEUE);
    b.model.queue = GPIO_QUEUE;
    b.model.pin_count = g->pin_count;
    b.model.watched_count = g->watched_count;
    finish(&b, "");
}

static void plan_jtag(ls__planner *p, const ls__config_jtag *j)
{
    ls_signal_ref ref;
    const char *replay = p->params.jtag_replay ? p->params.jtag_replay : j->replay;
    if (!replay)
        return;
    if (!j->is_given) {
        ls__planner_fail(p, LS_E_FORMAT, ".jtag is missing, which --jtag-replay needs");
        return;
    }
    builder b = begin(p, "jtag", LS__MODEL_JTAG, "jtag", ".jtag");
    const struct {
        const char *name;
        const ls__config_pin *pin;
        bool drives, is_needed;
    } pins[] = {{"tck", &j->tck, true, true},
                {"tms", &j->tms, true, true},
                {"tdi", &j->tdi, true, true},
                {"trst", &j->trst, true, false},
                {"tdo", &j->tdo, false, false}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++)
        if (ls__planner_pin(p, pins[i].pin, pins[i].drives,
                            pins[i].is_needed || pins[i].pin->gpio >= 0, &ref, ".jtag.%s",
                            pins[i].name))
            add_pin(&b, pins[i].name, ref, pins[i].drives);
    if (p->params.jtag_hold || j->hold_edges)
        add_parameter(&b, "hold_edges", p->params.jtag_hold ? p->params.jtag_hold : j->hold_edges);
    add_parameter(&b, "trst_active_low", j->trst_active_low);
    if (p->params.compat)
        add_parameter(&b, "compat", 1);
    plan_image(&b, replay, p->params.jtag_replay ? "--jtag-replay" : ".jtag.replay",
               ls__planner_file);
    finish(&b, "");
}

static const char *override_of(const ls__config_bus *bus, const char *pin)
{
    for (uint32_t i = 0; i < bus->wire_count; i++)
        if (strcmp(bus->wires[i].pin, pin) == 0)
            return bus->wires[i].signal;
    return NULL;
}

/* What is traced of a bus. The names of pins are those of the protocol; `clock` may be one of them.
 * Pins behind the NULL may be missing. */
typedef struct bus_type {
    const char *protocol, *peripheral, *clock;
    const char *pins[12];
    bool needs_clock; /* that of the design, unless one is named */
} bus_type;

static const bus_type bus_types[] = {
    {"apb3",
     "apb_trace",
     "pclk",
     {"psel", "penable", "pwrite", "paddr", "pwdata", "prdata", NULL, "pready", "pslverr"},
     false},
    {"wishbone",
     "wishbone_trace",
     "clk",
     {"cyc", "stb", "we", "adr", "dat_w", "dat_r", NULL, "ack", "err"},
     false},
    {"ahb-lite",
     "ahb_trace",
     "hclk",
     {"htrans", "hwrite", "haddr", "hwdata", "hrdata", NULL, "hready", "hsel", "hresp", "hburst"},
     true},
    {"ahb5", /* what it has in common with AHB-Lite */
     "ahb_trace",
     "hclk",
     {"htrans", "hwrite", "haddr", "hwdata", "hrdata", NULL, "hready", "hsel", "hresp", "hburst"},
     true},
};

/* Without a clock of its own APB and Wishbone are looked at whenever they change. */
static void add_bus_clock(builder *b, const ls__config_bus *bus, const bus_type *type)
{
    ls_signal_ref ref;
    const ls__config *c = b->p->config;
    const char *given = override_of(bus, type->clock);
    bool has_clock = c->clock.signal || c->clock.gpio >= 0;
    if (given) {
        if (ls__planner_find(b->p, given, true, &ref, "%s: %s", b->place, type->clock))
            add_pin(b, type->clock, ref, false);
    } else if (type->needs_clock) {
        const ls__config_pin *clock = has_clock ? &c->clock : &c->clocks[0].pin;
        if (ls__planner_pin(b->p, clock, true, true, &ref, "%s: %s", b->place, type->clock))
            add_pin(b, type->clock, ref, false);
    }
}

static void plan_bus(ls__planner *p, const ls__config_bus *bus, uint32_t index)
{
    const char *place = ls__arena_printf(&p->arena, ".bus_traces[%u]", index);
    const bus_type *type = bus_types;
    while (strcmp(type->protocol, bus->protocol) != 0)
        type++;
    builder b = begin(p, type->peripheral, LS__MODEL_BUS, bus->name, place);
    bool is_needed = true;
    for (const char *const *pin = type->pins; *pin || is_needed; pin++) {
        ls_signal_ref ref;
        if (!*pin) {
            is_needed = false;
            continue;
        }
        const char *given = override_of(bus, *pin);
        const char *name =
            given ? given
                  : ls__arena_printf(&p->arena, "%s%s", bus->prefix ? bus->prefix : "", *pin);
        if (ls__planner_find(p, name, is_needed || given, &ref, "%s: %s", place, *pin))
            add_pin(&b, *pin, ref, false);
    }
    add_bus_clock(&b, bus, type);
    b.model.protocol = bus->protocol;
    finish(&b, "");
}

/* --- any peripheral --------------------------------------------------------------------------- */

static ls__model_kind kind_of(const ls__config_peripheral *c)
{
    static const struct {
        const char *type;
        ls__model_kind kind;
    } known[] = {{"ahb_trace", LS__MODEL_BUS},   {"uart_tx", LS__MODEL_UART_TX},
                 {"uart_rx", LS__MODEL_UART_RX}, {"gpio", LS__MODEL_GPIO},
                 {"jtag", LS__MODEL_JTAG},       {"spi_flash", LS__MODEL_FLASH},
                 {"apb_trace", LS__MODEL_BUS},   {"wishbone_trace", LS__MODEL_BUS}};
    for (size_t i = 0; !c->source && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].type, c->type) == 0)
            return known[i].kind;
    return LS__MODEL_OTHER;
}

static void set_queue(builder *b, const ls__config_peripheral *c)
{
    if (b->model.kind != LS__MODEL_UART_RX && b->model.kind != LS__MODEL_GPIO)
        return;
    b->model.queue = b->model.kind == LS__MODEL_UART_RX ? UART_QUEUE : GPIO_QUEUE;
    for (uint32_t i = 0; i < c->parameter_count; i++)
        if (strcmp(c->parameters[i].name, "queue") == 0)
            b->model.queue = (uint32_t)c->parameters[i].value;
    for (uint32_t i = 0; b->model.kind == LS__MODEL_GPIO && i < b->pins.count; i++) {
        const ls_pin *pin = &b->pins.items[i];
        uint32_t bits = strcmp(pin->name, "out") == 0 || strcmp(pin->name, "in") == 0
                            ? pin->signal.width
                            : (uint32_t)strtoul(pin->name + (pin->drives ? 3 : 2), NULL, 10) + 1;
        uint32_t *count = pin->drives ? &b->model.pin_count : &b->model.watched_count;
        *count = bits > *count ? bits : *count;
    }
}

static void add_given_parameters(builder *b, const ls__config_peripheral *c)
{
    bool tells = b->model.kind == LS__MODEL_FLASH && b->p->params.flash_verbose;
    b->model.is_told_only = tells;
    for (uint32_t i = 0; i < c->parameter_count; i++) {
        bool is_report = strcmp(c->parameters[i].name, "report") == 0;
        if (tells && is_report)
            b->model.is_told_only = c->parameters[i].value == 0;
        else
            add_parameter(b, c->parameters[i].name, c->parameters[i].value);
    }
    if (tells)
        add_parameter(b, "report", 1);
}

/* Whether a pin on an input of the design drives it: built-in types also look at inputs. */
static bool drives_input(const builder *b, const char *pin)
{
    switch (b->model.kind) {
    case LS__MODEL_BUS:
    case LS__MODEL_UART_TX:
        return false;
    case LS__MODEL_FLASH:
        return pin[0] == 'q';
    case LS__MODEL_GPIO:
        return strncmp(pin, "out", 3) == 0;
    case LS__MODEL_JTAG:
        return strcmp(pin, "tdo") != 0;
    default:
        return true;
    }
}

static void set_source(builder *b, const ls__config_peripheral *c)
{
    ls__planner *p = b->p;
    char *path = c->source ? ls__plan_path(p->params.config_path, c->source, 0) : NULL;
    if (!path)
        return;
    b->made.path = ls__arena_strdup(&p->arena, path, strlen(path));
    ls__mem_free(path);
    char *text = ls__source_read(b->made.path);
    if (text)
        ls__vec_push(&p->arena, &p->files, (void *)text);
    b->source = text;
}

static void plan_peripheral(ls__planner *p, const ls__config_peripheral *c, uint32_t index)
{
    const char *place = ls__arena_printf(&p->arena, ".peripherals[%u]", index);
    builder b = begin(p, c->type, kind_of(c), c->name, place);
    for (uint32_t i = 0; i < c->pin_count; i++) {
        const ls__config_wire *wire = &c->pins[i];
        ls_signal_ref ref = {0};
        if (wire->signal &&
            ls__planner_find(p, wire->signal, true, &ref, "%s.pins.%s", place, wire->pin))
            add_pin(&b, wire->pin, ref, is_input(p, ref) && drives_input(&b, wire->pin));
        else
            ls__vec_push(&p->arena, &b.pins,
                         ((ls_pin){.name = wire->pin, .constant = wire->constant}));
    }
    add_given_parameters(&b, c);
    set_source(&b, c);
    if (c->image) {
        uint64_t each = plan_image(&b, c->image, ls__arena_printf(&p->arena, "%s.image", place),
                                   ls__planner_file);
        if (each)
            add_parameter(&b, "instance_bytes", each);
    }
    b.made.memory_words = (uint32_t)c->memory_words;
    b.model.events = c->events;
    b.model.event_count = c->event_count;
    for (size_t i = 0; b.model.kind == LS__MODEL_BUS && !b.model.protocol; i++)
        if (strcmp(c->type, bus_types[i].peripheral) == 0)
            b.model.protocol = bus_types[i].protocol;
    set_queue(&b, c);
    finish(&b, "");
}

void ls__planner_peripherals(ls__planner *p)
{
    const ls__config *c = p->config;
    for (uint32_t i = 0; i < c->uart_count; i++)
        plan_uart(p, &c->uarts[i]);
    for (uint32_t i = 0; i < c->flash_count; i++)
        plan_flash(p, &c->flashes[i]);
    for (uint32_t i = 0; i < c->gpio_count; i++)
        plan_gpio(p, &c->gpios[i], i);
    plan_jtag(p, &c->jtag);
    for (uint32_t i = 0; i < c->bus_count; i++)
        plan_bus(p, &c->buses[i], i);
    for (uint32_t i = 0; i < c->peripheral_count; i++)
        plan_peripheral(p, &c->peripherals[i], i);
}
