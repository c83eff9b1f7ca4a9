/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From recorded commands to finished submissions.
 *
 *   record      one recorded command: immutable, reference-counted, checked when it was recorded
 *               (record.c, batch.c)
 *   batch       the caller's list of records (batch.c)
 *   plan        a whole batch, validated: what it uses, what it needs from a submission, its parts
 *               (plan.c)
 *   submission  a plan with parameters filled in, on its way through the queue (submit.c,
 *               resolve.c)
 *   conductor   the thread of each device that runs submissions which no waiting thread runs
 *               (conductor.c, run.c)
 *   fence       the outcome of a submission (fence.c)
 *
 * A part is a run of commands that goes to the backend as one job, or one dispatch that core must
 * conduct itself: because it runs on a fallback device, or because its kernel is split at grid
 * barriers, and may not run whole. Repeat blocks that hold such a dispatch are unrolled by the conductor.
 */
#ifndef LS_CORE_QUEUE_H
#define LS_CORE_QUEUE_H

#include "core/core.h"

/* --- records ---------------------------------------------------------------------------------- */
typedef struct ls__use { /* a resolved range */
    ls__allocation *allocation;
    uint64_t offset, size;
    bool write;
} ls__use;

typedef struct ls__record {
    _Atomic uint32_t refs;
    ls_device *device;
    ls__command_kind kind;
    ls_tag tag; /* the label lies in the record */
    /* Dispatch: one a buffer, then the sizes of an indirect one. Copy: target, source. Others: the
     * one range. */
    ls__use *uses;
    uint32_t use_count;

    /* dispatches */
    const ls_kernel *kernel; /* its program is retained */
    uint32_t global_size[3], global_size_parameter[3];
    bool indirect;
    uint32_t maximum[3];
    uint8_t *scalars;
    ls_scalar_link *links;
    uint32_t link_count;

    /* transfers */
    bool has_slot;
    uint32_t slot;
    const uint8_t *upload; /* in the record; charged to the budget as staging */
    void *download;        /* the caller's */
    uint8_t pattern[8];
    uint32_t pattern_bytes;
} ls__record;

/* "dispatch", "copy", ... */
const char *ls__command_name(ls__command_kind kind);
void ls__record_retain(ls__record *record);
void ls__record_release(ls__record *record);
/* The check and resolution of a dispatch; the largest part of recording (record.c). */
ls_status ls__record_dispatch(ls_device *device, const ls_dispatch *dispatch, const ls_range *sizes,
                              const uint32_t *maximum, ls__record **record, ls_error *error);
/* A record with room for its ranges and `extra` bytes behind them; the label of the tag is
 * copied. */
ls__record *ls__record_new(ls_device *device, ls__command_kind kind, const ls_tag *tag,
                           uint32_t use_count, size_t extra, uint8_t **extra_bytes,
                           ls_error *error);
/* Lanes of the whole workgroups that run for this size; false when there are 2^64 or more. */
bool ls__padded_lanes(const ls_kernel *kernel, const uint32_t size[3], uint64_t *lanes);
/* Whether so many lanes (already normalised) in workgroups of this kernel can be counted. */
ls_status ls__record_check_size(const ls_kernel *kernel, const uint32_t size[3], ls_error *error);

/* Whether a launch of this size (normalised) of a split kernel can be one of its whole form instead
 * (resolve.c). */
bool ls__fits_whole(const ls_kernel *kernel, const uint32_t size[3]);
/* Whether a dispatch of a split kernel always is one of its whole form: its size is fixed, and fits
 * (plan.c). */
bool ls__record_runs_whole(const ls__record *record);
/* Whether core conducts the dispatch itself: on a fallback device, or in segments (plan.c). */
bool ls__record_is_conducted(const ls__record *record);

typedef struct ls__block { /* a repeat block: commands [first, end) */
    uint32_t first, end;
    uint32_t rounds, rounds_parameter; /* parameter: 1 + offset, 0 = fixed */
} ls__block;

struct ls_batch {
    ls_device *device;
    ls__record **records;
    uint32_t count, capacity;
    ls__block *blocks;
    uint32_t block_count, block_capacity;
    bool block_open;
};

/* Scalars, slots and the pieces of a submission start at multiples of 16 bytes. */
static inline uint64_t ls__round16(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* --- plans ------------------------------------------------------------------------------------ */
/* Bytes that a plan touches. Imports of one piece of host memory may alias, so their bytes are
 * counted by address in a space of their own (NULL). Sorted by (space, begin); what is read and
 * what is written are separate entries. */
typedef struct ls__touch {
    const ls__allocation *space;
    uint64_t begin, end;
    bool write;
} ls__touch;

enum { LS__NO_BLOCK = UINT32_MAX };
typedef struct ls__part {
    bool conducted;
    uint32_t first, end;               /* commands */
    uint32_t first_block, block_count; /* repeat blocks inside a job, in the plan's list */
    uint32_t unrolled; /* the block whose rounds the conductor counts, or LS__NO_BLOCK */
} ls__part;

typedef struct ls__plan {
    _Atomic uint32_t refs;
    ls_device *device;
    ls__record **records;
    uint32_t record_count;
    ls__block *blocks;
    uint32_t block_count;
    ls__part *parts;
    uint32_t part_count;
    ls__allocation **allocations; /* distinct ones */
    uint32_t allocation_count;
    ls__touch *touches;
    uint32_t touch_count;
    uint64_t parameter_bytes; /* a submission's parameter block has at least this much */
    uint32_t slot_count;
    uint64_t slot_upload_bytes;        /* each rounded up to 16 */
    uint64_t span_count, scalar_bytes; /* over all dispatches; scalars rounded up to 16 each */
    bool unordered, unchecked;
    const char *fallback_reason;     /* of the first program on another device; NULL = none */
    ls__backend_prepared **prepared; /* by part; NULL entries and NULL: eager */
} ls__plan;

/* Everything about a batch that does not depend on a submission. One reference. */
ls_status ls__plan_create(const ls_batch *batch, ls__plan **plan, ls_error *error);
void ls__plan_retain(ls__plan *plan);
void ls__plan_release(ls__plan *plan); /* accepts NULL */
bool ls__plan_conflicts(const ls__plan *a, const ls__plan *b, const ls__touch **of_a,
                        const ls__touch **of_b);

struct ls_prepared {
    ls__plan *plan;
};

/* --- streams and fences ----------------------------------------------------------------------- */
struct ls_stream {
    ls_device *device;
    /* under the device's lock */
    uint64_t pending;
    uint64_t mark; /* of the last hazard check that found it ordered */
    ls_stream_state state;
    ls_error failure;         /* when failed */
    uint64_t failed_sequence; /* of the submission that failed; earlier ones go on */
};

typedef struct ls__names { /* of a record, copied for the rows of a fence: label, kernel */
    const char *text[2];
} ls__names;

struct ls_fence {
    _Atomic uint32_t refs; /* the caller's handle, the submission, submissions that wait for it */
    ls_device *device;
    ls_attribution *rows; /* room for all; NULL = not asked for */
    ls__names *names;     /* one a record; the texts lie behind them */
    char fallback_reason[256];
    /* under the device's lock */
    ls__submission *submission; /* NULL once terminal */
    ls_receipt receipt;
};
void ls__fence_release(ls_fence *fence);

/* --- submissions ------------------------------------------------------------------------------ */
/* A part at run time. Plain: one job. Conducted: one job a segment (or the one), for segments a job
 * that clears the scratch buffer, and, where the kernel has a whole form, one that launches it. */
typedef struct ls__part_run {
    ls_device *device; /* where it runs */
    ls__job *jobs;
    uint32_t job_count;
    uint32_t accepted; /* jobs that the backend has accepted */
    /* conducted */
    const ls__record *record;
    ls__command *commands; /* one a job */
    ls__span *own;         /* the ranges on the submission's device */
    ls__span *spans; /* where the kernel runs: `own`, or the copies on the fallback device; then the
                        scratch */
    ls__allocation **copies;
    ls__allocation *scratch; /* of segments; NULL also where only the whole form will run */
} ls__part_run;

struct ls__submission {
    ls_device *device;
    ls_stream *stream;
    ls_fence *fence;
    ls__plan *plan;
    ls__submission *previous, *next; /* in the device's queue */
    uint64_t sequence;               /* order of submission on the device */
    uint64_t mark;                   /* of the last hazard check that found it ordered */

    ls_fence **waits;
    uint32_t wait_count;
    uint64_t time_limit_ns;
    bool timing, attribution;
    bool is_prepared;

    ls__command *commands; /* all commands, resolved */
    ls__repeat *repeats;   /* one a block of the plan */
    uint8_t *scalars;
    ls__part_run *parts;
    uint8_t *bounce; /* host memory for copies between devices */
    uint64_t bounce_bytes, staging_bytes;
    ls__job_row *rows;
    uint64_t row_capacity;

    /* while it runs; of the thread that runs it */
    bool helped; /* that is a waiting one; the conductor watches the time limit */
    ls__job_result total;
    uint64_t row_count, jobs_run, jobs_measured;
    uint32_t splits;
    uint64_t fallback_bytes;
    uint64_t enqueued_ns, enqueue_ns, begun_ns, deadline_ns;
    ls_device *abandoned; /* the lost device that may still use it: never freed */

    /* under the device's lock */
    bool claimed; /* somebody runs or finishes it */
    bool running;
    ls__job *job; /* the last one begun */
    bool cancel_requested;
    bool give_up;
    ls__submission *next_abandoned;
};

/* Fills a submission from its plan and the caller's params: commands, scalars, slots, jobs
 * (resolve.c). */
ls_status ls__submission_create(ls__plan *plan, const ls_submit_params *params,
                                ls__submission **submission, ls_error *error);
/* Lets go of all that counts against the device (plan, copies, staging, jobs); before its fence
 * becomes terminal. */
void ls__submission_release_uses(ls__submission *submission);
/* Gives back everything; for a submission that never ran or has ended. */
void ls__submission_free(ls__submission *submission);
/* Has the backends accept all jobs. */
ls_status ls__submission_accept(ls__submission *submission, ls_error *error);

/* Runs all parts and waits for them (run.c). LS_OK, LS_E_INDETERMINATE, or the cause of a
 * failure. */
ls_status ls__submission_run(ls__submission *submission, ls_error *error);

/* --- the conductor ---------------------------------------------------------------------------- */
/* The longest nap of the conductor: what is submitted meanwhile waits so long if nobody else runs
 * it. */
enum { LS__CONDUCTOR_NAP_NS = 1000000 };
ls_status ls__conductor_start(ls_device *device, ls_error *error);
void ls__conductor_stop(ls_device *device);
/* Under the lock. Whether the first submission can be run now. */
bool ls__queue_is_ready(const ls_device *device);
/* Under the lock, which is given up meanwhile, when the queue is ready: runs the first submission
 * on the calling thread, which is `helping` if it is not the conductor. */
void ls__queue_run_first(ls_device *device, bool helping);
/* Under the lock: has the conductor look at the queue. */
void ls__conductor_wake(ls_device *device);
/* Under the lock: whether the caller must signal `work`, since the conductor would sleep beyond
 * `until_ns`. */
bool ls__conductor_must_wake(ls_device *device, uint64_t until_ns);
/* Publishes the outcome of a submission that the caller has claimed, and frees it. */
void ls__submission_finish(ls__submission *submission, ls_outcome outcome, const ls_error *error);

/* --- trace (trace.c) -------------------------------------------------------------------------- */
bool ls__trace_active(ls_device *device);
void ls__trace_submission(const ls__submission *submission, const ls_receipt *receipt);
void ls__trace_abandon(ls_device *device);

#endif
