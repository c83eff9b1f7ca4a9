/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a node that the device does not keep, from values that it does. */
#ifndef LS_COSIM_VALUE_H
#define LS_COSIM_VALUE_H

#include "cosim/graph.h"

typedef struct ls__value_source {
    bool (*is_kept)(void *context, ls__node_id node);
    ls_status (*read)(void *context, ls__node_id node, uint64_t *value, ls_error *error);
    ls_status (*read_memory)(void *context, uint32_t memory, uint32_t limb, uint64_t word,
                             uint64_t *value, ls_error *error);
    void *context;
} ls__value_source;

ls_status ls__value_find(const ls__graph *graph, const ls__value_source *source, ls__node_id node,
                         uint64_t *value, ls_error *error);

#endif
