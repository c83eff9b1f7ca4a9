/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a netlist, checks what src/netlist/netlist.h promises of it, and prints it as lines of
 * words for test_yosys.py. usage: dump_netlist FILE [TOP]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlist/netlist.h"

static void require(bool good, const char *what, const char *name)
{
    if (good)
        return;
    fprintf(stderr, "broken promise: %s: %s\n", what, name);
    exit(3);
}

/* --- promises --------------------------------------------------------------------------------- */

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

/* --- printing --------------------------------------------------------------------------------- */

static uint32_t net_count;

static void put_nets(const char *name, ls__nets nets)
{
    if (!nets.count)
        return;
    printf(" %s=", name);
    for (uint32_t i = 0; i < nets.count; i++) {
        require(nets.items[i].index < net_count, "a net there is", name);
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
    check_cell(cell);
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
    check_register(reg);
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
    check_memory(memory);
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
    net_count = netlist->net_count;
    check_names(netlist);
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
