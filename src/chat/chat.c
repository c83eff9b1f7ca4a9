/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls, the two places where failures come out (ls__chat_fail_at jumps here), and how a
 * place in a template is shown. Floats are read and printed by the C library, so both calls run
 * with the "C" locale and the default floating-point environment.
 */
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/params.h"
#include "base/status.h"
#include "chat/lex.h"
#include "chat/render.h"
#include "chat/unicode.h"

enum {
    TEMPLATE_BYTES_MAX = 1 << 20,
    TEMPLATE_MEMORY_MAX = 256 << 20,
};

struct ls_chat_template {
    ls__arena arena;
    const char *source;
    size_t source_bytes;
    chat_block body;
};

/* --- failures --------------------------------------------------------------------------------- */

/* The line around `offset`, at most so much of it as is easily read. */
static void show_place(chat_fault *fault, size_t offset)
{
    enum { BEFORE = 40, BEHIND = 70 };
    const char *text = fault->source;
    size_t start = offset, end = offset, line = 1;
    ls__strbuf shown = {0};
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    while (start > 0 && text[start - 1] != '\n')
        start--;
    while (end < fault->source_bytes && text[end] != '\n')
        end++;
    size_t column = ls__chat_utf8_count(text + start, offset - start) + 1;
    size_t from = offset - start > BEFORE ? offset - BEFORE : start;
    size_t to = end - offset > BEHIND ? offset + BEHIND : end;
    while (from < offset && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    while (to > offset && to < end && ((unsigned char)text[to] & 0xc0) == 0x80)
        to--;
    ls__strbuf_visible(&shown, text + from, to - from);
    ls__fail_where(fault->error, fault->status, "line %zu, column %zu: %s%s%s", line, column,
                   from > start ? "..." : "", shown.text ? shown.text : "", to < end ? "..." : "");
    ls__strbuf_finish(&shown);
}

_Noreturn static void vfail_at(chat_fault *fault, size_t offset, ls_status status,
                               const char *format, va_list arguments)
{
    char message[sizeof fault->error->message];
    fault->status = status;
    vsnprintf(message, sizeof message, format, arguments);
    ls__fail(fault->error, status, "%s", message);
    if (fault->error && offset <= fault->source_bytes)
        show_place(fault, offset);
    longjmp(fault->oom.jump, 1);
}

void ls__chat_fail_at(chat_fault *fault, size_t offset, ls_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfail_at(fault, offset, status, format, arguments);
}

void ls__chat_fail(chat_render *render, ls_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* Before the template runs there is no place in it. */
    size_t offset = render->at ? render->at->offset : SIZE_MAX;
    vfail_at(&render->fault, offset, status, format, arguments);
}

/* Answers what a jump means. */
static ls_status status_of(const chat_fault *fault)
{
    return fault->status == LS_OK ? ls__oom_status(&fault->oom, fault->error) : fault->status;
}

/* The "C" locale and the default floating-point environment, until `leave`. */
typedef struct surroundings {
    ls__os_fenv fenv;
    locale_t own, before;
} surroundings;

static ls_status enter(surroundings *saved, ls_error *error)
{
    saved->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (saved->own == (locale_t)0)
        return ls__fail_oom(error, 0);
    saved->before = uselocale(saved->own);
    ls__os_fenv_enter(&saved->fenv);
    return LS_OK;
}

static void leave(const surroundings *saved)
{
    ls__os_fenv_leave(&saved->fenv);
    uselocale(saved->before);
    freelocale(saved->own);
}

/* --- templates -------------------------------------------------------------------------------- */

/* A copy with "\n" for every line end, and without the last one, as Jinja2 reads it. */
static void read_source(chat_fault *fault, ls__arena *arena, const char *text, size_t length)
{
    char *out = ls__arena_alloc(arena, length + 1, 1);
    size_t count = 0, bad = ls__chat_utf8_check(text, length);
    for (size_t i = 0; i < length; i++) {
        out[count++] = text[i] == '\r' ? '\n' : text[i];
        if (text[i] == '\r' && i + 1 < length && text[i + 1] == '\n')
            i++;
    }
    fault->source = out;
    fault->source_bytes = count;
    if (bad < length)
        ls__chat_fail_at(fault, count, LS_E_FORMAT, "byte %zu of the template is not UTF-8", bad);
    if (count && out[count - 1] == '\n')
        fault->source_bytes--;
}

static ls_status parse(ls_chat_template *made, const char *text, size_t length, ls_error *error)
{
    chat_fault fault = {.error = error};
    ls__arena_init(&made->arena, &fault.oom, TEMPLATE_MEMORY_MAX);
    if (setjmp(fault.oom.jump))
        return status_of(&fault);
    read_source(&fault, &made->arena, text, length);
    made->source = fault.source;
    made->source_bytes = fault.source_bytes;
    ls__chat_parse(&fault, &made->arena, &made->body);
    made->arena.oom = NULL;
    return LS_OK;
}

ls_status ls_chat_template_create(const char *text, size_t length, ls_chat_template **chat_template,
                                  ls_error *error)
{
    surroundings saved;
    if (!chat_template)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no place for the template");
    *chat_template = NULL;
    if (!text)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "the text of the template is NULL");
    if (length > TEMPLATE_BYTES_MAX)
        return ls__fail(error, LS_E_LIMIT, "the template is larger than %d bytes",
                        TEMPLATE_BYTES_MAX);
    ls_chat_template *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls_status status = enter(&saved, error);
    if (status == LS_OK) {
        status = parse(made, text, length, error);
        leave(&saved);
    }
    if (status == LS_OK)
        *chat_template = made;
    else
        ls_chat_template_destroy(&made);
    return status;
}

void ls_chat_template_destroy(ls_chat_template **chat_template)
{
    if (!chat_template || !*chat_template)
        return;
    ls__arena_finish(&(*chat_template)->arena);
    ls__mem_free(*chat_template);
    *chat_template = NULL;
}

/* --- variables -------------------------------------------------------------------------------- */

static chat_value text_argument(chat_render *render, const char *text, const char *name)
{
    size_t length = strlen(text);
    if (ls__chat_utf8_check(text, length) < length)
        ls__chat_fail(render, LS_E_INVALID_ARGUMENT, "%s is not UTF-8", name);
    return ls__chat_text(render, text, length);
}

static chat_value name_value(chat_render *render, const char *name)
{
    return ls__chat_text_of(render, name, strlen(name));
}

static void put_name(chat_render *render, chat_value dict, const char *name, chat_value value)
{
    ls__chat_put(render, dict.dict, name_value(render, name), value);
}

static void put_all(chat_render *render, chat_value dict, const char *json, const char *name)
{
    chat_value more = ls__chat_from_json(render, json, name, CHAT_DICT);
    for (size_t i = 0; i < more.dict->count; i++)
        ls__chat_put(render, dict.dict, more.dict->items[i].key, more.dict->items[i].value);
}

static chat_value message_value(chat_render *render, const ls_chat_message *message, size_t index)
{
    chat_value dict = ls__chat_dict(render, 4);
    char name[64];
    snprintf(name, sizeof name, "message %zu: role", index);
    if (message->role)
        put_name(render, dict, "role", text_argument(render, message->role, name));
    snprintf(name, sizeof name, "message %zu: content", index);
    if (message->content)
        put_name(render, dict, "content", text_argument(render, message->content, name));
    snprintf(name, sizeof name, "message %zu: fields_json", index);
    if (message->fields_json)
        put_all(render, dict, message->fields_json, name);
    return dict;
}

/* What the package transformers hands to a template: `tools` and `documents` are there, but none.
 */
static chat_value variables(chat_render *render, const ls_chat_params *params)
{
    chat_value dict = ls__chat_dict(render, 16);
    chat_value messages = ls__chat_list(render, CHAT_LIST, params->message_count);
    for (size_t i = 0; i < params->message_count; i++)
        ls__chat_push(render, messages.list, message_value(render, &params->messages[i], i));
    put_name(render, dict, "messages", messages);
    put_name(render, dict, "tools",
             params->tools_json
                 ? ls__chat_from_json(render, params->tools_json, "tools_json", CHAT_LIST)
                 : ls__chat_none());
    put_name(render, dict, "documents", ls__chat_none());
    put_name(render, dict, "add_generation_prompt", ls__chat_bool(params->add_generation_prompt));
    if (params->bos_token)
        put_name(render, dict, "bos_token", text_argument(render, params->bos_token, "bos_token"));
    if (params->eos_token)
        put_name(render, dict, "eos_token", text_argument(render, params->eos_token, "eos_token"));
    if (params->variables_json)
        put_all(render, dict, params->variables_json, "variables_json");
    return dict;
}

/* Three scopes: functions, variables, and what the template sets. */
static void open_scopes(chat_render *render, const ls_chat_params *params)
{
    chat_scope *scopes = LS__NEW_ARRAY(&render->arena, chat_scope, 3);
    scopes[1].parent = &scopes[0];
    scopes[2].parent = &scopes[1];
    render->scope = &scopes[2];
    for (const chat_callable *function = ls__chat_functions; function->name; function++) {
        chat_native *native = LS__NEW(&render->arena, chat_native);
        *native = (chat_native){.callable = function};
        ls__chat_set_variable(render, &scopes[0], name_value(render, function->name).string,
                              (chat_value){.kind = CHAT_NATIVE, .native = native});
    }
    chat_value given = variables(render, params);
    for (size_t i = 0; i < given.dict->count; i++)
        ls__chat_set_variable(render, &scopes[1], given.dict->items[i].key.string,
                              given.dict->items[i].value);
}

/* --- rendering -------------------------------------------------------------------------------- */

static ls_status run(chat_render *render, const ls_chat_params *params)
{
    if (setjmp(render->fault.oom.jump))
        return status_of(&render->fault);
    open_scopes(render, params);
    ls__chat_run(render, &render->chat_template->body);
    return LS_OK;
}

static ls_status hand_over(const chat_buffer *output, char **text, size_t *length, ls_error *error)
{
    char *copy = ls__mem_alloc(output->length + 1, 1);
    if (!copy)
        return ls__fail_oom(error, output->length + 1);
    if (output->length)
        memcpy(copy, output->text, output->length);
    *text = copy;
    if (length)
        *length = output->length;
    return LS_OK;
}

static ls_status check_params(const ls_chat_params *params, ls_error *error)
{
    const int64_t first = -62135596800, last = 253402300799; /* of year 1, of year 9999 */
    if (params->message_count && !params->messages)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "messages is NULL");
    if (params->unix_seconds < first || params->unix_seconds > last)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "unix_seconds is outside of years 1 to 9999");
    return LS_OK;
}

ls_status ls_chat_template_render(const ls_chat_template *chat_template,
                                  const ls_chat_params *params, char **text, size_t *length,
                                  ls_error *error)
{
    surroundings saved;
    ls_chat_params given;
    if (text)
        *text = NULL;
    if (length)
        *length = 0;
    if (!chat_template || !text)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no %s",
                        chat_template ? "place for the text" : "template");
    ls_status status =
        ls__params_in(&given, sizeof given, params, false, "ls_chat_template_render", error);
    if (status == LS_OK)
        status = check_params(&given, error);
    if (status == LS_OK)
        status = enter(&saved, error);
    if (status != LS_OK)
        return status;
    chat_render render = {
        .fault = {.error = error,
                  .source = chat_template->source,
                  .source_bytes = chat_template->source_bytes},
        .chat_template = chat_template,
        .steps_left = given.steps_max ? given.steps_max : CHAT_STEPS_MAX,
        .output_bytes_max = given.output_bytes_max ? given.output_bytes_max : CHAT_OUTPUT_MAX,
        .unix_seconds = given.unix_seconds,
    };
    render.out = &render.output;
    ls__arena_init(&render.arena, &render.fault.oom, CHAT_MEMORY_MAX);
    status = run(&render, &given);
    if (status == LS_OK)
        status = hand_over(&render.output, text, length, error);
    json_decref(render.json);
    ls__arena_finish(&render.arena);
    leave(&saved);
    return status;
}
