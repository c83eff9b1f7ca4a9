/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unchecked: the caller vouches that no access is out of range, so every check goes.
 *
 * needs: the sanitizer has shown the kernel clean. keeps: results of such kernels. breaks: the rule
 * that a checked kernel cannot fault.
 */
#include "pass/passes.h"
#include "pass/util.h"

static bool visit(ls__ir_inst *inst, void *context)
{
    bool *changed = context;
    uint8_t flag = 0;
    if (inst->op == LS_OP_INDEX)
        flag = LS__IR_NOWRAP;
    else if (ls__pass_accesses_memory(inst))
        flag = LS__IR_INBOUNDS;
    if (flag & ~inst->flags) {
        inst->flags |= flag;
        *changed = true;
    }
    return true;
}

bool ls__pass_unchecked(ls__ir_function *function, ls__arena *scratch)
{
    (void)scratch;
    bool changed = false;
    ls__ir_walk(function->body, visit, &changed);
    return changed;
}
