/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: creation, import, maps, host reads and writes, and the checks that every range of a
 * buffer passes.
 *
 * A buffer is a handle on an allocation; batches and pending submissions hold the allocation.
 * `pending` and `mapped` of the allocation exclude each other under the device's lock.
 */
#include <stdio.h>
#include <string.h>

#include "core/core.h"

/* --- allocations ------------------------------------------------------------------------------ */
static ls__allocation *allocation_new(ls_device *device, uint64_t size, const char *label,
                                      ls_error *error)
{
    ls__allocation *made = ls__mem_alloc(1, sizeof *made);
    if (!made) {
        ls__fail_oom(error, sizeof *made);
        return NULL;
    }
    made->device = device;
    atomic_init(&made->refs, 1);
    made->size = size;
    made->usage = LS_USAGE_ALL;
    snprintf(made->label, sizeof made->label, "%s", label ? label : "");
    return made;
}

ls_status ls__allocation_create(ls_device *device, uint64_t size, const char *label,
                                ls__allocation **allocation, ls_error *error)
{
    char what[80];
    *allocation = NULL;
    snprintf(what, sizeof what, "buffer '%.48s'", label ? label : "");
    ls__allocation *made = allocation_new(device, size, label, error);
    if (!made)
        return LS_E_OUT_OF_MEMORY;
    ls_status status =
        ls__budget_reserve(device, size, false, label && *label ? what : "a buffer", error);
    if (status == LS_OK) {
        made->charged = size;
        status = device->backend->allocate(device->handle, size, &made->memory, error);
    }
    if (status != LS_OK) {
        ls__allocation_release(made);
        return status;
    }
    *allocation = made;
    return LS_OK;
}

void ls__allocation_retain(ls__allocation *allocation)
{
    atomic_fetch_add_explicit(&allocation->refs, 1, memory_order_relaxed);
}

void ls__allocation_release(ls__allocation *allocation)
{
    if (!allocation || atomic_fetch_sub(&allocation->refs, 1) != 1)
        return;
    ls_device *device = allocation->device;
    if (allocation->memory)
        device->backend->release(device->handle, allocation->memory);
    ls__budget_release(device, allocation->charged, false);
    ls__mem_free(allocation);
}

void ls__allocation_quarantine(ls__allocation *allocation)
{
    if (allocation->quarantined)
        return;
    ls_device *device = allocation->device;
    allocation->quarantined = true;
    ls__allocation_retain(allocation); /* for good */
    allocation->next_quarantined = device->quarantine;
    device->quarantine = allocation;
    atomic_fetch_add(&device->budget.quarantined, allocation->charged);
}

/* --- buffers ---------------------------------------------------------------------------------- */
static ls_status check_params(const ls_buffer_params *params, ls_error *error)
{
    if (params->size_bytes == 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a buffer cannot have 0 bytes");
    if (params->usage & ~(uint32_t)LS_USAGE_ALL)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "unknown usage bits 0x%x",
                        params->usage & ~(uint32_t)LS_USAGE_ALL);
    if ((uint32_t)params->element >= LS_MEM_COUNT)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "unknown element type %u",
                        (unsigned)params->element);
    uint32_t element = ls__ir_mem_bytes(params->element);
    if (element && params->size_bytes % element)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "a buffer of %s cannot have %llu bytes: not a multiple of %u",
                        ls__ir_mem_name(params->element), (unsigned long long)params->size_bytes,
                        element);
    return LS_OK;
}

static ls_status wrap(ls__allocation *allocation, const ls_buffer_params *params,
                      ls_buffer **buffer, ls_error *error)
{
    ls_buffer *made = ls__mem_alloc(1, sizeof *made);
    if (!made) {
        ls__allocation_release(allocation);
        return ls__fail_oom(error, sizeof *made);
    }
    allocation->usage = params->usage ? params->usage : LS_USAGE_ALL;
    allocation->element = params->element;
    made->allocation = allocation;
    atomic_fetch_add(&allocation->device->objects, 1);
    *buffer = made;
    return LS_OK;
}

ls_status ls_buffer_create(ls_device *device, const ls_buffer_params *params, ls_buffer **buffer,
                           ls_error *error)
{
    ls_buffer_params given;
    ls__allocation *allocation;
    if (!buffer)
        return ls__fail_no_result(error, "ls_buffer_create");
    *buffer = NULL;
    if (!device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no device was given for the buffer");
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_buffer_create", error);
    if (status == LS_OK)
        status = check_params(&given, error);
    if (status == LS_OK)
        status = ls__device_check(device, error);
    if (status == LS_OK)
        status = ls__allocation_create(device, given.size_bytes, given.label, &allocation, error);
    return status == LS_OK ? wrap(allocation, &given, buffer, error) : status;
}

ls_status ls_buffer_import(ls_device *device, void *memory, bool read_only,
                           const ls_buffer_params *params, ls_buffer **buffer, ls_error *error)
{
    ls_buffer_params given;
    if (!buffer)
        return ls__fail_no_result(error, "ls_buffer_import");
    *buffer = NULL;
    if (!device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no device was given for the buffer");
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_buffer_import", error);
    if (status == LS_OK)
        status = check_params(&given, error);
    if (status == LS_OK)
        status = ls__device_check(device, error);
    if (status != LS_OK)
        return status;
    if (!memory || given.size_bytes > UINTPTR_MAX - (uintptr_t)memory)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_buffer_import: no such memory");
    uint32_t element = ls__ir_mem_bytes(given.element);
    if ((uintptr_t)memory % (element ? element : 16))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "imported memory must start at a multiple of %u bytes",
                        element ? element : 16);
    if (!device->caps.import_host)
        return ls__fail(error, LS_E_UNSUPPORTED, "device '%s' cannot import host memory",
                        device->name);
    ls__allocation *allocation = allocation_new(device, given.size_bytes, given.label, error);
    if (!allocation)
        return LS_E_OUT_OF_MEMORY;
    allocation->host = memory;
    allocation->read_only = read_only;
    status = device->backend->import(device->handle, memory, given.size_bytes, &allocation->memory,
                                     error);
    if (status != LS_OK) {
        ls__allocation_release(allocation);
        return status;
    }
    return wrap(allocation, &given, buffer, error);
}

void ls_buffer_destroy(ls_buffer **buffer)
{
    if (!buffer || !*buffer)
        return;
    ls_buffer *destroyed = *buffer;
    ls_device *device = destroyed->allocation->device;
    if (destroyed->mapped_memory)
        ls_buffer_unmap(destroyed, NULL);
    ls__allocation_release(destroyed->allocation);
    ls__mem_free(destroyed);
    atomic_fetch_sub(&device->objects, 1);
    *buffer = NULL;
}

uint64_t ls_buffer_size(const ls_buffer *buffer)
{
    return buffer->allocation->size;
}

ls_mem ls_buffer_element(const ls_buffer *buffer)
{
    return buffer->allocation->element;
}

/* --- checks of ranges ------------------------------------------------------------------------- */
static ls_status check_bounds(const ls__allocation *allocation, uint64_t offset, uint64_t size,
                              const char *role, ls_error *error)
{
    if (size == 0 || offset >= allocation->size)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: the range at byte %llu of buffer '%s' (%llu bytes) is empty", role,
                        (unsigned long long)offset, allocation->label,
                        (unsigned long long)allocation->size);
    if (size > allocation->size - offset)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: bytes %llu + %llu end after buffer '%s', which has %llu bytes", role,
                        (unsigned long long)offset, (unsigned long long)size, allocation->label,
                        (unsigned long long)allocation->size);
    return LS_OK;
}

static ls_status check_usage(const ls__allocation *allocation, uint32_t usage, bool write,
                             const char *role, ls_error *error)
{
    static const char *const names[] = {"LS_USAGE_KERNEL", "LS_USAGE_WRITE", "LS_USAGE_READ",
                                        "LS_USAGE_INDIRECT", "LS_USAGE_MAP"};
    if (write && allocation->read_only)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: buffer '%s' was imported read-only",
                        role, allocation->label);
    for (uint32_t i = 0; i < 5; i++) {
        if ((usage & 1u << i) && !(allocation->usage & 1u << i))
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: buffer '%s' was made without %s",
                            role, allocation->label, names[i]);
    }
    return LS_OK;
}

ls_status ls__range_resolve(const ls_device *device, const ls_range *range, uint32_t usage,
                            bool write, const char *role, uint64_t *size, ls_error *error)
{
    if (!range || !range->buffer)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: no buffer was given", role);
    const ls__allocation *allocation = range->buffer->allocation;
    ls_status status = ls__device_match(device, allocation->device, role, error);
    if (status != LS_OK)
        return status;
    uint64_t bytes = range->size;
    if (bytes == LS_WHOLE)
        bytes = range->offset < allocation->size ? allocation->size - range->offset : 0;
    status = check_bounds(allocation, range->offset, bytes, role, error);
    if (status == LS_OK)
        status = check_usage(allocation, usage, write, role, error);
    *size = bytes;
    return status;
}

ls_status ls__range_check_element(const ls__allocation *allocation, uint64_t offset, uint64_t size,
                                  ls_mem element, const char *role, ls_error *error)
{
    if ((uint32_t)element >= LS_MEM_COUNT)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: unknown element type %u", role,
                        (unsigned)element);
    if (allocation->element != LS_MEM_NONE && element != allocation->element)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: buffer '%s' holds %s, not %s", role,
                        allocation->label, ls__ir_mem_name(allocation->element),
                        ls__ir_mem_name(element));
    uint32_t bytes = ls__ir_mem_bytes(element);
    /* Untyped buffers have no elements that could be cut. */
    bool cuts = bytes && (size % bytes || (offset % bytes && allocation->element != LS_MEM_NONE));
    if (cuts)
        return ls__fail(
            error, LS_E_INVALID_ARGUMENT, "%s: %llu bytes at byte %llu are no whole elements of %s",
            role, (unsigned long long)size, (unsigned long long)offset, ls__ir_mem_name(element));
    return LS_OK;
}

/* --- host access ------------------------------------------------------------------------------ */
/* Takes the buffer for host access: nothing pending uses it, it is not mapped. */
static ls_status host_begin(ls__allocation *allocation, const char *verb, ls_error *error)
{
    ls_device *device = allocation->device;
    ls_status status = LS_OK;
    pthread_mutex_lock(&device->lock);
    bool lost = atomic_load(&device->lost);
    if (lost)
        status = LS_E_INDETERMINATE;
    else if (allocation->pending)
        status = ls__fail(error, LS_E_BUSY, "cannot %s buffer '%s': a pending submission uses it",
                          verb, allocation->label);
    else if (allocation->mapped)
        status = ls__fail(error, LS_E_BUSY,
                          "cannot %s buffer '%s': it is mapped, or another thread accesses it",
                          verb, allocation->label);
    else
        allocation->mapped = true;
    pthread_mutex_unlock(&device->lock);
    return lost ? ls__device_check(device, error) : status;
}

static void host_end(ls__allocation *allocation)
{
    pthread_mutex_lock(&allocation->device->lock);
    allocation->mapped = false;
    pthread_mutex_unlock(&allocation->device->lock);
}

static ls_status stage(ls_buffer *buffer, const ls__span *span, void **memory, ls_error *error)
{
    ls_device *device = buffer->allocation->device;
    ls_status status = ls__budget_reserve(device, span->size, true, "the copy for a map", error);
    if (status != LS_OK)
        return status;
    void *copy = ls__mem_alloc(span->size, 1);
    if (!copy)
        status = ls__fail_oom(error, span->size);
    else
        status = device->backend->read(device->handle, span, copy, error);
    if (status != LS_OK) {
        ls__mem_free(copy);
        ls__budget_release(device, span->size, true);
        return status;
    }
    ls__device_count(device, LS__COUNTER_bytes_downloaded, span->size);
    *memory = copy;
    return LS_OK;
}

ls_status ls_buffer_map(ls_buffer *buffer, uint64_t offset, uint64_t size, uint32_t access,
                        void **memory, ls_error *error)
{
    if (!memory)
        return ls__fail_no_result(error, "ls_buffer_map");
    *memory = NULL;
    if (!buffer)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_buffer_map: no buffer was given");
    if (!access || access & ~(uint32_t)(LS_MAP_READ | LS_MAP_WRITE))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_buffer_map: access is LS_MAP_READ, LS_MAP_WRITE or both");
    ls__allocation *allocation = buffer->allocation;
    ls_device *device = allocation->device;
    ls_range range = {buffer, offset, size};
    ls__span span = {allocation->memory, offset, size};
    ls_status status = ls__range_resolve(device, &range, LS_USAGE_MAP, (access & LS_MAP_WRITE) != 0,
                                         "map", &span.size, error);
    if (status == LS_OK)
        status = host_begin(allocation, "map", error);
    if (status != LS_OK)
        return status;
    buffer->staged = !device->caps.map_direct;
    if (buffer->staged) {
        status = stage(buffer, &span, memory, error);
        if (status != LS_OK) {
            host_end(allocation);
            return status;
        }
    } else {
        *memory = device->backend->map(device->handle, &span, access);
    }
    buffer->mapped_memory = *memory;
    buffer->mapped = span;
    buffer->mapped_access = access;
    return LS_OK;
}

ls_status ls_buffer_unmap(ls_buffer *buffer, ls_error *error)
{
    if (!buffer || !buffer->mapped_memory)
        return ls__fail(error, LS_E_STATE, "ls_buffer_unmap: the buffer is not mapped");
    ls_device *device = buffer->allocation->device;
    const ls__span *span = &buffer->mapped;
    ls_status status = LS_OK;
    if (buffer->staged) {
        if (buffer->mapped_access & LS_MAP_WRITE) {
            status = ls__device_check(device, error);
            if (status == LS_OK)
                status = device->backend->write(device->handle, span, buffer->mapped_memory, error);
            if (status == LS_OK)
                ls__device_count(device, LS__COUNTER_bytes_uploaded, span->size);
        }
        ls__mem_free(buffer->mapped_memory);
        ls__budget_release(device, span->size, true);
    } else if (device->backend->unmap) {
        device->backend->unmap(device->handle, span, buffer->mapped_access);
    }
    buffer->mapped_memory = NULL;
    host_end(buffer->allocation);
    return status;
}

/* The checks that ls_buffer_write and ls_buffer_read share; on success the buffer is taken. */
static ls_status transfer_begin(ls_buffer *buffer, uint64_t offset, uint64_t size, ls_mem element,
                                const void *bytes, bool write, ls_error *error)
{
    const char *verb = write ? "write" : "read";
    if (!buffer || !bytes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: no %s was given", verb,
                        buffer ? "host memory" : "buffer");
    ls__allocation *allocation = buffer->allocation;
    ls_range range = {buffer, offset, size};
    uint64_t resolved;
    if (size == LS_WHOLE)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: the size of the host bytes must be given", verb);
    ls_status status =
        ls__range_resolve(allocation->device, &range, write ? LS_USAGE_WRITE : LS_USAGE_READ, write,
                          verb, &resolved, error);
    if (status == LS_OK)
        status = ls__range_check_element(allocation, offset, size, element, verb, error);
    return status == LS_OK ? host_begin(allocation, verb, error) : status;
}

ls_status ls_buffer_write(ls_buffer *buffer, uint64_t offset, ls_mem element, const void *bytes,
                          uint64_t size, ls_error *error)
{
    ls_status status = transfer_begin(buffer, offset, size, element, bytes, true, error);
    if (status != LS_OK)
        return status;
    ls_device *device = buffer->allocation->device;
    ls__span span = {buffer->allocation->memory, offset, size};
    status = device->backend->write(device->handle, &span, bytes, error);
    if (status == LS_OK)
        ls__device_count(device, LS__COUNTER_bytes_uploaded, size);
    host_end(buffer->allocation);
    return status;
}

ls_status ls_buffer_read(ls_buffer *buffer, uint64_t offset, ls_mem element, void *bytes,
                         uint64_t size, ls_error *error)
{
    ls_status status = transfer_begin(buffer, offset, size, element, bytes, false, error);
    if (status != LS_OK)
        return status;
    ls_device *device = buffer->allocation->device;
    ls__span span = {buffer->allocation->memory, offset, size};
    status = device->backend->read(device->handle, &span, bytes, error);
    if (status == LS_OK)
        ls__device_count(device, LS__COUNTER_bytes_downloaded, size);
    host_end(buffer->allocation);
    return status;
}
