/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices share that run one job at a time: of the jobs that were started on a thread of the
 * queue's own, in their order; of others on the thread that has them run, when there is no other.
 *
 * The queue is linked through job->backend_data, so that starting a job allocates nothing and
 * cannot fail.
 */
#ifndef LS_DEVICE_QUEUE_QUEUE_H
#define LS_DEVICE_QUEUE_QUEUE_H

#include <pthread.h>

#include "core/backend.h"

typedef struct ls__job_calls {
    /* Runs the job and fills in its result. `on_caller`: on the thread that wants it, whose signals
     * and floating-point environment are the caller's; else on the queue's, which has all signals
     * blocked. */
    void (*run)(void *context, ls__job *job, bool on_caller);
    /* Right before, and when the job that runs is cancelled: both under the queue's lock. May be
     * NULL: nothing to do. */
    void (*begin)(void *context);
    void (*cancel)(void *context);
} ls__job_calls;

typedef struct ls__job_queue {
    const ls__job_calls *calls;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
    /* under the lock */
    ls__job *first, *last;
    ls__job *current; /* runs */
    bool stopping;
} ls__job_queue;

/* `calls` must outlive the queue, which must be zero and stay where it is. */
ls_status ls__job_queue_open(ls__job_queue *queue, const ls__job_calls *calls, void *context,
                             ls_error *error);
void ls__job_queue_close(ls__job_queue *queue); /* no job is running; accepts one never opened */

/* Entries of the backend table. */
void ls__job_queue_start(ls__job_queue *queue, ls__job *job);
bool ls__job_queue_run(ls__job_queue *queue, ls__job *job);
/* A job that has not begun ends at once, although others before it go on. */
void ls__job_queue_cancel(ls__job_queue *queue, ls__job *job);

#endif
