/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction by trial: remove runs of lines (halving their length), remove or unwrap blocks, replace
 * parenthesised expressions by 0 or 1. A trial is kept when the program still fails. Unbalanced
 * trials are simply refused by the compiler, so no syntax is understood here.
 */
#include "conform/reduce.h"

#include <string.h>

#include "base/mem.h"

typedef struct reducer {
    ls__reduce_test *test;
    void *context;
    char *text; /* smallest so far, zero-terminated */
    uint32_t trials, limit;
} reducer;

static bool try_without(reducer *r, size_t from, size_t to, const char *replacement)
{
    size_t length = strlen(r->text), extra = strlen(replacement);
    if (r->trials >= r->limit)
        return false;
    char *trial = ls__mem_alloc(length - (to - from) + extra + 1, 1);
    if (!trial)
        return false;
    memcpy(trial, r->text, from);
    memcpy(trial + from, replacement, extra);
    strcpy(trial + from + extra, r->text + to);
    r->trials++;
    if (!r->test(r->context, trial)) {
        ls__mem_free(trial);
        return false;
    }
    ls__mem_free(r->text);
    r->text = trial;
    return true;
}

static size_t line_at(const char *text, uint32_t index)
{
    const char *at = text;
    while (index && (at = strchr(at, '\n'))) {
        at++;
        index--;
    }
    return at ? (size_t)(at - text) : strlen(text);
}

static uint32_t line_count(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static bool remove_lines(reducer *r)
{
    bool changed = false;
    for (uint32_t size = line_count(r->text) / 2; size; size /= 2)
        for (uint32_t at = 0; at + size <= line_count(r->text);)
            if (try_without(r, line_at(r->text, at), line_at(r->text, at + size), ""))
                changed = true;
            else
                at++;
    return changed;
}

/* The position after the bracket that closes the one at `open`, or 0. */
static size_t matching(const char *text, size_t open, char left, char right)
{
    int depth = 0;
    for (size_t i = open; text[i]; i++) {
        depth += text[i] == left;
        depth -= text[i] == right;
        if (!depth)
            return i + 1;
    }
    return 0;
}

static bool simplify_brackets(reducer *r, char left, char right, const char *const *replacements)
{
    bool changed = false;
    for (size_t i = 0; r->text[i]; i++) {
        if (r->text[i] != left)
            continue;
        size_t end = matching(r->text, i, left, right);
        for (uint32_t k = 0; end && replacements[k]; k++)
            if (end - i > strlen(replacements[k]) && try_without(r, i, end, replacements[k])) {
                changed = true;
                break;
            }
    }
    return changed;
}

/* Blocks with their heads: from the start of the line that opens one to the end of the line that
 * closes it. */
static bool remove_blocks(reducer *r)
{
    bool changed = false;
    for (uint32_t at = 0; at < line_count(r->text); at++) {
        size_t start = line_at(r->text, at), next = line_at(r->text, at + 1);
        const char *brace = memchr(r->text + start, '{', next - start);
        size_t end = brace ? matching(r->text, (size_t)(brace - r->text), '{', '}') : 0;
        if (!end)
            continue;
        while (r->text[end] && r->text[end - 1] != '\n')
            end++;
        if (try_without(r, start, end, "")) {
            changed = true;
            at--;
        }
    }
    return changed;
}

void ls__reduce(const char *text, uint32_t limit, ls__reduce_test *test, void *context,
                ls__strbuf *out)
{
    static const char *const constants[] = {"0", "1", "(1)", "", NULL}, *const bodies[] = {"{}",
                                                                                           NULL};
    reducer r = {.test = test, .context = context, .text = ls__mem_strdup(text), .limit = limit};
    bool changed = r.text != NULL;
    while (changed && r.trials < limit) {
        changed = remove_blocks(&r);
        changed |= remove_lines(&r);
        changed |= simplify_brackets(&r, '(', ')', constants);
        changed |= simplify_brackets(&r, '{', '}', bodies);
    }
    if (r.text)
        ls__strbuf_append(out, r.text, strlen(r.text));
    ls__mem_free(r.text);
}
