/* SPDX-License-Identifier: Apache-2.0 */
/* Making and destroying runs, and what instances are at first. */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/params.h"
#include "base/rng.h"
#include "base/status.h"
#include "cosim/engine.h"

enum {
    LOG_RECORDS = 256,      /* of an instance, at least */
    EFFECT_WORDS = 1024,    /* the same */
    CHANGE_WORDS = 1 << 19, /* at least */
    MOST_INSTANCES = 1 << 20,
    MOST_WORKGROUPS = 1024 /* of an instance */
};

/* --- initial values --------------------------------------------------------------------------- */

/* Bits for state without an initial value: of the seed, the instance, the name and the place. */
static uint64_t random_bits(const ls_cosim *cosim, uint32_t instance, const char *name,
                            uint64_t place)
{
    ls__rng rng = {ls__hash64(name, strlen(name), cosim->params.seed) ^
                   (instance * UINT64_C(0x9e3779b97f4a7c15)) ^
                   (place * UINT64_C(0xd1342543de82ef95))};
    ls__rng_u64(&rng);
    return ls__rng_u64(&rng);
}

/* Fills unknown bits of registers. The first signal that has a bit names it. */
static ls_status randomize_registers(ls_cosim *cosim, uint64_t *words, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    uint64_t *unknown = ls__mem_alloc(g->node_count + 1, sizeof *unknown);
    if (!unknown)
        return ls__fail_oom(error, g->node_count * sizeof *unknown);
    for (uint32_t i = 0; i < g->initial_count; i++) {
        uint32_t node = g->initials[i].node.index;
        unknown[node] = ls__node_mask(g->nodes[node].width) & ~g->initials[i].known;
    }
    for (uint32_t s = 0; s < g->signal_count; s++) {
        const ls__graph_signal *signal = &g->signals[s];
        uint32_t at = 0;
        for (uint32_t p = 0; p < signal->piece_count; at += signal->pieces[p].width, p++) {
            const ls__piece *piece = &signal->pieces[p];
            uint32_t node = piece->node.index;
            uint64_t bits = unknown[node] & ls__node_mask(piece->width) << piece->lsb;
            unknown[node] &= ~bits;
            for (uint32_t i = 0; bits && i < cosim->instances; i++)
                for (uint32_t b = 0; b < 64; b++)
                    if (bits >> b & 1 &&
                        random_bits(cosim, i, signal->name, at + b - piece->lsb) & 1)
                        words[ls__state_word(cosim, cosim->form->places[node].slot, i)] |=
                            UINT64_C(1) << (cosim->form->places[node].bit + b);
        }
    }
    ls__mem_free(unknown);
    return LS_OK;
}

static ls_status initial_registers(ls_cosim *cosim, uint64_t *words, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    for (uint32_t i = 0; i < g->initial_count; i++) {
        const ls__initial *initial = &g->initials[i];
        ls__place place = cosim->form->places[initial->node.index];
        for (uint32_t k = 0; k < cosim->instances; k++)
            words[ls__state_word(cosim, place.slot, k)] |= (initial->value & initial->known)
                                                           << place.bit;
    }
    return cosim->params.randomize ? randomize_registers(cosim, words, error) : LS_OK;
}

static void initial_pins(ls_cosim *cosim, uint64_t *words)
{
    const ls__layout *l = &cosim->layout;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        uint64_t *its = words + ls__state_word(cosim, 0, i);
        uint32_t pin = l->pins;
        for (uint32_t p = 0; p < cosim->peripherals->count; p++)
            for (uint32_t j = 0; j < cosim->peripherals->items[p].pin_count; j++)
                its[pin++] = cosim->peripherals->items[p].pins[j].initial;
        for (uint32_t d = 0; d < l->drive_count; d++) {
            const ls__pin_drive *drive = &l->drives[d];
            uint64_t *input = &its[l->inputs + drive->part.input];
            *input = (*input & ~drive->part.mask) |
                     ls__input_value(&drive->part, its[l->pins + drive->pin]);
        }
    }
}

static ls_status initial_values(ls_cosim *cosim, ls_error *error)
{
    size_t n = cosim->instances;
    uint64_t bytes = (uint64_t)cosim->form->slot_count * n * 8;
    uint64_t *words = ls__mem_alloc(bytes, 1);
    if (!words)
        return ls__fail_oom(error, bytes);
    ls_status status = ls_buffer_read(cosim->state, 0, LS_MEM_NONE, words, bytes, error);
    if (status == LS_OK)
        status = initial_registers(cosim, words, error);
    initial_pins(cosim, words);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *its = words + ls__state_word(cosim, 0, i);
        its[LS__SLOT_COLD] = 2;
        its[LS__SLOT_WATCH_SOURCE] = UINT64_MAX;
        its[LS__SLOT_OWN_NEXT] = its[LS__SLOT_OWN_END] =
            cosim->shared_capacity + i * cosim->own_capacity;
        memcpy(cosim->control + ls__control_word(0, i), its, LS__CONTROL_SLOTS * 8);
    }
    if (status == LS_OK)
        status = ls_buffer_write(cosim->state, 0, LS_MEM_NONE, words, bytes, error);
    ls__mem_free(words);
    return status;
}

/* The words of a memory of one instance. */
static void initial_memory(const ls_cosim *cosim, uint32_t memory, uint32_t instance,
                           uint64_t *words)
{
    const ls__graph_memory *m = &cosim->graph->memories[memory];
    for (uint64_t k = 0; k < (uint64_t)m->depth * m->limbs; k++) {
        uint32_t limb = (uint32_t)(k % m->limbs);
        uint64_t mask = ls__node_mask((uint8_t)(limb + 1 < m->limbs ? 64 : m->width - limb * 64));
        uint64_t known = m->init ? (m->init_known ? m->init_known[k] : UINT64_MAX) : 0;
        uint64_t value = m->init ? m->init[k] & known : 0;
        if (cosim->params.randomize)
            value |= random_bits(cosim, instance, m->name, k) & ~known;
        words[k] = value & mask;
    }
}

static ls_status initial_memories(ls_cosim *cosim, ls_error *error)
{
    uint64_t total = cosim->layout.memory_words;
    uint64_t *words = ls__mem_alloc(total + 1, 8);
    ls_status status = words ? LS_OK : ls__fail_oom(error, total * 8);
    for (uint32_t i = 0; status == LS_OK && total && i < cosim->instances; i++) {
        for (uint32_t m = 0; m < cosim->graph->memory_count; m++)
            if (i == 0 || cosim->params.randomize)
                initial_memory(cosim, m, i, words + cosim->layout.memory_at[m]);
        status = ls_buffer_write(cosim->memory, i * cosim->layout.memory_step * 8, LS_MEM_NONE,
                                 words, total * 8, error);
    }
    ls__mem_free(words);
    return status;
}

static ls_status initial_private(ls_cosim *cosim, ls_error *error)
{
    const ls__peripherals *all = cosim->peripherals;
    ls_status status = LS_OK;
    for (uint32_t p = 0; p < all->count; p++)
        for (uint64_t i = 0; status == LS_OK && all->items[p].memory_init && i < cosim->instances;
             i++)
            status = ls_buffer_write(
                cosim->private_memory,
                (i * cosim->layout.private_words + cosim->layout.private_at[p]) * 4, LS_MEM_NONE,
                all->items[p].memory_init, (uint64_t)all->items[p].memory_words * 4, error);
    if (status == LS_OK && all->image_bytes)
        status = ls_buffer_write(cosim->image, 0, LS_MEM_NONE, all->image, all->image_bytes, error);
    return status;
}

/* --- create ----------------------------------------------------------------------------------- */

static ls_status check_params(const ls_design *design, const ls_cosim_params *params,
                              ls_error *error)
{
    if (!params->device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no device is given");
    if (params->instances > MOST_INSTANCES)
        return ls__fail(error, LS_E_LIMIT, "%" PRIu32 " instances: at most %d are possible",
                        params->instances, MOST_INSTANCES);
    uint64_t workgroups = params->workgroups;
    if (workgroups > MOST_WORKGROUPS || workgroups * params->instances > MOST_INSTANCES)
        return ls__fail(error, LS_E_LIMIT,
                        "%" PRIu64 " workgroups for each of %" PRIu32 " instances: at most %d for "
                        "an instance and %d in all are possible",
                        workgroups, params->instances ? params->instances : 1, MOST_WORKGROUPS,
                        MOST_INSTANCES);
    if (workgroups > 1 && params->form != LS_COSIM_AUTO && params->form != LS_COSIM_TABLE)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "only the table-driven form has several workgroups for an instance: ask "
                        "for it, or for one workgroup");
    if ((params->trace_count && !params->trace) ||
        (params->peripheral_count && !params->peripherals))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "trace or peripherals is NULL");
    if (params->trace_instance >= (params->instances ? params->instances : 1))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no instance %" PRIu32 " to trace",
                        params->trace_instance);
    for (uint32_t i = 0; i < params->trace_count; i++)
        if (params->trace[i] >= design->graph->signal_count)
            return ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no signal %" PRIu32 " to trace",
                            params->trace[i]);
    return LS_OK;
}

static ls_status make_host(ls_cosim *cosim, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    uint32_t traces = cosim->params.trace_count;
    size_t words = 0;
    for (uint32_t i = 0; i < traces; i++)
        words += (g->signals[cosim->params.trace[i]].width + 63) / 64;
    cosim->control = ls__mem_alloc((size_t)LS__CONTROL_SLOTS * cosim->instances, 8);
    cosim->traced = ls__mem_alloc(traces + 1, sizeof *cosim->traced);
    cosim->now = ls__mem_alloc(traces + 1, sizeof *cosim->now);
    cosim->traced_words = ls__mem_alloc(words * 2 + 1, 8);
    cosim->marked = ls__mem_alloc(traces + 1, sizeof *cosim->marked);
    cosim->marks = ls__mem_alloc(traces / 64 + 1, sizeof *cosim->marks);
    if (!cosim->control || !cosim->traced || !cosim->now || !cosim->traced_words ||
        !cosim->marked || !cosim->marks)
        return ls__fail_oom(error, words * 8);
    uint64_t *next = cosim->traced_words;
    for (uint32_t i = 0; i < traces; i++) {
        cosim->traced[i] = next;
        cosim->now[i] = next + words;
        next += (g->signals[cosim->params.trace[i]].width + 63) / 64;
    }
    return LS_OK;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value > least ? value : least;
}

static ls_status make_buffers(ls_cosim *cosim, ls_error *error)
{
    const ls__layout *l = &cosim->layout;
    uint64_t n = cosim->instances;
    uint64_t per_edge = (uint64_t)cosim->peripherals->count * LS__PERIPHERAL_EVENTS;
    cosim->log_records = at_least(per_edge * 4, n > 64 ? LOG_RECORDS / 4 : LOG_RECORDS);
    cosim->effect_words =
        cosim->graph->effect_count
            ? at_least((uint64_t)l->effect_reserve * 4, n > 64 ? EFFECT_WORDS / 4 : EFFECT_WORDS)
            : 1;
    uint64_t traced = 0; /* slots, at most */
    for (uint32_t i = 0; i < cosim->params.trace_count; i++)
        traced += cosim->graph->signals[cosim->params.trace[i]].piece_count;
    traced = traced < cosim->graph->node_count ? traced : cosim->graph->node_count;
    cosim->change_words = traced ? at_least(traced * 8, CHANGE_WORDS) : 4;
    uint64_t log = cosim->peripherals->count
                       ? n * (cosim->log_records + 1) * LS__PERIPHERAL_RECORD_WORDS * 8
                       : 8;
    const struct {
        ls_buffer **buffer;
        uint64_t bytes;
        const char *label;
    } all[] = {{&cosim->memory, l->memory_step * n * 8, "cosim memories"},
               {&cosim->schedule, 64, "cosim schedule"},
               {&cosim->changes, (traced + cosim->change_words) * 8, "cosim changes"},
               {&cosim->effects, n * cosim->effect_words * 8, "cosim messages"},
               {&cosim->log, log, "cosim events"},
               {&cosim->private_memory, l->private_words * n * 4, "cosim peripherals"},
               {&cosim->control_buffer, n * LS__CONTROL_SLOTS * 8, "cosim control"},
               {&cosim->image, cosim->peripherals->image_bytes, "cosim images"}};
    ls_status status = LS_OK;
    for (size_t i = 0; status == LS_OK && i < sizeof all / sizeof *all; i++)
        status = ls__make_buffer(cosim, all[i].bytes, all[i].label, all[i].buffer, error);
    return status == LS_OK ? ls__stimulus_create(cosim, error) : status;
}

/* Whether the device is Mesa's software driver. */
static bool is_llvmpipe(const ls_device *device)
{
    ls_device_info infos[16];
    uint32_t count = 0;
    if (strncmp(ls_device_name(device), "vulkan", 6) != 0 ||
        ls_device_list(infos, 16, &count, NULL) != LS_OK)
        return false;
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (strcmp(infos[i].name, ls_device_name(device)) == 0)
            return strstr(infos[i].description, "llvmpipe") != NULL;
    return false;
}

static ls_status build(ls_cosim *cosim, const ls_cosim_params *params, ls_error *error)
{
    ls_status status = ls__peripherals_create(params->peripherals, params->peripheral_count,
                                              &cosim->peripherals, error);
    if (status == LS_OK)
        status = ls__layout_create(cosim, error);
    if (status == LS_OK)
        status = make_host(cosim, error);
    if (status == LS_OK)
        status = ls_stream_create(cosim->device, &cosim->stream, error);
    if (status == LS_OK)
        status = make_buffers(cosim, error);
    if (status == LS_OK)
        status = ls_cosim_schedule(cosim, 1, NULL, 0, error);
    if (status == LS_OK)
        status = ls__form_choose(cosim, error);
    if (status == LS_OK)
        status = initial_values(cosim, error);
    if (status == LS_OK)
        status = initial_memories(cosim, error);
    if (status == LS_OK)
        status = initial_private(cosim, error);
    cosim->params.trace = cosim->trace;
    cosim->params.peripherals = NULL;
    return status;
}

ls_status ls_cosim_create(const ls_design *design, const ls_cosim_params *params, ls_cosim **out,
                          ls_error *error)
{
    ls_cosim_params given;
    if (out)
        *out = NULL;
    if (!design || !params || !out)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "design, params or cosim is NULL");
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_cosim_create", error);
    if (status == LS_OK)
        status = check_params(design, &given, error);
    if (status != LS_OK)
        return status;
    ls_cosim *cosim = ls__mem_alloc(1, sizeof *cosim);
    if (!cosim)
        return ls__fail_oom(error, sizeof *cosim);
    cosim->trace = ls__mem_alloc(given.trace_count + 1, sizeof *cosim->trace);
    if (!cosim->trace) {
        ls__mem_free(cosim);
        return ls__fail_oom(error, given.trace_count * sizeof *cosim->trace);
    }
    if (given.trace_count)
        memcpy(cosim->trace, given.trace, given.trace_count * sizeof *cosim->trace);
    cosim->design = (ls_design *)design;
    ls__design_retain(cosim->design);
    cosim->graph = design->graph;
    cosim->device = given.device;
    cosim->instances = given.instances ? given.instances : 1;
    cosim->params = given;
    cosim->loops_limited = is_llvmpipe(given.device);
    status = build(cosim, &given, error);
    if (status != LS_OK) {
        ls_cosim_destroy(&cosim);
        return status;
    }
    *out = cosim;
    return LS_OK;
}

void ls_cosim_destroy(ls_cosim **cosim)
{
    if (!cosim || !*cosim)
        return;
    ls_cosim *c = *cosim;
    *cosim = NULL;
    ls__form_job_stop(c);
    ls_prepared_destroy(&c->prepared);
    ls_stream_destroy(&c->stream, NULL);
    ls_buffer **buffers[] = {&c->state,   &c->memory,  &c->schedule,      &c->stimulus,
                             &c->changes, &c->effects, &c->log,           &c->private_memory,
                             &c->image,   &c->table,   &c->control_buffer};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        ls_buffer_destroy(buffers[i]);
    ls__form_destroy(&c->form);
    ls__peripherals_destroy(&c->peripherals);
    ls__layout_destroy(&c->layout);
    for (uint32_t i = 0; c->own && i < c->instances; i++)
        ls__mem_free(c->own[i].words);
    ls__mem_free(c->own);
    ls__mem_free(c->shared.words);
    ls__mem_free(c->control);
    ls__mem_free(c->schedule_words);
    ls__mem_free(c->dirty_edges);
    for (int i = 0; i < 3; i++)
        ls__mem_free(c->rings[i]);
    ls__mem_free(c->traced);
    ls__mem_free(c->now);
    ls__mem_free(c->traced_words);
    ls__mem_free(c->trace_previous);
    ls__mem_free(c->marked);
    ls__mem_free(c->marks);
    ls__mem_free(c->trace);
    ls_design_destroy(&c->design);
    ls__mem_free(c);
}
