/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/device.h - devices, their memory, and what they report about themselves.
 *
 * A device instance has a process-unique number. Buffers, programs, streams, batches and fences
 * belong to the instance they were made with; a call that is given a handle of another instance
 * answers LS_E_FOREIGN before anything happens.
 */
#ifndef LOCKSTEP_DEVICE_H
#define LOCKSTEP_DEVICE_H

#include "lockstep/base.h"
#include "lockstep/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Thread-safety: all calls on a device may be made from any thread at once, except
 * ls_device_destroy. */
typedef struct ls_device ls_device;

/* A piece of device memory. Thread-safety: may be used from any thread; contents follow the rules
 * of submissions. */
typedef struct ls_buffer ls_buffer;

typedef enum ls_device_kind {
    LS_DEVICE_REFERENCE, /* the interpreter: the definition; chosen only by name */
    LS_DEVICE_CPU,
    LS_DEVICE_GPU,
    LS_DEVICE_TEST /* the fault device; chosen only by name */
} ls_device_kind;

typedef struct ls_device_info {
    char name[64];         /* what ls_device_open takes: "cpu", "vulkan:0" */
    char description[128]; /* for people */
    ls_device_kind kind;
    bool usable;
    char reason[256]; /* why it is not usable; empty otherwise */
} ls_device_info;

/* Lists what this build knows, in order of preference, devices that cannot be used included. Writes
 * at most `capacity` entries and the full number to *count. Blocks: may load drivers on the first
 * call. */
LS_API ls_status ls_device_list(ls_device_info *infos, uint32_t capacity, uint32_t *count,
                                ls_error *error);

/* Order in which the reference runs lanes and workgroups. Results of kernels inside the contract
 * never depend on it. */
typedef enum ls_schedule {
    LS_SCHEDULE_ASCENDING,
    LS_SCHEDULE_REVERSE,
    LS_SCHEDULE_SEED
} ls_schedule;

/* One finding of the sanitizer. Texts live during the callback only. */
typedef struct ls_sanitizer_report {
    size_t struct_size;
    const char *kind;   /* "race between lanes of a workgroup", ... (docs/numerics.md) */
    const char *detail; /* "write after read", ...; may be empty */
    const char *kernel, *file;
    uint32_t line, column;              /* 1-based; 0 = unknown */
    uint32_t workgroup[3], lane;        /* lane: linear local index in the workgroup */
    const char *object;                 /* parameter, shared or local array; empty when not
                                           memory */
    int64_t index, byte_offset;         /* element and byte in that object */
    uint32_t other_workgroup[3], other_lane, other_line; /* races: the earlier access */
    uint64_t object_count;              /* accesses: elements that the object has; else 0 */
} ls_sanitizer_report;

/* What the fault device does wrong. Counts are 1-based over the life of the device; 0 = never. */
typedef struct ls_fault_plan {
    size_t struct_size;
    uint64_t fail_allocation; /* the n-th buffer allocation is out of memory */
    uint64_t fail_command;    /* the n-th executed command fails; the device stays usable */
    uint64_t lose_at_command; /* the device is lost while it executes the n-th command */
    uint64_t hang_at_command; /* the n-th command never ends and cannot be cancelled */
    uint64_t spin_at_command; /* the n-th command never ends but can be cancelled */
    uint64_t reject_submit;   /* the n-th submission is refused by the backend before anything
                                 runs; of a batch that is split, each part counts */
    uint64_t delay_ns;        /* every submission completes this much later */
    ls_op wrong_op;           /* this operation, a pure one, gives wrong results: the last bit is
                                 wrong where bit 4 is set, a bool always. LS_OP_NONE = none */
} ls_fault_plan;
#define LS_FAULT_PLAN_INIT LS_INIT(ls_fault_plan)

typedef struct ls_device_params {
    size_t struct_size;
    const char *name;      /* NULL = the most preferred usable device that may be chosen unasked;
                              "vulkan" = the first usable one of several, "vulkan:radeon" = the
                              first whose description has this part, in either case */
    uint64_t budget_bytes; /* memory the device may use in all; 0 = its default (device memory, or
                              half of the host's) */
    uint32_t threads;      /* CPU: 0 = one a core */
    /* reference only */
    ls_schedule schedule;
    uint64_t schedule_seed;
    bool sanitize;
    /* of `sanitize` and `check_bounds`; called while a submission runs, from the device's thread or
     * one that waits for the submission; must not wait for the device itself */
    void (*on_report)(void *context, const ls_sanitizer_report *report);
    void *report_context;
    /* fault device only */
    const ls_fault_plan *fault;
    /* reference, cpu: reports accesses out of bounds, and no more, at little cost
     * (docs/benchmarks.md).
     *
     * The reference reports an access when it happens, and sees what the program does after
     * lowering, which may probe places out of bounds that the kernel does not access.
     *
     * cpu reports after the dispatch, also when that was cancelled, each place of the program once,
     * in order of (workgroup, lane), with the lowest that was out of bounds there and what its
     * first such access was: so reports do not depend on threads or on how code was made. Equal
     * accesses are done once and reported once; accesses in a lowered form, where programs are
     * forced to be, may not be reported; nor is any of a program built unchecked. `index` is
     * INT64_MIN where the offset does not fit in 64 bits and it is not known why. */
    bool check_bounds;
    /* Devices that compile keep their code, and what the probe has found, here: a folder of this
     * user alone (made when missing; not used when it is another's or others may write to it). NULL
     * = compile each time. */
    const char *cache_path;
    uint64_t cache_bytes; /* what is used least is removed beyond; 0 = 256 MiB */
    /* No bring-up probe: operations are used as the device has them. For finding out what the probe
     * (ls_device_probe) would catch. */
    bool unprobed;
    /* What code is made for, where a device has a choice. cpu: a feature level (sse2, avx2, avx512,
     * neon, or native for the best this machine has), then options, joined by '+': avxvnni,
     * avx512vnni, scalar (one lane at a time), vector. NULL = native. vulkan: vulkan1.2, then words
     * of docs/spirv.md for what the device has; NULL = all it has. cuda: sm_75, sm_80 or sm_90;
     * NULL = the newest the device runs. The bits are the same. What is malformed
     * (LS_E_INVALID_ARGUMENT) or cannot run here (LS_E_UNSUPPORTED) is refused; the error lists
     * what can be given. */
    const char *target;
} ls_device_params;
#define LS_DEVICE_PARAMS_INIT LS_INIT(ls_device_params)

/* Opens a device. LS_E_NOT_FOUND for an unknown name (the message lists those there are),
 * LS_E_UNSUPPORTED with the reason for one that cannot be used, LS_E_STATE, with reasons, when
 * none may be chosen unasked: the reference never is. Blocks: may load a driver. */
LS_API ls_status ls_device_open(const ls_device_params *params, ls_device **device,
                                ls_error *error);

/* Closes. LS_E_BUSY, and nothing happens, while buffers, programs, batches, streams or fences of it
 * exist; a lost device may always be closed: its quarantined memory is given up, never reused.
 * Accepts NULL. */
LS_API ls_status ls_device_destroy(ls_device **device, ls_error *error);

/* process-unique, from 1, never reused */
LS_API uint64_t ls_device_number(const ls_device *device);
LS_API const char *ls_device_name(const ls_device *device); /* as in ls_device_info */
LS_API const char *ls_device_description(const ls_device *device); /* the same */
LS_API bool ls_device_is_lost(const ls_device *device);     /* a submission ended indeterminate */

/* Limits and features as data; 0 or false = unsupported. Portable minimum in brackets: every device
 * has at least that. */
typedef struct ls_caps {
    size_t struct_size;
    uint32_t max_workgroup_lanes;        /* [256] */
    uint32_t max_shared_bytes;           /* [16384] per workgroup */
    uint32_t max_buffers;                /* [16] pointer parameters of a kernel */
    uint32_t max_scalar_bytes;           /* [1024] scalar parameters of a kernel */
    uint32_t max_local_bytes;            /* [4096] local arrays of a lane */
    uint64_t max_range_bytes;            /* [4 GiB] bound to one parameter */
    uint32_t subgroup_native_lanes;      /* width in hardware; 0 = emulated */
    bool f64;                            /* double arithmetic */
    bool atomics64;                      /* atomics on u64/i64 */
    bool grid_barrier_native;            /* else kernels are split there */
    bool map_direct;                     /* map gives device memory itself, no copy */
    bool import_host;                    /* ls_buffer_import works */
    bool prepared_native;                /* prepared batches save work on the device */
    bool timing;                         /* device time can be measured */
    const char *timing_unavailable;      /* why not; NULL when it can */
    bool cancel;                         /* a running kernel can be stopped */
} ls_caps;
/* Owned by the device, constant while it lives. */
LS_API const ls_caps *ls_device_caps(const ls_device *device);
/* The folder it was opened with, for ls_compile_params; NULL when it keeps nothing. */
LS_API const char *ls_device_cache_path(const ls_device *device);

/* Whether the kernel named `kernel` of `module` fits this device: LS_OK, or LS_E_UNSUPPORTED naming
 * the limit, what the kernel needs and what the device has. */
LS_API ls_status ls_device_supports(const ls_device *device, const ls_module *module,
                                    const char *kernel, ls_error *error);

/* What the bring-up probe found of an operation. Before a device runs an operation for the first
 * time, it computes it over edge cases and random operands, and what it gives is compared with the
 * definition. */
typedef enum ls_probe_state {
    LS_PROBE_NATIVE,  /* right */
    LS_PROBE_LOWERED, /* wrong, so replaced in all programs */
    LS_PROBE_REFUSED  /* wrong, and nothing helps: programs that need it are refused */
} ls_probe_state;
typedef struct ls_probe_info {
    char operation[48]; /* name and types: "fdiv f32" */
    ls_probe_state state;
} ls_probe_info;

/* Probes every operation the device has, those known already excepted. Writes at most `capacity`
 * entries and the full number to *count: 0 for a device that needs no probe. Blocks: compiles and
 * runs, about a second. */
LS_API ls_status ls_device_probe(ls_device *device, ls_probe_info *infos, uint32_t capacity,
                                 uint32_t *count, ls_error *error);

/* --- memory ----------------------------------------------------------------------------------- */
typedef struct ls_memory_info {
    size_t struct_size;
    uint64_t limit_bytes;       /* the budget */
    uint64_t used_bytes;        /* reserved now: buffers, staging, upload copies; falls when the
                                   last user lets go */
    uint64_t peak_bytes;        /* highest `used` so far */
    uint64_t staging_bytes;     /* part of used: host-side copies of uploads and maps */
    uint64_t quarantined_bytes; /* part of used: memory of indeterminate submissions, never
                                   reused */
} ls_memory_info;
LS_API void ls_device_memory(const ls_device *device, ls_memory_info *info);

/* What a buffer may be used for; 0 in the params means all. */
enum {
    LS_USAGE_KERNEL = 1,   /* bound to kernel parameters */
    LS_USAGE_WRITE = 2,    /* target of copy, upload, fill */
    LS_USAGE_READ = 4,     /* source of copy and download */
    LS_USAGE_INDIRECT = 8, /* holds the sizes of an indirect dispatch */
    LS_USAGE_MAP = 16,     /* may be mapped */
    LS_USAGE_ALL = 31
};

typedef struct ls_buffer_params {
    size_t struct_size;
    uint64_t size_bytes; /* > 0 */
    uint32_t usage;      /* LS_USAGE_*; 0 = all */
    ls_mem element;      /* LS_MEM_NONE: untyped, goes with every type; else transfers and kernel
                            parameters must match it exactly (structs match by LS_MEM_NONE only),
                            and the size must be a multiple of its size */
    const char *label;   /* for messages; copied; may be NULL */
} ls_buffer_params;
#define LS_BUFFER_PARAMS_INIT LS_INIT(ls_buffer_params)

/* Memory is zero at first, also when it was used before. LS_E_OUT_OF_MEMORY says what was asked and
 * what is left. */
LS_API ls_status ls_buffer_create(ls_device *device, const ls_buffer_params *params,
                                  ls_buffer **buffer, ls_error *error);

/* Wraps `size` bytes of the caller (a mapped file, say) without copying; they must stay valid and
 * unmoved until the buffer and all submissions using it are gone, and for good when one of these
 * ended indeterminate. A read-only import is refused wherever it would be written. LS_E_UNSUPPORTED
 * where caps.import_host is false. Not charged to the budget. */
LS_API ls_status ls_buffer_import(ls_device *device, void *memory, bool read_only,
                                  const ls_buffer_params *params, ls_buffer **buffer,
                                  ls_error *error);

/* Gives up the caller's handle; the memory is released when the last batch or pending submission
 * that uses it lets go. A mapped buffer is unmapped first. Accepts NULL. */
LS_API void ls_buffer_destroy(ls_buffer **buffer);

LS_API uint64_t ls_buffer_size(const ls_buffer *buffer);
LS_API ls_mem ls_buffer_element(const ls_buffer *buffer);

enum { LS_MAP_READ = 1, LS_MAP_WRITE = 2 };
/* Gives the host a pointer to [offset, offset + size). LS_E_BUSY while a pending submission uses
 * the buffer or it is mapped already; while mapped, submissions that use it are not submitted.
 * Blocks where caps.map_direct is false (a copy). */
LS_API ls_status ls_buffer_map(ls_buffer *buffer, uint64_t offset, uint64_t size, uint32_t access,
                               void **memory, ls_error *error);
/* LS_E_STATE when it is not mapped */
LS_API ls_status ls_buffer_unmap(ls_buffer *buffer, ls_error *error);

/* Copies between host bytes and a buffer that no pending submission uses, that is not mapped, and
 * that no other thread reads or writes at the time (LS_E_BUSY). `element` must equal the buffer's
 * element type where it has one. Block. */
LS_API ls_status ls_buffer_write(ls_buffer *buffer, uint64_t offset, ls_mem element,
                                 const void *bytes, uint64_t size, ls_error *error);
LS_API ls_status ls_buffer_read(ls_buffer *buffer, uint64_t offset, ls_mem element, void *bytes,
                                uint64_t size, ls_error *error);

/* --- telemetry -------------------------------------------------------------------------------- */
/* Counters of a device since it was opened or last reset. X(name, text) */
#define LS_COUNTER_TABLE(X)                                                                        \
    X(submissions, "submissions accepted")                                                         \
    X(submissions_refused, "submissions answered with not submitted")                              \
    X(submissions_failed, "submissions that ended failed but quiescent")                           \
    X(submissions_indeterminate, "submissions that ended indeterminate")                           \
    X(commands, "commands executed")                                                               \
    X(launches, "kernel launches")                                                                 \
    X(lanes_asked, "lanes asked for by launches")                                                  \
    X(lanes_run, "lanes run, rounded up to whole workgroups")                                      \
    X(bytes_uploaded, "bytes from host to device: uploads, writes, staged maps")                   \
    X(bytes_downloaded, "bytes from device to host")                                               \
    X(bytes_copied, "bytes copied or filled on the device")                                        \
    X(sync_points, "waits of the host for the device")                                             \
    X(programs_built, "programs built")                                                            \
    X(cache_hits, "programs or code found in a cache")                                             \
    X(cache_misses, "programs or code not found in a cache")                                       \
    X(fallback_programs, "programs that run on the fallback device")                               \
    X(fallback_splits, "batch splits around a fallback")                                           \
    X(fallback_bytes, "bytes copied for a fallback")                                               \
    X(prepared_submissions, "submissions of prepared batches")                                     \
    X(compile_ns, "host time spent building programs")                                             \
    X(enqueue_ns, "host time spent validating and enqueueing submissions")                         \
    X(wait_ns, "host time spent waiting for fences")                                               \
    X(device_ns, "device time where it was measured")                                              \
    X(device_time_missing, "submissions that asked for device time and got none")                  \
    X(sanitizer_reports, "findings of the sanitizer")                                              \
    X(graph_launches, "prepared batches launched as one graph (cuda)")                             \
    X(device_waits, "waits for the device while submissions ran (cuda)")                           \
    X(driver_cache_hits, "modules or pipelines whose machine code the driver had kept")            \
    X(driver_cache_misses, "modules or pipelines that the driver made machine code of")            \
    X(programs_hurried, "programs whose optimised code was made quickly, being too long")
typedef struct ls_counters {
    size_t struct_size;
#define X(name, text) uint64_t name;
    LS_COUNTER_TABLE(X)
#undef X
} ls_counters;
LS_API void ls_device_counters(const ls_device *device, ls_counters *counters);
LS_API void ls_device_counters_reset(ls_device *device);

/* Records every submission and command of the device until ls_trace_end, which writes a file that
 * Perfetto and chrome://tracing open (JSON trace events; host time and device time on tracks of
 * their own). The file appears whole at the end or not at all. One trace at a time a device
 * (LS_E_STATE). */
LS_API ls_status ls_trace_begin(ls_device *device, ls_error *error);
/* The trace ends also on failure. Blocks: writes the file */
LS_API ls_status ls_trace_end(ls_device *device, const char *path, ls_error *error);

#ifdef __cplusplus
}
#endif

#endif
