/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of buffers by the host, outside of jobs: directly where the host sees the
 * memory, else piece by piece through memory that both see. They take a queue of their own where
 * the device has a second one, so that they do not stand behind a job that runs for long.
 */
#include <string.h>

#include "base/status.h"
#include "device/vulkan/device.h"

static const uint64_t staging_bytes = 1 << 20;

ls_status ls__vulkan_transfer_init(ls__vulkan_device *device, ls_error *error)
{
    ls__vulkan_transfer *t = &device->transfer;
    if (device->memory.visible)
        return LS_OK;
    VkResult result = ls__vulkan_pool(device, &t->pool);
    if (result == VK_SUCCESS)
        result = ls__vulkan_command_buffer(device, t->pool, &t->commands);
    if (result == VK_SUCCESS)
        result = ls__vulkan_timeline(device, &t->done);
    if (result != VK_SUCCESS)
        return ls__vulkan_fail(error, result, "make a command buffer");
    return ls__vulkan_take(device, &device->staging, staging_bytes, &t->staging, error);
}

void ls__vulkan_transfer_finish(ls__vulkan_device *device)
{
    ls__vulkan_transfer *t = &device->transfer;
    ls__vulkan_give(device, t->staging);
    if (t->done)
        device->vk.DestroySemaphore(device->handle, t->done, NULL);
    if (t->pool)
        device->vk.DestroyCommandPool(device->handle, t->pool, NULL);
}

static VkResult begin(ls__vulkan_device *device)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = device->vk.BeginCommandBuffer(device->transfer.commands, &info);
    if (result == VK_SUCCESS)
        ls__vulkan_barrier(device, device->transfer.commands);
    return result;
}

static VkResult run(ls__vulkan_device *device)
{
    ls__vulkan_transfer *t = &device->transfer;
    ls__vulkan_host_barrier(device, t->commands);
    VkResult result = device->vk.EndCommandBuffer(t->commands);
    if (result == VK_SUCCESS)
        result =
            ls__vulkan_submit(device, device->transfer_queue, t->commands, t->done, ++t->value);
    if (result == VK_SUCCESS)
        result = ls__vulkan_wait(device, t->done, t->value, LS_FOREVER);
    return result;
}

/* One piece, between `place` of the memory and the staging memory. */
static VkResult move(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t place,
                     uint64_t size, bool to_host)
{
    ls__vulkan_transfer *t = &device->transfer;
    VkBuffer mine = memory->block->buffer, other = t->staging->block->buffer;
    uint64_t other_place = ls__vulkan_place(t->staging, 0);
    VkBufferCopy copy = {to_host ? place : other_place, to_host ? other_place : place, size};
    VkResult result = begin(device);
    if (result != VK_SUCCESS)
        return result;
    if (atomic_exchange(&memory->dirty, false)) {
        device->vk.CmdFillBuffer(t->commands, mine, memory->offset, memory->size, 0);
        ls__vulkan_barrier(device, t->commands);
    }
    device->vk.CmdCopyBuffer(t->commands, to_host ? mine : other, to_host ? other : mine, 1, &copy);
    return run(device);
}

static ls_status stage(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t offset,
                       uint64_t size, uint8_t *to, const uint8_t *from, ls_error *error)
{
    ls__vulkan_transfer *t = &device->transfer;
    uint8_t *host = ls__vulkan_host(t->staging, 0);
    VkResult result = VK_SUCCESS;
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    pthread_mutex_lock(&t->lock);
    for (uint64_t done = 0; done < size && result == VK_SUCCESS; done += staging_bytes) {
        uint64_t bytes = size - done < staging_bytes ? size - done : staging_bytes;
        if (from)
            memcpy(host, from + done, bytes);
        result = move(device, memory, ls__vulkan_place(memory, offset + done), bytes, to != NULL);
        if (to && result == VK_SUCCESS)
            memcpy(to + done, host, bytes);
    }
    pthread_mutex_unlock(&t->lock);
    ls__vulkan_leave(&guard);
    return result == VK_SUCCESS ? LS_OK : ls__vulkan_fail(error, result, "copy a buffer");
}

ls_status ls__vulkan_read(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t offset,
                          uint64_t size, void *bytes, ls_error *error)
{
    if (!memory->block->host)
        return stage(device, memory, offset, size, bytes, NULL, error);
    ls__vulkan_invalidate(device, memory, offset, size);
    memcpy(bytes, ls__vulkan_host(memory, offset), size);
    return LS_OK;
}

ls_status ls__vulkan_write(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t offset,
                           uint64_t size, const void *bytes, ls_error *error)
{
    if (!memory->block->host)
        return stage(device, memory, offset, size, NULL, bytes, error);
    memcpy(ls__vulkan_host(memory, offset), bytes, size);
    ls__vulkan_flush(device, memory, offset, size);
    return LS_OK;
}
