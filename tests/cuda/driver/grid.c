/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: blocks one after another on a few threads of the host, or, in a cooperative grid, all of
 * them in turns. Frames and shared memory of each block begin as a pattern, so that nobody relies
 * on zeros; registers do so in the first block of a thread of the host. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "warp.h"

enum { SLICE = 20000, PATTERN = 0xcb };

/* What one thread of the host runs blocks with. */
typedef struct worker {
    run *run;
    uint64_t *next; /* atomic, of all workers: the next block's linear index */
    const ptx_range **hints;
    uint64_t lane_instructions;
} worker;

static void *need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static unsigned char *aligned_bytes(uint64_t size)
{
    return need(aligned_alloc(64, (size + 127) / 64 * 64));
}

static uint64_t block_total(const ptx_grid *grid)
{
    return (uint64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
}

/* --- barriers -----------------------------------------------------------------------------------
 */
static void put_reduction(warp *w, uint32_t lanes, uint32_t votes, bool all)
{
    const instruction *in = &w->run->program->code[w->barrier_pc];
    uint32_t counts[LANES];
    for (int i = 0; i < LANES; i++)
        counts[i] = votes;
    if (in->operation == BARRIER_POPC)
        put32(w, in->d, lanes, counts);
    else if (in->operation)
        put_predicate(w, in->d, lanes,
                      (in->operation == BARRIER_AND ? all : votes != 0) ? UINT32_MAX : 0);
}

static void release_barrier(block *b, uint32_t id)
{
    uint32_t votes = b->votes[id];
    bool all = votes == b->arrived[id];
    b->arrived[id] = b->votes[id] = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        uint32_t lanes = 0;
        for (int lane = 0; lane < LANES; lane++)
            if (w->barrier >> lane & 1 && w->barrier_id[lane] == id)
                lanes |= 1u << lane;
        w->barrier &= ~lanes;
        w->waiting &= ~lanes;
        if (lanes)
            put_reduction(w, lanes, votes, all);
    }
}

void block_check_barriers(block *b)
{
    uint32_t waiting = 0;
    for (uint32_t id = 0; id < 16; id++)
        waiting += b->arrived[id];
    for (uint32_t id = 0; waiting && id < 16; id++) {
        /* Threads that have ended are not waited for. */
        uint32_t needed = b->expected[id] && b->expected[id] < b->live ? b->expected[id] : b->live;
        if (b->arrived[id] && b->arrived[id] >= needed)
            release_barrier(b, id);
    }
}

/* --- blocks -------------------------------------------------------------------------------------
 */
static void set_special(warp *w, uint32_t special, uint32_t value)
{
    uint32_t *to = (uint32_t *)(void *)(w->specials + special_offset(special));
    for (int i = 0; i < LANES; i++)
        to[i] = value;
}

static void set_lane_specials(warp *w, const ptx_grid *grid)
{
    uint32_t *to[] = {
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_TID_X)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_TID_Y)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_TID_Z)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEID)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEMASK_EQ)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEMASK_LE)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEMASK_LT)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEMASK_GE)),
        (uint32_t *)(void *)(w->specials + special_offset(SPECIAL_LANEMASK_GT)),
    };
    uint32_t first = (uint32_t)(w - w->block->warps) * LANES;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t thread = first + lane, bit = 1u << lane;
        to[0][lane] = thread % grid->threads[0];
        to[1][lane] = thread / grid->threads[0] % grid->threads[1];
        to[2][lane] = thread / grid->threads[0] / grid->threads[1];
        to[3][lane] = lane;
        to[4][lane] = bit;
        to[5][lane] = bit | (bit - 1);
        to[6][lane] = bit - 1;
        to[7][lane] = ~(bit - 1);
        to[8][lane] = ~(bit - 1) & ~bit;
    }
}

/* What is the same for every block. */
static void set_grid_specials(warp *w, uint32_t index)
{
    const ptx_grid *grid = w->run->grid;
    for (uint32_t i = 0; i < 3; i++) {
        set_special(w, SPECIAL_NTID_X + i, grid->threads[i]);
        set_special(w, SPECIAL_NCTAID_X + i, grid->blocks[i]);
    }
    set_special(w, SPECIAL_WARPID, index);
    set_special(w, SPECIAL_NWARPID, w->block->warp_count);
    set_special(w, SPECIAL_NSMID, grid->processors);
    set_special(w, SPECIAL_DYNAMIC_SMEM_SIZE, grid->dynamic_shared);
    set_special(w, SPECIAL_TOTAL_SMEM_SIZE, (uint32_t)w->block->shared_bytes);
    set_lane_specials(w, grid);
}

static void start_warp(block *b, uint32_t index, const uint32_t *at)
{
    const ptx_grid *grid = b->run->grid;
    const ptx_program *program = b->run->program;
    warp *w = &b->warps[index];
    uint32_t left = b->thread_count - index * LANES;
    w->lanes = w->live = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    w->waiting = w->barrier = 0;
    w->apart = w->last_lane = 0;
    w->failed = false;
    for (int i = 0; i < LANES; i++)
        w->pc[i] = program->first;
    memset(w->frames, PATTERN, w->frame_bytes * LANES);
    for (uint32_t i = 0; i < 3; i++)
        set_special(w, SPECIAL_CTAID_X + i, at[i]);
    set_special(w, SPECIAL_SMID, (at[0] + at[1] + at[2]) % grid->processors);
}

static void create_block(block *b, worker *worker)
{
    const ptx_grid *grid = worker->run->grid;
    const ptx_program *program = worker->run->program;
    b->run = worker->run;
    b->thread_count = grid->threads[0] * grid->threads[1] * grid->threads[2];
    b->warp_count = (b->thread_count + LANES - 1) / LANES;
    b->shared_bytes = program->shared_bytes + grid->dynamic_shared;
    if (grid->dynamic_shared)
        b->shared_bytes += (16 - program->shared_bytes % 16) % 16;
    b->shared = aligned_bytes(b->shared_bytes);
    b->warps = need(calloc(b->warp_count, sizeof *b->warps));
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        w->block = b;
        w->run = worker->run;
        w->hints = worker->hints;
        w->base[BASE_REGISTERS] = aligned_bytes(program->register_bytes);
        w->base[BASE_CONSTANTS] = program->constants;
        w->base[BASE_SPECIALS] = w->specials;
        w->frame_bytes = program->frame_bytes;
        w->frames = aligned_bytes(w->frame_bytes * LANES);
        w->return_site = need(calloc((size_t)program->function_count * LANES, sizeof(uint32_t)));
        memset(w->base[BASE_REGISTERS], PATTERN, program->register_bytes);
        set_grid_specials(w, i);
    }
}

static void destroy_block(block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        free(b->warps[i].base[BASE_REGISTERS]);
        free(b->warps[i].frames);
        free(b->warps[i].return_site);
    }
    free(b->warps);
    free(b->shared);
}

static void start_block(block *b, uint64_t index)
{
    const ptx_grid *grid = b->run->grid;
    if (grid->reverse)
        index = block_total(grid) - 1 - index;
    uint32_t at[3] = {(uint32_t)(index % grid->blocks[0]),
                      (uint32_t)(index / grid->blocks[0] % grid->blocks[1]),
                      (uint32_t)(index / grid->blocks[0] / grid->blocks[1])};
    memset(b->shared, PATTERN, b->shared_bytes);
    memset(b->arrived, 0, sizeof b->arrived);
    memset(b->votes, 0, sizeof b->votes);
    b->live = b->thread_count;
    b->done = false;
    for (uint32_t i = 0; i < b->warp_count; i++)
        start_warp(b, i, at);
}

/* A slice of each warp; false when none of them could go on. */
static bool run_slices(block *b)
{
    bool any = false;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[b->run->grid->reverse ? b->warp_count - 1 - i : i];
        any |= w->live && warp_run(w, SLICE);
    }
    b->done = b->live == 0;
    return any;
}

static bool stopped(const run *r)
{
    return __atomic_load_n(&r->failed, __ATOMIC_RELAXED) != PTX_DONE ||
           (r->grid->stop && __atomic_load_n(r->grid->stop, __ATOMIC_RELAXED) != 0);
}

static void fail_deadlock(block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        if (!w->live)
            continue;
        int lane = __builtin_ctz(w->live);
        bool barrier = w->barrier >> lane & 1;
        w->at = w->pc[lane] - barrier;
        warp_fault(w, PTX_FAILED, "lane %d waits forever at a %s for lanes that do not come", lane,
                   barrier ? "barrier" : "warp-wide operation");
        return;
    }
}

static void take_counts(worker *worker, block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        worker->lane_instructions += b->warps[i].lane_instructions;
}

/* --- grids --------------------------------------------------------------------------------------
 */
static void *work(void *argument)
{
    worker *worker = argument;
    block b = {0};
    uint64_t total = block_total(worker->run->grid);
    create_block(&b, worker);
    while (!stopped(worker->run)) {
        uint64_t index = __atomic_fetch_add(worker->next, 1, __ATOMIC_RELAXED);
        if (index >= total)
            break;
        start_block(&b, index);
        while (!b.done && !stopped(worker->run))
            if (!run_slices(&b) && !b.done)
                fail_deadlock(&b);
    }
    take_counts(worker, &b);
    destroy_block(&b);
    return NULL;
}

static void run_together(worker *worker)
{
    uint64_t total = block_total(worker->run->grid), left = total;
    block *blocks = need(calloc(total, sizeof *blocks));
    for (uint64_t i = 0; i < total; i++) {
        create_block(&blocks[i], worker);
        start_block(&blocks[i], i);
    }
    while (left && !stopped(worker->run)) {
        bool any = false;
        for (uint64_t i = 0; i < total && !stopped(worker->run); i++) {
            if (blocks[i].done)
                continue;
            any |= run_slices(&blocks[i]);
            left -= blocks[i].done;
        }
        for (uint64_t i = 0; i < total && !any && left; i++)
            if (!blocks[i].done)
                fail_deadlock(&blocks[i]);
    }
    for (uint64_t i = 0; i < total; i++) {
        take_counts(worker, &blocks[i]);
        destroy_block(&blocks[i]);
    }
    free(blocks);
}

static const ptx_range **create_hints(run *r)
{
    const ptx_range **hints = need(calloc(r->program->slot_count + 1, sizeof *hints));
    for (uint32_t i = 0; i < r->program->slot_count; i++)
        hints[i] = &r->shared_range;
    return hints;
}

void ptx_grid_run(const ptx_grid *grid, ptx_result *result)
{
    enum { MAX_WORKERS = 16 };
    run r = {.grid = grid, .program = grid->program, .result = result};
    worker workers[MAX_WORKERS] = {0};
    pthread_t threads[MAX_WORKERS];
    uint64_t next = 0, total = block_total(grid);
    uint32_t count = grid->cooperative ? 1 : grid->host_threads;
    count = count > MAX_WORKERS ? MAX_WORKERS : count > total ? (uint32_t)total : count;
    count = count ? count : 1;
    *result = (ptx_result){.outcome = PTX_DONE};
    for (uint32_t i = 0; i < count; i++)
        workers[i] = (worker){&r, &next, create_hints(&r), 0};
    uint32_t started = 1;
    while (started < count && pthread_create(&threads[started], NULL, work, &workers[started]) == 0)
        started++;
    if (grid->cooperative)
        run_together(&workers[0]);
    else
        work(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < count; i++) {
        result->lane_instructions += workers[i].lane_instructions;
        free(workers[i].hints);
    }
    if (result->outcome == PTX_DONE && stopped(&r)) {
        result->outcome = PTX_FAILED;
        snprintf(result->message, sizeof result->message, "the grid was stopped");
    }
}
