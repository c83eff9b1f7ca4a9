/* SPDX-License-Identifier: Apache-2.0 */
/* How a prepared batch comes to run as a graph or not (device/cuda/choice.h), by times that are
 * given: no driver, no clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device/cuda/choice.h"

enum { STARTS = 20 };

/* So many of the starts are graphs, where each way takes as long as its list says, and then as at
 * its end. */
static unsigned play(ls__cuda_choice *choice, const uint64_t graph[LS__CUDA_TRIES],
                     const uint64_t plain[LS__CUDA_TRIES])
{
    unsigned graphs = 0, plains = 0;
    for (unsigned start = 0; start < STARTS; start++) {
        bool as_graph = ls__cuda_chooses_graph(choice);
        unsigned *done = as_graph ? &graphs : &plains;
        unsigned at = *done < LS__CUDA_TRIES ? *done : LS__CUDA_TRIES - 1;
        if (start < 2 * LS__CUDA_TRIES)
            assert_int_equal(as_graph, start % 2 == 0); /* they take turns */
        ls__cuda_way_took(as_graph ? &choice->graph : &choice->plain,
                          (as_graph ? graph : plain)[at]);
        ++*done;
    }
    return graphs;
}

static void the_faster_way_stays(void **state)
{
    (void)state;
    static const struct {
        uint64_t graph[LS__CUDA_TRIES], plain[LS__CUDA_TRIES];
        bool stays;
    } cases[] = {
        {{9, 9, 9, 9}, {10, 10, 10, 10}, true},
        {{10, 10, 10, 10}, {9, 9, 9, 9}, false},
        {{10, 10, 10, 10}, {10, 10, 10, 10}, true},
        {{50, 50, 5, 50}, {10, 10, 10, 10}, true}, /* the least counts, not what disturbed it */
        {{10, 10, 10, 10}, {90, 90, 90, 1}, false},
        {{0, 5, 5, 5}, {1, 1, 1, 1}, true}, /* a clock may be coarse */
        {{1, 1, 1, 1}, {0, 5, 5, 5}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ls__cuda_choice choice = {0};
        assert_int_equal(play(&choice, cases[i].graph, cases[i].plain),
                         LS__CUDA_TRIES + (cases[i].stays ? STARTS - 2 * LS__CUDA_TRIES : 0));
    }
}

static void what_is_known_stays(void **state)
{
    (void)state;
    ls__cuda_choice choice = {0};
    static const uint64_t graph[] = {5, 5, 5, 5}, plain[] = {9, 9, 9, 9};
    play(&choice, graph, plain);
    ls__cuda_way_took(&choice.plain, 1);
    assert_true(ls__cuda_chooses_graph(&choice));
    assert_int_equal(choice.plain.tries, LS__CUDA_TRIES);
    assert_int_equal(choice.plain.least_ns, 9);
}

/* One that cannot run does not keep the other from running: its turn stays open. */
static void only_tries_count(void **state)
{
    (void)state;
    ls__cuda_choice choice = {0};
    for (int i = 0; i < 10; i++)
        ls__cuda_way_took(&choice.plain, 1);
    assert_true(ls__cuda_chooses_graph(&choice));
    ls__cuda_way_took(&choice.graph, 2);
    assert_true(ls__cuda_chooses_graph(&choice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_way_stays),
        cmocka_unit_test(what_is_known_stays),
        cmocka_unit_test(only_tries_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
