/* SPDX-License-Identifier: Apache-2.0 */
/* Steps onto a stream. */
#include "device/cuda/jobs.h"

static ls__cu_result launch(const ls__cuda_functions *cu, const ls__cuda_step *s,
                            ls__cu_stream stream)
{
    void *parameters[] = {(void *)(uintptr_t)s->parameters};
    if (s->together)
        return cu->LaunchCooperativeKernel(s->function, s->grid[0], s->grid[1], s->grid[2],
                                           s->lanes, 1, 1, 0, stream, parameters);
    return cu->LaunchKernel(s->function, s->grid[0], s->grid[1], s->grid[2], s->lanes, 1, 1, 0,
                            stream, parameters, NULL);
}

ls__cu_result ls__cuda_issue(const ls__cuda_functions *cu, const ls__cuda_step *s,
                             ls__cu_stream stream)
{
    switch (s->kind) {
    case LS__STEP_LAUNCH:
        return launch(cu, s, stream);
    case LS__STEP_IN:
        return cu->MemcpyHtoDAsync(s->target, s->host, s->bytes, stream);
    case LS__STEP_OUT:
        return cu->MemcpyDtoHAsync(s->host, s->source, s->bytes, stream);
    case LS__STEP_COPY:
        return cu->MemcpyDtoDAsync(s->target, s->source, s->bytes, stream);
    case LS__STEP_SET:
        break;
    }
    if (s->element_bytes == 4)
        return cu->MemsetD32Async(s->target, s->value, s->bytes / 4, stream);
    if (s->element_bytes == 2)
        return cu->MemsetD16Async(s->target, (unsigned short)s->value, s->bytes / 2, stream);
    return cu->MemsetD8Async(s->target, (unsigned char)s->value, s->bytes, stream);
}
