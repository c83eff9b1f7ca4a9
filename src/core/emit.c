/* SPDX-License-Identifier: Apache-2.0 */
/* Code of one kernel without a device, for looking at and for other tools. */
#include <string.h>

#include "base/mem.h"
#include "core/core.h"
#include "emit/spirv/abi.h"
#include "emit/spirv/emit.h"
#include "pass/pass.h"

/* The kernel of that name, or the only one there is. NULL: the error lists what there is. */
static const ls__ir_function *choose(const ls__ir_module *ir, const char *name, ls_error *error)
{
    ls__strbuf names = {0};
    const ls__ir_function *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 1; i < ir->functions.count; i++) {
        const ls__ir_function *function = ir->functions.items[i];
        if (!function->is_kernel)
            continue;
        if (!name || strcmp(function->name, name) == 0)
            found = function;
        ls__strbuf_printf(&names, "%s%s", count++ ? ", " : "", function->name);
    }
    if (!name && count != 1)
        found = NULL;
    if (!found && name)
        ls__fail(error, LS_E_INVALID_ARGUMENT, "there is no kernel '%s'", name);
    else if (!found)
        ls__fail(error, LS_E_INVALID_ARGUMENT, "which kernel? There are %u", count);
    if (!found && count)
        ls__fail_hint(error, LS_E_INVALID_ARGUMENT, "one of: %s", names.text ? names.text : "");
    ls__strbuf_finish(&names);
    return found;
}

static ls_status take_kernel(const void *container, size_t container_size, uint32_t function,
                             void **bytes, size_t *size, ls_error *error)
{
    ls__spirv_view view;
    ls_status status = ls__spirv_read(container, container_size, &view, error);
    if (status != LS_OK)
        return status;
    const ls__spirv_kernel *kernel = view.kernels;
    while (kernel->function != function)
        kernel++;
    *size = (size_t)kernel->word_count * 4;
    *bytes = ls__mem_alloc(*size, 1);
    if (!*bytes)
        return ls__fail_oom(error, *size);
    memcpy(*bytes, ls__spirv_words(container, kernel), *size);
    return LS_OK;
}

static ls_status emit(ls__ir_module *ir, const char *target, const char *kernel, void **bytes,
                      size_t *size, ls_error *error)
{
    size_t kernels = ls__module_kernel_count(ir), container_size = 0;
    ls__pass_options options = {.lower = ls__spirv_lowering(target), .optimize = true};
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    const ls__ir_function *function = NULL;
    void *container = NULL;
    if (!splits)
        return ls__fail_oom(error, kernels * sizeof *splits);
    ls_status status = ls__lower_run(ir, &options, splits, error);
    ls__mem_free(splits);
    if (status == LS_OK) {
        function = choose(ir, kernel, error);
        status = function ? LS_OK : LS_E_INVALID_ARGUMENT;
    }
    if (status == LS_OK)
        status = ls__spirv_emit(ir, target, false, &container, &container_size, error);
    if (status == LS_OK)
        status = take_kernel(container, container_size, function->id.id, bytes, size, error);
    ls__mem_free(container);
    return status;
}

ls_status ls_module_emit(const ls_module *module, const char *format, const char *target,
                         const char *kernel, void **bytes, size_t *size, ls_error *error)
{
    ls__ir_module *ir = NULL;
    ls__spirv_target parsed;
    if (!bytes || !size)
        return ls__fail_no_result(error, "ls_module_emit");
    *bytes = NULL;
    if (!module)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_emit: no module was given");
    if (!format || strcmp(format, "spirv") != 0)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "there is no code of the kind '%s'; only spirv", format ? format : "");
    if (!target)
        target = "vulkan1.2";
    if (!ls__spirv_target_parse(target, &parsed)) {
        ls__fail(error, LS_E_INVALID_ARGUMENT, "no such target: '%s'", target);
        return ls__fail_hint(
            error, LS_E_INVALID_ARGUMENT,
            "vulkan1.2, then words joined by '+', each once: " LS__SPIRV_TARGET_WORDS);
    }
    ls_status status = ls__module_copy_ir(module, &ir, error);
    if (status == LS_OK)
        status = emit(ir, target, kernel, bytes, size, error);
    ls__ir_module_destroy(&ir);
    return status;
}
