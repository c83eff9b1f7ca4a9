/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports: memory of the host, registered so that kernels see it at an address of its own.
 *
 * The driver registers memory once a process, for all devices, and refuses a second time; so what
 * is registered is kept in a list, and imports inside of it share it.
 */
#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/device.h"

/* The smallest there is: where pages are larger, what lies in one is there as well. */
enum { PAGE = 4096 };

typedef struct ls__cuda_region {
    uintptr_t begin, end;
    uint32_t users;
    struct ls__cuda_region *next;
} ls__cuda_region;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ls__cuda_region *first; /* under the lock */

/* Under the lock. */
static ls__cuda_region *find_region(uintptr_t begin, uintptr_t end)
{
    for (ls__cuda_region *region = first; region; region = region->next)
        if (region->begin <= begin && end <= region->end)
            return region;
    return NULL;
}

/* Under the lock. */
static ls__cu_result make_region(const ls__cuda_functions *cu, uintptr_t begin, uintptr_t end,
                                 ls__cuda_region **region)
{
    ls__cuda_region *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return LS__CU_OUT_OF_MEMORY;
    ls__cu_result result =
        cu->MemHostRegister((void *)begin, end - begin,
                            LS__CU_HOST_REGISTER_PORTABLE | LS__CU_HOST_REGISTER_DEVICE_MAP);
    if (result != LS__CU_SUCCESS) {
        ls__mem_free(made);
        return result;
    }
    *made = (ls__cuda_region){.begin = begin, .end = end, .next = first};
    *region = first = made;
    return LS__CU_SUCCESS;
}

static ls__cu_result register_memory(const ls__cuda_functions *cu, void *bytes, uint64_t size,
                                     ls__cuda_region **region)
{
    uintptr_t begin = (uintptr_t)bytes / PAGE * PAGE;
    uintptr_t end = ((uintptr_t)bytes + size + PAGE - 1) / PAGE * PAGE;
    ls__cu_result result = LS__CU_SUCCESS;
    pthread_mutex_lock(&lock);
    *region = find_region(begin, end);
    if (!*region)
        result = make_region(cu, begin, end, region);
    if (result == LS__CU_SUCCESS)
        (*region)->users++;
    pthread_mutex_unlock(&lock);
    return result;
}

void ls__cuda_unregister(const ls__cuda_functions *cu, ls__cuda_region *region)
{
    pthread_mutex_lock(&lock);
    if (--region->users == 0) {
        ls__cuda_region **at = &first;
        while (*at != region)
            at = &(*at)->next;
        *at = region->next;
        cu->MemHostUnregister((void *)region->begin);
        ls__mem_free(region);
    }
    pthread_mutex_unlock(&lock);
}

ls_status ls__cuda_import(ls__cuda_device *device, void *bytes, uint64_t size,
                          ls__cuda_memory **memory, ls_error *error)
{
    const ls__cuda_functions *cu = device->cu;
    ls__cuda_region *region = NULL;
    ls__cu_address address = 0;
    *memory = NULL;
    ls__cuda_memory *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls__cu_result result = register_memory(cu, bytes, size, &region);
    if (result == LS__CU_SUCCESS) {
        result = cu->MemHostGetDevicePointer(&address, (void *)region->begin, 0);
        if (result != LS__CU_SUCCESS)
            ls__cuda_unregister(cu, region);
    }
    if (result == LS__CU_SUCCESS) {
        *made = (ls__cuda_memory){.address = address + ((uintptr_t)bytes - region->begin),
                                  .size = size,
                                  .imported = region};
        *memory = made;
        return LS_OK;
    }
    ls__mem_free(made);
    if (ls__cuda_fail(cu, error, result, "import this memory") == LS_E_INDETERMINATE)
        return LS_E_INDETERMINATE;
    if (error)
        error->code = error->cause = LS_E_UNSUPPORTED;
    return LS_E_UNSUPPORTED;
}
