/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstep/launch.h - batches of commands, streams, submissions with exact outcomes, fences.
 *
 * Commands are recorded into a batch; recording has no effect on the device. A batch submitted to a
 * stream behaves as if its commands ran one after another. All of it is validated before any of it
 * runs.
 *
 * Submission has exactly three bad outcomes (docs/runtime.md has the table):
 *   LS_E_NOT_SUBMITTED  nothing ran; retry once the cause is mended; the stream is as it was
 *   LS_E_FAILED         something ran and failed; the device is idle; do not retry; the stream is
 *                       failed for good
 *   LS_E_INDETERMINATE  the device is lost or hung; what the batch uses is quarantined and never
 *                       reused
 * The first comes from ls_submit, the other two from the fence.
 */
#ifndef LOCKSTEP_LAUNCH_H
#define LOCKSTEP_LAUNCH_H

#include "lockstep/base.h"
#include "lockstep/device.h"
#include "lockstep/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of commands. Thread-safety: one thread at a time; submissions take their own copy. */
typedef struct ls_batch ls_batch;
/* A queue of submissions, run in order. Thread-safety: any thread. */
typedef struct ls_stream ls_stream;
/* The future outcome of one submission. Thread-safety: any thread. */
typedef struct ls_fence ls_fence;
/* A validated, lowered batch to submit many times. Thread-safety: any thread. */
typedef struct ls_prepared ls_prepared;

/* Bytes [offset, offset + size) of a buffer; size LS_WHOLE = up to the end. Empty ranges are
 * refused. */
#define LS_WHOLE UINT64_MAX
typedef struct ls_range {
    ls_buffer *buffer;
    uint64_t offset, size;
} ls_range;

/* --- recording -------------------------------------------------------------------------------- */
typedef enum ls_phase {
    LS_PHASE_INITIALIZATION,
    LS_PHASE_BINDING,
    LS_PHASE_COMPUTE,
    LS_PHASE_RESULT
} ls_phase;

/* Who a command is for; comes back in the attribution of the receipt. Zero is fine. */
typedef struct ls_tag {
    ls_phase phase;
    uint32_t node;     /* the caller's node id */
    const char *label; /* copied; may be NULL */
} ls_tag;

/* A value that comes with the submission: `parameter + 1` is a byte offset in its parameter block,
 * 0 = not a parameter. */
typedef struct ls_scalar_link {
    uint32_t scalar_offset;    /* in the kernel's scalar block */
    uint32_t parameter_offset; /* in the submission's parameter block */
    uint32_t size;             /* bytes */
} ls_scalar_link;

typedef struct ls_dispatch {
    size_t struct_size;
    const ls_kernel *kernel;
    uint32_t global_size[3];           /* lanes; 0 in y or z means 1 when x is given; all zero: a
                                          valid no-op */
    uint32_t global_size_parameter[3]; /* 1 + byte offset of a u32 in the parameter block; 0 =
                                          fixed */
    const ls_range *buffers;           /* one a pointer parameter, in order; offsets multiples of
                                          its alignment; a written range must not overlap another
                                          range of the dispatch */
    uint32_t buffer_count;
    const void *scalars; /* the scalar block, C layout (ls_param_info.offset); copied */
    uint32_t scalar_bytes;
    const ls_scalar_link *links; /* parts of the scalar block taken from the parameter block at
                                    submission */
    uint32_t link_count;
    ls_tag tag;
} ls_dispatch;
#define LS_DISPATCH_INIT LS_INIT(ls_dispatch)

LS_API ls_status ls_batch_create(ls_device *device, ls_batch **batch, ls_error *error);
LS_API void ls_batch_destroy(ls_batch **batch);
LS_API void ls_batch_clear(ls_batch *batch); /* forgets the commands, keeps memory for reuse */
LS_API uint32_t ls_batch_count(const ls_batch *batch);

/* Each recording call checks its own arguments (ranges, overflow, alignment, usage, element types,
 * foreign handles) and leaves the batch as it was on failure. Buffers and programs are kept alive
 * by the batch. */
LS_API ls_status ls_batch_dispatch(ls_batch *batch, const ls_dispatch *dispatch, ls_error *error);

/* Sizes (three u32: lanes per dimension) are read from `sizes` when the command runs; more than
 * `maximum` in any dimension is a trap of this command (LS_TRAP_INDIRECT), and it does not run. */
#define LS_TRAP_INDIRECT 0xffff0001u
LS_API ls_status ls_batch_dispatch_indirect(ls_batch *batch, const ls_dispatch *dispatch,
                                            ls_range sizes, const uint32_t maximum[3],
                                            ls_error *error);

/* Same device, equal sizes and element types; overlapping ranges behave as memmove. */
LS_API ls_status ls_batch_copy(ls_batch *batch, ls_range target, ls_range source, const ls_tag *tag,
                               ls_error *error);

/* The bytes are copied now; charged to the budget until the batch lets go of them. */
LS_API ls_status ls_batch_upload(ls_batch *batch, ls_range target, ls_mem element,
                                 const void *bytes, const ls_tag *tag, ls_error *error);
/* The bytes come with each submission: its slots[slot].upload. */
LS_API ls_status ls_batch_upload_slot(ls_batch *batch, ls_range target, ls_mem element,
                                      uint32_t slot, const ls_tag *tag, ls_error *error);

/* Fills with a pattern of 1, 2, 4 or 8 bytes; the range is a multiple of it. */
LS_API ls_status ls_batch_fill(ls_batch *batch, ls_range target, const void *pattern,
                               uint32_t pattern_bytes, const ls_tag *tag, ls_error *error);

/* Writes the range to `bytes` when the command runs; valid once the fence succeeded. `bytes` must
 * live until the fence is terminal, and for good when it ends indeterminate: the device may still
 * write there. */
LS_API ls_status ls_batch_download(ls_batch *batch, ls_range source, ls_mem element, void *bytes,
                                   const ls_tag *tag, ls_error *error);
LS_API ls_status ls_batch_download_slot(ls_batch *batch, ls_range source, ls_mem element,
                                        uint32_t slot, const ls_tag *tag, ls_error *error);

/* Commands in between run `count` times (`count_parameter`: 1 + byte offset of a u32 in the
 * parameter block, 0 = fixed); kernels see the round as iteration(). Not nested. Zero rounds are
 * valid. */
LS_API ls_status ls_batch_repeat_begin(ls_batch *batch, uint32_t count, uint32_t count_parameter,
                                       ls_error *error);
LS_API ls_status ls_batch_repeat_end(ls_batch *batch, ls_error *error);

/* --- streams ---------------------------------------------------------------------------------- */
typedef enum ls_stream_state {
    LS_STREAM_READY,
    LS_STREAM_SUBMITTED,
    LS_STREAM_FAILED
} ls_stream_state;

LS_API ls_status ls_stream_create(ls_device *device, ls_stream **stream, ls_error *error);
/* LS_E_BUSY while a submission is pending. Accepts NULL. */
LS_API ls_status ls_stream_destroy(ls_stream **stream, ls_error *error);
/* Failed streams stay failed; `error` (optional) is then the earliest failure in the order of
 * submission. */
LS_API ls_stream_state ls_stream_query(const ls_stream *stream, ls_error *error);
/* Waits until nothing is pending and makes the stream ready. LS_E_TIMEOUT changes nothing;
 * LS_E_FAILED and LS_E_INDETERMINATE as the stream failed. Blocks. */
LS_API ls_status ls_stream_wait(ls_stream *stream, uint64_t limit_ns, ls_error *error);

/* --- submission ------------------------------------------------------------------------------- */
typedef enum ls_path { LS_PATH_ADAPTIVE, LS_PATH_EAGER_ONLY, LS_PATH_PREPARED_ONLY } ls_path;

typedef struct ls_slot { /* host bytes of one upload or download slot; as long as the slot's
                            range */
    const void *upload;
    void *download;
} ls_slot;

typedef struct ls_submit_params {
    size_t struct_size;
    ls_fence *const *wait; /* run after these have succeeded; one that failed makes this submission
                              fail unrun */
    uint32_t wait_count;
    uint64_t time_limit_ns; /* from the start of execution; when it runs out the submission is
                               cancelled; 0 = none */
    bool timing;            /* measure device time where possible */
    bool attribution;       /* list what ran in the receipt */
    ls_path path;           /* PREPARED_ONLY: refused for a plain batch and where the device replays
                               nothing natively (caps.prepared_native); EAGER_ONLY: refused for a
                               prepared one where it does */
    const void *parameters; /* the parameter block; copied */
    uint32_t parameter_bytes;
    const ls_slot *slots; /* bytes to upload are copied; memory to download to must live as long
                             as that of ls_batch_download */
    uint32_t slot_count;
} ls_submit_params;
#define LS_SUBMIT_PARAMS_INIT LS_INIT(ls_submit_params)

/* Validates everything, then hands the batch to the device. LS_OK and a fence, or
 * LS_E_NOT_SUBMITTED (error.cause says why: LS_E_INVALID_ARGUMENT, LS_E_FOREIGN, LS_E_STATE for a
 * failed stream, LS_E_BUSY for a range that a pending submission of another stream writes, or reads
 * while this one writes it, without a fence that orders them (directly or through others),
 * LS_E_OUT_OF_MEMORY, ...). An empty batch is not submitted. The batch may be changed or destroyed
 * at once. Does not wait for the device. */
LS_API ls_status ls_submit(ls_stream *stream, const ls_batch *batch, const ls_submit_params *params,
                           ls_fence **fence, ls_error *error);

LS_API ls_status ls_prepare(const ls_batch *batch, ls_prepared **prepared, ls_error *error);
LS_API void ls_prepared_destroy(ls_prepared **prepared);
LS_API ls_status ls_submit_prepared(ls_stream *stream, const ls_prepared *prepared,
                                    const ls_submit_params *params, ls_fence **fence,
                                    ls_error *error);

/* --- fences ----------------------------------------------------------------------------------- */
typedef enum ls_outcome {
    LS_PENDING,
    LS_SUCCEEDED,
    LS_FAILED_QUIESCENT,
    LS_INDETERMINATE
} ls_outcome;

typedef enum ls_timing_state {
    LS_TIMING_NOT_REQUESTED,
    LS_TIMING_MEASURED,
    LS_TIMING_UNAVAILABLE
} ls_timing_state;
typedef struct ls_timing {
    ls_timing_state state;
    uint64_t device_ns;      /* measured by the device; host time is never put here */
    const char *unavailable; /* why not */
} ls_timing;

typedef struct ls_attribution { /* one executed command, in order */
    uint32_t command;   /* index in the batch */
    uint32_t iteration; /* round of its repeat block */
    const char *operation; /* "dispatch", "dispatch_indirect", "copy", "upload", "fill",
                              "download" */
    const char *kernel;    /* dispatches: the kernel's name, else NULL */
    bool prepared;         /* replayed by the backend */
    bool fallback;         /* ran on the fallback device */
    ls_tag tag;
    uint64_t lanes; /* dispatches: lanes asked for */
    uint64_t bytes; /* transfers */
    ls_timing timing;
} ls_attribution;

typedef struct ls_receipt {
    size_t struct_size;
    ls_outcome outcome;
    ls_error error; /* code LS_OK when it succeeded; LS_E_FAILED or LS_E_INDETERMINATE with the
                       cause */
    ls_timing timing;
    const ls_attribution *attribution; /* owned by the fence; only after success, when asked for */
    uint32_t attribution_count;
    bool trapped; /* error.cause is LS_E_TRAP */
    uint32_t trap_code, trap_lane, trap_command;
    uint64_t trap_workgroup; /* linear */
    bool unordered;          /* a kernel whose outputs carry no promise ran */
    bool unchecked;          /* a kernel built unchecked ran */
    uint32_t fallback_splits;
    uint64_t fallback_bytes;
    const char *fallback_reason; /* NULL = no fallback */
    /* host clock: submit call, waiting in the queue, running */
    uint64_t enqueue_ns, queued_ns, execution_host_ns;
} ls_receipt;

/* Fills the receipt and returns its outcome; never waits. A terminal receipt never changes. */
LS_API ls_outcome ls_fence_query(const ls_fence *fence, ls_receipt *receipt);
/* LS_OK (succeeded), LS_E_FAILED, LS_E_INDETERMINATE: terminal, and the receipt says more.
 * LS_E_TIMEOUT: still pending, nothing changed. `receipt` is optional. Blocks. With LS_FOREVER the
 * calling thread may run what is pending itself, which saves waking another: the way to wait for
 * small work. */
LS_API ls_status ls_fence_wait(const ls_fence *fence, uint64_t limit_ns, ls_receipt *receipt,
                               ls_error *error);
/* Asks the device to stop and waits up to limit_ns: it ends failed but quiescent (cause
 * LS_E_CANCELLED), or, when the device does not stop in time, indeterminate; a submission that ends
 * by itself first keeps its outcome. One that has not begun ends at once. A limit of 0 only asks:
 * LS_E_TIMEOUT while it is still pending. LS_OK once it is terminal. Kernels on the host's own
 * threads (devices `cpu` and `reference`) stop at their next loop iteration or workgroup, and may
 * be waited for beyond the limit. Blocks. */
LS_API ls_status ls_fence_cancel(ls_fence *fence, uint64_t limit_ns, ls_error *error);
/* Gives up the handle; the submission goes on. Accepts NULL. */
LS_API void ls_fence_destroy(ls_fence **fence);

#ifdef __cplusplus
}
#endif

#endif
