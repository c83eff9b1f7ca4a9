/* SPDX-License-Identifier: Apache-2.0 */
/* What an opened device says of itself: capabilities, the emitter's target, limits. */
#include "base/status.h"
#include "device/vulkan/device.h"

enum { MOST_LANES = 1024, MOST_SCALAR_BYTES = 4096, MOST_LOCAL_BYTES = 16384 };
static const uint64_t least_range = UINT64_C(4) << 30;

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void describe_caps(ls__vulkan_device *device)
{
    const ls__vulkan_physical *physical = device->physical;
    const VkPhysicalDeviceLimits *limits = &physical->properties.limits;
    bool timing = physical->timestamp_bits && !ls__vulkan_test_hooks.untimed;
    uint64_t largest = physical->max_allocation_bytes;
    device->caps = (ls_caps){
        .struct_size = sizeof device->caps,
        .max_workgroup_lanes = smaller(limits->maxComputeWorkGroupInvocations, MOST_LANES),
        .max_shared_bytes = limits->maxComputeSharedMemorySize,
        .max_buffers = LS__SPIRV_MAX_BUFFERS - 1, /* one is for the scratch of split grid barriers
                                                   */
        .max_scalar_bytes = MOST_SCALAR_BYTES,
        .max_local_bytes = MOST_LOCAL_BYTES,
        .max_range_bytes = largest > least_range ? largest : least_range,
        .subgroup_native_lanes = physical->features.subgroup32 ? 32 : 0,
        .f64 = physical->features.float64,
        .atomics64 = physical->features.buffer_atomics64 && physical->features.shared_atomics64,
        .map_direct = device->memory.visible,
        .import_host = physical->features.import_host,
        .prepared_native = true,
        .timing = timing,
        .timing_unavailable = timing ? NULL : "the device's queue has no timestamps",
        .cancel = true,
    };
}

/* Float controls may have to be the same for several widths; f16 is not used by kernels. */
static void describe_floats(const VkPhysicalDeviceVulkan12Properties *p, ls__spirv_target *target)
{
    VkShaderFloatControlsIndependence all = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL,
                                      none = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
    target->szinp32 = p->shaderSignedZeroInfNanPreserveFloat32;
    target->szinp64 = p->shaderSignedZeroInfNanPreserveFloat64;
    target->rte32 = p->shaderRoundingModeRTEFloat32 && p->roundingModeIndependence != none;
    target->rte64 = p->shaderRoundingModeRTEFloat64 && p->roundingModeIndependence == all;
    target->denorm32 = p->shaderDenormPreserveFloat32 && p->denormBehaviorIndependence != none;
    target->denorm64 = p->shaderDenormPreserveFloat64 && p->denormBehaviorIndependence == all;
}

static void describe_target(ls__vulkan_device *device)
{
    const ls__vulkan_physical *physical = device->physical;
    ls__spirv_target target = {
        .i8 = physical->features.int8,
        .i16 = physical->features.int16,
        .dot8 = physical->features.dot8,
        .subgroup32 = physical->features.subgroup32,
        /* Fused on all hardware; known not to be in this driver, which in turn is exact where
         * Vulkan does not demand it. */
        .fma = physical->driver != VK_DRIVER_ID_MESA_LLVMPIPE && !ls__vulkan_is_software(physical),
        .div = physical->driver == VK_DRIVER_ID_MESA_LLVMPIPE,
        .sqrt = physical->driver == VK_DRIVER_ID_MESA_LLVMPIPE,
        .llvmpipe = physical->driver == VK_DRIVER_ID_MESA_LLVMPIPE,
    };
    describe_floats(&physical->float_controls, &target);
    ls__spirv_target_print(&target, device->target);
    device->lowering = ls__spirv_lowering(device->target);
}

/* What a driver is wrong about stays, whatever is wanted. */
ls_status ls__vulkan_choose_target(ls__vulkan_device *device, const char *text, ls_error *error)
{
    ls__spirv_target wanted, have;
    if (!text)
        return LS_OK;
    ls__spirv_target_parse(device->target, &have);
    if (!ls__spirv_target_parse(text, &wanted)) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no target '%s'", text);
        return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                             "vulkan1.2, then words of the device's own: %s", device->target);
    }
    if (!ls__spirv_target_runs(&wanted, &have)) {
        ls__fail(error, LS_E_UNSUPPORTED, "the device cannot run code for '%s'", text);
        return ls__fail_hint(error, LS_E_UNSUPPORTED, "its own target is %s", device->target);
    }
    wanted.llvmpipe = have.llvmpipe;
    ls__spirv_target_print(&wanted, device->target);
    device->lowering = ls__spirv_lowering(device->target);
    return LS_OK;
}

void ls__vulkan_describe(ls__vulkan_device *device)
{
    const VkPhysicalDeviceLimits *limits = &device->physical->properties.limits;
    describe_caps(device);
    describe_target(device);
    for (int i = 0; i < 3; i++) {
        device->max_groups[i] = limits->maxComputeWorkGroupCount[i];
        if (ls__vulkan_test_hooks.max_groups)
            device->max_groups[i] =
                smaller(device->max_groups[i], ls__vulkan_test_hooks.max_groups);
    }
}

/* Memory of its own, less what drivers and displays take; else the host's, as for other devices
 * that use that. */
uint64_t ls__vulkan_memory_bytes(const ls__vulkan_device *device)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->physical->memory;
    uint64_t own = memory->memoryHeaps[memory->memoryTypes[device->memory.type].heapIndex].size;
    uint64_t host = ls__os_memory_bytes() / 2;
    switch (device->physical->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return host;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return own < host ? own : host;
    default:
        return own - own / 10;
    }
}
