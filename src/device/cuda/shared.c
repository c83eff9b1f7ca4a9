/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices share that are opened of one GPU at the same time: their context is one.
 *
 * The driver waits for all work of a context before it frees memory, pinned memory, a pool or a
 * module. So memory is kept for the next who needs it, the pool until the last device is closed,
 * and modules are unloaded between jobs, and only while there is no second device that might run
 * one.
 */
#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/device.h"

enum { LEAST_BYTES = 4096 };
static const uint64_t kept_bytes = UINT64_MAX; /* free memory stays in the pool */

/* Stands in the memory itself while nobody uses it. */
typedef struct spare {
    struct spare *next;
    uint64_t size;
} spare;

typedef struct shared {
    uint32_t users;
    ls__cu_pool pool;        /* NULL: none */
    spare *first;            /* pinned memory */
    ls__cuda_memory *memory; /* spare, where there is no pool */
    ls__cuda_program *retired;
} shared;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shared all[LS__CUDA_MAX_DEVICES]; /* under the lock; by physical device */

static shared *shared_of(const ls__cuda_device *device)
{
    return &all[device->physical->handle];
}

/* --- the pool --------------------------------------------------------------------------------- */
static ls__cu_result make_pool(const ls__cuda_device *device, ls__cu_pool *pool)
{
    ls__cu_pool_params params = {
        .allocation_type = LS__CU_ALLOCATION_PINNED,
        .location_type = LS__CU_LOCATION_DEVICE,
        .location = device->physical->handle,
    };
    uint64_t threshold = kept_bytes;
    ls__cu_result result = device->cu->MemPoolCreate(pool, &params);
    if (result != LS__CU_SUCCESS)
        return result;
    result = device->cu->MemPoolSetAttribute(*pool, LS__CU_POOL_RELEASE_THRESHOLD, &threshold);
    if (result != LS__CU_SUCCESS) {
        device->cu->MemPoolDestroy(*pool);
        *pool = NULL;
    }
    return result;
}

ls_status ls__cuda_shared_open(ls__cuda_device *device, ls_error *error)
{
    shared *s = shared_of(device);
    ls__cu_result result = LS__CU_SUCCESS;
    bool pools = device->physical->pools && !ls__cuda_test_hooks.plain_memory;
    pthread_mutex_lock(&lock);
    if (pools && !s->pool)
        result = make_pool(device, &s->pool);
    if (result == LS__CU_SUCCESS) {
        device->pool = pools ? s->pool : NULL;
        device->shares = true;
        s->users++;
    }
    pthread_mutex_unlock(&lock);
    return result == LS__CU_SUCCESS ? LS_OK
                                    : ls__cuda_fail(device->cu, error, result, "make a pool");
}

/* Under the lock. */
static void unload(const ls__cuda_device *device, shared *s)
{
    while (s->retired) {
        ls__cuda_program *program = s->retired;
        s->retired = program->next;
        device->cu->ModuleUnload(program->module);
        ls__cuda_program_drop(program);
    }
}

/* Under the lock. */
static void free_memory(const ls__cuda_device *device, shared *s)
{
    while (s->memory) {
        ls__cuda_memory *freed = s->memory;
        s->memory = freed->next;
        device->cu->MemFree(freed->address);
        ls__mem_free(freed);
    }
}

void ls__cuda_shared_close(ls__cuda_device *device)
{
    shared *s = shared_of(device);
    if (!device->shares)
        return;
    pthread_mutex_lock(&lock);
    bool last = --s->users == 0;
    if (last) {
        unload(device, s);
        free_memory(device, s);
    }
    while (last && s->first) {
        spare *freed = s->first;
        s->first = freed->next;
        device->cu->MemFreeHost(freed);
    }
    if (last && s->pool) {
        device->cu->MemPoolDestroy(s->pool);
        s->pool = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* --- modules ---------------------------------------------------------------------------------- */
void ls__cuda_retire(ls__cuda_device *device, ls__cuda_program *program)
{
    shared *s = shared_of(device);
    pthread_mutex_lock(&lock);
    program->next = s->retired;
    s->retired = program;
    pthread_mutex_unlock(&lock);
}

void ls__cuda_unload_retired(ls__cuda_device *device)
{
    shared *s = shared_of(device);
    pthread_mutex_lock(&lock);
    if (s->users == 1)
        unload(device, s);
    pthread_mutex_unlock(&lock);
}

/* --- memory where there is no pool ------------------------------------------------------------ */
/* What is spare serves requests that take most of it. */
static ls__cuda_memory *find_spare(shared *s, uint64_t bytes)
{
    for (ls__cuda_memory **at = &s->memory; *at; at = &(*at)->next) {
        ls__cuda_memory *found = *at;
        if (found->capacity < bytes || found->capacity - bytes > bytes / 4)
            continue;
        *at = found->next;
        return found;
    }
    return NULL;
}

/* What is spare is given up when there is no other memory left. */
static ls__cu_result allocate(ls__cuda_device *device, shared *s, uint64_t bytes,
                              ls__cuda_memory *memory)
{
    ls__cu_result result = device->cu->MemAlloc(&memory->address, bytes);
    if (result == LS__CU_OUT_OF_MEMORY && s->memory) {
        free_memory(device, s);
        result = device->cu->MemAlloc(&memory->address, bytes);
    }
    memory->capacity = bytes;
    return result;
}

ls__cu_result ls__cuda_spare_take(ls__cuda_device *device, uint64_t size, ls__cuda_memory **memory)
{
    shared *s = shared_of(device);
    uint64_t bytes = (size + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES;
    ls__cu_result result = LS__CU_SUCCESS;
    pthread_mutex_lock(&lock);
    *memory = find_spare(s, bytes);
    if (!*memory) {
        *memory = ls__mem_alloc(1, sizeof **memory);
        result = *memory ? allocate(device, s, bytes, *memory) : LS__CU_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&lock);
    if (result != LS__CU_SUCCESS) {
        ls__mem_free(*memory);
        *memory = NULL;
    }
    return result;
}

void ls__cuda_spare_give(ls__cuda_device *device, ls__cuda_memory *memory)
{
    shared *s = shared_of(device);
    pthread_mutex_lock(&lock);
    memory->next = s->memory;
    s->memory = memory;
    pthread_mutex_unlock(&lock);
}

/* --- pinned memory ---------------------------------------------------------------------------- */
static uint64_t rounded(uint64_t bytes)
{
    uint64_t size = LEAST_BYTES;
    while (size < bytes)
        size *= 2;
    return size;
}

ls__cu_result ls__cuda_pinned_take(const ls__cuda_device *device, uint64_t bytes, void **memory)
{
    uint64_t size = rounded(bytes);
    pthread_mutex_lock(&lock);
    spare **at = &shared_of(device)->first;
    while (*at && (*at)->size != size)
        at = &(*at)->next;
    *memory = *at;
    if (*at)
        *at = (*at)->next;
    pthread_mutex_unlock(&lock);
    return *memory ? LS__CU_SUCCESS
                   : device->cu->MemHostAlloc(memory, size, LS__CU_HOST_ALLOC_PORTABLE);
}

void ls__cuda_pinned_give(const ls__cuda_device *device, void *memory, uint64_t bytes)
{
    spare *given = memory;
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    given->size = rounded(bytes);
    given->next = shared_of(device)->first;
    shared_of(device)->first = given;
    pthread_mutex_unlock(&lock);
}
