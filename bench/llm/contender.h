/* SPDX-License-Identifier: Apache-2.0 */
/* What both contenders of llm.py do alike: requests (ours.c), tokens, clocks. */
#ifndef LS_BENCH_CONTENDER_H
#define LS_BENCH_CONTENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct contender {
    /* Forgets what is behind `depth` tokens, or was measured; the tokens that are still there. */
    uint32_t (*prepare)(void *context, uint32_t depth);
    void (*feed)(void *context, uint32_t at, const uint32_t *tokens, uint32_t count);
    void *context;
    uint32_t vocabulary;
} contender;

/* Which tokens they are does not change the work. */
static inline uint32_t contender_token(uint32_t position, uint32_t vocabulary)
{
    return (position * 7919u + 13u) % vocabulary;
}

static inline double contender_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline uint64_t contender_memory(void)
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

/* What stands in front is computed once, and not measured. */
static inline void contender_fill(const contender *c, uint32_t from, uint32_t depth)
{
    uint32_t tokens[64];
    for (uint32_t now; from < depth; from += now) {
        now = depth - from < 64 ? depth - from : 64;
        for (uint32_t i = 0; i < now; i++)
            tokens[i] = contender_token(from + i, c->vocabulary);
        c->feed(c->context, from, tokens, now);
    }
}

static inline void contender_turn(const contender *c, uint32_t depth, uint32_t count, bool together)
{
    uint32_t *tokens = malloc((count + 1) * sizeof *tokens);
    if (!tokens)
        exit(1);
    for (uint32_t i = 0; i < count; i++)
        tokens[i] = contender_token(depth + i, c->vocabulary);
    contender_fill(c, c->prepare(c->context, depth), depth);
    double wall = contender_seconds(CLOCK_MONOTONIC),
           processor = contender_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (together)
        c->feed(c->context, depth, tokens, count);
    for (uint32_t i = 0; !together && i < count; i++)
        c->feed(c->context, depth + i, tokens + i, 1);
    wall = contender_seconds(CLOCK_MONOTONIC) - wall;
    processor = contender_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    printf("%.9f %.9f\n", wall, processor);
    free(tokens);
}

static inline void contender_serve(const contender *c)
{
    char line[100], what[20];
    unsigned depth, count;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%19s %u %u", what, &depth, &count) == 3)
            contender_turn(c, depth, count, strcmp(what, "prompt") == 0);
        else
            printf("%llu\n", (unsigned long long)contender_memory());
        fflush(stdout);
    }
}

#endif
