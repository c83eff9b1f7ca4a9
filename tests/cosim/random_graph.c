/* SPDX-License-Identifier: Apache-2.0 */
#include "random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "netlist/netlist.h"

enum { CLOCKS = 2, DATA_INPUTS = 5, REGS = 9, HOLDS = 6, MEMORIES = 2, MOST_NODES = 4096 };

typedef struct maker {
    ls__graph *g;
    ls__rng rng;
    graph_shape shape;
    uint32_t used[MOST_NODES];  /* level of users before a LOOP node */
    uint32_t loops[HOLDS];      /* places of LOOP nodes, ascending */
    uint32_t loop_width[HOLDS]; /* planned */
    uint32_t loop_count;
} maker;

static uint32_t below(maker *m, uint32_t bound)
{
    return ls__rng_below(&m->rng, bound);
}

static uint8_t any_width(maker *m)
{
    static const uint8_t widths[] = {1, 1, 1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 48, 63, 64, 64};
    return m->shape.only_bits ? 1 : widths[below(m, sizeof widths)];
}

static ls__node_id add(maker *m, ls__node_op op, uint8_t width, uint64_t imm, ls__node_id a,
                       ls__node_id b, ls__node_id c)
{
    ls__graph *g = m->g;
    assert_true(g->node_count < MOST_NODES);
    uint32_t index = g->node_count++;
    ls__node *node = &g->nodes[index];
    *node = (ls__node){.op = (uint8_t)op, .width = width, .operands = {a, b, c}, .imm = imm};
    if (op == LS__NODE_CONST || op == LS__NODE_INPUT || op == LS__NODE_REG)
        return (ls__node_id){index};
    for (uint32_t i = 0; i < m->loop_count; i++)
        if (m->loops[i] == index)
            node->flags |= LS__NODE_LOOP;
    uint32_t level = node->flags & LS__NODE_LOOP ? m->used[index] : 0;
    for (uint32_t k = 0; k < ls__node_operand_count(op); k++)
        if (node->operands[k].index < index && g->nodes[node->operands[k].index].level > level)
            level = g->nodes[node->operands[k].index].level;
    node->level = level + 1;
    for (uint32_t k = 0; k < ls__node_operand_count(op); k++)
        if (node->operands[k].index > index && m->used[node->operands[k].index] < node->level)
            m->used[node->operands[k].index] = node->level;
    if (g->level_count <= node->level)
        g->level_count = node->level + 1;
    return (ls__node_id){index};
}

static ls__node_id unary(maker *m, ls__node_op op, uint8_t width, uint64_t imm, ls__node_id a)
{
    return add(m, op, width, imm, a, (ls__node_id){0}, (ls__node_id){0});
}

/* A node of this width: one that is there, or a conversion of one. Sometimes one that comes later.
 */
static ls__node_id pick(maker *m, uint8_t width)
{
    ls__graph *g = m->g;
    for (uint32_t i = 0; i < m->loop_count && below(m, 4) == 0; i++)
        if (m->loops[i] > g->node_count + 8 && m->loop_width[i] == width)
            return (ls__node_id){m->loops[i]};
    for (int tries = 0; tries < 12; tries++) {
        uint32_t recent = g->node_count < 60 || below(m, 3) ? 0 : g->node_count - 40;
        uint32_t n = recent + below(m, g->node_count - recent);
        if (g->nodes[n].width == width)
            return (ls__node_id){n};
    }
    for (;;) {
        ls__node_id a = {below(m, g->node_count)};
        uint8_t from = g->nodes[a.index].width;
        for (uint32_t i = 0; i < m->loop_count; i++) /* its place is kept */
            if (m->loops[i] == g->node_count)
                return (ls__node_id){width - 1u}; /* a constant of the width */
        if (from == width)
            return a;
        if (from > width)
            return unary(m, LS__NODE_SLICE, width, below(m, from - width + 1u), a);
        return unary(m, below(m, 2) ? LS__NODE_ZEXT : LS__NODE_SEXT, width, 0, a);
    }
}

static bool is_planned(maker *m)
{
    for (uint32_t i = 0; i < m->loop_count; i++)
        if (m->loops[i] == m->g->node_count)
            return true;
    return false;
}

static ls__node_id constant(maker *m, uint8_t width, uint64_t value)
{
    return unary(m, LS__NODE_CONST, width, value & ls__node_mask(width), (ls__node_id){0});
}

static ls__initial *add_initial(maker *m, ls__node_id node)
{
    ls__initial *i = &m->g->initials[m->g->initial_count++];
    uint64_t mask = ls__node_mask(m->g->nodes[node.index].width);
    *i = (ls__initial){node, ls__rng_u64(&m->rng) & mask,
                       below(m, 2) ? mask : ls__rng_u64(&m->rng) & mask};
    i->value &= i->known;
    return i;
}

/* An operation of any kind; a planned HOLD where its place is. */
static void add_any(maker *m)
{
    ls__graph *g = m->g;
    if (is_planned(m)) {
        uint32_t i = 0;
        while (m->loops[i] != g->node_count)
            i++;
        uint8_t w = (uint8_t)m->loop_width[i];
        /* Operands that are there already: no conversion may take the place. */
        ls__node_id ab[2] = {{w - 1u}, {w - 1u}};
        for (int k = 0; k < 2; k++)
            for (int tries = 0; tries < 40; tries++) {
                uint32_t n = below(m, g->node_count);
                if (g->nodes[n].width == w)
                    ab[k] = (ls__node_id){n};
            }
        ls__node_id hold = add(m, LS__NODE_HOLD, w, 0, ab[0], ab[1], (ls__node_id){0});
        add_initial(m, hold);
        return;
    }
    ls__node_op op = (ls__node_op)(LS__NODE_COPY + below(m, LS__NODE_OP_COUNT - LS__NODE_COPY));
    uint8_t w = any_width(m), v = any_width(m);
    ls__node_id z = {0};
    switch (op) {
    case LS__NODE_MUX: {
        ls__node_id a = pick(m, 1), b = pick(m, w), c = pick(m, w);
        if (!is_planned(m))
            add(m, op, w, 0, a, b, c);
        return;
    }
    case LS__NODE_MULHI:
        if (m->shape.only_bits)
            return;
        w = 64;
        break;
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SAR: {
        ls__node_id a = pick(m, w), b = pick(m, below(m, 3) ? (uint8_t)(below(m, 7) + 1) : v);
        if (m->shape.only_bits)
            b = pick(m, 1);
        if (!is_planned(m))
            add(m, op, w, 0, a, b, z);
        return;
    }
    case LS__NODE_EQ:
    case LS__NODE_NE:
    case LS__NODE_ULT:
    case LS__NODE_ULE:
    case LS__NODE_SLT:
    case LS__NODE_SLE: {
        ls__node_id a = pick(m, v), b = pick(m, v);
        if (!is_planned(m))
            add(m, op, 1, 0, a, b, z);
        return;
    }
    case LS__NODE_REDAND:
    case LS__NODE_REDOR:
    case LS__NODE_REDXOR: {
        ls__node_id a = pick(m, v);
        if (!is_planned(m))
            unary(m, op, 1, 0, a);
        return;
    }
    case LS__NODE_SLICE:
    case LS__NODE_ZEXT:
    case LS__NODE_SEXT:
        pick(m, w);
        return;
    case LS__NODE_CONCAT: {
        if (m->shape.only_bits)
            return;
        uint8_t low = (uint8_t)(below(m, 63) + 1), high = (uint8_t)(below(m, 64u - low) + 1);
        ls__node_id a = pick(m, low), b = pick(m, high);
        if (!is_planned(m))
            add(m, op, (uint8_t)(low + high), 0, a, b, z);
        return;
    }
    case LS__NODE_MEM: {
        if (!g->memory_count)
            return;
        uint32_t memory = below(m, g->memory_count);
        const ls__graph_memory *mem = &g->memories[memory];
        uint32_t limb = below(m, mem->limbs);
        ls__node_id a = pick(m, m->shape.only_bits ? 1 : (uint8_t)(3 + below(m, 4)));
        if (!is_planned(m))
            unary(m, op, (uint8_t)(limb + 1 < mem->limbs ? 64 : mem->width - 64 * (mem->limbs - 1)),
                  memory | (uint64_t)limb << 32, a);
        return;
    }
    default:
        break;
    }
    ls__node_id a = pick(m, w);
    ls__node_id b = ls__node_operand_count(op) > 1 ? pick(m, w) : z;
    if (is_planned(m))
        return;
    ls__node_id made = add(m, op, w, 0, a, b, z);
    if (op == LS__NODE_HOLD)
        add_initial(m, made);
}

/* A node that still has the value of before a step. */
static ls__node_id late(maker *m, uint8_t width)
{
    return unary(m, LS__NODE_COPY, width, 0, pick(m, width));
}

static ls__graph_signal *add_signal(maker *m, const char *name, ls__node_id node)
{
    ls__graph *g = m->g;
    ls__graph_signal *s = &g->signals[g->signal_count++];
    ls__piece *piece = LS__NEW(&g->arena, ls__piece);
    *piece = (ls__piece){node, 0, g->nodes[node.index].width};
    *s = (ls__graph_signal){.name = name, .pieces = piece, .piece_count = 1, .width = piece->width};
    return s;
}

static void add_sources(maker *m)
{
    ls__graph *g = m->g;
    for (uint8_t w = 1; w <= 64; w++)
        constant(m, w, ls__rng_u64(&m->rng));
    for (uint32_t i = 0; i < CLOCKS + DATA_INPUTS; i++) {
        ls__node_id node =
            unary(m, LS__NODE_INPUT, i < CLOCKS ? 1 : any_width(m), i, (ls__node_id){0});
        g->inputs[g->input_count++] = (ls__graph_input){node, g->signal_count, 0};
        add_signal(m, ls__arena_printf(&g->arena, "in%u", i), node)->direction =
            LS__DIRECTION_INPUT;
    }
    for (uint32_t i = 0; i < REGS; i++) {
        ls__node_id node = unary(m, LS__NODE_REG, i < 3 ? 1 : any_width(m), 0, (ls__node_id){0});
        add_initial(m, node);
        g->regs[g->reg_count++] = (ls__reg){node, {0}, 0};
    }
}

static void add_early(maker *m)
{
    ls__graph *g = m->g;
    uint32_t inputs = 64, regs = inputs + CLOCKS + DATA_INPUTS;
    ls__node_id reg = {m->shape.derived ? regs : inputs + 1u};
    ls__node_id clock = {inputs};
    ls__node_id gate = add(m, LS__NODE_AND, 1, 0, clock, reg, (ls__node_id){0});
    ls__node_id not = unary(m, LS__NODE_NOT, 1, 0, clock);
    ls__node_id latch = add(m, LS__NODE_HOLD, 1, 0, not, (ls__node_id){regs + 1}, (ls__node_id){0});
    add_initial(m, latch);
    ls__node_id gated = add(m, LS__NODE_AND, 1, 0, clock, latch, (ls__node_id){0});
    for (uint32_t n = gate.index; n < g->node_count; n++)
        g->nodes[n].flags |= LS__NODE_EARLY;
    g->early_end = g->node_count;
    g->has_derived = m->shape.derived;
    const ls__domain domains[] = {{clock, true},
                                  {clock, false},
                                  {{inputs + 1}, true},
                                  {m->shape.derived ? gated : gate, true},
                                  {m->shape.derived ? (ls__node_id){regs + 2} : gate, false}};
    for (uint32_t i = 0; i < 5; i++)
        g->domains[g->domain_count++] = domains[i];
    if (!m->shape.derived)
        g->nodes[latch.index].operands[1] = (ls__node_id){inputs + 1};
}

static void add_memories(maker *m)
{
    ls__graph *g = m->g;
    static const uint32_t shapes[MEMORIES][2] = {{70, 13}, {32, 8}};
    for (uint32_t i = 0; m->shape.memories && i < MEMORIES; i++) {
        uint32_t width = m->shape.only_bits ? 1 : shapes[i][0], depth = shapes[i][1];
        uint32_t limbs = (width + 63) / 64;
        uint64_t *init = LS__NEW_ARRAY(&g->arena, uint64_t, depth * limbs);
        uint64_t *known = LS__NEW_ARRAY(&g->arena, uint64_t, depth * limbs);
        for (uint32_t k = 0; k < depth * limbs; k++) {
            uint32_t limb = k % limbs;
            uint64_t mask = ls__node_mask((uint8_t)(limb + 1 < limbs ? 64 : width - limb * 64));
            init[k] = ls__rng_u64(&m->rng) & mask;
            known[k] = mask;
        }
        g->memories[g->memory_count++] = (ls__graph_memory){
            ls__arena_printf(&g->arena, "memory%u", i), width, depth, 0, limbs, init, known};
    }
}

/* What a step reads: values from before. */
static void add_clocked(maker *m)
{
    ls__graph *g = m->g;
    for (uint32_t i = 0; i < g->reg_count; i++) {
        g->regs[i].domain = below(m, g->domain_count);
        if (g->has_derived && i < 3)
            g->regs[i].domain = below(m, 2); /* no clock that makes itself */
        g->regs[i].next = late(m, g->nodes[g->regs[i].node.index].width);
    }
    for (uint32_t i = 0; i < g->memory_count * 2; i++) {
        const ls__graph_memory *mem = &g->memories[i / 2];
        ls__node_id *lists = LS__NEW_ARRAY(&g->arena, ls__node_id, (size_t)mem->limbs * 2);
        for (uint32_t k = 0; k < mem->limbs; k++) {
            uint8_t w = (uint8_t)(k + 1 < mem->limbs ? 64 : mem->width - k * 64);
            lists[k] = late(m, w);
            lists[mem->limbs + k] = late(m, w);
        }
        g->writes[g->write_count++] =
            (ls__graph_write){i / 2, below(m, g->domain_count), late(m, m->shape.only_bits ? 1 : 4),
                              lists, lists + mem->limbs};
    }
    for (uint32_t i = 0; m->shape.effects && i < 3; i++) {
        ls__node_id *arguments = LS__NEW_ARRAY(&g->arena, ls__node_id, 2);
        uint32_t *domains = LS__NEW_ARRAY(&g->arena, uint32_t, 2);
        arguments[0] = late(m, m->shape.only_bits ? 1 : 16);
        arguments[1] = late(m, m->shape.only_bits ? 1 : 33);
        domains[0] = 0;
        domains[1] = 2;
        uint32_t bits = g->nodes[arguments[0].index].width + g->nodes[arguments[1].index].width;
        g->effects[g->effect_count++] =
            (ls__graph_effect){.kind = i == 1 ? LS__EFFECT_ASSERT : LS__EFFECT_PRINT,
                               .domains = domains,
                               .domain_count = i < 2 ? 2 - i : 0,
                               .is_initial = i == 2 && below(m, 3) == 0,
                               .enable = late(m, 1),
                               .condition = late(m, 1),
                               .arguments = arguments,
                               .argument_count = 2,
                               .argument_bits = bits,
                               .format = "x",
                               .name = "effect",
                               .source = "random.v:1"};
    }
}

/* Two clocked latches: parts of a HOLD that a clock sets. */
static void add_clocked_holds(maker *m)
{
    ls__graph *g = m->g;
    uint32_t added = 0;
    for (uint32_t n = g->early_end; n < g->node_count && added < 2; n++)
        if (g->nodes[n].op == LS__NODE_HOLD) {
            g->regs[g->reg_count++] =
                (ls__reg){{n}, late(m, g->nodes[n].width), below(m, g->domain_count)};
            added++;
        }
}

static void add_signals(maker *m)
{
    ls__graph *g = m->g;
    for (uint32_t i = 0; i < 8; i++) {
        ls__graph_signal *s =
            add_signal(m, ls__arena_printf(&g->arena, "out%u", i),
                       (ls__node_id){g->node_count - 1 - below(m, g->node_count / 2)});
        s->direction = LS__DIRECTION_OUTPUT;
    }
    g->port_count = g->signal_count;
    /* All values in one wide signal, too: pieces at every place. */
    ls__piece *pieces = LS__NEW_ARRAY(&g->arena, ls__piece, g->node_count);
    uint32_t width = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        pieces[n] = (ls__piece){{n}, 0, g->nodes[n].width};
        width += g->nodes[n].width;
        if (g->nodes[n].op == LS__NODE_REG || g->nodes[n].op == LS__NODE_HOLD)
            add_signal(m, ls__arena_printf(&g->arena, "reg%u", n), (ls__node_id){n})->is_register =
                true;
    }
    ls__graph_signal *s = add_signal(m, "all", (ls__node_id){0});
    s->pieces = pieces;
    s->piece_count = g->node_count;
    s->width = width;
}

ls__graph *make_random_graph(uint64_t seed, graph_shape shape)
{
    static ls__oom oom;
    ls__graph *g = ls__mem_alloc(1, sizeof *g);
    assert_non_null(g);
    ls__arena_init(&g->arena, &oom, 0);
    maker m = {g, {seed}, shape, {0}, {0}, {0}, 0};
    ls__rng_u64(&m.rng);
    g->top = "random";
    g->nodes = LS__NEW_ARRAY(&g->arena, ls__node, MOST_NODES);
    g->inputs = LS__NEW_ARRAY(&g->arena, ls__graph_input, CLOCKS + DATA_INPUTS);
    g->regs = LS__NEW_ARRAY(&g->arena, ls__reg, REGS + 2);
    g->initials = LS__NEW_ARRAY(&g->arena, ls__initial, MOST_NODES);
    g->domains = LS__NEW_ARRAY(&g->arena, ls__domain, 8);
    g->memories = LS__NEW_ARRAY(&g->arena, ls__graph_memory, MEMORIES);
    g->writes = LS__NEW_ARRAY(&g->arena, ls__graph_write, MEMORIES * 2);
    g->effects = LS__NEW_ARRAY(&g->arena, ls__graph_effect, 3);
    g->signals = LS__NEW_ARRAY(&g->arena, ls__graph_signal, MOST_NODES);
    g->level_count = 1;
    add_sources(&m);
    add_early(&m);
    add_memories(&m);
    for (uint32_t i = 0; shape.loops && i < 3; i++) {
        m.loops[i] = g->node_count + 20 + i * (shape.nodes / 3) + below(&m, 10);
        m.loop_width[i] = any_width(&m);
        m.loop_count++;
    }
    uint32_t end = g->node_count + shape.nodes;
    for (uint32_t i = 0; i < m.loop_count; i++)
        end = end > m.loops[i] + 1 ? end : m.loops[i] + 1;
    while (g->node_count < end)
        add_any(&m);
    for (uint32_t i = 0; i < m.loop_count; i++)
        g->has_loops = g->has_loops || (g->nodes[m.loops[i]].flags & LS__NODE_LOOP);
    add_clocked(&m);
    add_clocked_holds(&m);
    add_signals(&m);
    memcpy(g->digest, &seed, sizeof seed);
    uint32_t at = 0;
    const char *wrong = ls__graph_verify(g, &at);
    if (wrong)
        fail_msg("seed %llu: node %u: %s", (unsigned long long)seed, at, wrong);
    return g;
}

/* --- model ------------------------------------------------------------------------------------ */

static uint64_t mask_of(const ls__graph *g, ls__node_id id)
{
    return ls__node_mask(g->nodes[id.index].width);
}

static void evaluate(model *m, uint32_t end)
{
    const ls__graph *g = m->graph;
    for (uint32_t n = 0; n < end; n++) {
        const ls__node *node = &g->nodes[n];
        uint64_t o[3] = {0};
        for (uint32_t k = 0; k < ls__node_operand_count(node->op); k++)
            o[k] = m->values[node->operands[k].index];
        if (node->op == LS__NODE_CONST)
            m->values[n] = node->imm;
        else if (node->op == LS__NODE_HOLD)
            m->values[n] = (m->values[n] & ~o[0]) | (o[1] & o[0]);
        else if (node->op == LS__NODE_MEM) {
            const ls__graph_memory *mem = &g->memories[(uint32_t)node->imm];
            m->values[n] =
                o[0] < mem->depth
                    ? m->memory[(uint32_t)node->imm][o[0] * mem->limbs + (node->imm >> 32)]
                    : 0;
        } else if (node->op != LS__NODE_INPUT && node->op != LS__NODE_REG)
            m->values[n] = ls__node_eval(node->op, node->width, node->imm, o[0], o[1], o[2],
                                         g->nodes[node->operands[0].index].width);
    }
}

void model_settle(model *m)
{
    const ls__graph *g = m->graph;
    uint64_t *before = calloc(g->node_count, sizeof *before);
    assert_non_null(before);
    for (int round = 0;; round++) {
        memcpy(before, m->values, g->node_count * sizeof *before);
        evaluate(m, g->node_count);
        bool changed = false;
        for (uint32_t n = 0; n < g->node_count; n++)
            if (g->nodes[n].flags & LS__NODE_LOOP && before[n] != m->values[n])
                changed = true;
        if (!changed)
            break;
        if (round == 100) {
            m->unsettled = true;
            break;
        }
    }
    free(before);
}

static void see(model *m)
{
    const ls__graph *g = m->graph;
    for (uint32_t d = 0; d < g->domain_count; d++)
        m->seen[d] = m->values[g->domains[d].clock.index];
}

static void remember_free(model *m, bool report)
{
    const ls__graph *g = m->graph;
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        if (e->domain_count)
            continue;
        uint64_t now[4] = {m->values[e->enable.index], m->values[e->enable.index],
                           m->values[e->arguments[0].index], m->values[e->arguments[1].index]};
        bool due = e->is_initial ? m->edge == 0 : memcmp(now, m->previous + 8 * i, sizeof now) != 0;
        if (report && due && now[0] && m->effect_count < 4096)
            m->effects[m->effect_count++] = (model_effect){i, m->edge, {now[2], now[3]}};
        memcpy(m->previous + 8 * i, now, sizeof now);
    }
}

model *model_create(const ls__graph *g)
{
    model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->graph = g;
    m->values = calloc(g->node_count + 1, 8);
    m->memory = calloc(g->memory_count + 1, sizeof *m->memory);
    m->seen = calloc(g->domain_count + 1, 8);
    m->previous = calloc(g->effect_count * 8 + 1, 8);
    for (uint32_t i = 0; i < g->memory_count; i++) {
        const ls__graph_memory *mem = &g->memories[i];
        m->memory[i] = calloc((size_t)mem->depth * mem->limbs, 8);
        for (uint32_t k = 0; mem->init && k < mem->depth * mem->limbs; k++)
            m->memory[i][k] = mem->init[k] & mem->init_known[k];
    }
    for (uint32_t i = 0; i < g->initial_count; i++)
        m->values[g->initials[i].node.index] = g->initials[i].value & g->initials[i].known;
    model_settle(m);
    see(m);
    remember_free(m, false);
    return m;
}

void model_destroy(model *m)
{
    for (uint32_t i = 0; i < m->graph->memory_count; i++)
        free(m->memory[i]);
    free(m->memory);
    free(m->values);
    free(m->seen);
    free(m->previous);
    free(m);
}

static bool commit(model *m)
{
    const ls__graph *g = m->graph;
    bool triggered[8] = {0}, any = false;
    for (uint32_t d = 0; d < g->domain_count; d++) {
        uint64_t now = m->values[g->domains[d].clock.index];
        triggered[d] = now != m->seen[d] && now == g->domains[d].rising;
        m->seen[d] = now;
        any = any || triggered[d];
    }
    for (uint32_t i = 0; i < g->write_count; i++) {
        const ls__graph_write *w = &g->writes[i];
        const ls__graph_memory *mem = &g->memories[w->memory];
        uint64_t at = m->values[w->address.index];
        for (uint32_t k = 0; triggered[w->domain] && at < mem->depth && k < mem->limbs; k++) {
            uint64_t mask = m->values[w->enables[k].index];
            uint64_t *word = &m->memory[w->memory][at * mem->limbs + k];
            *word = (*word & ~mask) | (m->values[w->data[k].index] & mask);
        }
    }
    for (uint32_t i = 0; i < g->effect_count; i++) {
        const ls__graph_effect *e = &g->effects[i];
        bool due = false;
        for (uint32_t k = 0; k < e->domain_count; k++)
            due = due || triggered[e->domains[k]];
        bool holds = m->values[e->enable.index] &&
                     (e->kind == LS__EFFECT_PRINT || !m->values[e->condition.index]);
        if (due && holds && m->effect_count < 4096)
            m->effects[m->effect_count++] = (model_effect){
                i, m->edge, {m->values[e->arguments[0].index], m->values[e->arguments[1].index]}};
    }
    for (uint32_t i = 0; i < g->reg_count; i++)
        if (triggered[g->regs[i].domain])
            m->values[g->regs[i].node.index] = m->values[g->regs[i].next.index];
    return any;
}

void model_step(model *m, const uint64_t *inputs, bool compat, uint64_t *observed)
{
    const ls__graph *g = m->graph;
    for (uint32_t i = 0; i < g->input_count; i++)
        m->values[g->inputs[i].node.index] = inputs[i] & mask_of(g, g->inputs[i].node);
    if (compat)
        model_settle(m);
    else
        evaluate(m, g->early_end);
    if (compat && observed)
        memcpy(observed, m->values, g->node_count * 8);
    bool any = commit(m);
    if (!compat || any)
        model_settle(m);
    for (int round = 0; g->has_derived && any && !m->unsettled; round++) {
        any = commit(m);
        if (any && round == 100)
            m->unsettled = true;
        if (any)
            model_settle(m);
    }
    if (!compat && observed)
        memcpy(observed, m->values, g->node_count * 8);
    remember_free(m, true);
    m->edge++;
}
