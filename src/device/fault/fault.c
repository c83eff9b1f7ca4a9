/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault device stands in front of a reference device. It has the portable minimum of
 * capabilities and none of the conveniences (no direct maps, no imports, no grid barriers, but
 * native replay), so that core's ways around missing ones are used somewhere; and it fails where
 * its plan says.
 *
 * Counters are atomics: allocations come from any thread, commands from the executor's. The same
 * goes for the list of spoiled modules, which lasts as long as the device, since programs refer to
 * them.
 */
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/fault/fault.h"
#include "device/fault/wrong.h"
#include "device/ref/ref.h"

typedef struct spoiled {
    ls__ir_module *module;
    struct spoiled *next;
} spoiled;

typedef struct fault_device {
    ls__backend_device *ref;
    ls_fault_plan plan;
    _Atomic(spoiled *) spoiled;
    _Atomic uint64_t allocations, commands, submissions;
} fault_device;

static fault_device *fault_of(const ls__backend_device *device)
{
    return (fault_device *)device;
}

/* --- faults ----------------------------------------------------------------------------------- */
static const uint64_t poll_ns = 1000000;

static ls_status before_command(void *context, const ls__job *job, ls_error *error)
{
    fault_device *device = context;
    uint64_t number = atomic_fetch_add(&device->commands, 1) + 1;
    if (number == device->plan.fail_command)
        return ls__fail(error, LS_E_IO, "the fault device failed command %llu, as planned",
                        (unsigned long long)number);
    if (number == device->plan.lose_at_command)
        return ls__fail(error, LS_E_INDETERMINATE,
                        "the fault device was lost at command %llu, as planned",
                        (unsigned long long)number);
    while (number == device->plan.hang_at_command)
        ls__os_sleep_ns(poll_ns);
    while (number == device->plan.spin_at_command) {
        if (atomic_load(&job->cancel))
            return ls__fail(error, LS_E_CANCELLED, "cancelled");
        ls__os_sleep_ns(poll_ns);
    }
    return LS_OK;
}

static void after_job(void *context)
{
    const fault_device *device = context;
    if (device->plan.delay_ns)
        ls__os_sleep_ns(device->plan.delay_ns);
}

static ls_status allocate(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error)
{
    fault_device *fault = fault_of(device);
    uint64_t number = atomic_fetch_add(&fault->allocations, 1) + 1;
    *memory = NULL;
    if (number == fault->plan.fail_allocation)
        return ls__fail(
            error, LS_E_OUT_OF_MEMORY,
            "the fault device has no room for %llu bytes at allocation %llu, as planned",
            (unsigned long long)size, (unsigned long long)number);
    return ls__ref_backend.allocate(fault->ref, size, memory, error);
}

/* --- the device ------------------------------------------------------------------------------- */
static uint32_t list(ls_device_info *infos, uint32_t capacity)
{
    if (capacity)
        infos[0] = (ls_device_info){
            .name = "fault",
            .description = "the reference with minimal capabilities, failing on request",
            .kind = LS_DEVICE_TEST,
            .usable = true,
        };
    return 1;
}

static ls_status open_device(const ls__backend_open_params *params, ls__backend_device **device,
                             ls_error *error)
{
    *device = NULL;
    fault_device *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    if (params->params->fault)
        made->plan = *params->params->fault;
    ls__host_device hooks = {
        .hook_context = made, .before_command = before_command, .after_job = after_job};
    ls_status status = ls__ref_open(params->params, &hooks, &made->ref, error);
    if (status != LS_OK) {
        ls__mem_free(made);
        return status;
    }
    *device = (ls__backend_device *)made;
    return LS_OK;
}

static void close_device(ls__backend_device *device)
{
    fault_device *fault = fault_of(device);
    ls__ref_backend.close(fault->ref);
    for (spoiled *at = fault->spoiled, *next; at; at = next) {
        next = at->next;
        ls__ir_module_destroy(&at->module);
        ls__mem_free(at);
    }
    ls__mem_free(fault);
}

static const ls_caps *caps_of(const ls__backend_device *device)
{
    static const ls_caps caps = {
        .struct_size = sizeof caps,
        .max_workgroup_lanes = 256,
        .max_shared_bytes = 16384,
        .max_buffers = 16,
        .max_scalar_bytes = 1024,
        .max_local_bytes = 4096,
        .max_range_bytes = (uint64_t)1 << 32,
        .prepared_native = true,
        .timing_unavailable = "the fault device has no clock of its own",
        .cancel = true,
    };
    (void)device;
    return &caps;
}

static void release(ls__backend_device *device, ls__backend_memory *memory)
{
    ls__ref_backend.release(fault_of(device)->ref, memory);
}

static ls_status read_span(ls__backend_device *device, const ls__span *span, void *bytes,
                           ls_error *error)
{
    return ls__ref_backend.read(fault_of(device)->ref, span, bytes, error);
}

static ls_status write_span(ls__backend_device *device, const ls__span *span, const void *bytes,
                            ls_error *error)
{
    return ls__ref_backend.write(fault_of(device)->ref, span, bytes, error);
}

/* A reference stands behind this device, so nothing of it needs to be proven. */
static bool trusted(const ls__backend_device *device)
{
    return fault_of(device)->plan.wrong_op == LS_OP_NONE;
}

static ls_status program_build(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error)
{
    fault_device *fault = fault_of(device);
    ls__backend_code wrong = *code;
    if (!trusted(device)) {
        spoiled *made = ls__mem_alloc(1, sizeof *made);
        *program = NULL;
        if (!made)
            return ls__fail_oom(error, sizeof *made);
        ls_status status =
            ls__fault_wrong_copy(code->module, fault->plan.wrong_op, &made->module, error);
        if (status != LS_OK) {
            ls__mem_free(made);
            return status;
        }
        made->next = atomic_load(&fault->spoiled);
        while (!atomic_compare_exchange_weak(&fault->spoiled, &made->next, made))
            ;
        wrong.module = made->module;
        code = &wrong;
    }
    return ls__ref_backend.program_build(fault_of(device)->ref, code, program, error);
}

static void program_free(ls__backend_device *device, ls__backend_program *program)
{
    ls__ref_backend.program_free(fault_of(device)->ref, program);
}

/* --- jobs ------------------------------------------------------------------------------------- */
/* The recording is a stand-in: what it would replay is in the job as well. */
static ls_status prepare(ls__backend_device *device, const ls__job *job,
                         ls__backend_prepared **prepared, ls_error *error)
{
    (void)device;
    uint32_t *count = ls__mem_alloc(1, sizeof *count);
    if (!count)
        return ls__fail_oom(error, sizeof *count);
    *count = job->command_count;
    *prepared = (ls__backend_prepared *)count;
    return LS_OK;
}

static void unprepare(ls__backend_device *device, ls__backend_prepared *prepared)
{
    (void)device;
    ls__mem_free(prepared);
}

static ls_status accept_job(ls__backend_device *device, ls__job *job, ls_error *error)
{
    fault_device *fault = fault_of(device);
    uint64_t number = atomic_fetch_add(&fault->submissions, 1) + 1;
    (void)job;
    if (number != fault->plan.reject_submit)
        return LS_OK;
    ls__fail(error, LS_E_IO, "the fault device refused submission %llu, as planned",
             (unsigned long long)number);
    if (error)
        error->retryable = true;
    return LS_E_IO;
}

static void start(ls__backend_device *device, ls__job *job)
{
    ls__ref_backend.start(fault_of(device)->ref, job);
}

static void cancel(ls__backend_device *device, ls__job *job)
{
    ls__ref_backend.cancel(fault_of(device)->ref, job);
}

const ls__backend ls__fault_backend = {
    .family = "fault",
    .list = list,
    .open = open_device,
    .close = close_device,
    .caps = caps_of,
    .trusted = trusted,
    .allocate = allocate,
    .release = release,
    .read = read_span,
    .write = write_span,
    .program_build = program_build,
    .program_free = program_free,
    .prepare = prepare,
    .unprepare = unprepare,
    .accept = accept_job,
    .start = start,
    .cancel = cancel,
    .cancel_grace_ns = 500000000,
    .only_by_name = true,
};
