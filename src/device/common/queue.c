/* SPDX-License-Identifier: Apache-2.0 */
/* See queue.h. */
#include "base/os.h"
#include "base/status.h"
#include "device/common/queue.h"

/* Under the lock. */
static void begin(ls__job_queue *queue, ls__job *job)
{
    queue->current = job;
    if (queue->calls->begin)
        queue->calls->begin(queue->context);
}

static void *queue_main(void *argument)
{
    ls__job_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        ls__job *job = queue->first;
        if (job && !queue->current) {
            queue->first = job->backend_data;
            if (!queue->first)
                queue->last = NULL;
            begin(queue, job);
            pthread_mutex_unlock(&queue->lock);
            queue->calls->run(queue->context, job, false);
            pthread_mutex_lock(&queue->lock);
            queue->current = NULL;
            pthread_mutex_unlock(&queue->lock);
            ls__backend_done(job);
            pthread_mutex_lock(&queue->lock);
        } else if (!job && queue->stopping) {
            break;
        } else {
            ls__os_cond_wait(&queue->changed, &queue->lock, LS_FOREVER);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

void ls__job_queue_start(ls__job_queue *queue, ls__job *job)
{
    job->backend_data = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->last)
        queue->last->backend_data = job;
    else
        queue->first = job;
    queue->last = job;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

bool ls__job_queue_run(ls__job_queue *queue, ls__job *job)
{
    pthread_mutex_lock(&queue->lock);
    bool is_free = !queue->current && !queue->first;
    if (is_free)
        begin(queue, job);
    pthread_mutex_unlock(&queue->lock);
    if (!is_free)
        return false;
    queue->calls->run(queue->context, job, true);
    pthread_mutex_lock(&queue->lock);
    queue->current = NULL;
    if (queue->first || queue->stopping)
        pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

/* Under the lock: whether the job was still in the queue. */
static bool unlink_job(ls__job_queue *queue, ls__job *job)
{
    ls__job *previous = NULL;
    for (ls__job *j = queue->first; j; previous = j, j = j->backend_data) {
        if (j != job)
            continue;
        if (previous)
            previous->backend_data = j->backend_data;
        else
            queue->first = j->backend_data;
        if (queue->last == j)
            queue->last = previous;
        return true;
    }
    return false;
}

void ls__job_queue_cancel(ls__job_queue *queue, ls__job *job)
{
    pthread_mutex_lock(&queue->lock);
    bool queued = unlink_job(queue, job);
    if (queue->current == job && queue->calls->cancel)
        queue->calls->cancel(queue->context);
    pthread_mutex_unlock(&queue->lock);
    if (!queued)
        return;
    job->result.status = ls__fail(&job->result.error, LS_E_CANCELLED, "cancelled");
    ls__backend_done(job);
}

ls_status ls__job_queue_open(ls__job_queue *queue, const ls__job_calls *calls, void *context,
                             ls_error *error)
{
    queue->calls = calls;
    queue->context = context;
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        goto no_lock;
    if (ls__os_cond_init(&queue->changed) != 0)
        goto no_cond;
    if (ls__os_thread_create(&queue->thread, queue_main, queue) != 0)
        goto no_thread;
    queue->is_open = true;
    return LS_OK;

no_thread:
    pthread_cond_destroy(&queue->changed);
no_cond:
    pthread_mutex_destroy(&queue->lock);
no_lock:
    return ls__fail(error, LS_E_OUT_OF_MEMORY, "cannot start the thread that runs jobs");
}

void ls__job_queue_close(ls__job_queue *queue)
{
    if (!queue->is_open)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    queue->is_open = false;
}
