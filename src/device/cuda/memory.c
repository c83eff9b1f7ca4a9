/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: from a pool of the driver's where it has them, which hands out and takes back in the
 * order of a stream and keeps what is free; else from its plain allocator. What is handed out is
 * zero.
 *
 * All of this, and the copies that the host asks for, goes through one stream, whose users take
 * turns and wait for it. Jobs run on other streams, so nobody waits for a kernel here.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/device.h"

/* Sizes that kernels read words of are whole words. */
enum { ALIGNMENT = 16 };

ls_status ls__cuda_memory_init(ls__cuda_device *device, ls_error *error)
{
    ls__cu_result result =
        device->cu->StreamCreate(&device->host_stream, LS__CU_STREAM_NON_BLOCKING);
    return result == LS__CU_SUCCESS ? LS_OK
                                    : ls__cuda_fail(device->cu, error, result, "make a stream");
}

void ls__cuda_memory_finish(ls__cuda_device *device)
{
    if (device->host_stream)
        device->cu->StreamDestroy(device->host_stream);
    device->host_stream = NULL;
}

/* --- taking and giving ------------------------------------------------------------------------ */
/* Under the lock. */
static ls__cu_result from_pool(ls__cuda_device *device, uint64_t bytes, ls__cuda_memory **memory)
{
    ls__cuda_memory *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return LS__CU_OUT_OF_MEMORY;
    ls__cu_result result =
        device->cu->MemAllocFromPoolAsync(&made->address, bytes, device->pool, device->host_stream);
    if (result == LS__CU_SUCCESS)
        *memory = made;
    else
        ls__mem_free(made);
    return result;
}

/* Under the lock. */
static void give_back(ls__cuda_device *device, ls__cuda_memory *memory)
{
    if (!device->pool) {
        ls__cuda_spare_give(device, memory);
        return;
    }
    device->cu->MemFreeAsync(memory->address, device->host_stream);
    ls__mem_free(memory);
}

/* Under the lock. */
static ls__cu_result allocate(ls__cuda_device *device, uint64_t size, ls__cuda_memory **memory)
{
    const ls__cuda_functions *cu = device->cu;
    uint64_t bytes = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    ls__cu_result result = device->pool ? from_pool(device, bytes, memory)
                                        : ls__cuda_spare_take(device, bytes, memory);
    if (result != LS__CU_SUCCESS)
        return result;
    (*memory)->size = size;
    (*memory)->used = (*memory)->fetched = 0;
    result = cu->MemsetD8Async((*memory)->address, 0, bytes, device->host_stream);
    if (result == LS__CU_SUCCESS)
        result = cu->StreamSynchronize(device->host_stream);
    if (result != LS__CU_SUCCESS) {
        give_back(device, *memory);
        *memory = NULL;
    }
    return result;
}

ls_status ls__cuda_take(ls__cuda_device *device, uint64_t size, ls__cuda_memory **memory,
                        ls_error *error)
{
    *memory = NULL;
    if (size > UINT64_MAX / 2)
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "'%s' has no buffers of %llu bytes",
                        device->physical->description, (unsigned long long)size);
    pthread_mutex_lock(&device->host_lock);
    ls__cu_result result = allocate(device, size, memory);
    pthread_mutex_unlock(&device->host_lock);
    if (result == LS__CU_SUCCESS)
        return LS_OK;
    ls_status status = ls__cuda_fail(device->cu, error, result, "allocate memory");
    return ls__fail_where(error, status, "%llu bytes of '%s'", (unsigned long long)size,
                          device->physical->description);
}

void ls__cuda_give(ls__cuda_device *device, ls__cuda_memory *memory)
{
    if (!memory)
        return;
    if (memory->imported) {
        ls__cuda_unregister(device->cu, memory->imported);
        ls__mem_free(memory);
        return;
    }
    pthread_mutex_lock(&device->host_lock);
    give_back(device, memory);
    pthread_mutex_unlock(&device->host_lock);
}

/* --- copies for the host ---------------------------------------------------------------------- */
/* The driver stages what is in memory that it does not know. */
static ls__cu_result finish_copy(ls__cuda_device *device, ls__cu_result result)
{
    if (result == LS__CU_SUCCESS)
        result = device->cu->StreamSynchronize(device->host_stream);
    pthread_mutex_unlock(&device->host_lock);
    return result;
}

ls__cu_result ls__cuda_fetch(ls__cuda_device *device, ls__cu_address from, uint64_t size,
                             void *bytes)
{
    pthread_mutex_lock(&device->host_lock);
    return finish_copy(device, device->cu->MemcpyDtoHAsync(bytes, from, size, device->host_stream));
}

ls_status ls__cuda_read(ls__cuda_device *device, ls__cu_address from, uint64_t size, void *bytes,
                        ls_error *error)
{
    ls__cu_result result = ls__cuda_fetch(device, from, size, bytes);
    return result == LS__CU_SUCCESS
               ? LS_OK
               : ls__cuda_fail_bytes(device->cu, error, result, "read memory of", size);
}

ls_status ls__cuda_write(ls__cuda_device *device, ls__cu_address to, uint64_t size,
                         const void *bytes, ls_error *error)
{
    pthread_mutex_lock(&device->host_lock);
    ls__cu_result result =
        finish_copy(device, device->cu->MemcpyHtoDAsync(to, bytes, size, device->host_stream));
    return result == LS__CU_SUCCESS
               ? LS_OK
               : ls__cuda_fail_bytes(device->cu, error, result, "write memory of", size);
}
