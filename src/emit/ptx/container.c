/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a container of kernels (abi.h), which may come from a cache on disk. */
#include <string.h>

#include "base/status.h"
#include "emit/ptx/abi.h"

enum { MAX_WORKGROUP_LANES = 1024 };

static bool is_inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

static ls_status bad(ls_error *error, const char *what)
{
    return ls__fail(error, LS_E_FORMAT, "compiled kernels are damaged: %s", what);
}

static ls_status check_kernel(const ls__ptx_kernel *kernel, ls_error *error)
{
    uint64_t lanes = 1;
    for (int i = 0; i < 3; i++) {
        if (kernel->workgroup[i] == 0 || kernel->workgroup[i] > MAX_WORKGROUP_LANES)
            return bad(error, "a workgroup is of no possible size");
        lanes *= kernel->workgroup[i];
    }
    if (lanes > MAX_WORKGROUP_LANES)
        return bad(error, "a workgroup is of no possible size");
    if ((kernel->flags & ~(uint32_t)LS__PTX_FLAGS) != 0 ||
        kernel->buffer_count > LS__PTX_MAX_BUFFERS || kernel->function == 0)
        return bad(error, "a kernel has properties that do not exist");
    uint64_t bytes = sizeof(ls__ptx_call) + kernel->buffer_count * sizeof(ls__ptx_buffer) +
                     (uint64_t)kernel->scalar_bytes;
    if (kernel->parameter_bytes != bytes || bytes > LS__PTX_MAX_PARAMETER_BYTES)
        return bad(error, "a kernel has parameters of no possible size");
    return LS_OK;
}

static ls_status check_text(const uint8_t *bytes, const ls__ptx_header *header, ls_error *error)
{
    if (!is_inside(header->text_offset, header->text_size, header->size) ||
        header->text_offset + header->text_size == header->size)
        return bad(error, "the module lies outside of them");
    const uint8_t *text = bytes + header->text_offset;
    if (memchr(text, 0, header->text_size + 1) != text + header->text_size)
        return bad(error, "the module does not end where it should");
    return LS_OK;
}

ls_status ls__ptx_read(const void *bytes, size_t size, ls__ptx_view *view, ls_error *error)
{
    ls__ptx_header header;
    *view = (ls__ptx_view){0};
    if (size < sizeof header)
        return bad(error, "they are too short");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != LS__PTX_MAGIC || header.version != LS__PTX_ABI_VERSION)
        return bad(error, "they are of another kind or version");
    if (header.size != size)
        return bad(error, "they have been cut, or something was added");
    if (!is_inside(sizeof header, header.kernel_count * (uint64_t)sizeof *view->kernels, size))
        return bad(error, "there are fewer kernels than they say");
    const ls__ptx_kernel *kernels = (const void *)((const uint8_t *)bytes + sizeof(ls__ptx_header));
    for (uint32_t i = 0; i < header.kernel_count; i++) {
        ls_status status = check_kernel(&kernels[i], error);
        if (status != LS_OK)
            return status;
    }
    ls_status status = check_text(bytes, &header, error);
    if (status != LS_OK)
        return status;
    *view = (ls__ptx_view){
        .kernels = kernels,
        .kernel_count = header.kernel_count,
        .architecture = header.architecture,
        .text = (const char *)bytes + header.text_offset,
        .text_size = header.text_size,
    };
    return LS_OK;
}
