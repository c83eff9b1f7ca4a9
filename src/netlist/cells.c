/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a raw cell to what its type means (cells.def). The plan of a type is made when the type is
 * first met. What is promised to the users of ls__cell and ls__register is checked here: every port
 * of the type is there, as wide as the parameters say, or, where a parameter is missing, as the
 * other ports imply.
 */
#include "netlist/reader.h"

#include <string.h>

/* --- plans ------------------------------------------------------------------------------------ */

typedef struct cell_entry {
    const char *type, *ports;
    ls__cell_type cell;
} cell_entry;
static const cell_entry cells[] = {
#define CELL(type, cell, ports) {type, ports, LS__CELL_##cell},
#define REGISTER(type, kind, ports)
#define GATES(prefix, kind, letters)
#define OTHER(type, plan)
#include "netlist/cells.def"
};

typedef struct register_entry {
    const char *type, *ports;
    ls__register_kind kind;
} register_entry;
static const register_entry registers[] = {
#define CELL(type, cell, ports)
#define REGISTER(type, kind, ports) {type, ports, LS__REGISTER_##kind},
#define GATES(prefix, kind, letters)
#define OTHER(type, plan)
#include "netlist/cells.def"
};

static const register_entry gates[] = {
#define CELL(type, cell, ports)
#define REGISTER(type, kind, ports)
#define GATES(prefix, kind, letters) {prefix, letters, LS__REGISTER_##kind},
#define OTHER(type, plan)
#include "netlist/cells.def"
};

typedef struct other_entry {
    const char *type;
    ls__plan_kind kind;
} other_entry;
static const other_entry others[] = {
#define CELL(type, cell, ports)
#define REGISTER(type, kind, ports)
#define GATES(prefix, kind, letters)
#define OTHER(type, plan) {type, LS__PLAN_##plan},
#include "netlist/cells.def"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Up to the first of the characters in `ends`. */
static ls__str take_until(const char **at, const char *ends)
{
    ls__str part = {*at, strcspn(*at, ends)};
    *at += part.length;
    return part;
}

static void parse_ports(ls__cell_plan *plan, const char *at)
{
    plan->port_count = 0;
    while (*at) {
        ls__plan_port *port = &plan->ports[plan->port_count++];
        port->output = *at == '!';
        at += port->output;
        port->name = take_until(&at, "/");
        port->slot = at[1];
        at += 3; /* "/a:" */
        port->width = take_until(&at, " ");
        at += *at == ' ';
    }
}

/* $_DFFE_PN0P_: the letters behind the prefix. */
static bool gate_matches(const register_entry *entry, ls__str type)
{
    size_t prefix = strlen(entry->type), count = strlen(entry->ports);
    if (type.length != prefix + count + 1 || memcmp(type.text, entry->type, prefix) != 0 ||
        type.text[type.length - 1] != '_')
        return false;
    for (size_t i = 0; i < count; i++) {
        char c = type.text[prefix + i];
        bool value = entry->ports[i] == 'V';
        if (value ? c != '0' && c != '1' : c != 'N' && c != 'P')
            return false;
    }
    return true;
}

static void plan_gate(ls__cell_plan *plan, const register_entry *entry, ls__str type)
{
    /* The order of letters of a control, its ports, and the slots. */
    static const struct {
        char letter;
        const char *ports;
    } controls[] = {{'C', "C/c:1 "}, {'E', "E/e:1 "},        {'R', "R/a:1 "}, {'r', "R/s:1 "},
                    {'c', "R/C:1 "}, {'L', "L/l:1 AD/D:1 "}, {'S', "S/S:1 "}, {'V', ""}};
    char ports[96] = "";
    size_t prefix = strlen(entry->type);
    for (size_t i = 0; entry->ports[i]; i++) {
        for (size_t j = 0; j < COUNT(controls); j++) {
            if (controls[j].letter == entry->ports[i])
                strcat(ports, controls[j].ports);
        }
        plan->polarity[i] = type.text[prefix + i];
    }
    strcat(ports, entry->kind == LS__REGISTER_SR ? "!Q/q:1" : "D/d:1 !Q/q:1");
    plan->letters = entry->ports;
    plan->register_kind = entry->kind;
    parse_ports(plan, ports);
    /* `ports` ends here: names are found again in texts that stay. */
    for (uint32_t i = 0; i < plan->port_count; i++) {
        static const char names[] = "C\0E\0R\0L\0AD\0S\0D\0Q\0";
        ls__plan_port *port = &plan->ports[i];
        for (const char *name = names; *name; name += strlen(name) + 1) {
            if (ls__str_is(port->name, name)) {
                port->name = ls__str_from(name);
                break;
            }
        }
        port->width = ls__str_from("1");
    }
}

static void make_plan(ls__cell_plan *plan, ls__str type)
{
    for (size_t i = 0; i < COUNT(cells); i++) {
        if (ls__str_is(type, cells[i].type)) {
            plan->kind = LS__PLAN_COMBINATIONAL;
            plan->cell = cells[i].cell;
            parse_ports(plan, cells[i].ports);
            return;
        }
    }
    for (size_t i = 0; i < COUNT(registers); i++) {
        if (ls__str_is(type, registers[i].type)) {
            plan->kind = LS__PLAN_REGISTER;
            plan->register_kind = registers[i].kind;
            parse_ports(plan, registers[i].ports);
            return;
        }
    }
    for (size_t i = 0; i < COUNT(gates); i++) {
        if (gate_matches(&gates[i], type)) {
            plan->kind = LS__PLAN_REGISTER;
            plan_gate(plan, &gates[i], type);
            return;
        }
    }
    plan->kind = LS__PLAN_INSTANCE;
    for (size_t i = 0; i < COUNT(others); i++) {
        if (ls__str_is(type, others[i].type))
            plan->kind = others[i].kind;
    }
}

ls__cell_plan *ls__plan_of(ls__reader *reader, ls__str type)
{
    bool added;
    ls__name *name = ls__names_put(&reader->scratch, &reader->types, type, &added);
    if (!name->value) {
        ls__cell_plan *plan = LS__NEW(&reader->scratch, ls__cell_plan);
        plan->name = ls__keep_text(reader, type);
        make_plan(plan, type);
        name->value = plan;
    }
    return name->value;
}

/* --- widths ----------------------------------------------------------------------------------- */

/* A parameter, or what a port that is as wide as the parameter has. */
static uint32_t width_of_name(ls__reader *reader, const ls__cell_plan *plan, ls__str name)
{
    char text[32];
    if (ls__str_is(name, "1"))
        return 1;
    memcpy(text, name.text, name.length); /* of cells.def */
    text[name.length] = 0;
    int64_t width = ls__raw_integer(reader, text, -1);
    if (width < 0 && ls__raw_find(&reader->raw, text))
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is negative", text);
    for (uint32_t i = 0; width < 0 && i < plan->port_count; i++) {
        ls__raw_connection *port = ls__raw_connected(&reader->raw, plan->ports[i].name);
        if (port && ls__str_equal(plan->ports[i].width, name))
            width = port->count;
    }
    if (width < 0)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is missing", text);
    if (width > INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "parameter %s is too large", text);
    return (uint32_t)width;
}

static uint32_t width_of_port(ls__reader *reader, const ls__cell_plan *plan,
                              const ls__plan_port *port)
{
    for (size_t i = 0; i < port->width.length; i++) {
        char c = port->width.text[i];
        if (c != '*' && c != '<')
            continue;
        ls__str left = {port->width.text, i};
        ls__str right = {port->width.text + i + 1, port->width.length - i - 1};
        uint64_t width = width_of_name(reader, plan, left);
        uint32_t factor = width_of_name(reader, plan, right);
        if (c == '<' && factor > 31)
            width = width ? UINT64_MAX : 0;
        else
            width = c == '*' ? width * factor : width << factor;
        if (width > INT32_MAX)
            ls__reader_fail(reader, LS_E_LIMIT, "port %.*s would be too wide",
                            LS__STR_ARG(port->name));
        return (uint32_t)width;
    }
    return width_of_name(reader, plan, port->width);
}

static ls__nets take_port(ls__reader *reader, const ls__plan_port *port)
{
    uint32_t width = width_of_port(reader, reader->raw.plan, port);
    return ls__raw_port(reader, port->name, width, port->output);
}

static void append(ls__reader *reader, ls__nets *slot, ls__nets more)
{
    if (!slot->count) {
        *slot = more;
        return;
    }
    ls__net *all = ls__pack_take(&reader->scratched, slot->count + more.count, sizeof *all);
    memcpy(all, slot->items, slot->count * sizeof *all);
    memcpy(all + slot->count, more.items, more.count * sizeof *all);
    *slot = (ls__nets){all, slot->count + more.count};
}

/* --- combinational ---------------------------------------------------------------------------- */

static ls__nets *cell_slot(ls__cell *cell, char slot)
{
    switch (slot) {
    case 'a':
        return &cell->a;
    case 'b':
        return &cell->b;
    case 's':
        return &cell->s;
    case 'i':
        return &cell->bi;
    case 'x':
        return &cell->x;
    case 'o':
        return &cell->co;
    default:
        return &cell->y;
    }
}

static void check_slice(ls__reader *reader, ls__cell *cell)
{
    int64_t offset = ls__raw_integer(reader, "OFFSET", 0);
    if (offset < 0 || offset > cell->a.count || cell->y.count > cell->a.count - offset)
        ls__reader_fail(reader, LS_E_FORMAT,
                        "%u bits from bit %lld do not lie in the %u bits of port A", cell->y.count,
                        (long long)offset, cell->a.count);
    cell->offset = (uint32_t)offset;
}

static void check_table(ls__reader *reader, ls__cell *cell)
{
    if (cell->type == LS__CELL_LUT) {
        if (cell->a.count > 24)
            ls__reader_fail(reader, LS_E_LIMIT, "a table of %u inputs is too large", cell->a.count);
        cell->table = ls__raw_bits(reader, "LUT", 1u << cell->a.count, LS__BIT_0);
        return;
    }
    int64_t depth = ls__raw_integer(reader, "DEPTH", 0);
    if (depth < 0 || depth * 2 * (int64_t)cell->a.count > INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "parameter DEPTH is too large");
    ls__bits given = ls__raw_bits_given(reader, "TABLE");
    uint32_t count = (uint32_t)depth * 2 * cell->a.count;
    if (given.count < count)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter TABLE has %u bits where %u are expected",
                        given.count, count);
    cell->depth = (uint32_t)depth;
    cell->table = ls__raw_bits(reader, "TABLE", count, LS__BIT_0);
}

static uint32_t number_at(ls__bits bits, uint32_t first, uint32_t count)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number |= (uint32_t)(bits.items[first + i] == LS__BIT_1) << i;
    return number;
}

/* The lengths in CONFIG must add up to port A. */
static void check_macc(ls__reader *reader, ls__cell *cell)
{
    int64_t width = ls__raw_integer(reader, "CONFIG_WIDTH", -1);
    ls__bits given = ls__raw_bits_given(reader, "CONFIG");
    ls__bits config = given;
    if (width >= 4 && width <= (int64_t)given.count + 64)
        config = ls__raw_bits(reader, "CONFIG", (uint32_t)width, LS__BIT_0);
    uint32_t number_bits = config.count >= 4 ? number_at(config, 0, 4) : 0;
    uint32_t port_bits = 2 + 2 * number_bits;
    if (config.count < 4 || (config.count - 4) % port_bits != 0)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter CONFIG does not describe ports");
    uint64_t total = 0;
    for (uint32_t at = 4; at < config.count; at += port_bits) {
        total += number_at(config, at + 2, number_bits);
        total += number_at(config, at + 2 + number_bits, number_bits);
    }
    if (total != cell->a.count)
        ls__reader_fail(reader, LS_E_FORMAT,
                        "parameter CONFIG describes %llu bits of port A, which has %u",
                        (unsigned long long)total, cell->a.count);
    cell->table = config;
}

static void check_cell(ls__reader *reader, ls__cell *cell)
{
    switch (cell->type) {
    case LS__CELL_SLICE:
        check_slice(reader, cell);
        break;
    case LS__CELL_CONCAT:
        if (cell->y.count != cell->a.count + cell->b.count)
            ls__reader_fail(reader, LS_E_FORMAT, "port Y has %u bits, A and B together %u",
                            cell->y.count, cell->a.count + cell->b.count);
        break;
    case LS__CELL_LUT:
    case LS__CELL_SOP:
        check_table(reader, cell);
        break;
    case LS__CELL_MACC:
        check_macc(reader, cell);
        break;
    default:
        break;
    }
}

static ls__cell *add_cell(ls__reader *reader, ls__cell_type type)
{
    const ls__raw_cell *raw = &reader->raw;
    ls__cell *cell = ls__list_add(&reader->scratch, &reader->module->cells);
    cell->type = type;
    cell->name = raw->name;
    cell->source = raw->source;
    cell->type_name = raw->plan->name;
    return cell;
}

static void convert_combinational(ls__reader *reader)
{
    const ls__cell_plan *plan = reader->raw.plan;
    ls__cell *cell = add_cell(reader, plan->cell);
    for (uint32_t i = 0; i < plan->port_count; i++) {
        ls__nets nets = take_port(reader, &plan->ports[i]);
        append(reader, cell_slot(cell, plan->ports[i].slot), nets);
    }
    if (plan->name[1] != '_') {
        cell->a_signed = ls__raw_flag(reader, "A_SIGNED", false);
        cell->b_signed = ls__raw_flag(reader, "B_SIGNED", false);
        check_cell(reader, cell);
    }
}

/* --- $macc_v2 --------------------------------------------------------------------------------- */
/* Written as a $macc: products first, then summands, each a port of its configuration. */

typedef struct summand {
    bool is_signed, negated;
    uint32_t a, b; /* widths; b 0: no product */
} summand;

static void put_number(uint8_t *bits, uint32_t number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bits[i] = number >> i & 1 ? LS__BIT_1 : LS__BIT_0;
}

/* The i-th factor of a port whose factors have 16 bits of width each in `parameter`. */
static ls__nets take_factor(ls__reader *reader, ls__nets port, ls__bits widths, uint32_t i,
                            uint32_t *at)
{
    uint32_t width = number_at(widths, 16 * i, 16);
    if (width > port.count - *at)
        ls__reader_fail(reader, LS_E_FORMAT, "the widths of the factors do not add up");
    *at += width;
    return (ls__nets){port.items + *at - width, width};
}

static ls__nets whole_port(ls__reader *reader, const char *name, bool output)
{
    ls__raw_connection *port = ls__raw_connected(&reader->raw, ls__str_from(name));
    return ls__raw_port(reader, ls__str_from(name), port ? port->count : 0, output);
}

static uint32_t count_parameter(ls__reader *reader, const char *name)
{
    int64_t count = ls__raw_integer(reader, name, 0);
    if (count < 0 || count > 65536)
        ls__reader_fail(reader, LS_E_LIMIT, "parameter %s is negative or too large", name);
    return (uint32_t)count;
}

enum { MACC_NUMBER_BITS = 15 };

static void put_summand(uint8_t *config, uint32_t index, summand item)
{
    uint8_t *at = config + 4 + index * (2 + 2 * MACC_NUMBER_BITS);
    at[0] = item.is_signed ? LS__BIT_1 : LS__BIT_0;
    at[1] = item.negated ? LS__BIT_1 : LS__BIT_0;
    put_number(at + 2, item.a, MACC_NUMBER_BITS);
    put_number(at + 2 + MACC_NUMBER_BITS, item.b, MACC_NUMBER_BITS);
}

static void convert_macc_v2(ls__reader *reader)
{
    uint32_t products = count_parameter(reader, "NPRODUCTS");
    uint32_t addends = count_parameter(reader, "NADDENDS"), used = 0, at[3] = {0};
    ls__nets a = whole_port(reader, "A", false), b = whole_port(reader, "B", false);
    ls__nets c = whole_port(reader, "C", false);
    ls__bits a_widths = ls__raw_bits(reader, "A_WIDTHS", 16 * products, LS__BIT_0);
    ls__bits b_widths = ls__raw_bits(reader, "B_WIDTHS", 16 * products, LS__BIT_0);
    ls__bits c_widths = ls__raw_bits(reader, "C_WIDTHS", 16 * addends, LS__BIT_0);
    ls__bits a_signed = ls__raw_bits(reader, "A_SIGNED", products, LS__BIT_0);
    ls__bits b_signed = ls__raw_bits(reader, "B_SIGNED", products, LS__BIT_0);
    ls__bits c_signed = ls__raw_bits(reader, "C_SIGNED", addends, LS__BIT_0);
    ls__bits product_negated = ls__raw_bits(reader, "PRODUCT_NEGATED", products, LS__BIT_0);
    ls__bits addend_negated = ls__raw_bits(reader, "ADDEND_NEGATED", addends, LS__BIT_0);
    ls__cell *cell = add_cell(reader, LS__CELL_MACC);
    ls__net *nets = ls__pack_take(&reader->scratched, a.count + b.count + c.count, sizeof *nets);
    uint32_t config_count = 4 + (products + addends) * (2 + 2 * MACC_NUMBER_BITS);
    uint8_t *config = ls__pack_take(&reader->kept, config_count, 1);
    put_number(config, MACC_NUMBER_BITS, 4);
    for (uint32_t i = 0; i < products + addends; i++) {
        uint32_t j = i - products;
        bool product = i < products;
        ls__nets left = product ? take_factor(reader, a, a_widths, i, &at[0])
                                : take_factor(reader, c, c_widths, j, &at[2]);
        ls__nets right = product ? take_factor(reader, b, b_widths, i, &at[1]) : (ls__nets){0};
        if (left.count >> MACC_NUMBER_BITS || right.count >> MACC_NUMBER_BITS)
            ls__reader_fail(reader, LS_E_LIMIT, "a factor has more than 32767 bits");
        if (product && (a_signed.items[i] == LS__BIT_1) != (b_signed.items[i] == LS__BIT_1))
            ls__reader_fail(reader, LS_E_FORMAT, "A_SIGNED and B_SIGNED differ");
        if (left.count == 0 || (product && right.count == 0))
            left.count = right.count = 0; /* adds nothing */
        put_summand(
            config, i,
            (summand){(product ? a_signed.items[i] : c_signed.items[j]) == LS__BIT_1,
                      (product ? product_negated.items[i] : addend_negated.items[j]) == LS__BIT_1,
                      left.count, right.count});
        for (uint32_t k = 0; k < left.count; k++)
            nets[used++] = left.items[k];
        for (uint32_t k = 0; k < right.count; k++)
            nets[used++] = right.items[k];
    }
    cell->a = (ls__nets){nets, used};
    cell->y = whole_port(reader, "Y", true);
    cell->table = (ls__bits){config, config_count};
}

/* --- registers -------------------------------------------------------------------------------- */

static ls__nets *register_slot(ls__register *reg, char slot)
{
    switch (slot) {
    case 'c':
        return &reg->clock;
    case 'e':
        return &reg->enable;
    case 's':
        return &reg->srst;
    case 'a':
        return &reg->arst;
    case 'l':
        return &reg->aload;
    case 'S':
        return &reg->set;
    case 'C':
        return &reg->clear;
    case 'D':
        return &reg->ad;
    case 'd':
        return &reg->d;
    default:
        return &reg->q;
    }
}

static ls__bits one_bit(ls__reader *reader, char digit)
{
    uint8_t *bit = ls__pack_take(&reader->kept, 1, 1);
    *bit = digit == '1' ? LS__BIT_1 : LS__BIT_0;
    return (ls__bits){bit, 1};
}

static void set_gate_polarities(ls__reader *reader, ls__register *reg)
{
    const ls__cell_plan *plan = reader->raw.plan;
    for (uint32_t i = 0; plan->letters[i]; i++) {
        bool high = plan->polarity[i] == 'P';
        switch (plan->letters[i]) {
        case 'C':
            reg->clock_rising = high;
            break;
        case 'E':
            reg->enable_high = high;
            break;
        case 'R':
            reg->arst_high = high;
            break;
        case 'r':
            reg->srst_high = high;
            break;
        case 'L':
            reg->aload_high = high;
            break;
        case 'S':
            reg->set_high = high;
            break;
        case 'c':
            reg->clear_high = high;
            break;
        case 'V':
            if (reg->arst.count)
                reg->arst_value = one_bit(reader, plan->polarity[i]);
            else
                reg->srst_value = one_bit(reader, plan->polarity[i]);
            break;
        default:
            break;
        }
    }
}

static void set_word_polarities(ls__reader *reader, ls__register *reg)
{
    reg->clock_rising = ls__raw_flag(reader, "CLK_POLARITY", true);
    reg->enable_high = ls__raw_flag(reader, "EN_POLARITY", true);
    reg->srst_high = ls__raw_flag(reader, "SRST_POLARITY", true);
    reg->arst_high = ls__raw_flag(reader, "ARST_POLARITY", true);
    reg->aload_high = ls__raw_flag(reader, "ALOAD_POLARITY", true);
    reg->set_high = ls__raw_flag(reader, "SET_POLARITY", true);
    reg->clear_high = ls__raw_flag(reader, "CLR_POLARITY", true);
    if (reg->arst.count)
        reg->arst_value = ls__raw_bits(reader, "ARST_VALUE", reg->q.count, LS__BIT_0);
    if (reg->srst.count)
        reg->srst_value = ls__raw_bits(reader, "SRST_VALUE", reg->q.count, LS__BIT_0);
}

static void convert_register(ls__reader *reader)
{
    const ls__raw_cell *raw = &reader->raw;
    const ls__cell_plan *plan = raw->plan;
    ls__register *reg = ls__list_add(&reader->scratch, &reader->module->registers);
    reg->kind = plan->register_kind;
    reg->name = raw->name;
    reg->source = raw->source;
    reg->type_name = plan->name;
    reg->srst_needs_enable =
        strncmp(plan->name, "$sdffce", 7) == 0 || strncmp(plan->name, "$_SDFFCE_", 9) == 0;
    for (uint32_t i = 0; i < plan->port_count; i++)
        *register_slot(reg, plan->ports[i].slot) = take_port(reader, &plan->ports[i]);
    if (plan->letters)
        set_gate_polarities(reader, reg);
    else
        set_word_polarities(reader, reg);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void convert_connect(ls__reader *reader)
{
    ls__alias *alias = ls__list_add(&reader->scratch, &reader->module->aliases);
    int64_t width = ls__raw_integer(reader, "WIDTH", -1);
    ls__raw_connection *a = ls__raw_connected(&reader->raw, ls__str_from("A"));
    uint32_t count = a ? a->count : 0;
    if (width >= 0 && width != count)
        ls__reader_fail(reader, LS_E_FORMAT, "port A has %u bits, WIDTH is %lld", count,
                        (long long)width);
    alias->a = ls__raw_port(reader, ls__str_from("A"), count, false);
    alias->b = ls__raw_port(reader, ls__str_from("B"), count, false);
}

static void convert_instance(ls__reader *reader)
{
    ls__raw_cell *raw = &reader->raw;
    ls__instance *instance = ls__list_add(&reader->scratch, &reader->module->instances);
    uint32_t count = raw->connections.count;
    ls__instance_port *ports = LS__NEW_ARRAY(&reader->scratch, ls__instance_port, count);
    instance->name = raw->hdlname ? raw->hdlname : raw->name;
    instance->plan = raw->plan;
    instance->ports = ports;
    instance->port_count = count;
    instance->has_parameters = raw->parameters.count > 0;
    for (uint32_t i = 0; i < count; i++) {
        const ls__raw_connection *connection = &raw->connections.items[i];
        bool added;
        ls__str name = {(const char *)raw->bytes.items + connection->name_offset,
                        connection->name_length};
        ls__net *nets = ls__pack_take(&reader->scratched, connection->count, sizeof *nets);
        if (connection->count)
            memcpy(nets, raw->nets.items + connection->first, connection->count * sizeof *nets);
        ports[i].name = ls__names_put(&reader->scratch, &reader->texts, name, &added);
        ports[i].nets = (ls__nets){nets, connection->count};
    }
}

void ls__convert_cell(ls__reader *reader)
{
    switch (reader->raw.plan->kind) {
    case LS__PLAN_COMBINATIONAL:
        convert_combinational(reader);
        break;
    case LS__PLAN_MACC_V2:
        convert_macc_v2(reader);
        break;
    case LS__PLAN_REGISTER:
        convert_register(reader);
        break;
    case LS__PLAN_MEMORY:
        ls__convert_memory(reader);
        break;
    case LS__PLAN_MEMORY_PORT:
        ls__convert_memory_port(reader);
        break;
    case LS__PLAN_EFFECT:
        ls__convert_effect(reader);
        break;
    case LS__PLAN_CONNECT:
        convert_connect(reader);
        break;
    case LS__PLAN_WARNED:
        reader->ignored_liveness++;
        return;
    case LS__PLAN_IGNORED:
        return;
    case LS__PLAN_INSTANCE:
        convert_instance(reader);
        return;
    }
    ls__raw_done(reader);
}
