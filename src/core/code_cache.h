/* SPDX-License-Identifier: Apache-2.0 */
/* What emitters have made, and what is known of sources and programs, kept on disk (base/kept.h).
 */
#ifndef LS_CORE_CODE_CACHE_H
#define LS_CORE_CODE_CACHE_H

#include "base/kept.h"
#include "ir/ir.h"

/* The files of a folder, which stays the caller's; NULL: nothing may be asked for or put. */
ls__kept ls__code_cache_of(ls__dir *dir, uint64_t limit_bytes);

/* The key of what an emitter makes of a module, whose digest is `ir`. `compiler` and
 * `code_version`: the emitter's. */
ls__digest ls__code_key(const ls__digest *ir, const char *target, bool unchecked,
                        const char *compiler, uint32_t code_version);

#endif
