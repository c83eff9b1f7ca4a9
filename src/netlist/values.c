/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a raw cell: parameters as numbers, bits and texts, and the nets at its ports. A
 * parameter comes as a text of 0, 1, x, z (bits), as another text, or as a number (write_json
 * -compat-int), whose width is lost.
 */
#include "netlist/reader.h"

#include <string.h>

static const uint8_t *data_of(const ls__raw_cell *raw, const ls__raw_value *value)
{
    return value->kept ? value->kept : raw->bytes.items + value->offset;
}

const ls__raw_value *ls__raw_find(const ls__raw_cell *raw, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < raw->parameters.count; i++) {
        const ls__raw_parameter *parameter = &raw->parameters.items[i];
        if (parameter->name_length == length &&
            memcmp(raw->bytes.items + parameter->name_offset, name, length) == 0)
            return &parameter->value;
    }
    return NULL;
}

static ls__bit bit_of(const ls__raw_cell *raw, const ls__raw_value *value, uint32_t index)
{
    if (value->kind == LS__RAW_NUMBER)
        return (ls__bit)(value->number >> (index < 64 ? index : 63) & 1);
    return (ls__bit)data_of(raw, value)[index];
}

static const ls__raw_value *find_bits(ls__reader *reader, const char *name)
{
    const ls__raw_value *value = ls__raw_find(&reader->raw, name);
    if (value && value->kind == LS__RAW_TEXT)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is a text where bits are expected",
                        name);
    return value;
}

int64_t ls__raw_integer(ls__reader *reader, const char *name, int64_t otherwise)
{
    const ls__raw_value *value = find_bits(reader, name);
    if (!value)
        return otherwise;
    if (value->kind == LS__RAW_NUMBER)
        return value->number;
    uint64_t result = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        ls__bit bit = bit_of(&reader->raw, value, i);
        if (bit > LS__BIT_1)
            ls__reader_fail(reader, LS_E_FORMAT, "parameter %s has undefined bits", name);
        if (bit == LS__BIT_1 && i >= 63)
            ls__reader_fail(reader, LS_E_LIMIT, "parameter %s is too large", name);
        if (bit == LS__BIT_1)
            result |= (uint64_t)1 << i;
    }
    /* Yosys writes integers with 32 bits and a sign. */
    return value->count == 32 ? (int32_t)(uint32_t)result : (int64_t)result;
}

bool ls__raw_flag(ls__reader *reader, const char *name, bool otherwise)
{
    return ls__raw_integer(reader, name, otherwise) != 0;
}

ls__bits ls__raw_bits_given(ls__reader *reader, const char *name)
{
    const ls__raw_value *value = find_bits(reader, name);
    if (!value)
        return (ls__bits){0};
    return ls__raw_bits(reader, name, value->kind == LS__RAW_NUMBER ? 32 : value->count, LS__BIT_0);
}

ls__bits ls__raw_bits(ls__reader *reader, const char *name, uint32_t width, ls__bit fill)
{
    const ls__raw_value *value = find_bits(reader, name);
    if (value && value->kind == LS__RAW_BITS && value->kept && value->count == width)
        return (ls__bits){value->kept, width};
    uint8_t *bits = ls__pack_take(&reader->kept, width, 1);
    uint32_t given = !value ? 0 : value->kind == LS__RAW_NUMBER ? width : value->count;
    for (uint32_t i = 0; i < width; i++)
        bits[i] = (uint8_t)(i < given ? bit_of(&reader->raw, value, i) : fill);
    for (uint32_t i = width; i < given; i++) {
        if (bit_of(&reader->raw, value, i) == LS__BIT_1)
            ls__reader_fail(reader, LS_E_FORMAT,
                            "parameter %s has %u bits and a 1 beyond the %u that it may have", name,
                            given, width);
    }
    return (ls__bits){bits, width};
}

const char *ls__raw_text(ls__reader *reader, const char *name)
{
    const ls__raw_value *value = ls__raw_find(&reader->raw, name);
    if (!value || (value->kind == LS__RAW_BITS && value->count == 0))
        return "";
    if (value->kind == LS__RAW_NUMBER)
        ls__reader_fail(reader, LS_E_FORMAT, "parameter %s is a number where a text is expected",
                        name);
    const uint8_t *data = data_of(&reader->raw, value);
    char *text = ls__pack_take(&reader->kept, (size_t)value->count + 1, 1);
    if (value->kind == LS__RAW_TEXT) {
        memcpy(text, data, value->count);
    } else { /* it looks like bits, but is meant as a text: a memory may be called "01" */
        for (uint32_t i = 0; i < value->count; i++)
            text[value->count - 1 - i] = "01xz"[data[i]];
    }
    text[value->count] = 0;
    return text;
}

/* --- ports ------------------------------------------------------------------------------------ */

ls__net ls__new_net(ls__reader *reader)
{
    if (reader->module->net_count == INT32_MAX)
        ls__reader_fail(reader, LS_E_LIMIT, "there are too many nets");
    return (ls__net){reader->module->net_count++};
}

ls__raw_connection *ls__raw_connected(ls__raw_cell *raw, ls__str name)
{
    for (uint32_t i = 0; i < raw->connections.count; i++) {
        ls__raw_connection *connection = &raw->connections.items[i];
        if (connection->name_length == name.length &&
            memcmp(raw->bytes.items + connection->name_offset, name.text, name.length) == 0)
            return connection;
    }
    return NULL;
}

static ls__net output_net(ls__reader *reader, ls__str name, ls__net net)
{
    if (net.index >= LS__NET_FIRST)
        return net;
    if (net.index <= LS__NET_1)
        ls__reader_fail(reader, LS_E_FORMAT, "output %.*s is connected to the constant %u",
                        LS__STR_ARG(name), net.index);
    return ls__new_net(reader);
}

ls__nets ls__raw_port(ls__reader *reader, ls__str name, uint32_t width, bool output)
{
    ls__raw_connection *connection = ls__raw_connected(&reader->raw, name);
    uint32_t count = connection ? connection->count : 0;
    if (connection)
        connection->used = true;
    if (count && count != width)
        ls__reader_fail(reader, LS_E_FORMAT, "port %.*s has %u bits where %u are expected",
                        LS__STR_ARG(name), count, width);
    /* So wide a port that nobody connects is nothing that Yosys would write. */
    if (!count && width > 1u << 20)
        ls__reader_fail(reader, LS_E_LIMIT, "port %.*s of %u bits is not connected",
                        LS__STR_ARG(name), width);
    ls__net *nets = ls__pack_take(&reader->scratched, width, sizeof *nets);
    for (uint32_t i = 0; i < width; i++) {
        ls__net net = count ? reader->raw.nets.items[connection->first + i] : (ls__net){LS__NET_X};
        nets[i] = output ? output_net(reader, name, net) : net;
    }
    return (ls__nets){nets, width};
}

void ls__raw_done(ls__reader *reader)
{
    const ls__raw_cell *raw = &reader->raw;
    for (uint32_t i = 0; i < raw->connections.count; i++) {
        const ls__raw_connection *connection = &raw->connections.items[i];
        if (!connection->used && connection->count)
            ls__reader_fail(reader, LS_E_FORMAT, "cells of this type have no port %.*s",
                            (int)connection->name_length,
                            (const char *)raw->bytes.items + connection->name_offset);
    }
}

const char *ls__keep_text(ls__reader *reader, ls__str text)
{
    char *copy = ls__pack_take(&reader->kept, text.length + 1, 1);
    memcpy(copy, text.text, text.length);
    copy[text.length] = 0;
    return copy;
}

ls__bits ls__value_bits(ls__reader *reader, const ls__raw_value *value, uint32_t width)
{
    uint8_t *bits = ls__pack_take(&reader->kept, width, 1);
    if (value->kind == LS__RAW_TEXT)
        ls__reader_fail(reader, LS_E_FORMAT, "the attribute init must be bits");
    uint32_t given = value->kind == LS__RAW_NUMBER ? width : value->count;
    for (uint32_t i = 0; i < width; i++)
        bits[i] = (uint8_t)(i < given ? bit_of(&reader->raw, value, i) : LS__BIT_X);
    return (ls__bits){bits, width};
}
