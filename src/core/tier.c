/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From quick code to optimised code. What was built quick is put into a queue of the device, whose
 * thread, started when it is first needed, makes optimised code of one after another. Submissions
 * look at `optimized` when they are made (resolve.c); quick code stays until the whole is released,
 * so nobody has to know who still runs it.
 *
 * Whoever sets LS__TIER_RUNNING, under the lock, works on it and says how it ended.
 */
#include <stdio.h>
#include <string.h>

#include "core/core.h"

/* --- one of them ------------------------------------------------------------------------------ */
static void end(ls__built *built, ls__tier_state tier, const ls_error *error)
{
    ls_device *device = built->device;
    pthread_mutex_lock(&device->build_lock);
    built->tier = tier;
    snprintf(built->failure, sizeof built->failure, "%.255s", error ? error->message : "");
    pthread_cond_broadcast(&device->built_changed);
    pthread_mutex_unlock(&device->build_lock);
}

/* The caller has set LS__TIER_RUNNING. `error` is not NULL. */
static ls_status run(ls__built *built, ls_error *error)
{
    ls_status status = ls__built_optimize(built, false, error);
    end(built, status == LS_OK ? LS__TIER_OPTIMIZED : LS__TIER_FAILED,
        status == LS_OK ? NULL : error);
    return status;
}

/* --- the queue; under the lock ---------------------------------------------------------------- */
static void push(ls__tiers *tiers, ls__built *built)
{
    built->next_waiting = NULL;
    if (tiers->last)
        tiers->last->next_waiting = built;
    else
        tiers->first = built;
    tiers->last = built;
    built->tier = LS__TIER_WAITING;
    atomic_fetch_add(&built->refs, 1);
}

/* The queue's reference goes to the caller. */
static void unlink_waiting(ls__tiers *tiers, ls__built *built)
{
    ls__built *before = NULL;
    for (ls__built *at = tiers->first; at != built; at = at->next_waiting)
        before = at;
    if (before)
        before->next_waiting = built->next_waiting;
    else
        tiers->first = built->next_waiting;
    if (tiers->last == built)
        tiers->last = before;
}

/* --- the thread ------------------------------------------------------------------------------- */
/* Whether only the queue, and perhaps the cache, still hold it; only the cache could give it to
 * somebody, and needs the lock for that. */
static bool is_forgotten(ls__built *built)
{
    return atomic_load(&built->refs) == (built->cached ? 2u : 1u);
}

static void *optimizer_main(void *argument)
{
    ls_device *device = argument;
    ls__tiers *tiers = &device->tiers;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved); /* a new thread inherits its maker's */
    pthread_mutex_lock(&device->build_lock);
    while (!tiers->stops) {
        ls__built *built = tiers->first;
        if (!built) {
            ls__os_cond_wait(&device->built_changed, &device->build_lock, LS_FOREVER);
            continue;
        }
        unlink_waiting(tiers, built);
        bool forgotten = is_forgotten(built);
        built->tier = forgotten ? LS__TIER_QUICK : LS__TIER_RUNNING;
        pthread_mutex_unlock(&device->build_lock);
        ls_error error;
        uint64_t begun = ls__os_now_ns();
        if (!forgotten)
            run(built, &error);
        ls__device_count(device, LS__COUNTER_compile_ns, ls__os_now_ns() - begun);
        ls__built_release(built);
        pthread_mutex_lock(&device->build_lock);
    }
    pthread_mutex_unlock(&device->build_lock);
    return NULL;
}

static ls_status enqueue(ls__built *built, ls_error *error)
{
    ls_device *device = built->device;
    ls__tiers *tiers = &device->tiers;
    ls_status status = LS_OK;
    pthread_mutex_lock(&device->build_lock);
    if (!tiers->runs && ls__os_thread_create(&tiers->thread, optimizer_main, device) != 0) {
        built->tier = LS__TIER_QUICK;
        status = ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start a thread for device '%s'",
                          device->name);
    } else {
        tiers->runs = true;
        push(tiers, built);
    }
    pthread_cond_broadcast(&device->built_changed);
    pthread_mutex_unlock(&device->build_lock);
    return status;
}

void ls__tiers_stop(ls_device *device)
{
    ls__tiers *tiers = &device->tiers;
    pthread_mutex_lock(&device->build_lock);
    tiers->stops = true;
    pthread_cond_broadcast(&device->built_changed);
    pthread_mutex_unlock(&device->build_lock);
    if (tiers->runs)
        pthread_join(tiers->thread, NULL);
    while (tiers->first) {
        ls__built *built = tiers->first;
        unlink_waiting(tiers, built);
        end(built, LS__TIER_QUICK, NULL);
        ls__built_release(built);
    }
}

/* --- what others ask for ---------------------------------------------------------------------- */
ls_status ls__tiers_finish(ls__built *built, ls_error *error)
{
    ls_device *device = built->device;
    ls_error why; /* `error` may be NULL */
    pthread_mutex_lock(&device->build_lock);
    while (built->tier == LS__TIER_RUNNING)
        ls__os_cond_wait(&device->built_changed, &device->build_lock, LS_FOREVER);
    bool done = built->tier == LS__TIER_OPTIMIZED, waiting = built->tier == LS__TIER_WAITING;
    if (waiting)
        unlink_waiting(&device->tiers, built);
    if (!done)
        built->tier = LS__TIER_RUNNING;
    pthread_mutex_unlock(&device->build_lock);
    if (waiting) /* the queue's; the caller has one */
        ls__built_release(built);
    ls_status status = done ? LS_OK : run(built, &why);
    if (status != LS_OK && error)
        *error = why;
    return status;
}

ls_status ls_program_optimize(ls_program *program, ls_error *error)
{
    if (!program)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_program_optimize: no program was given");
    ls__built *built = program->built;
    ls_device *device = built->device;
    ls_status status = ls__device_check(device, error);
    if (status != LS_OK)
        return status;
    pthread_mutex_lock(&device->build_lock);
    bool begin = built->tier == LS__TIER_QUICK || built->tier == LS__TIER_FAILED;
    if (begin)
        built->tier = LS__TIER_RUNNING;
    pthread_mutex_unlock(&device->build_lock);
    if (!begin)
        return LS_OK;
    ls__os_fenv saved;
    uint64_t begun = ls__os_now_ns();
    ls__os_fenv_enter(&saved);
    bool found = ls__built_optimize(built, true, NULL) == LS_OK;
    ls__os_fenv_leave(&saved);
    ls__device_count(device, LS__COUNTER_compile_ns, ls__os_now_ns() - begun);
    if (!found)
        return enqueue(built, error);
    end(built, LS__TIER_OPTIMIZED, NULL);
    return LS_OK;
}

void ls_program_tier(const ls_program *program, ls_tier_info *info)
{
    static const ls_tier_state states[] = {
        [LS__TIER_OPTIMIZED] = LS_TIER_STATE_OPTIMIZED, [LS__TIER_QUICK] = LS_TIER_STATE_QUICK,
        [LS__TIER_WAITING] = LS_TIER_STATE_BUILDING,    [LS__TIER_RUNNING] = LS_TIER_STATE_BUILDING,
        [LS__TIER_FAILED] = LS_TIER_STATE_FAILED,
    };
    const ls__built *built = program->built;
    ls_tier_info result = {.struct_size = sizeof result};
    pthread_mutex_lock(&built->device->build_lock);
    result.state = states[built->tier];
    memcpy(result.reason, built->failure, sizeof result.reason);
    pthread_mutex_unlock(&built->device->build_lock);
    if (result.state == LS_TIER_STATE_OPTIMIZED && atomic_load(&built->hurried))
        snprintf(result.reason, sizeof result.reason,
                 "a function is too long to be compiled for speed: keep it in noinline pieces");
    ls__params_out(info, &result, sizeof result);
}
