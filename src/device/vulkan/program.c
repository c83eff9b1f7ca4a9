/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: a pipeline for each kernel of a container (abi.h), and the tables they read. */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/device.h"

/* What the emitter was not told to keep to, because no capability says it. */
static ls_status check_kernel(const ls__vulkan_device *device, const char *name,
                              const ls__spirv_kernel *kernel, ls_error *error)
{
    const VkPhysicalDeviceLimits *limits = &device->physical->properties.limits;
    for (int i = 0; i < 3; i++) {
        uint32_t most = limits->maxComputeWorkGroupSize[i];
        if (kernel->workgroup[i] > most)
            return ls__fail(error, LS_E_UNSUPPORTED,
                            "kernel '%s' needs %u lanes in dimension %d of its workgroup, '%s' has "
                            "%u",
                            name, kernel->workgroup[i], i, device->physical->description, most);
    }
    if (kernel->shared_bytes > limits->maxComputeSharedMemorySize)
        return ls__fail(error, LS_E_UNSUPPORTED,
                        "kernel '%s' needs %u bytes of shared memory, '%s' has %u", name,
                        kernel->shared_bytes, device->physical->description,
                        limits->maxComputeSharedMemorySize);
    return LS_OK;
}

/* What the driver says of a pipeline that it has made. */
static void count_pipeline(const ls__vulkan_device *device,
                           const VkPipelineCreationFeedbackEXT *said, ls__driver_cache *cache)
{
    if (!device->cache.kept.dir || !(said->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT_EXT))
        return;
    bool hit = said->flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT_EXT;
    cache->hits += hit;
    cache->misses += !hit;
}

static VkResult make_pipeline(ls__vulkan_device *device, const uint32_t *words, uint32_t word_count,
                              bool subgroups, ls__driver_cache *cache, VkPipeline *pipeline)
{
    VkPipelineCreationFeedbackEXT said = {0}, stage_said = {0};
    VkPipelineCreationFeedbackCreateInfoEXT feedback = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO_EXT,
        .pPipelineCreationFeedback = &said,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage_said,
    };
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT width = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
        .requiredSubgroupSize = 32,
    };
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)word_count * sizeof *words,
        .pCode = words,
    };
    VkShaderModule module;
    VkResult result = device->vk.CreateShaderModule(device->handle, &module_info, NULL, &module);
    if (result != VK_SUCCESS)
        return result;
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = device->layout,
        .basePipelineIndex = -1,
        .pNext = device->physical->features.feedback ? &feedback : NULL,
    };
    if (subgroups) {
        info.stage.pNext = &width;
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    }
    result = device->vk.CreateComputePipelines(device->handle, device->cache.handle, 1, &info, NULL,
                                               pipeline);
    device->vk.DestroyShaderModule(device->handle, module, NULL);
    count_pipeline(device, &said, cache);
    return result;
}

static ls_status build_kernel(ls__vulkan_device *device, const void *bytes, const char *name,
                              const ls__spirv_kernel *from, ls__driver_cache *cache,
                              ls__vulkan_kernel *kernel, ls_error *error)
{
    ls_status status = check_kernel(device, name, from, error);
    if (status != LS_OK)
        return status;
    memcpy(kernel->workgroup, from->workgroup, sizeof kernel->workgroup);
    kernel->flags = from->flags;
    kernel->scalar_bytes = from->scalar_bytes;
    VkResult result =
        make_pipeline(device, ls__spirv_words(bytes, from), from->word_count,
                      (from->flags & LS__SPIRV_SUBGROUPS) != 0, cache, &kernel->pipeline);
    if (result == VK_SUCCESS)
        return LS_OK;
    ls__vulkan_fail(error, result, "make a pipeline");
    return ls__fail_where(error, error ? error->code : LS_E_INTERNAL, "kernel '%s'", name);
}

static ls_status load_tables(ls__vulkan_device *device, ls__vulkan_program *program,
                             const ls__spirv_view *view, ls_error *error)
{
    if (view->table_size == 0)
        return LS_OK;
    ls_status status =
        ls__vulkan_take(device, &device->memory, view->table_size, &program->tables, error);
    if (status == LS_OK)
        status =
            ls__vulkan_write(device, program->tables, 0, view->table_size, view->tables, error);
    return status;
}

static const ls__spirv_kernel *find_kernel(const ls__spirv_view *view, uint32_t function)
{
    for (uint32_t i = 0; i < view->kernel_count; i++)
        if (view->kernels[i].function == function)
            return &view->kernels[i];
    return NULL;
}

static ls_status build(ls__vulkan_device *device, const ls__backend_code *code,
                       ls__vulkan_program *program, ls_error *error)
{
    ls__spirv_view view;
    ls_status status = ls__spirv_read(code->bytes, code->size, &view, error);
    if (status != LS_OK)
        return status;
    program->kernels = ls__mem_alloc(code->kernel_count, sizeof *program->kernels);
    if (!program->kernels)
        return ls__fail_oom(error, code->kernel_count * sizeof *program->kernels);
    program->kernel_count = code->kernel_count;
    for (uint32_t i = 0; i < code->kernel_count && status == LS_OK; i++) {
        const ls__backend_kernel *kernel = &code->kernels[i];
        const ls__spirv_kernel *from = find_kernel(&view, kernel->function);
        if (!from)
            return ls__fail(error, LS_E_FORMAT, "compiled kernels are damaged: '%s' is missing",
                            kernel->name);
        status = build_kernel(device, code->bytes, kernel->name, from, code->driver_cache,
                              &program->kernels[i], error);
    }
    return status == LS_OK ? load_tables(device, program, &view, error) : status;
}

ls_status ls__vulkan_program_build(ls__vulkan_device *device, const ls__backend_code *code,
                                   ls__vulkan_program **program, ls_error *error)
{
    ls__vulkan_guard guard;
    ls__vulkan_program *made = ls__mem_alloc(1, sizeof *made);
    *program = NULL;
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls__vulkan_enter(&guard);
    ls_status status = build(device, code, made, error);
    if (status != LS_OK)
        ls__vulkan_program_free(device, made);
    ls__vulkan_leave(&guard);
    if (status == LS_OK)
        *program = made;
    return status;
}

void ls__vulkan_program_free(ls__vulkan_device *device, ls__vulkan_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (program->kernels[i].pipeline)
            device->vk.DestroyPipeline(device->handle, program->kernels[i].pipeline, NULL);
    ls__vulkan_give(device, program->tables);
    ls__mem_free(program->kernels);
    ls__mem_free(program);
}
