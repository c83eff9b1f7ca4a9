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

enum { SPIN_NS = 50000, CHUNKS_PER_THREAD = 8 };
/* A helper is for so much work: in a batch, where it stays awake for the next task, or alone. */
enum { WORTH_IN_BATCH_NS = 10000, WORTH_ALONE_NS = 40000 };
/* Longer tasks are for all threads, even where there are fewer cores. */
enum { LONG_NS = 1000000 };

static const uint64_t inside_mask = 0xffff, open_bit = 0x10000, number_step = 0x20000;

typedef struct worker {
    ls__cpu_pool *pool;
    pthread_t thread;
    uint32_t index;
} worker;

struct ls__cpu_pool {
    uint32_t thread_count, core_count;
    worker *workers; /* thread_count - 1 */
    uint32_t started;

    atomic_uint_fast64_t state;
    atomic_uint_fast64_t next; /* first item that is not handed out */
    /* Of the open task; written while it is closed. */
    uint64_t count, chunk;
    uint64_t ended_ns; /* the last task; the owner's */
    ls__cpu_pool_work *work;
    void *context;

    pthread_mutex_t lock;
    pthread_cond_t woken, left;
    /* under the lock */
    uint32_t sleeping;
    bool stopping;
    atomic_bool owner_waits;
    atomic_uint looking; /* workers that look for a task, awake */
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

/* Returns how many items it did. */
static uint64_t work_on(ls__cpu_pool *pool, uint32_t thread)
{
    uint64_t first, count, done = 0;
    while (take(pool, &first, &count)) {
        done += count;
        if (!pool->work(pool->context, thread, first, count)) {
            atomic_store_explicit(&pool->next, pool->count, memory_order_relaxed);
            break;
        }
    }
    return done;
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
    uint64_t state = atomic_fetch_sub(&pool->state, 1); /* before it looks who waits */
    if ((state & inside_mask) != 1 || !atomic_load(&pool->owner_waits))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

/* Looks for a task for a while. */
static bool find_awake(ls__cpu_pool *pool, uint64_t last, uint64_t *number)
{
    bool found = false;
    if (atomic_fetch_add(&pool->looking, 1) + 1 < pool->core_count) { /* one is the owner's */
        uint64_t begun = ls__os_now_ns();
        do {
            for (int i = 0; i < 64 && !found; i++) {
                found = join(pool, last, number);
                ls__os_relax();
            }
        } while (!found && ls__os_now_ns() - begun < SPIN_NS);
    }
    atomic_fetch_sub(&pool->looking, 1);
    return found;
}

/* Looks for a task, first awake, then asleep. False: the pool is closing. */
static bool find_task(ls__cpu_pool *pool, uint64_t last, uint64_t *number)
{
    if (find_awake(pool, last, number))
        return true;
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

static void open_task(ls__cpu_pool *pool, uint32_t helpers)
{
    uint64_t state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    atomic_store_explicit(&pool->state, (state / number_step + 1) * number_step + open_bit,
                          memory_order_release);
    uint32_t awake = atomic_load(&pool->looking);
    pthread_mutex_lock(&pool->lock);
    uint32_t sleeping = pool->sleeping;
    pthread_mutex_unlock(&pool->lock);
    uint32_t wanted = helpers > awake ? helpers - awake : 0;
    if (wanted >= sleeping && sleeping > 0) {
        pthread_cond_broadcast(&pool->woken);
    } else {
        for (uint32_t i = 0; i < wanted; i++)
            pthread_cond_signal(&pool->woken);
    }
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

/* How many others should work on it. */
static uint32_t helpers_for(const ls__cpu_pool *pool, uint64_t count, uint64_t expected_ns,
                            uint64_t now)
{
    uint64_t helpers = pool->thread_count - 1;
    uint64_t worth_ns = now - pool->ended_ns < SPIN_NS ? WORTH_IN_BATCH_NS : WORTH_ALONE_NS;
    if (expected_ns < LONG_NS && helpers > pool->core_count - 1)
        helpers = pool->core_count - 1;
    if (helpers > expected_ns / worth_ns)
        helpers = expected_ns / worth_ns;
    return (uint32_t)(helpers < count - 1 ? helpers : count - 1);
}

uint64_t ls__cpu_pool_run(ls__cpu_pool *pool, uint64_t count, uint64_t expected_ns,
                          ls__cpu_pool_work *work, void *context)
{
    uint64_t begun = ls__os_now_ns();
    uint32_t helpers = helpers_for(pool, count, expected_ns, begun);
    uint64_t chunks = (uint64_t)(helpers + 1) * CHUNKS_PER_THREAD;
    pool->count = count;
    pool->chunk = helpers ? (count + chunks - 1) / chunks : count;
    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (helpers) {
        open_task(pool, helpers);
        begun = ls__os_now_ns();
    }
    uint64_t done = work_on(pool, 0);
    uint64_t took_ns = pool->ended_ns = ls__os_now_ns();
    took_ns -= begun;
    if (helpers) {
        close_task(pool);
        pool->ended_ns = ls__os_now_ns();
    }
    return done == count ? took_ns
           : done        ? (uint64_t)((double)took_ns / (double)done * (double)count) + 1
                         : 0;
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
    made->core_count = ls__os_cpu_count();
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
