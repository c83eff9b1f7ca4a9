/* SPDX-License-Identifier: Apache-2.0 */
/* A source file that is built into the library: tools/embed.py writes tables of them. */
#ifndef LS_BASE_SOURCE_TEXT_H
#define LS_BASE_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct ls__source_text {
    const char *name; /* of the file, without its folder */
    const char *text;
    size_t length;
} ls__source_text;

#endif
