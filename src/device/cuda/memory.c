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
static ls__cu_result allocate(ls__cuda_device *device, uint64_t size, ls__cu_address *address)
{
    const ls__cuda_functions *cu = device->cu;
    uint64_t bytes = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    ls__cu_stream stream = device->host_stream;
    ls__cu_result result = device->pool
                               ? cu->MemAllocFromPoolAsync(address, bytes, device->pool, stream)
                               : cu->MemAlloc(address, bytes);
    if (result != LS__CU_SUCCESS)
        return result;
    result = cu->MemsetD8Async(*address, 0, bytes, stream);
    if (result == LS__CU_SUCCESS)
        result = cu->StreamSynchronize(stream);
    if (result != LS__CU_SUCCESS && device->pool)
        cu->MemFreeAsync(*address, stream);
    else if (result != LS__CU_SUCCESS)
        cu->MemFree(*address);
    return result;
}

ls_status ls__cuda_take(ls__cuda_device *device, uint64_t size, ls__cuda_memory **memory,
                        ls_error *error)
{
    *memory = NULL;
    if (size > UINT64_MAX - ALIGNMENT)
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "'%s' has no buffers of %llu bytes",
                        device->physical->description, (unsigned long long)size);
    ls__cuda_memory *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->size = size;
    pthread_mutex_lock(&device->host_lock);
    ls__cu_result result = allocate(device, size, &made->address);
    pthread_mutex_unlock(&device->host_lock);
    if (result != LS__CU_SUCCESS) {
        ls__mem_free(made);
        ls_status status = ls__cuda_fail(device->cu, error, result, "allocate memory");
        return ls__fail_where(error, status, "%llu bytes of '%s'", (unsigned long long)size,
                              device->physical->description);
    }
    *memory = made;
    return LS_OK;
}

void ls__cuda_give(ls__cuda_device *device, ls__cuda_memory *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&device->host_lock);
    if (memory->imported)
        ls__cuda_unregister(device->cu, memory->imported);
    else if (device->pool)
        device->cu->MemFreeAsync(memory->address, device->host_stream);
    else
        device->cu->MemFree(memory->address);
    pthread_mutex_unlock(&device->host_lock);
    ls__mem_free(memory);
}

/* --- copies for the host ---------------------------------------------------------------------- */
/* The driver stages what is in memory that it does not know. */
static ls_status finish_copy(ls__cuda_device *device, ls__cu_result result, const char *what,
                             ls_error *error)
{
    if (result == LS__CU_SUCCESS)
        result = device->cu->StreamSynchronize(device->host_stream);
    pthread_mutex_unlock(&device->host_lock);
    return result == LS__CU_SUCCESS ? LS_OK : ls__cuda_fail(device->cu, error, result, what);
}

ls_status ls__cuda_read(ls__cuda_device *device, ls__cu_address from, uint64_t size, void *bytes,
                        ls_error *error)
{
    pthread_mutex_lock(&device->host_lock);
    return finish_copy(device, device->cu->MemcpyDtoHAsync(bytes, from, size, device->host_stream),
                       "read memory", error);
}

ls_status ls__cuda_write(ls__cuda_device *device, ls__cu_address to, uint64_t size,
                         const void *bytes, ls_error *error)
{
    pthread_mutex_lock(&device->host_lock);
    return finish_copy(device, device->cu->MemcpyHtoDAsync(to, bytes, size, device->host_stream),
                       "write memory", error);
}
