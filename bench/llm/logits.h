/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both servers of texts.py do alike. A line of standard input is a request:
 *
 *   feed KEEP T1 T2 ...     forgets what is behind the first KEEP tokens, appends these; the answer is
 *                           the logits of the last one, as f32
 *   tokens TEXT             the ids of a text (\n and \\ are escaped), a line
 */
#ifndef LS_BENCH_LOGITS_H
#define LS_BENCH_LOGITS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct server {
    const float *(*feed)(void *context, uint32_t keep, const uint32_t *tokens, uint32_t count);
    /* Malloced ids. */
    uint32_t *(*tokens)(void *context, const char *text, uint32_t *count);
    void *context;
    uint32_t vocabulary;
} server;

static inline void server_feed(const server *s, char *words)
{
    uint32_t count = 0, *tokens = malloc((strlen(words) / 2 + 1) * sizeof *tokens);
    char *end;
    uint32_t keep = (uint32_t)strtoul(words, &end, 10);
    for (; tokens && *end && *end != '\n'; count++)
        tokens[count] = (uint32_t)strtoul(end, &end, 10);
    const float *logits = tokens ? s->feed(s->context, keep, tokens, count) : NULL;
    if (!logits)
        exit(1);
    fwrite(logits, sizeof *logits, s->vocabulary, stdout);
    free(tokens);
}

static inline void server_tokens(const server *s, char *text)
{
    char *to = text;
    for (char *from = text; *from && *from != '\n'; from++) {
        bool escaped = *from == '\\';
        from += escaped;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    *to = 0;
    uint32_t count = 0, *ids = s->tokens(s->context, text, &count);
    for (uint32_t i = 0; i < count; i++)
        printf("%u ", ids[i]);
    puts("");
    free(ids);
}

static inline void server_run(const server *s)
{
    char *line = NULL;
    size_t capacity = 0;
    printf("%u\n", s->vocabulary);
    fflush(stdout);
    while (getline(&line, &capacity, stdin) > 0) {
        if (strncmp(line, "feed ", 5) == 0)
            server_feed(s, line + 5);
        else
            server_tokens(s, line + 7);
        fflush(stdout);
    }
    free(line);
}

#endif
