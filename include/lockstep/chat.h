/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/chat.h - chat templates: from messages to the text that a model continues.
 *
 * A model file says in `tokenizer.chat_template` how a conversation is written down for it, in
 * Jinja2. What of that language is supported, and what it means, stands in docs/chat-templates.md:
 * what templates of model files use, with the settings and functions of the `transformers` package.
 *
 * A template is data from a stranger. It reads the variables it is given and nothing else, and one
 * that runs too long or writes too much ends with LS_E_LIMIT.
 */
#ifndef LOCKSTEP_CHAT_H
#define LOCKSTEP_CHAT_H

#include "lockstep/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed template. Thread-safety: immutable, may be rendered by several threads at once. */
typedef struct ls_chat_template ls_chat_template;

/* Parses `length` bytes of UTF-8, which need not stay. LS_E_UNSUPPORTED for what Jinja2 has and
 * Lockstep does not, by name; LS_E_FORMAT for what is no template; LS_E_LIMIT for one that is too
 * large or nested too deep. `error->where` is the line, the column (both from 1) and the text. */
LS_API ls_status ls_chat_template_create(const char *text, size_t length,
                                         ls_chat_template **chat_template, ls_error *error);
LS_API void ls_chat_template_destroy(ls_chat_template **chat_template);

/* One message. The template sees an object with the fields that are not NULL. */
typedef struct ls_chat_message {
    const char *role;    /* "system", "user", "assistant", "tool", ... */
    const char *content; /* text */
    /* A JSON object of further fields, such as {"tool_calls": [...]}, or of all of them; a field of
     * the same name replaces one of the above: {"content": [{"type": "text", "text": "..."}]}. */
    const char *fields_json;
} ls_chat_message;

typedef struct ls_chat_params {
    size_t struct_size;
    const ls_chat_message *messages; /* [message_count], the oldest first */
    size_t message_count;
    bool add_generation_prompt; /* end with what opens the assistant's answer */
    const char *bos_token;      /* texts of the tokens; NULL: undefined in the template */
    const char *eos_token;
    const char *tools_json; /* a JSON list of tool descriptions; NULL: none */
    /* A JSON object of further variables, such as {"enable_thinking": false}. One of the same name
     * replaces what stands above, `messages` and `tools` too. NULL: none */
    const char *variables_json;
    int64_t unix_seconds; /* what strftime_now shows, in UTC; years 1 to 9999 */
    /* Limits; 0 = the default of docs/chat-templates.md. */
    uint64_t output_bytes_max;
    uint64_t steps_max;
} ls_chat_params;
#define LS_CHAT_PARAMS_INIT LS_INIT(ls_chat_params)

/*
 * Renders. *text is zero-terminated, may hold zero bytes that came from messages, and is released
 * with ls_text_destroy; *length (may be NULL) is its bytes.
 *
 * LS_E_FAILED: the template refused the conversation by raise_exception(); `message` is its words.
 * LS_E_FORMAT: template and variables do not fit each other ("'dict object' has no attribute 'x'").
 * LS_E_UNSUPPORTED: it came to something that is not supported. LS_E_LIMIT: too long, too large.
 * For all of these `where` is the place in the template. LS_E_INVALID_ARGUMENT: a text is no UTF-8
 * or no JSON of the wanted kind. Blocks: as long as `steps_max` allows; by default seconds at most.
 */
LS_API ls_status ls_chat_template_render(const ls_chat_template *chat_template,
                                         const ls_chat_params *params, char **text, size_t *length,
                                         ls_error *error);

#ifdef __cplusplus
}
#endif

#endif
