/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a configuration means for a design: peripherals with their pins and images, clocks,
 * constants and reset, contents of memories. Everything of a run that is known before it.
 */
#ifndef LS_TESTBENCH_PLAN_H
#define LS_TESTBENCH_PLAN_H

#include "lockstep/cosim.h"
#include "testbench/config.h"
#include "testbench/schedule.h"

/* What the host knows of a peripheral beyond its events' numbers. */
typedef enum ls__model_kind {
    LS__MODEL_OTHER, /* a user's, or a built-in one named by its type */
    LS__MODEL_UART_TX,
    LS__MODEL_UART_RX,
    LS__MODEL_FLASH,
    LS__MODEL_GPIO,
    LS__MODEL_JTAG,
    LS__MODEL_BUS
} ls__model_kind;

typedef struct ls__model {
    ls__model_kind kind;
    const char *name;     /* in events and commands: "uart_0"; both halves of a UART have it */
    const char *protocol; /* of a bus */
    uint32_t queue;       /* entries of its ring; 0: it has none */
    uint32_t pin_count;   /* gpio: pins that are driven */
    uint32_t watched_count;
    uint64_t frame_edges;           /* uart_rx: of a whole frame */
    bool is_told_only;              /* flash: transfers are told of, but are no events */
    const ls__config_event *events; /* names; else "event" and the number */
    uint32_t event_count;
} ls__model;

typedef struct ls__plan_params {
    const ls_design *design;
    const ls__config *config;
    const char *config_path; /* files are named from its folder, or else from the working folder */
    uint32_t instances;      /* "{instance}" in file names becomes a number below */
    bool compat;
    const char *jtag_replay; /* instead of the configuration's; may be NULL */
    uint64_t jtag_hold;      /* edges; 0 = not given */
    bool flash_verbose;      /* flashes tell of all transfers */
    uint64_t master_seed;    /* of jitter */
    void (*warn)(void *context, const char *message);
    void *context;
} ls__plan_params;

typedef struct ls__plan {
    ls__schedule *schedule;
    ls_peripheral *peripherals;
    ls__model *models; /* of the same index */
    uint32_t peripheral_count;
    ls_timed_op *ops; /* constants and reset, for all instances, ascending */
    uint32_t op_count;
    uint64_t reset_edges, max_edges; /* max: UINT64_MAX where the configuration gives none */
    uint64_t clock_period_ps;
} ls__plan;

ls_status ls__plan_create(const ls__plan_params *params, ls__plan **plan, ls_error *error);
void ls__plan_destroy(ls__plan **plan); /* accepts NULL, writes NULL */

/* The first edge at so many periods of the system clock. */
uint64_t ls__plan_edges(const ls__plan *plan, uint64_t cycles);

/* On a new cosim: the schedule, contents of memories and registers. */
ls_status ls__plan_apply(const ls__plan *plan, ls_cosim *cosim, ls_error *error);

/* The file that `name` stands for: in the configuration's folder, else as it is; "{instance}" is
 * replaced. ls__mem_free; NULL without memory. */
char *ls__plan_path(const char *config_path, const char *name, uint32_t instance);

#endif
