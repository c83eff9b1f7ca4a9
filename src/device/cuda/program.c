/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: the emitter's PTX, made into machine code by the driver, or found in the cache; and
 * what a launch of each kernel must know of it: how many workgroups the device runs at once, as the
 * driver says.
 *
 * What the driver's compiler says of PTX that it refuses goes into the error.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/cuda/device.h"

enum { LOG_BYTES = 4096 };

/* --- compiling -------------------------------------------------------------------------------- */
typedef struct compile_log {
    char errors[LOG_BYTES], infos[LOG_BYTES];
} compile_log;

static ls_status fail_compile(const ls__cuda_device *device, ls__cu_result result,
                              const compile_log *log, uint64_t size, ls_error *error)
{
    const char *text = log->errors[0] ? log->errors : log->infos;
    ls_status status = ls__cuda_fail_bytes(device->cu, error, result, "compile PTX of", size);
    if (text[0])
        ls__fail_hint(error, status, "the driver's compiler says: %s", text);
    return status;
}

/* Heap memory (ls__mem_free). */
static ls_status compile(const ls__cuda_device *device, const ls__ptx_view *view, void **image,
                         size_t *size, ls_error *error)
{
    const ls__cuda_functions *cu = device->cu;
    compile_log *log = ls__mem_alloc(1, sizeof *log);
    ls__cu_link link = NULL;
    void *made = NULL;
    if (!log)
        return ls__fail_oom(error, sizeof *log);
    int options[] = {LS__CU_JIT_ERROR_LOG, LS__CU_JIT_ERROR_LOG_BYTES, LS__CU_JIT_INFO_LOG,
                     LS__CU_JIT_INFO_LOG_BYTES};
    void *values[] = {log->errors, (void *)(uintptr_t)(LOG_BYTES - 1), log->infos,
                      (void *)(uintptr_t)(LOG_BYTES - 1)};
    ls__cu_result result = cu->LinkCreate(4, options, values, &link);
    if (result == LS__CU_SUCCESS) /* the 0 behind the text is part of it */
        result = cu->LinkAddData(link, LS__CU_JIT_INPUT_PTX, (void *)(uintptr_t)view->text,
                                 (size_t)view->text_size + 1, "lockstep", 0, NULL, NULL);
    if (result == LS__CU_SUCCESS)
        result = cu->LinkComplete(link, &made, size);
    ls_status status = LS_OK;
    if (result != LS__CU_SUCCESS) {
        status = fail_compile(device, result, log, view->text_size, error);
    } else { /* the driver's copy goes with the link */
        *image = ls__mem_alloc(*size, 1);
        if (*image)
            memcpy(*image, made, *size);
        else
            status = ls__fail_oom(error, *size);
    }
    if (link)
        cu->LinkDestroy(link);
    ls__mem_free(log);
    return status;
}

/* From the cache, where the driver takes it; else compiled. */
static ls_status load(ls__cuda_device *device, const ls__ptx_view *view, ls__driver_cache *cache,
                      ls__cu_module *module, ls_error *error)
{
    const ls__cuda_functions *cu = device->cu;
    size_t size = 0;
    void *image = ls__cuda_cache_get(device, view->text, (size_t)view->text_size, &size);
    if (image) {
        ls__cu_result found = cu->ModuleLoadDataEx(module, image, 0, NULL, NULL);
        ls__mem_free(image);
        if (found == LS__CU_SUCCESS) {
            cache->hits++;
            return LS_OK;
        }
    }
    cache->misses += device->cache.dir != NULL;
    ls_status status = compile(device, view, &image, &size, error);
    if (status != LS_OK)
        return status;
    ls__cu_result result = cu->ModuleLoadDataEx(module, image, 0, NULL, NULL);
    if (result == LS__CU_SUCCESS)
        ls__cuda_cache_put(device, view->text, (size_t)view->text_size, image, size);
    ls__mem_free(image);
    return result == LS__CU_SUCCESS
               ? LS_OK
               : ls__cuda_fail_bytes(cu, error, result, "load machine code of", size);
}

/* --- kernels ---------------------------------------------------------------------------------- */
/* What the driver's compiler has made of a kernel. */
typedef struct needs {
    int threads; /* a workgroup can have */
    int registers, shared;
    int groups; /* that a multiprocessor runs at once */
} needs;

static ls__cu_result find_needs(const ls__cuda_functions *cu, const ls__cuda_kernel *kernel,
                                needs *n)
{
    ls__cu_result result =
        cu->FuncGetAttribute(&n->threads, LS__CU_FUNCTION_MAX_THREADS, kernel->function);
    if (result == LS__CU_SUCCESS)
        result = cu->FuncGetAttribute(&n->registers, LS__CU_FUNCTION_REGISTERS, kernel->function);
    if (result == LS__CU_SUCCESS)
        result = cu->FuncGetAttribute(&n->shared, LS__CU_FUNCTION_SHARED_BYTES, kernel->function);
    if (result == LS__CU_SUCCESS)
        result = cu->OccupancyMaxActiveBlocksPerMultiprocessor(&n->groups, kernel->function,
                                                               (int)kernel->lanes, 0);
    return result;
}

static ls_status fail_limit(ls_error *error, const char *what, uint64_t needed, uint64_t limit)
{
    return ls__fail(error, LS_E_LIMIT,
                    "a workgroup needs %llu %s, the device has %llu: %llu too few",
                    (unsigned long long)needed, what, (unsigned long long)limit,
                    (unsigned long long)(needed - limit));
}

/* Whether a workgroup fits; else which limit it breaks, and by how much. */
static ls_status check_fit(const ls__cuda_device *device, const ls__cuda_kernel *kernel,
                           const needs *n, ls_error *error)
{
    const ls__cuda_physical *physical = device->physical;
    uint64_t registers = (uint64_t)n->registers * kernel->lanes;
    if ((uint32_t)n->shared > physical->max_shared_bytes)
        return fail_limit(error, "bytes of shared memory", (uint32_t)n->shared,
                          physical->max_shared_bytes);
    if (registers > physical->max_registers)
        return fail_limit(error, "registers", registers, physical->max_registers);
    if (kernel->lanes > (uint32_t)n->threads)
        return fail_limit(error, "threads", kernel->lanes, (uint32_t)n->threads);
    if (n->groups <= 0)
        return ls__fail(error, LS_E_LIMIT,
                        "no workgroup of %u lanes with %d registers each and %d bytes of shared "
                        "memory fits on a multiprocessor",
                        kernel->lanes, n->registers, n->shared);
    return LS_OK;
}

static ls_status plan(const ls__cuda_device *device, ls__cuda_kernel *kernel, ls_error *error)
{
    needs n = {0};
    ls__cu_result result = find_needs(device->cu, kernel, &n);
    if (result != LS__CU_SUCCESS)
        return ls__cuda_fail(device->cu, error, result, "plan launches");
    ls_status status = check_fit(device, kernel, &n, error);
    if (status == LS_OK)
        kernel->groups_at_once = (uint32_t)n.groups * device->physical->multiprocessors;
    return status;
}

static ls_status check_kernel(const ls__ptx_kernel *from, const ls__backend_kernel *kernel,
                              ls_error *error)
{
    if (from->buffer_count == kernel->buffer_count && from->scalar_bytes == kernel->scalar_bytes &&
        memcmp(from->workgroup, kernel->workgroup, sizeof from->workgroup) == 0 &&
        from->parameter_bytes <= LS__PTX_MAX_PARAMETER_BYTES)
        return LS_OK;
    return ls__fail(error, LS_E_FORMAT, "compiled kernels are damaged: one has other parameters");
}

static ls_status build_kernel(ls__cuda_device *device, ls__cu_module module,
                              const ls__ptx_kernel *from, const ls__backend_kernel *source,
                              ls__cuda_kernel *kernel, ls_error *error)
{
    char name[32];
    ls_status status = check_kernel(from, source, error);
    if (status != LS_OK)
        return status;
    memcpy(kernel->workgroup, from->workgroup, sizeof kernel->workgroup);
    kernel->lanes = from->workgroup[0] * from->workgroup[1] * from->workgroup[2];
    kernel->flags = from->flags;
    kernel->scalar_bytes = from->scalar_bytes;
    kernel->parameter_bytes = from->parameter_bytes;
    snprintf(name, sizeof name, LS__PTX_KERNEL_SYMBOL "%u", from->function);
    ls__cu_result result = device->cu->ModuleGetFunction(&kernel->function, module, name);
    if (result != LS__CU_SUCCESS)
        return ls__cuda_fail(device->cu, error, result, "find a kernel's code");
    return plan(device, kernel, error);
}

static const ls__ptx_kernel *find_kernel(const ls__ptx_view *view, uint32_t function)
{
    for (uint32_t i = 0; i < view->kernel_count; i++)
        if (view->kernels[i].function == function)
            return &view->kernels[i];
    return NULL;
}

/* --- programs --------------------------------------------------------------------------------- */
static ls_status build(ls__cuda_device *device, const ls__backend_code *code,
                       ls__cuda_program *program, ls_error *error)
{
    ls__ptx_view view;
    ls_status status = ls__ptx_read(code->bytes, code->size, &view, error);
    if (status != LS_OK)
        return status;
    program->kernels = ls__mem_alloc(code->kernel_count, sizeof *program->kernels);
    if (!program->kernels)
        return ls__fail_oom(error, code->kernel_count * sizeof *program->kernels);
    program->kernel_count = code->kernel_count;
    status = load(device, &view, code->driver_cache, &program->module, error);
    for (uint32_t i = 0; i < code->kernel_count && status == LS_OK; i++) {
        const ls__backend_kernel *kernel = &code->kernels[i];
        const ls__ptx_kernel *from = find_kernel(&view, kernel->function);
        if (!from)
            return ls__fail(error, LS_E_FORMAT, "compiled kernels are damaged: '%s' is missing",
                            kernel->name);
        status = build_kernel(device, program->module, from, kernel, &program->kernels[i], error);
        if (status != LS_OK)
            ls__fail_where(error, status, "kernel '%s'", kernel->name);
    }
    return status;
}

ls_status ls__cuda_program_build(ls__cuda_device *device, const ls__backend_code *code,
                                 ls__cuda_program **program, ls_error *error)
{
    ls__cuda_guard guard;
    ls__cuda_program *made = ls__mem_alloc(1, sizeof *made);
    *program = NULL;
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls__cuda_begin_calls(device, &guard);
    ls__cuda_range_begin("lockstep program");
    ls_status status = build(device, code, made, error);
    ls__cuda_range_end();
    ls__cuda_end_calls(device, &guard);
    if (status == LS_OK)
        *program = made;
    else
        ls__cuda_program_free(device, made);
    return status;
}

void ls__cuda_program_drop(ls__cuda_program *program)
{
    ls__mem_free(program->kernels);
    ls__mem_free(program);
}

void ls__cuda_program_free(ls__cuda_device *device, ls__cuda_program *program)
{
    if (program && program->module)
        ls__cuda_retire(device, program);
    else if (program)
        ls__cuda_program_drop(program);
}
