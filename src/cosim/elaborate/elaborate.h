/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a flat netlist to the netlist program: cells become nodes of at most 64 bits with two-valued
 * rules (docs/cosim.md), what is constant is folded, equal nodes are one, nodes are put in order,
 * clocks are found, and combinational loops are refused as a path. Every named signal keeps its
 * nodes; what a run does not need it leaves out itself.
 */
#ifndef LS_COSIM_ELABORATE_H
#define LS_COSIM_ELABORATE_H

#include "cosim/graph.h"
#include "netlist/netlist.h"

typedef struct ls__elaborate_params {
    void (*warn)(void *context, const char *message);
    void *context;
} ls__elaborate_params;

/* The netlist may be destroyed afterwards. LS_E_UNSUPPORTED: combinational loops, clockless memory
 * writes, internal tri-states, each by name. Time and memory grow linearly with the netlist. */
ls_status ls__elaborate(const ls__netlist *netlist, const ls__elaborate_params *params,
                        ls__graph **graph, ls_error *error);

#endif
