/* SPDX-License-Identifier: Apache-2.0 */
/* A file is a header and the bytes. Its name is the key in hexadecimal. */
#include "base/kept.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_FILE_BYTES = 1 << 28, NAME_BYTES = 96 };

typedef struct header {
    char magic[8];
    uint64_t size;
    ls__digest digest; /* of the bytes */
    ls__digest key;
} header;
_Static_assert(sizeof(header) == 80, "this is a file format");

static header header_of(const ls__kept *kept, const ls__digest *key, const void *bytes, size_t size)
{
    header h = {.size = size, .digest = ls__digest_of(bytes, size), .key = *key};
    memcpy(h.magic, kept->magic, sizeof h.magic);
    return h;
}

static void name_of(const ls__kept *kept, const ls__digest *key, char name[NAME_BYTES])
{
    char hex[65];
    ls__digest_hex(*key, hex);
    snprintf(name, NAME_BYTES, "%s%s", hex, kept->suffix);
}

bool ls__kept_get(const ls__kept *kept, const ls__digest *key, void **bytes, size_t *size)
{
    char name[NAME_BYTES];
    void *file;
    size_t file_size;
    name_of(kept, key, name);
    if (ls__dir_read(kept->dir, name, MAX_FILE_BYTES, &file, &file_size, NULL) != LS_OK)
        return false;
    if (file_size >= sizeof(header)) {
        uint8_t *content = (uint8_t *)file + sizeof(header);
        header expected = header_of(kept, key, content, file_size - sizeof(header));
        if (memcmp(file, &expected, sizeof expected) == 0) {
            *size = file_size - sizeof(header);
            memmove(file, content, *size);
            *bytes = file;
            ls__dir_touch(kept->dir, name);
            return true;
        }
    }
    ls__dir_remove(kept->dir, name);
    ls__mem_free(file);
    return false;
}

void ls__kept_put(const ls__kept *kept, const ls__digest *key, const void *bytes, size_t size)
{
    char name[NAME_BYTES];
    uint8_t *file =
        size <= MAX_FILE_BYTES - sizeof(header) ? ls__mem_alloc(sizeof(header) + size, 1) : NULL;
    if (!file)
        return;
    header h = header_of(kept, key, bytes, size);
    memcpy(file, &h, sizeof h);
    memcpy(file + sizeof h, bytes, size);
    name_of(kept, key, name);
    if (ls__dir_write(kept->dir, name, file, sizeof h + size, NULL) == LS_OK)
        ls__dir_trim(kept->dir, kept->suffix, kept->limit_bytes);
    ls__mem_free(file);
}
