/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as text, for people who look for a fault in elaboration. */
#include <inttypes.h>

#include "cosim/graph.h"

static void dump_node(const ls__graph *graph, uint32_t index, ls__strbuf *text)
{
    const ls__node *node = &graph->nodes[index];
    ls__node_op op = (ls__node_op)node->op;
    ls__strbuf_printf(text, "%%%" PRIu32 ":%u = %s", index, node->width, ls__node_op_name(op));
    for (uint32_t i = 0; i < ls__node_operand_count(op); i++)
        ls__strbuf_printf(text, " %%%" PRIu32, node->operands[i].index);
    if (op == LS__NODE_CONST || op == LS__NODE_INPUT || op == LS__NODE_SLICE || op == LS__NODE_MEM)
        ls__strbuf_printf(text, " 0x%" PRIx64, node->imm);
    ls__strbuf_printf(text, "  level %" PRIu32 "%s%s\n", node->level,
                      node->flags & LS__NODE_EARLY ? " early" : "",
                      node->flags & LS__NODE_LOOP ? " loop" : "");
}

static void dump_clocked(const ls__graph *graph, ls__strbuf *text)
{
    for (uint32_t i = 0; i < graph->domain_count; i++)
        ls__strbuf_printf(text, "domain %" PRIu32 ": %s %%%" PRIu32 "\n", i,
                          graph->domains[i].rising ? "rising" : "falling",
                          graph->domains[i].clock.index);
    for (uint32_t i = 0; i < graph->reg_count; i++)
        ls__strbuf_printf(text, "domain %" PRIu32 ": %%%" PRIu32 " takes %%%" PRIu32 "\n",
                          graph->regs[i].domain, graph->regs[i].node.index,
                          graph->regs[i].next.index);
    for (uint32_t i = 0; i < graph->initial_count; i++)
        ls__strbuf_printf(text, "initially %%%" PRIu32 " = 0x%" PRIx64 " of 0x%" PRIx64 "\n",
                          graph->initials[i].node.index, graph->initials[i].value,
                          graph->initials[i].known);
    for (uint32_t i = 0; i < graph->memory_count; i++)
        ls__strbuf_printf(text, "memory %" PRIu32 ": %s, %" PRIu32 " x %" PRIu32 "\n", i,
                          graph->memories[i].name, graph->memories[i].depth,
                          graph->memories[i].width);
    for (uint32_t i = 0; i < graph->write_count; i++) {
        const ls__graph_write *write = &graph->writes[i];
        ls__strbuf_printf(text, "domain %" PRIu32 ": memory %" PRIu32 " at %%%" PRIu32,
                          write->domain, write->memory, write->address.index);
        for (uint32_t k = 0; k < graph->memories[write->memory].limbs; k++)
            ls__strbuf_printf(text, " takes %%%" PRIu32 " where %%%" PRIu32, write->data[k].index,
                              write->enables[k].index);
        ls__strbuf_append(text, "\n", 1);
    }
}

void ls__graph_dump(const ls__graph *graph, ls__strbuf *text)
{
    for (uint32_t i = 0; i < graph->node_count; i++)
        dump_node(graph, i, text);
    dump_clocked(graph, text);
    for (uint32_t i = 0; i < graph->effect_count; i++) {
        const ls__graph_effect *effect = &graph->effects[i];
        ls__strbuf_printf(text, "effect %s: enable %%%" PRIu32 " condition %%%" PRIu32,
                          effect->name, effect->enable.index, effect->condition.index);
        for (uint32_t k = 0; k < effect->domain_count; k++)
            ls__strbuf_printf(text, " domain %" PRIu32, effect->domains[k]);
        if (effect->is_initial)
            ls__strbuf_append(text, " initial", 8);
        for (uint32_t k = 0; k < effect->argument_count; k++)
            ls__strbuf_printf(text, " %%%" PRIu32, effect->arguments[k].index);
        ls__strbuf_append(text, "\n", 1);
    }
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const ls__graph_signal *signal = &graph->signals[i];
        ls__strbuf_printf(text, "signal %s:%" PRIu32 " =", signal->name, signal->width);
        for (uint32_t k = 0; k < signal->piece_count; k++)
            ls__strbuf_printf(text, " %%%" PRIu32 "[%u+:%u]", signal->pieces[k].node.index,
                              signal->pieces[k].lsb, signal->pieces[k].width);
        ls__strbuf_append(text, "\n", 1);
    }
}
