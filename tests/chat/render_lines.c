/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders templates for the Python tests. Each line of standard input is a JSON object {"template":
 * text, "variables": {...}, "unix_seconds": number}; the answer is a line {"text": ...} or
 * {"error": "LS_E_FORMAT", "message": ..., "where": ...}.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/chat.h"

static json_t *answer(const json_t *request)
{
    const json_t *text = json_object_get(request, "template");
    char *variables = json_dumps(json_object_get(request, "variables"), JSON_ENCODE_ANY);
    ls_chat_template *chat_template;
    ls_chat_params params = LS_CHAT_PARAMS_INIT;
    ls_error error;
    char *rendered = NULL;
    size_t length = 0;
    params.variables_json = variables;
    params.unix_seconds = json_integer_value(json_object_get(request, "unix_seconds"));
    ls_status status = ls_chat_template_create(json_string_value(text), json_string_length(text),
                                               &chat_template, &error);
    if (status == LS_OK)
        status = ls_chat_template_render(chat_template, &params, &rendered, &length, &error);
    ls_chat_template_destroy(&chat_template);
    free(variables);
    json_t *reply = status == LS_OK ? json_pack("{s:o}", "text", json_stringn(rendered, length))
                                    : json_pack("{s:s, s:s, s:s}", "error", ls_status_name(status),
                                                "message", error.message, "where", error.where);
    ls_text_destroy(&rendered);
    return reply;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        json_error_t why;
        json_t *request = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, &why);
        if (!request) {
            fprintf(stderr, "render_lines: %s\n", why.text);
            return 1;
        }
        json_t *reply = answer(request);
        if (!reply) {
            fprintf(stderr, "render_lines: no JSON can be made of the answer\n");
            return 1;
        }
        json_dumpf(reply, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(reply);
        json_decref(request);
    }
    free(line);
    return 0;
}
