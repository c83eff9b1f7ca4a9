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

#include "core/package.h"
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
    ls__ir_module *ir = atomic_load(&built->ir);
    ls__ir_module_destroy(&ir);
    ls__mem_free(built->probed);
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
        ls__digest ir, package;
        uint32_t lower, unchecked, whole;
    } parts;
    memset(&parts, 0, sizeof parts);
    ls_status status = LS_OK;
    if (module->has_key)
        parts.ir = module->key;
    else
        status = ls__ir_digest(atomic_load(&module->ir), &parts.ir, error);
    parts.lower = options->lower;
    parts.unchecked = options->unchecked;
    if (options->package)
        parts.package = options->package->whole;
    parts.whole = options->whole;
    *key = ls__digest_of(&parts, sizeof parts);
    return status;
}

static ls_status check_source(const ls_device *device, const ls_module *module, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < ls__module_kernel_count(module->signature); i++) {
        const ls__ir_function *kernel = ls__module_kernel_at(module->signature, i);
        ls__facts facts;
        status = ls__module_facts(module, kernel, &facts, error);
        if (status == LS_OK)
            status = ls__facts_check(device, kernel->name, &facts, false, error);
    }
    return status;
}

/* A lowering may need shared memory. */
static ls_status check_lowered(const ls_device *device, const ls__ir_module *ir, ls_error *error)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; status == LS_OK && i < ls__module_kernel_count(ir); i++) {
        const ls__ir_function *kernel = ls__module_kernel_at(ir, i);
        ls__facts facts;
        status = ls__facts_of(kernel, &facts, error);
        if (status == LS_OK)
            status = ls__facts_check(device, kernel->name, &facts, true, error);
    }
    return status;
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
static ls_status list_kernels(ls__built *built, const ls__ir_module *ir,
                              const ls__pass_split *splits, ls_error *error)
{
    size_t total = 0;
    built->entry_count = ls__module_kernel_count(built->source->signature);
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

/* Lowers a copy where anything is to be done; else *ir stays NULL and the source's own serves. */
static ls_status lower(const ls__built *built, ls__pass_split *splits, ls__ir_module **ir,
                       ls_error *error)
{
    const ls__backend *backend = built->device->backend;
    ls__pass_options passes = {
        .lower = built->options.lower,
        .unchecked = built->options.unchecked,
        .optimize = backend->optimize,
        .watch = built->device->watches,
#ifndef NDEBUG
        .verify_each = true,
#endif
    };
    *ir = NULL;
    if (!passes.lower && !passes.unchecked && !passes.optimize && !passes.watch)
        return LS_OK;
    ls_status status = ls__module_copy_ir(built->source, ir, error);
    if (status == LS_OK)
        status = ls__lower_run(*ir, &passes, splits, error);
    if (status != LS_OK)
        ls__ir_module_destroy(ir);
    return status;
}

static ls__pass_split *splits_of(const ls__built *built, ls_error *error)
{
    size_t kernels = ls__module_kernel_count(built->source->signature);
    ls__pass_split *splits = ls__mem_alloc(kernels, sizeof *splits);
    if (!splits)
        ls__fail_oom(error, kernels * sizeof *splits);
    return splits;
}

/* When two threads come here at once both lower, and one result is kept. */
static ls_status lower_found(ls__built *built, ls_error *error)
{
    ls__ir_module *made = NULL, *before = NULL;
    ls__pass_split *splits = splits_of(built, error);
    if (!splits)
        return LS_E_OUT_OF_MEMORY;
    ls_status status = lower(built, splits, &made, error);
    ls__mem_free(splits);
    if (made && !atomic_compare_exchange_strong(&built->ir, &before, made))
        ls__ir_module_destroy(&made);
    return status;
}

ls_status ls__built_ir(ls__built *built, const ls__ir_module **ir, ls_error *error)
{
    ls_status status = LS_OK;
    *ir = atomic_load(&built->ir);
    if (!*ir && built->found)
        status = lower_found(built, error);
    if (status == LS_OK)
        *ir = atomic_load(&built->ir);
    return *ir || status != LS_OK ? status : ls__module_ir(built->source, ir, error);
}

/* --- code ------------------------------------------------------------------------------------- */
static const char *target_of(const ls_device *device, bool whole, bool quick)
{
    const ls__backend *backend = device->backend;
    return whole             ? backend->whole_target(device->handle)
           : quick           ? backend->quick_target(device->handle)
           : backend->target ? backend->target(device->handle)
                             : "";
}

/* The key of the code in the cache on disk. */
static ls__digest code_key(const ls__built *built, bool quick)
{
    const ls_device *device = built->device;
    return ls__code_key(&built->lowered, target_of(device, built->options.whole, quick),
                        built->options.unchecked, device->compiler, device->code_version);
}

static bool find_code(const ls__built *built, bool quick, ls__backend_code *code, void **bytes)
{
    ls_device *device = built->device;
    ls__digest key = code_key(built, quick);
    bool found = ls__kept_get(&device->code_cache, &key, bytes, &code->size);
    code->bytes = *bytes;
    return found;
}

ls_status ls__build_emit(ls_device *device, ls__backend_code *code,
                         const ls__build_options *options, void **bytes, ls_error *error)
{
    const char *target = target_of(device, options->whole, options->quick);
    ls_status status =
        device->emit(code->module, target, code->unchecked, bytes, &code->size, error);
    code->bytes = *bytes;
    return status;
}

ls_status ls__build_hand_over(ls_device *device, ls__backend_code *code,
                              ls__backend_program **program, ls_error *error)
{
    ls__driver_cache used = {0};
    bool hurried = false;
    code->driver_cache = &used;
    code->hurried = &hurried;
    ls_status status = device->backend->program_build(device->handle, code, program, error);
    code->driver_cache = NULL;
    code->hurried = NULL;
    ls__device_count(device, LS__COUNTER_driver_cache_hits, used.hits);
    ls__device_count(device, LS__COUNTER_driver_cache_misses, used.misses);
    ls__device_count(device, LS__COUNTER_programs_hurried, status == LS_OK && hurried);
    if (hurried && code->built)
        atomic_store(&code->built->hurried, true);
    return status;
}

static ls__backend_code code_of(ls__built *built)
{
    return (ls__backend_code){
        .module =
            atomic_load(&built->ir) ? atomic_load(&built->ir) : atomic_load(&built->source->ir),
        .built = built,
        .kernels = built->kernels,
        .kernel_count = built->kernel_count,
        .site_count = built->site_count,
        .unchecked = built->options.unchecked,
    };
}

/* The emitter's code, from the cache on disk where there is one. */
static ls_status find_or_emit(ls__built *built, ls__backend_code *code, bool quick, void **bytes,
                              ls_error *error)
{
    ls_device *device = built->device;
    if (device->code_cache.dir) {
        bool found = find_code(built, quick, code, bytes);
        ls__device_count(device, found ? LS__COUNTER_cache_hits : LS__COUNTER_cache_misses, 1);
        if (found)
            return LS_OK;
    }
    ls_status status = ls__built_ir(built, &code->module, error);
    ls__build_options options = built->options;
    options.quick = quick; /* the tier at hand, not the one that was asked for first */
    if (status == LS_OK)
        status = ls__build_emit(device, code, &options, bytes, error);
    if (status == LS_OK && device->code_cache.dir) {
        ls__digest key = code_key(built, quick);
        ls__kept_put(&device->code_cache, &key, *bytes, code->size);
    }
    return status;
}

static ls_status hand_to_backend(ls__built *built, bool quick, ls__backend_program **program,
                                 ls_error *error)
{
    ls_device *device = built->device;
    void *bytes = NULL;
    ls__backend_code code = code_of(built);
    ls_status status = LS_OK;
    if (device->emit)
        status = find_or_emit(built, &code, quick, &bytes, error);
    if (status == LS_OK)
        status = ls__build_hand_over(device, &code, program, error);
    ls__mem_free(bytes);
    return status;
}

/* As hand_to_backend, but LS_E_NOT_FOUND where the code would have to be made. */
static ls_status take_found(ls__built *built, bool quick, ls__backend_program **program,
                            ls_error *error)
{
    ls_device *device = built->device;
    void *bytes = NULL;
    ls__backend_code code = code_of(built);
    if (!device->code_cache.dir ||
        !ls__probe_knows(device, built->probed, built->options.lower, quick) ||
        !find_code(built, quick, &code, &bytes))
        return LS_E_NOT_FOUND;
    ls__device_count(device, LS__COUNTER_cache_hits, 1);
    ls_status status = ls__build_hand_over(device, &code, program, error);
    ls__mem_free(bytes);
    return status;
}

/* The IR stays as it is, so what the probe has found since to be lowered cannot be. */
static ls_status probe_again(ls__built *built, ls_error *error)
{
    ls_device *device = built->device;
    uint32_t lower = built->options.lower;
    ls_status status = ls__probe_program(device, built->probed, false, error);
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
        status = take_found(built, false, &program, error);
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
/* `built` without its code: all kernels checked and lowered, their operations collected. */
static ls_status lower_build(ls__built *built, const ls__ir_module **code_of, ls_error *error)
{
    ls_device *device = built->device;
    const ls__ir_module *source = NULL, *ir;
    ls__ir_module *lowered = NULL;
    ls_status status = check_source(device, built->source, error);
    ls__pass_split *splits = status == LS_OK ? splits_of(built, error) : NULL;
    if (!splits)
        return status == LS_OK ? LS_E_OUT_OF_MEMORY : status;
    status = lower(built, splits, &lowered, error);
    atomic_store(&built->ir, lowered);
    if (status == LS_OK)
        status = ls__module_ir(built->source, &source, error);
    ir = lowered ? lowered : status == LS_OK ? source : NULL;
    if (status == LS_OK)
        status = list_kernels(built, ir, splits, error);
    ls__mem_free(splits);
    if (status == LS_OK && lowered)
        status = check_lowered(device, lowered, error);
    if (status == LS_OK)
        status =
            ls__probe_collect(device, source, lowered, built->options.lower, &built->probed, error);
    if (status == LS_OK)
        built->site_count = ls__ir_site_count(ir);
    *code_of = ir;
    return status;
}

static ls_status prepare_build(ls__built *built, ls_error *error)
{
    ls_device *device = built->device;
    const ls__ir_module *ir;
    ls_status status = lower_build(built, &ir, error);
    if (status == LS_OK)
        status = ls__probe_program(device, built->probed, built->options.quick, error);
    return status == LS_OK && device->code_cache.dir ? ls__ir_digest(ir, &built->lowered, error)
                                                     : status;
}

/* Code that was made ahead is of these kernels, and the device is right about them. */
static ls_status check_package(ls__built *built, const ls__package *package, ls_error *error)
{
    ls_device *device = built->device;
    const ls__ir_module *ir, *source = NULL;
    ls__digest digest;
    const char *target = target_of(device, false, false);
    ls_status status = ls__module_ir(built->source, &source, error);
    if (status == LS_OK)
        status = ls__ir_digest(source, &digest, error);
    if (status == LS_OK && memcmp(&digest, &package->source, sizeof digest) != 0)
        status =
            ls__fail(error, LS_E_INVALID_ARGUMENT,
                     "the code for '%s' is of another module than the program", package->target);
    if (status == LS_OK)
        status = lower_build(built, &ir, error);
    if (status == LS_OK)
        status = ls__ir_digest(ir, &built->lowered, error);
    if (status != LS_OK)
        return status;
    uint32_t chunks = built->probed ? (built->probed->count + LS__PROBE_CHUNK - 1) / LS__PROBE_CHUNK
                                    : package->chunk_count;
    if (memcmp(&built->lowered, &package->lowered, sizeof digest) != 0 ||
        chunks != package->chunk_count) {
        ls__fail(error, LS_E_VERSION, "the code for '%s' is not what this library makes of it",
                 package->target);
        return ls__fail_hint(error, LS_E_VERSION, "make it again with this library");
    }
    bool own =
        strcmp(package->target, target) == 0 && package->lower == package->entry->lowering(target);
    return ls__probe_made(device, built->probed, package->lower, package->chunks, own, error);
}

static ls_status take_package(ls__built *built, const ls__package *package,
                              ls__backend_program **program, ls_error *error)
{
    ls_device *device = built->device;
    ls_status status = check_package(built, package, error);
    /* Backends take aligned bytes. */
    void *bytes = status == LS_OK ? ls__mem_alloc(package->code.size, 1) : NULL;
    if (!bytes)
        return status == LS_OK ? ls__fail_oom(error, package->code.size) : status;
    memcpy(bytes, package->code.bytes, package->code.size);
    ls__backend_code code = code_of(built);
    code.bytes = bytes;
    code.size = package->code.size;
    status = ls__build_hand_over(device, &code, program, error);
    ls__mem_free(bytes);
    return status;
}

/* All of `built` from the cache on disk; LS_E_NOT_FOUND when something is missing. */
static ls_status restore(ls__built *built, ls__backend_program **program)
{
    if (!built->source->has_key || check_source(built->device, built->source, NULL) != LS_OK ||
        !ls__built_find(built))
        return LS_E_NOT_FOUND;
    return take_found(built, built->options.quick, program, NULL);
}

static void forget_kernels(ls__built *built)
{
    ls__mem_free(built->kernels);
    ls__mem_free(built->entries);
    ls__mem_free(built->probed);
    built->kernels = NULL;
    built->entries = NULL;
    built->probed = NULL;
    built->kernel_count = built->entry_count = 0;
    built->found = false;
}

/* Makes everything of it; *stale: the probe has found more to be lowered, and it has no code. */
static ls_status make(ls__built *built, ls__backend_program **program, bool *stale, ls_error *error)
{
    ls_device *device = built->device;
    *stale = false;
    if (built->options.package) {
        ls_status taken = take_package(built, built->options.package, program, error);
        built->options.package = NULL;
        return taken;
    }
    if (restore(built, program) == LS_OK) {
        ls__built_keep(built);
        return LS_OK;
    }
    forget_kernels(built);
    ls_status status = prepare_build(built, error);
    *stale = (ls__probe_lowering(device) & ~built->options.lower) != 0;
    if (status == LS_OK && !*stale)
        status = hand_to_backend(built, built->options.quick, program, error);
    if (status == LS_OK && !*stale)
        ls__built_keep(built);
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
    bool stale;
    status = make(made, &program, &stale, error);
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
    if (options.package) {
        options.lower = options.package->lower;
        return build_once(device, module, &options, built, error);
    }
    if (device->backend->lowering)
        options.lower |= device->backend->lowering(device->handle);
    if (!device->caps.grid_barrier_native)
        options.lower |= LS__LOWER_GRID_BARRIER;
    if (options.whole)
        options.lower &= ~(uint32_t)LS__LOWER_GRID_BARRIER;
    if (!device->emit || !device->backend->quick_target || options.whole)
        options.quick = false;
    while (status == LS_OK && !*built) { /* again when the probe has found more to be lowered */
        options.lower |= ls__probe_lowering(device);
        status = build_once(device, module, &options, built, error);
    }
    return status;
}
