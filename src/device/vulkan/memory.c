/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: blocks of Vulkan's, cut into pieces. Each block has one buffer over all of it, so that a
 * piece is an offset for transfers and an address for kernels.
 *
 * The pieces of a block are a list by address, used and free ones; the first free one that is large
 * enough is taken. Every piece has 8 readable bytes behind it, as kernels want them (abi.h).
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/device.h"

/* No limit of a device on alignment is above 256 (nonCoherentAtomSize). */
enum { ALIGNMENT = 256, BEHIND = 8 };
static const uint64_t first_block = 1 << 20, largest_block = 64 << 20;

/* --- types of memory -------------------------------------------------------------------------- */
static uint32_t find_type(const ls__vulkan_device *device, VkMemoryPropertyFlags wanted,
                          uint32_t allowed)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->physical->memory;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        if ((allowed >> i & 1) && (memory->memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    return UINT32_MAX;
}

static uint64_t heap_bytes(const ls__vulkan_device *device, uint32_t type)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->physical->memory;
    return memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
}

static VkBufferCreateInfo buffer_info(uint64_t size)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    };
}

/* Types that buffers of ours may lie in. */
static VkResult allowed_types(ls__vulkan_device *device, uint32_t *allowed)
{
    VkBufferCreateInfo info = buffer_info(65536);
    VkBuffer buffer;
    VkMemoryRequirements needs;
    VkResult result = device->vk.CreateBuffer(device->handle, &info, NULL, &buffer);
    if (result != VK_SUCCESS)
        return result;
    device->vk.GetBufferMemoryRequirements(device->handle, buffer, &needs);
    device->vk.DestroyBuffer(device->handle, buffer, NULL);
    *allowed = needs.memoryTypeBits;
    return VK_SUCCESS;
}

/* Memory of the device that the host sees is taken where all of it is so, and where the host reads
 * it through its caches: of other memory reads are so slow that copies by the device are faster. */
static uint32_t choose_device_type(const ls__vulkan_device *device, uint32_t allowed)
{
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t plain = find_type(device, local, allowed);
    uint32_t type = find_type(device, local | seen | cached | coherent, allowed);
    if (type == UINT32_MAX)
        type = find_type(device, local | seen | cached, allowed);
    if (type != UINT32_MAX && heap_bytes(device, type) >= heap_bytes(device, plain))
        return type;
    return plain;
}

static void describe_heap(const ls__vulkan_device *device, ls__vulkan_heap *heap, uint32_t type)
{
    VkMemoryPropertyFlags flags = device->physical->memory.memoryTypes[type].propertyFlags;
    heap->type = type;
    heap->visible = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    heap->coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    heap->next_bytes = first_block;
}

ls_status ls__vulkan_heaps_init(ls__vulkan_device *device, ls_error *error)
{
    const VkMemoryPropertyFlags seen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t allowed = 0;
    VkResult result = allowed_types(device, &allowed);
    if (result != VK_SUCCESS)
        return ls__vulkan_fail(error, result, "make a buffer");
    uint32_t type = choose_device_type(device, allowed);
    uint32_t staging = find_type(device, seen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, allowed);
    if (staging == UINT32_MAX)
        staging = find_type(device, seen, allowed);
    if (type == UINT32_MAX || staging == UINT32_MAX)
        return ls__fail(error, LS_E_UNSUPPORTED, "'%s' has no memory for buffers",
                        device->physical->description);
    describe_heap(device, &device->memory, type);
    describe_heap(device, &device->staging, staging);
    uint32_t near = find_type(device, seen | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, allowed);
    describe_heap(device, &device->arguments, near == UINT32_MAX ? staging : near);
    if (ls__vulkan_test_hooks.staged)
        device->memory.visible = false;
    if (ls__vulkan_test_hooks.incoherent)
        device->memory.coherent = false;
    return LS_OK;
}

/* --- blocks ----------------------------------------------------------------------------------- */
static void block_free(ls__vulkan_device *device, ls__vulkan_block *block)
{
    while (block->first) {
        ls__vulkan_memory *next = block->first->next;
        ls__mem_free(block->first);
        block->first = next;
    }
    device->vk.DestroyBuffer(device->handle, block->buffer, NULL);
    device->vk.FreeMemory(device->handle, block->memory, NULL);
    ls__mem_free(block);
}

/* Binds memory to the block's buffer and finds out where it is. `import` is the structure of an
 * import, or NULL. */
static VkResult fill_block(ls__vulkan_device *device, ls__vulkan_block *block, uint32_t type,
                           const void *import)
{
    VkMemoryRequirements needs;
    device->vk.GetBufferMemoryRequirements(device->handle, block->buffer, &needs);
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = import,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = import ? block->size : needs.size,
        .memoryTypeIndex = type,
    };
    VkResult result = device->vk.AllocateMemory(device->handle, &info, NULL, &block->memory);
    if (result == VK_SUCCESS)
        result = device->vk.BindBufferMemory(device->handle, block->buffer, block->memory, 0);
    if (result != VK_SUCCESS)
        return result;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = block->buffer};
    block->address = device->vk.GetBufferDeviceAddress(device->handle, &address);
    return VK_SUCCESS;
}

static ls__vulkan_memory *piece_new(ls__vulkan_block *block, uint64_t offset, uint64_t size)
{
    ls__vulkan_memory *made = ls__mem_alloc(1, sizeof *made);
    if (made) {
        made->block = block;
        made->offset = offset;
        made->size = size;
    }
    return made;
}

static ls_status block_new(ls__vulkan_device *device, ls__vulkan_heap *heap, uint64_t size,
                           ls__vulkan_block **block, ls_error *error)
{
    ls__vulkan_block *made = ls__mem_alloc(1, sizeof *made);
    VkBufferCreateInfo info = buffer_info(size);
    if (!made || !(made->first = piece_new(made, 0, size))) {
        ls__mem_free(made);
        return ls__fail_oom(error, sizeof *made);
    }
    made->heap = heap;
    made->size = size;
    made->coherent = heap->coherent;
    VkResult result = device->vk.CreateBuffer(device->handle, &info, NULL, &made->buffer);
    if (result == VK_SUCCESS)
        result = fill_block(device, made, heap->type, NULL);
    if (result == VK_SUCCESS && heap->visible)
        result = device->vk.MapMemory(device->handle, made->memory, 0, VK_WHOLE_SIZE, 0,
                                      (void **)&made->host);
    if (result != VK_SUCCESS) {
        block_free(device, made);
        return ls__vulkan_fail(error, result, "allocate memory");
    }
    made->next = heap->first;
    heap->first = made;
    *block = made;
    return LS_OK;
}

static void unlink_block(ls__vulkan_block *block)
{
    ls__vulkan_block **at = &block->heap->first;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
}

void ls__vulkan_heaps_finish(ls__vulkan_device *device)
{
    ls__vulkan_heap *heaps[] = {&device->memory, &device->staging, &device->arguments};
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        while (heaps[i]->first) {
            ls__vulkan_block *block = heaps[i]->first;
            heaps[i]->first = block->next;
            block_free(device, block);
        }
    }
}

/* --- pieces ----------------------------------------------------------------------------------- */
static ls__vulkan_memory *find_free(const ls__vulkan_heap *heap, uint64_t size)
{
    for (const ls__vulkan_block *block = heap->first; block; block = block->next)
        for (ls__vulkan_memory *piece = block->first; piece; piece = piece->next)
            if (!piece->used && piece->size >= size)
                return piece;
    return NULL;
}

/* Cuts what is too much off a free piece. */
static bool cut(ls__vulkan_memory *piece, uint64_t size)
{
    if (piece->size == size)
        return true;
    ls__vulkan_memory *rest = piece_new(piece->block, piece->offset + size, piece->size - size);
    if (!rest)
        return false;
    rest->previous = piece;
    rest->next = piece->next;
    if (rest->next)
        rest->next->previous = rest;
    piece->next = rest;
    piece->size = size;
    return true;
}

/* Joins a free piece with the free one behind it. */
static void join(ls__vulkan_memory *piece)
{
    ls__vulkan_memory *next = piece->next;
    if (piece->used || !next || next->used)
        return;
    piece->size += next->size;
    piece->next = next->next;
    if (piece->next)
        piece->next->previous = piece;
    ls__mem_free(next);
}

static ls_status new_block_for(ls__vulkan_device *device, ls__vulkan_heap *heap, uint64_t size,
                               ls__vulkan_memory **piece, ls_error *error)
{
    ls__vulkan_block *block;
    bool large = size > largest_block / 4;
    uint64_t bytes = heap->next_bytes;
    while (bytes < size)
        bytes *= 2;
    ls_status status = block_new(device, heap, large ? size : bytes, &block, error);
    if (status != LS_OK && !large && bytes > size) /* little is left: just what is needed */
        status = block_new(device, heap, size, &block, error);
    if (status != LS_OK)
        return status;
    if (!large && heap->next_bytes < largest_block)
        heap->next_bytes *= 4;
    if (heap->next_bytes > largest_block)
        heap->next_bytes = largest_block;
    *piece = block->first;
    return LS_OK;
}

ls_status ls__vulkan_take(ls__vulkan_device *device, ls__vulkan_heap *heap, uint64_t asked,
                          ls__vulkan_memory **memory, ls_error *error)
{
    uint64_t limit = device->physical->max_allocation_bytes;
    *memory = NULL;
    if (asked > limit - BEHIND - ALIGNMENT)
        return ls__fail(error, LS_E_OUT_OF_MEMORY,
                        "'%s' has no buffers of %llu bytes, the largest has %llu",
                        device->physical->description, (unsigned long long)asked,
                        (unsigned long long)(limit - BEHIND - ALIGNMENT));
    uint64_t size = (asked + BEHIND + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    ls_status status = LS_OK;
    pthread_mutex_lock(&heap->lock);
    ls__vulkan_memory *piece = find_free(heap, size);
    if (!piece)
        status = new_block_for(device, heap, size, &piece, error);
    if (status == LS_OK && !cut(piece, size))
        status = ls__fail_oom(error, sizeof *piece);
    if (status == LS_OK) {
        piece->used = true;
        piece->block->used_count++;
    }
    pthread_mutex_unlock(&heap->lock);
    if (status != LS_OK)
        return status;
    if (heap == &device->memory && piece->block->host) {
        memset(ls__vulkan_host(piece, 0), 0, size);
        ls__vulkan_flush(device, piece, 0, size);
    } else {
        atomic_store(&piece->dirty, heap == &device->memory);
    }
    *memory = piece;
    return LS_OK;
}

void ls__vulkan_give(ls__vulkan_device *device, ls__vulkan_memory *memory)
{
    if (!memory)
        return;
    ls__vulkan_block *block = memory->block;
    ls__vulkan_heap *heap = block->heap;
    if (!heap) {
        block_free(device, block);
        return;
    }
    pthread_mutex_lock(&heap->lock);
    memory->used = false;
    join(memory);
    if (memory->previous)
        join(memory->previous);
    bool empty = --block->used_count == 0;
    /* One empty block is kept, so that a loop over a single buffer does not come back to Vulkan. */
    if (empty && (block->size > largest_block || block != heap->first || block->next))
        unlink_block(block);
    else
        empty = false;
    pthread_mutex_unlock(&heap->lock);
    if (empty)
        block_free(device, block);
}

/* --- imports ---------------------------------------------------------------------------------- */
static ls_status fail_import(ls_error *error, VkResult result)
{
    ls__vulkan_fail(error, result, "import this memory");
    if (error)
        error->code = error->cause = LS_E_UNSUPPORTED;
    return LS_E_UNSUPPORTED;
}

/* Whole pages are imported, those around the bytes. */
ls_status ls__vulkan_import(ls__vulkan_device *device, void *bytes, uint64_t size,
                            ls__vulkan_memory **memory, ls_error *error)
{
    uint64_t page = device->physical->import_alignment;
    uint64_t begin = (uintptr_t)bytes / page * page;
    uint64_t end = ((uintptr_t)bytes + size + page - 1) / page * page;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    *memory = NULL;
    VkResult result = device->vk.GetMemoryHostPointerPropertiesEXT(
        device->handle, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        (void *)(uintptr_t)begin, &properties);
    if (result != VK_SUCCESS)
        return fail_import(error, result);
    uint32_t type = find_type(
        device, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        properties.memoryTypeBits);
    if (type == UINT32_MAX)
        return ls__fail(error, LS_E_UNSUPPORTED, "this memory cannot be imported coherently");
    ls__vulkan_block *block = ls__mem_alloc(1, sizeof *block);
    ls__vulkan_memory *piece = piece_new(block, (uintptr_t)bytes - begin, size);
    if (!block || !piece) {
        ls__mem_free(block);
        ls__mem_free(piece);
        return ls__fail_oom(error, sizeof *block);
    }
    block->first = piece;
    block->size = end - begin;
    block->coherent = true;
    block->host = (uint8_t *)(uintptr_t)begin;
    piece->used = true;
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = block->host,
    };
    VkBufferCreateInfo info = buffer_info(block->size);
    info.pNext = &external;
    result = device->vk.CreateBuffer(device->handle, &info, NULL, &block->buffer);
    if (result == VK_SUCCESS)
        result = fill_block(device, block, type, &import);
    if (result != VK_SUCCESS) {
        block_free(device, block);
        return fail_import(error, result);
    }
    *memory = piece;
    return LS_OK;
}

/* --- places ----------------------------------------------------------------------------------- */
uint8_t *ls__vulkan_host(const ls__vulkan_memory *memory, uint64_t offset)
{
    uint8_t *host = memory->block->host;
    return host ? host + memory->offset + offset : NULL;
}

uint64_t ls__vulkan_address(const ls__vulkan_memory *memory, uint64_t offset)
{
    return memory->block->address + memory->offset + offset;
}

uint64_t ls__vulkan_place(const ls__vulkan_memory *memory, uint64_t offset)
{
    return memory->offset + offset;
}

/* Pieces start and end at multiples of the unit in which caches are flushed. */
static VkMappedMemoryRange range_of(const ls__vulkan_device *device,
                                    const ls__vulkan_memory *memory, uint64_t offset, uint64_t size)
{
    uint64_t unit = device->physical->properties.limits.nonCoherentAtomSize;
    uint64_t begin = (memory->offset + offset) / unit * unit;
    uint64_t end = (memory->offset + offset + size + unit - 1) / unit * unit;
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = memory->block->memory,
        .offset = begin,
        .size = end < memory->block->size ? end - begin : VK_WHOLE_SIZE,
    };
}

void ls__vulkan_flush(ls__vulkan_device *device, const ls__vulkan_memory *memory, uint64_t offset,
                      uint64_t size)
{
    if (memory->block->coherent)
        return;
    VkMappedMemoryRange range = range_of(device, memory, offset, size);
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    device->vk.FlushMappedMemoryRanges(device->handle, 1, &range);
    ls__vulkan_leave(&guard);
}

void ls__vulkan_invalidate(ls__vulkan_device *device, const ls__vulkan_memory *memory,
                           uint64_t offset, uint64_t size)
{
    if (memory->block->coherent)
        return;
    VkMappedMemoryRange range = range_of(device, memory, offset, size);
    ls__vulkan_guard guard;
    ls__vulkan_enter(&guard);
    device->vk.InvalidateMappedMemoryRanges(device->handle, 1, &range);
    ls__vulkan_leave(&guard);
}
