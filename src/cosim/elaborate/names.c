/* SPDX-License-Identifier: Apache-2.0 */
/* What people see of a design: its signals, with the nodes their bits are in, and its effects
 * ($print, assertions). Everything is copied, as the netlist may be gone before the graph. */
#include <stdlib.h>
#include <string.h>

#include "cosim/elaborate/elaboration.h"

static const char *copy_text(ls__elaboration *e, const char *text)
{
    return ls__arena_strdup(&e->graph->arena, text ? text : "", text ? strlen(text) : 0);
}

/* ---- effects ---- */

static int compare_priority(const void *a, const void *b)
{
    const ls__effect *x = *(const ls__effect *const *)a, *y = *(const ls__effect *const *)b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x < y ? -1 : x > y;
}

static ls__node_id control(ls__elaboration *e, ls__nets nets)
{
    return nets.count ? ls__word_reduce(&e->builder, LS__NODE_REDOR, ls__net_word(e, nets))
                      : ls__build_const(&e->builder, 1, 1);
}

/* False for one that never happens: its clocks never change. */
static bool create_effect(ls__elaboration *e, const ls__effect *from, ls__graph_effect *to)
{
    ls__arena *arena = &e->graph->arena;
    uint32_t *domains = LS__NEW_ARRAY(arena, uint32_t, from->triggers.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->triggers.count; i++) {
        uint32_t domain = ls__state_domain(e, from->triggers.items[i], from->trigger_rising[i]);
        if (domain != UINT32_MAX)
            domains[count++] = domain;
    }
    if (from->triggers.count && count == 0)
        return false;
    *to = (ls__graph_effect){.kind = from->kind,
                             .domains = domains,
                             .domain_count = count,
                             .is_initial = from->initial,
                             .enable = control(e, from->enable),
                             .condition = control(e, from->condition),
                             .argument_bits = from->arguments.count,
                             .format = copy_text(e, from->format),
                             .name = copy_text(e, from->name),
                             .source = copy_text(e, from->source)};
    if (from->arguments.count) {
        ls__word word = ls__net_word(e, from->arguments);
        to->argument_count = ls__word_limbs(word.width);
        ls__node_id *arguments = LS__NEW_ARRAY(arena, ls__node_id, to->argument_count);
        memcpy(arguments, word.limbs, to->argument_count * sizeof *arguments);
        to->arguments = arguments;
    }
    return true;
}

void ls__elaborate_effects(ls__elaboration *e)
{
    uint32_t count = e->netlist->effect_count;
    const ls__effect **sorted = LS__NEW_ARRAY(&e->arena, const ls__effect *, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &e->netlist->effects[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, compare_priority);
    ls__graph *graph = e->graph;
    graph->effects = LS__NEW_ARRAY(&graph->arena, ls__graph_effect, count);
    for (uint32_t i = 0; i < count; i++) {
        if (create_effect(e, sorted[i], &graph->effects[graph->effect_count]))
            graph->effect_count++;
    }
}

/* ---- signals ---- */

/* One piece: a run of constants, or of adjacent bits of one node. */
static uint32_t next_piece(ls__elaboration *e, const ls__net *nets, uint32_t count,
                           ls__piece *piece)
{
    ls__net_place first = e->places.items[nets[0].index];
    uint64_t value = 0, constant;
    uint32_t run = 0;
    for (; run < count && run < 64; run++) {
        ls__net_place place = e->places.items[nets[run].index];
        if (!ls__builder_constant(&e->builder, place.node, &constant))
            break;
        value |= (constant >> place.bit & 1) << run;
    }
    if (run) {
        *piece = (ls__piece){ls__build_const(&e->builder, run, value), 0, (uint8_t)run};
        return run;
    }
    for (run = 1; run < count; run++) {
        ls__net_place place = e->places.items[nets[run].index];
        if (!ls__node_same(place.node, first.node) || place.bit != first.bit + run)
            break;
    }
    *piece = (ls__piece){first.node, first.bit, (uint8_t)run};
    return run;
}

/* Pieces of all signals lie in one array. */
typedef struct piece_list {
    ls__piece *items;
    size_t count;
} piece_list;

static void set_pieces(ls__elaboration *e, ls__graph_signal *signal, ls__nets nets,
                       piece_list *list)
{
    signal->width = nets.count;
    signal->pieces = list->items + list->count;
    signal->is_register = nets.count > 0;
    for (uint32_t i = 0; i < nets.count;) {
        ls__piece *piece = &list->items[list->count++];
        i += next_piece(e, nets.items + i, nets.count - i, piece);
        ls__node_op op = (ls__node_op)ls__builder_node(&e->builder, piece->node)->op;
        if (op != LS__NODE_REG && op != LS__NODE_HOLD)
            signal->is_register = false;
        signal->piece_count++;
    }
}

static ls__graph_signal *add_signal(ls__elaboration *e, const ls__signal *from, const char *name,
                                    ls__nets nets, ls__direction direction, piece_list *list)
{
    ls__graph_signal *signal = &e->graph->signals[e->graph->signal_count++];
    *signal = (ls__graph_signal){.name = name,
                                 .offset = from->offset,
                                 .upto = from->upto,
                                 .is_signed = from->is_signed,
                                 .hidden = from->hidden,
                                 .direction = (uint8_t)direction};
    set_pieces(e, signal, nets, list);
    return signal;
}

static const char *suffixed(ls__elaboration *e, const char *name, const char *suffix)
{
    return ls__arena_printf(&e->graph->arena, "%s%s", name, suffix);
}

/* Whether the port is one of p__in, p__out, p__oe. */
static bool is_bus_port(const ls__elaboration *e, const ls__signal *port)
{
    if (port->direction == LS__DIRECTION_INOUT)
        return true;
    if (port->direction != LS__DIRECTION_OUTPUT || !e->bus_at)
        return false;
    for (uint32_t i = 0; i < port->nets.count; i++) {
        if (e->bus_at[port->nets.items[i].index])
            return true;
    }
    return false;
}

/* Nets that say of each bit of a port what comes in, goes out, and whether it does. */
static void bus_nets(ls__elaboration *e, ls__nets nets, ls__net *in, ls__net *out, ls__net *enable)
{
    for (uint32_t i = 0; i < nets.count; i++) {
        uint32_t at = e->bus_at ? e->bus_at[nets.items[i].index] : 0;
        in[i] = at ? e->buses.items[at - 1].outside : (ls__net){LS__NET_0};
        out[i] = at ? e->buses.items[at - 1].out : nets.items[i];
        enable[i] = at ? e->buses.items[at - 1].enable : (ls__net){LS__NET_1};
    }
}

static void add_bus_port(ls__elaboration *e, const ls__signal *port, piece_list *list)
{
    uint32_t count = port->nets.count;
    ls__net *nets = LS__NEW_ARRAY(&e->arena, ls__net, 3 * (size_t)count);
    bus_nets(e, port->nets, nets, nets + count, nets + 2 * (size_t)count);
    if (port->direction == LS__DIRECTION_INOUT)
        add_signal(e, port, suffixed(e, port->name, "__in"), (ls__nets){nets, count},
                   LS__DIRECTION_INPUT, list);
    add_signal(e, port, suffixed(e, port->name, "__out"), (ls__nets){nets + count, count},
               LS__DIRECTION_OUTPUT, list);
    add_signal(e, port, suffixed(e, port->name, "__oe"),
               (ls__nets){nets + 2 * (size_t)count, count}, LS__DIRECTION_OUTPUT, list);
}

/* --- names of tri-state ports ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_signal(const ls__graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        if (strcmp(graph->signals[i].name, name) == 0)
            return true;
    }
    return false;
}

/* A port or net that has the name of a p__in, p__out or p__oe gets a number behind it. */
static void rename_others(ls__elaboration *e, const bool *is_made)
{
    ls__graph *graph = e->graph;
    const char **made = LS__NEW_ARRAY(&e->arena, const char *, graph->port_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->port_count; i++) {
        if (is_made[i])
            made[count++] = graph->signals[i].name;
    }
    if (count == 0)
        return;
    qsort(made, count, sizeof *made, compare_names);
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const char *name = graph->signals[i].name, *next = name;
        if ((i < graph->port_count && is_made[i]) ||
            !bsearch(&name, made, count, sizeof *made, compare_names))
            continue;
        for (uint32_t number = 2; has_signal(graph, next); number++)
            next = ls__arena_printf(&graph->arena, "%s$%u", name, number);
        graph->signals[i].name = next;
    }
}

/* Counts what the signals need at most. */
static void count_signals(const ls__elaboration *e, uint32_t *signals, size_t *pieces,
                          size_t *text_bytes)
{
    for (uint32_t i = 0; i < e->netlist->signal_count; i++) {
        const ls__signal *signal = &e->netlist->signals[i];
        uint32_t copies = i < e->netlist->port_count && is_bus_port(e, signal) ? 4 : 1;
        *signals += copies;
        *pieces += (size_t)copies * signal->nets.count;
        *text_bytes += strlen(signal->name) + 1;
    }
}

/* Notes the registers' bits of a signal; whether all were noted before. */
static bool is_known(const ls__graph_signal *signal, uint64_t *known)
{
    bool is_new = false;
    for (uint32_t i = 0; i < signal->piece_count; i++) {
        const ls__piece *piece = &signal->pieces[i];
        uint64_t bits = (UINT64_MAX >> (64 - piece->width)) << piece->lsb;
        is_new |= (known[piece->node.index] & bits) != bits;
        known[piece->node.index] |= bits;
    }
    return !is_new;
}

/* Names from the source come before others. */
static void mark_aliases(ls__elaboration *e)
{
    ls__graph *graph = e->graph;
    uint64_t *known = LS__NEW_ARRAY(&e->arena, uint64_t, e->builder.nodes.count);
    for (uint32_t i = 0; i < 2 * graph->signal_count; i++) {
        ls__graph_signal *signal = &graph->signals[i % graph->signal_count];
        if (signal->is_register && signal->hidden == (i >= graph->signal_count))
            signal->is_alias = is_known(signal, known);
    }
}

static void add_inputs(ls__elaboration *e, const uint32_t *port_signals)
{
    ls__graph *graph = e->graph;
    graph->input_count = e->inputs.count;
    graph->inputs = LS__NEW_ARRAY(&graph->arena, ls__graph_input, e->inputs.count);
    for (uint32_t i = 0; i < e->inputs.count; i++) {
        const ls__input_limb *limb = &e->inputs.items[i];
        graph->inputs[i] = (ls__graph_input){limb->node, port_signals[limb->port], limb->lsb};
    }
}

void ls__elaborate_signals(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    ls__graph *graph = e->graph;
    uint32_t signals = 0;
    size_t pieces = 0, text_bytes = 0;
    count_signals(e, &signals, &pieces, &text_bytes);
    graph->signals = LS__NEW_ARRAY(&graph->arena, ls__graph_signal, signals);
    piece_list list = {LS__NEW_ARRAY(&e->arena, ls__piece, pieces), 0};
    char *text = ls__arena_alloc(&graph->arena, text_bytes, 1);
    uint32_t *port_signals = LS__NEW_ARRAY(&e->arena, uint32_t, netlist->port_count);
    bool *is_made = LS__NEW_ARRAY(&e->arena, bool, 3 * (size_t)netlist->port_count);
    for (uint32_t i = 0; i < netlist->port_count; i++) {
        const ls__signal *port = &netlist->signals[i];
        port_signals[i] = graph->signal_count;
        if (is_bus_port(e, port)) {
            add_bus_port(e, port, &list);
            for (uint32_t k = port_signals[i]; k < graph->signal_count; k++)
                is_made[k] = true;
            continue;
        }
        text = stpcpy(text, port->name) + 1;
        add_signal(e, port, text - strlen(port->name) - 1, port->nets, port->direction, &list);
    }
    graph->port_count = graph->signal_count;
    for (uint32_t i = 0; i < netlist->signal_count; i++) {
        const ls__signal *signal = &netlist->signals[i];
        if (i < netlist->port_count && !is_bus_port(e, signal))
            continue;
        text = stpcpy(text, signal->name) + 1;
        add_signal(e, signal, text - strlen(signal->name) - 1, signal->nets, LS__DIRECTION_NONE,
                   &list);
    }
    rename_others(e, is_made);
    mark_aliases(e);
    add_inputs(e, port_signals);
    /* Most signals are one piece: the final array is much smaller than what was set aside. */
    ls__piece *kept = LS__NEW_ARRAY(&graph->arena, ls__piece, list.count);
    if (list.count)
        memcpy(kept, list.items, list.count * sizeof *kept);
    for (uint32_t i = 0; i < graph->signal_count; i++)
        graph->signals[i].pieces = kept + (graph->signals[i].pieces - list.items);
}
