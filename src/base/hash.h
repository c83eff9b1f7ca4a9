/* SPDX-License-Identifier: Apache-2.0 */
/* A fast 64-bit hash for tables, and the 256-bit digest (SHA-256, by libmd) that names programs and
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
void ls__digest_hex(ls__digest digest, char out[65]);

#endif
