/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a run. A step queues what is streamed, puts values into rings, and lets the device
 * run until it stops for a command or has reached the step's end. Results do not depend on how long
 * steps are, but for --compat jacquard, whose batches are part of what it is compatible with.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "lockstep/program.h"
#include "testbench/run_private.h"

enum { COMPAT_BATCH = 1024 };
#define LIVE_NS UINT64_C(20000000)

/* --- what the device reports ------------------------------------------------------------------ */

static void on_changes(void *context, uint64_t edge, const uint32_t *traced, uint32_t count)
{
    ls__side *side = context;
    ls__run *run = side->run;
    if (run->sides[1].cosim)
        for (uint32_t i = 0; i < count; i++) {
            ls_signal_info info;
            uint64_t place[2] = {edge, traced[i]};
            side->hash = ls__hash64(place, sizeof place, side->hash);
            if (ls_design_signal(run->p.design, run->cosim_params.trace[traced[i]], &info, NULL) ==
                LS_OK)
                side->hash = ls__hash64(ls_cosim_traced(side->cosim, traced[i]),
                                        (info.width + 63) / 64 * sizeof(uint64_t), side->hash);
        }
    if (side == &run->sides[0] && !run->is_silent)
        ls__waves_changes(run->p.waves, side->cosim, edge, traced, count);
}

static void on_peripheral_event(ls__run *run, const ls_cosim_event *event)
{
    const ls__model *model = &run->p.plan->models[event->source];
    bool is_transfer = model->kind == LS__MODEL_FLASH && event->kind == 3;
    if (is_transfer && run->p.transfer)
        run->p.transfer(run->p.context, event,
                        ls__schedule_time(run->p.plan->schedule, event->edge));
    if (is_transfer && model->is_told_only)
        return;
    ls__events_add(run->p.events, event);
    if (run->p.commands)
        ls__commands_event(run->p.commands, event);
    if (model->kind == LS__MODEL_UART_TX && event->kind == 1 && event->instance == 0 && run->p.byte)
        run->p.byte(run->p.context, event->source, (uint8_t)event->a);
}

static void on_event(void *context, const ls_cosim_event *event)
{
    ls__side *side = context;
    ls__run *run = side->run;
    if (side != &run->sides[0] || run->is_silent || run->instances[event->instance].is_done)
        return;
    if (event->type == LS_EVENT_PERIPHERAL) {
        on_peripheral_event(run, event);
        return;
    }
    if (event->type == LS_EVENT_ASSERT)
        run->instances[event->instance].failed_asserts++;
    if (run->p.message)
        run->p.message(run->p.context, event,
                       ls__schedule_time(run->p.plan->schedule, event->edge));
}

/* --- making ----------------------------------------------------------------------------------- */

static ls_status create_side(ls__run *run, ls__side *side, ls_device *device, ls_error *error)
{
    ls_cosim_params params = run->cosim_params;
    side->run = run;
    params.device = device;
    params.sink = (ls_cosim_sink){on_changes, on_event, side};
    ls_status status = ls_cosim_create(run->p.design, &params, &side->cosim, error);
    if (status == LS_OK)
        status = ls__plan_apply(run->p.plan, side->cosim, error);
    return status;
}

static ls_status create_sides(ls__run *run, ls_error *error)
{
    const ls__plan *plan = run->p.plan;
    run->cosim_params.peripherals = plan->peripherals;
    run->cosim_params.peripheral_count = plan->peripheral_count;
    ls_status status = ls__waves_trace(run->p.waves, &run->cosim_params.trace,
                                       &run->cosim_params.trace_count, error);
    if (status == LS_OK)
        status = create_side(run, &run->sides[0], run->cosim_params.device, error);
    if (status == LS_OK && run->p.check)
        status = create_side(run, &run->sides[1], run->p.check, error);
    return status;
}

ls_status ls__run_create(const ls__run_params *params, ls__run **run, ls_error *error)
{
    *run = NULL;
    ls__run *r = ls__mem_alloc(1, sizeof *r);
    if (!r)
        return ls__fail_oom(error, sizeof *r);
    r->p = *params;
    r->cosim_params = *params->cosim;
    r->instance_count = params->cosim->instances ? params->cosim->instances : 1;
    r->live_edges = 256;
    if (!params->dump)
        r->p.dump_edges = 0;
    else if (params->compat) /* its batches are of one edge then */
        ls__events_single_until(params->events, params->dump_edges);
    r->instances = ls__mem_alloc(r->instance_count, sizeof *r->instances);
    r->busy_until = ls__mem_alloc(params->plan->peripheral_count, sizeof *r->busy_until);
    ls_status status = LS_OK;
    if (!r->instances || !r->busy_until)
        status = ls__fail_oom(error, r->instance_count * sizeof *r->instances);
    if (status == LS_OK)
        status = ls__inbox_create(params->plan, r->instance_count, &r->inbox, error);
    if (status == LS_OK)
        status = create_sides(r, error);
    if (status != LS_OK)
        ls__run_destroy(&r);
    *run = r;
    return status;
}

void ls__run_destroy(ls__run **run)
{
    ls__run *r = *run;
    *run = NULL;
    if (!r)
        return;
    for (int i = 0; i < 2; i++) {
        ls_cosim_destroy(&r->sides[i].cosim);
        ls_bytes_destroy(&r->sides[i].saved);
    }
    ls__inbox_destroy(&r->inbox);
    ls__mem_free(r->busy_until);
    ls__mem_free(r->instances);
    ls__mem_free(r);
}

ls_cosim *ls__run_cosim(ls__run *run)
{
    return run->sides[0].cosim;
}

ls_status ls__run_replay(ls__run *run, uint32_t source, uint64_t edge, uint8_t byte,
                         ls_error *error)
{
    return ls__inbox_put(run->inbox, 0, source, byte, edge, error);
}

/* --- commands --------------------------------------------------------------------------------- */

/* compat: what comes while a byte is sent is lost. */
static bool is_dropped(ls__run *run, uint32_t source, uint64_t edge)
{
    uint64_t frame = run->p.plan->models[source].frame_edges;
    if (!run->p.compat || frame == 0)
        return false;
    if (edge < run->busy_until[source])
        return true;
    run->busy_until[source] = edge + frame;
    ls__events_single_until(run->p.events, edge + frame);
    return false;
}

static ls_status follow_commands(ls__run *run, uint32_t instance, ls_error *error)
{
    uint32_t source, kind;
    uint64_t value;
    ls_status status = LS_OK;
    uint64_t edge = ls_cosim_edge(run->sides[0].cosim, instance);
    while (status == LS_OK && ls__commands_action(run->p.commands, instance, &source, &value))
        if (!is_dropped(run, source, edge))
            status = ls__inbox_put(run->inbox, instance, source, value, 0, error);
    if (run->p.compat) /* waits end with their batch */
        return status;
    if (!ls__commands_waits(run->p.commands, instance, &source, &kind, &value)) {
        source = UINT32_MAX;
        kind = 0;
        value = 0;
    }
    for (int i = 0; status == LS_OK && i < 2 && run->sides[i].cosim; i++)
        status = ls_cosim_watch(run->sides[i].cosim, instance, source, kind, value, error);
    return status;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Where the run may stop at the latest. */
static uint64_t step_end(const ls__run *run, uint64_t edge)
{
    uint64_t left = run->p.max_edges - edge, length = run->p.batch;
    uint64_t reset = run->p.plan->reset_edges;
    if (run->p.compat && run->p.commands) {
        length = COMPAT_BATCH;
        for (uint32_t i = 0; i < run->p.plan->peripheral_count; i++)
            if (edge < run->busy_until[i])
                length = 1;
        if (edge < reset && reset - edge < length)
            length = reset - edge;
    }
    if (run->p.live_source != UINT32_MAX && !run->live_ended && run->live_edges < length)
        length = run->live_edges;
    if (edge < run->p.dump_edges)
        length = 1;
    return edge + (left < length ? left : length);
}

static ls_status take_live(ls__run *run, uint64_t edge, ls_error *error)
{
    uint8_t bytes[256];
    uint32_t count = 0;
    ls_status status = LS_OK;
    if (run->p.live_source == UINT32_MAX || run->live_ended)
        return LS_OK;
    run->live_ended = !run->p.live(run->p.context, bytes, sizeof bytes, &count);
    for (uint32_t i = 0; status == LS_OK && i < count; i++)
        status = ls__inbox_put(run->inbox, 0, run->p.live_source, bytes[i], edge, error);
    if (status == LS_OK && count && run->p.record)
        status = run->p.record(run->p.context, edge, bytes, count, error);
    return status;
}

/* The instance has ended: it stands still while the others go on. */
static ls_status settle(ls__run *run, uint32_t instance, const char *stop, ls_error *error)
{
    ls__run_instance *i = &run->instances[instance];
    ls_status status = ls__run_of(run, instance, &i->result, error);
    bool goes_on = i->result.edges < run->p.max_edges;
    for (int k = 0; goes_on && status == LS_OK && k < 2 && run->sides[k].cosim; k++)
        status = ls_cosim_halt(run->sides[k].cosim, instance, error);
    i->result.stop = stop;
    i->is_done = status == LS_OK;
    run->done_count += i->is_done;
    return status;
}

/* Which instances have ended. */
static ls_status settle_all(ls__run *run, ls_error *error)
{
    const ls_cosim *cosim = run->sides[0].cosim;
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < run->instance_count; i++) {
        if (run->instances[i].is_done)
            continue;
        ls_stop stop = ls_cosim_stop(cosim, i);
        if (run->p.commands && ls__commands_stopped(run->p.commands, i))
            status = settle(run, i, "stop", error);
        else if (stop == LS_STOP_FINISH || stop == LS_STOP_ASSERT)
            status = settle(run, i, stop == LS_STOP_FINISH ? "finish" : "assert", error);
        else if (ls_cosim_edge(cosim, i) >= run->p.max_edges)
            status = settle(run, i, "edge", error);
    }
    return status;
}

/* The earliest edge of instances that go on; false: none before `until`. */
static bool lowest_edge(const ls__run *run, uint64_t until, uint64_t *edge)
{
    bool found = false;
    for (uint32_t i = 0; i < run->instance_count; i++) {
        uint64_t at = ls_cosim_edge(run->sides[0].cosim, i);
        if (run->instances[i].is_done || at >= until)
            continue;
        *edge = found && *edge < at ? *edge : at;
        found = true;
    }
    return found;
}

/* One piece: from where the instances are to `until`, or to where one of them stops. */
static ls_status run_piece(ls__run *run, uint64_t edge, uint64_t until, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < run->instance_count; i++) {
        if (run->instances[i].is_done)
            continue;
        if (run->p.commands)
            status = follow_commands(run, i, error);
        if (status == LS_OK)
            status = ls__inbox_pump(run->inbox, run->sides[0].cosim, run->sides[1].cosim, i, &until,
                                    error);
    }
    if (status == LS_OK && run->sides[1].cosim)
        status = ls__check_begin(run, error);
    if (status == LS_OK)
        status = ls_cosim_run(run->sides[0].cosim, until, run->p.cancel, error);
    if (status == LS_OK && run->sides[1].cosim)
        status = ls__check_piece(run, edge, until, error);
    return status;
}

static void adapt_live(ls__run *run, uint64_t edges, uint64_t ns)
{
    if (run->p.live_source == UINT32_MAX || edges < run->live_edges)
        return;
    if (ns > LIVE_NS && run->live_edges > 1)
        run->live_edges /= 2;
    else if (ns < LIVE_NS / 4 && run->live_edges < UINT64_C(1) << 40)
        run->live_edges *= 2;
}

static ls_status run_step(ls__run *run, uint64_t *next, ls_error *error)
{
    uint64_t edge = *next, until = step_end(run, edge), begun_ns = ls__os_now_ns();
    uint32_t used = 0;
    const ls__plan *plan = run->p.plan;
    const uint64_t begun_edge = edge;
    bool was_running = !run->instances[0].is_done;
    if (was_running)
        ls__waves_prepare(run->p.waves, run->sides[0].cosim, edge, &until);
    ls_status status = take_live(run, edge, error);
    if (status == LS_OK)
        status = ls__schedule_extend(plan->schedule, run->sides[0].cosim, run->sides[1].cosim,
                                     &until, plan->ops + run->ops_used,
                                     plan->op_count - run->ops_used, &used, error);
    run->ops_used += used;
    *next = until;
    while (status == LS_OK && lowest_edge(run, until, &edge)) {
        status = run_piece(run, edge, until, error);
        if (status == LS_OK)
            status = settle_all(run, error);
    }
    if (status == LS_OK && begun_edge < run->p.dump_edges && was_running)
        status = ls__dump_edge(run->p.dump, run->sides[0].cosim, begun_edge,
                               ls__schedule_time(plan->schedule, begun_edge), error);
    adapt_live(run, until - edge, ls__os_now_ns() - begun_ns);
    return status;
}

static ls_status run_all(ls__run *run, ls_error *error)
{
    uint64_t next = 0;
    ls_status status = settle_all(run, error);
    while (status == LS_OK && next < run->p.max_edges && run->done_count < run->instance_count) {
        if (run->p.cancel && *run->p.cancel)
            return ls__fail(error, LS_E_CANCELLED, "stopped");
        status = run_step(run, &next, error);
        ls__waves_flush(run->p.waves, NULL); /* one that fails is reported when it is closed */
        if (run->p.progress)
            run->p.progress(run->p.context, next);
    }
    return status;
}

ls_status ls__run_all(ls__run *run, ls_error *error)
{
    ls_status status = run_all(run, error);
    run->is_cut = status == LS_E_CANCELLED;
    if (run->is_cut)
        settle_all(run, NULL); /* some may have ended just then */
    return status;
}

ls_status ls__run_of(ls__run *run, uint32_t instance, ls__run_result *result, ls_error *error)
{
    const ls__run_instance *i = &run->instances[instance];
    if (i->is_done) {
        *result = i->result;
        return LS_OK;
    }
    *result = (ls__run_result){.edges = ls_cosim_edge(run->sides[0].cosim, instance),
                               .failed_asserts = i->failed_asserts,
                               .stop = run->is_cut ? "interrupted" : "edge"};
    return ls_cosim_digest(run->sides[0].cosim, instance, &result->digest, error);
}
