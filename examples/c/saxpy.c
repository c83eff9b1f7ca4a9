/* SPDX-License-Identifier: Apache-2.0 */
/* saxpy from C: compile a kernel, run it twice from one prepared batch, read the result, handle
 * every outcome. */
#include <lockstep/launch.h>

#include <stdio.h>
#include <string.h>

static const char text[] = "kernel void saxpy(u32 n, f32 a, const f32 *x, f32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    if (i < n)\n"
                           "        y[i] = a * x[i] + y[i];\n"
                           "}\n";

enum { N = 1000 };

typedef struct scalars { /* the kernel's scalar parameters, in C layout */
    uint32_t n;
    float a;
} scalars;

static int failed(const ls_error *error)
{
    fprintf(stderr, "%s: %s %s %s\n", ls_status_name(error->code), error->message, error->where,
            error->hint);
    return 1;
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    ls_device *device = NULL;
    ls_stream *stream = NULL;
    ls_module *module = NULL;
    ls_program *program = NULL;
    const ls_kernel *kernel = NULL;
    ls_buffer *x = NULL, *y = NULL;
    ls_batch *batch = NULL;
    ls_prepared *prepared = NULL;
    int status = 1;

    /* 1. A device and a stream. Without a name it is the most preferred one; the reference, which
     * is slow, must be asked for by name. */
    ls_device_params device_params = LS_DEVICE_PARAMS_INIT;
    device_params.name = argc > 1 ? argv[1] : NULL;
    if (ls_device_open(&device_params, &device, &error) ||
        ls_stream_create(device, &stream, &error))
        goto end;

    /* 2. Text to module to program to kernel. */
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    compile.text = text;
    compile.length = strlen(text);
    if (ls_module_compile(&compile, &module, NULL, &error) ||
        ls_program_create(device, module, NULL, &program, &error) ||
        ls_program_kernel(program, "saxpy", &kernel, &error))
        goto end;

    /* 3. Memory. New buffers are zero. */
    ls_buffer_params buffer = LS_BUFFER_PARAMS_INIT;
    buffer.size_bytes = N * sizeof(float);
    buffer.element = LS_MEM_F32;
    if (ls_buffer_create(device, &buffer, &x, &error) ||
        ls_buffer_create(device, &buffer, &y, &error))
        goto end;

    /* 4. Record: upload x, run saxpy, download y. `a` comes with each submission, at byte 0 of its
     * parameter block; the bytes of x and y come through slots 0 and 1. */
    static const ls_scalar_link links[] = {{offsetof(scalars, a), 0, sizeof(float)}};
    scalars fixed = {.n = N};
    ls_range buffers[] = {{x, 0, LS_WHOLE}, {y, 0, LS_WHOLE}};
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    dispatch.global_size[0] = N;
    dispatch.buffers = buffers;
    dispatch.buffer_count = 2;
    dispatch.scalars = &fixed;
    dispatch.scalar_bytes = sizeof fixed;
    dispatch.links = links;
    dispatch.link_count = 1;
    dispatch.tag.label = "saxpy";
    if (ls_batch_create(device, &batch, &error) ||
        ls_batch_upload_slot(batch, buffers[0], LS_MEM_F32, 0, NULL, &error) ||
        ls_batch_dispatch(batch, &dispatch, &error) ||
        ls_batch_download_slot(batch, buffers[1], LS_MEM_F32, 1, NULL, &error) ||
        ls_prepare(batch, &prepared, &error))
        goto end;

    /* 5. Submit twice: y = 2x, then y = 2x + 3x. */
    static float in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    for (int round = 0; round < 2; round++) {
        float a = round == 0 ? 2.0f : 3.0f;
        ls_slot slots[] = {{.upload = in}, {.download = out}};
        ls_submit_params submit = LS_SUBMIT_PARAMS_INIT;
        submit.parameters = &a;
        submit.parameter_bytes = sizeof a;
        submit.slots = slots;
        submit.slot_count = 2;
        submit.time_limit_ns = 10000000000u;
        submit.attribution = true;
        ls_fence *fence = NULL;
        if (ls_submit_prepared(stream, prepared, &submit, &fence, &error))
            goto end; /* not submitted: nothing ran */
        ls_receipt receipt = {.struct_size = sizeof receipt};
        if (ls_fence_wait(fence, LS_FOREVER, &receipt, &error)) {
            ls_fence_destroy(&fence);
            goto end; /* failed but quiescent, or indeterminate: error.code says which */
        }
        for (uint32_t i = 0; i < receipt.attribution_count; i++)
            printf("round %d: %s %s\n", round, receipt.attribution[i].operation,
                   receipt.attribution[i].kernel ? receipt.attribution[i].kernel : "");
        ls_fence_destroy(&fence);
    }
    printf("y[999] = %g\n", (double)out[N - 1]);
    status = 0;

end:
    if (status)
        failed(&error);
    ls_prepared_destroy(&prepared);
    ls_batch_destroy(&batch);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_program_destroy(&program);
    ls_module_destroy(&module);
    if (ls_stream_destroy(&stream, &error) || ls_device_destroy(&device, &error))
        status = failed(&error);
    return status;
}
