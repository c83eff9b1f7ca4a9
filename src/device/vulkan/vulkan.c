/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Vulkan device: opening, closing, and the table of the backend.
 *
 * All buffers are reached by address and no descriptors exist, so a device has one pipeline layout,
 * with nothing but push constants (emit/spirv/abi.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/common/list.h"
#include "device/vulkan/jobs.h"
#include "device/vulkan/vulkan.h"

#define PREFIX "vulkan"

static ls__vulkan_device *vulkan_of(const ls__backend_device *device)
{
    return (ls__vulkan_device *)(uintptr_t)device;
}

/* --- the list --------------------------------------------------------------------------------- */
static uint32_t list_kind(bool software, ls_device_info *infos, uint32_t capacity)
{
    ls__device_list list = {.family = PREFIX, .infos = infos, .capacity = capacity};
    const ls__vulkan_driver *driver;
    ls_error error = {0};
    bool there = ls__vulkan_driver_get(&driver, &error) == LS_OK;
    if (!there && !software)
        ls__list_missing(&list, "Vulkan 1.2", error.message);
    for (uint32_t i = 0; there && i < driver->physical_count; i++) {
        const ls__vulkan_physical *physical = &driver->physical[i];
        if (ls__vulkan_is_software(physical) == software)
            ls__list_device(&list, i, software, physical->description, physical->missing);
    }
    return list.count;
}

static uint32_t list_gpus(ls_device_info *infos, uint32_t capacity)
{
    return list_kind(false, infos, capacity);
}

static uint32_t list_software(ls_device_info *infos, uint32_t capacity)
{
    return list_kind(true, infos, capacity);
}

/* --- calls of several files ------------------------------------------------------------------- */
static bool loses(void)
{
    uint64_t left = atomic_load(&ls__vulkan_test_hooks.lose_at_submit);
    while (left &&
           !atomic_compare_exchange_weak(&ls__vulkan_test_hooks.lose_at_submit, &left, left - 1))
        ;
    return left == 1;
}

VkResult ls__vulkan_submit(ls__vulkan_device *device, VkQueue queue, VkCommandBuffer commands,
                           VkSemaphore semaphore, uint64_t value)
{
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore,
    };
    if (loses())
        return VK_ERROR_DEVICE_LOST;
    pthread_mutex_lock(&device->queue_lock);
    VkResult result = device->vk.QueueSubmit(queue, 1, &info, VK_NULL_HANDLE);
    pthread_mutex_unlock(&device->queue_lock);
    return result;
}

VkResult ls__vulkan_wait(ls__vulkan_device *device, VkSemaphore semaphore, uint64_t value,
                         uint64_t limit_ns)
{
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    return device->vk.WaitSemaphores(device->handle, &info, limit_ns);
}

VkResult ls__vulkan_pool(ls__vulkan_device *device, VkCommandPool *pool)
{
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->physical->queue_family,
    };
    return device->vk.CreateCommandPool(device->handle, &info, NULL, pool);
}

VkResult ls__vulkan_command_buffer(ls__vulkan_device *device, VkCommandPool pool,
                                   VkCommandBuffer *commands)
{
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return device->vk.AllocateCommandBuffers(device->handle, &info, commands);
}

VkResult ls__vulkan_timeline(ls__vulkan_device *device, VkSemaphore *semaphore)
{
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    return device->vk.CreateSemaphore(device->handle, &info, NULL, semaphore);
}

enum {
    WORK_STAGES = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
    WORK_WRITES = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    WORK_READS = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT
};

void ls__vulkan_barrier(ls__vulkan_device *device, VkCommandBuffer commands)
{
    static const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = WORK_WRITES,
        .dstAccessMask = WORK_WRITES | WORK_READS,
    };
    device->vk.CmdPipelineBarrier(commands, WORK_STAGES, WORK_STAGES, 0, 1, &barrier, 0, NULL, 0,
                                  NULL);
}

void ls__vulkan_host_barrier(ls__vulkan_device *device, VkCommandBuffer commands)
{
    static const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = WORK_WRITES,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT,
    };
    device->vk.CmdPipelineBarrier(commands, WORK_STAGES, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                                  0, NULL, 0, NULL);
}

/* --- open and close --------------------------------------------------------------------------- */
static ls_status load_functions(const ls__vulkan_loader *loader, ls__vulkan_device *device,
                                ls_error *error)
{
    ls__vulkan_functions *vk = &device->vk;
#define LS_VK_OPTIONAL(name)                                                                       \
    vk->name = (PFN_vk##name)loader->GetDeviceProcAddr(device->handle, "vk" #name);
#define LS_VK_DEVICE(name)                                                                         \
    LS_VK_OPTIONAL(name)                                                                           \
    if (!vk->name)                                                                                 \
        return ls__fail(error, LS_E_UNSUPPORTED, "the Vulkan driver lacks vk" #name);
#include "device/vulkan/functions.def"
    return LS_OK;
}

static ls_status make_locks(ls__vulkan_device *device, ls_error *error)
{
    pthread_mutex_t *locks[] = {&device->queue_lock, &device->memory.lock, &device->staging.lock,
                                &device->arguments.lock, &device->transfer.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        if (pthread_mutex_init(locks[i], NULL) == 0)
            continue;
        while (i--)
            pthread_mutex_destroy(locks[i]);
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot make a lock");
    }
    device->locks_ready = true;
    return LS_OK;
}

static ls_status make_device(const ls__vulkan_driver *driver, ls__vulkan_device *device,
                             ls_error *error)
{
    const ls__vulkan_physical *physical = device->physical;
    uint32_t queues = physical->queue_count > 1 ? 2 : 1;
    VkResult result = ls__vulkan_create_device(&driver->loader, physical, queues, &device->handle);
    if (result != VK_SUCCESS)
        return ls__vulkan_fail(error, result, "open the device");
    ls_status status = load_functions(&driver->loader, device, error);
    if (status != LS_OK)
        return status;
    device->vk.GetDeviceQueue(device->handle, physical->queue_family, 0, &device->queue);
    device->vk.GetDeviceQueue(device->handle, physical->queue_family, queues - 1,
                              &device->transfer_queue);
    return LS_OK;
}

static ls_status make_layout(ls__vulkan_device *device, ls_error *error)
{
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(ls__spirv_push)};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkResult result = device->vk.CreatePipelineLayout(device->handle, &info, NULL, &device->layout);
    return result == VK_SUCCESS ? LS_OK : ls__vulkan_fail(error, result, "make a layout");
}

/* Also of one that was only half opened. */
static void close_device(ls__backend_device *closed)
{
    ls__vulkan_device *device = vulkan_of(closed);
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    if (device->handle && device->vk.DestroyDevice) {
        ls__vulkan_executor_destroy(device);
        if (device->vk.DeviceWaitIdle)
            device->vk.DeviceWaitIdle(device->handle);
        ls__vulkan_transfer_finish(device);
        ls__vulkan_cache_close(device);
        if (device->layout)
            device->vk.DestroyPipelineLayout(device->handle, device->layout, NULL);
        ls__vulkan_heaps_finish(device);
        device->vk.DestroyDevice(device->handle, NULL);
    }
    if (device->locks_ready) {
        pthread_mutex_destroy(&device->queue_lock);
        pthread_mutex_destroy(&device->memory.lock);
        pthread_mutex_destroy(&device->staging.lock);
        pthread_mutex_destroy(&device->arguments.lock);
        pthread_mutex_destroy(&device->transfer.lock);
    }
    ls__vulkan_leave(&guard);
    ls__mem_free(device);
}

static ls_status make_parts(const ls__vulkan_driver *driver, ls__vulkan_device *device,
                            const ls_device_params *params, ls_error *error)
{
    ls_status status = make_locks(device, error);
    if (status == LS_OK)
        status = make_device(driver, device, error);
    if (status == LS_OK)
        status = ls__vulkan_heaps_init(device, error);
    if (status == LS_OK)
        status = make_layout(device, error);
    if (status != LS_OK)
        return status;
    ls__vulkan_describe(device);
    status = ls__vulkan_choose_target(device, params->target, error);
    if (status == LS_OK)
        status = ls__vulkan_cache_open(device, params->cache_path, error);
    if (status == LS_OK)
        status = ls__vulkan_transfer_init(device, error);
    if (status == LS_OK)
        status = ls__vulkan_executor_create(device, error);
    return status;
}

static ls_status open_device(const ls__backend_open_params *params, ls__backend_device **device,
                             ls_error *error)
{
    const ls__vulkan_driver *driver;
    ls__vulkan_guard guard;
    *device = NULL;
    ls_status status = ls__vulkan_driver_get(&driver, error);
    if (status != LS_OK)
        return status;
    unsigned long index = strtoul(params->name + strlen(PREFIX ":"), NULL, 10);
    if (index >= driver->physical_count)
        return ls__fail(error, LS_E_NOT_FOUND, "there is no device '%s'", params->name);
    ls__vulkan_device *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->physical = &driver->physical[index];
    ls__vulkan_enter(&guard);
    status = make_parts(driver, made, params->params, error);
    ls__vulkan_leave(&guard);
    if (status != LS_OK) {
        close_device((ls__backend_device *)made);
        return status;
    }
    *device = (ls__backend_device *)made;
    return LS_OK;
}

/* --- the table -------------------------------------------------------------------------------- */
static const ls_caps *caps_of(const ls__backend_device *device)
{
    return &vulkan_of(device)->caps;
}

static uint32_t lowering(const ls__backend_device *device)
{
    return vulkan_of(device)->lowering;
}

static const char *target(const ls__backend_device *device)
{
    return vulkan_of(device)->target;
}

static uint64_t memory_bytes(const ls__backend_device *device)
{
    return ls__vulkan_memory_bytes(vulkan_of(device));
}

static ls_status allocate(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls_status status = ls__vulkan_take(vulkan_of(device), &vulkan_of(device)->memory, size,
                                       (ls__vulkan_memory **)memory, error);
    ls__vulkan_leave(&guard);
    return status;
}

static ls_status import(ls__backend_device *device, void *bytes, uint64_t size,
                        ls__backend_memory **memory, ls_error *error)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls_status status =
        ls__vulkan_import(vulkan_of(device), bytes, size, (ls__vulkan_memory **)memory, error);
    ls__vulkan_leave(&guard);
    return status;
}

static void release(ls__backend_device *device, ls__backend_memory *memory)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls__vulkan_give(vulkan_of(device), (ls__vulkan_memory *)memory);
    ls__vulkan_leave(&guard);
}

static void *map(ls__backend_device *device, const ls__span *span, uint32_t access)
{
    ls__vulkan_memory *memory = ls__vulkan_memory_of(span);
    (void)access;
    ls__vulkan_invalidate(vulkan_of(device), memory, span->offset, span->size);
    return ls__vulkan_host(memory, span->offset);
}

static void unmap(ls__backend_device *device, const ls__span *span, uint32_t access)
{
    if (access & LS_MAP_WRITE)
        ls__vulkan_flush(vulkan_of(device), ls__vulkan_memory_of(span), span->offset, span->size);
}

static ls_status read_span(ls__backend_device *device, const ls__span *span, void *bytes,
                           ls_error *error)
{
    return ls__vulkan_read(vulkan_of(device), ls__vulkan_memory_of(span), span->offset, span->size,
                           bytes, error);
}

static ls_status write_span(ls__backend_device *device, const ls__span *span, const void *bytes,
                            ls_error *error)
{
    return ls__vulkan_write(vulkan_of(device), ls__vulkan_memory_of(span), span->offset, span->size,
                            bytes, error);
}

static ls_status program_build(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error)
{
    return ls__vulkan_program_build(vulkan_of(device), code, (ls__vulkan_program **)program, error);
}

static void program_free(ls__backend_device *device, ls__backend_program *program)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls__vulkan_program_free(vulkan_of(device), (ls__vulkan_program *)program);
    ls__vulkan_leave(&guard);
}

static ls_status prepare(ls__backend_device *device, const ls__job *job,
                         ls__backend_prepared **prepared, ls_error *error)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls_status status =
        ls__vulkan_prepare(vulkan_of(device), job, (ls__vulkan_prepared **)prepared, error);
    ls__vulkan_leave(&guard);
    return status;
}

static void unprepare(ls__backend_device *device, ls__backend_prepared *prepared)
{
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    ls__vulkan_unprepare(vulkan_of(device), (ls__vulkan_prepared *)prepared);
    ls__vulkan_leave(&guard);
}

static void start(ls__backend_device *device, ls__job *job)
{
    ls__job_queue_start(&vulkan_of(device)->executor->queue, job);
}

static bool run_job(ls__backend_device *device, ls__job *job)
{
    return ls__job_queue_run(&vulkan_of(device)->executor->queue, job);
}

static void cancel(ls__backend_device *device, ls__job *job)
{
    ls__job_queue_cancel(&vulkan_of(device)->executor->queue, job);
}

/* Not chosen unasked until it has been proven on hardware as the reference has. */
#define TABLE(list_)                                                                               \
    {                                                                                              \
        .family = PREFIX, .list = list_, .open = open_device, .close = close_device,               \
        .caps = caps_of, .lowering = lowering, .target = target, .has_targets = true,              \
        .memory_bytes = memory_bytes, .allocate = allocate, .import = import, .release = release,  \
        .map = map, .unmap = unmap, .read = read_span, .write = write_span,                        \
        .program_build = program_build, .program_free = program_free, .prepare = prepare,          \
        .unprepare = unprepare, .start = start, .run = run_job, .cancel = cancel,                  \
        .cancel_grace_ns = LS__VULKAN_GRACE_S * UINT64_C(1000000000), .optimize = true,            \
        .only_by_name = true                                                                       \
    }

const ls__backend ls__vulkan_backend = TABLE(list_gpus);
const ls__backend ls__vulkan_software_backend = TABLE(list_software);
