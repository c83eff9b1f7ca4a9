/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What emitters have made, kept on disk: one file a program in a private folder. A file is checked
 * on reading; one that is damaged is dropped, as if it had not been there. Failures never reach the
 * caller: without a cache a program is compiled again.
 */
#ifndef LS_CORE_CODE_CACHE_H
#define LS_CORE_CODE_CACHE_H

#include "base/dir.h"
#include "base/hash.h"
#include "ir/ir.h"

typedef struct ls__code_cache {
    ls__dir *dir;
    uint64_t limit_bytes;
} ls__code_cache;

/* The key of what an emitter makes of a module, whose digest is `ir`. `compiler` and
 * `code_version`: the emitter's. */
ls__digest ls__code_key(const ls__digest *ir, const char *target, bool unchecked,
                        const char *compiler, uint32_t code_version);

/* True and *bytes (ls__mem_free) when it is there. */
bool ls__code_cache_get(const ls__code_cache *cache, const ls__digest *key, void **bytes,
                        size_t *size);
void ls__code_cache_put(const ls__code_cache *cache, const ls__digest *key, const void *bytes,
                        size_t size);

#endif
