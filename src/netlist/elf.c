/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loadable segments of an ELF file (System V ABI, "Program Loading"), 32 or 64 bits, little
 * endian. Only what the file holds of a segment is there: the rest, .bss, is for start-up code.
 */
#include "netlist/image_file.h"

#include <string.h>

#include "base/cursor.h"
#include "base/status.h"

typedef struct header {
    bool wide; /* 64 bits */
    uint64_t table_offset;
    uint16_t entry_bytes, count;
} header;

typedef struct segment {
    uint32_t type;
    uint64_t offset, address, file_bytes, memory_bytes;
} segment;

enum { PT_LOAD = 1, PN_XNUM = 0xffff };

static ls_status fail(ls_error *error, const char *path, uint64_t offset, const char *what)
{
    ls_status status = ls__fail(error, LS_E_FORMAT, "%s", what);
    return ls__fail_where(error, status, "%s: byte %llu", path, (unsigned long long)offset);
}

static uint64_t address_field(ls__cursor *cursor, bool wide)
{
    return wide ? ls__cursor_u64(cursor) : ls__cursor_u32(cursor);
}

static ls_status read_header(const void *file, size_t size, const char *path, header *header,
                             ls_error *error)
{
    ls__cursor cursor;
    ls__cursor_init(&cursor, file, size);
    const uint8_t *ident = ls__cursor_bytes(&cursor, 16);
    if (!ident || memcmp(ident, "\177ELF", 4) != 0)
        return fail(error, path, 0, "this is no ELF file");
    if (ident[4] != 1 && ident[4] != 2)
        return fail(error, path, 4, "an ELF file of an unknown class");
    if (ident[5] != 1)
        return fail(error, path, 5, "only little-endian ELF files are read");
    header->wide = ident[4] == 2;
    ls__cursor_u16(&cursor); /* type */
    ls__cursor_u16(&cursor); /* machine */
    ls__cursor_u32(&cursor); /* version */
    address_field(&cursor, header->wide);
    header->table_offset = address_field(&cursor, header->wide);
    address_field(&cursor, header->wide); /* section headers */
    ls__cursor_u32(&cursor);              /* flags */
    ls__cursor_u16(&cursor);              /* bytes of this header */
    header->entry_bytes = ls__cursor_u16(&cursor);
    header->count = ls__cursor_u16(&cursor);
    if (cursor.fault)
        return fail(error, path, cursor.fault_offset, "the ELF header is cut short");
    if (header->count == 0)
        return fail(error, path, 0, "the ELF file has no segments: link it first");
    if (header->count == PN_XNUM)
        return fail(error, path, 0, "the ELF file has too many segments");
    if (header->entry_bytes < (header->wide ? 56 : 32))
        return fail(error, path, 0, "the ELF file has too short program headers");
    return LS_OK;
}

static segment read_segment(ls__cursor *cursor, bool wide)
{
    segment segment = {.type = ls__cursor_u32(cursor)};
    if (wide)
        ls__cursor_u32(cursor); /* flags */
    segment.offset = address_field(cursor, wide);
    address_field(cursor, wide); /* virtual address */
    segment.address = address_field(cursor, wide);
    segment.file_bytes = address_field(cursor, wide);
    segment.memory_bytes = address_field(cursor, wide);
    return segment;
}

ls_status ls__elf_visit(const void *file, size_t size, const char *path, ls__segment_visitor visit,
                        void *context, ls_error *error)
{
    header header = {0};
    ls_status status = read_header(file, size, path, &header, error);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; i < header.count; i++) {
        ls__cursor cursor;
        uint64_t at = (uint64_t)i * header.entry_bytes;
        if (header.table_offset > size || at > size - header.table_offset)
            return fail(error, path, header.table_offset, "a program header is beyond the end");
        at += header.table_offset;
        ls__cursor_init(&cursor, (const uint8_t *)file + at, size - (size_t)at);
        segment segment = read_segment(&cursor, header.wide);
        if (cursor.fault)
            return fail(error, path, at, "a program header is beyond the end");
        if (segment.type != PT_LOAD || segment.file_bytes == 0)
            continue;
        if (segment.offset > size || segment.file_bytes > size - segment.offset)
            return fail(error, path, at, "a segment is beyond the end");
        if (segment.memory_bytes < segment.file_bytes ||
            segment.address > UINT64_MAX - segment.file_bytes)
            return fail(error, path, at, "a segment has impossible sizes");
        status = visit(context, segment.address, (const uint8_t *)file + segment.offset,
                       segment.file_bytes, error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}
