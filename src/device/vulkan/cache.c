/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver makes of modules (VkPipelineCache), kept in the folder that the caller names. The
 * file carries a digest and what it was made for; one that is damaged, or of another device or
 * driver, counts as missing. Failures never reach the caller: without it a driver compiles again.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/vulkan/device.h"

#define SUFFIX ".lsvulkan"
static const uint64_t largest = 64 << 20;

typedef struct header {
    char magic[8];
    uint64_t size;
    ls__digest digest; /* of the driver's bytes */
    uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE], cache_uuid[VK_UUID_SIZE];
} header;
_Static_assert(sizeof(header) == 96 && VK_UUID_SIZE == 16, "this is a file format");

static header header_of(const ls__vulkan_physical *physical, const void *bytes, size_t size)
{
    header h = {.magic = "LSVKPC1", .size = size, .digest = ls__digest_of(bytes, size)};
    memcpy(h.device_uuid, physical->device_uuid, VK_UUID_SIZE);
    memcpy(h.driver_uuid, physical->driver_uuid, VK_UUID_SIZE);
    memcpy(h.cache_uuid, physical->properties.pipelineCacheUUID, VK_UUID_SIZE);
    return h;
}

/* One file for each device and driver. */
static void name_file(const ls__vulkan_physical *physical, char *name, size_t room)
{
    header h = header_of(physical, "", 0);
    char hex[65];
    ls__digest_hex(ls__digest_of(&h, sizeof h), hex);
    snprintf(name, room, "%.32s%s", hex, SUFFIX);
}

static void *read_file(const ls__vulkan_device *device, size_t *size)
{
    void *file;
    size_t file_size;
    if (!device->cache.dir || ls__dir_read(device->cache.dir, device->cache.name, largest, &file,
                                           &file_size, NULL) != LS_OK)
        return NULL;
    if (file_size >= sizeof(header)) {
        uint8_t *bytes = (uint8_t *)file + sizeof(header);
        header expected = header_of(device->physical, bytes, file_size - sizeof(header));
        if (memcmp(file, &expected, sizeof expected) == 0) {
            *size = file_size - sizeof(header);
            memmove(file, bytes, *size);
            return file;
        }
    }
    ls__dir_remove(device->cache.dir, device->cache.name);
    ls__mem_free(file);
    return NULL;
}

ls_status ls__vulkan_cache_open(ls__vulkan_device *device, const char *path, ls_error *error)
{
    ls__vulkan_cache *cache = &device->cache;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    if (path && ls__dir_open(path, &cache->dir, NULL) == LS_OK)
        name_file(device->physical, cache->name, sizeof cache->name);
    void *bytes = read_file(device, &cache->size);
    info.pInitialData = bytes;
    info.initialDataSize = cache->size;
    VkResult result = device->vk.CreatePipelineCache(device->handle, &info, NULL, &cache->handle);
    ls__mem_free(bytes);
    return result == VK_SUCCESS ? LS_OK : ls__vulkan_fail(error, result, "make a pipeline cache");
}

static void write_file(ls__vulkan_device *device)
{
    ls__vulkan_cache *cache = &device->cache;
    size_t size = 0;
    if (device->vk.GetPipelineCacheData(device->handle, cache->handle, &size, NULL) != VK_SUCCESS ||
        size == 0 || size == cache->size || size > largest - sizeof(header))
        return;
    uint8_t *file = ls__mem_alloc(sizeof(header) + size, 1);
    if (!file)
        return;
    uint8_t *bytes = file + sizeof(header);
    if (device->vk.GetPipelineCacheData(device->handle, cache->handle, &size, bytes) ==
        VK_SUCCESS) {
        header h = header_of(device->physical, bytes, size);
        memcpy(file, &h, sizeof h);
        ls__dir_write(cache->dir, cache->name, file, sizeof h + size, NULL);
    }
    ls__mem_free(file);
}

void ls__vulkan_cache_close(ls__vulkan_device *device)
{
    ls__vulkan_cache *cache = &device->cache;
    if (cache->handle && cache->dir)
        write_file(device);
    if (cache->handle)
        device->vk.DestroyPipelineCache(device->handle, cache->handle, NULL);
    ls__dir_close(&cache->dir);
}
