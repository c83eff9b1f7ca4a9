/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bench for peripherals without a design: signals whose values at every edge are given, signals
 * that peripherals drive, and a kernel around the functions of cosim/peripheral.h that keeps the
 * rules of docs/peripherals.md. Every run is made on the reference and on the device that the
 * command line names, and must give the same bytes.
 */
#ifndef LS_TESTS_PERIPHERALS_BENCH_H
#define LS_TESTS_PERIPHERALS_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cosim/peripheral.h"
#include "lockstep/cosim.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Signals are numbers: ls_signal_ref.signal. Those that no peripheral drives are given. */
enum { MAX_SIGNALS = 64, MAX_INSTANCES = 8 };

typedef struct bench {
    uint32_t edges, instances; /* 0 instances = 1 */
    const ls_peripheral *peripherals;
    uint32_t peripheral_count, signal_count;
    uint64_t *values;    /* [edge][signal]: what is given */
    uint32_t patch_edge; /* run in two pieces with cuts here; 0: not */
    /* At the cut, called for every instance with the memory of all its peripherals. */
    void (*patch)(uint32_t instance, uint32_t *memory);

    /* Results. */
    uint64_t *trace;  /* [instance][edge][signal]: values at every edge */
    uint32_t *memory; /* [instance][word], of all peripherals one behind the other */
    uint32_t memory_words;
    ls_cosim_event *events; /* in order, instances one after the other */
    uint32_t event_count;
    uint64_t dropped;
} bench;

/* The given values, zeros at first. */
void bench_init(bench *b, uint32_t edges, uint32_t signal_count);
/* Sets a given signal from an edge on. */
void bench_set(bench *b, uint32_t edge, uint32_t signal, uint64_t value);
void bench_run(bench *b);
/* How long the device takes to build a program: 0 at once (reference), 1 a while, 2 long (vulkan,
 * with a software device). Tests of many programs take fewer. */
int bench_effort(void);
void bench_finish(bench *b);
uint64_t bench_at(const bench *b, uint32_t instance, uint32_t edge, uint32_t signal);

/* Pins of one bit unless said otherwise. */
#define PIN(name_, signal_)                                                                        \
    {                                                                                              \
        (name_), {(signal_), 0, 1}, 0, false                                                       \
    }
#define DRIVEN(name_, signal_)                                                                     \
    {                                                                                              \
        (name_), {(signal_), 0, 1}, 0, true                                                        \
    }
#define WIDE(name_, signal_, width_, drives_)                                                      \
    {                                                                                              \
        (name_), {(signal_), 0, (width_)}, 0, (drives_)                                            \
    }

/* Runs the tests: the device's name is the only argument. Answers main's result. */
int bench_main(int argc, char **argv, int (*run)(void));

#endif
