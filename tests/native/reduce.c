/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction of a failing program, by trial: remove runs of lines (halving their length), remove or
 * unwrap blocks, replace parenthesised expressions by 0 or 1. A trial is kept when the program
 * still fails with the same verdict. Unbalanced trials are simply refused by both compilers, so no
 * syntax is understood here.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"

typedef struct reducer {
    const ls__native_options *options;
    ls__native_verdict verdict;
    char path[4096];
    char *text; /* smallest so far, zero-terminated */
    uint32_t trials;
} reducer;

/* A program our front end refuses is interesting only while the C compiler takes it; running the
 * check on its own says "rejected" either way, so such programs keep the first diagnostic's text as
 * well. */
static bool still_fails(reducer *r, const char *text, const char *message)
{
    FILE *file = fopen(r->path, "wb");
    if (!file)
        return false;
    size_t length = strlen(text);
    bool good = fwrite(text, 1, length, file) == length;
    good = fclose(file) == 0 && good;
    ls__native_program trial = {.path = r->path, .text = text, .length = length};
    if (good)
        ls__native_check(&trial, 1, r->options);
    r->trials++;
    if (!good || trial.verdict != r->verdict)
        return false;
    if (r->verdict != LS__NATIVE_REJECTED)
        return trial.flagged == 0;
    const char *a = strstr(trial.message, "LS0"), *b = strstr(message, "LS0");
    return a && b && strncmp(a, b, 6) == 0;
}

static bool try_without(reducer *r, size_t from, size_t to, const char *replacement,
                        const char *message)
{
    size_t length = strlen(r->text), extra = strlen(replacement);
    char *trial = ls__mem_alloc(length - (to - from) + extra + 1, 1);
    if (!trial)
        return false;
    memcpy(trial, r->text, from);
    memcpy(trial + from, replacement, extra);
    strcpy(trial + from + extra, r->text + to);
    if (!still_fails(r, trial, message)) {
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

static bool remove_lines(reducer *r, const char *message)
{
    bool changed = false;
    for (uint32_t size = line_count(r->text) / 2; size; size /= 2)
        for (uint32_t at = 0; at + size <= line_count(r->text);)
            if (try_without(r, line_at(r->text, at), line_at(r->text, at + size), "", message))
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

static bool simplify_brackets(reducer *r, char left, char right, const char *const *replacements,
                              const char *message)
{
    bool changed = false;
    for (size_t i = 0; r->text[i]; i++) {
        if (r->text[i] != left)
            continue;
        size_t end = matching(r->text, i, left, right);
        for (uint32_t k = 0; end && replacements[k]; k++)
            if (end - i > strlen(replacements[k]) &&
                try_without(r, i, end, replacements[k], message)) {
                changed = true;
                break;
            }
    }
    return changed;
}

/* Blocks with their heads: from the start of the line that opens one to the end of the line that
 * closes it. */
static bool remove_blocks(reducer *r, const char *message)
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
        if (try_without(r, start, end, "", message)) {
            changed = true;
            at--;
        }
    }
    return changed;
}

void ls__native_reduce(const ls__native_program *program, const ls__native_options *options,
                       ls__strbuf *out)
{
    static const char *const constants[] = {"0", "1", "(1)", "", NULL}, *const bodies[] = {"{}",
                                                                                           NULL};
    reducer r = {.options = options, .verdict = program->verdict};
    snprintf(r.path, sizeof r.path, "%s/reduce.kc", options->work_dir);
    r.text = ls__mem_strdup(program->text);
    char message[sizeof program->message];
    memcpy(message, program->message, sizeof message);
    bool changed = r.text != NULL;
    while (changed && r.trials < 3000) {
        changed = remove_blocks(&r, message);
        changed |= remove_lines(&r, message);
        changed |= simplify_brackets(&r, '(', ')', constants, message);
        changed |= simplify_brackets(&r, '{', '}', bodies, message);
    }
    if (r.text)
        ls__strbuf_append(out, r.text, strlen(r.text));
    ls__mem_free(r.text);
    unlink(r.path);
}
