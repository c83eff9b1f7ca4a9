/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch: marks the accesses whose being out of range the device reports.
 *
 * needs: to be the first, so that what later passes add is not taken for the kernel's. keeps:
 * everything. breaks: nothing; `dce`, `fold` and `licm` leave a WATCHED access alone unless it is
 * proved INBOUNDS.
 */
#include "pass/passes.h"
#include "pass/util.h"

static bool visit(ls__ir_inst *inst, void *context)
{
    bool *changed = context;
    if (!ls__pass_accesses_memory(inst) || (inst->flags & (LS__IR_INBOUNDS | LS__IR_WATCHED)))
        return true;
    inst->flags |= LS__IR_WATCHED;
    *changed = true;
    return true;
}

bool ls__pass_watch(ls__ir_function *function, ls__arena *scratch)
{
    (void)scratch;
    bool changed = false;
    ls__ir_walk(function->body, visit, &changed);
    return changed;
}
