/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a netlist, checks what src/netlist/netlist.h promises of it, and prints it as lines of
 * words for test_yosys.py. usage: dump_netlist FILE [TOP]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlist/netlist.h"
#include "promises.h"

/* --- printing --------------------------------------------------------------------------------- */

static void put_nets(const char *name, ls__nets nets)
{
    if (!nets.count)
        return;
    printf(" %s=", name);
    for (uint32_t i = 0; i < nets.count; i++) {
        printf("%s%u", i ? "," : "", nets.items[i].index);
    }
}

static void put_bits(const char *name, ls__bits bits)
{
    if (!bits.count)
        return;
    printf(" %s=", name);
    for (uint32_t i = bits.count; i-- > 0;)
        putchar("01xz"[bits.items[i]]);
}

static void put_flag(const char *name, bool flag)
{
    if (flag)
        printf(" %s", name);
}

static void put_cell(const ls__cell *cell)
{
    static const char *const types[] = {
#define X(name, text) #name,
        LS__CELL_TABLE(X)
#undef X
    };
    printf("cell %s %s %s", types[cell->type], cell->type_name, cell->name);
    put_nets("a", cell->a);
    put_nets("b", cell->b);
    put_nets("s", cell->s);
    put_nets("bi", cell->bi);
    put_nets("y", cell->y);
    put_nets("x", cell->x);
    put_nets("co", cell->co);
    put_bits("table", cell->table);
    put_flag("a_signed", cell->a_signed);
    put_flag("b_signed", cell->b_signed);
    printf(" offset=%u depth=%u\n", cell->offset, cell->depth);
}

static void put_register(const ls__register *reg)
{
    static const char *const kinds[] = {"CLOCKED", "LATCH", "SR"};
    printf("register %s %s %s", kinds[reg->kind], reg->type_name, reg->name);
    put_nets("d", reg->d);
    put_nets("q", reg->q);
    put_nets("clock", reg->clock);
    put_nets("enable", reg->enable);
    put_nets("srst", reg->srst);
    put_nets("arst", reg->arst);
    put_nets("aload", reg->aload);
    put_nets("set", reg->set);
    put_nets("clear", reg->clear);
    put_nets("ad", reg->ad);
    put_bits("srst_value", reg->srst_value);
    put_bits("arst_value", reg->arst_value);
    put_flag("clock_rising", reg->clock.count && reg->clock_rising);
    put_flag("enable_high", reg->enable.count && reg->enable_high);
    put_flag("srst_high", reg->srst.count && reg->srst_high);
    put_flag("arst_high", reg->arst.count && reg->arst_high);
    put_flag("aload_high", reg->aload.count && reg->aload_high);
    put_flag("set_high", reg->set.count && reg->set_high);
    put_flag("clear_high", reg->clear.count && reg->clear_high);
    put_flag("srst_needs_enable", reg->srst_needs_enable);
    putchar('\n');
}

static void put_memory(const ls__memory *memory)
{
    printf("memory %s width=%u depth=%u start=%u", memory->name, memory->width, memory->depth,
           memory->start);
    put_bits("init", memory->init);
    putchar('\n');
    for (uint32_t i = 0; i < memory->read_count; i++) {
        const ls__read_port *read = &memory->reads[i];
        printf("read %s", memory->name);
        put_nets("address", read->address);
        put_nets("data", read->data);
        put_nets("enable", read->enable);
        put_nets("arst", read->arst);
        put_nets("srst", read->srst);
        put_nets("clock", read->clock);
        put_flag("clock_rising", read->clock.count && read->clock_rising);
        put_flag("srst_needs_enable", read->srst_needs_enable);
        put_bits("transparent", read->transparent);
        put_bits("collision_x", read->collision_x);
        put_bits("arst_value", read->arst_value);
        put_bits("srst_value", read->srst_value);
        put_bits("init_value", read->init_value);
        putchar('\n');
    }
    for (uint32_t i = 0; i < memory->write_count; i++) {
        const ls__write_port *write = &memory->writes[i];
        printf("write %s", memory->name);
        put_nets("address", write->address);
        put_nets("data", write->data);
        put_nets("enable", write->enable);
        put_nets("clock", write->clock);
        put_flag("clock_rising", write->clock.count && write->clock_rising);
        put_bits("priority", write->priority);
        putchar('\n');
    }
}

static void put_effect(const ls__effect *effect)
{
    static const char *const kinds[] = {"PRINT", "ASSERT", "ASSUME", "FINISH"};
    printf("effect %s %s", kinds[effect->kind], effect->name);
    put_nets("enable", effect->enable);
    put_nets("condition", effect->condition);
    put_nets("triggers", effect->triggers);
    for (uint32_t i = 0; i < effect->triggers.count; i++)
        printf(" %s", effect->trigger_rising[i] ? "rising" : "falling");
    put_nets("arguments", effect->arguments);
    put_flag("initial", effect->initial);
    printf(" priority=%d format=%s\n", effect->priority, effect->format);
}

static void put_signal(const ls__signal *signal)
{
    static const char *const directions[] = {"wire", "input", "output", "inout"};
    printf("signal %s %s offset=%d", directions[signal->direction], signal->name, signal->offset);
    put_flag("upto", signal->upto);
    put_flag("signed", signal->is_signed);
    put_flag("hidden", signal->hidden);
    put_nets("nets", signal->nets);
    put_bits("init", signal->init);
    putchar('\n');
}

static void warn(void *context, const char *message)
{
    (void)context;
    printf("warning %s\n", message);
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    ls__netlist *netlist;
    ls__netlist_params params = {.path = argv[1], .top = argc > 2 ? argv[2] : NULL, .warn = warn};
    if (argc < 2)
        return 2;
    if (ls__netlist_read(&params, &netlist, &error) != LS_OK) {
        printf("error %s\n%s\n%s\n%s\n", ls_status_name(error.code), error.message, error.where,
               error.hint);
        return 1;
    }
    check_promises(netlist);
    printf("top %s\n", netlist->top);
    for (uint32_t i = 0; i < netlist->signal_count; i++)
        put_signal(&netlist->signals[i]);
    for (uint32_t i = 0; i < netlist->cell_count; i++)
        put_cell(&netlist->cells[i]);
    for (uint32_t i = 0; i < netlist->register_count; i++)
        put_register(&netlist->registers[i]);
    for (uint32_t i = 0; i < netlist->memory_count; i++)
        put_memory(&netlist->memories[i]);
    for (uint32_t i = 0; i < netlist->effect_count; i++)
        put_effect(&netlist->effects[i]);
    ls__netlist_destroy(&netlist);
    return 0;
}
