/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep tune`: which values of a kernel's SPEC constants are fastest on a device. The library
 * measures and keeps them; here is what it is given, and how what it found is shown. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/bind.h"
#include "cli/cli.h"
#include "cli/launch_options.h"
#include "cli/wait.h"
#include "lockstep/tune.h"

#define MAX_SOURCE_BYTES (UINT64_C(1) << 30)

enum { KEY_ROUNDS = 256, KEY_JSON };

struct options {
    ls__cli_job job;
    uint32_t rounds;
    bool json;
};

typedef struct work {
    const struct options *options;
    ls__strbuf cache;
    void *text;
    size_t length;
    ls_module *module;
    ls__cli_binding binding;
    ls_device *device;
    ls_tune_buffer *buffers; /* [binding.kernel.buffer_count] */
    ls_tuning *tuning;
    ls_tuning_info info;
} work;

/* --- the command line ------------------------------------------------------------------------- */
static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    ls_error error = {0};
    switch (key) {
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_ROUNDS:
        if (ls__cli_parse_count("--rounds takes a number", text, &options->rounds, &error) != LS_OK)
            ls__cli_usage_error(state, "%s", error.message);
        else if (options->rounds == 0)
            argp_error(state, "--rounds takes a number from 1 on");
        return 0;
    default:
        return ls__cli_launch_option(key, text, &options->job, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_table[] = {
    LS__CLI_LAUNCH_OPTIONS,
    {"rounds", KEY_ROUNDS, "N", 0,
     "Measure each candidate N times; the least time counts (default 10)", 1},
    {"json", KEY_JSON, NULL, 0, "Print what was found as JSON", 3},
    {0},
};

static const struct argp arguments = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE [NAME=VALUE...]",
    .doc =
        "Measures a launch of a kernel with each combination of the values that its SPEC constants "
        "name, as in SPEC(u32, GROUP, 64, 32, 128), and keeps the fastest for the device: lockstep "
        "run takes it from then on. All must compute the same bits.\n\nOptions:"
        "\v"
        "FILE is Kernel C. Parameters are given as for lockstep run; what a constant set with -D "
        "is, "
        "stays.\n\n"
        "Examples:\n"
        "  lockstep tune nbody.kc --global 200 n=200 dt=0.01 softening=0.01 \\\n"
        "      bodies=random:f32:2x200x4:1 velocities=zeros:f32:200x3\n"
        "  lockstep tune matmul.kc --global 24,40 --rounds 3 --json rows=40 \\\n"
        "      columns=24 depth=50 a=random:f32:40x50:1 \\\n"
        "      b=random:f32:50x24:2 c=zeros:f32:40x24\n",
};

/* --- what is measured ------------------------------------------------------------------------- */
static ls_status open_device(work *w, ls_error *error)
{
    const ls__cli_job *job = &w->options->job;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = job->device;
    params.budget_bytes = job->budget_bytes;
    params.threads = job->threads;
    params.target = job->target;
    params.cache_path = w->cache.text;
    return ls__cli_open_device(&params, false, &w->device, error);
}

static ls_status fill_buffers(work *w, ls_error *error)
{
    uint32_t count = w->binding.kernel.buffer_count;
    w->buffers = ls__mem_alloc(count, sizeof *w->buffers);
    if (!w->buffers)
        return ls__fail_oom(error, count * sizeof *w->buffers);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = ls__cli_array_bytes(&w->binding.arrays[i]);
        void *bytes = ls__mem_alloc((size_t)size, 1);
        if (!bytes)
            return ls__fail_oom(error, (size_t)size);
        ls__cli_array_fill(&w->binding.arrays[i], bytes);
        w->buffers[i] = (ls_tune_buffer){bytes, size};
    }
    return LS_OK;
}

static ls_status read_source(work *w, ls_error *error)
{
    const char *path = w->options->job.file;
    if (ls__str_ends_in(path, ".ir") || ls__str_ends_in(path, ".irb"))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "'%s': the constants of an IR file are fixed; tune the .kc file", path);
    return ls__os_read_file(path, MAX_SOURCE_BYTES, &w->text, &w->length, error);
}

static void show_progress(void *context, uint64_t step, uint64_t all)
{
    (void)context;
    fprintf(stderr, "\r\033[Kstep %" PRIu64 " of %" PRIu64 " (Ctrl-C to stop)", step, all);
}

static ls_status tune(work *w, ls_error *error)
{
    const ls__cli_job *job = &w->options->job;
    ls_compile_params source = LS_COMPILE_PARAMS_INIT;
    ls_tune_params params = LS_TUNE_PARAMS_INIT;
    source.text = w->text;
    source.length = w->length;
    source.path = job->file;
    source.defines = job->defines;
    source.define_count = job->define_count;
    source.cache_path = w->cache.text;
    params.source = &source;
    params.kernel = w->binding.kernel.name;
    memcpy(params.global_size, job->global, sizeof params.global_size);
    memcpy(params.workgroup_count, job->workgroups, sizeof params.workgroup_count);
    params.buffers = w->buffers;
    params.buffer_count = w->binding.kernel.buffer_count;
    params.scalars = w->binding.scalars;
    params.scalar_bytes = w->binding.kernel.scalar_bytes;
    params.unchecked = job->unchecked;
    params.rounds = w->options->rounds;
    params.time_limit_ns = job->time_limit_ns;
    params.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
    ls_status status = ls_tune(w->device, &params, &w->tuning, error);
    ls__cli_clear_progress();
    if (status == LS_OK)
        ls_tuning_describe(w->tuning, &w->info);
    return status;
}

static ls_status work_on(work *w, ls_error *error)
{
    const ls__cli_job *job = &w->options->job;
    uint64_t limit = job->budget_bytes ? job->budget_bytes : ls__os_memory_bytes() / 2;
    ls_status status = ls__cli_choose_cache(job->cache, job->no_cache, &w->cache, error);
    if (status == LS_OK)
        status = read_source(w, error);
    if (status == LS_OK)
        status = ls__cli_load_module(job->file, job->defines, job->define_count, w->cache.text,
                                     &w->module, error);
    if (status == LS_OK)
        status = ls__cli_bind(w->module, job->kernel, job->arguments, job->argument_count, limit,
                              &w->binding, error);
    if (status == LS_OK)
        status = open_device(w, error);
    if (status == LS_OK)
        status = fill_buffers(w, error);
    if (status == LS_OK)
        status = tune(w, error);
    return status;
}

/* --- what was found --------------------------------------------------------------------------- */
static ls_tune_candidate candidate_at(const work *w, uint32_t index)
{
    ls_tune_candidate candidate = {.struct_size = sizeof candidate};
    ls_tuning_candidate(w->tuning, index, &candidate);
    return candidate;
}

static void append_values(const work *w, uint32_t index, ls__strbuf *out)
{
    ls_tune_candidate c = candidate_at(w, index);
    for (uint32_t i = 0; i < w->info.value_count; i++)
        ls__strbuf_printf(out, "%s%s=%lld", i ? " " : "", c.values[i].name,
                          (long long)c.values[i].value);
}

/* Times the defaults take; those of a kernel without lanes may be 0. */
static double ratio_of(const work *w, const ls_tune_candidate *c)
{
    uint64_t defaults = candidate_at(w, 0).time_ns;
    return defaults ? (double)c->time_ns / (double)defaults : 1;
}

static void print_candidate(const work *w, uint32_t index, int width)
{
    ls_tune_candidate c = candidate_at(w, index);
    const char *note = index == w->info.chosen ? (index ? "chosen" : "the default, chosen")
                       : index == 0            ? "the default"
                                               : "";
    ls__strbuf values = {0};
    append_values(w, index, &values);
    const char *text = values.text ? values.text : "";
    if (c.left_out)
        ls__cli_print_line(stdout, "  %-*s  left out: %s", width, text, c.left_out);
    else
        ls__cli_print_line(stdout, "  %-*s  %12.4f ms  %6.2f%s%s", width, text,
                           (double)c.time_ns / 1e6, ratio_of(w, &c), note[0] ? "  " : "", note);
    ls__strbuf_finish(&values);
}

static void print_table(const work *w)
{
    size_t width = 0;
    ls__strbuf chosen = {0};
    for (uint32_t i = 0; i < w->info.candidate_count; i++) {
        ls__strbuf values = {0};
        append_values(w, i, &values);
        width = values.length > width ? values.length : width;
        ls__strbuf_finish(&values);
    }
    ls__cli_print_line(
        stdout, "%s on %s (%s): %u candidates, %u round%s, time of the %s%s%s%s",
        w->binding.kernel.name, ls_device_name(w->device), ls_device_description(w->device),
        w->info.candidate_count, w->info.rounds, w->info.rounds == 1 ? "" : "s",
        w->info.device_time ? "device" : "host", w->info.device_time ? "" : " (",
        w->info.device_time ? "" : w->info.time_unavailable, w->info.device_time ? "" : ")");
    for (uint32_t i = 0; i < w->info.candidate_count; i++)
        print_candidate(w, i, (int)width);
    append_values(w, w->info.chosen, &chosen);
    if (w->info.not_kept)
        ls__cli_print_line(stdout, "not kept: %s", w->info.not_kept);
    else
        ls__cli_print_line(stdout, "kept: lockstep run takes %s on this device",
                           chosen.text ? chosen.text : "");
    ls__strbuf_finish(&chosen);
}

static json_t *values_of(const work *w, uint32_t index)
{
    ls_tune_candidate c = candidate_at(w, index);
    json_t *values = json_object();
    for (uint32_t i = 0; i < w->info.value_count; i++)
        json_object_set_new(values, c.values[i].name, json_integer(c.values[i].value));
    return values;
}

static bool print_json(const work *w)
{
    json_t *candidates = json_array();
    for (uint32_t i = 0; i < w->info.candidate_count; i++) {
        ls_tune_candidate c = candidate_at(w, i);
        json_t *entry = json_pack("{s:o}", "values", values_of(w, i));
        if (c.left_out) {
            json_object_set_new(entry, "left_out", json_string(c.left_out));
        } else {
            json_object_set_new(entry, "time_ns", json_integer((json_int_t)c.time_ns));
            json_object_set_new(entry, "ratio", json_real(ratio_of(w, &c)));
        }
        json_array_append_new(candidates, entry);
    }
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:i, s:s, s:s?, s:o, s:o, s:b, s:s?}", "kernel", w->binding.kernel.name,
        "device", ls_device_name(w->device), "description", ls_device_description(w->device),
        "rounds", (int)w->info.rounds, "time_of", w->info.device_time ? "device" : "host",
        "time_unavailable", w->info.time_unavailable, "candidates", candidates, "chosen",
        values_of(w, w->info.chosen), "kept", w->info.not_kept == NULL, "not_kept",
        w->info.not_kept);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
    if (text)
        puts(text);
    free(text);
    json_decref(root);
    return text != NULL;
}

int ls__cli_tune(int argc, char **argv)
{
    struct options options = {0};
    work w = {.options = &options, .info = {.struct_size = sizeof w.info}};
    ls_error error = {0};
    int result = LS__EXIT_FAILED;
    if (ls__cli_job_begin(&options.job, argc) &&
        argp_parse(&arguments, argc, argv, 0, NULL, &options) == 0) {
        ls_status status = work_on(&w, &error);
        if (status == LS_OK && !options.json)
            print_table(&w);
        else if (status == LS_OK && !print_json(&w))
            status = ls__fail_oom(&error, 0);
        result = ls__cli_end(status, &error);
    }
    ls_tuning_destroy(&w.tuning);
    ls_device_destroy(&w.device, NULL);
    for (uint32_t i = 0; w.buffers && i < w.binding.kernel.buffer_count; i++)
        ls__mem_free((void *)w.buffers[i].bytes);
    ls__mem_free(w.buffers);
    ls__cli_bind_finish(&w.binding);
    ls_module_destroy(&w.module);
    ls__mem_free(w.text);
    ls__strbuf_finish(&w.cache);
    ls__cli_job_end(&options.job);
    return result;
}
