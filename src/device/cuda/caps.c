/* SPDX-License-Identifier: Apache-2.0 */
/* What an opened device says of itself: capabilities, the emitter's target, limits. */
#include <string.h>

#include "base/status.h"
#include "device/cuda/device.h"

enum {
    MOST_LANES = 1024,
    MOST_LOCAL_BYTES = 16384,
    MOST_BUFFERS = LS__PTX_MAX_BUFFERS - 1, /* one is for the scratch of split grid barriers */
    /* What is left of a kernel's parameters beside the most buffers, and a word to round. */
    MOST_SCALAR_BYTES = LS__PTX_MAX_PARAMETER_BYTES - (int)sizeof(ls__ptx_call) -
                        LS__PTX_MAX_BUFFERS * (int)sizeof(ls__ptx_buffer) - 16
};
static const uint64_t least_range = UINT64_C(4) << 30;
static const uint32_t most_shared = 48 << 10; /* static shared memory of a kernel */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void describe_caps(ls__cuda_device *device)
{
    const ls__cuda_physical *physical = device->physical;
    device->caps = (ls_caps){
        .struct_size = sizeof device->caps,
        .max_workgroup_lanes = smaller(physical->max_threads, MOST_LANES),
        .max_shared_bytes = smaller(physical->max_shared_bytes, most_shared),
        .max_buffers = MOST_BUFFERS,
        .max_scalar_bytes = MOST_SCALAR_BYTES,
        .max_local_bytes = MOST_LOCAL_BYTES,
        .max_range_bytes =
            physical->memory_bytes > least_range ? physical->memory_bytes : least_range,
        .subgroup_native_lanes = 32,
        .f64 = true,
        .atomics64 = true,
        .grid_barrier_native = physical->cooperative,
        .import_host = physical->import_host,
        .prepared_native = true,
        .timing = true,
        .cancel = true,
    };
    for (int i = 0; i < 3; i++) {
        device->max_grid[i] = physical->max_grid[i];
        if (ls__cuda_test_hooks.max_grid)
            device->max_grid[i] = smaller(device->max_grid[i], ls__cuda_test_hooks.max_grid);
    }
}

static void choose_target(ls__cuda_device *device, uint32_t architecture)
{
    uint32_t major = architecture / 10, minor = architecture % 10;
    device->target = ls__ptx_target_for(major, minor, false);
    device->whole_target =
        device->physical->cooperative ? ls__ptx_target_for(major, minor, true) : NULL;
    device->lowering = ls__ptx_lowering(device->target);
}

ls_status ls__cuda_describe(ls__cuda_device *device, const char *text, ls_error *error)
{
    uint32_t capability = device->physical->capability;
    ls__ptx_target wanted;
    describe_caps(device);
    choose_target(device, capability);
    if (!text)
        return LS_OK;
    if (!ls__ptx_target_parse(text, &wanted)) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no target '%s'", text);
        return ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "one of: %s", LS__PTX_TARGETS);
    }
    if (wanted.architecture > capability) {
        ls__fail(error, LS_E_UNSUPPORTED, "the device cannot run code for '%s'", text);
        return ls__fail_hint(error, LS_E_UNSUPPORTED, "its own target is %s", device->target);
    }
    choose_target(device, wanted.architecture);
    return LS_OK;
}

/* Memory of its own, less what drivers and displays take; else the host's, as for other devices
 * that use that. */
uint64_t ls__cuda_memory_bytes(const ls__cuda_device *device)
{
    uint64_t own = device->physical->memory_bytes, host = ls__os_memory_bytes() / 2;
    if (device->physical->software || device->physical->integrated)
        return own < host ? own : host;
    return own - own / 10;
}
