/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key covers the lowered IR (and with it constants), the target, the versions of the bit
 * contract, of the IR, of the library, of the compiler and of the emitter, so whatever could change
 * the code changes the name of its file.
 */
#include "core/code_cache.h"

#include <string.h>

ls__digest ls__code_key(const ls__digest *ir, const char *target, bool unchecked,
                        const char *compiler, uint32_t code_version)
{
    struct {
        ls__digest ir, target;
        char library[32], compiler[32];
        uint32_t contract, ir_version, code_version, unchecked;
    } parts;
    memset(&parts, 0, sizeof parts);
    parts.ir = *ir;
    strncpy(parts.library, LS_VERSION_STRING, sizeof parts.library - 1);
    strncpy(parts.compiler, compiler, sizeof parts.compiler - 1);
    parts.target = ls__digest_of(target, strlen(target));
    parts.contract = LS_CONTRACT_VERSION;
    parts.ir_version = LS_IR_VERSION;
    parts.code_version = code_version;
    parts.unchecked = unchecked;
    return ls__digest_of(&parts, sizeof parts);
}

ls__kept ls__code_cache_of(ls__dir *dir, uint64_t limit_bytes)
{
    return (ls__kept){dir, "LSCODE01", ".lscode", limit_bytes};
}
