/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vulkan loader and what it finds: one instance a process, made when it is first asked for and
 * kept, and the physical devices of it, the most preferred first.
 *
 * Drivers start threads, which inherit the signal mask and the floating-point environment of the
 * thread that makes them, so every call into a driver stands between ls__vulkan_enter and
 * ls__vulkan_leave or comes from a thread of ours.
 */
#ifndef LS_DEVICE_VULKAN_DRIVER_H
#define LS_DEVICE_VULKAN_DRIVER_H

#include <signal.h>
#include <stdatomic.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "base/os.h"
#include "lockstep/base.h"

/* --- functions -------------------------------------------------------------------------------- */
typedef struct ls__vulkan_loader { /* of the process */
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define LS_VK_GLOBAL(name) PFN_vk##name name;
#define LS_VK_INSTANCE(name) PFN_vk##name name;
#include "device/vulkan/functions.def"
    VkInstance instance;
} ls__vulkan_loader;

typedef struct ls__vulkan_functions { /* of a device */
#define LS_VK_DEVICE(name) PFN_vk##name name;
#define LS_VK_OPTIONAL(name) PFN_vk##name name;
#include "device/vulkan/functions.def"
} ls__vulkan_functions;

/* --- physical devices ------------------------------------------------------------------------- */
enum { LS__VULKAN_MAX_DEVICES = 16 };

/* What can be enabled where it is there. */
typedef struct ls__vulkan_features {
    bool float64, int8, int16, dot8;
    bool buffer_atomics64, shared_atomics64;
    bool subgroup32;    /* subgroups of 32 lanes can be asked for, with shuffle and ballot */
    bool import_host;   /* VK_EXT_external_memory_host */
    bool size_control;  /* VK_EXT_subgroup_size_control */
    bool dot_extension; /* VK_KHR_shader_integer_dot_product */
    bool feedback;      /* VK_EXT_pipeline_creation_feedback */
    bool subset;        /* VK_KHR_portability_subset, which must be enabled where it is */
} ls__vulkan_features;

typedef struct ls__vulkan_physical {
    VkPhysicalDevice handle;
    char description[128];
    char missing[256]; /* what it lacks, for people; empty: usable */
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDriverId driver;
    uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE];
    ls__vulkan_features features;
    VkPhysicalDeviceVulkan12Properties float_controls; /* its float controls are looked at */
    uint64_t max_allocation_bytes;
    uint64_t import_alignment;
    uint32_t queue_family, queue_count;
    uint32_t timestamp_bits;
} ls__vulkan_physical;

typedef struct ls__vulkan_driver {
    ls__vulkan_loader loader;
    ls__vulkan_physical physical[LS__VULKAN_MAX_DEVICES];
    uint32_t physical_count;
} ls__vulkan_driver;

/* Loads libvulkan and looks at the devices, once; constant from then on. LS_E_UNSUPPORTED says why
 * there is none; the next call tries again. */
ls_status ls__vulkan_driver_get(const ls__vulkan_driver **driver, ls_error *error);

/* Looks at physical->handle: fills in the rest (physical.c). */
void ls__vulkan_inspect(const ls__vulkan_loader *loader, ls__vulkan_physical *physical);
/* Orders by kind of device, the most preferred first; else as the loader gave them. */
void ls__vulkan_sort(ls__vulkan_physical *physical, uint32_t count);
bool ls__vulkan_is_software(const ls__vulkan_physical *physical);
/* Makes a device of it with all features it has; the queues are those of queue_family. */
VkResult ls__vulkan_create_device(const ls__vulkan_loader *loader,
                                  const ls__vulkan_physical *physical, uint32_t queue_count,
                                  VkDevice *device);

/* --- calls ------------------------------------------------------------------------------------ */
typedef struct ls__vulkan_guard {
    ls__os_fenv environment;
    sigset_t signals;
} ls__vulkan_guard;
/* The default floating-point environment, and no signals, until `leave`. */
void ls__vulkan_enter(ls__vulkan_guard *guard);
void ls__vulkan_leave(const ls__vulkan_guard *guard);
/* Takes the signals that have come since `enter`, for who waits between calls. */
void ls__vulkan_take_signals(const ls__vulkan_guard *guard);

/* The status that a result stands for, with `what` failed. */
ls_status ls__vulkan_fail(ls_error *error, VkResult result, const char *what);

/* --- for tests -------------------------------------------------------------------------------- */
/* Makes devices opened from now on worse than they are; all zero otherwise. */
typedef struct ls__vulkan_hooks {
    bool staged;         /* as if the host could not see device memory */
    bool incoherent;     /* as if caches had to be flushed for the device to see what was written */
    bool untimed;        /* as if there were no timestamps */
    uint32_t max_groups; /* in a dimension of a dispatch; 0 = what the device has */
    uint64_t segment_ns; /* aimed at for a submission; 0 = as usual */
    uint64_t segment_bytes;          /* upload memory of a submission; 0 = as usual */
    uint64_t stuck_ns;               /* nothing ever completes; given up so long after a cancel */
    _Atomic uint64_t replays;        /* counts up: jobs that ran from recorded segments */
    _Atomic uint64_t lose_at_submit; /* counts down; the submission that makes it 0 loses the
                                        device */
} ls__vulkan_hooks;
extern ls__vulkan_hooks ls__vulkan_test_hooks;

#endif
