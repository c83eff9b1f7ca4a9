/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to a design: read the netlist, elaborate it. */
#include "base/params.h"
#include "base/status.h"
#include "cosim/elaborate/elaborate.h"
#include "cosim/engine.h"

ls_status ls_design_load(const ls_design_params *params, ls_design **design, ls_error *error)
{
    ls_design_params given;
    if (design)
        *design = NULL;
    if (!design)
        return ls__fail_no_result(error, "ls_design_load");
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_design_load", error);
    if (status != LS_OK)
        return status;
    if (!given.path && !given.text)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no netlist is given");
    ls__netlist_params reading = {.path = given.path,
                                  .text = given.text,
                                  .length = given.length,
                                  .top = given.top,
                                  .warn = given.warn,
                                  .context = given.context};
    ls__netlist *netlist = NULL;
    status = ls__netlist_read(&reading, &netlist, error);
    if (status != LS_OK)
        return status;
    ls__elaborate_params elaboration = {given.warn, given.context};
    ls__graph *graph = NULL;
    status = ls__elaborate(netlist, &elaboration, &graph, error);
    ls__netlist_destroy(&netlist);
    if (status != LS_OK)
        return status;
    status = ls__design_from_graph(graph, design, error);
    if (status != LS_OK)
        ls__graph_destroy(&graph);
    return status;
}
