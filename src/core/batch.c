/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: the list of records, and the recording calls for transfers and repeat blocks. */
#include <string.h>

#include "core/queue.h"

/* --- the list --------------------------------------------------------------------------------- */
ls_status ls_batch_create(ls_device *device, ls_batch **batch, ls_error *error)
{
    if (!batch)
        return ls__fail_no_result(error, "ls_batch_create");
    *batch = NULL;
    if (!device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_batch_create: no device was given");
    ls_batch *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->device = device;
    atomic_fetch_add(&device->objects, 1);
    *batch = made;
    return LS_OK;
}

void ls_batch_clear(ls_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        ls__record_release(batch->records[i]);
    batch->count = 0;
    batch->block_count = 0;
    batch->block_open = false;
}

void ls_batch_destroy(ls_batch **batch)
{
    if (!batch || !*batch)
        return;
    ls_device *device = (*batch)->device;
    ls_batch_clear(*batch);
    ls__mem_free((*batch)->records);
    ls__mem_free((*batch)->blocks);
    ls__mem_free(*batch);
    *batch = NULL;
    atomic_fetch_sub(&device->objects, 1);
}

uint32_t ls_batch_count(const ls_batch *batch)
{
    return batch->count;
}

/* Grows an array of `count` items to hold one more. */
static ls_status grow(void **items, uint32_t count, uint32_t *capacity, size_t size,
                      ls_error *error)
{
    if (count < *capacity)
        return LS_OK;
    if (count > UINT32_MAX / 4)
        return ls__fail(error, LS_E_LIMIT, "a batch holds at most %u commands", UINT32_MAX / 4);
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    void *grown = ls__mem_realloc(*items, wanted, size);
    if (!grown)
        return ls__fail_oom(error, wanted * size);
    *items = grown;
    *capacity = wanted;
    return LS_OK;
}

/* Appends the record, or releases it on failure. */
static ls_status append(ls_batch *batch, ls__record *record, ls_error *error)
{
    void *items = batch->records;
    ls_status status = grow(&items, batch->count, &batch->capacity, sizeof *batch->records, error);
    batch->records = items;
    if (status != LS_OK) {
        ls__record_release(record);
        return status;
    }
    batch->records[batch->count++] = record;
    return LS_OK;
}

static ls_status check_given(const ls_batch *batch, ls_error *error)
{
    return batch ? LS_OK : ls__fail(error, LS_E_INVALID_ARGUMENT, "no batch was given");
}

/* --- dispatches ------------------------------------------------------------------------------- */
ls_status ls_batch_dispatch(ls_batch *batch, const ls_dispatch *dispatch, ls_error *error)
{
    ls__record *record;
    ls_status status = check_given(batch, error);
    if (status == LS_OK)
        status = ls__record_dispatch(batch->device, dispatch, NULL, NULL, &record, error);
    return status == LS_OK ? append(batch, record, error) : status;
}

ls_status ls_batch_dispatch_indirect(ls_batch *batch, const ls_dispatch *dispatch, ls_range sizes,
                                     const uint32_t maximum[3], ls_error *error)
{
    ls__record *record;
    ls_status status = check_given(batch, error);
    if (status == LS_OK)
        status = ls__record_dispatch(batch->device, dispatch, &sizes, maximum, &record, error);
    return status == LS_OK ? append(batch, record, error) : status;
}

/* --- transfers -------------------------------------------------------------------------------- */
/* Makes a record of one range; when it copies bytes, they are to lie at *bytes. */
static ls_status one_range(ls_batch *batch, ls__command_kind kind, const ls_range *range,
                           const ls_tag *tag, bool copies_bytes, ls__record **record,
                           uint8_t **bytes, ls_error *error)
{
    uint64_t size;
    bool write = kind != LS__COMMAND_DOWNLOAD;
    ls_status status = check_given(batch, error);
    if (status == LS_OK)
        status = ls__range_resolve(batch->device, range, write ? LS_USAGE_WRITE : LS_USAGE_READ,
                                   write, ls__command_name(kind), &size, error);
    if (status != LS_OK)
        return status;
    ls__record *made =
        ls__record_new(batch->device, kind, tag, 1, copies_bytes ? (size_t)size : 0, bytes, error);
    if (!made)
        return LS_E_OUT_OF_MEMORY;
    made->uses[0] = (ls__use){range->buffer->allocation, range->offset, size, write};
    ls__allocation_retain(range->buffer->allocation);
    *record = made;
    return LS_OK;
}

static ls_status check_element(const ls__record *record, ls_mem element, ls_error *error)
{
    const ls__use *use = &record->uses[0];
    return ls__range_check_element(use->allocation, use->offset, use->size, element,
                                   ls__command_name(record->kind), error);
}

static ls_status finish_record(ls_batch *batch, ls__record *record, ls_status status,
                               ls_error *error)
{
    if (status == LS_OK)
        return append(batch, record, error);
    ls__record_release(record);
    return status;
}

/* A transfer whose host bytes come with the submission. */
static ls_status record_slot(ls_batch *batch, ls__command_kind kind, const ls_range *range,
                             ls_mem element, uint32_t slot, const ls_tag *tag, ls_error *error)
{
    ls__record *record;
    uint8_t *unused;
    ls_status status = one_range(batch, kind, range, tag, false, &record, &unused, error);
    if (status != LS_OK)
        return status;
    record->has_slot = true;
    record->slot = slot;
    status = slot == UINT32_MAX ? ls__fail(error, LS_E_INVALID_ARGUMENT, "%s: there is no slot %u",
                                           ls__command_name(kind), slot)
                                : check_element(record, element, error);
    return finish_record(batch, record, status, error);
}

ls_status ls_batch_upload(ls_batch *batch, ls_range target, ls_mem element, const void *bytes,
                          const ls_tag *tag, ls_error *error)
{
    ls__record *record;
    uint8_t *copy;
    uint64_t size;
    if (!bytes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "upload: no host memory was given");
    /* The budget comes first, so that a refused upload allocates nothing. */
    ls_status status = check_given(batch, error);
    if (status == LS_OK)
        status =
            ls__range_resolve(batch->device, &target, LS_USAGE_WRITE, true, "upload", &size, error);
    if (status == LS_OK)
        status = ls__range_check_element(target.buffer->allocation, target.offset, size, element,
                                         "upload", error);
    if (status == LS_OK)
        status = ls__budget_reserve(batch->device, size, true, "the copy of an upload", error);
    if (status != LS_OK)
        return status;
    status = one_range(batch, LS__COMMAND_UPLOAD, &target, tag, true, &record, &copy, error);
    if (status != LS_OK) {
        ls__budget_release(batch->device, size, true);
        return status;
    }
    memcpy(copy, bytes, size);
    record->upload = copy; /* from now on the record gives the budget back */
    return append(batch, record, error);
}

ls_status ls_batch_upload_slot(ls_batch *batch, ls_range target, ls_mem element, uint32_t slot,
                               const ls_tag *tag, ls_error *error)
{
    return record_slot(batch, LS__COMMAND_UPLOAD, &target, element, slot, tag, error);
}

ls_status ls_batch_download(ls_batch *batch, ls_range source, ls_mem element, void *bytes,
                            const ls_tag *tag, ls_error *error)
{
    ls__record *record;
    uint8_t *unused;
    if (!bytes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "download: no host memory was given");
    ls_status status =
        one_range(batch, LS__COMMAND_DOWNLOAD, &source, tag, false, &record, &unused, error);
    if (status != LS_OK)
        return status;
    record->download = bytes;
    return finish_record(batch, record, check_element(record, element, error), error);
}

ls_status ls_batch_download_slot(ls_batch *batch, ls_range source, ls_mem element, uint32_t slot,
                                 const ls_tag *tag, ls_error *error)
{
    return record_slot(batch, LS__COMMAND_DOWNLOAD, &source, element, slot, tag, error);
}

ls_status ls_batch_fill(ls_batch *batch, ls_range target, const void *pattern,
                        uint32_t pattern_bytes, const ls_tag *tag, ls_error *error)
{
    ls__record *record;
    uint8_t *unused;
    if (!pattern ||
        (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4 && pattern_bytes != 8))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "fill: a pattern has 1, 2, 4 or 8 bytes");
    ls_status status =
        one_range(batch, LS__COMMAND_FILL, &target, tag, false, &record, &unused, error);
    if (status != LS_OK)
        return status;
    memcpy(record->pattern, pattern, pattern_bytes);
    record->pattern_bytes = pattern_bytes;
    /* A typed buffer is filled element by element. */
    status = check_element(record, record->uses[0].allocation->element, error);
    if (status == LS_OK && record->uses[0].size % pattern_bytes)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          "fill: %llu bytes are no multiple of a pattern of %u",
                          (unsigned long long)record->uses[0].size, pattern_bytes);
    return finish_record(batch, record, status, error);
}

static ls_status check_copy(const ls_range *target, const ls_range *source, uint64_t target_size,
                            uint64_t source_size, ls_error *error)
{
    const ls__allocation *to = target->buffer->allocation, *from = source->buffer->allocation;
    if (target_size != source_size)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "copy: %llu bytes to a range of %llu bytes",
                        (unsigned long long)source_size, (unsigned long long)target_size);
    if (to->element != LS_MEM_NONE && from->element != LS_MEM_NONE && to->element != from->element)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "copy: from %s to %s",
                        ls__ir_mem_name(from->element), ls__ir_mem_name(to->element));
    ls_mem element = to->element != LS_MEM_NONE ? to->element : from->element;
    ls_status status = LS_OK;
    if (to->element != LS_MEM_NONE)
        status = ls__range_check_element(to, target->offset, target_size, element, "copy", error);
    if (status == LS_OK && from->element != LS_MEM_NONE)
        status = ls__range_check_element(from, source->offset, source_size, element, "copy", error);
    return status;
}

ls_status ls_batch_copy(ls_batch *batch, ls_range target, ls_range source, const ls_tag *tag,
                        ls_error *error)
{
    uint64_t target_size, source_size;
    uint8_t *extra;
    ls_status status = check_given(batch, error);
    if (status == LS_OK)
        status = ls__range_resolve(batch->device, &target, LS_USAGE_WRITE, true, "copy, target",
                                   &target_size, error);
    if (status == LS_OK)
        status = ls__range_resolve(batch->device, &source, LS_USAGE_READ, false, "copy, source",
                                   &source_size, error);
    if (status == LS_OK)
        status = check_copy(&target, &source, target_size, source_size, error);
    if (status != LS_OK)
        return status;
    ls__record *record = ls__record_new(batch->device, LS__COMMAND_COPY, tag, 2, 0, &extra, error);
    if (!record)
        return LS_E_OUT_OF_MEMORY;
    record->uses[0] = (ls__use){target.buffer->allocation, target.offset, target_size, true};
    record->uses[1] = (ls__use){source.buffer->allocation, source.offset, source_size, false};
    ls__allocation_retain(record->uses[0].allocation);
    ls__allocation_retain(record->uses[1].allocation);
    return append(batch, record, error);
}

/* --- repeat blocks ---------------------------------------------------------------------------- */
ls_status ls_batch_repeat_begin(ls_batch *batch, uint32_t count, uint32_t count_parameter,
                                ls_error *error)
{
    ls_status status = check_given(batch, error);
    if (status != LS_OK)
        return status;
    if (batch->block_open)
        return ls__fail(error, LS_E_STATE, "repeat blocks do not nest");
    void *items = batch->blocks;
    status = grow(&items, batch->block_count, &batch->block_capacity, sizeof *batch->blocks, error);
    batch->blocks = items;
    if (status != LS_OK)
        return status;
    batch->blocks[batch->block_count++] =
        (ls__block){batch->count, batch->count, count, count_parameter};
    batch->block_open = true;
    return LS_OK;
}

ls_status ls_batch_repeat_end(ls_batch *batch, ls_error *error)
{
    ls_status status = check_given(batch, error);
    if (status != LS_OK)
        return status;
    if (!batch->block_open)
        return ls__fail(error, LS_E_STATE, "there is no repeat block to end");
    ls__block *block = &batch->blocks[batch->block_count - 1];
    block->end = batch->count;
    batch->block_open = false;
    if (block->first == block->end)
        batch->block_count--; /* holds nothing */
    return LS_OK;
}
