/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table-driven form with several workgroups for an instance (kernels/spread.kc): how many,
 * which levels they share, and how many grid barriers a launch has.
 *
 * A launch has a number of ticks, which is chosen before it is known how many its edges need: what
 * the last launch needed for an edge, and some more. With too few it is continued, with too many
 * the rest of its barriers are passed in idleness; neither changes a result.
 */
#include "cosim/engine.h"

/* Nodes for each lane of one workgroup from which on a level is shared: it saves the others their
 * turns and costs a grid barrier. */
enum { SHARED_NODES = 8 };
/* Nodes for each lane of all workgroups when the device chooses, and workgroups of all instances
 * then. Of no GPU: these were not measured. */
enum { NODES_OF_A_LANE = 4, MOST_CHOSEN = 128 };
enum { MOST_TICKS = 1 << 20 };

uint32_t ls__spread_workgroups(const ls_cosim *cosim, uint32_t lanes, const ls__levels *levels)
{
    if (cosim->params.workgroups)
        return cosim->params.workgroups;
    if (lanes == 1 || !ls_device_caps(cosim->device)->grid_barrier_native)
        return 1;
    uint64_t all = 0, wide = 0, count = 0;
    for (uint32_t i = 0; i < levels->count; i++) {
        bool is_wide = levels->items[i].nodes >= SHARED_NODES * lanes;
        all += levels->items[i].nodes;
        wide += is_wide ? levels->items[i].nodes : 0;
        count += is_wide;
    }
    uint64_t most = MOST_CHOSEN / cosim->instances;
    if (wide * 2 < all || !count || most < 2)
        return 1;
    uint64_t chosen = wide / count / (NODES_OF_A_LANE * lanes);
    return (uint32_t)(chosen < most ? chosen : most);
}

bool ls__spread_shares(const ls__form *form, uint32_t nodes)
{
    return form->workgroups > 1 && nodes >= SHARED_NODES * form->lanes;
}

void ls__spread_write(const ls_cosim *cosim, ls__form *form, const ls__levels *levels, ls__words *t,
                      ls__arena *arena)
{
    ls__sections *s = &form->sections;
    bool alone = false; /* the stretch at the end is of narrow levels, and may get more */
    bool commits = ls__spread_shares(form, cosim->graph->reg_count);
    uint32_t shared = commits;
    s->stretches = t->count;
    ls__vec_push(arena, t, s->runs);
    ls__vec_push(arena, t, commits);
    s->stretches_end = s->stretches_early = 1;
    for (uint32_t i = 0; i < levels->count; i++) {
        const ls__level *level = &levels->items[i];
        bool shares = ls__spread_shares(form, level->nodes);
        bool is_first_late = i && levels->items[i - 1].early && !level->early;
        if (shares || !alone || is_first_late) {
            ls__vec_push(arena, t, level->run);
            ls__vec_push(arena, t, shares);
            s->stretches_end++;
            shared += shares;
        }
        alone = !shares;
        if (level->early)
            s->stretches_early = s->stretches_end;
    }
    ls__vec_push(arena, t, s->runs_end);
    /* Each that is shared, and what the first workgroup does before it. */
    form->edge_ticks = 2 * (shared + 1) + 2;
}

/* Edges that the instance with most to do has before it. */
static uint64_t edges_left(const ls_cosim *cosim, const ls__run_scalars *scalars)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < cosim->instances; i++) {
        uint64_t edge = cosim->control[ls__control_word(LS__SLOT_EDGE, i)];
        uint64_t stop = cosim->control[ls__control_word(LS__SLOT_STOP, i)];
        bool stands = stop == LS__STOP_FINISH ||
                      (scalars->resume != 1 && (stop == LS__STOP_WATCH || stop == LS__STOP_ASSERT));
        if (!stands && edge < scalars->until && scalars->until - edge > left)
            left = scalars->until - edge;
    }
    return left;
}

static uint64_t choose_ticks(const ls_cosim *cosim, uint64_t edges)
{
    uint64_t of_64 = cosim->ticks ? cosim->ticks : (uint64_t)cosim->form->edge_ticks * 64;
    uint64_t ticks = edges < MOST_TICKS ? edges * of_64 / 64 : MOST_TICKS;
    ticks += ticks / 8 + cosim->form->edge_ticks;
    return ticks < MOST_TICKS ? ticks : MOST_TICKS;
}

ls_status ls__spread_launch(ls_cosim *cosim, ls__run_scalars *scalars, ls__launcher *launch,
                            ls_error *error)
{
    uint64_t ticks = 0, begun = edges_left(cosim, scalars), left = begun;
    for (bool paused = true; paused;) {
        uint64_t busy = 0;
        scalars->ticks = choose_ticks(cosim, left);
        ls_status status = launch(cosim, scalars, error);
        if (status != LS_OK)
            return status;
        paused = false;
        for (uint32_t i = 0; i < cosim->instances; i++) {
            uint64_t its = cosim->control[ls__control_word(LS__SLOT_TICKS, i)];
            busy = its > busy ? its : busy;
            paused |= cosim->control[ls__control_word(LS__SLOT_PAUSED, i)] != 0;
        }
        ticks += busy;
        scalars->resume = LS__RESUME_PAUSED;
        left = edges_left(cosim, scalars);
    }
    if (left < begun)
        cosim->ticks = ticks * 64 / (begun - left) + 1;
    return LS_OK;
}
