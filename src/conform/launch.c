/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch: buffers made and written, the kernel submitted, buffers read back after the fence.
 * They are read by calls of their own and not by the batch, because a trap stops the batch but not
 * the dispatch, whose results count.
 */
#include "conform/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

#define LIMIT_NS (UINT64_C(120) * 1000000000)

static ls_status make_buffers(ls_device *device, const ls__case *c, ls_buffer **buffers,
                              ls_error *error)
{
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const ls__case_buffer *from = &c->buffers[i];
        ls_buffer_params params = LS_BUFFER_PARAMS_INIT;
        params.size_bytes = from->size;
        params.label = c->name;
        ls_status status = ls_buffer_create(device, &params, &buffers[i], error);
        if (status == LS_OK)
            status = ls_buffer_write(buffers[i], 0, LS_MEM_NONE, from->bytes, from->size, error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* LS_OK also when lanes trapped. */
static ls_status submit(ls_device *device, const ls_dispatch *dispatch, uint32_t rounds,
                        ls_receipt *receipt, ls_error *error)
{
    ls_submit_params params = LS_SUBMIT_PARAMS_INIT;
    ls_batch *batch = NULL;
    ls_stream *stream = NULL;
    ls_fence *fence = NULL;
    params.time_limit_ns = LIMIT_NS;
    ls_status status = ls_batch_create(device, &batch, error);
    if (status == LS_OK)
        status = ls_stream_create(device, &stream, error);
    if (status == LS_OK && rounds)
        status = ls_batch_repeat_begin(batch, rounds, 0, error);
    if (status == LS_OK)
        status = ls_batch_dispatch(batch, dispatch, error);
    if (status == LS_OK && rounds)
        status = ls_batch_repeat_end(batch, error);
    if (status == LS_OK)
        status = ls_submit(stream, batch, &params, &fence, error);
    if (status == LS_OK)
        status = ls_fence_wait(fence, LS_FOREVER, receipt, error);
    if (status == LS_E_FAILED && receipt->trapped)
        status = LS_OK;
    ls_fence_destroy(&fence);
    ls_batch_destroy(&batch);
    ls_stream_destroy(&stream, NULL);
    return status;
}

static int compare_elements(const void *a, const void *b, void *size)
{
    return memcmp(a, b, *(const uint32_t *)size);
}

static ls_status download(const ls__case *c, ls_buffer **buffers, const ls_receipt *receipt,
                          ls__outputs *out, ls_error *error)
{
    uint32_t record[4] = {receipt->trap_code, receipt->trap_lane, (uint32_t)receipt->trap_workgroup,
                          (uint32_t)(receipt->trap_workgroup >> 32)};
    out->head = receipt->trapped ? sizeof record : 0;
    out->size = out->head;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        out->size += c->buffers[i].output ? c->buffers[i].size : 0;
    out->bytes = ls__mem_alloc(out->size, 1);
    if (!out->bytes)
        return ls__fail_oom(error, out->size);
    memcpy(out->bytes, record, out->head);
    uint8_t *at = out->bytes + out->head;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        uint32_t element = c->buffers[i].element;
        uint64_t size = c->buffers[i].size;
        if (!c->buffers[i].output)
            continue;
        ls_status status = ls_buffer_read(buffers[i], 0, LS_MEM_NONE, at, size, error);
        if (status != LS_OK)
            return status;
        if (c->sorted)
            qsort_r(at, size / element, element, compare_elements, &element);
        at += size;
    }
    return LS_OK;
}

ls_status ls__launch_case(ls_device *device, ls_program *program, const ls__case *c,
                          ls__outputs *out, ls_error *error)
{
    ls_buffer *buffers[LS__CASE_BUFFERS] = {0};
    ls_range ranges[LS__CASE_BUFFERS];
    ls_dispatch dispatch = LS_DISPATCH_INIT;
    ls_receipt receipt = {.struct_size = sizeof receipt};
    *out = (ls__outputs){0};
    ls_status status = make_buffers(device, c, buffers, error);
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ranges[i] = (ls_range){buffers[i], 0, LS_WHOLE};
    if (status == LS_OK)
        status = ls_program_kernel(program, c->kernel, &dispatch.kernel, error);
    memcpy(dispatch.global_size, c->global, sizeof c->global);
    dispatch.buffers = ranges;
    dispatch.buffer_count = c->buffer_count;
    dispatch.scalars = c->scalars;
    dispatch.scalar_bytes = c->scalar_bytes;
    if (status == LS_OK)
        status = submit(device, &dispatch, c->rounds, &receipt, error);
    if (status == LS_OK)
        status = download(c, buffers, &receipt, out, error);
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ls_buffer_destroy(&buffers[i]);
    return status;
}

bool ls__outputs_equal(const ls__outputs *a, const ls__outputs *b)
{
    return a->size == b->size && a->head == b->head && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void ls__outputs_finish(ls__outputs *out)
{
    ls__mem_free(out->bytes);
    *out = (ls__outputs){0};
}
