/* SPDX-License-Identifier: Apache-2.0 */
/* An open Vulkan device: what the files of this folder share. */
#ifndef LS_DEVICE_VULKAN_DEVICE_H
#define LS_DEVICE_VULKAN_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/kept.h"
#include "core/backend.h"
#include "device/vulkan/driver.h"
#include "emit/spirv/abi.h"
#include "emit/spirv/target.h"

typedef struct ls__vulkan_device ls__vulkan_device;
typedef struct ls__vulkan_executor ls__vulkan_executor;

/* --- memory (memory.c) ------------------------------------------------------------------------ */
/* One piece of Vulkan's memory with one buffer over all of it, from which pieces are handed out. */
typedef struct ls__vulkan_block ls__vulkan_block;

/* The ls__backend_memory: a piece of a block, used or free. */
typedef struct ls__vulkan_memory {
    ls__vulkan_block *block;
    uint64_t offset, size; /* in the block */
    bool used;
    atomic_bool dirty; /* to be cleared on the device before it is first used */
    struct ls__vulkan_memory *next, *previous; /* in the block, by address */
} ls__vulkan_memory;

struct ls__vulkan_block {
    VkDeviceMemory memory;
    VkBuffer buffer;
    VkDeviceAddress address;
    uint64_t size;
    uint8_t *host; /* NULL: the host does not see it */
    bool coherent;
    ls__vulkan_memory *first; /* all of its pieces */
    uint32_t used_count;
    struct ls__vulkan_heap *heap; /* NULL: imported */
    ls__vulkan_block *next;
};

/* The blocks of one type of memory. */
typedef struct ls__vulkan_heap {
    uint32_t type;
    bool visible, coherent;
    pthread_mutex_t lock;
    ls__vulkan_block *first;
    uint64_t next_bytes; /* of the next block */
} ls__vulkan_heap;

/* Chooses the types of memory and makes the heaps; `finish` also after a failure. */
ls_status ls__vulkan_heaps_init(ls__vulkan_device *device, ls_error *error);
void ls__vulkan_heaps_finish(ls__vulkan_device *device);

/* Of any thread. `take` gives buffers that are zero, or dirty where the host does not see them, and
 * staging memory as it is. */
ls_status ls__vulkan_take(ls__vulkan_device *device, ls__vulkan_heap *heap, uint64_t size,
                          ls__vulkan_memory **memory, ls_error *error);
ls_status ls__vulkan_import(ls__vulkan_device *device, void *bytes, uint64_t size,
                            ls__vulkan_memory **memory, ls_error *error);
void ls__vulkan_give(ls__vulkan_device *device, ls__vulkan_memory *memory); /* accepts NULL */

/* Where it is: for the host (NULL: nowhere), for kernels, in block->buffer. */
uint8_t *ls__vulkan_host(const ls__vulkan_memory *memory, uint64_t offset);
uint64_t ls__vulkan_address(const ls__vulkan_memory *memory, uint64_t offset);
uint64_t ls__vulkan_place(const ls__vulkan_memory *memory, uint64_t offset);
static inline ls__vulkan_memory *ls__vulkan_memory_of(const ls__span *span)
{
    return (ls__vulkan_memory *)span->memory;
}

/* Makes what the host has written seen by the device, and the other way round; only memory that is
 * not coherent needs it. */
void ls__vulkan_flush(ls__vulkan_device *device, const ls__vulkan_memory *memory, uint64_t offset,
                      uint64_t size);
void ls__vulkan_invalidate(ls__vulkan_device *device, const ls__vulkan_memory *memory,
                           uint64_t offset, uint64_t size);

/* --- copies for the host (transfer.c) --------------------------------------------------------- */
typedef struct ls__vulkan_transfer {
    pthread_mutex_t lock;
    bool ready;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore done; /* timeline */
    uint64_t value;
    ls__vulkan_memory *staging; /* NULL where the host sees all memory */
} ls__vulkan_transfer;

ls_status ls__vulkan_transfer_init(ls__vulkan_device *device, ls_error *error);
void ls__vulkan_transfer_finish(ls__vulkan_device *device);
/* Copies while no job uses the memory. Block. */
ls_status ls__vulkan_read(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t offset,
                          uint64_t size, void *bytes, ls_error *error);
ls_status ls__vulkan_write(ls__vulkan_device *device, ls__vulkan_memory *memory, uint64_t offset,
                           uint64_t size, const void *bytes, ls_error *error);

/* --- programs (program.c) --------------------------------------------------------------------- */
typedef struct ls__vulkan_kernel {
    VkPipeline pipeline;
    uint32_t workgroup[3];
    uint32_t flags; /* LS__SPIRV_* */
    uint32_t scalar_bytes;
    /* The executor's: */
    uint64_t group_ps;       /* what a workgroup takes, in picoseconds; 0 = not known */
    uint64_t largest_groups; /* that one dispatch of it has run */
} ls__vulkan_kernel;

typedef struct ls__vulkan_program {
    ls__vulkan_kernel *kernels;
    uint32_t kernel_count;
    ls__vulkan_memory *tables; /* NULL: none */
} ls__vulkan_program;

ls_status ls__vulkan_program_build(ls__vulkan_device *device, const ls__backend_code *code,
                                   ls__vulkan_program **program, ls_error *error);
void ls__vulkan_program_free(ls__vulkan_device *device, ls__vulkan_program *program);

/* What drivers make of modules, kept in the device's cache folder (cache.c). */
typedef struct ls__vulkan_cache {
    VkPipelineCache handle;
    ls__kept kept; /* dir NULL: it is not */
    size_t size;   /* as it was read */
} ls__vulkan_cache;
ls_status ls__vulkan_cache_open(ls__vulkan_device *device, const char *path, ls_error *error);
void ls__vulkan_cache_close(ls__vulkan_device *device);

/* --- the device (vulkan.c) -------------------------------------------------------------------- */
struct ls__vulkan_device {
    const ls__vulkan_physical *physical;
    ls__vulkan_functions vk;
    VkDevice handle;
    VkQueue queue, transfer_queue; /* one, where there is only one */
    pthread_mutex_t queue_lock;
    bool locks_ready;
    ls_caps caps;
    char target[LS__SPIRV_TARGET_BYTES];
    uint32_t lowering;
    uint32_t max_groups[3];
    /* Buffers; what the host exchanges with jobs; what it tells kernels, near the device. */
    ls__vulkan_heap memory, staging, arguments;
    VkPipelineLayout layout;
    ls__vulkan_cache cache;
    ls__vulkan_transfer transfer;
    ls__vulkan_executor *executor;
};

/* Fills in what follows from the physical device: caps, target, limits (caps.c). */
void ls__vulkan_describe(ls__vulkan_device *device);
/* After that: makes code for this target, which may leave out what the device has. NULL: for all.
 */
ls_status ls__vulkan_choose_target(ls__vulkan_device *device, const char *text, ls_error *error);
uint64_t ls__vulkan_memory_bytes(const ls__vulkan_device *device);

/* Submits one command buffer that signals `value`; the queues are taken turns with. */
VkResult ls__vulkan_submit(ls__vulkan_device *device, VkQueue queue, VkCommandBuffer commands,
                           VkSemaphore semaphore, uint64_t value);
/* LS_FOREVER = without limit; VK_TIMEOUT when it runs out. */
VkResult ls__vulkan_wait(ls__vulkan_device *device, VkSemaphore semaphore, uint64_t value,
                         uint64_t limit_ns);
enum { LS__VULKAN_GRACE_S = 10 }; /* for a job to stop after it was cancelled */
/* A pool for the queues' command buffers, each of which can be recorded again; one of them. */
VkResult ls__vulkan_pool(ls__vulkan_device *device, VkCommandPool *pool);
VkResult ls__vulkan_command_buffer(ls__vulkan_device *device, VkCommandPool pool,
                                   VkCommandBuffer *commands);
/* A semaphore that counts from 0. */
VkResult ls__vulkan_timeline(ls__vulkan_device *device, VkSemaphore *semaphore);
/* Everything before, of kernels and transfers, is done and seen by everything after it. */
void ls__vulkan_barrier(ls__vulkan_device *device, VkCommandBuffer commands);
/* The same for the host, once the work has ended. */
void ls__vulkan_host_barrier(ls__vulkan_device *device, VkCommandBuffer commands);

#endif
