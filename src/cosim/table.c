/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table-driven form: nodes in the order (early or not, level, operation, width), cut into runs
 * (kernels/table.kc). The levels of the graph are such that this gives what evaluation by ascending
 * index gives. Where an instance has several workgroups, spread.c says which levels they share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"

typedef struct placed {
    uint64_t key; /* early, level, operation, width */
    uint32_t node;
} placed;

static bool is_evaluated(const ls__node *node)
{
    return node->op != LS__NODE_CONST && node->op != LS__NODE_INPUT && node->op != LS__NODE_REG;
}

static int by_key(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Bits 0-7 width, 8-15 operation, 16-47 level, 48 not early. */
static uint64_t make_key(const ls__node *node)
{
    return (uint64_t) !(node->flags & LS__NODE_EARLY) << 48 | (uint64_t)node->level << 16 |
           (uint64_t)node->op << 8 | node->width;
}

static uint32_t number_of(const ls__graph *g, const ls__node *node)
{
    switch (node->op) {
    case LS__NODE_SLICE:
        return (uint32_t)node->imm;
    case LS__NODE_MEM:
        return g->memories[(uint32_t)node->imm].limbs;
    default:
        return ls__node_operand_count(node->op) ? g->nodes[node->operands[0].index].width : 0;
    }
}

/* Rounds of loops that llvmpipe counts where it evaluates a run: every operation has one, and those
 * of the others are entered too, for no lane. */
enum { LOOPS_OF_A_RUN = 30 };

static void write_runs(const placed *order, uint32_t count, ls__form *form, ls__levels *levels,
                       ls__words *t, ls__arena *arena)
{
    form->sections.runs = form->sections.runs_early = t->count;
    for (uint32_t i = 0, level = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && order[end].key == order[i].key)
            end++;
        if (i && order[i].key >> 16 != order[i - 1].key >> 16)
            level++;
        if (!i || order[i].key >> 16 != order[i - 1].key >> 16)
            levels->items[level].run = t->count;
        bool last = end == count || order[end].key >> 16 != order[i].key >> 16;
        bool waits =
            last && form->lanes > 1 && !ls__spread_shares(form, levels->items[level].nodes);
        uint32_t width = order[i].key & 0xff, op = order[i].key >> 8 & 0xff;
        uint32_t run[3] = {op | width << 8 | (uint32_t)waits << 16, i, end - i};
        for (uint32_t k = 0; k < 3; k++)
            ls__vec_push(arena, t, run[k]);
        if (!(order[i].key >> 48))
            form->sections.runs_early = t->count;
        form->edge_rounds += LOOPS_OF_A_RUN + (end - i + form->lanes - 1) / form->lanes;
        i = end;
    }
    form->sections.runs_end = t->count;
}

static ls__levels find_levels(const placed *order, uint32_t count, ls__arena *arena)
{
    ls__levels levels = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!i || order[i].key >> 16 != order[i - 1].key >> 16)
            ls__vec_push(arena, &levels, ((ls__level){.early = !(order[i].key >> 48)}));
        levels.items[levels.count - 1].nodes++;
    }
    return levels;
}

static void write_records(const ls_cosim *cosim, const placed *order, uint32_t count,
                          ls__form *form, ls__words *t, ls__arena *arena)
{
    const ls__graph *g = cosim->graph;
    form->sections.nodes = t->count;
    for (uint32_t i = 0; i < count; i++) {
        const ls__node *node = &g->nodes[order[i].node];
        uint32_t record[4] = {0, 0, 0, number_of(g, node)};
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
            record[k] = form->places[node->operands[k].index].slot;
        if (node->op == LS__NODE_MEM) {
            uint32_t memory = (uint32_t)node->imm;
            record[1] = (uint32_t)(cosim->layout.memory_at[memory] + (node->imm >> 32));
            record[2] = g->memories[memory].depth;
        }
        for (uint32_t k = 0; k < 4; k++)
            ls__vec_push(arena, t, record[k]);
    }
}

static void place(const ls_cosim *cosim, const placed *order, uint32_t count, ls__form *form)
{
    const ls__graph *g = cosim->graph;
    uint32_t next = cosim->layout.common;
    form->node_base = next;
    for (uint32_t i = 0; i < count; i++)
        form->places[order[i].node].slot = next++;
    for (uint32_t n = 0; n < g->node_count; n++) {
        if (g->nodes[n].op == LS__NODE_INPUT)
            form->places[n].slot = cosim->layout.inputs + (uint32_t)g->nodes[n].imm;
        else if (!is_evaluated(&g->nodes[n]))
            form->places[n].slot = next++;
    }
    form->spread_base = next;
    form->slot_count = next + (form->workgroups > 1 ? LS__SPREAD_SLOTS + form->lanes : 0);
}

static void write_text(const ls_cosim *cosim, ls__form *form, ls__strbuf *text)
{
    const ls__sections *s = &form->sections;
    ls__prelude_write(cosim, form, text);
    if (form->workgroups > 1)
        ls__strbuf_printf(text,
                          "#define SPREAD %uu\n#define T_STRETCHES %uu\n"
                          "#define STRETCHES_EARLY %uu\n#define STRETCHES %uu\n",
                          form->spread_base, s->stretches, s->stretches_early, s->stretches_end);
    static const char *const names[] = {
#define X(name, operands, meaning) #name,
        LS__NODE_TABLE(X)
#undef X
    };
    for (uint32_t i = 0; i < LS__NODE_OP_COUNT; i++)
        ls__strbuf_printf(text, "#define OP_%s %u\n", names[i], i);
    ls__strbuf_printf(text,
                      "#define NODES %uu\n#define T_NODES %uu\n#define T_RUNS %uu\n"
                      "#define T_RUNS_EARLY %uu\n#define T_RUNS_END %uu\n%s"
                      "#include \"lockstep:table.kc\"\n",
                      form->node_base, s->nodes, s->runs, s->runs_early, s->runs_end,
                      form->lanes == 1 ? "#define ONE_LANE 1\n" : "");
    if (form->workgroups > 1)
        ls__strbuf_printf(text, "#include \"lockstep:spread.kc\"\n");
}

static ls_status build(const ls_cosim *cosim, ls__form *form, ls__arena *arena, ls__strbuf *text,
                       ls_error *error)
{
    const ls__graph *g = cosim->graph;
    placed *order = LS__NEW_ARRAY(arena, placed, g->node_count + 1);
    uint32_t count = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (is_evaluated(&g->nodes[n]))
            order[count++] = (placed){make_key(&g->nodes[n]), n};
    qsort(order, count, sizeof *order, by_key);
    ls__levels levels = find_levels(order, count, arena);
    form->workgroups = ls__spread_workgroups(cosim, form->lanes, &levels);
    if (form->workgroups > 1)
        ls__log(cosim, "an instance is shared by %u workgroups", form->workgroups);
    place(cosim, order, count, form);
    ls_status status = ls__traces_create(cosim, form, error);
    if (status != LS_OK)
        return status;
    ls__words t = {0};
    ls__sections_write(cosim, form, &t, arena);
    write_runs(order, count, form, &levels, &t, arena);
    if (form->workgroups > 1)
        ls__spread_write(cosim, form, &levels, &t, arena);
    write_records(cosim, order, count, form, &t, arena);
    form->table_words = t.count ? t.count : 1;
    form->table = ls__mem_alloc(form->table_words, sizeof *form->table);
    if (!form->table)
        return ls__fail_oom(error, form->table_words * sizeof *form->table);
    if (t.count)
        memcpy(form->table, t.items, t.count * sizeof *form->table);
    write_text(cosim, form, text);
    return LS_OK;
}

ls_status ls__table_create(const ls_cosim *cosim, uint32_t lanes, ls__form **out, ls_error *error)
{
    return ls__form_build(cosim, LS_COSIM_TABLE, lanes, build, out, error);
}
