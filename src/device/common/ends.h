/* SPDX-License-Identifier: Apache-2.0 */
/* How a job ends that did not complete: what its result says, and its status. */
#ifndef LS_DEVICE_COMMON_ENDS_H
#define LS_DEVICE_COMMON_ENDS_H

#include "core/backend.h"

/* A piece of a launch (boxes.h) that may trap. */
typedef struct ls__trap_box {
    uint32_t command;          /* ls__command.index */
    uint32_t base[3], size[3]; /* of the piece, in workgroups */
    uint32_t whole[3];         /* of the launch */
    ls__job_result totals;     /* what had been counted when the launch was recorded */
} ls__trap_box;

/* The lowest lane that trapped is in the piece's workgroup `group`. Counted is what the job did
 * until then; its time and what it asked of the driver stay as they are. */
ls_status ls__end_trapped(ls__job_result *result, const ls__trap_box *box, uint32_t group,
                          uint32_t code, uint32_t lane);
/* The sizes of an indirect launch are above their maximum, as `error` says. */
ls_status ls__end_indirect(ls__job_result *result, uint32_t command, const ls_error *error);
/* Nobody knows what the device does: it did not stop when it was asked to; or, whatever the driver
 * said, which the result's error holds, it may still run what it was given. */
ls_status ls__end_stuck(ls__job_result *result);
ls_status ls__end_lost(ls__job_result *result);

#endif
