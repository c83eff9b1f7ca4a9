/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a form to a program, and making it the one that runs. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/source_text.h"
#include "base/status.h"
#include "cosim/engine.h"

extern const ls__source_text ls__cosim_kernels[];
extern const uint32_t ls__cosim_kernels_count;

static const char own[] = "lockstep:";

static bool include(void *context, const char *path, char **text, size_t *length)
{
    if (strncmp(path, own, sizeof own - 1) != 0)
        return ls__peripherals_include(context, path, text, length);
    for (uint32_t i = 0; i < ls__cosim_kernels_count; i++) {
        const ls__source_text *source = &ls__cosim_kernels[i];
        if (strcmp(source->name, path + sizeof own - 1) != 0)
            continue;
        *text = malloc(source->length + 1);
        if (!*text)
            return false;
        memcpy(*text, source->text, source->length + 1);
        *length = source->length;
        return true;
    }
    return false;
}

ls_status ls__form_build(const ls_cosim *cosim, ls_cosim_form kind, uint32_t lanes,
                         ls__form_builder *build, ls__form **out, ls_error *error)
{
    *out = NULL;
    ls__form *form = ls__mem_alloc(1, sizeof *form);
    if (!form)
        return ls__fail_oom(error, sizeof *form);
    form->kind = kind;
    form->lanes = lanes;
    form->workgroups = 1;
    form->places = ls__mem_alloc(cosim->graph->node_count + 1, sizeof *form->places);
    ls__oom oom;
    ls__arena arena;
    ls__strbuf text = {0};
    ls__arena_init(&arena, &oom, 0);
    if (!form->places || setjmp(oom.jump)) {
        ls__arena_finish(&arena);
        ls__form_destroy(&form);
        return ls__fail_oom(error, 0);
    }
    ls_status status = build(cosim, form, &arena, &text, error);
    ls__arena_finish(&arena);
    form->text = text.text;
    form->text_length = text.length;
    if (status == LS_OK && text.failed)
        status = ls__fail_oom(error, text.length);
    if (status != LS_OK)
        ls__form_destroy(&form);
    *out = form;
    return status;
}

ls_status ls__form_compile(const ls_cosim *cosim, ls__form *form, const _Atomic bool *given_up,
                           ls_error *error)
{
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = form->text;
    compile.length = form->text_length;
    compile.path = ls__peripherals_path;
    compile.include = include;
    compile.cache_path = ls_device_cache_path(cosim->device);
    ls_module *module = NULL;
    ls_status status = ls_module_compile(&compile, &module, NULL, error);
    if (status == LS_OK && given_up && atomic_load(given_up))
        status = ls__fail(error, LS_E_CANCELLED, "the form is not needed any more");
    if (status != LS_OK) {
        ls_module_destroy(&module);
        return status;
    }
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    bool is_quick = cosim->params.tier != LS_COSIM_TIER_OPTIMIZED;
    params.tier = is_quick ? LS_TIER_QUICK : LS_TIER_OPTIMIZED;
    status = ls_program_create(cosim->device, module, &params, &form->program, error);
    ls_module_destroy(&module);
    if (status == LS_OK)
        status = ls_program_kernel(form->program, "run", &form->kernel, error);
    return status;
}

void ls__form_destroy(ls__form **form)
{
    if (!form || !*form)
        return;
    ls_program_destroy(&(*form)->program);
    ls__mem_free((*form)->places);
    ls__mem_free((*form)->traces.slots);
    ls__mem_free((*form)->traces.masks);
    ls__mem_free((*form)->traces.targets);
    ls__mem_free((*form)->traces.first);
    ls__mem_free((*form)->traces.starts);
    ls__mem_free((*form)->traces.starts_at);
    ls__mem_free((*form)->table);
    ls__mem_free((*form)->text);
    ls__mem_free(*form);
    *form = NULL;
}

/* --- installing ------------------------------------------------------------------------------- */

ls_status ls__make_buffer(ls_cosim *cosim, uint64_t bytes, const char *label, ls_buffer **buffer,
                          ls_error *error)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = bytes ? bytes : 8;
    params.label = label;
    return ls_buffer_create(cosim->device, &params, buffer, error);
}

static uint64_t take(const uint64_t *words, ls__place place, uint8_t width)
{
    return words[place.slot] >> place.bit & ls__node_mask(width);
}

static void put(uint64_t *words, ls__place place, uint8_t width, uint64_t value)
{
    uint64_t mask = ls__node_mask(width) << place.bit;
    words[place.slot] = (words[place.slot] & ~mask) | (value << place.bit & mask);
}

/* What the values of all instances are in the new form, from those of the old one, or constants
 * only. */
static ls_status translate(ls_cosim *cosim, const ls__form *form, uint64_t *words, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    const ls__form *old_form = cosim->form;
    for (uint32_t k = 0; k < g->node_count; k++)
        if (g->nodes[k].op == LS__NODE_CONST && form->places[k].slot != LS__NO_SLOT)
            for (size_t i = 0; i < cosim->instances; i++)
                put(words + i * form->slot_count, form->places[k], g->nodes[k].width,
                    g->nodes[k].imm);
    if (!old_form)
        return LS_OK;
    uint64_t count = (uint64_t)old_form->slot_count * cosim->instances;
    uint64_t *old = ls__mem_alloc(count, sizeof *old);
    if (!old)
        return ls__fail_oom(error, count * sizeof *old);
    ls_status status =
        ls_buffer_read(cosim->state, 0, LS_MEM_NONE, old, count * sizeof *old, error);
    for (size_t i = 0; status == LS_OK && i < cosim->instances; i++) {
        uint64_t *to = words + i * form->slot_count;
        const uint64_t *from = old + i * old_form->slot_count;
        memcpy(to, from, cosim->layout.common * sizeof *to);
        for (uint32_t k = 0; k < g->initial_count; k++) {
            uint32_t node = g->initials[k].node.index;
            put(to, form->places[node], g->nodes[node].width,
                take(from, old_form->places[node], g->nodes[node].width));
        }
        if (!to[LS__SLOT_COLD])
            to[LS__SLOT_COLD] = 1;
    }
    ls__mem_free(old);
    return status;
}

ls_status ls__cosim_prepare(ls_cosim *cosim, ls_error *error)
{
    if (cosim->prepared)
        return LS_OK;
    ls_buffer *buffers[] = {cosim->state,    cosim->memory,         cosim->schedule,
                            cosim->stimulus, cosim->changes,        cosim->effects,
                            cosim->log,      cosim->private_memory, cosim->image,
                            cosim->table,    cosim->control_buffer};
    enum { COUNT = sizeof buffers / sizeof *buffers };
    ls_range ranges[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        ranges[i] = (ls_range){buffers[i], 0, LS_WHOLE};
    ls__run_scalars scalars = {0};
    ls_scalar_link link = {0, 0, ls__scalar_bytes(cosim->form)};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = cosim->form->kernel;
    dispatch.global_size[0] = cosim->form->sliced
                                  ? cosim->form->groups
                                  : cosim->instances * cosim->form->workgroups * cosim->form->lanes;
    dispatch.buffers = ranges;
    dispatch.buffer_count = COUNT;
    dispatch.scalars = &scalars;
    dispatch.scalar_bytes = link.size;
    dispatch.links = &link;
    dispatch.link_count = 1;
    ls_batch *batch = NULL;
    ls_status status = ls_batch_create(cosim->device, &batch, error);
    if (status == LS_OK)
        status = ls_batch_dispatch(batch, &dispatch, error);
    ls_range control = {cosim->control_buffer, 0,
                        (uint64_t)LS__CONTROL_SLOTS * cosim->instances * 8};
    if (status == LS_OK)
        status = ls_batch_download_slot(batch, control, LS_MEM_NONE, 0, NULL, error);
    if (status == LS_OK)
        status = ls_prepare(batch, &cosim->prepared, error);
    ls_batch_destroy(&batch);
    return status;
}

/* Makes the form the one that runs; takes it over, also on failure. */
static ls_status install(ls_cosim *cosim, ls__form *form, ls_error *error)
{
    uint64_t count = ls__state_words(cosim, form);
    ls_buffer *state = NULL, *table = NULL;
    uint64_t *words = ls__mem_alloc(count, sizeof *words);
    ls_status status = words ? LS_OK : ls__fail_oom(error, count * sizeof *words);
    if (status == LS_OK)
        status = translate(cosim, form, words, error);
    if (status == LS_OK)
        status = ls__make_buffer(cosim, count * sizeof *words, "cosim state", &state, error);
    if (status == LS_OK)
        status = ls_buffer_write(state, 0, LS_MEM_NONE, words, count * sizeof *words, error);
    if (status == LS_OK)
        status = ls__make_buffer(cosim, form->table_words * sizeof(uint32_t), "cosim table", &table,
                                 error);
    if (status == LS_OK)
        status = ls_buffer_write(table, 0, LS_MEM_NONE, form->table,
                                 form->table_words * sizeof(uint32_t), error);
    ls__mem_free(words);
    if (status != LS_OK) {
        ls_buffer_destroy(&state);
        ls_buffer_destroy(&table);
        ls__form_destroy(&form);
        return status;
    }
    ls_prepared_destroy(&cosim->prepared);
    ls_buffer_destroy(&cosim->state);
    ls_buffer_destroy(&cosim->table);
    ls__form_destroy(&cosim->form);
    cosim->form = form;
    cosim->state = state;
    cosim->table = table;
    cosim->cold = true;
    cosim->ahead = false;
    cosim->counters.form = form->kind;
    cosim->edges_before = cosim->counters.edges;
    /* Better code comes when it is ready; without it, the run goes on as it is. */
    if (form->kind != LS_COSIM_TABLE && cosim->params.tier == LS_COSIM_TIER_BOTH)
        ls_program_optimize(form->program, NULL);
    return cosim->seeded ? ls__traced_upload(cosim, error) : LS_OK;
}

/* On the host's own threads a lane alone is fastest: there are no gathers to wait for. */
static uint32_t lanes_of(const ls_cosim *cosim)
{
    const char *name = ls_device_name(cosim->device);
    return strcmp(name, "cpu") == 0 || strcmp(name, "reference") == 0 ? 1 : 32;
}

/* The largest graph that is compiled unasked: beyond, the front end takes seconds. */
enum { MOST_COMPILED = 150000 };

/* A run that may choose begins table-driven, and on the cpu device becomes compiled after a
 * while. On a GPU it is what it stays: there both are compiled by the driver before the first edge,
 * the table-driven form once for all netlists of a kind, the compiled one as long as the graph is.
 */
static ls_cosim_form choose(ls_cosim *cosim)
{
    const char *name = ls_device_name(cosim->device);
    uint32_t nodes = cosim->graph->node_count;
    bool on_cpu = strcmp(name, "cpu") == 0;
    if (cosim->params.form != LS_COSIM_AUTO)
        return cosim->params.form;
    if (cosim->params.workgroups > 1) {
        ls__log(cosim, "table-driven: only there an instance has several workgroups");
        return LS_COSIM_TABLE;
    }
    if (strcmp(name, "reference") == 0) {
        ls__log(cosim, "table-driven: the reference compiles nothing");
        return LS_COSIM_TABLE;
    }
    uint32_t most = on_cpu ? MOST_COMPILED : LS__MOST_COMPILED_GPU;
    bool small = nodes <= most;
    if (!small)
        ls__log(cosim, "table-driven: %u nodes are more than %u, up to which code is made on %s",
                nodes, most, name);
    else if (on_cpu)
        ls__log(cosim, "table-driven until compiled code is ready");
    else
        ls__log(cosim, "compiled: %u nodes are not more than %u, up to which code is made on %s",
                nodes, most, name);
    cosim->compile_later = small && on_cpu;
    return small && !on_cpu ? LS_COSIM_COMPILED : LS_COSIM_TABLE;
}

ls_status ls__compiled_create(const ls_cosim *cosim, ls__form **form, ls_error *error)
{
    return ls__sliced_suits(cosim) ? ls__sliced_create(cosim, form, error)
                                   : ls__gated_create(cosim, form, error);
}

ls_status ls__form_choose(ls_cosim *cosim, ls_error *error)
{
    ls__form *form = NULL;
    ls_cosim_form kind = choose(cosim);
    ls_status status;
    if (kind == LS_COSIM_SLICED)
        status = ls__sliced_create(cosim, &form, error);
    else if (kind == LS_COSIM_COMPILED)
        status = ls__compiled_create(cosim, &form, error);
    else
        status = ls__table_create(cosim, lanes_of(cosim), &form, error);
    if (status == LS_OK)
        status = ls__form_compile(cosim, form, NULL, error);
    if (status != LS_OK) {
        ls__form_destroy(&form);
        return status;
    }
    return install(cosim, form, error);
}

/* A program that is done in less does not need better code. */
enum { LONG_RUN_NS = 100000000 };

ls_status ls__form_advance(ls_cosim *cosim, ls_error *error)
{
    if (cosim->compile_later && !cosim->job && cosim->counters.device_ns > LONG_RUN_NS) {
        cosim->compile_later = false;
        return ls__form_job_start(cosim, error);
    }
    ls__form *form = ls__form_job_take(cosim);
    if (!form)
        return LS_OK;
    const char *rest = cosim->params.tier == LS_COSIM_TIER_BOTH ? "; optimised code follows" : "";
    ls__log(cosim, "compiled%s: %u blocks%s", form->sliced ? ", 64 instances in a word" : "",
            form->block_count, rest);
    return install(cosim, form, error);
}
