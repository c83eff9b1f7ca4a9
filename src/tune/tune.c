/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_tune: candidates are built, shown to write what the defaults write, and measured in turn.
 *
 * Every launch begins with the caller's contents in all buffers that the kernel writes, so that
 * each candidate, and each round, has the same work. Rounds go through the candidates forwards and
 * backwards in turn: what drifts meanwhile, the clock of the machine above all, hits all alike.
 */
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "base/str.h"
#include "tune/tune.h"

typedef struct candidate {
    ls_define *values; /* [axes.count], in ls_tuning.values */
    ls_program *program;
    ls_batch *batch;
    char *left_out;
    uint64_t device_ns, host_ns; /* the least so far */
    uint64_t time_ns;
} candidate;

struct ls_tuning {
    char *names; /* of the constants, one behind the other */
    ls_define *values;
    candidate *candidates;
    uint32_t count, value_count, chosen, rounds;
    bool device_time;
    char *time_unavailable;
    const char *not_kept;
};

typedef struct tuner {
    ls_device *device;
    ls_tune_params params;
    ls_compile_params source;
    ls_module *module; /* with the defaults */
    ls_kernel_info kernel;
    ls_param_info *parameters; /* [kernel.param_count] */
    ls__tune_axes axes;
    ls_buffer **buffers; /* [kernel.buffer_count] */
    ls_range *ranges;    /* the same, whole */
    void **expected;     /* what the defaults write; NULL: the buffer is const */
    ls_stream *stream;
    ls_tuning *tuning;
    uint64_t step; /* as params.progress counts them */
} tuner;

static void begin_step(tuner *t)
{
    t->step++;
    if (t->params.progress)
        t->params.progress(t->params.progress_context, t->step,
                           t->tuning->count * (2 + (uint64_t)t->params.rounds));
}

/* --- arguments -------------------------------------------------------------------------------- */
static ls_status check_params(tuner *t, const ls_tune_params *params, ls_error *error)
{
    if (!t->device || !params)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tune: no %s given",
                        t->device ? "params were" : "device was");
    ls_status status = ls__params_in(&t->params, sizeof t->params, params, false, "ls_tune", error);
    if (status == LS_OK && !t->params.source)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tune: no source was given");
    if (status == LS_OK)
        status = ls__params_in(&t->source, sizeof t->source, t->params.source, false,
                               "ls_tune: its source", error);
    if (status != LS_OK)
        return status;
    if ((t->source.define_count && !t->source.defines) ||
        (t->params.buffer_count && !t->params.buffers))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tune: no %s given",
                        t->params.buffers || !t->params.buffer_count ? "defines were"
                                                                     : "buffers were");
    if (t->params.global_size[0] && t->params.workgroup_count[0])
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_tune: both global_size and workgroup_count are given");
    t->source.struct_size = sizeof t->source;
    if (!t->params.rounds)
        t->params.rounds = LS_TUNE_DEFAULT_ROUNDS;
    return LS_OK;
}

/* The kernel and what there is to tune. */
static ls_status look(tuner *t, ls_error *error)
{
    ls_status status = ls_module_compile(&t->source, &t->module, NULL, error);
    if (status == LS_OK)
        status = ls__tune_kernel(t->module, t->params.kernel, &t->kernel, error);
    if (status == LS_OK)
        status =
            ls__tune_axes_of(t->module, t->source.defines, t->source.define_count, &t->axes, error);
    if (status != LS_OK)
        return status;
    if (!t->axes.count) {
        ls__fail(error, LS_E_INVALID_ARGUMENT,
                 "there is nothing to tune: no SPEC constant%s names further values",
                 t->source.define_count ? " that is not fixed" : "");
        return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                             "declare one as in SPEC(u32, GROUP, 64, 32, 128);");
    }
    if (t->kernel.unordered)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "kernel '%s' is unordered: its outputs carry no promise, so nothing shows "
                        "that candidates compute the same",
                        t->kernel.name);
    if (t->params.buffer_count != t->kernel.buffer_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "kernel '%s' has %u buffers, and contents of %u were given", t->kernel.name,
                        t->kernel.buffer_count, t->params.buffer_count);
    t->parameters = ls__mem_alloc(t->kernel.param_count, sizeof *t->parameters);
    if (!t->parameters)
        return ls__fail_oom(error, t->kernel.param_count * sizeof *t->parameters);
    for (uint32_t i = 0; status == LS_OK && i < t->kernel.param_count; i++)
        status = ls_module_param(t->module, t->kernel.name, i, &t->parameters[i], error);
    return status;
}

/* --- candidates ------------------------------------------------------------------------------- */
static ls_status count_candidates(const tuner *t, uint32_t *count, ls_error *error)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < t->axes.count && product <= LS_TUNE_MAX_CANDIDATES; i++)
        product *= t->axes.items[i].choice_count + 1;
    *count = (uint32_t)product;
    if (product <= LS_TUNE_MAX_CANDIDATES)
        return LS_OK;
    ls__fail(error, LS_E_LIMIT, "%u SPEC constants have more than %u combinations of values",
             t->axes.count, (unsigned)LS_TUNE_MAX_CANDIDATES);
    return ls__fail_hint(error, LS_E_LIMIT, "fix some of the constants, and tune these alone");
}

/* Names of the constants that live as long as the result. */
static ls_status copy_names(tuner *t, ls_error *error)
{
    size_t size = 0;
    for (uint32_t i = 0; i < t->axes.count; i++)
        size += strlen(t->axes.items[i].name) + 1;
    char *at = t->tuning->names = ls__mem_alloc(size, 1);
    if (!at)
        return ls__fail_oom(error, size);
    for (uint32_t i = 0; i < t->axes.count; i++) {
        size_t length = strlen(t->axes.items[i].name) + 1;
        memcpy(at, t->axes.items[i].name, length);
        for (uint32_t k = 0; k < t->tuning->count; k++)
            t->tuning->candidates[k].values[i].name = at;
        at += length;
    }
    return LS_OK;
}

/* All combinations; the last constant changes fastest, and its default comes first. */
static ls_status make_candidates(tuner *t, ls_error *error)
{
    uint32_t count;
    ls_tuning *made = t->tuning;
    ls_status status = count_candidates(t, &count, error);
    if (status != LS_OK)
        return status;
    made->values = ls__mem_alloc((size_t)count * t->axes.count, sizeof *made->values);
    made->candidates = ls__mem_alloc(count, sizeof *made->candidates);
    if (!made->values || !made->candidates)
        return ls__fail_oom(error, count * sizeof *made->candidates);
    made->count = count;
    made->value_count = t->axes.count;
    made->rounds = t->params.rounds;
    for (uint32_t k = 0; k < count; k++) {
        candidate *c = &made->candidates[k];
        uint32_t rest = k;
        c->values = made->values + (size_t)k * t->axes.count;
        c->device_ns = c->host_ns = UINT64_MAX;
        for (uint32_t i = t->axes.count; i-- > 0;) {
            const ls_spec_info *axis = &t->axes.items[i];
            uint32_t choice = rest % (axis->choice_count + 1);
            c->values[i].value = choice ? axis->choices[choice - 1] : axis->default_value;
            rest /= axis->choice_count + 1;
        }
    }
    return copy_names(t, error);
}

static void append_values(const tuner *t, const candidate *c, ls__strbuf *out)
{
    for (uint32_t i = 0; i < t->axes.count; i++)
        ls__strbuf_printf(out, "%s%s=%lld", i ? ", " : "", c->values[i].name,
                          (long long)c->values[i].value);
}

/* Says which candidate an error is about. */
static ls_status fail_with(const tuner *t, const candidate *c, ls_status status, ls_error *error)
{
    ls__strbuf text = {0};
    append_values(t, c, &text);
    ls__fail_where(error, status, "kernel %s with %s", t->kernel.name, text.text ? text.text : "");
    ls__strbuf_finish(&text);
    return status;
}

static ls_status leave_out(candidate *c, const char *why, ls_error *error)
{
    c->left_out = ls__mem_strdup(why);
    return c->left_out ? LS_OK : ls__fail_oom(error, strlen(why));
}

/* --- building --------------------------------------------------------------------------------- */
static ls_status compile(const tuner *t, const candidate *c, ls_module **module, ls_error *error)
{
    ls_compile_params source = t->source;
    uint32_t count = source.define_count;
    ls_define *defines = ls__mem_alloc((size_t)count + t->axes.count, sizeof *defines);
    *module = NULL;
    if (!defines)
        return ls__fail_oom(error, (count + t->axes.count) * sizeof *defines);
    if (count)
        memcpy(defines, source.defines, count * sizeof *defines);
    memcpy(defines + count, c->values, t->axes.count * sizeof *defines);
    source.defines = defines;
    source.define_count += t->axes.count;
    ls_status status = ls_module_compile(&source, module, NULL, error);
    ls__mem_free(defines);
    return status;
}

/* Whether the launch's buffers and scalars are this module's, too. */
static ls_status check_layout(const tuner *t, const ls_module *module, ls_error *error)
{
    ls_kernel_info info;
    ls_status status = ls_module_find_kernel(module, t->kernel.name, &info, error);
    if (status != LS_OK)
        return status;
    bool same = info.param_count == t->kernel.param_count &&
                info.buffer_count == t->kernel.buffer_count &&
                info.scalar_bytes == t->kernel.scalar_bytes;
    for (uint32_t i = 0; same && i < info.param_count; i++) {
        const ls_param_info *old = &t->parameters[i];
        ls_param_info now;
        status = ls_module_param(module, t->kernel.name, i, &now, error);
        if (status != LS_OK)
            return status;
        same = now.mem == old->mem && now.is_pointer == old->is_pointer &&
               now.is_const == old->is_const && now.size == old->size &&
               now.offset == old->offset && now.buffer == old->buffer;
    }
    return same ? LS_OK : ls__fail(error, LS_E_UNSUPPORTED, "its parameters have another layout");
}

/* Lanes of the launch, when this is the candidate's kernel. */
static ls_status size_launch(const tuner *t, const ls_module *module, uint32_t lanes[3],
                             ls_error *error)
{
    const uint32_t *count = t->params.workgroup_count;
    ls_kernel_info info;
    memcpy(lanes, t->params.global_size, sizeof t->params.global_size);
    if (!count[0] && !count[1] && !count[2])
        return LS_OK;
    ls_status status = ls_module_find_kernel(module, t->kernel.name, &info, error);
    for (unsigned d = 0; status == LS_OK && d < 3; d++) {
        uint64_t all = (uint64_t)(d && !count[d] ? 1 : count[d]) * info.workgroup[d];
        lanes[d] = (uint32_t)all;
        if (all > UINT32_MAX)
            status = ls__fail(error, LS_E_LIMIT, "%u workgroups of %u lanes are too many lanes",
                              count[d], info.workgroup[d]);
    }
    return status;
}

/* Only the kernel itself is built: another of the file may need more than the device has. */
static ls_status build(tuner *t, candidate *c, ls_error *error)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    ls_module *module = NULL, *alone = NULL;
    params.unchecked = t->params.unchecked;
    ls_status status = compile(t, c, &module, error);
    if (status == LS_OK)
        status = check_layout(t, module, error);
    if (status == LS_OK)
        status = size_launch(t, module, dispatch.global_size, error);
    if (status == LS_OK)
        status = ls_module_select(module, t->kernel.name, &alone, error);
    if (status == LS_OK)
        status = ls_program_create(t->device, alone, &params, &c->program, error);
    if (status == LS_OK)
        status = ls_program_kernel(c->program, t->kernel.name, &dispatch.kernel, error);
    if (status == LS_OK)
        status = ls_batch_create(t->device, &c->batch, error);
    dispatch.buffers = t->ranges;
    dispatch.buffer_count = t->kernel.buffer_count;
    dispatch.scalars = t->params.scalars;
    dispatch.scalar_bytes = t->params.scalar_bytes;
    dispatch.tag = (ls_tag){LS_PHASE_COMPUTE, 0, "tune"};
    if (status == LS_OK)
        status = ls_batch_dispatch(c->batch, &dispatch, error);
    ls_module_destroy(&alone);
    ls_module_destroy(&module);
    return status;
}

/* What is no fault of the caller: the source does not allow the values, or the device lacks
 * something, or a buffer has fewer elements than the candidate says that it needs. */
static bool may_be_left_out(ls_status status)
{
    return status == LS_E_COMPILE || status == LS_E_UNSUPPORTED || status == LS_E_LIMIT ||
           status == LS_E_INVALID_ARGUMENT;
}

static ls_status build_all(tuner *t, ls_error *error)
{
    ls_error why = {0};
    begin_step(t);
    ls_status status = build(t, &t->tuning->candidates[0], error);
    for (uint32_t i = 1; status == LS_OK && i < t->tuning->count; i++) {
        candidate *c = &t->tuning->candidates[i];
        begin_step(t);
        status = build(t, c, &why);
        if (may_be_left_out(status))
            status = leave_out(c, why.message, error);
        else if (status != LS_OK && error)
            *error = why;
    }
    return status;
}

/* --- buffers ---------------------------------------------------------------------------------- */
static ls_status create_buffer(tuner *t, const ls_param_info *param, ls_error *error)
{
    const ls_tune_buffer *given = &t->params.buffers[param->buffer];
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer **buffer = &t->buffers[param->buffer];
    params.size_bytes = given->size;
    params.element = param->mem;
    params.label = param->name;
    if (!given->bytes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tune: buffer '%s' has no contents",
                        param->name);
    ls_status status = ls_buffer_create(t->device, &params, buffer, error);
    if (status == LS_OK)
        status = ls_buffer_write(*buffer, 0, param->mem, given->bytes, given->size, error);
    t->ranges[param->buffer] = (ls_range){*buffer, 0, LS_WHOLE};
    return status;
}

static ls_status create_buffers(tuner *t, ls_error *error)
{
    uint32_t count = t->kernel.buffer_count;
    ls_status status = LS_OK;
    t->buffers = ls__mem_alloc(count, sizeof(ls_buffer *));
    t->ranges = ls__mem_alloc(count, sizeof *t->ranges);
    t->expected = ls__mem_alloc(count, sizeof(void *));
    if (!t->buffers || !t->ranges || !t->expected)
        return ls__fail_oom(error, count * sizeof *t->ranges);
    for (uint32_t i = 0; status == LS_OK && i < t->kernel.param_count; i++)
        if (t->parameters[i].is_pointer)
            status = create_buffer(t, &t->parameters[i], error);
    return status;
}

static bool is_written(const ls_param_info *param)
{
    return param->is_pointer && !param->is_const;
}

/* The caller's contents, once more, in what the kernel may have written. */
static ls_status reset(const tuner *t, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < t->kernel.param_count; i++) {
        const ls_param_info *p = &t->parameters[i];
        if (is_written(p))
            status = ls_buffer_write(t->buffers[p->buffer], 0, p->mem,
                                     t->params.buffers[p->buffer].bytes,
                                     t->params.buffers[p->buffer].size, error);
    }
    return status;
}

static ls_status read_buffer(const tuner *t, const ls_param_info *param, void **bytes,
                             ls_error *error)
{
    uint64_t size = t->params.buffers[param->buffer].size;
    *bytes = ls__mem_alloc((size_t)size, 1);
    if (!*bytes)
        return ls__fail_oom(error, (size_t)size);
    return ls_buffer_read(t->buffers[param->buffer], 0, param->mem, *bytes, size, error);
}

/* --- running ---------------------------------------------------------------------------------- */
static void note_time(tuner *t, candidate *c, const ls_receipt *receipt)
{
    bool measured = receipt->timing.state == LS_TIMING_MEASURED;
    if (receipt->execution_host_ns < c->host_ns)
        c->host_ns = receipt->execution_host_ns;
    if (measured && receipt->timing.device_ns < c->device_ns)
        c->device_ns = receipt->timing.device_ns;
    if (!measured && !t->tuning->time_unavailable && receipt->timing.unavailable)
        t->tuning->time_unavailable = ls__mem_strdup(receipt->timing.unavailable);
    t->tuning->device_time &= measured;
}

static ls_status run(tuner *t, candidate *c, ls_receipt *receipt, ls_error *error)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    *receipt = (ls_receipt){.struct_size = sizeof *receipt};
    params.timing = true;
    params.time_limit_ns = t->params.time_limit_ns;
    ls_status status = reset(t, error);
    if (status == LS_OK)
        status = ls_submit(t->stream, c->batch, &params, &fence, error);
    if (status == LS_OK) {
        status = ls_fence_wait(fence, LS_FOREVER, receipt, error);
        if (status != LS_OK && receipt->trapped)
            ls__fail(error, LS_E_TRAP, "the kernel trapped with code %u", receipt->trap_code);
        if (status != LS_OK)
            status = fail_with(t, c, error ? error->code : status, error);
    }
    ls_fence_destroy(&fence);
    return status;
}

static ls_status fail_differs(const tuner *t, const candidate *c, const ls_param_info *param,
                              uint64_t element, ls_error *error)
{
    ls__strbuf text = {0}, defaults = {0};
    append_values(t, c, &text);
    append_values(t, &t->tuning->candidates[0], &defaults);
    ls__fail(error, LS_E_FAILED,
             "kernel '%s' computes something else with %s than with %s: %s[%llu] is the first "
             "element that differs",
             t->kernel.name, text.text ? text.text : "", defaults.text ? defaults.text : "",
             param->name, (unsigned long long)element);
    ls__strbuf_finish(&text);
    ls__strbuf_finish(&defaults);
    return ls__fail_hint(error, LS_E_FAILED,
                         "results must not depend on constants that may be tuned: mend the kernel, "
                         "or leave the value out of its SPEC");
}

/* After a run of the defaults: keeps what they wrote. After another: compares with that. */
static ls_status check_buffer(tuner *t, const candidate *c, const ls_param_info *param,
                              ls_error *error)
{
    void **expected = &t->expected[param->buffer], *found;
    uint64_t size = t->params.buffers[param->buffer].size, at = 0;
    if (c == t->tuning->candidates)
        return read_buffer(t, param, expected, error);
    ls_status status = read_buffer(t, param, &found, error);
    if (status == LS_OK && memcmp(found, *expected, size) != 0) {
        while (((uint8_t *)found)[at] == ((uint8_t *)*expected)[at])
            at++;
        status = fail_differs(t, c, param, at / param->size, error);
    }
    ls__mem_free(found);
    return status;
}

static ls_status check_all(tuner *t, ls_error *error)
{
    ls_receipt receipt;
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < t->tuning->count; i++) {
        candidate *c = &t->tuning->candidates[i];
        begin_step(t);
        if (c->left_out)
            continue;
        status = run(t, c, &receipt, error);
        for (uint32_t k = 0; status == LS_OK && k < t->kernel.param_count; k++)
            if (is_written(&t->parameters[k]))
                status = check_buffer(t, c, &t->parameters[k], error);
    }
    return status;
}

static ls_status measure_all(tuner *t, ls_error *error)
{
    ls_tuning *made = t->tuning;
    ls_receipt receipt;
    ls_status status = LS_OK;
    made->device_time = true;
    for (uint32_t round = 0; round < made->rounds; round++)
        for (uint32_t i = 0; status == LS_OK && i < made->count; i++) {
            candidate *c = &made->candidates[round % 2 ? made->count - 1 - i : i];
            begin_step(t);
            if (c->left_out)
                continue;
            status = run(t, c, &receipt, error);
            if (status == LS_OK)
                note_time(t, c, &receipt);
        }
    return status;
}

static void choose(ls_tuning *made)
{
    uint64_t times[LS_TUNE_MAX_CANDIDATES];
    for (uint32_t i = 0; i < made->count; i++) {
        candidate *c = &made->candidates[i];
        uint64_t least = made->device_time ? c->device_ns : c->host_ns;
        times[i] = c->left_out ? UINT64_MAX : least;
        c->time_ns = c->left_out ? 0 : least;
    }
    made->chosen = ls__tune_choose(times, made->count);
}

/* --- all of it -------------------------------------------------------------------------------- */
static ls_status keep(tuner *t, ls_error *error)
{
    ls__digest key;
    ls_tuning *made = t->tuning;
    ls_status status = ls__tune_key(t->device, t->module, t->kernel.name, t->params.unchecked,
                                    &t->axes, &key, error);
    if (status == LS_OK)
        made->not_kept =
            ls__tune_keep(t->device, &key, &t->axes, made->candidates[made->chosen].values);
    return status;
}

static void release_candidates(ls_tuning *made)
{
    for (uint32_t i = 0; i < made->count; i++) {
        ls_batch_destroy(&made->candidates[i].batch);
        ls_program_destroy(&made->candidates[i].program);
    }
}

static void tear_down(tuner *t)
{
    if (t->tuning)
        release_candidates(t->tuning);
    ls_stream_destroy(&t->stream, NULL);
    for (uint32_t i = 0; i < t->kernel.buffer_count; i++) {
        if (t->buffers)
            ls_buffer_destroy(&t->buffers[i]);
        if (t->expected)
            ls__mem_free(t->expected[i]);
    }
    ls__mem_free(t->expected);
    ls__mem_free(t->ranges);
    ls__mem_free(t->buffers);
    ls__mem_free(t->parameters);
    ls__tune_axes_finish(&t->axes);
    ls_module_destroy(&t->module);
}

ls_status ls_tune(ls_device *device, const ls_tune_params *params, ls_tuning **tuning,
                  ls_error *error)
{
    tuner t = {.device = device};
    if (!tuning)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_tune: nowhere to write the result was given");
    *tuning = NULL;
    ls_status status = check_params(&t, params, error);
    if (status == LS_OK)
        status = look(&t, error);
    if (status == LS_OK && !(t.tuning = ls__mem_alloc(1, sizeof *t.tuning)))
        status = ls__fail_oom(error, sizeof *t.tuning);
    if (status == LS_OK)
        status = make_candidates(&t, error);
    if (status == LS_OK)
        status = create_buffers(&t, error);
    if (status == LS_OK)
        status = build_all(&t, error);
    if (status == LS_OK)
        status = ls_stream_create(device, &t.stream, error);
    if (status == LS_OK)
        status = check_all(&t, error);
    if (status == LS_OK)
        status = measure_all(&t, error);
    if (status == LS_OK) {
        choose(t.tuning);
        status = keep(&t, error);
    }
    tear_down(&t);
    if (status == LS_OK)
        *tuning = t.tuning;
    else
        ls_tuning_destroy(&t.tuning);
    return status;
}

void ls_tuning_destroy(ls_tuning **tuning)
{
    if (!tuning || !*tuning)
        return;
    ls_tuning *made = *tuning;
    for (uint32_t i = 0; i < made->count; i++)
        ls__mem_free(made->candidates[i].left_out);
    ls__mem_free(made->time_unavailable);
    ls__mem_free(made->candidates);
    ls__mem_free(made->values);
    ls__mem_free(made->names);
    ls__mem_free(made);
    *tuning = NULL;
}

/* --- the result ------------------------------------------------------------------------------- */
/* As much as the caller's struct has. */
static void copy_out(void *out, const void *in, size_t size)
{
    size_t given;
    memcpy(&given, out, sizeof given);
    if (given == 0 || given > size)
        given = size;
    memcpy(out, in, given);
    memcpy(out, &given, sizeof given);
}

void ls_tuning_describe(const ls_tuning *tuning, ls_tuning_info *info)
{
    const ls_tuning_info all = {
        .candidate_count = tuning->count,
        .value_count = tuning->value_count,
        .chosen = tuning->chosen,
        .rounds = tuning->rounds,
        .device_time = tuning->device_time,
        .time_unavailable = tuning->device_time        ? NULL
                            : tuning->time_unavailable ? tuning->time_unavailable
                                                       : "it gives no reason",
        .not_kept = tuning->not_kept,
    };
    copy_out(info, &all, sizeof all);
}

void ls_tuning_candidate(const ls_tuning *tuning, uint32_t index, ls_tune_candidate *out)
{
    const candidate *c = &tuning->candidates[index];
    const ls_tune_candidate all = {
        .values = c->values, .time_ns = c->time_ns, .left_out = c->left_out};
    copy_out(out, &all, sizeof all);
}
