/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursor over untrusted bytes. Every read tests `n > size - position`; the first failure is kept
 * with its offset and every later read yields zero, so a reader checks once at the end of each
 * step.
 */
#ifndef LS_BASE_CURSOR_H
#define LS_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ls__cursor {
    const uint8_t *bytes;
    size_t size, position;
    const char *fault; /* NULL = none; static text of the first failure */
    size_t fault_offset;
} ls__cursor;

void ls__cursor_init(ls__cursor *cursor, const void *bytes, size_t size);
void ls__cursor_fail(ls__cursor *cursor, const char *fault); /* keeps the first */
size_t ls__cursor_left(const ls__cursor *cursor);
uint8_t ls__cursor_u8(ls__cursor *cursor);
uint16_t ls__cursor_u16(ls__cursor *cursor); /* little-endian, as are all below */
uint32_t ls__cursor_u32(ls__cursor *cursor);
uint64_t ls__cursor_u64(ls__cursor *cursor);
uint64_t ls__cursor_varint(ls__cursor *cursor); /* LEB128, at most 10 bytes, shortest form only */
const uint8_t *ls__cursor_bytes(ls__cursor *cursor, size_t count); /* NULL on failure */
/* A varint that counts items: at most `limit`, and so many items of at least `item_bytes` each must
 * fit in what is left. 0 on failure. */
uint32_t ls__cursor_count(ls__cursor *cursor, uint64_t limit, size_t item_bytes);

#endif
