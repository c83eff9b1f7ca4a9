/* SPDX-License-Identifier: Apache-2.0 */
/* A fast 64-bit hash for tables, and the 256-bit digest (SHA-256, by nettle) that names programs and
 * outputs. */
#ifndef LS_BASE_HASH_H
#define LS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t ls__hash64(const void *bytes, size_t length, uint64_t seed);

typedef struct ls__digest {
    uint8_t bytes[32];
} ls__digest;

ls__digest ls__digest_of(const void *bytes, size_t length);

/* The same of bytes that come in pieces. */
typedef struct ls__digester {
    uint64_t opaque[32];
} ls__digester;
void ls__digester_init(ls__digester *digester);
void ls__digester_add(ls__digester *digester, const void *bytes, size_t length);
ls__digest ls__digester_finish(ls__digester *digester);

void ls__digest_hex(ls__digest digest, char out[65]);

#endif
