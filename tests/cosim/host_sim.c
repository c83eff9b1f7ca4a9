/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a netlist on the host evaluator with a stimulus, and writes all its signals: what the tests
 * compare with Icarus before any device is involved. With --stats it elaborates only, and prints
 * what came of it.
 *
 * usage: host_sim NETLIST.json STIMULUS.vcd OUT.vcd [--by-level]
 *        host_sim --stats NETLIST.json
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/str.h"
#include "cosim/elaborate/elaborate.h"
#include "host_eval.h"

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "host_sim: %s: %s\n", what, why);
    exit(1);
}

static void warn(void *context, const char *message)
{
    fprintf(stderr, "%s: %s\n", (const char *)context, message);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ls__graph *load(const char *path, bool print)
{
    ls__netlist *netlist = NULL;
    ls__graph *graph = NULL;
    ls_error error = {0};
    ls__netlist_params params = {.path = path};
    double begin = seconds();
    if (ls__netlist_read(&params, &netlist, &error) != LS_OK)
        stop(path, error.message);
    double read = seconds();
    ls__elaborate_params elaborate = {warn, (void *)(uintptr_t)path};
    if (ls__elaborate(netlist, &elaborate, &graph, &error) != LS_OK)
        stop(path, error.message);
    double done = seconds();
    uint32_t node = 0;
    const char *fault = ls__graph_verify(graph, &node);
    if (fault) {
        fprintf(stderr, "node %" PRIu32 "\n", node);
        stop(path, fault);
    }
    if (print) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        uint32_t loops = 0, evaluated = 0, by_op[LS__NODE_OP_COUNT] = {0};
        for (uint32_t i = 0; i < graph->node_count; i++) {
            loops += (graph->nodes[i].flags & LS__NODE_LOOP) != 0;
            evaluated += graph->nodes[i].level > 0;
            by_op[graph->nodes[i].op]++;
        }
        printf("%" PRIu32 " cells, %" PRIu32 " nodes, %" PRIu32 " evaluated, %" PRIu32
               " registers, %" PRIu32 " domains, %" PRIu32 " levels, %" PRIu32
               " signals, early to %" PRIu32 ", derived %d, %" PRIu32 " loop nodes\n",
               graph->cell_count, graph->node_count, evaluated, graph->reg_count,
               graph->domain_count, graph->level_count, graph->signal_count, graph->early_end,
               graph->has_derived, loops);
        for (unsigned op = 0; op < LS__NODE_OP_COUNT; op++) {
            if (by_op[op])
                printf("%s %" PRIu32 " ", ls__node_op_name((ls__node_op)op), by_op[op]);
        }
        printf("\nCPU time: read %.3f s, elaborate %.3f s; peak %ld KiB\n", read - begin,
               done - read, usage.ru_maxrss);
    }
    ls__netlist_destroy(&netlist);
    return graph;
}

/* ---- out ---- */

typedef struct dump {
    FILE *file;
    uint64_t **before; /* by signal */
    bool started;
} dump;

static void code_of(uint32_t index, char code[8])
{
    do
        *code++ = (char)('!' + index % 94);
    while (index /= 94);
    *code = 0;
}

static void dump_header(dump *d, const ls__graph *graph)
{
    d->before = calloc(graph->signal_count, sizeof *d->before);
    fprintf(d->file, "$timescale 1ps $end\n$scope module %s $end\n", graph->top);
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const ls__graph_signal *s = &graph->signals[i];
        char code[8];
        code_of(i, code);
        int32_t last = s->offset + (int32_t)s->width - 1;
        d->before[i] = calloc(s->width / 64 + 1, sizeof **d->before);
        if (s->width)
            fprintf(d->file, "$var wire %" PRIu32 " %s %s [%d:%d] $end\n", s->width, code, s->name,
                    s->upto ? s->offset : last, s->upto ? last : s->offset);
    }
    fprintf(d->file, "$upscope $end\n$enddefinitions $end\n");
}

static void dump_changes(dump *d, const host_eval *run, uint64_t time)
{
    fprintf(d->file, "#%" PRIu64 "\n", time);
    for (uint32_t i = 0; i < run->graph->signal_count; i++) {
        const ls__graph_signal *s = &run->graph->signals[i];
        uint64_t now[64];
        if (s->width == 0 || s->width > 4096)
            continue;
        host_eval_get_signal(run, s, now);
        size_t bytes = (s->width + 63) / 64 * sizeof *now;
        if (d->started && memcmp(now, d->before[i], bytes) == 0)
            continue;
        memcpy(d->before[i], now, bytes);
        char code[8];
        code_of(i, code);
        fputc('b', d->file);
        for (uint32_t k = s->width; k-- > 0;)
            fputc('0' + (int)(now[k / 64] >> (k % 64) & 1), d->file);
        fprintf(d->file, " %s\n", code);
    }
    d->started = true;
}

/* ---- in ---- */

typedef struct variable {
    char code[16], name[256];
} variable;

static void set_value(host_eval *run, const char *name, const char *digits)
{
    uint64_t words[64] = {0};
    size_t length = strlen(digits);
    for (size_t k = 0; k < length; k++)
        words[k / 64] |= (uint64_t)(digits[length - 1 - k] == '1') << (k % 64);
    host_eval_set(run, name, words);
}

static void apply(host_eval *run, const variable *variables, uint32_t count, const char *code,
                  const char *digits)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(variables[i].code, code) == 0)
            set_value(run, variables[i].name, digits);
    }
}

/* The first values are those from before the first edge. */
static void end_of_time(host_eval *run, dump *d, uint64_t time)
{
    if (!(d->started ? host_eval_step(run) : host_eval_settle(run)))
        stop("stimulus", "does not settle");
    dump_changes(d, run, time);
}

static void simulate(host_eval *run, FILE *stimulus, dump *d)
{
    static variable variables[256];
    uint32_t count = 0;
    static char token[8192], digits[8192];
    bool stepping = false;
    uint64_t time = 0;
    while (fscanf(stimulus, "%8191s", token) == 1) {
        if (strcmp(token, "$var") == 0 && count < 256) {
            variable *v = &variables[count++];
            if (fscanf(stimulus, "%*s %*s %15s %255s", v->code, v->name) != 2)
                stop("stimulus", "a $var that is not understood");
        } else if (token[0] == '#') {
            if (stepping)
                end_of_time(run, d, time);
            stepping = true;
            time = strtoull(token + 1, NULL, 10);
        } else if (token[0] == 'b' && stepping && fscanf(stimulus, "%8191s", digits) == 1) {
            apply(run, variables, count, digits, token + 1);
        } else if ((token[0] == '0' || token[0] == '1') && stepping) {
            char one[2] = {token[0], 0};
            apply(run, variables, count, token + 1, one);
        }
    }
    if (stepping)
        end_of_time(run, d, time);
}

int main(int argc, char **argv)
{
    if (argc == 3 && (strcmp(argv[1], "--stats") == 0 || strcmp(argv[1], "--dump") == 0)) {
        ls__graph *graph = load(argv[2], argv[1][2] == 's');
        ls__strbuf text = {0};
        if (argv[1][2] == 'd') {
            ls__graph_dump(graph, &text);
            fputs(text.text ? text.text : "", stdout);
            ls__strbuf_finish(&text);
        }
        ls__graph_destroy(&graph);
        return 0;
    }
    if (argc < 4)
        stop("usage", "host_sim NETLIST.json STIMULUS.vcd OUT.vcd [--by-level]");
    ls__graph *graph = load(argv[1], false);
    host_eval *run = host_eval_create(graph, argc > 4);
    if (!run)
        stop(argv[1], "does not settle");
    FILE *stimulus = fopen(argv[2], "r");
    dump d = {.file = fopen(argv[3], "w")};
    if (!stimulus || !d.file)
        stop(argv[2], "cannot be opened, or the output cannot");
    dump_header(&d, graph);
    simulate(run, stimulus, &d);
    fclose(stimulus);
    if (fclose(d.file))
        stop(argv[3], "cannot be written");
    for (uint32_t i = 0; i < graph->signal_count; i++)
        free(d.before[i]);
    free(d.before);
    host_eval_destroy(&run);
    ls__graph_destroy(&graph);
    return 0;
}
