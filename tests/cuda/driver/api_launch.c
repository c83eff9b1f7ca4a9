/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels: what they may ask for, and the run itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

static CUresult check_size(const kernel *k, const unsigned *grid, const unsigned *block,
                           unsigned shared)
{
    static const unsigned most_threads[3] = {1024, 1024, 64};
    int most = 0;
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || grid[i] > setting.grid[i] || block[i] == 0 ||
            block[i] > most_threads[i] ||
            (k->function->required[i] && block[i] != k->function->required[i]))
            return CUDA_ERROR_INVALID_VALUE;
    unsigned threads = block[0] * block[1] * block[2];
    if (threads > setting.block_threads || shared > (unsigned)k->dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (k->function->max_threads && threads > k->function->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    most = (int)(setting.block_registers / k->registers);
    return (int)threads > most ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/* From an array of pointers, one for each parameter, or from a buffer with its size. */
static CUresult take_parameters(work *w, const function *f, void **parameters, void **extra)
{
    w->parameters = driver_need(calloc(f->parameter_bytes + 16, 1));
    if (parameters && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra) {
        const void *buffer = NULL;
        size_t size = 0;
        for (; *extra; extra += 2) {
            if ((uintptr_t)extra[0] == LAUNCH_PARAM_BUFFER_POINTER)
                buffer = extra[1];
            else if ((uintptr_t)extra[0] == LAUNCH_PARAM_BUFFER_SIZE)
                memcpy(&size, extra[1], sizeof size);
        }
        if (!buffer || size < f->parameter_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(w->parameters, buffer, f->parameter_bytes);
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < f->parameter_count; i++) {
        if (!parameters || !parameters[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(w->parameters + f->parameters[i]->offset, parameters[i], f->parameters[i]->size);
    }
    return CUDA_SUCCESS;
}

CUresult launch_prepare(context *c, work *w, CUfunction k, const unsigned *grid,
                        const unsigned *block, unsigned shared, void **parameters, void **extra)
{
    if (!k || k->module->context != c)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = check_size(k, grid, block, shared);
    if (result != CUDA_SUCCESS)
        return result;
    for (int i = 0; i < 3; i++) {
        w->grid[i] = grid[i];
        w->block[i] = block[i];
    }
    w->shared = shared;
    w->kernel = k;
    pthread_mutex_lock(&driver_lock);
    k->module->references++;
    pthread_mutex_unlock(&driver_lock);
    return take_parameters(w, k->function, parameters, extra);
}

static void discard(work *w)
{
    pthread_mutex_lock(&driver_lock);
    work_clear(w);
    pthread_mutex_unlock(&driver_lock);
    free(w);
}

static CUresult launch(CUfunction k, const unsigned *grid, const unsigned *block, unsigned shared,
                       CUstream s, void **parameters, void **extra, bool cooperative)
{
    ENTER(c);
    CUresult fault = fault_count(COUNT_launch);
    if (fault != CUDA_SUCCESS && !fault_is_late(fault))
        return fault;
    work *w = work_create(WORK_KERNEL);
    w->fault = fault;
    w->cooperative = cooperative;
    CUresult result = launch_prepare(c, w, k, grid, block, shared, parameters, extra);
    if (result != CUDA_SUCCESS) {
        discard(w);
        return result;
    }
    return stream_submit(stream_of(c, s), w);
}

API cuLaunchKernel(CUfunction k, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   CUstream s, void **parameters, void **extra)
{
    unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    return launch(k, grid, block, shared, s, parameters, extra, false);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction k, int threads,
                                                size_t shared);

bool launch_fits(const work *w)
{
    int each = 0;
    int threads = (int)(w->block[0] * w->block[1] * w->block[2]);
    CUresult result =
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, w->kernel, threads, w->shared);
    return result == CUDA_SUCCESS &&
           (uint64_t)w->grid[0] * w->grid[1] * w->grid[2] <= (uint64_t)each * PROCESSORS;
}

API cuLaunchCooperativeKernel(CUfunction k, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                              CUstream s, void **parameters)
{
    unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    const work asked = {.kernel = k,
                        .grid = {grid_x, grid_y, grid_z},
                        .block = {block_x, block_y, block_z},
                        .shared = shared};
    fault_count(COUNT_cooperative);
    if (!k)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!launch_fits(&asked))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(k, grid, block, shared, s, parameters, NULL, true);
}

/* --- the run ------------------------------------------------------------------------------------
 */
static CUresult result_of(ptx_outcome outcome)
{
    switch (outcome) {
    case PTX_DONE:
        return CUDA_SUCCESS;
    case PTX_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* The memory that there is when it starts stays for as long as it runs. */
CUresult launch_run(context *c, const work *w)
{
    pthread_mutex_lock(&driver_lock);
    size_t count = c->allocation_count;
    allocation **held = driver_need(calloc(count + 1, sizeof *held));
    ptx_range *ranges = driver_need(calloc(count + 1, sizeof *ranges));
    for (size_t i = 0; i < count; i++) {
        held[i] = c->allocations[i];
        held[i]->references++;
        ranges[i] = (ptx_range){held[i]->start, held[i]->size, held[i]->bytes};
    }
    pthread_mutex_unlock(&driver_lock);
    uint64_t blocks = (uint64_t)w->grid[0] * w->grid[1] * w->grid[2];
    uint64_t threads = blocks * w->block[0] * w->block[1] * w->block[2];
    ptx_grid grid = {
        .program = w->kernel->program,
        .blocks = {w->grid[0], w->grid[1], w->grid[2]},
        .threads = {w->block[0], w->block[1], w->block[2]},
        .dynamic_shared = w->shared,
        .parameters = w->parameters,
        .ranges = ranges,
        .range_count = count,
        .cooperative = w->cooperative,
        .reverse = setting.reverse,
        .host_threads = threads < 4096 ? 1 : setting.host_threads,
        .processors = PROCESSORS,
        .stop = &c->stop,
    };
    ptx_result result;
    ptx_grid_run(&grid, &result);
    if (result.outcome != PTX_DONE)
        context_break(c, result_of(result.outcome), result.message);
    pthread_mutex_lock(&driver_lock);
    for (size_t i = 0; i < count; i++)
        memory_release(held[i]);
    pthread_mutex_unlock(&driver_lock);
    free(held);
    free(ranges);
    return result_of(result.outcome);
}
