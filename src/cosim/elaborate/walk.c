/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks cells, asynchronous read ports and buses depth-first, so that each is elaborated after what
 * it depends on. Registers and latches have their nodes already, so a cycle met here is a
 * combinational loop between cells. It may be one of words only, not of bits: then the cells of the
 * cycle that work bit by bit are taken apart, and the walk goes on with the parts. Otherwise it is
 * refused, as a path.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "base/str.h"
#include "cosim/elaborate/elaboration.h"

enum { NEW, ACTIVE, DONE };

typedef struct frame {
    ls__vertex vertex;
    uint32_t group, position; /* the next operand */
} frame;

typedef struct walk {
    ls__elaboration *e;
    LS__VEC(uint8_t) cell_states; /* grows with parts */
    uint8_t *read_states, *bus_states;
    LS__VEC(frame) stack;
} walk;

static uint8_t *state_of(walk *w, ls__vertex vertex)
{
    if (vertex.kind == LS__VERTEX_READ)
        return &w->read_states[vertex.index];
    if (vertex.kind == LS__VERTEX_BUS)
        return &w->bus_states[vertex.index];
    while (vertex.index >= w->cell_states.count)
        ls__vec_push(&w->e->arena, &w->cell_states, NEW);
    return &w->cell_states.items[vertex.index];
}

/* The group-th list of operands; false behind the last. */
static bool operand_group(const ls__elaboration *e, ls__vertex vertex, uint32_t group,
                          ls__nets *nets)
{
    if (vertex.kind == LS__VERTEX_READ) {
        *nets = e->reads.items[vertex.index].port->address;
        return group == 0;
    }
    if (vertex.kind == LS__VERTEX_BUS) {
        const ls__bus *bus = &e->buses.items[vertex.index];
        *nets = group ? (ls__nets){bus->enables.items, bus->enables.count}
                      : (ls__nets){bus->data.items, bus->data.count};
        return group < 2;
    }
    const ls__cell *cell = ls__cell_at(e, vertex.index);
    switch (group) {
    case 0:
        *nets = cell->a;
        return true;
    case 1:
        *nets = cell->b;
        return true;
    case 2:
        *nets = cell->s;
        return true;
    case 3:
        *nets = cell->bi;
        return true;
    default:
        return false;
    }
}

/* The next operand that is a vertex itself. */
static bool next_operand(const ls__elaboration *e, frame *at, ls__vertex *operand)
{
    ls__nets nets;
    for (; operand_group(e, at->vertex, at->group, &nets); at->group++, at->position = 0) {
        while (at->position < nets.count) {
            *operand = e->drivers.items[nets.items[at->position++].index];
            if (operand->kind >= LS__VERTEX_CELL)
                return true;
        }
    }
    return false;
}

static void elaborate_vertex(ls__elaboration *e, ls__vertex vertex)
{
    if (vertex.kind == LS__VERTEX_READ)
        ls__elaborate_async_read(e, &e->reads.items[vertex.index]);
    else if (vertex.kind == LS__VERTEX_BUS)
        ls__elaborate_bus(e, &e->buses.items[vertex.index]);
    else
        ls__elaborate_cell(e, ls__cell_at(e, vertex.index));
}

static void vertex_name(const ls__elaboration *e, ls__vertex vertex, ls__strbuf *text)
{
    const char *name, *source = "", *kind = "memory";
    if (vertex.kind == LS__VERTEX_READ) {
        const ls__memory *memory = &e->netlist->memories[e->reads.items[vertex.index].memory];
        name = memory->name;
        source = memory->source;
    } else if (vertex.kind == LS__VERTEX_BUS) {
        kind = "tri-state net";
        name = ls__net_name((ls__elaboration *)(uintptr_t)e, e->buses.items[vertex.index].net);
    } else {
        const ls__cell *cell = ls__cell_at(e, vertex.index);
        kind = cell->type_name;
        name = cell->name;
        source = cell->source;
    }
    ls__strbuf_printf(text, "%s %s%s%s%s", kind, name, *source ? " (" : "", source,
                      *source ? ")" : "");
}

/* The net through which the vertex of a frame was reached: the operand it read last. */
static ls__net last_operand(const ls__elaboration *e, const frame *at)
{
    ls__nets nets = {0};
    operand_group(e, at->vertex, at->group, &nets);
    return nets.items[at->position - 1];
}

/* The cycle is the stack from `begin` on: each vertex reads what the next one drives, the last
 * reads the first. Written in the direction of signals. */
static ls_status refuse_loop(walk *w, uint32_t begin)
{
    ls__elaboration *e = w->e;
    ls__strbuf path = {0};
    uint32_t count = w->stack.count - begin;
    for (uint32_t i = count; i-- > 0;) {
        const frame *at = &w->stack.items[begin + i];
        vertex_name(e, at->vertex, &path);
        const frame *reader = &w->stack.items[begin + (i ? i - 1 : count - 1)];
        ls__strbuf_printf(&path, " -> %s -> ", ls__net_name(e, last_operand(e, reader)));
        if (path.length > 4000)
            break;
    }
    ls__strbuf_printf(&path, "...");
    ls__fail(e->error, LS_E_UNSUPPORTED, "a combinational loop of %" PRIu32 " cells: %s", count,
             path.text ? path.text : "");
    ls__strbuf_finish(&path);
    return ls__fail_hint(e->error, LS_E_UNSUPPORTED,
                         "a loop must pass through a register or a latch");
}

/* Takes apart what can be of the cycle, and leaves the walk to start anew. */
static ls_status open_loop(walk *w, ls__vertex target)
{
    uint32_t begin = w->stack.count - 1;
    while (w->stack.items[begin].vertex.kind != target.kind ||
           w->stack.items[begin].vertex.index != target.index)
        begin--;
    bool opened = false;
    for (uint32_t i = 0; i < w->stack.count; i++) {
        ls__vertex vertex = w->stack.items[i].vertex;
        uint8_t *state = state_of(w, vertex);
        *state = NEW;
        if (i < begin || vertex.kind != LS__VERTEX_CELL)
            continue;
        ls__cell cell = *ls__cell_at(w->e, vertex.index);
        if (ls__elaborate_split(w->e, &cell)) {
            *state_of(w, vertex) = DONE;
            opened = true;
        }
    }
    if (!opened)
        return refuse_loop(w, begin);
    w->stack.count = 0;
    return LS_OK;
}

static ls_status walk_from(walk *w, ls__vertex root)
{
    while (*state_of(w, root) == NEW) {
        *state_of(w, root) = ACTIVE;
        ls__vec_push(&w->e->arena, &w->stack, ((frame){root, 0, 0}));
        while (w->stack.count) {
            frame *top = &w->stack.items[w->stack.count - 1];
            ls__vertex operand;
            if (!next_operand(w->e, top, &operand)) {
                elaborate_vertex(w->e, top->vertex);
                *state_of(w, top->vertex) = DONE;
                w->stack.count--;
                continue;
            }
            uint8_t *state = state_of(w, operand);
            if (*state == ACTIVE) {
                ls_status status = open_loop(w, operand);
                if (status != LS_OK)
                    return status;
            } else if (*state == NEW) {
                *state = ACTIVE;
                ls__vec_push(&w->e->arena, &w->stack, ((frame){operand, 0, 0}));
            }
        }
    }
    return LS_OK;
}

static ls_status drive_cells(ls__elaboration *e)
{
    for (uint32_t i = 0; i < e->netlist->cell_count; i++) {
        const ls__cell *cell = &e->netlist->cells[i];
        if (cell->type == LS__CELL_TRIBUF)
            continue;
        ls__vertex vertex = {LS__VERTEX_CELL, i};
        const ls__nets outputs[3] = {cell->y, cell->x, cell->co};
        for (uint32_t k = 0; k < 3; k++) {
            ls_status status = ls__net_drive(e, outputs[k], vertex, cell->name);
            if (status != LS_OK)
                return status;
        }
    }
    return ls__elaborate_bus_drivers(e);
}

static void warn_undriven(ls__elaboration *e)
{
    uint32_t count = 0;
    ls__net first = {0};
    const ls__netlist *netlist = e->netlist;
    for (uint32_t i = 0; i < netlist->signal_count; i++) {
        ls__nets nets = netlist->signals[i].nets;
        for (uint32_t k = 0; k < nets.count && !netlist->signals[i].hidden; k++) {
            if (nets.items[k].index < LS__NET_FIRST ||
                e->drivers.items[nets.items[k].index].kind != LS__VERTEX_NONE)
                continue;
            e->drivers.items[nets.items[k].index].kind = LS__VERTEX_STATE; /* counted once */
            if (count++ == 0)
                first = nets.items[k];
        }
    }
    if (count)
        ls__elaborate_warn(e, "%" PRIu32 " nets have no driver and are 0, the first is %s", count,
                           ls__net_name(e, first));
}

ls_status ls__elaborate_cells(ls__elaboration *e)
{
    ls_status status = drive_cells(e);
    if (status != LS_OK)
        return status;
    warn_undriven(e);
    walk w = {.e = e};
    w.cell_states.count = w.cell_states.capacity = e->netlist->cell_count;
    w.cell_states.items = LS__NEW_ARRAY(&e->arena, uint8_t, e->netlist->cell_count);
    w.read_states = LS__NEW_ARRAY(&e->arena, uint8_t, e->reads.count);
    w.bus_states = LS__NEW_ARRAY(&e->arena, uint8_t, e->buses.count);
    for (uint32_t i = 0; status == LS_OK && i < e->netlist->cell_count + e->parts.count; i++) {
        if (ls__cell_at(e, i)->type != LS__CELL_TRIBUF)
            status = walk_from(&w, (ls__vertex){LS__VERTEX_CELL, i});
    }
    for (uint32_t i = 0; status == LS_OK && i < e->reads.count; i++)
        status = walk_from(&w, (ls__vertex){LS__VERTEX_READ, i});
    for (uint32_t i = 0; status == LS_OK && i < e->buses.count; i++) {
        if (e->drivers.items[e->buses.items[i].net.index].kind == LS__VERTEX_BUS)
            status = walk_from(&w, (ls__vertex){LS__VERTEX_BUS, i});
    }
    return status;
}
