/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How PTX kernels are packed, called and stopped: shared by the emitter, which spells these layouts
 * in PTX, and by device/cuda, which fills them in. All numbers are little-endian.
 *
 * The emitter's output is a container: one ls__ptx_header, then kernel_count ls__ptx_kernel, then
 * one PTX module as text with a 0 behind it. `ls__ptx_read` checks it. The module has an entry
 * ls_kernel_N for each kernel, N being its ls_function.id; its tables are constants of the module.
 *
 * An entry has one parameter, a struct by value, aligned to 16 (parameter_bytes in all):
 *     ls__ptx_call     the launch
 *     ls__ptx_buffer   for each buffer, by its index
 *     the scalar block of the kernel (scalar_bytes bytes)
 * A bound range may start at any multiple of its elements' alignment. What is out of bounds is not
 * accessed at all.
 *
 * Large launches are cut into grids by workgroup_base: CUDA's grid is the part's size, the
 * workgroup is base + ctaid. Parts of one launch cover boxes of ascending linear workgroups (x
 * fastest), so cut in z, then in y where z is one, then in x. The block is the kernel's workgroup
 * as (lanes, 1, 1): lanes are counted by %tid.x, so that a warp is 32 lanes of ascending linear
 * local id.
 *
 * Traps. Each grid has a sequence number, ascending from 1 in the order of execution;
 * first_sequence is that of the first grid of the same launch. A lane's first trap in a launch sets
 * ls__ptx_status.trap_sequence to its sequence if that is 0, and, if it is its own then, lowers
 * status.trap to ls__ptx_trap_key of its workgroup in the grid, its lane and its code: so the
 * lowest (workgroup, lane) of the first grid that trapped stays. A grid whose first_sequence is
 * above trap_sequence, where that is not 0, does nothing. A kernel that may trap (LS__PTX_MAY_TRAP)
 * has at most LS__PTX_MAX_TRAP_GROUPS workgroups in a grid. Copies and fills that follow it cannot
 * know of a trap: the device sees to that.
 *
 * Cancelling. Every kernel looks at `cancel` when a workgroup starts, and now and then in loops
 * without a constant bound. When it is not 0, the workgroup ends early and sets `stopped`. Work
 * that `stopped` does not tell of was done whole.
 *
 * Grid barriers. A kernel with LS__PTX_GRID_BARRIER is launched cooperatively, as one grid,
 * `barrier` being the address of a u32 that is 0 before the launch.
 */
#ifndef LS_EMIT_PTX_ABI_H
#define LS_EMIT_PTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "lockstep/base.h"

/* --- the container ---------------------------------------------------------------------------- */
enum {
    LS__PTX_MAGIC = 0x5450534c, /* "LSPT" */
    LS__PTX_ABI_VERSION = 1,
    LS__PTX_MAX_BUFFERS = 64,
    LS__PTX_MAX_PARAMETER_BYTES = 4096,  /* what CUDA takes */
    LS__PTX_MAX_SHARED_BYTES = 48 << 10, /* static; workgroup_uniform takes 8 of it */
    LS__PTX_MAX_TRAP_GROUPS = 1 << 21
};

#define LS__PTX_KERNEL_SYMBOL "ls_kernel_"

typedef struct ls__ptx_header {
    uint32_t magic, version;
    uint32_t kernel_count;
    uint32_t architecture;           /* 75: the module is for sm_75 and later */
    uint64_t size;                   /* of the container */
    uint64_t text_offset, text_size; /* of the module, without the 0 behind it */
    uint64_t reserved;
} ls__ptx_header;

enum { /* ls__ptx_kernel.flags */
       LS__PTX_MAY_TRAP = 1,
       LS__PTX_POLLS = 2,        /* has loops that look at `cancel` */
       LS__PTX_BARRIERS = 4,     /* lanes of a workgroup wait for each other */
       LS__PTX_GRID_BARRIER = 8, /* workgroups wait for each other */
       LS__PTX_ATOMICS = 16,
       LS__PTX_FLAGS = 31
};

typedef struct ls__ptx_kernel {
    uint32_t function; /* ls_function.id in the IR module */
    uint32_t workgroup[3];
    uint32_t flags;
    uint32_t shared_bytes; /* static shared memory of the entry */
    uint32_t buffer_count, scalar_bytes;
    uint32_t parameter_bytes; /* sizeof(ls__ptx_call) + buffers + scalars */
    uint32_t reserved;
} ls__ptx_kernel;

/* A container that has been checked; points into its bytes. */
typedef struct ls__ptx_view {
    const ls__ptx_kernel *kernels;
    uint32_t kernel_count;
    uint32_t architecture;
    const char *text; /* ends with 0 */
    uint64_t text_size;
} ls__ptx_view;

/* Checks everything that is said of places and sizes. `bytes` aligned to 8. LS_E_FORMAT says what
 * is wrong and where. */
ls_status ls__ptx_read(const void *bytes, size_t size, ls__ptx_view *view, ls_error *error);

/* --- the call --------------------------------------------------------------------------------- */
typedef struct ls__ptx_buffer {
    uint64_t address, range; /* bytes bound */
} ls__ptx_buffer;

typedef struct ls__ptx_call {
    uint64_t status; /* address of the ls__ptx_status */
    /* 0; or, of an indirect dispatch, the address of an ls__ptx_sizes that counts instead of
     * global_size and workgroup_count: workgroups outside of it do nothing. */
    uint64_t sizes;
    uint64_t barrier;            /* see above; 0 without */
    uint32_t global_size[3];     /* lanes asked for, of the whole launch */
    uint32_t workgroup_count[3]; /* of the whole launch */
    uint32_t workgroup_base[3];  /* first workgroup of this grid */
    uint32_t iteration;
    uint32_t sequence, first_sequence; /* see above */
    uint32_t reserved[6];
} ls__ptx_call;

typedef struct ls__ptx_sizes {
    uint32_t global_size[3], workgroup_count[3];
} ls__ptx_sizes;

/* Before a job all 0, but `trap`, which is UINT64_MAX. In memory of the device, aligned to 16. */
typedef struct ls__ptx_status {
    uint32_t cancel;        /* the host's: not 0 = stop */
    uint32_t stopped;       /* not 0: work was left undone */
    uint32_t trap_sequence; /* 0: none trapped */
    uint32_t reserved;
    uint64_t trap;
    uint64_t reserved2;
} ls__ptx_status;

/* workgroup: linear in the grid; lane: linear local id. */
static inline uint64_t ls__ptx_trap_key(uint32_t workgroup, uint32_t lane, uint32_t code)
{
    return (uint64_t)workgroup << 42 | (uint64_t)lane << 32 | code;
}

_Static_assert(sizeof(ls__ptx_header) == 48 && offsetof(ls__ptx_header, size) == 16,
               "stored in caches");
_Static_assert(sizeof(ls__ptx_kernel) == 40 && offsetof(ls__ptx_kernel, flags) == 16,
               "stored in caches");
_Static_assert(sizeof(ls__ptx_buffer) == 16, "kernels read this");
_Static_assert(sizeof(ls__ptx_call) == 96 && offsetof(ls__ptx_call, sizes) == 8 &&
                   offsetof(ls__ptx_call, barrier) == 16 &&
                   offsetof(ls__ptx_call, global_size) == 24 &&
                   offsetof(ls__ptx_call, workgroup_count) == 36 &&
                   offsetof(ls__ptx_call, workgroup_base) == 48 &&
                   offsetof(ls__ptx_call, iteration) == 60 &&
                   offsetof(ls__ptx_call, sequence) == 64 &&
                   offsetof(ls__ptx_call, first_sequence) == 68,
               "kernels read these");
_Static_assert(sizeof(ls__ptx_sizes) == 24 && offsetof(ls__ptx_sizes, workgroup_count) == 12,
               "kernels read this");
_Static_assert(sizeof(ls__ptx_status) == 32 && offsetof(ls__ptx_status, stopped) == 4 &&
                   offsetof(ls__ptx_status, trap_sequence) == 8 &&
                   offsetof(ls__ptx_status, trap) == 16,
               "kernels read and write these");

#endif
