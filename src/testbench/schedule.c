/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants of several clocks in order, by asking each for its next change. Times are picoseconds in
 * 64 bits; the common period may not fit in them, which only means that it is streamed.
 */
#include "testbench/schedule.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"

enum { MAX_PERIODIC_EDGES = 1 << 14, PIECE_EDGES = 1 << 14 };
#define MAX_PERIOD_PS (UINT64_C(1) << 40)

typedef struct clock_state {
    ls__clock clock;
    uint32_t number;
    uint64_t jitter_ps, seed;
    uint64_t next_ps; /* of its next change */
    bool rises;       /* that change */
} clock_state;

/* Where the sequence of instants is. */
typedef struct position {
    clock_state *clocks; /* [clock_count] */
    uint64_t edge, time_ps;
} position;

struct ls__schedule {
    uint32_t clock_count;
    bool is_grid, is_streamed;
    uint64_t grid_ps;   /* the greatest common divisor; grid: between edges */
    uint64_t period_ps; /* not streamed: after which all repeats */
    uint32_t period_edges;
    uint64_t rate_edges, rate_ps; /* edges in a time, on average */
    uint64_t *times;              /* periodic: [period_edges]; streamed: of the piece */
    uint32_t *movers;             /* the same: 1 + the first clock that changes; 0: none */
    uint64_t piece_edge;          /* streamed: edge of times[0] */
    uint32_t piece_count;
    ls_edge_op *ops; /* periodic */
    uint32_t op_count;
    position now; /* streamed: behind the piece */
    ls_timed_op *timed;
    uint32_t timed_count, timed_capacity;
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* --- instants --------------------------------------------------------------------------------- */

/* Falls at phase + n * period, rises at phase + n * period - high. */
static void start_clock(clock_state *c, const ls__clock *clock)
{
    c->clock = *clock;
    if (c->clock.high_ps == 0)
        c->clock.high_ps = clock->period_ps / 2;
    uint64_t fall = clock->phase_ps % clock->period_ps;
    c->rises = fall >= c->clock.high_ps;
    c->next_ps = c->rises ? fall - c->clock.high_ps : fall;
}

static void advance_clock(clock_state *c)
{
    c->next_ps += c->rises ? c->clock.high_ps : c->clock.period_ps - c->clock.high_ps;
    c->rises = !c->rises;
}

static bool start(const ls__schedule *s, const ls__clock *clocks, position *p)
{
    p->edge = p->time_ps = 0;
    p->clocks = ls__mem_alloc(s->clock_count, sizeof *p->clocks);
    for (uint32_t i = 0; p->clocks && i < s->clock_count; i++) {
        start_clock(&p->clocks[i], &clocks[i]);
        p->clocks[i].number = i;
    }
    return p->clocks != NULL;
}

/* The instant of the next edge: the first is at 0, where reset and constants are applied. */
static uint64_t peek(const ls__schedule *s, const position *p)
{
    uint64_t first = UINT64_MAX;
    if (p->edge == 0)
        return 0;
    if (s->is_grid)
        return p->edge * s->grid_ps;
    for (uint32_t i = 0; i < s->clock_count; i++)
        first = p->clocks[i].next_ps < first ? p->clocks[i].next_ps : first;
    return first;
}

/* Goes past the next edge; `change` hears of each clock that changes. */
static void step(const ls__schedule *s, position *p,
                 void (*change)(void *context, const clock_state *clock), void *context)
{
    p->time_ps = peek(s, p);
    p->edge++;
    for (uint32_t i = 0; i < s->clock_count; i++)
        if (p->clocks[i].next_ps == p->time_ps) {
            if (change)
                change(context, &p->clocks[i]);
            advance_clock(&p->clocks[i]);
        }
}

/* --- making ----------------------------------------------------------------------------------- */

static ls_status check(const ls__clock *clocks, uint32_t count, ls_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if (clocks[i].period_ps < 2 || clocks[i].period_ps > MAX_PERIOD_PS ||
            clocks[i].high_ps >= clocks[i].period_ps)
            return ls__fail(error, LS_E_INVALID_ARGUMENT,
                            "a clock's period must be 2 ps to 2^40 ps, and longer than its high "
                            "time");
    return LS_OK;
}

/* Lengths of all, and whether the common period is short enough to be kept. */
static void measure(ls__schedule *s, const ls__clock *clocks)
{
    uint64_t divisor = 0, common = 1;
    for (uint32_t i = 0; i < s->clock_count; i++) {
        const ls__clock *c = &clocks[i];
        uint64_t high = c->high_ps ? c->high_ps : c->period_ps / 2;
        divisor = gcd(gcd(gcd(divisor, high), c->period_ps - high), c->phase_ps % c->period_ps);
        uint64_t factor = c->period_ps / gcd(common, c->period_ps);
        s->is_streamed |= factor > UINT64_MAX / 4 / common;
        common = s->is_streamed ? 1 : common * factor;
    }
    s->grid_ps = divisor;
    s->period_ps = common;
}

typedef struct collect {
    ls__schedule *schedule;
    uint32_t edge;
    bool failed;
} collect;

static void keep_op(void *context, const clock_state *clock)
{
    collect *c = context;
    ls__schedule *s = c->schedule;
    if (!s->movers[c->edge])
        s->movers[c->edge] = 1 + clock->number;
    if (clock->clock.signal.width == 0)
        return;
    if (s->op_count == MAX_PERIODIC_EDGES * 2) {
        c->failed = true;
        return;
    }
    s->ops[s->op_count++] = (ls_edge_op){c->edge, clock->clock.signal, clock->rises};
}

/* One period of instants. With more than are kept, the schedule is streamed instead. */
static ls_status collect_period(ls__schedule *s, const ls__clock *clocks, ls_error *error)
{
    position p;
    collect c = {.schedule = s};
    s->times = ls__mem_alloc(MAX_PERIODIC_EDGES + 1, sizeof *s->times);
    s->movers = ls__mem_alloc(MAX_PERIODIC_EDGES + 1, sizeof *s->movers);
    s->ops = ls__mem_alloc(MAX_PERIODIC_EDGES * 2, sizeof *s->ops);
    if (!s->times || !s->movers || !s->ops || !start(s, clocks, &p))
        return ls__fail_oom(error, MAX_PERIODIC_EDGES * sizeof *s->ops);
    bool is_endless = s->is_streamed;
    while (!c.failed && (is_endless || peek(s, &p) < s->period_ps)) {
        c.edge = (uint32_t)p.edge;
        step(s, &p, keep_op, &c);
        s->times[c.edge] = p.time_ps;
        s->period_edges = c.edge + 1;
        c.failed |= s->period_edges == MAX_PERIODIC_EDGES;
    }
    s->is_streamed |= c.failed;
    s->rate_edges = s->period_edges;
    s->rate_ps = s->is_streamed ? peek(s, &p) : s->period_ps;
    ls__mem_free(p.clocks);
    return LS_OK;
}

ls_status ls__schedule_create(const ls__clock *clocks, uint32_t clock_count, bool is_grid,
                              ls__schedule **schedule, ls_error *error)
{
    *schedule = NULL;
    ls_status status = check(clocks, clock_count, error);
    if (status != LS_OK)
        return status;
    ls__schedule *s = ls__mem_alloc(1, sizeof *s);
    if (!s)
        return ls__fail_oom(error, sizeof *s);
    s->clock_count = clock_count;
    s->is_grid = is_grid;
    measure(s, clocks);
    status = collect_period(s, clocks, error);
    if (status == LS_OK && !start(s, clocks, &s->now))
        status = ls__fail_oom(error, clock_count * sizeof *s->now.clocks);
    if (status != LS_OK)
        ls__schedule_destroy(&s);
    *schedule = s;
    return status;
}

void ls__schedule_destroy(ls__schedule **schedule)
{
    ls__schedule *s = *schedule;
    *schedule = NULL;
    if (!s)
        return;
    ls__mem_free(s->timed);
    ls__mem_free(s->now.clocks);
    ls__mem_free(s->ops);
    ls__mem_free(s->movers);
    ls__mem_free(s->times);
    ls__mem_free(s);
}

ls_status ls__schedule_apply(ls__schedule *s, ls_cosim *cosim, ls_error *error)
{
    if (s->is_streamed)
        return LS_OK;
    return ls_cosim_schedule(cosim, s->period_edges, s->ops, s->op_count, error);
}

/* --- streaming -------------------------------------------------------------------------------- */

static bool push(ls__schedule *s, const ls_timed_op *op)
{
    if (s->timed_count == s->timed_capacity) {
        uint32_t capacity = s->timed_capacity ? s->timed_capacity * 2 : 1024;
        ls_timed_op *grown = ls__mem_realloc(s->timed, capacity, sizeof *grown);
        if (!grown)
            return false;
        s->timed = grown;
        s->timed_capacity = capacity;
    }
    s->timed[s->timed_count++] = *op;
    return true;
}

static void push_change(void *context, const clock_state *clock)
{
    collect *c = context;
    ls__schedule *s = c->schedule;
    ls_timed_op op = {s->now.edge - 1, clock->clock.signal, clock->rises};
    if (!s->movers[s->piece_count])
        s->movers[s->piece_count] = 1 + clock->number;
    if (op.signal.width)
        c->failed |= !push(s, &op);
}

ls_status ls__schedule_extend(ls__schedule *s, ls_cosim *cosim, ls_cosim *other, uint64_t *until,
                              const ls_timed_op *extra, uint32_t extra_count, uint32_t *extra_used,
                              ls_error *error)
{
    collect c = {.schedule = s};
    uint32_t used = 0;
    s->timed_count = 0;
    if (s->is_streamed) {
        s->piece_edge = s->now.edge;
        s->piece_count = 0;
        if (*until - s->now.edge > PIECE_EDGES)
            *until = s->now.edge + PIECE_EDGES;
        while (!c.failed && s->now.edge < *until) {
            s->movers[s->piece_count] = 0;
            step(s, &s->now, push_change, &c);
            s->times[s->piece_count++] = s->now.time_ps;
            for (; used < extra_count && extra[used].edge < s->now.edge; used++)
                c.failed |= !push(s, &extra[used]);
        }
    } else {
        for (; !c.failed && used < extra_count && extra[used].edge < *until; used++)
            c.failed |= !push(s, &extra[used]);
    }
    *extra_used = used;
    if (c.failed)
        return ls__fail_oom(error, s->timed_capacity * sizeof *s->timed);
    if (s->timed_count == 0)
        return LS_OK;
    ls_status status = ls_cosim_stimulus(cosim, LS_COSIM_ALL, s->timed, s->timed_count, error);
    if (status == LS_OK && other)
        status = ls_cosim_stimulus(other, LS_COSIM_ALL, s->timed, s->timed_count, error);
    return status;
}

ls_status ls__schedule_requeue(const ls__schedule *s, ls_cosim *cosim, uint64_t edge,
                               ls_error *error)
{
    uint32_t first = 0;
    while (first < s->timed_count && s->timed[first].edge < edge)
        first++;
    if (first == s->timed_count)
        return LS_OK;
    return ls_cosim_stimulus(cosim, 0, s->timed + first, s->timed_count - first, error);
}

/* --- edges and times -------------------------------------------------------------------------- */

uint64_t ls__schedule_time(const ls__schedule *s, uint64_t edge)
{
    if (s->is_grid)
        return edge * s->grid_ps;
    if (!s->is_streamed)
        return edge / s->period_edges * s->period_ps + s->times[edge % s->period_edges];
    if (edge < s->piece_edge || s->piece_count == 0)
        return 0;
    uint64_t place = edge - s->piece_edge;
    return s->times[place < s->piece_count ? place : s->piece_count - 1];
}

uint64_t ls__schedule_most_jitter(const ls__schedule *s)
{
    return (s->grid_ps - 1) / 2;
}

void ls__schedule_set_jitter(ls__schedule *s, uint32_t clock, uint64_t jitter_ps, uint64_t seed)
{
    s->now.clocks[clock].jitter_ps = jitter_ps;
    s->now.clocks[clock].seed = seed;
}

/* One step of splitmix64. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t ls__schedule_jittered(const ls__schedule *s, uint64_t edge)
{
    uint64_t time = ls__schedule_time(s, edge), most = ls__schedule_most_jitter(s);
    uint64_t place = s->is_streamed ? edge - s->piece_edge : edge % s->period_edges;
    if (edge == 0 || (s->is_streamed && (edge < s->piece_edge || place >= s->piece_count)) ||
        !s->movers[place])
        return time;
    const clock_state *clock = &s->now.clocks[s->movers[place] - 1];
    uint64_t jitter = clock->jitter_ps < most ? clock->jitter_ps : most;
    uint64_t drawn = mix(clock->seed + (edge + 1) * UINT64_C(0x9e3779b97f4a7c15));
    return time - jitter + drawn % (2 * jitter + 1);
}

static uint64_t count_edges(const ls__schedule *s, uint64_t time_ps)
{
    position p = {0};
    p.clocks = ls__mem_alloc(s->clock_count, sizeof *p.clocks);
    if (!p.clocks)
        return 0;
    for (uint32_t i = 0; i < s->clock_count; i++)
        start_clock(&p.clocks[i], &s->now.clocks[i].clock);
    while (peek(s, &p) < time_ps)
        step(s, &p, NULL, NULL);
    ls__mem_free(p.clocks);
    return p.edge;
}

uint64_t ls__schedule_edge(const ls__schedule *s, uint64_t time_ps)
{
    if (s->is_grid)
        return time_ps / s->grid_ps + (time_ps % s->grid_ps != 0);
    if (s->is_streamed)
        return count_edges(s, time_ps);
    uint64_t rest = time_ps % s->period_ps;
    uint32_t edge = 0;
    while (edge < s->period_edges && s->times[edge] < rest)
        edge++;
    return time_ps / s->period_ps * s->period_edges + edge;
}

void ls__schedule_rate(const ls__schedule *s, uint64_t *edges, uint64_t *time_ps)
{
    *edges = s->is_grid ? 1 : s->rate_edges;
    *time_ps = s->is_grid ? s->grid_ps : s->rate_ps;
}

bool ls__schedule_is_streamed(const ls__schedule *schedule)
{
    return schedule->is_streamed;
}
