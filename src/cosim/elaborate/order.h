/* SPDX-License-Identifier: Apache-2.0 */
/* The last part of elaboration: from nodes as they were made to the order of graph.h. */
#ifndef LS_COSIM_ELABORATE_ORDER_H
#define LS_COSIM_ELABORATE_ORDER_H

#include "cosim/elaborate/build.h"

/* Makes the graph's nodes out of the builder's, and renumbers what the graph says of them: its
 * other arrays have the builder's numbers before. */
void ls__graph_order(ls__graph *graph, ls__builder *builder, ls__arena *scratch);

/* loops.c: marks HOLD nodes LOOP so that every cycle has one; whether there are any. */
bool ls__graph_break_loops(ls__builder *builder, ls__arena *scratch);

#endif
