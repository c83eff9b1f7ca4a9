/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks as edges. An edge is an instant at which a clock changes; instants of several clocks that
 * coincide are one edge. A clock is low at first, falls at its phase (which changes nothing then)
 * and every period later, and rises `high_ps` before it falls. Phases count modulo the period.
 *
 * When the common period has few edges it becomes the device's schedule; else the changes are
 * streamed as timed operations, piece by piece.
 *
 * On a grid (--compat jacquard) edges are the multiples of the greatest common divisor of all half
 * periods and phases, whether or not a clock changes there.
 */
#ifndef LS_TESTBENCH_SCHEDULE_H
#define LS_TESTBENCH_SCHEDULE_H

#include "lockstep/cosim.h"

typedef struct ls__clock {
    ls_signal_ref signal; /* width 0: makes edges, drives nothing */
    uint64_t period_ps, phase_ps;
    uint64_t high_ps; /* 0: half the period, rounded down */
} ls__clock;

typedef struct ls__schedule ls__schedule;

/* At least one clock; periods of at least 2 ps, at most 2^40. */
ls_status ls__schedule_create(const ls__clock *clocks, uint32_t clock_count, bool is_grid,
                              ls__schedule **schedule, ls_error *error);
void ls__schedule_destroy(ls__schedule **schedule); /* accepts NULL, writes NULL */

/* Before the first run. */
ls_status ls__schedule_apply(ls__schedule *schedule, ls_cosim *cosim, ls_error *error);
/* Before a run of edges from `edge` up to *until, which is made smaller when that is too much at
 * once. Only in ascending order. Queues what is streamed; `extra` are further operations for all
 * instances, ascending, of which those before *until are queued in between: *extra_used. `other`
 * may be NULL or a cosim that does the same. */
ls_status ls__schedule_extend(ls__schedule *schedule, ls_cosim *cosim, ls_cosim *other,
                              uint64_t *until, const ls_timed_op *extra, uint32_t extra_count,
                              uint32_t *extra_used, ls_error *error);

/* What the last extend queued from `edge` on, once more, for instance 0: after it was restored. */
ls_status ls__schedule_requeue(const ls__schedule *schedule, ls_cosim *cosim, uint64_t edge,
                               ls_error *error);

/* The time of an edge. Streamed: one of the last piece. */
uint64_t ls__schedule_time(const ls__schedule *schedule, uint64_t edge);
/* How far edges of a clock are moved in waveforms, either way. */
void ls__schedule_set_jitter(ls__schedule *schedule, uint32_t clock, uint64_t jitter_ps,
                             uint64_t seed);
/* The same as waveforms show it: moved by up to the jitter of the first clock that changes there,
 * either way, as its seed and the number of the edge say. Edges stay in order, since no jitter is
 * more than ls__schedule_most_jitter; the first one stays at 0. */
uint64_t ls__schedule_jittered(const ls__schedule *schedule, uint64_t edge);
uint64_t ls__schedule_most_jitter(const ls__schedule *schedule);
/* The first edge at `time_ps` or later; counts through where the schedule is streamed. */
uint64_t ls__schedule_edge(const ls__schedule *schedule, uint64_t time_ps);
/* Edges in a time, on average, as a fraction. */
void ls__schedule_rate(const ls__schedule *schedule, uint64_t *edges, uint64_t *time_ps);
bool ls__schedule_is_streamed(const ls__schedule *schedule);

#endif
