/* SPDX-License-Identifier: Apache-2.0 */
/* What src/netlist/netlist.h promises of every netlist that was read. */
#ifndef TESTS_NETLIST_PROMISES_H
#define TESTS_NETLIST_PROMISES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlist/netlist.h"

static void require(bool good, const char *what, const char *name)
{
    if (good)
        return;
    fprintf(stderr, "broken promise: %s: %s\n", what, name);
    abort();
}

static void check_cell(const ls__cell *cell)
{
    uint32_t a = cell->a.count, b = cell->b.count, s = cell->s.count, y = cell->y.count;
    bool good = true;
    switch (cell->type) {
    case LS__CELL_BUF:
        good = a == y;
        break;
    case LS__CELL_NAND:
    case LS__CELL_NOR:
    case LS__CELL_ANDNOT:
    case LS__CELL_ORNOT:
        good = a == 1 && b == 1 && y == 1;
        break;
    case LS__CELL_SLICE:
        good = cell->offset <= a && y <= a - cell->offset;
        break;
    case LS__CELL_CONCAT:
        good = y == a + b;
        break;
    case LS__CELL_MUX:
    case LS__CELL_NMUX:
        good = a == y && b == y && s == 1;
        break;
    case LS__CELL_PMUX:
        good = a == y && b == y * s;
        break;
    case LS__CELL_BMUX:
        good = a == y << s;
        break;
    case LS__CELL_DEMUX:
        good = y == a << s;
        break;
    case LS__CELL_BWMUX:
        good = a == y && b == y && s == y;
        break;
    case LS__CELL_BWEQX:
        good = a == y && b == y;
        break;
    case LS__CELL_LUT:
        good = y == 1 && cell->table.count == 1u << a;
        break;
    case LS__CELL_SOP:
        good = y == 1 && cell->table.count == 2 * a * cell->depth;
        break;
    case LS__CELL_AOI3:
    case LS__CELL_OAI3:
        good = a == 1 && b == 1 && s == 1 && y == 1;
        break;
    case LS__CELL_AOI4:
    case LS__CELL_OAI4:
        good = a == 1 && b == 1 && s == 1 && cell->bi.count == 1 && y == 1;
        break;
    case LS__CELL_FA:
        good = a == y && b == y && s == y && cell->x.count == y;
        break;
    case LS__CELL_LCU:
        good = a == y && b == y && s == 1;
        break;
    case LS__CELL_ALU:
        good = s == 1 && cell->bi.count == 1 && cell->x.count == y && cell->co.count == y;
        break;
    case LS__CELL_TRIBUF:
        good = a == y && s == 1;
        break;
    default:
        break;
    }
    require(good, "widths", cell->name);
}

static void check_register(const ls__register *reg)
{
    uint32_t width = reg->q.count;
    const ls__nets *single[] = {&reg->clock, &reg->enable, &reg->srst, &reg->arst, &reg->aload};
    for (int i = 0; i < 5; i++)
        require(single[i]->count <= 1, "a control of one bit", reg->name);
    require((reg->clock.count == 1) == (reg->kind == LS__REGISTER_CLOCKED), "a clock", reg->name);
    require(reg->d.count == (reg->kind == LS__REGISTER_SR ? 0 : width), "data", reg->name);
    require(reg->set.count == reg->clear.count, "set and clear", reg->name);
    require(!reg->set.count || reg->set.count == width, "set", reg->name);
    require(reg->ad.count == (reg->aload.count ? width : 0), "aload", reg->name);
    require(reg->arst_value.count == (reg->arst.count ? width : 0), "arst_value", reg->name);
    require(reg->srst_value.count == (reg->srst.count ? width : 0), "srst_value", reg->name);
}

static void check_memory(const ls__memory *memory)
{
    uint32_t width = memory->width;
    require(memory->init.count <= (uint64_t)width * memory->depth, "init", memory->name);
    for (uint32_t i = 0; i < memory->read_count; i++) {
        const ls__read_port *read = &memory->reads[i];
        require(read->data.count == width && read->enable.count == 1 && read->arst.count == 1 &&
                    read->srst.count == 1 && read->clock.count <= 1,
                "a read port", memory->name);
        require(read->transparent.count == memory->write_count &&
                    read->collision_x.count == memory->write_count,
                "masks of a read port", memory->name);
        require(read->arst_value.count == width && read->srst_value.count == width &&
                    read->init_value.count == width,
                "values of a read port", memory->name);
    }
    for (uint32_t i = 0; i < memory->write_count; i++) {
        const ls__write_port *write = &memory->writes[i];
        require(write->data.count == width && write->enable.count == width &&
                    write->clock.count <= 1 && write->priority.count == memory->write_count,
                "a write port", memory->name);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_names(const ls__netlist *netlist)
{
    const char **names = malloc((netlist->signal_count + 1) * sizeof *names);
    for (uint32_t i = 0; i < netlist->signal_count; i++)
        names[i] = netlist->signals[i].name;
    qsort(names, netlist->signal_count, sizeof *names, compare_names);
    for (uint32_t i = 0; i + 1 < netlist->signal_count; i++)
        require(strcmp(names[i], names[i + 1]) != 0, "different names", names[i]);
    free(names);
}

typedef struct driven {
    uint8_t *kinds; /* of each net: 0 none, 1 driven, 2 by tri-state buffers */
    uint32_t net_count;
} driven;

static void check_nets(const driven *driven, ls__nets nets, const char *name)
{
    for (uint32_t i = 0; i < nets.count; i++)
        require(nets.items[i].index < driven->net_count, "a net there is", name);
}

static void drive(const driven *driven, ls__nets nets, uint8_t kind, const char *name)
{
    check_nets(driven, nets, name);
    for (uint32_t i = 0; i < nets.count; i++) {
        uint8_t *before = &driven->kinds[nets.items[i].index];
        require(nets.items[i].index >= LS__NET_FIRST, "no constant is driven", name);
        require(*before == 0 || (*before == 2 && kind == 2), "one driver", name);
        *before = kind;
    }
}

static void check_promises(const ls__netlist *netlist)
{
    driven driven = {calloc(netlist->net_count, 1), netlist->net_count};
    check_names(netlist);
    for (uint32_t i = 0; i < netlist->signal_count; i++) {
        const ls__signal *signal = &netlist->signals[i];
        require((signal->direction != LS__DIRECTION_NONE) == (i < netlist->port_count),
                "ports come first", signal->name);
        check_nets(&driven, signal->nets, signal->name);
        require(!signal->init.count || signal->init.count == signal->nets.count, "init",
                signal->name);
        if (signal->direction == LS__DIRECTION_INPUT)
            drive(&driven, signal->nets, 1, signal->name);
    }
    for (uint32_t i = 0; i < netlist->cell_count; i++) {
        const ls__cell *cell = &netlist->cells[i];
        const ls__nets *inputs[] = {&cell->a, &cell->b, &cell->s, &cell->bi};
        check_cell(cell);
        for (int j = 0; j < 4; j++)
            check_nets(&driven, *inputs[j], cell->name);
        drive(&driven, cell->y, cell->type == LS__CELL_TRIBUF ? 2 : 1, cell->name);
        drive(&driven, cell->x, 1, cell->name);
        drive(&driven, cell->co, 1, cell->name);
    }
    for (uint32_t i = 0; i < netlist->register_count; i++) {
        const ls__register *reg = &netlist->registers[i];
        const ls__nets *inputs[] = {&reg->d,     &reg->clock, &reg->enable, &reg->srst, &reg->arst,
                                    &reg->aload, &reg->set,   &reg->clear,  &reg->ad};
        check_register(reg);
        for (int j = 0; j < 9; j++)
            check_nets(&driven, *inputs[j], reg->name);
        drive(&driven, reg->q, 1, reg->name);
    }
    for (uint32_t i = 0; i < netlist->memory_count; i++) {
        const ls__memory *memory = &netlist->memories[i];
        check_memory(memory);
        for (uint32_t j = 0; j < memory->read_count; j++) {
            check_nets(&driven, memory->reads[j].address, memory->name);
            check_nets(&driven, memory->reads[j].clock, memory->name);
            check_nets(&driven, memory->reads[j].enable, memory->name);
            drive(&driven, memory->reads[j].data, 1, memory->name);
        }
        for (uint32_t j = 0; j < memory->write_count; j++) {
            check_nets(&driven, memory->writes[j].address, memory->name);
            check_nets(&driven, memory->writes[j].data, memory->name);
            check_nets(&driven, memory->writes[j].enable, memory->name);
            check_nets(&driven, memory->writes[j].clock, memory->name);
        }
    }
    for (uint32_t i = 0; i < netlist->effect_count; i++) {
        const ls__effect *effect = &netlist->effects[i];
        check_nets(&driven, effect->enable, effect->name);
        check_nets(&driven, effect->condition, effect->name);
        check_nets(&driven, effect->triggers, effect->name);
        check_nets(&driven, effect->arguments, effect->name);
        require(strlen(effect->format) < SIZE_MAX, "a format", effect->name);
    }
    free(driven.kinds);
}

#endif
