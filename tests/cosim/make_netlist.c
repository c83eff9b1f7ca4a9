/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a fixed size that the netlist points into. */
#include "make_netlist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

make_netlist *make_netlist_create(void)
{
    make_netlist *make = calloc(1, sizeof *make);
    ls__arena_init(&make->netlist.arena, &make->oom, 0);
    ls__netlist *netlist = &make->netlist;
    netlist->top = "top";
    netlist->creator = "test";
    netlist->net_count = LS__NET_FIRST;
    netlist->cells = make->cells;
    netlist->registers = make->registers;
    netlist->memories = make->memories;
    netlist->effects = make->effects;
    netlist->signals = make->signals;
    return make;
}

void make_netlist_destroy(make_netlist **make)
{
    ls__arena_finish(&(*make)->netlist.arena);
    free(*make);
    *make = NULL;
}

static ls__net *net_array(make_netlist *make, uint32_t count)
{
    return LS__NEW_ARRAY(&make->netlist.arena, ls__net, count);
}

ls__nets make_nets(make_netlist *make, uint32_t count)
{
    ls__net *items = net_array(make, count);
    for (uint32_t i = 0; i < count; i++)
        items[i].index = make->netlist.net_count++;
    return (ls__nets){items, count};
}

ls__nets make_constant(make_netlist *make, uint32_t count, uint64_t value)
{
    ls__net *items = net_array(make, count);
    for (uint32_t i = 0; i < count; i++)
        items[i].index = i < 64 && value >> i & 1 ? LS__NET_1 : LS__NET_0;
    return (ls__nets){items, count};
}

ls__nets make_slice(ls__nets nets, uint32_t lsb, uint32_t count)
{
    assert(lsb + count <= nets.count);
    return (ls__nets){nets.items + lsb, count};
}

ls__nets make_concat(make_netlist *make, ls__nets low, ls__nets high)
{
    ls__net *items = net_array(make, low.count + high.count);
    memcpy(items, low.items, low.count * sizeof *items);
    memcpy(items + low.count, high.items, high.count * sizeof *items);
    return (ls__nets){items, low.count + high.count};
}

ls__bits make_bits(make_netlist *make, uint32_t count, uint64_t value)
{
    uint8_t *items = LS__NEW_ARRAY(&make->netlist.arena, uint8_t, count);
    for (uint32_t i = 0; i < count && i < 64; i++)
        items[i] = value >> i & 1;
    return (ls__bits){items, count};
}

ls__signal *make_signal(make_netlist *make, const char *name, ls__nets nets,
                        ls__direction direction)
{
    assert(make->netlist.signal_count < MAKE_LIMIT);
    ls__signal *signal = &make->signals[make->netlist.signal_count++];
    *signal = (ls__signal){.name = name, .nets = nets, .direction = direction};
    if (direction != LS__DIRECTION_NONE)
        make->netlist.port_count++;
    return signal;
}

ls__nets make_input(make_netlist *make, const char *name, uint32_t count)
{
    ls__nets nets = make_nets(make, count);
    make_signal(make, name, nets, LS__DIRECTION_INPUT);
    return nets;
}

ls__cell *make_cell(make_netlist *make, ls__cell_type type, ls__nets a, ls__nets b)
{
    assert(make->netlist.cell_count < MAKE_LIMIT);
    ls__cell *cell = &make->cells[make->netlist.cell_count++];
    *cell = (ls__cell){.type = type,
                       .a = a,
                       .b = b,
                       .y = make_nets(make, a.count),
                       .name = "cell",
                       .source = "test.v:1",
                       .type_name = "$cell"};
    return cell;
}

ls__nets make_gate(make_netlist *make, ls__cell_type type, ls__nets a, ls__nets b)
{
    return make_cell(make, type, a, b)->y;
}

ls__register *make_register(make_netlist *make, ls__register_kind kind, ls__nets clock, ls__nets d)
{
    assert(make->netlist.register_count < MAKE_LIMIT);
    ls__register *r = &make->registers[make->netlist.register_count++];
    *r = (ls__register){.kind = kind,
                        .d = d,
                        .q = make_nets(make, d.count),
                        .clock = clock,
                        .clock_rising = true,
                        .enable_high = true,
                        .srst_high = true,
                        .arst_high = true,
                        .aload_high = true,
                        .set_high = true,
                        .clear_high = true,
                        .name = "register",
                        .source = "test.v:2",
                        .type_name = "$dff"};
    return r;
}

ls__memory *make_memory(make_netlist *make, uint32_t width, uint32_t depth)
{
    ls__memory *memory = &make->memories[make->netlist.memory_count++];
    *memory = (ls__memory){.name = "memory", .source = "test.v:3", .width = width, .depth = depth};
    return memory;
}
