/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of language models share: the model's file, its tokenizer and chat template,
 * the device, and their options. */
#ifndef LS_CLI_MODEL_H
#define LS_CLI_MODEL_H

#include <argp.h>

#include "lockstep/chat.h"
#include "lockstep/llm.h"
#include "lockstep/tokenizer.h"

enum { LS__LIST_MOST = 16 };

/* Numbers between commas. */
typedef struct ls__cli_list {
    uint32_t items[LS__LIST_MOST];
    uint32_t count;
} ls__cli_list;

typedef struct ls__cli_model {
    /* options */
    const char *path, *device_name, *target, *cache;
    bool no_cache;
    uint32_t threads, context, chunk;
    ls__cli_list *threads_list; /* not NULL: what --threads gives instead of one number */
    bool checked;               /* kernels with bounds checks */
    uint64_t max_shard_bytes;   /* see ls_model_params */
    uint32_t rewind;            /* see ls_session_pool_params */
    const ls_fault_plan *fault; /* of the fault device */
    /* what is open */
    ls_tokenizer *tokenizer;
    ls_chat_template *chat_template;
    ls_device *device;
    ls_model *model;
    ls_model_info info;
    ls_tokenizer_info vocabulary;
} ls__cli_model;

/* --model, --context, --chunk and those of the device, for argp; the input is the ls__cli_model. */
extern const struct argp ls__cli_model_argp;

/* Opens all of it; the chat template on demand, which the model must have then. `model` begins as
 * zeros and options, and is to be closed also after a failure. Blocks: reads the file. */
ls_status ls__cli_model_open(ls__cli_model *model, bool needs_template, ls_error *error);
ls_status ls__cli_model_session(const ls__cli_model *model, ls_session **session, ls_error *error);
/* ls_session_feed, but Ctrl-C is answered meanwhile, with LS_E_CANCELLED. */
ls_status ls__cli_model_feed(ls_session *session, const uint32_t *ids, uint32_t count,
                             ls_error *error);
void ls__cli_model_close(ls__cli_model *model);

/* Adds to a failure which model file it is about. */
ls_status ls__cli_model_fail(ls_error *error, ls_status code, const char *path);
/* Fails when `output` is a file of the model or `input`; either may be NULL. */
ls_status ls__cli_model_check_output(const ls__cli_model *model, const char *input,
                                     const char *output, ls_error *error);

/* Tokens; begins as zeros. */
typedef struct ls__cli_tokens {
    uint32_t *ids;
    uint32_t count, capacity;
} ls__cli_tokens;

/* Room for `count` in all. */
ls_status ls__cli_tokens_reserve(ls__cli_tokens *tokens, uint64_t count, ls_error *error);
ls_status ls__cli_tokens_add(ls__cli_tokens *tokens, uint32_t id, ls_error *error);
void ls__cli_tokens_finish(ls__cli_tokens *tokens);

/* Replaces `tokens` by those of a text; none is LS_E_INVALID_ARGUMENT. */
ls_status ls__cli_model_encode(const ls__cli_model *model, const ls_encode_params *params,
                               ls__cli_tokens *tokens, ls_error *error);
/* The same of messages in the model's template, with what opens the answer. `date` is what the
 * template may name, in seconds since 1970. */
ls_status ls__cli_model_encode_chat(const ls__cli_model *model, const ls_chat_message *messages,
                                    size_t count, int64_t date, ls__cli_tokens *tokens,
                                    ls_error *error);

/* --- values of options; a wrong one ends the program -------------------------------------------
 */
uint32_t ls__cli_count_option(const struct argp_state *state, const char *name, const char *text,
                              uint32_t most);
void ls__cli_list_option(const struct argp_state *state, const char *name, const char *text,
                         uint32_t most, ls__cli_list *list);
float ls__cli_float_option(const struct argp_state *state, const char *name, const char *text,
                           float least, float most);
/* "2026-01-31", in seconds since 1970. */
int64_t ls__cli_date_option(const struct argp_state *state, const char *text);

#endif
