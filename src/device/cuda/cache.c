/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code that the driver has made of PTX, kept in the folder that the caller names. A file's
 * name covers the PTX, the device's architecture and the driver's version.
 */
#include <string.h>

#include "device/cuda/device.h"

static const uint64_t kept_bytes = 256 << 20;

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

void ls__cuda_cache_open(ls__cuda_device *device, const ls_device_params *params)
{
    device->cache =
        (ls__kept){.magic = "LSCUBIN1",
                   .suffix = ".lscubin",
                   .limit_bytes = params->cache_bytes ? params->cache_bytes : kept_bytes};
    if (params->cache_path)
        ls__dir_open(params->cache_path, &device->cache.dir, NULL);
}

void *ls__cuda_cache_get(ls__cuda_device *device, const char *ptx, size_t size, size_t *image_size)
{
    void *image = NULL;
    if (!device->cache.dir)
        return NULL;
    ls__digest key = key_of(device, ptx, size);
    return ls__kept_get(&device->cache, &key, &image, image_size) ? image : NULL;
}

void ls__cuda_cache_put(ls__cuda_device *device, const char *ptx, size_t size, const void *image,
                        size_t image_size)
{
    if (!device->cache.dir)
        return;
    ls__digest key = key_of(device, ptx, size);
    ls__kept_put(&device->cache, &key, image, image_size);
}
