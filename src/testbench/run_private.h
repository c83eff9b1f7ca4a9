/* SPDX-License-Identifier: Apache-2.0 */
/* Between run.c and check.c (the comparison with a second device). */
#ifndef LS_TESTBENCH_RUN_PRIVATE_H
#define LS_TESTBENCH_RUN_PRIVATE_H

#include "testbench/inbox.h"
#include "testbench/run.h"

/* One device's side of a run. */
typedef struct ls__side {
    struct ls__run *run;
    ls_cosim *cosim;
    uint64_t hash; /* with a second device: of all changes of traced signals */
    void *saved;   /* instance 0 before the piece that runs */
    size_t saved_bytes;
} ls__side;

typedef struct ls__run_instance {
    bool is_done;
    uint64_t failed_asserts;
    ls__run_result result; /* once is_done */
} ls__run_instance;

struct ls__run {
    ls__run_params p;
    ls_cosim_params cosim_params;
    uint32_t instance_count;
    ls__side sides[2]; /* the second one for comparison, or empty */
    bool is_silent;    /* runs only to find a difference */
    ls__inbox *inbox;
    ls__run_instance *instances;
    uint32_t done_count;  /* of them */
    bool is_cut;          /* cancelled */
    uint64_t *busy_until; /* compat: [peripheral_count], sending */
    uint32_t ops_used;    /* of the plan's */
    uint64_t live_edges;  /* with live input: edges of a run, about 20 ms */
    bool live_ended;
    ls_error error; /* of a callback; code LS_OK: none */
};

/* Before a piece: what is needed to look at it again. */
ls_status ls__check_begin(ls__run *run, ls_error *error);
/* The second device does what the first has done, from `edge` on; LS_E_FAILED when it differs. */
ls_status ls__check_piece(ls__run *run, uint64_t edge, uint64_t until, ls_error *error);

#endif
