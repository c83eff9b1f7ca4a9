/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lane and a workgroup carry from one segment of a split kernel to the next, and the code
 * that saves and restores it. For lower_grid_barrier.c.
 */
#ifndef LS_PASS_GRID_STATE_H
#define LS_PASS_GRID_STATE_H

#include "pass/lower_util.h"

enum { LS__GRID_HEADER_BYTES = 16 };

typedef struct ls__grid_var {
    uint32_t chunk;   /* of its first use; 0 = unused */
    bool is_live;     /* may hold a value across a barrier */
    bool is_on_spine; /* all lanes have come by one of its uses */
    bool is_uniform;  /* restored through workgroup_uniform */
    uint32_t offset;  /* of its values, divided by the lanes */
} ls__grid_var;

typedef struct ls__grid_state {
    const ls__ir_function *function; /* before it is split */
    ls__grid_var *vars;
    uint32_t var_count;
    uint32_t *local_offsets;  /* in the lane's objects, by local object */
    uint64_t *shared_offsets; /* in the workgroup's shared part, by shared object */
    uint32_t lanes;           /* of a workgroup */
    uint32_t var_bytes;       /* variables of a lane */
    uint32_t object_bytes;    /* local objects of a lane */
    uint64_t lane_bytes;      /* both */
    uint64_t shared_bytes;    /* shared part, divided by the lanes */
} ls__grid_state;

void ls__grid_state_init(ls__grid_state *state, const ls__ir_function *function,
                         ls__arena *scratch);
/* An instruction of chunk `chunk`, directly on the spine or nested. In program order. */
void ls__grid_note_use(ls__grid_state *state, const ls__ir_inst *inst, uint32_t chunk,
                       bool on_spine);
/* After values that cross barriers have gone into new variables. */
void ls__grid_state_lay_out(ls__grid_state *state, ls__arena *scratch);

/* Code for a segment; its last buffer is the scratch buffer. All lanes of the workgroup run it. */
void ls__grid_save(const ls__grid_state *state, at c);
void ls__grid_restore(const ls__grid_state *state, at c);
void ls__grid_store_next(const ls__grid_state *state, at c, uint32_t segment);

#endif
