/* SPDX-License-Identifier: Apache-2.0 */
/* Every net has at most one driver, but for tri-state buffers, of which a net may have several. */
#include "netlist/reader.h"

#include <stdio.h>
#include <string.h>

typedef enum driver_kind { DRIVER_NONE, DRIVER_PLAIN, DRIVER_TRISTATE } driver_kind;

typedef struct driver {
    ls__nets nets;
    driver_kind kind;
    const char *what, *name, *type;
} driver;

typedef void (*driver_visitor)(void *context, const driver *driver);

static void visit_drivers(const ls__netlist *netlist, driver_visitor visit, void *context)
{
    for (uint32_t i = 0; i < netlist->port_count; i++) {
        const ls__signal *port = &netlist->signals[i];
        if (port->direction == LS__DIRECTION_INPUT)
            visit(context, &(driver){port->nets, DRIVER_PLAIN, "input", port->name, ""});
    }
    for (uint32_t i = 0; i < netlist->cell_count; i++) {
        const ls__cell *cell = &netlist->cells[i];
        driver_kind kind = cell->type == LS__CELL_TRIBUF ? DRIVER_TRISTATE : DRIVER_PLAIN;
        driver found = {cell->y, kind, "cell", cell->name, cell->type_name};
        visit(context, &found);
        if (cell->x.count || cell->co.count) {
            found.nets = cell->x;
            visit(context, &found);
            found.nets = cell->co;
            visit(context, &found);
        }
    }
    for (uint32_t i = 0; i < netlist->register_count; i++) {
        const ls__register *reg = &netlist->registers[i];
        visit(context, &(driver){reg->q, DRIVER_PLAIN, "cell", reg->name, reg->type_name});
    }
    for (uint32_t i = 0; i < netlist->memory_count; i++) {
        const ls__memory *memory = &netlist->memories[i];
        for (uint32_t j = 0; j < memory->read_count; j++)
            visit(context,
                  &(driver){memory->reads[j].data, DRIVER_PLAIN, "memory", memory->name, ""});
    }
}

typedef struct conflict {
    uint8_t *kinds;
    uint32_t net; /* the first with a conflict; 0 = none */
    uint32_t found;
    char names[2][200];
} conflict;

static void check_driver(void *context, const driver *driver)
{
    conflict *state = context;
    for (uint32_t i = 0; i < driver->nets.count; i++) {
        uint32_t net = driver->nets.items[i].index;
        uint8_t before = state->kinds[net];
        bool good =
            before == DRIVER_NONE || (before == DRIVER_TRISTATE && driver->kind == DRIVER_TRISTATE);
        if (!good && state->found == 0) {
            state->net = net;
            state->found = 1;
        }
        state->kinds[net] = (uint8_t)driver->kind;
    }
}

static void name_driver(void *context, const driver *driver)
{
    conflict *state = context;
    for (uint32_t i = 0; i < driver->nets.count && state->found < 2; i++) {
        if (driver->nets.items[i].index == state->net)
            snprintf(state->names[state->found++], sizeof state->names[0], "%s '%.120s'%s%.40s%s",
                     driver->what, driver->name, *driver->type ? " (" : "", driver->type,
                     *driver->type ? ")" : "");
    }
}

/* A public name where there is one. */
static const char *name_of_net(const ls__netlist *netlist, uint32_t net, uint32_t *bit)
{
    const char *name = "(without a name)";
    for (uint32_t i = 0; i < netlist->signal_count; i++) {
        const ls__signal *signal = &netlist->signals[i];
        for (uint32_t j = 0; j < signal->nets.count; j++) {
            if (signal->nets.items[j].index != net)
                continue;
            name = signal->name;
            *bit = j;
            if (!signal->hidden)
                return name;
        }
    }
    return name;
}

void ls__check_drivers(ls__reader *reader)
{
    const ls__netlist *netlist = reader->netlist;
    conflict state = {.kinds = LS__NEW_ARRAY(&reader->scratch, uint8_t, netlist->net_count)};
    memset(state.kinds, DRIVER_PLAIN, LS__NET_FIRST); /* a constant drives itself */
    visit_drivers(netlist, check_driver, &state);
    if (!state.found)
        return;
    uint32_t bit = 0;
    state.found = 0;
    if (state.net < LS__NET_FIRST)
        snprintf(state.names[state.found++], sizeof state.names[0], "the constant %u", state.net);
    visit_drivers(netlist, name_driver, &state);
    const char *name = state.net < LS__NET_FIRST ? "" : name_of_net(netlist, state.net, &bit);
    if (state.net < LS__NET_FIRST)
        ls__reader_fail(reader, LS_E_FORMAT, "%s drives a net that is tied to %s", state.names[1],
                        state.names[0]);
    ls__reader_fail(reader, LS_E_FORMAT, "bit %u of net '%.100s' is driven by %s and by %s", bit,
                    name, state.names[0], state.names[1]);
}
