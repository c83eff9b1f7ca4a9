/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a CPU device. One thread, the owner, hands out a task at a time and works on it
 * too; the others join in. Workers that run out of work look for more for about 50 microseconds, as
 * inside a batch the next task comes soon, and then sleep; of more workers than there are cores
 * for, the rest sleep at once. Short tasks wake nobody, those of middle length no more workers than
 * there are cores for, since to wake one takes the owner about ten microseconds.
 */
#ifndef LS_DEVICE_CPU_POOL_H
#define LS_DEVICE_CPU_POOL_H

#include <stdint.h>

#include "lockstep/base.h"

typedef struct ls__cpu_pool ls__cpu_pool;

/* Runs items [first, first + count) on thread `thread` (0 = the owner). Returns false to end the
 * task early: nothing more is handed out. */
typedef bool ls__cpu_pool_work(void *context, uint32_t thread, uint64_t first, uint64_t count);

/* `threads`: the owner included; at least 1. */
ls_status ls__cpu_pool_create(uint32_t threads, ls__cpu_pool **pool, ls_error *error);
void ls__cpu_pool_destroy(ls__cpu_pool **pool); /* no task is running; accepts NULL */
uint32_t ls__cpu_pool_threads(const ls__cpu_pool *pool);

/* Runs `count` items in chunks, each once, in any order and on any thread; returns when all are
 * done. `expected_ns`: how long one thread would take, by experience: what this returned for items
 * of the same kind. UINT64_MAX = not known. Returns 0 when the owner was not among those that did
 * them. Called by one thread at a time, which is the owner meanwhile. */
uint64_t ls__cpu_pool_run(ls__cpu_pool *pool, uint64_t count, uint64_t expected_ns,
                          ls__cpu_pool_work *work, void *context);

#endif
