/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU device: memory is the host's, jobs run on the executor of device/host, the workgroups of
 * a dispatch on the pool. Results do not depend on the number of threads: a workgroup's writes are
 * its own, atomics whose order cannot show aside, and of several traps the lowest is kept; so it is
 * with accesses out of range (watch.h), which are reported after the dispatch.
 *
 * What a dispatch needs for each thread (scratch memory, a trap record) is there before it begins,
 * so that nothing can fail once something has run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/cpu/cpu.h"
#include "device/cpu/loader.h"
#include "device/cpu/pool.h"
#include "device/cpu/watch.h"
#include "device/host/host.h"
#include "emit/llvm/abi.h"
#include "emit/llvm/target.h"

enum { MAX_BUFFERS = 64, MAX_THREADS = 256 };

typedef struct cpu_device {
    ls__host *host;
    ls__cpu_pool *pool;
    char target[LS__LLVM_TARGET_BYTES], quick_target[LS__LLVM_TARGET_BYTES];
    /* The executor's: by thread. */
    uint8_t *scratch; /* one block, scratch_bytes for each thread */
    uint64_t scratch_bytes;
    ls__cpu_trap *traps;
    void (*on_report)(void *context, const ls_sanitizer_report *report);
    void *report_context;
} cpu_device;

typedef struct cpu_kernel {
    ls__cpu_kernel *code;
    const ls__cpu_kernel_info *info;
    uint64_t lane_ps; /* what a lane takes, in picoseconds; 0 = not known */
} cpu_kernel;

typedef struct cpu_program {
    ls__cpu_object *object;
    struct ls__built *built; /* for ls__backend_describe */
    const ls__backend_kernel *descriptions;
    cpu_kernel *kernels;
    ls__cpu_watch *watch; /* NULL: the program has no sites */
} cpu_program;

static cpu_device *cpu_of(const ls__backend_device *device)
{
    return (cpu_device *)(uintptr_t)device;
}

/* --- dispatches ------------------------------------------------------------------------------- */

typedef struct run {
    const cpu_device *device;
    const cpu_kernel *kernel;
    const ls__cpu_args *args; /* but for the trap record */
    atomic_bool stopped;
} run;

static bool run_workgroups(void *context, uint32_t thread, uint64_t first, uint64_t count)
{
    run *r = context;
    ls__cpu_args args = *r->args;
    args.trap = &r->device->traps[thread];
    uint8_t *scratch = r->device->scratch;
    if (scratch)
        scratch += r->device->scratch_bytes * thread;
    if (r->kernel->code(&args, first, count, scratch) == 0)
        return true;
    atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
    return false;
}

static ls_status reserve_scratch(cpu_device *device, uint64_t bytes, ls_error *error)
{
    void *memory = NULL;
    bytes = (bytes + LS__CPU_SCRATCH_ALIGNMENT - 1) / LS__CPU_SCRATCH_ALIGNMENT *
            LS__CPU_SCRATCH_ALIGNMENT;
    if (bytes <= device->scratch_bytes)
        return LS_OK;
    uint32_t threads = ls__cpu_pool_threads(device->pool);
    if (bytes > SIZE_MAX / threads ||
        posix_memalign(&memory, LS__CPU_SCRATCH_ALIGNMENT, (size_t)bytes * threads) != 0)
        return ls__fail_oom(error, (size_t)bytes * threads);
    free(device->scratch);
    device->scratch = memory;
    device->scratch_bytes = bytes;
    return LS_OK;
}

static bool comes_before(const ls__cpu_trap *a, const ls__cpu_trap *b)
{
    return a->workgroup < b->workgroup || (a->workgroup == b->workgroup && a->lane < b->lane);
}

static void report_trap(const cpu_device *device, ls__host_dispatch_result *result)
{
    const ls__cpu_trap *lowest = NULL;
    for (uint32_t i = 0; i < ls__cpu_pool_threads(device->pool); i++) {
        const ls__cpu_trap *trap = &device->traps[i];
        if (trap->trapped && (!lowest || comes_before(trap, lowest)))
            lowest = trap;
    }
    if (!lowest)
        return;
    result->trapped = true;
    result->trap_code = lowest->code;
    result->trap_lane = lowest->lane;
    result->trap_workgroup = lowest->workgroup;
}

/* Answers how many findings there are. */
static uint64_t report_outside(const cpu_device *device, const cpu_program *program,
                               const ls__backend_kernel *kernel, const ls__cpu_args *args)
{
    const ls__outside *found;
    uint32_t count = ls__cpu_watch_end(program->watch, &found);
    for (uint32_t i = 0; i < count && device->on_report; i++) {
        uint32_t x = args->workgroup_count[0], y = args->workgroup_count[1];
        ls_sanitizer_report report;
        ls__backend_describe(program->built, kernel, &found[i], &report);
        report.workgroup[0] = (uint32_t)(found[i].workgroup % x);
        report.workgroup[1] = (uint32_t)(found[i].workgroup / x % y);
        report.workgroup[2] = (uint32_t)(found[i].workgroup / x / y);
        ls__os_fenv ours; /* whatever the caller's function does to it */
        ls__os_fenv_enter(&ours);
        device->on_report(device->report_context, &report);
        ls__os_fenv_leave(&ours);
    }
    return count;
}

/* Lanes differ from launch to launch, so this is a guess; it only decides how many threads are
 * woken.
 */
static uint64_t expected_ns(const cpu_kernel *kernel, uint64_t lanes)
{
    if (kernel->lane_ps == 0 || lanes > UINT32_MAX)
        return UINT64_MAX;
    return lanes * kernel->lane_ps / 1000;
}

/* One launch says little when the thread was taken off its core meanwhile. */
static void learn(cpu_kernel *kernel, uint64_t lanes, uint64_t took_ns)
{
    enum { MOST = 8 };
    if (took_ns == 0)
        return;
    uint64_t lane_ps = (uint64_t)((double)took_ns * 1000 / (double)lanes) + 1;
    if (kernel->lane_ps && lane_ps / MOST > kernel->lane_ps)
        lane_ps = kernel->lane_ps * MOST;
    kernel->lane_ps = lane_ps;
}

static ls_status dispatch(void *context, const ls__host_dispatch *d,
                          ls__host_dispatch_result *result, ls_error *error)
{
    cpu_device *device = context;
    const cpu_program *program = (const cpu_program *)d->command->program;
    const ls__backend_kernel *kernel = &program->descriptions[d->command->kernel];
    uint8_t *buffers[MAX_BUFFERS];
    uint64_t ranges[MAX_BUFFERS], groups = 1, lanes = 1;
    cpu_kernel *compiled = &program->kernels[d->command->kernel];
    run r = {.device = device, .kernel = compiled};
    ls_status status = reserve_scratch(device, compiled->info->scratch_bytes, error);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; i < d->command->buffer_count; i++) {
        const ls__span *span = &d->command->buffers[i];
        buffers[i] = ls__host_memory_of(span)->bytes + span->offset;
        ranges[i] = span->size;
    }
    ls__cpu_args args = {.buffers = buffers,
                         .ranges = ranges,
                         .scalars = d->command->scalars,
                         .cancel = (const int *)&d->job->cancel,
                         .iteration = d->iteration,
                         .on_outside = ls__cpu_watch_note,
                         .context = program->watch};
    for (int i = 0; i < 3; i++) {
        args.global_size[i] = d->global_size[i];
        args.workgroup_count[i] = (d->global_size[i] - 1) / kernel->workgroup[i] + 1;
        groups *= args.workgroup_count[i];
        lanes *= kernel->workgroup[i];
    }
    r.args = &args;
    memset(device->traps, 0, ls__cpu_pool_threads(device->pool) * sizeof *device->traps);
    if (program->watch)
        ls__cpu_watch_begin(program->watch, buffers, ranges, d->command->buffer_count);
    uint64_t expected = expected_ns(compiled, groups * lanes);
    uint64_t took_ns = ls__cpu_pool_run(device->pool, groups, expected, run_workgroups, &r);
    learn(compiled, groups * lanes, took_ns);
    if (program->watch)
        result->sanitizer_reports = report_outside(device, program, kernel, &args);
    if (atomic_load(&r.stopped))
        return ls__fail(error, LS_E_CANCELLED, "cancelled");
    result->lanes_run = groups * lanes;
    report_trap(device, result);
    return LS_OK;
}

_Static_assert(sizeof(atomic_int) == sizeof(int), "kernels read the flag as an int");

/* --- the device ------------------------------------------------------------------------------- */

static uint32_t list(ls_device_info *infos, uint32_t capacity)
{
    char target[LS__LLVM_TARGET_BYTES];
    if (capacity == 0)
        return 1;
    ls__llvm_native_target(target);
    infos[0] = (ls_device_info){.name = "cpu", .kind = LS_DEVICE_CPU};
    snprintf(infos[0].description, sizeof infos[0].description,
             "this machine's CPU (%s), %u threads", target, ls__os_cpu_count());
#ifdef LS_HAVE_LLVM
    infos[0].usable = true;
#else
    snprintf(infos[0].reason, sizeof infos[0].reason,
             "this build has no code generator: LLVM 19 was not there (-Dllvm=enabled)");
#endif
    return 1;
}

static void close_device(ls__backend_device *device)
{
    cpu_device *closed = cpu_of(device);
    ls__host_destroy(&closed->host);
    ls__cpu_pool_destroy(&closed->pool);
    free(closed->scratch);
    ls__mem_free(closed->traps);
    ls__mem_free(closed);
}

static ls_status choose_target(cpu_device *device, const char *text, ls_error *error)
{
    char can[192];
    ls__llvm_target parsed;
    ls_status status = LS_OK;
    if (!text)
        text = "native";
    bool good = ls__llvm_target_resolve(text, device->target);
    int length = good ? snprintf(device->quick_target, sizeof device->quick_target, "%s+quick",
                                 device->target)
                      : 0;
    if (!good || length >= LS__LLVM_TARGET_BYTES ||
        !ls__llvm_target_parse(device->quick_target, &parsed))
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no target '%s'", text);
    else if (ls__llvm_target_parse(text, &parsed) && parsed.quick)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          "target '%s': the tier is the program's, not the device's", text);
    else if (!ls__llvm_target_runs(text))
        status = ls__fail(error, LS_E_UNSUPPORTED, "this machine cannot run code for '%s'", text);
    if (status == LS_OK)
        return LS_OK;
    ls__llvm_target_list(can, sizeof can);
    return ls__fail_hint(error, status, "one of: %s", can);
}

static ls_status open_device(const ls__backend_open_params *params, ls__backend_device **device,
                             ls_error *error)
{
    uint32_t threads = params->params->threads ? params->params->threads : ls__os_cpu_count();
    *device = NULL;
    if (threads > MAX_THREADS) {
        if (params->params->threads)
            return ls__fail(error, LS_E_LIMIT, "%u threads; at most %d", threads, MAX_THREADS);
        threads = MAX_THREADS;
    }
    cpu_device *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls__host_device host = {.context = made, .dispatch = dispatch};
    made->on_report = params->params->on_report;
    made->report_context = params->params->report_context;
    ls_status status = choose_target(made, params->params->target, error);
    made->traps = ls__mem_alloc(threads, sizeof *made->traps);
    if (status == LS_OK && !made->traps)
        status = ls__fail_oom(error, threads * sizeof *made->traps);
    if (status == LS_OK)
        status = ls__cpu_pool_create(threads, &made->pool, error);
    if (status == LS_OK)
        status = ls__host_create(&host, &made->host, error);
    if (status != LS_OK) {
        close_device((ls__backend_device *)made);
        return status;
    }
    *device = (ls__backend_device *)made;
    return LS_OK;
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
        .map_direct = true,
        .import_host = true,
        .timing_unavailable = "kernels run on the host: see the host's times",
        .cancel = true,
    };
    (void)device;
    return &caps;
}

static uint32_t lowering(const ls__backend_device *device)
{
    return ls__llvm_lowering(cpu_of(device)->target);
}

static const char *target(const ls__backend_device *device)
{
    return cpu_of(device)->target;
}

static const char *quick_target(const ls__backend_device *device)
{
    return cpu_of(device)->quick_target;
}

/* --- memory ------------------------------------------------------------------------------------
 */

static ls_status allocate(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error)
{
    (void)device;
    return ls__host_memory_create(NULL, size, false, memory, error);
}

/* --- programs -----------------------------------------------------------------------------------
 */

static void program_free(ls__backend_device *device, ls__backend_program *program)
{
    cpu_program *freed = (cpu_program *)program;
    (void)device;
    if (!freed)
        return;
    ls__cpu_watch_destroy(&freed->watch);
    ls__cpu_object_unload(&freed->object);
    ls__mem_free(freed->kernels);
    ls__mem_free(freed);
}

static ls_status find_kernel(const cpu_program *program, const ls__backend_kernel *description,
                             cpu_kernel *kernel, ls_error *error)
{
    char name[48];
    snprintf(name, sizeof name, LS__CPU_KERNEL_SYMBOL "%u", description->function);
    kernel->code = (ls__cpu_kernel *)ls__cpu_object_symbol(program->object, name, 1);
    snprintf(name, sizeof name, LS__CPU_INFO_SYMBOL "%u", description->function);
    kernel->info = ls__cpu_object_symbol(program->object, name, sizeof *kernel->info);
    if (kernel->code && kernel->info)
        return LS_OK;
    return ls__fail(error, LS_E_FORMAT, "code object: kernel '%s' is missing", description->name);
}

static ls_status program_build(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error)
{
    cpu_program *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->built = code->built;
    made->descriptions = code->kernels;
    made->kernels = ls__mem_alloc(code->kernel_count, sizeof *made->kernels);
    ls_status status = made->kernels
                           ? ls__cpu_object_load(code->bytes, code->size, &made->object, error)
                           : ls__fail_oom(error, code->kernel_count * sizeof *made->kernels);
    for (uint32_t i = 0; i < code->kernel_count && status == LS_OK; i++)
        status = find_kernel(made, &code->kernels[i], &made->kernels[i], error);
    for (uint32_t i = 0; i < code->kernel_count && status == LS_OK; i++)
        *code->hurried |= made->kernels[i].info->hurried != 0;
    if (status == LS_OK && code->site_count)
        status = ls__cpu_watch_create(code->site_count, &made->watch, error);
    if (status != LS_OK) {
        program_free(device, (ls__backend_program *)made);
        return status;
    }
    *program = (ls__backend_program *)made;
    return LS_OK;
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

static void start(ls__backend_device *device, ls__job *job)
{
    ls__host_start(cpu_of(device)->host, job);
}

static bool run_job(ls__backend_device *device, ls__job *job)
{
    /* The function that gets reports is called from the device's thread. */
    return !cpu_of(device)->on_report && ls__host_run(cpu_of(device)->host, job);
}

static void cancel(ls__backend_device *device, ls__job *job)
{
    ls__host_cancel(cpu_of(device)->host, job);
}

const ls__backend ls__cpu_backend = {
    .family = "cpu",
    .list = list,
    .open = open_device,
    .close = close_device,
    .caps = caps_of,
    .lowering = lowering,
    .target = target,
    .quick_target = quick_target,
    .has_targets = true,
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
    .optimize = true,
    .watches = true,
};
