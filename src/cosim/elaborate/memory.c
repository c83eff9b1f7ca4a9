/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memories. An asynchronous read port is MEM nodes; a synchronous one is registers that take what
 * MEM nodes show at the edge, with the writes of the same edge laid over it where the port is
 * transparent. Addresses count from 0 here, and are wide enough that no address wraps onto a word.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "cosim/elaborate/elaboration.h"

/* The number of a word. Beyond 64 bits every address is out of range. */
static ls__node_id word_number(ls__elaboration *e, const ls__memory *memory, ls__nets nets)
{
    ls__builder *builder = &e->builder;
    ls__word address = ls__net_word(e, nets);
    ls__node_id low = address.limbs[0];
    if (address.width > 64) {
        ls__word above = ls__word_slice(builder, address, 64, address.width - 64);
        low = ls__build_mux(builder, ls__word_reduce(builder, LS__NODE_REDOR, above), low,
                            ls__build_const(builder, 64, UINT64_MAX));
    }
    if (memory->start == 0)
        return low;
    uint32_t width = ls__builder_width(builder, low);
    if (width < 34)
        low = ls__build_extend(builder, low, width = 34, false);
    return ls__build_binary(builder, LS__NODE_SUB, low,
                            ls__build_const(builder, width, memory->start));
}

static ls__word read_word(ls__elaboration *e, uint32_t index, ls__node_id address)
{
    uint32_t width = e->netlist->memories[index].width;
    ls__word word = ls__word_new(&e->builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++)
        word.limbs[i] = ls__build_node(&e->builder, LS__NODE_MEM, ls__word_limb_width(width, i),
                                       (uint64_t)i << 32 | index, address, address, address);
    return word;
}

void ls__elaborate_async_read(ls__elaboration *e, const ls__async_read *read)
{
    const ls__memory *memory = &e->netlist->memories[read->memory];
    ls__node_id address = word_number(e, memory, read->port->address);
    ls__net_assign(e, read->port->data, read_word(e, read->memory, address));
}

/* Whether a control of a port (active high) is there at all. */
static bool has_reset(ls__nets control)
{
    return control.count &&
           (control.items[0].index == LS__NET_1 || control.items[0].index >= LS__NET_FIRST);
}

/* A memory's words and their initial values. */
static void create_memory(ls__elaboration *e, uint32_t index)
{
    ls__arena *arena = &e->graph->arena;
    const ls__memory *from = &e->netlist->memories[index];
    ls__graph_memory *to = &e->graph->memories[index];
    uint32_t limbs = ls__word_limbs(from->width);
    *to = (ls__graph_memory){.name = ls__arena_strdup(arena, from->name, strlen(from->name)),
                             .width = from->width,
                             .depth = from->depth,
                             .start = from->start,
                             .limbs = limbs};
    if (from->init.count == 0)
        return;
    uint64_t *init = LS__NEW_ARRAY(arena, uint64_t, (size_t)from->depth * limbs);
    uint64_t *known = LS__NEW_ARRAY(arena, uint64_t, (size_t)from->depth * limbs);
    const uint8_t *bits = from->init.items;
    size_t left = from->init.count;
    for (size_t word = 0; word < from->depth; word++) {
        for (uint32_t i = 0; i < from->width && left; i++, left--, bits++) {
            size_t at = word * limbs + i / 64;
            known[at] |= (uint64_t)(*bits <= LS__BIT_1) << (i % 64);
            init[at] |= (uint64_t)(*bits == LS__BIT_1) << (i % 64);
        }
    }
    to->init = init;
    to->init_known = known;
}

/* The nodes of a read port: synchronous ones are state, asynchronous ones wait for their address.
 */
static ls_status create_read(ls__elaboration *e, uint32_t memory, const ls__read_port *port,
                             ls__node_id *node)
{
    const char *name = e->netlist->memories[memory].name;
    if (port->data.count == 0)
        return LS_OK;
    if (port->clock.count == 0) {
        ls__vertex vertex = {LS__VERTEX_READ, e->reads.count};
        ls__async_read read = {memory, port};
        ls__vec_push(&e->arena, &e->reads, read);
        return ls__net_drive(e, port->data, vertex, name);
    }
    ls_status status = ls__net_drive(e, port->data, (ls__vertex){LS__VERTEX_STATE, 0}, name);
    if (status == LS_OK)
        *node = ls__state_create(e, port->data, has_reset(port->arst), port->init_value);
    return status;
}

ls_status ls__elaborate_memories(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    e->graph->memory_count = netlist->memory_count;
    e->graph->memories = LS__NEW_ARRAY(&e->graph->arena, ls__graph_memory, netlist->memory_count);
    uint32_t reads = 0;
    for (uint32_t i = 0; i < netlist->memory_count; i++)
        reads += netlist->memories[i].read_count;
    e->read_nodes = LS__NEW_ARRAY(&e->arena, ls__node_id, reads);
    ls__node_id *node = e->read_nodes;
    for (uint32_t i = 0; i < netlist->memory_count; i++) {
        create_memory(e, i);
        for (uint32_t k = 0; k < netlist->memories[i].read_count; k++) {
            ls_status status = create_read(e, i, &netlist->memories[i].reads[k], node++);
            if (status != LS_OK)
                return status;
        }
    }
    return LS_OK;
}

static bool bit_at(ls__bits bits, uint32_t at)
{
    return at < bits.count && bits.items[at] == LS__BIT_1;
}

/* 1 where the address is that of a word. */
static ls__node_id in_range(ls__elaboration *e, const ls__memory *memory, ls__node_id address)
{
    uint32_t width = ls__builder_width(&e->builder, address);
    if (width < 33 && memory->depth >> width)
        return ls__build_const(&e->builder, 1, 1);
    return ls__build_binary(&e->builder, LS__NODE_ULT, address,
                            ls__build_const(&e->builder, width, memory->depth));
}

static ls__node_id same_address(ls__elaboration *e, ls__node_id a, ls__node_id b)
{
    uint32_t a_width = ls__builder_width(&e->builder, a);
    uint32_t b_width = ls__builder_width(&e->builder, b);
    uint32_t width = a_width > b_width ? a_width : b_width;
    return ls__build_binary(&e->builder, LS__NODE_EQ,
                            ls__build_extend(&e->builder, a, width, false),
                            ls__build_extend(&e->builder, b, width, false));
}

/* What the port shows at an edge: the words before it, and on top what transparent write ports
 * write, the strongest last. */
static ls__word seen_word(ls__elaboration *e, uint32_t index, const ls__read_port *port)
{
    ls__builder *builder = &e->builder;
    const ls__memory *memory = &e->netlist->memories[index];
    ls__node_id address = word_number(e, memory, port->address);
    ls__word word = read_word(e, index, address);
    for (uint32_t i = 0; i < memory->write_count; i++) {
        const ls__write_port *write = &memory->writes[i];
        if (!bit_at(port->transparent, i))
            continue;
        ls__node_id hit = same_address(e, address, word_number(e, memory, write->address));
        hit = ls__build_binary(builder, LS__NODE_AND, hit, in_range(e, memory, address));
        ls__word enables = ls__net_extended(e, write->enable, memory->width, false);
        ls__layer layer = {LS__NO_NODE,
                           ls__word_bitwise(builder, LS__NODE_AND, enables,
                                            ls__word_spread(builder, hit, memory->width)),
                           ls__net_extended(e, write->data, memory->width, false)};
        word = ls__state_apply(e, word, &layer, 1);
    }
    return word;
}

static void clock_read(ls__elaboration *e, uint32_t index, const ls__read_port *port,
                       ls__node_id first)
{
    ls__builder *builder = &e->builder;
    uint32_t width = port->data.count;
    ls__layer arst = {0};
    uint32_t layers = has_reset(port->arst);
    if (layers) {
        arst = ls__state_layer(e, ls__net_bit(e, port->arst.items[0]),
                               ls__bits_word(e, port->arst_value, width));
        ls__state_hold(e, first, &arst, 1);
    }
    uint32_t domain = ls__state_domain(e, port->clock.items[0], port->clock_rising);
    if (domain == UINT32_MAX)
        return;
    ls__word kept = ls__word_new(builder, width);
    for (uint32_t i = 0; i < ls__word_limbs(width); i++)
        kept.limbs[i] = (ls__node_id){first.index + i};
    ls__word next = ls__word_extend(builder, seen_word(e, index, port), width, false);
    bool resets = has_reset(port->srst);
    ls__word reset = resets ? ls__bits_word(e, port->srst_value, width) : next;
    ls__node_id on = resets ? ls__net_bit(e, port->srst.items[0]) : LS__NO_NODE;
    if (resets && port->srst_needs_enable)
        next = ls__word_mux(builder, on, next, reset);
    if (port->enable.count)
        next = ls__word_mux(builder, ls__net_bit(e, port->enable.items[0]), kept, next);
    if (resets && !port->srst_needs_enable)
        next = ls__word_mux(builder, on, next, reset);
    ls__state_clock(e, first, ls__state_apply(e, next, &arst, layers), domain);
}

static bool never_writes(const ls__write_port *port)
{
    for (uint32_t i = 0; i < port->enable.count; i++) {
        if (port->enable.items[i].index == LS__NET_1 ||
            port->enable.items[i].index >= LS__NET_FIRST)
            return false;
    }
    return true;
}

static ls_status clock_write(ls__elaboration *e, uint32_t index, uint32_t number)
{
    const ls__memory *memory = &e->netlist->memories[index];
    const ls__write_port *port = &memory->writes[number];
    if (never_writes(port))
        return LS_OK;
    if (port->clock.count == 0) {
        ls__fail(e->error, LS_E_UNSUPPORTED, "write port %" PRIu32 " of memory %s has no clock",
                 number, memory->name);
        ls__fail_where(e->error, LS_E_UNSUPPORTED, "%s", memory->source);
        return ls__fail_hint(e->error, LS_E_UNSUPPORTED,
                             "only writes at an edge of a clock can be simulated");
    }
    uint32_t domain = ls__state_domain(e, port->clock.items[0], port->clock_rising);
    if (domain == UINT32_MAX)
        return LS_OK;
    uint32_t limbs = ls__word_limbs(memory->width);
    ls__node_id *enables = LS__NEW_ARRAY(&e->graph->arena, ls__node_id, limbs);
    ls__node_id *data = LS__NEW_ARRAY(&e->graph->arena, ls__node_id, limbs);
    ls__word enable_word = ls__net_extended(e, port->enable, memory->width, false);
    ls__word data_word = ls__net_extended(e, port->data, memory->width, false);
    memcpy(enables, enable_word.limbs, limbs * sizeof *enables);
    memcpy(data, data_word.limbs, limbs * sizeof *data);
    e->graph->writes[e->graph->write_count++] =
        (ls__graph_write){index, domain, word_number(e, memory, port->address), enables, data};
    return LS_OK;
}

ls_status ls__elaborate_memory_inputs(ls__elaboration *e)
{
    const ls__netlist *netlist = e->netlist;
    uint32_t writes = 0;
    for (uint32_t i = 0; i < netlist->memory_count; i++)
        writes += netlist->memories[i].write_count;
    e->graph->writes = LS__NEW_ARRAY(&e->graph->arena, ls__graph_write, writes);
    const ls__node_id *node = e->read_nodes;
    for (uint32_t i = 0; i < netlist->memory_count; i++) {
        const ls__memory *memory = &netlist->memories[i];
        for (uint32_t k = 0; k < memory->read_count; k++, node++) {
            if (memory->reads[k].clock.count && memory->reads[k].data.count)
                clock_read(e, i, &memory->reads[k], *node);
        }
        for (uint32_t k = 0; k < memory->write_count; k++) {
            ls_status status = clock_write(e, i, k);
            if (status != LS_OK)
                return status;
        }
    }
    return LS_OK;
}
