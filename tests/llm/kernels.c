/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <string.h>

const char *const device_names[DEVICES] = {"reference", "cpu", "vulkan"};
machine machines[DEVICES];

static ls_module *compile(ls__strbuf *text)
{
    ls_module *module = NULL;
    ls_diagnostics *diagnostics = NULL;
    ls_error error = {0};
    ls_compile_params params = LS_COMPILE_PARAMS_INIT;
    params.text = text->text;
    params.length = text->length;
    params.path = "llm";
    if (ls_module_compile(&params, &module, &diagnostics, &error) != LS_OK)
        fail_msg("%s", diagnostics ? ls_diagnostics_text(diagnostics) : error.message);
    ls_diagnostics_destroy(&diagnostics);
    ls__strbuf_finish(text);
    return module;
}

static void report(void *context, const ls_sanitizer_report *found)
{
    (void)context;
    printf("the sanitizer: %s, line %u, %s[%lld]: %s %s\n", found->kernel, found->line,
           found->object, (long long)found->index, found->kind, found->detail);
}

void kernels_open(ls__strbuf *text, bool without_vulkan)
{
    ls_module *module = compile(text);
    for (int d = 0; d < DEVICES; d++) {
        ls_device_params params = LS_DEVICE_PARAMS_INIT;
        ls_program_params program = LS_PROGRAM_PARAMS_INIT;
        ls_error error = {0};
        params.name = device_names[d];
        params.threads = 2;
        params.sanitize = d == 0; /* what runs unchecked must be clean */
        params.on_report = report;
        params.cache_path = "llm-operations-cache";
        if (without_vulkan && strcmp(device_names[d], "vulkan") == 0)
            printf("without vulkan: as was asked for\n");
        else if (ls_device_open(&params, &machines[d].device, &error) != LS_OK)
            printf("without %s: %s\n", device_names[d], error.message);
        else
            OK(ls_program_create(machines[d].device, module, &program, &machines[d].program,
                                 error));
    }
    ls_module_destroy(&module);
}

int kernels_close(void **state)
{
    (void)state;
    ls_counters counters = {.struct_size = sizeof counters};
    ls_device_counters(machines[0].device, &counters);
    if (counters.sanitizer_reports)
        return -1;
    for (int d = 0; d < DEVICES; d++) {
        ls_program_destroy(&machines[d].program);
        if (ls_device_destroy(&machines[d].device, NULL) != LS_OK)
            return -1;
    }
    return 0;
}

/* --- running a kernel ------------------------------------------------------------------------- */

void run(int d, const char *name, const uint32_t global[3], const void *scalars,
         uint32_t scalar_bytes, argument *arguments, uint32_t count)
{
    ls_device *device = machines[d].device;
    ls_buffer *buffers[MOST_BUFFERS] = {0};
    ls_range ranges[MOST_BUFFERS];
    const ls_kernel *kernel = NULL;
    ls_batch *batch = NULL;
    ls_stream *stream = NULL;
    ls_fence *fence = NULL;
    OK(ls_program_kernel(machines[d].program, name, &kernel, error));
    for (uint32_t i = 0; i < count; i++) {
        const argument *a = &arguments[i];
        ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
        params.size_bytes = a->size;
        if (!a->again) {
            OK(ls_buffer_create(device, &params, &buffers[i], error));
            OK(ls_buffer_write(buffers[i], 0, LS_MEM_NONE, a->bytes, a->size, error));
        }
        ranges[i] = (ls_range){a->again ? buffers[a->again - 1] : buffers[i], 0, LS_WHOLE};
    }
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    memcpy(dispatch.global_size, global, sizeof dispatch.global_size);
    dispatch.buffers = ranges;
    dispatch.buffer_count = count;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = scalar_bytes;
    ls_submit_params submit = LS_SUBMIT_PARAMS_INIT;
    OK(ls_batch_create(device, &batch, error));
    OK(ls_batch_dispatch(batch, &dispatch, error));
    OK(ls_stream_create(device, &stream, error));
    OK(ls_submit(stream, batch, &submit, &fence, error));
    OK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    for (uint32_t i = 0; i < count; i++)
        if (arguments[i].out)
            OK(ls_buffer_read(buffers[i], 0, LS_MEM_NONE, arguments[i].bytes, arguments[i].size,
                              error));
    ls_fence_destroy(&fence);
    OK(ls_stream_destroy(&stream, error));
    ls_batch_destroy(&batch);
    for (uint32_t i = 0; i < count; i++)
        ls_buffer_destroy(&buffers[i]);
}

/* --- data ---------------------------------------------------------------------------------------
 */

void *allocate(size_t size)
{
    void *memory = calloc(size, 1);
    assert_non_null(memory);
    return memory;
}

float random_float(ls__rng *rng)
{
    float x = ((float)ls__rng_below(rng, 1 << 24) - 0x1p23f) * 0x1p-21f;
    uint32_t kind = ls__rng_below(rng, 40);
    return kind == 0 ? 0 : kind == 1 ? x * 0x1p-30f : x;
}

float *random_floats(ls__rng *rng, size_t count)
{
    float *x = allocate(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = random_float(rng);
    return x;
}
