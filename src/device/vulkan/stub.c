/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the Vulkan devices in builds without Vulkan's headers. */
#include "base/status.h"
#include "device/common/list.h"
#include "device/vulkan/vulkan.h"

static const char reason[] =
    "this build has no Vulkan: its headers were not there (-Dvulkan=enabled)";

static uint32_t list(ls_device_info *infos, uint32_t capacity)
{
    ls__device_list list = {.family = "vulkan", .infos = infos, .capacity = capacity};
    ls__list_missing(&list, "Vulkan 1.2", reason);
    return list.count;
}

static uint32_t list_nothing(ls_device_info *infos, uint32_t capacity)
{
    (void)infos, (void)capacity;
    return 0;
}

static ls_status refuse(const ls__backend_open_params *params, ls__backend_device **device,
                        ls_error *error)
{
    *device = NULL;
    return ls__fail(error, LS_E_UNSUPPORTED, "device '%s': %s", params->name, reason);
}

const ls__backend ls__vulkan_backend = {
    .family = "vulkan", .list = list, .open = refuse, .only_by_name = true};
const ls__backend ls__vulkan_software_backend = {
    .family = "vulkan", .list = list_nothing, .open = refuse, .only_by_name = true};
