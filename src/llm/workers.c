/* SPDX-License-Identifier: Apache-2.0 */
/* A round of work has a number; a thread that has done its part of a round waits for the next. */
#include "llm/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/os.h"

enum { MOST_THREADS = 16 };

struct ls__workers {
    pthread_mutex_t mutex;
    pthread_cond_t begun, ended;
    pthread_t threads[MOST_THREADS];
    uint32_t thread_count; /* without the caller */
    /* Under the mutex: */
    uint64_t round;
    uint32_t busy;
    bool stopped;
    /* Of the round: */
    void (*do_item)(void *context, uint64_t index);
    void *context;
    uint64_t count;
    atomic_uint_fast64_t next;
};

static void take_items(ls__workers *w)
{
    for (uint64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;)
        w->do_item(w->context, i);
}

static void *work(void *argument)
{
    ls__workers *w = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        while (w->round == seen && !w->stopped)
            pthread_cond_wait(&w->begun, &w->mutex);
        if (w->stopped)
            break;
        seen = w->round;
        pthread_mutex_unlock(&w->mutex);
        take_items(w);
        pthread_mutex_lock(&w->mutex);
        if (--w->busy == 0)
            pthread_cond_signal(&w->ended);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

ls__workers *ls__workers_create(void)
{
    ls__workers *w = ls__mem_alloc(1, sizeof *w);
    uint32_t wanted = ls__os_cpu_count();
    if (!w)
        return NULL;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->begun, NULL);
    pthread_cond_init(&w->ended, NULL);
    while (w->thread_count + 1 < wanted && w->thread_count < MOST_THREADS &&
           ls__os_thread_create(&w->threads[w->thread_count], work, w) == 0)
        w->thread_count++;
    return w;
}

void ls__workers_destroy(ls__workers **workers)
{
    ls__workers *w = *workers;
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stopped = true;
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->mutex);
    for (uint32_t i = 0; i < w->thread_count; i++)
        pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->begun);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->mutex);
    ls__mem_free(w);
    *workers = NULL;
}

void ls__workers_run(ls__workers *w, uint64_t count, void (*do_item)(void *context, uint64_t index),
                     void *context)
{
    pthread_mutex_lock(&w->mutex);
    w->do_item = do_item;
    w->context = context;
    w->count = count;
    atomic_store(&w->next, 0);
    if (count > 1) { /* one item is not worth waking anybody */
        w->busy = w->thread_count;
        w->round++;
        pthread_cond_broadcast(&w->begun);
    }
    pthread_mutex_unlock(&w->mutex);
    take_items(w);
    pthread_mutex_lock(&w->mutex);
    while (w->busy)
        pthread_cond_wait(&w->ended, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}
