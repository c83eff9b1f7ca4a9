/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the native check is interesting to the reducer while its verdict stays the same. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "conform/reduce.h"

typedef struct trial {
    const ls__native_options *options;
    ls__native_verdict verdict;
    char path[4096];
    char message[512];
} trial;

/* A program our front end refuses is interesting only while the C compiler takes it; running the
 * check on its own says "rejected" either way, so such programs keep the first diagnostic's text as
 * well. */
static bool still_fails(void *context, const char *text)
{
    const trial *t = context;
    FILE *file = fopen(t->path, "wb");
    if (!file)
        return false;
    size_t length = strlen(text);
    bool good = fwrite(text, 1, length, file) == length;
    good = fclose(file) == 0 && good;
    ls__native_program program = {.path = t->path, .text = text, .length = length};
    if (good)
        ls__native_check(&program, 1, t->options);
    if (!good || program.verdict != t->verdict)
        return false;
    if (t->verdict != LS__NATIVE_REJECTED)
        return program.flagged == 0;
    const char *a = strstr(program.message, "LS0"), *b = strstr(t->message, "LS0");
    return a && b && strncmp(a, b, 6) == 0;
}

void ls__native_reduce(const ls__native_program *program, const ls__native_options *options,
                       ls__strbuf *out)
{
    trial t = {.options = options, .verdict = program->verdict};
    snprintf(t.path, sizeof t.path, "%s/reduce.kc", options->work_dir);
    memcpy(t.message, program->message, sizeof t.message);
    ls__reduce(program->text, 3000, still_fails, &t, out);
    unlink(t.path);
}
