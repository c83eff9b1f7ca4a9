/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the driver: what they have, what they lack. */
#include <stdio.h>
#include <string.h>

#include "device/cuda/driver.h"

static uint32_t attribute(const ls__cuda_functions *cu, const ls__cuda_physical *physical, int what)
{
    int value = 0;
    if (cu->DeviceGetAttribute(&value, what, physical->handle) != LS__CU_SUCCESS || value < 0)
        return 0;
    return (uint32_t)value;
}

static void find_missing(const ls__cuda_functions *cu, ls__cuda_physical *physical)
{
    char *text = physical->missing;
    size_t room = sizeof physical->missing;
    if (physical->capability < LS__CUDA_LEAST_CAPABILITY)
        snprintf(text, room, "compute capability 7.5 (it has %u.%u)", physical->capability / 10,
                 physical->capability % 10);
    else if (attribute(cu, physical, LS__CU_WARP_SIZE) != 32)
        snprintf(text, room, "warps of 32 threads");
    else if (!attribute(cu, physical, LS__CU_UNIFIED_ADDRESSING))
        snprintf(text, room, "unified addressing");
    else if (attribute(cu, physical, LS__CU_COMPUTE_MODE) == LS__CU_COMPUTE_MODE_PROHIBITED)
        snprintf(text, room, "permission to compute: its compute mode is \"prohibited\"");
}

void ls__cuda_inspect(const ls__cuda_functions *cu, ls__cuda_physical *physical)
{
    size_t bytes = 0;
    ls__cu_uuid uuid = {{0}};
    physical->capability = attribute(cu, physical, LS__CU_CAPABILITY_MAJOR) * 10 +
                           attribute(cu, physical, LS__CU_CAPABILITY_MINOR);
    if (cu->DeviceGetName(physical->description, sizeof physical->description - 1,
                          physical->handle) != LS__CU_SUCCESS)
        snprintf(physical->description, sizeof physical->description, "CUDA device");
    if (cu->DeviceTotalMem(&bytes, physical->handle) == LS__CU_SUCCESS)
        physical->memory_bytes = bytes;
    if (cu->DeviceGetUuid(&uuid, physical->handle) == LS__CU_SUCCESS)
        memcpy(physical->uuid, uuid.bytes, sizeof physical->uuid);
    physical->max_threads = attribute(cu, physical, LS__CU_MAX_THREADS_PER_BLOCK);
    physical->max_shared_bytes = attribute(cu, physical, LS__CU_MAX_SHARED_PER_BLOCK);
    physical->max_registers = attribute(cu, physical, LS__CU_MAX_REGISTERS_PER_BLOCK);
    physical->multiprocessors = attribute(cu, physical, LS__CU_MULTIPROCESSORS);
    for (int i = 0; i < 3; i++)
        physical->max_grid[i] = attribute(cu, physical, LS__CU_MAX_GRID_X + i);
    physical->software = strncmp(physical->description, "emulated", 8) == 0;
    physical->pools = attribute(cu, physical, LS__CU_MEMORY_POOLS) != 0;
    physical->import_host = attribute(cu, physical, LS__CU_HOST_REGISTER) != 0;
    physical->cooperative = attribute(cu, physical, LS__CU_COOPERATIVE_LAUNCH) != 0;
    physical->integrated = attribute(cu, physical, LS__CU_INTEGRATED) != 0;
    find_missing(cu, physical);
}
