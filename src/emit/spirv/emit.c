/* SPDX-License-Identifier: Apache-2.0 */
/* From a module to a container of kernels (abi.h). */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "emit/spirv/build.h"
#include "emit/spirv/emit.h"

typedef struct job {
    const ls__ir_module *module;
    ls__spirv_target target;
    bool unchecked;
    ls__arena *arena;
    uint64_t *table_offset;
    uint64_t table_size;
    ls__spirv_kernel *kernels;
    words *code; /* by kernel */
    uint32_t kernel_count;
} job;

static uint64_t align_up(uint64_t offset)
{
    return (offset + LS__SPIRV_ALIGNMENT - 1) / LS__SPIRV_ALIGNMENT * LS__SPIRV_ALIGNMENT;
}

static void lay_tables(job *j)
{
    j->table_offset = LS__NEW_ARRAY(j->arena, uint64_t, j->module->tables.count + 1);
    for (uint32_t i = 0; i < j->module->tables.count; i++) {
        j->table_offset[i] = align_up(j->table_size);
        j->table_size =
            j->table_offset[i] + j->module->tables.items[i].size + LS__SPIRV_TABLE_PADDING;
    }
}

static ls_status emit_kernel(job *j, const ls__ir_function *kernel, ls_error *error)
{
    unit *u = LS__NEW(j->arena, unit);
    *u = (unit){.arena = j->arena,
                .module = j->module,
                .kernel = kernel,
                .target = j->target,
                .unchecked = j->unchecked,
                .error = error,
                .table_offset = j->table_offset};
    j->code[j->kernel_count] = ls__spirv_module(u);
    ls__spirv_kernel *entry = &j->kernels[j->kernel_count];
    *entry = (ls__spirv_kernel){.function = kernel->id.id,
                                .flags = u->flags,
                                .shared_bytes = u->shared_bytes,
                                .buffer_count = kernel->buffer_count,
                                .scalar_bytes = kernel->scalar_bytes,
                                .word_count = j->code[j->kernel_count].count};
    memcpy(entry->workgroup, kernel->workgroup, sizeof entry->workgroup);
    j->kernel_count++;
    return u->status;
}

static ls_status emit_all(job *j, ls_error *error)
{
    uint32_t functions = j->module->functions.count;
    j->kernels = LS__NEW_ARRAY(j->arena, ls__spirv_kernel, functions);
    j->code = LS__NEW_ARRAY(j->arena, words, functions);
    lay_tables(j);
    for (uint32_t i = 1; i < functions; i++) {
        const ls__ir_function *function = j->module->functions.items[i];
        ls_status status = function->is_kernel ? emit_kernel(j, function, error) : LS_OK;
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status pack(job *j, void **bytes, size_t *size, ls_error *error)
{
    ls__spirv_header header = {.magic = LS__SPIRV_MAGIC,
                               .version = LS__SPIRV_ABI_VERSION,
                               .kernel_count = j->kernel_count,
                               .table_size = j->table_size};
    uint64_t at = align_up(sizeof header + j->kernel_count * sizeof *j->kernels);
    for (uint32_t i = 0; i < j->kernel_count; i++) {
        j->kernels[i].offset = at;
        at = align_up(at + (uint64_t)j->kernels[i].word_count * 4);
    }
    header.table_offset = j->table_size ? at : 0;
    header.size = at + j->table_size;
    uint8_t *packed = ls__mem_alloc(header.size, 1);
    if (!packed)
        return ls__fail_oom(error, header.size);
    memcpy(packed, &header, sizeof header);
    memcpy(packed + sizeof header, j->kernels, j->kernel_count * sizeof *j->kernels);
    for (uint32_t i = 0; i < j->kernel_count; i++)
        memcpy(packed + j->kernels[i].offset, j->code[i].items, j->code[i].count * (size_t)4);
    for (uint32_t i = 0; i < j->module->tables.count; i++) {
        const ls__ir_object *table = &j->module->tables.items[i];
        memcpy(packed + at + j->table_offset[i], table->bytes, table->size);
    }
    *bytes = packed;
    *size = header.size;
    return LS_OK;
}

ls_status ls__spirv_emit(const ls__ir_module *module, const char *target, bool unchecked,
                         void **bytes, size_t *size, ls_error *error)
{
    job j = {.module = module, .unchecked = unchecked};
    ls__arena arena;
    ls__oom oom;
    ls_status status;
    if (!ls__spirv_target_parse(target, &j.target))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "no such code generator target: '%s'",
                        target);
    ls__arena_init(&arena, &oom, 0);
    j.arena = &arena;
    if (setjmp(oom.jump)) {
        status = ls__oom_status(&oom, error);
    } else {
        status = emit_all(&j, error);
        if (status == LS_OK)
            status = pack(&j, bytes, size, error);
    }
    ls__arena_finish(&arena);
    return status;
}
