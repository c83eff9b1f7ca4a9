/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and their kernels: the handle around what build.c makes, and the choice of the fallback
 * device. */
#include <string.h>

#include "core/package.h"
#include "ir/lowering.h"

void ls__program_retain(ls_program *program)
{
    atomic_fetch_add_explicit(&program->refs, 1, memory_order_relaxed);
}

void ls__program_release(ls_program *program)
{
    if (!program || atomic_fetch_sub(&program->refs, 1) != 1)
        return;
    ls_device *device = program->device;
    ls_device *runs_on = program->built ? program->built->device : device;
    ls__built_release(program->built);
    ls__built_release(program->whole);
    ls__module_release(program->module);
    ls__mem_free(program->kernels);
    ls__mem_free(program->fallback_reason);
    ls__mem_free(program);
    if (runs_on != device)
        atomic_fetch_sub(&runs_on->objects, 1);
    atomic_fetch_sub(&device->objects, 1);
}

/* From code that was made ahead where some was given. */
static ls_status build_on(ls_device *device, ls_program *program, const ls_program_params *params,
                          const ls__build_options *options, ls_error *error)
{
    ls__build_options how = *options;
    ls__package *package = NULL;
    ls_status status = LS_OK;
    if (params->codes && device->emit) {
        package = ls__mem_alloc(1, sizeof *package);
        status = package
                     ? ls__package_choose(device, params->codes, params->code_count, package, error)
                     : ls__fail_oom(error, sizeof *package);
        if (status == LS_OK && package->unchecked != options->unchecked)
            status = ls__fail(error, LS_E_INVALID_ARGUMENT, "the code for '%s' was made %s checks",
                              package->target, package->unchecked ? "without" : "with");
        if (status == LS_OK && device->watches)
            status = ls__fail(error, LS_E_UNSUPPORTED,
                              "device '%s' checks bounds, which code made ahead does not report",
                              device->name);
        how.package = package;
        how.quick = false;
    }
    if (status == LS_OK)
        status = ls__build(device, program->module, &how, &program->built, error);
    ls__mem_free(package);
    return status;
}

/* Builds on the program's own device, or on the fallback where the own one cannot. */
static ls_status build_somewhere(ls_program *program, const ls_program_params *params,
                                 const ls__build_options *options, ls_error *error)
{
    ls_error why; /* not `error`, which stays as it is when the fallback is taken */
    ls_status status = build_on(program->device, program, params, options, &why);
    if (status == LS_OK)
        return LS_OK;
    if (status != LS_E_UNSUPPORTED || !params->fallback) {
        if (error)
            *error = why;
        return status;
    }
    program->fallback_reason = ls__mem_strdup(why.message);
    if (!program->fallback_reason)
        return ls__fail_oom(error, sizeof why.message);
    status = ls__device_check(params->fallback, error);
    if (status == LS_OK)
        status = build_on(params->fallback, program, params, options, error);
    if (status != LS_OK)
        return status;
    atomic_fetch_add(&params->fallback->objects, 1);
    ls__device_count(program->device, LS__COUNTER_fallback_programs, 1);
    return LS_OK;
}

/* The second form of kernels that were split, for a device that can run them whole as well. Where
 * it is too much for the device, all launches take the first; code made ahead has that alone. */
static ls_status build_whole(ls_program *program, const ls__build_options *options, ls_error *error)
{
    ls_device *device = program->device;
    const ls__backend *backend = device->backend;
    ls__build_options whole = *options;
    bool split = false;
    ls_error why;
    for (uint32_t i = 0; i < program->built->entry_count; i++)
        split |= program->built->entries[i].segment_count != 0;
    if (!split || options->package || program->built->device != device ||
        (options->lower & LS__LOWER_GRID_BARRIER) || !backend->whole_target ||
        !backend->whole_target(device->handle))
        return LS_OK;
    whole.whole = true;
    ls_status status = ls__build(device, program->module, &whole, &program->whole, &why);
    if (status == LS_OK || status == LS_E_LIMIT || status == LS_E_UNSUPPORTED)
        return LS_OK;
    if (error)
        *error = why;
    return status;
}

static ls_status list_kernels(ls_program *program, ls_error *error)
{
    const ls__ir_module *ir = program->module->signature;
    program->kernel_count = ls__module_kernel_count(ir);
    program->kernels = ls__mem_alloc(program->kernel_count, sizeof *program->kernels);
    if (!program->kernels)
        return ls__fail_oom(error, program->kernel_count * sizeof *program->kernels);
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        ls_kernel *kernel = &program->kernels[i];
        kernel->program = program;
        kernel->function = ls__module_kernel_at(ir, i);
        kernel->entry = &program->built->entries[i];
        if (program->whole && kernel->entry->segment_count)
            kernel->whole = &program->whole->entries[i];
        ls_status status =
            ls__kernel_describe(program->module, kernel->function, &kernel->info, error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status check_params(ls_device *device, const ls_module *module,
                              const ls_program_params *params, ls__build_options *options,
                              ls_error *error)
{
    if (!device || !module)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_program_create: no %s was given",
                        device ? "module" : "device");
    if (params->fallback == device)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "a device cannot be its own fallback");
    if (params->tier != LS_TIER_OPTIMIZED && params->tier != LS_TIER_QUICK)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_program_create: there is no tier %d",
                        (int)params->tier);
    if (params->code_count && !params->codes)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_program_create: no codes were given");
    if (params->codes && params->lower)
        return ls__fail(error, LS_E_INVALID_ARGUMENT,
                        "ls_program_create: code made ahead is lowered already");
    options->unchecked = params->unchecked;
    options->quick = params->tier == LS_TIER_QUICK;
    ls_status status = ls__lower_parse(params->lower, &options->lower, error);
    return status == LS_OK ? ls__device_check(device, error) : status;
}

ls_status ls_program_create(ls_device *device, const ls_module *module,
                            const ls_program_params *params, ls_program **program, ls_error *error)
{
    ls_program_params given;
    ls__build_options options = {0};
    if (!program)
        return ls__fail_no_result(error, "ls_program_create");
    *program = NULL;
    ls_status status =
        ls__params_in(&given, sizeof given, params, true, "ls_program_create", error);
    if (status == LS_OK)
        status = check_params(device, module, &given, &options, error);
    if (status != LS_OK)
        return status;
    ls_program *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    atomic_init(&made->refs, 1);
    made->device = device;
    made->module = (ls_module *)module; /* only its count changes */
    ls__module_retain(made->module);
    atomic_fetch_add(&device->objects, 1);
    made->unchecked = given.unchecked;

    uint64_t begun = ls__os_now_ns();
    ls__os_fenv saved;
    ls__os_fenv_enter(&saved);
    status = build_somewhere(made, &given, &options, error);
    if (status == LS_OK)
        status = build_whole(made, &options, error);
    if (status == LS_OK)
        status = list_kernels(made, error);
    ls__os_fenv_leave(&saved);
    ls__device_count(device, LS__COUNTER_compile_ns, ls__os_now_ns() - begun);
    if (status != LS_OK) {
        ls__program_release(made);
        return status;
    }
    *program = made;
    return LS_OK;
}

void ls_program_destroy(ls_program **program)
{
    if (!program)
        return;
    ls__program_release(*program);
    *program = NULL;
}

ls_status ls_program_kernel(ls_program *program, const char *name, const ls_kernel **kernel,
                            ls_error *error)
{
    const ls__ir_function *function;
    if (!kernel)
        return ls__fail_no_result(error, "ls_program_kernel");
    *kernel = NULL;
    if (!program || !name)
        return ls__fail(error, LS_E_INVALID_ARGUMENT, "ls_program_kernel: no %s was given",
                        program ? "name" : "program");
    ls_status status = ls__module_kernel_find(program->module->signature, name, &function, error);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        if (program->kernels[i].function == function)
            *kernel = &program->kernels[i];
    }
    return LS_OK;
}

void ls_kernel_describe(const ls_kernel *kernel, ls_kernel_info *info)
{
    *info = kernel->info;
}

void ls_kernel_param(const ls_kernel *kernel, uint32_t index, ls_param_info *info)
{
    ls__kernel_param(&kernel->function->params.items[index], info);
}

const char *ls_program_fallback_reason(const ls_program *program)
{
    return program->fallback_reason;
}
