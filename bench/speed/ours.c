/* SPDX-License-Identifier: Apache-2.0 */
/* The contender that is ours: a prepared batch of one dispatch (repeated where the problem has
 * rounds), measured from the submission to the end of the wait. */
#include "speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ours {
    const problem *p;
    ls_stream *stream;
    ls_program *program;
    ls_buffer *buffers[MAX_BUFFERS];
    ls_prepared *prepared;
};

void need(ls_status status, const ls_error *error, const char *what)
{
    if (status) {
        fprintf(stderr, "speed: %s: %s: %s %s\n", what, ls_status_name(status), error->message,
                error->hint);
        exit(1);
    }
}

ls_device *open_device(const char *name, uint32_t threads)
{
    ls_error error = {0};
    ls_device *device = NULL;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = name;
    params.threads = threads;
    need(ls_device_open(&params, &device, &error), &error, name ? name : "the default device");
    return device;
}

ls_module *compile_text(const char *text, const char *path)
{
    ls_error error = {0};
    ls_module *module = NULL;
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    params.text = text;
    params.length = strlen(text);
    params.path = path;
    need(ls_module_compile(&params, &module, NULL, &error), &error, path);
    return module;
}

static void prepare(ours *subject, ls_device *device)
{
    const problem *p = subject->p;
    ls_error error = {0};
    const ls_kernel *kernel = NULL;
    ls_batch *batch = NULL;
    ls_range ranges[MAX_BUFFERS];
    need(ls_program_kernel(subject->program, p->kernel, &kernel, &error), &error, p->name);
    for (uint32_t i = 0; i < p->buffer_count; i++)
        ranges[i] = (ls_range){subject->buffers[i], 0, LS_WHOLE};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    memcpy(dispatch.global_size, p->global, sizeof p->global);
    dispatch.buffers = ranges;
    dispatch.buffer_count = p->buffer_count;
    dispatch.scalars = p->scalars;
    dispatch.scalar_bytes = p->scalar_count * (uint32_t)sizeof p->scalars[0];
    need(ls_batch_create(device, &batch, &error), &error, p->name);
    need(ls_batch_repeat_begin(batch, p->rounds, 0, &error), &error, p->name);
    need(ls_batch_dispatch(batch, &dispatch, &error), &error, p->name);
    need(ls_batch_repeat_end(batch, &error), &error, p->name);
    need(ls_prepare(batch, &subject->prepared, &error), &error, p->name);
    ls_batch_destroy(&batch);
}

ours *ours_create(ls_device *device, const problem *p, const char *kernels, bool unchecked)
{
    ours *subject = allocate(sizeof *subject);
    subject->p = p;
    ls_error error = {0};
    char *path = path_of(kernels, p->kernel, ".kc");
    char *text = read_text(path);
    if (!text) {
        fprintf(stderr, "speed: cannot read %s\n", path);
        exit(1);
    }
    ls_module *module = compile_text(text, path);
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    params.unchecked = unchecked;
    need(ls_program_create(device, module, &params, &subject->program, &error), &error, path);
    ls_module_destroy(&module);
    free(text);
    free(path);
    need(ls_stream_create(device, &subject->stream, &error), &error, p->name);
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const data *buffer = &p->buffers[i];
        ls_buffer_params memory = LS_BUFFER_PARAMS_INIT;
        memory.size_bytes = buffer->bytes;
        memory.element = buffer->element;
        need(ls_buffer_create(device, &memory, &subject->buffers[i], &error), &error, p->name);
        need(ls_buffer_write(subject->buffers[i], 0, buffer->element, buffer->initial,
                             buffer->bytes, &error), &error, p->name);
    }
    prepare(subject, device);
    return subject;
}

double ours_run(ours *subject)
{
    const problem *p = subject->p;
    ls_error error = {0};
    ls_fence *fence = NULL;
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const data *buffer = &p->buffers[i];
        if (buffer->restore)
            need(ls_buffer_write(subject->buffers[i], 0, buffer->element, buffer->initial,
                                 buffer->bytes, &error), &error, p->name);
    }
    double start = seconds_now();
    need(ls_submit_prepared(subject->stream, subject->prepared, NULL, &fence, &error), &error,
         p->name);
    need(ls_fence_wait(fence, LS_FOREVER, NULL, &error), &error, p->name);
    double seconds = seconds_now() - start;
    ls_fence_destroy(&fence);
    return seconds;
}

void ours_read(ours *subject, uint32_t buffer, void *bytes)
{
    const data *description = &subject->p->buffers[buffer];
    ls_error error = {0};
    need(ls_buffer_read(subject->buffers[buffer], 0, description->element, bytes,
                        description->bytes, &error), &error, subject->p->name);
}

void ours_destroy(ours *subject)
{
    ls_error error = {0};
    ls_prepared_destroy(&subject->prepared);
    for (uint32_t i = 0; i < subject->p->buffer_count; i++)
        ls_buffer_destroy(&subject->buffers[i]);
    ls_program_destroy(&subject->program);
    need(ls_stream_destroy(&subject->stream, &error), &error, subject->p->name);
    free(subject);
}
