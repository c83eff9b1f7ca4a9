/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of the top, and nets with tri-state buffers. A bit of an inout, or a net that buffers
 * drive, has three values: what comes from outside (0 where the net is no bit of an inout), what
 * the design puts out (the enabled buffers' data), and whether it does. The net itself is
 * enable ? out : outside.
 */
#include "base/status.h"
#include "cosim/elaborate/elaboration.h"

/* The bus of a net, made when there is none. */
static ls__bus *bus_of(ls__elaboration *e, ls__net net)
{
    if (e->bus_at[net.index] == 0) {
        ls__bus bus = {.net = net, .outside = {LS__NET_0}};
        ls__vec_push(&e->arena, &e->buses, bus);
        e->bus_at[net.index] = e->buses.count;
    }
    return &e->buses.items[e->bus_at[net.index] - 1];
}

static bool has_buses(const ls__netlist *netlist)
{
    for (uint32_t i = 0; i < netlist->port_count; i++) {
        if (netlist->signals[i].direction == LS__DIRECTION_INOUT)
            return true;
    }
    for (uint32_t i = 0; i < netlist->cell_count; i++) {
        if (netlist->cells[i].type == LS__CELL_TRIBUF)
            return true;
    }
    return false;
}

static ls_status check_bus(ls__elaboration *e, const ls__bus *bus)
{
    if (bus->enables.count < 2 || bus->is_port)
        return LS_OK;
    ls__fail(e->error, LS_E_UNSUPPORTED,
             "%s is a tri-state bus inside the design: %u buffers drive "
             "it",
             ls__net_name(e, bus->net), bus->enables.count);
    return ls__fail_hint(e->error, LS_E_UNSUPPORTED,
                         "Yosys' pass `tribuf -logic` makes multiplexers of such buses");
}

static void add_buffers(ls__elaboration *e)
{
    for (uint32_t i = 0; i < e->netlist->cell_count; i++) {
        const ls__cell *cell = &e->netlist->cells[i];
        for (uint32_t k = 0; cell->type == LS__CELL_TRIBUF && k < cell->y.count; k++) {
            ls__bus *bus = bus_of(e, cell->y.items[k]);
            ls__vec_push(&e->arena, &bus->data, cell->a.items[k]);
            ls__vec_push(&e->arena, &bus->enables, cell->s.items[0]);
        }
    }
}

static ls_status find_buses(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    e->bus_at = LS__NEW_ARRAY(&e->arena, uint32_t, netlist->net_count);
    add_buffers(e);
    for (uint32_t i = 0; i < netlist->port_count; i++) {
        const ls__signal *signal = &netlist->signals[i];
        for (uint32_t k = 0; k < signal->nets.count; k++) {
            ls__net net = signal->nets.items[k];
            bool is_bus = e->bus_at[net.index] || signal->direction == LS__DIRECTION_INOUT;
            if (is_bus && net.index >= LS__NET_FIRST && signal->direction != LS__DIRECTION_INPUT)
                bus_of(e, net)->is_port = true;
        }
    }
    for (uint32_t i = 0; i < e->buses.count; i++) {
        ls__bus *bus = &e->buses.items[i];
        bus->out = ls__net_new(e);
        bus->enable = ls__net_new(e);
        ls_status status = check_bus(e, bus);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static void create_input(ls__elaboration *e, ls__nets nets, uint32_t port)
{
    ls__word word = ls__word_new(&e->builder, nets.count);
    for (uint32_t i = 0; i < ls__word_limbs(nets.count); i++) {
        ls__node_id node = ls__build_own(&e->builder, LS__NODE_INPUT,
                                         ls__word_limb_width(nets.count, i), e->inputs.count);
        ls__input_limb limb = {node, port, 64 * i};
        ls__vec_push(&e->arena, &e->inputs, limb);
        word.limbs[i] = node;
    }
    ls__net_assign(e, nets, word);
}

/* Nets of its own stand for what comes from outside. */
static void create_inout(ls__elaboration *e, ls__nets nets, uint32_t port)
{
    ls__net *outside = LS__NEW_ARRAY(&e->arena, ls__net, nets.count);
    for (uint32_t i = 0; i < nets.count; i++)
        outside[i] = ls__net_new(e);
    create_input(e, (ls__nets){outside, nets.count}, port);
    for (uint32_t i = 0; i < nets.count; i++) {
        if (nets.items[i].index >= LS__NET_FIRST)
            bus_of(e, nets.items[i])->outside = outside[i];
    }
}

ls_status ls__elaborate_ports(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    ls_status status = has_buses(netlist) ? find_buses(e) : LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < netlist->port_count; i++) {
        const ls__signal *signal = &netlist->signals[i];
        if (signal->nets.count == 0)
            continue;
        if (signal->direction == LS__DIRECTION_INOUT)
            create_inout(e, signal->nets, i);
        if (signal->direction != LS__DIRECTION_INPUT)
            continue;
        create_input(e, signal->nets, i);
        status = ls__net_drive(e, signal->nets, (ls__vertex){LS__VERTEX_STATE, 0},
                               "an input of the design");
    }
    return status;
}

ls_status ls__elaborate_bus_drivers(ls__elaboration *e)
{
    for (uint32_t i = 0; i < e->buses.count; i++) {
        ls__bus *bus = &e->buses.items[i];
        ls__vertex vertex = {LS__VERTEX_BUS, i};
        ls__nets own[2] = {{&bus->out, 1}, {&bus->enable, 1}};
        if (bus->enables.count == 0 && e->drivers.items[bus->net.index].kind != LS__VERTEX_NONE) {
            bus->out = bus->net; /* the design drives the inout, always */
            bus->enable = (ls__net){LS__NET_1};
            continue;
        }
        ls_status status = ls__net_drive(e, (ls__nets){&bus->net, 1}, vertex, "a tri-state buffer");
        for (uint32_t k = 0; status == LS_OK && k < 2; k++)
            status = ls__net_drive(e, own[k], vertex, "a tri-state buffer");
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

void ls__elaborate_bus(ls__elaboration *e, const ls__bus *bus)
{
    ls__builder *builder = &e->builder;
    ls__node_id out = ls__build_const(builder, 1, 0), enable = out;
    for (uint32_t i = 0; i < bus->enables.count; i++) {
        ls__node_id on = ls__net_bit(e, bus->enables.items[i]);
        ls__node_id data = ls__net_bit(e, bus->data.items[i]);
        enable = ls__build_binary(builder, LS__NODE_OR, enable, on);
        out = ls__build_binary(builder, LS__NODE_OR, out,
                               ls__build_binary(builder, LS__NODE_AND, on, data));
    }
    ls__node_id value = ls__build_mux(builder, enable, ls__net_bit(e, bus->outside), out);
    ls__net_assign(e, (ls__nets){&bus->net, 1}, ls__word_of(builder, value));
    ls__net_assign(e, (ls__nets){&bus->out, 1}, ls__word_of(builder, out));
    ls__net_assign(e, (ls__nets){&bus->enable, 1}, ls__word_of(builder, enable));
}
