/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How jobs run. The executor walks through a job's commands and turns them into steps: launches,
 * copies, fills. Of a job that runs once, a step goes to a stream at once; of a prepared one, it
 * becomes a node of a graph, which each start updates.
 *
 *   executor   who runs jobs, their queue, the streams (jobs.c)
 *   recorder   commands of a job into steps (record.c, dispatch.c, copy.c)
 *   segment    what is on the way to the device and the host exchanges with it (segment.c)
 *   step       onto a stream (step.c)
 *   prepared   steps as a graph (prepared.c)
 */
#ifndef LS_DEVICE_CUDA_JOBS_H
#define LS_DEVICE_CUDA_JOBS_H

#include "device/common/ends.h"
#include "device/common/queue.h"
#include "device/cuda/device.h"

/* --- steps (step.c) --------------------------------------------------------------------------- */
typedef enum ls__cuda_step_kind {
    LS__STEP_LAUNCH,
    LS__STEP_IN,   /* from staging memory */
    LS__STEP_OUT,  /* to staging memory */
    LS__STEP_COPY, /* on the device */
    LS__STEP_SET
} ls__cuda_step_kind;

typedef struct ls__cuda_step {
    ls__cuda_step_kind kind;
    ls__cu_function function;
    uint32_t grid[3], lanes;
    bool together; /* all workgroups run at once */
    uint32_t parameter_bytes;
    const void *parameters;
    ls__cu_address target, source;
    uint8_t *host; /* staging memory */
    uint64_t bytes;
    uint32_t value, element_bytes; /* SET */
} ls__cuda_step;

ls__cu_result ls__cuda_issue(const ls__cuda_functions *cu, const ls__cuda_step *step,
                             ls__cu_stream stream);

/* --- segments (segment.c) --------------------------------------------------------------------- */
enum {
    LS__CUDA_RING = 2,
    LS__CUDA_MOVES = 256,
    LS__CUDA_TRAPS = 64,
    LS__CUDA_MARKS = 64,
    LS__CUDA_STEPS = 256, /* on the way: a stream takes about 1000 before it blocks */
    /* Of a grid, and on the way: when a job is cancelled, each of them still begins. */
    LS__CUDA_GROUPS = 1 << 18
};

/* Bytes of a download that wait in staging memory. */
typedef struct ls__cuda_move {
    uint32_t command;  /* in the job */
    uint32_t sequence; /* of the last grid before it */
    uint64_t host_place, size;
    const uint8_t *staged;
} ls__cuda_move;

/* A grid that may trap. */
typedef struct ls__cuda_trap {
    uint32_t sequence, first_sequence;
    ls__trap_box box;
} ls__cuda_trap;

typedef struct ls__cuda_segment {
    uint8_t *host; /* pinned: an ls__ptx_status, then staging memory */
    uint64_t size, used;
    bool begun, timed;
    bool blind; /* its last steps were refused: how it ends is not known, only when */
    ls__cu_event begin, end;
    ls__cu_event marks[LS__CUDA_MARKS]; /* after rows; made when first needed */
    uint64_t rows[LS__CUDA_MARKS];
    uint32_t step_count, move_count, trap_count, mark_count;
    uint64_t groups; /* of all its grids */
    ls__cuda_move moves[LS__CUDA_MOVES];
    ls__cuda_trap traps[LS__CUDA_TRAPS];
} ls__cuda_segment;

/* --- the executor (jobs.c) -------------------------------------------------------------------- */
struct ls__cuda_executor {
    ls__cuda_device *device;
    ls__job_queue queue;
    /* of the thread that runs a job */
    const ls__cuda_guard *waiter; /* of the caller's thread that runs the job; else NULL */
    /* Kernels and what is ordered with them; uploads and downloads beside them; requests to stop.
     */
    ls__cu_stream stream, in, out, control;
    ls__cu_event in_event, out_event, main_event; /* what one stream waits for of another */
    ls__cuda_memory *status;   /* an ls__ptx_status, then the u32 of grid barriers */
    ls__ptx_status *constants; /* pinned: as before a job; then one that cancels */
    ls__cuda_segment ring[LS__CUDA_RING];
    uint64_t drains;            /* how often everything had ended, and 1 */
    uint64_t downloads, joined; /* on the stream beside; of them, those waited for */
    bool asked_to_stop;         /* in this job */
    bool trapped;               /* in this job, and by this */
    ls__cuda_trap trap;
    ls__ptx_status trap_status;
    bool stopped; /* in this job, some workgroups ended early */
};

enum { LS__CUDA_BARRIER_PLACE = 64 }; /* behind the status */

ls_status ls__cuda_executor_create(ls__cuda_device *device, ls_error *error);
void ls__cuda_executor_destroy(ls__cuda_device *device);

/* What is said by ls__cuda_complete when the device does not stop. */
enum { LS__CUDA_STUCK = -1 };

ls__cu_result ls__cuda_segment_init(ls__cuda_device *device, ls__cuda_segment *segment,
                                    uint64_t staging_bytes);
void ls__cuda_segment_finish(ls__cuda_device *device, ls__cuda_segment *segment);
void ls__cuda_segment_reset(ls__cuda_segment *segment); /* forgets what was recorded */
ls__cu_result ls__cuda_segment_begin(ls__cuda_executor *executor, ls__cuda_segment *segment,
                                     bool timed);
/* Its last steps; then it is on the way, also when the driver refuses some of them. */
ls__cu_result ls__cuda_segment_send(ls__cuda_executor *executor, ls__cuda_segment *segment);
/* Waits for it, adds its times to the job, makes the moves, looks for a trap. */
ls__cu_result ls__cuda_segment_complete(ls__cuda_executor *executor, ls__cuda_segment *segment,
                                        ls__job *job);

/* --- recording (record.c, dispatch.c, copy.c) ------------------------------------------------- */
/* Why recording stopped. */
typedef enum ls__cuda_end {
    LS__CUDA_GOES_ON,
    LS__CUDA_LOST,    /* recorder->failure says what the driver said */
    LS__CUDA_REFUSED, /* the same, and the device goes on */
    LS__CUDA_TRAPPED, /* executor->trap */
    LS__CUDA_CANCELLED,
    LS__CUDA_INDIRECT,  /* sizes above their maximum: recorder->error */
    LS__CUDA_UNPREPARED /* no graph can do it */
} ls__cuda_end;

/* What the driver would not do. */
typedef struct ls__cuda_failure {
    ls__cu_result result;
    const char *what;
    uint64_t bytes; /* of it; 0: it is not about memory */
} ls__cuda_failure;

typedef struct ls__cuda_recorder ls__cuda_recorder;
struct ls__cuda_recorder {
    ls__cuda_executor *executor;
    ls__cuda_device *device;
    const ls__cuda_functions *cu;
    ls__job *job;
    ls__job_result *totals;
    ls__cuda_segment *segment;
    struct ls__cuda_prepared *prepared; /* steps become nodes; nothing runs while it records */
    uint32_t current, in_flight;        /* segments of the ring; those before `current` */
    bool timed;
    bool idle;     /* everything recorded so far has completed */
    bool may_trap; /* a grid since the last drain may trap */
    bool in_row;
    uint32_t sequence; /* of the last grid */
    ls__cuda_failure failure;
    ls_error error;
    uint32_t failed_command;                                      /* LS__CUDA_INDIRECT: its index */
    _Alignas(16) uint8_t parameters[LS__PTX_MAX_PARAMETER_BYTES]; /* of the launch at hand */
};

/* Records all of the job. */
ls__cuda_end ls__cuda_record(ls__cuda_recorder *recorder);
/* What the driver's answer means for the job. */
ls__cuda_end ls__cuda_check(ls__cuda_recorder *recorder, ls__cu_result result, const char *what);
ls__cuda_end ls__cuda_check_bytes(ls__cuda_recorder *recorder, ls__cu_result result,
                                  const char *what, uint64_t bytes);
/* Sends the segment and takes the next, empty one. With `drain`, everything recorded so far has
 * completed before what is recorded next. */
ls__cuda_end ls__cuda_close(ls__cuda_recorder *recorder, bool drain);
/* Room in the segment for one more step, and so many bytes of its staging memory. */
ls__cuda_end ls__cuda_room(ls__cuda_recorder *recorder, uint64_t staging);
/* Staging memory, aligned to 16; room was made. */
uint8_t *ls__cuda_stage(ls__cuda_segment *segment, uint64_t bytes);
/* One step, behind all before it; room was made. */
ls__cuda_end ls__cuda_put(ls__cuda_recorder *recorder, const ls__cuda_step *step);
/* Before a step uses the memory: what downloads it beside has read it. */
ls__cuda_end ls__cuda_touch(ls__cuda_recorder *recorder, ls__cuda_memory *memory);

ls__cuda_end ls__cuda_record_dispatch(ls__cuda_recorder *recorder, const ls__command *command,
                                      uint32_t iteration, uint64_t *lanes);
ls__cuda_end ls__cuda_record_copy(ls__cuda_recorder *recorder, const ls__command *command);
ls__cuda_end ls__cuda_record_fill(ls__cuda_recorder *recorder, const ls__command *command);
ls__cuda_end ls__cuda_record_upload(ls__cuda_recorder *recorder, const ls__command *command);
ls__cuda_end ls__cuda_record_download(ls__cuda_recorder *recorder, uint32_t index);

/* --- prepared batches (prepared.c) ------------------------------------------------------------ */
typedef struct ls__cuda_prepared ls__cuda_prepared;
ls_status ls__cuda_prepare(ls__cuda_device *device, const ls__job *job,
                           ls__cuda_prepared **prepared, ls_error *error);
void ls__cuda_unprepare(ls__cuda_device *device, ls__cuda_prepared *prepared);
/* Runs the job as a graph; false: it runs as any job does. */
bool ls__cuda_replay(ls__cuda_recorder *recorder, ls__cuda_prepared *prepared, ls__cuda_end *end);
/* The job has run as any does, in so long. */
void ls__cuda_replayed_plain(ls__cuda_prepared *prepared, uint64_t ns);
ls__cuda_end ls__cuda_put_node(ls__cuda_recorder *recorder, const ls__cuda_step *step);

#endif
