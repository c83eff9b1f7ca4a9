/* SPDX-License-Identifier: Apache-2.0 */
/* Text as it comes, to standard output. */
#include "cli/answer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/cli.h"

void ls__cli_stop_option(const struct argp_state *state, ls__cli_answer *answer, const char *text)
{
    if (!*text || answer->stop_count == LS__STOPS)
        ls__cli_usage_error(state, "--stop: a text that is not empty, %d times at most", LS__STOPS);
    answer->stops[answer->stop_count++] = text;
}

/* Line breaks and tabs stay; other control characters become visible. */
static void print_visible(const char *text, size_t length)
{
    ls__strbuf line = {0};
    for (size_t start = 0, at = 0; at <= length; at++)
        if (at == length || text[at] == '\n' || text[at] == '\t') {
            ls__strbuf_visible(&line, text + start, at - start);
            ls__strbuf_append(&line, text + at, at < length);
            start = at + 1;
        }
    fwrite(line.text ? line.text : "", 1, line.length, stdout);
    ls__strbuf_finish(&line);
}

/* False when standard output cannot be written, which is said. */
static bool show(ls__cli_answer *a, size_t length)
{
    if (isatty(STDOUT_FILENO))
        print_visible(a->pending.text, length);
    else
        fwrite(a->pending.text, 1, length, stdout);
    bool shown = ls__cli_check_output();
    if (a->keeps)
        ls__strbuf_append(&a->kept, a->pending.text, length);
    memmove(a->pending.text, a->pending.text + length, a->pending.length - length);
    a->pending.length -= length;
    return shown;
}

/* Bytes at the end of `pending` that may be the beginning of a stop text. */
static size_t held_back(const ls__cli_answer *a)
{
    size_t held = 0;
    for (uint32_t i = 0; i < a->stop_count; i++)
        for (size_t part = strlen(a->stops[i]) - 1; part > held; part--)
            if (part <= a->pending.length &&
                memcmp(a->pending.text + a->pending.length - part, a->stops[i], part) == 0)
                held = part;
    return held;
}

/* The first stop text in `pending`, or NULL. */
static const char *find_stop(const ls__cli_answer *a)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < a->stop_count; i++) {
        const char *found =
            memmem(a->pending.text, a->pending.length, a->stops[i], strlen(a->stops[i]));
        if (found && (!first || found < first))
            first = found;
    }
    return first;
}

ls_status ls__cli_answer_add(ls__cli_answer *a, const ls_token *token, bool *ended, ls_error *error)
{
    *ended = false;
    if (token->kind == LS_TOKEN_CONTROL || token->kind == LS_TOKEN_UNKNOWN)
        return LS_OK;
    ls__strbuf_append(&a->pending, token->bytes, token->length);
    if (a->pending.length) {
        const char *stop = find_stop(a);
        *ended = stop != NULL;
        size_t whole =
            stop ? (size_t)(stop - a->pending.text)
                 : (size_t)ls_utf8_whole(a->pending.text, a->pending.length - held_back(a));
        *ended |= !show(a, whole);
        if (stop)
            a->pending.length = 0;
    }
    return a->pending.failed || a->kept.failed ? ls__fail_oom(error, a->pending.length) : LS_OK;
}

void ls__cli_answer_end(ls__cli_answer *a)
{
    if (a->pending.length)
        show(a, a->pending.length);
}

void ls__cli_answer_finish(ls__cli_answer *a)
{
    ls__strbuf_finish(&a->pending);
    ls__strbuf_finish(&a->kept);
}
