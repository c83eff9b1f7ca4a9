/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations in host memory, and the map of bytes that have been written. */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/host/host.h"

ls_status ls__host_memory_create(void *bytes, uint64_t size, bool track,
                                 ls__backend_memory **memory, ls_error *error)
{
    *memory = NULL;
    ls__host_memory *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->size = size;
    made->imported = bytes != NULL;
    made->bytes = bytes ? bytes : ls__mem_alloc_data(size);
    if (track && !bytes)
        made->written = ls__mem_alloc(size, 1);
    if (!made->bytes || (track && !bytes && !made->written)) {
        ls__host_release(NULL, (ls__backend_memory *)made);
        return ls__fail_oom(error, size);
    }
    *memory = (ls__backend_memory *)made;
    return LS_OK;
}

ls_status ls__host_import(ls__backend_device *device, void *bytes, uint64_t size,
                          ls__backend_memory **memory, ls_error *error)
{
    (void)device;
    return ls__host_memory_create(bytes, size, false, memory, error);
}

void ls__host_release(ls__backend_device *device, ls__backend_memory *memory)
{
    (void)device;
    ls__host_memory *freed = (ls__host_memory *)memory;
    if (!freed->imported)
        ls__mem_free_data(freed->bytes, freed->size);
    ls__mem_free(freed->written);
    ls__mem_free(freed);
}

ls__host_memory *ls__host_memory_of(const ls__span *span)
{
    return (ls__host_memory *)span->memory;
}

ls_status ls__host_read(ls__backend_device *device, const ls__span *span, void *bytes,
                        ls_error *error)
{
    (void)device;
    (void)error;
    memcpy(bytes, ls__host_memory_of(span)->bytes + span->offset, span->size);
    return LS_OK;
}

ls_status ls__host_write(ls__backend_device *device, const ls__span *span, const void *bytes,
                         ls_error *error)
{
    (void)device;
    (void)error;
    ls__host_memory *memory = ls__host_memory_of(span);
    memcpy(memory->bytes + span->offset, bytes, span->size);
    if (memory->written)
        memset(memory->written + span->offset, 1, span->size);
    return LS_OK;
}

void *ls__host_map(ls__backend_device *device, const ls__span *span, uint32_t access)
{
    (void)device;
    ls__host_memory *memory = ls__host_memory_of(span);
    if (memory->written && access & LS_MAP_WRITE)
        memset(memory->written + span->offset, 1, span->size);
    return memory->bytes + span->offset;
}
