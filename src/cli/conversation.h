/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a chat, and files of them: a JSON list of objects with "role" and "content". */
#ifndef LS_CLI_CONVERSATION_H
#define LS_CLI_CONVERSATION_H

#include "lockstep/chat.h"

/* Begins as zeros. */
typedef struct ls__cli_conversation {
    ls_chat_message
        *messages; /* [count]; texts are owned; the system message, if any, is the first */
    uint32_t count, capacity;
} ls__cli_conversation;

/* Copies the text; bytes that are no UTF-8, and zeros, become U+FFFD. `role` is "user" or
 * "assistant". */
ls_status ls__cli_conversation_add(ls__cli_conversation *conversation, const char *role,
                                   const char *text, size_t length, ls_error *error);
/* The system message; empty: none. */
ls_status ls__cli_conversation_set_system(ls__cli_conversation *conversation, const char *text,
                                          ls_error *error);
/* Whether the last message is of this role. */
bool ls__cli_conversation_ends_with(const ls__cli_conversation *conversation, const char *role);
void ls__cli_conversation_drop_last(ls__cli_conversation *conversation);
void ls__cli_conversation_clear(ls__cli_conversation *conversation); /* keeps the system message */
void ls__cli_conversation_finish(ls__cli_conversation *conversation);

ls_status ls__cli_conversation_save(const ls__cli_conversation *conversation, const char *path,
                                    ls_error *error);
/* Replaces all of it; after a failure it is as it was. LS_E_FORMAT says where the file is wrong. */
ls_status ls__cli_conversation_load(ls__cli_conversation *conversation, const char *path,
                                    ls_error *error);

#endif
