/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How jobs run. The executor walks through a job's commands and records them into
 * segments: command buffers of a size that keeps a submission short, each with a piece of memory
 * (its arena) for what the host exchanges with it. A segment that is full is submitted, and the
 * next one recorded while it runs.
 *
 *   executor   who runs jobs, their queue, a ring of segments for jobs that run once (jobs.c)
 *   segment    begins, ends, is submitted, completes (segment.c)
 *   recorder   commands of a job into segments (dispatch.c, copy.c)
 *   prepared   segments that are kept and submitted again (prepared.c)
 */
#ifndef LS_DEVICE_VULKAN_JOBS_H
#define LS_DEVICE_VULKAN_JOBS_H

#include "device/common/ends.h"
#include "device/common/queue.h"
#include "device/vulkan/device.h"

enum {
    LS__VULKAN_MOVES = 256,
    LS__VULKAN_BEFORE = 2048,
    LS__VULKAN_TRAPS = 64,
    LS__VULKAN_COSTS = 64,
    LS__VULKAN_QUERIES = 512,
    LS__VULKAN_RECORDS = 4096,    /* commands of Vulkan's in a segment */
    LS__VULKAN_TRAP_SLOTS = 65536 /* workgroups of a dispatch that may trap */
};

/* Host bytes of a command that go to or come from memory the host sees. SIZES: an
 * ls__vulkan_sizes of what a dispatch is started with. */
typedef struct ls__vulkan_move {
    enum { LS__MOVE_SCALARS, LS__MOVE_SIZES, LS__MOVE_UPLOAD, LS__MOVE_DOWNLOAD } kind;
    uint32_t command;    /* in the job */
    uint64_t host_place; /* in the command's bytes */
    uint64_t size;
    ls__vulkan_memory *memory;
    uint64_t place;
} ls__vulkan_move;

/* How large a dispatch is, for the kernel and for the device. */
typedef struct ls__vulkan_sizes {
    ls__spirv_sizes kernel;
    uint32_t reserved[2];
    VkDispatchIndirectCommand groups;
    uint32_t reserved2;
} ls__vulkan_sizes;

/* A dispatch that may trap. */
typedef struct ls__vulkan_trap {
    uint32_t sequence;
    ls__trap_box box;
} ls__vulkan_trap;

typedef struct ls__vulkan_cost {
    ls__vulkan_kernel *kernel;
    uint64_t groups;
    uint64_t largest; /* of one dispatch */
} ls__vulkan_cost;

typedef struct ls__vulkan_mark { /* time since the query before belongs to a row */
    uint32_t query;
    uint64_t row;
} ls__vulkan_mark;

/* Memory that the host sees, handed out from its start on. */
typedef struct ls__vulkan_arena {
    ls__vulkan_memory *memory;
    uint64_t size, used;
} ls__vulkan_arena;

typedef struct ls__vulkan_segment {
    VkCommandBuffer commands;
    VkQueryPool queries;        /* none where the device has no clock */
    ls__vulkan_arena arguments; /* what kernels are called with */
    ls__vulkan_arena staging;   /* what transfers take and leave */
    bool begun;                 /* something is recorded */
    bool sealed;                /* to be completed before more is recorded */
    bool timed;
    bool drain;    /* prepared: complete it before the next one is submitted */
    bool variable; /* prepared: sizes come with each start, so times tell nothing */
    uint32_t records, query_count;
    uint64_t estimated_ns;
    uint64_t copied_ns; /* the part of it that is transfers */
    uint64_t value;     /* of the timeline, once submitted */
    uint64_t submitted_ns;
    uint32_t after_count, trap_count, cost_count, mark_count, before_count;
    ls__vulkan_move after[LS__VULKAN_MOVES]; /* once it has completed */
    ls__vulkan_trap traps[LS__VULKAN_TRAPS];
    ls__vulkan_cost costs[LS__VULKAN_COSTS];
    ls__vulkan_mark marks[LS__VULKAN_QUERIES];
    ls__vulkan_move *before; /* prepared: before it is submitted */
} ls__vulkan_segment;

/* --- the executor (jobs.c) -------------------------------------------------------------------- */
enum { LS__VULKAN_RING = 3 };

struct ls__vulkan_executor {
    ls__vulkan_device *device;
    ls__job_queue queue;
    /* of the job that runs, and the thread that runs it */
    /* Of the caller's thread that runs it: nobody else can give it up. NULL: our own does. */
    const ls__vulkan_guard *waiter;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value; /* last submitted */
    uint64_t completed_ns;
    uint64_t least_ns;         /* that a segment has taken */
    ls__vulkan_memory *status; /* an ls__spirv_status, then bytes that are 0 */
    ls__vulkan_memory *slots;
    ls__vulkan_segment *ring[LS__VULKAN_RING];
    bool trapped; /* in this job, and by this */
    ls__vulkan_trap trap;
};
enum { LS__VULKAN_ZERO_PLACE = 64, LS__VULKAN_STATUS_BYTES = 128 };

ls_status ls__vulkan_executor_create(ls__vulkan_device *device, ls_error *error);
void ls__vulkan_executor_destroy(ls__vulkan_device *device);
volatile ls__spirv_status *ls__vulkan_status(const ls__vulkan_executor *executor);

/* --- segments (segment.c) --------------------------------------------------------------------- */
ls_status ls__vulkan_segment_create(ls__vulkan_device *device, VkCommandPool pool,
                                    uint64_t argument_bytes, uint64_t staging_bytes, bool prepared,
                                    ls__vulkan_segment **segment, ls_error *error);
void ls__vulkan_segment_destroy(ls__vulkan_device *device, VkCommandPool pool,
                                ls__vulkan_segment **segment); /* accepts NULL */
VkResult ls__vulkan_segment_begin(ls__vulkan_device *device, ls__vulkan_segment *segment, bool once,
                                  bool timed);
VkResult ls__vulkan_segment_end(ls__vulkan_device *device, ls__vulkan_segment *segment);
VkResult ls__vulkan_segment_submit(ls__vulkan_executor *executor, ls__vulkan_segment *segment);
/* Waits for it, learns from it, adds its times to the job, makes the moves that come after it. */
VkResult ls__vulkan_segment_complete(ls__vulkan_executor *executor, ls__vulkan_segment *segment,
                                     ls__job *job);
void ls__vulkan_segment_reset(ls__vulkan_segment *segment); /* forgets what was recorded */
void ls__vulkan_move_bytes(ls__vulkan_device *device, const ls__vulkan_move *move,
                           const ls__job *job);

/* --- recording (record.c, dispatch.c, copy.c) ------------------------------------------------- */
/* Why recording stopped. */
typedef enum ls__vulkan_end {
    LS__VULKAN_GOES_ON,
    LS__VULKAN_LOST,    /* recorder->result says what the driver said */
    LS__VULKAN_TRAPPED, /* the status block says which */
    LS__VULKAN_CANCELLED,
    LS__VULKAN_INDIRECT,  /* sizes above their maximum: recorder->error */
    LS__VULKAN_UNPREPARED /* cannot be recorded before it runs */
} ls__vulkan_end;

typedef struct ls__vulkan_recorder ls__vulkan_recorder;
struct ls__vulkan_recorder {
    ls__vulkan_executor *executor;
    ls__vulkan_device *device;
    ls__job *job;
    ls__job_result *totals;
    bool prepared; /* nothing runs while it records */
    bool timed;
    /* Ends the segment and gives the next, empty one. With `drain`, everything recorded so far has
     * completed before what is recorded next. */
    ls__vulkan_end (*close)(ls__vulkan_recorder *recorder, bool drain);
    void *context;
    /* prepared: by command, whether its sizes come with each start, and how often it was recorded
     */
    const bool *variable;
    uint32_t *times;
    ls__vulkan_segment *segment;
    VkPipeline bound;
    bool idle;         /* everything recorded so far has completed */
    bool barrier;      /* needed before the next command */
    bool may_trap;     /* a dispatch since the last drain may trap */
    uint32_t sequence; /* of the last dispatch */
    uint32_t tail;     /* commands from here on are downloads */
    bool in_row;
    bool ending; /* the close is the last */
    VkResult result;
    ls_error error;
    uint32_t failed_command; /* LS__VULKAN_INDIRECT: its index */
};

/* Ends the segment's command buffer; the time of a command that goes on in the next one counts. */
VkResult ls__vulkan_end_segment(ls__vulkan_recorder *recorder);
/* Records all of the job. */
ls__vulkan_end ls__vulkan_record(ls__vulkan_recorder *recorder);
/* Makes room in the segment: begins it, or closes it and begins the next. At most so many bytes of
 * its arenas, and so much time, will be taken. */
ls__vulkan_end ls__vulkan_room(ls__vulkan_recorder *recorder, uint64_t arguments, uint64_t staging,
                               uint64_t ns);
/* Bytes of an arena, aligned to 16; room was made. */
uint64_t ls__vulkan_take_bytes(ls__vulkan_arena *arena, uint64_t size);
/* A barrier where commands precede. */
void ls__vulkan_order(ls__vulkan_recorder *recorder);
/* Clears memory that was never used. */
ls__vulkan_end ls__vulkan_clean(ls__vulkan_recorder *recorder, ls__vulkan_memory *memory);
uint64_t ls__vulkan_segment_ns(void);

/* Workgroups of a launch; 0 when it has no lanes. */
void ls__vulkan_count_groups(const ls__vulkan_kernel *kernel, const uint32_t global_size[3],
                             uint32_t count[3]);
/* Whether sizes of the dispatch may come with each start. */
bool ls__vulkan_may_vary(const ls__command_dispatch *dispatch);
/* Whether so large a launch runs in one piece. */
bool ls__vulkan_is_one_piece(const ls__vulkan_device *device, const ls__vulkan_kernel *kernel,
                             const uint32_t count[3]);
static inline ls__vulkan_kernel *ls__vulkan_kernel_of(const ls__command_dispatch *dispatch)
{
    return &((const ls__vulkan_program *)dispatch->program)->kernels[dispatch->kernel];
}
ls__vulkan_end ls__vulkan_record_dispatch(ls__vulkan_recorder *recorder, uint32_t command,
                                          uint32_t iteration, uint64_t *lanes);
ls__vulkan_end ls__vulkan_record_copy(ls__vulkan_recorder *recorder, const ls__command *command);
ls__vulkan_end ls__vulkan_record_fill(ls__vulkan_recorder *recorder, const ls__command *command);
ls__vulkan_end ls__vulkan_record_upload(ls__vulkan_recorder *recorder, uint32_t command);
ls__vulkan_end ls__vulkan_record_download(ls__vulkan_recorder *recorder, uint32_t command);

/* --- prepared batches (prepared.c) ------------------------------------------------------------ */
typedef struct ls__vulkan_prepared ls__vulkan_prepared;
ls_status ls__vulkan_prepare(ls__vulkan_device *device, const ls__job *job,
                             ls__vulkan_prepared **prepared, ls_error *error);
void ls__vulkan_unprepare(ls__vulkan_device *device, ls__vulkan_prepared *prepared);
/* Runs the job from its segments; false: it must be recorded as it runs. */
bool ls__vulkan_replay(ls__vulkan_recorder *recorder, ls__vulkan_prepared *prepared,
                       ls__vulkan_end *end);

#endif
