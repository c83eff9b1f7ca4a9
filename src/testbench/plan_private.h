/* SPDX-License-Identifier: Apache-2.0 */
/* Between plan.c (clocks, constants, contents) and plan_peripherals.c. */
#ifndef LS_TESTBENCH_PLAN_PRIVATE_H
#define LS_TESTBENCH_PLAN_PRIVATE_H

#include "base/arena.h"
#include "testbench/plan.h"

/* A file into a memory, or a number into a register. */
typedef struct ls__plan_memory {
    bool is_register;
    ls_signal_ref reg;
    uint64_t value;
    const char *place;         /* in the configuration */
    uint32_t memory, instance; /* or LS_COSIM_ALL */
    ls_image_params image;
} ls__plan_memory;

/* Who drives an input. */
typedef struct ls__claim {
    enum { LS__CLAIM_CLOCK, LS__CLAIM_RESET, LS__CLAIM_CONSTANT, LS__CLAIM_PIN } kind;
    ls_signal_ref signal;
    const char *place; /* in the configuration */
    /* pins */
    ls__model_kind model;
    uint32_t owner;       /* number of the peripheral */
    bool is_users;        /* its source is the user's */
    ls_signal_ref select; /* of a flash */
} ls__claim;

typedef struct ls__planner {
    ls__plan plan; /* first: a plan is its planner */
    ls__arena arena;
    ls__plan_params params;
    const ls__config *config;
    ls_error *error;
    ls_status status; /* of the first failure */
    LS__VEC(ls_peripheral) peripherals;
    LS__VEC(ls__model) models;
    LS__VEC(const char *) places; /* of the models, in the configuration */
    LS__VEC(ls__claim) claims;
    LS__VEC(ls_timed_op) ops;
    LS__VEC(ls__plan_memory) memories;
    LS__VEC(void *) files; /* heap memory */
} ls__planner;

/* A signal by name; `what` is its place in the configuration. False: not found, which is a failure
 * where it is needed. */
bool ls__planner_find(ls__planner *p, const char *name, bool is_needed, ls_signal_ref *ref,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A pin of the configuration; `is_input`: of the design's inputs. */
bool ls__planner_pin(ls__planner *p, const ls__config_pin *pin, bool is_input, bool is_needed,
                     ls_signal_ref *ref, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* A file's bytes, kept until the plan goes; NULL after a failure. */
const void *ls__planner_file(ls__planner *p, const char *name, uint32_t instance, size_t *size);
/* The same of what the file is an image of: ELF, $readmemh, or its bytes. */
const void *ls__planner_image(ls__planner *p, const char *name, uint32_t instance, size_t *size);
void ls__planner_warn(ls__planner *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ls__planner_fail(ls__planner *p, ls_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the place in the configuration in front of an error's message. */
void ls__planner_place(ls_error *error, const char *place);

/* Edges in a number of periods of the system clock, rounded to the nearest. */
uint64_t ls__planner_edges(const ls__planner *p, uint64_t cycles);

/* Fails, or warns, where another part of the configuration drives the input, too. */
void ls__planner_claim(ls__planner *p, ls__claim claim);
/* Fails where another peripheral has its name; before it is added. */
void ls__planner_name(ls__planner *p, const ls__model *model, const char *place);

void ls__planner_peripherals(ls__planner *p);

#endif
