/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How SPIR-V kernels are packed, called and stopped: shared by the emitter, which spells these
 * layouts in SPIR-V types, and by device/vulkan, which fills them in. All numbers are
 * little-endian.
 *
 * The emitter's output is a container: one ls__spirv_header, then kernel_count ls__spirv_kernel,
 * then the modules, then the constant tables of the program. `ls__spirv_read` checks it.
 *
 * There are no descriptors. Everything is reached through buffer device addresses: the push
 * constants (ls__spirv_push) hold the addresses of
 *   - the argument block: for each buffer, by its index, an ls__spirv_buffer; then the scalar block
 *     of the kernel (scalar_bytes bytes). Aligned to 16.
 *   - the status block, an ls__spirv_status, which the host sees. Aligned to 16.
 *   - the tables: the program's table_size bytes, aligned to 16, read only.
 * A bound range may start at any multiple of its elements' alignment. Behind the start of each,
 * also of an empty one, there must be 8 bytes that the kernel may read: what is out of bounds reads
 * there and drops it.
 *
 * Large launches are cut into dispatches by workgroup_base. Those of one launch cover boxes of
 * ascending linear workgroups (x fastest), so cut in z, then in y where z is one, then in x.
 *
 * Traps. Each dispatch has a sequence number, ascending from 1 in the order of execution;
 * first_sequence is that of the first dispatch of the same launch. A kernel that may trap
 * (LS__SPIRV_MAY_TRAP) must be separated by a barrier from the dispatches before and after it,
 * those of its own launch included, and has at most trap_slot_count workgroups in a dispatch. What
 * is left behind: trap_sequence, the first dispatch that trapped; trap_group, its lowest workgroup
 * that did, linear in the dispatch's own size; and in slot [trap_group] that workgroup's lowest
 * lane, and the code of its first trap. No other slot means anything. So of one launch the lowest
 * (workgroup, lane) is reported without 64-bit atomics. Workgroups of a later launch, those whose
 * first_sequence is above trap_sequence, do nothing; copies and fills that follow cannot know, so
 * the device splits its submission before them, or makes them by kernels.
 *
 * Cancelling. Every kernel looks at `cancel` when a workgroup starts, and now and then in loops
 * without a constant bound (LS__SPIRV_POLLS says that it has some). When it is not 0, the workgroup
 * ends early and sets LS__SPIRV_STOPPED_CANCEL in `stopped`. Work that `stopped` does not tell of
 * was done whole.
 *
 * LS__SPIRV_STOPPED_LOOPS in `stopped` says that the driver has ended loops which were to go on
 * (llvmpipe.c): what the kernel left behind is wrong.
 */
#ifndef LS_EMIT_SPIRV_ABI_H
#define LS_EMIT_SPIRV_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "lockstep/base.h"

/* --- the container ---------------------------------------------------------------------------- */
enum {
    LS__SPIRV_MAGIC = 0x5650534c, /* "LSPV" */
    LS__SPIRV_ABI_VERSION = 1,
    LS__SPIRV_MAX_BUFFERS = 64,
    LS__SPIRV_ALIGNMENT = 16 /* of modules and tables in the container, of the blocks above */
};

typedef struct ls__spirv_header {
    uint32_t magic, version;
    uint32_t kernel_count;
    uint32_t reserved;
    uint64_t size;                     /* of the container */
    uint64_t table_offset, table_size; /* offset 0 and size 0 without tables */
    uint64_t reserved2;
} ls__spirv_header;

enum { /* ls__spirv_kernel.flags */
       LS__SPIRV_MAY_TRAP = 1,
       LS__SPIRV_POLLS = 2,    /* has loops that look at `cancel` */
       LS__SPIRV_BARRIERS = 4, /* lanes of a workgroup wait for each other */
       LS__SPIRV_F64 = 8,
       LS__SPIRV_ATOMICS = 16,
       LS__SPIRV_ATOMICS64 = 32,        /* shaderBufferInt64Atomics */
       LS__SPIRV_SHARED_ATOMICS64 = 64, /* shaderSharedInt64Atomics */
       LS__SPIRV_SUBGROUPS = 128,       /* needs full subgroups of 32 lanes, in linear order */
       LS__SPIRV_FLAGS = 255
};

/* The module has one entry point, "main", whose workgroup is a literal. */
typedef struct ls__spirv_kernel {
    uint32_t function; /* ls_function.id in the IR module */
    uint32_t workgroup[3];
    uint32_t flags;
    uint32_t shared_bytes; /* workgroup memory of the module, the emitter's own included */
    uint32_t buffer_count, scalar_bytes;
    uint64_t offset; /* of the module in the container */
    uint32_t word_count;
    uint32_t reserved;
} ls__spirv_kernel;

/* A container that has been checked; points into its bytes. */
typedef struct ls__spirv_view {
    const ls__spirv_kernel *kernels;
    uint32_t kernel_count;
    const uint8_t *tables;
    uint64_t table_size; /* 0: there are none */
} ls__spirv_view;

/* Checks everything that is said of places and sizes, and that each module starts like one.
 * `bytes` aligned to 8. LS_E_FORMAT says what is wrong and where. */
ls_status ls__spirv_read(const void *bytes, size_t size, ls__spirv_view *view, ls_error *error);
/* The words of a kernel's module. */
static inline const uint32_t *ls__spirv_words(const void *bytes, const ls__spirv_kernel *kernel)
{
    return (const uint32_t *)(const void *)((const uint8_t *)bytes + kernel->offset);
}

/* --- the call --------------------------------------------------------------------------------- */
typedef struct ls__spirv_buffer {
    uint64_t address, range; /* bytes bound */
} ls__spirv_buffer;

/* The push constants, from offset 0, for the compute stage. */
typedef struct ls__spirv_push {
    uint64_t arguments, status, tables;
    /* 0; or, of an indirect dispatch, the address of an ls__spirv_sizes that counts instead of the
     * two below. */
    uint64_t sizes;
    uint32_t global_size[3];     /* lanes asked for, of the whole launch */
    uint32_t workgroup_count[3]; /* of the whole launch */
    uint32_t workgroup_base[3];  /* first workgroup of this dispatch */
    uint32_t iteration;
    uint32_t sequence, first_sequence; /* see above */
    uint32_t zero;                     /* 0. Constants that drivers fold wrongly are made from it */
    uint32_t reserved;
} ls__spirv_push;

typedef struct ls__spirv_sizes {
    uint32_t global_size[3], workgroup_count[3];
} ls__spirv_sizes;

enum { LS__SPIRV_STOPPED_CANCEL = 1, LS__SPIRV_STOPPED_LOOPS = 2 }; /* status.stopped */

typedef struct ls__spirv_trap_slot {
    uint32_t lane; /* linear local id */
    uint32_t code;
} ls__spirv_trap_slot;

/* Before a job: all 0, but the two that say UINT32_MAX, and the slots. */
typedef struct ls__spirv_status {
    uint32_t cancel;        /* the host's: not 0 = stop */
    uint32_t stopped;       /* not 0: work was left undone */
    uint32_t trap_sequence; /* UINT32_MAX: none trapped */
    uint32_t trap_group;    /* UINT32_MAX at first */
    uint64_t trap_slots;    /* address of ls__spirv_trap_slot[trap_slot_count]; need not be clear */
    uint32_t trap_slot_count;
    uint32_t reserved;
} ls__spirv_status;

_Static_assert(sizeof(ls__spirv_header) == 48 && offsetof(ls__spirv_header, size) == 16 &&
                   offsetof(ls__spirv_header, table_size) == 32,
               "stored in caches");
_Static_assert(sizeof(ls__spirv_kernel) == 48 && offsetof(ls__spirv_kernel, flags) == 16 &&
                   offsetof(ls__spirv_kernel, offset) == 32 &&
                   offsetof(ls__spirv_kernel, word_count) == 40,
               "stored in caches");
_Static_assert(sizeof(ls__spirv_buffer) == 16, "kernels read this");
_Static_assert(sizeof(ls__spirv_push) == 88 && offsetof(ls__spirv_push, sizes) == 24 &&
                   offsetof(ls__spirv_push, global_size) == 32 &&
                   offsetof(ls__spirv_push, workgroup_count) == 44 &&
                   offsetof(ls__spirv_push, workgroup_base) == 56 &&
                   offsetof(ls__spirv_push, iteration) == 68 &&
                   offsetof(ls__spirv_push, sequence) == 72 &&
                   offsetof(ls__spirv_push, first_sequence) == 76 &&
                   offsetof(ls__spirv_push, zero) == 80,
               "kernels read these; Vulkan guarantees 128 bytes");
_Static_assert(sizeof(ls__spirv_sizes) == 24 && offsetof(ls__spirv_sizes, workgroup_count) == 12,
               "kernels read this");
_Static_assert(sizeof(ls__spirv_trap_slot) == 8 && offsetof(ls__spirv_trap_slot, code) == 4,
               "kernels write this");
_Static_assert(sizeof(ls__spirv_status) == 32 && offsetof(ls__spirv_status, stopped) == 4 &&
                   offsetof(ls__spirv_status, trap_sequence) == 8 &&
                   offsetof(ls__spirv_status, trap_group) == 12 &&
                   offsetof(ls__spirv_status, trap_slots) == 16,
               "kernels read and write these");

#endif
