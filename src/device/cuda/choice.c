/* SPDX-License-Identifier: Apache-2.0 */
/* See choice.h. */
#include "device/cuda/choice.h"

bool ls__cuda_chooses_graph(const ls__cuda_choice *choice)
{
    const ls__cuda_way *graph = &choice->graph, *plain = &choice->plain;
    if (graph->tries < LS__CUDA_TRIES || plain->tries < LS__CUDA_TRIES)
        return graph->tries <= plain->tries;
    return graph->least_ns <= plain->least_ns;
}

void ls__cuda_way_took(ls__cuda_way *way, uint64_t ns)
{
    if (way->tries == LS__CUDA_TRIES)
        return;
    if (way->tries == 0 || ns < way->least_ns)
        way->least_ns = ns;
    way->tries++;
}
