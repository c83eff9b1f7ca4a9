/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep generate`: a text goes on as a language model has it. The text goes to standard output,
 * everything else to standard error. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/wait.h"
#include "lockstep/chat.h"
#include "lockstep/llm.h"
#include "lockstep/tokenizer.h"

enum {
    KEY_TEMPERATURE = 256,
    KEY_TOP_K,
    KEY_TOP_P,
    KEY_MIN_P,
    KEY_SEED,
    KEY_REPEAT_PENALTY,
    KEY_FREQUENCY_PENALTY,
    KEY_PRESENCE_PENALTY,
    KEY_PENALTY_WINDOW,
    KEY_STOP,
    KEY_SPECIAL,
    KEY_CHAT,
    KEY_SYSTEM,
    KEY_DATE,
    KEY_CONTEXT,
    KEY_CHUNK,
    KEY_DEVICE,
    KEY_THREADS,
    KEY_TARGET,
    KEY_CACHE,
    KEY_NO_CACHE,
    KEY_DIGEST,
    MOST_STOPS = 16,
    DEFAULT_TOKENS = 128
};

#define MOST_PROMPT_BYTES (UINT64_C(1) << 26)

typedef struct request {
    const char *model, *prompt, *system, *device, *target, *cache;
    const char *stops[MOST_STOPS];
    uint32_t stop_count, tokens, threads, context, chunk;
    ls_sampler_params sampler;
    int64_t date; /* seconds since 1970 */
    bool special, chat, no_cache, digest, verbose;
} request;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "The model (GGUF; required)", 1},
    {"prompt", 'p', "TEXT", 0, "The text to go on with (default: standard input)", 1},
    {"tokens", 'n', "N", 0, "Tokens to generate at most (default: 128)", 1},
    {"stop", KEY_STOP, "TEXT", 0, "End in front of this text; may be repeated", 1},
    {"special", KEY_SPECIAL, NULL, 0, "Names of control tokens in the prompt are these tokens", 1},
    {"chat", KEY_CHAT, NULL, 0, "The prompt is a message, put into the model's chat template", 1},
    {"system", KEY_SYSTEM, "TEXT", 0, "With --chat: the system message before it", 1},
    {"date", KEY_DATE, "YYYY-MM-DD", 0,
     "With --chat: the day that templates may name (default: today)", 1},
    {"context", KEY_CONTEXT, "N", 0,
     "Tokens of prompt and answer (default: the model's, at most 4096)", 1},
    {"temperature", KEY_TEMPERATURE, "T", 0, "0: always the best token (default)", 2},
    {"top-k", KEY_TOP_K, "N", 0, "Only from the N best; 0: from all (default: 40)", 2},
    {"top-p", KEY_TOP_P, "P", 0, "Only from the best of probability P together (default: 0.95)", 2},
    {"min-p", KEY_MIN_P, "P", 0, "Only from those of P times the best's probability", 2},
    {"seed", KEY_SEED, "N", 0, "The same seed gives the same text (default: 0)", 2},
    {"repeat-penalty", KEY_REPEAT_PENALTY, "X", 0, "Divide logits of late tokens (default: 1)", 2},
    {"frequency-penalty", KEY_FREQUENCY_PENALTY, "X", 0, "Subtract for each time a token came", 2},
    {"presence-penalty", KEY_PRESENCE_PENALTY, "X", 0, "Subtract when a token came", 2},
    {"penalty-window", KEY_PENALTY_WINDOW, "N", 0, "Tokens that count as late (default: 64)", 2},
    {"device", KEY_DEVICE, "NAME", 0, "Compute on this device", 3},
    {"threads", KEY_THREADS, "N", 0, "Threads of the cpu device (default: all cores)", 3},
    {"target", KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 3},
    {"chunk", KEY_CHUNK, "N", 0, "Tokens of the prompt computed together (default: 64)", 3},
    {"cache", KEY_CACHE, "DIR", 0, "Keep compiled code there", 3},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "Compile anew and keep nothing", 3},
    {"digest", KEY_DIGEST, NULL, 0, "Print the SHA-256 of all logits that a token was chosen from",
     4},
    {"verbose", 'v', NULL, 0, "Print how many tokens, and how fast", 4},
    {0},
};

static const char description[] =
    "Goes on with a text as a language model has it. The text goes to standard output, all else to "
    "standard error. The same file, prompt, options and seed give the same text on every device, "
    "with any number of threads and any chunk: the logits have the same bits "
    "(docs/numerics-llm.md)."
    "\v"
    "Models of the llama architecture are there, with matrices of the types Q4_0, Q4_1, Q8_0, F16 "
    "and F32.\n\n"
    "Examples:\n"
    "  lockstep generate -m model.gguf -p 'Once upon a time' -n 8\n"
    "  lockstep generate -m model.gguf --chat -p 'What is the sea?' -n 8\n"
    "  lockstep generate -m model.gguf -p 'Hello' --temperature 0.8 --seed 7 -n 8\n\n"
    "Exit status: 0 good, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C.\n";

static uint32_t count_option(const struct argp_state *state, const char *name, const char *text,
                             uint32_t most)
{
    int64_t value;
    ls_error error;
    if (ls__cli_parse_integer(text, 0, most, &value, &error) != LS_OK)
        ls__cli_usage_error(state, "%s: %s", name, error.message);
    return (uint32_t)value;
}

static float float_option(const struct argp_state *state, const char *name, const char *text)
{
    char *end;
    float value = strtof(text, &end);
    if (end == text || *end)
        ls__cli_usage_error(state, "%s: '%s' is no number", name, text);
    return value;
}

static int64_t date_option(const struct argp_state *state, const char *text)
{
    struct tm day = {0};
    const char *end = strptime(text, "%Y-%m-%d", &day);
    if (!end || *end)
        ls__cli_usage_error(state, "--date: '%s' is no day such as 2026-01-31", text);
    return timegm(&day);
}

static error_t parse_sampling(int key, char *text, struct argp_state *state)
{
    request *r = state->input;
    int64_t seed;
    ls_error error;
    switch (key) {
    case KEY_TEMPERATURE:
        r->sampler.temperature = float_option(state, "--temperature", text);
        return 0;
    case KEY_TOP_K:
        r->sampler.top_k = count_option(state, "--top-k", text, UINT32_MAX);
        return 0;
    case KEY_TOP_P:
        r->sampler.top_p = float_option(state, "--top-p", text);
        return 0;
    case KEY_MIN_P:
        r->sampler.min_p = float_option(state, "--min-p", text);
        return 0;
    case KEY_SEED:
        if (ls__cli_parse_integer(text, 0, UINT64_MAX, &seed, &error) != LS_OK)
            ls__cli_usage_error(state, "--seed: %s", error.message);
        r->sampler.seed = (uint64_t)seed;
        return 0;
    case KEY_REPEAT_PENALTY:
        r->sampler.repetition_penalty = float_option(state, "--repeat-penalty", text);
        return 0;
    case KEY_FREQUENCY_PENALTY:
        r->sampler.frequency_penalty = float_option(state, "--frequency-penalty", text);
        return 0;
    case KEY_PRESENCE_PENALTY:
        r->sampler.presence_penalty = float_option(state, "--presence-penalty", text);
        return 0;
    case KEY_PENALTY_WINDOW:
        r->sampler.window = count_option(state, "--penalty-window", text, UINT32_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'm':
        r->model = text;
        return 0;
    case 'p':
        r->prompt = text;
        return 0;
    case 'n':
        r->tokens = count_option(state, "--tokens", text, UINT32_MAX);
        return 0;
    case KEY_STOP:
        if (!*text || r->stop_count == MOST_STOPS)
            ls__cli_usage_error(state, "--stop: a text that is not empty, %d times at most",
                                MOST_STOPS);
        r->stops[r->stop_count++] = text;
        return 0;
    case KEY_SPECIAL:
        r->special = true;
        return 0;
    case KEY_CHAT:
        r->chat = true;
        return 0;
    case KEY_SYSTEM:
        r->system = text;
        return 0;
    case KEY_DATE:
        r->date = date_option(state, text);
        return 0;
    case KEY_CONTEXT:
        r->context = count_option(state, "--context", text, UINT32_MAX);
        return 0;
    case KEY_CHUNK:
        r->chunk = count_option(state, "--chunk", text, 4096);
        return 0;
    case KEY_DEVICE:
        r->device = text;
        return 0;
    case KEY_THREADS:
        r->threads = count_option(state, "--threads", text, 4096);
        return 0;
    case KEY_TARGET:
        r->target = text;
        return 0;
    case KEY_CACHE: /* of this and --no-cache the last counts */
        r->cache = text;
        r->no_cache = false;
        return 0;
    case KEY_NO_CACHE:
        r->no_cache = true;
        return 0;
    case KEY_DIGEST:
        r->digest = true;
        return 0;
    case 'v':
        r->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here: a prompt is given with -p", text);
        return 0;
    case ARGP_KEY_END:
        if (!r->model)
            argp_error(state, "a model is needed: -m FILE");
        if (r->system && !r->chat)
            argp_error(state, "--system is of --chat");
        return 0;
    default:
        return parse_sampling(key, text, state);
    }
}

static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description};

/* --- the run ---------------------------------------------------------------------------------- */

typedef struct run {
    const request *request;
    ls_gguf *gguf;
    ls_tokenizer *tokenizer;
    ls_chat_template *chat; /* with --chat */
    ls_device *device;
    ls_model *model;
    ls_session *session;
    ls_sampler *sampler;
    uint32_t *tokens; /* prompt and answer */
    uint32_t prompt_count, count, capacity;
    ls__strbuf pending; /* generated, not shown yet */
    ls__digester digester;
    uint64_t prompt_ns, answer_ns;
} run;

static ls_status open_device(run *r, ls_error *error)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls__strbuf cache = {0};
    ls_status status = LS_OK;
    if (r->request->cache && !r->request->no_cache)
        status = ls__cli_check_cache(r->request->cache, error);
    if (!r->request->cache)
        ls__cli_default_cache(&cache);
    params.name = r->request->device;
    params.threads = r->request->threads;
    params.target = r->request->target;
    params.cache_path = r->request->no_cache ? NULL
                        : r->request->cache  ? r->request->cache
                                             : cache.text;
    if (status == LS_OK)
        status = ls_device_open(&params, &r->device, error);
    ls__strbuf_finish(&cache);
    return status;
}

static ls_status load_chat(run *r, ls_error *error)
{
    const char *text;
    uint64_t length;
    const ls_gguf_value *value = ls_gguf_find_value(r->gguf, "tokenizer.chat_template");
    if (!r->request->chat)
        return LS_OK;
    if (!value || !ls_gguf_text(value, 0, &text, &length))
        return ls__fail(error, LS_E_NOT_FOUND,
                        "--chat: the model has no text tokenizer.chat_template");
    return ls_chat_template_create(text, (size_t)length, &r->chat, error);
}

static ls_status load(run *r, ls_error *error)
{
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    ls_session_params asked = LS_SESSION_PARAMS_INIT;
    ls_sampler_params sampler = r->request->sampler;
    ls_model_info info = {.struct_size = sizeof info};
    ls_tokenizer_info vocabulary = {.struct_size = sizeof vocabulary};
    ls_status status = ls_gguf_open(r->request->model, &r->gguf, error);
    if (status == LS_OK)
        status = ls_tokenizer_create(r->gguf, &r->tokenizer, error);
    if (status == LS_OK)
        status = load_chat(r, error);
    if (status == LS_OK)
        status = open_device(r, error);
    params.device = r->device;
    params.gguf = r->gguf;
    if (status == LS_OK)
        status = ls_model_load(&params, &r->model, error);
    if (status != LS_OK)
        return status;
    ls_gguf_destroy(&r->gguf);
    ls_model_describe(r->model, &info);
    ls_tokenizer_describe(r->tokenizer, &vocabulary);
    if (vocabulary.token_count > info.vocabulary)
        return ls__fail(error, LS_E_FORMAT, "%" PRIu32 " tokens have a name, but %" PRIu32 " a row",
                        vocabulary.token_count, info.vocabulary);
    sampler.vocabulary = vocabulary.token_count; /* rows without a name are padding */
    status = ls_sampler_create(&sampler, &r->sampler, error);
    asked.context = r->request->context;
    asked.chunk = r->request->chunk;
    if (status == LS_OK)
        status = ls_session_create(r->model, &asked, &r->session, error);
    return status;
}

/* The name of a token as text (free with ls__mem_free), or NULL. */
static char *token_text(const run *r, uint32_t id)
{
    ls_token token;
    if (id == LS_NO_TOKEN || ls_tokenizer_token(r->tokenizer, id, &token, NULL) != LS_OK)
        return NULL;
    char *text = ls__mem_alloc(token.length + 1, 1);
    if (text)
        memcpy(text, token.bytes, token.length);
    return text;
}

/* The prompt as a message in the model's template. */
static ls_status render_chat(const run *r, const char *prompt, char **text, size_t *length,
                             bool *has_bos, ls_error *error)
{
    ls_tokenizer_info info = {.struct_size = sizeof info};
    ls_chat_message messages[2] = {{"system", r->request->system, NULL}, {"user", prompt, NULL}};
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_tokenizer_describe(r->tokenizer, &info);
    char *bos = token_text(r, info.bos), *eos = token_text(r, info.eos);
    params.messages = r->request->system ? messages : messages + 1;
    params.message_count = r->request->system ? 2 : 1;
    params.add_generation_prompt = true;
    params.bos_token = bos;
    params.eos_token = eos;
    params.unix_seconds = r->request->date;
    ls_status status = ls_chat_template_render(r->chat, &params, text, length, error);
    *has_bos = status == LS_OK && bos && strncmp(*text, bos, strlen(bos)) == 0;
    ls__mem_free(bos);
    ls__mem_free(eos);
    return status;
}

static ls_status encode_text(run *r, const ls_encode_params *params, ls_error *error)
{
    uint64_t count = 0;
    ls_status status = ls_tokenizer_encode(r->tokenizer, params, NULL, 0, &count, error);
    if (status == LS_OK && (count == 0 || count > UINT32_MAX - r->request->tokens))
        status = ls__fail(error, LS_E_INVALID_ARGUMENT,
                          count ? "the prompt is too long" : "the prompt is empty");
    r->capacity = (uint32_t)count + r->request->tokens;
    if (status == LS_OK && !(r->tokens = ls__mem_alloc(r->capacity, sizeof *r->tokens)))
        status = ls__fail_oom(error, r->capacity * sizeof *r->tokens);
    if (status == LS_OK)
        status = ls_tokenizer_encode(r->tokenizer, params, r->tokens, count, &count, error);
    r->prompt_count = r->count = (uint32_t)count;
    return status;
}

/* The prompt as tokens, with room for the answer. */
static ls_status encode(run *r, ls_error *error)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    void *input = NULL;
    char *rendered = NULL;
    size_t size = 0;
    ls_status status = LS_OK;
    params.text = r->request->prompt;
    params.length = params.text ? strlen(params.text) : 0;
    params.special = r->request->special;
    if (!params.text) {
        status = ls__os_read_file("/dev/stdin", MOST_PROMPT_BYTES, &input, &size, error);
        params.text = input;
        params.length = size;
    }
    if (status == LS_OK && r->chat) {
        status = render_chat(r, params.text, &rendered, &size, &params.bare, error);
        params.text = rendered;
        params.length = size;
        params.special = true;
    }
    if (status == LS_OK)
        status = encode_text(r, &params, error);
    ls_text_destroy(&rendered);
    ls__mem_free(input);
    return status;
}

/* --- text ------------------------------------------------------------------------------------- */

static void show(run *r, size_t length)
{
    if (isatty(STDOUT_FILENO)) { /* nothing that steers it */
        ls__strbuf line = {0};
        for (size_t start = 0, at = 0; at <= length; at++)
            if (at == length || r->pending.text[at] == '\n' || r->pending.text[at] == '\t') {
                ls__strbuf_visible(&line, r->pending.text + start, at - start);
                ls__strbuf_append(&line, r->pending.text + at, at < length);
                start = at + 1;
            }
        fwrite(line.text ? line.text : "", 1, line.length, stdout);
        ls__strbuf_finish(&line);
    } else {
        fwrite(r->pending.text, 1, length, stdout);
    }
    fflush(stdout);
    memmove(r->pending.text, r->pending.text + length, r->pending.length - length);
    r->pending.length -= length;
}

/* Shows what cannot be the start of a stop text. Returns true when one is there. */
static bool show_pending(run *r, bool all)
{
    size_t held = 0;
    if (!r->pending.length)
        return false;
    for (uint32_t i = 0; i < r->request->stop_count; i++) {
        const char *stop = r->request->stops[i];
        size_t length = strlen(stop);
        const char *found = memmem(r->pending.text, r->pending.length, stop, length);
        if (found) {
            show(r, (size_t)(found - r->pending.text));
            r->pending.length = 0;
            return true;
        }
        for (size_t part = length - 1; !all && part > held; part--)
            if (part <= r->pending.length &&
                memcmp(r->pending.text + r->pending.length - part, stop, part) == 0)
                held = part;
    }
    size_t whole = r->pending.length - held;
    show(r, all ? r->pending.length : (size_t)ls_utf8_whole(r->pending.text, whole));
    return false;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* One token more; *done when it ends the text. */
static ls_status add_token(run *r, bool *done, ls_error *error)
{
    ls_token token;
    const float *logits = ls_session_logits(r->session);
    ls_model_info info = {.struct_size = sizeof info};
    ls_model_describe(r->model, &info);
    if (r->request->digest)
        ls__digester_add(&r->digester, logits, info.vocabulary * sizeof *logits);
    uint32_t id = ls_sampler_choose(r->sampler, logits, r->tokens, r->count);
    ls_status status = ls_tokenizer_token(r->tokenizer, id, &token, error);
    if (status != LS_OK || token.ends_text) {
        *done = true;
        return status;
    }
    r->tokens[r->count++] = id;
    if (token.kind != LS_TOKEN_CONTROL && token.kind != LS_TOKEN_UNKNOWN)
        ls__strbuf_append(&r->pending, token.bytes, token.length);
    *done = show_pending(r, false) || r->count == r->capacity || ls__cli_caught_signal();
    return r->pending.failed ? ls__fail_oom(error, r->pending.length) : LS_OK;
}

static ls_status generate(run *r, ls_error *error)
{
    bool done = false;
    uint64_t begun = ls__os_now_ns();
    ls_status status = ls_session_feed(r->session, r->tokens, r->count, error);
    r->prompt_ns = ls__os_now_ns() - begun;
    begun = ls__os_now_ns();
    while (status == LS_OK && r->count < r->capacity) {
        status = add_token(r, &done, error);
        if (status != LS_OK || done)
            break;
        status = ls_session_feed(r->session, r->tokens + r->count - 1, 1, error);
    }
    r->answer_ns = ls__os_now_ns() - begun;
    if (status == LS_OK)
        show_pending(r, true);
    return status;
}

static void print_numbers(run *r)
{
    uint32_t made = r->count - r->prompt_count;
    if (r->request->digest) {
        char hex[65];
        ls__digest_hex(ls__digester_finish(&r->digester), hex);
        fprintf(stderr, "\nlogits: %s", hex);
    }
    if (r->request->verbose)
        fprintf(stderr,
                "\nprompt: %" PRIu32 " tokens, %.1f a second; generated: %" PRIu32
                " tokens, %.1f a second",
                r->prompt_count, r->prompt_count / ((double)r->prompt_ns / 1e9 + 1e-9), made,
                made / ((double)r->answer_ns / 1e9 + 1e-9));
    if (r->request->digest || r->request->verbose)
        fprintf(stderr, "\n");
}

static void finish(run *r)
{
    ls_sampler_destroy(&r->sampler);
    ls_session_destroy(&r->session);
    ls_model_destroy(&r->model);
    ls_device_destroy(&r->device, NULL);
    ls_chat_template_destroy(&r->chat);
    ls_tokenizer_destroy(&r->tokenizer);
    ls_gguf_destroy(&r->gguf);
    ls__strbuf_finish(&r->pending);
    ls__mem_free(r->tokens);
}

int ls__cli_generate(int argc, char **argv)
{
    request request = {
        .tokens = DEFAULT_TOKENS,
        .date = time(NULL),
        .sampler = {.struct_size = sizeof(ls_sampler_params), .top_k = 40, .top_p = 0.95f}};
    run r = {.request = &request};
    ls_error error;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &request) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    ls__digester_init(&r.digester);
    ls_status status = load(&r, &error);
    if (status == LS_OK)
        status = encode(&r, &error);
    if (status == LS_OK)
        status = generate(&r, &error);
    if (status == LS_OK)
        print_numbers(&r);
    else
        ls__cli_print_error(&error);
    finish(&r);
    int signal = ls__cli_caught_signal();
    return signal ? LS__EXIT_SIGNAL + signal : status == LS_OK ? LS__EXIT_OK : LS__EXIT_FAILED;
}
