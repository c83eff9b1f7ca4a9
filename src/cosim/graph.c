/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of graph.h as a check, and the end of a graph. */
#include "cosim/graph.h"

#include "base/mem.h"

void ls__graph_destroy(ls__graph **graph)
{
    if (!graph || !*graph)
        return;
    ls__arena_finish(&(*graph)->arena);
    ls__mem_free(*graph);
    *graph = NULL;
}

static bool is_source(const ls__node *node)
{
    return node->op == LS__NODE_CONST || node->op == LS__NODE_INPUT || node->op == LS__NODE_REG;
}

/* Widths of node and operands: NULL or what is wrong. */
static const char *check_widths(const ls__node *node, const ls__node *const *operands)
{
    uint32_t w = node->width, a = operands[0] ? operands[0]->width : 0;
    uint32_t b = operands[1] ? operands[1]->width : 0, c = operands[2] ? operands[2]->width : 0;
    switch ((ls__node_op)node->op) {
    case LS__NODE_CONST:
        return node->imm & ~ls__node_mask(node->width) ? "a constant beyond its width" : NULL;
    case LS__NODE_INPUT:
    case LS__NODE_REG:
    case LS__NODE_MEM:
        return NULL;
    case LS__NODE_COPY:
    case LS__NODE_NOT:
        return a == w ? NULL : "the operand has another width";
    case LS__NODE_MULHI:
        if (w != 64)
            return "MULHI is of width 64";
        return a == w && b == w ? NULL : "an operand has another width";
    case LS__NODE_HOLD:
    case LS__NODE_AND:
    case LS__NODE_OR:
    case LS__NODE_XOR:
    case LS__NODE_ANDN:
    case LS__NODE_ADD:
    case LS__NODE_SUB:
    case LS__NODE_MUL:
    case LS__NODE_UDIV:
    case LS__NODE_UMOD:
        return a == w && b == w ? NULL : "an operand has another width";
    case LS__NODE_MUX:
        return a == 1 && b == w && c == w ? NULL : "an operand has another width";
    case LS__NODE_SHL:
    case LS__NODE_SHR:
    case LS__NODE_SAR:
        return a == w ? NULL : "the operand has another width";
    case LS__NODE_EQ:
    case LS__NODE_NE:
    case LS__NODE_ULT:
    case LS__NODE_ULE:
    case LS__NODE_SLT:
    case LS__NODE_SLE:
        return w == 1 && a == b ? NULL : "a comparison has 1 bit and operands of one width";
    case LS__NODE_REDAND:
    case LS__NODE_REDOR:
    case LS__NODE_REDXOR:
        return w == 1 ? NULL : "a reduction has 1 bit";
    case LS__NODE_SLICE:
        return node->imm <= a && w <= a - node->imm ? NULL : "a slice beyond its operand";
    case LS__NODE_CONCAT:
        return a + b == w ? NULL : "the width is not the sum of the parts";
    case LS__NODE_ZEXT:
    case LS__NODE_SEXT:
        return a < w ? NULL : "the operand is not narrower";
    case LS__NODE_OP_COUNT:
        break;
    }
    return "unknown operation";
}

static const char *check_node(const ls__graph *graph, uint32_t index)
{
    const ls__node *node = &graph->nodes[index];
    if (node->op >= LS__NODE_OP_COUNT)
        return "unknown operation";
    if (node->width < 1 || node->width > 64)
        return "a width outside 1 to 64";
    if ((node->flags & LS__NODE_LOOP) && node->op != LS__NODE_HOLD)
        return "LOOP on a node that is no HOLD";
    if (is_source(node))
        return node->level ? "a source above level 0"
                           : check_widths(node, (const ls__node *[3]){0});
    bool early = node->flags & LS__NODE_EARLY;
    if (early != (index < graph->early_end))
        return "EARLY nodes and others are mixed";
    const ls__node *operands[3] = {0};
    for (uint32_t i = 0; i < ls__node_operand_count((ls__node_op)node->op); i++) {
        uint32_t o = node->operands[i].index;
        if (o >= graph->node_count)
            return "an operand that is not there";
        operands[i] = &graph->nodes[o];
        if (early && !is_source(operands[i]) && !(operands[i]->flags & LS__NODE_EARLY))
            return "an EARLY node depends on one that is not";
        if (is_source(operands[i]) || o == index)
            continue;
        if (o > index && !(operands[i]->flags & LS__NODE_LOOP))
            return "an operand comes after its user";
        if (o < index ? operands[i]->level >= node->level : operands[i]->level <= node->level)
            return "levels do not follow the order";
    }
    if (node->op == LS__NODE_MEM) {
        uint64_t memory = node->imm & UINT32_MAX;
        if (memory >= graph->memory_count)
            return "a memory that is not there";
        const ls__graph_memory *m = &graph->memories[memory];
        uint64_t limb = node->imm >> 32;
        if (limb >= m->limbs ||
            node->width != (limb + 1 < m->limbs ? 64 : m->width - 64 * (m->limbs - 1)))
            return "a limb of a memory that is not there, or of another width";
    }
    if (node->level >= graph->level_count)
        return "a level beyond level_count";
    return check_widths(node, operands);
}

/* Whether step 3 may read it: its value is from before the step. */
static bool is_late(const ls__graph *graph, ls__node_id id)
{
    if (id.index >= graph->node_count)
        return false;
    const ls__node *node = &graph->nodes[id.index];
    return node->op == LS__NODE_CONST ||
           (!is_source(node) && node->op != LS__NODE_HOLD && !(node->flags & LS__NODE_EARLY));
}

static const char *check_step(const ls__graph *graph)
{
    for (uint32_t i = 0; i < graph->domain_count; i++) {
        uint32_t clock = graph->domains[i].clock.index;
        if (clock >= graph->node_count || graph->nodes[clock].width != 1)
            return "a clock that is not there or no bit";
        const ls__node *node = &graph->nodes[clock];
        if (!is_source(node) && !(node->flags & LS__NODE_EARLY))
            return "a clock that is not EARLY";
    }
    for (uint32_t i = 0; i < graph->reg_count; i++) {
        const ls__reg *reg = &graph->regs[i];
        if (reg->node.index >= graph->node_count || reg->domain >= graph->domain_count)
            return "a register's node or domain is not there";
        const ls__node *node = &graph->nodes[reg->node.index];
        if (node->op != LS__NODE_REG && node->op != LS__NODE_HOLD)
            return "a register that is neither REG nor HOLD";
        if (!is_late(graph, reg->next))
            return "a register's next is not of before the step";
        if (graph->nodes[reg->next.index].width != node->width)
            return "a register's next has another width";
    }
    for (uint32_t i = 0; i < graph->write_count; i++) {
        const ls__graph_write *write = &graph->writes[i];
        if (write->memory >= graph->memory_count || write->domain >= graph->domain_count)
            return "a write port's memory or domain is not there";
        bool late = is_late(graph, write->address);
        for (uint32_t k = 0; k < graph->memories[write->memory].limbs; k++)
            late = late && is_late(graph, write->enables[k]) && is_late(graph, write->data[k]);
        if (!late)
            return "what a write port reads is not of before the step";
    }
    for (uint32_t i = 0; i < graph->effect_count; i++) {
        const ls__graph_effect *effect = &graph->effects[i];
        bool late = is_late(graph, effect->enable) && is_late(graph, effect->condition);
        for (uint32_t k = 0; k < effect->argument_count; k++)
            late = late && is_late(graph, effect->arguments[k]);
        if (effect->domain_count && !late)
            return "what an effect reads is not of before the step";
    }
    return NULL;
}

static const char *check_signals(const ls__graph *graph)
{
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const ls__graph_signal *signal = &graph->signals[i];
        uint32_t width = 0;
        for (uint32_t k = 0; k < signal->piece_count; k++) {
            const ls__piece *piece = &signal->pieces[k];
            if (piece->node.index >= graph->node_count || !piece->width ||
                piece->lsb + piece->width > graph->nodes[piece->node.index].width)
                return "a signal's piece beyond its node";
            width += piece->width;
        }
        if (width != signal->width)
            return "a signal's pieces are not its width";
    }
    for (uint32_t i = 0; i < graph->input_count; i++) {
        const ls__graph_input *input = &graph->inputs[i];
        if (input->node.index >= graph->node_count ||
            graph->nodes[input->node.index].op != LS__NODE_INPUT ||
            graph->nodes[input->node.index].imm != i || input->signal >= graph->signal_count)
            return "an input that is no INPUT node";
    }
    return NULL;
}

const char *ls__graph_verify(const ls__graph *graph, uint32_t *node)
{
    uint32_t stateful = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const char *fault = check_node(graph, i);
        if (node)
            *node = i;
        if (fault)
            return fault;
        stateful += graph->nodes[i].op == LS__NODE_REG || graph->nodes[i].op == LS__NODE_HOLD;
    }
    if (stateful != graph->initial_count)
        return "not one initial value for each REG and HOLD node";
    for (uint32_t i = 0; i < graph->initial_count; i++) {
        const ls__initial *initial = &graph->initials[i];
        if (initial->node.index >= graph->node_count || (initial->value & ~initial->known))
            return "an initial value of no node, or with bits that are not known";
    }
    const char *fault = check_step(graph);
    return fault ? fault : check_signals(graph);
}
