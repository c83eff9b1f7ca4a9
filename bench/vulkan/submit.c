/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a submission costs: the same work as bare calls of Vulkan and as batches, plain and
 * prepared, in turns, so that a busy machine disturbs all of them alike. Then many launches, and
 * whether memory grows.
 *
 * usage: vulkan_submit [DEVICE] [RUNS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "core/core.h"
#include "device/vulkan/jobs.h"
#include "lockstep/launch.h"
#include "lockstep/program.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        ls_error error_ = {0};                                                                     \
        ls_error *error = &error_;                                                                 \
        if ((call) != LS_OK) {                                                                     \
            fprintf(stderr, "%s: %s\n", #call, error_.message);                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { WAYS = 6, MOST_RUNS = 100000, LAUNCHES = 64, MANY = 100000 };

static const char text[] = "kernel void add(u32 n, u32 k, const u32 *x, u32 *y)\n"
                           "{\n"
                           "    u32 i = global_id(0);\n"
                           "    if (i < n)\n"
                           "        y[i] = x[i] + k;\n"
                           "}\n";

typedef struct bench {
    ls_device *device;
    ls_stream *stream;
    ls_program *program;
    ls_buffer *x, *y;
    ls_batch *batches[2];
    ls_prepared *prepared[2];
    /* bare */
    ls__vulkan_device *vulkan;
    VkCommandPool pool;
    VkCommandBuffer commands[2];
    VkSemaphore semaphore;
    uint64_t value;
} bench;

static void record(bench *b, uint32_t launches, ls_batch **batch)
{
    const ls_kernel *kernel;
    uint32_t scalars[2] = {256, 1};
    ls_range buffers[2] = {{b->x, 0, LS_WHOLE}, {b->y, 0, LS_WHOLE}};
    ls_dispatch d = LS_DISPATCH_INIT;
    CHECK(ls_program_kernel(b->program, "add", &kernel, error));
    d.kernel = kernel;
    d.global_size[0] = 256;
    d.buffers = buffers;
    d.buffer_count = 2;
    d.scalars = scalars;
    d.scalar_bytes = sizeof scalars;
    CHECK(ls_batch_create(b->device, batch, error));
    for (uint32_t i = 0; i < launches; i++)
        CHECK(ls_batch_dispatch(*batch, &d, error));
}

/* --- bare ------------------------------------------------------------------------------------- */
/* The same launches as ls_batch, from a prepared batch's own pipeline and arguments. */
static void record_bare(bench *b, uint32_t launches, ls__vulkan_memory *arguments,
                        VkCommandBuffer commands)
{
    ls__vulkan_device *device = b->vulkan;
    const ls_kernel *kernel;
    CHECK(ls_program_kernel(b->program, "add", &kernel, error));
    const ls__vulkan_program *program =
        (const ls__vulkan_program *)atomic_load(&b->program->built->optimized);
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    ls__spirv_push push = {
        .arguments = ls__vulkan_address(arguments, 0),
        .status = ls__vulkan_address(device->executor->status, 0),
        .global_size = {256, 1, 1},
        .workgroup_count = {4, 1, 1},
        .sequence = 1,
        .first_sequence = 1,
    };
    device->vk.BeginCommandBuffer(commands, &info);
    for (uint32_t i = 0; i < launches; i++) {
        ls__vulkan_barrier(device, commands);
        if (i == 0)
            device->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                       program->kernels[kernel->entry->first].pipeline);
        device->vk.CmdPushConstants(commands, device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                    sizeof push, &push);
        device->vk.CmdDispatch(commands, 4, 1, 1);
    }
    ls__vulkan_host_barrier(device, commands);
    device->vk.EndCommandBuffer(commands);
}

static void make_bare(bench *b)
{
    ls__vulkan_device *device = b->vulkan;
    ls__vulkan_memory *arguments;
    ls__vulkan_pool(device, &b->pool);
    for (int i = 0; i < 2; i++)
        ls__vulkan_command_buffer(device, b->pool, &b->commands[i]);
    ls__vulkan_timeline(device, &b->semaphore);
    CHECK(ls__vulkan_take(device, &device->staging, 64, &arguments, error));
    struct {
        ls__spirv_buffer buffers[2];
        uint32_t scalars[2];
    } block = {.scalars = {256, 1}};
    ls_buffer *buffers[2] = {b->x, b->y};
    for (int i = 0; i < 2; i++)
        block.buffers[i] = (ls__spirv_buffer){
            ls__vulkan_address((ls__vulkan_memory *)buffers[i]->allocation->memory, 0), 1024};
    memcpy(ls__vulkan_host(arguments, 0), &block, sizeof block);
    record_bare(b, 1, arguments, b->commands[0]);
    record_bare(b, LAUNCHES, arguments, b->commands[1]);
}

static void run_bare(bench *b, int which)
{
    ls__vulkan_submit(b->vulkan, b->vulkan->queue, b->commands[which], b->semaphore, ++b->value);
    ls__vulkan_wait(b->vulkan, b->semaphore, b->value, LS_FOREVER);
}

/* --- ways ------------------------------------------------------------------------------------- */
static const char *const names[WAYS] = {"1 launch,   bare Vulkan", "1 launch,   prepared",
                                        "1 launch,   plain batch", "64 launches, bare Vulkan",
                                        "64 launches, prepared",   "64 launches, plain batch"};

static void run_way(bench *b, int way)
{
    ls_fence *fence;
    int which = way / 3;
    if (way % 3 == 0) {
        run_bare(b, which);
        return;
    }
    if (way % 3 == 1)
        CHECK(ls_submit_prepared(b->stream, b->prepared[which], NULL, &fence, error));
    else
        CHECK(ls_submit(b->stream, b->batches[which], NULL, &fence, error));
    CHECK(ls_fence_wait(fence, LS_FOREVER, NULL, error));
    ls_fence_destroy(&fence);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void print_times(bench *b, uint32_t runs)
{
    static uint64_t times[WAYS][MOST_RUNS];
    for (uint32_t i = 0; i < 20; i++)
        for (int way = 0; way < WAYS; way++)
            run_way(b, way);
    for (uint32_t i = 0; i < runs; i++) {
        for (int way = 0; way < WAYS; way++) {
            uint64_t begun = ls__os_now_ns();
            run_way(b, way);
            times[way][i] = ls__os_now_ns() - begun;
        }
    }
    printf("%-26s %10s %10s %10s   microseconds of %u runs\n", "submit and wait", "least", "median",
           "against", runs);
    for (int way = 0; way < WAYS; way++) {
        qsort(times[way], runs, sizeof times[way][0], compare);
        printf("%-26s %10.1f %10.1f %9.2fx\n", names[way], (double)times[way][0] / 1e3,
               (double)times[way][runs / 2] / 1e3,
               (double)times[way][runs / 2] / (double)times[way / 3 * 3][runs / 2]);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */
static uint64_t resident_kib(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void print_growth(bench *b)
{
    uint64_t before = resident_kib(), begun = ls__os_now_ns();
    for (uint32_t launches = 0; launches < MANY; launches += 2 * LAUNCHES) {
        run_way(b, 4);
        run_way(b, 5);
    }
    printf("%d launches: %.1f s, resident memory %llu KiB before, %llu KiB after\n", MANY,
           (double)(ls__os_now_ns() - begun) / 1e9, (unsigned long long)before,
           (unsigned long long)resident_kib());
}

int main(int argc, char **argv)
{
    static bench b;
    uint32_t runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    ls_device_params params = LS_DEVICE_PARAMS_INIT;
    ls_compile_params compile = LS_COMPILE_PARAMS_INIT;
    ls_buffer_params buffer = LS_BUFFER_PARAMS_INIT;
    ls_module *module = NULL;
    params.name = argc > 1 ? argv[1] : "vulkan";
    compile.text = text;
    compile.length = sizeof text - 1;
    buffer.size_bytes = 1024;
    CHECK(ls_device_open(&params, &b.device, error));
    b.vulkan = (ls__vulkan_device *)b.device->handle;
    CHECK(ls_stream_create(b.device, &b.stream, error));
    CHECK(ls_module_compile(&compile, &module, NULL, error));
    CHECK(ls_program_create(b.device, module, NULL, &b.program, error));
    CHECK(ls_buffer_create(b.device, &buffer, &b.x, error));
    CHECK(ls_buffer_create(b.device, &buffer, &b.y, error));
    for (int i = 0; i < 2; i++) {
        record(&b, i ? LAUNCHES : 1, &b.batches[i]);
        CHECK(ls_prepare(b.batches[i], &b.prepared[i], error));
    }
    make_bare(&b);
    printf("%s\n", b.vulkan->physical->description);
    print_times(&b, runs < MOST_RUNS ? runs : MOST_RUNS);
    print_growth(&b);
    return 0;
}
