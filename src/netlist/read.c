/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the file: its bytes in pieces (digested on the way), the modules and their sections. Each
 * function that reads a value is called with its first token as the current one and leaves its last
 * token as the current one.
 */
#include "netlist/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "netlist/source.h"

/* --- faults ----------------------------------------------------------------------------------- */

/* "module 'top', cell 'u1' ($add): " of what is being read. */
static void describe_place(const ls__reader *reader, char *text, size_t size)
{
    int used = 0;
    if (reader->module)
        used = snprintf(text, size, "module '%.80s'", reader->module->name);
    if (used >= 0 && (size_t)used < size && reader->raw.name)
        used += snprintf(text + used, size - (size_t)used, ", cell '%.100s' (%.40s)",
                         reader->raw.name, reader->raw.plan ? reader->raw.plan->name : "?");
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ": ");
}

void ls__reader_fail(ls__reader *reader, ls_status status, const char *format, ...)
{
    char place[300] = "", message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    describe_place(reader, place, sizeof place);
    reader->status = status;
    ls__fail(reader->error, status, "%s%s", place, message);
    if (!reader->is_read)
        ls__fail_where(reader->error, status, "%s: line %llu, byte %llu", reader->params->path,
                       (unsigned long long)reader->json.line,
                       (unsigned long long)ls__json_offset(&reader->json));
    else
        ls__fail_where(reader->error, status, "%s", reader->params->path);
    if (reader->hint)
        ls__fail_hint(reader->error, status, "%s", reader->hint);
    longjmp(reader->oom.jump, 1);
}

void ls__reader_warn(ls__reader *reader, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (!reader->params->warn)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    reader->params->warn(reader->params->context, message);
}

/* --- tokens ----------------------------------------------------------------------------------- */

static ls__json_token next(ls__reader *reader)
{
    ls__json *json = &reader->json;
    if (ls__json_next(json) != LS__JSON_ERROR)
        return json->token;
    if (json->status == LS_E_OUT_OF_MEMORY && !json->fault) {
        reader->oom.requested_bytes = json->capacity * 2;
        longjmp(reader->oom.jump, 1);
    }
    if (json->fault)
        ls__reader_fail(reader, json->status, "%s", json->fault);
    if (reader->error)
        *reader->error = json->error;
    reader->status = json->status;
    longjmp(reader->oom.jump, 1);
}

static void skip(ls__reader *reader)
{
    uint32_t depth = reader->json.depth;
    ls__json_token token = reader->json.token;
    if (token != LS__JSON_OBJECT && token != LS__JSON_ARRAY)
        return;
    while (reader->json.depth >= depth)
        next(reader);
}

static void require(ls__reader *reader, ls__json_token token, const char *what)
{
    if (reader->json.token != token)
        ls__reader_fail(reader, LS_E_FORMAT, "%s", what);
}

/* The next key of an object (its value is the current token then); false at the end. */
static bool next_key(ls__reader *reader, ls__str *key)
{
    if (next(reader) == LS__JSON_OBJECT_END)
        return false;
    *key = reader->json.text;
    return true;
}

/* A name, kept; what would break a line or a waveform's syntax becomes '_'. */
static const char *keep_name(ls__reader *reader, ls__str text)
{
    char *copy = ls__pack_take(&reader->kept, text.length + 1, 1);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];
        copy[i] = c <= ' ' || c == 0x7f ? '_' : text.text[i];
    }
    copy[text.length] = 0;
    return copy;
}

/* The path that flatten keeps: "cpu alu sum" for cpu.alu.sum. */
static const char *keep_path(ls__reader *reader, ls__str text)
{
    char *copy = (char *)keep_name(reader, text);
    reader->has_paths = true;
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == ' ')
            copy[i] = '.';
    }
    return copy;
}

static const char *keep_repeated(ls__reader *reader, ls__str text)
{
    bool added;
    ls__name *name = ls__names_put(&reader->scratch, &reader->texts, text, &added);
    if (!name->value)
        name->value = (void *)ls__keep_text(reader, text);
    return name->value;
}

static const char *unique_name(ls__reader *reader, ls__str text, const char *what)
{
    const char *name = keep_name(reader, text);
    if (!ls__text_set_add(&reader->scratch, &reader->used, name))
        ls__reader_fail(reader, LS_E_FORMAT, "there are two %s named '%s'", what, name);
    return name;
}

static bool flag(ls__reader *reader)
{
    const ls__json *json = &reader->json;
    switch (json->token) {
    case LS__JSON_INTEGER:
        return json->number != 0;
    case LS__JSON_TRUE:
        return true;
    case LS__JSON_TEXT: /* an attribute: bits */
        return memchr(json->text.text, '1', json->text.length) != NULL;
    default:
        skip(reader);
        return false;
    }
}

static int32_t small_integer(ls__reader *reader, const char *what)
{
    const ls__json *json = &reader->json;
    if (json->token != LS__JSON_INTEGER || json->number < INT32_MIN || json->number > INT32_MAX)
        ls__reader_fail(reader, LS_E_FORMAT, "%s must be an integer of 32 bits", what);
    return (int32_t)json->number;
}

/* --- nets ------------------------------------------------------------------------------------- */

/* Yosys numbers nets without gaps, and then every net is found in its first place. Where it is
 * taken, steps that depend on the whole number keep the search short for any other numbering. */
static uint32_t *net_slot(ls__net_map *map, uint32_t key)
{
    uint32_t mask = map->capacity - 1, slot = key & mask;
    uint32_t step = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
    while (map->entries[slot].value && map->entries[slot].key != key)
        slot = (slot + step) & mask;
    map->entries[slot].key = key;
    return &map->entries[slot].value;
}

static void grow_net_map(ls__reader *reader)
{
    ls__net_map *map = &reader->net_map, old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    if (!map->capacity)
        ls__reader_fail(reader, LS_E_LIMIT, "there are too many nets");
    map->entries = ls__arena_alloc(&reader->scratch, map->capacity, sizeof *map->entries);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].value)
            *net_slot(map, old.entries[i].key) = old.entries[i].value;
    }
}

static ls__net net(ls__reader *reader)
{
    const ls__json *json = &reader->json;
    if (json->token == LS__JSON_TEXT && json->text.length == 1) {
        switch (json->text.text[0]) {
        case '0':
            return (ls__net){LS__NET_0};
        case '1':
            return (ls__net){LS__NET_1};
        case 'x':
            return (ls__net){LS__NET_X};
        case 'z':
            return (ls__net){LS__NET_Z};
        default:
            break;
        }
    }
    if (json->token != LS__JSON_INTEGER || json->number < 0 || json->number > INT32_MAX)
        ls__reader_fail(reader, LS_E_FORMAT,
                        "a bit must be a number or one of \"0\", \"1\", \"x\", \"z\"");
    if (reader->net_map.count >= reader->net_map.capacity / 2)
        grow_net_map(reader);
    uint32_t *number = net_slot(&reader->net_map, (uint32_t)json->number);
    if (!*number) {
        *number = ls__new_net(reader).index;
        reader->net_map.count++;
    }
    return (ls__net){*number};
}

/* The initial contents of a memory may be here, so this one grows on the heap. */
static void push_net(ls__reader *reader, ls__net net)
{
    ls__raw_nets *nets = &reader->raw.nets;
    if (nets->count == nets->capacity) {
        uint32_t grown = nets->capacity ? nets->capacity * 2 : 1024;
        ls__net *more = grown ? ls__mem_realloc(nets->items, grown, sizeof *more) : NULL;
        if (!more) {
            reader->oom.requested_bytes = (size_t)grown * sizeof *more;
            longjmp(reader->oom.jump, 1);
        }
        nets->items = more;
        nets->capacity = grown;
    }
    nets->items[nets->count++] = net;
}

/* An array of bits, appended to the nets of the raw cell. */
static uint32_t raw_nets(ls__reader *reader)
{
    uint32_t before = reader->raw.nets.count;
    require(reader, LS__JSON_ARRAY, "an array of bits must stand here");
    while (next(reader) != LS__JSON_ARRAY_END)
        push_net(reader, net(reader));
    return reader->raw.nets.count - before;
}

static ls__nets scratch_nets(ls__reader *reader)
{
    reader->raw.nets.count = 0;
    uint32_t count = raw_nets(reader);
    ls__net *nets = ls__pack_take(&reader->scratched, count, sizeof *nets);
    if (count)
        memcpy(nets, reader->raw.nets.items, count * sizeof *nets);
    return (ls__nets){nets, count};
}

/* --- values ----------------------------------------------------------------------------------- */

/* Copies into the raw cell; answers where. */
static uint32_t raw_bytes(ls__reader *reader, const char *text, size_t length)
{
    ls__raw_cell *raw = &reader->raw;
    if (length > UINT32_MAX / 4 || raw->bytes.count > UINT32_MAX / 4)
        ls__reader_fail(reader, LS_E_LIMIT, "a cell is too large");
    uint32_t offset = raw->bytes.count, end = offset + (uint32_t)length;
    while (raw->bytes.capacity < end) {
        uint32_t count = raw->bytes.count;
        raw->bytes.items =
            ls__vec_grow(&reader->scratch, raw->bytes.items, count, &raw->bytes.capacity, 1);
    }
    if (length)
        memcpy(raw->bytes.items + offset, text, length);
    raw->bytes.count = end;
    return offset;
}

static int bit_value(char c)
{
    return c == '0'   ? LS__BIT_0
           : c == '1' ? LS__BIT_1
           : c == 'x' ? LS__BIT_X
           : c == 'z' ? LS__BIT_Z
                      : -1;
}

enum { KEPT_BITS = 256 };

/* A parameter or attribute. Bits stand with the highest first. */
static ls__raw_value raw_value(ls__reader *reader)
{
    const ls__json *json = &reader->json;
    ls__raw_value value = {0};
    ls__str text = json->text;
    if (json->token == LS__JSON_INTEGER) {
        value.kind = LS__RAW_NUMBER;
        value.number = json->number;
        return value;
    }
    if (json->token != LS__JSON_TEXT)
        ls__reader_fail(reader, LS_E_FORMAT, "a parameter must be a text or an integer");
    if (text.length > INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "a parameter is too long");
    size_t bits = 0, trimmed = text.length;
    while (bits < text.length && bit_value(text.text[bits]) >= 0)
        bits++;
    if (bits == text.length) {
        uint8_t *items;
        if (bits > KEPT_BITS) {
            value.kept = items = ls__arena_alloc(reader->keep, bits, 1);
        } else {
            value.offset = raw_bytes(reader, text.text, bits);
            items = reader->raw.bytes.items + value.offset;
        }
        for (size_t i = 0; i < bits; i++)
            items[i] = (uint8_t)bit_value(text.text[bits - 1 - i]);
        value.count = (uint32_t)bits;
        return value;
    }
    /* A text that could be taken for bits was written with a blank behind it. */
    while (trimmed > bits && text.text[trimmed - 1] == ' ')
        trimmed--;
    if (trimmed == bits)
        text.length--;
    value.kind = LS__RAW_TEXT;
    value.offset = raw_bytes(reader, text.text, text.length);
    value.count = (uint32_t)text.length;
    return value;
}

/* --- cells ------------------------------------------------------------------------------------ */

static void read_parameters(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"parameters\" must be an object");
    while (next_key(reader, &key)) {
        ls__raw_parameter parameter = {.name_length = (uint32_t)key.length};
        parameter.name_offset = raw_bytes(reader, key.text, key.length);
        next(reader);
        parameter.value = raw_value(reader);
        ls__vec_push(&reader->scratch, &reader->raw.parameters, parameter);
    }
}

static void read_cell_attributes(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"attributes\" must be an object");
    while (next_key(reader, &key)) {
        bool source = ls__str_is(key, "src"), path = ls__str_is(key, "hdlname");
        if (next(reader) != LS__JSON_TEXT)
            skip(reader);
        else if (source)
            reader->raw.source = keep_repeated(reader, reader->json.text);
        else if (path)
            reader->raw.hdlname = keep_path(reader, reader->json.text);
    }
}

static void read_connections(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"connections\" must be an object");
    while (next_key(reader, &key)) {
        ls__raw_connection connection = {.name_length = (uint32_t)key.length};
        if (ls__raw_connected(&reader->raw, key))
            ls__reader_fail(reader, LS_E_FORMAT, "port %.*s is connected twice", LS__STR_ARG(key));
        connection.name_offset = raw_bytes(reader, key.text, key.length);
        next(reader);
        connection.first = reader->raw.nets.count;
        connection.count = raw_nets(reader);
        ls__vec_push(&reader->scratch, &reader->raw.connections, connection);
    }
}

static void read_cell(ls__reader *reader, const char *name)
{
    ls__raw_cell *raw = &reader->raw;
    ls__str key;
    raw->parameters.count = raw->connections.count = raw->nets.count = raw->bytes.count = 0;
    raw->name = name;
    raw->source = "";
    raw->hdlname = NULL;
    raw->plan = NULL;
    require(reader, LS__JSON_OBJECT, "a cell must be an object");
    while (next_key(reader, &key)) {
        bool type = ls__str_is(key, "type"), parameters = ls__str_is(key, "parameters");
        bool attributes = ls__str_is(key, "attributes"), pins = ls__str_is(key, "connections");
        next(reader);
        if (type) {
            require(reader, LS__JSON_TEXT, "\"type\" must be a text");
            raw->plan = ls__plan_of(reader, reader->json.text);
        } else if (parameters) {
            read_parameters(reader);
        } else if (attributes) {
            read_cell_attributes(reader);
        } else if (pins) {
            read_connections(reader);
        } else {
            skip(reader);
        }
    }
    if (!raw->plan)
        ls__reader_fail(reader, LS_E_FORMAT, "the cell has no type");
    ls__convert_cell(reader);
}

static void read_cells(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"cells\" must be an object");
    ls__text_set_clear(&reader->used);
    while (next_key(reader, &key)) {
        const char *name = unique_name(reader, key, "cells");
        next(reader);
        read_cell(reader, name);
        reader->raw.name = NULL;
    }
}

/* --- ports, names, memories ------------------------------------------------------------------- */

static ls__direction direction(ls__reader *reader)
{
    if (reader->json.token == LS__JSON_TEXT) {
        if (ls__str_is(reader->json.text, "input"))
            return LS__DIRECTION_INPUT;
        if (ls__str_is(reader->json.text, "output"))
            return LS__DIRECTION_OUTPUT;
        if (ls__str_is(reader->json.text, "inout"))
            return LS__DIRECTION_INOUT;
    }
    ls__reader_fail(reader, LS_E_FORMAT, "a direction must be input, output or inout");
}

static void read_port(ls__reader *reader, const char *name)
{
    ls__template_port *port = ls__list_add(&reader->scratch, &reader->module->ports);
    ls__str key;
    port->name = name;
    require(reader, LS__JSON_OBJECT, "a port must be an object");
    while (next_key(reader, &key)) {
        bool side = ls__str_is(key, "direction"), bits = ls__str_is(key, "bits");
        bool offset = ls__str_is(key, "offset"), upto = ls__str_is(key, "upto");
        bool is_signed = ls__str_is(key, "signed");
        next(reader);
        if (side)
            port->direction = direction(reader);
        else if (bits)
            port->nets = scratch_nets(reader);
        else if (offset)
            port->offset = small_integer(reader, "\"offset\"");
        else if (upto)
            port->upto = flag(reader);
        else if (is_signed)
            port->is_signed = flag(reader);
        else
            skip(reader);
    }
    if (port->direction == LS__DIRECTION_NONE)
        ls__reader_fail(reader, LS_E_FORMAT, "port '%s' has no direction", name);
}

static void read_ports(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"ports\" must be an object");
    ls__text_set_clear(&reader->used);
    while (next_key(reader, &key)) {
        const char *name = unique_name(reader, key, "ports");
        next(reader);
        read_port(reader, name);
    }
}

/* The value of init is decoded when the width is known: attributes may come before bits. */
static ls__raw_value read_name_attributes(ls__reader *reader, ls__signal *signal, bool *has_init)
{
    ls__raw_value init = {0};
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"attributes\" must be an object");
    while (next_key(reader, &key)) {
        bool is_init = ls__str_is(key, "init"), path = ls__str_is(key, "hdlname");
        next(reader);
        if (is_init) {
            init = raw_value(reader);
            *has_init = true;
        } else if (path && reader->json.token == LS__JSON_TEXT && reader->json.text.length) {
            signal->name = keep_path(reader, reader->json.text);
        } else {
            skip(reader);
        }
    }
    return init;
}

static void read_name(ls__reader *reader, const char *name)
{
    ls__signal *signal = ls__list_add(&reader->scratch, &reader->module->signals);
    ls__raw_value init = {0};
    bool has_init = false;
    ls__str key;
    signal->name = name;
    reader->raw.bytes.count = 0;
    require(reader, LS__JSON_OBJECT, "a net name must be an object");
    while (next_key(reader, &key)) {
        bool bits = ls__str_is(key, "bits"), hidden = ls__str_is(key, "hide_name");
        bool offset = ls__str_is(key, "offset"), upto = ls__str_is(key, "upto");
        bool is_signed = ls__str_is(key, "signed"), attributes = ls__str_is(key, "attributes");
        next(reader);
        if (bits)
            signal->nets = scratch_nets(reader);
        else if (hidden)
            signal->hidden = flag(reader);
        else if (offset)
            signal->offset = small_integer(reader, "\"offset\"");
        else if (upto)
            signal->upto = flag(reader);
        else if (is_signed)
            signal->is_signed = flag(reader);
        else if (attributes)
            init = read_name_attributes(reader, signal, &has_init);
        else
            skip(reader);
    }
    if (has_init)
        signal->init = ls__value_bits(reader, &init, signal->nets.count);
}

static void read_names(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"netnames\" must be an object");
    ls__text_set_clear(&reader->used);
    while (next_key(reader, &key)) {
        const char *name = unique_name(reader, key, "nets");
        next(reader);
        read_name(reader, name);
    }
}

static void read_memory(ls__reader *reader, const char *name)
{
    ls__loose_memory *memory = ls__list_add(&reader->scratch, &reader->module->loose_memories);
    ls__str key;
    memory->id = memory->name = name;
    memory->source = "";
    require(reader, LS__JSON_OBJECT, "a memory must be an object");
    while (next_key(reader, &key)) {
        bool width = ls__str_is(key, "width"), depth = ls__str_is(key, "size");
        bool start = ls__str_is(key, "start_offset"), attributes = ls__str_is(key, "attributes");
        next(reader);
        if (attributes && reader->json.token == LS__JSON_OBJECT) {
            reader->raw.source = "";
            reader->raw.hdlname = NULL;
            read_cell_attributes(reader);
            memory->source = reader->raw.source;
            if (reader->raw.hdlname)
                memory->name = reader->raw.hdlname;
        } else if (start) {
            memory->start = (uint32_t)small_integer(reader, "\"start_offset\"");
        } else if (width || depth) {
            int32_t value = small_integer(reader, width ? "\"width\"" : "\"size\"");
            if (value < 0)
                ls__reader_fail(reader, LS_E_FORMAT, "memory '%s' has a negative size", name);
            *(width ? &memory->width : &memory->depth) = (uint32_t)value;
        } else {
            skip(reader);
        }
    }
}

static void read_memories(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"memories\" must be an object");
    ls__text_set_clear(&reader->used);
    while (next_key(reader, &key)) {
        const char *name = unique_name(reader, key, "memories");
        next(reader);
        read_memory(reader, name);
    }
}

/* --- modules ---------------------------------------------------------------------------------- */

static void read_module_attributes(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"attributes\" must be an object");
    while (next_key(reader, &key)) {
        bool top = ls__str_is(key, "top"), box = ls__str_is(key, "blackbox");
        next(reader);
        if (top)
            reader->module->is_top = flag(reader);
        else if (box)
            reader->module->is_black_box = flag(reader);
        else
            skip(reader);
    }
}

static void init_template(ls__template *module, const char *name)
{
    *module = (ls__template){.name = name, .net_count = LS__NET_FIRST};
    module->cells.item_bytes = sizeof(ls__cell);
    module->registers.item_bytes = sizeof(ls__register);
    module->memories.item_bytes = sizeof(ls__memory);
    module->effects.item_bytes = sizeof(ls__effect);
    module->signals.item_bytes = sizeof(ls__signal);
    module->ports.item_bytes = sizeof(ls__template_port);
    module->instances.item_bytes = sizeof(ls__instance);
    module->aliases.item_bytes = sizeof(ls__alias);
    module->loose_memories.item_bytes = sizeof(ls__loose_memory);
    module->loose_ports.item_bytes = ls__loose_port_bytes;
}

static void read_module(ls__reader *reader)
{
    static const struct {
        const char *key;
        void (*read)(ls__reader *reader);
    } sections[] = {{"attributes", read_module_attributes},
                    {"ports", read_ports},
                    {"cells", read_cells},
                    {"memories", read_memories},
                    {"netnames", read_names}};
    enum { SECTIONS = sizeof sections / sizeof *sections };
    ls__str key;
    bool seen[SECTIONS] = {false};
    require(reader, LS__JSON_OBJECT, "a module must be an object");
    reader->net_map = (ls__net_map){0};
    while (next_key(reader, &key)) {
        uint32_t i = 0;
        while (i < SECTIONS && !ls__str_is(key, sections[i].key))
            i++;
        if (i < SECTIONS && seen[i])
            ls__reader_fail(reader, LS_E_FORMAT, "there are two sections \"%s\"", sections[i].key);
        next(reader);
        if (i < SECTIONS) {
            seen[i] = true;
            sections[i].read(reader);
        } else {
            skip(reader);
        }
    }
    ls__collect_memories(reader);
}

static void read_modules(ls__reader *reader)
{
    ls__str key;
    require(reader, LS__JSON_OBJECT, "\"modules\" must be an object");
    while (next_key(reader, &key)) {
        bool added;
        ls__name *name = ls__names_put(&reader->scratch, &reader->modules, key, &added);
        if (!added)
            ls__reader_fail(reader, LS_E_FORMAT, "there are two modules named '%s'", name->text);
        ls__template *module = LS__NEW(&reader->scratch, ls__template);
        init_template(module, keep_name(reader, key));
        name->value = module;
        *(ls__template **)ls__list_add(&reader->scratch, &reader->module_list) = module;
        reader->module = module;
        next(reader);
        read_module(reader);
        reader->module = NULL;
    }
}

static void read_document(ls__reader *reader)
{
    bool has_modules = false;
    ls__str key;
    reader->netlist->creator = "";
    next(reader);
    require(reader, LS__JSON_OBJECT, "a netlist is an object with \"modules\"");
    while (next_key(reader, &key)) {
        bool creator = ls__str_is(key, "creator"), modules = ls__str_is(key, "modules");
        next(reader);
        if (creator && reader->json.token == LS__JSON_TEXT) {
            reader->netlist->creator = ls__keep_text(reader, reader->json.text);
        } else if (modules) {
            if (has_modules)
                ls__reader_fail(reader, LS_E_FORMAT, "there are two sections \"modules\"");
            has_modules = true;
            read_modules(reader);
        } else {
            skip(reader);
        }
    }
    next(reader); /* nothing may follow */
    if (!has_modules)
        ls__reader_fail(reader, LS_E_FORMAT, "there is no section \"modules\": no Yosys netlist");
}

/* --- entry ------------------------------------------------------------------------------------ */

static ls_status read_all(ls__reader *reader)
{
    if (setjmp(reader->oom.jump)) {
        if (reader->status != LS_OK)
            return reader->status;
        return ls__oom_status(&reader->oom, reader->error);
    }
    read_document(reader);
    reader->is_read = true;
    ls__flatten(reader);
    return LS_OK;
}

ls_status ls__netlist_read(const ls__netlist_params *params, ls__netlist **netlist, ls_error *error)
{
    *netlist = NULL;
    ls__source source;
    ls_status status = ls__source_open(&source, params, error);
    if (status != LS_OK)
        return status;
    ls__reader *reader = ls__mem_alloc(1, sizeof *reader);
    ls__netlist *result = ls__mem_alloc(1, sizeof *result);
    if (!reader || !result) {
        status = ls__fail_oom(error, sizeof *reader);
    } else {
        ls__arena_init(&reader->scratch, &reader->oom, params->limit_bytes);
        ls__arena_init(&result->arena, &reader->oom, params->limit_bytes);
        ls__json_init(&reader->json, ls__source_read, &source);
        reader->params = params;
        reader->netlist = result;
        reader->keep = &result->arena;
        reader->error = error;
        reader->kept.arena = reader->keep;
        reader->scratched.arena = &reader->scratch;
        reader->module_list.item_bytes = sizeof(ls__template *);
        status = read_all(reader);
    }
    ls__digest digest = ls__source_close(&source);
    if (result)
        memcpy(result->digest, digest.bytes, sizeof result->digest);
    if (reader) {
        ls__json_finish(&reader->json);
        ls__mem_free(reader->raw.nets.items);
        ls__arena_finish(&reader->scratch);
    }
    ls__mem_free(reader);
    if (status == LS_OK) {
        result->arena.oom = NULL;
        *netlist = result;
    } else {
        ls__netlist_destroy(&result);
    }
    return status;
}

void ls__netlist_destroy(ls__netlist **netlist)
{
    if (*netlist)
        ls__arena_finish(&(*netlist)->arena);
    ls__mem_free(*netlist);
    *netlist = NULL;
}
