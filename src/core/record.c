/* SPDX-License-Identifier: Apache-2.0 */
/* Records: one block of memory each, with the ranges, scalars, links, bytes and label behind the
 * struct. */
#include <stdio.h>
#include <string.h>

#include "core/queue.h"

const char *ls__command_name(ls__command_kind kind)
{
    static const char *const names[] = {
        [LS__COMMAND_DISPATCH] = "dispatch", [LS__COMMAND_COPY] = "copy",
        [LS__COMMAND_UPLOAD] = "upload",     [LS__COMMAND_FILL] = "fill",
        [LS__COMMAND_DOWNLOAD] = "download",
    };
    return names[kind];
}

void ls__record_retain(ls__record *record)
{
    atomic_fetch_add_explicit(&record->refs, 1, memory_order_relaxed);
}

void ls__record_release(ls__record *record)
{
    if (!record || atomic_fetch_sub(&record->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < record->use_count; i++)
        ls__allocation_release(record->uses[i].allocation);
    if (record->kernel)
        ls__program_release(record->kernel->program);
    if (record->upload)
        ls__budget_release(record->device, record->uses[0].size, true);
    ls__mem_free(record);
}

ls__record *ls__record_new(ls_device *device, ls__command_kind kind, const ls_tag *tag,
                           uint32_t use_count, size_t extra, uint8_t **extra_bytes, ls_error *error)
{
    size_t label = tag && tag->label ? strlen(tag->label) + 1 : 0;
    size_t uses = use_count * sizeof(ls__use);
    size_t total;
    if (__builtin_add_overflow(sizeof(ls__record) + uses + label, extra, &total)) {
        ls__fail_oom(error, SIZE_MAX);
        return NULL;
    }
    ls__record *record = ls__mem_alloc(total, 1);
    if (!record) {
        ls__fail_oom(error, total);
        return NULL;
    }
    atomic_init(&record->refs, 1);
    record->device = device;
    record->kind = kind;
    record->uses = (ls__use *)(record + 1);
    record->use_count = use_count;
    *extra_bytes = (uint8_t *)(record + 1) + uses;
    if (tag)
        record->tag = *tag;
    if (label) {
        char *copy = (char *)*extra_bytes + extra;
        memcpy(copy, tag->label, label);
        record->tag.label = copy;
    }
    return record;
}

/* --- dispatches: checks ----------------------------------------------------------------------- */
void ls__global_size(uint32_t size[3])
{
    for (int d = 1; d < 3; d++) {
        if (size[0] == 0)
            size[d] = 0;
        else if (size[d] == 0)
            size[d] = 1;
    }
}

ls_status ls__check_indirect(const uint32_t size[3], const uint32_t maximum[3], ls_error *error)
{
    if (size[0] <= maximum[0] && size[1] <= maximum[1] && size[2] <= maximum[2])
        return LS_OK;
    return ls__fail(
        error, LS_E_TRAP,
        "an indirect dispatch of %u x %u x %u lanes exceeds its maximum of %u x %u x %u", size[0],
        size[1], size[2], maximum[0], maximum[1], maximum[2]);
}

bool ls__padded_lanes(const ls_kernel *kernel, const uint32_t size[3], uint64_t *lanes)
{
    bool overflow = false;
    *lanes = 1;
    for (int d = 0; d < 3; d++) {
        uint64_t group = kernel->info.workgroup[d];
        uint64_t rounded = ((uint64_t)size[d] + group - 1) / group * group;
        overflow |= __builtin_mul_overflow(*lanes, rounded, lanes);
    }
    return !overflow;
}

ls_status ls__record_check_size(const ls_kernel *kernel, const uint32_t size[3], ls_error *error)
{
    /* Workgroups and lanes are counted in 64 bits; no machine comes near the limit. */
    uint64_t lanes;
    if (!ls__padded_lanes(kernel, size, &lanes) || lanes > UINT64_MAX / 4)
        return ls__fail(error, LS_E_LIMIT, "kernel '%s': %u x %u x %u lanes are too many",
                        kernel->info.name, size[0], size[1], size[2]);
    return LS_OK;
}

static ls_status check_links(const ls_dispatch *d, const ls_kernel_info *info, ls_error *error)
{
    for (uint32_t i = 0; i < d->link_count; i++) {
        const ls_scalar_link *link = &d->links[i];
        if (!link->size || link->scalar_offset > info->scalar_bytes ||
            link->size > info->scalar_bytes - link->scalar_offset)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "kernel '%s': link %u sets bytes %u + %u of a scalar block of %u bytes",
                            info->name, i, link->scalar_offset, link->size, info->scalar_bytes);
        if (link->parameter_offset > UINT32_MAX - link->size)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "kernel '%s': link %u lies outside of any parameter block", info->name,
                            i);
    }
    return LS_OK;
}

/* What needs no look at the buffers. */
static ls_status check_shape(const ls_device *device, const ls_dispatch *d, ls_error *error)
{
    if (!d->kernel)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "dispatch: no kernel was given");
    const ls_kernel_info *info = &d->kernel->info;
    ls_status status =
        ls__device_match(device, d->kernel->program->device, "the kernel's program", error);
    if (status != LS_OK)
        return status;
    if (d->buffer_count != info->buffer_count || (d->buffer_count && !d->buffers))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "kernel '%s' takes %u buffers, %u were given",
                        info->name, info->buffer_count, d->buffers ? d->buffer_count : 0);
    if (d->scalar_bytes != info->scalar_bytes || (d->scalar_bytes && !d->scalars))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "kernel '%s' takes %u bytes of scalars, %u were given", info->name,
                        info->scalar_bytes, d->scalars ? d->scalar_bytes : 0);
    if (d->link_count && !d->links)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "kernel '%s': no links were given",
                        info->name);
    status = check_links(d, info, error);
    if (status != LS_OK)
        return status;
    uint32_t size[3] = {d->global_size[0], d->global_size[1], d->global_size[2]};
    ls__global_size(size);
    return ls__record_check_size(d->kernel, size, error);
}

static ls_status resolve_buffer(const ls_device *device, const ls_dispatch *d, uint32_t index,
                                ls__use *use, ls_error *error)
{
    char role[160];
    const ls__ir_param *param = ls__ir_buffer_param(d->kernel->function, index);
    const ls_range *range = &d->buffers[index];
    uint64_t size;
    snprintf(role, sizeof role, "kernel '%.48s', parameter '%.48s'", d->kernel->info.name,
             param->name);
    ls_status status =
        ls__range_resolve(device, range, LS_USAGE_KERNEL, !param->is_const, role, &size, error);
    if (status != LS_OK)
        return status;
    ls__allocation *allocation = range->buffer->allocation;
    if (allocation->element != LS_MEM_NONE && allocation->element != (ls_mem)param->mem)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: buffer '%s' holds %s, not %s", role,
                        allocation->label, ls__ir_mem_name(allocation->element),
                        param->type_name ? param->type_name : ls__ir_mem_name((ls_mem)param->mem));
    if (param->alignment && range->offset % param->alignment)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: the range starts at byte %llu, not at a multiple of %u", role,
                        (unsigned long long)range->offset, param->alignment);
    if (size > device->caps.max_range_bytes)
        return ls__fail(error, LS_E_LIMIT,
                        "%s: a range of %llu bytes, device '%s' binds at most %llu", role,
                        (unsigned long long)size, device->name,
                        (unsigned long long)device->caps.max_range_bytes);
    if (param->size && size < param->size)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: a range of %llu bytes holds no element of %u bytes", role,
                        (unsigned long long)size, param->size);
    if (size < param->min_bytes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "%s: it needs %llu elements, the range has %llu (%llu bytes)", role,
                        (unsigned long long)(param->min_bytes / param->size),
                        (unsigned long long)(size / param->size), (unsigned long long)size);
    if (param->size)
        size -= size % param->size; /* whole elements only */
    *use = (ls__use){allocation, range->offset, size, !param->is_const};
    return LS_OK;
}

static ls_status resolve_sizes(const ls_device *device, const ls_dispatch *d, const ls_range *sizes,
                               ls__use *use, ls_error *error)
{
    uint64_t size;
    ls_status status = ls__range_resolve(device, sizes, LS_USAGE_INDIRECT, false,
                                         "the sizes of an indirect dispatch", &size, error);
    if (status != LS_OK)
        return status;
    ls__allocation *allocation = sizes->buffer->allocation;
    if (size < 12 || sizes->offset % 4 || d->global_size_parameter[0] ||
        d->global_size_parameter[1] || d->global_size_parameter[2])
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "an indirect dispatch reads three u32 at a multiple of 4 bytes and has no "
                        "size parameters");
    if (allocation->element != LS_MEM_NONE && allocation->element != LS_MEM_U32)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the sizes of an indirect dispatch: buffer '%s' holds %s, not u32",
                        allocation->label, ls__ir_mem_name(allocation->element));
    *use = (ls__use){allocation, sizes->offset, 12, false};
    return LS_OK;
}

/* Where the bytes of a range lie: imports alias by address, see ls__touch. */
static bool overlap(const ls__use *a, const ls__use *b)
{
    uint64_t base_a = 0, base_b = 0;
    if (a->allocation->host && b->allocation->host) {
        base_a = (uintptr_t)a->allocation->host;
        base_b = (uintptr_t)b->allocation->host;
    } else if (a->allocation != b->allocation) {
        return false;
    }
    return base_a + a->offset < base_b + b->offset + b->size &&
           base_b + b->offset < base_a + a->offset + a->size;
}

static ls_status check_overlap(const ls_kernel *kernel, const ls__use *uses, uint32_t count,
                               ls_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count; k++) {
            if ((uses[i].write || uses[k].write) && overlap(&uses[i], &uses[k]))
                return ls__fail(error, LS_E_INVALID_ARGUMENT,
                                "kernel '%s': ranges %u and %u overlap in buffer '%s' and one of "
                                "them is written",
                                kernel->info.name, i, k, uses[i].allocation->label);
        }
    }
    return LS_OK;
}

/* --- dispatches: the record ------------------------------------------------------------------- */
static ls_status fill_dispatch(ls__record *record, uint8_t *extra, const ls_dispatch *d,
                               const ls_range *sizes, const uint32_t *maximum, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < d->buffer_count && status == LS_OK; i++)
        status = resolve_buffer(record->device, d, i, &record->uses[i], error);
    if (status == LS_OK && sizes)
        status = resolve_sizes(record->device, d, sizes, &record->uses[d->buffer_count], error);
    if (status == LS_OK)
        status = check_overlap(d->kernel, record->uses, record->use_count, error);
    if (status == LS_OK && sizes) {
        memcpy(record->maximum, maximum, sizeof record->maximum);
        ls__global_size(record->maximum);
        status = ls__record_check_size(d->kernel, record->maximum, error);
        if (status == LS_OK && record->maximum[0] == 0)
            status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                              "kernel '%s': the maximum of an indirect dispatch is 0",
                              d->kernel->info.name);
    }
    if (status != LS_OK)
        return status;
    record->kernel = d->kernel;
    record->indirect = sizes != NULL;
    memcpy(record->global_size, d->global_size, sizeof record->global_size);
    memcpy(record->global_size_parameter, d->global_size_parameter,
           sizeof record->global_size_parameter);
    record->links = (ls_scalar_link *)extra;
    record->link_count = d->link_count;
    record->scalars = extra + d->link_count * sizeof *d->links;
    if (d->link_count)
        memcpy(record->links, d->links, d->link_count * sizeof *d->links);
    if (d->scalar_bytes)
        memcpy(record->scalars, d->scalars, d->scalar_bytes);
    return LS_OK;
}

ls_status ls__record_dispatch(ls_device *device, const ls_dispatch *dispatch, const ls_range *sizes,
                              const uint32_t *maximum, ls__record **record, ls_error *error)
{
    ls_dispatch d;
    uint8_t *extra;
    ls_status status = ls__params_in(&d, sizeof d, dispatch, false, "dispatch", error);
    if (status == LS_OK)
        status = check_shape(device, &d, error);
    if (status == LS_OK && sizes && !maximum)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "an indirect dispatch needs a maximum");
    if (status != LS_OK)
        return status;
    uint32_t use_count = d.buffer_count + (sizes ? 1 : 0);
    size_t bytes = (size_t)d.link_count * sizeof *d.links + d.scalar_bytes;
    ls__record *made =
        ls__record_new(device, LS__COMMAND_DISPATCH, &d.tag, use_count, bytes, &extra, error);
    if (!made)
        return LS_E_OUT_OF_MEMORY;
    status = fill_dispatch(made, extra, &d, sizes, maximum, error);
    if (status != LS_OK) {
        made->use_count = 0; /* nothing is retained yet */
        made->kernel = NULL;
        ls__record_release(made);
        return status;
    }
    for (uint32_t i = 0; i < made->use_count; i++)
        ls__allocation_retain(made->uses[i].allocation);
    ls__program_retain(d.kernel->program);
    *record = made;
    return LS_OK;
}
