/* SPDX-License-Identifier: Apache-2.0 */
/* See ends.h. */
#include "device/common/ends.h"

#include "base/status.h"

static uint64_t linear(const uint32_t at[3], const uint32_t size[3])
{
    return at[0] + (uint64_t)size[0] * (at[1] + (uint64_t)size[1] * at[2]);
}

ls_status ls__end_trapped(ls__job_result *result, const ls__trap_box *box, uint32_t group,
                          uint32_t code, uint32_t lane)
{
    const ls__job_result now = *result;
    const uint32_t at[3] = {box->base[0] + group % box->size[0],
                            box->base[1] + group / box->size[0] % box->size[1],
                            box->base[2] + group / box->size[0] / box->size[1]};
    *result = box->totals;
    result->device_ns = now.device_ns;
    result->device_waits = now.device_waits;
    result->graph_launches = now.graph_launches;
    result->trap_code = code;
    result->trap_lane = lane;
    result->trap_workgroup = linear(at, box->whole);
    result->failed_command = box->command;
    return ls__fail(&result->error, LS_E_TRAP,
                    "command %u called trap(%u) in workgroup %llu, lane %u", box->command, code,
                    (unsigned long long)result->trap_workgroup, lane);
}

ls_status ls__end_indirect(ls__job_result *result, uint32_t command, const ls_error *error)
{
    result->error = *error;
    result->failed_command = command;
    result->trap_code = LS_TRAP_INDIRECT;
    return LS_E_TRAP;
}

ls_status ls__end_stuck(ls__job_result *result)
{
    return ls__fail(&result->error, LS_E_INDETERMINATE,
                    "a command did not stop within its limit after it was cancelled");
}

ls_status ls__end_lost(ls__job_result *result)
{
    result->error.code = result->error.cause = LS_E_INDETERMINATE;
    return LS_E_INDETERMINATE;
}
