/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is open while workers may join: `state` holds its number, whether it is open, and how many
 * workers are inside, in one word, so that joining and closing cannot miss each other. Items are
 * handed out by an atomic counter, in several chunks for each thread.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "device/cpu/pool.h"

enum { SPIN_NS = 50000, WORTH_WAKING_NS = 10000, CHUNKS_PER_THREAD = 8 };

static const uint64_t inside_mask = 0xffff, open_bit = 0x10000, number_step = 0x20000;

typedef struct worker {
    ls__cpu_pool *pool;
    pthread_t thread;
    uint32_t index;
} worker;

struct ls__cpu_pool {
    uint32_t thread_count;
    worker *workers; /* thread_count - 1 */
    uint32_t started;

    atomic_uint_fast64_t state;
    atomic_uint_fast64_t next; /* first item that is not handed out */
    /* Of the open task; written while it is closed. */
    uint64_t count, chunk;
    ls__cpu_pool_work *work;
    void *context;

    pthread_mutex_t lock;
    pthread_cond_t woken, left;
    /* under the lock */
    uint32_t sleeping;
    bool stopping;
    atomic_bool owner_waits;
};

/* --- items -------------------------------------------------------------------------------------
 */

static bool take(ls__cpu_pool *pool, uint64_t *first, uint64_t *count)
{
    uint64_t at = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
    if (at >= pool->count)
        return false;
    *first = at;
    *count = pool->count - at < pool->chunk ? pool->count - at : pool->chunk;
    return true;
}

static void work_on(ls__cpu_pool *pool, uint32_t thread)
{
    uint64_t first, count;
    while (take(pool, &first, &count)) {
        if (!pool->work(pool->context, thread, first, count)) {
            atomic_store_explicit(&pool->next, pool->count, memory_order_relaxed);
            return;
        }
    }
}

/* --- workers ------------------------------------------------------------------------------------
 */

/* Joins the open task unless it is the one numbered `last`. */
static bool join(ls__cpu_pool *pool, uint64_t last, uint64_t *number)
{
    uint64_t state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    while ((state & open_bit) && state / number_step != last) {
        if (atomic_compare_exchange_weak_explicit(&pool->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            *number = state / number_step;
            return true;
        }
    }
    return false;
}

static void leave(ls__cpu_pool *pool)
{
    uint64_t state = atomic_fetch_sub_explicit(&pool->state, 1, memory_order_acq_rel);
    if ((state & inside_mask) != 1 || !atomic_load(&pool->owner_waits))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

/* Looks for a task, first awake, then asleep. False: the pool is closing. */
static bool find_task(ls__cpu_pool *pool, uint64_t last, uint64_t *number)
{
    uint64_t begun = ls__os_now_ns();
    do {
        for (int i = 0; i < 64; i++) {
            if (join(pool, last, number))
                return true;
            ls__os_relax();
        }
    } while (ls__os_now_ns() - begun < SPIN_NS);
    pthread_mutex_lock(&pool->lock);
    bool found = false;
    pool->sleeping++;
    while (!pool->stopping && !(found = join(pool, last, number)))
        ls__os_cond_wait(&pool->woken, &pool->lock, LS_FOREVER);
    pool->sleeping--;
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved); /* a new thread inherits its maker's */
    for (uint64_t number = 0; find_task(w->pool, number, &number);) {
        work_on(w->pool, w->index);
        leave(w->pool);
    }
    return NULL;
}

/* --- the owner -----------------------------------------------------------------------------------
 */

static void open_task(ls__cpu_pool *pool)
{
    uint64_t state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    atomic_store_explicit(&pool->state, (state / number_step + 1) * number_step + open_bit,
                          memory_order_release);
    pthread_mutex_lock(&pool->lock);
    if (pool->sleeping)
        pthread_cond_broadcast(&pool->woken);
    pthread_mutex_unlock(&pool->lock);
}

/* No worker joins any more; returns when the last has left. */
static void close_task(ls__cpu_pool *pool)
{
    uint64_t state = atomic_fetch_and_explicit(&pool->state, ~open_bit, memory_order_acquire);
    uint64_t begun = ls__os_now_ns();
    while (state & inside_mask) {
        ls__os_relax();
        if (ls__os_now_ns() - begun > SPIN_NS)
            break;
        state = atomic_load_explicit(&pool->state, memory_order_acquire);
    }
    if (!(state & inside_mask))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->owner_waits, true);
    while (atomic_load(&pool->state) & inside_mask)
        ls__os_cond_wait(&pool->left, &pool->lock, LS_FOREVER);
    atomic_store(&pool->owner_waits, false);
    pthread_mutex_unlock(&pool->lock);
}

void ls__cpu_pool_run(ls__cpu_pool *pool, uint64_t count, uint64_t expected_ns,
                      ls__cpu_pool_work *work, void *context)
{
    bool alone = pool->thread_count == 1 || count == 1 || expected_ns < WORTH_WAKING_NS;
    uint64_t chunks = (uint64_t)pool->thread_count * CHUNKS_PER_THREAD;
    pool->count = count;
    pool->chunk = alone ? count : (count + chunks - 1) / chunks;
    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (alone) {
        work_on(pool, 0);
        return;
    }
    open_task(pool);
    work_on(pool, 0);
    close_task(pool);
}

/* --- life
 * ------------------------------------------------------------------------------------------ */

uint32_t ls__cpu_pool_threads(const ls__cpu_pool *pool)
{
    return pool->thread_count;
}

ls_status ls__cpu_pool_create(uint32_t threads, ls__cpu_pool **pool, ls_error *error)
{
    *pool = NULL;
    ls__cpu_pool *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    made->thread_count = threads;
    made->workers = ls__mem_alloc(threads, sizeof *made->workers);
    if (!made->workers || pthread_mutex_init(&made->lock, NULL) != 0)
        goto no_lock;
    if (ls__os_cond_init(&made->woken) != 0)
        goto no_woken;
    if (ls__os_cond_init(&made->left) != 0)
        goto no_left;
    *pool = made;
    for (uint32_t i = 1; i < threads; i++) {
        worker *w = &made->workers[i - 1];
        *w = (worker){.pool = made, .index = i};
        if (ls__os_thread_create(&w->thread, worker_main, w) != 0) {
            ls__cpu_pool_destroy(pool);
            return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start %u threads", threads);
        }
        made->started = i;
    }
    return LS_OK;

no_left:
    pthread_cond_destroy(&made->woken);
no_woken:
    pthread_mutex_destroy(&made->lock);
no_lock:
    ls__mem_free(made->workers);
    ls__mem_free(made);
    return ls__fail_oom(error, threads * sizeof(worker));
}

void ls__cpu_pool_destroy(ls__cpu_pool **pool)
{
    ls__cpu_pool *p = *pool;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->woken);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->left);
    pthread_cond_destroy(&p->woken);
    pthread_mutex_destroy(&p->lock);
    ls__mem_free(p->workers);
    ls__mem_free(p);
    *pool = NULL;
}
