/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From templates to the netlist: chooses the top, refuses what is not known, counts, and then
 * instantiates from the top down. A port's net of an instance is the net it is connected to; where
 * that makes two nets one (a module that passes an input through, $connect), they are united and
 * all nets are numbered anew at the end. Last, every net must have at most one driver.
 */
#include "netlist/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 200 };
static const uint64_t items_most = (uint64_t)1 << 30;

typedef struct flattener {
    ls__reader *reader;
    ls__netlist *netlist;
    uint32_t *parents; /* union-find over nets */
    uint32_t united;
    ls__cell *cells;
    ls__register *registers;
    ls__memory *memories;
    ls__effect *effects;
    ls__signal *signals;
    ls__text_set names; /* of signals */
    bool check_names;
} flattener;

/* --- modules ---------------------------------------------------------------------------------- */

static ls__template *module_of(ls__reader *reader, ls__cell_plan *plan)
{
    if (!plan->is_resolved) {
        ls__name *name = ls__names_find(&reader->modules, ls__str_from(plan->name));
        plan->module = name ? name->value : NULL;
        plan->is_resolved = true;
    }
    return plan->module;
}

/* Adds to a list that ends in "..." where it is cut. */
__attribute__((format(printf, 4, 5))) static void add_text(char *list, size_t size, size_t *used,
                                                           const char *format, ...)
{
    va_list arguments;
    if (*used >= size)
        return;
    va_start(arguments, format);
    int length = vsnprintf(list + *used, size - *used, format, arguments);
    va_end(arguments);
    *used += length > 0 ? (size_t)length : 0;
    if (*used >= size)
        strcpy(list + size - 4, "...");
}

/* The modules for which `is` holds; *count says how many. */
static ls__template *candidates(ls__reader *reader, bool (*is)(const ls__template *),
                                uint32_t *count, char *list, size_t size)
{
    ls__template *found = NULL;
    size_t used = 0;
    *count = 0;
    list[0] = 0;
    LS__LIST_EACH(ls__template *, item, &reader->module_list)
    {
        if (!is(*item))
            continue;
        if (!found)
            found = *item;
        ++*count;
        add_text(list, size, &used, "%s%.100s", used ? ", " : "", (*item)->name);
    }
    return found;
}

static bool is_marked(const ls__template *module)
{
    return module->is_top;
}

static bool is_unused(const ls__template *module)
{
    return !module->is_used && !module->is_black_box;
}

static bool is_any(const ls__template *module)
{
    (void)module;
    return true;
}

static void mark_used(ls__reader *reader)
{
    LS__LIST_EACH(ls__template *, item, &reader->module_list)
    {
        LS__LIST_EACH(ls__instance, instance, &(*item)->instances)
        {
            ls__template *module = module_of(reader, instance->plan);
            if (module && module != *item)
                module->is_used = true;
        }
    }
}

static ls__template *choose_top(ls__reader *reader)
{
    char list[300];
    uint32_t count;
    const char *wanted = reader->params->top;
    if (wanted) {
        ls__name *name = ls__names_find(&reader->modules, ls__str_from(wanted));
        if (name)
            return name->value;
        candidates(reader, is_any, &count, list, sizeof list);
        ls__reader_fail(reader, LS_E_NOT_FOUND, "there is no module '%s'; there are: %s", wanted,
                        list);
    }
    ls__template *top = candidates(reader, is_marked, &count, list, sizeof list);
    if (count == 1)
        return top;
    if (count == 0) {
        mark_used(reader);
        top = candidates(reader, is_unused, &count, list, sizeof list);
        if (count == 1)
            return top;
        if (count == 0)
            candidates(reader, is_any, &count, list, sizeof list);
    }
    if (!reader->module_list.count)
        ls__reader_fail(reader, LS_E_FORMAT, "the netlist has no modules");
    ls__reader_fail(reader, LS_E_NOT_FOUND,
                    "which module is the top is not clear; name one of these: %s", list);
}

/* --- what is not known ------------------------------------------------------------------------ */

static bool is_connected(const ls__instance *instance)
{
    for (uint32_t i = 0; i < instance->port_count; i++) {
        for (uint32_t j = 0; j < instance->ports[i].nets.count; j++) {
            if (instance->ports[i].nets.items[j].index >= LS__NET_FIRST)
                return true;
        }
    }
    return false;
}

static void add_totals(ls__totals *to, const ls__totals *more)
{
    to->cells += more->cells;
    to->registers += more->registers;
    to->memories += more->memories;
    to->effects += more->effects;
    to->signals += more->signals;
    to->nets += more->nets;
}

static bool too_many(const ls__totals *totals)
{
    return (totals->cells | totals->registers | totals->memories | totals->effects |
            totals->signals | totals->nets) >= items_most;
}

/* Yosys makes a module for each set of parameters and takes them from the instance; where it has
 * not, the module there is stands for others. */
static void check_parameters(ls__reader *reader, const ls__template *module,
                             const ls__instance *instance)
{
    if (!instance->has_parameters)
        return;
    reader->hint = "run hierarchy in Yosys before write_json; models of another library's cells "
                   "must be read without -lib";
    ls__reader_fail(reader, LS_E_FORMAT,
                    "instance '%s' in module '%s' has parameters for which there is no module of "
                    "its own",
                    instance->name, module->name);
}

/* Counts what is in and below a module, once for each module; marks what is not known. */
static void survey(ls__reader *reader, ls__template *module, uint32_t depth, ls__list *unknown)
{
    if (module->is_surveyed)
        return;
    if (module->is_active)
        ls__reader_fail(reader, LS_E_FORMAT, "module '%s' contains itself", module->name);
    if (depth > DEPTH_MOST)
        ls__reader_fail(reader, LS_E_LIMIT, "modules are nested deeper than %d", DEPTH_MOST);
    module->is_active = true;
    module->totals = (ls__totals){module->cells.count,
                                  module->registers.count,
                                  module->memories.count,
                                  module->effects.count,
                                  module->signals.count + module->ports.count,
                                  module->net_count};
    LS__LIST_EACH(ls__instance, instance, &module->instances)
    {
        ls__cell_plan *plan = instance->plan;
        ls__template *child = module_of(reader, plan);
        if (child && !child->is_black_box) {
            check_parameters(reader, module, instance);
            survey(reader, child, depth + 1, unknown);
            add_totals(&module->totals, &child->totals);
            if (too_many(&module->totals))
                ls__reader_fail(reader, LS_E_LIMIT, "the flattened design is too large");
        } else if (child && !is_connected(instance)) {
            ls__reader_warn(reader, "'%s' of type %s is a black box and not connected: ignored",
                            instance->name, plan->name);
        } else if (!plan->cells++) {
            *(ls__cell_plan **)ls__list_add(&reader->scratch, unknown) = plan;
        }
    }
    module->is_active = false;
    module->is_surveyed = true;
}

static void refuse_unknown(ls__reader *reader, const ls__list *unknown)
{
    char list[360] = "";
    size_t used = 0;
    bool formal = false;
    if (!unknown->count)
        return;
    LS__LIST_EACH(ls__cell_plan *, plan, unknown)
    {
        const char *name = (*plan)->name;
        add_text(list, sizeof list, &used, "%s%.100s (%u%s)", used ? ", " : "", name,
                 (*plan)->cells, (*plan)->module ? ", a black box" : "");
        formal = formal || name[0] == '$';
    }
    reader->hint = formal ? "cells that are not simulated: formal ones ($any..., $all..., $ff, "
                            "$initstate, $equiv) and $fsm (run fsm_map); see docs/cosim.md"
                          : "read the Verilog models of these cells into Yosys before write_json, "
                            "or map the design to Yosys' own cells";
    ls__reader_fail(reader, LS_E_UNSUPPORTED,
                    "cells of %u type%s are not known (number of cells in brackets): %s",
                    unknown->count, unknown->count == 1 ? "" : "s", list);
}

/* --- nets ------------------------------------------------------------------------------------- */

static uint32_t find_root(uint32_t *parents, uint32_t net)
{
    while (parents[net] != net) {
        parents[net] = parents[parents[net]];
        net = parents[net];
    }
    return net;
}

static void unite(flattener *flat, const char *where, uint32_t a, uint32_t b)
{
    a = find_root(flat->parents, a);
    b = find_root(flat->parents, b);
    if (a == b)
        return;
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    if (b < LS__NET_FIRST)
        ls__reader_fail(flat->reader, LS_E_FORMAT, "'%s' connects the constants 0 and 1", where);
    flat->parents[b] = a;
    flat->united++;
}

static uint32_t global_net(flattener *flat, uint32_t *map, ls__net local)
{
    if (local.index < LS__NET_FIRST)
        return local.index;
    if (!map[local.index]) {
        uint32_t number = flat->netlist->net_count++;
        map[local.index] = number + 1;
        flat->parents[number] = number;
    }
    return map[local.index] - 1;
}

static ls__nets copy_nets(flattener *flat, uint32_t *map, ls__nets nets)
{
    if (!nets.count)
        return (ls__nets){0};
    ls__net *copy = ls__pack_take(&flat->reader->kept, nets.count, sizeof *copy);
    for (uint32_t i = 0; i < nets.count; i++)
        copy[i].index = global_net(flat, map, nets.items[i]);
    return (ls__nets){copy, nets.count};
}

static bool is_undefined(uint32_t net)
{
    return net == LS__NET_X || net == LS__NET_Z;
}

/* What a constant x or z is connected to keeps a net of its own, which nobody drives. */
static void bind_bit(flattener *flat, const char *where, uint32_t *map, ls__net local,
                     uint32_t outer)
{
    if (is_undefined(local.index) || is_undefined(outer))
        return;
    if (local.index < LS__NET_FIRST)
        unite(flat, where, local.index, outer);
    else if (!map[local.index])
        map[local.index] = outer + 1;
    else
        unite(flat, where, map[local.index] - 1, outer);
}

/* --- instances -------------------------------------------------------------------------------- */

static const char *join(flattener *flat, const char *prefix, const char *name)
{
    if (!*prefix)
        return name;
    size_t left = strlen(prefix), right = strlen(name);
    char *path = ls__pack_take(&flat->reader->kept, left + right + 2, 1);
    memcpy(path, prefix, left);
    path[left] = '.';
    memcpy(path + left + 1, name, right + 1);
    return path;
}

static void copy_cells(flattener *flat, const ls__template *module, const char *prefix,
                       uint32_t *map)
{
    LS__LIST_EACH(ls__cell, from, &module->cells)
    {
        ls__cell *cell = &flat->cells[flat->netlist->cell_count++];
        *cell = *from;
        cell->name = join(flat, prefix, from->name);
        cell->a = copy_nets(flat, map, from->a);
        cell->b = copy_nets(flat, map, from->b);
        cell->s = copy_nets(flat, map, from->s);
        cell->bi = copy_nets(flat, map, from->bi);
        cell->y = copy_nets(flat, map, from->y);
        cell->x = copy_nets(flat, map, from->x);
        cell->co = copy_nets(flat, map, from->co);
    }
}

static void copy_registers(flattener *flat, const ls__template *module, const char *prefix,
                           uint32_t *map)
{
    LS__LIST_EACH(ls__register, from, &module->registers)
    {
        ls__register *reg = &flat->registers[flat->netlist->register_count++];
        *reg = *from;
        reg->name = join(flat, prefix, from->name);
        reg->d = copy_nets(flat, map, from->d);
        reg->q = copy_nets(flat, map, from->q);
        reg->clock = copy_nets(flat, map, from->clock);
        reg->enable = copy_nets(flat, map, from->enable);
        reg->srst = copy_nets(flat, map, from->srst);
        reg->arst = copy_nets(flat, map, from->arst);
        reg->aload = copy_nets(flat, map, from->aload);
        reg->set = copy_nets(flat, map, from->set);
        reg->clear = copy_nets(flat, map, from->clear);
        reg->ad = copy_nets(flat, map, from->ad);
    }
}

static void copy_memories(flattener *flat, const ls__template *module, const char *prefix,
                          uint32_t *map)
{
    LS__LIST_EACH(ls__memory, from, &module->memories)
    {
        ls__memory *memory = &flat->memories[flat->netlist->memory_count++];
        ls__read_port *reads = LS__NEW_ARRAY(flat->reader->keep, ls__read_port, from->read_count);
        ls__write_port *writes =
            LS__NEW_ARRAY(flat->reader->keep, ls__write_port, from->write_count);
        *memory = *from;
        memory->name = join(flat, prefix, from->name);
        memory->reads = reads;
        memory->writes = writes;
        for (uint32_t i = 0; i < from->read_count; i++) {
            reads[i] = from->reads[i];
            reads[i].enable = copy_nets(flat, map, reads[i].enable);
            reads[i].address = copy_nets(flat, map, reads[i].address);
            reads[i].data = copy_nets(flat, map, reads[i].data);
            reads[i].arst = copy_nets(flat, map, reads[i].arst);
            reads[i].srst = copy_nets(flat, map, reads[i].srst);
            reads[i].clock = copy_nets(flat, map, reads[i].clock);
        }
        for (uint32_t i = 0; i < from->write_count; i++) {
            writes[i] = from->writes[i];
            writes[i].enable = copy_nets(flat, map, writes[i].enable);
            writes[i].address = copy_nets(flat, map, writes[i].address);
            writes[i].data = copy_nets(flat, map, writes[i].data);
            writes[i].clock = copy_nets(flat, map, writes[i].clock);
        }
    }
}

static void copy_effects(flattener *flat, const ls__template *module, const char *prefix,
                         uint32_t *map)
{
    LS__LIST_EACH(ls__effect, from, &module->effects)
    {
        ls__effect *effect = &flat->effects[flat->netlist->effect_count++];
        *effect = *from;
        effect->name = join(flat, prefix, from->name);
        effect->enable = copy_nets(flat, map, from->enable);
        effect->condition = copy_nets(flat, map, from->condition);
        effect->triggers = copy_nets(flat, map, from->triggers);
        effect->arguments = copy_nets(flat, map, from->arguments);
    }
}

/* A second signal of one name gets a number behind it. */
static void name_signal(flattener *flat, ls__signal *signal, const char *name)
{
    signal->name = name;
    if (!flat->check_names)
        return;
    for (uint32_t i = 2; !ls__text_set_add(&flat->reader->scratch, &flat->names, signal->name); i++)
        signal->name = ls__arena_printf(flat->reader->keep, "%s$%u", name, i);
}

static void copy_signals(flattener *flat, const ls__template *module, const char *prefix,
                         uint32_t *map)
{
    LS__LIST_EACH(ls__signal, from, &module->signals)
    {
        if (from->direction != LS__DIRECTION_NONE) /* a port of the top, which is there already */
            continue;
        ls__signal *signal = &flat->signals[flat->netlist->signal_count++];
        *signal = *from;
        signal->nets = copy_nets(flat, map, from->nets);
        name_signal(flat, signal, join(flat, prefix, from->name));
    }
}

static const ls__template_port *find_port(const ls__template *module, const char *name,
                                          ls__list_block **hint, uint32_t *index)
{
    for (uint32_t tries = 0; tries < module->ports.count; tries++) {
        if (!*hint || *index >= (*hint)->count) {
            *hint = *hint && (*hint)->next ? (*hint)->next : module->ports.first;
            *index = 0;
        }
        const ls__template_port *port = ls__list_item(*hint, module->ports.item_bytes, (*index)++);
        if (strcmp(port->name, name) == 0)
            return port;
    }
    return NULL;
}

static void bind_ports(flattener *flat, const ls__instance *instance, const char *path,
                       ls__template *child, uint32_t *outer_map)
{
    ls__list_block *hint = NULL; /* ports are mostly in the same order on both sides */
    uint32_t index = 0;
    for (uint32_t i = 0; i < instance->port_count; i++) {
        const ls__instance_port *pin = &instance->ports[i];
        const ls__template_port *port = find_port(child, pin->name->text, &hint, &index);
        if (!port)
            ls__reader_fail(flat->reader, LS_E_FORMAT, "'%s': module '%s' has no port '%s'", path,
                            child->name, pin->name->text);
        if (pin->nets.count && pin->nets.count != port->nets.count)
            ls__reader_fail(flat->reader, LS_E_FORMAT,
                            "'%s': port '%s' of module '%s' has %u bits, but %u are connected",
                            path, port->name, child->name, port->nets.count, pin->nets.count);
        for (uint32_t j = 0; j < pin->nets.count; j++)
            bind_bit(flat, path, child->map, port->nets.items[j],
                     global_net(flat, outer_map, pin->nets.items[j]));
    }
}

/* The module is not active above (survey), so its map is free. */
static void open_map(flattener *flat, ls__template *module)
{
    if (!module->map)
        module->map = LS__NEW_ARRAY(&flat->reader->scratch, uint32_t, module->net_count);
    else
        memset(module->map, 0, module->net_count * sizeof *module->map);
}

static void instantiate(flattener *flat, ls__template *module, const char *prefix)
{
    LS__LIST_EACH(ls__alias, alias, &module->aliases)
    {
        for (uint32_t i = 0; i < alias->a.count; i++) {
            uint32_t a = global_net(flat, module->map, alias->a.items[i]);
            uint32_t b = global_net(flat, module->map, alias->b.items[i]);
            if (!is_undefined(a) && !is_undefined(b))
                unite(flat, *prefix ? prefix : module->name, a, b);
        }
    }
    copy_signals(flat, module, prefix, module->map);
    copy_cells(flat, module, prefix, module->map);
    copy_registers(flat, module, prefix, module->map);
    copy_memories(flat, module, prefix, module->map);
    copy_effects(flat, module, prefix, module->map);
    LS__LIST_EACH(ls__instance, instance, &module->instances)
    {
        ls__template *child = module_of(flat->reader, instance->plan);
        if (!child || child->is_black_box)
            continue;
        const char *path = join(flat, prefix, instance->name);
        open_map(flat, child);
        bind_ports(flat, instance, path, child, module->map);
        instantiate(flat, child, path);
    }
}

/* Ports come first; what the net of the same name says of them is taken over. */
static void add_ports(flattener *flat, ls__template *top)
{
    ls__names ports = {0};
    bool added;
    LS__LIST_EACH(ls__template_port, port, &top->ports)
    {
        ls__signal *signal = &flat->signals[flat->netlist->signal_count++];
        signal->nets = copy_nets(flat, top->map, port->nets);
        signal->direction = port->direction;
        signal->offset = port->offset;
        signal->upto = port->upto;
        signal->is_signed = port->is_signed;
        name_signal(flat, signal, port->name);
        ls__names_put(&flat->reader->scratch, &ports, ls__str_from(port->name), &added)->value =
            signal;
    }
    LS__LIST_EACH(ls__signal, from, &top->signals)
    {
        ls__name *name = ls__names_find(&ports, ls__str_from(from->name));
        ls__signal *signal = name ? name->value : NULL;
        if (!signal || signal->nets.count != from->nets.count)
            continue;
        from->direction = signal->direction;
        signal->init = from->init;
        signal->offset = from->offset;
        signal->upto = from->upto;
        signal->is_signed = from->is_signed;
    }
    flat->netlist->port_count = flat->netlist->signal_count;
}

/* --- numbering -------------------------------------------------------------------------------- */

static void renumber_nets(const uint32_t *numbers, ls__nets nets)
{
    for (uint32_t i = 0; i < nets.count; i++)
        ((ls__net *)nets.items)[i].index = numbers[nets.items[i].index];
}

static void renumber(const ls__netlist *netlist, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < netlist->cell_count; i++) {
        const ls__cell *cell = &netlist->cells[i];
        const ls__nets *nets[] = {&cell->a, &cell->b, &cell->s, &cell->bi,
                                  &cell->y, &cell->x, &cell->co};
        for (uint32_t j = 0; j < 7; j++)
            renumber_nets(numbers, *nets[j]);
    }
    for (uint32_t i = 0; i < netlist->register_count; i++) {
        const ls__register *reg = &netlist->registers[i];
        const ls__nets *nets[] = {&reg->d,    &reg->q,     &reg->clock, &reg->enable, &reg->srst,
                                  &reg->arst, &reg->aload, &reg->set,   &reg->clear,  &reg->ad};
        for (uint32_t j = 0; j < 10; j++)
            renumber_nets(numbers, *nets[j]);
    }
    for (uint32_t i = 0; i < netlist->memory_count; i++) {
        const ls__memory *memory = &netlist->memories[i];
        for (uint32_t j = 0; j < memory->read_count; j++) {
            const ls__read_port *read = &memory->reads[j];
            const ls__nets *nets[] = {&read->enable, &read->address, &read->data,
                                      &read->arst,   &read->srst,    &read->clock};
            for (uint32_t k = 0; k < 6; k++)
                renumber_nets(numbers, *nets[k]);
        }
        for (uint32_t j = 0; j < memory->write_count; j++) {
            const ls__write_port *write = &memory->writes[j];
            renumber_nets(numbers, write->enable);
            renumber_nets(numbers, write->address);
            renumber_nets(numbers, write->data);
            renumber_nets(numbers, write->clock);
        }
    }
    for (uint32_t i = 0; i < netlist->effect_count; i++) {
        renumber_nets(numbers, netlist->effects[i].enable);
        renumber_nets(numbers, netlist->effects[i].condition);
        renumber_nets(numbers, netlist->effects[i].triggers);
        renumber_nets(numbers, netlist->effects[i].arguments);
    }
    for (uint32_t i = 0; i < netlist->signal_count; i++)
        renumber_nets(numbers, netlist->signals[i].nets);
}

static void close_gaps(flattener *flat)
{
    ls__netlist *netlist = flat->netlist;
    if (!flat->united)
        return;
    uint32_t count = 0;
    uint32_t *numbers = LS__NEW_ARRAY(&flat->reader->scratch, uint32_t, netlist->net_count);
    for (uint32_t i = 0; i < netlist->net_count; i++) {
        uint32_t root = find_root(flat->parents, i); /* the least of its set */
        numbers[i] = root == i ? count++ : numbers[root];
    }
    renumber(netlist, numbers);
    netlist->net_count = count;
}

/* --- entry ------------------------------------------------------------------------------------ */

void ls__flatten(ls__reader *reader)
{
    flattener flat = {.reader = reader, .netlist = reader->netlist};
    ls__netlist *netlist = reader->netlist;
    ls__list unknown = {.item_bytes = sizeof(ls__cell_plan *)};
    ls__template *top = choose_top(reader);
    if (top->is_black_box)
        ls__reader_fail(reader, LS_E_UNSUPPORTED, "the top '%s' is a black box", top->name);
    survey(reader, top, 0, &unknown);
    refuse_unknown(reader, &unknown);
    if (reader->ignored_liveness)
        ls__reader_warn(reader,
                        "%u liveness and fairness properties are ignored: no run of "
                        "finite length can break them",
                        reader->ignored_liveness);

    const ls__totals *totals = &top->totals;
    netlist->top = top->name;
    netlist->net_count = LS__NET_FIRST;
    netlist->cells = flat.cells = LS__NEW_ARRAY(reader->keep, ls__cell, (size_t)totals->cells);
    netlist->registers = flat.registers =
        LS__NEW_ARRAY(reader->keep, ls__register, (size_t)totals->registers);
    netlist->memories = flat.memories =
        LS__NEW_ARRAY(reader->keep, ls__memory, (size_t)totals->memories);
    netlist->effects = flat.effects =
        LS__NEW_ARRAY(reader->keep, ls__effect, (size_t)totals->effects);
    netlist->signals = flat.signals =
        LS__NEW_ARRAY(reader->keep, ls__signal, (size_t)totals->signals);
    flat.parents = LS__NEW_ARRAY(&reader->scratch, uint32_t, (size_t)totals->nets + LS__NET_FIRST);
    for (uint32_t i = 0; i < LS__NET_FIRST; i++)
        flat.parents[i] = i;
    /* Within one module, names of the file are different already. */
    flat.check_names = top->instances.count > 0 || reader->has_paths;
    open_map(&flat, top);
    add_ports(&flat, top);
    instantiate(&flat, top, "");
    close_gaps(&flat);
    ls__check_drivers(reader);
}
