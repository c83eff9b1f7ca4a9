/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep bench-llm`: how fast a model reads prompts and generates, behind texts of several
 * lengths and with several numbers of threads. */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/wait.h"

enum { KEY_DEPTH = 256, KEY_REPEAT, KEY_JSON, MOST_TOKENS = 1 << 20, MOST_REPEATS = 1000 };

typedef struct bench {
    /* options */
    uint32_t prompt, generated, repeats;
    ls__cli_list depths, threads;
    bool json;
    ls__cli_model model;
    /* the run */
    uint32_t *ids;   /* [the longest text] */
    double *seconds; /* [repeats] */
    json_t *results;
} bench;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"prompt", 'p', "N", 0, "Tokens of the prompt; 0: leave it out (default: 512)", 1},
    {"generate", 'n', "N", 0, "Tokens to generate; 0: leave it out (default: 128)", 1},
    {"depth", KEY_DEPTH, "N,...", 0, "Tokens that are there before (default: 0)", 1},
    {"repeat", KEY_REPEAT, "N", 0, "How often each is measured (default: 5)", 1},
    {"json", KEY_JSON, NULL, 0, "Print JSON, as docs/bench-llm.schema.json has it", 40},
    {0},
};

static const char description[] =
    "Measures how many tokens a second a model reads as a prompt, and generates one by one, behind "
    "texts of several lengths (--depth) and with several numbers of threads (--threads 1,2). Each "
    "is "
    "done once unmeasured, then --repeat times: the table has the median, the slowest and the "
    "fastest."
    "\v"
    "Only the computing is measured: no tokenizer, no sampling, nothing printed.\n\n"
    "Examples:\n"
    "  lockstep bench-llm -m model.gguf -p 32 -n 8 --repeat 3\n"
    "  lockstep bench-llm -m model.gguf -p 16 -n 4 --depth 0,64 --threads 1,2 --json\n\n"
    "Exit status: 0 good, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C.\n";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    bench *b = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &b->model;
        return 0;
    case 'p':
        b->prompt = ls__cli_count_option(state, "--prompt", text, MOST_TOKENS);
        return 0;
    case 'n':
        b->generated = ls__cli_count_option(state, "--generate", text, MOST_TOKENS);
        return 0;
    case KEY_DEPTH:
        ls__cli_list_option(state, "--depth", text, MOST_TOKENS, &b->depths);
        return 0;
    case KEY_REPEAT:
        b->repeats = ls__cli_count_option(state, "--repeat", text, MOST_REPEATS);
        if (!b->repeats)
            ls__cli_usage_error(state, "--repeat: at least once");
        return 0;
    case KEY_JSON:
        b->json = true;
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here", text);
        return 0;
    case ARGP_KEY_END:
        if (!b->prompt && !b->generated)
            ls__cli_usage_error(state, "nothing is left to measure: -p or -n");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&ls__cli_model_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description, .children = children};

/* --- measuring -------------------------------------------------------------------------------- */

static uint32_t longest(const bench *b, uint32_t depth)
{
    return depth + (b->prompt > b->generated ? b->prompt : b->generated);
}

/* Feeds behind the first `depth` tokens, which the session has, `count` tokens, `step` at a time.
 */
static ls_status feed_timed(const bench *b, ls_session *session, uint32_t depth, uint32_t count,
                            uint32_t step, double *seconds, ls_error *error)
{
    ls_status status = ls_session_truncate(session, depth, error);
    uint64_t begun = ls__os_now_ns();
    for (uint32_t done = 0; status == LS_OK && done < count; done += step) {
        if (ls__cli_caught_signal())
            return ls__fail(error, LS_E_CANCELLED, "stopped");
        status = ls_session_feed(session, b->ids + depth + done, step, error);
    }
    *seconds = (double)(ls__os_now_ns() - begun) / 1e9;
    return status;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const bench *b, const ls_session *session, const char *test, uint32_t tokens,
                   uint32_t depth)
{
    json_t *seconds = json_array();
    for (uint32_t i = 0; i < b->repeats; i++)
        json_array_append_new(seconds, json_real(b->seconds[i]));
    qsort(b->seconds, b->repeats, sizeof *b->seconds, compare_numbers);
    double fast = tokens / (b->seconds[0] + 1e-12);
    double slow = tokens / (b->seconds[b->repeats - 1] + 1e-12);
    double middle = (b->seconds[(b->repeats - 1) / 2] + b->seconds[b->repeats / 2]) / 2;
    double median = tokens / (middle + 1e-12);
    if (!b->json)
        printf("%-9s %7" PRIu32 " %7" PRIu32 " %7" PRIu32 " %12.2f %10.2f %10.2f\n", test, tokens,
               depth, b->model.threads, median, slow, fast);
    fflush(stdout);
    json_array_append_new(
        b->results, json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:{s:f, s:f, s:f}}", "test", test,
                              "tokens", (json_int_t)tokens, "depth", (json_int_t)depth, "threads",
                              (json_int_t)b->model.threads, "cache_bytes",
                              (json_int_t)ls_session_cache_bytes(session), "seconds", seconds,
                              "tokens_per_second", "median", median, "min", slow, "max", fast));
}

static ls_status measure(bench *b, ls_session *session, uint32_t depth, bool one_by_one,
                         ls_error *error)
{
    uint32_t count = one_by_one ? b->generated : b->prompt;
    double unmeasured;
    if (!count)
        return LS_OK;
    ls_status status =
        feed_timed(b, session, depth, count, one_by_one ? 1 : count, &unmeasured, error);
    for (uint32_t i = 0; status == LS_OK && i < b->repeats; i++)
        status =
            feed_timed(b, session, depth, count, one_by_one ? 1 : count, &b->seconds[i], error);
    if (status == LS_OK)
        report(b, session, one_by_one ? "generate" : "prompt", count, depth);
    return status;
}

static ls_status measure_depth(bench *b, uint32_t depth, ls_error *error)
{
    ls_session *session = NULL;
    b->model.context = longest(b, depth);
    b->model.rewind = b->model.context - depth;
    ls_status status = ls__cli_model_session(&b->model, &session, error);
    if (status == LS_OK && depth)
        status = ls_session_feed(session, b->ids, depth, error);
    if (status == LS_OK)
        status = measure(b, session, depth, false, error);
    if (status == LS_OK)
        status = measure(b, session, depth, true, error);
    ls_session_destroy(&session);
    return status;
}

/* As many random tokens as the deepest measurement takes; what they are does not matter. */
static ls_status choose_tokens(bench *b, ls_error *error)
{
    uint32_t most = 0;
    ls__rng rng = {1};
    if (b->ids)
        return LS_OK;
    for (uint32_t i = 0; i < b->depths.count; i++) {
        uint32_t depth = b->depths.items[i], all = longest(b, depth);
        if (all > b->model.info.context) {
            ls__fail(error, LS_E_INVALID_ARGUMENT,
                     "depth %" PRIu32 " and %" PRIu32 " tokens are more than the %" PRIu32
                     " positions of the model",
                     depth, all - depth, b->model.info.context);
            return ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "take a smaller --depth, -p or -n");
        }
        most = all > most ? all : most;
    }
    b->ids = ls__mem_alloc(most, sizeof *b->ids);
    b->seconds = ls__mem_alloc(b->repeats, sizeof *b->seconds);
    if (!b->ids || !b->seconds)
        return ls__fail_oom(error, most * sizeof *b->ids);
    for (uint32_t i = 0; i < most; i++)
        b->ids[i] = ls__rng_below(&rng, b->model.vocabulary.token_count);
    return LS_OK;
}

static ls_status measure_threads(bench *b, uint32_t threads, bool first, ls_error *error)
{
    b->model.threads = threads;
    b->model.context = b->model.rewind = 0;
    ls_status status = ls__cli_model_open(&b->model, false, error);
    if (status == LS_OK)
        status = choose_tokens(b, error);
    if (status == LS_OK && first && !b->json)
        ls__cli_print_line(stdout, "%s on %s; tokens a second:", b->model.path,
                           ls_device_name(b->model.device));
    if (status == LS_OK && first && !b->json)
        printf("%-9s %7s %7s %7s %12s %10s %10s\n", "test", "tokens", "depth", "threads", "median",
               "slowest", "fastest");
    for (uint32_t i = 0; status == LS_OK && i < b->depths.count; i++)
        status = measure_depth(b, b->depths.items[i], error);
    return status;
}

static ls_status print_json(const bench *b, const char *device, ls_error *error)
{
    json_t *all = json_pack(
        "{s:i, s:s, s:s, s:s, s:I, s:s, s:O}", "schema", 1, "version", ls_version(), "model",
        b->model.path, "architecture", b->model.info.architecture, "weight_bytes",
        (json_int_t)b->model.info.weight_bytes, "device", device, "results", b->results);
    bool written = all && json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(all);
    if (!written && !ferror(stdout))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the name of the model's file is no UTF-8");
    printf("\n");
    return LS_OK;
}

static ls_status run(bench *b, ls_error *error)
{
    char device[32] = "";
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < b->threads.count; i++) {
        status = measure_threads(b, b->threads.items[i], i == 0, error);
        if (status == LS_OK)
            snprintf(device, sizeof device, "%s", ls_device_name(b->model.device));
        ls__cli_model_close(&b->model);
    }
    return status == LS_OK && b->json ? print_json(b, device, error) : status;
}

int ls__cli_bench_llm(int argc, char **argv)
{
    bench b = {.prompt = 512,
               .generated = 128,
               .repeats = 5,
               .depths = {.count = 1},
               .threads = {.count = 1}};
    ls_error error;
    b.model.threads_list = &b.threads;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &b) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    b.results = json_array();
    ls_status status = run(&b, &error);
    json_decref(b.results);
    ls__mem_free(b.ids);
    ls__mem_free(b.seconds);
    return ls__cli_end(status, &error);
}
