/* SPDX-License-Identifier: Apache-2.0 */
/* An open CUDA device: what the files of this folder share. */
#ifndef LS_DEVICE_CUDA_DEVICE_H
#define LS_DEVICE_CUDA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/kept.h"
#include "core/backend.h"
#include "device/cuda/driver.h"
#include "emit/ptx/abi.h"
#include "emit/ptx/target.h"

typedef struct ls__cuda_device ls__cuda_device;
typedef struct ls__cuda_executor ls__cuda_executor;

/* --- memory (memory.c) ------------------------------------------------------------------------ */
/* The ls__backend_memory. */
typedef struct ls__cuda_memory {
    ls__cu_address address;
    uint64_t size;
    uint64_t capacity;                /* without a pool: what the driver gave */
    struct ls__cuda_memory *next;     /* once it is spare */
    struct ls__cuda_region *imported; /* memory of the host that it lies in; else NULL */
    /* The executor's, in numbers that only ascend: */
    uint64_t used;    /* the drain before which something uses it */
    uint64_t fetched; /* the last download of it on a stream of its own */
} ls__cuda_memory;

ls_status ls__cuda_memory_init(ls__cuda_device *device, ls_error *error);
void ls__cuda_memory_finish(ls__cuda_device *device);

/* Of any thread, between begin and end. `take` gives memory that is zero. */
ls_status ls__cuda_take(ls__cuda_device *device, uint64_t size, ls__cuda_memory **memory,
                        ls_error *error);
ls_status ls__cuda_import(ls__cuda_device *device, void *bytes, uint64_t size,
                          ls__cuda_memory **memory, ls_error *error);
void ls__cuda_give(ls__cuda_device *device, ls__cuda_memory *memory); /* accepts NULL */
void ls__cuda_unregister(const ls__cuda_functions *cu,
                         struct ls__cuda_region *region); /* import.c */
/* Copies while no job uses the memory. Block. */
ls__cu_result ls__cuda_fetch(ls__cuda_device *device, ls__cu_address from, uint64_t size,
                             void *bytes);
ls_status ls__cuda_read(ls__cuda_device *device, ls__cu_address from, uint64_t size, void *bytes,
                        ls_error *error);
ls_status ls__cuda_write(ls__cuda_device *device, ls__cu_address to, uint64_t size,
                         const void *bytes, ls_error *error);

static inline ls__cuda_memory *ls__cuda_memory_of(const ls__span *span)
{
    return (ls__cuda_memory *)span->memory;
}
static inline ls__cu_address ls__cuda_address(const ls__span *span)
{
    return ls__cuda_memory_of(span)->address + span->offset;
}

/* --- what devices of one GPU share (shared.c) ------------------------------------------------- */
/* For the time that the device is open; all but these of any thread. */
ls_status ls__cuda_shared_open(ls__cuda_device *device, ls_error *error);
void ls__cuda_shared_close(ls__cuda_device *device);
/* Takes over a program whose module is to be unloaded some time; and does that where nobody would
 * wait, between two jobs. */
struct ls__cuda_program;
void ls__cuda_retire(ls__cuda_device *device, struct ls__cuda_program *program);
void ls__cuda_unload_retired(ls__cuda_device *device);
/* Device memory where there is no pool, with what it holds. */
ls__cu_result ls__cuda_spare_take(ls__cuda_device *device, uint64_t bytes,
                                  ls__cuda_memory **memory);
void ls__cuda_spare_give(ls__cuda_device *device, ls__cuda_memory *memory);
/* Staging memory. `bytes` are the same for both; `give` accepts NULL. */
ls__cu_result ls__cuda_pinned_take(const ls__cuda_device *device, uint64_t bytes, void **memory);
void ls__cuda_pinned_give(const ls__cuda_device *device, void *memory, uint64_t bytes);

/* --- programs (program.c) --------------------------------------------------------------------- */
typedef struct ls__cuda_kernel {
    ls__cu_function function;
    uint32_t workgroup[3];
    uint32_t lanes; /* of a workgroup */
    uint32_t flags; /* LS__PTX_* */
    uint32_t scalar_bytes, parameter_bytes;
    uint32_t groups_at_once; /* workgroups that the device runs at the same time */
} ls__cuda_kernel;

typedef struct ls__cuda_program {
    ls__cu_module module;
    ls__cuda_kernel *kernels;
    uint32_t kernel_count;
    struct ls__cuda_program *next; /* once retired */
} ls__cuda_program;

ls_status ls__cuda_program_build(ls__cuda_device *device, const ls__backend_code *code,
                                 ls__cuda_program **program, ls_error *error);
void ls__cuda_program_free(ls__cuda_device *device, ls__cuda_program *program);
void ls__cuda_program_drop(ls__cuda_program *program); /* all but the module */

/* Machine code that the driver has made of PTX, kept in the device's cache folder (cache.c). Both
 * do nothing without one. */
void ls__cuda_cache_open(ls__cuda_device *device, const ls_device_params *params);
/* Heap memory (ls__mem_free), or NULL. */
void *ls__cuda_cache_get(ls__cuda_device *device, const char *ptx, size_t size, size_t *image_size);
void ls__cuda_cache_put(ls__cuda_device *device, const char *ptx, size_t size, const void *image,
                        size_t image_size);

/* --- the device (cuda.c) ---------------------------------------------------------------------- */
struct ls__cuda_device {
    const ls__cuda_driver *driver;
    const ls__cuda_functions *cu; /* of the driver */
    const ls__cuda_physical *physical;
    ls__cu_context context;
    ls_caps caps;
    const char *target;
    const char *whole_target; /* with grid barriers kept; NULL: no launch can wait at them */
    uint32_t lowering;
    uint32_t max_grid[3];
    bool shares;      /* counts as a user of what is shared */
    ls__cu_pool pool; /* shared; NULL: the driver's plain allocator */
    /* What the host asks for itself: one caller at a time, who waits for it. */
    ls__cu_stream host_stream;
    pthread_mutex_t host_lock;
    bool lock_ready;
    ls__kept cache; /* dir NULL: nothing is kept */
    ls__cuda_executor *executor;
};

/* Between these the device's context is current on the calling thread. */
void ls__cuda_begin_calls(ls__cuda_device *device, ls__cuda_guard *guard);
void ls__cuda_end_calls(ls__cuda_device *device, const ls__cuda_guard *guard);

/* Fills in what follows from the physical device: caps, target, limits (caps.c). NULL: the
 * architecture of its own. */
ls_status ls__cuda_describe(ls__cuda_device *device, const char *target, ls_error *error);
uint64_t ls__cuda_memory_bytes(const ls__cuda_device *device);

enum { LS__CUDA_GRACE_S = 10 }; /* for a job to stop after it was cancelled */

/* --- profilers (nvtx.c) ----------------------------------------------------------------------- */
void ls__cuda_range_begin(const char *name);
void ls__cuda_range_end(void);

/* --- for tests -------------------------------------------------------------------------------- */
/* Makes devices opened from now on worse than they are; all zero otherwise. */
typedef struct ls__cuda_hooks {
    bool plain_memory;      /* as if there were no pools */
    bool always_graphs;     /* prepared batches never run as plain launches, where they can */
    bool never_graphs;      /* and the other way round */
    uint32_t max_grid;      /* workgroups in a dimension of a grid; 0 = what the device has */
    uint64_t staging_bytes; /* of a segment; 0 = as usual */
    uint64_t overlap_bytes; /* transfers from here on get streams of their own; 0 = as usual */
    uint64_t stuck_ns;      /* nothing stops when asked to; given up so long after */
    _Atomic uint64_t graph_launches, graph_updates, graphs_made, overlaps, cooperative_launches;
} ls__cuda_hooks;
extern ls__cuda_hooks ls__cuda_test_hooks;

#endif
