/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How compiled kernels are called: shared by the code generator (which spells these layouts in LLVM
 * types) and by device/cpu (which fills them in). The same for both tiers, both modes and all
 * feature levels, so objects may be exchanged between submissions.
 *
 * An object exports for each kernel, by its ls_function.id N, the function ls_kernel_N of type
 * ls__cpu_kernel and the table ls_kernel_info_N of type ls__cpu_kernel_info.
 */
#ifndef LS_EMIT_LLVM_ABI_H
#define LS_EMIT_LLVM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LS__CPU_KERNEL_SYMBOL "ls_kernel_"
#define LS__CPU_INFO_SYMBOL "ls_kernel_info_"

/* The first trap of the lowest (workgroup, lane) so far. One for each thread; the caller merges. */
typedef struct ls__cpu_trap {
    uint64_t workgroup; /* linear, x fastest */
    uint32_t lane;      /* linear local id */
    uint32_t code;
    uint32_t trapped; /* 0 or 1 */
    uint32_t reserved;
} ls__cpu_trap;

typedef struct ls__cpu_args ls__cpu_args;

/* A number for each lane of a strand: lane l has first + l * step, or list[l] when the step is
 * LS__CPU_LISTED. */
typedef struct ls__cpu_by_lane {
    int64_t first, step;
    int64_t list[32];
} ls__cpu_by_lane;

#define LS__CPU_LISTED INT64_MIN

/* An access of one strand that some lane may make out of range; only of accesses that are sites
 * (ls__ir_site). */
typedef struct ls__cpu_outside {
    uint64_t workgroup;  /* linear */
    const uint8_t *base; /* of the object; of a buffer the start of its bound range */
    uint64_t limit;      /* offsets from here on, as unsigned numbers, are out of range */
    uint32_t site;       /* its number */
    uint32_t first_lane; /* linear local id of lane 0 of the strand */
    uint32_t lanes;      /* bit l: lane first_lane + l makes the access; never 0 */
    uint32_t reserved;
    ls__cpu_by_lane offset;
    ls__cpu_by_lane subscript; /* where the offset is LS_NOWHERE: what made it so, or LS_NOWHERE
                                  when that is not known */
} ls__cpu_outside;

/* May be called from several threads at once. */
typedef void ls__cpu_on_outside(const ls__cpu_args *args, const ls__cpu_outside *outside);

struct ls__cpu_args {
    uint8_t *const *buffers; /* start of each bound range, by buffer index */
    const uint64_t *ranges;  /* size of each in bytes */
    const uint8_t *scalars;  /* the scalar block */
    const int *cancel;       /* nonzero: stop; never NULL */
    ls__cpu_trap *trap;
    uint32_t global_size[3];     /* lanes asked for */
    uint32_t workgroup_count[3]; /* product below 2^63 */
    uint32_t iteration;
    uint32_t reserved;
    ls__cpu_on_outside *on_outside; /* NULL only when the module has no sites */
    void *context;                  /* of the caller */
};

/* Runs workgroups [first, first + count), ascending, in linear order with x fastest. Returns 0, or
 * 1 when it stopped because of *args->cancel. `scratch`: ls__cpu_kernel_info.scratch_bytes bytes,
 * aligned to LS__CPU_SCRATCH_ALIGNMENT, of this thread alone; need not be cleared. Runs under the
 * default floating-point environment, which the caller sees to. */
typedef int ls__cpu_kernel(const ls__cpu_args *args, uint64_t first, uint64_t count,
                           uint8_t *scratch);

enum { LS__CPU_SCRATCH_ALIGNMENT = 64 };

typedef struct ls__cpu_kernel_info {
    uint64_t scratch_bytes;
    uint32_t width;   /* lanes that run together as a vector; 1 = scalar code */
    uint32_t hurried; /* 1: made as quick code is, though it was to be optimised: a function of the
                         program is too long */
} ls__cpu_kernel_info;

_Static_assert(sizeof(void *) == 8, "the code generator serves 64-bit machines");
_Static_assert(sizeof(ls__cpu_trap) == 24 && offsetof(ls__cpu_trap, lane) == 8 &&
                   offsetof(ls__cpu_trap, code) == 12 && offsetof(ls__cpu_trap, trapped) == 16,
               "generated code writes these fields");
_Static_assert(offsetof(ls__cpu_args, ranges) == 8 && offsetof(ls__cpu_args, scalars) == 16 &&
                   offsetof(ls__cpu_args, cancel) == 24 && offsetof(ls__cpu_args, trap) == 32 &&
                   offsetof(ls__cpu_args, global_size) == 40 &&
                   offsetof(ls__cpu_args, workgroup_count) == 52 &&
                   offsetof(ls__cpu_args, iteration) == 64 &&
                   offsetof(ls__cpu_args, on_outside) == 72,
               "generated code reads these fields");
_Static_assert(offsetof(ls__cpu_outside, base) == 8 && offsetof(ls__cpu_outside, limit) == 16 &&
                   offsetof(ls__cpu_outside, site) == 24 &&
                   offsetof(ls__cpu_outside, first_lane) == 28 &&
                   offsetof(ls__cpu_outside, lanes) == 32 &&
                   offsetof(ls__cpu_outside, offset) == 40 &&
                   offsetof(ls__cpu_outside, subscript) == 312 && sizeof(ls__cpu_by_lane) == 272,
               "generated code writes these fields");
_Static_assert(sizeof(ls__cpu_kernel_info) == 16, "objects carry it as two 64-bit words");

#endif
