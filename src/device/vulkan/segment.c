/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: their life from an empty command buffer to work that has completed, and what is learned
 * from the time it took. */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "device/vulkan/jobs.h"

/* --- creation --------------------------------------------------------------------------------- */
static VkResult make_queries(ls__vulkan_device *device, ls__vulkan_segment *segment)
{
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = LS__VULKAN_QUERIES,
    };
    if (!device->caps.timing)
        return VK_SUCCESS;
    return device->vk.CreateQueryPool(device->handle, &info, NULL, &segment->queries);
}

static ls_status make_arena(ls__vulkan_device *device, ls__vulkan_heap *heap, uint64_t size,
                            ls__vulkan_arena *arena, ls_error *error)
{
    arena->size = size;
    return size ? ls__vulkan_take(device, heap, size, &arena->memory, error) : LS_OK;
}

ls_status ls__vulkan_segment_create(ls__vulkan_device *device, VkCommandPool pool,
                                    uint64_t argument_bytes, uint64_t staging_bytes, bool prepared,
                                    ls__vulkan_segment **segment, ls_error *error)
{
    ls__vulkan_segment *made = ls__mem_alloc(1, sizeof *made);
    *segment = NULL;
    if (!made)
        return ls__fail_oom(error, sizeof *made);
    ls_status status =
        make_arena(device, &device->arguments, argument_bytes, &made->arguments, error);
    if (status == LS_OK)
        status = make_arena(device, &device->staging, staging_bytes, &made->staging, error);
    if (status == LS_OK && prepared &&
        !(made->before = ls__mem_alloc(LS__VULKAN_BEFORE, sizeof *made->before)))
        status = ls__fail_oom(error, LS__VULKAN_BEFORE * sizeof *made->before);
    VkResult result = VK_SUCCESS;
    if (status == LS_OK)
        result = ls__vulkan_command_buffer(device, pool, &made->commands);
    if (status == LS_OK && result == VK_SUCCESS)
        result = make_queries(device, made);
    if (result != VK_SUCCESS)
        status = ls__vulkan_fail(error, result, "make a command buffer");
    if (status != LS_OK) {
        ls__vulkan_segment_destroy(device, pool, &made);
        return status;
    }
    *segment = made;
    return LS_OK;
}

void ls__vulkan_segment_destroy(ls__vulkan_device *device, VkCommandPool pool,
                                ls__vulkan_segment **segment)
{
    ls__vulkan_segment *destroyed = *segment;
    if (!destroyed)
        return;
    if (destroyed->queries)
        device->vk.DestroyQueryPool(device->handle, destroyed->queries, NULL);
    if (destroyed->commands)
        device->vk.FreeCommandBuffers(device->handle, pool, 1, &destroyed->commands);
    ls__vulkan_give(device, destroyed->arguments.memory);
    ls__vulkan_give(device, destroyed->staging.memory);
    ls__mem_free(destroyed->before);
    ls__mem_free(destroyed);
    *segment = NULL;
}

void ls__vulkan_segment_reset(ls__vulkan_segment *segment)
{
    segment->begun = segment->sealed = segment->drain = segment->timed = segment->variable = false;
    segment->arguments.used = segment->staging.used = 0;
    segment->estimated_ns = segment->copied_ns = 0;
    segment->records = segment->query_count = segment->after_count = segment->trap_count = 0;
    segment->cost_count = segment->mark_count = segment->before_count = 0;
}

/* --- recording -------------------------------------------------------------------------------- */
VkResult ls__vulkan_segment_begin(ls__vulkan_device *device, ls__vulkan_segment *segment, bool once,
                                  bool timed)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0,
    };
    segment->begun = true;
    segment->timed = timed && segment->queries;
    VkResult result = device->vk.BeginCommandBuffer(segment->commands, &info);
    if (result != VK_SUCCESS)
        return result;
    if (segment->timed)
        device->vk.CmdResetQueryPool(segment->commands, segment->queries, 0, LS__VULKAN_QUERIES);
    ls__vulkan_barrier(device, segment->commands);
    if (segment->timed)
        device->vk.CmdWriteTimestamp(segment->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                     segment->queries, segment->query_count++);
    return VK_SUCCESS;
}

VkResult ls__vulkan_segment_end(ls__vulkan_device *device, ls__vulkan_segment *segment)
{
    if (segment->timed)
        device->vk.CmdWriteTimestamp(segment->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                     segment->queries, segment->query_count++);
    ls__vulkan_host_barrier(device, segment->commands);
    return device->vk.EndCommandBuffer(segment->commands);
}

/* --- running ---------------------------------------------------------------------------------- */
VkResult ls__vulkan_segment_submit(ls__vulkan_executor *executor, ls__vulkan_segment *segment)
{
    ls__vulkan_device *device = executor->device;
    segment->value = ++executor->value;
    segment->submitted_ns = ls__os_now_ns();
    return ls__vulkan_submit(device, device->queue, segment->commands, executor->timeline,
                             segment->value);
}

static uint64_t scaled(uint64_t ps, uint64_t ns, uint64_t estimated_ns)
{
    uint64_t least = ps / 2, most = ps * 16;
    double value = (double)ps * (double)ns / (double)estimated_ns;
    if (value < (double)least)
        return least ? least : 1;
    return value > (double)most ? most : (uint64_t)value;
}

/* What the kernels of the segment take. Of one alone it is known; of several all are blamed. */
static void learn(ls__vulkan_segment *segment, uint64_t ns)
{
    uint64_t estimated = segment->estimated_ns - segment->copied_ns;
    ns -= ns > segment->copied_ns ? segment->copied_ns : 0;
    for (uint32_t i = 0; i < segment->cost_count; i++) {
        ls__vulkan_cost *cost = &segment->costs[i];
        ls__vulkan_kernel *kernel = cost->kernel;
        if (cost->largest > kernel->largest_groups)
            kernel->largest_groups = cost->largest;
        if (segment->cost_count == 1)
            kernel->group_ps = ns * 1000 / cost->groups + 1;
        else if (estimated && kernel->group_ps)
            kernel->group_ps = scaled(kernel->group_ps, ns, estimated);
    }
}

/* Less what any submission takes, as far as is known; a part is left, which keeps a kernel from
 * counting as free. */
static uint64_t without_overhead(ls__vulkan_executor *executor, uint64_t ns)
{
    uint64_t most = ns - ns / 16;
    if (!executor->least_ns || ns < executor->least_ns)
        executor->least_ns = ns;
    return ns - (executor->least_ns < most ? executor->least_ns : most);
}

static VkResult add_times(ls__vulkan_device *device, ls__vulkan_segment *segment, ls__job *job)
{
    uint64_t stamps[LS__VULKAN_QUERIES];
    uint32_t bits = device->physical->timestamp_bits, count = segment->query_count, mark = 0;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    double period = device->physical->properties.limits.timestampPeriod;
    if (!segment->timed || !job->timing)
        return VK_SUCCESS;
    VkResult result = device->vk.GetQueryPoolResults(
        device->handle, segment->queries, 0, count, count * sizeof *stamps, stamps, sizeof *stamps,
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS)
        return result;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t ns = (uint64_t)((double)((stamps[i] - stamps[i - 1]) & mask) * period);
        job->result.device_ns += ns;
        for (; mark < segment->mark_count && segment->marks[mark].query == i; mark++)
            job->rows[segment->marks[mark].row].device_ns += ns;
    }
    return VK_SUCCESS;
}

static void move_sizes(const ls__command_dispatch *dispatch, uint8_t *mapped)
{
    ls__vulkan_sizes sizes = {0};
    uint32_t count[3];
    ls__vulkan_count_groups(ls__vulkan_kernel_of(dispatch), dispatch->global_size, count);
    memcpy(sizes.kernel.global_size, dispatch->global_size, sizeof sizes.kernel.global_size);
    memcpy(sizes.kernel.workgroup_count, count, sizeof sizes.kernel.workgroup_count);
    sizes.groups = (VkDispatchIndirectCommand){count[0], count[1], count[2]};
    memcpy(mapped, &sizes, sizeof sizes);
}

void ls__vulkan_move_bytes(ls__vulkan_device *device, const ls__vulkan_move *move,
                           const ls__job *job)
{
    const ls__command *command = &job->commands[move->command];
    uint8_t *mapped = ls__vulkan_host(move->memory, move->place);
    switch (move->kind) {
    case LS__MOVE_SCALARS:
        memcpy(mapped, command->dispatch.scalars + move->host_place, move->size);
        break;
    case LS__MOVE_SIZES:
        move_sizes(&command->dispatch, mapped);
        break;
    case LS__MOVE_UPLOAD:
        memcpy(mapped, (const uint8_t *)command->upload + move->host_place, move->size);
        ls__vulkan_flush(device, move->memory, move->place, move->size);
        break;
    case LS__MOVE_DOWNLOAD:
        ls__vulkan_invalidate(device, move->memory, move->place, move->size);
        memcpy((uint8_t *)command->download + move->host_place, mapped, move->size);
        break;
    }
}

/* The first dispatch that trapped says so in the status block. */
static void find_trap(ls__vulkan_executor *executor, const ls__vulkan_segment *segment)
{
    uint32_t sequence = segment->trap_count ? ls__vulkan_status(executor)->trap_sequence : 0;
    for (uint32_t i = 0; i < segment->trap_count; i++) {
        if (segment->traps[i].sequence != sequence)
            continue;
        executor->trapped = true;
        executor->trap = segment->traps[i];
    }
}

static VkResult wait_once(ls__vulkan_executor *executor, uint64_t value, uint64_t limit_ns)
{
    if (!ls__vulkan_test_hooks.stuck_ns)
        return ls__vulkan_wait(executor->device, executor->timeline, value, limit_ns);
    ls__os_sleep_ns(ls__vulkan_test_hooks.stuck_ns);
    return VK_TIMEOUT;
}

/* Of a job on the thread of who wants it others set job->cancel and do no more, so it looks at that
 * meanwhile, and gives the device up itself when it does not stop. */
static VkResult wait_for(ls__vulkan_executor *executor, const ls__vulkan_segment *segment,
                         const ls__job *job)
{
    const uint64_t slice_ns = 2000000;
    uint64_t grace_ns = LS__VULKAN_GRACE_S * UINT64_C(1000000000), asked_ns = 0;
    if (ls__vulkan_test_hooks.stuck_ns)
        grace_ns = ls__vulkan_test_hooks.stuck_ns;
    for (;;) {
        VkResult result =
            wait_once(executor, segment->value, executor->waiter ? slice_ns : LS_FOREVER);
        if (result != VK_TIMEOUT)
            return result;
        if (!executor->waiter)
            continue;
        ls__vulkan_take_signals(executor->waiter);
        if (!atomic_load(&job->cancel))
            continue;
        uint64_t now = ls__os_now_ns();
        ls__vulkan_status(executor)->cancel = 1;
        if (!asked_ns)
            asked_ns = now;
        else if (now - asked_ns > grace_ns)
            return result;
    }
}

VkResult ls__vulkan_segment_complete(ls__vulkan_executor *executor, ls__vulkan_segment *segment,
                                     ls__job *job)
{
    ls__vulkan_device *device = executor->device;
    VkResult result = wait_for(executor, segment, job);
    if (result == VK_SUCCESS)
        result = add_times(device, segment, job);
    if (result != VK_SUCCESS)
        return result;
    uint64_t now = ls__os_now_ns(), begun = segment->submitted_ns;
    if (executor->completed_ns > begun)
        begun = executor->completed_ns;
    executor->completed_ns = now;
    if (!segment->variable)
        learn(segment, without_overhead(executor, now - begun));
    for (uint32_t i = 0; i < segment->after_count; i++)
        ls__vulkan_move_bytes(device, &segment->after[i], job);
    find_trap(executor, segment);
    return VK_SUCCESS;
}
