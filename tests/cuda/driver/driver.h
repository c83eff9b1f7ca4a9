/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated driver: contexts, memory, streams and graphs around the PTX interpreter. One lock
 * guards all of its state, and one condition tells of each change. Every stream has a thread that
 * does its work in order, so that what is not synchronised is not there yet; kernels and copies run
 * outside of the lock.
 *
 * Device addresses are numbers of our own, which no processor maps; allocations stand apart, and an
 * address is never given out twice. Memory of the host that the device sees keeps its address.
 */
#ifndef EMULATED_CUDA_DRIVER_H
#define EMULATED_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include "abi.h"
#include "ptx.h"

#define API __attribute__((visibility("default"))) CUresult

enum { MAX_DEVICES = 8 };

/* --- what is counted, and what fails on request (faults.c) --------------------------------------
 */
#define COUNTERS(X)                                                                                \
    X(alloc)                                                                                       \
    X(free)                                                                                        \
    X(host_alloc)                                                                                  \
    X(launch)                                                                                      \
    X(cooperative) X(copy) X(set) X(sync) X(event) X(graph) X(graph_update) X(jit) X(submit)

enum {
#define X(name) COUNT_##name,
    COUNTERS(X)
#undef X
        COUNT_COUNT
};

/* Counts; what the settings want of this one, or CUDA_SUCCESS. */
CUresult fault_count(int what);
/* Whether a fault comes up when work runs, not when it is submitted. */
bool fault_is_late(CUresult fault);
void fault_configure(const char *settings);
uint64_t fault_counter(const char *name);

typedef struct settings {
    int devices, arch, driver_version;
    uint64_t memory;
    uint32_t host_threads;
    bool reverse, quiet, report, dump;
    /* Of a block; the threads that any kernel's code allows; of a grid, in each dimension. */
    unsigned block_threads, block_shared, block_registers, kernel_threads;
    unsigned grid[3];
    uint64_t late_event_ns;
} settings;
extern settings setting;

/* --- objects ------------------------------------------------------------------------------------
 */
typedef struct pool {
    struct context *context;
    uint64_t threshold, used;
    size_t most;
} pool;

typedef struct allocation {
    uint64_t start, size;
    unsigned char *bytes;
    bool owned; /* else registered memory of the host */
    bool host;
    bool leaving; /* a stream is to free it */
    pool *pool;
    unsigned references;
} allocation;

typedef struct ticket { /* a recording of an event */
    bool done;
    uint64_t time_ns;
    unsigned references;
} ticket;

typedef struct event {
    struct context *context;
    unsigned flags;
    ticket *last;
} event;

typedef struct module {
    struct context *context;
    struct module *next; /* of the context */
    ptx_module *ptx;
    allocation *global, *constants;
    struct kernel *kernels;
    size_t kernel_count;
    unsigned references; /* its own, and those of work and of graphs */
} module;

typedef struct kernel {
    module *module;
    const function *function;
    ptx_program *program;
    int dynamic_shared; /* most that is allowed */
    unsigned registers;
} kernel;

typedef enum work_kind {
    WORK_KERNEL,
    WORK_COPY,
    WORK_SET,
    WORK_RECORD,
    WORK_WAIT,
    WORK_FREE,
    WORK_HOST,
    WORK_EMPTY,
    WORK_GRAPH
} work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    CUresult fault;        /* that it meets when it runs */
    uint64_t after_legacy; /* waits for so much work of the legacy stream */
    struct wait_for {      /* or, in the legacy stream, of the others */
        struct stream *stream;
        uint64_t count;
    } * after;
    size_t after_count;
    kernel *kernel;
    unsigned grid[3], block[3], shared;
    bool cooperative;
    unsigned char *parameters;
    CUDA_MEMCPY3D copy;
    unsigned char *staged; /* bytes of pageable memory, taken when the copy was submitted */
    CUDA_MEMSET_NODE_PARAMS set;
    ticket *ticket;
    allocation *memory;
    CUhostFn host;
    void *host_data;
    struct work *nodes; /* WORK_GRAPH: in the order in which they run */
    size_t node_count;
} work;

typedef struct stream {
    struct context *context;
    struct stream *next;
    unsigned flags;
    work *first, *last;
    uint64_t submitted, completed;
    unsigned references; /* of work of the legacy stream that waits for it */
    pthread_t thread;
    bool started, ending;
} stream;

typedef struct context {
    int device;
    unsigned retained;
    bool primary;
    CUresult broken;          /* atomic; from then on all calls give this */
    int stop;                 /* atomic: kernels give up */
    allocation **allocations; /* ascending */
    size_t allocation_count, allocation_capacity;
    uint64_t device_bytes;
    stream *streams;
    module *modules;
    stream legacy;
    pool pool;
    unsigned live_streams, live_events, live_modules, live_graphs, live_execs, live_pools;
} context;

extern pthread_mutex_t driver_lock;
extern pthread_cond_t driver_changed;

/* --- context.c ----------------------------------------------------------------------------------
 */
/* The current context, if calls may go on. */
CUresult context_enter(context **c);
#define ENTER(c)                                                                                   \
    context *c;                                                                                    \
    do {                                                                                           \
        CUresult entered = context_enter(&c);                                                      \
        if (entered != CUDA_SUCCESS)                                                               \
            return entered;                                                                        \
    } while (0)
void context_break(context *c, CUresult how, const char *message);
CUresult context_state(const context *c);
void device_lose(context *c);
void *driver_need(void *memory);

/* --- memory -------------------------------------------------------------------------------------
 */
/* With the lock held: the allocation that has all of these bytes, with one more reference. */
allocation *memory_find(context *c, uint64_t address, uint64_t size);
void memory_release(allocation *a);
CUresult memory_create(context *c, uint64_t size, pool *from, allocation **result);
void memory_forget(context *c, allocation *a); /* out of the table */
void memory_destroy_all(context *c);
CUresult memory_run_copy(context *c, work *w);
CUresult memory_run_set(context *c, const work *w);

/* --- streams ------------------------------------------------------------------------------------
 */
stream *stream_of(context *c, CUstream handle);
/* Takes the work over, and its contents. */
CUresult stream_submit(stream *s, work *w);
CUresult stream_wait(stream *s);
void stream_wait_all(context *c);
void stream_finish(stream *s);
work *work_create(work_kind kind);
void work_clear(work *w); /* what it refers to */
work work_copy(const work *w);

/* --- modules, launches, graphs ------------------------------------------------------------------
 */
void module_release(module *m);
void module_unload(module *m); /* both with the lock held */
CUresult launch_prepare(context *c, work *w, CUfunction f, const unsigned *grid,
                        const unsigned *block, unsigned shared, void **parameters, void **extra);
bool launch_fits(const work *w); /* its blocks run at once */
CUresult launch_run(context *c, const work *w);

#endif
