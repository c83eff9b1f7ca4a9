/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep conform`: makes a certificate of what a device computes, or compares two. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/wait.h"
#include "conform/conform.h"

typedef struct conform_job {
    ls__conform_options options;
    ls_fault_plan fault;
    const char *report;
    const char *compare[2]; /* the option's and the argument */
    bool quiet;
} conform_job;

enum {
    KEY_DEVICE = 256,
    KEY_AGAINST,
    KEY_SEED,
    KEY_REPORT,
    KEY_QUICK,
    KEY_COMPARE,
    KEY_LOWER,
    KEY_THREADS,
    KEY_TARGET,
    KEY_TIER,
    KEY_CACHE,
    KEY_UNPROBED,
    KEY_WRONG
};

static const struct argp_option options[] = {
    {"device", KEY_DEVICE, "NAME", 0, "The device to examine (required)", 0},
    {"against", KEY_AGAINST, "NAME", 0,
     "Find rows whose bits differ from this device's (default: reference), or none", 0},
    {"filter", 'f', "PART", 0, "Only rows whose name has this part, or fits a pattern with *", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of inputs and programs (default 1)", 0},
    {"quick", KEY_QUICK, NULL, 0, "Fewer inputs, shapes and programs", 0},
    {"report", KEY_REPORT, "FILE", 0, "Write the certificate (JSON)", 0},
    {"compare", KEY_COMPARE, "A.json B.json", 0, "Compare two certificates; runs nothing", 0},
    {"lower", KEY_LOWER, "LIST", 0, "Force these lowerings (or all) on the device", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads of the cpu device", 0},
    {"target", KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 0},
    {"tier", KEY_TIER, "TIER", 0, "Compile quick or optimized (default) code", 0},
    {"cache", KEY_CACHE, "DIR", 0,
     "Use and keep compiled code in DIR. Without it all is compiled anew", 0},
    {"unprobed", KEY_UNPROBED, NULL, 0,
     "Leave out the bring-up probe, to see what it would have caught", 0},
    {"quiet", 'q', NULL, 0, "Print nothing when all went well", 0},
    {"wrong-op", KEY_WRONG, "OP", OPTION_HIDDEN, "Test hook of the fault device", 0},
    {0},
};

static uint64_t parse_number(struct argp_state *state, const char *text, uint64_t maximum)
{
    int64_t value;
    ls_error error;
    if (ls__cli_parse_integer(text, 0, maximum, &value, &error) != LS_OK)
        ls__cli_usage_error(state, "%s", error.message);
    return (uint64_t)value;
}

static ls_tier parse_tier(struct argp_state *state, const char *text)
{
    ls_tier tier = LS_TIER_OPTIMIZED;
    ls_error error;
    if (ls__cli_parse_tier(text, &tier, &error) != LS_OK)
        ls__cli_usage_error(state, "%s", error.message);
    return tier;
}

static void check(struct argp_state *state, conform_job *job)
{
    if (job->compare[0]) {
        if (!job->compare[1])
            ls__cli_usage_error(state, "--compare needs two certificates");
        return;
    }
    if (!job->options.device)
        ls__cli_usage_error(state, "--device is needed; `lockstep devices' lists them");
    if (!job->options.against)
        job->options.against = "reference";
    /* A device says nothing about itself. */
    if (strcmp(job->options.against, "none") == 0 ||
        strcmp(job->options.against, job->options.device) == 0)
        job->options.against = NULL;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    conform_job *job = state->input;
    ls__conform_options *o = &job->options;
    ls_error error;
    switch (key) {
    case KEY_DEVICE:
        o->device = text;
        return 0;
    case KEY_AGAINST:
        o->against = text;
        return 0;
    case 'f':
        o->filter = text;
        return 0;
    case KEY_SEED:
        o->seed = parse_number(state, text, INT64_MAX);
        return 0;
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_REPORT:
        job->report = text;
        return 0;
    case KEY_COMPARE:
        job->compare[0] = text;
        return 0;
    case KEY_LOWER:
        o->lower = text;
        return 0;
    case KEY_THREADS:
        if (ls__cli_parse_threads(text, &o->threads, &error) != LS_OK)
            ls__cli_usage_error(state, "%s", error.message);
        return 0;
    case KEY_TARGET:
        o->target = text;
        return 0;
    case KEY_TIER:
        o->tier = parse_tier(state, text);
        return 0;
    case KEY_CACHE:
        o->cache = text;
        return 0;
    case KEY_UNPROBED:
        o->unprobed = true;
        return 0;
    case 'q':
        job->quiet = true;
        return 0;
    case KEY_WRONG:
        job->fault.wrong_op = ls__cli_op_option(state, text);
        o->fault = &job->fault;
        return 0;
    case ARGP_KEY_ARG:
        if (!job->compare[0] || job->compare[1])
            ls__cli_usage_error(state, "'%s' is not expected here", text);
        job->compare[1] = text;
        return 0;
    case ARGP_KEY_END:
        check(state, job);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = options,
    .parser = parse_option,
    .args_doc = "--device=NAME\n--compare A.json B.json",
    .doc =
        "Runs every operation, our kernels, random programs and the device contract on a "
        "device, and says whether its bits are the reference's."
        "\v"
        "Rows are named op/fadd/f32, memory/copy/u8, atomic/add/u32, subgroup/sg_reduce.add/f32, "
        "id/lane/0, math/exp, kernel/matmul/24x40.2000, program/lanes/1, program/groups/1, "
        "contract/trap. A row that the device cannot run is named with the reason.\n\n"
        "Examples:\n"
        "  lockstep conform --device reference --quick --report one.json\n"
        "  lockstep conform --device fault --quick --report two.json\n"
        "  lockstep conform --compare one.json two.json\n"
        "\nExit status: 0 all rows that were run are equal, 1 a row differs or failed, or none\n"
        "was run, 2 wrong command line.\n",
};

/* --- output ----------------------------------------------------------------------------------- */
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "FAIL op/fdiv/f32: bits differ: fdiv f32 of 0x1, 0x3: expected 0x.., got 0x.." and, for a
 * program, its reduced text. */
static void print_failure(const json_t *failure)
{
    ls__strbuf line = {0};
    size_t index;
    json_t *input;
    ls__strbuf_printf(&line, "FAIL %s: %s", text_of(failure, "row"), text_of(failure, "what"));
    if (text_of(failure, "operation")[0])
        ls__strbuf_printf(&line, ": %s %s", text_of(failure, "operation"),
                          text_of(failure, "type"));
    json_array_foreach(json_object_get(failure, "inputs"), index, input)
    {
        ls__strbuf_printf(&line, "%s%s", index ? ", " : " of ", json_string_value(input));
    }
    if (text_of(failure, "got")[0])
        ls__strbuf_printf(&line, ": buffer %d, element %d: expected %s, got %s",
                          (int)json_integer_value(json_object_get(failure, "buffer")),
                          (int)json_integer_value(json_object_get(failure, "element")),
                          text_of(failure, "expected"), text_of(failure, "got"));
    if (text_of(failure, "message")[0])
        ls__strbuf_printf(&line, ": %s", text_of(failure, "message"));
    ls__cli_print_line(stdout, "%s", line.text ? line.text : "");
    ls__strbuf_finish(&line);
    if (text_of(failure, "program")[0])
        printf("%s\n", text_of(failure, "program"));
}

/* Rows not run, one line for each reason. */
static void print_not_run(const json_t *not_run)
{
    size_t count = json_array_size(not_run);
    for (size_t i = 0; i < count; i++) {
        const char *reason = text_of(json_array_get(not_run, i), "reason");
        size_t same = 0, earlier = 0;
        for (size_t k = 0; k < count; k++) {
            bool equal = strcmp(text_of(json_array_get(not_run, k), "reason"), reason) == 0;
            same += equal;
            earlier += equal && k < i;
        }
        if (!earlier)
            ls__cli_print_line(stdout, "not run: %s%s: %s",
                               text_of(json_array_get(not_run, i), "name"),
                               same > 1 ? " and others" : "", reason);
    }
}

static int print_certificate(const json_t *certificate, bool quiet)
{
    const json_t *failures = json_object_get(certificate, "failures");
    const json_t *not_run = json_object_get(certificate, "not_run");
    size_t failed = json_array_size(failures), index;
    bool nothing = json_array_size(json_object_get(certificate, "rows")) == 0;
    json_t *failure;
    json_array_foreach((json_t *)(uintptr_t)failures, index, failure)
    {
        print_failure(failure);
    }
    if (!quiet || failed || nothing) {
        print_not_run(not_run);
        printf("%s: %zu rows, %zu failed, %zu not run\n", text_of(certificate, "device"),
               json_array_size(json_object_get(certificate, "rows")), failed,
               json_array_size(not_run));
        if (nothing)
            printf("nothing is shown: no row could be run\n");
        else
            printf("digest %s\n", text_of(certificate, "digest"));
    }
    /* Nothing run is no conformance. */
    return failed || nothing ? LS__EXIT_FAILED : LS__EXIT_OK;
}

static bool show_progress(void *context, const char *row, uint32_t done)
{
    const bool *terminal = context;
    if (*terminal)
        fprintf(stderr, "\r\033[K%u rows, %s", done, row);
    return ls__cli_caught_signal() == 0;
}

static int run(conform_job *job)
{
    bool terminal = !job->quiet && isatty(STDERR_FILENO);
    json_t *certificate = NULL;
    ls_error error;
    job->options.progress = show_progress;
    job->options.context = &terminal;
    ls__cli_catch_signals();
    ls_status status = LS_OK;
    if (job->options.cache)
        status = ls__cli_check_cache(job->options.cache, &error);
    if (status == LS_OK)
        status = ls__conform_run(&job->options, &certificate, &error);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (status == LS_OK && job->report)
        status = ls__certificate_write(certificate, job->report, &error);
    int code = status == LS_OK ? print_certificate(certificate, job->quiet) : LS__EXIT_FAILED;
    json_decref(certificate);
    if (status != LS_OK)
        ls__cli_print_error(&error);
    return ls__cli_caught_signal() ? LS__EXIT_SIGNAL + ls__cli_caught_signal() : code;
}

static int compare(const conform_job *job)
{
    json_t *a = NULL, *b = NULL;
    ls__certificate_comparison result = {0};
    ls_error error;
    ls_status status = ls__certificate_read(job->compare[0], &a, &error);
    if (status == LS_OK)
        status = ls__certificate_read(job->compare[1], &b, &error);
    if (status == LS_OK)
        status = ls__certificate_compare(a, b, &result, &error);
    if (status != LS_OK) {
        ls__cli_print_error(&error);
    } else if (!job->quiet || result.different) {
        for (const char *at = result.text.text; at && *at;) {
            size_t length = strcspn(at, "\n");
            ls__cli_print_line(stdout, "%.*s", (int)length, at);
            at += length + (at[length] != 0);
        }
        printf("%u rows equal, %u different, %u run in one only\n", result.equal, result.different,
               result.only_one);
    }
    json_decref(a);
    json_decref(b);
    ls__strbuf_finish(&result.text);
    /* Nothing in common is no agreement. */
    return status == LS_OK && !result.different && result.equal ? LS__EXIT_OK : LS__EXIT_FAILED;
}

int ls__cli_conform(int argc, char **argv)
{
    conform_job job = {.options = {.seed = 1}, .fault = LS_FAULT_PLAN_INIT};
    if (argp_parse(&arguments, argc, argv, 0, NULL, &job) != 0)
        return LS__EXIT_USAGE;
    return job.compare[0] ? compare(&job) : run(&job);
}
