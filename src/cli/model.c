/* SPDX-License-Identifier: Apache-2.0 */
/* Models as the commands open them. */
#include "cli/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/wait.h"

enum {
    KEY_CONTEXT = 0x1000,
    KEY_CHUNK,
    KEY_DEVICE,
    KEY_THREADS,
    KEY_TARGET,
    KEY_CACHE,
    KEY_NO_CACHE,
    MOST_CHUNK = 4096,
    PIECE = 256 /* tokens fed between two looks at Ctrl-C */
};

/* --- the command line ------------------------------------------------------------------------- */

uint32_t ls__cli_count_option(const struct argp_state *state, const char *name, const char *text,
                              uint32_t most)
{
    int64_t value;
    ls_error error;
    if (ls__cli_parse_integer(text, 0, most, &value, &error) != LS_OK)
        ls__cli_usage_error(state, "%s: %s", name, error.message);
    return (uint32_t)value;
}

void ls__cli_list_option(const struct argp_state *state, const char *name, const char *text,
                         uint32_t most, ls__cli_list *list)
{
    char part[24];
    for (list->count = 0;; text++) {
        size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", length < sizeof part ? (int)length : 0, text);
        if (list->count == LS__LIST_MOST)
            ls__cli_usage_error(state, "%s: %d numbers at most", name, LS__LIST_MOST);
        list->items[list->count++] = ls__cli_count_option(state, name, part, most);
        text += length;
        if (!*text)
            return;
    }
}

float ls__cli_float_option(const struct argp_state *state, const char *name, const char *text,
                           float least, float most)
{
    char *end;
    float value = strtof(text, &end);
    if (end == text || *end || isnan(value))
        ls__cli_usage_error(state, "%s: '%s' is no number", name, text);
    if (value < least || value > most)
        ls__cli_usage_error(state, "%s: %s is not from %g to %g", name, text, (double)least,
                            (double)most);
    return value;
}

int64_t ls__cli_date_option(const struct argp_state *state, const char *text)
{
    struct tm day = {0};
    const char *end = strptime(text, "%Y-%m-%d", &day);
    if (!end || *end)
        ls__cli_usage_error(state, "--date: '%s' is no day such as 2026-01-31", text);
    return timegm(&day);
}

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "The model (GGUF; required)", 1},
    {"context", KEY_CONTEXT, "N", 0, "Tokens at most (default: the model's, at most 4096)", 1},
    {"device", KEY_DEVICE, "NAME", 0, "Compute on this device", 30},
    {"threads", KEY_THREADS, "N", 0, "Threads of the cpu device (default: all cores)", 30},
    {"target", KEY_TARGET, "NAME", 0, LS__CLI_TARGET_HELP, 30},
    {"chunk", KEY_CHUNK, "N", 0, "Tokens of the prompt computed together (default: 64)", 30},
    {"cache", KEY_CACHE, "DIR", 0, "Keep compiled code there", 30},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "Compile anew and keep nothing", 30},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    ls__cli_model *m = state->input;
    switch (key) {
    case 'm':
        m->path = text;
        return 0;
    case KEY_CONTEXT:
        m->context = ls__cli_count_option(state, "--context", text, UINT32_MAX);
        return 0;
    case KEY_CHUNK:
        m->chunk = ls__cli_count_option(state, "--chunk", text, MOST_CHUNK);
        return 0;
    case KEY_DEVICE:
        m->device_name = text;
        return 0;
    case KEY_THREADS:
        if (m->threads_list)
            ls__cli_list_option(state, "--threads", text, LS__THREADS_MOST, m->threads_list);
        else
            m->threads = ls__cli_count_option(state, "--threads", text, LS__THREADS_MOST);
        return 0;
    case KEY_TARGET:
        m->target = text;
        return 0;
    case KEY_CACHE: /* of this and --no-cache the last counts */
        m->cache = text;
        m->no_cache = false;
        return 0;
    case KEY_NO_CACHE:
        m->no_cache = true;
        return 0;
    case ARGP_KEY_END:
        if (!m->path)
            argp_error(state, "a model is needed: -m FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp ls__cli_model_argp = {.options = options, .parser = parse_option};

/* --- opening ---------------------------------------------------------------------------------- */

static ls_status open_device(ls__cli_model *m, ls_error *error)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls__strbuf cache = {0};
    params.name = m->device_name;
    params.threads = m->threads;
    params.target = m->target;
    params.fault = m->fault;
    params.unprobed = m->fault != NULL; /* the probe would find what is wrong */
    ls_status status = ls__cli_choose_cache(m->cache, m->no_cache, &cache, error);
    params.cache_path = cache.text;
    if (status == LS_OK)
        status = ls__cli_open_device(&params, false, &m->device, error);
    ls__strbuf_finish(&cache);
    return status;
}

static ls_status read_template(ls__cli_model *m, const ls_gguf *gguf, ls_error *error)
{
    const char *text;
    uint64_t length;
    const ls_gguf_value *value = ls_gguf_find_value(gguf, "tokenizer.chat_template");
    if (!value || !ls_gguf_text(value, 0, &text, &length)) {
        ls__fail(error, LS_E_NOT_FOUND, "the model has no chat template (tokenizer.chat_template)");
        return ls__fail_hint(error, LS_E_NOT_FOUND,
                             "lockstep generate goes on with a text without one");
    }
    return ls_chat_template_create(text, (size_t)length, &m->chat_template, error);
}

ls_status ls__cli_model_fail(ls_error *error, ls_status code, const char *path)
{
    char where[sizeof error->where];
    memcpy(where, error->where, sizeof where);
    return where[0] ? ls__fail_where(error, code, "%s: %s", path, where)
                    : ls__fail_where(error, code, "%s", path);
}

ls_status ls__cli_model_check_output(const ls__cli_model *m, const char *input, const char *output,
                                     ls_error *error)
{
    ls__cli_files files = {0};
    ls__cli_files_read(&files, m->path);
    ls__cli_files_read(&files, input);
    ls__cli_files_write(&files, output);
    ls_status status = ls__cli_files_check(&files, error);
    ls__cli_files_finish(&files);
    return status;
}

/* What is wrong with the file is said with its name. */
static ls_status load_model(ls__cli_model *m, const ls_gguf *gguf, ls_error *error)
{
    ls_model_params params = LS_MODEL_PARAMS_INIT;
    params.device = m->device;
    params.gguf = gguf;
    params.checked = m->checked;
    params.max_shard_bytes = m->max_shard_bytes;
    ls_status status = ls_model_load(&params, &m->model, error);
    bool of_file = status == LS_E_NOT_FOUND || status == LS_E_FORMAT || status == LS_E_UNSUPPORTED;
    return of_file ? ls__cli_model_fail(error, status, m->path) : status;
}

ls_status ls__cli_model_open(ls__cli_model *m, bool needs_template, ls_error *error)
{
    ls_gguf *gguf = NULL;
    ls_status status = ls_gguf_open(m->path, &gguf, error);
    if (status == LS_OK) {
        status = ls_tokenizer_create(gguf, &m->tokenizer, error);
        if (status != LS_OK)
            ls__cli_model_fail(error, status, m->path);
    }
    if (status == LS_OK && needs_template)
        status = read_template(m, gguf, error);
    if (status == LS_OK)
        status = open_device(m, error);
    if (status == LS_OK)
        status = load_model(m, gguf, error);
    ls_gguf_destroy(&gguf);
    if (status != LS_OK)
        return status;
    m->info.struct_size = sizeof m->info;
    m->vocabulary.struct_size = sizeof m->vocabulary;
    ls_model_describe(m->model, &m->info);
    ls_tokenizer_describe(m->tokenizer, &m->vocabulary);
    if (m->vocabulary.token_count > m->info.vocabulary) { /* rows without a name are padding */
        ls__fail(error, LS_E_FORMAT, "%" PRIu32 " tokens have a name, but %" PRIu32 " a row",
                 m->vocabulary.token_count, m->info.vocabulary);
        return ls__cli_model_fail(error, LS_E_FORMAT, m->path);
    }
    return LS_OK;
}

ls_status ls__cli_model_session(const ls__cli_model *m, ls_session **session, ls_error *error)
{
    ls_session_params params = LS_SESSION_PARAMS_INIT;
    params.context = m->context;
    params.chunk = m->chunk;
    params.rewind = m->rewind;
    return ls_session_create(m->model, &params, session, error);
}

ls_status ls__cli_model_feed(ls_session *session, const uint32_t *ids, uint32_t count,
                             ls_error *error)
{
    uint32_t room = ls_session_context(session) - ls_session_position(session), now;
    ls_status status = LS_OK;
    for (uint32_t done = 0; status == LS_OK && done < count; done += now) {
        if (ls__cli_caught_signal())
            return ls__fail(error, LS_E_CANCELLED, "stopped");
        now = count - done < PIECE || count > room ? count - done : PIECE; /* too many: it fails */
        status = ls_session_feed(session, ids + done, now, error);
    }
    return status;
}

void ls__cli_model_close(ls__cli_model *m)
{
    ls_model_destroy(&m->model);
    ls_device_destroy(&m->device, NULL);
    ls_chat_template_destroy(&m->chat_template);
    ls_tokenizer_destroy(&m->tokenizer);
}

/* --- tokens ----------------------------------------------------------------------------------- */

ls_status ls__cli_tokens_reserve(ls__cli_tokens *t, uint64_t count, ls_error *error)
{
    if (count <= t->capacity)
        return LS_OK;
    uint64_t capacity = count < UINT64_C(2) * t->capacity ? UINT64_C(2) * t->capacity : count;
    uint32_t *ids = capacity <= UINT32_MAX ? ls__mem_realloc(t->ids, capacity, sizeof *ids) : NULL;
    if (!ids)
        return ls__fail_oom(error, capacity * sizeof *ids);
    t->ids = ids;
    t->capacity = (uint32_t)capacity;
    return LS_OK;
}

ls_status ls__cli_tokens_add(ls__cli_tokens *t, uint32_t id, ls_error *error)
{
    ls_status status = ls__cli_tokens_reserve(t, (uint64_t)t->count + 1, error);
    if (status == LS_OK)
        t->ids[t->count++] = id;
    return status;
}

void ls__cli_tokens_finish(ls__cli_tokens *t)
{
    ls__mem_free(t->ids);
    *t = (ls__cli_tokens){0};
}

ls_status ls__cli_model_encode(const ls__cli_model *m, const ls_encode_params *params,
                               ls__cli_tokens *tokens, ls_error *error)
{
    uint64_t count = 0;
    ls_status status = ls_tokenizer_encode(m->tokenizer, params, NULL, 0, &count, error);
    if (status == LS_OK && count == 0)
        status = ls__fail(error, LS_E_INVALID_ARGUMENT, "the text is empty");
    if (status == LS_OK)
        status = ls__cli_tokens_reserve(tokens, count, error);
    if (status == LS_OK)
        status = ls_tokenizer_encode(m->tokenizer, params, tokens->ids, count, &count, error);
    tokens->count = status == LS_OK ? (uint32_t)count : 0;
    return status;
}

/* The name of a token as text (free with ls__mem_free), or NULL. */
static char *token_text(const ls__cli_model *m, uint32_t id)
{
    ls_token token;
    if (id == LS_NO_TOKEN || ls_tokenizer_token(m->tokenizer, id, &token, NULL) != LS_OK)
        return NULL;
    char *text = ls__mem_alloc(token.length + 1, 1);
    if (text)
        memcpy(text, token.bytes, token.length);
    return text;
}

ls_status ls__cli_model_encode_chat(const ls__cli_model *m, const ls_chat_message *messages,
                                    size_t count, int64_t date, ls__cli_tokens *tokens,
                                    ls_error *error)
{
    ls_chat_params chat = LS_CHAT_PARAMS_INIT;
    ls_encode_params params = LS_ENCODE_PARAMS_INIT;
    char *bos = token_text(m, m->vocabulary.bos), *eos = token_text(m, m->vocabulary.eos);
    char *text = NULL;
    size_t length = 0;
    chat.messages = messages;
    chat.message_count = count;
    chat.add_generation_prompt = true;
    chat.bos_token = bos;
    chat.eos_token = eos;
    chat.unix_seconds = date;
    ls_status status = ls_chat_template_render(m->chat_template, &chat, &text, &length, error);
    params.text = text;
    params.length = length;
    params.special = true;
    params.bare = status == LS_OK && bos && strncmp(text, bos, strlen(bos)) == 0;
    if (status == LS_OK)
        status = ls__cli_model_encode(m, &params, tokens, error);
    ls_text_destroy(&text);
    ls__mem_free(bos);
    ls__mem_free(eos);
    return status;
}
