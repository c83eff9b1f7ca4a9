/* SPDX-License-Identifier: Apache-2.0 */
/* See watch.h. A site's lowest workgroup can be read without the lock, so that a kernel that is out
 * of range everywhere does not queue for it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cpu/watch.h"

struct ls__cpu_watch {
    pthread_mutex_t lock;
    uint32_t site_count;
    _Atomic uint64_t *lowest; /* by site: workgroup; UINT64_MAX = none */
    ls__outside *found;       /* by site, until they are sorted */
    atomic_bool any;
    uint8_t *const *buffers;
    const uint64_t *ranges;
    uint32_t buffer_count;
};

static void reset(ls__cpu_watch *watch)
{
    for (uint32_t i = 0; i < watch->site_count; i++) {
        atomic_store_explicit(&watch->lowest[i], UINT64_MAX, memory_order_relaxed);
        watch->found[i] = (ls__outside){.workgroup = UINT64_MAX};
    }
    atomic_store(&watch->any, false);
}

ls_status ls__cpu_watch_create(uint32_t site_count, ls__cpu_watch **watch, ls_error *error)
{
    *watch = NULL;
    ls__cpu_watch *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->site_count = site_count;
    made->lowest = ls__mem_alloc(site_count, sizeof *made->lowest);
    made->found = ls__mem_alloc(site_count, sizeof *made->found);
    if (!made->lowest || !made->found || pthread_mutex_init(&made->lock, NULL) != 0) {
        ls__mem_free(made->lowest);
        ls__mem_free(made->found);
        ls__mem_free(made);
        return ls__fail_oom(error, site_count * sizeof *made->found);
    }
    reset(made);
    *watch = made;
    return LS_OK;
}

void ls__cpu_watch_destroy(ls__cpu_watch **watch)
{
    ls__cpu_watch *freed = *watch;
    if (!freed)
        return;
    pthread_mutex_destroy(&freed->lock);
    ls__mem_free(freed->lowest);
    ls__mem_free(freed->found);
    ls__mem_free(freed);
    *watch = NULL;
}

void ls__cpu_watch_begin(ls__cpu_watch *watch, uint8_t *const *buffers, const uint64_t *ranges,
                         uint32_t buffer_count)
{
    watch->buffers = buffers;
    watch->ranges = ranges;
    watch->buffer_count = buffer_count;
    if (atomic_load(&watch->any))
        reset(watch);
}

static int64_t of_lane(const ls__cpu_by_lane *by_lane, uint32_t lane)
{
    if (by_lane->step == LS__CPU_LISTED)
        return by_lane->list[lane];
    return (int64_t)((uint64_t)by_lane->first + lane * (uint64_t)by_lane->step);
}

/* The lowest lane that is out of range; false: none is. */
static bool lowest_lane(const ls__cpu_outside *outside, uint32_t *lane)
{
    for (uint32_t left = outside->lanes; left; left &= left - 1) {
        *lane = (uint32_t)__builtin_ctz(left);
        if ((uint64_t)of_lane(&outside->offset, *lane) >= outside->limit)
            return true;
    }
    return false;
}

static void keep(const ls__cpu_watch *watch, const ls__cpu_outside *outside, uint32_t lane)
{
    ls__outside *kept = &watch->found[outside->site];
    int64_t offset = of_lane(&outside->offset, lane);
    *kept = (ls__outside){
        .workgroup = outside->workgroup,
        .position = offset == LS_NOWHERE ? of_lane(&outside->subscript, lane) : offset,
        .site = outside->site,
        .lane = outside->first_lane + lane,
        .buffer = UINT32_MAX,
        .nowhere = offset == LS_NOWHERE,
    };
    for (uint32_t i = watch->buffer_count; i-- > 0;) {
        if (watch->buffers[i] == outside->base) {
            kept->buffer = i;
            kept->range = watch->ranges[i];
        }
    }
}

void ls__cpu_watch_note(const ls__cpu_args *args, const ls__cpu_outside *outside)
{
    ls__cpu_watch *watch = args->context;
    _Atomic uint64_t *lowest = &watch->lowest[outside->site];
    uint32_t lane;
    if (atomic_load_explicit(lowest, memory_order_relaxed) < outside->workgroup ||
        !lowest_lane(outside, &lane))
        return;
    pthread_mutex_lock(&watch->lock);
    const ls__outside *known = &watch->found[outside->site];
    if (outside->workgroup < known->workgroup ||
        (outside->workgroup == known->workgroup && outside->first_lane + lane < known->lane)) {
        keep(watch, outside, lane);
        atomic_store_explicit(lowest, outside->workgroup, memory_order_relaxed);
        atomic_store(&watch->any, true);
    }
    pthread_mutex_unlock(&watch->lock);
}

static int compare(const void *left, const void *right)
{
    const ls__outside *a = left, *b = right;
    if (a->workgroup != b->workgroup)
        return a->workgroup < b->workgroup ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

uint32_t ls__cpu_watch_end(ls__cpu_watch *watch, const ls__outside **found)
{
    uint32_t count = 0;
    *found = watch->found;
    if (!atomic_load(&watch->any))
        return 0;
    qsort(watch->found, watch->site_count, sizeof *watch->found, compare);
    while (count < watch->site_count && watch->found[count].workgroup != UINT64_MAX)
        count++;
    return count;
}
