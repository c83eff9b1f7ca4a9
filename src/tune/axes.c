/* SPDX-License-Identifier: Apache-2.0 */
/* What a module has to tune, and what is kept of it. */
#include <string.h>

#include "base/mem.h"
#include "base/params.h"
#include "base/status.h"
#include "tune/tune.h"

ls_status ls__tune_axes_of(const ls_module *module, const ls_define *defines, uint32_t define_count,
                           ls__tune_axes *axes, ls_error *error)
{
    uint32_t count = ls_module_spec_count(module);
    *axes = (ls__tune_axes){.items = ls__mem_alloc(count, sizeof *axes->items)};
    if (!axes->items)
        return ls__fail_oom(error, count * sizeof *axes->items);
    for (uint32_t i = 0; i < count; i++) {
        ls_spec_info *axis = &axes->items[axes->count];
        ls_status status = ls_module_spec(module, i, axis, error);
        if (status != LS_OK)
            return status;
        bool is_fixed = axis->choice_count == 0;
        for (uint32_t k = 0; k < define_count; k++)
            is_fixed |= defines[k].name && strcmp(defines[k].name, axis->name) == 0;
        axes->count += !is_fixed;
    }
    return LS_OK;
}

void ls__tune_axes_finish(ls__tune_axes *axes)
{
    ls__mem_free(axes->items);
    *axes = (ls__tune_axes){0};
}

ls_status ls__tune_kernel(const ls_module *module, const char *kernel, ls_kernel_info *info,
                          ls_error *error)
{
    if (kernel)
        return ls_module_find_kernel(module, kernel, info, error);
    if (ls_module_kernel_count(module) == 1)
        return ls_module_kernel(module, 0, info, error);
    return ls__fail(error, LS_E_INVALID_ARGUMENT, "the module has %u kernels: name one of them",
                    ls_module_kernel_count(module));
}

ls_status ls_tuned_specs(ls_device *device, const ls_tuned_params *params, ls_define *values,
                         uint32_t capacity, uint32_t *count, ls_error *error)
{
    ls_tuned_params given;
    ls__tune_axes axes = {0};
    ls_kernel_info kernel;
    ls__digest key;
    if (!count || (capacity && !values))
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_tuned_specs: nowhere to write the result was given");
    *count = 0;
    if (!device || !params)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tuned_specs: no %s given",
                        device ? "params were" : "device was");
    ls_status status = ls__params_in(&given, sizeof given, params, false, "ls_tuned_specs", error);
    if (status != LS_OK)
        return status;
    if (!given.module || (given.define_count && !given.defines))
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_tuned_specs: no %s given",
                        given.module ? "defines were" : "module was");
    status = ls__tune_kernel(given.module, given.kernel, &kernel, error);
    if (status == LS_OK)
        status = ls__tune_axes_of(given.module, given.defines, given.define_count, &axes, error);
    ls_define *found = status == LS_OK ? ls__mem_alloc(axes.count, sizeof *found) : NULL;
    if (status == LS_OK && !found)
        status = ls__fail_oom(error, axes.count * sizeof *found);
    if (status == LS_OK && axes.count && ls_device_cache_path(device)) {
        status =
            ls__tune_key(device, given.module, kernel.name, given.unchecked, &axes, &key, error);
        if (status == LS_OK && ls__tune_find(device, &key, &axes, found))
            *count = axes.count;
    }
    for (uint32_t i = 0; i < *count && i < capacity; i++)
        values[i] = found[i];
    ls__mem_free(found);
    ls__tune_axes_finish(&axes);
    return status;
}
