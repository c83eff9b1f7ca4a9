/* SPDX-License-Identifier: Apache-2.0 */
/* A list of messages. */
#include "cli/conversation.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "base/str.h"

#define MOST_FILE_BYTES (UINT64_C(1) << 26)

static const char *const roles[] = {"system", "user", "assistant"};

/* Bytes of the character of UTF-8 that is there; 0: none. */
static size_t character_bytes(const char *text, size_t length)
{
    size_t bytes = ls__str_visible(text, length);
    if (bytes || !length || !text[0])
        return bytes;
    if ((unsigned char)text[0] < 0x80)
        return 1;
    bool is_control = length > 1 && text[0] == '\xc2' && (text[1] & 0xe0) == 0x80;
    return is_control ? 2 : 0;
}

static char *clean_copy(const char *text, size_t length)
{
    ls__strbuf copy = {0};
    for (size_t at = 0; at < length;) {
        size_t bytes = character_bytes(text + at, length - at);
        bool is_surrogate = bytes == 3 && text[at] == '\xed' && (unsigned char)text[at + 1] > 0x9f;
        bool is_beyond = bytes == 4 && text[at] == '\xf4' && (unsigned char)text[at + 1] > 0x8f;
        if (bytes && !is_surrogate && !is_beyond)
            ls__strbuf_append(&copy, text + at, bytes);
        else
            ls__strbuf_append(&copy, "\xef\xbf\xbd", 3);
        at += bytes ? bytes : 1;
    }
    char *result = ls__mem_alloc(copy.length + 1, 1);
    if (result && copy.length)
        memcpy(result, copy.text, copy.length);
    if (copy.failed) {
        ls__mem_free(result);
        result = NULL;
    }
    ls__strbuf_finish(&copy);
    return result;
}

/* Makes room for a message at `place`. */
static ls_status insert(ls__cli_conversation *c, uint32_t place, const char *role, const char *text,
                        size_t length, ls_error *error)
{
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 16;
        ls_chat_message *messages = ls__mem_realloc(c->messages, capacity, sizeof *messages);
        if (!messages)
            return ls__fail_oom(error, capacity * sizeof *messages);
        c->messages = messages;
        c->capacity = capacity;
    }
    char *copy = clean_copy(text, length);
    if (!copy)
        return ls__fail_oom(error, length);
    memmove(c->messages + place + 1, c->messages + place, (c->count - place) * sizeof *c->messages);
    c->messages[place] = (ls_chat_message){.role = role, .content = copy};
    c->count++;
    return LS_OK;
}

static void free_message(const ls_chat_message *message)
{
    ls__mem_free((char *)(uintptr_t)message->content);
}

static bool has_system(const ls__cli_conversation *c)
{
    return c->count && strcmp(c->messages[0].role, roles[0]) == 0;
}

ls_status ls__cli_conversation_add(ls__cli_conversation *c, const char *role, const char *text,
                                   size_t length, ls_error *error)
{
    return insert(c, c->count, role, text, length, error);
}

ls_status ls__cli_conversation_set_system(ls__cli_conversation *c, const char *text,
                                          ls_error *error)
{
    ls_status status = *text ? insert(c, 0, roles[0], text, strlen(text), error) : LS_OK;
    if (status != LS_OK)
        return status;
    uint32_t old = *text != 0;
    if (old < c->count && strcmp(c->messages[old].role, roles[0]) == 0) {
        free_message(&c->messages[old]);
        c->count--;
        memmove(c->messages + old, c->messages + old + 1, (c->count - old) * sizeof *c->messages);
    }
    return LS_OK;
}

bool ls__cli_conversation_ends_with(const ls__cli_conversation *c, const char *role)
{
    return c->count && strcmp(c->messages[c->count - 1].role, role) == 0;
}

void ls__cli_conversation_drop_last(ls__cli_conversation *c)
{
    if (c->count)
        free_message(&c->messages[--c->count]);
}

void ls__cli_conversation_clear(ls__cli_conversation *c)
{
    while (c->count > has_system(c))
        ls__cli_conversation_drop_last(c);
}

void ls__cli_conversation_finish(ls__cli_conversation *c)
{
    while (c->count)
        ls__cli_conversation_drop_last(c);
    ls__mem_free(c->messages);
    *c = (ls__cli_conversation){0};
}

/* --- files ------------------------------------------------------------------------------------ */

ls_status ls__cli_conversation_save(const ls__cli_conversation *c, const char *path,
                                    ls_error *error)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < c->count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "role", c->messages[i].role, "content",
                                              c->messages[i].content));
    char *text = json_dumps(list, JSON_INDENT(1));
    json_decref(list);
    if (!text)
        return ls__fail_oom(error, 0);
    ls_status status = ls__os_write_line(path, text, error);
    free(text);
    return status;
}

static ls_status load_message(ls__cli_conversation *c, const json_t *item, ls_error *error)
{
    const char *role = json_string_value(json_object_get(item, "role")), *known = NULL;
    const char *content = json_string_value(json_object_get(item, "content"));
    for (size_t i = 0; role && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0 && (i > 0 || c->count == 0))
            known = roles[i];
    if (!known || !content)
        return ls__fail(error, LS_E_FORMAT,
                        "message %u has not the texts \"role\" (user, assistant; system for the "
                        "first) and \"content\"",
                        c->count);
    return insert(c, c->count, known, content, json_string_length(json_object_get(item, "content")),
                  error);
}

ls_status ls__cli_conversation_load(ls__cli_conversation *c, const char *path, ls_error *error)
{
    ls__cli_conversation loaded = {0};
    void *bytes = NULL;
    size_t size = 0, index;
    json_error_t why;
    json_t *list = NULL, *item;
    ls_status status = ls__os_read_file(path, MOST_FILE_BYTES, &bytes, &size, error);
    if (status != LS_OK)
        return status;
    list = json_loadb(bytes, size, 0, &why);
    if (!json_is_array(list))
        status = ls__fail(error, LS_E_FORMAT, "it is no JSON list of messages%s%s",
                          list ? "" : ": ", list ? "" : why.text);
    json_array_foreach(list, index, item)
    {
        if (status == LS_OK)
            status = load_message(&loaded, item, error);
    }
    if (status == LS_OK) {
        ls__cli_conversation_finish(c);
        *c = loaded;
    } else {
        ls__cli_conversation_finish(&loaded);
        ls__fail_where(error, status, "%s", path);
    }
    json_decref(list);
    ls__mem_free(bytes);
    return status;
}
