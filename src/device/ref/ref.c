/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference device. Programs are the IR itself, which the interpreter runs on the executor's
 * thread.
 *
 * With the sanitizer on, every allocation keeps a map of the bytes that have been written, and what
 * the interpreter finds is handed to the caller's function.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/ref/ref.h"
#include "interp/interp.h"

enum { MAX_BUFFERS = 64 };

typedef struct ref_device {
    ls__host *host;
    ls_schedule schedule;
    uint64_t seed;
    bool sanitize, check_bounds;
    void (*on_report)(void *context, const ls_sanitizer_report *report);
    void *report_context;
    struct ls__arena_block *spare; /* the interpreter's memory, between dispatches */
} ref_device;

typedef struct ref_program {
    const ls__ir_module *module;
    const ls__backend_kernel *kernels;
} ref_program;

static ref_device *ref_of(const ls__backend_device *device)
{
    return (ref_device *)device;
}

/* --- dispatches ------------------------------------------------------------------------------- */
static void report(void *context, const ls__interp_report *found)
{
    static const char *const kinds[] = {
#define X(name, text) [LS__INTERP_##name] = text,
        LS__INTERP_REPORT_TABLE(X)
#undef X
    };
    const ref_device *device = context;
    if (!device->on_report)
        return;
    const ls__ir_module *module = found->kernel->module;
    ls__ir_loc loc = found->inst ? found->inst->loc : (ls__ir_loc){0};
    ls_sanitizer_report out = {
        .struct_size = sizeof out,
        .kind = kinds[found->kind],
        .detail = found->detail ? found->detail : "",
        .kernel = found->kernel->name,
        .file = loc.line && loc.file < module->files.count ? module->files.items[loc.file] : "",
        .line = loc.line,
        .column = loc.column,
        .lane = found->lane,
        .object = found->object ? found->object : "",
        .index = found->index,
        .byte_offset = found->offset,
        .object_count = found->object_count,
        .other_lane = found->other_lane,
        .other_line = found->other_loc.line,
    };
    memcpy(out.workgroup, found->workgroup, sizeof out.workgroup);
    memcpy(out.other_workgroup, found->other_workgroup, sizeof out.other_workgroup);
    ls__os_fenv ours; /* whatever the caller's function does to it */
    ls__os_fenv_enter(&ours);
    device->on_report(device->report_context, &out);
    ls__os_fenv_leave(&ours);
}

static ls__interp_schedule schedule_of(ls_schedule schedule)
{
    switch (schedule) {
    case LS_SCHEDULE_REVERSE:
        return LS__INTERP_REVERSE;
    case LS_SCHEDULE_SEED:
        return LS__INTERP_SEED;
    case LS_SCHEDULE_ASCENDING:
        break;
    }
    return LS__INTERP_ASCENDING;
}

static ls_status dispatch(void *context, const ls__host_dispatch *d,
                          ls__host_dispatch_result *result, ls_error *error)
{
    ref_device *device = context;
    const ref_program *program = (const ref_program *)d->command->program;
    const ls__backend_kernel *kernel = &program->kernels[d->command->kernel];
    ls__interp_binding bindings[MAX_BUFFERS];
    for (uint32_t i = 0; i < d->command->buffer_count; i++) {
        const ls__span *span = &d->command->buffers[i];
        ls__host_memory *memory = ls__host_memory_of(span);
        bindings[i] = (ls__interp_binding){
            .bytes = memory->bytes + span->offset,
            .size = span->size,
            .identity = (uintptr_t)memory,
            .offset = span->offset,
            .written = memory->written ? memory->written + span->offset : NULL,
        };
    }
    ls__interp_launch launch = {
        .module = program->module,
        .kernel = program->module->functions.items[kernel->function],
        .bindings = bindings,
        .scalars = d->command->scalars,
        .global_size = {d->global_size[0], d->global_size[1], d->global_size[2]},
        .iteration = d->iteration,
        .schedule = schedule_of(device->schedule),
        .seed = device->seed,
        .sanitize = device->sanitize,
        .check_bounds = device->check_bounds,
        .on_report = report,
        .context = device,
        .cancel = &d->job->cancel,
        .spare = &device->spare,
    };
    ls__interp_result ran = {0};
    ls_status status = ls__interp_run(&launch, &ran, error);
    *result = (ls__host_dispatch_result){
        .trapped = ran.trapped,
        .trap_code = ran.trap_code,
        .trap_lane = ran.trap_lane,
        .trap_workgroup = ran.trap_workgroup,
        .lanes_run = ran.lanes_run,
        .sanitizer_reports = ran.report_count,
    };
    return status;
}

/* --- the device ------------------------------------------------------------------------------- */
static uint32_t list(ls_device_info *infos, uint32_t capacity)
{
    if (capacity)
        infos[0] = (ls_device_info){
            .name = "reference",
            .description = "the interpreter that defines the results",
            .kind = LS_DEVICE_REFERENCE,
            .usable = true,
        };
    return 1;
}

ls_status ls__ref_open(const ls_device_params *params, const ls__host_device *hooks,
                       ls__backend_device **device, ls_error *error)
{
    ls__host_device host = {.dispatch = dispatch};
    *device = NULL;
    if ((uint32_t)params->schedule > LS_SCHEDULE_SEED)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "unknown schedule %u",
                        (unsigned)params->schedule);
    ref_device *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->schedule = params->schedule;
    made->seed = params->schedule_seed;
    made->sanitize = params->sanitize;
    made->check_bounds = params->check_bounds;
    made->on_report = params->on_report;
    made->report_context = params->report_context;
    host.context = made;
    if (hooks) {
        host.hook_context = hooks->hook_context;
        host.before_command = hooks->before_command;
        host.after_job = hooks->after_job;
    }
    ls_status status = ls__host_create(&host, &made->host, error);
    if (status != LS_OK) {
        ls__mem_free(made);
        return status;
    }
    *device = (ls__backend_device *)made;
    return LS_OK;
}

static ls_status open_device(const ls__backend_open_params *params, ls__backend_device **device,
                             ls_error *error)
{
    return ls__ref_open(params->params, NULL, device, error);
}

static void close_device(ls__backend_device *device)
{
    ref_device *closed = ref_of(device);
    ls__host_destroy(&closed->host);
    ls__arena_free_spare(&closed->spare);
    ls__mem_free(closed);
}

static const ls_caps *caps_of(const ls__backend_device *device)
{
    static const ls_caps caps = {
        .struct_size = sizeof caps,
        .max_workgroup_lanes = 1024,
        .max_shared_bytes = 65536,
        .max_buffers = MAX_BUFFERS - 1, /* one is for the scratch of split grid barriers */
        .max_scalar_bytes = 4096,
        .max_local_bytes = 65536,
        .max_range_bytes = (uint64_t)1 << 40,
        .subgroup_native_lanes = 32,
        .f64 = true,
        .atomics64 = true,
        .grid_barrier_native = true,
        .map_direct = true,
        .import_host = true,
        .timing_unavailable = "the reference device has no clock of its own",
        .cancel = true,
    };
    (void)device;
    return &caps;
}

/* --- memory and programs ---------------------------------------------------------------------- */
static ls_status allocate(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error)
{
    return ls__host_memory_create(NULL, size, ref_of(device)->sanitize, memory, error);
}

static ls_status program_build(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error)
{
    (void)device;
    ref_program *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->module = code->module;
    made->kernels = code->kernels;
    *program = (ls__backend_program *)made;
    return LS_OK;
}

static void program_free(ls__backend_device *device, ls__backend_program *program)
{
    (void)device;
    ls__mem_free(program);
}

static void start(ls__backend_device *device, ls__job *job)
{
    ls__host_start(ref_of(device)->host, job);
}

static bool run_job(ls__backend_device *device, ls__job *job)
{
    /* The function that gets reports is called from the device's thread. */
    return !ref_of(device)->on_report && ls__host_run(ref_of(device)->host, job);
}

static void cancel(ls__backend_device *device, ls__job *job)
{
    ls__host_cancel(ref_of(device)->host, job);
}

static bool trusted(const ls__backend_device *device)
{
    (void)device;
    return true; /* the definition */
}

const ls__backend ls__ref_backend = {
    .family = "reference",
    .list = list,
    .open = open_device,
    .close = close_device,
    .caps = caps_of,
    .trusted = trusted,
    .allocate = allocate,
    .import = ls__host_import,
    .release = ls__host_release,
    .map = ls__host_map,
    .read = ls__host_read,
    .write = ls__host_write,
    .program_build = program_build,
    .program_free = program_free,
    .start = start,
    .run = run_job,
    .cancel = cancel,
    .cancel_grace_ns = 10000000000u,
    .only_by_name = true,
};
