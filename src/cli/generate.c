/* SPDX-License-Identifier: Apache-2.0 */
/* `lockstep generate`: a text goes on as a language model has it. The text goes to standard output,
 * everything else to standard error. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/logprobs.h"
#include "cli/sampling.h"
#include "cli/wait.h"

enum {
    KEY_STOP = 256,
    KEY_SPECIAL,
    KEY_CHAT,
    KEY_SYSTEM,
    KEY_DATE,
    KEY_DIGEST,
    KEY_LOGPROBS,
    KEY_LOGPROBS_FILE,
    DEFAULT_TOKENS = 128
};

#define MOST_PROMPT_BYTES (UINT64_C(1) << 26)

typedef struct run {
    /* options */
    const char *prompt, *system, *logprobs_file;
    uint32_t tokens_most, logprobs_best;
    ls__cli_sampling sampling;
    int64_t date; /* seconds since 1970 */
    bool special, chat, digest, logprobs, verbose;
    ls__cli_answer answer; /* also an option: its stops */
    ls__cli_model model;   /* the same */
    /* the run */
    ls_session *session;
    ls_sampler *sampler;
    ls__cli_tokens tokens; /* prompt and answer */
    uint32_t prompt_count;
    ls__digester digester;
    ls__strbuf logprob_lines;
    uint64_t prompt_ns, answer_ns;
} run;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"prompt", 'p', "TEXT", 0, "The text to go on with (default: standard input)", 1},
    {"tokens", 'n', "N", 0, "Tokens to generate at most (default: 128)", 1},
    {"stop", KEY_STOP, "TEXT", 0, "End in front of this text; may be repeated", 1},
    {"special", KEY_SPECIAL, NULL, 0, "Names of control tokens in the prompt are these tokens", 1},
    {"chat", KEY_CHAT, NULL, 0, "The prompt is a message, put into the model's chat template", 1},
    {"system", KEY_SYSTEM, "TEXT", 0, "With --chat: the system message before it", 1},
    {"date", KEY_DATE, "YYYY-MM-DD", 0,
     "With --chat: the day that templates may name (default: today)", 1},
    {"logprobs", KEY_LOGPROBS, "N", 0,
     "Print the log probability of each token generated and of the N best, as JSON lines on "
     "standard error behind the text",
     40},
    {"logprobs-file", KEY_LOGPROBS_FILE, "FILE", 0, "With --logprobs: write them there instead",
     40},
    {"digest", KEY_DIGEST, NULL, 0, "Print the SHA-256 of all logits that a token was chosen from",
     40},
    {"verbose", 'v', NULL, 0, "Print how many tokens, and how fast", 40},
    {0},
};

static const char description[] =
    "Goes on with a text as a language model has it. The text goes to standard output, all else to "
    "standard error. The same file, prompt, options and seed give the same text on every device, "
    "with any number of threads and any chunk: the logits have the same bits "
    "(docs/numerics-llm.md)."
    "\v"
    "Models of the families Llama, Mistral, Qwen 2 and 3 and Gemma 1 to 3 are there "
    "(docs/models.md), with matrices of all types that are read (docs/gguf.md).\n\n"
    "Examples:\n"
    "  lockstep generate -m model.gguf -p 'Once upon a time' -n 8\n"
    "  lockstep generate -m model.gguf --chat -p 'What is the sea?' -n 8\n"
    "  lockstep generate -m model.gguf -p 'Hello' --temperature 0.8 --seed 7 -n 8\n\n"
    "Exit status: 0 good, 1 failed, 2 wrong command line, 130 stopped by Ctrl-C.\n";

static void check(const struct argp_state *state, const run *r)
{
    if (r->system && !r->chat)
        argp_error(state, "--system is of --chat");
    if (r->logprobs_file && !r->logprobs)
        argp_error(state, "--logprobs-file is of --logprobs");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    run *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->model;
        state->child_inputs[1] = &r->sampling;
        return 0;
    case 'p':
        r->prompt = text;
        return 0;
    case 'n':
        r->tokens_most = ls__cli_count_option(state, "--tokens", text, UINT32_MAX);
        return 0;
    case KEY_STOP:
        ls__cli_stop_option(state, &r->answer, text);
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
        r->date = ls__cli_date_option(state, text);
        return 0;
    case KEY_LOGPROBS:
        r->logprobs = true;
        r->logprobs_best = ls__cli_count_option(state, "--logprobs", text, LS__LOGPROBS_MOST);
        return 0;
    case KEY_LOGPROBS_FILE:
        r->logprobs_file = text;
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
        check(state, r);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&ls__cli_model_argp, 0, NULL, 0}, {&ls__cli_sampling_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description, .children = children};

/* --- the run ---------------------------------------------------------------------------------- */

/* The prompt as tokens. */
static ls_status encode(run *r, ls_error *error)
{
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    ls_chat_message messages[2] = {{"system", r->system, NULL}, {"user", NULL, NULL}};
    void *input = NULL;
    size_t size = 0;
    ls_status status = LS_OK;
    params.text = r->prompt;
    params.length = r->prompt ? strlen(r->prompt) : 0;
    params.special = r->special;
    if (!r->prompt) {
        status = ls__os_read_file("/dev/stdin", MOST_PROMPT_BYTES, &input, &size, error);
        params.text = input;
        params.length = size;
    }
    messages[1].content = params.text;
    if (status == LS_OK && r->chat)
        status = ls__cli_model_encode_chat(&r->model, r->system ? messages : messages + 1,
                                           r->system ? 2 : 1, r->date, &r->tokens, error);
    else if (status == LS_OK)
        status = ls__cli_model_encode(&r->model, &params, &r->tokens, error);
    r->prompt_count = r->tokens.count;
    ls__mem_free(input);
    return status;
}

static ls_status load(run *r, ls_error *error)
{
    ls_status status = ls__cli_model_open(&r->model, r->chat, error);
    if (status == LS_OK)
        status = ls__cli_sampling_create(&r->sampling, &r->model, &r->sampler, error);
    if (status == LS_OK)
        status = ls__cli_model_session(&r->model, &r->session, error);
    if (status == LS_OK)
        status = encode(r, error);
    return status;
}

/* One token more; *done when it ends the text. */
static ls_status add_token(run *r, bool *done, ls_error *error)
{
    ls_token token;
    const float *logits = ls_session_logits(r->session);
    if (r->digest)
        ls__digester_add(&r->digester, logits, r->model.info.vocabulary * sizeof *logits);
    uint32_t id = ls_sampler_choose(r->sampler, logits, r->tokens.ids, r->tokens.count);
    ls_status status = ls_tokenizer_token(r->model.tokenizer, id, &token, error);
    if (status == LS_OK && r->logprobs)
        status =
            ls__cli_logprobs_add(&r->logprob_lines, &r->model, logits, id, r->logprobs_best, error);
    if (status != LS_OK || token.ends_text) {
        *done = true;
        return status;
    }
    status = ls__cli_tokens_add(&r->tokens, id, error);
    if (status == LS_OK)
        status = ls__cli_answer_add(&r->answer, &token, done, error);
    *done |= ls__cli_caught_signal() != 0;
    return status;
}

/* A prompt may fill the context: the token behind it is chosen, not fed. */
static ls_status check_prompt(const run *r, ls_error *error)
{
    uint32_t context = ls_session_context(r->session), most = r->model.info.context;
    if (r->prompt_count <= context)
        return LS_OK;
    ls__fail(error, LS_E_LIMIT,
             "the prompt has %" PRIu32 " tokens, more than the context of %" PRIu32 " holds",
             r->prompt_count, context);
    return r->prompt_count <= most
               ? ls__fail_hint(error, LS_E_LIMIT, "--context %" PRIu32 " holds it", r->prompt_count)
               : ls__fail_hint(error, LS_E_LIMIT, "shorten it: the model has a context of %" PRIu32,
                               most);
}

static void note_full_context(const run *r, uint32_t context, uint64_t needed)
{
    fprintf(stderr,
            "\nlockstep: note: the context of %" PRIu32 " tokens is full, so the text ends here; ",
            context);
    if (needed <= r->model.info.context)
        fprintf(stderr, "--context %" PRIu64 " has room for all %" PRIu32 "\n", needed,
                r->tokens_most);
    else if (context < r->model.info.context)
        fprintf(stderr, "--context %" PRIu32 " is the most the model has\n", r->model.info.context);
    else
        fputs("the model has no larger one\n", stderr);
}

static ls_status generate(run *r, ls_error *error)
{
    bool done = false;
    uint32_t context = ls_session_context(r->session);
    uint64_t begun = ls__os_now_ns(), most = (uint64_t)r->prompt_count + r->tokens_most;
    ls_status status = check_prompt(r, error);
    if (status == LS_OK)
        status = ls__cli_model_feed(r->session, r->tokens.ids, r->tokens.count, error);
    r->prompt_ns = ls__os_now_ns() - begun;
    begun = ls__os_now_ns();
    while (status == LS_OK && r->tokens.count < most) {
        status = add_token(r, &done, error);
        if (status != LS_OK || done || r->tokens.count == most || r->tokens.count > context)
            break;
        status = ls_session_feed(r->session, r->tokens.ids + r->tokens.count - 1, 1, error);
    }
    r->answer_ns = ls__os_now_ns() - begun;
    ls__cli_answer_end(&r->answer);
    if (status == LS_OK && !done && r->tokens.count < most)
        note_full_context(r, context, most - 1);
    return status;
}

static ls_status write_logprobs(const run *r, ls_error *error)
{
    const ls__strbuf *lines = &r->logprob_lines;
    if (!r->logprobs_file) {
        fprintf(stderr, "\n%s", lines->text ? lines->text : "");
        return LS_OK;
    }
    return ls__os_write_file(r->logprobs_file, lines->text, lines->length, error);
}

static ls_status print_numbers(run *r, ls_error *error)
{
    uint32_t made = r->tokens.count - r->prompt_count;
    if (r->digest) {
        char hex[65];
        ls__digest_hex(ls__digester_finish(&r->digester), hex);
        fprintf(stderr, "\nlogits: %s", hex);
    }
    if (r->verbose)
        fprintf(stderr,
                "\nprompt: %" PRIu32 " tokens, %.1f a second; generated: %" PRIu32
                " tokens, %.1f a second",
                r->prompt_count, r->prompt_count / ((double)r->prompt_ns / 1e9 + 1e-9), made,
                made / ((double)r->answer_ns / 1e9 + 1e-9));
    if (r->digest || r->verbose)
        fprintf(stderr, "\n");
    return r->logprobs ? write_logprobs(r, error) : LS_OK;
}

static void finish(run *r)
{
    ls_sampler_destroy(&r->sampler);
    ls_session_destroy(&r->session);
    ls__cli_model_close(&r->model);
    ls__cli_answer_finish(&r->answer);
    ls__cli_tokens_finish(&r->tokens);
    ls__strbuf_finish(&r->logprob_lines);
}

int ls__cli_generate(int argc, char **argv)
{
    run r = {
        .tokens_most = DEFAULT_TOKENS, .date = time(NULL), .sampling = ls__cli_sampling_default};
    ls_error error;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &r) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    ls__digester_init(&r.digester);
    ls_status status = ls__cli_model_check_output(&r.model, NULL, r.logprobs_file, &error);
    if (status == LS_OK && r.logprobs_file)
        status = ls__os_check_writable(r.logprobs_file, &error);
    if (status == LS_OK)
        status = load(&r, &error);
    if (status == LS_OK)
        status = generate(&r, &error);
    if (status == LS_OK)
        status = print_numbers(&r, &error);
    if (status != LS_OK && r.tokens.count > r.prompt_count)
        fputc('\n', stderr); /* the text has no end of a line */
    finish(&r);
    return ls__cli_end(status, &error);
}
