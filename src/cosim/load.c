/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to a design: read the netlist, elaborate it. */
#include "base/status.h"
#include "cosim/elaborate/elaborate.h"
#include "cosim/engine.h"

ls_status ls_design_load(const ls_design_params *params, ls_design **design, ls_error *error)
{
    if (design)
        *design = NULL;
    if (!params || !design || (!params->path && !params->text))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no netlist is given");
    if (params->struct_size < sizeof(size_t) + 4 * sizeof(void *))
        return ls__fail(error, LS_E_VERSION, "struct_size of ls_design_params is not set");
    ls__netlist_params reading = {.path = params->path,
                                  .text = params->text,
                                  .length = params->length,
                                  .top = params->top,
                                  .warn = params->warn,
                                  .context = params->context};
    ls__netlist *netlist = NULL;
    ls_status status = ls__netlist_read(&reading, &netlist, error);
    if (status != LS_OK)
        return status;
    ls__elaborate_params elaboration = {params->warn, params->context};
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
