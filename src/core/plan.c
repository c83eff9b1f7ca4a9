/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: a batch as a whole, before any submission. Here is the part of validation that needs no
 * parameters, and what later steps want to know without looking at each command again.
 */
#include <stdlib.h>
#include <string.h>

#include "core/queue.h"

void ls__plan_retain(ls__plan *plan)
{
    atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
}

void ls__plan_release(ls__plan *plan)
{
    if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1)
        return;
    ls_device *device = plan->device;
    for (uint32_t i = 0; plan->prepared && i < plan->part_count; i++) {
        if (plan->prepared[i])
            device->backend->unprepare(device->handle, plan->prepared[i]);
    }
    for (uint32_t i = 0; plan->records && i < plan->record_count; i++)
        ls__record_release(plan->records[i]);
    ls__mem_free(plan->records);
    ls__mem_free(plan->blocks);
    ls__mem_free(plan->parts);
    ls__mem_free(plan->allocations);
    ls__mem_free(plan->touches);
    ls__mem_free(plan->prepared);
    ls__mem_free(plan);
}

/* --- what the commands touch ------------------------------------------------------------------ */
static int compare_touches(const void *left, const void *right)
{
    const ls__touch *a = left, *b = right;
    if (a->space != b->space)
        return (uintptr_t)a->space < (uintptr_t)b->space ? -1 : 1;
    if (a->write != b->write)
        return a->write ? 1 : -1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Sorts and joins what is adjacent, so that a batch that walks through a buffer touches it once. */
static uint32_t join_touches(ls__touch *touches, uint32_t count)
{
    uint32_t joined = 0;
    qsort(touches, count, sizeof *touches, compare_touches);
    for (uint32_t i = 0; i < count; i++) {
        ls__touch *last = joined ? &touches[joined - 1] : NULL;
        if (last && last->space == touches[i].space && last->write == touches[i].write &&
            touches[i].begin <= last->end) {
            if (touches[i].end > last->end)
                last->end = touches[i].end;
        } else {
            touches[joined++] = touches[i];
        }
    }
    return joined;
}

static int compare_pointers(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (void *const *)left, b = (uintptr_t) * (void *const *)right;
    return a < b ? -1 : a > b;
}

static ls_status list_uses(ls__plan *plan, ls_error *error)
{
    size_t total = 0;
    for (uint32_t i = 0; i < plan->record_count; i++)
        total += plan->records[i]->use_count;
    if (total > UINT32_MAX / 2)
        return ls__fail(error, LS_E_LIMIT, "a batch names at most %u ranges", UINT32_MAX / 2);
    plan->touches = ls__mem_alloc(total, sizeof *plan->touches);
    plan->allocations = ls__mem_alloc(total, sizeof *plan->allocations);
    if (!plan->touches || !plan->allocations)
        return ls__fail_oom(error, total * sizeof *plan->touches);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->record_count; i++) {
        for (uint32_t k = 0; k < plan->records[i]->use_count; k++) {
            const ls__use *use = &plan->records[i]->uses[k];
            const ls__allocation *space = use->allocation->host ? NULL : use->allocation;
            uint64_t begin = (uintptr_t)use->allocation->host + use->offset;
            plan->touches[count] = (ls__touch){space, begin, begin + use->size, use->write};
            plan->allocations[count++] = use->allocation;
        }
    }
    plan->touch_count = join_touches(plan->touches, count);
    qsort(plan->allocations, count, sizeof *plan->allocations, compare_pointers);
    for (uint32_t i = 0; i < count; i++) {
        if (!i || plan->allocations[i] != plan->allocations[i - 1])
            plan->allocations[plan->allocation_count++] = plan->allocations[i];
    }
    return LS_OK;
}

/* Whether all of `touch` lies before byte `begin` of what is written or read of `space`. */
static bool is_before(const ls__touch *touch, const ls__allocation *space, bool write,
                      uint64_t begin)
{
    if (touch->space != space)
        return (uintptr_t)touch->space < (uintptr_t)space;
    if (touch->write != write)
        return write;
    return touch->end <= begin;
}

/* The touch of that kind that meets `x`, or NULL. Joined touches of a kind are disjoint, so that
 * they are sorted by their ends as well. */
static const ls__touch *find_meeting(const ls__plan *plan, bool write, const ls__touch *x)
{
    uint32_t low = 0, high = plan->touch_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(&plan->touches[middle], x->space, write, x->begin))
            low = middle + 1;
        else
            high = middle;
    }
    const ls__touch *y = &plan->touches[low];
    bool meets =
        low < plan->touch_count && y->space == x->space && y->write == write && y->begin < x->end;
    return meets ? y : NULL;
}

bool ls__plan_conflicts(const ls__plan *a, const ls__plan *b, const ls__touch **of_a,
                        const ls__touch **of_b)
{
    for (uint32_t i = 0; i < a->touch_count; i++) {
        const ls__touch *x = &a->touches[i];
        const ls__touch *y = find_meeting(b, true, x);
        if (!y && x->write)
            y = find_meeting(b, false, x);
        if (y) {
            *of_a = x;
            *of_b = y;
            return true;
        }
    }
    return false;
}

/* --- what a submission must bring ------------------------------------------------------------- */
static void need_parameters(ls__plan *plan, uint64_t end)
{
    if (end > plan->parameter_bytes)
        plan->parameter_bytes = end;
}

static void add_dispatch(ls__plan *plan, const ls__record *record)
{
    const ls_program *program = record->kernel->program;
    plan->span_count += record->use_count;
    plan->scalar_bytes += ls__round16(record->kernel->info.scalar_bytes);
    plan->unordered |= record->kernel->info.unordered;
    plan->unchecked |= program->unchecked;
    if (!plan->fallback_reason)
        plan->fallback_reason = program->fallback_reason;
    for (uint32_t i = 0; i < record->link_count; i++)
        need_parameters(plan, (uint64_t)record->links[i].parameter_offset + record->links[i].size);
    for (int d = 0; d < 3; d++) {
        if (record->global_size_parameter[d])
            need_parameters(plan,
                            (uint64_t)record->global_size_parameter[d] - 1 + sizeof(uint32_t));
    }
}

static ls_status list_needs(ls__plan *plan, ls_error *error)
{
    bool overflow = false;
    for (uint32_t i = 0; i < plan->record_count; i++) {
        const ls__record *record = plan->records[i];
        if (record->kind == LS__COMMAND_DISPATCH)
            add_dispatch(plan, record);
        if (record->has_slot && record->slot >= plan->slot_count)
            plan->slot_count = record->slot + 1;
        if (record->has_slot && record->kind == LS__COMMAND_UPLOAD)
            overflow |=
                __builtin_add_overflow(plan->slot_upload_bytes, ls__round16(record->uses[0].size),
                                       &plan->slot_upload_bytes);
    }
    for (uint32_t i = 0; i < plan->block_count; i++) {
        if (plan->blocks[i].rounds_parameter)
            need_parameters(plan,
                            (uint64_t)plan->blocks[i].rounds_parameter - 1 + sizeof(uint32_t));
    }
    if (overflow || plan->slot_upload_bytes > SIZE_MAX / 2)
        return ls__fail(error, LS_E_LIMIT, "the upload slots of the batch have too many bytes");
    return LS_OK;
}

/* --- parts ------------------------------------------------------------------------------------ */
static bool is_remote(const ls__record *record)
{
    return record->kernel->program->built->device != record->device;
}

bool ls__record_runs_whole(const ls__record *record)
{
    const uint32_t *parameter = record->global_size_parameter;
    uint32_t size[3];
    if (record->kind != LS__COMMAND_DISPATCH || !record->kernel->whole || is_remote(record) ||
        record->indirect || parameter[0] || parameter[1] || parameter[2])
        return false;
    memcpy(size, record->global_size, sizeof size);
    ls__global_size(size);
    return ls__fits_whole(record->kernel, size);
}

bool ls__record_is_conducted(const ls__record *record)
{
    if (record->kind != LS__COMMAND_DISPATCH)
        return false;
    bool split = record->kernel->entry->segment_count && !ls__record_runs_whole(record);
    return split || is_remote(record);
}

/* Adds commands [first, end) to the last part if that is a plain one of the same kind, else as a
 * new part. */
static ls__part *add_plain(ls__plan *plan, uint32_t first, uint32_t end, uint32_t block,
                           uint32_t unrolled)
{
    ls__part *last = plan->part_count ? &plan->parts[plan->part_count - 1] : NULL;
    if (!last || last->conducted || last->unrolled != unrolled) {
        last = &plan->parts[plan->part_count++];
        *last = (ls__part){.first = first, .first_block = block, .unrolled = unrolled};
    }
    last->end = end;
    return last;
}

static void add_command(ls__plan *plan, uint32_t command, uint32_t block, uint32_t unrolled)
{
    if (ls__record_is_conducted(plan->records[command]))
        plan->parts[plan->part_count++] = (ls__part){
            .conducted = true, .first = command, .end = command + 1, .unrolled = unrolled};
    else
        add_plain(plan, command, command + 1, block, unrolled);
}

static ls_status list_parts(ls__plan *plan, ls_error *error)
{
    plan->parts = ls__mem_alloc(plan->record_count, sizeof *plan->parts);
    if (!plan->parts)
        return ls__fail_oom(error, plan->record_count * sizeof *plan->parts);
    uint32_t block = 0;
    for (uint32_t i = 0; i < plan->record_count;) {
        if (block == plan->block_count || plan->blocks[block].first != i) {
            add_command(plan, i, block, LS__NO_BLOCK);
            i++;
            continue;
        }
        uint32_t end = plan->blocks[block].end;
        bool conducted = false;
        for (uint32_t k = i; k < end; k++)
            conducted |= ls__record_is_conducted(plan->records[k]);
        if (!conducted)
            add_plain(plan, i, end, block, LS__NO_BLOCK)->block_count++;
        for (uint32_t k = i; conducted && k < end; k++)
            add_command(plan, k, block, block);
        i = end;
        block++;
    }
    return LS_OK;
}

/* --- the plan --------------------------------------------------------------------------------- */
static ls_status check_batch(const ls_batch *batch, ls_error *error)
{
    if (batch->block_open)
        return ls__fail(error, LS_E_STATE, "a repeat block of the batch was not ended");
    if (batch->count == 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the batch has no commands");
    return LS_OK;
}

static ls_status copy_lists(ls__plan *plan, const ls_batch *batch, ls_error *error)
{
    plan->records = ls__mem_alloc(batch->count, sizeof *plan->records);
    plan->blocks = ls__mem_alloc(batch->block_count, sizeof *plan->blocks);
    if (!plan->records || !plan->blocks)
        return ls__fail_oom(error, batch->count * sizeof *plan->records);
    for (uint32_t i = 0; i < batch->count; i++) {
        plan->records[i] = batch->records[i];
        ls__record_retain(plan->records[i]);
    }
    plan->record_count = batch->count;
    if (batch->block_count)
        memcpy(plan->blocks, batch->blocks, batch->block_count * sizeof *plan->blocks);
    plan->block_count = batch->block_count;
    return LS_OK;
}

ls_status ls__plan_create(const ls_batch *batch, ls__plan **plan, ls_error *error)
{
    *plan = NULL;
    ls_status status = check_batch(batch, error);
    if (status != LS_OK)
        return status;
    ls__plan *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    atomic_init(&made->refs, 1);
    made->device = batch->device;
    status = copy_lists(made, batch, error);
    if (status == LS_OK)
        status = list_uses(made, error);
    if (status == LS_OK)
        status = list_parts(made, error);
    if (status == LS_OK)
        status = list_needs(made, error);
    if (status != LS_OK) {
        ls__plan_release(made);
        return status;
    }
    *plan = made;
    return LS_OK;
}
