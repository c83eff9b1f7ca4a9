/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks as edges: periodic, on a grid, and streamed, against instants found by trying every
 * picosecond. The calls of the cosim that the schedule makes are noted here instead.
 */
#include "../base/cmocka_all.h"

#include <string.h>

#include "testbench/schedule.h"

enum { MAX_OPS = 1 << 17 };
static ls_edge_op periodic[MAX_OPS];
static ls_timed_op timed[MAX_OPS];
static uint32_t periodic_count, period_edges, timed_count;

ls_status ls_cosim_schedule(ls_cosim *cosim, uint32_t edges, const ls_edge_op *ops,
                            uint32_t op_count, ls_error *error)
{
    (void)cosim;
    (void)error;
    memcpy(periodic, ops, op_count * sizeof *ops);
    periodic_count = op_count;
    period_edges = edges;
    return LS_OK;
}

ls_status ls_cosim_stimulus(ls_cosim *cosim, uint32_t instance, const ls_timed_op *ops,
                            uint64_t op_count, ls_error *error)
{
    (void)cosim;
    (void)error;
    assert_int_equal(instance, LS_COSIM_ALL);
    assert_true(timed_count + op_count <= MAX_OPS);
    memcpy(timed + timed_count, ops, op_count * sizeof *ops);
    timed_count += (uint32_t)op_count;
    return LS_OK;
}

static ls__schedule *make(const ls__clock *clocks, uint32_t count, bool is_grid)
{
    ls__schedule *schedule;
    ls_error error = {0};
    periodic_count = timed_count = period_edges = 0;
    if (ls__schedule_create(clocks, count, is_grid, &schedule, &error) != LS_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ls__schedule_apply(schedule, NULL, &error), LS_OK);
    return schedule;
}

static void one_clock(void **state)
{
    ls__clock clock = {{7, 0, 1}, 40000, 0, 0};
    for (int is_grid = 0; is_grid < 2; is_grid++) {
        ls__schedule *s = make(&clock, 1, is_grid);
        assert_int_equal(period_edges, 2);
        assert_int_equal(periodic_count, 2);
        assert_int_equal(periodic[0].value, 0); /* the first edge is a falling one */
        assert_int_equal(periodic[1].edge, 1);
        assert_int_equal(periodic[1].value, 1);
        assert_int_equal(periodic[1].signal.signal, 7);
        assert_int_equal(ls__schedule_time(s, 0), 0);
        assert_int_equal(ls__schedule_time(s, 1), 20000);
        assert_int_equal(ls__schedule_time(s, 22), 440000);
        assert_int_equal(ls__schedule_edge(s, 400000), 20);
        assert_int_equal(ls__schedule_edge(s, 400001), 21);
        uint64_t edges, time_ps;
        ls__schedule_rate(s, &edges, &time_ps);
        assert_int_equal(time_ps / edges, 20000);
        ls__schedule_destroy(&s);
        assert_null(s);
    }
}

/* The level of a clock by definition. */
static int level(const ls__clock *c, uint64_t time)
{
    uint64_t high = c->high_ps ? c->high_ps : c->period_ps / 2;
    uint64_t fall = c->phase_ps % c->period_ps;
    if (time < fall && fall - time <= high && fall < high)
        return 0; /* it would have risen before the beginning */
    uint64_t since = (time + c->period_ps - fall) % c->period_ps;
    return since >= c->period_ps - high;
}

/* Runs the operations of the schedule and compares every level at every instant. */
static void compare(const ls__clock *clocks, uint32_t count, bool is_grid, uint64_t until_ps)
{
    int levels[4] = {0};
    uint32_t next = 0;
    ls__schedule *s = make(clocks, count, is_grid);
    uint64_t last = ls__schedule_edge(s, until_ps), edge = 0, time_before = 0;
    uint32_t used;
    while (edge < last) {
        uint64_t until = last;
        timed_count = next = 0;
        assert_int_equal(ls__schedule_extend(s, NULL, NULL, &until, NULL, 0, &used, NULL), LS_OK);
        for (; edge < until; edge++) {
            uint64_t time = ls__schedule_time(s, edge);
            for (uint32_t i = 0; period_edges && i < periodic_count; i++)
                if (periodic[i].edge == edge % period_edges)
                    levels[periodic[i].signal.signal] = (int)periodic[i].value;
            for (; next < timed_count && timed[next].edge == edge; next++)
                levels[timed[next].signal.signal] = (int)timed[next].value;
            if (edge > 0)
                assert_true(time > time_before);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(levels[i], level(&clocks[i], time));
                /* Nothing changed in between. */
                for (uint64_t t = time_before; edge > 0 && t < time; t++)
                    assert_int_equal(level(&clocks[i], t), level(&clocks[i], time_before));
            }
            time_before = time;
        }
        assert_int_equal(next, timed_count);
    }
    ls__schedule_destroy(&s);
}

static void several_clocks(void **state)
{
    static const ls__clock clocks[][3] = {
        {{{0, 0, 1}, 40, 0, 0}, {{1, 0, 1}, 60, 20, 0}, {{2, 0, 1}, 160, 0, 0}},
        {{{0, 0, 1}, 40, 5, 0}, {{1, 0, 1}, 40, 30, 0}, {{2, 0, 1}, 25, 0, 0}},
        {{{0, 0, 1}, 40, 0, 10}, {{1, 0, 1}, 30, 29, 1}, {{2, 0, 1}, 77, 100, 70}},
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        for (int is_grid = 0; is_grid < 2; is_grid++)
            compare(clocks[i], 3, is_grid, 10000);
}

/* Periods without a short common one are streamed, and mean the same. */
static void streamed(void **state)
{
    static const ls__clock clocks[] = {
        {{0, 0, 1}, 10007, 0, 0}, {{1, 0, 1}, 9973, 11, 3}, {{2, 0, 1}, 99991, 7, 0}};
    ls__schedule *s = make(clocks, 3, false);
    assert_true(ls__schedule_is_streamed(s));
    assert_int_equal(period_edges, 0);
    ls__schedule_destroy(&s);
    compare(clocks, 3, false, 300000);

    static const ls__clock huge[] = {{{0, 0, 1}, (UINT64_C(1) << 40) - 87, 0, 0},
                                     {{1, 0, 1}, (UINT64_C(1) << 40) - 167, 0, 0}};
    s = make(huge, 2, false);
    assert_true(ls__schedule_is_streamed(s));
    uint64_t edges, time_ps;
    ls__schedule_rate(s, &edges, &time_ps);
    assert_true(edges > 1000 && time_ps / edges > UINT64_C(1) << 37);
    ls__schedule_destroy(&s);
}

static void extra_operations(void **state)
{
    static const ls__clock clocks[] = {
        {{0, 0, 1}, 10007, 0, 0}, {{1, 0, 1}, 9973, 11, 3}, {{2, 0, 1}, 99991, 7, 0}};
    static const ls_timed_op extra[] = {{0, {5, 0, 1}, 1}, {3, {5, 0, 1}, 0}, {40, {5, 0, 1}, 1}};
    for (uint32_t count = 1; count <= 3; count += 2) {
        ls__schedule *s = make(clocks, count, false);
        uint64_t until = 10;
        uint32_t used;
        assert_int_equal(ls__schedule_extend(s, NULL, NULL, &until, extra, 3, &used, NULL), LS_OK);
        assert_int_equal(until, 10);
        assert_int_equal(used, 2);
        uint32_t found = 0;
        for (uint32_t i = 0; i < timed_count; i++) {
            found += timed[i].signal.signal == 5;
            assert_true(i == 0 || timed[i].edge >= timed[i - 1].edge);
        }
        assert_int_equal(found, 2);
        ls__schedule_destroy(&s);
    }
}

/* Each clock's edges move by up to its own jitter, both ways, differently with another seed, and
 * stay in order; the first stays, and so do edges of a clock without jitter. */
static void jitter(void **state)
{
    static const ls__clock periodic_clocks[] = {{{0, 0, 1}, 40000, 0, 0},
                                                {{1, 0, 1}, 60000, 5000, 0}},
                           streamed_clocks[] = {{{0, 0, 1}, 10007000, 0, 4001000},
                                                {{1, 0, 1}, 9973000, 11000, 3000}};
    for (int kind = 0; kind < 3; kind++) {
        ls__schedule *s = make(kind == 2 ? streamed_clocks : periodic_clocks, 2, kind == 1);
        uint64_t most = ls__schedule_most_jitter(s), until = 300, last = 0;
        uint32_t used, moved = 0, other = 0, early = 0;
        assert_int_equal(most, kind == 2 ? 499 : 2499);
        assert_int_equal(ls__schedule_is_streamed(s), kind == 2);
        assert_int_equal(ls__schedule_extend(s, NULL, NULL, &until, NULL, 0, &used, NULL), LS_OK);
        for (uint64_t e = 0; e < 300; e++)
            assert_int_equal(ls__schedule_jittered(s, e), ls__schedule_time(s, e));
        ls__schedule_set_jitter(s, 0, UINT64_C(1) << 40, 1); /* cut to the most there may be */
        for (uint64_t e = 0; e < 300; e++) {
            uint64_t exact = ls__schedule_time(s, e), shown = ls__schedule_jittered(s, e);
            assert_true(shown + most >= exact && shown <= exact + most);
            assert_true(e == 0 ? shown == 0 : shown > last);
            last = shown;
            moved += shown != exact;
            early += shown < exact;
            ls__schedule_set_jitter(s, 0, UINT64_C(1) << 40, 2);
            other += ls__schedule_jittered(s, e) != shown;
            ls__schedule_set_jitter(s, 0, UINT64_C(1) << 40, 1);
        }
        assert_in_range(moved, kind == 1 ? 60 : 100, 250); /* those of the other clock do not */
        assert_in_range(other, moved - 5, moved);
        assert_in_range(early, moved / 3, moved * 2 / 3);
        ls__schedule_destroy(&s);
    }
}

static void wrong_clocks(void **state)
{
    static const ls__clock clocks[] = {
        {{0, 0, 1}, 1, 0, 0}, {{0, 0, 1}, 40, 0, 40}, {{0, 0, 1}, (UINT64_C(1) << 40) + 1, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        ls__schedule *s;
        ls_error error = {0};
        assert_int_equal(ls__schedule_create(&clocks[i], 1, false, &s, &error),
                         LS_E_INVALID_ARGUMENT);
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock), cmocka_unit_test(several_clocks),
        cmocka_unit_test(streamed),  cmocka_unit_test(extra_operations),
        cmocka_unit_test(jitter),    cmocka_unit_test(wrong_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
