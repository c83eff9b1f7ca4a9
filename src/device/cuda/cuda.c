/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA device: opening, closing, and the table of the backend.
 *
 * A device is the driver's primary context, which other users of CUDA in the process share; so
 * every entry makes it current and puts back what was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/common/list.h"
#include "device/cuda/cuda.h"
#include "device/cuda/jobs.h"
#include "emit/ptx/target.h"

#define PREFIX "cuda"

ls__cuda_hooks ls__cuda_test_hooks;

static ls__cuda_device *cuda_of(const ls__backend_device *device)
{
    return (ls__cuda_device *)(uintptr_t)device;
}

/* --- the list --------------------------------------------------------------------------------- */
static uint32_t list_kind(bool software, ls_device_info *infos, uint32_t capacity)
{
    ls__device_list list = {.family = PREFIX, .infos = infos, .capacity = capacity};
    const ls__cuda_driver *driver;
    ls_error error = {0};
    bool there = ls__cuda_driver_get(&driver, &error) == LS_OK;
    if (!there && !software)
        ls__list_missing(&list, "CUDA", error.message);
    for (uint32_t i = 0; there && i < driver->physical_count; i++) {
        const ls__cuda_physical *physical = &driver->physical[i];
        char description[128]; /* what is kept for a device ends with its driver */
        snprintf(description, sizeof description, "%.100s, CUDA %u.%u", physical->description,
                 (unsigned)driver->version / 1000, (unsigned)driver->version % 1000 / 10);
        if (physical->software == software)
            ls__list_device(&list, i, software, description, physical->missing);
    }
    return list.count;
}

static uint32_t list_gpus(ls_device_info *infos, uint32_t capacity)
{
    return list_kind(false, infos, capacity);
}

static uint32_t list_emulated(ls_device_info *infos, uint32_t capacity)
{
    return list_kind(true, infos, capacity);
}

/* --- open and close --------------------------------------------------------------------------- */
void ls__cuda_begin_calls(ls__cuda_device *device, ls__cuda_guard *guard)
{
    ls__cuda_enter(guard);
    if (device->context)
        device->cu->CtxPushCurrent(device->context);
}

void ls__cuda_end_calls(ls__cuda_device *device, const ls__cuda_guard *guard)
{
    ls__cu_context context;
    if (device->context)
        device->cu->CtxPopCurrent(&context);
    ls__cuda_leave(guard);
}

/* Also of one that was only half opened. */
static void close_device(ls__backend_device *closed)
{
    ls__cuda_device *device = cuda_of(closed);
    ls__cuda_guard guard;
    ls__cuda_begin_calls(device, &guard);
    if (device->context) {
        ls__cuda_executor_destroy(device);
        ls__cuda_memory_finish(device);
        ls__cuda_shared_close(device);
    }
    ls__cuda_end_calls(device, &guard);
    if (device->context) {
        ls__cuda_enter(&guard);
        device->cu->DevicePrimaryCtxRelease(device->physical->handle);
        ls__cuda_leave(&guard);
    }
    ls__dir_close(&device->cache.dir);
    if (device->lock_ready)
        pthread_mutex_destroy(&device->host_lock);
    ls__mem_free(device);
}

static ls_status make_context(ls__cuda_device *device, ls_error *error)
{
    ls__cuda_guard guard;
    if (pthread_mutex_init(&device->host_lock, NULL) != 0)
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot make a lock");
    device->lock_ready = true;
    ls__cuda_enter(&guard);
    ls__cu_result result =
        device->cu->DevicePrimaryCtxRetain(&device->context, device->physical->handle);
    ls__cuda_leave(&guard);
    if (result == LS__CU_SUCCESS)
        return LS_OK;
    device->context = NULL;
    return ls__cuda_fail(device->cu, error, result, "open the device");
}

static ls_status make_parts(ls__cuda_device *device, const ls_device_params *params,
                            ls_error *error)
{
    ls__cuda_guard guard;
    ls_status status = ls__cuda_describe(device, params->target, error);
    if (status == LS_OK)
        status = make_context(device, error);
    if (status != LS_OK)
        return status;
    ls__cuda_cache_open(device, params);
    ls__cuda_begin_calls(device, &guard);
    status = ls__cuda_shared_open(device, error);
    if (status == LS_OK)
        status = ls__cuda_memory_init(device, error);
    if (status == LS_OK)
        status = ls__cuda_executor_create(device, error);
    ls__cuda_end_calls(device, &guard);
    return status;
}

static ls_status open_device(const ls__backend_open_params *params, ls__backend_device **device,
                             ls_error *error)
{
    const ls__cuda_driver *driver;
    *device = NULL;
    ls_status status = ls__cuda_driver_get(&driver, error);
    if (status != LS_OK)
        return status;
    unsigned long index = strtoul(params->name + strlen(PREFIX ":"), NULL, 10);
    if (index >= driver->physical_count)
        return ls__fail(error, LS_E_NOT_FOUND, "there is no device '%s'", params->name);
    ls__cuda_device *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->driver = driver;
    made->cu = &driver->cu;
    made->physical = &driver->physical[index];
    status = make_parts(made, params->params, error);
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
    return &cuda_of(device)->caps;
}

static uint32_t lowering(const ls__backend_device *device)
{
    return cuda_of(device)->lowering;
}

static const char *target(const ls__backend_device *device)
{
    return cuda_of(device)->target;
}

static const char *whole_target(const ls__backend_device *device)
{
    return cuda_of(device)->whole_target;
}

static uint64_t whole_groups(const ls__backend_device *device, const ls__backend_program *program,
                             uint32_t kernel)
{
    const ls__cuda_device *cuda = cuda_of(device);
    uint64_t most = ((const ls__cuda_program *)program)->kernels[kernel].groups_at_once;
    for (int i = 0; i < 3; i++)
        most = most < cuda->max_grid[i] ? most : cuda->max_grid[i];
    return most;
}

static uint64_t memory_bytes(const ls__backend_device *device)
{
    return ls__cuda_memory_bytes(cuda_of(device));
}

static ls_status allocate(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls_status status = ls__cuda_take(cuda_of(device), size, (ls__cuda_memory **)memory, error);
    ls__cuda_end_calls(cuda_of(device), &guard);
    return status;
}

static ls_status import(ls__backend_device *device, void *bytes, uint64_t size,
                        ls__backend_memory **memory, ls_error *error)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls_status status =
        ls__cuda_import(cuda_of(device), bytes, size, (ls__cuda_memory **)memory, error);
    ls__cuda_end_calls(cuda_of(device), &guard);
    return status;
}

static void release(ls__backend_device *device, ls__backend_memory *memory)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls__cuda_give(cuda_of(device), (ls__cuda_memory *)memory);
    ls__cuda_end_calls(cuda_of(device), &guard);
}

static ls_status read_span(ls__backend_device *device, const ls__span *span, void *bytes,
                           ls_error *error)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls_status status =
        ls__cuda_read(cuda_of(device), ls__cuda_address(span), span->size, bytes, error);
    ls__cuda_end_calls(cuda_of(device), &guard);
    return status;
}

static ls_status write_span(ls__backend_device *device, const ls__span *span, const void *bytes,
                            ls_error *error)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls_status status =
        ls__cuda_write(cuda_of(device), ls__cuda_address(span), span->size, bytes, error);
    ls__cuda_end_calls(cuda_of(device), &guard);
    return status;
}

static ls_status program_build(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error)
{
    return ls__cuda_program_build(cuda_of(device), code, (ls__cuda_program **)program, error);
}

static void program_free(ls__backend_device *device, ls__backend_program *program)
{
    ls__cuda_program_free(cuda_of(device), (ls__cuda_program *)program);
}

static ls_status prepare(ls__backend_device *device, const ls__job *job,
                         ls__backend_prepared **prepared, ls_error *error)
{
    return ls__cuda_prepare(cuda_of(device), job, (ls__cuda_prepared **)prepared, error);
}

static void unprepare(ls__backend_device *device, ls__backend_prepared *prepared)
{
    ls__cuda_guard guard;
    ls__cuda_begin_calls(cuda_of(device), &guard);
    ls__cuda_unprepare(cuda_of(device), (ls__cuda_prepared *)prepared);
    ls__cuda_end_calls(cuda_of(device), &guard);
}

static void start(ls__backend_device *device, ls__job *job)
{
    ls__job_queue_start(&cuda_of(device)->executor->queue, job);
}

static bool run(ls__backend_device *device, ls__job *job)
{
    return ls__job_queue_run(&cuda_of(device)->executor->queue, job);
}

static void cancel(ls__backend_device *device, ls__job *job)
{
    ls__job_queue_cancel(&cuda_of(device)->executor->queue, job);
}

/* Not chosen unasked until it has been proven on hardware as the reference has. */
#define TABLE(list_)                                                                               \
    {                                                                                              \
        .family = PREFIX, .list = list_, .open = open_device, .close = close_device,               \
        .caps = caps_of, .lowering = lowering, .target = target, .whole_target = whole_target,     \
        .whole_groups = whole_groups, .has_targets = true, .memory_bytes = memory_bytes,           \
        .allocate = allocate, .import = import, .release = release, .read = read_span,             \
        .write = write_span, .program_build = program_build, .program_free = program_free,         \
        .prepare = prepare, .unprepare = unprepare, .start = start, .run = run, .cancel = cancel,  \
        .cancel_grace_ns = (LS__CUDA_GRACE_S + 1) * UINT64_C(1000000000), .optimize = true,        \
        .only_by_name = true                                                                       \
    }

const ls__backend ls__cuda_backend = TABLE(list_gpus);
const ls__backend ls__cuda_emulated_backend = TABLE(list_emulated);
