/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs a kernel compiled ahead: it needs the library, but neither the kernel's text
 * nor a compiler for the device. To build and run it:
 *
 *     lockstep bundle examples/kernels/saxpy.kc -o saxpy.bundle
 *     cc -Isaxpy.bundle examples/bundle/saxpy.c saxpy.bundle/saxpy.c \
 *         $(pkg-config --cflags --libs lockstep) -o saxpy
 *     ./saxpy saxpy.bundle cpu
 */
#include "saxpy.h"

#include <stdio.h>

enum { N = 1000 };

static ls_status make_buffer(ls_device *device, ls_buffer **buffer, ls_error *error)
{
    float values[N];
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    params.size_bytes = sizeof values;
    params.element = LS_MEM_F32;
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ls_status status = ls_buffer_create(device, &params, buffer, error);
    if (status == LS_OK)
        status = ls_buffer_write(*buffer, 0, LS_MEM_F32, values, sizeof values, error);
    return status;
}

int main(int argc, char **argv)
{
    ls_error error = {0};
    ls_device *device = NULL;
    ls_stream *stream = NULL;
    ls_buffer *x = NULL, *y = NULL;
    saxpy_bundle saxpy = {0};
    float last = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: saxpy BUNDLE [DEVICE]\n");
        return 2;
    }

    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    params.name = argc > 2 ? argv[2] : NULL;
    ls_status status = ls_device_open(&params, &device, &error);
    if (status == LS_OK)
        status = saxpy_open(argv[1], device, &saxpy, &error);
    if (status == LS_OK)
        status = ls_stream_create(device, &stream, &error);
    if (status == LS_OK)
        status = make_buffer(device, &x, &error);
    if (status == LS_OK)
        status = make_buffer(device, &y, &error);

    /* y = 2x + y: the launcher's function has the kernel's parameters. */
    const uint32_t lanes[3] = {N, 1, 1};
    const ls_range all_of_x = {x, 0, LS_WHOLE}, all_of_y = {y, 0, LS_WHOLE};
    if (status == LS_OK)
        status = saxpy_launch_saxpy(&saxpy, stream, lanes, N, 2.0f, all_of_x, all_of_y, &error);
    if (status == LS_OK)
        status = ls_buffer_read(y, (N - 1) * sizeof last, LS_MEM_F32, &last, sizeof last, &error);

    if (status == LS_OK)
        printf("y[%d] = %g on %s\n", N - 1, (double)last, ls_device_name(device));
    else
        fprintf(stderr, "%s: %s %s %s\n", ls_status_name(status), error.message, error.where,
                error.hint);
    ls_buffer_destroy(&x);
    ls_buffer_destroy(&y);
    ls_stream_destroy(&stream, NULL);
    saxpy_close(&saxpy);
    ls_device_destroy(&device, NULL);
    return status == LS_OK ? 0 : 1;
}
