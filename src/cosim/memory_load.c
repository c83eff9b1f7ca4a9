/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to a memory of a run: the file's words, written as they come. */
#include "base/status.h"
#include "cosim/engine.h"
#include "netlist/image.h"

typedef struct target {
    ls_cosim *cosim;
    uint32_t instance, memory;
} target;

static ls_status put(void *context, uint32_t first, uint32_t count, const uint64_t *words,
                     ls_error *error)
{
    const target *t = context;
    return ls_cosim_memory_write(t->cosim, t->instance, t->memory, first, count, words, error);
}

ls_status ls_cosim_memory_load(ls_cosim *cosim, uint32_t instance, uint32_t memory,
                               const ls_image_params *params, ls_error *error)
{
    target t = {cosim, instance, memory};
    if (!cosim || !params || !params->path)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no file is given");
    if (memory >= cosim->graph->memory_count)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no memory %u", memory);
    const ls__graph_memory *m = &cosim->graph->memories[memory];
    ls__image_memory image = {m->name, m->width, m->depth, m->start};
    return ls__image_words(params, &image, put, &t, error);
}
