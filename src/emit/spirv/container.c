/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a container of kernels (abi.h), which may come from a cache on disk. */
#include <string.h>

#include "base/status.h"
#include "emit/spirv/abi.h"

enum { SPIRV_HEADER_WORDS = 5, SPIRV_WORD = 0x07230203 };

static bool is_inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

static ls_status bad(ls_error *error, const char *what)
{
    return ls__fail(error, LS_E_FORMAT, "compiled kernels are damaged: %s", what);
}

static ls_status check_kernel(const void *bytes, uint64_t size, const ls__spirv_kernel *kernel,
                              ls_error *error)
{
    uint64_t lanes = 1;
    for (int i = 0; i < 3; i++) {
        if (kernel->workgroup[i] == 0 || kernel->workgroup[i] > 1024)
            return bad(error, "a workgroup is of no possible size");
        lanes *= kernel->workgroup[i];
    }
    if (lanes > 1024)
        return bad(error, "a workgroup is of no possible size");
    if ((kernel->flags & ~(uint32_t)LS__SPIRV_FLAGS) != 0 ||
        kernel->buffer_count > LS__SPIRV_MAX_BUFFERS)
        return bad(error, "a kernel has properties that do not exist");
    if (kernel->offset % LS__SPIRV_ALIGNMENT != 0 || kernel->word_count <= SPIRV_HEADER_WORDS ||
        !is_inside(kernel->offset, (uint64_t)kernel->word_count * 4, size))
        return bad(error, "a module lies outside of them");
    if (ls__spirv_words(bytes, kernel)[0] != SPIRV_WORD)
        return bad(error, "a module is not SPIR-V");
    return LS_OK;
}

ls_status ls__spirv_read(const void *bytes, size_t size, ls__spirv_view *view, ls_error *error)
{
    ls__spirv_header header;
    *view = (ls__spirv_view){0};
    if (size < sizeof header)
        return bad(error, "they are too short");
    memcpy(&header, bytes, sizeof header);
    if (header.magic != LS__SPIRV_MAGIC || header.version != LS__SPIRV_ABI_VERSION)
        return bad(error, "they are of another kind or version");
    if (header.size != size)
        return bad(error, "they have been cut, or something was added");
    if (!is_inside(sizeof header, header.kernel_count * (uint64_t)sizeof *view->kernels, size))
        return bad(error, "there are fewer kernels than they say");
    if (header.table_offset % LS__SPIRV_ALIGNMENT != 0 ||
        !is_inside(header.table_offset, header.table_size, size))
        return bad(error, "the tables lie outside of them");
    const ls__spirv_kernel *kernels =
        (const void *)((const uint8_t *)bytes + sizeof(ls__spirv_header));
    for (uint32_t i = 0; i < header.kernel_count; i++) {
        ls_status status = check_kernel(bytes, size, &kernels[i], error);
        if (status != LS_OK)
            return status;
    }
    *view = (ls__spirv_view){
        .kernels = kernels,
        .kernel_count = header.kernel_count,
        .tables = (const uint8_t *)bytes + header.table_offset,
        .table_size = header.table_size,
    };
    return LS_OK;
}
