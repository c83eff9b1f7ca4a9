/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of core share: devices, allocations, modules and programs. Batches, plans and
 * submissions are in queue.h.
 *
 * Locks. Each device has `lock`, which guards everything below it that says so, and `changed`,
 * which is broadcast whenever a submission or a job ends or is to end. The conductor sleeps on
 * `work` (conductor.c). No function holds the locks of two devices, and no backend entry is called
 * with a lock held. Counters and the budget are atomics.
 *
 * Lifetimes. Public handles are counted in `objects`, so that a device is not closed under them.
 * What a batch or a pending submission uses is reference-counted (allocations, programs, modules).
 * A lost device is never freed: a hung backend thread may still look at it. Nor is one whose
 * submission a fallback device hung on, since the end of the job is reported to it.
 */
#ifndef LS_CORE_CORE_H
#define LS_CORE_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/params.h"
#include "base/status.h"
#include "core/backend.h"
#include "core/code_cache.h"
#include "ir/ir.h"

typedef struct ls__allocation ls__allocation;
typedef struct ls__built ls__built;
typedef struct ls__submission ls__submission;
typedef struct ls__trace ls__trace;
typedef struct ls__probe ls__probe;

/* --- budget (budget.c) ------------------------------------------------------------------------ */
typedef struct ls__budget {
    uint64_t limit;
    _Atomic uint64_t used, peak, staging, quarantined;
} ls__budget;
/* All or nothing, whatever other threads do. `what` names the thing for the message. */
ls_status ls__budget_reserve(ls_device *device, uint64_t bytes, bool staging, const char *what,
                             ls_error *error);
void ls__budget_release(ls_device *device, uint64_t bytes, bool staging);

/* --- memory of submissions (pool.c) ----------------------------------------------------------- */
typedef struct ls__spare ls__spare;
enum { LS__POOL_CLASSES = 13 }; /* blocks of 256 bytes to 1 MiB are kept */
typedef struct ls__pool {
    ls__spare *first[LS__POOL_CLASSES];
    uint32_t count[LS__POOL_CLASSES];
} ls__pool;
/* As ls__mem_alloc and ls__mem_free; both take the device's lock. */
void *ls__pool_alloc(ls_device *device, size_t count, size_t size);
void ls__pool_free(ls_device *device, void *memory);
void ls__pool_clear(ls_device *device);

/* --- counters --------------------------------------------------------------------------------- */
typedef enum ls__counter {
#define X(name, text) LS__COUNTER_##name,
    LS_COUNTER_TABLE(X)
#undef X
        LS__COUNTER_COUNT
} ls__counter;

/* --- devices (device.c) ----------------------------------------------------------------------- */
typedef struct ls__built_list {
    ls__built *first; /* most recently used first */
    uint32_t count;
} ls__built_list;

/* The thread that optimises quick programs, and those that wait for it (tier.c). */
typedef struct ls__tiers {
    ls__built *first, *last; /* a reference each */
    pthread_t thread;
    bool runs, stops;
} ls__tiers;

struct ls_device {
    const ls__backend *backend;
    ls__backend_emit *emit;
    uint32_t code_version; /* of the emitter */
    const char *compiler;  /* that the emitter uses; "" = none */
    bool watches;          /* programs are built to report accesses out of range */
    ls__kept code_cache;   /* dir NULL: none */
    char *cache_path;      /* of it; NULL: none */
    ls__backend_device *handle;
    uint64_t number;
    char name[64], description[128]; /* as listed */
    ls_caps caps;
    ls__budget budget;
    _Atomic uint64_t counters[LS__COUNTER_COUNT];
    _Atomic uint64_t objects; /* public handles that keep the device open */
    atomic_bool lost;
    uint64_t spin_ns;      /* a thread that waits looks so long before it sleeps */
    _Atomic uint32_t ends; /* of jobs and submissions, so that waiting threads can look at it
                              without the lock */
    pthread_t conductor;   /* runs what nobody else does (conductor.c) */
    bool watched; /* the conductor's: a hung thread of a fallback device may still report here */

    ls__probe *probe; /* what is known of its operations (probe.h); NULL: trusted */

    pthread_mutex_t build_lock;
    pthread_cond_t built_changed;
    /* under `build_lock` */
    ls__built_list built; /* the program cache */
    ls__tiers tiers;

    pthread_mutex_t lock;
    pthread_cond_t changed, work;
    /* under `lock` */
    ls__submission *first, *last; /* pending submissions in order */
    bool occupied;                /* a thread runs the first one, or publishes its end */
    ls__submission *limited;      /* a waiting thread runs it; the conductor watches its limit */
    uint64_t conductor_until;     /* how long the conductor sleeps if nobody wakes it; 0: it is
                                     awake */
    bool waited_soon;             /* a thread began to wait right after a submission */
    uint64_t last_enqueued_ns;
    uint64_t next_sequence;
    uint64_t last_mark; /* of the hazard checks */
    bool stopping;
    ls_error lost_error;        /* why, once lost */
    ls__allocation *quarantine; /* kept for good */
    ls__trace *trace;           /* NULL = none */
    ls__pool pool;
    ls__submission *abandoned; /* a hung thread of this device may still look at them */
    uint32_t finishing;        /* submissions being finished by others than the conductor */
    ls_device *next_kept;      /* list of devices that were closed but not freed */
};

/* The device that a name means, NULL: that is preferred; it may be one that cannot be used
 * (select.c). LS_E_NOT_FOUND, LS_E_STATE: the error lists all names. */
ls_status ls__device_choose(const char *name, const ls__registry_entry **entry,
                            ls_device_info *info, ls_error *error);
/* Looks at `ends` until it is not `seen`, or until the deadline; not under the lock. */
void ls__device_spin(ls_device *device, uint32_t seen, uint64_t deadline_ns);
void ls__device_count(ls_device *device, ls__counter counter, uint64_t amount);
/* Marks the device lost; the first error is kept. Takes the lock. */
void ls__device_lose(ls_device *device, const ls_error *error);
/* LS_OK, or LS_E_INDETERMINATE with why the device was lost. */
ls_status ls__device_check(ls_device *device, ls_error *error);
/* LS_OK when both are one, else LS_E_FOREIGN saying that `what` belongs to another device. */
ls_status ls__device_match(const ls_device *device, const ls_device *other, const char *what,
                           ls_error *error);

/* --- memory (buffer.c) ------------------------------------------------------------------------ */
struct ls__allocation {
    ls_device *device;
    _Atomic uint32_t refs;
    ls__backend_memory *memory;
    uint64_t size;
    uint64_t charged; /* to the budget; 0 for imports */
    uint8_t *host;    /* imports: the caller's memory, else NULL */
    bool read_only;   /* imports */
    uint32_t usage;   /* LS_USAGE_* */
    ls_mem element;
    char label[48]; /* for messages */
    /* under the device's lock */
    uint32_t pending; /* submissions that use it and have not ended */
    bool mapped;
    bool quarantined;
    ls__allocation *next_quarantined;
};

struct ls_buffer {
    ls__allocation *allocation;
    /* the map; belongs to the thread that mapped */
    void *mapped_memory;
    ls__span mapped;
    uint32_t mapped_access;
    bool staged;
};

/* Memory charged to the budget that core itself uses (scratch, copies for a fallback). One
 * reference. */
ls_status ls__allocation_create(ls_device *device, uint64_t size, const char *label,
                                ls__allocation **allocation, ls_error *error);
void ls__allocation_retain(ls__allocation *allocation);
void ls__allocation_release(ls__allocation *allocation); /* accepts NULL */
/* Under the lock of its device: never freed or reused from now on. */
void ls__allocation_quarantine(ls__allocation *allocation);

/* A public range to bytes of its buffer: bounds, overflow, usage, LS_WHOLE. `role` names it in
 * messages. */
ls_status ls__range_resolve(const ls_device *device, const ls_range *range, uint32_t usage,
                            bool write, const char *role, uint64_t *size, ls_error *error);
/* Whether bytes of type `element` may move to or from the buffer at this place. */
ls_status ls__range_check_element(const ls__allocation *allocation, uint64_t offset, uint64_t size,
                                  ls_mem element, const char *role, ls_error *error);

/* --- modules (module.c, facts.c) -------------------------------------------------------------- */
typedef struct ls__origin ls__origin;
typedef struct ls__facts ls__facts;
struct ls_module {
    _Atomic uint32_t refs;
    const ls__ir_module *signature; /* its kernels: the IR, or functions without bodies */
    ls__facts *facts;               /* of these, where they have no bodies; else NULL */
    _Atomic(ls__ir_module *) ir;    /* NULL: not yet, see ls__module_ir */
    ls__origin *origin;             /* to compile it from then; else NULL */
    ls__digest key;                 /* of what it was compiled from */
    bool has_key;
    char *entry; /* for the cache on disk, under entry_key; NULL: is there, or there is no cache */
    size_t entry_size;
    ls__digest entry_key;
};
/* Takes the IR over, also on failure. */
ls_status ls__module_wrap(ls__ir_module *ir, ls_module **module, ls_error *error);
/* Of what the cache knows; takes all of it over on success. */
ls_status ls__module_wrap_found(ls__ir_module *signature, ls__facts *facts, ls__origin *origin,
                                ls_module **module, ls_error *error);
/* The IR; compiles it where that was not done yet. */
ls_status ls__module_ir(ls_module *module, const ls__ir_module **ir, ls_error *error);
void ls__module_retain(ls_module *module);
void ls__module_release(ls_module *module); /* accepts NULL */
/* A copy of the IR for changing; no passes run yet. */
ls_status ls__module_copy_ir(const ls_module *module, ls__ir_module **ir, ls_error *error);
/* Kernels in order of the module. */
const ls__ir_function *ls__module_kernel_at(const ls__ir_module *ir, uint32_t index);
uint32_t ls__module_kernel_count(const ls__ir_module *ir);
/* LS_E_NOT_FOUND lists the kernels there are. */
ls_status ls__module_kernel_find(const ls__ir_module *ir, const char *name,
                                 const ls__ir_function **kernel, ls_error *error);
ls_status ls__kernel_describe(const ls_module *module, const ls__ir_function *kernel,
                              ls_kernel_info *info, ls_error *error);
void ls__kernel_param(const ls__ir_param *param, ls_param_info *info);
/* LS__LOWER_* bits from names ("fma,div", "lower_fma", "all"); NULL = none (lower.c). */
ls_status ls__lower_parse(const char *names, uint32_t *mask, ls_error *error);
/* Splits the kernels at grid barriers when options->lower asks for it, then runs the passes.
 * `splits` has room for one entry a kernel in order; kernels without grid barriers get
 * segment_count 0. */
struct ls__pass_options;
struct ls__pass_split;
ls_status ls__lower_run(ls__ir_module *ir, const struct ls__pass_options *options,
                        struct ls__pass_split *splits, ls_error *error);

/* What a kernel needs of a device. */
struct ls__facts {
    uint32_t lanes, shared_bytes, buffers, scalar_bytes, local_bytes;
    bool f64, atomics64, grid_barrier;
};
ls_status ls__facts_of(const ls__ir_function *kernel, ls__facts *facts, ls_error *error);
/* Of a kernel of module->signature. */
ls_status ls__module_facts(const ls_module *module, const ls__ir_function *kernel, ls__facts *facts,
                           ls_error *error);
/* LS_E_UNSUPPORTED names the limit. `scratch`: one more buffer is allowed, for what the lowering
 * added. */
ls_status ls__facts_check(const ls_device *device, const char *kernel, const ls__facts *facts,
                          bool scratch, ls_error *error);

/* --- programs (program.c, build.c) ------------------------------------------------------------ */
typedef struct ls__built_kernel {
    uint32_t first;         /* in `kernels`: the kernel itself, or its first segment */
    uint32_t segment_count; /* 0 = not split at grid barriers */
    uint64_t scratch_bytes_per_lane, scratch_bytes_fixed;
} ls__built_kernel;

typedef struct ls__build_options {
    uint32_t lower; /* forced by the caller */
    bool unchecked;
    bool quick; /* its code is no part of what is built, and may be there in both tiers */
    bool whole; /* grid barriers stay: a second form of what is built without this */
    const struct ls__package *package; /* made ahead, only for the call; NULL: made here */
} ls__build_options;

typedef enum ls__tier_state {
    LS__TIER_OPTIMIZED,
    LS__TIER_QUICK,   /* nobody has asked for more */
    LS__TIER_WAITING, /* in the device's queue */
    LS__TIER_RUNNING, /* somebody makes optimised code */
    LS__TIER_FAILED
} ls__tier_state;

/* A module built for the device it runs on; shared by the cache and programs. Both tiers are code
 * of the same lowered IR, so all that is said of kernels goes for both. */
struct ls__built {
    _Atomic uint32_t refs;
    ls_device *device;
    ls__digest key;
    ls__build_options options;    /* as it was built */
    ls_module *source;            /* keeps names alive; the IR itself where nothing was lowered */
    _Atomic(ls__ir_module *) ir;  /* the lowered copy; NULL: the source's, or not yet (`found`) */
    bool found;                   /* in the cache: not lowered; see ls__built_ir */
    ls__digest lowered;           /* of the IR that code is made of, where there is a cache */
    uint32_t site_count;          /* accesses in it that are watched */
    struct ls__probe_set *probed; /* operations it needs; NULL: none, or not known */
    ls__backend_program *quick;   /* NULL: it was optimised from the start */
    _Atomic(ls__backend_program *) optimized; /* NULL: not yet */
    ls__backend_kernel *kernels;
    uint32_t kernel_count;
    ls__built_kernel *entries; /* one a kernel of the source */
    uint32_t entry_count;
    atomic_bool hurried; /* optimised code was made quickly, being too long */
    /* under the device's build_lock */
    ls__built *next, *previous; /* in the device's cache */
    bool cached;                /* is there */
    ls__tier_state tier;
    char failure[256]; /* why optimising failed */
    ls__built *next_waiting;
};

/* What a submission that is made now runs. */
static inline ls__backend_program *ls__built_code(const ls__built *built)
{
    ls__backend_program *optimized = atomic_load(&built->optimized);
    return optimized ? optimized : built->quick;
}

struct ls_kernel {
    ls_program *program;
    const ls__ir_function *function; /* of the source module */
    const ls__built_kernel *entry;
    const ls__built_kernel *whole; /* not split, in program->whole; NULL: no such form */
    ls_kernel_info info;
};

struct ls_program {
    _Atomic uint32_t refs;
    ls_device *device; /* the one it belongs to; built->device is where it runs */
    ls_module *module;
    ls__built *built;
    ls__built *whole; /* with grid barriers kept, for launches that fit; NULL: none */
    ls_kernel *kernels;
    uint32_t kernel_count;
    bool unchecked;
    char *fallback_reason; /* NULL = runs on its own device */
};
void ls__program_retain(ls_program *program);
void ls__program_release(ls_program *program); /* accepts NULL */

/* Builds, or finds in the device's cache. One reference. */
ls_status ls__build(ls_device *device, ls_module *module, const ls__build_options *options,
                    ls__built **built, ls_error *error);
/* The emitter's code, made anew. */
ls_status ls__build_emit(ls_device *device, ls__backend_code *code,
                         const ls__build_options *options, void **bytes, ls_error *error);
/* Has the backend build it, and counts what machine code it found. */
ls_status ls__build_hand_over(ls_device *device, ls__backend_code *code,
                              ls__backend_program **program, ls_error *error);
void ls__built_release(ls__built *built); /* accepts NULL */
/* What its code is made of; lowers it where that was not done yet. */
ls_status ls__built_ir(ls__built *built, const ls__ir_module **ir, ls_error *error);
/* From and to the cache on disk: all that is not code (build_store.c). */
bool ls__built_find(ls__built *built);
void ls__built_keep(const ls__built *built);
void ls__built_clear_cache(ls_device *device);
/* Adds optimised code to what was built quick. `only_found`: LS_E_NOT_FOUND, and nothing happens,
 * unless the cache on disk has it and its operations are known to be right. */
ls_status ls__built_optimize(ls__built *built, bool only_found, ls_error *error);

/* --- tiers (tier.c) --------------------------------------------------------------------------- */
/* Has optimised code made here, or waits for it where somebody makes it. */
ls_status ls__tiers_finish(ls__built *built, ls_error *error);
/* Gives up what waits, waits for what runs. */
void ls__tiers_stop(ls_device *device);

#endif
