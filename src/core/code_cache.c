/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is a header and the code. Its name is the key in hexadecimal. The key covers the lowered
 * IR (and with it constants), the target, the versions of the bit contract, of the IR, of the
 * library, of the compiler and of the emitter, so whatever could change the code changes the name.
 */
#include <string.h>

#include "base/mem.h"
#include "core/code_cache.h"

#define SUFFIX ".lscode"
enum { MAX_CODE_BYTES = 1 << 28, NAME_BYTES = 64 + sizeof SUFFIX };

typedef struct header {
    char magic[8];
    uint64_t size;
    ls__digest digest; /* of the code */
    ls__digest key;
} header;

_Static_assert(sizeof(header) == 80, "this is a file format");
static const char magic[8] = {'L', 'S', 'C', 'O', 'D', 'E', '0', '1'};

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

static void name_of(const ls__digest *key, char name[NAME_BYTES])
{
    char hex[65];
    ls__digest_hex(*key, hex);
    memcpy(name, hex, 64);
    memcpy(name + 64, SUFFIX, sizeof SUFFIX);
}

static bool is_good(const uint8_t *file, size_t size, const ls__digest *key)
{
    header h;
    if (size < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.size != size - sizeof h ||
        memcmp(&h.key, key, sizeof *key) != 0)
        return false;
    ls__digest digest = ls__digest_of(file + sizeof h, size - sizeof h);
    return memcmp(&h.digest, &digest, sizeof digest) == 0;
}

bool ls__code_cache_get(const ls__code_cache *cache, const ls__digest *key, void **bytes,
                        size_t *size)
{
    char name[NAME_BYTES];
    void *file;
    size_t file_size;
    name_of(key, name);
    if (ls__dir_read(cache->dir, name, MAX_CODE_BYTES, &file, &file_size, NULL) != LS_OK)
        return false;
    if (!is_good(file, file_size, key)) {
        ls__dir_remove(cache->dir, name);
        ls__mem_free(file);
        return false;
    }
    *size = file_size - sizeof(header);
    memmove(file, (uint8_t *)file + sizeof(header), *size);
    *bytes = file;
    ls__dir_touch(cache->dir, name);
    return true;
}

void ls__code_cache_put(const ls__code_cache *cache, const ls__digest *key, const void *bytes,
                        size_t size)
{
    char name[NAME_BYTES];
    header h = {.size = size, .digest = ls__digest_of(bytes, size), .key = *key};
    uint8_t *file = size < MAX_CODE_BYTES / 2 ? ls__mem_alloc(sizeof h + size, 1) : NULL;
    if (!file)
        return;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(file, &h, sizeof h);
    memcpy(file + sizeof h, bytes, size);
    name_of(key, name);
    if (ls__dir_write(cache->dir, name, file, sizeof h + size, NULL) == LS_OK)
        ls__dir_trim(cache->dir, SUFFIX, cache->limit_bytes);
    ls__mem_free(file);
}
