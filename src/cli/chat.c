/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockstep chat`: a conversation with a language model. After each message the whole conversation
 * is written down in the model's template; of its tokens only those are computed that differ from
 * what the session holds, so a turn costs what is new in it.
 */
#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/conversation.h"
#include "cli/editor.h"
#include "cli/sampling.h"
#include "cli/wait.h"

enum { KEY_SYSTEM = 256, KEY_DATE, KEY_STOP, KEY_LOAD, KEY_NO_HISTORY, PIECE = 256 };

typedef struct chat {
    /* options */
    const char *system, *load;
    uint32_t tokens_most; /* of an answer; 0: as many as fit */
    ls__cli_sampling sampling;
    int64_t date;
    bool forgets, verbose;
    ls__cli_answer answer;
    ls__cli_model model;
    /* the run */
    ls__cli_editor *editor;
    ls__cli_conversation conversation;
    ls_session *session;
    ls_sampler *sampler;
    ls__cli_tokens wanted; /* the conversation */
    ls__cli_tokens held;   /* what the session holds */
    uint32_t same;         /* of both, when the last message came */
    bool terminal;         /* somebody sits there */
    bool failed, ends;
} chat;

/* --- the command line ------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"system", KEY_SYSTEM, "TEXT", 0, "The system message", 1},
    {"load", KEY_LOAD, "FILE", 0, "Go on with a conversation that /save has written", 1},
    {"tokens", 'n', "N", 0, "Tokens of an answer at most (default: as many as fit)", 1},
    {"stop", KEY_STOP, "TEXT", 0, "End an answer in front of this text; may be repeated", 1},
    {"date", KEY_DATE, "YYYY-MM-DD", 0, "The day that templates may name (default: today)", 1},
    {"no-history", KEY_NO_HISTORY, NULL, 0,
     "Neither read nor keep the lines typed, in $XDG_STATE_HOME/lockstep/chat_history", 40},
    {"verbose", 'v', NULL, 0, "Print behind each answer how many tokens, and how fast", 40},
    {0},
};

static const char commands_text[] = "  /help            this list\n"
                                    "  /clear           begin anew; the system message stays\n"
                                    "  /system [TEXT]   another system message, or none\n"
                                    "  /regenerate      another answer to the last message\n"
                                    "  /save FILE       write the conversation (JSON)\n"
                                    "  /load FILE       go on with one that was written\n"
                                    "  /quit            end; as Ctrl-D\n"
                                    "A line that ends in a backslash goes on with the next one, "
                                    "and so does a text between lines of\n"
                                    "three quotes (\"\"\"). Ctrl-C stops an answer. Begin a "
                                    "message with a space for it to begin with /.\n";

static const char description[] =
    "A conversation with a language model. A line is a message; its answer goes to standard "
    "output, "
    "all else to standard error. When standard input is no terminal, the messages come from there "
    "and no prompt is shown. /help lists the commands there are within a conversation."
    "\v"
    "The model must have a chat template. The same file, options and messages give the same "
    "answers "
    "on every device.\n\n"
    "Examples:\n"
    "  lockstep chat -m model.gguf -n 8\n"
    "  lockstep chat -m model.gguf -n 8 --system 'Answer briefly.' --seed 7\n\n"
    "Exit status: 0 good, 1 failed (without a terminal: also when a message did), 2 wrong command "
    "line.\n";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    chat *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &c->model;
        state->child_inputs[1] = &c->sampling;
        return 0;
    case KEY_SYSTEM:
        c->system = text;
        return 0;
    case KEY_LOAD:
        c->load = text;
        return 0;
    case 'n':
        c->tokens_most = ls__cli_count_option(state, "--tokens", text, UINT32_MAX);
        return 0;
    case KEY_STOP:
        ls__cli_stop_option(state, &c->answer, text);
        return 0;
    case KEY_DATE:
        c->date = ls__cli_date_option(state, text);
        return 0;
    case KEY_NO_HISTORY:
        c->forgets = true;
        return 0;
    case 'v':
        c->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        ls__cli_usage_error(state, "'%s' is not expected here: messages are typed", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&ls__cli_model_argp, 0, NULL, 0}, {&ls__cli_sampling_argp, 0, NULL, 0}, {0}};
static const struct argp arguments = {
    .options = options, .parser = parse_option, .doc = description, .children = children};

/* --- answers ---------------------------------------------------------------------------------- */

/* A session that fails cannot go on, nor can the chat. */
static ls_status feed(chat *c, const uint32_t *ids, uint32_t count, ls_error *error)
{
    ls_status status = ls__cli_tokens_reserve(&c->held, (uint64_t)c->held.count + count, error);
    if (status == LS_OK)
        status = ls_session_feed(c->session, ids, count, error);
    c->ends |= status != LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < count; i++)
        c->held.ids[c->held.count++] = ids[i];
    return status;
}

/* Feeds what the session lacks of `wanted`; *stopped: Ctrl-C has come. */
static ls_status feed_wanted(chat *c, bool *stopped, ls_error *error)
{
    uint32_t same = 0, context = ls_session_context(c->session);
    ls_status status;
    *stopped = false;
    if (c->wanted.count >= context) {
        ls__fail(error, LS_E_LIMIT,
                 "the conversation has %" PRIu32 " tokens now, and the context is of %" PRIu32,
                 c->wanted.count, context);
        return ls__fail_hint(error, LS_E_LIMIT,
                             "the message is dropped; /clear begins anew, --context N gives more");
    }
    while (same < c->held.count && same + 1 < c->wanted.count &&
           c->held.ids[same] == c->wanted.ids[same])
        same++;
    status = ls_session_truncate(c->session, same, error);
    c->held.count = c->same = same;
    while (status == LS_OK && c->held.count < c->wanted.count && !*stopped) {
        uint32_t now = c->wanted.count - c->held.count;
        now = now < PIECE ? now : PIECE;
        status = feed(c, c->wanted.ids + c->held.count, now, error);
        *stopped = ls__cli_caught_signal() != 0;
    }
    return status;
}

/* Tokens until the model ends, something stops it, or there is no room. */
static ls_status generate(chat *c, uint32_t *made, ls_error *error)
{
    bool ended = false;
    uint32_t context = ls_session_context(c->session);
    ls_status status = LS_OK;
    for (*made = 0; !c->tokens_most || *made < c->tokens_most; ++*made) {
        ls_token token;
        uint32_t id = ls_sampler_choose(c->sampler, ls_session_logits(c->session), c->held.ids,
                                        c->held.count);
        status = ls_tokenizer_token(c->model.tokenizer, id, &token, error);
        if (status != LS_OK || token.ends_text)
            break;
        status = ls__cli_answer_add(&c->answer, &token, &ended, error);
        if (status != LS_OK || ended || ls__cli_caught_signal())
            break;
        if (c->held.count == context) {
            ls__cli_answer_end(&c->answer);
            fprintf(stderr,
                    "\nlockstep: note: the context of %" PRIu32
                    " tokens is full, so the answer ends "
                    "here; /clear begins anew, --context N gives more\n",
                    context);
            break;
        }
        status = feed(c, &id, 1, error);
        if (status != LS_OK)
            break;
    }
    ls__cli_answer_end(&c->answer);
    return status;
}

static void print_speed(uint32_t fed, uint64_t fed_ns, uint32_t made, uint64_t made_ns)
{
    fprintf(stderr,
            "prompt: %" PRIu32 " new tokens, %.1f a second; generated: %" PRIu32
            " tokens, %.1f a second\n",
            fed, fed / ((double)fed_ns / 1e9 + 1e-9), made, made / ((double)made_ns / 1e9 + 1e-9));
}

static ls_status show_answer(chat *c, ls_error *error)
{
    bool stopped;
    uint32_t made = 0;
    uint64_t begun = ls__os_now_ns();
    ls_status status = feed_wanted(c, &stopped, error);
    if (status != LS_OK)
        return status;
    uint64_t fed = ls__os_now_ns();
    uint32_t fed_count = c->wanted.count - c->same;
    c->answer.kept.length = 0;
    if (!stopped)
        status = generate(c, &made, error);
    printf("\n");
    fflush(stdout);
    if (c->verbose && status == LS_OK)
        print_speed(fed_count, fed - begun, made, ls__os_now_ns() - fed);
    return status;
}

/* Answers the last message, which goes when that fails. */
static ls_status answer(chat *c, ls_error *error)
{
    const ls__strbuf *kept = &c->answer.kept;
    ls_status status = ls__cli_model_encode_chat(&c->model, c->conversation.messages,
                                                 c->conversation.count, c->date, &c->wanted, error);
    if (status == LS_OK)
        status = show_answer(c, error);
    if (status == LS_OK)
        status = ls__cli_conversation_add(&c->conversation, "assistant",
                                          kept->text ? kept->text : "", kept->length, error);
    if (status != LS_OK)
        ls__cli_conversation_drop_last(&c->conversation);
    return status;
}

static ls_status answer_message(chat *c, const char *text, size_t length, ls_error *error)
{
    if (memchr(text, 0, length))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the message has a zero byte");
    ls_status status = ls__cli_conversation_add(&c->conversation, "user", text, length, error);
    return status == LS_OK ? answer(c, error) : status;
}

/* --- commands --------------------------------------------------------------------------------- */

/* Chance depends on the seed and the place in the text, so another answer needs another seed. */
static ls_status regenerate(chat *c, ls_error *error)
{
    if (!ls__cli_conversation_ends_with(&c->conversation, "assistant"))
        return ls__fail(error, LS_E_STATE, "/regenerate: there is no answer yet");
    ls__cli_conversation_drop_last(&c->conversation);
    c->sampling.params.seed++;
    ls_sampler_destroy(&c->sampler);
    ls_status status = ls__cli_sampling_create(&c->sampling, &c->model, &c->sampler, error);
    if (status == LS_OK && c->sampling.params.temperature == 0)
        fputs("lockstep: note: with --temperature 0 the answer is the same again\n", stderr);
    return status == LS_OK ? answer(c, error) : status;
}

static ls_status run_command(chat *c, const char *line, ls_error *error)
{
    size_t word = strcspn(line, " \t");
    const char *rest = line + word + strspn(line + word, " \t");
    ls__str name = {line, word};
    bool needs_file = ls__str_is(name, "/save") || ls__str_is(name, "/load");
    if (needs_file && !*rest)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "%.*s needs the name of a file",
                        LS__STR_ARG(name));
    if (ls__str_is(name, "/system"))
        return ls__cli_conversation_set_system(&c->conversation, rest, error);
    if (ls__str_is(name, "/save")) {
        ls_status status = ls__cli_model_check_output(&c->model, NULL, rest, error);
        return status == LS_OK ? ls__cli_conversation_save(&c->conversation, rest, error) : status;
    }
    if (ls__str_is(name, "/load"))
        return ls__cli_conversation_load(&c->conversation, rest, error);
    if (!*rest && ls__str_is(name, "/help"))
        fputs(commands_text, stderr);
    else if (!*rest && ls__str_is(name, "/clear"))
        ls__cli_conversation_clear(&c->conversation);
    else if (!*rest && ls__str_is(name, "/regenerate"))
        return regenerate(c, error);
    else if (!*rest && ls__str_is(name, "/quit"))
        c->ends = true;
    else
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no command %s; /help lists them",
                        line);
    return LS_OK;
}

/* --- messages --------------------------------------------------------------------------------- */

static bool ends_in(const char *text, size_t length, const char *end)
{
    size_t bytes = strlen(end);
    return length >= bytes && memcmp(text + length - bytes, end, bytes) == 0;
}

/* A message of one line or more, or a command. */
static ls__cli_line read_message(chat *c, ls__strbuf *message)
{
    static const char quotes[] = "\"\"\"";
    bool quoted = false, more = true;
    for (bool first = true; more; first = false) {
        const char *text;
        size_t length;
        ls__cli_line kind = ls__cli_editor_read(c->editor, !first, &text, &length);
        if (kind == LS__LINE_END && !first && !c->terminal)
            return LS__LINE_READ; /* what there is */
        if (kind != LS__LINE_READ)
            return kind;
        if (first && length >= 3 && memcmp(text, quotes, 3) == 0) {
            quoted = true;
            text += 3;
            length -= 3;
            if (!length)
                continue;
        }
        bool closed = quoted && ends_in(text, length, quotes);
        bool goes_on = !quoted && ends_in(text, length, "\\");
        ls__strbuf_append(message, text, length - (closed ? 3 : goes_on));
        more = quoted ? !closed : goes_on;
        if (more)
            ls__strbuf_append(message, "\n", 1);
    }
    return LS__LINE_READ;
}

static void print_failure(chat *c, const ls_error *error)
{
    c->failed = true;
    ls__cli_print_error(error);
}

static void take_turn(chat *c, const ls__strbuf *message)
{
    ls_error error = {0};
    ls_status status = LS_OK;
    size_t length = message->length;
    if (message->failed)
        status = ls__fail_oom(&error, length);
    else if (length && message->text[0] == '/')
        status = run_command(c, message->text, &error);
    else if (length)
        status = answer_message(c, message->text, length, &error);
    if (status != LS_OK)
        print_failure(c, &error);
    if (c->terminal && ls__cli_take_interrupt())
        fputs("(stopped)\n", stderr);
}

static void converse(chat *c)
{
    while (!c->ends && !ls__cli_caught_signal()) {
        ls__strbuf message = {0};
        ls__cli_line kind = read_message(c, &message);
        if (kind == LS__LINE_READ)
            take_turn(c, &message);
        c->ends |= kind == LS__LINE_END;
        ls__strbuf_finish(&message);
        if (!ls__cli_check_output())
            c->ends = c->failed = true;
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static ls_status begin(chat *c, ls_error *error)
{
    ls_status status = ls__cli_model_open(&c->model, true, error);
    if (status == LS_OK)
        status = ls__cli_sampling_create(&c->sampling, &c->model, &c->sampler, error);
    if (status == LS_OK)
        status = ls__cli_model_session(&c->model, &c->session, error);
    if (status == LS_OK && c->load)
        status = ls__cli_conversation_load(&c->conversation, c->load, error);
    if (status == LS_OK && c->system)
        status = ls__cli_conversation_set_system(&c->conversation, c->system, error);
    if (status == LS_OK)
        status = ls__cli_editor_open(c->forgets, &c->editor, error);
    return status;
}

int ls__cli_chat(int argc, char **argv)
{
    chat c = {.date = time(NULL), .sampling = ls__cli_sampling_default, .answer = {.keeps = true}};
    ls_error error = {0};
    c.sampling.params.temperature = 0.8f;
    if (argp_parse(&arguments, argc, argv, 0, NULL, &c) != 0)
        return LS__EXIT_USAGE;
    ls__cli_catch_signals();
    ls_status status = begin(&c, &error);
    if (status == LS_OK) {
        c.terminal = ls__cli_editor_is_terminal(c.editor);
        if (c.terminal) {
            ls__cli_catch_interrupts();
            fprintf(stderr, "Context of %" PRIu32 " tokens. /help lists the commands.\n",
                    ls_session_context(c.session));
        }
        converse(&c);
    } else {
        ls__cli_print_error(&error);
    }
    ls__cli_editor_close(&c.editor);
    ls_sampler_destroy(&c.sampler);
    ls_session_destroy(&c.session);
    ls__cli_model_close(&c.model);
    ls__cli_answer_finish(&c.answer);
    ls__cli_conversation_finish(&c.conversation);
    ls__cli_tokens_finish(&c.wanted);
    ls__cli_tokens_finish(&c.held);
    if (ls__cli_caught_signal())
        return LS__EXIT_SIGNAL + ls__cli_caught_signal();
    return status != LS_OK || (c.failed && !c.terminal) ? LS__EXIT_FAILED : LS__EXIT_OK;
}
