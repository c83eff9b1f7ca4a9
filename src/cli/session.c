/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a kernel for `lockstep run`: module, binding, device, buffers, one submission, outputs.
 *
 * Outputs are opened before the kernel starts, so that a bad name is found before a long run; they
 * are renamed into place after all have been written, and each is complete or not there. From the
 * moment they are open signals are caught, so their temporary files never stay behind.
 *
 * Where the device can tell, an access out of bounds ends the run: mostly a buffer was given too
 * few elements, and its 0 would pass for a result.
 */
#include "cli/session.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/bind.h"
#include "cli/cli.h"
#include "cli/launch_options.h"
#include "cli/wait.h"
#include "lockstep/launch.h"
#include "lockstep/tune.h"

#define MAX_REPORTS 100 /* lines printed; all are counted */

typedef struct output {
    const char *path; /* in the argument */
    uint32_t buffer;
    ls__os_writer *writer;
} output;

typedef struct session {
    const ls__cli_job *job;
    ls_module *module;
    ls_module *tuned; /* the same with what the tuner has kept; NULL: it has nothing */
    ls_define values[LS_TUNE_MAX_CANDIDATES]; /* then these; names belong to `module` */
    uint32_t value_count;
    uint32_t global[3]; /* lanes */
    ls__cli_binding binding;
    ls__strbuf cache; /* path; empty: none */
    ls_device *device;
    ls_program *program;
    ls_buffer **buffers; /* [binding.kernel.buffer_count], by buffer index */
    ls_range *ranges;    /* the same, whole */
    output *outputs;     /* [job->save_count] */
    ls_stream *stream;
    ls_batch *batch;
    ls_fence *fence;
    ls_receipt receipt;
    bool tracing;
    atomic_uint reports;       /* of the sanitizer; counted on the device's thread */
    atomic_bool out_of_bounds; /* without the sanitizer: an access was, and `bounds` says which */
    ls_error bounds;           /* written before out_of_bounds is set */
} session;

/* --- reports of the device ------------------------------------------------------------------- */

static void print_report(const ls_sanitizer_report *r)
{
    ls__strbuf text = {0};
    ls__strbuf_printf(&text, "%s:%u:%u: %s", r->file && r->file[0] ? r->file : "<kernel>", r->line,
                      r->column, r->kind);
    if (r->detail && r->detail[0])
        ls__strbuf_printf(&text, " (%s)", r->detail);
    ls__strbuf_printf(&text, ": kernel %s, workgroup %u,%u,%u, lane %u", r->kernel, r->workgroup[0],
                      r->workgroup[1], r->workgroup[2], r->lane);
    if (r->object && r->object[0])
        ls__strbuf_printf(&text, ", %s[%lld] (byte %lld)", r->object, (long long)r->index,
                          (long long)r->byte_offset);
    if (r->other_line)
        ls__strbuf_printf(&text, "; the other access: line %u, workgroup %u,%u,%u, lane %u",
                          r->other_line, r->other_workgroup[0], r->other_workgroup[1],
                          r->other_workgroup[2], r->other_lane);
    ls__cli_clear_progress();
    ls__cli_print_line(stderr, "%s", text.text ? text.text : r->kind);
    ls__strbuf_finish(&text);
}

static void on_report(void *context, const ls_sanitizer_report *report)
{
    session *s = context;
    if (atomic_fetch_add(&s->reports, 1) < MAX_REPORTS)
        print_report(report);
}

/* Whether the access fails because the buffer of this name has too few elements. */
static bool is_too_small(const session *s, const ls_sanitizer_report *r)
{
    for (uint32_t i = 0; i < s->binding.kernel.param_count; i++) {
        const ls_param_info *param = &s->binding.params[i];
        if (param->is_pointer && strcmp(param->name, r->object) == 0 &&
            s->binding.arrays[param->buffer].shape.count == r->object_count)
            return r->index >= 0 && (uint64_t)r->index >= r->object_count;
    }
    return false;
}

/* Whether the lane is one that --global does not ask for: it only fills a workgroup. */
static bool is_filler(const session *s, const ls_sanitizer_report *r)
{
    uint32_t lane = r->lane;
    for (unsigned d = 0; d < 3; d++) {
        uint32_t size = s->binding.kernel.workgroup[d];
        uint64_t id = (uint64_t)r->workgroup[d] * size + lane % size;
        if (id > 0 && id >= s->global[d])
            return true;
        lane /= size;
    }
    return false;
}

/* Keeps the first access out of bounds as an error and stops the run. */
static void on_out_of_bounds(void *context, const ls_sanitizer_report *r)
{
    session *s = context;
    if (!r->object[0] || atomic_load(&s->out_of_bounds)) /* no object: another kind of finding */
        return;
    bool filler = is_filler(s, r), too_small = !filler && is_too_small(s, r);
    bool is_load = strcmp(r->kind, "out-of-bounds load") == 0;
    char index[24] = "?";
    if (r->index != INT64_MIN)
        snprintf(index, sizeof index, "%lld", (long long)r->index);
    ls__fail(&s->bounds, LS_E_FAILED,
             "%s%slane %u of workgroup %u,%u,%u %s %s[%s] (%s:%u), but it has %llu element%s",
             too_small ? r->object : "", too_small ? " is too small: " : "", r->lane,
             r->workgroup[0], r->workgroup[1], r->workgroup[2], is_load ? "reads" : "writes",
             r->object, index, r->file[0] ? r->file : "line", r->line,
             (unsigned long long)r->object_count, r->object_count == 1 ? "" : "s");
    ls__fail_hint(&s->bounds, LS_E_FAILED, "%s, or allow it with --out-of-bounds",
                  filler ? "lanes beyond --global fill the last workgroup: let the kernel test its "
                           "index, as in if (i < n)"
                  : too_small ? "give more elements"
                              : "mend the kernel");
    atomic_store(&s->out_of_bounds, true);
}

/* --- setting up ------------------------------------------------------------------------------ */

/* "NAME=FILE": the name must be a buffer, the file's format must suit it. */
static ls_status parse_save(session *s, uint32_t index, ls_error *error)
{
    char *text = s->job->saves[index];
    char *equals = strchr(text, '=');
    output *out = &s->outputs[index];
    if (!equals || equals == text || !equals[1])
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--save takes NAME=FILE, not '%s'", text);
    *equals = 0;
    ls_status status = ls__cli_bind_find(&s->binding, text, &out->buffer, error);
    *equals = '=';
    out->path = equals + 1;
    if (status == LS_OK)
        status = ls__cli_array_can_save(&s->binding.arrays[out->buffer], out->path, error);
    return status;
}

/* Every file that is written is another one, and none is the program. */
static ls_status check_targets(const session *s, ls_error *error)
{
    const ls__cli_job *job = s->job;
    for (uint32_t i = 0; i < job->save_count; i++) {
        const char *path = s->outputs[i].path;
        for (uint32_t k = 0; k < i; k++)
            if (ls__os_same_file(s->outputs[k].path, path))
                return ls__fail(error, LS_E_INVALID_ARGUMENT, "two buffers cannot be saved to '%s'",
                                path);
        if (job->trace && ls__os_same_file(job->trace, path))
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "'%s' cannot be both a buffer and the trace", path);
        if (ls__os_same_file(job->file, path))
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "--save names the program itself, '%s'",
                            path);
    }
    if (job->trace && ls__os_same_file(job->trace, job->file))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "--trace names the program itself, '%s'",
                        job->file);
    return LS_OK;
}

static ls_status parse_saves(session *s, ls_error *error)
{
    ls_status status = LS_OK;
    s->outputs = ls__mem_alloc(s->job->save_count, sizeof *s->outputs);
    if (!s->outputs)
        return ls__fail_oom(error, s->job->save_count * sizeof *s->outputs);
    for (uint32_t i = 0; status == LS_OK && i < s->job->save_count; i++)
        status = parse_save(s, i, error);
    if (status == LS_OK)
        status = check_targets(s, error);
    return status;
}

static ls_status open_device(session *s, ls_error *error)
{
    const ls__cli_job *job = s->job;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = job->device;
    params.budget_bytes = job->budget_bytes;
    params.threads = job->threads;
    params.target = job->target;
    params.cache_path = s->cache.text;
    params.schedule = job->schedule;
    params.schedule_seed = job->seed;
    params.sanitize = job->sanitize;
    /* Lowered programs probe places out of bounds that the kernel does not access. */
    params.check_bounds = !job->sanitize && !job->out_of_bounds && !job->lower;
    if (job->sanitize)
        params.on_report = on_report;
    else if (params.check_bounds)
        params.on_report = on_out_of_bounds;
    params.report_context = s;
    bool needs_reference = job->sanitize || job->schedule != LS_SCHEDULE_ASCENDING;
    if (needs_reference && job->device && strcmp(job->device, "reference") != 0)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "--sanitize and --schedule need --device reference, not %s", job->device);
    if (job->sanitize && job->lower)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "--sanitize looks at the kernel as it is written, so not with --lower");
    if (needs_reference)
        params.name = "reference";
    return ls__cli_open_device(&params, job->quiet, &s->device, error);
}

/* The values that the tuner has kept for this kernel and device; of such a constant the module has
 * the default. */
static ls_status find_tuned(session *s, ls_error *error)
{
    const ls__cli_job *job = s->job;
    ls_tuned_params params = LS_TUNED_PARAMS_INIT;
    params.module = s->module;
    params.kernel = s->binding.kernel.name;
    params.defines = job->defines;
    params.define_count = job->define_count;
    params.unchecked = job->unchecked;
    return job->untuned ? LS_OK
                        : ls_tuned_specs(s->device, &params, s->values, LS_TUNE_MAX_CANDIDATES,
                                         &s->value_count, error);
}

/* Compiles the program anew with them. Parameters are what they were: the tuner saw to it, and what
 * was bound must not be taken for something else. */
static ls_status use_tuned(session *s, ls_error *error)
{
    const ls__cli_job *job = s->job;
    const ls_kernel_info *old = &s->binding.kernel;
    ls_kernel_info info;
    ls_status status = find_tuned(s, error);
    if (status != LS_OK || !s->value_count)
        return status;
    ls_define *defines = ls__mem_alloc((size_t)job->define_count + s->value_count, sizeof *defines);
    if (!defines)
        return ls__fail_oom(error, s->value_count * sizeof *defines);
    for (uint32_t i = 0; i < job->define_count; i++)
        defines[i] = job->defines[i];
    for (uint32_t i = 0; i < s->value_count; i++)
        defines[job->define_count + i] = s->values[i];
    status = ls__cli_load_again(job->file, defines, job->define_count + s->value_count,
                                s->cache.text, &s->tuned, error);
    ls__mem_free(defines);
    if (status == LS_OK)
        status = ls_module_find_kernel(s->tuned, old->name, &info, error);
    if (status == LS_OK &&
        (info.param_count != old->param_count || info.buffer_count != old->buffer_count ||
         info.scalar_bytes != old->scalar_bytes))
        status = ls__fail(error, LS_E_STATE, "'%s' has changed meanwhile", job->file);
    if (status == LS_OK)
        s->binding.kernel = info;
    return status;
}

static ls_status create_buffer(session *s, const ls_param_info *param, ls_error *error)
{
    const ls__cli_array *array = &s->binding.arrays[param->buffer];
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    void *memory;
    params.size_bytes = ls__cli_array_bytes(array);
    params.element = param->mem;
    params.label = param->name;
    ls_status status = ls_buffer_create(s->device, &params, &s->buffers[param->buffer], error);
    if (status == LS_OK)
        status =
            ls_buffer_map(s->buffers[param->buffer], 0, LS_WHOLE, LS_MAP_WRITE, &memory, error);
    if (status != LS_OK) {
        if (!error->where[0])
            ls__fail_where(error, status, "buffer '%s'", param->name);
        if (status == LS_E_OUT_OF_MEMORY)
            ls__fail_hint(error, status, "use smaller buffers or a larger --budget");
        return status;
    }
    ls__cli_array_fill(array, memory);
    s->ranges[param->buffer] = (ls_range){s->buffers[param->buffer], 0, LS_WHOLE};
    return ls_buffer_unmap(s->buffers[param->buffer], error);
}

static ls_status create_buffers(session *s, ls_error *error)
{
    const ls_kernel_info *kernel = &s->binding.kernel;
    ls_status status = LS_OK;
    s->buffers = ls__mem_alloc(kernel->buffer_count, sizeof(ls_buffer *));
    s->ranges = ls__mem_alloc(kernel->buffer_count, sizeof *s->ranges);
    if (!s->buffers || !s->ranges)
        return ls__fail_oom(error, kernel->buffer_count * sizeof *s->ranges);
    for (uint32_t i = 0; status == LS_OK && i < kernel->param_count; i++)
        if (s->binding.params[i].is_pointer)
            status = create_buffer(s, &s->binding.params[i], error);
    return status;
}

/* Code that is not what was asked for is slow, which is looked for in vain elsewhere. */
static void note_tier(const session *s)
{
    ls_tier_info info = {.struct_size = sizeof info};
    ls_program_tier(s->program, &info);
    if (info.reason[0] && !s->job->quiet)
        ls__cli_print_line(stderr, "lockstep: note: %s", info.reason);
}

static ls_status build_program(session *s, const ls_kernel **kernel, ls_error *error)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    params.unchecked = s->job->unchecked;
    params.lower = s->job->lower;
    params.tier = s->job->tier;
    const ls_module *module = s->tuned ? s->tuned : s->module;
    ls_status status = ls_device_supports(s->device, module, s->binding.kernel.name, error);
    if (status == LS_OK)
        status = ls_program_create(s->device, module, &params, &s->program, error);
    if (status == LS_OK)
        status = ls_program_kernel(s->program, s->binding.kernel.name, kernel, error);
    if (status == LS_OK)
        note_tier(s);
    return status;
}

static ls_status record(session *s, const ls_kernel *kernel, ls_error *error)
{
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    memcpy(dispatch.global_size, s->global, sizeof dispatch.global_size);
    dispatch.buffers = s->ranges;
    dispatch.buffer_count = s->binding.kernel.buffer_count;
    dispatch.scalars = s->binding.scalars;
    dispatch.scalar_bytes = s->binding.kernel.scalar_bytes;
    dispatch.tag = (ls_tag){LS_PHASE_COMPUTE, 0, s->binding.kernel.name};
    ls_status status = ls_batch_create(s->device, &s->batch, error);
    if (status == LS_OK)
        status = ls_batch_repeat_begin(s->batch, s->job->repeat, 0, error);
    if (status == LS_OK)
        status = ls_batch_dispatch(s->batch, &dispatch, error);
    if (status == LS_OK)
        status = ls_batch_repeat_end(s->batch, error);
    return status;
}

static ls_status set_up(session *s, ls_error *error)
{
    const ls__cli_job *job = s->job;
    const ls_kernel *kernel = NULL;
    /* The default budget of a device without memory of its own is half of the host's. */
    uint64_t limit = job->budget_bytes ? job->budget_bytes : ls__os_memory_bytes() / 2;
    uint64_t header = 65536 + 64; /* at most, of a .npy file that NumPy writes unasked */
    ls_status status = ls__cli_choose_cache(job->cache, job->no_cache, &s->cache, error);
    if (status == LS_OK)
        status = ls__cli_load_module(job->file, job->defines, job->define_count, s->cache.text,
                                     &s->module, error);
    if (status == LS_OK)
        status = ls__cli_bind(s->module, job->kernel, job->arguments, job->argument_count,
                              limit + header, &s->binding, error);
    if (status == LS_OK)
        status = parse_saves(s, error);
    if (status == LS_OK)
        status = open_device(s, error);
    if (status == LS_OK && job->trace) {
        status = ls_trace_begin(s->device, error);
        s->tracing = status == LS_OK;
    }
    if (status == LS_OK)
        status = use_tuned(s, error);
    if (status == LS_OK)
        status = ls__cli_launch_size(job, s->binding.kernel.workgroup, s->global, error);
    if (status == LS_OK)
        status = build_program(s, &kernel, error);
    if (status == LS_OK)
        status = create_buffers(s, error);
    if (status == LS_OK)
        status = record(s, kernel, error);
    if (status == LS_OK)
        status = ls_stream_create(s->device, &s->stream, error);
    return status;
}

/* --- running and saving ---------------------------------------------------------------------- */

/* Workgroups along one dimension; 0 lanes in y or z mean 1. */
static uint64_t workgroups(const session *s, unsigned dimension)
{
    uint32_t asked = s->global[dimension];
    uint32_t group = s->binding.kernel.workgroup[dimension];
    if (asked == 0)
        return dimension ? 1 : 0;
    return (asked - 1) / group + 1;
}

/* Lanes that run: whole workgroups, every round. */
static double total_lanes(const session *s)
{
    double lanes = s->job->repeat;
    for (unsigned d = 0; d < 3; d++)
        lanes *= (double)workgroups(s, d) * s->binding.kernel.workgroup[d];
    return lanes;
}

static ls_status fail_trap(const session *s, ls_error *error)
{
    const ls_receipt *r = &s->receipt;
    uint64_t x = workgroups(s, 0), y = workgroups(s, 1);
    x = x ? x : 1;
    return ls__fail(
        error, LS_E_TRAP, "kernel %s trapped with code %u in workgroup %llu,%llu,%llu, lane %u",
        s->binding.kernel.name, r->trap_code, (unsigned long long)(r->trap_workgroup % x),
        (unsigned long long)(r->trap_workgroup / x % y),
        (unsigned long long)(r->trap_workgroup / x / y), r->trap_lane);
}

static ls_status run(session *s, ls_error *error)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.time_limit_ns = s->job->time_limit_ns;
    ls_status status = ls_submit(s->stream, s->batch, &params, &s->fence, error);
    ls__cli_wait_params wait = {.device = s->device,
                                .fence = s->fence,
                                .label = s->binding.kernel.name,
                                .lanes = total_lanes(s),
                                .stop = &s->out_of_bounds};
    if (status == LS_OK)
        status = ls__cli_wait(&wait, &s->receipt, error);
    if (atomic_load(&s->out_of_bounds)) { /* why a kernel traps or does not end, perhaps */
        *error = s->bounds;
        status = error->code;
    } else if (status != LS_OK && s->receipt.trapped) {
        status = fail_trap(s, error);
    } else if (status != LS_OK && error->cause == LS_E_TIMEOUT) {
        ls__fail_hint(error, status, "does the kernel end? It may need a larger --time-limit");
    }
    return status;
}

static ls_status open_outputs(session *s, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < s->job->save_count; i++)
        status = ls__os_writer_open(s->outputs[i].path, &s->outputs[i].writer, error);
    if (status == LS_OK && s->job->trace) {
        status = ls__os_check_writable(s->job->trace, error);
        s->tracing = status == LS_OK; /* or its end would fail in the same way */
    }
    return status;
}

/* All files are complete on the disk before the first takes its name. */
static ls_status save(session *s, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < s->job->save_count; i++) {
        output *out = &s->outputs[i];
        ls_buffer *buffer = s->buffers[out->buffer];
        void *memory;
        status = ls_buffer_map(buffer, 0, LS_WHOLE, LS_MAP_READ, &memory, error);
        if (status != LS_OK)
            break;
        status = ls__cli_array_save(&s->binding.arrays[out->buffer], out->path, memory, out->writer,
                                    error);
        ls_buffer_unmap(buffer, NULL);
        if (status == LS_OK)
            status = ls__os_writer_flush(out->writer, error);
        if (status == LS_OK && ls__cli_caught_signal())
            status = ls__fail(error, LS_E_CANCELLED, "stopped before the outputs were saved");
    }
    for (uint32_t i = 0; status == LS_OK && i < s->job->save_count; i++)
        status = ls__os_writer_commit(&s->outputs[i].writer, error);
    return status;
}

static void print_summary(const session *s)
{
    const uint32_t *global = s->global;
    char size[64], times[32] = "";
    int used = snprintf(size, sizeof size, "%u", global[0]);
    if (global[1] > 1 || global[2] > 1)
        used +=
            snprintf(size + used, sizeof size - (size_t)used, " x %u", global[1] ? global[1] : 1);
    if (global[2] > 1)
        snprintf(size + used, sizeof size - (size_t)used, " x %u", global[2]);
    if (s->job->repeat != 1)
        snprintf(times, sizeof times, " %u times", s->job->repeat);
    ls__cli_print_line(stdout, "%s: ran %s lane%s%s on %s in %.1f ms", s->binding.kernel.name, size,
                       strcmp(size, "1") == 0 ? "" : "s", times, ls_device_name(s->device),
                       (double)s->receipt.execution_host_ns / 1e6);
    if (s->value_count) {
        ls__strbuf text = {0};
        for (uint32_t i = 0; i < s->value_count; i++)
            ls__strbuf_printf(&text, "%s%s=%lld", i ? " " : "", s->values[i].name,
                              (long long)s->values[i].value);
        ls__cli_print_line(stdout, "tuned: %s", text.text ? text.text : "");
        ls__strbuf_finish(&text);
    }
    for (uint32_t i = 0; i < s->job->save_count; i++) {
        char text[256];
        const output *out = &s->outputs[i];
        ls__cli_array_describe(&s->binding.arrays[out->buffer], text, sizeof text);
        const char *save = s->job->saves[i]; /* NAME=FILE */
        ls__cli_print_line(stdout, "saved %.*s to %s (%s)", (int)strcspn(save, "="), save,
                           out->path, text);
    }
    if (s->receipt.unordered)
        printf("note: the kernel is `unordered': its outputs carry no promise\n");
    if (s->receipt.unchecked)
        printf("note: the kernel ran without bounds checks\n");
}

/* --- all of it ------------------------------------------------------------------------------- */

static void tear_down(session *s)
{
    for (uint32_t i = 0; s->outputs && i < s->job->save_count; i++)
        ls__os_writer_abort(&s->outputs[i].writer);
    ls_fence_destroy(&s->fence);
    ls_batch_destroy(&s->batch);
    ls_stream_destroy(&s->stream, NULL);
    for (uint32_t i = 0; s->buffers && i < s->binding.kernel.buffer_count; i++)
        ls_buffer_destroy(&s->buffers[i]);
    ls_program_destroy(&s->program);
    ls_device_destroy(&s->device, NULL);
    ls__strbuf_finish(&s->cache);
    ls__cli_bind_finish(&s->binding);
    ls_module_destroy(&s->tuned);
    ls_module_destroy(&s->module);
    ls__mem_free(s->outputs);
    ls__mem_free(s->ranges);
    ls__mem_free(s->buffers);
}

static ls_status run_and_save(session *s, ls_error *error)
{
    ls_status status = set_up(s, error);
    if (status != LS_OK)
        return status;
    ls__cli_catch_signals();
    status = open_outputs(s, error);
    if (status == LS_OK)
        status = run(s, error);
    if (status == LS_OK && ls__cli_caught_signal())
        status = ls__fail(error, LS_E_CANCELLED, "stopped before the outputs were saved");
    if (status == LS_OK)
        status = save(s, error);
    return status;
}

int ls__cli_run_job(const ls__cli_job *job)
{
    session s = {.job = job, .receipt = {.struct_size = sizeof(ls_receipt)}};
    ls_error error = {0}, trace_error = {0};
    int result = LS__EXIT_OK;
    if (run_and_save(&s, &error) != LS_OK) {
        ls__cli_print_error(&error);
        result = LS__EXIT_FAILED;
    }
    /* The trace of a failed run is the one people need. */
    if (s.tracing && ls_trace_end(s.device, job->trace, &trace_error) != LS_OK) {
        ls__cli_print_error(&trace_error);
        result = LS__EXIT_FAILED;
    }
    unsigned reports = atomic_load(&s.reports);
    if (result == LS__EXIT_OK && !job->quiet)
        print_summary(&s);
    if (reports) {
        fprintf(stderr, "lockstep: the sanitizer has %u finding%s%s\n", reports,
                reports == 1 ? "" : "s", reports > MAX_REPORTS ? "; the first 100 are shown" : "");
        result = LS__EXIT_FAILED;
    } else if (job->sanitize && result == LS__EXIT_OK && !job->quiet) {
        printf("the sanitizer found nothing\n");
    }
    if (result != LS__EXIT_OK && ls__cli_caught_signal())
        result = LS__EXIT_SIGNAL + ls__cli_caught_signal();
    tear_down(&s);
    return result;
}
