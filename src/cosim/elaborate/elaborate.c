/* SPDX-License-Identifier: Apache-2.0 */
/* The course of elaboration, and nets: which node they are a bit of, and words made of them. */
#include "cosim/elaborate/elaboration.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/elaborate/order.h"

static ls__net_place place_of(const ls__elaboration *e, ls__net net)
{
    return e->places.items[net.index];
}

ls__node_id ls__net_bit(ls__elaboration *e, ls__net net)
{
    ls__net_place place = place_of(e, net);
    if (ls__builder_width(&e->builder, place.node) == 1)
        return place.node;
    return ls__build_slice(&e->builder, place.node, place.bit, 1);
}

/* How many nets from the first on are constants; their values go to *value. */
static uint32_t constant_run(const ls__elaboration *e, const ls__net *nets, uint32_t count,
                             uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < count; i++) {
        ls__net_place place = place_of(e, nets[i]);
        uint64_t constant;
        if (!ls__builder_constant(&e->builder, place.node, &constant))
            return i;
        *value |= (constant >> place.bit & 1) << i;
    }
    return count;
}

/* One piece of a word: a run of constants, of adjacent bits of one node, or of one bit again and
 * again. At most 64 nets. */
static ls__node_id gather_piece(ls__elaboration *e, const ls__net *nets, uint32_t count,
                                uint32_t *taken)
{
    uint64_t value;
    uint32_t run = constant_run(e, nets, count, &value);
    if (run) {
        *taken = run;
        return ls__build_const(&e->builder, run, value);
    }
    ls__net_place first = place_of(e, nets[0]);
    for (run = 1; run < count; run++) {
        ls__net_place next = place_of(e, nets[run]);
        if (!ls__node_same(next.node, first.node) || next.bit != first.bit + run)
            break;
    }
    ls__node_id piece = ls__build_slice(&e->builder, first.node, first.bit, run);
    if (run == 1) {
        for (; run < count; run++) {
            ls__net_place next = place_of(e, nets[run]);
            if (!ls__node_same(next.node, first.node) || next.bit != first.bit)
                break;
        }
        piece = ls__build_extend(&e->builder, piece, run, true);
    }
    *taken = run;
    return piece;
}

/* The pieces are joined in pairs, so that the depth is the logarithm of their number. */
static ls__node_id gather_limb(ls__elaboration *e, const ls__net *nets, uint32_t count)
{
    ls__node_id pieces[64];
    uint32_t piece_count = 0;
    for (uint32_t i = 0, taken; i < count; i += taken)
        pieces[piece_count++] = gather_piece(e, nets + i, count - i, &taken);
    while (piece_count > 1) {
        for (uint32_t i = 0; i < piece_count / 2; i++)
            pieces[i] = ls__build_concat(&e->builder, pieces[2 * i], pieces[2 * i + 1]);
        if (piece_count % 2)
            pieces[piece_count / 2] = pieces[piece_count - 1];
        piece_count = (piece_count + 1) / 2;
    }
    return pieces[0];
}

ls__word ls__net_word(ls__elaboration *e, ls__nets nets)
{
    if (nets.count == 0)
        return ls__word_const(&e->builder, 1, 0);
    ls__word word = ls__word_new(&e->builder, nets.count);
    for (uint32_t i = 0; i < ls__word_limbs(nets.count); i++)
        word.limbs[i] = gather_limb(e, nets.items + 64 * i, ls__word_limb_width(nets.count, i));
    return word;
}

ls__word ls__net_extended(ls__elaboration *e, ls__nets nets, uint32_t width, bool is_signed)
{
    if (nets.count > width)
        nets.count = width;
    return ls__word_extend(&e->builder, ls__net_word(e, nets), width, is_signed && nets.count);
}

void ls__net_assign(ls__elaboration *e, ls__nets nets, ls__word word)
{
    for (uint32_t i = 0; i < nets.count; i++) {
        ls__net_place *place = &e->places.items[nets.items[i].index];
        if (i < word.width)
            *place = (ls__net_place){word.limbs[i / 64], (uint8_t)(i % 64)};
        else
            *place = e->places.items[LS__NET_0];
    }
}

ls__word ls__bits_word(ls__elaboration *e, ls__bits bits, uint32_t width)
{
    ls__word word = ls__word_new(&e->builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++) {
        uint64_t value = 0;
        uint32_t limb_width = ls__word_limb_width(width, i);
        for (uint32_t k = 0; k < limb_width && 64 * i + k < bits.count; k++)
            value |= (uint64_t)(bits.items[64 * i + k] == LS__BIT_1) << k;
        word.limbs[i] = ls__build_const(&e->builder, limb_width, value);
    }
    return word;
}

const ls__cell *ls__cell_at(const ls__elaboration *e, uint32_t index)
{
    uint32_t count = e->netlist->cell_count;
    return index < count ? &e->netlist->cells[index] : &e->parts.items[index - count];
}

ls__net ls__net_new(ls__elaboration *e)
{
    ls__vec_push(&e->arena, &e->places, e->places.items[LS__NET_0]);
    ls__vec_push(&e->arena, &e->drivers, (ls__vertex){0});
    return (ls__net){e->places.count - 1};
}

const char *ls__net_name(ls__elaboration *e, ls__net net)
{
    const char *name = "a net without a name";
    for (uint32_t i = 0; i < e->netlist->signal_count; i++) {
        const ls__signal *signal = &e->netlist->signals[i];
        for (uint32_t k = 0; k < signal->nets.count; k++) {
            if (signal->nets.items[k].index != net.index)
                continue;
            name = signal->name;
            if (signal->nets.count > 1)
                name = ls__arena_printf(
                    &e->arena, "%s[%d]", signal->name,
                    (int)(signal->offset +
                          (int32_t)(signal->upto ? signal->nets.count - 1 - k : k)));
            if (!signal->hidden)
                return name;
            break;
        }
    }
    return name;
}

ls_status ls__net_drive(ls__elaboration *e, ls__nets nets, ls__vertex vertex, const char *name)
{
    for (uint32_t i = 0; i < nets.count; i++) {
        ls__net net = nets.items[i];
        bool is_constant = net.index < LS__NET_FIRST;
        if (!is_constant && e->drivers.items[net.index].kind == LS__VERTEX_NONE) {
            e->drivers.items[net.index] = vertex;
            continue;
        }
        ls__fail(e->error, LS_E_UNSUPPORTED, "%s is driven by %s and by something else",
                 is_constant ? "a constant" : ls__net_name(e, net), name);
        return ls__fail_hint(e->error, LS_E_UNSUPPORTED,
                             "a net may have one driver; only ports of the top may have several "
                             "tri-state buffers");
    }
    return LS_OK;
}

void ls__elaborate_warn(const ls__elaboration *e, const char *format, ...)
{
    if (!e->params || !e->params->warn)
        return;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    e->params->warn(e->params->context, message);
}

/* Initial values of nets, from the attributes of signals. */
static void read_init(ls__elaboration *e)
{
    for (uint32_t i = 0; i < e->netlist->signal_count; i++) {
        const ls__signal *signal = &e->netlist->signals[i];
        if (signal->init.count == 0)
            continue;
        if (!e->init)
            e->init = LS__NEW_ARRAY(&e->arena, uint8_t, e->netlist->net_count);
        for (uint32_t k = 0; k < signal->init.count && k < signal->nets.count; k++) {
            uint8_t bit = signal->init.items[k];
            if (bit == LS__BIT_0 || bit == LS__BIT_1)
                e->init[signal->nets.items[k].index] = (uint8_t)(1 + bit);
        }
    }
}

static void start(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    uint32_t net_count = netlist->net_count;
    ls__builder_init(&e->builder, &e->arena, netlist->cell_count + netlist->register_count + 64);
    ls__node_id zero = ls__build_const(&e->builder, 1, 0);
    e->places.items = LS__NEW_ARRAY(&e->arena, ls__net_place, net_count);
    e->places.count = e->places.capacity = net_count;
    for (uint32_t i = 0; i < net_count; i++)
        e->places.items[i].node = zero;
    e->places.items[LS__NET_1].node = ls__build_const(&e->builder, 1, 1);
    e->drivers.items = LS__NEW_ARRAY(&e->arena, ls__vertex, net_count);
    e->drivers.count = e->drivers.capacity = net_count;
    read_init(e);

    ls__graph *graph = e->graph;
    graph->top = ls__arena_strdup(&graph->arena, netlist->top, strlen(netlist->top));
    graph->cell_count = netlist->cell_count + netlist->register_count;
    memcpy(graph->digest, netlist->digest, sizeof graph->digest);
}

static ls_status elaborate(ls__elaboration *e)
{
    start(e);
    ls_status status = ls__elaborate_ports(e);
    if (status == LS_OK)
        status = ls__elaborate_registers(e);
    if (status == LS_OK)
        status = ls__elaborate_memories(e);
    if (status == LS_OK)
        status = ls__elaborate_cells(e);
    if (status != LS_OK)
        return status;
    ls__elaborate_register_inputs(e);
    status = ls__elaborate_memory_inputs(e);
    if (status != LS_OK)
        return status;
    ls__elaborate_effects(e);
    ls__elaborate_signals(e);
    ls__graph *graph = e->graph;
    graph->regs = e->regs.items;
    graph->reg_count = e->regs.count;
    graph->initials = e->initials.items;
    graph->initial_count = e->initials.count;
    graph->domains = e->domains.items;
    graph->domain_count = e->domains.count;
    ls__graph_order(graph, &e->builder, &e->arena);
    return LS_OK;
}

ls_status ls__elaborate(const ls__netlist *netlist, const ls__elaborate_params *params,
                        ls__graph **graph, ls_error *error)
{
    if (!netlist || !graph)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a netlist and a place for the graph");
    *graph = NULL;
    ls__elaboration *e = ls__mem_alloc(1, sizeof *e);
    ls__graph *made = ls__mem_alloc(1, sizeof *made);
    if (!e || !made) {
        ls__mem_free(e);
        ls__mem_free(made);
        return ls__fail_oom(error, sizeof *e);
    }
    *e = (ls__elaboration){.netlist = netlist, .params = params, .error = error, .graph = made};
    ls__oom oom;
    ls_status status;
    ls__arena_init(&e->arena, &oom, 0);
    ls__arena_init(&made->arena, &oom, 0);
    if (setjmp(oom.jump))
        status = ls__oom_status(&oom, error);
    else
        status = elaborate(e);
    ls__arena_finish(&e->arena);
    ls__mem_free(e);
    if (status != LS_OK)
        ls__graph_destroy(&made);
    else
        made->arena.oom = NULL;
    *graph = made;
    return status;
}
