/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a netlist, a file or a text in memory, in pieces, and their digest. */
#ifndef LS_NETLIST_SOURCE_H
#define LS_NETLIST_SOURCE_H

#include "base/hash.h"
#include "base/os.h"
#include "netlist/netlist.h"

typedef struct ls__source {
    ls__os_reader *file;
    const char *text; /* what is left of it */
    size_t length;
    ls__digester digester;
} ls__source;

ls_status ls__source_open(ls__source *source, const ls__netlist_params *params, ls_error *error);
/* An ls__json_source. */
ls_status ls__source_read(void *source, void *bytes, size_t capacity, size_t *size,
                          ls_error *error);
/* Answers the digest of what has been read. */
ls__digest ls__source_close(ls__source *source);

#endif
