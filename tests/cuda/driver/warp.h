/* SPDX-License-Identifier: Apache-2.0 */
/* The state that instructions work on: a warp, its block, its grid. */
#ifndef EMULATED_CUDA_WARP_H
#define EMULATED_CUDA_WARP_H

#include <string.h>
#include "ptx.h"

/* Special registers, each an array over the lanes: 32 bits, the last ones 64. */
#define SPECIALS(X)                                                                                \
    X(TID_X, "%tid.x")                                                                             \
    X(TID_Y, "%tid.y")                                                                             \
    X(TID_Z, "%tid.z")                                                                             \
    X(NTID_X, "%ntid.x")                                                                           \
    X(NTID_Y, "%ntid.y")                                                                           \
    X(NTID_Z, "%ntid.z")                                                                           \
    X(CTAID_X, "%ctaid.x")                                                                         \
    X(CTAID_Y, "%ctaid.y")                                                                         \
    X(CTAID_Z, "%ctaid.z")                                                                         \
    X(NCTAID_X, "%nctaid.x")                                                                       \
    X(NCTAID_Y, "%nctaid.y")                                                                       \
    X(NCTAID_Z, "%nctaid.z")                                                                       \
    X(LANEID, "%laneid")                                                                           \
    X(WARPID, "%warpid")                                                                           \
    X(NWARPID, "%nwarpid")                                                                         \
    X(SMID, "%smid")                                                                               \
    X(NSMID, "%nsmid")                                                                             \
    X(GRIDID, "%gridid")                                                                           \
    X(LANEMASK_EQ, "%lanemask_eq")                                                                 \
    X(LANEMASK_LE, "%lanemask_le")                                                                 \
    X(LANEMASK_LT, "%lanemask_lt")                                                                 \
    X(LANEMASK_GE, "%lanemask_ge")                                                                 \
    X(LANEMASK_GT, "%lanemask_gt")                                                                 \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size")                                                     \
    X(TOTAL_SMEM_SIZE, "%total_smem_size")                                                         \
    X(CLOCK, "%clock")                                                                             \
    X(CLOCK64, "%clock64")                                                                         \
    X(GLOBALTIMER, "%globaltimer")

enum {
#define X(name, text) SPECIAL_##name,
    SPECIALS(X)
#undef X
        SPECIAL_COUNT,
    SPECIAL_WIDE = SPECIAL_CLOCK64
};

/* Where a special register lies in its bank. */
static inline uint32_t special_offset(uint32_t special)
{
    uint32_t wide = special > SPECIAL_WIDE ? special - SPECIAL_WIDE : 0;
    return (special + wide) * 4 * LANES;
}

typedef struct run run; /* a grid that is being run (grid.c) */

enum { BARRIER_SYNC, BARRIER_POPC, BARRIER_AND, BARRIER_OR }; /* instruction.operation */

typedef struct block {
    run *run;
    unsigned char *shared;
    uint64_t shared_bytes;
    warp *warps;
    uint32_t warp_count, thread_count;
    uint32_t live;         /* threads that have not ended */
    uint32_t arrived[16];  /* threads that wait at each barrier */
    uint32_t expected[16]; /* threads it waits for; 0: all that there are */
    uint32_t votes[16];    /* of bar.red */
    uint8_t reduction[16];
    bool done;
} block;

struct warp {
    unsigned char *base[BASE_COUNT];
    uint32_t pc[LANES];
    uint32_t lanes;   /* that there are */
    uint32_t live;    /* that have not ended */
    uint32_t waiting; /* at a barrier or a collective */
    uint32_t barrier; /* those of `waiting` at a barrier */
    uint32_t barrier_pc;
    uint32_t carry; /* CC.CF of each lane */
    uint8_t barrier_id[LANES];
    uint32_t at; /* the instruction that is being run */
    block *block;
    run *run;
    const ptx_range **hints; /* for each memory instruction of this thread, where it last was */
    unsigned char *frames;   /* of the lanes, frame_bytes each */
    uint64_t frame_bytes;
    uint32_t *return_site; /* per function and lane: the call's index in the code */
    uint64_t lane_instructions;
    uint32_t apart; /* instructions run while lanes were at different places */
    uint32_t last_lane;
    bool failed, yields;
    _Alignas(16) unsigned char specials[(SPECIAL_COUNT + 2) * 4 * LANES];
};

struct run {
    const ptx_grid *grid;
    const ptx_program *program;
    ptx_result *result;
    ptx_range shared_range; /* unused bytes; the hints' first value */
    int failed;             /* atomic: the outcome */
};

/* The first fault of a grid counts; `w->at` is the instruction that made it. */
void warp_fault(warp *w, ptx_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Barriers that all living threads have reached let them go (grid.c). */
void block_check_barriers(block *b);

/* Runs lanes until all wait or are at their end, or for about `budget` instructions. True if any
 * instruction was run. */
bool warp_run(warp *w, uint32_t budget);

static inline void *source(const warp *w, operand o)
{
    return w->base[o.base] + o.offset;
}

static inline uint32_t predicate(const warp *w, operand o)
{
    uint32_t mask;
    memcpy(&mask, source(w, o), sizeof mask);
    return o.negated ? ~mask : mask;
}

static inline void put_predicate(warp *w, operand o, uint32_t mask, uint32_t value)
{
    uint32_t *to = source(w, o);
    *to = (*to & ~mask) | (value & mask);
}

#define DEFINE_PUT(bits)                                                                           \
    static inline void put##bits(warp *w, operand o, uint32_t mask, const uint##bits##_t *value)   \
    {                                                                                              \
        uint##bits##_t *to = source(w, o);                                                         \
        if (mask == UINT32_MAX) {                                                                  \
            memmove(to, value, LANES * sizeof *to);                                                \
            return;                                                                                \
        }                                                                                          \
        for (int i = 0; i < LANES; i++)                                                            \
            if (mask >> i & 1)                                                                     \
                to[i] = value[i];                                                                  \
    }
DEFINE_PUT(16)
DEFINE_PUT(32)
DEFINE_PUT(64)

/* An integer register of any width, for what runs lane by lane. */
static inline uint64_t get_lane(const warp *w, operand o, int lane)
{
    const unsigned char *at = source(w, o);
    switch (o.width) {
    case 2:
        return ((const uint16_t *)(const void *)at)[lane];
    case 4:
        return ((const uint32_t *)(const void *)at)[lane];
    default:
        return ((const uint64_t *)(const void *)at)[lane];
    }
}

static inline void put_lane(warp *w, operand o, int lane, uint64_t value)
{
    unsigned char *at = source(w, o);
    switch (o.width) {
    case 0:
        break; /* _ */
    case 2:
        ((uint16_t *)(void *)at)[lane] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)(void *)at)[lane] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)(void *)at)[lane] = value;
    }
}

/* --- what the tables of instructions hold -------------------------------------------------------
 */
/* The mnemonic as it is spelled, without what does not change the result; the widths of its
 * operands, destination first: 1 predicate, 2, 4, 8 bytes. */
typedef struct form {
    const char *mnemonic;
    executor run;
    const char *widths;
} form;

extern const form integer_forms[], carry_forms[], bit_forms[], float_forms[], rounded_forms[];

enum compare {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_EQU,
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM,
    COMPARE_NAN
};

/* compare.c: setp and set for the type of the comparison; NULL when there is none. */
executor setp_executor(unsigned type);
executor set_executor(unsigned type);
/* convert.c */
executor convert_executor(const instruction *in);
float small_to_float(uint64_t bits, unsigned type);
/* memory.c */
void run_load(warp *w, const instruction *in, uint32_t mask);
void run_load_4(warp *w, const instruction *in, uint32_t mask);
void run_load_8(warp *w, const instruction *in, uint32_t mask);
void run_store(warp *w, const instruction *in, uint32_t mask);
void run_store_4(warp *w, const instruction *in, uint32_t mask);
void run_store_8(warp *w, const instruction *in, uint32_t mask);
void run_load_param(warp *w, const instruction *in, uint32_t mask);
void run_convert_address(warp *w, const instruction *in, uint32_t mask);
void run_is_space(warp *w, const instruction *in, uint32_t mask);
void run_fence(warp *w, const instruction *in, uint32_t mask);
unsigned char *warp_address(warp *w, const instruction *in, int lane, uint64_t address,
                            unsigned size);
/* atomic.c */
void run_atomic(warp *w, const instruction *in, uint32_t mask);
/* collective.c: shuffles, votes; each runs for the lanes of one mask */
void run_shuffle(warp *w, const instruction *in, uint32_t mask);
void run_vote(warp *w, const instruction *in, uint32_t mask);
void run_match(warp *w, const instruction *in, uint32_t mask);
void run_reduce(warp *w, const instruction *in, uint32_t mask);
void run_warp_barrier(warp *w, const instruction *in, uint32_t mask);
void run_active_mask(warp *w, const instruction *in, uint32_t mask);
/* move.c */
void run_trap(warp *w, const instruction *in, uint32_t mask);
void run_nothing(warp *w, const instruction *in, uint32_t mask);
void run_clock(warp *w, const instruction *in, uint32_t mask);
void run_pack(warp *w, const instruction *in, uint32_t mask);
void run_unpack(warp *w, const instruction *in, uint32_t mask);
executor move_executor(unsigned width);

#endif
