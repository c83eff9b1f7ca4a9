/* SPDX-License-Identifier: Apache-2.0 */
/* Which inputs are clocks, and at which edges: from the clocks of the domains back to the inputs,
 * turned around by each inversion. */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "cosim/engine.h"

enum { BOTH = LS_CLOCK_RISING | LS_CLOCK_FALLING };

static uint8_t turned(uint8_t edges)
{
    return (uint8_t)((edges & LS_CLOCK_RISING ? LS_CLOCK_FALLING : 0) |
                     (edges & LS_CLOCK_FALLING ? LS_CLOCK_RISING : 0));
}

/* The edges of an operand that can make `edges` of the node. */
static uint8_t edges_of_operand(ls__node_op op, uint32_t operand, uint8_t edges)
{
    switch (op) {
    case LS__NODE_NOT:
        return turned(edges);
    case LS__NODE_ANDN:
        return operand == 0 ? edges : turned(edges);
    case LS__NODE_MUX:
        return operand == 0 ? BOTH : edges;
    case LS__NODE_COPY:
    case LS__NODE_AND:
    case LS__NODE_OR:
    case LS__NODE_REDAND:
    case LS__NODE_REDOR:
    case LS__NODE_SLICE:
    case LS__NODE_CONCAT:
    case LS__NODE_ZEXT:
    case LS__NODE_SEXT:
        return edges;
    default:
        return BOTH;
    }
}

static void spread(const ls__graph *g, uint8_t *edges)
{
    for (uint32_t i = 0; i < g->domain_count; i++)
        edges[g->domains[i].clock.index] |=
            g->domains[i].rising ? LS_CLOCK_RISING : LS_CLOCK_FALLING;
    for (uint32_t i = g->node_count; i-- > 0;) {
        ls__node_op op = (ls__node_op)g->nodes[i].op;
        if (!edges[i] || op == LS__NODE_REG || op == LS__NODE_HOLD || op == LS__NODE_MEM)
            continue;
        for (uint32_t k = 0; k < ls__node_operand_count(op); k++)
            edges[g->nodes[i].operands[k].index] |= edges_of_operand(op, k, edges[i]);
    }
}

ls_status ls_design_clocks(const ls_design *design, uint8_t *edges, ls_error *error)
{
    if (!design || !edges)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design or edges is NULL");
    const ls__graph *g = design->graph;
    uint8_t *of_node = ls__mem_alloc(g->node_count, 1);
    if (!of_node)
        return ls__fail_oom(error, g->node_count);
    spread(g, of_node);
    memset(edges, 0, g->port_count);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (g->inputs[i].signal < g->port_count)
            edges[g->inputs[i].signal] |= of_node[g->inputs[i].node.index];
    ls__mem_free(of_node);
    return LS_OK;
}
