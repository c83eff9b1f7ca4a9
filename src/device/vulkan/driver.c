/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libvulkan and makes the instance. Both stay for good: drivers do not take it well to be
 * unloaded, and making an instance loads all drivers of the machine.
 *
 * RTLD_LOCAL, because a driver may bring another LLVM than ours.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/driver.h"

static const char *const library_names[] = {"libvulkan.so.1", "libvulkan.so"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool found; /* under the lock; `driver` is constant once it is set */
static ls__vulkan_driver driver;

ls__vulkan_hooks ls__vulkan_test_hooks;

/* --- calls ------------------------------------------------------------------------------------ */
void ls__vulkan_enter(ls__vulkan_guard *guard)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
    ls__os_fenv_enter(&guard->environment);
}

void ls__vulkan_leave(const ls__vulkan_guard *guard)
{
    ls__os_fenv_leave(&guard->environment);
    pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
}

void ls__vulkan_take_signals(const ls__vulkan_guard *guard)
{
    sigset_t all;
    pthread_sigmask(SIG_SETMASK, &guard->signals, &all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static const char *result_text(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "initialisation failed";
    case VK_ERROR_DEVICE_LOST:
        return "the device was lost";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no driver";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "too many objects";
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
        return "memory that cannot be imported";
    default:
        return "error";
    }
}

ls_status ls__vulkan_fail(ls_error *error, VkResult result, const char *what)
{
    ls_status status = LS_E_INTERNAL;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
        result == VK_ERROR_TOO_MANY_OBJECTS)
        status = LS_E_OUT_OF_MEMORY;
    else if (result == VK_ERROR_DEVICE_LOST)
        status = LS_E_INDETERMINATE;
    return ls__fail(error, status, "Vulkan cannot %s: %s (VkResult %d)", what, result_text(result),
                    (int)result);
}

/* --- the loader ------------------------------------------------------------------------------- */
static ls_status load_library(ls__vulkan_loader *loader, ls_error *error)
{
    void *library = NULL;
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names && !library; i++)
        library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return ls__fail(error, LS_E_UNSUPPORTED, "the Vulkan loader is not there: %s", dlerror());
    loader->GetInstanceProcAddr =
        (PFN_vkGetInstanceProcAddr)(uintptr_t)dlsym(library, "vkGetInstanceProcAddr");
    if (!loader->GetInstanceProcAddr)
        return ls__fail(error, LS_E_UNSUPPORTED, "%s is no Vulkan loader", library_names[0]);
#define LS_VK_GLOBAL(name)                                                                         \
    loader->name = (PFN_vk##name)loader->GetInstanceProcAddr(NULL, "vk" #name);                    \
    if (!loader->name)                                                                             \
        return ls__fail(error, LS_E_UNSUPPORTED, "the Vulkan loader is too old: no vk" #name);
#include "device/vulkan/functions.def"
    return LS_OK;
}

static bool has_instance_extension(const ls__vulkan_loader *loader, const char *name)
{
    uint32_t count = 0;
    bool has = false;
    if (loader->EnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *list = ls__mem_alloc(count, sizeof *list);
    if (list && loader->EnumerateInstanceExtensionProperties(NULL, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            has |= strcmp(list[i].extensionName, name) == 0;
    ls__mem_free(list);
    return has;
}

static ls_status make_instance(ls__vulkan_loader *loader, ls_error *error)
{
    static const char portability[] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    const char *extensions[] = {portability};
    uint32_t version = 0;
    loader->EnumerateInstanceVersion(&version);
    if (version < VK_API_VERSION_1_2)
        return ls__fail(error, LS_E_UNSUPPORTED, "the Vulkan loader is of version %u.%u, not 1.2",
                        VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "lockstep",
        .pEngineName = "lockstep",
        .apiVersion = VK_API_VERSION_1_2,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    if (has_instance_extension(loader, portability)) {
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = extensions;
    }
    VkResult result = loader->CreateInstance(&info, NULL, &loader->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return ls__fail(error, LS_E_UNSUPPORTED, "no Vulkan driver is installed");
    if (result != VK_SUCCESS)
        return ls__vulkan_fail(error, result, "make an instance");
#define LS_VK_INSTANCE(name)                                                                       \
    loader->name = (PFN_vk##name)loader->GetInstanceProcAddr(loader->instance, "vk" #name);        \
    if (!loader->name)                                                                             \
        return ls__fail(error, LS_E_UNSUPPORTED, "the Vulkan loader lacks vk" #name);
#include "device/vulkan/functions.def"
    return LS_OK;
}

static ls_status list_devices(ls__vulkan_driver *made, ls_error *error)
{
    VkPhysicalDevice handles[LS__VULKAN_MAX_DEVICES];
    uint32_t count = LS__VULKAN_MAX_DEVICES;
    VkResult result = made->loader.EnumeratePhysicalDevices(made->loader.instance, &count, handles);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return ls__vulkan_fail(error, result, "list devices");
    if (count == 0)
        return ls__fail(error, LS_E_UNSUPPORTED, "no Vulkan driver has found a device");
    for (uint32_t i = 0; i < count; i++) {
        made->physical[i].handle = handles[i];
        ls__vulkan_inspect(&made->loader, &made->physical[i]);
    }
    ls__vulkan_sort(made->physical, count);
    made->physical_count = count;
    return LS_OK;
}

static ls_status find(ls_error *error)
{
    ls__vulkan_driver made = {0};
    ls_status status = load_library(&made.loader, error);
    if (status == LS_OK)
        status = make_instance(&made.loader, error);
    if (status == LS_OK)
        status = list_devices(&made, error);
    if (status == LS_OK)
        driver = made;
    else if (made.loader.instance && made.loader.DestroyInstance)
        made.loader.DestroyInstance(made.loader.instance, NULL);
    return status;
}

ls_status ls__vulkan_driver_get(const ls__vulkan_driver **result, ls_error *error)
{
    ls__vulkan_guard guard;
    ls_status status = LS_OK;
    pthread_mutex_lock(&lock);
    if (!found) {
        ls__vulkan_enter(&guard);
        status = find(error);
        ls__vulkan_leave(&guard);
        found = status == LS_OK;
    }
    pthread_mutex_unlock(&lock);
    *result = &driver;
    return status;
}
