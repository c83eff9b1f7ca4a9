/* SPDX-License-Identifier: Apache-2.0 */
/* Code of kernels without a device, for looking at and for other tools. */
#include <string.h>

#include "base/mem.h"
#include "core/core.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/emit.h"
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

/* Runs the passes that the target needs. */
static ls_status lower(ls__ir_module *ir, uint32_t mask, ls_error *error)
{
    size_t kernels = ls__module_kernel_count(ir);
    ls__pass_options options = {.lower = mask, .optimize = true};
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    if (!splits)
        return ls__fail_oom(error, kernels * sizeof *splits);
    ls_status status = ls__lower_run(ir, &options, splits, error);
    ls__mem_free(splits);
    return status;
}

/* --- SPIR-V ----------------------------------------------------------------------------------- */

static ls_status check_spirv(const char *target, ls_error *error)
{
    ls__spirv_target parsed;
    if (ls__spirv_target_parse(target, &parsed))
        return LS_OK;
    ls__fail(error, LS_E_INVALID_ARGUMENT, "no such target: '%s'", target);
    return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                         "vulkan1.2, then words joined by '+', each once: " LS__SPIRV_TARGET_WORDS);
}

static ls_status emit_spirv(ls__ir_module *ir, const char *target, const char *kernel, void **bytes,
                            size_t *size, ls_error *error)
{
    size_t container_size = 0;
    const ls__ir_function *function = NULL;
    void *container = NULL;
    ls_status status = lower(ir, ls__spirv_lowering(target), error);
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

/* --- PTX -------------------------------------------------------------------------------------- */

static ls_status check_ptx(const char *target, ls_error *error)
{
    ls__ptx_target parsed;
    if (ls__ptx_target_parse(target, &parsed))
        return LS_OK;
    ls__fail(error, LS_E_INVALID_ARGUMENT, "no such architecture for PTX: '%s'", target);
    return ls__fail_hint(error, LS_E_INVALID_ARGUMENT,
                         "one of " LS__PTX_TARGETS "; newer devices run sm_90's code");
}

/* The module, behind a list of which entry is which kernel. */
static ls_status take_module(const ls__ir_module *ir, const ls__ptx_view *view, void **bytes,
                             size_t *size, ls_error *error)
{
    ls__strbuf text = {0};
    for (uint32_t i = 0; i < view->kernel_count; i++) {
        const ls__ptx_kernel *k = &view->kernels[i];
        ls__strbuf_printf(&text, "// " LS__PTX_KERNEL_SYMBOL "%u is %s, in blocks of %u lanes\n",
                          k->function, ir->functions.items[k->function]->name,
                          k->workgroup[0] * k->workgroup[1] * k->workgroup[2]);
    }
    ls__strbuf_append(&text, view->text, view->text_size);
    if (text.failed) {
        ls__strbuf_finish(&text);
        return ls__fail_oom(error, view->text_size);
    }
    *bytes = text.text;
    *size = text.length;
    return LS_OK;
}

static ls_status emit_ptx(ls__ir_module *ir, const char *target, const char *kernel, void **bytes,
                          size_t *size, ls_error *error)
{
    size_t container_size = 0;
    void *container = NULL;
    ls__ptx_view view;
    ls_status status = lower(ir, ls__ptx_lowering(target), error);
    if (status == LS_OK && kernel) {
        const ls__ir_function *chosen = choose(ir, kernel, error);
        for (uint32_t i = 1; i < ir->functions.count; i++) /* nobody calls the others */
            ir->functions.items[i]->is_kernel = ir->functions.items[i] == chosen;
        status = chosen ? LS_OK : LS_E_INVALID_ARGUMENT;
    }
    if (status == LS_OK)
        status = ls__ptx_emit(ir, target, false, &container, &container_size, error);
    if (status == LS_OK)
        status = ls__ptx_read(container, container_size, &view, error);
    if (status == LS_OK)
        status = take_module(ir, &view, bytes, size, error);
    ls__mem_free(container);
    return status;
}

/* --- the call --------------------------------------------------------------------------------- */

typedef struct format {
    const char *name, *target;
    ls_status (*check)(const char *target, ls_error *error);
    ls_status (*emit)(ls__ir_module *ir, const char *target, const char *kernel, void **bytes,
                      size_t *size, ls_error *error);
} format;

static const format formats[] = {
    {"spirv", "vulkan1.2", check_spirv, emit_spirv},
    {"ptx", "sm_75", check_ptx, emit_ptx},
};

ls_status ls_module_emit(const ls_module *module, const char *format_name, const char *target,
                         const char *kernel, void **bytes, size_t *size, ls_error *error)
{
    ls__ir_module *ir = NULL;
    const format *chosen = NULL;
    if (!bytes || !size)
        return ls__fail_no_result(error, "ls_module_emit");
    *bytes = NULL;
    if (!module)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_module_emit: no module was given");
    for (size_t i = 0; format_name && i < sizeof formats / sizeof *formats; i++)
        chosen = strcmp(format_name, formats[i].name) == 0 ? &formats[i] : chosen;
    if (!chosen)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "there is no code of the kind '%s'; only spirv and ptx",
                        format_name ? format_name : "");
    target = target ? target : chosen->target;
    ls_status status = chosen->check(target, error);
    if (status == LS_OK)
        status = ls__module_copy_ir(module, &ir, error);
    if (status == LS_OK)
        status = chosen->emit(ir, target, kernel, bytes, size, error);
    ls__ir_module_destroy(&ir);
    return status;
}
