/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border between core and the backends: one const table of functions for each backend.
 *
 * What core hands over is validated and resolved: handles belong to the device, ranges are in
 * bounds, aligned and cut down to whole elements, parameters are patched in, capabilities suffice,
 * streams and fences are already in order. A backend checks nothing again; it runs jobs and says
 * how they ended.
 *
 * How a program gets here: core lowers a copy of the module by the device's needs (`lowering`),
 * passes it to the emitter that the registry pairs with the backend (IR -> code bytes, src/emit/),
 * and hands the bytes to `program_build`. The reference has no emitter and takes the module itself;
 * no other backend looks into the IR.
 *
 * Rules: device/ includes base, this header, public headers, device/common and device/host;
 * device/ref also ir and interp, device/fault also ir. All entries may be called from any thread at
 * once unless they say otherwise. An entry marked "may be NULL" says what NULL means.
 */
#ifndef LS_CORE_BACKEND_H
#define LS_CORE_BACKEND_H

#include <stdatomic.h>

#include "lockstep/device.h"
#include "lockstep/launch.h"

/* Made and owned by the backend. */
typedef struct ls__backend_device ls__backend_device;
typedef struct ls__backend_memory ls__backend_memory;     /* one allocation or import */
typedef struct ls__backend_program ls__backend_program;   /* all kernels of a module */
typedef struct ls__backend_prepared ls__backend_prepared; /* a command list recorded for replay */

struct ls__ir_module;
struct ls__built;

/* --- programs --------------------------------------------------------------------------------- */
typedef struct ls__backend_kernel {
    const char *name;  /* as in the source, also of a part that it was split into */
    uint32_t function; /* ls_function.id in the module */
    uint32_t workgroup[3];
    uint32_t buffer_count, scalar_bytes;
} ls__backend_kernel;

/* Machine code that the driver makes: found in a cache or made, as in ls_counters. */
typedef struct ls__driver_cache {
    uint64_t hits, misses;
} ls__driver_cache;

typedef struct ls__backend_code {
    /* Lowered and verified; outlives the program. For backends without emitter; NULL where the code
     * was in the cache. */
    const struct ls__ir_module *module;
    struct ls__built *built; /* for ls__backend_describe; outlives the program */
    const void *bytes;       /* the emitter's output, NULL without one; only for the call */
    size_t size;
    const ls__backend_kernel *kernels; /* outlive the program; commands name them by index */
    uint32_t kernel_count;
    uint32_t
        site_count; /* accesses whose being out of range is reported; they have numbers below */
    bool unchecked;
    ls__driver_cache *driver_cache; /* the backend adds to it, also when the build fails */
    bool *hurried; /* set where optimised code was made quickly, since it is too long; else as it is
                    */
} ls__backend_code;

/* IR to code bytes (ls__mem_free) for a device that calls itself `target`. Lives in src/emit/,
 * knows no driver. */
typedef ls_status ls__backend_emit(const struct ls__ir_module *module, const char *target,
                                   bool unchecked, void **bytes, size_t *size, ls_error *error);

/* --- jobs ------------------------------------------------------------------------------------- */
typedef struct ls__span { /* bytes of one allocation */
    ls__backend_memory *memory;
    uint64_t offset, size;
} ls__span;

typedef enum ls__command_kind {
    LS__COMMAND_DISPATCH,
    LS__COMMAND_COPY,
    LS__COMMAND_UPLOAD,
    LS__COMMAND_FILL,
    LS__COMMAND_DOWNLOAD
} ls__command_kind;

typedef struct ls__command_dispatch {
    ls__backend_program *program;
    uint32_t kernel;         /* index in the program's kernels */
    uint32_t global_size[3]; /* lanes; x == 0: a no-op; else all at least 1 */
    const ls__span *buffers; /* by buffer index of the kernel */
    uint32_t buffer_count;
    const uint8_t *scalars; /* inside job->scalars; the kernel's scalar_bytes bytes */
    bool indirect;          /* sizes (3 u32) are read when the command runs, and normalised by
                               ls__global_size */
    ls__span sizes;
    uint32_t maximum[3]; /* more is LS_TRAP_INDIRECT */
} ls__command_dispatch;

typedef struct ls__command {
    ls__command_kind kind;
    uint32_t index; /* in the batch, for reports */
    ls__span target, source;
    union {
        ls__command_dispatch dispatch;
        const void *upload; /* target.size host bytes */
        void *download;     /* source.size host bytes */
        struct {
            uint8_t pattern[8];
            uint32_t bytes; /* 1, 2, 4 or 8 */
        } fill;
    };
} ls__command;

/* Commands [first, end) of the job run `rounds` times. In order of `first`, disjoint, not
 * nested. */
typedef struct ls__repeat {
    uint32_t first, end, rounds;
} ls__repeat;

typedef struct ls__job_row { /* one executed command */
    uint32_t command;        /* ls__command.index */
    uint32_t iteration;
    uint64_t lanes;                      /* dispatches: asked for */
    uint64_t host_begin_ns, host_end_ns; /* when the host knows; else 0 */
    uint64_t device_ns;                  /* meaningful when `measured` */
    bool measured;
} ls__job_row;

/* How a job ended. `status`: LS_OK; LS_E_TRAP, LS_E_CANCELLED or any other cause: failed, and the
 * device is idle; LS_E_INDETERMINATE: the device is lost. `error` says it in words unless status is
 * LS_OK. */
typedef struct ls__job_result {
    ls_status status;
    ls_error error;
    uint32_t failed_command; /* ls__command.index; UINT32_MAX when no command is to blame */
    uint32_t trap_code, trap_lane;
    uint64_t trap_workgroup;
    uint64_t device_ns; /* of the whole job, when `measured` */
    bool measured;
    uint64_t rows; /* rows written */
    /* what ran, also when it failed */
    uint64_t commands, launches, lanes_asked, lanes_run, bytes_uploaded, bytes_downloaded,
        bytes_copied;
    uint64_t sanitizer_reports;
    uint64_t graph_launches, device_waits; /* as in ls_counters */
} ls__job_result;

/* Commands that run one after another. Owned by core; the backend may use it from `accept` to
 * `ls__backend_done` or `discard`. An accepted job may be started several times, each after the
 * last one is done. */
typedef struct ls__job {
    const ls__command *commands;
    uint32_t command_count;
    const ls__repeat *repeats;
    uint32_t repeat_count;
    const uint8_t *scalars; /* one block with the scalars of all dispatches, so that it can be
                               uploaded at once */
    uint64_t scalar_bytes;
    uint32_t iteration; /* what iteration() gives outside of the job's own repeats */
    bool timing;        /* measure device time where possible */
    ls__job_row *rows;  /* NULL: not wanted; else room for every command that will run */
    ls__backend_prepared *prepared; /* replay this; NULL = eager */
    atomic_int cancel;              /* nonzero: stop. Devices that can poll read it */
    ls__job_result result; /* zeroed by core before each start, filled before ls__backend_done */
    void *backend_data;    /* the backend's, from accept to discard */
    struct ls__submission *owner; /* core's */
    bool done;                    /* core's, under its lock */
} ls__job;

/* Called by the backend, once for each start, from any thread, when the job has ended; the backend
 * must not touch the job after it. */
void ls__backend_done(ls__job *job);

/* An access out of range, as code that watches its sites finds it. */
typedef struct ls__outside {
    uint64_t workgroup; /* linear, x fastest */
    uint64_t range;     /* bytes of the bound range, where the object is a buffer */
    int64_t position;   /* the offset, or the subscript when the offset is LS_NOWHERE */
    uint32_t site, lane;
    uint32_t buffer; /* of the kernel, where the object is a buffer */
    bool nowhere;
} ls__outside;
/* Fills the report with what core knows of it: all but the ids of the workgroup. */
void ls__backend_describe(struct ls__built *built, const ls__backend_kernel *kernel,
                          const ls__outside *outside, ls_sanitizer_report *report);

/* Sizes as the public calls mean them: x == 0 is a no-op (all become 0), 0 in y or z is 1. */
void ls__global_size(uint32_t size[3]);
/* LS_OK, or LS_E_TRAP when the sizes an indirect dispatch read exceed its maximum. */
ls_status ls__check_indirect(const uint32_t size[3], const uint32_t maximum[3], ls_error *error);

/* --- the table -------------------------------------------------------------------------------- */
typedef struct ls__backend_open_params {
    const char *name; /* one that `list` gave */
    const ls_device_params *params;
} ls__backend_open_params;

typedef struct ls__backend {
    /* What the names of its devices start with: "cpu", or "vulkan" of "vulkan:0", "vulkan:1", ...
     * Of a device whose name is given, only backends of its family are asked for a list. */
    const char *family;
    /* Devices of this backend, most preferred first, unusable ones with their reason; returns the
     * full number. Names are unique over all backends. */
    uint32_t (*list)(ls_device_info *infos, uint32_t capacity);
    ls_status (*open)(const ls__backend_open_params *params, ls__backend_device **device,
                      ls_error *error);
    /* No job is running and all memory and programs are released. Never called for a lost
     * device. */
    void (*close)(ls__backend_device *device);

    const ls_caps *(*caps)(const ls__backend_device *device); /* constant while open */
    /* Whether operations are right by definition, so that the probe (probe.c) is left out. May be
     * NULL: they are not. */
    bool (*trusted)(const ls__backend_device *device);
    /* LS__LOWER_* bits (ir/lowering.h) the device needs. May be NULL: none. */
    uint32_t (*lowering)(const ls__backend_device *device);
    /* What the emitter must know of the device, as text; part of cache keys. May be NULL: "". */
    const char *(*target)(const ls__backend_device *device);
    /* The same for code that is compiled fast. May be NULL: the device has one kind of code. */
    const char *(*quick_target)(const ls__backend_device *device);
    /* The same for code that keeps its grid barriers, of a device that can wait at them as long as
     * all workgroups of a launch run at once (caps.grid_barrier_native is true then): core builds
     * kernels with grid barriers in both forms, and launches them whole where they fit. May be
     * NULL, or give NULL: kernels are split at grid barriers, unless caps.grid_barrier_native says
     * that launches of any size wait at them. */
    const char *(*whole_target)(const ls__backend_device *device);
    /* Workgroups of such a kernel that run at once. NULL where whole_target is. */
    uint64_t (*whole_groups)(const ls__backend_device *device, const ls__backend_program *program,
                             uint32_t kernel);
    /* Whether ls_device_params.target is understood; others refuse it. */
    bool has_targets;
    /* Memory the device has. May be NULL: it uses the host's, half of which is the default
     * budget. */
    uint64_t (*memory_bytes)(const ls__backend_device *device);

    /* Memory. Zeroed; core has charged the budget. Size > 0. */
    ls_status (*allocate)(ls__backend_device *device, uint64_t size, ls__backend_memory **memory,
                          ls_error *error);
    /* Wraps host memory. May be NULL: caps.import_host is false. */
    ls_status (*import)(ls__backend_device *device, void *bytes, uint64_t size,
                        ls__backend_memory **memory, ls_error *error);
    void (*release)(ls__backend_device *device, ls__backend_memory *memory);
    /* Device memory itself as a pointer. Only where caps.map_direct is true; else core stages with
     * read and write. */
    void *(*map)(ls__backend_device *device, const ls__span *span, uint32_t access);
    /* After a map. May be NULL: nothing to do. */
    void (*unmap)(ls__backend_device *device, const ls__span *span, uint32_t access);
    /* Copies while no job uses the memory. Block. */
    ls_status (*read)(ls__backend_device *device, const ls__span *span, void *bytes,
                      ls_error *error);
    ls_status (*write)(ls__backend_device *device, const ls__span *span, const void *bytes,
                       ls_error *error);

    ls_status (*program_build)(ls__backend_device *device, const ls__backend_code *code,
                               ls__backend_program **program, ls_error *error);
    void (*program_free)(ls__backend_device *device, ls__backend_program *program);

    /* Records the job's commands for replay; scalars, sizes and slots may differ at each start. May
     * be NULL: caps.prepared_native is false and core keeps a resolved list. */
    ls_status (*prepare)(ls__backend_device *device, const ls__job *job,
                         ls__backend_prepared **prepared, ls_error *error);
    void (*unprepare)(ls__backend_device *device, ls__backend_prepared *prepared);

    /* Does everything of a job that can fail without running it (recording, staging memory);
     * failure means that nothing ran. May be NULL: nothing to do. */
    ls_status (*accept)(ls__backend_device *device, ls__job *job, ls_error *error);
    /* Undoes accept; the job is not running. May be NULL: nothing to do. */
    void (*discard)(ls__backend_device *device, ls__job *job);
    /* Runs an accepted job; returns at once. Several jobs may be started; they run in order of
     * their start. */
    void (*start)(ls__backend_device *device, ls__job *job);
    /* Runs an accepted job on the calling thread; returns once it has ended, without
     * ls__backend_done. False: not now, as other jobs are there; nothing has happened, start it
     * instead. Such a job must end soon when job->cancel is set, as nobody can give it up. May be
     * NULL: every job is started. */
    bool (*run)(ls__backend_device *device, ls__job *job);
    /* Asks a started job to stop; job->cancel is set already. One that has not begun ends at once.
     * May be NULL: the device polls job->cancel, or cannot be stopped (caps.cancel). */
    void (*cancel)(ls__backend_device *device, ls__job *job);

    uint64_t cancel_grace_ns; /* a job that a time limit has cancelled and that is not done after
                                 this is hung */
    bool optimize;            /* core runs the optimising passes as well */
    bool watches;             /* reports sites out of range when check_bounds asks for it */
    bool only_by_name;        /* never chosen when the caller names no device */
} ls__backend;

/* The registry (registry.c): backends in order of preference, each with its emitter (NULL: takes
 * the module). */
typedef struct ls__registry_entry {
    const ls__backend *backend;
    ls__backend_emit *emit;
    uint32_t code_version; /* raised when the emitter makes other code of the same module */
    const char *compiler;  /* that it was built for, with version; NULL: none */
    /* Code that is made ahead, without a device. The target as text: what a module must have been
     * lowered by before it is emitted (LS__LOWER_*); whether code for `code` runs on a device of
     * the target `device` (false: or one of them is malformed); those that code is made for when
     * nobody names any, best first, separated by spaces. All NULL without an emitter. */
    uint32_t (*lowering)(const char *target);
    bool (*suits)(const char *code, const char *device);
    const char *ahead;
} ls__registry_entry;
extern const ls__registry_entry ls__registry[];
extern const uint32_t ls__registry_count;

#endif
