/* SPDX-License-Identifier: Apache-2.0 */
/* A chat template of any bytes, rendered on a fixed conversation with small limits: no crash, no
 * long run, and each failure says what and where. */
#include <stdlib.h>
#include <string.h>

#include "lockstep/chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static void render(const ls_chat_template *chat_template)
{
    static const ls_chat_message MESSAGES[] = {
        {.role = "system", .content = "Be brief."},
        {.role = "user", .content = "Gr\xc3\xbc\xc3\x9f dich, \xe2\x82\xac!\n"},
        {.role = "assistant",
         .content = "",
         .fields_json =
             "{\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", "
             "\"arguments\": {\"a\": [1, 2.5, null, true]}}}]}"},
        {.role = "tool", .content = "<think>x</think>y", .fields_json = "{\"name\": \"f\"}"},
    };
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_error error = {0};
    char *text;
    size_t length;
    params.messages = MESSAGES;
    params.message_count = sizeof MESSAGES / sizeof *MESSAGES;
    params.bos_token = "<s>";
    params.eos_token = "</s>";
    params.tools_json =
        "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {}}}]";
    params.output_bytes_max = 1 << 16;
    params.steps_max = 20000;
    if (ls_chat_template_render(chat_template, &params, &text, &length, &error) == LS_OK)
        require(text[length] == 0);
    else
        require(error.code != LS_OK && error.code != LS_E_INTERNAL && !text);
    ls_text_destroy(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ls_chat_template *chat_template;
    ls_error error = {0};
    char *copy = malloc(size ? size : 1); /* exact size: a read beyond it is seen */
    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    if (ls_chat_template_create(copy, size, &chat_template, &error) == LS_OK)
        render(chat_template);
    else
        require(error.code != LS_OK && error.message[0] != 0);
    ls_chat_template_destroy(&chat_template);
    free(copy);
    return 0;
}
