/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of core share: checks that print the error, and kernels in IR text, so that they
 * need no front end. */
#ifndef LS_TESTS_CORE_KIT_H
#define LS_TESTS_CORE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../base/ok.h"
#include "base/mem.h"
#include "lockstep/launch.h"

#define MILLISECOND 1000000ull
#define SECOND 1000000000ull
#define COUNT(list) (sizeof(list) / sizeof *(list))

#define FAILS(code_, call)                                                                         \
    do {                                                                                           \
        ls_error error_ = {0};                                                                     \
        ls_error *error = &error_;                                                                 \
        ls_status status_ = (call);                                                                \
        if (status_ != (code_) || error_.code != (code_) || !error_.message[0])                    \
            fail_msg("%s: expected %s, got %s: %s", #call, ls_status_name(code_),                  \
                     ls_status_name(status_), error_.message);                                     \
    } while (0)

#define NOT_SUBMITTED(cause_, call)                                                                \
    do {                                                                                           \
        ls_error error_ = {0};                                                                     \
        ls_error *error = &error_;                                                                 \
        ls_status status_ = (call);                                                                \
        if (status_ != LS_E_NOT_SUBMITTED || error_.cause != (cause_))                             \
            fail_msg("%s: expected not submitted / %s, got %s / %s: %s", #call,                    \
                     ls_status_name(cause_), ls_status_name(status_),                              \
                     ls_status_name(error_.cause), error_.message);                                \
    } while (0)

/* y[i] = x[i] + k for i < n; rounds(y): y[iteration()] = k; endless; fails: trap(9) in lane k of
 * each workgroup. */
static const char basic_ir[] = "lockstep ir 3\n"
                               "kernel @add workgroup(64, 1, 1) {\n"
                               "  scalar n : u32 size 4 align 4 at 0\n"
                               "  scalar k : u32 size 4 align 4 at 4\n"
                               "  buffer x : const u32 size 4 align 4\n"
                               "  buffer y : u32 size 4 align 4\n"
                               "  %1 = id global_id 0 : i32\n"
                               "  %2 = param u32 0 : i32\n"
                               "  %3 = ult %1, %2 : bool\n"
                               "  if %3 {\n"
                               "    %4 = const 0 : i64\n"
                               "    %5 = zext %1 : i64\n"
                               "    %6 = index %4, %5 stride 4 count 0 : i64\n"
                               "    %7 = load u32 buffer 0 [%6] : i32\n"
                               "    %8 = param u32 4 : i32\n"
                               "    %9 = add %7, %8 : i32\n"
                               "    store u32 buffer 1 [%6], %9\n"
                               "  }\n"
                               "}\n"
                               "kernel @rounds workgroup(1, 1, 1) {\n"
                               "  scalar k : u32 size 4 align 4 at 0\n"
                               "  buffer y : u32 size 4 align 4\n"
                               "  %1 = id iteration 0 : i32\n"
                               "  %2 = param u32 0 : i32\n"
                               "  %4 = const 0 : i64\n"
                               "  %5 = zext %1 : i64\n"
                               "  %6 = index %4, %5 stride 4 count 0 : i64\n"
                               "  store u32 buffer 0 [%6], %2\n"
                               "}\n"
                               "kernel @endless workgroup(1, 1, 1) {\n"
                               "  buffer y : u32 size 4 align 4\n"
                               "  loop {\n"
                               "  }\n"
                               "}\n"
                               "kernel @fails workgroup(8, 1, 1) {\n"
                               "  scalar k : u32 size 4 align 4 at 0\n"
                               "  %1 = id local_id 0 : i32\n"
                               "  %2 = param u32 0 : i32\n"
                               "  %3 = eq %1, %2 : bool\n"
                               "  if %3 {\n"
                               "    %4 = const 9 : i32\n"
                               "    trap %4\n"
                               "  }\n"
                               "}\n";

/* y[i] = x[i] + x[i] in f64, which the fault device does not have; with iteration() added so that
 * rounds show. */
static const char wide_ir[] = "lockstep ir 3\n"
                              "kernel @twice workgroup(4, 1, 1) {\n"
                              "  buffer x : const f64 size 8 align 8\n"
                              "  buffer y : f64 size 8 align 8\n"
                              "  %1 = id global_id 0 : i32\n"
                              "  %4 = const 0 : i64\n"
                              "  %5 = zext %1 : i64\n"
                              "  %6 = index %4, %5 stride 8 count 0 : i64\n"
                              "  %7 = load f64 buffer 0 [%6] : f64\n"
                              "  %8 = id iteration 0 : i32\n"
                              "  %9 = u2f %8 : f64\n"
                              "  %10 = fadd %7, %7 : f64\n"
                              "  %11 = fadd %10, %9 : f64\n"
                              "  store f64 buffer 1 [%6], %11\n"
                              "}\n";

/* a[i] = k + i; all lanes; b[i] = a[n - 1 - i] + a value that lives across the barrier. */
static const char mirror_ir[] = "lockstep ir 3\n"
                                "kernel @mirror workgroup(4, 1, 1) {\n"
                                "  scalar n : u32 size 4 align 4 at 0\n"
                                "  scalar k : u32 size 4 align 4 at 4\n"
                                "  buffer a : u32 size 4 align 4\n"
                                "  buffer b : u32 size 4 align 4\n"
                                "  %1 = id global_id 0 : i32\n"
                                "  %2 = param u32 4 : i32\n"
                                "  %3 = add %1, %2 : i32\n"
                                "  %4 = const 0 : i64\n"
                                "  %5 = zext %1 : i64\n"
                                "  %6 = index %4, %5 stride 4 count 0 : i64\n"
                                "  store u32 buffer 0 [%6], %3\n"
                                "  grid_barrier\n"
                                "  %7 = param u32 0 : i32\n"
                                "  %8 = sub %7, %1 : i32\n"
                                "  %9 = const 1 : i32\n"
                                "  %10 = sub %8, %9 : i32\n"
                                "  %11 = zext %10 : i64\n"
                                "  %12 = index %4, %11 stride 4 count 0 : i64\n"
                                "  %13 = load u32 buffer 0 [%12] : i32\n"
                                "  %14 = add %13, %3 : i32\n"
                                "  store u32 buffer 1 [%6], %14\n"
                                "}\n";

static inline ls_device *kit_open(const char *name, const ls_fault_plan *plan)
{
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_device *device = NULL;
    params.name = name;
    params.fault = plan;
    OK(ls_device_open(&params, &device, error));
    return device;
}

static inline ls_program *kit_program(ls_device *device, const char *text, ls_device *fallback,
                                      const char *lower)
{
    ls_program_params params = LS_PROGRAM_PARAMS_INIT;
    ls_module *module = NULL;
    ls_program *program = NULL;
    params.fallback = fallback;
    params.lower = lower;
    OK(ls_module_read(text, strlen(text), &module, error));
    OK(ls_program_create(device, module, &params, &program, error));
    ls_module_destroy(&module);
    return program;
}

static inline const ls_kernel *kit_kernel(ls_program *program, const char *name)
{
    const ls_kernel *kernel = NULL;
    OK(ls_program_kernel(program, name, &kernel, error));
    return kernel;
}

static inline ls_buffer *kit_buffer(ls_device *device, uint64_t size, ls_mem element)
{
    ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
    ls_buffer *buffer = NULL;
    params.size_bytes = size;
    params.element = element;
    params.label = "kit";
    OK(ls_buffer_create(device, &params, &buffer, error));
    return buffer;
}

static inline ls_batch *kit_batch(ls_device *device)
{
    ls_batch *batch = NULL;
    OK(ls_batch_create(device, &batch, error));
    return batch;
}

static inline ls_stream *kit_stream(ls_device *device)
{
    ls_stream *stream = NULL;
    OK(ls_stream_create(device, &stream, error));
    return stream;
}

/* One range a buffer, whole; at most four. */
static inline ls_dispatch kit_dispatch(const ls_kernel *kernel, uint32_t lanes,
                                       const ls_range *ranges, uint32_t count, const void *scalars,
                                       uint32_t scalar_bytes)
{
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    dispatch.kernel = kernel;
    dispatch.global_size[0] = lanes;
    dispatch.buffers = ranges;
    dispatch.buffer_count = count;
    dispatch.scalars = scalars;
    dispatch.scalar_bytes = scalar_bytes;
    return dispatch;
}

static inline void kit_run(ls_stream *stream, const ls_batch *batch, ls_receipt *receipt)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_fence *fence = NULL;
    OK(ls_submit(stream, batch, &params, &fence, error));
    OK(ls_fence_wait(fence, 60 * SECOND, receipt, error));
    ls_fence_destroy(&fence);
}

static inline uint32_t kit_u32(ls_buffer *buffer, uint64_t index)
{
    uint32_t value = 0xdeadbeef;
    OK(ls_buffer_read(buffer, index * 4, LS_MEM_U32, &value, 4, error));
    return value;
}

static inline uint64_t kit_used(const ls_device *device)
{
    ls_memory_info info = {.struct_size = sizeof info};
    ls_device_memory(device, &info);
    return info.used_bytes;
}

#define WHOLE(buffer_) ((ls_range){.buffer = (buffer_), .offset = 0, .size = LS_WHOLE})

#endif
