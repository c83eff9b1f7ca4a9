/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes kept on disk for the next time, in a private folder (dir.h): a file for each key, which
 * covers all that the bytes depend on. A file is checked on reading; one that is damaged, or of
 * another key, is removed, as if it had not been there. Failures never reach the caller, who makes
 * the bytes again.
 */
#ifndef LS_BASE_KEPT_H
#define LS_BASE_KEPT_H

#include "base/dir.h"
#include "base/hash.h"

/* Files of one kind: what they begin with, what their names end in, and what they may have
 * together, of which those that were used longest ago go first. */
typedef struct ls__kept {
    ls__dir *dir;
    const char *magic; /* 8 characters */
    const char *suffix;
    uint64_t limit_bytes;
} ls__kept;

/* True and *bytes (ls__mem_free) when it is there. */
bool ls__kept_get(const ls__kept *kept, const ls__digest *key, void **bytes, size_t *size);
void ls__kept_put(const ls__kept *kept, const ls__digest *key, const void *bytes, size_t size);

#endif
