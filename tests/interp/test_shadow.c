/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory against the definition: random accesses of lanes to one byte, with barriers, turns
 * and grid barriers in between, are kept in full and compared pair by pair. An access must be
 * reported exactly when it races with an earlier one, and the earlier access named must be such.
 */
#include <stdio.h>
#include <string.h>

#include "../base/cmocka_all.h"

#include "base/rng.h"
#include "interp/machine.h"

enum { GROUPS = 3, LANES = 3, MAX_ACCESSES = 200 };

typedef struct event {
    ls__interp_access access;
    uint32_t grid, turn, barrier, lane;
} event;

typedef struct trace {
    ls__interp_launch launch;
    ls__interp_machine machine;
    ls__interp_cell cell;
    uint32_t turn_start[GROUPS];
    event events[MAX_ACCESSES];
    uint32_t count;
    bool is_shared;
} trace;

static bool is_race(const trace *t, const event *a, const event *b)
{
    bool both_read = a->access == LS__INTERP_READ && b->access == LS__INTERP_READ;
    bool both_atomic = a->access == LS__INTERP_ATOMIC && b->access == LS__INTERP_ATOMIC;
    if (both_read || both_atomic || a->grid != b->grid)
        return false;
    if (a->turn != b->turn)
        return !t->is_shared;
    return a->barrier == b->barrier && a->lane != b->lane;
}

static void check_access(trace *t, event present)
{
    ls__interp_race race;
    uint32_t pc = t->count; /* the access's own number, so that the report names it */
    bool expected = false;

    bool found = ls__interp_shadow_access(&t->machine, &t->cell, 1, t->is_shared, present.access,
                                          present.lane, pc, &race);
    for (uint32_t i = 0; i < t->count; i++)
        expected = expected || is_race(t, &t->events[i], &present);
    assert_int_equal(found, expected);
    if (found) {
        const event *earlier = &t->events[race.pc];
        assert_true(race.pc < t->count);
        assert_true(is_race(t, earlier, &present));
        assert_int_equal(race.lane, earlier->lane);
        assert_int_equal(race.same_group, earlier->turn == present.turn);
        assert_int_equal(race.group, ls__interp_group_at(&t->machine, earlier->turn));
    }
    t->events[t->count++] = present;
}

static void run_trace(uint64_t seed)
{
    ls__rng rng = {seed};
    trace t = {.is_shared = seed % 3 == 0};
    uint32_t grids = 1 + ls__rng_below(&rng, 3), weight = 1 + ls__rng_below(&rng, 6);

    t.launch.schedule = LS__INTERP_REVERSE;
    t.machine.launch = &t.launch;
    t.machine.group_total = GROUPS;
    t.machine.turn_start = t.turn_start;
    t.machine.grid_phase = 1;
    for (uint32_t grid = 0; grid < grids; grid++) {
        for (uint32_t turn = 0; turn < GROUPS; turn++) {
            uint32_t barriers = ls__rng_below(&rng, 3);
            ls__interp_shadow_turn(&t.machine, turn);
            for (uint32_t barrier = 0; barrier <= barriers; barrier++) {
                for (uint32_t i = ls__rng_below(&rng, weight); i > 0; i--) {
                    static const ls__interp_access choice[] = {LS__INTERP_READ, LS__INTERP_READ,
                                                               LS__INTERP_WRITE, LS__INTERP_ATOMIC};
                    check_access(&t, (event){choice[ls__rng_below(&rng, 4)], grid, turn, barrier,
                                             ls__rng_below(&rng, LANES)});
                }
                if (barrier < barriers)
                    ls__interp_shadow_barrier(&t.machine);
            }
        }
        ls__interp_shadow_grid_barrier(&t.machine);
    }
    assert_int_equal(t.machine.status, LS_OK);
}

static void test_shadow_against_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++)
        run_trace(seed);
}

/* The wider access is found by any of its bytes; a neighbour is not. */
static void test_shadow_bytes(void **state)
{
    (void)state;
    ls__interp_launch launch = {0};
    uint32_t turn_start[1];
    ls__interp_machine machine = {
        .launch = &launch, .group_total = 1, .turn_start = turn_start, .grid_phase = 1};
    ls__interp_cell cells[8] = {0};
    ls__interp_race race;

    ls__interp_shadow_turn(&machine, 0);
    assert_false(
        ls__interp_shadow_access(&machine, cells + 3, 1, true, LS__INTERP_WRITE, 0, 1, &race));
    assert_false(
        ls__interp_shadow_access(&machine, cells + 4, 4, true, LS__INTERP_WRITE, 1, 2, &race));
    assert_false(
        ls__interp_shadow_access(&machine, cells + 1, 2, true, LS__INTERP_READ, 2, 3, &race));
    assert_true(ls__interp_shadow_access(&machine, cells, 4, true, LS__INTERP_READ, 3, 4, &race));
    assert_int_equal(race.lane, 0);
    assert_int_equal(race.pc, 1);
    assert_string_equal(race.detail, "read after write");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shadow_against_definition),
        cmocka_unit_test(test_shadow_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
