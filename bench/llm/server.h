/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both engines' programs do alike: they keep a model loaded and answer requests from standard
 * input, a line each. The first line of the output is the size of the vocabulary.
 *
 *   prompt DEPTH N        computes N tokens together behind DEPTH others; seconds, processor
 * seconds generate DEPTH N      N tokens one by one behind DEPTH others; the same memory PSS, in
 * bytes feed KEEP T1 T2 ...   forgets what is behind the first KEEP tokens, appends these together;
 * the logits of the last one, as f32 tokens TEXT           the ids of a text (\n and \\ are
 * escaped)
 */
#ifndef LS_BENCH_SERVER_H
#define LS_BENCH_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct server {
    /* Forgets what is behind `count` tokens; how many are still there, at most `count`. */
    uint32_t (*keep)(void *context, uint32_t count);
    /* Appends tokens; the logits of the last one. */
    const float *(*feed)(void *context, const uint32_t *tokens, uint32_t count);
    /* Malloced ids. */
    uint32_t *(*tokens)(void *context, const char *text, uint32_t *count);
    void *context;
    uint32_t vocabulary;
} server;

/* --- speed: which tokens they are does not change the work -------------------------------------
 */

static inline double server_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What stands in front is computed once, and not measured. */
static inline void server_fill(const server *s, uint32_t depth)
{
    uint32_t tokens[64];
    for (uint32_t at = s->keep(s->context, depth), now; at < depth; at += now) {
        now = depth - at < 64 ? depth - at : 64;
        for (uint32_t i = 0; i < now; i++)
            tokens[i] = ((at + i) * 7919u + 13u) % s->vocabulary;
        s->feed(s->context, tokens, now);
    }
}

static inline void server_turn(const server *s, uint32_t depth, uint32_t count, bool together)
{
    uint32_t *tokens = malloc((count + 1) * sizeof *tokens);
    if (!tokens)
        exit(1);
    for (uint32_t i = 0; i < count; i++)
        tokens[i] = ((depth + i) * 7919u + 13u) % s->vocabulary;
    server_fill(s, depth);
    double wall = server_seconds(CLOCK_MONOTONIC),
           processor = server_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (together)
        s->feed(s->context, tokens, count);
    for (uint32_t i = 0; !together && i < count; i++)
        s->feed(s->context, tokens + i, 1);
    printf("%.9f %.9f\n", server_seconds(CLOCK_MONOTONIC) - wall,
           server_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor);
    free(tokens);
}

static inline uint64_t server_memory(void)
{
    char line[200];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %llu", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* --- results -----------------------------------------------------------------------------------
 */

static inline void server_feed(const server *s, char *words)
{
    uint32_t count = 0, *tokens = malloc((strlen(words) / 2 + 1) * sizeof *tokens);
    char *end;
    uint32_t keep = (uint32_t)strtoul(words, &end, 10);
    for (; tokens && *end && *end != '\n'; count++)
        tokens[count] = (uint32_t)strtoul(end, &end, 10);
    if (!tokens || s->keep(s->context, keep) != keep)
        exit(1);
    fwrite(s->feed(s->context, tokens, count), sizeof(float), s->vocabulary, stdout);
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
    unsigned depth, count;
    printf("%u\n", s->vocabulary);
    fflush(stdout);
    while (getline(&line, &capacity, stdin) > 0) {
        if (sscanf(line, "prompt %u %u", &depth, &count) == 2)
            server_turn(s, depth, count, true);
        else if (sscanf(line, "generate %u %u", &depth, &count) == 2)
            server_turn(s, depth, count, false);
        else if (strncmp(line, "feed ", 5) == 0)
            server_feed(s, line + 5);
        else if (strncmp(line, "tokens ", 7) == 0)
            server_tokens(s, line + 7);
        else
            printf("%llu\n", (unsigned long long)server_memory());
        fflush(stdout);
    }
    free(line);
}

#endif
