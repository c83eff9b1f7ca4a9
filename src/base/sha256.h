/* SPDX-License-Identifier: Apache-2.0 */
/* The compression function of SHA-256 (FIPS 180-4, 6.2.2) by the instructions that many x86
 * processors have for it: five times libmd's speed, for files of a hundred megabytes. */
#ifndef LS_BASE_SHA256_H
#define LS_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ls__sha256_is_fast(void); /* this processor has the instructions */
/* `count` blocks of 64 bytes; only where is_fast. */
void ls__sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count);

#endif
