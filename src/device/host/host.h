/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices in host memory share (reference, fault, CPU): allocations, and an executor that runs
 * jobs on a thread of its own or on the caller's. It is no device itself: it interprets transfers,
 * repeats and indirect sizes, and calls the device for dispatches.
 *
 * The executor polls job->cancel between commands; a dispatch polls it itself.
 */
#ifndef LS_DEVICE_HOST_HOST_H
#define LS_DEVICE_HOST_HOST_H

#include "core/backend.h"

/* --- memory ----------------------------------------------------------------------------------- */
/* The ls__backend_memory of these devices. */
typedef struct ls__host_memory {
    uint8_t *bytes;
    uint64_t size;
    uint8_t *written; /* one byte per byte: has it been written? For sanitizers; NULL = not kept,
                         all count as written */
    bool imported;    /* bytes are the caller's */
} ls__host_memory;

/* Zeroed memory of our own when `bytes` is NULL, else an import. `track`: keep `written` (not for
 * imports). */
ls_status ls__host_memory_create(void *bytes, uint64_t size, bool track,
                                 ls__backend_memory **memory, ls_error *error);
ls__host_memory *ls__host_memory_of(const ls__span *span);

/* Entries of the backend table (core/backend.h) for such memory; `device` is not used. Only import
 * can fail. Writes, and maps for writing, mark bytes as written. */
ls_status ls__host_import(ls__backend_device *device, void *bytes, uint64_t size,
                          ls__backend_memory **memory, ls_error *error);
void ls__host_release(ls__backend_device *device, ls__backend_memory *memory);
void *ls__host_map(ls__backend_device *device, const ls__span *span, uint32_t access);
ls_status ls__host_read(ls__backend_device *device, const ls__span *span, void *bytes,
                        ls_error *error);
ls_status ls__host_write(ls__backend_device *device, const ls__span *span, const void *bytes,
                         ls_error *error);

/* --- executor --------------------------------------------------------------------------------- */
typedef struct ls__host_dispatch {
    const ls__job *job;
    const ls__command_dispatch *command;
    uint32_t global_size[3]; /* at least 1 each; of indirect dispatches too, read and checked */
    uint32_t iteration;
} ls__host_dispatch;

typedef struct ls__host_dispatch_result {
    bool trapped;
    uint32_t trap_code, trap_lane;
    uint64_t trap_workgroup, lanes_run, sanitizer_reports;
} ls__host_dispatch_result;

typedef struct ls__host_device { /* how the executor reaches the device */
    void *context;
    ls_status (*dispatch)(void *context, const ls__host_dispatch *dispatch,
                          ls__host_dispatch_result *result, ls_error *error);
    void *hook_context; /* of the two below */
    /* Called before each command; anything but LS_OK ends the job with it. NULL: nothing to do. */
    ls_status (*before_command)(void *hook_context, const ls__job *job, ls_error *error);
    /* Called after the last command of a job. NULL: nothing to do. */
    void (*after_job)(void *hook_context);
} ls__host_device;

typedef struct ls__host ls__host;
ls_status ls__host_create(const ls__host_device *device, ls__host **host, ls_error *error);
void ls__host_destroy(ls__host **host); /* no job is running; accepts NULL */
/* Jobs run in order, one at a time; calls ls__backend_done. Uses job->backend_data. */
void ls__host_start(ls__host *host, ls__job *job);
/* Runs the job on the calling thread; false when others run or wait (backend.h). */
bool ls__host_run(ls__host *host, ls__job *job);
/* A job that has not begun ends at once, although others before it go on. */
void ls__host_cancel(ls__host *host, ls__job *job);

#endif
