/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a module for a device: capability check, lowering, emission, the backend's build; and
 * the device's cache of what was built.
 *
 * The cache holds references, so a program that is made and destroyed again and again is built
 * once. Its key is the digest of the IR together with the options. Building happens outside of the
 * cache's lock; when two threads build the same module at once, both work and the second finds the
 * first's. The tier of code is not part of the key: what was built quick may get optimised code too
 * (tier.c).
 */
#include <string.h>

#include "core/core.h"
#include "core/probe.h"
#include "pass/pass.h"

enum { CACHE_CAPACITY = 64 };

/* --- cache ------------------------------------------------------------------------------------ */
static void cache_unlink(ls__built_list *list, ls__built *built)
{
    if (built->previous)
        built->previous->next = built->next;
    else
        list->first = built->next;
    if (built->next)
        built->next->previous = built->previous;
    built->next = built->previous = NULL;
    built->cached = false;
    list->count--;
}

static void cache_push(ls__built_list *list, ls__built *built)
{
    built->previous = NULL;
    built->next = list->first;
    if (list->first)
        list->first->previous = built;
    list->first = built;
    built->cached = true;
    list->count++;
}

static ls__built *cache_find(ls_device *device, const ls__digest *key)
{
    pthread_mutex_lock(&device->build_lock);
    ls__built *found = device->built.first;
    while (found && memcmp(&found->key, key, sizeof *key) != 0)
        found = found->next;
    if (found) {
        atomic_fetch_add(&found->refs, 1);
        cache_unlink(&device->built, found);
        cache_push(&device->built, found);
    }
    pthread_mutex_unlock(&device->build_lock);
    return found;
}

static void cache_add(ls_device *device, ls__built *built)
{
    ls__built *dropped = NULL;
    pthread_mutex_lock(&device->build_lock);
    atomic_fetch_add(&built->refs, 1);
    cache_push(&device->built, built);
    if (device->built.count > CACHE_CAPACITY) {
        dropped = device->built.first;
        while (dropped->next)
            dropped = dropped->next;
        cache_unlink(&device->built, dropped);
    }
    pthread_mutex_unlock(&device->build_lock);
    ls__built_release(dropped);
}

void ls__built_clear_cache(ls_device *device)
{
    while (device->built.first) {
        ls__built *built = device->built.first;
        cache_unlink(&device->built, built);
        ls__built_release(built);
    }
}

void ls__built_release(ls__built *built)
{
    if (!built || atomic_fetch_sub(&built->refs, 1) != 1)
        return;
    ls_device *device = built->device;
    ls__backend_program *codes[] = {built->quick, atomic_load(&built->optimized)};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i])
            device->backend->program_free(device->handle, codes[i]);
    ls__ir_module_destroy(&built->ir);
    ls__module_release(built->source);
    ls__mem_free(built->kernels);
    ls__mem_free(built->entries);
    ls__mem_free(built);
}

/* --- build ------------------------------------------------------------------------------------ */
static ls_status make_key(const ls_module *module, const ls__build_options *options,
                          ls__digest *key, ls_error *error)
{
    struct {
        ls__digest ir;
        uint32_t lower, unchecked;
    } parts;
    memset(&parts, 0, sizeof parts);
    ls_status status = ls__ir_digest(module->ir, &parts.ir, error);
    parts.lower = options->lower;
    parts.unchecked = options->unchecked;
    *key = ls__digest_of(&parts, sizeof parts);
    return status;
}

static ls_status check_kernels(const ls_device *device, const ls__ir_module *ir, bool lowered,
                               ls_error *error)
{
    for (uint32_t i = 1; i < ir->functions.count; i++) {
        if (!ir->functions.items[i]->is_kernel)
            continue;
        ls_status status = ls__facts_check(device, ir->functions.items[i], lowered, error);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static void describe(ls__backend_kernel *out, const char *name, const ls__ir_function *function)
{
    *out = (ls__backend_kernel){
        .name = name,
        .function = function->id.id,
        .workgroup = {function->workgroup[0], function->workgroup[1], function->workgroup[2]},
        .buffer_count = function->buffer_count,
        .scalar_bytes = function->scalar_bytes,
    };
}

/* Lists what the backend builds: each kernel of the source, or its segments where it was split. */
static ls_status list_kernels(ls__built *built, const ls__pass_split *splits, ls_error *error)
{
    const ls__ir_module *ir = built->ir ? built->ir : built->source->ir;
    size_t total = 0;
    built->entry_count = ls__module_kernel_count(built->source->ir);
    for (uint32_t i = 0; i < built->entry_count; i++)
        total += splits[i].segment_count ? splits[i].segment_count : 1;
    built->entries = ls__mem_alloc(built->entry_count, sizeof *built->entries);
    built->kernels = ls__mem_alloc(total, sizeof *built->kernels);
    if (!built->entries || !built->kernels)
        return ls__fail_oom(error, total * sizeof *built->kernels);
    for (uint32_t i = 0; i < built->entry_count; i++) {
        const ls__pass_split *split = &splits[i];
        built->entries[i] = (ls__built_kernel){
            .first = built->kernel_count,
            .segment_count = split->segment_count,
            .scratch_bytes_per_lane = split->scratch_bytes_per_lane,
            .scratch_bytes_fixed = split->scratch_bytes_fixed,
        };
        const ls__ir_function *kernel = ls__module_kernel_at(ir, i);
        if (!split->segment_count)
            describe(&built->kernels[built->kernel_count++], kernel->name, kernel);
        for (uint32_t s = 0; s < split->segment_count; s++)
            describe(&built->kernels[built->kernel_count++], kernel->name,
                     ir->functions.items[split->segments[s].function]);
    }
    return LS_OK;
}

/* Lowers a copy where anything is to be done; else the source's own IR serves. */
static ls_status lower(ls__built *built, const ls__build_options *options, ls_error *error)
{
    const ls__backend *backend = built->device->backend;
    ls__pass_options passes = {
        .lower = options->lower,
        .unchecked = options->unchecked,
        .optimize = backend->optimize,
        .watch = built->device->watches,
#ifndef NDEBUG
        .verify_each = true,
#endif
    };
    size_t kernels = ls__module_kernel_count(built->source->ir);
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    if (!splits)
        return ls__fail_oom(error, kernels * sizeof *splits);
    ls_status status = LS_OK;
    if (passes.lower || passes.unchecked || passes.optimize || passes.watch) {
        status = ls__module_copy_ir(built->source, &built->ir, error);
        if (status == LS_OK)
            status = ls__lower_run(built->ir, &passes, splits, error);
    }
    if (status == LS_OK)
        status = list_kernels(built, splits, error);
    ls__mem_free(splits);
    return status;
}

/* --- code ------------------------------------------------------------------------------------- */
static const char *target_of(const ls_device *device, bool quick)
{
    const ls__backend *backend = device->backend;
    return quick             ? backend->quick_target(device->handle)
           : backend->target ? backend->target(device->handle)
                             : "";
}

/* The key of the code in the cache on disk. */
static ls_status code_key(const ls_device *device, const ls__backend_code *code, bool quick,
                          ls__digest *key, ls_error *error)
{
    return ls__code_key(code->module, target_of(device, quick), code->unchecked, device->compiler,
                        device->code_version, key, error);
}

static bool find_code(ls_device *device, ls__backend_code *code, const ls__digest *key,
                      void **bytes)
{
    bool found = ls__code_cache_get(&device->code_cache, key, bytes, &code->size);
    code->bytes = *bytes;
    return found;
}

ls_status ls__build_emit(ls_device *device, ls__backend_code *code, bool quick, void **bytes,
                         ls_error *error)
{
    ls_status status = device->emit(code->module, target_of(device, quick), code->unchecked, bytes,
                                    &code->size, error);
    code->bytes = *bytes;
    return status;
}

/* The same, from the cache on disk where there is one. */
static ls_status find_or_emit(ls_device *device, ls__backend_code *code, bool quick, void **bytes,
                              ls_error *error)
{
    ls__digest key;
    if (!device->code_cache.dir)
        return ls__build_emit(device, code, quick, bytes, error);
    ls_status status = code_key(device, code, quick, &key, error);
    if (status != LS_OK)
        return status;
    bool found = find_code(device, code, &key, bytes);
    ls__device_count(device, found ? LS__COUNTER_cache_hits : LS__COUNTER_cache_misses, 1);
    if (found)
        return LS_OK;
    status = ls__build_emit(device, code, quick, bytes, error);
    if (status == LS_OK)
        ls__code_cache_put(&device->code_cache, &key, *bytes, code->size);
    return status;
}

static ls__backend_code code_of(const ls__built *built)
{
    return (ls__backend_code){
        .module = built->ir ? built->ir : built->source->ir,
        .kernels = built->kernels,
        .kernel_count = built->kernel_count,
        .site_count = ls__ir_site_count(built->ir ? built->ir : built->source->ir),
        .unchecked = built->options.unchecked,
    };
}

static ls_status hand_to_backend(const ls__built *built, bool quick, ls__backend_program **program,
                                 ls_error *error)
{
    ls_device *device = built->device;
    void *bytes = NULL;
    ls__backend_code code = code_of(built);
    ls_status status = LS_OK;
    if (device->emit)
        status = find_or_emit(device, &code, quick, &bytes, error);
    if (status == LS_OK)
        status = device->backend->program_build(device->handle, &code, program, error);
    ls__mem_free(bytes);
    return status;
}

/* As hand_to_backend, but LS_E_NOT_FOUND where the code would have to be made. */
static ls_status take_found(const ls__built *built, ls__backend_program **program, ls_error *error)
{
    ls_device *device = built->device;
    void *bytes = NULL;
    ls__backend_code code = code_of(built);
    ls__digest key;
    if (!device->code_cache.dir ||
        !ls__probe_knows(device, built->source->ir, built->ir, built->options.lower, false) ||
        code_key(device, &code, false, &key, NULL) != LS_OK ||
        !find_code(device, &code, &key, &bytes))
        return LS_E_NOT_FOUND;
    ls__device_count(device, LS__COUNTER_cache_hits, 1);
    ls_status status = device->backend->program_build(device->handle, &code, program, error);
    ls__mem_free(bytes);
    return status;
}

/* The IR stays as it is, so what the probe has found since to be lowered cannot be. */
static ls_status probe_again(const ls__built *built, ls_error *error)
{
    ls_device *device = built->device;
    uint32_t lower = built->options.lower;
    ls_status status = ls__probe_program(device, built->source->ir, built->ir, lower, false, error);
    if (status != LS_OK || !(ls__probe_lowering(device) & ~lower))
        return status;
    ls__fail(error, LS_E_UNSUPPORTED, "device '%s' computes an operation wrongly in optimised code",
             device->name);
    return ls__fail_hint(error, LS_E_UNSUPPORTED, "create the program anew: it will be replaced");
}

ls_status ls__built_optimize(ls__built *built, bool only_found, ls_error *error)
{
    ls__backend_program *program = NULL;
    ls_status status = LS_OK;
    if (only_found) {
        status = take_found(built, &program, error);
    } else {
        status = probe_again(built, error);
        if (status == LS_OK)
            status = hand_to_backend(built, false, &program, error);
    }
    if (status == LS_OK)
        atomic_store(&built->optimized, program);
    return status;
}

/* --- building --------------------------------------------------------------------------------- */
/* `built` without its code: all kernels checked and lowered. */
static ls_status prepare_build(ls__built *built, const ls__build_options *options, ls_error *error)
{
    ls_device *device = built->device;
    ls_status status = check_kernels(device, built->source->ir, false, error);
    if (status == LS_OK)
        status = lower(built, options, error);
    if (status == LS_OK && built->ir)
        status =
            check_kernels(device, built->ir, true, error); /* a lowering may need shared memory */
    if (status == LS_OK)
        status = ls__probe_program(device, built->source->ir, built->ir, options->lower,
                                   options->quick, error);
    return status;
}

/* One try, with what the probe has found so far. */
static ls_status build_once(ls_device *device, ls_module *module, const ls__build_options *options,
                            ls__built **built, ls_error *error)
{
    ls__digest key;
    ls__backend_program *program = NULL;
    ls_status status = make_key(module, options, &key, error);
    if (status != LS_OK)
        return status;
    *built = cache_find(device, &key);
    ls__device_count(device, *built ? LS__COUNTER_cache_hits : LS__COUNTER_cache_misses, 1);
    if (*built && !options->quick) {
        status = ls__tiers_finish(*built, error);
        if (status != LS_OK) {
            ls__built_release(*built);
            *built = NULL;
        }
    }
    if (*built || status != LS_OK)
        return status;

    ls__built *made = ls__mem_alloc(1, sizeof *made);
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    atomic_init(&made->refs, 1);
    made->device = device;
    made->key = key;
    made->options = *options;
    made->tier = options->quick ? LS__TIER_QUICK : LS__TIER_OPTIMIZED;
    made->source = module;
    ls__module_retain(module);
    status = prepare_build(made, options, error);
    bool stale = (ls__probe_lowering(device) & ~options->lower) != 0;
    if (status == LS_OK && !stale)
        status = hand_to_backend(made, options->quick, &program, error);
    if (status != LS_OK || stale) {
        ls__built_release(made);
        return status;
    }
    if (options->quick)
        made->quick = program;
    else
        atomic_init(&made->optimized, program);
    cache_add(device, made);
    ls__device_count(device, LS__COUNTER_programs_built, 1);
    *built = made;
    return LS_OK;
}

ls_status ls__build(ls_device *device, ls_module *module, const ls__build_options *asked,
                    ls__built **built, ls_error *error)
{
    ls__build_options options = *asked;
    ls_status status = LS_OK;
    *built = NULL;
    if (device->backend->lowering)
        options.lower |= device->backend->lowering(device->handle);
    if (!device->caps.grid_barrier_native)
        options.lower |= LS__LOWER_GRID_BARRIER;
    if (!device->emit || !device->backend->quick_target)
        options.quick = false;
    while (status == LS_OK && !*built) { /* again when the probe has found more to be lowered */
        options.lower |= ls__probe_lowering(device);
        status = build_once(device, module, &options, built, error);
    }
    return status;
}
