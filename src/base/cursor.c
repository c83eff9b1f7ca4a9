/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of the cursor. Everything goes through `take`, the only place that tests and moves the
 * position. */
#include "base/cursor.h"

void ls__cursor_init(ls__cursor *cursor, const void *bytes, size_t size)
{
    *cursor = (ls__cursor){.bytes = bytes, .size = size};
}

static void fail_at(ls__cursor *cursor, const char *fault, size_t offset)
{
    if (cursor->fault)
        return;
    cursor->fault = fault;
    cursor->fault_offset = offset;
}

void ls__cursor_fail(ls__cursor *cursor, const char *fault)
{
    fail_at(cursor, fault, cursor->position);
}

size_t ls__cursor_left(const ls__cursor *cursor)
{
    return cursor->fault ? 0 : cursor->size - cursor->position;
}

static const uint8_t *take(ls__cursor *cursor, size_t count)
{
    if (cursor->fault)
        return NULL;
    if (count > cursor->size - cursor->position) {
        ls__cursor_fail(cursor, "unexpected end of data");
        return NULL;
    }
    /* Zero bytes of an empty input, which may be NULL, still answer a pointer. */
    const uint8_t *bytes = cursor->bytes ? cursor->bytes + cursor->position : (const uint8_t *)"";
    cursor->position += count;
    return bytes;
}

static uint64_t little_endian(ls__cursor *cursor, size_t count)
{
    const uint8_t *bytes = take(cursor, count);
    uint64_t value = 0;
    if (bytes) {
        for (size_t i = 0; i < count; i++)
            value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

uint8_t ls__cursor_u8(ls__cursor *cursor)
{
    return (uint8_t)little_endian(cursor, 1);
}

uint16_t ls__cursor_u16(ls__cursor *cursor)
{
    return (uint16_t)little_endian(cursor, 2);
}

uint32_t ls__cursor_u32(ls__cursor *cursor)
{
    return (uint32_t)little_endian(cursor, 4);
}

uint64_t ls__cursor_u64(ls__cursor *cursor)
{
    return little_endian(cursor, 8);
}

uint64_t ls__cursor_varint(ls__cursor *cursor)
{
    size_t start = cursor->position;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = ls__cursor_u8(cursor);
        if (cursor->fault)
            return 0;
        if (shift == 63 && byte > 1) {
            fail_at(cursor, "integer needs more than 64 bits", start);
            return 0;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (byte != 0 || shift == 0)
                return value;
            fail_at(cursor, "integer is not in its shortest form", start);
            return 0;
        }
    }
    return 0; /* not reached: the tenth byte either ends the integer or fails above */
}

const uint8_t *ls__cursor_bytes(ls__cursor *cursor, size_t count)
{
    return take(cursor, count);
}

uint32_t ls__cursor_count(ls__cursor *cursor, uint64_t limit, size_t item_bytes)
{
    size_t start = cursor->position;
    uint64_t count = ls__cursor_varint(cursor);
    if (cursor->fault)
        return 0;
    if (count > limit || count > UINT32_MAX) {
        fail_at(cursor, "count is above its limit", start);
        return 0;
    }
    if (item_bytes && count > ls__cursor_left(cursor) / item_bytes) {
        fail_at(cursor, "count is larger than the data that is left", start);
        return 0;
    }
    return (uint32_t)count;
}
