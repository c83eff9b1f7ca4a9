/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code that the driver has made of PTX, kept in the folder that the caller names. A file's
 * name covers the PTX, the device's architecture and the driver's version; the file carries this
 * key and a digest of its contents. One that is damaged, or of another key, counts as missing.
 * Failures never reach the caller: without it the driver compiles again.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/cuda/device.h"

#define SUFFIX ".lscubin"
static const uint64_t largest = 256 << 20, kept_bytes = 256 << 20;
enum { NAME_BYTES = 64 + sizeof SUFFIX };

typedef struct header {
    char magic[8];
    uint64_t size;
    ls__digest digest; /* of the image */
    ls__digest key;
} header;
_Static_assert(sizeof(header) == 80, "this is a file format");
static const char magic[8] = {'L', 'S', 'C', 'U', 'B', 'I', 'N', '1'};

static ls__digest key_of(const ls__cuda_device *device, const char *ptx, size_t size)
{
    struct {
        ls__digest ptx;
        char description[128];
        uint32_t capability, driver;
    } parts;
    memset(&parts, 0, sizeof parts);
    parts.ptx = ls__digest_of(ptx, size);
    memcpy(parts.description, device->physical->description, sizeof parts.description);
    parts.capability = device->physical->capability;
    parts.driver = (uint32_t)device->driver->version;
    return ls__digest_of(&parts, sizeof parts);
}

static void name_of(const ls__digest *key, char name[NAME_BYTES])
{
    char hex[65];
    ls__digest_hex(*key, hex);
    memcpy(name, hex, 64);
    memcpy(name + 64, SUFFIX, sizeof SUFFIX);
}

void ls__cuda_cache_open(ls__cuda_device *device, const ls_device_params *params)
{
    device->cache.limit_bytes = params->cache_bytes ? params->cache_bytes : kept_bytes;
    if (params->cache_path)
        ls__dir_open(params->cache_path, &device->cache.dir, NULL);
}

static bool is_good(const uint8_t *file, size_t size, const ls__digest *key)
{
    header h;
    if (size < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    ls__digest digest = ls__digest_of(file + sizeof h, size - sizeof h);
    return memcmp(h.magic, magic, sizeof magic) == 0 && h.size == size - sizeof h &&
           memcmp(&h.key, key, sizeof *key) == 0 && memcmp(&h.digest, &digest, sizeof digest) == 0;
}

void *ls__cuda_cache_get(ls__cuda_device *device, const char *ptx, size_t size, size_t *image_size)
{
    char name[NAME_BYTES];
    void *file = NULL;
    size_t file_size = 0;
    if (!device->cache.dir)
        return NULL;
    ls__digest key = key_of(device, ptx, size);
    name_of(&key, name);
    bool read = ls__dir_read(device->cache.dir, name, largest, &file, &file_size, NULL) == LS_OK;
    if (read && is_good(file, file_size, &key)) {
        *image_size = file_size - sizeof(header);
        memmove(file, (uint8_t *)file + sizeof(header), *image_size);
        ls__dir_touch(device->cache.dir, name);
        return file;
    }
    if (read)
        ls__dir_remove(device->cache.dir, name);
    ls__mem_free(file);
    return NULL;
}

void ls__cuda_cache_put(ls__cuda_device *device, const char *ptx, size_t size, const void *image,
                        size_t image_size)
{
    char name[NAME_BYTES];
    if (!device->cache.dir || image_size > largest - sizeof(header))
        return;
    uint8_t *file = ls__mem_alloc(sizeof(header) + image_size, 1);
    if (!file)
        return;
    header h = {.size = image_size,
                .digest = ls__digest_of(image, image_size),
                .key = key_of(device, ptx, size)};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(file, &h, sizeof h);
    memcpy(file + sizeof h, image, image_size);
    name_of(&h.key, name);
    if (ls__dir_write(device->cache.dir, name, file, sizeof h + image_size, NULL) == LS_OK)
        ls__dir_trim(device->cache.dir, SUFFIX, device->cache.limit_bytes);
    ls__mem_free(file);
}
