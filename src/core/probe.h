/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bring-up probe: before a device runs a pure operation for the first time, it computes it over
 * edge cases and random operands, and the results are compared with ls__ir_eval. What is wrong is
 * lowered in software from then on, or programs that need it are refused.
 */
#ifndef LS_CORE_PROBE_H
#define LS_CORE_PROBE_H

#include "core/core.h"

enum { LS__PROBE_MAX_ROWS = 1024 };

typedef enum ls__probe_verdict {
    LS__PROBE_RIGHT,
    LS__PROBE_LOWERED, /* wrong, right when lowered */
    LS__PROBE_WRONG    /* and nothing helps */
} ls__probe_verdict;

/* An operation and its types; `bits` of f2s and f2u. Quick code is other code. */
typedef struct ls__probe_key {
    uint8_t op, type, result, bits, quick;
} ls__probe_key;

typedef struct ls__probe_row {
    ls__probe_key key;
    uint8_t verdict;
} ls__probe_row;

/* What a device is known to do; under the device's build_lock but for `lower`. */
struct ls__probe {
    _Atomic uint32_t lower; /* LS__LOWER_*: found necessary so far; only grows */
    uint32_t count;
    ls__probe_row rows[LS__PROBE_MAX_ROWS];
};

/* Operations of a program. */
typedef struct ls__probe_set {
    uint32_t count;
    ls__probe_key keys[LS__PROBE_MAX_ROWS]; /* `quick` is false */
} ls__probe_set;
/* Of the source, and of what it was lowered to with `lower` (may be NULL). *set stays NULL on a
 * device that is trusted; NULL is any device. ls__mem_free. */
ls_status ls__probe_collect(const ls_device *device, const ls__ir_module *source,
                            const ls__ir_module *lowered, uint32_t lower, ls__probe_set **set,
                            ls_error *error);
/* Sees to it that all of them are known. Afterwards more may have to be lowered. LS_E_UNSUPPORTED
 * names the operation that nothing helps. Blocks: may build and run a program. */
ls_status ls__probe_program(ls_device *device, const ls__probe_set *set, bool quick,
                            ls_error *error);
/* Whether all of them are known already, none is refused, and `lower` is enough. */
bool ls__probe_knows(ls_device *device, const ls__probe_set *set, uint32_t lower, bool quick);

/* Code that was made ahead (package.h) brings its own probe: one program for each chunk of its
 * operations, in their order. `optimize`: as the backend has it. */
enum { LS__PROBE_CHUNK = 32 };
typedef struct ls__code_bytes {
    const void *bytes;
    size_t size;
} ls__code_bytes;
ls_status ls__probe_module(const ls__probe_key *keys, uint32_t count, uint32_t lower, bool optimize,
                           ls__ir_module **module, ls_error *error);
/* LS_E_UNSUPPORTED names an operation that the device computes wrongly with this code. `own`: it is
 * code for the device's own target, and what is found goes for all of that. */
ls_status ls__probe_made(ls_device *device, const ls__probe_set *set, uint32_t lower,
                         const ls__code_bytes *chunks, bool own, ls_error *error);

/* Adds what is known of an operation, unless that is known already. Takes the build_lock. */
void ls__probe_record(ls_device *device, ls__probe_key key, ls__probe_verdict verdict);
/* From and to the device's cache folder, where it has one (probe_store.c). */
void ls__probe_load(ls_device *device);
void ls__probe_save(ls_device *device);

/* LS__LOWER_* that the probe has found necessary so far. */
static inline uint32_t ls__probe_lowering(const ls_device *device)
{
    return device->probe ? atomic_load(&device->probe->lower) : 0;
}

/* Runs one program on the device, outside of its queue and its counters (probe_run.c): `in` is
 * written to buffer 0 of its only kernel, and what `lanes` lanes write to buffer 1 is read back.
 * `made`: its code; NULL: it is made here. */
ls_status ls__probe_run(ls_device *device, const ls__ir_module *module, bool quick,
                        const ls__code_bytes *made, uint32_t lanes, const void *in,
                        uint64_t in_size, void *out, uint64_t out_size, ls_error *error);

#endif
