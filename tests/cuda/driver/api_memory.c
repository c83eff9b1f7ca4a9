/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device and of the host: allocations, pools, copies, fills. */
#include <stdlib.h>
#include <string.h>
#include "driver.h"

enum { PAGE = 4096, GAP = 65536 };

/* Device addresses, which processors do not map: bit 47 alone. */
static uint64_t next_address = UINT64_C(0x0000900000000000);

/* --- the table ----------------------------------------------------------------------------------
 */
/* The first allocation that ends behind the address. */
static size_t position_of(const context *c, uint64_t address)
{
    size_t low = 0, high = c->allocation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const allocation *a = c->allocations[middle];
        if (a->start + a->size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

allocation *memory_find(context *c, uint64_t address, uint64_t size)
{
    size_t at = position_of(c, address);
    if (at == c->allocation_count)
        return NULL;
    allocation *a = c->allocations[at];
    if (address < a->start || size > a->size - (address - a->start))
        return NULL;
    a->references++;
    return a;
}

static void enter_table(context *c, allocation *a)
{
    if (c->allocation_count == c->allocation_capacity) {
        c->allocation_capacity = c->allocation_capacity * 2 + 16;
        c->allocations =
            driver_need(realloc(c->allocations, c->allocation_capacity * sizeof *c->allocations));
    }
    size_t at = position_of(c, a->start);
    memmove(c->allocations + at + 1, c->allocations + at,
            (c->allocation_count - at) * sizeof *c->allocations);
    c->allocations[at] = a;
    c->allocation_count++;
}

void memory_release(allocation *a)
{
    if (!a || --a->references)
        return;
    if (a->owned)
        free(a->bytes);
    free(a);
}

void memory_forget(context *c, allocation *a)
{
    size_t at = position_of(c, a->start);
    if (at == c->allocation_count || c->allocations[at] != a)
        return;
    c->allocation_count--;
    memmove(c->allocations + at, c->allocations + at + 1,
            (c->allocation_count - at) * sizeof *c->allocations);
    if (!a->host) {
        c->device_bytes -= a->size;
        if (a->pool)
            a->pool->used -= a->size;
    }
    memory_release(a);
}

void memory_destroy_all(context *c)
{
    while (c->allocation_count)
        memory_forget(c, c->allocations[c->allocation_count - 1]);
    free(c->allocations);
}

/* With the lock held. The contents are a pattern. */
CUresult memory_create(context *c, uint64_t size, pool *from, allocation **result)
{
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (size >
        setting.memory - (c->device_bytes < setting.memory ? c->device_bytes : setting.memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (from && from->most && size > from->most - from->used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    unsigned char *bytes = aligned_alloc(512, (size + 511) / 512 * 512);
    if (!bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(bytes, 0xcb, size);
    allocation *a = driver_need(calloc(1, sizeof *a));
    *a = (allocation){.start = next_address,
                      .size = size,
                      .bytes = bytes,
                      .owned = true,
                      .pool = from,
                      .references = 1};
    next_address += (size + 511) / 512 * 512 + GAP;
    c->device_bytes += size;
    if (from)
        from->used += size;
    enter_table(c, a);
    *result = a;
    return CUDA_SUCCESS;
}

/* --- device memory ------------------------------------------------------------------------------
 */
static CUresult create(context *c, CUdeviceptr *address, size_t size, pool *from)
{
    allocation *a = NULL;
    CUresult result = fault_count(COUNT_alloc);
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    if (fault_is_late(result)) {
        context_break(c, result, "an allocation fails on request");
        return result;
    }
    pthread_mutex_lock(&driver_lock);
    if (result == CUDA_SUCCESS)
        result = memory_create(c, size, from, &a);
    if (result == CUDA_SUCCESS)
        *address = a->start;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

API cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    ENTER(c);
    return create(c, address, size, NULL);
}

API cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool from, CUstream stream)
{
    ENTER(c);
    (void)stream;
    return create(c, address, size, from ? from : &c->pool);
}

API cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    return cuMemAllocFromPoolAsync(address, size, NULL, stream);
}

/* The allocation that begins there, with a reference; NULL when there is none. */
static allocation *begins_at(context *c, uint64_t address, bool host)
{
    pthread_mutex_lock(&driver_lock);
    allocation *a = memory_find(c, address, 1);
    if (a && (a->start != address || a->host != host || a->leaving)) {
        memory_release(a);
        a = NULL;
    }
    pthread_mutex_unlock(&driver_lock);
    return a;
}

static void drop(context *c, allocation *a)
{
    pthread_mutex_lock(&driver_lock);
    memory_forget(c, a);
    memory_release(a);
    pthread_mutex_unlock(&driver_lock);
}

API cuMemFree_v2(CUdeviceptr address)
{
    ENTER(c);
    fault_count(COUNT_free);
    if (!address)
        return CUDA_SUCCESS;
    allocation *a = begins_at(c, address, false);
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    stream_wait_all(c);
    drop(c, a);
    return context_state(c);
}

API cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    ENTER(c);
    fault_count(COUNT_free);
    allocation *a = begins_at(c, address, false);
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    work *w = work_create(WORK_FREE);
    a->leaving = true;
    w->memory = a;
    return stream_submit(stream_of(c, stream), w);
}

API cuMemGetInfo_v2(size_t *left, size_t *total)
{
    ENTER(c);
    pthread_mutex_lock(&driver_lock);
    *left = setting.memory - c->device_bytes;
    *total = setting.memory;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *size, CUdeviceptr address)
{
    ENTER(c);
    pthread_mutex_lock(&driver_lock);
    allocation *a = memory_find(c, address, 1);
    if (a && start)
        *start = a->start;
    if (a && size)
        *size = a->size;
    memory_release(a);
    pthread_mutex_unlock(&driver_lock);
    return a ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* --- pools --------------------------------------------------------------------------------------
 */
API cuMemPoolCreate(CUmemoryPool *result, const CUmemPoolProps *properties)
{
    ENTER(c);
    if (!properties || properties->allocType != 1 || properties->location.type != 1 ||
        properties->location.id != c->device || properties->handleTypes != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pool *p = driver_need(calloc(1, sizeof *p));
    p->context = c;
    p->most = properties->maxSize;
    pthread_mutex_lock(&driver_lock);
    c->live_pools++;
    pthread_mutex_unlock(&driver_lock);
    *result = p;
    return CUDA_SUCCESS;
}

/* Memory of the pool stays until it is freed, but counts no more. */
API cuMemPoolDestroy(CUmemoryPool p)
{
    ENTER(c);
    if (!p || p == &c->pool)
        return CUDA_ERROR_INVALID_VALUE;
    stream_wait_all(c);
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; i < c->allocation_count; i++)
        if (c->allocations[i]->pool == p)
            c->allocations[i]->pool = NULL;
    c->live_pools--;
    pthread_mutex_unlock(&driver_lock);
    free(p);
    return CUDA_SUCCESS;
}

API cuMemPoolSetAttribute(CUmemoryPool p, int attribute, void *value)
{
    if (!p || !value || attribute < 1 || attribute > 8)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == POOL_RELEASE_THRESHOLD)
        memcpy(&p->threshold, value, sizeof p->threshold);
    return CUDA_SUCCESS;
}

API cuMemPoolGetAttribute(CUmemoryPool p, int attribute, void *value)
{
    if (!p || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == POOL_RELEASE_THRESHOLD)
        memcpy(value, &p->threshold, sizeof p->threshold);
    else if (attribute >= POOL_RESERVED_CURRENT && attribute <= POOL_USED_CURRENT + 1)
        memcpy(value, &p->used, sizeof p->used);
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

API cuMemPoolTrimTo(CUmemoryPool p, size_t bytes)
{
    (void)bytes;
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API cuDeviceGetDefaultMemPool(CUmemoryPool *p, CUdevice device)
{
    ENTER(c);
    (void)device;
    *p = &c->pool;
    return CUDA_SUCCESS;
}

API cuDeviceGetMemPool(CUmemoryPool *p, CUdevice device)
{
    return cuDeviceGetDefaultMemPool(p, device);
}

/* --- host memory --------------------------------------------------------------------------------
 */
static CUresult enter_host(context *c, void *memory, size_t size, bool owned)
{
    pthread_mutex_lock(&driver_lock);
    uint64_t start = (uint64_t)(uintptr_t)memory;
    size_t at = position_of(c, start);
    bool overlaps = at < c->allocation_count && c->allocations[at]->start < start + size;
    if (!overlaps) {
        allocation *a = driver_need(calloc(1, sizeof *a));
        *a = (allocation){.start = start,
                          .size = size,
                          .bytes = memory,
                          .owned = owned,
                          .host = true,
                          .references = 1};
        enter_table(c, a);
    }
    pthread_mutex_unlock(&driver_lock);
    return overlaps ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_SUCCESS;
}

API cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_host_alloc);
    if (fault != CUDA_SUCCESS)
        return fault;
    if (!memory || size == 0 || flags > 7)
        return CUDA_ERROR_INVALID_VALUE;
    *memory = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (!*memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(*memory, 0xcb, size);
    return enter_host(c, *memory, size, true);
}

API cuMemAllocHost_v2(void **memory, size_t size)
{
    return cuMemHostAlloc(memory, size, 0);
}

static CUresult leave_host(void *memory, bool owned)
{
    ENTER(c);
    allocation *a = begins_at(c, (uint64_t)(uintptr_t)memory, true);
    if (!a)
        return owned ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    stream_wait_all(c);
    drop(c, a);
    return context_state(c);
}

API cuMemFreeHost(void *memory)
{
    return leave_host(memory, true);
}

API cuMemHostRegister_v2(void *memory, size_t size, unsigned flags)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_host_alloc);
    if (fault != CUDA_SUCCESS)
        return fault;
    if (!memory || size == 0 || flags > 15)
        return CUDA_ERROR_INVALID_VALUE;
    return enter_host(c, memory, size, false);
}

API cuMemHostUnregister(void *memory)
{
    return leave_host(memory, false);
}

API cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags)
{
    ENTER(c);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    allocation *a = memory_find(c, (uint64_t)(uintptr_t)memory, 1);
    bool good = a && a->host;
    memory_release(a);
    pthread_mutex_unlock(&driver_lock);
    *address = (uint64_t)(uintptr_t)memory;
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* --- copies -------------------------------------------------------------------------------------
 */
/* Bytes of the device, with a reference in *held; or of the host as they are. */
static unsigned char *place_of(context *c, int type, const void *host, uint64_t address,
                               uint64_t size, allocation **held)
{
    if (type == MEMORY_TYPE_HOST)
        return (unsigned char *)(uintptr_t)host;
    pthread_mutex_lock(&driver_lock);
    *held = memory_find(c, address, size);
    pthread_mutex_unlock(&driver_lock);
    return *held ? (*held)->bytes + (address - (*held)->start) : NULL;
}

/* A word is copied whole: kernels may be looking at it. */
static void copy_bytes(unsigned char *to, const unsigned char *from, size_t size)
{
    if (size == 4 && ((uintptr_t)to | (uintptr_t)from) % 4 == 0)
        __atomic_store_n((uint32_t *)(void *)to,
                         __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
    else
        memmove(to, from, size);
}

static CUresult copy_row(context *c, const work *w, size_t y, size_t z)
{
    const CUDA_MEMCPY3D *m = &w->copy;
    allocation *from_held = NULL, *to_held = NULL;
    uint64_t from_at = m->srcXInBytes + (m->srcY + y + (m->srcZ + z) * m->srcHeight) * m->srcPitch;
    uint64_t to_at = m->dstXInBytes + (m->dstY + y + (m->dstZ + z) * m->dstHeight) * m->dstPitch;
    const unsigned char *host = w->staged    ? w->staged + (z * m->Height + y) * m->WidthInBytes
                                : m->srcHost ? (const unsigned char *)m->srcHost + from_at
                                             : NULL;
    unsigned char *from =
        place_of(c, m->srcMemoryType, host, m->srcDevice + from_at, m->WidthInBytes, &from_held);
    unsigned char *to =
        place_of(c, m->dstMemoryType, m->dstHost ? (unsigned char *)m->dstHost + to_at : NULL,
                 m->dstDevice + to_at, m->WidthInBytes, &to_held);
    if (from && to)
        copy_bytes(to, from, m->WidthInBytes);
    pthread_mutex_lock(&driver_lock);
    memory_release(from_held);
    memory_release(to_held);
    pthread_mutex_unlock(&driver_lock);
    return from && to ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult memory_run_copy(context *c, work *w)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < w->copy.Depth; z++)
        for (size_t y = 0; y < w->copy.Height && result == CUDA_SUCCESS; y++)
            result = copy_row(c, w, y, z);
    if (result != CUDA_SUCCESS)
        context_break(c, result, "a copy is outside of every allocation");
    return result;
}

CUresult memory_run_set(context *c, const work *w)
{
    const CUDA_MEMSET_NODE_PARAMS *s = &w->set;
    for (size_t y = 0; y < s->height; y++) {
        allocation *held = NULL;
        size_t size = s->width * s->elementSize;
        unsigned char *to =
            place_of(c, MEMORY_TYPE_DEVICE, NULL, s->dst + y * s->pitch, size, &held);
        for (size_t i = 0; to && i < s->width; i++)
            memcpy(to + i * s->elementSize, &s->value, s->elementSize);
        pthread_mutex_lock(&driver_lock);
        memory_release(held);
        pthread_mutex_unlock(&driver_lock);
        if (!to) {
            context_break(c, CUDA_ERROR_ILLEGAL_ADDRESS, "a fill is outside of every allocation");
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
    }
    return CUDA_SUCCESS;
}

static bool is_known(context *c, uint64_t address, size_t size, bool host)
{
    pthread_mutex_lock(&driver_lock);
    allocation *a = memory_find(c, address, size);
    bool known = a && (!host || a->host);
    memory_release(a);
    pthread_mutex_unlock(&driver_lock);
    return known;
}

/* Of pageable memory, a copy to the device takes the bytes at once, and one to the host is over
 * when the call returns. */
static CUresult submit_copy(context *c, stream *s, int from_type, uint64_t from, int to_type,
                            uint64_t to, size_t size, bool wait)
{
    CUresult fault = fault_count(COUNT_copy);
    if (fault != CUDA_SUCCESS && !fault_is_late(fault))
        return fault;
    if (size == 0)
        return CUDA_SUCCESS;
    if ((from_type == MEMORY_TYPE_DEVICE && !is_known(c, from, size, false)) ||
        (to_type == MEMORY_TYPE_DEVICE && !is_known(c, to, size, false)))
        return CUDA_ERROR_INVALID_VALUE;
    work *w = work_create(WORK_COPY);
    w->fault = fault;
    w->copy = (CUDA_MEMCPY3D){.srcMemoryType = from_type,
                              .dstMemoryType = to_type,
                              .WidthInBytes = size,
                              .Height = 1,
                              .Depth = 1};
    if (from_type == MEMORY_TYPE_HOST)
        w->copy.srcHost = (const void *)(uintptr_t)from;
    else
        w->copy.srcDevice = from;
    if (to_type == MEMORY_TYPE_HOST)
        w->copy.dstHost = (void *)(uintptr_t)to;
    else
        w->copy.dstDevice = to;
    if (from_type == MEMORY_TYPE_HOST && !is_known(c, from, size, true)) {
        w->staged = driver_need(malloc(size));
        memcpy(w->staged, w->copy.srcHost, size);
    }
    wait |= to_type == MEMORY_TYPE_HOST && !is_known(c, to, size, true);
    CUresult result = stream_submit(s, w);
    return result == CUDA_SUCCESS && wait ? stream_wait(s) : result;
}

#define COPY(name, from_type, from_kind, to_type, to_kind)                                         \
    API cuMemcpy##name##Async_v2(to_kind to, from_kind from, size_t size, CUstream s)              \
    {                                                                                              \
        ENTER(c);                                                                                  \
        return submit_copy(c, stream_of(c, s), from_type, (uint64_t)(uintptr_t)from, to_type,      \
                           (uint64_t)(uintptr_t)to, size, false);                                  \
    }                                                                                              \
    API cuMemcpy##name##_v2(to_kind to, from_kind from, size_t size)                               \
    {                                                                                              \
        ENTER(c);                                                                                  \
        return submit_copy(c, &c->legacy, from_type, (uint64_t)(uintptr_t)from, to_type,           \
                           (uint64_t)(uintptr_t)to, size, true);                                   \
    }
COPY(HtoD, MEMORY_TYPE_HOST, const void *, MEMORY_TYPE_DEVICE, CUdeviceptr)
COPY(DtoH, MEMORY_TYPE_DEVICE, CUdeviceptr, MEMORY_TYPE_HOST, void *)
COPY(DtoD, MEMORY_TYPE_DEVICE, CUdeviceptr, MEMORY_TYPE_DEVICE, CUdeviceptr)

static CUresult submit_set(context *c, stream *s, CUdeviceptr to, unsigned value, unsigned element,
                           size_t count, bool wait)
{
    CUresult fault = fault_count(COUNT_set);
    if (fault != CUDA_SUCCESS && !fault_is_late(fault))
        return fault;
    if (count == 0)
        return CUDA_SUCCESS;
    if (to % element != 0 || !is_known(c, to, count * element, false))
        return CUDA_ERROR_INVALID_VALUE;
    work *w = work_create(WORK_SET);
    w->fault = fault;
    w->set = (CUDA_MEMSET_NODE_PARAMS){to, 0, value, element, count, 1};
    CUresult result = stream_submit(s, w);
    return result == CUDA_SUCCESS && wait ? stream_wait(s) : result;
}

#define SET(bits, T)                                                                               \
    API cuMemsetD##bits##Async(CUdeviceptr to, T value, size_t count, CUstream s)                  \
    {                                                                                              \
        ENTER(c);                                                                                  \
        return submit_set(c, stream_of(c, s), to, value, bits / 8, count, false);                  \
    }                                                                                              \
    API cuMemsetD##bits##_v2(CUdeviceptr to, T value, size_t count)                                \
    {                                                                                              \
        ENTER(c);                                                                                  \
        return submit_set(c, &c->legacy, to, value, bits / 8, count, true);                        \
    }
SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned)
