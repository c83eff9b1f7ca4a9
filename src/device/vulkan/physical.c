/* SPDX-License-Identifier: Apache-2.0 */
/* Physical devices: what they have, what they lack, and a device made of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/vulkan/driver.h"

/* One chain of everything that is asked for and enabled. */
typedef struct chain {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT size_control;
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot;
} chain;

/* Structures of extensions take part only where the extension is there. */
static void link_chain(chain *c, const ls__vulkan_features *features)
{
    c->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    c->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    c->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    c->size_control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
    c->dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR;
    c->base.pNext = &c->v11;
    c->v11.pNext = &c->v12;
    void **last = &c->v12.pNext;
    *last = NULL;
    c->size_control.pNext = c->dot.pNext = NULL;
    if (features->size_control) {
        *last = &c->size_control;
        last = &c->size_control.pNext;
    }
    if (features->dot_extension)
        *last = &c->dot;
}

/* --- what it lacks ---------------------------------------------------------------------------- */
static void lack(ls__vulkan_physical *physical, bool has, const char *name)
{
    size_t used = strlen(physical->missing);
    if (!has)
        snprintf(physical->missing + used, sizeof physical->missing - used, "%s%s",
                 used ? ", " : "", name);
}

static void find_missing(ls__vulkan_physical *physical, const chain *c)
{
    lack(physical, c->base.features.shaderInt64, "shaderInt64");
    lack(physical, c->v11.storageBuffer16BitAccess, "storageBuffer16BitAccess");
    lack(physical, c->v12.storageBuffer8BitAccess, "storageBuffer8BitAccess");
    lack(physical, c->v12.scalarBlockLayout, "scalarBlockLayout");
    lack(physical, c->v12.vulkanMemoryModel, "vulkanMemoryModel");
    lack(physical, c->v12.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope");
    lack(physical, c->v12.bufferDeviceAddress, "bufferDeviceAddress");
    lack(physical, c->v12.timelineSemaphore, "timelineSemaphore");
    const VkPhysicalDeviceLimits *limits = &physical->properties.limits;
    lack(physical, limits->maxComputeWorkGroupInvocations >= 256, "workgroups of 256 lanes");
    lack(physical, limits->maxComputeSharedMemorySize >= 16384, "16 KiB of shared memory");
    lack(physical, physical->queue_count > 0, "a queue for compute");
}

/* --- queues ----------------------------------------------------------------------------------- */
/* A family for compute; one without graphics where there is one, since nobody else uses that. */
static void find_queues(const ls__vulkan_loader *loader, ls__vulkan_physical *physical)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    bool best_is_pure = false;
    loader->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        bool is_pure = !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0 ||
            (physical->queue_count && (best_is_pure || !is_pure)))
            continue;
        physical->queue_family = i;
        physical->queue_count = families[i].queueCount;
        physical->timestamp_bits = families[i].timestampValidBits;
        best_is_pure = is_pure;
    }
}

/* --- features --------------------------------------------------------------------------------- */
static void find_extensions(const ls__vulkan_loader *loader, ls__vulkan_physical *physical)
{
    ls__vulkan_features *f = &physical->features;
    const struct {
        const char *name;
        bool *has;
    } wanted[] = {
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, &f->import_host},
        {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, &f->size_control},
        {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, &f->dot_extension},
        {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, &f->feedback},
        {"VK_KHR_portability_subset", &f->subset},
    };
    uint32_t count = 0;
    if (loader->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL) !=
        VK_SUCCESS)
        return;
    VkExtensionProperties *list = ls__mem_alloc(count, sizeof *list);
    if (list && loader->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, list) ==
                    VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
                *wanted[k].has |= strcmp(list[i].extensionName, wanted[k].name) == 0;
    ls__mem_free(list);
}

static bool has_subgroups_of_32(const chain *c, const VkPhysicalDeviceVulkan11Properties *v11,
                                const VkPhysicalDeviceSubgroupSizeControlPropertiesEXT *sizes)
{
    const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                          VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                          VK_SUBGROUP_FEATURE_BALLOT_BIT;
    return (v11->subgroupSupportedOperations & needed) == needed &&
           (v11->subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           c->size_control.subgroupSizeControl && c->size_control.computeFullSubgroups &&
           (sizes->requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           sizes->minSubgroupSize <= 32 && sizes->maxSubgroupSize >= 32;
}

static void find_features(const ls__vulkan_loader *loader, ls__vulkan_physical *physical)
{
    chain c = {0};
    ls__vulkan_features *f = &physical->features;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceVulkan11Properties v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
    VkPhysicalDeviceVulkan12Properties v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, .pNext = &v11};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v12};
    find_extensions(loader, physical);
    if (f->size_control) {
        sizes.pNext = properties.pNext;
        properties.pNext = &sizes;
    }
    if (f->import_host) {
        import.pNext = properties.pNext;
        properties.pNext = &import;
    }
    link_chain(&c, f);
    loader->GetPhysicalDeviceFeatures2(physical->handle, &c.base);
    loader->GetPhysicalDeviceProperties2(physical->handle, &properties);
    f->float64 = c.base.features.shaderFloat64;
    f->int8 = c.v12.shaderInt8;
    f->int16 = c.base.features.shaderInt16;
    f->buffer_atomics64 = c.v12.shaderBufferInt64Atomics;
    f->shared_atomics64 = c.v12.shaderSharedInt64Atomics;
    f->dot8 = f->dot_extension && c.dot.shaderIntegerDotProduct;
    f->subgroup32 = f->size_control && has_subgroups_of_32(&c, &v11, &sizes);
    physical->import_alignment = import.minImportedHostPointerAlignment;
    physical->max_allocation_bytes = v11.maxMemoryAllocationSize;
    physical->float_controls = v12;
    physical->float_controls.pNext = NULL;
    physical->driver = v12.driverID;
    memcpy(physical->device_uuid, v11.deviceUUID, VK_UUID_SIZE);
    memcpy(physical->driver_uuid, v11.driverUUID, VK_UUID_SIZE);
    uint32_t version = physical->properties.apiVersion;
    snprintf(physical->description, sizeof physical->description, "%.60s, Vulkan %u.%u, %.32s",
             physical->properties.deviceName, VK_API_VERSION_MAJOR(version),
             VK_API_VERSION_MINOR(version), v12.driverInfo);
    find_missing(physical, &c);
}

void ls__vulkan_inspect(const ls__vulkan_loader *loader, ls__vulkan_physical *physical)
{
    loader->GetPhysicalDeviceProperties(physical->handle, &physical->properties);
    loader->GetPhysicalDeviceMemoryProperties(physical->handle, &physical->memory);
    uint32_t version = physical->properties.apiVersion;
    if (version < VK_API_VERSION_1_2) {
        snprintf(physical->description, sizeof physical->description, "%.100s",
                 physical->properties.deviceName);
        snprintf(physical->missing, sizeof physical->missing, "Vulkan 1.2 (it has %u.%u)",
                 VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
        return;
    }
    find_queues(loader, physical);
    find_features(loader, physical);
}

/* --- order ------------------------------------------------------------------------------------ */
static int rank_of(const ls__vulkan_physical *physical)
{
    switch (physical->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 4;
    default:
        return 3;
    }
}

void ls__vulkan_sort(ls__vulkan_physical *physical, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        ls__vulkan_physical moved = physical[i];
        uint32_t k = i;
        for (; k > 0 && rank_of(&physical[k - 1]) > rank_of(&moved); k--)
            physical[k] = physical[k - 1];
        physical[k] = moved;
    }
}

bool ls__vulkan_is_software(const ls__vulkan_physical *physical)
{
    return physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* --- a device --------------------------------------------------------------------------------- */
static void choose_features(const ls__vulkan_features *f, chain *c)
{
    c->base.features.shaderInt64 = VK_TRUE;
    c->base.features.shaderInt16 = f->int16;
    c->base.features.shaderFloat64 = f->float64;
    c->v11.storageBuffer16BitAccess = VK_TRUE;
    c->v12.storageBuffer8BitAccess = VK_TRUE;
    c->v12.scalarBlockLayout = VK_TRUE;
    c->v12.vulkanMemoryModel = VK_TRUE;
    c->v12.vulkanMemoryModelDeviceScope = VK_TRUE;
    c->v12.bufferDeviceAddress = VK_TRUE;
    c->v12.timelineSemaphore = VK_TRUE;
    c->v12.shaderInt8 = f->int8;
    c->v12.shaderBufferInt64Atomics = f->buffer_atomics64;
    c->v12.shaderSharedInt64Atomics = f->shared_atomics64;
    c->size_control.subgroupSizeControl = f->subgroup32;
    c->size_control.computeFullSubgroups = f->subgroup32;
    c->dot.shaderIntegerDotProduct = f->dot8;
}

VkResult ls__vulkan_create_device(const ls__vulkan_loader *loader,
                                  const ls__vulkan_physical *physical, uint32_t queue_count,
                                  VkDevice *device)
{
    static const float priorities[2] = {1, 1};
    const ls__vulkan_features *f = &physical->features;
    const char *extensions[5];
    uint32_t count = 0;
    chain c = {0};
    link_chain(&c, f);
    choose_features(f, &c);
    if (f->import_host)
        extensions[count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    if (f->size_control)
        extensions[count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    if (f->dot_extension)
        extensions[count++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
    if (f->feedback)
        extensions[count++] = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
    if (f->subset)
        extensions[count++] = "VK_KHR_portability_subset";
    VkDeviceQueueCreateInfo queues = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = physical->queue_family,
        .queueCount = queue_count,
        .pQueuePriorities = priorities,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &c.base,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    return loader->CreateDevice(physical->handle, &info, NULL, device);
}
