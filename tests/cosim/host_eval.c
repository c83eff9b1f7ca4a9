/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h, "One step", as written there. */
#include "host_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t operand(const host_eval *run, const ls__node *node, uint32_t i)
{
    return run->values[node->operands[i].index];
}

/* Whether the value changed. */
static bool evaluate(host_eval *run, uint32_t index)
{
    const ls__graph *graph = run->graph;
    const ls__node *node = &graph->nodes[index];
    uint64_t value = run->values[index], before = value;
    switch ((ls__node_op)node->op) {
    case LS__NODE_CONST:
        value = node->imm;
        break;
    case LS__NODE_INPUT:
    case LS__NODE_REG:
        break;
    case LS__NODE_HOLD: {
        uint64_t mask = operand(run, node, 0);
        value = (value & ~mask) | (operand(run, node, 1) & mask);
        break;
    }
    case LS__NODE_MEM: {
        const ls__graph_memory *memory = &graph->memories[node->imm & UINT32_MAX];
        uint64_t word = operand(run, node, 0);
        value = 0;
        if (word < memory->depth)
            value = run->memories[node->imm & UINT32_MAX][word * memory->limbs + (node->imm >> 32)];
        value &= ls__node_mask(node->width);
        break;
    }
    default: {
        uint64_t operands[3] = {0};
        uint32_t count = ls__node_operand_count((ls__node_op)node->op);
        for (uint32_t i = 0; i < count; i++)
            operands[i] = operand(run, node, i);
        value =
            ls__node_eval((ls__node_op)node->op, node->width, node->imm, operands[0], operands[1],
                          operands[2], count ? graph->nodes[node->operands[0].index].width : 0);
    }
    }
    run->values[index] = value;
    return value != before;
}

/* Whether a LOOP node changed. */
static bool sweep(host_eval *run, bool early_only)
{
    const ls__graph *graph = run->graph;
    bool changed = false;
    for (uint32_t level = 0; level < (run->by_level ? graph->level_count : 1); level++) {
        /* Within a level the order must not matter: backwards. */
        for (uint32_t k = 0; k < graph->node_count; k++) {
            uint32_t i = run->by_level ? graph->node_count - 1 - k : k;
            const ls__node *node = &graph->nodes[i];
            if ((early_only && !(node->flags & LS__NODE_EARLY)) ||
                (run->by_level && node->level != level))
                continue;
            changed |= evaluate(run, i) && (node->flags & LS__NODE_LOOP);
        }
    }
    return changed;
}

static bool settle(host_eval *run, bool early_only)
{
    for (uint32_t i = 0; i < 100; i++) {
        if (!sweep(run, early_only))
            return true;
    }
    return false;
}

static void write_memory(host_eval *run, const ls__graph_write *write)
{
    const ls__graph_memory *memory = &run->graph->memories[write->memory];
    uint64_t address = run->values[write->address.index];
    if (address >= memory->depth)
        return;
    for (uint32_t k = 0; k < memory->limbs; k++) {
        uint64_t *word = &run->memories[write->memory][address * memory->limbs + k];
        uint64_t mask = run->values[write->enables[k].index];
        *word = (*word & ~mask) | (run->values[write->data[k].index] & mask);
    }
}

/* Step 3. Whether a clock had changed. */
static bool commit(host_eval *run)
{
    const ls__graph *graph = run->graph;
    uint8_t *triggered = calloc(graph->domain_count + 1, 1);
    bool any = false;
    for (uint32_t i = 0; i < graph->domain_count; i++) {
        uint8_t now = (uint8_t)run->values[graph->domains[i].clock.index];
        any |= now != run->seen[i];
        triggered[i] = now != run->seen[i] && now == graph->domains[i].rising;
        run->seen[i] = now;
    }
    for (uint32_t i = 0; i < graph->reg_count; i++)
        run->taken[i] = run->values[graph->regs[i].next.index];
    for (uint32_t i = 0; i < graph->write_count; i++) {
        if (triggered[graph->writes[i].domain])
            write_memory(run, &graph->writes[i]);
    }
    for (uint32_t i = 0; i < graph->effect_count; i++) {
        const ls__graph_effect *effect = &graph->effects[i];
        bool now = false;
        for (uint32_t k = 0; k < effect->domain_count; k++)
            now |= triggered[effect->domains[k]];
        bool is_print = effect->kind == 0;
        run->happened[i] += now && run->values[effect->enable.index] &&
                            (is_print || !run->values[effect->condition.index]);
    }
    for (uint32_t i = 0; i < graph->reg_count; i++) {
        if (triggered[graph->regs[i].domain])
            run->values[graph->regs[i].node.index] = run->taken[i];
    }
    free(triggered);
    return any;
}

bool host_eval_step(host_eval *run)
{
    if (!settle(run, true))
        return false;
    for (run->rounds = 0; run->rounds < 100; run->rounds++) {
        bool changed = commit(run);
        if (run->rounds && !changed)
            return true;
        if (!settle(run, false))
            return false;
        if (!run->graph->has_derived)
            return true;
    }
    return false;
}

bool host_eval_settle(host_eval *run)
{
    bool settled = settle(run, false);
    for (uint32_t i = 0; i < run->graph->domain_count; i++)
        run->seen[i] = (uint8_t)run->values[run->graph->domains[i].clock.index];
    return settled;
}

host_eval *host_eval_create(const ls__graph *graph, bool by_level)
{
    host_eval *run = calloc(1, sizeof *run);
    run->graph = graph;
    run->by_level = by_level;
    run->values = calloc(graph->node_count + 1, sizeof *run->values);
    run->memories = calloc(graph->memory_count + 1, sizeof *run->memories);
    run->seen = calloc(graph->domain_count + 1, 1);
    run->taken = calloc(graph->reg_count + 1, sizeof *run->taken);
    run->happened = calloc(graph->effect_count + 1, sizeof *run->happened);
    for (uint32_t i = 0; i < graph->initial_count; i++)
        run->values[graph->initials[i].node.index] = graph->initials[i].value;
    for (uint32_t i = 0; i < graph->memory_count; i++) {
        const ls__graph_memory *memory = &graph->memories[i];
        size_t words = (size_t)memory->depth * memory->limbs;
        run->memories[i] = calloc(words + 1, sizeof(uint64_t));
        if (memory->init)
            memcpy(run->memories[i], memory->init, words * sizeof(uint64_t));
    }
    if (!host_eval_settle(run))
        host_eval_destroy(&run);
    return run;
}

void host_eval_destroy(host_eval **run)
{
    if (!*run)
        return;
    for (uint32_t i = 0; i < (*run)->graph->memory_count; i++)
        free((*run)->memories[i]);
    free((*run)->memories);
    free((*run)->values);
    free((*run)->seen);
    free((*run)->taken);
    free((*run)->happened);
    free(*run);
    *run = NULL;
}

const ls__graph_signal *host_eval_signal(const ls__graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        if (strcmp(graph->signals[i].name, name) == 0)
            return &graph->signals[i];
    }
    fprintf(stderr, "no signal %s\n", name);
    abort();
}

void host_eval_set(host_eval *run, const char *name, const uint64_t *value)
{
    const ls__graph_signal *signal = host_eval_signal(run->graph, name);
    for (uint32_t i = 0; i < run->graph->input_count; i++) {
        const ls__graph_input *input = &run->graph->inputs[i];
        if (&run->graph->signals[input->signal] == signal)
            run->values[input->node.index] =
                value[input->lsb / 64] & ls__node_mask(run->graph->nodes[input->node.index].width);
    }
}

void host_eval_get(const host_eval *run, const char *name, uint64_t *value)
{
    host_eval_get_signal(run, host_eval_signal(run->graph, name), value);
}

void host_eval_get_signal(const host_eval *run, const ls__graph_signal *signal, uint64_t *value)
{
    memset(value, 0, (signal->width + 63) / 64 * sizeof *value);
    uint32_t at = 0;
    for (uint32_t i = 0; i < signal->piece_count; i++) {
        const ls__piece *piece = &signal->pieces[i];
        for (uint32_t k = 0; k < piece->width; k++, at++)
            value[at / 64] |= (run->values[piece->node.index] >> (piece->lsb + k) & 1) << at % 64;
    }
}

void host_eval_set64(host_eval *run, const char *name, uint64_t value)
{
    const uint64_t words[64] = {value};
    host_eval_set(run, name, words);
}

uint64_t host_eval_get64(const host_eval *run, const char *name)
{
    uint64_t value = 0;
    host_eval_get(run, name, &value);
    return value;
}
