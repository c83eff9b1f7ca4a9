/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the probe's program: straight to the backend, so that it takes no stream, is in no trace,
 * and no counter of the device moves. The job stands in line behind what the device is running.
 */
#include <string.h>

#include "core/probe.h"
#include "core/queue.h"

static const uint64_t limit_ns = UINT64_C(30) * 1000000000;

/* On the heap, because a job that does not end is left behind with all it uses. */
typedef struct run {
    ls_device *device;
    ls__submission owner; /* ls__backend_done looks at its device only */
    ls__job job;
    ls__command command;
    ls__backend_kernel kernel;
    ls__backend_program *program;
    ls__span buffers[2]; /* in, out */
    void *bytes;         /* code */
} run;

static ls_status build(run *r, const ls__ir_module *module, bool quick, const ls__code_bytes *made,
                       ls_error *error)
{
    ls_device *device = r->device;
    const ls__ir_function *function = module->functions.items[1];
    r->kernel = (ls__backend_kernel){
        .name = function->name,
        .function = 1,
        .workgroup = {function->workgroup[0], function->workgroup[1], function->workgroup[2]},
        .buffer_count = function->buffer_count,
        .scalar_bytes = function->scalar_bytes};
    ls__backend_code code = {.module = module, .kernels = &r->kernel, .kernel_count = 1};
    ls_status status = LS_OK;
    if (made) { /* backends take aligned bytes */
        code.bytes = r->bytes = ls__mem_alloc(made->size, 1);
        code.size = made->size;
        if (!r->bytes)
            return ls__fail_oom(error, made->size);
        memcpy(r->bytes, made->bytes, made->size);
    } else if (device->emit)
        status =
            ls__build_emit(device, &code, &(ls__build_options){.quick = quick}, &r->bytes, error);
    if (status == LS_OK)
        status = ls__build_hand_over(device, &code, &r->program, error);
    return status;
}

static ls_status make_buffers(run *r, const void *in, uint64_t in_size, uint64_t out_size,
                              ls_error *error)
{
    const ls__backend *backend = r->device->backend;
    const uint64_t sizes[2] = {in_size, out_size};
    for (uint32_t i = 0; i < 2; i++) {
        ls__span *span = &r->buffers[i];
        ls_status status = backend->allocate(r->device->handle, sizes[i], &span->memory, error);
        if (status != LS_OK)
            return status;
        span->size = sizes[i];
    }
    return backend->write(r->device->handle, &r->buffers[0], in, error);
}

static bool wait_until(run *r, uint64_t deadline_ns)
{
    ls_device *device = r->device;
    pthread_mutex_lock(&device->lock);
    while (!r->job.done && !atomic_load(&device->lost) &&
           ls__os_cond_wait(&device->changed, &device->lock, deadline_ns))
        ;
    bool done = r->job.done;
    pthread_mutex_unlock(&device->lock);
    return done;
}

/* False: the job is still with the device, and so must stay what it uses. */
static bool execute(run *r, ls_status *status, ls_error *error)
{
    ls_device *device = r->device;
    const ls__backend *backend = device->backend;
    ls__job *job = &r->job;
    if (backend->accept && (*status = backend->accept(device->handle, job, error)) != LS_OK)
        return true;
    backend->start(device->handle, job);
    bool done = wait_until(r, ls__os_now_ns() + limit_ns);
    if (!done) { /* another submission runs for long, perhaps for good */
        atomic_store(&job->cancel, 1);
        if (backend->cancel)
            backend->cancel(device->handle, job);
        done = wait_until(r, ls__os_now_ns() + backend->cancel_grace_ns);
        *status =
            ls__fail(error, LS_E_TIMEOUT,
                     "device '%s' is too busy to show that its operations are right", device->name);
    } else if (job->result.status != LS_OK) {
        *status = ls__fail(error, job->result.status, "the probe of device '%s' failed: %s",
                           device->name, job->result.error.message);
    }
    if (done && backend->discard)
        backend->discard(device->handle, job);
    return done;
}

static void finish(run *r)
{
    const ls__backend *backend = r->device->backend;
    for (uint32_t i = 0; i < 2; i++)
        if (r->buffers[i].memory)
            backend->release(r->device->handle, r->buffers[i].memory);
    if (r->program)
        backend->program_free(r->device->handle, r->program);
    ls__mem_free(r->bytes);
    ls__mem_free(r);
}

ls_status ls__probe_run(ls_device *device, const ls__ir_module *module, bool quick,
                        const ls__code_bytes *made, uint32_t lanes, const void *in,
                        uint64_t in_size, void *out, uint64_t out_size, ls_error *error)
{
    run *r = ls__mem_alloc(1, sizeof *r);
    if (!r)
        return ls__fail_oom(error, sizeof *r);
    r->device = r->owner.device = device;
    ls_status status = build(r, module, quick, made, error);
    if (status == LS_OK)
        status = make_buffers(r, in, in_size, out_size, error);
    r->command = (ls__command){.kind = LS__COMMAND_DISPATCH,
                               .dispatch = {.program = r->program,
                                            .global_size = {lanes, 1, 1},
                                            .buffers = r->buffers,
                                            .buffer_count = 2}};
    r->job.commands = &r->command;
    r->job.command_count = 1;
    r->job.owner = &r->owner;
    bool ended = status != LS_OK || execute(r, &status, error);
    if (status == LS_OK)
        status = device->backend->read(device->handle, &r->buffers[1], out, error);
    if (ended)
        finish(r);
    return status;
}
