/* SPDX-License-Identifier: Apache-2.0 */
/* What the IR knows of an access out of range that a device has found. */
#include "core/core.h"

typedef struct object {
    const char *name;
    uint64_t bytes;
    uint32_t element_bytes;
} object;

static object buffer_of(const ls__ir_function *kernel, uint32_t buffer, uint64_t range,
                        uint32_t access_bytes)
{
    const ls__ir_param *param = ls__ir_buffer_param(kernel, buffer);
    if (!param)
        return (object){"", 0, access_bytes};
    return (object){param->name, range, param->size ? param->size : access_bytes};
}

/* Of a function that a kernel calls the buffers are its parameters, so the device says which. */
static object object_of(const ls__ir_module *module, const ls__ir_function *kernel,
                        const ls__ir_function *function, const ls__ir_inst *inst,
                        const ls__outside *outside)
{
    uint32_t bytes = ls__ir_mem_bytes((ls_mem)inst->mem);
    const ls__ir_object *fixed = NULL;
    if (inst->base.kind == LS_BASE_BUFFER)
        return buffer_of(kernel, function == kernel ? inst->base.index : outside->buffer,
                         outside->range, bytes);
    if (inst->base.kind == LS_BASE_SHARED)
        fixed = &function->shared.items[inst->base.index];
    else if (inst->base.kind == LS_BASE_LOCAL)
        fixed = &function->locals.items[inst->base.index];
    else
        fixed = &module->tables.items[inst->base.index];
    return (object){fixed->name ? fixed->name : "", fixed->size, bytes};
}

void ls__backend_describe(ls__built *built, const ls__backend_kernel *kernel,
                          const ls__outside *outside, ls_sanitizer_report *report)
{
    const ls__ir_function *function = NULL;
    const ls__ir_module *module;
    if (ls__built_ir(built, &module, NULL) != LS_OK) { /* memory is short */
        *report = (ls_sanitizer_report){.struct_size = sizeof *report,
                                        .kind = "out-of-bounds access",
                                        .detail = "access out of bounds",
                                        .kernel = kernel->name,
                                        .file = "",
                                        .object = "?",
                                        .lane = outside->lane,
                                        .byte_offset = LS_NOWHERE,
                                        .index = outside->position};
        return;
    }
    const ls__ir_inst *inst = ls__ir_site(module, outside->site, &function);
    *report = (ls_sanitizer_report){
        .struct_size = sizeof *report,
        .kind = inst->op == LS_OP_LOAD ? "out-of-bounds load" : "out-of-bounds store",
        .detail = "access out of bounds",
        .kernel = kernel->name,
        .file = inst->loc.line && inst->loc.file < module->files.count
                    ? module->files.items[inst->loc.file]
                    : "",
        .line = inst->loc.line,
        .column = inst->loc.column,
        .lane = outside->lane,
        .byte_offset = outside->nowhere ? LS_NOWHERE : outside->position,
        .index = outside->position,
    };
    object of =
        object_of(module, module->functions.items[kernel->function], function, inst, outside);
    int64_t size = of.element_bytes;
    report->object = of.name;
    report->object_count = of.bytes / of.element_bytes;
    if (!outside->nowhere)
        report->index = outside->position / size - (outside->position % size < 0);
}
