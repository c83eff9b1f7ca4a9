/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running: submissions of as many edges as take some milliseconds, until all instances are where
 * they should be or stand still.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cosim/engine.h"

enum { QUICK_NS = 2000000, SLOW_NS = 8000000, FIRST_CHUNK = 64, MOST_CHUNK = 1 << 20 };

/* A submission that takes longer than this, and as long again for every node that it may evaluate,
 * holds something without an end: a peripheral. */
#define LIMIT_NS UINT64_C(30000000000)
#define LIMIT_NODE_NS UINT64_C(5000)
/* llvmpipe compiles a kernel at its first dispatch, which takes minutes where the process is
 * checked by a sanitizer; no loop is without an end there (`most_edges`). */
#define LIMIT_LLVMPIPE_NS UINT64_C(600000000000)

static uint64_t control_of(const ls_cosim *cosim, uint32_t slot, uint32_t instance)
{
    return cosim->control[ls__control_word(slot, instance)];
}

static uint64_t time_limit_ns(const ls_cosim *cosim)
{
    uint64_t nodes = cosim->design->graph->node_count;
    uint64_t least = cosim->loops_limited ? LIMIT_LLVMPIPE_NS : LIMIT_NS;
    return least + LIMIT_NODE_NS * nodes * cosim->instances * (cosim->chunk + 1);
}

static ls_status launch(ls_cosim *cosim, const ls__run_scalars *scalars, ls_error *error)
{
    ls_slot slot = {NULL, cosim->control};
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    params.parameters = scalars;
    params.parameter_bytes = ls__scalar_bytes(cosim->form);
    params.slots = &slot;
    params.slot_count = 1;
    params.time_limit_ns = time_limit_ns(cosim);
    ls_fence *fence = NULL;
    uint64_t before = ls__os_now_ns();
    ls_status status = ls_submit_prepared(cosim->stream, cosim->prepared, &params, &fence, error);
    if (status == LS_OK)
        status = ls_fence_wait(fence, LS_FOREVER, NULL, error);
    ls_fence_destroy(&fence);
    cosim->counters.device_ns += ls__os_now_ns() - before;
    cosim->counters.submissions++;
    return status;
}

/* Submits one batch of edges up to `until`. */
static ls_status submit_edges(ls_cosim *cosim, uint64_t until, bool resume, ls_error *error)
{
    ls_status status = ls__cosim_prepare(cosim, error);
    if (status != LS_OK)
        return status;
    ls__run_scalars scalars = {.until = until,
                               .period = cosim->period,
                               .shared_end = (uint32_t)cosim->shared.uploaded,
                               .resume = resume};
    if (cosim->form->workgroups > 1)
        status = ls__spread_launch(cosim, &scalars, launch, error);
    else
        status = launch(cosim, &scalars, error);
    if (status == LS_OK) {
        cosim->cold = false;
        cosim->ahead = cosim->form->sliced && until != 0;
    } else {
        cosim->failed = true;
        if (error && error->cause == LS_E_TIMEOUT)
            ls__fail_hint(error, status, "look for a loop without an end in a peripheral's source");
    }
    return status;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Names of the signals that hold a node, a few of them. */
static void append_names(const ls__graph *g, uint32_t node, ls__strbuf *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->signal_count && found < 4; i++)
        for (uint32_t p = 0; p < g->signals[i].piece_count; p++)
            if (g->signals[i].pieces[p].node.index == node) {
                ls__strbuf_printf(out, "%s'%s'", found++ ? ", " : "", g->signals[i].name);
                break;
            }
    if (!found)
        ls__strbuf_printf(out, "a net without a name");
}

static ls_status fail_unsettled(ls_cosim *cosim, uint32_t instance, ls_error *error)
{
    const ls__graph *g = cosim->graph;
    uint64_t what = control_of(cosim, LS__SLOT_UNSETTLED, instance);
    uint64_t edge = control_of(cosim, LS__SLOT_EDGE, instance);
    cosim->failed = true;
    if (what >> 32 == 2)
        return ls__fail(error, LS_E_FAILED,
                        "edge %" PRIu64 ", instance %" PRIu32 ": too many messages at one edge",
                        edge, instance);
    ls__strbuf names = {0};
    bool is_loop = what >> 32 != 0;
    for (uint32_t n = 0; what >> 32 == 3 && n < g->node_count && names.length < 200; n++)
        if (g->nodes[n].flags & LS__NODE_LOOP) {
            ls__strbuf_printf(&names, "%s", names.length ? ", " : "");
            append_names(g, n, &names);
        }
    if (what >> 32 != 3)
        append_names(g, is_loop ? (uint32_t)what : g->domains[what - 1].clock.index, &names);
    ls__fail(error, LS_E_FAILED,
             "edge %" PRIu64 ", instance %" PRIu32 ": %s never settles: %s still changes after 100 "
             "rounds",
             edge, instance, is_loop ? "a latch" : "a clock", names.text ? names.text : "");
    ls__strbuf_finish(&names);
    return LS_E_FAILED;
}

/* --- runs ------------------------------------------------------------------------------------- */

static bool is_active(const ls_cosim *cosim, uint32_t instance, uint64_t until, bool resume)
{
    uint64_t stop = control_of(cosim, LS__SLOT_STOP, instance);
    if (stop == LS__STOP_FINISH || (!resume && (stop == LS__STOP_WATCH || stop == LS__STOP_ASSERT)))
        return false;
    return control_of(cosim, LS__SLOT_EDGE, instance) < until;
}

/* The lowest edge of the instances that have something to do; LS_FOREVER when none has. */
static uint64_t lowest_edge(const ls_cosim *cosim, uint64_t until, bool resume)
{
    uint64_t lowest = LS_FOREVER;
    for (uint32_t i = 0; i < cosim->instances; i++)
        if (is_active(cosim, i, until, resume) && control_of(cosim, LS__SLOT_EDGE, i) < lowest)
            lowest = control_of(cosim, LS__SLOT_EDGE, i);
    return lowest;
}

static uint64_t edges_done(const ls_cosim *cosim)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cosim->instances; i++)
        sum += control_of(cosim, LS__SLOT_EDGE, i);
    return sum;
}

/* Edges of a submission at most. On llvmpipe all loops of a lane together end after 65,535 rounds.
 */
static uint64_t most_edges(const ls_cosim *cosim)
{
    if (!cosim->loops_limited)
        return MOST_CHUNK;
    const ls__layout *l = &cosim->layout;
    const ls__graph *g = cosim->graph;
    /* An edge goes a few times through the loops of `advance` and of an evaluation, taken or not.
     */
    uint64_t serial = 400 + (uint64_t)l->drive_count + g->write_count +
                      4 * ((uint64_t)g->domain_count + g->effect_count + l->loop_count) +
                      (g->reg_count + l->observed_count + cosim->form->traces.count) / 16;
    uint64_t rounds =
        (serial + cosim->form->edge_rounds) * (g->has_derived || g->has_loops ? 4 : 1);
    return rounds < 20000 ? 40000 / rounds : 1;
}

/* One submission, and what it reports. */
static ls_status run_chunk(ls_cosim *cosim, uint64_t until, uint64_t lowest, bool resume,
                           ls_error *error)
{
    uint64_t most = most_edges(cosim);
    cosim->chunk = cosim->chunk < most ? cosim->chunk : most;
    uint64_t limit = until - lowest > cosim->chunk ? lowest + cosim->chunk : until;
    ls_status status = ls__form_advance(cosim, error);
    if (status == LS_OK)
        status = ls__schedule_upload(cosim, error);
    if (status == LS_OK)
        status = ls__stimulus_upload(cosim, &limit, error);
    uint64_t before = ls__os_now_ns(), edges = edges_done(cosim);
    if (status == LS_OK)
        status = submit_edges(cosim, limit, resume, error);
    if (status != LS_OK)
        return status;
    uint64_t took = ls__os_now_ns() - before;
    cosim->counters.edges += edges_done(cosim) - edges;
    cosim->now_stale = false;
    if (took < QUICK_NS && limit - lowest >= cosim->chunk && cosim->chunk < most)
        cosim->chunk *= 2;
    else if (took > SLOW_NS && cosim->chunk > 1)
        cosim->chunk /= 2;
    before = ls__os_now_ns();
    status = ls__drain(cosim, error);
    cosim->counters.drain_ns += ls__os_now_ns() - before;
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++)
        if (control_of(cosim, LS__SLOT_STOP, i) == LS__STOP_UNSETTLED)
            status = fail_unsettled(cosim, i, error);
    return status;
}

ls_status ls_cosim_run(ls_cosim *cosim, uint64_t until, const volatile int *cancel, ls_error *error)
{
    if (!cosim)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "cosim is NULL");
    if (cosim->failed)
        return ls__fail(error, LS_E_STATE, "an earlier run has failed");
    if (!cosim->chunk)
        cosim->chunk = FIRST_CHUNK;
    ls_status status = ls__traced_seed(cosim, error);
    cosim->in_run = true;
    for (bool resume = true; status == LS_OK; resume = false) {
        uint64_t lowest = lowest_edge(cosim, until, resume);
        if (lowest == LS_FOREVER)
            break;
        if (cancel && *cancel)
            status = ls__fail(error, LS_E_CANCELLED, "cancelled at edge %" PRIu64, lowest);
        else
            status = run_chunk(cosim, until, lowest, resume, error);
    }
    cosim->in_run = false;
    return status;
}

uint64_t ls_cosim_edge(const ls_cosim *cosim, uint32_t instance)
{
    return instance < cosim->instances ? control_of(cosim, LS__SLOT_EDGE, instance) : 0;
}

ls_stop ls_cosim_stop(const ls_cosim *cosim, uint32_t instance)
{
    if (instance >= cosim->instances)
        return LS_STOP_EDGE;
    switch (control_of(cosim, LS__SLOT_STOP, instance)) {
    case LS__STOP_WATCH:
        return LS_STOP_WATCH;
    case LS__STOP_ASSERT:
        return LS_STOP_ASSERT;
    case LS__STOP_FINISH:
        return LS_STOP_FINISH;
    default:
        return LS_STOP_EDGE;
    }
}

ls_status ls__cosim_settle(ls_cosim *cosim, ls_error *error)
{
    if (!cosim->cold && !cosim->ahead)
        return LS_OK;
    if (cosim->failed)
        return ls__fail(error, LS_E_STATE, "an earlier run has failed");
    ls_status status = ls__schedule_upload(cosim, error);
    if (status == LS_OK)
        status = submit_edges(cosim, 0, false, error);
    for (uint32_t i = 0; status == LS_OK && i < cosim->instances; i++)
        if (control_of(cosim, LS__SLOT_STOP, i) == LS__STOP_UNSETTLED)
            status = fail_unsettled(cosim, i, error);
    return status;
}

ls_status ls__cosim_fetch(ls_cosim *cosim, ls_error *error)
{
    return cosim->ahead && !cosim->failed ? ls__cosim_settle(cosim, error) : LS_OK;
}

void ls_cosim_count(const ls_cosim *cosim, ls_cosim_counters *counters)
{
    ls_cosim_counters all = cosim->counters;
    for (uint32_t i = 0; i < cosim->instances; i++)
        all.blocks_evaluated += control_of(cosim, LS__SLOT_EVALUATED, i);
    ls_tier_info tier = {.struct_size = sizeof tier};
    ls_program_tier(cosim->form->program, &tier);
    all.optimized = tier.state == LS_TIER_STATE_OPTIMIZED;
    all.blocks_total = cosim->form->block_count * (all.edges - cosim->edges_before);
    size_t size = counters->struct_size < sizeof all ? counters->struct_size : sizeof all;
    all.struct_size = counters->struct_size;
    __builtin_memcpy(counters, &all, size);
}
