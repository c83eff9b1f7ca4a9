/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A submission made from its plan: parameters patched in, slots copied, ranges turned into spans,
 * jobs laid out.
 *
 * All of it is one block of memory. layout() hands out its pieces; it runs twice, first to count.
 * Everything that can fail for want of memory happens here, so that a running submission allocates
 * nothing.
 */
#include <string.h>

#include "core/queue.h"

enum { MAX_ROWS = 1 << 24, MAX_TRACED_ROWS = 1 << 20, BOUNCE_BYTES = 256 << 10 };

/* --- layout ----------------------------------------------------------------------------------- */
typedef struct carver {
    uint8_t *base; /* NULL while counting */
    size_t used;
} carver;

static void *take(carver *c, uint64_t count, size_t size)
{
    void *piece = c->base ? c->base + c->used : NULL;
    c->used += ls__round16(count * size);
    return piece;
}

static bool is_remote(const ls__record *record)
{
    return record->kernel->program->built->device != record->device;
}

static uint32_t job_count(const ls__plan *plan, const ls__part *part)
{
    if (!part->conducted)
        return 1;
    const ls_kernel *kernel = plan->records[part->first]->kernel;
    uint32_t segments = kernel->entry->segment_count;
    return segments ? segments + (kernel->whole ? 2 : 1) : 1;
}

static void layout(carver *c, ls__submission *s, const ls__plan *plan, uint32_t wait_count,
                   ls__span **spans, uint8_t **slot_bytes)
{
    s->waits = take(c, wait_count, sizeof *s->waits);
    s->commands = take(c, plan->record_count, sizeof *s->commands);
    s->repeats = take(c, plan->block_count, sizeof *s->repeats);
    s->scalars = take(c, plan->scalar_bytes, 1);
    s->parts = take(c, plan->part_count, sizeof *s->parts);
    *spans = take(c, plan->span_count, sizeof **spans);
    *slot_bytes = take(c, plan->slot_upload_bytes, 1);
    for (uint32_t i = 0; i < plan->part_count; i++) {
        const ls__part *part = &plan->parts[i];
        uint32_t jobs = job_count(plan, part);
        ls__part_run run = {
            .jobs = take(c, jobs, sizeof *run.jobs), .job_count = jobs, .device = plan->device};
        if (part->conducted) {
            const ls__record *record = plan->records[part->first];
            run.record = record;
            run.device = record->kernel->program->built->device;
            run.commands = take(c, jobs, sizeof *run.commands);
            run.spans = take(c, record->kernel->info.buffer_count + 1, sizeof *run.spans);
            run.copies = take(c, record->kernel->info.buffer_count, sizeof *run.copies);
        }
        if (c->base)
            s->parts[i] = run;
    }
}

/* --- commands --------------------------------------------------------------------------------- */
typedef struct filler {
    ls__submission *s;
    const ls_submit_params *params; /* NULL: a template, nothing is patched in */
    ls__span *spans;                /* next free one */
    uint8_t *scalars;
    uint8_t *slot_bytes;
} filler;

static uint32_t parameter_u32(const filler *f, uint32_t fixed, uint32_t link)
{
    uint32_t value = fixed;
    if (link && f->params)
        memcpy(&value, (const uint8_t *)f->params->parameters + (link - 1), sizeof value);
    return value;
}

static ls_status fill_dispatch(filler *f, const ls__record *record, ls__command_dispatch *d,
                               ls_error *error)
{
    const ls_kernel *kernel = record->kernel;
    bool whole = ls__record_runs_whole(record);
    d->program = ls__built_code(whole ? kernel->program->whole : kernel->program->built);
    d->kernel = whole ? kernel->whole->first : kernel->entry->first;
    d->buffer_count = kernel->info.buffer_count;
    d->buffers = f->spans;
    for (uint32_t i = 0; i < record->use_count; i++) {
        const ls__use *use = &record->uses[i];
        *f->spans++ = (ls__span){use->allocation->memory, use->offset, use->size};
    }
    d->indirect = record->indirect;
    if (record->indirect)
        d->sizes = d->buffers[d->buffer_count];
    memcpy(d->maximum, record->maximum, sizeof d->maximum);

    uint32_t scalar_bytes = kernel->info.scalar_bytes;
    d->scalars = f->scalars;
    if (scalar_bytes)
        memcpy(f->scalars, record->scalars, scalar_bytes);
    for (uint32_t i = 0; f->params && i < record->link_count; i++) {
        const ls_scalar_link *link = &record->links[i];
        memcpy(f->scalars + link->scalar_offset,
               (const uint8_t *)f->params->parameters + link->parameter_offset, link->size);
    }
    f->scalars += ls__round16(scalar_bytes);

    for (int i = 0; i < 3; i++)
        d->global_size[i] =
            parameter_u32(f, record->global_size[i], record->global_size_parameter[i]);
    ls__global_size(d->global_size);
    return ls__record_check_size(kernel, d->global_size, error);
}

static ls_status fill_slot(filler *f, const ls__record *record, ls__command *command,
                           ls_error *error)
{
    bool upload = record->kind == LS__COMMAND_UPLOAD;
    const ls_slot *slot = f->params ? &f->params->slots[record->slot] : NULL;
    if (slot && !(upload ? slot->upload : slot->download))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "slot %u has no host memory for the %s of command %u", record->slot,
                        upload ? "upload" : "download", command->index);
    if (!upload) {
        command->download = slot ? slot->download : NULL;
        return LS_OK;
    }
    uint64_t size = record->uses[0].size;
    if (slot)
        memcpy(f->slot_bytes, slot->upload, size);
    command->upload = f->slot_bytes;
    f->slot_bytes += ls__round16(size);
    return LS_OK;
}

static ls_status fill_command(filler *f, uint32_t index, ls_error *error)
{
    const ls__record *record = f->s->plan->records[index];
    ls__command *command = &f->s->commands[index];
    const ls__use *use = record->uses;
    command->kind = record->kind;
    command->index = index;
    switch (record->kind) {
    case LS__COMMAND_DISPATCH:
        return fill_dispatch(f, record, &command->dispatch, error);
    case LS__COMMAND_COPY:
        command->target = (ls__span){use[0].allocation->memory, use[0].offset, use[0].size};
        command->source = (ls__span){use[1].allocation->memory, use[1].offset, use[1].size};
        break;
    case LS__COMMAND_UPLOAD:
        command->target = (ls__span){use->allocation->memory, use->offset, use->size};
        command->upload = record->upload;
        break;
    case LS__COMMAND_FILL:
        command->target = (ls__span){use->allocation->memory, use->offset, use->size};
        memcpy(command->fill.pattern, record->pattern, sizeof record->pattern);
        command->fill.bytes = record->pattern_bytes;
        break;
    case LS__COMMAND_DOWNLOAD:
        command->source = (ls__span){use->allocation->memory, use->offset, use->size};
        command->download = record->download;
        break;
    }
    return record->has_slot ? fill_slot(f, record, command, error) : LS_OK;
}

/* --- parts ------------------------------------------------------------------------------------ */
static void fill_job(ls__submission *s, ls__job *job)
{
    job->scalars = s->scalars;
    job->scalar_bytes = s->plan->scalar_bytes;
    job->timing = s->timing || ls__trace_active(s->device);
    job->owner = s;
    atomic_init(&job->cancel, 0);
}

static void fill_plain(ls__submission *s, uint32_t index)
{
    const ls__part *part = &s->plan->parts[index];
    ls__job *job = s->parts[index].jobs;
    fill_job(s, job);
    job->commands = s->commands + part->first;
    job->command_count = part->end - part->first;
    job->repeats = s->repeats + part->first_block;
    job->repeat_count = part->block_count;
    for (uint32_t i = 0; i < part->block_count; i++) {
        s->repeats[part->first_block + i].first -= part->first;
        s->repeats[part->first_block + i].end -= part->first;
    }
    if (s->plan->prepared)
        job->prepared = s->plan->prepared[index];
}

/* Copies of the ranges on the device where the kernel runs. */
static ls_status make_copies(ls__part_run *run, ls_error *error)
{
    for (uint32_t i = 0; i < run->record->kernel->info.buffer_count; i++) {
        ls_status status = ls__allocation_create(run->device, run->own[i].size,
                                                 "copy for a fallback", &run->copies[i], error);
        if (status != LS_OK)
            return status;
        run->spans[i] = (ls__span){run->copies[i]->memory, 0, run->own[i].size};
    }
    return LS_OK;
}

static ls_status make_scratch(ls__part_run *run, const uint32_t size[3], ls_error *error)
{
    const ls_kernel *kernel = run->record->kernel;
    uint64_t bytes;
    bool overflow = !ls__padded_lanes(kernel, size, &bytes);
    overflow |= __builtin_mul_overflow(bytes, kernel->entry->scratch_bytes_per_lane, &bytes);
    overflow |= __builtin_add_overflow(bytes, kernel->entry->scratch_bytes_fixed, &bytes);
    if (overflow)
        return ls__fail(error, LS_E_OUT_OF_MEMORY,
                        "kernel '%s' has too many lanes for a device without grid barriers",
                        kernel->info.name);
    if (bytes < sizeof(uint64_t))
        bytes = sizeof(uint64_t); /* the number of the next segment */
    return ls__allocation_create(run->device, bytes, "scratch for grid barriers", &run->scratch,
                                 error);
}

bool ls__fits_whole(const ls_kernel *kernel, const uint32_t size[3])
{
    if (!kernel->whole)
        return false;
    const ls__built *whole = kernel->program->whole;
    uint64_t most = whole->device->backend->whole_groups(
        whole->device->handle, ls__built_code(whole), kernel->whole->first);
    uint64_t groups = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t lanes = kernel->info.workgroup[i];
        groups *= size[i] ? (size[i] - 1) / lanes + UINT64_C(1) : 0;
        if (groups > most)
            return false;
    }
    return true;
}

/* The clearing of the scratch buffer, and the launch of the whole form. */
static void fill_last_commands(ls__part_run *run, const ls__command *command)
{
    const ls_kernel *kernel = run->record->kernel;
    uint32_t segments = kernel->entry->segment_count;
    if (!segments)
        return;
    run->commands[segments] = (ls__command){
        .kind = LS__COMMAND_FILL,
        .index = command->index,
        .target = run->spans[command->dispatch.buffer_count],
        .fill = {.bytes = 1},
    };
    if (!kernel->whole)
        return;
    ls__command *whole = &run->commands[segments + 1];
    *whole = *command;
    whole->dispatch.indirect = false;
    whole->dispatch.program = ls__built_code(kernel->program->whole);
    whole->dispatch.kernel = kernel->whole->first;
}

static ls_status fill_conducted(ls__submission *s, uint32_t index, ls_error *error)
{
    ls__part_run *run = &s->parts[index];
    const ls__command *command = &s->commands[s->plan->parts[index].first];
    const ls__command_dispatch *d = &command->dispatch;
    uint32_t segments = run->record->kernel->entry->segment_count;
    ls_status status = LS_OK;
    run->own = (ls__span *)d->buffers;
    if (d->buffer_count)
        memcpy(run->spans, run->own, d->buffer_count * sizeof *run->spans);
    if (is_remote(run->record)) {
        status = ls__device_check(run->device, error);
        if (status == LS_OK)
            status = make_copies(run, error);
    }
    bool scratch =
        segments && (d->indirect || !ls__fits_whole(run->record->kernel, d->global_size));
    if (status == LS_OK && scratch)
        status = make_scratch(run, d->indirect ? d->maximum : d->global_size, error);
    if (status != LS_OK)
        return status;
    if (scratch)
        run->spans[d->buffer_count] = (ls__span){run->scratch->memory, 0, run->scratch->size};
    for (uint32_t i = 0; i < run->job_count; i++) {
        fill_job(s, &run->jobs[i]);
        run->jobs[i].commands = &run->commands[i];
        run->jobs[i].command_count = 1;
        run->commands[i] = *command;
        run->commands[i].dispatch.indirect = false;
        run->commands[i].dispatch.kernel += i;
        run->commands[i].dispatch.buffers = run->spans;
        run->commands[i].dispatch.buffer_count = d->buffer_count + (segments ? 1 : 0);
    }
    fill_last_commands(run, command);
    return LS_OK;
}

static ls_status fill_parts(ls__submission *s, ls_error *error)
{
    ls_status status = LS_OK;
    bool remote = false;
    for (uint32_t i = 0; i < s->plan->part_count && status == LS_OK; i++) {
        if (s->plan->parts[i].conducted) {
            status = fill_conducted(s, i, error);
            remote |= is_remote(s->parts[i].record);
        } else {
            fill_plain(s, i);
        }
    }
    if (status != LS_OK || !remote)
        return status;
    status = ls__budget_reserve(s->device, BOUNCE_BYTES, true, "copies for a fallback", error);
    if (status != LS_OK)
        return status;
    s->staging_bytes += BOUNCE_BYTES;
    s->bounce_bytes = BOUNCE_BYTES;
    s->bounce = ls__pool_alloc(s->device, BOUNCE_BYTES, 1);
    return s->bounce ? LS_OK : ls__fail_oom(error, BOUNCE_BYTES);
}

/* --- what the fence keeps --------------------------------------------------------------------- */
/* Commands that will run, repeats counted; UINT64_MAX when they cannot be counted. */
static uint64_t count_executions(const ls__submission *s)
{
    uint64_t total = s->plan->record_count;
    for (uint32_t i = 0; i < s->plan->block_count; i++) {
        uint64_t commands = s->plan->blocks[i].end - s->plan->blocks[i].first;
        uint64_t times;
        if (__builtin_mul_overflow(commands, (uint64_t)s->repeats[i].rounds, &times) ||
            __builtin_add_overflow(total - commands, times, &total))
            return UINT64_MAX;
    }
    return total;
}

/* Labels and kernel names live as long as the fence, the records do not. */
static ls_status copy_names(ls_fence *fence, const ls__plan *plan, ls_error *error)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < plan->record_count; i++) {
        const ls__record *record = plan->records[i];
        bytes += record->tag.label ? strlen(record->tag.label) + 1 : 0;
        bytes += record->kernel ? strlen(record->kernel->info.name) + 1 : 0;
    }
    fence->names =
        ls__pool_alloc(plan->device, plan->record_count * sizeof *fence->names + bytes, 1);
    if (!fence->names)
        return ls__fail_oom(error, bytes);
    char *next = (char *)(fence->names + plan->record_count);
    for (uint32_t i = 0; i < plan->record_count; i++) {
        const ls__record *record = plan->records[i];
        const char *texts[2] = {record->tag.label,
                                record->kernel ? record->kernel->info.name : NULL};
        for (int k = 0; k < 2; k++) {
            if (!texts[k])
                continue;
            size_t length = strlen(texts[k]) + 1;
            memcpy(next, texts[k], length);
            fence->names[i].text[k] = next;
            next += length;
        }
    }
    return LS_OK;
}

static ls_status make_rows(ls__submission *s, ls_error *error)
{
    uint64_t count = count_executions(s);
    bool traced = ls__trace_active(s->device) && count <= MAX_TRACED_ROWS;
    if (s->attribution && count > MAX_ROWS)
        return ls__fail(error, LS_E_LIMIT, "attribution lists at most %d commands", MAX_ROWS);
    if (!s->attribution && !traced)
        return LS_OK;
    s->rows = ls__pool_alloc(s->device, count, sizeof *s->rows);
    s->row_capacity = count;
    if (!s->rows)
        return ls__fail_oom(error, count * sizeof *s->rows);
    if (!s->attribution)
        return LS_OK;
    s->fence->rows = ls__pool_alloc(s->device, count, sizeof *s->fence->rows);
    if (!s->fence->rows)
        return ls__fail_oom(error, count * sizeof *s->fence->rows);
    return copy_names(s->fence, s->plan, error);
}

static ls_status make_fence(ls__submission *s, ls_error *error)
{
    ls_fence *fence = ls__pool_alloc(s->device, 1, sizeof *fence);
    if (!fence)
        return ls__fail_oom(error, sizeof *fence);
    atomic_init(&fence->refs, 1);
    fence->device = s->device;
    fence->submission = s;
    s->fence = fence;
    return make_rows(s, error);
}

/* --- the submission --------------------------------------------------------------------------- */
static ls_status check_params(const ls__plan *plan, const ls_submit_params *params, ls_error *error)
{
    if (params->parameter_bytes < plan->parameter_bytes ||
        (plan->parameter_bytes && !params->parameters))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "the batch takes %llu bytes of parameters, %u were given",
                        (unsigned long long)plan->parameter_bytes,
                        params->parameters ? params->parameter_bytes : 0);
    if (params->slot_count < plan->slot_count || (plan->slot_count && !params->slots))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the batch takes %u slots, %u were given",
                        plan->slot_count, params->slots ? params->slot_count : 0);
    if (params->wait_count && !params->wait)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no fences to wait for were given");
    for (uint32_t i = 0; i < params->wait_count; i++) {
        if (!params->wait[i])
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "fence %u to wait for is NULL", i);
        ls_status status =
            ls__device_match(plan->device, params->wait[i]->device, "a fence to wait for", error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status fill(ls__submission *s, filler *f, ls_error *error)
{
    ls_status status = LS_OK;
    if (s->plan->slot_upload_bytes) {
        status = ls__budget_reserve(s->device, s->plan->slot_upload_bytes, true,
                                    "the copies of upload slots", error);
        if (status != LS_OK)
            return status;
        s->staging_bytes += s->plan->slot_upload_bytes;
    }
    for (uint32_t i = 0; i < s->plan->record_count && status == LS_OK; i++)
        status = fill_command(f, i, error);
    for (uint32_t i = 0; i < s->plan->block_count; i++) {
        const ls__block *block = &s->plan->blocks[i];
        s->repeats[i] = (ls__repeat){block->first, block->end,
                                     parameter_u32(f, block->rounds, block->rounds_parameter)};
    }
    if (status == LS_OK)
        status = make_fence(s, error);
    return status == LS_OK ? fill_parts(s, error) : status;
}

static void fill_waits(ls__submission *s, const ls_submit_params *params)
{
    for (uint32_t i = 0; i < params->wait_count; i++) {
        s->waits[i] = params->wait[i];
        atomic_fetch_add(&s->waits[i]->refs, 1);
    }
    s->wait_count = params->wait_count;
    s->time_limit_ns = params->time_limit_ns;
}

ls_status ls__submission_create(ls__plan *plan, const ls_submit_params *params,
                                ls__submission **submission, ls_error *error)
{
    carver c = {.used = ls__round16(sizeof(ls__submission))};
    ls__submission *s = &(ls__submission){0};
    filler f = {.params = params};
    uint32_t wait_count = params ? params->wait_count : 0;
    *submission = NULL;
    ls_status status = params ? check_params(plan, params, error) : LS_OK;
    if (status != LS_OK)
        return status;
    layout(&c, s, plan, wait_count, &f.spans, &f.slot_bytes);
    s = ls__pool_alloc(plan->device, c.used, 1);
    if (!s)
        return ls__fail_oom(error, c.used);
    c = (carver){(uint8_t *)s, ls__round16(sizeof *s)};
    layout(&c, s, plan, wait_count, &f.spans, &f.slot_bytes);
    s->device = plan->device;
    s->plan = plan;
    ls__plan_retain(plan);
    s->timing = params && params->timing;
    s->attribution = params && params->attribution;
    if (params)
        fill_waits(s, params);
    f.s = s;
    f.scalars = s->scalars;
    status = fill(s, &f, error);
    if (status != LS_OK) {
        ls__submission_free(s);
        return status;
    }
    *submission = s;
    return LS_OK;
}

ls_status ls__submission_accept(ls__submission *s, ls_error *error)
{
    for (uint32_t i = 0; i < s->plan->part_count; i++) {
        ls__part_run *run = &s->parts[i];
        const ls__backend *backend = run->device->backend;
        for (uint32_t k = 0; k < run->job_count; k++) {
            if (backend->accept) {
                ls_status status = backend->accept(run->device->handle, &run->jobs[k], error);
                if (status != LS_OK)
                    return status;
            }
            run->accepted++;
        }
    }
    return LS_OK;
}

void ls__submission_release_uses(ls__submission *s)
{
    for (uint32_t i = 0; s->plan && i < s->plan->part_count; i++) {
        ls__part_run *run = &s->parts[i];
        const ls__backend *backend = run->device->backend;
        for (uint32_t k = 0; k < run->accepted; k++) {
            if (backend->discard)
                backend->discard(run->device->handle, &run->jobs[k]);
        }
        run->accepted = 0;
        for (uint32_t k = 0; run->record && k < run->record->kernel->info.buffer_count; k++)
            ls__allocation_release(run->copies[k]);
        ls__allocation_release(run->scratch);
    }
    for (uint32_t i = 0; i < s->wait_count; i++)
        ls__fence_release(s->waits[i]);
    s->wait_count = 0;
    if (s->staging_bytes)
        ls__budget_release(s->device, s->staging_bytes, true);
    s->staging_bytes = 0;
    ls__pool_free(s->device, s->bounce);
    s->bounce = NULL;
    ls__plan_release(s->plan);
    s->plan = NULL;
}

void ls__submission_free(ls__submission *s)
{
    ls__submission_release_uses(s);
    ls__pool_free(s->device, s->rows);
    if (s->fence)
        ls__fence_release(s->fence);
    ls__pool_free(s->device, s);
}
