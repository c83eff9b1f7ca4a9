/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan 1.2 devices: "vulkan:0", "vulkan:1", ... Real GPUs and software devices are two backends,
 * because the CPU is preferred to the latter. */
#ifndef LS_DEVICE_VULKAN_VULKAN_H
#define LS_DEVICE_VULKAN_VULKAN_H

#include "core/backend.h"

extern const ls__backend ls__vulkan_backend, ls__vulkan_software_backend;

#endif
