/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: listing, opening, closing, what they say about themselves.
 *
 * Two pieces of state are the process's: the counter that numbers devices, and the list of devices
 * that were closed but not freed. These stay reachable for good, since a hung thread may still use
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "core/probe.h"
#include "core/queue.h"
#include "emit/llvm/emit.h"

static _Atomic uint64_t last_device_number;
static _Atomic(ls_device *) kept_devices;

/* --- list ------------------------------------------------------------------------------------- */
ls_status ls_device_list(ls_device_info *infos, uint32_t capacity, uint32_t *count, ls_error *error)
{
    if (!count || (capacity && !infos))
        return ls__fail_no_result(error, "ls_device_list");
    uint32_t total = 0;
    for (uint32_t i = 0; i < ls__registry_count; i++) {
        uint32_t room = total < capacity ? capacity - total : 0;
        total += ls__registry[i].backend->list(room ? infos + total : NULL, room);
    }
    *count = total;
    return LS_OK;
}

/* --- open and close --------------------------------------------------------------------------- */
enum { DEFAULT_CACHE_BYTES = 256 << 20 };

static void device_free(ls_device *device)
{
    ls__dir_close(&device->code_cache.dir);
    ls__mem_free(device->cache_path);
    ls__pool_clear(device);
    ls__mem_free(device->probe);
    pthread_cond_destroy(&device->work);
    pthread_cond_destroy(&device->changed);
    pthread_cond_destroy(&device->built_changed);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->build_lock);
    ls__mem_free(device);
}

static ls_device *device_new(const ls__registry_entry *entry, const ls_device_info *info)
{
    ls_device *device = ls__mem_alloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->backend = entry->backend;
    device->emit = entry->emit;
    device->code_version = entry->code_version;
    device->compiler = entry->compiler ? entry->compiler : "";
    memcpy(device->name, info->name, sizeof device->name);
    memcpy(device->description, info->description, sizeof device->description);
    device->spin_ns = ls__os_cpu_count() > 1 ? 50000 : 0;
    if (pthread_mutex_init(&device->lock, NULL) != 0)
        goto no_lock;
    if (pthread_mutex_init(&device->build_lock, NULL) != 0)
        goto no_build_lock;
    if (ls__os_cond_init(&device->changed) != 0)
        goto no_changed;
    if (ls__os_cond_init(&device->work) != 0)
        goto no_work;
    if (ls__os_cond_init(&device->built_changed) != 0)
        goto no_built_changed;
    return device;

no_built_changed:
    pthread_cond_destroy(&device->work);
no_work:
    pthread_cond_destroy(&device->changed);
no_changed:
    pthread_mutex_destroy(&device->build_lock);
no_build_lock:
    pthread_mutex_destroy(&device->lock);
no_lock:
    ls__mem_free(device);
    return NULL;
}

static void set_budget(ls_device *device, uint64_t asked)
{
    uint64_t memory = device->backend->memory_bytes ? device->backend->memory_bytes(device->handle)
                                                    : ls__os_memory_bytes() / 2;
    device->budget.limit = asked ? asked : memory;
}

/* Where the cache cannot be had, programs are compiled each time: that is no reason to refuse. */
static void open_code_cache(ls_device *device, const ls_device_params *params)
{
    uint64_t limit = params->cache_bytes ? params->cache_bytes : DEFAULT_CACHE_BYTES;
    if (!device->emit || !params->cache_path)
        return;
    ls__dir *dir = NULL;
    ls__dir_open(params->cache_path, &dir, NULL);
    device->code_cache = ls__code_cache_of(dir, limit);
    if (dir)
        device->cache_path = ls__mem_strdup(params->cache_path);
}

static ls_status open_probe(ls_device *device, bool unprobed, ls_error *error)
{
    const ls__backend *backend = device->backend;
    if (unprobed || (backend->trusted && backend->trusted(device->handle)))
        return LS_OK;
    device->probe = ls__mem_alloc(1, sizeof *device->probe);
    return device->probe ? LS_OK : ls__fail_oom(error, sizeof *device->probe);
}

ls_status ls_device_open(const ls_device_params *params, ls_device **device, ls_error *error)
{
    ls_device_params given;
    ls_fault_plan plan;
    const ls__registry_entry *entry = NULL;
    ls_device_info info;
    if (!device)
        return ls__fail_no_result(error, "ls_device_open");
    *device = NULL;
    ls_status status = ls__params_in(&given, sizeof given, params, true, "ls_device_open", error);
    if (status == LS_OK && given.fault) {
        status = ls__params_in(&plan, sizeof plan, given.fault, false, "the fault plan", error);
        given.fault = &plan;
    }
    if (status == LS_OK)
        status = ls__device_choose(given.name, &entry, &info, error);
    if (status != LS_OK)
        return status;
    if (!info.usable)
        return ls__fail(error, LS_E_UNSUPPORTED, "device '%s' cannot be used: %s", info.name,
                        info.reason);
    if (given.target && !entry->backend->has_targets)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "device '%s' has no targets to choose from: '%s' was given", info.name,
                        given.target);

    if (entry->emit == ls__llvm_emit)
        ls__llvm_watch_thread();
    ls_device *opened = device_new(entry, &info);
    if (!opened)
        return ls__fail_oom(error, sizeof *opened);
    ls__backend_open_params open_params = {info.name, &given};
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    status = entry->backend->open(&open_params, &opened->handle, error);
    ls__os_fenv_leave(&saved);
    if (status != LS_OK) {
        device_free(opened);
        return status;
    }
    open_code_cache(opened, &given);
    opened->watches = given.check_bounds && entry->backend->watches;
    ls__params_out(&opened->caps, entry->backend->caps(opened->handle), sizeof opened->caps);
    set_budget(opened, given.budget_bytes);
    opened->number = atomic_fetch_add(&last_device_number, 1) + 1;
    status = open_probe(opened, given.unprobed, error);
    ls__probe_load(opened);
    if (status == LS_OK)
        status = ls__conductor_start(opened, error);
    if (status != LS_OK) {
        entry->backend->close(opened->handle);
        device_free(opened);
        return status;
    }
    *device = opened;
    return LS_OK;
}

static void keep(ls_device *device)
{
    device->next_kept = atomic_load(&kept_devices);
    while (!atomic_compare_exchange_weak(&kept_devices, &device->next_kept, device))
        ;
}

ls_status ls_device_destroy(ls_device **device, ls_error *error)
{
    if (!device || !*device)
        return LS_OK;
    ls_device *closed = *device;
    bool lost = atomic_load(&closed->lost);
    uint64_t objects = atomic_load(&closed->objects);
    if (objects && !lost)
        return ls__fail(error, LS_E_BUSY,
                        "device '%s' still has %llu buffers, programs, batches, streams or fences",
                        closed->name, (unsigned long long)objects);
    ls__tiers_stop(closed); /* first: its probe may need all the rest */
    ls__conductor_stop(closed);
    *device = NULL;
    if (lost) {
        keep(closed);
        return LS_OK;
    }
    ls__trace_abandon(closed);
    ls__built_clear_cache(closed);
    closed->backend->close(closed->handle);
    if (closed->watched)
        keep(closed);
    else
        device_free(closed);
    return LS_OK;
}

/* --- queries ---------------------------------------------------------------------------------- */
uint64_t ls_device_number(const ls_device *device)
{
    return device->number;
}

const char *ls_device_name(const ls_device *device)
{
    return device->name;
}

bool ls_device_is_lost(const ls_device *device)
{
    return atomic_load(&device->lost);
}

const ls_caps *ls_device_caps(const ls_device *device)
{
    return &device->caps;
}

const char *ls_device_description(const ls_device *device)
{
    return device->description;
}

const char *ls_device_cache_path(const ls_device *device)
{
    return device->cache_path;
}

void ls__device_lose(ls_device *device, const ls_error *error)
{
    pthread_mutex_lock(&device->lock);
    if (!atomic_load(&device->lost)) {
        device->lost_error = *error;
        atomic_store(&device->lost, true);
    }
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

ls_status ls__device_check(ls_device *device, ls_error *error)
{
    if (!atomic_load(&device->lost))
        return LS_OK;
    pthread_mutex_lock(&device->lock);
    ls_error why = device->lost_error;
    pthread_mutex_unlock(&device->lock);
    ls__fail(error, LS_E_INDETERMINATE, "device '%s' is lost: %s", device->name, why.message);
    return ls__fail_hint(error, LS_E_INDETERMINATE, "close it and open it anew");
}

ls_status ls__device_match(const ls_device *device, const ls_device *other, const char *what,
                           ls_error *error)
{
    if (device == other)
        return LS_OK;
    return ls__fail(error, LS_E_FOREIGN, "%s belongs to device instance %llu, not to %llu", what,
                    (unsigned long long)other->number, (unsigned long long)device->number);
}

void ls__device_spin(ls_device *device, uint32_t seen, uint64_t deadline_ns)
{
    while (ls__os_now_ns() < deadline_ns) {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(&device->ends, memory_order_relaxed) != seen)
                return;
            ls__os_relax();
        }
    }
}

/* --- counters --------------------------------------------------------------------------------- */
void ls__device_count(ls_device *device, ls__counter counter, uint64_t amount)
{
    atomic_fetch_add_explicit(&device->counters[counter], amount, memory_order_relaxed);
}

void ls_device_counters(const ls_device *device, ls_counters *counters)
{
    ls_counters result = {
#define X(name, text) .name = atomic_load(&device->counters[LS__COUNTER_##name]),
        LS_COUNTER_TABLE(X)
#undef X
    };
    ls__params_out(counters, &result, sizeof result);
}

void ls_device_counters_reset(ls_device *device)
{
    for (uint32_t i = 0; i < LS__COUNTER_COUNT; i++)
        atomic_store(&device->counters[i], 0);
}
