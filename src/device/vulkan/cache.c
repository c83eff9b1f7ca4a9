/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver makes of modules (VkPipelineCache), kept in the folder that the caller names: a
 * file for each device and driver.
 */
#include <string.h>

#include "base/mem.h"
#include "device/vulkan/device.h"

static const uint64_t kept_bytes = 256 << 20;

static ls__digest key_of(const ls__vulkan_physical *physical)
{
    uint8_t uuids[3][VK_UUID_SIZE];
    memcpy(uuids[0], physical->device_uuid, VK_UUID_SIZE);
    memcpy(uuids[1], physical->driver_uuid, VK_UUID_SIZE);
    memcpy(uuids[2], physical->properties.pipelineCacheUUID, VK_UUID_SIZE);
    return ls__digest_of(uuids, sizeof uuids);
}

ls_status ls__vulkan_cache_open(ls__vulkan_device *device, const char *path, ls_error *error)
{
    ls__vulkan_cache *cache = &device->cache;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    ls__digest key = key_of(device->physical);
    void *bytes = NULL;
    cache->kept = (ls__kept){.magic = "LSVKPC02", .suffix = ".lsvulkan", .limit_bytes = kept_bytes};
    if (path && ls__dir_open(path, &cache->kept.dir, NULL) == LS_OK)
        ls__kept_get(&cache->kept, &key, &bytes, &cache->size);
    info.pInitialData = bytes;
    info.initialDataSize = cache->size;
    VkResult result = device->vk.CreatePipelineCache(device->handle, &info, NULL, &cache->handle);
    ls__mem_free(bytes);
    return result == VK_SUCCESS ? LS_OK : ls__vulkan_fail(error, result, "make a pipeline cache");
}

static void write_file(ls__vulkan_device *device)
{
    const ls__vulkan_cache *cache = &device->cache;
    size_t size = 0;
    if (device->vk.GetPipelineCacheData(device->handle, cache->handle, &size, NULL) != VK_SUCCESS ||
        size == 0 || size == cache->size)
        return;
    ls__digest key = key_of(device->physical);
    void *bytes = ls__mem_alloc(size, 1);
    if (bytes &&
        device->vk.GetPipelineCacheData(device->handle, cache->handle, &size, bytes) == VK_SUCCESS)
        ls__kept_put(&cache->kept, &key, bytes, size);
    ls__mem_free(bytes);
}

void ls__vulkan_cache_close(ls__vulkan_device *device)
{
    ls__vulkan_cache *cache = &device->cache;
    if (cache->handle && cache->kept.dir)
        write_file(device);
    if (cache->handle)
        device->vk.DestroyPipelineCache(device->handle, cache->handle, NULL);
    ls__dir_close(&cache->kept.dir);
}
