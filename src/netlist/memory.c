/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memories: packed cells ($mem, $mem_v2) and loose ones ($memrd, $memwr, $meminit and their _v2),
 * which are gathered at the end of their module by the name of the memory. Wide ports become narrow
 * ones: packed cells hold them so already (each with its whole address, so the continuation flags
 * say nothing more), loose ones are split here.
 *
 * The older cells have one flag for transparency and an order of writes. They mean: transparent for
 * every write port with the same clock, and each write port wins over those before it.
 */
#include "netlist/reader.h"

#include <stdlib.h>
#include <string.h>

static const ls__net zero = {LS__NET_0}, one = {LS__NET_1};

static const uint64_t memory_bits_most = (uint64_t)1 << 36;
enum { PORTS_MOST = 1 << 16, MASK_BITS_MOST = 1 << 24, LOOSE_INIT_BITS_MOST = 1 << 28 };

static ls__nets part(ls__nets nets, uint32_t index, uint32_t count)
{
    return (ls__nets){nets.items + (size_t)index * count, count};
}

static ls__bits bits_part(ls__bits bits, uint32_t index, uint32_t count)
{
    return (ls__bits){bits.items + (size_t)index * count, count};
}

static ls__nets constant(const ls__net *net)
{
    return (ls__nets){net, 1};
}

static uint32_t small_parameter(ls__reader *reader, const char *name, int64_t otherwise,
                                int64_t most)
{
    int64_t value = ls__raw_integer(reader, name, otherwise);
    if (value < 0)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is negative or missing", name);
    if (value > most)
        ls__reader_fail(reader, LS_E_LIMIT, "parameter %s is more than %lld", name,
                        (long long)most);
    return (uint32_t)value;
}

static void check_size(ls__reader *reader, uint32_t width, uint32_t depth)
{
    if (width == 0)
        ls__reader_fail(reader, LS_E_FORMAT, "a memory has words of 0 bits");
    if ((uint64_t)width * depth > memory_bits_most)
        ls__reader_fail(reader, LS_E_LIMIT, "a memory of %u words of %u bits is too large", depth,
                        width);
}

/* A name in a parameter: "\mem" stands for mem, as write_json does it elsewhere. */
static const char *plain_name(const char *name)
{
    bool escaped = name[0] == '\\' && name[1] && name[1] != '$' && name[1] != '\\' &&
                   (name[1] < '0' || name[1] > '9');
    return name + escaped;
}

static ls__nets port(ls__reader *reader, const char *name, uint32_t count, uint32_t each,
                     bool output)
{
    uint64_t width = (uint64_t)count * each;
    if (width > INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "port %s would be too wide", name);
    return ls__raw_port(reader, ls__str_from(name), (uint32_t)width, output);
}

static bool bit_is_1(ls__bits bits, uint32_t index)
{
    return bits.items[index] == LS__BIT_1;
}

/* Which write ports share the clock of a read port. */
static ls__bits same_clock(ls__reader *reader, const ls__read_port *read,
                           const ls__write_port *writes, uint32_t count)
{
    uint8_t *bits = ls__pack_take(&reader->kept, count, 1);
    for (uint32_t i = 0; i < count; i++)
        bits[i] = read->clock.count && writes[i].clock.count &&
                          read->clock.items[0].index == writes[i].clock.items[0].index &&
                          read->clock_rising == writes[i].clock_rising
                      ? LS__BIT_1
                      : LS__BIT_0;
    return (ls__bits){bits, count};
}

/* `ones` bits of 1, then 0 up to `count`. */
static ls__bits first_ones(ls__reader *reader, uint32_t ones, uint32_t count)
{
    uint8_t *bits = ls__pack_take(&reader->kept, count, 1);
    for (uint32_t i = 0; i < count; i++)
        bits[i] = i < ones ? LS__BIT_1 : LS__BIT_0;
    return (ls__bits){bits, count};
}

static ls__bits undefined(ls__reader *reader, uint32_t count)
{
    uint8_t *bits = ls__pack_take(&reader->kept, count, 1);
    memset(bits, LS__BIT_X, count);
    return (ls__bits){bits, count};
}

/* Asynchronous ports are read at all times, whatever stands at their other pins. */
static void make_asynchronous(ls__read_port *read)
{
    read->clock = (ls__nets){0};
    read->enable = constant(&one);
    read->arst = read->srst = constant(&zero);
}

static ls__bits defined_or_none(ls__bits bits)
{
    for (uint32_t i = 0; i < bits.count; i++) {
        if (bits.items[i] != LS__BIT_X)
            return bits;
    }
    return (ls__bits){0};
}

/* --- packed ----------------------------------------------------------------------------------- */

typedef struct packed {
    uint32_t width, address_bits, reads, writes;
    bool old; /* $mem */
} packed;

static ls__write_port *packed_writes(ls__reader *reader, const packed *shape)
{
    uint32_t count = shape->writes;
    ls__nets clock = port(reader, "WR_CLK", count, 1, false);
    ls__nets enable = port(reader, "WR_EN", count, shape->width, false);
    ls__nets address = port(reader, "WR_ADDR", count, shape->address_bits, false);
    ls__nets data = port(reader, "WR_DATA", count, shape->width, false);
    ls__bits clocked = ls__raw_bits(reader, "WR_CLK_ENABLE", count, LS__BIT_0);
    ls__bits rising = ls__raw_bits(reader, "WR_CLK_POLARITY", count, LS__BIT_0);
    ls__bits priority = {0};
    if (!shape->old)
        priority = ls__raw_bits(reader, "WR_PRIORITY_MASK", count * count, LS__BIT_0);
    ls__write_port *writes = LS__NEW_ARRAY(&reader->scratch, ls__write_port, count);
    for (uint32_t i = 0; i < count; i++) {
        writes[i] = (ls__write_port){
            .enable = part(enable, i, shape->width),
            .address = part(address, i, shape->address_bits),
            .data = part(data, i, shape->width),
            .clock_rising = bit_is_1(rising, i),
            .priority = shape->old ? first_ones(reader, i, count) : bits_part(priority, i, count),
        };
        if (bit_is_1(clocked, i))
            writes[i].clock = part(clock, i, 1);
    }
    return writes;
}

static ls__read_port *packed_reads(ls__reader *reader, const packed *shape,
                                   const ls__write_port *writes)
{
    uint32_t count = shape->reads, width = shape->width;
    ls__nets clock = port(reader, "RD_CLK", count, 1, false);
    ls__nets enable = port(reader, "RD_EN", count, 1, false);
    ls__nets address = port(reader, "RD_ADDR", count, shape->address_bits, false);
    ls__nets data = port(reader, "RD_DATA", count, width, true);
    ls__nets arst = {0}, srst = {0};
    ls__bits clocked = ls__raw_bits(reader, "RD_CLK_ENABLE", count, LS__BIT_0);
    ls__bits rising = ls__raw_bits(reader, "RD_CLK_POLARITY", count, LS__BIT_0);
    ls__bits transparent = {0}, collision = {0}, over = {0}, values[3] = {{0}};
    if (shape->old) {
        transparent = ls__raw_bits(reader, "RD_TRANSPARENT", count, LS__BIT_0);
    } else {
        static const char *const names[] = {"RD_ARST_VALUE", "RD_SRST_VALUE", "RD_INIT_VALUE"};
        uint32_t mask = count * shape->writes;
        arst = port(reader, "RD_ARST", count, 1, false);
        srst = port(reader, "RD_SRST", count, 1, false);
        transparent = ls__raw_bits(reader, "RD_TRANSPARENCY_MASK", mask, LS__BIT_0);
        collision = ls__raw_bits(reader, "RD_COLLISION_X_MASK", mask, LS__BIT_0);
        over = ls__raw_bits(reader, "RD_CE_OVER_SRST", count, LS__BIT_0);
        for (int i = 0; i < 3; i++)
            values[i] = ls__raw_bits(reader, names[i], count * width, LS__BIT_X);
    }
    ls__read_port *reads = LS__NEW_ARRAY(&reader->scratch, ls__read_port, count);
    for (uint32_t i = 0; i < count; i++) {
        ls__read_port *read = &reads[i];
        read->enable = part(enable, i, 1);
        read->address = part(address, i, shape->address_bits);
        read->data = part(data, i, width);
        read->clock = part(clock, i, 1);
        read->clock_rising = bit_is_1(rising, i);
        if (!bit_is_1(clocked, i))
            make_asynchronous(read);
        if (shape->old) {
            read->transparent = bit_is_1(transparent, i)
                                    ? same_clock(reader, read, writes, shape->writes)
                                    : first_ones(reader, 0, shape->writes);
            read->collision_x = first_ones(reader, 0, shape->writes);
            read->arst = read->srst = constant(&zero);
            read->arst_value = read->srst_value = read->init_value = undefined(reader, width);
            continue;
        }
        if (read->clock.count) {
            read->arst = part(arst, i, 1);
            read->srst = part(srst, i, 1);
        }
        read->srst_needs_enable = bit_is_1(over, i);
        read->transparent = bits_part(transparent, i, shape->writes);
        read->collision_x = bits_part(collision, i, shape->writes);
        read->arst_value = bits_part(values[0], i, width);
        read->srst_value = bits_part(values[1], i, width);
        read->init_value = bits_part(values[2], i, width);
    }
    return reads;
}

void ls__convert_memory(ls__reader *reader)
{
    const ls__raw_cell *raw = &reader->raw;
    packed shape = {.old = strcmp(raw->plan->name, "$mem") == 0};
    ls__memory *memory = ls__list_add(&reader->scratch, &reader->module->memories);
    const char *id = plain_name(ls__raw_text(reader, "MEMID"));
    memory->name = raw->hdlname ? raw->hdlname : *id ? id : raw->name;
    memory->source = raw->source;
    memory->width = small_parameter(reader, "WIDTH", -1, INT32_MAX);
    memory->depth = small_parameter(reader, "SIZE", -1, INT32_MAX);
    memory->start = (uint32_t)ls__raw_integer(reader, "OFFSET", 0);
    check_size(reader, memory->width, memory->depth);
    shape.width = memory->width;
    shape.address_bits = small_parameter(reader, "ABITS", -1, 64);
    shape.reads = small_parameter(reader, "RD_PORTS", 0, PORTS_MOST);
    shape.writes = small_parameter(reader, "WR_PORTS", 0, PORTS_MOST);
    if ((uint64_t)shape.reads * shape.writes > MASK_BITS_MOST ||
        (uint64_t)shape.writes * shape.writes > MASK_BITS_MOST ||
        (uint64_t)shape.reads * shape.width > INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "a memory has too many ports");

    ls__bits init = ls__raw_bits_given(reader, "INIT");
    uint64_t bits = (uint64_t)memory->width * memory->depth;
    if (init.count > bits)
        init = ls__raw_bits(reader, "INIT", (uint32_t)bits, LS__BIT_X);
    memory->init = defined_or_none(init);
    memory->write_count = shape.writes;
    memory->read_count = shape.reads;
    const ls__write_port *writes = packed_writes(reader, &shape);
    memory->writes = writes;
    memory->reads = packed_reads(reader, &shape, writes);
}

/* --- loose ------------------------------------------------------------------------------------ */

typedef enum loose_kind { LOOSE_READ, LOOSE_WRITE, LOOSE_INIT } loose_kind;

typedef struct ls__loose_port {
    loose_kind kind;
    bool old;
    const char *id, *cell; /* the memory's name; the cell's, for messages */
    uint32_t width, words;
    ls__nets address, data, enable, clock, arst, srst;
    bool clock_rising, transparent, needs_enable;
    ls__bits mask, collision; /* transparency or priority: by PORTID */
    ls__bits arst_value, srst_value, init_value;
    uint32_t port_id;
    int64_t priority;
    uint32_t first_narrow; /* of a write: its number among the narrow ports */
} ls__loose_port;

const uint32_t ls__loose_port_bytes = sizeof(ls__loose_port);

static void take_clock(ls__reader *reader, ls__loose_port *loose)
{
    ls__nets clock = port(reader, "CLK", 1, 1, false);
    if (ls__raw_flag(reader, "CLK_ENABLE", false))
        loose->clock = clock;
    loose->clock_rising = ls__raw_flag(reader, "CLK_POLARITY", true);
}

static void take_read(ls__reader *reader, ls__loose_port *loose)
{
    take_clock(reader, loose);
    loose->enable = port(reader, "EN", 1, 1, false);
    loose->data = port(reader, "DATA", 1, loose->width, true);
    if (loose->old) {
        loose->transparent = ls__raw_flag(reader, "TRANSPARENT", false);
        loose->arst = loose->srst = constant(&zero);
        loose->arst_value = loose->srst_value = loose->init_value = undefined(reader, loose->width);
        return;
    }
    loose->arst = port(reader, "ARST", 1, 1, false);
    loose->srst = port(reader, "SRST", 1, 1, false);
    loose->needs_enable = ls__raw_flag(reader, "CE_OVER_SRST", false);
    loose->mask = ls__raw_bits_given(reader, "TRANSPARENCY_MASK");
    loose->collision = ls__raw_bits_given(reader, "COLLISION_X_MASK");
    loose->arst_value = ls__raw_bits(reader, "ARST_VALUE", loose->width, LS__BIT_X);
    loose->srst_value = ls__raw_bits(reader, "SRST_VALUE", loose->width, LS__BIT_X);
    loose->init_value = ls__raw_bits(reader, "INIT_VALUE", loose->width, LS__BIT_X);
}

static void take_write(ls__reader *reader, ls__loose_port *loose)
{
    take_clock(reader, loose);
    loose->enable = port(reader, "EN", 1, loose->width, false);
    loose->data = port(reader, "DATA", 1, loose->width, false);
    if (!loose->old) {
        loose->port_id = small_parameter(reader, "PORTID", 0, PORTS_MOST);
        loose->mask = ls__raw_bits_given(reader, "PRIORITY_MASK");
    }
}

static void require_constant(ls__reader *reader, ls__nets nets, const char *name)
{
    for (uint32_t i = 0; i < nets.count; i++) {
        if (nets.items[i].index >= LS__NET_FIRST)
            ls__reader_fail(reader, LS_E_FORMAT, "port %s of an initial value is not constant",
                            name);
    }
}

static void take_init(ls__reader *reader, ls__loose_port *loose)
{
    loose->words = small_parameter(reader, "WORDS", 1, INT32_MAX);
    loose->data = port(reader, "DATA", loose->words, loose->width, false);
    if (!loose->old)
        loose->enable = port(reader, "EN", 1, loose->width, false);
    require_constant(reader, loose->data, "DATA");
    require_constant(reader, loose->address, "ADDR");
    require_constant(reader, loose->enable, "EN");
}

void ls__convert_memory_port(ls__reader *reader)
{
    const ls__raw_cell *raw = &reader->raw;
    const char *type = raw->plan->name;
    ls__loose_port *loose = ls__list_add(&reader->scratch, &reader->module->loose_ports);
    loose->id = plain_name(ls__raw_text(reader, "MEMID"));
    loose->cell = raw->name;
    loose->old = !ls__str_ends_in(type, "_v2");
    loose->width = small_parameter(reader, "WIDTH", -1, INT32_MAX);
    loose->priority = ls__raw_integer(reader, "PRIORITY", 0);
    uint32_t address_bits = small_parameter(reader, "ABITS", -1, 64);
    loose->address = port(reader, "ADDR", 1, address_bits, false);
    if (strncmp(type, "$memrd", 6) == 0) {
        loose->kind = LOOSE_READ;
        take_read(reader, loose);
    } else if (strncmp(type, "$memwr", 6) == 0) {
        loose->kind = LOOSE_WRITE;
        take_write(reader, loose);
    } else {
        loose->kind = LOOSE_INIT;
        take_init(reader, loose);
    }
}

/* Writes in the order of their numbers or, of old cells, priorities. */
static int compare_writes(const void *left, const void *right)
{
    const ls__loose_port *a = *(ls__loose_port *const *)left, *b = *(ls__loose_port *const *)right;
    int64_t x = a->old ? a->priority : (int64_t)a->port_id;
    int64_t y = b->old ? b->priority : (int64_t)b->port_id;
    if (x == y)
        return strcmp(a->cell, b->cell);
    return x < y ? -1 : 1;
}

static int compare_inits(const void *left, const void *right)
{
    const ls__loose_port *a = *(ls__loose_port *const *)left, *b = *(ls__loose_port *const *)right;
    if (a->priority == b->priority)
        return strcmp(a->cell, b->cell);
    return a->priority < b->priority ? -1 : 1;
}

/* The address of word `index` of a wide port: its lowest bits count the words. */
static ls__nets word_address(ls__reader *reader, ls__nets address, uint32_t index, uint32_t words)
{
    if (words == 1)
        return address;
    ls__net *nets = ls__pack_take(&reader->scratched, address.count, sizeof *nets);
    memcpy(nets, address.items, address.count * sizeof *nets);
    for (uint32_t i = 0; words >> (i + 1) && i < address.count; i++)
        nets[i] = index >> i & 1 ? one : zero;
    return (ls__nets){nets, address.count};
}

/* The ports of one kind, NULL-terminated and in order; *narrow counts them in narrow ones. */
static ls__loose_port **ports_of(ls__reader *reader, ls__loose_memory *memory, loose_kind kind,
                                 uint32_t *narrow)
{
    uint32_t count = 0;
    ls__loose_port **ports =
        LS__NEW_ARRAY(&reader->scratch, ls__loose_port *, memory->ports.count + 1);
    for (uint32_t i = 0; i < memory->ports.count; i++) {
        if (memory->ports.items[i]->kind == kind)
            ports[count++] = memory->ports.items[i];
    }
    if (kind == LOOSE_WRITE)
        qsort(ports, count, sizeof(ls__loose_port *), compare_writes);
    if (kind == LOOSE_INIT)
        qsort(ports, count, sizeof(ls__loose_port *), compare_inits);
    *narrow = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words = ports[i]->width / memory->width;
        if (words * memory->width != ports[i]->width || words == 0 || (words & (words - 1)))
            ls__reader_fail(reader, LS_E_FORMAT,
                            "cell '%s': %u bits are no power of two of words of %u bits of "
                            "memory '%s'",
                            ports[i]->cell, ports[i]->width, memory->width, memory->id);
        ports[i]->first_narrow = *narrow;
        *narrow += words;
        if (*narrow > 4096)
            ls__reader_fail(reader, LS_E_LIMIT, "memory '%s' has too many ports", memory->id);
    }
    return ports;
}

/* A mask by number of write port, as one by narrow write port. */
static ls__bits narrow_mask(ls__reader *reader, ls__bits mask, ls__loose_port *const *writes,
                            uint32_t narrow, uint32_t memory_width)
{
    uint8_t *bits = ls__pack_take(&reader->kept, narrow, 1);
    for (; *writes; writes++) {
        bool set = (*writes)->port_id < mask.count && bit_is_1(mask, (*writes)->port_id);
        for (uint32_t i = 0; i < (*writes)->width / memory_width; i++)
            bits[(*writes)->first_narrow + i] = set ? LS__BIT_1 : LS__BIT_0;
    }
    return (ls__bits){bits, narrow};
}

static ls__write_port *narrow_writes(ls__reader *reader, ls__loose_port *const *ports,
                                     uint32_t narrow, uint32_t width)
{
    ls__write_port *writes = LS__NEW_ARRAY(&reader->scratch, ls__write_port, narrow);
    for (ls__loose_port *const *at = ports; *at; at++) {
        const ls__loose_port *wide = *at;
        uint32_t words = wide->width / width;
        ls__bits priority = wide->old ? first_ones(reader, wide->first_narrow, narrow)
                                      : narrow_mask(reader, wide->mask, ports, narrow, width);
        for (uint32_t i = 0; i < words; i++)
            writes[wide->first_narrow + i] = (ls__write_port){
                .enable = part(wide->enable, i, width),
                .address = word_address(reader, wide->address, i, words),
                .data = part(wide->data, i, width),
                .clock = wide->clock,
                .clock_rising = wide->clock_rising,
                .priority = priority,
            };
    }
    return writes;
}

static ls__read_port *narrow_reads(ls__reader *reader, ls__loose_port *const *ports,
                                   uint32_t narrow, uint32_t width, ls__loose_port *const *writers,
                                   const ls__write_port *writes, uint32_t write_count)
{
    ls__read_port *reads = LS__NEW_ARRAY(&reader->scratch, ls__read_port, narrow);
    for (; *ports; ports++) {
        const ls__loose_port *wide = *ports;
        uint32_t words = wide->width / width;
        for (uint32_t i = 0; i < words; i++) {
            ls__read_port *read = &reads[wide->first_narrow + i];
            read->enable = wide->enable;
            read->address = word_address(reader, wide->address, i, words);
            read->data = part(wide->data, i, width);
            read->arst = wide->arst;
            read->srst = wide->srst;
            read->clock = wide->clock;
            read->clock_rising = wide->clock_rising;
            read->srst_needs_enable = wide->needs_enable;
            if (!read->clock.count)
                make_asynchronous(read);
            if (wide->old)
                read->transparent = wide->transparent
                                        ? same_clock(reader, read, writes, write_count)
                                        : first_ones(reader, 0, write_count);
            else
                read->transparent = narrow_mask(reader, wide->mask, writers, write_count, width);
            read->collision_x = narrow_mask(reader, wide->collision, writers, write_count, width);
            read->arst_value = bits_part(wide->arst_value, i, width);
            read->srst_value = bits_part(wide->srst_value, i, width);
            read->init_value = bits_part(wide->init_value, i, width);
        }
    }
    return reads;
}

/* The word of the memory at which an initial value begins; beyond the memory: UINT64_MAX. */
static uint64_t init_word(const ls__loose_memory *memory, const ls__loose_port *init)
{
    uint64_t address = 0;
    for (uint32_t i = 0; i < init->address.count; i++)
        address |= (uint64_t)(init->address.items[i].index == LS__NET_1) << i;
    return address < memory->start || address - memory->start >= memory->depth
               ? UINT64_MAX
               : address - memory->start;
}

static ls__bits gather_init(ls__reader *reader, const ls__loose_memory *memory,
                            ls__loose_port *const *inits)
{
    uint64_t end = 0, width = memory->width;
    for (ls__loose_port *const *at = inits; *at; at++) {
        uint64_t first = init_word(memory, *at), words = (*at)->words;
        if (first != UINT64_MAX)
            end = first + words > end ? first + words : end;
    }
    end = end > memory->depth ? memory->depth : end;
    if (end * width > LOOSE_INIT_BITS_MOST)
        ls__reader_fail(reader, LS_E_LIMIT,
                        "the initial values of memory '%s' reach too far; run memory_collect in "
                        "Yosys",
                        memory->id);
    if (!end)
        return (ls__bits){0};
    uint8_t *bits = ls__pack_take(&reader->kept, (size_t)(end * width), 1);
    memset(bits, LS__BIT_X, (size_t)(end * width));
    for (; *inits; inits++) {
        const ls__loose_port *init = *inits;
        uint64_t first = init_word(memory, init);
        for (uint64_t i = 0; first != UINT64_MAX && i < init->data.count; i++) {
            uint64_t to = first * width + i;
            bool enabled = init->old || init->enable.items[i % width].index == LS__NET_1;
            if (to < end * width && enabled) /* LS__NET_0 to LS__NET_Z are numbered as ls__bit */
                bits[to] = (uint8_t)init->data.items[i].index;
        }
    }
    return (ls__bits){bits, (uint32_t)(end * width)};
}

static void collect(ls__reader *reader, ls__loose_memory *loose)
{
    uint32_t reads, writes, inits;
    ls__memory *memory = ls__list_add(&reader->scratch, &reader->module->memories);
    memory->name = loose->name;
    memory->source = loose->source;
    memory->width = loose->width;
    memory->depth = loose->depth;
    memory->start = loose->start;
    check_size(reader, loose->width, loose->depth);
    for (uint32_t i = 0; i < loose->ports.count; i++) {
        const ls__loose_port *at = loose->ports.items[i];
        if (at->kind == LOOSE_INIT && at->width != loose->width)
            ls__reader_fail(reader, LS_E_FORMAT,
                            "cell '%s' has words of %u bits, its memory '%s' of %u", at->cell,
                            at->width, loose->id, loose->width);
    }
    ls__loose_port **readers = ports_of(reader, loose, LOOSE_READ, &reads);
    ls__loose_port **writers = ports_of(reader, loose, LOOSE_WRITE, &writes);
    ls__write_port *narrow = narrow_writes(reader, writers, writes, loose->width);
    memory->writes = narrow;
    memory->write_count = writes;
    memory->reads = narrow_reads(reader, readers, reads, loose->width, writers, narrow, writes);
    memory->read_count = reads;
    memory->init =
        defined_or_none(gather_init(reader, loose, ports_of(reader, loose, LOOSE_INIT, &inits)));
}

void ls__collect_memories(ls__reader *reader)
{
    ls__names by_id = {0};
    bool added;
    ls__template *module = reader->module;
    LS__LIST_EACH(ls__loose_memory, memory, &module->loose_memories)
    ls__names_put(&reader->scratch, &by_id, ls__str_from(memory->id), &added)->value = memory;
    LS__LIST_EACH(ls__loose_port, loose, &module->loose_ports)
    {
        ls__name *name = ls__names_find(&by_id, ls__str_from(loose->id));
        if (!name)
            ls__reader_fail(reader, LS_E_FORMAT,
                            "cell '%s' belongs to a memory '%s' that is not in the section "
                            "\"memories\"",
                            loose->cell, loose->id);
        ls__loose_memory *memory = name->value;
        ls__vec_push(&reader->scratch, &memory->ports, loose);
    }
    LS__LIST_EACH(ls__loose_memory, memory, &module->loose_memories)
    collect(reader, memory);
}
