/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled form on a thread of its own, while the table-driven one runs. The thread reads what
 * does not change after the run was created: graph, layout, peripherals, parameters.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/status.h"
#include "cosim/engine.h"

struct ls__form_job {
    const ls_cosim *cosim;
    pthread_t thread;
    ls__form *form; /* NULL when it failed */
    ls_error error;
    _Atomic bool done, given_up;
};

void ls__log(const ls_cosim *cosim, const char *format, ...)
{
    if (!cosim->params.log)
        return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cosim->params.log(cosim->params.log_context, text);
}

static void *work(void *argument)
{
    ls__form_job *job = argument;
    ls__form *form = NULL;
    ls_status status = ls__compiled_create(job->cosim, &form, &job->error);
    if (status == LS_OK && !atomic_load(&job->given_up))
        status = ls__form_compile(job->cosim, form, &job->given_up, &job->error);
    if (status != LS_OK)
        ls__form_destroy(&form);
    job->form = form;
    atomic_store(&job->done, true);
    return NULL;
}

ls_status ls__form_job_start(ls_cosim *cosim, ls_error *error)
{
    ls__form_job *job = ls__mem_alloc(1, sizeof *job);
    if (!job)
        return ls__fail_oom(error, sizeof *job);
    job->cosim = cosim;
    if (ls__os_thread_create(&job->thread, work, job) != 0) {
        ls__mem_free(job);
        return ls__fail(error, LS_E_OUT_OF_MEMORY, "no thread can be started");
    }
    cosim->job = job;
    return LS_OK;
}

ls__form *ls__form_job_take(ls_cosim *cosim)
{
    ls__form_job *job = cosim->job;
    if (!job || !atomic_load(&job->done))
        return NULL;
    pthread_join(job->thread, NULL);
    ls__form *form = job->form;
    if (!form)
        ls__log(cosim, "the netlist stays table-driven: %s", job->error.message);
    ls__mem_free(job);
    cosim->job = NULL;
    return form;
}

void ls__form_job_stop(ls_cosim *cosim)
{
    ls__form_job *job = cosim->job;
    if (!job)
        return;
    atomic_store(&job->given_up, true);
    pthread_join(job->thread, NULL);
    ls__form_destroy(&job->form);
    ls__mem_free(job);
    cosim->job = NULL;
}
